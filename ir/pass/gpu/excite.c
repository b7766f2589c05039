/* excite.c - the small products of squeeze-and-excitation blocks become one node. */
#include "ir/make/maker.h"
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/excite.h"
#include "ir/pass/dequantised.h"
#include "ir/pass/gpu/curves.h"
#include "ir/pass/passes.h"

enum { MOST_VALUES = 4096, FEW_ELEMENTS = 1 << 14, FIRST_WITH_CLUSTERS = 90 };

typedef struct found {
    ac_graph *g;
    int32_t *uses; /* by tensor id */
    int32_t gpu;
} found;

/* t, or the tensor that is reshaped to it; only reshapes whose operand has no other reader. */
static ac_tensor *unshaped(const found *f, ac_tensor *t)
{
    while (f->uses[t->id] == 1 && ac_made_by(t, AC_OP_RESHAPE))
        t = t->def->in[0];
    return t;
}

/* The node that makes t, if that is a product of rows [N,depth] by constant weights; t is read `readers` times. */
static ac_node *product_of(const found *f, const ac_tensor *t, int32_t readers)
{
    ac_node *conv = ac_made_by(t, AC_OP_CONV_2D), *n = conv ? conv : ac_made_by(t, AC_OP_FULLY_CONNECTED);
    if (!n || f->uses[t->id] != readers || t->dtype != AC_F32)
        return NULL;
    const ac_tensor *x = n->in[0], *w = n->in[1], *bias = ac_node_in(n, 2);
    const bool point = !conv || (x->dim[1] * x->dim[2] == 1 && w->dim[1] * w->dim[2] == 1 && w->dim[3] == x->dim[3]);
    const int64_t depth = w->dim[w->rank - 1];
    return point && ac_is_fixed(w) && ac_is_fixed(bias) && x->dtype == AC_F32 && w->dtype == AC_F32 &&
                   (!bias || bias->dtype == AC_F32) && w->dim[0] <= MOST_VALUES && depth <= MOST_VALUES &&
                   ac_tensor_count(x) == depth * x->dim[0]
               ? n
               : NULL;
}

/* x [N,H,W,C], if t is its mean over H and W; else NULL. */
static ac_tensor *squeezed(const found *f, const ac_tensor *t)
{
    const ac_node *n = ac_made_by(t, AC_OP_MEAN);
    uint32_t mask;
    if (!n || n->in[0]->rank != 4 || ac_reduce_axes(f->g->cx, n, &mask) != AC_OK)
        return NULL;
    ac_tensor *x = n->in[0];
    return mask == 6 && ac_tensor_count(x) > 0 && x->dtype == AC_F32 ? x : NULL;
}

/* Is the mean t of x better taken by the same kernel? */
static bool joins_mean(const found *f, const ac_tensor *t, const ac_tensor *x)
{
    return f->uses[t->id] == 1 && (f->gpu >= FIRST_WITH_CLUSTERS || ac_tensor_count(x) / x->dim[0] <= FEW_ELEMENTS);
}

/* `second` and the nodes before it become one; *made: the new node. */
static int join(const found *f, int32_t at, bool *joined)
{
    ac_graph *g = f->g;
    ac_node *second = g->node.item[at], *first = NULL;
    ac_attrs attrs;
    int32_t readers;
    ac_curve curve;
    ac_attrs_init(AC_OP_EXCITE, &attrs);
    *joined = false;
    if (second->n_out != 1 || !product_of(f, second->out[0], f->uses[second->out[0]->id]) ||
        ac_node_act(second) != AC_ACT_NONE)
        return AC_OK;
    ac_tensor *t = ac_before_curve(f->g->cx, f->uses, unshaped(f, second->in[0]), &curve, &readers);
    attrs.excite.relu = curve.act == AC_ACT_RELU;
    attrs.excite.swish = curve.swish;
    t = readers == 1 ? unshaped(f, t) : t;
    first = product_of(f, t, readers);
    if (!first || curve.act == AC_ACT_RELU6 || curve.clamp ||
        (ac_node_act(first) != AC_ACT_NONE &&
         (ac_node_act(first) != AC_ACT_RELU || attrs.excite.swish || attrs.excite.relu)))
        return AC_OK;
    attrs.excite.relu |= ac_node_act(first) == AC_ACT_RELU;
    ac_tensor *mean = unshaped(f, first->in[0]), *x = squeezed(f, mean), *y = second->out[0];
    if (!x)
        return AC_OK;
    x = joins_mean(f, mean, x) ? x : NULL;
    const ac_maker b = ac_maker_at(g, second);
    const int32_t made = g->node.n;
    ac_tensor *in[AC_EXCITE_OPERANDS] = {[AC_EXCITE_X] = x ? x : first->in[0],
                                         [AC_EXCITE_W1] = first->in[1],
                                         [AC_EXCITE_W2] = second->in[1],
                                         [AC_EXCITE_B1] = ac_node_in(first, 2),
                                         [AC_EXCITE_B2] = ac_node_in(second, 2)};
    const int64_t images = first->in[0]->dim[0], dim[4] = {images, 1, 1, second->in[1]->dim[0]},
                  flat[4] = {images, 1, 1, first->in[1]->dim[first->in[1]->rank - 1]};
    if (!x && !ac_dims_equal(first->in[0], 4, flat)) {
        const ac_tensor *shape = ac_tensor_new(g, "shape", AC_F32, 4, flat);
        in[AC_EXCITE_X] = ac_tensor_new(g, mean->name, AC_F32, 4, flat);
        if (!ac_make_reshape_into(&b, first->in[0], shape, in[AC_EXCITE_X]))
            return AC_FAIL;
    }
    if (x)
        f->uses[x->id]++;
    else
        f->uses[first->in[0]->id]++;
    ac_release(f->uses, second->in[0]);
    ac_node_erase(second);
    int32_t n = AC_EXCITE_OPERANDS;
    while (!in[n - 1])
        n--;
    const bool same = ac_dims_equal(y, 4, dim);
    ac_tensor *z = same ? y : ac_tensor_new(g, y->name, AC_F32, 4, dim);
    if (!ac_make_into(&b, AC_OP_EXCITE, in, n, &attrs, z) || (!same && !ac_make_reshape_into(&b, z, y, y)))
        return AC_FAIL;
    ac_graph_place(g, made, at);
    *joined = true;
    return AC_OK;
}

/* ac_pass_excite: squeeze-and-excitation as one node, for GPUs: each of its small nodes would be a launch.
 *   before:  %m = mean %x axes=[1,2]   %a = conv_2d %m w1 b1   %h = relu %a, or mul %a (logistic %a)
 *            %y = conv_2d %h w2 b2                             convolutions of 1x1, or fully_connected and reshapes
 *   after:   %y = excite %x w1 w2 b1 b2
 * needs: shapes known, f32, constant weights, no epilogues.  keeps: values up to rounding. A mean over many elements
 * stays apart on GPUs without clusters: one block would read all of them. */
int ac_pass_excite(ac_pass *p)
{
    ac_graph *g = p->graph;
    ac_region *tmp = ac_region_open(&p->cx->heap);
    found f = {g, ac_graph_uses(g, tmp), p->opt->gpu};
    int status = AC_OK;
    for (int32_t i = 0; i < g->node.n && status == AC_OK; i++) {
        bool joined;
        status = join(&f, i, &joined);
        p->changed += joined;
        if (joined) /* there are new tensors */
            f.uses = ac_graph_uses(g, tmp);
    }
    ac_region_close(tmp);
    ac_graph_sweep(g);
    return status;
}
