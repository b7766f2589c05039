/* shapes.c - infers one node at a time: the shapes and types of its results, and their values if shapes depend on them.
 * Part of pass infer. */
#include "ir/pass/flow/shapes.h"
#include "ir/ops/shape/resolve.h"
#include "ir/ops/shape/shape.h"

#include <string.h>

/* ------------------------------------------------------------------ shapes */

bool ac_shapes_operands(const ac_shapes *s, const ac_node *n)
{
    bool known = true;
    for (int32_t i = 0; i < n->n_in; i++)
        known &= !n->in[i] || !s->unknown[n->in[i]->id];
    for (int32_t f = 0; f < n->n_fused; f++)
        known &= ac_shapes_operands(s, n->fused[f]);
    return known;
}

/* Loops count elements in 32 bits. */
static int check_size(ac_shapes *s, ac_place at, const ac_tensor *t)
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

/* A shape declared in a text must be the inferred one. Binary files often contain stale shapes. */
static int check_declared(ac_shapes *s, const ac_node *n, const ac_tensor *was, const ac_tensor *t)
{
    if (!s->p->opt->declared || s->g->batch || !fully_declared(was) ||
        (was->dtype == t->dtype && ac_tensor_same_shape(was, t)))
        return AC_OK;
    ac_error(s->p->cx, n->at, was->dtype == t->dtype ? E0104 : E0105,
             "result '%s' is declared as %s, but %s makes it %s", t->name, ac_tensor_str(s->p->cx, was),
             ac_ops[n->op].text, ac_tensor_str(s->p->cx, t));
    return ac_help(s->p->cx, "the declared type may be left out");
}

int ac_shapes_node(ac_shapes *s, ac_node *n)
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
        AC_TRY(ac_shapes_node(s, n->fused[f]));
    return AC_OK;
}

/* ------------------------------------------------------------------ values on which shapes depend */

bool ac_shapes_fold(ac_shapes *s, ac_node *n)
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

void ac_shapes_see(ac_shapes *s)
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

void ac_shapes_give_up(ac_shapes *s, const ac_node *n)
{
    for (int32_t k = 0; k < n->n_out; k++)
        s->unknown[n->out[k]->id] = true;
    if (n->n_fused)
        s->unknown[ac_node_result(n)->id] = true;
    s->failed = true;
}

bool ac_shapes_known(const ac_shapes *s, ac_tensor *const *t, int32_t n)
{
    bool known = true;
    for (int32_t i = 0; i < n; i++)
        known &= !s->unknown[t[i]->id];
    return known;
}
