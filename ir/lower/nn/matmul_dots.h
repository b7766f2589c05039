/* matmul_dots.h - between matmul.c and matmul_dots.c. */
#ifndef AC_IR_LOWER_NN_MATMUL_DOTS_H
#define AC_IR_LOWER_NN_MATMUL_DOTS_H
#include "ir/lower/channel.h"

/* One product of matrices: x [m, k], y [n, k], both f32 and row by row. */
typedef struct ac_dots {
    const ac_channel *c;
    int64_t m, n, k;
    int32_t x, y;    /* buffers */
    ac_x x_at, y_at; /* first elements of the matrices */
    const ac_x *idx; /* position of the product in the result, without the last two dimensions */
    int32_t rank;    /* of the result */
} ac_dots;

bool ac_dots_fit(const ac_lower *L, const ac_channel *c, int64_t m, int64_t k);
void ac_lo_dots(ac_lower *L, const ac_dots *d);

#endif
