/* regions.c - branches of v1 as branches of an IF; see regions.h. */
#include "import/build/counted.h"
#include "import/tf/regions.h"
#include "import/build/flow/sub_graphs.h"

#include <string.h>

typedef struct side {
    uint64_t mask;
    AC_VEC(ac_tensor *) own; /* by the id of a tensor of r->g: its copy here; NULL: none */
} side;

struct ac_tf_region {
    const ac_tensor *key;
    ac_tensor *cond;
    ac_node *node; /* the IF */
    ac_sub_pair sub;
    side side[2];
    AC_VEC(ac_tensor *) out;
};

typedef struct ac_tf_region region;

/* ------------------------------------------------------------------ guards */

void ac_tf_guard_nodes(ac_tf *r, int32_t first, const ac_tf_guard *guard)
{
    const ac_graph *g = r->g;
    for (int32_t i = first; guard && i < g->node.n; i++) {
        const int32_t id = g->node.item[i]->id;
        while (r->here.guard.n <= id)
            ac_push(r->cx->region, &r->here.guard, NULL);
        r->here.guard.item[id] = guard;
    }
}

static const ac_tf_guard *guard_of(const ac_tf *r, const ac_node *n)
{
    return n->id < r->here.guard.n ? r->here.guard.item[n->id] : NULL;
}

const ac_tf_guard *ac_tf_guard_by(const ac_tf_guard *guard, const ac_tensor *key)
{
    while (guard && guard->key != key)
        guard = guard->outer;
    return guard;
}

static bool is_inside(const ac_tf *r, const ac_node *n, const ac_tensor *key, uint64_t mask)
{
    const ac_tf_guard *g = ac_tf_guard_by(guard_of(r, n), key);
    return g && !(g->mask & ~mask);
}

/* ------------------------------------------------------------------ an IF is complete */

static void complete_if(ac_tf *r, region *x)
{
    ac_maker b = ac_reading_maker(r->reading, r->g, NULL, (ac_place){0});
    ac_sub_add(&b, &x->sub, &x->node->attrs.flow);
}

static void complete_node(ac_tf *r, const ac_node *n)
{
    for (int32_t i = 0; i < r->here.region.n; i++)
        if (r->here.region.item[i]->node == n) {
            complete_if(r, r->here.region.item[i]);
            r->here.region.item[i] = r->here.region.item[--r->here.region.n];
            return;
        }
}

/* ------------------------------------------------------------------ nodes go into a branch */

/* The copy of t; NULL: none. Graphs outside of r->g have tensors of the same ids. */
static ac_tensor *own_of(const ac_tf *r, const side *s, const ac_tensor *t)
{
    return ac_graph_has(r->g, t) && t->id < s->own.n ? s->own.item[t->id] : NULL;
}

static void set_own(ac_tf *r, side *s, const ac_tensor *t, ac_tensor *own)
{
    while (s->own.n <= t->id)
        ac_push(r->cx->region, &s->own, NULL);
    s->own.item[t->id] = own;
}

static void copy_node(ac_tf *r, side *s, ac_graph *g, const ac_node *m)
{
    ac_tensor **in = AC_NEW_N(r->cx->region, ac_tensor *, m->n_in + 1);
    ac_tensor **out = AC_NEW_N(r->cx->region, ac_tensor *, m->n_out + 1);
    if (ac_ops[m->op].flags & OF_FLOW)
        complete_node(r, m);
    for (int32_t i = 0; i < m->n_in; i++) {
        ac_tensor *own = m->in[i] ? own_of(r, s, m->in[i]) : NULL;
        in[i] = own ? own : m->in[i];
    }
    for (int32_t i = 0; i < m->n_out; i++) {
        out[i] = ac_tensor_like(g, m->out[i]->name, m->out[i]);
        set_own(r, s, m->out[i], out[i]);
    }
    for (int32_t i = 0; i < m->n_out; i++)
        if (m->out[i]->count) {
            ac_tensor *count = own_of(r, s, m->out[i]->count);
            out[i]->count = count ? count : m->out[i]->count;
            out[i]->count_dim = m->out[i]->count_dim;
        }
    ac_node *own = ac_node_new(g, m->op, m->name, in, m->n_in, out, m->n_out);
    own->at = m->at;
    own->attrs = m->attrs;
}

