/* trained.c - the model with its new weights: the file that was read with other initialisers, or the weights alone. */
#include "driver/train/training.h"

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

static int write_onnx(ac_training *t, const char *path)
{
    arenac *a = t->a;
    const int32_t n = t->step.weight.n;
    ac_onnx_value *v = AC_NEW_N(a->cx.region, ac_onnx_value, n + 1);
    if (strcmp(a->model->format, "ONNX") != 0)
        return ac_error(&a->cx, (ac_place){.file = path}, E0502,
                        "an .onnx file is written of an .onnx file, this is %s", a->model->format);
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

int ac_trained_write(ac_training *t)
{
    const char *path = t->a->opt.trained;
    if (ends_with(path, ".npz"))
        return write_npz(t, path);
    if (ends_with(path, ".onnx"))
        return write_onnx(t, path);
    return ac_error(&t->a->cx, (ac_place){.file = "arenac"}, E0501,
                    "train cannot write '%s': it ends in none of .onnx, .npz", path);
}
