/* ahead.c - pass ahead: computes products with the elements of a sequence for all steps of a SCAN at once, in front of
 * it. */
#include "ir/make/clones.h"
#include "ir/make/maker.h"
#include "ir/ops/decode/scan.h"
#include "ir/pass/passes.h"

#include <string.h>

typedef struct ahead {
    ac_graph *g, *body; /* of the SCAN; its subgraph */
    ac_node *n;
    ac_scan scan;
    ac_region *tmp;
    ac_tensor *
        *whole;    /* by tensor of the body: its values in all steps, in g; NULL: it depends on more than sequences */
    bool *back;    /* .. which the steps read from the last one on */
    bool *product; /* .. and which come from a product made here */
    int32_t *uses; /* by tensor of the body */
    int32_t changed;
    ac_ahead *found;
} ahead;

/* ------------------------------------------------------------------ nodes of all steps */

/* An operand in g. NULL: a constant cannot be computed. */
static ac_tensor *outside(ahead *a, ac_tensor *t)
{
    return a->whole[t->id] ? a->whole[t->id] : ac_clone_constant(a->g, t);
}

/* True if all operands of m are constants or known for all steps, which go one way; *from: one of the latter. */
static bool is_known(const ahead *a, const ac_node *m, const ac_tensor **from)
{
    *from = NULL;
    for (int32_t i = 0; i < m->n_in; i++) {
        const ac_tensor *t = m->in[i];
        if (!t || (!a->whole[t->id] && ac_is_made_of_constants(t)))
            continue;
        if (!a->whole[t->id] || (*from && a->back[(*from)->id] != a->back[t->id]))
            return false;
        *from = t;
    }
    return *from != NULL;
}

/* Rows of all steps are rows of one product. */
static ac_tensor *all_products(ahead *a, const ac_node *m)
{
    ac_maker b = ac_maker_at(a->g, a->n);
    const ac_tensor *x = m->in[0], *w = m->in[1], *y = m->out[0];
    int64_t dim[AC_MAX_RANK] = {a->scan.steps, ac_tensor_count(x) / w->dim[1], w->dim[1]};
    const bool rows = x->rank == y->rank && x->dim[x->rank - 1] == w->dim[1];
    ac_tensor *in[3] = {a->whole[x->id]};
    if (!rows)
        in[0] = ac_make_reshape(&b, in[0], 3, dim);
    for (int32_t i = 1; i < m->n_in; i++)
        if (m->in[i] && !(in[i] = outside(a, m->in[i])))
            return NULL;
    memcpy(dim + 1, y->dim, (size_t)y->rank * sizeof *dim);
    const int64_t plain[3] = {dim[0], ac_tensor_count(x) / w->dim[1], w->dim[0]};
    ac_tensor *all = ac_tensor_new(a->g, y->name, y->dtype, rows ? y->rank + 1 : 3, rows ? dim : plain);
    all->quant = y->quant;
    b.name = m->name;
    ac_attrs attrs = m->attrs;
    attrs.dense.keep_dims = true;
    return ac_make_reshape(&b, ac_make_into(&b, m->op, in, m->n_in, &attrs, all), y->rank + 1, dim);
}

static ac_tensor *all_values(ahead *a, const ac_node *m)
{
    ac_maker b = ac_maker_at(a->g, a->n);
    const ac_tensor *y = m->out[0];
    ac_tensor **in = AC_NEW_N(a->tmp, ac_tensor *, m->n_in + 1);
    int64_t dim[AC_MAX_RANK] = {a->scan.steps};
    memcpy(dim + 1, y->dim, (size_t)y->rank * sizeof *dim);
    for (int32_t i = 0; i < m->n_in; i++)
        if (m->in[i] && !(in[i] = outside(a, m->in[i])))
            return NULL;
    ac_tensor *all = ac_tensor_new(a->g, y->name, y->dtype, y->rank + 1, dim);
    all->quant = y->quant;
    b.name = m->name;
    return ac_make_into(&b, m->op, in, m->n_in, &m->attrs, all);
}

