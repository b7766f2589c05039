/* frame.h - composes convolutions, pools and other window operators of channels-first images, [N,C,H,W] or [N,C,L],
 * from canonical operators, which are channels-last. Each one is wrapped in transposes, which pass layout cancels. For
 * importers. Images of three and more dimensions, and dilated transposed convolutions, become CONV_ND.
 *
 *     ac_frame w;
 *     ac_frame_open(&w, x);                             stride and dilation 1, no pads
 *     w.kernel[AC_HEIGHT] = 3; w.before[AC_HEIGHT] = w.after[AC_HEIGHT] = 1;
 *     ac_tensor *y = ac_frame_conv(b, x, weights, bias, &w, groups);
 *
 * The caller has checked the parameters (kernel, stride and dilation at least 1, pads at least 0, channels divisible by
 * groups); shape rules check the rest. Operands may be NULL, as everywhere in maker.h. One-dimensional images become
 * images of height 1. */
#ifndef AC_IMPORT_BUILD_FRAME_H
#define AC_IMPORT_BUILD_FRAME_H
#include "ir/make/maker.h"

/* Arrays of spatial dimensions are aligned at their end: .., depth, height, width. Missing dimensions come first. */
enum { AC_SPATIAL = AC_MAX_RANK - 2, AC_HEIGHT = AC_SPATIAL - 2, AC_WIDTH = AC_SPATIAL - 1 };

typedef struct ac_frame {
    int32_t m; /* spatial dimensions */
    int64_t in[AC_SPATIAL], kernel[AC_SPATIAL], stride[AC_SPATIAL], dil[AC_SPATIAL];
    int64_t before[AC_SPATIAL], after[AC_SPATIAL]; /* pads; averages exclude them */
    int32_t zero;                                  /* zero point of an image of bytes; for conv_2d only */
    int64_t front[AC_SPATIAL], back[AC_SPATIAL];   /* pools: zeros around the image, which averages include */
} ac_frame;

void ac_frame_open(ac_frame *w, const ac_tensor *x); /* x has at least 3 dimensions */
/* The number of elements that the kernel spans along d. */
int64_t ac_frame_reach(const ac_frame *w, int32_t d);

/* weights [O,I/groups,K..], bias [O] or NULL. */
ac_tensor *ac_frame_conv(const ac_maker *b, ac_tensor *x, ac_tensor *weights, ac_tensor *bias, const ac_frame *w,
                         int64_t groups);
/* weights [I,O/groups,K..]; the result has out[d] elements along d: stride * (in - 1) + reach - before - after. */
ac_tensor *ac_frame_tconv(const ac_maker *b, ac_tensor *x, ac_tensor *weights, ac_tensor *bias, const ac_frame *w,
                          int64_t groups, const int64_t out[AC_SPATIAL]);
/* op: MAX_POOL_2D, AVERAGE_POOL_2D or L2_POOL_2D. One to three spatial dimensions. */
ac_tensor *ac_frame_pool(const ac_maker *b, ac_op op, ac_tensor *x, const ac_frame *w);

/* op: WINDOW_MAX, WINDOW_SUM or WINDOW_ARGMAX (places in all of x, i64), over x [N,C,..] as it is. */
ac_tensor *ac_frame_slide(const ac_maker *b, ac_op op, ac_tensor *x, const ac_frame *w);

/* x / (k + alpha / size * sum)^beta; sum: that of the squares of the `size` nearest channels. x [N,C,H,W], size odd. */
ac_tensor *ac_frame_lrn(const ac_maker *b, ac_tensor *x, int64_t size, double alpha, double beta, double k);

/* op: ROI_POOL or ROI_ALIGN with its attributes. x [N,C,H,W]; roi [R,5], f32: index of an image, x1, y1, x2, y2. ->
 * [R,C,height,width] */
ac_tensor *ac_frame_regions(const ac_maker *b, ac_op op, ac_tensor *x, ac_tensor *roi, const ac_attrs *a);

/* [N,C,L] -> [N,1,L,C], [N,C,H,W] -> [N,H,W,C]; and back, m spatial dimensions. */
ac_tensor *ac_channels_last(const ac_maker *b, ac_tensor *x);
ac_tensor *ac_channels_first(const ac_maker *b, ac_tensor *y, int32_t m);

#endif
