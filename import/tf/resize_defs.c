/* resize_defs.c - images made larger or smaller: ResizeBilinear and ResizeNearestNeighbor are ours; other methods that
 * are linear in the pixels become a product with a constant matrix along each dimension. */
#include "ir/make/compose_math.h"
#include "import/tf/nodedefs.h"

#include <math.h>

#define RESULT(t) ac_tf_result(n, 0, t)

static int size_of(ac_tf_op *n, ac_ints *size)
{
    const ac_tensor *x = n->t[0];
    AC_TRY(ac_operand_values(&n->b, &n->t[1], size));
    if (x->rank != 4 || size->n != 2)
        return ac_error(n->r->cx, n->b.at, E0104, "'%s' is %s, its new size has %d numbers", x->name,
                        ac_shape_str(n->r->cx, x), size->n);
    for (int32_t i = 0; i < 2; i++)
        if (size->v[i] < 1 || size->v[i] > 1 << 16 || x->dim[1 + i] < 1)
            return ac_error(n->r->cx, n->b.at, E0103, "the new size is %lld", (long long)size->v[i]);
    return AC_OK;
}

int ac_tf_do_resize(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    ac_ints size;
    ac_attrs a;
    const bool near = n->row->op == AC_OP_RESIZE_NEAREST_NEIGHBOR;
    AC_TRY(size_of(n, &size));
    ac_attrs_init(n->row->op, &a);
    a.resize.align_corners = ac_attr_bool(&n->attrs, A_align_corners);
    a.resize.half_pixel_centers = ac_attr_bool(&n->attrs, A_half_pixel_centers);
    a.resize.size = size;
    x = near ? x : ac_make_cast(&n->b, x, AC_F32);
    return RESULT(x ? ac_make_op(&n->b, n->row->op, &x, 1, &a, AC_NONE) : NULL);
}

/* Keys' cubic. With half-pixel centres a is -0.5, and pixels outside of the image have no weight; else -0.75, and they
 * repeat the border. Positions are rounded to 1/1024. */
static double cubic(double t, double a)
{
    t = fabs(t);
    if (t <= 1)
        return ((a + 2) * t - (a + 3)) * t * t + 1;
    return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

static void cubic_row(int64_t o, int64_t in, int64_t out, bool corners, bool half, float *row)
{
    const float scale = corners && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
    const float at = half ? ((float)o + 0.5f) * scale - 0.5f : (float)o * scale;
    const double base = floor((double)at), part = nearbyint(((double)at - base) * 1024) / 1024;
    double sum = 0, w[4];
    for (int32_t k = 0; k < 4; k++) {
        const double i = base - 1 + k;
        const bool outside = i < 0 || i > (double)(in - 1);
        w[k] = half && outside ? 0 : cubic(k - 1 - part, half ? -0.5 : -0.75);
        sum += w[k];
    }
    for (int32_t k = 0; k < 4; k++) {
        double i = base - 1 + k;
        i = i < 0 ? 0 : i > (double)(in - 1) ? (double)(in - 1) : i;
        row[(int64_t)i] += (float)(half ? w[k] / sum : w[k]);
    }
}

/* Each result is the mean of the area that it covers; of one pixel, which has none between its corners, the pixel. */
static void area_row(int64_t o, int64_t in, int64_t out, bool corners, float *row)
{
    if (in == 1) {
        row[0] = 1;
        return;
    }
    const double scale = corners && out > 1 ? (double)(in - 1) / (double)(out - 1) : (double)in / (double)out;
    const double from = (double)o * scale, to = from + scale;
    for (int64_t i = (int64_t)floor(from); i < (int64_t)ceil(to); i++) {
        const double begin = (double)i < from ? from : (double)i, end = (double)(i + 1) > to ? to : (double)(i + 1);
        const int64_t k = i < 0 ? 0 : i >= in ? in - 1 : i;
        row[k] += (float)((end - begin) / scale);
    }
}

int ac_tf_do_resize_matrix(ac_tf_op *n)
{
    ac_tensor *x = ac_make_cast(&n->b, n->t[0], AC_F32);
    ac_ints size;
    const bool corners = ac_attr_bool(&n->attrs, A_align_corners), half = ac_attr_bool(&n->attrs, A_half_pixel_centers);
    const bool area = n->node->op[6] == 'A'; /* ResizeArea */
    AC_TRY(size_of(n, &size));
    for (int32_t d = 1; x && d < 3; d++) {
        const int64_t in = x->dim[d], out = size.v[d - 1];
        if (in > (1 << 24) / out)
            return ac_cannot(&n->b, "it resizes %lld pixels to %lld", (long long)in, (long long)out);
        float *m = AC_NEW_N(n->r->cx->region, float, out *in + 1);
        for (int64_t o = 0; o < out; o++) {
            if (area)
                area_row(o, in, out, corners, m + o * in);
            else
                cubic_row(o, in, out, corners, half, m + o * in);
        }
        x = ac_make_resample(&n->b, x, d, out, m);
    }
    return RESULT(x);
}
