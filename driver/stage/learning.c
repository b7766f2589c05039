/* learning.c - the weights, gradients and loss of a step of training, for the printers of a module's API. */
#include "driver/stage/stage.h"

#include "codegen/learning.h"

#include <string.h>

static ac_weight_place place_of(const ac_module *m, const ac_train_weight *w)
{
    ac_weight_place p = {.name = w->name,
                         .rank = w->rank,
                         .state = ac_module_io(m, w->state),
                         .move = w->move.item,
                         .n_moves = w->move.n};
    memcpy(p.dim, w->dim, sizeof p.dim);
    return p;
}

void ac_put_learning(const ac_made *a, ac_module *m)
{
    static const char *const LATE[] = {"run_backward", "run_update", "run"}, *const EARLY[] = {"run_step", "run"};
    const ac_train_step *s = a->lowering->passed.step;
    if (!s)
        return;
    ac_learning *l = AC_NEW(a->cx->region, ac_learning);
    ac_weight_place *weight = AC_NEW_N(a->cx->region, ac_weight_place, s->weight.n + 1);
    const ac_io **random = AC_NEW_N(a->cx->region, const ac_io *, s->random.n + 1);
    for (int32_t i = 0; i < s->weight.n; i++)
        weight[i] = place_of(m, &s->weight.item[i]);
    for (int32_t i = 0; i < s->random.n; i++)
        random[i] = ac_module_io(m, s->random.item[i]);
    *l = (ac_learning){.rate = ac_module_io(m, s->rate),
                       .loss = ac_module_io(m, s->loss),
                       .sums = s->sums ? ac_module_io(m, s->sums) : NULL,
                       .random = random,
                       .n_random = s->random.n,
                       .micro_batches = s->spec->micro_batches,
                       .weight = weight,
                       .n_weights = s->weight.n};
    m->learning = l;
    for (int32_t k = 0; k < m->n_parts && m->n_parts > 1; k++)
        m->part[k].name = (s->sums ? LATE : EARLY)[k];
}
