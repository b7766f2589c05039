/* replay_types.c - checks an instruction of a certificate of code: the types of its operands, its result and its
 * buffers, and the shapes of tiles. Follows docs/loop-ir.md and assumes nothing about a line. A fault refuses the
 * certificate, with the line. */
#include "prove/replay/replay_read.h"

#include <string.h>

/* The types that an operator works on, and the number of its operands, which have the type of its result. */
enum { NONE, BITS = 1, INTEGERS = 2, REALS = 4, NUMBERS = INTEGERS | REALS };
static const struct {
    int arity, of;
} PLAIN[N_OPS] = {[OP_add] = {2, NUMBERS},        [OP_sub] = {2, NUMBERS},         [OP_mul] = {2, NUMBERS},
                  [OP_div] = {2, NUMBERS},        [OP_min] = {2, NUMBERS},         [OP_max] = {2, NUMBERS},
                  [OP_neg] = {1, NUMBERS},        [OP_abs] = {1, NUMBERS},         [OP_mod] = {2, INTEGERS},
                  [OP_shl] = {2, INTEGERS},       [OP_shr] = {2, INTEGERS},        [OP_and] = {2, INTEGERS | BITS},
                  [OP_or] = {2, INTEGERS | BITS}, [OP_xor] = {2, INTEGERS | BITS}, [OP_not] = {1, INTEGERS | BITS},
                  [OP_sqrt] = {1, REALS},         [OP_floor] = {1, REALS},         [OP_ceil] = {1, REALS},
                  [OP_trunc] = {1, REALS},        [OP_rint] = {1, REALS},          [OP_fma] = {3, REALS}};

/* The kind of arithmetic of a type; floats of 16 bits have none, they are only moved and cast. */
static int kind_of(enum type t)
{
    return t == BOOL ? BITS : t == F16 || t == BF16 ? NONE : is_real(t) ? REALS : INTEGERS;
}

static void need(bool holds, const char *what)
{
    if (!holds)
        wrong(what);
}

static bool is_a(const instruction *x, enum type t, int32_t lanes)
{
    return x->type == t && x->lanes == lanes;
}

static bool alike(const instruction *a, const instruction *b)
{
    return is_a(a, b->type, b->lanes);
}

static void need_index(const instruction *x)
{
    need(is_a(x, I32, 1), "an index is one i32");
}

int32_t plain_arity(opcode op)
{
    return PLAIN[op].arity;
}

/* ------------------------------------------------------------------ buffers */

static void check_access(const function *f, const instruction *i)
{
    const buffer *b = &f->buf[i->aux];
    need_index(&f->code[i->a]);
    if (i->op == OP_load)
        need(i->type == b->type, "another type is loaded");
    if (i->op == OP_store) {
        need(f->code[i->b].type == b->type, "another type is stored");
        need(b->role != IN && b->role != CONSTANT, "a store to a buffer that is only read");
    }
    need(!i->narrow || !is_real(i->type), "only integers are narrow");
}

static void need_sums(const buffer *b, int64_t least)
{
    need(b->role == LOCAL && b->type == I32 && b->count >= least,
         "accumulators are a local array of i32, large enough");
}

static void check_tile(const function *f, const instruction *i)
{
    const tile *t = i->tile;
    const enum type bytes = t->form == TILE_UNSIGNED ? U8 : I8;
    const enum type row = t->form == TILE_PAIRS ? I16 : t->form == TILE_WORDS ? I32 : bytes;
    const instruction *steps = &f->code[i->c];
    need_index(&f->code[i->a]);
    need_index(&f->code[i->b]);
    need_index(steps);
    need(f->buf[t->x].type == row, "a buffer has another type");
    if (t->form == TILE_SPREAD) {
        const buffer *to = &f->buf[t->acc];
        need(to->type == I8 && to->role != IN && to->role != CONSTANT, "a tile spreads to a buffer of i8");
        return;
    }
    need(f->buf[t->w].type == bytes, "a buffer has another type");
    const bool pairs = t->form == TILE_PAIRS || t->form == TILE_ROW;
    need(!pairs || t->channels % 2 == 0, "channels are in pairs");
    need(t->form != TILE_MATRIX || t->channels % 16 == 0, "channels are in blocks of 16");
    need((t->form != TILE_ROW && t->form != TILE_UNSIGNED) || t->rows == 1, "a tile of this form has one row");
    need(t->form != TILE_WORDS || t->rows == 2 || t->rows == 4, "rows are in pairs");
    need((t->form != TILE_OUTER && t->form != TILE_LANES) || t->shift > 0, "a tile has no parts");
    need(t->form != TILE_LANES || t->pitch % t->depth == 0, "a row of a tile begins inside an element");
    if (t->form == TILE_EACH)
        need(t->channels % 4 == 0 && t->depth % 16 == 0 && steps->op == OP_const && steps->k == 1,
             "a tile of each channel by itself has one step, and channels in fours");
    need_sums(&f->buf[t->acc], (int64_t)t->rows * t->channels);
}

