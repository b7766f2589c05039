/* attention_nodes.c - attention of ONNX: softmax(softcap(Q K' scale) + bias) V, in matrix products and element-wise
 * nodes.
 *
 *     Q [B,Hq,S,D], K [B,Hkv,T,D], V [B,Hkv,T,E], or [B,S,H*D] with the heads as attributes; past keys and values are
 *     before K and V. Hq is a multiple of Hkv: each key head serves Hq / Hkv query heads (a dimension of their own,
 * over which the products broadcast: nothing is repeated).
 *
 * The keys that a query sees follow from conditions on positions (causal, windows, padding: constants unless lengths
 * come at run time) and from a mask of bools; a mask of floats is added to the scores. A query that sees no key gives
 * zeros. 16-bit floats are rounded after each step, as in the operator's function body. */
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { Q, K, V, MASK, PAST_K, PAST_V, LENGTHS };

typedef struct attention {
    ac_onx_node *n;
    ac_tensor *q, *k, *v; /* with heads as dimension 1; k and v with the past */
    int64_t b, hq, hkv, s, t, past;
    ac_tensor *sees; /* bool, broadcasts to [B,Hq,S,T]; NULL: everything */
    ac_tensor *bias; /* f32, of sees and of the numbers of the mask; NULL: none */
} attention;

/* [B,S,H*D] -> [B,H,S,D] */
static ac_tensor *heads(ac_onx_node *n, ac_tensor *x, int64_t h)
{
    static const int32_t SWAP[AC_MAX_RANK] = {0, 2, 1, 3};
    if (!x || x->rank != 3)
        return x;
    if (h < 1 || x->dim[2] % h)
        return (void)ac_error(n->r->cx, n->at, E0103, "'%s' is %s, which is not %" PRId64 " heads", x->name,
                              ac_shape_str(n->r->cx, x), h),
               NULL;
    return ac_make_transpose(&n->b, ac_make_reshape(&n->b, x, 4, (int64_t[]){x->dim[0], x->dim[1], h, x->dim[2] / h}),
                             SWAP);
}

static ac_tensor *with_past(attention *a, int32_t past, ac_tensor *x)
{
    ac_onx_node *n = a->n;
    ac_tensor *both[] = {ac_onx_in(n, past), x};
    if (!both[0] || !x)
        return x;
    a->past = both[0]->rank == 4 ? both[0]->dim[2] : 0;
    return ac_make_concat(&n->b, both, 2, 2);
}

static int read_operands(attention *a)
{
    ac_onx_node *n = a->n;
    const ac_tensor *q = n->in[Q], *k = n->in[K], *v = n->in[V];
    const int64_t hq = ac_attr_int(&n->attrs, A_q_num_heads), hkv = ac_attr_int(&n->attrs, A_kv_num_heads);
    if ((q->rank != 3 && q->rank != 4) || k->rank != q->rank || v->rank != q->rank)
        return ac_error(n->r->cx, n->at, E0104, "'%s', '%s' and '%s' have %d, %d and %d dimensions, expected 3 or 4",
                        q->name, k->name, v->name, q->rank, k->rank, v->rank);
    if (q->dtype != AC_F32 || k->dtype != AC_F32 || v->dtype != AC_F32)
        return ac_cannot(&n->b, "its operands are %s", ac_dtype_name(q->dtype));
    if (!ac_onx_in(n, PAST_K) != !ac_onx_in(n, PAST_V))
        return ac_error(n->r->cx, n->at, E0102, "past_key and past_value must be given together");
    if (ac_onx_in(n, PAST_K) && ac_onx_in(n, LENGTHS))
        return ac_error(n->r->cx, n->at, E0102, "nonpad_kv_seqlen cannot be combined with past_key");
    a->q = heads(n, n->in[Q], hq);
    a->k = with_past(a, PAST_K, heads(n, n->in[K], hkv));
    a->v = with_past(a, PAST_V, heads(n, n->in[V], hkv));
    if (!a->q || !a->k || !a->v)
        return AC_FAIL;
    a->b = a->q->dim[0];
    a->hq = a->q->dim[1];
    a->s = a->q->dim[2];
    a->hkv = a->k->dim[1];
    a->t = a->k->dim[2];
    if (a->k->dim[0] != a->b || a->v->dim[0] != a->b || a->v->dim[1] != a->hkv || a->v->dim[2] != a->t ||
        a->k->dim[3] != a->q->dim[3] || a->hkv < 1 || a->hq % a->hkv)
        return ac_error(n->r->cx, n->at, E0104, "query %s, key %s and value %s do not fit",
                        ac_shape_str(n->r->cx, a->q), ac_shape_str(n->r->cx, a->k), ac_shape_str(n->r->cx, a->v));
    return AC_OK;
}

