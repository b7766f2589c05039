/* word_lanes.c - tracks the two words of 64-bit lanes: vectors of 32-bit numbers are multiplied in 64-bit lanes, even
 * and odd ones separately, and recombined.
 *
 * A reinterpreted value remembers the ranges of its even and odd words; shifts by 32, shifts of signed lanes as
 * unsigned ones, the mask of the low word and shuffles extract them. */
#include "prove/facts/claims.h"
#include "prove/facts/evaluate.h"
#include "prove/strategy/strategies.h"

static const ac_interval WORD = {INT32_MIN, INT32_MAX};

static bool is_wide(ac_dtype d)
{
    return d == AC_I64 || d == AC_U64;
}

static bool is_word(ac_dtype d)
{
    return d == AC_I32 || d == AC_U32;
}

/* An unknown u64 ends at INT64_MAX, but so does one after a shift to the right. */
static bool is_unknown(const ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    return i->dtype == AC_U64 && p->value[x].in.hi == INT64_MAX && (i->op != AC_L_SHR || p->value[i->b].in.lo < 1);
}

/* Words of x, of 32-bit or 64-bit lanes, as signed numbers. */
static void words_of(const ac_prover *p, ac_x x, ac_interval *even, ac_interval *odd)
{
    const ac_pvalue *v = &p->value[x];
    const ac_dtype d = (ac_dtype)ac_p_ins(p, x)->dtype;
    const bool fits = ac_interval_inside(v->in, WORD), unknown = is_unknown(p, x);
    if (v->words) {
        *even = v->even;
        *odd = v->odd;
    } else if (is_word(d)) {
        *even = *odd = fits ? v->in : WORD;
    } else {
        *even = fits ? v->in : WORD;
        *odd = unknown ? WORD : (ac_interval){v->in.lo >> 32, v->in.hi >> 32};
    }
}

/* The range of 64-bit lanes with these words. */
static ac_interval join_words(ac_dtype d, ac_interval even, ac_interval odd)
{
    const int64_t unit = (int64_t)1 << 32;
    const bool low = even.lo >= 0;
    const ac_interval in = {odd.lo * unit + (low ? even.lo : 0), odd.hi * unit + (low ? even.hi : unit - 1)};
    return d == AC_U64 && in.lo < 0 ? ac_p_range(d) : in;
}

static ac_pvalue with_words(ac_prover *p, ac_dtype d, ac_interval in, ac_interval even, ac_interval odd)
{
    ac_pvalue v = ac_p_unknown(p, d, ac_interval_inside(in, ac_p_range(d)) ? in : ac_p_range(d));
    v.words = true;
    v.even = even;
    v.odd = odd;
    return v;
}

static bool shuffle(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_dtype d = (ac_dtype)i->dtype;
    const ac_x a = i->a, b = i->b ? i->b : a;
    if (!is_word(d) || (!p->value[a].words && !p->value[b].words))
        return false;
    ac_interval of[2] = {{INT64_MAX, INT64_MIN}, {INT64_MAX, INT64_MIN}};
    const int32_t n = ac_p_ins(p, i->a)->lanes;
    for (int32_t l = 0; l < i->lanes; l++) {
        const int64_t from = p->fn->pool.item[i->aux + l];
        ac_interval even, odd;
        words_of(p, from < n ? a : b, &even, &odd);
        of[l % 2] = ac_interval_join(of[l % 2], (from < n ? from : from - n) % 2 ? odd : even);
    }
    if (i->lanes < 2)
        of[1] = of[0];
    p->value[x] = with_words(p, d, ac_interval_join(of[0], of[1]), of[0], of[1]);
    return true;
}

static bool reinterpret(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_dtype to = (ac_dtype)i->dtype, from = (ac_dtype)ac_p_ins(p, i->a)->dtype;
    ac_interval even, odd;
    if (!(is_word(from) && is_wide(to)) && !(is_wide(from) && is_word(to)) && !(is_wide(from) && is_wide(to)))
        return false;
    const bool halved = from == AC_U64 && p->value[i->a].in.hi == INT64_MAX && !is_unknown(p, i->a);
    if (is_wide(from) && is_wide(to) && !p->value[i->a].words && !halved)
        return false;
    words_of(p, i->a, &even, &odd);
    p->value[x] = with_words(p, to, is_wide(to) ? join_words(to, even, odd) : ac_interval_join(even, odd), even, odd);
    return true;
}

/* Signed lanes shifted right as unsigned ones, by 32 or less: the low word is that of their quotients. */
static bool shift_of_signed(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x), *cast = ac_p_ins(p, i->a);
    const ac_interval by = p->value[i->b].in;
    if (i->op != AC_L_SHR || i->dtype != AC_U64 || cast->op != AC_L_BITCAST || ac_p_ins(p, cast->a)->dtype != AC_I64 ||
        by.lo != by.hi || by.lo < 1 || by.lo > 32)
        return false;
    const ac_interval of = p->value[cast->a].in, low = {of.lo >> by.lo, of.hi >> by.lo};
    if (of.lo >= 0 || !ac_interval_inside(low, WORD))
        return false; /* arithmetic.c gives the same */
    p->value[x] = with_words(p, AC_U64, (ac_interval){0, (int64_t)(UINT64_MAX >> by.lo)}, low, WORD);
    ac_p_proven(p, AC_CLAIM_SHIFT);
    return true;
}

bool ac_p_has_word_lanes(const ac_prover *p, ac_x x)
{
    const ac_lop op = (ac_lop)ac_p_ins(p, x)->op;
    return op == AC_L_SHUFFLE || op == AC_L_BITCAST || op == AC_L_SHL || op == AC_L_SHR || op == AC_L_AND;
}

bool ac_p_word_lanes(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_dtype d = (ac_dtype)i->dtype;
    if (i->op == AC_L_SHUFFLE)
        return shuffle(p, x);
    if (i->op == AC_L_BITCAST)
        return reinterpret(p, x);
    if (shift_of_signed(p, x))
        return true;
    if (!is_wide(d))
        return false;
    const ac_pvalue a = p->value[i->a];
    const ac_interval b = p->value[i->b].in, none = {0, 0}, unsigned_word = {0, UINT32_MAX};
    if (!a.words || b.lo != b.hi || b.lo != (i->op == AC_L_AND ? (int64_t)UINT32_MAX : 32))
        return false;
    if (i->op == AC_L_SHL)
        p->value[x] = with_words(p, d, join_words(d, none, a.even), none, a.even);
    else if (i->op == AC_L_AND)
        p->value[x] = with_words(p, d, a.even.lo >= 0 ? a.even : unsigned_word, a.even, none);
    else if (d == AC_I64)
        p->value[x] = ac_p_unknown(p, d, a.odd);
    else
        p->value[x] = with_words(p, d, a.odd.lo >= 0 ? a.odd : unsigned_word, a.odd, none);
    if (i->op != AC_L_AND)
        ac_p_proven(p, AC_CLAIM_SHIFT);
    return true;
}
