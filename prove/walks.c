/* walks.c - loops that walk down trees: a variable is a place in tables, and what it is next depends on what is there.
 *
 *     at = root;  for level in 0 .. depth: at = first[at] + (x[feature[at]] <= split[at])
 *
 * An interval of places says too little of the next ones: a leaf leads to itself because its split is NaN, which shows
 * only where the place is one number. So loops.c follows the body for each number by itself, if the loop is a walk. */
#include "prove/prover.h"

/* Is each instruction of the loop run in every iteration, unless one ends the loop, and is nothing stored? */
static bool is_plain(const ac_prover *p, ac_x loop)
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
        case AC_L_MIN: /* of extremes more is known than the variable says (extremes.c) */
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

/* Does the value of x come from no other variable that the loop sets? */
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
        need[i->a] = need[i->b] = need[i->c] = true; /* 0 where there is none */
    }
    return true;
}

bool ac_p_is_walk(ac_prover *p, ac_x loop, ac_x var)
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
    return set && is_place && is_plain(p, loop) && is_of(p, loop, ac_p_ins(p, set)->a, var);
}
