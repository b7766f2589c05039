/* graph.h - the graph of a model: tensors, and nodes in the execution order of the file; one graph for each subgraph.
 *
 * A tensor is a value: produced once, read many times; weights are tensors with data. A node applies an operator of
 * ops.def. Nodes are in `node[]` in a valid execution order (every tensor is produced before it is read); passes
 * preserve that.
 *
 * After pass `epilogue` a node may have absorbed element-wise followers (node->fused): they compute on the running
 * value in the same loops; their intermediate tensors never exist in memory. The last one may be a reduction. After
 * pass `view` a tensor may be stored inside another one.
 *
 * All memory is in the context's region; names are interned. Constants point into the mapped model file or the
 * region. */
#ifndef AC_IR_GRAPH_GRAPH_H
#define AC_IR_GRAPH_GRAPH_H
#include "base/vec.h"
#include "ir/graph/vocabulary.h"
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

/* Constants that are computed when their bytes are first needed. The creator of the promise implements this; the graph
 * does not depend on it. */
typedef struct ac_promise {
    /* Sets `data` of every tensor that holds the promise; t is the requested one. AC_FAIL: diagnostic. */
    int (*make)(ac_ctx *cx, struct ac_making *w, const struct ac_promise *p, ac_tensor *t);
    /* True if p computes the same bytes for s as q, which has the same `same`, computes for t. */
    bool (*same)(const struct ac_promise *p, const ac_tensor *s, const struct ac_promise *q, const ac_tensor *t,
                 int32_t *left);
    uint64_t hash; /* equal promises have equal hashes */
} ac_promise;
/* n has constant operands: turns its results into lazy constants. false: they cannot be computed, and the node has to
 * stay; changes and reports nothing. n may be erased afterwards. */
typedef bool ac_promise_fn(ac_ctx *cx, const ac_node *n);

struct ac_tensor {
    const char *name; /* interned, unique in the graph; shown in messages and reports */
    int32_t id;       /* index in graph->tensor */
    ac_dtype dtype;
    int32_t rank;                      /* 0..AC_MAX_RANK; 0 is a scalar */
    int64_t dim[AC_MAX_RANK];          /* outermost first; -1: unknown (until pinned); all >= 0 once pass infer has
                                        * run */
    const char *dim_name[AC_MAX_RANK]; /* names of symbolic dimensions, NULL: none */
    const ac_quant *quant;             /* NULL: not quantised */
    const ac_vocabulary *words;        /* i32: its elements are codes of these texts; NULL: they are numbers */
    /* NULL: computed at run time (or lazy, or raw); dense row-major little-endian, ac_tensor_bytes long */
    const void *data;
    const void *raw; /* constant: its bytes at an address that is not aligned; ac_tensor_force copies them */
    bool splat;      /* data holds one element, the value of all elements */
    /* Input: its value if known at compile time (run --input); importers may specialise on it */
    const void *given;
    ac_bytes in_file;         /* constant: its bytes in the file, if it is compressed or sparse there; else 0 */
    const ac_promise *lazy;   /* constant not yet computed: ac_tensor_force makes it */
    const ac_node *made_of;   /* constant: the erased node that computed or promised it; NULL: none */
    const ac_tensor *form_of; /* constant: that of the file, whose elements it has in another form */
    ac_node *def;             /* the node of g->node that produces it (followers: their host); NULL: input, state or
                         * constant */
    bool weight;              /* constant that training changes: nothing is precomputed from it */
    bool named;               /* for importers: the name comes from the file */
    bool input, output;       /* of the graph */
    bool any_rank;            /* input: not even the number of dimensions is known yet; rank is 0 */
    bool state;               /* keeps its value between runs; starts as zero or `data` */
    bool narrowed;            /* f32 to operators, rounded to dtype (f16, bf16) when stored (pass storage) */
    ac_dtype half;            /* f32: all values are of this type, f16 or bf16 (pass halves); AC_NONE: unknown */
    ac_tensor *root;          /* view: stored inside root at byte view_offset; NULL: has its own bytes */
    int64_t view_offset;
    ac_tensor *count; /* ir/ops/shape/counted.h: valid length of dimension count_dim; NULL: all elements */
    int32_t count_dim;
};

