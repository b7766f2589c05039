/* trained.c - the model with its new weights: the file that was read with other initialisers, the graph in another
 * format, or the weights alone. */
#include "driver/train/training.h"
#include "driver/verbs.h"

#include "export/onnx_patch.h"
#include "host/npz.h"

#include <string.h>

static bool ends_with(const char *s, const char *end)
{
    const size_t n = strlen(s), k = strlen(end);
    return n > k && !strcmp(s + n - k, end);
}

static const void *value_of(ac_training *t, int32_t i)
{
    return ac_train_to_file(&t->a->cx, &t->step.weight.item[i], ac_session_at(&t->a->session, t->weight_io[i]));
}

/* ------------------------------------------------------------------ another arenac */

int ac_trained_put(void *with, ac_ctx *cx, ac_graph *g)
{
    ac_training *t = with;
    for (int32_t i = 0; i < t->step.weight.n; i++) {
        const ac_train_weight *w = &t->step.weight.item[i];
        ac_tensor *to = ac_tensor_find(g, w->name);
        if (!to || !ac_tensor_is_const(to))
            return ac_error(cx, (ac_place){.file = g->file}, E0110, "weight '%s' is no constant of the file", w->name);
        to->data = ac_copy(cx->region, value_of(t, i), (size_t)ac_tensor_bytes(to) + 1);
        to->raw = NULL;
        to->lazy = NULL;
        to->splat = false;
    }
    for (int32_t i = 0; i < g->tensor.n; i++)
        g->tensor.item[i]->weight = false;
    return AC_OK;
}

arenac *ac_trained_model(ac_training *t)
{
    static const ac_option_id OWN[] = {AC_OPT_trained, AC_OPT_bn,          AC_OPT_budget,
                                       AC_OPT_mpi,     AC_OPT_micro_batch, AC_OPT_update};
    arenac *one = ac_open_like(t->a, OWN, sizeof OWN / sizeof *OWN);
    arenac_set(one, "bn", "frozen");
    one->trains = true; /* nothing is computed of the old values */
    one->before = ac_trained_put;
    one->grow_with = t;
    return one;
}

/* ------------------------------------------------------------------ files */

/* By the verb convert. */
static int write_converted(ac_training *t, const char *path)
{
    arenac *one = ac_trained_model(t);
    const char *files[] = {t->path[0], t->n_paths > 1 ? t->path[1] : path, path};
    const int status = ac_convert(one, files, t->n_paths + 1);
    ac_diags_copy(&t->a->cx, &one->cx.diags);
    for (int32_t i = 0; i < one->output.n; i++)
        ac_push(t->a->cx.region, &t->a->output, one->output.item[i]);
    return status;
}

static int write_patched(ac_training *t, const char *path)
{
    arenac *a = t->a;
    const int32_t n = t->step.weight.n;
    ac_onnx_value *v = AC_NEW_N(a->cx.region, ac_onnx_value, n + 1);
    for (int32_t i = 0; i < n; i++)
        v[i] = (ac_onnx_value){t->step.weight.item[i].name, value_of(t, i), (size_t)t->weight_io[i]->bytes};
    const ac_span file = {a->source.file.data, a->source.file.n};
    return ac_onnx_patch(&a->cx, a->source.path, file, v, n, ac_output_new(a, path));
}

static int write_npz(ac_training *t, const char *path)
{
    ac_npz z;
    ac_npz_begin(&z, ac_output_new(t->a, path));
    for (int32_t i = 0; i < t->step.weight.n; i++) {
        const ac_train_weight *w = &t->step.weight.item[i];
        ac_npz_add(&z, w->name, w->dtype, w->rank, w->dim, value_of(t, i));
    }
    ac_npz_end(&z);
    return AC_OK;
}

int ac_trained_check(arenac *a)
{
    const char *path = a->opt.trained;
    if (ends_with(path, ".npz") || ends_with(path, ".onnx") || ends_with(path, ".ag"))
        return AC_OK;
    return ac_error(&a->cx, (ac_place){.file = "arenac"}, E0501,
                    "train cannot write '%s': it ends in none of .onnx, .ag, .npz", path);
}

int ac_trained_write(ac_training *t)
{
    const char *path = t->a->opt.trained;
    if (ends_with(path, ".npz"))
        return write_npz(t, path);
    return ends_with(path, ".onnx") && !strcmp(t->a->model->format, "ONNX") ? write_patched(t, path)
                                                                            : write_converted(t, path);
}
