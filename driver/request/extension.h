/* extension.h - a request for more than inference, as a value: a step of training, inference with other weights,
 * gradients. driver/stage/extend.c changes the graph accordingly. */
#ifndef AC_DRIVER_EXTENSION_H
#define AC_DRIVER_EXTENSION_H
#include "host/npy.h"
#include "ir/train/train.h"

/* A constant of the file that has another value now. */
typedef struct ac_new_value {
    const char *name;
    int32_t rank;
    const int64_t *dim;
    ac_dtype dtype;
    const void *data;
} ac_new_value;

typedef struct ac_new_values {
    const ac_new_value *item;
    int32_t n;
    const ac_train_spec *spec; /* of the training that the values are of */
    bool no_dropout;           /* dropout keeps all elements */
} ac_new_values;

/* The outputs become the gradients of the inputs. */
typedef struct ac_gradients {
    const ac_npy *cotangent; /* gradients of the result by outputs: inputs that are added */
    const int32_t *of;       /* the output that each is for */
    int32_t n;
    ac_tensor **wrt; /* set by ac_extend_grow: the inputs that have a gradient, in the order of the new outputs */
    int32_t n_wrt;
} ac_gradients;

typedef struct ac_extension {
    ac_train_step *step;         /* weights become state; unless `like` is set, a step of training is added. NULL: no */
    bool values_apart;           /* the first values of the step's state are not part of its code */
    const ac_train_step *like;   /* the constants that are weights of this step become the state of `step` */
    const ac_new_values *values; /* NULL: the values of the file */
    ac_gradients *gradients;     /* NULL: none */
} ac_extension;

#endif
