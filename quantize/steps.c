/* steps.c - the steps and the zero point of a stored tensor, by the least cost for its readers.
 *
 * Candidates: the steps of labels are u_max^(1-a) * u^a with u the range of a label and a of 0, 1/4, .. 1, times a
 * width of 0.6 to 1.8 of the extremes seen; zero points by seven rules. The cost adds, weighted by what an error of a
 * channel does to the results of the readers: rounding, at a sample of places; clipping, of samples that did not set
 * the range (a random quarter does, eight times over); and the rounding of weights, which take the unlike steps. So
 * nothing is judged on the samples that it was fitted to.
 *
 * No candidate touches the data: read_values collects for each channel some values, the extremes of every sample, and
 * its largest and smallest values, the only ones that are ever clipped by much. */
#include "quantize/net.h"

#include "base/random.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { FOLDS = 8, TAIL = 4, MOST_PLACES = 2048, FEW_PLACES = 128, MOST_ROUNDED = 1 << 18, CODES = 255 };

static const double WIDTHS[] = {1.8, 1.6, 1.4, 1.3, 1.2, 1.1, 1.0, 0.95, 0.9, 0.8, 0.7, 0.6};
static const double UNLIKE[] = {0, 1, 0.75, 0.5, 0.25};
enum { N_WIDTHS = sizeof WIDTHS / sizeof *WIDTHS, N_UNLIKE = sizeof UNLIKE / sizeof *UNLIKE, N_RULES = 7 };
/* Room below and above the extremes; the last two: zero in the middle, and by the mean of all channels. */
static const double ROOM[N_RULES][2] = {{1, 1}, {1, 1.3}, {1, 1.6}, {1.3, 1}, {1.6, 1}, {0, 0}, {-1, -1}};

typedef struct reader {
    const ac_qproduct *p;
    const int32_t *channel; /* by channel of x: that of the tensor */
    double power;           /* of its result */
    double unit;            /* last cost of its weights ... */
    double *with;           /* ... with these steps, relative to the largest; by channel of the tensor */
} reader;

typedef struct choice {
    ac_region *tmp;
    const ac_qroot *r;
    int64_t samples, inner, c;
    int32_t places;
    float *some;            /* [c][places] */
    float *tail;            /* [samples][c][2 * TAIL]: smallest, then largest */
    float *ends[FOLDS + 1]; /* [2][c] of the samples of a fold; 0: of all */
    float *rest[FOLDS + 1]; /* of the others */
    bool *in[FOLDS + 1];    /* by sample */
    double *power, *gain;   /* by channel */
    double share;           /* of one value of a sample and channel */
    reader *reader;
    int32_t n_readers, weights_most;
} choice;

typedef struct candidate {
    double unlike, width;
    int32_t rule;
} candidate;

/* ------------------------------------------------------------------ data */

static void keep_extreme(float *low, float *high, float v)
{
    if (v < low[TAIL - 1]) {
        int32_t i = TAIL - 1;
        for (; i > 0 && v < low[i - 1]; i--)
            low[i] = low[i - 1];
        low[i] = v;
    }
    if (v > high[TAIL - 1]) {
        int32_t i = TAIL - 1;
        for (; i > 0 && v > high[i - 1]; i--)
            high[i] = high[i - 1];
        high[i] = v;
    }
}

