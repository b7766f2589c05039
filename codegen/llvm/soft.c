/* soft.c - prints square roots and roundings for machines without an instruction for them. They are loop functions of
 * one element, built once for each type and printed like any other; the caller passes stack slots. All are exact as
 * defined by IEEE 754:
 *
 *     trunc   via an integer, if there is a fraction; keeps the sign (-0)
 *     floor trunc, minus 1 if that is above x; ceil and rint likewise
 *     sqrt    bit by bit, as in long division: one bit more than the mantissa, then rounded by it */
#include "codegen/llvm/ir.h"

/* A function being built, with the properties of its type */
typedef struct soft {
    ac_lb b;
    ac_dtype real, whole, word; /* f32 i32 u32, or f64 i64 u64 */
    int32_t mantissa, bias;     /* bits stored; of the exponent */
} soft;

static ac_x word(soft *s, uint64_t v)
{
    return ac_lb_int(&s->b, s->word, (int64_t)v);
}

static ac_x sign_bit(soft *s)
{
    return word(s, s->real == AC_F32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63);
}

static ac_x truncated(soft *s, ac_x x)
{
    ac_lb *b = &s->b;
    ac_x bits = ac_lb_bitcast(b, x, s->word);
    ac_x whole = word(s, (uint64_t)(s->bias + s->mantissa) << s->mantissa); /* from here on: infinity and NaN too */
    ac_x nothing = ac_lb_ge(b, ac_lb_and(b, bits, ac_lb_not(b, sign_bit(s))), whole);
    ac_x cut = ac_lb_cast(b, ac_lb_cast(b, ac_lb_select(b, nothing, ac_lb_num(b, s->real, 0), x), s->whole), s->real);
    ac_x kept = ac_lb_or(b, ac_lb_bitcast(b, cut, s->word), ac_lb_and(b, bits, sign_bit(s)));
    return ac_lb_select(b, nothing, x, ac_lb_bitcast(b, kept, s->real));
}

static ac_x stepped(soft *s, ac_x x, double by)
{
    ac_lb *b = &s->b;
    ac_x t = truncated(s, x);
    ac_x wrong = by < 0 ? ac_lb_gt(b, t, x) : ac_lb_lt(b, t, x);
    return ac_lb_select(b, wrong, ac_lb_add(b, t, ac_lb_num(b, s->real, by)), t);
}

static ac_x nearest(soft *s, ac_x x)
{
    ac_lb *b = &s->b;
    ac_x t = truncated(s, x), rest = ac_lb_abs(b, ac_lb_sub(b, x, t)),
         half = ac_lb_num(b, s->real, 0.5); /* rest is exact */
    ac_x tie = ac_lb_eq(b, rest, half);
    ac_x low = ac_lb_and(b, ac_lb_cast(b, ac_lb_select(b, tie, t, ac_lb_num(b, s->real, 0)), s->whole),
                         ac_lb_int(b, s->whole, 1));
    ac_x up = ac_lb_or(b, ac_lb_gt(b, rest, half), ac_lb_and(b, tie, ac_lb_ne(b, low, ac_lb_int(b, s->whole, 0))));
    ac_x one =
        ac_lb_select(b, ac_lb_lt(b, x, ac_lb_num(b, s->real, 0)), ac_lb_num(b, s->real, -1), ac_lb_num(b, s->real, 1));
    return ac_lb_select(b, up, ac_lb_add(b, t, one), t);
}

