/* fft.c - lowers fft: the discrete Fourier transform of complex numbers along the second to last dimension.
 *
 *     x [..,N,2] f32 or f64 -> [..,N,2]      X[k] = sum of x[i] e^(-2 pi j i k / N); inverse: e^(+..), divided by N
 *
 * Passes of Stockham's algorithm, one for each factor of N (4, 2, 3, 5, then any prime), between two buffers of a row:
 * no bit reversal, and the row comes out in order. Twiddles are constants, computed in double. A pass over factor p
 * with the product l of those before it and the rest m = N / (l p):
 *
 *     for k < l: for i < m:  t[j] = in[i + m (j + p k)], j < p
 *                            out[i + m (k + l q)] = (sum over j of t[j] w^(j q)) e^(-+2 pi j q i l / N)
 *
 * Cost: N times the sum of the factors. Error: a few units of the last place of the largest value. Source: Cooley and
 * Tukey 1965, in the order of Stockham (Cochran et al. 1967). */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"

#include <math.h>

static const double PI = 3.14159265358979323846;
enum { MOST_FACTORS = 40 };

/* A complex value */
typedef struct cx {
    ac_x re, im;
} cx;

typedef struct fft {
    ac_lower *L;
    ac_lb *b;
    ac_dtype type;
    int64_t n;
    double sign; /* of the exponent: -1, inverse +1 */
} fft;

static cx add(const fft *f, cx u, cx v)
{
    return (cx){ac_lb_add(f->b, u.re, v.re), ac_lb_add(f->b, u.im, v.im)};
}

static cx sub(const fft *f, cx u, cx v)
{
    return (cx){ac_lb_sub(f->b, u.re, v.re), ac_lb_sub(f->b, u.im, v.im)};
}

static cx scaled(const fft *f, cx u, double s)
{
    const ac_x by = ac_lb_num(f->b, f->type, s);
    return (cx){ac_lb_mul(f->b, u.re, by), ac_lb_mul(f->b, u.im, by)};
}

/* u times j, or times -j for the forward transform. */
static cx quarter(const fft *f, cx u)
{
    const cx turned = {ac_lb_neg(f->b, u.im), u.re}, back = {u.im, ac_lb_neg(f->b, u.re)};
    return f->sign > 0 ? turned : back;
}

/* u (c + j s) */
static cx times(const fft *f, cx u, ac_x c, ac_x s)
{
    ac_lb *b = f->b;
    return (cx){ac_lb_sub(b, ac_lb_mul(b, u.re, c), ac_lb_mul(b, u.im, s)),
                ac_lb_add(b, ac_lb_mul(b, u.re, s), ac_lb_mul(b, u.im, c))};
}

static cx load(const fft *f, int32_t buf, ac_x base, ac_x at)
{
    ac_lb *b = f->b;
    const ac_x i = ac_lb_add(b, base, ac_lb_mul(b, at, ac_lb_i32(b, 2)));
    return (cx){ac_lb_load(b, buf, i, 1), ac_lb_load(b, buf, ac_lb_add(b, i, ac_lb_i32(b, 1)), 1)};
}

static void store(const fft *f, int32_t buf, ac_x base, ac_x at, cx v)
{
    ac_lb *b = f->b;
    const ac_x i = ac_lb_add(b, base, ac_lb_mul(b, at, ac_lb_i32(b, 2)));
    ac_lb_store(b, buf, i, v.re);
    ac_lb_store(b, buf, ac_lb_add(b, i, ac_lb_i32(b, 1)), v.im);
}

/* ------------------------------------------------------------------ butterflies: v[j] are replaced by their sums */

static void butterfly_2(const fft *f, cx *v)
{
    const cx u = v[0];
    v[0] = add(f, u, v[1]);
    v[1] = sub(f, u, v[1]);
}

static void butterfly_3(const fft *f, cx *v)
{
    const cx t = add(f, v[1], v[2]), d = sub(f, v[1], v[2]);
    const cx a = add(f, v[0], scaled(f, t, -0.5)), b = quarter(f, scaled(f, d, 0.86602540378443864676));
    v[0] = add(f, v[0], t);
    v[1] = add(f, a, b);
    v[2] = sub(f, a, b);
}

static void butterfly_4(const fft *f, cx *v)
{
    const cx a = add(f, v[0], v[2]), b = sub(f, v[0], v[2]), c = add(f, v[1], v[3]);
    const cx d = quarter(f, sub(f, v[1], v[3]));
    v[0] = add(f, a, c);
    v[1] = add(f, b, d);
    v[2] = sub(f, a, c);
    v[3] = sub(f, b, d);
}

