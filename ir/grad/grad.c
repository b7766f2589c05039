/* grad.c - from the last node to the first: each node gives its operands their shares; see grad.h. */
#include "ir/grad/grad.h"
#include "ir/grad/entries.h"
#include "ir/grad/reverse.h"
#include "ir/ops/decode/axis.h"

static ac_grad_fn *const GRADS[AC_OP_COUNT] = {
#define GRAD(f)   f
#define NOGRAD(w) NULL
#define OP(id, text, tfl, imin, imax, outs, attrs, shape, macs, filter, loops, stat, over, flags, grad) \
    [AC_OP_##id] = grad,
#include "ir/ops/ops.def"
#undef OP
#undef NOGRAD
#undef GRAD
};

static bool flows(const ac_node *n)
{
    const ac_nograd why = ac_ops[n->op].nograd;
    return why != AC_NOGRAD_FLAT && why != AC_NOGRAD_INTEGERS;
}

/* ------------------------------------------------------------------ which tensors have adjoints */

static void find_needs(const ac_reverse *r, const ac_graph *g)
{
    for (int32_t k = 0; k < g->node.n; k++) {
        const ac_node *n = g->node.item[k];
        bool any = false;
        for (int32_t i = 0; i < n->n_in && flows(n); i++)
            any |= n->in[i] && !ac_node_is_static(n, i) && r->sum[n->in[i]->id].needs;
        for (int32_t i = 0; i < n->n_out; i++)
            r->sum[n->out[i]->id].needs |= any && ac_dtype_is_float(n->out[i]->dtype);
    }
}

static bool counts(const ac_reverse *r, const ac_node *n)
{
    bool any = false;
    for (int32_t i = 0; i < n->n_out; i++)
        any |= r->sum[n->out[i]->id].counts;
    return any && n->op != AC_OP_NONE && flows(n);
}

static void find_counts(const ac_reverse *r, const ac_graph *g)
{
    for (int32_t k = g->node.n; k-- > 0;) {
        const ac_node *n = g->node.item[k];
        if (!counts(r, n))
            continue;
        for (int32_t i = 0; i < n->n_in; i++) {
            ac_sum *s = n->in[i] && !ac_node_is_static(n, i) ? &r->sum[n->in[i]->id] : NULL;
            if (s && s->needs) {
                s->counts = true;
                s->left++;
            }
        }
    }
}

/* Every operator on a path that has no gradient. */
static int check_operators(ac_ctx *cx, const ac_reverse *r, const ac_graph *g)
{
    int status = AC_OK;
    for (int32_t k = 0; k < g->node.n; k++) {
        const ac_node *n = g->node.item[k];
        if (!counts(r, n) || GRADS[n->op])
            continue;
        ac_error(cx, n->at, E0109, "'%s' (%s) has no gradient: %s", n->name, ac_ops[n->op].text,
                 ac_nograd_text[ac_ops[n->op].nograd]);
        for (int32_t i = 0; i < n->n_in; i++)
            if (n->in[i] && r->sum[n->in[i]->id].counts)
                ac_detail(cx, "on the path to '%s'", n->in[i]->name);
        status = AC_FAIL;
    }
    return status;
}

/* ------------------------------------------------------------------ the walk */

/* The adjoint of result 0 becomes that of the value before the activation among the node's attributes. */
static void undo_act(const ac_adjoint *a)
{
    ac_tensor *y = a->node->out[0];
    ac_sum *s = &a->all->sum[y->id];
    const ac_act act = ac_node_act(a->node);
    if (act != AC_ACT_NONE && s->done)
        s->before = ac_before_act(a, act, y, s->done);
}

/* A mask of the operands that are smaller than another one: their shares are computed first, so the large operand is
 * dead before its own share, which is as large, is computed. */
static uint32_t small_operands(const ac_node *n)
{
    uint32_t mask = 0;
    for (int32_t i = 0; i < n->n_in && i < 32; i++)
        for (int32_t k = 0; k < n->n_in; k++)
            if (n->in[i] && n->in[k] && ac_tensor_bytes(n->in[i]) < ac_tensor_bytes(n->in[k]))
                mask |= 1u << i;
    return mask;
}

static void give_shares(ac_adjoint *a)
{
    const uint32_t first = small_operands(a->node);
    int status = AC_OK;
    a->now = first;
    if (first)
        status = GRADS[a->node->op](a);
    a->now = ~first;
    if (status != AC_OK || GRADS[a->node->op](a) != AC_OK)
        a->all->failed = true;
}

static void visit(ac_adjoint *a)
{
    const ac_node *n = a->node;
    for (int32_t i = 0; i < n->n_out; i++)
        ac_sum_complete(a, n->out[i]);
    undo_act(a);
    give_shares(a);
    for (int32_t i = 0; i < n->n_in; i++) {
        const ac_tensor *x = n->in[i];
        if (x && !ac_node_is_static(n, i) && a->all->sum[x->id].counts && --a->all->sum[x->id].left == 0)
            ac_sum_complete(a, x);
    }
}

/* Nodes of a gradient are called "grad of NODE", and their results grad_RESULT. */
static ac_adjoint adjoint_of(ac_ctx *cx, ac_graph *g, ac_reverse *r, const ac_node *n)
{
    const char *name = ac_strf(cx->region, "grad of %s", n->name);
    const char *base = ac_strf(cx->region, "grad_%s", n->out[0]->name);
    ac_maker b = {.cx = cx, .g = g, .name = name, .base = base, .at = n->at, .bare = true, .gradient = true};
    b.at.node = name;
    return (ac_adjoint){.b = b, .node = n, .all = r, .now = ~0u};
}

/* A place for nodes that belong to no node: those about the adjoint of t alone. */
static ac_adjoint about(ac_ctx *cx, ac_graph *g, ac_reverse *r, ac_tensor *t)
{
    static const ac_place NOWHERE;
    ac_node *n = AC_NEW(cx->region, ac_node);
    *n = (ac_node){.name = t->name, .at = t->def ? t->def->at : NOWHERE, .n_out = 1};
    n->out = AC_NEW(cx->region, ac_tensor *);
    n->out[0] = t;
    n->at.file = g->file;
    return adjoint_of(cx, g, r, n);
}

int ac_grad(ac_ctx *cx, ac_graph *g, ac_tensor *const *out, ac_tensor *const *cotangent, int32_t n_out,
            ac_tensor *const *wrt, int32_t n_wrt, ac_tensor **grad)
{
    const int32_t n_nodes = g->node.n;
    ac_reverse r = {.n = g->tensor.n};
    r.sum = AC_NEW_N(cx->region, ac_sum, r.n + 1);
    for (int32_t i = 0; i < n_wrt; i++)
        r.sum[wrt[i]->id].needs = ac_dtype_is_float(wrt[i]->dtype);
    find_needs(&r, g);
    for (int32_t j = 0; j < n_out; j++)
        r.sum[out[j]->id].counts |= cotangent[j] && r.sum[out[j]->id].needs;
    find_counts(&r, g);
    AC_TRY(check_operators(cx, &r, g));
    for (int32_t j = 0; j < n_out; j++)
        if (cotangent[j] && r.sum[out[j]->id].counts) {
            const ac_adjoint a = about(cx, g, &r, out[j]);
            ac_tensor *c = cotangent[j];
            ac_sum_add(&a, out[j], c->rank < out[j]->rank ? ac_make_broadcast(&a.b, c, out[j]->rank, out[j]->dim) : c);
        }
    for (int32_t k = n_nodes; k-- > 0;) {
        ac_adjoint a = adjoint_of(cx, g, &r, g->node.item[k]);
        if (counts(&r, a.node))
            visit(&a);
    }
    for (int32_t i = 0; i < n_wrt; i++) {
        const ac_adjoint a = about(cx, g, &r, wrt[i]);
        ac_tensor *t = r.sum[wrt[i]->id].counts ? ac_sum_complete(&a, wrt[i]) : NULL;
        grad[i] = ac_make_broadcast(&a.b, t, wrt[i]->rank, wrt[i]->dim);
    }
    ac_graph_sweep(g);
    return r.failed ? AC_FAIL : AC_OK;
}
