/* channel_blocks.c - runs a function with integers alone, and checks which channels depend on which. */
#include "ir/lower/node/channel_blocks.h"

#include "ir/loop/ins_fields.h"
#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"

#include <string.h>

enum { MOST = 1 << 25, DEPTH = 24, NOBODY = 0, OUTSIDE = 1, FIRST = 2 /* and the block: who wrote an element last */ };

typedef struct runner {
    const ac_loop_fn *fn;
    ac_channel_blocks *out;
    int32_t *end; /* FOR, IF: its ELSE or END */
    bool *split;
    int64_t *value;
    bool *known;
    int32_t **writer; /* by buffer, by element */
    int32_t *set;     /* by VAR: who set it last */
    int32_t now;      /* OUTSIDE, or FIRST + block */
    int64_t left;
} runner;

/* ------------------------------------------------------------------ the loops over channels */

/* How much x grows with the loop variable; false: it is not a sum of products. */
static bool growth(const ac_loop_fn *fn, ac_x x, ac_x loop, int64_t *by)
{
    const ac_ins *i = &fn->code.item[x];
    int64_t a = 0, b = 0;
    *by = x == loop;
    if (x <= loop)
        return true;
    if (i->op == AC_L_FOR || i->op == AC_L_CONST)
        return true;
    if ((i->op != AC_L_ADD && i->op != AC_L_SUB && i->op != AC_L_MUL) || !growth(fn, i->a, loop, &a) ||
        !growth(fn, i->b, loop, &b))
        return false;
    const ac_ins *p = &fn->code.item[i->a], *q = &fn->code.item[i->b];
    *by = i->op == AC_L_ADD ? a + b : a - b;
    if (i->op == AC_L_MUL) {
        if ((a && q->op != AC_L_CONST) || (b && p->op != AC_L_CONST))
            return false;
        *by = a ? a * q->k.i : b ? b * p->k.i : 0;
    }
    return true;
}

static bool is_result(const ac_loop_fn *fn, int32_t buf)
{
    return fn->buf.item[buf].role == AC_BUF_OUT || fn->buf.item[buf].role == AC_BUF_INOUT;
}

/* The innermost loop around store x that moves it by one element for each channel; 0: none. */
static ac_x loop_of(const runner *r, const ac_x *open, int32_t n, ac_x x)
{
    const ac_loop_fn *fn = r->fn;
    for (int32_t k = n - 1; k >= 0; k--) {
        const ac_ins *f = &fn->code.item[open[k]];
        int64_t by;
        if (f->op == AC_L_FOR && fn->code.item[f->a].op == AC_L_CONST && fn->code.item[f->b].op == AC_L_CONST &&
            growth(fn, fn->code.item[x].a, open[k], &by) && by == 1)
            return open[k];
    }
    return 0;
}

/* Calls `use` for every store, with the loop over channels that it is in, or 0. False: it returned false. */
static bool each_store(runner *r, bool (*use)(runner *r, const ac_ins *store, ac_x loop))
{
    const ac_loop_fn *fn = r->fn;
    ac_x open[DEPTH];
    int32_t n = 0;
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        if (i->op == AC_L_FOR || i->op == AC_L_IF) {
            if (n == DEPTH)
                return false;
            open[n++] = x;
        }
        n -= i->op == AC_L_END;
        if (ac_lop_stores((ac_lop)i->op) && !use(r, i, loop_of(r, open, n, x)))
            return false;
    }
    return true;
}

/* All results have the same channels. */
static bool use_result(runner *r, const ac_ins *store, ac_x loop)
{
    const ac_ins *f = &r->fn->code.item[loop];
    ac_channel_blocks *v = r->out;
    if (!is_result(r->fn, store->aux))
        return true;
    const int64_t hi = loop ? r->fn->code.item[f->b].k.i : 0;
    if (!loop || r->fn->code.item[f->a].k.i || f->k.i < 1 || (v->channels && v->channels != hi))
        return false;
    v->channels = hi;
    return r->split[loop] = true;
}

