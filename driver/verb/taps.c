/* taps.c - results of a run against stored marks; see taps.h. */
#include "driver/verb/taps.h"

#include "base/decimal.h"
#include "base/hash/crc32.h"
#include "codegen/bind.h"
#include "import/wire/json_in.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 4 };
typedef enum verdict { UNSEEN, SAME, OTHER_TYPE, DIFFERS } verdict;

typedef struct ac_tap {
    int64_t number;            /* of the operator in the file */
    int32_t result;            /* which result of it */
    const char *type, *tensor; /* tensor NULL: found by operator and result */
    const char *dtype;         /* NumPy's name */
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    bool exact; /* crc is to be compared, else the numbers */
    uint32_t crc;
    double sum, most, first[FIRST];
    int32_t n_first;
    verdict verdict;
    const char *why;
} tap;

/* ------------------------------------------------------------------ the file */

/* Python writes NaN and Infinity, which JSON has not: null, and a number that is too large. In place. */
static void plain_json(char *p, size_t n)
{
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '"' && (i == 0 || p[i - 1] != '\\'))
            quoted = !quoted;
        if (!quoted && i + 3 <= n && !memcmp(p + i, "NaN", 3))
            memcpy(p + i, "0E0", 3); /* read as a number that no JSON writer makes: not a number */
        if (!quoted && i + 8 <= n && !memcmp(p + i, "Infinity", 8))
            memcpy(p + i, "1e999   ", 8);
    }
}

static double number_of(const ac_js_node *x)
{
    const char *end;
    return x && x->kind == AC_JS_NUMBER && strcmp(x->text, "0E0") ? ac_read_real(x->text, &end) : (double)NAN;
}

static const char *text_of(const ac_js_node *x)
{
    return x && x->kind == AC_JS_STRING ? x->text : NULL;
}

static int read_tap(const ac_js *js, const ac_js_node *o, tap *t)
{
    const ac_js_node *shape = ac_js_get(o, "shape"), *crc = ac_js_get(o, "crc32"), *first = ac_js_get(o, "first");
    const ac_js_node *node = ac_js_get(o, "node"), *number = node ? node : ac_js_get(o, "op");
    int64_t v = 0;
    t->type = text_of(ac_js_get(o, "type"));
    t->tensor = node ? text_of(ac_js_get(o, "tensor")) : NULL;
    t->dtype = text_of(ac_js_get(o, "dtype"));
    t->exact = crc != NULL;
    t->sum = number_of(ac_js_get(o, "sum"));
    t->most = number_of(ac_js_get(o, "abs_max"));
    bool good = number && ac_js_int(number, &t->number) && t->type && t->dtype && (t->tensor || !node) && shape &&
                shape->kind == AC_JS_ARRAY && shape->n <= AC_MAX_RANK && (crc ? ac_js_int(crc, &v) : first != NULL);
    t->crc = (uint32_t)v;
    for (const ac_js_node *d = good ? shape->first : NULL; d; d = d->next)
        good &= ac_js_int(d, &t->dim[t->rank++]);
    for (const ac_js_node *d = good && first ? first->first : NULL; d && t->n_first < FIRST; d = d->next)
        t->first[t->n_first++] = number_of(d);
    return good ? AC_OK
                : ac_error(js->cx, ac_js_place(js, o), E0012,
                           "is not a mark of a tensor: node or op, type, tensor, shape, dtype, "
                           "and crc32 or sum, abs_max, first are expected");
}

