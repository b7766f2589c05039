/* tf.h - declarations shared by the files that read TensorFlow graphs. From outside only ac_tf_format is used.
 *
 *     tf.c            the container: GraphDef, SavedModel; inputs and outputs
 *     pbtxt.c         text form -> wire form, so that one reader suffices
 *     bodies.c        nodes of a graph or function by name
 *     order.c         selects the nodes that run, orders them, finds the frames of loops and changes of variables
 *     run_defs.c      runs a body once: values pass from node to node, and operators become canonical nodes
 *     flow_defs.c     If, Case and While
 *     switch_defs.c   Switch and Merge
 *     regions.c       nodes after a Switch as branches
 *     frame_defs.c    loops of v1
 *     late_flow.c     loops, and branches whose condition depends on data
 *     list_defs.c     TensorArray and TensorList
 *     list_values.c   their elements
 *     restore.c       checkpoint entries of variables, by the nodes that restore them (variables.h)
 *     objects.c       the same, by the objects of the program that exported the model
 *     bundle.c        the checkpoint
 *     def_attrs.c     attributes of a node, read by name
 *     const_tensors.c TensorProto and shapes
 *     nodedefs.c      the table of operators (nodedefs.def) and its dispatch
 *     *_defs.c        adapters: math, shape, slice, index, window, matrix, norm, resize, quant, random, variables
 *
 * A TensorFlow graph is a program: loops, branches, calls and arrays of tensors are operators among others. The reader
 * runs this program on shapes and on the values that are known, the way its executor would, and what the operators
 * leave is the graph. So a call becomes the body of its function, a loop as many copies of its body as it has
 * iterations, an array the list of its elements, and a branch whose condition is known just that branch. A value
 * that the executor knows only at run time decides in the code (IF, WHILE), or is refused.
 *
 *     body      a graph or function of the file          ac_tf_body, ac_tf_node
 *     call      one run of a body                        ac_tf_call: a value for each result of each node
 *     value     a tensor, a list of tensors, nothing     ac_tf_value
 *     op        one node in one run, for the adapters    ac_tf_op
 *
 * Canonical nodes are resolved as they are made (maker.h). For that all dimensions of the inputs must be numbers
 * (reading.h).
 *
 * Two kinds of trouble are kept apart, as in onnx.h: a malformed file is reported at once, a well-formed one that
 * arenac does not support is collected (refuse.h). Readers of a broken value report nothing.
 *
 * Memory: the context's region. tensor_content and packed lists stay in the file's bytes unless they are misaligned. */
#ifndef AC_IMPORT_TF_TF_H
#define AC_IMPORT_TF_TF_H
#include "import/build/attrs.h"
#include "import/build/name_map.h"
#include "import/build/wanted_outputs.h"
#include "import/wire/pb.h"

typedef struct ac_tf ac_tf;
typedef struct ac_tf_attr ac_tf_attr;
typedef struct ac_tf_body ac_tf_body;
typedef struct ac_tf_bundle ac_tf_bundle;
typedef struct ac_tf_call ac_tf_call;
typedef struct ac_tf_node ac_tf_node;
typedef struct ac_tf_op ac_tf_op;
typedef struct ac_tf_variable ac_tf_variable;

/* ------------------------------------------------------------------ the file */

typedef struct ac_tf_ref {
    int32_t node; /* index in the body */
    int32_t out;  /* which result */
} ac_tf_ref;

enum { AC_TF_CONTROL = -1 }; /* ac_tf_ref.out of a control input */

struct ac_tf_node {
    const char *name, *op;
    ac_span message;
    ac_place at;
    ac_pb_list inputs, attributes;
    ac_tf_ref *in; /* data first, then control inputs */
    int32_t n_in, n_control;
    bool linked;   /* in[] is there */
    int32_t frame; /* the loop its results are in; 0: none */
    ac_tf_attr *attr;
    int32_t n_attr;         /* -1: not read yet */
    int32_t n_out;          /* of the row, or as far as others read them */
    const ac_operator *row; /* NULL: an operator without one */
    ac_tf_body *function;   /* the operator is a function of the library */
    bool argument;          /* a parameter of a function, or an input of the graph */
};

/* A loop of v1 control flow; number 0: nodes outside of all loops */
typedef struct ac_tf_frame {
    const char *name;
    int32_t parent;
    int32_t condition;    /* its LoopCond; -1: none */
    AC_VEC(int32_t) node; /* its nodes, in the order in which they run */
} ac_tf_frame;

struct ac_tf_body {
    const char *name; /* of the function; NULL: the main graph */
    ac_span message;  /* FunctionDef */
    AC_VEC(ac_tf_node) node;
    AC_VEC(ac_tf_frame) frame;
    AC_VEC(int32_t) arg; /* the nodes that are parameters, or inputs of the graph */
    int32_t n_rets;
    ac_tf_ref *ret;
    ac_name_map names, ret_names;
    AC_VEC(int32_t) effect; /* nodes of a function that run even if unused */
    bool read, ordered, broken;
    enum { AC_TF_UNKNOWN, AC_TF_NO, AC_TF_YES } changes; /* variables (order.c) */
};

