/* open_outputs.c - types and shapes of outputs if sizes of inputs are open and the file does not have them, as in
 * TensorFlow. The model is read with two choices of these sizes: a dimension on which both agree is known, another one
 * is open. */
#include "driver/verb/verbs.h"

#include <string.h>

enum { TRIALS = 3, CHOICES = 2 };

/* Of the first dimension, and of all others: images and sequences may have to be large. */
static const int64_t SIZE[TRIALS][CHOICES][2] = {{{2, 8}, {3, 12}}, {{2, 64}, {3, 96}}, {{2, 256}, {3, 320}}};

typedef struct trial {
    const char *const *path;
    int32_t n;
} trial;

static int infer_stage(ac_work *one, void *arg)
{
    const trial *t = arg;
    AC_TRY(ac_open(one, t->path, t->n));
    AC_TRY(ac_read_any(one));
    return ac_infer(one);
}

/* The model with these sizes; NULL: it cannot be read so. */
static ac_work *read_with(ac_work *w, const char *const *path, int32_t n, const int64_t *size)
{
    ac_work *one = ac_work_like(w, AC_AS_OTHER);
    trial t = {path, n};
    const ac_graph *g = w->made.model->graph;
    for (int32_t i = 0; i < g->input.n; i++)
        for (int32_t d = 0; d < g->input.item[i]->rank; d++) {
            const int64_t x = size[d > 0];
            const char *name = ac_strf(w->cx.region, "%s.%d", g->input.item[i]->name, d);
            if (g->input.item[i]->dim[d] < 0)
                ac_push(w->cx.region, &one->opt.dim, ((ac_dim_option){.name = name, .lo = x, .hi = x}));
        }
    if (ac_guard(one, infer_stage, &t) == AC_OK)
        return one;
    ac_work_close(one);
    return NULL;
}

static const ac_tensor *output_of(const ac_work *one, const char *name)
{
    const ac_graph *g = one->made.model->graph;
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

static bool is_told(const ac_work *w)
{
    bool told = true;
    for (int32_t i = 0; i < w->made.model->promised.n; i++)
        told &= w->made.model->promised.item[i]->dtype != AC_NONE && !w->made.model->promised.item[i]->any_rank;
    return told;
}

void ac_open_outputs(ac_work *w, const char *const *path, int32_t n)
{
    for (int32_t t = 0; t < TRIALS && !is_told(w); t++) {
        ac_work *x = read_with(w, path, n, SIZE[t][0]), *y = x ? read_with(w, path, n, SIZE[t][1]) : NULL;
        for (int32_t i = 0; y && i < w->made.model->promised.n; i++) {
            ac_tensor *to = w->made.model->promised.item[i];
            if (to->dtype == AC_NONE || to->any_rank)
                agree(to, output_of(x, to->name), output_of(y, to->name));
        }
        ac_work_close(x);
        ac_work_close(y);
    }
}
