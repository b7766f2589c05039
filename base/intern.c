/* intern.c - strings that are kept once, so that equal ones are the same pointer. */
#include "base/ctx.h"
#include "base/hash/siphash.h"

#include <string.h>

struct ac_name {
    uint64_t hash;
    size_t len;
    char text[];
};

static void grow(ac_ctx *cx, uint32_t cap)
{
    ac_names *t = &cx->names;
    if (!t->cap)
        ac_random_key(t->key);
    struct ac_name **slot = AC_NEW_N(cx->region, struct ac_name *, cap);
    for (uint32_t i = 0; i < t->cap; i++) {
        if (!t->slot[i])
            continue;
        uint32_t k = (uint32_t)t->slot[i]->hash & (cap - 1);
        while (slot[k])
            k = (k + 1) & (cap - 1);
        slot[k] = t->slot[i];
    }
    t->slot = slot;
    t->cap = cap;
}

void ac_intern_room(ac_ctx *cx, uint32_t more)
{
    uint32_t cap = cx->names.cap ? cx->names.cap : 256;
    while (cap < UINT32_MAX / 4 && cap / 2 <= (uint64_t)cx->names.n + more)
        cap *= 2;
    if (cap > cx->names.cap)
        grow(cx, cap);
}

const char *ac_intern_n(ac_ctx *cx, const char *s, size_t len)
{
    ac_names *t = &cx->names;
    if (t->n * 2 >= t->cap)
        grow(cx, t->cap ? t->cap * 2 : 256);
    if (!len)
        s = ""; /* an empty part of a file has no address */
    const uint64_t h = ac_siphash(t->key, s, len);
    uint32_t k = (uint32_t)h & (t->cap - 1);
    for (; t->slot[k]; k = (k + 1) & (t->cap - 1))
        if (t->slot[k]->hash == h && t->slot[k]->len == len && !memcmp(t->slot[k]->text, s, len))
            return t->slot[k]->text;
    struct ac_name *n = ac_alloc(cx->region, sizeof *n + len + 1);
    n->hash = h;
    n->len = len;
    memcpy(n->text, s, len);
    t->slot[k] = n;
    t->n++;
    return n->text;
}

const char *ac_intern(ac_ctx *cx, const char *s)
{
    return ac_intern_n(cx, s, strlen(s));
}

const char *ac_internf(ac_ctx *cx, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *s = ac_intern(cx, ac_vstrf(cx->region, fmt, ap));
    va_end(ap);
    return s;
}
