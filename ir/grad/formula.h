/* formula.h - formulas of adjoints (ir/make/formula.h), in functions with an adjoint `a`. For ir/grad/ only. */
#ifndef AC_IR_GRAD_FORMULA_H
#define AC_IR_GRAD_FORMULA_H
#include "ir/grad/adjoint.h"

#define MAKER (&a->b)
#include "ir/make/formula.h"

#endif
