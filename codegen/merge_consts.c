/* merge_consts.c - merges equal constants of several modules: two models with the same weights, or one model compiled
 * for several sizes. Constants are compared by the bytes that will be written. */
#include "codegen/constants.h"

#include <string.h>

/* Distinct constants of the modules so far, and the owner of each. */
typedef struct owner {
    ac_module *m;
    int32_t index; /* of the constant, in m */
} owner;

typedef struct pool {
    ac_region *region;
    AC_VEC(ac_const *) konst;
    AC_VEC(owner) owner;
    bool same_type; /* different types keep equal bytes apart */
    bool prefixes;  /* a constant that is a prefix of another one is merged with it */
} pool;

/* k equals `first`: they share one alignment, and k's own bytes are dropped. */
static void become(ac_const *k, ac_const *first)
{
    if (first->align < k->align)
        first->align = k->align;
    if (k->data == first->data)
        return;
    ac_const_drop(k);
    k->data = first->data;
    k->twin = first;
}

/* The first constant of the pool that begins with k's bytes; -1: none. */
static int32_t begins_with(const pool *p, const ac_const *k)
{
    const ac_bytes n = ac_const_bytes(k);
    for (int32_t i = 0; p->prefixes && i < p->konst.n; i++) {
        const ac_const *other = p->konst.item[i];
        if (other->dtype == k->dtype && ac_const_bytes(other) > n && !memcmp(other->data, k->data, (size_t)n))
            return i;
    }
    return -1;
}

/* Computes the constants of m, and adds new ones to the pool. Returns their indices in the pool. NULL: diagnostic. */
static int32_t *add_module(pool *p, ac_module *m, ac_merged *sum)
{
    const int32_t known = p->konst.n, n = known + m->n_konst;
    ac_const **all = AC_NEW_N(p->region, ac_const *, n + 1);
    int32_t *in_pool = AC_NEW_N(p->region, int32_t, m->n_konst + 1);
    if (ac_consts_make(m) != AC_OK)
        return NULL;
    for (int32_t i = 0; i < n; i++)
        all[i] = i < known ? p->konst.item[i] : m->konst[i - known];
    const int32_t *twin = ac_const_twins(p->region, all, n, p->same_type), *own = ac_consts_twins(m, p->same_type);
    for (int32_t i = 0; i < m->n_konst; i++) {
        ac_const *k = m->konst[i];
        const bool again = own[i] < i;
        if (k->twin)
            k->data = k->twin->data; /* which may have moved since */
        const int32_t part = again || twin[known + i] < known ? -1 : begins_with(p, k);
        const bool found = part >= 0 || twin[known + i] < known;
        in_pool[i] = again ? in_pool[own[i]] : part >= 0 ? part : found ? twin[known + i] : p->konst.n;
        if (again || found) {
            become(k, p->konst.item[in_pool[i]]);
        } else {
            ac_push(p->region, &p->konst, k);
            ac_push(p->region, &p->owner, ((owner){m, i}));
        }
        *(found ? &sum->saved : &sum->kept) += again ? 0 : ac_const_bytes(k);
    }
    return in_pool;
}

/* ------------------------------------------------------------------ in the text of code, by names */

/* Constant i of m is the one at `at` of the pool, which another module defines. */
static void take_name(const pool *p, const ac_module *m, int32_t i, int32_t at)
{
    const owner of = p->owner.item[at];
    const char **name = &of.m->konst_name[of.index];
    if (!*name)
        *name = ac_strf(of.m->cx->region, "%s_shared_%d", of.m->name, of.index);
    m->konst_name[i] = *name;
    m->konst_extern[i] = true;
}

static int merge_by_name(pool *p, ac_module *m, ac_merged *sum)
{
    enum { WORTH = 16 }; /* bytes */
    const int32_t known = p->konst.n;
    m->konst_name = AC_NEW_N(m->cx->region, const char *, m->n_konst + 1);
    m->konst_extern = AC_NEW_N(m->cx->region, bool, m->n_konst + 1);
    const int32_t *in_pool = add_module(p, m, sum);
    for (int32_t i = 0; in_pool && i < m->n_konst; i++)
        if (in_pool[i] < known && ac_const_bytes(m->konst[i]) >= WORTH)
            take_name(p, m, i, in_pool[i]);
    return in_pool ? AC_OK : AC_FAIL;
}

/* ------------------------------------------------------------------ in a block */

static int merge_in_block(pool *p, ac_module *const *m, int32_t n, ac_merged *sum)
{
    ac_module *block = AC_NEW(p->region, ac_module);
    for (int32_t b = 0; b < n; b++) {
        if (!(m[b]->in_block = add_module(p, m[b], sum)))
            return AC_FAIL;
        m[b]->block = block;
        m[b]->block_extern = b > 0;
    }
    *block = (ac_module){.cx = m[0]->cx, .name = m[0]->name, .konst = p->konst.item, .n_konst = p->konst.n};
    return AC_OK;
}

int ac_module_pool_consts(ac_module *const *m, int32_t n, ac_module *to, ac_merged *sum)
{
    pool p = {.region = to->cx->region, .same_type = true, .prefixes = true};
    *sum = (ac_merged){0};
    for (int32_t b = n - 1; b >= 0; b--) /* the largest size has the longest constants */
        if (!(m[b]->in_block = add_module(&p, m[b], sum)))
            return AC_FAIL;
    to->konst = p.konst.item;
    to->n_konst = p.konst.n;
    return AC_OK;
}

int ac_module_merge_consts(ac_module *const *m, int32_t n, bool objects, ac_merged *sum)
{
    ac_weights weights = AC_WEIGHTS_RODATA;
    for (int32_t b = 0; b < n; b++)
        weights = ac_module_weights(m[b]) > weights ? ac_module_weights(m[b]) : weights;
    const bool by_name = weights == AC_WEIGHTS_RODATA || (weights == AC_WEIGHTS_ASM && objects);
    *sum = (ac_merged){0};
    if (!n)
        return AC_OK;
    pool p = {.region = m[0]->cx->region, .same_type = by_name};
    for (int32_t b = 0; b < n; b++)
        m[b]->weights = weights;
    if (!by_name)
        return merge_in_block(&p, m, n, sum);
    for (int32_t b = 0; b < n; b++)
        AC_TRY(merge_by_name(&p, m[b], sum));
    return AC_OK;
}