/* Copies t and the nodes of this branch that it needs into the branch's graph. Returns the copy, or t if it is not of
 * the branch. NULL: too much work for a file of this size. */
static ac_tensor *move_in(ac_tf_op *n, region *x, int32_t which, ac_tensor *t)
{
    ac_tf *r = n->r;
    side *s = &x->side[which];
    const ac_graph *g = r->g;
    if (!ac_pb_spend(&r->pb, g->node.n / 16 + 1))
        return NULL;
    bool *needed = AC_NEW_N(r->cx->region, bool, g->tensor.n + 1), *here = AC_NEW_N(r->cx->region, bool, g->node.n + 1);
    if (ac_graph_has(g, t))
        needed[t->id] = true;
    for (int32_t i = g->node.n - 1; i >= 0; i--) {
        const ac_node *m = g->node.item[i];
        bool wanted = false;
        for (int32_t k = 0; k < m->n_out; k++)
            wanted |= needed[m->out[k]->id] && !own_of(r, s, m->out[k]);
        here[i] = wanted && is_inside(r, m, x->key, s->mask);
        for (int32_t k = 0; here[i] && k < m->n_in; k++)
            if (m->in[k] && ac_graph_has(g, m->in[k]))
                needed[m->in[k]->id] = true;
    }
    for (int32_t i = 0; i < g->node.n; i++)
        if (here[i])
            copy_node(r, s, x->sub.side[which].g, g->node.item[i]);
    ac_tensor *own = own_of(r, s, t);
    return own ? own : t;
}

/* ------------------------------------------------------------------ IFs */

static bool node_reads(const ac_node *m, const ac_node *of)
{
    for (int32_t i = 0; i < m->n_in; i++)
        for (int32_t k = 0; k < of->n_out; k++)
            if (m->in[i] == of->out[k])
                return true;
    return false;
}

/* An IF that can still become the last node of the graph. */
static region *find_open_if(const ac_tf *r, const ac_tensor *key, uint64_t yes, uint64_t no)
{
    const ac_graph *g = r->g;
    for (int32_t i = 0; i < r->here.region.n; i++) {
        region *x = r->here.region.item[i];
        int32_t at = g->node.n - 1;
        if (x->key != key || x->side[0].mask != yes || x->side[1].mask != no)
            continue;
        while (at >= 0 && g->node.item[at] != x->node && !node_reads(g->node.item[at], x->node))
            at--;
        if (at >= 0 && g->node.item[at] == x->node)
            return x;
    }
    return NULL;
}

static region *begin_if(ac_tf_op *n, ac_tensor *cond, const ac_tensor *key, uint64_t yes, uint64_t no)
{
    ac_tf *r = n->r;
    region *x = AC_NEW(r->cx->region, region);
    *x = (region){.key = key, .cond = cond};
    x->side[0].mask = yes;
    x->side[1].mask = no;
    for (ac_sub *s = x->sub.side; s < x->sub.side + 2; s++) {
        ac_sub_enter(&n->b, &r->g, s);
        ac_sub_leave(&n->b, &r->g, s);
    }
    x->node = ac_node_new(r->g, AC_OP_IF, n->b.name, &cond, 1, NULL, 0);
    x->node->at = n->b.at;
    ac_push(r->cx->region, &r->here.region, x);
    return x;
}

/* The IF reads what its branches read from outside, and is the last node. */
static void move_to_end(ac_tf *r, region *x)
{
    ac_graph *g = r->g;
    const int32_t at = ac_graph_place_of(g, x->node);
    memmove(g->node.item + at, g->node.item + at + 1, (size_t)(g->node.n - 1 - at) * sizeof *g->node.item);
    g->node.item[g->node.n - 1] = x->node;
    const ac_sub_tensors *captured = &x->sub.captured;
    ac_tensor **in = AC_NEW_N(r->cx->region, ac_tensor *, captured->n + 2);
    in[0] = x->cond;
    for (int32_t i = 0; i < captured->n; i++)
        in[1 + i] = captured->item[i];
    x->node->in = in;
    x->node->n_in = 1 + captured->n;
    x->node->out = ac_copy(r->cx->region, x->out.item, (size_t)x->out.n * sizeof *x->out.item);
    x->node->n_out = x->out.n;
}

