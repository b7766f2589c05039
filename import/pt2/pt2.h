/* pt2.h - the internal interface of the files that read programs of torch.export (.pt2); other folders use only
 * ac_pt2_format.
 *
 *     pt2.c          the format: inputs, outputs, states, the listing of `show`
 *     archive.c      the members of the archive: program, weights and constants
 *     weights.c      tensors of these members
 *     fields.c       values, dictionaries, types and sizes in JSON
 *     program.c      graphs in JSON: their nodes
 *     sizes.c        symbolic sizes
 *     values.c       values by name; tensors that share memory, and changes in place
 *     arguments.c    arguments of nodes as operands and as attributes (attrs.def)
 *     results.c      results of an operator as values, and the type of a sum
 *     nodes.c        the table of operators (nodes.def), and the nodes of one
 *     custom_ops.c   operators of --custom
 *     *_nodes.c      adapters, by family
 *
 * Two dialects are read: programs as torch.export writes them, whose operators may change a tensor in place, and those
 * after run_decompositions(), whose changes are outputs of the graph. Sizes are numbers when nodes are made; so
 * operators on sizes are computed here.
 *
 * A graph declares type and shape of each of its values. Results are converted to the declared type, and a shape that
 * differs from the declared one is an error: either the file is damaged, or arenac takes an operator for another.
 *
 * Errors: the same kinds as of ONNX. A value whose node failed is broken, and its readers report nothing. */
#ifndef AC_IMPORT_PT2_PT2_H
#define AC_IMPORT_PT2_PT2_H
#include "base/zip/zip.h"
#include "import/build/attrs.h"
#include "import/build/name_map.h"
#include "import/wire/json_in.h"

typedef struct ac_ep ac_ep;
typedef struct ac_ep_node ac_ep_node;
typedef struct ac_ep_value ac_ep_value;

/* ------------------------------------------------------------------ sizes.c */

/* An expression of sizes: "Add(Symbol('s0'), Integer(1))", or "s0 + 1". */
typedef struct ac_ep_size ac_ep_size;
/* NULL: not such an expression. */
const ac_ep_size *ac_ep_size_read(ac_ctx *cx, const char *text);
/* Its value; false: a symbol has no value. */
bool ac_ep_size_of(const ac_ep *r, const ac_ep_size *e, int64_t *v);
/* The same as a name of a dimension, "s0 + 1"; NULL: sums and products cannot express it. */
const char *ac_ep_size_name(ac_ctx *cx, const ac_ep_size *e);
bool ac_ep_size_is_symbol(const ac_ep_size *e);
/* Gives a symbol of e, which is `size`, its value, if it is the only one without. */
void ac_ep_size_solve(ac_ep *r, const ac_ep_size *e, int64_t size);

typedef struct ac_ep_symbol {
    const char *name;
    bool known;
    int64_t value;
} ac_ep_symbol;

/* ------------------------------------------------------------------ archive.c, weights.c */

/* An object of JSON whose members are found quickly. */
typedef struct ac_ep_dict {
    ac_name_map at;
    AC_VEC(const ac_js_node *) item;
} ac_ep_dict;
/* Member `key` of x, which is such an object, or left out. AC_FAIL: E0012 */
int ac_ep_dict_open(const ac_ep *r, const ac_js_node *x, const char *key, ac_ep_dict *d);
const ac_js_node *ac_ep_dict_get(const ac_ep_dict *d, const char *name); /* NULL: none; name: interned */

/* The values that stay from one reading to the next (ac_reading.memo). */
typedef struct ac_ep_memo {
    ac_zip zip;
    const char *folder;         /* all members are in it: "net/" */
    const char *model;          /* "model" of models/model.json */
    const ac_js_node *program;  /* models/model.json */
    ac_ep_dict weights[2];      /* parameters and buffers, constants */
    AC_VEC(const char *) state; /* names of the buffers that the program changes */
} ac_ep_memo;

int ac_ep_archive_open(ac_ep *r);
ac_zip_member *ac_ep_member(const ac_ep *r, const char *name); /* NULL: none */
int ac_ep_member_read(ac_ep *r, ac_zip_member *m, ac_span *bytes);
/* A parameter, buffer or constant as a tensor of the main graph; NULL: reported, or refused. */
ac_tensor *ac_ep_weight(ac_ep *r, const char *name, ac_place at);

/* ------------------------------------------------------------------ values.c */

/* The memory of a tensor. Several values may be one cell; a view is a cell that follows from another one, and is made
 * again after that one was changed. */
typedef struct ac_ep_cell {
    ac_tensor *t;
    struct ac_ep_cell *base; /* NULL: it is not a view */
    const ac_ep_node *how;   /* makes it from base: result `part` of it */
    int32_t part;
    int32_t version, seen; /* changes of it; version of the base that t is of */
    int32_t buffer;        /* in ac_ep.buffer; -1: none */
} ac_ep_cell;

