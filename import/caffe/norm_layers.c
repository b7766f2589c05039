/* norm_layers.c - layers of Caffe that normalise, and the inner product. */
#include "import/caffe/layers.h"
#include "import/build/frame.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAKER (&l->b)
#include "ir/make/formula.h"
#define SHAPE(t) ac_shape_str(l->r->cx, t)

/* Everything from axis on is one row. */
int ac_caf_do_inner_product(ac_caf_layer *l)
{
    static const int32_t SWAP[AC_MAX_RANK] = {1, 0};
    ac_attrs_reader *m = ac_caf_message(l, "inner_product_param");
    ac_tensor *x = l->in[0];
    int64_t n, rows = 1, width = 1, dim[AC_MAX_RANK];
    int32_t axis;
    n = ac_attr_int(m, A_num_output);
    const bool has_bias = ac_attr_bool(m, A_bias_term), turned = ac_attr_bool(m, A_transpose);
    AC_TRY(ac_attr_axis(m, A_axis, x->rank, &axis));
    for (int32_t d = 0; d < x->rank; d++)
        *(d < axis ? &rows : &width) *= x->dim[d];
    const int64_t plain[2] = {n, width}, swapped[2] = {width, n};
    ac_tensor *w = ac_caf_weight(l, "weights", 2, turned ? swapped : plain);
    ac_tensor *bias = has_bias ? ac_caf_weight(l, "bias", 1, &n) : NULL;
    if (!w || (has_bias && !bias))
        return AC_FAIL;
    ac_tensor *x_flat = ac_make_reshape(&l->b, x, 2, (int64_t[]){rows, width});
    ac_tensor *y = ac_make_dense(&l->b, x_flat, turned ? ac_make_transpose(&l->b, w, SWAP) : w, bias);
    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = n;
    return ac_caf_result(l, 0, ac_make_reshape(&l->b, y, axis + 1, dim));
}

int ac_caf_do_softmax(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "softmax_param");
    ac_tensor *x = l->in[0];
    int32_t axis;
    AC_TRY(ac_attr_axis(m, A_axis, x->rank, &axis));
    return ac_caf_result(l, 0, ac_make_softmax(&l->b, AC_OP_SOFTMAX, x, axis));
}

/* Accumulated statistics; the third parameter is their count, and the others are divided by it. Only constants are
 * computed here: the layer is a factor and a summand for each channel. */
int ac_caf_do_batch_norm(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "batch_norm_param");
    ac_tensor *x = l->in[0];
    int64_t one = 1;
    const bool global = ac_attr_bool(m, A_use_global_stats);
    const double eps = ac_attr_float(m, A_eps);
    (void)ac_attr_float(m, A_moving_average_fraction);
    if (!global)
        return ac_cannot(&l->b, "use_global_stats is false: the statistics are those of the batch");
    if (x->rank < 1)
        return ac_bad(&l->b, "bottom '%s' has no dimensions", x->name);
    const int64_t *channels = x->rank == 1 ? &one : &x->dim[1];
    ac_tensor *mean = ac_caf_weight(l, "mean", 1, channels), *variance = ac_caf_weight(l, "variance", 1, channels);
    ac_tensor *times = ac_caf_weight(l, "times", 1, &one);
    if (!mean || !variance || !times)
        return AC_FAIL;
    const float *count = times->splat ? NULL : ac_tensor_force(l->r->cx, times);
    if (!times->splat && !count)
        return AC_FAIL;
    const double factor = !count ? 1 : *count < 0 || *count > 0 ? 1 / (double)*count : 0;
    if (factor < 1 || factor > 1) {
        mean = MUL(mean, F32(factor));
        variance = MUL(variance, F32(factor));
    }
    return ac_caf_result(l, 0, ac_make_batch_norm(&l->b, x, x->rank > 1, mean, variance, eps, NULL, NULL));
}

/* x (1 + alpha avg(x^2))^-beta, over windows that count their pads. */
static ac_tensor *lrn_within(ac_caf_layer *l, ac_tensor *x, int64_t size, double alpha, double beta)
{
    ac_frame w;
    ac_frame_open(&w, x);
    for (int32_t d = AC_HEIGHT; d < AC_SPATIAL; d++) {
        w.kernel[d] = size;
        w.front[d] = w.back[d] = (size - 1) / 2;
    }
    ac_tensor *mean = ac_frame_pool(&l->b, AC_OP_AVERAGE_POOL_2D, SQUARE(x), &w);
    ac_tensor *power = F32(-beta), *one = F32(1);
    return MUL(x, OP2(POW, ADD(MUL(mean, F32(alpha)), one), power));
}

int ac_caf_do_lrn(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "lrn_param");
    ac_tensor *x = l->in[0];
    const int64_t size = ac_attr_int(m, A_local_size);
    const double alpha = ac_attr_float(m, A_alpha), beta = ac_attr_float(m, A_lrn_beta), k = ac_attr_float(m, A_k);
    const int32_t region = ac_attr_word(m, A_norm_region);
    if (size % 2 == 0)
        return ac_bad(&l->b, "local_size is %" PRId64 ", expected an odd number", size);
    if (x->rank != 4)
        return ac_bad(&l->b, "bottom '%s' is %s, expected 4 dimensions [N,C,H,W]", x->name, SHAPE(x));
    if (region == 1)
        return ac_caf_result(l, 0, lrn_within(l, x, size, alpha, beta));
    return ac_caf_result(l, 0, ac_frame_lrn(&l->b, x, size, alpha, beta, k));
}

int ac_caf_do_mvn(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "mvn_param");
    ac_tensor *x = l->in[0];
    const bool variance = ac_attr_bool(m, A_normalize_variance), across = ac_attr_bool(m, A_across_channels);
    const double eps = ac_attr_float(m, A_mvn_eps);
    if (x->rank < 3)
        return ac_bad(&l->b, "bottom '%s' is %s, expected 4 dimensions [N,C,H,W]", x->name, SHAPE(x));
    const uint32_t mask = ((1u << x->rank) - 1) & (across ? ~1u : ~3u);
    ac_tensor *far = SUB(x, ac_make_reduce(&l->b, AC_OP_MEAN, x, mask, true));
    if (!variance)
        return ac_caf_result(l, 0, far);
    ac_tensor *deviation = SQRT(ac_make_reduce(&l->b, AC_OP_MEAN, SQUARE(far), mask, true));
    return ac_caf_result(l, 0, DIV(far, ADD(deviation, F32(eps))));
}

/* SSD: each item, or each position of it, gets length 1; then a factor for each channel. */
int ac_caf_do_normalize(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "norm_param");
    ac_tensor *x = l->in[0];
    int64_t dim[4] = {1, 1, 1, 1};
    const bool across = ac_attr_bool(m, A_across_spatial), shared = ac_attr_bool(m, A_normalize_channel_shared);
    const double eps = ac_attr_float(m, A_normalize_eps);
    if (x->rank != 4)
        return ac_bad(&l->b, "bottom '%s' is %s, expected 4 dimensions [N,C,H,W]", x->name, SHAPE(x));
    ac_tensor *scale = ac_caf_weight(l, "scale", !shared, &x->dim[1]);
    dim[1] = shared ? 1 : x->dim[1];
    ac_tensor *y = ac_make_unit_length(&l->b, x, across ? 14u : 2u, eps);
    return ac_caf_result(l, 0, MUL(y, ac_make_reshape(&l->b, scale, 4, dim)));
}