static void butterfly_5(const fft *f, cx *v)
{
    const double c1 = 0.30901699437494742410, c2 = -0.80901699437494742410;
    const double s1 = 0.95105651629515357212, s2 = 0.58778525229247312917;
    const cx t = v[0], p = add(f, v[1], v[4]), m = sub(f, v[1], v[4]), q = add(f, v[2], v[3]), o = sub(f, v[2], v[3]);
    const cx a = add(f, add(f, t, scaled(f, p, c1)), scaled(f, q, c2));
    const cx b = add(f, add(f, t, scaled(f, p, c2)), scaled(f, q, c1));
    const cx c = quarter(f, add(f, scaled(f, m, s1), scaled(f, o, s2)));
    const cx d = quarter(f, sub(f, scaled(f, m, s2), scaled(f, o, s1)));
    v[0] = add(f, add(f, t, p), q);
    v[1] = add(f, a, c);
    v[4] = sub(f, a, c);
    v[2] = add(f, b, d);
    v[3] = sub(f, b, d);
}

/* ------------------------------------------------------------------ passes */

typedef struct pass {
    int32_t p;        /* factor */
    int64_t l, m;     /* product of those before; the rest */
    int32_t from, to; /* buffers */
    ac_x from_at, to_at;
    bool last;
} pass;

/* cos and sin of sign 2 pi t / n for t < count, as a constant [count,2]. */
static int32_t roots(const fft *f, int64_t n, int64_t count, int64_t step, const char *name)
{
    uint8_t *v = ac_alloc_n(f->L->region, (uint64_t)count * 2, (uint64_t)ac_dtype_size(f->type, 1));
    for (int64_t t = 0; t < count; t++) {
        const double angle = f->sign * 2 * PI * (double)(t * step % n) / (double)n;
        ac_dtype_put_num(f->type, v + (2 * t) * ac_dtype_size(f->type, 1), cos(angle));
        ac_dtype_put_num(f->type, v + (2 * t + 1) * ac_dtype_size(f->type, 1), sin(angle));
    }
    return ac_lo_table(f->L, name, f->type, 2 * count, v);
}

/* Result q of the butterfly at (i, k): turned by the twiddle, divided by N at the end of an inverse transform. */
static void finish(const fft *f, const pass *s, int32_t tw, ac_x i, ac_x k, ac_x q, cx v)
{
    ac_lb *b = f->b;
    int64_t first;
    const bool plain = s->m == 1 || (ac_lb_const_int(b, q, &first) && first == 0);
    if (!plain) {
        const cx w = load(f, tw, ac_lb_i32(b, 0), ac_lb_mul(b, i, q)); /* i q < m p: the table does not wrap */
        v = times(f, v, w.re, w.im);
    }
    if (s->last && f->sign > 0)
        v = scaled(f, v, 1 / (double)f->n);
    ac_x at = ac_lb_add(b, k, ac_lb_mul(b, q, ac_lb_i32(b, s->l)));
    at = ac_lb_add(b, i, ac_lb_mul(b, at, ac_lb_i32(b, s->m)));
    store(f, s->to, s->to_at, at, v);
}

/* A prime above 5: each result is a sum over all of t. */
static void long_sums(const fft *f, const pass *s, int32_t tw, int32_t root, ac_x i, ac_x k)
{
    ac_lb *b = f->b;
    const ac_x p = ac_lb_i32(b, s->p), start = ac_lb_add(b, i, ac_lb_mul(b, k, ac_lb_i32(b, s->m * s->p)));
    const ac_x q = ac_lb_for_n(b, "q", s->p);
    const ac_x re = ac_lb_var(b, "re", ac_lb_num(b, f->type, 0)), im = ac_lb_var(b, "im", ac_lb_num(b, f->type, 0));
    const ac_x j = ac_lb_for_n(b, "j", s->p);
    const cx t = load(f, s->from, s->from_at, ac_lb_add(b, start, ac_lb_mul(b, j, ac_lb_i32(b, s->m))));
    const cx w = load(f, root, ac_lb_i32(b, 0), ac_lb_mod(b, ac_lb_mul(b, j, q), p));
    const cx u = times(f, t, w.re, w.im);
    ac_lb_set(b, re, ac_lb_add(b, ac_lb_get(b, re), u.re));
    ac_lb_set(b, im, ac_lb_add(b, ac_lb_get(b, im), u.im));
    ac_lb_end(b);
    finish(f, s, tw, i, k, q, (cx){ac_lb_get(b, re), ac_lb_get(b, im)});
    ac_lb_end(b);
}

