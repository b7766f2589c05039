/* feature_nodes.c - ai.onnx.ml: features scaled, filled in and put side by side; ZipMap. */
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

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

/* The classes of the columns, if they have names: "of 'no', 'yes'". */
static const char *columns_of(ac_onx_node *n)
{
    enum { SHOWN = 8 };
    const ac_onx_attr *names = ac_onx_attr_of(n, "classlabels_strings");
    ac_pb_list list = names ? names->strings : (ac_pb_list){.n = 0};
    const char *text = "";
    ac_span s;
    for (int32_t i = 0; i < SHOWN && ac_pb_next(&n->r->pb, &list, &s); i++)
        text = ac_strf(n->r->cx->region, "%s%s'%.*s'", text, i ? ", " : " of ", (int)(s.n < 40 ? s.n : 40),
                       (const char *)s.p);
    return names && names->strings.n > SHOWN ? ac_strf(n->r->cx->region, "%s ..", text) : text;
}

int ac_onx_do_zip_map(ac_onx_node *n)
{
    ac_attr_skip(&n->attrs, "classlabels_int64s");
    ac_note(n->r->cx, n->at, W0001, "the result is the tensor of probabilities%s instead of a map for each row",
            columns_of(n));
    return ac_onx_result(n, 0, n->in[0]);
}
