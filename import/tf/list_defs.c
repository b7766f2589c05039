/* list_defs.c - arrays of tensors: TensorArray (v1) and TensorList (v2). Their sizes and indices are known when loops
 * are unrolled, so an array is the list of its elements and never exists in memory as a whole, unless a loop
 * needs that, whose trip count or whose index depends on data.
 *
 * A TensorArray has a handle and a flow, a number that orders its uses; here the flow is the list, and the handle the
 * empty one. */
#include "import/build/bounds.h"
#include "import/build/counted.h"
#include "import/build/params.h"
#include "import/tf/list_values.h"
#include "import/tf/nodedefs.h"

#include <string.h>

#define RESULT(t) ac_tf_result(n, 0, t)

/* ------------------------------------------------------------------ operands and results */

static int bind(ac_tf_op *n, int32_t i, const ac_tf_list *list)
{
    if (!list)
        return AC_FAIL;
    if (i < n->n_out)
        n->out[i] = (ac_tf_value){.kind = AC_TF_LIST, .list = list};
    return AC_OK;
}

static const ac_tf_list *list_of(ac_tf_op *n, int32_t i)
{
    if (i < n->n_in && n->in[i].kind == AC_TF_LIST)
        return n->in[i].list;
    (void)ac_error(n->r->cx, n->b.at, E0105, "input %d is not an array of tensors", i);
    return NULL;
}

static ac_tensor *tensor_of(ac_tf_op *n, int32_t i)
{
    if (i < n->n_in && n->t[i])
        return n->t[i];
    (void)ac_error(n->r->cx, n->b.at, E0105, "input %d is not a tensor", i);
    return NULL;
}

/* The element that input i names: known, or taken from all of them at run time. */
static ac_tensor *read_at(ac_tf_op *n, const ac_tf_list *l, int32_t i)
{
    int64_t v;
    ac_tensor *index = tensor_of(n, i);
    if (!index)
        return NULL;
    if (ac_operand_known(&n->b, &n->t[i]))
        return ac_operand_int(&n->b, &n->t[i], &v) == AC_OK ? ac_tf_list_get(n, l, v) : NULL;
    return ac_tf_list_get_late(n, l, index);
}

static int index_of(ac_tf_op *n, int32_t i, int64_t *at)
{
    return tensor_of(n, i) ? ac_operand_int(&n->b, &n->t[i], at) : AC_FAIL;
}

/* The list with element `input i` replaced by t. An index that depends on data makes all elements one tensor. */
static const ac_tf_list *write_at(ac_tf_op *n, const ac_tf_list *l, int32_t i, ac_tensor *t)
{
    int64_t at;
    if (!l || !t || !tensor_of(n, i))
        return NULL;
    (void)ac_bound_of(&n->b, l->grows ? l->name : NULL);
    if (!l->count && ac_operand_known(&n->b, &n->t[i]))
        return index_of(n, i, &at) == AC_OK ? ac_tf_list_written(n, l, at, t) : NULL;
    return ac_tf_list_written_late(n, l, n->t[i], t);
}

/* An array of `input i` elements; if that depends on data, of the maximum size, with a count. */
static ac_tf_list *list_of_size(ac_tf_op *n, ac_dtype dtype, int32_t i)
{
    const int64_t one = 1;
    int64_t known;
    ac_late_sizes s = {.count = NULL};
    if (dtype == AC_NONE || !tensor_of(n, i))
        return NULL;
    if (ac_tensor_count(n->t[i]) != 1)
        return (void)ac_error(n->r->cx, n->b.at, E0104, "'%s' is %s, expected one number", n->t[i]->name,
                              ac_tensor_str(n->r->cx, n->t[i])),
               NULL;
    (void)ac_bound_of(&n->b, n->node->name);
    if (!ac_is_count(&n->b, n->t[i]) && ac_operand_known(&n->b, &n->t[i])) {
        if (index_of(n, i, &known) != AC_OK)
            return NULL;
        s.dim[0] = known;
    } else {
        ac_tensor *size = ac_make_reshape(&n->b, n->t[i], 1, &one);
        if (!size || ac_late_sizes_of(&n->b, &size, n->node->name, &s) != AC_OK)
            return NULL;
    }
    ac_tf_list *l = ac_tf_list_new(n, dtype, s.dim[0]);
    if (l) {
        l->count = s.count;
        l->name = n->node->name;
    }
    return l;
}

