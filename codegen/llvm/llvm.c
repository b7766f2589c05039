/* llvm.c - the LLVM backend as seen from outside: --emit o,s,ll,bc and --backend llvm. */
#include "codegen/llvm/jit.h"
#include "codegen/llvm/ir.h"

#include <llvm-c/BitWriter.h>

/* The output as bytes of LLVM's own. */
static int make_bytes(l_module *M, const char *kind, LLVMMemoryBufferRef *bytes)
{
    if (strcmp(kind, "bc") != 0)
        return l_bytes(M, !strcmp(kind, "o"), bytes);
    *bytes = LLVMWriteBitcodeToMemoryBuffer(M->mod);
    return AC_OK;
}

static void put_text(l_module *M, ac_sink *to)
{
    char *text = LLVMPrintModuleToString(M->mod);
    ac_put(to, text);
    LLVMDisposeMessage(text);
}

/* The printed module, optimised. M is to be closed whatever comes back. */
static int make(l_module *M, ac_module *m, bool for_this_process)
{
    AC_TRY(l_open(M, m, for_this_process));
    AC_TRY(l_build(M));
    return l_optimise(M);
}

static int emit(ac_module *m, const char *kind, const ac_emit_names *names, ac_sink *to)
{
    (void)names;
    l_module M;
    LLVMMemoryBufferRef bytes = NULL;
    int status = make(&M, m, false);
    if (status == AC_OK && !strcmp(kind, "ll"))
        put_text(&M, to);
    else if (status == AC_OK)
        status = make_bytes(&M, kind, &bytes);
    l_close(&M); /* its copy of the weights goes before the next one is made */
    if (bytes && status == AC_OK) {
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
    int status = make(&M, m, true);
    if (status == AC_OK)
        status = l_bytes(&M, true, &bytes);
    l_close(&M);
    return status == AC_OK ? l_jit_open(m->cx, m->name, bytes, image) : status;
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
