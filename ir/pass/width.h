/* width.h - how many bytes are alive at each step, kept up to date while tensors move into each other. It ranks choices
 * of views: memory shared through views counts once, nothing is done in place, nothing is packed. The real peak is the
 * planner's.
 *
 *     ac_width *w = ac_width_open(region, g);          g's views so far are counted
 *     int32_t mark = ac_width_mark(w);
 *     ac_width_enter(w, r, y);                         r's bytes are now y's
 *     if (ac_width_peak(w) > before)
 *         ac_width_undo(w, mark);                      as before the mark
 *
 * Cost: O(log steps) for each call; ac_width_open O((nodes + tensors) log steps). Memory: the region's. */
#ifndef AC_IR_PASS_WIDTH_H
#define AC_IR_PASS_WIDTH_H
#include "ir/graph/graph.h"

typedef struct ac_width ac_width;

ac_width *ac_width_open(ac_region *region, const ac_graph *g);
int64_t ac_width_peak(const ac_width *w); /* bytes alive at the widest step */
int32_t ac_width_mark(const ac_width *w);
/* Both have bytes of their own (root == NULL). */
void ac_width_enter(ac_width *w, const ac_tensor *r, const ac_tensor *y);
void ac_width_undo(ac_width *w, int32_t mark);

#endif
