/* vector_ops.c - prints an instruction with several lanes as a C expression over GNU vector types. Operators of C work
 * on vectors in gcc and clang; everything else is a call of a small function of vector_helpers.c. Nothing is promoted
 * to int here: i8 lanes stay i8. */
#include "codegen/c/printer.h"

#include <string.h>

bool ac_c_vec_ok(const ac_target *t, ac_dtype d, int32_t lanes)
{
    if (d == AC_NONE || (lanes & (lanes - 1)))
        return false;
    return d == AC_BOOL ? lanes <= t->vec_bytes : lanes * ac_dtype_bits(d) <= t->vec_bytes * 8;
}

const char *ac_c_vec_type(ac_cfile *F, ac_dtype d, int32_t lanes)
{
    const char *name = ac_internf(F->cx, "%sx%d", ac_dtype_name(d), lanes);
    if (!ac_c_have(F, name))
        ac_putf(&F->types, "typedef %s %s __attribute__((vector_size(%d), may_alias));\n", ac_dtype_c(d), name,
                lanes * ac_dtype_bits(d) / 8);
    return name;
}

static const char *loose_type(ac_cfile *F, ac_dtype d, int32_t lanes)
{
    const char *name = ac_internf(F->cx, "%sx%d_u", ac_dtype_name(d), lanes);
    int bytes = ac_dtype_bits(d) / 8;
    if (!ac_c_have(F, name))
        ac_putf(&F->types, "typedef %s %s __attribute__((vector_size(%d), aligned(%d), may_alias));\n", ac_dtype_c(d),
                name, lanes * bytes, bytes);
    return name;
}

ac_dtype ac_c_mask_type(int32_t bits)
{
    return bits == 64 ? AC_I64 : bits == 32 ? AC_I32 : bits == 16 ? AC_I16 : AC_I8;
}

ac_cexpr ac_c_vec_as(ac_cfile *F, ac_cexpr e, ac_dtype d, int32_t lanes)
{
    return ac_c_cast(F->region, ac_c_vec_type(F, d, lanes), e);
}

ac_cexpr ac_c_vec(ac_cfn *f, ac_x x)
{
    ac_cval *v = &f->val[x];
    const ac_ins *in = c_ins(f, x);
    if (v->e.text)
        return v->e;
    ac_dtype d = in->dtype == AC_BOOL ? ac_c_mask_type(v->mask) : (ac_dtype)in->dtype;
    return ac_c_call(f->file->region, ac_c_vec_helper(f->file, AC_L_SPLAT, d, in->lanes, d), v->one);
}

ac_cexpr ac_c_mask_as(ac_cfn *f, ac_x x, int32_t bits)
{
    ac_cexpr e = ac_c_vec(f, x);
    const ac_dtype from = ac_c_mask_type(f->val[x].mask), to = ac_c_mask_type(bits);
    return from == to ? e : ac_c_call(f->file->region, ac_c_vec_convert(f->file, from, to, c_ins(f, x)->lanes), e);
}

/* An operand of a C operator: one lane suffices if the other operand is a vector. Its C type must be that of the
 * lane. */
static ac_cexpr operand(ac_cfn *f, ac_x x, ac_x partner)
{
    ac_dtype d = (ac_dtype)c_ins(f, x)->dtype;
    if (!f->val[x].one.text || f->val[partner].one.text || d == AC_BOOL)
        return ac_c_vec(f, x);
    return ac_c_exact(f->file, f->val[x].one, d);
}

static ac_cexpr unsigned_operand(ac_cfn *f, ac_x x, ac_x partner)
{
    ac_cfile *F = f->file;
    const ac_ins *in = c_ins(f, x);
    ac_dtype u = ac_c_unsigned(ac_dtype_bits((ac_dtype)in->dtype));
    if (f->val[x].one.text && !f->val[partner].one.text) {
        if (in->op == AC_L_CONST) {
            uint64_t k = (uint64_t)in->k.i;
            int bits = ac_dtype_bits(u);
            return bits == 64 ? ac_c_uint64(F->region, k) : ac_c_uint(F->region, k & ((UINT64_C(1) << bits) - 1));
        }
        return ac_c_cast(F->region, ac_dtype_c(u), f->val[x].one);
    }
    return in->dtype == u ? ac_c_vec(f, x) : ac_c_vec_as(F, ac_c_vec(f, x), u, in->lanes);
}

