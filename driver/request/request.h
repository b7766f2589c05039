/* request.h - the request of a compilation: its options and purpose, settled before the first stage, then only read.
 *
 * The door and the verbs fill a request in; the stages take it as const, together with the values of the stages before
 * them (made.h). No stage writes a result here. */
#ifndef AC_DRIVER_REQUEST_H
#define AC_DRIVER_REQUEST_H
#include "driver/request/extension.h"
#include "driver/request/options.h"
#include "ir/lower/lowered.h"

/* FILES: the outputs that the options request. RUNNING: a run on this machine, with the weights as a blob and a
 * descriptor. PYTHON: a module of Python, whose inputs and outputs belong to the caller. */
typedef enum ac_purpose { AC_FOR_FILES, AC_FOR_RUNNING, AC_FOR_PYTHON } ac_purpose;

typedef struct ac_request {
    const ac_options *opt;    /* the values of all options */
    const ac_options *stated; /* of generated code: opt, or the options of all if this is one of several models */
    ac_purpose purpose;
    const ac_schedule *hints; /* for each step, a schedule for its lowering; NULL: the cost model chooses */
    bool wants_inference;     /* the code of a step of training has inference as well */
    bool trains;              /* parameters of the file are weights that training changes */
    bool hooked;              /* the code calls a hook around each step */
    bool unrolls;             /* loops over sequences become nodes: the format has none */
    bool tflm;                /* a plan for TFLite Micro */
    ac_extension extension;   /* changes of the graph besides inference */
} ac_request;

/* The caller provides the memory of inputs and outputs. */
static inline bool ac_has_caller_io(const ac_request *q)
{
    return q->opt->host || q->purpose == AC_FOR_PYTHON;
}

/* Weights change in the compiled program: it is a step of training. */
static inline bool ac_trains(const ac_request *q)
{
    return q->trains || q->opt->train;
}

/* The target by the options, or the default of the purpose. */
const char *ac_target_name(const ac_request *q);

#endif
