/* op.c - expands the operator table's data columns for the graph, and the attribute sets. */
#include "ir/ops/op.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define IN(i)     AC_IN(i)
#define MAP(f)    true
#define LOOPS(f)  false
#define GRAD(f)   AC_NOGRAD_NONE
#define NOGRAD(w) AC_NOGRAD_##w
const ac_op_row ac_ops[AC_OP_COUNT] = {
    [AC_OP_NONE] = {.text = "none", .tflite = "none"},
#define OP(id, text, tfl, imin, imax, outs, attrs, shape, macs, filter, loops, stat, over, flags, grad) \
    [AC_OP_##id] = {text, tfl, imin, imax, outs, AC_ATTRS_##attrs, AC_FILTER_##filter, loops, stat, over, flags, grad},
#include "ir/ops/ops.def"
#undef OP
};
#undef NOGRAD
#undef GRAD
#undef LOOPS
#undef MAP
#undef IN

const ac_filter_row ac_filter_of[AC_FILTER_COUNT] = {[AC_FILTER_NONE] = {-1, -1, -1, -1},
                                                     [AC_FILTER_CONV] = {0, 1, 2, 0},
                                                     [AC_FILTER_DEPTHWISE] = {0, 1, 2, 3},
                                                     [AC_FILTER_TRANSPOSED] = {2, 1, 3, 0},
                                                     [AC_FILTER_DENSE] = {0, 1, 2, 0}};

const char *const ac_act_name[AC_ACT_COUNT] = {"none", "relu", "relu_n1_to_1", "relu6", "tanh"};
const char *const ac_padding_name[AC_PAD_COUNT] = {"explicit", "same", "valid"};
#define WORD(id, text) text,
const char *const ac_word_name[AC_WORD_COUNT] = {AC_WORDS(WORD)};
#undef WORD
#define NOGRAD(id, text) text,
const char *const ac_nograd_text[AC_NOGRAD_COUNT] = {"", AC_NOGRADS(NOGRAD)};
#undef NOGRAD

// clang-format off
/* The rows of a set: a row needs the name of its set (for offsetof), which is outside of the list, so the list becomes
 * macro arguments, each taken by ROW in turn.  A(i32, axis, 0) A(act, act, AC_ACT_NONE)  =>  (i32, axis, 0), (act,
 * ...), */
#define A(type, name, init) (AC_A_##type, name, INIT_##type(init)),
#define INIT_i32(x) x
#define INIT_f32(x) (double)(x)
#define INIT_bool(x) x
#define INIT_ints(x) 0
#define INIT_act(x) x
#define INIT_padding(x) x
#define INIT_word(x) x
#define INIT_dtype(x) x
#define INIT_text(x) 0
#define ROW(set, cell) ROW_1(set, ROW_2 cell)
#define ROW_1(set, ...) ROW_3(set, __VA_ARGS__)
#define ROW_2(type, name, init) type, name, init
#define ROW_3(set, type, name, init) {#name, type, (uint32_t)offsetof(ac_attrs_##set, name), init},
#define EACH(set, ...) EACH_1(set, __VA_ARGS__)
#define EACH_1(s, a, b, c, d, e, f, g, h, i, j, k, l, m, n, ...)                                                       \
    ROW(s, a) ROW(s, b) ROW(s, c) ROW(s, d) ROW(s, e) ROW(s, f)                                                        \
    ROW(s, g) ROW(s, h) ROW(s, i) ROW(s, j) ROW(s, k) ROW(s, l) ROW(s, m) ROW(s, n)
#define NO (AC_A_i32, unused_, 0)

/* Sets shorter than fourteen are padded with rows named "unused_", which COUNT_set does not count. */
#define ATTRS(set, list)                                                                                               \
    static const ac_attr_row rows_##set[] = {EACH(set, list NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO)};
#include "ir/ops/attrs.def"
#undef ATTRS
#undef A

/* How many attributes a set has */
enum {
#define A(type, name, init) +1
#define ATTRS(set, list) COUNT_##set = 0 list,
#include "ir/ops/attrs.def"
#undef ATTRS
#undef A
};

const struct ac_attr_list ac_attr_sets[AC_ATTRS_COUNT] = {
#define ATTRS(set, list) [AC_ATTRS_##set] = {rows_##set, COUNT_##set, #set},
#include "ir/ops/attrs.def"
#undef ATTRS
};

// clang-format on

/* Fails if a set has more attributes than EACH takes. */
#define ATTRS(set, list) _Static_assert(COUNT_##set <= 14, "EACH in op.c takes fourteen attributes: " #set);
#include "ir/ops/attrs.def"
#undef ATTRS

ac_op ac_op_find(const char *text)
{
    for (int i = 1; i < AC_OP_COUNT; i++)
        if (!strcmp(ac_ops[i].text, text))
            return (ac_op)i;
    return AC_OP_NONE;
}

ac_op ac_op_find_tflite(const char *name)
{
    for (int i = 1; i < AC_OP_COUNT; i++)
        if (!strcmp(ac_ops[i].tflite, name))
            return (ac_op)i;
    return AC_OP_NONE;
}

void ac_attrs_init(ac_op op, ac_attrs *a)
{
    const struct ac_attr_list *set = &ac_attr_sets[ac_ops[op].attrs];
    memset(a, 0, sizeof *a);
    for (int32_t i = 0; i < set->n; i++) {
        const ac_attr_row *r = &set->row[i];
        void *at = (char *)a + r->offset;
        switch (r->type) {
        case AC_A_i32:
            *(ac_a_i32 *)at = (ac_a_i32)r->init;
            break;
        case AC_A_f32:
            *(ac_a_f32 *)at = (ac_a_f32)r->init;
            break;
        case AC_A_bool:
            *(ac_a_bool *)at = (int)r->init != 0;
            break;
        case AC_A_ints:
            break;
        case AC_A_act:
            *(ac_a_act *)at = (ac_act)(int)r->init;
            break;
        case AC_A_padding:
            *(ac_a_padding *)at = (ac_padding)(int)r->init;
            break;
        case AC_A_word:
            *(ac_a_word *)at = (ac_word)(int)r->init;
            break;
        case AC_A_dtype:
            *(ac_a_dtype *)at = (ac_dtype)(int)r->init;
            break;
        case AC_A_text:
            break;
        }
    }
}

void ac_attrs_keep_nan(ac_op op, uint32_t kinds, ac_attrs *a)
{
    switch ((int)op) {
    case AC_OP_MINIMUM:
    case AC_OP_MAXIMUM:
        a->extreme.keep_nan = kinds & AC_NAN_EXTREMES;
        break;
    case AC_OP_REDUCE_MAX:
    case AC_OP_REDUCE_MIN:
        a->reduce.keep_nan = kinds & AC_NAN_EXTREMES;
        break;
    case AC_OP_SCATTER_ELEMENTS:
    case AC_OP_SCATTER_INTO:
        if (a->scatter.reduction == AC_W_MAX || a->scatter.reduction == AC_W_MIN)
            a->scatter.keep_nan = kinds & AC_NAN_EXTREMES;
        break;
    case AC_OP_SIGN:
        a->extreme.keep_nan = kinds & AC_NAN_SIGN;
        break;
    case AC_OP_MAX_POOL_2D:
        a->pool.keep_nan = kinds & AC_NAN_POOLS;
        break;
    case AC_OP_WINDOW_MAX:
    case AC_OP_WINDOW_ARGMAX:
        a->window.keep_nan = kinds & AC_NAN_POOLS;
        break;
    case AC_OP_ARG_MAX:
    case AC_OP_ARG_MIN:
        a->arg.keep_nan = kinds & AC_NAN_PLACES;
        break;
    case AC_OP_TOPK_V2:
        a->topk.keep_nan = kinds & AC_NAN_PLACES;
        break;
    default:
        break;
    }
}

static bool texts_equal(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool ints_equal(ac_ints a, ac_ints b)
{
    return a.n == b.n && (a.n == 0 || !memcmp(a.v, b.v, (size_t)a.n * sizeof *a.v));
}

bool ac_attrs_equal(ac_op op, const ac_attrs *a, const ac_attrs *b)
{
    const struct ac_attr_list *set = &ac_attr_sets[ac_ops[op].attrs];
    for (int32_t i = 0; i < set->n; i++) {
        const ac_attr_row *r = &set->row[i];
        const void *x = (const char *)a + r->offset, *y = (const char *)b + r->offset;
        bool same = true;
        switch (r->type) {
        case AC_A_i32:
            same = *(const ac_a_i32 *)x == *(const ac_a_i32 *)y;
            break;
        case AC_A_f32:
            same = !memcmp(x, y, sizeof(ac_a_f32));
            break; /* bits: NaN equals itself */
        case AC_A_bool:
            same = *(const ac_a_bool *)x == *(const ac_a_bool *)y;
            break;
        case AC_A_ints:
            same = ints_equal(*(const ac_a_ints *)x, *(const ac_a_ints *)y);
            break;
        case AC_A_act:
            same = *(const ac_a_act *)x == *(const ac_a_act *)y;
            break;
        case AC_A_padding:
            same = *(const ac_a_padding *)x == *(const ac_a_padding *)y;
            break;
        case AC_A_word:
            same = *(const ac_a_word *)x == *(const ac_a_word *)y;
            break;
        case AC_A_dtype:
            same = *(const ac_a_dtype *)x == *(const ac_a_dtype *)y;
            break;
        case AC_A_text:
            same = texts_equal(*(const ac_a_text *)x, *(const ac_a_text *)y);
            break;
        }
        if (!same)
            return false;
    }
    return true;
}
