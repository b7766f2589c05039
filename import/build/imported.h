/* imported.h - what a model file is read with, and what reading it leaves (import/import.h has the calls).
 *
 * A value: reading fills it, ac_import_nodes completes it, afterwards nobody changes it. What it points to lives in the
 * context's region, or in the bytes of the files. */
#ifndef AC_IMPORT_BUILD_IMPORTED_H
#define AC_IMPORT_BUILD_IMPORTED_H
#include "base/file.h"
#include "ir/graph/graph.h"

/* --dim NAME=N: the size of a dimension that the file leaves to the caller. NAME is the dimension's own or
 * TENSOR.INDEX, or a run of parts of that which no other has; value 0: the tensor NAME, whose number of dimensions is
 * unknown, is a scalar. */
typedef struct ac_pin {
    const char *name;
    int64_t value;
} ac_pin;

/* expression.c: a name that is a sum or product of pinned names and numbers, "past + 1" or "2*n" (+ - * / and brackets;
 * / rounds down). false: it is none, or a name in it is not pinned, or the value does not fit 32 bits. `used` gets the
 * pins that are in it. */
bool ac_pin_expression(const char *expression, const ac_pin *pin, int32_t n, bool *used, int64_t *value);

typedef struct ac_import_options {
    const char *from;      /* --from; NULL: guess */
    const char *outputs;   /* --outputs NAME,NAME: of formats that do not say what their outputs are; NULL: all ends */
    const ac_file *second; /* the file with the weights, for formats that have one; outlives the graph. NULL: none */
    bool strict;           /* wrong declarations and the like are errors, no warnings */
    bool random;           /* parameters that no file gives get random values, made from `seed` */
    uint64_t seed;
    int64_t batch; /* the first dimension of all inputs, whatever the file says; 0: the file's */
    bool train;    /* its parameters are weights (ac_tensor.weight), from which nothing is computed while reading */
    const ac_pin *bound; /* --bound NAME=N: result NAME, whose size is computed at run time, has at most N elements */
    int32_t n_bounds;
    bool batch_norm; /* ... and normalisations over the batch take the statistics of the batch */
    /* How small constants are computed while nodes are made, and later the graph's; NULL: they are not */
    ac_promise_fn *promise;
} ac_import_options;

typedef struct ac_imported {
    ac_graph *graph;              /* as the file has it; inputs only as long as `waiting` is set */
    AC_VEC(ac_tensor *) promised; /* with `waiting`: the outputs as the file declares them, outside of the graph */
    const char *format;           /* "TFLite v3", "text": what reports call it */
    const char *listing;          /* the model in its format's own words, for `show`; NULL: none */
    int64_t file_ops;             /* operators in the file's main graph */
    AC_VEC(ac_tensor *) missing;  /* parameters that no file gave: splats stand for them, which is enough for a plan */
    AC_VEC(ac_running) running;   /* with batch_norm */
    const char *missing_file;     /* where they should be: "a .caffemodel file" */
    const struct ac_weights_file *weights; /* text: the file that holds its constants; NULL: none */
    bool channels_first;                   /* its operators have channels first: pass layout has work to do */
    bool declared;                         /* shapes declared for results bind: pass infer compares them */
    bool batch;                            /* an unknown first dimension is taken as 1 where no pin says otherwise */
    int32_t pinned;                        /* dimensions that ac_import_nodes set */
    struct ac_reading *waiting; /* its nodes cannot be made before the sizes, or given values, of its inputs are known:
                                 * ac_import_nodes makes them. NULL: they are there */
} ac_imported;

/* The name that a pin's is, or is a part of; the word itself where that is none or several. */
const char *ac_pin_name(ac_ctx *cx, const ac_imported *m, const char *word);

#endif
