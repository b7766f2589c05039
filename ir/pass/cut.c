/* cut.c - removes unused channels from weights, biases, constants and shapes, and replaces constant results by
 * constants.
 *
 *     sum[o] = bias[o] + (k - zx) * sum of w(o, ., c) + ...      the term of channel c, always k, moves into the bias
 *
 * Weights may be shared, so each operator gets constants of its own. Shapes of tensors change at the end, since rules
 * read the old ones. */
#include "ir/pass/channels.h"

#include <string.h>

static bool all_stay(const ac_channels *s, const ac_tensor *t)
{
    for (int64_t c = 0; c < ac_last_dim(t); c++)
        if (!s->need[t->id][c])
            return false;
    return true;
}

static int64_t count_stay(const uint8_t *need, int64_t n)
{
    int64_t count = 0;
    for (int64_t c = 0; c < n; c++)
        count += need[c] > 0;
    return count;
}

/* ------------------------------------------------------------------ constants */

/* t loses the indices of dimension d that are not in keep[], which repeats after `period`; its bytes become others. */
static void slice(ac_channels *s, ac_tensor *t, int32_t d, const uint8_t *keep, int64_t period)
{
    const int64_t n = t->dim[d], whole = ac_tensor_count(t);
    int64_t inner = ac_dtype_size(t->dtype, 1), outer = 1, to = 0;
    for (int32_t k = 0; k < t->rank; k++)
        *(k < d ? &outer : &inner) *= k == d ? 1 : t->dim[k];
    char *data = ac_alloc(s->cx->region, (uint64_t)ac_dtype_size(t->dtype, whole) + 1);
    for (int64_t i = 0; i < outer * n; i++)
        if (keep[i % n % period]) {
            memcpy(data + to, (const char *)t->data + i * inner, (size_t)inner);
            to += inner;
        }
    t->data = data;
    t->dim[d] = count_stay(keep, period) * (n / period);
    if (!t->quant || t->quant->n == 1 || t->quant->axis != d)
        return;
    ac_quant *q = ac_copy(s->cx->region, t->quant, sizeof *q);
    float *scale = AC_NEW_N(s->cx->region, float, n + 1);
    int32_t *zero = AC_NEW_N(s->cx->region, int32_t, n + 1);
    q->n = 0;
    for (int64_t i = 0; i < n; i++)
        if (keep[i % period]) {
            scale[q->n] = t->quant->scale[i];
            zero[q->n++] = t->quant->zero[i];
        }
    q->scale = scale;
    q->zero = zero;
    t->quant = q;
}

/* `like`, with the shape, bytes and scales of `t`, as a constant of the graph. */
static ac_tensor *constant(ac_channels *s, const char *name, const ac_tensor *t)
{
    ac_tensor *own = ac_tensor_const(s->g, ac_strf(s->cx->region, "%s_live", name), t->dtype, t->rank, t->dim, t->data);
    own->quant = t->quant;
    return own;
}

static void own_operands(ac_channels *s, ac_node *n, int32_t room)
{
    ac_tensor **in = AC_NEW_N(s->cx->region, ac_tensor *, (n->n_in > room ? n->n_in : room) + 1);
    for (int32_t k = 0; k < n->n_in; k++)
        in[k] = n->in[k];
    n->in = in;
}

/* ------------------------------------------------------------------ rules */

/* The term that removed channels add to sum o. */
static int64_t folded(const ac_channels *s, const ac_sums *t, int64_t o)
{
    const ac_span *x = &s->span[t->x->id];
    int64_t sum = 0;
    for (int64_t c = 0; c < t->ins && !t->times; c++)
        for (int64_t k = 0; k < t->taps && !s->need[t->x->id][c] && ac_span_fixed(x, c); k++)
            sum += ac_sums_weight(t, o, k, c) * (x->lo[c] - t->zx);
    return sum;
}

