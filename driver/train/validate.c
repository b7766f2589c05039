/* validate.c - --validate: loss and accuracy of the trained model on samples that it has not seen. The model runs as
 * for inference, with the running statistics. */
#include "driver/train/training.h"
#include "driver/verb/verbs.h"

#include <math.h>
#include <string.h>

typedef struct held_out {
    ac_training *t;
    ac_work *one; /* the model with its new weights */
    ac_npy x, y;
    const ac_io *out;
    double loss, terms;     /* a sum, and of how many */
    int64_t right, guesses; /* cross_entropy: positions where the largest output is the class */
} held_out;

static double target_at(const held_out *h, int64_t i)
{
    const uint8_t *p = h->y.data;
    const char *d = h->y.descr + 1;
    const ac_dtype type = !strcmp(d, "f4")   ? AC_F32
                          : !strcmp(d, "f8") ? AC_F64
                          : !strcmp(d, "i4") ? AC_I32
                          : !strcmp(d, "i8") ? AC_I64
                          : !strcmp(d, "u1") ? AC_U8
                                             : AC_I64;
    return ac_dtype_is_float(type) ? ac_dtype_get_num(type, p, i) : (double)ac_dtype_get_int(type, p, i);
}

static void classes(held_out *h, const float *x, int64_t n, int64_t at)
{
    static const double LEAST = 1e-38; /* of probabilities: a float may have become 0 */
    double top = (double)x[0], sum = 0;
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if ((double)x[i] > top) {
            top = (double)x[i];
            best = i;
        }
    for (int64_t i = 0; i < n; i++)
        sum += exp((double)x[i] - top);
    const int64_t id = (int64_t)target_at(h, at);
    h->right += best == id;
    h->guesses++;
    h->terms++;
    if (id >= 0 && id < n)
        h->loss += h->t->step.probabilities ? -log(fmax((double)x[id], LEAST)) : top + log(sum) - (double)x[id];
}

static void element(held_out *h, double x, double y)
{
    const double d = fabs(x - y);
    switch (h->t->spec.loss) {
    case AC_LOSS_MSE:
        h->loss += d * d;
        break;
    case AC_LOSS_L1:
        h->loss += d;
        break;
    case AC_LOSS_HUBER:
        h->loss += d < 1 ? d * d / 2 : d - 0.5;
        break;
    case AC_LOSS_BCE:
        h->loss += fmax(x, 0) - x * y + log1p(exp(-fabs(x)));
        break;
    case AC_LOSS_CROSS_ENTROPY:
    case AC_LOSS_NAMED:
        break;
    }
    h->terms++;
}

/* Adds the loss of sample `row`, which is number k of the batch. */
static void judge(held_out *h, int64_t row, int64_t k)
{
    const ac_tensor *o = h->out->tensor;
    const int64_t count = ac_tensor_count(o) / h->t->batch, last = o->dim[o->rank - 1];
    const float *x = (const float *)(const void *)ac_session_at(&h->one->session, h->out) + k * count;
    if (h->t->spec.loss == AC_LOSS_CROSS_ENTROPY)
        for (int64_t p = 0; p < count / last; p++)
            classes(h, x + p * last, last, row * (count / last) + p);
    else
        for (int64_t i = 0; i < count; i++)
            element(h, (double)x[i], target_at(h, row * count + i));
}

static int open_stage(ac_work *one, void *arg)
{
    const held_out *h = arg;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_open(one, h->t->path, h->t->n_paths));
    AC_TRY(ac_read_model(&one->made, &one->made.model));
    for (int32_t d = 0; d < h->x.rank && d < AC_MAX_RANK; d++)
        dim[d] = d ? h->x.dim[d] : h->t->batch;
    ac_shape_input(one->made.model->graph, h->t->samples[0].input, h->x.rank, dim);
    return ac_load(one);
}

