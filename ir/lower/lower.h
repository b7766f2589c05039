/* lower.h - one node becomes loops.
 *
 * Lowering is a pure function of (node, variant, target): loops over flat buffers, constants laid out as the loops want them,
 * scratch. Offsets are not known yet; buffers are bound to tensors, constants or scratch by ac_arg.
 *
 *     int ac_lo_softmax(ac_lower *L)
 *     {
 *         ac_lb *b = &L->b;
 *         const int32_t x = ac_lo_operand(L, L->node->in[0]);
 *         ac_x row = ac_lb_for_n(b, "row", rows);
 *         ...
 *         ac_lo_result(L, value, index, 1);          epilogue and store
 *         ac_lb_end(b);
 *         return AC_OK;
 *     }
 *
 * Element-wise followers (node->fused) are computed by ac_lo_result on the value before it is stored; a structured lowering only
 * has to call ac_lo_result once for every element of node->out[0], each exactly once, and to use at most ac_lo_max_lanes lanes in it.
 *
 * Integer semantics are TFLite's reference kernels (fixed-point multiply with double rounding; docs/numerics.md). */
#ifndef AC_IR_LOWER_LOWER_H
#define AC_IR_LOWER_LOWER_H
#include "ir/graph/graph.h"
#include "ir/loop/loop.h"
#include "ir/lower/target.h"

/* A constant of the generated program: either bytes (data) or a maker: a lowering without run-time operands that computes it,
 * run when constants are printed or evaluated, never by plan or check. */
typedef struct ac_const {
    const char *name; /* C identifier hint: "conv_3_w" */
    ac_dtype dtype;
    int64_t count; /* elements */
    int32_t align;
    const void *data;         /* NULL until made */
    struct ac_lowered *maker; /* parameter 0..n-2: constants, the last: this constant */
    ac_tensor *source; /* data comes straight from this constant tensor (no transformation): its bytes are shared */
} ac_const;

/* The choices that lead from a node to its loops, as data: what the cost models chose, or what they are told. 0: no choice of
 * this node, or (told) left to the cost model. What does not fit node or target is passed over. */
typedef struct ac_schedule {
    int32_t winograd;    /* rows and columns of an output tile of Winograd's convolution, 2 or 4 (winograd.c) */
    int32_t rows, vecs;  /* register tile: rows (pixels) by vectors of channels. Changes no bit of a result */
    double cost;         /* estimated cycles; told: not read */
    const char *refused; /* why winograd was told and is not done; NULL */
    int32_t tensor;      /* told: AC_TENSOR_...; chosen: the ac_dtype that tensor cores of a GPU multiply */
} ac_schedule;
/* Tensor cores: bytes, whose results are the same; no; or floats too, rounded to that type before they are multiplied. */
enum { AC_TENSOR_BYTES, AC_TENSOR_OFF, AC_TENSOR_TF32, AC_TENSOR_BF16, AC_TENSOR_F16 };
enum { AC_WINOGRAD_CHEAPEST = -1, AC_WINOGRAD_NEVER = -2 }; /* told: 2, 4 or none, by the cost model; none, by choice */

typedef enum ac_arg_kind {
    AC_ARG_TENSOR,
    AC_ARG_CONST,
    AC_ARG_SCRATCH,
    AC_ARG_PART
} ac_arg_kind; /* PART: i32[1], see parts */
typedef struct ac_arg {
    ac_arg_kind kind;
    ac_tensor *tensor; /* TENSOR; SCRATCH: whose rows it holds, NULL: none */
    ac_const *konst;   /* CONST */
    ac_bytes bytes;    /* SCRATCH: size; align is the buffer's */
} ac_arg;

typedef struct ac_lowered {
    const ac_node *node; /* NULL for makers of constants */
    ac_loop_fn *fn;
    AC_VEC(ac_arg) arg; /* one for each parameter of fn, same order */
    int64_t macs;       /* multiply-adds of the node */
    ac_bytes scratch;   /* sum of SCRATCH arguments (each rounded up to 16) */
    int32_t parts; /* 0: one call. Else `parts` calls do the step, in any order or at the same time; the PART argument
                                  holds the number of the part */
    int32_t rows;  /* above 0: `rows` calls do the step, one for each row of graph input `fed`, in this order; the PART
                                  argument holds the row's number, and the row stands in the last row_bytes of scratch argument
                                  fed_arg before the call */
    int32_t fed_arg;
    ac_tensor *fed;
    ac_bytes row_bytes;
    ac_tensor
        *overwrite[8]; /* operands the result may be placed over exactly, if they die here (element-wise access) */
    int32_t n_overwrite;
    ac_schedule schedule;
    const char *chain; /* of a group of steps (planner/graph/stripe_group.h): its operators; NULL: one node */
} ac_lowered;

/* Rows of the result (its first dimension above 1) are the outermost loop and columns the next one, so that the node can run a
 * row at a time (ir/loop/access/part.h). Costs some speed; a family that cannot ignores it. */
