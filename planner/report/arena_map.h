/* arena_map.h - draws the arena in characters: a column per step (per group of steps, if there are more than 56), a row
 * per twelfth of the addresses.
 *
 *   54.0K  |.cc.....|    a t0    c t59
 *   27.0K  |a.ddffhh|    b t58   d t60
 *
 * Every item of the memory has a letter, a-z then A-Z in order of first use; if the names do not all fit, the items
 * with most bytes x steps come first, and the others share '*'. A cell shows the item that fills most of it, or '.' if
 * none does. Cost: O(n log n + cells touched). */
#ifndef AC_PLANNER_REPORT_ARENA_MAP_H
#define AC_PLANNER_REPORT_ARENA_MAP_H
#include "planner/report/report.h"

void ac_report_map(ac_sink *to, const ac_report *r, int32_t mem); /* named where the plan has several memories */

#endif
