/* integers.c - pass integers: products of dequantised bytes are sums of bytes, scaled once. */
#include "ir/ops/decode/axis.h"
#include "ir/make/compose_math.h"
#include "ir/pass/dequantised.h"
#include "ir/pass/passes.h"

#include <math.h>

/* Sums of so many products of two numbers below 256 stay in i32; a dequantised bias is at most so many steps of the
 * result away from 0: together with the roundings of sum, scale and bias that is an error below half a step. */
enum { MOST_DEPTH = 33025, MOST_STEPS = 1 << 20 };

/* The moves of t (ac_dequantised_of), applied to `codes` instead. */
static ac_tensor *moved(const ac_maker *b, const ac_dequantised *d, ac_tensor *codes)
{
    for (int32_t i = d->n_moves - 1; i >= 0 && codes; i--) {
        const ac_node *m = d->move[i];
        ac_tensor **in = ac_copy(b->cx->region, m->in, (size_t)m->n_in * sizeof *in);
        in[0] = codes;
        codes = ac_make_into(b, m->op, in, m->n_in, &m->attrs, ac_tensor_new(b->g, codes->name, AC_NONE, 0, NULL));
    }
    return codes;
}

/* ------------------------------------------------------------------ products that qualify */

static bool byte_codes(const ac_dequantised *d)
{
    const ac_tensor *t = d->codes;
    return (t->dtype == AC_I8 || t->dtype == AC_U8) && !t->quant;
}

/* The integer in a constant of one float; false: not an integer, or out of range. */
static bool whole(ac_ctx *cx, ac_tensor *zero, ac_dtype type, int32_t *v)
{
    *v = 0;
    if (!zero)
        return true;
    const void *data = ac_tensor_count(zero) == 1 && ac_tensor_is_const(zero) ? ac_tensor_force(cx, zero) : NULL;
    const double z = data ? ac_dtype_get_num(zero->dtype, data, 0) : 0.5;
    if (!(z >= (double)ac_dtype_min(type) && z <= (double)ac_dtype_max(type)) || z != floor(z))
        return false;
    *v = (int32_t)z;
    return true;
}

/* The minimum and maximum of a constant. */
static bool ends_of(ac_ctx *cx, ac_tensor *t, double *lo, double *hi)
{
    const void *data = ac_tensor_is_const(t) ? ac_tensor_force(cx, t) : NULL;
    const int64_t n = ac_tensor_count(t);
    *lo = *hi = data && n ? ac_dtype_get_num(t->dtype, data, 0) : 0;
    for (int64_t i = 1; data && i < n; i++) {
        const double v = ac_dtype_get_num(t->dtype, data, i);
        *lo = v < *lo ? v : *lo;
        *hi = v > *hi ? v : *hi;
    }
    return data && n;
}

/* The type of weights less their zero points: i8 if that holds them, else i16; AC_NONE: they are such bytes already.
 * false: zero points are not integers. */
static bool whole_weights(ac_ctx *cx, const ac_dequantised *d, ac_dtype *type)
{
    double lo, hi, z_lo = 0, z_hi = 0;
    *type = AC_NONE;
    if (d->zero && (!ends_of(cx, d->zero, &z_lo, &z_hi) || z_lo < -128 || z_hi > 255))
        return false;
    if (z_lo == 0 && z_hi == 0 && d->codes->dtype == AC_I8)
        return true;
    const int64_t count = d->zero ? ac_tensor_count(d->zero) : 0;
    const float *zero = d->zero ? ac_tensor_force(cx, d->zero) : NULL;
    for (int64_t i = 0; i < count; i++)
        if (zero[i] != floorf(zero[i]))
            return false;
    if (!ends_of(cx, d->codes, &lo, &hi))
        return false;
    *type = lo - z_hi >= INT8_MIN && hi - z_lo <= INT8_MAX ? AC_I8 : AC_I16;
    return true;
}

