/* needs.c - which channels stay.
 *
 * Initially no channel is needed. The outputs of the graph are, and then, rule by rule until nothing changes, the
 * channels that they depend on. A channel next to a needed one keeps its place, but is idle if its value is unused, or
 * is the same for all values of its operands. All other channels are removed: their readers ignore them, or add their
 * constant value to the bias. The order of the rules does not matter, since needs only grow.
 *
 *     conv_2d, fully_connected   an input channel goes when all weights of the outputs that stay are zero, or when its
 *                                value is one constant k: (k - zx) * sum(w) moves into the bias. If k != zx, taps with
 *                                nonzero weights must be inside x everywhere, since outside they add 0
 *     depthwise_conv_2d          input channel and its outputs go together; so do channels of element-wise operators
 *     reshape                    channels go with those they copy, if one length of rows divides the other */
#include "ir/ops/decode/axis.h"
#include "ir/pass/channels.h"

enum {
    MOST_CONSTANT = 64 * 1024, /* bytes of a tensor that becomes one */
    WORD = 4,                  /* channels */
    FEW = 16                   /* channels are added to at least so many times their number */
};

static uint8_t need_of(const ac_channels *s, const ac_tensor *t, int64_t c)
{
    return s->need[t->id][c];
}

static void mark_needed(ac_channels *s, const ac_tensor *t, int64_t c, uint8_t need)
{
    if (s->need[t->id][c] >= need)
        return;
    s->need[t->id][c] = need;
    s->again = true;
}

static void mark_all(ac_channels *s, const ac_tensor *t)
{
    for (int64_t c = 0; c < ac_last_dim(t); c++)
        mark_needed(s, t, c, AC_CHANNEL_NEEDED);
}

/* The need of y's channel c for its operands. If it is constant, they only have to exist: all their values give the
 * same result. */
static uint8_t asks(const ac_channels *s, const ac_tensor *y, int64_t c)
{
    const uint8_t need = need_of(s, y, c);
    return need == AC_CHANNEL_NEEDED && ac_span_fixed(&s->span[y->id], c) ? AC_CHANNEL_IDLE : need;
}

/* Channels c of x and d of y correspond: either both keep their places, or neither. */
static void tie(ac_channels *s, const ac_tensor *x, int64_t c, const ac_tensor *y, int64_t d)
{
    mark_needed(s, x, c, asks(s, y, d));
    if (need_of(s, x, c))
        mark_needed(s, y, d, AC_CHANNEL_IDLE);
}

/* Tensors without a channel are left as they are. */
static bool any_live(const ac_channels *s, const ac_tensor *t)
{
    if (ac_last_dim(t) < 1)
        return true;
    for (int64_t c = 0; c < ac_last_dim(t); c++)
        if (need_of(s, t, c))
            return true;
    return false;
}

bool ac_channels_used(const ac_channels *s, const ac_node *n)
{
    for (int32_t i = 0; i < n->n_out; i++)
        if (any_live(s, n->out[i]))
            return true;
    return n->op != AC_OP_NONE && ((ac_ops[n->op].flags & (OF_STATE | OF_CALLS)) || n->n_fused);
}