static ac_cexpr arithmetic(ac_cfn *f, const ac_ins *in, ac_cop op)
{
    ac_cfile *F = f->file;
    ac_dtype d = (ac_dtype)in->dtype;
    if (ac_dtype_is_signed(d) && (in->flags & AC_F_WRAP)) {
        ac_cexpr e = ac_c_binary(F->region, op, unsigned_operand(f, in->a, in->b), unsigned_operand(f, in->b, in->a));
        return ac_c_vec_as(F, e, d, in->lanes);
    }
    return ac_c_binary(F->region, op, operand(f, in->a, in->b), operand(f, in->b, in->a));
}

static bool is_shift_by_32(const ac_cfn *f, ac_x x, ac_lop op)
{
    const ac_ins *in = c_ins(f, x);
    return in->op == op && in->dtype == AC_I64 && c_is_const(f, in->b) && c_ins(f, in->b)->k.i == 32;
}

/* A factor of the wide product, which reads low halves only: (v << 32) >> 32 that is used nowhere else is v. */
static ac_cexpr factor(ac_cfn *f, ac_x x)
{
    ac_x up = c_ins(f, x)->a;
    if (is_shift_by_32(f, x, AC_L_SHR) && is_shift_by_32(f, up, AC_L_SHL) && f->val[x].e.top != C_ATOM &&
        f->val[up].e.top != C_ATOM)
        return ac_c_vec(f, c_ins(f, up)->a);
    return ac_c_vec(f, x);
}

static ac_cexpr multiply(ac_cfn *f, const ac_ins *in)
{
    ac_cfile *F = f->file;
    const char *wide = NULL;
    if (in->dtype == AC_I64 && f->val[in->a].narrow && f->val[in->b].narrow)
        wide = ac_c_vec_wide_mul(F, in->lanes);
    return wide ? ac_c_call2(F->region, wide, factor(f, in->a), factor(f, in->b)) : arithmetic(f, in, C_MUL);
}

static ac_cexpr shift(ac_cfn *f, const ac_ins *in)
{
    ac_cfile *F = f->file;
    ac_dtype d = (ac_dtype)in->dtype, u = ac_c_unsigned(ac_dtype_bits(d));
    bool left = in->op == AC_L_SHL;
    ac_cexpr a = ac_c_vec(f, in->a);
    if (left && d != u)
        a = ac_c_vec_as(F, a, u, in->lanes);
    ac_cexpr by = f->val[in->b].one.text ? ac_c_exact(F, f->val[in->b].one, d) : ac_c_vec(f, in->b);
    if (left && d != u && !f->val[in->b].one.text)
        by = ac_c_vec_as(F, by, u, in->lanes);
    if (c_is_const(f, in->b))
        by = ac_c_int(F->region, c_ins(f, in->b)->k.i);
    ac_cexpr e = ac_c_binary(F->region, left ? C_SHL : C_SHR, a, by);
    return left && d != u ? ac_c_vec_as(F, e, d, in->lanes) : e;
}

static int32_t wider_mask(const ac_cfn *f, ac_x a, ac_x b)
{
    return f->val[a].mask > f->val[b].mask ? f->val[a].mask : f->val[b].mask;
}

