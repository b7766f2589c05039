/* compose_counted.c - composes operators of several formats whose results have a data-dependent size; see
 * compose_counted.h. */
#include "import/build/compose_counted.h"
#include "import/build/counted.h"
#include "import/build/operands.h"
#include "ir/make/compose_moves.h"

#include <math.h>

static ac_tensor *wide(const ac_maker *b, int64_t v)
{
    return ac_make_number(b, AC_I64, (double)v);
}

static ac_tensor *along(const ac_maker *b, ac_tensor *const *x, int32_t count, int32_t axis)
{
    for (int32_t i = 0; i < count; i++)
        if (!x[i])
            return NULL;
    return ac_make_concat(b, x, count, axis);
}

/* Positions of the true elements of constant flags, not counted (exporters write an arange as the positions of ones).
 * NULL: flags are not constant. */
static ac_tensor *known_true(const ac_maker *b, ac_tensor *flags)
{
    ac_tensor *c = flags && !flags->count ? ac_specialise(b, flags) : NULL;
    const uint8_t *v = c ? ac_tensor_force(b->cx, c) : NULL;
    if (!v)
        return NULL;
    const int64_t n = ac_tensor_count(c);
    int64_t *at = AC_NEW_N(b->cx->region, int64_t, n + 1), found = 0;
    for (int64_t i = 0; i < n; i++)
        if (v[i])
            at[found++] = i;
    return ac_make_ints(b, found, at);
}

int ac_make_non_zero(const ac_maker *b, ac_tensor *x, ac_tensor *row[AC_MAX_RANK])
{
    ac_tensor *flags = x->dtype == AC_BOOL ? x : ac_make_2(b, AC_OP_NOT_EQUAL, x, ac_make_number(b, x->dtype, 0));
    ac_tensor *left = known_true(b, flags);
    left = left ? left : ac_make_true(b, flags);
    for (int32_t d = x->rank - 1; d >= 0; d--) {
        ac_tensor *size = wide(b, x->dim[d] > 0 ? x->dim[d] : 1);
        row[d] = d ? ac_make_2(b, AC_OP_FLOOR_MOD, left, size) : left;
        left = ac_make_2(b, AC_OP_FLOOR_DIV, left, size);
    }
    return !x->rank || row[0] ? AC_OK : AC_FAIL;
}

/* x sorted in rising order, and its runs of equal values; i64 except `value` and `first` */
typedef struct sorted {
    int64_t n;
    ac_tensor *value, *at; /* [n]; `at`: the position of each in x */
    ac_tensor *first;      /* bool [n]: differs from its predecessor */
    ac_tensor *start;      /* dynamically sized: start of each run */
    ac_tensor *run;        /* [n]: for each element of x, the number of its run */
    ac_tensor *here;       /* NULL, or the valid length of x; runs cover valid elements only */
} sorted;

static ac_tensor *less_one(const ac_maker *b, ac_tensor *flags)
{
    const int64_t zero = 0;
    ac_tensor *in[] = {ac_make_cast(b, flags, AC_I32), ac_make_reshape(b, ac_make_ints(b, 1, &zero), 0, NULL)};
    ac_tensor *sum = in[0] && in[1] ? ac_make_op(b, AC_OP_CUMSUM, in, 2, NULL, AC_NONE) : NULL;
    return ac_make_cast(b, ac_make_2(b, AC_OP_SUB, sum, ac_make_number(b, AC_I32, 1)), AC_I64);
}

/* y[at[i]] = v[i], 0 elsewhere */
static ac_tensor *scatter(const ac_maker *b, int64_t size, ac_tensor *at, ac_tensor *v)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_SCATTER_ELEMENTS, &a);
    ac_tensor *in[] = {ac_make_broadcast(b, v ? ac_make_number(b, v->dtype, 0) : NULL, 1, &size), at, v};
    return in[0] && at && v ? ac_make_op(b, AC_OP_SCATTER_ELEMENTS, in, 3, &a, AC_NONE) : NULL;
}

static int sort(const ac_maker *b, ac_tensor *x, sorted *s)
{
    ac_attrs a;
    const int64_t size = ac_tensor_count(x);
    ac_tensor *count = x->count;
    x = ac_make_counted_neutral(b, x, AC_OP_REDUCE_MIN); /* invalid elements come last, after equal valid ones */
    if (!x)
        return AC_FAIL;
    ac_attrs_init(AC_OP_TOPK_V2, &a);
    a.topk.smallest = true;
    ac_tensor *in[] = {ac_make_reshape(b, x, 1, &size), ac_make_reshape(b, ac_make_ints(b, 1, &size), 0, NULL)};
    if (!in[0] || !in[1])
        return AC_FAIL;
    ac_node *made = ac_make_node(b, AC_OP_TOPK_V2, in, 2, &a, 2);
    ac_tensor *value = made->out[0], *at = made->out[1];
    AC_TRY(ac_make_resolve(b, made));
    *s = (sorted){.n = size, .value = value, .at = ac_make_cast(b, at, AC_I64)};
    ac_tensor *before = size > 1 ? ac_make_slice(b, value, 0, 0, size - 1) : NULL;
    ac_tensor *differs =
        size > 1 ? ac_make_2(b, AC_OP_NOT_EQUAL, ac_make_slice(b, value, 0, 1, size - 1), before) : NULL;
    const int64_t one = 1;
    ac_tensor *part[] = {ac_make_reshape(b, ac_make_number(b, AC_BOOL, 1), 1, &one), differs};
    s->first = size > 1 ? along(b, part, 2, 0) : part[0];
    if (count) {
        s->here = ac_make_cast(b, ac_make_reshape(b, count, 0, NULL), AC_I64);
        s->first = ac_make_2(b, AC_OP_LOGICAL_AND, s->first, ac_make_2(b, AC_OP_LESS, s->at, s->here));
    }
    s->start = s->first ? ac_make_true(b, s->first) : NULL;
    s->run = s->first ? scatter(b, size, s->at, less_one(b, s->first)) : NULL;
    return s->start && s->run && s->at ? AC_OK : AC_FAIL;
}

