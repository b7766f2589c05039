/* reduce_nodes.c - reductions, running sums and sorts of PyTorch. */
#include "import/pt2/nodes.h"

#include "import/build/counted.h"
#include "ir/make/compose_moves.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The dimensions that the node reduces, and whether they stay as 1. */
static int axes_of(ac_ep_node *n, uint32_t *mask, bool *keep)
{
    *keep = ac_attr_bool(&n->attrs, A_keepdim);
    return ac_ep_axes(n, A_dims, n->in[0]->rank, mask);
}

static ac_tensor *in_type(ac_ep_node *n, ac_tensor *x)
{
    const ac_dtype to = ac_ep_declared(n, 0);
    (void)ac_attr_has(&n->attrs, A_dtype); /* the declared type */
    if (!x || to == AC_NONE || to == AC_F16 || to == AC_BF16 || to == AC_BOOL)
        return x;
    return ac_make_cast(&n->b, x, to);
}

static ac_tensor *reduced(ac_ep_node *n, ac_op op, ac_tensor *x, uint32_t mask, bool keep)
{
    return !x || !x->rank ? x : ac_make_reduce(&n->b, op, x, mask, keep);
}

int ac_ep_do_sum(ac_ep_node *n)
{
    uint32_t mask;
    bool keep;
    AC_TRY(axes_of(n, &mask, &keep));
    return ac_ep_result(n, 0, reduced(n, n->row->op, in_type(n, n->in[0]), mask, keep));
}

int ac_ep_do_nansum(ac_ep_node *n)
{
    uint32_t mask;
    bool keep;
    ac_tensor *x = in_type(n, n->in[0]), *zero = x ? NUM(x, 0) : NULL;
    AC_TRY(axes_of(n, &mask, &keep));
    return ac_ep_result(n, 0, reduced(n, AC_OP_SUM, WHERE(OP2(NOT_EQUAL, x, x), zero, x), mask, keep));
}

int ac_ep_do_extreme(ac_ep_node *n)
{
    uint32_t mask;
    bool keep;
    AC_TRY(axes_of(n, &mask, &keep));
    return ac_ep_result(n, 0, reduced(n, n->row->op, ac_ep_bytes(n, n->in[0]), mask, keep));
}

/* Index of the extreme element along d, without that dimension. */
static ac_tensor *place_of(ac_ep_node *n, ac_op op, ac_tensor *x, int32_t d)
{
    ac_attrs a;
    const int64_t at = d;
    ac_attrs_init(op, &a);
    a.arg.out_type = AC_I64;
    ac_tensor *in[] = {ac_ep_bytes(n, x), ac_make_reshape(&n->b, ac_make_ints(&n->b, 1, &at), 0, NULL)};
    return in[0] && in[1] ? ac_make_op(&n->b, op, in, 2, &a, AC_I64) : NULL;
}

static ac_tensor *kept(ac_ep_node *n, ac_tensor *y, const ac_tensor *x, int32_t d, bool keep)
{
    int64_t dim[AC_MAX_RANK];
    if (!keep || !y)
        return y;
    memcpy(dim, x->dim, sizeof dim);
    dim[d] = 1;
    return ac_make_reshape(&n->b, y, x->rank, dim);
}

int ac_ep_do_extreme_at(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t d;
    const bool keep = ac_attr_bool(&n->attrs, A_keepdim), most = n->row->op == AC_OP_REDUCE_MAX;
    AC_TRY(ac_ep_axis(n, A_need_dim, x->rank, &d));
    if (!x->rank) {
        AC_TRY(ac_ep_result(n, 0, x));
        return ac_ep_result(n, 1, I64(0));
    }
    AC_TRY(ac_ep_result(n, 0, reduced(n, n->row->op, ac_ep_bytes(n, x), 1u << d, keep)));
    return ac_ep_result(n, 1, kept(n, place_of(n, most ? AC_OP_ARG_MAX : AC_OP_ARG_MIN, x, d), x, d, keep));
}

