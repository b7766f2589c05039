/* stack_size.c - estimates frames from locals, variables and loops; see stack_size.h. */
#include "codegen/stack_size.h"

#include "codegen/mve_nests.h"
#include "codegen/tile_asm.h"
#include "ir/loop/builder.h"

/* Sums over all locals, variables and loops. */
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

/* The maximum number of variables, loops and values that enclosing blocks still need at one position. Values of an
 * inner block that are unused outside die at its end. */
static ac_bytes in_scope(const ac_loop_fn *fn)
{
    enum { DEEPEST = 64 };
    ac_bytes now = 0, most = 0, before[DEEPEST];
    int32_t depth = 0;
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *in = &fn->code.item[x];
        if ((in->op == AC_L_FOR || in->op == AC_L_IF) && depth < DEEPEST)
            before[depth++] = now;
        if (in->op == AC_L_VAR)
            now += ac_dtype_size((ac_dtype)in->dtype, in->lanes);
        else if (in->op == AC_L_FOR)
            now += 8;
        else if (in->op == AC_L_END && depth)
            now = before[--depth];
        most = now > most ? now : most;
    }
    return most;
}

/* The deepest function that a TILE calls, or that codegen/dsp makes of it, or a nest with its array. */
static ac_bytes tile_of(const ac_target *t, const ac_loop_fn *fn)
{
    ac_nest n;
    for (ac_x x = 1; x < fn->code.n; x++)
        if (ac_nest_find(fn, x, &n) && ac_mve_has_nest(t, &n))
            return AC_MVE_NEST_STACK + 4 * AC_MVE_WORDS;
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        const ac_tile tile = i->op == AC_L_TILE ? ac_ins_tile(i) : (ac_tile){0};
        if (i->op == AC_L_TILE && ac_tile_pairs(tile.form) && ac_tile_has_asm(t, &tile))
            return AC_ROWS_STACK;
        if (i->op == AC_L_TILE && tile.form == AC_TILE_WORDS)
            return AC_WORDS_ROWS_STACK;
    }
    return 0;
}

/* Values that the C gives a name, about: those of several users, or of one in another block. Others of two registers
 * have a place as well. */
static bool *named_values(ac_region *r, const ac_loop_fn *fn)
{
    int32_t *block = AC_NEW_N(r, int32_t, fn->code.n), now = 0;
    bool *used = AC_NEW_N(r, bool, fn->code.n), *named = AC_NEW_N(r, bool, fn->code.n);
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *in = &fn->code.item[x];
        const ac_x operand[] = {in->a, in->b, in->c};
        now += in->op == AC_L_FOR || in->op == AC_L_IF || in->op == AC_L_ELSE || in->op == AC_L_END;
        block[x] = now;
        named[x] = in->op == AC_L_LOAD || in->op == AC_L_VAR || in->op == AC_L_FOR ||
                   (ac_dtype_size((ac_dtype)in->dtype, 1) > 4 && ac_lop_class((ac_lop)in->op) == 'V');
        for (int k = 0; k < 3; k++) {
            const ac_x v = operand[k];
            named[v] |= (used[v] || block[v] != now || in->op == AC_L_SATCAST) && fn->code.item[v].op != AC_L_CONST;
            used[v] = true;
        }
    }
    return named;
}

/* Not optimised, whatever has a name is on the stack all the time. Loops that are marked apart are functions. */
static ac_bytes plain_frame(const ac_module *m, const ac_loop_fn *fn)
{
    enum { DEEPEST = 64, SAVED = 96 };
    ac_region *r = ac_region_open_beside(m->cx->region);
    const bool *named = named_values(r, fn);
    int32_t depth = 0;
    ac_bytes locals, values, now = 0, most = 0, before[DEEPEST];
    count(fn, &locals, &values);
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *in = &fn->code.item[x];
        const bool apart = in->op == AC_L_FOR && in->aux == AC_MARK_APART;
        if ((in->op == AC_L_FOR || in->op == AC_L_IF) && depth < DEEPEST)
            before[depth++] = apart ? now : -1;
        if (in->op == AC_L_END && depth && before[--depth] >= 0)
            now = before[depth];
        now += apart ? SAVED : named[x] ? ac_align_up(ac_dtype_size((ac_dtype)in->dtype, in->lanes), 4) : 0;
        most = now > most ? now : most;
    }
    ac_region_close(r);
    return locals + SAVED + most * 3 / 2 + 8 * (ac_bytes)fn->buf.n + tile_of(m->target, fn);
}

/* Few registers: more of the values are on the stack, and copies of them. */
static ac_bytes frame(const ac_module *m, const ac_loop_fn *fn)
{
    const ac_target *t = m->target;
    enum { SAVED = 72, FEW = 8, TENTHS = 10 };
    ac_bytes locals, values;
    count(fn, &locals, &values);
    if (!t->firmware)
        return locals + values;
    const ac_bytes tenths = t->core > 0 && t->core <= FEW ? 75 : 15;
    return locals + SAVED + in_scope(fn) * tenths / TENTHS + 4 * (ac_bytes)fn->buf.n + tile_of(t, fn);
}

ac_bytes ac_stack_estimate(const ac_module *m, bool optimised)
{
    enum { RUN = 128 };
    ac_bytes most = 0;
    for (int32_t i = 0; i < m->n_fn; i++) {
        const ac_bytes b = (optimised ? frame : plain_frame)(m, m->fn[i]);
        most = b > most ? b : most;
    }
    return ac_align_up(most + RUN, 16);
}
