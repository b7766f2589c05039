/* fused_attention_nodes.c - com.microsoft: Attention, QAttention and MultiHeadAttention as ONNX
 * Runtime's optimisers write them, in matrix products and element-wise nodes.
 *
 *     query [B,S,..], key and value [B,L,..]; weights of Attention make all three of one input
 *     heads: Q [B,N,S,D], K [B,G,T,D], V [B,G,T,E] with the past before them; N is a multiple of G
 *     y = softmax(Q K' scale + bias) V -> [B,S,N*E]
 *
 * What a query may not see gets a number added: the filter value of masks, the least float of what comes later. */
#include "import/onnx/fused_attention.h"

#include "ir/make/compose_math.h"
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

int ac_fa_bad_shape(const ac_fused_attention *a, const char *what, const ac_tensor *t)
{
    return ac_bad(&a->n->b, "%s '%s' is %s", what, t->name, ac_shape_str(a->n->r->cx, t));
}

ac_tensor *ac_fa_apart(const ac_fused_attention *a, ac_tensor *x, int64_t h)
{
    if (!x)
        return NULL;
    if (x->rank != 3 || h < 1 || x->dim[2] % h)
        return (void)ac_bad(&a->n->b, "'%s' is %s, which is not %" PRId64 " heads", x->name,
                            ac_shape_str(a->n->r->cx, x), h),
               NULL;
    return ac_make_reshape(&a->n->b, x, 4, (int64_t[]){x->dim[0], x->dim[1], h, x->dim[2] / h});
}

ac_tensor *ac_fa_heads(const ac_fused_attention *a, ac_tensor *x, int64_t h)
{
    return ac_make_transpose(&a->n->b, ac_fa_apart(a, x, h), AC_FA_SWAP);
}

/* ------------------------------------------------------------------ the attention itself */

/* x [B,H,..] as [B,G,H/G,..] where heads are shared. */
static ac_tensor *grouped(const ac_fused_attention *a, ac_tensor *x)
{
    if (!x || a->hq == a->hkv)
        return x;
    return ac_make_reshape(&a->n->b, x, 5, (int64_t[]){a->b, a->hkv, x->dim[1] / a->hkv, x->dim[2], x->dim[3]});
}

static ac_tensor *product(const ac_fused_attention *a, ac_tensor *x, ac_tensor *y, bool adj, int64_t columns)
{
    y = grouped(a, y);
    ac_tensor *z = ac_make_matmul(&a->n->b, grouped(a, x), y, false, adj);
    return ac_make_reshape(&a->n->b, z, 4, (int64_t[]){a->b, a->hq, a->s, columns});
}

/* Weights of the keys; a sink takes part in the sum, and is cut off. */
static ac_tensor *weights(const ac_fused_attention *a, ac_tensor *x)
{
    ac_onx_node *n = a->n;
    if (!a->sink)
        return ac_onx_softmax(n, x, AC_F32);
    ac_tensor *more = ac_make_reshape(&n->b, a->sink, 4, (int64_t[]){1, a->hq, 1, 1});
    ac_tensor *both[] = {x, ac_make_broadcast(&n->b, more, 4, (int64_t[]){a->b, a->hq, a->s, 1})};
    return ac_make_slice(&n->b, ac_onx_softmax(n, x ? ac_make_concat(&n->b, both, 2, 3) : NULL, AC_F32), 3, 0, a->t);
}

static int check_heads(const ac_fused_attention *a)
{
    const ac_tensor *q = a->q, *k = a->k, *v = a->v;
    if (!q || !k || !v)
        return AC_FAIL;
    if (k->dim[0] != q->dim[0] || v->dim[0] != q->dim[0] || v->dim[1] != k->dim[1] || v->dim[2] != k->dim[2] ||
        k->dim[3] != q->dim[3] || k->dim[1] < 1 || q->dim[1] % k->dim[1])
        return ac_bad(&a->n->b, "query %s, key %s and value %s do not fit", ac_shape_str(a->n->r->cx, q),
                      ac_shape_str(a->n->r->cx, k), ac_shape_str(a->n->r->cx, v));
    return AC_OK;
}

int ac_fa_measure(ac_fused_attention *a)
{
    AC_TRY(check_heads(a));
    a->b = a->q->dim[0];
    a->hq = a->q->dim[1];
    a->s = a->q->dim[2];
    a->hkv = a->k->dim[1];
    a->t = a->k->dim[2];
    const double scale = ac_attr_float(&a->n->attrs, A_scale);
    a->scale = scale != 0 ? scale : 1 / sqrt((double)a->q->dim[3]);
    return AC_OK;
}

