/* joined.h - products of one tensor by several weights, as one product whose readers read parts of its rows. */
#ifndef AC_IR_PASS_JOINED_H
#define AC_IR_PASS_JOINED_H
#include "ir/pass/places.h"

/* Of the `n` places, those in results of fully_connected (or of an addition of a constant bias to one) with the same
 * operand, constant weights and no other reader move to a new product by the joined weights. uses: by tensor id. New
 * nodes are appended to g->node. AC_FAIL: reported. */
int ac_join_products(ac_graph *g, const int32_t *uses, ac_places *const *place, int32_t n);

#endif
