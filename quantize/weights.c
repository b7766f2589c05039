/* weights.c - codes of the weights of a product, so that its results on the quantised inputs come nearest to those of
 * the model of floats.
 *
 * X: the inputs at some positions, less their mean; H = X'X. Target: the weights, or those that a ridge regression
 * towards the results of the float model finds, if they are better on the last quarter of the samples. Rounding:
 * coordinate descent on (s q - target) H (s q - target)', all rows at once. */
#include "quantize/net.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

enum { LEAST_COLUMNS = 2048, MOST_COLUMNS = 8192, MOST_RIDGE = 640, SWEEPS = 2 };
static const double RIDGES[] = {3, 0.3, 0.03, 0.003};
enum { N_RIDGES = sizeof RIDGES / sizeof *RIDGES };

typedef struct sampled {
    int64_t m;    /* positions, in the order of the samples */
    float *x, *y; /* [m][taps * channels], [m][rows of all groups] */
} sampled;

/* One group. */
typedef struct group {
    ac_region *tmp;
    const ac_qproduct *p;
    int64_t m, k, n;
    float *a, *y;   /* [m][k], [m][n], less their means */
    float *h;       /* [k][k] */
    double *target; /* [n][k] */
} group;

/* ------------------------------------------------------------------ samples */

static sampled sample(const ac_qnet *q, ac_region *tmp, const ac_qproduct *p, const float *x, const float *y,
                      const float *d)
{
    const int64_t all = q->samples * p->positions, each = p->taps * p->channels, n = p->groups * p->rows;
    int64_t most = 4 * p->depth;
    most = most < LEAST_COLUMNS ? LEAST_COLUMNS : most > MOST_COLUMNS ? MOST_COLUMNS : most;
    uint64_t state = AC_RANDOM_START + 2;
    sampled s = {.m = all < most ? all : most};
    s.x = AC_NEW_N(tmp, float, s.m *each + 1);
    s.y = AC_NEW_N(tmp, float, s.m *n + 1);
    for (int64_t i = 0; i < s.m; i++) {
        const int64_t from = i * all / s.m, to = (i + 1) * all / s.m;
        const int64_t at = from + (int64_t)(ac_splitmix64(&state) % (uint64_t)(to - from));
        const int64_t one = at / p->positions, pos = at % p->positions;
        float *in = s.x + i * each;
        ac_q_gather(p, x + one * ac_tensor_count(p->x), pos, in);
        for (int64_t k = 0; k < each; k++)
            in[k] /= d[k % p->channels];
        if (p->kind != AC_QTCONV)
            memcpy(s.y + i * n, y + one * ac_tensor_count(p->y) + pos * n, (size_t)n * sizeof *y);
    }
    return s;
}

static void remove_means(float *v, int64_t m, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        double sum = 0;
        for (int64_t i = 0; i < m; i++)
            sum += (double)v[i * n + k];
        const float mean = (float)(sum / (double)m);
        for (int64_t i = 0; i < m; i++)
            v[i * n + k] -= mean;
    }
}

static void take_group(group *t, const sampled *s, int64_t g)
{
    const ac_qproduct *p = t->p;
    const int64_t own = p->channels / p->groups, each = p->taps * p->channels, n = p->groups * p->rows;
    for (int64_t i = 0; i < t->m; i++) {
        for (int64_t k = 0; k < t->k; k++)
            t->a[i * t->k + k] = s->x[i * each + k / own * p->channels + g * own + k % own];
        memcpy(t->y + i * t->n, s->y + i * n + g * t->n, (size_t)t->n * sizeof *t->y);
    }
    remove_means(t->a, t->m, t->k);
    remove_means(t->y, t->m, t->n);
}

/* h += a'b of positions from..to; [k][n]. */
static void add_products(const float *a, int64_t k, const float *b, int64_t n, int64_t from, int64_t to, float *h)
{
    int64_t i = from;
    for (; i + 4 <= to; i += 4)
        for (int64_t r = 0; r < k; r++) {
            const float *v = a + i * k + r, v0 = v[0], v1 = v[k], v2 = v[2 * k], v3 = v[3 * k], *w = b + i * n;
            float *row = h + r * n;
            for (int64_t c = 0; c < n; c++)
                row[c] += v0 * w[c] + v1 * w[n + c] + (v2 * w[2 * n + c] + v3 * w[3 * n + c]);
        }
    for (; i < to; i++)
        for (int64_t r = 0; r < k; r++)
            for (int64_t c = 0; c < n; c++)
                h[r * n + c] += a[i * k + r] * b[i * n + c];
}

/* ------------------------------------------------------------------ ridge */

/* L of h + ridge on the diagonal = L L'. false: it is not positive. */
static bool factor(const double *h, int64_t k, double ridge, double *l)
{
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = h[i * k + j] + (i == j ? ridge : 0);
            for (int64_t c = 0; c < j; c++)
                sum -= l[i * k + c] * l[j * k + c];
            if (i == j && !(sum > 0))
                return false;
            l[i * k + j] = i == j ? sqrt(sum) : sum / l[j * k + j];
        }
    return true;
}

