/* onnx.h - declarations shared by the files that read ONNX. From outside only ac_onnx_format is used.
 *
 *     here             the basis of adapters
 *       node_values.c    values of a graph or function body by name
 *       tensor_protos.c  TensorProto in all encodings -> constants; declared types and shapes
 *       texts.c          strings as codes of one list of texts
 *       node_attrs.c     attributes of a node, read by name
 *       node_build.c     operands and results; nodes are made by ir/make/maker.h
 *     ../ml            adapters of ai.onnx.ml: trees, linear models, features
 *     ..
 *       onnx.c           the container: model, opsets, graphs, functions
 *       graph_nodes.c    nodes in order: operands and results, calls of functions and of subgraphs
 *       nodes.c          the table of operators (nodes.def) and its dispatch
 *       *_nodes.c        all other adapters: math, shape, index, pad, window, pool, matrix, norm, quant, flow ..
 *
 * ONNX operators mean different things for different ranks, shapes and opsets, so every node is resolved
 * (ir/ops/shape/resolve.h) as soon as it is made: an adapter sees the shape of each operand and the value of each small
 * constant. For that all dimensions of the inputs must be numbers (reading.h).
 *
 * Two kinds of trouble are kept apart. A malformed file is reported at once. A well-formed one that arenac does not
 * support is collected with ac_refuse and reported after everything was read, once for each distinct operator and
 * reason. A value whose node failed is broken; its readers report nothing.
 *
 * Memory: the context's region. raw_data and packed lists stay in the file's bytes unless they are misaligned there;
 * external data is copied. */
#ifndef AC_IMPORT_ONNX_PROTO_ONNX_H
#define AC_IMPORT_ONNX_PROTO_ONNX_H
#include "import/build/attrs.h"
#include "import/wire/pb.h"

typedef struct ac_onx ac_onx;
typedef struct ac_onx_node ac_onx_node;
typedef struct ac_onx_scope ac_onx_scope;

/* A name of a graph. */
typedef struct ac_onx_value {
    const char *name;
    ac_tensor *t;  /* NULL until it is made, and when it is broken */
    bool declared; /* the file declares its type, and its shape if rank >= 0 */
    ac_dtype dtype;
    bool text;     /* declared as strings, whose codes are i32 */
    bool optional; /* declared as a value or none */
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    const char *dim_name[AC_MAX_RANK];
    bool made, broken;
    bool input;
} ac_onx_value;

typedef struct ac_onx_opset {
    const char *domain; /* interned; "" for ai.onnx */
    int64_t version;
} ac_onx_opset;

/* Names of a graph or of a function body */
struct ac_onx_scope {
    ac_onx_scope *outer;            /* whose names are visible too: of a subgraph; NULL for functions */
    const struct ac_onx_node *call; /* function: who calls it, for its attributes */
    struct ac_onx_slot *slot;       /* hash table by interned name */
    uint32_t cap, n;
    ac_onx_opset *opset;
    int32_t n_opset;
    int32_t level; /* function calls above */
};

typedef struct ac_onx_attr {
    const char *name;
    int64_t type, i;
    float f;
    ac_span s, tensor, sparse, graph, ref;
    ac_pb_list floats, ints, strings;
    bool has_tensor;
    bool used; /* an adapter has read it; others are refused */
} ac_onx_attr;

typedef struct ac_onx_function {
    const char *name, *domain;
    ac_span body;
} ac_onx_function;

/* A file in the folder of the model that holds data of constants */
typedef struct ac_onx_external {
    const char *name; /* as the model has it */
    ac_file file;
} ac_onx_external;

struct ac_onx {
    ac_reading *reading;
    ac_ctx *cx;
    ac_graph *g;    /* that nodes are made for */
    ac_graph *main; /* that of the model, which has the list of subgraphs */
    ac_pb pb;
    AC_VEC(ac_onx_function) function;
    AC_VEC(ac_onx_external) external;
    ac_onx_scope scope;                /* of the main graph */
    struct ac_onx_body *body;          /* its GraphProto */
    struct ac_onx_sequence *sequences; /* all so far */
    struct ac_onx_texts *texts;        /* texts.h */
    int32_t nodes;                     /* read so far */
};

/* A node of the file on its way into the graph. */
struct ac_onx_node {
    ac_onx *r;
    ac_onx_scope *scope;
    const char *type, *domain, *name;
    int64_t version; /* of its domain */
    const ac_operator *row;
    ac_place at;
    ac_maker b;
    ac_attrs_reader attrs;
    int32_t n_in, n_out;
    ac_tensor **in;     /* left-out operands are NULL */
    ac_onx_value **out; /* left-out results are NULL */
    ac_onx_attr *attr;
    int32_t n_attr;
    int32_t first;      /* tensors from this id on are the node's own */
    ac_dtype half;      /* operands were widened from this type to f32: f32 results go back */
    bool whole_windows; /* an average that counts pads divides by all of the kernel, also beyond the pads */
};

/* onnx.c */
extern const ac_format ac_onnx_format;
/* The nodes of a graph that is an attribute of n (a branch, the body of a loop), on `in`, in a scope inside that of
 * n. */
int ac_onx_call_graph(ac_onx_node *n, ac_span graph, ac_tensor *const *in, int32_t n_in, ac_tensor **out,
                      int32_t n_out);

/* node_values.c */
ac_onx_value *ac_onx_value_find(ac_onx_scope *s, const char *name);           /* outer scopes too; NULL: unknown */
ac_onx_value *ac_onx_value_get(ac_onx *r, ac_onx_scope *s, const char *name); /* made when new, in this scope */

