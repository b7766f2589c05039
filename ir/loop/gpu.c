/* gpu.c - checks the form of functions with grid, cluster and block loops.
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
 * phases as plain loops, one after another; printers for GPUs put a barrier after each. Late stores arrive at the end
 * of the phase that waits for their group (ac_lb_groups); the evaluator stores at once.
 *
 *     for g .. grid                       with cluster loops, iterations are clusters
 *       for r 0 .. 8 cluster              blocks; after a cluster loop all blocks wait for each other
 *         for t 0 .. 256 block
 *           spread[(r + 1) % 8 * 64 + i]  shared memory of a neighbour
 *
 * A cluster loop is a phase of all blocks in the same way, and holds phases of each. */
#include "ir/loop/builder.h"
#include "ir/loop/gpu_loops.h"

enum { MOST_THREADS = 1024, MOST_OWN = 256, MOST_RANKS = 8 };

static const ac_ins *ins(const ac_loop_fn *fn, ac_x x)
{
    return &fn->code.item[x];
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
static const char *own_fault(const ac_loop_fn *fn, const ac_ins *i, ac_x phase, bool inner, int64_t ranks)
{
    int64_t constant;
    ac_x k;
    int32_t mask;
    if (!phase || !ac_thread_element(fn, i->a, &constant, &k, &mask))
        return "an element that is not the thread's own";
    if (ranks && ac_thread_blocks_at(fn, i->a) != ac_thread_blocks(fn, i->aux))
        return "elements of the threads of a block, and of all blocks, in one buffer";
    if (!mask)
        return NULL;
    if (i->op == AC_L_STORE || stored_in_phase(fn, phase, i->aux))
        return "a neighbour's element that changes in this phase";
    const bool word = ac_dtype_bits((ac_dtype)i->dtype) == 32 && (i->dtype == AC_F32 || i->dtype == AC_I32);
    return inner || !word || ac_gpu_trips(fn, phase) % 32 ? "a neighbour's element that not all threads request" : NULL;
}

/* A product of fragments, in a phase; uneven: in a branch or loop that not all threads may take. */
static const char *mma_fault(const ac_loop_fn *fn, const ac_ins *i, ac_x phase, bool uneven)
{
    const ac_x at[3] = {i->a, i->b, i->c};
    const int32_t words = (int32_t)i->k.i;
    int64_t constant;
    ac_x k;
    int32_t mask;
    if (!phase || ac_gpu_trips(fn, phase) % 32 || uneven)
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

static bool is_zero(const ac_loop_fn *fn, ac_x x)
{
    const ac_ins *i = ins(fn, x);
    return i->op == AC_L_CONST && i->k.i == 0;
}

bool ac_late_copy(const ac_loop_fn *fn, const ac_ins *i, int32_t *buf, ac_x *from, ac_x *cond)
{
    const ac_ins *v = ins(fn, i->b);
    *cond = v->op == AC_L_SELECT && is_zero(fn, v->c) ? v->a : 0;
    v = *cond ? ins(fn, v->b) : v;
    if (v->op != AC_L_LOAD || fn->buf.item[v->aux].role == AC_BUF_LOCAL)
        return false;
    const ac_ins *at = ins(fn, v->a);
    const bool chosen = *cond && at->op == AC_L_SELECT && at->a == *cond; /* without *cond it loads another element */
    *buf = v->aux;
    *from = chosen ? at->b : v->a;
    return true;
}

static const char *late_fault(const ac_loop_fn *fn, const ac_ins *i, ac_x phase)
{
    const int64_t bytes = ac_dtype_size((ac_dtype)i->dtype, i->lanes);
    int32_t buf;
    ac_x from, cond;
    if (!phase || !ins(fn, phase)->groups)
        return "a late store whose phase makes no group";
    if (fn->buf.item[i->aux].where != AC_WHERE_SHARED || !ac_late_copy(fn, i, &buf, &from, &cond))
        return "a late store that is not a copy from a parameter to shared memory";
    return bytes == 4 || bytes == 8 || bytes == 16 ? NULL : "a late store that is not of 4, 8 or 16 bytes";
}

/* The loops around an instruction; depths, 0: none. */
typedef struct around {
    int32_t depth, cluster, block;
    int32_t uneven; /* of the uneven block in the block loop */
    bool grid;
    ac_x phase; /* the last block loop */
} around;

static const char *loop_fault(const ac_loop_fn *fn, const ac_ins *i, const around *in, int64_t ranks)
{
    const ac_ins *lo = ins(fn, i->a), *hi = ins(fn, i->b);
    const bool from_0 = lo->op == AC_L_CONST && lo->k.i == 0 && hi->op == AC_L_CONST && hi->k.i > 0 && i->k.i == 1;
    if (i->aux == AC_MARK_GRID)
        return in->depth ? "a grid loop inside of a block" : from_0 ? NULL : "a grid loop that is not 0 .. n step 1";
    if (i->aux == AC_MARK_CLUSTER) {
        if (!in->grid || in->cluster || in->block)
            return "a cluster loop that is not in a grid loop, or in a block or cluster loop";
        return from_0 && hi->k.i <= MOST_RANKS && hi->k.i == ranks
                   ? NULL
                   : "a cluster loop that is not 0 .. n step 1, n <= 8, "
                     "the same n in the function";
    }
    if (!in->grid || in->block || (ranks && !in->cluster))
        return "a block loop that is not in a grid loop (or cluster loop, if there is one), or in another block loop";
    return from_0 && hi->k.i <= MOST_THREADS ? NULL : "a block loop that is not 0 .. n step 1, n <= 1024";
}

static const char *buffer_fault(const ac_loop_fn *fn, int64_t ranks)
{
    for (int32_t i = 0; i < fn->buf.n; i++) {
        const ac_buf *m = &fn->buf.item[i];
        const int64_t parts = m->where == AC_WHERE_SPREAD && ranks ? ranks : 1;
        if (m->role != AC_BUF_LOCAL && m->where != AC_WHERE_STACK)
            return "a parameter in shared memory or registers";
        if (m->count % parts)
            return "a spread buffer whose parts differ";
        if (m->where == AC_WHERE_THREAD && m->count > MOST_OWN * MOST_THREADS * (ranks ? ranks : 1))
            return "a thread with too many elements of its own";
    }
    return NULL;
}

static void enter(const ac_loop_fn *fn, around *in, ac_x x, ac_mark mark)
{
    in->depth++;
    in->grid |= mark == AC_MARK_GRID;
    in->cluster = mark == AC_MARK_CLUSTER ? in->depth : in->cluster;
    in->phase = mark == AC_MARK_BLOCK ? x : in->phase;
    in->block = mark == AC_MARK_BLOCK ? in->depth : in->block;
    in->uneven = in->block && !in->uneven && is_uneven(fn, ins(fn, x)) ? in->depth : in->uneven;
}

static void leave(around *in)
{
    in->block = in->block == in->depth ? 0 : in->block;
    in->cluster = in->cluster == in->depth ? 0 : in->cluster;
    in->uneven = in->uneven == in->depth ? 0 : in->uneven;
    in->depth--;
    in->grid &= in->depth > 0; /* a grid loop is at the top */
}

/* An instruction, if threads of the function wait for each other. */
static const char *phase_fault(const ac_loop_fn *fn, const ac_ins *i, const around *in, int64_t ranks)
{
    if (i->op == AC_L_FAIL_IF)
        return "fails where threads wait for each other";
    if (i->op == AC_L_STORE && in->grid && !in->block)
        return "all threads store the same";
    if (i->op != AC_L_LOAD && i->op != AC_L_STORE)
        return NULL;
    const ac_where where = fn->buf.item[i->aux].where;
    if (where == AC_WHERE_SPREAD && !in->cluster)
        return "a spread buffer outside of a cluster loop";
    return where == AC_WHERE_THREAD ? own_fault(fn, i, in->block ? in->phase : 0, in->depth > in->block, ranks) : NULL;
}

const char *ac_loop_gpu_fault(const ac_loop_fn *fn)
{
    around in = {0};
    const int64_t ranks = ac_loop_cluster(fn);
    const char *fault = buffer_fault(fn, ranks);
    bool blocks = false;
    for (ac_x x = 1; x < fn->code.n && !blocks; x++)
        blocks = ac_gpu_is_loop(fn, x, AC_MARK_BLOCK);
    if (ranks && !blocks)
        fault = "a cluster loop without block loops";
    for (ac_x x = 1; x < fn->code.n && !fault; x++) {
        const ac_ins *i = ins(fn, x);
        const ac_mark mark = i->op == AC_L_FOR ? (ac_mark)i->aux : AC_MARK_SERIAL;
        if (mark >= AC_MARK_GRID)
            fault = loop_fault(fn, i, &in, ranks);
        if (i->op == AC_L_FOR || i->op == AC_L_IF)
            enter(fn, &in, x, mark);
        else if (i->op == AC_L_END && in.depth > 0)
            leave(&in);
        if (i->op == AC_L_MMA && !fault)
            fault = mma_fault(fn, i, in.block ? in.phase : 0, in.uneven > 0);
        if (i->op == AC_L_STORE && i->flags & AC_F_LATE && !fault)
            fault = late_fault(fn, i, in.block ? in.phase : 0);
        if (blocks && !fault)
            fault = phase_fault(fn, i, &in, ranks);
    }
    return fault;
}
