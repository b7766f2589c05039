/* halves.c - recognises instructions on four bytes or two halves that are one instruction on a general register. */
#include "ir/loop/halves.h"

#include "ir/loop/builder.h"

static const ac_ins *ins(const ac_loop_fn *fn, ac_x x)
{
    return &fn->code.item[x];
}

/* Are so many lanes one word? */
static bool is_word(ac_dtype d, int32_t lanes)
{
    return (lanes == 4 && (d == AC_I8 || d == AC_U8)) || (lanes == 2 && (d == AC_I16 || d == AC_U16));
}

static bool word_at(const ac_loop_fn *fn, ac_x x)
{
    return is_word((ac_dtype)ins(fn, x)->dtype, ins(fn, x)->lanes);
}

static bool is_pair(const ac_loop_fn *fn, ac_x x)
{
    return ins(fn, x)->dtype == AC_I16 && ins(fn, x)->lanes == 2;
}

static bool is_byte_shift(const ac_loop_fn *fn, ac_x x, ac_lop op)
{
    const ac_ins *i = ins(fn, x);
    return i->op == op && is_pair(fn, x) && ins(fn, i->b)->op == AC_L_CONST && ins(fn, i->b)->k.i == 8;
}

ac_x ac_halves_widened(const ac_loop_fn *fn, ac_x x, bool *odd)
{
    if (!is_byte_shift(fn, x, AC_L_SHR))
        return 0;
    const ac_x from = ins(fn, x)->a;
    *odd = !is_byte_shift(fn, from, AC_L_SHL);
    return *odd ? from : ins(fn, from)->a;
}

/* Two numbers, or two of the halves of one or two words. */
static bool is_pack(const ac_loop_fn *fn, const ac_ins *i)
{
    return i->dtype == AC_I16 && i->lanes == 2 && ins(fn, i->a)->lanes <= 2;
}

static bool is_bits(const ac_loop_fn *fn, ac_x x)
{
    const ac_ins *i = ins(fn, x);
    return word_at(fn, x) || (i->lanes == 1 && (i->dtype == AC_I32 || i->dtype == AC_U32));
}

bool ac_halves_keep(const ac_loop_fn *fn, ac_x x)
{
    const ac_ins *i = ins(fn, x);
    bool odd;
    switch ((ac_lop)i->op) {
    case AC_L_CONST:
    case AC_L_CONSTV:
    case AC_L_VAR:
    case AC_L_GET:
    case AC_L_SET:
    case AC_L_LOAD:
    case AC_L_STORE:
    case AC_L_AND:
    case AC_L_OR:
    case AC_L_XOR:
        return word_at(fn, x);
    case AC_L_BITCAST:
        return is_bits(fn, x) && is_bits(fn, i->a) && (word_at(fn, x) || word_at(fn, i->a));
    case AC_L_SHR:
        return ac_halves_widened(fn, x, &odd) != 0;
    case AC_L_SHUFFLE:
        return is_pack(fn, i);
    case AC_L_LANE:
        return is_pair(fn, i->a);
    case AC_L_DOT2:
        return is_pair(fn, i->a);
    // clang-format off
    case AC_L_NONE: case AC_L_PREFETCH: case AC_L_ADD: case AC_L_SUB: case AC_L_MUL: case AC_L_DIV: case AC_L_MOD:
    case AC_L_MIN: case AC_L_MAX: case AC_L_NEG: case AC_L_ABS: case AC_L_SQRT: case AC_L_FLOOR: case AC_L_CEIL:
    case AC_L_TRUNC: case AC_L_RINT: case AC_L_NOT: case AC_L_SHL: case AC_L_EQ: case AC_L_NE: case AC_L_LT:
    case AC_L_LE: case AC_L_SELECT: case AC_L_CAST: case AC_L_SATCAST: case AC_L_FMA: case AC_L_DOT4: case AC_L_MMA:
    case AC_L_TILE: case AC_L_REQUANT: case AC_L_SPLAT: case AC_L_SUMLANES: case AC_L_MAXLANES: case AC_L_FOR:
    case AC_L_IF: case AC_L_ELSE: case AC_L_END: case AC_L_BREAK_IF: case AC_L_FAIL_IF: case AC_L_COUNT:
        break;
        // clang-format on
    }
    return false;
}

static bool is_const(const ac_loop_fn *fn, ac_x x, int64_t k)
{
    return ins(fn, x)->op == AC_L_CONST && ins(fn, x)->k.i == k;
}

ac_x ac_halves_clamped(const ac_loop_fn *fn, ac_x x, int32_t *bits)
{
    const ac_ins *i = ins(fn, x), *inner = i->op == AC_L_MIN ? ins(fn, i->a) : i;
    if (i->op != AC_L_MIN || i->dtype != AC_I32 || i->lanes != 1 || inner->op != AC_L_MAX)
        return 0;
    for (*bits = 8; *bits <= 16; *bits *= 2)
        if (is_const(fn, i->b, ((int64_t)1 << (*bits - 1)) - 1) && is_const(fn, inner->b, -((int64_t)1 << (*bits - 1))))
            return inner->a;
    return 0;
}

uint32_t ac_halves_bits(const ac_loop_fn *fn, ac_x x)
{
    const ac_ins *i = ins(fn, x);
    const int32_t bits = 32 / i->lanes;
    const uint32_t mask = bits == 16 ? 0xffffu : 0xffu;
    uint32_t word = 0;
    for (int32_t l = 0; l < i->lanes; l++)
        word |= ((uint32_t)ac_lb_lane_of(fn, i, l) & mask) << (l * bits);
    return word;
}
