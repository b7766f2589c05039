/* select.h - decides which instructions need bytecode, and which registers hold their values.
 *
 *     %4 = load i8 x[%3]                            LOAD_I8_I32  %5
 *     %5 = cast i32 %4            two loads with    LOAD_I8_I32  %8
 *     ...                   =>    conversion and    MULADD_I32   acc = %5 * %8 + acc
 *     %9 = mul i32 %5 %8          one multiply-add
 *     %10 = get i32 %1
 *     %11 = add i32 %10 %9
 *            set %11 to %1
 *
 * - LANE and BITCAST are names for (a part of) their operand's register; so is the CAST of a value that is loaded for
 * it only.
 * - A product that is only added becomes one multiply-add (both roundings). A sum that is only an index joins the
 * access.
 * - A GET is the variable itself while no SET comes before its last use; the value of a SET is computed into the
 * variable when nothing reads or leaves in between.
 *
 * ac_select returns one ac_selected per instruction. Memory: the given region. Cost: O(n log n). Cannot fail. */
#ifndef AC_IR_LOOP_EVAL_SELECT_H
#define AC_IR_LOOP_EVAL_SELECT_H
#include "ir/loop/loop.h"

typedef enum ac_how { AC_HOW_PLAIN, AC_HOW_NOTHING, AC_HOW_MULADD, AC_HOW_LOADCAST } ac_how;

typedef struct ac_selected {
    ac_how how;
    ac_dtype to;        /* LOADCAST: type of the value */
    ac_x root;          /* the owner of the register with its value: itself, another value, or a variable */
    uint32_t offset;    /* ... at this byte */
    int32_t block, end; /* the block it is in; FOR, IF, ELSE: position of the END */
    int32_t middle;     /* IF: its ELSE, or 0 */
    int32_t loop;       /* innermost FOR around it, or 0 */
    int32_t last;       /* last position that reads its register, as a root */
} ac_selected;

/* `code` is a copy of the function's instructions, n of them; operands of fused ones are changed in it. Loads and
 * stores may get a second index in b and c. Returns an array of n. */
ac_selected *ac_select(ac_region *r, ac_ins *code, int32_t n);

#endif
