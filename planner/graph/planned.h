/* planned.h - a candidate plan as a value: steps in an order, live ranges, offsets.
 *
 *     ac_planned *p;
 *     AC_TRY(ac_plan_graph(cx, &how, &p));           the steps as they come, then each reduction that `how` has
 *     ... p->step[s], p->live->item_of[id], p->plan.offset[item] ...
 *     ac_planned_free(p);
 *
 * A reduction (reductions.def) takes a plan and returns another one; the loop in plan.c keeps the smaller of the two
 * and frees the other. Nothing is restored, since nothing is changed: a plan is filled while it is created and only
 * read afterwards.
 *
 * Memory: each plan owns a region, which is freed with it; a plan that was derived from another one keeps that one
 * alive (`base`). Errors: AC_FAIL with a diagnostic. */
#ifndef AC_PLANNER_GRAPH_PLANNED_H
#define AC_PLANNER_GRAPH_PLANNED_H
#include "ir/lower/target.h"
#include "planner/graph/live.h"
#include "planner/order/phases.h"
#include "planner/pack/solve.h"

typedef enum ac_reduction {
#define REDUCTION(id) AC_REDUCE_##id,
#include "planner/graph/reductions_ids.def"
#undef REDUCTION
    AC_REDUCTION_COUNT
} ac_reduction;

typedef uint32_t ac_reductions; /* a set: bit k is row k of reductions.def */
#define AC_REDUCE(id) (1u << AC_REDUCE_##id)

/* --pin: places tensor T in a memory, at an offset (-1: anywhere in it). */
typedef struct ac_plan_pin {
    const char *tensor, *memory;
    ac_bytes offset;
} ac_plan_pin;

/* The input of planning: graph, steps, options. Read-only; outlives every plan made from it. */
typedef struct ac_plan_how {
    const char *file; /* the model's, for messages */
    const ac_graph *graph;
    ac_lowered *const *step; /* one for each node that needs code, in the file's order */
    int32_t n_steps;
    const ac_target *target; /* the target of the lowered steps; some reductions lower them again */
    bool exact;              /* float operations keep the model's order */
    ac_bytes cache;          /* of copies of weights that a step, or a group, makes in RAM; 0: none */
    ac_live_options live;    /* but inplace, which is a reduction */
    ac_reductions reductions;
    const char *stripes; /* groups of steps that STRIPE is to make, "2-5,conv1-pool1"; NULL: those that take least */
    const char *planner; /* "auto", or a strategy */
    int effort;          /* 0..9: how long searches may take; -1: the usual */
    ac_bytes budget;     /* of budget_memory, -1: none */
    const char *budget_memory; /* NULL: the first */
    bool budget_total;         /* it is of all memories together, and of constants */
    ac_bytes constants;        /* weights that are not state */
    const ac_plan_pin *pin;
    int32_t n_pins;
    int32_t threads;  /* above 1: steps may run at once, in phases */
    double fork_cost; /* of starting and joining them, in instructions */
} ac_plan_how;

/* A plan of a step of training that computes some results again: the most bytes alive, and the work done again. */
typedef struct ac_plan_point {
    ac_bytes peak;
    int64_t again;
} ac_plan_point;

/* Findings of the reductions, for the report. */
typedef struct ac_plan_found {
    ac_order_result order;
    ac_bytes file_order_bytes; /* arena in the file's order; 0: no other was looked for */
    int32_t recomputed;        /* steps that run a second time */
    ac_bytes once_bytes;       /* arena without these */

    /* Of CHECKPOINT; work is multiply-adds and elements. */
    const bool *is_again; /* by step: it runs a second time; NULL: there was no search */
    int64_t work, again;  /* all steps once; recomputed */
    int64_t least_again;  /* proven: no plan within the budget, or this one's arena, has less; -1: not known */
    ac_bytes least_bytes; /* proven: no plan in this order takes less; 0: not known */
    const ac_plan_point *curve;
    int32_t n_curve; /* plans for other budgets, the largest first */

    ac_phases_found phases; /* times, also where the steps come one after the other; zero: there was no search */
} ac_plan_found;

