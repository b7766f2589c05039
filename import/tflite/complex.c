/* complex.c - lowers the complex numbers of spectra: RFFT2D, REAL, IMAG, COMPLEX_ABS, and RESHAPE, SQUEEZE and
 * EXPAND_DIMS of complex tensors. A complex tensor of the file becomes f32 with a last dimension of size 2: real part,
 * imaginary part. Other operators on complex tensors, and complex inputs and outputs of the model, are refused. */
#include "import/tflite/rules.h"

static int check_complex(ac_tfl *r, const ac_tfl_node *n, bool complex, const ac_tensor *t)
{
    if (complex == n->complex)
        return AC_OK;
    return ac_error(r->cx, n->at, E0105, "'%s' is %s, expected %s", t->name,
                    n->complex ? "complex" : ac_dtype_name(t->dtype), complex ? "complex numbers" : "real ones");
}

int ac_tfl_complex_shape(ac_tfl *r, const ac_tfl_node *n, ac_ints *shape)
{
    int64_t *longer = AC_NEW_N(r->cx->region, int64_t, shape->n + 1);
    if (shape->n >= AC_MAX_RANK)
        return ac_error(r->cx, n->at, E0205, "the new shape has %d dimensions of complex numbers, expected at most %d",
                        shape->n, AC_MAX_RANK - 1);
    for (int32_t d = 0; d < shape->n; d++)
        longer[d] = shape->v[d];
    longer[shape->n] = 2;
    *shape = (ac_ints){shape->n + 1, longer};
    return AC_OK;
}

/* Shifts negative axes, since complex tensors have one more dimension at the end. */
int ac_tfl_rule_squeeze(ac_tfl *r, ac_tfl_node *n)
{
    ac_ints *axes = &n->attrs.squeeze.axes;
    int64_t *v = AC_NEW_N(r->cx->region, int64_t, axes->n + 1);
    if (!n->complex)
        return AC_OK;
    for (int32_t i = 0; i < axes->n; i++)
        v[i] = axes->v[i] < 0 ? axes->v[i] - 1 : axes->v[i];
    axes->v = v;
    return AC_OK;
}

int ac_tfl_rule_expand_dims(ac_tfl *r, ac_tfl_node *n)
{
    ac_ints axis;
    if (!n->complex || n->n_in < 2)
        return AC_OK;
    const ac_maker b = ac_tfl_maker(r, n);
    AC_TRY(ac_operand_values(&b, &n->in[1], &axis));
    if (axis.n != 1 || axis.v[0] < -AC_MAX_RANK || axis.v[0] > AC_MAX_RANK)
        return ac_error(r->cx, n->at, E0103, "the new axis is not one number from %d to %d", -AC_MAX_RANK, AC_MAX_RANK);
    n->attrs.axis.axis = (int32_t)(axis.v[0] < 0 ? axis.v[0] - 1 : axis.v[0]);
    n->n_in = 1;
    return AC_OK;
}

static ac_tensor *squeeze_last(const ac_maker *b, ac_tensor *x)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_SQUEEZE, &a);
    a.squeeze.axes = ac_make_list(b, 1, (int64_t[]){-1});
    return x ? ac_make_op(b, AC_OP_SQUEEZE, &x, 1, &a, AC_NONE) : NULL;
}

static ac_tensor *slice_of(const ac_maker *b, ac_tensor *x, int32_t rank, const int64_t *begin, const int64_t *size)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_SLICE, &a);
    a.slice.begin = ac_make_list(b, rank, begin);
    a.slice.size = ac_make_list(b, rank, size); /* -1: the rest */
    return x ? ac_make_op(b, AC_OP_SLICE, &x, 1, &a, AC_NONE) : NULL;
}

/* The real (0) or imaginary (1) part of complex numbers. */
static ac_tensor *half_of(const ac_maker *b, ac_tensor *x, int64_t which)
{
    int64_t begin[AC_MAX_RANK] = {0}, size[AC_MAX_RANK];
    for (int32_t d = 0; d < x->rank; d++)
        size[d] = d == x->rank - 1 ? 1 : -1;
    begin[x->rank - 1] = which;
    return squeeze_last(b, slice_of(b, x, x->rank, begin, size));
}

int ac_tfl_rule_real(ac_tfl *r, ac_tfl_node *n)
{
    const ac_maker b = ac_tfl_maker(r, n);
    AC_TRY(check_complex(r, n, true, n->in[0]));
    return ac_tfl_result(n, 0, half_of(&b, n->in[0], 0));
}

int ac_tfl_rule_imag(ac_tfl *r, ac_tfl_node *n)
{
    const ac_maker b = ac_tfl_maker(r, n);
    AC_TRY(check_complex(r, n, true, n->in[0]));
    return ac_tfl_result(n, 0, half_of(&b, n->in[0], 1));
}

