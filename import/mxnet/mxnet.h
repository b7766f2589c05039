/* mxnet.h - the internal interface of the files that read MXNet; other folders use only ac_mxnet_format.
 *
 *     mxnet.c         the symbol: nodes in order, variables, heads; inputs, outputs, the listing of `show`
 *     params_file.c   .params files of every vintage: arrays by name, dense and sparse
 *     symbol_attrs.c  attributes, which are text for every type
 *     symbols.c       the table of operators (symbols.def) and its dispatch
 *     *_symbols.c     adapters: window, math, shape, index, norm, box, custom
 *
 * A symbol does not contain the types of its inputs. Variables that are in the .params file, or in the position of an
 * operator's parameter, are parameters; the others are inputs, with the __shape__ they declare or of any rank. Shapes
 * of parameters follow from those of the inputs, as in MXNet.
 *
 * Errors are distinguished as in onnx.h; a value whose node failed is broken, and its readers report nothing
 * further. */
#ifndef AC_IMPORT_MXNET_MXNET_H
#define AC_IMPORT_MXNET_MXNET_H
#include "import/build/attrs.h"
#include "import/wire/json_in.h"

typedef struct ac_mx ac_mx;
typedef struct ac_mx_node ac_mx_node;

/* An array of the .params file */
typedef struct ac_mx_array {
    const char *name; /* without arg: or aux:; NULL: the file has no names */
    int32_t order;
    ac_dtype dtype;
    int32_t storage; /* 0 dense, 1 rows, 2 csr */
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    const uint8_t *data;
    int64_t stored;          /* rows or values that are there, when sparse */
    const uint8_t *index[2]; /* row numbers; or starts of rows and columns */
    ac_dtype index_type[2];
    const char *refused; /* the reason why it cannot be used; NULL: it can */
    int64_t byte;        /* where it is in the file */
} ac_mx_array;

/* Of the symbol, on its way into the graph */
struct ac_mx_node {
    ac_mx *r;
    ac_maker b;
    const ac_operator *row;
    const ac_js_node *json;
    const char *name, *type;
    ac_place at;
    int32_t id;
    const ac_js_node *given; /* attributes */
    ac_attrs_reader attrs;
    uint64_t asked; /* attributes that an adapter has read: bit k is the k-th */
    int32_t n_in, n_out;
    int32_t *from, *from_out; /* operand i is result from_out[i] of node from[i] */
    ac_tensor **in;           /* NULL: a parameter that has no value yet, see ac_mx_param */
    ac_tensor **out;
    bool broken, variable, param_slot, input, wanted;
};

/* An output of the symbol */
typedef struct ac_mx_head {
    int32_t node, out;
    const char *name;
} ac_mx_head;

struct ac_mx {
    ac_reading *reading;
    ac_ctx *cx;
    ac_graph *g;
    ac_js js;
    int32_t version; /* version of MXNet that wrote it: 10901; 800 if unknown */
    ac_mx_node *node;
    int32_t n_nodes;
    AC_VEC(ac_mx_array) array; /* by name */
    bool has_params;
    AC_VEC(ac_mx_head) head;
};

/* mxnet.c */
extern const ac_format ac_mxnet_format;
/* shape_symbols.c: x without the dimensions of the mask, which are 1; before MXNet 2 no scalar, but [1]. */
ac_tensor *ac_mx_squeeze(ac_mx_node *n, ac_tensor *x, uint32_t mask);

/* operands.c. The row's args are names of operands; *: a parameter, ?: read in training only. */
const char *ac_mx_arg_name(const ac_operator *row, int32_t i); /* "arg" if it has none */
bool ac_mx_is_param(const ac_operator *row, int32_t operand);  /* a parameter is expected there */
bool ac_mx_is_label(const ac_operator *row, int32_t operand);  /* not read in inference */
ac_tensor *ac_mx_variable(ac_mx_node *v); /* its value or an invented one; NULL: of unknown shape */
/* Operand i as an f32 parameter of that shape: from the file, or invented. NULL: reported, or refused. */
ac_tensor *ac_mx_param(ac_mx_node *n, int32_t i, int32_t rank, const int64_t *dim);
int ac_mx_result(ac_mx_node *n, int32_t i, ac_tensor *t); /* t NULL: AC_FAIL */

/* params_file.c */
int ac_mx_params_open(ac_mx *r, const ac_file *f);
const ac_mx_array *ac_mx_params_find(const ac_mx *r, const char *name);
ac_tensor *ac_mx_params_tensor(ac_mx_node *n, const ac_mx_array *a, const char *name); /* with its own type */

/* symbol_attrs.c. "None" counts as omitted, but reads as AC_MX_NONE in a tuple if that means something. */
enum { AC_MX_NONE = INT32_MIN };
enum {
#define A(id) A_##id,
#include "import/mxnet/attrs_ids.def"
#undef A
};
extern const ac_attr_source ac_mx_attrs;
const char *ac_mx_attr(ac_mx_node *n, const char *name); /* NULL: left out */
/* A tuple, (1, 2) or [1, 2] or 1; *n of them, at most `most`. Elements that are None become `none`. */
bool ac_mx_tuple(const char *text, int32_t most, int64_t none, int64_t *v, int32_t *count);
/* A mask from axis (None, a number or a tuple) and exclude. */
int ac_mx_axes(ac_mx_node *n, int32_t rank, uint32_t *mask);
int ac_mx_check_attrs(ac_mx_node *n); /* unread attributes are refused */
ac_dtype ac_mx_flag(int64_t flag);    /* mshadow type flag; AC_NONE: unknown */

/* symbols.c */
extern const ac_operators ac_mx_operators;
/* custom_symbols.c: the row of an operator that --custom binds; NULL: none. */
const ac_operator *ac_mx_custom(ac_mx_node *n);
int ac_mx_node_add(ac_mx_node *n);
int32_t ac_mx_outputs(ac_mx_node *n); /* how many results there are; 0: unknown */

#endif
