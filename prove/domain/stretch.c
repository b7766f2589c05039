/* stretch.c - elements of a buffer as a base, strides and a length; see stretch.h. */
#include "prove/domain/stretch.h"

void ac_stretch_by(ac_stretch *s, int64_t by, int64_t n)
{
    int32_t at = s->n++;
    for (; at > 0 && s->stride[at - 1].by > by; at--)
        s->stride[at] = s->stride[at - 1];
    s->stride[at] = (ac_stride){by, n, NULL};
}

void ac_stretch_by_many(ac_stretch *s, int64_t by, const ac_affine *many)
{
    ac_stretch_by(s, by, 0);
    for (int32_t k = 0; k < s->n; k++)
        if (s->stride[k].by == by && !s->stride[k].n)
            s->stride[k].many = many;
}

bool ac_stretch_is_many(const ac_stretch *s)
{
    for (int32_t k = 0; k < s->n; k++)
        if (s->stride[k].many)
            return true;
    return false;
}

static void remove_stride(ac_stretch *s, int32_t k)
{
    memmove(s->stride + k, s->stride + k + 1, (size_t)(--s->n - k) * sizeof *s->stride);
}

/* Merges strides that continue each other, and strides no longer than len into len. */
void ac_stretch_settle(ac_stretch *s)
{
    for (int32_t k = 0; k + 1 < s->n; k++) {
        const ac_stride next = s->stride[k + 1];
        if (!next.many && !s->stride[k].many && next.by % s->stride[k].by == 0 &&
            next.by / s->stride[k].by <= s->stride[k].n) {
            s->stride[k].n += next.by / s->stride[k].by * (next.n - 1);
            remove_stride(s, k + 1);
            k = -1;
        }
    }
    while (s->n && !s->len.n && !s->stride[0].many && s->stride[0].by <= s->len.c) {
        s->len.c += s->stride[0].by * (s->stride[0].n - 1);
        remove_stride(s, 0);
    }
}

bool ac_stretch_strides_equal(const ac_stretch *a, const ac_stretch *b)
{
    bool same = a->n == b->n && a->buf == b->buf;
    for (int32_t i = 0; same && i < a->n; i++) {
        const ac_stride x = a->stride[i], y = b->stride[i];
        same = x.by == y.by && x.n == y.n && !x.many == !y.many && (!x.many || ac_affine_equal(x.many, y.many));
    }
    return same;
}

bool ac_stretch_guards_equal(const ac_stretch *a, const ac_stretch *b)
{
    bool same = a->n_guard == b->n_guard;
    for (int32_t i = 0; same && i < a->n_guard; i++)
        same = ac_affine_equal(&a->guard[i], &b->guard[i]);
    return same;
}

/* If b begins inside a or at its end, extends a to the end of b. */
static bool extend_len(ac_stretch *a, const ac_stretch *b)
{
    const ac_affine ahead = ac_affine_add(&b->base, &a->base, -1), gap = ac_affine_add(&ahead, &a->len, -1);
    if (ahead.lost || gap.lost || gap.n || gap.c > 0)
        return false;
    if (gap.c < 0 && (ahead.n || ahead.c < 0 || a->len.n || b->len.n))
        return false;
    const ac_affine len = ac_affine_add(&ahead, &b->len, 1);
    if (len.lost)
        return false;
    if (gap.c == 0 || len.c > a->len.c)
        a->len = len;
    return true;
}

/* If a and b differ only in the number n of one stride, and b begins where a's next repetition would, extends a. */
static bool extend_stride(ac_stretch *a, const ac_stretch *b)
{
    int32_t other = -1;
    if (a->n != b->n || a->buf != b->buf || !ac_affine_equal(&a->len, &b->len) || ac_stretch_is_many(a) ||
        ac_stretch_is_many(b))
        return false;
    for (int32_t i = 0; i < a->n; i++) {
        if (a->stride[i].by != b->stride[i].by || (a->stride[i].n != b->stride[i].n && other >= 0))
            return false;
        other = a->stride[i].n != b->stride[i].n ? i : other;
    }
    const ac_affine ahead = ac_affine_add(&b->base, &a->base, -1);
    for (int32_t i = 0; i < a->n; i++)
        if ((other < 0 || other == i) && !ahead.lost && !ahead.n && ahead.c == a->stride[i].by * a->stride[i].n) {
            a->stride[i].n += b->stride[i].n;
            return true;
        }
    return false;
}

bool ac_stretch_join(ac_stretch *a, const ac_stretch *b)
{
    return ac_stretch_guards_equal(a, b) &&
           ((ac_stretch_strides_equal(a, b) && extend_len(a, b)) || extend_stride(a, b));
}

/* The sum divided by `by`: all coefficients, rounded, or only those that it divides. */
static ac_affine divide_by_stride(const ac_affine *a, int64_t by, bool of_all)
{
    ac_affine steps = ac_affine_of(a->c / by - (a->c % by < 0));
    for (int32_t i = 0; i < a->n; i++) {
        const ac_term t = a->term[i];
        const int64_t rest = t.k % by, k = t.k / by + (rest > by / 2) - (rest < -(by / 2));
        if (k && (of_all || !rest))
            steps.term[steps.n++] = (ac_term){k, t.unknown};
    }
    return steps;
}

/* True if a >= 0 and over <= 0. */
static bool is_from_0(ac_knowledge *know, const ac_affine *a, const ac_affine *over, bool hard)
{
    return hard ? ac_is_from_0(know, a, over) : ac_is_at_least(know, a, 0) && ac_is_at_most(know, over, 0);
}

static bool holds(ac_knowledge *know, const ac_stretch *s, const ac_affine *index, const ac_affine *n, bool of_all)
{
    ac_affine ahead = ac_affine_add(index, &s->base, -1);
    if (ahead.lost)
        return false;
    for (int32_t k = s->n - 1; k >= 0; k--) { /* whole strides are taken off */
        const ac_stride t = s->stride[k];
        const ac_affine steps = divide_by_stride(&ahead, t.by, of_all);
        const ac_affine last = ac_affine_plus(&steps, 1);
        const ac_affine over = t.many ? ac_affine_add(&last, t.many, -1) : ac_affine_plus(&last, -t.n);
        if (!is_from_0(know, &steps, &over, of_all))
            return false;
        ahead = ac_affine_add(&ahead, &steps, -t.by);
    }
    const ac_affine end = ac_affine_add(&ahead, n, 1), beyond = ac_affine_add(&end, &s->len, -1);
    return is_from_0(know, &ahead, &beyond, of_all);
}

bool ac_stretch_holds(ac_knowledge *know, const ac_stretch *s, const ac_affine *index, const ac_affine *n)
{
    return holds(know, s, index, n, false) || (s->n && holds(know, s, index, n, true));
}
