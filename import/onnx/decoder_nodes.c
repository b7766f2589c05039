/* decoder_nodes.c - operators of decoders of language models besides Attention: rotary positions, linear
 * attention, causal convolution with a carried state, attention with modifier graphs. */
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const int32_t SWAP[AC_MAX_RANK] = {0, 2, 1, 3}; /* [B,T,H,D] <-> [B,H,T,D] */

/* ------------------------------------------------------------------ RotaryEmbedding */

/* The angles at the positions of the tokens: [B,T,1,R/2]. */
static ac_tensor *angles(ac_onx_node *n, ac_tensor *cache, ac_tensor *positions)
{
    ac_tensor *in[] = {cache, positions};
    if (positions)
        cache = cache ? ac_make_op(&n->b, AC_OP_GATHER, in, 2, NULL, AC_NONE) : NULL;
    if (!cache)
        return NULL;
    if (cache->rank != 3)
        return (void)ac_error(n->r->cx, n->at, E0104, "cosines or sines '%s' are %s, expected 3 dimensions",
                              cache->name, ac_shape_str(n->r->cx, cache)),
               NULL;
    return ac_make_reshape(&n->b, cache, 4, (int64_t[]){cache->dim[0], cache->dim[1], 1, cache->dim[2]});
}

/* x [B,T,H,R], pairs of numbers turned: halves apart, or neighbours. */
static ac_tensor *turned(ac_onx_node *n, ac_tensor *x, ac_tensor *cosine, ac_tensor *sine, bool neighbours)
{
    const int64_t half = x->dim[3] / 2;
    ac_tensor *part[2];
    const int64_t pairs[5] = {x->dim[0], x->dim[1], x->dim[2], half, 2};
    ac_tensor *from = neighbours ? ac_make_reshape(&n->b, x, 5, pairs) : x;
    const int64_t one[4] = {x->dim[0], x->dim[1], x->dim[2], half};
    for (int32_t i = 0; i < 2; i++)
        part[i] = neighbours ? ac_make_reshape(&n->b, ac_make_slice(&n->b, from, 4, i, 1), 4, one)
                             : ac_make_slice(&n->b, from, 3, i * half, half);
    ac_tensor *both[2], *second = ac_onx_rounded(n, MUL(sine, part[1]));
    both[0] = ac_onx_rounded(n, SUB(ac_onx_rounded(n, MUL(cosine, part[0])), second));
    second = ac_onx_rounded(n, MUL(cosine, part[1]));
    both[1] = ac_onx_rounded(n, ADD(ac_onx_rounded(n, MUL(sine, part[0])), second));
    if (!neighbours)
        return ac_make_concat(&n->b, both, 2, 3);
    const int64_t wide[5] = {x->dim[0], x->dim[1], x->dim[2], half, 1};
    for (int32_t i = 0; i < 2; i++)
        both[i] = ac_make_reshape(&n->b, both[i], 5, wide);
    return ac_make_reshape(&n->b, ac_make_concat(&n->b, both, 2, 4), 4, x->dim);
}

ac_tensor *ac_onx_turned(ac_onx_node *n, ac_tensor *x, ac_tensor *cosine, ac_tensor *sine, ac_tensor *positions,
                         bool neighbours)
{
    cosine = angles(n, cosine, positions);
    sine = angles(n, sine, positions);
    if (!x || !cosine || !sine)
        return NULL;
    const int64_t half = cosine->dim[3], rest = x->dim[3] - 2 * half;
    if (rest < 0 || sine->dim[3] != half)
        return (void)ac_error(n->r->cx, n->at, E0104, "cosines %s and sines %s do not fit heads of %" PRId64 " numbers",
                              ac_shape_str(n->r->cx, cosine), ac_shape_str(n->r->cx, sine), x->dim[3]),
               NULL;
    ac_tensor *part[] = {rest ? ac_make_slice(&n->b, x, 3, 0, 2 * half) : x,
                         rest ? ac_make_slice(&n->b, x, 3, 2 * half, rest) : NULL};
    part[0] = part[0] ? turned(n, part[0], cosine, sine, neighbours) : NULL;
    return rest ? ac_make_concat(&n->b, part, 2, 3) : part[0];
}

