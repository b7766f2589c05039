/* custom_attrs.c - attributes of custom nodes, as words NAME=VALUE. */
#include "import/build/attrs.h"

/* False: it is left out, or reported. For a row of type i32 a truth value is a number. */
static bool find(ac_attrs_reader *a, const ac_custom_attr *row, ac_attr_value *v)
{
    static const ac_attr_kind KIND[] = {AC_ATTR_INT, AC_ATTR_FLOAT, AC_ATTR_INTS, AC_ATTR_FLOATS, AC_ATTR_TEXT};
    const ac_attr_spec spec = {.name = row->name, .type = KIND[row->type]};
    const ac_attr_spec flag = {.name = row->name, .type = AC_ATTR_BOOL};
    ac_attr_value other = {.i = 0};
    *v = (ac_attr_value){.i = 0};
    if (!a->source->find(a, row->name, &spec, v))
        return false;
    if (v->wrong && row->type == AC_CUSTOM_I32 && a->source->find(a, row->name, &flag, &other) && !other.wrong)
        *v = other;
    if (v->wrong)
        return ac_attr_find(a, &spec, v);
    if (v->said)
        a->b->bad = row->name;
    return !v->said;
}

static void put(ac_ctx *cx, const ac_custom_attr *row, const ac_attr_value *v, ac_sink *with)
{
    const int64_t n = row->type == AC_CUSTOM_FLOATS ? v->n : 1;
    float *floats = AC_NEW_N(cx->region, float, n + 1);
    for (int64_t i = 0; i < n; i++)
        floats[i] = (float)(row->type == AC_CUSTOM_FLOATS ? v->floats[i] : v->f);
    if (row->type == AC_CUSTOM_I32)
        ac_custom_put_ints(with, row->name, &v->i, 1);
    else if (row->type == AC_CUSTOM_INTS)
        ac_custom_put_ints(with, row->name, v->ints, v->ints ? v->n : 0);
    else if (row->type == AC_CUSTOM_TEXT)
        ac_custom_put_text(with, row->name, v->text);
    else
        ac_custom_put_floats(with, row->name, floats, n);
}

int ac_custom_attrs_read(ac_attrs_reader *a, const ac_custom *c, ac_attrs *out)
{
    ac_sink with;
    ac_attr_value v;
    ac_sink_open(&with, a->b->cx);
    for (int32_t i = 0; i < c->attr.n; i++) {
        if (find(a, &c->attr.item[i], &v))
            put(a->b->cx, &c->attr.item[i], &v, &with);
        if (a->b->bad)
            return AC_FAIL;
    }
    ac_custom_attrs(c, &with, out);
    return AC_OK;
}
