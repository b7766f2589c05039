/* dedupe.c - equal functions are printed once. Two loop functions are equal when their instructions, constants and
 * buffers are; names and notes do not count. A function that is called in place and one that is not stay apart where
 * speed matters, because only the latter may say `restrict`; on firmware targets they are one, because flash matters
 * more. */
#include "codegen/module.h"

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
    return a->op == b->op && a->dtype == b->dtype && a->flags == b->flags && a->lanes == b->lanes && a->a == b->a &&
           a->b == b->b && a->c == b->c && a->aux == b->aux && a->k.i == b->k.i;
}

bool ac_fn_same(const ac_loop_fn *a, const ac_loop_fn *b)
{
    if (a == b)
        return true;
    if (a->buf.n != b->buf.n || a->code.n != b->code.n || a->pool.n != b->pool.n || a->fails != b->fails)
        return false;
    for (int32_t i = 0; i < a->buf.n; i++)
        if (!same_buf(&a->buf.item[i], &b->buf.item[i]))
            return false;
    for (int32_t i = 1; i < a->code.n; i++)
        if (!same_ins(&a->code.item[i], &b->code.item[i]))
            return false;
    return !a->pool.n || !memcmp(a->pool.item, b->pool.item, (size_t)a->pool.n * sizeof *a->pool.item);
}

static bool same_sharing(const ac_call *a, const ac_call *b)
{
    if (!a->arg || !b->arg)
        return a->arg == b->arg;
    for (int32_t i = 0; i < a->n_arg; i++)
        if (a->arg[i].shares != b->arg[i].shares)
            return false;
    return true;
}

void ac_module_dedupe(ac_module *m)
{
    ac_region *r = m->cx->region;
    uint64_t *hash = AC_NEW_N(r, uint64_t, m->n_calls + 1);
    int32_t *first = AC_NEW_N(r, int32_t, m->n_calls + 1); /* of each function: the first call */
    m->fn = AC_NEW_N(r, const ac_loop_fn *, m->n_calls + 1);
    m->n_fn = 0;
    for (int32_t i = 0; i < m->n_calls; i++) {
        ac_call *c = &m->call[i];
        const ac_loop_fn *fn = c->low->fn;
        uint64_t h = ac_fn_hash(fn);
        for (c->fn = 0; c->fn < m->n_fn; c->fn++)
            if (hash[c->fn] == h && ac_fn_same(m->fn[c->fn], fn) &&
                (m->target->firmware || same_sharing(&m->call[first[c->fn]], c)))
                break;
        if (c->fn < m->n_fn)
            continue;
        m->fn[m->n_fn] = fn;
        hash[m->n_fn] = h;
        first[m->n_fn++] = i;
    }
}
