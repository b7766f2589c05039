/* bank.c - lowers the operators of audio front ends from spectrum to channels, in integers: energy, mel filter bank,
 * square root, noise subtraction, gain control, logarithm. Bit for bit as TFLite Micro's kernels (signal/src/). */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/ops/decode/operand_names.h"

#include <math.h>

/* The position of the highest bit of x (u32), counted from 1; 1 for 0. i32. */
static ac_x highest_bit(ac_lb *b, ac_x x)
{
    ac_x bits = ac_lb_i32(b, 1);
    for (int32_t s = 16; s > 0; s /= 2) {
        const ac_x high = ac_lb_ge(b, x, ac_lb_int(b, AC_U32, (int64_t)1 << s));
        bits = ac_lb_add(b, bits, ac_lb_select(b, high, ac_lb_i32(b, s), ac_lb_i32(b, 0)));
        x = ac_lb_select(b, high, ac_lb_shr(b, x, ac_lb_int(b, AC_U32, s)), x);
    }
    return bits;
}

static ac_x u32_of(ac_lb *b, ac_x i32)
{
    return ac_lb_cast(b, i32, AC_U32);
}

static ac_x u64_of(ac_lb *b, ac_x x)
{
    return ac_lb_cast(b, x, AC_U64);
}

/* ------------------------------------------------------------------ signal_energy: pairs (re, im) -> re^2 + im^2
 *
 * [2 N] i16 -> [N] u32; 0 outside of start_index .. end_index - 1 (the reference leaves those as they were) */

int ac_lo_signal_energy(ac_lower *L)
{
    ac_lb *b = &L->b;
    const ac_attrs_signal_energy *a = &L->node->attrs.signal_energy;
    const int32_t x = ac_lo_operand(L, L->node->in[0]), y = ac_lo_result_buf(L);
    const ac_x i = ac_lb_for_n(b, "i", L->node->out[0]->dim[0]);
    const ac_x at = ac_lb_mul(b, i, ac_lb_i32(b, 2));
    const ac_x re = ac_lb_cast(b, ac_lb_load(b, x, at, 1), AC_I32);
    const ac_x im = ac_lb_cast(b, ac_lb_load(b, x, ac_lb_add(b, at, ac_lb_i32(b, 1)), 1), AC_I32);
    const ac_x e = u32_of(b, ac_lb_add_wrap(b, ac_lb_mul(b, re, re), ac_lb_mul(b, im, im)));
    const ac_x in =
        ac_lb_and(b, ac_lb_ge(b, i, ac_lb_i32(b, a->start_index)), ac_lb_lt(b, i, ac_lb_i32(b, a->end_index)));
    ac_lb_store(b, y, i, ac_lb_select(b, in, e, ac_lb_like_int(b, e, 0)));
    ac_lb_end(b);
    return AC_OK;
}

/* ------------------------------------------------------------------ signal_filter_bank: [N] u32 -> [C] u64
 *
 * Channel c: the falling side of band c (unweights) and the rising side of band c + 1 (weights); band i are `width[i]`
 * energies from `start[i]` on, with weights from `weight_start[i]` on. Sums wrap. */

/* acc += sum over a band of weight * energy */
static void add_band(ac_lower *L, ac_x acc, int32_t weights, int32_t x, ac_x first, ac_x weight, ac_x width)
{
    ac_lb *b = &L->b;
    const ac_x j = ac_lb_for(b, "j", ac_lb_i32(b, 0), width, 1, AC_MARK_SERIAL);
    const ac_x w = ac_lb_cast(b, ac_lb_load(b, weights, ac_lb_add(b, weight, j), 1), AC_I64);
    const ac_x e = ac_lb_cast(b, ac_lb_load(b, x, ac_lb_add(b, first, j), 1), AC_I64);
    ac_lb_set(b, acc, ac_lb_add_wrap(b, ac_lb_get(b, acc), ac_lb_mul_wrap(b, w, e)));
    ac_lb_end(b);
}

