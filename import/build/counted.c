/* counted.c - creates tensors of data-dependent size: with their maximum size, and a count of their valid elements
 * (ir/ops/shape/counted.h). */
#include "import/build/counted.h"
#include "import/build/compose_bounded.h"
#include "import/build/operands.h"
#include "import/build/reading.h"
#include "import/build/wanted_outputs.h"
#include "ir/ops/shape/counted.h"
#include "ir/ops/shape/resolve.h"

ac_tensor *ac_counted_as(ac_tensor *t, ac_tensor *count, int32_t dim)
{
    if (t && count) {
        t->count = count;
        t->count_dim = dim;
    }
    return t;
}

ac_tensor *ac_make_iota(const ac_maker *b, int64_t n)
{
    int64_t *v = AC_NEW_N(b->cx->region, int64_t, n + 1);
    for (int64_t i = 0; i < n; i++)
        v[i] = i;
    return ac_make_ints(b, n, v);
}

/* For each index of dimension t->count_dim, whether it is valid: bool, of t's rank and size 1 in all other
 * dimensions. */
static ac_tensor *mask_of(const ac_maker *b, const ac_tensor *t)
{
    int64_t dim[AC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    const int64_t n = t->dim[t->count_dim];
    dim[t->count_dim] = n;
    ac_tensor *at = ac_make_reshape(b, ac_make_iota(b, n), t->rank, dim);
    return ac_counted_as(ac_make_2(b, AC_OP_LESS, at, ac_make_reshape(b, t->count, 0, NULL)), t->count, t->count_dim);
}

ac_tensor *ac_make_counted_fill(const ac_maker *b, ac_tensor *t, double v)
{
    if (!t || !t->count)
        return t;
    ac_tensor *mask = mask_of(b, t);
    ac_tensor *y = mask ? ac_make_select(b, mask, t, ac_make_number(b, t->dtype, v)) : NULL;
    if (y)
        y->count = NULL;
    return y;
}

/* A concatenation so far, recorded so that parts with the same counts give results with the same count. */
typedef struct ac_joined {
    struct ac_joined *next;
    const ac_graph *g;
    ac_count_parts part;
    bool some;     /* `at` lists only a subset of the valid elements */
    ac_tensor *at; /* positions of the valid elements in all parts together: i64 [sum of sizes], with a count */
} ac_joined;

static void note_joined(const ac_maker *b, ac_joined j)
{
    if (!b->reading || !j.at)
        return;
    j.g = b->g;
    j.next = b->reading->joined;
    b->reading->joined = ac_copy(b->cx->region, &j, sizeof j);
}

bool ac_parts_of_count(const ac_maker *b, const ac_tensor *count, ac_count_parts *parts)
{
    const ac_joined *j = b->reading ? b->reading->joined : NULL;
    while (j && j->at->count != count)
        j = j->next;
    if (j)
        *parts = j->part;
    return j != NULL;
}

static ac_tensor *true_of(const ac_maker *b, ac_tensor *flags)
{
    const int64_t n = flags ? ac_tensor_count(flags) : 0, most = n + 1, zero = 0;
    ac_attrs a;
    flags = ac_make_counted_fill(b, flags, 0); /* invalid elements are not true */
    if (!flags)
        return NULL;
    ac_tensor *f = ac_make_cast(b, ac_make_reshape(b, flags, 1, &n), AC_I32);
    ac_tensor *count = ac_make_cast(b, ac_make_reduce(b, AC_OP_SUM, f, 1, false), AC_I64);
    ac_attrs_init(AC_OP_CUMSUM, &a);
    a.cumsum.exclusive = true;
    ac_tensor *in[] = {f, ac_make_reshape(b, ac_make_ints(b, 1, &zero), 0, NULL)};
    ac_tensor *at = f && in[1] ? ac_make_op(b, AC_OP_CUMSUM, in, 2, &a, AC_NONE) : NULL;
    /* a true element is scattered to its position, others past the end */
    at = ac_make_cast(b, at, AC_I64);
    ac_tensor *yes = ac_make_2(b, AC_OP_NOT_EQUAL, f, ac_make_number(b, AC_I32, 0));
    at = at && yes ? ac_make_select(b, yes, at, ac_make_number(b, AC_I64, (double)n)) : NULL;
    ac_attrs_init(AC_OP_SCATTER_ELEMENTS, &a);
    ac_tensor *into = ac_make_broadcast(b, ac_make_number(b, AC_I64, 0), 1, &most);
    ac_tensor *scatter[] = {into, at, ac_make_iota(b, n)};
    ac_tensor *y = at && into ? ac_make_op(b, AC_OP_SCATTER_ELEMENTS, scatter, 3, &a, AC_NONE) : NULL;
    return ac_counted_as(y ? ac_make_slice(b, y, 0, 0, n) : NULL, count, 0);
}

ac_tensor *ac_make_true(const ac_maker *b, ac_tensor *flags)
{
    ac_tensor *count = flags && flags->rank == 1 ? flags->count : NULL, *y = true_of(b, flags);
    const ac_count_parts all = {1, ac_copy(b->cx->region, &count, sizeof count),
                                ac_copy(b->cx->region, flags ? flags->dim : NULL, flags ? sizeof *flags->dim : 0)};
    if (count)
        note_joined(b, (ac_joined){.part = all, .some = true, .at = y});
    return y;
}

/* count * k; an existing tensor if there is one for this count and k. */
static ac_tensor *count_times(const ac_maker *b, ac_tensor *count, int64_t k)
{
    for (int32_t i = 0; i < b->g->tensor.n; i++) {
        ac_tensor *c = b->g->tensor.item[i]->count;
        const ac_node *n = c ? c->def : NULL;
        if (!n || n->op != AC_OP_MUL || n->in[0] != count || !n->in[1]->data)
            continue;
        if (ac_dtype_get_num(n->in[1]->dtype, n->in[1]->data, 0) == (double)k)
            return c;
    }
    return ac_make_2(b, AC_OP_MUL, count, ac_make_number(b, count->dtype, (double)k));
}

ac_tensor *ac_make_counted_reshape(const ac_maker *b, ac_tensor *x, int32_t rank, const int64_t *dim)
{
    ac_attrs a;
    ac_tensor *own = x->count;
    const int32_t d = x->count_dim;
    const int64_t before = ac_dim_product(x->dim, 0, d), size = x->dim[d];
    int64_t to[AC_MAX_RANK], known = 1, times = 1;
    int32_t at = -1, open = -1;
    for (int32_t e = 0; e < rank; e++) {
        to[e] = dim[e];
        open = dim[e] == -1 ? e : open;
        known *= dim[e] == -1 ? 1 : dim[e];
    }
    if (open >= 0 && known > 0)
        to[open] = ac_tensor_count(x) / known;
    for (int32_t e = 0; e < rank && size > 0 && at < 0; e++)
        if (to[e] >= size && to[e] % size == 0 && ac_dim_product(to, 0, e) == before) {
            at = e;
            times = to[e] / size;
        }
    ac_attrs_init(AC_OP_RESHAPE, &a);
    a.shape.shape = ac_make_list(b, rank, dim);
    if (at < 0 || times == 1)
        return ac_make_op(b, AC_OP_RESHAPE, &x, 1, &a, AC_NONE);
    ac_tensor *count = count_times(b, own, times);
    x->count = NULL;
    ac_tensor *y = ac_make_op(b, AC_OP_RESHAPE, &x, 1, &a, AC_NONE);
    x->count = own;
    return count ? ac_counted_as(y, count, at) : NULL;
}

ac_tensor *ac_make_counted_extent(const ac_maker *b, const ac_tensor *x, int32_t d)
{
    return x->count && x->count_dim == d ? ac_make_cast(b, ac_make_reshape(b, x->count, 0, NULL), AC_I64)
                                         : ac_make_number(b, AC_I64, (double)x->dim[d]);
}

ac_tensor *ac_make_counted_size(const ac_maker *b, ac_tensor *x)
{
    const int64_t all = ac_tensor_count(x);
    if (!x->count)
        return ac_make_number(b, AC_I64, (double)all);
    const int64_t times = x->dim[x->count_dim] ? all / x->dim[x->count_dim] : 0;
    ac_tensor *count = times == 1 ? x->count : count_times(b, x->count, times);
    return ac_make_cast(b, ac_make_reshape(b, count, 0, NULL), AC_I64);
}

ac_tensor *ac_make_counted_longer(const ac_maker *b, ac_tensor *t, int32_t dim, int64_t size)
{
    int64_t none[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0};
    ac_tensor *own = t->count;
    after[dim] = size - t->dim[dim];
    if (after[dim] <= 0)
        return t;
    t->count = NULL;
    ac_tensor *y = ac_make_pad(b, t, none, after, NULL);
    t->count = own;
    return y;
}

ac_tensor *ac_make_extents(const ac_maker *b, ac_tensor *x, int32_t from, int32_t to)
{
    const int64_t one = 1;
    if (!x->count || x->count_dim < from || x->count_dim >= to)
        return ac_make_ints(b, to - from, x->dim + from);
    ac_tensor *part[] = {ac_make_ints(b, x->count_dim - from, x->dim + from), ac_make_reshape(b, x->count, 1, &one),
                         ac_make_ints(b, to - x->count_dim - 1, x->dim + x->count_dim + 1)};
    const bool first = x->count_dim == from, last = x->count_dim + 1 == to;
    return first && last ? part[1] : ac_make_concat(b, part + first, 3 - first - last, 0);
}

ac_tensor *ac_make_counted_mean(const ac_maker *b, ac_tensor *x, uint32_t axes, bool keep)
{
    int64_t others = 1;
    for (int32_t d = 0; d < x->rank; d++)
        others *= axes >> d & 1 && d != x->count_dim ? x->dim[d] : 1;
    ac_tensor *count = ac_make_cast(b, ac_make_reshape(b, x->count, 0, NULL), x->dtype);
    count = ac_make_2(b, AC_OP_MUL, count, ac_make_number(b, x->dtype, (double)others));
    return ac_make_2(b, AC_OP_DIV, ac_make_reduce(b, AC_OP_SUM, x, axes, keep), count);
}

/* `at`, indices of `count` valid elements, with negative ones counted from the valid length, and invalid ones set to
 * 0. */
static ac_tensor *from_the_end(const ac_maker *b, ac_tensor *at, ac_tensor *count)
{
    const void *data = ac_tensor_is_const(at) ? ac_tensor_force(b->cx, at) : NULL;
    bool below = !data;
    for (int64_t i = 0; data && i < ac_tensor_count(at); i++)
        below |= ac_dtype_get_num(at->dtype, data, i) < 0;
    if (at->count)
        at = ac_counted_as(ac_make_counted_fill(b, at, 0), at->count, at->count_dim);
    if (!below || !at)
        return at;
    return ac_make_from_end(b, at, ac_make_cast(b, ac_make_reshape(b, count, 0, NULL), at->dtype));
}

ac_tensor *ac_make_counted_gather(const ac_maker *b, ac_tensor *x, ac_tensor *at)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.axis = x->count_dim;
    ac_tensor *in[] = {ac_make_counted_fill(b, x, 0), from_the_end(b, at, x->count)};
    return in[0] && in[1] ? ac_make_op(b, AC_OP_GATHER, in, 2, &a, AC_NONE) : NULL;
}