/* Only the first output[count] elements along dimension `dim` of output[output] are valid; output[count] is a
 * scalar. */
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
    ac_node **fused; /* element-wise followers, in order: each reads the result (out[0]) of the previous one */
    int32_t n_fused;
    bool view;     /* no code: outputs are views (root set) */
    bool gradient; /* ac_grad made it */
    /* Part of the program. Parts run separately, in order, and pass values to each other in state. 0 in a graph of one
     * part. Ascending in graph->node. */
    int32_t part;
};

struct ac_graph {
    ac_ctx *cx;
    ac_region *region; /* region of new tensors: the context's, except for forks */
    const char *name;
    AC_VEC(ac_tensor *) tensor;
    AC_VEC(ac_node *) node;
    AC_VEC(ac_tensor *) input; /* run-time inputs in the model's order */
    AC_VEC(ac_tensor *) output;
    AC_VEC(ac_counted) counted; /* outputs whose size depends on the data */
    AC_VEC(ac_graph *) sub;     /* further subgraphs of the model (main graph only) */
    /* Body of a WHILE: that many first inputs become the first outputs with each iteration; pass state turns them into
     * state, listed here in order. Else 0 and NULL. */
    int32_t carried;
    ac_tensor **carry;
    int32_t next_node;
    /* The inputs' first dimension was batch_was in the file, and is `batch` now: shape rules replace the old one by the
     * new one in constant shapes. batch 0: unchanged. */
    int64_t batch_was, batch;
    ac_bytes folded;               /* that pass fold has read and written, or will */
    const char *file;              /* as the user wrote it */
    struct ac_tensor_names *names; /* graph.c: tensors by name */
    ac_promise_fn *promise; /* computes results of nodes with constant operands; supplied by the creator of the graph;
                                    * NULL: never */
};

ac_graph *ac_graph_new(ac_ctx *cx, const char *name);
/* A graph of the same nodes and tensors; tensors added to it do not appear in g. Allocated in `region`. */
ac_graph *ac_graph_fork(const ac_graph *g, ac_region *region);
/* A tensor with this name, or with name_1, name_2 ... if it is taken (the name is then unique). dim is copied. */
ac_tensor *ac_tensor_new(ac_graph *g, const char *name, ac_dtype dtype, int32_t rank, const int64_t *dim);
ac_tensor *ac_tensor_like(ac_graph *g, const char *name, const ac_tensor *t); /* of its type, shape, scales, texts */
/* A copy of t with its name in another graph, neither input nor state there. The value of a constant is computed first,
 * because a promise would fill the original tensor and not the copy. NULL: it cannot be computed (reported). */
ac_tensor *ac_tensor_copy(ac_graph *g, ac_tensor *t);
void ac_graph_drop(ac_graph *g, int32_t n); /* removes all tensors except the first n; nothing may refer to the
                                             * others */
ac_tensor *ac_tensor_find(const ac_graph *g, const char *name);
const ac_vocabulary *ac_graph_words(const ac_graph *g);   /* the texts of its tensors; NULL: they hold numbers */
bool ac_graph_has(const ac_graph *g, const ac_tensor *t); /* is t one of its tensors? */
/* A constant: data is not copied and must outlive the graph. */
ac_tensor *ac_tensor_const(ac_graph *g, const char *name, ac_dtype dtype, int32_t rank, const int64_t *dim,
                           const void *data);
/* A node appended to g->node; outputs get def = node. in/out arrays are copied. Attributes start at their defaults. */
ac_node *ac_node_new(ac_graph *g, ac_op op, const char *name, ac_tensor *const *in, int32_t n_in, ac_tensor *const *out,
                     int32_t n_out);
/* Appends `follower` (which the caller has removed from g->node) to the epilogue of `host`; its results get def =
 * host. */
void ac_node_fuse(ac_graph *g, ac_node *host, ac_node *follower);
/* All readers (fused ones too) and graph outputs. */
void ac_tensor_replace(ac_graph *g, ac_tensor *from, ac_tensor *to);
/* Erases n; its results become constants that refer to the returned copy of n. */
const ac_node *ac_node_made(const ac_graph *g, ac_node *n);
void ac_node_erase(ac_node *n);                             /* detaches n from its results; ac_graph_sweep removes it */
void ac_graph_place(ac_graph *g, int32_t from, int32_t to); /* nodes from number `from` on move before node `to` */
int32_t ac_graph_place_of(const ac_graph *g, const ac_node *n); /* the number of a node of g */
void ac_graph_sweep(ac_graph *g); /* removes from g->node the nodes whose op is AC_OP_NONE (erased) */
/* Removes only erased nodes at the end, and none of the first n: no other node gets another number, so a caller may be
 * walking g->node. */
