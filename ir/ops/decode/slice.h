/* slice.h - decodes SLICE and STRIDED_SLICE: begin, step and extent in each dimension of the input, and the dimensions
 * of the output.
 *
 *     x[1, :, ::-2] of [4,5,6]:  begin {1,0,5}  step {1,1,-2}  extent {1,5,3}  output [5,3], dimension 0 is shrunk away
 *
 * Errors: E0103, E0104, E0201, E0203 with a diagnostic. Element positions are inside the input whenever every extent is
 * above 0. TFLite's rules: begin and end clamp to the dimension; a mask bit replaces them by the whole range; bit i of
 * a mask belongs to entry i of the specification, not to a dimension. The index of a removed dimension must be in
 * range. */
#ifndef AC_IR_OPS_DECODE_SLICE_H
#define AC_IR_OPS_DECODE_SLICE_H
#include "ir/graph/graph.h"

typedef struct ac_slice {
    int64_t begin[AC_MAX_RANK], step[AC_MAX_RANK], extent[AC_MAX_RANK]; /* one for each dimension of the input */
    int32_t out_rank;
    int64_t out_dim[AC_MAX_RANK];
} ac_slice;

int ac_slice_of(ac_ctx *cx, const ac_node *n, ac_slice *out);         /* SLICE */
int ac_strided_slice_of(ac_ctx *cx, const ac_node *n, ac_slice *out); /* STRIDED_SLICE */

#endif
