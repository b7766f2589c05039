/* math_nodes.c - element-wise operators of ONNX. Most are an operator of ours; the others become a few nodes,
 * which the passes fuse. */
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"
#include "import/onnx/proto/texts.h"
#include "ir/make/compose_random.h"

#include <math.h>
#include <string.h>

/* Before opset 7 the second operand is placed by attributes:  x [N,C,H,W], y [C], axis=1  ->  y [C,1,1]. */
static int place_operand(ac_onx_node *n)
{
    const ac_tensor *x = n->in[0];
    ac_tensor *y = n->in[1];
    const bool broadcast = ac_attr_bool(&n->attrs, A_broadcast);
    const bool placed = ac_attr_has(&n->attrs, A_axis);
    int32_t axis;
    int64_t dim[AC_MAX_RANK];
    if (n->version >= 7 || !broadcast || !placed)
        return AC_OK;
    AC_TRY(ac_attr_axis(&n->attrs, A_axis, x->rank, &axis));
    if (axis + y->rank > x->rank)
        return ac_error(n->r->cx, n->at, E0103, "operand '%s' at axis %d does not fit into '%s'", y->name, axis,
                        x->name);
    for (int32_t d = 0; d < x->rank - axis; d++)
        dim[d] = d < y->rank ? y->dim[d] : 1;
    n->in[1] = ac_make_reshape(&n->b, y, x->rank - axis, dim);
    return n->in[1] ? AC_OK : AC_FAIL;
}

int ac_onx_do_binary(ac_onx_node *n)
{
    AC_TRY(place_operand(n));
    const bool ordered = n->row->op == AC_OP_EQUAL;
    if (ordered && n->in[0]->dtype == AC_BOOL && n->in[1]->dtype == AC_BOOL) /* bytes 0 and 1 */
        for (int32_t i = 0; i < 2; i++)
            n->in[i] = ac_make_cast(&n->b, n->in[i], AC_U8);
    return ac_onx_result(n, 0, ac_make_2(&n->b, n->row->op, n->in[0], n->in[1]));
}

/* Two texts that the model does not know have one code. */
int ac_onx_do_equal(ac_onx_node *n)
{
    const ac_vocabulary *a = n->in[0]->words, *b = n->in[1]->words;
    if (!a != !b)
        return ac_bad(&n->b, "it compares '%s', %s, with '%s', %s", n->in[0]->name, ac_tensor_str(n->r->cx, n->in[0]),
                      n->in[1]->name, ac_tensor_str(n->r->cx, n->in[1]));
    if (a && a->other && b->other)
        return ac_refuse(n->r->reading, n->at, E0108, n->type, "both operands are texts that the model may not know",
                         "compare them in the application, and make the result an input");
    return ac_onx_do_binary(n);
}

int ac_onx_do_xor(ac_onx_node *n)
{
    AC_TRY(place_operand(n));
    if (n->in[0]->dtype != AC_BOOL || n->in[1]->dtype != AC_BOOL)
        return ac_error(n->r->cx, n->at, E0105, "operands of Xor must be bool");
    ac_tensor *y = ac_make_cast(&n->b, n->in[1], AC_U8);
    return ac_onx_result(n, 0, OP2(NOT_EQUAL, ac_make_cast(&n->b, n->in[0], AC_U8), y));
}

int ac_onx_do_variadic(ac_onx_node *n)
{
    const bool mean = n->row->op == AC_OP_MEAN;
    ac_tensor *x = n->in[0];
    for (int32_t i = 1; i < n->n_in; i++) {
        AC_TRY(ac_onx_need(n, i));
        x = ac_make_2(&n->b, mean ? AC_OP_ADD : n->row->op, x, n->in[i]);
    }
    if (mean && n->n_in > 1)
        x = DIV(x, NUM(x, n->n_in));
    return ac_onx_result(n, 0, x);
}

/* Which elements of x stay in training: those of the same numbers that are not 0 where all of x is 1. */
static ac_tensor *mask_of(ac_onx_node *n, const ac_tensor *x, const ac_tensor *y, double ratio)
{
    ac_tensor *ones = ac_make_broadcast(&n->b, NUM(x, 1), x->rank, x->dim);
    ac_tensor *left = ac_make_dropout(&n->b, ones, ratio);
    if (!y || !y->def || !left || !left->def)
        return NULL;
    left->def->attrs.dropout = y->def->attrs.dropout;
    return OP2(NOT_EQUAL, left, NUM(x, 0));
}

