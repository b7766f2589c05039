/* stripe.h - which runs of steps become stripe groups (--stripe auto).
 *
 *     ac_stripe_search *q = ac_stripe_open(cx, how, region, from, false);      estimates
 *     ac_stripe_choose(q, q->least, step, &n_steps, &groups)                   the fewest fused steps with that peak
 *
 * The estimate of a group is what must be alive while it runs: everything from outside, its windows, and its results as
 * far as they do not fit inside an operand that dies. Dynamic programming over the order of steps finds the smallest
 * peak, a second pass with that peak (or a budget) as limit the fewest steps fused. Packing decides afterwards what it
 * really takes. Estimates are made for groups of one step, of two, and so on, as long as --effort allows: the cost is
 * linear in the steps, and the same file gives the same plan. With `rows` the largest graph input that can be is
 * streamed by rows (forms.streamed), and not in the arena; least is INT64_MAX when no cut allows it. Source: docs of
 * overlap and of stripes; cost: one simulation of row counters for each run of steps that is estimated. */
#ifndef AC_PLANNER_GRAPH_STRIPE_H
#define AC_PLANNER_GRAPH_STRIPE_H
#include "planner/graph/stripe_group.h"

typedef struct ac_stripe_search {
    ac_stripes forms;
    ac_bytes align;
    bool overlap; /* results may start inside operands that die */
    bool keep_inputs, inplace;
    ac_bytes *cost,
        *tight; /* [begin * 48 + end - begin - 1]: estimated bytes of steps begin .. end - 1 as a group (one:
                              as it is); -1: none. tight: the same at the price of speed: windows in pairs, in place */
    ac_bytes *begun, *ended; /* by step: bytes of tensors that begin, and that end, before it */
    ac_lowered **in_place;   /* by step: the in-place form, if that takes less; NULL */
    int64_t work, most_work; /* of the estimates so far, in steps of groups and of rows; where they end */
    ac_bytes least;          /* peak of the best cut into groups */
    ac_bytes single;         /* peak without groups */
} ac_stripe_search;

/* Without estimates: enough for ac_stripe_estimate, _saved and _refine. */
ac_stripe_search *ac_stripe_begin(ac_ctx *cx, const ac_plan_how *how, ac_region *region, const ac_planned *from,
                                  bool rows);
ac_stripe_search *ac_stripe_open(ac_ctx *cx, const ac_plan_how *how, ac_region *region, const ac_planned *from,
                                 bool rows);
/* Groups with the fewest steps whose estimates are at most `limit` (>= least): out (room for n_steps) and *n, the
 * number of groups in *groups. AC_FAIL with a diagnostic. */
int ac_stripe_choose(ac_stripe_search *q, ac_bytes limit, ac_lowered **out, int32_t *n, int32_t *groups);

/* The bytes that must be alive while the group runs. */
ac_bytes ac_stripe_estimate(const ac_stripe_search *q, const ac_stripe_group *x, ac_region *tmp);
/* The bytes that the group saves if `out` starts inside of `in`, which dies in the group; 0: it must not. */
ac_bytes ac_stripe_saved(const ac_stripe_search *q, const ac_stripe_group *x, const ac_tensor *in, const ac_tensor *out,
                         ac_region *tmp);
/* stripe_refine.c: chooses the ways (forms.way) of a group's steps: the fastest that take no more, and lines so short
 * that the bytes they save are worth the instructions they cost. rest: bytes of the other steps in any case; INT64_MAX:
 * keep lines. */
void ac_stripe_refine(ac_stripe_search *q, int32_t begin, int32_t end, ac_stripe_how how, ac_bytes rest);

/* stripe_copies.c: with several memories, groups whose tensors are in the first one, or are copied by rows from and to
 * the others. *to: packed; NULL: nothing fits, or the options do not allow it. */
int ac_stripe_copies(ac_ctx *cx, const ac_plan_how *how, ac_planned *from, ac_planned **to);

/* stripe_given.c: the groups that `list` names, "2-5,7-9" or "conv1-pool1,fc1": step numbers or names of nodes, first
 * and last. Overlapping groups, unknown names, and steps that cannot be in a group: E0501. */
int ac_stripe_given(ac_stripes *v, const char *list, ac_stripe_how how, ac_lowered **out, int32_t *n, int32_t *groups);

#endif
