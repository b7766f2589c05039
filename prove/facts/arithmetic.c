/* arithmetic.c - computes the results of integer and bool operators, and claims that C defines them.
 *
 * Signed add, sub, mul and neg without the mark `wrap` are printed as they are, so they must not overflow their type;
 * with it, and for unsigned types, they are printed as unsigned arithmetic. Shifts to the left are printed unsigned:
 * only the count matters. */
#include "prove/facts/claims.h"
#include "prove/facts/evaluate.h"
#include "prove/facts/structure.h"

#include <math.h>

/* A result outside its type: is a doubt; wraps, but see ac_trust; wraps. */
typedef enum outcome { PROMISED, MAY_WRAP, WRAPS } outcome;

/* By instruction: it may wrap, in all that passes have found; it was taken not to, in this pass. */
typedef struct ac_trust {
    bool *wraps, *taken_not_to;
    bool failed; /* both, of one instruction */
} ac_trust;

void ac_p_trust_begin(ac_prover *p)
{
    if (!p->trust) {
        p->trust = AC_NEW(p->keep, ac_trust);
        p->trust->wraps = AC_NEW_N(p->keep, bool, p->fn->code.n + 1);
    }
    p->trust->taken_not_to = AC_NEW_N(p->keep, bool, p->fn->code.n + 1);
    p->trust->failed = false;
}

bool ac_p_trust_failed(const ac_prover *p)
{
    return p->trust->failed;
}

static bool fits_type(ac_prover *p, const ac_affine *form, ac_interval in, ac_interval range)
{
    if (ac_interval_inside(in, range) && in.hi != INT64_MAX && in.lo != INT64_MIN)
        return true;
    return !form->lost && (in.lo >= range.lo || ac_is_at_least(&p->know, form, range.lo)) &&
           (in.hi <= range.hi || ac_is_at_most(&p->know, form, range.hi)) &&
           (range.hi != INT64_MAX ||
            (ac_is_at_most(&p->know, form, range.hi - 1) && ac_is_at_least(&p->know, form, range.lo + 1)));
}

static const char *text_of(ac_prover *p, ac_interval in)
{
    const char *lo = in.lo == INT64_MIN ? "-2^63 or less" : ac_strf(p->tmp, "%lld", (long long)in.lo);
    const char *hi = in.hi == INT64_MAX ? "2^63 or more" : ac_strf(p->tmp, "%lld", (long long)in.hi);
    return ac_strf(p->tmp, "%s .. %s", lo, hi);
}

/* Sets the result of x to `form`, within `in`, if it stays inside its type. */
static void set_result(ac_prover *p, ac_x x, ac_interval in, ac_affine form, outcome how)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_dtype d = (ac_dtype)i->dtype;
    const ac_interval range = ac_p_range(d);
    ac_pvalue *v = &p->value[x];
    if (!form.lost)
        in = ac_interval_meet(in, ac_affine_interval(&p->know, &form));
    const bool inside = fits_type(p, &form, in, range);
    if (how == PROMISED) {
        if (inside)
            ac_p_proven(p, AC_CLAIM_INTEGER);
        else
            ac_p_doubt(p, x, AC_CLAIM_INTEGER,
                       ac_p_surely_above(p, &form, range.hi) || ac_p_surely_below(p, &form, range.lo),
                       "the result may be %s, beyond %s", text_of(p, in), ac_dtype_name(d));
    }
    ac_trust *t = p->trust;
    const bool trusted = !inside && how == MAY_WRAP && p->at->dry && !t->wraps[x];
    if (!inside && how == MAY_WRAP && !p->at->dry) {
        t->wraps[x] = true;
        t->failed |= t->taken_not_to[x];
    }
    t->taken_not_to[x] |= trusted;
    if (!inside && how != PROMISED && !trusted) {
        *v = ac_p_unknown(p, d, range);
        return;
    }
    in = ac_interval_meet(in, range);
    if (form.lost)
        *v = ac_p_unknown(p, d, in);
    else
        *v = (ac_pvalue){.in = in, .form = form};
}

static outcome overflow_of(const ac_ins *i)
{
    return !ac_dtype_is_signed((ac_dtype)i->dtype) ? WRAPS : i->flags & AC_F_WRAP ? MAY_WRAP : PROMISED;
}

