/* mail.c - finds the phases of a cluster whose blocks need no barrier: the memory of each block counts the bytes that
 * others store there (st.async and an mbarrier), and the block goes on when all have come. A barrier of the cluster
 * has to order all memory of the device, which takes longer.
 *
 * If a block has all bytes of a phase, every block has stored its part of them, and has read all that it reads in that
 * phase: stores come last, after a barrier of the block. So no block is more than one phase ahead of another, and two
 * counters, in turn, do. */
#include "codegen/cuda/cuda.h"
#include "ir/loop/builder.h"
#include "ir/loop/gpu_loops.h"
#include "ir/loop/ins_fields.h"

#include <string.h>

enum { MOST_RANKS = 8 };

typedef struct counter {
    const ac_loop_fn *fn;
    int64_t *value; /* by instruction */
    bool *known;
    int64_t rank, thread;
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

static void evaluate(counter *c, ac_x x)
{
    const ac_ins *i = ins(c->fn, x);
    const int32_t n = ac_lop_arity((ac_lop)i->op);
    c->known[x] = i->op == AC_L_CONST && !ac_dtype_is_float((ac_dtype)i->dtype);
    c->value[x] = c->known[x] ? i->k.i : 0;
    if (!n || i->lanes != 1 || ac_dtype_is_float((ac_dtype)i->dtype) || i->op == AC_L_FOR)
        return;
    const ac_x b = n > 1 ? i->b : i->a, d = n > 2 ? i->c : i->a;
    c->known[x] = c->known[i->a] && c->known[b] && c->known[d] &&
                  ac_ins_integer(i, c->value[i->a], c->value[b], c->value[d], &c->value[x]);
}

static void set(counter *c, ac_x x, int64_t value)
{
    c->known[x] = true;
    c->value[x] = value;
}

/* A store of the present thread. False: it is not known where to. */
static bool count_store(counter *c, ac_x x)
{
    const ac_ins *i = ins(c->fn, x);
    ac_spread_place p;
    if (!ac_spread_place_of(c->fn, i->aux, i->a, &p) || (p.rank && !c->known[p.rank]))
        return false;
    const int64_t to = p.rank ? c->value[p.rank] : p.rank_k;
    if (to < 0 || to >= MOST_RANKS)
        return false;
    c->bytes[c->rank][to] += ac_dtype_size(c->fn->buf.item[i->aux].dtype, ins(c->fn, i->b)->lanes);
    return true;
}

static bool run(counter *c, ac_x x, ac_x end);

/* A loop or a branch at x, up to `end`. */
static bool run_block(counter *c, ac_x x, ac_x end)
{
    const ac_ins *i = ins(c->fn, x);
    if (!any_gives(c->fn, x, end))
        return true;
    ac_x other = x + 1; /* ELSE, or END */
    for (int32_t depth = 0; other < end && (depth || ins(c->fn, other)->op != AC_L_ELSE); other++)
        depth += ins(c->fn, other)->op == AC_L_FOR || ins(c->fn, other)->op == AC_L_IF
                     ? 1
                     : -(ins(c->fn, other)->op == AC_L_END);
    if (i->op == AC_L_IF)
        return c->known[i->a] && (c->value[i->a] ? run(c, x + 1, other) : other == end || run(c, other + 1, end));
    if (!c->known[i->a] || !c->known[i->b] || i->k.i < 1)
        return false;
    for (int64_t v = c->value[i->a], last = c->value[i->b]; v < last; v += i->k.i) {
        set(c, x, v);
        if (!run(c, x + 1, end))
            return false;
    }
    return true;
}

static bool run(counter *c, ac_x x, ac_x end)
{
    for (; x < end; x++) {
        const ac_ins *i = ins(c->fn, x);
        evaluate(c, x);
        if (i->op == AC_L_FOR || i->op == AC_L_IF) {
            const ac_x close = ac_cuda_end_of(c->fn, x);
            if (!run_block(c, x, close))
                return false;
            x = close;
        } else if (gives(c->fn, x) && !count_store(c, x)) {
            return false;
        }
    }
    return true;
}

/* Bytes that each block gets from the stores of block loop `phase` in the cluster loop: the same for each, and every
 * block gives some to every block. Else 0. */
static int64_t bytes_of(const ac_loop_fn *fn, ac_x cluster, ac_x phase, ac_region *tmp)
{
    const int64_t ranks = ac_gpu_trips(fn, cluster), threads = ac_gpu_trips(fn, phase);
    const ac_x end = ac_cuda_end_of(fn, phase);
    counter c = {.fn = fn, .value = AC_NEW_N(tmp, int64_t, fn->code.n), .known = AC_NEW_N(tmp, bool, fn->code.n)};
    if (ranks > MOST_RANKS)
        return 0;
    for (c.rank = 0; c.rank < ranks; c.rank++) {
        for (ac_x x = 1; x < phase; x++) {
            evaluate(&c, x);
            if (x == cluster)
                set(&c, x, c.rank);
        }
        for (c.thread = 0; c.thread < threads; c.thread++) {
            set(&c, phase, c.thread);
            if (!run(&c, phase + 1, end))
                return 0;
        }
    }
    int64_t first = 0;
    for (int64_t to = 0; to < ranks; to++) {
        int64_t sum = 0;
        for (int64_t from = 0; from < ranks; from++) {
            if (!c.bytes[from][to])
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

/* Values that can be sent: one or four floats, an i32. */
static bool can_send(const ac_loop_fn *fn, ac_x x)
{
    const ac_ins *i = ins(fn, x), *v = ins(fn, i->b);
    const ac_dtype d = fn->buf.item[i->aux].dtype;
    return (d == AC_F32 && v->lanes == 4 && i->flags & AC_F_ALIGNED) ||
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
