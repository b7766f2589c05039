/* twins.c - finds constants with equal bytes. Constants with bytes in memory are compared by their bytes (dropped ones
 * were compared before). Constants that are not computed yet are equal if equal loops run over the same constants, down
 * to bytes at one place in the file, or few bytes. Only constants with equal hashes are compared. */
#include "base/hash/hash.h"
#include "ir/lower/lowered.h"

#include <string.h>

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

/* ------------------------------------------------------------------ as they are made */

uint64_t ac_const_hash(ac_const *k)
{
    if (k->hash)
        return k->hash;
    uint64_t h = mix((uint64_t)ac_const_bytes(k), k->source ? 1 : k->maker ? 2 : 3);
    if (k->source) {
        h = mix(h, ac_tensor_hash(k->source));
    } else if (k->maker) {
        h = mix(h, ac_fn_hash(k->maker->fn));
        for (int32_t i = 0; i + 1 < k->maker->arg.n; i++) /* the last is the result */
            h = mix(h, k->maker->arg.item[i].konst ? ac_const_hash(k->maker->arg.item[i].konst) : 0);
    } else if (k->data) {
        h = mix(h, ac_bytes_hash(k->data, (size_t)ac_const_bytes(k)));
    }
    return k->hash = h ? h : 1;
}

bool ac_const_args_same(const ac_lowered *a, const ac_lowered *b, int32_t *left)
{
    if (a->arg.n != b->arg.n || !ac_fn_same(a->fn, b->fn))
        return false;
    for (int32_t i = 0; i < a->arg.n; i++) {
        const ac_arg *x = &a->arg.item[i], *y = &b->arg.item[i];
        if (x->kind != y->kind || x->bytes != y->bytes)
            return false;
        if (x->kind == AC_ARG_CONST && a->fn->buf.item[i].role != AC_BUF_OUT &&
            !ac_const_same(x->konst, y->konst, left))
            return false;
    }
    return true;
}

bool ac_const_same(const ac_const *a, const ac_const *b, int32_t *left)
{
    if (a == b)
        return true;
    if (--*left < 0 || ac_const_bytes(a) != ac_const_bytes(b) || !a->source != !b->source || !a->maker != !b->maker)
        return false;
    if (a->source)
        return ac_tensor_same_bytes(a->source, b->source, left);
    if (a->maker)
        return a->dtype == b->dtype && ac_const_args_same(a->maker, b->maker, left);
    return a->data && b->data && !memcmp(a->data, b->data, (size_t)ac_const_bytes(a));
}

/* ------------------------------------------------------------------ many of them */

typedef struct twins {
    ac_const *const *konst;
    bool made, same_type;
} twins;

static uint64_t hash_of(const twins *t, ac_const *k)
{
    if (!t->made)
        return ac_const_hash(k);
    if (!k->sum) {
        k->sum = mix(ac_bytes_hash(k->data, (size_t)ac_const_bytes(k)), (uint64_t)ac_const_bytes(k));
        k->sum += !k->sum;
    }
    return k->sum;
}

static bool equal(const twins *t, const ac_const *a, const ac_const *b)
{
    int32_t left = 4096; /* comparisons: a chain of operators may meet its constants very often */
    if (ac_const_bytes(a) != ac_const_bytes(b) || (t->same_type && a->dtype != b->dtype))
        return false;
    if (!t->made)
        return ac_const_same(a, b, &left);
    return a->data == b->data || !a->data || !b->data || !memcmp(a->data, b->data, (size_t)ac_const_bytes(a));
}

int32_t *ac_const_twins(ac_region *r, ac_const *const *konst, int32_t n, bool same_type)
{
    twins t = {konst, true, same_type};
    int32_t *twin = AC_NEW_N(r, int32_t, n + 1);
    size_t cap = 64;
    while (cap < 2 * (size_t)n)
        cap *= 2;
    int32_t *slot = AC_NEW_N(r, int32_t, cap); /* open hash table: 1 + index of the first constant of each kind */
    for (int32_t i = 0; i < n; i++)
        t.made &= konst[i]->data || konst[i]->sum;
    for (int32_t i = 0; i < n; i++) {
        const uint64_t h = hash_of(&t, konst[i]);
        size_t at = (size_t)(h >> 20) & (cap - 1);
        while (slot[at] && (hash_of(&t, konst[slot[at] - 1]) != h || !equal(&t, konst[slot[at] - 1], konst[i])))
            at = (at + 1) & (cap - 1);
        if (!slot[at])
            slot[at] = i + 1;
        twin[i] = slot[at] - 1;
    }
    return twin;
}
