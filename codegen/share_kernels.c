/* share_kernels.c - --share-kernels: functions that differ in whole numbers only (extents, strides, offsets) become
 * one, which reads those from a table that each call passes. Less code, at some cost in speed.
 *
 *     conv_2d_3: for y .. 24 { for x .. 24 { ... [y * 192 + x * 8] ... } }
 *     conv_2d_7: for y .. 12 { for x .. 12 { ... [y * 192 + x * 16] ... } }
 *  ->
 *     conv_2d_3(.., const int32_t *shape): for y .. shape[0] { for x .. shape[0] { ... [y * 192 + x * shape[1]] ... } }
 *
 * Which ones: share_groups.h. */
#include "codegen/module.h"
#include "ir/loop/ins_buffers.h"

#include <string.h>

/* May the same arguments overlap in all calls of both? */
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

static ac_x moved(const ac_x *map, ac_x x)
{
    return x > 0 ? map[x] : x;
}

static ac_x put(ac_region *r, ac_loop_fn *fn, ac_ins i)
{
    ac_push(r, &fn->code, i);
    return fn->code.n - 1;
}

static ac_x load(ac_region *r, ac_loop_fn *fn, int32_t buf, ac_x at)
{
    return put(r, fn, (ac_ins){.op = AC_L_LOAD, .dtype = AC_I32, .lanes = 1, .a = at, .aux = buf});
}

/* high * 2^32 + the low word without its sign */
static ac_x load_wide(ac_region *r, ac_loop_fn *fn, int32_t buf, ac_x low_at, ac_x high_at)
{
    const ac_ins cast = {.op = AC_L_CAST, .dtype = AC_I64, .lanes = 1};
    const ac_x low = load(r, fn, buf, low_at), high = load(r, fn, buf, high_at);
    ac_ins i = {.op = AC_L_CAST, .dtype = AC_U32, .lanes = 1, .a = low};
    const ac_x bits = put(r, fn, i);
    i = cast;
    i.a = bits;
    const ac_x wide_low = put(r, fn, i);
    i.a = high;
    const ac_x wide_high = put(r, fn, i),
               by = put(r, fn, (ac_ins){.op = AC_L_CONST, .dtype = AC_I64, .lanes = 1, .k.i = 32});
    const ac_x top = put(r, fn, (ac_ins){.op = AC_L_SHL, .dtype = AC_I64, .lanes = 1, .a = wide_high, .b = by});
    return put(r, fn, (ac_ins){.op = AC_L_OR, .dtype = AC_I64, .lanes = 1, .a = top, .b = wide_low});
}

