/* detect_layers.c - layers of SSD: prior boxes, and detections around them. */
#include "import/caffe/layers.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_RATIOS = 64, MOST_NUMBERS = 1 << 24 };

typedef struct priors {
    int64_t h, w, image_h, image_w;
    const double *least, *most, *variance;
    int32_t n_least, n_most, n_variance;
    double ratio[2 * MOST_RATIOS + 1];
    int32_t n_ratio;
    double step_h, step_w, offset;
    bool clip;
} priors;

/* 1, then each ratio that is new, and its inverse. */
static int read_ratios(ac_caf_layer *l, ac_pt_node *m, priors *p)
{
    const double *given;
    int32_t n;
    bool flip;
    AC_TRY(ac_caf_floats(l, m, "aspect_ratio", MOST_RATIOS, &given, &n));
    AC_TRY(ac_caf_bool(l, m, "flip", true, &flip));
    p->ratio[p->n_ratio++] = 1;
    for (int32_t i = 0; i < n; i++) {
        bool known = false;
        if (given[i] <= 0)
            return ac_bad(&l->b, "aspect_ratio is %g", given[i]);
        for (int32_t k = 0; k < p->n_ratio; k++)
            known |= fabs(given[i] - p->ratio[k]) < 1e-6;
        if (known)
            continue;
        p->ratio[p->n_ratio++] = given[i];
        if (flip)
            p->ratio[p->n_ratio++] = (double)(1 / (float)given[i]);
    }
    return AC_OK;
}

/* One number for both directions, or one for each; a default that depends on the images. */
static int read_sizes(ac_caf_layer *l, ac_pt_node *m, priors *p)
{
    int64_t size;
    double step;
    AC_TRY(ac_caf_int(l, m, "img_size", 0, 0, INT16_MAX, &size));
    AC_TRY(ac_caf_int(l, m, "img_h", size ? size : p->image_h, 1, INT32_MAX, &p->image_h));
    AC_TRY(ac_caf_int(l, m, "img_w", size ? size : p->image_w, 1, INT32_MAX, &p->image_w));
    AC_TRY(ac_caf_float(l, m, "step", 0, &step));
    AC_TRY(ac_caf_float(l, m, "step_h", step, &p->step_h));
    AC_TRY(ac_caf_float(l, m, "step_w", step, &p->step_w));
    if (p->step_h < 0 || p->step_w < 0)
        return ac_bad(&l->b, "steps of %g and %g", p->step_h, p->step_w);
    if (!(p->step_h > 0) || !(p->step_w > 0)) {
        p->step_h = (double)((float)p->image_h / (float)p->h);
        p->step_w = (double)((float)p->image_w / (float)p->w);
    }
    return AC_OK;
}

static float *put(const priors *p, float *to, float x, float y, float w, float h)
{
    const float corner[4] = {(x - w / 2) / (float)p->image_w, (y - h / 2) / (float)p->image_h,
                             (x + w / 2) / (float)p->image_w, (y + h / 2) / (float)p->image_h};
    for (int32_t k = 0; k < 4; k++)
        *to++ = p->clip ? fminf(fmaxf(corner[k], 0), 1) : corner[k];
    return to;
}

/* Boxes of each position: for each minimum size a square, one between it and the maximum, and the other ratios. */
static void fill(const priors *p, float *to)
{
    for (int64_t y = 0; y < p->h; y++)
        for (int64_t x = 0; x < p->w; x++) {
            const float cx = ((float)x + (float)p->offset) * (float)p->step_w;
            const float cy = ((float)y + (float)p->offset) * (float)p->step_h;
            for (int32_t s = 0; s < p->n_least; s++) {
                const float size = (float)p->least[s];
                to = put(p, to, cx, cy, size, size);
                if (p->n_most) {
                    const float between = sqrtf(size * (float)p->most[s]);
                    to = put(p, to, cx, cy, between, between);
                }
                for (int32_t r = 1; r < p->n_ratio; r++) {
                    const float root = sqrtf((float)p->ratio[r]);
                    to = put(p, to, cx, cy, size * root, size / root);
                }
            }
        }
}

