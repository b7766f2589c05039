/* attention_nodes.c - scaled_dot_product_attention of PyTorch: softmax(Q K' scale + mask) V, in matrix products and
 * element-wise nodes, which pass attention may join.
 *
 *     query [..,Hq,S,D], key [..,Hkv,T,D], value [..,Hkv,T,E]; with enable_gqa Hq is a multiple of Hkv
 *
 * A mask of bools selects the keys that a query sees, numbers are added to the scores. A query that sees no key gives
 * zeros. */
#include "import/pt2/nodes.h"

#include "import/build/counted.h"
#include "ir/make/compose_moves.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct attention {
    ac_tensor *q, *k, *v;
    ac_tensor *sees; /* bool; NULL: everything */
    ac_tensor *bias; /* numbers of the mask, and those of sees; NULL: none */
    int32_t rank;
} attention;

static int read_operands(ac_ep_node *n, attention *a)
{
    a->q = n->in[0];
    a->k = n->in[1];
    a->v = n->in[2];
    a->rank = a->q->rank;
    if (a->rank < 2 || a->k->rank != a->rank || a->v->rank != a->rank ||
        a->k->dim[a->rank - 1] != a->q->dim[a->rank - 1] || a->v->dim[a->rank - 2] != a->k->dim[a->rank - 2])
        return ac_bad(&n->b, "query %s, key %s and value %s do not fit", ac_shape_str(n->r->cx, a->q),
                      ac_shape_str(n->r->cx, a->k), ac_shape_str(n->r->cx, a->v));
    return AC_OK;
}

/* Key heads that serve several query heads: x [..,H,..] as [..,Hkv,H/Hkv,..], over which the products broadcast. */
static ac_tensor *grouped(ac_ep_node *n, ac_tensor *x, int32_t rank, int64_t heads)
{
    int64_t dim[AC_MAX_RANK];
    if (!x || rank >= AC_MAX_RANK)
        return NULL;
    const int32_t h = rank - 3;
    memcpy(dim, x->dim, (size_t)h * sizeof *dim);
    dim[h] = heads;
    dim[h + 1] = x->dim[h] / heads;
    dim[h + 2] = x->dim[h + 1];
    dim[h + 3] = x->dim[h + 2];
    return ac_make_reshape(&n->b, x, rank + 1, dim);
}

static int read_mask(ac_ep_node *n, attention *a)
{
    ac_tensor *mask = ac_ep_in(n, 3);
    const int64_t s = a->q->dim[a->rank - 2], t = a->k->dim[a->rank - 2];
    if (mask && mask->dtype == AC_BOOL)
        a->sees = mask;
    else
        a->bias = mask;
    if (ac_attr_bool(&n->attrs, A_is_causal)) {
        ac_tensor *before = ac_make_band(&n->b, s, t, INT32_MIN, 0);
        a->sees = a->sees ? OP2(LOGICAL_AND, a->sees, before) : before;
    }
    if (!a->sees)
        return AC_OK;
    ac_tensor *hidden = F32(-(double)INFINITY);
    hidden = WHERE(a->sees, F32(0), hidden);
    a->bias = a->bias ? ADD(a->bias, hidden) : hidden;
    return a->bias ? AC_OK : AC_FAIL;
}

/* Rows of weights whose bias is -infinity everywhere are 0. Masks without such rows need no step. */
static ac_tensor *without_blind_rows(ac_ep_node *n, const attention *a, ac_tensor *p)
{
    if (!a->bias || !p)
        return p;
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
    return WHERE(blind, F32(0), p);
}

int ac_ep_do_sdpa(ac_ep_node *n)
{
    attention a = {.rank = 0};
    AC_TRY(read_operands(n, &a));
    const double depth = (double)a.q->dim[a.rank - 1], drop = ac_attr_float(&n->attrs, A_dropout_p);
    const double scale = ac_attr_float_or(&n->attrs, A_scale, 1 / sqrt(depth));
    const bool gqa = ac_attr_bool(&n->attrs, A_enable_gqa);
    (void)ac_attr_bool(&n->attrs, A_compute_log_sumexp);
    (void)ac_attr_bool(&n->attrs, A_return_debug_mask);
    if (drop > 0)
        return ac_ep_refuse_training(n, "draws random numbers");
    AC_TRY(read_mask(n, &a));
    const int32_t h = a.rank - 3;
    const bool shared = gqa && h >= 0 && a.q->dim[h] != a.k->dim[h];
    const int64_t heads = shared ? a.k->dim[h] : 0;
    if (shared && (heads < 1 || a.q->dim[h] % heads || a.v->dim[h] != heads))
        return ac_bad(&n->b, "%" PRId64 " heads of queries for %" PRId64 " of keys", a.q->dim[h], heads);
    ac_tensor *q = TIMES(a.q, scale), *k = a.k, *v = a.v;
    if (shared) {
        q = grouped(n, q, a.rank, heads);
        k = grouped(n, k, a.rank, heads);
        v = grouped(n, v, a.rank, heads);
    }
    ac_tensor *scores = ac_make_matmul(&n->b, q, k, false, true);
    if (shared && scores) {
        int64_t dim[AC_MAX_RANK];
        memcpy(dim, a.q->dim, sizeof dim);
        dim[a.rank - 1] = a.k->dim[a.rank - 2];
        scores = ac_make_reshape(&n->b, scores, a.rank, dim);
    }
    scores = a.bias && scores ? ADD(scores, a.bias) : scores;
    ac_tensor *p = scores ? without_blind_rows(n, &a, ac_tensor_count(scores) ? OP1(SOFTMAX, scores) : scores) : NULL;
    ac_tensor *y = ac_make_matmul(&n->b, shared ? grouped(n, p, a.rank, heads) : p, v, false, false);
    if (shared && y) {
        int64_t dim[AC_MAX_RANK];
        memcpy(dim, a.q->dim, sizeof dim);
        dim[a.rank - 1] = a.v->dim[a.rank - 1];
        y = ac_make_reshape(&n->b, y, a.rank, dim);
    }
    return ac_ep_result(n, 0, y);
}
