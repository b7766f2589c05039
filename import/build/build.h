/* build.h - the small language in which importers say what an operator of a file is: canonical nodes, made and resolved
 * one by one (ir/ops/shape/resolve.h), so that the shape of each operand and the value of each small constant is known.
 *
 *     ac_build b = {.cx = cx, .g = g, .name = "conv1", .base = "conv1", .at = place};
 *     ac_tensor *y = ac_build_2(&b, AC_OP_MUL, x, ac_build_1(&b, AC_OP_LOGISTIC, x));
 *     if (!y)
 *         return AC_FAIL;                   something on the way failed, and has been reported
 *
 * Operands may be NULL (something before has failed and was reported): then so is the result, and nothing is reported
 * again. What changes nothing (a cast to the same type, a transpose that keeps the order) makes no node.
 *
 * Memory: the region of cx; lists and numbers given are copied. Errors: those of the operator's shape rule. */
#ifndef AC_IMPORT_BUILD_BUILD_H
#define AC_IMPORT_BUILD_BUILD_H
#include "ir/graph/graph.h"

typedef struct ac_build {
    ac_ctx *cx;
    ac_graph *g;
    const char *name; /* of the nodes */
    const char *base; /* what the names of new tensors begin with */
    ac_place at;
    struct ac_reading *reading; /* what operands.h needs; NULL where nothing of it is used */
    bool unsized; /* shapes may still change: nodes are not resolved, and no type or shape of a result is known here */
} ac_build;

/* One result; type AC_NONE: the shape rule gives it. */
ac_tensor *ac_build_op(const ac_build *b, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs,
                       ac_dtype type);
/* Several results, not resolved yet; every operand is there. NULL: more than 64 results. */
ac_node *ac_build_node(const ac_build *b, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs,
                       int32_t n_out);
ac_tensor *ac_build_1(const ac_build *b, ac_op op, ac_tensor *x);
ac_tensor *ac_build_2(const ac_build *b, ac_op op, ac_tensor *x, ac_tensor *y);
/* [..,M,K] x [..,K,N] = [..,M,N]; with adj_x, adj_y these lie as [..,K,M], [..,N,K]. */
ac_tensor *ac_build_matmul(const ac_build *b, ac_tensor *x, ac_tensor *y, bool adj_x, bool adj_y);
/* x [..,K] times w' of w [N,K], plus bias [N] (NULL: none) = [..,N]. */
ac_tensor *ac_build_dense(const ac_build *b, ac_tensor *x, ac_tensor *w, ac_tensor *bias);
ac_tensor *ac_build_cast(const ac_build *b, ac_tensor *x, ac_dtype to);
ac_tensor *ac_build_select(const ac_build *b, ac_tensor *cond, ac_tensor *yes, ac_tensor *no);
ac_tensor *ac_build_transpose(const ac_build *b, ac_tensor *x, const int32_t *perm);
/* The permutation that moves `axis` to the end, and the one that moves it back; rank >= 1. */
void ac_build_axis_last(int32_t rank, int32_t axis, int32_t *perm, int32_t *back);
ac_tensor *ac_build_reshape(const ac_build *b, ac_tensor *x, int32_t rank, const int64_t *dim);
ac_tensor *ac_build_reduce(const ac_build *b, ac_op op, ac_tensor *x, uint32_t axes, bool keep); /* axes: a mask */
ac_tensor *ac_build_slice(const ac_build *b, ac_tensor *x, int32_t axis, int64_t begin, int64_t size);
ac_tensor *ac_build_concat(const ac_build *b, ac_tensor *const *x, int32_t count, int32_t axis);
ac_tensor *ac_build_broadcast(const ac_build *b, ac_tensor *x, int32_t rank, const int64_t *dim);
/* Indices below 0 count from the end of `size` elements, an integer of at's type; in the result none does. */
ac_tensor *ac_build_from_end(const ac_build *b, ac_tensor *at, ac_tensor *size);
/* x with element `at`, an integer that may be data, of dimension 0 replaced; outside of x: the nearest one. */
ac_tensor *ac_build_put(const ac_build *b, ac_tensor *x, ac_tensor *element, ac_tensor *at);
ac_tensor *ac_build_pad(const ac_build *b, ac_tensor *x, const int64_t *before, const int64_t *after,
                        ac_tensor *value /* NULL: 0 */);

/* Constants. */
ac_tensor *ac_build_number(const ac_build *b, ac_dtype type, double v); /* a scalar, rounded to the type */
ac_tensor *ac_build_floats(const ac_build *b, int32_t rank, const int64_t *dim, const float *v);
ac_tensor *ac_build_ints(const ac_build *b, int64_t count, const int64_t *v); /* i64 [count] */
ac_ints ac_build_list(const ac_build *b, int64_t count, const int64_t *v);    /* for attributes */

/* t as a constant, computed from the given values of inputs (ac_tensor.given); NULL: it depends on others, or is large.
 * Cost: at most 32 nodes deep. */
ac_tensor *ac_build_specialise(const ac_build *b, ac_tensor *t);
/* The numbers of a constant of integers, at most 2^20; AC_FAIL: other types, more numbers (reported). */
int ac_build_values(const ac_build *b, ac_tensor *t, ac_ints *out);
/* Is t made of constants only? It may still be a node: large ones are folded later. */
bool ac_build_constant(const ac_tensor *t);
/* axis from the file -> 0..rank-1; AC_FAIL: E0103. */
int ac_build_axis(const ac_build *b, int64_t axis, int32_t rank, int32_t *out);

#endif