static void read_values(choice *k, const float *x)
{
    const int64_t each = ac_tensor_count(k->r->tensor), outer = each / (k->c * k->inner),
                  per = outer * k->inner; /* values of a channel in a sample */
    uint64_t state = AC_RANDOM_START;
    k->share = 1 / (double)per;
    for (int64_t s = 0; s < k->samples; s++)
        for (int64_t c = 0; c < k->c; c++) {
            float *low = k->tail + (s * k->c + c) * 2 * TAIL, *high = low + TAIL;
            for (int32_t i = 0; i < TAIL; i++) {
                low[i] = FLT_MAX;
                high[i] = -FLT_MAX;
            }
        }
    for (int64_t s = 0; s < k->samples; s++)
        for (int64_t o = 0; o < outer; o++)
            for (int64_t c = 0; c < k->c; c++) {
                const float *v = x + s * each + (o * k->c + c) * k->inner;
                float *low = k->tail + (s * k->c + c) * 2 * TAIL, *high = low + TAIL;
                double sum = 0;
                for (int64_t i = 0; i < k->inner; i++) {
                    sum += (double)v[i] * (double)v[i];
                    keep_extreme(low, high, v[i]);
                }
                k->power[c] += sum;
            }
    for (int64_t c = 0; c < k->c; c++)
        k->power[c] /= (double)(per * k->samples);
    for (int32_t i = 0; i < k->places; i++) {
        const int64_t at = (int64_t)(ac_splitmix64(&state) % (uint64_t)(per * k->samples));
        const int64_t s = at / per, o = at % per / k->inner, p = at % k->inner;
        for (int64_t c = 0; c < k->c; c++)
            k->some[c * k->places + i] = x[s * each + (o * k->c + c) * k->inner + p];
    }
    for (int64_t i = 0; i < k->samples * k->c * TAIL * 2; i++) /* of a sample with few values */
        if (k->tail[i] == FLT_MAX || k->tail[i] == -FLT_MAX)
            k->tail[i] = 0;
}

static void shuffle_folds(choice *k)
{
    uint64_t state = AC_RANDOM_START + 1;
    const int64_t many = k->samples / 4 > 0 ? k->samples / 4 : 1;
    int64_t *order = AC_NEW_N(k->tmp, int64_t, k->samples);
    for (int32_t f = 0; f <= FOLDS; f++) {
        k->in[f] = AC_NEW_N(k->tmp, bool, k->samples);
        for (int64_t i = 0; i < k->samples; i++)
            order[i] = i;
        for (int64_t i = 0; i < k->samples; i++) {
            const int64_t j = i + (int64_t)(ac_splitmix64(&state) % (uint64_t)(k->samples - i)), v = order[j];
            order[j] = order[i];
            order[i] = v;
            k->in[f][v] = f == 0 || i < many;
        }
        k->ends[f] = AC_NEW_N(k->tmp, float, 2 * k->c);
        k->rest[f] = AC_NEW_N(k->tmp, float, 2 * k->c);
        for (int64_t s = 0; s < k->samples; s++)
            for (int64_t c = 0; c < k->c; c++) {
                const float *low = k->tail + (s * k->c + c) * 2 * TAIL, *high = low + TAIL;
                float *to = (k->in[f][s] ? k->ends[f] : k->rest[f]) + c;
                to[0] = low[0] < to[0] ? low[0] : to[0];
                to[k->c] = high[0] > to[k->c] ? high[0] : to[k->c];
            }
    }
}

/* The channel of the tensor by channel of x; -1: channels share a label. */
static const int32_t *channels_of(const choice *k, const ac_qleaf *leaf)
{
    const ac_qroot *r = k->r;
    int32_t *first = AC_NEW_N(k->tmp, int32_t, r->labels), *to = AC_NEW_N(k->tmp, int32_t, leaf->product->channels + 1);
    for (int64_t c = k->c - 1; c >= 0; c--)
        first[r->label[c]] = (int32_t)c;
    for (int64_t i = 0; i < leaf->product->channels; i++)
        to[i] = r->labels == k->c ? first[leaf->label[i]] : -1;
    return to;
}

/* The gain of each channel: the effect of its errors on the results of the readers, relative to their power. */
static void read_readers(choice *k)
{
    double all = 0;
    for (int64_t c = 0; c < k->c; c++)
        all += k->power[c];
    k->reader = AC_NEW_N(k->tmp, reader, k->r->leaf.n + 1);
    for (int32_t l = 0; l < k->r->leaf.n; l++) {
        const ac_qleaf *leaf = &k->r->leaf.item[l];
        const ac_qproduct *p = leaf->product;
        const int32_t *channel = p ? channels_of(k, leaf) : NULL;
        if (!p || channel[0] < 0) {
            for (int64_t c = 0; c < k->c; c++)
                k->gain[c] += 1 / fmax(all, 1e-12);
            continue;
        }
        double *each = AC_NEW_N(k->tmp, double, k->c), y = 0;
        for (int64_t g = 0; g < p->groups; g++)
            for (int64_t o = 0; o < p->rows; o++)
                for (int64_t i = 0; i < p->depth; i++) {
                    const double w = (double)p->weight[(g * p->rows + o) * p->depth + i];
                    each[channel[ac_q_channel(p, g, i)]] += w * w;
                }
        for (int64_t c = 0; c < k->c; c++)
            y += each[c] * k->power[c];
        y = fmax(y, 1e-12);
        for (int64_t c = 0; c < k->c; c++)
            k->gain[c] += each[c] / y;
        k->reader[k->n_readers++] = (reader){p, channel, y, -1, AC_NEW_N(k->tmp, double, k->c)};
    }
}