/* x is positive and finite: its root's bits. */
static ac_x root_bits(soft *s, ac_x bits)
{
    ac_lb *b = &s->b;
    const uint64_t top = UINT64_C(1) << s->mantissa;
    const int32_t size = s->real == AC_F32 ? 32 : 64, spare = size - s->mantissa - 2;
    ac_x zero = word(s, 0), one = word(s, 1);
    ac_x field = ac_lb_shr(b, bits, word(s, (uint64_t)s->mantissa));
    ac_x m = ac_lb_var(b, "m", ac_lb_and(b, bits, word(s, top - 1)));
    ac_x e = ac_lb_var(b, "e", ac_lb_cast(b, field, AC_I32));
    ac_lb_if(b, ac_lb_eq(b, field, zero)); /* subnormal */
    ac_lb_set(b, e, ac_lb_i32(b, 1));
    ac_lb_for_n(b, "i", s->mantissa);
    ac_lb_break_if(b, ac_lb_ge(b, ac_lb_get(b, m), word(s, top)));
    ac_lb_set(b, m, ac_lb_shl(b, ac_lb_get(b, m), one));
    ac_lb_set(b, e, ac_lb_sub(b, ac_lb_get(b, e), ac_lb_i32(b, 1)));
    ac_lb_end(b);
    ac_lb_end(b);
    ac_x exponent = ac_lb_sub(b, ac_lb_get(b, e), ac_lb_i32(b, s->bias)), odd = ac_lb_and(b, exponent, ac_lb_i32(b, 1));
    ac_x at = ac_lb_cast(b, ac_lb_add(b, odd, ac_lb_i32(b, spare - 1)), s->word); /* an even exponent is left */
    ac_lb_set(b, m, ac_lb_shl(b, ac_lb_or(b, ac_lb_get(b, m), word(s, top)), at));
    ac_x rest = ac_lb_var(b, "rest", zero), root = ac_lb_var(b, "root", zero);
    ac_lb_for_n(b, "i", s->mantissa + 2);
    ac_x next = ac_lb_or(b, ac_lb_shl(b, ac_lb_get(b, rest), word(s, 2)),
                         ac_lb_shr(b, ac_lb_get(b, m), word(s, (uint64_t)size - 2)));
    ac_lb_set(b, m, ac_lb_shl(b, ac_lb_get(b, m), word(s, 2)));
    ac_x doubled = ac_lb_shl(b, ac_lb_get(b, root), one), twice = ac_lb_shl(b, doubled, one);
    ac_x fits = ac_lb_gt(b, next, twice);
    ac_lb_set(b, rest, ac_lb_select(b, fits, ac_lb_sub_wrap(b, next, ac_lb_add_wrap(b, twice, one)), next));
    ac_lb_set(b, root, ac_lb_select(b, fits, ac_lb_add_wrap(b, doubled, one), doubled));
    ac_lb_end(b);
    ac_x power = ac_lb_add(b, ac_lb_shr(b, ac_lb_sub(b, exponent, odd), ac_lb_i32(b, 1)), ac_lb_i32(b, s->bias - 1));
    ac_x high = ac_lb_shl(b, ac_lb_cast(b, power, s->word), word(s, (uint64_t)s->mantissa));
    return ac_lb_add_wrap(b, high, ac_lb_shr(b, ac_lb_add_wrap(b, ac_lb_get(b, root), one), one));
}

static void root(soft *s, ac_x x, int32_t out)
{
    ac_lb *b = &s->b;
    ac_x zero = ac_lb_num(b, s->real, 0), at = ac_lb_i32(b, 0), bits = ac_lb_bitcast(b, x, s->word);
    const uint64_t infinity = (uint64_t)(2 * s->bias + 1) << s->mantissa;
    ac_lb_store(b, out, at, x); /* +-0, infinity, NaN */
    ac_lb_if(b, ac_lb_lt(b, x, zero));
    ac_lb_store(b, out, at, ac_lb_bitcast(b, word(s, infinity | UINT64_C(1) << (s->mantissa - 1)), s->real));
    ac_lb_end(b);
    ac_lb_if(b, ac_lb_and(b, ac_lb_gt(b, x, zero), ac_lb_lt(b, bits, word(s, infinity))));
    ac_lb_store(b, out, at, ac_lb_bitcast(b, root_bits(s, bits), s->real));
    ac_lb_end(b);
}

/* FLOOR CEIL TRUNC RINT */
static ac_x rounded(soft *s, ac_lop op, ac_x x)
{
    if (op == AC_L_FLOOR || op == AC_L_CEIL)
        return stepped(s, x, op == AC_L_FLOOR ? -1 : 1);
    return op == AC_L_TRUNC ? truncated(s, x) : nearest(s, x);
}