/* True if output o, which is unused or constant, reads a removed channel that cannot be folded. */
static bool cut_off(const ac_channels *s, const ac_sums *t, int64_t o)
{
    const ac_span *x = &s->span[t->x->id];
    const uint8_t need = s->need[t->y->id][o];
    if (!need || t->times || (need == AC_CHANNEL_NEEDED && !ac_span_fixed(&s->span[t->y->id], o)))
        return false;
    for (int64_t c = 0; c < t->ins; c++)
        for (int64_t k = 0; k < t->taps && !s->need[t->x->id][c]; k++) {
            const bool folds = t->folds && ac_span_fixed(x, c) && (x->lo[c] == t->zx || !t->outside[k]);
            if (!folds && ac_sums_weight(t, o, k, c))
                return true;
        }
    return false;
}

/* Such outputs lose their weights. Their sum is the minimum, so the value is in their interval: a constant's own. */
static const bool *cut_off_outputs(const ac_channels *s, const ac_sums *t, ac_tensor *w)
{
    bool *off = AC_NEW_N(s->tmp, bool, t->outs + 1), any = false;
    for (int64_t o = 0; o < t->outs; o++)
        any |= off[o] = cut_off(s, t, o);
    if (!any)
        return off;
    char *data = ac_copy(s->cx->region, w->data, (size_t)ac_tensor_bytes(w));
    for (int64_t o = 0; o < t->outs; o++)
        for (int64_t k = 0; k < t->taps && off[o]; k++)
            for (int64_t i = 0; i < t->ins; i++)
                data[o * t->o_step + k * t->tap_step + i * t->i_step] = (char)t->zw;
    w->data = data;
    return off;
}

/* The bias of the outputs that stay; NULL: there is no bias, and none is needed. */
static ac_tensor *new_bias(ac_channels *s, const ac_node *n, const ac_sums *t, const bool *off)
{
    ac_tensor b = {.dtype = t->wide ? AC_I64 : AC_I32, .rank = 1, .dim = {t->outs}};
    bool any = t->bias != NULL;
    if (t->bias) {
        b.dtype = t->bias->dtype;
        b.quant = t->bias->quant;
    }
    char *data = ac_alloc(s->cx->region, (uint64_t)ac_dtype_size(b.dtype, t->outs) + 1);
    for (int64_t o = 0; o < t->outs; o++) {
        const int64_t own = t->bias ? ac_dtype_get_int(b.dtype, t->bias->data, o) : 0;
        const int64_t more = s->need[t->y->id][o] ? folded(s, t, o) : 0;
        const int64_t sum = !off[o] ? own + more : t->lo ? t->lo[o] : 0;
        any |= sum != own;
        ac_ends_put(b.dtype, data, o, sum);
    }
    if (!any)
        return NULL;
    b.data = data;
    if (b.quant && b.quant->n > 1 && b.quant->n != t->outs)
        b.quant = NULL;
    slice(s, &b, 0, s->need[t->y->id], t->outs);
    return constant(s, t->bias ? t->bias->name : ac_strf(s->cx->region, "%s_bias", n->name), &b);
}

static void cut_filter(ac_channels *s, ac_node *n, int32_t i)
{
    const ac_sums *t = s->sums[i];
    if (!t || (all_stay(s, t->x) && all_stay(s, t->y)))
        return;
    const ac_filter_row *at = &ac_filter_of[ac_ops[n->op].filter];
    ac_tensor w = *t->w;
    const bool *off = cut_off_outputs(s, t, &w);
    ac_tensor *bias = new_bias(s, n, t, off);
    slice(s, &w, at->channel, s->need[t->y->id], t->outs);
    if (!t->times)
        slice(s, &w, w.rank - 1, s->need[t->x->id], t->ins);
    own_operands(s, n, at->bias + 1);
    n->in[at->w] = constant(s, t->w->name, &w);
    if (!bias)
        return;
    n->in[at->bias] = bias;
    n->n_in = n->n_in > at->bias ? n->n_in : at->bias + 1;
}

