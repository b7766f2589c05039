/* feature_nodes.c - ai.onnx.ml: features scaled, filled in, encoded and put side by side; ZipMap. */
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_KEYS = 1 << 16 };

/* Numbers of attribute `name` along the last dimension of x: one, or one for each feature. NULL: left out (*bad false)
 * or reported. */
static ac_tensor *along_features(ac_onx_node *n, const char *name, const ac_tensor *x, bool *bad)
{
    int64_t count;
    const float *v = ac_onx_floats(n, name, &count);
    const int64_t features = x->rank ? x->dim[x->rank - 1] : 1;
    if (!v)
        return NULL;
    if (count != 1 && count != features) {
        *bad = true;
        return (void)ac_error(n->r->cx, n->at, E0103, "%s has %" PRId64 " numbers for %" PRId64 " features", name,
                              count, features),
               NULL;
    }
    return ac_make_floats(&n->b, 1, &count, v);
}

/* (x - offset) * scale */
int ac_onx_do_scaler(ac_onx_node *n)
{
    bool bad = false;
    ac_tensor *x = ac_make_cast(&n->b, n->in[0], AC_F32), *offset = along_features(n, "offset", n->in[0], &bad);
    ac_tensor *scale = along_features(n, "scale", n->in[0], &bad);
    if (bad)
        return AC_FAIL;
    x = offset ? SUB(x, offset) : x;
    return ac_onx_result(n, 0, scale ? MUL(x, scale) : x);
}

/* Rows over their greatest number, the sum of their magnitudes, or their length; rows of nothing stay. */
int ac_onx_do_normalizer(ac_onx_node *n)
{
    ac_tensor *x = ac_make_cast(&n->b, n->in[0], AC_F32), *by;
    const char *norm = ac_attr_text(&n->attrs, A_norm);
    if (!x || x->rank < 1)
        return x ? ac_bad(&n->b, "'%s' is a scalar", x->name) : AC_FAIL;
    const uint32_t last = 1u << (x->rank - 1);
    if (!strcmp(norm, "MAX"))
        by = ac_make_reduce(&n->b, AC_OP_REDUCE_MAX, x, last, true);
    else if (!strcmp(norm, "L1"))
        by = ac_make_reduce(&n->b, AC_OP_SUM, ABS(x), last, true);
    else if (!strcmp(norm, "L2"))
        by = SQRT(ac_make_reduce(&n->b, AC_OP_SUM, SQUARE(x), last, true));
    else
        return ac_error(n->r->cx, n->at, E0103, "norm is '%s', expected MAX, L1 or L2", norm);
    ac_tensor *none = EQUAL(by, F32(0));
    return ac_onx_result(n, 0, DIV(x, WHERE(none, F32(1), by)));
}

/* Where x is the replaced value (NaN: any NaN), the value to impute, one or one for each feature. */
int ac_onx_do_imputer(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *is, *by;
    ac_ints whole;
    bool bad = false;
    whole = ac_attr_ints(&n->attrs, A_imputed_value_int64s);
    const int64_t old = ac_attr_int(&n->attrs, A_replaced_value_int64);
    const double was = ac_attr_float(&n->attrs, A_replaced_value_float);
    ac_tensor *real = along_features(n, "imputed_value_floats", x, &bad);
    if (bad || x->rank < 1)
        return bad ? AC_FAIL : ac_bad(&n->b, "'%s' is a scalar", x->name);
    if (ac_dtype_is_int(x->dtype)) {
        if (whole.n != 1 && whole.n != x->dim[x->rank - 1])
            return ac_error(n->r->cx, n->at, E0103, "imputed_value_int64s has %d numbers for '%s' %s", whole.n, x->name,
                            ac_shape_str(n->r->cx, x));
        ac_tensor *replaced = ac_make_ints(&n->b, 1, &old);
        is = EQUAL(ac_make_cast(&n->b, x, AC_I64), replaced);
        by = ac_make_cast(&n->b, ac_make_ints(&n->b, whole.n, whole.v), x->dtype);
    } else {
        is = isnan(was) ? OP2(NOT_EQUAL, x, x) : EQUAL(x, NUM(x, was));
        by = ac_make_cast(&n->b, real, x->dtype);
    }
    if (!by)
        return ac_error(n->r->cx, n->at, E0103, "there is nothing to impute");
    return ac_onx_result(n, 0, WHERE(is, by, x));
}

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

