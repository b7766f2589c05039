/* channel.h - from the accumulator of an output channel to the stored value: the arithmetic shared by conv_2d,
 * depthwise_conv_2d, transpose_conv and fully_connected, in each of their number systems.
 *
 *     kind    x    w    bias      acc  stored value
 *     F32     f32  f32  f32       f32  act(acc + bias)
 *     I8      i8   i8   i32       i32  clamp(requant(acc) + zero_y); scales of w for each channel, or one
 *     U8      u8   u8   i32       i32  the same; one scale, and w has a zero point too
 *     I16     i16  i8   i64, i32  i64  clamp(requant64(acc)); with an i32 bias requant(acc)
 *     HYBRID  f32  i8   f32       i32  act(acc * scale_x * scale_w[c] + bias); x is quantised at run time
 *     SUM     i8,u8 i8,i16 i32     i32  acc; no scales; wrapping. The convolution passes x's zero point, batch_matmul
 *                                       those of both (w u8 as well)
 *     PLAIN   f64 or integers, all of one type, no scales: acc of that type, wrapping; batch_matmul only
 *
 * Integer accumulators start from the bias. The reference is TFLite: kernels/internal/reference/{conv.h,
 * depthwiseconv_*.h, fully_connected.h, transpose_conv.h, integer_ops/}: integers bit for bit, floats within the order
 * of summation. fully_connected rounds in double there (round(acc * scale), half away from zero): AC_ROUND_F64.
 * batch_matmul has zero points on both sides and the legacy multiplier (float product of the input scales):
 * AC_ROUND_MATMUL; there w may also be i16.
 *
 *     ac_channel c;
 *     AC_TRY(ac_channel_open(L, &c, x, w, bias, n, axis, act, AC_ROUND_FIXED));
 *     ac_channel_tables(&c, n, NULL, 0);                 entries of every table; more than n: zeros
 *     acc = ac_lb_var(b, "acc", ac_channel_start(&c, oc, 1));
 *     ac_x x = ac_channel_x(&c, buf_x, i, 1), w = ac_channel_w(&c, buf_w, k, 1);     in loops
 *     ac_lb_set(b, acc, ac_channel_mac(&c, ac_lb_get(b, acc), x, w));
 *     ac_lo_result(L, ac_channel_done(&c, ac_lb_get(b, acc), oc), idx, 1);
 *
 * On targets with vectors I8 and U8 channels are requantised in floats (requant_float.h) if that is proven equal. On
 * firmware targets they are requantised by one product (requant_line.h) if that is proven equal; a constant bias is
 * then part of the product's constants, and ac_channel_start returns 0. */
#ifndef AC_IR_LOWER_CHANNEL_H
#define AC_IR_LOWER_CHANNEL_H
#include "ir/lower/requant_float.h"
#include "ir/lower/requant_real.h"

typedef enum ac_macs {
    AC_MACS_F32,
    AC_MACS_I8,
    AC_MACS_U8,
    AC_MACS_I16,
    AC_MACS_HYBRID,
    AC_MACS_SUM,
    AC_MACS_PLAIN
} ac_macs;
typedef enum ac_rounding { AC_ROUND_FIXED, AC_ROUND_F64, AC_ROUND_MATMUL } ac_rounding;

typedef struct ac_channel {
    ac_lower *L;
    ac_macs kind;
    ac_rounding rounding;
    ac_tensor *x, *w, *bias, *out; /* bias may be NULL; out is node->out[0] */
    ac_act act;
    int64_t n;       /* output channels */
    int32_t axis;    /* of w: the channels */
    ac_dtype acc;    /* accumulator */
    int32_t zx, zw;  /* zero points; zx is 0 for F32, I16 and HYBRID */
    ac_x zero_x;     /* HYBRID: the run-time zero point (i32, one lane), 0: symmetric */
    ac_x scale_x;    /* HYBRID: the run-time scale (f32, one lane) */
    bool folded;     /* zx is already in the bias: products are x * (w - zw) */
    bool bias_first; /* F32: accumulators begin with the bias instead of 0, so that the end is cheaper */
    bool per_channel;
    bool right;                          /* every channel's shift is to the right: requantisation needs fewer steps */
    bool far;                            /* ... by 2 and more */
    int32_t bias_buf;                    /* -1: none */
    int32_t m_buf, shift_buf, scale_buf; /* tables of per-channel constants; -1 */
    int32_t sum_buf;                     /* HYBRID with folding: sum(w) of each channel, i32; else -1 */
    int32_t fold;                        /* ... and the value added to every element of x */
    ac_multiplier q;                     /* per tensor */
    double scale;                        /* per tensor: the effective scale (AC_ROUND_F64), or that of w (HYBRID) */
    int32_t lo, hi;                      /* clamp of the stored value */
    ac_line line;                        /* how requantisation is done, if by a line */
    ac_line_of *of;                      /* ... each channel's numbers; per tensor: one */
    bool bias_in_line;                   /* ... in whose c the bias is */
    int32_t words;                       /* ... of a channel in m_buf, neighbours: m; SPLIT: its parts; c or k */
    bool halves;                         /* ... both parts of m are one of them */
    int32_t c_buf, post_buf;             /* tables of numbers wider than a word; -1: none */
    ac_float_of *flt;                    /* in floats (requant_float.h), if proven; per tensor: one */
    int32_t below_buf;                   /* ... tables: scale_buf, c_buf, and this one; -1: below is c */
    ac_real *real;                       /* 16 bits, AC_ROUND_F64: in integers, if proven; per tensor: one */
    int32_t low_buf;                     /* ... the lower parts; -1 */
    ac_x given_m, given_shift;           /* of the present channel, if they were loaded before; else 0 */
    const struct ac_reach *reach;        /* channel_line.c: bounds of each channel's accumulators; NULL: not computed
                                          * yet */
} ac_channel;

