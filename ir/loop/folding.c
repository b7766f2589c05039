/* folding.c - evaluates operations on constants, and simplifies identities.
 *
 * Constants are computed with the evaluator's own kernels; a float result that is NaN stays an instruction (its bits
 * depend on the machine). Identities are exact: floats have x*1, x/1, x-0 and x+(-0), but not x+0 (wrong for -0) or
 * x*0. */
#include "ir/loop/builder.h"
#include "ir/loop/kernel.h"

#include <math.h>
#include <string.h>

static const ac_ins *at(const ac_lb *b, ac_x x)
{
    return &b->fn->code.item[x];
}

int64_t ac_lb_lane_of(const ac_loop_fn *fn, const ac_ins *k, int32_t lane)
{
    return k->op == AC_L_CONST ? k->k.i : fn->pool.item[k->aux + lane];
}

ac_x ac_lb_lanes(ac_lb *b, ac_dtype d, const int64_t *lane, int32_t lanes)
{
    assert(lanes >= 1 && lanes <= AC_MAX_LANES);
    ac_ins ins = {.op = AC_L_CONST, .dtype = (uint8_t)d, .lanes = (uint16_t)lanes};
    int64_t exact[AC_MAX_LANES];
    exact[0] = 0;
    char one[8];
    bool same = true;
    for (int32_t l = 0; l < lanes; l++) {
        ac_lane_put(d, one, 0, lane[l]);
        exact[l] = ac_lane_get(d, one, 0);
        same &= exact[l] == exact[0];
    }
    if (same) {
        ins.k.i = exact[0];
    } else {
        ins.op = AC_L_CONSTV;
        ins.aux = b->fn->pool.n;
        for (int32_t l = 0; l < lanes; l++)
            ac_push(b->region, &b->fn->pool, exact[l]);
    }
    return ac_lb_pure(b, ins, 0);
}

/* Folding. */

enum { BYTES = AC_MAX_LANES * 8 };

/* The lanes of a constant in their memory format. */
static void spread(const ac_loop_fn *fn, const ac_ins *k, char *to)
{
    for (int32_t l = 0; l < k->lanes; l++)
        ac_lane_put((ac_dtype)k->dtype, to, l, ac_lb_lane_of(fn, k, l));
}

static ac_x gather(ac_lb *b, ac_dtype d, const char *from, int32_t lanes)
{
    int64_t lane[AC_MAX_LANES];
    for (int32_t l = 0; l < lanes; l++) {
        lane[l] = ac_lane_get(d, from, l);
        double v;
        memcpy(&v, &lane[l], sizeof v);
        if (ac_dtype_is_float(d) && isnan(v))
            return 0;
    }
    return ac_lb_lanes(b, d, lane, lanes);
}

/* Division by a zero lane stays: the evaluator reports it. */
static bool divides_by_zero(const ac_lb *b, const ac_ins *ins)
{
    if ((ins->op != AC_L_DIV && ins->op != AC_L_MOD) || ac_dtype_is_float((ac_dtype)ins->dtype))
        return false;
    for (int32_t l = 0; l < ins->lanes; l++)
        if (!ac_lb_lane_of(b->fn, at(b, ins->b), l))
            return true;
    return false;
}

static ac_x fold_lanes(ac_lb *b, const ac_ins *ins)
{
    const ac_loop_fn *fn = b->fn;
    const ac_ins *x = at(b, ins->a);
    int64_t lane[AC_MAX_LANES];
    for (int32_t l = 0; l < ins->lanes; l++) {
        int32_t from = ins->op == AC_L_SHUFFLE ? (int32_t)fn->pool.item[ins->aux + l]
                       : ins->op == AC_L_LANE  ? ins->aux
                                               : 0;
        lane[l] = from < x->lanes ? ac_lb_lane_of(fn, x, from) : ac_lb_lane_of(fn, at(b, ins->b), from - x->lanes);
    }
    return ac_lb_lanes(b, (ac_dtype)ins->dtype, lane, ins->lanes);
}

