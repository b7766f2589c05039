/* fused_attention_nodes.c - com.microsoft: Attention, QAttention, MultiHeadAttention and GroupQueryAttention as ONNX
 * Runtime's optimisers write them, in matrix products and element-wise nodes.
 *
 *     query [B,S,..], key and value [B,L,..]; weights of Attention make all three of one input
 *     heads: Q [B,N,S,D], K [B,G,T,D], V [B,G,T,E] with the past before them; N is a multiple of G
 *     y = softmax(Q K' scale + bias) V -> [B,S,N*E]
 *
 * What a query may not see gets a number added: the filter value of masks, the least float of what comes later. */
#include "import/build/compose_math.h"
#include "import/onnx/proto/nodes.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define ADD(x, y) ac_onx_2(n, AC_OP_ADD, x, y)
#define SUB(x, y) ac_onx_2(n, AC_OP_SUB, x, y)
#define MUL(x, y) ac_onx_2(n, AC_OP_MUL, x, y)

typedef struct fused {
    ac_onx_node *n;
    int64_t b, s, t, hq, hkv, past; /* t: keys with the past */
    ac_tensor *q, *k, *v;           /* heads as dimension 1 */
    ac_tensor *bias;                /* f32, broadcasts to [B,N,S,T]; NULL: none */
    ac_tensor *sink;                /* [N]: one more key of each head, whose value is 0 */
    double scale, cap;
} fused;

enum { MOST_HEADS = 1 << 16 };

static const int32_t SWAP[AC_MAX_RANK] = {0, 2, 1, 3}; /* [B,S,N,D] <-> [B,N,S,D] */

static int bad_shape(const fused *a, const char *what, const ac_tensor *t)
{
    return ac_build_bad(&a->n->b, "%s '%s' is %s", what, t->name, ac_shape_str(a->n->r->cx, t));
}

/* [B,S,H*D] -> [B,S,H,D] */
static ac_tensor *apart(const fused *a, ac_tensor *x, int64_t h)
{
    if (!x)
        return NULL;
    if (x->rank != 3 || h < 1 || x->dim[2] % h)
        return (void)ac_build_bad(&a->n->b, "'%s' is %s, which is not %" PRId64 " heads", x->name,
                                  ac_shape_str(a->n->r->cx, x), h),
               NULL;
    return ac_onx_reshape(a->n, x, 4, (int64_t[]){x->dim[0], x->dim[1], h, x->dim[2] / h});
}

static ac_tensor *heads(const fused *a, ac_tensor *x, int64_t h)
{
    return ac_onx_transpose(a->n, apart(a, x, h), SWAP);
}

/* ------------------------------------------------------------------ the attention itself */

/* x [B,H,..] as [B,G,H/G,..] where heads are shared. */
static ac_tensor *grouped(const fused *a, ac_tensor *x)
{
    if (!x || a->hq == a->hkv)
        return x;
    return ac_onx_reshape(a->n, x, 5, (int64_t[]){a->b, a->hkv, x->dim[1] / a->hkv, x->dim[2], x->dim[3]});
}

static ac_tensor *product(const fused *a, ac_tensor *x, ac_tensor *y, bool adj, int64_t columns)
{
    ac_tensor *z = ac_onx_matmul(a->n, grouped(a, x), grouped(a, y), false, adj);
    return ac_onx_reshape(a->n, z, 4, (int64_t[]){a->b, a->hq, a->s, columns});
}

/* Weights of the keys; a sink takes part in the sum, and is cut off. */
static ac_tensor *weights(const fused *a, ac_tensor *x)
{
    ac_onx_node *n = a->n;
    if (!a->sink)
        return ac_onx_softmax(n, x, AC_F32);
    ac_tensor *more = ac_onx_reshape(n, a->sink, 4, (int64_t[]){1, a->hq, 1, 1});
    ac_tensor *both[] = {x, ac_onx_broadcast(n, more, 4, (int64_t[]){a->b, a->hq, a->s, 1})};
    return ac_onx_slice(n, ac_onx_softmax(n, x ? ac_onx_concat(n, both, 2, 3) : NULL, AC_F32), 3, 0, a->t);
}

