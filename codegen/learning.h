/* learning.h - describes a module for training: weights in its state, gradients, the loss; for printers of its API.
 * Filled by driver/stage/learning.c; all in the context's region. */
#ifndef AC_CODEGEN_LEARNING_H
#define AC_CODEGEN_LEARNING_H
#include "codegen/module.h"

typedef struct ac_weight_place {
    const char *name; /* the file's, as the shape is */
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    const ac_io *state;
    const ac_transposition *move; /* one after the other, from the file's order to the state's */
    int32_t n_moves;
} ac_weight_place;

typedef struct ac_learning {
    const ac_io *rate;    /* the input that is the learning rate */
    const ac_io *loss;    /* the output that is the loss */
    const ac_io *sums;    /* late updates: the state that holds gradients, statistics and the loss of a micro-batch */
    const ac_io **random; /* states with the step and micro-batch of random numbers */
    int32_t n_random;
    int32_t micro_batches;
    const ac_weight_place *weight;
    int32_t n_weights;
} ac_learning;

#endif
