/* sum_cases.h - shared by tests of sums of products and of windows: random tensors in each number system, TFLite's
 * arithmetic from its documentation, and a lowered node run on plain, firmware and vector targets by the evaluator.
 *
 *     tensor x = make("x", AC_I8, 4, dim, -128, 127, false);
 *     set_quant(x.t, 1, 0, 0.02, 3);
 *     compare(node, (tensor[]){x}, 1, want, NULL);        equal; with slack, within 1e-4 of it
 *     return sum_cases(argc, argv, "conv", KINDS, one);   main(): rounds of one(0 .. KINDS - 1)
 *
 * Memory: the region of cx, a context for each case. Errors: MUST, which ends the test. */
#ifndef AC_TESTS_UNIT_SUPPORT_SUM_CASES_H
#define AC_TESTS_UNIT_SUPPORT_SUM_CASES_H
#include "ir/lower/lower.h"
#include "ir/loop/eval/eval.h"
#include "codegen/nests.h"
#include "ir/lower/node/node.h"
#include "tests/unit/support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ac_target targets[] = {
    {.name = "plain", .align = 16, .features = ""},
    {.name = "m3", .align = 16, .features = "", .firmware = true, .core = 13, .mul = AC_MUL_LONG},
    {.name = "rv32", .align = 16, .features = "", .firmware = true, .core = 26, .mul = AC_MUL_HIGH},
    {.name = "m0", .align = 16, .features = "", .firmware = true, .core = 8, .mul = AC_MUL_LOW},
    {.name = "m55", .align = 16, .features = "", .firmware = true, .mve = true, .mul = AC_MUL_LONG},
    {.name = "rvv", .align = 16, .features = "", .firmware = true, .rvv = true, .core = 26, .mul = AC_MUL_HIGH},
    {.name = "v2",
     .vec_bytes = 16,
     .registers = 16,
     .align = 16,
     .l1_bytes = 32768,
     .l2_bytes = 1 << 18,
     .features = ""},
    {.name = "v3",
     .vec_bytes = 32,
     .registers = 16,
     .fma = true,
     .align = 64,
     .l1_bytes = 32768,
     .l2_bytes = 1 << 20,
     .features = ""},
    {.name = "avx2", /* DOT2 of vectors is an instruction */
     .vec_bytes = 32,
     .registers = 16,
     .fma = true,
     .isa = AC_ISA_X86,
     .align = 64,
     .l1_bytes = 32768,
     .l2_bytes = 1 << 19,
     .features = ""},
    {.name = "v4",
     .vec_bytes = 64,
     .registers = 32,
     .fma = true,
     .dot_u8s8 = true,
     .align = 64,
     .l1_bytes = 32768,
     .l2_bytes = 2048,
     .features = ""},
    {.name = "a64",
     .vec_bytes = 16,
     .registers = 32,
     .fma = true,
     .dot_u8s8 = true,
     .dot_i8i8 = true,
     .align = 64,
     .l1_bytes = 65536,
     .l2_bytes = 1 << 20,
     .features = ""},
};

/* ---- random numbers ---- */

static uint64_t state = 0x9e3779b97f4a7c15u;
static inline uint32_t rnd(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}
static inline int64_t pick(int64_t lo, int64_t hi)
{
    return lo + (int64_t)(rnd() % (uint64_t)(hi - lo + 1));
}
static inline double real(double lo, double hi)
{
    return lo + (hi - lo) * (rnd() / 2147483648.0);
}

/* ---- TFLite's arithmetic, from its documentation ---- */

static inline void quantize_multiplier(double real_value, int32_t *m, int *shift)
{
    if (real_value == 0) {
        *m = 0, *shift = 0;
        return;
    }
    double q = frexp(real_value, shift);
    int64_t fixed = llround(q * 2147483648.0);
    if (fixed == 2147483648) {
        fixed /= 2;
        ++*shift;
    }
    *m = (int32_t)fixed;
}