ac_tensor *ac_tf_region_join(ac_tf_op *n, ac_tensor *cond, const ac_tensor *key, uint64_t yes_mask, ac_tensor *yes,
                             uint64_t no_mask, ac_tensor *no, const ac_tf_guard *outer)
{
    ac_tf *r = n->r;
    ac_tensor *both[] = {yes, no};
    region *x = find_open_if(r, key, yes_mask, no_mask);
    int32_t dim;
    x = x ? x : begin_if(n, cond, key, yes_mask, no_mask);
    for (int32_t k = 0; k < 2; k++) {
        ac_graph *g = x->sub.side[k].g;
        ac_tensor *t = move_in(n, x, k, both[k]);
        if (!t)
            return NULL;
        ac_push(g->region, &g->output, t);
    }
    const ac_graph *first = x->sub.side[0].g;
    const int32_t i = first->output.n - 1;
    if (ac_sub_alike(&n->b, &r->g, cond, &x->sub, i, n->node->name, &dim) != AC_OK ||
        ac_sub_capture(&n->b, &x->sub) != AC_OK)
        return NULL;
    for (int32_t k = i; k < first->output.n; k++) {
        const ac_tensor *like = first->output.item[k];
        ac_tensor *t = ac_tensor_new(r->g, ac_strf(r->cx->region, "%s_if", n->b.base), like->dtype, 0, NULL);
        ac_tensor_become(t, like);
        t->def = x->node;
        ac_push(r->cx->region, &x->out, t);
    }
    move_to_end(r, x);
    ac_tf_guard_nodes(r, r->g->node.n - 1, outer);
    if (dim >= 0) {
        x->out.item[i]->count = x->out.item[i + 1];
        x->out.item[i]->count_dim = dim;
    }
    return x->out.item[i];
}

/* ------------------------------------------------------------------ the end of a graph */

/* Erases guarded nodes whose results are unused. */
static void drop_unread(ac_tf *r)
{
    ac_graph *g = r->g;
    bool *read = AC_NEW_N(r->cx->region, bool, g->tensor.n + 1);
    for (int32_t i = 0; i < g->output.n; i++) {
        const ac_tensor *t = g->output.item[i];
        if (ac_graph_has(g, t))
            read[t->id] = true;
        if (t->count && ac_graph_has(g, t->count))
            read[t->count->id] = true;
    }
    for (int32_t i = g->node.n - 1; i >= 0; i--) {
        ac_node *m = g->node.item[i];
        bool any = !guard_of(r, m);
        for (int32_t k = 0; k < m->n_out; k++)
            any |= read[m->out[k]->id];
        if (!any) {
            ac_node_erase(m);
            continue;
        }
        for (int32_t k = 0; k < m->n_in; k++)
            if (m->in[k] && ac_graph_has(g, m->in[k]))
                read[m->in[k]->id] = true;
        for (int32_t k = 0; k < m->n_out; k++)
            if (m->out[k]->count && ac_graph_has(g, m->out[k]->count))
                read[m->out[k]->count->id] = true;
    }
    ac_graph_sweep(g);
}

int ac_tf_regions_end(ac_tf *r)
{
    ac_graph *g = r->g;
    int rc = AC_OK;
    while (r->here.region.n)
        complete_node(r, r->here.region.item[0]->node);
    if (!r->here.guard.n)
        return AC_OK;
    drop_unread(r);
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *m = g->node.item[i];
        const char *why = NULL;
        if (guard_of(r, m))
            why = ac_ops[m->op].flags & (OF_STATE | OF_CHECKS) ? "it may stop the model"
                  : ac_ops[m->op].flags & OF_CALLS             ? "it may have effects"
                  : m->op == AC_OP_WHILE                       ? "data decides when it ends"
                                                               : NULL;
        if (why)
            rc = ac_refuse(r->reading, m->at, E0108, m->at.op,
                           ac_strf(r->cx->region,
                                   "%s; it is in a branch with a run-time condition, whose results are not merged with "
                                   "those of the other branch",
                                   why),
                           NULL);
    }
    r->here.guard.n = 0;
    return rc;
}
