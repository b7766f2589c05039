/* rows.h - operators that work along the last dimension: a loop over all others, and access to the row's elements.
 *
 *     ac_lo_rows r;
 *     ac_lo_rows_open(L, &r);                        loops over the rows of node->in[0]
 *     ... ac_lo_rows_load(L, &r, c, lanes) ... ac_lo_rows_store(L, &r, c, value, lanes) ...     every c of 0..r.depth-1
 * once ac_lo_rows_close(L, &r); */
#ifndef AC_IR_LOWER_ROWS_H
#define AC_IR_LOWER_ROWS_H
#include "ir/lower/lower.h"

typedef struct ac_lo_rows {
    ac_tensor *in, *out; /* in[0], out[0]: the same shape */
    int32_t x;           /* buffer of in */
    int64_t depth;       /* elements of a row */
    ac_x base;           /* flat index of the row's first element */
    ac_x idx[AC_MAX_RANK];
} ac_lo_rows;

void ac_lo_rows_open(ac_lower *L, ac_lo_rows *r);
/* Without the loops: idx of flat row number `row`. */
void ac_lo_rows_index(ac_lower *L, ac_lo_rows *r, ac_x row);
void ac_lo_rows_close(ac_lower *L, const ac_lo_rows *r);
ac_x ac_lo_rows_load(ac_lower *L, const ac_lo_rows *r, ac_x c, int32_t lanes);
void ac_lo_rows_store(ac_lower *L, ac_lo_rows *r, ac_x c, ac_x v, int32_t lanes);

#endif
