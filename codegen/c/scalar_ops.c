/* scalar_ops.c - prints an instruction with one lane as a C expression. The meaning is that of loop.def; behaviour that
 * C leaves undefined is avoided: wrapping operations use unsigned types, results narrower than int are cast back, left
 * shifts are unsigned. */
#include "codegen/c/dialect.h"

#include <math.h>
#include <string.h>

int ac_c_refuse(ac_cfile *F, const ac_loop_fn *fn, const char *what)
{
    return ac_error(F->cx, (ac_place){0}, E0901, "the C printer cannot print %s in function '%s'", what, fn->name);
}

bool ac_c_is_small(ac_dtype d)
{
    return d == AC_BOOL || ac_dtype_bits(d) <= 16;
}

ac_dtype ac_c_unsigned(int32_t bits)
{
    return bits == 64 ? AC_U64 : bits == 32 ? AC_U32 : bits == 16 ? AC_U16 : AC_U8;
}

/* The type arithmetic without overflow is done in: 32 bits at least. */
static ac_dtype word_of(ac_dtype d)
{
    return ac_dtype_bits(d) == 64 ? AC_U64 : AC_U32;
}

ac_cexpr ac_c_const(ac_cfile *F, ac_dtype d, const ac_ins *in)
{
    ac_region *r = F->region;
    const bool strict = ac_c_strict(F);
    if (strict && d == AC_BOOL)
        return ac_c_atom(in->k.i ? "true" : "false");
    if (d == AC_F32)
        return isfinite((float)in->k.f) ? ac_c_float(r, (float)in->k.f) : F->dialect->special(F, in->k.f, false);
    if (d == AC_F64)
        return isfinite(in->k.f) ? ac_c_double(r, in->k.f) : F->dialect->special(F, in->k.f, true);
    if (d == AC_F16)
        return ac_c_atom(ac_strf(r, strict ? "0x%04xu" : "0x%04x", ac_f32_to_f16((float)in->k.f)));
    if (d == AC_BF16)
        return ac_c_atom(ac_strf(r, strict ? "0x%04xu" : "0x%04x", ac_f32_to_bf16((float)in->k.f)));
    if (d == AC_U32 || (strict && ac_dtype_is_int(d) && ac_c_is_small(d) && !ac_dtype_is_signed(d)))
        return ac_c_uint(r, (uint32_t)in->k.i);
    if (d == AC_I64)
        return ac_c_int64(r, in->k.i);
    return d == AC_U64 ? ac_c_uint64(r, (uint64_t)in->k.i) : ac_c_int(r, in->k.i);
}

static ac_cexpr arg(const ac_cfn *f, ac_x x)
{
    return f->val[x].e;
}

/* An operand next to one that determines the type: a 64-bit constant may be printed as a plain number. */
static ac_cexpr beside(const ac_cfn *f, ac_x x, ac_x partner)
{
    const ac_ins *in = c_ins(f, x);
    if (!c_is_const(f, x) || c_is_const(f, partner))
        return arg(f, x);
    if (in->dtype == AC_I64)
        return ac_c_int(f->file->region, in->k.i);
    if (in->dtype == AC_U64)
        return ac_c_uint(f->file->region, (uint64_t)in->k.i);
    return arg(f, x);
}

static ac_cexpr exact_cast(ac_cfn *f, ac_dtype d, ac_cexpr e)
{
    return ac_c_cast(f->file->region, ac_dtype_c(d), e);
}

static bool is_number(const ac_cfn *f, ac_x x, int64_t n)
{
    const ac_ins *in = c_ins(f, x);
    return c_is_const(f, x) && ac_dtype_is_int((ac_dtype)in->dtype) && in->k.i == n;
}

