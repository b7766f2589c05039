/* op.h - what a row of the operator table is; the signatures of a shape rule, a lowering and a map expression.
 *
 * Names nodes, graphs and lowerings only as incomplete types, so the graph can know its operators without knowing how they
 * are lowered. */
#ifndef AC_IR_GRAPH_OP_H
#define AC_IR_GRAPH_OP_H
#include "base/ctx.h"
#include "ir/graph/dtype.h"

struct ac_node;
struct ac_graph;
struct ac_lower;

typedef enum ac_op {
    AC_OP_NONE,
#define OP(id, text, tfl, imin, imax, outs, attrs, shape, lower, map, stat, over, flags) AC_OP_##id,
#include "ir/ops/ops.def"
#undef OP
    AC_OP_COUNT
} ac_op;

typedef enum ac_act {
    AC_ACT_NONE,
    AC_ACT_RELU,
    AC_ACT_RELU_N1_TO_1,
    AC_ACT_RELU6,
    AC_ACT_TANH,
    AC_ACT_COUNT
} ac_act; /* text: none relu relu_n1_to_1 relu6 tanh */
typedef enum ac_padding {
    AC_PAD_EXPLICIT,
    AC_PAD_SAME,
    AC_PAD_VALID,
    AC_PAD_COUNT
} ac_padding; /* text: explicit same valid */

/* Choices of modes; each operator takes some of them and its shape rule refuses the others. */
// clang-format off
#define AC_WORDS(X) \
    X(NONE, "none") X(ADD, "add") X(MUL, "mul") X(MAX, "max") X(MIN, "min") X(AVERAGE, "average") \
    X(NEAREST, "nearest") X(LINEAR, "linear") X(CUBIC, "cubic") X(ZEROS, "zeros") X(BORDER, "border") \
    X(REFLECTION, "reflection")
// clang-format on
#define AC_WORD_ID(id, text) AC_W_##id,
typedef enum ac_word { AC_WORDS(AC_WORD_ID) AC_WORD_COUNT } ac_word;
#undef AC_WORD_ID

typedef struct ac_ints {
    int32_t n;
    const int64_t *v;
} ac_ints;

typedef int32_t ac_a_i32;
typedef float ac_a_f32;
typedef bool ac_a_bool;
typedef ac_ints ac_a_ints;
typedef ac_act ac_a_act;
typedef ac_padding ac_a_padding;
typedef ac_word ac_a_word;
typedef ac_dtype ac_a_dtype;

/* struct ac_attrs_conv { int32_t stride_h; ... }, one for each row of attrs.def; and the union of all. */
#define A(type, name, init) ac_a_##type name;
#define ATTRS(set, list)            \
    typedef struct ac_attrs_##set { \
        list char unused_;          \
    } ac_attrs_##set;
#include "ir/ops/attrs.def"
#undef ATTRS
typedef union ac_attrs {
#define ATTRS(set, list) ac_attrs_##set set;
#include "ir/ops/attrs.def"
#undef ATTRS
} ac_attrs;
#undef A
typedef enum ac_attr_set {
#define ATTRS(set, list) AC_ATTRS_##set,
#include "ir/ops/attrs.def"
#undef ATTRS
    AC_ATTRS_COUNT
} ac_attr_set;

typedef enum ac_attr_type {
    AC_A_i32,
    AC_A_f32,
    AC_A_bool,
    AC_A_ints,
    AC_A_act,
    AC_A_padding,
    AC_A_word,
    AC_A_dtype
} ac_attr_type;
/* One attribute: how readers and printers find it */
typedef struct ac_attr_row {
    const char *name;
    ac_attr_type type;
    uint32_t offset; /* inside union ac_attrs */
    double init;     /* default; lists: empty */
} ac_attr_row;

typedef int32_t ac_x; /* a value of a loop function, see ir/loop/loop.h */

/* Fills dtype, rank and dim of every output (and resolves paddings in the attributes). The graph's own declared shapes have
 * been set aside. AC_FAIL with a diagnostic naming node and tensors. */
typedef int ac_shape_fn(ac_ctx *cx, struct ac_graph *g, struct ac_node *n);
typedef int ac_lower_fn(struct ac_lower *L);
/* arg[i]: the loaded value of input i (its storage dtype), any lane count, all the same. Returns the output's storage value.
 * On an unsupported type: reports E0108 through ac_lower_refuse and returns 0. */
typedef ac_x ac_map_fn(struct ac_lower *L, const struct ac_node *n, const ac_x *arg);

enum { OF_VIEW = 1, OF_TABLE = 2, OF_FLOW = 4, OF_STATE = 8, OF_CHECKS = 16 };
#define AC_IN(i) (1u << (i))

typedef struct ac_op_row {
    const char *text, *tflite;
    int32_t min_in, max_in, n_out;
    ac_attr_set attrs;
    ac_shape_fn *shape;
    ac_lower_fn *lower;
    ac_map_fn *map;
    uint32_t static_in, overwrite, flags;
} ac_op_row;

extern const ac_op_row ac_ops[AC_OP_COUNT]; /* row 0 is empty */
extern const struct ac_attr_list {
    const ac_attr_row *row;
    int32_t n;
    const char *name;
} ac_attr_sets[AC_ATTRS_COUNT];
ac_op ac_op_find(const char *text); /* by canonical text name; AC_OP_NONE when unknown */
ac_op ac_op_find_tflite(const char *name);
void ac_attrs_init(ac_op op, ac_attrs *a); /* the defaults */
bool ac_attrs_equal(ac_op op, const ac_attrs *a, const ac_attrs *b);
extern const char *const ac_act_name[AC_ACT_COUNT];
extern const char *const ac_padding_name[AC_PAD_COUNT];
extern const char *const ac_word_name[AC_WORD_COUNT];

/* The functions named in the table. */
#define OP(id, text, tfl, imin, imax, outs, attrs, shape, lower, map, stat, over, flags) \
    ac_shape_fn shape;                                                                   \
    ac_lower_fn lower;
#include "ir/ops/ops.def"
#undef OP
// clang-format off
#define AC_MAPS(X) \
    X(mp_add) X(mp_sub) X(mp_mul) X(mp_div) X(mp_floor_div) X(mp_floor_mod) X(mp_minimum) X(mp_maximum) \
    X(mp_pow) X(mp_sqdiff) X(mp_equal) X(mp_not_equal) X(mp_less) X(mp_less_equal) X(mp_greater) \
    X(mp_greater_equal) X(mp_logical_and) X(mp_logical_or) X(mp_logical_not) X(mp_select) X(mp_abs) X(mp_neg) \
    X(mp_sign) X(mp_ceil) X(mp_floor) X(mp_round) X(mp_sqrt) X(mp_rsqrt) X(mp_square) X(mp_exp) X(mp_log) \
    X(mp_sin) X(mp_cos) X(mp_tanh) X(mp_logistic) X(mp_relu) X(mp_relu6) X(mp_relu_n1) X(mp_relu_01) \
    X(mp_leaky_relu) X(mp_prelu) X(mp_elu) X(mp_gelu) X(mp_hard_swish) X(mp_erf) X(mp_atan) X(mp_bitwise_and) \
    X(mp_bitwise_or) X(mp_bitwise_xor) X(mp_shift_left) X(mp_shift_right) X(mp_quantize) X(mp_dequantize) \
    X(mp_cast) X(mp_bitcast) X(mp_zeros_like)
// clang-format on
#define AC_MAP_DECL(f) ac_map_fn f;
AC_MAPS(AC_MAP_DECL)
#undef AC_MAP_DECL

#endif
