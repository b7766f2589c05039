/* order.c - execution orders of a graph: the file's, and the plain problem that order_search.c improves. The values are
 * the roots of live.c with the same sizes, ends and in-place rules, so a peak found there is the liveness bound of the
 * plan. */
#include "planner/graph/live.h"

int32_t ac_order_keep(const ac_graph *g, ac_node **order)
{
    int32_t n = 0;
    for (int32_t i = 0; i < g->node.n; i++)
        if (!g->node.item[i]->view)
            order[n++] = g->node.item[i];
    return n;
}

/* Steps that use one state tensor stay in the file's order, whatever they do to it. */
static void use(ac_order_problem *p, int32_t step, const ac_tensor *t, bool writes)
{
    const ac_tensor *root = ac_tensor_root(t);
    const ac_bytes at = ac_tensor_root_offset(t);
    if (!ac_tensor_is_const(root))
        ac_order_use(p, step, root->id, at, at + ac_tensor_bytes(t), writes || root->state);
}

/* Parts stay in order: the first step of each comes after all of the part before, and before the rest of its own. Its
 * inputs are there from then on. The first part has any order. */
static void barriers(ac_order_problem *p, const ac_graph *g, ac_lowered *const *step, int32_t n)
{
    for (int32_t s = 0, start = 0; s < n && step[n - 1]->node->part; s++) {
        const int32_t part = step[s]->node->part;
        const bool first = s > 0 && step[s - 1]->node->part != part;
        for (int32_t k = s - 1; k >= 0 && first && step[k]->node->part == step[s - 1]->node->part; k--)
            ac_order_before(p, k, s);
        start = first ? s : start;
        if (start && !first)
            ac_order_before(p, start, s);
        for (int32_t i = 0; i < g->input.n && first; i++)
            if (ac_live_part(g->input.item[i], step, n) == part)
                ac_order_use(p, s, ac_tensor_root(g->input.item[i])->id, 0, 1, false);
    }
}

/* Steps with effects of their own stay in the file's order. */
static void effects(ac_order_problem *p, const ac_graph *g, ac_lowered *const *step, int32_t n)
{
    int32_t last = -1;
    for (int32_t s = 0; s < n; s++) {
        if (!ac_node_acts(g->cx, step[s]->node))
            continue;
        if (last >= 0)
            ac_order_before(p, last, s);
        last = s;
    }
}

/* The operands that live.c may merge the result into, if they die in the step. */
static void merges(ac_order_problem *p, int32_t s, const ac_lowered *low, ac_tensor *const *read, int32_t n_read)
{
    const ac_tensor *result = ac_node_result(low->node);
    ac_order_step *st = &p->step[s];
    st->result = result->id;
    if (result->root || result->state)
        return;
    for (int32_t i = 0; i < low->n_overwrite && st->n_over < (int32_t)(sizeof st->over / sizeof *st->over); i++) {
        const ac_tensor *c = low->overwrite[i];
        const ac_tensor *r = ac_tensor_root(c);
        bool alone = r != result && !r->state && !ac_tensor_is_const(r) && ac_tensor_bytes(c) == ac_tensor_bytes(r) &&
                     ac_tensor_bytes(r) == ac_tensor_bytes(result);
        for (int32_t k = 0; k < n_read && alone; k++)
            alone = read[k] == c || ac_tensor_root(read[k]) != r;
        if (alone)
            st->over[st->n_over++] = r->id;
    }
}

ac_order_problem *ac_order_graph(ac_region *region, const ac_graph *g, ac_lowered *const *step, int32_t n,
                                 ac_live_options opt)
{
    ac_order_problem *p = ac_order_new(region, n, g->tensor.n);
    for (int32_t i = 0; i < g->tensor.n; i++) {
        const ac_tensor *t = g->tensor.item[i];
        if (!t->root && !t->state && !ac_tensor_is_const(t))
            p->value[i] =
                (ac_order_value){.size = ac_align_up(ac_tensor_bytes(t), opt.align), .at_end = opt.preserve_all};
    }
    for (int32_t i = 0; i < g->input.n; i++) {
        ac_order_value *v = &p->value[ac_tensor_root(g->input.item[i])->id];
        v->at_start = !ac_live_part(g->input.item[i], step, n);
        v->at_end = v->at_end || opt.whole || opt.preserve_input;
    }
    for (int32_t i = 0; i < g->output.n; i++) {
        ac_order_value *v = &p->value[ac_tensor_root(g->output.item[i])->id];
        v->at_end = true;
        v->at_start = v->at_start || opt.whole;
    }
    for (int32_t s = 0; s < n; s++) {
        const ac_lowered *low = step[s];
        const int32_t room = ac_node_reads(low->node, NULL, 0);
        ac_tensor **read = AC_NEW_N(region, ac_tensor *, room + 1);
        const int32_t n_read = ac_node_reads(low->node, read, room);
        for (int32_t i = 0; i < n_read; i++)
            use(p, s, read[i], false);
        use(p, s, ac_node_result(low->node), true);
        for (int32_t i = low->node->n_fused ? 1 : 0; i < low->node->n_out; i++)
            use(p, s, low->node->out[i], true);
        for (int32_t a = 0; a < low->arg.n; a++)
            if (low->arg.item[a].kind == AC_ARG_SCRATCH)
                p->step[s].scratch += ac_align_up(low->arg.item[a].bytes, opt.align);
        if (opt.inplace && !opt.preserve_all)
            merges(p, s, low, read, n_read);
    }
    barriers(p, g, step, n);
    effects(p, g, step, n);
    ac_order_link(p);
    return p;
}