/* By tensor id: the minimum step by which it is divided for quantisation; -1: a step that is not a number. */
static double *steps_of(ac_pass *p)
{
    const ac_graph *g = p->graph;
    double *least = AC_NEW_N(p->cx->region, double, g->tensor.n + 1);
    for (int32_t i = 0; i < g->tensor.n; i++)
        least[i] = HUGE_VAL;
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *q = g->node.item[i];
        if (q->op != AC_OP_DIV || !ac_tensor_is_const(q->in[1]))
            continue;
        double step, most, *to = &least[q->in[0]->id];
        step = ends_of(p->cx, q->in[1], &step, &most) && step == step ? step : -1;
        *to = step < *to ? step : *to;
    }
    return least;
}

/* True if a result that is quantised by this step can differ by half a step from the file's: only with a large bias. */
static bool bias_fits(ac_ctx *cx, ac_tensor *bias, double step)
{
    double lo = 0, hi = 0;
    if (bias && (!ac_tensor_is_const(bias) || bias->weight || !ends_of(cx, bias, &lo, &hi)))
        return false;
    return !bias || fmax(-lo, hi) <= step * MOST_STEPS;
}

/* A product of floats that may be one of bytes. */
typedef struct product {
    ac_dequantised x, w;
    ac_op op;        /* of the sums */
    bool turn;       /* the weights are [K,N] */
    int32_t channel; /* dimension of the weights */
    int64_t depth;
    int32_t zero;     /* point of x */
    ac_dtype weights; /* of whole_weights */
    ac_tensor *bias;
} product;

/* The operand that weights are multiplied by. */
static ac_tensor *operand_of(const ac_node *n)
{
    return n->in[n->op == AC_OP_TRANSPOSE_CONV ? 2 : 0];
}

/* NULL, or the reason why this product stays in floats. step: of steps_of. */
static const char *read_product(ac_pass *p, const ac_node *n, const double *step, product *t)
{
    const bool transposed = n->op == AC_OP_TRANSPOSE_CONV;
    ac_tensor *w = n->in[1], *x = operand_of(n);
    *t = (product){.op = n->op, .bias = n->op == AC_OP_BATCH_MATMUL ? NULL : ac_node_in(n, transposed ? 3 : 2)};
    if (n->op == AC_OP_BATCH_MATMUL) {
        t->op = AC_OP_FULLY_CONNECTED;
        t->turn = !n->attrs.matmul.adj_y;
        if (w->rank != 2 || n->attrs.matmul.adj_x || x->rank != n->out[0]->rank)
            return "both operands are computed";
    }
    t->channel = n->op == AC_OP_DEPTHWISE_CONV_2D ? 3 : t->turn ? 1 : 0;
    t->depth = w->dim[t->channel] ? ac_tensor_count(w) / w->dim[t->channel] : 0;
    if (!ac_dequantised_of(p->graph, x, &t->x) || !ac_dequantised_of(p->graph, w, &t->w) ||
        !ac_tensor_is_const(t->w.codes) || t->w.codes->weight)
        return "its weights are computed, or not bytes";
    if (t->w.axis >= 0 && t->w.axis != t->channel)
        return "its weights have scales along another dimension than its channels";
    if (!byte_codes(&t->x) || !byte_codes(&t->w))
        return "its operands are not bytes";
    if (ac_tensor_count(t->x.scale) != 1 || !whole(p->cx, t->x.zero, t->x.codes->dtype, &t->zero))
        return "its input has several scales";
    if (t->depth < 1 || t->depth > MOST_DEPTH)
        return "its sums may leave 32 bits";
    if (!bias_fits(p->cx, t->bias, step[n->out[0]->id]))
        return "its bias is computed, or too large for its scale";
    if (!whole_weights(p->cx, &t->w, &t->weights))
        return "its zero points are not integers";
    return NULL;
}

/* ------------------------------------------------------------------ the sums */

static ac_tensor *weights_of(const ac_maker *b, const product *t)
{
    ac_tensor *v = t->w.codes;
    if (t->weights == AC_NONE)
        return moved(b, &t->w, v);
    v = ac_make_cast(b, v, AC_I32);
    v = t->w.zero ? ac_make_2(b, AC_OP_SUB, v, ac_make_cast(b, t->w.zero, AC_I32)) : v;
    return moved(b, &t->w, ac_make_cast(b, v, t->weights));
}