static ac_cval compare(ac_cfn *f, const ac_ins *in, ac_cop op)
{
    ac_cfile *F = f->file;
    const ac_ins *a = c_ins(f, in->a);
    ac_cval v = {.mask = ac_dtype_bits((ac_dtype)a->dtype)};
    ac_cexpr e;
    if (a->dtype == AC_BOOL) {
        v.mask = wider_mask(f, in->a, in->b);
        const ac_cexpr y = ac_c_mask_as(f, in->b, v.mask), x = ac_c_mask_as(f, in->a, v.mask);
        e = ac_c_binary(F->region, op, x, y);
    } else {
        const ac_cexpr y = operand(f, in->b, in->a), x = operand(f, in->a, in->b);
        e = ac_c_binary(F->region, op, x, y);
    }
    v.e = ac_c_vec_as(F, e, ac_c_mask_type(v.mask), in->lanes);
    return v;
}

static ac_cval logic(ac_cfn *f, const ac_ins *in, ac_cop op)
{
    ac_cval v = {0};
    if (in->dtype == AC_BOOL) {
        v.mask = wider_mask(f, in->a, in->b);
        const ac_cexpr y = ac_c_mask_as(f, in->b, v.mask), x = ac_c_mask_as(f, in->a, v.mask);
        v.e = ac_c_binary(f->file->region, op, x, y);
    } else {
        const ac_cexpr y = operand(f, in->b, in->a), x = operand(f, in->a, in->b);
        v.e = ac_c_binary(f->file->region, op, x, y);
    }
    return v;
}

static ac_cval select(ac_cfn *f, const ac_ins *in)
{
    ac_cfile *F = f->file;
    ac_region *r = F->region;
    ac_cval v = {0};
    ac_dtype d = (ac_dtype)in->dtype;
    ac_cexpr b, c;
    if (d == AC_BOOL) {
        v.mask = wider_mask(f, in->b, in->c);
        if (c_ins(f, in->a)->lanes > 1 && f->val[in->a].mask > v.mask)
            v.mask = f->val[in->a].mask;
        d = ac_c_mask_type(v.mask);
        b = ac_c_mask_as(f, in->b, v.mask);
        c = ac_c_mask_as(f, in->c, v.mask);
    } else {
        b = ac_c_vec(f, in->b);
        c = ac_c_vec(f, in->c);
    }
    if (c_ins(f, in->a)->lanes <= 1) {
        v.e = ac_c_cond(r, f->val[in->a].e, b, c);
        return v;
    }
    const ac_cexpr mask = ac_c_mask_as(f, in->a, ac_dtype_bits(d)); /* its helper is printed before that of select */
    v.e = ac_c_call3(r, ac_c_vec_helper(F, AC_L_SELECT, d, in->lanes, d), mask, b, c);
    return v;
}

/* (i32x4){1, 2, 3, 4} */
static ac_cexpr list(ac_cfn *f, ac_dtype d, int32_t lanes, const char *const *lane)
{
    ac_sink s;
    ac_sink_open(&s, f->file->cx);
    ac_putf(&s, "(%s){", ac_c_vec_type(f->file, d, lanes));
    for (int32_t i = 0; i < lanes; i++)
        ac_putf(&s, "%s%s", i ? ", " : "", lane[i]);
    ac_put(&s, "}");
    return ac_c_atom(ac_sink_text(&s));
}

static ac_cval const_lanes(ac_cfn *f, const ac_ins *in)
{
    ac_region *r = f->file->region;
    const char **lane = AC_NEW_N(r, const char *, in->lanes);
    ac_cval v = {.narrow = in->dtype == AC_I64};
    for (int32_t i = 0; i < in->lanes; i++) {
        ac_ins one = *in;
        int64_t k = f->fn->pool.item[in->aux + i];
        memcpy(&one.k, &k, sizeof k);
        if (in->dtype == AC_BOOL)
            one.k.i = -one.k.i;
        v.narrow &= k >= INT32_MIN && k <= INT32_MAX;
        lane[i] = ac_c_const(f->file, (ac_dtype)in->dtype, &one).text;
    }
    if (in->dtype == AC_BOOL)
        v.mask = 8;
    v.e = list(f, in->dtype == AC_BOOL ? AC_I8 : (ac_dtype)in->dtype, in->lanes, lane);
    return v;
}

