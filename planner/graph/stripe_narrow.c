/* stripe_narrow.c - strips of columns: the columns of each tensor that a strip computes and reads, and steps for
 * these columns alone. */
#include "ir/ops/decode/slide.h"
#include "planner/graph/stripe_work.h"

#include <string.h>

bool ac_stripes_is_inner(const ac_stripes *v, int32_t begin, int32_t end, const ac_tensor *t)
{
    return !v->viewed[t->id] && !t->input && !t->output && !t->state && v->live->first[t->id] >= begin &&
           v->live->last[t->id] < end;
}

/* Columns from <= x < to */
typedef struct columns {
    int64_t from, to;
} columns;

static bool has_window(const ac_node *n)
{
    return ac_ops[n->op].attrs == AC_ATTRS_conv ? n->op == AC_OP_CONV_2D || n->op == AC_OP_DEPTHWISE_CONV_2D
                                                : ac_ops[n->op].attrs == AC_ATTRS_pool;
}

/* The geometry of a window along the columns. */
static ac_slide slide_of(const ac_node *n)
{
    const ac_attrs_conv *c = &n->attrs.conv;
    const ac_attrs_pool *p = &n->attrs.pool;
    const int64_t in = n->in[0]->dim[2], out = n->out[0]->dim[2];
    if (ac_ops[n->op].attrs == AC_ATTRS_pool)
        return (ac_slide){in, out, p->kernel_w, p->stride_w, 1, p->pad_l};
    return (ac_slide){in, out, n->in[1]->dim[2], c->stride_w, c->dilation_w, c->pad_l};
}

/* The columns that the windows of columns c of the result span; some may be outside of the input. */
static columns span_of(const ac_slide *s, columns c)
{
    return (columns){c.from * s->stride - s->pad, (c.to - 1) * s->stride - s->pad + (s->taps - 1) * s->dil + 1};
}

/* The columns of operand 0 that columns c of the result take. */
static columns under(const ac_node *n, columns c)
{
    const ac_slide s = slide_of(n);
    const columns x = span_of(&s, c);
    return (columns){x.from > 0 ? x.from : 0, x.to < s.in ? x.to : s.in};
}

/* True if column x of the result takes only column x of operand 0. */
static bool is_pixel(const ac_node *n)
{
    if (!has_window(n))
        return true;
    const ac_slide s = slide_of(n);
    return s.taps == 1 && s.stride == 1 && s.pad == 0 && s.in == s.out;
}

static bool is_map(const ac_tensor *t, const ac_tensor *of)
{
    return t->rank == 4 && t->dim[0] == 1 && t->dim[1] == of->dim[1] && t->dim[2] == of->dim[2];
}

/* True if operands of an element-wise node have the columns of its result, or none. */
static bool map_splits(const ac_node *n, const ac_tensor *result)
{
    for (int32_t i = 0; i < n->n_in; i++) {
        const ac_tensor *t = n->in[i];
        if (t && !ac_node_is_static(n, i) &&
            !(ac_tensor_is_const(t) ? t->rank < 2 || t->dim[t->rank - 2] == 1 : is_map(t, result)))
            return false;
    }
    return ac_ops[n->op].map;
}

/* True if some columns of the result of step n can be computed alone, with the same bits. In vectors the width decides
 * the order of a sum of floats. */
static bool splits(const ac_stripes *v, const ac_node *n)
{
    const ac_tensor *result = ac_node_result(n);
    bool ok = !(v->target->vec_bytes && ac_dtype_is_float(n->out[0]->dtype)) && n->n_out == 1 && result->rank == 4 &&
              result->dim[0] == 1 && result->dim[1] > 1 && !ac_node_reduction(n);
    for (int32_t f = -1; f < n->n_fused && ok; f++) {
        const ac_node *m = f < 0 ? n : n->fused[f];
        ok = m->n_out == 1 && is_map(m->out[0], result) &&
             (has_window(m) ? f < 0 && m->in[0]->rank == 4 && m->in[0]->dim[0] == 1 && m->in[0]->dim[1] > 1 &&
                                  !ac_tensor_is_const(m->in[0])
                            : map_splits(m, result));
        for (int32_t i = 1; i < m->n_in && ok && has_window(m); i++)
            ok = !m->in[i] || ac_tensor_is_const(m->in[i]);
    }
    return ok;
}

