/* op.h - the operators as the graph sees them: the data columns of ops.def, and the attributes of attrs.def.
 *
 * The shape rule of a row is a column that ir/ops/shape expands, its loops are one that ir/lower expands. */
#ifndef AC_IR_OPS_OP_H
#define AC_IR_OPS_OP_H
#include "base/ctx.h"
#include "ir/dtype/dtype.h"

typedef enum ac_op {
    AC_OP_NONE,
#define OP(id) AC_OP_##id,
#include "ir/ops/ops_ids.def"
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
    X(REFLECTION, "reflection") X(UNIFORM, "uniform") X(NORMAL, "normal") X(TRUNCATED, "truncated")
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
typedef const char *ac_a_text; /* NULL: not given */

/* struct ac_attrs_conv { int32_t stride_h; ... }, one for each row of attrs.def; and the union of all. */
#define A(type, name) ac_a_##type name;
#define ATTRS(set, list)            \
    typedef struct ac_attrs_##set { \
        list char unused_;          \
    } ac_attrs_##set;
#include "ir/ops/attrs_fields.def"
#undef ATTRS
typedef union ac_attrs {
#define ATTRS(set, list) ac_attrs_##set set;
#include "ir/ops/attrs_fields.def"
#undef ATTRS
} ac_attrs;
#undef A
typedef enum ac_attr_set {
#define ATTRS(set, list) AC_ATTRS_##set,
#include "ir/ops/attrs_fields.def"
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
    AC_A_dtype,
    AC_A_text
} ac_attr_type;
/* One attribute, for readers and printers */
typedef struct ac_attr_row {
    const char *name;
    ac_attr_type type;
    uint32_t offset; /* inside union ac_attrs */
    double init;     /* default; lists: empty; texts: none */
} ac_attr_row;

/* Flags of a row; ops.def defines them. */
enum {
    OF_VIEW = 1,
    OF_MOVES = 2,
    OF_TABLE = 4,
    OF_CURVE = 8,
    OF_CHEAP = 16,
    OF_SCALE = 32,
    OF_EPILOGUE = 64,
    OF_INPLACE = 128,
    OF_FLOW = 256,
    OF_STATE = 512,
    OF_CHECKS = 1024,
    OF_REDUCES = 2048,
    OF_REREADS = 4096,
    OF_REMADE = 8192,
    OF_RANDOM = 16384,
    OF_CALLS = 32768
};
#define AC_IN(i) (1u << (i))

/* The layout of the filter (the weights): operand 1, with output channels along one of its dimensions. */
typedef enum ac_filter {
    AC_FILTER_NONE,
    AC_FILTER_CONV,       /* [O,H,W,I] */
    AC_FILTER_DEPTHWISE,  /* [1,H,W,C] */
    AC_FILTER_TRANSPOSED, /* [O,H,W,I]; operand 0 is the shape of the result, x comes after the weights */
    AC_FILTER_DENSE,      /* [O,I] */
    AC_FILTER_COUNT
} ac_filter;
/* The operands of a row with weights, and the dimension of the weights that is the output channel. */
typedef struct ac_filter_row {
    int32_t x, w, bias, channel;
} ac_filter_row;
extern const ac_filter_row ac_filter_of[AC_FILTER_COUNT];

/* The reason why a row has no gradient. FLAT, INTEGERS: the gradient is zero, training continues without it; for any
 * other reason, a model cannot be trained through the operator. */
// clang-format off
#define AC_NOGRADS(X) \
    X(FLAT, "constant but for jumps: its gradient is zero") X(INTEGERS, "computes integers, or with integers") \
    X(CHOICE, "chooses by the order of the data") X(STATE, "depends on runs before this one") \
    X(FLOW, "data decides what it runs") X(CUSTOM, "a function of the user computes it") X(LATER, "not written yet")
// clang-format on
#define AC_NOGRAD_ID(id, text) AC_NOGRAD_##id,
typedef enum ac_nograd { AC_NOGRAD_NONE, AC_NOGRADS(AC_NOGRAD_ID) AC_NOGRAD_COUNT } ac_nograd;
#undef AC_NOGRAD_ID

typedef struct ac_op_row {
    const char *text, *tflite;
    int32_t min_in, max_in, n_out;
    ac_attr_set attrs;
    ac_filter filter; /* layout of weights */
    bool map;         /* element-wise */
    uint32_t static_in, overwrite, flags;
    ac_nograd nograd; /* AC_NOGRAD_NONE: it has a gradient */
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
/* Operators with the attribute keep_nan; each format sets it for some kinds. */
enum {
    AC_NAN_EXTREMES = 1, /* minimum, maximum, reduce_min, reduce_max, scatter with these */
    AC_NAN_SIGN = 2,
    AC_NAN_POOLS = 4,
    AC_NAN_PLACES = 8, /* arg_min, arg_max, topk_v2 */
    AC_NAN_ALL = 15
};
/* Sets keep_nan if op is of one of these kinds. */
void ac_attrs_keep_nan(ac_op op, uint32_t kinds, ac_attrs *a);
bool ac_attrs_equal(ac_op op, const ac_attrs *a, const ac_attrs *b);
extern const char *const ac_act_name[AC_ACT_COUNT];
extern const char *const ac_padding_name[AC_PAD_COUNT];
extern const char *const ac_word_name[AC_WORD_COUNT];
extern const char *const ac_nograd_text[AC_NOGRAD_COUNT];

#endif
