/* replay_names.c - sets of names of elements: a maximum is at least each element that it was made of. A set is a list
 * of runs of names; elements that are loaded one after the other have names in order, so a list is short. */
#include "prove/replay/replay.h"

enum { MOST_RUNS = 4096 }; /* a longer list is forgotten */

typedef struct names {
    int32_t first, last, next, runs; /* next: the rest of the set; runs: of the list from here on */
} names;
static names *list;
static int32_t n_list;

void forget_names(void)
{
    n_list = 0;
}

static int32_t new_names(names n)
{
    enum { SOME = 1024 };
    if (n_list % SOME == 0)
        list = room(list, (size_t)n_list + SOME, sizeof *list);
    if (!n_list)
        list[n_list++] = (names){0};
    if (n_list == INT32_MAX - SOME)
        return 0;
    list[n_list] = n;
    return n_list++;
}

/* `set` with first .. last; 0: it is too long. */
static int32_t with_run(int32_t set, int32_t first, int32_t last)
{
    const names *n = set ? &list[set] : NULL;
    if (n && n->first <= first && last <= n->last)
        return set;
    if (n && n->last + 1 == first)
        return new_names((names){n->first, last, n->next, n->runs});
    if (n && last + 1 == n->first)
        return new_names((names){first, n->last, n->next, n->runs});
    if (n && n->runs == MOST_RUNS)
        return 0;
    return new_names((names){first, last, set, n ? n->runs + 1 : 1});
}

static int32_t over_one(const range *r)
{
    return r->name ? with_run(r->over, r->name, r->name) : r->over;
}

int32_t over_both(const range *a, const range *b)
{
    int32_t set = over_one(a), less = over_one(b);
    if (!set || !less)
        return set ? set : less;
    if (list[set].runs < list[less].runs) {
        const int32_t was = set;
        set = less;
        less = was;
    }
    for (; less && set; less = list[less].next)
        set = with_run(set, list[less].first, list[less].last);
    return set;
}

bool is_over(int32_t set, int32_t name)
{
    for (; set; set = list[set].next)
        if (list[set].first <= name && name <= list[set].last)
            return true;
    return false;
}

int32_t list_names(int32_t set, int32_t *to, int32_t most)
{
    int32_t n = 0;
    for (; set; set = list[set].next)
        for (int32_t k = list[set].first; k <= list[set].last; k++) {
            if (n == most)
                return 0;
            to[n++] = k;
        }
    return n;
}
