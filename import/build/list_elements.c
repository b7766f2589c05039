/* list_elements.c - traces elements of lists of sizes back to the nodes that compute them; see list_elements.h. */
#include "import/build/list_elements.h"
#include "import/build/counted.h"
#include "import/build/reading.h"
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/slice.h"

#include <math.h>
#include <string.h>

ac_tensor *ac_bounded_count(const ac_maker *b, ac_tensor *size, int64_t most)
{
    size = ac_make_cast(b, ac_make_reshape(b, size, 0, NULL), AC_I64);
    size = ac_make_2(b, AC_OP_MINIMUM, size, ac_make_number(b, AC_I64, (double)most));
    return ac_make_2(b, AC_OP_MAXIMUM, size, ac_make_number(b, AC_I64, 0));
}

bool ac_known_element(const ac_maker *b, ac_tensor *t, int64_t i, double *v)
{
    ac_tensor *e = ac_list_element(b, t, &i);
    const void *data = e && ac_tensor_is_const(e) ? ac_tensor_force(b->cx, e) : NULL;
    if (data)
        *v = ac_dtype_get_num(e->dtype, data, i);
    return data != NULL;
}

/* Element i of a condition: 1 or 0; -1: computed at run time. A count never equals a negative number, which in a list
 * of sizes of an exporter means "keep this size". */
static int truth(const ac_maker *b, ac_tensor *cond, int64_t i)
{
    double v[2];
    int64_t most;
    if (ac_known_element(b, cond, i, &v[0]))
        return v[0] != 0;
    const ac_node *n = cond->def;
    if (!n || n->op != AC_OP_EQUAL || n->in[0]->rank != 1 || !ac_dims_equal(n->in[0], n->in[1]->rank, n->in[1]->dim))
        return -1;
    bool known[2];
    for (int32_t k = 0; k < 2; k++)
        known[k] = ac_known_element(b, n->in[k], i, &v[k]);
    if (known[0] && known[1])
        return v[0] == v[1];
    for (int32_t k = 0; k < 2; k++)
        if (known[k] && v[k] < 0 && ac_count_at(b, n->in[!k], i, &most))
            return 0;
    return -1;
}

/* The index of the operand of a sum whose element i is unchanged, since element i of the other operand is 0; -1:
 * neither. */
static int adds_nothing(const ac_maker *b, const ac_node *n, int64_t i)
{
    double v;
    for (int k = 0; k < 2; k++)
        if (ac_dtype_is_int(n->in[k]->dtype) && ac_tensor_count(n->in[k]) == ac_tensor_count(n->out[0]) &&
            ac_tensor_is_const(n->in[!k]) &&
            ac_known_element(b, n->in[!k], ac_tensor_count(n->in[!k]) == 1 ? 0 : i, &v) && v == 0)
            return k;
    return -1;
}

/* True if n reduces an operand of one element, so that its result equals the operand. */
static bool reduces_one(const ac_node *n)
{
    const bool any =
        n->op == AC_OP_SUM || n->op == AC_OP_REDUCE_PROD || n->op == AC_OP_REDUCE_MAX || n->op == AC_OP_REDUCE_MIN;
    return any && ac_tensor_count(n->in[0]) == 1 && !n->in[0]->count;
}

ac_tensor *ac_list_element(const ac_maker *b, ac_tensor *t, int64_t *i)
{
    enum { MOST_STEPS = 64 };
    for (int32_t step = 0; step < MOST_STEPS && t->def && !t->count; step++) {
        const ac_node *n = t->def;
        int32_t axis, batch;
        if (*i < 0 || *i >= ac_tensor_count(t))
            return NULL;
        if (n->op == AC_OP_RESHAPE || n->op == AC_OP_SQUEEZE || n->op == AC_OP_EXPAND_DIMS || reduces_one(n)) {
            t = n->in[0];
        } else if (n->op == AC_OP_CAST && ac_dtype_is_int(t->dtype) && ac_dtype_is_int(n->in[0]->dtype)) {
            t = n->in[0];
        } else if (n->op == AC_OP_CONCATENATION && (t->rank == 1 || n->attrs.axis.axis == 0)) {
            int32_t k = 0;
            while (k < n->n_in && *i >= ac_tensor_count(n->in[k]))
                *i -= ac_tensor_count(n->in[k++]);
            if (k == n->n_in)
                return NULL;
            t = n->in[k];
        } else if (n->op == AC_OP_ADD && t->rank <= 1 && adds_nothing(b, n, *i) >= 0) {
            t = n->in[adds_nothing(b, n, *i)];
        } else if (n->op == AC_OP_SELECT && t->rank == 1 && ac_dims_equal(n->in[0], 1, t->dim)) {
            const int yes = truth(b, n->in[0], *i);
            if (yes < 0 || !ac_dims_equal(n->in[yes ? 1 : 2], 1, t->dim))
                break;
            t = n->in[yes ? 1 : 2];
        } else if (n->op == AC_OP_PACK && (t->rank == 1 || n->attrs.axis.axis == 0) && ac_tensor_count(n->in[0])) {
            const int64_t each = ac_tensor_count(n->in[0]);
            t = n->in[*i / each];
            *i %= each;
        } else if ((n->op == AC_OP_SLICE || n->op == AC_OP_STRIDED_SLICE) && n->in[0]->rank == 1) {
            ac_slice s;
            if ((n->op == AC_OP_SLICE ? ac_slice_of(b->cx, n, &s) : ac_strided_slice_of(b->cx, n, &s)) != AC_OK)
                return NULL;
            *i = s.begin[0] + *i * s.step[0];
            t = n->in[0];
        } else if (n->op == AC_OP_GATHER && n->in[0]->rank == 1 && ac_tensor_is_const(n->in[1]) &&
                   ac_gather_of(b->cx, n, &axis, &batch) == AC_OK && !batch) {
            const void *at = ac_tensor_force(b->cx, n->in[1]);
            if (!at)
                return NULL;
            *i = ac_dtype_get_int(n->in[1]->dtype, at, *i);
            *i += *i < 0 ? n->in[0]->dim[0] : 0;
            t = n->in[0];
        } else {
            break;
        }
    }
    return *i >= 0 && *i < ac_tensor_count(t) ? t : NULL;
}

