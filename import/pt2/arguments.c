/* arguments.c - arguments of nodes: tagged values with the names of ATen's schema. Tensors become operands, all others
 * are read by adapters as attributes. Arguments with their default value are left out of the file. */
#include "import/pt2/nodes.h"

#include "base/decimal.h"

#include <math.h>
#include <string.h>

static const ac_attr_spec ROWS[] = {
#define A(type, id, ...) AC_ATTR_ROW(type, id, __VA_ARGS__)
#include "import/pt2/attrs.def"
#undef A
};

static const ac_js_node *argument(ac_ep_node *n, const char *name, int32_t at)
{
    int32_t k = 0, unnamed = 0;
    for (const ac_js_node *x = n->args ? n->args->first : NULL; x; x = x->next, k++) {
        const ac_js_node *own = ac_js_get(x, "name");
        const char *text = own && own->kind == AC_JS_STRING ? own->text : "";
        if (name ? strcmp(name, text) != 0 : *text || unnamed++ != at)
            continue;
        n->asked |= k < 64 ? UINT64_C(1) << k : 0;
        const ac_js_node *v = ac_ep_tagged(ac_js_get(x, "arg"));
        return ac_ep_is(v, "as_none") ? NULL : v;
    }
    return NULL;
}

const ac_js_node *ac_ep_arg(ac_ep_node *n, const char *name)
{
    return argument(n, name, 0);
}

const ac_js_node *ac_ep_arg_at(ac_ep_node *n, int32_t k)
{
    return argument(n, NULL, k);
}

/* Arguments with the place of a tensor, and others that change no value. */
static bool is_harmless(const char *name)
{
    static const char *const NAME[] = {"device",
                                       "layout",
                                       "pin_memory",
                                       "memory_format",
                                       "non_blocking",
                                       "copy",
                                       "requires_grad",
                                       "cudnn_enabled",
                                       "cudnn_enable",
                                       "sparse",
                                       "scale_grad_by_freq",
                                       "padding_idx",
                                       "generator",
                                       "implicit",
                                       "cudnn_benchmark",
                                       "cudnn_deterministic",
                                       "allow_tf32",
                                       "stable",
                                       "sorted",
                                       "unsafe"};
    for (size_t i = 0; i < sizeof NAME / sizeof *NAME; i++)
        if (!strcmp(NAME[i], name))
            return true;
    return false;
}

