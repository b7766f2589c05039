/* graph.h - what a model is: tensors and nodes in execution order of the file, one graph for each subgraph.
 *
 * A tensor is a value: produced once, read many times; weights are tensors with data. A node applies an operator of
 * ops.def. Nodes are in `node[]` in a valid execution order (every tensor is produced before it is read); passes keep
 * that.
 *
 * After pass `epilogue` a node may have absorbed element-wise followers (node->fused): they compute on the running
 * value in the same loops; their intermediate tensors never exist in memory. The last one may be a reduction. After
 * pass `view` a tensor may live inside another one.
 *
 * Everything lives in the context's region; names are interned. Constants point into the mapped model file or the
 * region. */
#ifndef AC_IR_GRAPH_GRAPH_H
#define AC_IR_GRAPH_GRAPH_H
#include "base/vec.h"
#include "ir/ops/op.h"

enum { AC_MAX_RANK = 8 };

/* real = scale[c] * (stored - zero[c]); one pair for the whole tensor (n == 1) or one per index of dimension `axis`. */
typedef struct ac_quant {
    int32_t axis, n;
    const float *scale;
    const int32_t *zero;
} ac_quant;

typedef struct ac_node ac_node;
typedef struct ac_graph ac_graph;
typedef struct ac_tensor ac_tensor;

struct ac_making;

/* Constants that are computed when somebody needs their bytes. Who promises them knows how; the graph does not. */
typedef struct ac_promise {
    /* Sets `data` of every tensor that holds the promise; t is the one that is needed. AC_FAIL: diagnostic. */
    int (*make)(ac_ctx *cx, struct ac_making *w, const struct ac_promise *p, ac_tensor *t);
    /* Does p make the bytes of s that q, whose `same` is this function too, makes of t? */
    bool (*same)(const struct ac_promise *p, const ac_tensor *s, const struct ac_promise *q, const ac_tensor *t,
                 int32_t *left);
    uint64_t hash; /* promises that are the same have the same */
} ac_promise;
/* The operands of n are constants: its results become lazy ones. false, without a diagnostic and with nothing changed:
 * they cannot be computed, and the node has to stay. n may be erased afterwards. */
typedef bool ac_promise_fn(ac_ctx *cx, const ac_node *n);

struct ac_tensor {
    const char *name; /* interned, unique in the graph; what every message and report shows */
    int32_t id;       /* index in graph->tensor */
    ac_dtype dtype;
    int32_t rank;                      /* 0..AC_MAX_RANK; 0 is a scalar */
    int64_t dim[AC_MAX_RANK];          /* outermost first; -1: open (until pinned); all >= 0 once pass infer has run */
    const char *dim_name[AC_MAX_RANK]; /* names of symbolic dimensions, NULL: none */
    const ac_quant *quant;             /* NULL: not quantised */
    /* NULL: computed at run time (or lazy, or raw); dense row-major little-endian, ac_tensor_bytes long */
    const void *data;
    const void *raw; /* constant: its bytes at an address that is not aligned; ac_tensor_force copies them */
    bool splat;      /* data holds one element, the value of all */
    /* Input: its value where whoever compiles knows it (run --input); importers may specialise on it */
    const void *given;
    const ac_promise *lazy; /* constant not yet computed: ac_tensor_force makes it */
    const ac_node *made_of; /* constant: the node, erased since, that it was computed or promised by; NULL: none */
    ac_node *def;       /* the node of g->node that makes it (followers: their host); NULL: input, state or constant */
    bool weight;        /* constant that training changes: nothing is computed of it ahead of time */
    bool named;         /* for importers: the name is the file's own */
    bool input, output; /* of the graph */
    bool any_rank;      /* input: not even the number of dimensions is known yet; rank is 0 */
    bool state;         /* keeps its value between runs; starts as zero or `data` */
    bool narrowed;      /* f32 to operators, which round it to dtype (f16, bf16) where it is stored (pass storage) */
    ac_tensor *root;    /* view: lives inside root at byte view_offset; NULL: has bytes of its own */
    int64_t view_offset;
    ac_tensor *count; /* ir/ops/shape/counted.h: how many elements of dimension count_dim have a meaning; NULL: all */
    int32_t count_dim;
};

/* Of dimension `dim` of output `output` only as many elements have a meaning as output `count`, one number, says. */
typedef struct ac_counted {
    int32_t output, dim, count;
} ac_counted;