int ac_taps_open(ac_work *w, const char *path, ac_taps *t)
{
    ac_ctx *cx = &w->cx;
    ac_file f = {0};
    ac_js js;
    *t = (ac_taps){.w = w, .path = path};
    AC_TRY(ac_file_open(cx, path, &f));
    char *text = ac_copy(cx->region, f.data, f.n + 1 > f.n ? f.n : 0);
    const size_t n = f.n;
    ac_file_close(&f);
    plain_json(text, n);
    AC_TRY(ac_js_parse(&js, cx, path, (ac_span){(const uint8_t *)text, n}));
    if (js.root->kind != AC_JS_ARRAY)
        return ac_error(cx, ac_js_place(&js, js.root), E0012, "a list of marks is expected");
    t->tap = AC_NEW_N(cx->region, tap, js.root->n + 1);
    for (const ac_js_node *o = js.root->first; o; o = o->next) {
        tap *x = &t->tap[t->n];
        AC_TRY(read_tap(&js, o, x));
        for (int32_t i = t->n - 1; i >= 0 && t->tap[i].number == x->number; i--)
            x->result++;
        t->n++;
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ one tensor */

static bool near(double a, double b, double by)
{
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= by;
}

/* NULL: the numbers are those of the mark. */
static const char *numbers_differ(ac_ctx *cx, const tap *m, const ac_tensor *t, const void *data)
{
    const double relative = t->dtype == AC_F32 || t->dtype == AC_F64 ? 2e-4 : 2e-2;
    const double by = relative * (isfinite(m->most) ? m->most : 1) + 1e-6;
    const int64_t n = ac_tensor_count(t);
    double sum = 0, all = 0, most = 0;
    for (int64_t i = 0; i < n; i++) {
        const double v = ac_dtype_get_num(t->dtype, data, i);
        if (i < m->n_first && !near(v, m->first[i], by))
            return ac_strf(cx->region, "element %" PRId64 " is %.7g, expected %.7g (largest magnitude %.4g)", i, v,
                           m->first[i], m->most);
        sum += v;
        all += fabs(v);
        most = fabs(v) > most || isnan(v) ? fabs(v) : most;
    }
    if (!near(most, m->most, by))
        return ac_strf(cx->region, "the largest magnitude is %.7g, expected %.7g", most, m->most);
    if (isfinite(m->sum) && !near(sum, m->sum, relative * all + 1e-6))
        return ac_strf(cx->region, "the sum is %.9g, expected %.9g", sum, m->sum);
    return NULL;
}

/* NumPy's name of a type, as the marks have it. */
static bool is_dtype(ac_dtype d, const char *numpy)
{
    static const struct {
        ac_dtype d;
        const char *name;
    } NAME[] = {{AC_F32, "float32"}, {AC_F16, "float16"}, {AC_F64, "float64"}, {AC_I8, "int8"},
                {AC_I16, "int16"},   {AC_I32, "int32"},   {AC_I64, "int64"},   {AC_U8, "uint8"},
                {AC_U16, "uint16"},  {AC_U32, "uint32"},  {AC_U64, "uint64"},  {AC_BOOL, "bool"}};
    for (size_t i = 0; i < sizeof NAME / sizeof *NAME; i++)
        if (NAME[i].d == d)
            return !strcmp(NAME[i].name, numpy);
    return false;
}

static void compare(ac_taps *s, tap *m, const ac_tensor *t, const void *data)
{
    bool same = is_dtype(t->dtype, m->dtype) && m->rank == t->rank;
    for (int32_t d = 0; d < m->rank && same; d++)
        same = m->dim[d] == t->dim[d];
    if (!same) {
        m->verdict = OTHER_TYPE;
        return;
    }
    if (!m->exact)
        m->why = numbers_differ(&s->w->cx, m, t, data);
    else if (ac_crc32(0, data, (size_t)ac_tensor_bytes(t)) != m->crc)
        m->why = "its bytes are others";
    m->verdict = m->why ? DIFFERS : SAME;
}

static bool marks(const tap *m, const ac_node *n, int32_t result, const ac_tensor *t)
{
    return m->tensor ? !strcmp(m->tensor, t->name) : m->number == n->id && m->result == result;
}

void ac_taps_look(ac_taps *s, int32_t step)
{
    const ac_planned *p = s->w->made.planned;
    const ac_node *n = p->step[step]->node;
    for (int32_t k = 0; k < n->n_out; k++) {
        const ac_tensor *t = k ? n->out[k] : ac_node_result(n);
        const int32_t item = p->live->item_of[t->id];
        if (item < 0)
            continue;
        for (int32_t i = 0; i < s->n; i++)
            if (s->tap[i].verdict == UNSEEN && marks(&s->tap[i], n, k, t)) {
                const ac_io io = ac_module_place(&p->live->problem, &p->plan, item, p->live->delta[t->id]);
                compare(s, &s->tap[i], t, ac_session_at(&s->w->session, &io));
            }
    }
}

/* ------------------------------------------------------------------ verdict */

int ac_taps_close(ac_taps *s, ac_sink *to)
{
    ac_ctx *cx = &s->w->cx;
    int32_t count[DIFFERS + 1] = {0};
    const tap *bad = NULL;
    for (int32_t i = 0; i < s->n; i++) {
        tap *m = &s->tap[i];
        ac_tensor *t = m->tensor && m->verdict == UNSEEN ? ac_tensor_find(s->w->made.planned->graph, m->tensor) : NULL;
        const void *data = t && ac_tensor_is_const(t) && !t->splat ? ac_tensor_force(cx, t) : NULL;
        if (data)
            compare(s, m, t, data);
        count[m->verdict]++;
        if (m->verdict != DIFFERS)
            continue;
        bad = bad ? bad : m;
        ac_putf(to, "%5" PRId64 "  %-24s %-40s %s%s\n", m->number, m->type, m->tensor ? m->tensor : "", m->why,
                m == bad ? "   <-- the first" : "");
    }
    ac_putf(to, "%d of %d marked tensors are as stored, %d differ, %d are not there, %d have another form\n",
            count[SAME], s->n, count[DIFFERS], count[UNSEEN], count[OTHER_TYPE]);
    if (!bad)
        return AC_OK;
    const char *name = bad->tensor ? bad->tensor : bad->type;
    ac_error(cx, (ac_place){.file = s->w->source.path, .node = name}, E0601,
             "operator %" PRId64 " (%s) is the first whose result differs from %s: %s", bad->number, bad->type, s->path,
             bad->why);
    return AC_FAIL;
}
