/* counted_operands.c - replaces dynamically sized operands (counted.h) before a node is created, so that their invalid
 * elements do not affect the valid ones of its result. */
#include "import/build/counted.h"
#include "ir/ops/decode/axis.h"

#include <math.h>

/* The neutral value of op, which changes no result along a dimension; false: op has none in this type. */
static bool neutral(ac_op op, ac_dtype d, double *v)
{
    const bool real = ac_dtype_is_float(d);
    switch ((int)op) {
    case AC_OP_SUM:
    case AC_OP_CUMSUM:
    case AC_OP_REDUCE_ANY:
        *v = 0;
        return true;
    case AC_OP_REDUCE_PROD:
    case AC_OP_CUMPROD:
    case AC_OP_REDUCE_ALL:
        *v = 1;
        return true;
    case AC_OP_L2_NORMALIZATION:
        *v = 0;
        return real;
    case AC_OP_SOFTMAX:
    case AC_OP_LOG_SOFTMAX:
        *v = -HUGE_VAL;
        return real;
    case AC_OP_ARG_MAX:
    case AC_OP_REDUCE_MAX:
        *v = real ? -HUGE_VAL : (double)ac_dtype_min(d);
        return true;
    case AC_OP_ARG_MIN:
    case AC_OP_REDUCE_MIN:
        *v = real ? HUGE_VAL : d == AC_I64 ? 0x1.fffffffffffffp62 : (double)ac_dtype_max(d);
        return d != AC_U64;
    default:
        return false;
    }
}

ac_tensor *ac_make_counted_neutral(const ac_maker *b, ac_tensor *t, ac_op op)
{
    double v;
    return !t || !t->count ? t : neutral(op, t->dtype, &v) ? ac_make_counted_fill(b, t, v) : NULL;
}

/* The dimensions that an operator with a neutral value works along, and whether its result retains them. */
static bool axes_of(const ac_maker *b, const ac_node *n, uint32_t *axes, bool *stay)
{
    int32_t axis = n->in[0]->rank - 1;
    *stay = true;
    switch ((int)n->op) {
    case AC_OP_CUMSUM:
    case AC_OP_CUMPROD:
        if (ac_one_axis(b->cx, n, 1, -1, n->in[0]->rank, &axis) != AC_OK)
            return false;
        break;
    case AC_OP_ARG_MAX:
    case AC_OP_ARG_MIN:
        *stay = false;
        if (ac_arg_axis(b->cx, n, &axis) != AC_OK)
            return false;
        break;
    case AC_OP_SOFTMAX:
    case AC_OP_LOG_SOFTMAX:
    case AC_OP_L2_NORMALIZATION:
        break;
    default:
        *stay = false;
        return ac_reduce_axes(b->cx, n, axes) == AC_OK;
    }
    *axes = 1u << axis;
    return true;
}

/* The dynamically sized dimension of a broadcast; -1: none, or several. *most: the maximum size of dynamically sized
 * operands there; *whole: the size of the others, 0: all have one element; *differ: operands have different counts. */
static int32_t counted_together(ac_tensor *const *in, int32_t n_in, int32_t rank, int64_t *most, int64_t *whole,
                                bool *differ)
{
    const ac_tensor *count = NULL;
    int32_t e = -1;
    *most = *whole = 0;
    *differ = false;
    for (int32_t i = 0; i < n_in; i++) {
        const ac_tensor *x = in[i];
        if (!x || !x->count)
            continue;
        const int32_t at = x->count_dim + rank - x->rank;
        if (e >= 0 && at != e)
            return -1;
        *differ |= count && x->count != count;
        e = at;
        count = x->count;
        *most = x->dim[x->count_dim] > *most ? x->dim[x->count_dim] : *most;
    }
    for (int32_t i = 0; i < n_in && e >= 0; i++) {
        const int32_t d = in[i] && !in[i]->count ? e - (rank - in[i]->rank) : -1;
        if (d >= 0 && in[i]->dim[d] != 1)
            *whole = in[i]->dim[d];
    }
    return e;
}

/* Aligns operands of a broadcast that have different counts in one dimension, some perhaps none. At run time these
 * lengths are equal, or some are 1 and their single element is broadcast. So each operand is gathered at indices
 * clamped to its last valid element. */
