/* late_lists.c - arrays of tensors whose length, or the index of an access, depends on data: all elements are one
 * tensor, counted along dimension 0; see list_values.h. */
#include "base/shell.h"
#include "import/build/bounds.h"
#include "import/build/compose_bounded.h"
#include "import/build/counted.h"
#include "import/build/params.h"
#include "import/tf/list_values.h"

#include <string.h>

ac_tensor *ac_tf_list_length(ac_tf_op *n, const ac_tf_list *l, ac_dtype type)
{
    return l->count ? ac_make_cast(&n->b, ac_make_reshape(&n->b, l->count, 0, NULL), type)
                    : ac_make_number(&n->b, type, (double)l->n);
}

ac_tensor *ac_tf_list_get_late(ac_tf_op *n, const ac_tf_list *l, ac_tensor *at)
{
    ac_tensor *whole = ac_tf_list_stack_all(n, l);
    return ac_make_gather_there(&n->b, whole, 0, ac_make_reshape(&n->b, at, 0, NULL));
}

/* All elements of l as one tensor of at least `room` elements, without a count. */
static ac_tensor *with_room(ac_tf_op *n, const ac_tf_list *l, int64_t room)
{
    int32_t rank;
    int64_t dim[AC_MAX_RANK + 1] = {room};
    if (!l->n && ac_tf_list_element_shape(l, &rank, dim + 1) && rank < AC_MAX_RANK)
        return ac_make_broadcast(&n->b, ac_make_number(&n->b, l->dtype, 0), rank + 1, dim);
    ac_tensor *whole = ac_tf_list_stack_all(n, l);
    return whole && room > l->n ? ac_make_counted_longer(&n->b, whole, 0, room) : whole;
}

/* *room: the most elements after a write that may make the array longer. In the body of a loop that is one more than
 * before, and import/build/flow/carried.c bounds the length after all iterations. AC_FAIL: refused */
static int room_of(ac_tf_op *n, const ac_tf_list *l, int64_t *room)
{
    const int64_t said = ac_bound_of(&n->b, l->name);
    *room = said > l->n ? said : l->n;
    if (said >= 0 || n->r->here.turns) {
        *room += said < 0;
        return AC_OK;
    }
    n->r->reading->late = true;
    return ac_refuse(
        n->r->reading, n->b.at, E0203, n->node->op, "the length of the array depends on data and has no bound",
        l->name ? ac_strf(n->r->cx->region, "limit its elements: --bound %s", ac_shell_set(n->r->cx, l->name, "N"))
                : "create it with all of its elements");
}

const ac_tf_list *ac_tf_list_written_late(ac_tf_op *n, const ac_tf_list *l, ac_tensor *at, ac_tensor *item)
{
    int64_t dim[AC_MAX_RANK], room = l->n;
    int32_t rank;
    ac_tensor *count = l->count;
    ac_tf_list *own = ac_copy(n->r->cx->region, l, sizeof *l);
    if (!ac_tf_list_element_shape(l, &rank, dim)) {
        own->rank = item->rank;
        memcpy(own->dim, item->dim, sizeof own->dim);
    }
    if (item->dtype != l->dtype)
        return (void)ac_error(n->r->cx, n->b.at, E0105, "'%s' is %s, the array %s", item->name,
                              ac_dtype_name(item->dtype), ac_dtype_name(l->dtype)),
               NULL;
    if (item->count)
        return (void)ac_cannot(&n->b, "only data decides how many elements '%s' has", item->name), NULL;
    if (l->grows && room_of(n, l, &room) != AC_OK)
        return NULL;
    ac_tensor *whole = with_room(n, own, room);
    if (whole &&
        (whole->rank != item->rank + 1 || memcmp(whole->dim + 1, item->dim, (size_t)item->rank * sizeof *dim) != 0))
        return (void)ac_error(n->r->cx, n->b.at, E0104, "'%s' is %s, the elements of the array are %s", item->name,
                              ac_shape_str(n->r->cx, item), ac_dims_str(n->r->cx, whole->rank - 1, whole->dim + 1)),
               NULL;
    if (!whole)
        return NULL;
    if (l->grows) {
        at = ac_make_cast(&n->b, ac_make_reshape(&n->b, at, 0, NULL), AC_I64);
        ac_tensor *here = ac_tf_list_length(n, l, AC_I64);
        count =
            ac_make_2(&n->b, AC_OP_MAXIMUM, here, ac_make_2(&n->b, AC_OP_ADD, at, ac_make_number(&n->b, AC_I64, 1)));
        if (ac_bound_of(&n->b, l->name) >= 0)
            count = ac_make_2(&n->b, AC_OP_MINIMUM, count, ac_make_number(&n->b, AC_I64, (double)room));
        if (!count)
            return NULL;
    }
    ac_tensor *was = whole->count;
    whole->count = NULL;
    ac_tensor *y = ac_make_put(&n->b, whole, item, at);
    whole->count = was;
    ac_tf_list *made =
        y ? ac_copy(n->r->cx->region, ac_tf_list_of(n, l, count ? ac_counted_as(y, count, 0) : y), sizeof *l) : NULL;
    if (made)
        made->grows = l->grows;
    return made;
}

