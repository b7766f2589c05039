/* channel_line.c - requantises channels by one product: bounds of the accumulators, tables, loops; see channel.h and
 * requant_line.h. */
#include "ir/lower/channel.h"
#include "ir/lower/lower.h"

enum { MOST_WORDS = 3 };

/* The sum of a channel's weights, and bounds of sum(w * (x - zx)) over any subset of the products. */
typedef struct ac_reach {
    int64_t sum, lo, hi;
} reach;

/* Bounds of the sums of a channel whose weights above 0 sum up to `above`, those below to `below`. x: from lo to hi,
 * without its zero point. */
static reach reach_of(int64_t above, int64_t below, int64_t lo, int64_t hi)
{
    lo = lo < 0 ? lo : 0;
    hi = hi > 0 ? hi : 0;
    return (reach){above + below, above * lo + below * hi, above * hi + below * lo};
}

/* The weights above and below 0, without their zero point, of n channels: `inner` weights are contiguous. */
static void add_weights(const ac_channel *c, const void *data, int64_t count, int64_t inner, int64_t *above,
                        int64_t *below)
{
    enum { RUN = 1 << 20 }; /* whose sums fit 32 bits */
    const int32_t zero = c->zw;
    int64_t of = 0;
    for (int64_t at = 0; at < count; at += inner, of = of + 1 < c->n ? of + 1 : 0) {
        for (int64_t from = at; from < at + inner; from += RUN) {
            const int64_t n = at + inner - from < RUN ? at + inner - from : RUN;
            int32_t sum = 0, sizes = 0;
            if (c->w->dtype == AC_U8)
                for (int64_t i = 0; i < n; i++) {
                    const int32_t w = ((const uint8_t *)data)[from + i] - zero;
                    sum += w;
                    sizes += w < 0 ? -w : w;
                }
            else
                for (int64_t i = 0; i < n; i++) {
                    const int32_t w = ((const int8_t *)data)[from + i] - zero;
                    sum += w;
                    sizes += w < 0 ? -w : w;
                }
            above[of] += ((int64_t)sizes + sum) / 2;
            below[of] -= ((int64_t)sizes - sum) / 2;
        }
    }
}

/* The bounds of each channel; weights known only at run time may have any value. NULL: diagnostic. */
static const reach *reaches(ac_channel *c)
{
    const ac_lower *L = c->L;
    if (c->reach)
        return c->reach;
    reach *r = AC_NEW_N(L->region, reach, c->n);
    const int64_t count = ac_tensor_count(c->w), lo = ac_dtype_min(c->x->dtype) - c->zx,
                  hi = ac_dtype_max(c->x->dtype) - c->zx;
    if (!ac_tensor_is_const(c->w)) {
        const int64_t least = ac_dtype_min(c->w->dtype) - c->zw, most = ac_dtype_max(c->w->dtype) - c->zw;
        const reach one = reach_of(least > 0 ? least : 0, least < 0 ? least : 0, lo, hi),
                    other = reach_of(most > 0 ? most : 0, most < 0 ? most : 0, lo, hi);
        for (int64_t i = 0; i < c->n; i++)
            r[i] = (reach){0, (one.lo < other.lo ? one.lo : other.lo) * (count / c->n),
                           (one.hi > other.hi ? one.hi : other.hi) * (count / c->n)};
        return c->reach = r;
    }
    const void *data = ac_tensor_force(L->cx, c->w);
    if (!data)
        return NULL;
    int64_t inner = 1;
    for (int32_t d = c->axis + 1; d < c->w->rank; d++)
        inner *= c->w->dim[d];
    int64_t *above = AC_NEW_N(L->region, int64_t, 2 * c->n), *below = above + c->n;
    const bool equal = c->w->splat; /* all weights */
    add_weights(c, data, equal ? 1 : count, equal ? 1 : inner, above, below);
    for (int64_t i = 0; i < c->n; i++)
        r[i] = equal ? reach_of(above[0] * (count / c->n), below[0] * (count / c->n), lo, hi)
                     : reach_of(above[i], below[i], lo, hi);
    return c->reach = r;
}

/* Biases as numbers; NULL: none, or a diagnostic. */
static const void *biases(const ac_channel *c)
{
    return c->bias ? ac_tensor_force(c->L->cx, c->bias) : NULL;
}

static int64_t bias_at(const ac_channel *c, const void *bias, int64_t i)
{
    if (!bias)
        return 0;
    i = c->bias->splat ? 0 : i;
    return c->bias->dtype == AC_I64 ? ((const int64_t *)bias)[i] : ((const int32_t *)bias)[i];
}

