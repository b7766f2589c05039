/* tree_walk.c - finds loops that descend trees: a variable is an index into tables, and its next value comes from
 * there.
 *
 *     at = root;  for level in 0 .. depth: at = first[at] + (x[feature[at]] <= split[at])
 *
 * An interval of indices is too weak: a leaf leads to itself because its split is NaN, which shows only for a single
 * index. So loops.c lists the values of such a variable, by walking the body for each of them. */
#include "prove/facts/contents.h"
#include "prove/facts/structure.h"
#include "prove/strategy/strategies.h"

/* True if the loop has no inner blocks and stores nothing. */
bool ac_p_only_loads(ac_prover *p, ac_x loop)
{
    for (ac_x x = loop + 1; x < p->end[loop]; x++) {
        const ac_ins *i = ac_p_ins(p, x);
        switch ((int)i->op) {
        case AC_L_FOR:
        case AC_L_IF:
        case AC_L_VAR:
        case AC_L_STORE:
        case AC_L_TILE:
        case AC_L_REQUANT:
        case AC_L_MMA:
        case AC_L_FAIL_IF:
        case AC_L_MIN: /* extremes.c has tighter bounds */
        case AC_L_MAX:
            return false;
        case AC_L_LOAD:
            if (p->fn->buf.item[i->aux].role != AC_BUF_IN && p->fn->buf.item[i->aux].role != AC_BUF_CONST)
                return false;
            break;
        default:
            break;
        }
    }
    return true;
}

/* True if the value of x depends on no variable that the loop sets, other than `var`. */
static bool is_of(ac_prover *p, ac_x loop, ac_x x, ac_x var)
{
    int32_t n;
    const ac_x *set = ac_p_set_between(p, loop, p->end[loop], &n);
    bool *need = AC_NEW_N(p->tmp, bool, x + 1);
    need[x] = true;
    for (ac_x at = x; at > loop; at--) {
        const ac_ins *i = ac_p_ins(p, at);
        if (!need[at])
            continue;
        for (int32_t k = 0; i->op == AC_L_GET && k < n; k++)
            if (set[k] == i->aux && set[k] != var)
                return false;
        need[i->a] = need[i->b] = need[i->c] = true; /* need[0] is unused */
    }
    return true;
}

bool ac_p_is_tree_walk(ac_prover *p, ac_x loop, ac_x var)
{
    ac_x set = 0;
    bool is_place = false;
    for (ac_x x = loop + 1; x < p->end[loop]; x++) {
        const ac_ins *i = ac_p_ins(p, x), *at = ac_p_ins(p, i->a);
        if (i->op == AC_L_SET && i->aux == var) {
            if (set)
                return false;
            set = x;
        }
        is_place |= i->op == AC_L_LOAD && at->op == AC_L_GET && at->aux == var && ac_p_constant(p, i->aux);
    }
    return set && is_place && is_of(p, loop, ac_p_ins(p, set)->a, var);
}