static ac_cexpr arithmetic(ac_cfn *f, const ac_ins *in, ac_cop op)
{
    ac_region *r = f->file->region;
    ac_dtype d = (ac_dtype)in->dtype;
    const int64_t nothing = op == C_MUL || op == C_DIV ? 1 : op == C_ADD || op == C_SUB ? 0 : -1;
    if (ac_c_strict(f->file) && nothing >= 0 &&
        is_number(f, in->b, nothing)) /* numbers that loops are not folded with */
        return arg(f, in->a);
    bool is_signed = ac_dtype_is_signed(d), small = ac_c_is_small(d);
    if (ac_dtype_is_int(d) && !small && is_signed && (in->flags & AC_F_WRAP)) {
        ac_dtype u = word_of(d);
        const ac_cexpr a = ac_c_as_unsigned(f, in->a, u);
        return ac_c_converted(f->file, d, u, ac_c_binary(r, op, a, ac_c_as_unsigned(f, in->b, u)));
    }
    if (d == AC_U16 && op == C_MUL) /* int would overflow */
        return exact_cast(f, d,
                          ac_c_binary(r, op, ac_c_as_unsigned(f, in->a, AC_U32), ac_c_as_unsigned(f, in->b, AC_U32)));
    const ac_ins *k = c_ins(f, in->b);
    ac_cexpr e;
    if (op <= C_SUB && c_is_const(f, in->b) && !c_is_const(f, in->a) && is_signed && k->k.i < 0 && k->k.i > INT32_MIN)
        e = ac_c_binary(r, op == C_ADD ? C_SUB : C_ADD, arg(f, in->a), ac_c_int(r, -k->k.i)); /* a + -1, a - -1 */
    else if (ac_c_strict(f->file) && op == C_SUB && is_signed && is_number(f, in->a, 0))      /* 0 - a */
        e = ac_c_unary(r, '-', arg(f, in->b));
    else
        e = ac_c_binary(r, op, beside(f, in->a, in->b), beside(f, in->b, in->a));
    if (ac_dtype_is_int(d) && small && (!is_signed || (in->flags & AC_F_WRAP)))
        e = exact_cast(f, d, e);
    return e;
}

static ac_cexpr logic(ac_cfn *f, const ac_ins *in, ac_cop bits, ac_cop truth)
{
    bool is_bool = in->dtype == AC_BOOL;
    return ac_c_binary(f->file->region, is_bool ? truth : bits, beside(f, in->a, in->b), beside(f, in->b, in->a));
}

static ac_cexpr shift(ac_cfn *f, const ac_ins *in)
{
    ac_region *r = f->file->region;
    ac_dtype d = (ac_dtype)in->dtype;
    ac_cexpr by = c_is_const(f, in->b) ? ac_c_int(r, c_ins(f, in->b)->k.i) : arg(f, in->b);
    if (ac_c_strict(f->file) && !c_is_const(f, in->b) && ac_dtype_is_signed((ac_dtype)c_ins(f, in->b)->dtype))
        by = ac_c_as_unsigned(f, in->b, word_of((ac_dtype)c_ins(f, in->b)->dtype));
    if (in->op == AC_L_SHR)
        return ac_c_binary(r, C_SHR, arg(f, in->a), by);
    ac_dtype u = word_of(d);
    ac_cexpr e = ac_c_binary(r, C_SHL, ac_c_as_unsigned(f, in->a, u), by);
    return u == d ? e : ac_c_converted(f->file, d, u, e);
}

/* Two readings of one variable may have the same text: compilers warn about `v < v`, so it is folded here. */
static ac_cexpr compare(ac_cfn *f, const ac_ins *in, ac_cop op)
{
    ac_region *r = f->file->region;
    ac_cexpr a = beside(f, in->a, in->b), b = beside(f, in->b, in->a);
    if (!strcmp(a.text, b.text)) {
        bool real = ac_dtype_is_float((ac_dtype)c_ins(f, in->a)->dtype); /* NaN is not equal to itself */
        const bool always = op == C_EQ || op == C_LE;
        if (op == C_LT || !real)
            return ac_c_strict(f->file) ? ac_c_atom(always ? "true" : "false") : ac_c_int(r, always);
        op = op == C_LE ? C_EQ : op;
    }
    return ac_c_binary(r, op, a, b);
}

/* a < b ? a : b. Both texts are names or numbers: they are printed twice. */
static ac_cexpr extreme(ac_cfn *f, const ac_ins *in, ac_cop op)
{
    ac_region *r = f->file->region;
    ac_cexpr a = beside(f, in->a, in->b), b = beside(f, in->b, in->a);
    if (!strcmp(a.text, b.text))
        return a;
    return ac_c_cond(r, ac_c_binary(r, op, a, b), a, b);
}

