/* solve_exact.c - minimises downward to a proof: chooses the capacities for the search of solve_exact.h.
 *
 *   1. Start from the smallest heuristic plan (`upper`) and the aligned bound (`lower`). Heights between them are
 *      multiples of a unit, since in a justified plan every top is a sum of sizes rounded to alignments.
 *   2. Try `lower` itself: most problems have a plan there, and the tighter the capacity, the stronger every rule.
 *   3. If that takes too long, take the plan of solve_search.c if it is smaller, then halve towards `upper`.
 *      A plan found becomes the new `upper`, a failed search the new `lower`; a search that was cut off counts as
 *      failed for this round only.
 *
 * Every search is cut into runs with restarts: another order of candidates each, the limit doubles every four runs
 * (MiniMalloc's round robin), and the failed states of a run are kept for the next. Every third run branches only in
 * the lowest sections, as the papers do; the others anywhere. Of the eleven MiniMalloc instances either kind alone
 * leaves one or two unsolved, both together solve each in under 0.3 s.
 *
 * Problems with byte windows or pairs, or of too many items, get the best heuristic plan instead and are proven only by
 * the bound; the result says so.
 *
 * Cost: the steps it is given, about 250 million a second. Bad: loose problems whose best plan is just above the bound.
 * Source: see solve_exact_tree.c; the descent is ours. */
#include "planner/pack/solve_exact.h"
#include "planner/pack/strategies.h"

#include "planner/pack/certificate.h"
#include "planner/pack/place.h"

#include <string.h>

enum { FIRST_RUN = 200000 };

typedef struct descent {
    ac_exact *x;
    const ac_exact_options *o;
    ac_exact_result *out;
    ac_bytes *offset;
    ac_bytes unit, lower, upper;
    int64_t left;  /* steps */
    bool searched; /* the plan at hand is that of ac_solve_search or better */
} descent;

/* Every height of a justified plan is a multiple of this. */
static ac_bytes height_unit(const ac_problem *p)
{
    ac_bytes unit = 0;
    for (int32_t i = 0; i < p->n; i++)
        if (p->item[i].size)
            unit = ac_gcd(ac_gcd(unit, p->item[i].size), p->item[i].fixed > 0 ? p->item[i].fixed : 0);
    ac_bytes sizes = unit;
    for (int32_t i = 0; i < p->n; i++)
        if (p->item[i].size && sizes % p->item[i].align)
            unit = ac_gcd(unit, p->item[i].align);
    return unit ? unit : 1;
}

static ac_bytes keep_plan(descent *d)
{
    for (int32_t k = 0; k < d->x->n; k++)
        d->offset[d->x->origin[k]] = d->x->at[k];
    return ac_problem_top(d->x->p, d->offset);
}

/* Runs with restarts until the question "is there a plan of this capacity?" is answered or the steps are spent. */
static ac_exact_end ask(descent *d, ac_bytes capacity, int64_t steps)
{
    int64_t limit = FIRST_RUN, start = d->x->steps;
    ac_exact_end end = AC_EXACT_SPENT;
    for (int32_t run = 0; end == AC_EXACT_SPENT && d->x->steps - start < steps && run < 256; run++) {
        int64_t rest = steps - (d->x->steps - start);
        ac_exact_reorder(d->x, run);
        d->x->lowest = run % 3 == 2;
        end = ac_exact_search(d->x, capacity, limit < rest ? limit : rest);
        limit *= run % 4 == 3 ? 2 : 1;
    }
    d->left -= d->x->steps - start;
    if (end == AC_EXACT_FOUND)
        d->upper = keep_plan(d);
    return end;
}

/* No plan has `height` or less: the next height there can be is the new lower bound. */
static void raise_lower(descent *d, ac_bytes height)
{
    d->lower = height + d->unit;
    d->out->proof = AC_PROOF_CERTIFICATE;
    if (d->o->certificate) {
        d->o->certificate->n = 0;
        ac_certificate_write(d->o->certificate, d->x);
    }
}

/* Tries `height`; AC_EXACT_SPENT also when the proof of a failure is too long to keep, since it cannot be shown. */
static ac_exact_end probe(descent *d, ac_bytes height, int64_t steps)
{
    ac_exact_end end = ask(d, height + d->unit - 1, steps < d->left ? steps : d->left);
    if (end == AC_EXACT_FAILED && d->x->root < 0)
        return AC_EXACT_SPENT;
    if (end == AC_EXACT_FAILED)
        raise_lower(d, height);
    return end;
}

/* The bound is out of easy reach: now a heuristic that takes longer is worth its time. */
static void search_once(descent *d)
{
    const ac_problem *p = d->x->p;
    if (d->searched)
        return;
    d->searched = true;
    ac_bytes *trial = AC_NEW_N(d->x->region, ac_bytes, p->n);
    if (ac_solve_search(p, trial, d->x->region) != AC_OK || ac_problem_top(p, trial) >= d->upper)
        return;
    memcpy(d->offset, trial, (size_t)p->n * sizeof *trial);
    d->upper = ac_problem_top(p, trial);
}

