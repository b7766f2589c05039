/* custom_sizes.c - operands of custom operators matched with the shapes of their rows; see custom_sizes.h. */
#include "ir/ops/decode/custom_sizes.h"

#include <string.h>

const ac_custom_tensor *ac_custom_operand(const ac_custom *c, int32_t i)
{
    const int32_t last = c->in.n - 1;
    return i < last || (i == last && !c->in.item[last].repeated) ? &c->in.item[i]
           : c->in.item[last].repeated                           ? &c->in.item[last]
                                                                 : NULL;
}

static int show(const ac_custom_sizes *s)
{
    for (int32_t i = 0; i < s->n->n_in; i++)
        if (s->n->in[i])
            ac_detail(s->cx, "input %d  %s  '%s'", i, ac_tensor_str(s->cx, s->n->in[i]), s->n->in[i]->name);
    return AC_FAIL;
}

static int mismatch(const ac_custom_sizes *s, const ac_tensor *t, const ac_custom_tensor *row, const char *why)
{
    ac_error(s->cx, s->n->at, E0104, "operand '%s' is %s, expected %s", t->name, ac_shape_str(s->cx, t), row->shape);
    ac_detail(s->cx, "%s", why);
    return show(s);
}

/* The size `name` is v; else mismatch. */
static int bind(ac_custom_sizes *s, const ac_tensor *t, const ac_custom_tensor *row, const char *name, int64_t v)
{
    if (!strcmp(name, "_"))
        return AC_OK;
    if (*name >= '0' && *name <= '9') {
        bool none;
        int64_t want = 0;
        return ac_pin_expression(name, NULL, 0, &none, &want) && want == v
                   ? AC_OK
                   : mismatch(s, t, row, ac_strf(s->cx->region, "a dimension is %lld, not %s", (long long)v, name));
    }
    for (int32_t i = 0; i < s->n_pins; i++)
        if (!strcmp(s->pin[i].name, name))
            return s->pin[i].value == v ? AC_OK
                                        : mismatch(s, t, row,
                                                   ac_strf(s->cx->region, "%s is %lld here, but %lld before", name,
                                                           (long long)v, (long long)s->pin[i].value));
    s->pin[s->n_pins++] = (ac_pin){name, v};
    return AC_OK;
}

static int bind_dots(ac_custom_sizes *s, const ac_tensor *t, const ac_custom_tensor *row, const int64_t *dim, int32_t n)
{
    const bool known = s->n_dots >= 0;
    if (known && (n != s->n_dots || (n && memcmp(dim, s->dots, (size_t)n * sizeof *dim) != 0)))
        return mismatch(s, t, row, "'..' stands for other sizes than before");
    s->n_dots = n;
    for (int32_t d = 0; d < n; d++)
        s->dots[d] = dim[d];
    return AC_OK;
}

static int match(ac_custom_sizes *s, const ac_tensor *t, const ac_custom_tensor *row)
{
    int32_t fixed = 0, at = 0;
    if (!(row->types >> t->dtype & 1)) {
        const char *types = NULL;
        for (int d = 0; d < AC_DTYPE_COUNT; d++)
            if (row->types >> d & 1)
                types =
                    ac_strf(s->cx->region, "%s%s%s", types ? types : "", types ? ", " : "", ac_dtype_name((ac_dtype)d));
        ac_error(s->cx, s->n->at, E0105, "operand '%s' is %s, expected %s for '%s' of custom operator '%s'", t->name,
                 ac_dtype_name(t->dtype), types, row->name, s->c->name);
        return show(s);
    }
    if (row->rank < 0)
        return AC_OK;
    for (int32_t d = 0; d < row->rank; d++)
        fixed += row->dim[d] != NULL;
    if (fixed == row->rank ? t->rank != fixed : t->rank < fixed)
        return mismatch(s, t, row,
                        ac_strf(s->cx->region, "it has %d dimension%s, not %s%d", t->rank, t->rank == 1 ? "" : "s",
                                fixed == row->rank ? "" : "at least ", fixed));
    for (int32_t d = 0; d < row->rank; d++) {
        const int32_t width = row->dim[d] ? 1 : t->rank - fixed;
        AC_TRY(row->dim[d] ? bind(s, t, row, row->dim[d], t->dim[at]) : bind_dots(s, t, row, t->dim + at, width));
        at += width;
    }
    return AC_OK;
}

