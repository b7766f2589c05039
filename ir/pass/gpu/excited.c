/* excited.c - convolutions of 1x1 compute the gates of their input, from sums that the convolution before leaves. */
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/excite.h"
#include "ir/ops/decode/expanded.h"
#include "ir/pass/dequantised.h"
#include "ir/pass/gpu/curves.h"
#include "ir/pass/passes.h"

enum { MEAN_OVER_PIXELS = 6 }; /* dimensions 1 and 2 */

static bool is_float(const ac_tensor *t)
{
    return !t || (t->dtype == AC_F32 && t->half == AC_NONE);
}

/* A depthwise convolution of f32 by constants, with or without expansion, whose pixels nothing adds yet. */
static bool is_depthwise(const ac_node *n)
{
    if (n->n_out != 1 || n->view || ac_node_reduction(n))
        return false;
    if (n->op == AC_OP_EXPANDED_DEPTHWISE)
        return !n->attrs.expanded.tile_h;
    const ac_attrs_conv *a = &n->attrs.conv;
    return n->op == AC_OP_DEPTHWISE_CONV_2D && a->dilation_h == 1 && a->dilation_w == 1 && is_float(n->in[0]) &&
           is_float(n->in[1]) && is_float(ac_node_in(n, 2)) && ac_is_fixed(n->in[1]) && ac_is_fixed(ac_node_in(n, 2)) &&
           n->in[0]->rank == 4 && n->in[1]->dim[3] == n->in[0]->dim[3];
}

/* The node as expanded_depthwise. */
static ac_attrs attrs_of(const ac_node *n)
{
    ac_attrs to;
    if (n->op == AC_OP_EXPANDED_DEPTHWISE)
        return n->attrs;
    const ac_attrs_conv *a = &n->attrs.conv;
    ac_attrs_init(AC_OP_EXPANDED_DEPTHWISE, &to);
    to.expanded.stride_h = a->stride_h;
    to.expanded.stride_w = a->stride_w;
    to.expanded.pad_t = a->pad_t;
    to.expanded.pad_b = a->pad_b;
    to.expanded.pad_l = a->pad_l;
    to.expanded.pad_r = a->pad_r;
    to.expanded.act = a->act;
    return to;
}

/* Is t x itself, or the mean of its pixels for a single reader? */
static bool is_squeezed(ac_ctx *cx, const int32_t *uses, const ac_tensor *t, const ac_tensor *x)
{
    const ac_node *mean = ac_made_by(t, AC_OP_MEAN);
    uint32_t mask;
    return t == x || (mean && mean->in[0] == x && uses[t->id] == 1 && ac_reduce_axes(cx, mean, &mask) == AC_OK &&
                      mask == MEAN_OVER_PIXELS);
}

/* Fills *to if gated_conv_2d `conv` can compute its gates. */
static bool find(ac_ctx *cx, const int32_t *uses, ac_node *conv, ac_excitement *to)
{
    if (conv->op != AC_OP_GATED_CONV_2D || uses[conv->in[2]->id] != 1 || conv->in[0]->dim[0] != 1)
        return false;
    ac_tensor *x = conv->in[0], *gate = conv->in[2];
    ac_node *excite = gate->def, *depthwise = x->def;
    const bool follows = excite && excite->op == AC_OP_EXCITE && ac_node_result(excite) == gate &&
                         (!excite->n_fused || (excite->n_fused == 1 && excite->fused[0]->op == AC_OP_LOGISTIC));
    if (!follows || !is_squeezed(cx, uses, excite->in[AC_EXCITE_X], x) || !is_float(excite->in[AC_EXCITE_X]) ||
        !depthwise || ac_node_result(depthwise) != x || !is_float(x) || !is_depthwise(depthwise))
        return false;
    const ac_attrs attrs = attrs_of(depthwise);
    const ac_node like = {.op = AC_OP_EXPANDED_DEPTHWISE,
                          .at = depthwise->at,
                          .attrs = attrs,
                          .in = depthwise->in,
                          .n_in = depthwise->n_in};
    ac_expanded *e = AC_NEW(cx->region, ac_expanded);
    ac_excite *sums = AC_NEW(cx->region, ac_excite);
    *to = (ac_excitement){.depthwise = depthwise, .excite = excite, .conv = conv, .e = e, .sums = sums};
    for (int32_t f = 0; f < depthwise->n_fused; f++)
        to->long_end |= (ac_ops[depthwise->fused[f]->op].flags & OF_CURVE) != 0;
    return ac_expanded_of(cx, &like, e) == AC_OK && ac_excite_of(cx, excite, sums) == AC_OK;
}