/* ------------------------------------------------------------------ candidates */

/* Steps by label, and the zero point in 0..255, for these extremes. Returns the zero point. */
static int32_t steps_for(const choice *k, const float *end, candidate by, int32_t labels, double *step)
{
    const float *lo = end, *hi = end + k->c;
    double low = 0, high = 0, mean_low = 0, mean_high = 0, most = 0;
    bool below = false; /* by all samples, so that folds agree */
    for (int64_t c = 0; c < k->c; c++) {
        below |= k->ends[0][c] < 0;
        low = fmin(low, (double)lo[c]);
        high = fmax(high, (double)hi[c]);
    }
    for (int32_t i = 0; i < labels; i++)
        step[i] = 0;
    double *bottom = step + labels; /* scratch */
    for (int32_t i = 0; i < labels; i++)
        bottom[i] = 0;
    for (int64_t c = 0; c < k->c; c++) {
        const int32_t i = labels > 1 ? k->r->label[c] : 0;
        step[i] = fmax(step[i], (double)hi[c]);
        bottom[i] = fmin(bottom[i], (double)lo[c]);
    }
    for (int32_t i = 0; i < labels; i++) {
        mean_low += bottom[i] / labels;
        mean_high += step[i] / labels;
    }
    const double *room = ROOM[by.rule];
    const double down = room[0] < 0 ? -mean_low : -room[0] * low, up = room[0] < 0 ? mean_high : room[1] * high;
    int32_t zero = room[0] == 0 ? 128 : (int32_t)fmin(fmax(rint(CODES * down / fmax(down + up, 1e-12)), 0), CODES);
    zero = below ? zero : 0;
    for (int32_t i = 0; i < labels; i++) {
        const double above = step[i] / fmax(CODES - zero, 1e-3), under = zero ? -bottom[i] / zero : 0;
        step[i] = fmax(above, under);
        most = fmax(most, step[i]);
    }
    most = fmax(most, 1e-9);
    for (int32_t i = 0; i < labels; i++) {
        const double u = fmax(step[i], most / 64);
        step[i] = fmin((labels > 1 ? pow(most, 1 - by.unlike) * pow(u, by.unlike) : u) * by.width,
                       k->r->top / fmax(CODES - zero, 1e-3));
    }
    return zero;
}

static double rounding(const choice *k, const double *step, int32_t labels)
{
    double total = 0;
    for (int64_t c = 0; c < k->c; c++) {
        const float s = (float)step[labels > 1 ? k->r->label[c] : 0], by = 1 / s, *v = k->some + c * k->places;
        float sum = 0;
        for (int32_t i = 0; i < k->places; i++) {
            const float t = v[i] * by, whole = (t + 12582912.f) - 12582912.f, e = t - whole;
            sum += e * e;
        }
        total += k->gain[c] * (double)sum * (double)s * (double)s / k->places;
    }
    return total;
}