/* Element-wise, and every operand of all steps has the shape of the result. */
static bool is_plain_map(const ahead *a, const ac_node *m)
{
    bool fits = ac_ops[m->op].map && !(ac_ops[m->op].flags & OF_STATE) && m->n_out == 1 &&
                m->out[0]->rank < AC_MAX_RANK && (!m->out[0]->quant || m->out[0]->quant->n == 1);
    bool product = false;
    for (int32_t i = 0; i < m->n_in && fits; i++) {
        const ac_tensor *t = m->in[i];
        if (t && a->whole[t->id]) {
            fits = ac_tensor_same_shape(t, m->out[0]);
            product |= a->product[t->id];
        }
    }
    return fits && product;
}

static bool is_product(const ahead *a, const ac_node *m)
{
    const ac_tensor *y = m->out[0];
    return m->op == AC_OP_FULLY_CONNECTED && a->whole[m->in[0]->id] && m->in[1]->rank == 2 && m->in[1]->dim[1] > 0 &&
           ac_is_made_of_constants(m->in[1]) && y->rank < AC_MAX_RANK && (!y->quant || y->quant->n == 1);
}

/* Makes m for all steps, if that is possible. */
static int take(ahead *a, const ac_node *m)
{
    const ac_tensor *from;
    const bool product = is_product(a, m);
    if (m->n_fused || !is_known(a, m, &from) || !(product || is_plain_map(a, m)))
        return AC_OK;
    const int32_t first = a->g->node.n;
    ac_tensor *all = a->found->off ? m->out[0] : product ? all_products(a, m) : all_values(a, m);
    if (!all)
        return AC_FAIL;
    if (!a->found->off)
        ac_graph_place(a->g, first, ac_graph_place_of(a->g, a->n));
    a->found->n++;
    a->found->bytes += ac_tensor_bytes(m->out[0]) * a->scan.steps;
    a->whole[m->out[0]->id] = all;
    a->back[m->out[0]->id] = a->back[from->id];
    a->product[m->out[0]->id] = true;
    return AC_OK;
}

/* ------------------------------------------------------------------ sequences of the SCAN */

/* Inserts a sequence as operand number `at` of the SCAN, with its element as that input of the body. */
static void insert(ahead *a, int32_t at, ac_tensor *outside, ac_tensor *inside, bool back)
{
    ac_node *n = a->n;
    ac_graph *body = a->body;
    ac_tensor **in = AC_NEW_N(a->g->region, ac_tensor *, n->n_in + 2);
    memcpy(in, n->in, (size_t)at * sizeof *in);
    in[at] = outside;
    memcpy(in + at + 1, n->in + at, (size_t)(n->n_in - at) * sizeof *in);
    n->in = in;
    n->n_in++;
    ac_push(body->region, &body->input, inside);
    memmove(body->input.item + at + 1, body->input.item + at, (size_t)(body->input.n - 1 - at) * sizeof *in);
    body->input.item[at] = inside;
    inside->input = true;
    ac_scan_splice_back(a->g->cx, n, a->scan.sequences + a->scan.elements, at - a->scan.states, 0, 1, back);
    n->attrs.scan.sequences = ++a->scan.sequences;
}

static void remove_sequence(ahead *a, int32_t at)
{
    ac_node *n = a->n;
    ac_graph *body = a->body;
    ac_scan_splice_back(a->g->cx, n, a->scan.sequences + a->scan.elements, at - a->scan.states, 1, 0, false);
    n->attrs.scan.sequences = --a->scan.sequences;
    body->input.item[at]->input = false;
    memmove(n->in + at, n->in + at + 1, (size_t)(--n->n_in - at) * sizeof *n->in);
    memmove(body->input.item + at, body->input.item + at + 1, (size_t)(--body->input.n - at) * sizeof *n->in);
}

