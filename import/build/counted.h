/* counted.h - creates results of data-dependent size, for adapters of operators: with their maximum size, and a count,
 * the valid length (ir/ops/shape/counted.h). Later operators are created as usual; rules.c refuses those that would mix
 * valid and invalid elements, and counted.c adds the counts of dynamically sized outputs to the outputs.
 *
 *     ac_tensor *at = ac_make_true(b, mask);               positions of true elements: i64 [n], with a count
 *     ac_tensor *y = ... GATHER x by `at` ...               has the same count
 *
 * Invalid elements are 0 when a tensor gets its count; operators then compute arbitrary values from them. Before they
 * are used as indices they are set to 0 again. */
#ifndef AC_IMPORT_BUILD_COUNTED_H
#define AC_IMPORT_BUILD_COUNTED_H
#include "ir/make/maker.h"

/* Sets the valid length of dimension `dim` of t to count (i64 or i32, one element; NULL: changes nothing). Returns t,
 * which may be NULL. */
ac_tensor *ac_counted_as(ac_tensor *t, ac_tensor *count, int32_t dim);
/* The maker that all importers use: its nodes are called `name`, go to g, and follow the rules for dynamically sized
 * tensors. */
ac_maker ac_reading_maker(struct ac_reading *r, ac_graph *g, const char *name, ac_place at);

/* counted_operands.c: makes operands harmless that would go wrong on elements past the valid length: indices stay
 * inside, reductions, running sums and softmax get their neutral value, scattered values become 0; and operands that
 * broadcast together get one count. true: own[] has them, n_in of them. */
bool ac_counted_operands(const ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs,
                         ac_tensor *own[3]);

ac_tensor *ac_make_iota(const ac_maker *b, int64_t n); /* 0, 1 .. n-1: i64 [n] */
/* Row-major positions of the true elements of a bool tensor, in order: i64 [elements], counted. */
ac_tensor *ac_make_true(const ac_maker *b, ac_tensor *flags);
/* t with v in its invalid elements. The result has no count. */
ac_tensor *ac_make_counted_fill(const ac_maker *b, ac_tensor *t, double v);
/* t with the neutral value of op in its invalid elements (lowest for REDUCE_MAX), without a count; t itself if it has
 * no count. NULL: op has no neutral value, or reported. */
ac_tensor *ac_make_counted_neutral(const ac_maker *b, ac_tensor *t, ac_op op);
/* True if a MEAN of these operands is one of floats, and one of its axes is dynamically sized. *axes: a mask of its
 * axes. */
bool ac_counted_mean(const ac_maker *b, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs, uint32_t *axes);
/* Such a mean: the sum divided by the valid length. */
ac_tensor *ac_make_counted_mean(const ac_maker *b, ac_tensor *x, uint32_t axes, bool keep);
/* Elements `at` of the dynamically sized dimension of x. Negative indices count from the valid length. */
ac_tensor *ac_make_counted_gather(const ac_maker *b, ac_tensor *x, ac_tensor *at);
/* Elements of dimension d of x, valid or not: those that `at` lists, or `size` elements from `begin`. Dimension d of
 * the result has no count. */
ac_tensor *ac_make_gather_there(const ac_maker *b, ac_tensor *x, int32_t d, ac_tensor *at);
ac_tensor *ac_make_slice_there(const ac_maker *b, ac_tensor *x, int32_t d, int64_t begin, int64_t size);
/* Concatenates tensors, some of them dynamically sized along the axis: the valid elements come first, with a count.
 * ac_make_counted_concat first checks for an update of a slice (updates.c); ac_make_counted_join does not. */
ac_tensor *ac_make_counted_concat(const ac_maker *b, ac_tensor *const *x, int32_t n, int32_t axis);
ac_tensor *ac_make_counted_join(const ac_maker *b, ac_tensor *const *x, int32_t n, int32_t axis);
/* x in that shape; one size may be -1. The dynamically sized dimension stays, or is merged with dimensions that follow,
 * and its valid length is multiplied by their sizes. */
ac_tensor *ac_make_counted_reshape(const ac_maker *b, ac_tensor *x, int32_t rank, const int64_t *dim);
/* The lengths that `count` is the sum of: part i of a concatenation has size[i] elements; the first count[i] (NULL:
 * all) are valid, and `count` counts these or a subset. false: not the count of a concatenation. */
typedef struct ac_count_parts {
    int32_t n;
    ac_tensor **count;
    int64_t *size;
} ac_count_parts;
bool ac_parts_of_count(const ac_maker *b, const ac_tensor *count, ac_count_parts *parts);
/* Forgets the recorded concatenations whose nodes were erased. */
void ac_counted_erased(const ac_maker *b);
/* The number of valid elements along dimension d, or of all valid elements: i64 scalar. */
ac_tensor *ac_make_counted_extent(const ac_maker *b, const ac_tensor *x, int32_t d);
ac_tensor *ac_make_counted_size(const ac_maker *b, ac_tensor *x);
/* t padded with invalid elements to `size` along dim; t itself if it is that long. The padded tensor has no count. */
ac_tensor *ac_make_counted_longer(const ac_maker *b, ac_tensor *t, int32_t dim, int64_t size);
/* Sizes of dimensions from .. to-1 as a tensor: i64 [to - from]; a constant unless one of them is dynamically sized. */
ac_tensor *ac_make_extents(const ac_maker *b, ac_tensor *x, int32_t from, int32_t to);

/* Called when all outputs are known: adds the counts of dynamically sized outputs to the outputs, as NAME_count, and
 * lists them in g->counted. */
void ac_counted_outputs(ac_graph *g);

#endif