/* a - min(.., a, ..) is not below 0, which intervals of the two do not show. */
static void subtract(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_pvalue *a = &p->value[i->a], *b = &p->value[i->b];
    const ac_affine form = ac_affine_add(&a->form, &b->form, -1);
    bool least = false;
    for (int32_t t = 0; t < form.n && !form.lost; t++)
        least |= p->know.unknown.item[form.term[t].unknown].least;
    set_result(p, x, ac_interval_sub(a->in, b->in), form, overflow_of(i));
    ac_pvalue *v = &p->value[x];
    if (least && v->in.lo < 0 && v->in.hi >= 0 && ac_affine_equal(&v->form, &form) &&
        ac_is_at_least(&p->know, &form, 0))
        v->in.lo = 0;
}

static void multiply(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_pvalue *a = &p->value[i->a], *b = &p->value[i->b];
    ac_affine form = {.lost = true};
    if (!b->form.lost && !b->form.n)
        form = ac_affine_times(&a->form, b->form.c);
    else if (!a->form.lost && !a->form.n)
        form = ac_affine_times(&b->form, a->form.c);
    ac_interval in = ac_interval_mul(a->in, b->in);
    if (i->a == i->b && in.lo < 0)
        in.lo = 0;
    set_result(p, x, in, form, overflow_of(i));
}

/* A quotient rounded towards zero. */
static ac_interval quotients(ac_interval a, ac_interval b)
{
    const int64_t q[4] = {a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi};
    ac_interval r = {q[0], q[0]};
    for (int k = 1; k < 4; k++)
        r = ac_interval_join(r, (ac_interval){q[k], q[k]});
    return a.lo <= 0 && a.hi >= 0 ? ac_interval_join(r, (ac_interval){0, 0}) : r;
}

static bool is_number(const ac_prover *p, ac_x x, int64_t k)
{
    return p->value[x].in.lo == k && p->value[x].in.hi == k;
}

/* True if x is never k: (v == k ? c : v) is c instead. */
static bool is_never(const ac_prover *p, ac_x x, int64_t k)
{
    const ac_ins *i = ac_p_ins(p, x);
    if (k < p->value[x].in.lo || k > p->value[x].in.hi)
        return true;
    if (i->op != AC_L_SELECT)
        return false;
    const ac_ins *asks = ac_p_ins(p, i->a);
    const bool equal = asks->op == AC_L_EQ &&
                       ((asks->a == i->c && is_number(p, asks->b, k)) || (asks->b == i->c && is_number(p, asks->a, k)));
    return is_never(p, i->b, k) && (equal || is_never(p, i->c, k));
}

/* Claims that the division of x is defined. */
static bool is_division(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_dtype d = (ac_dtype)i->dtype;
    const ac_pvalue *a = &p->value[i->a], *b = &p->value[i->b];
    const bool zero =
        !is_never(p, i->b, 0) && !ac_is_at_least(&p->know, &b->form, 1) && !ac_is_at_most(&p->know, &b->form, -1);
    const bool least = ac_dtype_is_signed(d) && !is_never(p, i->b, -1) && a->in.lo <= ac_p_range(d).lo;
    if (zero)
        ac_p_doubt(p, x, AC_CLAIM_INTEGER, b->in.lo == b->in.hi, "the divisor may be 0: it is %s", text_of(p, b->in));
    else if (least)
        ac_p_doubt(p, x, AC_CLAIM_INTEGER, false, "the least %s may be divided by -1", ac_dtype_name(d));
    else
        ac_p_proven(p, AC_CLAIM_INTEGER);
    return !zero && !least;
}

/* Bounds of a sum by facts about each of its unknowns; loop variables have their intervals. */
static ac_interval bounds_by_facts(const ac_prover *p, const ac_affine *form)
{
    ac_interval sum = {form->c, form->c};
    for (int32_t t = 0; t < form->n; t++) {
        const ac_affine one = ac_affine_unknown(form->term[t].unknown);
        const ac_unknown *u = &p->know.unknown.item[form->term[t].unknown];
        const int64_t k = form->term[t].k;
        const ac_interval in = u->of_loop ? u->in : ac_p_by_facts(p, &one, u->in);
        sum = ac_interval_add(sum, ac_interval_mul(in, (ac_interval){k, k}));
    }
    return sum;
}

/* A dividend that only facts keep from being negative: an index out of memory that was checked. The quotient's bounds
 * hold here, so it is an unknown of its own. */
