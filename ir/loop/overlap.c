#include "ir/loop/overlap.h"

#include "base/vec.h"
#include "ir/loop/builder.h"

#include <string.h>

/* The distances of overlap.h, by walking through the loops once with the addresses only.
 *
 * Both are maxima over pairs (write, later read), so it is enough to remember the highest end and the lowest begin of
 * all writes so far and to look at each read as it comes. What is walked:
 *
 *   for oy, ox                    exactly, iteration by iteration
 *     for c                       the innermost loop that stores: once, with addresses  lo + by * i .. hi + by * i
 *       for ky, kx                no store inside: once, with the loop variable as an interval
 *         load x[..]              a range of bytes
 *       store out[..]
 *
 * In iteration i of the middle loop a pair's distance is linear in its two iteration numbers, so its maximum lies at a
 * corner of 0 <= i <= j < n. What does not stay affine there (a clip that changes its side) makes the loop be walked
 * exactly instead. Intervals contain all addresses, so the result is never too small; it is exact when the addresses
 * below a loop without stores fill a box, as sliding windows do.
 *
 * Only instructions that addresses, bounds and conditions need are evaluated. An address that depends on data may be
 * anywhere in its buffer; of a condition that does, both branches are walked. */

enum { BUDGET = 30000000, MAX_ACCESSES = 256, MAX_MISSES = 16 };

/* A value in iteration i of the affine loop: between lo + by * i and hi + by * i. Elsewhere by is 0. */
typedef struct value {
    int64_t lo, hi, by;
    bool known;
} value;

typedef struct access { /* bytes [begin + by * i, end + by * i) */
    int64_t begin, end, by;
    int32_t buf;
    bool write, exact;
} access;

typedef struct walker {
    const ac_loop_fn *fn;
    int32_t written;
    int32_t *end;      /* FOR, IF, ELSE: position of the ELSE or END */
    bool *need;        /* an address, bound or condition depends on it */
    bool *stores;      /* FOR: a store to `written` inside */
    bool *innermost;   /* FOR: no FOR inside has that */
    bool *carries;     /* FOR, IF: sets a needed variable declared outside */
    bool *breaks;      /* FOR: a BREAK_IF leaves it */
    uint8_t *misses;   /* FOR: affine attempts that failed in a row */
    value *val;        /* by instruction; VAR: its present value */
    bool affine;       /* inside the affine loop: accesses are collected */
    int64_t n;         /* ... its iterations */
    bool lost;         /* ... something is not affine */
    access list[MAX_ACCESSES];
    int32_t n_list;
    bool any;            /* something was written */
    int64_t top, bottom; /* highest end and lowest begin of the writes so far */
    ac_distance *of;
    uint8_t *mark; /* by element of `written`: stored already */
    bool once;
    int64_t budget;
} walker;

static const value UNKNOWN = {0};

static value exactly(int64_t v)
{
    return (value){v, v, 0, true};
}

static bool is_exact(value v)
{
    return v.known && v.lo == v.hi && !v.by;
}

/* ---------------------------------------------------------------- what is needed */

static void needs(walker *w, int32_t x, bool *again)
{
    *again |= x && !w->need[x];
    w->need[x] = x != 0;
}