/* Constant operands lose the channels that the result loses; operands without channels are removed (concatenation). */
static void cut_aligned(ac_channels *s, ac_node *n, int32_t i)
{
    const uint8_t *need = s->need[n->out[0]->id];
    const bool joins = n->op == AC_OP_CONCATENATION && ac_channels_joined(s, n);
    const int64_t channels = ac_last_dim(n->out[0]);
    int64_t at = 0;
    int32_t kept = 0;
    (void)i;
    if (all_stay(s, n->out[0]))
        return;
    own_operands(s, n, 0);
    for (int32_t k = 0; k < n->n_in; k++) {
        ac_tensor *x = n->in[k];
        const int64_t own = ac_last_dim(x), stay = joins ? count_stay(need + at, own) : 1;
        if (s->constant[x->id] && stay && (joins || (own == channels && own > 1)) && ac_tensor_force(s->cx, x)) {
            ac_tensor part = *x;
            slice(s, &part, x->rank - 1, need + at, own);
            x = constant(s, x->name, &part);
        }
        at += joins ? own : 0;
        if (stay)
            n->in[kept++] = x;
    }
    n->n_in = kept;
}

/* The new shape: the result's own. */
static void cut_shape(ac_channels *s, ac_node *n, int32_t i)
{
    const ac_tensor *y = n->out[0];
    int64_t *dim = AC_NEW_N(s->cx->region, int64_t, AC_MAX_RANK);
    (void)i;
    if (all_stay(s, y) && all_stay(s, n->in[0]))
        return;
    for (int32_t d = 0; d < y->rank; d++)
        dim[d] = d < y->rank - 1 ? y->dim[d] : count_stay(s->need[y->id], y->dim[d]);
    n->n_in = 1;
    n->attrs.shape.shape = (ac_ints){y->rank, dim};
}

static void cut_none(ac_channels *s, ac_node *n, int32_t i)
{
    (void)s, (void)n, (void)i;
}

/* ------------------------------------------------------------------ all of them */

static const struct {
    ac_op op;
    ac_cut_fn *cut;
} ROWS[] = {
#define CHANNEL(op, values, needs, cut) {AC_OP_##op, cut_##cut},
#include "ir/pass/channels.def"
#undef CHANNEL
};

static ac_cut_fn *rule_of(ac_op op)
{
    for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++)
        if (ROWS[k].op == op)
            return ROWS[k].cut;
    return ac_ops[op].map ? cut_aligned : cut_none;
}

/* The constant that replaces n's result. */
static void store_result(ac_channels *s, ac_node *n, bool uniform)
{
    ac_tensor *t = n->out[0];
    const ac_span *y = &s->span[t->id];
    const uint8_t *need = s->need[t->id];
    const int64_t rows = uniform ? 1 : ac_tensor_count(t) / y->n;
    char *data = ac_alloc(s->cx->region, (uint64_t)ac_dtype_size(t->dtype, rows * y->n) + 1);
    int64_t at = 0;
    for (int64_t r = 0; r < rows; r++)
        for (int32_t c = 0; c < y->n && !(uniform && at); c++)
            if (need[c])
                ac_ends_put(t->dtype, data, at++, y->lo[c]);
    ac_node_erase(n);
    t->data = data;
    t->splat = uniform;
}

/* Constants of the file keep their shape: readers of fewer channels have constants of their own. */
static int32_t shrink(ac_tensor *t, const uint8_t *need)
{
    const int64_t channels = ac_last_dim(t), left = count_stay(need, channels);
    if (!left || left == channels)
        return 0;
    t->dim[t->rank - 1] = left;
    return (int32_t)(channels - left);
}

int32_t ac_channels_cut(ac_channels *s)
{
    ac_graph *g = s->g;
    const int32_t n_tensors = g->tensor.n, n_nodes = g->node.n; /* new constants come after these */
    int32_t cut = 0;
    for (int32_t k = 0; k < n_nodes; k++) {
        ac_node *n = g->node.item[k];
        bool uniform;
        if (!ac_channels_used(s, n)) {
            cut += n->op != AC_OP_NONE;
            ac_node_erase(n);
        } else if (ac_channels_constant(s, n, &uniform)) {
            store_result(s, n, uniform);
            cut++;
        } else {
            rule_of(n->op)(s, n, k);
        }
    }
    for (int32_t k = 0; k < n_tensors; k++)
        if (!s->constant[k])
            cut += shrink(g->tensor.item[k], s->need[k]);
    for (int32_t k = 0; k < g->node.n && cut; k++)
        ac_fold_node(g, g->node.item[k]);
    ac_graph_sweep(g);
    return cut;
}