/* x less its zero point times w: the zero point is a bias of the sums. w [N,K]. */
static ac_tensor *zero_bias(const ac_maker *b, ac_tensor *weights, int32_t zero)
{
    ac_tensor *v = ac_make_cast(b, weights, AC_I32);
    return ac_make_mul_number(b, ac_make_reduce(b, AC_OP_SUM, v, 1u << 1, false), -zero);
}

static ac_tensor *sums(const ac_maker *b, const product *t, const ac_node *n, ac_tensor *weights)
{
    ac_attrs a = n->attrs;
    ac_tensor *in[3] = {moved(b, &t->x, t->x.codes), weights, NULL};
    if (t->turn)
        in[1] = ac_make_transpose(b, weights, (const int32_t[]){1, 0});
    if (n->op == AC_OP_BATCH_MATMUL) {
        ac_attrs_init(AC_OP_FULLY_CONNECTED, &a);
        a.dense.keep_dims = true;
    }
    if (t->op == AC_OP_FULLY_CONNECTED) {
        a.dense.act = AC_ACT_NONE;
        in[2] = t->zero ? zero_bias(b, in[1], t->zero) : NULL;
        return !t->zero || in[2] ? ac_make_op(b, t->op, in, t->zero ? 3 : 2, &a, AC_NONE) : NULL;
    }
    a.conv.act = AC_ACT_NONE;
    a.conv.zero = t->zero;
    if (t->op == AC_OP_TRANSPOSE_CONV)
        return ac_make_op(b, t->op, (ac_tensor *[]){n->in[0], in[1], in[0]}, 3, &a, AC_NONE);
    return ac_make_op(b, t->op, in, 2, &a, AC_NONE);
}

/* The scale of w in line with the channels of the result, its last dimension: [] or [N]. */
static ac_tensor *channel_scale(const ac_maker *b, const product *t)
{
    const int64_t n = ac_tensor_count(t->w.scale);
    return ac_make_reshape(b, t->w.scale, n > 1, &n);
}

static int multiply_integers(ac_pass *p, int32_t *at, const product *t)
{
    ac_graph *g = p->graph;
    ac_node *n = g->node.item[*at];
    const ac_maker b = ac_maker_at(g, n);
    const int32_t from = g->node.n;
    ac_attrs a;
    ac_tensor *weights = weights_of(&b, t), *out = n->out[0];
    ac_tensor *scale = ac_make_2(&b, AC_OP_MUL, channel_scale(&b, t), t->x.scale);
    ac_tensor *real = ac_make_cast(&b, sums(&b, t, n, weights), AC_F32);
    if (t->bias)
        real = ac_make_2(&b, AC_OP_MUL, real, scale);
    const ac_op last = t->bias ? AC_OP_ADD : AC_OP_MUL;
    ac_attrs_init(last, &a);
    a.act.act = ac_node_act(n);
    ac_node_erase(n);
    if (!ac_make_into(&b, last, (ac_tensor *[]){real, t->bias ? t->bias : scale}, 2, &a, out))
        return AC_FAIL;
    const int32_t made = g->node.n - from;
    ac_graph_place(g, from, *at);
    *at += made;
    p->changed++;
    return AC_OK;
}

/* A scale as a scalar. */
static ac_tensor *one_number(const ac_maker *b, ac_tensor *t)
{
    return ac_make_reshape(b, t, 0, NULL);
}

/* ------------------------------------------------------------------ both operands are computed */

/* NULL, or the reason why this product of two computed matrices stays in floats. */
static const char *read_pair(ac_pass *p, const ac_node *n, ac_dequantised *of, int32_t *zero)
{
    const ac_tensor *x = n->in[0];
    const int64_t depth = x->dim[x->rank - (n->attrs.matmul.adj_x ? 2 : 1)];
    for (int32_t i = 0; i < 2; i++) {
        if (!ac_dequantised_of(p->graph, n->in[i], &of[i]) || !byte_codes(&of[i]))
            return "its operands are not bytes";
        if (ac_tensor_count(of[i].scale) != 1 || !whole(p->cx, of[i].zero, of[i].codes->dtype, &zero[i]))
            return "its operands have several scales";
    }
    return depth < 1 || depth > MOST_DEPTH ? "its sums may leave 32 bits" : NULL;
}

