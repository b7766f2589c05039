/* chunks.c - a step cut into chunks for threads: loops whose iterations are independent are split into contiguous runs.
 *
 * Lowerings mark such loops parallel (docs/loop-ir.md says what that promises). Here a cut is chosen, a set of marked
 * loops so that every store to a result lies in one of them, and the function gets one more parameter, the number of
 * its chunk:
 *
 *     for p in 0 .. 7 parallel           part = load part[0]
 *       strip = copy of x[p]        =>   for p in 7 * part / 2 .. 7 * (part + 1) / 2
 *       out[p] = ..strip..                 strip[part] = copy of x[p]
 *     end                                  out[p] = ..strip[part]..
 *
 * What is around the split loops is computed by every chunk; stores to results that are in none of them are chunk
 * 0's. Loops that are side by side share one range, so that a loop over large tiles and one over the rest are
 * balanced together. Scratch is given to each chunk, so chunks share nothing but operands. The order of the operations
 * of each element does not change: results have the same bits for every number of chunks.
 *
 * The cut is the one with the least estimated time of the slowest chunk; where that saves less than a fork and a join
 * cost, the step stays whole. Cost: O(instructions * nesting). */
#include "ir/loop/builder.h"
#include "ir/loop/access/traffic.h"
#include "ir/loop/ins_fields.h"
#include "ir/loop/tiles.h"
#include "ir/lower/lower.h"
#include "ir/lower/node/node.h"

#include <string.h>

enum { SIDE_BY_SIDE = 32, MOST_WEIGHT = 64 };

typedef struct cutter {
    const ac_loop_fn *from;
    const ac_lowered *low;
    int32_t chunks;
    int32_t *end; /* FOR, IF: its END */
    bool *split;  /* FOR: in the chosen cut */
    ac_lb b;
    ac_x *map;        /* old value or variable -> new one */
    int32_t *buf;     /* old buffer -> new one */
    ac_x *private_at; /* by old buffer: where this chunk's copy begins, 0: not scratch */
    ac_x chunk;
} cutter;

static const ac_ins *ins(const cutter *v, ac_x x)
{
    return &v->from->code.item[x];
}

static bool is_block(const cutter *v, ac_x x)
{
    return ins(v, x)->op == AC_L_FOR || ins(v, x)->op == AC_L_IF;
}

static void match(cutter *v, ac_region *tmp)
{
    AC_VEC(int32_t) open = {0};
    for (ac_x x = 1; x < v->from->code.n; x++) {
        if (is_block(v, x))
            ac_push(tmp, &open, x);
        else if (ins(v, x)->op == AC_L_END)
            v->end[open.item[--open.n]] = x;
    }
}

/* A store other chunks could see. */
static bool stores_result(const cutter *v, ac_x x)
{
    const ac_ins *i = ins(v, x);
    return ac_lop_stores((ac_lop)i->op) && v->from->buf.item[i->aux].role == AC_BUF_OUT;
}

static bool any_result(const cutter *v, ac_x begin, ac_x end)
{
    for (ac_x x = begin; x < end; x++)
        if (stores_result(v, x))
            return true;
    return false;
}

/* Does the block leave nothing behind but results: no scratch, no variable from outside? */
static bool only_results(const cutter *v, ac_x begin, ac_x end)
{
    for (ac_x x = begin; x < end; x++) {
        const ac_ins *i = ins(v, x);
        if ((ac_lop_stores((ac_lop)i->op) && !stores_result(v, x)) || (i->op == AC_L_SET && i->aux < begin))
            return false;
    }
    return true;
}

/* Iterations of a loop that may be split, else 0. */
static int64_t splits(const cutter *v, ac_x x)
{
    bool known;
    if (ins(v, x)->op != AC_L_FOR || ins(v, x)->aux != AC_MARK_PARALLEL || ins(v, x)->k.i < 0)
        return 0;
    const int64_t n = ac_loop_trips(v->from, x, &known);
    return known ? n : 0;
}

static double cost_of(const cutter *v, ac_x begin, ac_x end)
{
    double sum = 0;
    bool known;
    for (ac_x x = begin; x < end; x++) {
        if (ins(v, x)->op == AC_L_FOR) {
            sum += (double)ac_loop_trips(v->from, x, &known) * cost_of(v, x + 1, v->end[x]);
            x = v->end[x];
        } else {
            const ac_lop op = (ac_lop)ins(v, x)->op;
            sum += op != AC_L_CONST && op != AC_L_CONSTV && op != AC_L_GET && op != AC_L_SET;
        }
    }
    return sum;
}

