/* share_build.c - builds the function of a group, and the numbers of its members; see share_groups.h. */
#include "codegen/share_groups.h"
#include "ir/loop/ins_fields.h"

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

/* The value that was constant k. */
static ac_x load_number(ac_region *r, ac_loop_fn *fn, int32_t buf, const ac_ins *k, int32_t words, const ac_x *at)
{
    const ac_lop how = k->dtype == AC_F32 ? AC_L_BITCAST : AC_L_CAST;
    ac_x v = words == 2 ? load_wide(r, fn, buf, at[0], at[1]) : load(r, fn, buf, at[0]);
    if (words == 1 && k->dtype != AC_I32)
        v = put(r, fn, (ac_ins){.op = (uint8_t)how, .dtype = k->dtype, .lanes = 1, .a = v});
    return k->lanes == 1 ? v : put(r, fn, (ac_ins){.op = AC_L_SPLAT, .dtype = k->dtype, .lanes = k->lanes, .a = v});
}

/* The number of parameters of a function: its buffers without arrays on its stack, which come last. */
static int32_t params_of(const ac_loop_fn *fn)
{
    int32_t n = 0;
    while (n < fn->buf.n && fn->buf.item[n].role != AC_BUF_LOCAL)
        n++;
    return n;
}

/* Buffer i of the merged function: the maximum size, and the common alignment. */
static ac_buf buffer_of(const ac_share_group *g, int32_t i)
{
    ac_buf b = g->fn->buf.item[i];
    for (int32_t k = 1; k < g->n; k++) {
        const ac_buf *other = &g->form[g->member[k]]->buf.item[i];
        b.count = other->count > b.count ? other->count : b.count;
        b.align = other->align < b.align ? other->align : b.align;
    }
    b.note = NULL;
    return b;
}

/* Loads the numbers; map: for each constant that differs, the value that replaces it. */
static void load_numbers(ac_region *r, ac_loop_fn *fn, const ac_share_group *g, int32_t buf, ac_x *map)
{
    const ac_loop_fn *from = g->form[g->member[0]];
    ac_x *at = AC_NEW_N(r, ac_x, g->slots + 1), *value = AC_NEW_N(r, ac_x, g->slots + 1);
    for (int32_t k = 0; k < g->slots; k++)
        at[k] = put(r, fn, (ac_ins){.op = AC_L_CONST, .dtype = AC_I32, .lanes = 1, .k.i = k});
    for (int32_t k = 0; k < g->holes; k++) {
        const int32_t slot = g->slot[k];
        if (!value[slot])
            value[slot] = load_number(r, fn, buf, &from->code.item[g->hole[k]], g->words[k], &at[slot]);
        map[g->hole[k]] = value[slot];
    }
}

/* Constant i of fn: the existing one, or a new one. */
static ac_x constant(ac_region *r, ac_loop_fn *fn, const ac_ins *i)
{
    for (ac_x x = 1; x < fn->code.n && fn->code.item[x].op != AC_L_FOR; x++) {
        const ac_ins *k = &fn->code.item[x];
        if (k->op == AC_L_CONST && k->dtype == i->dtype && k->lanes == i->lanes && k->k.i == i->k.i)
            return x;
    }
    return put(r, fn, *i);
}

const ac_loop_fn *ac_share_build(ac_region *r, const ac_share_group *g)
{
    const ac_loop_fn *from = g->form[g->member[0]];
    const int32_t params = params_of(from);
    ac_loop_fn *fn = AC_NEW(r, ac_loop_fn);
    *fn = (ac_loop_fn){.name = from->name, .note = from->note, .pool = from->pool, .fails = from->fails};
    int32_t *to = AC_NEW_N(r, int32_t, from->buf.n + 1);
    for (int32_t i = 0; i < params; i++) {
        to[i] = fn->buf.n;
        ac_push(r, &fn->buf, buffer_of(g, i));
    }
    if (g->slots)
        ac_push(r, &fn->buf,
                ((ac_buf){.name = "shape",
                          .dtype = AC_I32,
                          .count = g->slots,
                          .role = AC_BUF_CONST,
                          .align = 4,
                          .note = "numbers that differ from step to step"}));
    for (int32_t i = params; i < from->buf.n; i++) {
        to[i] = fn->buf.n;
        ac_push(r, &fn->buf, buffer_of(g, i));
    }
    ac_x *map = AC_NEW_N(r, ac_x, from->code.n);
    ac_push(r, &fn->code, from->code.item[0]);
    load_numbers(r, fn, g, params, map);
    for (ac_x x = 1; x < from->code.n; x++) {
        if (map[x])
            continue;
        ac_ins in = from->code.item[x];
        if (in.op == AC_L_CONST) {
            map[x] = constant(r, fn, &in);
            continue;
        }
        map[x] = fn->code.n;
        ac_ins_move_values(&in, map);
        ac_ins_move_buffers(&in, to);
        ac_push(r, &fn->code, in);
    }
    return fn;
}

int32_t *ac_share_numbers(ac_region *r, const ac_share_group *g, int32_t member)
{
    int32_t *word = AC_NEW_N(r, int32_t, g->slots + 1);
    for (int32_t i = 0; i < g->holes; i++) {
        const int64_t v = ac_share_number(g, member, i);
        word[g->slot[i]] = (int32_t)(uint32_t)v;
        if (g->words[i] == 2)
            word[g->slot[i] + 1] = (int32_t)(v >> 32);
    }
    return word;
}
