/* custom_sizes.h - a node of a custom operator (ir/ops/custom.h) as its row describes it: the row, the values of its
 * attributes, and the sizes that names of the row have here.
 *
 *     ac_custom_sizes s;
 *     AC_TRY(ac_custom_sizes_of(cx, n, &s));          operands match the shapes and types of the row
 *     AC_TRY(ac_custom_scratch(&s, &bytes));
 *
 * Memory: the context's region. Errors: E0107 without a row, E0102 operands, E0103 attributes, E0104 shapes, E0105
 * types. */
#ifndef AC_IR_OPS_DECODE_CUSTOM_SIZES_H
#define AC_IR_OPS_DECODE_CUSTOM_SIZES_H
#include "base/text/expression.h"
#include "ir/graph/graph.h"
#include "ir/ops/custom.h"

typedef struct ac_custom_sizes {
    ac_ctx *cx;
    const ac_node *n;
    const ac_custom *c;
    const ac_custom_value *value; /* one for each row of c->attr */
    const uint8_t *options;       /* of TFLite; NULL: none */
    int32_t n_options;
    ac_pin *pin; /* sizes by name */
    bool *used;  /* of ac_pin_expression */
    int32_t n_pins;
    int64_t dots[AC_MAX_RANK]; /* of `..` */
    int32_t n_dots;            /* -1: not known */
} ac_custom_sizes;

int ac_custom_sizes_of(ac_ctx *cx, const ac_node *n, ac_custom_sizes *s);
/* `what` describes the expression in a message. */
int ac_custom_evaluate(const ac_custom_sizes *s, const char *expression, const char *what, int64_t *v);
int ac_custom_scratch(const ac_custom_sizes *s, int64_t *bytes);
/* The row of operand i; NULL: there are not as many. */
const ac_custom_tensor *ac_custom_operand(const ac_custom *c, int32_t i);

#endif