/* Removes the count of x if it is of dimension d. Returns it, so that the caller can restore it. */
static ac_tensor *aside(ac_tensor *x, int32_t d)
{
    ac_tensor *own = x->count;
    x->count = x->count_dim == d ? NULL : own;
    return own;
}

ac_tensor *ac_make_gather_there(const ac_maker *b, ac_tensor *x, int32_t d, ac_tensor *at)
{
    ac_attrs a;
    if (!x || !at)
        return NULL;
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.axis = d;
    ac_tensor *own = aside(x, d), *in[] = {x, at};
    ac_tensor *y = ac_make_op(b, AC_OP_GATHER, in, 2, &a, AC_NONE);
    x->count = own;
    return y;
}

ac_tensor *ac_make_slice_there(const ac_maker *b, ac_tensor *x, int32_t d, int64_t begin, int64_t size)
{
    if (!x)
        return NULL;
    ac_tensor *own = aside(x, d), *y = ac_make_slice(b, x, d, begin, size);
    x->count = own;
    return y;
}

static bool joins_alike(const ac_joined *j, const ac_graph *g, ac_tensor *const *x, int32_t n, int32_t axis)
{
    bool same = j->g == g && j->part.n == n && !j->some;
    for (int32_t i = 0; i < n && same; i++)
        same = j->part.count[i] == x[i]->count && j->part.size[i] == x[i]->dim[axis];
    return same;
}

