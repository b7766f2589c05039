/* panel.h - convolution and fully_connected of int8 on processors that multiply several bytes at once (TILE): Arm's DSP
 * extension.
 *
 * The windows of a few pixels are gathered into a line of scratch, converted and ordered for the tile, so that the
 * reduction is one loop over packed data for any filter, stride, dilation and padding. The line serves all output
 * channels; taps outside of the input are the zero point. */
#ifndef AC_IR_LOWER_CONV_PANEL_H
#define AC_IR_LOWER_CONV_PANEL_H
#include "ir/lower/channel.h"
#include "ir/lower/window.h"

/* i8, constant weights and bias, and weights whose packed form is exact. depth: products of an output. */
bool ac_panel_fits(ac_lower *L, const ac_channel *c, int64_t depth);
int ac_panel_conv(ac_lower *L, ac_channel *c, const ac_window *win); /* c->x [N,H,W,C], no groups */
int ac_panel_rows(ac_lower *L, ac_channel *c, int64_t rows, int64_t depth);

#endif