/* ------------------------------------------------------------------ declared shapes */

/* element_shape: an attribute of arrays, an input of lists (a scalar -1: unknown). */
static int shape_attr(ac_tf_op *n, ac_tf_list *l)
{
    const ac_tf_attr *a = ac_tf_attr_of(n, "element_shape");
    const char *refused = NULL;
    if (l && a && a->shape.p && ac_tf_shape(&n->r->pb, a->shape, &l->rank, l->dim, &refused) != AC_OK)
        return refused ? ac_cannot(&n->b, "%s", refused) : AC_FAIL;
    return l ? AC_OK : AC_FAIL;
}

static int shape_input(ac_tf_op *n, int32_t i, ac_tf_list *l)
{
    ac_ints shape;
    const ac_tensor *t = tensor_of(n, i);
    if (!t || !l)
        return AC_FAIL;
    if (!t->rank)
        return AC_OK;
    AC_TRY(ac_operand_values(&n->b, &n->t[i], &shape));
    if (shape.n > AC_MAX_RANK)
        return ac_cannot(&n->b, "its elements have more than 8 dimensions");
    l->rank = shape.n;
    for (int32_t d = 0; d < shape.n; d++)
        l->dim[d] = shape.v[d];
    return AC_OK;
}

static void ignore(ac_tf_op *n)
{
    static const char *const NAME[] = {"clear_after_read",     "identical_element_shapes",
                                       "tensor_array_name",    "dtype",
                                       "element_dtype",        "shape_type",
                                       "element_shape",        "num_elements",
                                       "element_shape_except0"};
    for (size_t i = 0; i < sizeof NAME / sizeof *NAME; i++)
        ac_attr_skip(&n->attrs, NAME[i]);
}

/* ------------------------------------------------------------------ TensorArray */

int ac_tf_do_array(ac_tf_op *n)
{
    ac_tf_list *l = list_of_size(n, ac_attr_dtype(&n->attrs, A_dtype), 0);
    AC_TRY(shape_attr(n, l));
    l->grows = ac_attr_bool(&n->attrs, A_dynamic_size);
    ignore(n);
    AC_TRY(bind(n, 0, l));
    return bind(n, 1, l);
}

int ac_tf_do_array_read(ac_tf_op *n)
{
    const ac_tf_list *l = list_of(n, 2);
    ignore(n);
    return l ? RESULT(read_at(n, l, 1)) : AC_FAIL;
}

int ac_tf_do_array_write(ac_tf_op *n)
{
    const ac_tf_list *l = list_of(n, 3);
    return bind(n, 0, write_at(n, l, 1, tensor_of(n, 2)));
}

int ac_tf_do_array_scatter(ac_tf_op *n)
{
    ac_ints index;
    const ac_tf_list *l = list_of(n, 3);
    ac_tensor *t = tensor_of(n, 2);
    if (!l || !t || !tensor_of(n, 1))
        return AC_FAIL;
    if (l->count || n->t[1]->count)
        return bind(n, 0, ac_tf_list_scattered_late(n, l, t, n->t[1]));
    AC_TRY(ac_operand_values(&n->b, &n->t[1], &index));
    return bind(n, 0, ac_tf_list_scattered(n, l, t, &index));
}

static ac_tensor *gather_late(ac_tf_op *n, const ac_tf_list *l, ac_tensor *at)
{
    ac_tensor *whole = ac_tf_list_stack_all(n, l), *in[] = {whole, at};
    if (!whole)
        return NULL;
    return whole->count && whole->count_dim == 0 ? ac_make_counted_gather(&n->b, whole, at)
                                                 : ac_make_op(&n->b, AC_OP_GATHER, in, 2, NULL, AC_NONE);
}

static int gather(ac_tf_op *n, const ac_tf_list *l)
{
    ac_ints index;
    ignore(n);
    if (!l || !tensor_of(n, 1))
        return AC_FAIL;
    if (l->count || ac_is_count(&n->b, n->t[1]) || n->t[1]->count)
        return RESULT(gather_late(n, l, n->t[1]));
    AC_TRY(ac_operand_values(&n->b, &n->t[1], &index));
    return RESULT(ac_tf_list_stack(n, l, index.v, index.n));
}

