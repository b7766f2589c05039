/* cache_rows.c - follows the rows of a cache: a rule for each operator whose result has rows as well. cache_rows.h */
#include "ir/pass/state/cache_rows.h"

#include "ir/ops/decode/axis.h"

#define AC_NO_ROWS ((ac_rows_at){.axis = -1})

ac_row_walk ac_rows_open(ac_ctx *cx, const ac_graph *g, ac_region *tmp)
{
    ac_row_walk w = {cx, tmp, AC_NEW_N(tmp, ac_rows_at, g->tensor.n + 1), g->tensor.n};
    for (int32_t i = 0; i < w.n; i++)
        w.of[i] = AC_NO_ROWS;
    return w;
}

void ac_rows_set(ac_row_walk *w, const ac_tensor *t, ac_rows_at at)
{
    if (t->id >= w->n) {
        const int32_t n = 2 * t->id + 1;
        ac_rows_at *of = AC_NEW_N(w->tmp, ac_rows_at, n);
        for (int32_t i = 0; i < n; i++)
            of[i] = i < w->n ? w->of[i] : AC_NO_ROWS;
        w->of = of;
        w->n = n;
    }
    w->of[t->id] = at;
}

ac_rows_at ac_rows_of(const ac_row_walk *w, const ac_tensor *t)
{
    return t && t->id < w->n ? w->of[t->id] : AC_NO_ROWS;
}

/* The dimension of y that is dimension `axis` of x, the elements being in the same order; -1: none. */
static int32_t same_axis(const ac_tensor *x, int32_t axis, const ac_tensor *y)
{
    const int64_t before = ac_dim_product(x->dim, 0, axis);
    for (int32_t d = 0; d < y->rank; d++)
        if (y->dim[d] == x->dim[axis] && ac_dim_product(y->dim, 0, d) == before)
            return d;
    return -1;
}

/* True if all elements of x in invalid rows are +0. Elements of valid rows may have any value. */
static bool is_zero(const ac_row_walk *w, ac_tensor *x)
{
    const ac_rows_at r = ac_rows_of(w, x);
    if (r.axis >= 0)
        return r.zero;
    const uint8_t *v = x && ac_tensor_is_const(x) ? ac_tensor_force(w->cx, x) : NULL;
    const int64_t n = v ? ac_tensor_bytes(x) : 0;
    int64_t i = 0;
    while (i < n && v[i] == 0)
        i++;
    return v && i == n;
}

/* True if the element-wise result is 0 in invalid rows. One factor suffices; a condition only selects a value
 * (exporters replace NaN weights of a softmax by 0 like that). */
static bool map_zero(const ac_row_walk *w, const ac_node *n)
{
    switch ((int)n->op) {
    case AC_OP_MUL:
        return (ac_rows_of(w, n->in[0]).axis >= 0 && is_zero(w, n->in[0])) ||
               (ac_rows_of(w, n->in[1]).axis >= 0 && is_zero(w, n->in[1]));
    case AC_OP_ADD:
    case AC_OP_SUB:
    case AC_OP_MINIMUM:
    case AC_OP_MAXIMUM:
        return is_zero(w, n->in[0]) && is_zero(w, n->in[1]);
    case AC_OP_SELECT:
        return is_zero(w, n->in[1]) && is_zero(w, n->in[2]);
    case AC_OP_ABS:
    case AC_OP_CAST:
    case AC_OP_NEG:
    case AC_OP_RELU:
        return is_zero(w, n->in[0]);
    default:
        return false;
    }
}

/* Element-wise: dimensions correspond to those of the result, from the last. */
static bool map_rows(const ac_row_walk *w, const ac_node *n, ac_rows_at *to)
{
    const ac_tensor *y = n->out[0];
    for (int32_t i = 0; i < n->n_in; i++) {
        const ac_rows_at r = ac_rows_of(w, n->in[i]);
        const int32_t axis = r.axis < 0 ? -1 : r.axis + y->rank - n->in[i]->rank;
        if (axis < 0)
            continue;
        if (to->axis >= 0 && to->axis != axis)
            return false;
        to->axis = axis;
    }
    to->zero = map_zero(w, n);
    return true;
}

/* adj: the last two dimensions are swapped. Sets `along`: the sum goes over the rows. */
static int32_t matrix_axis(const ac_tensor *t, int32_t axis, bool adj, bool left, bool *along, int32_t rank)
{
    const int32_t last = t->rank - 1, row = adj ? last : last - 1, column = adj ? last - 1 : last;
    *along = axis == (left ? column : row);
    return axis < last - 1 ? axis + rank - t->rank : left ? rank - 2 : rank - 1;
}

