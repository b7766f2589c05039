/* solve_exact_tree.c - the branch and bound of solve_exact.h.
 *
 * Rules, with their sources (MiniMalloc, Moffitt 2023; TelaMalloc, Maas et al. 2022; read from the public description):
 *   partition        sections that no unplaced item crosses split the rest into parts, solved alone (both papers)
 *   canonical order  offsets never decrease along a path: the lowest section goes first (MiniMalloc). Ties need no rule
 *                    here, since the children of a node exclude one another
 *   dominance, and   "an item that would fit below must not go above" (MiniMalloc): a deferred item needs a blocker;
 *   hatless          when no neighbour can be one, the branch is dead
 *   floors           the unplaced items of a section lie above the least of their lows (MiniMalloc); here each above
 *                    its own: sorted by low they give the least top of the section (one machine with release dates)
 *   slack            among the lowest sections the one with the fewest children goes first (ours)
 *   twins            of equal items the first goes lowest (ours)
 *   failed states    what is left to do depends on the unplaced items, their lows and deferrals only: hashed (ours) */
#include "planner/pack/solve_exact.h"
#include "planner/pack/strategies.h"

#include <stdlib.h>
#include <string.h>

/* MAX_DEPTH bounds the C stack: about 300 bytes a level. */
enum { MAX_TRACE = 1 << 24, MAX_DEPTH = 8192, NONE = INT32_MAX };

static void set(ac_exact *x, int64_t *at, int64_t v)
{
    ac_push(x->region, &x->trail, ((ac_exact_undo){at, *at}));
    *at = v;
}

/* Where to go back to. */
typedef struct mark {
    int32_t trail, deferred, lifts, path;
} mark;

static mark mark_here(const ac_exact *x)
{
    return (mark){x->trail.n, x->deferred.n, x->lifts.n, x->path.n};
}

static void undo(ac_exact *x, mark m)
{
    while (x->trail.n > m.trail) {
        x->trail.n--;
        *x->trail.item[x->trail.n].at = x->trail.item[x->trail.n].old;
    }
    x->deferred.n = m.deferred;
    x->lifts.n = m.lifts;
    x->path.n = m.path;
}

/* ------------------------------------------------------------------ the trace */

static int32_t record(ac_exact *x, ac_trace_kind kind, int32_t a, int32_t b)
{
    if (x->trace.n > MAX_TRACE)
        x->traced = false;
    if (!x->traced)
        return -1;
    int32_t node = x->trace.n;
    ac_push(x->region, &x->trace, (int32_t)kind);
    ac_push(x->region, &x->trace, a);
    if (kind >= AC_TRACE_LIFT)
        ac_push(x->region, &x->trace, b);
    return node;
}

static int32_t record_lifts(ac_exact *x, int32_t from, int32_t to, int32_t node)
{
    int32_t n = to - from;
    if (!n || node < 0)
        return node;
    int32_t lift = record(x, AC_TRACE_LIFT, n, node);
    for (int32_t k = 0; k < n && lift >= 0; k++)
        ac_push(x->region, &x->trace, x->lifts.item[from + k]);
    return lift;
}

static int by_item(const void *a, const void *b)
{
    const ac_exact_choice *x = a, *y = b;
    return (x->item > y->item) - (x->item < y->item);
}

static int32_t record_branch(ac_exact *x, int32_t section, int32_t from)
{
    int32_t n = x->path.n - from;
    qsort(&x->path.item[from], (size_t)n, sizeof *x->path.item, by_item);
    int32_t node = record(x, AC_TRACE_BRANCH, x->step[section], n);
    for (int32_t k = 0; k < n && node >= 0; k++) {
        ac_push(x->region, &x->trace, x->path.item[from + k].item);
        ac_push(x->region, &x->trace, x->path.item[from + k].node);
    }
    return node;
}

/* ------------------------------------------------------------------ propagation */

static void touch(ac_exact *x, int32_t i)
{
    for (int32_t k = x->section.first[i]; k < x->section.first[i + 1]; k++)
        x->dirty[x->section.item[k]] = true;
    if (x->first_section[i] < x->dirty_from)
        x->dirty_from = x->first_section[i];
    if (x->last_section[i] >= x->dirty_to)
        x->dirty_to = x->last_section[i] + 1;
}

/* Sorts a row by low, unplaced first. Rows are not part of the state: backtracking leaves them in the order of the
 * failed branch, so every reader sorts its row first. It is nearly sorted, so insertion is nearly linear. */
