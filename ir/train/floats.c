/* floats.c - quantised layers that train compute in floats, and so do all nodes after them; nodes before them do not
 * change.
 *
 * before:  const %w: i8[12,64] q   %y: i8[1,12] q = fully_connected %x %w %b
 * after:   const %w: f32[12,64]    %f: f32[1,64] = dequantize %x   %y: f32[1,12] = fully_connected %f %w %c
 *
 * %c is %b as floats: %b may stay integer for other readers. Results keep their names.
 *
 * Weights that are packed in blocks (blockwise_dense) are multiplied with floats already: they alone are unpacked. */
#include "ir/ops/decode/blockwise.h"
#include "ir/train/make.h"

typedef struct work {
    ac_ctx *cx;
    ac_graph *g;
    int32_t n;         /* tensors that the file has */
    ac_tensor **value; /* by id of those: the same in floats; NULL: none so far */
} work;

static bool is_quantised(const ac_tensor *t)
{
    return t->quant && ac_dtype_is_int(t->dtype);
}

/* scale * (q - zero) of each element, as the operator dequantize has it. */
static const float *real_values(ac_ctx *cx, ac_tensor *t)
{
    const uint8_t *data = ac_tensor_force(cx, t);
    const ac_quant *q = t->quant;
    const int64_t n = ac_tensor_count(t), inner = q->n > 1 ? ac_dim_product(t->dim, q->axis + 1, t->rank) : n + 1;
    float *out = AC_NEW_N(cx->region, float, n + 1);
    if (!data)
        return NULL;
    for (int64_t i = 0; i < n; i++) {
        const int64_t c = i / inner % q->n;
        out[i] = (float)((double)q->scale[c] * (double)(ac_dtype_get_int(t->dtype, data, i) - q->zero[c]));
    }
    return out;
}

static void becomes_float(work *w, ac_tensor *t)
{
    t->dtype = AC_F32;
    t->quant = NULL;
    w->value[t->id] = t;
}

static int train_one(work *w, ac_tensor *t)
{
    const float *data = real_values(w->cx, t);
    if (!data)
        return AC_FAIL;
    t->data = data;
    t->raw = NULL;
    t->lazy = NULL;
    t->splat = false;
    t->weight = true;
    becomes_float(w, t);
    return AC_OK;
}

/* A quantised tensor as floats, added when first needed. */
static ac_tensor *value_of(work *w, ac_tensor *t)
{
    if (t->id >= w->n || w->value[t->id])
        return t->id >= w->n ? t : w->value[t->id];
    const char *name = ac_internf(w->cx, "%s_float", t->name);
    ac_tensor *f = ac_tensor_new(w->g, name, AC_F32, t->rank, t->dim);
    for (int32_t d = 0; d < t->rank; d++)
        f->dim_name[d] = t->dim_name[d];
    w->value[t->id] = f;
    if (ac_tensor_is_const(t)) {
        f->data = real_values(w->cx, t);
        return f->data ? f : NULL;
    }
    ac_maker b = ac_maker_named(w->g, name);
    b.unsized = true;
    return ac_make_into(&b, AC_OP_DEQUANTIZE, &t, 1, NULL, f);
}

static bool reads_floats(const work *w, const ac_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->id < w->n && w->value[n->in[i]->id])
            return true;
    return false;
}

static bool keeps_integers(const ac_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->state && is_quantised(n->in[i]))
            return true;
    return false;
}

static int stays_integer(const work *w, const ac_node *n)
{
    ac_error(w->cx, n->at, E0110, "'%s' (%s) %s: it cannot go on in floats from weights that train", n->name,
             ac_ops[n->op].text, ac_ops[n->op].flags & OF_FLOW ? "runs subgraphs" : "keeps a state between runs");
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->id < w->n && w->value[n->in[i]->id])
            ac_detail(w->cx, "it reads '%s'", n->in[i]->name);
    return ac_help(w->cx, "with --train-only, only weights after it train");
}

