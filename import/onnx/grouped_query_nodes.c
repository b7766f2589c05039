/* grouped_query_nodes.c - com.microsoft: GroupQueryAttention, whose keys and values are written into a past of a fixed
 * length, and RotaryEmbedding. */
#include "import/onnx/fused_attention.h"

#include "ir/make/compose_math.h"
#include "import/onnx/proto/arithmetic.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { GQ_PAST_K = 3, GQ_PAST_V, GQ_LENGTHS, GQ_TOTAL, GQ_COS, GQ_SIN, GQ_PLACES, GQ_BIAS, GQ_SINK, GQ_Q_NORM = 14 };

/* x / sqrt(mean of x^2 + eps) * w over the numbers of a head. */
static ac_tensor *head_norm(const ac_fused_attention *a, ac_tensor *x, ac_tensor *w, int epsilon)
{
    ac_onx_node *n = a->n;
    const double eps = ac_attr_float_or(&n->attrs, epsilon, ac_attr_float(&n->attrs, A_qk_norm_epsilon));
    if (!w || !x)
        return x;
    ac_tensor *ms = ac_make_reduce(&n->b, AC_OP_MEAN, SQUARE(x), 8, true);
    ac_tensor *root = ms ? SQRT(ADD(ms, F32(eps))) : NULL;
    return root ? MUL(DIV(x, root), w) : NULL;
}

/* q, k, v [B,S,..]: three operands, or one after the other in the last dimension of the first. */
static int gq_operands(ac_fused_attention *a, ac_tensor *x[3], int64_t hq, int64_t hkv)
{
    ac_onx_node *n = a->n;
    for (int32_t i = 0; i < 3; i++)
        x[i] = ac_onx_in(n, i);
    if (x[0]->rank != 3 || hq < 1 || hkv < 1 || hq > AC_FA_MOST_HEADS || hkv > hq || hq % hkv || !x[1] != !x[2])
        return ac_bad(&n->b, "query '%s' is %s, with %" PRId64 " heads and %" PRId64 " of keys", x[0]->name,
                      ac_shape_str(n->r->cx, x[0]), hq, hkv);
    if (!x[1]) {
        ac_tensor *all = x[0];
        if (all->dim[2] % (hq + 2 * hkv))
            return ac_fa_bad_shape(a, "query", all);
        const int64_t d = all->dim[2] / (hq + 2 * hkv);
        x[0] = ac_make_slice(&n->b, all, 2, 0, hq * d);
        x[1] = ac_make_slice(&n->b, all, 2, hq * d, hkv * d);
        x[2] = ac_make_slice(&n->b, all, 2, (hq + hkv) * d, hkv * d);
    }
    for (int32_t i = 0; i < 3; i++)
        x[i] = ac_fa_apart(a, x[i], i ? hkv : hq);
    return x[0] && x[1] && x[2] ? AC_OK : AC_FAIL;
}

/* How many keys each batch had before, i64 [B,1,1,1]: the lengths are those with this run's, less one. */
static ac_tensor *before(ac_fused_attention *a, int64_t total)
{
    ac_onx_node *n = a->n;
    ac_tensor *len = n->in[GQ_LENGTHS];
    const int64_t dim[4] = {a->b, 1, 1, 1};
    if (ac_tensor_count(len) != a->b)
        return (void)ac_fa_bad_shape(a, "seqlens_k", len), NULL;
    if (total == a->s) /* the first run; short sequences are padded at the end */
        return ac_make_broadcast(&n->b, ac_make_number(&n->b, AC_I64, 0), 4, dim);
    len = ac_make_cast(&n->b, ac_make_reshape(&n->b, len, 4, dim), AC_I64);
    return SUB(len, I64((a->s - 1)));
}