int ac_onx_do_rotary(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    const int64_t h = ac_attr_int(&n->attrs, A_num_heads), dim = ac_attr_int(&n->attrs, A_rotary_embedding_dim);
    const bool neighbours = ac_attr_bool(&n->attrs, A_interleaved);
    if (x->rank != 3 && x->rank != 4)
        return ac_error(n->r->cx, n->at, E0104, "input '%s' has %d dimensions, expected 3 or 4", x->name, x->rank);
    if (x->rank == 3 && (h < 1 || x->dim[2] % h))
        return ac_error(n->r->cx, n->at, E0103, "num_heads is %" PRId64 ", but input '%s' is %s", h, x->name,
                        ac_shape_str(n->r->cx, x));
    ac_tensor *t = x->rank == 4 ? ac_make_transpose(&n->b, x, SWAP)
                                : ac_make_reshape(&n->b, x, 4, (int64_t[]){x->dim[0], x->dim[1], h, x->dim[2] / h});
    if (!t)
        return AC_FAIL;
    const int64_t turns = dim ? dim : t->dim[3], pairs = n->in[1]->rank ? n->in[1]->dim[n->in[1]->rank - 1] : 0;
    if (turns < 0 || turns > t->dim[3] || turns % 2)
        return ac_error(n->r->cx, n->at, E0103, "%" PRId64 " of %" PRId64 " numbers cannot be turned in pairs", turns,
                        t->dim[3]);
    if (2 * pairs != turns)
        return ac_error(n->r->cx, n->at, E0104, "cosines %s do not fit %" PRId64 " pairs",
                        ac_shape_str(n->r->cx, n->in[1]), turns / 2);
    ac_tensor *y = ac_onx_turned(n, t, n->in[1], n->in[2], ac_onx_in(n, 3), neighbours);
    return ac_onx_result(n, 0, x->rank == 4 ? ac_make_transpose(&n->b, y, SWAP) : ac_make_reshape(&n->b, y, 3, x->dim));
}

/* ------------------------------------------------------------------ LinearAttention */

enum { MOST_STEPS = 512 };

typedef struct linear {
    ac_onx_node *n;
    int64_t b, t, hq, hkv, dk, dv;
    ac_tensor *q, *k, *v, *decay, *beta; /* [B,T,..] */
    double scale;
    ac_tensor *state; /* [B,Hkv,dk,dv] */
} linear;

/* Time step i of x [B,T,H*D] as [B,H,..] with these last two dimensions. */
static ac_tensor *step_of(linear *l, ac_tensor *x, int64_t i, int64_t h, int64_t rows, int64_t columns)
{
    ac_tensor *now = ac_make_slice(&l->n->b, x, 1, i, 1);
    return ac_make_reshape(&l->n->b, now, 4, (int64_t[]){l->b, h, rows, columns});
}

/* S = exp(g) S;  v = beta (v - S' k);  S = S + k v';  o = scale S' q, for each head. */
static ac_tensor *linear_step(linear *l, int64_t i)
{
    ac_onx_node *n = l->n;
    const int64_t group = l->hq / l->hkv;
    ac_tensor *k = step_of(l, l->k, i, l->hkv, l->dk, 1), *v = step_of(l, l->v, i, l->hkv, 1, l->dv);
    if (l->decay) {
        const int64_t each = l->decay->dim[2] / l->hkv;
        l->state = MUL(l->state, EXP(step_of(l, l->decay, i, l->hkv, each, 1)));
    }
    if (l->beta) {
        ac_tensor *known = ac_make_matmul(&n->b, k, l->state, true, false); /* [B,Hkv,1,dv] */
        v = SUB(v, known);
        v = MUL(step_of(l, l->beta, i, l->beta->dim[2], 1, 1), v);
    }
    l->state = ADD(l->state, MUL(k, v));
    ac_tensor *q = step_of(l, l->q, i, l->hkv, group, l->dk), *o = ac_make_matmul(&n->b, q, l->state, false, false);
    o = o ? MUL(o, F32(l->scale)) : NULL;
    return ac_make_reshape(&n->b, o, 3, (int64_t[]){l->b, 1, l->hq * l->dv});
}

