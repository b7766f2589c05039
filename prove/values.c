/* values.c - what is known of the value of an instruction: constants, variables, loads, selection, conversions and
 * lanes; arithmetic.c has the rest of the integers, floats.c the floats. */
#include "ir/loop/builder.h"
#include "prove/extremes.h"
#include "prove/groups.h"

#include <math.h>

ac_interval ac_p_range(ac_dtype d)
{
    if (d == AC_BOOL)
        return (ac_interval){0, 1};
    if (d == AC_U64)
        return (ac_interval){0, INT64_MAX}; /* or beyond: ends mean that */
    return (ac_interval){ac_dtype_min(d), ac_dtype_max(d)};
}

ac_pvalue ac_p_unknown(ac_prover *p, ac_dtype d, ac_interval in)
{
    ac_pvalue v = {
        .in = in, .least = -(double)INFINITY, .most = (double)INFINITY, .maybe_nan = true, .form = {.lost = true}};
    if (!ac_dtype_is_float(d))
        v.form = ac_affine_unknown(ac_know(&p->know, in.lo, in.hi));
    return v;
}

static ac_pvalue of_float(double least, double most, bool maybe_nan)
{
    return (ac_pvalue){.least = least, .most = most, .maybe_nan = maybe_nan, .form = {.lost = true}};
}

static ac_pvalue constant(ac_prover *p, const ac_ins *i)
{
    const ac_dtype d = (ac_dtype)i->dtype;
    if (i->op == AC_L_CONST)
        return ac_dtype_is_float(d) ? of_float(i->k.f, i->k.f, isnan(i->k.f))
                                    : (ac_pvalue){.in = {i->k.i, i->k.i}, .form = ac_affine_of(i->k.i)};
    if (ac_dtype_is_float(d))
        return of_float(-(double)INFINITY, (double)INFINITY, true);
    ac_interval in = {INT64_MAX, INT64_MIN};
    for (int32_t l = 0; l < i->lanes; l++) {
        const int64_t v = p->fn->pool.item[i->aux + l];
        in = ac_interval_join(in, (ac_interval){v, v});
    }
    if (d == AC_U64 && in.lo < 0)
        in = ac_p_range(d);
    return ac_p_unknown(p, d, in);
}

static bool is_decided(const ac_pvalue *cond)
{
    return cond->in.lo == cond->in.hi;
}

/* What the condition says where it is `truth`. */
static void guard(ac_prover *p, ac_x condition, bool truth, ac_alternative *a)
{
    const int32_t facts = p->know.fact.n;
    ac_p_assume(p, condition, truth);
    a->n_guard = p->know.fact.n - facts;
    if (a->n_guard)
        a->guard = ac_copy(p->tmp, p->know.fact.item + facts, (size_t)a->n_guard * sizeof *a->guard);
    p->know.fact.n = facts;
}

/* b where `cond` holds, else c. */
static ac_pvalue selected(ac_prover *p, const ac_ins *i)
{
    const ac_pvalue *cond = &p->value[i->a], *b = &p->value[i->b], *c = &p->value[i->c];
    if (is_decided(cond))
        return cond->in.lo ? *b : *c;
    if (ac_dtype_is_float((ac_dtype)i->dtype))
        return of_float(fmin(b->least, c->least), fmax(b->most, c->most), b->maybe_nan || c->maybe_nan);
    const ac_pvalue v = ac_p_unknown(p, (ac_dtype)i->dtype, ac_interval_join(b->in, c->in));
    if (b->form.lost || c->form.lost)
        return v;
    ac_alternative *either = AC_NEW_N(p->tmp, ac_alternative, 2);
    either[0].value = b->form;
    either[1].value = c->form;
    guard(p, i->a, true, &either[0]);
    guard(p, i->a, false, &either[1]);
    ac_unknown *u = &p->know.unknown.item[v.form.term[0].unknown];
    u->one_of = either;
    u->n_one_of = 2;
    return v;
}

static ac_pvalue cast(ac_prover *p, const ac_ins *i)
{
    const ac_dtype to = (ac_dtype)i->dtype, from = (ac_dtype)ac_p_ins(p, i->a)->dtype;
    const ac_pvalue *a = &p->value[i->a];
    const bool real = ac_dtype_is_float(from);
    if (to == AC_BOOL)
        return ac_p_unknown(p, to,
                            real || (a->in.lo <= 0 && a->in.hi >= 0 && a->in.lo != a->in.hi)
                                ? (ac_interval){0, 1}
                                : (ac_interval){a->in.lo != 0, a->in.lo != 0});
    if (i->op == AC_L_BITCAST && (real || ac_p_ins(p, i->a)->lanes != i->lanes))
        return ac_p_unknown(p, to, ac_p_range(to));
    ac_interval range = ac_p_range(to);
    if (i->op == AC_L_SATCAST) {
        if (real)
            return ac_p_unknown(p, to, range);
        if (from == AC_U64 && a->in.hi == INT64_MAX)
            return ac_p_unknown(p, to, range);
        if (!ac_interval_inside(a->in, range))
            return ac_p_unknown(p, to, ac_interval_clamp(a->in, range));
    }
    if ((from == AC_U64) != (to == AC_U64) && (a->in.hi == INT64_MAX || a->in.lo < 0))
        return ac_p_unknown(p, to, range);
    if (!ac_interval_inside(a->in, range) &&
        !(ac_is_at_most(&p->know, &a->form, range.hi) && ac_is_at_least(&p->know, &a->form, range.lo)))
        return ac_p_unknown(p, to, range);
    ac_pvalue v = *a;
    v.in = ac_interval_meet(a->in, range);
    v.words = false;
    return v;
}

