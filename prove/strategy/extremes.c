/* extremes.c - bounds loads by the maximum (minimum) that a loop has found in a range of memory.
 *
 *     max = lowest;  for c in 0 .. n: max = max(x[c], max)         until x is written:
 *       - every load of an element of that range is at most max, so max - x[c] is at least 0;
 *       - some element equals max. One iteration of a sum over the same range loads max itself; the sum is at least the
 *         increment of that iteration plus the minimum of the others.
 *
 * The extremes of a single element are the element itself: loading it again gives the same value.
 *
 * Softmax needs both: its table is indexed by max - x[c], and its sum is not 0. Extremes are recorded of operands
 * (overlap.c claims that these are read before they are overwritten), and of the function's own arrays until these are
 * stored to. If a loop that counts up stores once in each iteration (softmax in place), elements at or above the next
 * store are unchanged:
 *
 *     for c in 0 .. n: x[c] = table[max - x[c]]
 */
#include "prove/strategy/extremes.h"

#include "ir/loop/ins_fields.h"
#include "prove/facts/evaluate.h"
#include "prove/facts/structure.h"
#include "prove/strategy/strategies.h"

typedef struct extreme {
    int32_t buf;
    ac_affine first, n; /* elements */
    ac_affine value;
    bool greatest;
    ac_x store;             /* in a loop that stores to its array; else 0 */
    int32_t counter, since; /* of that loop; unknowns from `since` on are of its iterations */
} extreme;

typedef struct ac_extremes {
    AC_VEC(extreme) item;
} ac_extremes;

void ac_p_extremes_begin(ac_prover *p)
{
    p->extremes = NULL;
}

/* Elements first .. first + n - 1 are those that a load in a loop reads, once each. */
static bool range_of(ac_prover *p, ac_x load, int32_t counter, ac_affine *first, ac_affine *n)
{
    const ac_affine *index = &p->value[ac_p_ins(p, load)->a].form;
    const ac_unknown *u = &p->know.unknown.item[counter];
    if (index->lost || u->falls || u->step != 1 || ac_p_ins(p, load)->lanes != 1 ||
        ac_affine_coefficient(index, counter) != 1)
        return false;
    const ac_affine i = ac_affine_unknown(counter), rest = ac_affine_add(index, &i, -1);
    *first = ac_affine_add(&rest, &u->first, 1);
    *n = ac_affine_add(&u->last, &u->first, -1);
    *n = ac_affine_plus(n, 1);
    return !first->lost && !n->lost;
}

/* An array that only this function writes while it runs. */
static bool is_own(const ac_prover *p, int32_t buf)
{
    const ac_role role = p->fn->buf.item[buf].role;
    return role == AC_BUF_LOCAL || (role == AC_BUF_SCRATCH && !p->call->arg[buf].shares);
}

/* True for loads of integers from operands and own arrays; the number of a call is excluded, as it changes. */
bool ac_p_is_element(ac_prover *p, ac_x load)
{
    const ac_ins *i = ac_p_ins(p, load);
    if (i->op != AC_L_LOAD || ac_dtype_is_float((ac_dtype)i->dtype))
        return false;
    return is_own(p, i->aux) ||
           (p->fn->buf.item[i->aux].role == AC_BUF_IN && p->call->arg[i->aux].space != AC_SPACE_CHUNK);
}

/* The next instruction of the loop that runs exactly once in every iteration. */
static ac_x next_direct(const ac_prover *p, ac_x x)
{
    const ac_lop op = (ac_lop)ac_p_ins(p, x)->op;
    if (op == AC_L_FOR)
        return p->end[x] + 1;
    if (op == AC_L_IF) {
        x = p->end[x];
        return (ac_p_ins(p, x)->op == AC_L_ELSE ? p->end[x] : x) + 1;
    }
    return x + 1;
}

