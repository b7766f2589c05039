/* integers.c - pass integers: products of dequantised bytes are sums of bytes, scaled once. */
#include "ir/ops/decode/axis.h"
#include "ir/ops/shape/resolve.h"
#include "ir/pass/dequantised.h"
#include "ir/pass/passes.h"

#include <math.h>

/* Sums of so many products of two numbers below 256 stay in i32; a dequantised bias is at most so many steps of the
 * result away from 0: together with the roundings of sum, scale and bias that is an error below half a step. */
enum { MOST_DEPTH = 33025, MOST_STEPS = 1 << 20 };

typedef struct work {
    ac_pass *p;
    ac_graph *g;
    const ac_node *of;
    bool failed;
} work;

static ac_tensor *make_as(work *w, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs, ac_tensor *out)
{
    ac_node *n = ac_node_new(w->g, op, w->of->name, in, n_in, &out, 1);
    n->at = w->of->at;
    if (attrs)
        n->attrs = *attrs;
    w->failed |= ac_node_resolve(w->p->cx, w->g, n) != AC_OK;
    return out;
}

/* A new node; NULL where one of its operands is, or where it cannot be. */
static ac_tensor *make(work *w, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs)
{
    for (int32_t i = 0; i < n_in; i++)
        if (!in[i])
            return NULL;
    ac_tensor *out = ac_tensor_new(w->g, w->of->out[0]->name, AC_NONE, 0, NULL);
    if (op == AC_OP_CAST)
        out->dtype = attrs->cast.to;
    make_as(w, op, in, n_in, attrs, out);
    return w->failed ? NULL : out;
}

static ac_tensor *make_2(work *w, ac_op op, ac_tensor *x, ac_tensor *y)
{
    return make(w, op, (ac_tensor *[]){x, y}, 2, NULL);
}

static ac_tensor *cast(work *w, ac_tensor *x, ac_dtype to)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_CAST, &a);
    a.cast.to = to;
    return x && x->dtype == to ? x : make(w, AC_OP_CAST, &x, 1, &a);
}

static ac_tensor *constant_i32(work *w, int32_t v)
{
    int32_t *data = AC_NEW(w->g->region, int32_t);
    *data = v;
    return ac_tensor_const(w->g, ac_strf(w->g->region, "%s_number", w->of->out[0]->name), AC_I32, 0, NULL, data);
}