static int check_heads(const fused *a)
{
    const ac_tensor *q = a->q, *k = a->k, *v = a->v;
    if (!q || !k || !v)
        return AC_FAIL;
    if (k->dim[0] != q->dim[0] || v->dim[0] != q->dim[0] || v->dim[1] != k->dim[1] || v->dim[2] != k->dim[2] ||
        k->dim[3] != q->dim[3] || k->dim[1] < 1 || q->dim[1] % k->dim[1])
        return ac_build_bad(&a->n->b, "query %s, key %s and value %s do not fit", ac_shape_str(a->n->r->cx, q),
                            ac_shape_str(a->n->r->cx, k), ac_shape_str(a->n->r->cx, v));
    return AC_OK;
}

/* Sizes, once q, k and v are there. */
static int measure(fused *a)
{
    AC_TRY(check_heads(a));
    a->b = a->q->dim[0];
    a->hq = a->q->dim[1];
    a->s = a->q->dim[2];
    a->hkv = a->k->dim[1];
    a->t = a->k->dim[2];
    const double scale = (double)ac_onx_float(a->n, "scale", 0);
    a->scale = scale != 0 ? scale : 1 / sqrt((double)a->q->dim[3]);
    return AC_OK;
}

static ac_tensor *attend(const fused *a)
{
    ac_onx_node *n = a->n;
    ac_tensor *x = product(a, a->q, a->k, true, a->t);
    x = ac_build_mul_number(&n->b, x, a->scale);
    if (a->cap > 0 && x)
        x = ac_build_mul_number(&n->b, ac_onx_1(n, AC_OP_TANH, ac_build_mul_number(&n->b, x, 1 / a->cap)), a->cap);
    x = a->bias ? ADD(x, a->bias) : x;
    ac_tensor *y = product(a, weights(a, x), a->v, false, a->v->dim[3]);
    return ac_onx_reshape(n, ac_onx_transpose(n, y, SWAP), 3, (int64_t[]){a->b, a->s, a->hq * a->v->dim[3]});
}

/* ------------------------------------------------------------------ what is hidden */

/* 0, 1, .. as i64 along the queries [1,1,S,1] or the keys [1,1,1,T]. */
static ac_tensor *count_up(const fused *a, int64_t count, int32_t axis)
{
    int64_t dim[4] = {1, 1, 1, 1}, *v = AC_NEW_N(a->n->r->cx->region, int64_t, count + 1);
    for (int64_t i = 0; i < count; i++)
        v[i] = i;
    dim[axis] = count;
    return ac_onx_reshape(a->n, ac_onx_ints_const(a->n, count, v), 4, dim);
}

/* Where the condition does not hold the bias is `value`, instead of what it was or added to it. */
static int keep_only(fused *a, ac_tensor *sees, double value)
{
    ac_onx_node *n = a->n;
    ac_tensor *was = a->bias ? a->bias : ac_onx_number(n, AC_F32, 0);
    a->bias = ac_onx_select(n, sees, was, ac_onx_number(n, AC_F32, value));
    return a->bias ? AC_OK : AC_FAIL;
}

/* Masks: lengths [B], ends and starts [2B], [B,T], [B,S,T] or [B,1,M,M] of ones and zeros. */
static int read_mask(fused *a, ac_tensor *m)
{
    ac_onx_node *n = a->n;
    const double value = (double)ac_onx_float(n, "mask_filter_value", -10000);
    if (!m)
        return AC_OK;
    ac_tensor *zero = ac_onx_number(n, m->dtype, 0), *sees = NULL;
    if (m->rank == 1 && (m->dim[0] == a->b || m->dim[0] == 2 * a->b)) {
        const int64_t dim[4] = {a->b, 1, 1, 1};
        ac_tensor *j = count_up(a, a->t, 3), *end = ac_onx_cast(n, ac_onx_slice(n, m, 0, 0, a->b), AC_I64);
        sees = ac_onx_2(n, AC_OP_LESS, j, ac_onx_reshape(n, end, 4, dim));
        if (m->dim[0] > a->b) {
            ac_tensor *start = ac_onx_cast(n, ac_onx_slice(n, m, 0, a->b, a->b), AC_I64);
            ac_tensor *after = ac_onx_2(n, AC_OP_GREATER_EQUAL, j, ac_onx_reshape(n, start, 4, dim));
            sees = ac_onx_2(n, AC_OP_LOGICAL_AND, sees, after);
        }
    } else if (m->rank == 2 && (m->dim[0] == a->b || m->dim[0] == 1) && m->dim[1] == a->t) {
        sees = ac_onx_2(n, AC_OP_GREATER, ac_onx_reshape(n, m, 4, (int64_t[]){m->dim[0], 1, 1, a->t}), zero);
    } else if (m->rank == 3 && m->dim[0] == a->b && m->dim[1] == a->s && m->dim[2] == a->t) {
        sees = ac_onx_2(n, AC_OP_GREATER, ac_onx_reshape(n, m, 4, (int64_t[]){a->b, 1, a->s, a->t}), zero);
    } else if (m->rank == 4 && m->dim[1] == 1 && m->dim[2] >= a->past + a->s && m->dim[3] >= a->t) {
        sees = ac_onx_slice(n, ac_onx_slice(n, m, 2, a->past, a->s), 3, 0, a->t);
        sees = ac_onx_2(n, AC_OP_GREATER, sees, zero);
    } else {
        return ac_build_cannot(&n->b, "its mask is %s for %" PRId64 " queries and %" PRId64 " keys",
                               ac_shape_str(n->r->cx, m), a->s, a->t);
    }
    return keep_only(a, sees, value);
}

