/* random_defs.c - operators of TensorFlow that draw random numbers.
 *
 * Dropout draws uniform ones, and a frozen graph may still hold it: x / keep * floor(keep + u) with u from 0 to 1, or x
 * / (1 - rate) * (u >= rate). With keep 1, or rate 0, every u gives the same. So a uniform number also has its range,
 * which sums and products with constants keep; a rounding or comparison that the range determines is a constant.
 *
 * Stateless operators draw by a key instead of the state of the graph: the low halves of the two numbers of a seed, and
 * then the high halves, in four words. They share one stream. */
#include "import/tf/nodedefs.h"
#include "ir/make/compose_random.h"

#include <math.h>
#include <string.h>

#define MAKER (&n->b)
#include "ir/make/formula.h"

/* ------------------------------------------------------------------ operands */

/* The shape is operand 0. */
static int shape_of(ac_tf_op *n, ac_draw *d)
{
    ac_ints shape;
    AC_TRY(ac_operand_values(&n->b, &n->t[0], &shape));
    return ac_draw_shape(d, shape) ? AC_OK : ac_cannot(&n->b, "its shape has %d dimensions", shape.n);
}

/* Attributes seed and seed2, if not both 0, choose a stream. */
static int32_t stream_of(ac_tf_op *n)
{
    const uint64_t seed = (uint64_t)ac_attr_int(&n->attrs, A_seed), seed2 = (uint64_t)ac_attr_int(&n->attrs, A_seed2);
    return ac_stream_of_pair(seed, seed2);
}

/* The halves of two integers: i32 [2] each. */
static ac_tensor *halves(ac_tf_op *n, ac_tensor *x, bool high)
{
    static const int64_t TWO = 2;
    x = ac_make_cast(&n->b, ac_make_reshape(&n->b, x, 1, &TWO), AC_I64);
    if (high)
        x = OP2(SHIFT_RIGHT, x, I64(32));
    return ac_make_cast(&n->b, x, AC_I32);
}

/* Key and counter of a seed of two integers: i32 [4]. */
static ac_tensor *numbers_of(ac_tf_op *n, ac_tensor *seed)
{
    if (ac_tensor_count(seed) != 2 || !ac_dtype_is_int(seed->dtype)) {
        (void)ac_bad(&n->b, "seed '%s' is %s, expected two integers", seed->name, ac_tensor_str(n->r->cx, seed));
        return NULL;
    }
    ac_tensor *part[] = {halves(n, seed, false), halves(n, seed, true)};
    return ac_make_concat(&n->b, part, 2, 0);
}

/* Version 2 of stateless operators has key and counter of StatelessRandomGetKeyCounter. */
static ac_tensor *own_numbers(ac_tf_op *n, bool second)
{
    static const int64_t FOUR = 4;
    if (!second)
        return numbers_of(n, n->t[1]);
    if (ac_tensor_count(n->t[1]) != 1 || ac_tensor_count(n->t[2]) != 2) {
        (void)ac_bad(&n->b, "its key '%s' is %s", n->t[1]->name, ac_tensor_str(n->r->cx, n->t[1]));
        return NULL;
    }
    ac_tensor *key = ac_make_cast(&n->b, ac_make_reshape(&n->b, n->t[1], 1, (int64_t[]){1}), AC_I64);
    ac_tensor *counter = ac_make_cast(&n->b, n->t[2], AC_I32);
    ac_tensor *low = ac_make_cast(&n->b, key, AC_I32), *high = OP2(SHIFT_RIGHT, key, I64(32));
    ac_tensor *part[] = {low, ac_make_cast(&n->b, high, AC_I32), counter};
    return ac_make_reshape(&n->b, ac_make_concat(&n->b, part, 3, 0), 1, &FOUR);
}

/* The draw of this node, by the operator's name. */
static int open(ac_tf_op *n, ac_draw *d)
{
    const char *type = n->node->op;
    const bool stateless = !strncmp(type, "Stateless", 9), second = type[strlen(type) - 1] == '2';
    *d = ac_draw_like(NULL);
    AC_TRY(shape_of(n, d));
    ac_attr_skip(&n->attrs, "index_type");
    d->to = ac_attr_dtype(&n->attrs, A_dtype);
    d->kind = strstr(type, "Truncated") ? AC_W_TRUNCATED : strstr(type, "Normal") ? AC_W_NORMAL : AC_W_UNIFORM;
    if (!stateless) {
        d->stream = stream_of(n);
        return AC_OK;
    }
    d->stream = ac_stream_of(0);
    d->numbers = own_numbers(n, second);
    return d->numbers ? AC_OK : AC_FAIL;
}

