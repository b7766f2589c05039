/* index.h - loads indices from data, adds the extent to negative ones if the operator counts from the end, and checks
 * them.
 *
 *     ac_x i = ac_index_at(L, t, at, extent, true);        i32, 0 <= i < extent, or the function leaves
 *
 * Indices are i16, i32 or i64. One out of range is never used: the function leaves with AC_STATUS_INDEX and its result
 * is unspecified (folding reports that as E0104). Constants that the caller has checked already need no test at run
 * time. */
#ifndef AC_IR_LOWER_MOVE_INDEX_H
#define AC_IR_LOWER_MOVE_INDEX_H
#include "ir/lower/lower.h"

enum { AC_STATUS_INDEX = 4 };

/* Element `at` of t, not checked: i32 or i64. */
static inline ac_x ac_index_load(ac_lower *L, ac_tensor *t, ac_x at)
{
    const ac_x i = ac_lb_load(&L->b, ac_lo_operand(L, t), at, 1);
    return t->dtype == AC_I16 ? ac_lb_cast(&L->b, i, AC_I32) : i;
}

/* The same below `extent`, as i32. from_end: -1 is the last element. */
static inline ac_x ac_index_at(ac_lower *L, ac_tensor *t, ac_x at, int64_t extent, bool from_end)
{
    ac_lb *b = &L->b;
    ac_x i = ac_index_load(L, t, at);
    const ac_x zero = ac_lb_like_int(b, i, 0), size = ac_lb_like_int(b, i, extent);
    if (from_end)
        i = ac_lb_select(b, ac_lb_lt(b, i, zero), ac_lb_add_wrap(b, i, size), i);
    ac_lb_fail_if(b, ac_lb_or(b, ac_lb_lt(b, i, zero), ac_lb_ge(b, i, size)), AC_STATUS_INDEX);
    return ac_lb_cast(b, i, AC_I32);
}

#endif
