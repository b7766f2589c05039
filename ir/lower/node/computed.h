/* computed.h - constants that loops compute instead of loading them; private to ir/lower/node.
 *
 * A lowering reads every constant as a buffer. This file finds those that take more bytes than their recipes
 * (ir/lower/recipe), and replaces each load: by an immediate if all elements are equal, by a conversion of smaller
 * elements, by a comparison of positions.
 *
 *     const %m: bool = less_equal %row: i32[256,1] %column: i32[1,256]
 *     load bool m[i * 256 + j]      =>      load i32 row[i] <= load i32 column[j]
 *
 *     L.out->fn = ac_lb_close(&L.b);
 *     ac_lo_computed(&L);                   may replace L.out->fn and add arguments
 *     ac_lo_settle(L.out, -1); */
#ifndef AC_IR_LOWER_NODE_COMPUTED_H
#define AC_IR_LOWER_NODE_COMPUTED_H
#include "ir/lower/lower.h"

void ac_lo_computed(ac_lower *L);

#endif