int ac_ep_check_args(ac_ep_node *n)
{
    int32_t k = 0;
    for (const ac_js_node *x = n->args ? n->args->first : NULL; x; x = x->next, k++) {
        const ac_js_node *own = ac_js_get(x, "name"), *v = ac_ep_tagged(ac_js_get(x, "arg"));
        if ((k < 64 && n->asked >> k & 1) || ac_ep_is(v, "as_none"))
            continue;
        if (own && own->kind == AC_JS_STRING && is_harmless(own->text))
            continue;
        const char *name = own && *own->text ? ac_ep_text(n->r, own, "the name of an argument") : "without a name";
        return name ? ac_cannot(&n->b, "its argument '%s' has no meaning to arenac", name) : AC_FAIL;
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ numbers */

static bool real(const ac_js_node *x, double *v)
{
    const char *end;
    if (!x || (x->kind != AC_JS_NUMBER && x->kind != AC_JS_STRING))
        return false;
    *v = ac_read_real(x->text, &end);
    return end != x->text && !*end;
}

static ac_ep_value plain(ac_dtype type, double f, int64_t i)
{
    return (ac_ep_value){.kind = AC_EP_NUMBER, .type = type, .f = f, .i = i};
}

/* {"as_name": "s0"}, or a number with its own tag */
static int named_number(ac_ep_node *n, const ac_js_node *x, ac_ep_value *v)
{
    const ac_js_node *inner = ac_ep_tagged(x);
    if (!ac_ep_is(inner, "as_name"))
        return inner ? ac_ep_number(n, inner, v) : ac_ep_bad(n->r, x, "expected a number or its name");
    const char *name = ac_ep_text(n->r, inner, "the name of a number");
    const ac_ep_value *from = name ? ac_ep_value_find(n->scope, name) : NULL;
    if (name && !from)
        return ac_error(n->r->cx, n->at, E0101, "reads '%s', which no earlier node produces", name);
    if (!from || from->kind != AC_EP_NUMBER || from->broken) {
        n->broken = true;
        return from && !from->broken ? ac_ep_bad(n->r, x, "it is not a number") : AC_FAIL;
    }
    *v = *from;
    return AC_OK;
}

int ac_ep_number(ac_ep_node *n, const ac_js_node *x, ac_ep_value *v)
{
    int64_t i;
    double f;
    *v = (ac_ep_value){.kind = AC_EP_NOTHING};
    if (ac_ep_is(x, "as_int") && ac_js_int(x, &i))
        *v = plain(AC_I64, (double)i, i);
    else if (ac_ep_is(x, "as_bool") && (x->kind == AC_JS_TRUE || x->kind == AC_JS_FALSE))
        *v = plain(AC_BOOL, x->kind == AC_JS_TRUE, x->kind == AC_JS_TRUE);
    else if (ac_ep_is(x, "as_float") && real(x, &f))
        *v = plain(AC_F64, f, 0);
    else if (ac_ep_is(x, "as_sym_int") || ac_ep_is(x, "as_sym_float") || ac_ep_is(x, "as_sym_bool"))
        return named_number(n, x, v);
    return AC_OK;
}

ac_tensor *ac_ep_number_tensor(ac_ep_node *n, const ac_ep_value *v)
{
    if (v->late)
        return v->late;
    if (v->type == AC_I64)
        return ac_make_reshape(&n->b, ac_make_ints(&n->b, 1, &v->i), 0, NULL);
    return ac_make_number(&n->b, v->type, v->f);
}

/* ------------------------------------------------------------------ operands */

/* Value of a tensor; NULL: reported, or broken. */
static ac_ep_value *tensor_value(ac_ep_node *n, const ac_js_node *name)
{
    const char *text = ac_ep_text(n->r, name, "the name of a tensor");
    ac_ep_value *v = text ? ac_ep_value_find(n->scope, text) : NULL;
    if (!text)
        return NULL;
    n->broken |= !v || v->broken;
    if (!v)
        return (void)ac_error(n->r->cx, n->at, E0101, "reads '%s', which no earlier node produces", text), NULL;
    if (v->broken || v->kind == AC_EP_NUMBER)
        return v->broken ? NULL : v;
    return v->kind == AC_EP_TENSOR ? v : ((void)ac_ep_bad(n->r, name, "it is not a tensor"), NULL);
}

static ac_tensor *value_of(ac_ep_node *n, const ac_js_node *x, ac_ep_value **from, bool *number)
{
    ac_ep_value v;
    *number = false;
    *from = NULL;
    if (ac_ep_is(x, "as_optional_tensor"))
        x = ac_ep_tagged(x);
    if (ac_ep_is(x, "as_tensor")) {
        *from = tensor_value(n, ac_js_get(x, "name"));
        if (!*from)
            return NULL;
        return (*from)->kind == AC_EP_TENSOR ? ac_ep_read(n->r, (*from)->cell) : ac_ep_number_tensor(n, *from);
    }
    if (ac_ep_number(n, x, &v) != AC_OK || v.kind == AC_EP_NOTHING)
        return NULL;
    *number = true;
    return ac_ep_number_tensor(n, &v);
}

ac_tensor *ac_ep_operand(ac_ep_node *n, const ac_js_node *arg)
{
    ac_ep_value *from;
    bool number;
    return value_of(n, arg, &from, &number);
}

typedef struct operand {
    const char *name;
    bool optional, number, list;
} operand;

/* Reads the next operand of the row's text; false: the text has ended. */
static bool next_operand(ac_ctx *cx, const char **at, operand *o)
{
    const char *from = *at + strspn(*at, " ");
    const size_t n = strcspn(from, " ?#*"), all = strcspn(from, " ");
    *o = (operand){.name = ac_strf(cx->region, "%.*s", (int)n, from)};
    for (size_t i = n; i < all; i++) {
        o->optional |= from[i] == '?';
        o->number |= from[i] == '#';
        o->list |= from[i] == '*';
    }
    *at = from + all;
    return n > 0;
}

static int add(ac_ep_node *n, const ac_js_node *x)
{
    const int32_t i = n->n_in;
    if (i >= AC_EP_MOST)
        return ac_cannot(&n->b, "it has more than %d operands", AC_EP_MOST);
    n->in[i] = x ? value_of(n, x, &n->from[i], &n->number[i]) : NULL;
    n->n_in++;
    return n->in[i] || !x ? AC_OK : n->broken ? AC_FAIL : ac_ep_bad(n->r, x, "it is not a tensor");
}

static int add_list(ac_ep_node *n, const ac_js_node *list)
{
    static const char *const LISTS[] = {"as_tensors", "as_optional_tensors"};
    for (const ac_js_node *e = list->kind == AC_JS_ARRAY ? list->first : NULL; e; e = e->next) {
        const ac_js_node *v = ac_ep_tagged(e), *name = ac_js_get(e, "name");
        if (name && ac_ep_is(list, LISTS[0])) {
            ac_ep_value *from = tensor_value(n, name);
            if (!from || from->kind != AC_EP_TENSOR)
                return from ? ac_ep_bad(n->r, e, "it is not a tensor") : AC_FAIL;
            AC_TRY(add(n, NULL));
            n->from[n->n_in - 1] = from;
            n->in[n->n_in - 1] = ac_ep_read(n->r, from->cell);
            if (!n->in[n->n_in - 1])
                return AC_FAIL;
        } else {
            AC_TRY(add(n, ac_ep_is(v, "as_none") ? NULL : v));
        }
    }
    return ac_ep_is(list, LISTS[0]) || ac_ep_is(list, LISTS[1]) ? AC_OK : ac_ep_bad(n->r, list, "expected tensors");
}

static void make_room(ac_ep_node *n)
{
    int32_t room = 0;
    for (const ac_js_node *x = n->args ? n->args->first : NULL; x; x = x->next) {
        const ac_js_node *v = ac_ep_tagged(ac_js_get(x, "arg"));
        room += v && v->kind == AC_JS_ARRAY ? v->n : 1;
    }
    room = room < 16 ? 16 : room > AC_EP_MOST ? AC_EP_MOST : room;
    n->in = AC_NEW_N(n->r->cx->region, ac_tensor *, room + 1);
    n->from = AC_NEW_N(n->r->cx->region, ac_ep_value *, room + 1);
    n->number = AC_NEW_N(n->r->cx->region, bool, room + 1);
}

int ac_ep_operands(ac_ep_node *n)
{
    const char *at = n->row->args;
    operand o;
    make_room(n);
    while (at && next_operand(n->r->cx, &at, &o)) {
        const ac_js_node *x = ac_ep_arg(n, o.name);
        if (!x && n->in_place && !n->n_in) /* dropout(input), but dropout_(self) */
            x = ac_ep_arg(n, "self");
        if (!x && !o.optional)
            return ac_error(n->r->cx, n->at, E0102, "its operand '%s' is missing", o.name);
        if (x && o.list) {
            AC_TRY(add_list(n, x));
            continue;
        }
        AC_TRY(add(n, x));
        if (n->number[n->n_in - 1] && !o.number)
            return ac_error(n->r->cx, n->at, E0105, "its operand '%s' is a number, expected a tensor", o.name);
    }
    return n->broken ? AC_FAIL : AC_OK;
}

ac_tensor **ac_ep_list(ac_ep_node *n, const ac_js_node *arg, int32_t *count)
{
    const int32_t from = n->n_in;
    const bool empty = !arg || (arg->kind == AC_JS_ARRAY && !arg->n);
    *count = 0;
    if (!empty && (add_list(n, arg) != AC_OK || n->broken))
        return NULL;
    *count = n->n_in - from;
    return n->in + from;
}

/* ------------------------------------------------------------------ attributes */

static int64_t *list_of_ints(ac_ep_node *n, const ac_js_node *x, int64_t *count)
{
    int64_t *v = AC_NEW_N(n->r->cx->region, int64_t, x->n + 1);
    *count = 0;
    for (const ac_js_node *e = x->first; e; e = e->next) {
        ac_ep_value one = {.kind = AC_EP_NOTHING};
        if (ac_js_int(e, &v[*count])) {
            ++*count;
            continue;
        }
        if (e->kind != AC_JS_OBJECT || named_number(n, e, &one) != AC_OK || one.type == AC_F64)
            return NULL;
        if (one.late && !ac_operand_known(&n->b, &one.late))
            return (void)ac_operand_late(&n->b, one.late), NULL;
        if (one.late && ac_operand_int(&n->b, &one.late, &one.i) != AC_OK)
            return NULL;
        v[(*count)++] = one.i;
    }
    return v;
}

static double *list_of_floats(ac_ep_node *n, const ac_js_node *x, int64_t *count)
{
    double *v = AC_NEW_N(n->r->cx->region, double, x->n + 1);
    *count = 0;
    for (const ac_js_node *e = x->first; e; e = e->next)
        if (!real(e, &v[(*count)++]))
            return NULL;
    return v;
}

static bool as_number(ac_ep_node *n, const ac_js_node *x, const ac_attr_spec *row, ac_attr_value *v)
{
    ac_ep_value one;
    const ac_said before = ac_said_now(&n->b);
    int rc = ac_ep_number(n, x, &one);
    if (rc == AC_OK && one.late) {
        ac_tensor *t = one.late;
        double f = 0;
        rc = one.type == AC_F64 ? ac_operand_scalar(&n->b, &t, &f) : ac_operand_int(&n->b, &t, &one.i);
        one.f = one.type == AC_F64 ? f : (double)one.i;
    }
    const ac_said now = ac_said_now(&n->b);
    v->said = rc != AC_OK || now.diags.errors != before.diags.errors || now.refused != before.refused;
    v->i = one.type == AC_F64 ? (int64_t)(fabs(one.f) < 0x1p62 ? one.f : 0) : one.i;
    v->f = one.f;
    return v->said || (one.kind == AC_EP_NUMBER && (row->type == AC_ATTR_FLOAT || one.type != AC_F64));
}

static bool decode(ac_ep_node *n, const ac_js_node *x, const ac_attr_spec *row, ac_attr_value *v)
{
    int64_t number;
    switch (row->type) {
    case AC_ATTR_INT:
    case AC_ATTR_INT64:
    case AC_ATTR_BOOL:
    case AC_ATTR_FLOAT:
        return as_number(n, x, row, v);
    case AC_ATTR_TEXT:
        v->text = x->text;
        return x->kind == AC_JS_STRING && ac_ep_text(n->r, x, "an argument");
    case AC_ATTR_WORD:
        v->text = x->text;
        return (x->kind == AC_JS_STRING && *x->text) || ac_ep_is(x, "as_int");
    case AC_ATTR_TYPE:
        if (!ac_ep_is(x, "as_scalar_type") || !ac_js_int(x, &number))
            return false;
        v->dtype = ac_ep_dtype(number);
        return v->dtype != AC_NONE ||
               (v->said = true,
                (void)ac_cannot(&n->b, "it makes elements of type %s", ac_ep_dtype_name(n->r->cx, number)), true);
    case AC_ATTR_INTS:
        if (x->kind == AC_JS_ARRAY) {
            const ac_said before = ac_said_now(&n->b);
            v->ints = list_of_ints(n, x, &v->n);
            const ac_said now = ac_said_now(&n->b);
            v->said =
                !v->ints && (n->broken || now.refused != before.refused || now.diags.errors != before.diags.errors);
            return v->ints || v->said;
        }
        v->n = 1;
        v->ints = ac_copy(n->r->cx->region, &v->i, sizeof v->i);
        if (!as_number(n, x, row, v))
            return false;
        v->ints = ac_copy(n->r->cx->region, &v->i, sizeof v->i);
        return true;
    case AC_ATTR_FLOATS:
        v->floats = x->kind == AC_JS_ARRAY ? list_of_floats(n, x, &v->n) : NULL;
        return v->floats != NULL;
    case AC_ATTR_ANY:
        break;
    }
    return true;
}

static bool find(const ac_attrs_reader *a, const char *name, const ac_attr_spec *row, ac_attr_value *v)
{
    ac_ep_node *n = a->node;
    const ac_js_node *x = ac_ep_arg(n, name);
    if (!x || row->type == AC_ATTR_ANY)
        return x != NULL;
    if (!decode(n, x, row, v))
        v->wrong = ac_strf(n->r->cx->region, "of another type (%s)", x->key);
    return true;
}

const ac_attr_source ac_ep_attrs = {.numbers = true, .what = "argument", .row = ROWS, .find = find};
