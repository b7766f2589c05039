/* layout_rules.c - moves a transpose past each kind of operator: which operands must be transposed alike, and how
 * attributes that name dimensions change. */
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/slice.h"
#include "ir/pass/layout.h"

#include <string.h>

static ac_ints ints(ac_layout *s, const int64_t *v, int32_t n)
{
    return (ac_ints){n, ac_copy(s->cx->region, v, (size_t)(n ? n : 1) * sizeof *v)};
}

static void copy_perm(int32_t *q, const int32_t *perm, int32_t rank)
{
    memcpy(q, perm, (size_t)rank * sizeof *q);
}

/* Operands 0..n-1 of one broadcast: those after the same transpose win when they are larger than those that are not,
 * which would have to be transposed back. */
static bool common(ac_layout *s, ac_node *n, int32_t rank, int32_t *perm)
{
    int64_t best = -1, gain = 0, cost = 0;
    ac_turn t;
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->rank == rank && ac_layout_turned(s, n->in[i], &t) &&
            ac_tensor_bytes(n->in[i]) > best) {
            best = ac_tensor_bytes(n->in[i]);
            copy_perm(perm, t.perm, rank);
        }
    for (int32_t i = 0; i < n->n_in && best >= 0; i++) {
        if (!n->in[i])
            return false;
        const bool turned = n->in[i]->rank == rank && ac_layout_turned(s, n->in[i], &t) &&
                            !memcmp(t.perm, perm, (size_t)rank * sizeof *perm);
        *(turned ? &gain : &cost) += ac_tensor_is_const(n->in[i]) ? 0 : ac_tensor_bytes(n->in[i]);
    }
    return best >= 0 && gain > cost;
}

static void turn_operands(ac_layout *s, ac_node *n, int32_t rank, const int32_t *perm)
{
    ac_turn t;
    for (int32_t i = 0; i < n->n_in; i++)
        n->in[i] = n->in[i]->rank == rank && ac_layout_turned(s, n->in[i], &t) &&
                           !memcmp(t.perm, perm, (size_t)rank * sizeof *perm)
                       ? t.x
                       : ac_layout_back(s, n, n->in[i], rank, perm);
}

static bool element_wise(ac_layout *s, ac_node *n, int32_t *q)
{
    const int32_t rank = n->out[0]->rank;
    if (!common(s, n, rank, q))
        return false;
    turn_operands(s, n, rank, q);
    return true;
}

static bool concatenation(ac_layout *s, ac_node *n, int32_t *q)
{
    const int32_t rank = n->out[0]->rank;
    int32_t axis;
    ac_diags before = s->cx->diags;
    if (!ac_quietly(s->cx, before, ac_axis_norm(s->cx, n, n->attrs.axis.axis, rank, &axis)) || !common(s, n, rank, q))
        return false;
    for (int32_t i = 0; i < n->n_in; i++) /* a scalar constant would keep its shape */
        if (ac_tensor_count(n->in[i]) == 1)
            return false;
    turn_operands(s, n, rank, q);
    n->attrs.axis.axis = q[axis];
    return true;
}

static bool reduction(ac_layout *s, ac_node *n, int32_t *q)
{
    ac_turn t;
    uint32_t mask, moved = 0;
    int64_t axes[AC_MAX_RANK];
    int32_t count = 0, rank = 0;
    ac_diags before = s->cx->diags;
    if (!ac_layout_turned(s, n->in[0], &t) || !ac_quietly(s->cx, before, ac_reduce_axes(s->cx, n, &mask)) || !mask)
        return false;
    const int32_t all = n->in[0]->rank;
    for (int32_t d = 0; d < all; d++)
        if (mask >> d & 1)
            moved |= 1u << t.perm[d];
    for (int32_t d = 0; d < all; d++)
        if (moved >> d & 1)
            axes[count++] = d;
    for (int32_t d = 0; d < all; d++) {
        if (n->attrs.reduce.keep_dims) {
            q[d] = t.perm[d];
        } else if (!(mask >> d & 1)) {
            int32_t at = 0; /* its place among the dimensions that stay */
            for (int32_t e = 0; e < t.perm[d]; e++)
                at += !(moved >> e & 1);
            q[rank++] = at;
        }
    }
    n->attrs.reduce.axes = ints(s, axes, count);
    n->in[0] = t.x;
    n->n_in = 1;
    return true;
}

