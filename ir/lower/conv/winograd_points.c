/* winograd_points.c - emits the three transforms of Winograd's convolution, one dimension at a time.
 *
 * With y = x^2, R(y) = product of (y - p_j^2) over all pairs and Q_i the same without pair i:
 *
 *     input    row 0: R at the even elements    row +-p_i: even Q_i +- p_i odd Q_i    last row: R at the odd elements
 *     output   column 0: 1, 0, ...              column +-p_i: 1, +-p_i, p_i^2, ...    last column: 0, ..., 0, 1
 *     weights  row 0: w0 / R(0)                 row +-p_i: (w0 +- p_i w1 + p_i^2 w2) / (2 p_i^2 Q_i(p_i^2))    last
 * row: w2 */
#include "ir/lower/conv/winograd.h"

#include <math.h>

ac_winograd ac_winograd_of(int32_t out)
{
    ac_winograd w = {.pairs = out / 2, .out = out, .in = out + 2, .p = {1, 0}};
    if (w.pairs == 2) {
        w.p[0] = 0.70710678118654752440;
        w.p[1] = 1.41421356237309504880;
    }
    return w;
}

/* Coefficients of the product of (y - p_j^2) over the pairs except `without`; lowest first, the highest is 1. */
static int32_t product(const ac_winograd *w, int32_t without, double *coef)
{
    int32_t degree = 0;
    coef[0] = 1;
    for (int32_t j = 0; j < w->pairs; j++) {
        if (j == without)
            continue;
        coef[degree + 1] = coef[degree];
        for (int32_t k = degree; k >= 0; k--)
            coef[k] = (k ? coef[k - 1] : 0) - w->p[j] * w->p[j] * coef[k];
        degree++;
    }
    for (int32_t k = 0; k <= degree; k++) /* makes squares of roots of 2 exact */
        coef[k] = rint(coef[k] * 64) / 64;
    return degree;
}

static double at(const double *coef, int32_t degree, double y)
{
    double v = coef[degree];
    while (degree--)
        v = v * y + coef[degree];
    return v;
}

/* sum of coef[k] * in[first + 2 k]; the highest coefficient is 1. */
static ac_x sum(ac_lower *L, const double *coef, int32_t degree, const ac_x *in, int32_t first)
{
    ac_x v = in[first + 2 * degree];
    for (int32_t k = degree - 1; k >= 0; k--)
        v = ac_lo_madd(L, in[first + 2 * k], ac_lb_like(&L->b, v, coef[k]), v);
    return v;
}

void ac_winograd_input(ac_lower *L, const ac_winograd *w, const ac_x *in, ac_x *out)
{
    double coef[4];
    const int32_t all = product(w, -1, coef);
    out[0] = sum(L, coef, all, in, 0);
    out[w->in - 1] = sum(L, coef, all, in, 1);
    for (int32_t i = 0; i < w->pairs; i++) {
        const int32_t degree = product(w, i, coef);
        const ac_x even = sum(L, coef, degree, in, 2), odd = sum(L, coef, degree, in, 1);
        out[2 * i + 1] = ac_lo_madd(L, odd, ac_lb_like(&L->b, odd, w->p[i]), even);
        out[2 * i + 2] = ac_lo_madd(L, odd, ac_lb_like(&L->b, odd, -w->p[i]), even);
    }
}

void ac_winograd_output(ac_lower *L, const ac_winograd *w, const ac_x *in, ac_x *out)
{
    ac_lb *b = &L->b;
    for (int32_t j = 0; j < w->out; j++) {
        ac_x v = j == 0 ? in[0] : j == w->out - 1 ? in[w->in - 1] : 0;
        for (int32_t i = 0; i < w->pairs; i++) {
            const ac_x plus = in[2 * i + 1], minus = in[2 * i + 2];
            const ac_x both = j % 2 ? ac_lb_sub(b, plus, minus) : ac_lb_add(b, plus, minus);
            double power = j % 2 ? w->p[i] : 1;
            for (int32_t k = 0; k < j / 2; k++)
                power *= rint(w->p[i] * w->p[i] * 64) / 64;
            v = v ? ac_lo_madd(L, both, ac_lb_like(b, both, power), v) : ac_lb_mul(b, both, ac_lb_like(b, both, power));
        }
        out[j] = v;
    }
}

/* The coefficients of row `i` of the weights' transform. */
static void weights_row(const ac_winograd *w, int32_t i, double *by)
{
    double coef[4];
    if (i == 0 || i == w->in - 1) {
        product(w, -1, coef);
        by[0] = i ? 0 : 1 / coef[0];
        by[1] = 0;
        by[2] = i ? 1 : 0;
        return;
    }
    const double p = i % 2 ? w->p[(i - 1) / 2] : -w->p[(i - 1) / 2], y = rint(p * p * 64) / 64;
    const int32_t degree = product(w, (i - 1) / 2, coef);
    const double n = 2 * y * at(coef, degree, y);
    by[0] = 1 / n;
    by[1] = p / n;
    by[2] = y / n;
}

void ac_winograd_weights(ac_lower *L, const ac_winograd *w, const ac_x *in, ac_x *out)
{
    ac_lb *b = &L->b;
    for (int32_t i = 0; i < w->in; i++) {
        double by[3];
        weights_row(w, i, by);
        ac_x v = 0;
        for (int32_t k = 0; k < 3; k++)
            if (fabs(by[k]) > 0) {
                const ac_x part = ac_lb_mul(b, in[k], ac_lb_like(b, in[k], by[k]));
                v = v ? ac_lb_add(b, v, part) : part;
            }
        out[i] = v;
    }
}

/* Sum of the sizes of the coefficients in row i of the input's transform. */
static double input_size(const ac_winograd *w, int32_t i)
{
    double coef[4], size = 0;
    const bool end = i == 0 || i == w->in - 1;
    const int32_t pair = (i - 1) / 2, degree = product(w, end ? -1 : pair, coef);
    for (int32_t k = 0; k <= degree; k++)
        size += fabs(coef[k]);
    return end ? size : size * (1 + w->p[pair]);
}

double ac_winograd_growth(const ac_winograd *w)
{
    double most = 0;
    for (int32_t j = 0; j < w->out; j++) {
        double sum_j = 0;
        for (int32_t i = 0; i < w->in; i++) {
            double by[3];
            weights_row(w, i, by);
            const bool end = i == 0 || i == w->in - 1;
            const double a = end ? (i == 0 ? j == 0 : j == w->out - 1) : pow(w->p[(i - 1) / 2], j);
            sum_j += a * input_size(w, i) * (fabs(by[0]) + fabs(by[1]) + fabs(by[2]));
        }
        most = sum_j > most ? sum_j : most;
    }
    return most * most;
}
