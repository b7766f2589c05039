/* lower.c - reports that a lowering does not support a node. */
#include "ir/lower/arithmetic.h"

int ac_lower_refuse(ac_lower *L, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *text = ac_vstrf(L->cx->region, fmt, ap);
    va_end(ap);
    L->refused = true;
    return ac_error(L->cx, L->node->at, E0108, "%s", text);
}
