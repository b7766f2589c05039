/* certificate.h - why no plan of a capacity exists, as text that a separate program replays (planner/certcheck).
 *
 * The trace of a failed search is a graph: states reached twice were searched once. It is printed as a tree; what is
 * needed again gets a number where it is printed first ("keep") and is named by it after that ("same"). The format and
 * why each line is a proof: docs/certificates.md. Cost: linear in the trace. Memory: the sink's context. Cannot fail
 * but for memory. */
#ifndef AC_PLANNER_PACK_CERTIFICATE_H
#define AC_PLANNER_PACK_CERTIFICATE_H
#include "planner/pack/solve_exact.h"

void ac_certificate_write(ac_sink *to, const ac_exact *x); /* after AC_EXACT_FAILED with x->root >= 0 */

#endif
