/* solve_exact.h - the parts of the exact solver: the problem as flat arrays, one search, the trace of what failed.
 *
 *     ac_exact *x = ac_exact_open(p, tmp);           NULL: windows, pairs or too many items
 *     ac_exact_reorder(x, 0);                         which candidate is tried first
 *     switch (ac_exact_search(x, capacity, steps))    AC_EXACT_FOUND: x->at[] holds the offsets
 *
 * The search places items upwards, so all there is to know about an unplaced item is the least offset it can have
 * ("low"): above everything placed that it conflicts with. That is enough because some smallest plan is *justified*: no
 * item in it can move to a lower place. A node looks at one section (items alive together) whose floor is the lowest:
 *
 *     height  |      |     |      Items a, b and c could start at the floor of section s. Either one of them does
 *             |______|abc  |      (three children) or none (the fourth). Then each is *deferred*: it must be blocked by
 *     floor ->|   s        |      a neighbour that starts below the top the item would have had here, or it could still
 *             +-----------------> t        move down and the plan would not be justified.
 *
 * The children exclude one another, so no permutation of a plan is met twice. Rules and sources: solve_exact_tree.c.
 *
 * Cost of a node: the items and sections near the one placed, no allocation, no clock. Memory: the caller's region,
 * O(n^2) for the conflicts. Cannot fail but for memory. */
#ifndef AC_PLANNER_PACK_SOLVE_EXACT_H
#define AC_PLANNER_PACK_SOLVE_EXACT_H
#include "planner/pack/solve.h"

#include "base/vec.h"

typedef enum ac_exact_end { AC_EXACT_FOUND, AC_EXACT_FAILED, AC_EXACT_SPENT } ac_exact_end;

enum { AC_EXACT_ORDERS = 4, AC_EXACT_MAX_ITEMS = 2048, AC_EXACT_FAILED_BITS = 18 };

/* Rows of variable length in one array: row i is item[first[i]..first[i + 1]). */
typedef struct ac_rows {
    int32_t *first, *item;
} ac_rows;

typedef struct ac_exact_undo {
    int64_t *at, old;
} ac_exact_undo;

/* The trace: every failed node, each after its children, named by its place in `word`. See certificate.c. */
typedef AC_VEC(int32_t) ac_words;
typedef enum ac_trace_kind {
    AC_TRACE_OVER,   /* step: the items alive in it do not fit */
    AC_TRACE_FIXED,  /* item: its fixed offset is taken, or it would have to be deferred */
    AC_TRACE_FREE,   /* item: deferred, and nothing is left to block it */
    AC_TRACE_LIFT,   /* n, n items, node: these deferred items start above their lowest possible blockers */
    AC_TRACE_BRANCH, /* step, n, n times (item, node): one child per candidate in it, last INT32_MAX: none of them */
    AC_TRACE_KEEP    /* first step, last step, node: the failure is that of the items alive in these steps alone */
} ac_trace_kind;

/* One child of a node: the item placed (INT32_MAX: none of them) and the trace of its failure. */
typedef struct ac_exact_choice {
    int32_t item, node;
} ac_exact_choice;

typedef struct ac_exact_failed {
    uint64_t key;
    int32_t node;
} ac_exact_failed;

typedef struct ac_exact {
    const ac_problem *p;
    int32_t n, n_sections;
    /* Per item; items of 0 bytes are left out. */
    int32_t *origin;                 /* its index in the problem */
    ac_bytes *size, *padded, *align; /* padded: the size rounded up to what divides every alignment */
    ac_bytes *fixed;                 /* -1: free */
    int32_t *first_section, *last_section;
    int32_t *twin;     /* the item before it that is equal in all; -1: none */
    int32_t *rank;     /* which candidate is tried first */
    ac_rows section;   /* item -> sections with bytes of it */
    ac_rows member;    /* section -> items; a row is kept sorted by low, unplaced first */
    ac_rows neighbour; /* item -> items it conflicts with */
    ac_step *step;     /* section -> a step with all of it alive */
    /* State; every change goes through the trail. */
    int64_t *low, *defer, *at; /* item: least offset; offset it was deferred from or -1; its offset or -1 */
    int64_t *floor, *need;     /* section: least low of the unplaced; least top they all can have */
    int64_t *roof;             /* section: the least top of any of its unplaced items */
    int64_t *cross;            /* section: unplaced items that live in it and in the one before */
    int64_t *left;             /* section: unplaced items in it */
    AC_VEC(ac_exact_undo) trail;
    bool *dirty;                  /* section: its floor and need are out of date */
    int32_t dirty_from, dirty_to; /* no other section is dirty */
    ac_words deferred;            /* who may be deferred; an item may be in it twice */
    AC_VEC(ac_exact_choice) path; /* a stack: the candidates of the nodes from the root to here */
    ac_exact_failed *failed;      /* hash table of failed states, by key */
    /* One search. */
    ac_bytes capacity;
    int64_t steps, limit; /* work done and allowed */
    int32_t depth;
    bool lowest;  /* branch only in the lowest sections */
    void *ranked; /* of ac_exact_reorder */
    int32_t root; /* AC_EXACT_FAILED: the node that proves it, -1: the trace is incomplete */
    ac_words trace, lifts;
    bool traced; /* false: the trace was given up for its size */
    ac_region *region;
} ac_exact;

ac_exact *ac_exact_open(const ac_problem *p, ac_region *tmp);
/* 0..3: by life, congestion (2), size; above: perturbed by this seed. */
void ac_exact_reorder(ac_exact *x, int32_t order);
ac_exact_end ac_exact_search(ac_exact *x, ac_bytes capacity, int64_t steps);

#endif