/* unidirectional: what comes after the query is hidden. */
static int read_causal(fused *a)
{
    ac_onx_node *n = a->n;
    if (!ac_onx_int(n, "unidirectional", 0))
        return AC_OK;
    ac_tensor *i = ADD(count_up(a, a->s, 2), ac_onx_number(n, AC_I64, (double)a->past));
    return keep_only(a, ac_onx_2(n, AC_OP_LESS_EQUAL, count_up(a, a->t, 3), i), -(double)FLT_MAX);
}

/* A bias of numbers [B or 1, N or 1, S, T]. */
static int read_bias(fused *a, ac_tensor *x)
{
    ac_onx_node *n = a->n;
    if (!x)
        return AC_OK;
    if (x->rank != 4 || (x->dim[0] != 1 && x->dim[0] != a->b) || (x->dim[1] != 1 && x->dim[1] != a->hq) ||
        (x->dim[2] != 1 && x->dim[2] != a->s) || x->dim[3] < a->t)
        return bad_shape(a, "attention_bias", x);
    x = ac_onx_slice(n, x, 3, 0, a->t);
    a->bias = a->bias ? ADD(a->bias, x) : x;
    return a->bias ? AC_OK : AC_FAIL;
}

/* ------------------------------------------------------------------ Attention, QAttention */

/* past [2,B,N,P,D] before keys and values; *present is the same with them. */
static int join_past(fused *a, ac_tensor *past, bool wanted, ac_tensor **present)
{
    ac_onx_node *n = a->n;
    ac_tensor **part[] = {&a->k, &a->v}, *one[2];
    AC_TRY(check_heads(a));
    for (int32_t i = 0; i < 2; i++) {
        ac_tensor *x = *part[i];
        if (past && (past->rank != 5 || past->dim[0] != 2 || past->dim[1] != x->dim[0] || past->dim[2] != x->dim[1] ||
                     past->dim[4] != x->dim[3]))
            return bad_shape(a, "past", past);
        a->past = past ? past->dim[3] : 0;
        ac_tensor *was = past ? ac_onx_reshape(n, ac_onx_slice(n, past, 0, i, 1), 4, past->dim + 1) : NULL;
        ac_tensor *both[] = {was, x};
        *part[i] = past ? ac_onx_concat(n, both, 2, 2) : x;
        if (!*part[i])
            return AC_FAIL;
        x = *part[i];
        one[i] = wanted ? ac_onx_reshape(n, x, 5, (int64_t[]){1, x->dim[0], x->dim[1], x->dim[2], x->dim[3]}) : NULL;
    }
    *present = wanted ? ac_onx_concat(n, one, 2, 0) : NULL;
    return AC_OK;
}

/* all [B,S,Q+K+V] of one product: heads of each. */
static int split_product(fused *a, ac_tensor *all, int64_t h)
{
    ac_ints sizes;
    ac_tensor **part[] = {&a->q, &a->k, &a->v};
    AC_TRY(ac_onx_list(a->n, "qkv_hidden_sizes", &sizes));
    if (!all)
        return AC_FAIL;
    const int64_t third[3] = {all->dim[2] / 3, all->dim[2] / 3, all->dim[2] / 3};
    const int64_t *size = sizes.n == 3 ? sizes.v : third;
    if ((sizes.n && sizes.n != 3) || size[0] < 1 || size[1] < 1 || size[2] < 1 || size[0] > INT32_MAX ||
        size[1] > INT32_MAX || size[2] > INT32_MAX || size[0] + size[1] + size[2] != all->dim[2])
        return ac_error(a->n->r->cx, a->n->at, E0103, "weights of %" PRId64 " columns are not those of Q, K and V",
                        all->dim[2]);
    for (int32_t i = 0, at = 0; i < 3; at += (int32_t)size[i++])
        *part[i] = heads(a, ac_onx_slice(a->n, all, 2, at, size[i]), h);
    return AC_OK;
}

