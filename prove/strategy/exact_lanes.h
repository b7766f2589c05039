/* exact_lanes.h - values of instructions for fixed loop variables, by lanes: exact if they depend on constants alone,
 * else intervals.
 *
 *     ac_lanes e;
 *     ac_lanes_open(&e, p);
 *     e.fixed[loop] = true; e.counter[loop] = (ac_interval){3, 3};
 *     for (x in the slice of y, in order)
 *         work += ac_lanes_value(&e, x);
 *     e.lane[y][0]
 *
 * Other values (memory, floats, unknown variables) have their interval in the whole function. Memory: the region of the
 * prover's call. */
#ifndef AC_PROVE_STRATEGY_EXACT_LANES_H
#define AC_PROVE_STRATEGY_EXACT_LANES_H
#include "prove/facts/prover.h"

enum { AC_LANES = 64 };

typedef struct ac_lanes_var {
    int32_t lanes;
    ac_interval *lane;
} ac_lanes_var;

typedef struct ac_lanes {
    const ac_prover *p;
    ac_interval **lane;       /* by instruction: as many as it has, AC_LANES at most */
    const ac_interval *known; /* the range of each in the whole function */
    const bool *can;          /* its operands are supported */
    ac_interval result;       /* the last result: join of all lanes, before conversion to its type */
    ac_lanes_var *var;        /* by VAR: its present value */
    bool *fixed;              /* by FOR, and LOAD of a number */
    ac_interval *counter;     /* its values then */
    const void **data;        /* by buffer: integers of a constant; NULL: it is not one */
    int64_t *count;
    ac_x *base; /* by buffer: element 0 is that element of the constant (copied.h); 0: element 0 */
    ac_x *tile; /* by LOAD: ac_lanes_tile, -1: not known yet */
} ac_lanes;

void ac_lanes_open(ac_lanes *e, const ac_prover *p);
/* Computes x, which makes a value or begins a loop, from its operands; returns the work that it took. */
int64_t ac_lanes_value(ac_lanes *e, ac_x x);
/* The element of the constant that is element `at` of the buffer. */
static inline ac_interval ac_lanes_in_constant(const ac_lanes *e, int32_t buf, ac_interval at)
{
    return e->base[buf] ? ac_interval_add(at, e->lane[e->base[buf]][0]) : at;
}
bool ac_lanes_constant(const ac_lanes *e, int32_t buf);
/* The tile whose accumulator load x reads; 0: it reads none. */
ac_x ac_lanes_tile(ac_lanes *e, ac_x x);

/* The store that load x reads if it loads `element` of a local array; 0: unknown. */
ac_x ac_lanes_store(const ac_lanes *e, ac_x x, int64_t element);
/* The next store after `after` and before x to a constant place of the array that x reads; 0: none. */
ac_x ac_lanes_next_store(const ac_lanes *e, ac_x x, ac_x after);

/* tile_sums.c: the range of accumulator `at` of a tile. *apart, of the odd channel of a pair: its difference from the
 * even one. Returns the number of weights. */
int64_t ac_lanes_sum(ac_lanes *e, ac_x tile, int64_t at, ac_interval *sum, ac_interval *apart);

#endif
