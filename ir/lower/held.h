/* held.h - rows of a constant matrix where a product has laid them out for itself: a table of which rows are looked up,
 * and with which is multiplied too (a language model's embedding), is then there once.
 *
 *     ac_lo_holds(L, &held);                            the product says how its constant holds the matrix
 *     const ac_rows_held *h = ac_held_of(L, t, 50257);  whoever looks rows up asks the hint; NULL: t is where it was
 *     ac_held_row(L, h, row, 768, dst, to);             row `row` of t, as t's elements, to dst[to ..]
 *
 * Products have to be lowered first (driver/stage/check.c). Memory: the region of the lowering. */
#ifndef AC_IR_LOWER_HELD_H
#define AC_IR_LOWER_HELD_H
#include "ir/lower/lower.h"

void ac_lo_holds(ac_lower *L, ac_rows_held held);
bool ac_held_is(const ac_rows_held *h, const ac_tensor *t); /* has t the elements of h->stored, in its order? */
/* t: `rows` rows, whatever its shape. */
const ac_rows_held *ac_held_of(const ac_lower *L, const ac_tensor *t, int64_t rows);
/* 0 <= row < rows. */
void ac_held_row(ac_lower *L, const ac_rows_held *h, ac_x row, int64_t each, int32_t dst, ac_x to);

#endif
