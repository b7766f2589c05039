/* narrowed.h - lowers nodes whose tensors are stored in 16 bits (ac_tensor.narrowed); private to ir/lower/node.
 *
 * Lowerings do not handle this: they get the node with shadows, tensors of f32, and emit their loops. Then each shadow
 * is replaced by its tensor: loops load 16 bits and convert them, and round the values they store. Constants computed
 * from such tensors (packed weights) are rounded as well.
 *
 *     ac_shadows s = {.cx = cx, .region = region};
 *     L.node = ac_shadow_node(&s, n);                 n itself where nothing is narrowed
 *     ... lower ...
 *     AC_TRY(ac_shadows_leave(&s, low)); */
#ifndef AC_IR_LOWER_NODE_NARROWED_H
#define AC_IR_LOWER_NODE_NARROWED_H
#include "ir/lower/lowered.h"

typedef struct ac_shadow {
    ac_promise head; /* first: a constant's floats, for lowerings that read them */
    ac_tensor *of, *tensor;
} ac_shadow;

typedef struct ac_shadows {
    ac_ctx *cx;
    ac_region *region;
    AC_VEC(ac_shadow *) item;
} ac_shadows;

const ac_node *ac_shadow_node(ac_shadows *s, const ac_node *n);
/* Rewrites low as if it had been lowered for the tensors themselves. AC_FAIL: E0901, the loops read a result again
 * after rounding it. */
int ac_shadows_leave(const ac_shadows *s, ac_lowered *low);

#endif
