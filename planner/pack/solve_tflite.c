/* solve_tflite.c - the planner of TensorFlow Lite (ArenaPlanner for the order, SimpleMemoryArena for the place).
 *
 *   1. Tensors that live throughout the run, by index.
 *   2. All others by size descending (bytes, not rounded), then first use, then index. The original leaves the last tie
 *      to std::sort.
 *   3. Each takes the smallest gap between tensors alive at the same time, among gaps whose aligned rest suffices; the
 *      first of equals; else the aligned end of them all.
 *
 * Cost: O(n log n) plus the conflicts, see place.h. Bad when many large items conflict: best fit considers only gaps
 * below placed items, never later items. Source: tensorflow/lite/arena_planner.cc and simple_memory_arena.cc, from
 * their documented behaviour. */
#include "planner/pack/solve.h"
#include "planner/pack/strategies.h"

#include "planner/pack/place.h"

int ac_solve_tflite(const ac_problem *p, ac_bytes *offset, ac_region *tmp)
{
    ac_bytes *key = AC_NEW_N(tmp, ac_bytes, p->n);
    for (int32_t i = 0; i < p->n; i++) {
        const ac_item *it = &p->item[i];
        bool whole = it->life.begin == 0 && it->life.end >= p->steps;
        key[i] = whole ? INT64_MAX : it->size; /* those share the begin 0, so only the index distinguishes them */
    }
    ac_place_in_order(p, offset, ac_order_by(p, key, tmp), AC_TFLITE_FIT, tmp);
    return AC_OK;
}