typedef struct ac_planned {
    struct ac_planned *base; /* the owner of its steps and tensors; NULL: the lowering */
    ac_region *region;
    const ac_graph *graph; /* of the lowering, or one that has more tensors */
    ac_lowered **step;     /* in execution order */
    int32_t n_steps;
    const ac_slot *slot;        /* by step: thread and phase; NULL: one step after the other */
    const ac_live_where *where; /* by tensor id: the memory that copies need it in; NULL: any */
    int32_t groups;             /* steps that are groups of steps */
    bool streamed;              /* an input is streamed by rows, and only a window of it lies in the arena */
    bool wanted;                /* the user asked for just this: kept whatever it takes */
    ac_reductions lives;        /* of INPLACE and OVERLAP: those that the lives allow */
    ac_liveness *live;          /* NULL: not packed yet */
    ac_bytes most;              /* of the first memory: by its size and the budget; -1: no limit */
    ac_plan plan;
    ac_result row[AC_MAX_STRATEGIES]; /* the result of every strategy */
    int32_t n_rows;
    ac_plan_found found;
} ac_planned;

int ac_plan_graph(ac_ctx *cx, const ac_plan_how *how, ac_planned **out);
void ac_planned_free(ac_planned *p); /* and its bases; NULL is allowed */

/* candidate.c, for reductions. */
/* A value that has everything of `base` (NULL: of how), and room for `room` steps; not packed. */
ac_planned *ac_planned_from(ac_ctx *cx, const ac_plan_how *how, ac_planned *base, int32_t room);
int ac_planned_pack(ac_ctx *cx, const ac_plan_how *how, ac_planned *p);  /* fills live, plan and row; checked */
int ac_planned_ready(ac_ctx *cx, const ac_plan_how *how, ac_planned *p); /* the same, unless it is packed already */
void ac_planned_drop(ac_planned *p, const ac_planned *keep);             /* p and its bases, up to `keep` */
/* Of a packed plan: are there several memories? */
static inline bool ac_planned_has_several(const ac_planned *p)
{
    return p->live->problem.n_mems > 2; /* state has one of its own */
}
/* Is a's plan better than b's? With one memory: it takes less. With several: less over their limits, then less traffic
 * outside of the first ones, then less of the first. */
bool ac_planned_less(const ac_planned *a, const ac_planned *b);
/* *best becomes p if p is better (NULL: it is not). Frees the other one and its bases, up to `keep`. */
void ac_planned_take_better(ac_planned **best, ac_planned *p, const ac_planned *keep);
bool ac_planned_is_enough(const ac_plan_how *how, const ac_planned *p); /* there is a limit, and it is kept */
ac_bytes ac_plan_budget(const ac_plan_how *how, const ac_planned *p);   /* of the first memory, -1: none */
ac_bytes ac_plan_most(const ac_plan_how *how, const ac_planned *p);     /* the same, or its size if that is less */
ac_solve_options ac_plan_search(const ac_plan_how *how, const ac_planned *p); /* the effort that packing may spend */

/* A reduction: *to is its plan, packed or not, or NULL when it has none to offer. */
typedef int ac_reduce_fn(ac_ctx *cx, const ac_plan_how *how, ac_planned *from, ac_planned **to);

/* what_if.c - tries reductions that are not in `how`. */
typedef struct ac_what_if {
    const char *option, *what;
    ac_bytes bytes; /* -1: not tried */
} ac_what_if;
/* Those that take less than `now` and than those before them, in *list (region); all names without a figure unless
 * `try`. */
int32_t ac_plan_what_if(ac_ctx *cx, const ac_plan_how *how, const ac_planned *now, bool try, ac_region *region,
                        const ac_what_if **list);
/* The same as help of the last diagnostic, for a plan that is over its budget; rows of the caller only where nothing
 * else fits. Does one of them fit, or may it (`try` is false)? */
bool ac_plan_help(ac_ctx *cx, const ac_plan_how *how, const ac_planned *now, bool try);

#endif
