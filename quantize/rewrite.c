/* rewrite.c - the graph of the quantised model: codes where tensors are stored, moves on codes, and real numbers again
 * in front of each reader.
 *
 *     %y = conv_2d %x %w        %c = cast(round(x / step) + zero)     %d = (cast(c) - zero) * s
 *                               %y = conv_2d %d, cast(codes) * scale, cast(bias codes) * scale
 *
 * Unlike steps: a product that reads them has them in its weights, and takes s, the largest. A product that makes the
 * tensor (then at most a relu or clip) has their inverse in the scales of its weights and bias; then x / step has one
 * step again. A clip to the largest value of the codes is left to them. */
#include "quantize/net.h"

#include "ir/make/maker.h"
#include "ir/ops/decode/axis.h"

#include <math.h>
#include <string.h>

typedef struct rewriting {
    ac_qnet *q;
    ac_tensor **codes; /* by tensor id: the codes that are stored for it; NULL: none */
    float **fold;      /* by tensor id of a product's result: steps over s, by channel */
    bool *plain;       /* by tensor id of a root: its maker has the unlike steps */
    bool *saturates;   /* by tensor id: the clip that makes it is a relu, the codes do the rest */
} rewriting;

static ac_dtype type_of(const ac_qroot *r)
{
    return r->bits == 16 ? AC_I16 : AC_I8;
}

/* ------------------------------------------------------------------ who takes the steps */

static bool read_once(const ac_qnet *q, const ac_tensor *t)
{
    int32_t n = t->output;
    for (int32_t i = 0; i < q->n; i++)
        for (int32_t k = 0; k < q->step[i].node->n_in; k++)
            n += q->step[i].node->in[k] == t;
    return n == 1;
}

/* The product that makes root r, over at most one activation; *clip: it, or NULL. */
static const ac_qstep *maker_of(const ac_qnet *q, const ac_qroot *r, const ac_node **clip)
{
    double lo, hi;
    *clip = NULL;
    int32_t i = q->made_by[r->tensor->id];
    if (i < 0)
        return NULL;
    const ac_node *n = q->step[i].node;
    if (ac_q_clip(q->cx, n, &lo, &hi) || n->op == AC_OP_LEAKY_RELU) {
        *clip = n;
        i = q->made_by[n->in[0]->id];
        if (i < 0 || !read_once(q, n->in[0]))
            return NULL;
        if (n->op != AC_OP_LEAKY_RELU && lo != 0)
            return NULL;
    }
    return q->step[i].product && q->step[i].weights ? &q->step[i] : NULL;
}

static void plan_folds(rewriting *w)
{
    const ac_qnet *q = w->q;
    for (int32_t t = 0; t < q->n_tensors; t++) {
        const ac_qroot *r = q->root[t];
        const ac_node *clip;
        double lo = 0, hi = HUGE_VAL;
        const ac_qstep *s = r ? maker_of(q, r, &clip) : NULL;
        if (!s)
            continue;
        if (clip && clip->op != AC_OP_LEAKY_RELU && ac_q_clip(q->cx, clip, &lo, &hi) && hi < HUGE_VAL) {
            bool fits = r->zero == r->lo && r->bits == 8;
            for (int32_t i = 0; i < r->labels; i++)
                fits &= 255 * (double)r->step[i] <= hi * 1.0001;
            if (!fits)
                continue;
            w->saturates[t] = true;
        }
        const ac_qproduct *p = s->product;
        if (r->labels == 1 || r->axis != r->tensor->rank - 1 || r->channels != ac_q_results(p) || r->tensor->output)
            continue;
        float *by = w->fold[p->y->id] = AC_NEW_N(q->cx->region, float, r->channels);
        for (int64_t c = 0; c < r->channels; c++)
            by[c] = r->step[r->label[c]] / r->largest;
        w->plain[t] = true;
    }
}

/* ------------------------------------------------------------------ codes */

static ac_maker maker_for(const rewriting *w, const ac_tensor *t)
{
    return ac_maker_named(w->q->g, t->name);
}

/* A vector along `axis` of a tensor of this rank; one number: a scalar. */
static ac_tensor *vector(const ac_maker *b, const float *v, int64_t n, int32_t rank, int32_t axis)
{
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < rank; d++)
        dim[d] = d == axis ? n : 1;
    return n > 1 ? ac_make_floats(b, rank - axis, dim + axis, v) : ac_make_floats(b, 0, NULL, v);
}

