/* replay_parts.c - joins parts of a run, and names unknown elements; see replay.h. */
#include "prove/replay/replay.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ names of elements */

/* A node is a name that the value is not less than, and two more nodes. */
typedef struct name_node {
    int32_t name, left, right;
} name_node;
static name_node *nodes;
static int32_t n_nodes;

static int32_t new_node(int32_t name, int32_t left, int32_t right)
{
    if (!name && (!left || !right))
        return left ? left : right;
    if (n_nodes % 1024 == 0)
        nodes = room(nodes, (size_t)n_nodes + 1024, sizeof *nodes);
    if (!n_nodes)
        nodes[n_nodes++] = (name_node){0};
    nodes[n_nodes] = (name_node){name, left, right};
    if (++n_nodes % 1024 == 0)
        nodes = room(nodes, (size_t)n_nodes + 1024, sizeof *nodes);
    return n_nodes - 1;
}

static int32_t over_one(const range *r)
{
    return r->name ? new_node(r->name, r->over, 0) : r->over;
}

int32_t over_both(const range *a, const range *b)
{
    return new_node(0, over_one(a), over_one(b));
}

bool is_over(int32_t node, int32_t name)
{
    while (node) {
        if (nodes[node].name == name)
            return true;
        if (nodes[node].left && nodes[node].right && is_over(nodes[node].right, name))
            return true;
        node = nodes[node].left ? nodes[node].left : nodes[node].right;
    }
    return false;
}

void list_names(int32_t node, int32_t *list, int32_t *n, int32_t most)
{
    for (; node && *n < most; node = nodes[node].left ? nodes[node].left : nodes[node].right) {
        if (nodes[node].name)
            list[(*n)++] = nodes[node].name;
        if (nodes[node].left && nodes[node].right)
            list_names(nodes[node].right, list, n, most);
    }
}

/* ------------------------------------------------------------------ parts of a run that are joined */

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

static stamp *stamps;
static size_t n_stamps, cap_stamps;

void begin_run(void)
{
    n_trail = n_stamps = 0;
    n_nodes = forks = 0;
}

bool has_parts(void)
{
    return forks > 0;
}

void put_stamp(int32_t *at, int32_t by)
{
    if (*at == by)
        return;
    if (forks) {
        if (n_stamps == cap_stamps)
            stamps = room(stamps, cap_stamps = cap_stamps * 2 + 1024, sizeof *stamps);
        stamps[n_stamps++] = (stamp){at, *at};
    }
    *at = by;
}

range joined(range a, const range *b)
{
    a.lo = a.lo < b->lo ? a.lo : b->lo;
    a.hi = a.hi > b->hi ? a.hi : b->hi;
    a.least = a.least < b->least ? a.least : b->least;
    a.most = a.most > b->most ? a.most : b->most;
    a.nan |= b->nan;
    a.name = a.name == b->name ? a.name : 0;
    a.one_of = a.over == b->over && a.one_of && b->one_of;
    a.over = a.over == b->over ? a.over : 0;
    a.written &= b->written;
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
    forks++;
    return (join){.mark = n_trail, .first_stamp = n_stamps};
}

static void end_stamps(join *j)
{
    const size_t n = n_stamps - j->first_stamp;
    j->stored = room(j->stored, j->n_stored + n + 1, sizeof *j->stored);
    while (n_stamps > j->first_stamp) {
        n_stamps--;
        j->stored[j->n_stored++] = (stamp){stamps[n_stamps].at, *stamps[n_stamps].at};
        *stamps[n_stamps].at = stamps[n_stamps].by;
    }
}

/* A part has run: its changes go to the join, and are undone. */
void end_part(join *j)
{
    const size_t n = n_trail - j->mark;
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
    end_stamps(j);
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
    for (size_t i = 0; i < j->n_stored; i++)
        put_stamp(j->stored[i].at, j->stored[i].by);
    free(j->stored);
    free(j->item);
}
