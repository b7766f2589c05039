/* find.c - finds backends, built in or modules; see find.h. */
#include "codegen/backends/find.h"

#include "base/ascii.h"
#include "base/plugin.h"
#include "base/sys/sys.h"
#include "codegen/c/emit.h"
#include "codegen/cuda/cuda.h"

#include <string.h>

static const ac_backend *const BUILT_IN[] = {&ac_backend_c, &ac_backend_cuda};
enum { N_BUILT_IN = sizeof BUILT_IN / sizeof *BUILT_IN };

/* Modules of arenac itself, and the package that a build without them needs. */
static const struct known {
    const char *name, *missing;
} KNOWN[] = {
    {"llvm", "install arenac-llvm (a package, or pip install arenac[llvm]); or build with llvm-19-dev"},
};
enum { N_KNOWN = sizeof KNOWN / sizeof *KNOWN };

static bool is_word(const char *name)
{
    size_t n = 0;
    while (ac_is_alnum(name[n]) || name[n] == '_' || name[n] == '-')
        n++;
    return n && n <= 32 && !name[n];
}

static const ac_backend *open_module(ac_ctx *cx, const char *name, bool *found)
{
    const char *path;
    void *so = ac_plugin_open(cx, name, &path);
    const ac_backend *(*entry)(void) = NULL;
    *found = path != NULL;
    if (!path)
        return NULL;
    if (so) {
        void *p = ac_sys_symbol(so, "arenac_backend");
        memcpy(&entry, &p, sizeof entry);
    }
    const ac_backend *b = entry ? entry() : NULL;
    if (b && b->abi == AC_BACKEND_ABI)
        return b;
    ac_error(cx, (ac_place){0}, E0502, "the backend %s cannot be opened", name);
    if (b)
        ac_detail(cx, "%s was built for another version of arenac", path);
    else
        ac_detail(cx, "%s", so ? "it does not export arenac_backend" : ac_sys_library_why());
    return NULL;
}

/* what: the request, for messages; unknown: help for a name that is not a module of arenac, or NULL. */
static const ac_backend *find(ac_ctx *cx, const char *name, const char *what, const char *unknown)
{
    bool found = false;
    const ac_backend *b = is_word(name) ? open_module(cx, name, &found) : NULL;
    if (b || found)
        return b;
    for (int i = 0; i < N_KNOWN; i++)
        if (!strcmp(KNOWN[i].name, name)) {
            ac_error(cx, (ac_place){0}, E0502, "%s needs the backend %s, which is not part of this build", what, name);
            ac_help(cx, "%s", KNOWN[i].missing);
            return NULL;
        }
    ac_error(cx, (ac_place){0}, E0501, "%s is not available", what);
    if (unknown)
        ac_help(cx, "%s", unknown);
    return NULL;
}

const ac_backend *ac_backend_find(ac_ctx *cx, const char *name)
{
    for (int i = 0; i < N_BUILT_IN; i++)
        if (!strcmp(BUILT_IN[i]->name, name))
            return BUILT_IN[i];
    return find(
        cx, name, ac_strf(cx->region, "--backend %s", name),
        ac_strf(cx->region,
                "--help lists the backends of arenac; others are modules, such as arenac-%s.so (docs/add-backend.md)",
                name));
}

const ac_backend *ac_backend_for(ac_ctx *cx, const char *kind, const ac_target *target)
{
    const ac_backend *b = NULL;
    for (int i = 0; i < N_BUILT_IN; i++)
        if (ac_backend_emits(BUILT_IN[i], kind) && (!b || BUILT_IN[i]->isa == target->isa))
            b = BUILT_IN[i];
    if (b)
        return b;
    const ac_emit_kind *k = ac_emit_kind_find(ac_emit_kinds, kind);
    const char *name = k ? k->backends : kind; /* a module may have the name of the kind that it emits */
    b = find(cx, name, ac_strf(cx->region, "--emit %s", kind), NULL);
    if (b && !ac_backend_emits(b, kind)) {
        ac_error(cx, (ac_place){0}, E0502, "the backend %s does not emit %s", name, kind);
        return NULL;
    }
    return b;
}
