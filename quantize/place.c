/* place.c - which tensors are stored as codes, who reads each of them, and which elements need equal steps.
 *
 * Stored: the operands of products (both where both are computed), of means, pools and resizing, and the result of a
 * concatenation. From there back through operators that only move elements, to the tensor that is made:
 * those run on the codes. Not stored: sums of products that an element-wise operator reads (they stay in registers),
 * operands of normalisations and softmax, residuals that no product reads, outputs.
 *
 * Steps may differ by index of one dimension (channel) if every product that reads the tensor sees them along the
 * inputs of its weights, and every other reader sees one step. So channels are joined that a reader cannot tell apart
 * (union-find), and what remains apart has a label of its own. */
#include "quantize/net.h"

#include "base/text/pattern.h"
#include "ir/ops/decode/axis.h"

#include <math.h>
#include <string.h>

bool ac_q_kept(const ac_qnet *q, const char *name)
{
    for (int32_t i = 0; i < q->o->n_keep; i++)
        if (ac_pattern_match(q->cx->region, q->o->keep[i], name, NULL))
            return true;
    return false;
}

int32_t ac_q_moved(const ac_node *n)
{
    switch ((int)n->op) {
    case AC_OP_RESHAPE:
    case AC_OP_SQUEEZE:
    case AC_OP_EXPAND_DIMS:
    case AC_OP_TRANSPOSE:
    case AC_OP_SLICE:
    case AC_OP_STRIDED_SLICE:
    case AC_OP_SPLIT_V:
    case AC_OP_RESIZE_NEAREST_NEIGHBOR:
        return 0;
    case AC_OP_MAX_POOL_2D:
        return n->attrs.pool.act == AC_ACT_NONE ? 0 : -1;
    case AC_OP_SPLIT:
        return n->n_in - 1;
    default:
        return -1;
    }
}

static double number_of(ac_ctx *cx, ac_tensor *t, double otherwise)
{
    const void *data = t && ac_tensor_is_const(t) && ac_tensor_count(t) == 1 ? ac_tensor_force(cx, t) : NULL;
    return data ? ac_dtype_get_num(t->dtype, data, 0) : otherwise;
}

bool ac_q_clip(ac_ctx *cx, const ac_node *n, double *lo, double *hi)
{
    *lo = -HUGE_VAL;
    *hi = HUGE_VAL;
    switch ((int)n->op) {
    case AC_OP_RELU:
        *lo = 0;
        return true;
    case AC_OP_RELU6:
        *lo = 0;
        *hi = 6;
        return true;
    case AC_OP_RELU_0_TO_1:
        *lo = 0;
        *hi = 1;
        return true;
    case AC_OP_RELU_N1_TO_1:
        *lo = -1;
        *hi = 1;
        return true;
    case AC_OP_MINIMUM:
        *hi = number_of(cx, n->in[1], HUGE_VAL);
        return *hi < HUGE_VAL;
    case AC_OP_MAXIMUM:
        *lo = number_of(cx, n->in[1], -HUGE_VAL);
        return *lo > -HUGE_VAL;
    default:
        return false;
    }
}

/* The maximum that the operator of t gives. */
static double top_of(const ac_qnet *q, const ac_tensor *t)
{
    double lo, hi;
    if (q->made_by[t->id] < 0)
        return HUGE_VAL;
    const ac_node *n = q->step[q->made_by[t->id]].node;
    if (n->op == AC_OP_SOFTMAX || n->op == AC_OP_LOGISTIC)
        return 1;
    return ac_q_clip(q->cx, n, &lo, &hi) && hi > 0 ? hi : HUGE_VAL;
}

/* ------------------------------------------------------------------ which */

/* The tensor that t is, or is moved from: only those are stored. */
static ac_tensor *origin(const ac_qnet *q, ac_tensor *t)
{
    while (q->made_by[t->id] >= 0) {
        const ac_node *n = q->step[q->made_by[t->id]].node;
        const int32_t i = ac_q_moved(n);
        if (i < 0 || ac_tensor_is_const(n->in[i]))
            return t;
        t = n->in[i];
    }
    return t;
}

ac_qroot *ac_q_root_of(const ac_qnet *q, ac_tensor *t)
{
    return q->root[origin(q, t)->id];
}

static void want(ac_qnet *q, ac_tensor *t)
{
    if (!t || ac_tensor_is_const(t) || t->dtype != AC_F32)
        return;
    t = origin(q, t);
    if (t->dtype != AC_F32 || q->root[t->id] || ac_q_kept(q, t->name) || (t->output && !q->o->outputs))
        return;
    if (!ac_tensor_count(t))
        return;
    ac_qroot *r = q->root[t->id] = AC_NEW(q->cx->region, ac_qroot);
    *r = (ac_qroot){.tensor = t, .bits = q->o->activation_bits, .labels = 1, .top = top_of(q, t)};
    for (int32_t i = 0; i < q->o->n_wide; i++)
        if (!strcmp(q->o->wide[i], t->name))
            r->bits = 16;
}

