/* channel.c - computes types, scales and clamps of an output channel, and emits the arithmetic on its accumulator; see
 * channel.h. */
#include "ir/lower/channel.h"
#include "ir/lower/lower.h"

/* The number system of the operands, or -1. */
static int kind_of(const ac_tensor *x, const ac_tensor *w, const ac_tensor *out, ac_rounding rounding)
{
    if (x->dtype == AC_F32 && out->dtype == AC_F32)
        return w->dtype == AC_F32 ? AC_MACS_F32 : w->dtype == AC_I8 && w->quant ? AC_MACS_HYBRID : -1;
    const bool one_type = x->dtype == w->dtype && x->dtype == out->dtype && ac_dtype_loops(x->dtype) == x->dtype;
    if (one_type && rounding == AC_ROUND_MATMUL && !x->quant && !w->quant &&
        (x->dtype == AC_F64 || ac_dtype_is_int(x->dtype)))
        return AC_MACS_PLAIN;
    if (rounding != AC_ROUND_MATMUL && !x->quant && !w->quant && (x->dtype == AC_I8 || x->dtype == AC_U8) &&
        (w->dtype == AC_I8 || w->dtype == AC_I16) && out->dtype == AC_I32)
        return AC_MACS_SUM;
    if (rounding == AC_ROUND_MATMUL && !x->quant && !w->quant && (x->dtype == AC_I8 || x->dtype == AC_U8) &&
        (w->dtype == AC_I8 || w->dtype == AC_U8) && out->dtype == AC_I32)
        return AC_MACS_SUM;
    if (!x->quant || !w->quant || !out->quant || x->dtype != out->dtype)
        return -1;
    if (x->dtype == AC_U8 && w->dtype == AC_U8)
        return AC_MACS_U8;
    if (x->dtype == AC_I16 && w->dtype == AC_I16 && rounding == AC_ROUND_MATMUL)
        return AC_MACS_I16;
    if (w->dtype != AC_I8)
        return -1;
    return x->dtype == AC_I8 ? AC_MACS_I8 : x->dtype == AC_I16 ? AC_MACS_I16 : -1;
}

static int check_bias(ac_channel *c)
{
    if (!c->bias)
        return AC_OK;
    const ac_dtype d = c->bias->dtype;
    bool ok = c->kind == AC_MACS_F32 || c->kind == AC_MACS_HYBRID ? d == AC_F32 : d == AC_I32;
    if (c->kind == AC_MACS_I16)
        ok = d == AC_I64 || d == AC_I32;
    if (!ok)
        return ac_lower_refuse(c->L, "bias '%s' is %s: supported with %s inputs are %s", c->bias->name,
                               ac_dtype_name(d), ac_dtype_name(c->x->dtype),
                               c->kind == AC_MACS_I16                                ? "i64 and i32"
                               : c->kind == AC_MACS_F32 || c->kind == AC_MACS_HYBRID ? "f32"
                                                                                     : "i32");
    if (ac_tensor_count(c->bias) != c->n)
        return ac_lower_refuse(c->L, "bias '%s' is %s, expected one value for each of %lld channels", c->bias->name,
                               ac_shape_str(c->L->cx, c->bias), (long long)c->n);
    return AC_OK;
}

/* uint8 and batch_matmul multiply the first two in float if the multiplier is fixed-point (TFLite's legacy formula). */
double ac_channel_scale(const ac_channel *c, int64_t i)
{
    const float sw = c->w->quant->scale[c->per_channel ? i : 0], sx = ac_quant_scale(c->x);
    if (c->rounding == AC_ROUND_MATMUL || (c->kind == AC_MACS_U8 && c->rounding == AC_ROUND_FIXED))
        return (double)(sx * sw) / (double)ac_quant_scale(c->out);
    return (double)sx * (double)sw / (double)ac_quant_scale(c->out);
}