/* Backward over the code until nothing changes: a SET in a loop may stand after the GET that sees it. */
static void find_needed(walker *w)
{
    const ac_loop_fn *fn = w->fn;
    for (bool again = true; again;) {
        again = false;
        for (int32_t x = fn->code.n - 1; x > 0; x--) {
            const ac_ins *i = &fn->code.item[x];
            bool memory = i->op == AC_L_STORE || i->op == AC_L_LOAD;
            if (memory && (i->aux == w->written || fn->buf.item[i->aux].role == AC_BUF_IN))
                needs(w, i->a, &again);
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
            if (i->op == AC_L_STORE && i->aux == w->written)
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

/* ---------------------------------------------------------------- values */

/* The value of a - b over all iterations. */
static value between(const walker *w, value a, value b)
{
    int64_t by = a.by - b.by, far = by * (w->affine ? w->n - 1 : 0);
    value d = {a.lo - b.hi, a.hi - b.lo, 0, true};
    if (far < 0)
        d.lo += far;
    else
        d.hi += far;
    return d;
}

static value not_affine(walker *w)
{
    w->lost = true;
    return UNKNOWN;
}

static value join(walker *w, value a, value b)
{
    if (!a.known || !b.known)
        return UNKNOWN;
    if (a.by != b.by)
        return not_affine(w);
    return (value){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi, a.by, true};
}

/* min (sign 1) or max (sign -1). */
static value extreme(walker *w, value a, value b, int sign)
{
    value d = between(w, a, b);
    if (sign > 0 ? d.hi <= 0 : d.lo >= 0)
        return a;
    if (sign > 0 ? d.lo >= 0 : d.hi <= 0)
        return b;
    if (a.by != b.by)
        return not_affine(w);
    value v = sign > 0 ? (value){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi, a.by, true}
                       : (value){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi, a.by, true};
    return v;
}

static bool small(int64_t v)
{
    return v > -((int64_t)1 << 31) && v < (int64_t)1 << 31;
}

static value times(walker *w, value a, value b)
{
    if (is_exact(a)) {
        value swap = a;
        a = b;
        b = swap;
    }
    if (!is_exact(b))
        return a.by || b.by ? not_affine(w) : UNKNOWN;
    int64_t k = b.lo;
    if (!small(a.lo) || !small(a.hi) || !small(a.by) || !small(k))
        return UNKNOWN;
    return k < 0 ? (value){a.hi * k, a.lo * k, a.by * k, true} : (value){a.lo * k, a.hi * k, a.by * k, true};
}

static value divide(walker *w, value a, value b)
{
    if (!is_exact(b) || b.lo <= 0)
        return a.by || b.by ? not_affine(w) : UNKNOWN;
    if (a.by)
        return not_affine(w);
    return (value){a.lo / b.lo, a.hi / b.lo, 0, true}; /* truncation is monotone */
}

static value modulo(walker *w, value a, value b)
{
    if (!is_exact(b) || b.lo <= 0)
        return a.by || b.by ? not_affine(w) : UNKNOWN;
    if (a.by)
        return not_affine(w);
    if (a.lo >= 0 && a.lo / b.lo == a.hi / b.lo)
        return (value){a.lo % b.lo, a.hi % b.lo, 0, true};
    return (value){a.lo < 0 ? 1 - b.lo : 0, b.lo - 1, 0, true};
}

static value compare(walker *w, ac_lop op, value a, value b)
{
    value d = between(w, a, b);
    bool always = false, never = false;
    if (op == AC_L_LT)
        always = d.hi < 0, never = d.lo >= 0;
    else if (op == AC_L_LE)
        always = d.hi <= 0, never = d.lo > 0;
    else {
        always = d.lo == 0 && d.hi == 0;
        never = d.lo > 0 || d.hi < 0;
        if (op == AC_L_NE) {
            bool swap = always;
            always = never;
            never = swap;
        }
    }
    if (always || never)
        return exactly(always);
    return a.by != b.by ? not_affine(w) : UNKNOWN;
}

static value shift(walker *w, ac_lop op, value a, value b)
{
    if (!is_exact(b) || b.lo < 0 || b.lo > 30)
        return a.by || b.by ? not_affine(w) : UNKNOWN;
    if (op == AC_L_SHL)
        return times(w, a, exactly((int64_t)1 << b.lo));
    if (a.by)
        return not_affine(w);
    return (value){a.lo >> b.lo, a.hi >> b.lo, 0, true};
}

static value choose(walker *w, value cond, value a, value b)
{
    if (is_exact(cond))
        return cond.lo ? a : b;
    return join(w, a, b);
}

static value bits(ac_lop op, value a, value b)
{
    if (!is_exact(a) || !is_exact(b))
        return UNKNOWN;
    return exactly(op == AC_L_AND ? (a.lo & b.lo) : op == AC_L_OR ? (a.lo | b.lo) : (a.lo ^ b.lo));
}

/* Values that leave their type are not followed: addresses never do. */
static value fitted(const walker *w, value v, ac_dtype d)
{
    if (!v.known || d == AC_I64 || d == AC_BOOL)
        return v;
    int64_t far = v.by * (w->affine ? w->n - 1 : 0), lo = v.lo + (far < 0 ? far : 0), hi = v.hi + (far > 0 ? far : 0);
    return lo < ac_dtype_min(d) || hi > ac_dtype_max(d) ? UNKNOWN : v;
}

static value compute(walker *w, const ac_ins *i)
{
    const value a = w->val[i->a], b = w->val[i->b], c = w->val[i->c];
    const ac_lop op = (ac_lop)i->op;
    if (op == AC_L_CONST)
        return exactly(i->k.i);
    if (op == AC_L_SELECT)
        return b.known && c.known ? choose(w, a, b, c) : UNKNOWN;
    if (!a.known || (ac_lop_arity(op) > 1 && !b.known))
        return UNKNOWN;
    if (op == AC_L_ADD)
        return (value){a.lo + b.lo, a.hi + b.hi, a.by + b.by, true};
    if (op == AC_L_SUB)
        return (value){a.lo - b.hi, a.hi - b.lo, a.by - b.by, true};
    if (op == AC_L_NEG)
        return (value){-a.hi, -a.lo, -a.by, true};
    if (op == AC_L_MUL)
        return times(w, a, b);
    if (op == AC_L_DIV)
        return divide(w, a, b);
    if (op == AC_L_MOD)
        return modulo(w, a, b);
    if (op == AC_L_MIN || op == AC_L_MAX)
        return extreme(w, a, b, op == AC_L_MIN ? 1 : -1);
    if (op == AC_L_SHL || op == AC_L_SHR)
        return shift(w, op, a, b);
    if (op == AC_L_EQ || op == AC_L_NE || op == AC_L_LT || op == AC_L_LE)
        return compare(w, op, a, b);
    if (op == AC_L_AND || op == AC_L_OR || op == AC_L_XOR)
        return bits(op, a, b);
    return op == AC_L_CAST && i->dtype != AC_BOOL ? a : UNKNOWN;
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
    w->val[x] = integer ? fitted(w, compute(w, i), d) : UNKNOWN;
}

/* ---------------------------------------------------------------- accesses */

static int64_t later(int64_t by, int64_t n)
{
    return by * (n - 1);
}

/* The largest of c + cw * i - cr * j over 0 <= i, j < n with i <= j, or i < j. */
static int64_t corner(int64_t c, int64_t cw, int64_t cr, int64_t n, bool same)
{
    int64_t last = n - 1, one = same ? 0 : 1;
    int64_t v[3] = {c - cr * one, c - cr * last, c + cw * (last - one) - cr * last};
    int64_t best = v[0] > v[1] ? v[0] : v[1];
    return best > v[2] ? best : v[2];
}

static void raise_to(int64_t *d, int64_t v)
{

    if (v > *d)
        *d = v;
}

static void read_bytes(walker *w, const access *r, int64_t n)
{
    if (!w->any)
        return;
    int64_t far = later(r->by, n);
    raise_to(&w->of[r->buf].below, w->top - (r->begin + (far < 0 ? far : 0)));
    raise_to(&w->of[r->buf].above, r->end + (far > 0 ? far : 0) - w->bottom);
}

static void write_bytes(walker *w, const access *x, int64_t n)
{
    int64_t far = later(x->by, n), end = x->end + (far > 0 ? far : 0), begin = x->begin + (far < 0 ? far : 0);
    w->top = w->any && w->top > end ? w->top : end;
    w->bottom = w->any && w->bottom < begin ? w->bottom : begin;
    w->any = true;
    const ac_buf *b = &w->fn->buf.item[w->written];
    int64_t size = ac_dtype_size(b->dtype, 1);
    w->once = w->once && x->exact;
    for (int64_t i = 0; i < n && w->once; i++)
        for (int64_t e = (x->begin + x->by * i) / size; e < (x->end + x->by * i) / size && w->once; e++) {
            w->once = e >= 0 && e < b->count && !w->mark[e];
            if (w->once)
                w->mark[e] = 1;
        }
}

static void fold_affine(walker *w, int64_t n)
{
    for (int32_t k = 0; k < w->n_list; k++)
        if (!w->list[k].write)
            read_bytes(w, &w->list[k], n);
    for (int32_t k = 0; k < w->n_list; k++) {
        const access *x = &w->list[k];
        for (int32_t m = 0; x->write && m < w->n_list; m++) {
            const access *r = &w->list[m];
            if (r->write || (m < k && n < 2))
                continue;
            raise_to(&w->of[r->buf].below, corner(x->end - r->begin, x->by, r->by, n, m > k));
            raise_to(&w->of[r->buf].above, corner(r->end - x->begin, -x->by, -r->by, n, m > k));
        }
    }
    for (int32_t k = 0; k < w->n_list; k++)
        if (w->list[k].write)
            write_bytes(w, &w->list[k], n);
}

static void touch(walker *w, int32_t buf, ac_x index, int32_t lanes, bool write)
{
    const ac_buf *b = &w->fn->buf.item[buf];
    value v = w->val[index];
    int64_t size = ac_dtype_size(b->dtype, 1);
    if (!v.known)
        v = (value){0, b->count - lanes, 0, true};
    access a = {v.lo * size, (v.hi + lanes) * size, v.by * size, buf, write, is_exact((value){v.lo, v.hi, 0, true})};
    if (w->affine) {
        if (w->n_list == MAX_ACCESSES)
            w->lost = true;
        else
            w->list[w->n_list++] = a;
    } else if (write) {
        write_bytes(w, &a, 1);
    } else {
        read_bytes(w, &a, 1);
    }
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
    value lo = w->val[i->a], hi = w->val[i->b];
    int64_t step = i->k.i;
    if (!lo.known || !hi.known) {
        w->val[x] = UNKNOWN;
    } else if (lo.by != hi.by) {
        return w->lost = true, false;
    } else {
        bool sharp = lo.lo == lo.hi && hi.lo == hi.hi;
        int64_t n = iterations(step > 0 ? lo.lo : lo.hi, step > 0 ? hi.hi : hi.lo, step);
        if (!n)
            return true;
        value v = {lo.lo, lo.lo, lo.by, true};
        if (step > 0)
            v.hi = sharp ? lo.lo + (n - 1) * step : hi.hi - 1;
        else
            v.hi = lo.hi, v.lo = sharp ? lo.lo + (n - 1) * step : hi.lo + 1;
        w->val[x] = v;
    }
    return walk(w, x + 1, w->end[x]);
}

/* The innermost loop with stores, as a whole; false: not affine, nothing was counted. */
static bool walk_affine(walker *w, int32_t x, int64_t lo, int64_t n)
{
    w->affine = true;
    w->n = n;
    w->n_list = 0;
    w->lost = false;
    w->val[x] = (value){lo, lo, w->fn->code.item[x].k.i, true};
    bool ok = walk(w, x + 1, w->end[x]) && !w->lost;
    w->affine = false;
    w->misses[x] = ok ? 0 : (uint8_t)(w->misses[x] + 1);
    if (ok)
        fold_affine(w, n);
    return ok;
}

static bool walk_for(walker *w, int32_t x)
{
    const ac_ins *i = &w->fn->code.item[x];
    value lo = w->val[i->a], hi = w->val[i->b];
    if (!w->stores[x] && !w->carries[x])
        return walk_reads(w, x);
    if (w->affine)
        return w->lost = true, false;
    if (!is_exact(lo) || !is_exact(hi) || (w->carries[x] && w->breaks[x]))
        return false;
    int64_t n = iterations(lo.lo, hi.lo, i->k.i);
    if (n > 2 && w->innermost[x] && !w->carries[x] && w->misses[x] < MAX_MISSES && walk_affine(w, x, lo.lo, n))
        return true;
    for (int64_t k = 0; k < n; k++) {
        w->val[x] = exactly(lo.lo + k * i->k.i);
        if (!walk(w, x + 1, w->end[x]))
            return false;
    }
    return true;
}

static bool walk_if(walker *w, int32_t x, int32_t *next)
{
    int32_t middle = w->end[x], end = w->fn->code.item[middle].op == AC_L_ELSE ? w->end[middle] : middle;
    value cond = w->val[w->fn->code.item[x].a];
    *next = end;
    if (is_exact(cond))
        return cond.lo ? walk(w, x + 1, middle) : middle == end || walk(w, middle + 1, end);
    if (w->carries[x])
        return w->lost = true, false;
    return walk(w, x + 1, middle) && (middle == end || walk(w, middle + 1, end));
}

static bool walk(walker *w, int32_t begin, int32_t end)
{
    for (int32_t x = begin; x < end; x++) {
        const ac_ins *i = &w->fn->code.item[x];
        if (w->lost && w->affine)
            return false;
        if (w->budget-- <= 0)
            return false;
        switch (i->op) {
        case AC_L_FOR:
            if (!walk_for(w, x))
                return false;
            x = w->end[x];
            break;
        case AC_L_IF: {
            int32_t next;
            if (!walk_if(w, x, &next))
                return false;
            x = next;
            break;
        }
        case AC_L_VAR:
            w->val[x] = w->need[x] ? w->val[i->a] : UNKNOWN;
            break;
        case AC_L_SET:
            if (w->need[i->aux])
                w->val[i->aux] = w->val[i->a];
            break;
        case AC_L_GET:
            w->val[x] = w->val[i->aux];
            break;
        case AC_L_LOAD:
            w->val[x] = UNKNOWN;
            if (w->fn->buf.item[i->aux].role == AC_BUF_IN)
                touch(w, i->aux, i->a, i->lanes, false);
            else if (i->aux == w->written)
                w->once = false;
            break;
        case AC_L_STORE:
            if (i->aux == w->written)
                touch(w, i->aux, i->a, w->fn->code.item[i->b].lanes, true);
            break;
        default: /* BREAK_IF and FAIL_IF: what they leave out would only make the distances smaller */
            if (w->need[x])
                evaluate(w, x);
            break;
        }
    }
    return true;
}

bool ac_loop_distances(ac_ctx *cx, const ac_loop_fn *fn, int32_t written, ac_distance *of, bool *once)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    const ac_buf *out = &fn->buf.item[written];
    size_t n = (size_t)fn->code.n;
    walker *w = AC_NEW(tmp, walker);
    *w = (walker){.fn = fn, .written = written, .of = of, .once = true, .budget = BUDGET};
    w->end = AC_NEW_N(tmp, int32_t, n);
    w->need = AC_NEW_N(tmp, bool, n);
    w->stores = AC_NEW_N(tmp, bool, n);
    w->innermost = AC_NEW_N(tmp, bool, n);
    w->carries = AC_NEW_N(tmp, bool, n);
    w->breaks = AC_NEW_N(tmp, bool, n);
    w->misses = AC_NEW_N(tmp, uint8_t, n);
    w->val = AC_NEW_N(tmp, value, n);
    w->mark = AC_NEW_N(tmp, uint8_t, out->count + 1);
    for (int32_t i = 0; i < fn->buf.n; i++)
        of[i] = (ac_distance){INT64_MIN, INT64_MIN};
    find_needed(w);
    survey(w, tmp);
    bool ok = walk(w, 1, fn->code.n);
    int64_t size = ac_dtype_size(out->dtype, out->count);
    for (int32_t i = 0; i < fn->buf.n; i++) {
        int64_t other = ac_dtype_size(fn->buf.item[i].dtype, fn->buf.item[i].count);
        if (of[i].below > size) /* an address that is only known to lie in its buffer */
            of[i].below = size;
        if (of[i].above > other)
            of[i].above = other;
        if (of[i].below < -other)
            of[i].below = -other;
        if (of[i].above < -size)
            of[i].above = -size;
    }
    *once = w->once;
    ac_region_close(tmp);
    return ok;
}