/* The moves of t (ac_dequantised_of), applied to `codes` instead. */
static ac_tensor *moved(work *w, const ac_dequantised *d, ac_tensor *codes)
{
    for (int32_t i = d->n_moves - 1; i >= 0; i--) {
        const ac_node *m = d->move[i];
        ac_tensor **in = AC_NEW_N(w->g->region, ac_tensor *, m->n_in);
        for (int32_t k = 0; k < m->n_in; k++)
            in[k] = k ? m->in[k] : codes;
        if (!in[0])
            return NULL;
        ac_tensor *out = ac_tensor_new(w->g, codes->name, AC_NONE, 0, NULL);
        make_as(w, m->op, in, m->n_in, &m->attrs, out);
        codes = w->failed ? NULL : out;
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

/* Weights as integer constants: i8 if that holds them, else i16. NULL: zero points are not integers. */
static ac_tensor *whole_weights(work *w, const ac_dequantised *d)
{
    ac_ctx *cx = w->p->cx;
    double lo, hi, z_lo = 0, z_hi = 0;
    if (d->zero && (!ends_of(cx, d->zero, &z_lo, &z_hi) || z_lo < -128 || z_hi > 255))
        return NULL;
    if (z_lo == 0 && z_hi == 0 && d->codes->dtype == AC_I8)
        return moved(w, d, d->codes);
    const int64_t count = d->zero ? ac_tensor_count(d->zero) : 0;
    const float *zero = d->zero ? ac_tensor_force(cx, d->zero) : NULL;
    for (int64_t i = 0; i < count; i++)
        if (zero[i] != floorf(zero[i]))
            return NULL;
    if (!ends_of(cx, d->codes, &lo, &hi))
        return NULL;
    const ac_dtype type = lo - z_hi >= INT8_MIN && hi - z_lo <= INT8_MAX ? AC_I8 : AC_I16;
    ac_tensor *v = cast(w, d->codes, AC_I32);
    v = d->zero ? make_2(w, AC_OP_SUB, v, cast(w, d->zero, AC_I32)) : v;
    return moved(w, d, cast(w, v, type));
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
    int32_t zero; /* point of x */
    ac_tensor *bias;
} product;

/* NULL, or the reason why this product stays in floats. step: of steps_of. */
static const char *read_product(ac_pass *p, const ac_node *n, const double *step, product *t)
{
    const ac_tensor *w = n->in[1], *x = n->in[0];
    *t = (product){.op = n->op, .bias = n->op == AC_OP_BATCH_MATMUL ? NULL : ac_node_in(n, 2)};
    if (n->op == AC_OP_BATCH_MATMUL) {
        t->op = AC_OP_FULLY_CONNECTED;
        t->turn = !n->attrs.matmul.adj_y;
        if (w->rank != 2 || n->attrs.matmul.adj_x || x->rank != n->out[0]->rank)
            return "both operands are computed";
    }
    t->channel = n->op == AC_OP_DEPTHWISE_CONV_2D ? 3 : t->turn ? 1 : 0;
    t->depth = w->dim[t->channel] ? ac_tensor_count(w) / w->dim[t->channel] : 0;
    if (!ac_dequantised_of(p->graph, n->in[0], &t->x) || !ac_dequantised_of(p->graph, n->in[1], &t->w) ||
        !ac_tensor_is_const(t->w.codes) || t->w.codes->weight)
        return "its weights are computed, or no bytes";
    if (t->w.axis >= 0 && t->w.axis != t->channel)
        return "its weights have scales along another dimension than its channels";
    if (!byte_codes(&t->x) || !byte_codes(&t->w))
        return "its operands are no bytes";
    if (ac_tensor_count(t->x.scale) != 1 || !whole(p->cx, t->x.zero, t->x.codes->dtype, &t->zero))
        return "its input has several scales";
    if (t->depth < 1 || t->depth > MOST_DEPTH)
        return "its sums may leave 32 bits";
    if (!bias_fits(p->cx, t->bias, step[n->out[0]->id]))
        return "its bias is computed, or too large for its scale";
    return NULL;
}

/* ------------------------------------------------------------------ the sums */

/* x less its zero point times w: the zero point is a bias of the sums. w [N,K]. */
static ac_tensor *zero_bias(work *w, ac_tensor *weights, int32_t zero)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_SUM, &a);
    a.reduce.axes = (ac_ints){1, ac_copy(w->g->region, &(int64_t){1}, sizeof(int64_t))};
    ac_tensor *v = cast(w, weights, AC_I32);
    ac_tensor *by = constant_i32(w, -zero);
    return make_2(w, AC_OP_MUL, v ? make(w, AC_OP_SUM, &v, 1, &a) : NULL, by);
}

static ac_tensor *sums(work *w, const product *t, ac_tensor *weights)
{
    static const int64_t FLIP[] = {1, 0};
    ac_attrs a = w->of->attrs;
    ac_tensor *in[3] = {moved(w, &t->x, t->x.codes), weights, NULL};
    if (t->turn) {
        ac_attrs turn;
        ac_attrs_init(AC_OP_TRANSPOSE, &turn);
        turn.perm.perm = (ac_ints){2, FLIP};
        in[1] = make(w, AC_OP_TRANSPOSE, &weights, 1, &turn);
    }
    if (w->of->op == AC_OP_BATCH_MATMUL) {
        ac_attrs_init(AC_OP_FULLY_CONNECTED, &a);
        a.dense.keep_dims = true;
    }
    if (t->op == AC_OP_FULLY_CONNECTED) {
        a.dense.act = AC_ACT_NONE;
        in[2] = t->zero && in[1] ? zero_bias(w, in[1], t->zero) : NULL;
        return make(w, t->op, in, t->zero ? 3 : 2, &a);
    }
    a.conv.act = AC_ACT_NONE;
    a.conv.zero = t->zero;
    return make(w, t->op, in, 2, &a);
}

