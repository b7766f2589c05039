/* pass.h - options and results of the graph passes: plain data, without functions.
 *
 * A pass is `int ac_pass_x(ac_pass *p)`: it changes p->graph, adds the number of changes to p->changed, and returns
 * AC_OK or AC_FAIL with diagnostics. Its comment in ir/pass/x.c lists its requirements and guarantees. passes.def has
 * the order of the passes, run/run.h runs them. Results (cuts, products, storage, kept) are the caller's memory; names
 * and arrays in them live in the context's region. */
#ifndef AC_IR_PASS_PASS_H
#define AC_IR_PASS_PASS_H
#include "base/sink.h"
#include "base/vec.h"
#include "ir/graph/graph.h"

/* Channels that pass channels removed from an operator with weights. */
typedef struct ac_cut_row {
    const char *name, *op;
    int64_t channels, gone;      /* of the result */
    int64_t inputs, inputs_gone; /* channels of its input */
    int64_t macs, macs_gone;
    ac_bytes bytes, bytes_gone; /* weights and bias */
} ac_cut_row;
typedef struct ac_cuts {
    const ac_cut_row *row; /* all integer operators with weights */
    int32_t n;
    bool same; /* no output depends on the inputs: nothing was removed */
} ac_cuts;

/* An output that is stored in the memory of an input from run to run (--state). */
typedef struct ac_state_pair {
    int32_t output, input; /* positions in the graph's lists */
    const char *output_name, *input_name;
    const ac_tensor *state;    /* the tensor that replaces the input */
    const ac_tensor *position; /* the input with the number of valid rows; NULL: the state does not grow */
    int32_t axis;              /* the dimension in which it grows, up to the shape of the output; -1: it does not */
    const char *dim_name;      /* the file's name of that dimension; NULL: it has none */
    bool in_place;             /* a run writes only the changed elements, not all of them */
    const char *how;           /* the step that writes it, and why not in place */
} ac_state_pair;

/* Products of dequantised bytes that pass integers has found. */
typedef struct ac_products {
    int32_t integers, floats; /* multiplied as bytes; in floats, as in the file */
    const char *why;          /* the reason for the first one in floats; NULL: there are none */
} ac_products;

/* Tensors to be stored in 16 bits, and those that pass storage has converted. */
enum { AC_STORE_WEIGHTS = 1, AC_STORE_ACTIVATIONS = 2, AC_STORE_STATE = 4, AC_STORE_IO = 8 };
typedef struct ac_storage {
    ac_dtype type;              /* AC_F16 or AC_BF16 */
    int32_t what;               /* AC_STORE_.., one or several */
    int32_t tensors[3], all[3]; /* weights, activations, state: converted ones; all that were f32 */
    ac_bytes bytes[3];          /* size of the converted ones */
} ac_storage;

/* How operators draw random numbers. */
typedef struct ac_noise {
    uint64_t seed;
    bool inputs;   /* their results become inputs */
    bool advances; /* each run of the program draws others; false: the caller counts */
} ac_noise;

/* Products with the elements of sequences, which pass ahead computes for all steps at once, or would. */
typedef struct ac_ahead {
    bool off;       /* they stay in the loops, and are only counted */
    int32_t n;      /* products, and element-wise operators on them */
    ac_bytes bytes; /* their results for all steps */
} ac_ahead;

struct ac_expanded;

/* Depthwise convolutions that can expand the pixels that they read, in the order of the graph. */
typedef struct ac_expansion {
    const ac_node *node;         /* the depthwise convolution */
    const struct ac_expanded *e; /* it and the convolution of 1x1 before it as one */
    bool pays;                   /* faster than both apart: the caller sets it */
} ac_expansion;
typedef AC_VEC(ac_expansion) ac_expansions;

int ac_find_expansions(ac_ctx *cx, ac_graph *g, ac_expansions *to); /* expand.c; AC_FAIL: diagnostic */

struct ac_excite;