/* Loops over as many elements that store them for other loops, a fused addition for example. */
static bool use_scratch(runner *r, const ac_ins *store, ac_x loop)
{
    const ac_ins *f = &r->fn->code.item[loop];
    if (loop && r->fn->buf.item[store->aux].role == AC_BUF_SCRATCH && !r->fn->code.item[f->a].k.i &&
        r->fn->code.item[f->b].k.i == r->out->channels)
        r->split[loop] = true;
    return true;
}

/* The loops over channels, none of them in another; with those that store scratch, or without. */
static bool find_loops(runner *r, bool scratch)
{
    const ac_loop_fn *fn = r->fn;
    ac_channel_blocks *v = r->out;
    v->channels = 0;
    v->unit = 1;
    memset(r->split, 0, (size_t)fn->code.n * sizeof *r->split);
    if (!each_store(r, use_result) || !v->channels || (scratch && !each_store(r, use_scratch)))
        return false;
    for (ac_x x = 1; x < fn->code.n; x++)
        if (r->split[x] && fn->code.item[x].k.i > v->unit)
            v->unit = (int32_t)fn->code.item[x].k.i;
    if (v->channels % v->unit)
        return false;
    for (ac_x x = 1; x < fn->code.n; x++) {
        if (!r->split[x])
            continue;
        if (v->unit % fn->code.item[x].k.i)
            return false;
        for (ac_x y = x + 1; y < r->end[x]; y++)
            if (r->split[y])
                return false;
    }
    v->n = (int32_t)(v->channels / v->unit);
    return true;
}

/* ------------------------------------------------------------------ accesses */

/* May code that runs now read what `writer` wrote? */
static bool may_read(const runner *r, int32_t writer)
{
    return writer == OUTSIDE || writer == r->now;
}

static bool reads(runner *r, int32_t buf, ac_x at, int64_t more, int64_t n)
{
    const ac_buf *b = &r->fn->buf.item[buf];
    const int64_t lo = r->value[at] + more;
    if (b->role == AC_BUF_IN)
        return true;
    if (b->role == AC_BUF_CONST && (r->now == OUTSIDE || !r->known[at]))
        return r->out->whole[buf] = true;
    if (!r->known[at] || lo < 0 || lo + n > b->count)
        return false;
    if (b->role == AC_BUF_CONST) {
        ac_span *s = &r->out->read[buf][r->now - FIRST];
        *s = s->lo == s->hi ? (ac_span){lo, lo + n}
                            : (ac_span){lo < s->lo ? lo : s->lo, lo + n > s->hi ? lo + n : s->hi};
        return true;
    }
    for (int64_t e = lo; e < lo + n; e++)
        if (is_result(r->fn, buf) || !may_read(r, r->writer[buf][e]))
            return false;
    return true;
}

/* all: every element of the range is written. */
static bool writes(runner *r, int32_t buf, ac_x at, int64_t n, bool all)
{
    const int64_t lo = at ? r->value[at] : 0;
    if ((at && !r->known[at]) || lo < 0 || lo + n > r->fn->buf.item[buf].count || !r->writer[buf])
        return false;
    for (int64_t e = lo; e < lo + n; e++) {
        int32_t *w = &r->writer[buf][e];
        if ((!all || is_result(r->fn, buf)) && *w != NOBODY && *w != r->now)
            return false;
        *w = r->now;
    }
    return r->now != OUTSIDE || !is_result(r->fn, buf);
}

static bool tile(runner *r, const ac_ins *i)
{
    const ac_tile t = ac_ins_tile(i);
    if (!r->known[i->c] || !reads(r, t.x, i->a, 0, ac_tile_reads(&t, r->value[i->c])))
        return false;
    if (t.form == AC_TILE_SPREAD)
        return writes(r, t.acc, i->b, ac_tile_weights(&t, r->value[i->c]), t.channels == 1 && t.shift == 1);
    for (int32_t e = 0; e < t.rows * t.channels && t.form == AC_TILE_UNSIGNED; e++)
        if (!may_read(r, r->writer[t.acc][e]))
            return false;
    return reads(r, t.w, i->b, 0, ac_tile_weights(&t, r->value[i->c])) &&
           writes(r, t.acc, 0, (int64_t)t.rows * t.channels, true);
}