/* The scale of w in line with the channels of the result, its last dimension: [] or [N]. */
static ac_tensor *channel_scale(work *w, const product *t)
{
    ac_tensor *s = t->w.scale;
    const int64_t n = ac_tensor_count(s);
    ac_attrs a;
    if (s->rank == (n > 1))
        return s;
    ac_attrs_init(AC_OP_RESHAPE, &a);
    a.shape.shape = (ac_ints){n > 1, n > 1 ? ac_copy(w->g->region, &n, sizeof n) : NULL};
    return make(w, AC_OP_RESHAPE, &s, 1, &a);
}

static int multiply_integers(ac_pass *p, int32_t *at, const product *t)
{
    ac_graph *g = p->graph;
    ac_node *n = g->node.item[*at];
    work w = {.p = p, .g = g, .of = n};
    const int32_t from = g->node.n;
    const ac_act act = ac_node_act(n);
    ac_attrs a;
    ac_tensor *weights = whole_weights(&w, &t->w), *out = n->out[0];
    if (!weights && !w.failed) /* the new nodes are dead */
        return AC_OK;
    ac_tensor *scale = make_2(&w, AC_OP_MUL, channel_scale(&w, t), t->x.scale);
    ac_tensor *real = weights ? cast(&w, sums(&w, t, weights), AC_F32) : NULL;
    if (t->bias)
        real = make_2(&w, AC_OP_MUL, real, scale);
    if (!real || !scale)
        return AC_FAIL;
    const ac_op last = t->bias ? AC_OP_ADD : AC_OP_MUL;
    ac_attrs_init(last, &a);
    a.act.act = act;
    n->out[0] = ac_tensor_new(g, out->name, out->dtype, out->rank, out->dim); /* unused */
    n->out[0]->def = n;
    out->def = NULL;
    make_as(&w, last, (ac_tensor *[]){real, t->bias ? t->bias : scale}, 2, &a, out);
    if (w.failed)
        return AC_FAIL;
    const int32_t made = g->node.n - from;
    ac_graph_place(g, from, *at);
    ac_node_erase(n);
    *at += made;
    p->changed++;
    return AC_OK;
}

/* ac_pass_integers: convolutions and products of dequantised bytes (QDQ) multiply the bytes.
 *   before:  %x = mul (sub (cast %q) zx) sx    %w = mul (sub (cast %c) zw) sw    %y = conv_2d %x %w %b act=relu
 *   after:   %s = conv_2d %q %c' zero=zx: i32  %r = mul (cast %s) (sx * sw)      %y = add %r %b act=relu
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
        ac_dequantised x;
        product t;
        const bool is_product = n->op == AC_OP_CONV_2D || n->op == AC_OP_DEPTHWISE_CONV_2D ||
                                n->op == AC_OP_BATCH_MATMUL || n->op == AC_OP_FULLY_CONNECTED;
        if (!is_product || n->n_fused || n->out[0]->dtype != AC_F32 || !ac_dequantised_of(p->graph, n->in[0], &x))
            continue;
        const char *why = read_product(p, n, step, &t);
        const int32_t before = p->changed;
        if (!why)
            AC_TRY(multiply_integers(p, &i, &t));
        count->integers += p->changed != before;
        count->floats += p->changed == before;
        if (p->changed == before && !count->why)
            count->why = why ? why : "its zero points are no whole numbers";
    }
    ac_graph_sweep(g);
    return AC_OK;
}
