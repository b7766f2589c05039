/* needs.c - which channels stay.
 *
 * At first none does. What leaves the graph stays, and with it, rule by rule until nothing changes, what it is made of
 * and what has to keep its place beside it. What is left over then was never asked for: its readers do without it, or
 * know it as a constant that they can add themselves. The order in which rules are applied does not matter, since they
 * only ever add.
 *
 *     conv_2d, fully_connected   an input channel goes when all weights of the outputs that stay are zero, or when its
 *                                value is one constant k: (k - zx) * sum(w) moves into the bias. With k != zx no tap
 *                                with a weight may lie outside of x anywhere, since there it counts 0
 *     depthwise_conv_2d          input channel and its outputs go together; so do channels of element-wise operators
 *     reshape                    channels go with those that they are made of, where rows are whole numbers of rows */
#include "ir/ops/decode/axis.h"
#include "ir/pass/channels.h"

enum { MOST_CONSTANT = 64 * 1024 }; /* bytes of a tensor that becomes one */

static void mark(ac_channels *s, const ac_tensor *t, int64_t c)
{
    bool *live = s->live[t->id];
    s->again |= !live[c];
    live[c] = true;
}

static void mark_all(ac_channels *s, const ac_tensor *t)
{
    for (int64_t c = 0; c < ac_last_dim(t); c++)
        mark(s, t, c);
}

/* Tensors without a channel are left as they are. */
static bool any_live(const ac_channels *s, const ac_tensor *t)
{
    if (ac_last_dim(t) < 1)
        return true;
    for (int64_t c = 0; c < ac_last_dim(t); c++)
        if (s->live[t->id][c])
            return true;
    return false;
}

bool ac_channels_used(const ac_channels *s, const ac_node *n)
{
    for (int32_t i = 0; i < n->n_out; i++)
        if (any_live(s, n->out[i]))
            return true;
    return n->op != AC_OP_NONE && ((ac_ops[n->op].flags & OF_STATE) || n->n_fused);
}

bool ac_channels_constant(const ac_channels *s, const ac_node *n)
{
    if (n->n_out != 1 || n->n_fused)
        return false;
    const ac_tensor *t = n->out[0];
    const ac_span *y = &s->span[t->id];
    bool same = y->n > 0, uniform = same;
    for (int32_t c = 0; c < y->n && same; c++) {
        same = ac_span_fixed(y, c);
        uniform &= y->lo[c] == y->lo[0];
    }
    return same && (uniform || ac_tensor_bytes(t) <= MOST_CONSTANT);
}

bool ac_channels_joined(const ac_channels *s, const ac_node *n)
{
    int32_t axis;
    const int32_t rank = n->in[0]->rank;
    return ac_axis_norm(s->cx, n, n->attrs.axis.axis, rank, &axis) == AC_OK && axis == rank - 1;
}

bool ac_channels_kept(const ac_channels *s, const ac_node *n)
{
    int64_t before[AC_MAX_RANK], after[AC_MAX_RANK];
    int32_t perm[AC_MAX_RANK];
    uint32_t mask;
    const ac_tensor *x = n->in[0];
    const int32_t last = x->rank - 1;
    if (x->rank < 1 || n->out[0]->rank < 1 || ac_last_dim(x) != ac_last_dim(n->out[0]))
        return false;
    if (n->op == AC_OP_MEAN || n->op == AC_OP_REDUCE_MAX || n->op == AC_OP_REDUCE_MIN)
        return ac_reduce_axes(s->cx, n, &mask) == AC_OK && !(mask >> last & 1);
    if (n->op == AC_OP_PAD || n->op == AC_OP_MIRROR_PAD)
        return ac_pads_of(s->cx, n, before, after) == AC_OK && !before[last] && !after[last];
    if (n->op == AC_OP_TRANSPOSE)
        return ac_perm_of(s->cx, n, perm) == AC_OK && perm[last] == last;
    return true;
}

/* ------------------------------------------------------------------ rules */

/* Everything. */
static void needs_whole(ac_channels *s, const ac_node *n, int32_t i)
{
    (void)i;
    for (int32_t k = 0; k < n->n_in; k++)
        if (n->in[k])
            mark_all(s, n->in[k]);
    for (int32_t k = 0; k < n->n_out; k++)
        mark_all(s, n->out[k]);
}

/* Can the outputs that stay do without channel c of x? */
static bool spared(const ac_channels *s, const ac_sums *t, int64_t c)
{
    const ac_span *x = &s->span[t->x->id];
    const bool *live = s->live[t->y->id];
    const bool fixed = t->folds && ac_span_fixed(x, c), zero = fixed && x->lo[c] == t->zx;
    for (int64_t o = 0; o < t->outs && !zero; o++)
        for (int64_t k = 0; k < t->taps && live[o]; k++)
            if ((!fixed || t->outside[k]) && ac_sums_weight(t, o, k, c))
                return false;
    return true;
}

