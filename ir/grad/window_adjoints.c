/* window_adjoints.c - gradients of convolutions and of sliding windows. A convolution's are conv_nd_data and
 * conv_nd_filter, whose filters are [K..,O,C/groups] and [K..,C/groups,O]; one whose window is a single element
 * without stride is a product of matrices, and so are its gradients. */
#include "ir/make/compose_moves.h"
#include "ir/grad/entries.h"
#include "ir/grad/formula.h"
#include "ir/ops/decode/slide.h"

#include <string.h>

/* ------------------------------------------------------------------ convolutions */

static ac_attrs back_attrs(const ac_adjoint *a, const ac_conv_nd *c, bool data)
{
    int64_t stride[AC_CONV_ND_DIMS], dil[AC_CONV_ND_DIMS], pad[AC_CONV_ND_DIMS], extent[AC_CONV_ND_DIMS];
    ac_attrs t;
    for (int32_t d = 0; d < c->m; d++) {
        stride[d] = c->s[d].stride;
        dil[d] = c->s[d].dil;
        pad[d] = c->s[d].pad;
        extent[d] = data ? c->s[d].in : c->s[d].taps;
    }
    ac_attrs_init(AC_OP_CONV_ND_DATA, &t);
    t.conv_back.strides = ac_make_list(&a->b, c->m, stride);
    t.conv_back.dilations = ac_make_list(&a->b, c->m, dil);
    t.conv_back.before = ac_make_list(&a->b, c->m, pad);
    t.conv_back.extent = ac_make_list(&a->b, c->m, extent);
    t.conv_back.groups = (int32_t)c->groups;
    return t;
}

/* w: [K..,O,C/groups] */
static ac_tensor *data_of(const ac_adjoint *a, const ac_conv_nd *c, ac_tensor *dy, ac_tensor *w)
{
    const ac_attrs t = back_attrs(a, c, true);
    return dy && w ? ac_make_op(&a->b, AC_OP_CONV_ND_DATA, (ac_tensor *[]){dy, w}, 2, &t, AC_NONE) : NULL;
}

/* [K..,C/groups,O] */
static ac_tensor *filter_of(const ac_adjoint *a, const ac_conv_nd *c, ac_tensor *x, ac_tensor *dy)
{
    const ac_attrs t = back_attrs(a, c, false);
    return x && dy ? ac_make_op(&a->b, AC_OP_CONV_ND_FILTER, (ac_tensor *[]){x, dy}, 2, &t, AC_NONE) : NULL;
}

/* One for each channel, the last dimension. */
static void give_bias(ac_adjoint *a, int32_t i, ac_tensor *dy)
{
    if (ac_wants(a, i) && dy)
        ac_give(a, i,
                ac_make_reshape_like(&a->b, ac_make_reduce(&a->b, AC_OP_SUM, dy, (1u << (dy->rank - 1)) - 1, false),
                                     a->node->in[i]));
}

/* x: the tensor that the windows slide over, y: a tensor with an element for each; w [.., KH, KW, ..] */
static ac_conv_nd plane(const ac_node *n, const ac_tensor *x, const ac_tensor *y, const ac_tensor *w)
{
    const ac_attrs_conv *t = &n->attrs.conv;
    ac_conv_nd c = {.m = 2, .groups = 1};
    c.s[0] = (ac_slide){x->dim[1], y->dim[1], w->dim[1], t->stride_h, t->dilation_h, t->pad_t};
    c.s[1] = (ac_slide){x->dim[2], y->dim[2], w->dim[2], t->stride_w, t->dilation_w, t->pad_l};
    return c;
}

static bool is_product(const ac_conv_nd *c)
{
    bool one = c->groups == 1;
    for (int32_t d = 0; d < c->m; d++)
        one &= c->s[d].taps == 1 && c->s[d].stride == 1 && c->s[d].pad == 0 && c->s[d].in == c->s[d].out;
    return one;
}

static ac_tensor *flat(const ac_adjoint *a, ac_tensor *x)
{
    const int64_t c = x ? x->dim[x->rank - 1] : 1;
    return x ? ac_make_reshape(&a->b, x, 2, (int64_t[]){c ? ac_tensor_count(x) / c : 0, c}) : NULL;
}

/* y = x w' + b over all pixels */
static void give_product(ac_adjoint *a, ac_tensor *x, ac_tensor *w, ac_tensor *dy)
{
    if (ac_wants(a, 0)) {
        ac_tensor *matrix = ac_make_reshape(&a->b, w, 2, (int64_t[]){w->dim[0], w->dim[3]});
        ac_give(a, 0, ac_make_reshape_like(&a->b, ac_make_matmul(&a->b, flat(a, dy), matrix, false, false), x));
    }
    if (ac_wants(a, 1)) {
        ac_tensor *rows = flat(a, x);
        ac_give(a, 1, ac_make_reshape_like(&a->b, ac_make_matmul(&a->b, flat(a, dy), rows, true, false), w));
    }
}