static int finish(fused *a, ac_tensor *all, ac_tensor *mask, ac_tensor *past, ac_tensor *bias)
{
    ac_onx_node *n = a->n;
    ac_tensor *present = NULL;
    (void)ac_onx_int(n, "rotary_embedding_dim", 0);
    if (ac_onx_int(n, "do_rotary", 0) || ac_onx_int(n, "past_present_share_buffer", 0))
        return ac_build_cannot(&n->b, "it has do_rotary or past_present_share_buffer");
    AC_TRY(split_product(a, all, ac_onx_int(n, "num_heads", 0)));
    AC_TRY(join_past(a, past, n->n_out > 1, &present));
    AC_TRY(measure(a));
    AC_TRY(read_mask(a, mask));
    AC_TRY(read_causal(a));
    AC_TRY(read_bias(a, bias));
    AC_TRY(ac_onx_result(n, 0, attend(a)));
    return n->n_out > 1 ? ac_onx_result(n, 1, present) : AC_OK;
}

/* input, weights, bias, mask, past, attention bias */
int ac_onx_do_attention_ms(ac_onx_node *n)
{
    fused a = {.n = n};
    ac_tensor *x = n->in[0], *w = n->in[1], *in[] = {x, w};
    if (x->rank != 3 || w->rank != 2)
        return ac_build_cannot(&n->b, "its input is %s, its weights are %s", ac_shape_str(n->r->cx, x),
                               ac_shape_str(n->r->cx, w));
    ac_tensor *all = ac_onx_inner(n, "MatMul", 13, in, 2), *bias = ac_onx_in(n, 2);
    return finish(&a, bias ? ADD(all, bias) : all, ac_onx_in(n, 3), ac_onx_in(n, 4), ac_onx_in(n, 5));
}

/* input, weights, bias, scales of both, mask, zero points of both, past */
int ac_onx_do_qattention(ac_onx_node *n)
{
    fused a = {.n = n};
    ac_tensor *x = n->in[0], *w = n->in[1], *in[] = {x, w, ac_onx_in(n, 6), ac_onx_in(n, 7)};
    if (x->rank != 3 || w->rank != 2)
        return ac_build_cannot(&n->b, "its input is %s, its weights are %s", ac_shape_str(n->r->cx, x),
                               ac_shape_str(n->r->cx, w));
    ac_tensor *all = ac_onx_cast(n, ac_onx_inner(n, "MatMulInteger", 10, in, 4), AC_F32);
    all = MUL(all, MUL(n->in[3], n->in[4]));
    return finish(&a, ADD(all, n->in[2]), ac_onx_in(n, 5), ac_onx_in(n, 8), NULL);
}

/* ------------------------------------------------------------------ MultiHeadAttention */

/* Part i of x [B,S,N,parts,D] as [B,S,N*D]. */
static ac_tensor *packed(const fused *a, ac_tensor *x, int64_t i)
{
    ac_tensor *y = ac_onx_slice(a->n, x, 3, i, 1);
    return ac_onx_reshape(a->n, y, 3, (int64_t[]){x->dim[0], x->dim[1], x->dim[2] * x->dim[4]});
}

/* The part of the bias [Q+K+V] that begins at `from`, added to x [B,S,W]. */
static ac_tensor *biased(const fused *a, ac_tensor *x, ac_tensor *bias, int64_t from)
{
    ac_onx_node *n = a->n;
    if (!bias || !x)
        return x;
    if (bias->rank != 1 || from + x->dim[2] > bias->dim[0])
        return (void)bad_shape(a, "bias", bias), NULL;
    return ADD(x, ac_onx_slice(n, bias, 0, from, x->dim[2]));
}