int ac_channel_open(ac_lower *L, ac_channel *c, ac_tensor *x, ac_tensor *w, ac_tensor *bias, int64_t n, int32_t axis,
                    ac_act act, ac_rounding rounding)
{
    *c = (ac_channel){.L = L,
                      .rounding = rounding,
                      .x = x,
                      .w = w,
                      .bias = bias,
                      .out = L->node->out[0],
                      .act = act,
                      .n = n,
                      .axis = axis,
                      .bias_buf = -1,
                      .m_buf = -1,
                      .shift_buf = -1,
                      .scale_buf = -1,
                      .sum_buf = -1,
                      .low_buf = -1,
                      .c_buf = -1,
                      .below_buf = -1,
                      .post_buf = -1};
    const int kind = kind_of(x, w, c->out, rounding);
    if (kind < 0)
        return ac_lower_refuse(L,
                               "input %s, weights %s, output %s%s: supported are f32 x f32, f32 x i8 (dynamic range), "
                               "i8 x i8, u8 x u8 and i16 x i8 with the output of the input's type, bytes "
                               "without scales with an output of i32",
                               ac_dtype_name(x->dtype), ac_dtype_name(w->dtype), ac_dtype_name(c->out->dtype),
                               x->dtype != AC_F32 && !(x->quant && w->quant && c->out->quant) ? " (not quantised)"
                                                                                              : "");
    c->kind = (ac_macs)kind;
    AC_TRY(check_bias(c));
    c->acc = kind == AC_MACS_F32 ? AC_F32 : kind == AC_MACS_PLAIN ? x->dtype : kind == AC_MACS_I16 ? AC_I64 : AC_I32;
    if (kind == AC_MACS_SUM) {
        c->acc = AC_I32;
        const ac_node *node = L->node;
        const bool pair = rounding == AC_ROUND_MATMUL;
        c->zx = pair                                         ? node->attrs.matmul.zero_x
                : ac_ops[node->op].filter == AC_FILTER_DENSE ? 0
                                                             : node->attrs.conv.zero;
        c->zw = pair ? node->attrs.matmul.zero_y : 0;
    }
    if (kind == AC_MACS_F32 || kind == AC_MACS_PLAIN || kind == AC_MACS_SUM)
        return AC_OK;
    const ac_quant *q = w->quant;
    c->per_channel = q->n > 1;
    if (c->per_channel && (q->n != n || q->axis != axis))
        return ac_lower_refuse(L, "weights '%s' have %d scales along dimension %d, expected %lld along dimension %d",
                               w->name, (int)q->n, (int)q->axis, (long long)n, (int)axis);
    if (kind == AC_MACS_U8 && c->per_channel)
        return ac_lower_refuse(L, "weights '%s' are u8 with a scale for each channel: supported is one scale", w->name);
    if (kind == AC_MACS_HYBRID) {
        c->scale = (double)ac_quant_scale(w);
        return AC_OK;
    }
    if (act == AC_ACT_TANH)
        return ac_lower_refuse(
            L, "activation tanh on quantised values: only none, relu, relu6 and relu_n1_to_1 are supported");
    c->zx = kind == AC_MACS_I16 ? 0 : ac_quant_zero(x);
    /* Only uint8 and batch_matmul weights may be asymmetric; the reference uses 0 for all others. */
    if (kind == AC_MACS_U8 || (rounding != AC_ROUND_FIXED && !c->per_channel))
        c->zw = ac_quant_zero(w);
    c->scale = ac_channel_scale(c, 0);
    c->q = ac_quantize_multiplier(c->scale);
    ac_quantized_act_range(act, c->out, &c->lo, &c->hi);
    if (kind == AC_MACS_I16 && ac_channel_narrow(c))
        c->acc = AC_I32;
    return AC_OK;
}

/* The per-channel constants: multipliers and shifts, or scales (f64 of the effective ones, f32 of the weights). */
static void scale_tables(ac_channel *c, int64_t entries)
{
    ac_lower *L = c->L;
    if (c->kind == AC_MACS_HYBRID) {
        float *s = AC_NEW_N(L->region, float, entries);
        for (int64_t i = 0; i < c->n; i++)
            s[i] = c->w->quant->scale[i];
        c->scale_buf = ac_lo_table(L, "scale", AC_F32, entries, s);
    } else if (c->rounding == AC_ROUND_F64) {
        double *s = AC_NEW_N(L->region, double, entries);
        for (int64_t i = 0; i < c->n; i++)
            s[i] = ac_channel_scale(c, i);
        c->scale_buf = ac_lo_table(L, "scale", AC_F64, entries, s);
    } else {
        int32_t *m = AC_NEW_N(L->region, int32_t, entries), *shift = AC_NEW_N(L->region, int32_t, entries);
        c->right = c->far = true;
        for (int64_t i = 0; i < c->n; i++) {
            const ac_multiplier q = ac_quantize_multiplier(ac_channel_scale(c, i));
            m[i] = q.m;
            shift[i] = q.shift;
            c->right &= q.shift < 0 && q.m > 0;
            c->far &= q.shift < -1;
        }
        for (int64_t i = c->n; i < entries; i++) /* unused lanes need a defined shift as well */
            shift[i] = shift[c->n - 1];
        c->m_buf = ac_lo_table(L, "m", AC_I32, entries, m);
        c->shift_buf = ac_lo_table(L, "shift", AC_I32, entries, shift);
    }
}

