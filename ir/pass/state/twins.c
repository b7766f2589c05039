/* twins.c - finds the values of a graph that depend on the length of its caches: it is compared with the same model for
 * one row more or fewer, and for far fewer, since a value may grow with the last rows only. twins.h */
#include "ir/pass/state/twins.h"

#include <string.h>

/* ------------------------------------------------------------------ dependence on the length */

const ac_node *ac_twin_maker(const ac_tensor *t)
{
    return t->def ? t->def : t->made_of;
}

static bool same_bytes(const ac_tensor *a, const ac_tensor *b)
{
    const void *x = a->data ? a->data : a->raw, *y = b->data ? b->data : b->raw;
    if (!ac_tensor_same_shape(a, b) || a->dtype != b->dtype || a->splat != b->splat)
        return false;
    const ac_bytes n = a->splat ? ac_dtype_size(a->dtype, 1) : ac_tensor_bytes(a);
    return x == y || (x && y && !memcmp(x, y, (size_t)n));
}

bool ac_twin_operand(const ac_twin *x, int32_t i, ac_twin *o)
{
    bool all = true;
    for (int32_t k = 0; k < AC_TWINS; k++) {
        const ac_node *n = ac_twin_maker(x->t[k]);
        o->t[k] = n && i < n->n_in ? n->in[i] : NULL;
        all &= o->t[k] != NULL;
    }
    return all;
}

bool ac_twin_depends(const ac_lengths *l, const ac_twin *x)
{
    const ac_tensor *a = x->t[AC_HERE], *b = x->t[AC_OTHER];
    return a->def ? l->depends[a->id] : !same_bytes(a, b);
}

bool ac_twin_axis(const ac_tensor *a, const ac_tensor *b, int32_t *axis)
{
    int32_t differ = 0;
    *axis = -1;
    for (int32_t d = 0; d < a->rank && a->rank == b->rank; d++)
        if (a->dim[d] != b->dim[d]) {
            *axis = d;
            differ++;
        }
    return a->rank == b->rank && differ < 2;
}

/* ------------------------------------------------------------------ values */

/* True if one is the beginning of the other, along the only dimension in which they differ. */
static bool same_beginning(const ac_tensor *a, const uint8_t *x, const ac_tensor *b, const uint8_t *y)
{
    int32_t axis;
    if (a->dtype != b->dtype || !ac_twin_axis(a, b, &axis))
        return false;
    if (axis < 0) /* weights are the same bytes of a file, and are not read */
        return x == y || !memcmp(x, y, (size_t)ac_tensor_bytes(a));
    const ac_bytes row = ac_dtype_size(a->dtype, ac_dim_product(a->dim, axis + 1, a->rank));
    const int64_t n = ac_dim_product(a->dim, 0, axis), less = a->dim[axis] < b->dim[axis] ? a->dim[axis] : b->dim[axis];
    bool same = true;
    for (int64_t i = 0; i < n && same; i++)
        same = !memcmp(x + i * a->dim[axis] * row, y + i * b->dim[axis] * row, (size_t)(less * row));
    return same;
}

static int64_t integer_at(const ac_tensor *t, const void *v, int64_t i)
{
    return t->dtype == AC_I64 ? ((const int64_t *)v)[i] : ((const int32_t *)v)[i];
}

/* True if element i grows by slope[i] with each of `rows` more rows. */
static bool grows_evenly(const ac_tensor *a, const void *x, const ac_tensor *b, const void *y, const int64_t *slope,
                         int64_t rows)
{
    bool is = a->dtype == b->dtype && (a->dtype == AC_I32 || a->dtype == AC_I64) && ac_tensor_same_shape(a, b);
    for (int64_t i = 0, n = is ? ac_tensor_count(a) : 0; i < n && is; i++)
        is = integer_at(b, y, i) - integer_at(a, x, i) == (slope ? slope[i] : 0) * rows;
    return is;
}

bool ac_twin_agrees(const ac_lengths *l, const ac_tensor *t, const int64_t *slope)
{
    const ac_named_constants *named = l->from->named;
    const ac_tensor *a = ac_lengths_named(named, t->name);
    bool agree = true;
    for (int32_t k = 1; k < l->from->n_named && a && agree; k++) {
        const ac_tensor *b = ac_lengths_named(&named[k], t->name);
        if (b)
            agree = slope ? grows_evenly(a, a->data, b, b->data, slope, -named[k].less)
                          : same_beginning(a, a->data, b, b->data);
    }
    return agree;
}

