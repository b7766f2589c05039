/* flow.c - merges several functions into one, in branches or in a loop. */
#include "ir/loop/access/flow.h"

#include "ir/loop/builder.h"
#include "ir/loop/ins_fields.h"

/* Redirects instruction i of fn to the new positions of its buffers. turn: 0 outside of STEPS. false: not possible. */
static bool move(ac_lb *b, const ac_flow_call *c, ac_x turn, ac_ins *i)
{
    int32_t used[AC_INS_BUFFERS];
    const int32_t n = ac_ins_buffers(i, used);
    const bool main = ac_lop_has_buffer((ac_lop)i->op);
    for (int32_t k = 0; k < n; k++)
        if ((c->place[used[k]].at || c->place[used[k]].pace) &&
            !(main && used[k] == i->aux)) /* its elements are counted in other fields */
            return false;
    const ac_flow_place to = main ? c->place[i->aux] : (ac_flow_place){0};
    if (to.at)
        i->a = ac_lb_add(b, i->a, ac_lb_i32(b, to.at));
    if (to.pace)
        i->a = ac_lb_add(b, i->a, ac_lb_mul(b, turn, ac_lb_i32(b, to.pace)));
    if (i->lanes && (to.at % i->lanes != 0 || to.pace % i->lanes != 0))
        i->flags &= (uint8_t)~AC_F_ALIGNED;
    return true;
}

static int put_call(ac_ctx *cx, ac_lb *b, const ac_flow_call *c, ac_x turn)
{
    const ac_loop_fn *fn = c->fn;
    ac_x *map = AC_NEW_N(b->region, ac_x, fn->code.n + 1);
    int32_t *to = AC_NEW_N(b->region, int32_t, fn->buf.n + 1);
    for (int32_t k = 0; k < fn->buf.n; k++)
        to[k] = c->place[k].buf;
    for (ac_x x = 1; x < fn->code.n; x++) {
        ac_ins i = fn->code.item[x];
        ac_ins_move_values(&i, map);
        if (!move(b, c, turn, &i))
            return ac_error(cx, (ac_place){0}, E0108, "'%s' cannot run inside a branch or a loop", fn->name);
        ac_ins_move_buffers(&i, to);
        if (i.op == AC_L_FOR && i.aux == AC_MARK_PARALLEL)
            i.aux = AC_MARK_SERIAL;
        map[x] = ac_lb_copy(b, fn, &i);
    }
    b->fn->fails |= fn->fails;
    return AC_OK;
}

static int put_part(ac_ctx *cx, ac_lb *b, const ac_flow_part *p, ac_x turn)
{
    for (int32_t k = 0; k < p->n; k++)
        AC_TRY(put_call(cx, b, &p->call[k], turn));
    return AC_OK;
}

static int put_loop(ac_ctx *cx, ac_lb *b, const ac_flow_fn *f)
{
    AC_TRY(put_part(cx, b, &f->part[0], 0));
    const ac_x most = ac_lb_var(b, "most", ac_lb_i32(b, INT32_MAX)); /* more iterations than any loop runs */
    ac_lb_for(b, "turn", ac_lb_i32(b, 0), ac_lb_get(b, most), 1, AC_MARK_SERIAL);
    AC_TRY(put_part(cx, b, &f->part[1], 0));
    ac_lb_break_if(b, ac_lb_not(b, ac_lb_load(b, f->flag, ac_lb_i32(b, 0), 1)));
    AC_TRY(put_part(cx, b, &f->part[2], 0));
    ac_lb_end(b);
    return AC_OK;
}

static int put_steps(ac_ctx *cx, ac_lb *b, const ac_flow_fn *f)
{
    AC_TRY(put_part(cx, b, &f->part[0], 0));
    const ac_x turn = ac_lb_for_n(b, "turn", f->turns);
    AC_TRY(put_part(cx, b, &f->part[1], turn));
    ac_lb_end(b);
    return AC_OK;
}

static int put_branch(ac_ctx *cx, ac_lb *b, const ac_flow_fn *f)
{
    ac_lb_if(b, ac_lb_load(b, f->flag, ac_lb_i32(b, 0), 1));
    AC_TRY(put_part(cx, b, &f->part[0], 0));
    ac_lb_else(b);
    AC_TRY(put_part(cx, b, &f->part[1], 0));
    ac_lb_end(b);
    return AC_OK;
}

ac_loop_fn *ac_loop_flow(ac_ctx *cx, ac_region *region, const ac_flow_fn *f)
{
    ac_lb b;
    ac_lb_open(&b, region, f->name, f->note);
    for (int32_t i = 0; i < f->buf.n; i++)
        (void)ac_lb_buf_like(&b, &f->buf.item[i]);
    const int rc = f->form == AC_FLOW_LOOP    ? put_loop(cx, &b, f)
                   : f->form == AC_FLOW_STEPS ? put_steps(cx, &b, f)
                                              : put_branch(cx, &b, f);
    if (rc != AC_OK)
        return NULL;
    ac_loop_fn *fn = ac_lb_close(&b);
    return ac_loop_verify(cx, fn) == AC_OK ? fn : NULL;
}
