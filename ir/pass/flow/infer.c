/* infer.c - types and shapes of everything, and the constants that follow from shapes. */
#include "ir/ops/shape/resolve.h"
#include "ir/ops/shape/shape.h"
#include "ir/pass/flow/inline.h"

#include <string.h>

struct ac_infer {
    ac_pass *p;
    ac_graph *g;
    bool *unknown;          /* by tensor id: its shape could not be found, and a diagnostic has said why */
    int32_t n_unknown, cap; /* tensors seen so far: more come when subgraphs are inlined */
    bool failed;
    ac_inline *flow;
};

/* ------------------------------------------------------------------ shapes */

static bool inputs_known(const ac_infer *s, const ac_node *n)
{
    bool known = true;
    for (int32_t i = 0; i < n->n_in; i++)
        known &= !n->in[i] || !s->unknown[n->in[i]->id];
    for (int32_t f = 0; f < n->n_fused; f++)
        known &= inputs_known(s, n->fused[f]);
    return known;
}

/* Loops count elements in 32 bits. */
static int check_size(ac_infer *s, ac_place at, const ac_tensor *t)
{
    int64_t n = 1;
    for (int32_t d = 0; d < t->rank; d++) {
        if (t->dim[d] < 0)
            return ac_error(s->p->cx, at, E0203, "dimension %d of result '%s' is not known before the model runs", d,
                            t->name);
        if (t->dim[d] > 0 && (!ac_mul_ok(n, t->dim[d], &n) || n > INT32_MAX))
            return ac_error(s->p->cx, at, E0015, "'%s' is %s: more than 2147483647 elements", t->name,
                            ac_tensor_str(s->p->cx, t));
    }
    return AC_OK;
}

static bool fully_declared(const ac_tensor *t)
{
    for (int32_t d = 0; d < t->rank; d++)
        if (t->dim[d] < 0 || t->dim_name[d])
            return false;
    return t->dtype != AC_NONE;
}

/* A shape somebody wrote in a text must be the shape that comes out. Binary files often carry stale ones. */
static int check_declared(ac_infer *s, const ac_node *n, const ac_tensor *was, const ac_tensor *t)
{
    if (!s->p->opt->declared || s->g->batch || !fully_declared(was) ||
        (was->dtype == t->dtype && ac_tensor_same_shape(was, t)))
        return AC_OK;
    ac_error(s->p->cx, n->at, was->dtype == t->dtype ? E0104 : E0105,
             "result '%s' is declared as %s, but %s makes it %s", t->name, ac_tensor_str(s->p->cx, was),
             ac_ops[n->op].text, ac_tensor_str(s->p->cx, t));
    return ac_help(s->p->cx, "the declared type may be left out");
}

static int infer_node(ac_infer *s, ac_node *n)
{
    ac_region *r = s->p->cx->region;
    ac_tensor *was = AC_NEW_N(r, ac_tensor, n->n_out + 1);
    for (int32_t i = 0; i < n->n_out; i++)
        was[i] = *n->out[i];
    AC_TRY(ac_op_shape(s->p->cx, s->g, n));
    for (int32_t i = 0; i < n->n_out; i++) {
        ac_tensor *t = n->out[i];
        AC_TRY(check_size(s, n->at, t));
        AC_TRY(check_declared(s, n, &was[i], t));
        memset(t->dim_name, 0, sizeof t->dim_name); /* all numbers now */
        s->p->changed += was[i].dtype != t->dtype || !ac_tensor_same_shape(&was[i], t);
    }
    for (int32_t f = 0; f < n->n_fused; f++)
        AC_TRY(infer_node(s, n->fused[f]));
    return AC_OK;
}

/* ------------------------------------------------------------------ values that shapes are computed from */

