/* samples.c - the arrays that a model learns from: rows are samples, and the batch of a step is copied into its
 * inputs. */
#include "driver/train/training.h"

#include "base/random.h"
#include "base/shell.h"
#include "host/npy_texts.h"

#include <string.h>

static int wrong_rows(ac_training *t, const ac_samples *s)
{
    return ac_error(&t->w->cx, (ac_place){.file = s->array.path}, E0304, "%s has %lld samples, %s has %lld", s->option,
                    (long long)(s->array.rank ? s->array.dim[0] : 0), t->samples[0].option, (long long)t->rows);
}

static int open_array(ac_training *t, const char *path, const char *option, int32_t input)
{
    ac_samples *s = &t->samples[t->n_samples];
    *s = (ac_samples){.option = option, .input = input};
    AC_TRY(ac_npy_read(&t->w->cx, path, &s->array));
    t->n_samples++;
    if (!s->array.rank || !s->array.dim[0])
        return ac_error(&t->w->cx, (ac_place){.file = s->array.path}, E0304,
                        "%s has no samples: its first dimension is empty", option);
    if (t->n_samples == 1)
        t->rows = s->array.dim[0];
    s->row_bytes = s->array.bytes / s->array.dim[0];
    return s->array.dim[0] == t->rows ? AC_OK : wrong_rows(t, s);
}

int ac_samples_open(ac_training *t)
{
    ac_work *w = t->w;
    const ac_graph *g = w->made.model->graph;
    const ac_opt_keys *data = &w->opt.data;
    t->samples = AC_NEW_N(w->cx.region, ac_samples, data->n + 2);
    for (int32_t k = 0; k < data->n; k++) {
        int32_t i;
        int64_t dim[AC_MAX_RANK];
        AC_TRY(ac_io_find(&w->cx, w->source.path, "--data", data->item[k].key, g->input.item, g->input.n, &i));
        for (int32_t p = 0; p < t->n_samples; p++)
            if (t->samples[p].input == i)
                return ac_error(&w->cx, (ac_place){0}, E0501, "--data '%s' is given twice", data->item[k].key);
        AC_TRY(open_array(t, data->item[k].path,
                          ac_strf(w->cx.region, "--data %s", ac_shell_word(&w->cx, data->item[k].key)), i));
        const ac_npy *array = &t->samples[t->n_samples - 1].array;
        for (int32_t d = 0; d < array->rank && d < AC_MAX_RANK; d++)
            dim[d] = d ? array->dim[d] : t->micro;
        ac_shape_input(w->made.model->graph, i, array->rank, dim);
    }
    const char *target = w->opt.train_target, *eq = target ? strchr(target, '=') : NULL;
    return target ? open_array(t, eq ? eq + 1 : target, "--target", -1) : AC_OK;
}

/* Does a batch of the array fill the input? */
static int check(ac_training *t, ac_samples *s, const ac_tensor *x)
{
    ac_npy_encode(&t->w->cx, &s->array, x);
    s->row_bytes = s->array.bytes / s->array.dim[0];
    ac_npy batch = s->array;
    batch.dim[0] = x->rank ? x->dim[0] : 0;
    if (x->rank < 1 || x->dim[0] != t->micro) {
        ac_error(&t->w->cx, (ac_place){.file = t->w->source.path}, E0304,
                 "the first dimension of '%s' %s is not a batch of %lld samples", x->name, ac_tensor_str(&t->w->cx, x),
                 (long long)t->micro);
        return ac_help(&t->w->cx, t->micro < t->batch ? "--micro-batch %lld" : "--batch %lld",
                       (long long)(x->rank ? x->dim[0] : 1));
    }
    return ac_npy_fits(&t->w->cx, &batch, x, s->option);
}