/* ------------------------------------------------------------------ values */

/* A TensorArray or TensorList at one moment; never changed once made. A write is a new list of the one
 * difference to the list before, so that writing n elements costs n, not n * n. */
typedef struct ac_tf_list {
    ac_dtype dtype;
    int64_t n;
    ac_tensor *count;              /* the length at run time, at most n: `whole` is counted by it; NULL: n */
    const char *name;              /* NULL, or what --bound calls it */
    const struct ac_tf_list *base; /* as it was before; NULL: the first one */
    int64_t at;                    /* element that was written; -1: none, only the length changed */
    ac_tensor *item;
    ac_tensor *whole;         /* the first one: all elements along dimension 0; NULL: nothing is written */
    int32_t rank;             /* of the elements as declared; -1: unknown */
    int64_t dim[AC_MAX_RANK]; /* -1: unknown */
    bool grows;               /* a write past the end makes it longer */
} ac_tf_list;

/* The range of a tensor of random numbers: [low, high), or beyond `plus` by so much; see random_defs.c. */
typedef struct ac_tf_random {
    double low, high;
    ac_tensor *plus; /* NULL: 0 */
} ac_tf_random;

typedef enum ac_tf_kind {
    AC_TF_NONE, /* not run yet */
    AC_TF_TENSOR,
    AC_TF_LIST,     /* TensorList; TensorArray: both its handle and its flow */
    AC_TF_VARIABLE, /* the handle of one */
    AC_TF_DONE,     /* ran, and has nothing to give */
    AC_TF_DEAD,     /* of a branch that is not taken */
    AC_TF_BROKEN    /* something failed and was reported */
} ac_tf_kind;

/* A value exists only where all guards of its chain send it there: those of conditions known at run time only. */
typedef struct ac_tf_guard {
    const ac_tensor *key; /* the condition of the Switch */
    uint64_t mask;        /* a bit for each result of the Switch that it may come from; `false` is result 0 */
    int32_t count;        /* results of the Switch */
    const struct ac_tf_guard *outer;
    int32_t depth;
} ac_tf_guard;

typedef struct ac_tf_value {
    ac_tf_kind kind;
    ac_tensor *t;
    const ac_tf_list *list;
    const ac_tf_random *random; /* of a tensor; NULL: nothing is known of it */
    ac_tf_variable *variable;
    const ac_tf_guard *guard;
} ac_tf_value;

/* ------------------------------------------------------------------ a run */

/* A constant whose dimensions are in another order */
typedef struct ac_tf_turned {
    int32_t perm[AC_MAX_RANK], next;
    ac_tensor *from, *to;
} ac_tf_turned;

/* Notes on the graph that nodes go to: the model's, or a subgraph */
typedef struct ac_tf_here {
    AC_VEC(int32_t) turned_first; /* by the id of `from`: 1 + its newest entry of `turned` */
    AC_VEC(ac_tf_turned) turned;
    AC_VEC(const ac_tf_guard *) guard;    /* by the id of a node; NULL: none */
    AC_VEC(struct ac_tf_region *) region; /* IFs of branches of v1 that may get more results (regions.h) */
    bool turns;                           /* it is the body of a loop */
} ac_tf_here;

struct ac_tf {
    ac_reading *reading;
    ac_ctx *cx;
    ac_graph *g;
    ac_pb pb;
    ac_tf_body main;
    ac_name_list output_key; /* names of the outputs by the signature; none: nodes' */
    AC_VEC(ac_tf_body *) function;
    ac_name_map function_names;
    ac_tf_here here; /* of g */
    AC_VEC(ac_tf_variable *) variable;
    ac_name_map variable_names;
    bool restores;                      /* a SavedModel that names its restore operator */
    ac_span object_graph;               /* SavedObjectGraph */
    bool objects_found, objects_broken; /* it was read, and was malformed */
    ac_tf_bundle *bundle;               /* the checkpoint; NULL: not opened yet, or not to be opened */
    bool bundle_broken;
};

struct ac_tf_call {
    ac_tf *r;
    ac_tf_body *body;
    const ac_tf_op *from; /* who calls, for its attributes; NULL: the main graph */
    ac_tf_value **value;  /* by node, then by result */
    int32_t level;        /* calls above */
};

struct ac_tf_op {
    ac_tf *r;
    ac_tf_call *call;
    ac_tf_node *node;
    const ac_operator *row;
    ac_maker b;
    ac_attrs_reader attrs;
    ac_tf_value *in; /* data inputs */
    ac_tensor **t;   /* those that are tensors; NULL: another kind */
    int32_t n_in;
    ac_tf_value *out;
    int32_t n_out;
    int32_t first; /* tensors from this id on are its own */
    ac_dtype half; /* operands were widened from this type to f32: f32 results go back */
};