static int32_t sort_members(ac_exact *x, int32_t s)
{
    int32_t *row = &x->member.item[x->member.first[s]], n = x->member.first[s + 1] - x->member.first[s];
    int32_t left = (int32_t)x->left[s], seen = 0;
    for (int32_t k = 0; seen < left && k < n; k++) {
        int32_t i = row[k];
        if (x->at[i] >= 0)
            continue;
        int32_t to = seen++;
        row[k] = row[to]; /* a placed one, or i itself */
        for (; to && x->low[row[to - 1]] > x->low[i]; to--)
            row[to] = row[to - 1];
        row[to] = i;
    }
    x->steps += n;
    return left;
}

/* The least top of section s. false: above the capacity. */
static bool refresh_section(ac_exact *x, int32_t s)
{
    const int32_t *row = &x->member.item[x->member.first[s]];
    int32_t n = sort_members(x, s);
    ac_bytes top = 0, pad = 0, roof = INT64_MAX;
    bool fits = true;
    for (int32_t k = 0; k < n; k++) {
        ac_bytes low = x->low[row[k]];
        fits = fits && low + x->size[row[k]] <= x->capacity;
        top = (low > top ? low : top) + x->padded[row[k]];
        if (x->padded[row[k]] - x->size[row[k]] > pad) /* the topmost needs no rounding */
            pad = x->padded[row[k]] - x->size[row[k]];
        roof = low + x->size[row[k]] < roof ? low + x->size[row[k]] : roof;
    }
    ac_bytes floor = n ? x->low[row[0]] : INT64_MAX;
    if (x->floor[s] != floor)
        set(x, &x->floor[s], floor);
    if (x->roof[s] != roof)
        set(x, &x->roof[s], roof);
    if (x->need[s] != top - pad)
        set(x, &x->need[s], top - pad);
    x->dirty[s] = false;
    return fits && x->need[s] <= x->capacity;
}

static void clear_dirty(ac_exact *x)
{
    for (int32_t s = x->dirty_from; s < x->dirty_to; s++)
        x->dirty[s] = false;
    x->dirty_from = x->n_sections;
    x->dirty_to = 0;
}

static bool refresh_sections(ac_exact *x, int32_t *leaf)
{
    bool fits = true;
    for (int32_t s = x->dirty_from; fits && s < x->dirty_to; s++)
        if (x->dirty[s] && !refresh_section(x, s)) {
            *leaf = record(x, AC_TRACE_OVER, x->step[s], 0);
            fits = false;
        }
    clear_dirty(x);
    return fits;
}

/* Raises a deferred item above the lowest neighbour that can still block it. false: there is no such neighbour. */
static bool lift(ac_exact *x, int32_t i)
{
    ac_bytes least = INT64_MAX, line = x->defer[i] + x->size[i];
    for (int32_t k = x->neighbour.first[i]; k < x->neighbour.first[i + 1]; k++) {
        int32_t j = x->neighbour.item[k];
        if (x->at[j] < 0 && x->low[j] < line && x->low[j] + x->size[j] < least)
            least = x->low[j] + x->size[j];
    }
    x->steps += (x->neighbour.first[i + 1] - x->neighbour.first[i]) / 4;
    if (least == INT64_MAX)
        return false;
    least = ac_align_up(least, x->align[i]);
    if (least > x->low[i]) {
        set(x, &x->low[i], least);
        touch(x, i);
        ac_push(x->region, &x->lifts, i);
    }
    return true;
}

/* Derives all consequences of a change. false: the state is dead, with the reason in *leaf. */
static bool propagate(ac_exact *x, int32_t *leaf)
{
    do {
        if (!refresh_sections(x, leaf))
            return false;
        for (int32_t k = 0; k < x->deferred.n; k++) {
            int32_t i = x->deferred.item[k];
            if (x->defer[i] >= 0 && x->at[i] < 0 && !lift(x, i)) {
                *leaf = record(x, AC_TRACE_FREE, i, 0);
                clear_dirty(x);
                return false;
            }
        }
    } while (x->dirty_from < x->dirty_to);
    return true;
}

/* ------------------------------------------------------------------ moves */

static bool place(ac_exact *x, int32_t i, int32_t *leaf)
{
    ac_bytes at = x->low[i], top = at + x->size[i];
    set(x, &x->at[i], at);
    for (int32_t k = x->section.first[i]; k < x->section.first[i + 1]; k++)
        set(x, &x->left[x->section.item[k]], x->left[x->section.item[k]] - 1);
    for (int32_t s = x->first_section[i] + 1; s <= x->last_section[i]; s++)
        set(x, &x->cross[s], x->cross[s] - 1);
    touch(x, i);
    int32_t from = x->neighbour.first[i], to = x->neighbour.first[i + 1];
    x->steps += 1 + (to - from) / 4;
    for (int32_t k = from; k < to; k++) {
        int32_t j = x->neighbour.item[k];
        if (x->at[j] >= 0)
            continue;
        if (x->defer[j] >= 0 && at < x->defer[j] + x->size[j])
            set(x, &x->defer[j], -1);
        if (x->low[j] >= top)
            continue;
        if (x->fixed[j] >= 0) {
            *leaf = record(x, AC_TRACE_FIXED, j, 0);
            clear_dirty(x);
            return false;
        }
        set(x, &x->low[j], ac_align_up(top, x->align[j]));
        touch(x, j);
    }
    return propagate(x, leaf);
}

