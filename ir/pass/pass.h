/* pass.h - graph passes: what they are told, and what they report. The rows of passes.def run in their order
 * (run/run.h).
 *
 * A pass is `int ac_pass_x(ac_pass *p)`: it changes p->graph, adds to p->changed, and returns AC_OK or AC_FAIL with
 * diagnostics. Its comment in ir/pass/x.c says what it needs and guarantees. The graph is verified after each
 * (ac_graph_verify); each is timed, and can be skipped, stopped after and dumped by name. */
#ifndef AC_IR_PASS_PASS_H
#define AC_IR_PASS_PASS_H
#include "base/sink.h"
#include "ir/graph/graph.h"

/* What pass channels took out of an operator with weights. */
typedef struct ac_cut_row {
    const char *name, *op;
    int64_t channels, gone;      /* of the result */
    int64_t inputs, inputs_gone; /* channels of what it reads */
    int64_t macs, macs_gone;
    ac_bytes bytes, bytes_gone; /* weights and bias */
} ac_cut_row;
typedef struct ac_cuts {
    const ac_cut_row *row; /* all integer operators with weights */
    int32_t n;
    bool same; /* no output depends on the inputs: nothing was taken out */
} ac_cuts;

/* An output that is kept in the bytes of an input from run to run (--state). */
typedef struct ac_state_pair {
    int32_t output, input; /* positions in the graph's lists */
    const char *output_name, *input_name;
    const ac_tensor *state;    /* what pass state made of the input */
    const ac_tensor *position; /* the input that says how many rows there are, where it grows */
    int32_t axis;              /* along which it grows, up to the shape of the output; -1: it does not */
    const char *dim_name;      /* what the file calls the number of its rows; NULL: nothing */
    bool in_place;             /* only what changes is written; else all of it, each time */
    const char *how;           /* which step writes it, and why not in place */
} ac_state_pair;

/* What pass integers did with products of dequantised bytes. */
typedef struct ac_products {
    int32_t integers, floats; /* multiplied as bytes; as the file says, in floats */
    const char *why;          /* the first of the latter is; NULL: there is none */
} ac_products;

/* What lies in memory in 16 bits, and what pass storage found of it. */
enum { AC_STORE_WEIGHTS = 1, AC_STORE_ACTIVATIONS = 2, AC_STORE_STATE = 4, AC_STORE_IO = 8 };
typedef struct ac_storage {
    ac_dtype type;              /* AC_F16 or AC_BF16 */
    int32_t what;               /* AC_STORE_.., one or several */
    int32_t tensors[3], all[3]; /* weights, activations, state: how many became this type, of how many of f32 */
    ac_bytes bytes[3];          /* that they take now */
} ac_storage;

/* The model again, with caches that grow (ac_state_pair.axis) by so many rows longer, up to before pass state, or up to
 * pass infer alone; NULL: there is none. Only what AC_LENGTH_NEEDED finds wrong is reported; NULL without a diagnostic:
 * their length cannot be chosen. The graph lives until the passes are over; it may change. */
typedef enum ac_length_use { AC_LENGTH_NEEDED, AC_LENGTH_TRIED, AC_LENGTH_INFERRED } ac_length_use;
enum { AC_LENGTHS_FEW = 3 }; /* shorter ones that are asked for at most, besides four others */
typedef struct ac_pass_lengths {
    ac_graph *(*graph)(void *with, int64_t more, ac_length_use use);
    void *with;
} ac_pass_lengths;

typedef struct ac_pass_options {
    const char *const *skip;
    int32_t n_skip;
    const char *const *dump_after;
    int32_t n_dump;         /* the graph's text form goes to `dump` after these passes */
    const char *stop_after; /* NULL: run all */
    bool reference;         /* --reference tflite: only infer, fold (shapes), dead */
    bool views;
    bool quantized_io;    /* inputs and outputs are the integers inside */
    bool exact;           /* no change of float order */
    bool channels_first;  /* the graph's operators had channels first in the file: pass layout has work to do */
    int32_t least_taps;   /* of a filter that pass depthwise takes; 0: it has nothing to do */
    int32_t plane_lanes;  /* floats of a vector, for pass planes; 0: it has nothing to do */
    ac_bytes plane_bytes; /* of weights that are read again and again */
    bool declared;        /* shapes and types declared for results bind: infer reports those that come out otherwise */
    /* Pass grow runs, and calls it: it may add nodes, inputs and state, and choose other outputs. `with` is its own.
     * AC_FAIL: diagnostic. NULL: the graph stays what it is. */
    int (*grow)(void *with, ac_ctx *cx, ac_graph *g);
    void *with;
    ac_cuts *cuts;         /* pass channels runs, and says here what it did; NULL: it does not */
    ac_products *products; /* pass integers runs, and adds here what it did; NULL: it does not */
    ac_storage *storage;   /* pass storage runs, and says here what it did; NULL: it does not */
    ac_state_pair *kept;   /* pass state runs, and says here what it did */
    int32_t n_kept;
    ac_pass_lengths lengths; /* graph NULL: there are none */
    ac_sink *dump;
} ac_pass_options;

typedef struct ac_pass {
    ac_ctx *cx;
    ac_graph *graph;
    const ac_pass_options *opt;
    int32_t changed;
    bool channels_first;            /* still: pass layout clears it */
    const struct ac_inline *within; /* infer: the graph is a subgraph that stays; NULL: it is the main one */
} ac_pass;

typedef int ac_pass_fn(ac_pass *p);

#endif
