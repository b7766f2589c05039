/* gpu.c - checks the form of functions with grid and block loops.
 *
 *     for g .. grid                       at the top only; iterations are independent
 *       for t 0 .. 256 block              threads; between two block loops all of them wait for each other
 *         shared[..] = ..
 *       end
 *       for k ..                          code around block loops is uniform over all threads
 *         for t 0 .. 256 block
 *           acc[2 * 256 + t] = ..         registers: element 2 of thread t
 *
 * So a block loop is a phase: no iteration may read what another one stores in the same phase. The evaluator runs
 * phases as plain loops, one after another; printers for GPUs put a barrier after each. */
#include "ir/loop/builder.h"

enum { MOST_THREADS = 1024, MOST_OWN = 256 };

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

/* t, or t xor a power of two below 32. */
static ac_x thread_of(const ac_loop_fn *fn, ac_x x, int32_t *mask)
{
    const ac_ins *i = ins(fn, x);
    *mask = 0;
    if (is_thread(fn, x))
        return x;
    const ac_ins *m = i->op == AC_L_XOR ? ins(fn, i->b) : i;
    if (m->op != AC_L_CONST || i->op != AC_L_XOR || m->k.i < 1 || m->k.i > 16 || (m->k.i & (m->k.i - 1)) ||
        !is_thread(fn, i->a))
        return 0;
    *mask = (int32_t)m->k.i;
    return i->a;
}

bool ac_thread_element(const ac_loop_fn *fn, ac_x index, int64_t *constant, ac_x *k, int32_t *mask)
{
    const ac_ins *i = ins(fn, index);
    *k = 0;
    *constant = 0;
    if (thread_of(fn, index, mask))
        return true;
    if (i->op != AC_L_ADD)
        return false;
    ac_x t = thread_of(fn, i->b, mask);
    if (t)
        return times(fn, i->a, threads_of(fn, t), constant, k);
    t = thread_of(fn, i->a, mask);
    return t && times(fn, i->b, threads_of(fn, t), constant, k);
}

/* True if the phase around x stores to the buffer. */
static bool stored_in_phase(const ac_loop_fn *fn, ac_x phase, int32_t buf)
{
    for (ac_x x = phase + 1, depth = 1; depth > 0 && x < fn->code.n; x++) {
        const ac_ins *i = ins(fn, x);
        depth += i->op == AC_L_FOR || i->op == AC_L_IF ? 1 : i->op == AC_L_END ? -1 : 0;
        if ((i->op == AC_L_STORE || i->op == AC_L_MMA) && i->aux == buf)
            return true;
    }
    return false;
}

/* An access to a buffer in the threads' registers. inner: it is in a loop or branch of the phase. */
static const char *own_fault(const ac_loop_fn *fn, const ac_ins *i, ac_x phase, bool inner)
{
    int64_t constant;
    ac_x k;
    int32_t mask;
    if (!phase || !ac_thread_element(fn, i->a, &constant, &k, &mask))
        return "an element that is not the thread's own";
    if (!mask)
        return NULL;
    if (i->op == AC_L_STORE || stored_in_phase(fn, phase, i->aux))
        return "a neighbour's element that changes in this phase";
    const bool word = ac_dtype_bits((ac_dtype)i->dtype) == 32 && (i->dtype == AC_F32 || i->dtype == AC_I32);
    return inner || !word || threads_of(fn, phase) % 32 ? "a neighbour's element that not all threads request" : NULL;
}

/* A product of fragments, in a phase; uneven: in a branch or loop that not all threads may take. */
static const char *mma_fault(const ac_loop_fn *fn, const ac_ins *i, ac_x phase, bool uneven)
{
    const ac_x at[3] = {i->a, i->b, i->c};
    const int32_t words = (int32_t)i->k.i;
    int64_t constant;
    ac_x k;
    int32_t mask;
    if (!phase || threads_of(fn, phase) % 32 || uneven)
        return "fragments of warps that are not whole";
    if (fn->buf.item[i->aux].where != AC_WHERE_THREAD || fn->buf.item[words].where != AC_WHERE_THREAD)
        return "fragments that are not in registers";
    for (int32_t n = 0; n < 3; n++)
        if (!ac_thread_element(fn, at[n], &constant, &k, &mask) || mask)
            return "fragments that are not the thread's own";
    return stored_in_phase(fn, phase, words) ? "fragments that change in this phase" : NULL;
}

/* True if threads of a block may run it a different number of times. */
static bool is_uneven(const ac_loop_fn *fn, const ac_ins *i)
{
    return i->op == AC_L_IF || ins(fn, i->a)->op != AC_L_CONST || ins(fn, i->b)->op != AC_L_CONST;
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
    for (int32_t i = 0; i < fn->buf.n; i++) {
        const ac_buf *m = &fn->buf.item[i];
        if (m->role != AC_BUF_LOCAL && m->where != AC_WHERE_STACK)
            return "a parameter in shared memory or registers";
        if (m->where == AC_WHERE_THREAD && m->count > MOST_OWN * MOST_THREADS)
            return "a thread with too many elements of its own";
    }
    return NULL;
}

const char *ac_loop_gpu_fault(const ac_loop_fn *fn)
{
    enum { DEEP = 64 };
    int32_t depth = 0, block = 0, uneven = 0; /* depths: of the block loop, of the uneven block in it; 0: none */
    ac_x phase = 0;
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
            phase = mark == AC_MARK_BLOCK ? x : phase;
            block = mark == AC_MARK_BLOCK ? depth : block;
            uneven = block && !uneven && is_uneven(fn, i) ? depth : uneven;
        } else if (i->op == AC_L_END && depth > 0) {
            block = block == depth ? 0 : block;
            uneven = uneven == depth ? 0 : uneven;
            depth--;
            grid &= !(depth == 0 && open[0] == AC_MARK_GRID);
        }
        if (i->op == AC_L_MMA && !fault)
            fault = mma_fault(fn, i, block ? phase : 0, uneven > 0);
        if (!blocks || fault)
            continue;
        if (i->op == AC_L_FAIL_IF)
            fault = "fails where threads wait for each other";
        if (i->op == AC_L_STORE && grid && !block)
            fault = "all threads store the same";
        const bool access = i->op == AC_L_LOAD || i->op == AC_L_STORE;
        if (access && !fault && fn->buf.item[i->aux].where == AC_WHERE_THREAD)
            fault = own_fault(fn, i, block ? phase : 0, depth > block);
    }
    return fault;
}
