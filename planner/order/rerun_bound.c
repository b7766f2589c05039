/* rerun_bound.c - a lower bound of recomputed work; see rerun_search.h.
 *
 * While step t runs (for the first time), memory holds the values it uses, the values that cannot be recomputed, and
 * some of the results made so far. The other results that steps up to some later step u read are recomputed between t
 * and u, and so are their operands, down to held values. With a price of `price` for each held byte, the cheapest
 * choice of held and recomputed values is a minimum cut:
 *
 *     source -> there(v)              for each v that a step in (t, u] reads
 *     there(v) -> again(v)            cut: v is held, for price * size
 *     again(v) -> there(w)            never cut: w is read by v's maker
 *     again(v) -> sink                cut: v is made again, for its work
 *
 * Its value less price * room is a bound of the work for any price (a Lagrangian relaxation), and the largest one is
 * near the least that a step's memory allows. Branch and bound makes it exact if that is quick. Windows (t, u] that do
 * not overlap add up: the best row of them is found over the few steps t that lack the most bytes. Flow: Dinic 1970. */
#include "planner/order/rerun_search.h"

#include <math.h>
#include <string.h>

enum { PLACES = 48, PRICES = 12, SCALE = 1024, BRANCHES = 200 };
#define NEVER (INT64_MAX / 4)

typedef struct edge {
    int32_t to, next; /* e ^ 1 is its opposite */
    int64_t room;
} edge;

typedef struct flow {
    ac_region *region;
    AC_VEC(edge) edge;
    int32_t *first, *level, *at, *queue; /* by node */
    int32_t n;
} flow;

enum { SOURCE, SINK, NODES }; /* value v: NODES + 2 v, and the one after it */

typedef enum fate { OPEN, HELD, GONE } fate; /* of a value over a step, once it is decided */

typedef struct bound {
    ac_rerun *k;
    ac_bytes budget;
    flow f;
    uint8_t *fate; /* by value */
    int32_t *seen, *todo, epoch;
    ac_bytes *used; /* by step: bytes that are certainly in memory while it runs */
} bound;

/* The result of a cut: the recomputed work, and the bytes held. */
typedef struct cut {
    int64_t work, value;
    double bytes;
    int32_t largest; /* the largest value that is held without having to be; -1: none */
} cut;

/* ------------------------------------------------------------------ flow */

static void join(flow *f, int32_t from, int32_t to, int64_t room)
{
    ac_push(f->region, &f->edge, ((edge){to, f->first[from], room}));
    f->first[from] = f->edge.n - 1;
    ac_push(f->region, &f->edge, ((edge){from, f->first[to], 0}));
    f->first[to] = f->edge.n - 1;
}

static bool levels(flow *f)
{
    int32_t n = 0;
    memset(f->level, -1, (size_t)f->n * sizeof *f->level);
    f->level[SOURCE] = 0;
    f->queue[n++] = SOURCE;
    for (int32_t i = 0; i < n; i++)
        for (int32_t e = f->first[f->queue[i]]; e >= 0; e = f->edge.item[e].next)
            if (f->edge.item[e].room > 0 && f->level[f->edge.item[e].to] < 0) {
                f->level[f->edge.item[e].to] = f->level[f->queue[i]] + 1;
                f->queue[n++] = f->edge.item[e].to;
            }
    return f->level[SINK] >= 0;
}

static int64_t push(flow *f, int32_t node, int64_t most)
{
    if (node == SINK)
        return most;
    int64_t sent = 0;
    for (int32_t *e = &f->at[node]; *e >= 0 && sent < most; *e = f->edge.item[*e].next) {
        edge *x = &f->edge.item[*e];
        if (x->room <= 0 || f->level[x->to] != f->level[node] + 1)
            continue;
        const int64_t got = push(f, x->to, most - sent < x->room ? most - sent : x->room);
        x->room -= got;
        f->edge.item[*e ^ 1].room += got;
        sent += got;
        if (sent == most)
            break;
    }
    return sent;
}

static int64_t most_flow(flow *f)
{
    int64_t sum = 0;
    while (sum < NEVER && levels(f)) {
        memcpy(f->at, f->first, (size_t)f->n * sizeof *f->at);
        sum += push(f, SOURCE, NEVER);
    }
    return sum;
}

