/* share_pieces.h - turns a function's loops that are marked apart into separate functions (ir/loop/pieces.h), and
 * merges those that differ only in integers: a stripe of four equal convolutions calls one function four times.
 *
 *     before   conv_2: { .. 2048 .. }  conv_4: { .. 4096 .. }        outer: .. conv_2; .. conv_4;
 *     after    conv_2: { .. shape[0] .. }      outer: .. shape[0] = 2048; conv_2; .. shape[0] = 4096; conv_2;
 *
 * share_groups.h selects them and has the criteria. Adds the estimated savings to *saved, unless it is NULL. Memory:
 * the region. */
#ifndef AC_CODEGEN_SHARE_PIECES_H
#define AC_CODEGEN_SHARE_PIECES_H
#include "codegen/share_groups.h"
#include "ir/loop/pieces.h"

ac_pieces ac_share_pieces(ac_ctx *cx, ac_region *r, const ac_loop_fn *fn, const ac_target *t, ac_share_price price,
                          ac_bytes *saved);
/* By parameter of piece k: true if it may be `restrict` in all calls of its function. outer: the same for p->outer's
 * buffers; NULL: none. */
bool *ac_pieces_restricted(ac_region *r, const ac_pieces *p, int32_t k, const bool *outer);

#endif