void ac_graph_sweep_end(ac_graph *g, int32_t n);

/* After tensors were taken out of g->tensor or renamed: ids and the index of names. */
void ac_graph_renumber(ac_graph *g);

/* own_outputs.c: an output without its own bytes (a constant, an input, state) is not the result of a step: it becomes
 * a copy. caller_io: outputs are in the caller's memory, so no two of them share bytes, and none is part of another
 * tensor. */
void ac_graph_own_outputs(ac_graph *g, bool caller_io);

/* The permutation that swaps the last two dimensions, if there are two. */
void ac_perm_swapped(int32_t rank, int32_t perm[AC_MAX_RANK]);
int64_t ac_dim_product(const int64_t *dim, int32_t begin, int32_t end); /* of dim[begin] .. dim[end - 1] */
int64_t ac_tensor_count(const ac_tensor *t); /* elements; 1 for scalars; the reader checks that it fits */
int64_t ac_tensor_bytes(const ac_tensor *t); /* bytes of the dense form */
/* The tensor that holds the bytes of t; t itself if it has its own bytes. */
ac_tensor *ac_tensor_root(const ac_tensor *t);
int64_t ac_tensor_root_offset(const ac_tensor *t); /* where in the root's bytes t starts */
bool ac_tensor_is_const(const ac_tensor *t);       /* data or lazy */
/* Dense data of a constant: computes lazy ones, expands splats; cached on the tensor. NULL: not a constant, or it
 * cannot be computed (diagnostic). */
const void *ac_tensor_force(ac_ctx *cx, ac_tensor *t);
/* True if two constants are known to have the same bytes without computing them: up to 4 KiB the bytes are compared,
 * for larger ones the addresses, for lazy ones the promises. Then their hashes are equal. *left: the number of
 * comparisons left. */
bool ac_tensor_same_bytes(const ac_tensor *a, const ac_tensor *b, int32_t *left);
uint64_t ac_tensor_hash(const ac_tensor *t);
bool ac_tensor_same_shape(const ac_tensor *a, const ac_tensor *b);
bool ac_tensor_same_kind(const ac_tensor *a, const ac_tensor *b); /* type, shape and quantisation */
void ac_tensor_become(ac_tensor *t, const ac_tensor *like);       /* they become like's */
float ac_quant_scale(const ac_tensor *t);                         /* of the whole tensor; 1 when not quantised */
int32_t ac_quant_zero(const ac_tensor *t);
bool ac_quant_equal(const ac_quant *a, const ac_quant *b); /* NULL equals NULL */
const char *ac_shape_str(ac_ctx *cx, const ac_tensor *t);  /* "[1,96,96,3]" */
const char *ac_tensor_str(ac_ctx *cx, const ac_tensor *t); /* "i8 [1,96,96,3]", "i32 [1,2] text" */

/* Elements of shape dim[], its dimensions in another order: dimension d of the result is perm[d]. */
typedef struct ac_transposition {
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    int32_t perm[AC_MAX_RANK];
} ac_transposition;

ac_tensor *ac_node_in(const ac_node *n, int32_t i); /* operand i, NULL if omitted */
/* True if the values of operand i (given or omitted) must be known before code is generated (static_in of ops.def). The
 * tensor of a SPLIT comes after the axis, or alone. */
bool ac_node_is_static(const ac_node *n, int32_t i);
/* True if n, or its epilogue, writes bytes of root, which is state (NULL: of any state). Views write nothing. */
bool ac_node_writes(const ac_node *n, const ac_tensor *root);
bool ac_node_touches(const ac_node *n, const ac_tensor *root); /* or read them? */
/* True if n has effects besides its results: a custom operator that is not pure. */
bool ac_node_acts(const ac_ctx *cx, const ac_node *n);
/* The operand with seed and counter of an operator that draws random numbers (OF_RANDOM); NULL: it draws none. */
ac_tensor *ac_node_numbers(const ac_node *n);
bool ac_graph_draws(const ac_graph *g); /* true if a node of g, or of its subgraphs, draws random numbers */
/* The tensor that will hold the bytes of t once reshapes and the like (OF_VIEW) are views. */
const ac_tensor *ac_tensor_origin(const ac_tensor *t);
/* True if n reads the contents of `state`, possibly in another shape. */
bool ac_node_reads_state(const ac_node *n, const ac_tensor *state);
/* The result of a node after its epilogue: out[0] of the last fused node, else out[0]. */
ac_tensor *ac_node_result(const ac_node *n);
/* The reduction that ends the epilogue of n; NULL: it has none. */
const ac_node *ac_node_reduction(const ac_node *n);
bool ac_node_internal(const ac_node *n, const ac_tensor *t); /* true if t is produced and consumed inside the epilogue
                                                              * of n */
