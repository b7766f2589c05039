/* lower.h - turns one node into loops.
 *
 * Lowering is a pure function of (node, variant, target): loops over flat buffers, constants laid out as the loops want
 * them, scratch. Offsets are not known yet; buffers are bound to tensors, constants or scratch by ac_arg.
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
 * Element-wise followers (node->fused) are computed by ac_lo_result on the value before it is stored; a structured
 * lowering only has to call ac_lo_result once for every element of node->out[0], each exactly once, and to use at most
 * ac_lo_max_lanes lanes in it. */
#ifndef AC_IR_LOWER_LOWER_H
#define AC_IR_LOWER_LOWER_H
#include "ir/lower/arithmetic.h"

/* Buffers. A tensor operand requested twice is one parameter. Constant tensors become CONST arguments with their own
 * bytes. */
int32_t ac_lo_operand(ac_lower *L, ac_tensor *t);
int32_t ac_lo_align(const ac_lower *L, const ac_tensor *t); /* largest power of two that surely divides t's address */
int32_t ac_lo_state(ac_lower *L, ac_tensor *t);             /* a state operand (OF_STATE), which is read and written in
                                                             * place */
int32_t ac_lo_result_buf(ac_lower *L);                      /* of ac_node_result(L->node) */
int32_t ac_lo_output_buf(ac_lower *L, int32_t i); /* of out[i], for nodes with several outputs (no epilogue) */
int32_t ac_lo_scratch(ac_lower *L, const char *name, ac_dtype d, int64_t count);
/* Scratch that each position of the result (a row, a column or a tile of them) writes before it reads it: steps that
 * are interleaved row by row need it only once. */
int32_t ac_lo_line(ac_lower *L, const char *name, ac_dtype d, int64_t count);
int32_t ac_lo_local(ac_lower *L, const char *name, ac_dtype d, int64_t count);
int32_t ac_lo_line_local(ac_lower *L, const char *name, ac_dtype d, int64_t count); /* the same as of ac_lo_line */
/* Of a block, or of its threads. */
int32_t ac_lo_gpu_local(ac_lower *L, const char *name, ac_dtype d, int64_t count, ac_where where);
/* Small constant, data copied. */
int32_t ac_lo_table(ac_lower *L, const char *name, ac_dtype d, int64_t count, const void *data);

/* A constant that another step created; loops see elements of type d. */
int32_t ac_lo_const(ac_lower *L, ac_const *k, ac_dtype d, const char *name, const char *note);

/* A constant computed lazily by loops of its own:
 *     ac_lower P;
 *     int32_t dst = ac_lo_pack_open(L, &P, "w", AC_F32, count);      P.b builds
 *     ...ac_lb_store(&P.b, dst, index, value)...                     ac_lo_operand(&P, w) reads constant tensors
 *     int32_t w = ac_lo_pack_close(L, &P);                           a CONST buffer of L, 64-byte aligned */
int32_t ac_lo_pack_open(ac_lower *L, ac_lower *P, const char *name, ac_dtype d, int64_t count);
int32_t ac_lo_pack_close(ac_lower *L, ac_lower *P);
ac_const *ac_lo_packed(const ac_lower *L, int32_t w); /* the constant of that buffer; valid until the lowering ends */

/* Values. idx[i] is the (i32) position in dimension i. */
ac_x ac_lo_flat(ac_lower *L, const ac_tensor *t,
                const ac_x *idx); /* row-major element index; dimensions of size 1 are skipped
                                                                    (broadcast: any idx reads the only element) */
ac_x ac_lo_load(ac_lower *L, ac_tensor *t, const ac_x *idx,
                int32_t lanes); /* lanes along the last dimension; a last dimension of 1
                                                                    is splat; one-element constants become immediates */
/* Lanes of d on the target, 1 when the epilogue (or a table map) forbids more. */
int32_t ac_lo_max_lanes(const ac_lower *L, ac_dtype d);
bool ac_lo_by_table(const ac_lower *L); /* the node or a follower looks values up: one lane at a time */
/* The number of vectors to compute at once, as one wide value. It is above 1 if the element-wise end of the node (its
 * own map and followers) is a float function of many dependent steps (exp, erf, ...): one such chain leaves execution
 * units idle. */
bool ac_lo_has_long_chain(const ac_lower *L);
int32_t ac_lo_long_chain_vectors(const ac_lower *L);
/* Element(s) of t at `flat`: `lanes` consecutive ones (along), or one, splat. Uniform constants become immediates. */
ac_x ac_lo_load_at(ac_lower *L, ac_tensor *t, ac_x flat, bool along, int32_t lanes);
/* Operands of a map: its inputs and, after them, what a per-channel scale needs: QUANTIZE and DEQUANTIZE with a scale
 * for each index of an axis get scales (f32) and zero points (i32) as inputs 1 and 2, constants made from the
 * quantisation. At most 4. */
int32_t ac_lo_map_operands(ac_lower *L, const ac_node *n, ac_tensor *list[4]);
typedef ac_x ac_lo_loader(ac_lower *L, ac_tensor *t, const void *at, int32_t lanes);
/* Applies the followers of L->node to `value`; `load` reads their other operands at the position `at`. 0: a follower
 * refused. */
ac_x ac_lo_epilogue(ac_lower *L, ac_x value, ac_lo_loader *load, const void *at, int32_t lanes);
/* The value of L->node, a map, and its followers at idx, which has out[0]'s rank. 0: one of them refused. */
ac_x ac_lo_mapped(ac_lower *L, const ac_x *idx, int32_t lanes);
/* Applies the epilogue to `value` (storage type of node->out[0], the element(s) at idx, lanes along the last dimension)
 * and stores the result. idx has out[0]'s rank. */
void ac_lo_result(ac_lower *L, ac_x value, const ac_x *idx, int32_t lanes);
/* Its two parts, for lowerings that load for many results before they store one: the value after the followers, 0 if
 * one of them refused; its store, if it is not 0. */
ac_x ac_lo_followed(ac_lower *L, ac_x value, const ac_x *idx, int32_t lanes);
void ac_lo_put(ac_lower *L, ac_x value, const ac_x *idx);
/* The extents that AC_VARIANT_ROWS loops over outermost: the first two dimensions of t above 1 that come before
 * dimension `before`. An extent is 1 if no such dimension exists, and without the variant. */
void ac_lo_lead(const ac_lower *L, const ac_tensor *t, int32_t before, int64_t lead[2]);
/* 0 <= i < n in vectors of `lanes`, the rest in narrower ones and then one by one; `f` builds the code of one step. */
typedef void ac_lo_step(ac_lower *L, void *with, ac_x i, int32_t lanes);
void ac_lo_strip(ac_lower *L, const char *name, int64_t n, int32_t lanes, ac_lo_step *f, void *with);
/* Loops marked parallel. */
void ac_lo_strip_each(ac_lower *L, const char *name, int64_t n, int32_t lanes, ac_lo_step *f, void *with);

#endif