/* ------------------------------------------------------------------ operators */

int ac_tf_do_random_float(ac_tf_op *n)
{
    ac_draw d;
    AC_TRY(open(n, &d));
    if (!ac_dtype_is_float(d.to))
        return ac_bad(&n->b, "its result is %s, expected floats", ac_dtype_name(d.to));
    return ac_tf_result(n, 0, ac_make_random(&n->b, &d));
}

/* Uniform, 0 to 1. */
int ac_tf_do_random_uniform(ac_tf_op *n)
{
    ac_tf_random *u = AC_NEW(n->r->cx->region, ac_tf_random);
    AC_TRY(ac_tf_do_random_float(n));
    u->high = 1;
    if (n->out[0].t->dtype == AC_F32)
        n->out[0].random = u;
    return AC_OK;
}

/* From minval, below maxval. */
int ac_tf_do_random_int(ac_tf_op *n)
{
    ac_draw d;
    const int32_t first = n->n_in - 2;
    AC_TRY(open(n, &d));
    const ac_dtype to = n->t[first]->dtype;
    ac_attr_skip(&n->attrs, "Tout");
    ac_tensor *low = ac_make_cast(&n->b, n->t[first], AC_I64), *high = ac_make_cast(&n->b, n->t[first + 1], AC_I64);
    return ac_tf_result(n, 0, ac_make_cast(&n->b, ac_make_random_ints(&n->b, &d, low, high), to));
}

/* All values of an integer type. */
int ac_tf_do_random_bits(ac_tf_op *n)
{
    ac_draw d;
    AC_TRY(open(n, &d));
    if (ac_dtype_is_float(d.to))
        return ac_bad(&n->b, "its result is %s, expected integers", ac_dtype_name(d.to));
    return ac_tf_result(n, 0, ac_make_random(&n->b, &d));
}

/* Operand 0 has logarithms of the shares, operand 1 the number of choices. */
int ac_tf_do_multinomial(ac_tf_op *n)
{
    ac_tensor *x = ac_make_cast(&n->b, n->t[0], AC_F32);
    const ac_dtype to = ac_attr_dtype_or(&n->attrs, A_output_dtype, AC_I64);
    const int32_t stream = stream_of(n);
    int64_t count;
    AC_TRY(ac_operand_int(&n->b, &n->t[1], &count));
    if (!x || x->rank != 2 || x->dim[1] < 1 || count < 0)
        return ac_bad(&n->b, "'%s' is %s, expected [batch, classes]", n->t[0]->name, ac_shape_str(n->r->cx, n->t[0]));
    ac_tensor *y = ac_make_choices(&n->b, OP1(SOFTMAX, x), x->dim, count, stream);
    return ac_tf_result(n, 0, ac_make_cast(&n->b, y, to));
}

int ac_tf_do_random_shuffle(ac_tf_op *n)
{
    return ac_tf_result(n, 0, ac_make_shuffled(&n->b, n->t[0], stream_of(n)));
}

/* Key and counter of a seed, and the algorithm: only operators of this file read them. */
int ac_tf_do_key_counter(ac_tf_op *n)
{
    ac_tensor *all = numbers_of(n, n->t[0]);
    if (!all)
        return AC_FAIL;
    ac_tensor *word[2];
    for (int64_t i = 0; i < 2; i++)
        word[i] = ac_make_cast(&n->b, ac_make_slice(&n->b, all, 0, i, 1), AC_I64);
    ac_tensor *low = OP2(BITWISE_AND, word[0], I64(0xffffffff)), *high = OP2(SHIFT_LEFT, word[1], I64(32));
    AC_TRY(ac_tf_result(n, 0, OP2(BITWISE_OR, low, high)));
    AC_TRY(ac_tf_result(n, 1, ac_make_cast(&n->b, ac_make_slice(&n->b, all, 0, 2, 2), AC_I64)));
    return n->n_out > 2 ? ac_tf_result(n, 2, ac_make_number(&n->b, AC_I32, 1)) : AC_OK;
}

