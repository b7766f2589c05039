/* Backends by name or by what they emit. Modules stay open until the process ends: code made by them may still run. */
#include "codegen/backend.h"
#include "codegen/c/emit.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef ARENAC_LIBDIR
#define ARENAC_LIBDIR "lib"
#endif

/* C prints vectors with x86 intrinsics; other machines have their vectors through a backend that knows them. */
static int c_emit(ac_module *m, const char *kind, const ac_emit_names *names, ac_sink *to)
{
    const ac_target *t = m->target;
    if (!strcmp(kind, "h"))
        return ac_emit_header(m, to);
    if (t->isa == AC_ISA_CUDA) {
        ac_error(m->cx, (ac_place){0}, E0502, "C is not printed for %s", t->name);
        return ac_help(m->cx,
                       "--emit cu,h makes one file of kernels and what a host calls; -t generic prints portable C");
    }
    if (t->vec_bytes && t->isa != AC_ISA_X86 && t->isa != AC_ISA_ANY) {
        ac_error(m->cx, (ac_place){0}, E0502, "C is not printed for the vectors of %s", t->name);
        return ac_help(m->cx, "--emit o,h makes an object file through LLVM; -t generic prints portable C");
    }
    return ac_emit_c(m, names->header, names->blob, to);
}

static const ac_emit_kind C_KINDS[] = {{"c", ".c"}, {"h", ".h"}, {NULL, NULL}};
static const ac_backend C = {AC_BACKEND_ABI, "c", C_KINDS, c_emit, NULL, NULL};

/* Modules that arenac itself comes with: what they emit, and what a build without them lacks. */
static const ac_emit_kind LLVM_KINDS[] = {{"o", ".o"}, {"s", ".s"}, {"ll", ".ll"}, {"bc", ".bc"}, {NULL, NULL}};
static const struct known {
    const char *name;
    const ac_emit_kind *kinds;
    const char *missing;
} KNOWN[] = {
    {"llvm", LLVM_KINDS, "install llvm-19-dev (LLVM 19.1 or later), then configure and build arenac again"},
};
enum { N_KNOWN = sizeof KNOWN / sizeof *KNOWN };

static bool has_kind(const ac_emit_kind *list, const char *kind)
{
    while (list->kind && strcmp(list->kind, kind))
        list++;
    return list->kind != NULL;
}

const char *ac_backend_ext(const char *kind)
{
    for (int i = -2; i < N_KNOWN; i++)
        for (const ac_emit_kind *k = i == -2 ? C_KINDS : i < 0 ? ac_backend_cuda.kinds : KNOWN[i].kinds; k->kind; k++)
            if (!strcmp(k->kind, kind))
                return k->ext;
    return NULL;
}

static bool is_word(const char *name)
{
    size_t n = 0;
    while (isalnum((unsigned char)name[n]) || name[n] == '_' || name[n] == '-')
        n++;
    return n && n <= 32 && !name[n];
}

/* The folder of the running program; NULL when the system does not tell. */
static char *own_folder(ac_ctx *cx)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0)
        return NULL;
    path[n] = 0;
    char *slash = strrchr(path, '/');
    if (!slash)
        return NULL;
    *slash = 0;
    return ac_strdup(cx->region, path);
}

static const ac_backend *open_module(ac_ctx *cx, const char *name, const char *path, bool *found)
{
    *found = access(path, F_OK) == 0;
    if (!*found)
        return NULL;
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const ac_backend *(*entry)(void) = NULL;
    if (so) {
        void *p = dlsym(so, "arenac_backend");
        memcpy(&entry, &p, sizeof entry);
    }
    const ac_backend *b = entry ? entry() : NULL;
    if (b && b->abi == AC_BACKEND_ABI)
        return b;
    ac_error(cx, (ac_place){0}, E0502, "the backend %s cannot be opened", name);
    if (b)
        ac_detail(cx, "%s was built for another version of arenac", path);
    else
        ac_detail(cx, "%s", so ? "it does not export arenac_backend" : dlerror());
    return NULL;
}

static const ac_backend *look_for(ac_ctx *cx, const char *name, bool *found)
{
    const char *own = own_folder(cx), *given = getenv("ARENAC_BACKENDS");
    const char *folders[] = {given && *given ? given : NULL, own,
                             own ? ac_strf(cx->region, "%s/../%s/arenac", own, ARENAC_LIBDIR) : NULL};
    *found = false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (!folders[i])
            continue;
        const ac_backend *b = open_module(cx, name, ac_strf(cx->region, "%s/arenac-%s.so", folders[i], name), found);
        if (*found)
            return b;
    }
    return NULL;
}

static const ac_backend *find(ac_ctx *cx, const char *name, const char *what)
{
    bool found = false;
    const ac_backend *b = is_word(name) ? look_for(cx, name, &found) : NULL;
    if (b || found)
        return b;
    for (int i = 0; i < N_KNOWN; i++)
        if (!strcmp(KNOWN[i].name, name)) {
            ac_error(cx, (ac_place){0}, E0502, "%s needs the backend %s, which is not part of this build", what, name);
            ac_help(cx, "%s", KNOWN[i].missing);
            return NULL;
        }
    ac_error(cx, (ac_place){0}, E0502, "%s is not available: there is no arenac-%s.so", what, name);
    return NULL;
}

const ac_backend *ac_backend_find(ac_ctx *cx, const char *name)
{
    if (!strcmp(name, ac_backend_cuda.name))
        return &ac_backend_cuda;
    return !strcmp(name, C.name) ? &C : find(cx, name, ac_strf(cx->region, "--backend %s", name));
}

const ac_backend *ac_backend_for(ac_ctx *cx, const char *kind)
{
    if (has_kind(C_KINDS, kind))
        return &C;
    if (has_kind(ac_backend_cuda.kinds, kind))
        return &ac_backend_cuda;
    const char *name = kind,
               *what = ac_strf(cx->region, "--emit %s", kind); /* a module may be named after what it emits */
    for (int i = 0; i < N_KNOWN; i++)
        if (has_kind(KNOWN[i].kinds, kind))
            name = KNOWN[i].name;
    const ac_backend *b = find(cx, name, what);
    if (b && !has_kind(b->kinds, kind)) {
        ac_error(cx, (ac_place){0}, E0502, "the backend %s does not emit %s", name, kind);
        return NULL;
    }
    return b;
}
