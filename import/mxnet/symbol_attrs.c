/* symbol_attrs.c - attributes of MXNet nodes. All are text, written by Python or C++ of many versions: "(1, 1)",
 * "[1,1]", "True", "1", "1e-3", "None". Unread ones are refused in the end, because their meaning is unknown. */
#include "import/mxnet/symbols.h"

#include "base/ascii.h"
#include "base/decimal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *ac_mx_attr(ac_mx_node *n, const char *name)
{
    const char *found = NULL;
    int32_t k = 0;
    for (const ac_js_node *x = n->given ? n->given->first : NULL; x; x = x->next, k++)
        if (!strcmp(x->key, name)) {
            n->asked |= k < 64 ? UINT64_C(1) << k : 0;
            found = x->text;
        }
    return found && !strcmp(found, "None") ? NULL : found;
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

/* A tuple of numbers; -1: it is something else. */
static int32_t numbers(const char *text, int32_t most, double *v)
{
    const char *p = blanks(text);
    const char close = *p == '(' ? ')' : *p == '[' ? ']' : 0;
    int32_t count = 0;
    p += close != 0;
    for (p = blanks(p); *p && *p != close; p = blanks(p)) {
        const char *end;
        if (count == most)
            return -1;
        v[count] = ac_read_real(p, &end);
        if (end == p || !isfinite(v[count++]))
            return -1;
        p = blanks(end);
        p += *p == ',';
    }
    return count;
}

static bool number(const char *text, double *v)
{
    const char *end;
    *v = ac_read_real(text, &end);
    return end != text && !*blanks(end) && !isnan(*v);
}

/* By name or mshadow flag. */
static bool type_of(const char *text, ac_dtype init, ac_dtype *out)
{
    static const struct {
        const char *name;
        ac_dtype type;
    } TYPES[] = {{"float32", AC_F32},   {"float64", AC_F64}, {"float16", AC_F16}, {"uint8", AC_U8},
                 {"int32", AC_I32},     {"int8", AC_I8},     {"int64", AC_I64},   {"bool", AC_BOOL},
                 {"bfloat16", AC_BF16}, {"int16", AC_I16}};
    const char *end;
    int64_t flag;
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (!strcmp(TYPES[i].name, text)) {
            *out = TYPES[i].type;
            return true;
        }
    if (!whole(text, &flag, &end) || *end)
        return false;
    *out = flag == -1 ? init : ac_mx_flag(flag);
    return *out != AC_NONE;
}

static bool truth(const char *text, bool lower, int64_t *v)
{
    *v = !strcmp(text, "True") || (lower && (!strcmp(text, "true") || !strcmp(text, "1")));
    return *v || !strcmp(text, "False") || (lower && (!strcmp(text, "false") || !strcmp(text, "0")));
}

static bool list_of(ac_region *region, const char *text, const ac_attr_spec *row, ac_attr_value *v)
{
    const int32_t most = row->most ? row->most : (int32_t)strlen(text);
    int64_t *ints = AC_NEW_N(region, int64_t, most + 1);
    int32_t count;
    const bool is_tuple = ac_mx_tuple(text, most, (int64_t)row->init, ints, &count);
    v->ints = ints;
    v->n = count;
    return is_tuple;
}

static bool decode(ac_region *region, const char *text, const ac_attr_spec *row, ac_attr_value *v)
{
    const char *end;
    double *floats;
    int32_t most;
    switch (row->type) {
    case AC_ATTR_INT:
    case AC_ATTR_INT64:
        return truth(text, false, &v->i) || (whole(blanks(text), &v->i, &end) && !*blanks(end));
    case AC_ATTR_FLOAT:
        if (number(text, &v->f))
            return true;
        v->f = !strcmp(text, "True");
        return truth(text, false, &v->i);
    case AC_ATTR_BOOL:
        return truth(text, true, &v->i);
    case AC_ATTR_WORD:
    case AC_ATTR_TEXT:
        v->text = text;
        return true;
    case AC_ATTR_TYPE:
        return type_of(text, (ac_dtype)row->init, &v->dtype);
    case AC_ATTR_INTS:
        return list_of(region, text, row, v);
    case AC_ATTR_FLOATS:
        most = row->most ? row->most : (int32_t)strlen(text);
        v->floats = floats = AC_NEW_N(region, double, most + 1);
        v->n = numbers(text, most, floats);
        return v->n >= 0;
    case AC_ATTR_ANY:
        return true;
    }
    return false;
}

static bool find(const ac_attrs_reader *a, const char *name, const ac_attr_spec *row, ac_attr_value *v)
{
    ac_region *region = a->b->cx->region;
    const char *text = ac_mx_attr(a->node, name);
    if (text && !decode(region, text, row, v))
        v->wrong = ac_strf(region, "'%.60s'", text);
    return text;
}

static const ac_attr_spec ROWS[] = {
#define A(type, id, ...) AC_ATTR_ROW(type, id, __VA_ARGS__)
#include "import/mxnet/attrs.def"
#undef A
};

const ac_attr_source ac_mx_attrs = {.numbers = true, .what = "attribute", .row = ROWS, .find = find};

int ac_mx_axes(ac_mx_node *n, int32_t rank, uint32_t *mask)
{
    const ac_ints axes = ac_attr_ints(&n->attrs, A_axis_list);
    const bool exclude = ac_attr_bool(&n->attrs, A_exclude);
    int32_t d;
    *mask = axes.n ? 0 : (1u << rank) - 1;
    for (int32_t i = 0; i < axes.n; i++) {
        AC_TRY(ac_operand_axis(&n->b, axes.v[i], rank, &d));
        *mask |= 1u << d;
    }
    if (exclude && axes.n)
        *mask = ((1u << rank) - 1) & ~*mask;
    return AC_OK;
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
    return ac_has_ending(name, "_lr_mult") || ac_has_ending(name, "_wd_mult") || !strncmp(name, "backward_", 9);
}

int ac_mx_check_attrs(ac_mx_node *n)
{
    int32_t k = 0;
    for (const ac_js_node *x = n->given ? n->given->first : NULL; x; x = x->next, k++)
        if (k < 64 && !(n->asked >> k & 1) && !no_matter(x->key))
            return ac_cannot(&n->b, "its attribute '%s' has no meaning to arenac", x->key);
    return AC_OK;
}
