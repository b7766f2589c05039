/* eval.c - runs bytecode.
 *
 * The interpreter loop. Registers and buffers are read and written with memcpy of constant size, which is one move. */
#include "base/file.h"
#include "ir/loop/eval/bytecode.h"
#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"

#include <string.h>

typedef struct memory {
    char *p;
    uint64_t count; /* elements */
    uint64_t size;  /* bytes of one */
} memory;

/* Backward jumps before the evaluator gives up: a guard against a loop that a bug made endless. With `rests`, mapped
 * files are released (file.h) every so many jumps. */
static const int64_t BUDGET = (int64_t)1 << 40, REST = (int64_t)4 << 20;

// clang-format off
#define ACCESS(T, t)                                                 \
    static inline t get_##T(const char *r)                           \
    {                                                                \
        t v;                                                         \
        memcpy(&v, r, sizeof v);                                     \
        return v;                                                    \
    }                                                                \
    static inline void put_##T(char *r, t v) { memcpy(r, &v, sizeof v); }
ACCESS(I8, int8_t)
ACCESS(U8, uint8_t)
ACCESS(I16, int16_t)
ACCESS(U16, uint16_t)
ACCESS(I32, int32_t)
ACCESS(U32, uint32_t)
ACCESS(I64, int64_t)
ACCESS(U64, uint64_t)
ACCESS(F32, float)
ACCESS(F64, double)
ACCESS(BOOL, uint8_t)
// clang-format on

static int outside(ac_ctx *cx, const ac_program *p, uint32_t buf, int64_t from, uint32_t n, const char *what)
{
    const ac_buf *m = &p->buf[buf];
    return ac_error(cx, (ac_place){.node = p->name}, E0901,
                    "loop function '%s' %s elements %lld..%lld of buffer '%s', which has %lld", p->name, what,
                    (long long)from, (long long)(from + n - 1), m->name, (long long)m->count);
}

static bool has_zero(const char *r, const ac_bc *i)
{
    static const char ZERO[8];
    for (uint32_t l = 0; l < i->n; l++)
        if (!memcmp(r + i->a + l * i->c, ZERO, i->c))
            return true;
    return false;
}

/* One thread's part; false: outside of a buffer. */
static bool mma(const memory *mem, const ac_bc *i, const char *R)
{
    const uint32_t of_sums = (uint32_t)(i->u.imm >> 32) & 0xffff, threads = (uint32_t)((uint64_t)i->u.imm >> 48);
    const memory *acc = &mem[i->c], *words = &mem[i->u.imm & 0xffffffff];
    const uint32_t to = (uint32_t)get_I32(R + i->d), x = (uint32_t)get_I32(R + i->a), y = (uint32_t)get_I32(R + i->b);
    if ((uint64_t)to + 3ull * of_sums >= acc->count || (uint64_t)(x | 31) + 3ull * threads >= words->count ||
        (uint64_t)(y | 31) + threads >= words->count)
        return false;
    ac_mma_words w;
    const uint32_t row = to & 28, columns = (to & 3) * 8; /* the first of the threads whose words it needs */
    for (uint32_t l = row; l < row + 4; l++)
        for (uint32_t e = 0; e < 4; e++)
            memcpy(&w.a[l][e], words->p + ((size_t)(x & ~31u) + l + (size_t)e * threads) * 4, 4);
    for (uint32_t l = columns; l < columns + 8; l++)
        for (uint32_t e = 0; e < 2; e++)
            memcpy(&w.b[l][e], words->p + ((size_t)(y & ~31u) + l + (size_t)e * threads) * 4, 4);
    ac_mma((ac_dtype)i->n, &w, (int32_t)(to & 31), acc->p + (size_t)to * 4, (size_t)of_sums * 4);
    return true;
}

/* false: outside of a buffer. */
static bool tile(const memory *mem, const ac_bc *i, const char *R)
{
    const ac_tile t = ac_ins_tile(&(ac_ins){.aux = (int32_t)i->c, .k.i = i->u.imm});
    const bool spreads = t.form == AC_TILE_SPREAD;
    const memory *x = &mem[t.x], *w = &mem[spreads ? t.acc : t.w];
    const int64_t steps = get_I32(R + i->d);
    const uint64_t at = (uint32_t)get_I32(R + i->a), from = (uint32_t)get_I32(R + i->b);
    if (steps <= 0)
        return true;
    if (at + (uint64_t)ac_tile_reads(&t, steps) > x->count || from + (uint64_t)ac_tile_weights(&t, steps) > w->count)
        return false;
    ac_tile_run(&t, x->p + at * x->size, spreads ? NULL : (const int8_t *)w->p + from, steps,
                spreads ? w->p + from : mem[t.acc].p);
    return true;
}

