/* formula.h - formulas in the notation of functions, for .c files whose maker (maker.h) is the macro MAKER:
 *
 *     #define MAKER (&n->b)
 *     #include "ir/make/formula.h"
 *     ... MUL(x, SUB(NUM(x, 1), x))
 *
 * At most one operand of a call may make nodes: C leaves the order of arguments open. */
#ifndef AC_IR_MAKE_FORMULA_H
#define AC_IR_MAKE_FORMULA_H
#include "ir/make/compose_math.h"

#define OP1(op, x)           ac_make_1(MAKER, AC_OP_##op, x)
#define OP2(op, x, y)        ac_make_2(MAKER, AC_OP_##op, x, y)
#define ADD(x, y)            OP2(ADD, x, y)
#define SUB(x, y)            OP2(SUB, x, y)
#define MUL(x, y)            OP2(MUL, x, y)
#define DIV(x, y)            OP2(DIV, x, y)
#define MIN(x, y)            OP2(MINIMUM, x, y)
#define MAX(x, y)            OP2(MAXIMUM, x, y)
#define EQUAL(x, y)          OP2(EQUAL, x, y)
#define LESS(x, y)           OP2(LESS, x, y)
#define GREATER(x, y)        OP2(GREATER, x, y)
#define ABS(x)               OP1(ABS, x)
#define EXP(x)               OP1(EXP, x)
#define LOG(x)               OP1(LOG, x)
#define NEG(x)               OP1(NEG, x)
#define SIGN(x)              OP1(SIGN, x)
#define SQRT(x)              OP1(SQRT, x)
#define SQUARE(x)            OP1(SQUARE, x)
#define WHERE(cond, yes, no) ac_make_select(MAKER, cond, yes, no)
#define NUM(like, v)         ac_make_number_like(MAKER, like, v) /* v: a number, of the type of `like` */
#define F32(v)               ac_make_number(MAKER, AC_F32, v)
#define I64(v)               ac_make_number(MAKER, AC_I64, (double)(v))
#define PLUS(x, v)           ac_make_add_number(MAKER, x, v)
#define TIMES(x, v)          ac_make_mul_number(MAKER, x, v)
#define MEAN(x, mask)        ac_make_reduce(MAKER, AC_OP_MEAN, x, mask, true)

#endif
