/* retry.c - proves a call: a pass that makes the claims, and further ones by the strategies that may help with those
 * that failed.
 *
 * Claims about values: by channel, and by cases. A value's range is cut (by powers of two, then evenly; at last the
 * failing parts are halved), and the function is walked once for each part. A claim that holds in all
 * parts holds; and the values seen in any part are all values, which narrows the ranges for the next choice. Claims
 * about written elements: the sides of branches are walked apart. */
#include "prove/retry.h"

#include "prove/facts/claims.h"
#include "prove/facts/contents.h"
#include "prove/facts/evaluate.h"
#include "prove/facts/survey.h"
#include "prove/pass.h"
#include "prove/strategy/cases.h"
#include "prove/strategy/strategies.h"

enum { CHOICES = 64, MOST_HALVES = 1 << 10, HALVES_IN_VAIN = 32, MOST_FAILING = 40, MOST_OF_ONE = 16 };

static const struct {
    ac_strategy id;
    ac_cases_strategy *function;
} CASES[] = {
#define AC_ROWS_CASES(id, applies, function) {id, function},
#include "prove/strategy/rows.h"
};

static const struct {
    ac_strategy id;
    ac_cut_strategy *function;
} CUTS[] = {
#define AC_ROWS_CUT(id, applies, function) {id, function},
#include "prove/strategy/rows.h"
};

static const struct {
    ac_strategy id;
    ac_sides_strategy *function;
} SIDES[] = {
#define AC_ROWS_SIDES(id, applies, function) {id, function},
#include "prove/strategy/rows.h"
};

/* Notes over all parts: claims that failed, and values. */
typedef struct parts {
    bool *failed, *was_seen;
    ac_interval *seen;
    ac_verdict_cut cut;
    ac_x claim;     /* its failing parts are halved, */
    int32_t halved; /* as often as this so far */
    bool helps;
} parts;

static bool may_halve(const parts *all, ac_interval in)
{
    return all->claim && in.lo < in.hi && all->halved < (all->helps ? MOST_HALVES : HALVES_IN_VAIN);
}

static void walk_part(ac_prover *p, parts *all, ac_interval in)
{
    const int32_t n = p->fn->code.n;
    memset(p->survey->failed, 0, (size_t)n * sizeof *p->survey->failed);
    memset(p->survey->was_seen, 0, (size_t)n * sizeof *p->survey->was_seen);
    p->survey->part = in;
    ac_p_pass(p, true);
    all->helps |= all->claim && !p->survey->failed[all->claim];
    if (p->survey->failed[all->claim] && may_halve(all, in)) {
        const int64_t half = in.lo + (in.hi - in.lo) / 2;
        all->halved++;
        walk_part(p, all, (ac_interval){in.lo, half});
        walk_part(p, all, (ac_interval){half + 1, in.hi});
        return;
    }
    ac_push(p->cx->region, &all->cut.end, in.hi);
    for (ac_x k = 1; k < n; k++) {
        all->failed[k] |= p->survey->failed[k];
        if (p->survey->was_seen[k])
            all->seen[k] = all->was_seen[k] ? ac_interval_join(all->seen[k], p->survey->seen[k]) : p->survey->seen[k];
        all->was_seen[k] |= p->survey->was_seen[k];
    }
}

static void begin_notes(ac_prover *p)
{
    const int32_t n = p->fn->code.n + 1;
    p->survey->failed = AC_NEW_N(p->keep, bool, n);
    p->survey->seen = AC_NEW_N(p->keep, ac_interval, n);
    p->survey->was_seen = AC_NEW_N(p->keep, bool, n);
}

/* If the value was cut before, merges both: a certificate has one cut of a value. */
static void note_cut(ac_prover *p, ac_verdict_cut cut)
{
    ac_verdict *v = p->out;
    for (int32_t i = 0; i < v->cut.n; i++) {
        const ac_verdict_cut old = v->cut.item[i];
        if (old.step != cut.step || old.ins != cut.ins)
            continue;
        ac_verdict_cut both = {cut.step, cut.ins, cut.lo, {0}};
        const int64_t last = cut.end.item[cut.end.n - 1];
        for (int32_t a = 0, b = 0; b < cut.end.n;) {
            const int64_t of_old = a < old.end.n ? old.end.item[a] : last, of_new = cut.end.item[b];
            const int64_t end = of_old < of_new ? of_old : of_new;
            a += of_old == end;
            b += of_new == end;
            if (end >= cut.lo)
                ac_push(p->cx->region, &both.end, end);
        }
        v->cut.item[i] = both;
        return;
    }
    ac_push(p->cx->region, &v->cut, cut);
}

/* Walks each part of the range of x. `claim`: its failing parts are halved; 0: none. The verdict notes the cut if it
 * proves a claim that `failed`. */
static void prove_parts(ac_prover *p, ac_x x, bool even, ac_x claim, const bool *failed)
{
    const ac_interval in = p->survey->refined[x];
    begin_notes(p);
    parts all = {p->survey->failed, p->survey->was_seen, p->survey->seen, {p->step, x, in.lo, {0}}, claim, 0, false};
    begin_notes(p);
    p->survey->split = x;
    for (int64_t at = in.lo, end; at <= in.hi; at = end + 1) {
        end = ac_p_part_end(in, at, even);
        walk_part(p, &all, (ac_interval){at, end});
    }
    p->survey->split = 0;
    p->survey->failed = NULL;
    p->survey->seen = NULL;
    if (claim && !all.helps)
        return;
    bool shows = false;
    for (ac_x k = 1; k < p->fn->code.n; k++) {
        shows |= !p->survey->fine[k] && failed[k] && !all.failed[k];
        p->survey->fine[k] |= !all.failed[k];
        if (all.was_seen[k])
            p->survey->refined[k] = ac_interval_meet(p->survey->refined[k], all.seen[k]);
    }
    if (shows)
        note_cut(p, all.cut);
}

