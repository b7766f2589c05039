/* constant.c - returns the bytes of constants: those of a tensor, or the results of the loops that compute them. */
#include "base/large_pages.h"
#include "ir/loop/eval/eval.h"
#include "ir/lower/lowered.h"

enum { LARGE = 16 << 20 }; /* bytes */

ac_bytes ac_const_bytes(const ac_const *k)
{
    return ac_dtype_size(k->dtype, k->count);
}

/* Runs the loops that compute k and write its bytes to `to`. */
static int make(ac_ctx *cx, ac_making *w, const ac_const *k, void *to)
{
    const ac_lowered *m = k->maker;
    ac_region *tmp = ac_region_open(&cx->heap);
    void **data = AC_NEW_N(tmp, void *, m->arg.n);
    int status = 0, rc = AC_OK;
    for (int32_t i = 0; i < m->arg.n && rc == AC_OK; i++) {
        const ac_arg *a = &m->arg.item[i];
        data[i] = a->kind == AC_ARG_SCRATCH ? ac_alloc(tmp, (uint64_t)a->bytes + 1)
                  : a->konst == k           ? to
                                            : ac_const_operand(cx, w, a->konst);
        rc = data[i] ? AC_OK : AC_FAIL;
    }
    if (rc == AC_OK)
        rc = (ac_const_bytes(k) < LARGE ? ac_eval : ac_eval_large)(cx, m->fn, data, m->arg.n, &status);
    ac_region_close(tmp);
    if (rc == AC_OK && status)
        return ac_error(cx, (ac_place){0}, E0901, "constant '%s': its computation stopped with status %d", k->name,
                        status);
    return rc;
}

void *ac_const_operand(ac_ctx *cx, ac_making *w, ac_const *k)
{
    union {
        const void *read;
        void *any;
    } p = {k->data};
    if (!k->data && w && ac_const_bytes(k) >= AC_MAKING_LARGE) { /* for now, and not kept */
        const ac_tensor *t = k->source;
        if (t && t->raw && !t->data && !t->lazy && !t->splat) /* the evaluator needs no alignment */
            p.read = t->raw;
        else if (t)
            p.read = ac_tensor_force_for(cx, w, k->source);
        else if (k->maker && make(cx, w, k, p.any = ac_making_room(w, ac_const_bytes(k))) != AC_OK)
            return NULL;
    } else {
        p.read = ac_const_data_for(cx, w, k);
    }
    return p.any;
}

/* The bytes of its tensor, in permanent memory or in k->room. */
static const void *wanted(ac_ctx *cx, ac_making *w, const ac_const *k)
{
    const bool held = ac_making_holds(w, k->source); /* made for another constant before */
    w->wanted = k->source;
    w->into = k->room;
    const void *p = ac_tensor_force_for(cx, w, k->source);
    w->wanted = NULL;
    return held && p ? ac_copy(k->room, p, (size_t)ac_const_bytes(k)) : p;
}

const void *ac_const_data_for(ac_ctx *cx, ac_making *w, ac_const *k)
{
    if (k->data)
        return k->data;
    const bool own = w && ac_const_bytes(k) >= AC_MAKING_LARGE;
    if (own && !k->room)
        k->room = ac_region_open_beside(cx->region);
    if (k->source)
        return k->data = own ? wanted(cx, w, k) : ac_tensor_force_for(cx, w, k->source);
    if (!k->maker)
        return NULL;
    void *to = ac_alloc_whole(k->room ? k->room : cx->region, (uint64_t)ac_const_bytes(k) + 1);
    return make(cx, w, k, to) == AC_OK ? k->data = to : NULL;
}

const void *ac_const_data(ac_ctx *cx, ac_const *k)
{
    return ac_const_data_for(cx, NULL, k);
}

void ac_const_drop(ac_const *k)
{
    if (!k->room)
        return;
    ac_region_close(k->room);
    k->room = NULL;
    k->data = NULL;
}
