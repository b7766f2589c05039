/* facts_constants.h - constants of a plan that take more read-only memory than in the file, for the report of it.
 *
 * Memory: the context's region. Nothing here fails. */
#ifndef AC_DRIVER_FACTS_CONSTANTS_H
#define AC_DRIVER_FACTS_CONSTANTS_H
#include "planner/graph/planned.h"
#include "planner/report/report.h"

void ac_facts_larger(ac_ctx *cx, const ac_planned *p, ac_report *to); /* sets to->larger */

#endif
