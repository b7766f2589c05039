/* ranges.c - bounds the stored values of each channel, operator by operator from the inputs on.
 *
 * All rules rest on one property: as an operand grows, the result does not decrease, or does not increase (for fixed
 * other operands), so its extremes are at the ends of the operands' intervals, where ends.c evaluates it. Other
 * operators of one operand are evaluated for each of the 256 values. */
#include "ir/ops/decode/axis.h"
#include "ir/pass/channels.h"

enum { BYTES = 256, MOST_ELEMENTS = 1 << 20 };

/* True if t has values that this file bounds: quantised integers, one scale. */
static bool followed(const ac_tensor *t)
{
    return (t->dtype == AC_I8 || t->dtype == AC_U8 || t->dtype == AC_I16) && t->quant && t->quant->n == 1 &&
           ac_tensor_count(t) > 0;
}

static ac_span span_new(const ac_channels *s, int64_t n)
{
    return (ac_span){(int32_t)n, AC_NEW_N(s->tmp, int32_t, n + 1), AC_NEW_N(s->tmp, int32_t, n + 1)};
}

static ac_span whole_range(const ac_channels *s, const ac_tensor *t)
{
    ac_span y = span_new(s, ac_last_dim(t));
    for (int32_t c = 0; c < y.n; c++) {
        y.lo[c] = (int32_t)ac_dtype_min(t->dtype);
        y.hi[c] = (int32_t)ac_dtype_max(t->dtype);
    }
    return y;
}

/* The n stored values, channel by channel, in a span that holds none yet (lo > hi) or is widened. */
static void widen(ac_span *y, ac_dtype d, const void *data, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const int32_t v = (int32_t)ac_dtype_get_int(d, data, i), c = (int32_t)(i % y->n);
        y->lo[c] = v < y->lo[c] ? v : y->lo[c];
        y->hi[c] = v > y->hi[c] ? v : y->hi[c];
    }
}

static ac_span empty_span(const ac_channels *s, const ac_tensor *t)
{
    ac_span y = whole_range(s, t);
    int32_t *lo = y.lo;
    y.lo = y.hi;
    y.hi = lo;
    return y;
}

/* The span of what run() made at both ends; NULL: y stays as it is. */
static void from_ends(const ac_channels *s, const ac_tensor *t, const void *lo, const void *hi, int64_t n, ac_span *y)
{
    if (!lo || !hi)
        return;
    *y = empty_span(s, t);
    widen(y, t->dtype, lo, n);
    widen(y, t->dtype, hi, n);
}

/* Scales under which no requantisation wraps. */
static bool tame(const ac_tensor *t, double scale)
{
    return scale / (double)ac_quant_scale(t) <= (t->dtype == AC_I16 ? 1 : 1024);
}

/* ------------------------------------------------------------------ rules */

static void values_none(ac_channels *s, const ac_node *n, int32_t i, ac_span *y)
{
    (void)s, (void)n, (void)i, (void)y;
}

static void values_sums(ac_channels *s, const ac_node *n, int32_t i, ac_span *y)
{
    ac_sums *t = ac_sums_open(s, n);
    if (!t || !s->span[t->x->id].n)
        return;
    s->sums[i] = t;
    ac_sums_bound(s, t);
    if (t->lo)
        from_ends(s, t->y, ac_ends_of_sums(s, n, t, t->lo), ac_ends_of_sums(s, n, t, t->hi), t->outs, y);
}

/* Both operands at their ends, in all four combinations: rows of a [4,C] tensor each. */
static void values_corners(ac_channels *s, const ac_node *n, int32_t i, ac_span *y)
{
    enum { CORNERS = 4 };
    const ac_tensor *t = n->out[0];
    const double a = (double)ac_quant_scale(n->in[0]), b = (double)ac_quant_scale(n->in[1]);
    const int64_t dim[2] = {CORNERS, y->n};
    ac_tensor *in[2];
    (void)i;
    for (int k = 0; k < 2; k++) {
        const ac_tensor *x = n->in[k];
        const ac_span *v = &s->span[x->id];
        if (!v->n || x->dtype != t->dtype || (v->n != 1 && v->n != y->n))
            return;
        void *data = ac_alloc(s->cx->region, (uint64_t)ac_dtype_size(x->dtype, CORNERS * dim[1]) + 1);
        for (int64_t j = 0; j < CORNERS * dim[1]; j++) {
            const int64_t c = v->n == 1 ? 0 : j % dim[1];
            ac_ends_put(x->dtype, data, j, (j / dim[1]) >> k & 1 ? v->hi[c] : v->lo[c]);
        }
        in[k] = ac_ends_like(s, x, 2, dim, data);
    }
    if (!tame(t, a) || !tame(t, b) || !tame(t, a * b))
        return;
    const void *v = ac_ends_run(s, n, in, 2, ac_ends_like(s, t, 2, dim, NULL));
    from_ends(s, t, v, v, CORNERS * dim[1], y);
}

