/* split_vectors.c - splits vectors wider than a register into several vectors of register size.
 *
 *     before (32-byte registers):  %5 = cast i64x8 %4                 %4 is i32x8
 *     after:   %5 = shuffle i32x4 %4 (0 1 2 3)   %6 = cast i64x4 %5
 *              %7 = shuffle i32x4 %4 (4 5 6 7)   %8 = cast i64x4 %7
 *
 * gcc keeps vectors wider than a register in memory and works on them lane by lane; split, they stay in registers. The
 * parts of a value all have the same lanes; an operation is done in parts as small as its widest operand needs, and
 * shuffles split or join parts if the next operation needs another size. Every lane is computed as before: results are
 * bit-identical. */
#include "codegen/c/printer.h"

#include <string.h>

typedef struct parts {
    int32_t n, lanes; /* n values of `lanes` lanes; lanes are those of the original in order */
    ac_x *v;
} parts;

typedef struct splitter {
    ac_region *r;
    const ac_loop_fn *from;
    ac_loop_fn *to;
    parts *of; /* by instruction of `from` */
    int32_t bytes;
} splitter;

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t fit(const splitter *s, ac_dtype d, int32_t lanes)
{
    return d == AC_BOOL || lanes <= 1 ? lanes : least(lanes, s->bytes * 8 / ac_dtype_bits(d));
}

static ac_x emit(splitter *s, ac_ins in)
{
    ac_push(s->r, &s->to->code, in);
    return s->to->code.n - 1;
}

static ac_x emit_shuffle(splitter *s, ac_dtype d, ac_x a, ac_x b, const int64_t *pattern, int32_t lanes)
{
    ac_ins in = {.op = AC_L_SHUFFLE, .dtype = (uint8_t)d, .lanes = (uint16_t)lanes, .a = a, .b = b};
    in.aux = s->to->pool.n;
    for (int32_t i = 0; i < lanes; i++)
        ac_push(s->r, &s->to->pool, pattern[i]);
    return emit(s, in);
}

static ac_x emit_range(splitter *s, ac_dtype d, ac_x a, ac_x b, int32_t first, int32_t lanes)
{
    int64_t *pattern = AC_NEW_N(s->r, int64_t, lanes);
    for (int32_t i = 0; i < lanes; i++)
        pattern[i] = first + i;
    return emit_shuffle(s, d, a, b, pattern, lanes);
}

static parts new_parts(splitter *s, int32_t total, int32_t lanes)
{
    return (parts){.n = total / lanes, .lanes = lanes, .v = AC_NEW_N(s->r, ac_x, total / lanes)};
}

/* The parts of x with `lanes` lanes each. */
static parts at(splitter *s, ac_x x, int32_t lanes)
{
    parts p = s->of[x];
    ac_dtype d = (ac_dtype)s->from->code.item[x].dtype;
    while (p.lanes < lanes) {
        parts q = new_parts(s, p.n * p.lanes, p.lanes * 2);
        for (int32_t i = 0; i < q.n; i++)
            q.v[i] = emit_range(s, d, p.v[2 * i], p.v[2 * i + 1], 0, q.lanes);
        p = q;
    }
    if (p.lanes == lanes)
        return p;
    parts q = new_parts(s, p.n * p.lanes, lanes);
    for (int32_t i = 0; i < q.n; i++)
        q.v[i] = emit_range(s, d, p.v[i * lanes / p.lanes], 0, i * lanes % p.lanes, lanes);
    return q;
}

static ac_x one(const splitter *s, ac_x x)
{
    return x ? s->of[x].v[0] : 0;
}

/* Casts between floats and narrow integers, and all of half floats, are printed with 32-bit lanes in between. */
static bool is_cast_by_words(const ac_loop_fn *fn, const ac_ins *in)
{
    if (in->op != AC_L_CAST && in->op != AC_L_SATCAST)
        return false;
    ac_dtype to = (ac_dtype)in->dtype, from = (ac_dtype)fn->code.item[in->a].dtype;
    return ac_dtype_bits(to) <= 16 && ac_dtype_bits(from) <= 16 && from != to &&
           (ac_dtype_is_float(to) || ac_dtype_is_float(from));
}

