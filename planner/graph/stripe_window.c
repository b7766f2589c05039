/* stripe_window.c - the part of each inner tensor that a group stores: all, a window of rows, or a pixel; and its
 * bytes. */
#include "planner/graph/stripe_work.h"

static void kinds(ac_stripe_work *w)
{
    ac_stripe *s = &w->q->s;
    for (int32_t i = 0; i < s->n_tensors; i++) {
        ac_stripe_tensor *t = &s->tensor[i];
        bool outside = false;
        const int32_t reader = ac_stripe_pixel_reader(w, i);
        if (reader >= 0) {
            t->kind = AC_STRIPE_PIXEL;
            const int64_t cols = s->member[s->unit[reader].member].part.cols;
            t->row = t->row * t->rows / (s->unit[reader].steps * cols);
            t->rows = 1;
            if (!w->v->strip) /* a step of the reader may be several rows */
                t->column.all = t->row * cols;
        }
        if (w->maker[i] < 0)
            continue;
        const ac_part *p = &ac_stripe_work_form(w, w->maker[i])->part;
        for (int32_t u = t->unit + 1; u < s->n_units && !outside; u++)
            for (int32_t k = 0; k < s->unit[u].n_reads; k++)
                outside |= s->unit[u].read[k].tensor == i;
        if (!(ac_stripe_is_inner(w, w->tensor[i]) || ac_stripe_drains(w, i)) || !ac_stripe_in_rows(p, w->maker_buf[i]))
            continue;
        if (!outside && p->col && p->pixel[w->maker_buf[i]]) {
            t->kind = AC_STRIPE_PIXEL;
            t->row /= p->cols;
            t->rows = 1;
        } else {
            t->kind = AC_STRIPE_WINDOW;
        }
    }
}

/* The window of an operand that result i may be written over: it dies with the same element. -1: none. */
static int32_t operand_under(const ac_stripe_work *w, int32_t i)
{
    const ac_stripe *s = &w->q->s;
    if (w->maker[i] < 0)
        return -1;
    const ac_stripe_form *f = ac_stripe_work_form(w, w->maker[i]);
    for (int32_t k = 0; k < f->low->n_overwrite; k++) {
        const int32_t o = ac_stripe_find(w, f->low->overwrite[k]);
        int32_t readers = 0;
        for (int32_t m = 0; m < w->n && o >= 0; m++)
            for (int32_t a = 0; a < ac_stripe_work_form(w, m)->low->arg.n; a++)
                readers += ac_stripe_is_same(w, ac_stripe_tensor_of(ac_stripe_work_form(w, m)->low, a), w->tensor[o]) &&
                           ac_stripe_work_form(w, m)->low->fn->buf.item[a].role == AC_BUF_IN;
        if (o < 0 || w->maker[o] < 0 || ac_stripe_drains(w, o) || readers != 1 ||
            s->tensor[o].kind != AC_STRIPE_WINDOW || s->tensor[o].home != o || s->tensor[o].unit == s->tensor[i].unit ||
            s->tensor[o].row != s->tensor[i].row || s->tensor[o].column.halo || s->tensor[i].column.halo)
            continue;
        return o;
    }
    return -1;
}

static void share_windows(ac_stripe_work *w)
{
    ac_stripe *s = &w->q->s;
    for (int32_t i = 0; i < s->n_tensors; i++) {
        const int32_t o = s->tensor[i].kind == AC_STRIPE_WINDOW ? operand_under(w, i) : -1;
        if (o >= 0)
            s->tensor[i].home = o;
    }
}

static ac_bytes window_bytes(const ac_stripe_work *w)
{
    const ac_stripe *s = &w->q->s;
    ac_bytes sum = 0;
    for (int32_t i = 0; i < s->n_tensors; i++)
        if (s->tensor[i].kind == AC_STRIPE_WINDOW && s->tensor[i].home == i)
            sum += ac_dtype_size(w->tensor[i]->dtype, s->tensor[i].row * s->tensor[i].rows);
    return sum;
}

static bool ordered(ac_stripe_work *w, bool asked)
{
    ac_stripe *s = &w->q->s;
    for (int32_t u = 0; u < s->n_units; u++)
        s->unit[u].asked = s->unit[u].does == AC_STRIPE_FILLS || (asked && s->unit[u].n_members);
    return ac_stripe_simulate(s, w->q->unit_of_tick, w->r);
}

/* Orders the units: rows as early as possible, or only when a reader needs them, whichever takes smaller windows. */
static bool order(ac_stripe_work *w)
{
    if (!ordered(w, false))
        return false; /* nor would units that wait longer end */
    const ac_bytes bytes = window_bytes(w);
    return !w->q->s.early || (ordered(w, true) && window_bytes(w) < bytes) || ordered(w, false);
}

