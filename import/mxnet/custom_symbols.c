/* custom_symbols.c - operators that a row of --custom computes (ir/ops/custom.h), by their own name, or by the op_type
 * of an operator Custom, which MXNet computes in Python. */
#include "import/mxnet/mxnet.h"

#include <string.h>

static int make(ac_mx_node *n)
{
    const ac_custom *c = n->row->options;
    ac_attrs attrs;
    AC_TRY(ac_custom_attrs_read(&n->attrs, c, &attrs));
    ac_node *made = ac_make_node(&n->b, AC_OP_CUSTOM, n->in, n->n_in, &attrs, c->out.n);
    AC_TRY(ac_make_resolve(&n->b, made));
    n->n_out = c->out.n;
    n->out = AC_NEW_N(n->r->cx->region, ac_tensor *, n->n_out);
    for (int32_t i = 0; i < n->n_out; i++)
        AC_TRY(ac_mx_result(n, i, made->out[i]));
    return AC_OK;
}

const ac_operator *ac_mx_custom(ac_mx_node *n)
{
    const char *type = strcmp(n->type, "Custom") ? n->type : ac_mx_attr(n, "op_type");
    const ac_custom *c = type ? ac_custom_of(n->r->cx, AC_CUSTOM_MXNET, "", type) : NULL;
    if (!c)
        return NULL;
    ac_operator *row = ac_operator_custom(n->r->cx, c, type, AC_ADAPTER(make));
    row->args = ""; /* every operand is a value */
    return row;
}
