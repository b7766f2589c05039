/* formula.h - formulas of adjoints (ir/make/formula.h), for functions whose adjoint is called `a`. For ir/grad/ only. */
#ifndef AC_IR_GRAD_FORMULA_H
#define AC_IR_GRAD_FORMULA_H
#include "ir/grad/adjoint.h"

#define MAKER (&a->b)
#include "ir/make/formula.h"

#endif
