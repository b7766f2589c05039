/* compose.c - operators of TFLite that are several of ours. */
#include "import/build/compose_math.h"
#include "import/tflite/rules.h"

ac_build ac_tfl_build(ac_tfl *r, ac_tfl_node *n)
{
    return (ac_build){.cx = r->cx,
                      .g = n->g,
                      .name = n->out[0]->name,
                      .base = n->out[0]->name,
                      .at = n->at,
                      .reading = r->reading,
                      .unsized = true};
}

int ac_tfl_result(ac_tfl_node *n, int32_t k, ac_tensor *y)
{
    if (!y)
        return AC_FAIL;
    ac_node *m = y->def;
    for (int32_t i = 0; i < m->n_out; i++)
        if (m->out[i] == y)
            m->out[i] = n->out[k];
    if (!k)
        m->id = n->id;
    n->out[k]->def = m;
    y->def = NULL; /* y is left over; it has a type, as tensors without a maker must */
    y->dtype = n->out[k]->dtype;
    return AC_OK;
}

/* a + b + c .., in that order: f32 is rounded as the reference does. */
int ac_tfl_rule_add_n(ac_tfl *r, ac_tfl_node *n)
{
    const ac_build b = ac_tfl_build(r, n);
    ac_tensor *y = n->in[0];
    for (int32_t i = 1; i < n->n_in; i++)
        y = ac_build_2(&b, AC_OP_ADD, y, n->in[i]);
    return ac_tfl_result(n, 0, y);
}

int ac_tfl_rule_atan2(ac_tfl *r, ac_tfl_node *n)
{
    const ac_build b = ac_tfl_build(r, n);
    if (n->in[0]->dtype != AC_F32)
        return ac_build_cannot(&b, "its operands are %s; supported is f32", ac_dtype_name(n->in[0]->dtype));
    return ac_tfl_result(n, 0, ac_build_atan2(&b, n->in[0], n->in[1]));
}

/* Constants are dense as soon as they have been read (sparse.c). */
int ac_tfl_rule_densify(ac_tfl *r, ac_tfl_node *n)
{
    const ac_build b = ac_tfl_build(r, n);
    ac_tensor *x = n->in[0];
    if (!ac_tensor_is_const(x))
        return ac_build_cannot(&b, "its operand is not a constant");
    return ac_tfl_result(n, 0, ac_build_reshape(&b, x, x->rank, x->dim));
}