static int wrong_class(ac_training *t, const ac_npy *y, const char *option, int64_t at, int64_t id)
{
    ac_ctx *cx = &t->w->cx;
    const int64_t last = t->step.classes - 1, positions = ac_tensor_count(t->step.target) / t->micro;
    const char *where = positions < 2 ? "" : ac_strf(cx->region, ", position %lld", (long long)(at % positions));
    ac_error(cx, (ac_place){.file = y->path}, E0304,
             "%s: sample %lld%s is of class %lld, expected 0 to %lld: '%s' has %lld classes", option,
             (long long)(at / positions), where, (long long)id, (long long)last, t->step.output_name,
             (long long)last + 1);
    return ac_help(cx, id < 0
                           ? "ids that mean 'ignore' (PyTorch's ignore_index) are not supported: leave such samples out"
                           : "train a model with an output for each class, or leave such samples out");
}

int ac_samples_check_classes(ac_training *t, const ac_npy *y, const char *option)
{
    if (!t->step.classes)
        return AC_OK;
    const ac_dtype type = t->step.target->dtype;
    for (int64_t i = 0; i < y->bytes / ac_dtype_size(type, 1); i++) {
        const int64_t id = ac_dtype_get_int(type, y->data, i);
        if (id < 0 || id >= t->step.classes)
            return wrong_class(t, y, option, i, id);
    }
    return AC_OK;
}

int ac_samples_bind(ac_training *t)
{
    ac_work *w = t->w;
    const ac_graph *g = w->made.lowering->graph;
    int status = AC_OK;
    for (int32_t i = 0; i < g->input.n; i++) {
        const ac_tensor *x = g->input.item[i];
        bool given = x == t->step.rate;
        if (given)
            t->rate_io = &w->made.module->input[i];
        for (int32_t k = 0; k < t->n_samples; k++) {
            ac_samples *s = &t->samples[k];
            if (s->input != i && !(s->input < 0 && x == t->step.target))
                continue;
            given = true;
            s->io = &w->made.module->input[i];
            status = check(t, s, x) == AC_OK ? status : AC_FAIL;
            if (x == t->step.target && status == AC_OK)
                status = ac_samples_check_classes(t, &s->array, s->option);
        }
        if (!given) {
            ac_error(&w->cx, (ac_place){.file = w->source.path}, E0304, "input %d '%s' %s is not given", i, x->name,
                     ac_tensor_str(&w->cx, x));
            status = ac_help(&w->cx, "--data %d=FILE.npy", i);
        }
    }
    return status;
}

/* ------------------------------------------------------------------ order */

/* A permutation of the samples, of seed and epoch alone. */
static void shuffle(ac_training *t, uint64_t seed, int64_t epoch)
{
    uint64_t state = seed * 0xd1342543de82ef95u + (uint64_t)epoch;
    for (int64_t i = 0; i < t->rows; i++)
        t->order[i] = i;
    for (int64_t i = t->rows - 1; i > 0; i--) {
        const int64_t k = (int64_t)(ac_splitmix64(&state) % (uint64_t)(i + 1)), row = t->order[i];
        t->order[i] = t->order[k];
        t->order[k] = row;
    }
    t->epoch = epoch;
}

static int64_t row_of(ac_training *t, int64_t sample)
{
    if (!t->order)
        return sample % t->rows;
    if (sample / t->rows != t->epoch)
        shuffle(t, t->seed, sample / t->rows);
    return t->order[sample % t->rows];
}

void ac_samples_fill(ac_training *t, int64_t first)
{
    for (int64_t i = 0; i < t->micro; i++) {
        const int64_t row = row_of(t, first + i);
        for (int32_t k = 0; k < t->n_samples; k++) {
            const ac_samples *s = &t->samples[k];
            memcpy(ac_session_at(&t->w->session, s->io) + i * s->row_bytes, s->array.data + row * s->row_bytes,
                   (size_t)s->row_bytes);
        }
    }
}

void ac_samples_close(ac_training *t)
{
    for (int32_t k = 0; k < t->n_samples; k++)
        ac_npy_close(&t->samples[k].array);
    t->n_samples = 0;
}
