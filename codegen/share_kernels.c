/* share_kernels.c - --share-kernels: functions that differ in whole numbers only (extents, strides, offsets) become
 * one, which reads those from a table that each call passes. Less code, at some cost in speed: so only on request,
 * and only where it saves bytes.
 *
 *     conv_2d_3: for y .. 24 { for x .. 24 { ... [y * 192 + x * 8] ... } }
 *     conv_2d_7: for y .. 12 { for x .. 12 { ... [y * 192 + x * 16] ... } }
 *  ->
 *     conv_2d_3(.., const int32_t *shape): for y .. shape[0] { for x .. shape[0] { ... [y * 192 + x * shape[1]] ... } }
 *
 * Two functions go together when their instructions, types and lanes are equal, but for i32 constants of one lane, the
 * sizes of parameters, and names; and when the same arguments may overlap. Functions with loops to be unrolled stay
 * apart: those need their bounds. */
#include "codegen/module.h"
#include "ir/loop/ins_buffers.h"

#include <string.h>

/* Estimates: of code for an instruction, of code to read a number. */
enum { BYTES_PER_INS = 4, BYTES_PER_HOLE = 4, MAX_HOLES = 256 };

typedef struct shared {
    const ac_loop_fn *fn; /* the first of the group */
    int32_t *member, n;   /* functions of the module */
    int32_t *hole, holes; /* instructions whose constants differ */
    int32_t *slot, slots; /* of each: where its number is in the table; numbers that agree everywhere share a place */
} shared;

static bool may_differ(const ac_ins *i)
{
    return i->op == AC_L_CONST && (i->dtype == AC_I32 || i->dtype == AC_I64) && i->lanes == 1;
}

static bool unrolls(const ac_loop_fn *fn)
{
    for (ac_x x = 1; x < fn->code.n; x++)
        if (fn->code.item[x].op == AC_L_FOR && fn->code.item[x].aux == AC_MARK_UNROLL)
            return true;
    return false;
}

/* Equal but for what the head of this file lists. */
static bool alike(const ac_loop_fn *a, const ac_loop_fn *b)
{
    if (a->buf.n != b->buf.n || a->code.n != b->code.n || a->pool.n != b->pool.n || a->fails != b->fails)
        return false;
    for (int32_t i = 0; i < a->buf.n; i++) {
        const ac_buf *x = &a->buf.item[i], *y = &b->buf.item[i];
        if (x->dtype != y->dtype || x->role != y->role || (x->role == AC_BUF_LOCAL && x->count != y->count))
            return false;
    }
    for (ac_x k = 1; k < a->code.n; k++) {
        const ac_ins *x = &a->code.item[k], *y = &b->code.item[k];
        if (x->op != y->op || x->dtype != y->dtype || x->flags != y->flags || x->lanes != y->lanes || x->a != y->a ||
            x->b != y->b || x->c != y->c || x->aux != y->aux || (x->k.i != y->k.i && !may_differ(x)))
            return false;
    }
    return !a->pool.n || !memcmp(a->pool.item, b->pool.item, (size_t)a->pool.n * sizeof *a->pool.item);
}

/* May the same arguments overlap in all calls of both? */
static bool same_sharing(const ac_module *m, int32_t f, int32_t g)
{
    for (int32_t i = 0; i < m->n_calls; i++)
        for (int32_t k = 0; k < m->n_calls && m->call[i].fn == f; k++)
            for (int32_t a = 0; m->call[k].fn == g && a < m->call[i].n_arg; a++)
                if (m->call[i].arg[a].shares != m->call[k].arg[a].shares)
                    return false;
    return true;
}

static int64_t number(const ac_module *m, const shared *s, int32_t member, int32_t hole)
{
    return m->fn[s->member[member]]->code.item[s->hole[hole]].k.i;
}

static bool is_wide(const shared *s, int32_t hole)
{
    return s->fn->code.item[s->hole[hole]].dtype == AC_I64;
}

/* Words of the table that a number takes. */
static int32_t words(const shared *s, int32_t hole)
{
    return is_wide(s, hole) ? 2 : 1;
}

static bool same_numbers(const ac_module *m, const shared *s, int32_t a, int32_t b)
{
    for (int32_t k = 0; k < s->n; k++)
        if (number(m, s, k, a) != number(m, s, k, b))
            return false;
    return words(s, a) == words(s, b);
}

static void place_holes(const ac_module *m, shared *s)
{
    s->slot = AC_NEW_N(m->cx->region, int32_t, s->holes + 1);
    for (int32_t h = 0; h < s->holes; h++) {
        int32_t like = 0;
        while (like < h && !same_numbers(m, s, like, h))
            like++;
        s->slot[h] = like < h ? s->slot[like] : s->slots;
        s->slots += like < h ? 0 : words(s, h);
    }
}