static int match_all(ac_custom_sizes *s)
{
    const ac_node *n = s->n;
    const ac_custom *c = s->c;
    int32_t least = 0;
    for (int32_t i = 0; i < c->in.n; i++)
        if (!c->in.item[i].optional && !c->in.item[i].repeated)
            least = i + 1;
    for (int32_t i = 0; i < n->n_in || i < least; i++) {
        const ac_custom_tensor *row = ac_custom_operand(c, i);
        const ac_tensor *t = ac_node_in(n, i);
        if (!row)
            return ac_error(s->cx, n->at, E0102, "custom operator '%s' has %d operands, expected at most %d", c->name,
                            n->n_in, c->in.n);
        if (!t && !row->optional)
            return ac_error(s->cx, n->at, E0102, "operand '%s' of custom operator '%s' is missing", row->name, c->name);
        if (t)
            AC_TRY(match(s, t, row));
    }
    if (n->n_out != c->out.n)
        return ac_error(s->cx, n->at, E0102, "custom operator '%s' has %d result%s, expected %d", c->name, n->n_out,
                        n->n_out == 1 ? "" : "s", c->out.n);
    return AC_OK;
}

static int find_row(ac_ctx *cx, const ac_node *n, const ac_custom **c)
{
    const char *name = n->attrs.custom.call;
    *c = ac_custom_find(cx, name);
    if (*c)
        return AC_OK;
    if (!name)
        return ac_error(cx, n->at, E0103, "attribute 'call', the name of a custom operator, is missing");
    ac_error(cx, n->at, E0107, "custom operator '%s' is not defined", name);
    return ac_help(cx, "--custom FILE.def defines custom operators (docs/custom.md)");
}

int ac_custom_sizes_of(ac_ctx *cx, const ac_node *n, ac_custom_sizes *s)
{
    const ac_custom *c;
    AC_TRY(find_row(cx, n, &c));
    ac_custom_value *value = AC_NEW_N(cx->region, ac_custom_value, c->attr.n + 1);
    const uint8_t *options;
    int32_t n_options;
    AC_TRY(ac_custom_values(cx, c, n->at, n->attrs.custom.with, value, &options, &n_options));
    const int64_t room = (int64_t)(n->n_in + 1) * AC_MAX_RANK + c->attr.n;
    *s = (ac_custom_sizes){
        .cx = cx, .n = n, .c = c, .n_dots = -1, .value = value, .options = options, .n_options = n_options};
    s->pin = AC_NEW_N(cx->region, ac_pin, room);
    s->used = AC_NEW_N(cx->region, bool, room);
    for (int32_t i = 0; i < c->attr.n; i++)
        if (c->attr.item[i].type == AC_CUSTOM_I32 && value[i].n)
            s->pin[s->n_pins++] = (ac_pin){c->attr.item[i].name, value[i].i[0]};
    return match_all(s);
}

int ac_custom_evaluate(const ac_custom_sizes *s, const char *expression, const char *what, int64_t *v)
{
    if (ac_pin_expression(expression, s->pin, s->n_pins, s->used, v))
        return AC_OK;
    ac_error(s->cx, s->n->at, E0104, "%s of custom operator '%s' has no value: '%s'", what, s->c->name, expression);
    for (int32_t i = 0; i < s->n_pins; i++)
        ac_detail(s->cx, "%s is %lld", s->pin[i].name, (long long)s->pin[i].value);
    return show(s);
}

int ac_custom_scratch(const ac_custom_sizes *s, int64_t *bytes)
{
    *bytes = 0;
    if (s->c->scratch)
        AC_TRY(ac_custom_evaluate(s, s->c->scratch, "the scratch memory", bytes));
    return *bytes >= 0
               ? AC_OK
               : ac_error(s->cx, s->n->at, E0201, "the scratch memory of custom operator '%s' would be %lld bytes",
                          s->c->name, (long long)*bytes);
}
