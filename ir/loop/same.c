/* same.c - compares loop functions without names and notes: instructions, constants and buffers. */
#include "ir/loop/extern.h"

#include <string.h>

static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * UINT64_C(1099511628211); /* FNV-1a */
    return h;
}

static uint64_t mix_int(uint64_t h, int64_t v)
{
    return mix(h, &v, sizeof v);
}

uint64_t ac_fn_hash(const ac_loop_fn *fn)
{
    uint64_t h = UINT64_C(14695981039346656037);
    h = mix_int(h, fn->buf.n);
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *in = &fn->code.item[x];
        h = mix_int(h, in->op | in->dtype << 8 | in->lanes << 16);
        h = mix_int(h, in->a);
        h = mix_int(h, in->b);
        h = mix_int(h, in->aux);
        h = mix_int(h, in->k.i);
    }
    return h;
}

static bool same_buf(const ac_buf *a, const ac_buf *b)
{
    return a->dtype == b->dtype && a->count == b->count && a->role == b->role && a->align == b->align &&
           a->where == b->where;
}

static bool same_ins(const ac_ins *a, const ac_ins *b)
{
    return a->op == b->op && a->dtype == b->dtype && a->flags == b->flags && a->groups == b->groups &&
           a->lanes == b->lanes && a->a == b->a && a->b == b->b && a->c == b->c && a->aux == b->aux && a->k.i == b->k.i;
}

bool ac_fn_same(const ac_loop_fn *a, const ac_loop_fn *b)
{
    if (a == b)
        return true;
    if (a->buf.n != b->buf.n || a->code.n != b->code.n || a->pool.n != b->pool.n || a->fails != b->fails ||
        !ac_extern_same(a->call, b->call))
        return false;
    for (int32_t i = 0; i < a->buf.n; i++)
        if (!same_buf(&a->buf.item[i], &b->buf.item[i]))
            return false;
    for (int32_t i = 1; i < a->code.n; i++)
        if (!same_ins(&a->code.item[i], &b->code.item[i]))
            return false;
    return !a->pool.n || !memcmp(a->pool.item, b->pool.item, (size_t)a->pool.n * sizeof *a->pool.item);
}
