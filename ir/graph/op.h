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
    X(ac_mp_add) X(ac_mp_sub) X(ac_mp_mul) X(ac_mp_div) X(ac_mp_floor_div) X(ac_mp_floor_mod) X(ac_mp_minimum) X(ac_mp_maximum) \
    X(ac_mp_pow) X(ac_mp_sqdiff) X(ac_mp_equal) X(ac_mp_not_equal) X(ac_mp_less) X(ac_mp_less_equal) X(ac_mp_greater) \
    X(ac_mp_greater_equal) X(ac_mp_logical_and) X(ac_mp_logical_or) X(ac_mp_logical_not) X(ac_mp_select) X(ac_mp_abs) X(ac_mp_neg) \
    X(ac_mp_sign) X(ac_mp_ceil) X(ac_mp_floor) X(ac_mp_round) X(ac_mp_sqrt) X(ac_mp_rsqrt) X(ac_mp_square) X(ac_mp_exp) X(ac_mp_log) \
    X(ac_mp_sin) X(ac_mp_cos) X(ac_mp_tanh) X(ac_mp_logistic) X(ac_mp_relu) X(ac_mp_relu6) X(ac_mp_relu_n1) X(ac_mp_relu_01) \
    X(ac_mp_leaky_relu) X(ac_mp_prelu) X(ac_mp_elu) X(ac_mp_gelu) X(ac_mp_hard_swish) X(ac_mp_erf) X(ac_mp_atan) X(ac_mp_bitwise_and) \
    X(ac_mp_bitwise_or) X(ac_mp_bitwise_xor) X(ac_mp_shift_left) X(ac_mp_shift_right) X(ac_mp_quantize) X(ac_mp_dequantize) \
    X(ac_mp_cast) X(ac_mp_bitcast) X(ac_mp_zeros_like)
// clang-format on
#define AC_MAP_DECL(f) ac_map_fn f;
AC_MAPS(AC_MAP_DECL)
#undef AC_MAP_DECL

#endif