static int read_linear(linear *l)
{
    ac_onx_node *n = l->n;
    const char *rule = ac_attr_text(&n->attrs, A_update_rule);
    const bool gated = !strcmp(rule, "gated") || !strcmp(rule, "gated_delta"),
               delta = !strcmp(rule, "delta") || !strcmp(rule, "gated_delta");
    (void)ac_attr_int(&n->attrs, A_chunk_size);
    l->hq = ac_attr_int(&n->attrs, A_q_num_heads);
    l->hkv = ac_attr_int(&n->attrs, A_kv_num_heads);
    l->q = n->in[0];
    l->k = n->in[1];
    l->v = n->in[2];
    l->decay = ac_onx_in(n, 4);
    l->beta = ac_onx_in(n, 5);
    if (gated != !!l->decay || delta != !!l->beta)
        return ac_error(n->r->cx, n->at, E0102, "update_rule '%s' %s", rule,
                        gated != !!l->decay ? gated ? "needs decay" : "takes no decay"
                        : delta             ? "needs beta"
                                            : "takes no beta");
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && (n->in[i]->dtype != AC_F32 || n->in[i]->rank != (i == 3 ? 4 : 3)))
            return ac_cannot(&n->b, "operand '%s' is %s", n->in[i]->name, ac_tensor_str(n->r->cx, n->in[i]));
    l->b = l->q->dim[0];
    l->t = l->q->dim[1];
    if (l->hkv < 1 || l->hq < 1 || l->hq % l->hkv || l->q->dim[2] % l->hq || l->v->dim[2] % l->hkv)
        return ac_error(n->r->cx, n->at, E0103, "%" PRId64 " query heads and %" PRId64 " key heads do not fit", l->hq,
                        l->hkv);
    l->dk = l->q->dim[2] / l->hq;
    l->dv = l->v->dim[2] / l->hkv;
    for (int32_t i = 0; i < n->n_in; i++)
        if (i != 3 && n->in[i] && (n->in[i]->dim[0] != l->b || n->in[i]->dim[1] != l->t))
            return ac_error(n->r->cx, n->at, E0104, "operand '%s' is %s, query '%s' is %s", n->in[i]->name,
                            ac_shape_str(n->r->cx, n->in[i]), l->q->name, ac_shape_str(n->r->cx, l->q));
    if (l->k->dim[2] != l->hkv * l->dk || (l->beta && l->beta->dim[2] != l->hkv && l->beta->dim[2] != 1) ||
        (l->decay && l->decay->dim[2] != l->hkv && l->decay->dim[2] != l->hkv * l->dk))
        return ac_error(n->r->cx, n->at, E0104, "key, decay or beta do not fit %" PRId64 " heads", l->hkv);
    if (l->t > MOST_STEPS)
        return ac_cannot(&n->b, "it has %" PRId64 " steps; up to %d are unrolled", l->t, MOST_STEPS);
    const double scale = ac_attr_float(&n->attrs, A_scale);
    l->scale = scale != 0 ? scale : 1 / sqrt((double)l->dk);
    return AC_OK;
}

