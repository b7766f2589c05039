/* copy.c - copies instructions of one function into another one. */
#include "ir/loop/builder.h"
#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"

int32_t ac_lb_buf_like(ac_lb *b, const ac_buf *like)
{
    const int32_t at = ac_lb_buf(b, like->name, like->dtype, like->count, like->role, like->align, like->note);
    b->fn->buf.item[at].where = like->where;
    b->fn->buf.item[at].copied = like->copied;
    return at;
}

ac_loop_fn *ac_lb_open_like(ac_lb *b, ac_region *region, const ac_loop_fn *from)
{
    ac_loop_fn *fn = ac_lb_open(b, region, from->name, from->note);
    for (int32_t i = 0; i < from->buf.n; i++)
        (void)ac_lb_buf_like(b, &from->buf.item[i]);
    fn->call = from->call;
    return fn;
}

/* Values go through ac_lb_op, so new constants are folded. */
static ac_x copy_value(ac_lb *b, const ac_loop_fn *from, const ac_ins *i)
{
    ac_ins v = *i;
    v.name = NULL;
    if (i->op == AC_L_CONST && i->flags & AC_F_SHAPE)
        return ac_lb_shape(b, i->k.i);
    if (i->op == AC_L_CONSTV)
        return ac_lb_lanes(b, (ac_dtype)i->dtype, from->pool.item + i->aux, i->lanes);
    if (i->op == AC_L_SHUFFLE)
        return ac_lb_shuffle(b, i->a, i->b, from->pool.item + i->aux, i->lanes);
    return ac_lb_op(b, v);
}

ac_x ac_lb_copy(ac_lb *b, const ac_loop_fn *from, const ac_ins *i)
{
    switch ((ac_lop)i->op) {
    case AC_L_VAR:
        return ac_lb_var(b, i->name, i->a);
    case AC_L_GET:
        return ac_lb_get(b, i->aux);
    case AC_L_SET:
        ac_lb_set(b, i->aux, i->a);
        return 0;
    case AC_L_LOAD:
        return ac_lb_load_flags(b, i->aux, i->a, i->lanes, i->flags);
    case AC_L_STORE:
        ac_lb_store_flags(b, i->aux, i->a, i->b, i->flags);
        return 0;
    case AC_L_MMA:
        ac_lb_mma(b, (ac_dtype)i->dtype, i->aux, i->a, (int32_t)i->k.i, i->b, i->c);
        return 0;
    case AC_L_TILE:
        ac_lb_tile(b, ac_ins_tile(i), i->a, i->b, i->c);
        return 0;
    case AC_L_REQUANT:
        ac_lb_requant(b, ac_ins_requant(i), i->a, i->b, i->c);
        return 0;
    case AC_L_PREFETCH:
        ac_lb_prefetch(b, i->aux, i->a);
        return 0;
    case AC_L_FOR: {
        const ac_x x = ac_lb_for(b, i->name, i->a, i->b, i->k.i, (ac_mark)i->aux);
        if (i->groups)
            ac_lb_groups(b, x, i->groups - 1);
        return x;
    }
    case AC_L_IF:
        ac_lb_if(b, i->a);
        return 0;
    case AC_L_ELSE:
        ac_lb_else(b);
        return 0;
    case AC_L_END:
        ac_lb_end(b);
        return 0;
    case AC_L_BREAK_IF:
        ac_lb_break_if(b, i->a);
        return 0;
    case AC_L_FAIL_IF:
        ac_lb_fail_if(b, i->a, i->aux);
        return 0;
    // clang-format off
    case AC_L_CONST: case AC_L_CONSTV:
    case AC_L_ADD: case AC_L_SUB: case AC_L_MUL: case AC_L_DIV: case AC_L_MOD: case AC_L_MIN: case AC_L_MAX:
    case AC_L_NEG: case AC_L_ABS: case AC_L_SQRT: case AC_L_FLOOR: case AC_L_CEIL: case AC_L_TRUNC: case AC_L_RINT:
    case AC_L_AND: case AC_L_OR: case AC_L_XOR: case AC_L_NOT: case AC_L_SHL: case AC_L_SHR:
    case AC_L_EQ: case AC_L_NE: case AC_L_LT: case AC_L_LE:
    case AC_L_SELECT: case AC_L_CAST: case AC_L_SATCAST: case AC_L_BITCAST: case AC_L_FMA: case AC_L_DOT4:
    case AC_L_DOT2: case AC_L_SPLAT: case AC_L_LANE: case AC_L_SHUFFLE: case AC_L_SUMLANES: case AC_L_MAXLANES:
        // clang-format on
        return copy_value(b, from, i);
    case AC_L_NONE:
    case AC_L_COUNT:
        break;
    }
    return 0;
}
