/* kinds.c - the table of the kinds of output of backends. */
#include "codegen/backend.h"

#include <string.h>

const ac_emit_kind ac_emit_kinds[] = {
#define KIND(kind, ext, backends, help) {kind, ext, backends, help},
#include "codegen/kinds.def"
#undef KIND
    {NULL, NULL, NULL, NULL},
};

const ac_emit_kind *ac_emit_kind_find(const ac_emit_kind *list, const char *kind)
{
    while (list->kind && strcmp(list->kind, kind) != 0)
        list++;
    return list->kind ? list : NULL;
}

const char *ac_backend_ext(const char *kind)
{
    const ac_emit_kind *k = ac_emit_kind_find(ac_emit_kinds, kind);
    return k ? k->ext : NULL;
}

bool ac_backend_emits(const ac_backend *b, const char *kind)
{
    const ac_emit_kind *k = ac_emit_kind_find(b->kinds, kind);
    const size_t n = strlen(b->name);
    for (const char *p = k ? k->backends : ""; p && *p; p += strcspn(p, " "), p += *p == ' ')
        if (strcspn(p, " ") == n && !memcmp(p, b->name, n))
            return true;
    return k && !k->backends;
}
