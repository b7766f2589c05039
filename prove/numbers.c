/* numbers.c - what a step that is called once for each row keeps between two calls: counters, which are numbers.
 *
 * Such a step is followed call by call, as if its code stood there as often as there are rows (prove.c). Its scratch
 * stays as it is in between, and its counters, at places that are constants, hold what was stored last: with numbers in
 * them the loops that follow are a schedule (schedule.c), which does not depend on data. */
#include "ir/loop/ins_fields.h"
#include "prove/prover.h"

enum { MOST_NUMBERS = 256 };

typedef struct ac_row_numbers {
    int64_t *number; /* by element; NULL: the buffer has none */
    bool *known;
} ac_row_numbers;

/* Only loads and stores of single elements at constant places. */
static bool has_numbers(const ac_prover *p, int32_t buf)
{
    const ac_buf *b = &p->fn->buf.item[buf];
    bool stores = false;
    if (b->role != AC_BUF_SCRATCH || !ac_dtype_is_int(b->dtype) || b->count > MOST_NUMBERS || buf >= p->call->n_arg)
        return false;
    for (ac_x x = 1; x < p->fn->code.n; x++) {
        const ac_ins *i = ac_p_ins(p, x);
        if (!ac_ins_uses_buffer(i, buf))
            continue;
        const int32_t lanes = i->op == AC_L_STORE ? ac_p_ins(p, i->b)->lanes : i->lanes;
        if ((i->op != AC_L_LOAD && i->op != AC_L_STORE) || lanes != 1 || ac_p_ins(p, i->a)->op != AC_L_CONST)
            return false;
        const int64_t at = ac_p_ins(p, i->a)->k.i;
        if (at < 0 || at >= b->count)
            return false;
        stores |= i->op == AC_L_STORE;
    }
    return stores;
}

void ac_p_numbers_begin(ac_prover *p)
{
    const bool asked = p->numbers != NULL;
    if (!asked)
        p->numbers = AC_NEW_N(p->keep, ac_row_numbers, p->fn->buf.n + 1);
    for (int32_t b = 0; b < p->fn->buf.n; b++) {
        ac_row_numbers *k = &p->numbers[b];
        const size_t count = (size_t)p->fn->buf.item[b].count;
        if (!asked && has_numbers(p, b)) {
            k->number = AC_NEW_N(p->keep, int64_t, count);
            k->known = AC_NEW_N(p->keep, bool, count);
        }
        if (k->number)
            memset(k->known, 0, count * sizeof *k->known);
    }
}

bool ac_p_has_numbers(const ac_prover *p, int32_t buf)
{
    return p->numbers && p->numbers[buf].number;
}

void ac_p_number_stored(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    if (!ac_p_has_numbers(p, i->aux))
        return;
    const ac_row_numbers *k = &p->numbers[i->aux];
    const int64_t at = ac_p_ins(p, i->a)->k.i;
    const ac_interval in = p->value[i->b].in;
    k->known[at] = in.lo == in.hi && !p->uncertain && !p->dry;
    k->number[at] = in.lo;
}

bool ac_p_number_loaded(const ac_prover *p, const ac_ins *i, int64_t *v)
{
    if (!ac_p_has_numbers(p, i->aux))
        return false;
    const int64_t at = ac_p_ins(p, i->a)->k.i;
    *v = p->numbers[i->aux].number[at];
    return p->numbers[i->aux].known[at];
}

void ac_p_numbers_forget(ac_prover *p, ac_x from, ac_x to)
{
    for (ac_x x = from; p->numbers && x < to; x++) {
        const ac_ins *i = ac_p_ins(p, x);
        if (i->op == AC_L_STORE && ac_p_has_numbers(p, i->aux))
            p->numbers[i->aux].known[ac_p_ins(p, i->a)->k.i] = false;
    }
}
