/* sums.c - gradients, batch statistics and loss of a late step: its first part stores them for the second, in one block
 * that can be added to others. */
#include "ir/train/make.h"

#include <string.h>

void ac_train_open_sums(ac_graph *g, ac_train_step *s)
{
    const ac_maker m = ac_train_maker(g, "gradients", 0);
    int64_t n = 0;
    if (!s->spec->late)
        return;
    for (int32_t i = 0; i < s->weight.n; i++) {
        ac_train_weight *w = &s->weight.item[i];
        w->at = n;
        n += ac_dim_product(w->dim, 0, w->rank);
    }
    n++;
    s->sums = ac_train_state(&m, "gradients", 1, &n);
}

int ac_train_put_sum(ac_ctx *cx, ac_graph *g, const ac_train_step *s, ac_train_weight *w, ac_tensor *x)
{
    const ac_maker m = ac_train_maker(g, ac_internf(cx, "gradient of %s", w->name), 0);
    w->sum = ac_make_assign(&m, s->sums, w->at, x);
    return w->sum ? AC_OK : AC_FAIL;
}

int ac_train_put_loss(ac_graph *g, const ac_train_step *s)
{
    const ac_maker m = ac_train_maker(g, "loss", 0);
    return ac_make_assign(&m, s->sums, s->sums->dim[0] - 1, s->loss) ? AC_OK : AC_FAIL;
}

void ac_train_sort(ac_graph *g)
{
    ac_region *tmp = ac_region_open(&g->cx->heap);
    ac_node **old = ac_copy(tmp, g->node.item, (size_t)g->node.n * sizeof *old + 1);
    int32_t last = 0, at = 0;
    for (int32_t i = 0; i < g->node.n; i++)
        last = old[i]->part > last ? old[i]->part : last;
    for (int32_t part = 0; part <= last; part++)
        for (int32_t i = 0; i < g->node.n; i++)
            if (old[i]->part == part)
                g->node.item[at++] = old[i];
    ac_region_close(tmp);
}