static int open_model(held_out *h)
{
    ac_training *t = h->t;
    h->one = ac_trained_model(t, AC_AS_VALIDATED);
    h->one->request.purpose = AC_FOR_RUNNING;
    AC_TRY(ac_guard(h->one, open_stage, h));
    for (int32_t i = 0; i < h->one->made.module->n_outputs; i++)
        if (!strcmp(h->one->made.module->output[i].tensor->name, t->step.output_name))
            h->out = &h->one->made.module->output[i];
    return h->out ? AC_OK : AC_FAIL;
}

static int run(held_out *h)
{
    ac_training *t = h->t;
    const int64_t rows = h->x.dim[0], bytes = h->x.bytes / rows;
    for (int64_t row = 0; row < rows; row += t->batch) {
        uint8_t *to = ac_session_at(&h->one->session, &h->one->made.module->input[t->samples[0].input]);
        for (int64_t k = 0; k < t->batch; k++)
            memcpy(to + k * bytes, h->x.data + (row + k) % rows * bytes, (size_t)bytes);
        AC_TRY(ac_session_run(&h->one->session));
        for (int64_t k = 0; k < t->batch && row + k < rows; k++)
            judge(h, row + k, k);
    }
    ac_sink *out = ac_pending_add(&t->w->out, "-");
    ac_putf(out, "validation: samples=%lld loss=%.6g", (long long)rows, h->loss / h->terms);
    if (h->guesses)
        ac_putf(out, " accuracy=%.6g", (double)h->right / (double)h->guesses);
    ac_put(out, "\n");
    return AC_OK;
}

/* X.npy,Y.npy fit the samples of the training but for their number. */
static int open_arrays(held_out *h)
{
    ac_training *t = h->t;
    ac_ctx *cx = &t->w->cx;
    const char *given = t->w->opt.validate, *comma = strchr(given, ',');
    if (!comma || comma == given || !comma[1])
        return ac_error(cx, (ac_place){.file = "arenac"}, E0501,
                        "bad argument '%s' of --validate, expected X.npy,Y.npy", given);
    if (t->w->opt.data.n != 1 || t->spec.loss == AC_LOSS_NAMED)
        return ac_error(cx, (ac_place){.file = "arenac"}, E0502,
                        "--validate is for models of one input and a named loss");
    AC_TRY(ac_npy_read(cx, ac_strf(cx->region, "%.*s", (int)(comma - given), given), &h->x));
    AC_TRY(ac_npy_read(cx, comma + 1, &h->y));
    const ac_npy *like[] = {&t->samples[0].array, &t->samples[1].array}, *mine[] = {&h->x, &h->y};
    for (int k = 0; k < 2; k++) {
        bool same = like[k]->rank == mine[k]->rank && !strcmp(like[k]->descr, mine[k]->descr) && mine[k]->dim[0] > 0;
        for (int32_t d = 1; same && d < like[k]->rank; d++)
            same = like[k]->dim[d] == mine[k]->dim[d];
        if (!same || h->x.dim[0] != h->y.dim[0])
            return ac_error(cx, (ac_place){.file = mine[k]->path}, E0304,
                            "--validate: its samples are not like those of %s, or not as many as in the other file",
                            t->samples[k].option);
    }
    return ac_samples_check_classes(t, &h->y, "--validate");
}

static void close_arrays(held_out *h)
{
    ac_npy_close(&h->x);
    ac_npy_close(&h->y);
}

int ac_validation_check(ac_training *t)
{
    held_out h = {.t = t};
    const int status = t->w->opt.validate ? open_arrays(&h) : AC_OK;
    close_arrays(&h);
    return status;
}

int ac_training_validate(ac_training *t)
{
    held_out h = {.t = t};
    if (!t->w->opt.validate)
        return AC_OK;
    int status = open_arrays(&h);
    if (status == AC_OK)
        status = open_model(&h);
    if (status == AC_OK)
        status = run(&h);
    if (h.one)
        ac_work_diags(t->w, h.one);
    close_arrays(&h);
    return status;
}
