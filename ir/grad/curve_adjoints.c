/* curve_adjoints.c - gradients of functions of one operand. If the derivative follows from the result, the operand
 * is not kept alive. At a corner (relu at 0, bounds of clamps) the derivative is 0. */
#include "ir/grad/entries.h"
#include "ir/grad/formula.h"

static const double SQRT_HALF = 0.70710678118654752440, SQRT_2_BY_PI = 0.79788456080286535588,
                    TWO_BY_SQRT_PI = 1.12837916709551257390, BY_SQRT_2PI = 0.39894228040143267794;

static ac_tensor *x_of(const ac_adjoint *a)
{
    return a->node->in[0];
}

static int give(ac_adjoint *a, ac_tensor *dx)
{
    ac_give(a, 0, dx);
    return AC_OK;
}

int ac_gr_abs(ac_adjoint *a)
{
    return give(a, MUL(ac_dy_thin(a), OP1(SIGN, x_of(a))));
}

int ac_gr_neg(ac_adjoint *a)
{
    return give(a, NEG(ac_dy_thin(a)));
}

int ac_gr_sqrt(ac_adjoint *a)
{
    return give(a, DIV(TIMES(ac_dy_thin(a), 0.5), ac_y(a)));
}

int ac_gr_rsqrt(ac_adjoint *a)
{
    ac_tensor *y = ac_y(a), *cube = MUL(y, SQUARE(y));
    return give(a, MUL(TIMES(ac_dy_thin(a), -0.5), cube));
}

int ac_gr_square(ac_adjoint *a)
{
    return give(a, MUL(ac_dy_thin(a), TIMES(x_of(a), 2)));
}

int ac_gr_exp(ac_adjoint *a)
{
    return give(a, MUL(ac_dy_thin(a), ac_y(a)));
}

int ac_gr_log(ac_adjoint *a)
{
    return give(a, DIV(ac_dy_thin(a), x_of(a)));
}

int ac_gr_sin(ac_adjoint *a)
{
    return give(a, MUL(ac_dy_thin(a), OP1(COS, x_of(a))));
}

int ac_gr_cos(ac_adjoint *a)
{
    return give(a, NEG(MUL(ac_dy_thin(a), OP1(SIN, x_of(a)))));
}

int ac_gr_tanh(ac_adjoint *a)
{
    ac_tensor *square = SQUARE(ac_y(a));
    return give(a, MUL(ac_dy_thin(a), SUB(NUM(x_of(a), 1), square)));
}

int ac_gr_logistic(ac_adjoint *a)
{
    ac_tensor *y = ac_y(a);
    return give(a, MUL(ac_dy_thin(a), MUL(y, SUB(NUM(y, 1), y))));
}

int ac_gr_atan(ac_adjoint *a)
{
    return give(a, DIV(ac_dy_thin(a), PLUS(SQUARE(x_of(a)), 1)));
}

/* factor * exp(-x^2) */
static int give_bell(ac_adjoint *a, double factor)
{
    ac_tensor *bell = OP1(EXP, NEG(SQUARE(x_of(a))));
    return give(a, MUL(TIMES(ac_dy_thin(a), factor), bell));
}

int ac_gr_erf(ac_adjoint *a)
{
    return give_bell(a, TWO_BY_SQRT_PI);
}

int ac_gr_erfc(ac_adjoint *a)
{
    return give_bell(a, -TWO_BY_SQRT_PI);
}

/* exp(x) - 1: its derivative is the result plus 1 */
int ac_gr_expm1(ac_adjoint *a)
{
    return give(a, MUL(ac_dy_thin(a), PLUS(ac_y(a), 1)));
}

int ac_gr_log1p(ac_adjoint *a)
{
    return give(a, DIV(ac_dy_thin(a), PLUS(x_of(a), 1)));
}

int ac_gr_softplus(ac_adjoint *a)
{
    return give(a, MUL(ac_dy_thin(a), OP1(LOGISTIC, x_of(a))));
}

/* x t, t = tanh(softplus(x)): t + x (1 - t^2) sigmoid(x) */
int ac_gr_mish(ac_adjoint *a)
{
    ac_tensor *x = x_of(a), *t = OP1(TANH, OP1(SOFTPLUS, x)), *one = NUM(x, 1);
    ac_tensor *s = OP1(LOGISTIC, x), *slope = MUL(SUB(one, SQUARE(t)), s);
    return give(a, MUL(ac_dy_thin(a), ADD(t, MUL(x, slope))));
}

/* x s, s = sigmoid(alpha x): s + alpha x s (1 - s) = s + alpha y (1 - s) */
int ac_gr_swish(ac_adjoint *a)
{
    const double alpha = (double)a->node->attrs.swish.alpha;
    ac_tensor *x = x_of(a), *s = OP1(LOGISTIC, TIMES(x, alpha)), *one = NUM(x, 1);
    ac_tensor *rest = SUB(one, s);
    return give(a, MUL(ac_dy_thin(a), ADD(s, MUL(TIMES(ac_y(a), alpha), rest))));
}

int ac_gr_sinh(ac_adjoint *a)
{
    return give(a, MUL(ac_dy_thin(a), OP1(COSH, x_of(a))));
}

