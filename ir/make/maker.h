/* maker.h - makes canonical nodes one by one, for importers, gradients, training and passes.
 *
 * Each node is resolved when it is made (ir/ops/shape/resolve.h), so the shape of every tensor and the value of every
 * small constant are known to the caller.
 *
 *     ac_maker b = {.cx = cx, .g = g, .name = "conv1", .base = "conv1", .at = place};
 *     ac_tensor *y = ac_make_2(&b, AC_OP_MUL, x, ac_make_1(&b, AC_OP_LOGISTIC, x));
 *     if (!y)
 *         return AC_FAIL;                   an operator failed and reported an error
 *
 * An operand may be NULL: an earlier operator failed and reported an error. The result is then NULL and nothing is
 * reported again. A cast to the same type, or a transpose that keeps the order, makes no node.
 *
 * Memory: the region of cx; lists and values are copied. Errors: those of the operator's shape rule. */
#ifndef AC_IR_MAKE_MAKER_H
#define AC_IR_MAKE_MAKER_H
#include "ir/graph/graph.h"

struct ac_maker;

/* How an importer treats operands with a dynamic valid length (ac_tensor.count): functions that replace the plain ones
 * if such an operand is given. */
typedef struct ac_maker_rules {
    /* Operands that are safe to read past their valid length; true: own[] has all n_in of them. */
    bool (*operands)(const struct ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs,
                     ac_tensor *own[3]);
    int (*resolve)(const struct ac_maker *b, ac_node *n); /* resolves n and sets the counts of its results */
    ac_tensor *(*reshape)(const struct ac_maker *b, ac_tensor *x, int32_t rank, const int64_t *dim);
    ac_tensor *(*mean)(const struct ac_maker *b, ac_tensor *x, uint32_t axes, bool keep);
    ac_tensor *(*concat)(const struct ac_maker *b, ac_tensor *const *x, int32_t n, int32_t axis);
} ac_maker_rules;

typedef struct ac_maker {
    ac_ctx *cx;
    ac_graph *g;
    const char *name; /* of the nodes */
    const char *base; /* prefix of the names of new tensors */
    ac_place at;
    const ac_maker_rules *rules; /* NULL: no operand has a dynamic valid length */
    struct ac_reading *reading;  /* the importer's state, for its rules and operands.h; NULL: not an importer */
    const char *bad;             /* an attribute of the node that was reported (import/build/attrs.h) */
    bool bare;                   /* new tensors are called `base` alone, without the operator */
    uint32_t keep_nan;           /* AC_NAN_*: new nodes of these kinds that compare floats have keep_nan */
    bool gradient;               /* ac_node.gradient of new nodes */
    int32_t part;                /* ac_node.part of new nodes */
    bool unsized; /* shapes may still change: nodes are not resolved, and no type or shape of a result is known here */
} ac_maker;

/* Nodes called `name`, at the place of that name in the file of g; so are new tensors. */
ac_maker ac_maker_named(ac_graph *g, const char *name);
/* Nodes that replace n: they have its name and place; new tensors are called like its first result. */
ac_maker ac_maker_at(ac_graph *g, const ac_node *n);

/* One result; type AC_NONE: the shape rule gives it. */
ac_tensor *ac_make_op(const ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs,
                      ac_dtype type);
/* Several results, not resolved yet; no operand is NULL. NULL: more than 64 results. */
ac_node *ac_make_node(const ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs,
                      int32_t n_out);
/* One result, y, which exists already. Returns y. */
ac_tensor *ac_make_into(const ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs,
                        ac_tensor *y);
/* Several results, which exist already; not resolved. */
ac_node *ac_make_results(const ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs,
                         ac_tensor *const *out, int32_t n_out);
ac_tensor *ac_make_reshape_into(const ac_maker *b, ac_tensor *x, const ac_tensor *shape, ac_tensor *y);
ac_tensor *ac_make_transpose_into(const ac_maker *b, ac_tensor *x, const int32_t *perm, ac_tensor *y);
/* One result, called `name` if that is free; the node is called like it. attrs: NULL for the defaults. */
ac_tensor *ac_make_called(ac_graph *g, const char *name, ac_op op, ac_tensor *const *in, int32_t n_in,
                          const ac_attrs *attrs);
/* A node with the operator, attributes, name and place of n, which may be of another graph; not resolved. in, out: as
 * many as n has. */
