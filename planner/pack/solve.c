/* solve.c - from a problem to a checked plan: assigns items to memories, runs the strategies, keeps the best plan.
 *
 * With one memory the strategies get the problem as it is. With several, every item starts in its own memory or in the
 * first it may use, and the memories are packed in order. The most valuable candidates of a memory stay (assign.h), the
 * rest moves on to the next that allows it; so do, one by one, items that spoil the packing. "The smallest plan" is the
 * first one of its size, in the order of strategies.def. */
#include "planner/pack/solve.h"
#include "planner/pack/strategies.h"

#include "base/progress.h"
#include "planner/pack/assign.h"
#include "planner/pack/place.h"

#include "base/vec.h"

#include <string.h>

typedef struct planner {
    const char *name;
    ac_strategy_role role;
    ac_solver *solve; /* NULL: the row is a PROVER */
    ac_prover *prove; /* NULL: it is not */
} planner;

static const planner STRATEGIES[] = {
#define STRATEGY(name, role, fn, help) {name, AC_STRATEGY_##role, fn, NULL},
#define PROVER(name, fn, help)         {name, AC_STRATEGY_EXACT, NULL, fn},
#include "planner/pack/strategies.def"
#undef STRATEGY
};

enum {
    N_STRATEGIES = sizeof STRATEGIES / sizeof *STRATEGIES,
    ALL = -1,
    EVICT_ROUNDS = 64,
    REFILL_TRIES = 16,
    LARGE = 20000, /* items; from here on the leader goes first, and the others only if it misses the bound */
    IMPROVER_ITEMS = 2048,
    /* `auto` ends with an exact search when the others missed the bound: 0.04 s for 100 items, 1 s for 500. */
    EXACT_ITEMS = 512,
    EXACT_STEPS = 1000 /* times the square of the items */
};
_Static_assert((int)N_STRATEGIES <= (int)AC_MAX_STRATEGIES, "callers of ac_solve_all have so many rows");

typedef struct job {
    ac_ctx *cx;
    const ac_problem *p;
    ac_solve_options options;
    ac_plan *plan;
    int32_t which;  /* strategy, or ALL: the smallest of all */
    ac_result *row; /* the result of each in memory 0; NULL: unused, so ALL may stop at the bound */
    int32_t n_rows;
    ac_exact_result exact; /* the result of the exact search of the current memory; all zero: it did not run */
} job;

int64_t ac_effort_steps(int effort)
{
    return effort <= 0 ? 0 : (int64_t)1000000 << (2 * (effort < 9 ? effort - 1 : 8));
}

int64_t ac_solve_steps(int effort)
{
    return effort < 0 ? 0 : ac_effort_steps(effort) + 1;
}

/* A proof, or as near to one as its steps get; with ALL it starts from the best plan so far. */
static int prove(job *j, ac_prover *solver, const ac_problem *p, const ac_bytes *so_far, ac_bytes *trial,
                 ac_region *tmp)
{
    const ac_solve_options *asked = &j->options;
    const ac_bytes capacity = p->mem[0].capacity; /* matters to a search only if nothing fits so far */
    const bool over = capacity >= 0 && !(j->which == ALL && ac_problem_top(p, so_far) <= capacity);
    const bool decide = asked->goal > 0 || over;
    ac_exact_options o = {
        .steps = ac_effort_steps(AC_EFFORT_DEFAULT), .seeded = j->which == ALL, .certificate = asked->certificate};
    o.capacity = asked->goal > 0 ? asked->goal : over ? capacity : -1;
    if (asked->steps)
        o.steps = asked->steps;
    else if (j->which == ALL && !decide)
        o.steps = EXACT_STEPS * (int64_t)p->n * p->n;
    if (o.seeded && p->n)
        memcpy(trial, so_far, (size_t)p->n * sizeof *trial);
    return solver(p, &o, trial, tmp, &j->exact);
}

/* Every strategy works in a region of its own. */
static bool run(job *j, const planner *s, const ac_problem *p, const ac_bytes *so_far, ac_bytes *trial)
{
    ac_region *own = ac_region_open(&j->cx->heap);
    const int rc = s->prove ? prove(j, s->prove, p, so_far, trial, own) : s->solve(p, trial, own);
    ac_region_close(own);
    return rc == AC_OK;
}

/* True if `auto` runs a strategy of this role after those before it. met: the best is at the bound; found: there is a
 * best one. */
