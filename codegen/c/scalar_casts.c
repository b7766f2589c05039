/* scalar_casts.c - prints conversions of one lane as C expressions: casts, saturating casts, bit casts, and the
 * operands of arithmetic in an unsigned type. */
#include "codegen/c/dialect.h"

/* The conversion of an expression to another kind of number. In strict code a function, not a cast, converts results of
 * several operators, and the expression keeps its position in the order of evaluation, on which register allocation
 * depends. */
ac_cexpr ac_c_converted(ac_cfile *F, ac_dtype to, ac_dtype from, ac_cexpr e)
{
    const bool composite = e.top >= C_OR && e.top <= C_MOD && !(e.top >= C_EQ && e.top <= C_GE);
    const char *type = ac_dtype_c(to);
    if (!composite || !ac_c_strict(F))
        return ac_c_cast(F->region, type, e);
    const char *name = ac_internf(F->cx, "%s_from_%s", ac_dtype_name(to), ac_dtype_name(from));
    if (!ac_c_have(F, name))
        ac_putf(&F->helpers, "static inline %s %s(%s x)\n{\n    return (%s)x;\n}\n\n", type, name, ac_dtype_c(from),
                type);
    return ac_c_call(F->region, name, ac_c_exact(F, e, from));
}

/* An operand as a value of the unsigned type u. Strict code computes sums and products modulo 2^bits on converted
 * operands: compilers see the same program as with a cast of the result. */
ac_cexpr ac_c_as_unsigned(const ac_cfn *f, ac_x x, ac_dtype u)
{
    ac_region *r = f->file->region;
    const ac_ins *in = c_ins(f, x);
    const ac_dtype d = (ac_dtype)in->dtype;
    if (c_is_const(f, x))
        return u == AC_U64 ? ac_c_uint64(r, (uint64_t)in->k.i) : ac_c_uint(r, (uint32_t)in->k.i);
    if (d == u)
        return f->val[x].e;
    const ac_cop top = f->val[x].e.top;
    const bool sum = in->op == AC_L_ADD || in->op == AC_L_SUB || in->op == AC_L_MUL;
    if (ac_c_strict(f->file) && sum && top >= C_ADD && top <= C_MUL && ac_dtype_is_int(d) && !ac_c_is_small(d) &&
        ac_dtype_bits(u) <= ac_dtype_bits(d))
        return ac_c_binary(r,
                           in->op == AC_L_ADD   ? C_ADD
                           : in->op == AC_L_SUB ? C_SUB
                                                : C_MUL,
                           ac_c_as_unsigned(f, in->a, u), ac_c_as_unsigned(f, in->b, u));
    return ac_c_converted(f->file, u, d, f->val[x].e);
}

ac_cexpr ac_c_exact(ac_cfile *F, ac_cexpr e, ac_dtype d)
{
    return e.exact || !ac_c_is_small(d) ? e : ac_c_cast(F->region, ac_dtype_c(d), e);
}

/* A bool of strict code as a number. */
static ac_cexpr of_bool(ac_cfn *f, ac_cexpr e, ac_dtype to)
{
    ac_cfile *F = f->file;
    ac_ins k[2] = {{.lanes = 1}, {.lanes = 1}};
    if (ac_dtype_is_float(to))
        k[1].k.f = 1;
    else
        k[1].k.i = 1;
    if (e.top < C_UNARY) {
        const char *name = ac_c_name_number(&f->names, "t");
        ac_c_line(f, "const bool %s = %s;", name, e.text);
        e = ac_c_atom(name);
    }
    ac_cexpr one = ac_c_const(F, to, &k[1]), zero = ac_c_const(F, to, &k[0]);
    if (to == AC_I32) { /* for MISRA, small numbers have small types */
        one = ac_c_cast(F->region, ac_dtype_c(to), one);
        zero = ac_c_cast(F->region, ac_dtype_c(to), zero);
    }
    return ac_c_cond(F->region, e, one, zero);
}

static ac_cexpr convert(ac_cfn *f, ac_cexpr e, ac_dtype from, ac_dtype to)
{
    ac_cfile *F = f->file;
    ac_region *r = F->region;
    const bool strict = ac_c_strict(F);
    if (from == to)
        return e;
    if (ac_dtype_is_half(from)) {
        e = ac_c_call(r, ac_c_helper(F, from == AC_F16 ? "f32_from_f16" : "f32_from_bf16"), e);
        return convert(f, e, AC_F32, to);
    }
    if (ac_dtype_is_half(to)) {
        e = convert(f, e, from, AC_F32);
        return ac_c_call(r, ac_c_helper(F, to == AC_F16 ? "f16_from_f32" : "bf16_from_f32"), e);
    }
    if (to == AC_BOOL) {
        ac_cexpr zero = from == AC_F32 ? ac_c_atom("0.0f") : from == AC_F64 ? ac_c_atom("0.0") : ac_c_int(r, 0);
        if (strict && ac_dtype_is_int(from) && !ac_dtype_is_signed(from))
            zero = ac_c_uint(r, 0);
        return ac_c_binary(r, C_NE, e, zero);
    }
    if (strict && from == AC_BOOL)
        return of_bool(f, e, to);
    bool from_float = ac_dtype_is_float(from);
    if (!from_float && !ac_dtype_is_float(to)) {
        bool fits =
            from == AC_BOOL || (ac_dtype_min(from) >= ac_dtype_min(to) && ac_dtype_max(from) <= ac_dtype_max(to) &&
                                from != AC_U64 && (to == AC_U64 || ac_dtype_bits(from) <= ac_dtype_bits(to)));
        const bool other_sign = strict && ac_dtype_is_signed(from) != ac_dtype_is_signed(to);
        if (fits && !other_sign && ac_c_is_small(from) && (ac_c_is_small(to) || to == AC_I32)) {
            e.exact = false; /* it is an int already */
            return e;
        }
    }
    const bool narrows = ac_dtype_is_int(from) && ac_dtype_is_int(to) && ac_dtype_bits(to) <= ac_dtype_bits(from) &&
                         ac_dtype_is_signed(from) == ac_dtype_is_signed(to);
    return narrows ? ac_c_cast(r, ac_dtype_c(to), e) : ac_c_converted(F, to, from, e);
}

