/* file_loop.h - reads a loop of a file, for readers of all formats: unrolled or as one WHILE, as ir/flow/unroll.h
 * decides.
 *
 * The reader provides two functions. They run for each unrolled iteration, and then again in the two graphs of a WHILE,
 * whose inputs are the carried values:
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
 *     typedef struct loop { ac_loop loop; ... } loop;          the reader's own, which begins with the ac_loop
 *     loop l = {{.b = &n->b, .now = &r->g, .of = &FORMAT, .condition = .., .body = .., .n = 2, .trips = -1}, ...};
 *     ac_tensor *const *last = ac_loop_run(&l.loop, first, &turns);      NULL: reported, or refused
 *
 * Values are an array of n tensors, or, if the format has `values` and `tensor`, its own.
 *
 * Memory: the region of the context. */
#ifndef AC_IMPORT_BUILD_FLOW_FILE_LOOP_H
#define AC_IMPORT_BUILD_FLOW_FILE_LOOP_H
#include "import/build/flow/sub_graphs.h"
#include "ir/flow/unroll.h"

/* How loops of one format are read. `own` is the reader's struct. Functions may be NULL. */
typedef struct ac_loop_format {
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
    /* Called after the body has computed next[] from in[], its inputs. May add carried values, up to l->more: then it
     * sets *again, and both graphs are read again. */
    int (*collect)(void *own, ac_carried *c, const ac_sub *cond, ac_sub *body, ac_tensor *const *in, ac_tensor **next,
                   bool *again);
} ac_loop_format;

typedef struct ac_loop {
    ac_maker *b;    /* names and place of its nodes */
    ac_graph **now; /* where the reader keeps the graph that it makes nodes in */
    const ac_loop_format *of;
    int (*condition)(void *own, const void *now, ac_tensor **again);
    const void *(*body)(void *own, const void *now);
    int32_t n, more;   /* number of values; maximum that `collect` may add */
    int64_t trips;     /* iterations, unless the condition ends the loop earlier; -1: unknown */
    ac_graph *g;       /* set by ac_loop_run: unrolled iterations go there */
    bool *kept;        /* by value: no iteration changes it */
    const char **name; /* by value: NULL, or the name for --bound */
    ac_tensor **out;   /* after a WHILE: its carried values, without counts */
} ac_loop;

/* The values after the loop; NULL: reported, or refused. *turns: unrolled iterations; -1: it became a WHILE. */
const void *ac_loop_run(ac_loop *l, const void *first, int64_t *turns);
/* The same for a loop that cannot be unrolled: a WHILE. */
const void *ac_loop_roll(ac_loop *l, const void *first);
/* True while the body or the condition is read for a WHILE: its nodes go to a separate graph. */
bool ac_loop_is_rolled(const ac_loop *l);

/* For `open`: nodes go to s, as they do for the body. */
void ac_loop_enter(ac_loop *l, ac_sub *s, bool body);
void ac_loop_leave(ac_loop *l, ac_sub *s, bool body);

#endif
