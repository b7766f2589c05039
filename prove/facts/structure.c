/* structure.c - finds the blocks of a function's code; see structure.h. */
#include "prove/facts/structure.h"

#include "ir/loop/ins_fields.h"

typedef struct set_list {
    ac_x *var, to; /* variables that are set up to there */
    int32_t n;
} set_list;

typedef struct ac_set_lists {
    set_list *from; /* by FOR and IF */
} ac_set_lists;

ac_x *ac_p_match_ends(ac_region *r, const ac_loop_fn *fn)
{
    AC_VEC(ac_x) open = {0};
    ac_x *end = AC_NEW_N(r, ac_x, fn->code.n + 1);
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_lop op = (ac_lop)fn->code.item[x].op;
        if ((op == AC_L_ELSE || op == AC_L_END) && open.n)
            end[open.item[--open.n]] = x;
        if (op == AC_L_FOR || op == AC_L_IF || op == AC_L_ELSE)
            ac_push(r, &open, x);
    }
    return end;
}

int64_t *ac_p_count_buffers(ac_region *r, const ac_call *call, const ac_loop_fn *fn)
{
    const ac_loop_fn *own = call->low->fn;
    int64_t *count = AC_NEW_N(r, int64_t, fn->buf.n + 1);
    for (int32_t b = 0; b < fn->buf.n; b++) {
        const ac_buf *buf = &fn->buf.item[b];
        count[b] = buf->count;
        if (b < call->n_arg && b < own->buf.n && own->buf.item[b].role != AC_BUF_LOCAL &&
            own->buf.item[b].count < buf->count)
            count[b] = own->buf.item[b].count;
    }
    return count;
}

ac_x ac_p_loop_around(const ac_prover *p, ac_x x)
{
    ac_x loop = x;
    while (loop > 0 && (ac_p_ins(p, loop)->op != AC_L_FOR || p->end[loop] < x))
        loop--;
    return loop;
}

ac_x ac_p_block_around(const ac_prover *p, ac_x x)
{
    for (ac_x b = x - 1; b > 0; b--) {
        const ac_lop op = (ac_lop)ac_p_ins(p, b)->op;
        if ((op == AC_L_FOR || op == AC_L_IF || op == AC_L_ELSE) && p->end[b] > x)
            return b;
    }
    return 0;
}

bool ac_p_is_phase(const ac_prover *p, ac_x x)
{
    return ac_p_ins(p, x)->op == AC_L_FOR && ac_p_ins(p, x)->aux == AC_MARK_BLOCK;
}

ac_x ac_p_phase_around(const ac_prover *p, ac_x x)
{
    do
        x = ac_p_block_around(p, x);
    while (x > 0 && !ac_p_is_phase(p, x));
    return x;
}

bool ac_p_breaks_off(const ac_prover *p, ac_x loop)
{
    for (ac_x k = loop + 1; k < p->end[loop]; k = ac_p_ins(p, k)->op == AC_L_FOR ? p->end[k] + 1 : k + 1)
        if (ac_p_ins(p, k)->op == AC_L_BREAK_IF)
            return true;
    return false;
}

bool ac_p_stores_between(const ac_prover *p, ac_x from, ac_x to, int32_t buf)
{
    for (ac_x k = from; k < to; k++)
        if (ac_p_ins(p, k)->op != AC_L_LOAD && ac_ins_uses_buffer(ac_p_ins(p, k), buf))
            return true;
    return false;
}

const ac_x *ac_p_set_between(ac_prover *p, ac_x x, ac_x to, int32_t *n)
{
    if (!p->sets) {
        p->sets = AC_NEW(p->keep, ac_set_lists);
        p->sets->from = AC_NEW_N(p->keep, set_list, p->fn->code.n + 1);
    }
    set_list *known = &p->sets->from[x];
    if (!known->var || known->to != to) {
        *known = (set_list){.to = to};
        known->var = AC_NEW_N(p->keep, ac_x, to - x + 1);
        bool *seen = AC_NEW_N(p->tmp, bool, x + 1);
        for (ac_x k = x; k < to; k++) {
            const ac_ins *i = ac_p_ins(p, k);
            if (i->op == AC_L_SET && i->aux < x && !seen[i->aux]) {
                seen[i->aux] = true;
                known->var[known->n++] = i->aux;
            }
        }
    }
    *n = known->n;
    return known->var;
}
