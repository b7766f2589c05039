/* attend.c - reads the operands of an attention. */
#include "ir/lower/gpu/attend.h"

void ac_attend_open(ac_attend *v)
{
    for (int32_t i = 0; i < AC_ATTENTION_OPERANDS; i++)
        v->buf[i] = v->a.at[i].t ? ac_lo_operand(v->L, v->a.at[i].t) : -1;
}

ac_x ac_attend_at(ac_attend *v, int32_t i, ac_x batch, ac_x group, ac_x head, ac_x row, ac_x column)
{
    const ac_attention_at *at = &v->a.at[i];
    const int64_t step[5] = {at->batch, at->group, at->head, at->row, at->column};
    const ac_x index[5] = {batch, group, head, row, column};
    ac_lb *b = &v->L->b;
    ac_x sum = ac_lb_i32(b, at->first);
    for (int32_t d = 0; d < 5; d++)
        if (step[d] && index[d])
            sum = ac_lb_add(b, sum, ac_lo_scaled(b, index[d], step[d]));
    return sum;
}

ac_x ac_attend_load(ac_attend *v, int32_t i, ac_x at)
{
    return ac_lb_cast(&v->L->b, ac_lb_load(&v->L->b, v->buf[i], at, 1), AC_F32);
}

static ac_x masked(ac_attend *v, ac_x sum, ac_x batch, ac_x group, ac_x head, ac_x row, ac_x key)
{
    ac_lb *b = &v->L->b;
    const ac_attrs_attention *attrs = &v->L->node->attrs.attention;
    const ac_tensor *mask = v->a.at[AC_ATTENTION_MASK].t;
    const bool scaled = attrs->scale < 1 || attrs->scale > 1;
    const ac_x score = scaled ? ac_lb_mul(b, sum, ac_lb_f32(b, (double)attrs->scale)) : sum;
    if (!mask)
        return score;
    const ac_x at = ac_attend_at(v, AC_ATTENTION_MASK, batch, group, head, row, key);
    if (mask->dtype == AC_BOOL)
        return ac_lb_select(b, ac_lb_load(b, v->buf[AC_ATTENTION_MASK], at, 1), score,
                            ac_lb_f32(b, (double)attrs->hidden));
    return ac_lb_add(b, score, ac_attend_load(v, AC_ATTENTION_MASK, at));
}

ac_x ac_attend_masked(ac_attend *v, ac_x sum, ac_x batch, ac_x group, ac_x head, ac_x row, ac_x key)
{
    const ac_x score = masked(v, sum, batch, group, head, row, key);
    return ac_lb_cast(&v->L->b, ac_lb_cast(&v->L->b, score, v->L->node->attrs.attention.scores), AC_F32);
}

void ac_attend_index(ac_attend *v, ac_x batch, ac_x group, ac_x head, ac_x row, ac_x column, ac_x *idx)
{
    ac_lb *b = &v->L->b;
    const bool first = v->L->node->attrs.attention.heads_first;
    idx[0] = batch;
    idx[first ? 1 : 2] = ac_lb_add(b, ac_lo_scaled(b, group, v->a.heads), head);
    idx[first ? 2 : 1] = row;
    idx[3] = column;
}
