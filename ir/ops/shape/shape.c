/* shape.c - helpers of the shape rules: check operands, and set results. */
#include "ir/ops/shape/shape.h"

#include "base/shell.h"

int ac_shape_show(ac_ctx *cx, const ac_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i])
            (void)ac_detail(cx, "input %d  %s  '%s'", i, ac_tensor_str(cx, n->in[i]), n->in[i]->name);
    return AC_FAIL;
}

int ac_shape_operands(ac_ctx *cx, const ac_node *n)
{
    const ac_op_row *row = &ac_ops[n->op];
    if (n->n_in < row->min_in || n->n_in > row->max_in)
        return ac_error(cx, n->at, E0102, "%s has %d operands, expected %d to %d", row->text, n->n_in, row->min_in,
                        row->max_in);
    if (n->n_out < 1 || (row->n_out >= 0 && n->n_out != row->n_out))
        return ac_error(cx, n->at, E0102, "%s has %d results, expected %d", row->text, n->n_out,
                        row->n_out < 0 ? 1 : row->n_out);
    for (int32_t i = 0; i < n->n_in; i++) {
        const ac_tensor *t = n->in[i];
        if (!t) {
            if (i < row->min_in)
                return ac_error(cx, n->at, E0102, "operand %d of %s is missing", i, row->text);
            continue;
        }
        if (t->dtype == AC_NONE)
            return ac_error(cx, n->at, E0105, "operand '%s' has no element type yet", t->name);
        if (t->rank < 0 || t->rank > AC_MAX_RANK)
            return ac_error(cx, n->at, E0205, "operand '%s' has %d dimensions", t->name, t->rank);
        int64_t all = 1;
        for (int32_t d = 0; d < t->rank; d++) {
            if (t->dim[d] < 0) {
                const char *name = t->dim_name[d];
                ac_error(cx, n->at, E0204, "the size of dimension %d of operand '%s' %s is unknown", d, t->name,
                         ac_shape_str(cx, t));
                return ac_help(cx, "pin it with --dim %s", ac_shell_set(cx, name ? name : "NAME", "N"));
            }
            if (t->dim[d] && (!ac_mul_ok(all, t->dim[d], &all) || all > INT32_MAX))
                return ac_error(cx, n->at, E0015, "operand '%s' %s has more than %d elements", t->name,
                                ac_shape_str(cx, t), INT32_MAX);
        }
    }
    return AC_OK;
}

int ac_shape_state(ac_ctx *cx, const ac_graph *g, const ac_node *n, int32_t i)
{
    ac_tensor *t = ac_node_in(n, i);
    if (!t || !t->state)
        return ac_error(cx, n->at, E0102, "operand %d must be a variable tensor: it is written and kept between runs",
                        i);
    bool shared = t->output;
    for (int32_t k = 0; k < g->node.n && !shared; k++) {
        const ac_node *m = g->node.item[k];
        for (int32_t j = 0; j < m->n_in; j++)
            shared |= m->in[j] == t && (m != n || j != i);
    }
    if (shared)
        return ac_error(cx, n->at, E0108, "state '%s' is also used elsewhere; supported is one operator for each state",
                        t->name);
    if (t->dtype == AC_I8 && t->quant && t->quant->n == 1 && t->quant->zero[0] && !t->data) {
        const int64_t count = ac_tensor_count(t);
        int8_t *first = AC_NEW_N(cx->region, int8_t, count);
        for (int64_t k = 0; k < count; k++)
            first[k] = (int8_t)t->quant->zero[0];
        t->data = first;
    }
    return AC_OK;
}

int ac_shape_state_sized(ac_ctx *cx, const ac_graph *g, const ac_node *n, int32_t i, ac_dtype d, int64_t count)
{
    AC_TRY(ac_shape_state(cx, g, n, i));
    ac_tensor *t = n->in[i];
    if (count > INT32_MAX)
        return ac_error(cx, n->at, E0015, "state '%s' needs %lld elements, at most 2147483647", t->name,
                        (long long)count);
    if (!t->data && t->rank == 1 && !t->dim[0]) {
        t->dtype = d;
        t->dim[0] = count;
    }
    if (t->dtype != d || ac_tensor_count(t) != count)
        return ac_error(cx, n->at, E0104, "state '%s' is %s %s, expected %lld elements of %s", t->name,
                        ac_dtype_name(t->dtype), ac_shape_str(cx, t), (long long)count, ac_dtype_name(d));
    return AC_OK;
}

