/* bounded_nodes.c - ONNX operators one of whose sizes may be computed at run time: Range, Expand, Slice (and
 * ConstantOfShape in shape_nodes.c, scans of Loop in loop_nodes.c). Their results are as long as they may become, with
 * a count (import/build/bounds.h). */
#include "import/build/bounds.h"
#include "import/build/counted.h"
#include "import/build/operands.h"
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *ac_onx_result_name(const ac_onx_node *n, int32_t i)
{
    return i < n->n_out && n->out[i] ? n->out[i]->name : NULL;
}

static ac_tensor *number(ac_onx_node *n, double v)
{
    return ac_onx_number(n, AC_I64, v);
}

/* Is t the constant v? */
static bool is_number(ac_onx_node *n, ac_tensor *t, double v)
{
    const void *data = ac_tensor_is_const(t) ? ac_tensor_force(n->r->cx, t) : NULL;
    return data && ac_dtype_get_num(t->dtype, data, 0) == v;
}

/* ------------------------------------------------------------------ Range */

/* ceil((limit - start) / delta), exactly for integers. */
static ac_tensor *steps(ac_onx_node *n, ac_tensor *start, ac_tensor *limit, ac_tensor *delta)
{
    const bool real = ac_dtype_is_float(start->dtype);
    ac_tensor *far = ac_onx_2(n, AC_OP_SUB, limit, start);
    if (real) {
        ac_attrs none;
        ac_attrs_init(AC_OP_CEIL, &none);
        ac_tensor *q = ac_onx_2(n, AC_OP_DIV, far, delta);
        return q ? ac_onx_cast(n, ac_onx_make(n, AC_OP_CEIL, &q, 1, &none, AC_NONE), AC_I64) : NULL;
    }
    far = ac_onx_cast(n, far, AC_I64);
    delta = ac_onx_cast(n, delta, AC_I64);
    ac_tensor *back = ac_onx_2(n, AC_OP_SUB, number(n, 0), far);
    return ac_onx_2(n, AC_OP_SUB, number(n, 0), ac_onx_2(n, AC_OP_FLOOR_DIV, back, delta));
}

static int late_range(ac_onx_node *n, ac_tensor *late)
{
    const ac_dtype d = n->in[0]->dtype;
    const char *name = ac_onx_result_name(n, 0);
    ac_tensor *v[3], *count = NULL;
    int64_t most = ac_bound_of(&n->b, name), known;
    if (!n->r->reading->again)
        return ac_operand_late(&n->b, late);
    for (int32_t i = 0; i < 3; i++) {
        if (ac_tensor_count(n->in[i]) != 1 || n->in[i]->dtype != d)
            return ac_build_bad(&n->b, "'%s' is %s, expected one %s", n->in[i]->name, ac_tensor_str(n->r->cx, n->in[i]),
                                ac_dtype_name(d));
        v[i] = ac_onx_reshape(n, n->in[i], 0, NULL);
    }
    if (!v[0] || !v[1] || !v[2])
        return AC_FAIL;
    if (is_number(n, v[2], 0))
        return ac_error(n->r->cx, n->at, E0103, "a range by 0");
    /* one number for each element of a counted tensor: counted by the same */
    if (is_number(n, v[0], 0) && is_number(n, v[2], 1) && (count = ac_count_behind(&n->b, v[1], &known))) {
        if (most >= 0 && most < known)
            count = NULL;
        else
            most = known;
    }
    if (most < 0)
        return ac_bound_missing(&n->b, late, name);
    if (!count)
        count = ac_bounded_count(&n->b, steps(n, v[0], v[1], v[2]), most);
    ac_tensor *at = ac_onx_cast(n, ac_build_iota(&n->b, most), d);
    ac_tensor *y = ac_onx_2(n, AC_OP_ADD, v[0], ac_onx_2(n, AC_OP_MUL, at, v[2]));
    return count ? ac_onx_result(n, 0, ac_bounded(&n->b, y, count, 0)) : AC_FAIL;
}

/* start + i * delta for all i before limit. Where everything is known the result is a constant. */
int ac_onx_do_range(ac_onx_node *n)
{
    enum { MOST = 1 << 20 };
    double v[3];
    const ac_dtype d = n->in[0]->dtype;
    (void)ac_bound_of(&n->b, ac_onx_result_name(n, 0));
    for (int32_t i = 0; i < 3; i++)
        if (ac_is_count(&n->b, n->in[i]) || !ac_operand_known(&n->b, &n->in[i]))
            return late_range(n, n->in[i]);
    for (int32_t i = 0; i < 3; i++) {
        AC_TRY(ac_operand_scalar(&n->b, &n->in[i], &v[i]));
        if (n->in[i]->dtype != d)
            return ac_error(n->r->cx, n->at, E0105, "'%s' is %s, but '%s' is %s", n->in[i]->name,
                            ac_dtype_name(n->in[i]->dtype), n->in[0]->name, ac_dtype_name(d));
        if (ac_dtype_is_int(d) && !(v[i] >= -9e15 && v[i] <= 9e15))
            return ac_build_cannot(&n->b, "its numbers are above 9e15");
    }
    const double steps = ceil((v[1] - v[0]) / v[2]);
    if (v[2] == 0 || steps != steps)
        return ac_error(n->r->cx, n->at, E0103, "a range from %g to %g by %g", v[0], v[1], v[2]);
    if (steps > MOST)
        return ac_build_cannot(&n->b, "it has %g elements", steps);
    const int64_t count = steps > 0 ? (int64_t)steps : 0;
    const size_t size = (size_t)ac_dtype_size(d, 1);
    uint8_t *data = ac_alloc_n(n->r->cx->region, (uint64_t)count + 1, size);
    for (int64_t i = 0; i < count; i++)
        memcpy(data + (size_t)i * size, ac_onx_number(n, d, v[0] + (double)i * v[2])->data, size);
    return ac_onx_result(n, 0, ac_tensor_const(n->r->g, n->name, d, 1, &count, data));
}