/* Convolutions that can compute the gates of their input, in the order of the graph. */
typedef struct ac_excitement {
    ac_node *depthwise, *excite, *conv;
    struct ac_expanded *e;  /* the depthwise convolution; the caller sets the tiles whose sums it leaves */
    struct ac_excite *sums; /* the gates */
    bool long_end;          /* many operations follow the depthwise convolution */
    bool pays;              /* faster than a launch for the gates: the caller sets it, and the tiles then */
} ac_excitement;
typedef AC_VEC(ac_excitement) ac_excitements;

int ac_find_excitements(ac_ctx *cx, ac_graph *g, ac_excitements *to); /* excited.c; AC_FAIL: diagnostic */

typedef struct ac_pass_options {
    const char *const *skip;
    int32_t n_skip;
    const char *const *dump_after;
    int32_t n_dump;         /* the graph's text form goes to `dump` after these passes */
    const char *stop_after; /* NULL: run all */
    bool reference;         /* --reference tflite: only the passes that passes.def allows with it */
    bool views;
    bool quantized_io;           /* inputs and outputs are the integers inside */
    bool exact;                  /* no change of float order */
    bool channels_first;         /* the graph's operators had channels first in the file: pass layout has work to do */
    int32_t least_taps;          /* of a filter that pass depthwise converts; 0: it does not run */
    bool rows;                   /* pass rows runs: an operator is a launch */
    int32_t gpu;                 /* compute capability of a GPU: pass excite runs; 0: another target */
    ac_expansions *expansions;   /* for pass expand, by ac_find_expansions before it; NULL: it does not run */
    ac_excitements *excitements; /* for pass excited, by ac_find_excitements before it; NULL: it does not run */
    bool gates;                  /* pass gate runs: the target's products of floats take gates */
    bool halves;                 /* pass halves runs: loops read and write 16 bits as f32 */
    int32_t plane_lanes;         /* floats of a vector, for pass planes; 0: it does not run */
    ac_bytes plane_bytes;        /* weights up to this size are cheap to read again and again */
    bool declared;               /* declared shapes and types of results are binding: infer reports those that differ */
    bool nodes;             /* pass infer leaves no SCAN; otherwise only cheap ones of a few steps become nodes there */
    ac_ahead *ahead;        /* for pass ahead; NULL: it does not run */
    int64_t unrolls;        /* SCANs of up to that many steps become nodes in pass unroll, after ahead; 0: none */
    int32_t cells;          /* but not those that a GPU of this compute capability runs as one launch; 0: all */
    bool grows;             /* pass grow runs: the caller adds gradients there */
    const ac_noise *random; /* for pass random; NULL: it does not run */
    ac_cuts *cuts;          /* filled in by pass channels; NULL: it does not run */
    ac_products *products;  /* added to by pass integers; NULL: it does not run */
    ac_storage *storage;    /* filled in by pass storage; NULL: it does not run */
    ac_state_pair *kept;    /* filled in by pass state */
    int32_t n_kept;
    struct ac_other_lengths *lengths; /* pass state: the model for other lengths (state/other_lengths.h); NULL: none */
    ac_sink *dump;
} ac_pass_options;

typedef struct ac_pass {
    ac_ctx *cx;
    ac_graph *graph;
    const ac_pass_options *opt;
    int32_t changed;
    bool channels_first; /* still: pass layout clears it */
} ac_pass;

typedef int ac_pass_fn(ac_pass *p);

/* Effects of a pass (passes.def). */
enum {
    AC_CHANGES_SHAPES = 1,   /* shapes and types, which all other passes need: it cannot be skipped */
    AC_CHANGES_NODES = 2,    /* operators are added, removed or replaced */
    AC_CHANGES_IO = 4,       /* names, types, shapes or number of inputs and outputs */
    AC_CHANGES_ROUNDING = 8, /* floats may round differently: sums have another order */
    AC_CHANGES_RESULTS = 16  /* a result of the file's operators may be missing, or have no memory of its own */
};

#endif
