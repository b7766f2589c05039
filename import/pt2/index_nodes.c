/* index_nodes.c - operators of PyTorch that take elements by index, or put them there. */
#include "import/pt2/nodes.h"

#include "import/build/compose_counted.h"
#include "import/build/counted.h"
#include "ir/make/compose_moves.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Indices that are negative count from the end. */
static ac_tensor *from_end(ac_ep_node *n, ac_tensor *i, int64_t size)
{
    if (i && ac_dtype_is_int(i->dtype) && i->dtype != AC_I32 && i->dtype != AC_I64)
        i = ac_make_cast(&n->b, i, AC_I32);
    if (!i || !ac_dtype_is_int(i->dtype))
        return i ? ((void)ac_bad(&n->b, "index '%s' is %s", i->name, ac_dtype_name(i->dtype)), NULL) : NULL;
    return ac_make_from_end(&n->b, i, ac_make_number(&n->b, i->dtype, (double)size));
}

/* Indices of an embedding are not negative. */
int ac_ep_do_embedding(ac_ep_node *n)
{
    if (n->in[0]->rank != 2)
        return ac_bad(&n->b, "'%s' %s is not a table", n->in[0]->name, ac_shape_str(n->r->cx, n->in[0]));
    return ac_ep_result(n, 0, ac_make_gather(&n->b, n->in[0], 0, n->in[1]));
}

int ac_ep_do_index_select(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *at = n->in[1];
    int32_t d;
    AC_TRY(ac_ep_axis(n, A_need_dim, x->rank, &d));
    if (!x->rank)
        return ac_ep_result(n, 0, x);
    if (at->rank == 0)
        at = ac_make_reshape(&n->b, at, 1, (int64_t[]){1});
    return ac_ep_result(n, 0, ac_make_gather(&n->b, x, d, at));
}

int ac_ep_do_take(ac_ep_node *n)
{
    const int64_t all = ac_tensor_count(n->in[0]);
    ac_tensor *flat = ac_make_reshape(&n->b, n->in[0], 1, &all);
    return ac_ep_result(n, 0, ac_make_gather(&n->b, flat, 0, from_end(n, n->in[1], all)));
}

/* ------------------------------------------------------------------ index */

/* Indices of tensor x, one for each of its first dimensions, or none: those of integers broadcast together. */
typedef struct picks {
    ac_tensor *x;
    ac_tensor *at[AC_MAX_RANK]; /* by dimension; NULL: all elements */
    ac_tensor *mask;            /* the only index is one of bools, for the first `masked` dimensions from `first` on */
    int32_t first, masked;
    int32_t count; /* of indices of integers */
    bool together; /* they are neighbours: their dimensions replace them; else they come first */
    int32_t rank;  /* of the broadcast indices */
    int64_t dim[AC_MAX_RANK];
} picks;

static int broadcast_shape(ac_ep_node *n, picks *p)
{
    for (int32_t d = 0; d < p->x->rank; d++)
        if (p->at[d] && p->at[d]->rank > p->rank)
            p->rank = p->at[d]->rank;
    for (int32_t k = 0; k < p->rank; k++)
        p->dim[k] = 1;
    for (int32_t d = 0; d < p->x->rank; d++) {
        const ac_tensor *i = p->at[d];
        for (int32_t k = 0; i && k < i->rank; k++) {
            int64_t *to = &p->dim[p->rank - i->rank + k];
            if (i->dim[k] != 1 && *to != 1 && *to != i->dim[k])
                return ac_bad(&n->b, "its indices do not broadcast together");
            *to = i->dim[k] != 1 ? i->dim[k] : *to;
        }
    }
    return AC_OK;
}

