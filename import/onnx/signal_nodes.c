/* signal_nodes.c - signal processing of ONNX: DFT, STFT, windows, the mel matrix.
 *
 * Complex and long transforms are our fft. A short one of a real signal is a product with a constant matrix of cosines
 * and sines, a short-time transform a convolution with the rows of that matrix, which has 2 N K numbers: above 2^22 of
 * them it is refused. Targets without vectors store one turn of the cosine (computed in f64) instead of the matrix.
 * Windows and mel weights are constants. */
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;
enum { MOST = 1 << 22, LONG = 64 };

/* A constant of a float type out of doubles. */
static ac_tensor *table(ac_onx_node *n, ac_dtype type, int32_t rank, const int64_t *dim, const double *v)
{
    int64_t count = 1;
    const int64_t size = ac_dtype_size(type, 1);
    for (int32_t d = 0; d < rank; d++)
        count *= dim[d];
    uint8_t *data = ac_alloc_n(n->r->cx->region, (uint64_t)count + 1, (uint64_t)size);
    for (int64_t i = 0; i < count; i++)
        ac_dtype_put_num(type, data + i * size, v[i]);
    return ac_tensor_const(n->r->g, ac_strf(n->r->cx->region, "%s_c", n->name), type, rank, dim, data);
}

/* ------------------------------------------------------------------ transforms */

typedef struct transform {
    int64_t length;              /* N of the definition */
    int64_t in, out;             /* samples taken, bins made */
    int32_t parts_in, parts_out; /* 1 real, 2 complex */
    bool inverse, half;          /* half: only the bins that conjugates do not repeat */
} transform;

/* The quarter turns of the weight of part p of a sample in part q of a bin: a quarter turn on, a cosine is -sin. */
static int64_t quarter(const transform *t, int32_t p, int32_t q)
{
    const int32_t by = t->inverse ? p - q : q - p;
    return by < 0 ? by + 4 : by;
}

/* cos(2 pi i / size) * scale, i < size, a multiple of 4. */
static ac_tensor *turn(ac_onx_node *n, ac_dtype type, int64_t size, double scale)
{
    double *v = AC_NEW_N(n->r->cx->region, double, size);
    for (int64_t i = 0; i < size; i++) {
        const double angle = 2 * PI * (double)(i % (size / 4)) / (double)size;
        const int64_t part = i / (size / 4);
        v[i] = scale * (part == 0 ? cos(angle) : part == 1 ? -sin(angle) : part == 2 ? -cos(angle) : sin(angle));
    }
    return table(n, type, 1, &size, v);
}

/* Whole numbers 0, step, 2 step, .. as dimension d of four. */
static ac_tensor *steps(ac_onx_node *n, int32_t d, int64_t count, int64_t step)
{
    int64_t dim[4] = {1, 1, 1, 1};
    int32_t *v = AC_NEW_N(n->r->cx->region, int32_t, count);
    for (int64_t i = 0; i < count; i++)
        v[i] = (int32_t)(i * step);
    dim[d] = count;
    return ac_tensor_const(n->r->g, ac_strf(n->r->cx->region, "%s_i", n->name), AC_I32, 4, dim, v);
}

/* y, which is made of constants, becomes a constant that is computed when it is needed. Its node stays known. */
static ac_tensor *promised(ac_onx_node *n, ac_tensor *y)
{
    ac_graph *g = n->r->g;
    if (y && y->def && g->promise && g->promise(n->r->cx, y->def))
        ac_node_made(g, y->def);
    return y;
}

/* The matrix of t as [bins, parts of a bin, samples, parts of a sample]: elements of one turn, at places that loops can
 * compute, so that the matrix need not be stored. */