int ac_shape_rank(ac_ctx *cx, const ac_node *n, int32_t i, int32_t rank, const char *layout)
{
    const ac_tensor *t = n->in[i];
    if (t->rank == rank)
        return AC_OK;
    return ac_error(cx, n->at, E0104, "operand '%s' is %s, expected %d dimension%s %s", t->name, ac_shape_str(cx, t),
                    rank, rank == 1 ? "" : "s", layout);
}

int ac_shape_index(ac_ctx *cx, const ac_node *n, int32_t i)
{
    const ac_dtype d = n->in[i]->dtype;
    if (d == AC_I16 || d == AC_I32 || d == AC_I64)
        return AC_OK;
    return ac_error(cx, n->at, E0105, "indices '%s' are %s, expected i16, i32 or i64", n->in[i]->name,
                    ac_dtype_name(d));
}

int ac_shape_same_type(ac_ctx *cx, const ac_node *n, int32_t i, int32_t k)
{
    const ac_tensor *a = n->in[i], *b = n->in[k];
    if (a->dtype == b->dtype)
        return AC_OK;
    ac_error(cx, n->at, E0105, "'%s' is %s, but '%s' is %s; expected the same type", a->name, ac_dtype_name(a->dtype),
             b->name, ac_dtype_name(b->dtype));
    return ac_shape_show(cx, n);
}

int ac_shape_result_type(ac_ctx *cx, const ac_node *n, int32_t i, ac_dtype d)
{
    const ac_tensor *t = n->out[i];
    if (t->dtype == AC_NONE || t->dtype == d)
        return AC_OK;
    ac_error(cx, n->at, E0105, "result '%s' is declared as %s, but %s of these operands gives %s", t->name,
             ac_dtype_name(t->dtype), ac_ops[n->op].text, ac_dtype_name(d));
    return ac_shape_show(cx, n);
}

int ac_shape_set(ac_ctx *cx, ac_node *n, int32_t i, ac_dtype d, int32_t rank, const int64_t *dim)
{
    ac_tensor *t = n->out[i];
    if (rank > AC_MAX_RANK)
        return ac_error(cx, n->at, E0205, "result '%s' would have %d dimensions, at most %d are possible", t->name,
                        rank, AC_MAX_RANK);
    int64_t all = 1; /* zeros are skipped: inner extents of an empty tensor must still be valid indices */
    for (int32_t k = 0; k < rank; k++) {
        if (dim[k] < 0)
            return ac_error(cx, n->at, E0201, "dimension %d of result '%s' would be %lld", k, t->name,
                            (long long)dim[k]);
        if (dim[k] && (!ac_mul_ok(all, dim[k], &all) || all > INT32_MAX)) {
            ac_error(cx, n->at, E0015, "result '%s' would have more than %d elements", t->name, INT32_MAX);
            return ac_shape_show(cx, n);
        }
    }
    if (t->dtype == AC_NONE)
        t->dtype = d;
    t->rank = rank;
    for (int32_t k = 0; k < rank; k++)
        t->dim[k] = dim[k];
    for (int32_t k = rank; k < AC_MAX_RANK; k++) {
        t->dim[k] = 0;
        t->dim_name[k] = NULL;
    }
    return AC_OK;
}

void ac_shape_inherit_quant(ac_tensor *to, const ac_tensor *from)
{
    if (!to->quant && from->quant && from->quant->n == 1 && to->dtype == from->dtype)
        to->quant = from->quant;
}

int ac_shape_set_like(ac_ctx *cx, ac_node *n, int32_t i, const ac_tensor *from, int32_t rank, const int64_t *dim)
{
    AC_TRY(ac_shape_result_type(cx, n, i, from->dtype));
    AC_TRY(ac_shape_set(cx, n, i, from->dtype, rank, dim));
    ac_shape_inherit_quant(n->out[i], from);
    return AC_OK;
}

