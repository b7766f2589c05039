/* missing.c - records operations that do not exist for a type. A model can need them, so the builder continues with a
 * value of the right type, and the lowering refuses the node. */
#include "ir/loop/builder.h"
#include "ir/loop/kernel.h"

static bool is_value(ac_dtype d)
{
    return ac_kernel_of(AC_L_CAST, AC_I32, d) != NULL;
}

static bool exists(ac_lop op, ac_dtype type, ac_dtype from)
{
    if (op == AC_L_STORE)
        return is_value(from);
    if (op == AC_L_BITCAST)
        return is_value(type) && is_value(from) && type != AC_BOOL && from != AC_BOOL;
    return ac_kernel_of(op, type, from) != NULL;
}

bool ac_lb_exists(ac_lb *b, ac_lop op, ac_dtype type, ac_dtype from)
{
    if (exists(op, type, from))
        return true;
    if (!b->missing.op) {
        b->missing.op = (uint8_t)op;
        b->missing.type = (uint8_t)type;
        b->missing.from = (uint8_t)from;
    }
    return false;
}

const char *ac_lb_missing(const ac_lb *b)
{
    const ac_lop op = (ac_lop)b->missing.op;
    const ac_dtype type = (ac_dtype)b->missing.type, from = (ac_dtype)b->missing.from;
    const bool converts = op == AC_L_CAST || op == AC_L_SATCAST || op == AC_L_BITCAST;
    if (!op)
        return NULL;
    const char *text = ac_strf(b->region, "%s of %s%s%s; ", ac_lop_text(op), ac_dtype_name(from),
                               converts ? " to " : "", converts ? ac_dtype_name(type) : "");
    const char *word = "supported are ";
    for (int d = 1; d < AC_DTYPE_COUNT; d++) {
        const ac_dtype t = (ac_dtype)d;
        if (!exists(op, t, converts ? from : t))
            continue;
        text = ac_strf(b->region, "%s%s%s", text, word, ac_dtype_name(t));
        word = ", ";
    }
    return *word == ',' ? text : ac_strf(b->region, "%sthey do not compute with %s", text, ac_dtype_name(from));
}