/* Lane-wise operations: the same instruction on each part. */
static parts lanewise(splitter *s, const ac_ins *in)
{
    const ac_x operand[3] = {in->a, in->b, in->c};
    int32_t lanes = fit(s, (ac_dtype)in->dtype, in->lanes);
    parts arg[3] = {{0}};
    if (is_cast_by_words(s->from, in))
        lanes = least(lanes, fit(s, AC_I32, in->lanes));
    for (int k = 0; k < 3; k++) {
        const ac_ins *o = &s->from->code.item[operand[k]];
        if (operand[k] && o->lanes > 1)
            lanes = least(lanes, o->dtype == AC_BOOL ? s->of[operand[k]].lanes : fit(s, (ac_dtype)o->dtype, o->lanes));
    }
    for (int k = 0; k < 3; k++)
        if (operand[k] && s->from->code.item[operand[k]].lanes > 1)
            arg[k] = at(s, operand[k], lanes);
    parts p = new_parts(s, in->lanes, lanes);
    for (int32_t i = 0; i < p.n; i++) {
        ac_ins part = *in;
        part.lanes = (uint16_t)lanes;
        part.a = arg[0].n ? arg[0].v[i] : one(s, in->a);
        part.b = arg[1].n ? arg[1].v[i] : one(s, in->b);
        part.c = arg[2].n ? arg[2].v[i] : one(s, in->c);
        p.v[i] = emit(s, part);
    }
    return p;
}

static ac_x index_plus(splitter *s, ac_x index, int32_t more)
{
    ac_ins base = s->to->code.item[index];
    ac_ins k = {.op = AC_L_CONST, .dtype = AC_I32, .lanes = 1, .k.i = more};
    if (!more)
        return index;
    if (base.op == AC_L_CONST) {
        k.k.i += base.k.i;
        return emit(s, k);
    }
    ac_ins add = {.op = AC_L_ADD, .dtype = AC_I32, .lanes = 1, .a = index};
    add.b = emit(s, k);
    return emit(s, add);
}

static parts load(splitter *s, const ac_ins *in)
{
    int32_t lanes = in->dtype == AC_BOOL ? least(in->lanes, s->bytes) : fit(s, (ac_dtype)in->dtype, in->lanes);
    parts p = new_parts(s, in->lanes, lanes);
    for (int32_t i = 0; i < p.n; i++) {
        ac_ins part = *in;
        part.lanes = (uint16_t)lanes;
        part.a = index_plus(s, one(s, in->a), i * lanes);
        p.v[i] = emit(s, part);
    }
    return p;
}

static void store(splitter *s, const ac_ins *in)
{
    parts v = s->of[in->b];
    for (int32_t i = 0; i < v.n; i++) {
        ac_ins part = *in;
        part.a = index_plus(s, one(s, in->a), i * v.lanes);
        part.b = v.v[i];
        part.lanes = (uint16_t)v.lanes;
        emit(s, part);
    }
}

/* The same value in every part. */
static parts repeated(splitter *s, const ac_ins *in)
{
    ac_ins part = *in;
    int32_t lanes = in->dtype == AC_BOOL ? least(in->lanes, s->bytes) : fit(s, (ac_dtype)in->dtype, in->lanes);
    part.lanes = (uint16_t)lanes;
    part.a = one(s, in->a);
    parts p = new_parts(s, in->lanes, lanes);
    ac_x v = emit(s, part);
    for (int32_t i = 0; i < p.n; i++)
        p.v[i] = v;
    return p;
}

static parts const_lanes(splitter *s, const ac_ins *in)
{
    int32_t lanes = in->dtype == AC_BOOL ? least(in->lanes, s->bytes) : fit(s, (ac_dtype)in->dtype, in->lanes);
    parts p = new_parts(s, in->lanes, lanes);
    for (int32_t i = 0; i < p.n; i++) {
        ac_ins part = *in;
        part.lanes = (uint16_t)lanes;
        part.aux = s->to->pool.n;
        for (int32_t l = 0; l < lanes; l++)
            ac_push(s->r, &s->to->pool, s->from->pool.item[in->aux + i * lanes + l]);
        p.v[i] = emit(s, part);
    }
    return p;
}

static parts variable(splitter *s, const ac_ins *in)
{
    parts init = s->of[in->a], p = new_parts(s, init.n * init.lanes, init.lanes);
    for (int32_t i = 0; i < p.n; i++) {
        ac_ins part = *in;
        part.lanes = (uint16_t)init.lanes;
        part.a = init.v[i];
        p.v[i] = emit(s, part);
    }
    return p;
}

