/* arithmetic.h - a lowering, and arithmetic on its values: requantisation, activations, float functions. Buffers and
 * results are in lower.h.
 *
 * Integer semantics are TFLite's reference kernels (fixed-point multiply with double rounding; docs/numerics.md). */
#ifndef AC_IR_LOWER_ARITHMETIC_H
#define AC_IR_LOWER_ARITHMETIC_H
#include "ir/lower/lowered.h"
#include "ir/lower/target.h"

struct ac_lower;
/* Appends the loops of L->node to L->b. AC_FAIL: a diagnostic, or ac_lower_refuse. */
typedef int ac_lower_fn(struct ac_lower *L);
/* arg[i]: the loaded value of input i (its storage dtype), any lane count, all the same. Returns the output's storage
 * value. On an unsupported type: reports E0108 through ac_lower_refuse and returns 0. */
typedef ac_x ac_map_fn(struct ac_lower *L, const ac_node *n, const ac_x *arg);
/* The column `loops` of a row of ops.def. Only ir/lower/node reads the rows, so that operator families do not depend on
 * each other. */
typedef struct ac_loops_row {
    ac_lower_fn *lower;
    ac_map_fn *map; /* NULL: not element-wise */
} ac_loops_row;

typedef struct ac_lower {
    ac_ctx *cx;
    ac_region *region; /* where loops and constants live */
    const ac_target *target;
    const ac_node *node;
    const ac_loops_row *rows; /* by operator */
    int32_t variant;          /* 0: the default schedule; AC_VARIANT_..., one or several */
    bool exact;               /* keep float order as written, each operation rounded */
    ac_schedule hint;
    ac_lb b;
    ac_lowered *out;
    int32_t result_buf;       /* -1 until ac_lo_result_buf */
    struct ac_proven *proven; /* forms found so far for this node and its followers (quantised_arithmetic.c) */
    bool refused;             /* ac_lower_refuse was called: ac_lower_node fails whatever the lowering returns */
} ac_lower;

/* Reports E0108: "'conv1' (conv_2d): ..." with the supported types; returns AC_FAIL. */
int ac_lower_refuse(ac_lower *L, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* v * by; i32. */
static inline ac_x ac_lo_scaled(ac_lb *lb, ac_x v, int64_t by)
{
    return ac_lb_mul(lb, v, ac_lb_i32(lb, by));
}
/* x * y + acc: fma if the target has it and rounding may change, else mul, then add. */
ac_x ac_lo_madd(ac_lower *L, ac_x x, ac_x y, ac_x acc);

/* Quantisation (quant.c). */
typedef struct ac_multiplier {
    int32_t m;
    int32_t shift;
} ac_multiplier; /* x * m * 2^(shift-31), as TFLite's QuantizeMultiplier */
ac_multiplier ac_quantize_multiplier(double real);
/* Clamp bounds in stored units; real may be infinite. */
int32_t ac_quantized_bound(double real, const ac_tensor *out);
void ac_quantized_act_range(ac_act act, const ac_tensor *out, int32_t *lo, int32_t *hi);
bool ac_float_act_range(ac_act act, double *lo, double *hi); /* false: no clamp; infinite bounds where open */
/* MultiplyByQuantizedMultiplier, double rounding. acc: i32 any lanes -> i32. multiplier and shift the same for all,
 * known now. */
ac_x ac_lo_requant(ac_lower *L, ac_x acc, ac_multiplier q);
/* The same with m and shift as values (i32, the lanes of acc): per-channel. */
ac_x ac_lo_requant_v(ac_lower *L, ac_x acc, ac_x m, ac_x shift);
/* ac_lo_requant_v in two halves: the values that depend only on multiplier and shift (to be computed outside of the
 * loops), and the rest. */
typedef struct ac_requant {
    ac_x left, m, round, sign, shift;
} ac_requant;
ac_requant ac_lo_requant_prepare(ac_lower *L, ac_x m, ac_x shift);
ac_x ac_lo_requant_apply(ac_lower *L, ac_x acc, const ac_requant *q);
/* The same for vectors, multipliers m > 0 and shifts of e places to the right (requant.c): m, e are i32 values of the
 * lanes of acc; e is 1..31, or the constant 0. positive: negative accumulators count as 0. Requires
 * ac_lo_requant_pairs. */
ac_x ac_lo_requant_right(ac_lower *L, ac_x acc, ac_x m, ac_x e, bool positive);
bool ac_lo_requant_pairs(const ac_lower *L, int32_t lanes);
/* The int64 form of int16x8 kernels (acc i64 -> i32). */
ac_x ac_lo_requant64(ac_lower *L, ac_x acc, ac_multiplier q);
ac_x ac_lo_requant64_v(ac_lower *L, ac_x acc, ac_x m, ac_x shift);
/* Applies an activation to a float value. */
ac_x ac_lo_act(ac_lower *L, ac_x v, ac_act act);

/* Float functions from primitive operations (math*.c); docs/numerics.md has their bounds. x: f32 or f64, any lanes. */
ac_x ac_lo_exp(ac_lower *L, ac_x x);
ac_x ac_lo_exp_falling(ac_lower *L, ac_x x); /* the same bits for x <= 0 and NaN, with fewer operations */
ac_x ac_lo_expm1(ac_lower *L, ac_x x);
ac_x ac_lo_log(ac_lower *L, ac_x x);
ac_x ac_lo_tanh(ac_lower *L, ac_x x);
ac_x ac_lo_sigmoid(ac_lower *L, ac_x x);
ac_x ac_lo_erf(ac_lower *L, ac_x x);
ac_x ac_lo_sin(ac_lower *L, ac_x x);
ac_x ac_lo_cos(ac_lower *L, ac_x x);
ac_x ac_lo_tan(ac_lower *L, ac_x x);
ac_x ac_lo_asin(ac_lower *L, ac_x x);
ac_x ac_lo_acos(ac_lower *L, ac_x x);
ac_x ac_lo_atan(ac_lower *L, ac_x x);
ac_x ac_lo_log1p(ac_lower *L, ac_x x);
ac_x ac_lo_softplus(ac_lower *L, ac_x x);
ac_x ac_lo_asinh(ac_lower *L, ac_x x);
ac_x ac_lo_acosh(ac_lower *L, ac_x x);
ac_x ac_lo_atanh(ac_lower *L, ac_x x);
ac_x ac_lo_sinh(ac_lower *L, ac_x x);
ac_x ac_lo_cosh(ac_lower *L, ac_x x);
ac_x ac_lo_mish(ac_lower *L, ac_x x);
ac_x ac_lo_swish(ac_lower *L, ac_x x, double alpha); /* x sigmoid(alpha x) */
ac_x ac_lo_gelu(ac_lower *L, ac_x x);
ac_x ac_lo_gelu_tanh(ac_lower *L, ac_x x);
ac_x ac_lo_erfc(ac_lower *L, ac_x x);
ac_x ac_lo_pow(ac_lower *L, ac_x x, ac_x y);
ac_x ac_lo_fmod(ac_lower *L, ac_x x, ac_x y); /* of C, exact */

#endif
