/* replay_left.c - keeps the minimum and maximum integer that calls have stored to each tensor or parts of it, for later
 * calls. Inputs, state and results of calls that are not proven may hold any value. */
#include "prove/replay/replay.h"

typedef struct left {
    int32_t tensor;
    type type;
    whole lo, hi;
    bool anything;
} left;

static left *list;
static size_t n_list;

static left *left_of(int32_t tensor)
{
    for (size_t i = 0; i < n_list; i++)
        if (list[i].tensor == tensor)
            return &list[i];
    return NULL;
}

static left *add(int32_t tensor)
{
    list = room(list, n_list + 1, sizeof *list);
    list[n_list] = (left){.tensor = tensor};
    return &list[n_list++];
}

void left_by_anybody(int32_t tensor)
{
    left *l = left_of(tensor);
    if (tensor <= 0)
        return;
    if (!l)
        l = add(tensor);
    l->anything = true;
}

void left_stored(int32_t tensor, type t, const range *cell, int64_t n)
{
    if (tensor <= 0)
        return;
    left *l = left_of(tensor);
    if (is_real(t) || type_bytes(t) > 4 || n < 1 || (l && l->type != t)) {
        left_by_anybody(tensor);
        return;
    }
    if (!l) {
        l = add(tensor);
        l->type = t;
        l->lo = cell[0].lo;
        l->hi = cell[0].hi;
    }
    for (int64_t i = 0; i < n; i++) {
        l->lo = cell[i].lo < l->lo ? cell[i].lo : l->lo;
        l->hi = cell[i].hi > l->hi ? cell[i].hi : l->hi;
    }
}

bool left_at_all(int32_t tensor)
{
    return left_of(tensor) != NULL;
}

void left_in(int32_t tensor, type t, range *r)
{
    const left *l = tensor > 0 ? left_of(tensor) : NULL;
    if (!l || l->anything || l->type != t)
        return;
    r->lo = l->lo > r->lo ? l->lo : r->lo;
    r->hi = l->hi < r->hi ? l->hi : r->hi;
}
