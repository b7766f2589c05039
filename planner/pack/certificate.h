/* certificate.h - prints a proof that no plan of a capacity exists, for a separate program to replay
 * (planner/certcheck).
 *
 * The trace of a failed search is a graph: states reached twice were searched once. It is printed as a tree; a node
 * that is needed again gets a number when it is printed first ("keep") and is referred to by it afterwards ("same").
 * docs/certificates.md has the format, and shows that each line is a proof. Cost: linear in the trace. Memory: the
 * sink's context. Cannot fail but for memory. */
#ifndef AC_PLANNER_PACK_CERTIFICATE_H
#define AC_PLANNER_PACK_CERTIFICATE_H
#include "planner/pack/solve_exact.h"

void ac_certificate_write(ac_sink *to, const ac_exact *x); /* after AC_EXACT_FAILED with x->root >= 0 */

#endif