/* A function of one byte: its 256 values. */
static void values_table(ac_channels *s, const ac_node *n, int32_t i, ac_span *y)
{
    const ac_tensor *x = n->in[0], *t = n->out[0];
    const ac_span *v = &s->span[x->id];
    const int64_t bytes = BYTES;
    const int32_t least = (int32_t)ac_dtype_min(x->dtype);
    (void)i;
    if (n->n_in != 1 || v->n != y->n || ac_dtype_bits(x->dtype) != 8)
        return;
    void *all = ac_alloc(s->cx->region, BYTES);
    for (int32_t k = 0; k < BYTES; k++)
        ac_ends_put(x->dtype, all, k, least + k);
    ac_tensor *in = ac_ends_like(s, x, 1, &bytes, all);
    const void *f = ac_ends_run(s, n, &in, 1, ac_ends_like(s, t, 1, &bytes, NULL));
    if (!f)
        return;
    *y = empty_span(s, t);
    for (int32_t c = 0; c < y->n; c++) {
        ac_span one = {1, &y->lo[c], &y->hi[c]};
        const int64_t from = v->lo[c] - least;
        widen(&one, t->dtype, (const char *)f + ac_dtype_size(t->dtype, from), v->hi[c] - v->lo[c] + 1);
    }
}

/* The result takes the elements of operand 0 as they are, each in its channel. */
static void values_same(ac_channels *s, const ac_node *n, int32_t i, ac_span *y)
{
    const ac_tensor *x = n->in[0];
    const ac_span *v = &s->span[x->id];
    (void)i;
    if (v->n && x->dtype == n->out[0]->dtype && ac_quant_equal(x->quant, n->out[0]->quant) && ac_channels_kept(s, n))
        *y = *v;
}

/* ... and zeros around them. */
static void values_pad(ac_channels *s, const ac_node *n, int32_t i, ac_span *y)
{
    const ac_span whole = *y;
    const int32_t zero = ac_quant_zero(n->out[0]);
    values_same(s, n, i, y);
    if (y->lo == whole.lo)
        return;
    ac_span wide = span_new(s, y->n);
    for (int32_t c = 0; c < y->n; c++) {
        wide.lo[c] = y->lo[c] < zero ? y->lo[c] : zero;
        wide.hi[c] = y->hi[c] > zero ? y->hi[c] : zero;
    }
    *y = wide;
}

/* Equal values have themselves as maximum and as average, but for the activation: a pool of one element applies it. */
static void values_pool(ac_channels *s, const ac_node *n, int32_t i, ac_span *y)
{
    const ac_attrs_pool *a = &n->attrs.pool;
    const ac_tensor *x = n->in[0], *t = n->out[0];
    const ac_span *v = &s->span[x->id];
    const int64_t dim[4] = {1, 1, 2, y->n};
    const int32_t top = a->pad_t > a->pad_b ? a->pad_t : a->pad_b, side = a->pad_l > a->pad_r ? a->pad_l : a->pad_r;
    (void)i;
    if (v->n != y->n || x->dtype != t->dtype || a->padding != AC_PAD_EXPLICIT || top >= a->kernel_h ||
        side >= a->kernel_w || !ac_quant_equal(x->quant, t->quant))
        return;
    void *data = ac_alloc(s->cx->region, (uint64_t)ac_dtype_size(x->dtype, 2 * dim[3]) + 1);
    for (int64_t c = 0; c < dim[3]; c++) {
        ac_ends_put(x->dtype, data, c, v->lo[c]);
        ac_ends_put(x->dtype, data, dim[3] + c, v->hi[c]);
    }
    ac_tensor *in = ac_ends_like(s, x, 4, dim, data);
    ac_node one = *n;
    one.attrs.pool = (ac_attrs_pool){
        .kernel_h = 1, .kernel_w = 1, .stride_h = 1, .stride_w = 1, .padding = AC_PAD_EXPLICIT, .act = a->act};
    const void *f = ac_ends_run(s, &one, &in, 1, ac_ends_like(s, t, 4, dim, NULL));
    from_ends(s, t, f, f, 2 * dim[3], y);
}

