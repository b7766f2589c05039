/* train.h - verbs that compute gradients, above the stages: these run as for inference, and extend the graph by what
 * the verb requests (arenac.extension). */
#ifndef AC_DRIVER_TRAIN_TRAIN_H
#define AC_DRIVER_TRAIN_TRAIN_H
#include "driver/verb/verbs.h"

ac_verb_fn ac_grad_run; /* grad_run.c: grad */

#endif
