/* keep.c - keeps the results of the model that gradients read, or recomputes them if that is cheap; see grad.h.
 *
 * The fewest bytes are a minimum cut. Each result is an edge whose capacity is its bytes, from the operands that it can
 * be recomputed from; inputs and results that cannot be recomputed hang on the source, operands of gradients on the
 * sink:
 *
 *     source ==> x ==> conv ~~> bn ~~> relu ==> sink         == no limit, ~~ bytes of the result before it
 *                                                            (conv is kept; bn and relu are recomputed)
 *
 * Of all minimum cuts, the one closest to the sink is taken: it recomputes least.
 * Source: He and Yu 2023, Transcending runtime-memory tradeoffs in checkpointing by being fusion aware; Dinic 1970. */
#include "ir/grad/grad.h"
#include "ir/make/maker.h"

enum { NEGLIGIBLE = 64 }; /* results this many times smaller than the largest are kept */
static const int64_t ENDLESS = INT64_MAX / 4;

typedef struct edge {
    int32_t to, next; /* next: of the same vertex; -1: none. The edge back is number ^ 1 */
    int64_t room;
} edge;

typedef struct cut {
    ac_graph *g;
    ac_region *region;
    int32_t n_model;  /* nodes of the model; gradients come after them */
    int32_t n;        /* tensors; vertices: 2 i before tensor i, 2 i + 1 after it, then source and sink */
    int32_t *made_by; /* by tensor: a node of the model; -1: none */
    bool *live;       /* by node: a wanted tensor depends on it */
    bool *changes;    /* by tensor: state that the model writes */
    AC_VEC(edge) edge;
    int32_t *first, *level, *at, *queue; /* by vertex */
    ac_tensor **again;                   /* by tensor: its recomputed copy; NULL: none, or none so far */
    int32_t *era_of, era;                /* of again[]: values of one era are dead in the next */
} cut;

static int32_t source(const cut *c)
{
    return 2 * c->n;
}

static int32_t sink(const cut *c)
{
    return 2 * c->n + 1;
}

static void connect(cut *c, int32_t from, int32_t to, int64_t room)
{
    ac_push(c->region, &c->edge, ((edge){to, c->first[from], room}));
    c->first[from] = c->edge.n - 1;
    ac_push(c->region, &c->edge, ((edge){from, c->first[to], 0}));
    c->first[to] = c->edge.n - 1;
}

/* ------------------------------------------------------------------ the network */

/* Operand i of n, if it has bytes in memory that gradients would have to keep. */
static ac_tensor *operand(const ac_node *n, int32_t i)
{
    ac_tensor *t = n->in[i];
    return !t || ac_node_is_static(n, i) || ac_tensor_is_const(t) || t->state ? NULL : t;
}

static void find_live(cut *c, ac_tensor *const *wanted, int32_t n_wanted)
{
    bool *needed = AC_NEW_N(c->region, bool, c->n + 1);
    for (int32_t i = 0; i < n_wanted; i++)
        if (wanted[i])
            needed[wanted[i]->id] = true;
    for (int32_t k = c->g->node.n; k-- > c->n_model;) {
        const ac_node *n = c->g->node.item[k];
        for (int32_t i = 0; i < n->n_out; i++)
            c->live[k] |= needed[n->out[i]->id];
        for (int32_t i = 0; i < n->n_in; i++)
            if (n->in[i] && c->live[k])
                needed[n->in[i]->id] = true;
    }
}

/* Element by element, or a move of elements: no more work than reading and writing them. */
static bool is_cheap(const cut *c, const ac_tensor *t, int64_t largest)
{
    const ac_node *n = c->made_by[t->id] < 0 ? NULL : c->g->node.item[c->made_by[t->id]];
    const uint32_t flags = n ? ac_ops[n->op].flags : 0;
    bool cheap = n && n->n_out == 1 && ac_tensor_bytes(t) > largest / NEGLIGIBLE && !t->output && !t->root &&
                 !(flags & (OF_STATE | OF_CHECKS | OF_FLOW | OF_CALLS)) &&
                 (ac_ops[n->op].map || flags & (OF_VIEW | OF_MOVES));
    for (int32_t i = 0; cheap && i < n->n_in; i++)
        cheap = !n->in[i] || !c->changes[n->in[i]->id];
    return cheap;
}

static void build(cut *c)
{
    int64_t largest = 0;
    for (int32_t k = 0; k < c->n_model; k++)
        for (int32_t i = 0; i < c->g->node.item[k]->n_out; i++) {
            const ac_tensor *t = c->g->node.item[k]->out[i];
            const int64_t bytes = ac_tensor_bytes(t);
            c->made_by[t->id] = k;
            largest = bytes > largest ? bytes : largest;
            c->changes[ac_tensor_root(t)->id] |= ac_tensor_root(t)->state;
        }
    for (int32_t t = 0; t < c->n; t++) {
        const ac_tensor *x = c->g->tensor.item[t];
        const int32_t k = c->made_by[t];
        if (k < 0 && !x->input)
            continue;
        const bool cheap = is_cheap(c, x, largest);
        const ac_node *n = cheap ? c->g->node.item[k] : NULL;
        connect(c, 2 * t, 2 * t + 1, ac_tensor_bytes(x));
        if (!cheap)
            connect(c, source(c), 2 * t, ENDLESS);
        for (int32_t i = 0; n && i < n->n_in; i++)
            if (operand(n, i))
                connect(c, 2 * n->in[i]->id + 1, 2 * t, ENDLESS);
    }
    for (int32_t k = c->n_model; k < c->g->node.n; k++) {
        const ac_node *n = c->g->node.item[k];
        for (int32_t i = 0; c->live[k] && i < n->n_in; i++)
            if (operand(n, i) && (c->made_by[n->in[i]->id] >= 0 || n->in[i]->input))
                connect(c, 2 * n->in[i]->id + 1, sink(c), ENDLESS);
    }
}

