/* open_outputs.c - what the outputs of a model are while sizes of its inputs are open and its file does not say it, as
 * those of TensorFlow do not: the model is read with two choices of these sizes. What both agree on is so; a dimension
 * in which they differ is open, too. */
#include "driver/verb/verbs.h"

#include <string.h>

enum { TRIALS = 3, CHOICES = 2 };

/* Of the first dimension, and of all others: images and sequences may have to be large. */
static const int64_t SIZE[TRIALS][CHOICES][2] = {{{2, 8}, {3, 12}}, {{2, 64}, {3, 96}}, {{2, 256}, {3, 320}}};

static int infer_stage(arenac *one, void *arg)
{
    (void)arg;
    return ac_infer(one);
}

/* The model with these sizes; NULL: it cannot be read so. */
static arenac *read_with(arenac *a, const char *const *path, int32_t n, const int64_t *size)
{
    arenac *one = ac_open_like(a, NULL, 0);
    const ac_graph *g = a->model->graph;
    for (int32_t i = 0; i < g->input.n; i++)
        for (int32_t d = 0; d < g->input.item[i]->rank; d++)
            if (g->input.item[i]->dim[d] < 0)
                arenac_set(one, "dim",
                           ac_strf(a->cx.region, "%s.%d=%lld", g->input.item[i]->name, d, (long long)size[d > 0]));
    if (arenac_errors(one) == 0 && arenac_read(one, path, n) == 0 && ac_guard(one, infer_stage, NULL) == AC_OK)
        return one;
    arenac_close(one);
    return NULL;
}

static const ac_tensor *output_of(const arenac *one, const char *name)
{
    const ac_graph *g = one->model->graph;
    for (int32_t i = 0; i < g->output.n; i++)
        if (!strcmp(g->output.item[i]->name, name))
            return g->output.item[i];
    return NULL;
}

static void agree(ac_tensor *to, const ac_tensor *x, const ac_tensor *y)
{
    if (!x || !y || x->dtype != y->dtype || x->rank != y->rank)
        return;
    *to = (ac_tensor){.name = to->name, .dtype = x->dtype, .rank = x->rank};
    for (int32_t d = 0; d < x->rank; d++)
        to->dim[d] = x->dim[d] == y->dim[d] && !(x->count && x->count_dim == d) ? x->dim[d] : -1;
}

static bool is_told(const arenac *a)
{
    bool told = true;
    for (int32_t i = 0; i < a->model->promised.n; i++)
        told &= a->model->promised.item[i]->dtype != AC_NONE && !a->model->promised.item[i]->any_rank;
    return told;
}

void ac_open_outputs(arenac *a, const char *const *path, int32_t n)
{
    for (int32_t t = 0; t < TRIALS && !is_told(a); t++) {
        arenac *x = read_with(a, path, n, SIZE[t][0]), *y = x ? read_with(a, path, n, SIZE[t][1]) : NULL;
        for (int32_t i = 0; y && i < a->model->promised.n; i++) {
            ac_tensor *to = a->model->promised.item[i];
            if (to->dtype == AC_NONE || to->any_rank)
                agree(to, output_of(x, to->name), output_of(y, to->name));
        }
        arenac_close(x);
        arenac_close(y);
    }
}