static inline int32_t high_mul(int32_t a, int32_t b)
{
    int64_t ab = (int64_t)a * b, nudge = ab >= 0 ? 1 << 30 : 1 - (1 << 30);
    return (int32_t)((ab + nudge) / 2147483648);
}

static inline int32_t divide_pot(int32_t x, int e)
{
    int32_t mask = (int32_t)((1u << e) - 1), rest = x & mask, half = (mask >> 1) + (x < 0);
    return (x >> e) + (rest > half);
}

static inline int32_t requant(int64_t acc, double scale, bool wide)
{
    int32_t m;
    int shift;
    quantize_multiplier(scale, &m, &shift);
    if (wide) {
        int64_t reduced = m < 0x7FFF0000 ? (m + 0x8000) >> 16 : 0x7FFF;
        int total = 15 - shift;
        return (int32_t)((acc * reduced + ((int64_t)1 << (total - 1))) >> total);
    }
    int left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
    return divide_pot(high_mul((int32_t)acc * (1 << left), m), right);
}

/* ---- a case ---- */

typedef enum kind { F32, I8C, I8T, U8, I16L, I16S, HYBC, HYBT, SUMI, SUMU, KINDS } kind;
static const char *const kind_name[] = {"f32",          "i8/channel",  "i8/tensor",  "u8",     "i16 bias i64",
                                        "i16 bias i32", "dyn/channel", "dyn/tensor", "i8 sum", "u8 sum"};

typedef struct tensor {
    ac_tensor *t;
    double *v; /* stored values */
    int64_t n;
} tensor;

static ac_ctx cx;
static ac_graph *g;

static inline void put(ac_dtype d, void *data, int64_t i, double v)
{
    switch ((int)d) {
    case AC_F32:
        ((float *)data)[i] = (float)v;
        break;
    case AC_I8:
        ((int8_t *)data)[i] = (int8_t)v;
        break;
    case AC_U8:
        ((uint8_t *)data)[i] = (uint8_t)v;
        break;
    case AC_I16:
        ((int16_t *)data)[i] = (int16_t)v;
        break;
    case AC_I32:
        ((int32_t *)data)[i] = (int32_t)v;
        break;
    case AC_I64:
        ((int64_t *)data)[i] = (int64_t)v;
        break;
    default:
        MUST(false && "type");
    }
}

static inline void *dense_data(const tensor *x)
{
    char *p = ac_alloc_n(cx.region, (size_t)x->n + 1, (size_t)ac_dtype_bits(x->t->dtype) / 8);
    for (int64_t i = 0; i < x->n; i++)
        put(x->t->dtype, p, i, x->v[i]);
    return p;
}

/* A tensor of random values; `constant`: with its data in the graph. */
static inline tensor make(const char *name, ac_dtype d, int32_t rank, const int64_t *dim, double lo, double hi,
                          bool constant)
{
    tensor x = {.t = ac_tensor_new(g, name, d, rank, dim)};
    x.n = ac_tensor_count(x.t);
    x.v = AC_NEW_N(cx.region, double, x.n + 1);
    for (int64_t i = 0; i < x.n; i++)
        x.v[i] = d == AC_F32 ? (double)(float)real(lo, hi) : (double)pick((int64_t)lo, (int64_t)hi);
    if (constant)
        x.t->data = dense_data(&x);
    return x;
}

static inline void set_quant(ac_tensor *t, int32_t n, int32_t axis, double scale, int32_t zero)
{
    ac_quant *q = AC_NEW(cx.region, ac_quant);
    float *s = AC_NEW_N(cx.region, float, n);
    int32_t *z = AC_NEW_N(cx.region, int32_t, n);
    for (int32_t i = 0; i < n; i++) {
        s[i] = (float)(n > 1 ? scale * real(0.3, 1.7) : scale);
        z[i] = zero;
    }
    *q = (ac_quant){axis, n, s, z};
    t->quant = q;
}

