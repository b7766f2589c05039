/* node_build.c - operands of ONNX nodes, and results. */
#include "import/onnx/proto/onnx.h"

ac_tensor *ac_onx_in(const ac_onx_node *n, int32_t i)
{
    return i < n->n_in ? n->in[i] : NULL;
}

int ac_onx_need(const ac_onx_node *n, int32_t i)
{
    return ac_onx_in(n, i) ? AC_OK : ac_error(n->r->cx, n->at, E0102, "operand %d is missing", i);
}

int ac_onx_result(ac_onx_node *n, int32_t i, ac_tensor *t)
{
    t = ac_operand_narrow(&n->b, t, n->half);
    if (!t)
        return AC_FAIL;
    if (i >= n->n_out || !n->out[i])
        return AC_OK;
    ac_onx_value *v = n->out[i];
    const bool here = ac_graph_has(n->b.g, t); /* of no graph outside */
    if (here && t->id >= n->first && !t->input)
        t->name = v->name;
    v->t = t;
    v->broken = false;
    return AC_OK;
}
