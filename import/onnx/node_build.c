/* Operands of ONNX nodes, their values, and results. */
#include "import/onnx/onnx.h"

enum { WORK_KNOWN = 32 };

ac_tensor *ac_onx_in(const ac_onx_node *n, int32_t i)
{
    return i < n->n_in ? n->in[i] : NULL;
}

/* Values of operands. */

int ac_onx_late(ac_onx_node *n, int32_t i)
{
    ac_onx *r = n->r;
    r->reading->late = true;
    return ac_refuse(
        r->cx, &r->reading->refused, n->at, E0203, n->type,
        ac_strf(r->cx->region, "operand '%s' is computed at run time, but a static plan needs its value",
                n->in[i]->name),
        "make it a constant of the model, or give what it depends on: --const NAME=FILE.npy, with run --input");
}

bool ac_onx_known(ac_onx_node *n, int32_t i)
{
    if (ac_tensor_is_const(n->in[i]))
        return true;
    ac_tensor *t =
        n->r->reading->again && ac_pb_spend(&n->r->pb, WORK_KNOWN) ? ac_build_specialise(&n->b, n->in[i]) : NULL;
    if (!t)
        return false;
    ac_note(n->r->cx, n->at, W0001, "specialised on the given value of '%s'", n->in[i]->name);
    n->in[i] = t;
    return true;
}

int ac_onx_values(ac_onx_node *n, int32_t operand, ac_ints *out)
{
    if (!ac_onx_known(n, operand))
        return ac_onx_late(n, operand);
    return ac_build_values(&n->b, n->in[operand], out);
}

int ac_onx_scalar(ac_onx_node *n, int32_t i, double *v)
{
    if (!ac_onx_known(n, i))
        return ac_onx_late(n, i);
    ac_tensor *t = n->in[i];
    if (ac_tensor_count(t) != 1)
        return ac_error(n->r->cx, n->at, E0104, "operand '%s' is %s, expected one element", t->name,
                        ac_shape_str(n->r->cx, t));
    const void *data = ac_tensor_force(n->r->cx, t);
    if (!data)
        return AC_FAIL;
    *v = ac_dtype_get_num(t->dtype, data, 0);
    return AC_OK;
}

int ac_onx_result(ac_onx_node *n, int32_t i, ac_tensor *t)
{
    if (!t)
        return AC_FAIL;
    if (n->half != AC_NONE && t->dtype == AC_F32)
        t = ac_onx_cast(n, t, n->half);
    if (!t)
        return AC_FAIL;
    if (i >= n->n_out || !n->out[i])
        return AC_OK;
    ac_onx_value *v = n->out[i];
    if (t->id >= n->first && !t->input)
        t->name = v->name;
    v->t = t;
    v->broken = false;
    return AC_OK;
}