static bool wanted(const job *j, ac_strategy_role role, const ac_problem *p, bool met, bool found)
{
    const bool large = p->n >= LARGE;
    if (met && (!j->row || large))
        return false;
    switch (role) {
    case AC_STRATEGY_HEURISTIC:
    case AC_STRATEGY_LEADER:
        break;
    case AC_STRATEGY_REFERENCE:
        return !large;
    case AC_STRATEGY_IMPROVER:
        return p->n <= IMPROVER_ITEMS;
    case AC_STRATEGY_EXACT: /* requested by effort or by a goal, or small enough */
        return found && (j->options.steps || j->options.goal > 0 || p->n <= EXACT_ITEMS);
    case AC_STRATEGY_YARDSTICK:
        return j->row && !large;
    }
    return true;
}

/* The strategies, in the order of `auto`. */
static void order_strategies(bool large, const planner *order[N_STRATEGIES])
{
    int32_t n = 0;
    for (int32_t k = 0; k < N_STRATEGIES; k++)
        if (large && STRATEGIES[k].role == AC_STRATEGY_LEADER)
            order[n++] = &STRATEGIES[k];
    for (int32_t k = 0; k < N_STRATEGIES; k++)
        if (!large || STRATEGIES[k].role != AC_STRATEGY_LEADER)
            order[n++] = &STRATEGIES[k];
}

/* Runs one strategy, or all; *name is the one whose offsets are kept. */
static int pack(job *j, const ac_problem *p, ac_bytes bound, ac_bytes *offset, const char **name)
{
    ac_region *tmp = ac_region_open(&j->cx->heap);
    ac_bytes *trial = AC_NEW_N(tmp, ac_bytes, p->n), best = INT64_MAX;
    const planner *order[N_STRATEGIES];
    *name = NULL;
    j->n_rows = 0;
    j->exact = (ac_exact_result){0};
    order_strategies(j->which == ALL && p->n >= LARGE, order);
    for (int32_t turn = 0; turn < N_STRATEGIES; turn++) {
        const planner *s = order[turn];
        if (j->which == ALL ? !wanted(j, s->role, p, best <= bound, *name != NULL) : s != &STRATEGIES[j->which])
            continue;
        const bool solved = run(j, s, p, offset, trial);
        ac_progress_more(j->cx);
        const ac_bytes top = solved ? ac_problem_top(p, trial) : -1;
        if (j->row)
            j->row[j->n_rows++] = (ac_result){s->name, top};
        if (!solved || top >= best || (s->role == AC_STRATEGY_YARDSTICK && j->which == ALL))
            continue;
        best = top;
        *name = s->name;
        if (p->n)
            memcpy(offset, trial, (size_t)p->n * sizeof *offset);
    }
    ac_region_close(tmp);
    return *name ? AC_OK : AC_FAIL;
}

/* Several memories. */

static bool allowed(const ac_item *it, int32_t m)
{
    return it->mem >= 0 ? it->mem == m : !it->mems || (m < 32 && (it->mems >> m & 1u));
}

static int32_t next_memory(const ac_problem *p, const ac_item *it, int32_t m)
{
    while (m < p->n_mems && !allowed(it, m))
        m++;
    return m;
}

/* True if item i can move from its memory m to a later one. */
static bool movable(const job *j, int32_t i, int32_t m)
{
    const ac_item *it = &j->p->item[i];
    return j->plan->mem[i] == m && it->size && it->fixed < 0 && it->mem < 0 &&
           next_memory(j->p, it, m + 1) < j->p->n_mems;
}

static void send_on(job *j, int32_t i, int32_t m)
{
    j->plan->mem[i] = next_memory(j->p, &j->p->item[i], m + 1);
}

/* Keeps the most valuable candidates of memory m there, by the sum of bytes alive in each step; moves the others on. */
static void choose(job *j, int32_t m, const int64_t *value, ac_region *tmp)
{
    bool *keep = AC_NEW_N(tmp, bool, j->p->n);
    bool any = false;
    for (int32_t i = 0; i < j->p->n; i++)
        any |= keep[i] = movable(j, i, m);
    if (!any)
        return;
    ac_assign_choose(j->p, j->plan->mem, m, value, keep, tmp);
    for (int32_t i = 0; i < j->p->n; i++)
        if (movable(j, i, m) && !keep[i])
            send_on(j, i, m);
}

/* Moves items on from memory m if they cannot be packed although the sum of their bytes fits: of those that end above
 * the capacity the one with the least value per byte; after many rounds all of them. false: none can move. */
