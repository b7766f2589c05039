/* skyline.h - fills the lowest valley of a skyline over time, by the priorities it is given.
 *
 *     height                        The skyline is the top of what is placed, per step. Take its lowest segment (the
 *       |     ____                  earliest of equals). Of the items whose whole life lies inside it, put the one of
 *       |____|    |      ____       highest priority on its floor, at its own steps. If there is none, raise the
 * segment |         |_____|           to its lower neighbour and join them.
 *       +---------------------> t
 *
 *     ac_skyline *s = ac_skyline_open(p, tmp);
 *     ac_bytes top = ac_skyline_fill(s, key, AC_ANY_BEGIN, offset);     again with other keys
 *
 * The skyline knows neither gaps, pairs nor fixed offsets: it takes the first two for whole lives and leaves fixed
 * items out. ac_skyline_is_plan says whether that is the whole truth; else its offsets only give an order for first
 * fit.
 *
 * Cost: O(n) steps of O(log n) for the heap and, usually, O(log n) for the tree of lives, O(n) at worst. Memory: the
 * caller's region, about 80 bytes an item. Cannot fail but for memory.
 * Source: the skyline rule of strip packing (Burke, Kendall, Whitwell 2004), with the begins given. */
#ifndef AC_PLANNER_PACK_SKYLINE_H
#define AC_PLANNER_PACK_SKYLINE_H
#include "planner/pack/problem.h"

typedef struct ac_skyline ac_skyline;

/* Whom a valley takes first: the highest priority, or the highest among those that begin where the valley does. */
typedef enum ac_skyline_edge { AC_ANY_BEGIN, AC_SAME_BEGIN } ac_skyline_edge;

ac_skyline *ac_skyline_open(const ac_problem *p, ac_region *tmp);
bool ac_skyline_is_plan(const ac_problem *p); /* no gaps, pairs or fixed offsets: a fill is a valid plan */
/* key: per item of the problem, 0 or more; higher goes first, ties by begin, then index. Sets offset[] of the free
 * items with bytes, 0 for the others. Returns the top. */
ac_bytes ac_skyline_fill(ac_skyline *s, const double *key, ac_skyline_edge edge, ac_bytes *offset);

#endif
