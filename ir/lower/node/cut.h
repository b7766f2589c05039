/* cut.h - chooses the loops of a step to cut for threads (chunks.c then creates the function of a chunk).
 *
 *     ac_cut cut;
 *     ac_cut_open(&cut, tmp, fn, 4);
 *     slowest = ac_cut_choose(&cut, 1, fn->code.n, 1);
 *     if (cut.split[x]) ...                      the FOR at x runs over a part of its range in each chunk
 *
 * A cut is a set of loops marked parallel that contain every store to a result. Adjacent loops share one range, so that
 * a loop over large tiles and one over the rest are balanced together and the elements of a chunk are contiguous; or
 * each is cut separately, as the two loops of a concatenation.
 *
 * The chosen cut minimises the estimated time of the slowest chunk: its instructions, and its waits for bytes that
 * other chunks touch as well. Rows of an image for each thread, from step to step, stay in the cache of their
 * processor; columns do not. */
#ifndef AC_IR_LOWER_NODE_CUT_H
#define AC_IR_LOWER_NODE_CUT_H
#include "ir/loop/loop.h"

typedef struct ac_cut {
    const ac_loop_fn *fn;
    int32_t chunks;
    ac_region *tmp;
    int32_t *end; /* FOR, IF: its END */
    bool *split;  /* FOR: in the chosen cut */
    bool *own;    /* ... and not in one range with the adjacent loops */
} ac_cut;

enum { AC_CUT_LOOPS = 32 }; /* side by side */
/* The loops of one block that would share a range. */
typedef struct ac_cut_range {
    ac_x loop[AC_CUT_LOOPS];
    int64_t weight[AC_CUT_LOOPS];    /* length of an iteration in the range: its time, the shortest one's is 1 */
    int64_t first[AC_CUT_LOOPS + 1]; /* of each loop in the range; after the last: the length */
    int32_t n;
    bool own; /* each is split on its own */
} ac_cut_range;

static inline const ac_ins *ac_cut_ins(const ac_cut *v, ac_x x)
{
    return &v->fn->code.item[x];
}

static inline bool ac_cut_is_block(const ac_cut *v, ac_x x)
{
    return ac_cut_ins(v, x)->op == AC_L_FOR || ac_cut_ins(v, x)->op == AC_L_IF;
}

/* Its arrays are from `tmp`; nothing is chosen. */
void ac_cut_open(ac_cut *v, ac_region *tmp, const ac_loop_fn *fn, int32_t chunks);
/* The minimum time, in instructions, of a block that runs `times` times; sets the cut that reaches it. Cost:
 * O(instructions * nesting). */
double ac_cut_choose(ac_cut *v, ac_x begin, ac_x end, double times);
/* Instructions of a block, not cut. */
double ac_cut_cost(const ac_cut *v, ac_x begin, ac_x end);

/* Iterations of a loop that may be split, else 0. */
int64_t ac_cut_trips(const ac_cut *v, ac_x x);
/* The number of the block's loops that may be split and store results. */
ac_cut_range ac_cut_range_of(const ac_cut *v, ac_x begin, ac_x end);
/* True for a store that other chunks could see; true if the block has one. */
bool ac_cut_stores(const ac_cut *v, ac_x x);
bool ac_cut_any_result(const ac_cut *v, ac_x begin, ac_x end);

#endif