int ac_tf_do_array_gather(ac_tf_op *n)
{
    return gather(n, list_of(n, 2));
}

static int length(ac_tf_op *n, const ac_tf_list *l)
{
    return l ? RESULT(ac_tf_list_length(n, l, AC_I32)) : AC_FAIL;
}

int ac_tf_do_array_size(ac_tf_op *n)
{
    return length(n, list_of(n, 1));
}

/* Of as many as data decides. */
static int joined_late(ac_tf_op *n, ac_tensor *x)
{
    int64_t dim[AC_MAX_RANK];
    if (!x || x->rank < 2)
        return x ? ac_error(n->r->cx, n->b.at, E0104, "its elements are scalars") : AC_FAIL;
    memcpy(dim + 1, x->dim + 2, (size_t)(x->rank - 2) * sizeof *dim);
    dim[0] = -1;
    AC_TRY(RESULT(ac_make_reshape(&n->b, x, x->rank - 1, dim)));
    ac_tensor *size = ac_make_broadcast(&n->b, ac_make_number(&n->b, AC_I64, (double)x->dim[1]), 1, x->dim);
    return ac_tf_result(n, 1, ac_bounded(&n->b, size, x->count, 0));
}

/* All elements one after the other along their own dimension 0, and how long each is. */
static int joined(ac_tf_op *n, const ac_tf_list *l)
{
    if (!l)
        return AC_FAIL;
    if (!l->n)
        return ac_cannot(&n->b, "it joins no elements");
    if (l->count)
        return joined_late(n, ac_tf_list_stack_all(n, l));
    ac_tensor **x = AC_NEW_N(n->r->cx->region, ac_tensor *, l->n + 1);
    int64_t *size = AC_NEW_N(n->r->cx->region, int64_t, l->n + 1);
    for (int64_t i = 0; i < l->n; i++) {
        x[i] = ac_tf_list_get(n, l, i);
        if (!x[i] || !x[i]->rank)
            return x[i] ? ac_error(n->r->cx, n->b.at, E0104, "element %lld is a scalar", (long long)i) : AC_FAIL;
        size[i] = x[i]->dim[0];
    }
    AC_TRY(RESULT(ac_make_concat(&n->b, x, (int32_t)l->n, 0)));
    return ac_tf_result(n, 1, ac_make_ints(&n->b, l->n, size));
}

int ac_tf_do_array_concat(ac_tf_op *n)
{
    ignore(n);
    return joined(n, list_of(n, 1));
}

/* ------------------------------------------------------------------ TensorList */

int ac_tf_do_list_reserve(ac_tf_op *n)
{
    const ac_dtype dtype = ac_attr_dtype(&n->attrs, A_element_dtype);
    const bool empty = n->node->op[0] == 'E'; /* EmptyTensorList(element_shape, most) */
    ac_tf_list *l = !empty ? list_of_size(n, dtype, 1) : dtype == AC_NONE ? NULL : ac_tf_list_new(n, dtype, 0);
    if (l)
        l->name = n->node->name;
    ignore(n);
    AC_TRY(shape_input(n, 0, l));
    return bind(n, 0, l);
}

int ac_tf_do_list_from_tensor(ac_tf_op *n)
{
    ac_tensor *t = tensor_of(n, 0);
    ignore(n);
    if (!t || !t->rank)
        return t ? ac_error(n->r->cx, n->b.at, E0104, "'%s' is a scalar", t->name) : AC_FAIL;
    ac_tf_list *l = ac_tf_list_new(n, t->dtype, t->dim[0]);
    AC_TRY(shape_input(n, 1, l));
    l->whole = t;
    l->count = t->count && t->count_dim == 0 ? t->count : NULL;
    l->name = n->node->name;
    return bind(n, 0, l);
}

