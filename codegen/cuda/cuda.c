/* cuda.c - the interface of the CUDA backend: --emit cu,h, and ptx and cubin through NVRTC. */
#include "codegen/cuda/cuda.h"

#include <string.h>

static int emit(ac_module *m, const char *kind, const ac_emit_names *names, ac_sink *to)
{
    if (m->target->isa != AC_ISA_CUDA) {
        ac_error(m->cx, (ac_place){0}, E0502, "--emit %s needs a GPU target, but the target is %s", kind,
                 m->target->name);
        return ac_help(m->cx, "choose one, such as -t cuda-sm80; arenac targets lists them");
    }
    if (m->n_ram > 1) {
        ac_error(m->cx, (ac_place){0}, E0502, "--emit %s supports one memory for all tensors: omit --mem", kind);
        return AC_FAIL;
    }
    if (m->poison) {
        ac_error(m->cx, (ac_place){0}, E0502, "--poison is not available for CUDA");
        return ac_help(m->cx, "run --backend cuda-race checks every access");
    }
    if (!strcmp(kind, "h"))
        return ac_cuda_header(m, to);
    if (!strcmp(kind, "cu"))
        return ac_cuda_source(m, names, to);
    ac_sink source;
    ac_sink_open(&source, m->cx);
    AC_TRY(ac_cuda_source(m, NULL, &source));
    return ac_cuda_compile(m, m->target, ac_sink_text(&source), !strcmp(kind, "cubin"), to);
}

const ac_backend ac_backend_cuda = {
    .abi = AC_BACKEND_ABI, .name = "cuda", .isa = AC_ISA_CUDA, .kinds = ac_emit_kinds, .emit = emit};