bool ac_channels_constant(const ac_channels *s, const ac_node *n, bool *uniform)
{
    const ac_tensor *t = n->n_out == 1 && !n->n_fused ? n->out[0] : NULL;
    const ac_span *y = t ? &s->span[t->id] : NULL;
    int32_t first = -1;
    *uniform = true;
    for (int32_t c = 0; y && c < y->n; c++) {
        const uint8_t need = need_of(s, t, c);
        if (need == AC_CHANNEL_NEEDED && !ac_span_fixed(y, c))
            return false;
        if (need && first < 0)
            first = c;
        *uniform &= !need || y->lo[c] == y->lo[first];
    }
    return first >= 0 && (*uniform || ac_tensor_bytes(t) <= MOST_CONSTANT);
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

/* True if no needed output depends on channel c of x, or a bias can replace it. */
static bool spared(const ac_channels *s, const ac_sums *t, int64_t c)
{
    const ac_span *x = &s->span[t->x->id];
    const bool fixed = t->folds && ac_span_fixed(x, c), zero = fixed && x->lo[c] == t->zx;
    for (int64_t o = 0; o < t->outs && !zero; o++)
        for (int64_t k = 0; k < t->taps && asks(s, t->y, o) == AC_CHANNEL_NEEDED; k++)
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
        if (need_of(s, t->x, c) != AC_CHANNEL_NEEDED && !spared(s, t, c))
            mark_needed(s, t->x, c, AC_CHANNEL_NEEDED);
    if (!any_live(s, t->x)) /* no operator is without inputs */
        mark_needed(s, t->x, 0, AC_CHANNEL_IDLE);
}

/* x of one channel makes all outputs; otherwise each channel goes with its own. */
static void needs_depthwise(ac_channels *s, const ac_node *n, int32_t i)
{
    const ac_sums *t = s->sums[i];
    if (!t) {
        needs_whole(s, n, i);
        return;
    }
    for (int64_t o = 0; o < t->outs; o++)
        if (ac_last_dim(t->x) == 1)
            mark_needed(s, t->x, 0, asks(s, t->y, o));
        else
            tie(s, t->x, o / t->times, t->y, o);
}

/* Operands with as many channels as the result, or one. */
static void needs_aligned(ac_channels *s, const ac_node *n, int32_t i)
{
    const ac_tensor *y = n->out[0];
    const int64_t channels = ac_last_dim(y);
    bool plain = n->n_out == 1 && !ac_ops[n->op].static_in;
    for (int32_t k = 0; k < n->n_in; k++)
        plain &= n->in[k] && (ac_last_dim(n->in[k]) == channels || ac_last_dim(n->in[k]) == 1);
    if (!plain) {
        needs_whole(s, n, i);
        return;
    }
    for (int32_t k = 0; k < n->n_in; k++)
        for (int64_t c = 0; c < channels && !s->constant[n->in[k]->id]; c++)
            if (ac_last_dim(n->in[k]) == channels)
                tie(s, n->in[k], c, y, c);
            else
                mark_needed(s, n->in[k], 0, asks(s, y, c));
}

static void needs_same(ac_channels *s, const ac_node *n, int32_t i)
{
    if (!ac_channels_kept(s, n)) {
        needs_whole(s, n, i);
        return;
    }
    for (int64_t c = 0; c < ac_last_dim(n->out[0]); c++)
        tie(s, n->in[0], c, n->out[0], c);
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
        tie(s, x, c % nx, y, c % ny);
}

/* Along the last dimension each operand has channels of its own, along another one all have the same. */
static void needs_concat(ac_channels *s, const ac_node *n, int32_t i)
{
    const bool joined = ac_channels_joined(s, n);
    int64_t at = 0;
    (void)i;
    for (int32_t k = 0; k < n->n_in; k++) {
        const ac_tensor *x = n->in[k];
        for (int64_t c = 0; c < ac_last_dim(x) && !s->constant[x->id]; c++)
            tie(s, x, c, n->out[0], at + c);
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

/* Rules work by channel, so a node with a result without channels stays. */
static ac_needs_fn *rule_of(const ac_node *n)
{
    bool whole = n->n_fused > 0;
    for (int32_t i = 0; i < n->n_out; i++)
        whole |= ac_last_dim(n->out[i]) < 1;
    if (whole)
        return needs_whole;
    for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++)
        if (ROWS[k].op == n->op)
            return ROWS[k].needs;
    return ac_ops[n->op].map ? needs_aligned : needs_whole;
}

static void settle(ac_channels *s)
{
    do {
        s->again = false;
        for (int32_t k = s->g->node.n - 1; k >= 0; k--) {
            const ac_node *n = s->g->node.item[k];
            bool uniform;
            if (ac_channels_used(s, n) && !ac_channels_constant(s, n, &uniform))
                rule_of(n)(s, n, k);
        }
    } while (s->again);
}

/* Some of the channels of t that would go stay, so that pixels are whole words where that is nearly for nothing. */
static void fill_word(ac_channels *s, const ac_tensor *t)
{
    int64_t n = 0;
    for (int64_t c = 0; c < ac_last_dim(t); c++)
        n += need_of(s, t, c) > 0;
    int64_t more = n % WORD && n < ac_last_dim(t) ? WORD - n % WORD : 0;
    if (!n || more > n / FEW)
        return;
    for (int64_t c = 0; c < ac_last_dim(t) && more; c++)
        if (!need_of(s, t, c)) {
            mark_needed(s, t, c, AC_CHANNEL_IDLE);
            more--;
        }
}

void ac_channels_needs(ac_channels *s)
{
    ac_graph *g = s->g;
    for (int32_t k = 0; k < g->tensor.n; k++) {
        const ac_tensor *t = g->tensor.item[k];
        s->need[k] = AC_NEW_N(s->tmp, uint8_t, ac_last_dim(t) + 1);
        const bool kept = t->state || (t->root && t->root->state);
        if (t->input || t->output || kept || (t->quant && t->quant->n > 1 && !s->constant[k]))
            mark_all(s, t);
    }
    settle(s);
    for (int32_t k = 0; k < g->tensor.n; k++)
        if (s->span[k].n && !s->constant[k]) {
            fill_word(s, g->tensor.item[k]);
            if (s->again)
                settle(s);
        }
}
