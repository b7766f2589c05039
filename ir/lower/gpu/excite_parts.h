/* excite_parts.h - a mean and two products by the threads of a block, or of the blocks of a cluster.
 *
 *     excite_parts.c   the phases
 *     excite.c         one kernel for each image
 *     staged.c         a convolution whose blocks compute the gates of the depths that they multiply
 *
 *     for r .. cluster
 *       for t .. block    weights and biases to registers; sums of the thread's pixels, for `wide` channels
 *       for t .. block    sums of some threads, then of all: means of the block's channels
 *       products          part sums of all hidden values, from the block's channels; given to all blocks
 *     for r .. cluster
 *       for t .. block    parts of the blocks are added: hidden values
 *       products          the block's results
 *
 * Order of the sums. Mean: the thread's pixels, `lines` apart; then lines k, k + groups, ..; then the groups; times
 * 1 / pixels. Hidden: a lane's channels, `lanes` apart, by fma; lanes ^ 16, 8, 4, 2, 1; blocks in order; bias. Result:
 * a lane's hidden values, lanes, bias. */
#ifndef AC_IR_LOWER_GPU_EXCITE_PARTS_H
#define AC_IR_LOWER_GPU_EXCITE_PARTS_H
#include "ir/lower/gpu/plan.h"
#include "ir/lower/lower.h"
#include "ir/ops/decode/excite.h"

/* How the threads of a block share a product: `lanes` to a result, `each` results to a group of lanes, `steps` weights
 * of a result to a lane. */
typedef struct ac_excite_share {
    int64_t results, depth, lanes, each, steps, first; /* first: number of its first weight of a thread */
} ac_excite_share;

typedef struct ac_excite_job {
    ac_lower *L;
    const ac_excite *e;
    int64_t threads, ranks;
    int64_t span, own; /* channels and results of a block */
    ac_x n, r, t;      /* image; number of the block; thread, in a phase */
    /* by ac_excite_open: */
    int32_t wide; /* channels of a load */
    int64_t columns, lines, groups;
    ac_excite_share in, out;
    bool held; /* weights are in registers before the first load of x */
    int32_t x, packed, w, bias, sum[2], part, some, mean, inbox, hidden;
} ac_excite_job;

/* The hidden value of a sum. */
ac_x ac_excite_hidden(ac_lower *L, const ac_excite *e, ac_x sum);
/* After L, e, threads, ranks, span, own: buffers and packed weights. n and r are set before the phases. */
void ac_excite_open(ac_excite_job *j);
/* Both are in a cluster loop each, if there are several blocks. ends: the part sums of the results, in a buffer. */
void ac_excite_begins(ac_excite_job *j);
int32_t ac_excite_ends(ac_excite_job *j);
/* Opens a phase, whose thread is j->t. */
void ac_excite_open_phase(ac_excite_job *j);
void ac_excite_close_phase(const ac_excite_job *j);
/* In a phase: opens a branch of the threads that have the result of the thread's i-th group; which result of the block.
 * And that result, from the buffer of ac_excite_ends. */
ac_x ac_excite_open_result(const ac_excite_job *j, int64_t i);
ac_x ac_excite_result(const ac_excite_job *j, int32_t sums, int64_t i);

#endif
