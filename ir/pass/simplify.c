/* simplify.c - pass simplify: removes nodes that change nothing. */
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/slice.h"
#include "ir/pass/passes.h"

typedef struct state {
    ac_graph *g;
    ac_tensor **alias; /* by tensor id: its replacement, which readers get when they are visited; NULL: none */
} state;

static ac_tensor *now(const state *s, ac_tensor *t)
{
    while (s->alias[t->id])
        t = s->alias[t->id];
    return t;
}

static void redirect(const state *s, ac_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i])
            n->in[i] = now(s, n->in[i]);
    for (int32_t f = 0; f < n->n_fused; f++)
        redirect(s, n->fused[f]);
}

/* n computes out[0] == x: readers of out[0] read x, and n is erased. A graph output keeps its name: then the node that
 * makes x makes out[0] in its place. false: neither is possible (an output made of an input), nothing changed. */
static bool bypass(state *s, ac_node *n, ac_tensor *x)
{
    ac_tensor *y = n->out[0];
    ac_node *maker = x->def;
    if (y->output && (!maker || maker->n_fused || x->output))
        return false;
    ac_node_erase(n);
    if (!y->output) {
        s->alias[y->id] = x;
        return true;
    }
    for (int32_t i = 0; i < maker->n_out; i++)
        if (maker->out[i] == x)
            maker->out[i] = y;
    y->def = maker;
    x->def = NULL;
    ac_tensor_replace(s->g, x, y);
    s->alias[x->id] = y;
    return true;
}

static bool same_type(const ac_tensor *a, const ac_tensor *b)
{
    return a->dtype == b->dtype && ac_quant_equal(a->quant, b->quant);
}

static bool same_tensor_kind(const ac_tensor *a, const ac_tensor *b)
{
    return same_type(a, b) && ac_tensor_same_shape(a, b);
}

/* True if t is a state that a node writes: readers of a copy may come after that. */
static bool is_written(const ac_graph *g, const ac_tensor *t)
{
    bool written = false;
    for (int32_t i = 0; t->state && i < g->node.n; i++)
        written = written || ac_node_writes(g->node.item[i], t);
    return written;
}

/* The node that makes t, when it is of this operator and unfused. */
static ac_node *made_by(const ac_tensor *t, ac_op op)
{
    return t->def && t->def->op == op && !t->def->n_fused ? t->def : NULL;
}

/* n becomes a reshape of x, which a view makes free. */
static void make_reshape(ac_graph *g, ac_node *n, ac_tensor *x)
{
    ac_tensor *y = n->out[0];
    int64_t *shape = AC_NEW_N(g->cx->region, int64_t, y->rank + 1);
    for (int32_t d = 0; d < y->rank; d++)
        shape[d] = y->dim[d];
    n->op = AC_OP_RESHAPE;
    ac_attrs_init(n->op, &n->attrs);
    n->attrs.shape.shape = (ac_ints){y->rank, shape};
    n->in[0] = x;
    n->n_in = 1;
}

/* ------------------------------------------------------------------ rules: true when n changed */

/* QUANTIZE to the same parameters; QUANTIZE of DEQUANTIZE with the same parameters. The second is exact: (q - z) * s /
 * s is within half a unit of q - z for all integers that i8, u8 and i16 hold. */
static bool quantize(state *s, ac_node *n)
{
    ac_tensor *y = n->out[0];
    if (same_tensor_kind(n->in[0], y))
        return bypass(s, n, n->in[0]);
    const ac_node *d = made_by(n->in[0], AC_OP_DEQUANTIZE);
    if (!d || !y->quant || !same_tensor_kind(d->in[0], y) || ac_dtype_bits(y->dtype) > 16)
        return false;
    return bypass(s, n, d->in[0]);
}

/* Reshape to the same shape; reshape of a reshape. */
static bool reshape(state *s, ac_node *n)
{
    ac_tensor *x = n->in[0];
    if (same_tensor_kind(x, n->out[0]))
        return bypass(s, n, x);
    const ac_node *d = x->def;
    if (!d || !(ac_ops[d->op].flags & OF_VIEW) || d->n_fused || !same_type(d->in[0], n->out[0]) ||
        is_written(s->g, d->in[0]))
        return false;
    make_reshape(s->g, n, d->in[0]);
    return true;
}

/* Transpose that moves nothing; transpose of a transpose. */
static bool transpose(state *s, ac_node *n)
{
    int32_t outer[AC_MAX_RANK], inner[AC_MAX_RANK];
    ac_ctx *cx = s->g->cx;
    ac_diags before = cx->diags;
    ac_tensor *x = n->in[0];
    if (!same_type(x, n->out[0]) || !ac_quietly(cx, before, ac_perm_of(cx, n, outer)))
        return false;
    if (ac_perm_moves_nothing(x, outer)) {
        make_reshape(s->g, n, x);
        return true;
    }
    const ac_node *d = made_by(x, AC_OP_TRANSPOSE);
    if (!d || !same_type(d->in[0], x) || is_written(s->g, d->in[0]) ||
        !ac_quietly(cx, before, ac_perm_of(cx, d, inner)))
        return false;
    int64_t *perm = AC_NEW_N(cx->region, int64_t, x->rank + 1);
    for (int32_t k = 0; k < x->rank; k++)
        perm[k] = inner[outer[k]];
    n->attrs.perm.perm = (ac_ints){x->rank, perm};
    n->in[0] = d->in[0];
    n->n_in = 1;
    return true;
}