const ac_tf_list *ac_tf_list_scattered_late(ac_tf_op *n, const ac_tf_list *l, ac_tensor *whole, ac_tensor *index)
{
    int64_t dim[AC_MAX_RANK] = {l->n};
    const int64_t column[] = {ac_tensor_count(index), 1};
    if (l->base || l->whole || l->grows)
        return (void)ac_cannot(&n->b, "it writes elements selected by data into an array that already has elements"),
               NULL;
    if (!whole->rank || whole->dtype != l->dtype || index->rank != 1)
        return (void)ac_error(n->r->cx, n->b.at, E0104, "'%s' is %s, the indices %s", whole->name,
                              ac_tensor_str(n->r->cx, whole), ac_tensor_str(n->r->cx, index)),
               NULL;
    memcpy(dim + 1, whole->dim + 1, (size_t)(whole->rank - 1) * sizeof *dim);
    ac_tensor *in[] = {ac_make_reshape(&n->b, index, 2, column), whole, ac_make_ints(&n->b, whole->rank, dim)};
    ac_tensor *y = in[0] ? ac_make_op(&n->b, AC_OP_SCATTER_ND, in, 3, NULL, AC_NONE) : NULL;
    return y ? ac_tf_list_of(n, l, l->count ? ac_counted_as(y, l->count, 0) : y) : NULL;
}

const ac_tf_list *ac_tf_list_pushed(ac_tf_op *n, const ac_tf_list *l, ac_tensor *item)
{
    int64_t dim[AC_MAX_RANK] = {1};
    if (!l->count) {
        l = ac_tf_list_resized(n, l, l->n + 1);
        return l ? ac_tf_list_written(n, l, l->n - 1, item) : NULL;
    }
    if (item->count || item->rank >= AC_MAX_RANK)
        return (void)ac_cannot(&n->b, "only data decides how many elements '%s' has", item->name), NULL;
    memcpy(dim + 1, item->dim, (size_t)item->rank * sizeof *dim);
    ac_tensor *x[] = {ac_tf_list_stack_all(n, l), ac_make_reshape(&n->b, item, item->rank + 1, dim)};
    return x[0] && x[1] ? ac_tf_list_of(n, l, ac_make_concat(&n->b, x, 2, 0)) : NULL;
}

const ac_tf_list *ac_tf_list_popped(ac_tf_op *n, const ac_tf_list *l, ac_tensor **item)
{
    if (!l->count) {
        *item = ac_tf_list_get(n, l, l->n - 1);
        return l->n ? ac_tf_list_resized(n, l, l->n - 1) : l;
    }
    ac_tensor *one = ac_make_number(&n->b, AC_I32, 1);
    ac_tensor *last = ac_make_2(&n->b, AC_OP_SUB, ac_tf_list_length(n, l, AC_I32), one);
    ac_tensor *whole = ac_tf_list_stack_all(n, l);
    *item = last ? ac_tf_list_get_late(n, l, last) : NULL;
    return whole ? ac_tf_list_of(n, l, ac_make_counted_slice(&n->b, whole, 0, -1)) : NULL;
}