static void find_holes(const ac_module *m, shared *s)
{
    s->hole = AC_NEW_N(m->cx->region, int32_t, s->fn->code.n);
    for (ac_x x = 1; x < s->fn->code.n; x++) {
        bool differs = false;
        for (int32_t k = 1; k < s->n; k++)
            differs |= m->fn[s->member[k]]->code.item[x].k.i != s->fn->code.item[x].k.i;
        if (differs)
            s->hole[s->holes++] = x;
    }
    place_holes(m, s);
}

/* Bytes that the group saves. */
static int64_t gain(const shared *s)
{
    const int64_t code = (int64_t)s->fn->code.n * BYTES_PER_INS;
    return (s->n - 1) * code - (int64_t)s->slots * (BYTES_PER_HOLE + 4 * (int64_t)s->n);
}

static ac_x moved(const ac_x *map, ac_x x)
{
    return x > 0 ? map[x] : x;
}

static ac_x put(ac_region *r, ac_loop_fn *fn, ac_ins i)
{
    ac_push(r, &fn->code, i);
    return fn->code.n - 1;
}

static ac_x load(ac_region *r, ac_loop_fn *fn, int32_t buf, ac_x at)
{
    return put(r, fn, (ac_ins){.op = AC_L_LOAD, .dtype = AC_I32, .lanes = 1, .a = at, .aux = buf});
}

/* high * 2^32 + the low word without its sign */
static ac_x load_wide(ac_region *r, ac_loop_fn *fn, int32_t buf, ac_x low_at, ac_x high_at)
{
    const ac_ins cast = {.op = AC_L_CAST, .dtype = AC_I64, .lanes = 1};
    const ac_x low = load(r, fn, buf, low_at), high = load(r, fn, buf, high_at);
    ac_ins i = {.op = AC_L_CAST, .dtype = AC_U32, .lanes = 1, .a = low};
    const ac_x bits = put(r, fn, i);
    i = cast;
    i.a = bits;
    const ac_x wide_low = put(r, fn, i);
    i.a = high;
    const ac_x wide_high = put(r, fn, i),
               by = put(r, fn, (ac_ins){.op = AC_L_CONST, .dtype = AC_I64, .lanes = 1, .k.i = 32});
    const ac_x top = put(r, fn, (ac_ins){.op = AC_L_SHL, .dtype = AC_I64, .lanes = 1, .a = wide_high, .b = by});
    return put(r, fn, (ac_ins){.op = AC_L_OR, .dtype = AC_I64, .lanes = 1, .a = top, .b = wide_low});
}

/* The function of the group: the numbers are loaded first, from a parameter after all others. */
static const ac_loop_fn *build(const ac_module *m, const shared *s)
{
    ac_region *r = m->cx->region;
    const ac_loop_fn *from = s->fn;
    ac_loop_fn *fn = AC_NEW(r, ac_loop_fn);
    int32_t params = 0;
    while (params < from->buf.n && from->buf.item[params].role != AC_BUF_LOCAL)
        params++;
    *fn = (ac_loop_fn){.name = from->name, .note = from->note, .pool = from->pool, .fails = from->fails};
    for (int32_t i = 0; i <= from->buf.n; i++) {
        if (i == params)
            ac_push(r, &fn->buf,
                    ((ac_buf){.name = "shape",
                              .dtype = AC_I32,
                              .count = s->slots,
                              .role = AC_BUF_CONST,
                              .align = 4,
                              .note = "numbers that differ from step to step"}));
        if (i == from->buf.n)
            break;
        ac_buf b = from->buf.item[i];
        for (int32_t k = 1; k < s->n; k++) {
            const ac_buf *other = &m->fn[s->member[k]]->buf.item[i];
            b.count = other->count > b.count ? other->count : b.count;
            b.align = other->align < b.align ? other->align : b.align;
        }
        b.note = NULL;
        ac_push(r, &fn->buf, b);
    }
    int32_t *to = AC_NEW_N(r, int32_t, from->buf.n + 1);
    for (int32_t i = 0; i < from->buf.n; i++)
        to[i] = i + (i >= params);
    ac_x *map = AC_NEW_N(r, ac_x, from->code.n);
    ac_push(r, &fn->code, from->code.item[0]);
    ac_x *at = AC_NEW_N(r, ac_x, s->slots + 1);
    for (int32_t k = 0; k < s->slots; k++)
        at[k] = put(r, fn, (ac_ins){.op = AC_L_CONST, .dtype = AC_I32, .lanes = 1, .k.i = k});
    ac_x *value = AC_NEW_N(r, ac_x, s->slots + 1);
    for (int32_t k = 0; k < s->holes; k++) {
        const int32_t slot = s->slot[k];
        if (!value[slot])
            value[slot] =
                is_wide(s, k) ? load_wide(r, fn, params, at[slot], at[slot + 1]) : load(r, fn, params, at[slot]);
        map[s->hole[k]] = value[slot];
    }
    for (ac_x x = 1; x < from->code.n; x++) {
        if (map[x])
            continue;
        ac_ins in = from->code.item[x];
        map[x] = fn->code.n;
        in.a = moved(map, in.a);
        in.b = moved(map, in.b);
        in.c = moved(map, in.c);
        if (in.op == AC_L_GET || in.op == AC_L_SET)
            in.aux = map[in.aux];
        ac_ins_move_buffers(&in, to);
        ac_push(r, &fn->code, in);
    }
    return fn;
}