/* The values of a constant of integers, as 64 bits. */
static const int64_t *integers_of(const ac_lengths *l, ac_tensor *t)
{
    const void *v = ac_tensor_is_const(t) ? ac_tensor_force(l->cx, t) : NULL;
    const int64_t n = ac_tensor_count(t);
    int64_t *out = AC_NEW_N(l->tmp, int64_t, n + 1);
    for (int64_t i = 0; i < n && v; i++)
        out[i] = integer_at(t, v, i);
    return v ? out : NULL;
}

const int64_t *ac_twin_even(const ac_lengths *l, const ac_twin *x, const int64_t **slope)
{
    const ac_tensor *a = x->t[AC_NOW], *b = x->t[AC_OTHER];
    const bool are = (a->dtype == AC_I32 || a->dtype == AC_I64) && a->dtype == b->dtype && ac_tensor_same_shape(a, b);
    const int64_t *v = are ? integers_of(l, x->t[AC_NOW]) : NULL, *w = v ? integers_of(l, x->t[AC_OTHER]) : NULL;
    const int64_t n = w ? ac_tensor_count(a) : 0;
    int64_t *by = AC_NEW_N(l->tmp, int64_t, n + 1);
    for (int64_t i = 0; i < n; i++)
        by[i] = (w[i] - v[i]) * l->more;
    *slope = by;
    return w && ac_twin_agrees(l, x->t[AC_HERE], by) ? v : NULL;
}

bool ac_twin_same(const ac_lengths *l, const ac_twin *x, bool *known)
{
    ac_tensor *a = x->t[AC_NOW], *b = x->t[AC_OTHER];
    const bool consts = ac_tensor_is_const(a) && ac_tensor_is_const(b);
    const void *v = consts ? ac_tensor_force(l->cx, a) : NULL, *w = v ? ac_tensor_force(l->cx, b) : NULL;
    *known = w != NULL;
    return w && same_beginning(a, v, b, w) && ac_twin_agrees(l, x->t[AC_HERE], NULL);
}

/* ------------------------------------------------------------------ the graphs */

bool ac_lengths_constant(const ac_lengths *l, const ac_tensor *t)
{
    return ac_tensor_is_const(t) || (t->id < l->n_tensors && l->constant[t->id]);
}

/* Large constants are not computed to find out: results of those that depend on the length depend on it. */
static void find_constants(ac_lengths *l)
{
    l->n_tensors = l->g->tensor.n;
    l->constant = AC_NEW_N(l->tmp, bool, l->n_tensors + 1);
    l->depends = AC_NEW_N(l->tmp, bool, l->n_tensors + 1);
    for (int32_t i = 0; i < l->g->node.n; i++) {
        const ac_node *n = l->g->node.item[i], *m = l->node[AC_OTHER][i];
        bool constant = !(ac_ops[n->op].flags & (OF_STATE | OF_CALLS)) && n->n_in > 0, depends = false;
        for (int32_t k = 0; k < n->n_in; k++) {
            const ac_tensor *a = n->in[k], *b = m->in[k];
            constant &= !a || ac_lengths_constant(l, a);
            depends |= a && (ac_tensor_is_const(a) ? !b || !same_bytes(a, b) : l->depends[a->id]);
        }
        for (int32_t k = 0; k < n->n_out; k++) {
            l->constant[n->out[k]->id] = constant;
            l->depends[n->out[k]->id] = depends || !ac_tensor_same_shape(n->out[k], m->out[k]);
        }
    }
}

int ac_lengths_open(ac_ctx *cx, ac_region *tmp, ac_graph *g, const ac_other_lengths *from, int64_t rows_before,
                    ac_row_walk *rows, ac_lengths **out)
{
    ac_lengths *l = AC_NEW(tmp, ac_lengths);
    *l = (ac_lengths){.cx = cx, .g = g, .tmp = tmp, .from = from, .rows_before = rows_before, .rows = rows};
    *out = NULL;
    if (!from || !from->other)
        return AC_OK;
    ac_graph *const graph[AC_TWINS] = {g, from->now, from->other};
    for (int32_t k = 0; k < AC_TWINS; k++)
        l->node[k] = ac_copy(tmp, graph[k]->node.item, (size_t)(graph[k]->node.n + 1) * sizeof *l->node[k]);
    if (!ac_lengths_same_nodes(g, from->now) || !ac_lengths_same_nodes(g, from->other))
        return ac_error(cx, (ac_place){.file = g->file}, E0502,
                        "--state: the operators of the model change with the capacity of its caches");
    l->more = from->more;
    memcpy(l->graph, graph, sizeof graph);
    find_constants(l);
    for (int32_t k = AC_NOW; k < AC_TWINS; k++)
        for (int32_t i = 0; i < g->node.n; i++)
            ac_fold_node(graph[k], l->node[k][i]);
    *out = l;
    return AC_OK;
}
