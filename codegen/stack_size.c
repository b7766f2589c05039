/* stack_size.c - frames from locals, variables and loops; see stack_size.h. */
#include "codegen/stack_size.h"

/* Locals, and what a compiler may keep on the stack of variables and loops. */
static void count(const ac_loop_fn *fn, ac_bytes *locals, ac_bytes *values)
{
    *locals = *values = 0;
    for (int32_t i = 0; i < fn->buf.n; i++)
        if (fn->buf.item[i].role == AC_BUF_LOCAL)
            *locals += ac_align_up(ac_dtype_size(fn->buf.item[i].dtype, fn->buf.item[i].count), 16);
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *in = &fn->code.item[x];
        if (in->op == AC_L_VAR)
            *values += ac_dtype_size((ac_dtype)in->dtype, in->lanes);
        if (in->op == AC_L_FOR)
            *values += 4;
    }
}

/* Few registers: more of the values are on the stack, and copies of them. */
static ac_bytes frame(const ac_target *t, const ac_loop_fn *fn)
{
    enum { SAVED = 40, TENTHS = 10 };
    ac_bytes locals, values;
    count(fn, &locals, &values);
    if (!t->firmware)
        return locals + values;
    const ac_bytes tenths = t->core > 0 && t->core <= 8 ? 30 : 14;
    return locals + SAVED + values * tenths / TENTHS + 4 * (ac_bytes)fn->buf.n;
}

ac_bytes ac_stack_estimate(const ac_module *m)
{
    enum { RUN = 128 };
    ac_bytes most = 0;
    for (int32_t i = 0; i < m->n_fn; i++) {
        const ac_bytes b = frame(m->target, m->fn[i]);
        most = b > most ? b : most;
    }
    return ac_align_up(most + RUN, 16);
}
