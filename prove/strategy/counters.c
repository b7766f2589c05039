/* counters.c - tracks the counters that a step keeps from one of its calls to the next, as numbers.
 *
 * A step that is called once for each row is walked call by call, as if its code was repeated for each row (pass.c).
 * Its scratch persists in between, and its counters, at constant places, hold the last value that was stored. With
 * numbers in the counters, loops that depend on them are schedules (schedule.c), which do not depend on data. */
#include "prove/strategy/counters.h"

#include "ir/loop/ins_fields.h"
#include "prove/strategy/strategies.h"

enum { MOST_COUNTERS = 256 };

typedef struct ac_counters {
    int64_t *number; /* by element; NULL: the buffer has none */
    bool *known;
} ac_counters;

/* Only loads and stores of single elements at constant places. */
static bool has_counters(const ac_prover *p, int32_t buf)
{
    const ac_buf *b = &p->fn->buf.item[buf];
    bool stores = false;
    if (b->role != AC_BUF_SCRATCH || !ac_dtype_is_int(b->dtype) || b->count > MOST_COUNTERS || buf >= p->call->n_arg)
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

void ac_p_counters_begin(ac_prover *p)
{
    const bool asked = p->counters != NULL;
    if (!asked)
        p->counters = AC_NEW_N(p->keep, ac_counters, p->fn->buf.n + 1);
    for (int32_t b = 0; b < p->fn->buf.n; b++) {
        ac_counters *k = &p->counters[b];
        const size_t count = (size_t)p->fn->buf.item[b].count;
        if (!asked && has_counters(p, b)) {
            k->number = AC_NEW_N(p->keep, int64_t, count);
            k->known = AC_NEW_N(p->keep, bool, count);
        }
        if (k->number)
            memset(k->known, 0, count * sizeof *k->known);
    }
}

bool ac_p_has_counters(const ac_prover *p, int32_t buf)
{
    return p->counters && p->counters[buf].number;
}

void ac_p_counter_stored(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    if (!ac_p_has_counters(p, i->aux))
        return;
    const ac_counters *k = &p->counters[i->aux];
    const int64_t at = ac_p_ins(p, i->a)->k.i;
    const ac_interval in = p->value[i->b].in;
    k->known[at] = in.lo == in.hi && !p->at->uncertain && !p->at->dry;
    k->number[at] = in.lo;
}

bool ac_p_is_counter(ac_prover *p, ac_x load)
{
    return ac_p_has_counters(p, ac_p_ins(p, load)->aux);
}

bool ac_p_counter_loaded(ac_prover *p, ac_x load, ac_pvalue *v)
{
    const ac_ins *i = ac_p_ins(p, load);
    const ac_counters *k = &p->counters[i->aux];
    const int64_t at = ac_p_ins(p, i->a)->k.i;
    if (k->known[at])
        *v = (ac_pvalue){.in = {k->number[at], k->number[at]}, .form = ac_affine_of(k->number[at])};
    return k->known[at];
}

void ac_p_counters_forget(ac_prover *p, ac_x from, ac_x to)
{
    for (ac_x x = from; p->counters && x < to; x++) {
        const ac_ins *i = ac_p_ins(p, x);
        if (i->op == AC_L_STORE && ac_p_has_counters(p, i->aux))
            p->counters[i->aux].known[ac_p_ins(p, i->a)->k.i] = false;
    }
}