static bool pad(ac_layout *s, ac_node *n, int32_t *q)
{
    ac_turn t;
    int64_t before[AC_MAX_RANK], after[AC_MAX_RANK], list[2 * AC_MAX_RANK];
    const int32_t rank = n->in[0]->rank;
    ac_diags diags = s->cx->diags;
    if (!ac_layout_turned(s, n->in[0], &t) || !ac_quietly(s->cx, diags, ac_pads_of(s->cx, n, before, after)))
        return false;
    for (int32_t d = 0; d < rank; d++) {
        list[2 * t.perm[d]] = before[d];
        list[2 * t.perm[d] + 1] = after[d];
    }
    const ac_ints pads = ints(s, list, 2 * rank);
    copy_perm(q, t.perm, rank);
    n->in[0] = t.x;
    if (n->op == AC_OP_PADV2) {
        const int64_t dim[2] = {rank, 2};
        n->in[1] = ac_tensor_const(s->g, n->name, AC_I64, 2, dim, pads.v);
        return true;
    }
    *(n->op == AC_OP_MIRROR_PAD ? &n->attrs.mirror.pads : &n->attrs.pad.pads) = pads;
    n->n_in = 1;
    return true;
}

/* Dimensions neither appear nor vanish: entry d of each list is dimension d. */
static bool slice(ac_layout *s, ac_node *n, int32_t *q)
{
    ac_turn t;
    ac_slice of;
    ac_diags before = s->cx->diags;
    int64_t begin[AC_MAX_RANK], end[AC_MAX_RANK], step[AC_MAX_RANK];
    const int32_t rank = n->in[0]->rank;
    const bool strided = n->op == AC_OP_STRIDED_SLICE;
    if (!ac_layout_turned(s, n->in[0], &t) || n->out[0]->rank != rank)
        return false;
    if (strided && (n->attrs.strided.new_axis_mask || n->attrs.strided.shrink_axis_mask))
        return false;
    if (!ac_quietly(s->cx, before, strided ? ac_strided_slice_of(s->cx, n, &of) : ac_slice_of(s->cx, n, &of)))
        return false;
    int32_t end_mask = 0;
    for (int32_t d = 0; d < rank; d++) {
        const int32_t to = t.perm[d];
        begin[to] = of.begin[d];
        step[to] = of.step[d];
        end[to] = strided ? of.begin[d] + of.extent[d] * of.step[d] : of.extent[d];
        if (strided && end[to] < 0) {
            end[to] = 0;
            end_mask |= 1 << to;
        }
        if (strided && (of.extent[d] == 0 || of.begin[d] < 0))
            return false;
    }
    copy_perm(q, t.perm, rank);
    n->in[0] = t.x;
    n->n_in = 1;
    if (strided) {
        ac_attrs_init(n->op, &n->attrs);
        n->attrs.strided.begin = ints(s, begin, rank);
        n->attrs.strided.end = ints(s, end, rank);
        n->attrs.strided.strides = ints(s, step, rank);
        n->attrs.strided.end_mask = end_mask;
    } else {
        n->attrs.slice.begin = ints(s, begin, rank);
        n->attrs.slice.size = ints(s, end, rank);
    }
    return true;
}

/* Operators along the last dimension, when that stays the last. */
static bool last_axis(ac_layout *s, ac_node *n, int32_t *q)
{
    ac_turn t;
    const int32_t rank = n->in[0]->rank;
    if (!ac_layout_turned(s, n->in[0], &t) || rank < 1 || t.perm[rank - 1] != rank - 1)
        return false;
    copy_perm(q, t.perm, rank);
    n->in[0] = t.x;
    return true;
}

/* A group of dimensions that a reshape turns into another group with as many elements. */
typedef struct group {
    int32_t in, n_in, out, n_out;
    int32_t key; /* where it is before the transpose */
} group;

/* The finest groups; 0: none (a dimension is 0). */
static int32_t split_groups(const ac_tensor *x, const ac_tensor *y, group *g)
{
    int32_t n = 0, i = 0, k = 0;
    while (i < x->rank && k < y->rank) {
        int64_t a = x->dim[i], b = y->dim[k];
        g[n] = (group){i++, 1, k++, 1, 0};
        while (a != b) {
            if (!a || !b || (a < b ? i == x->rank : k == y->rank))
                return 0;
            if (a < b) {
                a *= x->dim[i++];
                g[n].n_in++;
            } else {
                b *= y->dim[k++];
                g[n].n_out++;
            }
        }
        n++;
    }
    for (; n && i < x->rank; i++)
        g[n - 1].n_in++;
    for (; n && k < y->rank; k++)
        g[n - 1].n_out++;
    return n;
}

/* Within a group the dimensions longer than 1 must have been neighbours, in this order, before the transpose. */
static bool neighbours(const ac_turn *t, const ac_tensor *y, group *g)
{
    int32_t last = -1;
    g->key = t->perm[g->in];
    for (int32_t d = g->in; d < g->in + g->n_in; d++) {
        if (y->dim[d] == 1)
            continue;
        if (last < 0)
            g->key = t->perm[d];
        for (int32_t e = last + 1; last >= 0 && e < t->perm[d]; e++)
            if (t->x->dim[e] != 1)
                return false;
        if (t->perm[d] < last)
            return false;
        last = t->perm[d];
    }
    return true;
}

