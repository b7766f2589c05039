/* category_nodes.c - ai.onnx.ml: categories, numbers or texts, become numbers or texts: OneHotEncoder, LabelEncoder,
 * CategoryMapper.
 *
 * Texts are codes (proto/texts.h), 0 to the number of texts of the model. So a text is looked up in a table by
 * its code, while a number is compared with all keys. */
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/ml/labels.h"
#include "import/onnx/proto/nodes.h"
#include "import/onnx/proto/texts.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_KEYS = 1 << 16 };

/* x with a new last dimension of 1. */
static ac_tensor *apart(ac_onx_node *n, ac_tensor *x)
{
    int64_t dim[AC_MAX_RANK];
    if (!x || x->rank >= AC_MAX_RANK)
        return x ? ((void)ac_cannot(&n->b, "its result has more than %d dimensions", AC_MAX_RANK), NULL) : NULL;
    memcpy(dim, x->dim, sizeof dim);
    dim[x->rank] = 1;
    return ac_make_reshape(&n->b, x, x->rank + 1, dim);
}

/* The texts of an attribute as codes, i32 [count]. *out NULL: it is left out or empty. */
static int texts_of(ac_onx_node *n, const char *name, ac_tensor **out)
{
    const ac_onx_attr *a = ac_onx_attr_of(n, name);
    *out = NULL;
    if (!a || !a->strings.n)
        return AC_OK;
    int64_t *code = AC_NEW_N(n->r->cx->region, int64_t, a->strings.n);
    AC_TRY(ac_onx_text_codes(n->r, n->at, a->strings, code));
    *out = ac_onx_coded(n, a->strings.n, code);
    return *out ? AC_OK : AC_FAIL;
}

/* ------------------------------------------------------------------ OneHotEncoder */

/* 1 where x is the category, else 0. Unknown categories are all zeros; ONNX Runtime stops at them if `zeros` is 0. */
int ac_onx_do_one_hot_encoder(ac_onx_node *n)
{
    const ac_ints numbers = ac_attr_ints(&n->attrs, A_cats_int64s);
    ac_tensor *x = n->in[0], *texts;
    const bool zeros = ac_attr_int(&n->attrs, A_zeros) != 0;
    AC_TRY(texts_of(n, "cats_strings", &texts));
    if (!numbers.n && !texts)
        return ac_error(n->r->cx, n->at, E0103, "it has no categories");
    if (!x->words != !texts)
        return ac_bad(&n->b, "'%s' is %s, but its categories are %s", x->name, ac_tensor_str(n->r->cx, x),
                      texts ? "texts" : "numbers");
    if (!zeros && texts)
        ac_note(n->r->cx, n->at, W0001,
                "a text that is not one of its categories becomes a row of zeros, not an error");
    ac_tensor *category = texts ? texts : ac_make_ints(&n->b, numbers.n, numbers.v);
    x = apart(n, texts ? x : ac_make_cast(&n->b, x, AC_I64));
    ac_tensor *is = x ? EQUAL(x, category) : NULL;
    return ac_onx_result(n, 0, ac_make_cast(&n->b, is, AC_F32));
}

/* ------------------------------------------------------------------ look-ups */

/* The value of the first key that x is, or `other` [1]. nan: NaN equals a key that is NaN. */
static ac_tensor *by_number(ac_onx_node *n, ac_tensor *x, ac_tensor *keys, ac_tensor *values, ac_tensor *other,
                            bool nan)
{
    ac_attrs a;
    x = apart(n, x);
    ac_tensor *is = x ? EQUAL(x, keys) : NULL;
    if (is && nan && ac_dtype_is_float(keys->dtype)) {
        ac_tensor *nan_key = OP2(NOT_EQUAL, keys, keys);
        ac_tensor *both = OP2(LOGICAL_AND, OP2(NOT_EQUAL, x, x), nan_key);
        is = OP2(LOGICAL_OR, is, both);
    }
    if (!is || !other)
        return NULL;
    const int64_t last = is->rank - 1;
    int64_t none[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0};
    after[last] = 1; /* a key that is always found: the default */
    ac_tensor *found = ac_make_number(&n->b, AC_U8, 1);
    is = ac_make_pad(&n->b, ac_make_cast(&n->b, is, AC_U8), none, after, found);
    ac_attrs_init(AC_OP_ARG_MAX, &a);
    a.arg.out_type = AC_I64;
    ac_tensor *in[] = {is, ac_make_reshape(&n->b, ac_make_ints(&n->b, 1, &last), 0, NULL)};
    ac_tensor *at = is ? ac_make_op(&n->b, AC_OP_ARG_MAX, in, 2, &a, AC_I64) : NULL;
    ac_tensor *part[] = {values, other}, *table[] = {ac_make_concat(&n->b, part, 2, 0), at};
    return table[0] && at ? ac_make_op(&n->b, AC_OP_GATHER, table, 2, NULL, AC_NONE) : NULL;
}