/* Constant bools become the indices of the true elements. */
static int from_mask(ac_ep_node *n, picks *p, ac_tensor *mask, int32_t d)
{
    ac_tensor *row[AC_MAX_RANK];
    for (int32_t k = 0; k < mask->rank; k++)
        if (d + k >= p->x->rank || mask->dim[k] != p->x->dim[d + k])
            return ac_bad(&n->b, "mask '%s' %s does not fit '%s' %s", mask->name, ac_shape_str(n->r->cx, mask),
                          p->x->name, ac_shape_str(n->r->cx, p->x));
    if (!ac_operand_known(&n->b, &mask)) {
        p->mask = mask;
        p->first = d;
        p->masked = mask->rank;
        return AC_OK;
    }
    AC_TRY(ac_make_non_zero(&n->b, mask, row));
    for (int32_t k = 0; k < mask->rank; k++) {
        p->at[d + k] = row[k];
        p->count++;
    }
    return AC_OK;
}

static int read_picks(ac_ep_node *n, int32_t count, picks *p)
{
    int32_t d = 0, last = -1, given = 0;
    *p = (picks){.x = n->in[0], .together = true};
    for (int32_t i = 1; i <= count; i++) {
        ac_tensor *at = n->in[i];
        const int32_t own = d;
        d += at && (at->dtype == AC_BOOL || at->dtype == AC_U8) ? at->rank : 1;
        if (d > p->x->rank)
            return ac_bad(&n->b, "more indices than '%s' %s has dimensions", p->x->name, ac_shape_str(n->r->cx, p->x));
        if (!at)
            continue;
        given++;
        if (last >= 0 && own != last)
            p->together = false;
        last = d;
        if (at->dtype == AC_BOOL || at->dtype == AC_U8) {
            AC_TRY(from_mask(n, p, at->dtype == AC_BOOL ? at : ac_make_cast(&n->b, at, AC_BOOL), own));
            continue;
        }
        p->at[own] = from_end(n, at, p->x->dim[own]);
        p->count++;
        if (!p->at[own])
            return AC_FAIL;
    }
    if (p->mask && given > 1)
        return ac_cannot(&n->b, "it mixes a computed mask with other indices");
    return broadcast_shape(n, p);
}

/* The indices as tuples [.., count], and a permutation of x with the indexed dimensions first. */
static ac_tensor *tuples(ac_ep_node *n, const picks *p, int32_t *perm)
{
    ac_tensor *part[AC_MAX_RANK];
    int64_t dim[AC_MAX_RANK];
    int32_t k = 0, c = 0;
    if (p->rank >= AC_MAX_RANK)
        return (void)ac_cannot(&n->b, "its indices have 8 dimensions"), NULL;
    memcpy(dim, p->dim, sizeof dim);
    dim[p->rank] = 1;
    for (int32_t d = 0; d < p->x->rank; d++) {
        if (!p->at[d])
            continue;
        perm[k++] = d;
        ac_tensor *one = ac_make_broadcast(&n->b, ac_make_cast(&n->b, p->at[d], AC_I64), p->rank, p->dim);
        part[c++] = ac_make_reshape(&n->b, one, p->rank + 1, dim);
    }
    for (int32_t d = 0; d < p->x->rank; d++)
        if (!p->at[d])
            perm[k++] = d;
    return c == 1 ? part[0] : ac_make_concat(&n->b, part, c, p->rank);
}

/* A result whose first `rank` dimensions are those of the indices: they move to where the indices were. */
static ac_tensor *in_place_of(ac_ep_node *n, const picks *p, ac_tensor *y)
{
    int32_t perm[AC_MAX_RANK], first = 0, k = 0;
    while (!p->at[first])
        first++;
    if (!y || !p->together || !first)
        return y;
    for (int32_t d = 0; d < first; d++)
        perm[k++] = p->rank + d;
    for (int32_t d = 0; d < p->rank; d++)
        perm[k++] = d;
    for (int32_t d = p->rank + first; d < y->rank; d++)
        perm[k++] = d;
    return ac_make_transpose(&n->b, y, perm);
}

/* x with the dimensions of a mask as one. */
static ac_tensor *flat_at(ac_ep_node *n, const picks *p)
{
    int64_t dim[AC_MAX_RANK];
    int32_t k = 0;
    for (int32_t d = 0; d < p->x->rank; d++) {
        if (d > p->first && d < p->first + p->masked)
            dim[k - 1] *= p->x->dim[d];
        else
            dim[k++] = p->x->dim[d];
    }
    return ac_make_reshape(&n->b, p->x, k, dim);
}

