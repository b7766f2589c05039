/* code_size.h - how many bytes of code a function's loops become: an estimate, for reports.
 *
 * Counts instructions by kind, with weights that were fitted to what gcc makes (-O2 for hosts, -Os for Cortex-M) of
 * some 400 kernels of 14 models for each kind of target: half of the kernels are within 7 % (Cortex-M), 10 % (x86
 * vectors), 20 % (generic), nine of ten within 21, 30, 50 %; whole models within 8 %. Other targets: the average
 * instruction.
 *
 *     ac_code_estimate all = {0};
 *     bytes = ac_code_add(&all, region, fn, target);     of this function; all.bytes counts equal functions once
 *
 * Cost: linear in the instructions. Memory: a list of functions in the region. Nothing fails. */
#ifndef AC_CODEGEN_CODE_SIZE_H
#define AC_CODEGEN_CODE_SIZE_H
#include "ir/loop/loop.h"
#include "ir/lower/target.h"

ac_bytes ac_code_bytes(const ac_loop_fn *fn, const ac_target *t);

typedef struct ac_code_estimate {
    ac_bytes bytes; /* of all distinct functions */
    AC_VEC(const ac_loop_fn *) fn;
    AC_VEC(uint64_t) hash;
} ac_code_estimate;
ac_bytes ac_code_add(ac_code_estimate *all, ac_region *r, const ac_loop_fn *fn, const ac_target *t);

#endif