static bool matmul_rows(const ac_row_walk *w, const ac_node *n, ac_rows_at *to)
{
    const bool adj[] = {n->attrs.matmul.adj_x, n->attrs.matmul.adj_y};
    bool along[2] = {false, false}, zero = false;
    for (int32_t i = 0; i < 2; i++) {
        const ac_rows_at r = ac_rows_of(w, n->in[i]);
        if (r.axis < 0)
            continue;
        const int32_t axis = matrix_axis(n->in[i], r.axis, adj[i], i == 0, &along[i], n->out[0]->rank);
        zero |= along[i] && r.zero;
        if (along[i])
            continue;
        if (to->axis >= 0 && to->axis != axis)
            return false;
        to->axis = axis;
    }
    return zero || (!along[0] && !along[1]);
}

static bool dense_rows(const ac_row_walk *w, const ac_node *n, ac_rows_at *to)
{
    const ac_tensor *x = n->in[0];
    const ac_rows_at r = ac_rows_of(w, x);
    if (r.axis < 0 || r.axis == x->rank - 1 || ac_rows_of(w, n->in[1]).axis >= 0 || x->rank != n->out[0]->rank)
        return false;
    to->axis = r.axis;
    return true;
}

static bool transposed_rows(const ac_row_walk *w, const ac_node *n, ac_rows_at *to)
{
    int32_t perm[AC_MAX_RANK];
    const ac_rows_at r = ac_rows_of(w, n->in[0]);
    if (ac_perm_of(w->cx, n, perm) != AC_OK)
        return false;
    for (int32_t d = 0; d < n->out[0]->rank; d++)
        if (perm[d] == r.axis)
            to->axis = d;
    to->zero = r.zero;
    return to->axis >= 0;
}

/* All operands are joined along another dimension. */
static bool joined_rows(const ac_row_walk *w, const ac_node *n, ac_rows_at *to)
{
    int32_t axis;
    to->zero = true;
    if (ac_axis_norm(w->cx, n, n->attrs.axis.axis, n->out[0]->rank, &axis) != AC_OK)
        return false;
    for (int32_t i = 0; i < n->n_in; i++) {
        const ac_rows_at r = ac_rows_of(w, n->in[i]);
        to->zero &= r.axis >= 0 && r.zero;
        if (r.axis < 0)
            continue;
        if (r.axis == axis || (to->axis >= 0 && to->axis != r.axis))
            return false;
        to->axis = r.axis;
    }
    return true;
}

/* The result has each row, perhaps several times. */
static bool repeated_rows(const ac_row_walk *w, const ac_node *n, ac_rows_at *to)
{
    const ac_tensor *x = n->in[0], *y = n->out[0];
    const ac_rows_at r = ac_rows_of(w, x);
    *to = (ac_rows_at){r.axis + y->rank - x->rank, r.zero};
    return r.axis >= 0 && y->dim[to->axis] == x->dim[r.axis];
}

static bool viewed_rows(const ac_row_walk *w, const ac_node *n, ac_rows_at *to)
{
    const ac_rows_at r = ac_rows_of(w, n->in[0]);
    *to = (ac_rows_at){r.axis < 0 ? -1 : same_axis(n->in[0], r.axis, n->out[0]), r.zero};
    return to->axis >= 0;
}

/* Along another dimension. follow_rows handles a softmax along the rows. */
static bool softmax_rows(const ac_row_walk *w, const ac_node *n, ac_rows_at *to)
{
    to->axis = ac_rows_of(w, n->in[0]).axis;
    return true;
}

typedef bool rule(const ac_row_walk *w, const ac_node *n, ac_rows_at *to);

static rule *rule_of(ac_op op)
{
    static const struct {
        ac_op op;
        rule *f;
    } RULES[] = {
        {AC_OP_BATCH_MATMUL, matmul_rows},  {AC_OP_FULLY_CONNECTED, dense_rows}, {AC_OP_TRANSPOSE, transposed_rows},
        {AC_OP_CONCATENATION, joined_rows}, {AC_OP_BROADCAST_TO, repeated_rows}, {AC_OP_TILE, repeated_rows},
        {AC_OP_SOFTMAX, softmax_rows},      {AC_OP_BLOCKWISE_DENSE, dense_rows},
    };
    if (ac_ops[op].map)
        return ac_ops[op].flags & OF_STATE ? NULL : map_rows;
    if (ac_ops[op].flags & OF_VIEW)
        return viewed_rows;
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++)
        if (RULES[i].op == op)
            return RULES[i].f;
    return NULL;
}

bool ac_rows_follow(const ac_row_walk *w, const ac_node *n, ac_rows_at *to)
{
    rule *f = rule_of(n->op);
    *to = AC_NO_ROWS;
    return f && f(w, n, to);
}

bool ac_rows_read(const ac_row_walk *w, const ac_node *n)
{
    bool any = false;
    for (int32_t i = 0; i < n->n_in; i++)
        any |= ac_rows_of(w, n->in[i]).axis >= 0;
    return any;
}
