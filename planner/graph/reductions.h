/* reductions.h - the functions that reductions.def names. For the files that define or call them. */
#ifndef AC_PLANNER_GRAPH_REDUCTIONS_H
#define AC_PLANNER_GRAPH_REDUCTIONS_H
#include "planner/graph/planned.h"

#define REDUCTION(id, option, what, with, fn) ac_reduce_fn fn;
#include "planner/graph/reductions.def"
#undef REDUCTION

#endif
