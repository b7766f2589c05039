/* detect_layers.c - layers of SSD: prior boxes, and detections around them. */
#include "import/caffe/layers.h"

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
static int read_ratios(ac_caf_layer *l, ac_attrs_reader *m, priors *p)
{
    int32_t n;
    const double *given = ac_attr_floats(m, A_aspect_ratio, &n);
    const bool flip = ac_attr_bool(m, A_flip);
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
static int read_sizes(ac_caf_layer *l, ac_attrs_reader *m, priors *p)
{
    const int64_t size = ac_attr_int(m, A_img_size);
    p->image_h = ac_attr_int_in(m, A_img_h, size ? size : p->image_h, 1, INT32_MAX);
    p->image_w = ac_attr_int_in(m, A_img_w, size ? size : p->image_w, 1, INT32_MAX);
    const double step = ac_attr_float(m, A_step);
    p->step_h = ac_attr_float_or(m, A_step_h, step);
    p->step_w = ac_attr_float_or(m, A_step_w, step);
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
    ac_attrs_reader *m = ac_caf_message(l, "prior_box_param");
    const ac_tensor *x = l->in[0], *image = l->in[1];
    priors p = {.n_ratio = 0};
    if (x->rank != 4 || image->rank != 4)
        return ac_bad(&l->b, "bottoms '%s' %s and '%s' %s are not images [N,C,H,W]", x->name, ac_shape_str(l->r->cx, x),
                      image->name, ac_shape_str(l->r->cx, image));
    p.h = x->dim[2], p.w = x->dim[3], p.image_h = image->dim[2], p.image_w = image->dim[3];
    p.least = ac_attr_floats(m, A_min_size, &p.n_least);
    p.most = ac_attr_floats(m, A_max_size, &p.n_most);
    p.variance = ac_attr_floats(m, A_variance, &p.n_variance);
    AC_TRY(read_ratios(l, m, &p));
    AC_TRY(read_sizes(l, m, &p));
    p.clip = ac_attr_bool(m, A_clip);
    p.offset = ac_attr_float(m, A_offset);
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
    ac_attrs_reader *m = ac_caf_message(l, "detection_output_param"),
                    *nms = ac_caf_fields(l, ac_pt_last(m->node, "nms_param"));
    ac_attrs a;
    ac_attrs_init(AC_OP_SSD_DETECTION, &a);
    ac_attr_skip(m, "nms_param");
    ac_attr_skip(m, "save_output_param");
    ac_attr_skip(m, "visualize");
    ac_attr_skip(m, "visualize_threshold");
    ac_attr_skip(m, "save_file");
    a.ssd.num_classes = (int32_t)ac_attr_int(m, A_num_classes);
    a.ssd.share_location = ac_attr_bool(m, A_share_location);
    a.ssd.background = (int32_t)ac_attr_int(m, A_background_label_id);
    a.ssd.code_type = ac_attr_word(m, A_code_type);
    a.ssd.variance_in_target = ac_attr_bool(m, A_variance_encoded_in_target);
    a.ssd.keep_top_k = (int32_t)ac_attr_int(m, A_keep_top_k);
    a.ssd.confidence = (float)ac_attr_float(m, A_confidence_threshold);
    a.ssd.nms_threshold = (float)ac_attr_float(nms, A_nms_threshold);
    a.ssd.top_k = (int32_t)ac_attr_int(nms, A_top_k);
    a.ssd.eta = (float)ac_attr_float(nms, A_eta);
    if (ac_attr_bool(m, A_clip))
        return ac_cannot(&l->b, "it clips boxes");
    if (!ac_attr_bool(m, A_normalized_bbox))
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