void ac_p_extreme_found(ac_prover *p, ac_x loop, ac_x var, int32_t counter, const ac_pvalue *entry, bool runs)
{
    for (ac_x x = loop + 1; x < p->end[loop]; x = next_direct(p, x)) {
        const ac_ins *set = ac_p_ins(p, x);
        if (set->op != AC_L_SET || set->aux != var)
            continue;
        const ac_ins *most = ac_p_ins(p, set->a);
        if ((most->op != AC_L_MAX && most->op != AC_L_MIN) || set->a < loop)
            return;
        const bool greatest = most->op == AC_L_MAX;
        const bool a_is_load = ac_p_is_element(p, most->a);
        const ac_x load = a_is_load ? most->a : most->b, old = a_is_load ? most->b : most->a;
        if (!ac_p_is_element(p, load) || load < loop || ac_p_ins(p, old)->op != AC_L_GET ||
            ac_p_ins(p, old)->aux != var)
            return;
        const ac_interval range = ac_p_range((ac_dtype)most->dtype);
        extreme e = {.buf = ac_p_ins(p, load)->aux, .value = p->value[var].form, .greatest = greatest};
        if (!runs || (greatest ? entry->in.hi > range.lo : entry->in.lo < range.hi) || e.value.lost ||
            !range_of(p, load, counter, &e.first, &e.n))
            return;
        if (!p->extremes)
            p->extremes = AC_NEW(p->tmp, ac_extremes);
        ac_push(p->tmp, &p->extremes->item, e);
        return;
    }
}

/* Records both extremes of the single element that `load` gave, if it is still *value at instruction x. */
static void record_element(ac_prover *p, ac_x load, ac_x x, const ac_affine *value)
{
    const int32_t buf = ac_p_ins(p, load)->aux;
    const ac_affine *index = &p->value[ac_p_ins(p, load)->a].form;
    if (is_own(p, buf) && ac_p_stores_between(p, load + 1, x, buf))
        return;
    if (ac_p_ins(p, load)->lanes != 1 || index->lost || value->lost || !ac_affine_equal(value, &p->value[load].form))
        return; /* it is not the element */
    if (!p->extremes)
        p->extremes = AC_NEW(p->tmp, ac_extremes);
    for (int greatest = 0; greatest < 2; greatest++)
        ac_push(p->tmp, &p->extremes->item,
                ((extreme){.buf = buf, .first = *index, .n = ac_affine_of(1), .value = *value, .greatest = greatest}));
}

void ac_p_extreme_of_one(ac_prover *p, ac_x set)
{
    const ac_ins *most = ac_p_ins(p, ac_p_ins(p, set)->a);
    if (most->op != AC_L_MAX && most->op != AC_L_MIN)
        return;
    const ac_x load = ac_p_is_element(p, most->a) ? most->a : most->b;
    if (ac_p_is_element(p, load))
        record_element(p, load, set, &p->value[ac_p_ins(p, set)->a].form);
}

void ac_p_extreme_asked(ac_prover *p, ac_x x, ac_x condition)
{
    const ac_ins *i = ac_p_ins(p, condition);
    if (ac_p_is_element(p, condition))
        record_element(p, condition, x, &p->value[condition].form);
    if (i->op != AC_L_OR && i->op != AC_L_AND && i->op != AC_L_LT && i->op != AC_L_LE && i->op != AC_L_EQ)
        return;
    ac_p_extreme_asked(p, x, i->a);
    ac_p_extreme_asked(p, x, i->b);
}

/* True if a load in a loop that stores to the array reads an element that the loop has not stored yet. */
static bool is_ahead(ac_prover *p, ac_x load, const extreme *e)
{
    const ac_x at = ac_p_ins(p, e->store)->a;
    const ac_unknown *u = &p->know.unknown.item[e->counter];
    const ac_affine *index = &p->value[at].form;
    if (load > e->store || at > load || index->lost || u->falls || ac_affine_coefficient(index, e->counter) < 1)
        return false;
    for (int32_t k = 0; k < index->n; k++)
        if (index->term[k].unknown >= e->since && index->term[k].unknown != e->counter)
            return false; /* its place may change arbitrarily between iterations */
    const ac_affine over = ac_affine_add(&p->value[ac_p_ins(p, load)->a].form, index, -1);
    return !over.lost && ac_is_at_least(&p->know, &over, 0);
}