/* y = matmul x z   becomes   y = (cast (matmul codes codes zero_x= zero_y=)) * (sx * sz) */
static int multiply_pair(ac_pass *p, int32_t *at, const ac_dequantised *of, const int32_t *zero)
{
    ac_graph *g = p->graph;
    ac_node *n = g->node.item[*at];
    const ac_maker b = ac_maker_at(g, n);
    const int32_t from = g->node.n;
    ac_tensor *out = n->out[0], *in[2];
    ac_attrs a = n->attrs;
    for (int32_t i = 0; i < 2; i++)
        in[i] = moved(&b, &of[i], of[i].codes);
    a.matmul.zero_x = zero[0];
    a.matmul.zero_y = zero[1];
    ac_node_erase(n);
    ac_tensor *sum = in[0] && in[1] ? ac_make_op(&b, AC_OP_BATCH_MATMUL, in, 2, &a, AC_I32) : NULL;
    ac_tensor *first = one_number(&b, of[0].scale), *second = one_number(&b, of[1].scale);
    ac_tensor *scale = ac_make_2(&b, AC_OP_MUL, first, second);
    ac_tensor *real[] = {ac_make_cast(&b, sum, AC_F32), scale};
    if (!ac_make_into(&b, AC_OP_MUL, real, 2, NULL, out))
        return AC_FAIL;
    const int32_t made = g->node.n - from;
    ac_graph_place(g, from, *at);
    *at += made;
    p->changed++;
    return AC_OK;
}

/* GPUs have kernels for attention of floats. */
static bool is_pair(const ac_pass *p, const ac_node *n)
{
    return n->op == AC_OP_BATCH_MATMUL && !p->opt->rows && !ac_tensor_is_moved_const(n->in[1]) &&
           (n->in[1]->rank != 2 || n->in[0]->rank == 2);
}

/* ------------------------------------------------------------------ sums with codes */

/* The operand of a sum that is dequantised codes of one scale, element for element; -1: neither. The other one is
 * computed for this sum alone. */
static int32_t coded_operand(ac_pass *p, const ac_node *n, const int32_t *uses, int32_t known, ac_dequantised *d,
                             int32_t *zero)
{
    for (int32_t k = 1; k >= 0; k--) {
        ac_tensor *codes = n->in[k];
        const ac_tensor *other = n->in[!k];
        if (!other->def || other->id >= known || uses[other->id] != 1 || other->dtype != AC_F32 ||
            !ac_tensor_same_shape(other, n->out[0]) || !ac_tensor_same_shape(codes, n->out[0]))
            continue;
        if (ac_dequantised_of(p->graph, codes, d) && !d->n_moves && byte_codes(d) && !ac_tensor_is_const(d->codes) &&
            ac_tensor_count(d->scale) == 1 && whole(p->cx, d->zero, d->codes->dtype, zero))
            return k;
    }
    return -1;
}

/* y = v + (cast(q) - zero) * s   becomes   y = (v / s - zero + q) * s: codes are read in the loops that make v, and no
 * tensor of floats is stored for them. */
static int add_codes(ac_pass *p, int32_t *at, const ac_dequantised *d, int32_t zero, int32_t k)
{
    ac_graph *g = p->graph;
    ac_node *n = g->node.item[*at];
    const ac_maker b = ac_maker_at(g, n);
    const int32_t from = g->node.n;
    const float *scale = ac_tensor_force(p->cx, d->scale);
    ac_tensor *other = n->in[!k], *out = n->out[0];
    ac_attrs a;
    if (!scale || !(scale[0] > 0))
        return AC_OK;
    ac_attrs_init(AC_OP_MUL, &a);
    a.act.act = ac_node_act(n);
    ac_node_erase(n);
    ac_tensor *v = ac_make_2(&b, AC_OP_MUL, other, ac_make_number(&b, AC_F32, 1 / (double)scale[0]));
    if (zero)
        v = ac_make_2(&b, AC_OP_SUB, v, ac_make_number(&b, AC_F32, zero));
    v = ac_make_2(&b, AC_OP_ADD, v, d->codes);
    if (!ac_make_into(&b, AC_OP_MUL, (ac_tensor *[]){v, ac_make_number(&b, AC_F32, (double)scale[0])}, 2, &a, out))
        return AC_FAIL;
    const int32_t made = g->node.n - from;
    ac_graph_place(g, from, *at);
    *at += made;
    p->changed++;
    return AC_OK;
}