/* A slice of everything. Shrunk or new dimensions of size 1 leave a reshape. */
static bool slice(state *s, ac_node *n)
{
    ac_ctx *cx = s->g->cx;
    ac_slice of = {0};
    ac_diags before = cx->diags;
    ac_tensor *x = n->in[0];
    int status = n->op == AC_OP_SLICE ? ac_slice_of(cx, n, &of) : ac_strided_slice_of(cx, n, &of);
    if (!ac_quietly(cx, before, status) || !same_type(x, n->out[0]))
        return false;
    for (int32_t d = 0; d < x->rank; d++)
        if (of.extent[d] != x->dim[d] || (x->dim[d] > 1 && of.step[d] != 1))
            return false;
    make_reshape(s->g, n, x);
    return true;
}

/* Joins of one operand and splits into one result copy it, perhaps with a dimension more or less. */
static bool single(state *s, ac_node *n, ac_tensor *x)
{
    ac_tensor *y = n->out[0];
    if (n->n_out != 1 || !same_type(x, y) || ac_tensor_count(x) != ac_tensor_count(y))
        return false;
    make_reshape(s->g, n, x);
    return true;
}

static bool identity(state *s, ac_node *n)
{
    return same_tensor_kind(n->in[0], n->out[0]) && bypass(s, n, n->in[0]);
}

static bool dropout(state *s, ac_node *n)
{
    return n->attrs.dropout.ratio <= 0 && bypass(s, n, n->in[0]);
}

static bool one_operand(state *s, ac_node *n)
{
    return n->n_in == 1 && n->attrs.axis.act == AC_ACT_NONE && single(s, n, n->in[0]);
}

static bool split(state *s, ac_node *n)
{
    return single(s, n, n->op == AC_OP_UNPACK ? n->in[0] : ac_split_value(n));
}

// clang-format off
static const struct {
    ac_op op;
    bool (*rule)(state *s, ac_node *n);
} RULES[] = {
    {AC_OP_BROADCAST_TO, identity}, {AC_OP_CAST, identity},  {AC_OP_CONCATENATION, one_operand},
    {AC_OP_DEQUANTIZE, identity},   {AC_OP_DROPOUT, dropout},
    {AC_OP_EXPAND_DIMS, reshape},   {AC_OP_MIRROR_PAD, identity}, {AC_OP_PACK, one_operand},     {AC_OP_PAD, identity},
    {AC_OP_PADV2, identity},        {AC_OP_QUANTIZE, quantize}, {AC_OP_RESHAPE, reshape}, {AC_OP_SLICE, slice},
    {AC_OP_SPLIT, split},           {AC_OP_SPLIT_V, split},  {AC_OP_SQUEEZE, reshape},    {AC_OP_STRIDED_SLICE, slice},
    {AC_OP_TILE, identity},         {AC_OP_TRANSPOSE, transpose}, {AC_OP_UNPACK, split},
};
// clang-format on

static bool simplify_node(state *s, ac_node *n)
{
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++)
        if (RULES[i].op == n->op)
            return RULES[i].rule(s, n);
    return false;
}

/* ac_pass_simplify: operators that compute nothing are bypassed, or become reshapes (which view makes free).
 *   before:  %d = dequantize %x    %q = quantize %d    %t = transpose %q perm=[0,1,2,3]    %y = relu %t
 *   after:   %d = dequantize %x    %y = relu %x                                   (%d goes in pass dead)
 * needs: shapes known, no epilogues.  keeps: names of graph outputs; values bit for bit. State that is written is
 * not read later than before. */
int ac_pass_simplify(ac_pass *p)
{
    ac_graph *g = p->graph;
    ac_region *tmp = ac_region_open(&p->cx->heap);
    state s = {g, AC_NEW_N(tmp, ac_tensor *, g->tensor.n + 1)};
    for (bool again = true; again;) {
        again = false;
        for (int32_t i = 0; i < g->node.n; i++) {
            ac_node *n = g->node.item[i];
            redirect(&s, n);
            if (n->op == AC_OP_NONE || n->n_fused || n->view || n->n_in == 0 || !n->in[0] || is_written(g, n->in[0]))
                continue;
            if (simplify_node(&s, n)) {
                p->changed++;
                again = true;
            }
        }
        ac_graph_sweep(g);
    }
    ac_region_close(tmp);
    return AC_OK;
}