/* One lane of a vector, as an expression. */
static ac_cexpr lane_of(ac_cfn *f, ac_x x, int64_t lane)
{
    ac_region *r = f->file->region;
    const ac_ins *in = c_ins(f, x);
    if (in->lanes <= 1)
        return f->val[x].e;
    if (f->val[x].one.text && in->dtype != AC_BOOL)
        return f->val[x].one;
    ac_cexpr e = ac_c_vec(f, x);
    ac_cexpr at = ac_c_atom(ac_strf(r, e.top == C_ATOM ? "%s[%d]" : "(%s)[%d]", e.text, (int)lane));
    return in->dtype == AC_BOOL ? ac_c_binary(r, C_NE, at, ac_c_int(r, 0)) : at;
}

/* a0 b0 a1 b1 ..: a common pattern with a long text. */
static bool is_zip(const int64_t *pattern, int32_t lanes)
{
    bool zip = lanes >= 8;
    for (int32_t i = 0; i < lanes && zip; i++)
        zip = pattern[i] == ac_zip_lane(i, lanes / 2);
    return zip;
}

static ac_cval shuffle(ac_cfn *f, const ac_ins *in)
{
    ac_cfile *F = f->file;
    const int64_t *pattern = &f->fn->pool.item[in->aux];
    const ac_ins *a = c_ins(f, in->a);
    ac_x second = in->b ? in->b : in->a;
    int32_t n = a->lanes;
    ac_cval v = {0};
    if (in->lanes <= 1) {
        v.e = pattern[0] < n ? lane_of(f, in->a, pattern[0]) : lane_of(f, in->b, pattern[0] - n);
        return v;
    }
    bool is_bool = in->dtype == AC_BOOL;
    if (n > 1 && c_ins(f, second)->lanes == n) {
        v.mask = is_bool ? wider_mask(f, in->a, second) : 0;
        v.narrow = f->val[in->a].narrow && f->val[second].narrow;
        ac_cexpr ea = is_bool ? ac_c_mask_as(f, in->a, v.mask) : ac_c_vec(f, in->a);
        ac_cexpr eb = is_bool ? ac_c_mask_as(f, second, v.mask) : ac_c_vec(f, second);
        if (!is_bool && in->lanes == 2 * n && is_zip(pattern, in->lanes)) {
            const ac_dtype d = (ac_dtype)in->dtype;
            v.e = ac_c_atom(
                ac_strf(F->region, "%s(%s, %s)", ac_c_vec_helper(F, AC_L_SHUFFLE, d, in->lanes, d), ea.text, eb.text));
            return v;
        }
        ac_sink s;
        ac_sink_open(&s, F->cx);
        ac_putf(&s, "__builtin_shufflevector(%s, %s", ea.text, eb.text);
        for (int32_t i = 0; i < in->lanes; i++)
            ac_putf(&s, ", %d", (int)pattern[i]);
        ac_put(&s, ")");
        v.e = ac_c_atom(ac_sink_text(&s));
        return v;
    }
    const char **lane = AC_NEW_N(F->region, const char *, in->lanes);
    for (int32_t i = 0; i < in->lanes; i++) {
        ac_cexpr e = pattern[i] < n ? lane_of(f, in->a, pattern[i]) : lane_of(f, in->b, pattern[i] - n);
        lane[i] = is_bool ? ac_c_unary(F->region, '-', e).text : ac_c_exact(F, e, (ac_dtype)in->dtype).text;
    }
    v.mask = is_bool ? 8 : 0;
    v.e = list(f, is_bool ? AC_I8 : (ac_dtype)in->dtype, in->lanes, lane);
    return v;
}

/* *(const f32x16_u *)&x[i] */
static ac_cexpr place(ac_cfn *f, int32_t buf, ac_x index, int32_t lanes, uint8_t flags, bool store)
{
    ac_cfile *F = f->file;
    ac_dtype d = f->fn->buf.item[buf].dtype;
    if (d == AC_BOOL)
        d = AC_U8;
    const char *type = flags & AC_F_ALIGNED ? ac_c_vec_type(F, d, lanes) : loose_type(F, d, lanes);
    ac_cexpr at = ac_c_index(F->region, f->buf[buf], f->val[index].e);
    return (ac_cexpr){ac_strf(F->region, "*(%s%s *)&%s", store ? "" : "const ", type, at.text), C_UNARY, true};
}