/* At inference every element is kept, and the mask, if used, is all true. In training some are dropped, whatever mode
 * the file declares, just as normalisations take the statistics of the batch. */
int ac_onx_do_dropout(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    double ratio = ac_attr_float(&n->attrs, A_ratio);
    (void)ac_attr_int(&n->attrs, A_seed);
    bool training = false;
    if (n->version < 7)
        (void)ac_attr_int(&n->attrs, A_is_test); /* exporters leave the default 0 in models for inference as well */
    if (ac_onx_in(n, 2)) {
        double mode;
        AC_TRY(ac_operand_scalar(&n->b, &n->in[2], &mode));
        training = mode != 0;
    }
    if (n->version >= 12) {
        ratio = 0.5;
        if (ac_onx_in(n, 1))
            AC_TRY(ac_operand_scalar(&n->b, &n->in[1], &ratio));
    }
    if (n->r->reading->opt.train && ratio > 0) {
        ac_tensor *y = ac_make_dropout(&n->b, x, ratio);
        if (n->n_out > 1)
            AC_TRY(ac_onx_result(n, 1, mask_of(n, x, y, ratio)));
        return ac_onx_result(n, 0, y);
    }
    if (training && ratio != 0)
        return ac_refuse(n->r->reading, n->at, E0108, n->type, "training_mode is true: it draws random numbers",
                         "export the model after model.eval(); arenac train takes it as it is");
    if (n->n_out > 1) {
        ac_tensor *one = ac_make_number(&n->b, AC_BOOL, 1);
        AC_TRY(ac_onx_result(n, 1, ac_make_broadcast(&n->b, one, x->rank, x->dim)));
    }
    return ac_onx_result(n, 0, x);
}

/* Casts. */

static int cast_to(ac_onx_node *n, ac_dtype to)
{
    ac_tensor *x = n->in[0];
    ac_attrs a;
    ac_attrs_init(AC_OP_CAST, &a);
    a.cast.to = to;
    a.cast.wraps = ac_attr_int(&n->attrs, A_saturate) == 0;
    a.cast.round = ac_attr_word(&n->attrs, A_round_mode);
    return ac_onx_result(n, 0, x->dtype == to ? x : ac_make_op(&n->b, AC_OP_CAST, &x, 1, &a, to));
}

int ac_onx_do_cast(ac_onx_node *n)
{
    enum { STRING = 8 };
    const ac_onx_attr *a = ac_onx_attr_of(n, "to");
    int64_t number = a ? a->i : 0;
    if (a && a->s.n && !number) { /* opset 1 spells the type */
        static const char *const NAME[] = {"",      "FLOAT",  "UINT8", "INT8",    "UINT16", "INT16",  "INT32",
                                           "INT64", "STRING", "BOOL",  "FLOAT16", "DOUBLE", "UINT32", "UINT64"};
        const char *s = ac_attr_text(&n->attrs, A_to);
        for (size_t i = 1; i < sizeof NAME / sizeof *NAME; i++)
            number = !strcmp(s, NAME[i]) ? (int64_t)i : number;
    }
    const ac_dtype to = ac_onx_dtype(number);
    if (number == STRING || n->in[0]->words)
        return ac_onx_cast_text(n, number == STRING);
    if (to == AC_NONE)
        return ac_cannot(&n->b, "it casts to elements of type %s", ac_onx_dtype_name(n->r->cx, number));
    return cast_to(n, to);
}

int ac_onx_do_cast_like(ac_onx_node *n)
{
    return cast_to(n, n->in[1]->dtype);
}

int ac_onx_do_bit_cast(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    const int64_t number = ac_attr_int(&n->attrs, A_to_type);
    ac_attrs a;
    ac_attrs_init(AC_OP_BITCAST, &a);
    a.cast.to = ac_onx_dtype(number);
    if (a.cast.to == AC_NONE)
        return ac_cannot(&n->b, "it casts to elements of type %s", ac_onx_dtype_name(n->r->cx, number));
    if (ac_dtype_file_bits(x->dtype) != ac_dtype_file_bits(a.cast.to))
        return ac_error(n->r->cx, n->at, E0105, "'%s' is %s, which does not have as many bits as %s", x->name,
                        ac_dtype_name(x->dtype), ac_dtype_name(a.cast.to));
    return ac_onx_result(n, 0, ac_make_op(&n->b, AC_OP_BITCAST, &x, 1, &a, a.cast.to));
}

