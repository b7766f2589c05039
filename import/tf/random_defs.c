/* random_defs.c - random numbers. Dropout draws them, and a frozen graph may still hold it: x / keep * floor(keep +
 * u) with u from 0 to 1, or x / (1 - rate) * (u >= rate). With keep 1, or rate 0, every u gives the same. So a
 * random number is represented by its range, until a node computes a value that the range determines; any other use is
 * refused. */
#include "import/tf/nodedefs.h"

#include <math.h>
#include <string.h>

int ac_tf_do_random_uniform(ac_tf_op *n)
{
    ac_ints shape;
    ac_tf_random *u = AC_NEW(n->r->cx->region, ac_tf_random);
    AC_TRY(ac_operand_values(&n->b, &n->t[0], &shape));
    ac_attr_skip(&n->attrs, "seed");
    ac_attr_skip(&n->attrs, "seed2");
    u->dtype = ac_attr_dtype(&n->attrs, A_dtype);
    if (u->dtype != AC_F32 || shape.n > AC_MAX_RANK)
        return ac_cannot(&n->b, "it draws random numbers");
    u->high = 1;
    u->rank = shape.n;
    memcpy(u->dim, shape.v, (size_t)shape.n * sizeof *shape.v);
    n->out[0] = (ac_tf_value){.kind = AC_TF_RANDOM, .random = u};
    return AC_OK;
}

/* Operand `u` of two is random; the other one is a number, or a tensor for sums. */
static int arithmetic(ac_tf_op *n, int32_t u)
{
    ac_tf_random *y = AC_NEW(n->r->cx->region, ac_tf_random);
    const ac_op op = n->row->op;
    double v = 0;
    *y = *n->in[u].random;
    ac_tensor *other = n->t[1 - u];
    const bool number = other && ac_tensor_count(other) == 1 && ac_operand_known(&n->b, &n->t[1 - u]);
    if (number)
        AC_TRY(ac_operand_scalar(&n->b, &n->t[1 - u], &v));
    if (op == AC_OP_ADD && number) {
        y->low += v;
        y->high += v;
    } else if (op == AC_OP_ADD && other && !y->plus && ac_tensor_count(other) == 1) {
        y->plus = other;
    } else if (op == AC_OP_SUB && number && u == 0) {
        y->low -= v;
        y->high -= v;
    } else if (op == AC_OP_MUL && number && v >= 0 && !y->plus) {
        y->low *= v;
        y->high *= v;
    } else {
        return ac_cannot(&n->b, "it computes with random numbers");
    }
    n->out[0] = (ac_tf_value){.kind = AC_TF_RANDOM, .random = y};
    return AC_OK;
}

static int constant_result(ac_tf_op *n, const ac_tf_random *u, ac_tensor *t)
{
    return ac_tf_result(n, 0, ac_make_broadcast(&n->b, t, u->rank, u->dim));
}

/* A comparison of a random number (on the left) with a known one. */
static int compare(ac_tf_op *n)
{
    const ac_tf_random *u = n->in[0].random;
    const bool or_equal = n->row->op == AC_OP_GREATER_EQUAL;
    double v = 0;
    if (u->plus || !n->t[1] || ac_tensor_count(n->t[1]) != 1)
        return ac_cannot(&n->b, "it compares random numbers");
    if (!ac_operand_known(&n->b, &n->t[1])) { /* a rate that is an input: 0 at inference */
        n->r->reading->late = true;
        ac_warn(n->r->cx, n->b.at, W0001, "dropout: '%s' is taken as 0; another value would draw random numbers",
                n->t[1]->name);
        return constant_result(n, u, ac_make_number(&n->b, AC_BOOL, 1));
    }
    AC_TRY(ac_operand_scalar(&n->b, &n->t[1], &v));
    if (or_equal ? u->low >= v : u->low > v)
        return constant_result(n, u, ac_make_number(&n->b, AC_BOOL, 1));
    if (u->high <= v)
        return constant_result(n, u, ac_make_number(&n->b, AC_BOOL, 0));
    return ac_cannot(&n->b, "it compares random numbers from %g to %g with %g", u->low, u->high, v);
}

static int round_down(ac_tf_op *n)
{
    const ac_tf_random *u = n->in[0].random;
    const double low = floor(u->low);
    if (!(u->high <= low + 1))
        return ac_cannot(&n->b, "it rounds random numbers from %g to %g", u->low, u->high);
    if (!u->plus)
        return constant_result(n, u, ac_make_number(&n->b, u->dtype, low));
    if (low != 0)
        return ac_cannot(&n->b, "it rounds random numbers");
    /* floor(keep + u) is keep when that is a whole number: 1 at inference */
    n->r->reading->late = true;
    ac_warn(n->r->cx, n->b.at, W0001, "dropout: '%s' is taken as 1; below that, random numbers would be drawn",
            u->plus->name);
    return constant_result(n, u, ac_make_1(&n->b, AC_OP_FLOOR, ac_make_reshape(&n->b, u->plus, 0, NULL)));
}

/* An operator that may get random numbers; any other refuses them (nodedefs.c). */
int ac_tf_do_binary_random(ac_tf_op *n)
{
    const bool a = n->in[0].kind == AC_TF_RANDOM, b = n->in[1].kind == AC_TF_RANDOM;
    if (!a && !b && n->t[0] && n->t[1])
        return ac_tf_do_binary(n);
    if (a == b || n->in[0].kind == AC_TF_LIST || n->in[1].kind == AC_TF_LIST)
        return ac_cannot(&n->b, "it computes with random numbers or arrays");
    if (n->row->op != AC_OP_GREATER && n->row->op != AC_OP_GREATER_EQUAL)
        return arithmetic(n, a ? 0 : 1);
    return a ? compare(n) : ac_cannot(&n->b, "it compares random numbers");
}

int ac_tf_do_floor(ac_tf_op *n)
{
    if (n->in[0].kind == AC_TF_RANDOM)
        return round_down(n);
    return n->t[0] ? ac_tf_result(n, 0, ac_make_1(&n->b, n->row->op, n->t[0]))
                   : ac_cannot(&n->b, "its input is an array");
}