/* w [O,KH,KW,C/groups] */
int ac_gr_conv(ac_adjoint *a)
{
    static const int32_t TO_DATA[] = {1, 2, 0, 3}, FROM_FILTER[] = {3, 0, 1, 2};
    const ac_node *n = a->node;
    ac_tensor *x = n->in[0], *w = n->in[1], *dy = ac_dy(a);
    ac_conv_nd c = plane(n, x, n->out[0], w);
    c.groups = x->dim[3] / w->dim[3];
    if (w->dtype != x->dtype)
        return ac_no_gradient(a, "its weights are %s", ac_dtype_name(w->dtype));
    give_bias(a, 2, dy);
    if (is_product(&c)) {
        give_product(a, x, w, dy);
        return AC_OK;
    }
    if (ac_wants(a, 0))
        ac_give(a, 0, data_of(a, &c, dy, ac_make_transpose(&a->b, w, TO_DATA)));
    if (ac_wants(a, 1))
        ac_give(a, 1, ac_make_transpose(&a->b, filter_of(a, &c, x, dy), FROM_FILTER));
    return AC_OK;
}

/* w [1,KH,KW,C*M]: as many groups as channels */
int ac_gr_depthwise(ac_adjoint *a)
{
    const ac_node *n = a->node;
    ac_tensor *x = n->in[0], *w = n->in[1], *dy = ac_dy(a);
    ac_conv_nd c = plane(n, x, n->out[0], w);
    c.groups = x->dim[3];
    if (w->dtype != x->dtype)
        return ac_no_gradient(a, "its weights are %s", ac_dtype_name(w->dtype));
    give_bias(a, 2, dy);
    if (ac_wants(a, 0))
        ac_give(a, 0,
                data_of(a, &c, dy, ac_make_reshape(&a->b, w, 4, (int64_t[]){w->dim[1], w->dim[2], w->dim[3], 1})));
    if (ac_wants(a, 1))
        ac_give(a, 1, ac_make_reshape_like(&a->b, filter_of(a, &c, x, dy), w));
    return AC_OK;
}

/* shape, w [O,KH,KW,C], x: the convolution that goes from the result to x, backwards. Its windows may reach beyond the
 * result, as far as the last position of x needs. */
int ac_gr_tconv(ac_adjoint *a)
{
    static const int32_t TO_CONV[] = {3, 1, 2, 0}, FROM_FILTER[] = {2, 0, 1, 3};
    const ac_node *n = a->node;
    ac_tensor *w = n->in[1], *x = n->in[2], *dy = ac_dy(a);
    const ac_conv_nd c = plane(n, n->out[0], x, w);
    give_bias(a, 3, dy);
    if (ac_wants(a, 1))
        ac_give(a, 1, ac_make_transpose(&a->b, filter_of(a, &c, dy, x), FROM_FILTER));
    if (!ac_wants(a, 2) || !dy)
        return AC_OK;
    ac_attrs t = n->attrs;
    int32_t *const after[2] = {&t.conv.pad_b, &t.conv.pad_r};
    for (int32_t d = 0; d < 2; d++) {
        const ac_slide *s = &c.s[d];
        const int64_t need = (s->out - 1) * s->stride + (s->taps - 1) * s->dil + 1 - s->in - s->pad;
        *after[d] = need > 0 ? (int32_t)need : 0;
    }
    t.conv.act = AC_ACT_NONE;
    ac_tensor *dx =
        ac_make_op(&a->b, AC_OP_CONV_2D, (ac_tensor *[]){dy, ac_make_transpose(&a->b, w, TO_CONV)}, 2, &t, AC_NONE);
    for (int32_t d = 1; d < 3; d++)
        dx = ac_make_part(&a->b, dx, d, 0, x->dim[d]);
    ac_give(a, 2, dx);
    return AC_OK;
}

/* w [K..,C/groups,O] */
int ac_gr_conv_nd(ac_adjoint *a)
{
    ac_tensor *x = a->node->in[0], *w = a->node->in[1], *dy = ac_dy(a);
    ac_conv_nd c;
    AC_TRY(ac_conv_nd_of(a->b.cx, a->node, &c));
    give_bias(a, 2, dy);
    if (ac_wants(a, 0))
        ac_give(a, 0, data_of(a, &c, dy, ac_make_swapped(&a->b, w)));
    if (ac_wants(a, 1))
        ac_give(a, 1, filter_of(a, &c, x, dy));
    return AC_OK;
}

/* ------------------------------------------------------------------ second derivatives of convolutions */

