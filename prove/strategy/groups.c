/* groups.c - bounds loads by maxima (minima) and sums that threads of a GPU compute together, each from a share of the
 * elements.
 *
 *     for t in 0 .. T:  m = lowest; for c in t % 32 .. n step 32: m = max(x[row(t / 32) + c], m);   a[t] = m
 *     for t in 0 .. T:  b[t] = max(a[t], a[t ^ 16])
 *     ...               the same with 8, 4, 2, 1, from one array into another
 *     for t in 0 .. T:  M = b[t];  s = 0; for c in t % 32 .. n step 32: s += f(M - x[row(t / 32) + c]);   a[t] = s
 *     ...               a[t] + a[t ^ 16], and so on
 *
 * After distances 1, 2, .. 16 every thread has combined the values of all 32 in its group. So b[t] is the maximum of
 * row t / 32: no element exceeds it, and one of them equals it, if none is below `lowest`. And the sum has n terms, one
 * of them f(0). The code is matched by the form of its loops; two rows are equal if the same instructions compute them.
 * A copy, c[t] = b[t], passes the value on. */
#include "prove/strategy/groups.h"

#include "prove/facts/evaluate.h"
#include "prove/facts/structure.h"
#include "prove/strategy/strategies.h"

typedef struct group {
    ac_lop op;             /* MAX, MIN or ADD over the threads; NONE (0): the load is not of this form */
    ac_x phase, loop, var; /* of a thread's share: the loop of threads, the loop in it, and its variable */
    ac_x load, index;      /* the element of an iteration, at `index` + counter; 0: a sum has none */
    int64_t n;
} group;

/* The terms of a sum in the last walk of its loop. */
typedef struct terms {
    ac_x loop, var;
    bool known;
    ac_interval each, one;
} terms;

typedef struct ac_groups {
    group *of; /* by load; NULL: the function has no loop over threads */
    AC_VEC(terms) sum;
} ac_groups;

/* ------------------------------------------------------------------ loops as they are written */

static bool is_constant(const ac_prover *p, ac_x x, int64_t *v)
{
    *v = ac_p_ins(p, x)->k.i;
    return ac_p_ins(p, x)->op == AC_L_CONST && !ac_dtype_is_float((ac_dtype)ac_p_ins(p, x)->dtype);
}

static bool same_constant(const ac_prover *p, ac_x a, ac_x b)
{
    int64_t v, w;
    return is_constant(p, a, &v) && is_constant(p, b, &w) && v == w && ac_p_ins(p, a)->dtype == ac_p_ins(p, b)->dtype;
}

/* True if a, in the loop of threads ta, equals b, in tb, for all threads of a group of `size`. */
static bool is_same(const ac_prover *p, ac_x a, ac_x ta, ac_x b, ac_x tb, int64_t size)
{
    const ac_ins *i = ac_p_ins(p, a), *j = ac_p_ins(p, b);
    int64_t by;
    if (same_constant(p, a, b) || (a == b && a < ta && a < tb))
        return true;
    if (i->op != j->op || i->dtype != j->dtype || i->lanes != 1 || j->lanes != 1)
        return false;
    if (i->op == AC_L_DIV && i->a == ta && j->a == tb)
        return same_constant(p, i->b, j->b) && is_constant(p, i->b, &by) && by > 0 && by % size == 0;
    switch ((int)i->op) {
    case AC_L_ADD:
    case AC_L_SUB:
    case AC_L_MUL:
    case AC_L_DIV:
    case AC_L_MOD:
    case AC_L_MIN:
    case AC_L_MAX:
        return is_same(p, i->a, ta, j->a, tb, size) && is_same(p, i->b, ta, j->b, tb, size);
    default:
        return false;
    }
}

/* ------------------------------------------------------------------ the share of a thread */

/* The place of the load without the loop's counter; 0: it is not such a sum. */
static ac_x place_without_counter(const ac_prover *p, ac_x load, ac_x counter)
{
    const ac_ins *at = ac_p_ins(p, ac_p_ins(p, load)->a);
    if (ac_p_ins(p, load)->lanes != 1 || at->op != AC_L_ADD)
        return 0;
    return at->b == counter ? at->a : at->a == counter ? at->b : 0;
}

