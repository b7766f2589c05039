/* recipe.h - how an element of a constant is made of smaller constants.
 *
 *     if (ac_recipe_saves(t))                         fewer bytes are stored if loops compute t
 *         v = ac_recipe_value(L, t, &at);             the element(s) of t at `at`; 0: it cannot be done
 *
 * A recipe is the node that made the constant (ac_tensor.made_of), if it is cheap: conversions, comparisons,
 * a few operations on numbers, repeated elements. */
#ifndef AC_IR_LOWER_RECIPE_RECIPE_H
#define AC_IR_LOWER_RECIPE_RECIPE_H
#include "ir/lower/lower.h"
#include "ir/lower/recipe/spot.h"

/* The node that makes t of smaller constants in loops; NULL: t is stored. */
const ac_node *ac_recipe_node(const ac_tensor *t);
/* True if the elements of t are the whole numbers first, first + step, .. */
bool ac_recipe_progression(const ac_tensor *t, int64_t *first, int64_t *step);
ac_bytes ac_recipe_stored(const ac_tensor *t); /* without its recipe: 0 if it is uniform or a progression */
/* Bytes that are stored for t if loops compute it from the smallest constants; its own bytes if they cannot. */
ac_bytes ac_recipe_bytes(const ac_tensor *t);
bool ac_recipe_saves(const ac_tensor *t);
/* Bit d: an operand of t's recipe repeats along dimension d of t, or along the next one of more than one element, and
 * not along both: a loop over both of them would have to divide. */
uint32_t ac_recipe_breaks(const ac_tensor *t);
ac_x ac_recipe_value(ac_lower *L, ac_tensor *t, const ac_spot *at);

#endif
