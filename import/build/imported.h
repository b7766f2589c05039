/* imported.h - holds the options for reading a model file and the result of reading it (import/import.h has the calls).
 *
 * An ac_imported is a value: reading fills it, ac_import_nodes completes it, and later it is constant. Its pointers are
 * into the context's region, or into the bytes of the files. */
#ifndef AC_IMPORT_BUILD_IMPORTED_H
#define AC_IMPORT_BUILD_IMPORTED_H
#include "base/file.h"
#include "base/text/expression.h"
#include "ir/graph/graph.h"

typedef struct ac_import_options {
    const char *from;      /* --from; NULL: guess */
    const char *outputs;   /* --outputs NAME,NAME; NULL: those of the file, or all unread tensors */
    const ac_file *second; /* the file with the weights, for formats that have one; outlives the graph. NULL: none */
    bool strict;           /* wrong declarations and the like are errors, not warnings */
    bool random;           /* parameters missing from the files get random values, generated from `seed` */
    uint64_t seed;
    int64_t batch;       /* replaces the first dimension of all inputs; 0: keep that of the file */
    bool train;          /* parameters are weights (ac_tensor.weight): reading computes nothing from them */
    const ac_pin *bound; /* --bound NAME=N: result NAME, whose size is computed at run time, has at most N elements */
    int32_t n_bounds;
    bool batch_norm; /* with `train`: batch normalisations use the statistics of the batch */
    bool fixes;      /* the caller will make constants of inputs, so nodes are created later, by ac_import_nodes */
    const char *const *wanted; /* names of inputs that the caller gives: the file's defaults for them are not used */
    int32_t n_wanted;
    const char *const *omitted; /* names of optional inputs that have no value */
    int32_t n_omitted;
    struct ac_attrs_read *read; /* gets the attributes that adapters read; NULL: not recorded */
    /* computes small constants while nodes are created; later the graph's. NULL: not computed */
    ac_promise_fn *promise;
} ac_import_options;

typedef struct ac_imported {
    ac_graph *graph;              /* as in the file; only its inputs while `waiting` is set */
    AC_VEC(ac_tensor *) promised; /* with `waiting`: the outputs that the file declares, not in the graph */
    const char *format;           /* its name in reports: "TFLite v3", "text" */
    const char *listing;          /* the model in its format's own words, for `show`; NULL: none */
    int64_t file_ops;             /* operators in the file's main graph */
    AC_VEC(const char *) omitted; /* optional inputs of the file that the caller omits */
    AC_VEC(ac_tensor *) missing;  /* parameters missing from the files; splats stand for them, enough for a plan */
    AC_VEC(ac_running) running;   /* with batch_norm */
    const char *missing_file;     /* the file that should contain them: "a .caffemodel file" */
    const struct ac_weights_file *weights; /* text: the file that holds its constants; NULL: none */
    bool channels_first;                   /* its operators have channels first; pass layout converts them */
    bool declared;                         /* declared shapes of results are binding: pass infer compares them */
    int64_t batch;                         /* size of a batch that the file leaves open (batch.c); 0: an error */
    int32_t pinned;                        /* number of dimensions that ac_import_nodes set */
    struct ac_reading *waiting; /* creating its nodes needs the sizes, or given values, of its inputs: ac_import_nodes
                                 * does it later. NULL: nodes exist */
} ac_imported;

/* The full name of a dimension or tensor that `word` selects (base/text/named.h); `word` itself if it selects none or
 * several. */
const char *ac_pin_name(ac_ctx *cx, const ac_imported *m, const char *word);

/* After ac_import_nodes has failed with E0204: the options that set the sizes still open, "--dim seq=N"; NULL if all
 * sizes are known. */
const char *ac_open_sizes(ac_ctx *cx, const ac_graph *g);

#endif