/* True for: for c in t % size .. n step size, in the loop of threads. */
static bool has_share(const ac_prover *p, ac_x loop, ac_x phase, int64_t size, int64_t *n)
{
    const ac_ins *i = ac_p_ins(p, loop), *first = ac_p_ins(p, i->a);
    int64_t by;
    return i->op == AC_L_FOR && ac_p_block_around(p, loop) == phase && i->k.i == size && first->op == AC_L_MOD &&
           first->a == phase && is_constant(p, first->b, &by) && by == size && is_constant(p, i->b, n) && *n > 0 &&
           !ac_p_breaks_off(p, loop);
}

/* True for a load of integers from an operand, at the counter plus a value that the group shares. */
static bool is_share(const ac_prover *p, ac_x load, ac_x loop, ac_x phase, int64_t size)
{
    const ac_ins *i = ac_p_ins(p, load);
    const ac_x rest = i->op == AC_L_LOAD ? place_without_counter(p, load, loop) : 0;
    return rest && ac_p_block_around(p, load) == loop && p->fn->buf.item[i->aux].role == AC_BUF_IN &&
           i->aux < p->call->n_arg && p->call->arg[i->aux].space != AC_SPACE_CHUNK &&
           !ac_dtype_is_float((ac_dtype)i->dtype) && is_same(p, rest, phase, rest, phase, size);
}

/* True if the variable that GET x reads is set once, in a loop over the thread's share. */
static bool find_share(const ac_prover *p, ac_x x, ac_x phase, int64_t size, group *g)
{
    const ac_x var = ac_p_ins(p, x)->aux;
    ac_x set = 0;
    int64_t start;
    for (ac_x k = var + 1; k < p->end[phase]; k++)
        if (ac_p_ins(p, k)->op == AC_L_SET && ac_p_ins(p, k)->aux == var) {
            if (set)
                return false;
            set = k;
        }
    if (!set || set > x || ac_p_block_around(p, var) != phase || !is_constant(p, ac_p_ins(p, var)->a, &start))
        return false;
    g->var = var;
    g->phase = phase;
    g->loop = ac_p_block_around(p, set);
    if (!has_share(p, g->loop, phase, size, &g->n))
        return false;
    const ac_ins *now = ac_p_ins(p, ac_p_ins(p, set)->a);
    if (now->op != g->op)
        return false;
    if (g->op == AC_L_ADD)
        return start == 0 && now->dtype == AC_I32;
    const ac_ins *a = ac_p_ins(p, now->a), *b = ac_p_ins(p, now->b);
    const bool old_first = a->op == AC_L_GET && a->aux == var;
    ac_x load = old_first ? now->b : now->a;
    if (!old_first && (b->op != AC_L_GET || b->aux != var))
        return false;
    if (ac_p_ins(p, load)->op == AC_L_CAST)
        load = ac_p_ins(p, load)->a;
    if (!is_share(p, load, g->loop, phase, size))
        return false;
    const ac_interval range = ac_p_range((ac_dtype)ac_p_ins(p, load)->dtype);
    g->load = load;
    g->index = place_without_counter(p, load, g->loop);
    return ac_interval_inside(range, ac_p_range((ac_dtype)now->dtype)) && now->dtype != AC_U64 &&
           (g->op == AC_L_MAX ? start <= range.lo : start >= range.hi);
}

/* ------------------------------------------------------------------ the value of a group */

/* The last store to the array before the loop of threads `before`, in a loop of as many threads in the same block, each
 * storing its own element. 0: it has another form. */
static ac_x last_store(const ac_prover *p, int32_t buf, ac_x before, ac_x *phase)
{
    ac_x store = before - 1;
    while (store > 0 && !ac_p_stores_between(p, store, store + 1, buf))
        store--;
    const ac_ins *i = ac_p_ins(p, store);
    *phase = store > 0 ? ac_p_block_around(p, store) : 0;
    if (!*phase || i->op != AC_L_STORE || ac_p_ins(p, i->b)->lanes != 1 || !ac_p_is_phase(p, *phase) ||
        i->a != *phase || ac_p_block_around(p, *phase) != ac_p_block_around(p, before) || ac_p_breaks_off(p, *phase) ||
        ac_p_stores_between(p, before, p->end[before], buf) || ac_p_stores_between(p, *phase, store, buf))
        return 0;
    const ac_ins *f = ac_p_ins(p, *phase), *g = ac_p_ins(p, before);
    return same_constant(p, f->a, g->a) && same_constant(p, f->b, g->b) && f->k.i == 1 && g->k.i == 1 ? store : 0;
}

