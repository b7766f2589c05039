/* share_groups.h - selects functions to merge into one that takes its shapes as arguments, and estimates savings and
 * costs.
 *
 * Two functions can be merged if their instructions, types and lanes are equal, except for constants (with equal lanes,
 * and not used to shift vectors), the sizes of parameters, and names. Functions with loops to unroll are not merged:
 * those need constant bounds.
 *
 *     ac_share_set set = {.fn = fn, .calls = calls, .n = n, .target = t, .price = AC_SHARE_AUTO};
 *     group = ac_share_groups(region, &set);    by its first function; group[f].n 0: f is in another group
 *
 * price: AC_SHARE_BYTES takes every group that saves bytes; AC_SHARE_AUTO only those whose share of the code is at
 * least six times their share of the executed instructions; members that cost too much leave their group. A number read
 * in an innermost loop costs instructions: it needs a register, or a load. Both are estimates. AC_SHARE_LARGE: as
 * AC_SHARE_AUTO if all functions together are over 256 KiB of code; else none.
 *
 * Cost: O(functions^2 * instructions) at worst; unequal ones differ early. Memory: the region. Nothing fails. */
#ifndef AC_CODEGEN_SHARE_GROUPS_H
#define AC_CODEGEN_SHARE_GROUPS_H
#include "ir/loop/loop.h"
#include "ir/lower/target.h"

typedef enum ac_share_price { AC_SHARE_NEVER, AC_SHARE_LARGE, AC_SHARE_AUTO, AC_SHARE_BYTES } ac_share_price;

typedef struct ac_share_set {
    const ac_loop_fn *const *fn; /* distinct */
    const int32_t *calls;        /* of each */
    int32_t n;
    const ac_target *target;
    ac_share_price price;
    /* True if f and g may be merged, given the overlaps of their arguments. NULL: always. */
    bool (*may_share)(const void *with, int32_t f, int32_t g);
    const void *with;
} ac_share_set;

typedef struct ac_share_group {
    const ac_loop_fn *fn;          /* the first */
    const ac_loop_fn *const *form; /* forms of all functions of the set, or the functions themselves; holes are
                                    * constants there */
    int32_t *member, n;            /* functions of the set; n 1: unchanged, and the other fields are empty */
    int32_t *hole, holes;          /* instructions whose constants differ */
    int32_t *slot, slots; /* of each: the index of its number in the table; numbers that agree in all members share
                           * one */
    int32_t *words;       /* of each: 1, or 2 if a member's is wider than 32 bits */
    ac_bytes saved;       /* estimate */
} ac_share_group;

ac_share_group *ac_share_groups(ac_region *r, const ac_share_set *set);
/* share_form.c. The same function with a separate constant for every use, all at the beginning: the numbering of
 * instructions then does not depend on which uses have equal numbers. */
const ac_loop_fn *ac_share_form(ac_region *r, const ac_loop_fn *fn);
/* For building groups: true if two functions in that form are equal except for permitted differences; true if one has
 * loops to unroll; computes holes, slots and words of a group with known members. */
bool ac_share_alike(const ac_loop_fn *a, const ac_loop_fn *b);
bool ac_share_unrolls(const ac_loop_fn *fn);
void ac_share_find_holes(ac_region *r, ac_share_group *g);
/* The number of a member for a hole, in the format of the table: for f32 its bits. */
int64_t ac_share_number(const ac_share_group *g, int32_t member, int32_t hole);
/* share_build.c. The function of a group of two and more: it reads its numbers first, from i32[slots], a parameter
 * after all others, if it has any. The numbers of a member: slots words; of two words, the low half first. */
const ac_loop_fn *ac_share_build(ac_region *r, const ac_share_group *g);
int32_t *ac_share_numbers(ac_region *r, const ac_share_group *g, int32_t member);

#endif
