/* prologue.c - products normalise the rows that they multiply. */
#include "ir/pass/dequantised.h"
#include "ir/pass/passes.h"

enum { MOST_COLUMNS = 1024, MOST_OF_FEW = 4096, FEW_ROWS = 8, MOST_RESULTS = 1 << 19 };

typedef struct found {
    const int32_t *uses;
    int64_t depth;
    ac_tensor *x, *gain, *shift, *kept; /* kept: the rows, which other nodes read as well; NULL: none does */
    ac_dtype type;                      /* to which the rows are rounded */
    const ac_node *norm;
} found;

/* The node that makes t for a single reader. */
static ac_node *made_for(const found *f, const ac_tensor *t, ac_op op)
{
    ac_node *n = ac_made_by(t, op);
    return n && (f->uses[t->id] == 1 || t == f->kept) && ac_node_act(n) == AC_ACT_NONE ? n : NULL;
}

/* A constant of f32 with a number for each column. */
static bool is_columns(const found *f, const ac_tensor *t)
{
    return ac_tensor_is_const(t) && t->dtype == AC_F32 && ac_tensor_count(t) == f->depth && t->rank > 0 &&
           t->dim[t->rank - 1] == f->depth;
}

/* t op columns: the other operand; else t. */
static ac_tensor *before(const found *f, ac_tensor *t, ac_op op, ac_tensor **columns)
{
    const ac_node *n = made_for(f, t, op);
    for (int32_t k = 0; n && k < 2; k++)
        if (is_columns(f, n->in[1 - k]) && ac_tensor_same_shape(n->in[k], t)) {
            *columns = n->in[1 - k];
            return n->in[k];
        }
    return t;
}

/* t without a rounding to 16 bits and back. */
static ac_tensor *unrounded(const found *f, ac_tensor *t, ac_dtype *type)
{
    const ac_node *wide = made_for(f, t, AC_OP_CAST), *half = wide ? made_for(f, wide->in[0], AC_OP_CAST) : NULL;
    *type = AC_F32;
    if (!half || t->dtype != AC_F32 || !ac_dtype_is_half(wide->in[0]->dtype) || half->in[0]->dtype != AC_F32)
        return t;
    *type = wide->in[0]->dtype;
    return half->in[0];
}

/* True if n is the first node that reads t. */
static bool is_first(const ac_graph *g, const ac_node *n, const ac_tensor *t)
{
    const ac_node *first = NULL;
    for (int32_t i = 0; i < g->node.n && !first; i++)
        for (int32_t k = 0; k < g->node.item[i]->n_in; k++)
            if (g->node.item[i]->in[k] == t)
                first = g->node.item[i];
    return first == n;
}

static bool find(const ac_graph *g, found *f, const ac_node *n)
{
    ac_tensor *t = n->in[0];
    f->gain = f->shift = NULL;
    f->kept = f->uses[t->id] > 1 ? t : NULL;
    if (f->kept && (t->root || !is_first(g, n, t)))
        return false;
    f->depth = t->rank ? t->dim[t->rank - 1] : 0;
    t = unrounded(f, t, &f->type);
    t = before(f, t, AC_OP_ADD, &f->shift);
    t = before(f, t, AC_OP_MUL, &f->gain);
    f->norm = made_for(f, t, AC_OP_STANDARDIZE);
    f->x = f->norm ? f->norm->in[0] : NULL;
    return f->norm != NULL;
}

/* True if a GPU has a kernel for it, whose blocks do not repeat the work on the rows too often. */
static bool pays(const found *f, const ac_node *n)
{
    const ac_tensor *w = n->in[1], *bias = ac_node_in(n, 2);
    const int64_t rows = ac_tensor_count(n->out[0]) / w->dim[0];
    const bool plain = w->dtype == AC_F32 && ac_tensor_is_const(w) && (!bias || ac_tensor_is_const(bias)) &&
                       n->in[0]->dtype == AC_F32 && f->depth >= 32;
    if (rows < FEW_ROWS)
        return plain && f->depth <= MOST_OF_FEW;
    return plain && w->half == AC_NONE && f->depth <= MOST_COLUMNS && rows * w->dim[0] <= MOST_RESULTS;
}

