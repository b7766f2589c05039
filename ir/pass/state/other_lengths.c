/* other_lengths.c - lists the lengths of growing caches with which pass state compares the graph. */
#include "ir/pass/state/other_lengths.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ caches that grow */

ac_node *ac_state_grower(const ac_graph *g, const ac_tensor *past, const ac_tensor *next, int32_t *axis)
{
    ac_node *n = next->def;
    int32_t differ = 0;
    if (past->rank != next->rank || past->dtype != next->dtype || !n || n->op != AC_OP_CONCATENATION || n->n_in != 2 ||
        n->in[0] != past || n->in[1] == past || n->attrs.axis.act != AC_ACT_NONE)
        return NULL;
    for (int32_t d = 0; d < past->rank; d++)
        if (past->dim[d] != next->dim[d]) {
            differ++;
            *axis = d;
        }
    for (int32_t i = 0; i < g->node.n && differ == 1; i++)
        for (int32_t k = 0; k < g->node.item[i]->n_in; k++)
            differ += g->node.item[i]->in[k] == past && g->node.item[i] != n;
    return differ == 1 && past->dim[*axis] < next->dim[*axis] ? n : NULL;
}

int32_t ac_state_grows(const ac_graph *g, const ac_tensor *past, const ac_tensor *next)
{
    int32_t axis;
    return ac_state_grower(g, past, next, &axis) ? axis : -1;
}

void ac_lengths_find(ac_other_lengths *l, ac_state_pair *kept, int32_t n_kept)
{
    int64_t added = 0;
    bool good = true;
    for (int32_t i = 0; i < n_kept; i++) {
        ac_state_pair *s = &kept[i];
        const ac_tensor *x = l->g->input.item[s->input], *y = l->g->output.item[s->output];
        if (ac_tensor_same_kind(x, y))
            continue;
        s->axis = ac_state_grows(l->g, x, y);
        good &= s->axis >= 0;
        if (s->axis < 0)
            continue;
        const int64_t rows = x->dim[s->axis], more = y->dim[s->axis] - rows;
        s->dim_name = x->dim_name[s->axis];
        good &= l->rows < 0 || (rows == l->rows && more == added);
        l->rows = rows;
        added = more;
    }
    if (!good)
        l->rows = -1;
}

/* ------------------------------------------------------------------ lengths */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const ac_tensor *)a)->name, ((const ac_tensor *)b)->name);
}

static ac_named_constants named_of(const ac_graph *g, ac_region *r, int64_t less)
{
    ac_tensor *list = AC_NEW_N(r, ac_tensor, g->tensor.n + 1);
    int32_t n = 0;
    for (int32_t i = 0; i < g->tensor.n; i++)
        if (g->tensor.item[i]->data && !g->tensor.item[i]->splat)
            list[n++] = *g->tensor.item[i];
    qsort(list, (size_t)n, sizeof *list, by_name);
    return (ac_named_constants){list, n, less};
}

const ac_tensor *ac_lengths_named(const ac_named_constants *list, const char *name)
{
    const ac_tensor key = {.name = name};
    return bsearch(&key, list->item, (size_t)list->n, sizeof key, by_name);
}

void ac_lengths_infer(ac_other_lengths *l, ac_ctx *cx, const ac_graph *g)
{
    *l = (ac_other_lengths){.cx = cx, .g = g, .rows = -1, .n_named = 1};
    l->named[0] = named_of(g, cx->region, 0);
}

bool ac_lengths_same_nodes(const ac_graph *g, const ac_graph *h)
{
    bool same = g->node.n == h->node.n;
    for (int32_t i = 0; i < g->node.n && same; i++) {
        const ac_node *a = g->node.item[i], *b = h->node.item[i];
        same = a->op == b->op && a->n_in == b->n_in && a->n_out == b->n_out;
    }
    return same;
}

bool ac_lengths_next(ac_other_lengths *l, ac_length_want *want)
{
    enum { SAME, MORE, LESS, SHORTER };
    const int64_t shorter[AC_LENGTHS_FEW] = {l->rows / 2, 1, 0};
    while (l->rows >= 0 && l->step < SHORTER + AC_LENGTHS_FEW) {
        const int32_t step = l->step++;
        const int64_t less = step < SHORTER ? 0 : l->rows - shorter[step - SHORTER];
        *want = (ac_length_want){.more = step == MORE ? 1 : step == LESS ? -1 : -less};
        want->inferred = step >= SHORTER;
        want->needed = step == SAME || step == LESS || (step == MORE && l->rows < 1);
        if (step > SAME && !l->now)
            return false;
        /* A table of the model may have exactly as many rows as the caches: then a longer cache is an error. */
        if ((step == LESS && l->other) || (want->inferred && (!l->other || less <= l->shortest)))
            continue;
        l->shortest = less;
        return true;
    }
    return false;
}

void ac_lengths_add(ac_other_lengths *l, const ac_length_want *want, ac_graph *graph)
{
    if (graph && want->inferred) {
        l->named[l->n_named++] = named_of(graph, l->cx->region, -want->more);
    } else if (graph && !want->more) {
        l->now = graph;
    } else if (graph && (want->needed || ac_lengths_same_nodes(l->g, graph))) {
        l->other = graph;
        l->more = want->more;
    }
}