/* Arithmetic. */

/* The exponent may be of another type; the result has the type of the base. */
int ac_onx_do_pow(ac_onx_node *n)
{
    AC_TRY(place_operand(n));
    ac_tensor *x = n->in[0], *y = n->in[1];
    if (x->dtype == y->dtype)
        return ac_onx_result(n, 0, OP2(POW, x, y));
    if (ac_dtype_is_int(x->dtype) && ac_dtype_is_float(y->dtype)) {
        y = ac_make_cast(&n->b, y, AC_F32);
        y = OP2(POW, ac_make_cast(&n->b, x, AC_F32), y);
        return ac_onx_result(n, 0, ac_make_cast(&n->b, y, x->dtype));
    }
    return ac_onx_result(n, 0, OP2(POW, x, ac_make_cast(&n->b, y, x->dtype)));
}

/* fmod=0: the sign of the divisor. fmod=1: that of the dividend:  x - trunc(x / y) * y. */
int ac_onx_do_mod(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *y = n->in[1];
    const bool fmod_ = ac_attr_bool(&n->attrs, A_fmod);
    if (!fmod_)
        return ac_onx_result(n, 0, OP2(FLOOR_MOD, x, y));
    return ac_onx_result(n, 0, ac_make_fmod(&n->b, x, y));
}

/* Bounds are attributes up to opset 10, then optional operands. */
int ac_onx_do_clip(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *lo = ac_onx_in(n, 1), *hi = ac_onx_in(n, 2);
    if (n->version < 11) {
        if (ac_attr_has(&n->attrs, A_min))
            lo = NUM(x, ac_attr_float(&n->attrs, A_min));
        if (ac_attr_has(&n->attrs, A_max))
            hi = NUM(x, ac_attr_float(&n->attrs, A_max));
    }
    x = lo ? MAX(x, ac_make_reshape(&n->b, lo, 0, NULL)) : x;
    x = hi ? MIN(x, ac_make_reshape(&n->b, hi, 0, NULL)) : x;
    return ac_onx_result(n, 0, x);
}

/* Activations. */

int ac_onx_do_leaky_relu(ac_onx_node *n)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_LEAKY_RELU, &a);
    a.alpha.alpha = (float)ac_attr_float(&n->attrs, A_leaky_relu_alpha);
    return ac_onx_result(n, 0, ac_make_op(&n->b, AC_OP_LEAKY_RELU, n->in, 1, &a, AC_NONE));
}

/* The slope broadcasts one way. Opsets below 7 give one number for each channel. */
int ac_onx_do_prelu(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *slope = n->in[1];
    if (slope->rank == 1 && x->rank > 2 && slope->dim[0] == x->dim[1] &&
        (n->version < 7 || slope->dim[0] != x->dim[x->rank - 1])) {
        int64_t dim[AC_MAX_RANK] = {slope->dim[0], 1, 1, 1, 1, 1, 1, 1};
        slope = ac_make_reshape(&n->b, slope, x->rank - 1, dim);
    }
    if (x->dtype == AC_F32)
        return ac_onx_result(n, 0, OP2(PRELU, x, slope));
    ac_tensor *low = MUL(slope, MIN(x, NUM(x, 0)));
    return ac_onx_result(n, 0, ADD(MAX(x, NUM(x, 0)), low));
}

int ac_onx_do_elu(ac_onx_node *n)
{
    return ac_onx_result(n, 0, ac_make_elu(&n->b, n->in[0], ac_attr_float(&n->attrs, A_alpha)));
}

int ac_onx_do_selu(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    const bool old = n->version < 6;
    const double alpha = ac_attr_float_or(&n->attrs, A_alpha, (double)(old ? 1.6732f : 1.67326319217681884765625f));
    const double gamma = ac_attr_float_or(&n->attrs, A_gamma, (double)(old ? 1.0507f : 1.05070102214813232421875f));
    ac_tensor *elu = ac_make_elu(&n->b, x, alpha);
    return ac_onx_result(n, 0, MUL(NUM(x, gamma), elu));
}

/* max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) */
int ac_onx_do_celu(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    const double alpha = ac_attr_float(&n->attrs, A_alpha);
    ac_tensor *by = NUM(x, alpha), *low = OP1(ELU, DIV(MIN(x, NUM(x, 0)), by));
    low = MUL(NUM(x, alpha), low);
    return ac_onx_result(n, 0, ADD(MAX(x, NUM(x, 0)), low));
}