ac_node *ac_make_copy(ac_graph *g, const ac_node *n, ac_tensor *const *in, ac_tensor *const *out);
ac_tensor *ac_make_1(const ac_maker *b, ac_op op, ac_tensor *x);
ac_tensor *ac_make_2(const ac_maker *b, ac_op op, ac_tensor *x, ac_tensor *y);
/* [..,M,K] x [..,K,N] = [..,M,N]; adj_x, adj_y: that operand is [..,K,M], [..,N,K]. */
ac_tensor *ac_make_matmul(const ac_maker *b, ac_tensor *x, ac_tensor *y, bool adj_x, bool adj_y);
/* x [..,K] times w' of w [N,K], plus bias [N] (NULL: none) = [..,N]. */
ac_tensor *ac_make_dense(const ac_maker *b, ac_tensor *x, ac_tensor *w, ac_tensor *bias);
ac_tensor *ac_make_cast(const ac_maker *b, ac_tensor *x, ac_dtype to);
ac_tensor *ac_make_select(const ac_maker *b, ac_tensor *cond, ac_tensor *yes, ac_tensor *no);
ac_tensor *ac_make_transpose(const ac_maker *b, ac_tensor *x, const int32_t *perm);
ac_tensor *ac_make_reshape(const ac_maker *b, ac_tensor *x, int32_t rank, const int64_t *dim);
ac_tensor *ac_make_reduce(const ac_maker *b, ac_op op, ac_tensor *x, uint32_t axes, bool keep); /* axes: a mask */
ac_tensor *ac_make_slice(const ac_maker *b, ac_tensor *x, int32_t axis, int64_t begin, int64_t size);
ac_tensor *ac_make_concat(const ac_maker *b, ac_tensor *const *x, int32_t count, int32_t axis);
ac_tensor *ac_make_broadcast(const ac_maker *b, ac_tensor *x, int32_t rank, const int64_t *dim);
/* at + size for indices below 0, which count from the end of `size` elements; `size` has at's type. */
ac_tensor *ac_make_from_end(const ac_maker *b, ac_tensor *at, ac_tensor *size);
/* x with element `at` of dimension 0 replaced; `at` is an integer, constant or not, and is clamped to x. */
ac_tensor *ac_make_put(const ac_maker *b, ac_tensor *x, ac_tensor *element, ac_tensor *at);
ac_tensor *ac_make_pad(const ac_maker *b, ac_tensor *x, const int64_t *before, const int64_t *after,
                       ac_tensor *value /* NULL: 0 */);
/* Stores x in the elements of `state` from index `at` on; the result is x, in the memory of state. */
ac_tensor *ac_make_assign(const ac_maker *b, ac_tensor *state, int64_t at, ac_tensor *x);

/* Constants. */
ac_tensor *ac_make_number(const ac_maker *b, ac_dtype type, double v);              /* a scalar, rounded to the type */
ac_tensor *ac_make_number_like(const ac_maker *b, const ac_tensor *like, double v); /* of its type; NULL gives NULL */
ac_tensor *ac_make_zeros(const ac_maker *b, ac_dtype type, int32_t rank, const int64_t *dim);
ac_tensor *ac_make_floats(const ac_maker *b, int32_t rank, const int64_t *dim, const float *v);
ac_tensor *ac_make_ints(const ac_maker *b, int64_t count, const int64_t *v); /* i64 [count] */
ac_tensor *ac_make_ints_shaped(const ac_maker *b, int32_t rank, const int64_t *dim, const int64_t *v);
/* i32 [count], called `name`: first, first + step, .. */
ac_tensor *ac_make_steps(ac_graph *g, const char *name, int64_t count, int64_t first, int64_t step);
ac_ints ac_make_list(const ac_maker *b, int64_t count, const int64_t *v); /* for attributes */
ac_ints ac_make_perm(const ac_maker *b, int32_t rank, const int32_t *perm);

/* Resolves n, which has been given its operands and attributes. AC_FAIL: reported, or refused. */
int ac_make_resolve(const ac_maker *b, ac_node *n);
/* True if t is a constant, or TRANSPOSE and RESHAPE nodes on one: large constants are folded later. */
bool ac_tensor_is_moved_const(const ac_tensor *t);
bool ac_dims_equal(const ac_tensor *t, int32_t rank, const int64_t *dim);
/* The permutation that moves `axis` to the end, and its inverse; rank >= 1. */
void ac_perm_axis_last(int32_t rank, int32_t axis, int32_t *perm, int32_t *back);

#endif