static bool evict(job *j, int32_t m, const ac_problem *q, const int32_t *back, const ac_bytes *offset,
                  const int64_t *value, int32_t round)
{
    const ac_bytes capacity = j->p->mem[m].capacity;
    int32_t least = -1, any_where = -1;
    bool any = false;
    for (int32_t k = 0; k < q->n; k++) {
        const int32_t i = back[k];
        const double worth = (double)value[i] / (double)(q->item[k].size ? q->item[k].size : 1);
        if (!movable(j, i, m))
            continue;
        int32_t *best = offset[k] + q->item[k].size > capacity ? &least : &any_where;
        if (best == &least && round >= EVICT_ROUNDS) {
            send_on(j, i, m);
            any = true;
        } else if (*best < 0 || worth < (double)value[*best] / (double)j->p->item[*best].size) {
            *best = i;
        }
    }
    if (any)
        return true;
    least = least >= 0 ? least : any_where; /* the item over the capacity may be fixed, but not one below it */
    if (least >= 0)
        send_on(j, least, m);
    return least >= 0;
}

static void set_proof(ac_plan *plan, ac_bytes top, ac_bytes bound, const ac_exact_result *exact)
{
    plan->proven = exact->proven > bound ? exact->proven : bound;
    plan->proof = plan->proven != top ? AC_PROOF_NONE : top == bound ? AC_PROOF_BOUND : AC_PROOF_CERTIFICATE;
}

/* Packs what plan->mem puts into memory m. *fits: within its capacity. Keeps the offsets if so, or if `keep`; without,
 * one more item to send on is found, if there is one. */
static int pack_part(job *j, int32_t m, bool keep, const int64_t *value, int32_t round, bool *fits, bool *again)
{
    const char *name = NULL;
    ac_region *tmp = ac_region_open(&j->cx->heap);
    int32_t *back = AC_NEW_N(tmp, int32_t, j->p->n);
    ac_problem q = ac_problem_part(j->p, j->plan->mem, m, back, tmp);
    ac_bytes *offset = AC_NEW_N(tmp, ac_bytes, q.n);
    const ac_bytes capacity = j->p->mem[m].capacity;
    const ac_bound bound = ac_problem_bound(&q, tmp);
    job part = *j;
    if (m) { /* rows, goal and certificate are about memory 0 */
        part.row = NULL;
        part.options = (ac_solve_options){.steps = j->options.steps};
    }
    if (value && !part.options.steps) /* packed many times */
        part.options.steps = EXACT_STEPS * ((int64_t)q.n * q.n + 1);
    const int rc = pack(&part, &q, bound.aligned, offset, &name);
    const ac_bytes top = ac_problem_top(&q, offset);
    *fits = capacity < 0 || top <= capacity;
    *again = rc == AC_OK && !*fits && value && evict(j, m, &q, back, offset, value, round);
    if (rc == AC_OK && !*again && (*fits || keep)) {
        for (int32_t k = 0; k < q.n; k++)
            j->plan->offset[back[k]] = offset[k];
        j->plan->mem_bytes[m] = top;
        if (!m) {
            j->n_rows = part.n_rows;
            j->plan->bound = bound.aligned;
            j->plan->strategy = name;
            set_proof(j->plan, top, bound.aligned, &part.exact);
        }
    }
    ac_region_close(tmp);
    return rc;
}

/* Tries to take items back that were sent on from memory m, dearest first: the others may leave room. */
static int refill(job *j, int32_t m, const int32_t *before, const int64_t *value, ac_region *tmp)
{
    bool *tried = AC_NEW_N(tmp, bool, j->p->n);
    for (int32_t tries = 0; tries < REFILL_TRIES; tries++) {
        int32_t best = -1;
        for (int32_t i = 0; i < j->p->n; i++)
            if (before[i] == m && j->plan->mem[i] != m && !tried[i] && j->p->item[i].size <= j->p->mem[m].capacity &&
                (best < 0 || value[i] > value[best]))
                best = i;
        if (best < 0)
            break;
        tried[best] = true;
        bool fits, again;
        const int32_t there = j->plan->mem[best];
        j->plan->mem[best] = m;
        AC_TRY(pack_part(j, m, false, NULL, 0, &fits, &again));
        if (!fits)
            j->plan->mem[best] = there;
    }
    return AC_OK;
}

/* True if all candidates of memory m fit together. Results inside their operands take less than the sum of bytes used
 * for choosing.
 */
static int try_all(job *j, int32_t m, bool *fits)
{
    bool again;
    *fits = false;
    for (int32_t i = 0; i < j->p->n; i++)
        if (j->plan->mem[i] == m && j->p->item[i].size > j->p->mem[m].capacity)
            return AC_OK;
    return pack_part(j, m, false, NULL, 0, fits, &again);
}