/* A constant of `entries` biases (in the bias's type), zero beyond n, with -fold * sum(w[c] - zw) added. HYBRID with
 * rows: only sum(w), as sum_buf. */
static void pack_bias(ac_channel *c, int64_t entries, const ac_rows *rows, int32_t fold)
{
    ac_lower P;
    const bool sums = c->kind == AC_MACS_HYBRID && rows; /* nothing but sums */
    const ac_dtype d = c->bias && !sums ? c->bias->dtype : c->acc;
    const int32_t to = ac_lo_pack_open(c->L, &P, sums ? "sum" : "bias", d, entries);
    ac_lb *b = &P.b;
    const int32_t from = c->bias && !sums ? ac_lo_operand(&P, c->bias) : -1, w = rows ? ac_lo_operand(&P, c->w) : -1;
    ac_x oc = ac_lb_for_n(b, "oc", c->n);
    ac_x v = from >= 0 ? ac_lb_load(b, from, oc, 1) : ac_lb_int(b, d, 0);
    if (rows) {
        ac_x sum = ac_lb_var(b, "sum", ac_lb_i32(b, 0));
        ac_x k = ac_lb_for_n(b, "k", rows->depth);
        ac_x at =
            ac_lb_add(b, ac_lb_mul(b, oc, ac_lb_i32(b, rows->c_step)), ac_lb_mul(b, k, ac_lb_i32(b, rows->k_step)));
        ac_x e = ac_lb_sub(b, ac_lb_cast(b, ac_lb_load(b, w, at, 1), AC_I32), ac_lb_i32(b, c->zw));
        ac_lb_set(b, sum, ac_lb_add(b, ac_lb_get(b, sum), e));
        ac_lb_end(b);
        v = ac_lb_sub_wrap(b, v, ac_lb_mul_wrap(b, ac_lb_get(b, sum), ac_lb_i32(b, fold)));
    }
    ac_lb_store(b, to, oc, v);
    ac_lb_end(b);
    if (entries > c->n) {
        ac_x i = ac_lb_for(b, "i", ac_lb_i32(b, c->n), ac_lb_i32(b, entries), 1, AC_MARK_SERIAL);
        ac_lb_store(b, to, i, d == AC_F32 ? ac_lb_f32(b, 0) : ac_lb_int(b, d, 0));
        ac_lb_end(b);
    }
    *(sums ? &c->sum_buf : &c->bias_buf) = ac_lo_pack_close(c->L, &P);
}

void ac_channel_tables(ac_channel *c, int64_t entries, const ac_rows *rows, int32_t fold)
{
    if (rows && !fold)
        rows = NULL;
    const bool line = ac_channel_line_find(c, rows ? fold : 0);
    if (!line && !ac_channel_float_tables(c, entries) && !ac_channel_real_tables(c, entries) && c->per_channel)
        scale_tables(c, entries);
    if (rows && c->kind == AC_MACS_HYBRID) {
        c->fold = fold;
        pack_bias(c, entries, rows, -1);
        rows = NULL;
    }
    c->folded = rows != NULL || c->folded;
    if (line && ac_channel_line_tables(c, entries, rows, fold))
        return;
    if (!rows && !c->bias)
        return;
    const bool constant = !c->bias || ac_tensor_is_const(c->bias);
    if (constant && (rows || entries != c->n))
        pack_bias(c, entries, rows, fold);
    else
        c->bias_buf = ac_lo_operand(c->L, c->bias);
}

ac_x ac_channel_x(const ac_channel *c, int32_t buf, ac_x index, int32_t lanes)
{
    ac_lb *b = &c->L->b;
    ac_x x = ac_lb_load(b, buf, index, lanes);
    if (c->kind == AC_MACS_F32 || c->kind == AC_MACS_PLAIN)
        return x;
    x = ac_lb_cast(b, x, AC_I32);
    if (c->kind == AC_MACS_HYBRID)
        return c->zero_x ? ac_lb_sub(b, x, c->zero_x) : x;
    return c->folded || !c->zx ? x : ac_lb_sub(b, x, ac_lb_like_int(b, x, c->zx));
}