static bool divide_checked(ac_prover *p, ac_x x, int64_t by)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_affine form = p->value[i->a].form;
    if (form.lost)
        return false;
    const ac_interval in = ac_interval_meet(bounds_by_facts(p, &form), p->value[i->a].in);
    if (in.lo < 0)
        return false;
    const bool is_mod = i->op == AC_L_MOD;
    p->value[x] =
        ac_p_unknown(p, (ac_dtype)i->dtype,
                     is_mod ? (ac_interval){0, in.hi < by ? in.hi : by - 1} : quotients(in, p->value[i->b].in));
    if (!is_mod) {
        const ac_affine least = ac_affine_plus(&form, 1 - by);
        ac_know_at_most(&p->know, p->value[x].form.term[0].unknown, by, &form);
        ac_know_at_least(&p->know, p->value[x].form.term[0].unknown, by, &least);
    }
    return true;
}

static void divide(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_dtype d = (ac_dtype)i->dtype;
    const ac_pvalue *a = &p->value[i->a], *b = &p->value[i->b];
    const bool is_mod = i->op == AC_L_MOD, fixed = b->in.lo == b->in.hi && b->in.lo > 0;
    if (!is_division(p, x) || (d == AC_U64 && (a->in.hi == INT64_MAX || b->in.hi == INT64_MAX))) {
        p->value[x] = ac_p_unknown(p, d, ac_p_range(d));
        return;
    }
    const int64_t below = ac_interval_sub((ac_interval){0, 0}, b->in).hi,
                  most = ac_sat_add(b->in.hi > below ? b->in.hi : below, -1);
    const ac_interval rest = {a->in.lo < 0 ? -most : 0, a->in.hi < 0 ? 0 : a->in.hi < most ? a->in.hi : most};
    if (fixed && a->in.lo >= 0 && !a->form.lost) {
        const int64_t by = b->in.lo;
        /* a loop bound or a branch keeps it below the divisor, intervals do not show it: the last rows of a tile */
        const bool none = a->in.hi >= by && ac_is_at_most(&p->know, &a->form, by - 1);
        const ac_affine q = none ? ac_affine_of(0) : ac_know_quotient(&p->know, &a->form, by);
        p->value[x] = (ac_pvalue){.form = is_mod ? ac_affine_add(&a->form, &q, -by) : q};
        p->value[x].in = is_mod ? rest : quotients(none ? rest : a->in, b->in);
        if (p->value[x].form.lost)
            p->value[x] = ac_p_unknown(p, d, p->value[x].in);
        else
            p->value[x].in = ac_interval_meet(p->value[x].in, ac_affine_interval(&p->know, &p->value[x].form));
        return;
    }
    if (fixed && a->in.lo < 0 && divide_checked(p, x, b->in.lo))
        return;
    if (is_mod) {
        p->value[x] = ac_p_unknown(p, d, rest);
        const ac_affine end = ac_affine_plus(&b->form, -1);
        if (a->in.lo >= 0 && b->in.lo > 0)
            ac_know_at_most(&p->know, p->value[x].form.term[0].unknown, 1, &end);
        return;
    }
    const bool pure = b->in.lo > 0 || b->in.hi < -1 || (b->in.hi < 0 && a->in.lo > INT64_MIN);
    p->value[x] = ac_p_unknown(p, d, pure ? quotients(a->in, b->in) : ac_p_range(d));
}

/* True if facts of this program point imply a + slack <= b. */
static bool is_at_most_here(ac_prover *p, const ac_pvalue *a, const ac_pvalue *b, int64_t slack)
{
    const ac_affine gap = ac_affine_add(&a->form, &b->form, -1);
    return p->know.fact.n && ac_is_at_most(&p->know, &gap, -slack);
}