/* The narrowest type of v[n]; i64 if another saves few bytes. */
static ac_dtype narrowest(const int64_t *v, int64_t n)
{
    enum { LEAST = 256 };
    static const ac_dtype TYPES[] = {AC_I8, AC_I16, AC_I32};
    for (size_t t = 0; t < sizeof TYPES / sizeof *TYPES; t++) {
        bool fits = ac_dtype_size(AC_I64, n) - ac_dtype_size(TYPES[t], n) >= LEAST;
        for (int64_t i = 0; i < n && fits; i++)
            fits = v[i] >= ac_dtype_min(TYPES[t]) && v[i] <= ac_dtype_max(TYPES[t]);
        if (fits)
            return TYPES[t];
    }
    return AC_I64;
}

/* Row place[i] of integers `values`, or `other`, for each i, as a constant of their narrowest type. */
static ac_tensor *table_of(ac_onx_node *n, ac_tensor *values, ac_tensor *other, const int64_t *place, int64_t rows)
{
    ac_ints v, o;
    if (ac_constant_values(&n->b, values, &v) != AC_OK || ac_constant_values(&n->b, other, &o) != AC_OK)
        return NULL;
    int64_t *row = AC_NEW_N(n->r->cx->region, int64_t, rows);
    for (int64_t i = 0; i < rows; i++)
        row[i] = place[i] < v.n ? v.v[place[i]] : o.v[0];
    const ac_dtype type = narrowest(row, rows);
    const int64_t size = ac_dtype_size(type, 1);
    uint8_t *bytes = ac_alloc_n(n->r->cx->region, (uint64_t)rows, (size_t)size);
    for (int64_t i = 0; i < rows; i++)
        ac_dtype_put_int(type, bytes + i * size, row[i]);
    return ac_tensor_const(n->b.g, n->b.base, type, 1, &rows, bytes);
}

/* The same of texts: x is the place in a table that has a value for each text of the model, and one for the others. */
static ac_tensor *by_text(ac_onx_node *n, ac_tensor *x, ac_tensor *keys, ac_tensor *values, ac_tensor *other)
{
    const int32_t texts = ac_onx_words(n->r, true)->n;
    int64_t *place = AC_NEW_N(n->r->cx->region, int64_t, texts + 1);
    ac_ints code;
    if (!other || ac_constant_values(&n->b, keys, &code) != AC_OK)
        return NULL;
    for (int32_t i = 0; i <= texts; i++)
        place[i] = code.n;
    for (int32_t k = code.n - 1; k >= 0; k--)
        if (code.v[k] <= texts) /* others: of this run */
            place[code.v[k]] = k;
    ac_tensor *table[] = {NULL, x};
    if (values->dtype == AC_I64) {
        table[0] = table_of(n, values, other, place, texts + 1);
    } else {
        ac_tensor *part[] = {values, other}, *all[] = {ac_make_concat(&n->b, part, 2, 0), NULL};
        all[1] = ac_make_ints(&n->b, texts + 1, place);
        table[0] = all[0] ? ac_make_op(&n->b, AC_OP_GATHER, all, 2, NULL, AC_NONE) : NULL;
    }
    ac_tensor *y = table[0] ? ac_make_op(&n->b, AC_OP_GATHER, table, 2, NULL, AC_NONE) : NULL;
    return ac_make_cast(&n->b, y, values->dtype);
}