/* The loops of one block that would share a range. */
typedef struct range {
    ac_x loop[SIDE_BY_SIDE];
    int64_t weight[SIDE_BY_SIDE];    /* length of an iteration in the range: its time, the shortest one's is 1 */
    int64_t first[SIDE_BY_SIDE + 1]; /* of each loop in the range; after the last: the length */
    int32_t n;
} range;

/* Iterations of different loops take different times. */
static void weigh(const cutter *v, range *r)
{
    double cost[SIDE_BY_SIDE], least = 0;
    int64_t count[SIDE_BY_SIDE], length = 0;
    for (int32_t i = 0; i < r->n; i++) {
        cost[i] = cost_of(v, r->loop[i] + 1, v->end[r->loop[i]]);
        count[i] = r->first[i + 1] - r->first[i];
        least = i == 0 || cost[i] < least ? cost[i] : least;
    }
    for (int32_t i = 0; i < r->n && least > 0; i++) {
        const double w = cost[i] / least + 0.5;
        r->weight[i] = w > MOST_WEIGHT ? MOST_WEIGHT : (int64_t)w;
        length += count[i] * r->weight[i];
    }
    if (least <= 0 || length > INT32_MAX / (v->chunks + 1)) /* the product with the chunk's number has to fit */
        for (int32_t i = 0; i < r->n; i++)
            r->weight[i] = 1;
    for (int32_t i = 0; i < r->n; i++)
        r->first[i + 1] = r->first[i] + count[i] * r->weight[i];
}

static range range_of(const cutter *v, ac_x begin, ac_x end)
{
    range r = {{0}, {0}, {0}, 0};
    for (ac_x x = begin; x < end; x++) {
        const int64_t n = is_block(v, x) ? splits(v, x) : 0;
        if (n && r.n < SIDE_BY_SIDE && any_result(v, x, v->end[x])) {
            r.loop[r.n] = x;
            r.weight[r.n] = 1;
            r.first[r.n + 1] = r.first[r.n] + n;
            r.n++;
        }
        if (is_block(v, x))
            x = v->end[x];
    }
    weigh(v, &r);
    return r;
}

/* Iterations of loop i that begin before position `at` of the range, to the nearest. */
static int64_t iterations(const range *r, int32_t i, int64_t at)
{
    const int64_t in = at < r->first[i] ? 0 : at > r->first[i + 1] ? r->first[i + 1] - r->first[i] : at - r->first[i];
    return (in + r->weight[i] / 2) / r->weight[i];
}

/* What the slowest chunk spends in the loops of r. */
static double slowest(const cutter *v, const range *r)
{
    double most = 0;
    for (int32_t k = 0; k < v->chunks; k++) {
        const int64_t from = r->first[r->n] * k / v->chunks, to = r->first[r->n] * (k + 1) / v->chunks;
        double sum = 0;
        for (int32_t i = 0; i < r->n; i++)
            sum += (double)(iterations(r, i, to) - iterations(r, i, from)) *
                   cost_of(v, r->loop[i] + 1, v->end[r->loop[i]]);
        most = sum > most ? sum : most;
    }
    return most;
}

static bool in_range(const range *r, ac_x x)
{
    for (int32_t i = 0; i < r->n; i++)
        if (r->loop[i] == x)
            return true;
    return false;
}

/* The least time of a block with the cut that gives it, which is set in v->split. */
static double choose(cutter *v, ac_x begin, ac_x end)
{
    const range r = range_of(v, begin, end);
    double inside = 0, around = 0; /* splitting the loops of r, or loops inside of them */
    double here = r.n ? slowest(v, &r) : 0;
    bool known;
    for (ac_x x = begin; x < end; x++) {
        if (!is_block(v, x)) {
            around += cost_of(v, x, x + 1);
            continue;
        }
        const double own = choose(v, x + 1, v->end[x]);
        const double all = ins(v, x)->op == AC_L_FOR ? (double)ac_loop_trips(v->from, x, &known) * own : own;
        *(in_range(&r, x) ? &inside : &around) += all;
        x = v->end[x];
    }
    if (r.n == 0 || inside < here)
        return around + inside;
    for (int32_t i = 0; i < r.n; i++) {
        memset(v->split + r.loop[i], 0, (size_t)(v->end[r.loop[i]] - r.loop[i]) * sizeof *v->split);
        v->split[r.loop[i]] = true;
    }
    return around + here;
}

/* ------------------------------------------------------------------ the function of a chunk */

