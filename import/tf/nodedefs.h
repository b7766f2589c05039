/* nodedefs.h - the table of TensorFlow operators as C sees it, and the adapters it names. Included by the adapters
 * only.
 *
 * An adapter makes the canonical nodes of one TensorFlow node and binds its results:
 *
 *     int ac_tf_do_leaky_relu(ac_tf_op *n)
 *     {
 *         ac_attrs a;
 *         ac_attrs_init(AC_OP_LEAKY_RELU, &a);
 *         a.alpha.alpha = (float)ac_attr_float(&n->attrs, A_alpha);
 *         return ac_tf_result(n, 0, ac_make_op(&n->b, AC_OP_LEAKY_RELU, n->t, 1, &a, AC_NONE));
 *     }
 *
 * Before it is called the number of inputs has been checked against the row, all inputs are tensors (unless the row
 * has TF_ANY), and 16-bit floats are widened to f32 if it has TF_HALF. The adapter must read every attribute of the
 * node: one that it does not read is refused, since it may change the meaning. */
#ifndef AC_IMPORT_TF_NODEDEFS_H
#define AC_IMPORT_TF_NODEDEFS_H
#include "import/tf/tf.h"

typedef int ac_tf_fn(ac_tf_op *n);

enum {
    TF_HALF = 1, /* computes: f16 and bf16 operands as f32, results back */
    TF_ANY = 2,  /* also takes lists and variables */
    TF_RUNS = 4  /* runs functions of the library */
};

#define TFO(op, imin, imax, fn, ours, flags, results) ac_tf_fn ac_tf_do_##fn;
#define TFOB(...)
#define WHY(type, why)
#include "import/tf/nodedefs.def"
#undef TFO
#undef TFOB
#undef WHY

int ac_tf_axis(ac_tf_op *n, int32_t i, int32_t rank, int32_t *axis); /* move_defs.c: operand i, a number, as an axis */

#endif