int ac_lo_signal_filter_bank(ac_lower *L)
{
    ac_lb *b = &L->b;
    const ac_node *n = L->node;
    const int32_t x = ac_lo_operand(L, n->in[AC_BANK_X]), w = ac_lo_operand(L, n->in[AC_BANK_W]),
                  un = ac_lo_operand(L, n->in[AC_BANK_UN]);
    const int32_t y = ac_lo_result_buf(L);
    int32_t list[3];
    for (int32_t i = 0; i < 3; i++) { /* checked when the shape was made */
        static const char *const NAME[] = {"start", "weight_start", "width"};
        ac_ints v;
        AC_TRY(ac_node_ints(L->cx, n, AC_BANK_START + i, (ac_ints){0}, &v));
        int32_t *copy = AC_NEW_N(L->region, int32_t, v.n);
        for (int32_t k = 0; k < v.n; k++)
            copy[k] = (int32_t)v.v[k];
        list[i] = ac_lo_table(L, NAME[i], AC_I32, v.n, copy);
    }
    const ac_x c = ac_lb_for_n(b, "c", n->out[0]->dim[0]), acc = ac_lb_var(b, "acc", ac_lb_int(b, AC_I64, 0));
    for (int32_t side = 0; side < 2; side++) {
        const ac_x band = ac_lb_add(b, c, ac_lb_i32(b, side));
        const ac_x width = ac_lb_load(b, list[2], band, 1), weight = ac_lb_load(b, list[1], band, 1),
                   first = ac_lb_load(b, list[0], band, 1);
        add_band(L, acc, side ? w : un, x, first, weight, width);
    }
    ac_lb_store(b, y, c, u64_of(b, ac_lb_get(b, acc)));
    ac_lb_end(b);
    return AC_OK;
}

/* ------------------------------------------------------------------ signal_square_root: [C] u64 -> [C] u32
 *
 * The root rounded to nearest, shifted right by operand 1 (i32, one number). Roots of numbers below 2^32 stop at
 * 2^16 - 1, as the reference computes them in 32 bits. */

int ac_lo_signal_square_root(ac_lower *L)
{
    ac_lb *b = &L->b;
    const int32_t x = ac_lo_operand(L, L->node->in[0]), bits = ac_lo_operand(L, L->node->in[1]),
                  y = ac_lo_result_buf(L);
    const ac_x shift = ac_lb_clamp(b, ac_lb_load(b, bits, ac_lb_i32(b, 0), 1), ac_lb_i32(b, 0), ac_lb_i32(b, 31));
    const ac_x zero = ac_lb_int(b, AC_U64, 0), one = ac_lb_int(b, AC_U64, 1), two = ac_lb_int(b, AC_U64, 2);
    const ac_x i = ac_lb_for_n(b, "i", L->node->in[0]->dim[0]), v = ac_lb_load(b, x, i, 1);
    const ac_x rest = ac_lb_var(b, "rest", v), root = ac_lb_var(b, "root", zero),
               bit = ac_lb_var(b, "bit", ac_lb_int(b, AC_U64, (int64_t)1 << 62));
    ac_lb_for_n(b, "k", 32); /* a bit of the root in each step, from above */
    const ac_x r = ac_lb_get(b, root), now = ac_lb_get(b, bit), sum = ac_lb_add(b, r, now), left = ac_lb_get(b, rest);
    const ac_x fits = ac_lb_ge(b, left, sum), low = ac_lb_shr(b, r, one);
    ac_lb_set(b, rest, ac_lb_select(b, fits, ac_lb_sub_wrap(b, left, sum), left));
    ac_lb_set(b, root, ac_lb_select(b, fits, ac_lb_add(b, low, now), low));
    ac_lb_set(b, bit, ac_lb_shr(b, now, two));
    ac_lb_end(b);
    const ac_x q = ac_lb_get(b, root), small = ac_lb_lt(b, v, ac_lb_int(b, AC_U64, (int64_t)1 << 32));
    const ac_x most = ac_lb_select(b, small, ac_lb_int(b, AC_U64, 0xffff), ac_lb_int(b, AC_U64, 0xffffffff));
    const ac_x up = ac_lb_and(b, ac_lb_gt(b, ac_lb_get(b, rest), q), ac_lb_ne(b, q, most));
    const ac_x whole = ac_lb_add(b, q, ac_lb_select(b, up, one, zero));
    ac_lb_store(b, y, i, ac_lb_shr(b, u32_of(b, whole), u32_of(b, shift)));
    ac_lb_end(b);
    return AC_OK;
}