static void values_mean(ac_channels *s, const ac_node *n, int32_t i, ac_span *y)
{
    const ac_tensor *x = n->in[0], *t = n->out[0];
    const ac_span *v = &s->span[x->id];
    const int64_t count = ac_tensor_count(x);
    const void *end[2];
    (void)i;
    if (v->n != y->n || x->dtype != t->dtype || count > MOST_ELEMENTS || !tame(t, (double)ac_quant_scale(x)) ||
        !ac_channels_kept(s, n))
        return;
    for (int k = 0; k < 2; k++) {
        void *data = ac_alloc(s->cx->region, (uint64_t)ac_dtype_size(x->dtype, count) + 1);
        for (int64_t j = 0; j < count; j++)
            ac_ends_put(x->dtype, data, j, k ? v->hi[j % v->n] : v->lo[j % v->n]);
        ac_tensor *in[2] = {ac_ends_like(s, x, x->rank, x->dim, data), ac_node_in(n, 1)};
        end[k] = ac_ends_run(s, n, in, n->n_in, t);
    }
    from_ends(s, t, end[0], end[1], ac_tensor_count(t), y);
}

/* The same elements in rows of another length: channels fall together, or apart. */
static void values_regroup(ac_channels *s, const ac_node *n, int32_t i, ac_span *y)
{
    const ac_tensor *x = n->in[0];
    const ac_span *v = &s->span[x->id];
    const int32_t most = v->n > y->n ? v->n : y->n, least = v->n > y->n ? y->n : v->n;
    (void)i;
    if (!v->n || x->dtype != n->out[0]->dtype || most % least)
        return;
    *y = empty_span(s, n->out[0]);
    for (int32_t c = 0; c < most; c++) {
        const int32_t from = c % v->n, to = c % y->n;
        y->lo[to] = v->lo[from] < y->lo[to] ? v->lo[from] : y->lo[to];
        y->hi[to] = v->hi[from] > y->hi[to] ? v->hi[from] : y->hi[to];
    }
}

static void values_concat(ac_channels *s, const ac_node *n, int32_t i, ac_span *y)
{
    const ac_tensor *t = n->out[0];
    const bool joined = ac_channels_joined(s, n);
    (void)i;
    for (int32_t k = 0; k < n->n_in; k++)
        if (!s->span[n->in[k]->id].n || n->in[k]->dtype != t->dtype || !ac_quant_equal(n->in[k]->quant, t->quant))
            return;
    *y = empty_span(s, t);
    int32_t to = 0;
    for (int32_t k = 0; k < n->n_in; k++) {
        const ac_span *v = &s->span[n->in[k]->id];
        for (int32_t c = 0; c < v->n; c++) {
            const int32_t at = joined ? to++ : c;
            y->lo[at] = v->lo[c] < y->lo[at] ? v->lo[c] : y->lo[at];
            y->hi[at] = v->hi[c] > y->hi[at] ? v->hi[c] : y->hi[at];
        }
    }
}

/* ------------------------------------------------------------------ all of them */

static const struct {
    ac_op op;
    ac_values_fn *values;
} ROWS[] = {
#define CHANNEL(op, values, needs, cut) {AC_OP_##op, values_##values},
#include "ir/pass/channels.def"
#undef CHANNEL
};

static ac_values_fn *rule_of(ac_op op)
{
    for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++)
        if (ROWS[k].op == op)
            return ROWS[k].values;
    return ac_ops[op].map ? values_table : values_none;
}

static void constant(ac_channels *s, ac_tensor *t)
{
    const void *data = ac_tensor_force(s->cx, t);
    if (!data)
        return;
    s->span[t->id] = empty_span(s, t);
    widen(&s->span[t->id], t->dtype, data, ac_tensor_count(t));
}

void ac_channels_values(ac_channels *s)
{
    for (int32_t k = 0; k < s->g->tensor.n; k++) {
        ac_tensor *t = s->g->tensor.item[k];
        if (followed(t) && !ac_tensor_is_const(t))
            s->span[k] = whole_range(s, t);
        else if (followed(t) && ac_tensor_count(t) <= MOST_ELEMENTS)
            constant(s, t);
    }
    for (int32_t k = 0; k < s->g->node.n; k++) {
        const ac_node *n = s->g->node.item[k];
        if (n->op != AC_OP_NONE && n->n_out == 1 && s->span[n->out[0]->id].n && !n->n_fused)
            rule_of(n->op)(s, n, k, &s->span[n->out[0]->id]);
    }
}
