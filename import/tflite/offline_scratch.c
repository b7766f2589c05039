/* offline_scratch.c - the scratch memory that reference kernels of TFLite Micro request in the arena. A plan that
 * includes it leaves space for it; otherwise TFLM places it above everything alive. Other kernels (CMSIS-NN, Xtensa)
 * request more or less.
 *
 * Sizes follow from numbers of elements alone: shapes of a few operands follow from each other. */
#include "import/tflite/offline.h"

#include <string.h>

typedef struct ask {
    const ac_offline *m;
    ac_offline_op *op;
} ask;

static void add(const ask *a, int64_t elements, ac_bytes each)
{
    ac_bytes bytes;
    if (elements > 0 && a->op->n_scratch < AC_OFFLINE_SCRATCH && ac_mul_ok(elements, each, &bytes) &&
        bytes <= INT32_MAX)
        a->op->scratch[a->op->n_scratch++] = bytes;
}

static const ac_offline_tensor *operand(const ask *a, const int32_t *list, int32_t n, int32_t k)
{
    static const ac_offline_tensor NONE = {.dtype = AC_NONE};
    return k < n && list[k] >= 0 ? &a->m->tensor[list[k]] : &NONE;
}

static const ac_offline_tensor *in(const ask *a, int32_t k)
{
    return operand(a, a->op->in, a->op->n_in, k);
}
static const ac_offline_tensor *out(const ask *a, int32_t k)
{
    return operand(a, a->op->out, a->op->n_out, k);
}

/* Four bits of weights are unpacked before use. */
static void unpacked(const ask *a)
{
    if (in(a, 1)->dtype == AC_I4)
        add(a, in(a, 1)->elements, 1);
}

static void transposed(const ask *a)
{
    const ac_dtype t = in(a, 2)->dtype;
    add(a, t == AC_I8 || t == AC_I16 ? out(a, 0)->elements : 0, t == AC_I8 ? 4 : 8);
}

/* The position in the tensor, and the axes; also integer sums. */
static void reduced(const ask *a)
{
    const ac_dtype t = in(a, 0)->dtype;
    const bool sums = !strcmp(a->op->name, "MEAN") || !strcmp(a->op->name, "SUM");
    add(a, sums && (t == AC_I8 || t == AC_I16) ? out(a, 0)->elements : 0, 4);
    add(a, 4, 4);
    add(a, in(a, 1)->elements, 4);
}

/* input [batch, features], weights [filters, features] and [filters, memory], bias, state [batch, filters * memory] */
static void filtered(const ask *a)
{
    const int64_t input = in(a, 0)->elements, weights = in(a, 1)->elements, time = in(a, 2)->elements;
    const int64_t batch = time > 0 ? in(a, 4)->elements / time : 0, features = batch > 0 ? input / batch : 0;
    add(a, features > 0 ? batch * (weights / features) : 0, 4);
    add(a, in(a, 0)->dtype == AC_I8 ? out(a, 0)->elements : 0, 4);
}

static void recurrent(const ask *a)
{
    enum { CELL = 19, GATES = 4 };
    for (int k = 0; k < GATES; k++)
        add(a, in(a, CELL)->bytes, 1);
}

void ac_offline_scratch(ac_offline *m)
{
    static const struct {
        const char *name;
        void (*asks)(const ask *a);
    } KERNEL[] = {{"CONV_2D", unpacked},
                  {"DEPTHWISE_CONV_2D", unpacked},
                  {"FULLY_CONNECTED", unpacked},
                  {"MEAN", reduced},
                  {"REDUCE_MAX", reduced},
                  {"REDUCE_MIN", reduced},
                  {"SUM", reduced},
                  {"SVDF", filtered},
                  {"TRANSPOSE_CONV", transposed},
                  {"UNIDIRECTIONAL_SEQUENCE_LSTM", recurrent}};
    for (int32_t s = 0; s < m->n_ops; s++)
        for (size_t k = 0; k < sizeof KERNEL / sizeof *KERNEL; k++)
            if (!strcmp(m->op[s].name, KERNEL[k].name))
                KERNEL[k].asks(&(ask){m, &m->op[s]});
}