/* x [B,H,..] as [B,Hkv,H/Hkv,..] where heads are shared. */
static ac_tensor *grouped(attention *a, ac_tensor *x)
{
    if (!x || a->hq == a->hkv)
        return x;
    const int64_t dim[5] = {a->b, a->hkv, x->dim[1] / a->hkv, x->dim[2], x->dim[3]};
    return ac_make_reshape(&a->n->b, x, 5, dim);
}

static ac_tensor *product(attention *a, ac_tensor *x, ac_tensor *y, bool adj_y, int64_t columns)
{
    const int64_t dim[4] = {a->b, a->hq, a->s, columns};
    y = grouped(a, y);
    ac_tensor *z = ac_make_matmul(&a->n->b, grouped(a, x), y, false, adj_y);
    return ac_onx_rounded(a->n, ac_make_reshape(&a->n->b, z, 4, dim));
}

/* 0, 1, .. as i64 [1,1,S,1] or [1,1,1,T]. */
static ac_tensor *positions(attention *a, int64_t count, int32_t axis)
{
    int64_t dim[4] = {1, 1, 1, 1}, *v = AC_NEW_N(a->n->r->cx->region, int64_t, count + 1);
    for (int64_t i = 0; i < count; i++)
        v[i] = i;
    dim[axis] = count;
    return ac_make_reshape(&a->n->b, ac_make_ints(&a->n->b, count, v), 4, dim);
}

static void also(attention *a, ac_tensor *sees)
{
    a->sees = a->sees && sees ? ac_make_2(&a->n->b, AC_OP_LOGICAL_AND, a->sees, sees) : sees;
}

/* Reads which keys a query sees by position alone: the query with index i is at i + offset. */
static int read_places(attention *a)
{
    ac_onx_node *n = a->n;
    const bool causal = ac_attr_bool(&n->attrs, A_is_causal);
    const int64_t left = ac_attr_int(&n->attrs, A_left_window_size),
                  right = ac_attr_int(&n->attrs, A_right_window_size);
    ac_tensor *lengths = ac_onx_in(n, LENGTHS), *j = positions(a, a->t, 3), *offset;
    if (left < -1 || right < -1)
        return ac_error(n->r->cx, n->at, E0103, "a window size is below -1");
    if (lengths && (lengths->rank != 1 || lengths->dim[0] != a->b))
        return ac_error(n->r->cx, n->at, E0104, "'%s' is %s, expected [%" PRId64 "]", lengths->name,
                        ac_shape_str(n->r->cx, lengths), a->b);
    if (lengths) {
        lengths = ac_make_reshape(&n->b, ac_make_cast(&n->b, lengths, AC_I64), 4, (int64_t[]){a->b, 1, 1, 1});
        also(a, LESS(j, lengths));
        offset = lengths ? SUB(lengths, I64(a->s)) : NULL;
    } else {
        offset = I64(a->past);
    }
    if (!causal && left < 0 && right < 0)
        return AC_OK;
    ac_tensor *at = ADD(positions(a, a->s, 2), offset);
    if (causal)
        also(a, OP2(LESS_EQUAL, j, at));
    if (at && right >= 0)
        also(a, OP2(LESS_EQUAL, j, ADD(at, I64(right))));
    if (at && left >= 0)
        also(a, OP2(GREATER_EQUAL, j, SUB(at, I64(left))));
    return at ? AC_OK : AC_FAIL;
}

/* A mask that is too short hides the rest. */
static ac_tensor *whole_mask(attention *a, ac_tensor *m)
{
    ac_onx_node *n = a->n;
    int64_t before[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0};
    const int64_t short_of = a->t - m->dim[m->rank - 1];
    if (m->dim[m->rank - 1] == 1 || short_of <= 0)
        return m;
    after[m->rank - 1] = short_of;
    return ac_make_pad(&n->b, m, before, after, m->dtype == AC_BOOL ? NULL : NUM(m, -(double)INFINITY));
}

