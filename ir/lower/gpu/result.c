/* result.c - where the results of a product are in the node's result. */
#include "ir/lower/gpu/plan.h"
#include "ir/lower/gpu/tile.h"
#include "ir/lower/matrix.h"

/* The output channel of column `col` of this block's product; columns past the end use the last channel. */
ac_x ac_gpu_channel(const ac_gpu_gemm *g, ac_x col)
{
    ac_lb *b = &g->L->b;
    return g->y ? col : ac_lb_add(b, ac_lb_mul(b, g->q, ac_lb_i32(b, g->n)), col);
}

/* The result's index, except for the last dimension, of row p of the block's product. */
void ac_gpu_index(const ac_gpu_gemm *g, ac_x p, ac_x *idx)
{
    ac_lb *b = &g->L->b;
    if (g->win) {
        const ac_x line = ac_lb_div(b, p, ac_lb_i32(b, g->win->x.out));
        idx[0] = ac_lb_div(b, line, ac_lb_i32(b, g->win->y.out));
        idx[1] = ac_lb_mod(b, line, ac_lb_i32(b, g->win->y.out));
        idx[2] = ac_lb_mod(b, p, ac_lb_i32(b, g->win->x.out));
    } else if (g->y) {
        ac_batch_index(g->L, g->q, idx);
        idx[g->c->out->rank - 2] = p;
    } else {
        ac_row_index(g->L, p, idx);
    }
}

void ac_gpu_align_quads(ac_lb *b, ac_x x)
{
    enum { WIDE = 4 };
    for (; x < b->fn->code.n; x++) {
        ac_ins *i = &b->fn->code.item[x];
        if ((i->op == AC_L_LOAD || i->op == AC_L_STORE) && i->lanes == WIDE && i->dtype == AC_F32 &&
            b->fn->buf.item[i->aux].align >= 16)
            i->flags |= AC_F_ALIGNED;
    }
}
