/* ml_nodes.c - operators of ai.onnx.ml, and TfIdfVectorizer: features picked, compared and counted. */
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* 1 above the threshold, else 0. */
int ac_onx_do_binarizer(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    const double at = ac_attr_float(&n->attrs, A_threshold);
    if (ac_dtype_is_int(x->dtype) && !(fabs(at) < 1e18 && at == (double)(int64_t)at))
        return ac_cannot(&n->b, "its threshold is %g, and its input %s", at, ac_dtype_name(x->dtype));
    ac_tensor *above = ac_make_2(&n->b, AC_OP_GREATER, x, ac_make_number(&n->b, x->dtype, at));
    return ac_onx_result(n, 0, ac_make_cast(&n->b, above, x->dtype));
}

/* Elements of the last dimension; a vector is a matrix of one row. */
int ac_onx_do_array_feature_extractor(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *i = n->in[1];
    ac_attrs a;
    if (x->rank < 1)
        return ac_error(n->r->cx, n->at, E0104, "'%s' is a scalar", x->name);
    if (x->rank == 1)
        x = ac_make_reshape(&n->b, x, 2, (int64_t[]){1, x->dim[0]});
    const int64_t count = ac_tensor_count(i);
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.axis = -1;
    ac_tensor *in[] = {x, ac_make_reshape(&n->b, i, 1, &count)};
    return ac_onx_result(n, 0, ac_make_op(&n->b, AC_OP_GATHER, in, 2, &a, AC_NONE));
}

/* The n-grams of one length: where in the pool, and their first number among all of them. */
typedef struct grams {
    int64_t length, count, from, first;
} grams;

typedef struct tfidf {
    ac_ints pool, columns; /* the numbers of all n-grams, one after the other; the column each is counted in */
    int64_t min, max, skips, out;
    grams g[AC_MAX_RANK];
    int32_t n;
} tfidf;

static int read_tfidf(ac_onx_node *n, tfidf *t)
{
    ac_ints starts;
    if (ac_onx_attr_of(n, "pool_strings"))
        return ac_cannot(&n->b, "its pool holds strings");
    t->pool = ac_attr_ints(&n->attrs, A_pool_int64s);
    starts = ac_attr_ints(&n->attrs, A_ngram_counts);
    t->columns = ac_attr_ints(&n->attrs, A_ngram_indexes);
    t->min = ac_attr_int(&n->attrs, A_min_gram_length);
    t->max = ac_attr_int(&n->attrs, A_max_gram_length);
    t->skips = ac_attr_int(&n->attrs, A_max_skip_count);
    if (t->min < 1 || t->max < t->min || t->skips < 0 || starts.n < 1)
        return ac_error(n->r->cx, n->at, E0103, "n-grams of %" PRId64 " to %" PRId64 ", skips %" PRId64, t->min, t->max,
                        t->skips);
    if (starts.n > AC_MAX_RANK || t->skips > 64)
        return ac_cannot(&n->b, "its n-grams are longer than %d, or it skips more than 64", AC_MAX_RANK);
    int64_t first = 0;
    for (int32_t i = 0; i < starts.n; i++) {
        const int64_t from = starts.v[i], to = i + 1 < starts.n ? starts.v[i + 1] : t->pool.n;
        if (from < 0 || to < from || to > t->pool.n || (to - from) % (i + 1))
            return ac_error(n->r->cx, n->at, E0103, "ngram_counts do not divide the pool");
        t->g[t->n] = (grams){i + 1, (to - from) / (i + 1), from, first};
        first += t->g[t->n].count;
        t->n += t->g[t->n].count > 0 && i + 1 >= t->min && i + 1 <= t->max;
    }
    if (first > 1 << 13)
        return ac_cannot(&n->b, "it has %" PRId64 " n-grams; supported are up to 8192", first);
    if (t->columns.n != first)
        return ac_error(n->r->cx, n->at, E0103, "%d columns for %" PRId64 " n-grams", t->columns.n, first);
    for (int32_t i = 0; i < t->columns.n; i++) {
        if (t->columns.v[i] < 0 || t->columns.v[i] >= 1 << 20)
            return ac_error(n->r->cx, n->at, E0103, "column %" PRId64, t->columns.v[i]);
        t->out = t->columns.v[i] >= t->out ? t->columns.v[i] + 1 : t->out;
    }
    return AC_OK;
}

/* How often each n-gram of a length occurs in x [B,C], with `step` between its elements: f32 [B,G]; NULL and *none: it
 * is longer than the rows. */
