/* loads.c - replaces loads of a buffer by other values.
 *
 *     %4 = load f32x8 k[%3]                    %4 = const f32x8 0
 *                                       =>
 *     store out[%3] %4                         store out[%3] %4 */
#include "ir/loop/builder.h"
#include "ir/loop/ins_fields.h"
#include "ir/loop/loads.h"

void ac_loop_reload(ac_ctx *cx, ac_lb *b, const ac_loop_fn *fn, ac_load_fn *value, void *with)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    ac_x *map = AC_NEW_N(tmp, ac_x, fn->code.n + 1);
    (void)ac_lb_open_like(b, b->region, fn);
    for (int32_t x = 1; x < fn->code.n; x++) {
        ac_ins i = fn->code.item[x];
        ac_ins_move_values(&i, map);
        ac_x v = 0;
        if (i.op == AC_L_LOAD || i.op == AC_L_PREFETCH)
            v = value(with, x, &i, map);
        map[x] = v ? v : ac_lb_copy(b, fn, &i);
    }
    ac_region_close(tmp);
}

bool ac_loop_only_loads(const ac_loop_fn *fn, int32_t buf)
{
    bool any = false;
    for (int32_t x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        any |= i->op == AC_L_LOAD && i->aux == buf;
        int32_t copied;
        ac_x from, cond;
        const bool late = i->op == AC_L_STORE && i->flags & AC_F_LATE && ac_late_copy(fn, i, &copied, &from, &cond);
        if ((i->op != AC_L_LOAD && i->op != AC_L_PREFETCH && ac_ins_uses_buffer(i, buf)) || (late && copied == buf))
            return false;
    }
    return any;
}
