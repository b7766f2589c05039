/* exact_lanes.h - the values of instructions where some loop variables have a fixed value: exact where they depend on
 * constants alone, else intervals, of each lane.
 *
 *     ac_lanes e;
 *     ac_lanes_open(&e, p);
 *     e.fixed[loop] = true; e.counter[loop] = (ac_interval){3, 3};
 *     for (x of what y depends on, in order)
 *         work += ac_lanes_value(&e, x);
 *     e.lane[y][0]
 *
 * What is not followed (memory, floats, variables that are not known) has the interval that it has in all of the
 * function. Memory: the region of the prover's call. */
#ifndef AC_PROVE_EXACT_LANES_H
#define AC_PROVE_EXACT_LANES_H
#include "prove/prover.h"

enum { AC_LANES = 64 };

typedef struct ac_lanes_var {
    int32_t lanes;
    ac_interval *lane;
} ac_lanes_var;

typedef struct ac_lanes {
    const ac_prover *p;
    ac_interval **lane;       /* by instruction: as many as it has, AC_LANES at most */
    const ac_interval *known; /* what each has in all of the function */
    const bool *can;          /* are its operands of a kind that is followed? */
    ac_interval result;       /* of what was computed last: all lanes, before it is cut to its type */
    ac_lanes_var *var;        /* by VAR: its present value */
    bool *fixed;              /* by FOR, and LOAD of a number */
    ac_interval *counter;     /* its values then */
    const void **data;        /* by buffer: integers of a constant; NULL: it is none */
    int64_t *count;
    ac_x *tile; /* by LOAD: ac_lanes_tile, -1: not known yet */
} ac_lanes;

void ac_lanes_open(ac_lanes *e, const ac_prover *p);
/* Computes x, which makes a value or begins a loop, from its operands; returns the work that it took. */
int64_t ac_lanes_value(ac_lanes *e, ac_x x);
bool ac_lanes_constant(const ac_lanes *e, int32_t buf);
/* The tile whose accumulator the load x gives; 0: there is none. */
ac_x ac_lanes_tile(ac_lanes *e, ac_x x);

/* The store whose number the load x gives, where that is `element` of a local array; 0: nobody knows. */
ac_x ac_lanes_store(const ac_lanes *e, ac_x x, int64_t element);
/* The next store to a constant place of the array that load x reads, after `after` and before x; 0: none. */
ac_x ac_lanes_next_store(const ac_lanes *e, ac_x x, ac_x after);

/* tile_sums.c: what accumulator `at` of a tile may hold; of the odd channel of a pair, `apart` gets what it has more
 * than the even one. Returns the number of weights. */
int64_t ac_lanes_sum(ac_lanes *e, ac_x tile, int64_t at, ac_interval *sum, ac_interval *apart);

#endif
