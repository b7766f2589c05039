/* grid.c - turns a step into a sequence of GPU kernels, using the loops that its lowering has marked parallel.
 *
 * The code of a function is split into units: nests of parallel loops, and the code between them. A nest becomes one
 * loop marked grid over all its iterations, one thread each; other code is run by one thread. Units run one after
 * another.
 *
 *     for n 0..2 parallel                     for g 0..(2*24*24) grid
 *       for oy 0..24 parallel            =>     n = g / 576   oy = g / 24 % 24   ox = g % 24
 *         for ox 0..24 parallel                 ...
 *           ...
 *
 * Loops next to each other in a parallel loop become separate units if only pure values connect them; each unit
 * recomputes those values. A value that one unit must pass to the next (the scale of a quantised row) is stored in
 * scratch. Every thread gets its own copy of scratch that an iteration writes; if that takes too much memory, there are
 * fewer threads, each with several iterations. The order of the operations of each element does not change: results
 * keep their bits.
 *
 * If units are connected in another way (by a local array), one thread runs the whole step: slow but correct. Cost:
 * O(units * instructions). */
#include "ir/loop/builder.h"
#include "ir/loop/ins_fields.h"
#include "ir/lower/gpu/grid.h"
#include "ir/lower/target.h"

#include <string.h>

enum { DEEP = 12, MANY = 1 << 14, PRIVATE_BYTES = 32 << 20 };

typedef struct unit {
    ac_x begin, end; /* instructions */
    ac_x path[DEEP]; /* parallel loops around them, outermost first; none: one thread */
    int32_t n_path;
    int64_t n; /* iterations of the path */
} unit;

typedef struct gridder {
    const ac_loop_fn *from;
    ac_region *tmp;
    int32_t *end;  /* FOR, IF: its END */
    int32_t *home; /* instruction -> its unit, -1: none */
    int32_t *seen; /* instruction -> 1 + the last unit whose connection to it was checked */
    AC_VEC(unit) unit;
    bool stuck;        /* connected in a way that kernels do not support */
    AC_VEC(ac_x) kept; /* values and variables that units hand on */
    int32_t *slot;     /* instruction -> 1 + element in the scratch of its type */
    int32_t slot_buf[AC_DTYPE_COUNT], slots[AC_DTYPE_COUNT];
    ac_lb b;
    ac_x *map;
    int32_t *buf;
    ac_x *private_at;
    int64_t *threads; /* old buffer -> copies of it, 0: one for all */
} gridder;

static const ac_ins *ins(const gridder *v, ac_x x)
{
    return &v->from->code.item[x];
}
static bool is_block(const gridder *v, ac_x x)
{
    return ins(v, x)->op == AC_L_FOR || ins(v, x)->op == AC_L_IF;
}
static ac_x last_of(const gridder *v, ac_x x)
{
    return is_block(v, x) ? v->end[x] : x;
}

/* The same wherever it is computed. */
static bool again(const gridder *v, ac_x x)
{
    const ac_ins *i = ins(v, x);
    if (i->op == AC_L_LOAD)
        return v->from->buf.item[i->aux].role == AC_BUF_IN || v->from->buf.item[i->aux].role == AC_BUF_CONST;
    return i->op == AC_L_NONE || ac_lop_pure((ac_lop)i->op);
}

static int64_t trips(const gridder *v, ac_x x)
{
    const ac_ins *i = ins(v, x), *lo = ins(v, i->a), *hi = ins(v, i->b);
    if (i->op != AC_L_FOR || i->aux != AC_MARK_PARALLEL || i->k.i <= 0 || lo->op != AC_L_CONST ||
        hi->op != AC_L_CONST || lo->k.i >= hi->k.i)
        return 0;
    return (hi->k.i - lo->k.i + i->k.i - 1) / i->k.i;
}