/* q, k and v [B,S,W]; k and v stay as they are where they come with heads [B,N,L,D]. */
static int unpack(const fused *a, ac_tensor **q, ac_tensor **k, ac_tensor **v)
{
    const ac_onx_node *n = a->n;
    *q = n->in[0];
    *k = ac_onx_in(n, 1);
    *v = ac_onx_in(n, 2);
    if ((*q)->rank == 5 && (*q)->dim[3] == 3 && !*k && !*v) {
        ac_tensor *x = *q;
        *q = packed(a, x, 0);
        *k = packed(a, x, 1);
        *v = packed(a, x, 2);
    } else if ((*q)->rank == 3 && *k && (*k)->rank == 5 && (*k)->dim[3] == 2 && !*v) {
        ac_tensor *x = *k;
        *k = packed(a, x, 0);
        *v = packed(a, x, 1);
    }
    if (!*q || !*k || !*v || (*q)->rank != 3 || ((*k)->rank != 3 && (*k)->rank != 4) || (*k)->rank != (*v)->rank)
        return ac_build_cannot(&n->b, "its query is %s; key and value do not fit", ac_shape_str(n->r->cx, n->in[0]));
    return AC_OK;
}

static ac_tensor *after_past(fused *a, int32_t past, ac_tensor *x)
{
    ac_tensor *both[] = {ac_onx_in(a->n, past), x};
    if (!both[0] || !x)
        return x;
    if (both[0]->rank != 4 || both[0]->dim[0] != x->dim[0] || both[0]->dim[1] != x->dim[1] ||
        both[0]->dim[3] != x->dim[3])
        return (void)bad_shape(a, "past", both[0]), NULL;
    a->past = both[0]->dim[2];
    return ac_onx_concat(a->n, both, 2, 2);
}

/* query, key, value, bias, mask, attention bias, past key, past value -> y, present key, present value */
int ac_onx_do_multi_head_attention(ac_onx_node *n)
{
    fused a = {.n = n};
    ac_tensor *q, *k, *v, *bias = ac_onx_in(n, 3);
    const int64_t h = ac_onx_int(n, "num_heads", 0);
    if (ac_onx_in(n, 8) || ac_onx_in(n, 9) || n->n_out > 3)
        return ac_build_cannot(&n->b, "it shares buffers with its past, or gives the products of queries and keys");
    AC_TRY(unpack(&a, &q, &k, &v));
    const int64_t width = q->dim[2], kept = k->rank == 4;
    a.q = heads(&a, biased(&a, q, bias, 0), h);
    a.k = kept ? k : heads(&a, biased(&a, k, bias, width), h);
    a.v = kept ? v : heads(&a, biased(&a, v, bias, 2 * width), h);
    a.k = after_past(&a, 6, a.k);
    a.v = after_past(&a, 7, a.v);
    AC_TRY(measure(&a));
    AC_TRY(read_mask(&a, ac_onx_in(n, 4)));
    AC_TRY(read_causal(&a));
    AC_TRY(read_bias(&a, ac_onx_in(n, 5)));
    AC_TRY(ac_onx_result(n, 0, attend(&a)));
    AC_TRY(ac_onx_result(n, 1, a.k));
    return ac_onx_result(n, 2, a.v);
}

/* ------------------------------------------------------------------ GroupQueryAttention */

enum { GQ_PAST_K = 3, GQ_PAST_V, GQ_LENGTHS, GQ_TOTAL, GQ_COS, GQ_SIN, GQ_PLACES, GQ_BIAS, GQ_SINK, GQ_Q_NORM = 14 };

/* x / sqrt(mean of x^2 + eps) * w over the numbers of a head. */
static ac_tensor *head_norm(const fused *a, ac_tensor *x, ac_tensor *w, const char *epsilon)
{
    ac_onx_node *n = a->n;
    const double eps = (double)ac_onx_float(n, epsilon, ac_onx_float(n, "qk_norm_epsilon", 1e-6f));
    if (!w || !x)
        return x;
    ac_tensor *ms = ac_onx_reduce(n, AC_OP_MEAN, ac_onx_1(n, AC_OP_SQUARE, x), 8, true);
    ac_tensor *root = ms ? ac_onx_1(n, AC_OP_SQRT, ADD(ms, ac_onx_number(n, AC_F32, eps))) : NULL;
    return root ? MUL(ac_onx_2(n, AC_OP_DIV, x, root), w) : NULL;
}