/* A node whose result has the shape of in[0]. It is not resolved: products of constants stay as they are. */
static ac_tensor *node(const ac_maker *b, ac_op op, ac_tensor *x, ac_tensor *y, ac_dtype to)
{
    ac_tensor *in[] = {x, y},
              *out = ac_tensor_new(b->g, ac_internf(b->cx, "%s_%s", b->base, ac_ops[op].text), to, x->rank, x->dim);
    memcpy(out->dim_name, x->dim_name, sizeof out->dim_name);
    ac_node *n = ac_node_new(b->g, op, b->name, in, y ? 2 : 1, &out, 1);
    n->at = b->at;
    if (op == AC_OP_CAST) {
        n->attrs.cast.to = to;
        n->attrs.cast.clamp = ac_dtype_is_int(to);
    }
    return out;
}

static ac_tensor *quantized(const ac_maker *b, const ac_qroot *r, ac_tensor *x, ac_tensor *step)
{
    ac_tensor *v = node(b, AC_OP_ROUND, node(b, AC_OP_DIV, x, step, AC_F32), NULL, AC_F32);
    v = node(b, AC_OP_ADD, v, ac_make_number(b, AC_F32, r->zero), AC_F32);
    return node(b, AC_OP_CAST, v, NULL, type_of(r));
}

/* zero NULL: 0 */
static ac_tensor *dequantized(const ac_maker *b, ac_tensor *codes, ac_tensor *zero, ac_tensor *step)
{
    ac_tensor *v = node(b, AC_OP_CAST, codes, NULL, AC_F32);
    return node(b, AC_OP_MUL, zero ? node(b, AC_OP_SUB, v, zero, AC_F32) : v, step, AC_F32);
}

/* The step of each index of root r's axis, those from `from` on. */
static ac_tensor *steps_of(const ac_maker *b, const ac_qroot *r, int64_t from, int64_t n, int32_t rank)
{
    float *v = AC_NEW_N(b->cx->region, float, n + 1);
    if (r->labels == 1)
        return vector(b, r->step, 1, rank, r->axis);
    for (int64_t i = 0; i < n; i++)
        v[i] = r->step[r->label[from + i]];
    return vector(b, v, n, rank, r->axis);
}

static bool store(rewriting *w, ac_tensor *t, ac_tensor *value)
{
    const ac_qroot *r = w->q->root[t->id];
    const ac_maker b = maker_for(w, t);
    ac_tensor *step =
        w->plain[t->id] ? vector(&b, &r->largest, 1, t->rank, 0) : steps_of(&b, r, 0, r->channels, t->rank);
    return (w->codes[t->id] = quantized(&b, r, value, step)) != NULL;
}

/* The value that node n reads as operand k. */
static ac_tensor *value_of(rewriting *w, const ac_node *n, int32_t k, ac_tensor *t)
{
    const ac_qroot *r = t && !ac_tensor_is_const(t) && t->id < w->q->n_tensors ? ac_q_root_of(w->q, t) : NULL;
    if (!r || !w->codes[t->id])
        return t;
    const ac_maker b = n ? ac_maker_at(w->q->g, n) : maker_for(w, t);
    float step = r->largest;
    for (int32_t i = 0; i < r->leaf.n; i++) {
        const ac_qleaf *leaf = &r->leaf.item[i];
        if (leaf->node == n && leaf->tensor == t && (!n || leaf->operand == k) && !leaf->product)
            step = r->step[leaf->one];
    }
    return dequantized(&b, w->codes[t->id], ac_make_number(&b, AC_F32, r->zero), vector(&b, &step, 1, t->rank, 0));
}

/* ------------------------------------------------------------------ nodes */

