/* replay_values.c - computes the range of the result of an instruction, lane by lane; see replay.h. Signed sums,
 * differences and products without `wrap` must fit their type; divisors must not be 0, shifts be inside the type,
 * floats fit the integer that they become. */
#include "prove/replay/replay_ranges.h"

#include <math.h>

range number(whole k)
{
    return (range){.lo = k, .hi = k, .written = true};
}

range of_type(type t)
{
    range r = {.lo = type_lo(t), .hi = type_hi(t), .written = true};
    if (is_real(t))
        r.least = -(double)INFINITY, r.most = (double)INFINITY, r.nan = true;
    return r;
}

/* The range moved by a multiple of 2^bits, if the result is one range. */
range wrapped(range r, type t)
{
    const whole all = (whole)1 << (type_bytes(t) * 8);
    if (fits(&r, t))
        return r;
    const whole off = r.lo - type_lo(t), away = (off - ((off % all) + all) % all);
    range moved = between(r.lo - away, r.hi - away);
    if (t == BOOL || !fits(&moved, t))
        moved = of_type(t);
    moved.words = r.words && type_bytes(t) == 8;
    moved.low = r.low;
    moved.low_most = r.low_most;
    return moved;
}

/* ------------------------------------------------------------------ integers */

/* A result of + - * and the like, before it is made to fit. */
static range fitted(const instruction *x, range r)
{
    const bool promised = type_lo(x->type) < 0 && !x->wrap && x->op <= OP_neg;
    if (promised && !fits(&r, x->type))
        not_shown(all_certain() && (r.lo > type_hi(x->type) || r.hi < type_lo(x->type)),
                  "the result may be %lld .. %lld, beyond its type", (long long)larger(r.lo, INT64_MIN),
                  (long long)smaller(r.hi, INT64_MAX));
    if (promised)
        shown.arithmetic++;
    return wrapped(r, x->type);
}

/* Of factors whose product may be beyond 128 bits. */
static range large_product(const instruction *x, const range *a, const range *b)
{
    if (is_known(a) && is_known(b))
        return number((whole)((uint64_t)a->lo * (uint64_t)b->lo));
    return of_type(x->type);
}

static range of_four(whole p, whole q, whole r, whole s)
{
    return between(smaller(smaller(p, q), smaller(r, s)), larger(larger(p, q), larger(r, s)));
}

static range product(const range *a, const range *b)
{
    return of_four(a->lo * b->lo, a->lo * b->hi, a->hi * b->lo, a->hi * b->hi);
}

static range difference(const range *a, const range *b)
{
    range r = between(a->lo - b->hi, a->hi - b->lo);
    if (a->name && a->name == b->name)
        return number(0);
    if (b->name && is_over(a->over, b->name))
        r.lo = smaller(larger(r.lo, 0), r.hi);
    if (a->name && is_over(b->over, a->name))
        r.hi = larger(smaller(r.hi, 0), r.lo);
    return r;
}

static const range *lane_of(const instruction *x, int32_t lane)
{
    return &x->value[x->lanes == 1 ? 0 : lane];
}

/* True if x is never k: (v == k ? b : v) is b instead. Looks at no more than `*most` selects. */
static bool never(const instruction *code, int32_t x, int32_t lane, whole k, int32_t *most)
{
    const instruction *i = &code[x];
    const range *v = lane_of(i, lane);
    if (k < v->lo || k > v->hi)
        return true;
    if (i->op != OP_select || --*most < 0)
        return false;
    const instruction *asks = &code[i->a];
    const range *other = asks->op != OP_eq ? NULL
                         : asks->a == i->c ? lane_of(&code[asks->b], lane)
                         : asks->b == i->c ? lane_of(&code[asks->a], lane)
                                           : NULL;
    const bool equal = other && is_known(other) && other->lo == k;
    return never(code, i->b, lane, k, most) && (equal || never(code, i->c, lane, k, most));
}

static bool excludes(const instruction *code, int32_t x, int32_t lane, whole k)
{
    int32_t most = 64;
    return never(code, x, lane, k, &most);
}

static range quotient(const instruction *code, const instruction *x, int32_t lane, const range *a, const range *b)
{
    if (!excludes(code, x->b, lane, 0))
        not_shown(all_certain() && is_known(b), "the divisor may be 0");
    if (type_lo(x->type) < 0 && !excludes(code, x->b, lane, -1) && a->lo <= type_lo(x->type))
        not_shown(false, "the least number may be divided by -1");
    shown.arithmetic++;
    if (x->op == OP_mod) {
        if (is_known(a) && is_known(b))
            return number(a->lo % b->lo);
        const whole most = larger(larger(b->hi, -b->hi), larger(b->lo, -b->lo)) - 1;
        return between(a->lo < 0 ? larger(-most, a->lo) : 0, a->hi > 0 ? smaller(most, a->hi) : 0);
    }
    if (b->lo <= 0 && b->hi >= 0) /* at least 1 or -1 divides */
        return between(larger(smaller(a->lo, -larger(a->hi, 0)), type_lo(x->type)),
                       smaller(larger(a->hi, -smaller(a->lo, 0)), type_hi(x->type)));
    range r = of_four(a->lo / b->lo, a->lo / b->hi, a->hi / b->lo, a->hi / b->hi);
    if (a->lo <= 0 && a->hi >= 0)
        r.lo = smaller(r.lo, 0), r.hi = larger(r.hi, 0);
    return r;
}