static parts get(splitter *s, const ac_ins *in)
{
    parts var = s->of[in->aux], p = new_parts(s, var.n * var.lanes, var.lanes);
    for (int32_t i = 0; i < p.n; i++) {
        ac_ins part = *in;
        part.lanes = (uint16_t)var.lanes;
        part.aux = var.v[i];
        p.v[i] = emit(s, part);
    }
    return p;
}

static void set(splitter *s, const ac_ins *in)
{
    parts var = s->of[in->aux], v = at(s, in->a, var.lanes);
    for (int32_t i = 0; i < v.n; i++) {
        ac_ins part = *in;
        part.lanes = (uint16_t)var.lanes;
        part.a = v.v[i];
        part.aux = var.v[i];
        emit(s, part);
    }
}

static parts bitcast(splitter *s, const ac_ins *in)
{
    const ac_ins *a = &s->from->code.item[in->a];
    int32_t bits = ac_dtype_bits((ac_dtype)in->dtype), from_bits = ac_dtype_bits((ac_dtype)a->dtype);
    int32_t lanes = fit(s, (ac_dtype)in->dtype, in->lanes);
    parts v = at(s, in->a, lanes * bits / from_bits), p = new_parts(s, in->lanes, lanes);
    for (int32_t i = 0; i < p.n; i++) {
        ac_ins part = *in;
        part.lanes = (uint16_t)lanes;
        part.a = v.v[i];
        p.v[i] = emit(s, part);
    }
    return p;
}

static parts dot(splitter *s, const ac_ins *in, int32_t group)
{
    int32_t lanes = fit(s, AC_I32, in->lanes);
    parts a = at(s, in->a, lanes * group), b = at(s, in->b, lanes * group), c = at(s, in->c, lanes);
    parts p = new_parts(s, in->lanes, lanes);
    for (int32_t i = 0; i < p.n; i++) {
        ac_ins part = *in;
        part.lanes = (uint16_t)lanes;
        part.a = a.v[i];
        part.b = b.v[i];
        part.c = c.v[i];
        p.v[i] = emit(s, part);
    }
    return p;
}

/* Halves of parts first, then the halves inside the last part: the order loop.def defines. */
static parts reduce(splitter *s, const ac_ins *in)
{
    parts v = s->of[in->a];
    ac_ins step = {.op = in->op == AC_L_SUMLANES ? AC_L_ADD : AC_L_MAX, .dtype = in->dtype, .lanes = (uint16_t)v.lanes};
    step.flags = ac_dtype_is_float((ac_dtype)in->dtype) ? 0 : AC_F_WRAP;
    ac_x *sum = ac_copy(s->r, v.v, (size_t)v.n * sizeof *v.v);
    for (int32_t n = v.n / 2; n >= 1; n /= 2)
        for (int32_t i = 0; i < n; i++) {
            step.a = sum[i];
            step.b = sum[i + n];
            sum[i] = emit(s, step);
        }
    ac_ins last = *in;
    last.a = sum[0];
    parts p = new_parts(s, 1, 1);
    p.v[0] = emit(s, last);
    return p;
}

static parts shuffle(splitter *s, const ac_ins *in)
{
    const ac_ins *a = &s->from->code.item[in->a];
    ac_dtype d = (ac_dtype)in->dtype;
    int32_t source = s->of[in->a].lanes, lanes = d == AC_BOOL ? least(in->lanes, source) : fit(s, d, in->lanes);
    if (in->b && s->of[in->b].lanes < source)
        source = s->of[in->b].lanes;
    parts pa = at(s, in->a, source), pb = in->b ? at(s, in->b, source) : (parts){0};
    parts p = new_parts(s, in->lanes, lanes);
    int64_t *pattern = AC_NEW_N(s->r, int64_t, lanes);
    for (int32_t i = 0; i < p.n; i++) {
        const int64_t *want = &s->from->pool.item[in->aux + i * lanes];
        ac_x made = 0; /* lanes gathered so far, each already in its place */
        int32_t held = 0;
        for (int32_t q = 0; q < pa.n + pb.n; q++) {
            int64_t first = q < pa.n ? (int64_t)q * source : a->lanes + (int64_t)(q - pa.n) * source;
            bool used = false;
            for (int32_t l = 0; l < lanes; l++) {
                bool here = want[l] >= first && want[l] < first + source;
                used |= here;
                pattern[l] = made ? here ? held + want[l] - first : l : here ? want[l] - first : 0;
            }
            if (!used)
                continue;
            ac_x v = q < pa.n ? pa.v[q] : pb.v[q - pa.n];
            made = made ? emit_shuffle(s, d, made, v, pattern, lanes) : emit_shuffle(s, d, v, 0, pattern, lanes);
            held = lanes;
        }
        p.v[i] = made;
    }
    return p;
}