int ac_onx_do_linear_attention(ac_onx_node *n)
{
    linear l = {.n = n};
    AC_TRY(read_linear(&l));
    const int64_t dim[4] = {l.b, l.hkv, l.dk, l.dv}, none[3] = {l.b, 0, l.hq * l.dv};
    l.state = ac_onx_in(n, 3);
    if (l.state && memcmp(l.state->dim, dim, sizeof dim) != 0)
        return ac_error(n->r->cx, n->at, E0104, "past_state '%s' is %s", l.state->name,
                        ac_shape_str(n->r->cx, l.state));
    if (!l.state)
        l.state = ac_make_broadcast(&n->b, F32(0), 4, dim);
    ac_tensor **o = AC_NEW_N(n->r->cx->region, ac_tensor *, l.t + 1);
    for (int64_t i = 0; i < l.t; i++)
        o[i] = linear_step(&l, i);
    ac_tensor *y = l.t ? ac_make_concat(&n->b, o, (int32_t)l.t, 1) : ac_make_broadcast(&n->b, F32(0), 3, none);
    AC_TRY(ac_onx_result(n, 0, y));
    return ac_onx_result(n, 1, l.state);
}

/* ------------------------------------------------------------------ CausalConvWithState */

/* y[b,c,i] = sum over k of x[b,c,i+k] w[c,k] */
static ac_tensor *depthwise(ac_onx_node *n, ac_tensor *x, ac_tensor *w, ac_tensor *bias)
{
    static const int32_t LAST[AC_MAX_RANK] = {1, 2, 0}, ROW[AC_MAX_RANK] = {0, 2, 1};
    const int64_t c = x->dim[1], length = x->dim[2];
    ac_tensor *in[] = {
        ac_make_reshape(&n->b, ac_make_transpose(&n->b, x, ROW), 4, (int64_t[]){x->dim[0], 1, length, c}),
        ac_make_reshape(&n->b, ac_make_transpose(&n->b, w, LAST), 4, (int64_t[]){1, 1, w->dim[2], c}), bias};
    ac_tensor *y = in[0] && in[1] ? ac_make_op(&n->b, AC_OP_DEPTHWISE_CONV_2D, in, bias ? 3 : 2, NULL, AC_NONE) : NULL;
    const int64_t dim[3] = {x->dim[0], length - w->dim[2] + 1, c};
    return ac_make_transpose(&n->b, ac_make_reshape(&n->b, y, 3, dim), ROW);
}

/* x [B,C,L], w [C,1,K]: the last K - 1 positions of the run before come before x. */
int ac_onx_do_causal_conv(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *w = n->in[1], *past = ac_onx_in(n, 3);
    const char *act = ac_attr_text(&n->attrs, A_activation);
    const bool silu = !strcmp(act, "silu") || !strcmp(act, "swish");
    if (x->rank != 3 || w->rank != 3 || w->dim[0] != x->dim[1] || w->dim[1] != 1 || w->dim[2] < 1)
        return ac_error(n->r->cx, n->at, E0104, "input '%s' is %s, weights '%s' are %s", x->name,
                        ac_shape_str(n->r->cx, x), w->name, ac_shape_str(n->r->cx, w));
    const int64_t keep = w->dim[2] - 1, dim[3] = {x->dim[0], x->dim[1], keep};
    if (past && (past->rank != 3 || memcmp(past->dim, dim, sizeof dim) != 0))
        return ac_error(n->r->cx, n->at, E0104, "past_state '%s' is %s", past->name, ac_shape_str(n->r->cx, past));
    if (!past)
        past = ac_make_broadcast(&n->b, NUM(x, 0), 3, dim);
    ac_tensor *both[] = {past, x}, *all = keep ? ac_make_concat(&n->b, both, 2, 2) : x;
    ac_tensor *y = all ? depthwise(n, all, w, ac_onx_in(n, 2)) : NULL;
    y = ac_onx_rounded(n, y);
    if (silu && y)
        y = ac_make_swish(&n->b, y, 1);
    AC_TRY(ac_onx_result(n, 0, y));
    return ac_onx_result(n, 1, ac_make_slice(&n->b, all, 2, all->dim[2] - keep, keep));
}

/* ------------------------------------------------------------------ FlexAttention */