ac_tensor *ac_fa_attend(const ac_fused_attention *a)
{
    ac_onx_node *n = a->n;
    ac_tensor *x = product(a, a->q, a->k, true, a->t);
    x = ac_make_mul_number(&n->b, x, a->scale);
    if (a->cap > 0 && x)
        x = ac_make_mul_number(&n->b, OP1(TANH, ac_make_mul_number(&n->b, x, 1 / a->cap)), a->cap);
    x = a->bias ? ADD(x, a->bias) : x;
    ac_tensor *y = product(a, weights(a, x), a->v, false, a->v->dim[3]);
    return ac_make_reshape(&n->b, ac_make_transpose(&n->b, y, AC_FA_SWAP), 3,
                           (int64_t[]){a->b, a->s, a->hq * a->v->dim[3]});
}

/* ------------------------------------------------------------------ masks */

ac_tensor *ac_fa_count_up(const ac_fused_attention *a, int64_t count, int32_t axis)
{
    int64_t dim[4] = {1, 1, 1, 1}, *v = AC_NEW_N(a->n->r->cx->region, int64_t, count + 1);
    for (int64_t i = 0; i < count; i++)
        v[i] = i;
    dim[axis] = count;
    return ac_make_reshape(&a->n->b, ac_make_ints(&a->n->b, count, v), 4, dim);
}

int ac_fa_keep_only(ac_fused_attention *a, ac_tensor *sees, double value)
{
    ac_onx_node *n = a->n;
    ac_tensor *was = a->bias ? a->bias : F32(0);
    a->bias = WHERE(sees, was, F32(value));
    return a->bias ? AC_OK : AC_FAIL;
}

/* Masks: lengths [B], ends and starts [2B], [B,T], [B,S,T] or [B,1,M,M] of ones and zeros. */
static int read_mask(ac_fused_attention *a, ac_tensor *m)
{
    ac_onx_node *n = a->n;
    const double value = ac_attr_float(&n->attrs, A_mask_filter_value);
    if (!m)
        return AC_OK;
    ac_tensor *zero = NUM(m, 0), *sees = NULL;
    if (m->rank == 1 && (m->dim[0] == a->b || m->dim[0] == 2 * a->b)) {
        const int64_t dim[4] = {a->b, 1, 1, 1};
        ac_tensor *j = ac_fa_count_up(a, a->t, 3),
                  *end = ac_make_cast(&n->b, ac_make_slice(&n->b, m, 0, 0, a->b), AC_I64);
        sees = LESS(j, ac_make_reshape(&n->b, end, 4, dim));
        if (m->dim[0] > a->b) {
            ac_tensor *start = ac_make_cast(&n->b, ac_make_slice(&n->b, m, 0, a->b, a->b), AC_I64);
            ac_tensor *after = OP2(GREATER_EQUAL, j, ac_make_reshape(&n->b, start, 4, dim));
            sees = OP2(LOGICAL_AND, sees, after);
        }
    } else if (m->rank == 2 && (m->dim[0] == a->b || m->dim[0] == 1) && m->dim[1] == a->t) {
        sees = GREATER(ac_make_reshape(&n->b, m, 4, (int64_t[]){m->dim[0], 1, 1, a->t}), zero);
    } else if (m->rank == 3 && m->dim[0] == a->b && m->dim[1] == a->s && m->dim[2] == a->t) {
        sees = GREATER(ac_make_reshape(&n->b, m, 4, (int64_t[]){a->b, 1, a->s, a->t}), zero);
    } else if (m->rank == 4 && m->dim[1] == 1 && m->dim[2] >= a->past + a->s && m->dim[3] >= a->t) {
        sees = ac_make_slice(&n->b, ac_make_slice(&n->b, m, 2, a->past, a->s), 3, 0, a->t);
        sees = GREATER(sees, zero);
    } else {
        return ac_cannot(&n->b, "its mask is %s for %" PRId64 " queries and %" PRId64 " keys",
                         ac_shape_str(n->r->cx, m), a->s, a->t);
    }
    return ac_fa_keep_only(a, sees, value);
}

/* unidirectional: keys after the query are hidden. */
static int read_causal(ac_fused_attention *a)
{
    ac_onx_node *n = a->n;
    if (!ac_attr_int(&n->attrs, A_unidirectional))
        return AC_OK;
    ac_tensor *past = I64(a->past), *i = ADD(ac_fa_count_up(a, a->s, 2), past);
    return ac_fa_keep_only(a, OP2(LESS_EQUAL, ac_fa_count_up(a, a->t, 3), i), -(double)FLT_MAX);
}

