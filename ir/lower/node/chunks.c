/* chunks.c - cuts a step into chunks for threads: splits loops whose iterations are independent into contiguous ranges.
 *
 * Lowerings mark such loops parallel (docs/loop-ir.md defines the promise). A cut is chosen (cut.h), and the function
 * gets one more parameter, the number of its chunk:
 *
 *     for p in 0 .. 7 parallel           part = load part[0]
 *       strip = copy of x[p]        =>   for p in 7 * part / 2 .. 7 * (part + 1) / 2
 *       out[p] = ..strip..                 strip[part] = copy of x[p]
 *     end                                  out[p] = ..strip[part]..
 *
 * Every chunk runs the code that the split loops need (common.h); chunk 0 alone runs the rest, such as the tail of a
 * loop over vectors. Each chunk has its own scratch, so chunks share only operands. The order of the operations of each
 * element does not change: results have the same bits for every number of chunks. If the cut saves less than a fork and
 * a join cost, the step is not cut. */
#include "ir/loop/builder.h"
#include "ir/loop/ins_fields.h"
#include "ir/loop/tiles.h"
#include "ir/lower/node/common.h"
#include "ir/lower/node/cut.h"
#include "ir/lower/node/node.h"

#include <string.h>

typedef struct cutter {
    const ac_lowered *low;
    ac_cut cut;
    ac_lb b;
    ac_x *map;        /* old value or variable -> new one */
    int32_t *buf;     /* old buffer -> new one */
    ac_x *private_at; /* by old buffer: where this chunk's copy begins, 0: not scratch */
    ac_x chunk;
    const int32_t *run; /* common.h: of old instructions */
} cutter;

static ac_x copy_ins(cutter *v, ac_x x)
{
    ac_ins i = *ac_cut_ins(&v->cut, x);
    ac_ins_move_values(&i, v->map);
    if (ac_lop_has_buffer((ac_lop)i.op) && v->private_at[i.aux])
        i.a = ac_lb_add(&v->b, i.a, v->private_at[i.aux]);
    ac_ins_move_buffers(&i, v->buf);
    return v->map[x] = ac_lb_copy(&v->b, v->cut.fn, &i);
}

static void copy_all(cutter *v, ac_x begin, ac_x end)
{
    for (ac_x x = begin; x < end; x++)
        copy_ins(v, x);
}

/* Position of the range's end `at` (a value) in loop i: lo + step * iterations(at), inside the loop. */
static ac_x bound(cutter *v, const ac_cut_range *r, int32_t i, ac_x at)
{
    ac_lb *b = &v->b;
    const ac_ins *loop = ac_cut_ins(&v->cut, r->loop[i]);
    if (r->n > 1)
        at = ac_lb_sub(b, ac_lb_clamp(b, at, ac_lb_i32(b, r->first[i]), ac_lb_i32(b, r->first[i + 1])),
                       ac_lb_i32(b, r->first[i]));
    at = ac_lb_div(b, ac_lb_add(b, at, ac_lb_i32(b, r->weight[i] / 2)), ac_lb_i32(b, r->weight[i]));
    return ac_lb_add(b, v->map[loop->a], ac_lb_mul(b, at, ac_lb_i32(b, loop->k.i)));
}

static void copy_split(cutter *v, const ac_cut_range *r, int32_t i)
{
    ac_lb *b = &v->b;
    const ac_x n = ac_lb_i32(b, r->first[r->n]), chunks = ac_lb_i32(b, v->cut.chunks);
    const ac_x from = ac_lb_div(b, ac_lb_mul(b, n, v->chunk), chunks);
    const ac_x to = ac_lb_div(b, ac_lb_mul(b, n, ac_lb_add(b, v->chunk, ac_lb_i32(b, 1))), chunks);
    const ac_x x = r->loop[i], lo = bound(v, r, i, from), hi = bound(v, r, i, to);
    v->map[x] = ac_lb_for(b, ac_cut_ins(&v->cut, x)->name, lo, hi, ac_cut_ins(&v->cut, x)->k.i, AC_MARK_SERIAL);
    copy_all(v, x + 1, v->cut.end[x]);
    ac_lb_end(b);
}

/* The code of a run, up to `end`, in chunk 0; begin 0: no run. */
static void copy_run(cutter *v, ac_x begin, ac_x end)
{
    if (!begin)
        return;
    ac_lb_if(&v->b, ac_lb_eq(&v->b, v->chunk, ac_lb_i32(&v->b, 0)));
    for (ac_x x = begin; x < end; x++)
        if (v->run[x] == v->run[begin])
            copy_ins(v, x);
    ac_lb_end(&v->b);
}