static bool fold_small(ac_infer *s, ac_node *n)
{
    ac_tensor *y = n->out[0];
    if (n->n_out != 1 || ac_tensor_count(y) > AC_SMALL || (n->n_in && n->in[0] && ac_node_keeps_bytes(n)) ||
        (s->p->opt->reference && !ac_dtype_is_int(y->dtype) && y->dtype != AC_BOOL))
        return false;
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && !ac_tensor_is_small_const(n->in[i]))
            return false;
    if (!ac_fold_node(s->g, n))
        return false;
    s->failed |= !ac_tensor_force(s->p->cx, y); /* its diagnostic has been recorded */
    return true;
}

/* Notes the tensors that are new since the last time, and checks those that no node makes. */
static void see_tensors(ac_infer *s)
{
    const ac_graph *g = s->g;
    if (g->tensor.n >= s->cap) {
        const bool *old = s->unknown;
        s->cap = 2 * g->tensor.n + 1;
        s->unknown = AC_NEW_N(s->p->cx->region, bool, s->cap);
        for (int32_t i = 0; i < s->n_unknown; i++)
            s->unknown[i] = old[i];
    }
    for (; s->n_unknown < g->tensor.n; s->n_unknown++) {
        const ac_tensor *t = g->tensor.item[s->n_unknown];
        if ((t->input || t->state || ac_tensor_is_const(t)) && check_size(s, (ac_place){.file = g->file}, t) != AC_OK)
            s->failed = s->unknown[s->n_unknown] = true;
    }
}

static void give_up(ac_infer *s, const ac_node *n)
{
    for (int32_t k = 0; k < n->n_out; k++)
        s->unknown[n->out[k]->id] = true;
    if (n->n_fused)
        s->unknown[ac_node_result(n)->id] = true;
    s->failed = true;
}

bool ac_infer_knows(const ac_infer *s, ac_tensor *const *t, int32_t n)
{
    bool known = true;
    for (int32_t i = 0; i < n; i++)
        known &= !s->unknown[t[i]->id];
    return known;
}

/* Node number i, IF or WHILE, is replaced by the nodes in front of it, or stays. The number of new nodes. */
static int32_t infer_flow(ac_infer *s, int32_t i)
{
    const ac_node was = *s->g->node.item[i]; /* its results, should it fail after it was erased */
    const int32_t end = s->g->node.n;
    const int status = ac_inline_node(s->flow, s->g->node.item[i]);
    see_tensors(s);
    if (status != AC_OK)
        give_up(s, &was);
    s->p->changed++;
    ac_graph_place(s->g, end, i);
    return s->g->node.n - end;
}

void ac_infer_nodes(ac_infer *s, int32_t from)
{
    see_tensors(s);
    for (int32_t i = from; i < s->g->node.n; i++) {
        ac_node *n = s->g->node.item[i];
        if (n->op == AC_OP_NONE)
            continue;
        const bool known = inputs_known(s, n);
        if (known && ac_ops[n->op].flags & OF_FLOW)
            i += infer_flow(s, i);
        else if (known && infer_node(s, n) == AC_OK)
            s->p->changed += ac_node_is_shape(s->p->cx, n) || fold_small(s, n);
        else
            give_up(s, n);
    }
}

/* ac_pass_infer: types and shapes of everything.
 *   before:  input %x: f32[4,8]   %s = shape %x   %y: ? = reshape %z %s
 *   after:   input %x: f32[4,8]   const %s: i32[2] = [4, 8]   %y: f32[4,8] = reshape %z %s
 * needs: nodes in execution order, inputs whose dimensions are numbers.  guarantees: every type and dimension is known,
 * no tensor has more than 2^31-1 elements, paddings are explicit numbers; results of small constants and of shapes are
 * constants, so static operands computed from shapes are; an IF or WHILE that is left (inline.c) decides on data, and
 * its subgraphs are as the graph is. Every independent error is reported; readers of a failed result are skipped. */
int ac_pass_infer(ac_pass *p)
{
    ac_infer s = {.p = p, .g = p->graph};
    s.flow = ac_inline_open(p, &s);
    ac_infer_nodes(&s, 0);
    ac_inline_end(s.flow);
    ac_graph_sweep(s.g);
    return s.failed ? AC_FAIL : AC_OK;
}
