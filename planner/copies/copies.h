/* copies.h - which tensors are in the fast memory, and which steps run row by row with copies from and to a slow one.
 *
 * Plain data: tensors with sizes and lives, and groups of consecutive steps, each with the bytes that it needs by
 * itself and its effect on tensors from outside. A tensor has one place for all its life, fast or slow. A group
 * that uses a slow tensor copies its rows through a window, or reads and writes it in its place.
 *
 *     step      0      1      2                        fast memory: 100 bytes
 *     a      [=====)                300 B, input       slow; group 0..1 copies its rows through a window of 20 B
 *     c             [=====)          60 B              fast: 20 + 60 + what the group needs itself <= 100
 *
 * The solution cuts the steps into groups and gives each tensor a place, so that the bytes in the fast memory never
 * exceed its capacity, and the fewest bytes move between the two memories; then the fewest that steps access without a
 * copy, then the fewest fused steps. Dynamic programming over the cuts; a state is the places of the tensors alive
 * there. Exact as long as no cut has more than `states` of them; beyond, those that moved most are dropped.
 *
 * Cost: O(groups * states * choices). Memory: the region given. Source: ours. */
#ifndef AC_PLANNER_COPIES_COPIES_H
#define AC_PLANNER_COPIES_COPIES_H
#include "base/ctx.h"
#include "base/sink.h"

typedef struct ac_copies_tensor {
    ac_bytes size;
    int32_t first, last; /* steps, both inclusive; first -1: there before step 0 */
    bool may_be_fast, may_be_slow;
} ac_copies_tensor;

/* The effect of a group on a tensor that is alive outside of it. */
typedef struct ac_copies_use {
    int32_t tensor;
    bool made;        /* in the group; else it is read */
    ac_bytes window;  /* of its copies, if it is slow; -1: it has no rows that could be copied */
    int64_t copied;   /* bytes that copies move */
    int64_t accessed; /* bytes that the steps themselves read and write if it is slow and not copied */
} ac_copies_use;

/* If both are fast, the result starts inside the operand, and so many bytes less are needed. */
typedef struct ac_copies_save {
    int32_t operand, result;
    ac_bytes bytes;
} ac_copies_save;

typedef struct ac_copies_group {
    int32_t begin, end; /* steps begin <= s < end */
    ac_bytes bytes;     /* windows between its steps, and scratch */
    int32_t fused;      /* its steps; 0: one step as it is */
    int64_t moved;      /* bytes that it moves in any case */
    int32_t strips;     /* of columns, for the caller; 0: rows */
    bool exact;         /* for the caller: bytes is not an estimate */
    bool copies;        /* slow tensors are copied, never used in their place */
    ac_copies_use *use;
    ac_copies_save *save;
    int32_t n_uses, n_saves;
} ac_copies_group;

typedef struct ac_copies_problem {
    int32_t n_steps, n_tensors, n_groups;
    const ac_copies_tensor *tensor;
    const ac_copies_group *group; /* by begin, then by end; a group of one step for each step */
    ac_bytes capacity;            /* of the fast memory */
    int32_t states;               /* that a cut keeps */
} ac_copies_problem;

typedef struct ac_copies_plan {
    int64_t moved, accessed; /* bytes between the memories in a run; those of them that are not copies */
    int32_t *group;          /* of the problem, in order */
    int32_t n_groups;
    uint32_t *copied; /* by group: bit k: use k of it is copied */
    bool *fast;       /* by tensor */
} ac_copies_plan;

enum { AC_COPIES_USES = 16 }; /* of a group, at most */

/* false: no plan fits. */
bool ac_copies_solve(const ac_copies_problem *p, ac_region *region, ac_copies_plan *out);

#endif