/* The rest of the body reads the results as elements of a sequence. */
static void pass_results(ahead *a)
{
    ac_graph *body = a->body;
    for (int32_t i = 0; i < body->node.n; i++) {
        ac_node *m = body->node.item[i];
        if (!m->n_out || !a->product[m->out[0]->id])
            continue;
        for (int32_t k = 0; k < m->n_in; k++)
            if (m->in[k])
                a->uses[m->in[k]->id]--;
    }
    for (int32_t i = 0; i < body->node.n; i++) {
        ac_node *m = body->node.item[i];
        ac_tensor *y = m->n_out ? m->out[0] : NULL;
        if (!y || !a->product[y->id])
            continue;
        ac_node_erase(m);
        a->changed++;
        if (a->uses[y->id])
            insert(a, a->scan.states + a->scan.sequences, a->whole[y->id], y, a->back[y->id]);
    }
    for (int32_t i = a->scan.sequences - 1; i >= 0 && a->scan.sequences > 1; i--)
        if (!a->uses[body->input.item[a->scan.states + i]->id])
            remove_sequence(a, a->scan.states + i);
}

/* n is a SCAN of g, body its subgraph. */
static int move_ahead(ac_pass *p, ac_graph *g, ac_node *n, ac_graph *body, ac_region *tmp)
{
    ahead a = {.g = g, .body = body, .n = n, .tmp = tmp, .found = p->opt->ahead};
    const int32_t count = body->tensor.n + 1;
    AC_TRY(ac_scan_of(p->cx, n, &a.scan));
    a.whole = AC_NEW_N(tmp, ac_tensor *, count);
    a.back = AC_NEW_N(tmp, bool, count);
    a.product = AC_NEW_N(tmp, bool, count);
    a.uses = ac_graph_uses(body, tmp);
    for (int32_t i = 0; i < a.scan.sequences; i++) {
        const int32_t id = body->input.item[a.scan.states + i]->id;
        a.whole[id] = n->in[a.scan.states + i];
        a.back[id] = ac_scan_goes_back(n, i);
    }
    for (int32_t i = 0; i < body->node.n; i++)
        AC_TRY(take(&a, body->node.item[i]));
    if (a.found->off)
        return AC_OK;
    pass_results(&a);
    ac_graph_sweep(body);
    p->changed += a.changed;
    return AC_OK;
}

static int scan_graph(ac_pass *p, ac_graph *g, ac_region *tmp)
{
    for (int32_t i = 0; i < g->node.n; i++) {
        ac_node *n = g->node.item[i];
        if (n->op != AC_OP_SCAN)
            continue;
        AC_TRY(move_ahead(p, g, n, p->graph->sub.item[n->attrs.scan.first - 1], tmp));
        i = ac_graph_place_of(g, n);
    }
    return AC_OK;
}

/* ac_pass_ahead: products of elements of a sequence and constants, and element-wise operators on them, are computed for
 * all steps of a SCAN at once, as one product of many rows.
 *   before:  %h %y = scan %h0 %x: f32[T,B,K] (body %p = fully_connected %x_t %w   %h1 = tanh %p + ..)
 *   after:   %p = fully_connected %x %w: f32[T,B,N]   %h %y = scan %h0 %p (body %h1 = tanh %p_t + ..)
 * needs: shapes known.  guarantees: the same.  cost: memory for the products of all steps. If they are off, the pass
 * only counts them, for reports. */
int ac_pass_ahead(ac_pass *p)
{
    ac_region *tmp = ac_region_open(&p->cx->heap);
    int status = scan_graph(p, p->graph, tmp);
    for (int32_t i = 0; i < p->graph->sub.n && status == AC_OK; i++)
        status = scan_graph(p, p->graph->sub.item[i], tmp);
    ac_region_close(tmp);
    return status;
}
