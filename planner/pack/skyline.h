/* skyline.h - the top of the placed items over time: segments of one height each, from left to right.
 *
 *     height  ____        The segment at hand (g) is lower than the one before it, and so is each to its left: they
 *            |    |___    form a staircase down to it. It is a valley unless the next one is still lower. Which valley
 *            |    |   |   is filled first does not matter, since nothing that happens between two higher neighbours is
 *            |    | g |_  seen outside before the floor reaches them; so valleys are walked like a stack.
 *            +----------> t
 *
 *     int32_t g = ac_skyline_reset(&s, 0, t.n);        one segment, at height 0
 *     g = ac_skyline_put(&s, g, begin, end, top);      the floor of g rises to `top` from begin to end
 *     g = ac_skyline_raise(&s, g);                     nothing fits: up to the lower neighbour
 *
 * Cost: O(1) each. Memory: the caller's, s.seg with 2 * items + 1 segments. Cannot fail. Inline: the innermost loop of
 * a fill. */
#ifndef AC_PLANNER_PACK_SKYLINE_H
#define AC_PLANNER_PACK_SKYLINE_H
#include "planner/pack/problem.h"

typedef struct ac_segment {
    int32_t lo, hi;     /* numbers of the timeline */
    int32_t prev, next; /* -1: the edge */
    ac_bytes height;    /* offset of its floor */
} ac_segment;

typedef struct ac_skyline {
    ac_segment *seg;   /* 2 * items + 1 of them */
    int32_t n, unused; /* unused: a list through `next`; -1: none */
} ac_skyline;

/* A new one with these limits and neighbours. */
static inline int32_t ac_skyline_new(ac_skyline *s, ac_segment x)
{
    int32_t g = s->unused;
    if (g >= 0)
        s->unused = s->seg[g].next;
    else
        g = s->n++;
    s->seg[g] = x;
    return g;
}

/* g takes in the segment after it when both have one height. */
static inline void ac_skyline_join(ac_skyline *s, int32_t g)
{
    const int32_t next = s->seg[g].next;
    if (next < 0 || s->seg[next].height != s->seg[g].height)
        return;
    s->seg[g].hi = s->seg[next].hi;
    s->seg[g].next = s->seg[next].next;
    if (s->seg[g].next >= 0)
        s->seg[s->seg[g].next].prev = g;
    s->seg[next].next = s->unused;
    s->unused = next;
}

/* Returns where to go on: a segment that is lower than the one before it. */
static inline int32_t ac_skyline_raise_to(ac_skyline *s, int32_t g, ac_bytes height)
{
    s->seg[g].height = height;
    ac_skyline_join(s, g);
    const int32_t prev = s->seg[g].prev;
    if (prev < 0 || s->seg[prev].height > height)
        return g;
    ac_skyline_join(s, prev);
    return prev;
}

/* g keeps the part before `at`; the rest is a new segment. */
static inline int32_t ac_skyline_cut(ac_skyline *s, int32_t g, int32_t at)
{
    ac_segment *x = &s->seg[g];
    const ac_segment rest = {at, x->hi, g, x->next, x->height};
    x->hi = at;
    const int32_t r = ac_skyline_new(s, rest);
    if (rest.next >= 0)
        s->seg[rest.next].prev = r;
    s->seg[g].next = r;
    return r;
}

/* Builds up the floor of g from `begin` to `end`; returns where to go on. */
static inline int32_t ac_skyline_put(ac_skyline *s, int32_t g, int32_t begin, int32_t end, ac_bytes height)
{
    if (end < s->seg[g].hi)
        ac_skyline_cut(s, g, end);
    if (begin == s->seg[g].lo)
        return ac_skyline_raise_to(s, g, height);
    ac_skyline_raise_to(s, ac_skyline_cut(s, g, begin), height);
    return g;
}

/* Fills g up to its lower neighbour; returns where to go on. */
static inline int32_t ac_skyline_raise(ac_skyline *s, int32_t g)
{
    const int32_t prev = s->seg[g].prev, next = s->seg[g].next;
    ac_bytes to = prev >= 0 ? s->seg[prev].height : INT64_MAX;
    if (next >= 0 && s->seg[next].height < to)
        to = s->seg[next].height;
    return ac_skyline_raise_to(s, g, to);
}

/* One segment over all times from `lo` to `hi`; returns it. */
static inline int32_t ac_skyline_reset(ac_skyline *s, int32_t lo, int32_t hi)
{
    s->n = 0;
    s->unused = -1;
    return ac_skyline_new(s, (ac_segment){lo, hi, -1, -1, 0});
}

#endif
