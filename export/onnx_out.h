/* onnx_out.h - an ONNX graph under construction, shared by the adapters of operators (onnx_map.c, onnx_window.c,
 * onnx_matrix.c, onnx_move.c).
 *
 * Values are tensors of the graph that is converted; new ones are added to it (with a name of their own). Canonical
 * operators have channels last, ONNX has them first: an adapter transposes its operand, adds ONNX's operator, and
 * transposes the result back. Adjacent transposes become one or none, and unused nodes are not written, so a model that
 * had channels first ends up without any of them.
 *
 *     ac_tensor *x = ac_onw_first(w, n->in[0]);                        [N,H,W,C] -> [N,C,H,W]
 *     ac_tensor *y = ac_onw_op(w, "Relu", &x, 1, x->dtype, x->rank, x->dim);
 *     ac_onw_last(w, y, n->out[0]);                                    [N,C,H,W] -> [N,H,W,C]
 *
 * ac_onw_cannot reports (E0108) what ONNX cannot express; conversion continues, so that all of it is listed. */
#ifndef AC_EXPORT_ONNX_OUT_H
#define AC_EXPORT_ONNX_OUT_H
#include "base/sink.h"
#include "ir/graph/graph.h"

typedef struct ac_onw_node {
    const char *type;
    ac_tensor **in; /* NULL: left out */
    ac_tensor **out;
    int32_t n_in, n_out;
    ac_sink attrs;
} ac_onw_node;

/* A value that is another one transposed, or its integers made real */
typedef struct ac_onw_source {
    ac_tensor *of;
    bool dequantized;
    int32_t perm[AC_MAX_RANK];
} ac_onw_source;

typedef struct ac_onw {
    ac_ctx *cx;
    bool open; /* dimension 0 of inputs and outputs has a name in the file, and no size */
    ac_graph *g;
    int opset;   /* required by the operators written so far */
    int32_t own; /* tensors with lower ids are the model's */
    AC_VEC(ac_onw_node) node;
    AC_VEC(ac_onw_source) source; /* by tensor id */
} ac_onw;

enum { AC_ONW_LEAST = 13 };             /* operator set of a file */
int ac_onw_since(const ac_onw_node *n); /* the first set that has the operator as written */
int ac_onw_ir(int opset);               /* the version of the file format that belongs to it */

/* A value of this type and shape, named after `like`. */
ac_tensor *ac_onw_value(ac_onw *w, const ac_tensor *like, ac_dtype d, int32_t rank, const int64_t *dim);
/* A node; its attributes are those that follow, until the next node. Operands that are NULL are left out. */
void ac_onw_node_to(ac_onw *w, const char *type, ac_tensor *const *in, int32_t n_in, ac_tensor *const *out,
                    int32_t n_out);
/* With one result: a new value. in[0] gives it its name. */
ac_tensor *ac_onw_op(ac_onw *w, const char *type, ac_tensor *const *in, int32_t n_in, ac_dtype d, int32_t rank,
                     const int64_t *dim);
void ac_onw_int(ac_onw *w, const char *name, int64_t v);
void ac_onw_float(ac_onw *w, const char *name, float v);
void ac_onw_string(ac_onw *w, const char *name, const char *s);
void ac_onw_ints(ac_onw *w, const char *name, int32_t n, const int64_t *v);

ac_tensor *ac_onw_const_ints(ac_onw *w, int32_t n, const int64_t *v); /* i64 [n] */
ac_tensor *ac_onw_const(ac_onw *w, ac_dtype d, double v);             /* a scalar */
ac_tensor *ac_onw_transpose(ac_onw *w, ac_tensor *x, const int32_t *perm);
void ac_onw_transpose_to(ac_onw *w, ac_tensor *x, const int32_t *perm, ac_tensor *y);
/* True if x is *of transposed by perm. */
bool ac_onw_turned(ac_onw *w, const ac_tensor *x, ac_tensor **of, int32_t perm[AC_MAX_RANK]);
ac_tensor *ac_onw_first(ac_onw *w, ac_tensor *x);        /* the last dimension becomes dimension 1 */
void ac_onw_last(ac_onw *w, ac_tensor *x, ac_tensor *y); /* and back, as y */
ac_tensor *ac_onw_reshape(ac_onw *w, ac_tensor *x, int32_t rank, const int64_t *dim);
void ac_onw_reshape_to(ac_onw *w, ac_tensor *x, ac_tensor *y);
ac_tensor *ac_onw_cast(ac_onw *w, ac_tensor *x, ac_dtype d);
void ac_onw_same(ac_onw *w, ac_tensor *x, ac_tensor *y);    /* y is x */
ac_tensor *ac_onw_act(ac_onw *w, ac_tensor *x, ac_act act); /* relu, relu6, ... */
ac_tensor *ac_onw_dequantize(ac_onw *w, ac_tensor *x);
void ac_onw_dequantize_to(ac_onw *w, ac_tensor *x, ac_tensor *y);
void ac_onw_quantize_to(ac_onw *w, ac_tensor *x, ac_tensor *y);

int ac_onw_cannot(ac_onw *w, const ac_node *n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int ac_onw_finish(ac_onw *w, ac_sink *to); /* the file */

/* An adapter writes node n. AC_FAIL: it reported why it cannot. */
typedef int ac_onw_fn(ac_onw *w, const ac_node *n);
/* The rows of onnx_ops.def, by our operator. */
typedef struct ac_onw_row {
    ac_onw_fn *say;   /* NULL: ONNX has no counterpart */
    const char *name; /* of ONNX's operator */
    int32_t flags;
} ac_onw_row;
enum {
    AC_ONW_MOVES = 1,  /* only moves elements: integers of one scale stay as they are */
    AC_ONW_EACH = 2,   /* element by element */
    AC_ONW_REDUCES = 4 /* along axes */
};
/* export/onnx_turned.c: writes n on the operands before their transposition, if all are transposed alike; errors are
 * among the diagnostics. false: not such a node. */
bool ac_onw_on_turned(ac_onw *w, const ac_node *n, const ac_onw_row *row);
/* export/onnx_codes.c: writes QuantizeLinear or DequantizeLinear if n is the last node of one in plain arithmetic. */
bool ac_onw_codes(ac_onw *w, const ac_node *n);
extern const ac_onw_row ac_onw_rows[AC_OP_COUNT];
#define ROW(id, adapter, ...) ac_onw_fn ac_onw_##adapter;
#include "export/onnx_ops.def"
#undef ROW

#endif
