/* replay_parts.c - joins parts of a run; see replay.h. */
#include "prove/replay/replay_ranges.h"

#include <stdlib.h>

static int32_t forks;
static entry *trail;
static size_t n_trail, cap_trail;

void change(range *to, range value)
{
    if (forks) {
        if (n_trail == cap_trail)
            trail = room(trail, cap_trail = cap_trail * 2 + 1024, sizeof *trail);
        trail[n_trail++] = (entry){to, *to};
    }
    *to = value;
}

void begin_run(void)
{
    n_trail = 0;
    forks = 0;
    forget_names();
}

bool has_parts(void)
{
    return forks > 0;
}

range joined(range a, const range *b)
{
    a.lo = smaller(a.lo, b->lo);
    a.hi = larger(a.hi, b->hi);
    a.least = a.least < b->least ? a.least : b->least;
    a.most = a.most > b->most ? a.most : b->most;
    a.nan |= b->nan;
    a.name = a.name == b->name ? a.name : 0;
    a.one_of = a.over == b->over && a.one_of && b->one_of;
    a.over = a.over == b->over ? a.over : 0;
    a.written &= b->written;
    if (a.lost != b->lost)
        a.lost = (int16_t)-abs(a.lost ? a.lost : b->lost);
    a.words = a.words && b->words;
    a.low = a.low < b->low ? a.low : b->low;
    a.low_most = a.low_most > b->low_most ? a.low_most : b->low_most;
    return a;
}

static int by_address(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)((const entry *)a)->at, y = (uintptr_t)((const entry *)b)->at;
    return x < y ? -1 : x > y;
}

join begin_join(void)
{
    enum { MOST_FORKS = 6000 };
    if (++forks > MOST_FORKS)
        not_shown(false, "too many nested parts");
    return (join){.mark = n_trail};
}

/* A part has run: its changes go to the join, and are undone. */
void end_part(join *j)
{
    const size_t n = n_trail - j->mark;
    spend((int64_t)(n + j->n));
    entry *mine = room(NULL, n + 1, sizeof *mine), *both = room(NULL, n + j->n + 1, sizeof *both);
    size_t n_mine = 0, n_both = 0, a = 0, b = 0;
    for (size_t i = 0; i < n; i++)
        mine[i] = (entry){trail[j->mark + i].at, *trail[j->mark + i].at};
    qsort(mine, n, sizeof *mine, by_address);
    for (size_t i = 0; i < n; i++)
        if (!n_mine || mine[i].at != mine[n_mine - 1].at)
            mine[n_mine++] = mine[i];
    while (n_trail > j->mark) {
        n_trail--;
        *trail[n_trail].at = trail[n_trail].value;
    }
    while (a < j->n || b < n_mine) {
        entry e;
        if (b == n_mine || (a < j->n && j->item[a].at < mine[b].at)) {
            e = j->item[a++];
            e.value = joined(e.value, e.at);
        } else if (a == j->n || mine[b].at < j->item[a].at) {
            e = mine[b++];
            if (j->parts)
                e.value = joined(e.value, e.at);
        } else {
            e = j->item[a++];
            e.value = joined(e.value, &mine[b++].value);
        }
        both[n_both++] = e;
    }
    free(mine);
    free(j->item);
    j->item = both;
    j->n = n_both;
    j->parts++;
}

void end_join(join *j)
{
    forks--;
    for (size_t i = 0; i < j->n; i++)
        change(j->item[i].at, j->item[i].value);
    free(j->item);
}