/* tensor_protos.c */
typedef struct ac_onx_const {
    ac_dtype dtype;
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    const void *bytes; /* dense, at any address; never NULL once read */
    ac_bytes in_file;  /* of a sparse one; else 0 */
    bool text;         /* they are codes of texts, i32 */
    const char *name;
} ac_onx_const;
ac_dtype ac_onx_dtype(int64_t number); /* AC_NONE: not one of ours */
const char *ac_onx_dtype_name(ac_ctx *cx, int64_t number);
/* AC_FAIL: malformed, or refused (then *refused is the reason, and nothing is reported yet). */
int ac_onx_tensor(ac_onx *r, ac_span proto, ac_onx_const *out, const char **refused);
/* The shape of out, which has its name: of `count` elements. */
int ac_onx_dims(ac_onx *r, ac_place at, ac_pb_list dims, ac_onx_const *out, int64_t *count, const char **refused);
/* sparse_protos.c: the same of a SparseTensorProto. */
int ac_onx_sparse_tensor(ac_onx *r, ac_span proto, ac_onx_const *out, const char **refused);
/* Bytes are not copied until they are used. */
ac_tensor *ac_onx_constant(ac_onx *r, const char *name, const ac_onx_const *c);
/* Type and shape of a ValueInfoProto's TypeProto. */
int ac_onx_type(ac_onx *r, ac_span proto, ac_onx_value *v, const char **refused);

/* node_attrs.c */
enum {
#define A(id) A_##id,
#include "import/onnx/proto/attrs_ids.def"
#undef A
};
extern const ac_attr_source ac_onx_attributes;
int ac_onx_attrs(ac_onx_node *n, ac_pb_list list);
/* Of a function: attributes that its call n does not give. */
int ac_onx_default_attrs(ac_onx_node *n, ac_pb_list list);
ac_onx_attr *ac_onx_attr_of(ac_onx_node *n, const char *name); /* NULL: left out */
/* Floats of an attribute without a row, as in the file, since trees have millions of them; NULL: left out, or empty. */
const float *ac_onx_floats(ac_onx_node *n, const char *name, int64_t *count);
/* The tensor of an attribute, a constant; *out NULL: it is left out. */
int ac_onx_tensor_attr(ac_onx_node *n, const char *name, ac_tensor **out);
/* The type that attribute dtype names, else `init`. AC_FAIL: arenac does not have it (refused). */
int ac_onx_dtype_or(ac_onx_node *n, ac_dtype init, ac_dtype *to);
/* A list that is an attribute in older opsets and an operand in newer ones. *given: it is there at all. */
int ac_onx_list_or(ac_onx_node *n, int id, int32_t operand, ac_ints *v, bool *given);

/* norm_nodes.c: x rounded to the 16-bit type of the node's operands, as f32; x itself where they have more bits. */
ac_tensor *ac_onx_rounded(ac_onx_node *n, ac_tensor *x);
/* Along the last dimension; 16-bit precisions round each step. */
ac_tensor *ac_onx_softmax(ac_onx_node *n, ac_tensor *x, ac_dtype precision);

/* fused_nodes.c: x [N,C,..] as [N,..,C], or back. */
ac_tensor *ac_onx_swapped_channels(ac_onx_node *n, ac_tensor *x, bool to_last);

/* decoder_nodes.c: pairs of x [B,T,H,D] turned by the angles whose cosines and sines are rows of [M,R/2], at positions
 * [B,T] or [1,T] (NULL: cosines and sines are [B,T,R/2] already); the numbers of a head after the first R stay. */
ac_tensor *ac_onx_turned(ac_onx_node *n, ac_tensor *x, ac_tensor *cosine, ac_tensor *sine, ac_tensor *positions,
                         bool neighbours);

/* bounded_nodes.c: the file's name of result i, NULL: left out; is a single begin or end of a Slice computed? */
const char *ac_onx_result_name(const ac_onx_node *n, int32_t i);
bool ac_onx_is_late_slice(ac_onx_node *n);
int ac_onx_late_slice(ac_onx_node *n);

/* sequence_nodes.c: a sequence of tensors is a value without a type. NULL: t is not one. */
typedef struct ac_onx_sequence ac_onx_sequence;
ac_onx_sequence *ac_onx_sequence_of(const ac_onx *r, const ac_tensor *t);
ac_tensor *ac_onx_sequence_all(ac_onx_node *n, ac_tensor *whole); /* that of all parts of it along dimension 0 */
/* All elements along a new dimension 0, which are of one shape; of none: that of `like`. NULL: refused. */
ac_tensor *ac_onx_sequence_whole(ac_onx_node *n, ac_onx_sequence *s, const ac_tensor *like);
ac_tensor *ac_onx_sequence_first(ac_onx_node *n, ac_onx_sequence *s); /* NULL: it is empty */

/* node_build.c */
ac_tensor *ac_onx_in(const ac_onx_node *n, int32_t i); /* NULL: left out */
/* Operand i must be present, even if operands before it may be left out; E0102. */
int ac_onx_need(const ac_onx_node *n, int32_t i);
/* Result i of the node is t. NULL: AC_FAIL. */
int ac_onx_result(ac_onx_node *n, int32_t i, ac_tensor *t);

/* nodes.c */
extern const ac_operators ac_onx_operators;
int ac_onx_node_add(ac_onx_node *n); /* n->row is set; results are bound. AC_FAIL: reported or refused */
/* The first result of another operator of ai.onnx, as that version has it, on these operands (NULL: left out) with n's
 * attributes. NULL: reported or refused. */
ac_tensor *ac_onx_inner(ac_onx_node *n, const char *type, int64_t version, ac_tensor *const *in, int32_t n_in);
int ac_onx_refuse_op(ac_onx_node *n); /* without a row: E0107 with its version; AC_FAIL */

#endif