int ac_ep_do_index(ac_ep_node *n)
{
    picks p;
    int32_t perm[AC_MAX_RANK], only = -1;
    AC_TRY(read_picks(n, n->n_in - 1, &p));
    if (p.mask) {
        ac_tensor *flat = flat_at(n, &p);
        return ac_ep_result(n, 0, ac_make_gather(&n->b, flat, p.first, ac_make_true(&n->b, p.mask)));
    }
    for (int32_t d = 0; d < p.x->rank; d++)
        only = p.at[d] ? d : only;
    if (!p.count)
        return ac_ep_result(n, 0, p.x);
    if (p.count == 1)
        return ac_ep_result(n, 0, ac_make_gather(&n->b, p.x, only, p.at[only]));
    ac_tensor *at = tuples(n, &p, perm);
    ac_tensor *in[] = {ac_make_transpose(&n->b, p.x, perm), at};
    ac_tensor *y = at && in[0] ? ac_make_op(&n->b, AC_OP_GATHER_ND, in, 2, NULL, AC_NONE) : NULL;
    return ac_ep_result(n, 0, in_place_of(n, &p, y));
}

/* x with values where a computed mask is true: they are one for all, or one for each. */
static int put_masked(ac_ep_node *n, const picks *p, ac_tensor *values, bool adds)
{
    int64_t dim[AC_MAX_RANK];
    ac_tensor *x = p->x;
    for (int32_t d = 0; d < x->rank; d++)
        dim[d] = d >= p->first && d < p->first + p->masked ? x->dim[d] : 1;
    if (p->first || (values->rank && values->rank + p->masked - 1 >= x->rank && values->dim[0] != 1))
        return ac_cannot(&n->b, "a computed mask takes a list of values");
    ac_tensor *mask = ac_make_reshape(&n->b, p->mask, x->rank, dim);
    ac_tensor *now = adds ? ADD(x, values) : values;
    return ac_ep_result(n, 0, WHERE(mask, now, x));
}

int ac_ep_do_index_put(ac_ep_node *n)
{
    picks p;
    int32_t perm[AC_MAX_RANK], back[AC_MAX_RANK], k = 0;
    int64_t dim[AC_MAX_RANK];
    ac_attrs a;
    const bool adds = ac_attr_bool(&n->attrs, A_accumulate);
    AC_TRY(read_picks(n, n->n_in - 2, &p));
    ac_tensor *values = ac_make_cast(&n->b, n->in[n->n_in - 1], p.x->dtype);
    if (!values)
        return AC_FAIL;
    if (p.mask)
        return put_masked(n, &p, values, adds);
    if (!p.count)
        return ac_ep_result(n, 0, ac_make_broadcast(&n->b, adds ? ADD(p.x, values) : values, p.x->rank, p.x->dim));
    ac_tensor *at = tuples(n, &p, perm), *x = ac_make_transpose(&n->b, p.x, perm);
    if (!at || !x)
        return AC_FAIL;
    for (int32_t d = 0; d < p.x->rank; d++)
        back[perm[d]] = d;
    /* values as [the indices.., other dimensions..] */
    int32_t first = 0, rank = p.rank + x->rank - p.count;
    while (!p.at[first])
        first++;
    const int32_t front = p.together ? first : 0;
    if (rank > AC_MAX_RANK)
        return ac_cannot(&n->b, "its values have more than 8 dimensions");
    for (int32_t d = 0; d < front; d++)
        dim[k++] = x->dim[p.count + d];
    for (int32_t d = 0; d < p.rank; d++)
        dim[k++] = p.dim[d];
    for (int32_t d = front; d < x->rank - p.count; d++)
        dim[k++] = x->dim[p.count + d];
    values = ac_make_broadcast(&n->b, values, rank, dim);
    int32_t turn[AC_MAX_RANK];
    for (int32_t d = 0; d < rank; d++)
        turn[d] = d < p.rank ? front + d : d < p.rank + front ? d - p.rank : d;
    ac_attrs_init(AC_OP_SCATTER_INTO, &a);
    a.scatter.reduction = adds ? AC_W_ADD : AC_W_NONE;
    ac_tensor *in[] = {x, at, ac_make_transpose(&n->b, values, turn)};
    ac_tensor *y = in[2] ? ac_make_op(&n->b, AC_OP_SCATTER_INTO, in, 3, &a, AC_NONE) : NULL;
    return ac_ep_result(n, 0, ac_make_transpose(&n->b, y, back));
}

