/* quad.c - creates biases, multipliers and shifts of blocks of channels, and stores their sums; see quad.h. */
#include "ir/lower/quad/quad.h"

#include "ir/loop/requants.h"
#include "ir/lower/lower.h"

#include <math.h>

enum { PER_CHANNEL = 3, EIGHT = 8 }; /* constants; channels of a larger block */

/* A multiplier, and a shift to the right. */
typedef struct scale {
    int32_t m, e;
} scale;

typedef struct form {
    ac_requants q;
    scale s;
} form;

static int32_t at(const void *with, int32_t acc)
{
    const form *f = with;
    return ac_requant_at(&f->q, acc, f->s.m, f->s.e);
}

/* The left shift that every accumulator allows, at most 30. */
static int32_t room(const ac_steps *f)
{
    int32_t pre = 30;
    while (pre > 0 && (f->from < INT32_MIN >> pre || f->to > INT32_MAX >> pre))
        pre--;
    return pre;
}

/* round(acc * scale) as a product and two roundings. */
static bool of_real(const ac_steps *f, int32_t pre, bool away, scale *s)
{
    int shift;
    const double fraction = frexp(f->scale, &shift);
    const int64_t m = llround(ldexp(fraction, 31));
    const form g = {.q = {.zero = f->zero, .lo = f->lo, .hi = f->hi, .pre = pre, .away = away},
                    .s = {(int32_t)(m > INT32_MAX ? INT32_MAX : m), pre - shift}};
    *s = g.s;
    return f->scale > 0 && g.s.e >= 1 && g.s.e <= 31 && ac_steps_same(f, at, &g);
}

static bool of_fixed(const ac_steps *f, bool away, scale *s)
{
    *s = (scale){f->q.m, f->q.m ? -f->q.shift : 1};
    return f->q.m >= 0 && s->e >= away && s->e <= 31;
}

/* Scales of n functions; all of them have the same shift to the left. */
static bool find_scales(const ac_steps *f, int64_t n, ac_quad *q, scale *s)
{
    q->away = f->lo < f->zero;
    q->pre = f->real ? 30 : 0;
    for (int64_t i = 0; i < n && f->real; i++)
        q->pre = room(&f[i]) < q->pre ? room(&f[i]) : q->pre;
    for (int64_t i = 0; i < n; i++)
        if (f->real ? !of_real(&f[i], q->pre, q->away, &s[i]) : !of_fixed(&f[i], q->away, &s[i]))
            return false;
    return true;
}

/* Constants of the channels: as many as all blocks have. */
static const int32_t *constants(const ac_quad *q, const int32_t *bias, const scale *s, int64_t count)
{
    const ac_channel *c = q->c;
    int32_t *t = AC_NEW_N(q->L->region, int32_t, count), *shared = t + 2 * (int64_t)q->lanes;
    for (int64_t i = 0; i < q->n; i++) {
        const int64_t l = i % q->lanes, first = i - l, width = q->n - first < q->lanes ? q->n - first : q->lanes;
        int32_t *own = c->per_channel ? t + first * PER_CHANNEL : t;
        int32_t *scales = c->per_channel ? own + width : own;
        const scale *of = &s[c->per_channel && i < c->n ? i : 0];
        *(c->per_channel ? &own[l] : &shared[i]) = i < c->n ? bias[i] : 0;
        scales[l] = of->m;
        scales[(c->per_channel ? width : q->lanes) + l] = -of->e;
    }
    return t;
}

static bool fits(const ac_lower *L, const ac_channel *c)
{
    return (L->target->mve || L->target->rvv) && !L->target->vec_bytes && c->kind == AC_MACS_I8 && !c->zw &&
           c->w->dtype == AC_I8 && c->out->dtype == AC_I8 && c->n > 0 && ac_tensor_is_const(c->w) &&
           ac_channel_known(c->bias);
}

