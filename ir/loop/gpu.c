/* gpu.c - functions with grid and block loops: what they have to look like.
 *
 *     for g .. grid                       at the top only; iterations are independent
 *       for t 0 .. 256 block              threads; between two block loops all of them wait for each other
 *         shared[..] = ..
 *       end
 *       for k ..                          what stands around block loops is the same for all threads
 *         for t 0 .. 256 block
 *           acc[2 * 256 + t] = ..         registers: element 2 of thread t
 *
 * So a block loop is a phase: no iteration may read what another one stores in the same phase. The evaluator runs
 * phases as plain loops, one after another; printers for GPUs put a barrier behind each. */
#include "ir/loop/builder.h"

enum { MOST_THREADS = 1024, MOST_SHARED = 48 << 10, MOST_OWN = 256 };

static const ac_ins *ins(const ac_loop_fn *fn, ac_x x)
{
    return &fn->code.item[x];
}

static bool is_thread(const ac_loop_fn *fn, ac_x x)
{
    return ins(fn, x)->op == AC_L_FOR && ins(fn, x)->aux == AC_MARK_BLOCK;
}

static int64_t threads_of(const ac_loop_fn *fn, ac_x t)
{
    return ins(fn, ins(fn, t)->b)->k.i;
}

/* x = k * n */
static bool times(const ac_loop_fn *fn, ac_x x, int64_t n, int64_t *constant, ac_x *k)
{
    const ac_ins *i = ins(fn, x);
    *k = 0;
    *constant = 0;
    if (i->op == AC_L_CONST && i->k.i % n == 0) {
        *constant = i->k.i / n;
        return true;
    }
    const bool right = i->op == AC_L_MUL && ins(fn, i->b)->op == AC_L_CONST && ins(fn, i->b)->k.i == n;
    const bool left = i->op == AC_L_MUL && ins(fn, i->a)->op == AC_L_CONST && ins(fn, i->a)->k.i == n;
    *k = right ? i->a : left ? i->b : 0;
    return right || left;
}

bool ac_thread_element(const ac_loop_fn *fn, ac_x index, int64_t *constant, ac_x *k)
{
    const ac_ins *i = ins(fn, index);
    *k = 0;
    *constant = 0;
    if (is_thread(fn, index))
        return true;
    if (i->op != AC_L_ADD)
        return false;
    const bool right = is_thread(fn, i->b);
    if (!right && !is_thread(fn, i->a))
        return false;
    return times(fn, right ? i->a : i->b, threads_of(fn, right ? i->b : i->a), constant, k);
}

static const char *loop_fault(const ac_loop_fn *fn, const ac_ins *i, int32_t depth, bool in_grid, bool in_block)
{
    const ac_ins *lo = ins(fn, i->a), *hi = ins(fn, i->b);
    const bool from_0 = lo->op == AC_L_CONST && lo->k.i == 0 && hi->op == AC_L_CONST && hi->k.i > 0 && i->k.i == 1;
    if (i->aux == AC_MARK_GRID)
        return depth ? "a grid loop inside of a block" : from_0 ? NULL : "a grid loop that is not 0 .. n step 1";
    if (!in_grid || in_block)
        return "a block loop that is not in a grid loop, or in another block loop";
    return from_0 && hi->k.i <= MOST_THREADS ? NULL : "a block loop that is not 0 .. n step 1, n <= 1024";
}

static const char *buffer_fault(const ac_loop_fn *fn)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < fn->buf.n; i++) {
        const ac_buf *m = &fn->buf.item[i];
        if (m->role != AC_BUF_LOCAL && m->where != AC_WHERE_STACK)
            return "a parameter in shared memory or registers";
        bytes += m->where == AC_WHERE_SHARED ? ac_align_up(ac_dtype_size(m->dtype, m->count), 16) : 0;
        if (m->where == AC_WHERE_THREAD && m->count > MOST_OWN * MOST_THREADS)
            return "a thread with too many elements of its own";
    }
    return bytes > MOST_SHARED ? "more than 48 KiB of shared memory" : NULL;
}

const char *ac_loop_gpu_fault(const ac_loop_fn *fn)
{
    enum { DEEP = 64 };
    int32_t depth = 0, block = 0; /* block: depth of the block loop, 0: none */
    bool grid = false, blocks = false;
    ac_mark open[DEEP];
    const char *fault = buffer_fault(fn);
    for (ac_x x = 1; x < fn->code.n && !blocks; x++)
        blocks = is_thread(fn, x);
    for (ac_x x = 1; x < fn->code.n && !fault; x++) {
        const ac_ins *i = ins(fn, x);
        const ac_mark mark = i->op == AC_L_FOR ? (ac_mark)i->aux : AC_MARK_SERIAL;
        if (mark >= AC_MARK_GRID)
            fault = loop_fault(fn, i, depth, grid, block > 0);
        if (i->op == AC_L_FOR || i->op == AC_L_IF) {
            if (depth < DEEP)
                open[depth] = mark;
            depth++;
            grid |= mark == AC_MARK_GRID;
            block = mark == AC_MARK_BLOCK ? depth : block;
        } else if (i->op == AC_L_END && depth > 0) {
            block = block == depth ? 0 : block;
            depth--;
            grid &= !(depth == 0 && open[0] == AC_MARK_GRID);
        }
        if (!blocks || fault)
            continue;
        if (i->op == AC_L_FAIL_IF)
            fault = "fails where threads wait for each other";
        if (i->op == AC_L_STORE && grid && !block)
            fault = "all threads store the same";
        const bool access = i->op == AC_L_LOAD || i->op == AC_L_STORE;
        int64_t constant;
        ac_x k;
        if (access && fn->buf.item[i->aux].where == AC_WHERE_THREAD && !ac_thread_element(fn, i->a, &constant, &k))
            fault = "an element that is not the thread's own";
    }
    return fault;
}
