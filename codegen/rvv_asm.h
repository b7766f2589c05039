/* rvv_asm.h - writes TILE and REQUANT as RISC-V vector instructions (V, or Zve32x with Zvl128b), for the printers of C
 * and of objects. GCC 12 does not support vectors, but its assembler does:
 *
 *     OUTER    vle8.v v30, (w)    vsext.vf2 v28, v30    lb t3, 0(x)    vwmacc.vx v0, t3, v28    ...
 *     LANES    vle8.v v26, (w)    vsext.vf2 v24, v26    vle8.v v30, (x)    vsext.vf2 v28, v30    vwmacc.vv v0, v28, v24
 *     SPREAD   vle8.v v0, (x)     vse8.v v0, (to)                    with one channel
 *
 * Sums are vectors of i32 of up to eight registers, one lane for each channel, from v0 on. Operands are general
 * registers; the texts change t0 to t6 and all vectors besides. Vectors may be longer than 16 bytes. */
#ifndef AC_CODEGEN_RVV_ASM_H
#define AC_CODEGEN_RVV_ASM_H
#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"
#include "ir/lower/target.h"

typedef enum ac_rvv_operand { AC_RVV_X, AC_RVV_W, AC_RVV_STEPS, AC_RVV_TO, AC_RVV_OPERANDS } ac_rvv_operand;
typedef enum ac_rvv_number {
    AC_RVV_ACC,
    AC_RVV_M,
    AC_RVV_BIAS,
    AC_RVV_Y,
    AC_RVV_ZERO,
    AC_RVV_LO,
    AC_RVV_HI,
    AC_RVV_NUMBERS
} ac_rvv_number;

/* True if there is such a text for the tile on the target. */
bool ac_rvv_has(const ac_target *t, const ac_tile *tile);
bool ac_rvv_takes(const ac_tile *tile, ac_rvv_operand o);
bool ac_rvv_changes(const ac_tile *tile, ac_rvv_operand o);
/* name: of each operand that the form uses; `end` after each instruction. */
const char *ac_rvv_asm(ac_ctx *cx, const ac_tile *tile, const char *const *name, const char *end);
/* The name of a function with the text: "tile_outer_4x16_16_3_4", "requant16_away". */
const char *ac_rvv_name(ac_ctx *cx, const ac_tile *tile);
const char *ac_rvv_requant_name(ac_ctx *cx, const ac_requants *q);
/* REQUANT; operands are not changed. */
const char *ac_rvv_requant(ac_ctx *cx, const ac_requants *q, const char *const *name, const char *end);

#endif
