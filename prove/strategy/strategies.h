/* strategies.h - the proof strategies: the functions that rows of prove/strategies.def name, by the point of a proof
 * where the engine tries them. A function returns false, or 0, if it finds nothing; then the next row is tried.
 *
 *     static const struct { ac_strategy id; ac_load_applies *applies; ac_load_strategy *function; } LOADS[] = {
 *     #define AC_ROWS_LOAD(id, applies, function) {id, applies, function},
 *     #include "prove/strategy/rows.h"
 *     };
 */
#ifndef AC_PROVE_STRATEGY_STRATEGIES_H
#define AC_PROVE_STRATEGY_STRATEGIES_H
#include "prove/facts/prover.h"

typedef enum ac_strategy {
#define STRATEGY(id) AC_STRATEGY_##id,
#include "prove/strategies_ids.def"
#undef STRATEGY
    AC_STRATEGIES
} ac_strategy;

/* False if `prove --without` switches the strategy off. */
static inline bool ac_p_on(const ac_prover *p, ac_strategy s)
{
    return !p->without || !p->without[s];
}

/* ------------------------------------------------------------------ VALUE: of any instruction, LOAD: of a load */
typedef bool ac_value_applies(const ac_prover *p, ac_x x);
typedef bool ac_value_strategy(ac_prover *p, ac_x x); /* sets p->value[x] */
ac_value_applies ac_p_has_word_lanes;
ac_value_strategy ac_p_word_lanes;

typedef bool ac_load_applies(ac_prover *p, ac_x load);
typedef bool ac_load_strategy(ac_prover *p, ac_x load, ac_pvalue *v);
ac_load_applies ac_p_is_counter, ac_p_is_array;
ac_load_strategy ac_p_counter_loaded, ac_p_array_loaded;

/* NARROW: the value of a load of an integer, which is one unknown, is bounded further; all rows are tried. */
typedef void ac_narrow_strategy(ac_prover *p, ac_x load, ac_pvalue *v);
ac_load_applies ac_p_is_element, ac_p_has_threads;
ac_narrow_strategy ac_p_extreme_load, ac_p_group_load;

/* ------------------------------------------------------------------ LOOP, LIST, WITNESS: invariants of loops */
typedef bool ac_loop_applies(ac_prover *p, ac_x loop);
typedef bool ac_loop_strategy(ac_prover *p, ac_x loop, ac_interval first, ac_interval trips);
ac_loop_applies ac_p_is_schedule;
ac_loop_strategy ac_p_can_unroll; /* the loop is walked iteration by iteration */

typedef bool ac_list_strategy(ac_prover *p, ac_x loop, ac_x var);
ac_loop_applies ac_p_only_loads;
ac_list_strategy ac_p_is_tree_walk; /* the variable's values are listed one by one */

/* A load of the loop that gives `value` in one iteration; or in one iteration of one thread of each group. */
typedef struct ac_witness {
    ac_x load;
    ac_affine value;
    bool of_thread;
} ac_witness;

typedef bool ac_witness_strategy(ac_prover *p, ac_x loop, int32_t counter, ac_witness *w);
ac_loop_applies ac_p_has_extremes, ac_p_is_in_threads;
ac_witness_strategy ac_p_extreme_witness, ac_p_group_witness;

/* ------------------------------------------------------------------ INSIDE: index .. index + n - 1 are in the buffer
 * */
typedef bool ac_buffer_applies(ac_prover *p, int32_t buf);
typedef bool ac_inside_strategy(ac_prover *p, int32_t buf, const ac_pvalue *index, const ac_affine *n);
ac_inside_strategy ac_p_inside_by_sum, ac_p_inside_by_elements;
ac_buffer_applies ac_p_can_walk_elements;

/* ------------------------------------------------------------------ WRITTEN, RESULT: index .. index + n - 1 are
 * written */
typedef bool ac_written_strategy(ac_prover *p, int32_t buf, const ac_affine *index, const ac_affine *n);
ac_written_strategy ac_p_written_by_pieces, ac_p_written_each, ac_p_written_by_elements;
typedef bool ac_result_strategy(ac_prover *p, int32_t buf); /* all elements */
ac_result_strategy ac_p_result_by_elements;

/* ------------------------------------------------------------------ APART, READS: a write never precedes a read */
/* A write of wn bytes begins `ahead` bytes after a read of rn bytes. */
typedef struct ac_access_gap {
    ac_affine ahead, rn, wn;
    bool facts; /* conditions of both accesses are facts now, of all iterations */
} ac_access_gap;

typedef bool ac_gap_applies(const ac_prover *p, const ac_access_gap *g);
typedef bool ac_gap_strategy(ac_prover *p, const ac_access_gap *g); /* the two share no byte */
ac_gap_applies ac_p_has_facts;
ac_gap_strategy ac_p_apart_by_bounds, ac_p_apart_in_digits;

typedef bool ac_reads_strategy(ac_prover *p, int32_t read, int32_t written, int64_t distance); /* all reads */
ac_reads_strategy ac_p_reads_by_elements;

/* ------------------------------------------------------------------ CASES, CUT, SIDES: a pass is repeated */
typedef bool ac_cases_strategy(ac_prover *p, const bool *failed); /* notes in p->survey the claims that hold by cases */
ac_cases_strategy ac_p_by_channel, ac_p_by_place;
/* The value to cut into parts for a doubtful claim, after `tries` values. halve: the failing parts. */
typedef struct ac_cut {
    ac_x value;
    bool halve;
} ac_cut;

typedef bool ac_cut_strategy(ac_prover *p, ac_x doubtful, int32_t tries, ac_cut *cut);
ac_cut_strategy ac_p_choose_cut;
/* By IF: its sides are walked apart, each with the rest of its block; NULL: no branch is. */
typedef bool *ac_sides_strategy(const ac_prover *p);
ac_sides_strategy ac_p_choose_sides;

#endif
