/* arrays.c - gives elements of a local array as sums: one loop writes them, an element in each iteration or several at
 * a distance, and later loops read them.
 *
 *     for t in 0 .. 64                        for t in 0 .. 64
 *         base[t]      = 320 * (t / 4)            x[base[t] + c]              320 * (t / 4) + c
 *         base[t + 64] = 320 * (t / 4) + 5120     x[base[t + 64] + c]
 *
 * Threads of a GPU keep the rows that they work on in this way. Only one store, in one iteration, can write an element;
 * if the load comes after the loop in the same block, that store ran in the same iteration of the outer loops. The sums
 * of the writing iteration are renamed to the reading one (domain/renaming.h). */
#include "prove/strategy/arrays.h"

#include "ir/loop/ins_fields.h"
#include "prove/domain/renaming.h"
#include "prove/facts/structure.h"
#include "prove/strategy/strategies.h"

enum { STORES = 64, NO_LOOP = -1 };

typedef struct stored {
    ac_affine index;
    ac_pvalue value;
    int32_t counter; /* of the loop, when it was followed last; 0: it was not yet */
} stored;

/* The renaming of an iteration of the loop from its `counter` to the unknown `other`. */
typedef struct seen_as {
    int32_t counter, other;
    ac_renaming *names;
} seen_as;

typedef struct ac_arrays {
    ac_x *loop; /* by buffer: the loop that writes it; 0: not computed yet */
    /* of the pass at work */
    stored *by; /* by instruction; NULL: nothing was stored yet */
    AC_VEC(seen_as) seen;
} ac_arrays;

void ac_p_arrays_begin(ac_prover *p)
{
    if (!p->arrays) {
        p->arrays = AC_NEW(p->keep, ac_arrays);
        p->arrays->loop = AC_NEW_N(p->keep, ac_x, p->fn->buf.n + 1);
    }
    *p->arrays = (ac_arrays){.loop = p->arrays->loop};
}

/* ------------------------------------------------------------------ which arrays */

/* The loop that contains all stores to the array; NO_LOOP: a store has another form, or the array has no stores. */
static ac_x only_loop(ac_prover *p, int32_t buf)
{
    const ac_buf *b = &p->fn->buf.item[buf];
    ac_x loop = 0;
    if (b->role != AC_BUF_LOCAL || !ac_dtype_is_int(b->dtype))
        return NO_LOOP;
    for (ac_x x = 1; x < p->fn->code.n; x++) {
        const ac_ins *i = ac_p_ins(p, x);
        if (!ac_ins_uses_buffer(i, buf) || i->op == AC_L_LOAD || i->op == AC_L_PREFETCH)
            continue;
        const ac_x around = ac_p_block_around(p, x);
        if (i->op != AC_L_STORE || i->lanes > 1 || ac_p_ins(p, around)->op != AC_L_FOR || (loop && loop != around))
            return NO_LOOP;
        loop = around;
    }
    int32_t set = 0; /* variables that change from one iteration to the next */
    if (loop)
        ac_p_set_between(p, loop, p->end[loop], &set);
    return loop && ac_p_ins(p, loop)->k.i == 1 && !ac_p_breaks_off(p, loop) && !set ? loop : NO_LOOP;
}

static ac_x loop_of(ac_prover *p, int32_t buf)
{
    ac_x *loop = &p->arrays->loop[buf];
    if (!*loop)
        *loop = only_loop(p, buf);
    return *loop;
}

/* True if x comes after the loop in the same block. */
static bool comes_after(const ac_prover *p, ac_x loop, ac_x x)
{
    const ac_x block = ac_p_block_around(p, loop);
    return p->end[loop] < x && (!block || x < p->end[block]);
}

/* ------------------------------------------------------------------ stores and loads */