typedef enum ac_ep_kind { AC_EP_NOTHING, AC_EP_TENSOR, AC_EP_NUMBER } ac_ep_kind;

struct ac_ep_value {
    const char *name;
    ac_ep_kind kind;
    bool broken;
    ac_ep_cell *cell;
    ac_dtype type; /* number: AC_I64, AC_F64, AC_BOOL */
    double f;      /* its value; of integers and booleans as well in i */
    int64_t i;
    ac_tensor *late; /* a number that is computed at run time: a scalar */
};

/* The values of one graph. */
typedef struct ac_ep_scope {
    const ac_js_node *graph;
    ac_name_map value_at;
    AC_VEC(ac_ep_value *) value;
    ac_ep_dict meta; /* tensor_values */
    int32_t level;
} ac_ep_scope;

typedef struct ac_ep_buffer {
    const char *name;
    ac_ep_cell *cell;
    ac_tensor *state; /* NULL: it is a constant */
} ac_ep_buffer;

struct ac_ep {
    ac_reading *reading;
    ac_ctx *cx;
    ac_graph *g; /* nodes go to it */
    ac_js js;
    ac_ep_memo *memo;
    ac_ep_scope *main;
    const ac_js_node *signature, *ranges;
    AC_VEC(ac_ep_symbol) symbol;
    AC_VEC(ac_ep_buffer) buffer;
    bool *wanted; /* by node of the main graph */
};

ac_ep_value *ac_ep_value_find(const ac_ep_scope *s, const char *name); /* NULL: nothing has made it */
/* The value of that name, made now; E0101 and NULL: it exists already. */
ac_ep_value *ac_ep_value_add(ac_ep *r, ac_ep_scope *s, const char *name, ac_place at);
void ac_ep_value_tensor(ac_ep *r, ac_ep_value *v, ac_tensor *t);
/* The present value of a cell; NULL: reported, or refused. */
ac_tensor *ac_ep_read(ac_ep *r, ac_ep_cell *c);
/* Changes a cell, and the one that it is a view of. AC_FAIL: reported, or refused. */
int ac_ep_write(ac_ep_node *n, ac_ep_cell *c, ac_tensor *t);

/* ------------------------------------------------------------------ program.c */

/* A text of the file as a name: without control bytes. NULL: reported. */
const char *ac_ep_text(ac_ep *r, const ac_js_node *x, const char *what);
int ac_ep_bad(const ac_ep *r, const ac_js_node *x, const char *what); /* E0012 */
/* The only member of a tagged value, {"as_int": 3}; NULL: not such a value. */
const ac_js_node *ac_ep_tagged(const ac_js_node *x);
bool ac_ep_is(const ac_js_node *tagged, const char *tag);
ac_dtype ac_ep_dtype(int64_t number); /* AC_NONE: not one of ours */
const char *ac_ep_dtype_name(ac_ctx *cx, int64_t number);

ac_ep_scope *ac_ep_scope_open(ac_ep *r, const ac_js_node *graph, int32_t level); /* NULL: reported */
/* Type and sizes as a graph declares them; -1: not known. */
typedef struct ac_ep_meta {
    ac_dtype type;
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    const ac_ep_size *size[AC_MAX_RANK]; /* NULL: a number */
} ac_ep_meta;
/* Of value `name`. *refused: NULL, or why arenac cannot have such a tensor. AC_FAIL: reported */
int ac_ep_meta_of(ac_ep *r, const ac_ep_scope *s, const char *name, ac_ep_meta *m, const char **refused);
int ac_ep_meta_read(ac_ep *r, const ac_js_node *x, ac_ep_meta *m, const char **refused);
/* Runs the nodes of a graph whose inputs are bound. */
int ac_ep_run(ac_ep *r, ac_ep_scope *s);
/* Reads name and operator of node i of a graph. AC_FAIL: reported */
int ac_ep_node_open(ac_ep *r, ac_ep_scope *s, const ac_js_node *json, int32_t i, ac_ep_node *n);
/* Calls a graph with n_in tensors. out: its n_out results. */
int ac_ep_call(ac_ep_node *n, const ac_js_node *graph, ac_tensor *const *in, int32_t n_in, ac_tensor **out,
               int32_t n_out);
/* How many results a graph has; -1: reported. */
int32_t ac_ep_results_of(ac_ep *r, const ac_js_node *graph);

/* ------------------------------------------------------------------ nodes */

enum { AC_EP_MOST = 4096 }; /* operands, or results */