/* A running statistic: after each step of training, momentum * running + (1 - momentum) * batch. */
typedef struct ac_running {
    ac_tensor *running, *batch; /* of one shape */
    double momentum;
} ac_running;

struct ac_node {
    int32_t id; /* stable number in creation order (the file's operator index for imported nodes) */
    ac_op op;
    const char *name; /* for messages and comments; not unique; never NULL */
    ac_place at;
    int32_t n_in, n_out;
    ac_tensor **in; /* NULL entries: optional operand left out */
    ac_tensor **out;
    ac_attrs attrs;
    ac_node **fused; /* element-wise followers, in order: each reads the one before (its out[0]) among its inputs */
    int32_t n_fused;
    bool view;     /* no code: outputs are views (root set) */
    bool gradient; /* ac_grad made it */
    /* Of the program: each part is run by itself, and all of it runs after the part before. What goes from one to
     * another lies in state. 0 in a graph that is one program. In graph->node parts ascend. */
    int32_t part;
};

struct ac_graph {
    ac_ctx *cx;
    ac_region *region; /* where new tensors live: the context's, but for forks */
    const char *name;
    AC_VEC(ac_tensor *) tensor;
    AC_VEC(ac_node *) node;
    AC_VEC(ac_tensor *) input; /* run-time inputs in the model's order */
    AC_VEC(ac_tensor *) output;
    AC_VEC(ac_counted) counted; /* outputs whose size depends on the data */
    AC_VEC(ac_graph *) sub;     /* further subgraphs of the model (main graph only) */
    /* Body of a WHILE: the first inputs, as many, become the first outputs with each iteration; pass state makes state
     * of them, here in their order. Else 0 and NULL. */
    int32_t carried;
    ac_tensor **carry;
    int32_t next_node;
    /* The inputs' first dimension was batch_was in the file, and is `batch` now: shape rules put the one in the place
     * of the other where a shape is a constant. batch 0: it is the file's. */
    int64_t batch_was, batch;
    const char *file;              /* as the user wrote it */
    struct ac_tensor_names *names; /* graph.c: tensors by name */
    ac_promise_fn *promise; /* how constants become other constants, handed in by whoever has the graph made; NULL: they
                                    * do not */
};

ac_graph *ac_graph_new(ac_ctx *cx, const char *name);
/* A graph of the same nodes and tensors, to which tensors can be added that g knows nothing of. Lives in `region`. */
ac_graph *ac_graph_fork(const ac_graph *g, ac_region *region);
/* A tensor with this name, or with name_1, name_2 ... when it is taken (the name is then unique). dim is copied. */
ac_tensor *ac_tensor_new(ac_graph *g, const char *name, ac_dtype dtype, int32_t rank, const int64_t *dim);
ac_tensor *ac_tensor_like(ac_graph *g, const char *name, const ac_tensor *t); /* of t's type, shape, quantisation */
/* t under its name in another graph, neither input nor state there. A constant has its value, which is computed first:
 * a promise would fill the tensor that it was given for and leave the copy empty. NULL: it cannot be computed
 * (reported). */
ac_tensor *ac_tensor_copy(ac_graph *g, ac_tensor *t);
void ac_graph_drop(ac_graph *g, int32_t n); /* of the tensors, the first n stay; nothing may refer to the others */
ac_tensor *ac_tensor_find(const ac_graph *g, const char *name);
bool ac_graph_has(const ac_graph *g, const ac_tensor *t); /* is t one of its tensors? */
/* A constant: data is not copied and must outlive the graph. */
ac_tensor *ac_tensor_const(ac_graph *g, const char *name, ac_dtype dtype, int32_t rank, const int64_t *dim,
                           const void *data);
/* A node appended to g->node; outputs get def = node. in/out arrays are copied. Attributes start at their defaults. */
ac_node *ac_node_new(ac_graph *g, ac_op op, const char *name, ac_tensor *const *in, int32_t n_in, ac_tensor *const *out,
                     int32_t n_out);
/* Appends `follower` (no longer in g->node: the caller sees to it) to the epilogue of `host`; its results get def =
 * host. */
