/* segments.h - the skyline itself: stretches of time with the height of what is placed there, left to right.
 *
 *     height  ____        The segment at hand (g) is lower than the one before it, and so is every one on its left: a
 *            |    |___    staircase down to it. It is a valley unless the next one is still lower. Which valley is
 *            |    |   |   filled first does not matter, since nothing that happens between two higher neighbours is
 *            |    | g |_  seen outside before the floor reaches them; so valleys are walked like a stack. */
#ifndef AC_PLANNER_PACK_SEGMENTS_H
#define AC_PLANNER_PACK_SEGMENTS_H
#include "planner/pack/problem.h"

typedef struct ac_segment {
    int32_t lo, hi;     /* numbers of the timeline */
    int32_t prev, next; /* -1: the edge */
    ac_bytes height;
} ac_segment;

typedef struct ac_segments {
    ac_segment *seg;   /* room for 2 * items + 1 */
    int32_t n, unused; /* unused: a list through `next`; -1: none */
} ac_segments;

/* A new one with these limits and neighbours. */
static inline int32_t ac_segments_new(ac_segments *s, ac_segment x)
{
    int32_t g = s->unused;
    if (g >= 0)
        s->unused = s->seg[g].next;
    else
        g = s->n++;
    s->seg[g] = x;
    return g;
}

/* g takes in the segment behind it when both have one height. */
static inline void ac_segments_join(ac_segments *s, int32_t g)
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
static inline int32_t ac_segments_raise_to(ac_segments *s, int32_t g, ac_bytes height)
{
    s->seg[g].height = height;
    ac_segments_join(s, g);
    const int32_t prev = s->seg[g].prev;
    if (prev < 0 || s->seg[prev].height > height)
        return g;
    ac_segments_join(s, prev);
    return prev;
}

/* g keeps what is before `at`; the rest is a new segment. */
static inline int32_t ac_segments_cut(ac_segments *s, int32_t g, int32_t at)
{
    ac_segment *x = &s->seg[g];
    const ac_segment rest = {at, x->hi, g, x->next, x->height};
    x->hi = at;
    const int32_t r = ac_segments_new(s, rest);
    if (rest.next >= 0)
        s->seg[rest.next].prev = r;
    s->seg[g].next = r;
    return r;
}

/* Builds up the floor of g from `begin` to `end`; returns where to go on. */
static inline int32_t ac_segments_put(ac_segments *s, int32_t g, int32_t begin, int32_t end, ac_bytes height)
{
    if (end < s->seg[g].hi)
        ac_segments_cut(s, g, end);
    if (begin == s->seg[g].lo)
        return ac_segments_raise_to(s, g, height);
    ac_segments_raise_to(s, ac_segments_cut(s, g, begin), height);
    return g;
}

/* Fills g up to its lower neighbour; returns where to go on. */
static inline int32_t ac_segments_raise(ac_segments *s, int32_t g)
{
    const int32_t prev = s->seg[g].prev, next = s->seg[g].next;
    ac_bytes to = prev >= 0 ? s->seg[prev].height : INT64_MAX;
    if (next >= 0 && s->seg[next].height < to)
        to = s->seg[next].height;
    return ac_segments_raise_to(s, g, to);
}

/* One segment over all times from `lo` to `hi`; returns it. */
static inline int32_t ac_segments_reset(ac_segments *s, int32_t lo, int32_t hi)
{
    s->n = 0;
    s->unused = -1;
    return ac_segments_new(s, (ac_segment){lo, hi, -1, -1, 0});
}

#endif
