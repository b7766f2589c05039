/* custom_ops.c - operators that a row of --custom computes (ir/ops/custom.h), such as those of torch.library. Operands
 * have the names of the arguments. */
#include "import/pt2/nodes.h"

static int make(ac_ep_node *n)
{
    const ac_custom *c = n->row->options;
    ac_attrs attrs;
    AC_TRY(ac_custom_attrs_read(&n->attrs, c, &attrs));
    ac_node *made = ac_make_node(&n->b, AC_OP_CUSTOM, n->in, n->n_in, &attrs, c->out.n);
    AC_TRY(ac_make_resolve(&n->b, made));
    for (int32_t i = 0; i < c->out.n; i++)
        AC_TRY(ac_ep_result(n, i, made->out[i]));
    return AC_OK;
}

const ac_operator *ac_ep_custom(ac_ep *r, const char *type)
{
    const ac_custom *c = ac_custom_of(r->cx, AC_CUSTOM_PT2, "", type);
    if (!c)
        return NULL;
    ac_operator *row = ac_operator_custom(r->cx, c, type, AC_ADAPTER(make));
    row->args = "";
    row->flags = AC_EP_K;
    for (int32_t i = 0; i < c->in.n; i++) {
        const ac_custom_tensor *in = &c->in.item[i];
        row->args = ac_strf(r->cx->region, "%s%s%s%s%s", row->args, i ? " " : "", in->name, in->optional ? "?" : "",
                            in->repeated ? "*" : "");
    }
    return row;
}