int ac_fa_read_bias(ac_fused_attention *a, ac_tensor *x)
{
    ac_onx_node *n = a->n;
    if (!x)
        return AC_OK;
    if (x->rank != 4 || (x->dim[0] != 1 && x->dim[0] != a->b) || (x->dim[1] != 1 && x->dim[1] != a->hq) ||
        (x->dim[2] != 1 && x->dim[2] != a->s) || x->dim[3] < a->t)
        return ac_fa_bad_shape(a, "attention_bias", x);
    x = ac_make_slice(&n->b, x, 3, 0, a->t);
    a->bias = a->bias ? ADD(a->bias, x) : x;
    return a->bias ? AC_OK : AC_FAIL;
}

/* ------------------------------------------------------------------ Attention, QAttention */

/* past [2,B,N,P,D] before keys and values; *present is the same with them. */
static int join_past(ac_fused_attention *a, ac_tensor *past, bool wanted, ac_tensor **present)
{
    ac_onx_node *n = a->n;
    ac_tensor **part[] = {&a->k, &a->v}, *one[2];
    AC_TRY(check_heads(a));
    for (int32_t i = 0; i < 2; i++) {
        ac_tensor *x = *part[i];
        if (past && (past->rank != 5 || past->dim[0] != 2 || past->dim[1] != x->dim[0] || past->dim[2] != x->dim[1] ||
                     past->dim[4] != x->dim[3]))
            return ac_fa_bad_shape(a, "past", past);
        a->past = past ? past->dim[3] : 0;
        ac_tensor *was = past ? ac_make_reshape(&n->b, ac_make_slice(&n->b, past, 0, i, 1), 4, past->dim + 1) : NULL;
        ac_tensor *both[] = {was, x};
        *part[i] = past ? ac_make_concat(&n->b, both, 2, 2) : x;
        if (!*part[i])
            return AC_FAIL;
        x = *part[i];
        one[i] =
            wanted ? ac_make_reshape(&n->b, x, 5, (int64_t[]){1, x->dim[0], x->dim[1], x->dim[2], x->dim[3]}) : NULL;
    }
    *present = wanted ? ac_make_concat(&n->b, one, 2, 0) : NULL;
    return AC_OK;
}

/* all [B,S,Q+K+V] of one product: heads of each. */
static int split_product(ac_fused_attention *a, ac_tensor *all, int64_t h)
{
    ac_ints sizes;
    ac_tensor **part[] = {&a->q, &a->k, &a->v};
    sizes = ac_attr_ints(&a->n->attrs, A_qkv_hidden_sizes);
    if (!all)
        return AC_FAIL;
    const int64_t third[3] = {all->dim[2] / 3, all->dim[2] / 3, all->dim[2] / 3};
    const int64_t *size = sizes.n == 3 ? sizes.v : third;
    if ((sizes.n && sizes.n != 3) || size[0] < 1 || size[1] < 1 || size[2] < 1 || size[0] > INT32_MAX ||
        size[1] > INT32_MAX || size[2] > INT32_MAX || size[0] + size[1] + size[2] != all->dim[2])
        return ac_error(a->n->r->cx, a->n->at, E0103, "weights of %" PRId64 " columns are not those of Q, K and V",
                        all->dim[2]);
    for (int32_t i = 0, at = 0; i < 3; at += (int32_t)size[i++])
        *part[i] = ac_fa_heads(a, ac_make_slice(&a->n->b, all, 2, at, size[i]), h);
    return AC_OK;
}

static int finish(ac_fused_attention *a, ac_tensor *all, ac_tensor *mask, ac_tensor *past, ac_tensor *bias)
{
    ac_onx_node *n = a->n;
    ac_tensor *present = NULL;
    (void)ac_attr_int(&n->attrs, A_rotary_embedding_dim);
    if (ac_attr_int(&n->attrs, A_do_rotary) || ac_attr_int(&n->attrs, A_past_present_share_buffer))
        return ac_cannot(&n->b, "it has do_rotary or past_present_share_buffer");
    AC_TRY(split_product(a, all, ac_attr_int(&n->attrs, A_num_heads)));
    AC_TRY(join_past(a, past, n->n_out > 1, &present));
    AC_TRY(ac_fa_measure(a));
    AC_TRY(read_mask(a, mask));
    AC_TRY(read_causal(a));
    AC_TRY(ac_fa_read_bias(a, bias));
    AC_TRY(ac_onx_result(n, 0, ac_fa_attend(a)));
    return n->n_out > 1 ? ac_onx_result(n, 1, present) : AC_OK;
}

/* input, weights, bias, mask, past, attention bias */
int ac_onx_do_attention_ms(ac_onx_node *n)
{
    ac_fused_attention a = {.n = n};
    ac_tensor *x = n->in[0], *w = n->in[1], *in[] = {x, w};
    if (x->rank != 3 || w->rank != 2)
        return ac_cannot(&n->b, "its input is %s, its weights are %s", ac_shape_str(n->r->cx, x),
                         ac_shape_str(n->r->cx, w));
    ac_tensor *all = ac_onx_inner(n, "MatMul", 13, in, 2), *bias = ac_onx_in(n, 2);
    return finish(&a, bias ? ADD(all, bias) : all, ac_onx_in(n, 3), ac_onx_in(n, 4), ac_onx_in(n, 5));
}