static ac_x copy_ins(cutter *v, ac_x x)
{
    ac_ins i = *ins(v, x);
    ac_ins_move_values(&i, v->map);
    if (ac_lop_has_buffer((ac_lop)i.op) && v->private_at[i.aux])
        i.a = ac_lb_add(&v->b, i.a, v->private_at[i.aux]);
    ac_ins_move_buffers(&i, v->buf);
    return v->map[x] = ac_lb_copy(&v->b, v->from, &i);
}

static void copy_all(cutter *v, ac_x begin, ac_x end)
{
    for (ac_x x = begin; x < end; x++)
        copy_ins(v, x);
}

/* Position of the range's end `at` (a value) in loop i: lo + step * iterations(at), inside the loop. */
static ac_x bound(cutter *v, const range *r, int32_t i, ac_x at)
{
    ac_lb *b = &v->b;
    const ac_ins *loop = ins(v, r->loop[i]);
    if (r->n > 1)
        at = ac_lb_sub(b, ac_lb_clamp(b, at, ac_lb_i32(b, r->first[i]), ac_lb_i32(b, r->first[i + 1])),
                       ac_lb_i32(b, r->first[i]));
    at = ac_lb_div(b, ac_lb_add(b, at, ac_lb_i32(b, r->weight[i] / 2)), ac_lb_i32(b, r->weight[i]));
    return ac_lb_add(b, v->map[loop->a], ac_lb_mul(b, at, ac_lb_i32(b, loop->k.i)));
}

static void copy_split(cutter *v, const range *r, int32_t i)
{
    ac_lb *b = &v->b;
    const ac_x n = ac_lb_i32(b, r->first[r->n]), chunks = ac_lb_i32(b, v->chunks);
    const ac_x from = ac_lb_div(b, ac_lb_mul(b, n, v->chunk), chunks);
    const ac_x to = ac_lb_div(b, ac_lb_mul(b, n, ac_lb_add(b, v->chunk, ac_lb_i32(b, 1))), chunks);
    const ac_x x = r->loop[i], lo = bound(v, r, i, from), hi = bound(v, r, i, to);
    v->map[x] = ac_lb_for(b, ins(v, x)->name, lo, hi, ins(v, x)->k.i, AC_MARK_SERIAL);
    copy_all(v, x + 1, v->end[x]);
    ac_lb_end(b);
}

static bool any_split(const cutter *v, ac_x begin, ac_x end)
{
    for (ac_x x = begin; x < end; x++)
        if (v->split[x])
            return true;
    return false;
}

static void copy_block(cutter *v, ac_x begin, ac_x end)
{
    ac_lb *b = &v->b;
    range r = range_of(v, begin, end);
    if (r.n && !v->split[r.loop[0]])
        r.n = 0; /* loops of one range are split together */
    for (ac_x x = begin; x < end; x++) {
        int32_t i = 0;
        while (i < r.n && r.loop[i] != x)
            i++;
        const ac_x last = is_block(v, x) ? v->end[x] : x;
        if (i < r.n) {
            copy_split(v, &r, i);
        } else if (!any_result(v, x, last + 1)) {
            copy_all(v, x, last + 1);
        } else if (!is_block(v, x) || (!any_split(v, x, last) && only_results(v, x, last))) {
            ac_lb_if(b, ac_lb_eq(b, v->chunk, ac_lb_i32(b, 0)));
            copy_all(v, x, last + 1);
            ac_lb_end(b);
        } else {
            copy_ins(v, x);
            copy_block(v, x + 1, last);
            copy_ins(v, last);
        }
        x = last;
    }
}

/* Parameters with scratch for every chunk, the chunk, locals. */
static void copy_buffers(cutter *v)
{
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < v->from->buf.n; i++) {
            const ac_buf *m = &v->from->buf.item[i];
            if ((m->role == AC_BUF_LOCAL) != (pass == 1))
                continue;
            const int64_t each = ac_align_up(ac_dtype_size(m->dtype, m->count), 64) / ac_dtype_size(m->dtype, 1);
            const int64_t count = m->role == AC_BUF_SCRATCH ? each * v->chunks : m->count;
            v->buf[i] = ac_lb_buf(&v->b, m->name, m->dtype, count, m->role, m->align, m->note);
        }
        if (pass == 0) {
            const int32_t chunk = ac_lb_buf(&v->b, "part", AC_I32, 1, AC_BUF_IN, 4, "number of this part");
            v->chunk = ac_lb_load(&v->b, chunk, ac_lb_i32(&v->b, 0), 1);
        }
    }
}