/* The reference's function of channel i; per tensor: of all channels. */
static ac_steps steps_of(const ac_channel *c, int64_t i, const reach *r, const void *bias)
{
    const double scale = ac_channel_scale(c, i);
    ac_steps f = {.real = c->rounding == AC_ROUND_F64,
                  .scale = scale,
                  .q = ac_quantize_multiplier(scale),
                  .zero = ac_quant_zero(c->out),
                  .lo = c->lo,
                  .hi = c->hi,
                  .from = INT32_MAX,
                  .to = INT32_MIN};
    for (int64_t k = c->per_channel ? i : 0; k < (c->per_channel ? i + 1 : c->n); k++) {
        const int64_t from = r[k].lo + bias_at(c, bias, k), to = r[k].hi + bias_at(c, bias, k);
        f.from = from < f.from ? from : f.from;
        f.to = to > f.to ? to : f.to;
    }
    if (f.from < INT32_MIN || f.to > INT32_MAX || !ac_channel_known(c->bias)) {
        f.from = c->acc == AC_I64 ? INT64_MIN : INT32_MIN;
        f.to = c->acc == AC_I64 ? INT64_MAX : INT32_MAX;
    }
    return f;
}

const ac_steps *ac_channel_steps(ac_channel *c)
{
    const reach *r = reaches(c);
    const void *bias = ac_channel_known(c->bias) ? biases(c) : NULL;
    if (!r || (c->bias && ac_channel_known(c->bias) && !bias))
        return NULL; /* reported already, and again when the constant is read */
    const int64_t n = c->per_channel ? c->n : 1;
    ac_steps *f = AC_NEW_N(c->L->region, ac_steps, n);
    for (int64_t i = 0; i < n; i++)
        f[i] = steps_of(c, i, r, bias);
    return f;
}

bool ac_channel_narrow(ac_channel *c)
{
    const ac_target *t = c->L->target;
    if (!t->firmware || t->vec_bytes || c->w->dtype != AC_I8 || !ac_tensor_is_const(c->w) ||
        !ac_channel_known(c->bias) || c->zw)
        return false;
    const ac_steps *f = ac_channel_steps(c);
    for (int64_t i = 0; f && i < (c->per_channel ? c->n : 1); i++)
        if (f[i].from < INT32_MIN || f[i].to > INT32_MAX)
            return false;
    return f;
}

const int32_t *ac_channel_biases(ac_channel *c, int32_t fold)
{
    const reach *r = reaches(c);
    const void *bias = biases(c);
    int32_t *to = AC_NEW_N(c->L->region, int32_t, c->n);
    if (!r || (c->bias && !bias))
        return NULL;
    for (int64_t i = 0; i < c->n; i++) {
        const int64_t v = bias_at(c, bias, i) - fold * r[i].sum;
        if (v != (int32_t)v)
            return NULL;
        to[i] = (int32_t)v;
    }
    return to;
}

/* f with the biases separate from the accumulators; NULL: not possible. */
static const ac_steps *with_biases_apart(const ac_channel *c, const ac_steps *f, const int32_t *bias)
{
    ac_steps *to = AC_NEW_N(c->L->region, ac_steps, c->n);
    for (int64_t i = 0; i < c->n; i++) {
        to[i] = f[i];
        to[i].from -= bias[i];
        to[i].to -= bias[i];
        to[i].bias = bias[i];
        if (to[i].from < INT32_MIN || to[i].to > INT32_MAX)
            return NULL;
    }
    return to;
}

/* A line of words whose c includes the bias, if that costs no more. */
static bool find_with_bias(ac_channel *c, const ac_steps *f, int32_t fold)
{
    const int32_t *bias = c->per_channel && ac_channel_known(c->bias) ? ac_channel_biases(c, fold) : NULL;
    f = bias ? with_biases_apart(c, f, bias) : NULL;
    if (!f)
        return false;
    ac_line_of *of = AC_NEW_N(c->L->region, ac_line_of, c->n);
    const ac_line line = ac_line_find(f, c->n, ac_target_mul(c->L->target), of);
    if (line.kind == AC_LINE_NONE || line.product == AC_LINE_LONG || line.rank > c->line.rank)
        return false;
    c->line = line;
    c->of = of;
    return true;
}