/* Length of each run: from its start to the next start, or to the end. */
static ac_tensor *run_lengths(const ac_maker *b, const sorted *s)
{
    ac_tensor *start = ac_make_counted_fill(b, s->start, (double)s->n); /* past the valid starts: the end */
    const int64_t one = 1;
    if (!start)
        return NULL;
    ac_tensor *end = ac_make_reshape(b, wide(b, s->n), 1, &one);
    ac_tensor *part[] = {s->n > 1 ? ac_make_slice(b, start, 0, 1, s->n - 1) : end, end};
    ac_tensor *next = s->n > 1 ? along(b, part, 2, 0) : end;
    if (s->here) /* the last run ends at the valid length */
        next = ac_make_2(b, AC_OP_MINIMUM, next, s->here);
    return ac_counted_as(ac_make_2(b, AC_OP_SUB, next, start), s->start->count, 0);
}

int ac_make_unique(const ac_maker *b, ac_tensor *x, bool rising, ac_tensor *out[4])
{
    sorted s;
    ac_tensor *count = x->count;
    if (ac_tensor_count(x) < 1 || (count && x->rank > 1))
        return ac_cannot(b, "its input is empty, or its size depends on the data");
    AC_TRY(sort(b, x, &s));
    ac_tensor *place = ac_make_gather(b, s.at, 0, s.start), *run = s.run, *length = run_lengths(b, &s);
    if (!rising) { /* order of first occurrence: flags of first positions, in the order of x */
        ac_tensor *flags = scatter(b, s.n, s.at, ac_make_cast(b, s.first, AC_I32));
        ac_tensor *here = flags ? ac_make_true(b, ac_make_cast(b, flags, AC_BOOL)) : NULL;
        ac_tensor *first =
            ac_make_gather(b, ac_make_counted_fill(b, place, 0), 0, s.run); /* by element: first of its run */
        if (!here || !length)
            return AC_FAIL;
        ac_tensor *run_here = ac_make_gather(b, s.run, 0, here);
        length = ac_make_gather(b, ac_make_counted_fill(b, length, 0), 0, run_here);
        run = ac_make_gather(b, less_one(b, flags), 0, first);
        place = here;
    }
    const int64_t size = s.n;
    out[0] = ac_make_gather(b, ac_make_reshape(b, ac_make_counted_fill(b, x, 0), 1, &size), 0, place);
    out[1] = place;
    out[2] = ac_counted_as(run, count, 0);
    out[3] = length;
    return out[0] && place && run && length ? AC_OK : AC_FAIL;
}

/* Invalid updates are written to one extra element past the end, which is then cut off. */
ac_tensor *ac_make_counted_scatter(const ac_maker *b, ac_tensor *const in[3], const ac_attrs *attrs)
{
    ac_tensor *x = in[0], *count = x->count, *at = in[1];
    const int32_t axis = attrs->scatter.axis;
    const int64_t size = x->dim[axis];
    int64_t none[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0};
    ac_tensor *end = count && x->count_dim == axis ? ac_make_cast(b, ac_make_reshape(b, count, 0, NULL), at->dtype)
                                                   : ac_make_number(b, at->dtype, (double)size);
    at = ac_make_counted_fill(b, ac_make_from_end(b, at, end), (double)size);
    after[axis] = 1;
    x->count = NULL;
    ac_tensor *all[] = {ac_make_pad(b, x, none, after, NULL), at, ac_make_counted_fill(b, in[2], 0)};
    x->count = count;
    ac_tensor *y = all[0] && all[1] && all[2] ? ac_make_op(b, AC_OP_SCATTER_ELEMENTS, all, 3, attrs, AC_NONE) : NULL;
    return ac_counted_as(ac_make_slice(b, y, axis, 0, size), count, x->count_dim);
}

/* The reference of NON_MAX_SUPPRESSION_V4 drops a box whose overlap equals the threshold; these formats keep it, so the
 * threshold is the next larger float. */
int ac_make_nms(const ac_maker *b, ac_tensor *box, ac_tensor *score, const ac_nms_limits *limit, ac_tensor **kept,
                ac_tensor **count)
{
    const int64_t k = limit->most;
    ac_tensor *in[] = {box, score, ac_make_reshape(b, ac_make_ints(b, 1, &k), 0, NULL),
                       ac_make_number(b, AC_F32, (double)nextafterf((float)limit->overlap, INFINITY)),
                       ac_make_number(b, AC_F32, limit->least)};
    for (int32_t i = 0; i < 5; i++)
        if (!in[i])
            return AC_FAIL;
    ac_node *made = ac_make_node(b, AC_OP_NON_MAX_SUPPRESSION_V4, in, 5, NULL, 2);
    *kept = made->out[0];
    AC_TRY(ac_make_resolve(b, made));
    *count = ac_make_cast(b, made->out[1], AC_I64);
    return *count ? AC_OK : AC_FAIL;
}