/* The run-time operands of node and epilogue: calls f for each distinct tensor that is neither constant, nor omitted,
 * nor an internal result. Static inputs (ops.def) are skipped. Views are passed unresolved, not as their roots. */
int32_t ac_node_reads(const ac_node *n, ac_tensor **list, int32_t cap); /* count; at most cap are stored */

/* The activation among the attributes; none if the operator has no such attribute (then nothing can be set). */
ac_act ac_node_act(const ac_node *n);
/* True if the only result is OF_REMADE: not arithmetic on codes with a scale, and no activation but a clamp. */
bool ac_node_remade(const ac_node *n);
void ac_node_set_act(ac_node *n, ac_act act);
/* Integers of a static operand: input `i` when present (must be a constant: else E0203), otherwise `attr`.
 * Works for i16, i32 and i64 constants. */
int ac_node_ints(ac_ctx *cx, const ac_node *n, int32_t i, ac_ints attr, ac_ints *out);

/* How many nodes read each tensor (fused ones count; graph outputs count one more), indexed by tensor id. */
int32_t *ac_graph_uses(const ac_graph *g, ac_region *r);

/* making.c - constants whose bytes are needed only temporarily, to compute others. Large ones are allocated in a
 * separate region; when it ends, their tensors are restored.
 *
 *     ac_making w;
 *     ac_making_begin(cx, &w);
 *     const void *p = ac_tensor_force_for(cx, &w, t);          valid until
 *     ac_making_end(&w);
 *
 * If memory runs out in between, the guard frees the region; then call ac_making_forget for the tensors. */
typedef struct ac_making_undo {
    ac_tensor *tensor;
    const void *data; /* as they were */
    bool splat;
} ac_making_undo;
typedef struct ac_making {
    ac_ctx *cx;
    ac_region *room;
    ac_bytes bytes;          /* in it */
    const ac_tensor *wanted; /* the tensor to compute: its bytes are allocated in `into` and stay; NULL: all are
                              * freed */
    ac_region *into;
    AC_VEC(ac_making_undo) forget;
} ac_making;
enum { AC_MAKING_LARGE = 1 << 16 }; /* bytes; smaller constants live as long as the compilation */
void ac_making_begin(ac_ctx *cx, ac_making *w);
void ac_making_end(ac_making *w);
void ac_making_forget(ac_making *w);
void ac_making_again(ac_making *w, ac_bytes most); /* ends and begins again, if it holds more bytes than that */
void *ac_making_room(ac_making *w, ac_bytes n);    /* n bytes that go with it */
/* The region for the bytes of t: that of w if they are large; else, or if w is NULL, a permanent one. The caller sets
 * t->data. */
void *ac_making_tensor(ac_ctx *cx, ac_making *w, ac_tensor *t, ac_bytes n);
bool ac_making_holds(const ac_making *w, const ac_tensor *t);            /* true if the bytes of t are freed with it */
const void *ac_tensor_force_for(ac_ctx *cx, ac_making *w, ac_tensor *t); /* w NULL: ac_tensor_force */

/* verify_nodes.c - checks every rule of a valid graph; E0101.. for each broken one. Run between passes. */
int ac_graph_verify(ac_graph *g);

/* The properties of the model in a text, besides its graphs. */
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
/* The same with constants of more than a few elements in a weights file (weights_file.h): `name` is the name of that
 * file in the text, `weights` gets its bytes. */
void ac_graph_write_pair(struct ac_sink *to, ac_graph *g, bool channels_first, const char *name,
                         struct ac_sink *weights);
bool ac_graph_equal(const ac_graph *a, const ac_graph *b);

#endif
