/* planes.c - pass planes: 1x1 convolutions with channels first on both sides are products of matrices. */
#include "ir/make/maker.h"
#include "ir/pass/passes.h"

#include <string.h>

enum { ROWS = 6 }; /* of the result: up to this number, batch_matmul reads x once, for one tile */

typedef struct state {
    ac_graph *g;
    const ac_pass_options *opt;
    int32_t n;         /* tensors before */
    int32_t *joined;   /* by tensor id: another one whose layout is assumed to follow this one's; root() */
    bool *last;        /* by root: one of them is made by a transpose ... */
    bool *wanted;      /* ... or read by one */
    ac_tensor **inner; /* by tensor id: the same elements in the shape of a product; NULL: no such tensor */
    ac_maker b;        /* of new nodes, which have the name and place of the one that they replace */
} state;

static int32_t root(const state *s, int32_t id)
{
    while (s->joined[id] != id)
        id = s->joined[id] = s->joined[s->joined[id]];
    return id;
}

static bool turns(const ac_node *n, const int64_t perm[4])
{
    const ac_ints *p = &n->attrs.perm.perm;
    return n->op == AC_OP_TRANSPOSE && n->n_in == 1 && !n->n_fused && p->n == 4 &&
           !memcmp(p->v, perm, 4 * sizeof *perm);
}

static const int64_t TO_LAST[4] = {0, 2, 3, 1}, TO_FIRST[4] = {0, 3, 1, 2};

/* All operators between two transposes are assumed to keep the layout. */
static void find_planes(state *s)
{
    for (int32_t i = 0; i < s->n; i++)
        s->joined[i] = i;
    for (int32_t i = 0; i < s->g->node.n; i++) {
        const ac_node *n = s->g->node.item[i];
        int32_t first = -1;
        for (int32_t k = 0; k < n->n_in + n->n_out && n->op != AC_OP_TRANSPOSE; k++) {
            const ac_tensor *t = k < n->n_in ? n->in[k] : n->out[k - n->n_in];
            if (!t || ac_tensor_is_const(t))
                continue;
            first = first < 0 ? root(s, t->id) : first;
            s->joined[root(s, t->id)] = first;
        }
    }
    for (int32_t i = 0; i < s->g->node.n; i++) {
        const ac_node *n = s->g->node.item[i];
        if (n->op != AC_OP_TRANSPOSE)
            continue;
        s->wanted[root(s, n->in[0]->id)] = true;
        s->last[root(s, n->out[0]->id)] = true;
    }
}

/* True if reading x [C,P] in vectors along P is free: whole vectors; read once, or while the weights stay in the second
 * cache, unless rows are a multiple of a page apart, and evict each other from the first. */
static bool reads_well(const ac_pass_options *o, int64_t channels, int64_t results, int64_t pixels)
{
    const int64_t lanes = o->plane_lanes, whole = (pixels + lanes - 1) / lanes * lanes, row = 4 * pixels;
    return 10 * pixels >= 9 * whole && (results <= ROWS || (4 * channels * results <= o->plane_bytes && row % 4096));
}

/* A constant, or a transpose of one, which pass fold computes. */
static bool is_weight(const ac_tensor *w)
{
    const ac_node *t = w->def;
    return w->dtype == AC_F32 &&
           (ac_tensor_is_const(w) || (t && t->op == AC_OP_TRANSPOSE && ac_tensor_is_const(t->in[0])));
}

/* x [N,C,H,W], when n is such a convolution of it and `back` turns its result, else NULL. */
static ac_tensor *planes_of(const state *s, const ac_node *n, const ac_node *back)
{
    const struct ac_attrs_conv *a = &n->attrs.conv;
    if (n->op != AC_OP_CONV_2D || n->n_fused || n->n_in < 2)
        return NULL;
    const ac_tensor *x = n->in[0], *w = n->in[1], *y = n->out[0], *b = n->n_in > 2 ? n->in[2] : NULL;
    const ac_node *t = x->def;
    if (!t || !turns(t, TO_LAST) || !turns(back, TO_FIRST) || t->in[0]->id >= s->n || x->dtype != AC_F32 ||
        y->dtype != AC_F32 || !is_weight(w) || (b && !is_weight(b)) || a->act != AC_ACT_NONE ||
        ac_tensor_root(t->in[0])->state)
        return NULL;
    if (w->dim[1] != 1 || w->dim[2] != 1 || a->stride_h != 1 || a->stride_w != 1 || a->pad_t || a->pad_l ||
        x->dim[1] != y->dim[1] || x->dim[2] != y->dim[2])
        return NULL;
    const int64_t results = w->dim[0] / (x->dim[3] / w->dim[3]);
    const bool alone = !s->last[root(s, t->in[0]->id)] && !s->wanted[root(s, back->out[0]->id)];
    return alone && reads_well(s->opt, w->dim[3], results, x->dim[1] * x->dim[2]) ? t->in[0] : NULL;
}

static ac_tensor *shaped(state *s, ac_tensor *x, const int64_t dim[4])
{
    ac_tensor *y = ac_tensor_new(s->g, x->name, x->dtype, 4, dim);
    ac_make_reshape_into(&s->b, x, y, y);
    ac_fold_node(s->g, y->def);
    return y;
}

