/* fixed_fft.c - lowers signal_rfft and signal_irfft: the real Fourier transform in fixed point, as audio front ends
 * compute it.
 *
 *     x [..,L] i16, i32 or f32, L <= N  ->  [..,N+2]: the N/2+1 lower frequencies as pairs (re, im); L < N: zeros
 * follow x [..,N+2]                        ->  [..,N], the inverse; f32 is divided by N
 *
 * The real row is treated as N/2 complex numbers; one more butterfly separates their transform (or combines the input
 * of an inverse). Passes of decimation in time with factors 4, 2, 3, 5 in this order: the row is read in the order of
 * reversed digits, then the last factor comes first. Integers hold n/2^15 (n/2^31): each pass divides by its factor
 * first, so nothing grows, products are rounded to nearest (up), sums wrap. Bit for bit as TFLite Micro's kernels
 * (signal/src/rfft_int16.cc and the fixed-point library below it). Other factors are refused. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"

#include <math.h>

static const double PI = 3.14159265358979323846264338327;
enum { MOST_FACTORS = 16 };

/* A complex value, in the type that is computed with */
typedef struct cx {
    ac_x re, im;
} cx;

typedef struct fft {
    ac_lower *L;
    ac_lb *b;
    ac_dtype type; /* of the elements; i16 is computed in i32 and cut to 16 bits again */
    bool inverse;
    int64_t n; /* complex numbers of a row: N / 2 */
    int32_t factor[MOST_FACTORS], factors;
    int32_t row, tw, split; /* buffers: the row, e^(-2 pi j i / n), the twiddles of the last butterfly */
} fft;

/* ------------------------------------------------------------------ arithmetic */

static ac_x keep(const fft *f, ac_x v)
{
    return f->type == AC_I16 ? ac_lb_cast(f->b, ac_lb_cast(f->b, v, AC_I16), AC_I32) : v;
}

static ac_x plus(const fft *f, ac_x u, ac_x v)
{
    return f->type == AC_F32 ? ac_lb_add(f->b, u, v) : keep(f, ac_lb_add_wrap(f->b, u, v));
}

static ac_x minus(const fft *f, ac_x u, ac_x v)
{
    return f->type == AC_F32 ? ac_lb_sub(f->b, u, v) : keep(f, ac_lb_sub_wrap(f->b, u, v));
}

static ac_x negative(const fft *f, ac_x v)
{
    return f->type == AC_F32 ? ac_lb_neg(f->b, v) : minus(f, ac_lb_i32(f->b, 0), v);
}

/* In the type of products: i32 for i16, i64 for i32. */
static ac_x wide(const fft *f, ac_x v)
{
    return f->type == AC_I32 ? ac_lb_cast(f->b, v, AC_I64) : v;
}

static ac_x product(const fft *f, ac_x u, ac_x v)
{
    return f->type == AC_F32 ? ac_lb_mul(f->b, u, v) : ac_lb_mul_wrap(f->b, wide(f, u), wide(f, v));
}

static ac_x rounded(const fft *f, ac_x v)
{
    ac_lb *b = f->b;
    const int32_t bits = f->type == AC_I16 ? 15 : 31;
    if (f->type == AC_F32)
        return v;
    v = ac_lb_shr(b, ac_lb_add_wrap(b, v, ac_lb_like_int(b, v, (int64_t)1 << (bits - 1))), ac_lb_like_int(b, v, bits));
    return f->type == AC_I16 ? keep(f, v) : ac_lb_cast(b, v, AC_I32);
}

static ac_x times_real(const fft *f, ac_x u, ac_x v)
{
    return rounded(f, product(f, u, v));
}

static cx times(const fft *f, cx u, cx v)
{
    ac_lb *b = f->b;
    const ac_x rr = product(f, u.re, v.re), ii = product(f, u.im, v.im);
    const ac_x ri = product(f, u.re, v.im), ir = product(f, u.im, v.re);
    if (f->type == AC_F32)
        return (cx){ac_lb_sub(b, rr, ii), ac_lb_add(b, ri, ir)};
    return (cx){rounded(f, ac_lb_sub_wrap(b, rr, ii)), rounded(f, ac_lb_add_wrap(b, ri, ir))};
}

