/* train.h - the verbs that compute gradients and train. The stages run as for inference, and extend the graph by the
 * request of the verb (ac_request.extension). */
#ifndef AC_DRIVER_TRAIN_TRAIN_H
#define AC_DRIVER_TRAIN_TRAIN_H
#include "driver/verb/verbs.h"

ac_verb_fn ac_grad_run; /* grad_run.c: grad */
ac_verb_fn ac_train;    /* verb.c: train */

#endif
