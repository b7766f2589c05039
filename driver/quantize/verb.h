/* verb.h - the verb quantize: a model of floats and samples become a model of bytes (quantize/quantize.h). */
#ifndef AC_DRIVER_QUANTIZE_VERB_H
#define AC_DRIVER_QUANTIZE_VERB_H
#include "driver/verb/verbs.h"

ac_verb_fn ac_quantize_verb;

#endif