/* ------------------------------------------------------------------ one index for each element */

/* The first index->dim[d] elements of x along each dimension but `axis`. */
static ac_tensor *like_index(ac_ep_node *n, ac_tensor *x, const ac_tensor *index, int32_t axis)
{
    for (int32_t d = 0; x && d < x->rank && d < index->rank; d++)
        if (d != axis && index->dim[d] < x->dim[d])
            x = ac_make_slice(&n->b, x, d, 0, index->dim[d]);
    return x;
}

static ac_tensor *elements(ac_ep_node *n, ac_tensor *x, ac_tensor *index, int32_t axis)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_GATHER_ELEMENTS, &a);
    a.axis.axis = axis;
    ac_tensor *in[] = {like_index(n, x, index, axis), index};
    return in[0] && in[1] ? ac_make_op(&n->b, AC_OP_GATHER_ELEMENTS, in, 2, &a, AC_NONE) : NULL;
}

int ac_ep_do_gather(ac_ep_node *n)
{
    int32_t axis;
    ac_attr_skip(&n->attrs, "sparse_grad");
    AC_TRY(ac_ep_axis(n, A_need_dim, n->in[0]->rank, &axis));
    if (!n->in[0]->rank)
        return ac_ep_result(n, 0, n->in[0]);
    return ac_ep_result(n, 0, elements(n, n->in[0], n->in[1], axis));
}

int ac_ep_do_take_along(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *at = n->in[1];
    int32_t axis = 0;
    const int64_t all = ac_tensor_count(x), many = ac_tensor_count(at);
    int64_t dim[AC_MAX_RANK], own[AC_MAX_RANK];
    if (!ac_attr_has(&n->attrs, A_need_dim)) {
        ac_tensor *flat = ac_make_reshape(&n->b, x, 1, &all);
        return ac_ep_result(n, 0, elements(n, flat, ac_make_reshape(&n->b, from_end(n, at, all), 1, &many), 0));
    }
    AC_TRY(ac_ep_axis(n, A_need_dim, x->rank, &axis));
    if (x->rank != at->rank)
        return ac_bad(&n->b, "'%s' and '%s' have %d and %d dimensions", x->name, at->name, x->rank, at->rank);
    for (int32_t d = 0; d < x->rank; d++) {
        dim[d] = d == axis || x->dim[d] == 1 ? at->dim[d] : x->dim[d];
        own[d] = d == axis ? x->dim[d] : dim[d];
    }
    at = ac_make_broadcast(&n->b, from_end(n, at, x->dim[axis]), x->rank, dim);
    return at ? ac_ep_result(n, 0, elements(n, ac_make_broadcast(&n->b, x, x->rank, own), at, axis)) : AC_FAIL;
}

/* x with src at the places of the index, combined by `how`. */
static ac_tensor *scattered(ac_ep_node *n, ac_tensor *x, ac_tensor *index, ac_tensor *src, int32_t axis, ac_word how)
{
    ac_attrs a;
    if (!x || !x->rank)
        return (void)ac_cannot(&n->b, "it changes a scalar"), NULL;
    ac_attrs_init(AC_OP_SCATTER_ELEMENTS, &a);
    a.scatter.axis = axis;
    a.scatter.reduction = how;
    a.scatter.keep_nan = true;
    src = ac_make_cast(&n->b, src, x->dtype);
    for (int32_t d = 0; src && src->rank == index->rank && d < src->rank; d++)
        if (index->dim[d] < src->dim[d])
            src = ac_make_slice(&n->b, src, d, 0, index->dim[d]);
    ac_tensor *in[] = {x, index, ac_make_broadcast(&n->b, src, index->rank, index->dim)};
    return in[2] ? ac_make_op(&n->b, AC_OP_SCATTER_ELEMENTS, in, 3, &a, AC_NONE) : NULL;
}