/* ------------------------------------------------------------------ signal_spectral_subtraction: [C] u32 -> [C], [C]
 * u32
 *
 * A smoothing filter per channel estimates the noise. The estimate is stored in the state [C] u32 (the second result is
 * a copy of it) and subtracted; the fraction min_signal_remaining of the signal always remains. Coefficients have
 * spectral_subtraction_bits bits after the point; odd channels have their own. */

int ac_lo_signal_subtraction(ac_lower *L)
{
    ac_lb *b = &L->b;
    const ac_attrs_signal_subtraction *a = &L->node->attrs.signal_subtraction;
    const int32_t x = ac_lo_operand(L, L->node->in[0]), state = ac_lo_state(L, L->node->in[1]);
    const int32_t y = ac_lo_output_buf(L, 0), noise = ac_lo_output_buf(L, 1);
    const ac_x bits = ac_lb_int(b, AC_U64, a->spectral_subtraction_bits), up = ac_lb_int(b, AC_U32, a->smoothing_bits);
    const ac_x i = ac_lb_for_n(b, "i", L->node->in[0]->dim[0]);
    const ac_x odd = ac_lb_ne(b, ac_lb_and(b, i, ac_lb_i32(b, 1)), ac_lb_i32(b, 0));
    const ac_x by =
        u64_of(b, u32_of(b, ac_lb_select(b, odd, ac_lb_i32(b, a->alternate_smoothing), ac_lb_i32(b, a->smoothing))));
    const ac_x keep = u64_of(b, u32_of(b, ac_lb_select(b, odd, ac_lb_i32(b, a->alternate_one_minus_smoothing),
                                                       ac_lb_i32(b, a->one_minus_smoothing))));
    const ac_x v = ac_lb_load(b, x, i, 1), scaled = ac_lb_cast(b, ac_lb_shl(b, u64_of(b, v), u64_of(b, up)), AC_U32);
    const ac_x sum = ac_lb_add_wrap(b, ac_lb_mul_wrap(b, u64_of(b, scaled), by),
                                    ac_lb_mul_wrap(b, u64_of(b, ac_lb_load(b, state, i, 1)), keep));
    const ac_x estimate = ac_lb_cast(b, ac_lb_shr(b, sum, bits), AC_U32), taken = ac_lb_min(b, estimate, scaled);
    const ac_x kept = a->clamping ? taken : estimate;
    const ac_x rest = u64_of(b, u32_of(b, ac_lb_i32(b, a->min_signal_remaining)));
    const ac_x floor = ac_lb_cast(b, ac_lb_shr(b, ac_lb_mul_wrap(b, u64_of(b, v), rest), bits), AC_U32);
    ac_lb_store(b, state, i, kept);
    ac_lb_store(b, y, i, ac_lb_max(b, ac_lb_shr(b, ac_lb_sub_wrap(b, scaled, taken), up), floor));
    ac_lb_store(b, noise, i, kept);
    ac_lb_end(b);
    return AC_OK;
}

/* ------------------------------------------------------------------ signal_pcan: gain control of each channel
 *
 *     [C] u32, noise [C] u32, table of the gain [125] i16 -> [C] u32
 *
 * The gain is a curve of the noise: values for 0, 1, 2, then for each power of two a parabola of three coefficients.
 * snr = signal * gain / 2^snr_shift has 12 bits after the point; the result, x^2 / 4 below 2 and x - 1 from there, 6.
 */