static ac_tensor *matrix(ac_onx_node *n, ac_dtype type, const transform *t)
{
    const int64_t rows = t->out * t->parts_out, columns = t->in * t->parts_in, length = t->length;
    if (rows > MOST || columns > MOST || rows * columns > MOST || length > MOST)
        return (void)ac_cannot(&n->b, "a transform of %" PRId64 " samples needs a matrix of more than %d numbers",
                               length, MOST),
               NULL;
    const int64_t fine = length % 4 == 0 ? 1 : length % 2 == 0 ? 2 : 4, size = fine * length, one = size;
    int32_t *v = AC_NEW_N(n->r->cx->region, int32_t, 4);
    for (int32_t q = 0; q < t->parts_out; q++)
        for (int32_t p = 0; p < t->parts_in; p++)
            v[q * t->parts_in + p] = (int32_t)(quarter(t, p, q) * (size / 4));
    const int64_t dim[4] = {1, t->parts_out, 1, t->parts_in};
    ac_tensor *part = ac_tensor_const(n->r->g, ac_strf(n->r->cx->region, "%s_q", n->name), AC_I32, 4, dim, v);
    ac_tensor *bins = steps(n, 0, t->out, fine);
    ac_tensor *at = promised(n, ac_make_2(&n->b, AC_OP_MUL, bins, steps(n, 2, t->in, 1)));
    at = promised(n, ac_make_2(&n->b, AC_OP_ADD, at, part));
    at = promised(n, ac_make_2(&n->b, AC_OP_FLOOR_MOD, at,
                               ac_make_cast(&n->b, ac_make_ints_shaped(&n->b, 0, NULL, &one), AC_I32)));
    ac_tensor *values = turn(n, type, size, t->inverse ? 1 / (double)length : 1);
    return promised(n, ac_make_2(&n->b, AC_OP_GATHER, values, at));
}

/* x [..,N*parts] -> [..,bins*parts] */
static ac_tensor *multiply(ac_onx_node *n, ac_tensor *x, const transform *t)
{
    const int64_t dim[2] = {t->out * t->parts_out, t->in * t->parts_in};
    ac_tensor *w = x ? matrix(n, x->dtype, t) : NULL;
    if (!w)
        return NULL;
    w = promised(n, ac_make_reshape(&n->b, w, 2, dim));
    return x->dtype == AC_F32 ? ac_make_dense(&n->b, x, w, NULL) : ac_make_matmul(&n->b, x, w, false, true);
}

/* Operand i as a whole number, or `init` where it is left out. */
static int whole(ac_onx_node *n, int32_t i, int64_t init, int64_t *v)
{
    ac_ints list;
    *v = init;
    if (!ac_onx_in(n, i))
        return AC_OK;
    AC_TRY(ac_operand_values(&n->b, &n->in[i], &list));
    if (list.n != 1)
        return ac_error(n->r->cx, n->at, E0104, "operand '%s' is %s, expected one number", n->in[i]->name,
                        ac_shape_str(n->r->cx, n->in[i]));
    *v = list.v[0];
    return AC_OK;
}

static int read_transform(ac_onx_node *n, const ac_tensor *x, int32_t axis, transform *t)
{
    const int64_t have = x->dim[axis], given = x->dim[x->rank - 1];
    t->inverse = ac_attr_bool(&n->attrs, A_inverse);
    t->half = ac_attr_bool(&n->attrs, A_onesided);
    if (have < 1)
        return ac_error(n->r->cx, n->at, E0104, "'%s' is %s: there is nothing to transform", x->name,
                        ac_shape_str(n->r->cx, x));
    if (given != 1 && given != 2)
        return ac_error(n->r->cx, n->at, E0104, "the last dimension of '%s' is %" PRId64 ", expected 1 or 2", x->name,
                        given);
    t->parts_in = (int32_t)given;
    t->parts_out = t->half && t->inverse ? 1 : 2;
    if (t->half && t->parts_in != (t->inverse ? 2 : 1))
        return ac_error(n->r->cx, n->at, E0103, "onesided is set, but '%s' is %s", x->name,
                        given == 1 ? "real" : "complex");
    AC_TRY(whole(n, 1, t->half && t->inverse ? 2 * (have - 1) : have, &t->length));
    if (t->length < 1 || t->length > MOST)
        return ac_error(n->r->cx, n->at, E0103, "the length of the transform is %" PRId64, t->length);
    const int64_t bins = t->half ? t->length / 2 + 1 : t->length;
    t->in = t->half && t->inverse ? bins : t->length;
    t->out = t->half && !t->inverse ? bins : t->length;
    t->in = have < t->in ? have : t->in; /* missing samples are 0 */
    return AC_OK;
}