static bool private_store(const gridder *v, ac_x x)
{
    const ac_ins *i = ins(v, x);
    const ac_role role = i->op == AC_L_STORE ? v->from->buf.item[i->aux].role : AC_BUF_OUT;
    return role == AC_BUF_SCRATCH || role == AC_BUF_LOCAL;
}

/* True if the `parts` of a parallel loop's body may run one after another, each for all iterations: only pure values
 * connect them. */
static bool apart(const gridder *v, ac_x begin, ac_x end, int32_t parts)
{
    for (ac_x x = begin; x < end && parts > 1; x++)
        if (private_store(v, x))
            return false;
    for (ac_x x = begin; x < end; x = last_of(v, x) + 1)
        if (!is_block(v, x) && !again(v, x) && ins(v, x)->op != AC_L_STORE)
            return false;
    return true;
}

static void add_unit(gridder *v, const unit *path, ac_x begin, ac_x end)
{
    bool any = false;
    for (ac_x x = begin; x < end && !any; x++)
        any = !again(v, x);
    if (!any)
        return;
    unit u = *path;
    u.begin = begin;
    u.end = end;
    for (ac_x x = begin; x < end; x++)
        v->home[x] = v->unit.n;
    ac_push(v->tmp, &v->unit, u);
}

static void find_units(gridder *v, const unit *path, ac_x begin, ac_x end)
{
    int32_t parallel = 0, other = 0;
    for (ac_x x = begin; x < end; x = last_of(v, x) + 1)
        *(trips(v, x) ? &parallel : &other) += trips(v, x) || !again(v, x);
    const int32_t parts = parallel + other;
    const bool split = parallel && (!path->n_path || (apart(v, begin, end, parts) && (path->n < MANY || parts == 1)));
    ac_x rest = begin;
    for (ac_x x = begin; split && x < end; x = last_of(v, x) + 1) {
        const int64_t n = trips(v, x);
        if (!n || path->n_path == DEEP || n > INT32_MAX / path->n)
            continue;
        add_unit(v, path, rest, x);
        rest = v->end[x] + 1;
        unit inner = *path;
        inner.path[inner.n_path++] = x;
        inner.n *= n;
        find_units(v, &inner, x + 1, v->end[x]);
    }
    add_unit(v, path, rest, end);
}

/* ------------------------------------------------------------------ connections between units */

static void keep(gridder *v, ac_x x)
{
    if (v->slot[x])
        return;
    v->slot[x] = ++v->slots[ins(v, x)->dtype];
    ac_push(v->tmp, &v->kept, x);
}

/* A value or variable of another unit is recomputed, stored in scratch, or neither is possible. */
static void connect(gridder *v, const unit *u, ac_x x)
{
    const int32_t number = (int32_t)(u - v->unit.item) + 1;
    if (!x || (x >= u->begin && x < u->end) || v->seen[x] == number)
        return;
    v->seen[x] = number;
    for (int32_t k = 0; k < u->n_path; k++)
        if (u->path[k] == x)
            return;
    if (again(v, x)) {
        const ac_ins *i = ins(v, x);
        const ac_x use[3] = {i->a, i->b, i->c};
        for (int32_t k = 0; k < ac_lop_arity((ac_lop)i->op); k++)
            connect(v, u, use[k]);
        return;
    }
    const int32_t home = v->home[x];
    if (home < 0 || v->unit.item[home].n_path || ins(v, x)->lanes > 1 || ins(v, x)->op == AC_L_FOR)
        v->stuck = true;
    else
        keep(v, x);
}