int ac_shape_new_shape(ac_ctx *cx, const ac_node *n, int32_t i, ac_ints attr, ac_ints *out)
{
    const ac_tensor *t = ac_node_in(n, i), *y = n->out[0];
    bool declared = t && !ac_tensor_is_const(t) && y->dtype != AC_NONE && y->rank > 0;
    for (int32_t d = 0; declared && d < y->rank; d++)
        declared = y->dim[d] >= 0 && !y->dim_name[d];
    if (!declared)
        return ac_node_ints(cx, n, i, attr, out);
    int64_t *v = AC_NEW_N(cx->region, int64_t, y->rank);
    for (int32_t d = 0; d < y->rank; d++)
        v[d] = y->dim[d];
    *out = (ac_ints){y->rank, v};
    ac_warn(cx, n->at, W0001, "'%s' gives a shape at run time; the declared shape %s of '%s' is used instead", t->name,
            ac_shape_str(cx, y), y->name);
    return AC_OK;
}

/* The dimension of `want` that is, or is a multiple of, the old batch, so that with the new one the shape has `count`
 * elements; -1: none. */
static int32_t batch_dim(const ac_graph *g, ac_ints want, int64_t count)
{
    for (int exact = 1; exact >= 0; exact--)
        for (int32_t d = 0; d < want.n; d++) {
            int64_t all = 1;
            bool fits = exact ? want.v[d] == g->batch_was : want.v[d] > 0 && want.v[d] % g->batch_was == 0;
            for (int32_t k = 0; k < want.n && fits; k++)
                fits = want.v[k] >= 0 && ac_mul_ok(all, k == d ? want.v[k] / g->batch_was : want.v[k], &all);
            if (fits && ac_mul_ok(all, g->batch, &all) && all == count)
                return d;
        }
    return -1;
}

void ac_shape_rebatch(ac_ctx *cx, const ac_graph *g, ac_node *n, bool same_count, ac_ints *want)
{
    const ac_tensor *x = n->in[0];
    int64_t known = 1;
    bool rest = false;
    int32_t d = -1;
    if (!g->batch || (same_count && (ac_tensor_is_const(x) || x->state)) || want->n < 1 || want->n > AC_MAX_RANK)
        return;
    for (int32_t k = 0; k < want->n; k++) {
        rest |= want->v[k] < 0;
        known *= want->v[k] > 0 ? want->v[k] : 1;
    }
    if (!same_count) /* a broadcast of a tensor without a batch dimension */
        d = g->batch_was > 1 && want->v[0] == g->batch_was &&
                    (x->rank < want->n || x->dim[0] == 1 || x->dim[0] == g->batch)
                ? 0
                : -1;
    else if (rest)
        d = want->v[0] == g->batch_was && x->rank && x->dim[0] % g->batch == 0 ? 0 : -1;
    else if (known != ac_tensor_count(x))
        d = batch_dim(g, *want, ac_tensor_count(x));
    if (d < 0)
        return;
    int64_t *own = ac_copy(cx->region, want->v, (size_t)want->n * sizeof *own);
    own[d] = own[d] / g->batch_was * g->batch;
    *want = n->attrs.shape.shape = (ac_ints){want->n, own};
    n->n_in = 1;
}

int ac_shape_broadcast(ac_ctx *cx, const ac_node *n, uint32_t mask, int32_t *rank, int64_t dim[AC_MAX_RANK])
{
    *rank = 0;
    for (int32_t i = 0; i < n->n_in; i++)
        if (mask & 1u << i && n->in[i] && n->in[i]->rank > *rank)
            *rank = n->in[i]->rank;
    for (int32_t d = 0; d < *rank; d++)
        dim[d] = 1;
    for (int32_t i = 0; i < n->n_in; i++) {
        const ac_tensor *t = mask & 1u << i ? n->in[i] : NULL;
        for (int32_t k = 0; t && k < t->rank; k++) {
            const int32_t d = *rank - t->rank + k;
            if (t->dim[k] == 1 || t->dim[k] == dim[d])
                continue;
            if (dim[d] != 1) {
                ac_error(cx, n->at, E0104,
                         "shapes do not broadcast: '%s' has %lld in dimension %d from the end, expected %lld or 1",
                         t->name, (long long)t->dim[k], *rank - d, (long long)dim[d]);
                return ac_shape_show(cx, n);
            }
            dim[d] = t->dim[k];
        }
    }
    return AC_OK;
}