static bool align(const ac_maker *b, ac_tensor *const *in, int32_t n_in, ac_tensor *own[3])
{
    ac_tensor *count = NULL;
    int32_t rank = 0;
    int64_t most, whole;
    bool differ;
    for (int32_t i = 0; i < n_in; i++)
        rank = in[i] && in[i]->rank > rank ? in[i]->rank : rank;
    if (counted_together(in, n_in, rank, &most, &whole, &differ) < 0 || (!differ && !whole))
        return false;
    ac_attrs a;
    ac_attrs_init(AC_OP_GATHER, &a);
    for (int32_t i = 0; i < n_in; i++) {
        ac_tensor *own_count = in[i] ? in[i]->count : NULL;
        own[i] = in[i];
        if (!own_count)
            continue;
        ac_tensor *n = ac_make_counted_extent(b, in[i], in[i]->count_dim), *zero, *last;
        zero = ac_make_number(b, AC_I64, 0);
        last = ac_make_2(b, AC_OP_MAXIMUM, ac_make_2(b, AC_OP_SUB, n, ac_make_number(b, AC_I64, 1)), zero);
        a.gather.axis = in[i]->count_dim;
        in[i]->count = NULL;
        ac_tensor *of[] = {in[i], ac_make_2(b, AC_OP_MINIMUM, ac_make_iota(b, whole ? whole : most), last)};
        own[i] = of[1] ? ac_make_op(b, AC_OP_GATHER, of, 2, &a, AC_NONE) : NULL;
        in[i]->count = own_count;
        ac_tensor *single = count ? ac_make_2(b, AC_OP_EQUAL, count, ac_make_number(b, AC_I64, 1)) : NULL;
        count = count ? ac_make_select(b, single, n, count) : n;
        if (!own[i] || !count)
            return false;
    }
    for (int32_t i = 0; i < n_in && !whole; i++)
        if (in[i] && in[i]->count)
            (void)ac_counted_as(own[i], count, in[i]->count_dim);
    return true;
}

/* Reverses along the dynamically sized dimension: a gather moves the valid elements to the end first, so that they come
 * first after the reversal. */
static bool reverse(const ac_maker *b, ac_tensor *const *in, ac_tensor *own[3])
{
    ac_tensor *x = in[0], *count = x->count;
    const void *data = count && ac_tensor_is_const(in[1]) ? ac_tensor_force(b->cx, in[1]) : NULL;
    bool along = false;
    for (int64_t i = 0; data && i < ac_tensor_count(in[1]); i++) {
        const int64_t axis = ac_dtype_get_int(in[1]->dtype, data, i);
        along |= (axis < 0 ? axis + x->rank : axis) == x->count_dim;
    }
    if (!along)
        return false;
    ac_attrs a;
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.axis = x->count_dim;
    const int64_t size = x->dim[x->count_dim];
    ac_tensor *n = ac_make_counted_extent(b, x, x->count_dim), *zero = ac_make_number(b, AC_I64, 0);
    ac_tensor *all = ac_make_number(b, AC_I64, (double)size);
    ac_tensor *at = ac_make_2(b, AC_OP_SUB, ac_make_iota(b, size), all);
    at = ac_make_2(b, AC_OP_MAXIMUM, ac_make_2(b, AC_OP_ADD, at, n), zero);
    x->count = NULL;
    ac_tensor *of[] = {x, at};
    own[0] = at ? ac_make_op(b, AC_OP_GATHER, of, 2, &a, AC_NONE) : NULL;
    own[1] = in[1];
    x->count = count;
    return ac_counted_as(own[0], count, x->count_dim) != NULL;
}

/* Matrix products sum over a dimension of both operands: sets invalid elements along it to 0. */
static bool matmul(const ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *a,
                   ac_tensor *own[3])
{
    const bool dense = op == AC_OP_FULLY_CONNECTED;
    const int32_t last[2] = {in[0]->rank - 1, in[1]->rank - 1};
    const int32_t sum[2] = {last[0] - (!dense && a->matmul.adj_x), last[1] - (!dense && !a->matmul.adj_y)};
    bool any = false;
    for (int32_t i = 0; i < n_in; i++)
        own[i] = in[i];
    for (int32_t i = 0; i < 2; i++)
        if (in[i]->count && in[i]->count_dim == sum[i]) {
            own[i] = ac_make_counted_fill(b, in[i], 0);
            any = true;
        }
    return any && own[0] && own[1];
}