static int read_bias(attention *a)
{
    ac_onx_node *n = a->n;
    ac_tensor *m = ac_onx_in(n, MASK);
    if (m && ac_dtype_is_int(m->dtype) && !(m = ac_onx_rounded(n, ac_make_cast(&n->b, m, AC_F32))))
        return AC_FAIL;
    if (m && (m->rank < 1 || m->rank > 4 || (m->dtype != AC_F32 && m->dtype != AC_BOOL)))
        return ac_cannot(&n->b, "its mask is %s", ac_tensor_str(n->r->cx, m));
    AC_TRY(read_places(a));
    m = m ? whole_mask(a, m) : NULL;
    if (m && m->dtype == AC_BOOL)
        also(a, m);
    else
        a->bias = m;
    if (!a->sees)
        return m || !ac_onx_in(n, MASK) ? AC_OK : AC_FAIL;
    ac_tensor *in[] = {a->sees, F32(0), F32(-(double)INFINITY)};
    ac_tensor *hidden = ac_make_op(&n->b, AC_OP_SELECT, in, 3, NULL, AC_NONE);
    a->bias = a->bias ? ADD(a->bias, hidden) : hidden;
    return a->bias ? AC_OK : AC_FAIL;
}

/* Rows of weights whose bias is -inf everywhere are 0. */
static ac_tensor *without_blind_rows(attention *a, ac_tensor *p)
{
    ac_onx_node *n = a->n;
    if (!a->bias || !p)
        return p;
    /* ours starts from the least finite value */
    ac_tensor *most = ac_make_reduce(&n->b, AC_OP_REDUCE_MAX, a->bias, 1u << (a->bias->rank - 1), true);
    ac_tensor *blind = OP2(LESS_EQUAL, most, F32(-(double)FLT_MAX));
    if (!blind)
        return NULL;
    if (ac_tensor_is_const(blind)) {
        const uint8_t *row = ac_tensor_force(n->r->cx, blind);
        bool any = false;
        for (int64_t i = 0; row && i < ac_tensor_count(blind); i++)
            any |= row[i];
        if (!any)
            return row ? p : NULL;
    }
    ac_tensor *in[] = {blind, F32(0), p};
    return ac_make_op(&n->b, AC_OP_SELECT, in, 3, NULL, AC_NONE);
}

static ac_tensor *softcap(ac_onx_node *n, ac_tensor *x, double cap)
{
    ac_tensor *by = F32(cap);
    ac_tensor *low = ac_onx_rounded(n, DIV(x, by));
    ac_tensor *bent = low ? ac_onx_rounded(n, OP1(TANH, low)) : NULL;
    return ac_onx_rounded(n, MUL(bent, by));
}

int ac_onx_do_attention(ac_onx_node *n)
{
    static const int32_t SWAP[AC_MAX_RANK] = {0, 2, 1, 3};
    attention a = {.n = n};
    ac_tensor *stage[4];
    AC_TRY(read_operands(&a));
    AC_TRY(read_bias(&a));
    const int64_t mode = ac_attr_int(&n->attrs, A_qk_matmul_output_mode),
                  number = ac_attr_int(&n->attrs, A_softmax_precision);
    const double cap = ac_attr_float(&n->attrs, A_softcap);
    const double scale = ac_attr_float_or(&n->attrs, A_scale, (double)(float)(1 / sqrt((double)a.q->dim[3])));
    const ac_dtype precision = number ? ac_onx_dtype(number) : n->half != AC_NONE ? n->half : AC_F32;
    if (precision != AC_F16 && precision != AC_BF16 && precision != AC_F32 && precision != AC_F64)
        return ac_error(n->r->cx, n->at, E0103, "softmax_precision is %" PRId64, number);
    ac_tensor *half = ac_onx_rounded(n, F32(sqrt(scale)));
    ac_tensor *k = ac_onx_rounded(n, MUL(a.k, half));
    stage[0] = product(&a, ac_onx_rounded(n, MUL(a.q, half)), k, true, a.t);
    stage[1] = stage[0] && cap != 0 ? softcap(n, stage[0], cap) : stage[0];
    stage[2] = stage[1] && a.bias ? ac_onx_rounded(n, ADD(stage[1], a.bias)) : stage[1];
    stage[3] = without_blind_rows(&a, ac_onx_softmax(n, stage[2], precision));
    stage[3] = ac_onx_rounded(n, stage[3]);
    ac_tensor *y = product(&a, stage[3], a.v, false, a.v->dim[3]);
    if (y && n->in[Q]->rank == 3)
        y = ac_make_reshape(&n->b, ac_make_transpose(&n->b, y, SWAP), 3, (int64_t[]){a.b, a.s, a.hq * a.v->dim[3]});
    AC_TRY(ac_onx_result(n, 0, y));
    AC_TRY(ac_onx_result(n, 1, a.k));
    AC_TRY(ac_onx_result(n, 2, a.v));
    return ac_onx_result(n, 3, stage[mode]);
}