static bool reshape(ac_layout *s, ac_node *n, int32_t *q)
{
    ac_turn t;
    group g[AC_MAX_RANK];
    int32_t rank = 0;
    int64_t dim[AC_MAX_RANK];
    ac_tensor *y = n->out[0];
    if (!ac_layout_turned(s, n->in[0], &t) || y->dtype != t.x->dtype)
        return false;
    const int32_t count = split_groups(n->in[0], y, g);
    for (int32_t i = 0; i < count; i++)
        if (!neighbours(&t, n->in[0], &g[i]))
            return false;
    for (int32_t key = 0; key < t.x->rank; key++) /* groups in the order they had before the transpose */
        for (int32_t i = 0; i < count; i++)
            for (int32_t d = g[i].out; g[i].key == key && d < g[i].out + g[i].n_out; d++) {
                q[d] = rank;
                dim[rank++] = y->dim[d];
            }
    if (!count || rank != y->rank)
        return false;
    n->op = AC_OP_RESHAPE;
    ac_attrs_init(n->op, &n->attrs);
    n->attrs.shape.shape = ints(s, dim, rank);
    n->in[0] = t.x;
    n->n_in = 1;
    return true;
}

/* y with its last two dimensions swapped, if a transpose has swapped them before; else NULL. Dimensions of one element
 * may have moved anywhere. */
static ac_tensor *swapped(ac_layout *s, const ac_node *n, const ac_tensor *y)
{
    ac_turn t;
    const int32_t rank = y->rank;
    int32_t last = -1;
    int64_t dim[AC_MAX_RANK];
    bool same = true, plain = true;
    if (rank < 2 || !ac_layout_turned(s, y, &t))
        return NULL;
    for (int32_t k = 0; k < rank; k++) {
        const int32_t d = k < rank - 2 ? k : k == rank - 2 ? rank - 1 : rank - 2;
        dim[k] = y->dim[d];
        same &= t.x->dim[k] == dim[k];
        plain &= t.perm[d] == k;
        if (dim[k] == 1)
            continue;
        if (t.perm[d] < last)
            return NULL;
        last = t.perm[d];
    }
    if (plain)
        return t.x;
    if (dim[rank - 1] == 1 || dim[rank - 2] == 1) /* no more than another shape */
        return NULL;
    return same ? t.x : ac_layout_reshaped(s, n, t.x, rank, dim);
}

/* A swap of the last two dimensions is a flag of the product. */
static bool matmul(ac_layout *s, ac_node *n, int32_t *q)
{
    bool any = false;
    for (int32_t i = 0; i < 2; i++) {
        ac_tensor *x = swapped(s, n, n->in[i]);
        if (!x)
            continue;
        bool *adj = i ? &n->attrs.matmul.adj_y : &n->attrs.matmul.adj_x;
        *adj = !*adj;
        n->in[i] = x;
        any = true;
    }
    for (int32_t d = 0; d < n->out[0]->rank; d++)
        q[d] = d;
    return any;
}

bool ac_layout_rule(ac_layout *s, ac_node *n, int32_t *q)
{
    static const struct {
        ac_op op;
        bool (*rule)(ac_layout *s, ac_node *n, int32_t *q);
    } RULES[] = {
        {AC_OP_BATCH_MATMUL, matmul},
        {AC_OP_CONCATENATION, concatenation},
        {AC_OP_LOG_SOFTMAX, last_axis},
        {AC_OP_MEAN, reduction},
        {AC_OP_MIRROR_PAD, pad},
        {AC_OP_PAD, pad},
        {AC_OP_PADV2, pad},
        {AC_OP_REDUCE_ALL, reduction},
        {AC_OP_REDUCE_ANY, reduction},
        {AC_OP_REDUCE_MAX, reduction},
        {AC_OP_REDUCE_MIN, reduction},
        {AC_OP_REDUCE_PROD, reduction},
        {AC_OP_SLICE, slice},
        {AC_OP_SOFTMAX, last_axis},
        {AC_OP_STRIDED_SLICE, slice},
        {AC_OP_SUM, reduction},
    };
    if (ac_ops[n->op].map)
        return element_wise(s, n, q);
    if (ac_ops[n->op].flags & OF_VIEW)
        return reshape(s, n, q);
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++)
        if (RULES[i].op == n->op)
            return RULES[i].rule(s, n, q);
    return false;
}