void ac_c_vec_store(ac_cfn *f, ac_x store)
{
    const ac_ins *in = c_ins(f, store);
    int32_t lanes = c_ins(f, in->b)->lanes;
    ac_cexpr to = place(f, in->aux, in->a, lanes, in->flags, true), e;
    if (f->fn->buf.item[in->aux].dtype == AC_BOOL) {
        e = ac_c_vec_as(f->file, ac_c_mask_as(f, in->b, 8), AC_U8, lanes);
        e = ac_c_binary(f->file->region, C_AND, e, ac_c_int(f->file->region, 1));
    } else {
        e = ac_c_vec(f, in->b);
    }
    for (int32_t i = 0; i < f->depth; i++)
        ac_put(f->to, "    ");
    ac_putf(f->to, "%s = %s;\n", to.text, e.text);
}

static ac_cexpr call(ac_cfn *f, const ac_ins *in)
{
    ac_cfile *F = f->file;
    ac_region *r = F->region;
    int32_t lanes = in->op == AC_L_SUMLANES || in->op == AC_L_MAXLANES ? c_ins(f, in->a)->lanes : in->lanes;
    const ac_dtype from = (ac_dtype)c_ins(f, in->a)->dtype;
    const char *name =
        in->op == AC_L_DOT4 && from == AC_U8 && ac_ins_pairs_fit(f->fn, in) ? ac_c_vec_dot4_seven(F, lanes) : NULL;
    name = name ? name : ac_c_vec_helper(F, (ac_lop)in->op, (ac_dtype)in->dtype, lanes, from);
    if (!name)
        return (ac_cexpr){0};
    ac_cexpr a = ac_c_vec(f, in->a);
    if (!in->b)
        return ac_c_call(r, name, a);
    if (!in->c)
        return ac_c_call2(r, name, a, ac_c_vec(f, in->b));
    return ac_c_call3(r, name, a, ac_c_vec(f, in->b),
                      c_ins(f, in->c)->lanes > 1 ? ac_c_vec(f, in->c) : f->val[in->c].e);
}

static ac_cexpr unary(ac_cfn *f, const ac_ins *in)
{
    ac_cfile *F = f->file;
    ac_dtype d = (ac_dtype)in->dtype;
    if (in->op == AC_L_NOT)
        return ac_c_unary(F->region, '~', ac_c_vec(f, in->a));
    if (!ac_dtype_is_signed(d) || !(in->flags & AC_F_WRAP))
        return ac_c_unary(F->region, '-', ac_c_vec(f, in->a));
    ac_dtype u = ac_c_unsigned(ac_dtype_bits(d));
    return ac_c_vec_as(F, ac_c_unary(F->region, '-', ac_c_vec_as(F, ac_c_vec(f, in->a), u, in->lanes)), d, in->lanes);
}

static ac_cval splat(ac_cfn *f, const ac_ins *in)
{
    ac_region *r = f->file->region;
    const ac_ins *a = c_ins(f, in->a);
    ac_cval v = {.one = f->val[in->a].e};
    if (in->dtype == AC_BOOL) {
        v.mask = 8;
        v.one = ac_c_cast(r, "int8_t", ac_c_unary(r, '-', v.one));
        return v;
    }
    v.one = ac_c_exact(f->file, v.one, (ac_dtype)in->dtype);
    ac_dtype from = a->op == AC_L_CAST ? (ac_dtype)c_ins(f, a->a)->dtype : AC_NONE;
    v.narrow = in->dtype == AC_I64 && (from == AC_I32 || (ac_dtype_is_int(from) && ac_dtype_bits(from) < 32));
    return v;
}