/* ------------------------------------------------------------------ the cut */

/* Distances from the source along edges with room; with `back`, from the sink against them. Is the other end found? */
static bool levels(cut *c, bool back)
{
    int32_t n = 0;
    for (int32_t v = 0; v <= sink(c); v++) {
        c->level[v] = -1;
        c->at[v] = c->first[v];
    }
    c->queue[n++] = back ? sink(c) : source(c);
    c->level[c->queue[0]] = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t v = c->queue[i];
        for (int32_t e = c->first[v]; e >= 0; e = c->edge.item[e].next) {
            const int32_t to = c->edge.item[e].to;
            if (c->level[to] >= 0 || !c->edge.item[back ? e ^ 1 : e].room)
                continue;
            c->level[to] = c->level[v] + 1;
            c->queue[n++] = to;
        }
    }
    return c->level[back ? source(c) : sink(c)] >= 0;
}

/* One path from the source to the sink along rising levels, filled; false: none exists. */
static bool augment(cut *c)
{
    int32_t n = 0, v = source(c); /* queue: the edges of the path */
    while (v != sink(c)) {
        int32_t *e = &c->at[v];
        while (*e >= 0 && (!c->edge.item[*e].room || c->level[c->edge.item[*e].to] != c->level[v] + 1))
            *e = c->edge.item[*e].next;
        if (*e >= 0) {
            c->queue[n++] = *e;
            v = c->edge.item[*e].to;
        } else if (n) {
            v = c->edge.item[c->queue[--n] ^ 1].to;
            c->at[v] = c->edge.item[c->at[v]].next;
        } else {
            return false;
        }
    }
    int64_t room = ENDLESS;
    for (int32_t i = 0; i < n; i++)
        room = c->edge.item[c->queue[i]].room < room ? c->edge.item[c->queue[i]].room : room;
    for (int32_t i = 0; i < n; i++) {
        c->edge.item[c->queue[i]].room -= room;
        c->edge.item[c->queue[i] ^ 1].room += room;
    }
    return true;
}

/* Afterwards level is set where the sink can be reached from. */
static void solve(cut *c)
{
    while (levels(c, false))
        while (augment(c))
            ;
    levels(c, true);
}

/* ------------------------------------------------------------------ the graph */

static bool is_computed_again(const cut *c, const ac_tensor *t)
{
    return t->id < c->n && c->made_by[t->id] >= 0 && c->level[2 * t->id] >= 0;
}

/* t as gradients read it. */
static ac_tensor *as_read(cut *c, ac_tensor *t)
{
    if (!is_computed_again(c, t))
        return t;
    if (c->again[t->id] && c->era_of[t->id] == c->era)
        return c->again[t->id];
    const ac_node *n = c->g->node.item[c->made_by[t->id]];
    ac_tensor **in = AC_NEW_N(c->region, ac_tensor *, n->n_in + 1);
    for (int32_t i = 0; i < n->n_in; i++)
        in[i] = operand(n, i) ? as_read(c, n->in[i]) : n->in[i];
    ac_tensor *to = c->again[t->id] = ac_tensor_like(c->g, ac_internf(c->g->cx, "%s_again", t->name), t);
    c->era_of[t->id] = c->era;
    ac_make_copy(c->g, n, in, &to)->name = ac_internf(c->g->cx, "%s again", n->name);
    return to;
}

/* A recomputed value comes before its first reader, and stays alive until an expensive operator has run; later readers
 * recompute it again, in their own loops if possible. */
static void rebuild(cut *c)
{
    const int32_t n_nodes = c->g->node.n;
    ac_node **old = ac_copy(c->region, c->g->node.item, (size_t)(n_nodes + 1) * sizeof *old);
    c->g->node.n = c->n_model;
    for (int32_t k = c->n_model; k < n_nodes; k++) {
        for (int32_t i = 0; c->live[k] && i < old[k]->n_in; i++)
            if (operand(old[k], i))
                old[k]->in[i] = as_read(c, old[k]->in[i]);
        ac_push(c->g->cx->region, &c->g->node, old[k]);
        c->era += !ac_ops[old[k]->op].map && !(ac_ops[old[k]->op].flags & OF_VIEW);
    }
}

void ac_grad_keep(ac_graph *g, int32_t n_model, ac_tensor *const *grad, int32_t n_grad)
{
    ac_region *r = ac_region_open(&g->cx->heap);
    cut c = {.g = g, .region = r, .n_model = n_model, .n = g->tensor.n};
    const int32_t n_vertices = 2 * c.n + 2;
    c.made_by = AC_NEW_N(r, int32_t, c.n + 1);
    c.live = AC_NEW_N(r, bool, g->node.n + 1);
    c.changes = AC_NEW_N(r, bool, c.n + 1);
    c.again = AC_NEW_N(r, ac_tensor *, c.n + 1);
    c.era_of = AC_NEW_N(r, int32_t, c.n + 1);
    c.first = AC_NEW_N(r, int32_t, n_vertices);
    c.level = AC_NEW_N(r, int32_t, n_vertices);
    c.at = AC_NEW_N(r, int32_t, n_vertices);
    c.queue = AC_NEW_N(r, int32_t, n_vertices);
    for (int32_t i = 0; i < c.n; i++)
        c.made_by[i] = -1;
    for (int32_t v = 0; v < n_vertices; v++)
        c.first[v] = -1;
    find_live(&c, grad, n_grad);
    build(&c);
    solve(&c);
    rebuild(&c);
    ac_region_close(r);
}