/* lanes: of blocks on a processor with sums of sixteen products */
static bool open(ac_lower *L, ac_quad *q, ac_channel *c, int32_t lanes)
{
    if (!fits(L, c))
        return false;
    if (!L->target->mve)
        lanes = c->n < AC_QUAD_MOST ? (int32_t)c->n : AC_QUAD_MOST;
    *q = (ac_quad){.L = L, .c = c, .y = -1, .lanes = lanes, .n = c->n};
    q->n += L->target->mve ? -c->n & (lanes - 1) : 0;
    const int64_t n = c->per_channel ? c->n : 1, count = c->per_channel ? PER_CHANNEL * q->n : 2 * lanes + q->n;
    const ac_steps *f = ac_channel_steps(c);
    const int32_t *bias = ac_channel_biases(c, c->zx);
    scale *s = AC_NEW_N(L->region, scale, n);
    if (!f || !bias || !find_scales(f, n, q, s))
        return false;
    q->table = ac_lo_table(L, "requant", AC_I32, count, constants(q, bias, s, count));
    c->folded = true;
    ac_lo_requant_note(L, ac_strf(L->region, "vectors of %d: acc * %sm in 32 bits, rounded twice", (int)lanes,
                                  q->pre ? "2^n * " : ""));
    return true;
}

bool ac_quad_open(ac_lower *L, ac_quad *q, ac_channel *c)
{
    return open(L, q, c, AC_QUAD);
}

bool ac_quad_open_sums(ac_lower *L, ac_quad *q, ac_channel *c, int64_t depth)
{
    const ac_rows rows = {depth, depth, 1};
    if (!L->target->mve || !fits(L, c))
        return false;
    *q = (ac_quad){.L = L, .c = c, .y = -1, .table = -1, .lanes = AC_QUAD, .n = c->n + (-c->n & (AC_QUAD - 1))};
    ac_channel_tables(c, c->n, &rows, c->zx);
    return true;
}

bool ac_quad_open_eights(ac_lower *L, ac_quad *q, ac_channel *c)
{
    return L->target->mve && c->n % EIGHT == 0 && c->lo == INT8_MIN && c->hi == INT8_MAX && open(L, q, c, EIGHT);
}

int32_t ac_quad_weights(const ac_quad *q, int64_t depth)
{
    enum { DEPTH = 16 };
    ac_lower P;
    const ac_channel *c = q->c;
    const int64_t blocks = q->n / q->lanes, steps = (depth + DEPTH - 1) / DEPTH;
    const int32_t to = ac_lo_pack_open(q->L, &P, "w", AC_I8, q->n * steps * DEPTH);
    ac_lb *b = &P.b;
    const ac_x block = ac_lb_for_n(b, "block", blocks), step = ac_lb_for_n(b, "step", steps);
    const ac_x l = ac_lb_for_n(b, "l", q->lanes), i = ac_lb_for_n(b, "i", DEPTH);
    const ac_x oc = ac_lb_add(b, ac_lo_scaled(b, block, q->lanes), l);
    const ac_x k = ac_lb_add(b, ac_lo_scaled(b, step, DEPTH), i);
    const ac_x in = ac_lb_min(b, oc, ac_lb_i32(b, c->n - 1)), ik = ac_lb_min(b, k, ac_lb_i32(b, depth - 1));
    ac_x w = ac_lb_load(b, ac_lo_operand(&P, c->w), ac_lb_add(b, ac_lo_scaled(b, in, depth), ik), 1);
    if (c->n % AC_QUAD)
        w = ac_lb_select(b, ac_lb_eq(b, in, oc), w, ac_lb_int(b, AC_I8, 0));
    if (depth % DEPTH)
        w = ac_lb_select(b, ac_lb_eq(b, ik, k), w, ac_lb_int(b, AC_I8, 0));
    ac_x at = ac_lb_add(b, ac_lo_scaled(b, block, steps), step);
    at = ac_lb_add(b, ac_lo_scaled(b, at, q->lanes), l);
    ac_lb_store(b, to, ac_lb_add(b, ac_lo_scaled(b, at, DEPTH), i), w);
    for (int n = 0; n < 4; n++)
        ac_lb_end(b);
    return ac_lo_pack_close(q->L, &P);
}

