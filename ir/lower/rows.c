/* rows.c - emits the loop over rows that softmax and the normalisations share. */
#include "ir/lower/rows.h"

void ac_lo_rows_open(ac_lower *L, ac_lo_rows *r)
{
    static const char *const name[AC_MAX_RANK] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};
    ac_lb *b = &L->b;
    r->in = L->node->in[0];
    r->out = L->node->out[0];
    r->x = ac_lo_operand(L, r->in);
    r->depth = r->in->rank ? r->in->dim[r->in->rank - 1] : 1;
    r->base = ac_lb_i32(b, 0);
    for (int32_t d = 0; d + 1 < r->in->rank; d++) {
        r->idx[d] = ac_lb_for_each(b, name[d], r->in->dim[d]);
        r->base = ac_lb_add(b, ac_lb_mul(b, r->base, ac_lb_i32(b, r->in->dim[d])), r->idx[d]);
    }
    r->base = ac_lb_mul(b, r->base, ac_lb_i32(b, r->depth));
}

void ac_lo_rows_index(ac_lower *L, ac_lo_rows *r, ac_x row)
{
    ac_lb *b = &L->b;
    for (int32_t d = r->in->rank - 2; d >= 0; d--) {
        const ac_x n = ac_lb_i32(b, r->in->dim[d]);
        r->idx[d] = d ? ac_lb_mod(b, row, n) : row;
        row = ac_lb_div(b, row, n);
    }
}

void ac_lo_rows_close(ac_lower *L, const ac_lo_rows *r)
{
    for (int32_t d = 0; d + 1 < r->in->rank; d++)
        ac_lb_end(&L->b);
}

ac_x ac_lo_rows_load(ac_lower *L, const ac_lo_rows *r, ac_x c, int32_t lanes)
{
    return ac_lb_load(&L->b, r->x, ac_lb_add(&L->b, r->base, c), lanes);
}

void ac_lo_rows_store(ac_lower *L, ac_lo_rows *r, ac_x c, ac_x v, int32_t lanes)
{
    if (r->in->rank > 0)
        r->idx[r->in->rank - 1] = c;
    ac_lo_result(L, v, r->idx, lanes);
}