/* Calls f for every operand that is made outside of the node. */
typedef void operand_fn(void *user, const ac_node *part, ac_tensor *t, columns c);
static void operands(const ac_node *n, columns c, operand_fn *f, void *user)
{
    for (int32_t k = -1; k < n->n_fused; k++) {
        const ac_node *m = k < 0 ? n : n->fused[k];
        for (int32_t i = 0; i < m->n_in; i++)
            if (m->in[i] && !ac_tensor_is_const(m->in[i]) && !ac_node_internal(n, m->in[i]))
                f(user, m, m->in[i], has_window(m) ? under(m, c) : c);
    }
}

/* ------------------------------------------------------------------ columns of strips */

static void need(void *user, const ac_node *part, ac_tensor *t, columns c)
{
    ac_stripe_strip *s = user;
    (void)part;
    s->from[t->id] = c.from < s->from[t->id] ? c.from : s->from[t->id];
    s->to[t->id] = c.to > s->to[t->id] ? c.to : s->to[t->id];
}

static void forget(void *user, const ac_node *part, ac_tensor *t, columns c)
{
    ac_stripe_strip *s = user;
    (void)part;
    (void)c;
    s->from[t->id] = INT64_MAX;
    s->to[t->id] = s->fresh[t->id] = s->next[t->id] = s->pitch[t->id] = 0;
}

/* Rows from outside are read whole, and nothing of them is left for the next strip. */
static void from_outside(void *user, const ac_node *part, ac_tensor *t, columns c)
{
    ac_stripe_strip *s = user;
    (void)part;
    (void)c;
    if (s->next[t->id] == 0) {
        s->fresh[t->id] = s->from[t->id];
        s->next[t->id] = s->to[t->id];
    }
}

ac_stripe_strip *ac_stripe_strips_new(ac_region *region, const ac_graph *g, int32_t n)
{
    const int32_t ids = g->tensor.n + 1;
    ac_stripe_strip *s = AC_NEW_N(region, ac_stripe_strip, n);
    for (int32_t k = 0; k < n; k++)
        s[k] = (ac_stripe_strip){AC_NEW_N(region, int64_t, ids), AC_NEW_N(region, int64_t, ids),
                                 AC_NEW_N(region, int64_t, ids), AC_NEW_N(region, int64_t, ids),
                                 k ? s->pitch : AC_NEW_N(region, int64_t, ids)};
    return s;
}

/* Columns of strip k of n, from the results back to the operands. */
static bool split_one(const ac_stripes *v, int32_t begin, int32_t end, int32_t k, int32_t n, ac_stripe_strip *strip)
{
    ac_stripe_strip *s = &strip[k];
    for (int32_t step = end - 1; step >= begin; step--) {
        const ac_node *node = v->step[step]->node;
        ac_tensor *t = ac_node_result(node);
        const int64_t share = t->dim[2] * (k + 1) / n;
        if (k == n - 1 || (!ac_stripes_is_inner(v, begin, end, t) && share > s->to[t->id]))
            s->to[t->id] = share;
        s->fresh[t->id] = k ? strip[k - 1].to[t->id] : 0;
        if (s->fresh[t->id] < s->from[t->id])
            s->from[t->id] = s->fresh[t->id];
        if (s->to[t->id] < s->fresh[t->id] + 2 || (k && s->from[t->id] < strip[k - 1].from[t->id]))
            return false;
        operands(node, (columns){s->fresh[t->id], s->to[t->id]}, need, s);
    }
    return true;
}

bool ac_stripe_split(const ac_stripes *v, int32_t begin, int32_t end, int32_t n, ac_stripe_strip *strip,
                     int64_t *stored)
{
    const columns all = {0, 1};
    *stored = 0;
    for (int32_t step = begin; step < end; step++)
        if (!splits(v, v->step[step]->node))
            return false;
    for (int32_t k = 0; k < n; k++) {
        for (int32_t step = begin; step < end; step++) {
            operands(v->step[step]->node, all, forget, &strip[k]);
            forget(&strip[k], NULL, ac_node_result(v->step[step]->node), all);
        }
        if (!split_one(v, begin, end, k, n, strip))
            return false;
    }
    for (int32_t step = begin; step < end; step++)
        for (int32_t k = 0; k < n; k++) {
            const ac_tensor *t = ac_node_result(v->step[step]->node);
            strip[k].next[t->id] = k + 1 < n ? strip[k + 1].from[t->id] : strip[k].to[t->id];
            const int64_t kept = strip[k].to[t->id] - strip[k].next[t->id];
            strip->pitch[t->id] = kept > strip->pitch[t->id] ? kept : strip->pitch[t->id];
            *stored += 2 * ac_dtype_size(t->dtype, kept * t->dim[1] * t->dim[3]);
        }
    for (int32_t step = begin; step < end; step++)
        for (int32_t k = 0; k < n; k++)
            operands(v->step[step]->node, all, from_outside, &strip[k]);
    return true;
}