/* True for a load, from a local array, of the thread's own element. */
static bool is_of_thread(const ac_prover *p, ac_x load, ac_x thread, int32_t *buf)
{
    const ac_ins *i = ac_p_ins(p, load);
    *buf = i->aux;
    return i->op == AC_L_LOAD && i->lanes == 1 && i->a == thread && p->fn->buf.item[i->aux].role == AC_BUF_LOCAL;
}

/* b[t] = op(a[t], a[t ^ distance]): the array a; -1: it is not that. */
static int32_t exchanged_array(const ac_prover *p, ac_x value, ac_x phase, int64_t *distance)
{
    const ac_ins *i = ac_p_ins(p, value);
    int32_t from;
    if (!is_of_thread(p, i->a, phase, &from))
        return -1;
    const ac_ins *other = ac_p_ins(p, i->b), *at = ac_p_ins(p, other->a);
    return other->op == AC_L_LOAD && other->lanes == 1 && other->aux == from && at->op == AC_L_XOR && at->a == phase &&
                   is_constant(p, at->b, distance)
               ? from
               : -1;
}

static group find_group(const ac_prover *p, ac_x x)
{
    const group none = {0};
    const ac_x thread = ac_p_ins(p, x)->a;
    int32_t buf;
    int64_t all = 0, first, threads;
    if (!ac_p_is_phase(p, thread) || !is_of_thread(p, x, thread, &buf) ||
        ac_dtype_is_float(p->fn->buf.item[buf].dtype) || !is_constant(p, ac_p_ins(p, thread)->a, &first) ||
        !is_constant(p, ac_p_ins(p, thread)->b, &threads) || first)
        return none;
    group g = none;
    for (ac_x before = thread, phase, store; (store = last_store(p, buf, before, &phase)) != 0; before = phase) {
        const ac_x value = ac_p_ins(p, store)->b;
        const ac_lop op = (ac_lop)ac_p_ins(p, value)->op;
        int64_t distance;
        int32_t from;
        if (op == AC_L_GET)
            return g.op && (all & (all + 1)) == 0 && threads % (all + 1) == 0 &&
                           find_share(p, value, phase, all + 1, &g)
                       ? g
                       : none;
        if (is_of_thread(p, value, phase, &from) && from != buf) { /* passed on */
            buf = from;
            continue;
        }
        if ((op != AC_L_MAX && op != AC_L_MIN && op != AC_L_ADD) || (g.op && g.op != op))
            return none;
        from = exchanged_array(p, value, phase, &distance);
        if (from < 0 || from == buf || distance < 1 || (distance & (distance - 1)) || all & distance)
            return none;
        g.op = op;
        all |= distance;
        buf = from;
    }
    return none;
}

static ac_groups *groups_of(ac_prover *p)
{
    const int32_t n = p->fn->code.n;
    if (p->groups)
        return p->groups;
    p->groups = AC_NEW(p->keep, ac_groups);
    bool any = false;
    for (ac_x x = 1; x < n; x++)
        any |= ac_p_is_phase(p, x);
    if (!any)
        return p->groups;
    p->groups->of = AC_NEW_N(p->keep, group, n);
    for (ac_x x = 1; x < n; x++) {
        if (ac_p_ins(p, x)->op != AC_L_LOAD)
            continue;
        const group g = p->groups->of[x] = find_group(p, x);
        if (g.op == AC_L_ADD)
            ac_push(p->keep, &p->groups->sum, ((terms){.loop = g.loop, .var = g.var}));
    }
    return p->groups;
}

/* ------------------------------------------------------------------ bounds */

static int64_t size_of(const ac_prover *p, const group *g)
{
    return ac_p_ins(p, g->loop)->k.i;
}

/* The load of a group's maximum (minimum), before x in the same loop of threads, over a range that contains the element
 * of load x, at `index` + a counter. 0: none. */
