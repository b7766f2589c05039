/* norm.c - multiplication and addition by channel constants go into the convolution before. */
#include "ir/make/maker.h"
#include "ir/pass/passes.h"

/* The positions of operands of a convolution (or fully_connected); NULL: another operator. */
static const ac_filter_row *weights_of(const ac_node *n)
{
    const ac_filter w = ac_ops[n->op].filter;
    return w == AC_FILTER_NONE ? NULL : &ac_filter_of[w];
}

static bool is_f32(const ac_tensor *t)
{
    return t && t->dtype == AC_F32;
}

/* A maker of nodes that are folded at once and never stay in the graph. */
static ac_maker folding(ac_graph *g, const char *name)
{
    return (ac_maker){.cx = g->cx, .g = g, .name = name, .unsized = true};
}

/* A new constant a op b, [dims of a]; NULL: it cannot be computed. */
static ac_tensor *fold2(ac_graph *g, ac_op op, ac_tensor *a, ac_tensor *b, const char *name)
{
    const ac_maker m = folding(g, name);
    ac_tensor *out = ac_tensor_new(g, name, AC_F32, a->rank, a->dim);
    return ac_fold_new(g, ac_make_into(&m, op, (ac_tensor *[]){a, b}, 2, NULL, out));
}

/* The constant c (one value, or one for each of n channels) as a tensor of this rank with the channels along `axis`. */
static ac_tensor *along(ac_graph *g, ac_tensor *c, int32_t rank, int32_t axis)
{
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < rank; d++)
        dim[d] = d == axis ? ac_tensor_count(c) : 1;
    ac_tensor *out = ac_tensor_new(g, ac_strf(g->cx->region, "%s_c", c->name), AC_F32, rank, dim);
    const ac_maker m = folding(g, out->name);
    return ac_fold_new(g, ac_make_reshape_into(&m, c, out, out));
}

static ac_tensor *zeros(ac_graph *g, const char *name, int64_t n)
{
    ac_tensor *t = ac_tensor_const(g, name, AC_F32, 1, &n, AC_NEW(g->cx->region, float));
    t->splat = true;
    return t;
}

/* The follower f(y, c), y made by `conv` and read by f only: c, or NULL if the pattern does not match. */
static ac_tensor *factor(const ac_node *conv, const ac_node *f)
{
    const ac_tensor *y = conv->out[0];
    ac_tensor *c = f->in[0] == y ? f->in[1] : f->in[0];
    int64_t channels = y->rank ? y->dim[y->rank - 1] : 0;
    if (!is_f32(c) || !ac_tensor_is_const(c) || !is_f32(f->out[0]) || !ac_tensor_same_shape(y, f->out[0]))
        return NULL;
    if ((f->op == AC_OP_SUB || f->op == AC_OP_DIV) && f->in[0] != y)
        return NULL;
    bool per_channel = c->rank > 0 && c->dim[c->rank - 1] == channels;
    int64_t n = ac_tensor_count(c);
    return n == 1 || (per_channel && n == channels) ? c : NULL;
}

static bool scalable(const ac_node *n, const int32_t *uses)
{
    const ac_filter_row *at = weights_of(n);
    if (!at || n->n_fused || !ac_node_in(n, at->w) || uses[n->out[0]->id] != 1)
        return false;
    const ac_tensor *w = n->in[at->w], *bias = ac_node_in(n, at->bias);
    return is_f32(n->in[at->x]) && is_f32(w) && ac_tensor_is_const(w) && is_f32(n->out[0]) &&
           (!bias || (is_f32(bias) && ac_tensor_is_const(bias))) && ac_node_act(n) == AC_ACT_NONE;
}

/* New weights and bias of conv that do the work of f; false: nothing changed. */
static bool absorb(ac_graph *g, ac_node *conv, const ac_node *f, ac_tensor *c)
{
    const ac_filter_row *at = weights_of(conv);
    const int32_t wi = at->w, bi = at->bias;
    ac_tensor *w = conv->in[wi], *bias = ac_node_in(conv, bi);
    int64_t channels = conv->out[0]->dim[conv->out[0]->rank - 1];
    bool scales = f->op == AC_OP_MUL || f->op == AC_OP_DIV;
    ac_tensor *cw = along(g, c, w->rank, at->channel), *cb = along(g, c, 1, 0);
    if (!cw || !cb)
        return false;
    if (scales && !(w = fold2(g, f->op, w, cw, ac_strf(g->cx->region, "%s_n", w->name))))
        return false;
    if (!bias && !scales)
        bias = zeros(g, ac_strf(g->cx->region, "%s_bias", conv->name), channels);
    if (bias && !(bias = fold2(g, f->op, bias, cb, ac_strf(g->cx->region, "%s_n", bias->name))))
        return false;
    ac_tensor **in = AC_NEW_N(g->cx->region, ac_tensor *, bi + 1);
    for (int32_t i = 0; i < conv->n_in; i++)
        in[i] = conv->in[i];
    in[wi] = w;
    if (bias)
        in[bi] = bias;
    conv->in = in;
    conv->n_in = bias ? bi + 1 : conv->n_in;
    return true;
}

/* ac_pass_norm: batch normalisation and the like: y * c, y / c, y + c, y - c with one constant for each channel, after
 * a convolution (or fully_connected) in f32 with constant weights, is folded into weights and bias. An
 * activation of the follower becomes the convolution's.
 *   before:  %y = conv_2d %x %w %b    %s = mul %y %gamma    %z = add %s %beta act=relu
 *   after:   const %w_n, %b_n (lazy)  %z = conv_2d %x %w_n %b_n act=relu
 * needs: shapes known, no epilogues.  changes: the order of float arithmetic, so it does not run with --exact. */
int ac_pass_norm(ac_pass *p)
{
    ac_graph *g = p->graph;
    int32_t *uses = ac_graph_uses(g, p->cx->region);
    int32_t n_nodes = g->node.n; /* absorb appends nodes, folded at once */
    for (int32_t i = 0; i < n_nodes; i++) {
        ac_node *f = g->node.item[i];
        if (f->op != AC_OP_MUL && f->op != AC_OP_ADD && f->op != AC_OP_SUB && f->op != AC_OP_DIV)
            continue;
        for (int32_t k = 0; k < 2 && f->op != AC_OP_NONE; k++) {
            ac_node *conv = f->in[k]->def;
            if (!conv || conv->op == AC_OP_NONE || f->n_fused || !scalable(conv, uses) || conv->out[0] != f->in[k])
                continue;
            ac_tensor *c = factor(conv, f);
            if (!c || !absorb(g, conv, f, c))
                continue;
            ac_tensor *z = f->out[0];
            ac_node_set_act(conv, f->attrs.act.act);
            ac_node_erase(f);
            conv->out[0]->def = NULL;
            conv->out[0] = z;
            z->def = conv;
            p->changed++;
        }
    }
    ac_graph_sweep(g);
    return AC_OK;
}