ac_x ac_channel_w(const ac_channel *c, int32_t buf, ac_x index, int32_t lanes)
{
    ac_lb *b = &c->L->b;
    ac_x w = ac_lb_load(b, buf, index, lanes);
    if (c->kind == AC_MACS_F32 || c->kind == AC_MACS_PLAIN)
        return w;
    w = ac_lb_cast(b, w, AC_I32);
    return c->zw ? ac_lb_sub(b, w, ac_lb_like_int(b, w, c->zw)) : w;
}

ac_x ac_channel_mac(const ac_channel *c, ac_x acc, ac_x x, ac_x w)
{
    ac_lb *b = &c->L->b;
    if (c->kind == AC_MACS_F32)
        return ac_lo_madd(c->L, x, w, acc);
    if (c->kind == AC_MACS_PLAIN)
        return ac_lb_add_wrap(b, acc, ac_lb_mul_wrap(b, x, w));
    ac_x p = ac_lb_mul(b, x, w);
    if (c->kind == AC_MACS_SUM)
        return ac_lb_add_wrap(b, acc, p);
    return ac_lb_add(b, acc, c->acc == AC_I64 ? ac_lb_cast(b, p, AC_I64) : p);
}

ac_x ac_channel_start(const ac_channel *c, ac_x oc, int32_t lanes)
{
    ac_lb *b = &c->L->b;
    if (c->bias_first && c->bias_buf >= 0)
        return ac_lb_load(b, c->bias_buf, oc, lanes);
    if (ac_dtype_is_float(c->acc))
        return ac_lb_splat(b, ac_lb_num(b, c->acc, 0), lanes);
    if (c->sum_buf >= 0) {
        const ac_x off = c->zero_x ? ac_lb_add(b, c->zero_x, ac_lb_i32(b, c->fold)) : ac_lb_i32(b, c->fold);
        return ac_lb_mul(b, ac_lb_load(b, c->sum_buf, oc, lanes), ac_lb_sub(b, ac_lb_i32(b, 0), off));
    }
    if (c->kind == AC_MACS_HYBRID || c->bias_buf < 0)
        return ac_lb_splat(b, ac_lb_int(b, c->acc, 0), lanes);
    return ac_lb_cast(b, ac_lb_load(b, c->bias_buf, oc, lanes), c->acc);
}

ac_x ac_round_away(ac_lb *b, ac_x v)
{
    ac_x t = ac_lb_trunc(b, v);
    ac_x rest = ac_lb_sub(b, v, t); /* exact, so that 0.49999999 does not become 1 */
    ac_x up = ac_lb_select(b, ac_lb_ge(b, rest, ac_lb_like(b, v, 0.5)), ac_lb_like(b, v, 1), ac_lb_like(b, v, 0));
    ac_x down = ac_lb_select(b, ac_lb_le(b, rest, ac_lb_like(b, v, -0.5)), ac_lb_like(b, v, 1), ac_lb_like(b, v, 0));
    return ac_lb_sub(b, ac_lb_add(b, t, up), down);
}

static ac_x done_float(const ac_channel *c, ac_x acc, ac_x oc)
{
    ac_lb *b = &c->L->b;
    const int32_t lanes = ac_lb_lane_count(b, acc);
    if (c->kind == AC_MACS_HYBRID) {
        ac_x s = c->scale_buf >= 0 ? ac_lb_load(b, c->scale_buf, oc, lanes) : ac_lb_f32(b, c->scale);
        acc = ac_lb_mul(b, ac_lb_cast(b, acc, AC_F32), ac_lb_mul(b, s, c->scale_x));
    }
    if (c->bias_buf >= 0 && !c->bias_first)
        acc = ac_lb_add(b, acc, ac_lb_load(b, c->bias_buf, oc, lanes));
    return ac_lo_act(c->L, acc, c->act);
}

/* Values below the zero point are clamped to it. */
static bool from_zero(const ac_channel *c)
{
    return c->lo >= ac_quant_zero(c->out);
}