static void solve(const double *l, int64_t k, double *v)
{
    for (int64_t i = 0; i < k; i++) {
        for (int64_t c = 0; c < i; c++)
            v[i] -= l[i * k + c] * v[c];
        v[i] /= l[i * k + i];
    }
    for (int64_t i = k - 1; i >= 0; i--) {
        v[i] /= l[i * k + i];
        for (int64_t c = 0; c < i; c++)
            v[c] -= l[i * k + c] * v[i];
    }
}

typedef struct part {
    double *h, *r; /* a'a [k][k], a'e [n][k], e: y less that of the weights */
    int64_t m;
} part;

static part part_of(const group *t, const float *e, int64_t from, int64_t to)
{
    const int64_t k = t->k, n = t->n;
    part v = {AC_NEW_N(t->tmp, double, k *k), AC_NEW_N(t->tmp, double, k *n), to - from};
    float *h = AC_NEW_N(t->tmp, float, k *k), *r = AC_NEW_N(t->tmp, float, k *n);
    add_products(t->a, k, t->a, k, from, to, h);
    add_products(t->a, k, e, n, from, to, r);
    for (int64_t i = 0; i < k * k; i++)
        v.h[i] = (double)h[i];
    for (int64_t i = 0; i < k; i++)
        for (int64_t c = 0; c < n; c++)
            v.r[c * k + i] = (double)r[i * n + c];
    return v;
}

/* The corrections of all rows, [n][k]. */
static bool corrections(const group *t, const part *v, double ridge, double *l, double *to)
{
    if (!factor(v->h, t->k, ridge, l))
        return false;
    memcpy(to, v->r, (size_t)(t->k * t->n) * sizeof *to);
    for (int64_t o = 0; o < t->n; o++)
        solve(l, t->k, to + o * t->k);
    return true;
}

/* The change of the squared error on v. */
static double gain_on(const group *t, const part *v, const double *by)
{
    const int64_t k = t->k;
    double sum = 0;
    for (int64_t o = 0; o < t->n; o++)
        for (int64_t i = 0; i < k; i++) {
            double row = 0;
            for (int64_t c = 0; c < k; c++)
                row += v->h[i * k + c] * by[o * k + c];
            sum += by[o * k + i] * (row - 2 * v->r[o * k + i]);
        }
    return sum;
}

/* target += the correction that is best on the last quarter. w: float weights [n][k] of the group. */
static void correct(group *t, const float *w, double mean)
{
    const int64_t k = t->k, n = t->n, cut = t->m * 3 / 4;
    float *e = AC_NEW_N(t->tmp, float, t->m *n + 1);
    for (int64_t i = 0; i < t->m; i++)
        for (int64_t o = 0; o < n; o++) {
            float sum = 0;
            for (int64_t c = 0; c < k; c++)
                sum += t->a[i * k + c] * w[o * k + c];
            e[i * n + o] = t->y[i * n + o] - sum;
        }
    part first = part_of(t, e, 0, cut), last = part_of(t, e, cut, t->m);
    double *l = AC_NEW_N(t->tmp, double, k *k), *by = AC_NEW_N(t->tmp, double, k *n), best = 0, chosen = 0;
    for (int32_t i = 0; i < N_RIDGES; i++) {
        if (!corrections(t, &first, RIDGES[i] * mean * (double)cut, l, by))
            continue;
        const double got = gain_on(t, &last, by);
        if (got < best) {
            best = got;
            chosen = RIDGES[i];
        }
    }
    if (chosen == 0)
        return;
    for (int64_t i = 0; i < k * k; i++)
        first.h[i] += last.h[i];
    for (int64_t i = 0; i < k * n; i++)
        first.r[i] += last.r[i];
    if (corrections(t, &first, chosen * mean * (double)t->m, l, by))
        for (int64_t i = 0; i < k * n; i++)
            t->target[i] += by[i];
}

/* ------------------------------------------------------------------ rounding */

static double clamp(double v, double most)
{
    return v < -most ? -most : v > most ? most : v;
}

/* Codes of row o with scale s; e: scratch [k]. */
static void descend(const group *t, const double *target, double s, double most, int8_t *code, float *e)
{
    const int64_t k = t->k;
    memset(e, 0, (size_t)k * sizeof *e);
    for (int64_t i = 0; i < k; i++) {
        const double v = clamp(rint(target[i] / s), most);
        const float off = (float)(s * v - target[i]), *row = t->h + i * k;
        code[i] = (int8_t)v;
        for (int64_t c = 0; c < k; c++)
            e[c] += off * row[c];
    }
    for (int32_t sweep = 0; sweep < SWEEPS; sweep++) {
        bool moved = false;
        for (int64_t i = 0; i < k; i++) {
            const float *row = t->h + i * k;
            const double v = clamp((double)code[i] + rint(-(double)e[i] / (s * (double)row[i])), most);
            const float by = (float)(s * (v - (double)code[i]));
            if (v == (double)code[i])
                continue;
            code[i] = (int8_t)v;
            moved = true;
            for (int64_t c = 0; c < k; c++)
                e[c] += by * row[c];
        }
        if (!moved)
            return;
    }
}

