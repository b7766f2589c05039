/* matrix.h - positions of the rows of a result, and of the matrices of operands with leading dimensions. */
#ifndef AC_IR_LOWER_MATRIX_H
#define AC_IR_LOWER_MATRIX_H
#include "ir/lower/lower.h"

/* idx (of out[0]'s rank, but the last) of flat row number `row`. */
void ac_row_index(ac_lower *L, ac_x row, ac_x *idx);
/* Leading indices of the q-th matrix of the result; the first element of t's matrix at these indices. */
void ac_batch_index(ac_lower *L, ac_x q, ac_x *idx);
ac_x ac_matrix_at(ac_lower *L, const ac_tensor *t, const ac_x *idx);

#endif
