/* gpu_model.c - the model of gpu_model.h: rows of devices, and what a thread and all threads execute. */
#include "driver/facts/gpu_model.h"

#include "ir/loop/access/traffic.h"

#include <math.h>

/* Of one device: multiprocessors, GHz, bytes a nanosecond of its memory, multiply-adds of tensor cores in a cycle of a
 * multiprocessor with operands of i8, f16 (and bf16), tf32. */
typedef struct device {
    int32_t capability, processors;
    double ghz, memory, i8, f16, tf32;
} device;

static const device DEVICES[] = {
    {75, 40, 1.59, 320, 1024, 512, 256},     /* T4 */
    {80, 108, 1.41, 1555, 2048, 1024, 512},  /* A100 */
    {86, 82, 1.70, 936, 1024, 256, 128},     /* RTX 3090 */
    {87, 16, 1.30, 205, 2048, 1024, 512},    /* Jetson AGX Orin */
    {89, 128, 2.52, 1008, 1024, 256, 128},   /* RTX 4090 */
    {90, 132, 1.755, 3350, 2520, 1260, 630}, /* H100, by mma.sync */
    {100, 148, 1.85, 8000, 2048, 1024, 512}, /* B200, by mma.sync */
    {120, 170, 2.41, 1792, 1024, 256, 128},  /* RTX 5090 */
};

enum { START = 2000, START_EARLY = 800, SCHEDULERS = 4, WARP = 32, LATENCY = 4, LOAD_LATENCY = 400, UNDER_WAY = 8 };
enum { BYTES_A_CYCLE = 64, MMA_ROWS = 16, MMA_COLUMNS = 8, MMA_BYTES = 32 };

typedef struct work {
    double all, one;   /* instructions of all threads, and of one of them */
    double loads;      /* of one thread, from global memory */
    double mma_cycles; /* of one multiprocessor */
} work;

/* Cycles of a multiprocessor for one thread's part of a product of its warp. */
static double mma_cycles(const device *d, ac_dtype type)
{
    const int32_t bytes = type == AC_I8 ? 1 : type == AC_F32 ? 4 : 2;
    const double rate = type == AC_I8 ? d->i8 : type == AC_F32 ? d->tf32 : d->f16;
    return (double)MMA_ROWS * MMA_COLUMNS * MMA_BYTES / bytes / rate / WARP;
}

static bool is_arithmetic(const ac_ins *i)
{
    return i->op == AC_L_DOT4 || i->op == AC_L_DOT2 ||
           (i->op >= AC_L_ADD && i->op <= AC_L_RINT && ac_dtype_is_float((ac_dtype)i->dtype)) || i->op == AC_L_FMA;
}

static ac_x count(const ac_loop_fn *fn, const device *d, ac_x at, double all, double one, work *w)
{
    while (at < fn->code.n) {
        const ac_ins *i = &fn->code.item[at];
        bool known;
        if (i->op == AC_L_END)
            return at + 1;
        if (i->op == AC_L_FOR) {
            const int64_t trips = ac_loop_trips(fn, at, &known);
            const double n = trips > 0 ? (double)trips : 0;
            at = count(fn, d, at + 1, all * n, i->aux >= AC_MARK_GRID ? one : one * n, w);
            continue;
        }
        if (i->op == AC_L_IF) {
            at = count(fn, d, at + 1, all, one, w);
            continue;
        }
        const bool access = i->op == AC_L_LOAD || i->op == AC_L_STORE;
        const ac_where where = access ? fn->buf.item[i->aux].where : AC_WHERE_STACK;
        if (is_arithmetic(i) || (access && where != AC_WHERE_THREAD)) {
            w->all += all;
            w->one += one;
        }
        if (i->op == AC_L_LOAD && fn->buf.item[i->aux].role != AC_BUF_LOCAL)
            w->loads += one;
        if (i->op == AC_L_MMA)
            w->mma_cycles += all * mma_cycles(d, (ac_dtype)i->dtype);
        at++;
    }
    return at;
}

int64_t ac_gpu_model_ns(const ac_target *t, const ac_cuda_kernel *k, const ac_banks *banks, int64_t moved,
                        int64_t traffic, bool early)
{
    const device *d = DEVICES;
    work w = {0};
    for (size_t i = 1; i < sizeof DEVICES / sizeof *DEVICES; i++)
        if (DEVICES[i].capability <= t->gpu)
            d = &DEVICES[i];
    count(k->fn, d, 1, 1, 1, &w);
    const double busy = k->blocks < d->processors ? (double)k->blocks : d->processors;
    const double warps = k->threads < WARP ? w.all : w.all / WARP;
    const double cycles[] = {(double)traffic / BYTES_A_CYCLE / busy, banks->passes / busy,
                             warps / SCHEDULERS / busy + w.mma_cycles / busy,
                             w.one * LATENCY + w.loads * LOAD_LATENCY / UNDER_WAY};
    double ns = (double)moved / d->memory;
    for (size_t i = 0; i < sizeof cycles / sizeof *cycles; i++)
        ns = fmax(ns, cycles[i] / d->ghz);
    return (int64_t)(ns + 0.5) + (early ? START_EARLY : START);
}