static bool requant(runner *r, const ac_ins *i)
{
    const ac_requants q = ac_ins_requant(i);
    for (int32_t e = q.lanes * q.row; e < q.lanes * (q.row + 1); e++)
        if (!may_read(r, r->writer[q.acc][e]))
            return false;
    return reads(r, q.table, i->b, 0, 2 * (int64_t)q.lanes) && reads(r, q.table, i->c, 0, q.lanes) &&
           writes(r, q.y, i->a, q.lanes, true);
}

/* ------------------------------------------------------------------ the run */

static bool block(runner *r, ac_x begin, ac_x end);

static bool loop(runner *r, ac_x x)
{
    const ac_ins *i = &r->fn->code.item[x];
    const int32_t before = r->now;
    if (!r->known[i->a] || !r->known[i->b] || i->k.i < 1)
        return false;
    r->known[x] = true;
    for (int64_t v = r->value[i->a]; v < r->value[i->b]; v += i->k.i) {
        r->value[x] = v;
        if (r->split[x])
            r->now = FIRST + (int32_t)(v / r->out->unit);
        if (!block(r, x + 1, r->end[x]))
            return false;
    }
    r->now = before;
    return true;
}

static bool branch(runner *r, ac_x x, ac_x *last)
{
    const ac_ins *i = &r->fn->code.item[x];
    const ac_x middle = r->end[x], end = r->fn->code.item[middle].op == AC_L_ELSE ? r->end[middle] : middle;
    *last = end;
    if (!r->known[i->a])
        return false;
    if (r->value[i->a])
        return block(r, x + 1, middle);
    return middle == end || block(r, middle + 1, end);
}

static bool compute(runner *r, ac_x x)
{
    const ac_ins *i = &r->fn->code.item[x];
    const ac_dtype d = (ac_dtype)i->dtype;
    r->known[x] = false;
    if (i->op == AC_L_CONST && ac_dtype_is_int(d))
        r->value[x] = i->k.i, r->known[x] = true;
    else if (i->lanes == 1 && (ac_dtype_is_int(d) || d == AC_BOOL))
        r->known[x] = (!i->a || r->known[i->a]) && (!i->b || r->known[i->b]) && (!i->c || r->known[i->c]) &&
                      ac_ins_integer(i, r->value[i->a], r->value[i->b], r->value[i->c], &r->value[x]);
    return true;
}

static bool one(runner *r, ac_x x)
{
    const ac_ins *i = &r->fn->code.item[x];
    switch ((int)i->op) {
    case AC_L_LOAD:
        r->known[x] = false;
        return reads(r, i->aux, i->a, 0, i->lanes);
    case AC_L_STORE:
        return writes(r, i->aux, i->a, i->lanes, true);
    case AC_L_TILE:
        return tile(r, i);
    case AC_L_REQUANT:
        return requant(r, i);
    case AC_L_VAR:
    case AC_L_SET: {
        const ac_x var = i->op == AC_L_VAR ? x : i->aux;
        r->value[var] = r->value[i->a];
        r->known[var] = r->known[i->a];
        r->set[var] = r->now;
        return true;
    }
    case AC_L_GET:
        r->value[x] = r->value[i->aux];
        r->known[x] = r->known[i->aux];
        return may_read(r, r->set[i->aux]);
    case AC_L_BREAK_IF:
    case AC_L_FAIL_IF:
    case AC_L_MMA:
        return false;
    case AC_L_PREFETCH:
        return true;
    default:
        return compute(r, x);
    }
}