static void check_requant(const function *f, const instruction *i)
{
    const requant *q = i->requant;
    const buffer *y = &f->buf[q->y];
    need_index(&f->code[i->a]);
    need_index(&f->code[i->b]);
    need_index(&f->code[i->c]);
    need(y->type == I8 && f->buf[q->table].type == I32, "a buffer has another type");
    need(y->role != IN && y->role != CONSTANT, "a store to a buffer that is only read");
    need_sums(&f->buf[q->acc], 1);
}

/* ------------------------------------------------------------------ values */

static void check_cast(const instruction *i, const instruction *a)
{
    need(a->lanes == i->lanes, "operands have a different number of lanes");
    need(i->op == OP_cast || (a->type != BOOL && i->type != BOOL && !is_real(i->type)), "only integers saturate");
}

static void check_lanes(const function *f, const instruction *i, const instruction *a)
{
    if (i->op == OP_splat)
        need(is_a(a, i->type, 1), "the operand has several lanes, or another type");
    else if (i->op == OP_lane)
        need(is_a(i, a->type, 1), "the result is not one lane of the operand's type");
    else if (i->op == OP_bitcast)
        need(a->type != BOOL && i->type != BOOL && type_bytes(i->type) * i->lanes == type_bytes(a->type) * a->lanes,
             "operand and result have different numbers of bits");
    else if (i->op == OP_shuffle)
        need(a->type == i->type && (!i->b || alike(a, &f->code[i->b])), "operands have different types");
    else
        need(is_a(i, a->type, 1) && (a->lanes & (a->lanes - 1)) == 0 && (kind_of(a->type) & NUMBERS) != 0,
             "the operand needs numbers in 2^n lanes, the result one lane of its type");
}

static void check_dot(const function *f, const instruction *i)
{
    const bool four = i->op == OP_dot4;
    const instruction *a = &f->code[i->a];
    const enum type factor = four ? I8 : I16;
    const int32_t lanes = i->lanes * (four ? 4 : 2);
    need(i->type == I32 && alike(&f->code[i->c], i) && is_a(&f->code[i->b], factor, lanes) &&
             (is_a(a, factor, lanes) || (four && is_a(a, U8, lanes))),
         "the types of the operands do not fit the products");
}

static bool compares(opcode op)
{
    return op == OP_eq || op == OP_ne || op == OP_lt || op == OP_le;
}

static void check_compared(const function *f, const instruction *i)
{
    const instruction *a = &f->code[i->a];
    const bool ordered = i->op == OP_lt || i->op == OP_le;
    need(alike(a, &f->code[i->b]) && (kind_of(a->type) & (ordered ? NUMBERS : NUMBERS | BITS)) != 0,
         "operands have different types");
    need(is_a(i, BOOL, a->lanes), "a comparison is a bool");
}

static void check_select(const function *f, const instruction *i)
{
    const instruction *cond = &f->code[i->a];
    need(cond->type == BOOL && (cond->lanes == 1 || cond->lanes == i->lanes), "a condition is expected");
    need(alike(&f->code[i->b], i) && alike(&f->code[i->c], i), "operands have different types");
}

static void check_plain(const function *f, const instruction *i)
{
    const int32_t use[3] = {i->a, i->b, i->c};
    need(PLAIN[i->op].arity > 0 && (kind_of(i->type) & PLAIN[i->op].of) != 0,
         "the operator does not exist for this type");
    for (int32_t k = 0; k < PLAIN[i->op].arity; k++)
        need(alike(&f->code[use[k]], i), "operands have different types");
}

static void check_variable(const function *f, const instruction *i)
{
    const instruction *v = &f->code[i->aux];
    need(v->op == OP_var && alike(v, i->op == OP_get ? i : &f->code[i->a]), "that is not a variable of this type");
}

void check_types(const function *f, const instruction *i)
{
    const instruction *a = &f->code[i->a];
    switch ((int)i->op) {
    case OP_const:
    case OP_constv:
    case OP_else:
    case OP_end:
        return;
    case OP_load:
    case OP_store:
    case OP_prefetch:
        check_access(f, i);
        return;
    case OP_mma:
        need_index(a);
        need_index(&f->code[i->b]);
        need_index(&f->code[i->c]);
        return;
    case OP_tile:
        check_tile(f, i);
        return;
    case OP_requant:
        check_requant(f, i);
        return;
    case OP_var:
        need(alike(a, i), "operands have different types");
        return;
    case OP_get:
    case OP_set:
        check_variable(f, i);
        return;
    case OP_for:
        need(is_a(i, I32, 1), "the counter of a loop is one i32");
        need_index(a);
        need_index(&f->code[i->b]);
        return;
    case OP_if:
    case OP_break_if:
    case OP_fail_if:
        need(is_a(a, BOOL, 1), "a condition is expected");
        return;
    case OP_cast:
    case OP_satcast:
        check_cast(i, a);
        return;
    case OP_splat:
    case OP_lane:
    case OP_bitcast:
    case OP_shuffle:
    case OP_sumlanes:
    case OP_maxlanes:
        check_lanes(f, i, a);
        return;
    case OP_dot4:
    case OP_dot2:
        check_dot(f, i);
        return;
    case OP_select:
        check_select(f, i);
        return;
    default:
        if (compares(i->op))
            check_compared(f, i);
        else
            check_plain(f, i);
    }
}
