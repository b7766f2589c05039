/* gate.c - a product by a gate joins the convolution after it. */
#include "ir/make/maker.h"
#include "ir/pass/dequantised.h"
#include "ir/pass/passes.h"

enum { LEAST_PIXELS = 8, LEAST_CHANNELS = 4, MOST_CHANNELS = 4096, LEAST_MACS = 1 << 15 };

/* True if n is a convolution of 1x1 without steps and padding by constant weights, large enough for tiles. */
static bool is_point(const ac_node *n)
{
    const ac_attrs_conv *a = &n->attrs.conv;
    if (n->op != AC_OP_CONV_2D || n->n_fused)
        return false;
    const ac_tensor *x = n->in[0], *w = n->in[1], *bias = ac_node_in(n, 2);
    const int64_t pixels = x->dim[1] * x->dim[2], dim[4] = {w->dim[0], 1, 1, x->dim[3]};
    const bool plain = a->stride_h == 1 && a->stride_w == 1 && !a->pad_t && !a->pad_b && !a->pad_l && !a->pad_r &&
                       ac_dims_equal(w, 4, dim) && x->dtype == AC_F32 && x->half == AC_NONE && w->dtype == AC_F32;
    return plain && ac_is_fixed(w) && ac_is_fixed(bias) && pixels >= LEAST_PIXELS && w->dim[0] >= LEAST_CHANNELS &&
           x->dim[3] <= MOST_CHANNELS && x->dim[0] > 0 && pixels * w->dim[0] * x->dim[3] >= LEAST_MACS;
}

/* Operand i of the product is the gate [N,1,1,C] of the other one; -1: neither. */
static int32_t gate_of(const ac_node *mul)
{
    for (int32_t i = 0; i < 2; i++) {
        const ac_tensor *x = mul->in[1 - i];
        const int64_t dim[4] = {x->rank == 4 ? x->dim[0] : 0, 1, 1, x->rank == 4 ? x->dim[3] : 0};
        if (x->rank == 4 && ac_dims_equal(mul->in[i], 4, dim) && ac_tensor_same_shape(x, mul->out[0]))
            return i;
    }
    return -1;
}

static int join(ac_graph *g, int32_t at, ac_node *mul, int32_t gate)
{
    ac_node *conv = g->node.item[at];
    const ac_maker b = ac_maker_at(g, conv);
    const int32_t made = g->node.n;
    ac_tensor *y = conv->out[0], *bias = ac_node_in(conv, 2);
    ac_tensor *in[4] = {mul->in[1 - gate], conv->in[1], mul->in[gate], bias};
    ac_attrs attrs;
    ac_attrs_init(AC_OP_GATED_CONV_2D, &attrs);
    attrs.act.act = conv->attrs.conv.act;
    ac_node_erase(conv);
    ac_node_erase(mul);
    if (!ac_make_into(&b, AC_OP_GATED_CONV_2D, in, bias ? 4 : 3, &attrs, y))
        return AC_FAIL;
    ac_graph_place(g, made, at);
    return AC_OK;
}

/* ac_pass_gate: a tensor that is multiplied by a number for each image and channel, and read by a convolution of 1x1
 * only, is multiplied inside of it, for GPUs: the product would be a launch.
 *   before:  %z = mul %x %gate   %y = conv_2d %z w b
 *   after:   %y = gated_conv_2d %x w %gate b
 * needs: shapes known, f32, constant weights, no epilogues.  keeps: values bit for bit. */
int ac_pass_gate(ac_pass *p)
{
    ac_graph *g = p->graph;
    ac_region *tmp = ac_region_open(&p->cx->heap);
    const int32_t *uses = ac_graph_uses(g, tmp);
    int status = AC_OK;
    for (int32_t i = 0; i < g->node.n && status == AC_OK; i++) {
        const ac_node *n = g->node.item[i];
        ac_node *mul = is_point(n) ? ac_made_by(n->in[0], AC_OP_MUL) : NULL;
        if (!mul || uses[n->in[0]->id] != 1 || ac_node_act(mul) != AC_ACT_NONE)
            continue;
        const int32_t gate = gate_of(mul);
        if (gate < 0)
            continue;
        status = join(g, i, mul, gate);
        p->changed++;
    }
    ac_region_close(tmp);
    ac_graph_sweep(g);
    return status;
}