/* 1 where x is the category, else 0. */
int ac_onx_do_one_hot_encoder(ac_onx_node *n)
{
    const ac_ints category = ac_attr_ints(&n->attrs, A_cats_int64s);
    (void)ac_attr_int(&n->attrs, A_zeros); /* unknown categories are all zeros; ONNX Runtime stops at them without */
    const ac_onx_attr *names = ac_onx_attr_of(n, "cats_strings");
    if (names && names->strings.n)
        return ac_cannot(&n->b, "its categories are strings: do the look-up in the application and feed numbers");
    if (!category.n)
        return ac_error(n->r->cx, n->at, E0103, "it has no categories");
    ac_tensor *x = apart(n, ac_make_cast(&n->b, n->in[0], AC_I64));
    ac_tensor *is = x ? EQUAL(x, ac_make_ints(&n->b, category.n, category.v)) : NULL;
    return ac_onx_result(n, 0, ac_make_cast(&n->b, is, AC_F32));
}

/* ------------------------------------------------------------------ LabelEncoder */

/* A list of keys or values: i64, f32, or a tensor's numbers; names as the numbers of their places. */
static int read_list(ac_onx_node *n, const char *what, bool names, ac_tensor **out)
{
    ac_ctx *cx = n->r->cx;
    int64_t count;
    *out = NULL;
    const ac_ints whole = ac_attr_list(&n->attrs, ac_internf(cx, "%s_int64s", what));
    const float *real = ac_onx_floats(n, ac_internf(cx, "%s_floats", what), &count);
    if (n->b.bad)
        return AC_FAIL;
    const ac_onx_attr *words = ac_onx_attr_of(n, ac_internf(cx, "%s_strings", what)),
                      *tensor = ac_onx_attr_of(n, ac_internf(cx, "%s_tensor", what));
    if (whole.n)
        *out = ac_make_ints(&n->b, whole.n, whole.v);
    else if (real)
        *out = ac_make_floats(&n->b, 1, &count, real);
    if (words && words->strings.n) {
        if (!names || words->strings.n > MOST_KEYS)
            return ac_cannot(&n->b, "its %s are strings: do the look-up in the application and feed numbers", what);
        int64_t *place = AC_NEW_N(cx->region, int64_t, words->strings.n);
        for (uint32_t i = 0; i < words->strings.n; i++)
            place[i] = i;
        *out = ac_make_ints(&n->b, words->strings.n, place);
        ac_note(cx, n->at, W0001, "its values are names: the result is the index of the name, from 0");
    }
    if (tensor && tensor->has_tensor) {
        ac_onx_const c;
        const char *refused;
        if (ac_onx_tensor(n->r, tensor->tensor, &c, &refused) != AC_OK)
            return refused ? ac_cannot(&n->b, "%s", refused) : AC_FAIL;
        *out = ac_onx_constant(n->r, n->name, &c);
    }
    if (!*out || (*out)->rank != 1 || (*out)->dim[0] < 1 || (*out)->dim[0] > MOST_KEYS)
        return ac_error(cx, n->at, E0103, "%s: expected 1 to %d of them", what, MOST_KEYS);
    return AC_OK;
}

/* The value of an unknown key: [1] of the values' type. */
static ac_tensor *unknown(ac_onx_node *n, ac_dtype type)
{
    const int64_t one = 1;
    const int64_t whole = ac_attr_int(&n->attrs, A_default_int64);
    const double real = ac_attr_float(&n->attrs, A_default_float);
    const ac_onx_attr *tensor = ac_onx_attr_of(n, "default_tensor");
    ac_attr_skip(&n->attrs, "default_string");
    ac_onx_const c;
    const char *refused;
    if (tensor && tensor->has_tensor && ac_onx_tensor(n->r, tensor->tensor, &c, &refused) == AC_OK)
        return ac_make_reshape(&n->b, ac_make_cast(&n->b, ac_onx_constant(n->r, n->name, &c), type), 1, &one);
    if (!ac_dtype_is_float(type))
        return ac_make_cast(&n->b, ac_make_ints(&n->b, 1, &whole), type);
    return ac_make_reshape(&n->b, ac_make_number(&n->b, type, real), 1, &one);
}

