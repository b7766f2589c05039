/* share_groups.h - which functions become one that takes its shapes as arguments, and what that saves and costs.
 *
 * Two functions go together when their instructions, types and lanes are equal, but for constants (all lanes of which
 * are the same number, by which no vector is shifted), the sizes of parameters, and names. Functions with loops to be
 * unrolled stay apart: those need their bounds.
 *
 *     ac_share_set set = {.fn = fn, .calls = calls, .n = n, .target = t, .price = AC_SHARE_AUTO};
 *     group = ac_share_groups(region, &set);    by its first function; group[f].n 0: f is in another one's
 *
 * price: AC_SHARE_BYTES takes every group that saves bytes; AC_SHARE_AUTO those alone whose share of the code is at
 * least six times their share of the instructions that run; members that are too dear leave their group. A number costs
 * instructions where it is read in an innermost loop: it needs a register, or a load. Both are estimates.
 * AC_SHARE_LARGE: as AC_SHARE_AUTO where all functions together are over 256 KiB of code; else none.
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
    /* May f and g be one, for what their arguments share? NULL: always. */
    bool (*may_share)(const void *with, int32_t f, int32_t g);
    const void *with;
} ac_share_set;

typedef struct ac_share_group {
    const ac_loop_fn *fn;          /* the first */
    const ac_loop_fn *const *form; /* of all functions of the set, or they themselves; holes are constants there */
    int32_t *member, n;            /* functions of the set; n 1: it stays as it is, and the rest of this is empty */
    int32_t *hole, holes;          /* instructions whose constants differ */
    int32_t *slot, slots; /* of each: where its number is in the table; numbers that agree everywhere share a place */
    int32_t *words;       /* of each: 1, or 2 where a member's is wider than 32 bits */
    ac_bytes saved;       /* estimate */
} ac_share_group;

ac_share_group *ac_share_groups(ac_region *r, const ac_share_set *set);
/* share_form.c. The same function with a constant of its own for every use of one, all of them in front: which uses
 * have equal numbers, and so which instruction is which, then does not hang on the numbers. */
const ac_loop_fn *ac_share_form(ac_region *r, const ac_loop_fn *fn);
/* What groups are made of: are two functions in that form equal but for what may differ; has one loops to be unrolled;
 * holes, slots and words of a group whose members are known. */
bool ac_share_alike(const ac_loop_fn *a, const ac_loop_fn *b);
bool ac_share_unrolls(const ac_loop_fn *fn);
void ac_share_find_holes(ac_region *r, ac_share_group *g);
/* The number of a member for a hole, as the table has it: of f32 its bits. */
int64_t ac_share_number(const ac_share_group *g, int32_t member, int32_t hole);
/* share_build.c. The function of a group of two and more: it reads its numbers first, from i32[slots], a parameter
 * after all others, where there are any. The numbers of a member: slots words, of two the low half first. */
const ac_loop_fn *ac_share_build(ac_region *r, const ac_share_group *g);
int32_t *ac_share_numbers(ac_region *r, const ac_share_group *g, int32_t member);

#endif
