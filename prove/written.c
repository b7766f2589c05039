/* written.c - elements of buffers that are certainly written when the code gets to an instruction, as far as loops
 * and branches say so; and the claims that what a call reads of its own is written before, and its results wholly.
 *
 * A store makes a piece (stretch.h); pieces that meet become one; at the end of a loop each of its pieces is laid out
 * along the loop variable (a longer piece where the copies meet, else one more stride); of a branch stays what both
 * sides write, or what only lies outside of the buffer where the branch is not taken; the rest is guarded by what is
 * true on its side, until a loop of few iterations is laid out one by one. Pieces belong to the block that made them:
 * what is visible are those of all open blocks. */
#include "prove/cover_blocks.h"

/* Is a buffer one whose contents at the start are not the call's own business? */
static bool is_followed(const ac_prover *p, int32_t buf)
{
    const ac_role role = p->fn->buf.item[buf].role;
    return role == AC_BUF_OUT || role == AC_BUF_SCRATCH || role == AC_BUF_LOCAL || p->made[buf];
}

/* ------------------------------------------------------------------ blocks */

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

/* How far b lies after a, where it is the same otherwise; 0: nobody knows. */
static int64_t distance(const ac_stretch *a, const ac_stretch *b)
{
    const ac_affine ahead = ac_affine_add(&b->base, &a->base, -1);
    const bool same = a->buf == b->buf && ac_stretch_strides_equal(a, b) && ac_stretch_guards_equal(a, b) &&
                      ac_affine_equal(&a->len, &b->len);
    return same && !ahead.lost && !ahead.n && ahead.c > 0 ? ahead.c : 0;
}

static int32_t piece_after(const ac_cover_block *b, const ac_stretch *s, int64_t by)
{
    for (int32_t k = 0; k < b->piece.n; k++)
        if (distance(s, &b->piece.item[k]) == by)
            return k;
    return -1;
}