/* v / k as the fixed-point library has it: times (largest / k), rounded. Floats stay. */
static cx divided(const fft *f, cx v, int32_t k)
{
    if (f->type == AC_F32)
        return v;
    const ac_x by = ac_lb_i32(f->b, (f->type == AC_I16 ? 32767 : 2147483647) / k);
    return (cx){times_real(f, v.re, by), times_real(f, v.im, by)};
}

static cx add(const fft *f, cx u, cx v)
{
    return (cx){plus(f, u.re, v.re), plus(f, u.im, v.im)};
}

static cx sub(const fft *f, cx u, cx v)
{
    return (cx){minus(f, u.re, v.re), minus(f, u.im, v.im)};
}

/* v times j, or -j: v turned by a quarter, forwards or back. */
static cx quarter(const fft *f, cx v, bool forwards)
{
    return forwards ? (cx){negative(f, v.im), v.re} : (cx){v.im, negative(f, v.re)};
}

static ac_x half(const fft *f, ac_x v)
{
    return f->type == AC_F32 ? ac_lb_mul(f->b, v, ac_lb_f32(f->b, 0.5)) : ac_lb_shr(f->b, v, ac_lb_i32(f->b, 1));
}

/* (u + v) / 2; the sum of two i16 does not wrap. */
static ac_x half_sum(const fft *f, ac_x u, ac_x v)
{
    return f->type == AC_F32 ? half(f, ac_lb_add(f->b, u, v)) : keep(f, half(f, ac_lb_add_wrap(f->b, u, v)));
}

static ac_x half_difference(const fft *f, ac_x u, ac_x v)
{
    return f->type == AC_F32 ? half(f, ac_lb_sub(f->b, u, v)) : keep(f, half(f, ac_lb_sub_wrap(f->b, u, v)));
}

/* ------------------------------------------------------------------ memory */

static ac_x load_one(const fft *f, int32_t buf, ac_x at)
{
    const ac_x v = ac_lb_load(f->b, buf, at, 1);
    return f->type == AC_I16 ? ac_lb_cast(f->b, v, AC_I32) : v;
}

static void store_one(const fft *f, int32_t buf, ac_x at, ac_x v)
{
    ac_lb_store(f->b, buf, at, f->type == AC_I16 ? ac_lb_cast(f->b, v, AC_I16) : v);
}

/* Complex number i after element `from`. */
static cx load(const fft *f, int32_t buf, ac_x from, ac_x i)
{
    ac_lb *b = f->b;
    const ac_x at = ac_lb_add(b, from, ac_lb_mul(b, i, ac_lb_i32(b, 2)));
    return (cx){load_one(f, buf, at), load_one(f, buf, ac_lb_add(b, at, ac_lb_i32(b, 1)))};
}

static void store(const fft *f, int32_t buf, ac_x from, ac_x i, cx v)
{
    ac_lb *b = f->b;
    const ac_x at = ac_lb_add(b, from, ac_lb_mul(b, i, ac_lb_i32(b, 2)));
    store_one(f, buf, at, v.re);
    store_one(f, buf, ac_lb_add(b, at, ac_lb_i32(b, 1)), v.im);
}

/* e^(-+2 pi j i / n) for i < n; of the last butterfly: e^(-+pi j ((i + 1) / n + 1/2)) for i < n / 2. Rounded to the
 * type. */
static int32_t roots(const fft *f, const char *name, bool last)
{
    const int64_t count = last ? f->n / 2 : f->n;
    const double sign = f->inverse ? 1 : -1;
    float *real = AC_NEW_N(f->L->region, float, 2 * count);
    int16_t *low = AC_NEW_N(f->L->region, int16_t, 2 * count);
    int32_t *high = AC_NEW_N(f->L->region, int32_t, 2 * count);
    for (int64_t i = 0; i < 2 * count; i++) {
        const double t = (double)(i / 2), n = (double)f->n;
        const double phase = last ? sign * PI * ((t + 1) / n + .5) : sign * 2 * PI * t / n;
        const double x = i & 1 ? sin(phase) : cos(phase);
        real[i] = (float)x;
        low[i] = (int16_t)floor(.5 + 32767 * x);
        high[i] = (int32_t)floor(.5 + 2147483647 * x);
    }
    const void *v = f->type == AC_F32 ? (const void *)real : f->type == AC_I16 ? (const void *)low : (const void *)high;
    return ac_lo_table(f->L, name, f->type, 2 * count, v);
}