static void run_pass(const fft *f, const pass *s)
{
    ac_lb *b = f->b;
    const int32_t tw = s->m > 1 ? roots(f, f->n, (s->m - 1) * (s->p - 1) + 1, s->l, "twiddle") : -1;
    const int32_t root = s->p > 5 ? roots(f, s->p, s->p, 1, "root") : -1;
    const ac_x k = ac_lb_for_n(b, "k", s->l), i = ac_lb_for_n(b, "i", s->m);
    if (s->p > 5) {
        long_sums(f, s, tw, root, i, k);
    } else {
        cx v[5];
        const ac_x start = ac_lb_add(b, i, ac_lb_mul(b, k, ac_lb_i32(b, s->m * s->p)));
        for (int32_t j = 0; j < s->p; j++)
            v[j] = load(f, s->from, s->from_at, ac_lb_add(b, start, ac_lb_i32(b, s->m * j)));
        if (s->p == 2)
            butterfly_2(f, v);
        else if (s->p == 3)
            butterfly_3(f, v);
        else if (s->p == 4)
            butterfly_4(f, v);
        else if (s->p == 5)
            butterfly_5(f, v);
        for (int32_t q = 0; q < s->p; q++)
            finish(f, s, tw, i, k, ac_lb_i32(b, q), v[q]);
    }
    ac_lb_end(b);
    ac_lb_end(b);
}

/* 4 as often as it goes, then 2 (which goes first: its pass is the cheapest), 3, 5, 7, .. */
static int32_t factors(int64_t n, int32_t *list)
{
    int32_t count = 0;
    for (; n % 4 == 0; n /= 4)
        list[count++] = 4;
    if (n % 2 == 0) {
        n /= 2;
        list[count++] = 2;
        const int32_t first = list[0];
        list[0] = list[count - 1];
        list[count - 1] = first;
    }
    for (int64_t p = 3; p * p <= n; p += 2)
        for (; n % p == 0; n /= p)
            list[count++] = (int32_t)p;
    if (n > 1 || !count)
        list[count++] = (int32_t)n;
    return count;
}

int ac_lo_fft(ac_lower *L)
{
    static const char *const name[AC_MAX_RANK] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};
    ac_lb *b = &L->b;
    ac_tensor *x = L->node->in[0];
    int32_t list[MOST_FACTORS];
    fft f = {.L = L, .b = b, .type = x->dtype, .n = x->dim[x->rank - 2], .sign = L->node->attrs.fft.inverse ? 1 : -1};
    if (!ac_mp_real(x) || L->node->out[0]->dtype != x->dtype) {
        ac_mp_refuse(L, L->node);
        return AC_FAIL;
    }
    const int32_t out = ac_lo_result_buf(L);
    if (ac_tensor_count(x) == 0)
        return AC_OK;
    const int32_t count = factors(f.n, list), in = ac_lo_operand(L, x);
    const int32_t a = count > 1 ? ac_lo_scratch(L, "row", f.type, 2 * f.n) : -1;
    const int32_t c = count > 2 ? ac_lo_scratch(L, "row", f.type, 2 * f.n) : -1;
    ac_x row = ac_lb_i32(b, 0);
    for (int32_t d = 0; d + 2 < x->rank; d++) {
        const ac_x i = ac_lb_for_n(b, name[d], x->dim[d]);
        row = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, x->dim[d])), i);
    }
    row = ac_lb_mul(b, row, ac_lb_i32(b, 2 * f.n));
    int64_t l = 1;
    for (int32_t i = 0; i < count; l *= list[i++]) {
        pass s = {.p = list[i], .l = l, .m = f.n / l / list[i], .last = i + 1 == count};
        s.from = i == 0 ? in : i % 2 ? a : c;
        s.to = s.last ? out : i % 2 ? c : a;
        s.from_at = i == 0 ? row : ac_lb_i32(b, 0);
        s.to_at = s.last ? row : ac_lb_i32(b, 0);
        run_pass(&f, &s);
    }
    for (int32_t d = 0; d + 2 < x->rank; d++)
        ac_lb_end(b);
    return AC_OK;
}
