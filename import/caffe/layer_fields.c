/* layer_fields.c - reads fields of a Caffe layer by name, and marks them; unmarked fields are refused in the end,
 * because their meaning is unknown. */
#include "import/caffe/caffe.h"
#include "import/build/params.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

ac_pt_node *ac_caf_message(ac_caf_layer *l, const char *name)
{
    ac_pt_node *m = ac_pt_last(l->node, name);
    if (!m)
        return NULL;
    if (m->kind != AC_PT_MESSAGE) {
        (void)ac_error(l->r->cx, ac_pt_place(&l->r->pt, m), E0012, "field '%s' is not a message", name);
        return NULL;
    }
    ac_push(l->r->cx->region, &l->message, m);
    return m;
}

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

bool ac_caf_has(ac_caf_layer *l, ac_pt_node *m, const char *name)
{
    (void)l;
    return field(m, name) != NULL;
}

int ac_caf_int(ac_caf_layer *l, ac_pt_node *m, const char *name, int64_t init, int64_t low, int64_t high, int64_t *out)
{
    const ac_pt_node *x = field(m, name);
    *out = init;
    if (!x && init < low)
        return ac_error(l->r->cx, l->at, E0103, "field '%s' is missing", name);
    return ac_pt_int(&l->r->pt, x, init, low, high, out);
}

int ac_caf_float(ac_caf_layer *l, ac_pt_node *m, const char *name, double init, double *out)
{
    const ac_pt_node *x = field(m, name);
    AC_TRY(ac_pt_double(&l->r->pt, x, init, out));
    *out = (double)(float)*out; /* they are floats in the schema */
    if (isfinite(*out))
        return AC_OK;
    return ac_error(l->r->cx, ac_pt_place(&l->r->pt, x), E0103, "field '%s' is not finite", name);
}

int ac_caf_bool(ac_caf_layer *l, ac_pt_node *m, const char *name, bool init, bool *out)
{
    return ac_pt_bool(&l->r->pt, field(m, name), init, out);
}

int ac_caf_str(ac_caf_layer *l, ac_pt_node *m, const char *name, const char *init, const char **out)
{
    return ac_pt_str(&l->r->pt, field(m, name), init, out);
}

int ac_caf_enum(ac_caf_layer *l, ac_pt_node *m, const char *name, const char *names, int32_t base, int32_t init,
                int32_t *out)
{
    const ac_pt_node *x = field(m, name);
    const char *word;
    *out = init;
    AC_TRY(ac_pt_word(&l->r->pt, x, NULL, &word));
    if (!word)
        return AC_OK;
    int32_t number = base;
    for (const char *p = names; *p; number++) {
        const size_t n = strcspn(p, "|");
        char digits[16];
        snprintf(digits, sizeof digits, "%d", number);
        if ((strlen(word) == n && !memcmp(p, word, n)) || !strcmp(word, digits)) {
            *out = number;
            return AC_OK;
        }
        p += n + (p[n] == '|');
    }
    return ac_error(l->r->cx, ac_pt_place(&l->r->pt, x), E0012, "field '%s' is %s, expected %s", name, word, names);
}

int ac_caf_ints(ac_caf_layer *l, ac_pt_node *m, const char *name, int32_t most, int64_t low, int64_t high, ac_ints *out)
{
    const int32_t n = ac_pt_count(m, name);
    *out = (ac_ints){0, NULL};
    (void)field(m, name);
    if (n > most)
        return ac_bad(&l->b, "%d numbers in '%s', expected at most %d", n, name, most);
    int64_t *v = AC_NEW_N(l->r->cx->region, int64_t, n + 1);
    int32_t k = 0;
    for (ac_pt_node *x = ac_pt_find(m, name); x; x = ac_pt_again(x))
        AC_TRY(ac_pt_int(&l->r->pt, x, 0, low, high, &v[k++]));
    *out = (ac_ints){n, v};
    return AC_OK;
}

int ac_caf_floats(ac_caf_layer *l, ac_pt_node *m, const char *name, int32_t most, const double **out, int32_t *n)
{
    *n = ac_pt_count(m, name);
    (void)field(m, name);
    if (*n > most)
        return ac_bad(&l->b, "%d numbers in '%s', expected at most %d", *n, name, most);
    double *v = AC_NEW_N(l->r->cx->region, double, *n + 1);
    int32_t k = 0;
    for (ac_pt_node *x = ac_pt_find(m, name); x; x = ac_pt_again(x), k++) {
        AC_TRY(ac_pt_double(&l->r->pt, x, 0, &v[k]));
        v[k] = (double)(float)v[k];
        if (!isfinite(v[k]))
            return ac_error(l->r->cx, ac_pt_place(&l->r->pt, x), E0103, "field '%s' is not finite", name);
    }
    *out = v;
    return AC_OK;
}

int ac_caf_axis(ac_caf_layer *l, ac_pt_node *m, const char *name, int64_t init, int32_t rank, int32_t *out)
{
    int64_t v;
    AC_TRY(ac_caf_int(l, m, name, init, INT32_MIN, INT32_MAX, &v));
    return ac_operand_axis(&l->b, v, rank, out);
}

int ac_caf_shape(ac_caf_layer *l, ac_pt_node *m, int32_t *rank, int64_t dim[AC_MAX_RANK])
{
    ac_ints list;
    int64_t count;
    if (ac_pt_count(m, "dim") > AC_MAX_RANK)
        return ac_cannot(&l->b, "a blob has %d dimensions; arenac handles up to %d", ac_pt_count(m, "dim"),
                         AC_MAX_RANK);
    AC_TRY(ac_caf_ints(l, m, "dim", AC_MAX_RANK, 0, INT32_MAX, &list));
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
    static const char *const NAMES[] = {"weight_filler", "bias_filler",     "filler",           "engine",
                                        "debug_info",    "force_nd_im2col", "stable_prod_grad", "name"};
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