struct ac_ep_node {
    ac_ep *r;
    ac_ep_scope *scope;
    ac_maker b;
    const ac_operator *row;
    const char *name, *type;
    const char *module; /* the path of the module that it is in; NULL: unknown, or the outermost */
    ac_place at;
    const ac_js_node *args; /* NULL: none */
    ac_attrs_reader attrs;
    bool broken;    /* an operand is, which was reported */
    uint64_t asked; /* arguments that were read: bit k is the k-th */
    bool in_place;
    ac_ep_value **from; /* the operands' values; NULL: left out, or a number in the file */
    ac_tensor **in;     /* NULL: left out */
    bool *number;       /* it is a number: its type yields to those of tensors */
    int32_t n_in;
    ac_ep_value **out; /* all results in a row */
    int32_t n_out;
    int32_t first;    /* tensors of the graph before the node */
    ac_tensor **redo; /* not NULL: results go there, to make views again */
};

/* arguments.c */
extern const ac_attr_source ac_ep_attrs;
enum {
#define A(id) A_##id,
#include "import/pt2/attrs_ids.def"
#undef A
};
/* An argument by its name, marked as read; NULL: left out, or None. The k-th unnamed one of a higher-order operator. */
const ac_js_node *ac_ep_arg(ac_ep_node *n, const char *name);
const ac_js_node *ac_ep_arg_at(ac_ep_node *n, int32_t k);
/* Operands, in the order of the row's text: "self other". After the name of an operand: ? it may be left out, # it may
 * be a number, * it is a list. */
int ac_ep_operands(ac_ep_node *n);
/* Tensors of a list, with NULL for None, and numbers as tensors, after the operands of n; none if the argument is left
 * out. NULL: reported. */
ac_tensor **ac_ep_list(ac_ep_node *n, const ac_js_node *arg, int32_t *count);
/* The tensor of a tagged argument; NULL: reported, refused, broken, or not a tensor. */
ac_tensor *ac_ep_operand(ac_ep_node *n, const ac_js_node *arg);
/* The value of a number in an argument: AC_EP_NUMBER, AC_EP_NOTHING: none. AC_FAIL: reported */
int ac_ep_number(ac_ep_node *n, const ac_js_node *arg, ac_ep_value *v);
ac_tensor *ac_ep_number_tensor(ac_ep_node *n, const ac_ep_value *v);
int ac_ep_value_number(ac_ep_node *n, ac_ep_value *v, ac_tensor *t); /* v becomes the number in t */
int ac_ep_check_args(ac_ep_node *n);                                 /* refuses arguments that were not read */

/* nodes.c */
extern const ac_operators ac_ep_operators;
/* The row of a target; *in_place: the name is that of the variant which changes its operand. NULL: unknown. */
const ac_operator *ac_ep_row(ac_ep *r, const char *type, bool *in_place);
const ac_operator *ac_ep_custom(ac_ep *r, const char *type); /* custom_ops.c. NULL: no row of --custom binds it */
int ac_ep_node_add(ac_ep_node *n);
/* Runs the adapter on other operands. */
int ac_ep_node_redo(const ac_ep_node *n, ac_tensor *self, ac_tensor **out);

ac_tensor *ac_ep_in(const ac_ep_node *n, int32_t i);      /* NULL: left out */
int ac_ep_result(ac_ep_node *n, int32_t i, ac_tensor *t); /* t NULL: AC_FAIL */
bool ac_ep_is_used(const ac_ep_node *n, int32_t i);       /* does the graph read result i? */
int ac_ep_result_number(ac_ep_node *n, ac_dtype type, double f, int64_t i);
/* The operands that are numbers or tensors in the type that PyTorch computes in; `floats`: integers as f32. */
int ac_ep_promote(ac_ep_node *n, int32_t from, int32_t to, bool floats);
/* Type that result i has in the file; AC_NONE: unknown. */
ac_dtype ac_ep_declared(ac_ep_node *n, int32_t i);
/* Refuses a node in training mode; `does`: its effect that inference does not have, "draws random numbers". AC_FAIL */
int ac_ep_refuse_training(ac_ep_node *n, const char *does);
int ac_ep_axis(ac_ep_node *n, int id, int32_t rank, int32_t *axis); /* a scalar has axis 0 */
/* A mask of axes; all if the list is left out or empty. */
int ac_ep_axes(ac_ep_node *n, int id, int32_t rank, uint32_t *mask);
ac_tensor *ac_ep_insert(ac_ep_node *n, ac_tensor *x, int32_t axis); /* move_nodes.c: a dimension of 1 */
int64_t ac_ep_inside(int64_t at, int64_t size);      /* an end of a slice, which may count from the last element */
ac_tensor *ac_ep_bytes(ac_ep_node *n, ac_tensor *x); /* bools as u8 */
ac_tensor *ac_ep_truth(ac_ep_node *n, ac_tensor *x); /* bool: the elements that are not 0 */

extern const ac_format ac_pt2_format;

#endif
