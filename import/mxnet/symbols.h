/* symbols.h - the table of MXNet operators in C, and its adapters. Only adapters include it.
 *
 * An adapter creates the canonical nodes of one node and sets its results with ac_mx_result. Operands that are not
 * parameters exist, with known shapes; adapters request parameters with their required shape (ac_mx_param), and must
 * read every attribute. */
#ifndef AC_IMPORT_MXNET_SYMBOLS_H
#define AC_IMPORT_MXNET_SYMBOLS_H
#include "import/mxnet/mxnet.h"

typedef int ac_mx_fn(ac_mx_node *n);

#define MX(type, imin, imax, args, fn, op) ac_mx_fn ac_mx_do_##fn;
#define MXB(...)
#define WHY(type, why)
#include "import/mxnet/symbols.def"
#undef MX
#undef MXB
#undef WHY

/* index_symbols.c: attribute shape; an open first dimension is that of the net's first input. */
int ac_mx_full_shape(ac_mx_node *n, int64_t dim[AC_MAX_RANK], int32_t *rank);

#endif
