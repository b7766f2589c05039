/* nodes.h - the table of operators of PyTorch in C, and their adapters. Only adapters include it.
 *
 * An adapter creates the canonical nodes of one node and sets its results with ac_ep_result. Operands exist, with known
 * shapes; adapters must read every argument. */
#ifndef AC_IMPORT_PT2_NODES_H
#define AC_IMPORT_PT2_NODES_H
#include "import/pt2/pt2.h"

#define MAKER (&n->b)
#include "ir/make/formula.h"

typedef int ac_ep_fn(ac_ep_node *n);

/* Flags of rows. */
enum {
    AC_EP_V = 1, /* results are views of operand 0 */
    AC_EP_S = 2, /* .. if the result is operand 0 itself */
    AC_EP_K = 4, /* keeps 16-bit floats as they are; others compute in f32 */
    AC_EP_P = 8, /* operands get one type, as PyTorch promotes them */
    AC_EP_F = 16 /* integers become f32 */
};

#define EP(target, operands, fn, op, flags) ac_ep_fn ac_ep_do_##fn;
#define EPB(...)
#define WHY(target, why)
#include "import/pt2/nodes.def"
#undef EP
#undef EPB
#undef WHY

#endif
