/* origin.h - bytes of a constant in the file of the model, and the reason why the program stores more than that.
 *
 *     ac_origin o = {0};
 *     bytes = ac_origin_add(region, &o, t);           o.leaf: the constants of the file that t is made of, each once
 *     why = ac_origin_why_stored(region, t);          t has no recipe, but the file holds less
 *
 * Memory: the region. Nothing here fails. */
#ifndef AC_IR_LOWER_RECIPE_ORIGIN_H
#define AC_IR_LOWER_RECIPE_ORIGIN_H
#include "ir/graph/graph.h"

typedef struct ac_origin {
    AC_VEC(const ac_tensor *) leaf;
} ac_origin;

/* Adds the smallest constants from which t can be computed by any operators; returns their bytes in the file, without
 * those of leaves that were there. */
ac_bytes ac_origin_add(ac_region *r, ac_origin *o, const ac_tensor *t);
ac_bytes ac_origin_bytes(const ac_tensor *leaf); /* of one of them */
/* The operator that keeps loops from computing t, as a reason for reports; NULL: loops can compute it. */
const char *ac_origin_why_stored(ac_region *r, const ac_tensor *t);

#endif
