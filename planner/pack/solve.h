/* solve.h - from a problem to a checked plan: by one strategy, or by the best of all.
 *
 *     ac_plan plan;
 *     AC_TRY(ac_solve(cx, &problem, "auto", NULL, &plan));        "auto": every heuristic, and the smallest plan of all
 *
 *     const ac_solve_options o = {.steps = ac_solve_steps(7), .goal = 65536};
 *     ac_result row[AC_MAX_STRATEGIES];                           the result of each strategy
 *     AC_TRY(ac_solve_all(cx, &problem, "auto", &o, &plan, row, &n_rows));
 *
 * The plan has been through ac_plan_check. Memories are in order of preference: each keeps the most valuable items that
 * fit (assign.h), the rest moves on to the next that allows it. A plan that exceeds a capacity anyway is a valid plan;
 * its caller decides. plan.bound is that of the items that ended up in memory 0.
 *
 * Ownership: the plan is in the context's region; problem and options are read, never changed or kept. Errors: AC_FAIL
 * with a diagnostic: an unknown name (E0501, with the nearest one), an item that no memory allows. Cost: that of the
 * strategies, see strategies.def and each file's head; counted in steps, never in time, so that the result is the same
 * on every machine. */
#ifndef AC_PLANNER_PACK_SOLVE_H
#define AC_PLANNER_PACK_SOLVE_H
#include "planner/pack/problem.h"

/* The effort and the goal of a call; all zero: the smallest plan that the usual effort finds. */
typedef struct ac_solve_options {
    int64_t steps; /* > 0: the effort of a proof, see ac_solve_steps; 0: the usual, and only for small problems */
    ac_bytes goal; /* > 0: a proof ends with the first plan of memory 0 of so many bytes or fewer */
    ac_sink *certificate; /* NULL, or where a proof writes why nothing smaller exists, see docs/certificates.md */
} ac_solve_options;

enum { AC_EFFORT_DEFAULT = 5 };
int64_t ac_effort_steps(int effort); /* 0..9: 0, then 1 million times 4 per level from 1; 5 is about a second */
int64_t ac_solve_steps(int effort);  /* the same as ac_solve_options.steps, where 0 is the usual: so is any below 0 */

/* One row of what the strategies reached. */
typedef struct ac_result {
    const char *strategy;
    ac_bytes arena_bytes; /* -1: it refused */
} ac_result;

enum { AC_MAX_STRATEGIES = 16 };

/* strategy: a name of strategies.def or "auto". options NULL: all zero. */
int ac_solve(ac_ctx *cx, const ac_problem *p, const char *strategy, const ac_solve_options *options, ac_plan *out);
/* The same, with a row for every strategy that "auto" runs; row: AC_MAX_STRATEGIES of them. */
int ac_solve_all(ac_ctx *cx, const ac_problem *p, const char *strategy, const ac_solve_options *options, ac_plan *out,
                 ac_result *row, int32_t *n_rows);
/* Reruns every strategy in `row` that did not refuse, in their order, and returns the plans. */
int ac_solve_each(ac_ctx *cx, const ac_problem *p, const ac_solve_options *options, const ac_result *row,
                  int32_t n_rows, ac_plan **plan, int32_t *n_plans);

/* ------------------------------------------------------------------ strategies: one file each */

/* The role of a strategy in `auto`. */
typedef enum ac_strategy_role {
    AC_STRATEGY_HEURISTIC, /* always runs */
    AC_STRATEGY_LEADER,    /* a heuristic; goes first if items are many: the others run if it misses the bound */
    AC_STRATEGY_REFERENCE, /* methods of other systems; skipped for many items, as the slowest */
    AC_STRATEGY_IMPROVER,  /* starts from plans of the others; skipped if it could only repeat the best of them */
    AC_STRATEGY_EXACT,     /* continues from the best plan to a proof; skipped if that is not worth its steps */
    AC_STRATEGY_YARDSTICK  /* gives a row to be compared with, never a plan */
} ac_strategy_role;

/* Fills offset[i] for the items of a problem of one memory; no globals, no printing. AC_FAIL: it refuses. */
typedef int ac_solver(const ac_problem *p, ac_bytes *offset, ac_region *tmp);

/* Request and result of a strategy of role EXACT. */
typedef struct ac_exact_options {
    int64_t steps;        /* work allowed */
    ac_bytes capacity;    /* >= 0: stop at the first plan that fits; -1: minimise */
    bool seeded;          /* offset[] holds a plan to start from */
    ac_sink *certificate; /* NULL, or the sink for the text of docs/certificates.md; stays empty if there is none */
} ac_exact_options;

typedef struct ac_exact_result {
    ac_bytes arena_bytes; /* of the plan in offset[] */
    ac_bytes proven;      /* no plan is smaller than this; above the capacity: nothing fits, proven */
    ac_proof proof;       /* of arena_bytes == proven, or of proven > capacity; NONE: the steps were spent */
    int64_t steps;        /* work done */
    bool searched;        /* false: the search does not know this kind of problem */
} ac_exact_result;

typedef int ac_prover(const ac_problem *p, const ac_exact_options *o, ac_bytes *offset, ac_region *tmp,
                      ac_exact_result *out);

#endif
