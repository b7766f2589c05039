/* strategies.h - the functions that strategies.def names. For the files that define or call them. */
#ifndef AC_PLANNER_PACK_STRATEGIES_H
#define AC_PLANNER_PACK_STRATEGIES_H
#include "planner/pack/solve.h"

#define STRATEGY(name, role, fn, help) ac_solver fn;
#define PROVER(name, fn, help)         ac_prover fn;
#include "planner/pack/strategies.def"
#undef PROVER
#undef STRATEGY

#endif