void ac_p_cover_rows(ac_cover_block *b, int32_t least)
{
    for (int32_t i = 0; i < b->piece.n; i++) {
        ac_stretch s = b->piece.item[i];
        int64_t by = 0, n = 1;
        for (int32_t k = 0; k < b->piece.n; k++) {
            const int64_t d = distance(&s, &b->piece.item[k]);
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
        i = -1; /* what it is now may be one of a row */
    }
}

static ac_cover_block *open_block(ac_prover *p)
{
    ac_cover_block *b = AC_NEW(p->tmp, ac_cover_block);
    if (!p->cover)
        p->cover = AC_NEW(p->tmp, ac_cover);
    b->up = p->cover->open;
    return p->cover->open = b;
}

void ac_p_cover_open(ac_prover *p)
{
    p->cover = NULL;
    open_block(p);
}

void ac_p_loop_begin(ac_prover *p, ac_x x, int32_t counter, int32_t since)
{
    if (ac_p_cover_off(p))
        return;
    ac_cover_block *b = open_block(p);
    b->counter = counter;
    b->since = since;
    ac_p_order_loop(p, x, counter, since);
}

static void keep_facts(ac_prover *p, ac_cover_block *b, int side, int32_t from)
{
    b->n_fact[side] = p->know.fact.n - from;
    if (b->n_fact[side] > 0)
        b->fact[side] = ac_copy(p->tmp, p->know.fact.item + from, (size_t)b->n_fact[side] * sizeof(ac_affine));
}

void ac_p_branch_begin(ac_prover *p, ac_x x, int32_t facts)
{
    if (ac_p_cover_off(p))
        return;
    keep_facts(p, open_block(p), 0, facts);
    ac_p_order_side(p, x, false);
}

void ac_p_branch_else(ac_prover *p, ac_x x, int32_t facts)
{
    if (ac_p_cover_off(p))
        return;
    ac_p_order_side(p, x, true);
    ac_cover_block *b = p->cover->open;
    b->then.item = b->piece.item;
    b->then.n = b->piece.n;
    b->piece.item = NULL;
    b->piece.n = b->piece.cap = 0;
    keep_facts(p, b, 1, facts);
}

/* Is nothing of s inside its buffer, as the facts are now? */
static bool is_outside(ac_prover *p, const ac_stretch *s)
{
    return ac_is_at_least(&p->know, &s->base, p->count[s->buf]);
}

/* s is written on one side only: where what is true on that side is true. */
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

void ac_p_branch_end(ac_prover *p)
{
    if (ac_p_cover_off(p))
        return;
    ac_cover_block *b = p->cover->open;
    bool *both = AC_NEW_N(p->tmp, bool, b->piece.n + 1);
    p->cover->open = b->up;
    ac_p_order_joined(p);
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

/* ------------------------------------------------------------------ claims */

/* Is what guards the piece true? */
bool ac_p_is_run(ac_prover *p, const ac_stretch *s)
{
    bool run = true;
    for (int32_t i = 0; run && i < s->n_guard; i++)
        run = ac_is_at_least(&p->know, &s->guard[i], 0);
    return run;
}

/* Together: pieces that are written wherever this is run; of the loop of block `first` (NULL: none) those of its first
 * iteration, in which they come before this read too. */
static bool is_written_together(ac_prover *p, const ac_cover_block *first, int32_t buf, const ac_affine *index,
                                const ac_affine *n)
{
    ac_cover_block all = {0};
    for (const ac_cover_block *b = p->cover->open; b; b = b->up)
        for (int32_t i = 0; i < b->piece.n; i++) {
            ac_stretch s = b->piece.item[i];
            if (s.buf != buf)
                continue;
            if (b == first) {
                const ac_affine v = p->know.unknown.item[b->counter].first;
                if (v.lost || !ac_p_at_iteration(p, &s, b->counter, b->since, &v))
                    continue;
            }
            if (!ac_p_is_run(p, &s))
                continue;
            s.n_guard = 0;
            ac_p_cover_add(p, &all, s);
        }
    for (int rows = 0; rows < 2; rows++) {
        if (rows)
            ac_p_cover_rows(&all, 2);
        for (int32_t i = 0; i < all.piece.n; i++)
            if (ac_stretch_holds(&p->know, &all.piece.item[i], index, n))
                return true;
    }
    return false;
}

static bool is_written(ac_prover *p, int32_t buf, const ac_affine *index, const ac_affine *n)
{
    for (const ac_cover_block *b = p->cover->open; b; b = b->up)
        for (int32_t i = 0; i < b->piece.n; i++)
            if (b->piece.item[i].buf == buf && ac_p_is_run(p, &b->piece.item[i]) &&
                ac_stretch_holds(&p->know, &b->piece.item[i], index, n))
                return true;
    if (is_written_together(p, NULL, buf, index, n))
        return true;
    for (const ac_cover_block *b = p->cover->open; b; b = b->up)
        if (b->counter && is_written_together(p, b, buf, index, n))
            return true;
    const ac_affine end = ac_affine_add(index, n, 1);
    return ac_p_written_each(p, buf, ac_affine_interval(&p->know, index).lo, ac_affine_interval(&p->know, &end).hi);
}

void ac_p_cover(ac_prover *p, ac_x x, int32_t buf, const ac_affine *index, const ac_affine *n, ac_use use)
{
    if (ac_p_cover_off(p))
        return;
    ac_p_order_touch(p, x, buf, index, n, use);
    if (!is_followed(p, buf))
        return;
    if (use == AC_USE_WRITE) {
        ac_p_cover_add(p, p->cover->open, (ac_stretch){.base = *index, .len = *n, .buf = buf});
    } else if (use == AC_USE_READ) {
        if (is_written(p, buf, index, n) || ac_p_walked(p, buf))
            ac_p_proven(p, AC_CLAIM_WRITTEN);
        else if (!ac_is_unreachable(&p->know))
            ac_p_doubt(p, x, AC_CLAIM_WRITTEN, false, "'%s' is read before it is certainly written",
                       p->fn->buf.item[buf].name);
    }
}

void ac_p_cover_spread(ac_prover *p, int32_t buf, const ac_affine *index, int64_t pitch, int64_t slots, int64_t by,
                       int64_t steps)
{
    if (ac_p_cover_off(p) || !is_followed(p, buf) || slots < 1 || steps < 1)
        return;
    ac_stretch s = {.base = *index, .len = ac_affine_of(1), .buf = buf};
    ac_stretch_by(&s, pitch, slots);
    ac_stretch_by(&s, by, steps);
    ac_p_cover_add(p, p->cover->open, s);
}

/* Has the step written all of its results, in all of its calls? */
void ac_p_cover_close(ac_prover *p, bool last)
{
    const ac_affine zero = {0};
    if (!p->results) {
        p->results = AC_NEW(p->keep, ac_cover);
        p->results->open = AC_NEW(p->keep, ac_cover_block);
        p->results->open->kept = true;
    }
    for (int32_t i = 0; i < p->cover->open->piece.n; i++) {
        const ac_stretch *s = &p->cover->open->piece.item[i];
        if (!s->base.n && !s->len.n && !s->n_guard && s->buf < p->call->n_arg)
            ac_p_cover_add(p, p->results->open, *s);
    }
    p->cover = p->results;
    for (int32_t b = 0; b < p->call->n_arg && last; b++) {
        if ((p->fn->buf.item[b].role != AC_BUF_OUT && !p->made[b]) || !p->count[b])
            continue;
        const ac_affine n = ac_affine_of(p->count[b]);
        if (is_written(p, b, &zero, &n) || ac_p_walked_whole(p, b))
            ac_p_proven(p, AC_CLAIM_WRITTEN);
        else
            ac_p_doubt(p, 0, AC_CLAIM_WRITTEN, false, "result '%s' is not certainly written as a whole",
                       p->fn->buf.item[b].name);
    }
}