static ac_word word_of(const char *reduce)
{
    return !strcmp(reduce, "sum") || !strcmp(reduce, "add")         ? AC_W_ADD
           : !strcmp(reduce, "prod") || !strcmp(reduce, "multiply") ? AC_W_MUL
           : !strcmp(reduce, "amax")                                ? AC_W_MAX
                                                                    : AC_W_MIN;
}

int ac_ep_do_scatter(ac_ep_node *n)
{
    int32_t axis;
    AC_TRY(ac_ep_axis(n, A_need_dim, n->in[0]->rank, &axis));
    const bool combines = ac_attr_has(&n->attrs, A_reduce);
    const ac_word how = combines ? word_of(ac_attr_text(&n->attrs, A_reduce)) : AC_W_NONE;
    return ac_ep_result(n, 0, scattered(n, n->in[0], n->in[1], n->in[2], axis, how));
}

int ac_ep_do_scatter_add(ac_ep_node *n)
{
    int32_t axis;
    AC_TRY(ac_ep_axis(n, A_need_dim, n->in[0]->rank, &axis));
    return ac_ep_result(n, 0, scattered(n, n->in[0], n->in[1], n->in[2], axis, AC_W_ADD));
}

/* Without include_self, elements that the index names begin with the neutral value; a mean divides by their number. */
int ac_ep_do_scatter_reduce(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *index = n->in[1], *src = n->in[2];
    const char *reduce = ac_attr_text(&n->attrs, A_reduce);
    const bool mean = !strcmp(reduce, "mean"), self = ac_attr_bool(&n->attrs, A_include_self);
    const ac_word how = mean ? AC_W_ADD : word_of(reduce);
    int32_t axis;
    AC_TRY(ac_ep_axis(n, A_need_dim, x->rank, &axis));
    if (!x->rank)
        return ac_cannot(&n->b, "it changes a scalar");
    const double far = ac_dtype_is_float(x->dtype) ? (double)INFINITY : (double)ac_dtype_max(x->dtype),
                 low = ac_dtype_is_float(x->dtype) ? -(double)INFINITY : (double)ac_dtype_min(x->dtype);
    const double none = how == AC_W_ADD ? 0 : how == AC_W_MUL ? 1 : how == AC_W_MAX ? low : far;
    ac_tensor *first = self ? x : scattered(n, x, index, NUM(x, none), axis, AC_W_NONE);
    ac_tensor *y = scattered(n, first, index, src, axis, how);
    if (!mean)
        return ac_ep_result(n, 0, y);
    ac_tensor *start = ac_make_broadcast(&n->b, NUM(x, self), x->rank, x->dim);
    ac_tensor *count = scattered(n, start, index, NUM(x, 1), axis, AC_W_ADD), *one = NUM(x, 1);
    count = MAX(count, one);
    return ac_ep_result(n, 0, ac_dtype_is_float(x->dtype) ? DIV(y, count) : OP2(FLOOR_DIV, y, count));
}

/* index [k], for all positions of the other dimensions of src [.., k, ..]. */
static ac_tensor *spread(ac_ep_node *n, ac_tensor *index, const ac_tensor *src, int32_t axis, int64_t size)
{
    index = from_end(n, index, size);
    return ac_make_broadcast(&n->b, ac_make_along(&n->b, index, src->rank, axis), src->rank, src->dim);
}

static int by_rows(ac_ep_node *n, ac_tensor *src, ac_word how)
{
    ac_tensor *x = n->in[0], *index = n->in[1];
    int32_t axis;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_ep_axis(n, A_need_dim, x->rank, &axis));
    if (!x->rank || !src)
        return src ? ac_cannot(&n->b, "it changes a scalar") : AC_FAIL;
    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = ac_tensor_count(index);
    src = ac_make_broadcast(&n->b, src, x->rank, dim);
    index = src ? spread(n, index, src, axis, x->dim[axis]) : NULL;
    return index ? ac_ep_result(n, 0, scattered(n, x, index, src, axis, how)) : AC_FAIL;
}

