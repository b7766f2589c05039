/* frames_of.c - finds the stack of an object: LLVM warns of every frame above a limit of 0 bytes, and the warning
 * contains its size. */
#include "codegen/dsp/rows.h"
#include "codegen/frames.h"
#include "codegen/llvm/ir.h"

#include <llvm-c/Object.h>
#include <stdlib.h>
#include <string.h>

typedef struct watch {
    l_module *M;
    ac_frames frames;
} watch;

/* "stack frame size (96) exceeds limit (0) in function 'kws_run'" */
static void note_frame(watch *w, const char *text)
{
    const char *size = strstr(text, "stack frame size ("), *name = size ? strstr(size, "in function '") : NULL;
    if (!name)
        return;
    name += strlen("in function '");
    const char *who = ac_strf(w->M->region, "%.*s", (int)strcspn(name, "'"), name);
    const int32_t at = ac_frames_add(w->M->region, &w->frames, who);
    w->frames.item[at].bytes = strtol(size + 18, NULL, 10);
}

static void on_diagnostic(LLVMDiagnosticInfoRef d, void *user)
{
    char *text = LLVMGetDiagInfoDescription(d);
    note_frame(user, text);
    LLVMDisposeMessage(text);
}

/* The calls of a function that remain after the passes. */
static void note_calls(watch *w, LLVMValueRef f, int32_t from)
{
    ac_region *r = w->M->region;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            size_t n;
            LLVMValueRef to = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
            if (to && LLVMIsAFunction(to) && LLVMCountBasicBlocks(to))
                ac_frames_call(r, &w->frames, from, ac_frames_add(r, &w->frames, LLVMGetValueName2(to, &n)));
        }
}

void *l_frames_open(l_module *M)
{
    watch *w = AC_NEW(M->region, watch);
    size_t n;
    w->M = M;
    for (LLVMValueRef f = LLVMGetFirstFunction(M->mod); f; f = LLVMGetNextFunction(f))
        if (LLVMCountBasicBlocks(f)) {
            static const char LIMIT[] = "warn-stack-size";
            LLVMAddAttributeAtIndex(f, L_WHOLE, LLVMCreateStringAttribute(M->lc, LIMIT, sizeof LIMIT - 1, "0", 1));
            const int32_t at = ac_frames_add(M->region, &w->frames, LLVMGetValueName2(f, &n));
            /* LLVM reports nothing for a function without a frame, nor for one that is assembly alone */
            w->frames.item[at].bytes = ac_naked_stack(LLVMGetValueName2(f, &n));
            note_calls(w, f, at);
        }
    LLVMContextSetDiagnosticHandler(M->lc, on_diagnostic, w);
    return w;
}

/* The deepest frame of the compiler's library functions that any function of the object calls. */
static ac_bytes libraries(watch *w, LLVMMemoryBufferRef object)
{
    ac_region *r = w->M->region;
    char *why = NULL;
    LLVMBinaryRef b = LLVMCreateBinary(object, w->M->lc, &why);
    ac_bytes most = 0;
    LLVMDisposeMessage(why);
    if (!b)
        return 0;
    LLVMSymbolIteratorRef s = LLVMObjectFileCopySymbolIterator(b);
    for (; !LLVMObjectFileIsSymbolIteratorAtEnd(b, s); LLVMMoveToNextSymbol(s)) {
        const char *name = LLVMGetSymbolName(s);
        if (strncmp(name, "__", 2) != 0 && strncmp(name, "mem", 3) != 0)
            continue;
        const ac_bytes d = ac_frames_deepest(r, &w->frames, w->M->target, ac_frames_add(r, &w->frames, name));
        most = d > most ? d : most;
    }
    LLVMDisposeSymbolIterator(s);
    LLVMDisposeBinary(b);
    return most;
}

/* Code of the object, without the functions of the compiler's library that it uses. */
static ac_bytes text_of(l_module *M, LLVMMemoryBufferRef object)
{
    char *why = NULL;
    LLVMBinaryRef b = LLVMCreateBinary(object, M->lc, &why);
    ac_bytes bytes = 0;
    LLVMDisposeMessage(why);
    if (!b)
        return 0;
    LLVMSectionIteratorRef s = LLVMObjectFileCopySectionIterator(b);
    for (; !LLVMObjectFileIsSectionIteratorAtEnd(b, s); LLVMMoveToNextSection(s)) {
        const char *name = LLVMGetSectionName(s);
        if (name && !strncmp(name, ".text", 5))
            bytes += (ac_bytes)LLVMGetSectionSize(s);
    }
    LLVMDisposeSectionIterator(s);
    LLVMDisposeBinary(b);
    return bytes;
}

void l_frames_close(l_module *M, void *watched, LLVMMemoryBufferRef object)
{
    watch *w = watched;
    ac_bytes most = 0;
    static const char *const ROOTS[] = {"run", "run_row"};
    LLVMContextSetDiagnosticHandler(M->lc, NULL, NULL);
    const ac_bytes library = libraries(w, object);
    for (size_t i = 0; i < sizeof ROOTS / sizeof *ROOTS; i++) {
        const char *name = ac_strf(M->region, "%s_%s", M->m->name, ROOTS[i]);
        for (int32_t k = 0; k < w->frames.n; k++)
            if (!strcmp(w->frames.item[k].name, name)) {
                const ac_bytes d = ac_frames_deepest(M->region, &w->frames, M->target, k);
                most = d > most ? d : most;
            }
    }
    M->m->built =
        (ac_built){.stack = most + library, .code = text_of(M, object), .how = "the object", .time = M->m->built.time};
}