/* Reductions of segments: invalid elements get the neutral value, and go to segment 0. */
static bool segments(const ac_maker *b, ac_op op, ac_tensor *const *in, ac_tensor *own[3])
{
    static const ac_op AS[][2] = {{AC_OP_UNSORTED_SEGMENT_SUM, AC_OP_SUM},
                                  {AC_OP_UNSORTED_SEGMENT_PROD, AC_OP_REDUCE_PROD},
                                  {AC_OP_UNSORTED_SEGMENT_MAX, AC_OP_REDUCE_MAX},
                                  {AC_OP_UNSORTED_SEGMENT_MIN, AC_OP_REDUCE_MIN}};
    ac_op as = AC_OP_NONE;
    for (size_t i = 0; i < sizeof AS / sizeof *AS; i++)
        as = AS[i][0] == op ? AS[i][1] : as;
    if (as == AC_OP_NONE || !in[1]->count || !in[0]->count || in[0]->count_dim != in[1]->count_dim)
        return false;
    own[0] = ac_make_counted_neutral(b, in[0], as);
    own[1] = ac_make_counted_fill(b, in[1], 0);
    own[2] = in[2];
    return own[0] && own[1];
}

/* Indices and values of SCATTER_ND, which adds: invalid ones add 0 to the first element. */
static bool scatter(const ac_maker *b, ac_tensor *const *in, ac_tensor *own[3])
{
    if (in[0]->count && in[0]->count_dim == in[0]->rank - 1)
        return false;
    own[0] = ac_make_counted_fill(b, in[0], 0);
    own[1] = ac_make_counted_fill(b, in[1], 0);
    own[2] = in[2];
    return own[0] && own[1] && (own[0] != in[0] || own[1] != in[1]);
}

bool ac_counted_operands(const ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs,
                         ac_tensor *own[3])
{
    ac_node probe = {.op = op, .name = b->name, .at = b->at, .in = (ac_tensor **)(uintptr_t)in, .n_in = n_in};
    uint32_t axes;
    bool stay;
    double v;
    ac_attrs_init(op, &probe.attrs);
    if (attrs)
        probe.attrs = *attrs;
    if (b->unsized || n_in > 3 || n_in < 1 || !in[0])
        return false;
    if (ac_ops[op].map)
        return align(b, in, n_in, own);
    if (op == AC_OP_SCATTER_ND && n_in == 3)
        return scatter(b, in, own);
    if ((op == AC_OP_BATCH_MATMUL || op == AC_OP_FULLY_CONNECTED) && n_in > 1)
        return matmul(b, op, in, n_in, &probe.attrs, own);
    if (n_in == 3)
        return segments(b, op, in, own);
    if (op == AC_OP_REVERSE_V2)
        return reverse(b, in, own);
    own[0] = in[0];
    own[1] = n_in > 1 ? in[1] : NULL;
    if (op == AC_OP_GATHER_ND && in[0]->count && in[1]->rank > 0 && in[0]->count_dim < in[1]->dim[in[1]->rank - 1]) {
        own[0] = ac_make_counted_fill(b, in[0], 0); /* indices select valid elements only */
        if (!in[1]->count)
            return own[0] != NULL;
    }
    if ((op == AC_OP_GATHER || op == AC_OP_GATHER_ND) && in[1]->count) {
        own[1] = ac_counted_as(ac_make_counted_fill(b, in[1], 0), in[1]->count, in[1]->count_dim);
        return own[0] && own[1];
    }
    if (!in[0]->count || !neutral(op, in[0]->dtype, &v) || !axes_of(b, &probe, &axes, &stay) ||
        !(axes >> in[0]->count_dim & 1))
        return false;
    own[0] = ac_make_counted_fill(b, in[0], v);
    if (stay)
        (void)ac_counted_as(own[0], in[0]->count, in[0]->count_dim);
    return own[0] != NULL;
}

bool ac_counted_mean(const ac_maker *b, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs, uint32_t *axes)
{
    const ac_node probe = {.op = AC_OP_MEAN,
                           .name = b->name,
                           .at = b->at,
                           .in = (ac_tensor **)(uintptr_t)in,
                           .n_in = n_in,
                           .attrs = *attrs};
    return in[0]->count && ac_dtype_is_float(in[0]->dtype) && (n_in < 2 || ac_tensor_is_const(in[1])) &&
           ac_reduce_axes(b->cx, &probe, axes) == AC_OK && *axes >> in[0]->count_dim & 1;
}