enum {
    AC_VARIANT_ROWS = 1,
    AC_VARIANT_INPLACE =
        2 /* the result may lie exactly over the input that `overwrite` names, at the price of speed; refused
                              where a family has no such schedule. Depthwise convolutions only so far. */
};

typedef struct ac_lower {
    ac_ctx *cx;
    ac_region *region; /* where loops and constants live */
    const ac_target *target;
    const ac_node *node;
    int32_t variant; /* 0: the default schedule; AC_VARIANT_ROWS or _INPLACE */
    bool exact;      /* keep float order as written */
    ac_schedule told;
    ac_lb b;
    ac_lowered *out;
    int32_t result_buf; /* -1 until ac_lo_result_buf */
    bool refused;       /* ac_lower_refuse was called: ac_lower_node fails whatever the lowering returns */
} ac_lower;

/* node.c: the entry. Calls the row's lowering, sets macs, scratch, overwrite; verifies the loops. NULL: diagnostic. */
ac_lowered *ac_lower_node(ac_ctx *cx, ac_region *region, const ac_node *n, const ac_target *t, int32_t variant,
                          bool exact);
/* The same with choices made: told NULL is ac_lower_node. */
ac_lowered *ac_lower_told(ac_ctx *cx, ac_region *region, const ac_node *n, const ac_target *t, int32_t variant,
                          bool exact, const ac_schedule *told);
/* The loops of a node whose operands are constants, to be run by the evaluator. NULL, without a diagnostic: the lowering refuses;
 * the node stays, and says so when the graph is lowered. */
ac_lowered *ac_lower_constant(ac_ctx *cx, const ac_node *n);
/* parts.c: cuts the step into `parts` calls (ac_lowered.parts) where its loops allow it and the estimated gain is above `pays`
 * instructions; results keep their bits. The scratch grows, every part has its own. */
int ac_lower_parts(ac_ctx *cx, ac_region *region, ac_lowered *low, int32_t parts, double pays);
/* grid.c: for GPUs. The step becomes a row of kernels: loops at the top of the function are marked grid, their iterations run at the
 * same time; what stands between two of them is run by one thread. Functions that have grid loops are left as they are. */