/* The curve at x (u32), i32 that fits 16 bits. */
static ac_x gain_of(ac_lower *L, int32_t table, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x few = ac_lb_le(b, x, ac_lb_int(b, AC_U32, 2)), bit = highest_bit(b, x), eleven = ac_lb_i32(b, 11);
    const ac_x left = u32_of(b, ac_lb_max(b, ac_lb_sub(b, eleven, bit), ac_lb_i32(b, 0)));
    const ac_x right = u32_of(b, ac_lb_max(b, ac_lb_sub(b, bit, eleven), ac_lb_i32(b, 0)));
    const ac_x moved =
        ac_lb_and(b, ac_lb_shr(b, ac_lb_cast(b, ac_lb_shl(b, u64_of(b, x), u64_of(b, left)), AC_U32), right),
                  ac_lb_int(b, AC_U32, 0x3ff));
    const ac_x frac = ac_lb_cast(b, moved, AC_I32);
    const ac_x low = ac_lb_cast(b, ac_lb_min(b, x, ac_lb_int(b, AC_U32, 2)), AC_I32);
    const ac_x at = ac_lb_select(
        b, few, low, ac_lb_sub(b, ac_lb_mul(b, ac_lb_max(b, bit, ac_lb_i32(b, 2)), ac_lb_i32(b, 4)), ac_lb_i32(b, 6)));
    const ac_x v0 = ac_lb_cast(b, ac_lb_load(b, table, at, 1), AC_I32);
    const ac_x v1 = ac_lb_cast(b, ac_lb_load(b, table, ac_lb_add(b, at, ac_lb_i32(b, 1)), 1), AC_I32);
    const ac_x v2 = ac_lb_cast(b, ac_lb_load(b, table, ac_lb_add(b, at, ac_lb_i32(b, 2)), 1), AC_I32);
    ac_x r = ac_lb_shr(b, ac_lb_mul(b, v2, frac), ac_lb_i32(b, 5));
    r = ac_lb_mul_wrap(b, ac_lb_add_wrap(b, r, ac_lb_mul(b, v1, ac_lb_i32(b, 32))), frac);
    r = ac_lb_shr(b, ac_lb_add_wrap(b, r, ac_lb_i32(b, 1 << 14)), ac_lb_i32(b, 15));
    r = ac_lb_cast(b, ac_lb_cast(b, ac_lb_add_wrap(b, r, v0), AC_I16), AC_I32);
    return ac_lb_select(b, few, v0, r);
}

int ac_lo_signal_pcan(ac_lower *L)
{
    ac_lb *b = &L->b;
    const ac_node *n = L->node;
    const int32_t x = ac_lo_operand(L, n->in[0]), noise = ac_lo_operand(L, n->in[1]),
                  table = ac_lo_operand(L, n->in[2]);
    const int32_t y = ac_lo_result_buf(L);
    const ac_x i = ac_lb_for_n(b, "i", n->in[0]->dim[0]);
    const ac_x gain = u64_of(b, u32_of(b, gain_of(L, table, ac_lb_load(b, noise, i, 1))));
    const ac_x wide = ac_lb_mul_wrap(b, u64_of(b, ac_lb_load(b, x, i, 1)), gain);
    const ac_x snr = ac_lb_cast(b, ac_lb_shr(b, wide, ac_lb_int(b, AC_U64, n->attrs.signal_pcan.snr_shift)), AC_U32);
    const ac_x low = ac_lb_shr(b, ac_lb_mul_wrap(b, snr, snr), ac_lb_int(b, AC_U32, 2 + 2 * 12 - 6));
    const ac_x high = ac_lb_sub_wrap(b, ac_lb_shr(b, snr, ac_lb_int(b, AC_U32, 12 - 6)), ac_lb_int(b, AC_U32, 1 << 6));
    ac_lb_store(b, y, i, ac_lb_select(b, ac_lb_lt(b, snr, ac_lb_int(b, AC_U32, 2 << 12)), low, high));
    ac_lb_end(b);
    return AC_OK;
}

/* ------------------------------------------------------------------ signal_log: [C] u32 -> [C] i16
 *
 * output_scale * ln(x * 2^input_correction_bits), at most 32767, 0 for 0 and 1: the logarithm of base 2 from the
 * highest bit and a table of 128 steps over what follows it, 16 bits after the point. */

enum { LOG_STEPS = 128, LOG_ONE = 65536 };

