/* fold_plain.c - turns one node into constants, as it is. */
#include "ir/make/maker.h"
#include "ir/ops/shape/resolve.h"
#include "ir/ops/shape/shape.h"
#include "ir/pass/passes.h"

#include <string.h>

enum {
    SMALL_BYTES = 64 * 1024,
    GROWTH = 4,       /* f32 out of i8 is four times as large, and still wanted */
    MOST_NODES = 16,  /* of one recipe */
    FREE = 256 << 20, /* bytes that folding may always touch */
    TIMES = 64,       /* ... for each byte of the model's files */
    PER_MAC = 1       /* a multiply-add takes about as long as a byte */
};

static bool all_const(const ac_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && (!ac_tensor_is_const(n->in[i]) || n->in[i]->weight))
            return false;
    return true;
}

/* Bytes of the smallest constants that t can be made of again. */
static ac_bytes made_bytes(const ac_tensor *t, int32_t *left)
{
    const ac_bytes own = t->splat ? ac_dtype_size(t->dtype, 1) : ac_tensor_bytes(t);
    const ac_node *n = t->made_of;
    ac_bytes sum = 0;
    if (t->splat || !n || !(ac_ops[n->op].flags & OF_REMADE) || --*left < 0)
        return own;
    for (int32_t i = 0; i < n->n_in; i++)
        sum += n->in[i] ? made_bytes(n->in[i], left) : 0;
    return sum < own ? sum : own;
}

/* Tiling or broadcasting a small constant at compile time would trade a little time for a lot of ROM. */
static bool grows_much(const ac_node *n)
{
    ac_bytes in = 0, out = 0;
    int32_t left = MOST_NODES;
    for (int32_t i = 0; i < n->n_in; i++)
        in += n->in[i] ? made_bytes(n->in[i], &left) : 0;
    for (int32_t i = 0; i < n->n_out; i++)
        out += ac_tensor_bytes(n->out[i]);
    return out > SMALL_BYTES && out / GROWTH > in;
}

/* Operators whose loops read single elements of their operands, so that these can be computed there. */
static bool reads_elements(const ac_node *n)
{
    return ac_ops[n->op].map || ac_ops[n->op].flags & (OF_MOVES | OF_VIEW) || n->op == AC_OP_CONCATENATION ||
           n->op == AC_OP_PACK || n->op == AC_OP_GATHER || n->op == AC_OP_GATHER_ND || n->op == AC_OP_GATHER_ELEMENTS ||
           n->op == AC_OP_SCATTER_ELEMENTS || n->op == AC_OP_SCATTER_INTO || n->op == AC_OP_DYNAMIC_UPDATE_SLICE;
}

/* True if n's result need not be stored: all loops that read it can compute it. */
static bool computed_by_readers(const ac_graph *g, const ac_node *n)
{
    bool all = ac_node_remade(n) && !n->out[0]->quant;
    for (int32_t i = 0; i < g->node.n && all; i++) {
        const ac_node *r = g->node.item[i];
        for (int32_t k = 0; k < r->n_in && r->op != AC_OP_NONE; k++)
            all &= r->in[k] != n->out[0] || reads_elements(r);
    }
    return all;
}

/* Bytes of the model's files: of those that stay open. */
static ac_bytes file_bytes(const ac_ctx *cx)
{
    ac_bytes sum = 0;
    for (const ac_resident *r = cx->resident; r; r = r->next)
        sum += (ac_bytes)r->n;
    return sum;
}

/* Counts what folding n touches, now or later; false: it would be too much, and n remains a step. */
static bool affordable(ac_graph *g, const ac_node *n)
{
    const ac_bytes most = file_bytes(g->cx) > FREE / TIMES ? TIMES * file_bytes(g->cx) : FREE;
    ac_bytes cost = 0;
    for (int32_t i = 0; i < n->n_in; i++)
        cost += n->in[i] && !(n->in[i]->splat && ac_ops[n->op].map) ? ac_tensor_bytes(n->in[i]) : 0;
    for (int32_t i = 0; i < n->n_out; i++)
        cost += ac_tensor_bytes(n->out[i]);
    const int64_t macs = ac_op_macs(n);
    if (macs > most || cost > most - g->folded)
        return false;
    cost += macs * PER_MAC;
    if (cost > SMALL_BYTES && cost > most - g->folded)
        return false;
    g->folded += cost > SMALL_BYTES ? cost : 0;
    return true;
}

/* Results that are data already there: reshaped constants, moved splats (the same everywhere, so moving changes
 * nothing), FILL. */
static bool share_bytes(ac_node *n)
{
    const ac_tensor *x = n->op == AC_OP_FILL ? n->in[1] : n->in[0];
    ac_tensor *y = n->out[0];
    bool same_bytes = ac_ops[n->op].flags & OF_VIEW;
    bool splat = (ac_ops[n->op].flags & (OF_VIEW | OF_MOVES) && x && x->splat) || n->op == AC_OP_FILL;
    if (!(same_bytes || splat) || !x || !(x->data || (same_bytes && x->raw)) || x->dtype != y->dtype)
        return false;
    y->data = x->data;
    y->raw = x->raw;
    y->splat = splat;
    return true;
}

/* A map of constants that are the same everywhere is computed once: its result is such a constant. */
static bool share_value(ac_graph *g, ac_node *n)
{
    ac_tensor *y = n->out[0], *one[4], *v = NULL;
    bool all = ac_ops[n->op].map && n->n_out == 1 && n->n_in <= 4 && ac_tensor_count(y) > 1 && !y->quant;
    for (int32_t i = 0; i < n->n_in && all; i++)
        all = n->in[i] && !n->in[i]->quant && ((n->in[i]->splat && n->in[i]->data) || ac_tensor_count(n->in[i]) == 1);
    if (!all)
        return false;
    const int32_t tensors = g->tensor.n, nodes = g->node.n;
    for (int32_t i = 0; i < n->n_in; i++) {
        const void *data = n->in[i]->splat ? n->in[i]->data : ac_tensor_force(g->cx, n->in[i]);
        one[i] = data ? ac_tensor_const(g, n->name, n->in[i]->dtype, 0, NULL, data) : NULL;
        all &= data != NULL;
    }
    const ac_maker b = ac_maker_at(g, n);
    v = all ? ac_make_op(&b, n->op, one, n->n_in, &n->attrs, y->dtype) : NULL;
    const void *data = v && (ac_tensor_is_const(v) || ac_fold_plain_new(g, v)) ? ac_tensor_force(g->cx, v) : NULL;
    const bool same = data && v->dtype == y->dtype;
    ac_graph_drop(g, tensors);
    ac_graph_sweep_end(g, nodes);
    if (!same)
        return false;
    y->data = data;
    y->splat = true;
    return true;
}

bool ac_fold_plain(ac_graph *g, ac_node *n)
{
    if (n->op == AC_OP_NONE || n->n_fused || n->n_in == 0 || !all_const(n) ||
        ac_ops[n->op].flags & (OF_STATE | OF_CALLS) || ac_node_writes_into(n))
        return false;
    if (!share_bytes(n) && !share_value(g, n) &&
        ((grows_much(n) && !computed_by_readers(g, n)) || !affordable(g, n) || !g->promise || !g->promise(g->cx, n)))
        return false;
    ac_node_made(g, n);
    return true;
}

ac_tensor *ac_fold_plain_new(ac_graph *g, ac_tensor *y)
{
    ac_node *n = y->def;
    if (ac_fold_plain(g, n))
        return y;
    ac_node_erase(n);
    return NULL;
}