/* The count of a tensor of g that element i of c equals; NULL: none. */
static ac_tensor *count_in(const ac_maker *b, const ac_graph *g, const ac_tensor *c, int64_t i, int64_t *most)
{
    for (int32_t k = 0; c && !ac_tensor_is_const(c) && k < g->tensor.n; k++) {
        const ac_tensor *of = g->tensor.item[k];
        int64_t j = 0;
        if (of->count && ac_list_element(b, of->count, &j) == c && i == j) {
            *most = of->dim[of->count_dim];
            return of->count;
        }
    }
    return NULL;
}

/* The count of a tensor of this graph or of the main graph that element i of t equals; NULL: none. */
ac_tensor *ac_count_at(const ac_maker *b, ac_tensor *t, int64_t i, int64_t *most)
{
    const ac_tensor *c = ac_list_element(b, t, &i);
    *most = -1;
    ac_tensor *count = count_in(b, b->g, c, i, most);
    return !count && b->reading && b->reading->g != b->g ? count_in(b, b->reading->g, c, i, most) : count;
}

/* The number of flags that each element of n, a SUM, adds; -1: n is not a sum of flags. */
static int64_t flags_summed(const ac_node *n)
{
    const ac_node *from = n->op == AC_OP_SUM ? n->in[0]->def : NULL;
    const bool flags = from && from->op == AC_OP_CAST && from->in[0]->dtype == AC_BOOL && !from->in[0]->count;
    return flags && ac_tensor_count(n->out[0]) > 0 ? ac_tensor_count(n->in[0]) / ac_tensor_count(n->out[0]) : -1;
}

enum { MOST_DEPTH = 8, MOST_SIZE = 1 << 30 };

static int64_t most_of(const ac_maker *b, ac_tensor *t, int64_t i, int32_t depth);

/* An upper bound of the only element of n's result; -1: unknown. */
static int64_t most_made(const ac_maker *b, const ac_node *n, int32_t depth)
{
    int64_t most = -1;
    if (n->op == AC_OP_MINIMUM || n->op == AC_OP_REDUCE_MIN) {
        for (int32_t k = 0; k < (n->op == AC_OP_MINIMUM ? 2 : 1); k++)
            for (int64_t j = 0; j < ac_tensor_count(n->in[k]) && j < AC_MAX_RANK; j++) {
                const int64_t of = most_of(b, n->in[k], j, depth);
                most = of >= 0 && (most < 0 || of < most) ? of : most;
            }
        return most;
    }
    if (n->op == AC_OP_SUM)
        return flags_summed(n);
    if (n->op == AC_OP_SUB) { /* at most the minuend, if the subtrahend is not negative */
        int64_t of;
        double v = 0;
        const bool less = ac_count_at(b, n->in[1], 0, &of) || (ac_known_element(b, n->in[1], 0, &v) && v >= 0);
        most = less ? most_of(b, n->in[0], 0, depth) : -1;
        return most < 0 ? -1 : most > (int64_t)v ? most - (int64_t)v : 0;
    }
    if (n->op != AC_OP_MAXIMUM && n->op != AC_OP_ADD)
        return -1;
    const int64_t x = most_of(b, n->in[0], 0, depth), y = most_of(b, n->in[1], 0, depth);
    if (x < 0 || y < 0)
        return -1;
    most = n->op == AC_OP_ADD ? x + y : x > y ? x : y;
    return most <= MOST_SIZE ? most : -1;
}

static int64_t most_of(const ac_maker *b, ac_tensor *t, int64_t i, int32_t depth)
{
    int64_t most, at = i;
    ac_tensor *e = ac_list_element(b, t, &at);
    const void *data = e && ac_tensor_is_const(e) ? ac_tensor_force(b->cx, e) : NULL;
    if (data)
        return ac_dtype_get_int(e->dtype, data, at);
    if (ac_count_at(b, t, i, &most))
        return most;
    const ac_node *n = e ? e->def : NULL;
    return n && depth < MOST_DEPTH && ac_tensor_count(e) == 1 && ac_dtype_is_int(e->dtype) ? most_made(b, n, depth + 1)
                                                                                           : -1;
}

int64_t ac_most_of(const ac_maker *b, ac_tensor *t, int64_t i)
{
    return most_of(b, t, i, 0);
}

ac_tensor *ac_count_behind(const ac_maker *b, ac_tensor *t, int64_t *most)
{
    return ac_tensor_count(t) == 1 ? ac_count_at(b, t, 0, most) : NULL;
}

ac_tensor *ac_bounded(const ac_maker *b, ac_tensor *t, ac_tensor *count, int32_t dim)
{
    const bool constant = t && count && ac_tensor_is_const(t);
    t = ac_counted_as(t, count, dim);
    return constant ? ac_counted_as(ac_make_counted_fill(b, t, 0), count, dim) : t;
}

bool ac_is_count(const ac_maker *b, ac_tensor *t)
{
    enum { MOST_SIZES = 2 * AC_MAX_RANK }; /* pads; a longer list is not a list of sizes */
    bool found = false;
    int64_t most;
    for (int64_t i = 0; !found && !ac_tensor_is_const(t) && i < ac_tensor_count(t) && i < MOST_SIZES; i++)
        found = ac_count_at(b, t, i, &most) != NULL;
    return found;
}