static void minimise(descent *d)
{
    int64_t slice = d->left - d->left / 4;
    while (d->lower < d->upper && d->left > 0) {
        if (probe(d, d->lower, slice) != AC_EXACT_SPENT)
            continue;
        search_once(d);
        ac_bytes hopeless = d->lower; /* in this round */
        slice = d->left / 8 < FIRST_RUN ? FIRST_RUN : d->left / 8;
        while (d->upper - hopeless > d->unit && d->left > 0) {
            ac_bytes half = hopeless + (d->upper - hopeless) / 2 / d->unit * d->unit;
            if (half == hopeless)
                half += d->unit;
            if (probe(d, half, slice) != AC_EXACT_FOUND)
                hopeless = half;
        }
        slice = d->left / 2 < FIRST_RUN ? d->left : d->left / 2;
    }
}

/* Decides if there is a plan within the capacity; the bound and the current plan do not. */
static void decide(descent *d)
{
    ac_exact_end end = ask(d, d->o->capacity, d->left);
    if (end != AC_EXACT_FAILED || d->x->root < 0)
        return;
    raise_lower(d, d->o->capacity / d->unit * d->unit);
    minimise(d); /* by how much it does not fit is the next question */
}

/* Greedy by size, but what loses bytes to rounding goes last: on top of a section an item needs no rounding. */
static void place_ragged_last(const ac_problem *p, ac_bytes *offset, ac_region *tmp)
{
    ac_bytes *key = AC_NEW_N(tmp, ac_bytes, p->n), align = 1;
    for (int32_t i = 0; i < p->n; i++)
        align = p->item[i].align > align ? p->item[i].align : align;
    for (int32_t i = 0; i < p->n; i++)
        key[i] = p->item[i].size % align ? -(p->item[i].size % align) : p->item[i].size;
    ac_place_in_order(p, offset, ac_order_by(p, key, tmp), AC_FIRST_FIT, tmp);
}

/* The smallest of a few heuristic plans and, if seeded, the one given. */
static void start(const ac_problem *p, bool seeded, ac_bytes *offset, ac_region *tmp)
{
    static ac_solver *const SEED[] = {ac_solve_greedy, ac_solve_tflm, ac_solve_bestfit, ac_solve_perturb};
    ac_bytes *trial = AC_NEW_N(tmp, ac_bytes, p->n), best = seeded ? ac_problem_top(p, offset) : INT64_MAX;
    for (size_t k = 0; !seeded && k < sizeof SEED / sizeof *SEED; k++) {
        if (SEED[k](p, trial, tmp) != AC_OK || ac_problem_top(p, trial) >= best)
            continue;
        best = ac_problem_top(p, trial);
        memcpy(offset, trial, (size_t)p->n * sizeof *offset);
    }
    place_ragged_last(p, trial, tmp);
    if (ac_problem_top(p, trial) < best)
        memcpy(offset, trial, (size_t)p->n * sizeof *offset);
}

int ac_solve_exact(const ac_problem *p, const ac_exact_options *o, ac_bytes *offset, ac_region *tmp,
                   ac_exact_result *out)
{
    *out = (ac_exact_result){.searched = true};
    if (o->certificate)
        o->certificate->n = 0;
    if (p->n)
        start(p, o->seeded, offset, tmp);
    descent d = {.o = o, .out = out, .offset = offset, .left = o->steps, .searched = o->seeded, .unit = height_unit(p)};
    d.upper = ac_problem_top(p, offset);
    ac_bytes bound = ac_problem_bound(p, tmp).aligned, rest = bound % d.unit;
    d.lower = rest && bound < d.upper ? bound - rest + d.unit : bound;
    bool decided = o->capacity >= 0 && (d.upper <= o->capacity || d.lower > o->capacity);
    if (d.lower < d.upper && !decided && d.left > 0) {
        d.x = ac_exact_open(p, tmp);
        out->searched = d.x != NULL;
        if (!d.x && !o->seeded) {
            AC_TRY(ac_solve_search(p, offset, tmp));
            d.upper = ac_problem_top(p, offset);
        } else if (d.x && o->capacity >= 0) {
            decide(&d);
        } else if (d.x) {
            minimise(&d);
        }
    }
    out->steps = d.x ? d.x->steps : 0;
    out->arena_bytes = d.upper;
    out->proven = d.lower;
    bool shown = d.upper == d.lower || (o->capacity >= 0 && d.lower > o->capacity);
    if (!shown)
        out->proof = AC_PROOF_NONE;
    else if (out->proof == AC_PROOF_NONE)
        out->proof = AC_PROOF_BOUND;
    return AC_OK;
}
