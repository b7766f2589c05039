/* make.h - nodes of a training step, by name of what they are for. Operands may be NULL: something before has failed
 * and was reported, and so is the result. For ir/train/ only. */
#ifndef AC_IR_TRAIN_MAKE_H
#define AC_IR_TRAIN_MAKE_H
#include "ir/train/train.h"

typedef struct ac_maker {
    ac_ctx *cx;
    ac_graph *g;
    const char *name; /* of the nodes, and what names of tensors begin with */
    int32_t part;     /* of the nodes */
} ac_maker;

ac_tensor *ac_tr_op(const ac_maker *m, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs);
ac_tensor *ac_tr_1(const ac_maker *m, ac_op op, ac_tensor *x);
ac_tensor *ac_tr_2(const ac_maker *m, ac_op op, ac_tensor *x, ac_tensor *y);
ac_tensor *ac_tr_number(const ac_maker *m, double v); /* f32 scalar */
ac_tensor *ac_tr_scale(const ac_maker *m, ac_tensor *x, double v);
ac_tensor *ac_tr_shift(const ac_maker *m, ac_tensor *x, double v);
/* x as a share of the mean over all micro-batches. */
ac_tensor *ac_tr_share(const ac_maker *m, const ac_train_spec *o, ac_tensor *x);
ac_tensor *ac_tr_sum(const ac_maker *m, ac_tensor *x); /* of all elements: a scalar */
ac_tensor *ac_tr_reshape(const ac_maker *m, ac_tensor *x, int32_t rank, const int64_t *dim);
ac_tensor *ac_tr_transpose(const ac_maker *m, ac_tensor *x, const int32_t *perm);
ac_tensor *ac_tr_cast(const ac_maker *m, ac_tensor *x, ac_dtype to);
/* State gets the value x; what comes back is x as it lies there. */
ac_tensor *ac_tr_assign(const ac_maker *m, ac_tensor *state, ac_tensor *x);
/* The same of the elements of state from number `at` on: its shape does not matter. */
ac_tensor *ac_tr_assign_at(const ac_maker *m, ac_tensor *state, int64_t at, ac_tensor *x);
ac_tensor *ac_tr_state(const ac_maker *m, const char *name, int32_t rank, const int64_t *dim); /* f32, zeros */
/* act(x), by an operator. products.c */
ac_tensor *ac_train_activated(const ac_maker *m, ac_act act, ac_tensor *x);
/* y becomes what v is, of which nothing else knows yet. products.c */
void ac_train_take_place(ac_tensor *v, ac_tensor *y);

#endif
