/* fields.c - fields of a program in JSON: tagged values, dictionaries, element types, declared types and sizes. */
#include "import/pt2/pt2.h"

#include <string.h>

int ac_ep_bad(const ac_ep *r, const ac_js_node *x, const char *what)
{
    return ac_error(r->cx, ac_js_place(&r->js, x), E0012, "%s", what);
}

const char *ac_ep_text(ac_ep *r, const ac_js_node *x, const char *what)
{
    if (!x || x->kind != AC_JS_STRING || !*x->text)
        return (void)ac_error(r->cx, ac_js_place(&r->js, x), E0012, "%s is not a text", what), NULL;
    for (const char *p = x->text; *p; p++)
        if ((uint8_t)*p < 0x20 || *p == 0x7f)
            return (void)ac_error(r->cx, ac_js_place(&r->js, x), E0012, "%s holds a control byte", what), NULL;
    return x->text;
}

const ac_js_node *ac_ep_tagged(const ac_js_node *x)
{
    return x && x->kind == AC_JS_OBJECT && x->n == 1 ? x->first : NULL;
}

bool ac_ep_is(const ac_js_node *tagged, const char *tag)
{
    return tagged && tagged->key && !strcmp(tagged->key, tag);
}

int ac_ep_dict_open(const ac_ep *r, const ac_js_node *x, const char *key, ac_ep_dict *d)
{
    const ac_js_node *object = ac_js_get(x, key);
    *d = (ac_ep_dict){.at = {0}};
    if (object && object->kind != AC_JS_OBJECT)
        return ac_error(r->cx, ac_js_place(&r->js, object), E0012, "'%s' is not an object", key);
    for (const ac_js_node *m = object ? object->first : NULL; m; m = m->next) {
        *ac_name_put(r->cx->region, &d->at, m->key) = d->item.n;
        ac_push(r->cx->region, &d->item, m);
    }
    return AC_OK;
}

const ac_js_node *ac_ep_dict_get(const ac_ep_dict *d, const char *name)
{
    const int32_t i = ac_name_get(&d->at, name);
    return i < 0 ? NULL : d->item.item[i];
}

/* ------------------------------------------------------------------ types and sizes */

static const struct {
    int64_t number;
    ac_dtype type;
    const char *name;
} TYPES[] = {{1, AC_U8, "uint8"},
             {2, AC_I8, "int8"},
             {3, AC_I16, "int16"},
             {4, AC_I32, "int32"},
             {5, AC_I64, "int64"},
             {6, AC_F16, "float16"},
             {7, AC_F32, "float32"},
             {8, AC_F64, "float64"},
             {9, AC_NONE, "complex32"},
             {10, AC_NONE, "complex64"},
             {11, AC_NONE, "complex128"},
             {12, AC_BOOL, "bool"},
             {13, AC_BF16, "bfloat16"},
             {28, AC_U16, "uint16"},
             {29, AC_F8E4M3FN, "float8_e4m3fn"},
             {30, AC_F8E5M2, "float8_e5m2"},
             {31, AC_F8E4M3FNUZ, "float8_e4m3fnuz"},
             {32, AC_F8E5M2FNUZ, "float8_e5m2fnuz"},
             {33, AC_F8E8M0, "float8_e8m0fnu"},
             {34, AC_U32, "uint32"},
             {35, AC_U64, "uint64"}};

ac_dtype ac_ep_dtype(int64_t number)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (TYPES[i].number == number)
            return TYPES[i].type;
    return AC_NONE;
}

const char *ac_ep_dtype_name(ac_ctx *cx, int64_t number)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (TYPES[i].number == number)
            return TYPES[i].name;
    return ac_strf(cx->region, "number %lld", (long long)number);
}

/* {"as_int": 3} or {"as_expr": {"expr_str": ".."}}; of sizes that are not understood m->size is NULL. */
static int read_size(ac_ep *r, const ac_js_node *x, ac_ep_meta *m, int32_t d)
{
    const ac_js_node *v = ac_ep_tagged(x), *text;
    m->dim[d] = -1;
    m->size[d] = NULL;
    if (ac_ep_is(v, "as_int") && ac_js_int(v, &m->dim[d]) && m->dim[d] >= 0)
        return AC_OK;
    if (!ac_ep_is(v, "as_expr") || !(text = ac_js_get(v, "expr_str")) || text->kind != AC_JS_STRING)
        return ac_ep_bad(r, x, "a size is neither a number nor an expression");
    m->size[d] = ac_ep_size_read(r->cx, text->text);
    if (m->size[d] && (!ac_ep_size_of(r, m->size[d], &m->dim[d]) || m->dim[d] < 0))
        m->dim[d] = -1;
    return AC_OK;
}

int ac_ep_meta_read(ac_ep *r, const ac_js_node *x, ac_ep_meta *m, const char **refused)
{
    const ac_js_node *sizes = ac_js_get(x, "sizes"), *layout = ac_js_get(x, "layout");
    int64_t type, kind = 7;
    *m = (ac_ep_meta){.type = AC_NONE};
    *refused = NULL;
    if (!ac_js_int(ac_js_get(x, "dtype"), &type) || !sizes || sizes->kind != AC_JS_ARRAY)
        return ac_ep_bad(r, x, "a tensor needs 'dtype' and 'sizes'");
    m->type = ac_ep_dtype(type);
    m->rank = sizes->n < AC_MAX_RANK ? sizes->n : AC_MAX_RANK;
    if (m->type == AC_NONE)
        *refused = ac_strf(r->cx->region, "its elements are %s", ac_ep_dtype_name(r->cx, type));
    else if (sizes->n > AC_MAX_RANK)
        *refused = "it has more than 8 dimensions";
    else if (layout && ac_js_int(layout, &kind) && kind != 7)
        *refused = "it is sparse";
    const ac_js_node *s = sizes->first;
    for (int32_t d = 0; d < m->rank; d++, s = s->next)
        AC_TRY(read_size(r, s, m, d));
    return AC_OK;
}

int ac_ep_meta_of(ac_ep *r, const ac_ep_scope *s, const char *name, ac_ep_meta *m, const char **refused)
{
    const ac_js_node *x = ac_ep_dict_get(&s->meta, name);
    if (!x)
        return ac_error(r->cx, ac_js_place(&r->js, s->graph), E0012, "the graph does not declare '%s'", name);
    return ac_ep_meta_read(r, x, m, refused);
}
