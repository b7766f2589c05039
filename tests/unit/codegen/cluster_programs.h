/* cluster_programs.h - random functions with cluster loops: blocks push to and pull from each other's shared memory,
 * and every thread keeps an element of its own.
 *
 *     for g .. grid
 *       for r .. cluster  for t .. block    own = x
 *       for s ..
 *         for r .. cluster
 *           for t .. block                  shared = own * 3 + s
 *           for t .. block                  spread, another block's part = shared, of another thread
 *         for r .. cluster  for t .. block  own = spread, own part + spread, part of the next block
 *       for r .. cluster  for t .. block    y = own
 *
 * Memory: the context of fresh.h. */
#ifndef AC_TESTS_CLUSTER_PROGRAMS_H
#define AC_TESTS_CLUSTER_PROGRAMS_H
#include "tests/unit/codegen/printed_programs.h"

typedef struct cluster_program {
    ac_lb b;
    int64_t ranks, threads;
    ac_x g, r, t; /* loop variables */
    int32_t own, spread;
} cluster_program;

static ac_x loop(ac_lb *to, const char *name, int64_t n, ac_mark mark)
{
    return ac_lb_for(to, name, ac_lb_i32(to, 0), ac_lb_i32(to, n), 1, mark);
}

static ac_x next_of(ac_lb *to, ac_x x, int64_t by, int64_t n)
{
    return ac_lb_mod(to, ac_lb_add(to, x, ac_lb_i32(to, by)), ac_lb_i32(to, n));
}

static void open_phase(cluster_program *p)
{
    p->r = loop(&p->b, "r", p->ranks, AC_MARK_CLUSTER);
    p->t = loop(&p->b, "t", p->threads, AC_MARK_BLOCK);
}

static void close_phase(cluster_program *p)
{
    ac_lb_end(&p->b);
    ac_lb_end(&p->b);
}

/* Element t of the part of block `rank`, or of the threads of all blocks. */
static ac_x part(cluster_program *p, ac_x rank, ac_x t)
{
    return ac_lb_add(&p->b, ac_lb_mul(&p->b, rank, ac_lb_i32(&p->b, p->threads)), t);
}

static ac_x outside(cluster_program *p)
{
    return part(p, ac_lb_add(&p->b, ac_lb_mul(&p->b, p->g, ac_lb_i32(&p->b, p->ranks)), p->r), p->t);
}

static int32_t local(cluster_program *p, const char *name, int64_t count, ac_where where)
{
    const int32_t buf = ac_lb_buf(&p->b, name, AC_I32, count, AC_BUF_LOCAL, 16, NULL);
    p->b.fn->buf.item[buf].where = where;
    return buf;
}

static void exchange(cluster_program *p, ac_x s, int32_t shared)
{
    ac_lb *to = &p->b;
    const int64_t by = 1 + rnd() % (uint32_t)p->ranks, first = rnd() % 32, last = rnd() % 32;
    open_phase(p);
    ac_x v = ac_lb_load(to, p->own, part(p, p->r, p->t), 1);
    ac_lb_store(to, shared, p->t, ac_lb_add_wrap(to, ac_lb_mul_wrap(to, v, ac_lb_i32(to, 3)), s));
    ac_lb_end(to);
    p->t = loop(to, "t", p->threads, AC_MARK_BLOCK);
    v = ac_lb_load(to, shared, next_of(to, p->t, first, p->threads), 1);
    ac_lb_store(to, p->spread, part(p, next_of(to, p->r, by, p->ranks), next_of(to, p->t, last, p->threads)), v);
    close_phase(p);
    open_phase(p);
    v = ac_lb_load(to, p->spread, part(p, p->r, p->t), 1);
    const ac_x next = ac_lb_load(to, p->spread, part(p, next_of(to, p->r, 1, p->ranks), p->t), 1);
    ac_lb_store(to, p->own, part(p, p->r, p->t), ac_lb_add_wrap(to, v, next));
    close_phase(p);
}

static const ac_loop_fn *random_cluster(void)
{
    cluster_program p = {.ranks = 2 + rnd() % 7, .threads = 32 << rnd() % 2};
    const int64_t clusters = 1 + rnd() % 3, all = p.ranks * p.threads;
    ac_lb *to = &p.b;
    ac_lb_open(to, cx.region, "cluster", NULL);
    const int32_t x = ac_lb_buf(to, "x", AC_I32, clusters * all, AC_BUF_IN, 64, NULL);
    const int32_t y = ac_lb_buf(to, "y", AC_I32, clusters * all, AC_BUF_OUT, 64, NULL);
    p.own = local(&p, "own", all, AC_WHERE_THREAD);
    p.spread = local(&p, "spread", all, AC_WHERE_SPREAD);
    const int32_t shared = local(&p, "shared", p.threads, AC_WHERE_SHARED);
    p.g = loop(to, "g", clusters, AC_MARK_GRID);
    open_phase(&p);
    ac_lb_store(to, p.own, part(&p, p.r, p.t), ac_lb_load(to, x, outside(&p), 1));
    close_phase(&p);
    const ac_x s = loop(to, "s", 3, AC_MARK_SERIAL);
    exchange(&p, s, shared);
    ac_lb_end(to);
    open_phase(&p);
    ac_lb_store(to, y, outside(&p), ac_lb_load(to, p.own, part(&p, p.r, p.t), 1));
    close_phase(&p);
    ac_lb_end(to);
    return ac_lb_close(to);
}

#endif
