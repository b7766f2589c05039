/* nodes.h - the table of ONNX operators as C sees it, and the adapters it names. Included by the adapters only.
 *
 * An adapter makes the canonical nodes of one ONNX node and binds its results:
 *
 *     int ac_onx_do_elu(ac_onx_node *n)
 *     {
 *         return ac_onx_result(n, 0, ac_make_elu(&n->b, n->in[0], ac_attr_float(&n->attrs, A_alpha)));
 *     }
 *
 * Before it is called the number of operands and results has been checked against the row, required operands are there,
 * and operands of 16-bit floats are widened to f32 if it has ONX_HALF. The adapter must read every attribute of the
 * node: one that it does not read is refused, since it may change the meaning. */
#ifndef AC_IMPORT_ONNX_PROTO_NODES_H
#define AC_IMPORT_ONNX_PROTO_NODES_H
#include "import/onnx/proto/onnx.h"

typedef int ac_onx_fn(ac_onx_node *n);

enum {
    ONX_HALF = 1,      /* computes: f16 and bf16 operands as f32, results back */
    ONX_CODES = 2,     /* moves or converts: takes elements below a byte and floats of 8 bits as well */
    ONX_SEQUENCES = 4, /* an operand may be a sequence of tensors */
    ONX_TEXT = 8,      /* operand 0 may hold texts, and then the results do */
    ONX_TEXTS = 16,    /* the same of all operands but conditions (bool): all of them or none */
    ONX_READS = 32     /* operands may hold texts; the adapter compares or looks up their codes */
};

#define ONX(type, domain, since, until, imin, imax, omax, fn, op, flags) ac_onx_fn ac_onx_do_##fn;
#define ONXB(...)
#define WHY(type, domain, why)
#include "import/onnx/nodes.def"
#undef ONX
#undef ONXB
#undef WHY

#endif
