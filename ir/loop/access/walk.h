/* walk.h - walks through the loops of a function with addresses only, and reports the bytes it touches, in order.
 *
 *     ac_walk how = {.fn = fn, .watch = watch, .one = one, .many = many, .user = &mine};
 *     ok = ac_loop_walk(cx, &how);
 *
 * Accesses come in the order of the loops. Those of a loop without watched stores come once, as the range of bytes that
 * all its iterations touch; those of the innermost loop with stores may come together, as lists of ranges that move by
 * the same number of bytes in each iteration. A range is never too small; it is exact for sliding windows. Cost: about
 * the iterations of the loops around the innermost loops that store. */
#ifndef AC_IR_LOOP_ACCESS_WALK_H
#define AC_IR_LOOP_ACCESS_WALK_H
#include "ir/loop/loop.h"

enum { AC_WATCH_READS = 1, AC_WATCH_WRITES = 2 };

/* In iteration i: bytes [begin + by * i, end + by * i) of a buffer */
typedef struct ac_access {
    int64_t begin, end, by;
    int32_t buf;
    bool write;
    bool exact; /* every byte of the range is touched */
} ac_access;

typedef struct ac_walk {
    const ac_loop_fn *fn;
    const uint8_t *watch; /* by buffer: which of its accesses are reported */
    void (*one)(void *user, const ac_access *a);
    void (*many)(void *user, const ac_access *list, int32_t n_list, int64_t n); /* in all of n iterations */
    /* NULL, or called when iteration k (0-based) of one of the two loops begins: these are walked one by one. */
    void (*enter)(void *user, int32_t loop, int64_t k);
    int32_t chosen[2]; /* FOR instructions; 0: none */
    void *user;
} ac_walk;

/* false: the order is unknown (bounds depend on data), or exceeds the budget of 30 million instructions. */
bool ac_loop_walk(ac_ctx *cx, const ac_walk *how);

#endif
