/* test_map.c - element-wise operators through the evaluator against plain C: every operator on every type it takes,
 * several broadcasts, on a plain target and two vector targets; joined as an epilogue; and run in place if the lowering
 * lets the result overwrite an operand (results must be bit-identical). Integers must be equal, floats within 4e-6. */
#include "ir/lower/lower.h"
#include "ir/loop/eval/eval.h"
#include "ir/lower/node/node.h"
#include "ir/ops/shape/entries.h"
#include "tests/unit/support/in_context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char where[200]; /* the case that now points to */

static ac_ctx cx;
static ac_graph *g;
static const ac_target targets[] = {
    {.name = "plain", .align = 16, .features = ""},
    {.name = "m4", .align = 16, .features = "", .firmware = true, .mul = AC_MUL_LONG},
    {.name = "v3", .vec_bytes = 32, .registers = 16, .fma = true, .align = 64, .features = ""},
    {.name = "v4", .vec_bytes = 64, .registers = 32, .fma = true, .align = 64, .features = ""},
};
enum { TARGETS = sizeof targets / sizeof *targets };

static uint64_t state = 0x9e3779b97f4a7c15u;
static uint32_t rnd(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

/* ---- operators and expected results ---- */

typedef double reference(const double *v, const ac_node *n);

#define R(name, expr)                                     \
    static double name(const double *v, const ac_node *n) \
    {                                                     \
        (void)n, (void)v;                                 \
        return expr;                                      \
    }
/* Float comparisons without the operators that -Wfloat-equal style checks dislike. */
R(r_add, v[0] + v[1])
R(r_sub, v[0] - v[1])
R(r_mul, v[0] * v[1])
// clang-format off
R(r_div, v[0] / v[1])
R(r_floor_div, floor(v[0] / v[1]))
R(r_min, v[0] < v[1] ? v[0] : v[1])
R(r_max, v[0] > v[1] ? v[0] : v[1])
R(r_sqdiff, (v[0] - v[1]) * (v[0] - v[1]))
R(r_equal, !(v[0] < v[1] || v[0] > v[1]))
R(r_differ, v[0]<v[1] || v[0]> v[1])
R(r_less, v[0] < v[1])
R(r_less_equal, v[0] <= v[1])
R(r_greater, v[0] > v[1])
R(r_greater_equal, v[0] >= v[1])
R(r_and, v[0] > 0 && v[1] > 0)
R(r_or, v[0] > 0 || v[1] > 0)
R(r_not, !(v[0] > 0))
R(r_select, v[0] > 0 ? v[1] : v[2])
R(r_mul_add, fma(v[0], v[1], v[2]))
R(r_abs, fabs(v[0]))
R(r_neg, -v[0])
R(r_sign, v[0] > 0 ? 1 : v[0] < 0 ? -1 : 0)
R(r_ceil, ceil(v[0]))
R(r_floor, floor(v[0]))
R(r_round, rint(v[0]))
R(r_sqrt, sqrt(v[0]))
R(r_rsqrt, 1 / sqrt(v[0]))
R(r_square, v[0] * v[0])
R(r_exp, exp(v[0]))
R(r_log, log(v[0]))
R(r_sin, sin(v[0]))
R(r_cos, cos(v[0]))
R(r_tanh, tanh(v[0]))
R(r_logistic, 1 / (1 + exp(-v[0])))
R(r_relu, v[0] > 0 ? v[0] : 0)
R(r_relu6, v[0] > 6 ? 6 : v[0] > 0 ? v[0] : 0)
R(r_relu_n1, v[0] > 1 ? 1 : v[0] < -1 ? -1 : v[0])
R(r_relu_01, v[0] > 1 ? 1 : v[0] < 0 ? 0 : v[0])
R(r_leaky, v[0] > 0 ? v[0] : v[0] * (double)n->attrs.alpha.alpha)
R(r_prelu, v[0] >= 0 ? v[0] : v[0] * v[1])
R(r_elu, v[0] < 0 ? expm1(v[0]) : v[0])
R(r_gelu, v[0] / 2 * erfc(-v[0] * sqrt(0.5)))
R(r_erfc, erfc(v[0]))
R(r_expm1, expm1(v[0]))
R(r_log1p, log1p(v[0]))
R(r_softplus, v[0] > 0 ? v[0] + log1p(exp(-v[0])) : log1p(exp(v[0])))
R(r_mish, v[0] * tanh(log1p(exp(v[0]))))
R(r_swish, v[0] / (1 + exp(-v[0])))
R(r_sinh, sinh(v[0]))
R(r_cosh, cosh(v[0]))
R(r_tan, tan(v[0]))
R(r_asinh, asinh(v[0]))
R(r_atan, atan(v[0]))
R(r_hard_swish, v[0] * fmin(6, fmax(0, v[0] + 3)) / 6)
R(r_zero, 0)
R(r_same, v[0])
R(r_pow, pow(v[0], v[1]))
R(r_floor_mod, v[0] - floor(v[0] / v[1]) * v[1])
// clang-format on

typedef struct row {
    ac_op op;
    int32_t n_in;
    /* F f32, d f64, q quantised i8, u quantised u8, s quantised i16, b bool; c i8, i i32, l i64 plain */
    const char *types;
    reference *want; /* on real values; NULL: only agreement of all targets is checked */
    bool positive;   /* operands above 0 */
} row;

static const row rows[] = {
    {AC_OP_ADD, 2, "fdqusil", r_add, false},
    {AC_OP_SUB, 2, "fdqusil", r_sub, false},
    {AC_OP_MUL, 2, "fdqusil", r_mul, false},
    {AC_OP_DIV, 2, "fd", r_div, false},
    {AC_OP_DIV, 2, "qusil", NULL, false},
    {AC_OP_FLOOR_DIV, 2, "fdil", r_floor_div, true},
    {AC_OP_FLOOR_MOD, 2, "il", r_floor_mod, true},
    {AC_OP_FLOOR_MOD, 2, "f", NULL, false},
    {AC_OP_MINIMUM, 2, "fdqusilc", r_min, false},
    {AC_OP_MAXIMUM, 2, "fdqusilc", r_max, false},
    {AC_OP_POW, 2, "fd", r_pow, true},
    {AC_OP_POW, 2, "i", NULL, false},
    {AC_OP_SQUARED_DIFFERENCE, 2, "fdqi", r_sqdiff, false},
    {AC_OP_SQUARED_DIFFERENCE, 2, "s", NULL, false},
    {AC_OP_EQUAL, 2, "fdbilc", r_equal, false},
    {AC_OP_EQUAL, 2, "qu", NULL, false},
    {AC_OP_NOT_EQUAL, 2, "fdbilc", r_differ, false},
    {AC_OP_LESS, 2, "fdilc", r_less, false},
    {AC_OP_LESS_EQUAL, 2, "fdilc", r_less_equal, false},
    {AC_OP_GREATER, 2, "fdilc", r_greater, false},
    {AC_OP_GREATER, 2, "qu", NULL, false},
    {AC_OP_GREATER_EQUAL, 2, "fdilc", r_greater_equal, false},
    {AC_OP_LOGICAL_AND, 2, "b", r_and, false},
    {AC_OP_LOGICAL_OR, 2, "b", r_or, false},
    {AC_OP_LOGICAL_NOT, 1, "b", r_not, false},
    {AC_OP_SELECT, 3, "fdqusilc", r_select, false},
    {AC_OP_MUL_ADD, 3, "f", r_mul_add, false},
    {AC_OP_ABS, 1, "fdqsil", r_abs, false},
    {AC_OP_NEG, 1, "fdqil", r_neg, false},
    {AC_OP_SIGN, 1, "fdil", r_sign, false},
    {AC_OP_CEIL, 1, "fd", r_ceil, false},
    {AC_OP_FLOOR, 1, "fd", r_floor, false},
    {AC_OP_ROUND, 1, "fd", r_round, false},
    {AC_OP_SQRT, 1, "fd", r_sqrt, true},
    {AC_OP_RSQRT, 1, "fd", r_rsqrt, true},
    {AC_OP_RSQRT, 1, "q", NULL, true},
    {AC_OP_SQUARE, 1, "fdi", r_square, false},
    {AC_OP_EXP, 1, "fdq", r_exp, false},
    {AC_OP_EXP, 1, "s", NULL, false},
    {AC_OP_LOG, 1, "fdq", r_log, true},
    {AC_OP_LOG, 1, "s", NULL, true},
    {AC_OP_SIN, 1, "fd", r_sin, false},
    {AC_OP_COS, 1, "fd", r_cos, false},
    {AC_OP_TANH, 1, "fdqu", r_tanh, false},
    {AC_OP_LOGISTIC, 1, "fdqu", r_logistic, false},
    {AC_OP_TANH, 1, "s", NULL, false},
    {AC_OP_LOGISTIC, 1, "s", NULL, false},
    {AC_OP_RELU, 1, "fdqus", r_relu, false},
    {AC_OP_RELU6, 1, "fdqus", r_relu6, false},
    {AC_OP_RELU_N1_TO_1, 1, "fdqus", r_relu_n1, false},
    {AC_OP_RELU_0_TO_1, 1, "fdqus", r_relu_01, false},
    {AC_OP_LEAKY_RELU, 1, "fdqus", r_leaky, false},
    {AC_OP_PRELU, 2, "fdqu", r_prelu, false},
    {AC_OP_ELU, 1, "fdq", r_elu, false},
    {AC_OP_GELU, 1, "fdq", r_gelu, false},
    {AC_OP_ERFC, 1, "fd", r_erfc, false},
    {AC_OP_EXPM1, 1, "fd", r_expm1, false},
    {AC_OP_LOG1P, 1, "fd", r_log1p, true},
    {AC_OP_SOFTPLUS, 1, "fd", r_softplus, false},
    {AC_OP_MISH, 1, "fd", r_mish, false},
    {AC_OP_SWISH, 1, "fd", r_swish, false},
    {AC_OP_SINH, 1, "fd", r_sinh, false},
    {AC_OP_COSH, 1, "fd", r_cosh, false},
    {AC_OP_TAN, 1, "fd", r_tan, false},
    {AC_OP_ASIN, 1, "fd", NULL, false},
    {AC_OP_ACOS, 1, "fd", NULL, false},
    {AC_OP_ATAN, 1, "fd", r_atan, false},
    {AC_OP_ASINH, 1, "fd", r_asinh, false},
    {AC_OP_ACOSH, 1, "fd", NULL, true},
    {AC_OP_ATANH, 1, "fd", NULL, false},
    {AC_OP_HARD_SWISH, 1, "fdqu", r_hard_swish, false},
    {AC_OP_ZEROS_LIKE, 1, "fdilcb", r_zero, false},
};

/* ---- tensors ---- */

typedef struct shape {
    int32_t rank;
    int64_t dim[4];
} shape;
static const shape shapes[][3] = {
    {{3, {2, 3, 35}}, {3, {2, 3, 35}}, {3, {2, 3, 35}}},
    {{3, {2, 3, 17}}, {1, {17}}, {3, {2, 1, 17}}},
    {{3, {4, 1, 6}}, {3, {1, 5, 1}}, {3, {4, 5, 6}}},
    {{1, {40}}, {1, {1}}, {1, {40}}},
    {{4, {1, 3, 2, 9}}, {0, {0}}, {2, {2, 9}}},
    {{0, {0}}, {0, {0}}, {0, {0}}},
    {{2, {3, 0}}, {2, {3, 0}}, {2, {3, 0}}},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static ac_dtype type_of(char t)
{
    switch (t) {
    case 'f':
        return AC_F32;
    case 'd':
        return AC_F64;
    case 'q':
    case 'c':
        return AC_I8;
    case 'u':
        return AC_U8;
    case 's':
        return AC_I16;
    case 'i':
        return AC_I32;
    case 'l':
        return AC_I64;
    default:
        return AC_BOOL;
    }
}

static ac_tensor *make(const char *name, char t, const shape *s, bool positive, int which)
{
    ac_tensor *x = ac_tensor_new(g, name, type_of(t), s->rank, s->dim);
    if (!strchr("qus", t))
        return x;
    ac_quant *q = AC_NEW(cx.region, ac_quant);
    float *scale = AC_NEW(cx.region, float);
    int32_t *zero = AC_NEW(cx.region, int32_t);
    *scale = (t == 's' ? 0.0003f : 0.04f) * (1 + 0.17f * (float)which);
    *zero = t == 's' ? 0 : t == 'u' ? 128 + which * 7 : which * 5 - 3;
    if (positive)
        *zero = t == 's' ? 0 : (int32_t)ac_dtype_min(type_of(t));
    *q = (ac_quant){0, 1, scale, zero};
    x->quant = q;
    return x;
}

static void *fill(const ac_tensor *t, bool positive)
{
    const int64_t n = ac_tensor_count(t);
    char *p = ac_alloc_n(cx.region, (size_t)n + 1, (size_t)ac_dtype_bits(t->dtype) / 8);
    for (int64_t i = 0; i < n; i++) {
        double v = (double)(rnd() % 20000) / 1000.0 - 10;
        if (positive)
            v = fabs(v) + 0.01;
        if (t->dtype == AC_F32)
            ((float *)(void *)p)[i] = i % 13 == 5 && !positive ? 0.5f : (float)v;
        else if (t->dtype == AC_F64)
            ((double *)(void *)p)[i] = v;
        else if (t->dtype == AC_BOOL)
            p[i] = (char)(rnd() & 1);
        else if (t->dtype == AC_I32)
            ((int32_t *)(void *)p)[i] = (int32_t)(v * (positive ? 100 : 3)) + positive;
        else if (t->dtype == AC_I64)
            ((int64_t *)(void *)p)[i] = (int64_t)(v * (positive ? 100 : 3)) + positive;
        else if (t->dtype == AC_I16)
            ((int16_t *)(void *)p)[i] = (int16_t)(positive ? (rnd() & 32767) | 1 : rnd() & 65535);
        else
            p[i] = (char)(positive && i % 7 ? (rnd() % 120 + 1) : rnd());
    }
    return p;
}

static double real_of(const ac_tensor *t, const void *data, int64_t i)
{
    const double v = ac_dtype_get_num(t->dtype, data, i);
    return t->quant ? (double)ac_quant_scale(t) * (v - ac_quant_zero(t)) : v;
}

/* Flat index of t's element under element `flat` of out. */
static int64_t under(const ac_tensor *t, const ac_tensor *out, int64_t flat)
{
    int64_t at = 0, step = 1;
    for (int32_t d = out->rank - 1; d >= 0; d--) {
        const int32_t k = d - (out->rank - t->rank);
        const int64_t i = flat % out->dim[d];
        flat /= out->dim[d];
        if (k < 0)
            continue;
        if (t->dim[k] != 1)
            at += i * step;
        step *= t->dim[k];
    }
    return at;
}

/* ---- running ---- */

typedef struct binding {
    ac_tensor *t;
    void *data;
} binding;

static void run(const ac_lowered *w, const binding *with, int n, ac_tensor *out, void *result)
{
    void *data[16];
    MUST(w->arg.n <= 16);
    for (int32_t i = 0; i < w->arg.n; i++) {
        const ac_arg *a = &w->arg.item[i];
        data[i] = NULL;
        if (a->kind == AC_ARG_CONST) {
            union {
                const void *read;
                void *any;
            } p = {ac_const_data(&cx, a->konst)};
            data[i] = p.any;
        } else if (a->kind == AC_ARG_SCRATCH) {
            data[i] = ac_alloc(cx.region, (size_t)a->bytes + 1);
        } else if (a->tensor == out) {
            data[i] = result;
        }
        for (int k = 0; k < n; k++)
            if (a->kind == AC_ARG_TENSOR && a->tensor == with[k].t)
                data[i] = with[k].data;
        MUST(data[i]);
    }
    int status = 0;
    MUST(ac_eval(&cx, w->fn, data, w->arg.n, &status) == AC_OK && status == 0);
}

/* Runs again with the result over each operand that allows it. */
static void check_in_place(const ac_lowered *w, const binding *with, int n, ac_tensor *out, const void *want)
{
    const size_t bytes = (size_t)ac_tensor_bytes(out);
    for (int32_t k = 0; k < w->n_overwrite; k++) {
        binding b[4];
        void *over = NULL;
        for (int i = 0; i < n; i++) {
            b[i] = with[i];
            if (with[i].t == w->overwrite[k])
                b[i].data = over = ac_copy(cx.region, with[i].data, bytes + 1);
        }
        MUST(over);
        run(w, b, n, out, over);
        MUST(!memcmp(over, want, bytes));
    }
}

static bool close_to(double got, double want, double slack)
{
    if (isnan(want) || isinf(want))
        return true; /* limits of the functions are test_mathfn's */
    return fabs(got - want) <= slack + 4e-6 * fabs(want);
}

static void check_values(const row *r, const ac_node *n, const binding *with, const void *result)
{
    const ac_tensor *out = n->out[0];
    for (int64_t i = 0; i < ac_tensor_count(out); i++) {
        double v[3] = {0};
        for (int32_t k = 0; k < n->n_in; k++)
            v[k] = real_of(n->in[k], with[k].data, under(n->in[k], out, i));
        double want = r->want(v, n), slack = 4e-6;
        if (out->quant) { /* at most one step off, and clamped */
            const double scale = (double)ac_quant_scale(out);
            const double lo = scale * (double)(ac_dtype_min(out->dtype) - ac_quant_zero(out));
            const double hi = scale * (double)(ac_dtype_max(out->dtype) - ac_quant_zero(out));
            want = want < lo ? lo : want > hi ? hi : want;
            slack = out->dtype == AC_I16 ? 6 * scale : 1.01 * scale;
            if (n->op == AC_OP_MINIMUM || n->op == AC_OP_MAXIMUM || n->op == AC_OP_SELECT)
                slack = 1e-5; /* not rescaled */
        }
        const double got = real_of(out, result, i);
        if (!close_to(got, want, slack))
            fprintf(stderr, "%s: element %lld is %.9g, expected %.9g (from %g, %g)\n", now, (long long)i, got, want,
                    v[0], v[1]);
        MUST(close_to(got, want, slack));
    }
}

static void one_case(const row *r, char t, const shape *s)
{
    static ac_shape_fn *const RULE[AC_OP_COUNT] = {
#define OP(id, text, tfl, imin, imax, outs, attrs, shape, ...) [AC_OP_##id] = shape,
#include "ir/ops/ops.def"
#undef OP
    };
    const char to = RULE[r->op] == ac_sh_compare || RULE[r->op] == ac_sh_logical ? 'b' : t;
    ac_tensor *in[3], *out = make("out", to, &s[0], r->positive && r->op != AC_OP_LOG, 3);
    const bool select = r->op == AC_OP_SELECT;
    const bool same_scale = select || r->op == AC_OP_MINIMUM || r->op == AC_OP_MAXIMUM;
    binding b[3];
    for (int32_t i = 0; i < r->n_in; i++) {
        in[i] = make("x", select && i == 0 ? 'b' : t, &s[i], r->positive, same_scale ? 3 : i);
        b[i] = (binding){in[i], fill(in[i], r->positive)};
    }
    ac_node *n = ac_node_new(g, r->op, ac_ops[r->op].text, in, r->n_in, &out, 1);
    if (r->op == AC_OP_LEAKY_RELU)
        n->attrs.alpha.alpha = 0.3f;
    const ac_quant *q = out->quant;
    const int known = ac_op_shape(&cx, g, n);
    if (known != AC_OK)
        ac_diags_print(&cx.diags, stderr, false);
    MUST(known == AC_OK);
    out->quant = q;
    void *first = NULL;
    for (int k = 0; k < TARGETS; k++) {
        snprintf(where, sizeof where, "%s %c %s on %s", ac_ops[r->op].text, t, ac_shape_str(&cx, out), targets[k].name);
        const ac_lowered *w = ac_lower_node(&cx, cx.region, n, &targets[k], 0, false);
        if (!w)
            ac_diags_print(&cx.diags, stderr, false);
        MUST(w);
        void *result = ac_alloc(cx.region, (size_t)ac_tensor_bytes(out) + 1);
        run(w, b, r->n_in, out, result);
        check_in_place(w, b, r->n_in, out, result);
        if (!k)
            first = result;
        if (!ac_dtype_is_float(out->dtype))
            MUST(!memcmp(first, result, (size_t)ac_tensor_bytes(out)));
        if (r->want)
            check_values(r, n, b, result);
    }
}

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (const char *t = rows[i].types; *t; t++)
            for (int s = 0; s < SHAPES; s++)
                one_case(&rows[i], *t, shapes[s]);
}

/* ---- quantize, dequantize, cast ---- */

static void test_convert(void)
{
    static const char *const pairs = "fqqffuusqsussqfssfiqqi"; /* from, to, from, to, ... */
    const shape s = {3, {2, 5, 7}};
    for (const char *p = pairs; *p; p += 2) {
        ac_tensor *in = make("x", p[0], &s, false, 0), *out = make("out", p[1], &s, false, 1);
        if (p[0] == 'i' || p[1] == 'i') {
            (p[0] == 'i' ? in : out)->quant = make("q", 's', &s, false, 2)->quant;
        }
        const row r = {.op = out->quant ? AC_OP_QUANTIZE : AC_OP_DEQUANTIZE,
                       .n_in = 1,
                       .types = "",
                       .want = r_same,
                       .positive = false};
        binding b = {in, fill(in, false)};
        ac_node *n = ac_node_new(g, r.op, ac_ops[r.op].text, &in, 1, &out, 1);
        for (int k = 0; k < TARGETS; k++) {
            snprintf(where, sizeof where, "%s %.2s on %s", ac_ops[r.op].text, p, targets[k].name);
            const ac_lowered *w = ac_lower_node(&cx, cx.region, n, &targets[k], 0, false);
            MUST(w);
            void *result = ac_alloc(cx.region, (size_t)ac_tensor_bytes(out) + 1);
            run(w, &b, 1, out, result);
            check_in_place(w, &b, 1, out, result);
            check_values(&r, n, &b, result);
        }
    }
    static const char *const casts = "fiiffqqficcilffddfbffbiddi";
    for (const char *p = casts; *p; p += 2) {
        ac_tensor *in = make("x", p[0] == 'q' ? 'c' : p[0], &s, false, 0),
                  *out = make("out", p[1] == 'q' ? 'c' : p[1], &s, false, 1);
        void *data = fill(in, false);
        binding b = {in, data};
        ac_node *n = ac_node_new(g, AC_OP_CAST, "cast", &in, 1, &out, 1);
        n->attrs.cast.to = out->dtype;
        for (int k = 0; k < TARGETS; k++) {
            snprintf(where, sizeof where, "cast %.2s on %s", p, targets[k].name);
            const ac_lowered *w = ac_lower_node(&cx, cx.region, n, &targets[k], 0, false);
            MUST(w);
            void *result = ac_alloc(cx.region, (size_t)ac_tensor_bytes(out) + 1);
            run(w, &b, 1, out, result);
            check_in_place(w, &b, 1, out, result);
            for (int64_t i = 0; i < ac_tensor_count(out); i++) {
                double want = ac_dtype_get_num(in->dtype, data, i);
                if (out->dtype == AC_BOOL)
                    want = want < 0 || want > 0;
                else if (!ac_dtype_is_float(out->dtype))
                    want = trunc(want);
                MUST(close_to(ac_dtype_get_num(out->dtype, result, i), want, 0));
            }
        }
    }
}

/* A scale for each channel, also as a follower of another operator. */
static void test_per_axis(void)
{
    const shape s = {2, {6, 19}};
    static const float scale[6] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f};
    static const int32_t zero[6] = {0, 1, -2, 3, -4, 5};
    const ac_quant q = {.axis = 0, .n = 6, .scale = scale, .zero = zero};
    ac_tensor *x = make("x", 'c', &s, false, 0), *y = make("y", 'f', &s, false, 0);
    x->quant = &q;
    ac_node *n = ac_node_new(g, AC_OP_DEQUANTIZE, "dequantize", &x, 1, &y, 1);
    binding b = {x, fill(x, false)};
    for (int k = 0; k < TARGETS; k++) {
        snprintf(where, sizeof where, "dequantize per axis on %s", targets[k].name);
        float result[6 * 19];
        run(ac_lower_node(&cx, cx.region, n, &targets[k], 0, false), &b, 1, y, result);
        for (int i = 0; i < 6 * 19; i++)
            MUST(fabsf(result[i] - scale[i / 19] * (float)(((int8_t *)b.data)[i] - zero[i / 19])) < 1e-6f);
    }
}