static void open_scratch(cutter *v)
{
    for (int32_t i = 0; i < v->from->buf.n; i++) {
        const ac_buf *m = &v->from->buf.item[i];
        const int64_t each = ac_align_up(ac_dtype_size(m->dtype, m->count), 64) / ac_dtype_size(m->dtype, 1);
        if (m->role == AC_BUF_SCRATCH)
            v->private_at[i] = ac_lb_mul(&v->b, v->chunk, ac_lb_i32(&v->b, each));
    }
}

/* Results are stored and read by none but whom they belong to, nothing is kept from call to call, no call can fail. */
static bool may_cut(const cutter *v)
{
    const ac_loop_fn *fn = v->from;
    int64_t scratch = 0;
    if (fn->fails)
        return false;
    for (int32_t i = 0; i < fn->buf.n; i++) {
        const ac_buf *m = &fn->buf.item[i];
        scratch = m->role == AC_BUF_SCRATCH && m->count > scratch ? m->count : scratch;
        if (m->role == AC_BUF_INOUT)
            return false;
    }
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        if ((i->op == AC_L_TILE && ac_ins_tile(i).form != AC_TILE_MATRIX) || i->op == AC_L_REQUANT)
            return false; /* of processors with one core: places in scratch, and more */
        if (i->op == AC_L_LOAD && fn->buf.item[i->aux].role == AC_BUF_OUT && !v->low->own_results)
            return false;
    }
    return scratch < INT32_MAX / 2 / v->chunks;
}

static void finish(cutter *v, ac_lowered *low, ac_region *region)
{
    const ac_arg chunk = {.kind = AC_ARG_CHUNK};
    low->uncut = ac_copy(region, low, sizeof *low);
    low->uncut->arg.item = ac_copy(region, low->arg.item, (size_t)low->arg.n * sizeof *low->arg.item);
    low->fn = ac_lb_close(&v->b);
    low->chunks = v->chunks;
    low->scratch = 0;
    for (int32_t a = 0; a < low->arg.n; a++)
        if (low->arg.item[a].kind == AC_ARG_SCRATCH) {
            const ac_buf *m = &low->fn->buf.item[a];
            low->arg.item[a].bytes = ac_dtype_size(m->dtype, m->count);
            low->scratch += ac_align_up(low->arg.item[a].bytes, 16);
        }
    ac_push(region, &low->arg, chunk);
}

/* Chooses the cut of low's loops, and estimates the whole and the slowest chunk; equal: it is not to be cut. */
static void open_cutter(cutter *v, ac_region *tmp, const ac_lowered *low, int32_t chunks, double pays, double *work,
                        double *slowest)
{
    const size_t n = (size_t)low->fn->code.n;
    *v = (cutter){.from = low->fn, .low = low, .chunks = chunks};
    v->end = AC_NEW_N(tmp, int32_t, n);
    v->split = AC_NEW_N(tmp, bool, n);
    v->map = AC_NEW_N(tmp, ac_x, n);
    v->buf = AC_NEW_N(tmp, int32_t, low->fn->buf.n + 1);
    v->private_at = AC_NEW_N(tmp, ac_x, low->fn->buf.n + 1);
    match(v, tmp);
    *work = cost_of(v, 1, low->fn->code.n);
    *slowest = may_cut(v) ? choose(v, 1, low->fn->code.n) : *work;
    if (*work - *slowest <= pays)
        *slowest = *work;
}

double ac_lower_slowest(ac_ctx *cx, const ac_lowered *low, int32_t chunks, double pays)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    cutter v;
    double work, slowest;
    open_cutter(&v, tmp, low->uncut ? low->uncut : low, chunks, pays, &work, &slowest);
    ac_region_close(tmp);
    return slowest;
}

int ac_lower_chunks(ac_ctx *cx, ac_region *region, ac_lowered *low, int32_t chunks, double pays)
{
    if (chunks < 2)
        return AC_OK;
    ac_region *tmp = ac_region_open(&cx->heap);
    cutter v;
    open_cutter(&v, tmp, low, chunks, pays, &low->work, &low->slowest);
    const bool cut = low->slowest < low->work;
    if (cut) {
        ac_lb_open(&v.b, region, low->fn->name, low->fn->note);
        copy_buffers(&v);
        open_scratch(&v);
        copy_block(&v, 1, low->fn->code.n);
        finish(&v, low, region);
    }
    ac_region_close(tmp);
    return cut ? ac_loop_verify(cx, low->fn) : AC_OK;
}
