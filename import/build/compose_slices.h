/* compose_slices.h - composes Slice and StridedSlice of TensorFlow and TFLite with data-dependent begins, ends or sizes
 * (bounds.h), of operands that may be dynamically sized (counted.h). Shapes are known.
 *
 * `result`: the name for --bound. *y is dynamically sized if its length depends on data. AC_FAIL: reported, or
 * refused. */
#ifndef AC_IMPORT_BUILD_COMPOSE_SLICES_H
#define AC_IMPORT_BUILD_COMPOSE_SLICES_H
#include "ir/make/maker.h"

/* t: x, begins, sizes (-1: all that follow); both lists have one value for each dimension of x. */
int ac_make_slice_of(const ac_maker *b, ac_tensor **t, const char *result, ac_tensor **y);

/* Bit i belongs to entry i of the lists. */
typedef struct ac_strided_masks {
    int32_t begin, end, ellipsis, new_axis, shrink;
} ac_strided_masks;

/* t: x, begins, ends, strides: lists of one length. */
int ac_make_strided_of(const ac_maker *b, ac_tensor **t, ac_strided_masks masks, const char *result, ac_tensor **y);

#endif