static int pack_memory(job *j, int32_t m)
{
    ac_region *tmp = ac_region_open(&j->cx->heap);
    const bool several = j->p->n_mems > 1 && j->p->mem[m].capacity >= 0;
    const int64_t *value = several ? ac_assign_value(j->p, tmp) : NULL;
    const int32_t *before = several ? ac_copy(tmp, j->plan->mem, (size_t)j->p->n * sizeof *before) : NULL;
    bool fits, again;
    int32_t round = 0;
    int rc = AC_OK;
    const bool overlap = several && j->p->n_pairs;
    if (overlap && ((rc = try_all(j, m, &fits)) != AC_OK || fits)) {
        ac_region_close(tmp);
        return rc;
    }
    if (several)
        choose(j, m, value, tmp);
    while ((rc = pack_part(j, m, true, value, round, &fits, &again)) == AC_OK && again)
        round++;
    if (rc == AC_OK && (round || overlap) && fits)
        rc = refill(j, m, before, value, tmp);
    ac_region_close(tmp);
    return rc;
}

static int find_strategy(ac_ctx *cx, const char *name, int32_t *which)
{
    const char *known[N_STRATEGIES + 1] = {"auto"};
    *which = ALL;
    if (!strcmp(name, "auto"))
        return AC_OK;
    for (int32_t k = 0; k < N_STRATEGIES; k++) {
        known[k + 1] = STRATEGIES[k].name;
        if (!strcmp(name, STRATEGIES[k].name)) {
            *which = k;
            return AC_OK;
        }
    }
    ac_error(cx, (ac_place){0}, E0501, "unknown planner '%s'", name);
    const char *close = ac_closest(name, known, N_STRATEGIES + 1);
    if (close)
        return ac_help(cx, "did you mean '%s'?", close);
    char *list = ac_strdup(cx->region, known[0]);
    for (int32_t k = 1; k <= N_STRATEGIES; k++)
        list = ac_strf(cx->region, "%s, %s", list, known[k]);
    return ac_help(cx, "planners: %s", list);
}

/* Capacities are left out of the final check: a plan that is too large is a valid plan over its budget, which is for
 * the caller to judge (ac_report_over_budget). */
static int check_plan(ac_ctx *cx, const ac_problem *p, const ac_plan *plan)
{
    ac_problem roomy = *p;
    roomy.mem = ac_copy(cx->region, p->mem, (size_t)p->n_mems * sizeof *p->mem);
    for (int32_t m = 0; m < p->n_mems; m++)
        roomy.mem[m].capacity = -1;
    return ac_plan_check(cx, NULL, &roomy, plan);
}

static int solve(job *j)
{
    const ac_problem *p = j->p;
    ac_plan *plan = j->plan;
    *plan = (ac_plan){.offset = AC_NEW_N(j->cx->region, ac_bytes, p->n),
                      .mem = AC_NEW_N(j->cx->region, int32_t, p->n),
                      .mem_bytes = AC_NEW_N(j->cx->region, ac_bytes, p->n_mems)};
    for (int32_t i = 0; i < p->n; i++) {
        plan->mem[i] = next_memory(p, &p->item[i], 0);
        if (plan->mem[i] == p->n_mems)
            return ac_error(j->cx, (ac_place){.node = p->item[i].name}, E0901, "no memory allows this item");
    }
    for (int32_t m = 0; m < p->n_mems; m++)
        AC_TRY(pack_memory(j, m));
    plan->arena_bytes = plan->mem_bytes[0];
    return check_plan(j->cx, p, plan);
}

static ac_solve_options given(const ac_solve_options *options)
{
    return options ? *options : (ac_solve_options){0};
}

int ac_solve(ac_ctx *cx, const ac_problem *p, const char *strategy, const ac_solve_options *options, ac_plan *out)
{
    job j = {.cx = cx, .p = p, .options = given(options), .plan = out};
    AC_TRY(find_strategy(cx, strategy, &j.which));
    return solve(&j);
}

int ac_solve_all(ac_ctx *cx, const ac_problem *p, const char *strategy, const ac_solve_options *options, ac_plan *out,
                 ac_result *row, int32_t *n_rows)
{
    job j = {.cx = cx, .p = p, .options = given(options), .plan = out, .which = ALL, .row = row};
    int32_t which;
    AC_TRY(find_strategy(cx, strategy, &which));
    AC_TRY(solve(&j));
    *n_rows = j.n_rows;
    return which == ALL ? AC_OK : ac_solve(cx, p, strategy, options, out);
}

int ac_solve_each(ac_ctx *cx, const ac_problem *p, const ac_solve_options *options, const ac_result *row,
                  int32_t n_rows, ac_plan **plan, int32_t *n_plans)
{
    *plan = AC_NEW_N(cx->region, ac_plan, n_rows);
    *n_plans = 0;
    for (int32_t k = 0; k < n_rows; k++)
        if (row[k].arena_bytes >= 0)
            AC_TRY(ac_solve(cx, p, row[k].strategy, options, &(*plan)[(*n_plans)++]));
    return AC_OK;
}