int ac_gr_cosh(ac_adjoint *a)
{
    return give(a, MUL(ac_dy_thin(a), OP1(SINH, x_of(a))));
}

int ac_gr_tan(ac_adjoint *a)
{
    return give(a, MUL(ac_dy_thin(a), PLUS(SQUARE(ac_y(a)), 1)));
}

/* 1 - x^2 as (1 - x) (1 + x), which keeps its digits near 1 */
static ac_tensor *one_less_square(ac_adjoint *a)
{
    ac_tensor *x = x_of(a), *less = SUB(NUM(x, 1), x);
    return MUL(less, PLUS(x, 1));
}

/* dy / sqrt(1 - x^2) */
static ac_tensor *by_root(ac_adjoint *a)
{
    return DIV(ac_dy_thin(a), SQRT(one_less_square(a)));
}

int ac_gr_asin(ac_adjoint *a)
{
    return give(a, by_root(a));
}

int ac_gr_acos(ac_adjoint *a)
{
    return give(a, NEG(by_root(a)));
}

int ac_gr_asinh(ac_adjoint *a)
{
    return give(a, DIV(ac_dy_thin(a), SQRT(PLUS(SQUARE(x_of(a)), 1))));
}

/* 1 / sqrt((x - 1) (x + 1)) */
int ac_gr_acosh(ac_adjoint *a)
{
    ac_tensor *x = x_of(a), *less = PLUS(x, -1);
    return give(a, DIV(ac_dy_thin(a), SQRT(MUL(less, PLUS(x, 1)))));
}

int ac_gr_atanh(ac_adjoint *a)
{
    return give(a, DIV(ac_dy_thin(a), one_less_square(a)));
}

/* ------------------------------------------------------------------ clamps and bends */

int ac_gr_relu(ac_adjoint *a)
{
    ac_tensor *dy = ac_dy_thin(a), *zero = NUM(dy, 0);
    return give(a, WHERE(GREATER(ac_y(a), NUM(ac_y(a), 0)), dy, zero));
}

static int between(ac_adjoint *a, double lo, double hi)
{
    ac_tensor *y = ac_y(a), *dy = ac_dy_thin(a), *zero = NUM(dy, 0), *below = LESS(y, NUM(y, hi));
    return give(a, WHERE(OP2(LOGICAL_AND, GREATER(y, NUM(y, lo)), below), dy, zero));
}

int ac_gr_relu6(ac_adjoint *a)
{
    return between(a, 0, 6);
}

int ac_gr_relu_n1(ac_adjoint *a)
{
    return between(a, -1, 1);
}

int ac_gr_relu_01(ac_adjoint *a)
{
    return between(a, 0, 1);
}

int ac_gr_leaky_relu(ac_adjoint *a)
{
    ac_tensor *dy = ac_dy_thin(a), *below = TIMES(dy, (double)a->node->attrs.alpha.alpha);
    return give(a, WHERE(GREATER(x_of(a), NUM(x_of(a), 0)), dy, below));
}

/* exp(x) - 1 below 0: its derivative is the result plus 1 */
int ac_gr_elu(ac_adjoint *a)
{
    ac_tensor *dy = ac_dy_thin(a), *y = ac_y(a), *below = MUL(dy, PLUS(y, 1));
    return give(a, WHERE(GREATER(y, NUM(y, 0)), dy, below));
}

/* x * min(max(x + 3, 0), 6) / 6 */
int ac_gr_hard_swish(ac_adjoint *a)
{
    ac_tensor *dy = ac_dy_thin(a), *x = x_of(a);
    ac_tensor *bend = MUL(dy, TIMES(PLUS(x, 1.5), 1.0 / 3)), *zero = NUM(bend, 0);
    ac_tensor *low = WHERE(GREATER(x, NUM(x, -3)), bend, zero);
    return give(a, WHERE(LESS(x, NUM(x, 3)), low, dy));
}

/* x * P(x), P the normal distribution: P + x * P'. Approximate: P = (1 + tanh(u)) / 2, u = sqrt(2 / pi) * (x + 0.044715
 * * x^3). */
int ac_gr_gelu(ac_adjoint *a)
{
    ac_tensor *x = x_of(a), *one = NUM(x, 1), *p, *slope;
    if (a->node->attrs.gelu.approximate) {
        const double c = SQRT_2_BY_PI, d = 0.044715;
        ac_tensor *xx = SQUARE(x), *t = OP1(TANH, MUL(x, PLUS(TIMES(xx, c * d), c)));
        p = TIMES(PLUS(t, 1), 0.5);
        ac_tensor *inner = PLUS(TIMES(xx, 3 * c * d), c); /* u' */
        slope = MUL(TIMES(SUB(one, SQUARE(t)), 0.5), inner);
    } else {
        p = PLUS(TIMES(OP1(ERF, TIMES(x, SQRT_HALF)), 0.5), 0.5);
        slope = TIMES(OP1(EXP, TIMES(SQUARE(x), -0.5)), BY_SQRT_2PI);
    }
    return give(a, MUL(ac_dy_thin(a), ADD(p, MUL(x, slope))));
}