int ac_ep_do_index_add(ac_ep_node *n)
{
    const double alpha = ac_attr_float(&n->attrs, A_alpha);
    return by_rows(n, alpha == 1 ? n->in[2] : TIMES(n->in[2], alpha), AC_W_ADD);
}

int ac_ep_do_index_copy(ac_ep_node *n)
{
    return by_rows(n, n->in[2], AC_W_NONE);
}

int ac_ep_do_index_fill(ac_ep_node *n)
{
    return by_rows(n, ac_make_cast(&n->b, n->in[2], n->in[0]->dtype), AC_W_NONE);
}

/* ------------------------------------------------------------------ parts that are replaced */

/* x with elements from, from + step .. along d replaced by src. */
static ac_tensor *replaced(ac_ep_node *n, ac_tensor *x, ac_tensor *src, int32_t d, int64_t from, int64_t count,
                           int64_t step)
{
    ac_tensor *part[3];
    int32_t k = 0;
    src = ac_make_cast(&n->b, src, x->dtype);
    if (!src || !count)
        return src ? x : NULL;
    if (step != 1) {
        int64_t *at = AC_NEW_N(n->r->cx->region, int64_t, count);
        for (int64_t i = 0; i < count; i++)
            at[i] = from + i * step;
        ac_tensor *index = spread(n, ac_make_ints(&n->b, count, at), src, d, x->dim[d]);
        return index ? scattered(n, x, index, src, d, AC_W_NONE) : NULL;
    }
    if (from)
        part[k++] = ac_make_slice(&n->b, x, d, 0, from);
    part[k++] = src;
    if (from + count < x->dim[d])
        part[k++] = ac_make_slice(&n->b, x, d, from + count, x->dim[d] - from - count);
    return k == 1 ? src : ac_make_concat(&n->b, part, k, d);
}

int ac_ep_do_slice_scatter(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t d;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_ep_axis(n, A_dim, x->rank, &d));
    if (!x->rank)
        return ac_bad(&n->b, "it changes a scalar");
    const int64_t size = x->dim[d], step = ac_attr_int(&n->attrs, A_step);
    const int64_t from = ac_ep_inside(ac_attr_int(&n->attrs, A_start), size),
                  to = ac_ep_inside(ac_attr_int_or(&n->attrs, A_end, INT64_MAX), size);
    if (step < 1)
        return ac_bad(&n->b, "step %" PRId64, step);
    memcpy(dim, x->dim, sizeof dim);
    dim[d] = to > from ? (to - from + step - 1) / step : 0;
    ac_tensor *src = ac_make_broadcast(&n->b, n->in[1], x->rank, dim);
    return ac_ep_result(n, 0, replaced(n, x, src, d, from, dim[d], step));
}

int ac_ep_do_select_scatter(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t d;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_ep_axis(n, A_need_dim, x->rank, &d));
    int64_t at = ac_attr_int(&n->attrs, A_index);
    at += at < 0 && x->rank ? x->dim[d] : 0;
    if (!x->rank || at < 0 || at >= x->dim[d])
        return ac_bad(&n->b, "element %" PRId64 " of '%s'", at, x->name);
    memcpy(dim, x->dim, sizeof dim);
    dim[d] = 1;
    return ac_ep_result(n, 0, replaced(n, x, ac_make_reshape(&n->b, n->in[1], x->rank, dim), d, at, 1, 1));
}

/* ------------------------------------------------------------------ others */

