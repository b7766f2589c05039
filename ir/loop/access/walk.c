/* walk.c - visits the accesses of a function, with addresses only.
 *
 * How each loop is walked:
 *
 *   for oy, ox                    exactly, iteration by iteration
 *     for c                       the innermost loop that stores: once, with addresses  lo + by * i .. hi + by * i
 *       for ky, kx                no store inside: once, with the loop variable as an interval
 *         load x[..]              a range of bytes
 *       store out[..]
 *
 * If an address is not affine in the middle loop (a clip that changes sides), that loop is walked exactly instead. Only
 * instructions that addresses, bounds and conditions need are evaluated. An address that depends on data may be
 * anywhere in its buffer; if a condition depends on data, both branches are walked. */
#include "ir/loop/access/walk.h"

#include "base/vec.h"
#include "ir/loop/access/moving.h"
#include "ir/loop/builder.h"
#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"

enum { BUDGET = 30000000, MAX_ACCESSES = 256, MAX_MISSES = 16 };

typedef struct walker {
    const ac_walk *how;
    const ac_loop_fn *fn;
    int32_t *end;    /* FOR, IF, ELSE: position of the ELSE or END */
    bool *need;      /* an address, bound or condition depends on it */
    bool *stores;    /* FOR: a watched store inside, or a loop to be walked exactly */
    bool *innermost; /* FOR: no FOR inside has that */
    bool *carries;   /* FOR, IF: sets a needed variable declared outside */
    bool *breaks;    /* FOR: a BREAK_IF leaves it */
    uint8_t *misses; /* FOR: affine attempts that failed in a row */
    ac_moving *val;  /* by instruction; VAR: its present value */
    ac_moving_in in; /* inside the affine loop accesses are collected */
    ac_access list[MAX_ACCESSES];
    int32_t n_list;
    int64_t budget;
} walker;

static bool watched(const walker *w, const ac_ins *i)
{
    return ((i->op == AC_L_LOAD || i->op == AC_L_TILE) && w->how->watch[i->aux] & AC_WATCH_READS) ||
           (ac_lop_stores((ac_lop)i->op) && w->how->watch[i->aux] & AC_WATCH_WRITES);
}

/* ---------------------------------------------------------------- needed values */

static void needs(walker *w, int32_t x, bool *again)
{
    *again |= x && !w->need[x];
    w->need[x] = x != 0;
}

/* Backward over the code until nothing changes: a SET in a loop may be after the GET that sees it. */
static void find_needed(walker *w)
{
    const ac_loop_fn *fn = w->fn;
    for (bool again = true; again;) {
        again = false;
        for (int32_t x = fn->code.n - 1; x > 0; x--) {
            const ac_ins *i = &fn->code.item[x];
            bool memory = ac_lop_stores((ac_lop)i->op) || i->op == AC_L_LOAD || i->op == AC_L_TILE;
            if (memory && watched(w, i))
                needs(w, i->a, &again);
            if (i->op == AC_L_TILE && watched(w, i))
                needs(w, i->c, &again);
            if (i->op == AC_L_GET && w->need[x])
                needs(w, i->aux, &again);
            if (i->op == AC_L_SET && w->need[i->aux])
                needs(w, x, &again);
            if (!memory && (w->need[x] || i->op == AC_L_FOR || i->op == AC_L_IF)) {
                needs(w, i->a, &again);
                needs(w, i->b, &again);
                needs(w, i->c, &again);
            }
        }
    }
}

static bool is_chosen(const walker *w, int32_t loop)
{
    return w->how->enter && (loop == w->how->chosen[0] || loop == w->how->chosen[1]);
}

static void survey(walker *w, ac_region *tmp)
{
    const ac_loop_fn *fn = w->fn;
    AC_VEC(int32_t) open = {0};
    for (int32_t x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        if (i->op == AC_L_FOR || i->op == AC_L_IF) {
            ac_push(tmp, &open, x);
            w->innermost[x] = true;
        } else if (i->op == AC_L_ELSE || i->op == AC_L_END) {
            int32_t head = open.item[--open.n];
            while (w->end[head] && fn->code.item[w->end[head]].op == AC_L_ELSE)
                head = w->end[head];
            w->end[head] = x;
            if (i->op == AC_L_ELSE)
                open.n++;
        }
        bool leaves = i->op == AC_L_BREAK_IF;
        for (int32_t k = open.n - 1; k >= 0; k--) {
            int32_t head = open.item[k];
            if (leaves && fn->code.item[head].op == AC_L_FOR) {
                w->breaks[head] = true;
                leaves = false;
            }
            if (ac_lop_stores((ac_lop)i->op) && watched(w, i))
                w->stores[head] = true;
            if (i->op == AC_L_FOR && is_chosen(w, x))
                w->stores[head] = true;
            if (i->op == AC_L_SET && w->need[x] && i->aux < head)
                w->carries[head] = true;
        }
    }
    for (int32_t x = fn->code.n - 1; x > 0; x--) /* a storing loop inside another */
        for (int32_t y = x + 1; w->stores[x] && fn->code.item[x].op == AC_L_FOR && y < w->end[x]; y++)
            if (w->stores[y] && fn->code.item[y].op == AC_L_FOR)
                w->innermost[x] = false;
}

