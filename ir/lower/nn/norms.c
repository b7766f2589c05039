/* norms.c - lowers l2_normalization and local_response_normalization along the last dimension.
 *
 *     l2    f32      x / max(sqrt(sum x^2), 1e-6)
 *           i8, u8   1 / sqrt in fixed point, bit for bit reference/l2normalization.h; output scale 1/128
 *     lrn   f32      x * (bias + alpha * sum of x^2 over radius neighbours on each side)^-beta */
#include "ir/lower/entries.h"
#include "ir/lower/fixed_point.h"
#include "ir/lower/map/map.h"
#include "ir/lower/rows.h"

typedef struct rows {
    ac_lo_rows r;
    ac_x sum; /* variable, then the norm */
} rows;

static void square_step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    rows *r = with;
    ac_lb *b = &L->b;
    const ac_x v = ac_lo_rows_load(L, &r->r, i, lanes), sq = ac_lb_mul(b, v, v);
    ac_lb_set(b, r->sum, ac_lb_add(b, ac_lb_get(b, r->sum), lanes > 1 ? ac_lb_sumlanes(b, sq) : sq));
}

static void divide_step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    rows *r = with;
    ac_lo_rows_store(L, &r->r, i,
                     ac_lb_div(&L->b, ac_lo_rows_load(L, &r->r, i, lanes), ac_lb_splat(&L->b, r->sum, lanes)), lanes);
}

static int l2_f32(ac_lower *L, rows *r)
{
    ac_lb *b = &L->b;
    const int32_t lanes = ac_lo_max_lanes(L, AC_F32);
    ac_lo_rows_open(L, &r->r);
    r->sum = ac_lb_var(b, "sum", ac_lb_f32(b, 0));
    ac_lo_strip(L, "c", r->r.depth, L->exact ? 1 : lanes, square_step, r);
    r->sum = ac_lb_max(b, ac_lb_f32(b, 1e-6), ac_lb_sqrt(b, ac_lb_get(b, r->sum)));
    ac_lo_strip(L, "c", r->r.depth, lanes, divide_step, r);
    ac_lo_rows_close(L, &r->r);
    return AC_OK;
}

/* i8: 7 more bits by the shift; u8: x * 128 and centre 128, as the two reference kernels have it. */
static int l2_8(ac_lower *L, rows *r)
{
    ac_lb *b = &L->b;
    const bool is_signed = L->node->in[0]->dtype == AC_I8;
    ac_lo_rows_open(L, &r->r);
    const ac_x sum = ac_lb_var(b, "sum", ac_lb_i32(b, 0));
    ac_x c = ac_lb_for_n(b, "c", r->r.depth);
    ac_x v = ac_mp_centered(L, ac_lo_rows_load(L, &r->r, c, 1), r->r.in);
    ac_lb_set(b, sum, ac_lb_add_wrap(b, ac_lb_get(b, sum), ac_lb_mul(b, v, v)));
    ac_lb_end(b);
    ac_x m, shift;
    ac_lo_fx_inv_sqrt(L, ac_lb_get(b, sum), &m, &shift);
    if (is_signed)
        shift = ac_lb_add(b, shift, ac_lb_i32(b, 7));
    const ac_requant q = ac_lo_requant_prepare(L, m, shift);
    c = ac_lb_for_n(b, "c", r->r.depth);
    v = ac_mp_centered(L, ac_lo_rows_load(L, &r->r, c, 1), r->r.in);
    v = ac_lo_requant_apply(L, is_signed ? v : ac_lb_mul(b, v, ac_lb_i32(b, 128)), &q);
    if (!is_signed)
        v = ac_lb_add(b, v, ac_lb_i32(b, 128));
    v = ac_lb_clamp(b, v, ac_lb_i32(b, ac_dtype_min(r->r.out->dtype)), ac_lb_i32(b, ac_dtype_max(r->r.out->dtype)));
    ac_lo_rows_store(L, &r->r, c, ac_lb_cast(b, v, r->r.out->dtype), 1);
    ac_lb_end(b);
    ac_lo_rows_close(L, &r->r);
    return AC_OK;
}

int ac_lo_l2norm(ac_lower *L)
{
    ac_tensor *in = L->node->in[0], *out = L->node->out[0];
    rows r = {0};
    ac_lo_result_buf(L);
    if (L->node->attrs.act.act != AC_ACT_NONE)
        return ac_lower_refuse(L, "l2_normalization with a fused activation is not supported");
    if (ac_tensor_count(in) == 0)
        return AC_OK;
    if (in->dtype == AC_F32 && out->dtype == AC_F32)
        return l2_f32(L, &r);
    if (ac_mp_quantised(in) && ac_mp_quantised(out) && in->dtype == out->dtype &&
        (in->dtype == AC_I8 || in->dtype == AC_U8))
        return l2_8(L, &r);
    ac_mp_refuse(L, L->node);
    return AC_FAIL;
}

int ac_lo_lrn(ac_lower *L)
{
    ac_lb *b = &L->b;
    ac_tensor *in = L->node->in[0];
    const ac_attrs_lrn *a = &L->node->attrs.lrn;
    ac_lo_rows r;
    ac_lo_result_buf(L);
    if (in->dtype != AC_F32 || L->node->out[0]->dtype != AC_F32) {
        ac_mp_refuse(L, L->node);
        return AC_FAIL;
    }
    if (ac_tensor_count(in) == 0)
        return AC_OK;
    ac_lo_rows_open(L, &r);
    const int64_t radius = a->radius < 0 ? 0 : a->radius > r.depth ? r.depth : a->radius;
    const ac_x c = ac_lb_for_n(b, "c", r.depth);
    const ac_x lo = ac_lb_max(b, ac_lb_sub(b, c, ac_lb_i32(b, radius)), ac_lb_i32(b, 0));
    const ac_x hi = ac_lb_min(b, ac_lb_add(b, c, ac_lb_i32(b, radius + 1)), ac_lb_i32(b, r.depth));
    const ac_x sum = ac_lb_var(b, "sum", ac_lb_f32(b, 0));
    const ac_x k = ac_lb_for(b, "k", lo, hi, 1, AC_MARK_SERIAL);
    const ac_x v = ac_lo_rows_load(L, &r, k, 1);
    ac_lb_set(b, sum, ac_lb_add(b, ac_lb_get(b, sum), ac_lb_mul(b, v, v)));
    ac_lb_end(b);
    const ac_x base =
        ac_lb_add(b, ac_lb_f32(b, (double)a->bias), ac_lb_mul(b, ac_lb_f32(b, (double)a->alpha), ac_lb_get(b, sum)));
    ac_lo_rows_store(L, &r, c,
                     ac_lb_mul(b, ac_lo_rows_load(L, &r, c, 1), ac_lo_pow(L, base, ac_lb_f32(b, -(double)a->beta))), 1);
    ac_lb_end(b);
    ac_lo_rows_close(L, &r);
    return AC_OK;
}
