/* js_fn.c - a loop function as a JavaScript function. Each value becomes a separate constant; the engine optimises
 * expressions. One lane only: ac_loop_scalar has split the vectors.
 *
 *     function relu_0(x, y) {
 *         for (let i = 0; i < 49; i += 1) {
 *             const v5 = x[i];
 *             ...
 *
 * How values print. i8 to i32, u8 to u32 and bool are numbers, kept in the range of their type after every
 * operation; i64 and u64 are BigInts; f32 is a number rounded by Math.fround, f64 a number; f16 and bf16 are their
 * 16 bits, as in memory. */
#include "js.h"

#include "ir/loop/builder.h"

#include <math.h>
#include <stdarg.h>

typedef struct js_fn {
    ac_ctx *cx;
    ac_region *r;
    const ac_loop_fn *fn;
    ac_sink *to;
    const char **val; /* the name or number of each value */
    int32_t depth;
} js_fn;

static void line(js_fn *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void line(js_fn *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    for (int32_t i = 0; i < f->depth; i++)
        ac_put(f->to, "    ");
    ac_put(f->to, ac_vstrf(f->r, fmt, ap));
    ac_putc(f->to, '\n');
    va_end(ap);
}

static bool is_big(ac_dtype d)
{
    return ac_dtype_is_int(d) && ac_dtype_bits(d) == 64;
}
static bool is_half(ac_dtype d)
{
    return d == AC_F16 || d == AC_BF16;
}

const char *js_array(ac_dtype d)
{
    static const char *const NAMES[AC_DTYPE_COUNT] = {
        [AC_F32] = "Float32Array", [AC_F64] = "Float64Array", [AC_F16] = "Uint16Array", [AC_BF16] = "Uint16Array",
        [AC_I8] = "Int8Array",     [AC_I16] = "Int16Array",   [AC_I32] = "Int32Array",  [AC_I64] = "BigInt64Array",
        [AC_U8] = "Uint8Array",    [AC_U16] = "Uint16Array",  [AC_U32] = "Uint32Array", [AC_U64] = "BigUint64Array",
        [AC_BOOL] = "Uint8Array"};
    return NAMES[d];
}

/* The expression brought back into the range of its type. */
static const char *kept(js_fn *f, ac_dtype d, const char *e)
{
    int bits = ac_dtype_bits(d);
    if (d == AC_F32)
        return ac_strf(f->r, "Math.fround(%s)", e);
    if (ac_dtype_is_float(d) || d == AC_BOOL)
        return e;
    if (is_big(d))
        return ac_strf(f->r, "BigInt.as%sN(64, %s)", ac_dtype_is_signed(d) ? "Int" : "Uint", e);
    if (bits == 32)
        return ac_strf(f->r, ac_dtype_is_signed(d) ? "(%s) | 0" : "(%s) >>> 0", e);
    return ac_strf(f->r, ac_dtype_is_signed(d) ? "(%s) << %d >> %d" : "(%s) << %d >>> %d", e, 32 - bits, 32 - bits);
}

static const char *real(js_fn *f, double v)
{
    if (isfinite(v))
        return ac_strf(f->r, signbit(v) ? "(%.17g)" : "%.17g", v);
    return isnan(v) ? "NaN" : v > 0 ? "Infinity" : "(-Infinity)";
}

static const char *constant(js_fn *f, ac_dtype d, int64_t k, double v)
{
    if (is_half(d))
        return ac_strf(f->r, "%d", d == AC_F16 ? ac_f32_to_f16((float)v) : ac_f32_to_bf16((float)v));
    if (ac_dtype_is_float(d))
        return real(f, d == AC_F32 ? (double)(float)v : v);
    if (d == AC_U64)
        return ac_strf(f->r, "%llun", (unsigned long long)k);
    return ac_strf(f->r, is_big(d) ? "(%lldn)" : k < 0 ? "(%lld)" : "%lld", (long long)k);
}

/* From a number or a BigInt of type `from` to type `to`: the low bits, or the nearest. */
static const char *cast(js_fn *f, const char *e, ac_dtype from, ac_dtype to)
{
    if (from == to)
        return e;
    if (is_half(from))
        return cast(f, ac_strf(f->r, "half.from_%s(%s)", ac_dtype_name(from), e), AC_F32, to);
    if (is_half(to))
        return ac_strf(f->r, "half.to_%s(%s)", ac_dtype_name(to), cast(f, e, from, AC_F32));
    if (to == AC_BOOL)
        return ac_strf(f->r, is_big(from) ? "%s !== 0n ? 1 : 0" : "%s !== 0 ? 1 : 0", e);
    if (is_big(to)) {
        if (ac_dtype_is_float(from))
            e = ac_strf(f->r, "Math.trunc(%s)", e);
        return kept(f, to, is_big(from) ? e : ac_strf(f->r, "BigInt(%s)", e));
    }
    if (is_big(from)) { /* to f32, rounded once: values below 2^53 are exact, above it the lost bits become a sticky
                         * bit */
        if (to == AC_F32)
            return ac_strf(f->r, "half.big_to_f32(%s)", e);
        return ac_dtype_is_float(to) ? ac_strf(f->r, "Number(%s)", e)
                                     : kept(f, to, ac_strf(f->r, "Number(BigInt.asIntN(32, %s))", e));
    }
    return ac_dtype_is_int(to) && ac_dtype_is_float(from) ? kept(f, to, ac_strf(f->r, "Math.trunc(%s)", e))
                                                          : kept(f, to, e);
}

static const char *saturate(js_fn *f, const char *e, ac_dtype from, ac_dtype to)
{
    if (is_half(from)) {
        e = cast(f, e, from, AC_F32);
        from = AC_F32;
    }
    if (is_big(to)) {
        const char *most = to == AC_U64 ? "18446744073709551615" : ac_strf(f->r, "%lld", (long long)ac_dtype_max(to));
        return ac_strf(f->r, "half.clamp_big(%s, %lldn, %sn)", e, (long long)ac_dtype_min(to), most);
    }
    long long lo = (long long)ac_dtype_min(to), hi = (long long)ac_dtype_max(to);
    const char *kept_value = ac_dtype_is_float(from) ? ac_strf(f->r, "%s !== %s ? 0 : Math.trunc(%s)", e, e, e)
                             : is_big(from)          ? ac_strf(f->r, "Number(%s)", e)
                                                     : e;
    return ac_strf(f->r, "%s < %lld ? %lld : %s > %lld ? %lld : %s", e, lo, lo, e, hi, hi, kept_value);
}

static const char *infix(js_fn *f, const ac_ins *in, const char *op)
{
    return kept(f, (ac_dtype)in->dtype, ac_strf(f->r, "%s %s %s", f->val[in->a], op, f->val[in->b]));
}

static const char *compare(js_fn *f, const ac_ins *in, const char *op)
{
    return ac_strf(f->r, "%s %s %s ? 1 : 0", f->val[in->a], op, f->val[in->b]);
}

static const char *call(js_fn *f, const ac_ins *in, const char *name)
{
    return kept(f, (ac_dtype)in->dtype, ac_strf(f->r, "%s(%s)", name, f->val[in->a]));
}

static const char *value(js_fn *f, const ac_ins *in)
{
    ac_dtype d = (ac_dtype)in->dtype, from = in->a ? (ac_dtype)f->fn->code.item[in->a].dtype : d;
    const char *a = in->a ? f->val[in->a] : NULL, *b = in->b ? f->val[in->b] : NULL;
    bool real_type = ac_dtype_is_float(d);
    switch ((ac_lop)in->op) {
    case AC_L_CONST:
        return constant(f, d, in->k.i, in->k.f);
    case AC_L_GET:
        return f->val[in->aux];
    case AC_L_LOAD:
        return ac_strf(f->r, "%s$[%s]", f->fn->buf.item[in->aux].name, a);
    case AC_L_ADD:
        return infix(f, in, "+");
    case AC_L_SUB:
        return infix(f, in, "-");
    case AC_L_MUL:
        return real_type || is_big(d) ? infix(f, in, "*") : kept(f, d, ac_strf(f->r, "Math.imul(%s, %s)", a, b));
    case AC_L_DIV:
        return real_type || is_big(d) ? infix(f, in, "/") : kept(f, d, ac_strf(f->r, "Math.trunc(%s / %s)", a, b));
    case AC_L_MOD:
        return infix(f, in, "%");
    case AC_L_MIN:
        return ac_strf(f->r, "%s < %s ? %s : %s", a, b, a, b);
    case AC_L_MAX:
        return ac_strf(f->r, "%s > %s ? %s : %s", a, b, a, b);
    case AC_L_NEG:
        return kept(f, d, ac_strf(f->r, "-%s", a));
    case AC_L_ABS:
        return real_type ? ac_strf(f->r, "Math.abs(%s)", a) : kept(f, d, ac_strf(f->r, "%s < 0 ? -%s : %s", a, a, a));
    case AC_L_SQRT:
        return call(f, in, "Math.sqrt");
    case AC_L_FLOOR:
        return call(f, in, "Math.floor");
    case AC_L_CEIL:
        return call(f, in, "Math.ceil");
    case AC_L_TRUNC:
        return call(f, in, "Math.trunc");
    case AC_L_RINT:
        return call(f, in, "half.rint");
    case AC_L_AND:
        return infix(f, in, "&");
    case AC_L_OR:
        return infix(f, in, "|");
    case AC_L_XOR:
        return infix(f, in, "^");
    case AC_L_NOT:
        return d == AC_BOOL ? ac_strf(f->r, "1 - %s", a) : kept(f, d, ac_strf(f->r, "~%s", a));
    case AC_L_SHL:
        return infix(f, in, "<<");
    case AC_L_SHR:
        return infix(f, in, is_big(d) || ac_dtype_is_signed(d) ? ">>" : ">>>");
    case AC_L_EQ:
        return compare(f, in, "===");
    case AC_L_NE:
        return compare(f, in, "!==");
    case AC_L_LT:
        return compare(f, in, "<");
    case AC_L_LE:
        return compare(f, in, "<=");
    case AC_L_SELECT:
        return ac_strf(f->r, "%s ? %s : %s", a, b, f->val[in->c]);
    case AC_L_CAST:
        return cast(f, a, from, d);
    case AC_L_SATCAST:
        return saturate(f, a, from, d);
    case AC_L_BITCAST:
        return from == d ? a : ac_strf(f->r, "half.bits(\"%s\", \"%s\", %s)", js_array(from), js_array(d), a);
    // clang-format off
    case AC_L_FMA: /* JavaScript has no fma; vectors have been split before */
    case AC_L_CONSTV: case AC_L_DOT4: case AC_L_DOT2: case AC_L_SPLAT: case AC_L_LANE: case AC_L_SHUFFLE:
    case AC_L_SUMLANES: case AC_L_MAXLANES: case AC_L_MMA: case AC_L_TILE: case AC_L_REQUANT:
    /* statements */
    case AC_L_NONE: case AC_L_VAR: case AC_L_SET: case AC_L_STORE: case AC_L_PREFETCH: case AC_L_FOR: case AC_L_IF:
    case AC_L_ELSE: case AC_L_END: case AC_L_BREAK_IF: case AC_L_FAIL_IF: case AC_L_COUNT:
        break;
        // clang-format on
    }
    return NULL;
}

static int print_value(js_fn *f, ac_x x)
{
    const ac_ins *in = &f->fn->code.item[x];
    const char *e = value(f, in);
    if (!e)
        return ac_error(f->cx, (ac_place){0}, E0502, "JavaScript is not printed for '%s'", ac_lop_text((ac_lop)in->op));
    f->val[x] = in->op == AC_L_CONST ? e : ac_strf(f->r, "v%d", (int)x);
    if (in->op != AC_L_CONST)
        line(f, "const %s = %s;", f->val[x], e);
    return AC_OK;
}

static int statement(js_fn *f, ac_x x)
{
    const ac_ins *in = &f->fn->code.item[x];
    switch ((ac_lop)in->op) {
    case AC_L_NONE:
        return AC_OK;
    case AC_L_VAR:
        f->val[x] = ac_strf(f->r, "m%d", (int)x);
        line(f, "let %s = %s;", f->val[x], f->val[in->a]);
        return AC_OK;
    case AC_L_SET:
        line(f, "%s = %s;", f->val[in->aux], f->val[in->a]);
        return AC_OK;
    case AC_L_STORE:
        line(f, "%s$[%s] = %s;", f->fn->buf.item[in->aux].name, f->val[in->a], f->val[in->b]);
        return AC_OK;
    case AC_L_PREFETCH:
        return AC_OK;
    case AC_L_FOR:
        f->val[x] = ac_strf(f->r, "i%d", (int)x);
        line(f, "for (let %s = %s; %s %s %s; %s += %lld) { // %s", f->val[x], f->val[in->a], f->val[x],
             in->k.i > 0 ? "<" : ">", f->val[in->b], f->val[x], (long long)in->k.i, in->name ? in->name : "");
        f->depth++;
        return AC_OK;
    case AC_L_IF:
        line(f, "if (%s) {", f->val[in->a]);
        f->depth++;
        return AC_OK;
    case AC_L_ELSE:
        f->depth--;
        line(f, "} else {");
        f->depth++;
        return AC_OK;
    case AC_L_END:
        f->depth--;
        line(f, "}");
        return AC_OK;
    case AC_L_BREAK_IF:
        line(f, "if (%s) break;", f->val[in->a]);
        return AC_OK;
    case AC_L_FAIL_IF:
        line(f, "if (%s) return %d;", f->val[in->a], in->aux);
        return AC_OK;
    case AC_L_COUNT:
        return AC_OK;
    // clang-format off
    case AC_L_CONST: case AC_L_CONSTV: case AC_L_GET: case AC_L_LOAD: case AC_L_ADD: case AC_L_SUB: case AC_L_MUL:
    case AC_L_DIV: case AC_L_MOD: case AC_L_MIN: case AC_L_MAX: case AC_L_NEG: case AC_L_ABS: case AC_L_SQRT:
    case AC_L_FLOOR: case AC_L_CEIL: case AC_L_TRUNC: case AC_L_RINT: case AC_L_AND: case AC_L_OR: case AC_L_XOR:
    case AC_L_NOT: case AC_L_SHL: case AC_L_SHR: case AC_L_EQ: case AC_L_NE: case AC_L_LT: case AC_L_LE:
    case AC_L_SELECT: case AC_L_CAST: case AC_L_SATCAST: case AC_L_BITCAST: case AC_L_FMA: case AC_L_DOT4:
    case AC_L_DOT2: case AC_L_MMA: case AC_L_TILE: case AC_L_REQUANT: case AC_L_SPLAT: case AC_L_LANE:
    case AC_L_SHUFFLE: case AC_L_SUMLANES: case AC_L_MAXLANES:
        break;
        // clang-format on
    }
    return print_value(f, x);
}

int js_print_fn(ac_ctx *cx, const ac_loop_fn *given, const char *name, ac_sink *to)
{
    const ac_loop_fn *fn = ac_loop_scalar(cx, given);
    if (!fn)
        return AC_FAIL;
    js_fn f = {.cx = cx, .r = cx->region, .fn = fn, .to = to, .val = AC_NEW_N(cx->region, const char *, fn->code.n)};
    ac_putf(to, "function %s(", name);
    for (int32_t i = 0, n = 0; i < fn->buf.n; i++)
        if (fn->buf.item[i].role != AC_BUF_LOCAL)
            ac_putf(to, "%s%s$", n++ ? ", " : "", fn->buf.item[i].name); /* no keyword ends in $ */
    ac_put(to, ") {\n");
    f.depth = 1;
    for (int32_t i = 0; i < fn->buf.n; i++)
        if (fn->buf.item[i].role == AC_BUF_LOCAL)
            line(&f, "const %s$ = new %s(%lld);", fn->buf.item[i].name, js_array(fn->buf.item[i].dtype),
                 (long long)fn->buf.item[i].count);
    for (ac_x x = 1; x < fn->code.n; x++)
        AC_TRY(statement(&f, x));
    ac_put(to, "    return 0;\n}\n\n");
    return AC_OK;
}
