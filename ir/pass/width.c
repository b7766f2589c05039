/* width.c - the bytes that are live at once, in the order of the nodes. */
#include "ir/pass/width.h"

/* The steps that need a root or a view of it, both inclusive; begin -1: never */
typedef struct life {
    int32_t begin, end;
} life;

typedef struct change {
    int32_t r, y; /* ids: r went into y */
    life was_y;
} change;

struct ac_width {
    ac_region *region;
    const ac_graph *g;
    life *of;      /* by tensor id */
    int32_t leaf;  /* leaves of the tree: a power of two */
    int64_t *add;  /* by tree node: added to all steps below it */
    int64_t *most; /* by tree node: the largest sum below it, its own `add` included */
    AC_VEC(change) log;
};

/* Adds v to the steps begin..end below tree node k, which covers lo..hi. */
static void add_range(ac_width *w, int32_t k, int32_t lo, int32_t hi, life at, int64_t v)
{
    if (at.end < lo || at.begin > hi)
        return;
    if (at.begin <= lo && hi <= at.end) {
        w->add[k] += v;
        w->most[k] += v;
        return;
    }
    int32_t mid = lo + (hi - lo) / 2;
    add_range(w, 2 * k, lo, mid, at, v);
    add_range(w, 2 * k + 1, mid + 1, hi, at, v);
    int64_t l = w->most[2 * k], r = w->most[2 * k + 1];
    w->most[k] = (l > r ? l : r) + w->add[k];
}

static void add_width(ac_width *w, int32_t id, int sign)
{
    if (w->of[id].begin >= 0)
        add_range(w, 1, 0, w->leaf - 1, w->of[id], sign * ac_tensor_bytes(w->g->tensor.item[id]));
}

static void touch(ac_width *w, const ac_tensor *t, int32_t step)
{
    life *l = &w->of[ac_tensor_root(t)->id];
    if (l->begin < 0)
        l->begin = step;
    if (l->end < step)
        l->end = step;
}

static void touch_node(ac_width *w, const ac_node *n, int32_t step, ac_tensor **list, int32_t cap)
{
    for (int32_t k = 0; k < n->n_out; k++)
        touch(w, k ? n->out[k] : ac_node_result(n), step);
    int32_t reads = ac_node_reads(n, list, cap);
    for (int32_t k = 0; k < reads && k < cap; k++)
        touch(w, list[k], step);
}

ac_width *ac_width_open(ac_region *region, const ac_graph *g)
{
    enum { CAP = 1024 }; /* operands of a node and its followers; more than that are not counted */
    ac_tensor *list[CAP];
    ac_width *w = AC_NEW(region, ac_width);
    *w = (ac_width){.region = region, .g = g, .leaf = 1};
    while (w->leaf <= g->node.n)
        w->leaf *= 2;
    w->of = AC_NEW_N(region, life, g->tensor.n + 1);
    w->add = AC_NEW_N(region, int64_t, 2 * (int64_t)w->leaf);
    w->most = AC_NEW_N(region, int64_t, 2 * (int64_t)w->leaf);
    for (int32_t i = 0; i < g->tensor.n; i++)
        w->of[i] = (life){-1, -1};
    for (int32_t i = 0; i < g->input.n; i++)
        touch(w, g->input.item[i], 0);
    for (int32_t i = 0; i < g->node.n; i++)
        touch_node(w, g->node.item[i], i, list, CAP);
    for (int32_t i = 0; i < g->output.n; i++)
        touch(w, g->output.item[i], g->node.n);
    for (int32_t i = 0; i < g->tensor.n; i++) {
        const ac_tensor *t = g->tensor.item[i];
        if (t->root || t->state || ac_tensor_is_const(t)) /* state has a memory of its own */
            w->of[i].begin = -1;
        add_width(w, i, 1);
    }
    return w;
}

int64_t ac_width_peak(const ac_width *w)
{
    return w->most[1];
}

int32_t ac_width_mark(const ac_width *w)
{
    return w->log.n;
}

void ac_width_enter(ac_width *w, const ac_tensor *r, const ac_tensor *y)
{
    life lr = w->of[r->id], *ly = &w->of[y->id];
    change c = {r->id, y->id, *ly};
    ac_push(w->region, &w->log, c);
    add_width(w, r->id, -1);
    add_width(w, y->id, -1);
    if (ly->begin >= 0 && lr.begin >= 0) {
        ly->begin = lr.begin < ly->begin ? lr.begin : ly->begin;
        ly->end = lr.end > ly->end ? lr.end : ly->end;
    }
    add_width(w, y->id, 1);
}

void ac_width_undo(ac_width *w, int32_t mark)
{
    while (w->log.n > mark) {
        change c = w->log.item[--w->log.n];
        add_width(w, c.y, -1);
        w->of[c.y] = c.was_y;
        add_width(w, c.y, 1);
        add_width(w, c.r, 1);
    }
}