int ac_tf_do_list_stack(ac_tf_op *n)
{
    const ac_tf_list *l = list_of(n, 0);
    ac_tf_list own;
    ignore(n);
    if (!l)
        return AC_FAIL;
    own = *l;
    AC_TRY(shape_input(n, 1, &own));
    if (l->rank < 0 && own.rank >= 0) { /* declares the shape of elements that were never written */
        ac_tf_list *keep = AC_NEW(n->r->cx->region, ac_tf_list);
        *keep = own;
        l = keep;
    }
    return RESULT(ac_tf_list_stack_all(n, l));
}

int ac_tf_do_list_get(ac_tf_op *n)
{
    const ac_tf_list *l = list_of(n, 0);
    ac_tf_list own;
    ignore(n);
    if (!l)
        return AC_FAIL;
    own = *l;
    if (l->rank < 0)
        AC_TRY(shape_input(n, 2, &own));
    return RESULT(read_at(n, &own, 1));
}

int ac_tf_do_list_set(ac_tf_op *n)
{
    const ac_tf_list *l = list_of(n, 0);
    ac_tensor *t = tensor_of(n, 2);
    ac_tf_list own;
    const bool grows = ac_attr_bool(&n->attrs, A_resize_if_index_out_of_bounds);
    ignore(n);
    if (!l || !t)
        return AC_FAIL;
    if (grows && !l->grows) {
        own = *l;
        own.grows = true;
        l = ac_copy(n->r->cx->region, &own, sizeof own);
    }
    return bind(n, 0, write_at(n, l, 1, t));
}

int ac_tf_do_list_push(ac_tf_op *n)
{
    const ac_tf_list *l = list_of(n, 0);
    ac_tensor *t = tensor_of(n, 1);
    ignore(n);
    return l && t ? bind(n, 0, ac_tf_list_pushed(n, l, t)) : AC_FAIL;
}

int ac_tf_do_list_pop(ac_tf_op *n)
{
    const ac_tf_list *l = list_of(n, 0);
    ignore(n);
    ac_tensor *item = NULL;
    l = l ? ac_tf_list_popped(n, l, &item) : NULL;
    AC_TRY(bind(n, 0, l));
    return ac_tf_result(n, 1, item);
}

int ac_tf_do_list_length(ac_tf_op *n)
{
    return length(n, list_of(n, 0));
}

int ac_tf_do_list_resize(ac_tf_op *n)
{
    int64_t count;
    const ac_tf_list *l = list_of(n, 0);
    AC_TRY(index_of(n, 1, &count));
    return l ? bind(n, 0, ac_tf_list_resized(n, l, count)) : AC_FAIL;
}

int ac_tf_do_list_element_shape(ac_tf_op *n)
{
    const ac_tf_list *l = list_of(n, 0);
    const ac_dtype type = ac_attr_dtype(&n->attrs, A_shape_type);
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    if (!l || type == AC_NONE)
        return AC_FAIL;
    if (!ac_tf_list_element_shape(l, &rank, dim))
        return ac_cannot(&n->b, "the shape of its elements is unknown");
    return RESULT(ac_make_cast(&n->b, ac_make_ints(&n->b, rank, dim), type));
}

int ac_tf_do_list_gather(ac_tf_op *n)
{
    return gather(n, list_of(n, 0));
}

/* TensorListScatter(tensor, indices, shape[, count]); without a count the array ends after the largest index. */
int ac_tf_do_list_scatter(ac_tf_op *n)
{
    ac_ints index;
    int64_t count = 0;
    ac_tensor *t = tensor_of(n, 0);
    ignore(n);
    if (!t || !tensor_of(n, 1))
        return AC_FAIL;
    AC_TRY(ac_operand_values(&n->b, &n->t[1], &index));
    for (int32_t i = 0; i < index.n; i++)
        count = index.v[i] >= count && index.v[i] < AC_TF_LIST_MOST ? index.v[i] + 1 : count;
    if (n->n_in > 3) {
        int64_t given;
        AC_TRY(index_of(n, 3, &given));
        count = given >= 0 ? given : count;
    }
    ac_tf_list *l = ac_tf_list_new(n, t->dtype, count);
    AC_TRY(shape_input(n, 2, l));
    return bind(n, 0, ac_tf_list_scattered(n, l, t, &index));
}

int ac_tf_do_list_concat(ac_tf_op *n)
{
    ignore(n);
    return joined(n, list_of(n, 0));
}