/* false: outside of a buffer. */
static bool requant(const memory *mem, const ac_bc *i, const char *R)
{
    const ac_requants q = ac_ins_requant(&(ac_ins){.aux = (int32_t)i->c, .k.i = i->u.imm});
    const memory *y = &mem[q.y], *table = &mem[q.table];
    const uint64_t to = (uint32_t)get_I32(R + i->d), at = (uint32_t)get_I32(R + i->a),
                   bias = (uint32_t)get_I32(R + i->b);
    const uint64_t n = (uint64_t)q.lanes;
    if (to + n > y->count || at + 2 * n > table->count || bias + n > table->count)
        return false;
    const int32_t *k = (const int32_t *)(const void *)table->p;
    ac_requant_run(&q, (const int32_t *)(const void *)mem[q.acc].p, k + at, k + bias, (int8_t *)y->p + to);
    return true;
}

/* ------------------------------------------------------------------ loops that move elements */

typedef struct moved {
    char *p;
    int64_t step; /* bytes */
} moved;

/* The first element of a position, for `times` moves; false: one of them is outside, at element *bad. */
static bool first_of(const memory *mem, const ac_bc_place *e, uint32_t lanes, int64_t times, const char *R, moved *out,
                     int64_t *bad)
{
    const memory *m = &mem[e->buf];
    const uint64_t first = (uint32_t)get_I32(R + e->a) + (uint64_t)(uint32_t)get_I32(R + e->b);
    const int64_t at = (int64_t)(uint32_t)first, last = at + (times - 1) * e->step, most = (int64_t)m->count - lanes;
    if (at > most || last < 0 || last > most) {
        *bad = at > most ? (int32_t)at : last;
        return false;
    }
    *out = (moved){m->p + (uint64_t)at * m->size, e->step * (int64_t)m->size};
    return true;
}

/* Moves pairs one after the other, iteration by iteration: positions may overlap. */
static inline void move(int32_t n, size_t bytes, int64_t times, moved *from, moved *to)
{
    for (int64_t t = 0; t < times; t++)
        for (int32_t k = 0; k < n; k++) {
            memmove(to[k].p, from[k].p, bytes); /* read as a whole before it is written */
            from[k].p += from[k].step;
            to[k].p += to[k].step;
        }
}

static bool same_steps(int32_t n, const moved *m)
{
    bool same = true;
    for (int32_t k = 1; k < n; k++)
        same &= m[k].step == m[0].step;
    return same;
}

/* The same for pairs with equal steps: every call passes constants for n and bytes, so that the rest is in
 * registers. */
static inline void move_together(int32_t n, size_t bytes, int64_t times, const moved *from, const moved *to)
{
    const int64_t f_step = from->step, o_step = to->step;
    const char *f[AC_COPY_PAIRS];
    char *o[AC_COPY_PAIRS];
    for (int32_t k = 0; k < n; k++) {
        f[k] = from[k].p;
        o[k] = to[k].p;
    }
    for (int64_t t = 0, f_at = 0, o_at = 0; t < times; t++, f_at += f_step, o_at += o_step)
        for (int32_t k = 0; k < n; k++) {
            char v[64];
            memcpy(v, f[k] + f_at, bytes);
            memcpy(o[k] + o_at, v, bytes);
        }
}

static inline bool move_pairs(int32_t n, size_t bytes, int64_t times, const moved *from, const moved *to)
{
    switch (n) {
    case 1:
        move_together(1, bytes, times, from, to);
        return true;
    case 2:
        move_together(2, bytes, times, from, to);
        return true;
    case 4:
        move_together(4, bytes, times, from, to);
        return true;
    default:
        return false;
    }
}

/* false: not one of the usual sizes. */
static bool move_usual(int32_t n, size_t bytes, int64_t times, const moved *from, const moved *to)
{
    if (!same_steps(n, from) || !same_steps(n, to))
        return false;
    switch (bytes) {
    case 1:
        return move_pairs(n, 1, times, from, to);
    case 2:
        return move_pairs(n, 2, times, from, to);
    case 4:
        return move_pairs(n, 4, times, from, to);
    case 8:
        return move_pairs(n, 8, times, from, to);
    case 16:
        return move_pairs(n, 16, times, from, to);
    case 32:
        return move_pairs(n, 32, times, from, to);
    default:
        return false;
    }
}

