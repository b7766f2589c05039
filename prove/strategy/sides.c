/* sides.c - chooses branches whose sides are walked apart: each together with the rest of the block, so that
 * every path shows the elements that it writes, if a later branch may write the same ones. */
#include "ir/loop/tiles.h"
#include "prove/strategy/strategies.h"

/* Branches without another side that store to the call's own buffers. */
bool *ac_p_choose_sides(const ac_prover *p)
{
    bool any = false, *apart = AC_NEW_N(p->keep, bool, p->fn->code.n + 1);
    for (ac_x x = 1; x < p->fn->code.n; x++) {
        if (ac_p_ins(p, x)->op != AC_L_IF || ac_p_end(p, x) != p->end[x])
            continue;
        for (ac_x k = x; k < p->end[x] && !apart[x]; k++) {
            const ac_ins *i = ac_p_ins(p, k);
            const ac_role role = i->op == AC_L_STORE  ? p->fn->buf.item[i->aux].role
                                 : i->op == AC_L_TILE ? p->fn->buf.item[ac_ins_tile(i).acc].role
                                                      : AC_BUF_IN;
            apart[x] = role == AC_BUF_SCRATCH || role == AC_BUF_LOCAL;
        }
        any |= apart[x];
    }
    return any ? apart : NULL;
}