static ac_x fold_constants(ac_lb *b, const ac_ins *ins)
{
    ac_lop op = (ac_lop)ins->op;
    const ac_x operand[3] = {ins->a, ins->b, ins->c};
    int32_t arity = op == AC_L_SHUFFLE && !ins->b ? 1 : ac_lop_arity(op);
    for (int32_t i = 0; i < arity; i++)
        if (!ac_ins_known(at(b, operand[i])))
            return 0;
    if (op == AC_L_SPLAT || op == AC_L_LANE || op == AC_L_SHUFFLE)
        return fold_lanes(b, ins);
    if (divides_by_zero(b, ins))
        return 0;
    char in[3][BYTES], out[BYTES];
    for (int32_t i = 0; i < arity; i++)
        spread(b->fn, at(b, operand[i]), in[i]);
    const ac_ins *x = at(b, ins->a);
    if (op == AC_L_BITCAST)
        return gather(b, (ac_dtype)ins->dtype, in[0], ins->lanes);
    if (op == AC_L_SELECT && x->lanes == 1)
        memset(in[0], in[0][0], ins->lanes);
    ac_kernel run = ac_kernel_of(op, (ac_dtype)ins->dtype, (ac_dtype)x->dtype);
    run(out, in[0], in[1], in[2], op == AC_L_SUMLANES || op == AC_L_MAXLANES ? x->lanes : ins->lanes);
    return gather(b, (ac_dtype)ins->dtype, out, ins->lanes);
}

/* Identities. */

static bool is_int(const ac_lb *b, ac_x x, int64_t v)
{
    const ac_ins *i = at(b, x);
    return i->op == AC_L_CONST && ac_ins_known(i) && !ac_dtype_is_float((ac_dtype)i->dtype) && i->k.i == v;
}

static bool is_num(const ac_lb *b, ac_x x, double v)
{
    const ac_ins *i = at(b, x);
    return i->op == AC_L_CONST && ac_dtype_is_float((ac_dtype)i->dtype) && i->k.f == v &&
           !signbit(i->k.f) == !signbit(v);
}

static ac_x zero_like(ac_lb *b, ac_x x)
{
    return ac_lb_like_int(b, x, 0);
}

/* (x + c) + d is x + (c + d), when c + d does not wrap or wrapping is meant. */
static ac_x chain(ac_lb *b, const ac_ins *ins)
{
    const ac_ins *x = at(b, ins->a), *d = at(b, ins->b);
    if (x->op != AC_L_ADD || x->flags != ins->flags || d->op != AC_L_CONST || !ac_ins_known(d))
        return 0;
    const ac_ins *c = at(b, x->b);
    int64_t sum;
    if (c->op != AC_L_CONST || !ac_ins_known(c) || __builtin_add_overflow(c->k.i, d->k.i, &sum))
        return 0;
    ac_dtype t = (ac_dtype)ins->dtype;
    if (!(ins->flags & AC_F_WRAP) && (t == AC_U64 || sum < ac_dtype_min(t) || sum > ac_dtype_max(t)))
        return 0;
    ac_ins r = *ins;
    r.a = x->a;
    r.b = ac_lb_like_int(b, ins->b, sum);
    return ac_lb_op(b, r);
}

static ac_x same_operands(ac_lb *b, const ac_ins *ins)
{
    bool fl = ac_dtype_is_float(ac_lb_dtype(b, ins->a));
    ac_lop op = (ac_lop)ins->op;
    if (op == AC_L_MIN || op == AC_L_MAX || op == AC_L_AND || op == AC_L_OR)
        return ins->a;
    if (fl) /* NaN equals nothing */
        return 0;
    if (op == AC_L_SUB || op == AC_L_XOR)
        return zero_like(b, ins->a);
    if (op == AC_L_EQ || op == AC_L_NE || op == AC_L_LT || op == AC_L_LE) {
        int64_t lane[AC_MAX_LANES];
        for (int32_t l = 0; l < ins->lanes; l++)
            lane[l] = op == AC_L_EQ || op == AC_L_LE;
        return ac_lb_lanes(b, AC_BOOL, lane, ins->lanes);
    }
    return 0;
}

static ac_x int_identity(ac_lb *b, const ac_ins *ins)
{
    ac_x x = ins->a, y = ins->b;
    ac_lop op = (ac_lop)ins->op;
    ac_dtype d = ac_lb_dtype(b, x);
    bool zero = is_int(b, y, 0), one = is_int(b, y, 1);
    bool ones = is_int(b, y, ac_dtype_is_signed(d) || d == AC_U64 ? -1 : ac_dtype_max(d));
    if (op == AC_L_ADD || op == AC_L_SUB || op == AC_L_OR || op == AC_L_XOR || op == AC_L_SHL || op == AC_L_SHR) {
        if (zero)
            return x;
        if (op == AC_L_OR && ones)
            return y;
        return op == AC_L_ADD ? chain(b, ins) : 0;
    }
    if (op == AC_L_MUL || op == AC_L_DIV)
        return one ? x : op == AC_L_MUL && zero ? y : 0;
    if (op == AC_L_AND)
        return zero ? y : ones ? x : 0;
    if (op == AC_L_MOD)
        return one ? zero_like(b, x) : 0;
    if (op == AC_L_MIN && d != AC_U64) /* the type's ends clamp nothing */
        return is_int(b, y, ac_dtype_max(d)) ? x : is_int(b, y, ac_dtype_min(d)) ? y : 0;
    if (op == AC_L_MAX && d != AC_U64)
        return is_int(b, y, ac_dtype_min(d)) ? x : is_int(b, y, ac_dtype_max(d)) ? y : 0;
    return 0;
}