int ac_ep_do_aminmax(ac_ep_node *n)
{
    uint32_t mask = (1u << n->in[0]->rank) - 1;
    const bool keep = ac_attr_bool(&n->attrs, A_keepdim);
    int32_t d;
    if (ac_attr_has(&n->attrs, A_need_dim)) {
        AC_TRY(ac_ep_axis(n, A_need_dim, n->in[0]->rank, &d));
        mask = 1u << d;
    }
    AC_TRY(ac_ep_result(n, 0, reduced(n, AC_OP_REDUCE_MIN, n->in[0], mask, keep)));
    return ac_ep_result(n, 1, reduced(n, AC_OP_REDUCE_MAX, n->in[0], mask, keep));
}

int ac_ep_do_arg(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    const bool keep = ac_attr_bool(&n->attrs, A_keepdim), one = ac_attr_has(&n->attrs, A_need_dim);
    const int64_t all = ac_tensor_count(x);
    int64_t dim[AC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    int32_t d = 0;
    if (!x->rank)
        return ac_ep_result(n, 0, I64(0));
    if (!one) {
        ac_tensor *y = place_of(n, n->row->op, ac_make_reshape(&n->b, x, 1, &all), 0);
        return ac_ep_result(n, 0, keep ? ac_make_reshape(&n->b, y, x->rank, dim) : y);
    }
    AC_TRY(ac_ep_axis(n, A_need_dim, x->rank, &d));
    return ac_ep_result(n, 0, kept(n, place_of(n, n->row->op, x, d), x, d, keep));
}

int ac_ep_do_any(ac_ep_node *n)
{
    uint32_t mask;
    bool keep;
    AC_TRY(axes_of(n, &mask, &keep));
    return ac_ep_result(n, 0, reduced(n, n->row->op, ac_ep_truth(n, n->in[0]), mask, keep));
}

int ac_ep_do_count_nonzero(ac_ep_node *n)
{
    uint32_t mask;
    bool keep;
    AC_TRY(axes_of(n, &mask, &keep));
    return ac_ep_result(n, 0, reduced(n, AC_OP_SUM, ac_make_cast(&n->b, ac_ep_truth(n, n->in[0]), AC_I64), mask, keep));
}

/* ------------------------------------------------------------------ moments */

/* *mean has the reduced dimensions as 1. */
static int variance(ac_ep_node *n, ac_tensor **var, ac_tensor **mean, bool *keep)
{
    ac_tensor *x = n->in[0];
    uint32_t mask;
    int64_t count = 1;
    AC_TRY(axes_of(n, &mask, keep));
    const bool unbiased = ac_attr_bool(&n->attrs, A_unbiased);
    const double correction = ac_attr_float_or(&n->attrs, A_correction, unbiased);
    for (int32_t d = 0; d < x->rank; d++)
        count *= mask >> d & 1 ? x->dim[d] : 1;
    *mean = reduced(n, AC_OP_MEAN, x, mask, true);
    ac_tensor *far = SUB(x, *mean);
    const double less = (double)count - correction;
    *var = reduced(n, AC_OP_MEAN, far ? SQUARE(far) : NULL, mask, *keep);
    if (correction != 0 && *var)
        *var = TIMES(*var, less > 0 ? (double)count / less : (double)NAN);
    if (!*keep && *mean && *var)
        *mean = ac_make_reshape(&n->b, *mean, (*var)->rank, (*var)->dim);
    return *var && *mean ? AC_OK : AC_FAIL;
}

int ac_ep_do_var(ac_ep_node *n)
{
    ac_tensor *var, *mean;
    bool keep;
    AC_TRY(variance(n, &var, &mean, &keep));
    return ac_ep_result(n, 0, var);
}

int ac_ep_do_std(ac_ep_node *n)
{
    ac_tensor *var, *mean;
    bool keep;
    AC_TRY(variance(n, &var, &mean, &keep));
    return ac_ep_result(n, 0, SQRT(var));
}

int ac_ep_do_var_mean(ac_ep_node *n)
{
    ac_tensor *var, *mean;
    bool keep;
    AC_TRY(variance(n, &var, &mean, &keep));
    AC_TRY(ac_ep_result(n, 0, n->row->op == AC_OP_SQRT ? SQRT(var) : var));
    return ac_ep_result(n, 1, mean);
}

/* (sum |x|^p)^(1/p), and its limits */
int ac_ep_do_norm(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    uint32_t mask;
    bool keep;
    const double p = ac_attr_has(&n->attrs, A_p) ? ac_attr_float(&n->attrs, A_p) : ac_attr_float(&n->attrs, A_ord);
    AC_TRY(axes_of(n, &mask, &keep));
    x = in_type(n, x);
    if (p == 2)
        return ac_ep_result(n, 0, SQRT(reduced(n, AC_OP_SUM, SQUARE(x), mask, keep)));
    x = ABS(x);
    if (p == 0)
        return ac_ep_result(
            n, 0, x ? reduced(n, AC_OP_SUM, ac_make_cast(&n->b, ac_ep_truth(n, x), x->dtype), mask, keep) : NULL);
    if (isinf(p))
        return ac_ep_result(n, 0, reduced(n, p > 0 ? AC_OP_REDUCE_MAX : AC_OP_REDUCE_MIN, x, mask, keep));
    if (p == 1)
        return ac_ep_result(n, 0, reduced(n, AC_OP_SUM, x, mask, keep));
    ac_tensor *sum = x ? reduced(n, AC_OP_SUM, OP2(POW, x, NUM(x, p)), mask, keep) : NULL;
    return ac_ep_result(n, 0, sum ? OP2(POW, sum, NUM(sum, 1 / p)) : NULL);
}

/* log(sum(exp(x - m))) + m with the maximum m, made finite */
int ac_ep_do_logsumexp(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    uint32_t mask;
    bool keep;
    AC_TRY(axes_of(n, &mask, &keep));
    const double most = x->dtype == AC_F64 ? DBL_MAX : (double)FLT_MAX;
    ac_tensor *m = reduced(n, AC_OP_REDUCE_MAX, x, mask, true), *end = m ? NUM(m, most) : NULL;
    m = MIN(MAX(m, m ? NUM(m, -most) : NULL), end);
    ac_tensor *log = LOG(reduced(n, AC_OP_SUM, EXP(SUB(x, m)), mask, keep));
    return ac_ep_result(n, 0, log ? ADD(log, ac_make_reshape(&n->b, m, log->rank, log->dim)) : NULL);
}

/* ------------------------------------------------------------------ running sums */

static ac_tensor *running(ac_ep_node *n, ac_op op, ac_tensor *x, int32_t d)
{
    const int64_t at = d;
    ac_tensor *in[] = {x, ac_make_reshape(&n->b, ac_make_ints(&n->b, 1, &at), 0, NULL)};
    return !x || !x->rank ? x : ac_make_op(&n->b, op, in, 2, NULL, AC_NONE);
}

int ac_ep_do_cumsum(ac_ep_node *n)
{
    int32_t d;
    AC_TRY(ac_ep_axis(n, A_need_dim, n->in[0]->rank, &d));
    return ac_ep_result(n, 0, running(n, n->row->op, in_type(n, n->in[0]), d));
}

int ac_ep_do_logcumsumexp(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t d;
    AC_TRY(ac_ep_axis(n, A_need_dim, x->rank, &d));
    ac_tensor *m = reduced(n, AC_OP_REDUCE_MAX, x, 1u << d, true);
    return ac_ep_result(n, 0, ADD(LOG(running(n, AC_OP_CUMSUM, EXP(SUB(x, m)), d)), m));
}

/* ------------------------------------------------------------------ sorts */

/* The k largest (smallest) elements along d in order, and where they were. */
static int best(ac_ep_node *n, ac_tensor *x, int32_t d, int64_t k, bool smallest, ac_tensor *out[2])
{
    int32_t perm[AC_MAX_RANK], back[AC_MAX_RANK];
    ac_attrs a;
    const ac_dtype own = x->dtype;
    x = ac_ep_bytes(n, x);
    if (x && x->rank == 0) {
        out[0] = x;
        out[1] = I64(0);
        return AC_OK;
    }
    if (!x)
        return AC_FAIL;
    ac_perm_axis_last(x->rank, d, perm, back);
    ac_attrs_init(AC_OP_TOPK_V2, &a);
    a.topk.smallest = smallest;
    a.topk.keep_nan = true;
    ac_tensor *in[] = {ac_make_transpose(&n->b, x, perm), ac_make_reshape(&n->b, ac_make_ints(&n->b, 1, &k), 0, NULL)};
    if (!in[0] || !in[1])
        return AC_FAIL;
    ac_node *made = ac_make_node(&n->b, AC_OP_TOPK_V2, in, 2, &a, 2);
    if (ac_make_resolve(&n->b, made) != AC_OK)
        return AC_FAIL;
    ac_tensor *at = made->out[1];
    out[0] = ac_make_cast(&n->b, ac_make_transpose(&n->b, made->out[0], back), own);
    out[1] = ac_make_cast(&n->b, ac_make_transpose(&n->b, at, back), AC_I64);
    return out[0] && out[1] ? AC_OK : AC_FAIL;
}

int ac_ep_do_topk(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *out[2];
    int32_t d;
    const int64_t k = ac_attr_int(&n->attrs, A_k);
    const bool largest = ac_attr_bool(&n->attrs, A_largest);
    AC_TRY(ac_ep_axis(n, A_last_dim, x->rank, &d));
    AC_TRY(best(n, x, d, k, !largest, out));
    AC_TRY(ac_ep_result(n, 0, out[0]));
    return ac_ep_result(n, 1, out[1]);
}

static int sorted(ac_ep_node *n, ac_tensor *out[2])
{
    ac_tensor *x = n->in[0];
    int32_t d = 0;
    const bool down = ac_attr_bool(&n->attrs, A_descending), rows = strstr(n->row->name, "msort") != NULL;
    if (!rows)
        AC_TRY(ac_ep_axis(n, A_last_dim, x->rank, &d));
    return best(n, x, d, x->rank ? x->dim[d] : 1, !down, out);
}

int ac_ep_do_sort(ac_ep_node *n)
{
    ac_tensor *out[2];
    AC_TRY(sorted(n, out));
    AC_TRY(ac_ep_result(n, 0, out[0]));
    return ac_ep_result(n, 1, out[1]);
}

int ac_ep_do_argsort(ac_ep_node *n)
{
    ac_tensor *out[2];
    AC_TRY(sorted(n, out));
    return ac_ep_result(n, 0, out[1]);
}

/* Element k of the rising order along d. */
static int nth(ac_ep_node *n, ac_tensor *x, int32_t d, int64_t k, bool keep)
{
    ac_tensor *out[2];
    if (x->rank && (k < 0 || k >= x->dim[d]))
        return ac_bad(&n->b, "element %" PRId64 " of %" PRId64, k + 1, x->dim[d]);
    AC_TRY(best(n, x, d, k + 1, true, out));
    for (int32_t i = 0; i < 2; i++) {
        ac_tensor *y = x->rank ? ac_make_slice(&n->b, out[i], d, k, 1) : out[i];
        if (y && !keep && x->rank) {
            int64_t dim[AC_MAX_RANK];
            for (int32_t e = 0; e < y->rank - 1; e++)
                dim[e] = y->dim[e + (e >= d)];
            y = ac_make_reshape(&n->b, y, y->rank - 1, dim);
        }
        AC_TRY(ac_ep_result(n, i, y));
    }
    return AC_OK;
}

int ac_ep_do_kthvalue(ac_ep_node *n)
{
    int32_t d;
    AC_TRY(ac_ep_axis(n, A_last_dim, n->in[0]->rank, &d));
    return nth(n, n->in[0], d, ac_attr_int(&n->attrs, A_k) - 1, ac_attr_bool(&n->attrs, A_keepdim));
}

int ac_ep_do_median(ac_ep_node *n)
{
    const int64_t all = ac_tensor_count(n->in[0]);
    ac_tensor *x = ac_make_reshape(&n->b, n->in[0], 1, &all);
    return x ? nth(n, x, 0, (all - 1) / 2, false) : AC_FAIL;
}

int ac_ep_do_median_dim(ac_ep_node *n)
{
    const ac_tensor *x = n->in[0];
    int32_t d;
    AC_TRY(ac_ep_axis(n, A_need_dim, x->rank, &d));
    return nth(n, n->in[0], d, x->rank ? (x->dim[d] - 1) / 2 : 0, ac_attr_bool(&n->attrs, A_keepdim));
}
