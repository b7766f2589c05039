/* user_custom.c - custom operators that a row of --custom computes (ir/ops/custom.h). Their options are bytes that the
 * function reads itself, or a FlexBuffer map, whose numbers are the attributes of the row. */
#include "import/tflite/rules.h"
#include "import/wire/flex.h"

#include <math.h>

static int bad_option(ac_tfl *r, const ac_tfl_node *n, const char *name, const char *why)
{
    return ac_error(r->cx, n->at, E0103, "option '%s' of the custom operator %s", name, why);
}

/* The value of an attribute, if the options have it, as a word of `with`. */
static int put_attr(ac_tfl *r, const ac_tfl_node *n, const ac_custom_attr *a, ac_span options, ac_sink *with)
{
    double v = 0;
    const ac_flex found = options.n ? ac_flex_number(options, a->name, &v) : AC_FLEX_ABSENT;
    if (found == AC_FLEX_ABSENT)
        return AC_OK;
    if (found == AC_FLEX_BROKEN)
        return bad_option(r, n, a->name, "is not a number in a FlexBuffer map");
    const float real = (float)v;
    const bool whole = v >= INT32_MIN && v <= INT32_MAX && v == floor(v);
    const int64_t number = whole ? (int64_t)v : 0;
    if (a->type == AC_CUSTOM_F32)
        ac_custom_put_floats(with, a->name, &real, 1);
    else if (a->type != AC_CUSTOM_I32)
        return bad_option(r, n, a->name, "is of type i32 or f32; others are read by its function (row 'options')");
    else if (!whole)
        return bad_option(r, n, a->name, "is not a whole number of 32 bits");
    else
        ac_custom_put_ints(with, a->name, &number, 1);
    return AC_OK;
}

static int make(ac_tfl *r, ac_tfl_node *n)
{
    const ac_custom *c = n->code->user;
    const ac_fb_vec v = ac_fb_vector(&r->fb, n->table, OP_CUSTOM_OPTIONS, 1);
    ac_sink with;
    ac_attrs attrs;
    if (r->fb.failed)
        return AC_FAIL;
    uint8_t *bytes = AC_NEW_N(r->cx->region, uint8_t, (int64_t)v.n + 1);
    for (uint32_t i = 0; i < v.n; i++)
        bytes[i] = (uint8_t)ac_fb_elem_int(&r->fb, v, i, AC_FB_U8);
    ac_sink_open(&with, r->cx);
    for (int32_t i = 0; i < c->attr.n && !c->options; i++)
        AC_TRY(put_attr(r, n, &c->attr.item[i], (ac_span){bytes, v.n}, &with));
    if (c->options && v.n)
        ac_custom_put_options(&with, bytes, v.n);
    if (!c->options && !c->attr.n && v.n)
        return ac_error(r->cx, n->at, E0103,
                        "it has options of %u bytes, but operator '%s' has neither attributes nor "
                        "a row 'options'",
                        v.n, c->name);
    ac_custom_attrs(c, &with, &attrs);
    ac_node *made = ac_tfl_node_make(n, AC_OP_CUSTOM, n->in, n->n_in, &attrs);
    const ac_maker b = ac_tfl_maker(r, n);
    return n->sized ? ac_make_resolve(&b, made) : AC_OK;
}

const ac_operator *ac_tfl_user_row(ac_ctx *cx, const ac_custom *c)
{
    ac_operator *row = ac_operator_custom(cx, c, c->name, AC_ADAPTER(make));
    row->min_out = c->out.n;
    row->op = AC_OP_NONE; /* `make` reads the options */
    return row;
}
