/* qonnx_nodes.c - Quant, BipolarQuant and Trunc, which Brevitas, FINN and hls4ml exchange (QONNX): floats rounded to
 * the values that integers of some bits have, times a scale. Up to 8 bits those integers are bytes here, so
 * products of them are products of dequantised bytes (ir/pass/integers.c). */
#include "base/ascii.h"
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"

#include <math.h>

/* ------------------------------------------------------------------ roundings */

typedef struct rounding {
    const char *name; /* in any case */
    ac_op op;
    bool mirrored; /* sign(x) * op(|x| + more) */
    double more;
} rounding;

static const rounding ROUNDING[] = {
    {"ROUND", AC_OP_ROUND, false, 0},   {"HALF_EVEN", AC_OP_ROUND, false, 0}, {"CEIL", AC_OP_CEIL, false, 0},
    {"FLOOR", AC_OP_FLOOR, false, 0},   {"UP", AC_OP_CEIL, true, 0},          {"DOWN", AC_OP_FLOOR, true, 0},
    {"HALF_UP", AC_OP_FLOOR, true, .5}, {"HALF_DOWN", AC_OP_CEIL, true, -.5},
};

static ac_tensor *rounded(ac_onx_node *n, ac_tensor *x, const rounding *by)
{
    if (!by->mirrored)
        return ac_make_1(&n->b, by->op, x);
    ac_tensor *size = ABS(x);
    size = ac_make_1(&n->b, by->op, by->more != 0 ? ADD(size, F32(by->more)) : size);
    return MUL(SIGN(x), size);
}

/* NULL: reported. */
static const rounding *read_rounding(ac_onx_node *n, const char *init)
{
    const char *name = ac_attr_has(&n->attrs, A_rounding_mode) ? ac_attr_text(&n->attrs, A_rounding_mode) : init;
    for (size_t i = 0; name && i < sizeof ROUNDING / sizeof *ROUNDING; i++)
        if (ac_same_letters(name, ROUNDING[i].name))
            return &ROUNDING[i];
    return name ? (void)ac_cannot(&n->b, "it rounds by '%s'", name), NULL : NULL;
}

/* ------------------------------------------------------------------ operands */