/* True if it is one block that does not overlap its destination. */
static bool block(const moved *from, const moved *to, size_t bytes, int64_t times)
{
    const uintptr_t f = (uintptr_t)from->p, o = (uintptr_t)to->p, n = bytes * (size_t)times;
    return from->step == (int64_t)bytes && to->step == (int64_t)bytes && (f + n <= o || o + n <= f);
}

/* NULL: done. Else the position that is outside of its buffer. */
static const ac_bc_place *copy(const memory *mem, const ac_bc *i, const char *R, int64_t times, int64_t *bad)
{
    const ac_bc_copy *c = i->u.copy;
    moved from[AC_COPY_PAIRS], to[AC_COPY_PAIRS];
    for (int32_t k = 0; k < c->n; k++) {
        if (!first_of(mem, &c->from[k], c->lanes, times, R, &from[k], bad))
            return &c->from[k];
        if (!first_of(mem, &c->to[k], c->lanes, times, R, &to[k], bad))
            return &c->to[k];
    }
    if (c->n == 1 && block(from, to, c->bytes, times))
        memcpy(to->p, from->p, c->bytes * (size_t)times);
    else if (!move_usual(c->n, c->bytes, times, from, to))
        move(c->n, c->bytes, times, from, to);
    return NULL;
}

/* The budget at the next release of mapped files; 0: exhausted. */
static int64_t next_rest(ac_ctx *cx, int64_t left)
{
    if (left < 0)
        return 0;
    ac_files_rest(cx);
    return left > REST ? left - REST : 1;
}

// clang-format off
/* Elements [a] + [b] .. + n of buffer c, or a jump to the report. Negative indices become huge. */
#define ELEMENT()                                                                      \
    const memory *m = &mem[i->c];                                                      \
    uint32_t index = (uint32_t)get_I32(R + i->a) + (uint32_t)get_I32(R + i->b);        \
    if (__builtin_expect((uint64_t)index + i->n > m->count, 0)) {                      \
        bad = (int32_t)index;                                                          \
        goto outside;                                                                  \
    }
/* STORE keeps its value in d. */
#define LOAD(k)                                                                        \
    case BC_LOAD##k: {                                                                 \
        ELEMENT()                                                                      \
        memcpy(R + i->d, m->p + index * m->size, k);                                   \
        break;                                                                         \
    }
#define STORE(k)                                                                       \
    case BC_STORE##k: {                                                                \
        ELEMENT()                                                                      \
        memcpy(m->p + index * m->size, R + i->d, k);                                   \
        break;                                                                         \
    }
#define LOADX(S, s)                                                                    \
    case BC_LOAD_##S##_I32: {                                                          \
        ELEMENT()                                                                      \
        put_I32(R + i->d, get_##S(m->p + index * sizeof(s)));                          \
        break;                                                                         \
    }
#define SPLAT(k, T)                                                                    \
    case BC_SPLAT##k:                                                                  \
        for (uint32_t l = 0; l < i->n; l++)                                            \
            memmove(R + i->d + l * (k), R + i->a, k);                                  \
        break;
#define SHUFFLE(k)                                                                     \
    case BC_SHUFFLE##k:                                                                \
        for (uint32_t l = 0; l < i->n; l++)                                            \
            memcpy(R + i->d + l * (k), R + i->u.offset[l], k);                         \
        break;

#define BINARY(op, T, t)                                                               \
    case BC_##op##_##T:                                                                \
        put_##T(R + i->d, ac_s_##op##_##T(get_##T(R + i->a), get_##T(R + i->b)));      \
        break;
#define UNARY(op, T, t)                                                                \
    case BC_##op##_##T: put_##T(R + i->d, ac_s_##op##_##T(get_##T(R + i->a))); break;