/* The scale of four bits is worth a search: that of the least error, weighted by the power of the inputs. */
static double scale_of(const group *t, const double *target, double top, double most)
{
    double best = HUGE_VAL, chosen = top / most;
    for (int32_t i = 0; i < (most < 100 ? 16 : 1); i++) {
        const double s = top / most * (1 - 0.04 * i);
        double sum = 0;
        for (int64_t k = 0; k < t->k; k++) {
            const double e = s * clamp(rint(target[k] / s), most) - target[k];
            sum += e * e * (double)t->h[k * t->k + k];
        }
        if (sum < best) {
            best = sum;
            chosen = s;
        }
    }
    return chosen;
}

static void round_group(const ac_qnet *q, group *t, int64_t g, ac_qweights *w)
{
    const double most = q->o->weight_bits == 4 ? 7 : 127;
    const int64_t spread = t->p->spread;
    float *e = AC_NEW_N(t->tmp, float, t->k + 1);
    for (int64_t o = 0; o < t->n; o += spread) { /* the taps of a channel share its scale */
        double top = 1e-9;
        for (int64_t i = 0; i < spread * t->k; i++)
            top = fmax(top, fabs(t->target[o * t->k + i]));
        const double s = spread == 1 ? scale_of(t, t->target + o * t->k, top, most) : top / most;
        const float rounded = w->scale[(g * t->n + o) / spread] = (float)s;
        for (int64_t i = o; i < o + spread; i++)
            descend(t, t->target + i * t->k, (double)rounded, most, w->code + (g * t->n + i) * t->k, e);
    }
}

static void do_group(const ac_qnet *q, group *t, const sampled *s, int64_t g, const float *scaled, ac_qweights *w)
{
    const int64_t k = t->k;
    double trace = 0;
    take_group(t, s, g);
    memset(t->h, 0, (size_t)(k * k) * sizeof *t->h);
    add_products(t->a, k, t->a, k, 0, t->m, t->h);
    for (int64_t i = 0; i < k * k; i++)
        t->h[i] /= (float)t->m;
    for (int64_t i = 0; i < k; i++)
        trace += (double)t->h[i * k + i];
    const double mean = fmax(trace / (double)k, 1e-12);
    for (int64_t i = 0; i < t->n * k; i++)
        t->target[i] = (double)scaled[i];
    if (t->p->kind != AC_QTCONV && k <= MOST_RIDGE && t->m >= 2 * k) /* fewer would be fitted exactly */
        correct(t, scaled, mean);
    for (int64_t i = 0; i < k; i++)
        t->h[i * k + i] += (float)((0.01 + 0.1 * (double)k / (double)t->m) * mean); /* few positions tell little */
    round_group(q, t, g, w);
}

ac_qweights *ac_q_weights(ac_qnet *q, const ac_qproduct *p, const float *x, const float *y, const float *d)
{
    ac_region *r = q->cx->region, *tmp = ac_region_open(&q->cx->heap);
    const int64_t n = p->groups * p->rows;
    ac_qweights *w = AC_NEW(r, ac_qweights);
    w->n = ac_q_results(p);
    w->code = AC_NEW_N(r, int8_t, n * p->depth + 1);
    w->scale = AC_NEW_N(r, float, w->n + 1);
    const sampled s = sample(q, tmp, p, x, y, d);
    float *scaled = AC_NEW_N(tmp, float, p->rows * p->depth + 1);
    for (int64_t g = 0; g < p->groups; g++) {
        ac_region *own = ac_region_open(&q->cx->heap);
        group t = {.tmp = own, .p = p, .m = s.m, .k = p->depth, .n = p->rows};
        t.a = AC_NEW_N(own, float, t.m *t.k + 1);
        t.y = AC_NEW_N(own, float, t.m *t.n + 1);
        t.h = AC_NEW_N(own, float, t.k *t.k + 1);
        t.target = AC_NEW_N(own, double, t.n *t.k + 1);
        for (int64_t i = 0; i < t.n * t.k; i++)
            scaled[i] = p->weight[g * t.n * t.k + i] * d[ac_q_channel(p, g, i % t.k)];
        do_group(q, &t, &s, g, scaled, w);
        ac_region_close(own);
    }
    ac_region_close(tmp);
    return w;
}

float *ac_q_effective(ac_region *r, const ac_qproduct *p, const ac_qweights *w, const float *d)
{
    const int64_t n = p->groups * p->rows;
    float *to = AC_NEW_N(r, float, n * p->depth + 1);
    for (int64_t o = 0; o < n; o++)
        for (int64_t k = 0; k < p->depth; k++)
            to[o * p->depth + k] =
                (float)w->code[o * p->depth + k] * w->scale[o / p->spread] / d[ac_q_channel(p, o / p->rows, k)];
    return to;
}