/* x [..,N,parts] of a whole transform by the fast algorithm: [..,N,2]. */
static ac_tensor *fast(ac_onx_node *n, ac_tensor *x, const transform *t)
{
    ac_attrs a;
    int64_t before[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0};
    if (!x)
        return NULL;
    after[x->rank - 1] = 2 - t->parts_in;
    after[x->rank - 2] = t->length - x->dim[x->rank - 2];
    x = ac_make_pad(&n->b, x, before, after, NULL);
    ac_attrs_init(AC_OP_FFT, &a);
    a.fft.inverse = t->inverse;
    return x ? ac_make_op(&n->b, AC_OP_FFT, &x, 1, &a, AC_NONE) : NULL;
}

/* Bins 0..N/2 of a real signal as all N: the others are their conjugates. */
static ac_tensor *conjugated(ac_onx_node *n, ac_tensor *x, const transform *t)
{
    static const double TURN[2] = {1, -1};
    int64_t before[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0};
    const int64_t two = 2, at = x->rank - 2, bins = t->length / 2 + 1, rest = t->length - bins;
    after[at] = bins - t->in;
    ac_tensor *all[] = {ac_make_pad(&n->b, x, before, after, NULL), NULL};
    if (!all[0] || !rest)
        return all[0];
    ac_tensor *mirror = ac_make_slice(&n->b, all[0], (int32_t)at, 1, rest);
    mirror = ac_make_2(&n->b, AC_OP_REVERSE_V2, mirror, ac_make_ints(&n->b, 1, &at));
    all[1] = ac_make_2(&n->b, AC_OP_MUL, mirror, table(n, x->dtype, 1, &two, TURN));
    return ac_make_concat(&n->b, all, 2, (int32_t)at);
}

/* x [..,N,..,parts]: the axis moves in front of the parts, and both become one. */
int ac_onx_do_dft(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    transform t = {.length = 0};
    int32_t perm[AC_MAX_RANK], back[AC_MAX_RANK], axis, at = 0;
    int64_t dim[AC_MAX_RANK], number;
    const int32_t rank = x->rank;
    if (x->dtype != AC_F32 && x->dtype != AC_F64)
        return ac_cannot(&n->b, "its input is %s", ac_dtype_name(x->dtype));
    AC_TRY(whole(n, 2, ac_attr_int_or(&n->attrs, A_axis, n->version < 20 ? 1 : -2), &number));
    AC_TRY(ac_operand_axis(&n->b, number, rank, &axis));
    if (axis == rank - 1)
        return ac_error(n->r->cx, n->at, E0103, "axis %" PRId64 " is that of real and imaginary parts", number);
    AC_TRY(read_transform(n, x, axis, &t));
    for (int32_t d = 0; d < rank; d++)
        if (d != axis && d != rank - 1)
            perm[at++] = d;
    perm[at++] = axis;
    perm[at] = rank - 1;
    for (int32_t d = 0; d < rank; d++)
        back[perm[d]] = d;
    x = ac_make_transpose(&n->b, ac_make_slice(&n->b, x, axis, 0, t.in), perm);
    if (!x)
        return AC_FAIL;
    if (t.parts_in == 2 || t.length > LONG) {
        ac_tensor *y = fast(n, t.half && t.inverse ? conjugated(n, x, &t) : x, &t);
        y = ac_make_slice(&n->b, ac_make_slice(&n->b, y, rank - 2, 0, t.out), rank - 1, 0, t.parts_out);
        return ac_onx_result(n, 0, ac_make_transpose(&n->b, y, back));
    }
    memcpy(dim, x->dim, sizeof dim);
    dim[rank - 2] = t.in * t.parts_in;
    ac_tensor *flat =
        rank < 3 ? ac_make_reshape(&n->b, x, 2, (int64_t[]){1, dim[0]}) : ac_make_reshape(&n->b, x, rank - 1, dim);
    ac_tensor *y = multiply(n, flat, &t);
    dim[rank - 2] = t.out;
    dim[rank - 1] = t.parts_out;
    return ac_onx_result(n, 0, ac_make_transpose(&n->b, ac_make_reshape(&n->b, y, rank, dim), back));
}

