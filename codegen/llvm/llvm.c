/* llvm.c - the interface of the LLVM backend: --emit o,s,ll,bc and --backend llvm. */
#include "codegen/llvm/ir.h"
#include "codegen/llvm/jit.h"

#include <llvm-c/BitWriter.h>

/* M may be closed after any failure. */
static int open_module(l_module *M, ac_module *m, bool for_this_process)
{
    *M = (l_module){
        .cx = m->cx, .region = m->cx->region, .m = m, .target = m->target, .halves = ac_target_halves(m->target)};
    M->weights = m->weights == AC_WEIGHTS_BLOB ? AC_WEIGHTS_BLOB : AC_WEIGHTS_RODATA;
    M->lc = LLVMContextCreate();
    M->mod = LLVMModuleCreateWithNameInContext(m->name, M->lc);
    M->b = LLVMCreateBuilderInContext(M->lc);
    M->i1 = LLVMInt1TypeInContext(M->lc);
    M->i8 = LLVMInt8TypeInContext(M->lc);
    M->i16 = LLVMInt16TypeInContext(M->lc);
    M->i32 = LLVMInt32TypeInContext(M->lc);
    M->i64 = LLVMInt64TypeInContext(M->lc);
    M->f32 = LLVMFloatTypeInContext(M->lc);
    M->f64 = LLVMDoubleTypeInContext(M->lc);
    M->ptr = LLVMPointerTypeInContext(M->lc, 0);
    M->none = LLVMVoidTypeInContext(M->lc);
    LLVMSetSourceFileName(M->mod, m->source, strlen(m->source));
    return l_machine_open(M, for_this_process);
}

static void close_module(l_module *M)
{
    if (M->b)
        LLVMDisposeBuilder(M->b);
    if (M->mod)
        LLVMDisposeModule(M->mod);
    if (M->machine)
        LLVMDisposeTargetMachine(M->machine);
    if (M->lc)
        LLVMContextDispose(M->lc);
}

static int build(l_module *M)
{
    const ac_module *m = M->m;
    if (m->target->isa == AC_ISA_CUDA) {
        ac_error(M->cx, (ac_place){0}, E0502, "the LLVM backend does not support %s", m->target->name);
        return ac_help(M->cx, "--emit cu,h writes kernels and the functions of a host");
    }
    if (m->streamed && m->host) {
        ac_error(M->cx, (ac_place){0}, E0502, "--backend llvm takes whole inputs, not rows");
        return ac_help(M->cx, "use --backend c, or omit --io rows");
    }
    AC_TRY(ac_module_without_custom(m, "the LLVM backend"));
    AC_TRY(l_constants(M));
    M->fn = AC_NEW_N(M->region, LLVMValueRef, m->n_fn + 1);
    for (int32_t i = 0; i < m->n_fn; i++) {
        const char *name = ac_strf(M->region, "%s_%s", m->name, m->fn[i]->name);
        AC_TRY(l_function(M, m->fn[i], name, ac_module_restricted(m, i), &M->fn[i]));
        if (m->section_code)
            LLVMSetSection(M->fn[i], m->section_code);
    }
    return l_api(M);
}

/* The output as bytes of LLVM's own. */
static int make_bytes(l_module *M, const char *kind, LLVMMemoryBufferRef *bytes)
{
    const bool object = !strcmp(kind, "o");
    if (strcmp(kind, "bc") != 0) {
        void *frames = object && M->target->firmware ? l_frames_open(M) : NULL;
        AC_TRY(l_bytes(M, object, bytes));
        if (frames)
            l_frames_close(M, frames, *bytes);
        return AC_OK;
    }
    *bytes = LLVMWriteBitcodeToMemoryBuffer(M->mod);
    return AC_OK;
}

static void put_text(l_module *M, ac_sink *to)
{
    char *text = LLVMPrintModuleToString(M->mod);
    ac_put(to, text);
    LLVMDisposeMessage(text);
}

/* The printed module, optimised. Close M even on failure. */
static int make(l_module *M, ac_module *m, const char *kind, bool for_this_process)
{
    AC_TRY(open_module(M, m, for_this_process));
    M->appended = l_appends(M, kind);
    AC_TRY(build(M));
    return l_optimise(M);
}

static int emit(ac_module *m, const char *kind, const ac_emit_names *names, ac_sink *to)
{
    (void)names;
    l_module M;
    LLVMMemoryBufferRef bytes = NULL;
    int status = make(&M, m, kind, false);
    if (status == AC_OK && !strcmp(kind, "ll"))
        put_text(&M, to);
    else if (status == AC_OK)
        status = make_bytes(&M, kind, &bytes);
    close_module(&M); /* frees its copy of the weights before the next one is created */
    if (bytes && status == AC_OK && M.appended) {
        status = l_append(&M, LLVMGetBufferStart(bytes), LLVMGetBufferSize(bytes), to);
    } else if (bytes && status == AC_OK) {
        ac_sink_room(to, LLVMGetBufferSize(bytes));
        ac_put_n(to, LLVMGetBufferStart(bytes), LLVMGetBufferSize(bytes));
    }
    if (bytes)
        LLVMDisposeMemoryBuffer(bytes);
    return status;
}

static int open_image(ac_module *m, ac_image *image)
{
    l_module M;
    LLVMMemoryBufferRef bytes = NULL;
    int status = make(&M, m, "", true);
    if (status == AC_OK)
        status = l_bytes(&M, true, &bytes);
    close_module(&M);
    return status == AC_OK ? l_jit_open(m->cx, m, bytes, image) : status;
}

static const ac_backend LLVM = {.abi = AC_BACKEND_ABI,
                                .name = "llvm",
                                .kinds = ac_emit_kinds,
                                .memories = true,
                                .emit = emit,
                                .open = open_image,
                                .close = l_jit_close};

__attribute__((visibility("default"))) const ac_backend *arenac_backend(void);
const ac_backend *arenac_backend(void)
{
    return &LLVM;
}