/* ------------------------------------------------------------------ one window */

static bool uses(const bound *b, int32_t step, int32_t v)
{
    const int32_t g = ac_rerun_gap(b->k, v, step + 1);
    return g >= 0 && b->k->p->value[v].user[g - b->k->gap[v]] == step;
}

/* Is v made before step t, not used at it, and again by a step in (t, u]? */
static bool is_needed(const bound *b, int32_t v, int32_t t, int32_t u)
{
    const ac_order_value *x = &b->k->p->value[v];
    const int32_t g = ac_rerun_may(b->k, v) ? ac_rerun_gap(b->k, v, t) : -1;
    if (g < 0)
        return false;
    const int32_t next = g - b->k->gap[v] + 1;
    return next < x->n_users && x->user[next] > t && x->user[next] <= u;
}

/* Nodes of v and of all that it may be made from, as below. */
static void add_value(bound *b, int32_t v, int32_t t, int64_t price, int64_t scale)
{
    const ac_rerun *k = b->k;
    int32_t n = 0;
    b->todo[n++] = v;
    b->seen[v] = b->epoch;
    while (n) {
        const int32_t x = b->todo[--n], again = NODES + 2 * x + 1;
        const ac_order_step *st = &k->p->step[k->maker[x]];
        int64_t work = b->fate[x] == HELD ? NEVER : k->work[k->maker[x]] * scale;
        for (int32_t i = 0; i < st->n_values; i++) {
            const int32_t y = st->value[i];
            if (k->written[y] >= 0 && k->written[y] <= t)
                work = NEVER;
            if (y == x || !ac_rerun_may(k, y) || uses(b, t, y))
                continue;
            join(&b->f, again, NODES + 2 * y, NEVER);
            if (b->seen[y] != b->epoch) {
                b->seen[y] = b->epoch;
                b->todo[n++] = y;
            }
        }
        join(&b->f, again - 1, again, b->fate[x] == GONE ? NEVER : price * k->p->value[x].size);
        join(&b->f, again, SINK, work);
    }
}

/* The cheapest way to supply the reads of steps in (t, u], if a byte held over step t costs `price`, and work
 * `scale`. */
static cut cut_at(bound *b, int32_t t, int32_t u, int64_t price, int64_t scale)
{
    const ac_rerun *k = b->k;
    cut c = {.largest = -1};
    b->epoch++;
    b->f.edge.n = 0;
    memset(b->f.first, -1, (size_t)b->f.n * sizeof *b->f.first);
    for (int32_t v = 0; v < k->p->n_values; v++)
        if (is_needed(b, v, t, u)) {
            if (b->seen[v] != b->epoch)
                add_value(b, v, t, price, scale);
            join(&b->f, SOURCE, NODES + 2 * v, NEVER);
        }
    c.value = most_flow(&b->f);
    for (int32_t v = 0; v < k->p->n_values; v++) {
        const bool there = b->seen[v] == b->epoch && b->f.level[NODES + 2 * v] >= 0;
        if (there && b->f.level[NODES + 2 * v + 1] >= 0)
            c.work += k->work[k->maker[v]];
        else if (there) {
            c.bytes += (double)k->p->value[v].size;
            if (b->fate[v] == OPEN && (c.largest < 0 || k->p->value[v].size > k->p->value[c.largest].size))
                c.largest = v;
        }
    }
    return c;
}

typedef struct bounds {
    int64_t least, most; /* work: no choice has less; a choice has as much */
    int32_t branch;      /* the largest value that this choice does not hold, but the cheaper one beyond it; -1: none */
} bounds;

/* The recomputed work for steps in (t, u], given the decided values; NEVER: too little capacity. Each cut is a line
 * over the price, and a lower bound of every plan; the next price is the intersection of the known lines on either side
 * of the best one. */