static const ac_loop_fn *build(ac_region *r, ac_lop op, ac_dtype d, const char *name)
{
    bool f32 = d == AC_F32;
    soft s = {.real = d, .whole = f32 ? AC_I32 : AC_I64, .word = f32 ? AC_U32 : AC_U64};
    s.mantissa = f32 ? 23 : 52;
    s.bias = f32 ? 127 : 1023;
    ac_lb_open(&s.b, r, name, "exact, by integers");
    int32_t in = ac_lb_buf(&s.b, "x", d, 1, AC_BUF_IN, 1, NULL), out = ac_lb_buf(&s.b, "y", d, 1, AC_BUF_OUT, 1, NULL);
    ac_x at = ac_lb_i32(&s.b, 0), x = ac_lb_load(&s.b, in, at, 1);
    if (op == AC_L_SQRT)
        root(&s, x, out);
    else
        ac_lb_store(&s.b, out, at, rounded(&s, op, x));
    return ac_lb_close(&s.b);
}

static LLVMValueRef call_soft(l_module *M, ac_lop op, LLVMValueRef x, ac_dtype d, LLVMValueRef in, LLVMValueRef out)
{
    static const char *const NAMES[AC_L_COUNT] = {[AC_L_SQRT] = "sqrt",
                                                  [AC_L_FLOOR] = "floor",
                                                  [AC_L_CEIL] = "ceil",
                                                  [AC_L_TRUNC] = "trunc",
                                                  [AC_L_RINT] = "rint"};
    const char *name = ac_strf(M->region, "%s_%s", NAMES[op], ac_dtype_name(d));
    LLVMValueRef fn = LLVMGetNamedFunction(M->mod, name);
    if (!fn) {
        LLVMBasicBlockRef here = LLVMGetInsertBlock(M->b);
        if (l_function(M, build(M->region, op, d, name), name, NULL, &fn) != AC_OK)
            return NULL;
        LLVMPositionBuilderAtEnd(M->b, here);
    }
    LLVMBuildStore(M->b, x, in);
    LLVMBuildCall2(M->b, LLVMGlobalGetValueType(fn), fn, (LLVMValueRef[]){in, out}, 2, "");
    return LLVMBuildLoad2(M->b, l_type(M, d, 1), out, "");
}

LLVMValueRef l_rounding(l_fn *f, ac_lop op, LLVMValueRef v, ac_dtype d, int32_t lanes)
{
    static const char *const NAMES[AC_L_COUNT] = {[AC_L_SQRT] = "llvm.sqrt",
                                                  [AC_L_FLOOR] = "llvm.floor",
                                                  [AC_L_CEIL] = "llvm.ceil",
                                                  [AC_L_TRUNC] = "llvm.trunc",
                                                  [AC_L_RINT] = "llvm.rint"};
    l_module *M = f->M;
    const int32_t fp = M->target->fp, wide = d == AC_F64;
    if (fp & (op == AC_L_SQRT ? wide ? AC_FP_SQRT64 : AC_FP_SQRT32 : wide ? AC_FP_ROUND64 : AC_FP_ROUND32))
        return l_intrinsic(M, NAMES[op], LLVMTypeOf(v), &v, 1);
    LLVMValueRef in = l_slot(f, l_type(M, d, 1), "x"), out = l_slot(f, l_type(M, d, 1), "y");
    if (lanes == 1)
        return call_soft(M, op, v, d, in, out);
    for (int32_t i = 0; i < lanes; i++) {
        LLVMValueRef at = LLVMConstInt(M->i32, (unsigned)i, false);
        LLVMValueRef one = call_soft(M, op, LLVMBuildExtractElement(M->b, v, at, ""), d, in, out);
        if (!one)
            return NULL;
        v = LLVMBuildInsertElement(M->b, v, one, at, "");
    }
    return v;
}
