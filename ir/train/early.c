/* early.c - moves updates up: a gradient is dead after its update, long before the end of the step. */
#include "ir/train/make.h"

typedef struct work {
    ac_node **old; /* the nodes in their first order */
    int32_t n, first;
    int32_t *made;  /* by tensor id: the node that makes it; -1: none */
    int32_t *after; /* by node from `first` on: the node before `first` that it comes after; -1: the beginning */
} work;

static void wait_for(work *w, int32_t i, int32_t k)
{
    const int32_t at = k < w->first ? k : w->after[k];
    w->after[i] = at > w->after[i] ? at : w->after[i];
}

/* After the makers of its operands, and after all readers of the state that it writes. */
static void soonest(work *w, int32_t i)
{
    const ac_node *n = w->old[i];
    const ac_tensor *state = n->out[0]->root;
    w->after[i] = -1;
    for (int32_t k = 0; k < n->n_in; k++)
        if (n->in[k] && w->made[n->in[k]->id] >= 0)
            wait_for(w, i, w->made[n->in[k]->id]);
    for (int32_t r = 0; state && r < i; r++)
        if (ac_node_reads_state(w->old[r], state))
            wait_for(w, i, r);
}

/* Nodes that depend on little are not computed before they are needed. */
static void not_too_soon(work *w, int32_t *need)
{
    for (int32_t i = w->n - 1; i >= w->first; i--) {
        const ac_node *n = w->old[i];
        if (need[i] < w->n && need[i] > w->after[i])
            w->after[i] = need[i];
        for (int32_t k = 0; k < n->n_in; k++) {
            const int32_t m = n->in[k] ? w->made[n->in[k]->id] : -1;
            if (m >= w->first && w->after[i] < need[m])
                need[m] = w->after[i];
        }
    }
}

void ac_train_early(ac_graph *g, int32_t first)
{
    ac_region *tmp = ac_region_open(&g->cx->heap);
    work w = {.n = g->node.n, .first = first};
    int32_t *need = AC_NEW_N(tmp, int32_t, w.n + 1), at = 0;
    w.old = ac_copy(tmp, g->node.item, (size_t)(w.n + 1) * sizeof *w.old);
    w.after = AC_NEW_N(tmp, int32_t, w.n + 1);
    w.made = AC_NEW_N(tmp, int32_t, g->tensor.n + 1);
    for (int32_t i = 0; i < g->tensor.n; i++)
        w.made[i] = -1;
    for (int32_t i = 0; i < w.n; i++) {
        need[i] = w.n;
        for (int32_t k = 0; k < w.old[i]->n_out; k++)
            w.made[w.old[i]->out[k]->id] = i;
    }
    for (int32_t i = first; i < w.n; i++)
        soonest(&w, i);
    not_too_soon(&w, need);
    for (int32_t k = -1; k < first; k++) {
        if (k >= 0)
            g->node.item[at++] = w.old[k];
        for (int32_t i = first; i < w.n; i++)
            if (w.after[i] == k)
                g->node.item[at++] = w.old[i];
    }
    ac_region_close(tmp);
}
