/* visit.h - runs loops on whole numbers, to find the stores that threads of a GPU reach and their indices.
 *
 * Loops and branches without an instruction that `seeks` names are left out. Bounds of loops and conditions of branches
 * around one must be known: they must not depend on loaded values or on a variable. Grid, cluster and block loops run
 * as plain loops. Cost: instructions times iterations. */
#ifndef AC_IR_LOOP_ACCESS_VISIT_H
#define AC_IR_LOOP_ACCESS_VISIT_H
#include "ir/loop/loop.h"

typedef struct ac_visit {
    const ac_loop_fn *fn;
    bool (*seeks)(const struct ac_visit *r, ac_x x);
    bool (*found)(struct ac_visit *r, ac_x x); /* false: no more */
    void *with;
    ac_x inside;    /* loops and branches around this one run once, and their values are unknown; 0: none */
    int64_t *value; /* by instruction, integers: the present value, if it is known */
    bool *known;
    ac_x *end; /* FOR, IF, ELSE: where its block ends */
} ac_visit;

/* All instructions. True: each one that was looked for was found as often as it runs. */
bool ac_visit_all(ac_region *region, ac_visit *r);

#endif