static ac_tensor *occurrences(ac_onx_node *n, const tfidf *t, const grams *g, ac_tensor *x, int64_t step, bool *none)
{
    const int64_t places = x->dim[1] - (g->length - 1) * step;
    ac_tensor *all = NULL;
    *none = places < 1;
    for (int64_t i = 0; i < g->length && !*none; i++) {
        int64_t *v = AC_NEW_N(n->r->cx->region, int64_t, g->count);
        for (int64_t k = 0; k < g->count; k++)
            v[k] = t->pool.v[g->from + k * g->length + i];
        ac_tensor *want = ac_make_reshape(&n->b, ac_make_ints(&n->b, g->count, v), 3, (int64_t[]){1, g->count, 1});
        ac_tensor *there = ac_make_slice(&n->b, x, 1, i * step, places);
        there = ac_make_reshape(&n->b, there, 3, (int64_t[]){x->dim[0], 1, places});
        ac_tensor *same = ac_make_2(&n->b, AC_OP_EQUAL, there, want);
        all = i ? ac_make_2(&n->b, AC_OP_LOGICAL_AND, all, same) : same;
    }
    return *none ? NULL : ac_make_reduce(&n->b, AC_OP_SUM, ac_make_cast(&n->b, all, AC_F32), 4, false);
}

/* Counts of all n-grams, [B, count of t->columns]: one length after the other; 0 where a length is not counted. */
static ac_tensor *count_all(ac_onx_node *n, const tfidf *t, ac_tensor *x)
{
    ac_tensor *part[AC_MAX_RANK];
    for (int32_t i = 0; i < t->n; i++) {
        const grams *g = &t->g[i];
        ac_tensor *sum =
            ac_make_broadcast(&n->b, ac_make_number(&n->b, AC_F32, 0), 2, (int64_t[]){x->dim[0], g->count});
        for (int64_t step = 1; step <= t->skips + 1 && !(g->length == 1 && step > 1); step++) {
            bool none;
            ac_tensor *now = occurrences(n, t, g, x, step, &none);
            if (!none)
                sum = ac_make_2(&n->b, AC_OP_ADD, sum, now);
        }
        part[i] = sum;
    }
    return ac_make_concat(&n->b, part, t->n, 1);
}

static bool same_gram(const tfidf *t, const grams *g, int64_t a, int64_t b)
{
    return !memcmp(t->pool.v + g->from + a * g->length, t->pool.v + g->from + b * g->length,
                   (size_t)g->length * sizeof *t->pool.v);
}

/* By column of the result: the n-gram whose count it holds, or `none`. AC_FAIL: a column has two. */
static int64_t *columns_of(ac_onx_node *n, const tfidf *t, int64_t *none)
{
    int64_t *from = AC_NEW_N(n->r->cx->region, int64_t, t->out + 1);
    *none = 0;
    for (int32_t i = 0; i < t->n; i++)
        *none += t->g[i].count;
    for (int64_t c = 0; c < t->out; c++)
        from[c] = *none;
    int64_t at = 0;
    for (int32_t i = 0; i < t->n; at += t->g[i++].count)
        for (int64_t k = 0; k < t->g[i].count; k++) {
            bool again = false; /* of equal n-grams the last one counts */
            for (int64_t j = k + 1; j < t->g[i].count && !again; j++)
                again = same_gram(t, &t->g[i], k, j);
            const int64_t c = t->columns.v[t->g[i].first + k];
            if (!again && from[c] != *none)
                return (void)ac_cannot(&n->b, "two n-grams are counted in column %" PRId64, c), NULL;
            if (!again)
                from[c] = at + k;
        }
    return from;
}

int ac_onx_do_tfidf(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    tfidf t = {.n = 0};
    ac_attrs a;
    int64_t weights = 0, none;
    AC_TRY(read_tfidf(n, &t));
    const int32_t mode = ac_attr_word(&n->attrs, A_tfidf_mode);
    const float *w = ac_onx_floats(n, "weights", &weights);
    const bool tf = mode == 0, idf = mode == 1;
    if (x->rank < 1 || x->rank > 2 || !ac_dtype_is_int(x->dtype) || (weights && weights != t.out))
        return ac_error(n->r->cx, n->at, E0104, "'%s' is %s, and there are %" PRId64 " weights for %" PRId64 " columns",
                        x->name, ac_tensor_str(n->r->cx, x), weights, t.out);
    const bool row = x->rank == 1;
    const int64_t batch = row ? 1 : x->dim[0];
    const int64_t *from = columns_of(n, &t, &none);
    if (!from || t.n == 0 || batch == 0)
        return from ? ac_cannot(&n->b, "it counts nothing") : AC_FAIL;
    x = ac_make_cast(&n->b, ac_make_reshape(&n->b, x, 2, (int64_t[]){batch, x->dim[x->rank - 1]}), AC_I64);
    ac_tensor *counts = x ? count_all(n, &t, x) : NULL;
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.axis = 1;
    ac_tensor *in[] = {ac_make_pad(&n->b, counts, (int64_t[]){0, 0}, (int64_t[]){0, 1}, NULL),
                       ac_make_ints(&n->b, t.out, from)};
    ac_tensor *y = ac_make_op(&n->b, AC_OP_GATHER, in, 2, &a, AC_NONE);
    if (idf && y)
        y = ac_make_cast(&n->b, ac_make_2(&n->b, AC_OP_GREATER, y, ac_make_number(&n->b, AC_F32, 0)), AC_F32);
    if (!tf && w)
        y = ac_make_2(&n->b, AC_OP_MUL, y, ac_make_floats(&n->b, 1, &t.out, w));
    return ac_onx_result(n, 0, row ? ac_make_reshape(&n->b, y, 1, &t.out) : y);
}
