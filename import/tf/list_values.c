/* list_values.c - the elements of an array of tensors; see list_values.h. */
#include "import/build/counted.h"
#include "import/tf/list_values.h"

#include <string.h>

ac_tf_list *ac_tf_list_new(ac_tf_op *n, ac_dtype dtype, int64_t count)
{
    if (count < 0 || count > AC_TF_LIST_MOST)
        return (void)ac_error(n->r->cx, n->b.at, E0103, "an array of %lld tensors", (long long)count), NULL;
    ac_tf_list *l = AC_NEW(n->r->cx->region, ac_tf_list);
    *l = (ac_tf_list){.dtype = dtype, .n = count, .at = -1, .rank = -1};
    return l;
}

const ac_tf_list *ac_tf_list_written(ac_tf_op *n, const ac_tf_list *base, int64_t at, ac_tensor *item)
{
    ac_tf_list *l = AC_NEW(n->r->cx->region, ac_tf_list);
    if (!item)
        return NULL;
    if (at < 0 || at >= AC_TF_LIST_MOST || (at >= base->n && !base->grows))
        return (void)ac_error(n->r->cx, n->b.at, E0103, "index %lld of an array of %lld tensors", (long long)at,
                              (long long)base->n),
               NULL;
    if (item->dtype != base->dtype)
        return (void)ac_error(n->r->cx, n->b.at, E0105, "'%s' is %s, the array %s", item->name,
                              ac_dtype_name(item->dtype), ac_dtype_name(base->dtype)),
               NULL;
    *l = *base;
    l->base = base;
    l->at = at;
    l->item = item;
    l->whole = NULL;
    l->n = at >= base->n ? at + 1 : base->n;
    return l;
}

const ac_tf_list *ac_tf_list_resized(ac_tf_op *n, const ac_tf_list *base, int64_t count)
{
    ac_tf_list *l = AC_NEW(n->r->cx->region, ac_tf_list);
    if (count < 0 || count > AC_TF_LIST_MOST)
        return (void)ac_error(n->r->cx, n->b.at, E0103, "an array of %lld tensors", (long long)count), NULL;
    *l = *base;
    l->base = base;
    l->at = -1;
    l->item = l->whole = NULL;
    l->n = count;
    return l;
}

const ac_tf_list *ac_tf_list_of(ac_tf_op *n, const ac_tf_list *l, ac_tensor *t)
{
    ac_tf_list *own = t ? ac_tf_list_new(n, l->dtype, t->dim[0]) : NULL;
    if (!own)
        return NULL;
    own->whole = t;
    own->name = l->name;
    own->count = t->count && t->count_dim == 0 ? t->count : NULL;
    own->rank = t->rank - 1;
    memcpy(own->dim, t->dim + 1, (size_t)own->rank * sizeof *own->dim);
    return own;
}

static ac_tensor *part_of(ac_tf_op *n, ac_tensor *whole, int64_t i)
{
    return ac_make_reshape(&n->b, ac_make_slice_there(&n->b, whole, 0, i, 1), whole->rank - 1, whole->dim + 1);
}

/* The last element written to position i. *there false: none. */
static ac_tensor *last_written(ac_tf_op *n, const ac_tf_list *l, int64_t i, bool *there)
{
    *there = true;
    for (; l && i < l->n && ac_pb_spend(&n->r->pb, 1); l = l->base) {
        if (l->at == i)
            return l->item;
        if (!l->base && l->whole)
            return part_of(n, l->whole, i);
    }
    *there = false;
    return NULL;
}

bool ac_tf_list_element_shape(const ac_tf_list *l, int32_t *rank, int64_t dim[AC_MAX_RANK])
{
    bool closed = l->rank >= 0;
    for (int32_t d = 0; d < l->rank; d++)
        closed &= l->dim[d] >= 0;
    *rank = l->rank;
    memcpy(dim, l->dim, sizeof l->dim);
    for (; l && !closed; l = l->base) {
        const ac_tensor *t = l->at >= 0 ? l->item : l->whole;
        if (!t)
            continue;
        *rank = l->at >= 0 ? t->rank : t->rank - 1;
        memcpy(dim, t->dim + (l->at < 0), (size_t)*rank * sizeof *dim);
        return true;
    }
    return closed;
}