/* Printers replace the loops around a TILE that are marked nest only if they find their form: others are just slow. */
static inline bool nests_are_found(const ac_loop_fn *fn)
{
    ac_nest n = {0};
    bool marked = false;
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_lop op = (ac_lop)fn->code.item[x].op;
        if (x > n.end)
            ac_nest_find(fn, x, &n);
        if (op == AC_L_FOR || op == AC_L_END)
            marked = ac_is_nest(fn, x);
        if (op == AC_L_TILE && marked && x > n.end)
            return false;
    }
    return true;
}

/* Runs the lowered node, whole or cut into 2 or 3 chunks that run last to first; out receives the result as doubles. */
static inline void run(const ac_node *n, const ac_target *t, const tensor *in, int32_t n_in, double *out)
{
    static int32_t turn;
    int32_t part = 0;
    ac_lowered *w = ac_lower_node(&cx, cx.region, n, t, 0, false);
    if (!w || ac_lower_chunks(&cx, cx.region, w, 1 + turn++ % 3, 0) != AC_OK) {
        ac_diags_print(&cx.diags, stderr, false);
        MUST(false && "lower");
    }
    MUST(nests_are_found(w->fn));
    void **data = AC_NEW_N(cx.region, void *, w->arg.n + 1), *result = NULL;
    for (int32_t i = 0; i < w->arg.n; i++) {
        const ac_arg *a = &w->arg.item[i];
        if (a->kind == AC_ARG_CONST) {
            union {
                const void *r;
                void *w;
            } p = {ac_const_data(&cx, a->konst)};
            MUST(p.r);
            data[i] = p.w;
        } else if (a->kind == AC_ARG_SCRATCH) {
            data[i] = ac_alloc(cx.region, (size_t)a->bytes + 64);
        } else if (a->kind == AC_ARG_CHUNK) {
            data[i] = &part;
        } else if (a->tensor == n->out[0]) {
            result = data[i] = ac_alloc(cx.region, (size_t)ac_tensor_bytes(a->tensor) + 64);
            memset(result, 0x55, (size_t)ac_tensor_bytes(a->tensor));
        } else {
            for (int32_t k = 0; k < n_in; k++)
                if (in[k].t == a->tensor)
                    data[i] = dense_data(&in[k]);
            MUST(data[i]);
        }
    }
    int status = 0;
    for (part = w->chunks ? w->chunks - 1 : 0; part >= 0; part--)
        if (ac_eval(&cx, w->fn, data, w->arg.n, &status) != AC_OK) {
            ac_diags_print(&cx.diags, stderr, false);
            MUST(false && "eval");
        }
    MUST(result && status == 0);
    for (int64_t i = 0; i < ac_tensor_count(n->out[0]); i++)
        out[i] = ac_dtype_get_num(n->out[0]->dtype, result, i);
}

static inline void compare(const ac_node *n, const tensor *in, int32_t n_in, const double *want, const double *slack)
{
    const int64_t count = ac_tensor_count(n->out[0]);
    double *got = AC_NEW_N(cx.region, double, count + 1);
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        run(n, &targets[t], in, n_in, got);
        for (int64_t i = 0; i < count; i++) {
            const double allowed = slack ? 1e-6 + 1e-4 * slack[i] : 0;
            if (!(fabs(got[i] - want[i]) <= allowed)) {
                fprintf(stderr, "%s: target %s: element %lld is %.9g, expected %.9g\n", now, targets[t].name,
                        (long long)i, got[i], want[i]);
                MUST(false && "equal");
            }
        }
    }
}

/* ---- activations, sizes, quantisation at run time ---- */

static inline double act_float(ac_act a, double v)
{
    if (a == AC_ACT_RELU || a == AC_ACT_RELU6)
        v = v > 0 ? v : 0;
    if (a == AC_ACT_RELU6)
        v = v < 6 ? v : 6;
    if (a == AC_ACT_RELU_N1_TO_1)
        v = v < -1 ? -1 : v > 1 ? 1 : v;
    return v;
}