/* y is a reshape of a new tensor of shape dim, which is returned. */
static ac_tensor *before(state *s, ac_tensor *y, const int64_t *dim)
{
    ac_tensor *in = ac_tensor_new(s->g, y->name, y->dtype, 4, dim);
    ac_make_reshape_into(&s->b, in, y, y);
    s->inner[y->id] = in;
    return in;
}

/* The product of a convolution of x [N,C,H,W], with y [N,O,H,W] as its result. The nodes are the graph's last. */
static void multiply(state *s, ac_tensor *x, const ac_node *conv, ac_tensor *y)
{
    ac_tensor *w = conv->in[1], *b = conv->n_in > 2 ? conv->in[2] : NULL;
    const int64_t depth = w->dim[3], groups = x->dim[1] / depth, results = w->dim[0] / groups;
    const int64_t pixels = x->dim[2] * x->dim[3], dim[4] = {x->dim[0], groups, results, pixels};
    ac_tensor *left = shaped(s, w, (int64_t[4]){1, groups, results, depth});
    ac_tensor *right = shaped(s, x, (int64_t[4]){x->dim[0], groups, depth, pixels});
    ac_tensor *product = ac_tensor_new(s->g, conv->out[0]->name, AC_F32, 4, dim);
    ac_make_into(&s->b, AC_OP_BATCH_MATMUL, (ac_tensor *[]){left, right}, 2, NULL, product);
    if (b) {
        ac_tensor *bias = shaped(s, b, (int64_t[4]){1, groups, results, 1});
        ac_maker nowhere = s->b; /* the convolution is named once */
        nowhere.at = (ac_place){0};
        product = ac_make_into(&nowhere, AC_OP_ADD, (ac_tensor *[]){product, bias}, 2, NULL,
                               ac_tensor_like(s->g, y->name, product));
    }
    ac_make_reshape_into(&s->b, product, y, y);
    s->inner[y->id] = product;
}

/* The shape of the product whose elements n computes something from one by one; NULL: it does not. */
static const int64_t *product_shape(const state *s, const ac_node *n)
{
    const int64_t *dim = NULL;
    if (!ac_ops[n->op].map || n->n_out != 1 || n->n_fused || n->out[0]->dtype != AC_F32 || n->out[0]->id >= s->n)
        return NULL;
    for (int32_t i = 0; i < n->n_in; i++) {
        const ac_tensor *x = n->in[i], *in = x && x->id < s->n ? s->inner[x->id] : NULL;
        if (!x || (ac_tensor_is_const(x) && ac_tensor_count(x) == 1))
            continue;
        if (!in || (dim && memcmp(dim, in->dim, 4 * sizeof *dim)))
            return NULL;
        dim = in->dim;
    }
    return dim;
}

/* ac_pass_planes: a 1x1 convolution of a model with channels first, apart from others, needs no transposes: its input
 * and its result are matrices of channels by pixels. Element-wise operators after it keep that shape.
 *   before:  %a = transpose %x [0,2,3,1]   %b = conv_2d %a %w %c   %y = transpose %b [0,3,1,2]   %z = relu %y
 *   after:   %xr = reshape %x [N,G,C/G,H*W]   %p = batch_matmul %wr %xr   %q = add %p %cr   %r = relu %q
 *            %z = reshape %r [N,O,H,W]
 * Only if no operator nearby has channels last, and if the target reads x fast (reads_well).
 * needs: shapes known, no epilogues, nodes in execution order.  keeps: names of graph outputs; values but for the order
 * of sums: the bias is added last.  Does nothing to formats that have channels last, or with --exact. */
int ac_pass_planes(ac_pass *p)
{
    ac_graph *g = p->graph;
    ac_region *r = p->cx->region;
    state s = {.g = g, .opt = p->opt, .n = g->tensor.n};
    s.joined = AC_NEW_N(r, int32_t, s.n + 1);
    s.last = AC_NEW_N(r, bool, s.n + 1);
    s.wanted = AC_NEW_N(r, bool, s.n + 1);
    s.inner = AC_NEW_N(r, ac_tensor *, s.n + 1);
    find_planes(&s);
    for (int32_t i = 0; i < g->node.n; i++) {
        ac_node *n = g->node.item[i], *conv = n->op == AC_OP_TRANSPOSE ? n->in[0]->def : NULL;
        ac_tensor *x = conv ? planes_of(&s, conv, n) : NULL;
        const int64_t *dim = x ? NULL : product_shape(&s, n);
        const int32_t from = g->node.n;
        s.b = ac_maker_at(g, x ? conv : n);
        s.b.unsized = true;
        if (x) {
            ac_tensor *y = n->out[0];
            ac_node_erase(n);
            multiply(&s, x, conv, y);
            p->changed++;
        } else if (dim) {
            ac_tensor *y = n->out[0];
            for (int32_t k = 0; k < n->n_in; k++)
                if (n->in[k] && n->in[k]->id < s.n && s.inner[n->in[k]->id])
                    n->in[k] = s.inner[n->in[k]->id];
            n->out[0] = before(&s, y, dim);
            n->out[0]->def = n;
        }
        ac_graph_place(g, from, i + 1);
        i += g->node.n - from;
    }
    ac_graph_sweep(g);
    return AC_OK;
}