static void evaluate(walker *w, int32_t x)
{
    const ac_ins *i = &w->fn->code.item[x];
    ac_dtype d = (ac_dtype)i->dtype;
    bool integer = i->lanes <= 1 && d != AC_U64 && (ac_dtype_is_int(d) || d == AC_BOOL);
    for (int k = 0; k < 3; k++) { /* comparisons of floats, casts from them */
        ac_x from = k == 0 ? i->a : k == 1 ? i->b : i->c;
        integer = integer && !(from && ac_dtype_is_float((ac_dtype)w->fn->code.item[from].dtype));
    }
    w->val[x] = integer ? ac_moving_of(&w->in, i, w->val[i->a], w->val[i->b], w->val[i->c]) : AC_MOVING_UNKNOWN;
}

/* ---------------------------------------------------------------- accesses */

static void touch(walker *w, int32_t buf, ac_x index, int64_t lanes, bool write)
{
    const ac_buf *b = &w->fn->buf.item[buf];
    ac_moving v = w->val[index];
    int64_t size = ac_dtype_size(b->dtype, 1);
    if (!v.known)
        v = (ac_moving){0, b->count - lanes, 0, true};
    ac_access a = {v.lo * size, (v.hi + lanes) * size, v.by * size, buf, write, v.lo == v.hi};
    if (!w->in.affine)
        w->how->one(w->how->user, &a);
    else if (w->n_list == MAX_ACCESSES)
        w->in.lost = true;
    else
        w->list[w->n_list++] = a;
}

/* ---------------------------------------------------------------- blocks */

static bool walk(walker *w, int32_t begin, int32_t end);

static int64_t iterations(int64_t lo, int64_t hi, int64_t step)
{
    if (step > 0)
        return lo < hi ? (hi - lo + step - 1) / step : 0;
    return lo > hi ? (lo - hi - step - 1) / -step : 0;
}

/* A loop without stores: once, for all values of its variable. */
static bool walk_reads(walker *w, int32_t x)
{
    const ac_ins *i = &w->fn->code.item[x];
    ac_moving lo = w->val[i->a], hi = w->val[i->b];
    int64_t step = i->k.i;
    if (!lo.known || !hi.known) {
        w->val[x] = AC_MOVING_UNKNOWN;
    } else if (lo.by != hi.by) {
        return w->in.lost = true, false;
    } else {
        bool sharp = lo.lo == lo.hi && hi.lo == hi.hi;
        int64_t n = iterations(step > 0 ? lo.lo : lo.hi, step > 0 ? hi.hi : hi.lo, step);
        if (!n)
            return true;
        ac_moving v = {lo.lo, lo.lo, lo.by, true};
        if (step > 0)
            v.hi = sharp ? lo.lo + (n - 1) * step : hi.hi - 1;
        else
            v.hi = lo.hi, v.lo = sharp ? lo.lo + (n - 1) * step : hi.lo + 1;
        w->val[x] = v;
    }
    return walk(w, x + 1, w->end[x]);
}

/* The innermost loop with stores, as a whole; false: not affine, nothing was reported. */
static bool walk_affine(walker *w, int32_t x, int64_t lo, int64_t n)
{
    w->in.affine = true;
    w->in.n = n;
    w->n_list = 0;
    w->in.lost = false;
    w->val[x] = (ac_moving){lo, lo, w->fn->code.item[x].k.i, true};
    bool ok = walk(w, x + 1, w->end[x]) && !w->in.lost;
    w->in.affine = false;
    w->misses[x] = ok ? 0 : (uint8_t)(w->misses[x] + 1);
    if (ok)
        w->how->many(w->how->user, w->list, w->n_list, n);
    return ok;
}