void ac_node_fuse(ac_graph *g, ac_node *host, ac_node *follower);
/* All readers (fused ones too) and graph outputs. */
void ac_tensor_replace(ac_graph *g, ac_tensor *from, ac_tensor *to);
/* n is erased, its results are constants from now on and remember how they came about: as the node that is returned. */
const ac_node *ac_node_made(const ac_graph *g, ac_node *n);
void ac_node_erase(ac_node *n); /* takes n out: nobody makes its results any more; ac_graph_sweep removes it */
void ac_graph_place(ac_graph *g, int32_t from, int32_t to); /* nodes from number `from` on move before node `to` */
void ac_graph_sweep(ac_graph *g); /* removes from g->node the nodes whose op is AC_OP_NONE (erased) */

/* After tensors were taken out of g->tensor or renamed: ids and the index of names. */
void ac_graph_renumber(ac_graph *g);

/* own_outputs.c: an output without bytes of its own (a constant, an input, state) has no step that makes it: it becomes
 * a copy. caller_io: outputs are the caller's memory, so two of them do not share bytes either, and none is a part. */
void ac_graph_own_outputs(ac_graph *g, bool caller_io);

/* The permutation that swaps the last two dimensions, if there are two. */
void ac_perm_swapped(int32_t rank, int32_t perm[AC_MAX_RANK]);
int64_t ac_dim_product(const int64_t *dim, int32_t begin, int32_t end); /* of dim[begin] .. dim[end - 1] */
int64_t ac_tensor_count(const ac_tensor *t); /* elements; 1 for scalars; the reader has checked that it fits */
int64_t ac_tensor_bytes(const ac_tensor *t); /* bytes of the dense form */
/* The tensor in whose bytes t lives; t itself when it has bytes of its own. */
ac_tensor *ac_tensor_root(const ac_tensor *t);
int64_t ac_tensor_root_offset(const ac_tensor *t); /* where in the root's bytes t starts */
bool ac_tensor_is_const(const ac_tensor *t);       /* data or lazy */
/* Dense data of a constant: makes lazy ones, expands splats; cached on the tensor. NULL: not a constant, or it cannot
 * be made (diagnostic). */
const void *ac_tensor_force(ac_ctx *cx, ac_tensor *t);
/* Have two constants the same bytes, as far as is known without making them? Those of up to 4 KiB are compared, of
 * larger ones the addresses; lazy ones are asked for their promises. Equal ones have equal hashes. *left: comparisons
 * that may be made for it. */
bool ac_tensor_same_bytes(const ac_tensor *a, const ac_tensor *b, int32_t *left);
uint64_t ac_tensor_hash(const ac_tensor *t);
bool ac_tensor_same_shape(const ac_tensor *a, const ac_tensor *b);
bool ac_tensor_same_kind(const ac_tensor *a, const ac_tensor *b); /* type, shape and quantisation */
void ac_tensor_become(ac_tensor *t, const ac_tensor *like);       /* they become like's */
float ac_quant_scale(const ac_tensor *t);                         /* of the whole tensor; 1 when not quantised */
int32_t ac_quant_zero(const ac_tensor *t);
bool ac_quant_equal(const ac_quant *a, const ac_quant *b); /* NULL equals NULL */
const char *ac_shape_str(ac_ctx *cx, const ac_tensor *t);  /* "[1,96,96,3]" */
const char *ac_tensor_str(ac_ctx *cx, const ac_tensor *t); /* "i8 [1,96,96,3]" */

/* Elements of shape dim[], its dimensions in another order: dimension d of the result is perm[d]. */
typedef struct ac_transposition {
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    int32_t perm[AC_MAX_RANK];
} ac_transposition;

ac_tensor *ac_node_in(const ac_node *n, int32_t i); /* operand i where it is given, else NULL */
/* Is operand i (given or left out) one whose values must be known before code is written (static_in of ops.def)? The
 * tensor of a SPLIT comes after the axis, or alone. */
bool ac_node_is_static(const ac_node *n, int32_t i);
/* Does n, or its epilogue, write bytes that lie in root, which is state (NULL: in any state)? Views make nothing. */
bool ac_node_writes(const ac_node *n, const ac_tensor *root);
bool ac_node_touches(const ac_node *n, const ac_tensor *root); /* or read them? */
/* Whose bytes t is, once reshapes and the like (OF_VIEW) are views. */
const ac_tensor *ac_tensor_origin(const ac_tensor *t);
/* Does n read what `state` holds, be it in another shape? */
bool ac_node_reads_state(const ac_node *n, const ac_tensor *state);
/* The result of a node after its epilogue: out[0] of the last fused node, else out[0]. */
ac_tensor *ac_node_result(const ac_node *n);
/* The reduction that ends the epilogue of n; NULL: it has none. */
const ac_node *ac_node_reduction(const ac_node *n);
bool ac_node_internal(const ac_node *n, const ac_tensor *t); /* is t made and used up inside the epilogue of n? */
/* The run-time operands of node and epilogue: calls f for each distinct tensor that is neither constant, nor left out,
 * nor an internal result. Static inputs (ops.def) are skipped. Views are given as they are (not resolved to roots). */