int ac_lower_grid(ac_ctx *cx, ac_region *region, ac_lowered *low);
enum {
    AC_MAX_PARTS = 64,
    AC_FORK_COST = 8000
}; /* instructions of about a third of a nanosecond that fork and join cost */
/* Reports E0108: "'conv1' (conv_2d): ..." with what is supported; returns AC_FAIL. */
int ac_lower_refuse(ac_lower *L, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The bytes of a constant (made at first use, kept). NULL: diagnostic. */
const void *ac_const_data(ac_ctx *cx, ac_const *k);

/* Buffers. A tensor operand asked for twice is one parameter. Constant tensors become CONST arguments with their own bytes. */
int32_t ac_lo_operand(ac_lower *L, ac_tensor *t);
int32_t ac_lo_align(const ac_lower *L, const ac_tensor *t); /* largest power of two that surely divides t's address */
int32_t ac_lo_state(ac_lower *L, ac_tensor *t);             /* a state operand (OF_STATE): read and written in place */
int32_t ac_lo_result_buf(ac_lower *L);                      /* of ac_node_result(L->node) */
int32_t ac_lo_output_buf(ac_lower *L, int32_t i); /* of out[i], for nodes with several outputs (no epilogue) */
int32_t ac_lo_scratch(ac_lower *L, const char *name, ac_dtype d, int64_t count);
int32_t ac_lo_local(ac_lower *L, const char *name, ac_dtype d, int64_t count);
int32_t ac_lo_gpu_local(ac_lower *L, const char *name, ac_dtype d, int64_t count,
                        ac_where where); /* of a block, or of its threads */
int32_t ac_lo_table(ac_lower *L, const char *name, ac_dtype d, int64_t count,
                    const void *data); /* small constant, data copied */

/* A constant computed lazily by loops of its own:
 *     ac_lower P;
 *     int32_t dst = ac_lo_pack_open(L, &P, "w", AC_F32, count);      P.b builds; ac_lo_operand(&P, w) reads constant tensors
 *     ...ac_lb_store(&P.b, dst, index, value)...
 *     int32_t w = ac_lo_pack_close(L, &P);                           a CONST buffer of L, 64-byte aligned */
int32_t ac_lo_pack_open(ac_lower *L, ac_lower *P, const char *name, ac_dtype d, int64_t count);
int32_t ac_lo_pack_close(ac_lower *L, ac_lower *P);

/* Values. idx[i] is the (i32) position in dimension i. */
ac_x ac_lo_flat(ac_lower *L, const ac_tensor *t,
                const ac_x *idx); /* row-major element index; dimensions of size 1 are skipped
                                                                    (broadcast: any idx reads the only element) */
ac_x ac_lo_load(ac_lower *L, ac_tensor *t, const ac_x *idx,
                int32_t lanes); /* lanes along the last dimension; a last dimension of 1
                                                                    is splat; one-element constants become immediates */
int32_t ac_lo_max_lanes(const ac_lower *L,
                        ac_dtype d); /* lanes of d on the target, 1 when the epilogue (or a table map) forbids more */
/* Is the element-wise end of the node (its own map and followers) a float function of many dependent steps (exp, erf, ...)? Then
 * that many vectors at once, as one wide value, keep the units busy that one chain leaves idle. */
bool ac_lo_has_long_chain(const ac_lower *L);
int32_t ac_lo_long_chain_vectors(const ac_lower *L);
/* Applies the epilogue to `value` (storage type of node->out[0], the element(s) at idx, lanes along the last dimension) and
 * stores the result. idx has out[0]'s rank. */
void ac_lo_result(ac_lower *L, ac_x value, const ac_x *idx, int32_t lanes);
/* What AC_VARIANT_ROWS loops over outermost: the first two dimensions of t above 1 that come before dimension `before`; 1 where
 * there is none, and without the variant. */
void ac_lo_lead(const ac_lower *L, const ac_tensor *t, int32_t before, int64_t lead[2]);
/* 0 <= i < n in vectors of `lanes`, the rest in narrower ones and then one by one; `f` builds the code of one step. */
typedef void ac_lo_step(ac_lower *L, void *with, ac_x i, int32_t lanes);
void ac_lo_strip(ac_lower *L, const char *name, int64_t n, int32_t lanes, ac_lo_step *f, void *with);
void ac_lo_strip_each(ac_lower *L, const char *name, int64_t n, int32_t lanes, ac_lo_step *f,
                      void *with); /* loops marked parallel */
ac_x ac_lo_madd(ac_lower *L, ac_x x, ac_x y,
                ac_x acc); /* x * y + acc: fma where the target has it, else mul, then add */

/* Quantisation (quant.c). */
typedef struct ac_multiplier {
    int32_t m;
    int32_t shift;
} ac_multiplier; /* x * m * 2^(shift-31), as TFLite's QuantizeMultiplier */
ac_multiplier ac_quantize_multiplier(double real);
void ac_quantized_act_range(ac_act act, const ac_tensor *out, int32_t *lo,
                            int32_t *hi);                    /* clamp bounds in stored units */
bool ac_float_act_range(ac_act act, double *lo, double *hi); /* false: no clamp; infinite bounds where open */
/* MultiplyByQuantizedMultiplier, double rounding. acc: i32 any lanes -> i32. multiplier and shift the same for all, known now. */
ac_x ac_lo_requant(ac_lower *L, ac_x acc, ac_multiplier q);
/* The same with m and shift as values (i32, the lanes of acc): per-channel. */
ac_x ac_lo_requant_v(ac_lower *L, ac_x acc, ac_x m, ac_x shift);
/* ac_lo_requant_v in two halves: what depends on multiplier and shift only (to stand outside of the loops), and the rest. */
typedef struct ac_requant {
    ac_x left, m, round, sign, shift;
} ac_requant;
ac_requant ac_lo_requant_prepare(ac_lower *L, ac_x m, ac_x shift);
ac_x ac_lo_requant_apply(ac_lower *L, ac_x acc, const ac_requant *q);
/* The same for vectors, multipliers m > 0 and shifts of e places to the right (requant.c): m, e are i32 values of the
 * lanes of acc; e is 1..31, or the constant 0. positive: negative accumulators count as 0. Only where ac_lo_requant_pairs. */
ac_x ac_lo_requant_right(ac_lower *L, ac_x acc, ac_x m, ac_x e, bool positive);
bool ac_lo_requant_pairs(const ac_lower *L, int32_t lanes);
/* The int64 form of int16x8 kernels (acc i64 -> i32). */
ac_x ac_lo_requant64(ac_lower *L, ac_x acc, ac_multiplier q);
ac_x ac_lo_requant64_v(ac_lower *L, ac_x acc, ac_x m, ac_x shift);
/* Applies an activation to a float value. */
ac_x ac_lo_act(ac_lower *L, ac_x v, ac_act act);
float ac_scale(const ac_tensor *t); /* of the whole tensor; 1 when not quantised */
int32_t ac_zero(const ac_tensor *t);

/* Float functions out of primitive operations (math.c); ULP bounds stand there. x: f32, any lanes. */
ac_x ac_lo_exp(ac_lower *L, ac_x x);
ac_x ac_lo_expm1(ac_lower *L, ac_x x);
ac_x ac_lo_log(ac_lower *L, ac_x x);
ac_x ac_lo_tanh(ac_lower *L, ac_x x);
ac_x ac_lo_sigmoid(ac_lower *L, ac_x x);
ac_x ac_lo_erf(ac_lower *L, ac_x x);
ac_x ac_lo_sin(ac_lower *L, ac_x x);
ac_x ac_lo_cos(ac_lower *L, ac_x x);
ac_x ac_lo_pow(ac_lower *L, ac_x x, ac_x y);

/* Element-wise family: a loop nest over the result with the node's map in it. Shared dimensions are merged. */
ac_lower_fn ac_lo_map;

#endif