/* Keys or values [B,G,T,D] of the past, from its end on x [B,G,S,D], then zeros. */
static ac_tensor *written(const ac_fused_attention *a, ac_tensor *past, ac_tensor *x, ac_tensor *from, int64_t total)
{
    ac_onx_node *n = a->n;
    int64_t none[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0};
    ac_attrs g;
    if (!x || (past && (past->rank != 4 || past->dim[0] != x->dim[0] || past->dim[1] != x->dim[1] ||
                        past->dim[3] != x->dim[3])))
        return x ? ((void)ac_fa_bad_shape(a, "past", past), NULL) : NULL;
    if (!past || (total == a->s && past->dim[2] <= a->s))
        return x;
    after[2] = total > past->dim[2] ? total - past->dim[2] : 0;
    past = ac_make_pad(&n->b, past, none, after, NULL);
    if (!past || !from)
        return NULL;
    const int64_t t = past->dim[2], row[2] = {a->b, t}, place[4] = {a->b, 1, t, 1};
    ac_tensor *j = ac_make_reshape(&n->b, ac_fa_count_up(a, t, 3), 2, (int64_t[]){1, t});
    ac_tensor *start = ac_make_reshape(&n->b, from, 2, (int64_t[]){a->b, 1}), *at = SUB(j, start);
    ac_tensor *last = I64((a->s - 1));
    ac_tensor *inside = MIN(MAX(at, ac_make_number(&n->b, AC_I64, 0)), last);
    ac_attrs_init(AC_OP_GATHER, &g);
    g.gather.axis = 1;
    g.gather.batch_dims = 1;
    ac_tensor *in[] = {ac_make_transpose(&n->b, x, AC_FA_SWAP), ac_make_broadcast(&n->b, inside, 2, row)};
    ac_tensor *new = in[0] && in[1] ? ac_make_op(&n->b, AC_OP_GATHER, in, 2, &g, AC_NONE) : NULL;
    ac_tensor *old = LESS(ac_make_broadcast(&n->b, j, 2, row), start);
    ac_tensor *beyond = OP2(GREATER_EQUAL, at, I64(a->s));
    new = ac_make_transpose(&n->b, new, AC_FA_SWAP);
    ac_tensor *nothing = F32(0);
    new = WHERE(ac_make_reshape(&n->b, beyond, 4, place), nothing, new);
    return WHERE(ac_make_reshape(&n->b, old, 4, place), past, new);
}

/* A query at position p sees the keys up to p, with a window only the last ones. */
static int gq_sees(ac_fused_attention *a, ac_tensor *from)
{
    ac_onx_node *n = a->n;
    const bool causal = ac_attr_bool(&n->attrs, A_causal);
    const int64_t given = ac_attr_int(&n->attrs, A_local_window_size), window = given < a->t ? given : -1;
    ac_tensor *j = ac_fa_count_up(a, a->t, 3), *at = ADD(from, ac_fa_count_up(a, a->s, 2)), *sees;
    if (causal)
        sees = OP2(LESS_EQUAL, j, at);
    else
        sees = LESS(j, ADD(from, I64(a->s)));
    if (causal && window >= 0 && at) {
        ac_tensor *first = SUB(at, I64(window));
        sees = OP2(LOGICAL_AND, sees, GREATER(j, first));
    }
    return sees ? ac_fa_keep_only(a, sees, -(double)FLT_MAX) : AC_FAIL;
}

static int gq_rotate(ac_fused_attention *a, ac_tensor *x[3], ac_tensor *from)
{
    ac_onx_node *n = a->n;
    const bool neighbours = ac_attr_bool(&n->attrs, A_rotary_interleaved);
    ac_tensor *at = ac_onx_in(n, GQ_PLACES);
    if (!ac_attr_int(&n->attrs, A_do_rotary))
        return AC_OK;
    if (!ac_onx_in(n, GQ_COS) || !ac_onx_in(n, GQ_SIN))
        return ac_error(n->r->cx, n->at, E0102, "do_rotary needs cos_cache and sin_cache");
    if (!at) {
        ac_tensor *step = ac_make_reshape(&n->b, ac_fa_count_up(a, a->s, 2), 2, (int64_t[]){1, a->s});
        at = ADD(ac_make_reshape(&n->b, from, 2, (int64_t[]){a->b, 1}), step);
        at = ac_make_broadcast(&n->b, at, 2, (int64_t[]){a->b, a->s});
    }
    for (int32_t i = 0; i < 2; i++)
        x[i] = ac_onx_turned(n, x[i], n->in[GQ_COS], n->in[GQ_SIN], at, neighbours);
    return x[0] && x[1] ? AC_OK : AC_FAIL;
}

/* Forms that no file of today's exporters has on CPUs. */
static int gq_refuse(const ac_fused_attention *a)
{
    ac_onx_node *n = a->n;
    if (ac_attr_int(&n->attrs, A_kv_cache_bit_width) || strcmp(ac_attr_text(&n->attrs, A_k_quant_type), "NONE") != 0 ||
        strcmp(ac_attr_text(&n->attrs, A_v_quant_type), "NONE") != 0 || ac_onx_in(n, 12) || ac_onx_in(n, 13))
        return ac_cannot(&n->b, "its cache of keys and values is quantised");
    if (ac_attr_int(&n->attrs, A_sliding_window_cache) || ac_onx_in(n, 16))
        return ac_cannot(&n->b, "it has sliding_window_cache or query_seqlens");
    if (ac_attr_int(&n->attrs, A_qk_output) || n->n_out > 3)
        return ac_cannot(&n->b, "it gives the products of queries and keys");
    return AC_OK;
}