int32_t ac_node_reads(const ac_node *n, ac_tensor **list, int32_t cap); /* count; at most cap are stored */

/* The activation among the attributes; none where the operator has no such attribute (then nothing can be set). */
ac_act ac_node_act(const ac_node *n);
void ac_node_set_act(ac_node *n, ac_act act);
/* Integers of a static operand: input `i` when present (must be a constant: else E0203), otherwise `attr`.
 * Works for i16, i32 and i64 constants. */
int ac_node_ints(ac_ctx *cx, const ac_node *n, int32_t i, ac_ints attr, ac_ints *out);

/* How many nodes read each tensor (fused ones count; graph outputs count one more), indexed by tensor id. */
int32_t *ac_graph_uses(const ac_graph *g, ac_region *r);

/* making.c - constants whose bytes are needed for a while: on the way to others that are written. Large ones lie in a
 * region of their own; at its end their tensors are as they were before.
 *
 *     ac_making w;
 *     ac_making_begin(cx, &w);
 *     const void *p = ac_tensor_force_for(cx, &w, t);          valid until
 *     ac_making_end(&w);
 *
 * When memory runs out in between, the region goes with the guard: ac_making_forget, then, for the tensors. */
typedef struct ac_making_undo {
    ac_tensor *tensor;
    const void *data; /* as they were */
    bool splat;
} ac_making_undo;
typedef struct ac_making {
    ac_ctx *cx;
    ac_region *room;
    ac_bytes bytes;          /* in it */
    const ac_tensor *wanted; /* whose bytes are the aim: they lie in `into` and last; NULL: all go */
    ac_region *into;
    AC_VEC(ac_making_undo) forget;
} ac_making;
enum { AC_MAKING_LARGE = 1 << 16 }; /* bytes; what is smaller is kept with the compilation */
void ac_making_begin(ac_ctx *cx, ac_making *w);
void ac_making_end(ac_making *w);
void ac_making_forget(ac_making *w);
void ac_making_again(ac_making *w, ac_bytes most); /* ends and begins, if there are more bytes than that */
void *ac_making_room(ac_making *w, ac_bytes n);    /* n bytes that go with it */
/* For bytes of t: those of w when they are many, else kept; w NULL: kept. The caller sets t->data. */
void *ac_making_tensor(ac_ctx *cx, ac_making *w, ac_tensor *t, ac_bytes n);
bool ac_making_holds(const ac_making *w, const ac_tensor *t);            /* do the bytes of t go with it? */
const void *ac_tensor_force_for(ac_ctx *cx, ac_making *w, ac_tensor *t); /* w NULL: ac_tensor_force */

/* verify_nodes.c - every rule a graph must obey; E0101.. for each broken one. Run between passes. */
int ac_graph_verify(ac_graph *g);

/* What a text says of the model besides its graphs. */
typedef struct ac_text_head {
    bool channels_first; /* the main graph's operators had channels first: pass layout has work to do */
    const struct ac_weights_file *weights; /* the file that holds its constants; NULL: none */
} ac_text_head;

/* text_read.c, text_write.c - the .ag form (docs/text-format.md); read(write(g)) == g. `file` names it in messages and
 * is the base of relative `file` constants. */
int ac_graph_read_text(ac_ctx *cx, const char *file, const char *text, size_t n,
                       ac_text_head *head /* NULL: no matter */, ac_graph **out);
struct ac_sink;
void ac_graph_write_text(struct ac_sink *to, ac_graph *g, bool channels_first);
/* The same with constants of more than a few elements in a weights file (weights_file.h): `name` is that file's as the
 * text says it, `weights` gets its bytes. */
void ac_graph_write_pair(struct ac_sink *to, ac_graph *g, bool channels_first, const char *name,
                         struct ac_sink *weights);
bool ac_graph_equal(const ac_graph *a, const ac_graph *b);

#endif
