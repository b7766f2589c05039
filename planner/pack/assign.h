/* assign.h - chooses the items that stay in a memory that is too small for all its candidates.
 *
 * A knapsack over time: choose items of maximum total value so that in every step the chosen ones fit together. The
 * value of an item is its traffic (bytes read and written in a run), or its size if no item has traffic. Greedy by
 * value per byte, by value per byte and step, and by value; the best of the three is improved by exchanging an item
 * left out for a set of items worth less.
 *
 *     capacity 100     a [0,4) 60 B, read 10 times     b [0,2) 60 B, once     c [2,4) 40 B, twice      ->  a and c
 *
 *     const int64_t *value = ac_assign_value(p, tmp);
 *     ac_assign_choose(p, mem, m, value, chosen, tmp);
 *
 * Packing may still need more than the sum of the bytes; solve.c then removes the items with the least value per byte.
 * Cost: O(n log n + sum of lives); the exchange O(n^2) for up to 2,048 items, and left out beyond. Memory: `tmp`.
 * Cannot fail but for memory. Source: ours; the greedy orders are those of the knapsack problem. */
#ifndef AC_PLANNER_PACK_ASSIGN_H
#define AC_PLANNER_PACK_ASSIGN_H
#include "planner/pack/problem.h"

/* Per item: its value in a better memory. */
int64_t *ac_assign_value(const ac_problem *p, ac_region *tmp);

/* chosen[i] in: item i may be left out; all others of `mem` stay. Out: it was chosen. mem[i] == m: item i is a
 * candidate for memory m or must stay there. */
void ac_assign_choose(const ac_problem *p, const int32_t *mem, int32_t m, const int64_t *value, bool *chosen,
                      ac_region *tmp);

#endif