static bounds window(bound *b, int32_t t, int32_t u)
{
    const double room = (double)(b->budget - b->used[t]);
    cut low = cut_at(b, t, u, 0, 1), high;
    if (low.value >= NEVER)
        return (bounds){NEVER, NEVER, -1};
    if (low.bytes <= room)
        return (bounds){low.work, low.work, -1};
    high = cut_at(b, t, u, 1, 0);
    if (high.bytes > room || high.value >= NEVER)
        return (bounds){NEVER, NEVER, -1};
    bounds x = {low.work, high.work, low.largest};
    for (int32_t n = 0; n < PRICES; n++) {
        const double price = (double)(high.work - low.work) * SCALE / (low.bytes - high.bytes);
        if (price < 1 || price * low.bytes > (double)NEVER / 4)
            break;
        const cut c = cut_at(b, t, u, (int64_t)price, SCALE);
        const double is = ((double)c.value - (double)(int64_t)price * room) / SCALE;
        x.least = is > (double)x.least ? (int64_t)ceil(is - 1e-6) : x.least;
        if (c.bytes == low.bytes || c.bytes == high.bytes)
            break;
        *(c.bytes > room ? &low : &high) = c;
        x.most = high.work < x.most ? high.work : x.most;
        x.branch = low.largest;
    }
    return x;
}

/* ------------------------------------------------------------------ branch and bound
 *
 * A price can hold a fraction of a value; memory cannot. Values are decided one after another, held or not held over
 * step t, the largest first, at the node with the lowest bound, until no choice can be better than the best known
 * one. */

typedef struct node {
    int32_t up, value; /* the decision before this one */
    fate fate;
    bool open;
    int64_t least;
    int32_t branch;
} node;

typedef AC_VEC(node) tree;

static int32_t lowest(const tree *x)
{
    int32_t best = -1;
    for (int32_t i = 0; i < x->n; i++)
        if (x->item[i].open && (best < 0 || x->item[i].least < x->item[best].least))
            best = i;
    return best;
}

/* One decision more; returns the work of a choice with it. */
static int64_t decide(bound *b, tree *x, int32_t up, fate what, int32_t t, int32_t u)
{
    const int32_t value = x->item[up].branch;
    memset(b->fate, OPEN, (size_t)b->k->p->n_values);
    for (int32_t i = up; x->item[i].up >= 0; i = x->item[i].up)
        b->fate[x->item[i].value] = (uint8_t)x->item[i].fate;
    b->fate[value] = (uint8_t)what;
    const bounds w = window(b, t, u);
    const int64_t least = w.least > x->item[up].least ? w.least : x->item[up].least;
    ac_push(b->f.region, x, ((node){up, value, what, true, least, w.branch}));
    memset(b->fate, OPEN, (size_t)b->k->p->n_values);
    return w.most;
}

/* The least work for steps in (t, u], or less where that takes too long; `enough` need not be exceeded. */
static int64_t exact(bound *b, int32_t t, int32_t u, int64_t enough)
{
    const bounds root = window(b, t, u);
    tree x = {0};
    int64_t most = root.most;
    ac_push(b->f.region, &x, ((node){-1, -1, OPEN, true, root.least, root.branch}));
    for (int32_t n = 0;; n++) {
        const int32_t at = lowest(&x);
        const int64_t least = x.item[at].least;
        if (least >= most || least >= enough)
            return least < most ? least : most;
        if (n == BRANCHES || x.item[at].branch < 0)
            return least;
        x.item[at].open = false;
        for (fate what = HELD; what <= GONE; what++) {
            const int64_t found = decide(b, &x, at, what, t, u);
            most = found < most ? found : most;
        }
    }
}

/* ------------------------------------------------------------------ rows of windows */

/* By step: the bytes that it uses, and those of results that cannot be recomputed, while they are needed; less results
 * that may overwrite an operand. */
static void look_at_steps(bound *b)
{
    const ac_order_problem *p = b->k->p;
    ac_bytes *change = AC_NEW_N(b->f.region, ac_bytes, p->n + 2), sum = 0;
    b->used = AC_NEW_N(b->f.region, ac_bytes, p->n + 1);
    for (int32_t v = 0; v < p->n_values; v++) {
        const ac_order_value *x = &p->value[v];
        if (ac_rerun_may(b->k, v) || !(x->n_users || (x->at_start && x->at_end)))
            continue;
        change[x->at_start ? 0 : x->user[0]] += x->size;
        change[x->at_end ? p->n : x->user[x->n_users - 1] + 1] -= x->size;
    }
    for (int32_t s = 0; s < p->n; s++) {
        const ac_order_step *st = &p->step[s];
        ac_bytes over = 0;
        b->used[s] = (sum += change[s]) + st->scratch;
        for (int32_t i = 0; i < st->n_values; i++)
            b->used[s] += ac_rerun_may(b->k, st->value[i]) ? p->value[st->value[i]].size : 0;
        for (int32_t i = 0; i < st->n_over; i++)
            over = p->value[st->over[i]].size > over ? p->value[st->over[i]].size : over;
        b->used[s] -= over;
    }
}