/* The table of one member's numbers, as an argument. */
static ac_bound_arg table(ac_module *m, const shared *s, int32_t member)
{
    ac_const *k = AC_NEW(m->cx->region, ac_const);
    int32_t *value = AC_NEW_N(m->cx->region, int32_t, s->slots + 1);
    for (int32_t i = 0; i < s->holes; i++) {
        const int64_t v = m->fn[member]->code.item[s->hole[i]].k.i;
        value[s->slot[i]] = (int32_t)(uint32_t)v;
        if (is_wide(s, i))
            value[s->slot[i] + 1] = (int32_t)(v >> 32);
    }
    *k = (ac_const){.name = ac_strf(m->cx->region, "%s_shape", m->fn[member]->name),
                    .dtype = AC_I32,
                    .count = s->slots,
                    .align = 4,
                    .data = value};
    m->konst[m->n_konst] = k;
    return (ac_bound_arg){.space = AC_SPACE_CONST, .offset = m->n_konst++};
}

/* All calls of the group go to function `to`. */
static void redirect(ac_module *m, const shared *s, int32_t to, int32_t *fn_of_call)
{
    for (int32_t k = 0; k < s->n; k++) {
        const ac_bound_arg shape = table(m, s, s->member[k]);
        for (int32_t i = 0; i < m->n_calls; i++) {
            ac_call *c = &m->call[i];
            if (c->fn != s->member[k])
                continue;
            ac_bound_arg *arg = AC_NEW_N(m->cx->region, ac_bound_arg, c->n_arg + 1);
            memcpy(arg, c->arg, (size_t)c->n_arg * sizeof *arg);
            arg[c->n_arg++] = shape;
            c->arg = arg;
            fn_of_call[i] = to;
        }
    }
}

/* Functions from f on that are like f and in no group yet. */
static shared group_of(const ac_module *m, int32_t f, bool *taken)
{
    shared s = {.fn = m->fn[f], .member = AC_NEW_N(m->cx->region, int32_t, m->n_fn)};
    for (int32_t g = f; g < m->n_fn; g++)
        if (g == f || (!taken[g] && alike(s.fn, m->fn[g]) && (m->target->firmware || same_sharing(m, f, g))))
            s.member[s.n++] = g;
    find_holes(m, &s);
    if (s.n < 2 || s.holes > MAX_HOLES || gain(&s) <= 0 || unrolls(s.fn))
        s.n = 1;
    for (int32_t k = 0; k < s.n; k++)
        taken[s.member[k]] = true;
    return s;
}

void ac_module_share_kernels(ac_module *m)
{
    ac_region *r = m->cx->region;
    bool *taken = AC_NEW_N(r, bool, m->n_fn + 1);
    int32_t *fn_of_call = AC_NEW_N(r, int32_t, m->n_calls + 1), n = 0;
    const ac_loop_fn **fn = AC_NEW_N(r, const ac_loop_fn *, m->n_fn + 1);
    ac_const **konst = AC_NEW_N(r, ac_const *, m->n_konst + m->n_fn + 1);
    if (m->n_konst)
        memcpy(konst, m->konst, (size_t)m->n_konst * sizeof *konst);
    m->konst = konst;
    for (int32_t f = 0; f < m->n_fn; f++) {
        if (taken[f])
            continue;
        const shared s = group_of(m, f, taken);
        fn[n] = s.n > 1 ? build(m, &s) : m->fn[f];
        if (s.n > 1)
            redirect(m, &s, n, fn_of_call);
        for (int32_t i = 0; s.n < 2 && i < m->n_calls; i++)
            if (m->call[i].fn == f)
                fn_of_call[i] = n;
        n++;
    }
    for (int32_t i = 0; i < m->n_calls; i++)
        m->call[i].fn = fn_of_call[i];
    m->fn = fn;
    m->n_fn = n;
}