/* Result 0 is the value of key x. Keys and values are of one length, `other` has one element. */
static int look_up(ac_onx_node *n, ac_tensor *keys, ac_tensor *values, ac_tensor *other, bool nan)
{
    ac_tensor *x = n->in[0];
    if (!other)
        return AC_FAIL;
    if (keys->dtype != x->dtype || !keys->words != !x->words || values->dim[0] != keys->dim[0])
        return ac_bad(&n->b, "'%s' is %s, with %s keys and %" PRId64 " values", x->name, ac_tensor_str(n->r->cx, x),
                      ac_tensor_str(n->r->cx, keys), values->dim[0]);
    if (!values->words != !other->words)
        return ac_bad(&n->b, "its values are %s, but the default is %s", ac_tensor_str(n->r->cx, values),
                      ac_tensor_str(n->r->cx, other));
    ac_tensor *y = x->words ? by_text(n, x, keys, values, other) : by_number(n, x, keys, values, other, nan);
    return ac_onx_result(n, 0, values->words ? ac_onx_text(n->r, y, false) : y);
}

/* 0, 1 .. as keys or values of a list of n. */
static ac_tensor *places(ac_onx_node *n, int64_t count)
{
    int64_t *v = AC_NEW_N(n->r->cx->region, int64_t, count + 1);
    for (int64_t i = 0; i < count; i++)
        v[i] = i;
    return ac_make_ints(&n->b, count, v);
}

/* The default: default_string, default_int64 or default_float, by the type of the values. [1] */
static ac_tensor *default_of(ac_onx_node *n, const ac_tensor *values)
{
    static const char UNUSED[] = "_Unused";
    const int64_t one = 1, whole = ac_attr_int(&n->attrs, A_default_int64);
    const double real = ac_attr_float(&n->attrs, A_default_float);
    const ac_onx_attr *text = ac_onx_attr_of(n, "default_string");
    int64_t code;
    if (!values->words && !ac_dtype_is_float(values->dtype))
        return ac_make_cast(&n->b, ac_make_ints(&n->b, 1, &whole), values->dtype);
    if (!values->words)
        return ac_make_reshape(&n->b, ac_make_number(&n->b, values->dtype, real), 1, &one);
    const ac_span s = text ? text->s : (ac_span){(const uint8_t *)UNUSED, sizeof UNUSED - 1};
    return ac_onx_text_code(n->r, n->at, s, &code) == AC_OK ? ac_onx_coded(n, 1, &code) : NULL;
}

/* ------------------------------------------------------------------ LabelEncoder, CategoryMapper */

/* A list of keys or values: i64, f32, codes of texts, or those of a tensor. */
static int read_list(ac_onx_node *n, const char *what, ac_tensor **out)
{
    ac_ctx *cx = n->r->cx;
    int64_t count;
    ac_tensor *texts, *tensor;
    const ac_ints whole = ac_attr_list(&n->attrs, ac_internf(cx, "%s_int64s", what));
    const float *real = ac_onx_floats(n, ac_internf(cx, "%s_floats", what), &count);
    if (n->b.bad)
        return AC_FAIL;
    AC_TRY(texts_of(n, ac_internf(cx, "%s_strings", what), &texts));
    AC_TRY(ac_onx_tensor_attr(n, ac_internf(cx, "%s_tensor", what), &tensor));
    *out = tensor ? tensor : texts;
    if (!*out && whole.n)
        *out = ac_make_ints(&n->b, whole.n, whole.v);
    else if (!*out && real)
        *out = ac_make_floats(&n->b, 1, &count, real);
    if (!*out || (*out)->rank != 1 || (*out)->dim[0] < 1 || (*out)->dim[0] > MOST_KEYS)
        return ac_error(cx, n->at, E0103, "%s: expected 1 to %d of them", what, MOST_KEYS);
    return AC_OK;
}

/* Texts and numbers of equal places in two lists, in the direction that the operand needs. */
static int both_ways(ac_onx_node *n, ac_tensor *texts, ac_tensor *numbers)
{
    const bool from_text = n->in[0]->words != NULL;
    ac_tensor *keys = from_text ? texts : numbers, *values = from_text ? numbers : texts;
    return look_up(n, keys, values, default_of(n, values), false);
}

