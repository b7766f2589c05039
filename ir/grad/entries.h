/* entries.h - the functions that ops.def names in its column `gradient`. For the files that define or call them. */
#ifndef AC_IR_GRAD_ENTRIES_H
#define AC_IR_GRAD_ENTRIES_H
#include "ir/grad/adjoint.h"

#define GRAD(f) ac_grad_fn f;
#define NOGRAD(w)
#define OP(gradient) gradient
#include "ir/ops/ops_gradient.def"
#undef OP
#undef NOGRAD
#undef GRAD

#endif