/* A pass that notes failed claims and ranges of values. Returns how many claims failed; *first: the first of them. */
static int32_t survey(ac_prover *p, ac_x *first, const bool **failed)
{
    int32_t n = 0;
    begin_notes(p);
    ac_p_pass(p, true);
    for (ac_x x = p->fn->code.n - 1; x > 0; x--) {
        if (p->survey->was_seen[x])
            p->survey->refined[x] = ac_interval_meet(p->survey->refined[x], p->survey->seen[x]);
        if (p->survey->failed[x] && !p->survey->fine[x]) {
            *first = x;
            n++;
        }
    }
    *failed = p->survey->failed;
    p->survey->failed = NULL;
    p->survey->seen = NULL;
    return n;
}

static void open_survey(ac_prover *p)
{
    const int32_t n = p->fn->code.n;
    p->survey = AC_NEW(p->keep, ac_survey);
    p->survey->fine = AC_NEW_N(p->keep, bool, n + 1);
    p->survey->refined = AC_NEW_N(p->keep, ac_interval, n + 1);
    for (ac_x x = 0; x < n; x++)
        p->survey->refined[x] = (ac_interval){INT64_MIN, INT64_MAX};
    ac_p_cases_begin(p);
}

/* Claims that hold in each of many cases, as constants say; until a survey finds no more. */
static void prove_by_constants(ac_prover *p, ac_x *first)
{
    const bool *failed;
    for (bool any = true; any && survey(p, first, &failed);) {
        any = false;
        for (size_t r = 0; r < sizeof CASES / sizeof *CASES; r++)
            any |= ac_p_on(p, CASES[r].id) && CASES[r].function(p, failed);
        p->out->by_element[p->step] |= any;
    }
}

static bool find_cut(ac_prover *p, ac_x doubtful, int32_t tries, ac_cut *cut)
{
    for (size_t r = 0; r < sizeof CUTS / sizeof *CUTS; r++)
        if (ac_p_on(p, CUTS[r].id) && CUTS[r].function(p, doubtful, tries, cut))
            return true;
    return false;
}

/* Notes in p->survey the claims about values that hold by cases. */
static void prove_by_cases(ac_prover *p)
{
    ac_x first = 0;
    const bool *failed;
    ac_cut cut;
    open_survey(p);
    prove_by_constants(p, &first);
    for (int32_t k = 0, of_one = 0; k < CHOICES; k++) {
        const ac_x before = first;
        const int32_t failing = survey(p, &first, &failed);
        of_one = first == before ? of_one + 1 : 0;
        if (!failing || failing > MOST_FAILING || of_one > MOST_OF_ONE || !find_cut(p, first, of_one, &cut))
            return;
        prove_parts(p, cut.value, false, cut.halve ? first : 0, failed);
        if (!cut.halve && ac_p_is_cut_evenly(p->survey->refined[cut.value]))
            prove_parts(p, cut.value, true, 0, failed);
    }
}

static bool has_doubts(const ac_prover *p, const ac_claims_mark *since, ac_claim from, ac_claim to)
{
    bool any = false;
    for (int32_t i = since->doubts; i < p->out->doubt.n; i++) {
        const ac_doubt *d = &p->out->doubt.item[i];
        any |= d->claim >= from && d->claim <= to && (d->ins || to <= AC_CLAIM_SHIFT);
    }
    return any;
}

/* In place of the claims since the mark. */
static void claim_again(ac_prover *p, const ac_claims_mark *since, const bool *apart)
{
    ac_p_claims_rewind(p, since);
    ac_p_pass_claims(p, apart);
}

static void prove_once(ac_prover *p, const ac_step_ranges *earlier)
{
    const ac_claims_mark before = ac_p_claims_mark(p);
    p->survey = NULL;
    ac_p_trust_begin(p);
    ac_p_contents_open(p, earlier);
    if (ac_p_contents_own(p)) {
        ac_p_pass(p, true);
        ac_p_contents_settle(p);
    }
    ac_p_pass_claims(p, NULL);
    if (has_doubts(p, &before, AC_CLAIM_ACCESS, AC_CLAIM_SHIFT)) {
        prove_by_cases(p);
        claim_again(p, &before, NULL);
    }
    for (size_t r = 0; r < sizeof SIDES / sizeof *SIDES; r++) {
        const bool *apart = ac_p_on(p, SIDES[r].id) && has_doubts(p, &before, AC_CLAIM_WRITTEN, AC_CLAIM_WRITTEN)
                                ? SIDES[r].function(p)
                                : NULL;
        if (apart)
            claim_again(p, &before, apart);
    }
}

void ac_p_retry(ac_prover *p, const ac_step_ranges *earlier)
{
    const ac_claims_mark before = ac_p_claims_mark(p);
    do { /* again if arithmetic does wrap that was taken not to */
        ac_p_claims_rewind(p, &before);
        prove_once(p, earlier);
    } while (ac_p_trust_failed(p));
}
