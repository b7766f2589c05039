/* machine.c - creates LLVM targets, runs passes, and emits objects. Loops are already scheduled, unrolled and
 * vectorised, so the passes only clean up: no vectoriser, no inliner, no idiom that would call a library. */
#include "codegen/llvm/ir.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdatomic.h>

static int failed(l_module *M, const char *what, char *why)
{
    ac_error(M->cx, (ac_place){0}, E0901, "LLVM: %s", what);
    if (why)
        ac_detail(M->cx, "%s", why);
    LLVMDisposeMessage(why);
    return AC_FAIL;
}

static LLVMTargetRef find_target(l_module *M, const char *triple)
{
    LLVMTargetRef t;
    char *why = NULL;
    if (!LLVMGetTargetFromTriple(triple, &t, &why))
        return t;
    ac_error(M->cx, (ac_place){0}, E0502, "the LLVM on this machine has no code for %s", triple);
    ac_detail(M->cx, "%s", why);
    LLVMDisposeMessage(why);
    return NULL;
}

/* LLVM 19 folds the steps of Helium's gathers into their offsets and then reads the wrong elements
 * (tests/cross/gathered.ag). Options belong to the process and may be set once. */
static void no_gathers(void)
{
    enum { BEFORE, DURING, AFTER };
    static const char *const OPTION[] = {"arenac", "-enable-arm-maskedgatscat=false"};
    static atomic_int state = BEFORE;
    int before = BEFORE;
    if (atomic_compare_exchange_strong(&state, &before, DURING)) {
        LLVMParseCommandLineOptions(2, OPTION, "");
        atomic_store(&state, AFTER);
    }
    while (atomic_load(&state) != AFTER) /* another thread is at it: microseconds */
        continue;
}

int l_machine_open(l_module *M, bool for_this_process)
{
    const ac_target *t = M->target;
    LLVMInitializeAllTargetInfos();
    LLVMInitializeAllTargets();
    LLVMInitializeAllTargetMCs();
    LLVMInitializeAllAsmPrinters();
    LLVMInitializeAllAsmParsers(); /* TILE is inline assembly */
    if (t->mve)
        no_gathers();
    char *triple =
        *t->triple && !for_this_process ? LLVMNormalizeTargetTriple(t->triple) : LLVMGetDefaultTargetTriple();
    LLVMTargetRef found = find_target(M, triple);
    if (!found) {
        LLVMDisposeMessage(triple);
        return AC_FAIL;
    }
    LLVMTargetMachineOptionsRef o = LLVMCreateTargetMachineOptions();
    LLVMTargetMachineOptionsSetCPU(o, t->cpu);
    LLVMTargetMachineOptionsSetFeatures(o, t->attributes);
    LLVMTargetMachineOptionsSetABI(o, t->abi);
    LLVMTargetMachineOptionsSetCodeGenOptLevel(o, LLVMCodeGenLevelDefault);
    LLVMTargetMachineOptionsSetRelocMode(o, t->firmware || t->isa == AC_ISA_WASM ? LLVMRelocStatic : LLVMRelocPIC);
    M->machine = LLVMCreateTargetMachineWithOptions(found, triple, o);
    LLVMDisposeTargetMachineOptions(o);
    LLVMSetTarget(M->mod, triple);
    LLVMDisposeMessage(triple);
    if (!M->machine)
        return failed(M, "no machine for this target", NULL);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(M->machine);
    LLVMSetModuleDataLayout(M->mod, layout);
    M->word = LLVMIntPtrTypeInContext(M->lc, layout);
    LLVMDisposeTargetData(layout);
    return AC_OK;
}

int l_optimise(l_module *M)
{
    char *why = NULL;
    if (LLVMVerifyModule(M->mod, LLVMReturnStatusAction, &why))
        return failed(M, "the printed module is not valid", why);
    LLVMDisposeMessage(why);
    LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
    LLVMErrorRef e = LLVMRunPasses(M->mod, "default<O2>", M->machine, o);
    LLVMDisposePassBuilderOptions(o);
    return e ? failed(M, "the passes failed", LLVMGetErrorMessage(e)) : AC_OK;
}

int l_bytes(l_module *M, bool object, LLVMMemoryBufferRef *out)
{
    char *why = NULL;
    LLVMCodeGenFileType type = object ? LLVMObjectFile : LLVMAssemblyFile;
    return LLVMTargetMachineEmitToMemoryBuffer(M->machine, M->mod, type, &why, out) ? failed(M, "no code", why) : AC_OK;
}
