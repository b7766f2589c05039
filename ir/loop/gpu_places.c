/* gpu_places.c - indices in the memories of a GPU: elements of a thread's own, and parts of a cluster's blocks. */
#include "ir/loop/builder.h"
#include "ir/loop/gpu_loops.h"
#include "ir/loop/ins_fields.h"

static const ac_ins *ins(const ac_loop_fn *fn, ac_x x)
{
    return &fn->code.item[x];
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
static ac_x lane_of(const ac_loop_fn *fn, ac_x x, int32_t *mask)
{
    const ac_ins *i = ins(fn, x);
    *mask = 0;
    if (ac_gpu_is_loop(fn, x, AC_MARK_BLOCK))
        return x;
    const ac_ins *m = i->op == AC_L_XOR ? ins(fn, i->b) : i;
    if (m->op != AC_L_CONST || i->op != AC_L_XOR || m->k.i < 1 || m->k.i > 16 || (m->k.i & (m->k.i - 1)) ||
        !ac_gpu_is_loop(fn, i->a, AC_MARK_BLOCK))
        return 0;
    *mask = (int32_t)m->k.i;
    return i->a;
}

/* The block loop of lane_of, or of r * threads + that; r counts the *blocks of a cluster. */
static ac_x thread_of(const ac_loop_fn *fn, ac_x x, int32_t *mask, int64_t *blocks)
{
    const ac_ins *i = ins(fn, x);
    int64_t constant;
    ac_x r, t = lane_of(fn, x, mask);
    *blocks = 1;
    if (t)
        return t;
    for (int32_t side = 0; side < 2 && i->op == AC_L_ADD; side++) {
        t = lane_of(fn, side ? i->a : i->b, mask);
        if (!t || !times(fn, side ? i->b : i->a, ac_gpu_trips(fn, t), &constant, &r) || !r ||
            !ac_gpu_is_loop(fn, r, AC_MARK_CLUSTER))
            continue;
        *blocks = ac_gpu_trips(fn, r);
        return t;
    }
    return 0;
}

/* The block loop, and how many blocks' threads have elements; 0: not an element. */
static ac_x element(const ac_loop_fn *fn, ac_x index, int64_t *constant, ac_x *k, int32_t *mask, int64_t *blocks)
{
    const ac_ins *i = ins(fn, index);
    *k = 0;
    *constant = 0;
    ac_x t = thread_of(fn, index, mask, blocks);
    for (int32_t side = 0; side < 2 && i->op == AC_L_ADD && !t; side++) {
        t = thread_of(fn, side ? i->a : i->b, mask, blocks);
        if (t && !times(fn, side ? i->b : i->a, *blocks * ac_gpu_trips(fn, t), constant, k))
            t = 0;
    }
    return t;
}

bool ac_thread_element(const ac_loop_fn *fn, ac_x index, int64_t *constant, ac_x *k, int32_t *mask)
{
    int64_t blocks;
    return element(fn, index, constant, k, mask, &blocks) != 0;
}

int64_t ac_thread_blocks_at(const ac_loop_fn *fn, ac_x index)
{
    int64_t constant, blocks;
    ac_x k;
    int32_t mask;
    return element(fn, index, &constant, &k, &mask, &blocks) ? blocks : 1;
}

int64_t ac_thread_blocks(const ac_loop_fn *fn, int32_t buf)
{
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *i = ins(fn, x);
        if ((i->op == AC_L_LOAD || i->op == AC_L_STORE) && i->aux == buf)
            return ac_thread_blocks_at(fn, i->a);
    }
    return 1;
}

int64_t ac_thread_count(const ac_loop_fn *fn, int32_t buf)
{
    for (ac_x x = 1, t = 0; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        t = ac_gpu_is_loop(fn, x, AC_MARK_BLOCK) ? x : t;
        if (t && ac_ins_uses_buffer(i, buf))
            return ac_gpu_trips(fn, t);
    }
    return 1;
}

int64_t ac_loop_cluster(const ac_loop_fn *fn)
{
    for (ac_x x = 1; x < fn->code.n; x++)
        if (ac_gpu_is_loop(fn, x, AC_MARK_CLUSTER))
            return ac_gpu_trips(fn, x);
    return 0;
}

bool ac_spread_place_of(const ac_loop_fn *fn, int32_t buf, ac_x index, ac_spread_place *p)
{
    const int64_t share = fn->buf.item[buf].count / ac_loop_cluster(fn);
    const ac_ins *i = ins(fn, index);
    *p = (ac_spread_place){0};
    if (i->op == AC_L_CONST) {
        p->rank_k = i->k.i / share;
        p->at_k = i->k.i % share;
        return true;
    }
    bool found = times(fn, index, share, &p->rank_k, &p->rank);
    for (int32_t side = 0; side < 2 && i->op == AC_L_ADD && !found; side++) {
        p->at = side ? i->a : i->b;
        found = times(fn, side ? i->b : i->a, share, &p->rank_k, &p->rank) && p->rank;
    }
    if (p->at && ins(fn, p->at)->op == AC_L_CONST) {
        p->at_k = ins(fn, p->at)->k.i;
        p->at = 0;
    }
    p->own = found && p->rank && ac_gpu_is_loop(fn, p->rank, AC_MARK_CLUSTER);
    return found;
}