/* Of twins in the same state the first goes lowest: the other way round is the same plan with the names swapped. */
static bool is_candidate(const ac_exact *x, int32_t i)
{
    int32_t t = x->twin[i];
    return x->defer[i] < 0 && (t < 0 || x->at[t] >= 0 || x->low[t] != x->low[i] || x->defer[t] >= 0);
}

/* None of those that could start at the floor of section s does. */
static bool defer(ac_exact *x, int32_t s, int32_t *leaf)
{
    const int32_t *row = &x->member.item[x->member.first[s]];
    ac_bytes floor = x->floor[s];
    int32_t left = sort_members(x, s);
    for (int32_t k = 0; k < left && x->low[row[k]] == floor; k++) {
        if (x->fixed[row[k]] >= 0) {
            *leaf = record(x, AC_TRACE_FIXED, row[k], 0);
            return false;
        }
        if (x->defer[row[k]] >= 0)
            continue;
        set(x, &x->defer[row[k]], floor);
        ac_push(x->region, &x->deferred, row[k]);
    }
    x->steps++;
    return propagate(x, leaf);
}

/* ------------------------------------------------------------------ nodes */

static uint64_t mix(uint64_t h) /* the finalizer of splitmix64 */
{
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
    return h ^ (h >> 31);
}

static uint64_t state_key(const ac_exact *x, int32_t lo, int32_t hi)
{
    uint64_t key = mix((uint64_t)lo << 32 | (uint32_t)hi);
    for (int32_t i = 0; i < x->n; i++)
        if (x->at[i] < 0 && x->first_section[i] >= lo && x->first_section[i] < hi)
            key += mix(mix((uint64_t)x->low[i] * (uint64_t)x->n + (uint64_t)i) + (uint64_t)(x->defer[i] + 1));
    return key | 1; /* 0 is an empty place in the table */
}

/* Can no unplaced neighbour of i go below it? Then all of them go above it once it is placed. */
static bool is_lowest(const ac_exact *x, int32_t i)
{
    for (int32_t k = x->section.first[i]; k < x->section.first[i + 1]; k++)
        if (x->roof[x->section.item[k]] <= x->low[i])
            return false;
    return true;
}

/* How many children a node on section s has, not counting a "none" that fails at once. INT32_MAX: no node can be made
 * of it, because a candidate may still get something below it, or because only deferred items could start at its floor.
 */
static int32_t count_children(ac_exact *x, int32_t s)
{
    const int32_t *row = &x->member.item[x->member.first[s]];
    int32_t children = 0, left = sort_members(x, s);
    for (int32_t k = 0; k < left && x->low[row[k]] == x->floor[s]; k++) {
        if (!is_lowest(x, row[k]))
            return INT32_MAX;
        children += is_candidate(x, row[k]);
    }
    return children ? children + (x->capacity > x->need[s]) : INT32_MAX;
}

static bool is_better(const ac_exact *x, int32_t s, int32_t best)
{
    ac_bytes slack = x->need[best] - x->need[s], height = x->floor[best] - x->floor[s];
    return slack != 0 ? slack < 0 : height < 0;
}

/* The section to branch in: fewest children, then least slack, then lowest floor, then first. `lowest`: only sections
 * whose floor is the lowest of all; one of these can always be used. */
static int32_t choose_section(ac_exact *x, int32_t lo, int32_t hi)
{
    int32_t best = -1, best_children = INT32_MAX;
    ac_bytes level = INT64_MAX;
    for (int32_t s = lo; s < hi && x->lowest; s++)
        if (x->left[s] && x->floor[s] < level)
            level = x->floor[s];
    for (int32_t s = lo; s < hi; s++) {
        if (!x->left[s] || x->floor[s] > level)
            continue;
        int32_t children = count_children(x, s);
        if (children == INT32_MAX || children > best_children || (children == best_children && !is_better(x, s, best)))
            continue;
        best = s;
        best_children = children;
    }
    x->steps += (hi - lo) / 8;
    return best;
}

