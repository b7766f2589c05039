/* scalar_ops.c - one instruction with one lane as a C expression. The meaning is that of loop.def; what C leaves
 * open is spelled out: what wraps is computed in unsigned types, what is narrower than int is cast back, shifts to
 * the left are done unsigned. */
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

/* Half floats: 16 bits that only casts look into. */
static bool is_half(ac_dtype d)
{
    return d == AC_F16 || d == AC_BF16;
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

/* An operand whose partner shows the type: a 64-bit constant may be printed as a plain number. */
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

/* The conversion of an expression to another kind of number. In strict code a cast does not convert what several
 * operators make: a function does, and the expression keeps its place in the order of evaluation, which registers are
 * given by. */
static ac_cexpr converted(ac_cfile *F, ac_dtype to, ac_dtype from, ac_cexpr e)
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

/* An operand as a value of the unsigned type u. Sums and products of strict code, modulo 2^bits, are those of operands
 * that are converted: compilers see the same program as with a cast of the result. */
static ac_cexpr as_unsigned(const ac_cfn *f, ac_x x, ac_dtype u)
{
    ac_region *r = f->file->region;
    const ac_ins *in = c_ins(f, x);
    const ac_dtype d = (ac_dtype)in->dtype;
    if (c_is_const(f, x))
        return u == AC_U64 ? ac_c_uint64(r, (uint64_t)in->k.i) : ac_c_uint(r, (uint32_t)in->k.i);
    if (d == u)
        return arg(f, x);
    const ac_cop top = arg(f, x).top;
    const bool sum = in->op == AC_L_ADD || in->op == AC_L_SUB || in->op == AC_L_MUL;
    if (ac_c_strict(f->file) && sum && top >= C_ADD && top <= C_MUL && ac_dtype_is_int(d) && !ac_c_is_small(d) &&
        ac_dtype_bits(u) <= ac_dtype_bits(d))
        return ac_c_binary(r,
                           in->op == AC_L_ADD   ? C_ADD
                           : in->op == AC_L_SUB ? C_SUB
                                                : C_MUL,
                           as_unsigned(f, in->a, u), as_unsigned(f, in->b, u));
    return converted(f->file, u, d, arg(f, x));
}

ac_cexpr ac_c_exact(ac_cfile *F, ac_cexpr e, ac_dtype d)
{
    return e.exact || !ac_c_is_small(d) ? e : ac_c_cast(F->region, ac_dtype_c(d), e);
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
        const ac_cexpr a = as_unsigned(f, in->a, u);
        return converted(f->file, d, u, ac_c_binary(r, op, a, as_unsigned(f, in->b, u)));
    }
    if (d == AC_U16 && op == C_MUL) /* int would overflow */
        return exact_cast(f, d, ac_c_binary(r, op, as_unsigned(f, in->a, AC_U32), as_unsigned(f, in->b, AC_U32)));
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
        by = as_unsigned(f, in->b, word_of((ac_dtype)c_ins(f, in->b)->dtype));
    if (in->op == AC_L_SHR)
        return ac_c_binary(r, C_SHR, arg(f, in->a), by);
    ac_dtype u = word_of(d);
    ac_cexpr e = ac_c_binary(r, C_SHL, as_unsigned(f, in->a, u), by);
    return u == d ? e : converted(f->file, d, u, e);
}

/* Two readings of one variable may have the same text: compilers warn about `v < v`, so it is decided here. */
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
    ac_cexpr e = ac_c_binary(r, C_SUB, ac_c_atom("0u"), as_unsigned(f, in->a, u));
    return u == d ? e : converted(f->file, d, u, e);
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
    ac_cexpr u = as_unsigned(f, in->a, word_of(d));
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
    if (to == AC_I32) { /* small numbers have small types in MISRA's eyes */
        one = exact_cast(f, to, one);
        zero = exact_cast(f, to, zero);
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
    if (is_half(from)) {
        e = ac_c_call(r, ac_c_helper(F, from == AC_F16 ? "f32_from_f16" : "f32_from_bf16"), e);
        return convert(f, e, AC_F32, to);
    }
    if (is_half(to)) {
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
    return narrows ? ac_c_cast(r, ac_dtype_c(to), e) : converted(F, to, from, e);
}

/* A shift by a number joins the instruction. */
static ac_cexpr saturate_byte(ac_cfn *f, const ac_ins *in)
{
    ac_cfile *F = f->file;
    const ac_ins *from = c_ins(f, in->a);
    const ac_cexpr a = arg(f, in->a);
    if (from->op == AC_L_SHR && a.top == C_SHR && c_is_const(f, from->b)) {
        const ac_cexpr n = arg(f, from->b);
        if (n.text[0] >= '1' && n.text[0] <= '9')
            return ac_c_call2(F->region, ac_c_sat_byte_helper(F, (ac_dtype)in->dtype, true), arg(f, from->a), n);
    }
    return ac_c_call(F->region, ac_c_sat_byte_helper(F, (ac_dtype)in->dtype, false), a);
}

static ac_cexpr saturate(ac_cfn *f, const ac_ins *in)
{
    ac_cfile *F = f->file;
    ac_region *r = F->region;
    ac_dtype from = (ac_dtype)c_ins(f, in->a)->dtype, to = (ac_dtype)in->dtype;
    ac_cexpr a = arg(f, in->a);
    if (ac_c_sat_is_call(f->fn, F->target, in))
        return saturate_byte(f, in);
    if (is_half(from)) {
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
    ac_cexpr e = arg(f, in->a);
    bool from_float = from == AC_F32 || from == AC_F64, to_float = to == AC_F32 || to == AC_F64;
    if (from == to || (from_float && to_float))
        return e;
    if (from_float) {
        ac_dtype bits = ac_c_unsigned(ac_dtype_bits(from));
        e = ac_c_call(r, ac_c_helper(F, from == AC_F64 ? "bits_of_f64" : "bits_of_f32"), e);
        return to == bits ? e : exact_cast(f, to, e);
    }
    if (to_float) {
        ac_dtype bits = ac_c_unsigned(ac_dtype_bits(to));
        if (from != bits)
            e = converted(F, bits, from, e);
        return ac_c_call(r, ac_c_helper(F, to == AC_F64 ? "of_bits_f64" : "of_bits_f32"), e);
    }
    if (ac_c_strict(F) && (to == AC_U32 || to == AC_U64))
        return as_unsigned(f, in->a, to);
    return converted(F, to, from, e);
}

static ac_cexpr select(ac_cfn *f, const ac_ins *in)
{
    ac_region *r = f->file->region;
    ac_cexpr cond = arg(f, in->a);
    if (cond.top == C_COND && !ac_c_strict(f->file)) /* "integer constants in boolean context" */
        cond = ac_c_binary(r, C_NE, cond, ac_c_int(r, 0));
    return ac_c_cond(r, cond, beside(f, in->b, in->c), beside(f, in->c, in->b));
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
        if (ac_c_strict(F) && (d == AC_U32 || d == AC_U64) && ac_dtype_is_int((ac_dtype)c_ins(f, in->a)->dtype))
            return as_unsigned(f, in->a, d);
        /* what is made of a name has its type there: a product of it would be narrower than what it is put in */
        if (ac_c_strict(F) && d == AC_I32 && c_ins(f, in->a)->dtype == AC_I16 && !f->use[in->a].join)
            return ac_c_cast(r, "int32_t", a);
        return convert(f, a, (ac_dtype)c_ins(f, in->a)->dtype, d);
    case AC_L_SATCAST:
        return saturate(f, in);
    case AC_L_BITCAST:
        return bitcast(f, in);
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