int ac_tfl_rule_complex_abs(ac_tfl *r, ac_tfl_node *n)
{
    const ac_maker b = ac_tfl_maker(r, n);
    AC_TRY(check_complex(r, n, true, n->in[0]));
    ac_tensor *square = ac_make_1(&b, AC_OP_SQUARE, n->in[0]);
    ac_attrs a;
    ac_attrs_init(AC_OP_SUM, &a);
    a.reduce.axes = ac_make_list(&b, 1, (int64_t[]){-1});
    return ac_tfl_result(n, 0, ac_make_1(&b, AC_OP_SQRT, ac_make_op(&b, AC_OP_SUM, &square, 1, &a, AC_NONE)));
}

/* Gives the last two dimensions of x the lengths of the transform: cut, or padded with zeros at the end. */
static ac_tensor *fit_length(const ac_maker *b, ac_tensor *x, const int64_t length[2])
{
    int64_t before[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0}, size[AC_MAX_RANK];
    const int32_t rank = x->rank;
    for (int32_t d = 0; d < 2; d++)
        after[rank - 2 + d] = length[d] > x->dim[rank - 2 + d] ? length[d] - x->dim[rank - 2 + d] : 0;
    for (int32_t d = 0; d < rank; d++)
        size[d] = d < rank - 2 ? -1 : length[d - rank + 2];
    ac_tensor *y = ac_make_pad(b, x, before, after, NULL);
    return length[0] < x->dim[rank - 2] || length[1] < x->dim[rank - 1] ? slice_of(b, y, rank, before, size) : y;
}

/* x [..,H,W] and the lengths of the transform, h and w -> [..,h,w/2+1,2]: an FFT of the rows, as complex numbers with
 * imaginary part 0, then of the columns. The second half of each row's spectrum mirrors the first and is dropped. */
int ac_tfl_rule_rfft2d(ac_tfl *r, ac_tfl_node *n)
{
    const ac_maker b = ac_tfl_maker(r, n);
    ac_tensor *x = n->in[0];
    const int32_t rank = x->rank;
    ac_ints length;
    AC_TRY(check_complex(r, n, false, x));
    AC_TRY(ac_operand_values(&b, &n->in[1], &length));
    if (length.n != 2 || length.v[0] < 1 || length.v[1] < 1 || length.v[0] > 1 << 24 || length.v[1] > 1 << 24)
        return ac_error(r->cx, n->at, E0103, "its lengths are not two numbers from 1 to 2^24");
    if (rank < 2 || rank >= AC_MAX_RANK || x->dtype != AC_F32 || x->dim[rank - 2] < 0 || x->dim[rank - 1] < 0)
        return ac_bad(&b, "'%s' is %s, expected f32 [..,H,W] of known H and W", x->name, ac_tensor_str(r->cx, x));
    ac_attrs a;
    ac_attrs_init(AC_OP_EXPAND_DIMS, &a);
    a.axis.axis = -1;
    ac_tensor *y = fit_length(&b, x, length.v);
    y = ac_make_op(&b, AC_OP_EXPAND_DIMS, &y, 1, &a, AC_NONE);
    int64_t pads[2 * AC_MAX_RANK] = {0}, begin[AC_MAX_RANK] = {0}, size[AC_MAX_RANK];
    pads[2 * rank + 1] = 1;
    ac_attrs_init(AC_OP_PAD, &a);
    a.pad.pads = ac_make_list(&b, 2 * (rank + 1), pads);
    y = ac_make_1(&b, AC_OP_FFT, ac_make_op(&b, AC_OP_PAD, &y, 1, &a, AC_NONE));
    for (int32_t d = 0; d < rank; d++)
        size[d] = d == rank - 1 ? length.v[1] / 2 + 1 : -1;
    size[rank] = 2;
    y = slice_of(&b, y, rank + 1, begin, size);
    int64_t swap[AC_MAX_RANK];
    for (int32_t d = 0; d <= rank; d++)
        swap[d] = d == rank - 2 ? rank - 1 : d == rank - 1 ? rank - 2 : d;
    ac_attrs_init(AC_OP_TRANSPOSE, &a);
    a.perm.perm = ac_make_list(&b, rank + 1, swap);
    if (length.v[0] > 1) {
        y = ac_make_1(&b, AC_OP_FFT, ac_make_op(&b, AC_OP_TRANSPOSE, &y, 1, &a, AC_NONE));
        y = ac_make_op(&b, AC_OP_TRANSPOSE, &y, 1, &a, AC_NONE);
    }
    return ac_tfl_result(n, 0, y);
}