static ac_cexpr negate(ac_cfn *f, const ac_ins *in)
{
    ac_region *r = f->file->region;
    ac_dtype d = (ac_dtype)in->dtype;
    if (ac_dtype_is_float(d))
        return ac_c_unary(r, '-', arg(f, in->a));
    if (ac_c_is_small(d))
        return ac_dtype_is_signed(d) && !(in->flags & AC_F_WRAP) ? ac_c_unary(r, '-', arg(f, in->a))
                                                                 : exact_cast(f, d, ac_c_unary(r, '-', arg(f, in->a)));
    if (ac_dtype_is_signed(d) && !(in->flags & AC_F_WRAP))
        return ac_c_unary(r, '-', arg(f, in->a));
    ac_dtype u = word_of(d);
    ac_cexpr e = ac_c_binary(r, C_SUB, ac_c_atom("0u"), ac_c_as_unsigned(f, in->a, u));
    return u == d ? e : ac_c_converted(f->file, d, u, e);
}

static ac_cexpr absolute(ac_cfn *f, const ac_ins *in)
{
    ac_region *r = f->file->region;
    ac_dtype d = (ac_dtype)in->dtype;
    ac_cexpr a = arg(f, in->a);
    if (ac_dtype_is_float(d))
        return ac_c_call(r, ac_c_helper(f->file, d == AC_F64 ? "abs_f64" : "abs_f32"), a);
    if (!ac_dtype_is_signed(d))
        return a;
    ac_cexpr below = ac_c_binary(r, C_LT, a, ac_c_int(r, 0));
    if (ac_c_is_small(d)) /* -128 stays -128 */
        return exact_cast(f, d, ac_c_cond(r, below, ac_c_unary(r, '-', a), a));
    ac_cexpr u = ac_c_as_unsigned(f, in->a, word_of(d));
    if (ac_c_strict(f->file)) { /* in two steps: a conditional expression of sums is composite */
        const char *name = ac_c_name_number(&f->names, "t");
        ac_c_line(f, "const %s %s = %s ? 0u - %s : %s;", ac_dtype_c(word_of(d)), name, below.text, u.text, u.text);
        return exact_cast(f, d, ac_c_atom(name));
    }
    return exact_cast(f, d, ac_c_cond(r, below, ac_c_binary(r, C_SUB, ac_c_atom("0u"), u), u));
}

static ac_cexpr invert(ac_cfn *f, const ac_ins *in)
{
    ac_region *r = f->file->region;
    ac_dtype d = (ac_dtype)in->dtype;
    if (d == AC_BOOL)
        return ac_c_unary(r, '!', arg(f, in->a));
    ac_cexpr e = ac_c_unary(r, '~', arg(f, in->a));
    return ac_c_is_small(d) && !ac_dtype_is_signed(d) ? exact_cast(f, d, e) : e;
}

static ac_cexpr float_call(ac_cfn *f, const ac_ins *in, const char *verb)
{
    ac_region *r = f->file->region;
    const char *name = ac_c_helper(f->file, ac_strf(r, "%s_%s", verb, ac_dtype_name((ac_dtype)in->dtype)));
    return name ? ac_c_call(r, name, arg(f, in->a)) : (ac_cexpr){0};
}

/* Operand x of a selection. Strict code: a constant of a small unsigned type is unsigned, but results of operators on
 * such types are int. */
static ac_cexpr selected(ac_cfn *f, const ac_ins *in, ac_x x, ac_x other)
{
    const ac_dtype d = (ac_dtype)in->dtype;
    const bool narrow = ac_c_strict(f->file) && ac_dtype_is_int(d) && ac_c_is_small(d) && !ac_dtype_is_signed(d);
    const ac_cexpr e = beside(f, x, other);
    return narrow && c_is_const(f, other) && !c_is_const(f, x) ? ac_c_exact(f->file, e, d) : e;
}

static ac_cexpr select(ac_cfn *f, const ac_ins *in)
{
    ac_region *r = f->file->region;
    ac_cexpr cond = arg(f, in->a);
    if (cond.top == C_COND && !ac_c_strict(f->file)) /* "integer constants in boolean context" */
        cond = ac_c_binary(r, C_NE, cond, ac_c_int(r, 0));
    return ac_c_cond(r, cond, selected(f, in, in->b, in->c), selected(f, in, in->c, in->b));
}