static ac_x float_identity(ac_lb *b, const ac_ins *ins)
{
    ac_x x = ins->a, y = ins->b;
    ac_lop op = (ac_lop)ins->op;
    if (op == AC_L_MUL && is_num(b, x, 1))
        return y;
    if ((op == AC_L_MUL || op == AC_L_DIV) && is_num(b, y, 1))
        return x;
    if (op == AC_L_SUB && is_num(b, y, 0))
        return x;
    if (op == AC_L_ADD && is_num(b, y, -0.0))
        return x;
    return op == AC_L_ADD && is_num(b, x, -0.0) ? y : 0;
}

static bool commutes(const ac_ins *ins, bool is_float)
{
    ac_lop op = (ac_lop)ins->op;
    return !is_float && (op == AC_L_ADD || op == AC_L_MUL || op == AC_L_AND || op == AC_L_OR || op == AC_L_XOR ||
                         op == AC_L_MIN || op == AC_L_MAX || op == AC_L_EQ || op == AC_L_NE);
}

static ac_x identity1(ac_lb *b, const ac_ins *ins)
{
    const ac_ins *x = at(b, ins->a);
    ac_lop op = (ac_lop)ins->op;
    if (op == AC_L_CAST || op == AC_L_SATCAST || op == AC_L_BITCAST) {
        if (x->dtype == ins->dtype)
            return ins->a;
        bool undone = op == AC_L_BITCAST && x->op == AC_L_BITCAST && at(b, x->a)->dtype == ins->dtype;
        return undone ? x->a : 0;
    }
    if ((op == AC_L_NEG || op == AC_L_NOT) && x->op == op)
        return x->a;
    if (op == AC_L_ABS && x->op == AC_L_ABS)
        return ins->a;
    if (op == AC_L_LANE)
        return x->lanes == 1 ? ins->a : x->op == AC_L_SPLAT ? x->a : 0;
    if ((op == AC_L_FLOOR || op == AC_L_CEIL || op == AC_L_TRUNC || op == AC_L_RINT) && x->op == op)
        return ins->a;
    return 0;
}

static ac_x identity_shuffle(const ac_lb *b, const ac_ins *ins)
{
    bool first = ins->lanes == at(b, ins->a)->lanes, second = first && ins->b;
    for (int32_t l = 0; l < ins->lanes; l++) {
        int64_t from = b->fn->pool.item[ins->aux + l];
        first = first && from == l;
        second = second && from == l + ins->lanes;
    }
    return first ? ins->a : second ? ins->b : 0;
}

static ac_x identity_select(const ac_lb *b, const ac_ins *ins)
{
    if (ins->b == ins->c)
        return ins->b;
    const ac_ins *c = at(b, ins->a);
    return c->op == AC_L_CONST ? (c->k.i ? ins->b : ins->c) : 0;
}

ac_x ac_lb_fold(ac_lb *b, const ac_ins *given)
{
    ac_ins ins = *given;
    if (ins.op == AC_L_CONST || ins.op == AC_L_CONSTV)
        return 0;
    ac_x folded = fold_constants(b, &ins);
    if (folded)
        return folded;
    if (ins.op == AC_L_SHUFFLE)
        return identity_shuffle(b, &ins);
    if (ins.op == AC_L_SELECT)
        return identity_select(b, &ins);
    if (ac_lop_arity((ac_lop)ins.op) == 1)
        return identity1(b, &ins);
    if (ac_lop_arity((ac_lop)ins.op) != 2)
        return 0;
    bool fl = ac_dtype_is_float(ac_lb_dtype(b, ins.a));
    bool swap = commutes(&ins, fl) && ac_ins_known(at(b, ins.a));
    if (swap) { /* constants second: equal expressions meet */
        ac_x t = ins.a;
        ins.a = ins.b;
        ins.b = t;
    }
    ac_x same = ins.a == ins.b ? same_operands(b, &ins) : fl ? float_identity(b, &ins) : int_identity(b, &ins);
    return same ? same : swap ? ac_lb_pure(b, ins, 0) : 0;
}