/* ------------------------------------------------------------------ butterflies: v[j] become their sums */

static void butterfly_4(const fft *f, cx *v)
{
    const cx a = sub(f, v[0], v[2]), s = add(f, v[0], v[2]), c = add(f, v[1], v[3]), d = sub(f, v[1], v[3]);
    v[0] = add(f, s, c);
    v[2] = sub(f, s, c);
    v[1] = add(f, a, quarter(f, d, f->inverse));
    v[3] = add(f, a, quarter(f, d, !f->inverse));
}

/* turn: e^(-+2 pi j / 3) */
static void butterfly_3(const fft *f, cx *v, cx turn)
{
    const cx s = add(f, v[1], v[2]), d = sub(f, v[1], v[2]), first = v[0];
    const cx a = {minus(f, first.re, half(f, s.re)), minus(f, first.im, half(f, s.im))};
    const cx t = {times_real(f, d.re, turn.im), times_real(f, d.im, turn.im)};
    v[0] = add(f, first, s);
    v[2] = (cx){plus(f, a.re, t.im), minus(f, a.im, t.re)};
    v[1] = (cx){minus(f, a.re, t.im), plus(f, a.im, t.re)};
}

/* u + p a + q b for the parts of p and q */
static cx mixed(const fft *f, cx u, cx p, ac_x a, cx q, ac_x b)
{
    return (cx){plus(f, plus(f, u.re, times_real(f, p.re, a)), times_real(f, q.re, b)),
                plus(f, plus(f, u.im, times_real(f, p.im, a)), times_real(f, q.im, b))};
}

/* y, z: e^(-+2 pi j / 5) and its square */
static void butterfly_5(const fft *f, cx *v, cx y, cx z)
{
    const cx s7 = add(f, v[1], v[4]), s10 = sub(f, v[1], v[4]), s8 = add(f, v[2], v[3]), s9 = sub(f, v[2], v[3]);
    const cx s0 = v[0], s5 = mixed(f, s0, s7, y.re, s8, z.re), s11 = mixed(f, s0, s7, z.re, s8, y.re);
    const cx s6 = {plus(f, times_real(f, s10.im, y.im), times_real(f, s9.im, z.im)),
                   minus(f, negative(f, times_real(f, s10.re, y.im)), times_real(f, s9.re, z.im))};
    const cx s12 = {plus(f, negative(f, times_real(f, s10.im, z.im)), times_real(f, s9.im, y.im)),
                    minus(f, times_real(f, s10.re, z.im), times_real(f, s9.re, y.im))};
    v[0] = (cx){plus(f, s0.re, plus(f, s7.re, s8.re)), plus(f, s0.im, plus(f, s7.im, s8.im))};
    v[1] = sub(f, s5, s6);
    v[4] = add(f, s5, s6);
    v[2] = add(f, s11, s12);
    v[3] = sub(f, s11, s12);
}

/* ------------------------------------------------------------------ the complex transform of the row, in place */

/* false: it has a factor other than 2, 3, 4 and 5. */
static bool split_length(fft *f)
{
    int64_t n = f->n;
    static const int32_t ORDER[] = {4, 2, 3, 5};
    for (size_t i = 0; i < sizeof ORDER / sizeof *ORDER; i++)
        for (; n % ORDER[i] == 0; n /= ORDER[i])
            f->factor[f->factors++] = ORDER[i];
    return n == 1 && f->factors > 0;
}

/* The source positions of the row's numbers: digits reversed. */
static int32_t order(const fft *f)
{
    int32_t *from = AC_NEW_N(f->L->region, int32_t, f->n);
    for (int64_t i = 0; i < f->n; i++) {
        int64_t rest = i, size = f->n, stride = 1, at = 0;
        for (int32_t k = 0; k < f->factors; k++) {
            size /= f->factor[k];
            at += rest / size * stride;
            rest %= size;
            stride *= f->factor[k];
        }
        from[i] = (int32_t)at;
    }
    return ac_lo_table(f->L, "order", AC_I32, f->n, from);
}