/* The convolution of signals [B,L,parts] with rows w [bins,1,length,parts]: f32 as that of an image of one line. */
static ac_tensor *frames_of(ac_onx_node *n, ac_tensor *x, ac_tensor *w, int32_t step)
{
    static const int32_t LAST[AC_MAX_RANK] = {1, 2, 3, 0};
    const bool line = x->dtype == AC_F32;
    ac_attrs a;
    ac_tensor *in[] = {x, w};
    if (line) {
        ac_attrs_init(AC_OP_CONV_2D, &a);
        a.conv.stride_w = step;
        in[0] = ac_make_reshape(&n->b, x, 4, (int64_t[]){x->dim[0], 1, x->dim[1], x->dim[2]});
    } else {
        ac_attrs_init(AC_OP_CONV_ND, &a);
        a.conv_nd.strides = ac_make_list(&n->b, 1, (int64_t[]){step});
        ac_tensor *turned = w ? ac_make_transpose(&n->b, w, LAST) : NULL;
        in[1] = turned ? ac_make_reshape(&n->b, turned, 3, turned->dim + 1) : NULL;
    }
    return in[0] && in[1] ? ac_make_op(&n->b, line ? AC_OP_CONV_2D : AC_OP_CONV_ND, in, 2, &a, AC_NONE) : NULL;
}

/* Signal [B,L,parts], or [B,L] or [L] of real samples; each bin is the convolution with its row of the matrix, times
 * the window. */
int ac_onx_do_stft(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *window = ac_onx_in(n, 2);
    int64_t step, length;
    if (x->rank == 1 || x->rank == 2)
        x = ac_make_reshape(&n->b, x, 3, (int64_t[]){x->rank == 1 ? 1 : x->dim[0], x->dim[x->rank - 1], 1});
    if (!x)
        return AC_FAIL;
    if (x->rank != 3 || (x->dim[2] != 1 && x->dim[2] != 2))
        return ac_error(n->r->cx, n->at, E0104, "signal '%s' is %s, expected [batch,length,1 or 2]", x->name,
                        ac_shape_str(n->r->cx, x));
    if (x->dtype != AC_F32 && x->dtype != AC_F64)
        return ac_cannot(&n->b, "its signal is %s", ac_dtype_name(x->dtype));
    AC_TRY(whole(n, 1, 0, &step));
    AC_TRY(whole(n, 3, window ? ac_tensor_count(window) : x->dim[1], &length));
    if (step < 1 || step > INT32_MAX || length < 1 || length > x->dim[1] ||
        (window && ac_tensor_count(window) != length))
        return ac_error(n->r->cx, n->at, E0103, "frames of %" PRId64 " samples, %" PRId64 " apart, do not fit '%s' %s",
                        length, step, x->name, ac_shape_str(n->r->cx, x));
    transform t = {.length = length, .in = length, .out = length, .parts_in = (int32_t)x->dim[2], .parts_out = 2};
    t.half = ac_attr_bool(&n->attrs, A_stft_onesided) && t.parts_in == 1;
    t.out = t.half ? length / 2 + 1 : length;
    ac_tensor *w = matrix(n, x->dtype, &t);
    if (!w)
        return AC_FAIL;
    w = promised(n, ac_make_reshape(&n->b, w, 4, (int64_t[]){2 * t.out, 1, length, t.parts_in}));
    if (window)
        w = ac_make_2(&n->b, AC_OP_MUL, w,
                      ac_make_reshape(&n->b, ac_make_cast(&n->b, window, x->dtype), 2, (int64_t[]){length, 1}));
    ac_tensor *y = frames_of(n, x, w, (int32_t)step);
    const int64_t frames = (x->dim[1] - length) / step + 1;
    return ac_onx_result(n, 0, ac_make_reshape(&n->b, y, 4, (int64_t[]){x->dim[0], frames, t.out, 2}));
}

/* ------------------------------------------------------------------ constants */

