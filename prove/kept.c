/* kept.c - see kept.h. All stores to the copies are run, for all threads of all blocks, and those loads that are in the
 * cluster loop of the stores. */
#include "prove/kept.h"

#include "ir/loop/access/visit.h"
#include "ir/loop/builder.h"
#include "ir/loop/gpu_loops.h"

typedef struct copies {
    int32_t buf;
    bool stores;           /* they are run, else loads */
    ac_x loop;             /* the cluster loop that stores */
    ac_x *cluster, *phase; /* by instruction: the loops around it; 0: none */
    int64_t part, ranks, count;
    ac_x *own; /* by element of all copies: the phase that stores it in the block itself; 0: none */
    bool *has;
} copies;

static const ac_ins *ins(const ac_loop_fn *fn, ac_x x)
{
    return &fn->code.item[x];
}

static void find_around(const ac_loop_fn *fn, copies *c)
{
    ac_x cluster = 0, phase = 0;
    for (ac_x x = 1; x < fn->code.n; x++) {
        cluster = ac_gpu_is_loop(fn, x, AC_MARK_CLUSTER) ? x : cluster;
        phase = ac_gpu_is_loop(fn, x, AC_MARK_BLOCK) ? x : phase;
        c->cluster[x] = cluster;
        c->phase[x] = phase;
    }
}

static bool is_access(const ac_visit *r, ac_x x)
{
    const copies *c = r->with;
    const ac_ins *i = ins(r->fn, x);
    return i->op == (c->stores ? AC_L_STORE : AC_L_LOAD) && i->aux == c->buf && (c->stores || c->cluster[x] == c->loop);
}

static bool take(ac_visit *r, ac_x x)
{
    copies *c = r->with;
    const ac_ins *i = ins(r->fn, x);
    const int64_t at = r->value[i->a], lanes = c->stores ? ins(r->fn, i->b)->lanes : i->lanes;
    const int64_t rank = r->value[c->cluster[x]];
    if (!r->known[i->a] || at < 0 || at + lanes > c->part * c->ranks)
        return false;
    for (int64_t k = at; k < at + lanes; k++) {
        const bool mine = k / c->part == rank;
        if (c->stores) {
            c->has[k] = true;
            c->own[k] = mine && (!c->own[k] || c->phase[x] > c->own[k]) ? c->phase[x] : c->own[k];
        } else if (!mine || (k % c->part < c->count && (!c->own[k] || c->own[k] >= c->phase[x]))) {
            return false;
        }
    }
    return true;
}

static bool one_loop(const ac_loop_fn *fn, copies *c)
{
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *i = ins(fn, x);
        if (!ac_lop_has_buffer((ac_lop)i->op) || i->aux != c->buf)
            continue;
        if (i->op == AC_L_STORE && c->loop && c->loop != c->cluster[x])
            return false;
        c->loop = i->op == AC_L_STORE ? c->cluster[x] : c->loop;
        if (i->op != AC_L_STORE && (i->op != AC_L_LOAD || !c->loop))
            return false;
    }
    return c->loop != 0;
}

static bool loads_later(const ac_loop_fn *fn, const copies *c)
{
    for (ac_x x = 1; x < fn->code.n; x++)
        if (ins(fn, x)->op == AC_L_LOAD && ins(fn, x)->aux == c->buf && c->cluster[x] != c->loop)
            return true;
    return false;
}

bool ac_p_kept_in_time(ac_region *region, const ac_loop_fn *fn, int32_t buf, int64_t count)
{
    const int64_t ranks = ac_loop_cluster(fn), n = fn->buf.item[buf].count;
    if (!ranks || n % ranks || count > n / ranks)
        return false;
    copies c = {.buf = buf,
                .stores = true,
                .cluster = AC_NEW_N(region, ac_x, fn->code.n + 1),
                .phase = AC_NEW_N(region, ac_x, fn->code.n + 1),
                .part = n / ranks,
                .ranks = ranks,
                .count = count,
                .own = AC_NEW_N(region, ac_x, n + 1),
                .has = AC_NEW_N(region, bool, n + 1)};
    ac_visit r = {.fn = fn, .seeks = is_access, .found = take, .with = &c};
    find_around(fn, &c);
    if (!one_loop(fn, &c) || !ac_visit_all(region, &r))
        return false;
    for (int64_t k = 0; k < n && loads_later(fn, &c); k++)
        if (k % c.part < count && !c.has[k])
            return false;
    c.stores = false;
    return ac_visit_all(region, &r);
}
