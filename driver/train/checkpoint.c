/* checkpoint.c - all that a training needs to go on: weights, what the optimizer keeps, and the number of the next
 * step, as arrays of an .npz file. Weights have the file's names and shapes; NAME.WHAT of the optimizer is
 * optimizer/NAME.WHAT, laid out like its weight. */
#include "driver/train/training.h"

#include "host/npz.h"

#include <string.h>

static const char STEP[] = "training/step";

const char *ac_checkpoint_path(ac_training *t)
{
    const char *out = t->w->opt.trained, *base = ac_path_name(out), *dot = strrchr(base, '.');
    return ac_strf(t->w->cx.region, "%.*s.checkpoint.npz", (int)(dot && dot != base ? dot - out : (long)strlen(out)),
                   out);
}

static const char *slot_name(const ac_training *t, int32_t i)
{
    return ac_strf(t->w->cx.region, "optimizer/%s", t->step.slot.item[i].state->name);
}

int ac_checkpoint_write(ac_training *t, int64_t next)
{
    ac_ctx *cx = &t->w->cx;
    ac_sink to;
    ac_npz z;
    ac_sink_open(&to, cx);
    ac_npz_begin(&z, &to);
    for (int32_t i = 0; i < t->step.weight.n; i++) {
        const ac_train_weight *w = &t->step.weight.item[i];
        const void *data = ac_session_at(&t->w->session, t->weight_io[i]);
        ac_npz_add(&z, w->name, w->dtype, w->rank, w->dim, ac_train_to_file(cx, w, data));
    }
    for (int32_t i = 0; i < t->step.slot.n; i++) {
        const ac_train_slot *s = &t->step.slot.item[i];
        const ac_train_weight *w = s->weight >= 0 ? &t->step.weight.item[s->weight] : NULL;
        const void *data = ac_session_at(&t->w->session, t->slot_io[i]);
        ac_npz_add(&z, slot_name(t, i), AC_F32, w ? w->rank : 0, w ? w->dim : NULL,
                   w ? ac_train_to_file(cx, w, data) : data);
    }
    ac_npz_add(&z, STEP, AC_I64, 0, NULL, &next);
    ac_npz_end(&z);
    return ac_sink_commit(&to, ac_checkpoint_path(t));
}

/* ------------------------------------------------------------------ --resume */

static const ac_npy *find(const ac_npz_list *list, const char *name)
{
    for (int32_t i = 0; i < list->n; i++)
        if (!strcmp(list->item[i].name, name))
            return &list->item[i].array;
    return NULL;
}

/* The array `name` goes to io, laid out as w has it. */
static int take(ac_training *t, const ac_npz_list *list, const char *name, const ac_train_weight *w, const ac_io *io)
{
    ac_ctx *cx = &t->w->cx;
    const ac_npy *array = find(list, name);
    if (!array)
        return ac_error(cx, (ac_place){.file = t->w->opt.resume}, E0304, "it has no array '%s'", name);
    const ac_tensor like = {.name = name, .dtype = AC_F32, .rank = w ? w->rank : 0};
    ac_tensor shape = like;
    for (int32_t d = 0; w && d < w->rank; d++)
        shape.dim[d] = w->dim[d];
    AC_TRY(ac_npy_fits(cx, array, &shape, "--resume"));
    const void *data = ac_copy(cx->region, array->data, (size_t)array->bytes + 1);
    memcpy(ac_session_at(&t->w->session, io), w ? ac_train_to_step(cx, w, data) : data, (size_t)io->bytes);
    return AC_OK;
}

static int take_all(ac_training *t, const ac_npz_list *list)
{
    const ac_npy *step = find(list, STEP);
    for (int32_t i = 0; i < t->step.weight.n; i++)
        AC_TRY(take(t, list, t->step.weight.item[i].name, &t->step.weight.item[i], t->weight_io[i]));
    if (!step) /* weights alone: a new training begins with them */
        return AC_OK;
    for (int32_t i = 0; i < t->step.slot.n; i++) {
        const int32_t w = t->step.slot.item[i].weight;
        AC_TRY(take(t, list, slot_name(t, i), w >= 0 ? &t->step.weight.item[w] : NULL, t->slot_io[i]));
    }
    const ac_tensor number = {.name = STEP, .dtype = AC_I64};
    AC_TRY(ac_npy_fits(&t->w->cx, step, &number, "--resume"));
    memcpy(&t->first, step->data, sizeof t->first);
    if (t->first < 0 || t->first >= t->steps)
        return ac_error(&t->w->cx, (ac_place){.file = t->w->opt.resume}, E0304,
                        "it is from after step %lld, and the training has %lld: there is nothing left to do",
                        (long long)t->first, (long long)t->steps);
    return AC_OK;
}

int ac_checkpoint_read(ac_training *t)
{
    ac_file file = {0};
    ac_npz_list list = {0};
    if (!t->w->opt.resume)
        return AC_OK;
    int status = ac_npz_read(&t->w->cx, t->w->opt.resume, &file, &list);
    if (status == AC_OK)
        status = take_all(t, &list);
    ac_file_close(&file);
    return status;
}