void ac_p_array_stored(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_x loop = loop_of(p, i->aux);
    if (loop == NO_LOOP)
        return;
    if (!p->arrays->by)
        p->arrays->by = AC_NEW_N(p->tmp, stored, p->fn->code.n);
    const ac_affine *v = &p->value[loop].form;
    const int32_t counter =
        v->n == 1 && p->know.unknown.item[v->term[0].unknown].of_loop == loop ? v->term[0].unknown : 0;
    p->arrays->by[x] = (stored){p->value[i->a].form, p->value[i->b], counter};
}

/* The distance of the element from the loop variable at its store; false: unknown. */
static bool place_of(const stored *s, int64_t *at)
{
    const ac_affine i = ac_affine_unknown(s->counter), rest = ac_affine_add(&s->index, &i, -1);
    *at = rest.c;
    return s->counter && !rest.lost && !rest.n;
}

static bool are_apart(const int64_t *at, int32_t n, int64_t trips)
{
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < a; b++)
            if (at[a] - at[b] < trips && at[b] - at[a] < trips)
                return false;
    return true;
}

/* The renaming to the iteration whose loop variable is `other`. */
static ac_renaming *renaming_to(ac_prover *p, int32_t counter, int32_t other)
{
    for (int32_t i = 0; i < p->arrays->seen.n; i++)
        if (p->arrays->seen.item[i].counter == counter && p->arrays->seen.item[i].other == other)
            return p->arrays->seen.item[i].names;
    ac_renaming *r = AC_NEW(p->tmp, ac_renaming);
    ac_renaming_open(r, &p->know, counter, p->know.unknown.n);
    r->to[0] = other;
    ac_push(p->tmp, &p->arrays->seen, ((seen_as){counter, other, r}));
    return r;
}

/* The store that has written the element; NULL: unknown. *other: the loop variable of that store. */
static const stored *store_of(ac_prover *p, ac_x loop, int32_t buf, const ac_affine *index, int32_t *other)
{
    const stored *one[STORES];
    int64_t at[STORES];
    int32_t n = 0;
    for (ac_x k = loop + 1; k < p->end[loop]; k++) {
        if (ac_p_ins(p, k)->op != AC_L_STORE || ac_p_ins(p, k)->aux != buf)
            continue;
        if (n == STORES || !place_of(&p->arrays->by[k], &at[n]))
            return NULL;
        one[n++] = &p->arrays->by[k];
    }
    const ac_unknown *u = &p->know.unknown.item[n ? one[0]->counter : 0];
    if (!n || !u->whole || u->falls || u->first.lost || u->first.n || u->last.lost || u->last.n ||
        !are_apart(at, n, u->last.c - u->first.c + 1))
        return NULL;
    for (int32_t k = 0; k < n; k++) {
        const ac_affine v = ac_affine_plus(index, -at[k]);
        if (v.lost || v.n != 1 || v.c || v.term[0].k != 1)
            continue;
        const ac_interval in = p->know.unknown.item[v.term[0].unknown].in;
        *other = v.term[0].unknown;
        if (ac_interval_inside(in, (ac_interval){u->first.c, u->last.c}))
            return one[k];
    }
    return NULL;
}

bool ac_p_is_array(ac_prover *p, ac_x load)
{
    const ac_ins *i = ac_p_ins(p, load);
    return p->arrays->by && i->lanes <= 1 && loop_of(p, i->aux) != NO_LOOP;
}

bool ac_p_array_loaded(ac_prover *p, ac_x x, ac_pvalue *v)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_x loop = loop_of(p, i->aux);
    int32_t other;
    if (!comes_after(p, loop, x))
        return false;
    const stored *s = store_of(p, loop, i->aux, &p->value[i->a].form, &other);
    if (!s || s->value.form.lost)
        return false;
    ac_renaming *r = renaming_to(p, s->counter, other);
    ac_rename_all(r, &s->value.form, 1);
    const ac_affine form = ac_rename_sum(r, &s->value.form);
    if (form.lost)
        return false;
    *v = (ac_pvalue){.in = ac_interval_meet(s->value.in, ac_affine_interval(&p->know, &form)), .form = form};
    return true;
}
