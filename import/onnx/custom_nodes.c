/* custom_nodes.c - nodes that a row of --custom computes (ir/ops/custom.h). */
#include "import/onnx/custom_nodes.h"

/* The value of an attribute, if the node has it, as a word of `with`. */
static int put_attr(ac_onx_node *n, const ac_custom_attr *row, ac_sink *with)
{
    static const ac_attr_kind KIND[] = {AC_ATTR_INT, AC_ATTR_FLOAT, AC_ATTR_INTS, AC_ATTR_FLOATS, AC_ATTR_TEXT};
    ac_pb *pb = &n->r->pb;
    const char *text;
    int64_t count;
    if (!ac_attr_is(&n->attrs, row->name, KIND[row->type]))
        return n->b.bad ? AC_FAIL : AC_OK;
    const ac_onx_attr *a = ac_onx_attr_of(n, row->name);
    switch (row->type) {
    case AC_CUSTOM_I32:
        ac_custom_put_ints(with, row->name, &a->i, 1);
        break;
    case AC_CUSTOM_F32:
        ac_custom_put_floats(with, row->name, &a->f, 1);
        break;
    case AC_CUSTOM_INTS: {
        const int64_t *v = ac_pb_ints(pb, a->ints, &count);
        ac_custom_put_ints(with, row->name, v, v ? count : 0);
        break;
    }
    case AC_CUSTOM_FLOATS: {
        const float *v = ac_onx_floats(n, row->name, &count);
        ac_custom_put_floats(with, row->name, v, v ? count : 0);
        break;
    }
    case AC_CUSTOM_TEXT:
        if ((text = ac_pb_name(pb, a->s)))
            ac_custom_put_text(with, row->name, text);
        break;
    case AC_CUSTOM_N_TYPES:
        break;
    }
    return pb->failed ? AC_FAIL : AC_OK;
}

static int make(ac_onx_node *n)
{
    const ac_custom *c = n->row->options;
    ac_sink with;
    ac_attrs attrs;
    ac_sink_open(&with, n->r->cx);
    for (int32_t i = 0; i < c->attr.n; i++)
        AC_TRY(put_attr(n, &c->attr.item[i], &with));
    ac_custom_attrs(c, &with, &attrs);
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
