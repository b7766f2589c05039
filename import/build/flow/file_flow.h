/* file_flow.h - reads loops and branches of a file, for readers of all formats.
 *
 *     loop     unrolled, or one WHILE, as ir/flow/unroll.h decides (file_loop.c)
 *     branch   a constant condition chooses its alternative; any other makes an IF of both (file_branch.c)
 *
 * For a loop the reader provides two functions. They run for each unrolled iteration, and then again in the two graphs
 * of a WHILE, whose inputs are the carried values:
 *
 *     condition(own, now, &again)   the tensor that decides; any type, one element
 *     body(own, now)                the values of the next iteration
 *
 *     before   while (i < n) { i = i + 1; s = concat(s, [i]); }
 *     after    i, s, count = while 1 2 (0, s0 padded to the length that it may reach, length of s0)
 *
 * A WHILE carries the values that an iteration changes; `kept` ones are read from outside. A value that becomes longer
 * is carried with its count, as long as --bound or the number of iterations allows (carried.c, growth.c).
 *
 *     typedef struct loop { ac_flow loop; ... } loop;          the reader's own, which begins with the ac_flow
 *     loop l = {{.b = &n->b, .now = &r->g, .of = &FORMAT, .condition = .., .body = .., .n = 2, .trips = -1}, ...};
 *     ac_tensor *const *last = ac_flow_loop(&l.loop, first, &turns);      NULL: reported, or refused
 *
 * For a branch it provides one, run(own, which), which creates the nodes of an alternative and returns its values:
 *
 *     before   y = c ? f(x) : g(x)
 *     after    y = f(x)                    y = if 1 2 (c, x), where c is computed at run time
 *
 *     const void *values = ac_flow_branch(&x.flow, condition);            NULL: reported, or refused
 *
 * Values are an array of n tensors, or, if the format has `values` and `tensor`, its own. A result that is longer in
 * one branch is padded in the other, and becomes dynamically sized (counted.h).
 *
 * Memory: the region of the context. */
#ifndef AC_IMPORT_BUILD_FLOW_FILE_FLOW_H
#define AC_IMPORT_BUILD_FLOW_FILE_FLOW_H
#include "import/build/flow/sub_graphs.h"
#include "import/build/operands.h"
#include "ir/flow/unroll.h"

/* How loops and branches of one format are read. `own` is the reader's struct. Functions may be NULL. */
typedef struct ac_flow_format {
    ac_unroll_rules rules;
    ac_code code;     /* error if an iteration changes the type or shape of a carried value */
    const char *help; /* of that message */
    bool (*alike)(const void *own, const void *first, const void *now); /* NULL: compares type and shape */
    void (*erased)(void *own);                                          /* unrolled nodes were erased */
    /* A WHILE begins with `now`, after `done` unrolled iterations: sets l->kept and l->name, and returns the values
     * before it. NULL: reported, or refused */
    const void *(*open)(void *own, const void *now, int64_t done);
    /* `like` with value i replaced by t[i], unless that is NULL; both in the graph that nodes go to. */
    const void *(*values)(void *own, const void *like, ac_tensor *const *t);
    ac_tensor *(*tensor)(void *own, const void *values, int32_t i); /* NULL: reported, or refused */
    /* Nodes go to s from now on, or to the graph outside again: for notes on that graph (s->notes). */
    void (*swap)(void *own, ac_sub *s, bool body);
    int (*end)(void *own); /* called when all nodes of the graph are created */
    /* *same: value i of both alternatives is one value, which needs no result of the IF. NULL: never. AC_FAIL: no IF
     * can make it; reported, or refused */
    int (*same)(void *own, const void *first, const void *second, int32_t i, bool *same);
    bool any_type; /* the condition of a branch may have any type: true if it is not 0 */
    /* Called after the body has computed next[] from in[], its inputs. May add carried values, up to l->more: then it
     * sets *again, and both graphs are read again. */
    int (*collect)(void *own, ac_carried *c, const ac_sub *cond, ac_sub *body, ac_tensor *const *in, ac_tensor **next,
                   bool *again);
} ac_flow_format;

typedef struct ac_flow {
    ac_maker *b;    /* names and place of its nodes */
    ac_graph **now; /* where the reader keeps the graph that it makes nodes in */
    const ac_flow_format *of;
    int (*condition)(void *own, const void *now, ac_tensor **again);
    const void *(*body)(void *own, const void *now);
    int32_t n, more; /* number of values; maximum that `collect` may add */
    int64_t trips;   /* iterations, unless the condition ends the loop earlier; -1: unknown */
    const void *(*run)(void *own, int32_t which); /* NULL: reported, or refused */
    int32_t count; /* alternatives of a branch that an index chooses; 0: two, the first one if the condition holds */
    ac_graph *g;   /* set by the engine: unrolled iterations and a chosen alternative go there */
    bool *kept;    /* by value: no iteration changes it, or it is the same value in both branches */
    const char **name; /* by value: NULL, or the name for --bound and messages; a loop may leave it to `open` */
    ac_tensor **out;   /* after a WHILE: its carried values, without counts */
} ac_flow;

/* The values after the loop; NULL: reported, or refused. *turns: unrolled iterations; -1: it became a WHILE. */
const void *ac_flow_loop(ac_flow *l, const void *first, int64_t *turns);
/* The same for a loop that cannot be unrolled: a WHILE. */
const void *ac_flow_roll(ac_flow *l, const void *first);
/* The values of the alternative that c chooses, or of an IF. */
const void *ac_flow_branch(ac_flow *f, ac_tensor *c);
/* True while a function of the reader runs for a WHILE or an IF: its nodes go to a separate graph. */
bool ac_flow_is_inside(const ac_flow *f);

/* Called when reading a node with these operands has failed (rc) after `before`. If an operand has another size in
 * each branch of an IF, that is the reason: replaces the messages by one that names the branch and --const. Returns
 * rc. */
int ac_flow_blamed(const ac_maker *b, ac_said before, ac_tensor *const *in, int32_t n_in, int rc);

/* A condition of one element of any type as a bool scalar. */
ac_tensor *ac_flow_truth(const ac_maker *b, ac_tensor *t);

/* Nodes go to s, with the reader's notes on it. body: of a loop. */
void ac_flow_enter(ac_flow *f, ac_sub *s, bool body);
void ac_flow_leave(ac_flow *f, ac_sub *s, bool body);
ac_tensor *ac_flow_tensor(ac_flow *f, const void *values, int32_t i);
/* `like` with the values that are not kept replaced by made[]. */
const void *ac_flow_values(ac_flow *f, const void *like, ac_tensor *const *made);

#endif