/* The loop at x, which is split: as loop i of r, or by itself. */
static void copy_loop(cutter *v, const ac_cut_range *r, int32_t i)
{
    const ac_x x = r->loop[i];
    const ac_cut_range own = {.loop = {x}, .weight = {1}, .first = {0, ac_cut_trips(&v->cut, x)}, .n = 1};
    if (v->cut.own[x])
        copy_split(v, &own, 0);
    else
        copy_split(v, r, i);
}

static void copy_block(cutter *v, ac_x begin, ac_x end)
{
    const ac_cut_range r = ac_cut_range_of(&v->cut, begin, end);
    ac_x first = 0; /* of the run that is not copied yet */
    for (ac_x x = begin; x < end; x++) {
        const ac_x last = ac_cut_is_block(&v->cut, x) ? v->cut.end[x] : x;
        if (v->run[x]) {
            first = first ? first : x;
            x = last;
            continue;
        }
        if (ac_common_ends_run(&v->cut, x)) {
            copy_run(v, first, x);
            first = 0;
        }
        if (v->cut.split[x]) {
            int32_t i = 0;
            while (r.loop[i] != x)
                i++;
            copy_loop(v, &r, i);
        } else {
            copy_ins(v, x);
            copy_block(v, x + 1, last);
            if (last > x)
                copy_ins(v, last);
        }
        x = last;
    }
    copy_run(v, first, end);
}

/* Parameters with scratch for every chunk, the chunk, locals. */
static void copy_buffers(cutter *v)
{
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < v->cut.fn->buf.n; i++) {
            const ac_buf *m = &v->cut.fn->buf.item[i];
            if ((m->role == AC_BUF_LOCAL) != (pass == 1))
                continue;
            const int64_t each = ac_align_up(ac_dtype_size(m->dtype, m->count), 64) / ac_dtype_size(m->dtype, 1);
            const int64_t count = m->role == AC_BUF_SCRATCH ? each * v->cut.chunks : m->count;
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
    for (int32_t i = 0; i < v->cut.fn->buf.n; i++) {
        const ac_buf *m = &v->cut.fn->buf.item[i];
        const int64_t each = ac_align_up(ac_dtype_size(m->dtype, m->count), 64) / ac_dtype_size(m->dtype, 1);
        if (m->role == AC_BUF_SCRATCH)
            v->private_at[i] = ac_lb_mul(&v->b, v->chunk, ac_lb_i32(&v->b, each));
    }
}

/* True if only the owning iteration stores and reads a result, no state persists between calls, and no call can
 * fail. */
static bool may_cut(const cutter *v)
{
    const ac_loop_fn *fn = v->cut.fn;
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
    return scratch < INT32_MAX / 2 / v->cut.chunks;
}

static void finish(cutter *v, ac_lowered *low, ac_region *region)
{
    const ac_arg chunk = {.kind = AC_ARG_CHUNK};
    low->uncut = ac_copy(region, low, sizeof *low);
    low->uncut->arg.item = ac_copy(region, low->arg.item, (size_t)low->arg.n * sizeof *low->arg.item);
    low->fn = ac_lb_close(&v->b);
    low->chunks = v->cut.chunks;
    low->scratch = 0;
    for (int32_t a = 0; a < low->arg.n; a++)
        if (low->arg.item[a].kind == AC_ARG_SCRATCH) {
            const ac_buf *m = &low->fn->buf.item[a];
            low->arg.item[a].bytes = ac_dtype_size(m->dtype, m->count);
            low->scratch += ac_align_up(low->arg.item[a].bytes, 16);
        }
    ac_push(region, &low->arg, chunk);
}

/* Chooses the cut of low's loops, and estimates the whole and the slowest chunk; equal: do not cut it. */
static void open_cutter(cutter *v, ac_region *tmp, const ac_lowered *low, int32_t chunks, double pays, double *work,
                        double *slowest)
{
    const size_t n = (size_t)low->fn->code.n;
    *v = (cutter){.low = low};
    ac_cut_open(&v->cut, tmp, low->fn, chunks);
    v->map = AC_NEW_N(tmp, ac_x, n);
    v->buf = AC_NEW_N(tmp, int32_t, low->fn->buf.n + 1);
    v->private_at = AC_NEW_N(tmp, ac_x, low->fn->buf.n + 1);
    *work = ac_cut_cost(&v->cut, 1, low->fn->code.n);
    *slowest = may_cut(v) ? ac_cut_choose(&v->cut, 1, low->fn->code.n, 1) : *work;
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
        v.run = ac_common_runs(tmp, &v.cut);
        copy_block(&v, 1, low->fn->code.n);
        finish(&v, low, region);
    }
    ac_region_close(tmp);
    return cut ? ac_loop_verify(cx, low->fn) : AC_OK;
}