/* One pass: `blocks` transforms of p m numbers from transforms of m. */
static void run_pass(const fft *f, int32_t p, int64_t m, int64_t blocks)
{
    ac_lb *b = f->b;
    const ac_x zero = ac_lb_i32(b, 0), block = ac_lb_for_n(b, "block", blocks), k = ac_lb_for_n(b, "k", m);
    const ac_x start = ac_lb_add(b, ac_lb_mul(b, block, ac_lb_i32(b, p * m)), k);
    cx v[5];
    for (int32_t j = 0; j < p; j++) {
        v[j] = divided(f, load(f, f->row, zero, ac_lb_add(b, start, ac_lb_i32(b, j * m))), p);
        if (j)
            v[j] = times(f, v[j], load(f, f->tw, zero, ac_lb_mul(b, k, ac_lb_i32(b, blocks * j))));
    }
    if (p == 2) {
        const cx u = v[0];
        v[0] = add(f, u, v[1]);
        v[1] = sub(f, u, v[1]);
    } else if (p == 3) {
        butterfly_3(f, v, load(f, f->tw, zero, ac_lb_i32(b, blocks * m)));
    } else if (p == 4) {
        butterfly_4(f, v);
    } else {
        butterfly_5(f, v, load(f, f->tw, zero, ac_lb_i32(b, blocks * m)),
                    load(f, f->tw, zero, ac_lb_i32(b, 2 * blocks * m)));
    }
    for (int32_t j = 0; j < p; j++)
        store(f, f->row, zero, ac_lb_add(b, start, ac_lb_i32(b, j * m)), v[j]);
    ac_lb_end(b);
    ac_lb_end(b);
}

static void transform(const fft *f)
{
    int64_t m = 1, blocks = f->n;
    for (int32_t k = f->factors - 1; k >= 0; k--) {
        blocks /= f->factor[k];
        run_pass(f, f->factor[k], m, blocks);
        m *= f->factor[k];
    }
}

/* ------------------------------------------------------------------ rows */

/* Real number i of the row at `from`, 0 after its end. */
static ac_x padded(const fft *f, int32_t x, ac_x from, ac_x i, int64_t length)
{
    ac_lb *b = f->b;
    if (length >= 2 * f->n)
        return load_one(f, x, ac_lb_add(b, from, i));
    const ac_x last = ac_lb_i32(b, length - 1), v = load_one(f, x, ac_lb_add(b, from, ac_lb_min(b, i, last)));
    return ac_lb_select(b, ac_lb_le(b, i, last), v, ac_lb_like_int(b, v, 0));
}

static void forward_row(const fft *f, int32_t x, ac_x from, int64_t length, int32_t y, ac_x to)
{
    ac_lb *b = f->b;
    const ac_x zero = ac_lb_i32(b, 0), one = ac_lb_i32(b, 1), two = ac_lb_i32(b, 2), n = ac_lb_i32(b, f->n);
    const int32_t from_at = order(f);
    const ac_x i = ac_lb_for_n(b, "i", f->n);
    const ac_x at = ac_lb_mul(b, ac_lb_load(b, from_at, i, 1), two);
    store(f, f->row, zero, i, (cx){padded(f, x, from, at, length), padded(f, x, from, ac_lb_add(b, at, one), length)});
    ac_lb_end(b);
    transform(f);
    const cx dc = divided(f, load(f, f->row, zero, zero), 2);
    const ac_x none = ac_lb_like_int(b, dc.re, 0);
    store(f, y, to, zero, (cx){plus(f, dc.re, dc.im), none});
    store(f, y, to, n, (cx){minus(f, dc.re, dc.im), none});
    const ac_x k = ac_lb_for(b, "k", one, ac_lb_i32(b, f->n / 2 + 1), 1, AC_MARK_SERIAL), other = ac_lb_sub(b, n, k);
    cx u = load(f, f->row, zero, k), v = load(f, f->row, zero, other);
    u = divided(f, u, 2);
    v = divided(f, (cx){v.re, negative(f, v.im)}, 2);
    const cx s = add(f, u, v), t = times(f, sub(f, u, v), load(f, f->split, zero, ac_lb_sub(b, k, one)));
    store(f, y, to, k, (cx){half_sum(f, s.re, t.re), half_sum(f, s.im, t.im)});
    store(f, y, to, other, (cx){half_difference(f, s.re, t.re), half_difference(f, t.im, s.im)});
    ac_lb_end(b);
}