/* ------------------------------------------------------------------ steps on some columns */

/* Tensors of one step with the columns that it uses */
typedef struct narrowed {
    const ac_stripe_strip *strip;
    ac_region *region;
    ac_tensor *was[16], *is[16];
    int64_t from[16];
    int32_t n;
    bool ok;
} narrowed;

static void narrow(narrowed *x, ac_tensor *t, columns c)
{
    for (int32_t k = 0; k < x->n; k++)
        if (x->was[k] == t) {
            x->ok &= x->from[k] == c.from && x->is[k]->dim[2] == c.to - c.from;
            return;
        }
    x->ok &= x->n < 16;
    if (!x->ok)
        return;
    ac_tensor *y = AC_NEW(x->region, ac_tensor);
    *y = *t;
    y->dim[2] = c.to - c.from;
    x->was[x->n] = t;
    x->is[x->n] = y;
    x->from[x->n++] = c.from;
}

/* An operand: rows of a window. A step that reads more than pixels takes all columns of it. */
static void narrow_operand(void *user, const ac_node *part, ac_tensor *t, columns c)
{
    narrowed *x = user;
    x->ok &= is_pixel(part) || (c.from == x->strip->from[t->id] && c.to == x->strip->to[t->id]);
    narrow(x, t, c);
}

static ac_tensor *now(const narrowed *x, ac_tensor *t)
{
    for (int32_t k = 0; k < x->n; k++)
        if (x->was[k] == t)
            return x->is[k];
    return t;
}

static ac_node *narrow_node(const narrowed *x, const ac_node *n, columns c)
{
    ac_node *m = AC_NEW(x->region, ac_node);
    *m = *n;
    m->in = AC_NEW_N(x->region, ac_tensor *, n->n_in + 1);
    m->out = AC_NEW_N(x->region, ac_tensor *, n->n_out + 1);
    for (int32_t i = 0; i < n->n_in; i++)
        m->in[i] = n->in[i] ? now(x, n->in[i]) : NULL;
    for (int32_t i = 0; i < n->n_out; i++)
        m->out[i] = now(x, n->out[i]);
    if (!has_window(n))
        return m;
    const ac_slide s = slide_of(n);
    const columns taken = span_of(&s, c);
    const int32_t before = taken.from < 0 ? (int32_t)-taken.from : 0,
                  after = taken.to > s.in ? (int32_t)(taken.to - s.in) : 0;
    if (ac_ops[n->op].attrs == AC_ATTRS_pool) {
        m->attrs.pool.pad_l = before;
        m->attrs.pool.pad_r = after;
    } else {
        m->attrs.conv.pad_l = before;
        m->attrs.conv.pad_r = after;
    }
    return m;
}

const ac_node *ac_stripe_narrow(const ac_stripes *v, const ac_node *n, ac_stripe_form *form)
{
    ac_tensor *result = ac_node_result(n);
    const ac_stripe_strip *s = v->strip;
    const columns c = {s->fresh[result->id], s->to[result->id]};
    narrowed x = {.strip = s, .region = v->region, .ok = true};
    for (int32_t f = -1; f < n->n_fused; f++)
        narrow(&x, f < 0 ? n->out[0] : n->fused[f]->out[0], c);
    operands(n, c, narrow_operand, &x);
    if (!x.ok)
        return NULL;
    ac_node *m = narrow_node(&x, n, c);
    m->fused = AC_NEW_N(v->region, ac_node *, n->n_fused + 1);
    for (int32_t f = 0; f < n->n_fused; f++)
        m->fused[f] = narrow_node(&x, n->fused[f], c);
    form->n_narrow = x.n;
    int32_t *id = AC_NEW_N(v->region, int32_t, x.n + 1);
    int64_t *from = AC_NEW_N(v->region, int64_t, x.n + 1);
    for (int32_t k = 0; k < x.n; k++) {
        id[k] = x.was[k]->id;
        from[k] = x.from[k];
    }
    form->narrow = id;
    form->from = from;
    return m;
}

int64_t ac_stripe_first_column(const ac_stripe_form *f, const ac_tensor *t)
{
    for (int32_t k = 0; k < f->n_narrow; k++)
        if (f->narrow[k] == t->id)
            return f->from[k];
    return 0;
}
