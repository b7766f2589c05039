/* node_values.c - values of an ONNX graph or function body by name: open addressing, keyed by the interned
 * pointer. Never iterated: the order of pointers does not reach any output. */
#include "import/onnx/proto/onnx.h"

struct ac_onx_slot {
    const char *name;
    ac_onx_value *value;
};

static struct ac_onx_slot *slot_of(const ac_onx_scope *s, const char *name)
{
    uint32_t k = (uint32_t)(((uint64_t)(uintptr_t)name * 0x9e3779b97f4a7c15u) >> 32) & (s->cap - 1);
    while (s->slot[k].name && s->slot[k].name != name)
        k = (k + 1) & (s->cap - 1);
    return &s->slot[k];
}

ac_onx_value *ac_onx_value_find(ac_onx_scope *s, const char *name)
{
    for (; s; s = s->outer) {
        ac_onx_value *v = s->cap ? slot_of(s, name)->value : NULL;
        if (v)
            return v;
    }
    return NULL;
}

ac_onx_value *ac_onx_value_get(ac_onx *r, ac_onx_scope *s, const char *name)
{
    if ((s->n + 1) * 2 > s->cap) {
        ac_onx_scope old = *s;
        s->cap = old.cap ? old.cap * 2 : 64;
        s->slot = AC_NEW_N(r->cx->region, struct ac_onx_slot, s->cap);
        for (uint32_t i = 0; i < old.cap; i++)
            if (old.slot[i].name)
                *slot_of(s, old.slot[i].name) = old.slot[i];
    }
    struct ac_onx_slot *at = slot_of(s, name);
    if (!at->name) {
        ac_onx_value *v = AC_NEW(r->cx->region, ac_onx_value);
        v->name = name;
        v->rank = -1;
        *at = (struct ac_onx_slot){name, v};
        s->n++;
    }
    return at->value;
}