/* By tensor id, the readers among nodes that an output needs: pass layout leaves others. */
static const int32_t *live_uses(const ac_pass *p)
{
    const ac_graph *g = p->graph;
    int32_t *uses = AC_NEW_N(p->cx->region, int32_t, g->tensor.n + 1);
    for (int32_t i = 0; i < g->output.n; i++)
        uses[g->output.item[i]->id]++;
    for (int32_t i = g->node.n - 1; i >= 0; i--) {
        const ac_node *n = g->node.item[i];
        bool live = n->n_out == 0 || (ac_ops[n->op].flags & OF_STATE) != 0;
        for (int32_t k = 0; k < n->n_out; k++)
            live |= uses[n->out[k]->id] > 0;
        for (int32_t k = 0; k < n->n_in && live; k++)
            if (n->in[k])
                uses[n->in[k]->id]++;
    }
    return uses;
}

static int add_all_codes(ac_pass *p)
{
    ac_graph *g = p->graph;
    const int32_t *uses = live_uses(p), known = g->tensor.n;
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *n = g->node.item[i];
        ac_dequantised d;
        int32_t zero;
        if (n->op != AC_OP_ADD || n->n_fused || n->out[0]->dtype != AC_F32)
            continue;
        const int32_t k = coded_operand(p, n, uses, known, &d, &zero);
        if (k >= 0)
            AC_TRY(add_codes(p, &i, &d, zero, k));
    }
    return AC_OK;
}

/* ac_pass_integers: convolutions and products of dequantised bytes (QDQ) multiply the bytes.
 *   before:  %x = mul (sub (cast %q) zx) sx    %w = mul (sub (cast %c) zw) sw    %y = conv_2d %x %w %b act=relu
 *   after:   %s = conv_2d %q %c' zero=zx: i32  %r = mul (cast %s) (sx * sw)      %y = add %r %b act=relu
 * Two computed matrices of bytes are multiplied with both zero points (batch_matmul zero_x= zero_y=).
 * c' = c - zw, constant; transpositions and reshapes of weights stay. A batch_matmul by a constant is a
 * fully_connected.
 * needs: shapes known, no epilogues; before norm, which puts constants into weights, and fold.  keeps: the real values
 * of the file, more exactly: the sum is exact, and rounded once before it is scaled. A quantised result is at most one
 * step away from that of exact arithmetic. Not with --exact, --qdq exact, or gradients. */
int ac_pass_integers(ac_pass *p)
{
    ac_graph *g = p->graph;
    ac_products *count = p->opt->products;
    const double *step = steps_of(p);
    for (int32_t i = 0; i < g->node.n; i++) {
        ac_node *n = g->node.item[i];
        ac_dequantised x, pair[2];
        product t;
        int32_t zero[2];
        const bool is_product = n->op == AC_OP_CONV_2D || n->op == AC_OP_DEPTHWISE_CONV_2D ||
                                n->op == AC_OP_BATCH_MATMUL || n->op == AC_OP_FULLY_CONNECTED ||
                                n->op == AC_OP_TRANSPOSE_CONV;
        if (!is_product || n->n_fused || n->out[0]->dtype != AC_F32 || !ac_dequantised_of(p->graph, operand_of(n), &x))
            continue;
        const char *why = read_product(p, n, step, &t);
        const bool both = why && is_pair(p, n);
        if (both)
            why = read_pair(p, n, pair, zero);
        if (!why)
            AC_TRY(both ? multiply_pair(p, &i, pair, zero) : multiply_integers(p, &i, &t));
        *(why ? &count->floats : &count->integers) += 1;
        if (why && !count->why)
            count->why = why;
    }
    ac_graph_sweep(g);
    AC_TRY(add_all_codes(p));
    ac_graph_sweep(g);
    return AC_OK;
}
