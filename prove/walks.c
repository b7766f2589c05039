/* walks.c - loops that walk down trees: a variable is a place in tables, and what it is next depends on what is there.
 *
 *     at = root;  for level in 0 .. depth: at = first[at] + (x[feature[at]] <= split[at])
 *
 * An interval of places says too little of the next ones: that a leaf leads to itself shows where it is one number, as
 * its split is NaN. So loops.c follows the body for each number by itself, which takes that it is a walk: */
#include "prove/prover.h"

static bool reads_memory_only(const ac_prover *p, const ac_ins *i)
{
    const ac_role role = i->op == AC_L_LOAD ? p->fn->buf.item[i->aux].role : AC_BUF_IN;
    return role == AC_BUF_IN || role == AC_BUF_CONST;
}

/* Instructions that are all run in every iteration up to its end, and leave nothing behind but variables. */
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
        case AC_L_MIN:
        case AC_L_MAX:
            return false;
        default:
            if (!reads_memory_only(p, i))
                return false;
        }
    }
    return true;
}

/* Does the value of x come from no other variable that the loop sets? */
static bool is_of(const ac_prover *p, ac_x loop, ac_x x, ac_x var)
{
    bool *need = AC_NEW_N(p->tmp, bool, x + 1);
    need[x] = true;
    for (ac_x at = x; at > loop; at--) {
        const ac_ins *i = ac_p_ins(p, at);
        if (!need[at])
            continue;
        for (ac_x k = loop; i->op == AC_L_GET && i->aux != var && k < p->end[loop]; k++)
            if (ac_p_ins(p, k)->op == AC_L_SET && ac_p_ins(p, k)->aux == i->aux)
                return false;
        need[i->a] = need[i->b] = need[i->c] = true; /* 0 where there is none */
    }
    return true;
}

bool ac_p_is_walk(const ac_prover *p, ac_x loop, ac_x var)
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
