/* share_kernels.c - --share-kernels: merges functions that differ only in integers (extents, strides, offsets) into
 * one, which reads those from a table that each call passes. Less code, at some cost in speed.
 *
 *     conv_2d_3: for y .. 24 { for x .. 24 { ... [y * 192 + x * 8] ... } }
 *     conv_2d_7: for y .. 12 { for x .. 12 { ... [y * 192 + x * 16] ... } }
 *  ->
 *     conv_2d_3(.., const int32_t *shape): for y .. shape[0] { for x .. shape[0] { ... [y * 192 + x * shape[1]] ... } }
 *
 * share_groups.h selects them. */
#include "codegen/module.h"

#include <string.h>

/* True if the same arguments may overlap in all calls of both. */
static bool same_sharing(const void *with, int32_t f, int32_t g)
{
    const ac_module *m = with;
    for (int32_t i = 0; i < m->n_calls; i++)
        for (int32_t k = 0; k < m->n_calls && m->call[i].fn == f; k++)
            for (int32_t a = 0; m->call[k].fn == g && a < m->call[i].n_arg; a++)
                if (m->call[i].arg[a].shares != m->call[k].arg[a].shares)
                    return false;
    return true;
}

/* The table of one member's numbers, as an argument. */
static ac_bound_arg table(ac_module *m, const ac_share_group *g, int32_t member)
{
    ac_const *k = AC_NEW(m->cx->region, ac_const);
    *k = (ac_const){.name = ac_strf(m->cx->region, "%s_shape", m->fn[g->member[member]]->name),
                    .dtype = AC_I32,
                    .count = g->slots,
                    .align = 4,
                    .data = ac_share_numbers(m->cx->region, g, member)};
    m->konst[m->n_konst] = k;
    return (ac_bound_arg){.space = AC_SPACE_CONST, .offset = m->n_konst++};
}

/* Redirects all calls of the group to function `to`, with their numbers if there are any: functions may differ only in
 * the sizes of their operands. */
static void redirect(ac_module *m, const ac_share_group *g, int32_t to, int32_t *fn_of_call)
{
    for (int32_t k = 0; k < g->n; k++) {
        const ac_bound_arg shape = g->slots ? table(m, g, k) : (ac_bound_arg){0};
        for (int32_t i = 0; i < m->n_calls; i++) {
            ac_call *c = &m->call[i];
            if (c->fn != g->member[k])
                continue;
            fn_of_call[i] = to;
            if (!g->slots)
                continue;
            ac_bound_arg *arg = AC_NEW_N(m->cx->region, ac_bound_arg, c->n_arg + 1);
            memcpy(arg, c->arg, (size_t)c->n_arg * sizeof *arg);
            arg[c->n_arg++] = shape;
            c->arg = arg;
        }
    }
}

void ac_module_share_kernels(ac_module *m)
{
    if (!m->share)
        return;
    ac_region *r = m->cx->region;
    int32_t *fn_of_call = AC_NEW_N(r, int32_t, m->n_calls + 1), *calls = AC_NEW_N(r, int32_t, m->n_fn + 1), n = 0;
    for (int32_t i = 0; i < m->n_calls; i++)
        calls[m->call[i].fn]++;
    const ac_share_set set = {.fn = m->fn,
                              .calls = calls,
                              .n = m->n_fn,
                              .target = m->target,
                              .price = m->share,
                              .may_share = m->target->firmware ? NULL : same_sharing,
                              .with = m};
    const ac_share_group *group = ac_share_groups(r, &set);
    const ac_loop_fn **fn = AC_NEW_N(r, const ac_loop_fn *, m->n_fn + 1);
    ac_const **konst = AC_NEW_N(r, ac_const *, m->n_konst + m->n_fn + 1);
    if (m->n_konst)
        memcpy(konst, m->konst, (size_t)m->n_konst * sizeof *konst);
    m->konst = konst;
    for (int32_t f = 0; f < m->n_fn; f++) {
        const ac_share_group *g = &group[f];
        if (!g->n)
            continue;
        fn[n] = g->n > 1 ? ac_share_build(r, g) : m->fn[f];
        if (g->n > 1)
            redirect(m, g, n, fn_of_call);
        for (int32_t i = 0; g->n < 2 && i < m->n_calls; i++)
            if (m->call[i].fn == f)
                fn_of_call[i] = n;
        n++;
    }
    for (int32_t i = 0; i < m->n_calls; i++)
        m->call[i].fn = fn_of_call[i];
    m->fn = fn;
    m->n_fn = n;
}