/* Operand i, which broadcasts to x. NULL: reported. */
static ac_tensor *along(ac_onx_node *n, int32_t i)
{
    const ac_tensor *x = n->in[0];
    ac_tensor *p = n->in[i];
    int64_t dim[AC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (ac_tensor_count(p) == 1)
        return ac_make_reshape(&n->b, p, 0, NULL);
    bool fits = p->rank <= x->rank;
    for (int32_t d = 0; d < p->rank && fits; d++) {
        dim[x->rank - p->rank + d] = p->dim[d];
        fits = p->dim[d] == 1 || p->dim[d] == x->dim[x->rank - p->rank + d];
    }
    if (fits)
        return ac_make_reshape(&n->b, p, x->rank, dim);
    return (void)ac_error(n->r->cx, n->at, E0104, "operand %d '%s' is %s, input '%s' is %s", i, p->name,
                          ac_shape_str(n->r->cx, p), x->name, ac_shape_str(n->r->cx, x)),
           NULL;
}

static bool all_zero(ac_onx_node *n, ac_tensor *t)
{
    const float *data = ac_tensor_is_const(t) ? ac_tensor_force(n->r->cx, t) : NULL;
    int64_t i = 0;
    while (data && i < ac_tensor_count(t) && data[i] == 0)
        i++;
    return data && i == ac_tensor_count(t);
}

/* *zero NULL: it is 0. */
static int read_scales(ac_onx_node *n, ac_tensor **scale, ac_tensor **zero)
{
    *scale = along(n, 1);
    const bool none = all_zero(n, n->in[2]);
    *zero = none ? NULL : along(n, 2);
    return *scale && (*zero || none) ? AC_OK : AC_FAIL;
}

/* Some writers give zero points and bits as integers. */
static int read_operands(ac_onx_node *n)
{
    if (n->in[0]->dtype != AC_F32)
        return ac_cannot(&n->b, "operand '%s' has elements of type %s", n->in[0]->name, ac_dtype_name(n->in[0]->dtype));
    for (int32_t i = 1; i < n->n_in; i++)
        if (!(n->in[i] = ac_make_cast(&n->b, n->in[i], AC_F32)))
            return AC_FAIL;
    return AC_OK;
}

static int read_bits(ac_onx_node *n, int32_t i, double *bits)
{
    ac_tensor *t = n->in[i];
    if (!ac_tensor_is_const(t))
        return ac_cannot(&n->b, "its number of bits '%s' is computed", t->name);
    const float *data = ac_tensor_count(t) == 1 ? ac_tensor_force(n->r->cx, t) : NULL;
    if (!data || !(*data >= 1 && *data <= 64))
        return ac_error(n->r->cx, n->at, E0103, "the number of bits '%s' is %s", t->name,
                        data ? ac_internf(n->r->cx, "%g", (double)*data) : ac_shape_str(n->r->cx, t));
    *bits = (double)*data;
    return AC_OK;
}

typedef struct range {
    double lo, hi;
} range;

static range range_of(double bits, bool of_sign, bool narrow)
{
    const double half = exp2(bits - 1);
    return of_sign ? (range){narrow ? 1 - half : -half, half - 1} : (range){0, 2 * half - (narrow ? 2 : 1)};
}

/* The byte that holds it; f32: none does. */
static ac_dtype byte_of(range of)
{
    if (of.lo >= INT8_MIN && of.hi <= INT8_MAX)
        return AC_I8;
    return of.lo >= 0 && of.hi <= UINT8_MAX ? AC_U8 : AC_F32;
}

/* Rounded to numbers of that range: bytes where those hold it, and floats again. */
static ac_tensor *kept(ac_onx_node *n, ac_tensor *v, range of, const rounding *by)
{
    v = MIN(v, F32(of.hi));
    v = rounded(n, MAX(v, F32(of.lo)), by);
    return ac_make_cast(&n->b, ac_make_cast(&n->b, v, byte_of(of)), AC_F32);
}

/* 1 where x is 0 or more, else -1: bytes, and floats again. */
static ac_tensor *sign_of(ac_onx_node *n, ac_tensor *x)
{
    ac_tensor *one = ac_make_number(&n->b, AC_I8, 1), *less = ac_make_number(&n->b, AC_I8, -1);
    return ac_make_cast(&n->b, WHERE(OP2(GREATER_EQUAL, x, F32(0)), one, less), AC_F32);
}

/* ------------------------------------------------------------------ adapters */

/* x, scale, zero point, bits */
int ac_onx_do_qonnx_quant(ac_onx_node *n)
{
    const bool of_sign = ac_attr_bool(&n->attrs, A_signed), narrow = ac_attr_bool(&n->attrs, A_narrow);
    ac_tensor *scale, *zero;
    double bits;
    const rounding *by = read_rounding(n, "ROUND");
    if (!by)
        return AC_FAIL;
    AC_TRY(read_operands(n));
    AC_TRY(read_bits(n, 3, &bits));
    AC_TRY(read_scales(n, &scale, &zero));
    ac_tensor *v = DIV(n->in[0], scale);
    v = zero ? ADD(v, zero) : v;
    v = bits == 1 && of_sign ? sign_of(n, v) : kept(n, v, range_of(bits, of_sign, narrow), by);
    return ac_onx_result(n, 0, MUL(zero ? SUB(v, zero) : v, scale));
}

/* x, scale */
int ac_onx_do_bipolar_quant(ac_onx_node *n)
{
    AC_TRY(read_operands(n));
    ac_tensor *scale = along(n, 1);
    return ac_onx_result(n, 0, MUL(sign_of(n, n->in[0]), scale));
}

/* The power of two nearest to b / a, of constants that broadcast. NULL: reported. */
static ac_tensor *power_between(ac_onx_node *n, ac_tensor *a, ac_tensor *b)
{
    ac_tensor *ratio = DIV(b, a);
    if (!ratio || !ac_tensor_is_const(ratio))
        return ratio ? (void)ac_cannot(&n->b, "its scales are computed"), NULL : NULL;
    const float *data = ac_tensor_force(n->r->cx, ratio);
    const int64_t count = ac_tensor_count(ratio);
    float *power = data ? AC_NEW_N(n->r->cx->region, float, count + 1) : NULL;
    for (int64_t i = 0; i < count && data; i++)
        power[i] = exp2f(rintf(log2f(data[i])));
    return data ? ac_make_floats(&n->b, ratio->rank, ratio->dim, power) : NULL;
}

/* x, scale, zero point, bits, bits of the result; from version 2 on x, scale, zero point, bits, scale and bits of the
 * result: right shifts of integers, in floats. */
int ac_onx_do_qonnx_trunc(ac_onx_node *n)
{
    const bool second = n->version >= 2;
    const bool of_sign = second && ac_attr_bool(&n->attrs, A_signed),
               narrow = second && ac_attr_bool(&n->attrs, A_narrow);
    ac_tensor *scale, *zero;
    double bits, left;
    const rounding *by = read_rounding(n, "FLOOR");
    if (!by)
        return AC_FAIL;
    AC_TRY(read_operands(n));
    AC_TRY(read_bits(n, 3, &bits));
    AC_TRY(read_bits(n, n->n_in - 1, &left));
    AC_TRY(read_scales(n, &scale, &zero));
    ac_tensor *v = DIV(n->in[0], scale);
    v = OP1(ROUND, zero ? ADD(v, zero) : v);
    if (!second) {
        v = rounded(n, DIV(v, F32(exp2(bits - left))), by);
        return ac_onx_result(n, 0, MUL(zero ? SUB(v, zero) : v, scale));
    }
    ac_tensor *to = along(n, 4), *shift = to ? power_between(n, scale, to) : NULL;
    v = kept(n, DIV(v, shift), range_of(left, of_sign, narrow), by);
    return ac_onx_result(n, 0, MUL(zero ? SUB(v, DIV(zero, shift)) : v, to));
}
