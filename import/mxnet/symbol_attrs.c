/* symbol_attrs.c - attributes of MXNet nodes. All are text, written by Python or C++ of many versions: "(1, 1)",
 * "[1,1]", "True", "1", "1e-3", "None". Unread ones are refused in the end, because their meaning is unknown. */
#include "import/mxnet/symbols.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *ac_mx_attr(ac_mx_node *n, const char *name)
{
    const char *found = NULL;
    int32_t k = 0;
    for (const ac_js_node *x = n->attrs ? n->attrs->first : NULL; x; x = x->next, k++)
        if (!strcmp(x->key, name)) {
            n->asked |= k < 64 ? UINT64_C(1) << k : 0;
            found = x->text;
        }
    return found && !strcmp(found, "None") ? NULL : found;
}

static int wrong(ac_mx_node *n, const char *name, const char *text, const char *expected)
{
    return ac_error(n->r->cx, n->at, E0103, "attribute '%s' is '%.60s', expected %s", name, text, expected);
}

static const char *blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* An integer, possibly with the L of Python 2 or a fraction of 0; *end is the end of its text. */
static bool whole(const char *p, int64_t *v, const char **end)
{
    char *stop;
    const long long parsed = strtoll(p, &stop, 10);
    if (stop == p)
        return false;
    if (*stop == '.')
        for (stop++; *stop == '0';)
            stop++;
    stop += *stop == 'L';
    *v = parsed;
    *end = stop;
    return true;
}

int ac_mx_int(ac_mx_node *n, const char *name, int64_t init, int64_t low, int64_t high, int64_t *out)
{
    const char *text = ac_mx_attr(n, name), *end;
    *out = init;
    if (!text)
        return init >= low ? AC_OK : ac_error(n->r->cx, n->at, E0103, "attribute '%s' is missing", name);
    if (!strcmp(text, "True") || !strcmp(text, "False"))
        *out = *text == 'T';
    else if (!whole(blanks(text), out, &end) || *blanks(end))
        return wrong(n, name, text, "a whole number");
    if (*out >= low && *out <= high)
        return AC_OK;
    *out = init;
    return wrong(n, name, text, "a number in range");
}

int ac_mx_float(ac_mx_node *n, const char *name, double init, double *out)
{
    const char *text = ac_mx_attr(n, name);
    char *end;
    *out = init;
    if (!text)
        return AC_OK;
    *out = !strcmp(text, "True") ? (end = NULL, 1.0) : !strcmp(text, "False") ? (end = NULL, 0.0) : strtod(text, &end);
    if ((end && (end == text || *blanks(end))) || isnan(*out)) {
        *out = init;
        return wrong(n, name, text, "a number");
    }
    return AC_OK;
}

int ac_mx_bool(ac_mx_node *n, const char *name, bool init, bool *out)
{
    const char *text = ac_mx_attr(n, name);
    *out = init;
    if (!text)
        return AC_OK;
    *out = !strcmp(text, "True") || !strcmp(text, "true") || !strcmp(text, "1");
    if (*out || !strcmp(text, "False") || !strcmp(text, "false") || !strcmp(text, "0"))
        return AC_OK;
    return wrong(n, name, text, "True or False");
}

const char *ac_mx_str(ac_mx_node *n, const char *name, const char *init)
{
    const char *text = ac_mx_attr(n, name);
    return text ? text : init;
}

bool ac_mx_tuple(const char *text, int32_t most, int64_t none, int64_t *v, int32_t *count)
{
    const char *p = blanks(text), *end;
    const char close = *p == '(' ? ')' : *p == '[' ? ']' : 0;
    *count = 0;
    p += close != 0;
    for (p = blanks(p); *p && *p != close; p = blanks(p)) {
        if (*count == most)
            return false;
        if (!strncmp(p, "None", 4)) {
            v[(*count)++] = none;
            end = p + 4;
        } else if (whole(p, &v[*count], &end)) {
            ++*count;
        } else {
            return false;
        }
        p = blanks(end);
        if (*p == ',')
            p++;
        else if (*p && *p != close)
            return false;
    }
    return close ? *p == close && !*blanks(p + 1) : !*p && *count <= 1;
}

int ac_mx_ints(ac_mx_node *n, const char *name, int32_t most, int64_t none, int64_t *v, int32_t *count)
{
    const char *text = ac_mx_attr(n, name);
    *count = 0;
    if (!text || ac_mx_tuple(text, most, none, v, count))
        return AC_OK;
    return wrong(n, name, text, "a tuple of integers");
}

