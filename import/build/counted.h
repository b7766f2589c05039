/* counted.h - for adapters of operators whose result is as large as the data says: made as long as it can become, with
 * a count (ir/ops/shape/counted.h). What follows in the model is made as usual; build.c refuses what would mix elements
 * with and without meaning, and the counts of counted outputs become outputs too.
 *
 *     ac_tensor *at = ac_build_true(b, mask);               positions of what is true: i64 [n], counted
 *     ac_tensor *y = ... GATHER x by `at` ...               counted by the same tensor
 *
 * Elements without a meaning are 0 at first, then whatever operators make of them; as indices they are 0 again. */
#ifndef AC_IMPORT_BUILD_COUNTED_H
#define AC_IMPORT_BUILD_COUNTED_H
#include "import/build/build.h"

/* Of dimension `dim` of t only the first *count (i64 or i32, one element; NULL: all) elements have a meaning. Returns
 * t. */
ac_tensor *ac_counted_as(ac_tensor *t, ac_tensor *count, int32_t dim);
/* Operands of an operator that would go wrong on elements without a meaning, which become harmless: indices stay
 * inside, reductions, sums so far and softmax get what changes nothing, scattered values become 0; and operands that
 * broadcast together are counted by one tensor. true: own[] has them, n_in of them. */
bool ac_counted_operands(const ac_build *b, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs,
                         ac_tensor *own[3]);
/* Resolves n and says which of its results are counted. AC_FAIL: reported, or refused */
int ac_build_resolve(const ac_build *b, ac_node *n);

ac_tensor *ac_build_iota(const ac_build *b, int64_t n); /* 0, 1 .. n-1: i64 [n] */
/* Row-major positions of the true elements of a bool tensor, in order: i64 [elements], counted. */
ac_tensor *ac_build_true(const ac_build *b, ac_tensor *flags);
/* t, v where elements had no meaning: now all have one. */
ac_tensor *ac_build_counted_fill(const ac_build *b, ac_tensor *t, double v);
/* t, where elements had no meaning now what changes no result of a reduction by op (least for REDUCE_MAX); t itself
 * when it is not counted. NULL: no number does, or reported. */
ac_tensor *ac_build_counted_neutral(const ac_build *b, ac_tensor *t, ac_op op);
/* Is a MEAN of these operands one of floats over axes of which one is counted? *axes: a mask of all. */
bool ac_counted_mean(const ac_build *b, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs, uint32_t *axes);
/* Such a mean. */
ac_tensor *ac_build_counted_mean(const ac_build *b, ac_tensor *x, uint32_t axes, bool keep);
/* Elements `at` of the dimension of x that is counted, of those that have a meaning; below 0: from their end on. */
ac_tensor *ac_build_counted_gather(const ac_build *b, ac_tensor *x, ac_tensor *at);
/* Elements of dimension d of x that there are, for all that it may be counted there: those that `at` lists, or `size`
 * from `begin` on. The result is not counted there. */
ac_tensor *ac_build_gather_there(const ac_build *b, ac_tensor *x, int32_t d, ac_tensor *at);
ac_tensor *ac_build_slice_there(const ac_build *b, ac_tensor *x, int32_t d, int64_t begin, int64_t size);
/* One after the other along `axis`, along which some are counted: what has a meaning lies together, counted. */
ac_tensor *ac_build_counted_concat(const ac_build *b, ac_tensor *const *x, int32_t n, int32_t axis);
/* What `count` is the sum of: it counts tensors that lie one after the other, of size[i] elements, of which count[i]
 * (NULL: all) have a meaning, or some of these. false: it is none. */
typedef struct ac_count_parts {
    int32_t n;
    ac_tensor **count;
    int64_t *size;
} ac_count_parts;
bool ac_parts_of_count(const ac_build *b, const ac_tensor *count, ac_count_parts *parts);
/* Nodes were erased: concatenations that they made are not there any more. */
void ac_counted_erased(const ac_build *b);
/* x of that shape, of which one size may be -1. The dimension that is counted stays, or those that follow are joined
 * with it, and as many times more of its elements have a meaning. */
ac_tensor *ac_build_counted_reshape(const ac_build *b, ac_tensor *x, int32_t rank, const int64_t *dim);
/* How many elements of dimension d, or of all, have a meaning: i64 scalar. */
ac_tensor *ac_build_counted_extent(const ac_build *b, const ac_tensor *x, int32_t d);
ac_tensor *ac_build_counted_size(const ac_build *b, ac_tensor *x);
/* t with `size` elements along dim, at least as many as it has: there are more without a meaning. Not counted. */
ac_tensor *ac_build_counted_longer(const ac_build *b, ac_tensor *t, int32_t dim, int64_t size);
/* Sizes of dimensions from .. to-1 as data: i64 [to - from]; a constant where nothing is counted. */
ac_tensor *ac_build_extents(const ac_build *b, ac_tensor *x, int32_t from, int32_t to);

/* Once all outputs are known: counts of counted ones become outputs, named NAME_count, and g->counted says so. */
void ac_counted_outputs(ac_graph *g);

#endif