/* Of the samples that did not set the range of the fold (fold 0: of all). */
static double clipping(const choice *k, int32_t fold, const double *step, int32_t zero, int32_t labels)
{
    double total = 0;
    int64_t n = 0;
    const float *rest = fold ? k->rest[fold] : k->ends[0];
    for (int64_t s = 0; s < k->samples; s++)
        n += !fold || !k->in[fold][s];
    for (int64_t c = 0; c < k->c; c++) {
        const double u = step[labels > 1 ? k->r->label[c] : 0], hi = (CODES - zero) * u, lo = -zero * u;
        if ((double)rest[c] >= lo && (double)rest[k->c + c] <= hi)
            continue;
        double sum = 0;
        for (int64_t s = 0; s < k->samples; s++) {
            const float *v = k->tail + (s * k->c + c) * 2 * TAIL;
            for (int32_t i = 0; i < 2 * TAIL && (!fold || !k->in[fold][s]); i++) {
                const double over = fmax((double)v[i] - hi, 0) + fmax(lo - (double)v[i], 0);
                sum += over * over;
            }
        }
        total += k->gain[c] * sum * k->share / (double)(n ? n : 1);
    }
    return total;
}

/* The error of weights that are multiplied by the steps before they are rounded. */
static double weighing(const choice *k, reader *w, const double *d)
{
    const ac_qproduct *p = w->p;
    double total = 0;
    if (w->unit >= 0 && !memcmp(w->with, d, (size_t)k->c * sizeof *d))
        return w->unit;
    memcpy(w->with, d, (size_t)k->c * sizeof *d);
    float *by = AC_NEW_N(k->tmp, float, p->depth + 1);
    for (int64_t g = 0; g < p->groups; g++) {
        double rows = 0, in = 0;
        for (int64_t i = 0; i < p->depth; i++) {
            const int32_t c = w->channel[ac_q_channel(p, g, i)];
            by[i] = (float)d[c];
            in += k->power[c] / (d[c] * d[c]);
        }
        for (int64_t o = 0; o < p->rows; o++) {
            const float *v = p->weight + (g * p->rows + o) * p->depth;
            float most = 0;
            for (int64_t i = 0; i < p->depth; i++) {
                const float a = fabsf(v[i] * by[i]);
                most = a > most ? a : most;
            }
            const double s = (double)most / k->weights_most;
            rows += s * s / 12;
        }
        total += rows * in;
    }
    return w->unit = total / w->power;
}

static double cost(choice *k, candidate by, double *step, int32_t *zero)
{
    const int32_t labels = by.unlike > 0 ? k->r->labels : 1;
    double total = 0, most = 0, *other = AC_NEW_N(k->tmp, double, 2 * labels), *d = AC_NEW_N(k->tmp, double, k->c);
    *zero = steps_for(k, k->ends[0], by, labels, step);
    total += rounding(k, step, labels);
    for (int32_t f = 1; f <= FOLDS; f++) {
        const int32_t z = steps_for(k, k->ends[f], by, labels, other);
        total += clipping(k, f, other, z, labels) / FOLDS;
    }
    for (int32_t i = 0; i < labels; i++)
        most = fmax(most, step[i]);
    for (int64_t c = 0; c < k->c; c++)
        d[c] = step[labels > 1 ? k->r->label[c] : 0] / most;
    for (int32_t i = 0; i < k->n_readers; i++)
        total += weighing(k, &k->reader[i], d);
    return total;
}

/* The better one of the candidate and the best so far. */
static void try(choice *k, candidate by, double *best, candidate *chosen)
{
    ac_region *keep = k->tmp;
    k->tmp = ac_region_open(ac_region_heap(keep));
    int32_t zero;
    double *step = AC_NEW_N(k->tmp, double, 2 * k->r->labels + 2);
    const double got = cost(k, by, step, &zero);
    ac_region_close(k->tmp);
    k->tmp = keep;
    if (got < *best) {
        *best = got;
        *chosen = by;
    }
}

/* How much is clipped in samples that did not set the range, of the folds' mean. */
static double clipped(choice *k, candidate by)
{
    const int32_t labels = by.unlike > 0 ? k->r->labels : 1;
    double *step = AC_NEW_N(k->tmp, double, 2 * labels + 2), share = 0;
    for (int32_t f = 1; f <= FOLDS; f++) {
        const int32_t zero = steps_for(k, k->ends[f], by, labels, step);
        int64_t n = 0, out = 0;
        for (int64_t s = 0; s < k->samples; s++)
            for (int64_t c = 0; c < k->c && !k->in[f][s]; c++, n++) {
                const double u = step[labels > 1 ? k->r->label[c] : 0];
                const float *v = k->tail + (s * k->c + c) * 2 * TAIL;
                for (int32_t i = 0; i < 2 * TAIL; i++)
                    out += (double)v[i] > (CODES - zero + 0.5) * u || (double)v[i] < -(zero + 0.5) * u;
            }
        share += n ? (double)out * k->share / (double)n / FOLDS : 0;
    }
    return fmin(share, 1);
}