/* log2(1 + t) - t at t = k / 128, in 2^-16. */
static int32_t log_table(ac_lower *L)
{
    int32_t v[LOG_STEPS + 1];
    for (int32_t k = 0; k <= LOG_STEPS; k++) {
        const double t = (double)k / LOG_STEPS;
        v[k] = (int32_t)floor(LOG_ONE * (log2(1 + t) - t) + .5);
    }
    return ac_lo_table(L, "log", AC_I32, LOG_STEPS + 1, v);
}

/* ln(x) in 2^-16, x (u32) above 1; u32. */
static ac_x logarithm(ac_lower *L, int32_t table, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x whole = ac_lb_sub(b, highest_bit(b, x), ac_lb_i32(b, 1)), sixteen = ac_lb_i32(b, 16),
               zero = ac_lb_i32(b, 0);
    const ac_x below =
        ac_lb_sub_wrap(b, x, ac_lb_cast(b, ac_lb_shl(b, ac_lb_int(b, AC_U64, 1), u64_of(b, whole)), AC_U32));
    const ac_x left = u32_of(b, ac_lb_max(b, ac_lb_sub(b, sixteen, whole), zero));
    const ac_x right = u32_of(b, ac_lb_max(b, ac_lb_sub(b, whole, sixteen), zero));
    const ac_x moved = ac_lb_cast(b, ac_lb_shl(b, u64_of(b, below), u64_of(b, left)), AC_U32);
    const ac_x frac =
        ac_lb_cast(b, ac_lb_and(b, ac_lb_shr(b, moved, right), ac_lb_int(b, AC_U32, LOG_ONE - 1)), AC_I32);
    const ac_x step = ac_lb_shr(b, frac, ac_lb_i32(b, 9)), c0 = ac_lb_load(b, table, step, 1);
    const ac_x c1 = ac_lb_load(b, table, ac_lb_add(b, step, ac_lb_i32(b, 1)), 1),
               in = ac_lb_and(b, frac, ac_lb_i32(b, 511));
    const ac_x bent = ac_lb_shr(b, ac_lb_mul(b, ac_lb_sub(b, c1, c0), in), sixteen);
    const ac_x base2 =
        ac_lb_add(b, ac_lb_mul(b, whole, ac_lb_i32(b, LOG_ONE)), ac_lb_add(b, ac_lb_add(b, frac, c0), bent));
    const ac_x wide = ac_lb_mul(b, u64_of(b, base2), ac_lb_int(b, AC_U64, 45426)); /* ln 2 */
    return ac_lb_cast(b, ac_lb_shr(b, ac_lb_add(b, wide, ac_lb_int(b, AC_U64, LOG_ONE / 2)), ac_lb_int(b, AC_U64, 16)),
                      AC_U32);
}

int ac_lo_signal_log(ac_lower *L)
{
    ac_lb *b = &L->b;
    const ac_attrs_signal_log *a = &L->node->attrs.signal_log;
    const int32_t x = ac_lo_operand(L, L->node->in[0]), y = ac_lo_result_buf(L), table = log_table(L);
    const ac_x i = ac_lb_for_n(b, "i", L->node->in[0]->dim[0]);
    const ac_x v = ac_lb_cast(
        b, ac_lb_shl(b, u64_of(b, ac_lb_load(b, x, i, 1)), ac_lb_int(b, AC_U64, a->input_correction_bits)), AC_U32);
    const ac_x one = ac_lb_int(b, AC_U32, 1), half = ac_lb_int(b, AC_U32, LOG_ONE / 2);
    const ac_x scale = u32_of(b, ac_lb_i32(b, a->output_scale));
    const ac_x scaled = ac_lb_mul_wrap(b, scale, logarithm(L, table, ac_lb_max(b, v, one)));
    const ac_x r = ac_lb_shr(b, ac_lb_add_wrap(b, scaled, half), ac_lb_int(b, AC_U32, 16));
    const ac_x cut =
        ac_lb_select(b, ac_lb_gt(b, v, one), ac_lb_min(b, r, ac_lb_int(b, AC_U32, 32767)), ac_lb_int(b, AC_U32, 0));
    ac_lb_store(b, y, i, ac_lb_cast(b, cut, AC_I16));
    ac_lb_end(b);
    return AC_OK;
}