/* tf.c */
extern const ac_format ac_tf_format;

/* pbtxt.c: the text form as wire form, in the context's region; *lines maps its bytes to lines of the text. */
typedef enum ac_tf_message { AC_TF_GRAPH_DEF, AC_TF_SAVED_MODEL } ac_tf_message;
int ac_tf_text(ac_ctx *cx, const char *file, ac_span text, ac_tf_message what, ac_span *wire,
               const ac_pb_lines **lines);

/* const_tensors.c */
ac_dtype ac_tf_dtype(int64_t number); /* AC_NONE: not one of ours */
const char *ac_tf_dtype_name(ac_ctx *cx, int64_t number);
/* A TensorShapeProto. *rank -1: unknown; sizes -1: unknown. AC_FAIL: malformed, or refused (then *refused is the
 * reason). */
int ac_tf_shape(ac_pb *pb, ac_span proto, int32_t *rank, int64_t dim[AC_MAX_RANK], const char **refused);
/* A TensorProto as a constant tensor of the graph. NULL: malformed, or refused (as above). */
ac_tensor *ac_tf_tensor(ac_tf *r, ac_span proto, const char *name, ac_place at, const char **refused);

/* def_attrs.c */
struct ac_tf_attr {
    const char *name;
    ac_span s, shape, tensor, list, placeholder, func;
    int64_t i, b, type;
    float f;
    bool used; /* an adapter has read it; others are refused */
};
int ac_tf_attrs(ac_tf *r, ac_tf_node *n);
enum {
#define A(id) A_##id,
#include "import/tf/attrs_ids.def"
#undef A
};
extern const ac_attr_source ac_tf_attributes;
ac_tf_attr *ac_tf_attr_of(ac_tf_op *n, const char *name); /* NULL: left out */
ac_tf_body *ac_tf_func(ac_tf_op *n, const char *name);    /* NULL: reported */
int ac_tf_funcs(ac_tf_op *n, const char *name, ac_tf_body **out, int32_t cap, int32_t *count);

/* bodies.c */
int ac_tf_body_read(ac_tf *r, ac_tf_body *body, ac_pb_list nodes); /* names and operators; nodes are linked on demand */
ac_tf_body *ac_tf_function(ac_tf *r, const char *name);            /* NULL: the library has none */
int ac_tf_functions(ac_tf *r, ac_span library);
/* "name", "name:1", in functions "name:output:0", as a reference; AC_FAIL: reported at `at`. */
int ac_tf_ref_of(ac_tf *r, ac_tf_body *body, const char *text, ac_place at, ac_tf_ref *out);
int ac_tf_link(ac_tf *r, ac_tf_body *body, ac_tf_node *n);

/* order.c */
int ac_tf_body_order(ac_tf *r, ac_tf_body *body); /* from ret[] on: links, frames, order */

/* run_defs.c. A failure is reported or refused; its results are broken, and what does not need them goes on. */
int ac_tf_run(ac_tf *r, ac_tf_body *body, const ac_tf_op *from, const ac_tf_value *arg, ac_tf_value *ret);
int ac_tf_node_run(ac_tf_call *c, int32_t node); /* its inputs have run */
ac_tf_value *ac_tf_value_of(ac_tf_call *c, ac_tf_ref ref);

/* switch_defs.c, frame_defs.c */
int ac_tf_frame_run(ac_tf_op *n, int32_t frame); /* a loop, on behalf of an Exit: results of all of them */
int ac_tf_merge_run(ac_tf_op *n);
int ac_tf_switch_run(ac_tf_op *n);

/* nodedefs.c */
int ac_tf_op_run(ac_tf_op *n); /* n->row is set */
int ac_tf_refuse_op(ac_tf *r, const ac_tf_node *n);
extern const ac_operators ac_tf_operators;
const ac_operator *ac_tf_operator(ac_ctx *cx, const char *name); /* one of --custom first; NULL: neither has it */
/* custom_defs.c: the row of an operator that --custom binds; NULL: it does not. */
const ac_operator *ac_tf_custom(ac_ctx *cx, const char *op);

/* operands.c: operands of an adapter, and its results. */
ac_tensor *ac_tf_in(const ac_tf_op *n, int32_t i);                    /* NULL: not there */
int ac_tf_axes(ac_tf_op *n, int32_t i, int32_t rank, uint32_t *mask); /* a constant list of axes */
int ac_tf_result(ac_tf_op *n, int32_t i, ac_tensor *t);               /* t NULL: AC_FAIL */
int ac_tf_all_results(ac_tf_op *n, ac_tf_kind kind);                  /* AC_FAIL if they are broken */

/* matrix_defs.c: t transposed; of a constant made once. */
ac_tensor *ac_tf_weights(ac_tf_op *n, ac_tensor *t, const int32_t *perm);

/* nodedefs.c: channels first? From attribute data_format; AC_FAIL: neither. */
int ac_tf_channels_first(ac_tf_op *n, bool *first);

#endif