static ac_tensor *joined_places(const ac_maker *b, ac_tensor *const *x, int32_t n, int32_t axis)
{
    const ac_joined *before = b->reading ? b->reading->joined : NULL;
    while (before && !joins_alike(before, b->g, x, n, axis))
        before = before->next;
    if (before)
        return before->at;
    ac_tensor **flags = AC_NEW_N(b->cx->region, ac_tensor *, n);
    ac_joined j = {.part = {.n = n,
                            .count = AC_NEW_N(b->cx->region, ac_tensor *, n),
                            .size = AC_NEW_N(b->cx->region, int64_t, n)}};
    for (int32_t i = 0; i < n; i++) {
        const int64_t size = j.part.size[i] = x[i]->dim[axis];
        ac_tensor *mask = x[i]->count ? mask_of(b, x[i]) : NULL;
        j.part.count[i] = x[i]->count;
        if (mask)
            mask->count = NULL;
        flags[i] = x[i]->count ? ac_make_reshape(b, mask, 1, &size)
                               : ac_make_broadcast(b, ac_make_number(b, AC_BOOL, 1), 1, &size);
    }
    ac_tensor *all = ac_make_concat(b, flags, n, 0);
    j.at = all ? ac_make_true(b, all) : NULL;
    note_joined(b, j);
    return j.at;
}