int ac_ep_do_one_hot(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    const int64_t classes = ac_attr_int(&n->attrs, A_num_classes);
    int64_t dim[AC_MAX_RANK + 1];
    if (classes < 1 || x->rank >= AC_MAX_RANK)
        return ac_cannot(&n->b, "its data decide how many classes there are");
    memcpy(dim, x->dim, sizeof x->dim);
    dim[x->rank] = 1;
    ac_tensor *steps = ac_make_cast(&n->b, ac_make_iota(&n->b, classes), x->dtype);
    return ac_ep_result(n, 0, ac_make_cast(&n->b, EQUAL(ac_make_reshape(&n->b, x, x->rank + 1, dim), steps), AC_I64));
}

int ac_ep_do_nonzero(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *row[AC_MAX_RANK];
    if (!x->rank)
        return ac_cannot(&n->b, "its operand is a scalar");
    AC_TRY(ac_make_non_zero(&n->b, x, row));
    for (int32_t d = 0; d < x->rank; d++)
        if (!(row[d] = row[d] ? ac_make_reshape(&n->b, row[d], 2, (int64_t[]){row[d]->dim[0], 1}) : NULL))
            return AC_FAIL;
    return ac_ep_result(n, 0, x->rank == 1 ? row[0] : ac_make_concat(&n->b, row, x->rank, 1));
}

int ac_ep_do_masked_select(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *mask = n->in[1];
    if (mask->rank < x->rank || !ac_tensor_same_shape(x, mask)) {
        const ac_tensor *wide = mask->rank > x->rank ? mask : x;
        x = ac_make_broadcast(&n->b, x, wide->rank, wide->dim);
        mask = ac_make_broadcast(&n->b, mask, wide->rank, wide->dim);
    }
    if (!x || !mask)
        return AC_FAIL;
    const int64_t all = ac_tensor_count(x);
    ac_tensor *flat = ac_make_reshape(&n->b, x, 1, &all);
    return ac_ep_result(n, 0, ac_make_gather(&n->b, flat, 0, ac_make_true(&n->b, mask)));
}

/* How many elements of sorted [.., S] are below v [.., K] (right: or equal). */
static int search(ac_ep_node *n, ac_tensor *sorted, ac_tensor *v, bool one)
{
    const bool right = ac_attr_bool(&n->attrs, A_right);
    int64_t dim[AC_MAX_RANK + 1], own[AC_MAX_RANK + 1];
    (void)ac_attr_bool(&n->attrs, A_out_int32);
    if (v->rank >= AC_MAX_RANK || sorted->rank >= AC_MAX_RANK || sorted->rank < 1)
        return ac_cannot(&n->b, "its operands have 8 dimensions");
    if (sorted->dtype != v->dtype) {
        sorted = ac_make_cast(&n->b, sorted, AC_F32);
        v = ac_make_cast(&n->b, v, AC_F32);
    }
    if (!sorted || !v)
        return AC_FAIL;
    memcpy(dim, v->dim, sizeof v->dim);
    dim[v->rank] = 1;
    ac_tensor *x = ac_make_reshape(&n->b, v, v->rank + 1, dim);
    if (!one && sorted->rank > 1) {
        memcpy(own, sorted->dim, sizeof sorted->dim);
        own[sorted->rank] = own[sorted->rank - 1];
        own[sorted->rank - 1] = 1;
        sorted = ac_make_reshape(&n->b, sorted, sorted->rank + 1, own);
    }
    ac_tensor *below = right ? OP2(LESS_EQUAL, sorted, x) : LESS(sorted, x);
    below = ac_make_cast(&n->b, below, AC_I64);
    return below ? ac_ep_result(n, 0, ac_make_reduce(&n->b, AC_OP_SUM, below, 1u << (below->rank - 1), false))
                 : AC_FAIL;
}

int ac_ep_do_searchsorted(ac_ep_node *n)
{
    const ac_js_node *side = ac_ep_arg(n, "side");
    if (side && side->kind == AC_JS_STRING && !strcmp(side->text, "right"))
        return ac_cannot(&n->b, "side is 'right'; right=True means the same");
    return search(n, n->in[0], n->in[1], n->in[0]->rank == 1);
}

int ac_ep_do_bucketize(ac_ep_node *n)
{
    return search(n, n->in[1], n->in[0], true);
}