/* Element i; one that was never written is 0. */
ac_tensor *ac_tf_list_get(ac_tf_op *n, const ac_tf_list *l, int64_t i)
{
    bool there;
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    if (i < 0 || i >= l->n)
        return (void)ac_error(n->r->cx, n->b.at, E0103, "index %lld of an array of %lld tensors", (long long)i,
                              (long long)l->n),
               NULL;
    ac_tensor *t = last_written(n, l, i, &there);
    if (there || n->r->pb.failed)
        return t;
    if (!ac_tf_list_element_shape(l, &rank, dim))
        return (void)ac_cannot(&n->b, "it reads element %lld, which nothing wrote and whose shape is unknown",
                               (long long)i),
               NULL;
    return ac_make_broadcast(&n->b, ac_make_number(&n->b, l->dtype, 0), rank, dim);
}

ac_tensor *ac_tf_list_stack(ac_tf_op *n, const ac_tf_list *l, const int64_t *index, int64_t count)
{
    int32_t rank;
    int64_t dim[AC_MAX_RANK + 1] = {0};
    bool all = !l->base && l->whole && count == l->n;
    for (int64_t i = 0; all && i < count; i++)
        all = index[i] == i;
    if (all)
        return l->whole;
    if (!count && ac_tf_list_element_shape(l, &rank, dim + 1) && rank < AC_MAX_RANK) {
        static const uint64_t NOTHING[1] = {0};
        return ac_tensor_const(n->r->g, n->node->name, l->dtype, rank + 1, dim, NOTHING);
    }
    if (!count)
        return (void)ac_cannot(&n->b, "it stacks no elements, and their shape is unknown"), NULL;
    ac_tensor **x = AC_NEW_N(n->r->cx->region, ac_tensor *, count), *first = NULL;
    for (int64_t i = 0; i < count; i++) {
        ac_tensor *t = ac_tf_list_get(n, l, index[i]);
        if (!t)
            return NULL;
        first = first ? first : t;
        if (t->rank == AC_MAX_RANK)
            return (void)ac_cannot(&n->b, "the result has more than 8 dimensions"), NULL;
        if (!ac_tensor_same_shape(t, first))
            return (void)ac_error(n->r->cx, n->b.at, E0104, "element %lld is %s, but another one %s", (long long)i,
                                  ac_shape_str(n->r->cx, t), ac_shape_str(n->r->cx, first)),
                   NULL;
        dim[0] = 1;
        memcpy(dim + 1, t->dim, (size_t)t->rank * sizeof *dim);
        x[i] = ac_make_reshape(&n->b, t, t->rank + 1, dim);
        if (!x[i])
            return NULL;
    }
    return count == 1 ? x[0] : ac_make_concat(&n->b, x, (int32_t)count, 0);
}

ac_tensor *ac_tf_list_stack_all(ac_tf_op *n, const ac_tf_list *l)
{
    if (!ac_pb_spend(&n->r->pb, l->n)) /* a claimed size must be worth it */
        return NULL;
    int64_t *index = AC_NEW_N(n->r->cx->region, int64_t, l->n + 1);
    for (int64_t i = 0; i < l->n; i++)
        index[i] = i;
    ac_tensor *t = ac_tf_list_stack(n, l, index, l->n);
    if (!t || !l->count || t->count == l->count)
        return t;
    if (t->count)
        return (void)ac_cannot(&n->b, "data decides how many elements the array has, and how long they are"), NULL;
    if (ac_tensor_is_const(t)) /* readers of constants ignore counts */
        t = ac_make_counted_fill(&n->b, ac_counted_as(t, l->count, 0), 0);
    return ac_counted_as(t, l->count, 0);
}

const ac_tf_list *ac_tf_list_scattered(ac_tf_op *n, const ac_tf_list *l, ac_tensor *whole, const ac_ints *index)
{
    bool all = !l->base && !l->whole && index->n == l->n;
    if (!whole || !whole->rank || whole->dim[0] != index->n)
        return (void)ac_error(n->r->cx, n->b.at, E0104, "%d indices for '%s'", index->n, whole ? whole->name : ""),
               NULL;
    for (int32_t i = 0; i < index->n; i++)
        all &= index->v[i] == i;
    if (all && whole->dtype == l->dtype) {
        ac_tf_list *own = ac_tf_list_new(n, l->dtype, l->n);
        if (own) {
            *own = *l;
            own->whole = whole;
        }
        return own;
    }
    for (int32_t i = 0; l && i < index->n; i++)
        l = ac_tf_list_written(n, l, index->v[i], part_of(n, whole, i));
    return l;
}
