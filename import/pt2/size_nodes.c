/* size_nodes.c - numbers of PyTorch's graphs: sizes of tensors, and numbers computed from them. Sizes are known when
 * nodes are made, so most of it is computed here; numbers that are read from tensors are scalars at run time. */
#include "import/pt2/nodes.h"

#include "import/build/counted.h"

#include <math.h>
#include <string.h>

int ac_ep_do_sym_size(ac_ep_node *n)
{
    const ac_tensor *x = n->in[0];
    int32_t d;
    AC_TRY(ac_ep_axis(n, A_need_dim, x->rank, &d));
    if (!x->rank)
        return ac_bad(&n->b, "'%s' is a scalar", x->name);
    if (x->count && x->count_dim == d)
        return ac_ep_value_number(n, n->out[0], ac_make_counted_extent(&n->b, x, d));
    return ac_ep_result_number(n, AC_I64, (double)x->dim[d], x->dim[d]);
}

int ac_ep_do_sym_numel(ac_ep_node *n)
{
    const int64_t all = ac_tensor_count(n->in[0]);
    if (n->in[0]->count)
        return ac_ep_value_number(n, n->out[0], ac_make_counted_size(&n->b, n->in[0]));
    return ac_ep_result_number(n, AC_I64, (double)all, all);
}

/* Of a dense tensor. */
int ac_ep_do_sym_stride(ac_ep_node *n)
{
    const ac_tensor *x = n->in[0];
    int32_t d;
    int64_t step = 1;
    AC_TRY(ac_ep_axis(n, A_need_dim, x->rank, &d));
    for (int32_t k = d + 1; k < x->rank; k++)
        step *= x->dim[k];
    return ac_ep_result_number(n, AC_I64, (double)step, step);
}

int ac_ep_do_sym_zero(ac_ep_node *n)
{
    return ac_ep_result_number(n, AC_I64, 0, 0);
}

int ac_ep_do_item(ac_ep_node *n)
{
    if (!n->n_out || !n->out[0])
        return AC_OK;
    return ac_ep_value_number(n, n->out[0], n->in[0]);
}

int ac_ep_do_nothing(ac_ep_node *n)
{
    n->asked = UINT64_MAX;
    return AC_OK;
}

/* ------------------------------------------------------------------ arithmetic */

typedef struct number {
    double f;
    int64_t i;
    bool real, truth;
} number;

static number whole(int64_t v)
{
    return (number){.f = (double)v, .i = v};
}

