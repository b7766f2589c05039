/* replay_left.c - keeps the minimum and maximum integer that calls have stored to each tensor or parts of it, for later
 * calls. Inputs, state and results of calls that are not proven may hold any value. */
#include "prove/replay/replay_ranges.h"

typedef struct left {
    int32_t tensor;
    type type;
    whole lo, hi;
    bool anything;
    bool bytes; /* elements that are not bools may be there */
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

/* The tensor's, or a new one with nothing in it. */
static left *some_left(int32_t tensor)
{
    left *l = left_of(tensor);
    if (l)
        return l;
    list = room(list, n_list + 1, sizeof *list);
    list[n_list] = (left){.tensor = tensor, .type = N_TYPES};
    return &list[n_list++];
}

void left_before(int32_t tensor)
{
    some_left(tensor)->anything = true;
}

void left_unknown(int32_t tensor, type t)
{
    left *l = some_left(tensor);
    l->anything = true;
    l->bytes |= t != BOOL;
}

void left_stored(int32_t tensor, type t, const range *cell, int64_t n)
{
    left *l = some_left(tensor);
    if (is_real(t) || type_bytes(t) > 4 || (l->type != N_TYPES && l->type != t)) {
        left_unknown(tensor, t);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        l->lo = l->type == N_TYPES ? cell[i].lo : smaller(cell[i].lo, l->lo);
        l->hi = l->type == N_TYPES ? cell[i].hi : larger(cell[i].hi, l->hi);
        l->type = t;
        l->bytes |= type_bytes(t) > 1 || cell[i].lo < 0 || cell[i].hi > 1;
    }
}

bool left_at_all(int32_t tensor)
{
    return left_of(tensor) != NULL;
}

range left_in(int32_t tensor, type t)
{
    const left *l = tensor ? left_of(tensor) : NULL;
    range r = of_type(t);
    if (l && !l->anything && l->type == t) {
        r.lo = l->lo;
        r.hi = l->hi;
    }
    if (l && l->bytes && t == BOOL)
        r.hi = 255;
    return r;
}
