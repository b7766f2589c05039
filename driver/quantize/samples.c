/* samples.c - the arrays of --data: which input each is of, and how many samples they have. */
#include "driver/quantize/quantizing.h"

#include "base/ascii.h"
#include "host/npy_texts.h"

#include <string.h>

static int put_array(ac_quantizing *z, const char *key, const ac_npy *a)
{
    ac_work *w = z->w;
    ac_graph *g = w->made.model->graph;
    int64_t dim[AC_MAX_RANK];
    int32_t i;
    AC_TRY(ac_io_find(&w->cx, w->source.path, "--data", key, g->input.item, g->input.n, &i));
    if (z->option[i])
        return ac_error(&w->cx, (ac_place){.file = "arenac"}, E0501, "--data gives input '%s' twice",
                        g->input.item[i]->name);
    z->option[i] = ac_strf(w->cx.region, "--data %s", key);
    z->array[i] = *a;
    for (int32_t d = 0; d < a->rank && d < AC_MAX_RANK; d++)
        dim[d] = d ? a->dim[d] : 1;
    ac_shape_input(g, i, a->rank, dim);
    return AC_OK;
}

/* KEY=F.npy, F.npz, or F.npy of the only input. */
static int open_one(ac_quantizing *z, const char *text)
{
    ac_work *w = z->w;
    ac_region *r = w->cx.region;
    const char *eq = strchr(text, '=');
    ac_npy array;
    if (eq && !ac_file_exists(text)) {
        AC_TRY(ac_npy_read(&w->cx, eq + 1, &array));
        return put_array(z, ac_strf(r, "%.*s", (int)(eq - text), text), &array);
    }
    if (ac_has_ending(text, ".npy")) {
        AC_TRY(ac_npy_read(&w->cx, text, &array));
        return put_array(z, "0", &array);
    }
    ac_file *file = AC_NEW(r, ac_file);
    ac_npz_list list = {0};
    AC_TRY(ac_npz_read(&w->cx, text, file, &list));
    for (int32_t i = 0; i < list.n; i++)
        AC_TRY(put_array(z, list.n == 1 && w->made.model->graph->input.n == 1 ? "0" : list.item[i].name,
                         &list.item[i].array));
    return AC_OK;
}

int ac_quantizing_open(ac_quantizing *z)
{
    ac_work *w = z->w;
    const int32_t n = w->made.model->graph->input.n;
    z->array = AC_NEW_N(w->cx.region, ac_npy, n + 1);
    z->option = AC_NEW_N(w->cx.region, const char *, n + 1);
    z->sample = AC_NEW_N(w->cx.region, const void *, n + 1);
    for (int32_t i = 0; i < w->opt.quantize_data.n; i++)
        AC_TRY(open_one(z, w->opt.quantize_data.item[i]));
    return AC_OK;
}

/* An array holds whole samples, along its first dimension; an input without it is one sample. */
static int bind(ac_quantizing *z, int32_t i, const ac_tensor *t)
{
    ac_ctx *cx = &z->w->cx;
    ac_npy *a = &z->array[i];
    if (!z->option[i]) {
        ac_error(cx, (ac_place){.file = z->w->source.path}, E0304, "input %d '%s' %s has no samples", i, t->name,
                 ac_tensor_str(cx, t));
        return ac_help(cx, "--data %d=FILE.npy", i);
    }
    ac_npy_encode(cx, a, t);
    const bool extra = a->rank == t->rank + 1;
    const int64_t batch = t->rank && !extra ? t->dim[0] : 1;
    ac_npy one = *a;
    if (extra) {
        memmove(one.dim, one.dim + 1, (size_t)t->rank * sizeof *one.dim);
        one.rank--;
    } else if (one.rank) {
        one.dim[0] = batch;
    }
    AC_TRY(ac_npy_fits(cx, &one, t, z->option[i]));
    if (!a->rank || a->dim[0] % batch)
        return ac_error(cx, (ac_place){.file = a->path}, E0304,
                        "%s has %lld samples, not a multiple of the batch of %lld", z->option[i],
                        (long long)(a->rank ? a->dim[0] : 0), (long long)batch);
    const int64_t samples = a->dim[0] / batch;
    if (z->samples >= 0 && samples != z->samples)
        return ac_error(cx, (ac_place){.file = a->path}, E0304, "%s has %lld samples, other inputs have %lld",
                        z->option[i], (long long)samples, (long long)z->samples);
    z->samples = samples;
    z->sample[i] = a->data;
    return AC_OK;
}

int ac_quantizing_bind(ac_quantizing *z)
{
    const ac_graph *g = z->w->made.model->graph;
    int status = AC_OK;
    z->samples = -1;
    for (int32_t i = 0; i < g->input.n; i++)
        if (bind(z, i, g->input.item[i]) != AC_OK)
            status = AC_FAIL;
    return status;
}
