/* tflite.h - the internal interface of the files that read TFLite; other folders use only ac_tflite_format.
 *
 *     tflite.c         the container: operator codes, buffers, subgraphs, the order of execution
 *     tensors.c       tensors: shape, type, quantisation, constant bytes; sparse.c those that are stored sparse,
 *                     blocks.c those that are quantised in blocks
 *     operators.c     operators: options -> attributes; the table is operators.def, its rules are in rules.h
 *     sized.c results of data-dependent size
 *     calls.c         subgraphs of models with data-dependent sizes
 *
 * The meaning of nodes does not depend on sizes, so they are created when the file is read, and the user may change
 * sizes afterwards. A model with data-dependent sizes is read again once those of its inputs are known (reading.h):
 * then nodes are resolved one by one (ac_tfl.sized), and results may be other tensors than those of the file. Subgraphs
 * are then read once for each operator that runs them, on its operands.
 *
 * Two kinds of errors are distinguished. Malformed parts of a file are reported at once. Well-formed but unsupported
 * parts are collected with ac_refuse and reported after everything was read, once for each distinct operator and
 * reason, so that the user sees the complete list.
 *
 * Memory: the context's region; constants stay in the file's bytes unless they are misaligned there. */
#ifndef AC_IMPORT_TFLITE_TFLITE_H
#define AC_IMPORT_TFLITE_TFLITE_H
#include "import/build/reading.h"
#include "import/wire/fb.h"
#include "ir/ops/custom.h"

typedef struct ac_tfl ac_tfl;
typedef struct ac_tfl_node ac_tfl_node;

/* Fields of a Tensor that two files read. */
enum { AC_TFL_T_TYPE = 1, AC_TFL_T_BUFFER };

/* An entry of the file's list of operator codes. */
typedef struct ac_tfl_code {
    const char *name; /* "CONV_2D", "CUSTOM:Foo", "BUILTIN:999" */
    int64_t version;
    const ac_operator *row; /* NULL: custom or unknown */
    const ac_custom *user;  /* the row of --custom that computes it; NULL: none */
    ac_op op;               /* the operator whose attributes its options are; AC_OP_NONE: composed of several, without
                             * options */
    bool known;             /* supported */
} ac_tfl_code;

typedef struct ac_tfl_buffer {
    ac_span bytes;
    const void *aligned; /* copy at a 16-byte address, after its first use */
} ac_tfl_buffer;

/* A tensor of the file. */
typedef struct ac_tfl_tensor {
    const char *name;   /* for messages; never NULL */
    ac_tensor *t;       /* NULL: unused, broken, or refused */
    const char *refuse; /* why no operator can use it; NULL: fine */
    ac_code code;       /* of that reason */
    int32_t maker;      /* first operator that lists it as an output; -1: none */
    bool complex;       /* f32 [..,2]; refused, except by operators that support it (ac_tfl_takes) */
    bool resource;      /* the handle of a variable; refused, except by those that support it; t is the variable */
    bool input;         /* of the subgraph */
    bool open;          /* a dimension is not in the file, or may be another one */
    bool late;          /* its value depends on inputs or states, not only on shapes */
    bool used, made;    /* used by the subgraph or an operator; has its value at this point of execution */
    bool broken;        /* already reported: no further errors at its readers and producer */
} ac_tfl_tensor;

/* A resource variable: its value from run to run is a state tensor of the main graph. */
typedef struct ac_tfl_variable {
    const char *container, *name;
    ac_tensor *value; /* no state until something reads or writes it */
} ac_tfl_variable;

/* A subgraph while it is read. */
typedef struct ac_tfl_sub {
    ac_graph *g;
    int32_t index;
    ac_tfl_tensor *tensor;
    uint32_t n_tensor;
    bool sized;            /* nodes are resolved at once (ac_tfl.sized) */
    ac_tensor *const *arg; /* of a call: the values of its inputs */
    ac_tensor **result;    /* the values of its outputs; NULL: not a call */
} ac_tfl_sub;

/* Constants of a called subgraph, by its tensors, so that further calls in the same graph share them. */
typedef struct ac_tfl_constants {
    const ac_graph *g;
    ac_tensor **t;
} ac_tfl_constants;

struct ac_tfl {
    ac_reading *reading;
    ac_ctx *cx;
    ac_fb fb;
    ac_tfl_code *code;
    uint32_t n_code;
    ac_tfl_buffer *buffer;
    uint32_t n_buffer;
    AC_VEC(ac_tfl_variable) variable;
    AC_VEC(int32_t) once; /* subgraphs that give variables their first values */
    bool sized;           /* the second reading: sizes of inputs are known, and shapes follow at once */
    ac_fb_vec sub;        /* the file's subgraphs */
    /* Of a sized reading. */
    ac_graph *g;                /* where nodes of called subgraphs go: the main graph, or one of a branch or a loop */
    ac_tfl_constants *constant; /* by subgraph */
    int32_t depth;              /* calls around this one */
};