static inline double act_stored(ac_act a, const ac_tensor *y, double v)
{
    double lo = (double)ac_dtype_min(y->dtype), hi = (double)ac_dtype_max(y->dtype), s = (double)y->quant->scale[0],
           z = y->quant->zero[0];
    if (a == AC_ACT_RELU || a == AC_ACT_RELU6)
        lo = fmax(lo, z);
    if (a == AC_ACT_RELU6)
        hi = fmin(hi, z + round(6 / s));
    if (a == AC_ACT_RELU_N1_TO_1)
        lo = fmax(lo, z + round(-1 / s)), hi = fmin(hi, z + round(1 / s));
    return v < lo ? lo : v > hi ? hi : v;
}

/* Symmetric or asymmetric run-time quantisation of n values. */
static inline void dynamic(const double *v, int64_t n, bool asym, double *q, float *scale, int32_t *zero)
{
    float lo = (float)v[0], hi = (float)v[0];
    for (int64_t i = 0; i < n; i++) {
        lo = (float)v[i] < lo ? (float)v[i] : lo;
        hi = (float)v[i] > hi ? (float)v[i] : hi;
    }
    *zero = 0;
    if (!asym) {
        float range = fmaxf(fabsf(lo), fabsf(hi)), inv = range > 0 ? 127 / range : 0;
        *scale = range > 0 ? range / 127 : 1;
        for (int64_t i = 0; i < n; i++)
            q[i] = fmax(-127, fmin(127, (double)roundf((float)v[i] * inv)));
        return;
    }
    double rmin = fmin(0, (double)lo), rmax = fmax(0, (double)hi), s = rmin == rmax ? 1 : (rmax - rmin) / 255;
    double from_min = -128 - rmin / s, from_max = 127 - rmax / s;
    double z = 128 + fabs(rmin / s) < 127 + fabs(rmax / s) ? from_min : from_max;
    *zero = rmin == rmax ? 0 : (int32_t)fmax(-128, fmin(127, round(z)));
    *scale = (float)s;
    float inv = 1.0f / *scale;
    for (int64_t i = 0; i < n; i++)
        q[i] = fmax(-128, fmin(127, (double)roundf((float)*zero + (float)v[i] * inv)));
}

static inline int64_t channels(void)
{
    static const int64_t usual[] = {1, 2, 3, 4, 5, 8, 12, 16, 17, 24, 32, 40, 48, 70};
    return usual[pick(0, (int64_t)(sizeof usual / sizeof *usual) - 1)];
}

static inline void extents(int64_t *in, int64_t *out, int64_t k, int64_t s, int64_t d, int64_t *pad, bool transposed)
{
    const int64_t reach = (k - 1) * d + 1;
    *pad = pick(0, 1) ? pick(0, reach - 1) : 0;
    const int64_t after = pick(0, 2) ? *pad : 0;
    if (transposed) {
        *in = pick(1, 7);
        *out = (*in - 1) * s + k - *pad - after + pick(0, s - 1);
        if (*out < 1)
            *out = 1;
        return;
    }
    *in = pick(1, 9);
    if (*in + *pad + after < reach)
        *in = reach;
    *out = (*in + *pad + after - reach) / s + 1;
}

/* ---- rounds ---- */

static inline void sum_case(uint64_t seed, int what, void (*one)(int what))
{
    ac_ctx_open(&cx);
    if (OUT_OF_MEMORY(cx)) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    ac_ctx_start(&cx);
    g = ac_graph_new(&cx, "t");
    state = seed * 0x9e3779b97f4a7c15u + (uint64_t)what;
    one(what);
    ac_ctx_close(&cx);
}

/* argv: how many rounds of all kinds, the seed of the first. */
static inline int sum_cases(int argc, char **argv, const char *name, int kinds, void (*one)(int what))
{
    const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 12,
                   first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (uint64_t r = first; r < first + rounds; r++)
        for (int what = 0; what < kinds; what++)
            sum_case(r, what, one);
    printf("%s: %d kinds, %llu rounds\n", name, kinds, (unsigned long long)rounds);
    return 0;
}

#endif
