/* unroll.h - the engine for loops and branches of a model: decides which iterations and alternatives become nodes of
 * their own, for importers (import/build/flow) and for pass infer.
 *
 * The caller gives the values before the first iteration and two functions that make nodes: `condition` returns a
 * tensor, `body` returns the values of the next iteration. The engine calls them by turns and
 *
 *     unrolls    while the condition is a constant: a copy of the body for each iteration
 *     rolls up   once the condition is computed at run time, or when the copies become many: `roll` makes one node of
 *                all iterations that are left. If those so far changed no type and no shape, their nodes are erased and
 *                the loop begins with its first values
 *
 *     before     while (i < 3) s = f(s), i++         while (i < n) s = f(s), i++
 *     after      s1 = f(s0) s2 = f(s1) s3 = f(s2)    i, s = while(0, s0)
 *
 * Example: a loop of tensors i and s. The caller chooses the type of the values.
 *
 *     static int condition(void *own, const void *now, ac_tensor **again)
 *     {
 *         ac_tensor *const *v = now;
 *         *again = ac_make_2(own, AC_OP_LESS, v[0], v[2]);
 *         return *again ? AC_OK : AC_FAIL;
 *     }
 *     ac_unroll u = {.cx = cx, .g = g, .rules = &RULES, .trips = -1, .own = b, .condition = condition, ..};
 *     const void *last = ac_unroll_loop(&u, first, &turns);      NULL: reported
 *
 * All copies of one model are paid from one budget (ac_flow_spend); its limits are the same for all formats.
 *
 * Memory: the context's region. Cost: that of the callbacks. Errors: theirs, and E0108 from ac_flow_spend. */
#ifndef AC_IR_FLOW_UNROLL_H
#define AC_IR_FLOW_UNROLL_H
#include "ir/graph/graph.h"

/* The cost of all copies of branches, bodies and functions of a model so far. */
typedef struct ac_flow_budget {
    int64_t steps; /* operators copied, and one for each copy */
    int64_t calls; /* copies, for readers that count the operators of a graph instead of those copied */
    int64_t bytes; /* of the file, read for copies */
} ac_flow_budget;
/* Pays for a copy at `at`. AC_FAIL: E0108, reported each time */
int ac_flow_spend(ac_ctx *cx, ac_flow_budget *b, ac_place at, int64_t steps, int64_t bytes);
bool ac_flow_is_spent(const ac_flow_budget *b);
/* The same for readers that count calls, and the operators of the graph g. */
int ac_flow_spend_call(ac_ctx *cx, ac_flow_budget *b, ac_place at, const ac_graph *g, int64_t bytes);

/* When a loop is rolled up although its condition is a constant, or begins anew. */
typedef struct ac_unroll_rules {
    int64_t restart; /* iterations that may be taken back once the loop is rolled up */
    int64_t copied;  /* rolling up is tried, once, when the copies are more */
    int64_t trips;   /* .. and done after the first iteration if more are known to come */
    int64_t most;    /* unrolled iterations of one loop; more are E0108 */
} ac_unroll_rules;

typedef struct ac_unroll {
    ac_ctx *cx;
    ac_graph *g; /* nodes of unrolled iterations are appended to it */
    ac_place at;
    const ac_unroll_rules *rules;
    int64_t trips;         /* iterations, if the condition does not end the loop before; -1: unknown */
    const int64_t *copied; /* counts what rules->copied limits; NULL: nodes of g */
    void *own;
    int (*condition)(void *own, const void *now, ac_tensor **again); /* NULL: `trips` ends the loop */
    const void *(*body)(void *own, const void *now);                 /* NULL: reported, or refused */
    /* The loop may begin anew with `first` after an iteration left `now`. NULL: it may */
    bool (*alike)(const void *own, const void *first, const void *now);
    void (*erased)(void *own); /* nodes of iterations were erased; NULL: nothing to do */
    /* The values after all iterations from `now` on; `done` iterations before them are unrolled. `trial`: copying goes
     * on if this fails. NULL: reported, or refused */
    const void *(*roll)(void *own, const void *now, int64_t done, bool trial);
} ac_unroll;

/* The values after the loop; NULL: reported, or refused. *turns: unrolled iterations; -1: the loop was rolled up. */
const void *ac_unroll_loop(const ac_unroll *u, const void *first, int64_t *turns);

/* A condition is one bool. AC_FAIL: E0104 */
int ac_flow_is_condition(ac_ctx *cx, ac_place at, const ac_tensor *c);
/* Chooses one of n alternatives by c, one element of any type: 0 for false, 1 for true; of more than two, the last one
 * if index c is out of range. *which: -1 if c is computed at run time. AC_FAIL: reported */
int ac_flow_choose(ac_ctx *cx, ac_place at, ac_tensor *c, int32_t n, int32_t *which);

#endif
