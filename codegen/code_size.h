/* code_size.h - estimates the bytes of code of a function's loops, for reports.
 *
 * Counts instructions by kind, with weights fitted to the output of gcc -O2 for some 400 kernels of 14 models (hosts)
 * and 25 (firmware) for each kind of target: half of the kernels are within 10 % (Cortex-M4, x86 vectors), 8 % (M0+), 7
 * % (RV32, M55), 20 % (generic), nine of ten within 30 to 50 %; whole models within 8 %, for firmware, with run and
 * libgcc, most within 10 %. Other targets: the average instruction.
 *
 *     ac_code_estimate all = {0};
 *     bytes = ac_code_add(&all, region, fn, target);     of this function; all.bytes counts equal functions once
 *     total = all.bytes + ac_code_around(&all, n_steps, target);
 *
 * Cost: linear in the instructions. Memory: a list of functions in the region. Nothing fails. */
#ifndef AC_CODEGEN_CODE_SIZE_H
#define AC_CODEGEN_CODE_SIZE_H
#include "ir/loop/loop.h"
#include "ir/lower/target.h"

ac_bytes ac_code_bytes(const ac_loop_fn *fn, const ac_target *t);

enum {
    AC_CODE_DIV32 = 1,
    AC_CODE_MUL64 = 2,
    AC_CODE_DIV64 = 4,
    AC_CODE_F32 = 8,
    AC_CODE_F64 = 16,
    AC_CODE_MORE32 = 32,
    AC_CODE_TILES = 64
};

typedef struct ac_code_estimate {
    ac_bytes bytes; /* of all distinct functions */
    uint32_t uses;  /* AC_CODE_...: parts of the compiler's library */
    AC_VEC(const ac_loop_fn *) fn;
    AC_VEC(uint64_t) hash;
    AC_VEC(int32_t) calls; /* of each */
} ac_code_estimate;
ac_bytes ac_code_add(ac_code_estimate *all, ac_region *r, const ac_loop_fn *fn, const ac_target *t);
/* Firmware: run with that many calls, init, and the library; other targets: 0. */
ac_bytes ac_code_around(const ac_code_estimate *all, int32_t steps, const ac_target *t);

#endif
