/* jit.c - loads an object into this process with ORC: the same bytes that --emit o writes. */
#include "codegen/llvm/jit.h"

#include <llvm-c/LLJIT.h>

static int failed(ac_ctx *cx, LLVMErrorRef e)
{
    char *why = LLVMGetErrorMessage(e);
    ac_error(cx, (ac_place){0}, E0901, "LLVM cannot load the code into this process");
    ac_detail(cx, "%s", why);
    LLVMDisposeErrorMessage(why);
    return AC_FAIL;
}

static int look_up(ac_ctx *cx, LLVMOrcLLJITRef jit, const char *name, void *to)
{
    LLVMOrcExecutorAddress at;
    LLVMErrorRef e = LLVMOrcLLJITLookup(jit, &at, name);
    if (e)
        return failed(cx, e);
    const uintptr_t p = (uintptr_t)at;
    memcpy(to, &p, sizeof p);
    return AC_OK;
}

const char *l_steps_name(ac_region *r, const ac_module *m, int32_t part)
{
    return m->n_parts > 1 ? ac_strf(r, "steps_%s", m->part[part].name) : "steps";
}

static int load(ac_ctx *cx, LLVMOrcLLJITRef jit, const ac_module *m, LLVMMemoryBufferRef object, ac_image *image)
{
    LLVMOrcJITDylibRef lib = LLVMOrcLLJITGetMainJITDylib(jit);
    LLVMOrcDefinitionGeneratorRef process; /* memset and memcpy */
    LLVMErrorRef e =
        LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(jit), NULL, NULL);
    if (e) {
        LLVMDisposeMemoryBuffer(object);
        return failed(cx, e);
    }
    LLVMOrcJITDylibAddGenerator(lib, process);
    e = LLVMOrcLLJITAddObjectFile(jit, lib, object); /* takes the object */
    if (e)
        return failed(cx, e);
    AC_TRY(look_up(cx, jit, ac_strf(cx->region, "%s_init", m->name), &image->init));
    for (int32_t k = 0; k < m->n_parts; k++)
        AC_TRY(
            look_up(cx, jit, ac_strf(cx->region, "%s_%s", m->name, l_steps_name(cx->region, m, k)), &image->part[k]));
    return AC_OK;
}

int l_jit_open(ac_ctx *cx, const ac_module *m, LLVMMemoryBufferRef object, ac_image *image)
{
    LLVMOrcLLJITRef jit;
    LLVMErrorRef e = LLVMOrcCreateLLJIT(&jit, NULL);
    if (e) {
        LLVMDisposeMemoryBuffer(object);
        return failed(cx, e);
    }
    image->code = jit;
    return load(cx, jit, m, object, image);
}

void l_jit_close(ac_image *image)
{
    LLVMErrorRef e = image->code ? LLVMOrcDisposeLLJIT(image->code) : NULL;
    if (e)
        LLVMConsumeError(e);
    *image = (ac_image){0};
}