/* q, k, v [B,S,..]: three operands, or one after the other in the last dimension of the first. */
static int gq_operands(fused *a, ac_tensor *x[3], int64_t hq, int64_t hkv)
{
    ac_onx_node *n = a->n;
    for (int32_t i = 0; i < 3; i++)
        x[i] = ac_onx_in(n, i);
    if (x[0]->rank != 3 || hq < 1 || hkv < 1 || hq > MOST_HEADS || hkv > hq || hq % hkv || !x[1] != !x[2])
        return ac_build_bad(&n->b, "query '%s' is %s, with %" PRId64 " heads and %" PRId64 " of keys", x[0]->name,
                            ac_shape_str(n->r->cx, x[0]), hq, hkv);
    if (!x[1]) {
        ac_tensor *all = x[0];
        if (all->dim[2] % (hq + 2 * hkv))
            return bad_shape(a, "query", all);
        const int64_t d = all->dim[2] / (hq + 2 * hkv);
        x[0] = ac_onx_slice(n, all, 2, 0, hq * d);
        x[1] = ac_onx_slice(n, all, 2, hq * d, hkv * d);
        x[2] = ac_onx_slice(n, all, 2, (hq + hkv) * d, hkv * d);
    }
    for (int32_t i = 0; i < 3; i++)
        x[i] = apart(a, x[i], i ? hkv : hq);
    return x[0] && x[1] && x[2] ? AC_OK : AC_FAIL;
}

/* How many keys each batch had before, i64 [B,1,1,1]: the lengths are those with this run's, less one. */
static ac_tensor *before(fused *a, int64_t total)
{
    ac_onx_node *n = a->n;
    ac_tensor *len = n->in[GQ_LENGTHS];
    const int64_t dim[4] = {a->b, 1, 1, 1};
    if (ac_tensor_count(len) != a->b)
        return (void)bad_shape(a, "seqlens_k", len), NULL;
    if (total == a->s) /* the first run; short sequences are filled up behind */
        return ac_onx_broadcast(n, ac_onx_number(n, AC_I64, 0), 4, dim);
    len = ac_onx_cast(n, ac_onx_reshape(n, len, 4, dim), AC_I64);
    return SUB(len, ac_onx_number(n, AC_I64, (double)(a->s - 1)));
}

/* Keys or values [B,G,T,D] of the past, from its end on x [B,G,S,D], then zeros. */
static ac_tensor *written(const fused *a, ac_tensor *past, ac_tensor *x, ac_tensor *from, int64_t total)
{
    ac_onx_node *n = a->n;
    int64_t none[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0};
    ac_attrs g;
    if (!x || (past && (past->rank != 4 || past->dim[0] != x->dim[0] || past->dim[1] != x->dim[1] ||
                        past->dim[3] != x->dim[3])))
        return x ? ((void)bad_shape(a, "past", past), NULL) : NULL;
    if (!past || (total == a->s && past->dim[2] <= a->s))
        return x;
    after[2] = total > past->dim[2] ? total - past->dim[2] : 0;
    past = ac_onx_pad(n, past, none, after, NULL);
    if (!past || !from)
        return NULL;
    const int64_t t = past->dim[2], row[2] = {a->b, t}, place[4] = {a->b, 1, t, 1};
    ac_tensor *j = ac_onx_reshape(n, count_up(a, t, 3), 2, (int64_t[]){1, t});
    ac_tensor *start = ac_onx_reshape(n, from, 2, (int64_t[]){a->b, 1}), *at = SUB(j, start);
    ac_tensor *inside = ac_onx_2(n, AC_OP_MINIMUM, ac_onx_2(n, AC_OP_MAXIMUM, at, ac_onx_number(n, AC_I64, 0)),
                                 ac_onx_number(n, AC_I64, (double)(a->s - 1)));
    ac_attrs_init(AC_OP_GATHER, &g);
    g.gather.axis = 1;
    g.gather.batch_dims = 1;
    ac_tensor *in[] = {ac_onx_transpose(n, x, SWAP), ac_onx_broadcast(n, inside, 2, row)};
    ac_tensor *new = in[0] && in[1] ? ac_onx_make(n, AC_OP_GATHER, in, 2, &g, AC_NONE) : NULL;
    ac_tensor *old = ac_onx_2(n, AC_OP_LESS, ac_onx_broadcast(n, j, 2, row), start);
    ac_tensor *beyond = ac_onx_2(n, AC_OP_GREATER_EQUAL, at, ac_onx_number(n, AC_I64, (double)a->s));
    new = ac_onx_select(n, ac_onx_reshape(n, beyond, 4, place), ac_onx_number(n, AC_F32, 0),
                        ac_onx_transpose(n, new, SWAP));
    return ac_onx_select(n, ac_onx_reshape(n, old, 4, place), past, new);
}