static ac_x extreme_over(ac_prover *p, ac_x x)
{
    const ac_groups *all = groups_of(p);
    const ac_x phase = all->of ? ac_p_phase_around(p, x) : 0;
    for (ac_x k = phase + 1; k < x && phase; k++) {
        const group *g = &all->of[k];
        const ac_x block = g->op && g->load ? ac_p_block_around(p, k) : 0;
        const ac_ins *at = ac_p_ins(p, ac_p_ins(p, x)->a);
        if (!block || p->end[block] < x || ac_p_ins(p, k)->a != phase ||
            ac_p_ins(p, x)->aux != ac_p_ins(p, g->load)->aux || at->op != AC_L_ADD)
            continue;
        for (int side = 0; side < 2; side++) {
            const ac_x rest = side ? at->b : at->a, counter = side ? at->a : at->b;
            if (is_same(p, g->index, g->phase, rest, phase, size_of(p, g)) &&
                ac_interval_inside(p->value[counter].in, (ac_interval){0, g->n - 1}))
                return k;
        }
    }
    return 0;
}

/* The range of a load that gives a group's result. */
static ac_interval result_range(ac_prover *p, const group *g)
{
    ac_interval all = {INT64_MIN, INT64_MAX};
    if (g->load) {
        const int64_t start = ac_p_ins(p, ac_p_ins(p, g->var)->a)->k.i;
        return ac_interval_join(ac_p_range((ac_dtype)ac_p_ins(p, g->load)->dtype), (ac_interval){start, start});
    }
    for (int32_t k = 0; k < p->groups->sum.n; k++) {
        const terms *t = &p->groups->sum.item[k];
        const ac_interval rest = ac_interval_mul(t->each, (ac_interval){g->n - 1, g->n - 1}),
                          sum = ac_interval_add(rest, t->one);
        if (t->known && t->var == g->var && ac_interval_inside(sum, ac_p_range(AC_I32)))
            all = ac_interval_meet(all, sum);
    }
    return all;
}

bool ac_p_has_threads(ac_prover *p, ac_x load)
{
    return groups_of(p)->of && ac_p_ins(p, load)->lanes == 1;
}

void ac_p_group_load(ac_prover *p, ac_x load, ac_pvalue *v)
{
    const ac_groups *all = groups_of(p);
    if (v->form.lost || v->form.n != 1 || v->form.term[0].k != 1 || v->form.c)
        return;
    const int32_t u = v->form.term[0].unknown;
    const ac_x extreme = extreme_over(p, load);
    if (all->of[load].op)
        p->know.unknown.item[u].in = ac_interval_meet(p->know.unknown.item[u].in, result_range(p, &all->of[load]));
    if (extreme && all->of[extreme].op == AC_L_MAX)
        ac_know_at_most(&p->know, u, 1, &p->value[extreme].form);
    else if (extreme)
        ac_know_at_least(&p->know, u, 1, &p->value[extreme].form);
    v->in = ac_interval_meet(v->in, p->know.unknown.item[u].in);
}

bool ac_p_is_in_threads(ac_prover *p, ac_x loop)
{
    const ac_x phase = groups_of(p)->of ? ac_p_block_around(p, loop) : 0;
    return phase && ac_p_is_phase(p, phase);
}

bool ac_p_group_witness(ac_prover *p, ac_x loop, int32_t counter, ac_witness *w)
{
    const ac_groups *all = groups_of(p);
    const ac_x phase = ac_p_block_around(p, loop);
    int64_t n;
    (void)counter;
    for (ac_x x = loop + 1; x < p->end[loop]; x++) {
        const ac_x extreme =
            ac_p_ins(p, x)->op == AC_L_LOAD && ac_p_block_around(p, x) == loop ? extreme_over(p, x) : 0;
        const group *g = &all->of[extreme];
        if (!extreme || !has_share(p, loop, phase, size_of(p, g), &n) || n != g->n ||
            place_without_counter(p, x, loop) == 0)
            continue;
        *w = (ac_witness){x, p->value[extreme].form, true};
        return true;
    }
    return false;
}

void ac_p_group_adds(ac_prover *p, ac_x var, ac_interval each, ac_interval one)
{
    for (int32_t k = 0; k < groups_of(p)->sum.n; k++) {
        terms *t = &p->groups->sum.item[k];
        if (t->var == var)
            *t = (terms){t->loop, var, true, each, one};
    }
}

void ac_p_group_forget(ac_prover *p, ac_x loop)
{
    for (int32_t k = 0; k < groups_of(p)->sum.n; k++)
        if (p->groups->sum.item[k].loop == loop)
            p->groups->sum.item[k].known = false;
}