static void needs_filter(ac_channels *s, const ac_node *n, int32_t i)
{
    const ac_sums *t = s->sums[i];
    if (!t) {
        needs_whole(s, n, i);
        return;
    }
    for (int64_t c = 0; c < t->ins; c++)
        if (!s->live[t->x->id][c] && !spared(s, t, c))
            mark(s, t->x, c);
}

/* x of one channel makes all outputs; otherwise each channel goes with its own. */
static void needs_depthwise(ac_channels *s, const ac_node *n, int32_t i)
{
    const ac_sums *t = s->sums[i];
    if (!t) {
        needs_whole(s, n, i);
        return;
    }
    const bool one = ac_last_dim(t->x) == 1;
    for (int64_t o = 0; o < t->outs; o++) {
        const int64_t c = o / t->times;
        if (s->live[t->y->id][o])
            mark(s, t->x, c);
        else if (!one && s->live[t->x->id][c])
            mark(s, t->y, o);
    }
}

/* Operands with as many channels as the result, or one. */
static void needs_aligned(ac_channels *s, const ac_node *n, int32_t i)
{
    const ac_tensor *y = n->out[0];
    const int64_t channels = ac_last_dim(y);
    bool plain = n->n_out == 1 && !n->n_fused && !ac_ops[n->op].static_in;
    for (int32_t k = 0; k < n->n_in; k++)
        plain &= n->in[k] && (ac_last_dim(n->in[k]) == channels || ac_last_dim(n->in[k]) == 1);
    if (!plain) {
        needs_whole(s, n, i);
        return;
    }
    for (int32_t k = 0; k < n->n_in; k++) {
        const ac_tensor *x = n->in[k];
        const bool one = ac_last_dim(x) == 1;
        for (int64_t c = 0; c < channels && !s->constant[x->id]; c++) {
            if (s->live[y->id][c])
                mark(s, x, one ? 0 : c);
            else if (channels == 1 || !one)
                if (s->live[x->id][c])
                    mark(s, y, c);
        }
    }
}

static void needs_same(ac_channels *s, const ac_node *n, int32_t i)
{
    if (!ac_channels_kept(s, n)) {
        needs_whole(s, n, i);
        return;
    }
    for (int64_t c = 0; c < ac_last_dim(n->out[0]); c++)
        if (s->live[n->out[0]->id][c])
            mark(s, n->in[0], c);
        else if (s->live[n->in[0]->id][c])
            mark(s, n->out[0], c);
}

static void needs_regroup(ac_channels *s, const ac_node *n, int32_t i)
{
    const ac_tensor *x = n->in[0], *y = n->out[0];
    const int64_t nx = ac_last_dim(x), ny = ac_last_dim(y), most = nx > ny ? nx : ny, least = nx > ny ? ny : nx;
    if (least < 1 || most % least) {
        needs_whole(s, n, i);
        return;
    }
    for (int64_t c = 0; c < most; c++)
        if (s->live[x->id][c % nx] || s->live[y->id][c % ny]) {
            mark(s, x, c % nx);
            mark(s, y, c % ny);
        }
}

/* Along the last dimension each operand has channels of its own, along another one all have the same. */
static void needs_concat(ac_channels *s, const ac_node *n, int32_t i)
{
    const ac_tensor *y = n->out[0];
    const bool joined = ac_channels_joined(s, n);
    int64_t at = 0;
    (void)i;
    for (int32_t k = 0; k < n->n_in; k++) {
        const ac_tensor *x = n->in[k];
        for (int64_t c = 0; c < ac_last_dim(x); c++)
            if (s->live[y->id][at + c])
                mark(s, x, c);
            else if (s->live[x->id][c] && !s->constant[x->id])
                mark(s, y, at + c);
        at += joined ? ac_last_dim(x) : 0;
    }
}

/* ------------------------------------------------------------------ all of them */

static const struct {
    ac_op op;
    ac_needs_fn *needs;
} ROWS[] = {
#define CHANNEL(op, values, needs, cut) {AC_OP_##op, needs_##needs},
#include "ir/pass/channels.def"
#undef CHANNEL
};

static ac_needs_fn *rule_of(ac_op op)
{
    for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++)
        if (ROWS[k].op == op)
            return ROWS[k].needs;
    return ac_ops[op].map ? needs_aligned : needs_whole;
}

void ac_channels_needs(ac_channels *s)
{
    ac_graph *g = s->g;
    for (int32_t k = 0; k < g->tensor.n; k++) {
        const ac_tensor *t = g->tensor.item[k];
        s->live[k] = AC_NEW_N(s->tmp, bool, ac_last_dim(t) + 1);
        if (t->input || t->output || t->state || (t->quant && t->quant->n > 1 && !s->constant[k]))
            mark_all(s, t);
    }
    do {
        s->again = false;
        for (int32_t k = g->node.n - 1; k >= 0; k--) {
            const ac_node *n = g->node.item[k];
            if (ac_channels_used(s, n) && !ac_channels_constant(s, n))
                (n->n_fused ? needs_whole : rule_of(n->op))(s, n, k);
        }
    } while (s->again);
}
