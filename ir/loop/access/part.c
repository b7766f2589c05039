/* part.c - finds the elements that each iteration of a function's outermost loop reads and writes. */
#include "ir/loop/access/part.h"

#include "ir/loop/access/walk.h"
#include "ir/loop/ins_fields.h"

typedef struct finder {
    ac_part *part;
    int64_t step, x;
    bool inside; /* of the steps */
    bool apart;  /* a step touches a buffer outside of its columns */
} finder;

enum { MAX_STEPS = 1 << 16, MAX_DEPTH = 64 };

static bool touches(const ac_loop_fn *fn, const ac_ins *i, ac_lop op, ac_role role)
{
    return i->op == op && fn->buf.item[i->aux].role == role;
}

static bool stores_result(const ac_loop_fn *fn, const ac_ins *i)
{
    return ac_lop_stores((ac_lop)i->op) && fn->buf.item[i->aux].role == AC_BUF_OUT;
}

/* True if the instruction may be in a step outside of the columns: its value must not depend on its position. */
static bool movable(const ac_loop_fn *fn, const ac_ins *i)
{
    switch ((ac_lop)i->op) {
    case AC_L_VAR:
    case AC_L_GET:
    case AC_L_SET:
    case AC_L_STORE:
    case AC_L_MMA:
    case AC_L_TILE:
    case AC_L_REQUANT:
    case AC_L_IF:
    case AC_L_ELSE:
    case AC_L_BREAK_IF:
    case AC_L_FAIL_IF:
        return false;
    case AC_L_LOAD:
        return fn->buf.item[i->aux].role == AC_BUF_CONST;
    // clang-format off
    case AC_L_NONE: case AC_L_PREFETCH: case AC_L_CONST: case AC_L_CONSTV: case AC_L_ADD: case AC_L_SUB:
    case AC_L_MUL: case AC_L_DIV: case AC_L_MOD: case AC_L_MIN: case AC_L_MAX: case AC_L_NEG: case AC_L_ABS:
    case AC_L_SQRT: case AC_L_FLOOR: case AC_L_CEIL: case AC_L_TRUNC: case AC_L_RINT: case AC_L_AND: case AC_L_OR:
    case AC_L_XOR: case AC_L_NOT: case AC_L_SHL: case AC_L_SHR: case AC_L_EQ: case AC_L_NE: case AC_L_LT:
    case AC_L_LE: case AC_L_SELECT: case AC_L_CAST: case AC_L_SATCAST: case AC_L_BITCAST: case AC_L_FMA:
    case AC_L_DOT4: case AC_L_DOT2: case AC_L_SPLAT: case AC_L_LANE: case AC_L_SHUFFLE: case AC_L_SUMLANES:
    case AC_L_MAXLANES: case AC_L_FOR: case AC_L_END: case AC_L_COUNT:
        // clang-format on
        return true;
    }
    return true;
}

static bool count_of(const ac_loop_fn *fn, int32_t loop, int64_t *n)
{
    const ac_ins *f = &fn->code.item[loop], *lo = &fn->code.item[f->a], *hi = &fn->code.item[f->b];
    if (lo->op != AC_L_CONST || hi->op != AC_L_CONST || f->k.i <= 0 || lo->k.i >= hi->k.i)
        return false;
    *n = (hi->k.i - lo->k.i + f->k.i - 1) / f->k.i;
    return *n <= MAX_STEPS;
}

/* The steps: the only outermost loop that reads inputs. The columns: the only loop of a step, and its only code.
 */