void ac_p_extreme_load(ac_prover *p, ac_x load, ac_pvalue *v)
{
    const ac_ins *i = ac_p_ins(p, load);
    for (int32_t k = ac_p_extremes(p) - 1; k >= 0; k--) {
        const extreme *e = &p->extremes->item.item[k];
        const ac_affine ahead = ac_affine_add(&p->value[i->a].form, &e->first, -1),
                        over = ac_affine_add(&ahead, &e->n, -1);
        if (e->buf != i->aux || ahead.lost || over.lost || !ac_is_at_least(&p->know, &ahead, 0) ||
            !ac_is_at_most(&p->know, &over, -i->lanes) || (e->store && !is_ahead(p, load, e)))
            continue;
        if (e->greatest)
            ac_know_at_most(&p->know, v->form.term[0].unknown, 1, &e->value);
        else
            ac_know_at_least(&p->know, v->form.term[0].unknown, 1, &e->value);
        v->in = ac_interval_meet(v->in, p->know.unknown.item[v->form.term[0].unknown].in);
    }
}

bool ac_p_has_extremes(ac_prover *p, ac_x loop)
{
    (void)loop;
    return p->extremes;
}

bool ac_p_extreme_witness(ac_prover *p, ac_x loop, int32_t counter, ac_witness *w)
{
    for (ac_x x = loop + 1; x < p->end[loop]; x = next_direct(p, x)) {
        ac_affine first, n;
        if (!ac_p_is_element(p, x) || !range_of(p, x, counter, &first, &n))
            continue;
        for (int32_t k = p->extremes->item.n - 1; k >= 0; k--) {
            const extreme *e = &p->extremes->item.item[k];
            if (!e->store && e->buf == ac_p_ins(p, x)->aux && ac_affine_equal(&e->first, &first) &&
                ac_affine_equal(&e->n, &n)) {
                *w = (ac_witness){.load = x, .value = e->value};
                return true;
            }
        }
    }
    return false;
}

int32_t ac_p_extremes(const ac_prover *p)
{
    return p->extremes ? p->extremes->item.n : 0;
}

/* Makes the range of an extreme empty. */
static void drop(extreme *e)
{
    e->n = ac_affine_of(0);
    e->store = 0;
}

void ac_p_extremes_keep(ac_prover *p, int32_t n)
{
    for (int32_t k = n; k < ac_p_extremes(p); k++)
        if (is_own(p, p->extremes->item.item[k].buf))
            drop(&p->extremes->item.item[k]);
}

void ac_p_extreme_stored(ac_prover *p, int32_t buf)
{
    for (int32_t k = 0; is_own(p, buf) && k < ac_p_extremes(p); k++)
        if (p->extremes->item.item[k].buf == buf && !p->extremes->item.item[k].store)
            drop(&p->extremes->item.item[k]);
}

/* True if the loop stores to the array of the extreme. *only: the only store, if it runs once in each iteration. */
static bool is_stored_in(const ac_prover *p, ac_x loop, const extreme *e, ac_x *only)
{
    int32_t stores = 0;
    *only = 0;
    if (!is_own(p, e->buf) || (!e->n.n && !e->n.c))
        return false;
    for (ac_x x = loop + 1; x < p->end[loop]; x++) {
        int32_t used[AC_INS_BUFFERS];
        const ac_ins *i = ac_p_ins(p, x);
        for (int32_t n = i->op == AC_L_LOAD ? 0 : ac_ins_buffers(i, used); n > 0; n--)
            stores += used[n - 1] == e->buf;
    }
    for (ac_x x = loop + 1; stores == 1 && x < p->end[loop]; x = next_direct(p, x)) {
        const ac_ins *i = ac_p_ins(p, x);
        if (i->op == AC_L_STORE && i->aux == e->buf && ac_p_ins(p, i->b)->lanes == 1)
            *only = x;
    }
    return stores > 0;
}

void ac_p_extremes_enter(ac_prover *p, ac_x loop, int32_t counter, int32_t since)
{
    for (int32_t k = 0; k < ac_p_extremes(p); k++) {
        extreme *e = &p->extremes->item.item[k];
        ac_x store;
        if (!is_stored_in(p, loop, e, &store))
            continue;
        e->store = store;
        e->counter = counter;
        e->since = since;
        if (!store)
            drop(e);
    }
}

void ac_p_extremes_leave(ac_prover *p, ac_x loop, int32_t n)
{
    ac_x store;
    for (int32_t k = n; k < ac_p_extremes(p); k++)
        if (is_stored_in(p, loop, &p->extremes->item.item[k], &store))
            drop(&p->extremes->item.item[k]);
}