/* The step of each part of the row with the most bytes, if all is kept. */
static int32_t list_places(const bound *b, int32_t *place)
{
    const ac_rerun *k = b->k;
    int32_t n = 0;
    for (int32_t i = 0; i < PLACES; i++) {
        const int32_t end = (int32_t)((int64_t)k->p->n * (i + 1) / PLACES);
        int32_t best = (int32_t)((int64_t)k->p->n * i / PLACES);
        for (int32_t s = best; s < end; s++)
            best = k->most[s] > k->most[best] ? s : best;
        if (best < end && k->most[best] > b->budget)
            place[n++] = best;
    }
    return n;
}

static bound open_bound(ac_rerun *k, ac_bytes budget)
{
    ac_region *r = ac_region_open(ac_region_heap(k->region));
    const int32_t n_nodes = NODES + 2 * k->p->n_values;
    bound b = {.k = k, .budget = budget, .f = {.region = r, .n = n_nodes}};
    b.f.first = AC_NEW_N(r, int32_t, n_nodes);
    b.f.level = AC_NEW_N(r, int32_t, n_nodes);
    b.f.at = AC_NEW_N(r, int32_t, n_nodes);
    b.f.queue = AC_NEW_N(r, int32_t, n_nodes);
    b.seen = AC_NEW_N(r, int32_t, k->p->n_values + 1);
    b.todo = AC_NEW_N(r, int32_t, k->p->n_values + 1);
    b.fate = AC_NEW_N(r, uint8_t, k->p->n_values + 1);
    look_at_steps(&b);
    ac_rerun_run(k, ac_rerun_keep(k), INT64_MAX);
    return b;
}

/* Solves the windows of a row again, exactly if possible; from[i] is the bound of the row from place[i] on. */
static int64_t refine(bound *b, const int32_t *place, const int32_t *next, const int64_t *from, int32_t n,
                      int64_t enough)
{
    int64_t sum = from[0];
    for (int32_t i = 0; i < n && sum < enough && sum < NEVER; i = next[i])
        if (next[i] > i + 1 || from[i] > from[next[i]]) {
            const int64_t was = from[i] - from[next[i]];
            const int64_t now = exact(b, place[i], place[next[i]], enough - (sum - was));
            sum += now > was ? now - was : 0;
        }
    return sum;
}

int64_t ac_rerun_bound(ac_rerun *k, ac_bytes budget, int64_t enough)
{
    bound b = open_bound(k, budget);
    int64_t from[PLACES + 1] = {0};
    int32_t place[PLACES + 1], next[PLACES + 1];
    const int32_t n = list_places(&b, place);
    place[n] = k->p->n;
    for (int32_t i = n - 1; i >= 0; i--) {
        from[i] = from[i + 1];
        next[i] = i + 1;
        for (int32_t j = i + 1; j <= n && from[i] < NEVER; j++) {
            const int64_t sum = window(&b, place[i], place[j]).least + from[j];
            if (sum > from[i]) {
                from[i] = sum;
                next[i] = j;
            }
        }
    }
    const int64_t sum = refine(&b, place, next, from, n, enough);
    ac_region_close(b.f.region);
    return sum < NEVER ? sum : INT64_MAX;
}

ac_bytes ac_rerun_least(ac_rerun *k)
{
    bound b = open_bound(k, 0);
    ac_bytes least = 0;
    for (int32_t t = 0; t < k->p->n; t++)
        least = b.used[t] > least ? b.used[t] : least;
    for (int32_t t = 0; t < k->p->n; t++)
        if (k->most[t] > least) { /* with all that is kept, so it can be more */
            const ac_bytes bytes = b.used[t] + (ac_bytes)cut_at(&b, t, k->p->n, 1, 0).bytes;
            least = bytes > least ? bytes : least;
        }
    ac_region_close(b.f.region);
    return least;
}