/* The value of the first key that x is; from version 4 on NaN is NaN. */
int ac_onx_do_label_encoder(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *keys, *values;
    ac_attrs a;
    if (n->version < 2)
        return ac_cannot(&n->b, "its classes are strings: do the look-up in the application and feed numbers");
    AC_TRY(read_list(n, "keys", false, &keys));
    AC_TRY(read_list(n, "values", true, &values));
    if (keys->dtype != x->dtype || values->dim[0] != keys->dim[0])
        return ac_bad(&n->b, "'%s' is %s, with %s keys and %" PRId64 " values", x->name, ac_tensor_str(n->r->cx, x),
                      ac_tensor_str(n->r->cx, keys), values->dim[0]);
    x = apart(n, x);
    ac_tensor *is = x ? EQUAL(x, keys) : NULL;
    if (is && ac_dtype_is_float(keys->dtype) && n->version >= 4) {
        ac_tensor *nan_key = OP2(NOT_EQUAL, keys, keys);
        ac_tensor *both = OP2(LOGICAL_AND, OP2(NOT_EQUAL, x, x), nan_key);
        is = OP2(LOGICAL_OR, is, both);
    }
    if (!is)
        return AC_FAIL;
    const int64_t last = is->rank - 1;
    int64_t none[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0};
    after[last] = 1; /* a key that is always found: the default */
    ac_tensor *found = ac_make_number(&n->b, AC_U8, 1);
    is = ac_make_pad(&n->b, ac_make_cast(&n->b, is, AC_U8), none, after, found);
    ac_attrs_init(AC_OP_ARG_MAX, &a);
    a.arg.out_type = AC_I64;
    ac_tensor *in[] = {is, ac_make_reshape(&n->b, ac_make_ints(&n->b, 1, &last), 0, NULL)};
    ac_tensor *at = is ? ac_make_op(&n->b, AC_OP_ARG_MAX, in, 2, &a, AC_I64) : NULL;
    ac_tensor *part[] = {values, unknown(n, values->dtype)};
    ac_tensor *table[] = {part[1] ? ac_make_concat(&n->b, part, 2, 0) : NULL, at};
    return ac_onx_result(n, 0, table[0] && at ? ac_make_op(&n->b, AC_OP_GATHER, table, 2, NULL, AC_NONE) : NULL);
}

/* ------------------------------------------------------------------ FeatureVectorizer, ZipMap */

/* Operands side by side as f32, with inputdimensions columns each. */
int ac_onx_do_feature_vectorizer(ac_onx_node *n)
{
    ac_ints sizes;
    ac_tensor **part = AC_NEW_N(n->r->cx->region, ac_tensor *, n->n_in + 1);
    sizes = ac_attr_ints(&n->attrs, A_inputdimensions);
    if (sizes.n && sizes.n != n->n_in)
        return ac_error(n->r->cx, n->at, E0103, "inputdimensions has %d numbers for %d inputs", sizes.n, n->n_in);
    for (int32_t i = 0; i < n->n_in; i++) {
        ac_tensor *x = n->in[i];
        if (!x || x->rank < 1 || x->dim[0] < 1)
            return ac_error(n->r->cx, n->at, E0104, "input %d is missing, a scalar or empty", i);
        const int64_t rows = x->dim[0], columns = ac_tensor_count(x) / rows, want = sizes.n ? sizes.v[i] : columns;
        if (want < 0 || want > INT32_MAX)
            return ac_error(n->r->cx, n->at, E0103, "inputdimensions has %" PRId64, want);
        x = ac_make_reshape(&n->b, ac_make_cast(&n->b, x, AC_F32), 2, (int64_t[]){rows, columns});
        if (want < columns)
            x = ac_make_slice(&n->b, x, 1, 0, want);
        else
            x = ac_make_pad(&n->b, x, (int64_t[]){0, 0}, (int64_t[]){0, want - columns}, NULL);
        part[i] = x;
        if (!x)
            return AC_FAIL;
    }
    return ac_onx_result(n, 0, n->n_in == 1 ? part[0] : ac_make_concat(&n->b, part, n->n_in, 1));
}

int ac_onx_do_zip_map(ac_onx_node *n)
{
    ac_attr_skip(&n->attrs, "classlabels_strings");
    ac_attr_skip(&n->attrs, "classlabels_int64s");
    ac_note(n->r->cx, n->at, W0001, "the result is the tensor of probabilities instead of a map for each row");
    return ac_onx_result(n, 0, n->in[0]);
}