static void find_connections(gridder *v)
{
    const int32_t n_buf = v->from->buf.n;
    int32_t *writer =
        AC_NEW_N(v->tmp, int32_t, n_buf + 1);         /* 1 + the unit that writes a local, or scratch of its threads */
    bool *shared = AC_NEW_N(v->tmp, bool, n_buf + 1); /* scratch written by one thread */
    for (int32_t k = 0; k < v->unit.n; k++) {
        const unit *u = &v->unit.item[k];
        for (ac_x x = u->begin; x < u->end; x++) {
            const ac_ins *i = ins(v, x);
            const ac_x use[3] = {i->a, i->b, i->c};
            for (int32_t o = 0; o < ac_lop_arity((ac_lop)i->op); o++)
                connect(v, u, use[o]);
            if (i->op == AC_L_GET || i->op == AC_L_SET)
                connect(v, u, i->aux);
            if (!private_store(v, x))
                continue;
            if (u->n_path || v->from->buf.item[i->aux].role == AC_BUF_LOCAL) {
                v->stuck |= writer[i->aux] && writer[i->aux] != k + 1;
                writer[i->aux] = k + 1;
            } else {
                shared[i->aux] = true;
            }
        }
    }
    for (int32_t k = 0; k < v->unit.n; k++)
        for (ac_x x = v->unit.item[k].begin; x < v->unit.item[k].end; x++) {
            const int32_t b = ins(v, x)->op == AC_L_LOAD ? ins(v, x)->aux : -1;
            v->stuck |= b >= 0 && writer[b] && writer[b] != k + 1;
        }
    for (int32_t i = 0; i < n_buf; i++)
        v->stuck |= shared[i] && writer[i];
}

/* Everything in one unit. */
static void one_unit(gridder *v)
{
    v->unit.n = 0;
    v->kept.n = 0;
    memset(v->slot, 0, (size_t)v->from->code.n * sizeof *v->slot);
    memset(v->slots, 0, sizeof v->slots);
    memset(v->home, 0xff, (size_t)v->from->code.n * sizeof *v->home);
    const unit all = {.n = 1};
    add_unit(v, &all, 1, v->from->code.n);
}

/* ------------------------------------------------------------------ buffers */

static int64_t each_of(const ac_buf *m)
{
    return ac_align_up(ac_dtype_size(m->dtype, m->count), 64) / ac_dtype_size(m->dtype, 1);
}

static bool stores(const gridder *v, const unit *u, int32_t buf)
{
    for (ac_x x = u->begin; x < u->end; x++)
        if (ins(v, x)->op == AC_L_STORE && ins(v, x)->aux == buf)
            return true;
    return false;
}

/* Threads of a unit whose scratch is not shared. */
static int64_t threads_of(gridder *v, const unit *u)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < v->from->buf.n && u->n_path; i++)
        if (v->from->buf.item[i].role == AC_BUF_SCRATCH && stores(v, u, i))
            bytes += each_of(&v->from->buf.item[i]) * ac_dtype_size(v->from->buf.item[i].dtype, 1);
    if (!bytes)
        return u->n;
    int64_t n = PRIVATE_BYTES / bytes > 1 ? PRIVATE_BYTES / bytes : 1;
    n = n < u->n ? n : u->n;
    for (int32_t i = 0; i < v->from->buf.n; i++)
        if (v->from->buf.item[i].role == AC_BUF_SCRATCH && stores(v, u, i))
            v->threads[i] = n;
    return n;
}

static void copy_buffers(gridder *v)
{
    for (int32_t k = 0; k < v->unit.n; k++)
        threads_of(v, &v->unit.item[k]);
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < v->from->buf.n; i++) {
            const ac_buf *m = &v->from->buf.item[i];
            if ((m->role == AC_BUF_LOCAL) == (pass == 1))
                v->buf[i] = ac_lb_buf(&v->b, m->name, m->dtype, v->threads[i] ? each_of(m) * v->threads[i] : m->count,
                                      m->role, m->align, m->note);
        }
        for (int32_t d = 0; d < AC_DTYPE_COUNT && pass == 0; d++)
            if (v->slots[d])
                v->slot_buf[d] =
                    ac_lb_buf(&v->b, ac_strf(v->b.region, "kept_%s", ac_dtype_name((ac_dtype)d)), (ac_dtype)d,
                              v->slots[d], AC_BUF_SCRATCH, 16, "values that one kernel hands to the next");
    }
}

/* ------------------------------------------------------------------ the new function */