/* A shift by a constant is part of the instruction. */
static ac_cexpr saturate_byte(ac_cfn *f, const ac_ins *in)
{
    ac_cfile *F = f->file;
    const ac_ins *from = c_ins(f, in->a);
    const ac_cexpr a = f->val[in->a].e;
    if (from->op == AC_L_SHR && a.top == C_SHR && c_is_const(f, from->b)) {
        const ac_cexpr n = f->val[from->b].e;
        if (n.text[0] >= '1' && n.text[0] <= '9')
            return ac_c_call2(F->region, ac_c_sat_byte_helper(F, (ac_dtype)in->dtype, true), f->val[from->a].e, n);
    }
    return ac_c_call(F->region, ac_c_sat_byte_helper(F, (ac_dtype)in->dtype, false), a);
}

static ac_cexpr saturate(ac_cfn *f, const ac_ins *in)
{
    ac_cfile *F = f->file;
    ac_region *r = F->region;
    ac_dtype from = (ac_dtype)c_ins(f, in->a)->dtype, to = (ac_dtype)in->dtype;
    ac_cexpr a = f->val[in->a].e;
    if (ac_c_sat_is_call(f->fn, F->target, in))
        return saturate_byte(f, in);
    if (ac_dtype_is_half(from)) {
        a = convert(f, a, from, AC_F32);
        from = AC_F32;
    }
    if (ac_dtype_is_float(from))
        return ac_c_call(r, ac_c_sat_helper(F, to, from), a);
    bool below = ac_dtype_min(from) < ac_dtype_min(to);
    bool above = from == AC_U64 ? to != AC_U64 : ac_dtype_max(from) > ac_dtype_max(to) && to != AC_U64;
    ac_cexpr e = convert(f, a, from, to);
    e = ac_c_exact(F, e, to);
    ac_ins bound = {.dtype = (uint8_t)to};
    if (above) {
        bound.k.i = ac_dtype_max(to);
        ac_cexpr most = ac_c_const(F, to, &bound);
        ac_cexpr limit = ac_dtype_is_signed(from) ? ac_c_int(r, bound.k.i) : ac_c_uint(r, (uint64_t)bound.k.i);
        if (ac_c_is_small(from))
            limit = ac_c_int(r, bound.k.i);
        e = ac_c_cond(r, ac_c_binary(r, C_GT, a, limit), most, e);
    }
    if (below) {
        bound.k.i = ac_dtype_min(to);
        e = ac_c_cond(r, ac_c_binary(r, C_LT, a, ac_c_int(r, bound.k.i)), ac_c_const(F, to, &bound), e);
    }
    return e;
}

static ac_cexpr bitcast(ac_cfn *f, const ac_ins *in)
{
    ac_cfile *F = f->file;
    ac_region *r = F->region;
    ac_dtype from = (ac_dtype)c_ins(f, in->a)->dtype, to = (ac_dtype)in->dtype;
    ac_cexpr e = f->val[in->a].e;
    bool from_float = from == AC_F32 || from == AC_F64, to_float = to == AC_F32 || to == AC_F64;
    if (from == to || (from_float && to_float))
        return e;
    if (from_float) {
        ac_dtype bits = ac_c_unsigned(ac_dtype_bits(from));
        e = ac_c_call(r, ac_c_helper(F, from == AC_F64 ? "bits_of_f64" : "bits_of_f32"), e);
        return to == bits ? e : ac_c_cast(r, ac_dtype_c(to), e);
    }
    if (to_float) {
        ac_dtype bits = ac_c_unsigned(ac_dtype_bits(to));
        if (from != bits)
            e = ac_c_converted(F, bits, from, e);
        return ac_c_call(r, ac_c_helper(F, to == AC_F64 ? "of_bits_f64" : "of_bits_f32"), e);
    }
    if (ac_c_strict(F) && (to == AC_U32 || to == AC_U64))
        return ac_c_as_unsigned(f, in->a, to);
    return ac_c_converted(F, to, from, e);
}

static ac_cexpr cast(ac_cfn *f, const ac_ins *in)
{
    const ac_ins *from = c_ins(f, in->a);
    const ac_dtype d = (ac_dtype)in->dtype;
    const bool strict = ac_c_strict(f->file);
    if (strict && (d == AC_U32 || d == AC_U64) && ac_dtype_is_int((ac_dtype)from->dtype))
        return ac_c_as_unsigned(f, in->a, d);
    /* an expression has the type of its names: a product of them would be narrower than its destination */
    if (strict && d == AC_I32 && from->dtype == AC_I16 && !f->use[in->a].join)
        return ac_c_cast(f->file->region, "int32_t", f->val[in->a].e);
    return convert(f, f->val[in->a].e, (ac_dtype)from->dtype, d);
}

ac_cexpr ac_c_scalar_cast(ac_cfn *f, ac_x x)
{
    const ac_ins *in = c_ins(f, x);
    return in->op == AC_L_SATCAST ? saturate(f, in) : in->op == AC_L_BITCAST ? bitcast(f, in) : cast(f, in);
}