/* ------------------------------------------------------------------ lines */

static bool is_line(const ac_stripe_work *w, int32_t i)
{
    const ac_stripe_tensor *t = &w->q->s.tensor[i];
    return t->kind == AC_STRIPE_WINDOW && t->home == i && t->rows == 1 && i != w->q->s.streamed;
}

/* Is there no moment at which both hold a row? */
static bool apart(const ac_stripe *s, const int64_t *live, int32_t a, int32_t b)
{
    for (int64_t tick = 0; tick < s->ticks; tick++)
        if (live[a * s->ticks + tick] && live[b * s->ticks + tick])
            return false;
    return true;
}

/* A line before i's that i may be in too; i: none. */
static int32_t line_for(const ac_stripe_work *w, const int64_t *live, int32_t i)
{
    const ac_stripe *s = &w->q->s;
    for (int32_t k = 0; k < i; k++) {
        bool free = is_line(w, k) && s->tensor[k].line == k && w->tensor[k]->dtype == w->tensor[i]->dtype;
        for (int32_t j = k; j < i && free; j++)
            free = !is_line(w, j) || s->tensor[j].line != k || apart(s, live, i, j);
        if (free)
            return k;
    }
    return i;
}

/* Rows that are used up as soon as they are made: one buffer for all of them, as large as the largest. */
static void share_lines(ac_stripe_work *w, const int64_t *live)
{
    ac_stripe *s = &w->q->s;
    for (int32_t i = 0; i < s->n_tensors; i++) {
        ac_stripe_tensor *t = &s->tensor[i];
        t->line = is_line(w, i) ? line_for(w, live, i) : i;
        if (t->line == i)
            continue;
        ac_stripe_tensor *first = &s->tensor[t->line];
        t->lines = ++first->lines;
        first->room = first->room > t->room ? first->room : t->room;
    }
}

/* ------------------------------------------------------------------ rooms */

typedef struct match {
    int32_t low, high;
    ac_bytes saved;
} match;

/* Tensor i's window can be in a room with another's: whole ones of one row move for nothing. */
static bool may_share(const ac_stripe_work *w, int32_t i)
{
    const ac_stripe_tensor *t = &w->q->s.tensor[i];
    return t->kind == AC_STRIPE_WINDOW && t->home == i && i != w->q->s.streamed && t->mate < 0 && t->lines == 1;
}

/* Windows in pairs, the one that saves most first. */
static void pair(ac_stripe_work *w, const int64_t *live, ac_region *tmp)
{
    ac_stripe *s = &w->q->s;
    int64_t *rooms = AC_NEW_N(tmp, int64_t, s->n_tensors * s->n_tensors + 1); /* of pairs; 0: not known yet */
    for (;;) {
        match best = {-1, -1, 0};
        for (int32_t a = 0; a < s->n_tensors; a++)
            for (int32_t b = a + 1; b < s->n_tensors; b++) {
                if (!may_share(w, a) || !may_share(w, b) || w->tensor[a]->dtype != w->tensor[b]->dtype)
                    continue;
                int64_t *known = &rooms[a * s->n_tensors + b];
                *known = *known ? *known : ac_stripe_room(s, w->q->unit_of_tick, live, a, b);
                const int64_t room = *known;
                const ac_bytes saved = ac_dtype_size(w->tensor[a]->dtype, s->tensor[a].room + s->tensor[b].room - room);
                if (saved > best.saved)
                    best = (match){a, b, saved};
            }
        if (best.saved <= 0)
            break;
        ac_stripe_tensor *a = &s->tensor[best.low], *b = &s->tensor[best.high];
        a->room = b->room = rooms[best.low * s->n_tensors + best.high];
        a->mate = best.high;
        b->mate = best.low;
        b->high = true;
    }
}

bool ac_stripe_windows(ac_stripe_work *w, bool paired)
{
    ac_stripe *s = &w->q->s;
    kinds(w);
    share_windows(w);
    if (!order(w))
        return false;
    int32_t lines = 0;
    for (int32_t i = 0; i < s->n_tensors; i++) {
        s->tensor[i].line = i;
        s->tensor[i].lines = 1;
        lines += is_line(w, i);
    }
    const bool share = lines > 1 && w->v->target->firmware;
    if (!share && !paired)
        return true;
    ac_region *tmp = ac_region_open(&w->v->cx->heap);
    const int64_t *live = ac_stripe_live(s, w->q->unit_of_tick, tmp);
    if (share)
        share_lines(w, live);
    if (paired)
        pair(w, live, tmp);
    ac_region_close(tmp);
    return true;
}
