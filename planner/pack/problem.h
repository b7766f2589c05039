/* problem.h - the packing problem: items with lives, the memories for them, and a plan of their offsets.
 *
 * Input: n items, each with a size and alignment in bytes and a half-open life in steps. Output: a memory and an offset
 * per item, so that two items whose lives overlap never share a byte. The smallest arena is an NP-hard question;
 * bound.c computes a lower bound, and solve.h finds plans.
 *
 *     life:   0   1   2   3         offset
 *     a     [======)                0        c reuses a's place: their lives do not overlap
 *     b         [==========)        64
 *     c             [======)        0
 *
 *     ac_item item[] = {{.name = "a", .size = 64, .align = 1, .life = {0, 2}, .fixed = -1, .mem = -1}, ...};
 *     ac_memory arena = {.name = "arena", .capacity = -1, .align = 64};
 *     ac_problem p = {.item = item, .n = 3, .mem = &arena, .n_mems = 1, .steps = 4};
 *     ac_bound b = ac_problem_bound(&p, tmp);
 *
 * Beyond lives a problem may carry (all optional, zero when unused): gaps (steps inside a life that need none or only
 * some of the bytes), fixed offsets, pair rules (two live items that may overlap if their offsets differ enough),
 * several memories. Views and in-place results are merged into one item before they get here (planner/graph/live.h).
 *
 * Ownership: arrays belong to the caller's region. Errors: AC_FAIL with a diagnostic. Cost: a check takes O(n log n), a
 * bound that for each alignment in use. */
#ifndef AC_PLANNER_PACK_PROBLEM_H
#define AC_PLANNER_PACK_PROBLEM_H
#include "base/ctx.h"
#include "base/sink.h"

typedef int32_t ac_step; /* a position in the execution order, 0-based */
typedef struct {
    ac_step begin, end;
} ac_life; /* half-open: live during begin <= t < end; begin < end */

static inline bool ac_life_overlap(ac_life a, ac_life b)
{
    return a.begin < b.end && b.begin < a.end;
}

/* During [life.begin, life.end) the item occupies only its bytes [lo, hi); lo == hi: none at all. */
typedef struct ac_gap {
    ac_life life;
    ac_bytes lo, hi;
} ac_gap;

typedef enum ac_item_kind {
    AC_ITEM_TENSOR,
    AC_ITEM_INPUT,
    AC_ITEM_OUTPUT,
    AC_ITEM_STATE,
    AC_ITEM_SCRATCH
} ac_item_kind;

typedef struct ac_item {
    const char *name;
    ac_bytes size;  /* >= 0; an item of 0 bytes takes no place but keeps its row */
    ac_bytes align; /* >= 1 */
    ac_life life;
    ac_bytes fixed; /* >= 0: the offset is given; -1: free */
    int32_t mem;    /* index of the memory it is pinned to; -1: any of `mems` */
    uint32_t mems;  /* bit m: memory m is allowed; 0: all */
    ac_item_kind kind;
    const ac_gap *gaps; /* sorted by begin, disjoint; n_gaps of them */
    int32_t n_gaps;
    int64_t traffic; /* bytes read and written in a run: items with more are preferred for the first memory */
} ac_item;

/* Items a and b are alive together in exactly the steps of `life`, and may share bytes there if offset[b] - offset[a]
 * <= max_below (b is low enough under a) or offset[b] - offset[a] >= min_above. INT64_MIN / INT64_MAX: that side is not
 * allowed unless they are disjoint anyway. */
typedef struct ac_pair {
    int32_t a, b;
    ac_life life;
    ac_bytes max_below, min_above;
} ac_pair;

/* The purpose of a memory of a model's plan: anything, only state, or a graph input or output owned by the caller.
 * */
typedef enum ac_mem_use { AC_MEM_RAM, AC_MEM_STATE, AC_MEM_IN, AC_MEM_OUT } ac_mem_use;

typedef struct ac_memory {
    const char *name;  /* "arena", "state", "dtcm" ... */
    ac_bytes capacity; /* -1: no limit */
    ac_bytes align;    /* of its base address */
    ac_mem_use use;
    int32_t index; /* IN, OUT: which one */
} ac_memory;

enum { AC_MAX_MEMS = 32 }; /* memories that ac_item.mems can name */