static void min_or_max(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const bool least = i->op == AC_L_MIN;
    const ac_pvalue *a = &p->value[i->a], *b = &p->value[i->b];
    if (least ? a->in.hi <= b->in.lo || is_at_most_here(p, a, b, 0)
              : a->in.lo >= b->in.hi || is_at_most_here(p, b, a, 0)) {
        p->value[x] = *a;
        return;
    }
    if (least ? b->in.hi <= a->in.lo || is_at_most_here(p, b, a, 0)
              : b->in.lo >= a->in.hi || is_at_most_here(p, a, b, 0)) {
        p->value[x] = *b;
        return;
    }
    const ac_interval lo = {a->in.lo < b->in.lo ? a->in.lo : b->in.lo, a->in.hi < b->in.hi ? a->in.hi : b->in.hi},
                      hi = {a->in.lo > b->in.lo ? a->in.lo : b->in.lo, a->in.hi > b->in.hi ? a->in.hi : b->in.hi};
    const ac_affine fa = a->form, fb = b->form, gap = ac_affine_add(&fb, &fa, -1), turned = ac_affine_times(&gap, -1);
    ac_pvalue v = ac_p_unknown(p, (ac_dtype)i->dtype, least ? lo : hi);
    const int32_t u = v.form.term[0].unknown;
    if (!fa.lost && !fb.lost) {
        ac_alternative *either = AC_NEW_N(p->tmp, ac_alternative, 2);
        ac_affine *over = AC_NEW_N(p->tmp, ac_affine, 2);
        over[0] = least ? gap : turned;
        over[1] = least ? turned : gap;
        either[0] = (ac_alternative){fa, &over[0], 1};
        either[1] = (ac_alternative){fb, &over[1], 1};
        p->know.unknown.item[u].one_of = either;
        p->know.unknown.item[u].n_one_of = 2;
        p->know.unknown.item[u].least = least;
        p->know.unknown.item[u].greatest = !least;
    }
    for (int k = 0; k < 2; k++)
        if (least)
            ac_know_at_most(&p->know, u, 1, k ? &fb : &fa);
        else
            ac_know_at_least(&p->know, u, 1, k ? &fb : &fa);
    p->value[x] = v;
}

/* Claims that the count of a shift is less than the bits of the type. */
static bool is_shift(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const int bits = ac_dtype_bits((ac_dtype)i->dtype);
    const ac_pvalue *by = &p->value[i->b];
    if ((by->in.lo >= 0 || ac_is_at_least(&p->know, &by->form, 0)) &&
        (by->in.hi < bits || ac_is_at_most(&p->know, &by->form, bits - 1))) {
        ac_p_proven(p, AC_CLAIM_SHIFT);
        return true;
    }
    ac_p_doubt(p, x, AC_CLAIM_SHIFT, ac_p_surely_above(p, &by->form, bits - 1) || ac_p_surely_below(p, &by->form, 0),
               "the count may be %s, the type has %d bits", text_of(p, by->in), bits);
    return false;
}

/* 2^n as a factor; INT64_MAX if it does not fit. */
static int64_t power_of_2(int64_t n)
{
    return n > 62 ? INT64_MAX : (int64_t)1 << n;
}

static int64_t shift_right(int64_t a, int64_t n)
{
    return n > 62 ? (a < 0 ? -1 : 0) : a >> n;
}

static void shift(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_dtype d = (ac_dtype)i->dtype;
    const ac_interval range = ac_p_range(d);
    const bool defined = is_shift(p, x);
    const ac_pvalue *a = &p->value[i->a];
    const ac_interval by = ac_interval_meet(p->value[i->b].in, (ac_interval){0, ac_dtype_bits(d) - 1});
    const bool fixed = by.lo == by.hi && by.hi <= 62 && defined;
    if (!defined) {
        p->value[x] = ac_p_unknown(p, d, range);
        return;
    }
    if (i->op == AC_L_SHL) {
        const ac_interval in = ac_interval_mul(a->in, (ac_interval){power_of_2(by.lo), power_of_2(by.hi)});
        ac_affine form = {.lost = true};
        if (fixed)
            form = ac_affine_times(&a->form, power_of_2(by.lo));
        set_result(p, x, in, form, WRAPS);
        return;
    }
    if (d == AC_U64 && a->in.hi == INT64_MAX) { /* 2^64 - 1, perhaps */
        p->value[x] = ac_p_unknown(p, d, (ac_interval){0, by.lo ? (int64_t)(UINT64_MAX >> by.lo) : INT64_MAX});
        return;
    }
    ac_interval in = {shift_right(a->in.lo, a->in.lo < 0 ? by.lo : by.hi),
                      shift_right(a->in.hi, a->in.hi < 0 ? by.hi : by.lo)};
    if (fixed && !a->form.lost && a->in.lo != INT64_MIN && a->in.hi != INT64_MAX)
        p->value[x] = (ac_pvalue){.in = in, .form = ac_know_quotient(&p->know, &a->form, power_of_2(by.lo))};
    else
        p->value[x] = ac_p_unknown(p, d, in);
}

/* The least 2^n - 1 that is v or more, v >= 0. */
static int64_t ones_above(int64_t v)
{
    int64_t m = 0;
    while (m < v)
        m = m * 2 + 1;
    return m;
}

