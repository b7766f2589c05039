/* make.h - nodes and tensors of a training step that ir/make does not have. Operands may be NULL: an error was
 * reported, and the result is NULL. For ir/train/ only. */
#ifndef AC_IR_TRAIN_MAKE_H
#define AC_IR_TRAIN_MAKE_H
#include "ir/make/compose_math.h"
#include "ir/train/train.h"

/* A maker of nodes called `name`, in part `part` of the step. */
ac_maker ac_train_maker(ac_graph *g, const char *name, int32_t part);
/* x as a share of the mean over all micro-batches. */
ac_tensor *ac_train_share(const ac_maker *m, const ac_train_spec *o, ac_tensor *x);
ac_tensor *ac_train_sum(const ac_maker *m, ac_tensor *x); /* of all elements: a scalar */
ac_tensor *ac_train_state(const ac_maker *m, const char *name, int32_t rank, const int64_t *dim); /* f32, zeros */
/* act(x), as an operator. products.c */
ac_tensor *ac_train_activated(const ac_maker *m, ac_act act, ac_tensor *x);
/* Replaces y by v, which has no readers yet. products.c */
void ac_train_take_place(ac_tensor *v, ac_tensor *y);

#endif