/* The convolution itself of x with w [K..,C/groups,O]; NULL: its pads cannot be expressed. */
static ac_tensor *forward(const ac_adjoint *a, const ac_conv_nd *c, ac_tensor *x, ac_tensor *w)
{
    ac_attrs t;
    int64_t stride[AC_CONV_ND_DIMS], dil[AC_CONV_ND_DIMS], pads[2 * AC_CONV_ND_DIMS];
    for (int32_t d = 0; d < c->m; d++) {
        const ac_slide *s = &c->s[d];
        const int64_t need = (s->out - 1) * s->stride + (s->taps - 1) * s->dil + 1 - s->in - s->pad;
        stride[d] = s->stride;
        dil[d] = s->dil;
        pads[2 * d] = s->pad;
        pads[2 * d + 1] = need > 0 ? need : 0;
    }
    ac_attrs_init(AC_OP_CONV_ND, &t);
    t.conv_nd.strides = ac_make_list(&a->b, c->m, stride);
    t.conv_nd.dilations = ac_make_list(&a->b, c->m, dil);
    t.conv_nd.pads = ac_make_list(&a->b, 2 * c->m, pads);
    t.conv_nd.groups = (int32_t)c->groups;
    ac_tensor *y = x && w ? ac_make_op(&a->b, AC_OP_CONV_ND, (ac_tensor *[]){x, w}, 2, &t, AC_NONE) : NULL;
    for (int32_t d = 0; d < c->m; d++)
        y = ac_make_part(&a->b, y, d + 1, 0, c->s[d].out);
    return y;
}

/* dx of dy and w [K..,O,C/groups] */
int ac_gr_conv_nd_data(ac_adjoint *a)
{
    ac_tensor *dy = a->node->in[0], *w = a->node->in[1], *g = ac_dy(a);
    ac_conv_nd c;
    AC_TRY(ac_conv_back_of(a->b.cx, a->node, &c));
    if (ac_wants(a, 0))
        ac_give(a, 0, forward(a, &c, g, ac_make_swapped(&a->b, w)));
    if (ac_wants(a, 1))
        ac_give(a, 1, ac_make_swapped(&a->b, filter_of(a, &c, g, dy)));
    return AC_OK;
}

/* dw of x and dy */
int ac_gr_conv_nd_filter(ac_adjoint *a)
{
    ac_tensor *x = a->node->in[0], *dy = a->node->in[1], *g = ac_dy(a);
    ac_conv_nd c;
    AC_TRY(ac_conv_back_of(a->b.cx, a->node, &c));
    if (ac_wants(a, 0))
        ac_give(a, 0, data_of(a, &c, dy, ac_make_swapped(&a->b, g)));
    if (ac_wants(a, 1))
        ac_give(a, 1, forward(a, &c, x, g));
    return AC_OK;
}

/* ------------------------------------------------------------------ windows */

/* Each element of a window gets what the window got. */
static ac_tensor *spread(const ac_adjoint *a, const ac_attrs_window *w, const ac_tensor *x, ac_tensor *dy)
{
    ac_attrs t;
    ac_attrs_init(AC_OP_WINDOW_SUM_BACK, &t);
    t.window_back.kernel = w->kernel;
    t.window_back.strides = w->strides;
    t.window_back.dilations = w->dilations;
    t.window_back.pads = w->pads;
    t.window_back.extent = ac_make_list(&a->b, x->rank, x->dim);
    return dy ? ac_make_op(&a->b, AC_OP_WINDOW_SUM_BACK, &dy, 1, &t, AC_NONE) : NULL;
}

int ac_gr_window_sum(ac_adjoint *a)
{
    ac_give(a, 0, spread(a, &a->node->attrs.window, a->node->in[0], ac_dy(a)));
    return AC_OK;
}

int ac_gr_window_max(ac_adjoint *a)
{
    ac_tensor *dy = ac_dy(a);
    if (ac_wants(a, 0) && dy)
        ac_give(
            a, 0,
            ac_make_op(&a->b, AC_OP_WINDOW_MAX_BACK, (ac_tensor *[]){a->node->in[0], dy}, 2, &a->node->attrs, AC_NONE));
    return AC_OK;
}

/* dx of x and dy: what each window's greatest element gets is the window's. x chooses, no more. */
int ac_gr_window_max_back(ac_adjoint *a)
{
    const ac_node *n = a->node;
    ac_tensor *x = n->in[0], *g = ac_dy(a), *at = ac_make_op(&a->b, AC_OP_WINDOW_ARGMAX, &x, 1, &n->attrs, AC_NONE);
    const int64_t all = ac_tensor_count(x);
    if (ac_wants(a, 1))
        ac_give(a, 1, OP2(GATHER, ac_make_reshape(&a->b, g, 1, &all), at));
    return AC_OK;
}

