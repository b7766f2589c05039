/* cached.h - constants that a step reads several times are copied to RAM before it, so that each byte leaves flash
 * once.
 *
 *     before   for p { for oc { ..w[oc].. } }                      w: a constant, read once for each p
 *     after    copy w -> cached; for p { for oc { ..cached[oc].. } }
 *
 *     low = ac_lower_cached(cx, region, low, target, 8192);        copies of at most 8 KiB
 *
 * The copies are scratch of the step: they take bytes of the arena while it runs. The code of the step is then the body
 * of a loop marked apart (ir/loop/pieces.h), so that firmware gets the same function for it as without copies. Steps
 * that are called several times (chunks, rows) and functions of users keep their constants where they are. */
#ifndef AC_IR_LOWER_NODE_CACHED_H
#define AC_IR_LOWER_NODE_CACHED_H
#include "ir/lower/lowered.h"
#include "ir/lower/target.h"

/* The step with copies of at most `most` bytes together: of all it needs, or in blocks of channels (channel_blocks.h),
 * which it then computes one after the other. Itself if it needs none, or larger ones. NULL: diagnostic. */
ac_lowered *ac_lower_cached(ac_ctx *cx, ac_region *region, ac_lowered *low, const ac_target *t, ac_bytes most);

/* For groups of steps, whose loops marked apart are there already: copies of the arguments a with which[a]. */
ac_lowered *ac_lower_cached_args(ac_ctx *cx, ac_region *region, ac_lowered *low, const ac_target *t, bool *which);
ac_bytes ac_cached_size(const ac_buf *b, const ac_target *t); /* of the copy of one constant */

#endif