/* input, weights, bias, scales of both, mask, zero points of both, past */
int ac_onx_do_qattention(ac_onx_node *n)
{
    ac_fused_attention a = {.n = n};
    ac_tensor *x = n->in[0], *w = n->in[1], *in[] = {x, w, ac_onx_in(n, 6), ac_onx_in(n, 7)};
    if (x->rank != 3 || w->rank != 2)
        return ac_cannot(&n->b, "its input is %s, its weights are %s", ac_shape_str(n->r->cx, x),
                         ac_shape_str(n->r->cx, w));
    ac_tensor *all = ac_make_cast(&n->b, ac_onx_inner(n, "MatMulInteger", 10, in, 4), AC_F32);
    all = MUL(all, MUL(n->in[3], n->in[4]));
    return finish(&a, ADD(all, n->in[2]), ac_onx_in(n, 5), ac_onx_in(n, 8), NULL);
}

/* ------------------------------------------------------------------ MultiHeadAttention */

/* Part i of x [B,S,N,parts,D] as [B,S,N*D]. */
static ac_tensor *packed(const ac_fused_attention *a, ac_tensor *x, int64_t i)
{
    ac_tensor *y = ac_make_slice(&a->n->b, x, 3, i, 1);
    return ac_make_reshape(&a->n->b, y, 3, (int64_t[]){x->dim[0], x->dim[1], x->dim[2] * x->dim[4]});
}

/* The part of the bias [Q+K+V] that begins at `from`, added to x [B,S,W]. */
static ac_tensor *biased(const ac_fused_attention *a, ac_tensor *x, ac_tensor *bias, int64_t from)
{
    ac_onx_node *n = a->n;
    if (!bias || !x)
        return x;
    if (bias->rank != 1 || from + x->dim[2] > bias->dim[0])
        return (void)ac_fa_bad_shape(a, "bias", bias), NULL;
    return ADD(x, ac_make_slice(&n->b, bias, 0, from, x->dim[2]));
}

/* q, k and v [B,S,W]; k and v stay as they are where they come with heads [B,N,L,D]. */
static int unpack(const ac_fused_attention *a, ac_tensor **q, ac_tensor **k, ac_tensor **v)
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
        return ac_cannot(&n->b, "its query is %s; key and value do not fit", ac_shape_str(n->r->cx, n->in[0]));
    return AC_OK;
}

static ac_tensor *after_past(ac_fused_attention *a, int32_t past, ac_tensor *x)
{
    ac_tensor *both[] = {ac_onx_in(a->n, past), x};
    if (!both[0] || !x)
        return x;
    if (both[0]->rank != 4 || both[0]->dim[0] != x->dim[0] || both[0]->dim[1] != x->dim[1] ||
        both[0]->dim[3] != x->dim[3])
        return (void)ac_fa_bad_shape(a, "past", both[0]), NULL;
    a->past = both[0]->dim[2];
    return ac_make_concat(&a->n->b, both, 2, 2);
}

/* query, key, value, bias, mask, attention bias, past key, past value -> y, present key, present value */
int ac_onx_do_multi_head_attention(ac_onx_node *n)
{
    ac_fused_attention a = {.n = n};
    ac_tensor *q, *k, *v, *bias = ac_onx_in(n, 3);
    const int64_t h = ac_attr_int(&n->attrs, A_num_heads);
    if (ac_onx_in(n, 8) || ac_onx_in(n, 9) || n->n_out > 3)
        return ac_cannot(&n->b, "it shares buffers with its past, or gives the products of queries and keys");
    AC_TRY(unpack(&a, &q, &k, &v));
    const int64_t width = q->dim[2], kept = k->rank == 4;
    a.q = ac_fa_heads(&a, biased(&a, q, bias, 0), h);
    a.k = kept ? k : ac_fa_heads(&a, biased(&a, k, bias, width), h);
    a.v = kept ? v : ac_fa_heads(&a, biased(&a, v, bias, 2 * width), h);
    a.k = after_past(&a, 6, a.k);
    a.v = after_past(&a, 7, a.v);
    AC_TRY(ac_fa_measure(&a));
    AC_TRY(read_mask(&a, ac_onx_in(n, 4)));
    AC_TRY(read_causal(&a));
    AC_TRY(ac_fa_read_bias(&a, ac_onx_in(n, 5)));
    AC_TRY(ac_onx_result(n, 0, ac_fa_attend(&a)));
    AC_TRY(ac_onx_result(n, 1, a.k));
    return ac_onx_result(n, 2, a.v);
}
