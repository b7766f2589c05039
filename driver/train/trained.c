/* trained.c - the model with its new weights: the file that was read with other initialisers, the graph in another
 * format, or the weights alone. */
#include "driver/train/training.h"
#include "driver/verb/verbs.h"

#include "base/ascii.h"
#include "export/onnx_patch.h"
#include "host/npz.h"

#include <string.h>

static const void *value_of(ac_training *t, int32_t i)
{
    return ac_train_to_file(&t->w->cx, &t->step.weight.item[i], ac_session_at(&t->w->session, t->weight_io[i]));
}

/* The new values of all weights; *n: how many. */
static const ac_new_value *new_values(ac_training *t, int32_t *n)
{
    const ac_train_step *s = &t->step;
    ac_new_value *v = AC_NEW_N(t->w->cx.region, ac_new_value, s->weight.n + s->lora.n + 1);
    *n = 0;
    for (int32_t i = 0; i < s->weight.n; i++) {
        const ac_train_weight *w = &s->weight.item[i];
        if (!w->factor)
            v[(*n)++] = (ac_new_value){w->name, w->rank, w->dim, w->dtype, value_of(t, i)};
    }
    for (int32_t i = 0; i < s->lora.n; i++) {
        const ac_train_lora *l = &s->lora.item[i];
        const void *sum = ac_train_merged(&t->w->cx, s, i, value_of(t, l->factors), value_of(t, l->factors + 1));
        v[(*n)++] = (ac_new_value){l->name, l->rank, l->dim, AC_F32, sum};
    }
    return v;
}

/* ------------------------------------------------------------------ another ac_work */

ac_work *ac_trained_model(ac_training *t, ac_variant as)
{
    ac_work *one = ac_work_like(t->w, as);
    one->opt.bn = AC_OPT_BN_FROZEN;
    one->request.trains = true; /* nothing is computed of the old values */
    ac_new_values *v = AC_NEW(t->w->cx.region, ac_new_values);
    v->item = new_values(t, &v->n);
    v->spec = &t->spec;
    v->no_dropout = as == AC_AS_VALIDATED;
    one->request.extension.values = v;
    return one;
}

/* ------------------------------------------------------------------ files */

typedef struct conversion {
    const char *file[3];
    int32_t n;
} conversion;

static int convert_stage(ac_work *one, void *arg)
{
    const conversion *c = arg;
    return ac_convert(one, c->file, c->n);
}

/* By the verb convert. */
static int write_converted(ac_training *t, const char *path)
{
    ac_work *one = ac_trained_model(t, AC_AS_TRAINED);
    conversion c = {{t->path[0], t->n_paths > 1 ? t->path[1] : path, path}, t->n_paths + 1};
    const int status = ac_guard(one, convert_stage, &c);
    ac_work_diags(t->w, one);
    for (int32_t i = 0; i < one->out.list.n; i++)
        ac_push(t->w->cx.region, &t->w->out.list, one->out.list.item[i]);
    return status;
}

static int write_patched(ac_training *t, const char *path)
{
    ac_work *w = t->w;
    int32_t n;
    const ac_new_value *from = new_values(t, &n);
    ac_onnx_value *v = AC_NEW_N(w->cx.region, ac_onnx_value, n + 1);
    for (int32_t i = 0; i < n; i++)
        v[i] = (ac_onnx_value){from[i].name, from[i].data,
                               (size_t)ac_dtype_size(from[i].dtype, ac_dim_product(from[i].dim, 0, from[i].rank))};
    const ac_span file = {w->source.file.data, w->source.file.n};
    return ac_onnx_patch(&w->cx, w->source.path, file, v, n, ac_pending_add(&w->out, path));
}

/* With the factors of a lora. */
static int write_npz(ac_training *t, const char *path)
{
    ac_npz z;
    int32_t n;
    const ac_new_value *v = new_values(t, &n);
    ac_npz_begin(&z, ac_pending_add(&t->w->out, path));
    for (int32_t i = 0; i < n; i++)
        ac_npz_add(&z, v[i].name, v[i].dtype, v[i].rank, v[i].dim, v[i].data);
    for (int32_t i = 0; i < t->step.weight.n; i++) {
        const ac_train_weight *w = &t->step.weight.item[i];
        if (w->factor)
            ac_npz_add(&z, w->name, w->dtype, w->rank, w->dim, value_of(t, i));
    }
    ac_npz_end(&z);
    return AC_OK;
}

int ac_trained_check(ac_work *w)
{
    const char *path = w->opt.trained;
    if (ac_has_ending(path, ".npz") || ac_has_ending(path, ".onnx") || ac_has_ending(path, ".ag"))
        return AC_OK;
    return ac_error(&w->cx, (ac_place){.file = "arenac"}, E0501,
                    "train cannot write '%s': it ends in none of .onnx, .ag, .npz", path);
}

int ac_trained_write(ac_training *t)
{
    const char *path = t->w->opt.trained;
    if (ac_has_ending(path, ".npz"))
        return write_npz(t, path);
    return ac_has_ending(path, ".onnx") && !strcmp(t->w->made.model->format, "ONNX") ? write_patched(t, path)
                                                                                     : write_converted(t, path);
}
