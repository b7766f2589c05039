/* onnx_map.c - element-wise operators, conversions. */
#include "export/onnx_out.h"

int ac_onw_unary(ac_onw *w, const ac_node *n)
{
    ac_onw_node_to(w, ac_onw_rows[n->op].name, n->in, 1, n->out, 1);
    if (n->op == AC_OP_LEAKY_RELU)
        ac_onw_float(w, "alpha", n->attrs.alpha.alpha);
    if (n->op == AC_OP_GELU && n->attrs.gelu.approximate)
        ac_onw_string(w, "approximate", "tanh");
    return AC_OK;
}

static ac_tensor *binary(ac_onw *w, const char *type, ac_tensor *x, ac_tensor *y, const ac_tensor *like)
{
    return ac_onw_op(w, type, (ac_tensor *[]){x, y}, 2, like->dtype, like->rank, like->dim);
}

int ac_onw_binary(ac_onw *w, const ac_node *n)
{
    ac_tensor *y = n->out[0];
    const ac_act act = ac_ops[n->op].attrs == AC_ATTRS_act ? n->attrs.act.act : AC_ACT_NONE;
    if (n->op == AC_OP_PRELU && !ac_tensor_same_shape(n->in[0], y))
        return ac_onw_cannot(w, n, "slopes of more dimensions than the input");
    if (act == AC_ACT_NONE)
        ac_onw_node_to(w, ac_onw_rows[n->op].name, n->in, 2, &y, 1);
    else
        ac_onw_same(w, ac_onw_act(w, binary(w, ac_onw_rows[n->op].name, n->in[0], n->in[1], y), act), y);
    return AC_OK;
}

/* Operators that take two or three of ONNX's. */
int ac_onw_composed(ac_onw *w, const ac_node *n)
{
    ac_tensor *x = n->in[0], *y = n->out[0], *by = n->n_in > 1 ? n->in[1] : NULL, *v;
    const bool real = ac_dtype_is_float(x->dtype);
    if (n->op == AC_OP_SQUARE) {
        ac_onw_node_to(w, "Mul", (ac_tensor *[]){x, x}, 2, &y, 1);
    } else if (n->op == AC_OP_RSQRT) {
        v = ac_onw_op(w, "Sqrt", &x, 1, x->dtype, x->rank, x->dim);
        ac_onw_node_to(w, "Reciprocal", &v, 1, &y, 1);
    } else if (n->op == AC_OP_SQUARED_DIFFERENCE) {
        v = binary(w, "Sub", x, by, y);
        ac_onw_node_to(w, "Mul", (ac_tensor *[]){v, v}, 2, &y, 1);
    } else if (n->op == AC_OP_MUL_ADD) { /* the product is exact in f64 */
        ac_tensor *wide[3];
        for (int32_t i = 0; i < 3; i++)
            wide[i] = ac_onw_cast(w, n->in[i], AC_F64);
        v = ac_onw_op(w, "Mul", wide, 2, AC_F64, y->rank, y->dim);
        v = ac_onw_op(w, "Add", (ac_tensor *[]){v, wide[2]}, 2, AC_F64, y->rank, y->dim);
        ac_onw_same(w, ac_onw_cast(w, v, AC_F32), y);
    } else if (n->op == AC_OP_NOT_EQUAL) {
        v = binary(w, "Equal", x, by, y);
        ac_onw_node_to(w, "Not", &v, 1, &y, 1);
    } else if (n->op == AC_OP_FLOOR_MOD && !real) {
        ac_onw_node_to(w, "Mod", n->in, 2, &y, 1);
    } else if (n->op == AC_OP_FLOOR_DIV && real) {
        v = binary(w, "Div", x, by, y);
        ac_onw_node_to(w, "Floor", &v, 1, &y, 1);
    } else if (n->op == AC_OP_FLOOR_DIV && !ac_dtype_is_signed(x->dtype)) {
        ac_onw_node_to(w, "Div", n->in, 2, &y, 1);
    } else if (n->op == AC_OP_FLOOR_DIV) { /* without the remainder of the divisor's sign it divides evenly */
        v = binary(w, "Sub", x, binary(w, "Mod", x, by, y), y);
        ac_onw_node_to(w, "Div", (ac_tensor *[]){v, by}, 2, &y, 1);
    } else {
        return ac_onw_cannot(w, n, "of %s", ac_dtype_name(x->dtype));
    }
    return AC_OK;
}

