/* custom_defs.c - operators that a row of --custom computes (ir/ops/custom.h). */
#include "import/tf/nodedefs.h"
#include "ir/ops/custom.h"

/* The value of an attribute, if the node has it, as a word of `with`. */
static int put_attr(ac_tf_op *n, const ac_custom_attr *row, ac_sink *with)
{
    static const ac_attr_kind KIND[] = {AC_ATTR_INT64, AC_ATTR_FLOAT, AC_ATTR_INTS, AC_ATTR_FLOATS, AC_ATTR_TEXT};
    const ac_attr_spec spec = {.name = row->name, .type = KIND[row->type]};
    ac_attr_value v = {0};
    if (!ac_tf_attributes.find(&n->attrs, row->name, &spec, &v))
        return AC_OK;
    if (v.said)
        return AC_FAIL;
    if (v.wrong)
        return ac_error(n->r->cx, n->b.at, E0103, "attribute '%s' is %s, expected %s", row->name, v.wrong,
                        ac_custom_type_name[row->type]);
    const float f = (float)v.f;
    float *floats = AC_NEW_N(n->r->cx->region, float, v.n + 1);
    for (int64_t i = 0; v.floats && i < v.n; i++)
        floats[i] = (float)v.floats[i];
    if (row->type == AC_CUSTOM_I32)
        ac_custom_put_ints(with, row->name, &v.i, 1);
    else if (row->type == AC_CUSTOM_F32)
        ac_custom_put_floats(with, row->name, &f, 1);
    else if (row->type == AC_CUSTOM_INTS)
        ac_custom_put_ints(with, row->name, v.ints, v.ints ? v.n : 0);
    else if (row->type == AC_CUSTOM_FLOATS)
        ac_custom_put_floats(with, row->name, floats, v.floats ? v.n : 0);
    else
        ac_custom_put_text(with, row->name, v.text);
    return AC_OK;
}

static int make(ac_tf_op *n)
{
    const ac_custom *c = n->row->options;
    ac_sink with;
    ac_attrs attrs;
    ac_sink_open(&with, n->r->cx);
    for (int32_t i = 0; i < c->attr.n; i++)
        AC_TRY(put_attr(n, &c->attr.item[i], &with));
    ac_custom_attrs(c, &with, &attrs);
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
