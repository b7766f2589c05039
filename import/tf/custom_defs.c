/* custom_defs.c - operators that a row of --custom computes (ir/ops/custom.h). */
#include "import/tf/nodedefs.h"

static int make(ac_tf_op *n)
{
    const ac_custom *c = n->row->options;
    ac_attrs attrs;
    AC_TRY(ac_custom_attrs_read(&n->attrs, c, &attrs));
    ac_node *made = ac_make_node(&n->b, AC_OP_CUSTOM, n->t, n->n_in, &attrs, c->out.n);
    AC_TRY(ac_make_resolve(&n->b, made));
    for (int32_t i = 0; i < c->out.n; i++)
        AC_TRY(ac_tf_result(n, i, made->out[i]));
    return AC_OK;
}

const ac_operator *ac_tf_custom(ac_ctx *cx, const char *op)
{
    const ac_custom *c = ac_custom_of(cx, AC_CUSTOM_TENSORFLOW, "", op);
    return c ? ac_operator_custom(cx, c, op, AC_ADAPTER(make)) : NULL;
}