/* The value of x in the unit being written, which does not contain it. */
static ac_x fetch(gridder *v, ac_x x)
{
    if (!x || v->map[x])
        return x ? v->map[x] : 0;
    const ac_ins *i = ins(v, x);
    if (v->slot[x]) {
        const ac_dtype d = (ac_dtype)i->dtype;
        const ac_x kept = ac_lb_load(&v->b, v->slot_buf[d], ac_lb_i32(&v->b, v->slot[x] - 1), 1);
        return v->map[x] = i->op == AC_L_VAR ? ac_lb_var(&v->b, i->name, kept) : kept;
    }
    ac_ins c = *i;
    const ac_x use[3] = {i->a, i->b, i->c};
    const int32_t n = ac_lop_arity((ac_lop)i->op);
    c.a = n > 0 ? fetch(v, use[0]) : i->a;
    c.b = n > 1 ? fetch(v, use[1]) : i->b;
    c.c = n > 2 ? fetch(v, use[2]) : i->c;
    if (i->op == AC_L_LOAD)
        c.aux = v->buf[i->aux];
    return v->map[x] = ac_lb_copy(&v->b, v->from, &c);
}

static void copy_ins(gridder *v, ac_x x)
{
    ac_ins i = *ins(v, x);
    ac_ins_move_values(&i, v->map);
    if (i.op == AC_L_LOAD || i.op == AC_L_STORE) {
        if (v->private_at[i.aux])
            i.a = ac_lb_add(&v->b, i.a, v->private_at[i.aux]);
        i.aux = v->buf[i.aux];
    }
    if (i.op == AC_L_FOR && i.aux == AC_MARK_PARALLEL)
        i.aux = AC_MARK_SERIAL;
    v->map[x] = ac_lb_copy(&v->b, v->from, &i);
}

/* Values that the unit needs from outside come before it. */
static void fetch_all(gridder *v, const unit *u)
{
    for (ac_x x = u->begin; x < u->end; x++) {
        const ac_ins *i = ins(v, x);
        const ac_x use[4] = {i->a, i->b, i->c, i->op == AC_L_GET || i->op == AC_L_SET ? i->aux : 0};
        const int32_t n = ac_lop_arity((ac_lop)i->op);
        for (int32_t k = 0; k < 4; k++)
            if ((k < n || k == 3) && use[k] && (use[k] < u->begin || use[k] >= u->end))
                fetch(v, use[k]);
    }
}

/* Offset of thread g in the scratch of this unit: g copies. */
static void open_private(gridder *v, const unit *u, ac_x g)
{
    memset(v->private_at, 0, (size_t)v->from->buf.n * sizeof *v->private_at);
    for (int32_t i = 0; i < v->from->buf.n; i++)
        if (u->n_path && v->threads[i] && stores(v, u, i))
            v->private_at[i] = ac_lb_mul(&v->b, g, ac_lb_i32(&v->b, each_of(&v->from->buf.item[i])));
}

static void open_path(gridder *v, const unit *u, ac_x at)
{
    ac_lb *b = &v->b;
    for (int32_t k = u->n_path - 1; k >= 0; k--) {
        const ac_ins *loop = ins(v, u->path[k]);
        const ac_x n = ac_lb_i32(b, trips(v, u->path[k]));
        const ac_x i = k ? ac_lb_mod(b, at, n) : at;
        at = k ? ac_lb_div(b, at, n) : at;
        v->map[u->path[k]] = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, loop->k.i)), ac_lb_i32(b, ins(v, loop->a)->k.i));
    }
}

/* Stores the values for later units that this unit has computed or changed. */
static void hand_on(gridder *v, const unit *u)
{
    ac_lb *b = &v->b;
    for (int32_t k = 0; k < v->kept.n; k++) {
        const ac_x x = v->kept.item[k];
        const bool var = ins(v, x)->op == AC_L_VAR, own = x >= u->begin && x < u->end;
        bool changed = own;
        for (ac_x s = u->begin; s < u->end && var && !changed; s++)
            changed = ins(v, s)->op == AC_L_SET && ins(v, s)->aux == x;
        if (changed)
            ac_lb_store(b, v->slot_buf[ins(v, x)->dtype], ac_lb_i32(b, v->slot[x] - 1),
                        var ? ac_lb_get(b, v->map[x]) : v->map[x]);
    }
}