static void inverse_row(const fft *f, int32_t x, ac_x from, int32_t y, ac_x to)
{
    ac_lb *b = f->b;
    const ac_x zero = ac_lb_i32(b, 0), one = ac_lb_i32(b, 1), n = ac_lb_i32(b, f->n);
    const int32_t from_at = order(f), parts = ac_lo_scratch(f->L, "parts", f->type, 2 * f->n);
    const cx low = load(f, x, from, zero), high = load(f, x, from, n);
    store(f, parts, zero, zero, divided(f, (cx){plus(f, low.re, high.re), minus(f, low.re, high.re)}, 2));
    const ac_x k = ac_lb_for(b, "k", one, ac_lb_i32(b, f->n / 2 + 1), 1, AC_MARK_SERIAL), other = ac_lb_sub(b, n, k);
    const cx u = divided(f, load(f, x, from, k), 2), w = load(f, x, from, other);
    const cx v = divided(f, (cx){w.re, negative(f, w.im)}, 2), s = add(f, u, v);
    const cx t = times(f, sub(f, u, v), load(f, f->split, zero, ac_lb_sub(b, k, one))), d = sub(f, s, t);
    store(f, parts, zero, k, add(f, s, t));
    store(f, parts, zero, other, (cx){d.re, negative(f, d.im)});
    ac_lb_end(b);
    ac_x i = ac_lb_for_n(b, "i", f->n);
    store(f, f->row, zero, i, load(f, parts, zero, ac_lb_load(b, from_at, i, 1)));
    ac_lb_end(b);
    transform(f);
    i = ac_lb_for_n(b, "i", f->n);
    cx done = load(f, f->row, zero, i);
    if (f->type == AC_F32) {
        const ac_x by = ac_lb_f32(b, (double)(2 * f->n));
        done = (cx){ac_lb_div(b, done.re, by), ac_lb_div(b, done.im, by)};
    }
    store(f, y, to, i, done);
    ac_lb_end(b);
}

static int lower_rows(ac_lower *L, bool inverse)
{
    ac_lb *b = &L->b;
    ac_tensor *x = L->node->in[0];
    const int64_t in = x->dim[x->rank - 1], out = L->node->out[0]->dim[x->rank - 1];
    fft f = {.L = L, .b = b, .type = x->dtype, .inverse = inverse, .n = L->node->attrs.rfft.fft_length / 2};
    const int32_t y = ac_lo_result_buf(L);
    if (!split_length(&f))
        return ac_lower_refuse(L, "half of fft_length has a prime factor above 5");
    if (!ac_tensor_count(x))
        return AC_OK;
    const int32_t from = ac_lo_operand(L, x);
    f.row = ac_lo_scratch(L, "row", f.type, 2 * f.n);
    f.tw = roots(&f, "twiddle", false);
    f.split = roots(&f, "split", true);
    const ac_x i = ac_lb_for_n(b, "i", ac_tensor_count(x) / in);
    if (inverse)
        inverse_row(&f, from, ac_lb_mul(b, i, ac_lb_i32(b, in)), y, ac_lb_mul(b, i, ac_lb_i32(b, out)));
    else
        forward_row(&f, from, ac_lb_mul(b, i, ac_lb_i32(b, in)), in, y, ac_lb_mul(b, i, ac_lb_i32(b, out)));
    ac_lb_end(b);
    return AC_OK;
}

int ac_lo_rfft(ac_lower *L)
{
    return lower_rows(L, false);
}

int ac_lo_irfft(ac_lower *L)
{
    return lower_rows(L, true);
}