static parts lane(splitter *s, const ac_ins *in)
{
    parts v = s->of[in->a], p = new_parts(s, 1, 1);
    ac_ins part = *in;
    part.a = v.v[in->aux / v.lanes];
    part.aux = in->aux % v.lanes;
    p.v[0] = emit(s, part);
    return p;
}

static bool is_too_wide(const ac_loop_fn *fn, int32_t bytes, bool *impossible)
{
    bool wide = false;
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *in = &fn->code.item[x];
        if (in->lanes <= 1)
            continue;
        *impossible |= (in->lanes & (in->lanes - 1)) != 0;
        wide |= is_cast_by_words(fn, in) && in->lanes * 4 > bytes;
        wide |= in->lanes * (in->dtype == AC_BOOL ? 8 : ac_dtype_bits((ac_dtype)in->dtype)) > bytes * 8;
    }
    return wide;
}

static parts split(splitter *s, const ac_ins *in)
{
    switch ((ac_lop)in->op) {
    case AC_L_CONST:
    case AC_L_SPLAT:
        return repeated(s, in);
    case AC_L_CONSTV:
        return const_lanes(s, in);
    case AC_L_VAR:
        return variable(s, in);
    case AC_L_GET:
        return get(s, in);
    case AC_L_SET:
        set(s, in);
        return (parts){0};
    case AC_L_LOAD:
        return load(s, in);
    case AC_L_STORE:
        store(s, in);
        return (parts){0};
    case AC_L_BITCAST:
        return bitcast(s, in);
    case AC_L_DOT4:
        return dot(s, in, 4);
    case AC_L_DOT2:
        return dot(s, in, 2);
    case AC_L_SUMLANES:
    case AC_L_MAXLANES:
        return reduce(s, in);
    case AC_L_SHUFFLE:
        return shuffle(s, in);
    case AC_L_LANE:
        return lane(s, in);
    // clang-format off
    case AC_L_NONE: case AC_L_PREFETCH: case AC_L_ADD: case AC_L_SUB: case AC_L_MUL: case AC_L_DIV: case AC_L_MOD:
    case AC_L_MIN: case AC_L_MAX: case AC_L_NEG: case AC_L_ABS: case AC_L_SQRT: case AC_L_FLOOR: case AC_L_CEIL:
    case AC_L_TRUNC: case AC_L_RINT: case AC_L_AND: case AC_L_OR: case AC_L_XOR: case AC_L_NOT: case AC_L_SHL:
    case AC_L_SHR: case AC_L_EQ: case AC_L_NE: case AC_L_LT: case AC_L_LE: case AC_L_SELECT: case AC_L_CAST:
    case AC_L_SATCAST: case AC_L_FMA: case AC_L_MMA: case AC_L_TILE: case AC_L_REQUANT: case AC_L_FOR:
    case AC_L_IF: case AC_L_ELSE: case AC_L_END: case AC_L_BREAK_IF: case AC_L_FAIL_IF: case AC_L_COUNT:
        break;
        // clang-format on
    }
    return lanewise(s, in); /* statements of blocks too: they have one lane */
}

const ac_loop_fn *ac_c_split(ac_ctx *cx, const ac_loop_fn *fn, int32_t bytes)
{
    bool impossible = false, wide = is_too_wide(fn, bytes, &impossible);
    if (impossible)
        return NULL;
    if (!wide)
        return fn;
    splitter s = {.r = cx->region, .from = fn, .to = AC_NEW(cx->region, ac_loop_fn), .bytes = bytes};
    s.of = AC_NEW_N(cx->region, parts, fn->code.n);
    *s.to = (ac_loop_fn){.name = fn->name, .note = fn->note, .fails = fn->fails};
    for (int32_t i = 0; i < fn->buf.n; i++)
        ac_push(s.r, &s.to->buf, fn->buf.item[i]);
    ac_push(s.r, &s.to->code, (ac_ins){0});
    for (ac_x x = 1; x < fn->code.n; x++) {
        ac_ins in = fn->code.item[x];
        if (!in.lanes)
            in.lanes = 1; /* statements */
        s.of[x] = split(&s, &in);
    }
    return s.to;
}