/* The minimum or maximum of two; a maximum is at least the names of both. */
static range extreme(opcode op, const range *a, const range *b)
{
    const bool most = op == OP_max;
    if (most ? a->lo >= b->hi : a->hi <= b->lo)
        return *a;
    if (most ? b->lo >= a->hi : b->hi <= a->lo)
        return *b;
    range r = most ? between(larger(a->lo, b->lo), larger(a->hi, b->hi))
                   : between(smaller(a->lo, b->lo), smaller(a->hi, b->hi));
    if (most) {
        r.over = over_both(a, b);
        r.one_of = r.over && (a->name || a->one_of) && (b->name || b->one_of);
    }
    return r;
}

static whole ones_above(whole v)
{
    whole m = 0;
    while (m < v)
        m = m * 2 + 1;
    return m;
}

/* True if no bit is set, or all of them. */
static bool is_sign(const instruction *x, const range *v)
{
    return type_lo(x->type) < 0 && v->lo >= -1 && v->hi <= 0;
}

static range bits_of(const instruction *x, const range *a, const range *b)
{
    if (is_known(a) && is_known(b))
        return number(x->op == OP_and ? (a->lo & b->lo) : x->op == OP_or ? (a->lo | b->lo) : (a->lo ^ b->lo));
    if (x->op == OP_and && (a->lo >= 0 || b->lo >= 0))
        return between(0, a->lo < 0 ? b->hi : b->lo < 0 ? a->hi : smaller(a->hi, b->hi));
    if (a->lo >= 0 && b->lo >= 0)
        return between(0, ones_above(larger(a->hi, b->hi)));
    if (x->op == OP_xor && (is_sign(x, a) || is_sign(x, b))) { /* v itself, or its complement -1 - v */
        const range *v = is_sign(x, a) ? b : a;
        return between(smaller(v->lo, -1 - v->hi), larger(v->hi, -1 - v->lo));
    }
    return of_type(x->type);
}

static range shifted(const instruction *x, const range *a, const range *by)
{
    const whole bits = type_bytes(x->type) * 8;
    if (by->lo < 0 || by->hi >= bits)
        not_shown(all_certain() && (by->lo >= bits || by->hi < 0), "the count may be %lld .. %lld",
                  (long long)larger(by->lo, INT64_MIN), (long long)smaller(by->hi, INT64_MAX));
    shown.shifts++;
    const range low = number((whole)1 << by->lo), high = number((whole)1 << by->hi);
    if (x->op == OP_shl) {
        const range p = product(a, &low), q = product(a, &high);
        const range r = between(smaller(p.lo, q.lo), larger(p.hi, q.hi));
        return wrapped(r, x->type);
    }
    return between(a->lo >> (a->lo < 0 ? by->lo : by->hi), a->hi >> (a->hi < 0 ? by->hi : by->lo));
}

static range compared(opcode op, const range *a, const range *b)
{
    if (op == OP_eq || op == OP_ne) {
        const bool apart = a->hi < b->lo || b->hi < a->lo;
        const bool equal = (is_known(a) && is_known(b) && a->lo == b->lo) || (a->name && a->name == b->name);
        return apart || equal ? number((op == OP_eq) == equal) : between(0, 1);
    }
    const whole slack = op == OP_lt;
    if (a->hi + slack <= b->lo || (op == OP_le && a->name && is_over(b->over, a->name)))
        return number(1);
    if (b->hi < a->lo + slack || (op == OP_lt && b->name && is_over(a->over, b->name)))
        return number(0);
    return between(0, 1);
}

/* ------------------------------------------------------------------ one lane */

static range dots(const instruction *code, const instruction *x, int32_t lane)
{
    const int32_t n = x->op == OP_dot4 ? 4 : 2;
    range sum = code[x->c].value[lane];
    for (int32_t j = 0; j < n; j++) {
        const range p = product(&code[x->a].value[lane * n + j], &code[x->b].value[lane * n + j]);
        sum = between(sum.lo + p.lo, sum.hi + p.hi);
    }
    return wrapped(sum, x->type);
}

static range across(const instruction *code, const instruction *x)
{
    const instruction *a = &code[x->a];
    range r = a->value[0];
    for (int32_t l = 1; l < a->lanes; l++)
        r = x->op == OP_maxlanes ? extreme(OP_max, &r, &a->value[l])
                                 : between(r.lo + a->value[l].lo, r.hi + a->value[l].hi);
    return wrapped(r, x->type);
}

