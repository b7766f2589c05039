/* onnx_codes.c - QuantizeLinear and DequantizeLinear in plain arithmetic, as the importer of ONNX reads them:
 *
 *     cast(round(x / step) + zero)             -> QuantizeLinear(x, step, zero)
 *     (cast(codes) - zero) * step              -> DequantizeLinear(codes, step, zero)
 *
 * step and zero are constants: a number, or one for each index of one dimension. The other nodes of the chain are
 * written as well; the file leaves out those that nothing else needs. */
#include "export/onnx_out.h"

#include <math.h>

static const ac_node *made_by(const ac_tensor *t, ac_op op)
{
    return t && t->def && t->def->op == op && !t->def->n_fused ? t->def : NULL;
}

static bool plain(const ac_node *n)
{
    return ac_ops[n->op].attrs != AC_ATTRS_act || n->attrs.act.act == AC_ACT_NONE;
}

/* The numbers of a constant along one dimension of a tensor of this rank; *axis -1: it is one number. */
static const float *numbers(ac_onw *w, ac_tensor *c, const ac_tensor *x, int32_t *axis)
{
    *axis = -1;
    if (!c || !ac_tensor_is_const(c) || c->dtype != AC_F32 || c->rank > x->rank)
        return NULL;
    for (int32_t d = 0; d < c->rank; d++) {
        if (c->dim[d] == 1)
            continue;
        if (*axis >= 0 || c->dim[d] != x->dim[d + x->rank - c->rank])
            return NULL;
        *axis = d + x->rank - c->rank;
    }
    return ac_tensor_force(w->cx, c);
}

/* Scales and zero points of codes; NULL: they are not such. zero NULL: 0 */
static const ac_quant *quant_of(ac_onw *w, const ac_tensor *x, ac_dtype codes, ac_tensor *step, ac_tensor *zero)
{
    int32_t axis, z_axis = -1;
    const float *s = numbers(w, step, x, &axis), *z = zero ? numbers(w, zero, x, &z_axis) : NULL;
    if (!s || (zero && !z) || (z_axis >= 0 && z_axis != axis))
        return NULL;
    const int32_t n = axis >= 0 ? (int32_t)x->dim[axis] : 1;
    ac_quant *q = AC_NEW(w->cx->region, ac_quant);
    float *scale = AC_NEW_N(w->cx->region, float, n);
    int32_t *point = AC_NEW_N(w->cx->region, int32_t, n);
    for (int32_t i = 0; i < n; i++) {
        const double v = z ? (double)z[z_axis >= 0 ? i : 0] : 0;
        scale[i] = s[i];
        if (!(s[i] > 0) || v != floor(v) || v < (double)ac_dtype_min(codes) || v > (double)ac_dtype_max(codes))
            return NULL;
        point[i] = (int32_t)v;
    }
    *q = (ac_quant){.axis = axis >= 0 ? axis : 0, .n = n, .scale = scale, .zero = point};
    return q;
}

/* t with this quantisation, which only its readers here see. */
static ac_tensor *with(ac_onw *w, const ac_tensor *t, const ac_quant *q)
{
    ac_tensor *own = ac_copy(w->cx->region, t, sizeof *t);
    own->quant = q;
    return own;
}

/* q of a tensor whose dimension d is dimension perm[d] of another one: that of the other. */
static const ac_quant *turned(ac_onw *w, const ac_quant *q, const int32_t *perm)
{
    ac_quant *own = ac_copy(w->cx->region, q, sizeof *q);
    if (q->n > 1)
        own->axis = perm[q->axis];
    return own;
}

/* y = the node of x whose codes, y or x, have quantisation q: a quantize of floats, a dequantize of others. */
static void write_plain(ac_onw *w, ac_tensor *x, ac_tensor *y, const ac_quant *q)
{
    if (x->dtype == AC_F32)
        ac_onw_quantize_to(w, x, with(w, y, q));
    else
        ac_onw_dequantize_to(w, with(w, x, q), y);
}

/* The same, in front of the transpose that makes x. */
static void write(ac_onw *w, ac_tensor *x, ac_tensor *y, const ac_quant *q)
{
    int32_t perm[AC_MAX_RANK];
    int64_t dim[AC_MAX_RANK];
    ac_tensor *of;
    if (!ac_onw_turned(w, x, &of, perm)) {
        write_plain(w, x, y, q);
        return;
    }
    for (int32_t d = 0; d < y->rank; d++)
        dim[perm[d]] = y->dim[d];
    ac_tensor *early = ac_onw_value(w, y, y->dtype, y->rank, dim);
    write_plain(w, of, early, turned(w, q, perm));
    ac_onw_transpose_to(w, early, perm, y);
}

/* Constants stay as they are: they are transposed later, as codes. */
static void write_constant(ac_onw *w, ac_tensor *codes, ac_tensor *y, const ac_quant *q)
{
    ac_tensor *own =
        ac_tensor_const(w->g, codes->name, codes->dtype, codes->rank, codes->dim, ac_tensor_force(w->cx, codes));
    own->quant = q;
    ac_onw_dequantize_to(w, own, y);
}

static bool is_code(ac_dtype d)
{
    return ac_dtype_is_int(d) && ac_dtype_bits(d) <= 16 && d != AC_I2 && d != AC_U2;
}

static bool quantize(ac_onw *w, const ac_node *n)
{
    ac_tensor *y = n->out[0];
    const ac_node *add = made_by(n->in[0], AC_OP_ADD), *round = made_by(add ? add->in[0] : n->in[0], AC_OP_ROUND),
                  *div = round ? made_by(round->in[0], AC_OP_DIV) : NULL;
    if (!div || !is_code(y->dtype) || !n->attrs.cast.clamp || n->attrs.cast.wraps || !plain(div) ||
        (add && !plain(add)) || div->in[0]->dtype != AC_F32 || !ac_tensor_same_shape(div->in[0], y))
        return false;
    const ac_quant *q = quant_of(w, y, y->dtype, div->in[1], add ? add->in[1] : NULL);
    if (!q)
        return false;
    write(w, div->in[0], y, q);
    return true;
}

static bool dequantize(ac_onw *w, const ac_node *n)
{
    ac_tensor *y = n->out[0];
    const ac_node *sub = made_by(n->in[0], AC_OP_SUB), *cast = made_by(sub ? sub->in[0] : n->in[0], AC_OP_CAST);
    if (!cast || !plain(n) || (sub && !plain(sub)) || y->dtype != AC_F32 || cast->out[0]->dtype != AC_F32 ||
        !(is_code(cast->in[0]->dtype) || cast->in[0]->dtype == AC_I32) || cast->in[0]->quant ||
        !ac_tensor_same_shape(cast->in[0], y))
        return false;
    const ac_quant *q = quant_of(w, y, cast->in[0]->dtype, n->in[1], sub ? sub->in[1] : NULL);
    if (!q)
        return false;
    (ac_tensor_is_const(cast->in[0]) ? write_constant : write)(w, cast->in[0], y, q);
    return true;
}

bool ac_onw_codes(ac_onw *w, const ac_node *n)
{
    return n->op == AC_OP_CAST ? quantize(w, n) : n->op == AC_OP_MUL && dequantize(w, n);
}