static void copy_unit(gridder *v, const unit *u)
{
    ac_lb *b = &v->b;
    memset(v->map, 0, (size_t)v->from->code.n * sizeof *v->map);
    const int64_t threads = threads_of(v, u);
    ac_x g = 0;
    if (u->n_path) {
        g = ac_lb_for(b, "g", ac_lb_i32(b, 0), ac_lb_i32(b, threads), 1, AC_MARK_GRID);
        open_private(v, u, g);
        open_path(v, u, threads < u->n ? ac_lb_for(b, "i", g, ac_lb_i32(b, u->n), threads, AC_MARK_SERIAL) : g);
    } else {
        open_private(v, u, 0);
    }
    fetch_all(v, u);
    for (ac_x x = u->begin; x < u->end; x++)
        copy_ins(v, x);
    if (!u->n_path) {
        hand_on(v, u);
        return;
    }
    if (threads < u->n)
        ac_lb_end(b);
    ac_lb_end(b);
}

static void finish(gridder *v, ac_lowered *low, ac_region *region)
{
    low->fn = ac_lb_close(&v->b);
    for (int32_t d = 0; d < AC_DTYPE_COUNT; d++)
        if (v->slots[d])
            ac_push(region, &low->arg, ((ac_arg){.kind = AC_ARG_SCRATCH}));
    low->scratch = 0;
    for (int32_t a = 0; a < low->arg.n; a++)
        if (low->arg.item[a].kind == AC_ARG_SCRATCH) {
            low->arg.item[a].bytes = ac_dtype_size(low->fn->buf.item[a].dtype, low->fn->buf.item[a].count);
            low->scratch += ac_align_up(low->arg.item[a].bytes, 16);
        }
}

int ac_lower_grid(ac_ctx *cx, ac_region *region, ac_lowered *low)
{
    const size_t n = (size_t)low->fn->code.n;
    bool parallel = false;
    for (ac_x x = 1; x < low->fn->code.n; x++) {
        const ac_ins *i = &low->fn->code.item[x];
        if (i->op == AC_L_FOR && i->aux == AC_MARK_GRID)
            return AC_OK;
        parallel |= i->op == AC_L_FOR && i->aux == AC_MARK_PARALLEL;
    }
    if (!parallel)
        return AC_OK;
    ac_region *tmp = ac_region_open(&cx->heap);
    gridder v = {.from = low->fn, .tmp = tmp, .end = ac_loop_ends(tmp, low->fn)};
    v.home = AC_NEW_N(tmp, int32_t, n);
    v.seen = AC_NEW_N(tmp, int32_t, n);
    v.slot = AC_NEW_N(tmp, int32_t, n);
    v.map = AC_NEW_N(tmp, ac_x, n);
    v.buf = AC_NEW_N(tmp, int32_t, low->fn->buf.n + 1);
    v.private_at = AC_NEW_N(tmp, ac_x, low->fn->buf.n + 1);
    v.threads = AC_NEW_N(tmp, int64_t, low->fn->buf.n + 1);
    memset(v.home, 0xff, n * sizeof *v.home);
    const unit all = {.n = 1};
    find_units(&v, &all, 1, low->fn->code.n);
    find_connections(&v);
    if (v.stuck)
        one_unit(&v);
    ac_lb_open(&v.b, region, low->fn->name, low->fn->note);
    copy_buffers(&v);
    for (int32_t k = 0; k < v.unit.n; k++)
        copy_unit(&v, &v.unit.item[k]);
    finish(&v, low, region);
    ac_region_close(tmp);
    return ac_loop_verify(cx, low->fn);
}
