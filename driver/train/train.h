/* train.h - verbs that compute gradients. They lie above driver/: the stages run as for inference, and pass grow adds
 * the nodes that a verb needs (arenac.grow). */
#ifndef AC_DRIVER_TRAIN_TRAIN_H
#define AC_DRIVER_TRAIN_TRAIN_H
#include "driver/verb/verbs.h"

ac_verb_fn ac_grad_run; /* grad_run.c: grad */

#endif
