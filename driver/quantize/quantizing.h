/* quantizing.h - one run of the verb quantize; private to driver/quantize. */
#ifndef AC_DRIVER_QUANTIZING_H
#define AC_DRIVER_QUANTIZING_H
#include "driver/quantize/verb.h"
#include "host/npz.h"
#include "quantize/quantize.h"

typedef struct ac_quantizing {
    ac_work *w;
    ac_quantize_options o;
    ac_npy *array;       /* by graph input */
    const char **option; /* by graph input: as the user wrote it; NULL: not given */
    const void **sample; /* by graph input */
    int64_t samples;
    int64_t before; /* bytes of constants in the model of floats */
    ac_quantized result;
    double accuracy[2]; /* percent of --labels: of the model of floats, quantised; -1: no labels */
} ac_quantizing;

/* samples.c: opens the arrays of --data, and pins open dimensions; before the passes. */
int ac_quantizing_open(ac_quantizing *z);
/* Checks them, and sets z->sample and z->samples; after the passes. */
int ac_quantizing_bind(ac_quantizing *z);

/* report.c: the accuracy by --labels; the report on standard output. */
int ac_quantizing_score(ac_quantizing *z);
int ac_quantizing_report(ac_quantizing *z);

#endif