/* mul -> add (broadcast) -> relu -> sub (running value on the right), joined and one by one: equal bits. */
static void test_epilogue(void)
{
    const shape s = {3, {2, 4, 21}}, c = {1, {21}};
    for (const char *t = "fqi"; *t; t++) {
        ac_tensor *x = make("x", *t, &s, false, 0), *y = make("y", *t, &s, false, 1), *z = make("z", *t, &c, false, 2);
        ac_tensor *v[4];
        for (int i = 0; i < 4; i++)
            v[i] = make("v", *t, &s, false, 3);
        const bool relu = *t != 'i';
        ac_node *n[4] = {
            ac_node_new(g, AC_OP_MUL, "mul", (ac_tensor *[]){x, y}, 2, &v[0], 1),
            ac_node_new(g, AC_OP_ADD, "add", (ac_tensor *[]){v[0], z}, 2, &v[1], 1),
            ac_node_new(g, relu ? AC_OP_RELU : AC_OP_ABS, "relu", &v[1], 1, &v[2], 1),
            ac_node_new(g, AC_OP_SUB, "sub", (ac_tensor *[]){x, v[2]}, 2, &v[3], 1),
        };
        ac_node joined = *n[0];
        joined.fused = n + 1;
        joined.n_fused = 3;
        for (int k = 0; k < TARGETS; k++) {
            binding b[7] = {{x, fill(x, false)}, {y, fill(y, false)}, {z, fill(z, false)}};
            snprintf(where, sizeof where, "epilogue %c on %s", *t, targets[k].name);
            for (int i = 0; i < 4; i++) {
                b[3 + i] = (binding){v[i], ac_alloc(cx.region, (size_t)ac_tensor_bytes(v[i]) + 1)};
                run(ac_lower_node(&cx, cx.region, n[i], &targets[k], 0, false), b, 3 + i, v[i], b[3 + i].data);
            }
            const ac_lowered *w = ac_lower_node(&cx, cx.region, &joined, &targets[k], 0, false);
            MUST(w);
            void *result = ac_alloc(cx.region, (size_t)ac_tensor_bytes(v[3]) + 1);
            run(w, b, 3, v[3], result);
            MUST(!memcmp(result, b[6].data, (size_t)ac_tensor_bytes(v[3])));
            MUST(w->n_overwrite == 2); /* x and y; z is smaller */
            check_in_place(w, b, 3, v[3], result);
        }
    }
}

static void tests(ac_ctx *own)
{
    (void)own; /* it is cx */
    g = ac_graph_new(&cx, "test");
    test_rows();
    test_convert();
    test_per_axis();
    test_epilogue();
}

int main(void)
{
    now = where;
    return in_context(&cx, tests);
}