ac_cexpr ac_c_scalar(ac_cfn *f, ac_x x)
{
    ac_cfile *F = f->file;
    ac_region *r = F->region;
    const ac_ins *in = c_ins(f, x);
    ac_dtype d = (ac_dtype)in->dtype;
    ac_cexpr a = in->a ? arg(f, in->a) : (ac_cexpr){0};
    switch ((ac_lop)in->op) {
    case AC_L_CONST:
        return ac_c_const(F, d, in);
    case AC_L_CONSTV: {
        ac_ins k = *in;
        k.k.i = f->fn->pool.item[in->aux];
        return ac_c_const(F, d, &k);
    }
    case AC_L_GET:
        return f->val[in->aux].e;
    case AC_L_LOAD:
        if (d == AC_BOOL && ac_c_strict(F))
            return ac_c_binary(r, C_NE, ac_c_index(r, f->buf[in->aux], a), ac_c_uint(r, 0));
        return ac_c_index(r, f->buf[in->aux], a);
    case AC_L_ADD:
        return arithmetic(f, in, C_ADD);
    case AC_L_SUB:
        return arithmetic(f, in, C_SUB);
    case AC_L_MUL:
        return arithmetic(f, in, C_MUL);
    case AC_L_DIV:
        return arithmetic(f, in, C_DIV);
    case AC_L_MOD:
        return arithmetic(f, in, C_MOD);
    case AC_L_MIN: {
        const ac_cexpr whole = ac_c_clamped(f, x);
        return whole.text ? whole : extreme(f, in, C_LT);
    }
    case AC_L_MAX:
        return extreme(f, in, C_GT);
    case AC_L_NEG:
        return negate(f, in);
    case AC_L_ABS:
        return absolute(f, in);
    case AC_L_SQRT:
        return float_call(f, in, "sqrt");
    case AC_L_FLOOR:
        return float_call(f, in, "floor");
    case AC_L_CEIL:
        return float_call(f, in, "ceil");
    case AC_L_TRUNC:
        return float_call(f, in, "trunc");
    case AC_L_RINT:
        return float_call(f, in, "rint");
    case AC_L_AND:
        return logic(f, in, C_AND, C_LAND);
    case AC_L_OR:
        return logic(f, in, C_OR, C_LOR);
    case AC_L_XOR:
        return logic(f, in, C_XOR, C_NE);
    case AC_L_NOT:
        return invert(f, in);
    case AC_L_SHL:
    case AC_L_SHR:
        return shift(f, in);
    case AC_L_EQ:
        return compare(f, in, C_EQ);
    case AC_L_NE:
        return compare(f, in, C_NE);
    case AC_L_LT:
        return compare(f, in, C_LT);
    case AC_L_LE:
        return compare(f, in, C_LE);
    case AC_L_SELECT:
        return select(f, in);
    case AC_L_CAST:
    case AC_L_SATCAST:
    case AC_L_BITCAST:
        return ac_c_scalar_cast(f, x);
    case AC_L_FMA: {
        const char *name = ac_c_helper(F, d == AC_F64 ? "fma_f64" : "fma_f32");
        return name ? ac_c_call3(r, name, a, arg(f, in->b), arg(f, in->c)) : (ac_cexpr){0};
    }
    case AC_L_SPLAT:
    case AC_L_LANE:
    case AC_L_SUMLANES:
    case AC_L_MAXLANES:
        return a;
    case AC_L_SHUFFLE:
        return f->fn->pool.item[in->aux] ? arg(f, in->b) : a;
    // clang-format off
    case AC_L_NONE: case AC_L_VAR: case AC_L_SET: case AC_L_STORE: case AC_L_PREFETCH: case AC_L_DOT4: case AC_L_DOT2:
    case AC_L_MMA: case AC_L_TILE: case AC_L_REQUANT: case AC_L_FOR: case AC_L_IF: case AC_L_ELSE: case AC_L_END:
    case AC_L_BREAK_IF: case AC_L_FAIL_IF: case AC_L_COUNT:
        break;
        // clang-format on
    }
    return (ac_cexpr){0};
}
