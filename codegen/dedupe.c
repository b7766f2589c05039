/* dedupe.c - merges equal functions (ir/loop/same.c), so that they are printed once. A function that is called in place
 * and one that is not are kept separate on hosts, because only the latter may use `restrict`; on firmware targets they
 * are merged, because flash matters more. */
#include "codegen/module.h"

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