static bool block(runner *r, ac_x begin, ac_x end)
{
    for (ac_x x = begin; x < end; x++) {
        const ac_lop op = (ac_lop)r->fn->code.item[x].op;
        if (--r->left < 0)
            return false;
        if (op == AC_L_FOR) {
            if (!loop(r, x))
                return false;
            x = r->end[x];
        } else if (op == AC_L_IF) {
            ac_x last;
            if (!branch(r, x, &last))
                return false;
            x = last;
        } else if (!one(r, x)) {
            return false;
        }
    }
    return true;
}

static void find_ends(runner *r)
{
    ac_x open[DEPTH];
    int32_t n = 0;
    for (ac_x x = 1; x < r->fn->code.n; x++) {
        const ac_lop op = (ac_lop)r->fn->code.item[x].op;
        if ((op == AC_L_ELSE || op == AC_L_END) && n && n <= DEPTH)
            r->end[open[n - 1]] = x;
        if (op == AC_L_ELSE && n && n <= DEPTH)
            open[n - 1] = x;
        n -= op == AC_L_END;
        if (op == AC_L_FOR || op == AC_L_IF) {
            if (n < DEPTH)
                open[n] = x;
            n++;
        }
    }
}

static bool run(ac_region *region, runner *r, bool scratch)
{
    const ac_loop_fn *fn = r->fn;
    ac_channel_blocks *out = r->out;
    if (!find_loops(r, scratch))
        return false;
    memset(out->whole, 0, (size_t)fn->buf.n * sizeof *out->whole);
    for (int32_t b = 0; b < fn->buf.n; b++) {
        const ac_role role = fn->buf.item[b].role;
        if (role == AC_BUF_CONST)
            out->read[b] = AC_NEW_N(region, ac_span, out->n);
        else if (role != AC_BUF_IN)
            r->writer[b] = AC_NEW_N(region, int32_t, fn->buf.item[b].count + 1);
    }
    r->now = OUTSIDE;
    return block(r, 1, fn->code.n);
}

bool ac_channel_blocks_of(ac_region *region, const ac_loop_fn *fn, ac_channel_blocks *out)
{
    const int32_t n = fn->code.n;
    runner r = {.fn = fn, .out = out, .left = MOST};
    *out = (ac_channel_blocks){.split = r.split = AC_NEW_N(region, bool, n)};
    for (int32_t b = 0; b < fn->buf.n; b++)
        if (fn->buf.item[b].role == AC_BUF_INOUT)
            return false;
    if (fn->fails || fn->call)
        return false;
    r.end = AC_NEW_N(region, int32_t, n);
    find_ends(&r);
    r.value = AC_NEW_N(region, int64_t, n);
    r.known = AC_NEW_N(region, bool, n);
    r.set = AC_NEW_N(region, int32_t, n);
    r.writer = AC_NEW_N(region, int32_t *, fn->buf.n + 1);
    out->read = AC_NEW_N(region, ac_span *, fn->buf.n + 1);
    out->whole = AC_NEW_N(region, bool, fn->buf.n + 1);
    return run(region, &r, true) || run(region, &r, false);
}

bool ac_channel_blocks_even(const ac_channel_blocks *v, int32_t buf, int32_t n, int64_t *from, int64_t *by,
                            int64_t *size)
{
    const int32_t each = v->n / n;
    for (int32_t k = 0; k < n; k++) {
        ac_span s = v->read[buf][k * each];
        for (int32_t j = k * each + 1; j < (k + 1) * each; j++) {
            s.lo = v->read[buf][j].lo < s.lo ? v->read[buf][j].lo : s.lo;
            s.hi = v->read[buf][j].hi > s.hi ? v->read[buf][j].hi : s.hi;
        }
        *from = k ? *from : s.lo;
        *by = k == 1 ? s.lo - *from : k ? *by : 0;
        *size = k ? *size : s.hi - s.lo;
        if (s.lo != *from + k * *by || s.hi - s.lo != *size || *size <= 0)
            return false;
    }
    return true;
}