/* The function of the group: the numbers are loaded first, from a parameter after all others. */
static const ac_loop_fn *build(const ac_module *m, const ac_share_group *g)
{
    ac_region *r = m->cx->region;
    const ac_loop_fn *from = g->fn;
    ac_loop_fn *fn = AC_NEW(r, ac_loop_fn);
    int32_t params = 0;
    while (params < from->buf.n && from->buf.item[params].role != AC_BUF_LOCAL)
        params++;
    *fn = (ac_loop_fn){.name = from->name, .note = from->note, .pool = from->pool, .fails = from->fails};
    for (int32_t i = 0; i <= from->buf.n; i++) {
        if (i == params)
            ac_push(r, &fn->buf,
                    ((ac_buf){.name = "shape",
                              .dtype = AC_I32,
                              .count = g->slots,
                              .role = AC_BUF_CONST,
                              .align = 4,
                              .note = "numbers that differ from step to step"}));
        if (i == from->buf.n)
            break;
        ac_buf b = from->buf.item[i];
        for (int32_t k = 1; k < g->n; k++) {
            const ac_buf *other = &m->fn[g->member[k]]->buf.item[i];
            b.count = other->count > b.count ? other->count : b.count;
            b.align = other->align < b.align ? other->align : b.align;
        }
        b.note = NULL;
        ac_push(r, &fn->buf, b);
    }
    int32_t *to = AC_NEW_N(r, int32_t, from->buf.n + 1);
    for (int32_t i = 0; i < from->buf.n; i++)
        to[i] = i + (i >= params);
    ac_x *map = AC_NEW_N(r, ac_x, from->code.n);
    ac_push(r, &fn->code, from->code.item[0]);
    ac_x *at = AC_NEW_N(r, ac_x, g->slots + 1);
    for (int32_t k = 0; k < g->slots; k++)
        at[k] = put(r, fn, (ac_ins){.op = AC_L_CONST, .dtype = AC_I32, .lanes = 1, .k.i = k});
    ac_x *value = AC_NEW_N(r, ac_x, g->slots + 1);
    for (int32_t k = 0; k < g->holes; k++) {
        const int32_t slot = g->slot[k];
        if (!value[slot])
            value[slot] = ac_share_is_wide(g, k) ? load_wide(r, fn, params, at[slot], at[slot + 1])
                                                 : load(r, fn, params, at[slot]);
        map[g->hole[k]] = value[slot];
    }
    for (ac_x x = 1; x < from->code.n; x++) {
        if (map[x])
            continue;
        ac_ins in = from->code.item[x];
        map[x] = fn->code.n;
        in.a = moved(map, in.a);
        in.b = moved(map, in.b);
        in.c = moved(map, in.c);
        if (in.op == AC_L_GET || in.op == AC_L_SET)
            in.aux = map[in.aux];
        ac_ins_move_buffers(&in, to);
        ac_push(r, &fn->code, in);
    }
    return fn;
}

/* The table of one member's numbers, as an argument. */
static ac_bound_arg table(ac_module *m, const ac_share_group *g, int32_t member)
{
    ac_const *k = AC_NEW(m->cx->region, ac_const);
    int32_t *value = AC_NEW_N(m->cx->region, int32_t, g->slots + 1);
    for (int32_t i = 0; i < g->holes; i++) {
        const int64_t v = m->fn[member]->code.item[g->hole[i]].k.i;
        value[g->slot[i]] = (int32_t)(uint32_t)v;
        if (ac_share_is_wide(g, i))
            value[g->slot[i] + 1] = (int32_t)(v >> 32);
    }
    *k = (ac_const){.name = ac_strf(m->cx->region, "%s_shape", m->fn[member]->name),
                    .dtype = AC_I32,
                    .count = g->slots,
                    .align = 4,
                    .data = value};
    m->konst[m->n_konst] = k;
    return (ac_bound_arg){.space = AC_SPACE_CONST, .offset = m->n_konst++};
}

/* All calls of the group go to function `to`. */
static void redirect(ac_module *m, const ac_share_group *g, int32_t to, int32_t *fn_of_call)
{
    for (int32_t k = 0; k < g->n; k++) {
        const ac_bound_arg shape = table(m, g, g->member[k]);
        for (int32_t i = 0; i < m->n_calls; i++) {
            ac_call *c = &m->call[i];
            if (c->fn != g->member[k])
                continue;
            ac_bound_arg *arg = AC_NEW_N(m->cx->region, ac_bound_arg, c->n_arg + 1);
            memcpy(arg, c->arg, (size_t)c->n_arg * sizeof *arg);
            arg[c->n_arg++] = shape;
            c->arg = arg;
            fn_of_call[i] = to;
        }
    }
}

void ac_module_share_kernels(ac_module *m, ac_share_price price)
{
    ac_region *r = m->cx->region;
    int32_t *fn_of_call = AC_NEW_N(r, int32_t, m->n_calls + 1), *calls = AC_NEW_N(r, int32_t, m->n_fn + 1), n = 0;
    for (int32_t i = 0; i < m->n_calls; i++)
        calls[m->call[i].fn]++;
    const ac_share_set set = {.fn = m->fn,
                              .calls = calls,
                              .n = m->n_fn,
                              .target = m->target,
                              .price = price,
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
        fn[n] = g->n > 1 ? build(m, g) : m->fn[f];
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