/* Sums of the windows, if their pads reach as far as the windows do. */
int ac_gr_window_sum_back(ac_adjoint *a)
{
    const ac_node *n = a->node;
    const ac_attrs_window_back *w = &n->attrs.window_back;
    ac_slide s[AC_MAX_RANK];
    int64_t pads[2 * AC_MAX_RANK];
    ac_attrs t;
    AC_TRY(ac_window_back_of(a->b.cx, n, s));
    for (int32_t d = 0; d < n->in[0]->rank; d++) {
        const int64_t need = (s[d].out - 1) * s[d].stride + (s[d].taps - 1) * s[d].dil + 1 - s[d].in - s[d].pad;
        pads[2 * d] = s[d].pad;
        pads[2 * d + 1] = need > 0 ? need : 0;
    }
    ac_attrs_init(AC_OP_WINDOW_SUM, &t);
    t.window.kernel = w->kernel;
    t.window.strides = w->strides;
    t.window.dilations = w->dilations;
    t.window.pads = ac_make_list(&a->b, 2 * n->in[0]->rank, pads);
    ac_tensor *g = ac_dy(a), *dx = g ? ac_make_op(&a->b, AC_OP_WINDOW_SUM, &g, 1, &t, AC_NONE) : NULL;
    for (int32_t d = 0; d < n->in[0]->rank; d++)
        dx = ac_make_part(&a->b, dx, d, 0, n->in[0]->dim[d]);
    ac_give(a, 0, dx);
    return AC_OK;
}

/* ------------------------------------------------------------------ pools */

static ac_attrs_window pool_window(const ac_adjoint *a)
{
    const ac_attrs_pool *p = &a->node->attrs.pool;
    return (ac_attrs_window){
        .kernel = ac_make_list(&a->b, 4, (int64_t[]){1, p->kernel_h, p->kernel_w, 1}),
        .strides = ac_make_list(&a->b, 4, (int64_t[]){1, p->stride_h, p->stride_w, 1}),
        .pads = ac_make_list(&a->b, 8, (int64_t[]){0, 0, p->pad_t, p->pad_b, p->pad_l, p->pad_r, 0, 0})};
}

int ac_gr_max_pool(ac_adjoint *a)
{
    ac_attrs t;
    ac_tensor *dy = ac_dy(a);
    ac_attrs_init(AC_OP_WINDOW_MAX_BACK, &t);
    t.window = pool_window(a);
    if (ac_wants(a, 0) && dy)
        ac_give(a, 0, ac_make_op(&a->b, AC_OP_WINDOW_MAX_BACK, (ac_tensor *[]){a->node->in[0], dy}, 2, &t, AC_NONE));
    return AC_OK;
}

/* Elements of x that window o of n elements holds. */
static int64_t inside(int64_t o, int64_t stride, int64_t pad, int64_t n, int64_t in)
{
    const int64_t from = o * stride - pad, until = from + n;
    return (until < in ? until : in) - (from > 0 ? from : 0);
}

/* One over the number of elements of each window: a number, or [1,OH,OW,1]. */
static ac_tensor *shares(const ac_adjoint *a)
{
    const ac_attrs_pool *p = &a->node->attrs.pool;
    const ac_tensor *x = a->node->in[0], *y = a->node->out[0];
    const int64_t h = y->dim[1], w = y->dim[2], size = ac_dtype_size(x->dtype, 1), dim[4] = {1, h, w, 1};
    uint8_t *data = ac_alloc(a->b.cx->region, (uint64_t)(h * w * size + 16));
    bool same = true;
    for (int64_t i = 0; i < h * w; i++) {
        const int64_t n = inside(i / w, p->stride_h, p->pad_t, p->kernel_h, x->dim[1]) *
                          inside(i % w, p->stride_w, p->pad_l, p->kernel_w, x->dim[2]);
        ac_dtype_put_num(x->dtype, data + i * size, n > 0 ? 1.0 / (double)n : 0);
        same &= !memcmp(data, data + i * size, (size_t)size);
    }
    const char *name = ac_strf(a->b.cx->region, "grad_%s_shares", y->name);
    return ac_tensor_const(a->b.g, name, x->dtype, same ? 0 : 4, dim, data);
}

int ac_gr_average_pool(ac_adjoint *a)
{
    const ac_attrs_window t = pool_window(a);
    if (ac_wants(a, 0)) {
        ac_tensor *share = shares(a);
        ac_give(a, 0, spread(a, &t, a->node->in[0], MUL(ac_dy(a), share)));
    }
    return AC_OK;
}

/* y = sqrt(mean of the squares): x / y over the number of elements */
int ac_gr_l2_pool(ac_adjoint *a)
{
    const ac_attrs_window t = pool_window(a);
    ac_tensor *x = a->node->in[0];
    if (ac_wants(a, 0)) {
        ac_tensor *share = shares(a);
        ac_give(a, 0, MUL(x, spread(a, &t, x, DIV(MUL(ac_dy(a), share), ac_y(a)))));
    }
    return AC_OK;
}
