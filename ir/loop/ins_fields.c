/* ins_fields.c - lists the fields of an instruction that are values, and those that are buffers; see ins_fields.h. */
#include "ir/loop/ins_fields.h"

#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"

void ac_ins_move_values(ac_ins *i, const ac_x *map)
{
    i->a = map[i->a];
    i->b = map[i->b];
    i->c = map[i->c];
    if (i->op == AC_L_GET || i->op == AC_L_SET)
        i->aux = map[i->aux];
}

int32_t ac_ins_buffers(const ac_ins *i, int32_t buf[AC_INS_BUFFERS])
{
    if (!ac_lop_has_buffer((ac_lop)i->op))
        return 0;
    int32_t n = 0;
    buf[n++] = i->aux;
    if (i->op == AC_L_MMA)
        buf[n++] = (int32_t)i->k.i;
    if (i->op == AC_L_TILE) {
        const ac_tile t = ac_ins_tile(i);
        buf[n++] = t.acc;
        if (t.form != AC_TILE_SPREAD)
            buf[n++] = t.w;
    }
    if (i->op == AC_L_REQUANT) {
        const ac_requants q = ac_ins_requant(i);
        buf[n++] = q.acc;
        buf[n++] = q.table;
    }
    return n;
}

bool ac_ins_uses_buffer(const ac_ins *i, int32_t buf)
{
    int32_t list[AC_INS_BUFFERS];
    bool does = false;
    for (int32_t n = ac_ins_buffers(i, list) - 1; n >= 0; n--)
        does |= list[n] == buf;
    return does;
}

void ac_ins_move_buffers(ac_ins *i, const int32_t *to)
{
    if (i->op == AC_L_TILE) {
        ac_tile t = ac_ins_tile(i);
        t.x = to[t.x];
        t.acc = to[t.acc];
        if (t.form != AC_TILE_SPREAD)
            t.w = to[t.w];
        ac_tile_put(i, &t);
    } else if (i->op == AC_L_REQUANT) {
        ac_requants q = ac_ins_requant(i);
        q.y = to[q.y];
        q.acc = to[q.acc];
        q.table = to[q.table];
        ac_requant_put(i, &q);
    } else if (ac_lop_has_buffer((ac_lop)i->op)) {
        i->aux = to[i->aux];
        if (i->op == AC_L_MMA)
            i->k.i = to[i->k.i];
    }
}

bool ac_ins_integer(const ac_ins *i, int64_t a, int64_t b, int64_t c, int64_t *to)
{
    const bool shift = b >= 0 && b < 32;
    switch ((int)i->op) {
    // clang-format off
    case AC_L_ADD: *to = a + b; return true;
    case AC_L_SUB: *to = a - b; return true;
    case AC_L_MUL: *to = a * b; return true;
    case AC_L_DIV: *to = b ? a / b : 0; return true;
    case AC_L_MOD: *to = b ? a % b : 0; return true;
    case AC_L_MIN: *to = a < b ? a : b; return true;
    case AC_L_MAX: *to = a > b ? a : b; return true;
    case AC_L_AND: *to = a & b; return true;
    case AC_L_OR: *to = a | b; return true;
    case AC_L_XOR: *to = a ^ b; return true;
    case AC_L_SHL: *to = shift ? (int64_t)((uint64_t)a << b) : 0; return true;
    case AC_L_SHR: *to = shift ? a >> b : 0; return true;
    case AC_L_EQ: *to = a == b; return true;
    case AC_L_NE: *to = a != b; return true;
    case AC_L_LT: *to = a < b; return true;
    case AC_L_LE: *to = a <= b; return true;
    case AC_L_SELECT: *to = a ? b : c; return true;
    case AC_L_CAST: *to = a; return true;
    default: return false;
        // clang-format on
    }
}
