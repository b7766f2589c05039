/* pieces.h - constants that consist of others side by side (CONCATENATION, PACK), or of one with a border (PAD, PADV2):
 * their elements, chosen by position. */
#ifndef AC_IR_LOWER_RECIPE_PIECES_H
#define AC_IR_LOWER_RECIPE_PIECES_H
#include "ir/lower/lower.h"
#include "ir/lower/recipe/spot.h"

bool ac_pieces_are(const ac_node *n);   /* one of these operators */
bool ac_pieces_plain(const ac_node *n); /* the elements of its result are those of its operands, or the border */
/* Bit d: dimension d of the result and the next one of more than one element are not walked as one. */
uint32_t ac_pieces_breaks(const ac_node *n);
/* The element(s) of n's result at `at`; 0: a vector may have elements of several operands, and one
 * of them is loaded. */
ac_x ac_pieces_value(ac_lower *L, const ac_node *n, const ac_spot *at);

#endif
