/* rules.c - expands the columns of ops.def for shapes: the shape rule, and the number of multiply-adds. */
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/entries.h"

static const struct {
    ac_shape_fn *shape;
    ac_macs_fn *macs;
} RULES[AC_OP_COUNT] = {
#define OP(id, text, tfl, imin, imax, outs, attrs, shape, macs, ...) [AC_OP_##id] = {shape, ac_macs_of_##macs},
#include "ir/ops/ops.def"
#undef OP
};

int ac_op_shape(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    return RULES[n->op].shape(cx, g, n);
}

int64_t ac_op_macs(const ac_node *n)
{
    return RULES[n->op].macs(n);
}
