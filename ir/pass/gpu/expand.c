/* expand.c - depthwise convolutions expand the pixels that they read. */
#include "ir/make/maker.h"
#include "ir/ops/decode/expanded.h"
#include "ir/pass/dequantised.h"
#include "ir/pass/gpu/curves.h"
#include "ir/pass/passes.h"

static bool is_float(const ac_tensor *t)
{
    return !t || (t->dtype == AC_F32 && t->half == AC_NONE);
}

/* A depthwise convolution of f32 by constants, a filter for each channel, without gaps. */
static bool is_depthwise(const ac_node *n)
{
    const ac_attrs_conv *a = &n->attrs.conv;
    return n->op == AC_OP_DEPTHWISE_CONV_2D && !n->n_fused && a->dilation_h == 1 && a->dilation_w == 1 &&
           is_float(n->in[0]) && is_float(n->in[1]) && is_float(ac_node_in(n, 2)) && ac_is_fixed(n->in[1]) &&
           ac_is_fixed(ac_node_in(n, 2)) && n->in[0]->rank == 4 && n->in[1]->dim[3] == n->in[0]->dim[3];
}

/* A convolution of 1x1 without steps and padding by constant weights. */
static bool is_point(const ac_node *n)
{
    const ac_attrs_conv *a = &n->attrs.conv;
    const ac_tensor *x = n->in[0], *w = n->in[1];
    return !n->n_fused && a->stride_h == 1 && a->stride_w == 1 && !a->pad_t && !a->pad_b && !a->pad_l && !a->pad_r &&
           w->dim[1] == 1 && w->dim[2] == 1 && w->dim[3] == x->dim[3] && is_float(x) && is_float(w) &&
           is_float(ac_node_in(n, 2)) && ac_is_fixed(w) && ac_is_fixed(ac_node_in(n, 2));
}

/* The convolution of 1x1 that alone makes the input of n, through an activation; NULL: none. */
static ac_node *point_of(ac_ctx *cx, const int32_t *uses, const ac_node *n, ac_curve *curve)
{
    int32_t readers;
    ac_tensor *t = ac_before_curve(cx, uses, n->in[0], curve, &readers);
    ac_node *conv = ac_made_by(t, AC_OP_CONV_2D);
    if (!conv || uses[t->id] != readers || !is_point(conv))
        return NULL;
    const ac_act act = ac_node_act(conv);
    if (act != AC_ACT_NONE && (curve->swish || curve->clamp || curve->act != AC_ACT_NONE))
        return NULL;
    curve->act = act != AC_ACT_NONE ? act : curve->act;
    return conv;
}

/* Of a depthwise convolution, and the convolution of 1x1 that it can expand: the node that both can be. */
typedef struct pair {
    ac_node *conv; /* NULL: they cannot */
    ac_attrs attrs;
    ac_tensor *in[AC_EXPANDED_OPERANDS];
    ac_expanded e;
} pair;

static int pair_of(ac_ctx *cx, const int32_t *uses, const ac_node *n, pair *to)
{
    ac_curve curve;
    to->conv = is_depthwise(n) ? point_of(cx, uses, n, &curve) : NULL;
    if (!to->conv)
        return AC_OK;
    const ac_attrs_conv *a = &n->attrs.conv;
    ac_attrs_init(AC_OP_EXPANDED_DEPTHWISE, &to->attrs);
    to->attrs.expanded = (ac_attrs_expanded){.stride_h = a->stride_h,
                                             .stride_w = a->stride_w,
                                             .pad_t = a->pad_t,
                                             .pad_b = a->pad_b,
                                             .pad_l = a->pad_l,
                                             .pad_r = a->pad_r,
                                             .inner = curve.act,
                                             .swish = curve.swish,
                                             .clamp = curve.clamp,
                                             .low = curve.clamp ? curve.low : 0,
                                             .high = curve.clamp ? curve.high : 0,
                                             .act = a->act};
    to->in[AC_EXPANDED_X] = to->conv->in[0];
    to->in[AC_EXPANDED_V] = to->conv->in[1];
    to->in[AC_EXPANDED_W] = n->in[1];
    to->in[AC_EXPANDED_A] = ac_node_in(to->conv, 2);
    to->in[AC_EXPANDED_B] = ac_node_in(n, 2);
    const ac_node like = {
        .op = AC_OP_EXPANDED_DEPTHWISE, .attrs = to->attrs, .in = to->in, .n_in = AC_EXPANDED_OPERANDS};
    return ac_expanded_of(cx, &like, &to->e);
}

int ac_find_expansions(ac_ctx *cx, ac_graph *g, ac_expansions *to)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    const int32_t *uses = ac_graph_uses(g, tmp);
    int status = AC_OK;
    for (int32_t i = 0; i < g->node.n && status == AC_OK; i++) {
        pair q;
        status = pair_of(cx, uses, g->node.item[i], &q);
        if (status == AC_OK && q.conv)
            ac_push(cx->region, to, ((ac_expansion){g->node.item[i], ac_copy(cx->region, &q.e, sizeof q.e), false}));
    }
    ac_region_close(tmp);
    return status;
}

static bool pays(const ac_expansions *all, const ac_node *n)
{
    for (int32_t i = 0; i < all->n; i++)
        if (all->item[i].node == n)
            return all->item[i].pays;
    return false;
}

/* The node at `at` and those before it become one. */
static int join(ac_pass *p, int32_t *uses, int32_t at)
{
    ac_graph *g = p->graph;
    ac_node *n = g->node.item[at];
    pair q = {.conv = NULL};
    if (!pays(p->opt->expansions, n) || pair_of(p->cx, uses, n, &q) != AC_OK || !q.conv)
        return AC_OK;
    const ac_maker b = ac_maker_at(g, n);
    const int32_t made = g->node.n;
    ac_tensor *y = n->out[0], *x = n->in[0];
    int32_t count = AC_EXPANDED_OPERANDS;
    while (!q.in[count - 1])
        count--;
    uses[q.conv->in[0]->id]++;
    ac_node_erase(n);
    ac_release(uses, x);
    if (!ac_make_into(&b, AC_OP_EXPANDED_DEPTHWISE, q.in, count, &q.attrs, y))
        return AC_FAIL;
    ac_graph_place(g, made, at);
    p->changed++;
    return AC_OK;
}

/* ac_pass_expand: a depthwise convolution computes the pixels that it reads by the convolution of 1x1 before it, for
 * GPUs: both are one launch, and the values between them stay in shared memory.
 *   before:  %e = conv_2d %x v a   %h = relu6 %e, or mul %e (logistic %e)   %y = depthwise_conv_2d %h w b
 *   after:   %y = expanded_depthwise %x v w a b inner=relu6, or swish=true
 * needs: shapes known, f32, constant weights, no epilogues.  keeps: values up to rounding. A model of the time
 * (ac_expansion.pays) decides: pixels at the edges of tiles are computed more than once. */
int ac_pass_expand(ac_pass *p)
{
    ac_graph *g = p->graph;
    ac_region *tmp = ac_region_open(&p->cx->heap);
    int32_t *uses = ac_graph_uses(g, tmp);
    int status = AC_OK;
    for (int32_t i = 0; i < g->node.n && status == AC_OK; i++)
        status = join(p, uses, i);
    ac_region_close(tmp);
    ac_graph_sweep(g);
    return status;
}