#define COMPARE(op, T, t)                                                              \
    case BC_##op##_##T:                                                                \
        put_BOOL(R + i->d, ac_s_##op##_##T(get_##T(R + i->a), get_##T(R + i->b)));     \
        break;
#define TERNARY(op, T, t)                                                              \
    case BC_##op##_##T:                                                                \
        put_##T(R + i->d, ac_s_##op##_##T(get_##T(R + i->a), get_##T(R + i->b), get_##T(R + i->c))); \
        break;
#define INT(T, t, w, bits, lo, hi)                                                     \
    AC_INT_BINARY(BINARY, T, t) AC_INT_UNARY(UNARY, T, t) AC_COMPARE(COMPARE, T, t) TERNARY(MULADD, T, t)
#define FLOAT(T, t, s)                                                                 \
    AC_FLOAT_BINARY(BINARY, T, t) AC_FLOAT_UNARY(UNARY, T, t) AC_COMPARE(COMPARE, T, t) \
    TERNARY(MULADD, T, t) TERNARY(FMA, T, t)
#define CAST(how, S, s, T, t) \
    case BC_##how##_##S##_##T: put_##T(R + i->d, ac_s_##how##_##S##_##T(get_##S(R + i->a))); break;

static int run(ac_ctx *cx, const ac_program *p, char *R, const memory *mem, bool rests, int *status)
{
    const ac_bc *i = p->code;
    int64_t left = BUDGET, rest = rests ? BUDGET - REST : 0, bad; /* rest: the budget then */
    for (;; i++) {
        switch ((enum ac_bcop)i->op) {
        case BC_STOP: return AC_OK;
        case BC_MOV: put_I64(R + i->d, get_I64(R + i->a)); break;
        case BC_MOVV: memmove(R + i->d, R + i->a, (size_t)i->u.imm); break;
        SPLAT(1, U8) SPLAT(2, U16) SPLAT(4, U32) SPLAT(8, U64)
        SHUFFLE(1) SHUFFLE(2) SHUFFLE(4) SHUFFLE(8)
        LOAD(1) LOAD(2) LOAD(4) LOAD(8) LOAD(16) LOAD(32) LOAD(64)
        STORE(1) STORE(2) STORE(4) STORE(8) STORE(16) STORE(32) STORE(64)
        AC_BC_LOADS(LOADX)
        case BC_LOADV: {
            ELEMENT()
            memcpy(R + i->d, m->p + index * m->size, (size_t)i->u.imm);
            break;
        }
        case BC_STOREV: {
            ELEMENT()
            memcpy(m->p + index * m->size, R + i->d, (size_t)i->u.imm);
            break;
        }
        case BC_LOADK: {
            ELEMENT()
            i->u.kernel(R + i->d, m->p + index * m->size, NULL, NULL, i->n);
            break;
        }
        case BC_SELECT: put_I64(R + i->d, get_BOOL(R + i->a) ? get_I64(R + i->b) : get_I64(R + i->c)); break;
        case BC_SELECTV:
            memmove(R + i->d, R + (get_BOOL(R + i->a) ? i->b : i->c), (size_t)i->u.imm);
            break;
        case BC_KERNEL: i->u.kernel(R + i->d, R + i->a, R + i->b, R + i->c, i->n); break;
        case BC_NONZERO:
            if (has_zero(R, i))
                goto zero;
            break;
        case BC_FOR_UP:
        case BC_FOR_DOWN: {
            int32_t lo = get_I32(R + i->a), hi = get_I32(R + i->b);
            put_I32(R + i->d, lo);
            if (i->op == BC_FOR_UP ? lo >= hi : lo <= hi)
                i = p->code + i->c - 1;
            break;
        }
        case BC_NEXT_UP: {
            int64_t v = get_I32(R + i->d) + i->u.imm;
            put_I32(R + i->d, (int32_t)v);
            if (v < get_I32(R + i->b)) {
                if (__builtin_expect(--left < rest, 0) && !(rest = next_rest(cx, left)))
                    goto endless;
                i = p->code + i->c - 1;
            }
            break;
        }
        case BC_NEXT_DOWN: {
            int64_t v = get_I32(R + i->d) + i->u.imm;
            put_I32(R + i->d, (int32_t)v);
            if (v > get_I32(R + i->b)) {
                if (__builtin_expect(--left < rest, 0) && !(rest = next_rest(cx, left)))
                    goto endless;
                i = p->code + i->c - 1;
            }
            break;
        }
        case BC_TILE:
            if (!tile(mem, i, R)) {
                bad = get_I32(R + i->a);
                goto outside;
            }
            break;
        case BC_REQUANT:
            if (!requant(mem, i, R)) {
                bad = get_I32(R + i->d);
                goto outside;
            }
            break;
        case BC_COPY: {
            const ac_bc_copy *c = i->u.copy;
            const int64_t times = ((int64_t)get_I32(R + i->b) - get_I32(R + i->d) + c->step - 1) / c->step;
            left -= times;
            if (left < rest && !(rest = next_rest(cx, left)))
                goto endless;
            const ac_bc_place *wrong = copy(mem, i, R, times, &bad);
            if (wrong)
                return outside(cx, p, wrong->buf, bad, c->lanes, wrong >= c->to ? "writes" : "reads");
            break;
        }
        case BC_MMA:
            if (!mma(mem, i, R))
                goto fragments;
            break;
        case BC_IF:
            if (!get_BOOL(R + i->a))
                i = p->code + i->c - 1;
            break;
        case BC_JUMP: i = p->code + i->c - 1; break;
        case BC_BREAK_IF:
            if (get_BOOL(R + i->a))
                i = p->code + i->c - 1;
            break;
        case BC_FAIL_IF:
            if (get_BOOL(R + i->a)) {
                *status = (int)i->u.imm;
                return AC_OK;
            }
            break;
        AC_INT_TYPES(INT)
        AC_FLOAT_TYPES(FLOAT)
        BINARY(AND, BOOL, uint8_t) BINARY(OR, BOOL, uint8_t) BINARY(XOR, BOOL, uint8_t) UNARY(NOT, BOOL, uint8_t)
        BINARY(EQ, BOOL, uint8_t) BINARY(NE, BOOL, uint8_t)
        AC_BC_CASTS(CAST)
        case BC_COUNT: __builtin_unreachable();
        }
    }
// clang-format on
outside:
    return outside(cx, p, i->c, bad, i->n, i->op >= BC_STORE1 && i->op <= BC_STOREV ? "writes" : "reads");
zero:
    return ac_error(cx, (ac_place){.node = p->name}, E0901, "loop function '%s' divides an integer by zero", p->name);
fragments:
    return ac_error(cx, (ac_place){.node = p->name}, E0901,
                    "loop function '%s' multiplies fragments outside of a buffer", p->name);
endless:
    return ac_error(cx, (ac_place){.node = p->name}, E0901, "loop function '%s' does not end", p->name);
}

static int run_on(ac_ctx *cx, const ac_program *p, void *const *data, int32_t n_data, bool rests, int *status)
{
    int ignored;
    *(status ? status : &ignored) = 0;
    if (n_data != p->n_param)
        return ac_error(cx, (ac_place){.node = p->name}, E0901, "loop function '%s' has %d parameters, called with %d",
                        p->name, p->n_param, n_data);
    ac_region *tmp = ac_region_open(&cx->heap);
    char *registers = ac_alloc(tmp, p->registers + 128), *locals = ac_alloc(tmp, p->locals + 1);
    registers += 64 - (uintptr_t)registers % 64; /* vectors do not cross cache lines */
    memcpy(registers, p->image, p->constants);
    memset(locals, 0xA5, p->locals); /* not zero, so that reads of unwritten memory show */
    memory *mem = AC_NEW_N(tmp, memory, p->n_buf + 1);
    for (int32_t i = 0; i < p->n_buf; i++) {
        bool param = i < p->n_param;
        mem[i] = (memory){
            .p = param ? data[i] : locals, .count = (uint64_t)p->buf[i].count, .size = ac_lane_size(p->buf[i].dtype)};
        if (!param)
            locals += ac_align_up(ac_dtype_size(p->buf[i].dtype, p->buf[i].count), 16);
    }
    int rc = run(cx, p, registers, mem, rests, status ? status : &ignored);
    ac_region_close(tmp);
    return rc;
}

int ac_eval_run(ac_ctx *cx, const ac_program *p, void *const *data, int32_t n_data, int *status)
{
    return run_on(cx, p, data, n_data, false, status);
}

static int once(ac_ctx *cx, const ac_loop_fn *fn, void *const *data, int32_t n_data, bool rests, int *status)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    const ac_program *p = ac_eval_compile(cx, tmp, fn);
    int rc = p ? run_on(cx, p, data, n_data, rests, status) : AC_FAIL;
    ac_region_close(tmp);
    return rc;
}

int ac_eval(ac_ctx *cx, const ac_loop_fn *fn, void *const *data, int32_t n_data, int *status)
{
    return once(cx, fn, data, n_data, false, status);
}

int ac_eval_large(ac_ctx *cx, const ac_loop_fn *fn, void *const *data, int32_t n_data, int *status)
{
    return once(cx, fn, data, n_data, true, status);
}