static int output_type(ac_onx_node *n, ac_dtype *type)
{
    const int64_t number = ac_attr_int(&n->attrs, A_output_datatype);
    *type = ac_onx_dtype(number);
    if (*type != AC_NONE && *type != AC_BOOL && ac_dtype_loops(*type) == *type)
        return AC_OK;
    return ac_cannot(&n->b, "its result has elements of type %s", ac_onx_dtype_name(n->r->cx, number));
}

/* a - b cos(2 pi i / n) + c cos(4 pi i / n) */
static int window_of(ac_onx_node *n, double a, double b, double c)
{
    const bool periodic = ac_attr_bool(&n->attrs, A_periodic);
    int64_t size;
    ac_dtype type;
    AC_TRY(output_type(n, &type));
    AC_TRY(whole(n, 0, 0, &size));
    if (size < 1 || size > MOST)
        return ac_error(n->r->cx, n->at, E0103, "a window of %" PRId64 " numbers", size);
    const double around = periodic ? (double)size : size > 1 ? (double)(size - 1) : 1;
    double *v = AC_NEW_N(n->r->cx->region, double, size);
    for (int64_t i = 0; i < size; i++) {
        const double angle = 2 * PI * (double)i / around;
        v[i] = a - b * cos(angle) + c * cos(2 * angle);
    }
    return ac_onx_result(n, 0, table(n, type, 1, &size, v));
}

int ac_onx_do_hann(ac_onx_node *n)
{
    return window_of(n, 0.5, 0.5, 0);
}
int ac_onx_do_hamming(ac_onx_node *n)
{
    return window_of(n, 25.0 / 46, 21.0 / 46, 0);
}
int ac_onx_do_blackman(ac_onx_node *n)
{
    return window_of(n, 0.42, 0.5, 0.08);
}

/* Triangles between neighbouring bins on the mel scale; v [bins,bands]. */
static void triangle(double *v, int64_t bins, int64_t bands, int64_t band, int64_t left, int64_t centre, int64_t right)
{
    for (int64_t j = left < 0 ? 0 : left; j <= centre && j < bins; j++)
        v[j * bands + band] = centre == left ? 1 : (double)(j - left) / (double)(centre - left);
    for (int64_t j = centre; j < right && j < bins; j++)
        v[j * bands + band] = (double)(right - j) / (double)(right - centre);
}

int ac_onx_do_mel(ac_onx_node *n)
{
    int64_t bands, length, rate;
    double low, high;
    ac_dtype type;
    AC_TRY(output_type(n, &type));
    AC_TRY(whole(n, 0, 0, &bands));
    AC_TRY(whole(n, 1, 0, &length));
    AC_TRY(whole(n, 2, 0, &rate));
    AC_TRY(ac_operand_scalar(&n->b, &n->in[3], &low));
    AC_TRY(ac_operand_scalar(&n->b, &n->in[4], &high));
    const int64_t bins = length / 2 + 1;
    if (bands < 1 || length < 1 || rate < 1 || !(low >= 0) || !(high >= low) || bands > MOST || bins > MOST ||
        bands * bins > MOST || high > 1e12)
        return ac_error(n->r->cx, n->at, E0103, "%" PRId64 " bands of a transform of %" PRId64 " samples", bands,
                        length);
    double *v = AC_NEW_N(n->r->cx->region, double, bins *bands);
    int64_t *edge = AC_NEW_N(n->r->cx->region, int64_t, bands + 2);
    const double from = 2595 * log1p(low / 700) / log(10), to = 2595 * log1p(high / 700) / log(10);
    for (int64_t i = 0; i < bands + 2; i++) {
        const double mel = (double)i * (to - from) / (double)(bands + 2) + from;
        edge[i] = (int64_t)floor((double)(length + 1) * 700 * expm1(mel / 2595 * log(10)) / (double)rate);
    }
    for (int64_t i = 0; i < bands; i++)
        triangle(v, bins, bands, i, edge[i], edge[i + 1], edge[i + 2]);
    return ac_onx_result(n, 0, table(n, type, 2, (int64_t[]){bins, bands}, v));
}