void ac_counted_erased(const ac_maker *b)
{
    ac_joined **j = &b->reading->joined;
    while (*j)
        if ((*j)->at->def || (*j)->at->data)
            j = &(*j)->next;
        else
            *j = (*j)->next;
}

ac_tensor *ac_make_counted_join(const ac_maker *b, ac_tensor *const *x, int32_t n, int32_t axis)
{
    ac_attrs a;
    ac_tensor **part = AC_NEW_N(b->cx->region, ac_tensor *, n);
    for (int32_t i = 0; i < n; i++) {
        if (x[i]->count && x[i]->count_dim != axis)
            return (void)ac_cannot(b, "dimension %d of '%s' %s depends on the data, and so does dimension %d",
                                   x[i]->count_dim, x[i]->name, ac_shape_str(b->cx, x[i]), axis),
                   NULL;
        part[i] = ac_make_counted_fill(b, x[i], 0);
    }
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.axis = axis;
    ac_tensor *in[] = {ac_make_concat(b, part, n, axis), joined_places(b, x, n, axis)};
    return in[0] && in[1] ? ac_make_op(b, AC_OP_GATHER, in, 2, &a, AC_NONE) : NULL;
}

/* ------------------------------------------------------------------ outputs */

void ac_counted_outputs(ac_graph *g)
{
    const int32_t n = g->output.n;
    AC_VEC(ac_tensor *) counts = {0}; /* counts that are outputs already; `at`: the output of each */
    AC_VEC(int32_t) at = {0};
    for (int32_t i = 0; i < n; i++) {
        ac_tensor *t = g->output.item[i];
        int32_t k = 0;
        if (!t->count)
            continue;
        while (k < counts.n && counts.item[k] != t->count)
            k++;
        if (k == counts.n) {
            const char *name = ac_internf(g->cx, "%s_count", t->name);
            const bool fresh = !ac_tensor_find(g, name);
            ac_tensor *y = ac_outputs_add(g, t->count, name);
            if (fresh)
                y->name = name;
            ac_push(g->cx->region, &counts, t->count);
            ac_push(g->cx->region, &at, g->output.n - 1);
        }
        ac_push(g->cx->region, &g->counted, ((ac_counted){i, t->count_dim, at.item[k]}));
    }
    ac_graph_renumber(g);
}