static bool find_loops(ac_part *p)
{
    const ac_loop_fn *fn = p->fn;
    int32_t open[MAX_DEPTH], n = 0, inner = 0;
    bool beside = false, early = false, reads = false;
    for (int32_t x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        const bool in = touches(fn, i, AC_L_LOAD, AC_BUF_IN) || touches(fn, i, AC_L_TILE, AC_BUF_IN);
        const bool out = stores_result(fn, i);
        if (touches(fn, i, AC_L_LOAD, AC_BUF_OUT) || touches(fn, i, AC_L_TILE, AC_BUF_OUT) || i->op == AC_L_FAIL_IF ||
            n == MAX_DEPTH)
            return false;
        if (in && (n == 0 || (p->row && open[0] != p->row)))
            return false;
        if (in && !p->row)
            p->row = open[0];
        if (i->op == AC_L_BREAK_IF && n <= 2)
            return false;
        p->late |= out && p->row && p->row_end;
        early |= out && !(p->row && p->row_end);
        reads |= in;
        if (i->op == AC_L_FOR || i->op == AC_L_IF)
            open[n++] = x;
        if (i->op == AC_L_END && --n == 0 && open[0] == p->row)
            p->row_end = x;
    }
    if (!reads || (p->late && early) || fn->code.item[p->row].op != AC_L_FOR)
        return false;
    for (int32_t x = 1; x < p->row && !p->late; x++) /* a result initialised before the steps */
        if (stores_result(fn, &fn->code.item[x]))
            return false;
    for (int32_t x = p->row + 1, depth = 0; x < p->row_end; x++) {
        const ac_ins *i = &fn->code.item[x];
        if (depth == 0 && i->op == AC_L_FOR) {
            p->col = x;
            inner++;
        }
        beside |= (depth == 0 || fn->code.item[open[0]].op != AC_L_FOR) && !movable(fn, i);
        if (i->op == AC_L_FOR || i->op == AC_L_IF) {
            if (depth == 0)
                open[0] = x;
            depth++;
        }
        if (i->op == AC_L_END && --depth == 0)
            p->col_end = x;
    }
    if (inner != 1 || beside || !count_of(fn, p->col, &p->cols))
        p->col = p->col_end = 0, p->cols = 1;
    return count_of(fn, p->row, &p->steps);
}

static void add(finder *f, const ac_access *a, int64_t far)
{
    ac_part *p = f->part;
    const ac_buf *b = &p->fn->buf.item[a->buf];
    const int64_t size = ac_dtype_size(b->dtype, 1), per = p->steps * p->cols, c = b->count / per;
    const int64_t begin = a->begin + (far < 0 ? far : 0), end = a->end + (far > 0 ? far : 0);
    ac_span e = {begin / size, (end + size - 1) / size};
    e.lo = e.lo > 0 ? e.lo : 0; /* ranges may be too large, but never exceed the buffer */
    e.hi = e.hi < b->count ? e.hi : b->count;
    if (!f->inside) /* late results */
        return;
    ac_span *all = &p->touch[a->buf * p->steps + f->step];
    all->lo = all->lo < all->hi && all->lo < e.lo ? all->lo : e.lo;
    all->hi = all->hi > e.hi ? all->hi : e.hi;
    const int64_t first = (f->step * p->cols + f->x) * c;
    if (b->count % per || e.lo < first || e.hi > first + c)
        p->pixel[a->buf] = false;
}

static void one(void *user, const ac_access *a)
{
    add(user, a, 0);
}

static void many(void *user, const ac_access *list, int32_t n_list, int64_t n)
{
    for (int32_t k = 0; k < n_list; k++)
        add(user, &list[k], list[k].by * (n - 1));
}

static void enter(void *user, int32_t loop, int64_t k)
{
    finder *f = user;
    if (loop == f->part->row) {
        f->step = k;
        f->x = 0;
        f->inside = true;
    } else {
        f->x = k;
    }
}

bool ac_part_of(ac_ctx *cx, ac_region *region, const ac_loop_fn *fn, ac_part *out)
{
    *out = (ac_part){.fn = fn};
    if (fn->call || !find_loops(out))
        return false;
    uint8_t *watch = AC_NEW_N(region, uint8_t, fn->buf.n + 1);
    out->touch = AC_NEW_N(region, ac_span, fn->buf.n * out->steps + 1);
    out->pixel = AC_NEW_N(region, bool, fn->buf.n + 1);
    for (int32_t i = 0; i < fn->buf.n; i++) {
        const ac_role role = fn->buf.item[i].role;
        if (role == AC_BUF_INOUT)
            return false;
        watch[i] = role == AC_BUF_IN ? AC_WATCH_READS : role == AC_BUF_OUT && !out->late ? AC_WATCH_WRITES : 0;
        out->pixel[i] = out->col != 0;
    }
    finder f = {.part = out};
    const ac_walk walk = {
        .fn = fn, .watch = watch, .one = one, .many = many, .enter = enter, .chosen = {out->row, out->col}, .user = &f};
    return ac_loop_walk(cx, &walk);
}

bool ac_part_stays_inside(const ac_part *p, int32_t buf)
{
    const int32_t begin = p->col ? p->col : p->row, end = p->col ? p->col_end : p->row_end;
    for (int32_t x = 1; x < p->fn->code.n; x++)
        if (ac_ins_uses_buffer(&p->fn->code.item[x], buf) && (x < begin || x > end))
            return false;
    return true;
}
