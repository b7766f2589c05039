/* expanded.h - expanded_depthwise on a GPU: one kernel (expanded_quads.c). */
#ifndef AC_IR_LOWER_CONV_EXPANDED_H
#define AC_IR_LOWER_CONV_EXPANDED_H
#include "ir/lower/channel.h"
#include "ir/ops/decode/expanded.h"

/* Sets the tiles whose sums one kernel can give as well, the fastest ones; false: it cannot. long_end: many
 * operations follow. */
bool ac_gpu_expanded_tiles(const ac_target *t, ac_expanded *e, bool long_end);
/* True if one kernel takes less time than two, by a model of it. */
bool ac_gpu_expanded_pays(const ac_target *t, const ac_expanded *e);
bool ac_gpu_expanded_fits(const ac_lower *L, const ac_expanded *e, const ac_channel *c);
ac_x ac_expanded_inner(ac_lower *L, ac_x e); /* of a sum, of the node L->node */
int ac_gpu_expanded(ac_lower *L, const ac_expanded *e, ac_channel *c);

#endif