/* The addition of a constant for each column that alone reads the product's result; else NULL. */
static ac_node *added(ac_graph *g, const found *f, const ac_node *n, ac_tensor **columns)
{
    const ac_tensor *y = n->out[0];
    const int64_t units = n->in[1]->dim[0];
    for (int32_t i = 0; i < g->node.n && f->uses[y->id] == 1; i++) {
        ac_node *m = g->node.item[i];
        if (m->op != AC_OP_ADD || m->n_fused || ac_node_act(m) != AC_ACT_NONE || (m->in[0] != y && m->in[1] != y))
            continue;
        ac_tensor *c = *columns = m->in[m->in[0] == y];
        const bool fits = ac_tensor_is_const(c) && c->dtype == AC_F32 && ac_tensor_count(c) == units && c->rank > 0 &&
                          c->dim[c->rank - 1] == units && ac_tensor_same_shape(m->out[0], y);
        return fits ? m : NULL;
    }
    return NULL;
}

/* A constant that is added to the result of a product becomes its bias, which is loaded first. */
static bool take_bias(ac_graph *g, const found *f, ac_node *n)
{
    const bool floats = (n->op == AC_OP_FULLY_CONNECTED || n->op == AC_OP_NORM_CONNECTED) && !n->n_fused &&
                        n->in[0]->dtype == AC_F32 && n->in[1]->dtype == AC_F32 && n->in[1]->rank == 2 &&
                        ac_node_act(n) == AC_ACT_NONE && !ac_node_in(n, 2);
    ac_tensor *bias;
    ac_node *add = floats ? added(g, f, n, &bias) : NULL;
    if (!add)
        return false;
    if (n->n_in < 3) {
        ac_tensor **in = AC_NEW_N(g->cx->region, ac_tensor *, 3);
        in[0] = n->in[0];
        in[1] = n->in[1];
        n->in = in;
        n->n_in = 3;
    }
    n->in[2] = bias;
    n->out[0] = add->out[0];
    n->out[0]->def = n;
    add->op = AC_OP_NONE;
    return true;
}

/* ac_pass_prologue: a product normalises the rows that it reads, for GPUs: one launch less. If other nodes read the
 * rows as well, they are another result of the product. A constant that is added to a product becomes its bias.
 *   before:  %s = standardize %x   %m = mul %s gain   %a = add %m shift   (%h = cast %a   %r = cast %h)
 *            %y = fully_connected %r %w %b
 *   after:   %y = norm_connected %x %w %b gain shift
 * needs: shapes known, no epilogues.  keeps: values up to rounding, in the same formula. */
int ac_pass_prologue(ac_pass *p)
{
    ac_graph *g = p->graph;
    ac_region *tmp = ac_region_open(&p->cx->heap);
    found f = {.uses = ac_graph_uses(g, tmp)};
    for (int32_t i = 0; i < g->node.n; i++) {
        ac_node *n = g->node.item[i];
        if (n->op != AC_OP_FULLY_CONNECTED || n->n_fused || ac_node_act(n) != AC_ACT_NONE ||
            !n->attrs.dense.keep_dims || !find(g, &f, n) || !pays(&f, n))
            continue;
        ac_tensor **in = AC_NEW_N(p->cx->region, ac_tensor *, 5);
        in[0] = f.x;
        in[1] = n->in[1];
        in[2] = ac_node_in(n, 2);
        in[3] = f.gain;
        in[4] = f.shift;
        n->op = AC_OP_NORM_CONNECTED;
        ac_attrs_init(n->op, &n->attrs);
        n->attrs.norm_dense.epsilon = f.norm->attrs.standardize.epsilon;
        n->attrs.norm_dense.center = f.norm->attrs.standardize.center;
        n->attrs.norm_dense.rows = f.type;
        n->in = in;
        n->n_in = 5;
        if (f.kept) {
            ac_tensor **out = AC_NEW_N(p->cx->region, ac_tensor *, 2);
            out[0] = n->out[0];
            out[1] = f.kept;
            ac_node *before = f.kept->def;
            before->op = AC_OP_NONE;
            f.kept->def = n;
            n->out = out;
            n->n_out = 2;
        }
        p->changed++;
    }
    for (int32_t i = 0; i < g->node.n; i++)
        p->changed += take_bias(g, &f, g->node.item[i]);
    ac_region_close(tmp);
    ac_graph_sweep(g);
    return p->changed ? ac_pass_dead(p) : AC_OK;
}