/* A mean that normalises: something subtracts it from its operand, or its root mean square divides that. */
static bool normalises(const ac_qnet *q, const ac_node *mean)
{
    uint32_t mask;
    const ac_tensor *x = mean->in[0];
    const ac_diags before = q->cx->diags;
    if (!ac_quietly(q->cx, before, ac_reduce_axes(q->cx, mean, &mask)) || (mask >> (x->rank - 1) & 1))
        return true; /* along the channels */
    for (int32_t i = 0; i < q->n; i++) {
        const ac_node *n = q->step[i].node;
        bool both[2] = {false, false};
        for (int32_t k = 0; k < n->n_in; k++) {
            both[0] |= n->in[k] == x;
            both[1] |= n->in[k] == mean->out[0];
        }
        if (both[0] && both[1] && n->op != AC_OP_MUL)
            return true;
    }
    return q->made_by[x->id] >= 0 && (q->step[q->made_by[x->id]].node->op == AC_OP_SQUARE ||
                                      q->step[q->made_by[x->id]].node->op == AC_OP_SQUARED_DIFFERENCE);
}

static void want_of(ac_qnet *q, const ac_qstep *s)
{
    ac_node *n = s->node;
    if (s->product) {
        if (!ac_q_kept(q, n->name) && !ac_q_kept(q, n->out[0]->name))
            want(q, s->product->x);
        return;
    }
    switch ((int)n->op) {
    case AC_OP_BATCH_MATMUL:
        if (!ac_tensor_is_const(n->in[0]) && !ac_tensor_is_const(n->in[1]) && !ac_q_kept(q, n->name)) {
            want(q, n->in[0]);
            want(q, n->in[1]);
        }
        break;
    case AC_OP_MEAN:
        if (!normalises(q, n))
            want(q, n->in[0]);
        break;
    case AC_OP_AVERAGE_POOL_2D:
    case AC_OP_RESIZE_BILINEAR:
        want(q, n->in[0]);
        break;
    case AC_OP_CONCATENATION:
        want(q, n->out[0]);
        break;
    default:
        break;
    }
}

/* ------------------------------------------------------------------ readers */

static void add_leaves(ac_qnet *q, ac_qroot *r, ac_tensor *t)
{
    ac_region *g = q->cx->region;
    for (int32_t i = 0; i < q->n; i++) {
        ac_node *n = q->step[i].node;
        for (int32_t k = 0; k < n->n_in; k++) {
            if (n->in[k] != t)
                continue;
            if (ac_q_moved(n) == k) {
                for (int32_t o = 0; o < n->n_out; o++)
                    add_leaves(q, r, n->out[o]);
                continue;
            }
            const ac_qproduct *p = q->step[i].product;
            ac_qleaf leaf = {
                .node = n, .operand = k, .tensor = t, .product = p && p->operand == k ? q->step[i].product : NULL};
            ac_push(g, &r->leaf, leaf);
        }
    }
    if (t->output)
        ac_push(g, &r->leaf, ((ac_qleaf){.tensor = t}));
}

/* ------------------------------------------------------------------ labels */

static int32_t first_of(int32_t *with, int32_t a)
{
    while (with[a] != a)
        a = with[a] = with[with[a]];
    return a;
}

static void join(int32_t *with, int32_t a, int32_t b)
{
    a = first_of(with, a);
    b = first_of(with, b);
    with[a > b ? a : b] = a > b ? b : a;
}

/* The numbers of r's channels, at the places of their elements, moved to every tensor on the way to the leaves. */
static int move_numbers(ac_qnet *q, ac_tensor *t, void **at, ac_region *tmp)
{
    for (int32_t i = 0; i < q->n; i++) {
        const ac_node *n = q->step[i].node;
        const int32_t k = ac_q_moved(n);
        if (k < 0 || n->in[k] != t)
            continue;
        for (int32_t o = 0; o < n->n_out; o++)
            at[n->out[o]->id] = ac_alloc(tmp, (uint64_t)ac_tensor_bytes(n->out[o]) + 64);
        AC_TRY(ac_q_call(q, i, at));
        for (int32_t o = 0; o < n->n_out; o++)
            AC_TRY(move_numbers(q, n->out[o], at, tmp));
    }
    return AC_OK;
}

static int64_t inner_of(const ac_tensor *t, int32_t axis)
{
    return ac_dim_product(t->dim, axis + 1, t->rank);
}