/* The graph of attribute `name` applied to x, which keeps shape and type; x itself without the attribute. */
static ac_tensor *modified(ac_onx_node *n, const char *name, ac_tensor *x)
{
    ac_onx_attr *a = ac_onx_attr_of(n, name);
    ac_tensor *y = NULL;
    if (!a || !x)
        return x;
    if (ac_onx_call_graph(n, a->graph, &x, 1, &y, 1) != AC_OK)
        return NULL;
    if (y->dtype != x->dtype || !ac_tensor_same_shape(x, y))
        return (void)ac_error(n->r->cx, n->at, E0104, "%s makes %s of %s", name, ac_tensor_str(n->r->cx, y),
                              ac_tensor_str(n->r->cx, x)),
               NULL;
    return y;
}

int ac_onx_do_flex_attention(ac_onx_node *n)
{
    ac_tensor *q = n->in[0], *k = n->in[1], *v = n->in[2];
    const int64_t number = ac_attr_int(&n->attrs, A_softmax_precision);
    const ac_dtype type = q->dtype, precision = number ? ac_onx_dtype(number) : type == AC_F64 ? AC_F64 : AC_F32;
    if (q->rank != 4 || k->rank != 4 || v->rank != 4 || k->dim[1] < 1 || q->dim[1] % k->dim[1] ||
        k->dim[1] != v->dim[1] || k->dim[2] != v->dim[2])
        return ac_error(n->r->cx, n->at, E0104, "query %s, key %s and value %s do not fit", ac_shape_str(n->r->cx, q),
                        ac_shape_str(n->r->cx, k), ac_shape_str(n->r->cx, v));
    if (!ac_dtype_is_float(type) ||
        (precision != AC_F32 && precision != AC_F64 && precision != AC_F16 && precision != AC_BF16))
        return ac_cannot(&n->b, "its operands are %s, its precision is %s", ac_dtype_name(type),
                         ac_dtype_name(precision));
    const ac_dtype wide = type == AC_F64 ? AC_F64 : AC_F32;
    const int64_t h = k->dim[1], group = q->dim[1] / h;
    const int64_t q_dim[5] = {q->dim[0], h, group, q->dim[2], q->dim[3]},
                  k_dim[5] = {k->dim[0], h, 1, k->dim[2], k->dim[3]},
                  v_dim[5] = {v->dim[0], h, 1, v->dim[2], v->dim[3]},
                  s_dim[4] = {q->dim[0], q->dim[1], q->dim[2], k->dim[2]},
                  p_dim[5] = {q->dim[0], h, group, q->dim[2], k->dim[2]};
    ac_tensor *keys = ac_make_reshape(&n->b, ac_make_cast(&n->b, k, wide), 5, k_dim);
    ac_tensor *s =
        ac_make_matmul(&n->b, ac_make_reshape(&n->b, ac_make_cast(&n->b, q, wide), 5, q_dim), keys, false, true);
    s = ac_make_reshape(&n->b, s, 4, s_dim);
    const double scale = ac_attr_float_or(&n->attrs, A_scale, (double)(float)(1 / sqrt((double)q->dim[3])));
    s = s ? ac_make_cast(&n->b, MUL(s, ac_make_number(&n->b, wide, scale)), precision) : NULL;
    s = modified(n, "score_mod", s);
    ac_tensor *p = NULL;
    if (s && precision == AC_F64)
        p = OP1(SOFTMAX, s);
    else
        p = ac_make_cast(&n->b, ac_onx_softmax(n, ac_make_cast(&n->b, s, AC_F32), precision), precision);
    p = ac_make_cast(&n->b, modified(n, "prob_mod", p), type);
    ac_tensor *values = ac_make_reshape(&n->b, ac_make_cast(&n->b, v, wide), 5, v_dim);
    ac_tensor *y =
        ac_make_matmul(&n->b, ac_make_reshape(&n->b, ac_make_cast(&n->b, p, wide), 5, p_dim), values, false, false);
    const int64_t y_dim[4] = {q->dim[0], q->dim[1], q->dim[2], v->dim[3]};
    return ac_onx_result(n, 0, ac_make_cast(&n->b, ac_make_reshape(&n->b, y, 4, y_dim), type));
}
