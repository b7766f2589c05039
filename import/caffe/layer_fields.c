/* layer_fields.c - reads fields of a Caffe layer by name, and marks them; unmarked fields are refused in the end,
 * because their meaning is unknown. */
#include "import/caffe/caffe.h"
#include "import/build/params.h"

#include "base/ascii.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The last field of that name, and all of them marked. */
static ac_pt_node *field(ac_pt_node *m, const char *name)
{
    ac_pt_node *last = NULL;
    for (ac_pt_node *x = ac_pt_find(m, name); x; x = ac_pt_again(x)) {
        x->used = true;
        last = x;
    }
    return last;
}

/* The values are as exact as the schema has them. */
static int read_float(ac_pt *pt, const ac_pt_node *x, double *out)
{
    AC_TRY(ac_pt_double(pt, x, 0, out));
    *out = (double)(float)*out;
    return isfinite(*out) ? AC_OK : ac_error(pt->cx, ac_pt_place(pt, x), E0103, "field '%s' is not finite", x->name);
}

static int read_list(ac_pt *pt, ac_pt_node *m, const char *name, bool whole, ac_attr_value *v)
{
    const int32_t n = ac_pt_count(m, name);
    int64_t *ints = AC_NEW_N(pt->cx->region, int64_t, n + 1);
    double *floats = AC_NEW_N(pt->cx->region, double, n + 1);
    int32_t k = 0;
    for (const ac_pt_node *x = ac_pt_find(m, name); x; x = ac_pt_again(x), k++)
        AC_TRY(whole ? ac_pt_int(pt, x, 0, INT64_MIN, INT64_MAX, &ints[k]) : read_float(pt, x, &floats[k]));
    v->ints = ints;
    v->floats = floats;
    v->n = n;
    return AC_OK;
}

static int decode(ac_pt *pt, ac_pt_node *m, const ac_pt_node *x, ac_attr_kind kind, ac_attr_value *v)
{
    bool flag = false;
    int rc = AC_OK;
    switch (kind) {
    case AC_ATTR_INT:
    case AC_ATTR_INT64:
        return ac_pt_int(pt, x, 0, INT64_MIN, INT64_MAX, &v->i);
    case AC_ATTR_FLOAT:
        return read_float(pt, x, &v->f);
    case AC_ATTR_BOOL:
        rc = ac_pt_bool(pt, x, false, &flag);
        v->i = flag;
        return rc;
    case AC_ATTR_TEXT:
        return ac_pt_str(pt, x, NULL, &v->text);
    case AC_ATTR_WORD:
        return ac_pt_word(pt, x, NULL, &v->text);
    case AC_ATTR_INTS:
    case AC_ATTR_FLOATS:
        return read_list(pt, m, x->name, kind == AC_ATTR_INTS, v);
    case AC_ATTR_TYPE:
    case AC_ATTR_ANY:
        break;
    }
    return AC_OK;
}

static bool find(const ac_attrs_reader *a, const char *name, const ac_attr_spec *row, ac_attr_value *v)
{
    ac_pt *pt = &((ac_caf *)a->b->reading->own)->pt;
    const ac_pt_node *x = field(a->node, name);
    if (!x)
        return false;
    v->at = ac_pt_place(pt, x);
    v->said = decode(pt, a->node, x, row->type, v) != AC_OK;
    return true;
}

static const ac_attr_spec ROWS[] = {
#define A(type, id, ...) AC_ATTR_ROW(type, id, __VA_ARGS__)
#include "import/caffe/fields.def"
#undef A
};

static const ac_attr_source FIELDS = {.numbers = true, .what = "field", .row = ROWS, .find = find};

ac_attrs_reader *ac_caf_fields(ac_caf_layer *l, const ac_pt_node *m)
{
    const ac_attrs_reader a = {.source = &FIELDS, .b = &l->b, .node = (void *)(uintptr_t)m};
    return ac_copy(l->r->cx->region, &a, sizeof a);
}

ac_attrs_reader *ac_caf_message(ac_caf_layer *l, const char *name)
{
    ac_pt_node *m = ac_pt_last(l->node, name);
    const bool wrong = m && m->kind != AC_PT_MESSAGE;
    if (wrong)
        (void)ac_error(l->r->cx, ac_pt_place(&l->r->pt, m), E0012, "field '%s' is not a message", name);
    else if (m)
        ac_push(l->r->cx->region, &l->message, m);
    return ac_caf_fields(l, wrong ? NULL : m);
}

int ac_caf_shape(ac_caf_layer *l, ac_pt_node *m, int32_t *rank, int64_t dim[AC_MAX_RANK])
{
    ac_ints list;
    int64_t count;
    if (ac_pt_count(m, "dim") > AC_MAX_RANK)
        return ac_cannot(&l->b, "a blob has %d dimensions; arenac handles up to %d", ac_pt_count(m, "dim"),
                         AC_MAX_RANK);
    list = ac_attr_ints(ac_caf_fields(l, m), A_dim);
    for (int32_t d = 0; d < list.n; d++)
        dim[d] = list.v[d];
    *rank = list.n;
    if (ac_dims_fit(list.n, dim, &count))
        return AC_OK;
    return ac_error(l->r->cx, ac_pt_place(&l->r->pt, m), E0015, "a blob has more than %d elements", INT32_MAX);
}

/* Fields that control initialisation, training, or the library do not change results. */
static bool no_matter(const char *name)
{
    static const char *const NAMES[] = {"engine", "debug_info", "force_nd_im2col", "stable_prod_grad", "name"};
    if (ac_ends_in(name, "filler")) /* weight_filler, scale_filler, .. */
        return true;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (!strcmp(name, NAMES[i]))
            return true;
    return false;
}

int ac_caf_check_fields(ac_caf_layer *l)
{
    for (int32_t i = 0; i < l->message.n; i++)
        for (const ac_pt_node *x = l->message.item[i]->first; x; x = x->next)
            if (!x->used && !no_matter(x->name))
                return ac_cannot(&l->b, "its field '%s' has no meaning to arenac", x->name);
    return AC_OK;
}

int ac_caf_no_field(ac_caf *r, const ac_pt_node *x, const char *what, const char *const *known, int32_t n)
{
    ac_error(r->cx, ac_pt_place(&r->pt, x), E0012, "%s has no field '%s'", what, x->name);
    const char *near = ac_closest(x->name, known, n);
    return near ? ac_help(r->cx, "did you mean '%s'?", near) : AC_FAIL;
}
