/* matrix.c - computes positions of rows and of matrices; see matrix.h. */
#include "ir/lower/matrix.h"

/* idx (of out[0]'s rank, but the last) of flat row number `row`. */
void ac_row_index(ac_lower *L, ac_x row, ac_x *idx)
{
    ac_lb *b = &L->b;
    const ac_tensor *y = L->node->out[0];
    int32_t outer = 0; /* outermost dimension with more than one position: takes the rest */
    while (outer < y->rank - 2 && y->dim[outer] == 1)
        idx[outer++] = ac_lb_i32(b, 0);
    for (int32_t i = y->rank - 2; i >= outer; i--) {
        const ac_x n = ac_lb_i32(b, y->dim[i]);
        idx[i] = i == outer ? row : ac_lb_mod(b, row, n);
        if (i > outer)
            row = ac_lb_div(b, row, n);
    }
}

/* t's leading dimensions align with the last ones of the result. */
ac_x ac_matrix_at(ac_lower *L, const ac_tensor *t, const ac_x *idx)
{
    ac_lb *b = &L->b;
    const int32_t rank = L->node->out[0]->rank;
    ac_x at = ac_lb_i32(b, 0);
    int64_t stride = t->dim[t->rank - 1] * t->dim[t->rank - 2];
    for (int32_t i = t->rank - 3; i >= 0; stride *= t->dim[i--])
        if (t->dim[i] != 1)
            at = ac_lb_add(b, at, ac_lb_mul(b, idx[i + rank - t->rank], ac_lb_i32(b, stride)));
    return at;
}

void ac_batch_index(ac_lower *L, ac_x q, ac_x *idx)
{
    ac_lb *b = &L->b;
    const ac_tensor *out = L->node->out[0];
    for (int32_t i = out->rank - 3; i >= 0; i--) {
        idx[i] = i ? ac_lb_mod(b, q, ac_lb_i32(b, out->dim[i])) : q;
        q = ac_lb_div(b, q, ac_lb_i32(b, out->dim[i]));
    }
}