/* True if requant_right is to be used. For one lane with one multiplier, the immediates of ac_lo_requant are faster. */
static bool to_right(const ac_channel *c, int32_t lanes)
{
    const bool narrow = c->kind != AC_MACS_I16 || (c->bias && c->bias->dtype == AC_I32);
    return c->rounding != AC_ROUND_F64 && narrow &&
           (c->m_buf >= 0 ? c->right : c->q.m > 0 && c->q.shift < 0 && lanes > 1);
}

/* The same for shifts of -2 and less on GPUs, whose product of two words plus a pair of words is one instruction: the
 * result is the high word, shifted. The pair is 2^(30 + e) + 2^30, for a negative accumulator 2^31 less. */
static ac_x requant_high(const ac_channel *c, ac_x acc, ac_x m, ac_x down)
{
    ac_lb *b = &c->L->b;
    ac_x high = ac_lb_shl(b, ac_lb_i32(b, 1), ac_lb_sub(b, down, ac_lb_i32(b, 2))), low = ac_lb_int(b, AC_U32, 1 << 30);
    if (from_zero(c)) {
        acc = ac_lb_max(b, acc, ac_lb_i32(b, 0));
    } else {
        const ac_x sign = ac_lb_shr(b, acc, ac_lb_i32(b, 31));
        high = ac_lb_add(b, high, sign);
        low = ac_lb_xor(b, low, ac_lb_and(b, ac_lb_cast(b, sign, AC_U32), ac_lb_int(b, AC_U32, INT64_C(1) << 31)));
    }
    const ac_x word = ac_lb_int(b, AC_I64, 32),
               pair = ac_lb_or(b, ac_lb_shl(b, ac_lb_cast(b, high, AC_I64), word), ac_lb_cast(b, low, AC_I64));
    const ac_x p = ac_lb_add(b, ac_lb_mul(b, ac_lb_cast(b, acc, AC_I64), ac_lb_cast(b, m, AC_I64)), pair);
    return ac_lb_shr(b, ac_lb_cast(b, ac_lb_shr(b, p, word), AC_I32), ac_lb_sub(b, down, ac_lb_i32(b, 1)));
}

/* ac_lo_requant_v for multipliers > 0 and shifts < 0 (quant.c has the formula). If the clamp starts at the zero point,
 * negative accumulators count as 0: they need no rounding term, and an unsigned shift does. */
static ac_x requant_right(const ac_channel *c, ac_x acc, ac_x m, ac_x shift)
{
    ac_lb *b = &c->L->b;
    const ac_x down = ac_lb_sub(b, ac_lb_like_int(b, shift, 0), shift);
    if (ac_lo_requant_pairs(c->L, ac_lb_lane_count(b, acc)))
        return ac_lo_requant_right(c->L, acc, m, down, from_zero(c));
    if (c->L->target->isa == AC_ISA_CUDA && c->m_buf >= 0 && c->far && ac_lb_lane_count(b, acc) == 1)
        return requant_high(c, acc, m, down);
    const ac_x e = ac_lb_cast(b, down, AC_I64), half = ac_lb_like_int(b, e, 1 << 30);
    const ac_x by = ac_lb_add(b, e, ac_lb_like_int(b, e, 31)), round = ac_lb_add(b, ac_lb_shl(b, half, e), half);
    if (!from_zero(c)) {
        ac_requant q = {ac_lb_like_int(b, acc, 1), ac_lb_cast(b, m, AC_I64), round,
                        ac_lb_like_int(b, e, (int64_t)1 << 31), by};
        return ac_lo_requant_apply(c->L, acc, &q);
    }
    acc = ac_lb_max(b, acc, ac_lb_like_int(b, acc, 0));
    ac_x p = ac_lb_add(b, ac_lb_mul(b, ac_lb_cast(b, acc, AC_I64), ac_lb_cast(b, m, AC_I64)), round);
    return ac_lb_cast(b, ac_lb_shr(b, ac_lb_bitcast(b, p, AC_U64), ac_lb_bitcast(b, by, AC_U64)), AC_I32);
}