int ac_mx_floats(ac_mx_node *n, const char *name, int32_t most, double *v, int32_t *count)
{
    const char *text = ac_mx_attr(n, name), *p = text ? blanks(text) : "";
    const char close = *p == '(' ? ')' : *p == '[' ? ']' : 0;
    *count = 0;
    p += close != 0;
    for (p = blanks(p); *p && *p != close; p = blanks(p)) {
        char *end;
        if (*count == most)
            return wrong(n, name, text, "fewer numbers");
        v[*count] = strtod(p, &end);
        if (end == p || !isfinite(v[*count]))
            return wrong(n, name, text, "a tuple of numbers");
        ++*count;
        p = blanks(end);
        p += *p == ',';
    }
    return AC_OK;
}

int ac_mx_axis(ac_mx_node *n, const char *name, int64_t init, int32_t rank, int32_t *out)
{
    int64_t v;
    AC_TRY(ac_mx_int(n, name, init, INT32_MIN, INT32_MAX, &v));
    return ac_operand_axis(&n->b, v, rank, out);
}

int ac_mx_axes(ac_mx_node *n, int32_t rank, uint32_t *mask)
{
    int64_t v[AC_MAX_RANK];
    int32_t count, d;
    bool exclude;
    AC_TRY(ac_mx_ints(n, "axis", AC_MAX_RANK, 0, v, &count));
    AC_TRY(ac_mx_bool(n, "exclude", false, &exclude));
    *mask = count ? 0 : (1u << rank) - 1;
    for (int32_t i = 0; i < count; i++) {
        AC_TRY(ac_operand_axis(&n->b, v[i], rank, &d));
        *mask |= 1u << d;
    }
    if (exclude && count)
        *mask = ((1u << rank) - 1) & ~*mask;
    return AC_OK;
}

int ac_mx_dtype(ac_mx_node *n, const char *name, ac_dtype init, ac_dtype *out)
{
    static const struct {
        const char *name;
        ac_dtype type;
    } TYPES[] = {{"float32", AC_F32},   {"float64", AC_F64}, {"float16", AC_F16}, {"uint8", AC_U8},
                 {"int32", AC_I32},     {"int8", AC_I8},     {"int64", AC_I64},   {"bool", AC_BOOL},
                 {"bfloat16", AC_BF16}, {"int16", AC_I16}};
    const char *text = ac_mx_attr(n, name), *end;
    int64_t flag;
    *out = init;
    if (!text)
        return AC_OK;
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (!strcmp(TYPES[i].name, text)) {
            *out = TYPES[i].type;
            return AC_OK;
        }
    if (whole(text, &flag, &end) && !*end && (flag == -1 || ac_mx_flag(flag) != AC_NONE)) {
        *out = flag == -1 ? init : ac_mx_flag(flag);
        return AC_OK;
    }
    return wrong(n, name, text, "a type");
}

/* Attributes for training, memory, devices or libraries do not change results. */
static bool no_matter(const char *name)
{
    static const char *const NAMES[] = {"workspace",
                                        "cudnn_tune",
                                        "cudnn_off",
                                        "ctx_group",
                                        "lr_mult",
                                        "wd_mult",
                                        "grad_scale",
                                        "ignore_label",
                                        "use_ignore",
                                        "out_grad",
                                        "normalization",
                                        "smooth_alpha",
                                        "sparse_grad",
                                        "num_weights",
                                        "momentum",
                                        "preserve_shape",
                                        "mirror_stage",
                                        "force_mirroring",
                                        "min_calib_range",
                                        "max_calib_range",
                                        "temp_space",
                                        "ctx",
                                        "profiler_scope",
                                        "weight_lr_mult",
                                        "dataflow",
                                        "cudnn_algo_fwd",
                                        "cudnn_algo_bwd_data",
                                        "cudnn_algo_bwd_filter",
                                        "cudnn_algo_fwd_prec",
                                        "cudnn_algo_bwd_prec",
                                        "cudnn_tensor_core",
                                        "cudnn_tensor_core_only"};
    if (name[0] == '_' && name[1] == '_')
        return true;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (!strcmp(name, NAMES[i]))
            return true;
    const size_t n = strlen(name);
    return (n > 8 && (!strcmp(name + n - 8, "_lr_mult") || !strcmp(name + n - 8, "_wd_mult"))) ||
           !strncmp(name, "backward_", 9);
}

int ac_mx_check_attrs(ac_mx_node *n)
{
    int32_t k = 0;
    for (const ac_js_node *x = n->attrs ? n->attrs->first : NULL; x; x = x->next, k++)
        if (k < 64 && !(n->asked >> k & 1) && !no_matter(x->key))
            return ac_cannot(&n->b, "its attribute '%s' has no meaning to arenac", x->key);
    return AC_OK;
}
