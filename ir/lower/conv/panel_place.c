/* panel_place.c - weights, places and results of a panel, for its kinds; see panel_kind.h. */
#include "ir/lower/conv/panel_kind.h"

#include "ir/lower/lower.h"
#include "ir/lower/matrix.h"

ac_x ac_panel_weight(ac_lower *P, const ac_panel *p, ac_x oc, ac_x k)
{
    ac_lb *b = &P->b;
    const ac_x in = ac_lb_min(b, oc, ac_lb_i32(b, p->c->n - 1)), ik = ac_lb_min(b, k, ac_lb_i32(b, p->depth - 1));
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, in, ac_lb_i32(b, p->depth)), ik);
    ac_x v = ac_lb_cast(b, ac_lb_load(b, ac_lo_operand(P, p->c->w), at, 1), AC_I32);
    if (p->c->n % p->channels)
        v = ac_lb_select(b, ac_lb_eq(b, in, oc), v, ac_lb_i32(b, 0));
    if (p->depth % p->step)
        v = ac_lb_select(b, ac_lb_eq(b, ik, k), v, ac_lb_i32(b, 0));
    return v;
}

void ac_panel_position(const ac_panel_place *to, ac_x i, ac_x *at)
{
    ac_lb *b = &to->p->L->b;
    at[0] = to->n;
    at[1] = to->oy ? to->oy : ac_lb_div(b, i, to->p->k.out_columns);
    at[2] = to->oy ? i : ac_lb_mod(b, i, to->p->k.out_columns);
}

ac_x ac_panel_done(const ac_panel *p, ac_x channel, ac_x acc)
{
    ac_lb *b = &p->L->b;
    const ac_x start = ac_channel_start(p->c, channel, 1);
    acc = p->biased ? ac_lb_add_wrap(b, acc, start) : ac_lb_add(b, acc, start);
    return ac_channel_done(p->c, acc, channel);
}

/* The index of `channel` at position i. */
static void index_of(const ac_panel_place *to, ac_x i, ac_x channel, ac_x *idx)
{
    const ac_panel *p = to->p;
    if (p->L->node->op == AC_OP_CONV_2D)
        ac_panel_position(to, i, idx);
    else
        ac_row_index(p->L, i, idx);
    idx[p->c->out->rank - 1] = channel;
}

void ac_panel_store(const ac_panel_place *to, ac_x i, ac_x channel, ac_x acc)
{
    ac_x idx[AC_MAX_RANK];
    index_of(to, i, channel, idx);
    ac_lo_result(to->p->L, ac_panel_done(to->p, channel, acc), idx, 1);
}

void ac_panel_store_done(const ac_panel_place *to, ac_x i, ac_x channel, ac_x done)
{
    ac_x idx[AC_MAX_RANK];
    index_of(to, i, channel, idx);
    ac_lo_result(to->p->L, done, idx, 1);
}

void ac_panel_finish_rows(const ac_panel_place *to, ac_x begin, ac_x end)
{
    const ac_panel *p = to->p;
    ac_lb *b = &p->L->b;
    if (p->rows < 0)
        return;
    const ac_x r = ac_lb_for(b, "r", begin, end, 1, AC_MARK_SERIAL);
    const ac_x oc = ac_lb_for(b, "oc", ac_lb_i32(b, 0), p->k.channels, 1, AC_MARK_SERIAL);
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, r, p->k.channels), oc);
    ac_panel_store_done(to, ac_lb_add(b, to->first, r), oc, ac_lb_load(b, p->rows, at, 1));
    ac_lb_end(b);
    ac_lb_end(b);
}

bool ac_panel_reads_pixels(const ac_panel *p)
{
    const ac_slide *s[] = {&p->win.y, &p->win.x};
    for (int i = 0; i < 2; i++)
        if (s[i]->taps != 1 || s[i]->stride != 1 || s[i]->pad || s[i]->in != s[i]->out)
            return false;
    return true;
}

ac_x ac_panel_first(const ac_panel_place *to)
{
    const ac_panel *p = to->p;
    ac_lb *b = &p->L->b;
    ac_x row = ac_lb_mul(b, to->n, p->k.rows);
    if (to->oy)
        row = ac_lb_add(b, row, to->oy);
    return ac_lb_mul(b, ac_lb_add(b, ac_lb_mul(b, row, p->k.columns), to->first), ac_lb_i32(b, p->depth));
}