/* Pushes the candidates of section s on the path, by rank. */
static void push_candidates(ac_exact *x, int32_t s)
{
    const int32_t *row = &x->member.item[x->member.first[s]];
    int32_t from = x->path.n;
    for (int32_t k = 0; k < x->left[s] && x->low[row[k]] == x->floor[s]; k++) {
        if (!is_candidate(x, row[k]))
            continue;
        ac_push(x->region, &x->path, ((ac_exact_choice){row[k], -1}));
        int32_t to = x->path.n - 1;
        for (; to > from && x->rank[x->path.item[to - 1].item] > x->rank[row[k]]; to--)
            x->path.item[to] = x->path.item[to - 1];
        x->path.item[to] = (ac_exact_choice){row[k], -1};
    }
    ac_push(x->region, &x->path, ((ac_exact_choice){NONE, -1}));
}

static ac_exact_end solve_parts(ac_exact *x, int32_t lo, int32_t hi, int32_t *node);

static ac_exact_end deeper(ac_exact *x, int32_t lo, int32_t hi, int32_t *node)
{
    x->depth++;
    ac_exact_end end = solve_parts(x, lo, hi, node);
    x->depth--;
    return end;
}

/* One node: all that is unplaced in [lo, hi) hangs together. On failure the state is as before. */
static ac_exact_end branch(ac_exact *x, int32_t lo, int32_t hi, int32_t *node)
{
    uint64_t key = state_key(x, lo, hi);
    ac_exact_failed *known = &x->failed[key >> (64 - AC_EXACT_FAILED_BITS)];
    x->steps += x->n / 32;
    if (known->key == key) {
        *node = known->node;
        return AC_EXACT_FAILED;
    }
    int32_t s = choose_section(x, lo, hi), from = x->path.n;
    push_candidates(x, s);
    int32_t to = x->path.n;
    for (int32_t k = from; k < to; k++) {
        if (x->steps >= x->limit || x->depth >= MAX_DEPTH)
            return AC_EXACT_SPENT;
        mark m = mark_here(x);
        int32_t proof = -1, i = x->path.item[k].item;
        ac_exact_end end = AC_EXACT_FAILED;
        bool alive = i == NONE ? defer(x, s, &proof) : place(x, i, &proof);
        int32_t lifts = x->lifts.n; /* further ones belong to parts below that were solved */
        if (alive)
            end = deeper(x, lo, hi, &proof);
        if (end == AC_EXACT_FOUND)
            return end;
        if (end == AC_EXACT_FAILED)
            proof = record_lifts(x, m.lifts, lifts, proof);
        undo(x, m);
        if (end == AC_EXACT_SPENT)
            return end;
        x->path.item[k].node = proof;
    }
    int32_t inner = record_branch(x, s, from);
    *node = record(x, AC_TRACE_KEEP, x->step[lo], x->step[hi - 1]);
    if (*node >= 0)
        ac_push(x->region, &x->trace, inner);
    *known = (ac_exact_failed){key, *node};
    return AC_EXACT_FAILED;
}

/* Splits [lo, hi) where no unplaced item crosses. One part that fails is enough; none is tried again after another
 * failed, since they have nothing to do with each other. */
static ac_exact_end solve_parts(ac_exact *x, int32_t lo, int32_t hi, int32_t *node)
{
    for (int32_t s = lo; s < hi;) {
        int32_t end = s + 1;
        while (end < hi && x->cross[end])
            end++;
        if (x->left[s]) { /* the first section of a part has an item, or the part is this section alone */
            ac_exact_end e = branch(x, s, end, node);
            if (e != AC_EXACT_FOUND)
                return e;
        }
        s = end;
    }
    return AC_EXACT_FOUND;
}

/* ------------------------------------------------------------------ one search */

static void reset(ac_exact *x)
{
    x->trail.n = x->deferred.n = x->lifts.n = x->path.n = 0;
    for (int32_t s = 0; s < x->n_sections; s++) {
        x->left[s] = x->member.first[s + 1] - x->member.first[s];
        x->cross[s] = 0;
        x->dirty[s] = true;
    }
    x->dirty_from = 0;
    x->dirty_to = x->n_sections;
    for (int32_t i = 0; i < x->n; i++) {
        x->low[i] = x->fixed[i] >= 0 ? x->fixed[i] : 0;
        x->defer[i] = x->at[i] = -1;
        for (int32_t s = x->first_section[i] + 1; s <= x->last_section[i]; s++)
            x->cross[s]++;
    }
}

ac_exact_end ac_exact_search(ac_exact *x, ac_bytes capacity, int64_t steps)
{
    if (capacity > x->capacity) { /* states that failed below may fit now; states that failed above fail here as well */
        memset(x->failed, 0, sizeof *x->failed << AC_EXACT_FAILED_BITS);
        x->trace.n = 0;
        x->traced = true;
    }
    x->capacity = capacity;
    x->limit = x->steps + steps;
    x->root = -1;
    x->depth = 0;
    reset(x);
    if (!propagate(x, &x->root))
        return AC_EXACT_FAILED;
    return solve_parts(x, 0, x->n_sections, &x->root);
}