static bool walk_for(walker *w, int32_t x)
{
    const ac_ins *i = &w->fn->code.item[x];
    ac_moving lo = w->val[i->a], hi = w->val[i->b];
    if (!w->stores[x] && !w->carries[x] && !is_chosen(w, x))
        return walk_reads(w, x);
    if (w->in.affine)
        return w->in.lost = true, false;
    if (!ac_moving_is_exact(lo) || !ac_moving_is_exact(hi) || (w->carries[x] && w->breaks[x]))
        return false;
    int64_t n = iterations(lo.lo, hi.lo, i->k.i);
    if (n > 2 && w->innermost[x] && !is_chosen(w, x) && !w->carries[x] && w->misses[x] < MAX_MISSES &&
        walk_affine(w, x, lo.lo, n))
        return true;
    for (int64_t k = 0; k < n; k++) {
        w->val[x] = ac_moving_exactly(lo.lo + k * i->k.i);
        if (is_chosen(w, x))
            w->how->enter(w->how->user, x, k);
        if (!walk(w, x + 1, w->end[x]))
            return false;
    }
    return true;
}

static bool walk_if(walker *w, int32_t x, int32_t *next)
{
    int32_t middle = w->end[x], end = w->fn->code.item[middle].op == AC_L_ELSE ? w->end[middle] : middle;
    ac_moving cond = w->val[w->fn->code.item[x].a];
    *next = end;
    if (ac_moving_is_exact(cond))
        return cond.lo ? walk(w, x + 1, middle) : middle == end || walk(w, middle + 1, end);
    if (w->carries[x])
        return w->in.lost = true, false;
    return walk(w, x + 1, middle) && (middle == end || walk(w, middle + 1, end));
}

static bool walk(walker *w, int32_t begin, int32_t end)
{
    for (int32_t x = begin; x < end; x++) {
        const ac_ins *i = &w->fn->code.item[x];
        if (w->in.lost && w->in.affine)
            return false;
        if (w->budget-- <= 0)
            return false;
        const ac_lop op = (ac_lop)i->op;
        if (op == AC_L_FOR) {
            if (!walk_for(w, x))
                return false;
            x = w->end[x];
        } else if (op == AC_L_IF) {
            int32_t next;
            if (!walk_if(w, x, &next))
                return false;
            x = next;
        } else if (op == AC_L_LOAD || op == AC_L_STORE) {
            const bool store = op == AC_L_STORE;
            if (!store)
                w->val[x] = AC_MOVING_UNKNOWN;
            if (watched(w, i))
                touch(w, i->aux, i->a, store ? w->fn->code.item[i->b].lanes : i->lanes, store);
        } else if (op == AC_L_TILE) {
            const ac_tile t = ac_ins_tile(i);
            const ac_moving steps = w->val[i->c];
            if (watched(w, i) && w->in.affine && (steps.by || !steps.known))
                return w->in.lost = true, false;
            if (watched(w, i))
                touch(w, i->aux, i->a,
                      ac_moving_is_exact(steps) ? ac_tile_reads(&t, steps.lo) : w->fn->buf.item[t.x].count, false);
        } else if (op == AC_L_REQUANT) {
            if (watched(w, i))
                touch(w, i->aux, i->a, ac_ins_requant(i).lanes, true);
        } else if (op == AC_L_GET) {
            w->val[x] = w->val[i->aux];
        } else if (op == AC_L_SET) {
            if (w->need[i->aux])
                w->val[i->aux] = w->val[i->a];
        } else if (op == AC_L_VAR) {
            w->val[x] = w->need[x] ? w->val[i->a] : AC_MOVING_UNKNOWN;
        } else if (w->need[x]) { /* ignoring BREAK_IF and FAIL_IF can only make the ranges larger */
            evaluate(w, x);
        }
    }
    return true;
}

bool ac_loop_walk(ac_ctx *cx, const ac_walk *how)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    size_t n = (size_t)how->fn->code.n;
    walker *w = AC_NEW(tmp, walker);
    *w = (walker){.how = how, .fn = how->fn, .budget = BUDGET};
    w->end = AC_NEW_N(tmp, int32_t, n);
    w->need = AC_NEW_N(tmp, bool, n);
    w->stores = AC_NEW_N(tmp, bool, n);
    w->innermost = AC_NEW_N(tmp, bool, n);
    w->carries = AC_NEW_N(tmp, bool, n);
    w->breaks = AC_NEW_N(tmp, bool, n);
    w->misses = AC_NEW_N(tmp, uint8_t, n);
    w->val = AC_NEW_N(tmp, ac_moving, n);
    find_needed(w);
    survey(w, tmp);
    bool ok = walk(w, 1, how->fn->code.n);
    ac_region_close(tmp);
    return ok;
}
