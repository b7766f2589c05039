/* name_map.c - implements a hash table of interned names. */
#include "import/build/name_map.h"

struct ac_name_slot {
    const char *name;
    int32_t value;
};

static struct ac_name_slot *slot_of(const ac_name_map *m, const char *name)
{
    uint32_t k = (uint32_t)(((uint64_t)(uintptr_t)name * 0x9e3779b97f4a7c15u) >> 32) & (m->cap - 1);
    while (m->slot[k].name && m->slot[k].name != name)
        k = (k + 1) & (m->cap - 1);
    return &m->slot[k];
}

int32_t *ac_name_put(ac_region *region, ac_name_map *m, const char *name)
{
    if ((m->n + 1) * 2 > m->cap) {
        const ac_name_map old = *m;
        m->cap = old.cap ? old.cap * 2 : 64;
        m->slot = AC_NEW_N(region, struct ac_name_slot, m->cap);
        for (uint32_t i = 0; i < old.cap; i++)
            if (old.slot[i].name)
                *slot_of(m, old.slot[i].name) = old.slot[i];
    }
    struct ac_name_slot *at = slot_of(m, name);
    if (!at->name) {
        *at = (struct ac_name_slot){name, -1};
        m->n++;
    }
    return &at->value;
}

int32_t ac_name_get(const ac_name_map *m, const char *name)
{
    const struct ac_name_slot *at = m->cap ? slot_of(m, name) : NULL;
    return at && at->name ? at->value : -1;
}