bool ac_channel_line_find(ac_channel *c, int32_t fold)
{
    const ac_target *t = c->L->target;
    if (!t->firmware || t->vec_bytes || (c->kind != AC_MACS_I8 && c->kind != AC_MACS_U8) || !c->n)
        return false;
    const ac_steps *f = ac_channel_steps(c);
    if (!f)
        return false;
    const int64_t n = c->per_channel ? c->n : 1;
    c->of = AC_NEW_N(c->L->region, ac_line_of, n);
    c->line = ac_line_find(f, n, ac_target_mul(t), c->of);
    if (c->line.kind == AC_LINE_NONE)
        return false;
    c->bias_in_line = find_with_bias(c, f, fold);
    ac_lo_requant_note(c->L, ac_line_words(c->L->region, &c->line));
    return true;
}

/* 16-bit results that the reference rounds in double; the integers of all channels, or NULL. */
static ac_real *reals(ac_channel *c, int64_t n)
{
    const ac_steps *f = ac_channel_steps(c);
    ac_real *r = AC_NEW_N(c->L->region, ac_real, n);
    int32_t post = INT32_MAX;
    for (int64_t i = 0; i < n && f; i++)
        post = ac_real_post(f[i].scale) < post ? ac_real_post(f[i].scale) : post;
    for (int64_t i = 0; i < n; i++)
        if (!f || !ac_real_find(&(ac_real_steps){f[i].scale, f[i].lo, f[i].hi, f[i].from, f[i].to}, post, &r[i]))
            return NULL;
    return r;
}

bool ac_channel_float_tables(ac_channel *c, int64_t entries)
{
    ac_lower *L = c->L;
    const ac_target *t = L->target;
    if (!t->vec_bytes || t->firmware || (c->kind != AC_MACS_I8 && c->kind != AC_MACS_U8) || !c->n)
        return false;
    const ac_steps *f = ac_channel_steps(c);
    const int64_t n = c->per_channel ? c->n : 1;
    ac_float_of *of = AC_NEW_N(L->region, ac_float_of, n);
    int64_t hardest = 0; /* the smallest scale is the most likely to fail: try it first */
    for (int64_t i = 0; i < n && f; i++)
        hardest = f[i].scale < f[hardest].scale ? i : hardest;
    if (!f || !ac_requant_float_find(&f[hardest], t->fma, &of[hardest]))
        return false;
    for (int64_t i = 0; i < n; i++)
        if (i != hardest && !ac_requant_float_find(&f[i], t->fma, &of[i]))
            return false;
    c->flt = of;
    bool by_sign = false;
    for (int64_t i = 0; i < n; i++)
        by_sign |= ac_requant_float_by_sign(&of[i]);
    ac_lo_requant_note(L, ac_requant_float_words(by_sign));
    if (!c->per_channel)
        return true;
    float *scale = AC_NEW_N(L->region, float, entries), *add = AC_NEW_N(L->region, float, entries),
          *below = AC_NEW_N(L->region, float, entries);
    for (int64_t i = 0; i < n; i++) {
        scale[i] = of[i].scale;
        add[i] = of[i].c;
        below[i] = of[i].below;
    }
    c->scale_buf = ac_lo_table(L, "scale", AC_F32, entries, scale);
    c->c_buf = ac_lo_table(L, "c", AC_F32, entries, add);
    if (by_sign)
        c->below_buf = ac_lo_table(L, "below", AC_F32, entries, below);
    return true;
}

bool ac_channel_real_tables(ac_channel *c, int64_t entries)
{
    ac_lower *L = c->L;
    if (!L->target->firmware || L->target->vec_bytes || c->kind != AC_MACS_I16 || c->rounding != AC_ROUND_F64 || !c->n)
        return false;
    const int64_t n = c->per_channel ? c->n : 1;
    c->real = reals(c, n);
    if (!c->real || !c->per_channel)
        return c->real;
    int32_t *m = AC_NEW_N(L->region, int32_t, entries), *low = AC_NEW_N(L->region, int32_t, entries);
    for (int64_t i = 0; i < n; i++) {
        m[i] = c->real[i].high;
        low[i] = c->real[i].low;
    }
    c->m_buf = ac_lo_table(L, "m", AC_I32, entries, m);
    c->low_buf = ac_lo_table(L, "low", AC_I32, entries, low);
    return true;
}

/* Biases with -fold * sum(w) added become part of the constants. */
static bool include_bias(ac_channel *c, int32_t fold)
{
    const reach *r = reaches(c);
    const void *bias = biases(c);
    if (!r || (c->bias && !bias))
        return false;
    for (int64_t i = 0; i < c->n; i++)
        c->of[i].c += (bias_at(c, bias, i) - fold * r[i].sum) * c->of[i].m;
    return true;
}

/* The multiplier's parts are halves of one word if all of them fit. */
static bool parts_in_halves(const ac_channel *c)
{
    bool all = c->line.product == AC_LINE_SPLIT;
    for (int64_t i = 0; i < c->n && all; i++)
        all = c->of[i].m >> c->line.drop <= INT16_MAX;
    return all;
}

