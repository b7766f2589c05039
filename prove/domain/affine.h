/* affine.h - sums of unknown integers, with bounds and facts about the unknowns: the abstract domain of the prover.
 *
 *     q = 320*oy + 64*ox + oc + 3        oy, ox, oc unknowns: 0 <= oy <= 24, ...
 *     ac_is_at_most(k, &q, 7999)         is q <= 7999 whatever they are?
 *
 * An unknown has an interval and optional bounds, which are sums of older unknowns (a loop variable is below the loop's
 * upper bound; a quotient q of a by 5 has 5 q <= a <= 5 q + 4). Or it equals one of several alternatives (max(a, b) is
 * a or b). Facts are sums that are at least 0 at the current program point: conditions of branches.
 *
 * A question replaces the youngest unknown by one of its bounds (any that leads to a proof) or by each of its
 * alternatives (all have to), until a number is left. It ends, as bounds name older unknowns only; facts may bound an
 * unknown by a younger one, which is tried once. An answer of false means that no proof was found. All numbers are
 * exact integers; a sum that would overflow is `lost`.
 *
 * Memory: the region of the knowledge. Cost: a question takes at most AC_KNOW_STEPS steps. */
#ifndef AC_PROVE_AFFINE_H
#define AC_PROVE_AFFINE_H
#include "base/vec.h"

enum { AC_TERMS = 20, AC_KNOW_STEPS = 1500 };

typedef struct ac_term {
    int64_t k;
    int32_t unknown;
} ac_term;

/* c + sum of k * unknown, terms in order of unknowns, no k is 0. `lost`: not a sum that fits here. */
typedef struct ac_affine {
    int64_t c;
    int32_t n;
    bool lost;
    ac_term term[AC_TERMS];
} ac_affine;

/* Integers lo .. hi; at the ends of int64_t: beyond them too. */
typedef struct ac_interval {
    int64_t lo, hi;
} ac_interval;

/* at_most: k * unknown <= sum; at_least: k * unknown >= sum. k > 0 */
typedef struct ac_known_bound {
    int64_t k;
    ac_affine sum;
} ac_known_bound;

/* The unknown may be `value`, and then all guards are 0 or more. */
typedef struct ac_alternative {
    ac_affine value;
    const ac_affine *guard;
    int32_t n_guard;
} ac_alternative;

typedef struct ac_unknown {
    ac_interval in;
    AC_VEC(ac_known_bound) at_most, at_least;
    const ac_alternative *one_of;
    int32_t n_one_of;
    bool least, greatest; /* of the alternatives */
    bool attained;   /* loop variable of constant bounds: it has every value of its interval, `step` apart, whatever the
                      others are */
    int32_t of_loop; /* variable of the loop at that instruction; 0: of none */
    bool falls, whole;     /* its step is negative; `last` is its last value, exactly */
    int64_t step;          /* its size */
    ac_affine first, last; /* values */
} ac_unknown;

typedef struct ac_quotient {
    ac_affine of;
    int64_t by;
    int32_t unknown;
} ac_quotient;

typedef struct ac_knowledge {
    ac_region *region;
    AC_VEC(ac_unknown) unknown; /* item[0] is unused */
    AC_VEC(ac_affine) fact;     /* each is >= 0 at the current program point */
    AC_VEC(ac_quotient) quotient;
    int32_t steps; /* left for the question */
    bool may_turn; /* a fact may put a younger unknown in the place of an older one: once */
} ac_knowledge;

void ac_know_open(ac_knowledge *k, ac_region *region);
int32_t ac_know(ac_knowledge *k, int64_t lo, int64_t hi); /* a new unknown */
void ac_know_at_most(ac_knowledge *k, int32_t unknown, int64_t times, const ac_affine *sum);
void ac_know_at_least(ac_knowledge *k, int32_t unknown, int64_t times, const ac_affine *sum);
void ac_know_fact(ac_knowledge *k, const ac_affine *at_least_0);
void ac_know_guards(ac_knowledge *k, const ac_alternative *a); /* as facts */
/* floor(a / by), by > 0: multiples of by are divided, an unknown is the quotient of the rest. */
ac_affine ac_know_quotient(ac_knowledge *k, const ac_affine *a, int64_t by);

ac_affine ac_affine_of(int64_t c);
ac_affine ac_affine_unknown(int32_t unknown);
ac_affine ac_affine_add(const ac_affine *a, const ac_affine *b, int64_t times); /* a + times * b */
ac_affine ac_affine_times(const ac_affine *a, int64_t k);
ac_affine ac_affine_plus(const ac_affine *a, int64_t c);
bool ac_affine_equal(const ac_affine *a, const ac_affine *b);
int64_t ac_affine_coefficient(const ac_affine *a, int32_t unknown);
ac_interval ac_affine_interval(const ac_knowledge *k, const ac_affine *a); /* by the unknowns' intervals alone */

bool ac_is_at_most(ac_knowledge *k, const ac_affine *a, int64_t limit);
bool ac_is_at_least(ac_knowledge *k, const ac_affine *a, int64_t limit);
/* The same by all bounds and facts together, as a linear program; more expensive. linear_program.c */
bool ac_is_at_most_lp(ac_knowledge *k, const ac_affine *a, int64_t limit);
bool ac_is_at_least_lp(ac_knowledge *k, const ac_affine *a, int64_t limit);
/* True if a >= 0 and over <= 0: by bounds, then by a linear program. */
bool ac_is_from_0(ac_knowledge *k, const ac_affine *a, const ac_affine *over);
/* True if the facts contradict each other: the code is never run. */
bool ac_is_unreachable(ac_knowledge *k);

/* Intervals: ends are kept at those of int64_t. */
int64_t ac_sat_add(int64_t a, int64_t b);
int64_t ac_sat_mul(int64_t a, int64_t b);
ac_interval ac_interval_add(ac_interval a, ac_interval b);
ac_interval ac_interval_sub(ac_interval a, ac_interval b);
ac_interval ac_interval_mul(ac_interval a, ac_interval b);
ac_interval ac_interval_join(ac_interval a, ac_interval b);
ac_interval ac_interval_meet(ac_interval a, ac_interval b);      /* of two that are both true */
ac_interval ac_interval_clamp(ac_interval a, ac_interval range); /* of values that are clamped to the range */
bool ac_interval_inside(ac_interval a, ac_interval of);

#endif