/* A query at position p sees the keys up to p, with a window only the last ones. */
static int gq_sees(fused *a, ac_tensor *from)
{
    ac_onx_node *n = a->n;
    const bool causal = ac_onx_int(n, "causal", 1) != 0;
    const int64_t given = ac_onx_int(n, "local_window_size", -1), window = given < a->t ? given : -1;
    ac_tensor *j = count_up(a, a->t, 3), *at = ADD(from, count_up(a, a->s, 2)), *sees;
    if (causal)
        sees = ac_onx_2(n, AC_OP_LESS_EQUAL, j, at);
    else
        sees = ac_onx_2(n, AC_OP_LESS, j, ADD(from, ac_onx_number(n, AC_I64, (double)a->s)));
    if (causal && window >= 0 && at) {
        ac_tensor *first = SUB(at, ac_onx_number(n, AC_I64, (double)window));
        sees = ac_onx_2(n, AC_OP_LOGICAL_AND, sees, ac_onx_2(n, AC_OP_GREATER, j, first));
    }
    return sees ? keep_only(a, sees, -(double)FLT_MAX) : AC_FAIL;
}

static int gq_rotate(fused *a, ac_tensor *x[3], ac_tensor *from)
{
    ac_onx_node *n = a->n;
    const bool neighbours = ac_onx_int(n, "rotary_interleaved", 0) != 0;
    ac_tensor *at = ac_onx_in(n, GQ_PLACES);
    if (!ac_onx_int(n, "do_rotary", 0))
        return AC_OK;
    if (!ac_onx_in(n, GQ_COS) || !ac_onx_in(n, GQ_SIN))
        return ac_error(n->r->cx, n->at, E0102, "do_rotary needs cos_cache and sin_cache");
    if (!at) {
        at = ADD(ac_onx_reshape(n, from, 2, (int64_t[]){a->b, 1}),
                 ac_onx_reshape(n, count_up(a, a->s, 2), 2, (int64_t[]){1, a->s}));
        at = ac_onx_broadcast(n, at, 2, (int64_t[]){a->b, a->s});
    }
    for (int32_t i = 0; i < 2; i++)
        x[i] = ac_onx_turned(n, x[i], n->in[GQ_COS], n->in[GQ_SIN], at, neighbours);
    return x[0] && x[1] ? AC_OK : AC_FAIL;
}

/* Forms that no file of today's exporters has on CPUs. */
static int gq_refuse(const fused *a)
{
    ac_onx_node *n = a->n;
    if (ac_onx_int(n, "kv_cache_bit_width", 0) || strcmp(ac_onx_str(n, "k_quant_type", "NONE"), "NONE") != 0 ||
        strcmp(ac_onx_str(n, "v_quant_type", "NONE"), "NONE") != 0 || ac_onx_in(n, 12) || ac_onx_in(n, 13))
        return ac_build_cannot(&n->b, "its cache of keys and values is quantised");
    if (ac_onx_int(n, "sliding_window_cache", 0) || ac_onx_in(n, 16))
        return ac_build_cannot(&n->b, "it has sliding_window_cache or query_seqlens");
    if (ac_onx_int(n, "qk_output", 0) || n->n_out > 3)
        return ac_build_cannot(&n->b, "it gives the products of queries and keys");
    return AC_OK;
}

