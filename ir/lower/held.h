/* held.h - reads rows of a constant matrix from the packed copy of a product, so that a matrix that is both a lookup
 * table and a factor (a language model's embedding) is stored once.
 *
 *     ac_lo_holds(L, &held);                            the product registers how its constant holds the matrix
 *     const ac_rows_held *h = ac_held_of(L, t, 50257);  lookups use the hint; NULL: t has its own copy
 *     ac_held_row(L, h, row, 768, dst, to);             row `row` of t, as t's elements, to dst[to ..]
 *
 * Products have to be lowered first (driver/stage/check.c). Memory: the region of the lowering. */
#ifndef AC_IR_LOWER_HELD_H
#define AC_IR_LOWER_HELD_H
#include "ir/lower/lowered.h"

struct ac_lower;

void ac_lo_holds(struct ac_lower *L, ac_rows_held held);
bool ac_held_is(const ac_rows_held *h, const ac_tensor *t); /* true if t has the elements of h->stored in the same
                                                             * order */
/* t: `rows` rows, whatever its shape. */
const ac_rows_held *ac_held_of(const struct ac_lower *L, const ac_tensor *t, int64_t rows);
/* 0 <= row < rows. */
void ac_held_row(struct ac_lower *L, const ac_rows_held *h, ac_x row, int64_t each, int32_t dst, ac_x to);

#endif