void ac_quad_places(const ac_quad *q, ac_x oc, int32_t width, ac_x *m, ac_x *bias)
{
    ac_lb *b = &q->L->b;
    *m = ac_lb_i32(b, q->lanes - width);
    *bias = ac_lb_add(b, oc, ac_lb_i32(b, 2 * q->lanes));
    if (q->c->per_channel) {
        *bias = ac_lb_mul(b, oc, ac_lb_i32(b, PER_CHANNEL));
        *m = ac_lb_add(b, *bias, ac_lb_i32(b, width));
    }
}

void ac_quad_requantise(const ac_quad *q, int32_t row, ac_x oc, int32_t width, int32_t y, ac_x y_at)
{
    ac_lb *b = &q->L->b;
    const ac_channel *c = q->c;
    ac_x m, bias;
    ac_quad_places(q, oc, width, &m, &bias);
    ac_lb_requant(b,
                  (ac_requants){.y = y,
                                .acc = q->acc,
                                .table = q->table,
                                .lanes = width,
                                .row = row,
                                .zero = ac_quant_zero(c->out),
                                .lo = c->lo,
                                .hi = c->hi,
                                .pre = q->pre,
                                .away = q->away},
                  y_at, m, bias);
}

/* The stored value of lane l, a channel. */
static ac_x value_of(const ac_quad *q, int32_t row, int32_t l, ac_x channel)
{
    ac_lb *b = &q->L->b;
    if (q->table >= 0)
        return ac_lb_load(b, q->y, ac_lb_i32(b, l), 1);
    const ac_x sum = ac_lb_load(b, q->acc, ac_lb_i32(b, (int64_t)row * AC_QUAD + l), 1);
    return ac_channel_done(q->c, ac_lb_add_wrap(b, sum, ac_channel_start(q->c, channel, 1)), channel);
}

/* One by one, with fused operators. guard: only those that exist. */
static void store_each(const ac_quad *q, int32_t row, ac_x oc, ac_x *idx, int64_t least, bool guard)
{
    ac_lb *b = &q->L->b;
    const int32_t last = q->c->out->rank - 1;
    if (q->table >= 0)
        ac_quad_requantise(q, row, oc, AC_QUAD, q->y, ac_lb_i32(b, 0));
    for (int32_t l = 0; l < AC_QUAD; l++) {
        if (l >= least && !guard)
            break;
        idx[last] = ac_lb_add(b, oc, ac_lb_i32(b, l));
        if (l >= least)
            ac_lb_if(b, ac_lb_lt(b, idx[last], ac_lb_i32(b, q->c->n)));
        ac_lo_result(q->L, value_of(q, row, l, idx[last]), idx, 1);
        if (l >= least)
            ac_lb_end(b);
    }
}

void ac_quad_store(const ac_quad *q, int32_t row, ac_x oc, ac_x *idx)
{
    ac_lower *L = q->L;
    ac_lb *b = &L->b;
    const int64_t rest = q->c->n % AC_QUAD;
    if (L->node->n_fused || q->table < 0) {
        store_each(q, row, oc, idx, rest ? rest : AC_QUAD, q->c->n > AC_QUAD);
        return;
    }
    if (rest && q->c->n > AC_QUAD)
        ac_lb_if(b, ac_lb_le(b, ac_lb_add(b, oc, ac_lb_i32(b, AC_QUAD)), ac_lb_i32(b, q->c->n)));
    if (!rest || q->c->n > AC_QUAD) {
        idx[q->c->out->rank - 1] = oc;
        ac_quad_requantise(q, row, oc, AC_QUAD, ac_lo_result_buf(L), ac_lo_flat(L, L->node->out[0], idx));
    }
    if (rest && q->c->n > AC_QUAD)
        ac_lb_else(b);
    if (rest)
        store_each(q, row, oc, idx, rest, false);
    if (rest && q->c->n > AC_QUAD)
        ac_lb_end(b);
}