int ac_find_excitements(ac_ctx *cx, ac_graph *g, ac_excitements *to)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    const int32_t *uses = ac_graph_uses(g, tmp);
    for (int32_t i = 0; i < g->node.n && !cx->diags.errors; i++) {
        ac_excitement found;
        if (find(cx, uses, g->node.item[i], &found))
            ac_push(cx->region, to, found);
    }
    ac_region_close(tmp);
    return cx->diags.errors ? AC_FAIL : AC_OK;
}

/* The depthwise convolution leaves sums of its pixels as well. */
static ac_tensor *add_sums(ac_graph *g, const ac_excitement *m)
{
    ac_node *n = m->depthwise;
    const int64_t dim[4] = {m->e->images, m->e->tiles, 1, m->e->channels};
    ac_tensor *sums = ac_tensor_new(g, "sums", AC_F32, 4, dim);
    n->attrs = attrs_of(n);
    n->op = AC_OP_EXPANDED_DEPTHWISE;
    n->attrs.expanded.tile_h = (int32_t)m->e->tile_h;
    n->attrs.expanded.tile_w = (int32_t)m->e->tile_w;
    ac_tensor **out = AC_NEW_N(g->cx->region, ac_tensor *, 2);
    out[0] = n->out[0];
    out[1] = sums;
    n->out = out;
    n->n_out = 2;
    sums->def = n;
    return sums;
}

static void join(ac_graph *g, const ac_excitement *m)
{
    ac_node *n = m->conv, *excite = m->excite;
    ac_tensor **in = AC_NEW_N(g->cx->region, ac_tensor *, AC_EXCITED_OPERANDS);
    in[AC_EXCITED_X] = n->in[0];
    in[AC_EXCITED_W] = n->in[1];
    in[AC_EXCITED_S] = add_sums(g, m);
    in[AC_EXCITED_W1] = excite->in[AC_EXCITE_W1];
    in[AC_EXCITED_W2] = excite->in[AC_EXCITE_W2];
    in[AC_EXCITED_BIAS] = ac_node_in(n, 3);
    in[AC_EXCITED_B1] = ac_node_in(excite, AC_EXCITE_B1);
    in[AC_EXCITED_B2] = ac_node_in(excite, AC_EXCITE_B2);
    ac_attrs attrs;
    ac_attrs_init(AC_OP_EXCITED_CONV_2D, &attrs);
    attrs.excited.relu = excite->attrs.excite.relu;
    attrs.excited.swish = excite->attrs.excite.swish;
    attrs.excited.logistic = excite->n_fused == 1;
    attrs.excited.act = n->attrs.act.act;
    n->op = AC_OP_EXCITED_CONV_2D;
    n->attrs = attrs;
    n->in = in;
    n->n_in = AC_EXCITED_OPERANDS;
    while (!in[n->n_in - 1])
        n->n_in--;
    ac_node *mean = excite->in[AC_EXCITE_X]->def;
    ac_node_result(excite)->def = NULL;
    ac_node_erase(excite);
    if (mean && mean->op == AC_OP_MEAN)
        ac_node_erase(mean);
}

/* ac_pass_excited: a convolution of 1x1 computes the gates of its input, for GPUs: the means come from sums that the
 * depthwise convolution before it leaves, a few for each channel, so squeeze-and-excitation needs no launch of its own.
 *   before:  %x = depthwise_conv_2d %h w b   %e = excite %x w1 w2 b1 b2 then logistic   %y = gated_conv_2d %x v %e c
 *   after:   %x, %s = expanded_depthwise %h w b tile_h=7 tile_w=14
 *            %y = excited_conv_2d %x v %s w1 w2 c b1 b2 logistic=true
 * needs: shapes known, f32, constant weights, one image.  keeps: values up to rounding. A model of the time
 * (ac_excitement.pays) decides: each block, or cluster, computes the gates that it needs. */
int ac_pass_excited(ac_pass *p)
{
    const ac_excitements *all = p->opt->excitements;
    for (int32_t i = 0; i < all->n; i++) {
        if (!all->item[i].pays)
            continue;
        join(p->graph, &all->item[i]);
        p->changed++;
    }
    ac_graph_sweep(p->graph);
    return AC_OK;
}