static ac_x requantised(const ac_channel *c, ac_x acc, ac_x oc)
{
    ac_lower *L = c->L;
    ac_lb *b = &L->b;
    const int32_t lanes = ac_lb_lane_count(b, acc);
    if (c->real)
        return ac_channel_real_apply(c, acc, oc);
    if (c->rounding == AC_ROUND_F64) {
        ac_x s = c->scale_buf >= 0 ? ac_lb_load(b, c->scale_buf, oc, lanes) : ac_lb_num(b, AC_F64, c->scale);
        ac_x r = ac_round_away(b, ac_lb_mul(b, ac_lb_cast(b, acc, AC_F64), s));
        return ac_lb_cast(b, r, AC_I32);
    }
    ac_x m = 0, shift = 0;
    if (c->m_buf >= 0) {
        m = c->given_m ? c->given_m : ac_lb_load(b, c->m_buf, oc, lanes);
        shift = c->given_m ? c->given_shift : ac_lb_load(b, c->shift_buf, oc, lanes);
    }
    /* int16x8 with an i32 bias: the reference accumulates, and requantises, in 32 bits; else in 64. */
    if (c->kind == AC_MACS_I16)
        acc = ac_lb_cast(b, acc, c->bias && c->bias->dtype == AC_I32 ? AC_I32 : AC_I64);
    if (ac_lb_dtype(b, acc) == AC_I64)
        return m ? ac_lo_requant64_v(L, acc, m, shift) : ac_lo_requant64(L, acc, c->q);
    if (to_right(c, lanes))
        return requant_right(c, acc, m ? m : ac_lb_like_int(b, acc, c->q.m),
                             m ? shift : ac_lb_like_int(b, acc, c->q.shift));
    return m ? ac_lo_requant_v(L, acc, m, shift) : ac_lo_requant(L, acc, c->q);
}

/* With the zero point, not yet clamped. */
static ac_x in_floats(const ac_channel *c, ac_x acc, ac_x oc)
{
    ac_lb *b = &c->L->b;
    const int32_t lanes = ac_lb_lane_count(b, acc);
    if (c->per_channel)
        return ac_lo_requant_float(c->L, acc, ac_lb_load(b, c->scale_buf, oc, lanes),
                                   ac_lb_load(b, c->c_buf, oc, lanes),
                                   c->below_buf >= 0 ? ac_lb_load(b, c->below_buf, oc, lanes) : 0);
    return ac_lo_requant_float_of(c->L, acc, c->flt);
}

/* Clamps v and converts it to the type of the result. below: v may be less than lo. */
static ac_x stored(const ac_channel *c, ac_x v, bool below)
{
    ac_lb *b = &c->L->b;
    const ac_dtype d = c->out->dtype;
    if (ac_lb_lane_count(b, v) > 1)
        return ac_lo_requant_clamp(c->L, v, below ? c->lo : (int32_t)ac_dtype_min(d), c->hi, d);
    if (below)
        v = ac_lb_max(b, v, ac_lb_like_int(b, v, c->lo));
    return ac_lb_cast(b, ac_lb_min(b, v, ac_lb_like_int(b, v, c->hi)), d);
}

bool ac_channel_loads(const ac_channel *c)
{
    return c->m_buf >= 0 && c->shift_buf >= 0 && !c->real && !c->flt && c->line.kind == AC_LINE_NONE &&
           c->rounding != AC_ROUND_F64;
}

ac_x ac_channel_done(const ac_channel *c, ac_x acc, ac_x oc)
{
    ac_lb *b = &c->L->b;
    if (c->kind == AC_MACS_F32 || c->kind == AC_MACS_HYBRID)
        return done_float(c, acc, oc);
    if (c->kind == AC_MACS_PLAIN || c->kind == AC_MACS_SUM)
        return acc;
    const bool line = c->line.kind != AC_LINE_NONE;
    const ac_dtype d = c->out->dtype;
    if (line)
        return ac_lo_requant_clamp(c->L, ac_channel_line_apply(c, acc, oc), c->lo, c->hi, d);
    if (c->flt)
        return stored(c, in_floats(c, acc, oc), true);
    ac_x v = requantised(c, acc, oc);
    const int32_t lanes = ac_lb_lane_count(b, v), zero = ac_quant_zero(c->out);
    if (c->kind != AC_MACS_I16) { /* loaded for vectors: steps with other zero points share the code */
        const bool shape = lanes > 1 && zero;
        v = ac_lb_add(b, v, shape ? ac_lb_shape_like(b, v, zero) : ac_lb_like_int(b, v, zero));
    }
    const bool below = !to_right(c, lanes) || c->lo != zero; /* else nothing is below already */
    return stored(c, v, below);
}
