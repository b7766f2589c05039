/* formula.h - formulas as they are written: in functions whose adjoint is called `a`. For the .c files of ir/grad/. */
#ifndef AC_IR_GRAD_FORMULA_H
#define AC_IR_GRAD_FORMULA_H
#include "ir/grad/adjoint.h"

#define ADD(x, y)            ac_mk_2(a, AC_OP_ADD, x, y)
#define SUB(x, y)            ac_mk_2(a, AC_OP_SUB, x, y)
#define MUL(x, y)            ac_mk_2(a, AC_OP_MUL, x, y)
#define DIV(x, y)            ac_mk_2(a, AC_OP_DIV, x, y)
#define NEG(x)               ac_mk_1(a, AC_OP_NEG, x)
#define SQUARE(x)            ac_mk_1(a, AC_OP_SQUARE, x)
#define TIMES(x, v)          ac_mk_scale(a, x, v) /* v: a number */
#define PLUS(x, v)           ac_mk_shift(a, x, v)
#define GREATER(x, v)        ac_mk_2(a, AC_OP_GREATER, x, ac_mk_number(a, x, v))
#define LESS(x, v)           ac_mk_2(a, AC_OP_LESS, x, ac_mk_number(a, x, v))
#define WHERE(cond, yes, no) ac_mk_select(a, cond, yes, no)

#endif
