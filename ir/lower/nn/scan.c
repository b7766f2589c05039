/* scan.c - lowers operators that scan one axis: arg_max, arg_min, cumsum, cumprod.
 *
 *     arg_max, arg_min   the first of equal elements; NaN never wins unless all are NaN (then 0), or with keep_nan the
 *                        first NaN wins. Quantised: stored values
 *
 *     cumsum, cumprod    running sum or product along the axis, exclusive or from the end; integers wrap. Not
 *                        quantised */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/ops/decode/axis.h"

/* Booleans compare as numbers. */
static ac_x element(ac_lower *L, int32_t buf, ac_x at)
{
    const ac_x v = ac_lb_load(&L->b, buf, at, 1);
    return ac_lb_dtype(&L->b, v) == AC_BOOL ? ac_lb_cast(&L->b, v, AC_U8) : v;
}

/* bool: true if v replaces the best so far. */
static ac_x better(ac_lower *L, bool max, ac_x v, ac_x best)
{
    ac_lb *b = &L->b;
    const ac_x beats = max ? ac_lb_gt(b, v, best) : ac_lb_lt(b, v, best);
    if (!ac_dtype_is_float(ac_lb_dtype(b, v)))
        return beats;
    const bool keep_nan = L->node->attrs.arg.keep_nan;
    const ac_x from = keep_nan ? v : best, to = keep_nan ? best : v;
    return ac_lb_or(b, beats, ac_lb_and(b, ac_lb_ne(b, from, from), ac_lb_eq(b, to, to)));
}

int ac_lo_arg(ac_lower *L)
{
    static const char *const name[AC_MAX_RANK] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};
    ac_lb *b = &L->b;
    ac_tensor *in = L->node->in[0], *out = L->node->out[0];
    int32_t axis;
    AC_TRY(ac_arg_axis(L->cx, L->node, &axis));
    if ((!ac_mp_real(in) && !ac_dtype_is_int(in->dtype) && in->dtype != AC_BOOL) ||
        (out->dtype != AC_I32 && out->dtype != AC_I64)) {
        ac_mp_refuse(L, L->node);
        return AC_FAIL;
    }
    ac_lo_result_buf(L);
    if (ac_tensor_count(in) == 0)
        return ac_tensor_count(out) ? ac_lower_refuse(L, "%s over an axis without elements", ac_ops[L->node->op].text)
                                    : AC_OK;
    const int32_t x = ac_lo_operand(L, in);
    const bool keep = out->rank == in->rank;
    ac_x idx[AC_MAX_RANK], at[AC_MAX_RANK];
    int32_t k = 0;
    for (int32_t d = 0; d < in->rank; d++) {
        if (d == axis) {
            at[d] = ac_lb_i32(b, 0);
            if (keep)
                idx[k++] = at[d];
            continue;
        }
        at[d] = ac_lb_for_n(b, name[d], in->dim[d]);
        idx[k++] = at[d];
    }
    const ac_x best = ac_lb_var(b, "best", element(L, x, ac_lo_flat(L, in, at)));
    const ac_x where = ac_lb_var(b, "where", ac_lb_i32(b, 0));
    const ac_x i = ac_lb_for(b, "k", ac_lb_i32(b, 1), ac_lb_i32(b, in->dim[axis]), 1, AC_MARK_SERIAL);
    at[axis] = i;
    const ac_x v = element(L, x, ac_lo_flat(L, in, at));
    const ac_x wins = better(L, L->node->op == AC_OP_ARG_MAX, v, ac_lb_get(b, best));
    ac_lb_set(b, where, ac_lb_select(b, wins, i, ac_lb_get(b, where)));
    ac_lb_set(b, best, ac_lb_select(b, wins, v, ac_lb_get(b, best)));
    ac_lb_end(b);
    ac_lo_result(L, ac_lb_cast(b, ac_lb_get(b, where), out->dtype), idx, 1);
    for (int32_t d = 0; d < in->rank; d++)
        if (d != axis)
            ac_lb_end(b);
    return AC_OK;
}

typedef struct running {
    ac_tensor *in;
    int32_t x, axis;
    bool exclusive, reverse;
    ac_x idx[AC_MAX_RANK];
} running;

/* The sums of one line (or of `lanes` neighbouring ones). */
static void one_line(ac_lower *L, running *r, int32_t lanes)
{
    ac_lb *b = &L->b;
    const ac_dtype d = r->in->dtype;
    const bool prod = L->node->op == AC_OP_CUMPROD;
    const ac_x start = ac_dtype_is_float(d) ? ac_lb_num(b, d, prod) : ac_lb_int(b, d, prod);
    const ac_x sum = ac_lb_var(b, prod ? "prod" : "sum", ac_lb_splat(b, start, lanes));
    const int64_t n = r->in->dim[r->axis];
    const ac_x k = ac_lb_for_n(b, "k", n);
    r->idx[r->axis] = r->reverse ? ac_lb_sub(b, ac_lb_i32(b, n - 1), k) : k;
    const ac_x before = ac_lb_get(b, sum);
    const ac_x v = ac_lb_load(b, r->x, ac_lo_flat(L, r->in, r->idx), lanes);
    const ac_x after = prod ? ac_lb_mul_wrap(b, before, v) : ac_lb_add_wrap(b, before, v);
    ac_lb_set(b, sum, after);
    ac_lo_result(L, r->exclusive ? before : after, r->idx, lanes);
    ac_lb_end(b);
}

static void step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    running *r = with;
    r->idx[r->in->rank - 1] = i;
    one_line(L, r, lanes);
}

int ac_lo_cumsum(ac_lower *L)
{
    static const char *const name[AC_MAX_RANK] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};
    ac_lb *b = &L->b;
    ac_tensor *in = L->node->in[0];
    const ac_attrs_cumsum *a = &L->node->attrs.cumsum;
    running r = {.in = in, .exclusive = a->exclusive, .reverse = a->reverse};
    AC_TRY(ac_one_axis(L->cx, L->node, 1, 0, in->rank, &r.axis));
    if ((!ac_mp_real(in) && !ac_mp_plain_int(in)) || in->dtype != L->node->out[0]->dtype) {
        ac_mp_refuse(L, L->node);
        return AC_FAIL;
    }
    ac_lo_result_buf(L);
    r.x = ac_lo_operand(L, in);
    const bool strip = r.axis != in->rank - 1;
    for (int32_t d = 0; d < in->rank - strip; d++)
        if (d != r.axis)
            r.idx[d] = ac_lb_for_n(b, name[d], in->dim[d]);
    if (strip)
        ac_lo_strip(L, "c", in->dim[in->rank - 1], ac_lo_max_lanes(L, in->dtype), step, &r);
    else
        one_line(L, &r, 1);
    for (int32_t d = 0; d < in->rank - strip; d++)
        if (d != r.axis)
            ac_lb_end(b);
    return AC_OK;
}
