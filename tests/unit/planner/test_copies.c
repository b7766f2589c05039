/* test_copies.c - places of tensors and copies of rows: the search against all cuts, places and choices of small
 * random problems. */
#include "base/random.h"
#include "planner/copies/copies.h"
#include "tests/unit/support/expect.h"

#include <string.h>

enum { STEPS = 4, TENSORS = 5, GROUPS = STEPS * (STEPS + 1), NEVER = INT32_MAX };

static uint64_t seed = AC_RANDOM_START;
static int32_t below(int32_t n)
{
    return (int32_t)ac_random(&seed, (uint64_t)n);
}

typedef struct made {
    ac_copies_problem p;
    ac_copies_tensor tensor[TENSORS];
    ac_copies_group group[GROUPS];
    ac_copies_use use[GROUPS][TENSORS];
    ac_copies_save save[GROUPS][1];
} made;

static bool outside(const ac_copies_tensor *t, int32_t begin, int32_t end)
{
    return t->first < begin || t->last >= end;
}

/* A group of steps begin to end - 1; as: the step as it is. */
static void add_group(made *m, int32_t begin, int32_t end, bool as_it_is)
{
    const int32_t i = m->p.n_groups++;
    ac_copies_group *g = &m->group[i];
    *g = (ac_copies_group){.begin = begin,
                           .end = end,
                           .bytes = below(20),
                           .fused = as_it_is ? 0 : end - begin,
                           .use = m->use[i],
                           .save = m->save[i]};
    for (int32_t t = 0; t < TENSORS; t++) {
        const ac_copies_tensor *x = &m->tensor[t];
        const bool made_here = x->first >= begin && x->first < end, read = x->last >= begin && x->first < begin;
        if (!outside(x, begin, end) || (!made_here && !(read && (x->last < end || below(2)))))
            continue;
        g->use[g->n_uses++] = (ac_copies_use){.tensor = t,
                                              .made = made_here,
                                              .window = as_it_is || !below(4) ? -1 : below(12),
                                              .copied = x->size,
                                              .accessed = x->size * (1 + below(4))};
    }
    for (int32_t a = 0; a < g->n_uses && !g->n_saves; a++)
        for (int32_t b = 0; b < g->n_uses && !g->n_saves; b++)
            if (!g->use[a].made && g->use[b].made && m->tensor[g->use[a].tensor].last < end)
                g->save[g->n_saves++] = (ac_copies_save){g->use[a].tensor, g->use[b].tensor, below(10)};
}

static void make(made *m)
{
    memset(m, 0, sizeof *m);
    m->p = (ac_copies_problem){.n_steps = STEPS,
                               .n_tensors = TENSORS,
                               .tensor = m->tensor,
                               .group = m->group,
                               .capacity = 20 + below(60),
                               .states = 64};
    for (int32_t t = 0; t < TENSORS; t++) {
        const int32_t first = t ? below(STEPS) : -1;
        m->tensor[t] = (ac_copies_tensor){.size = 1 + below(40), .first = first};
        m->tensor[t].last = first + 1 + below(STEPS - (first < 0 ? 0 : first));
        m->tensor[t].may_be_fast = below(8) && m->tensor[t].size <= m->p.capacity;
        m->tensor[t].may_be_slow = !m->tensor[t].may_be_fast || below(6);
    }
    for (int32_t begin = 0; begin < STEPS; begin++)
        for (int32_t end = begin + 1; end <= STEPS; end++) {
            if (end == begin + 1)
                add_group(m, begin, end, true);
            add_group(m, begin, end, false);
        }
}

/* The bytes in the fast memory while group g runs, and in *moved what crosses; copied: bit k for use k. */
static ac_bytes cost_of(const made *m, const ac_copies_group *g, uint32_t fast, uint32_t copied, int64_t *moved)
{
    ac_bytes bytes = g->bytes, saved = 0;
    for (int32_t t = 0; t < TENSORS; t++) {
        const ac_copies_tensor *x = &m->tensor[t];
        const bool alive = x->first < g->end && x->last >= g->begin && outside(x, g->begin, g->end);
        bytes += alive && (fast >> t & 1) ? x->size : 0;
    }
    for (int32_t k = 0; k < g->n_uses; k++) {
        const bool is_copied = copied >> k & 1;
        if (fast >> g->use[k].tensor & 1)
            continue;
        bytes += is_copied ? g->use[k].window : 0;
        *moved += is_copied ? g->use[k].copied : g->use[k].accessed;
    }
    for (int32_t k = 0; k < g->n_saves; k++)
        if ((fast >> g->save[k].operand & 1) && (fast >> g->save[k].result & 1) && g->save[k].bytes > saved)
            saved = g->save[k].bytes;
    return bytes - saved;
}

/* The least traffic from step `at` on. */
static int64_t least(const made *m, uint32_t fast, int32_t at)
{
    int64_t best = at == STEPS ? 0 : NEVER;
    for (int32_t i = 0; i < m->p.n_groups; i++) {
        const ac_copies_group *g = &m->group[i];
        if (g->begin != at)
            continue;
        const int64_t rest = least(m, fast, g->end);
        for (uint32_t copied = 0; copied < 1u << g->n_uses && rest < NEVER; copied++) {
            bool can = true;
            int64_t moved = rest;
            for (int32_t k = 0; k < g->n_uses; k++)
                can &= !(copied >> k & 1) || (g->use[k].window >= 0 && !(fast >> g->use[k].tensor & 1));
            if (can && cost_of(m, g, fast, copied, &moved) <= m->p.capacity && moved < best)
                best = moved;
        }
    }
    return best;
}

static int64_t best_of(const made *m)
{
    int64_t best = NEVER;
    for (uint32_t fast = 0; fast < 1u << TENSORS; fast++) {
        bool allowed = true;
        for (int32_t t = 0; t < TENSORS; t++)
            allowed &= fast >> t & 1 ? m->tensor[t].may_be_fast : m->tensor[t].may_be_slow;
        const int64_t v = allowed ? least(m, fast, 0) : NEVER;
        best = v < best ? v : best;
    }
    return best;
}

/* The figures of the plan are those of its groups and places. */
static void replay(const made *m, const ac_copies_plan *plan)
{
    uint32_t fast = 0;
    int64_t moved = 0;
    int32_t at = 0;
    for (int32_t t = 0; t < TENSORS; t++)
        fast |= (uint32_t)plan->fast[t] << t;
    for (int32_t k = 0; k < plan->n_groups; k++) {
        const ac_copies_group *g = &m->group[plan->group[k]];
        CHECK(g->begin == at);
        at = g->end;
        CHECK(cost_of(m, g, fast, plan->copied[k], &moved) <= m->p.capacity);
    }
    CHECK(at == STEPS && moved == plan->moved && plan->accessed <= plan->moved);
}

int main(void)
{
    ac_heap heap = {0};
    int32_t solved = 0, none = 0, moving = 0;
    for (int k = 0; k < 400; k++) {
        made m;
        make(&m);
        ac_region *tmp = ac_region_open(&heap);
        ac_copies_plan plan;
        const int64_t best = best_of(&m);
        const bool ok = ac_copies_solve(&m.p, tmp, &plan);
        CHECK(ok == (best < NEVER));
        if (ok) {
            CHECK(plan.moved == best);
            replay(&m, &plan);
            moving += plan.moved > 0;
        }
        solved += ok;
        none += !ok;
        ac_region_close(tmp);
    }
    CHECK(solved > 100 && none > 10 && moving > 50);
    printf("%d solved, %d of them with traffic, %d that fit nowhere\n", solved, moving, none);
    ac_heap_close(&heap);
    return check_done();
}