/* Joins the channels of `axis` that a leaf cannot tell apart; number[leaf]: by channel of a product, or one. */
static int join_channels(ac_qnet *q, ac_qroot *r, int32_t axis, int32_t *with, int32_t **number)
{
    const ac_tensor *t = r->tensor;
    const int64_t c = t->dim[axis], inner = inner_of(t, axis), n = ac_tensor_count(t);
    ac_region *tmp = ac_region_open(&q->cx->heap);
    void **at = AC_NEW_N(tmp, void *, q->n_tensors + 1);
    float *own = at[t->id] = ac_alloc(tmp, (uint64_t)n * sizeof *own + 64);
    for (int64_t i = 0; i < n; i++)
        own[i] = (float)(i / inner % c);
    for (int32_t i = 0; i < c; i++)
        with[i] = i;
    if (move_numbers(q, r->tensor, at, tmp) != AC_OK) {
        ac_region_close(tmp);
        return AC_FAIL;
    }
    for (int32_t l = 0; l < r->leaf.n; l++) {
        const ac_qleaf *leaf = &r->leaf.item[l];
        const float *v = at[leaf->tensor->id];
        const int64_t count = ac_tensor_count(leaf->tensor), many = leaf->product ? leaf->product->channels : 1;
        for (int64_t i = 0; i < many; i++)
            number[l][i] = -1;
        for (int64_t i = 0; i < count; i++) {
            int32_t *seen = &number[l][i % many];
            if (*seen < 0)
                *seen = (int32_t)v[i];
            else
                join(with, *seen, (int32_t)v[i]);
        }
    }
    ac_region_close(tmp);
    return AC_OK;
}

static int32_t count_labels(int32_t *with, int64_t n)
{
    int32_t many = 0;
    for (int32_t i = 0; i < n; i++)
        many += first_of(with, i) == i;
    return many;
}

static void set_labels(ac_qnet *q, ac_qroot *r, int32_t axis, int32_t *with, int32_t **number)
{
    const int64_t c = r->tensor->dim[axis];
    int32_t next = 0;
    r->axis = axis;
    r->channels = c;
    r->label = AC_NEW_N(q->cx->region, int32_t, c + 1);
    for (int32_t i = 0; i < c; i++)
        r->label[i] = first_of(with, i) == i ? next++ : r->label[first_of(with, i)];
    r->labels = next;
    for (int32_t l = 0; l < r->leaf.n; l++) {
        ac_qleaf *leaf = &r->leaf.item[l];
        const int64_t many = leaf->product ? leaf->product->channels : 1;
        leaf->label = AC_NEW_N(q->cx->region, int32_t, many + 1);
        for (int64_t i = 0; i < many; i++)
            leaf->label[i] = number[l][i] < 0 ? 0 : r->label[number[l][i]];
        leaf->one = leaf->label[0];
    }
}

/* The dimension whose indices can have the most unlike steps. */
static int label(ac_qnet *q, ac_qroot *r)
{
    const ac_tensor *t = r->tensor;
    ac_region *tmp = ac_region_open(&q->cx->heap);
    int64_t longest = 1;
    int32_t best = 0, most = 0, status = AC_OK;
    for (int32_t d = 0; d < t->rank; d++)
        longest = t->dim[d] > longest ? t->dim[d] : longest;
    int32_t *with = AC_NEW_N(tmp, int32_t, longest + 1), **number = AC_NEW_N(tmp, int32_t *, r->leaf.n + 1);
    for (int32_t l = 0; l < r->leaf.n; l++)
        number[l] = AC_NEW_N(tmp, int32_t, (r->leaf.item[l].product ? r->leaf.item[l].product->channels : 1) + 1);
    for (int32_t d = t->rank - 1; d >= 1 && status == AC_OK; d--) {
        status = t->dim[d] < (1 << 24) ? join_channels(q, r, d, with, number) : AC_OK;
        const int32_t many = status == AC_OK && t->dim[d] < (1 << 24) ? count_labels(with, t->dim[d]) : 0;
        if (many > most) {
            most = many;
            best = d;
        }
    }
    if (t->rank < 2) /* one dimension, or none */
        best = t->rank - 1;
    if (status == AC_OK && best >= 0 && t->rank) {
        status = join_channels(q, r, best, with, number);
        if (status == AC_OK)
            set_labels(q, r, best, with, number);
    } else if (status == AC_OK) { /* a scalar */
        r->channels = 1;
        r->label = AC_NEW_N(q->cx->region, int32_t, 1);
    }
    ac_region_close(tmp);
    return status;
}

int64_t ac_q_inner(const ac_qroot *r)
{
    return r->tensor->rank ? inner_of(r->tensor, r->axis) : 1;
}

int ac_q_place(ac_qnet *q)
{
    for (int32_t i = 0; i < q->n; i++)
        want_of(q, &q->step[i]);
    for (int32_t i = 0; i < q->g->output.n && q->o->outputs; i++)
        want(q, q->g->output.item[i]);
    for (int32_t i = 0; i < q->n_tensors; i++) {
        ac_qroot *r = q->root[i];
        if (!r)
            continue;
        add_leaves(q, r, r->tensor);
        AC_TRY(label(q, r));
    }
    return AC_OK;
}