/* The codes of p's weights in the order and shape of the file. */
static ac_tensor *weight_codes(const rewriting *w, const ac_qproduct *p, const ac_qweights *v, ac_tensor **scale,
                               const float *fold)
{
    const ac_maker b = ac_maker_at(w->q->g, p->node);
    ac_region *r = w->q->cx->region;
    const ac_tensor *k = p->node->in[1];
    const int64_t n = p->groups * p->rows, count = ac_tensor_count(k);
    const bool turned = p->node->op == AC_OP_BATCH_MATMUL && !p->node->attrs.matmul.adj_y,
               deep = p->kind == AC_QDEPTHWISE;
    int8_t *code = AC_NEW_N(r, int8_t, count + 1);
    for (int64_t o = 0; o < n; o++)
        for (int64_t i = 0; i < p->depth; i++)
            code[turned || deep ? i * n + o : o * p->depth + i] = v->code[o * p->depth + i];
    float *s = AC_NEW_N(r, float, v->n + 1);
    for (int64_t c = 0; c < v->n; c++)
        s[c] = fold ? v->scale[c] / fold[c] : v->scale[c];
    *scale = vector(&b, s, v->n, k->rank, turned || deep ? k->rank - 1 : 0);
    const char *name = ac_internf(w->q->cx, "%s_codes", k->name);
    return ac_tensor_const(w->q->g, name, w->q->o->weight_bits == 4 ? AC_I4 : AC_I8, k->rank, k->dim, code);
}

static ac_tensor *bias_of(const rewriting *w, const ac_qproduct *p, const ac_qweights *v, const float *fold)
{
    const ac_maker b = ac_maker_at(w->q->g, p->node);
    float *s = AC_NEW_N(w->q->cx->region, float, v->n + 1);
    for (int64_t c = 0; c < v->n; c++)
        s[c] = (fold ? v->scale[c] / fold[c] : v->scale[c]) * v->x_step;
    const char *name = ac_internf(w->q->cx, "%s_bias_codes", p->y->name);
    ac_tensor *code = ac_tensor_const(w->q->g, name, AC_I32, 1, &v->n, v->bias);
    return dequantized(&b, code, NULL, vector(&b, s, v->n, 1, 0));
}

static int put_product(rewriting *w, const ac_qstep *s)
{
    const ac_qproduct *p = s->product;
    const ac_qweights *v = s->weights;
    ac_node *n = s->node;
    const ac_maker b = ac_maker_at(w->q->g, n);
    const float *fold = w->fold[p->y->id];
    ac_tensor *scale, *in[4] = {NULL};
    memcpy(in, n->in, (size_t)n->n_in * sizeof *in);
    in[p->operand] = value_of(w, n, p->operand, p->x);
    ac_tensor *codes = weight_codes(w, p, v, &scale, fold);
    in[1] = dequantized(&b, codes, NULL, scale);
    in[p->operand == 2 ? 3 : 2] = bias_of(w, p, v, fold);
    ac_attrs a = n->attrs;
    ac_op op = n->op;
    if (op == AC_OP_BATCH_MATMUL) { /* with a bias */
        const bool turned = !n->attrs.matmul.adj_y;
        op = AC_OP_FULLY_CONNECTED;
        ac_attrs_init(op, &a);
        a.dense.keep_dims = true;
        if (turned) {
            ac_tensor *turn = ac_tensor_new(b.g, b.base, AC_F32, 2, (int64_t[]){p->rows, p->depth});
            ac_node_new(b.g, AC_OP_TRANSPOSE, n->name, &in[1], 1, &turn, 1)->attrs.perm.perm =
                ac_make_perm(&b, 2, (const int32_t[]){1, 0});
            in[1] = turn;
        }
    }
    ac_node *m = ac_node_new(b.g, op, n->name, in, p->operand == 2 ? 4 : 3, (ac_tensor *[]){p->y}, 1);
    m->attrs = a;
    m->at = n->at;
    return AC_OK;
}

/* The node on codes; its results have codes, and real numbers if they are outputs. */
static int put_move(rewriting *w, ac_node *n)
{
    const int32_t k = ac_q_moved(n);
    ac_tensor *in[4] = {NULL}, **out = AC_NEW_N(w->q->cx->region, ac_tensor *, n->n_out);
    memcpy(in, n->in, (size_t)(n->n_in < 4 ? n->n_in : 4) * sizeof *in);
    ac_tensor *from = in[k] = w->codes[n->in[k]->id];
    for (int32_t i = 0; i < n->n_out; i++) {
        out[i] = ac_tensor_new(w->q->g, ac_internf(w->q->cx, "%s_codes", n->out[i]->name), from->dtype, n->out[i]->rank,
                               n->out[i]->dim);
        w->codes[n->out[i]->id] = out[i];
    }
    ac_node *m = ac_node_new(w->q->g, n->op, n->name, in, n->n_in, out, n->n_out);
    m->attrs = n->attrs;
    m->at = n->at;
    if (n->op == AC_OP_MAX_POOL_2D)
        m->attrs.pool.keep_nan = false;
    return AC_OK;
}

