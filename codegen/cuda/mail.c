/* mail.c - finds the phases of a cluster whose blocks need no barrier: the memory of each block counts the bytes that
 * others store there (st.async and an mbarrier), and the block goes on when all have come. A barrier of the cluster
 * has to order all memory of the device, which takes longer.
 *
 * If a block has all bytes of a phase, every block has stored its part of them, and has read all that it reads in that
 * phase: stores come last, after a barrier of the block. So no block is more than one phase ahead of another, and two
 * counters, in turn, do. */
#include "codegen/cuda/cuda.h"
#include "ir/loop/access/visit.h"
#include "ir/loop/gpu_loops.h"

enum { MOST_RANKS = 8 };

/* Bytes from block to block in one phase. */
typedef struct counter {
    ac_x cluster, phase, end;
    int64_t bytes[MOST_RANKS][MOST_RANKS]; /* from, to */
} counter;

static const ac_ins *ins(const ac_loop_fn *fn, ac_x x)
{
    return &fn->code.item[x];
}

/* A store to the memory of a block that the program computes. */
static bool gives(const ac_loop_fn *fn, ac_x x)
{
    const ac_ins *i = ins(fn, x);
    ac_spread_place p;
    return i->op == AC_L_STORE && fn->buf.item[i->aux].where == AC_WHERE_SPREAD &&
           !(ac_spread_place_of(fn, i->aux, i->a, &p) && p.own);
}

static bool any_gives(const ac_loop_fn *fn, ac_x from, ac_x end)
{
    for (ac_x x = from; x < end; x++)
        if (gives(fn, x))
            return true;
    return false;
}

/* Reads memory that a block may store to while this one reads it, unless they wait for each other. */
static bool reads(const ac_loop_fn *fn, ac_x x)
{
    const ac_ins *i = ins(fn, x);
    const ac_buf *b = &fn->buf.item[i->aux];
    return i->op == AC_L_LOAD && b->role != AC_BUF_CONST && b->where != AC_WHERE_THREAD && b->where != AC_WHERE_SHARED;
}

/* ------------------------------------------------------------------ bytes */

static bool is_counted(const ac_visit *r, ac_x x)
{
    const counter *c = r->with;
    return x > c->phase && x < c->end && gives(r->fn, x);
}

/* A store of a thread. False: it is not known where to. */
static bool count_store(ac_visit *r, ac_x x)
{
    counter *c = r->with;
    const ac_ins *i = ins(r->fn, x), *v = ins(r->fn, i->b);
    ac_spread_place p;
    if (!ac_spread_place_of(r->fn, i->aux, i->a, &p) || (p.rank && !r->known[p.rank]))
        return false;
    const int64_t to = p.rank ? r->value[p.rank] : p.rank_k;
    if (to < 0 || to >= MOST_RANKS)
        return false;
    c->bytes[r->value[c->cluster]][to] += ac_dtype_size((ac_dtype)v->dtype, v->lanes);
    return true;
}

/* Bytes that each block gets from the stores of block loop `phase` in the cluster loop: the same for each, and every
 * block gives some to every other block. Else 0. */
static int64_t bytes_of(const ac_loop_fn *fn, ac_x cluster, ac_x phase, ac_region *tmp)
{
    const int64_t ranks = ac_gpu_trips(fn, cluster);
    counter c = {.cluster = cluster, .phase = phase, .end = ac_cuda_end_of(fn, phase)};
    ac_visit r = {.fn = fn, .seeks = is_counted, .found = count_store, .with = &c, .inside = cluster};
    if (ranks > MOST_RANKS || !ac_visit_all(tmp, &r))
        return 0;
    int64_t first = 0;
    for (int64_t to = 0; to < ranks; to++) {
        int64_t sum = 0;
        for (int64_t from = 0; from < ranks; from++) {
            if (from != to && !c.bytes[from][to])
                return 0;
            sum += c.bytes[from][to];
        }
        first = to ? first : sum;
        if (sum != first)
            return 0;
    }
    return first;
}

/* ------------------------------------------------------------------ order */