/* A node of quantised tensors computes in floats. */
static int to_floats(work *w, ac_node *n)
{
    if (ac_ops[n->op].flags & OF_FLOW || keeps_integers(n))
        return stays_integer(w, n);
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && is_quantised(n->in[i])) {
            n->in[i] = value_of(w, n->in[i]);
            if (!n->in[i])
                return AC_FAIL;
        }
    for (int32_t i = 0; i < n->n_out; i++)
        if (is_quantised(n->out[i]) || n->out[i]->dtype == AC_F32)
            becomes_float(w, n->out[i]);
    if (n->op == AC_OP_QUANTIZE || n->op == AC_OP_DEQUANTIZE) {
        n->op = AC_OP_CAST;
        ac_attrs_init(n->op, &n->attrs);
        n->attrs.cast.to = AC_F32;
    }
    return AC_OK;
}

static bool said_to_train(const ac_train_spec *o, const ac_tensor *t)
{
    return !ac_train_named(o->freeze, o->n_freeze, t->name) &&
           (ac_train_named(o->only, o->n_only, t->name) || ac_train_rank(o, t));
}

/* before:  const %w: u8[3,8]    %y = blockwise_dense %x %w %scale %zero %b size=8
 * after:   const %w: f32[3,12]  %y = fully_connected %x %w %b */
static int unpack(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    ac_blockwise w;
    ac_tensor *codes = n->in[AC_BLOCKWISE_CODES], *bias = ac_node_in(n, AC_BLOCKWISE_BIAS);
    int32_t readers = 0;
    for (int32_t i = 0; i < g->node.n; i++)
        for (int32_t k = 0; k < g->node.item[i]->n_in; k++)
            readers += g->node.item[i]->in[k] == codes;
    if (readers > 1)
        return ac_error(cx, n->at, E0110, "'%s' are packed weights that %d operands are: they cannot train",
                        codes->name, readers);
    AC_TRY(ac_blockwise_of(cx, n, &w));
    const float *v = ac_blockwise_floats(cx, n, &w, w.depth, true);
    if (!v)
        return AC_FAIL;
    *codes = (ac_tensor){.name = codes->name, .id = codes->id, .dtype = AC_F32, .rank = 2, .data = v, .weight = true};
    codes->dim[0] = w.rows;
    codes->dim[1] = w.depth;
    const ac_act act = ac_node_act(n);
    n->op = AC_OP_FULLY_CONNECTED;
    ac_attrs_init(n->op, &n->attrs);
    n->attrs.dense.keep_dims = true;
    ac_node_set_act(n, act);
    n->in[2] = bias;
    n->n_in = bias ? 3 : 2;
    return AC_OK;
}

/* Constants that are marked as weights. */
static int find_trained(work *w, const ac_train_spec *o, const bool *read, int32_t *found)
{
    for (int32_t i = 0; i < w->g->node.n; i++) {
        ac_node *n = w->g->node.item[i];
        if (n->op == AC_OP_BLOCKWISE_DENSE && ac_tensor_is_const(n->in[AC_BLOCKWISE_CODES]) &&
            said_to_train(o, n->in[AC_BLOCKWISE_CODES]))
            AC_TRY(unpack(w->cx, w->g, n));
    }
    for (int32_t i = 0; i < w->n; i++) {
        ac_tensor *t = w->g->tensor.item[i];
        if (!read[i] || !ac_tensor_is_const(t) || !is_quantised(t) || !said_to_train(o, t))
            continue;
        AC_TRY(train_one(w, t));
        ++*found;
    }
    return AC_OK;
}

int ac_train_floats(ac_ctx *cx, ac_graph *g, const ac_train_spec *o, const bool *read)
{
    work w = {cx, g, g->tensor.n, AC_NEW_N(cx->region, ac_tensor *, g->tensor.n + 1)};
    const int32_t n = g->node.n;
    int32_t found = 0;
    AC_TRY(find_trained(&w, o, read, &found));
    if (!found)
        return AC_OK;
    ac_node **old = ac_copy(cx->region, g->node.item, (size_t)(n + 1) * sizeof *old);
    g->node.n = 0;
    for (int32_t i = 0; i < n; i++) {
        if (reads_floats(&w, old[i]))
            AC_TRY(to_floats(&w, old[i]));
        ac_push(g->region, &g->node, old[i]);
    }
    return AC_OK;
}
