/* arenac_planner.h - arenac's memory planner alone: packing lifetimes into arenas. C99, C++; link libarenac-planner.
 *
 * Input: n intervals, each with a size in bytes, an alignment and the steps during which it needs its bytes. Output: an
 * offset for each, so that two that are needed in the same step never share a byte; the smallest total that the planner
 * finds; and a lower bound of every plan.
 *
 *     steps:  0   1   2   3         offset
 *     a       [======)                0        c takes a's place: they are never needed together
 *     b           [==========)        64
 *     c               [======)        0
 *
 *     arenac_interval item[] = {{.name = "a", .size = 64, .begin = 0, .end = 2, .fixed = -1, .memory = -1},
 *                               {.name = "b", .size = 32, .begin = 1, .end = 4, .fixed = -1, .memory = -1}};
 *     arenac_pack_problem problem = {.item = item, .n = 2};
 *     arenac_packing plan;
 *     if (arenac_pack(&problem, NULL, &plan) == ARENAC_PACK_OK)
 *         printf("%lld bytes, a at %lld\n", (long long)plan.bytes, (long long)plan.offset[0]);
 *     else
 *         fputs(plan.message, stderr);
 *     arenac_packing_free(&plan);
 *
 * Zeroed fields of problem and options are their defaults; in an interval `fixed` and `memory` must be -1 to be free.
 * Results depend on the input alone: not on the machine, the time or the number of threads. Every plan is checked
 * before it is returned, by code that shares nothing with the planners. Calls share nothing and may run in several
 * threads.
 *
 * Ownership: the caller owns the input, and may free it after the call; the output belongs to the arenac_packing and
 * lives until arenac_packing_free, which also accepts a failed call or a zeroed struct. Errors: an arenac_pack_status,
 * and lines in plan.message that a person can read; no call ends the process. Cost: O(n log n) heuristics, then a
 * search of at most `effort` (0: small problems only; 6: about a second). */
#ifndef AC_PLANNER_PACK_ARENAC_PLANNER_H
#define AC_PLANNER_PACK_ARENAC_PLANNER_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* During steps begin <= t < end an interval needs only its bytes [lo, hi); lo == hi: none. */
typedef struct arenac_gap {
    int32_t begin, end;
    int64_t lo, hi;
} arenac_gap;

typedef struct arenac_interval {
    const char *name;   /* for messages; NULL: its number */
    int64_t size;       /* bytes, >= 0 */
    int64_t align;      /* of its offset, a power of two; 0: 1 */
    int32_t begin, end; /* needed in the steps begin <= t < end; 0 <= begin < end */
    int64_t fixed;      /* >= 0: this offset and no other; -1: free */
    int32_t memory;     /* the required memory; -1: any of `memories` */
    uint32_t memories;  /* bit m: memory m is allowed; 0: all */
    int64_t traffic; /* bytes read and written: more is preferred for the first memories; 0 everywhere: sizes count */
    const arenac_gap *gap; /* disjoint, in order of time */
    int32_t n_gaps;
} arenac_interval;

/* Intervals a and b may share bytes while both are needed if b starts at least `above` bytes after a, or at least
 * `below` bytes before it; -1: not on that side. The way to say that the result of a step may begin inside an operand
 * that dies there. */
typedef struct arenac_pack_pair {
    int32_t a, b;
    int64_t above, below;
} arenac_pack_pair;

typedef struct arenac_pack_memory {
    const char *name; /* NULL: its number */
    int64_t capacity; /* bytes; -1: no limit */
} arenac_pack_memory;

typedef struct arenac_pack_problem {
    const arenac_interval *item;
    int32_t n;
    const arenac_pack_pair *pair;
    int32_t n_pairs;
    const arenac_pack_memory *memory;
    int32_t n_memories; /* best first, at most 32; none: one without a limit */
} arenac_pack_problem;

typedef struct arenac_pack_options {
    const char *planner; /* "auto", or one of arenac_pack_planner; NULL: "auto" */
    int effort;          /* 1..10: levels 0..9 of arenac --effort; 0: small problems are searched, large ones are not */
    int64_t capacity;    /* > 0: stop at the first plan of the first memory that fits into so many bytes */
    int64_t max_memory;  /* bytes that the planner may use; 0: no limit */
    int certificate;     /* not 0: also say why nothing smaller exists, as text (docs/certificates.md of arenac) */
} arenac_pack_options;

enum arenac_pack_status {
    ARENAC_PACK_OK = 0,
    ARENAC_PACK_INVALID = 1,   /* the problem breaks a rule, or its sizes add up to more than 61 bits hold */
    ARENAC_PACK_NO_MEMORY = 2, /* malloc failed, or max_memory was reached */
    ARENAC_PACK_TOO_LARGE = 4, /* over a capacity; the plan is there all the same */
    ARENAC_PACK_UNSAFE = 7     /* arenac_pack_check: the plan breaks a rule */
};

typedef struct arenac_packing {
    int64_t *offset;       /* n of them */
    int32_t *memory;       /* n of them */
    int64_t *memory_bytes; /* for each memory */
    int64_t bytes;         /* of the first memory */
    int64_t lower_bound;   /* no plan of the items in the first memory takes less */
    int optimal;           /* bytes == lower_bound */
    const char *planner;   /* which one found it */
    const char
        *certificate;    /* text; NULL: not requested, or none (the sizes alone prove the bound, or it is unproven) */
    const char *message; /* "": nothing to say; else lines that a person can read */
    void *own;           /* of arenac_packing_free */
} arenac_packing;

/* Plans. *out is filled whatever is returned. options NULL: defaults. */
int arenac_pack(const arenac_pack_problem *problem, const arenac_pack_options *options, arenac_packing *out);

/* Checks a plan from any source. memory NULL: all in the first. OK, or UNSAFE with one message for each broken rule (at
 * most 20); out->bytes, memory_bytes and lower_bound are those of this plan. */
int arenac_pack_check(const arenac_pack_problem *problem, const int64_t *offset, const int32_t *memory,
                      arenac_packing *out);

/* The intervals of a CSV text (docs/plan-format.md of arenac) as a problem; free with arenac_pack_problem_free. `file`
 * names it in messages. message: NULL, or `message_bytes` bytes for the text of an error. */
int arenac_pack_read_csv(const char *file, const char *text, size_t n, arenac_pack_problem *out, char *message,
                         size_t message_bytes);
void arenac_pack_problem_free(arenac_pack_problem *problem);

/* Names of the planners, in the order that "auto" runs them; NULL after the last. */
const char *arenac_pack_planner(int k);
const char *arenac_pack_planner_help(int k); /* its help, one line */

void arenac_packing_free(arenac_packing *out);

#ifdef __cplusplus
}
#endif
#endif