/* ------------------------------------------------------------------ Expand */

/* Both sides broadcast: a 1 in the new shape keeps the input's size. */
int ac_onx_do_expand(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    ac_late_sizes s;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_late_sizes_of(&n->b, &n->in[1], ac_onx_result_name(n, 0), &s));
    const int32_t rank = s.n > x->rank ? s.n : x->rank, at = rank - s.n + s.at;
    if (rank > AC_MAX_RANK)
        return ac_refuse(n->r->reading, n->at, E0205, n->type, "the result has more than 8 dimensions", NULL);
    for (int32_t d = 0; d < rank; d++) {
        const int32_t i = d - (rank - x->rank), k = d - (rank - s.n);
        const int64_t own = i < 0 ? 1 : x->dim[i], want = k < 0 ? 1 : s.dim[k];
        dim[d] = want == 1 ? own : want;
        if (s.count && d == at && own != 1) {
            /* the size is that of x, or 1: x keeps its own */
            dim[d] = own;
            s.count = NULL;
        }
    }
    if (s.count && x->count)
        return ac_operand_late(&n->b, n->in[1]);
    ac_tensor *y = ac_onx_broadcast(n, x, rank, dim);
    return ac_onx_result(n, 0, s.count ? ac_bounded(&n->b, y == x ? NULL : y, s.count, at) : y);
}

/* ------------------------------------------------------------------ Slice */

/* begin or end of a slice: i64 scalar in 0 .. size. */
static ac_tensor *place(ac_onx_node *n, ac_tensor *t, int64_t size)
{
    t = ac_onx_cast(n, ac_onx_reshape(n, t, 0, NULL), AC_I64);
    ac_tensor *back = ac_onx_2(n, AC_OP_ADD, t, number(n, (double)size));
    ac_tensor *below = ac_onx_2(n, AC_OP_LESS, t, number(n, 0));
    t = below && back ? ac_onx_select(n, below, back, t) : NULL;
    return ac_onx_2(n, AC_OP_MAXIMUM, ac_onx_2(n, AC_OP_MINIMUM, t, number(n, (double)size)), number(n, 0));
}

bool ac_onx_is_late_slice(ac_onx_node *n)
{
    if (n->version < 10 || !n->r->reading->again)
        return false;
    (void)ac_bound_of(&n->b, ac_onx_result_name(n, 0));
    for (int32_t i = 1; i < 5; i++)
        if (ac_onx_in(n, i) && ac_tensor_count(n->in[i]) != 1)
            return false;
    return n->n_in > 2 && n->in[1] && n->in[2] &&
           (!ac_operand_known(&n->b, &n->in[1]) || !ac_operand_known(&n->b, &n->in[2]));
}

int ac_onx_late_slice(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    double axis = 0, step = 1;
    int32_t d;
    if (ac_onx_in(n, 3))
        AC_TRY(ac_operand_scalar(&n->b, &n->in[3], &axis));
    if (ac_onx_in(n, 4))
        AC_TRY(ac_operand_scalar(&n->b, &n->in[4], &step));
    AC_TRY(ac_onx_axis(n, (int64_t)axis, x->rank, &d));
    if (step != 1 || x->count)
        return ac_operand_late(&n->b, ac_tensor_is_const(n->in[1]) ? n->in[2] : n->in[1]);
    const int64_t size = x->dim[d], said = ac_bound_of(&n->b, ac_onx_result_name(n, 0));
    const int64_t most = said >= 0 && said < size ? said : size;
    ac_tensor *from = place(n, n->in[1], size), *to = place(n, n->in[2], size);
    ac_tensor *count = from && to ? ac_bounded_count(&n->b, ac_onx_2(n, AC_OP_SUB, to, from), most) : NULL;
    ac_tensor *at = ac_onx_2(n, AC_OP_ADD, from, ac_build_iota(&n->b, most));
    ac_attrs a;
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.axis = d;
    ac_tensor *in[] = {x, ac_onx_2(n, AC_OP_MINIMUM, at, number(n, (double)(size - 1)))};
    if (!count || !in[1] || size < 1)
        return AC_FAIL;
    return ac_onx_result(n, 0, ac_counted_as(ac_onx_make(n, AC_OP_GATHER, in, 2, &a, AC_NONE), count, d));
}
