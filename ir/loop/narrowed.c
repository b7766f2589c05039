/* narrowed.c - stores floats in 16 bits in memory, and computes with 32 in registers.
 *
 *     %4 = load f32x8 x[%3]                    %4 = load bf16x8 x[%3]
 *                                       =>     %5 = cast f32x8 %4
 *     store out[%3] %9                         %10 = cast bf16x8 %9
 *                                              store out[%3] %10
 *
 * Elements that are only moved are not converted: a store of a value loaded from a buffer of the same type stays 16
 * bits wide. */
#include "ir/loop/builder.h"
#include "ir/loop/ins_fields.h"

/* v as type d in memory. */
static ac_x rounded(ac_lb *b, ac_x v, ac_dtype d)
{
    const ac_ins *i = &b->fn->code.item[v];
    return i->op == AC_L_CAST && b->fn->code.item[i->a].dtype == (uint8_t)d ? i->a : ac_lb_cast(b, v, d);
}

ac_loop_fn *ac_loop_narrowed(ac_ctx *cx, ac_region *region, const ac_loop_fn *fn, const ac_dtype *as)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    ac_x *map = AC_NEW_N(tmp, ac_x, fn->code.n + 1);
    ac_lb b;
    ac_lb_open_like(&b, region, fn);
    for (int32_t i = 0; i < fn->buf.n; i++)
        if (as[i] != AC_NONE)
            b.fn->buf.item[i].dtype = as[i];
    for (int32_t x = 1; x < fn->code.n; x++) {
        ac_ins i = fn->code.item[x];
        const ac_dtype d = i.op == AC_L_LOAD || i.op == AC_L_STORE ? as[i.aux] : AC_NONE;
        ac_ins_move_values(&i, map);
        if (d != AC_NONE && i.op == AC_L_STORE)
            i.b = rounded(&b, i.b, d);
        map[x] = ac_lb_copy(&b, fn, &i);
        if (d != AC_NONE && i.op == AC_L_LOAD)
            map[x] = ac_lb_cast(&b, map[x], AC_F32);
    }
    ac_region_close(tmp);
    return ac_lb_close(&b);
}
