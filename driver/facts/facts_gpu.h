/* facts_gpu.h - the launches of a plan for a GPU, for the report of it.
 *
 * Memory: the context's region. Nothing here fails. */
#ifndef AC_DRIVER_FACTS_GPU_H
#define AC_DRIVER_FACTS_GPU_H
#include "planner/graph/planned.h"
#include "planner/report/report.h"

void ac_facts_launches(ac_ctx *cx, const ac_target *t, const ac_planned *p, ac_report *to);

#endif
