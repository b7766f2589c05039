/* custom_nodes.c - nodes that a row of --custom computes (ir/ops/custom.h). */
#include "import/onnx/custom_nodes.h"

static int make(ac_onx_node *n)
{
    const ac_custom *c = n->row->options;
    ac_attrs attrs;
    AC_TRY(ac_custom_attrs_read(&n->attrs, c, &attrs));
    ac_node *made = ac_make_node(&n->b, AC_OP_CUSTOM, n->in, n->n_in, &attrs, c->out.n);
    AC_TRY(ac_make_resolve(&n->b, made));
    for (int32_t i = 0; i < c->out.n; i++)
        AC_TRY(ac_onx_result(n, i, made->out[i]));
    return AC_OK;
}

const ac_operator *ac_onx_custom(const ac_onx_node *n)
{
    const ac_custom *c = ac_custom_of(n->r->cx, AC_CUSTOM_ONNX, n->domain, n->type);
    if (!c)
        return NULL;
    ac_operator *row = ac_operator_custom(n->r->cx, c, n->type, AC_ADAPTER(make));
    row->domain = n->domain;
    return row;
}