typedef struct ac_problem {
    ac_item *item;
    int32_t n;
    ac_pair *pair;
    int32_t n_pairs;
    ac_memory *mem;
    int32_t n_mems; /* at least 1 */
    ac_step steps;  /* all lives are in [0, steps) */
} ac_problem;

/* True if the memory of the item can hold other items. */
static inline bool ac_item_in_ram(const ac_problem *p, const ac_item *it)
{
    return it->mem < 0 || p->mem[it->mem].use == AC_MEM_RAM;
}

/* Why no plan is smaller: it meets ac_plan.bound, or a search of every smaller one failed and can be replayed. */
typedef enum ac_proof { AC_PROOF_NONE, AC_PROOF_BOUND, AC_PROOF_CERTIFICATE } ac_proof;

typedef struct ac_plan {
    ac_bytes *offset;     /* per item */
    int32_t *mem;         /* per item */
    ac_bytes *mem_bytes;  /* per memory: the largest offset + size in it */
    ac_bytes arena_bytes; /* mem_bytes[0] */
    ac_bytes bound;       /* no plan of memory 0 is smaller (aligned bound) */
    const char *strategy; /* which one found it */
    ac_bytes proven;      /* no plan of memory 0 is smaller: `bound`, or more after a proof; == arena_bytes: optimal */
    ac_proof proof;       /* of `proven` == arena_bytes; NONE: the plan may not be optimal */
} ac_plan;

/* The alignment of the base address of memory m, so that every item is aligned: that of the items, the same for all
 * memories of tensors, since they may be in one block; with several memories, also the alignment given for this one. */
static inline ac_bytes ac_plan_align(const ac_problem *p, const ac_plan *plan, int32_t m)
{
    ac_bytes align = 1;
    if (p->mem[m].use > AC_MEM_STATE)
        return p->mem[m].align;
    for (int32_t i = 0; i < p->n; i++)
        if (p->mem[plan->mem[i]].use <= AC_MEM_STATE && p->item[i].align > align)
            align = p->item[i].align;
    return p->n_mems > 2 && p->mem[m].align > align ? p->mem[m].align : align;
}

/* csv.c - MiniMalloc's columns in any order: id|buffer|buffer_id; lower|start|begin (inclusive); upper (exclusive) or
 * end (inclusive); size; optional alignment, gaps ("a-b" or "a-b@lo:hi", space separated), offset (>= 0: fixed).
 * Unknown columns are skipped, an error names a missing one. Rows keep their order. `file` names the text in messages;
 * names of items point into the text. */
int ac_problem_read_csv(ac_ctx *cx, const char *file, const char *text, size_t n, bool ignore_offsets, ac_problem *out);
/* Memory 0 only. id,lower,upper,size[,alignment][,gaps][,offset]; alignment only if an item has one above 1, offset
 * with a plan, or when an item is fixed (-1 for the others). */
void ac_problem_write_csv(ac_sink *to, const ac_problem *p, const ac_plan *plan);

/* csv_gaps.c: the same problem with the pairs that share bytes in `plan` written as gaps (one byte window per step):
 * CSV can express those, and a checker without pairs can verify them. Valid for this plan only. Gaps of an item end
 * before its pairs. */
ac_problem ac_problem_pairs_to_gaps(ac_region *region, const ac_problem *p, const ac_plan *plan);

/* bound.c - lower bounds on memory 0, in bytes. `live`: the largest sum of sizes of items alive in one step; `aligned`:
 * the same with what alignment forces, never less. */
typedef struct ac_bound {
    ac_bytes live, aligned;
    ac_step peak; /* first step that reaches `live` */
} ac_bound;
ac_bound ac_problem_bound(const ac_problem *p, ac_region *tmp);

/* part.c - the items i with mem[i] == m and their pairs, as a problem of memory m alone, in the order they have here.
 * back: p->n of them; item k of the part is item back[k] here. In tmp. */
ac_problem ac_problem_part(const ac_problem *p, const int32_t *mem, int32_t m, int32_t *back, ac_region *tmp);

/* check.c - is this plan valid? Written from the rules above, shares no code with any solver. AC_OK, or AC_FAIL with
 * one E0701 for each broken rule (at most 20): overlap (both names, byte ranges and common steps), alignment, bounds,
 * capacity, fixed offset moved, memory not allowed. */
int ac_plan_check(ac_ctx *cx, const char *file, const ac_problem *p, const ac_plan *plan);

#endif