ac_cval ac_c_vector(ac_cfn *f, ac_x x)
{
    ac_cfile *F = f->file;
    const ac_ins *in = c_ins(f, x);
    ac_dtype d = (ac_dtype)in->dtype;
    ac_cval v = {0};
    switch ((ac_lop)in->op) {
    case AC_L_CONST:
        v.one = ac_c_const(F, d, in);
        v.narrow = d == AC_I64 && in->k.i >= INT32_MIN && in->k.i <= INT32_MAX;
        if (d == AC_BOOL) {
            v.mask = 8;
            v.one = ac_c_int(F->region, -in->k.i);
        }
        break;
    case AC_L_CONSTV:
        return const_lanes(f, in);
    case AC_L_GET:
        v.e = f->val[in->aux].e;
        v.mask = f->val[in->aux].mask;
        break;
    case AC_L_LOAD:
        v.e = place(f, in->aux, in->a, in->lanes, in->flags, false);
        if (d == AC_BOOL) {
            v.mask = 8;
            v.e = ac_c_vec_as(F, ac_c_binary(F->region, C_NE, v.e, ac_c_int(F->region, 0)), AC_I8, in->lanes);
        }
        break;
    case AC_L_ADD:
        v.e = arithmetic(f, in, C_ADD);
        break;
    case AC_L_SUB:
        v.e = arithmetic(f, in, C_SUB);
        break;
    case AC_L_MUL:
        v.e = multiply(f, in);
        break;
    case AC_L_DIV:
        v.e = arithmetic(f, in, C_DIV);
        break;
    case AC_L_MOD:
        v.e = arithmetic(f, in, C_MOD);
        break;
    case AC_L_AND:
        return logic(f, in, C_AND);
    case AC_L_OR:
        return logic(f, in, C_OR);
    case AC_L_XOR:
        return logic(f, in, C_XOR);
    case AC_L_SHL:
    case AC_L_SHR:
        v.e = shift(f, in);
        v.narrow = d == AC_I64 && c_is_const(f, in->b) && c_ins(f, in->b)->k.i >= 32;
        break;
    case AC_L_EQ:
        return compare(f, in, C_EQ);
    case AC_L_NE:
        return compare(f, in, C_NE);
    case AC_L_LT:
        return compare(f, in, C_LT);
    case AC_L_LE:
        return compare(f, in, C_LE);
    case AC_L_NEG:
    case AC_L_NOT:
        v.e = unary(f, in);
        v.mask = f->val[in->a].mask;
        break;
    case AC_L_SELECT:
        return select(f, in);
    case AC_L_CAST:
        return ac_c_vec_cast(f, in);
    case AC_L_SATCAST:
        v.e = ac_c_vec_satcast(f, in);
        break;
    case AC_L_BITCAST:
        v.e = ac_c_vec_bitcast(f, in);
        break;
    case AC_L_SPLAT:
        return splat(f, in);
    case AC_L_LANE:
        v.e = lane_of(f, in->a, in->aux);
        break;
    case AC_L_SHUFFLE:
        return shuffle(f, in);
    // clang-format off
    case AC_L_MIN: case AC_L_MAX: case AC_L_ABS: case AC_L_SQRT: case AC_L_FLOOR: case AC_L_CEIL: case AC_L_TRUNC:
    case AC_L_RINT: case AC_L_FMA: case AC_L_DOT4: case AC_L_DOT2: case AC_L_SUMLANES: case AC_L_MAXLANES:
        v.e = call(f, in);
        break;
    case AC_L_NONE: case AC_L_VAR: case AC_L_SET: case AC_L_STORE: case AC_L_PREFETCH: case AC_L_MMA:
    case AC_L_TILE: case AC_L_REQUANT: case AC_L_FOR: case AC_L_IF: case AC_L_ELSE: case AC_L_END:
    case AC_L_BREAK_IF: case AC_L_FAIL_IF: case AC_L_COUNT:
        break;
        // clang-format on
    }
    return v;
}