/* The weights of one channel in w: element at(c, k) = c * c_step + k * k_step, k < depth. */
typedef struct ac_rows {
    int64_t depth, c_step, k_step;
} ac_rows;

/* Sets types, scales and clamps; refuses combinations that are not in the table above. axis: the channel dimension of
 * w. */
int ac_channel_open(ac_lower *L, ac_channel *c, ac_tensor *x, ac_tensor *w, ac_tensor *bias, int64_t n, int32_t axis,
                    ac_act act, ac_rounding rounding);
/* Creates the tables, `entries` long (>= n). fold: add -fold * sum(w[c]) to the bias (only if every product is
 * computed, or the omitted ones have x == fold). NULL rows: no folding. HYBRID: the zero point is known only at run
 * time, so products are of q + fold, and ac_channel_start subtracts (fold + zero_x) * sum(w[c]). */
void ac_channel_tables(ac_channel *c, int64_t entries, const ac_rows *rows, int32_t fold);

/* As multiplied: f32, or i32 with x - zx. */
ac_x ac_channel_x(const ac_channel *c, int32_t buf, ac_x index, int32_t lanes);
ac_x ac_channel_w(const ac_channel *c, int32_t buf, ac_x index, int32_t lanes);
ac_x ac_channel_mac(const ac_channel *c, ac_x acc, ac_x x, ac_x w);
ac_x ac_channel_start(const ac_channel *c, ac_x oc, int32_t lanes);
ac_x ac_channel_done(const ac_channel *c, ac_x acc, ac_x oc); /* the stored value(s), lanes as acc */
/* True if ac_channel_done loads a multiplier and a shift of each channel, which may be given instead. */
bool ac_channel_loads(const ac_channel *c);

/* channel_line.c, private to channel.c: search for the line; create its tables (true: they include the bias); emit the
 * requantised accumulator with its zero point, not yet clamped. */
bool ac_channel_line_find(ac_channel *c, int32_t fold);
bool ac_channel_line_tables(ac_channel *c, int64_t entries, const ac_rows *rows, int32_t fold);
/* channel_line.c: the function from accumulator to stored value of each channel (per tensor: one for all channels), and
 * biases with -fold * sum(w) added. Weights and biases are constants. NULL: it does not fit 32 bits, or a
 * diagnostic. */
const ac_steps *ac_channel_steps(ac_channel *c);
/* int16x8 on plain firmware targets: true if all sums fit a word. The result is requantised in 64 bits nevertheless. */
bool ac_channel_narrow(ac_channel *c);
const int32_t *ac_channel_biases(ac_channel *c, int32_t fold);
/* True if the bias is known at compile time; NULL counts as known. */
static inline bool ac_channel_known(const ac_tensor *bias)
{
    return !bias || ac_tensor_is_const(bias);
}
/* Effective scale of channel i: input * filter / output in double. */
double ac_channel_scale(const ac_channel *c, int64_t i);
ac_x ac_channel_line_apply(const ac_channel *c, ac_x acc, ac_x oc);
/* ... and c->flt with its tables, if there is one. */
bool ac_channel_float_tables(ac_channel *c, int64_t entries);
/* ... and c->real with its tables, if there is one; the requantised accumulator, not yet clamped. */
bool ac_channel_real_tables(ac_channel *c, int64_t entries);
ac_x ac_channel_real_apply(const ac_channel *c, ac_x acc, ac_x oc);

/* round(v), half away from zero; v: a float type, |v| small enough to be exact. */
ac_x ac_round_away(ac_lb *b, ac_x v);

#endif