/* Values that can be sent: one or four floats, an i32, 4 or 16 bytes. */
static bool can_send(const ac_loop_fn *fn, ac_x x)
{
    const ac_ins *i = ins(fn, x), *v = ins(fn, i->b);
    const ac_dtype d = fn->buf.item[i->aux].dtype;
    const bool aligned = i->flags & AC_F_ALIGNED;
    if (d == AC_I8 || d == AC_U8)
        return aligned && v->op == AC_L_LOAD && (v->lanes == 4 || v->lanes == 16);
    return (d == AC_F32 && v->lanes == 4 && aligned) ||
           ((d == AC_F32 || d == AC_I32) && v->lanes == 1 && ac_dtype_size((ac_dtype)v->dtype, 1) == 4);
}

/* True if what the phase reads of others' memory is read before the thread's last store there: in the branch of a
 * later store. */
static bool reads_first(const ac_loop_fn *fn, ac_x phase, ac_x end)
{
    for (ac_x x = phase; x < end; x++) {
        if (!reads(fn, x))
            continue;
        ac_x close = x, last = 0;
        for (int32_t depth = 0; close < end && depth >= 0; close++) {
            const ac_ins *i = ins(fn, close);
            depth += i->op == AC_L_FOR || i->op == AC_L_IF ? 1 : i->op == AC_L_END || i->op == AC_L_ELSE ? -1 : 0;
            depth += i->op == AC_L_ELSE && depth >= 0;
            last = !depth && gives(fn, close) ? close : last;
        }
        if (!last)
            return false;
    }
    return true;
}

/* The block loop of the cluster loop that gives, if it comes last, and the block's threads have waited for each other
 * after earlier reads. Else 0. */
static ac_x giving_phase(const ac_loop_fn *fn, ac_x cluster)
{
    const ac_x end = ac_cuda_end_of(fn, cluster);
    bool pending = false;
    for (ac_x x = cluster + 1; x < end; x++) {
        if (reads(fn, x))
            pending = true;
        if (!ac_gpu_is_loop(fn, x, AC_MARK_BLOCK))
            continue;
        const ac_x phase = x, close = ac_cuda_end_of(fn, x);
        if (any_gives(fn, x, close))
            return close + 1 == end && !pending && reads_first(fn, x, close) ? x : 0;
        for (; x < close; x++)
            pending |= reads(fn, x);
        pending &= !ac_cuda_waits(fn, phase);
    }
    return 0;
}

/* Only memory of blocks goes from block to block: none of the arena is stored and loaded, and none of other blocks is
 * loaded. */
static bool gives_all_by_stores(const ac_loop_fn *fn)
{
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *i = ins(fn, x);
        if (i->op != AC_L_LOAD)
            continue;
        const ac_buf *b = &fn->buf.item[i->aux];
        ac_spread_place p;
        if (b->where == AC_WHERE_SPREAD && !(ac_spread_place_of(fn, i->aux, i->a, &p) && p.own))
            return false;
        for (ac_x y = 1; y < fn->code.n && b->role != AC_BUF_LOCAL; y++)
            if (ins(fn, y)->op == AC_L_STORE && ins(fn, y)->aux == i->aux)
                return false;
    }
    return true;
}

static int64_t find(const ac_loop_fn *fn, ac_x cluster, ac_region *tmp)
{
    const ac_x end = ac_cuda_end_of(fn, cluster);
    for (ac_x x = cluster; x < end; x++)
        if (gives(fn, x) && !can_send(fn, x))
            return 0;
    const ac_x phase = gives_all_by_stores(fn) ? giving_phase(fn, cluster) : 0;
    return phase ? bytes_of(fn, cluster, phase, tmp) : 0;
}

const int64_t *ac_cuda_mail(const ac_loop_fn *fn, ac_region *region)
{
    int64_t *bytes = NULL;
    for (ac_x x = 1; x < fn->code.n; x++) {
        if (!ac_gpu_is_loop(fn, x, AC_MARK_CLUSTER))
            continue;
        const ac_x end = ac_cuda_end_of(fn, x);
        const int64_t n = find(fn, x, region);
        if (n && !bytes)
            bytes = AC_NEW_N(region, int64_t, fn->code.n);
        for (ac_x k = x; k < end && n; k++)
            if (k == x || gives(fn, k))
                bytes[k] = n;
        x = end;
    }
    return bytes;
}
