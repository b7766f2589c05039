/* compose_slices.h - Slice and StridedSlice as TensorFlow and TFLite have them, of which data may decide where they
 * begin or end, and what they cut may be counted (bounds.h, counted.h). Shapes are known.
 *
 * `result`: the name that --bound calls it. *y is counted where data decides how long it is. AC_FAIL: reported, or
 * refused. */
#ifndef AC_IMPORT_BUILD_COMPOSE_SLICES_H
#define AC_IMPORT_BUILD_COMPOSE_SLICES_H
#include "ir/make/maker.h"

/* t: x, begins, sizes (-1: all that follow), one of each for every dimension of x. */
int ac_make_slice_of(const ac_maker *b, ac_tensor **t, const char *result, ac_tensor **y);

/* Bit i is about entry i of the lists. */
typedef struct ac_strided_masks {
    int32_t begin, end, ellipsis, new_axis, shrink;
} ac_strided_masks;

/* t: x, begins, ends, strides: lists of one length. */
int ac_make_strided_of(const ac_maker *b, ac_tensor **t, ac_strided_masks masks, const char *result, ac_tensor **y);

#endif