int ac_tf_do_random_algorithm(ac_tf_op *n)
{
    return ac_tf_result(n, 0, ac_make_number(&n->b, AC_I32, 1)); /* Philox */
}

/* ------------------------------------------------------------------ ranges */

/* Operand `u` of two is a uniform number with a range, which the other one may move or scale. */
static int arithmetic(ac_tf_op *n, int32_t u)
{
    ac_tf_random *y = AC_NEW(n->r->cx->region, ac_tf_random);
    const ac_op op = n->row->op;
    double v = 0;
    *y = *n->in[u].random;
    ac_tensor *other = n->t[1 - u];
    const bool number = ac_tensor_count(other) == 1 && ac_operand_known(&n->b, &other);
    if (number)
        AC_TRY(ac_operand_scalar(&n->b, &other, &v));
    AC_TRY(ac_tf_do_binary(n));
    if (op == AC_OP_ADD && number) {
        y->low += v;
        y->high += v;
    } else if (op == AC_OP_ADD && !y->plus && ac_tensor_count(other) == 1) {
        y->plus = other;
    } else if (op == AC_OP_SUB && number && u == 0) {
        y->low -= v;
        y->high -= v;
    } else if (op == AC_OP_MUL && number && v >= 0 && !y->plus) {
        y->low *= v;
        y->high *= v;
    } else {
        return AC_OK; /* a tensor like any other */
    }
    n->out[0].random = y;
    return AC_OK;
}

static int constant_result(ac_tf_op *n, const ac_tensor *like, ac_tensor *t)
{
    return ac_tf_result(n, 0, ac_make_broadcast(&n->b, t, like->rank, like->dim));
}

/* A comparison of a number with a range (on the left) with another one. */
static int compare(ac_tf_op *n)
{
    const ac_tf_random *u = n->in[0].random;
    const bool or_equal = n->row->op == AC_OP_GREATER_EQUAL;
    double v = 0;
    if (u->plus || ac_tensor_count(n->t[1]) != 1)
        return ac_tf_do_binary(n);
    if (!ac_operand_known(&n->b, &n->t[1])) { /* a rate that is an input: 0 at inference */
        n->r->reading->late = true;
        ac_warn(n->r->cx, n->b.at, W0001, "dropout: '%s' is taken as 0; another value would draw random numbers",
                n->t[1]->name);
        return constant_result(n, n->t[0], ac_make_number(&n->b, AC_BOOL, 1));
    }
    AC_TRY(ac_operand_scalar(&n->b, &n->t[1], &v));
    if (or_equal ? u->low >= v : u->low > v)
        return constant_result(n, n->t[0], ac_make_number(&n->b, AC_BOOL, 1));
    if (u->high <= v)
        return constant_result(n, n->t[0], ac_make_number(&n->b, AC_BOOL, 0));
    return ac_tf_do_binary(n);
}

static int round_down(ac_tf_op *n)
{
    const ac_tf_random *u = n->in[0].random;
    const double low = floor(u->low);
    if (!(u->high <= low + 1) || (u->plus && low != 0))
        return ac_tf_result(n, 0, ac_make_1(&n->b, n->row->op, n->t[0]));
    if (!u->plus)
        return constant_result(n, n->t[0], ac_make_number(&n->b, n->t[0]->dtype, low));
    /* floor(keep + u) is keep when that is a whole number: 1 at inference */
    n->r->reading->late = true;
    ac_warn(n->r->cx, n->b.at, W0001, "dropout: '%s' is taken as 1; below that, random numbers would be drawn",
            u->plus->name);
    return constant_result(n, n->t[0], ac_make_1(&n->b, AC_OP_FLOOR, ac_make_reshape(&n->b, u->plus, 0, NULL)));
}

int ac_tf_do_binary_random(ac_tf_op *n)
{
    const bool left = n->in[0].random != NULL, right = n->in[1].random != NULL;
    if (left == right)
        return ac_tf_do_binary(n);
    if (n->row->op != AC_OP_GREATER && n->row->op != AC_OP_GREATER_EQUAL)
        return arithmetic(n, left ? 0 : 1);
    return left ? compare(n) : ac_tf_do_binary(n);
}

int ac_tf_do_floor(ac_tf_op *n)
{
    return n->in[0].random ? round_down(n) : ac_tf_result(n, 0, ac_make_1(&n->b, n->row->op, n->t[0]));
}