int ac_caf_do_prior_box(ac_caf_layer *l)
{
    ac_pt_node *m = ac_caf_message(l, "prior_box_param");
    const ac_tensor *x = l->in[0], *image = l->in[1];
    priors p = {.n_ratio = 0};
    if (x->rank != 4 || image->rank != 4)
        return ac_bad(&l->b, "bottoms '%s' %s and '%s' %s are not images [N,C,H,W]", x->name, ac_shape_str(l->r->cx, x),
                      image->name, ac_shape_str(l->r->cx, image));
    p.h = x->dim[2], p.w = x->dim[3], p.image_h = image->dim[2], p.image_w = image->dim[3];
    AC_TRY(ac_caf_floats(l, m, "min_size", 64, &p.least, &p.n_least));
    AC_TRY(ac_caf_floats(l, m, "max_size", 64, &p.most, &p.n_most));
    AC_TRY(ac_caf_floats(l, m, "variance", 4, &p.variance, &p.n_variance));
    AC_TRY(read_ratios(l, m, &p));
    AC_TRY(read_sizes(l, m, &p));
    AC_TRY(ac_caf_bool(l, m, "clip", false, &p.clip));
    AC_TRY(ac_caf_float(l, m, "offset", 0.5, &p.offset));
    if (!p.n_least || (p.n_most && p.n_most != p.n_least) || (p.n_variance > 1 && p.n_variance != 4))
        return ac_bad(&l->b, "%d min_size, %d max_size and %d variance", p.n_least, p.n_most, p.n_variance);
    for (int32_t i = 0; i < p.n_least; i++)
        if (p.least[i] <= 0 || (p.n_most && p.most[i] <= p.least[i]))
            return ac_bad(&l->b, "min_size %g and max_size %g", p.least[i], p.n_most ? p.most[i] : 0);
    const int64_t each = p.n_least * (p.n_ratio + (p.n_most > 0));
    int64_t n;
    if (!ac_mul_ok(p.h, p.w, &n) || !ac_mul_ok(n, each * 4, &n) || n > MOST_NUMBERS)
        return ac_cannot(&l->b, "it makes more than %d numbers", MOST_NUMBERS);
    float *v = AC_NEW_N(l->r->cx->region, float, 2 * n + 1);
    fill(&p, v);
    for (int64_t i = 0; i < n; i++)
        v[n + i] = p.n_variance ? (float)p.variance[p.n_variance > 1 ? i % 4 : 0] : 0.1f;
    return ac_caf_result(l, 0, ac_make_floats(&l->b, 3, (int64_t[]){1, 2, n}, v));
}

/* The number of rows depends on data; detections come first, the rest is zero. To select boxes in another way, users
 * need the operands of this layer, so its bottoms are also outputs. */
int ac_caf_do_detection(ac_caf_layer *l)
{
    ac_pt_node *m = ac_caf_message(l, "detection_output_param"), *nms = ac_pt_last(m, "nms_param");
    ac_attrs a;
    int64_t v;
    int32_t code;
    double number;
    bool flag;
    ac_attrs_init(AC_OP_SSD_DETECTION, &a);
    (void)ac_caf_has(l, m, "nms_param");
    (void)ac_caf_has(l, m, "save_output_param");
    (void)ac_caf_has(l, m, "visualize");
    (void)ac_caf_has(l, m, "visualize_threshold");
    (void)ac_caf_has(l, m, "save_file");
    AC_TRY(ac_caf_int(l, m, "num_classes", 0, 1, 1 << 16, &v));
    a.ssd.num_classes = (int32_t)v;
    AC_TRY(ac_caf_bool(l, m, "share_location", true, &a.ssd.share_location));
    AC_TRY(ac_caf_int(l, m, "background_label_id", 0, -1, INT32_MAX, &v));
    a.ssd.background = (int32_t)v;
    AC_TRY(ac_caf_enum(l, m, "code_type", "CORNER|CENTER_SIZE|CORNER_SIZE", 1, 1, &code));
    a.ssd.code_type = code;
    AC_TRY(ac_caf_bool(l, m, "variance_encoded_in_target", false, &a.ssd.variance_in_target));
    AC_TRY(ac_caf_int(l, m, "keep_top_k", -1, -1, INT32_MAX, &v));
    a.ssd.keep_top_k = (int32_t)v;
    AC_TRY(ac_caf_float(l, m, "confidence_threshold", -(double)FLT_MAX, &number));
    a.ssd.confidence = (float)number;
    AC_TRY(ac_caf_float(l, nms, "nms_threshold", 0.3, &number));
    a.ssd.nms_threshold = (float)number;
    AC_TRY(ac_caf_int(l, nms, "top_k", -1, -1, INT32_MAX, &v));
    a.ssd.top_k = (int32_t)v;
    AC_TRY(ac_caf_float(l, nms, "eta", 1, &number));
    a.ssd.eta = (float)number;
    AC_TRY(ac_caf_bool(l, m, "clip", false, &flag));
    if (flag)
        return ac_cannot(&l->b, "it clips boxes");
    AC_TRY(ac_caf_bool(l, m, "normalized_bbox", true, &flag));
    if (!flag)
        return ac_cannot(&l->b, "its boxes are in pixels");
    for (int32_t i = 0; i < 2; i++) {
        ac_tensor *x = l->in[i];
        const int64_t dim[2] = {x->rank ? x->dim[0] : 1, x->rank && x->dim[0] ? ac_tensor_count(x) / x->dim[0] : 1};
        l->in[i] = ac_make_reshape(&l->b, x, 2, dim);
    }
    for (int32_t i = 0; i < 3; i++)
        ac_push(l->r->cx->region, &l->r->extra, l->bottom[i]);
    return ac_caf_result(l, 0, ac_make_op(&l->b, AC_OP_SSD_DETECTION, l->in, 3, &a, AC_NONE));
}