static range selected(const range *cond, const range *b, const range *c, bool reals)
{
    if (is_known(cond))
        return cond->lo ? *b : *c;
    return reals ? real_between(fmin(b->least, c->least), fmax(b->most, c->most), b->nan || c->nan)
                 : between(smaller(b->lo, c->lo), larger(b->hi, c->hi));
}

static range integer_result(const instruction *code, const instruction *x, int32_t lane, const range *a, const range *b)
{
    switch ((int)x->op) {
    case OP_add:
        return fitted(x, between(a->lo + b->lo, a->hi + b->hi));
    case OP_sub:
        return fitted(x, difference(a, b));
    case OP_mul:
        if (a == b && (a->lo < 0) != (a->hi < 0))
            return fitted(x, between(0, product(a, a).hi));
        if (a->hi > INT64_MAX && b->hi > INT64_MAX)
            return large_product(x, a, b);
        return fitted(x, product(a, b));
    case OP_neg:
        return fitted(x, between(-a->hi, -a->lo));
    case OP_div:
    case OP_mod:
        return quotient(code, x, lane, a, b);
    case OP_min:
    case OP_max:
        return extreme(x->op, a, b);
    case OP_abs:
        if (a->lo <= type_lo(x->type) && a->lo < 0)
            return of_type(x->type);
        return between(a->lo > 0 ? a->lo : a->hi < 0 ? -a->hi : 0, larger(a->hi, -a->lo));
    case OP_not:
        return x->type == BOOL
                   ? between(1 - a->hi, 1 - a->lo)
                   : fitted(x, type_lo(x->type) < 0 ? between(-1 - a->hi, -1 - a->lo)
                                                    : between(type_hi(x->type) - a->hi, type_hi(x->type) - a->lo));
    case OP_and:
    case OP_or:
    case OP_xor:
        return bits_of(x, a, b);
    case OP_shl:
    case OP_shr:
        return shifted(x, a, b);
    default:
        return of_type(x->type);
    }
}

void compute(instruction *code, instruction *x, int32_t lane)
{
    const instruction *first = &code[x->a];
    const range *a = lane_of(first, lane);
    const range *b = x->b ? lane_of(&code[x->b], lane) : NULL;
    const range *c = x->c ? lane_of(&code[x->c], lane) : NULL;
    range r;
    switch ((int)x->op) {
    case OP_dot4:
    case OP_dot2:
        r = dots(code, x, lane);
        break;
    case OP_sumlanes:
    case OP_maxlanes:
        r = is_real(x->type) ? of_type(x->type) : across(code, x);
        break;
    case OP_select:
        r = selected(a, b, c, is_real(x->type));
        break;
    case OP_cast:
    case OP_satcast:
        r = converted(x, first, a);
        break;
    case OP_bitcast:
        r = x->lanes == first->lanes ? converted(x, first, a) : joined_words(code, x, lane);
        break;
    case OP_splat:
        r = first->value[0];
        break;
    case OP_lane:
        r = first->value[x->aux];
        break;
    case OP_shuffle:
        r = x->pool[lane] < first->lanes ? first->value[x->pool[lane]] : code[x->b].value[x->pool[lane] - first->lanes];
        break;
    case OP_eq:
    case OP_ne:
    case OP_lt:
    case OP_le:
        r = is_real(first->type) ? between(0, 1) : compared(x->op, a, b);
        break;
    default:
        if (is_real(x->type))
            r = real_result(x, a, b, c);
        else if (!b || !low_word(x, a, b, &r))
            r = integer_result(code, x, lane, a, b);
    }
    x->value[lane] = r;
}

/* ------------------------------------------------------------------ conditions */

/* a + slack <= b, of single integers. */
static void below(instruction *a, instruction *b, whole slack)
{
    range x = a->value[0], y = b->value[0];
    const whole hi = smaller(x.hi, y.hi - slack), lo = larger(y.lo, x.lo + slack);
    if (x.lo <= hi && hi < x.hi) {
        x.hi = hi;
        change(&a->value[0], x);
    }
    if (lo <= y.hi && lo > y.lo) {
        y.lo = lo;
        change(&b->value[0], y);
    }
}

void narrow(instruction *code, int32_t condition, bool truth)
{
    const instruction *i = &code[condition];
    if (i->op == OP_not) {
        narrow(code, i->a, !truth);
    } else if ((i->op == OP_and && truth) || (i->op == OP_or && !truth)) {
        narrow(code, i->a, truth);
        narrow(code, i->b, truth);
    } else if (i->lanes == 1 && (i->op == OP_lt || i->op == OP_le || i->op == OP_eq) && code[i->a].lanes == 1 &&
               !is_real(code[i->a].type)) {
        const whole slack = i->op == OP_lt;
        if (i->op == OP_eq && !truth)
            return;
        if (truth)
            below(&code[i->a], &code[i->b], slack);
        else
            below(&code[i->b], &code[i->a], 1 - slack);
        if (i->op == OP_eq)
            below(&code[i->b], &code[i->a], 0);
    }
}
