/* counted.h - for adapters of operators whose result is as large as the data says: made as long as it can become, with
 * a count (ir/ops/shape/counted.h). Later operators are made as usual; counted.c refuses
 * those that would mix elements with and without meaning, and the counts of counted outputs become outputs too.
 *
 *     ac_tensor *at = ac_make_true(b, mask);               positions of what is true: i64 [n], counted
 *     ac_tensor *y = ... GATHER x by `at` ...               counted by the same tensor
 *
 * Elements without a meaning are 0 at first, then whatever operators make of them; as indices they are 0 again. */
#ifndef AC_IMPORT_BUILD_COUNTED_H
#define AC_IMPORT_BUILD_COUNTED_H
#include "ir/make/maker.h"

/* Of dimension `dim` of t only the first *count (i64 or i32, one element; NULL: all) elements have a meaning. Returns
 * t. */
ac_tensor *ac_counted_as(ac_tensor *t, ac_tensor *count, int32_t dim);
/* The maker that all importers use: of nodes called `name`, in g, with rules for tensors that are counted. */
ac_maker ac_reading_maker(struct ac_reading *r, ac_graph *g, const char *name, ac_place at);

/* counted_operands.c: makes operands harmless that would go wrong on elements past the valid length: indices stay
 * inside, reductions, running sums and softmax get their neutral value, scattered values become 0; and operands that
 * broadcast together get one count. true: own[] has them, n_in of them. */
bool ac_counted_operands(const ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs,
                         ac_tensor *own[3]);

ac_tensor *ac_make_iota(const ac_maker *b, int64_t n); /* 0, 1 .. n-1: i64 [n] */
/* Row-major positions of the true elements of a bool tensor, in order: i64 [elements], counted. */
ac_tensor *ac_make_true(const ac_maker *b, ac_tensor *flags);
/* t, v where elements had no meaning: now all have one. */
ac_tensor *ac_make_counted_fill(const ac_maker *b, ac_tensor *t, double v);
/* t, where elements had no meaning now what changes no result of a reduction by op (least for REDUCE_MAX); t itself
 * when it is not counted. NULL: no number does, or reported. */
ac_tensor *ac_make_counted_neutral(const ac_maker *b, ac_tensor *t, ac_op op);
/* Is a MEAN of these operands one of floats over axes of which one is counted? *axes: a mask of all. */
bool ac_counted_mean(const ac_maker *b, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs, uint32_t *axes);
/* Such a mean. */
ac_tensor *ac_make_counted_mean(const ac_maker *b, ac_tensor *x, uint32_t axes, bool keep);
/* Elements `at` of the dimension of x that is counted, of those that have a meaning; below 0: from their end on. */
ac_tensor *ac_make_counted_gather(const ac_maker *b, ac_tensor *x, ac_tensor *at);
/* Elements of dimension d of x that there are, for all that it may be counted there: those that `at` lists, or `size`
 * from `begin` on. The result is not counted there. */
ac_tensor *ac_make_gather_there(const ac_maker *b, ac_tensor *x, int32_t d, ac_tensor *at);
ac_tensor *ac_make_slice_there(const ac_maker *b, ac_tensor *x, int32_t d, int64_t begin, int64_t size);
/* Concatenates along an axis along which some are counted: the valid elements end up together, counted. The second is
 * for rules.c, which first looks for parts of one tensor. */
ac_tensor *ac_make_counted_concat(const ac_maker *b, ac_tensor *const *x, int32_t n, int32_t axis);
ac_tensor *ac_make_counted_join(const ac_maker *b, ac_tensor *const *x, int32_t n, int32_t axis);
/* x of that shape, of which one size may be -1. The dimension that is counted stays, or those that follow are joined
 * with it, and its valid length is that many times longer. */
ac_tensor *ac_make_counted_reshape(const ac_maker *b, ac_tensor *x, int32_t rank, const int64_t *dim);
/* What `count` is the sum of: it counts tensors that lie one after the other, of size[i] elements, of which count[i]
 * (NULL: all) have a meaning, or some of these. false: it is none. */
typedef struct ac_count_parts {
    int32_t n;
    ac_tensor **count;
    int64_t *size;
} ac_count_parts;
bool ac_parts_of_count(const ac_maker *b, const ac_tensor *count, ac_count_parts *parts);
/* Nodes were erased: concatenations that they made are not there any more. */
void ac_counted_erased(const ac_maker *b);
/* How many elements of dimension d, or of all, have a meaning: i64 scalar. */
ac_tensor *ac_make_counted_extent(const ac_maker *b, const ac_tensor *x, int32_t d);
ac_tensor *ac_make_counted_size(const ac_maker *b, ac_tensor *x);
/* t with `size` elements along dim, at least as many as it has: there are more without a meaning. Not counted. */
ac_tensor *ac_make_counted_longer(const ac_maker *b, ac_tensor *t, int32_t dim, int64_t size);
/* Sizes of dimensions from .. to-1 as data: i64 [to - from]; a constant where nothing is counted. */
ac_tensor *ac_make_extents(const ac_maker *b, ac_tensor *x, int32_t from, int32_t to);

/* Once all outputs are known: counts of counted ones become outputs, named NAME_count, and g->counted says so. */
void ac_counted_outputs(ac_graph *g);

#endif