/* The words of channel i, in the order of the table; their number. */
static int32_t words_of(const ac_channel *c, const ac_line_of *of, int32_t *to)
{
    const ac_line *line = &c->line;
    const bool is_signed = line->kind == AC_LINE_SIGNED, split = line->product == AC_LINE_SPLIT;
    const int32_t high = split ? of->m >> line->drop : of->m, low = split ? of->m % (1 << line->drop) : 0;
    int32_t n = 0;
    to[n++] = c->halves ? high * 65536 + low : high;
    if (split && !c->halves)
        to[n++] = low;
    if (is_signed && line->vary)
        to[n++] = (int32_t)(of->k >> 32);
    else if (is_signed || line->product != AC_LINE_LONG)
        to[n++] = (int32_t)of->c;
    return n;
}

bool ac_channel_line_tables(ac_channel *c, int64_t entries, const ac_rows *rows, int32_t fold)
{
    ac_lower *L = c->L;
    const ac_line *line = &c->line;
    if (!c->per_channel)
        return false;
    const bool wide = line->product == AC_LINE_LONG, long_sum = wide && line->kind == AC_LINE_PLAIN;
    const bool included = c->bias_in_line || (long_sum && ac_channel_known(c->bias) && (c->bias || rows) &&
                                              include_bias(c, rows ? fold : 0));
    int32_t word[MOST_WORDS];
    c->halves = parts_in_halves(c);
    c->words = words_of(c, &c->of[0], word);
    int32_t *words = AC_NEW_N(L->region, int32_t, entries * c->words);
    int64_t *sum = AC_NEW_N(L->region, int64_t, entries);
    int8_t *post = AC_NEW_N(L->region, int8_t, entries);
    for (int64_t i = 0; i < c->n; i++) {
        words_of(c, &c->of[i], &words[i * c->words]);
        sum[i] = c->of[i].c;
        post[i] = (int8_t)(c->of[i].post - (wide ? 32 : 0));
    }
    c->m_buf = ac_lo_table(L, "m", AC_I32, entries * c->words, words);
    if (long_sum)
        c->c_buf = ac_lo_table(L, "c", AC_I64, entries, sum);
    if (line->vary)
        c->post_buf = ac_lo_table(L, "shift", AC_I8, entries, post);
    return included;
}

static ac_x entry(const ac_channel *c, int32_t buf, ac_x oc)
{
    ac_lb *b = &c->L->b;
    const ac_x v = buf >= 0 ? ac_lb_load(b, buf, oc, 1) : 0;
    return v && ac_dtype_bits(ac_lb_dtype(b, v)) < 32 ? ac_lb_cast(b, v, AC_I32) : v;
}

ac_x ac_channel_real_apply(const ac_channel *c, ac_x acc, ac_x oc)
{
    ac_lb *b = &c->L->b;
    const ac_x m = entry(c, c->m_buf, oc), low = entry(c, c->low_buf, oc);
    return ac_lo_requant_real(c->L, ac_lb_cast(b, acc, AC_I32), m ? m : ac_lb_i32(b, c->real->high),
                              low ? low : ac_lb_i32(b, c->real->low), c->real->post);
}

ac_x ac_channel_line_apply(const ac_channel *c, ac_x acc, ac_x oc)
{
    ac_lb *b = &c->L->b;
    const ac_line *line = &c->line;
    ac_line_values v = {.c = entry(c, c->c_buf, oc), .post = entry(c, c->post_buf, oc)};
    ac_x word[MOST_WORDS] = {0};
    const ac_x at = ac_lb_mul(b, oc, ac_lb_i32(b, c->words));
    for (int32_t i = 0; i < c->words; i++)
        word[i] = ac_lb_load(b, c->m_buf, ac_lb_add(b, at, ac_lb_i32(b, i)), 1);
    v.m = word[0];
    if (c->halves) {
        v.low = ac_lb_and(b, v.m, ac_lb_i32(b, 0xffff));
        v.m = ac_lb_shr(b, v.m, ac_lb_i32(b, 16));
    } else if (line->product == AC_LINE_SPLIT) {
        v.low = word[1];
    } else if (v.m) {
        ac_line_cut(b, line, &v);
    }
    if (line->kind == AC_LINE_SIGNED && line->vary)
        v.k = word[c->words - 1];
    else if (!v.c && c->words > 1)
        v.c = word[c->words - 1];
    return ac_lo_requant_line(c->L, line, c->of, &v, acc);
}
