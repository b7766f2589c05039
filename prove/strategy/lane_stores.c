/* lane_stores.c - finds the tile or the store that last wrote the element that a load of a local array reads; see
 * exact_lanes.h. */
#include "prove/strategy/exact_lanes.h"

#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"

static bool is_inside(const ac_prover *p, ac_x block, ac_x x)
{
    return block < x && x < p->end[block];
}

static bool writes(const ac_prover *p, ac_x x, int32_t buf)
{
    const ac_ins *i = ac_p_ins(p, x);
    if (i->op == AC_L_TILE)
        return ac_ins_tile(i).acc == buf;
    if (i->op == AC_L_REQUANT)
        return ac_ins_requant(i).y == buf;
    return i->op == AC_L_STORE && i->aux == buf;
}

/* True if `from` is the last writer of the buffer on every path to x. */
static bool is_last(const ac_prover *p, ac_x from, ac_x x, int32_t buf)
{
    for (ac_x b = 1; b < x; b++) {
        const ac_lop op = (ac_lop)ac_p_ins(p, b)->op;
        if (op != AC_L_FOR && op != AC_L_IF && op != AC_L_ELSE)
            continue;
        if (is_inside(p, b, from) && !is_inside(p, b, x))
            return false; /* it may not be run */
        if (op == AC_L_FOR && is_inside(p, b, x) && !is_inside(p, b, from))
            for (ac_x k = b; k < p->end[b]; k++)
                if (writes(p, k, buf))
                    return false; /* an iteration before */
    }
    return true;
}

ac_x ac_lanes_tile(ac_lanes *e, ac_x x)
{
    const ac_prover *p = e->p;
    const int32_t buf = ac_p_ins(p, x)->aux;
    if (e->tile[x] >= 0)
        return e->tile[x];
    e->tile[x] = 0;
    if (p->fn->buf.item[buf].role != AC_BUF_LOCAL || ac_p_ins(p, x)->lanes != 1)
        return 0;
    ac_x t = x - 1;
    while (t > 0 && !writes(p, t, buf))
        t--;
    if (t > 0 && ac_p_ins(p, t)->op == AC_L_TILE && is_last(p, t, x, buf)) {
        const ac_tile_form form = ac_ins_tile(ac_p_ins(p, t)).form;
        e->tile[x] = form == AC_TILE_UNSIGNED || form == AC_TILE_SPREAD ? 0 : t;
    }
    return e->tile[x];
}

/* A number stored at a constant place of the array that load x reads. */
static bool is_plain_store(const ac_prover *p, ac_x s, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, s);
    return i->op == AC_L_STORE && i->aux == ac_p_ins(p, x)->aux && ac_p_ins(p, i->b)->lanes == 1 &&
           ac_p_ins(p, i->a)->op == AC_L_CONST;
}

ac_x ac_lanes_next_store(const ac_lanes *e, ac_x x, ac_x after)
{
    const ac_prover *p = e->p;
    const ac_ins *i = ac_p_ins(p, x);
    if (p->fn->buf.item[i->aux].role != AC_BUF_LOCAL || i->lanes != 1)
        return 0;
    for (ac_x s = after + 1; s < x; s++)
        if (is_plain_store(p, s, x))
            return s;
    return 0;
}

/* True if x may run after w without s in between: in another iteration of a loop around both. */
static bool comes_round(const ac_prover *p, ac_x w, ac_x s, ac_x x)
{
    for (ac_x b = 1; b < x; b++)
        if (ac_p_ins(p, b)->op == AC_L_FOR && is_inside(p, b, x) && is_inside(p, b, w) && !is_inside(p, b, s))
            return true;
    return false;
}

ac_x ac_lanes_store(const ac_lanes *e, ac_x x, int64_t element)
{
    const ac_prover *p = e->p;
    const int32_t buf = ac_p_ins(p, x)->aux;
    ac_x last = 0;
    for (ac_x s = ac_lanes_next_store(e, x, 0); s; s = ac_lanes_next_store(e, x, s))
        if (ac_p_ins(p, ac_p_ins(p, s)->a)->k.i == element)
            last = s;
    for (ac_x b = 1; b < last; b++) {
        const ac_lop op = (ac_lop)ac_p_ins(p, b)->op;
        if ((op == AC_L_FOR || op == AC_L_IF || op == AC_L_ELSE) && is_inside(p, b, last) && !is_inside(p, b, x))
            return 0; /* it may not be run */
    }
    for (ac_x w = last + 1; last && w < p->fn->code.n; w++) {
        const bool other = is_plain_store(p, w, x) && ac_p_ins(p, ac_p_ins(p, w)->a)->k.i != element;
        if (writes(p, w, buf) && !other && (w < x || comes_round(p, w, last, x)))
            return 0;
    }
    return last;
}