/* Each part is quantised by the steps of its channels; the concatenation moves codes. */
static int put_concat(rewriting *w, ac_node *n)
{
    ac_tensor *y = n->out[0], **in = AC_NEW_N(w->q->cx->region, ac_tensor *, n->n_in);
    const ac_qroot *r = w->q->root[y->id];
    const ac_maker b = ac_maker_at(w->q->g, n);
    int32_t axis;
    int64_t from = 0;
    AC_TRY(ac_axis_norm(w->q->cx, n, n->attrs.axis.axis, y->rank, &axis));
    const bool along = r->labels > 1 && axis == r->axis;
    for (int32_t i = 0; i < n->n_in; i++) {
        const int64_t many = along ? n->in[i]->dim[axis] : r->channels;
        in[i] = quantized(&b, r, value_of(w, n, i, n->in[i]), steps_of(&b, r, along ? from : 0, many, y->rank));
        from += many;
    }
    w->codes[y->id] = ac_tensor_new(b.g, ac_internf(b.cx, "%s_codes", y->name), type_of(r), y->rank, y->dim);
    ac_node *m = ac_node_new(b.g, n->op, n->name, in, n->n_in, &w->codes[y->id], 1);
    m->attrs = n->attrs;
    m->at = n->at;
    return AC_OK;
}

static int put_node(rewriting *w, const ac_qstep *s)
{
    ac_node *n = s->node;
    ac_graph *g = w->q->g;
    const int32_t k = ac_q_moved(n);
    if (s->weights) {
        AC_TRY(put_product(w, s));
    } else if (k >= 0 && !ac_tensor_is_const(n->in[k]) && w->codes[n->in[k]->id]) {
        return put_move(w, n);
    } else if (n->op == AC_OP_CONCATENATION && n->attrs.axis.act == AC_ACT_NONE && w->q->root[n->out[0]->id]) {
        return put_concat(w, n);
    } else {
        for (int32_t i = 0; i < n->n_in; i++)
            n->in[i] = value_of(w, n, i, n->in[i]);
        if (n->n_out == 1 && w->saturates[n->out[0]->id]) {
            n->op = AC_OP_RELU;
            n->n_in = 1;
            ac_attrs_init(n->op, &n->attrs);
        }
        ac_push(g->region, &g->node, n);
    }
    for (int32_t i = 0; i < n->n_out; i++)
        if (s->node->out[i]->id < w->q->n_tensors && w->q->root[s->node->out[i]->id] &&
            !store(w, s->node->out[i], s->node->out[i]))
            return AC_FAIL;
    return AC_OK;
}

/* Outputs whose values are codes become real numbers again, under their names. */
static int put_outputs(rewriting *w)
{
    ac_graph *g = w->q->g;
    for (int32_t i = 0; i < g->output.n; i++) {
        ac_tensor *t = g->output.item[i];
        if (t->id >= w->q->n_tensors || !w->codes[t->id])
            continue;
        ac_tensor *real = value_of(w, NULL, 0, t);
        if (!real)
            return AC_FAIL;
        const char *name = t->name;
        t->name = ac_internf(w->q->cx, "%s_float", name);
        t->output = false;
        real->name = name;
        real->output = true;
        g->output.item[i] = real;
    }
    ac_graph_renumber(g);
    return AC_OK;
}

int ac_q_rewrite(ac_qnet *q)
{
    ac_graph *g = q->g;
    ac_region *r = q->cx->region;
    rewriting w = {.q = q};
    w.codes = AC_NEW_N(r, ac_tensor *, q->n_tensors + 1);
    w.fold = AC_NEW_N(r, float *, q->n_tensors + 1);
    w.plain = AC_NEW_N(r, bool, q->n_tensors + 1);
    w.saturates = AC_NEW_N(r, bool, q->n_tensors + 1);
    plan_folds(&w);
    g->node.n = 0;
    for (int32_t i = 0; i < g->input.n; i++)
        if (q->root[g->input.item[i]->id] && !store(&w, g->input.item[i], g->input.item[i]))
            return AC_FAIL;
    for (int32_t i = 0; i < q->n; i++)
        AC_TRY(put_node(&w, &q->step[i]));
    AC_TRY(put_outputs(&w));
    ac_graph_sweep(g);
    return AC_OK;
}