static void mask(ac_prover *p, ac_x x, const ac_pvalue *a, int64_t mask)
{
    const ac_dtype d = (ac_dtype)ac_p_ins(p, x)->dtype;
    const int64_t step = mask < 0 ? -mask : mask + 1; /* a power of two: a mod step, or a rounded down to it */
    const bool power_of_2 = mask != INT64_MAX && mask != INT64_MIN && !(step & (step - 1));
    if (power_of_2 && !a->form.lost && (mask >= 0 || ac_dtype_is_signed(d)) && a->in.hi != INT64_MAX) {
        const ac_affine q = ac_know_quotient(&p->know, &a->form, step);
        const ac_affine form = mask < 0 ? ac_affine_times(&q, step) : ac_affine_add(&a->form, &q, -step);
        const ac_interval in = mask < 0 ? ac_affine_interval(&p->know, &form) : (ac_interval){0, mask};
        if (!form.lost) {
            p->value[x] = (ac_pvalue){.in = ac_interval_meet(in, ac_affine_interval(&p->know, &form)), .form = form};
            return;
        }
    }
    const int64_t hi = mask >= 0 && a->in.lo >= 0 && a->in.hi < mask ? a->in.hi : mask;
    p->value[x] = ac_p_unknown(p, d, mask >= 0 ? (ac_interval){0, hi} : ac_p_range(d));
}

/* True if the value has no bit set, or all of them: a sign. */
static bool is_sign(const ac_prover *p, ac_x x, const ac_pvalue *v)
{
    return ac_dtype_is_signed((ac_dtype)ac_p_ins(p, x)->dtype) && v->in.lo >= -1 && v->in.hi <= 0;
}

/* a xor a sign: a itself, or its complement. */
static ac_interval xor_sign(ac_interval a)
{
    return ac_interval_join(a, ac_interval_sub((ac_interval){-1, -1}, a));
}

static void bitwise(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_dtype d = (ac_dtype)i->dtype;
    const ac_pvalue *a = &p->value[i->a], *b = &p->value[i->b];
    if (i->op == AC_L_AND && b->in.lo == b->in.hi) {
        mask(p, x, a, b->in.lo);
    } else if (i->op == AC_L_AND && a->in.lo == a->in.hi) {
        mask(p, x, b, a->in.lo);
    } else if (a->in.lo >= 0 && b->in.lo >= 0 && a->in.hi != INT64_MAX && b->in.hi != INT64_MAX) {
        const int64_t hi = a->in.hi > b->in.hi ? a->in.hi : b->in.hi;
        const int64_t least = a->in.hi < b->in.hi ? a->in.hi : b->in.hi, lo = a->in.lo > b->in.lo ? a->in.lo : b->in.lo;
        p->value[x] =
            ac_p_unknown(p, d, (ac_interval){i->op == AC_L_OR ? lo : 0, i->op == AC_L_AND ? least : ones_above(hi)});
    } else if (i->op == AC_L_XOR && (is_sign(p, x, a) || is_sign(p, x, b))) {
        p->value[x] = ac_p_unknown(p, d, xor_sign(is_sign(p, x, a) ? b->in : a->in));
    } else {
        p->value[x] = ac_p_unknown(p, d, ac_p_range(d));
    }
}

static void unary_op(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_dtype d = (ac_dtype)i->dtype;
    const ac_pvalue *a = &p->value[i->a];
    const ac_affine zero = {0}, minus = ac_affine_add(&zero, &a->form, -1);
    const ac_interval turned = ac_interval_sub((ac_interval){0, 0}, a->in);
    if (i->op == AC_L_NEG) {
        set_result(p, x, turned, minus, overflow_of(i));
    } else if (i->op == AC_L_NOT) {
        const int64_t top = d == AC_BOOL ? 1 : ac_dtype_is_signed(d) ? -1 : ac_p_range(d).hi;
        if (d == AC_U64)
            p->value[x] = ac_p_unknown(p, d, ac_p_range(d));
        else
            set_result(p, x, ac_interval_add(turned, (ac_interval){top, top}), ac_affine_plus(&minus, top), WRAPS);
    } else if (a->in.lo >= 0) { /* ABS */
        p->value[x] = *a;
    } else if (a->in.lo <= ac_p_range(d).lo) { /* the minimum is its own absolute value */
        p->value[x] = ac_p_unknown(p, d, ac_p_range(d));
    } else {
        const int64_t hi = a->in.hi > -a->in.lo ? a->in.hi : -a->in.lo;
        p->value[x] = ac_p_unknown(p, d, (ac_interval){a->in.hi < 0 ? -a->in.hi : 0, hi});
        ac_know_at_least(&p->know, p->value[x].form.term[0].unknown, 1, &minus);
        ac_know_at_least(&p->know, p->value[x].form.term[0].unknown, 1, &a->form);
    }
}