static void settle(choice *k, ac_region *region, ac_qroot *r, candidate by)
{
    const int32_t labels = by.unlike > 0 ? r->labels : 1;
    double *step = AC_NEW_N(k->tmp, double, 2 * labels + 2);
    int32_t zero = steps_for(k, k->ends[0], by, labels, step);
    const double wide = fmax(CODES - zero, zero) * 4.0 / INT16_MAX; /* 16 bits: the same shape, four times the range */
    r->clipped = clipped(k, by);
    if (labels < r->labels) {
        memset(r->label, 0, (size_t)r->channels * sizeof *r->label);
        for (int32_t l = 0; l < r->leaf.n; l++) {
            ac_qleaf *leaf = &r->leaf.item[l];
            leaf->one = 0;
            memset(leaf->label, 0, (size_t)(leaf->product ? leaf->product->channels : 1) * sizeof *leaf->label);
        }
    }
    r->labels = labels;
    r->step = AC_NEW_N(region, float, labels);
    r->largest = 0;
    for (int32_t i = 0; i < labels; i++) {
        r->step[i] = (float)(r->bits == 16 ? step[i] * wide : step[i]);
        r->largest = r->step[i] > r->largest ? r->step[i] : r->largest;
    }
    r->zero = r->bits == 16 ? 0 : zero - 128;
    r->lo = r->bits == 16 ? INT16_MIN : INT8_MIN;
    r->hi = r->bits == 16 ? INT16_MAX : INT8_MAX;
}

void ac_q_choose(ac_qnet *q, ac_qroot *r, const float *x)
{
    ac_region *tmp = ac_region_open(&q->cx->heap);
    choice k = {.tmp = tmp, .r = r, .samples = q->samples, .inner = ac_q_inner(r), .c = r->channels};
    const int64_t places = MOST_ROUNDED / k.c;
    k.places = (int32_t)(places > MOST_PLACES ? MOST_PLACES : places < FEW_PLACES ? FEW_PLACES : places);
    k.some = AC_NEW_N(tmp, float, k.c *k.places);
    k.tail = AC_NEW_N(tmp, float, k.samples *k.c * 2 * TAIL);
    k.power = AC_NEW_N(tmp, double, k.c);
    k.gain = AC_NEW_N(tmp, double, k.c);
    k.weights_most = q->o->weight_bits == 4 ? 7 : 127;
    read_values(&k, x);
    shuffle_folds(&k);
    read_readers(&k);
    double best = HUGE_VAL;
    candidate chosen = {0, 1, 0}, start;
    for (int32_t a = 0; a < (r->labels > 1 ? N_UNLIKE : 1); a++)
        for (int32_t w = 0; w < N_WIDTHS; w++)
            try(&k, (candidate){UNLIKE[a], WIDTHS[w], 0}, &best, &chosen);
    start = chosen;
    bool below = false;
    for (int64_t c = 0; c < k.c; c++)
        below |= k.ends[0][c] < 0;
    for (int32_t rule = 1; rule < N_RULES && below; rule++)
        for (int32_t w = 0; w < N_WIDTHS; w++)
            try(&k, (candidate){start.unlike, WIDTHS[w], rule}, &best, &chosen);
    settle(&k, q->cx->region, r, chosen);
    ac_region_close(tmp);
}

void ac_q_round(const ac_qroot *r, const float *x, int64_t n, float *y)
{
    const int64_t inner = ac_q_inner(r);
    for (int64_t i = 0; i < n; i++) {
        const float s = r->step[ac_q_label(r, inner, i)];
        float v = rintf(x[i] / s) + (float)r->zero;
        v = v < (float)r->lo ? (float)r->lo : v > (float)r->hi ? (float)r->hi : v;
        y[i] = (v - (float)r->zero) * s;
    }
}
