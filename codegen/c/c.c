/* c.c - the interface of the C backend: --emit c,h. */
#include "codegen/c/emit.h"
#include "codegen/targets.h"

#include <string.h>

/* A target with the same core whose C is printed instead; NULL: none. */
static const char *same_core(const ac_target *t)
{
    for (int32_t i = 0; i < ac_target_count(); i++) {
        const ac_target *x = ac_target_at(i);
        if (!x->vec_bytes && x->isa == t->isa && x->firmware == t->firmware && !strcmp(x->cpu, t->cpu))
            return x->name;
    }
    return NULL;
}

/* C prints vectors with x86 intrinsics; for vectors of other machines, use another backend. */
static int emit(ac_module *m, const char *kind, const ac_emit_names *names, ac_sink *to)
{
    const ac_target *t = m->target;
    if (!strcmp(kind, "h"))
        return ac_emit_header(m, to);
    if (t->isa == AC_ISA_CUDA) {
        ac_error(m->cx, (ac_place){0}, E0502, "the C backend does not support %s", t->name);
        return ac_help(m->cx, "--emit cu,h writes kernels and the functions of a host; -t generic writes portable C");
    }
    if (t->vec_bytes && t->isa != AC_ISA_X86 && t->isa != AC_ISA_ANY) {
        const char *plain = same_core(t);
        ac_error(m->cx, (ac_place){0}, E0502, "the C backend does not support the vectors of %s", t->name);
        if (plain)
            return ac_help(m->cx, "-t %s writes C for the same core; --emit o,h writes an object file through LLVM",
                           plain);
        return ac_help(m->cx, "--emit o,h writes an object file through LLVM; -t generic writes portable C");
    }
    return ac_emit_source(m, names->header, names->blob, to);
}

const ac_backend ac_backend_c = {
    .abi = AC_BACKEND_ABI, .name = "c", .kinds = ac_emit_kinds, .memories = true, .caller_io = true, .emit = emit};