int ac_onx_do_gelu(ac_onx_node *n)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_GELU, &a);
    a.gelu.approximate = ac_attr_word(&n->attrs, A_approximate);
    return ac_onx_result(n, 0, ac_make_op(&n->b, AC_OP_GELU, n->in, 1, &a, AC_NONE));
}

int ac_onx_do_hard_sigmoid(ac_onx_node *n)
{
    const double alpha = ac_attr_float(&n->attrs, A_hard_sigmoid_alpha), beta = ac_attr_float(&n->attrs, A_beta);
    return ac_onx_result(n, 0, ac_make_hard_sigmoid(&n->b, n->in[0], alpha, beta));
}

int ac_onx_do_softsign(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    ac_tensor *size = ABS(x);
    return ac_onx_result(n, 0, DIV(x, ADD(NUM(x, 1), size)));
}

static ac_tensor *swish(ac_onx_node *n, ac_tensor *x)
{
    return ac_make_swish(&n->b, x, ac_attr_float(&n->attrs, A_alpha));
}

int ac_onx_do_swish(ac_onx_node *n)
{
    return ac_onx_result(n, 0, swish(n, n->in[0]));
}

int ac_onx_do_swiglu(ac_onx_node *n)
{
    ac_tensor *gate = swish(n, n->in[0]);
    return ac_onx_result(n, 0, MUL(gate, n->in[1]));
}

int ac_onx_do_thresholded(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    const double alpha = ac_attr_float(&n->attrs, A_alpha);
    ac_tensor *zero = NUM(x, 0);
    return ac_onx_result(n, 0, WHERE(GREATER(x, NUM(x, alpha)), x, zero));
}

/* x + bias below -lambd, x - bias above lambd, else 0. */
int ac_onx_do_shrink(ac_onx_node *n)
{
    const ac_dtype own = n->in[0]->dtype;
    ac_tensor *x = n->in[0];
    if (ac_dtype_is_int(own)) /* by numbers with a fraction */
        x = ac_make_cast(&n->b, x, ac_dtype_bits(own) > 16 ? AC_F64 : AC_F32);
    if (!x)
        return AC_FAIL;
    const double bias = ac_attr_float(&n->attrs, A_bias), lambd = ac_attr_float(&n->attrs, A_lambd);
    ac_tensor *up = ADD(x, NUM(x, bias)), *down = SUB(x, NUM(x, bias)), *zero = NUM(x, 0);
    ac_tensor *y = WHERE(GREATER(x, NUM(x, lambd)), down, zero);
    y = WHERE(LESS(x, NUM(x, -lambd)), up, y);
    return ac_onx_result(n, 0, y ? ac_make_cast(&n->b, y, own) : NULL);
}

int ac_onx_do_is_inf(ac_onx_node *n)
{
    const bool up = ac_attr_bool(&n->attrs, A_detect_positive), down = ac_attr_bool(&n->attrs, A_detect_negative);
    return ac_onx_result(n, 0, ac_make_is_inf(&n->b, n->in[0], up, down));
}

/* Bits. */

int ac_onx_do_bit_shift(ac_onx_node *n)
{
    const bool left = !ac_attr_word(&n->attrs, A_direction);
    ac_tensor *y = n->in[1];
    if (ac_dtype_is_signed(y->dtype)) { /* a negative count shifts everything out, as one above the width does */
        ac_tensor *in[] = {LESS(y, NUM(y, 0)), NUM(y, ac_dtype_bits(y->dtype)), y};
        n->in[1] = in[0] ? ac_make_op(&n->b, AC_OP_SELECT, in, 3, NULL, AC_NONE) : NULL;
    }
    return ac_onx_result(n, 0, ac_make_2(&n->b, left ? AC_OP_SHIFT_LEFT : AC_OP_SHIFT_RIGHT, n->in[0], n->in[1]));
}

int ac_onx_do_bitwise_not(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    const ac_dtype d = x->dtype;
    if (!ac_dtype_is_int(d))
        return ac_error(n->r->cx, n->at, E0105, "its operand is %s", ac_dtype_name(d));
    ac_tensor *ones = ac_make_number(&n->b, d, ac_dtype_is_signed(d) ? -1 : d == AC_U64 ? 0 : (double)ac_dtype_max(d));
    if (d == AC_U64) /* -1 is 0 - 1 */
        ones = SUB(ones, NUM(x, 1));
    return ac_onx_result(n, 0, OP2(BITWISE_XOR, x, ones));
}