/* query, key, value, past key, past value, lengths - 1, total length, cosines, sines, positions, bias, sink, .. */
int ac_onx_do_group_query_attention(ac_onx_node *n)
{
    fused a = {.n = n};
    ac_tensor *x[3];
    double total;
    const int64_t hq = ac_onx_int(n, "num_heads", 0), hkv = ac_onx_int(n, "kv_num_heads", 0);
    AC_TRY(ac_onx_need(n, GQ_LENGTHS));
    AC_TRY(ac_onx_need(n, GQ_TOTAL));
    AC_TRY(gq_refuse(&a));
    AC_TRY(gq_operands(&a, x, hq, hkv));
    AC_TRY(ac_operand_scalar(&n->b, &n->in[GQ_TOTAL], &total));
    a.b = x[0]->dim[0];
    a.s = x[0]->dim[1];
    if (!(total >= (double)a.s && total <= INT32_MAX))
        return ac_error(n->r->cx, n->at, E0103, "total_sequence_length is %g, with %" PRId64 " queries", total, a.s);
    ac_tensor *from = before(&a, (int64_t)total);
    x[0] = head_norm(&a, x[0], ac_onx_in(n, GQ_Q_NORM), "q_norm_epsilon");
    x[1] = head_norm(&a, x[1], ac_onx_in(n, GQ_Q_NORM + 1), "k_norm_epsilon");
    if (!from || gq_rotate(&a, x, from) != AC_OK)
        return AC_FAIL;
    for (int32_t i = 0; i < 3; i++)
        x[i] = ac_onx_transpose(n, x[i], SWAP);
    a.q = x[0];
    a.k = written(&a, ac_onx_in(n, GQ_PAST_K), x[1], from, (int64_t)total);
    a.v = written(&a, ac_onx_in(n, GQ_PAST_V), x[2], from, (int64_t)total);
    AC_TRY(measure(&a));
    a.cap = (double)ac_onx_float(n, "softcap", 0);
    a.sink = ac_onx_in(n, GQ_SINK);
    if (!a.sink && ac_onx_int(n, "smooth_softmax", 0) == 1)
        a.sink = ac_onx_broadcast(n, ac_onx_number(n, AC_F32, 0), 1, &a.hq);
    if (a.sink && ac_tensor_count(a.sink) != a.hq)
        return bad_shape(&a, "head_sink", a.sink);
    ac_tensor *k = a.k, *v = a.v;
    a.t = (int64_t)total < a.t ? (int64_t)total : a.t; /* behind it nothing has been written */
    a.k = ac_onx_slice(n, k, 2, 0, a.t);
    a.v = ac_onx_slice(n, v, 2, 0, a.t);
    AC_TRY(gq_sees(&a, from));
    AC_TRY(read_bias(&a, ac_onx_in(n, GQ_BIAS)));
    AC_TRY(ac_onx_result(n, 0, attend(&a)));
    AC_TRY(ac_onx_result(n, 1, k));
    return ac_onx_result(n, 2, v);
}

/* ------------------------------------------------------------------ RotaryEmbedding */

/* input, positions, cosines, sines: positions are [B,S], or one number, where the first is. */
int ac_onx_do_rotary_ms(ac_onx_node *n)
{
    fused a = {.n = n};
    ac_tensor *x = n->in[0], *at = n->in[1], *cosine = n->in[2], *sine = n->in[3];
    int64_t h = ac_onx_int(n, "num_heads", 0);
    const int64_t dim = ac_onx_int(n, "rotary_embedding_dim", 0);
    const bool neighbours = ac_onx_int(n, "interleaved", 0) != 0;
    if (ac_onx_float(n, "scale", 1) != 1.0f || ac_onx_int(n, "is_packed_batching", 0))
        return ac_build_cannot(&n->b, "it has a scale or is_packed_batching");
    if (cosine->rank != 2 || sine->rank != 2 || (x->rank != 3 && x->rank != 4))
        return bad_shape(&a, "input", x);
    if (x->rank == 3 && h < 1) /* all of a head is turned */
        h = cosine->dim[1] > 0 ? x->dim[2] / (2 * cosine->dim[1]) : 0;
    if (dim && dim != 2 * cosine->dim[1])
        return bad_shape(&a, "cos_cache", cosine);
    ac_tensor *t = x->rank == 4 ? ac_onx_transpose(n, x, SWAP) : apart(&a, x, h);
    if (!t)
        return AC_FAIL;
    a.b = t->dim[0];
    a.s = t->dim[1];
    if (ac_tensor_count(at) == 1) {
        at = ADD(ac_onx_cast(n, ac_onx_reshape(n, at, 2, (int64_t[]){1, 1}), AC_I64),
                 ac_onx_reshape(n, count_up(&a, a.s, 2), 2, (int64_t[]){1, a.s}));
    } else if (at->rank != 2 || at->dim[1] != a.s || (at->dim[0] != a.b && at->dim[0] != 1)) {
        return bad_shape(&a, "position_ids", at);
    }
    ac_tensor *y = at ? ac_onx_turned(n, t, cosine, sine, at, neighbours) : NULL;
    return ac_onx_result(n, 0, x->rank == 4 ? ac_onx_transpose(n, y, SWAP) : ac_onx_reshape(n, y, 3, x->dim));
}
