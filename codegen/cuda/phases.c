/* phases.c - finds the places where threads and blocks of a kernel must wait for each other. */
#include "codegen/cuda/cuda.h"
#include "ir/loop/gpu_loops.h"

/* The memory that a phase touches, and its END. */
typedef struct touched {
    ac_x end;
    bool others; /* more than constants, a thread's own elements and late stores */
    bool remote; /* shared memory of other blocks */
} touched;

static touched touched_by(const ac_loop_fn *fn, ac_x loop)
{
    touched t = {.end = ac_cuda_end_of(fn, loop)};
    for (ac_x x = loop; x < t.end; x++) {
        const ac_ins *i = &fn->code.item[x];
        ac_spread_place p;
        const ac_buf *b = i->op == AC_L_LOAD || i->op == AC_L_STORE ? &fn->buf.item[i->aux] : NULL;
        const bool late = i->op == AC_L_STORE ? i->flags & AC_F_LATE : b && ac_cuda_is_copied(fn, x);
        t.others |= b && b->role != AC_BUF_CONST && b->where != AC_WHERE_THREAD && !late;
        t.remote |= b && b->where == AC_WHERE_SPREAD && !(ac_spread_place_of(fn, i->aux, i->a, &p) && p.own);
    }
    return t;
}

/* True if threads must wait for each other after this block loop, or blocks after this cluster loop. Not after a phase
 * that touches only constants and a thread's own elements, or stores late what no phase waits for, nor after the last
 * one; but no block ends while others use its shared memory. */
static bool must_wait(const ac_loop_fn *fn, ac_x loop)
{
    const touched t = touched_by(fn, loop);
    const bool inside = ac_gpu_is_loop(fn, loop, AC_MARK_BLOCK) && ac_loop_cluster(fn); /* of a cluster loop */
    const int32_t groups = fn->code.item[loop].groups;
    const bool arrive = groups && groups <= AC_GROUPS_OPEN; /* late stores */
    const bool last = t.end + 2 + inside >= fn->code.n;     /* only ends of these loops and of the grid loop follow */
    return (t.others || arrive) && (!last || t.remote);
}

/* True if the cluster loop around the block loop ends right after it and blocks wait there. */
static bool cluster_waits(const ac_loop_fn *fn, ac_x block_loop)
{
    const ac_x end = touched_by(fn, block_loop).end + 1;
    ac_x x = block_loop;
    while (x > 0 && !ac_gpu_is_loop(fn, x, AC_MARK_CLUSTER))
        x--;
    return x && touched_by(fn, x).end == end && must_wait(fn, x);
}

bool ac_cuda_waits(const ac_loop_fn *fn, ac_x loop)
{
    return must_wait(fn, loop) && !(ac_gpu_is_loop(fn, loop, AC_MARK_BLOCK) && cluster_waits(fn, loop));
}

/* True if blocks of a cluster use each other's memory before they wait for the first time. */
static bool begins_remote(const ac_loop_fn *fn)
{
    for (ac_x x = 1; x < fn->code.n; x++)
        if (ac_gpu_is_loop(fn, x, AC_MARK_CLUSTER)) {
            if (touched_by(fn, x).remote)
                return true;
            if (must_wait(fn, x))
                return false;
        }
    return false;
}

/* True if x is inside of loops of the grid, cluster and block alone. */
static bool runs_once(const ac_loop_fn *fn, ac_x x)
{
    bool once = true;
    for (ac_x k = 1; k < x; k++) {
        const ac_ins *i = &fn->code.item[k];
        const bool opens = i->op == AC_L_FOR ? i->aux < AC_MARK_GRID : i->op == AC_L_IF;
        once &= !(opens && ac_cuda_end_of(fn, k) > x);
    }
    return once;
}

/* The first phase that waits for late stores, if no phase up to it uses other blocks' memory: the blocks wait for each
 * other's start while their first copies are on the way. 0: they wait at once. */
static ac_x begins_in(const ac_loop_fn *fn)
{
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        if (!ac_gpu_is_loop(fn, x, AC_MARK_BLOCK))
            continue;
        if (touched_by(fn, x).remote)
            return 0;
        if (i->groups && i->groups <= AC_GROUPS_OPEN)
            return runs_once(fn, x) ? x : 0;
    }
    return 0;
}

ac_x ac_cuda_cluster_begins(const ac_loop_fn *fn)
{
    if (!begins_remote(fn))
        return 0;
    ac_x x = begins_in(fn);
    for (ac_x k = 1; k < fn->code.n && !x; k++)
        x = ac_gpu_is_loop(fn, k, AC_MARK_GRID) ? k : 0;
    return x;
}
