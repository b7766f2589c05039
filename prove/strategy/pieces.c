/* pieces.c - collects the pieces of buffers that are certainly written; see pieces.h. */
#include "prove/strategy/pieces.h"

enum { PIECES = 192 };

void ac_p_cover_add(ac_prover *p, ac_cover_block *b, ac_stretch s)
{
    if (s.base.lost || s.len.lost)
        return;
    for (bool joined = true; joined;) {
        ac_stretch_settle(&s);
        joined = false;
        for (int32_t i = b->piece.n - 1; i >= 0 && !joined; i--) {
            ac_stretch *old = &b->piece.item[i];
            ac_stretch first = *old;
            joined = old->buf == s.buf && ac_stretch_join(&first, &s);
            if (joined)
                s = first;
            else
                joined = old->buf == s.buf && ac_stretch_join(&s, old);
            if (joined)
                *old = b->piece.item[--b->piece.n];
        }
    }
    if (b->piece.n < PIECES)
        ac_push(b->kept ? p->keep : p->tmp, &b->piece, s);
}

/* The distance of b after a, if the two are equal otherwise; else 0. */
static int64_t distance_to(const ac_stretch *a, const ac_stretch *b)
{
    const ac_affine ahead = ac_affine_add(&b->base, &a->base, -1);
    const bool same = a->buf == b->buf && ac_stretch_strides_equal(a, b) && ac_stretch_guards_equal(a, b) &&
                      ac_affine_equal(&a->len, &b->len);
    return same && !ahead.lost && !ahead.n && ahead.c > 0 ? ahead.c : 0;
}

static int32_t piece_after(const ac_cover_block *b, const ac_stretch *s, int64_t by)
{
    for (int32_t k = 0; k < b->piece.n; k++)
        if (distance_to(s, &b->piece.item[k]) == by)
            return k;
    return -1;
}

void ac_p_cover_rows(ac_cover_block *b, int32_t least)
{
    for (int32_t i = 0; i < b->piece.n; i++) {
        ac_stretch s = b->piece.item[i];
        int64_t by = 0, n = 1;
        for (int32_t k = 0; k < b->piece.n; k++) {
            const int64_t d = distance_to(&s, &b->piece.item[k]);
            by = d && (!by || d < by) ? d : by;
        }
        while (by && piece_after(b, &s, n * by) >= 0)
            n++;
        if (n < least || s.n == AC_STRIDES)
            continue;
        for (int64_t k = n - 1; k > 0; k--) {
            const int32_t at = piece_after(b, &s, k * by);
            memmove(b->piece.item + at, b->piece.item + at + 1, (size_t)(--b->piece.n - at) * sizeof s);
            i -= at < i;
        }
        ac_stretch_by(&s, by, n);
        ac_stretch_settle(&s);
        b->piece.item[i] = s;
        i = -1; /* the new piece may be part of another row */
    }
}

static ac_cover_block *open_block(ac_prover *p)
{
    ac_cover_block *b = AC_NEW(p->tmp, ac_cover_block);
    b->up = p->cover->open;
    return p->cover->open = b;
}

void ac_p_results_open(ac_prover *p)
{
    const int64_t MARKS = INT64_C(1) << 26;
    if (!p->cover) {
        p->cover = AC_NEW(p->keep, ac_cover);
        p->cover->marks = MARKS;
    }
    p->cover->results = AC_NEW(p->keep, ac_cover_block);
    p->cover->results->kept = true;
}

void ac_p_cover_open(ac_prover *p)
{
    if (!p->cover)
        ac_p_results_open(p);
    p->cover->open = NULL;
    open_block(p);
}

bool ac_p_is_run(ac_prover *p, const ac_stretch *s)
{
    bool run = true;
    for (int32_t i = 0; run && i < s->n_guard; i++)
        run = ac_is_at_least(&p->know, &s->guard[i], 0);
    return run;
}

/* ------------------------------------------------------------------ blocks */

void ac_p_cover_loop(ac_prover *p, int32_t counter, int32_t since)
{
    ac_cover_block *b = open_block(p);
    b->counter = counter;
    b->since = since;
}

static void keep_facts(ac_prover *p, ac_cover_block *b, int side, int32_t from)
{
    b->n_fact[side] = p->know.fact.n - from;
    if (b->n_fact[side] > 0)
        b->fact[side] = ac_copy(p->tmp, p->know.fact.item + from, (size_t)b->n_fact[side] * sizeof(ac_affine));
}

void ac_p_cover_branch(ac_prover *p, int32_t facts)
{
    keep_facts(p, open_block(p), 0, facts);
}

void ac_p_cover_else(ac_prover *p, int32_t facts)
{
    ac_cover_block *b = p->cover->open;
    b->then.item = b->piece.item;
    b->then.n = b->piece.n;
    b->piece.item = NULL;
    b->piece.n = b->piece.cap = 0;
    keep_facts(p, b, 1, facts);
}

/* True if s is outside its buffer under the present facts. */
static bool is_outside(ac_prover *p, const ac_stretch *s)
{
    return ac_is_at_least(&p->know, &s->base, p->count[s->buf]);
}

/* Adds s, which one side writes, guarded by the facts of that side. */
static void add_guarded(ac_prover *p, const ac_cover_block *b, int side, ac_stretch s)
{
    enum { GUARDS = 3 };
    const int32_t n = s.n_guard + b->n_fact[side];
    if (!b->n_fact[side] || n > GUARDS)
        return;
    ac_affine *guard = AC_NEW_N(p->tmp, ac_affine, n);
    memcpy(guard, b->fact[side], (size_t)b->n_fact[side] * sizeof *guard);
    if (s.n_guard)
        memcpy(guard + b->n_fact[side], s.guard, (size_t)s.n_guard * sizeof *guard);
    s.guard = guard;
    s.n_guard = n;
    ac_p_cover_add(p, b->up, s);
}

static bool is_same(const ac_stretch *a, const ac_stretch *b)
{
    return ac_stretch_strides_equal(a, b) && ac_stretch_guards_equal(a, b) && ac_affine_equal(&a->base, &b->base) &&
           ac_affine_equal(&a->len, &b->len);
}

void ac_p_cover_join(ac_prover *p)
{
    ac_cover_block *b = p->cover->open;
    bool *both = AC_NEW_N(p->tmp, bool, b->piece.n + 1);
    p->cover->open = b->up;
    for (int32_t i = 0; i < b->then.n; i++) {
        const ac_stretch *s = &b->then.item[i];
        bool always = !s->n_guard && is_outside(p, s);
        for (int32_t k = 0; k < b->piece.n && !always; k++) {
            const ac_stretch *e = &b->piece.item[k];
            both[k] |= is_same(s, e);
            always = is_same(s, e) || (!s->n && !s->n_guard && !e->n_guard && s->buf == e->buf &&
                                       ac_stretch_holds(&p->know, e, &s->base, &s->len));
        }
        if (always)
            ac_p_cover_add(p, b->up, *s);
        else
            add_guarded(p, b, 0, *s);
    }
    for (int32_t k = 0; k < b->piece.n; k++)
        if (!both[k])
            add_guarded(p, b, 1, b->piece.item[k]);
}