/* query, key, value, past key, past value, lengths - 1, total length, cosines, sines, positions, bias, sink, .. */
int ac_onx_do_group_query_attention(ac_onx_node *n)
{
    ac_fused_attention a = {.n = n};
    ac_tensor *x[3];
    double total;
    const int64_t hq = ac_attr_int(&n->attrs, A_num_heads), hkv = ac_attr_int(&n->attrs, A_kv_num_heads);
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
    x[0] = head_norm(&a, x[0], ac_onx_in(n, GQ_Q_NORM), A_q_norm_epsilon);
    x[1] = head_norm(&a, x[1], ac_onx_in(n, GQ_Q_NORM + 1), A_k_norm_epsilon);
    if (!from || gq_rotate(&a, x, from) != AC_OK)
        return AC_FAIL;
    for (int32_t i = 0; i < 3; i++)
        x[i] = ac_make_transpose(&n->b, x[i], AC_FA_SWAP);
    a.q = x[0];
    a.k = written(&a, ac_onx_in(n, GQ_PAST_K), x[1], from, (int64_t)total);
    a.v = written(&a, ac_onx_in(n, GQ_PAST_V), x[2], from, (int64_t)total);
    AC_TRY(ac_fa_measure(&a));
    a.cap = ac_attr_float(&n->attrs, A_softcap);
    a.sink = ac_onx_in(n, GQ_SINK);
    if (!a.sink && ac_attr_int(&n->attrs, A_smooth_softmax) == 1)
        a.sink = ac_make_broadcast(&n->b, F32(0), 1, &a.hq);
    if (a.sink && ac_tensor_count(a.sink) != a.hq)
        return ac_fa_bad_shape(&a, "head_sink", a.sink);
    ac_tensor *k = a.k, *v = a.v;
    a.t = (int64_t)total < a.t ? (int64_t)total : a.t; /* elements after it are not written yet */
    a.k = ac_make_slice(&n->b, k, 2, 0, a.t);
    a.v = ac_make_slice(&n->b, v, 2, 0, a.t);
    AC_TRY(gq_sees(&a, from));
    AC_TRY(ac_fa_read_bias(&a, ac_onx_in(n, GQ_BIAS)));
    AC_TRY(ac_onx_result(n, 0, ac_fa_attend(&a)));
    AC_TRY(ac_onx_result(n, 1, k));
    return ac_onx_result(n, 2, v);
}

/* ------------------------------------------------------------------ RotaryEmbedding */

/* input, positions, cosines, sines: positions are [B,S], or one number, the first position. */
int ac_onx_do_rotary_ms(ac_onx_node *n)
{
    ac_fused_attention a = {.n = n};
    ac_tensor *x = n->in[0], *at = n->in[1], *cosine = n->in[2], *sine = n->in[3];
    int64_t h = ac_attr_int(&n->attrs, A_num_heads);
    const int64_t dim = ac_attr_int(&n->attrs, A_rotary_embedding_dim);
    const bool neighbours = ac_attr_bool(&n->attrs, A_interleaved);
    if ((float)ac_attr_float(&n->attrs, A_rotary_scale) != 1.0f || ac_attr_int(&n->attrs, A_is_packed_batching))
        return ac_cannot(&n->b, "it has a scale or is_packed_batching");
    if (cosine->rank != 2 || sine->rank != 2 || (x->rank != 3 && x->rank != 4))
        return ac_fa_bad_shape(&a, "input", x);
    if (x->rank == 3 && h < 1) /* all of a head is turned */
        h = cosine->dim[1] > 0 ? x->dim[2] / (2 * cosine->dim[1]) : 0;
    if (dim && dim != 2 * cosine->dim[1])
        return ac_fa_bad_shape(&a, "cos_cache", cosine);
    ac_tensor *t = x->rank == 4 ? ac_make_transpose(&n->b, x, AC_FA_SWAP) : ac_fa_apart(&a, x, h);
    if (!t)
        return AC_FAIL;
    a.b = t->dim[0];
    a.s = t->dim[1];
    if (ac_tensor_count(at) == 1) {
        ac_tensor *step = ac_make_reshape(&n->b, ac_fa_count_up(&a, a.s, 2), 2, (int64_t[]){1, a.s});
        at = ADD(ac_make_cast(&n->b, ac_make_reshape(&n->b, at, 2, (int64_t[]){1, 1}), AC_I64), step);
    } else if (at->rank != 2 || at->dim[1] != a.s || (at->dim[0] != a.b && at->dim[0] != 1)) {
        return ac_fa_bad_shape(&a, "position_ids", at);
    }
    ac_tensor *y = at ? ac_onx_turned(n, t, cosine, sine, at, neighbours) : NULL;
    return ac_onx_result(n, 0,
                         x->rank == 4 ? ac_make_transpose(&n->b, y, AC_FA_SWAP) : ac_make_reshape(&n->b, y, 3, x->dim));
}