static int64_t floor_of(int64_t x, int64_t y)
{
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

static number power(number x, number y)
{
    int64_t v = 1;
    if (x.real || y.real || y.i < 0 || y.i > 62)
        return (number){.f = pow(x.f, y.f), .real = true};
    for (int64_t k = 0; k < y.i; k++)
        if (!ac_mul_ok(v, x.i, &v))
            return (number){.f = pow(x.f, y.f), .real = true};
    return whole(v);
}

static number of_reals(ac_op op, double x, double y)
{
    const double v = op == AC_OP_ADD         ? x + y
                     : op == AC_OP_SUB       ? x - y
                     : op == AC_OP_MUL       ? x * y
                     : op == AC_OP_FLOOR_DIV ? floor(x / y)
                     : op == AC_OP_FLOOR_MOD ? x - floor(x / y) * y
                     : op == AC_OP_MAXIMUM   ? (x > y ? x : y)
                     : op == AC_OP_MINIMUM   ? (x < y ? x : y)
                                             : x / y;
    return (number){.f = v, .real = true};
}

static bool compare(ac_op op, double x, double y)
{
    return op == AC_OP_EQUAL         ? x == y
           : op == AC_OP_NOT_EQUAL   ? x != y
           : op == AC_OP_LESS        ? x < y
           : op == AC_OP_LESS_EQUAL  ? x <= y
           : op == AC_OP_GREATER     ? x > y
           : op == AC_OP_LOGICAL_AND ? x != 0 && y != 0
           : op == AC_OP_LOGICAL_OR  ? x != 0 || y != 0
                                     : x >= y;
}

/* false: an integer is out of range, or divided by 0. */
static bool of_integers(ac_op op, int64_t x, int64_t y, number *to)
{
    int64_t v = 0;
    bool good = true;
    if (op == AC_OP_ADD)
        good = ac_add_ok(x, y, &v);
    else if (op == AC_OP_SUB)
        good = y != INT64_MIN && ac_add_ok(x, -y, &v);
    else if (op == AC_OP_MUL)
        good = ac_mul_ok(x, y, &v);
    else if (op == AC_OP_MAXIMUM)
        v = x > y ? x : y;
    else if (op == AC_OP_MINIMUM)
        v = x < y ? x : y;
    else if ((good = y != 0 && y != -1))
        v = op == AC_OP_FLOOR_DIV ? floor_of(x, y) : x - floor_of(x, y) * y;
    else if ((good = y == -1 && x != INT64_MIN))
        v = op == AC_OP_FLOOR_DIV ? -x : 0;
    *to = whole(v);
    return good;
}

static bool apply_1(ac_op op, number x, number *to)
{
    *to = x;
    if (op == AC_OP_NEG)
        *to = x.real ? (number){.f = -x.f, .real = true} : whole(x.i == INT64_MIN ? 0 : -x.i);
    else if (op == AC_OP_LOGICAL_NOT)
        *to = (number){.f = x.f == 0, .i = x.f == 0, .truth = true};
    else if (op == AC_OP_SQRT)
        *to = (number){.f = sqrt(x.f), .real = true};
    else if (op == AC_OP_DEQUANTIZE)
        *to = (number){.f = x.f, .real = true};
    else if (x.real && fabs(x.f) < 0x1p62)
        *to = whole((int64_t)(op == AC_OP_CEIL ? ceil(x.f) : op == AC_OP_FLOOR ? floor(x.f) : x.f));
    return !x.real || fabs(x.f) < 0x1p62;
}

static bool apply(ac_op op, number x, number y, number *to)
{
    if (op == AC_OP_POW) {
        *to = power(x, y);
        return true;
    }
    if (op == AC_OP_EQUAL || op == AC_OP_NOT_EQUAL || op == AC_OP_LESS || op == AC_OP_LESS_EQUAL ||
        op == AC_OP_GREATER || op == AC_OP_GREATER_EQUAL || op == AC_OP_LOGICAL_AND || op == AC_OP_LOGICAL_OR) {
        const bool v = compare(op, x.f, y.f);
        *to = (number){.f = v, .i = v, .truth = true};
        return true;
    }
    if (x.real || y.real || op == AC_OP_DIV) {
        *to = of_reals(op, x.f, y.f);
        return true;
    }
    return of_integers(op, x.i, y.i, to);
}

/* At run time: the row's operator on scalars. */
static int at_run_time(ac_ep_node *n, const ac_ep_value *v, int32_t count)
{
    ac_tensor *t[2] = {NULL};
    ac_op op = n->row->op;
    bool real = op == AC_OP_DIV || op == AC_OP_DEQUANTIZE || op == AC_OP_SQRT;
    for (int32_t i = 0; i < count; i++)
        real |= v[i].type == AC_F64;
    for (int32_t i = 0; i < count; i++)
        t[i] = ac_make_cast(&n->b, ac_ep_number_tensor(n, &v[i]), real ? AC_F32 : AC_I64);
    if (op == AC_OP_CAST || op == AC_OP_DEQUANTIZE ||
        (count == 1 && !real && op != AC_OP_NEG && op != AC_OP_LOGICAL_NOT))
        return ac_ep_value_number(n, n->out[0], ac_make_cast(&n->b, t[0], op == AC_OP_DEQUANTIZE ? AC_F32 : AC_I64));
    if (op == AC_OP_LOGICAL_AND || op == AC_OP_LOGICAL_OR || op == AC_OP_LOGICAL_NOT)
        for (int32_t i = 0; i < count; i++)
            t[i] = t[i] ? OP2(NOT_EQUAL, t[i], NUM(t[i], 0)) : NULL;
    ac_tensor *y = count == 1 ? ac_make_1(&n->b, op, t[0]) : ac_make_2(&n->b, op, t[0], t[1]);
    if (op == AC_OP_CEIL || op == AC_OP_FLOOR)
        y = ac_make_cast(&n->b, y, AC_I64);
    return ac_ep_value_number(n, n->out[0], y);
}

int ac_ep_do_sizes_2(ac_ep_node *n)
{
    ac_ep_value v[2];
    number x[2], y;
    bool late = false;
    int32_t count = 0;
    if (!n->n_out || !n->out[0])
        return AC_OK;
    for (const ac_js_node *a = n->args ? n->args->first : NULL; a; a = a->next) {
        n->asked |= UINT64_C(1) << count;
        if (count == 2)
            return ac_bad(&n->b, "it has more than two operands");
        AC_TRY(ac_ep_number(n, ac_ep_tagged(ac_js_get(a, "arg")), &v[count]));
        if (v[count].kind != AC_EP_NUMBER)
            return ac_bad(&n->b, "operand %d is not a number", count);
        x[count] = (number){v[count].f, v[count].i, v[count].type == AC_F64, v[count].type == AC_BOOL};
        late |= v[count++].late != NULL;
    }
    if (!count)
        return ac_bad(&n->b, "it has no operands");
    if (late)
        return at_run_time(n, v, count);
    if (!(count == 1 ? apply_1(n->row->op, x[0], &y) : apply(n->row->op, x[0], x[1], &y)))
        return ac_bad(&n->b, "a number is out of range");
    return ac_ep_result_number(n, y.truth ? AC_BOOL : y.real ? AC_F64 : AC_I64, y.f, y.i);
}
