/* entries.h - the functions that ops.def names in its columns `shape` and `macs`. For the files that define or call
 * them. */
#ifndef AC_IR_OPS_SHAPE_ENTRIES_H
#define AC_IR_OPS_SHAPE_ENTRIES_H
#include "ir/ops/shape/shape.h"

#define OP(shape, macs) \
    ac_shape_fn shape;  \
    ac_macs_fn ac_macs_of_##macs;
#include "ir/ops/ops_shape.def"
#undef OP

#endif