static void compare(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    ac_interval in = {0, 1};
    if (!ac_dtype_is_float((ac_dtype)ac_p_ins(p, i->a)->dtype)) {
        const ac_pvalue *a = &p->value[i->a], *b = &p->value[i->b];
        const bool apart = a->in.hi < b->in.lo || b->in.hi < a->in.lo;
        const bool equal = a->in.lo == a->in.hi && b->in.lo == b->in.hi && a->in.lo == b->in.lo;
        const bool ends =
            a->in.hi == INT64_MAX || b->in.hi == INT64_MAX || a->in.lo == INT64_MIN || b->in.lo == INT64_MIN;
        const int64_t slack = i->op == AC_L_LT; /* a + slack <= b */
        int known = -1;
        if (i->op == AC_L_EQ || i->op == AC_L_NE)
            known = apart ? i->op == AC_L_NE : equal ? i->op == AC_L_EQ : -1;
        else if (!ends)
            known = a->in.hi + slack <= b->in.lo || is_at_most_here(p, a, b, slack)      ? 1
                    : b->in.hi < a->in.lo + slack || is_at_most_here(p, b, a, 1 - slack) ? 0
                                                                                         : -1;
        in = known < 0 || ends ? in : (ac_interval){known, known};
    } else if (isnan(p->value[i->a].least) || isnan(p->value[i->b].least)) { /* one of them is NaN for certain */
        in.lo = in.hi = i->op == AC_L_NE;
    }
    p->value[x] = in.lo == in.hi ? (ac_pvalue){.in = in, .form = ac_affine_of(in.lo)} : ac_p_unknown(p, AC_BOOL, in);
}

/* Sums of products, or of lanes: those wrap. */
static void sum_up(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_pvalue *a = &p->value[i->a];
    if (i->op == AC_L_SUMLANES) {
        const int64_t n = ac_p_ins(p, i->a)->lanes;
        set_result(p, x, ac_interval_mul(a->in, (ac_interval){n, n}), (ac_affine){.lost = true},
                   ac_dtype_is_signed((ac_dtype)i->dtype) ? MAY_WRAP : WRAPS);
        return;
    }
    const int64_t n = i->op == AC_L_DOT4 ? 4 : 2;
    const ac_interval products = ac_interval_mul(ac_interval_mul(a->in, p->value[i->b].in), (ac_interval){n, n});
    const ac_affine sum = ac_affine_unknown(ac_know(&p->know, products.lo, products.hi));
    const ac_pvalue *c = &p->value[i->c];
    set_result(p, x, ac_interval_add(c->in, products), ac_affine_add(&c->form, &sum, 1), MAY_WRAP);
}

void ac_p_integer(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_pvalue *a = &p->value[i->a], *b = &p->value[i->b];
    switch ((int)i->op) {
    case AC_L_ADD:
        set_result(p, x, ac_interval_add(a->in, b->in), ac_affine_add(&a->form, &b->form, 1), overflow_of(i));
        break;
    case AC_L_SUB:
        subtract(p, x);
        break;
    case AC_L_MUL:
        multiply(p, x);
        break;
    case AC_L_DIV:
    case AC_L_MOD:
        divide(p, x);
        break;
    case AC_L_MIN:
    case AC_L_MAX:
        min_or_max(p, x);
        break;
    case AC_L_AND:
    case AC_L_OR:
    case AC_L_XOR:
        bitwise(p, x);
        break;
    case AC_L_NEG:
    case AC_L_NOT:
    case AC_L_ABS:
        unary_op(p, x);
        break;
    case AC_L_SHL:
    case AC_L_SHR:
        shift(p, x);
        break;
    case AC_L_EQ:
    case AC_L_NE:
    case AC_L_LT:
    case AC_L_LE:
        compare(p, x);
        break;
    case AC_L_DOT4:
    case AC_L_DOT2:
    case AC_L_SUMLANES:
        sum_up(p, x);
        break;
    default:
        p->value[x] = ac_p_unknown(p, (ac_dtype)i->dtype, ac_p_range((ac_dtype)i->dtype));
    }
}