/* Version 1 has texts, and their places in the list as numbers. From version 4 on NaN is NaN. */
int ac_onx_do_label_encoder(ac_onx_node *n)
{
    ac_tensor *keys, *values, *other;
    const int64_t one = 1;
    if (n->version < 2) {
        AC_TRY(texts_of(n, "classes_strings", &keys));
        return keys ? both_ways(n, keys, places(n, keys->dim[0]))
                    : ac_error(n->r->cx, n->at, E0103, "it has no classes");
    }
    AC_TRY(read_list(n, "keys", &keys));
    AC_TRY(read_list(n, "values", &values));
    AC_TRY(ac_onx_tensor_attr(n, "default_tensor", &other));
    ac_tensor *plain = default_of(n, values);
    if (other && ac_tensor_count(other) != 1)
        return ac_error(n->r->cx, n->at, E0103, "the default has %" PRId64 " elements, expected one",
                        ac_tensor_count(other));
    if (other) {
        const ac_vocabulary *words = other->words;
        other = ac_make_reshape(&n->b, ac_make_cast(&n->b, other, values->dtype), 1, &one);
        if (other)
            other->words = words;
    }
    return look_up(n, keys, values, other ? other : plain, n->version >= 4);
}

int ac_onx_do_category_mapper(ac_onx_node *n)
{
    ac_tensor *texts, *numbers;
    AC_TRY(read_list(n, "cats", &texts));
    const ac_ints whole = ac_attr_ints(&n->attrs, A_cats_int64s);
    numbers = whole.n ? ac_make_ints(&n->b, whole.n, whole.v) : NULL;
    if (!texts->words || !numbers)
        return ac_error(n->r->cx, n->at, E0103, "cats_strings and cats_int64s: expected both");
    return both_ways(n, texts, numbers);
}

/* ------------------------------------------------------------------ Cast */

/* True if the text is the decimal form of an integer of 64 bits, as Cast writes it. At most 18 digits. */
static bool is_integer(const char *s, int64_t *v)
{
    const bool minus = *s == '-';
    const char *digit = s + minus;
    *v = 0;
    for (; *digit >= '0' && *digit <= '9' && digit - s < 18 + minus; digit++)
        *v = *v * 10 + (*digit - '0');
    const bool plain = digit > s + minus && !*digit && (s[minus] != '0' || (digit == s + 1 && !minus));
    *v = minus ? -*v : *v;
    return plain;
}

/* Integers become texts of the model; others have none. */
int ac_onx_cast_text(ac_onx_node *n, bool to_text)
{
    static const char CUT[] = "do this step in the application: cut the model there (--outputs TENSOR)";
    ac_tensor *x = n->in[0];
    const ac_vocabulary *words = ac_onx_words(n->r, true);
    ac_attr_skip(&n->attrs, "saturate");
    ac_attr_skip(&n->attrs, "round_mode");
    if (x->words && to_text)
        return ac_onx_result(n, 0, x);
    if (x->words)
        return ac_refuse(n->r->reading, n->at, E0108, n->type, "it reads numbers out of texts", CUT);
    if (ac_dtype_is_float(x->dtype))
        return ac_refuse(n->r->reading, n->at, E0108, n->type, "it writes real numbers as texts", CUT);
    int64_t *key = AC_NEW_N(n->r->cx->region, int64_t, words->n + 1),
            *code = AC_NEW_N(n->r->cx->region, int64_t, words->n + 1);
    const int64_t other = words->n;
    int32_t count = 0;
    for (int32_t i = 0; i < words->n; i++)
        if (is_integer(words->text[i], &key[count]))
            code[count++] = i;
    x = ac_make_cast(&n->b, x, AC_I64);
    ac_tensor *none = ac_onx_coded(n, 1, &other), *codes = ac_onx_coded(n, count, code);
    ac_tensor *y = !x      ? NULL
                   : count ? by_number(n, x, ac_make_ints(&n->b, count, key), codes, none, false)
                           : ac_make_broadcast(&n->b, none, x->rank, x->dim);
    return ac_onx_result(n, 0, ac_onx_text(n->r, y, true));
}
