/* values.c - computes the abstract value of an instruction: constants, variables, loads, selection, conversions and
 * lanes; facts/arithmetic.c has the other integer operators, facts/floats.c the floats. */
#include "prove/values.h"

#include "ir/loop/builder.h"
#include "prove/accesses.h"
#include "prove/facts/contents.h"
#include "prove/facts/evaluate.h"
#include "prove/facts/survey.h"
#include "prove/strategy/strategies.h"

#include <math.h>

static ac_pvalue constant(ac_prover *p, const ac_ins *i)
{
    const ac_dtype d = (ac_dtype)i->dtype;
    if (i->op == AC_L_CONST)
        return ac_dtype_is_float(d) ? ac_p_float_within(i->k.f, i->k.f, isnan(i->k.f)) : ac_p_number(i->k.i);
    if (ac_dtype_is_float(d))
        return ac_p_float_within(-(double)INFINITY, (double)INFINITY, true);
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

/* The facts of the condition if it is `truth`, as guards of an alternative. */
static void add_guard(ac_prover *p, ac_x condition, bool truth, ac_alternative *a)
{
    const int32_t facts = p->know.fact.n;
    ac_p_assume(p, condition, truth);
    a->n_guard = p->know.fact.n - facts;
    if (a->n_guard)
        a->guard = ac_copy(p->tmp, p->know.fact.item + facts, (size_t)a->n_guard * sizeof *a->guard);
    p->know.fact.n = facts;
}

/* b where `cond` holds, else c. */
static ac_pvalue select_value(ac_prover *p, const ac_ins *i)
{
    const ac_pvalue *cond = &p->value[i->a], *b = &p->value[i->b], *c = &p->value[i->c];
    if (is_decided(cond))
        return cond->in.lo ? *b : *c;
    if (ac_dtype_is_float((ac_dtype)i->dtype))
        return ac_p_float_within(fmin(b->least, c->least), fmax(b->most, c->most), b->maybe_nan || c->maybe_nan);
    const ac_pvalue v = ac_p_unknown(p, (ac_dtype)i->dtype, ac_interval_join(b->in, c->in));
    if (b->form.lost || c->form.lost)
        return v;
    ac_alternative *either = AC_NEW_N(p->tmp, ac_alternative, 2);
    either[0].value = b->form;
    either[1].value = c->form;
    add_guard(p, i->a, true, &either[0]);
    add_guard(p, i->a, false, &either[1]);
    ac_unknown *u = &p->know.unknown.item[v.form.term[0].unknown];
    u->one_of = either;
    u->n_one_of = 2;
    return v;
}

static ac_pvalue convert(ac_prover *p, const ac_ins *i)
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

static ac_pvalue shuffle(ac_prover *p, const ac_ins *i)
{
    const ac_dtype d = (ac_dtype)i->dtype;
    const ac_pvalue *a = &p->value[i->a];
    const bool two = i->op == AC_L_SHUFFLE && i->b;
    if (ac_dtype_is_float(d))
        return two ? ac_p_float_within(fmin(a->least, p->value[i->b].least), fmax(a->most, p->value[i->b].most),
                                       a->maybe_nan || p->value[i->b].maybe_nan)
                   : *a;
    return ac_p_unknown(p, d, two ? ac_interval_join(a->in, p->value[i->b].in) : a->in);
}

static const struct {
    ac_strategy id;
    ac_load_applies *applies;
    ac_load_strategy *function;
} LOADS[] = {
#define AC_ROWS_LOAD(id, applies, function) {id, applies, function},
#include "prove/strategy/rows.h"
};

static ac_pvalue load(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_dtype d = (ac_dtype)i->dtype;
    if (ac_dtype_is_float(d)) {
        ac_pvalue v = ac_p_float_within(-(double)INFINITY, (double)INFINITY, true);
        ac_p_loaded_float(p, i, &v);
        return v;
    }
    ac_pvalue v;
    for (size_t r = 0; r < sizeof LOADS / sizeof *LOADS; r++)
        if (ac_p_on(p, LOADS[r].id) && LOADS[r].applies(p, x) && LOADS[r].function(p, x, &v))
            return v;
    const ac_interval in = ac_p_loaded(p, i->aux, &p->value[i->a], i->lanes);
    return in.lo == in.hi && in.hi != INT64_MAX ? ac_p_number(in.lo) : ac_p_unknown(p, d, in);
}

static void evaluate(ac_prover *p, ac_x x)
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
        *v = load(p, x);
        return;
    case AC_L_SELECT:
        *v = select_value(p, i);
        return;
    case AC_L_CAST:
    case AC_L_SATCAST:
    case AC_L_BITCAST:
        if (ac_dtype_is_float(d))
            ac_p_float(p, x);
        else if (i->op == AC_L_CAST && d != AC_BOOL && ac_dtype_is_float((ac_dtype)ac_p_ins(p, i->a)->dtype))
            ac_p_float_to_int(p, x);
        else
            *v = convert(p, i);
        return;
    case AC_L_SPLAT:
        *v = p->value[i->a];
        return;
    case AC_L_LANE:
    case AC_L_SHUFFLE:
    case AC_L_MAXLANES:
        *v = shuffle(p, i);
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

static const struct {
    ac_strategy id;
    ac_load_applies *applies;
    ac_narrow_strategy *function;
} NARROWS[] = {
#define AC_ROWS_NARROW(id, applies, function) {id, applies, function},
#include "prove/strategy/rows.h"
};

static void narrow_load(ac_prover *p, ac_x x)
{
    ac_pvalue *v = &p->value[x];
    if (ac_dtype_is_float((ac_dtype)ac_p_ins(p, x)->dtype) || v->form.n != 1)
        return;
    if (x == p->at->witness) {
        *v = (ac_pvalue){.in = ac_interval_meet(v->in, ac_affine_interval(&p->know, &p->at->witness_value)),
                         .form = p->at->witness_value};
        return;
    }
    for (size_t r = 0; r < sizeof NARROWS / sizeof *NARROWS; r++)
        if (ac_p_on(p, NARROWS[r].id) && NARROWS[r].applies(p, x))
            NARROWS[r].function(p, x, v);
}

static const struct {
    ac_strategy id;
    ac_value_applies *applies;
    ac_value_strategy *function;
} VALUES[] = {
#define AC_ROWS_VALUE(id, applies, function) {id, applies, function},
#include "prove/strategy/rows.h"
};

static bool by_strategy(ac_prover *p, ac_x x)
{
    for (size_t r = 0; r < sizeof VALUES / sizeof *VALUES; r++)
        if (ac_p_on(p, VALUES[r].id) && VALUES[r].applies(p, x) && VALUES[r].function(p, x))
            return true;
    return false;
}

void ac_p_value(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    if (!by_strategy(p, x))
        evaluate(p, x);
    if (i->op == AC_L_LOAD)
        narrow_load(p, x);
    if (p->survey && ac_lop_class((ac_lop)i->op) == 'V' && !ac_dtype_is_float((ac_dtype)i->dtype))
        ac_p_survey_value(p, x);
}
