/* winograd.h - lowers 3x3 convolutions with fewer multiplications, for --winograd. Floats only; rounds differently
 * (docs/winograd.md).
 *
 *     if (ac_winograd_take(L, &c, &win))       the node is done, in output tiles of 2 x 2 or 4 x 4
 *         return AC_OK;
 *
 * The transforms are those of the points 0, +-p[0], +-p[1] ... and infinity (Toom and Cook; Winograd 1980; Lavin and
 * Gray 2016): with p = {1} F(2x2,3x3), with p = {sqrt 1/2, sqrt 2} F(4x4,3x3). Points near 1 keep the coefficients
 * small, which loses less precision than the usual 1, 2. */
#ifndef AC_IR_LOWER_CONV_WINOGRAD_H
#define AC_IR_LOWER_CONV_WINOGRAD_H
#include "ir/lower/channel.h"
#include "ir/lower/window.h"

enum { AC_WINOGRAD_SIDE = 6 }; /* of the largest input tile */

typedef struct ac_winograd {
    int32_t pairs;   /* of points: 1, 2 */
    int32_t out, in; /* side of an output tile: 2 * pairs; of an input tile: out + 2 */
    double p[2];
} ac_winograd;
ac_winograd ac_winograd_of(int32_t out); /* out: 2 or 4 */

/* One side of a transform: in[0 .. count-1] -> out. Values of any float type and lanes.
 * input: side in -> in; output: in -> out; weights: 3 -> in. */
void ac_winograd_input(ac_lower *L, const ac_winograd *w, const ac_x *in, ac_x *out);
void ac_winograd_output(ac_lower *L, const ac_winograd *w, const ac_x *in, ac_x *out);
void ac_winograd_weights(ac_lower *L, const ac_winograd *w, const ac_x *in, ac_x *out);
/* |computed - exact| <= (channels + 40) * 2^-24 * this * max|x| * sum over channels of max|w| (docs/winograd.md). */
double ac_winograd_growth(const ac_winograd *w);

/* Takes the node when L->hint requests it and it applies (2, 4: always; AC_WINOGRAD_CHEAPEST: if the cost model finds
 * it faster). False: use the direct schedules; L->out->schedule.refused has the reason if it was requested. */
bool ac_winograd_take(ac_lower *L, ac_channel *c, const ac_window *win);

#endif