/* An operator of the file, ready to become a node. Rules may change operands and attributes. */
struct ac_tfl_node {
    ac_graph *g;
    const ac_tfl_code *code;
    ac_fb_table table; /* Operator */
    ac_place at;
    ac_tensor **in, **out;  /* left-out operands are NULL */
    ac_tfl_tensor **result; /* of out */
    uint32_t late;          /* ac_tfl_tensor.late of operand i is bit i; of those from 31 on bit 31 */
    int32_t n_in, n_out, id;
    ac_op op;              /* the resulting operator; a rule may choose another */
    bool complex;          /* the first operand is: its last dimension is not in the file */
    ac_tfl_tensor *handle; /* of a variable: the first operand, or the first result */
    int32_t subgraph;
    bool sized;    /* nodes are resolved at once (ac_tfl.sized) */
    int32_t first; /* then: tensors of the graph from this one on are of this operator */
    ac_attrs attrs;
};

/* tensors.c: fills sub->tensor; tensors marked `used` become tensors of the graph. AC_FAIL: some are broken; reading
 * may continue unless the fb has failed. */
int ac_tfl_tensors(ac_tfl *r, ac_tfl_sub *sub, ac_fb_vec tensors);

/* sparse.c: *out is the dense constant, of elements of `bits`, whose non-zero elements are `stored`. */
int ac_tfl_densify(ac_tfl *r, ac_place at, const char *name, ac_fb_table sparsity, int32_t rank, const int64_t *dim,
                   int32_t bits, ac_span stored, const void **out);

/* blocks.c: *scale: of each block of *block neighbours; `count` numbers, `last` of them in a row. */
int ac_tfl_blocks(ac_tfl *r, ac_place at, const char *name, ac_fb_table details, ac_fb_vec tensors, int64_t last,
                  int64_t count, const float **scale, int64_t *block);
/* The numbers times these scales, f32 of shape dim; rank is below the most. NULL: reported. */
ac_tensor *ac_tfl_unblocked(ac_graph *g, ac_place at, const char *name, ac_dtype type, int32_t rank, const int64_t *dim,
                            const void *numbers, const float *scale, int64_t block);

/* operators.c */
extern const ac_operators ac_tfl_operators;
ac_tfl_code ac_tfl_code_of(ac_ctx *cx, int64_t number, const char *custom, int64_t version);
bool ac_tfl_takes(const ac_tfl_code *code, const ac_tfl_tensor *x); /* x is complex or a handle, and may be used */
bool ac_tfl_is_composed(const ac_tfl_code *code);                   /* its rule makes all nodes; code->known */
void ac_tfl_refuse_op(ac_tfl *r, ac_place at, const ac_tfl_code *code);
/* Checks operands, decodes options and appends the node; node id is `id`. AC_FAIL: reported or refused. */
int ac_tfl_node_add(ac_tfl *r, ac_tfl_node *n, int32_t id);

/* tflite.c: reads subgraph sub->index on n_arg values, for n of the enclosing graph, which uses n_result of its
 * results. AC_FAIL: reported, or refused. */
int ac_tfl_subgraph(ac_tfl *r, ac_tfl_sub *sub, const ac_tfl_node *n, int32_t n_arg, int32_t n_result);
/* The values that the body of n, a WHILE, changes, that is, does not return unchanged. */
int ac_tfl_changed(ac_tfl *r, const ac_tfl_node *n, bool *changes);
/* variables.c: the subgraph runs once, before everything else. */
bool ac_tfl_runs_once(const ac_tfl *r, int32_t subgraph);

/* calls.c, of a sized reading: the nodes of a subgraph on arg[], where nodes go; and the nodes of IF and WHILE. */
int ac_tfl_call(ac_tfl *r, const ac_tfl_node *n, int32_t subgraph, ac_tensor *const *arg, int32_t n_arg,
                ac_tensor **result, int32_t n_result);
int ac_tfl_if(ac_tfl *r, ac_tfl_node *n);
int ac_tfl_while(ac_tfl *r, ac_tfl_node *n);

/* sized.c: true if the size of a result of n, or its position, is data-dependent. */
bool ac_tfl_size_is_late(const ac_tfl_node *n);
/* In a sized reading: creates the nodes of n, whose options are attributes. AC_FAIL: reported, or refused. */
int ac_tfl_sized_add(ac_tfl *r, ac_tfl_node *n);

/* The reader itself (tflite.c). */
extern const ac_format ac_tflite_format;

#endif