/* x <= least ? near : far */
static void halves(ac_onw *w, ac_tensor *x, double least, ac_tensor *near, ac_tensor *far, ac_tensor *y)
{
    ac_tensor *in[] = {x, ac_onw_const(w, x->dtype, least)};
    ac_tensor *c = ac_onw_op(w, "LessOrEqual", in, 2, AC_BOOL, x->rank, x->dim);
    ac_onw_node_to(w, "Where", (ac_tensor *[]){c, near, far}, 3, &y, 1);
}

/* Functions that ONNX does not have, or only since recent operator sets, by those that it has, without cancellation. */
int ac_onw_function(ac_onw *w, const ac_node *n)
{
    ac_tensor *x = n->in[0], *y = n->out[0], *one = ac_onw_const(w, x->dtype, 1), *two = ac_onw_const(w, x->dtype, 2),
              *v;
#define UNARY(type, x)     ac_onw_op(w, type, (ac_tensor *[]){x}, 1, y->dtype, y->rank, y->dim)
#define BINARY(type, x, z) binary(w, type, x, z, y)
    if (n->op == AC_OP_SWISH) {
        ac_tensor *by = ac_onw_const(w, x->dtype, (double)n->attrs.swish.alpha);
        v = UNARY("Sigmoid", n->attrs.swish.alpha == 1 ? x : BINARY("Mul", x, by));
        ac_onw_node_to(w, "Mul", (ac_tensor *[]){x, v}, 2, &y, 1);
    } else if (n->op == AC_OP_ERFC) {
        ac_onw_node_to(w, "Sub", (ac_tensor *[]){one, UNARY("Erf", x)}, 2, &y, 1);
    } else if (n->op == AC_OP_EXPM1) { /* 2 t / (1 - t), t = tanh(x / 2) */
        v = UNARY("Tanh", BINARY("Div", x, two));
        ac_tensor *twice = BINARY("Mul", v, two);
        v = BINARY("Div", twice, BINARY("Sub", one, v));
        halves(w, x, 0.5, v, BINARY("Sub", UNARY("Exp", x), one), y);
    } else { /* LOG1P: 2 atanh(x / (x + 2)) */
        v = BINARY("Mul", UNARY("Atanh", BINARY("Div", x, BINARY("Add", x, two))), two);
        halves(w, x, 0.5, v, UNARY("Log", BINARY("Add", x, one)), y);
    }
#undef UNARY
#undef BINARY
    return AC_OK;
}

int ac_onw_clip(ac_onw *w, const ac_node *n)
{
    const double lo = n->op == AC_OP_RELU_N1_TO_1 ? -1 : 0, hi = n->op == AC_OP_RELU6 ? 6 : 1;
    const ac_dtype d = n->in[0]->dtype;
    ac_onw_node_to(w, "Clip", (ac_tensor *[]){n->in[0], ac_onw_const(w, d, lo), ac_onw_const(w, d, hi)}, 3, n->out, 1);
    return AC_OK;
}

int ac_onw_select(ac_onw *w, const ac_node *n)
{
    ac_onw_node_to(w, "Where", n->in, 3, n->out, 1);
    return AC_OK;
}

int ac_onw_to_type(ac_onw *w, const ac_node *n)
{
    ac_tensor *x = n->in[0];
    const ac_dtype to = n->out[0]->dtype;
    /* ours saturates, unless `wraps` is set; in ONNX values out of range are undefined */
    if (n->op == AC_OP_CAST && !n->attrs.cast.wraps && ac_dtype_is_float(x->dtype) && ac_dtype_is_int(to) &&
        ac_dtype_bits(to) <= 16) {
        ac_tensor *in[] = {x, ac_onw_const(w, x->dtype, (double)ac_dtype_min(to)),
                           ac_onw_const(w, x->dtype, (double)ac_dtype_max(to))};
        x = ac_onw_op(w, "Clip", in, 3, x->dtype, x->rank, x->dim);
    }
    ac_onw_same(w, ac_onw_cast(w, x, to), n->out[0]);
    return AC_OK;
}

/* QUANTIZE (also of integers: to another scale) and DEQUANTIZE. */
int ac_onw_linear(ac_onw *w, const ac_node *n)
{
    ac_tensor *x = n->in[0], *y = n->out[0];
    if (x->quant)
        x = ac_onw_dequantize(w, x);
    else if (x->dtype != AC_F32)
        x = ac_onw_cast(w, x, AC_F32);
    if (y->quant)
        ac_onw_quantize_to(w, x, y);
    else
        ac_onw_same(w, ac_onw_cast(w, x, y->dtype), y);
    return AC_OK;
}