static ac_pvalue shuffled(ac_prover *p, const ac_ins *i)
{
    const ac_dtype d = (ac_dtype)i->dtype;
    const ac_pvalue *a = &p->value[i->a];
    const bool two = i->op == AC_L_SHUFFLE && i->b;
    if (ac_dtype_is_float(d))
        return two ? of_float(fmin(a->least, p->value[i->b].least), fmax(a->most, p->value[i->b].most),
                              a->maybe_nan || p->value[i->b].maybe_nan)
                   : *a;
    return ac_p_unknown(p, d, two ? ac_interval_join(a->in, p->value[i->b].in) : a->in);
}

static ac_pvalue loaded(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_dtype d = (ac_dtype)i->dtype;
    if (ac_dtype_is_float(d)) {
        ac_pvalue v = of_float(-(double)INFINITY, (double)INFINITY, true);
        ac_p_loaded_float(p, i, &v);
        return v;
    }
    int64_t number;
    if (ac_p_number_loaded(p, i, &number))
        return (ac_pvalue){.in = {number, number}, .form = ac_affine_of(number)};
    ac_pvalue v;
    if (ac_p_array_loaded(p, x, &v))
        return v;
    const ac_interval in = ac_p_loaded(p, i->aux, &p->value[i->a], i->lanes);
    if (in.lo == in.hi && in.hi != INT64_MAX)
        return (ac_pvalue){.in = in, .form = ac_affine_of(in.lo)};
    return ac_p_unknown(p, d, in);
}

static void make(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_dtype d = (ac_dtype)i->dtype;
    ac_pvalue *v = &p->value[x];
    switch ((ac_lop)i->op) {
    case AC_L_CONST:
    case AC_L_CONSTV:
        *v = constant(p, i);
        return;
    case AC_L_GET:
        *v = p->value[i->aux];
        return;
    case AC_L_LOAD:
        ac_p_access(p, x);
        *v = loaded(p, x);
        return;
    case AC_L_SELECT:
        *v = selected(p, i);
        return;
    case AC_L_CAST:
    case AC_L_SATCAST:
    case AC_L_BITCAST:
        if (ac_dtype_is_float(d))
            ac_p_float(p, x);
        else if (i->op == AC_L_CAST && d != AC_BOOL && ac_dtype_is_float((ac_dtype)ac_p_ins(p, i->a)->dtype))
            ac_p_float_to_int(p, x);
        else
            *v = cast(p, i);
        return;
    case AC_L_SPLAT:
        *v = p->value[i->a];
        return;
    case AC_L_LANE:
    case AC_L_SHUFFLE:
    case AC_L_MAXLANES:
        *v = shuffled(p, i);
        return;
    // clang-format off
    case AC_L_ADD: case AC_L_SUB: case AC_L_MUL: case AC_L_DIV: case AC_L_MOD: case AC_L_MIN: case AC_L_MAX:
    case AC_L_NEG: case AC_L_ABS: case AC_L_SQRT: case AC_L_FLOOR: case AC_L_CEIL: case AC_L_TRUNC: case AC_L_RINT:
    case AC_L_AND: case AC_L_OR: case AC_L_XOR: case AC_L_NOT: case AC_L_SHL: case AC_L_SHR: case AC_L_EQ: case AC_L_NE:
    case AC_L_LT: case AC_L_LE: case AC_L_FMA: case AC_L_DOT4: case AC_L_DOT2: case AC_L_SUMLANES:
        // clang-format on
        if (ac_dtype_is_float(d))
            ac_p_float(p, x);
        else
            ac_p_integer(p, x);
        return;
    // clang-format off
    case AC_L_NONE: case AC_L_VAR: case AC_L_SET: case AC_L_STORE: case AC_L_PREFETCH: case AC_L_MMA: case AC_L_TILE:
    case AC_L_REQUANT: case AC_L_FOR: case AC_L_IF: case AC_L_ELSE: case AC_L_END: case AC_L_BREAK_IF:
    case AC_L_FAIL_IF: case AC_L_COUNT:
        return;
        // clang-format on
    }
}

/* Values that x cannot have, as split.c knows, are left out. */
static void narrow(ac_prover *p, ac_x x)
{
    ac_pvalue *v = &p->value[x];
    if (x == p->split)
        *v = ac_p_unknown(p, (ac_dtype)ac_p_ins(p, x)->dtype, p->part);
    if (p->refined)
        v->in = ac_interval_meet(v->in, p->refined[x]);
    if (v->form.n == 1 && v->form.term[0].k == 1 && !v->form.c && !v->form.lost) {
        ac_unknown *u = &p->know.unknown.item[v->form.term[0].unknown];
        u->in = ac_interval_meet(u->in, v->in);
    }
    if (p->seen && !p->dry) {
        p->seen[x] = p->was_seen[x] ? ac_interval_join(p->seen[x], v->in) : v->in;
        p->was_seen[x] = true;
    }
}

void ac_p_value(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    if (!ac_p_word_lanes(p, x))
        make(p, x);
    if (i->op == AC_L_LOAD) {
        ac_p_extreme_load(p, x, &p->value[x]);
        ac_p_group_load(p, x, &p->value[x]);
    }
    if (p->refined && ac_lop_class((ac_lop)i->op) == 'V' && !ac_dtype_is_float((ac_dtype)i->dtype))
        narrow(p, x);
}
