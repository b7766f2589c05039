/* cells.c - recurrent layers on a GPU: one kernel for all steps.
 *
 * Units are spread over the blocks of a cluster, or one block has all of them if their weights fit there. The matrices
 * stay in registers: thread t has a part of the rows of one or more results for all steps. Each block has a copy of the
 * rows that products read (states, twice: before and after the step), and the blocks push new values into all copies.
 *
 *     for r .. cluster   weights to registers, first states
 *     for s .. steps
 *       for r .. cluster                        for each phase of a step
 *         for t .. block   part sums            lanes of a result take vectors of 4 in turn
 *         ..               halvings             over the lanes of a result
 *         for t .. block   sums -> shared
 *         for t .. block   values of a unit     one thread for each unit and copy: thread d * units + j stores to the
 *                                               copy of block d
 */
#include "ir/lower/gpu/cells_parts.h"
#include "ir/lower/gpu/plan.h"

static void share_product(cells *k, const ac_cell_product *p, ac_cells_share *s)
{
    *s = (ac_cells_share){.results = k->units * p->groups, .lanes = MOST_LANES};
    while (s->lanes > 1 && (s->results * s->lanes > k->threads || s->lanes * WIDE > p->depth))
        s->lanes /= 2;
    s->each = ac_gpu_over(s->results * s->lanes, k->threads);
    s->steps = ac_gpu_over(p->depth, s->lanes * WIDE);
    s->first = k->held;
    s->slot = k->slots;
    s->sum = k->sums;
    k->held += s->each * s->steps * WIDE;
    k->slots += s->each;
    k->sums += s->results;
}

static void share_all(cells *k, int64_t ranks, int64_t threads)
{
    k->ranks = ranks;
    k->threads = threads;
    k->units = ac_gpu_over(k->c->units, ranks);
    k->held = k->slots = k->sums = 0;
    for (int32_t i = 0; i < k->c->product.n; i++)
        share_product(k, &k->c->product.item[i], &k->share[i]);
}

/* The fastest of those whose threads hold the weights: multiply-adds of all threads take turns, and blocks of a cluster
 * wait for each other. */
static void choose(cells *k)
{
    enum { RANKS = 8, FEW = 256, MANY = 512, LANES = 128, WAIT = 700 };
    static const struct {
        int64_t ranks, threads, held;
    } ROWS[] = {{1, FEW, 150}, {1, MANY, 90}, {RANKS, FEW, 150}, {RANKS, MANY, 90}};
    k->share = AC_NEW_N(k->L->region, ac_cells_share, k->c->product.n + 1);
    int32_t best = k->L->target->gpu >= 90 ? 3 : 1;
    int64_t least = INT64_MAX;
    for (int32_t i = 0; i < 4; i++) {
        share_all(k, ROWS[i].ranks, ROWS[i].threads);
        const int64_t cost = k->held * k->threads / LANES + (k->ranks > 1 ? WAIT : 0);
        if (k->held > ROWS[i].held || cost >= least || (k->ranks > 1 && k->L->target->gpu < 90))
            continue;
        least = cost;
        best = i;
    }
    share_all(k, ROWS[best].ranks, ROWS[best].threads);
    k->items = k->ranks * k->c->batch * k->units;
    k->rounds = ac_gpu_over(k->items, k->threads);
}

/* Rows that products read have a place in each block: those of states two. */
static void place_rows(cells *k)
{
    const ac_cells *c = k->c;
    k->row = AC_NEW_N(k->L->region, int64_t, c->body->tensor.n + 1);
    k->own = AC_NEW_N(k->L->region, int64_t, c->body->tensor.n + 1);
    for (int32_t i = 0; i < c->product.n; i++) {
        const int64_t pitch = ac_align_up(c->product.item[i].depth, WIDE * MOST_LANES);
        k->pitch = pitch > k->pitch ? pitch : k->pitch;
    }
    for (int32_t i = 0; i < c->product.n; i++) {
        const ac_cell_product *p = &c->product.item[i];
        if (k->row[p->x->id])
            continue;
        k->row[p->x->id] = 1 + k->part;
        k->part += (p->state >= 0 ? 2 : 1) * c->batch * k->pitch;
    }
    for (int32_t i = 0; i < c->scan.states; i++)
        if (!k->row[c->state[i]->id])
            k->own[c->state[i]->id] = 1 + k->kept++;
    k->kept_states = k->kept;
    for (int32_t i = 0; i < c->product.n; i++) /* results that a later phase uses again */
        if (c->product.item[i].phase < c->phases - 1) {
            k->own[c->product.item[i].node->out[0]->id] = 1 + k->kept;
            k->kept += c->product.item[i].groups;
        }
    for (int32_t i = 0; i < c->body->tensor.n; i++) {
        const int64_t of = ac_tensor_count(c->body->tensor.item[i]) / (c->batch * c->units);
        k->groups = of > k->groups ? of : k->groups;
    }
}

/* ------------------------------------------------------------------ before the first step */

static ac_x first_value(cells *k, int32_t state, ac_x at)
{
    return ac_lo_load_at(k->L, k->n->in[state], at, false, 1);
}

/* Item `round` of the thread, of `items` that the threads of a block share; opens a branch for those that exist. */
static ac_x open_item(cells *k, int64_t round, int64_t items)
{
    const ac_x item = mine(k, round);
    ac_lb_if(&k->L->b, (round + 1) * k->threads > items ? ac_lb_lt(&k->L->b, item, num(k, items))
                                                        : ac_lb_int(&k->L->b, AC_BOOL, 1));
    return item;
}

/* Rows that products read are zeros where they are longer than the states. */
static void clear_rows(cells *k)
{
    ac_lb *b = &k->L->b;
    for (int64_t round = 0; round * k->threads < k->part; round++) {
        ac_lb_store(b, k->rows, in_part(k, k->r, open_item(k, round, k->part)), ac_lb_f32(b, 0));
        ac_lb_end(b);
    }
}

static void copy_state(cells *k, int32_t s)
{
    ac_lb *b = &k->L->b;
    const int64_t n = k->c->batch * k->c->units;
    for (int64_t round = 0; round * k->threads < n; round++) {
        const ac_x e = open_item(k, round, n);
        const ac_x at = in_row(k, k->c->state[s], true, num(k, 0), ac_lb_div(b, e, num(k, k->c->units)),
                               ac_lb_mod(b, e, num(k, k->c->units)));
        ac_lb_store(b, k->rows, in_part(k, k->r, at), first_value(k, s, e));
        ac_lb_end(b);
    }
}

static void begin(cells *k)
{
    ac_lb *b = &k->L->b;
    const ac_cells *c = k->c;
    open_cluster(k);
    open_block(k);
    const ac_x n = ac_lb_for(b, "n", num(k, 0), num(k, k->held), 1, AC_MARK_UNROLL);
    const ac_x of = lasting(k, n);
    ac_lb_store(b, k->w, of, ac_lb_load(b, k->weights, of, 1));
    ac_lb_end(b);
    clear_rows(k);
    close_block(k);
    open_block(k);
    for (int32_t s = 0; s < c->scan.states; s++) {
        const ac_tensor *t = c->state[s];
        if (k->row[t->id]) {
            copy_state(k, s);
            continue;
        }
        for (int64_t round = 0; round < k->rounds; round++) {
            ac_cells_item(k, round);
            ac_lb_store(b, k->state, kept_at(k, t, 0, round),
                        first_value(k, s, plus(k, times(k, k->b, c->units), k->j)));
        }
    }
    for (int64_t n_kept = k->kept_states * k->rounds; n_kept < k->kept * k->rounds;
         n_kept++) /* results for later phases */
        ac_lb_store(b, k->state, lasting(k, num(k, n_kept)), ac_lb_f32(b, 0));
    close_block(k);
    close_cluster(k);
}

static void make_buffers(cells *k)
{
    ac_lower *L = k->L;
    const int64_t all = k->ranks * k->threads;
    const ac_where spread = k->ranks > 1 ? AC_WHERE_SPREAD : AC_WHERE_SHARED;
    ac_cells_pack(k);
    k->w = ac_lo_gpu_local(L, "w", AC_F32, k->held * all, AC_WHERE_THREAD);
    k->sum[0] = ac_lo_gpu_local(L, "sum", AC_F32, k->slots * k->threads, AC_WHERE_THREAD);
    k->sum[1] = ac_lo_gpu_local(L, "half", AC_F32, k->slots * k->threads, AC_WHERE_THREAD);
    if (k->n_loaded)
        k->seq = ac_lo_gpu_local(L, "x", AC_F32, k->n_loaded * k->rounds * k->threads, AC_WHERE_THREAD);
    if (k->kept)
        k->state = ac_lo_gpu_local(L, "kept", AC_F32, k->kept * k->rounds * all, AC_WHERE_THREAD);
    k->all = ac_lo_gpu_local(L, "all", AC_F32, k->sums * k->c->batch, AC_WHERE_SHARED);
    k->rows = ac_lo_gpu_local(L, "rows", AC_F32, k->part * k->ranks, spread);
}

int ac_gpu_cells(ac_lower *L, const ac_cells *c)
{
    ac_lb *b = &L->b;
    cells k = {.L = L, .c = c, .n = L->node};
    choose(&k);
    place_rows(&k);
    const size_t n = (size_t)(c->body->tensor.n + 1) * (size_t)k.groups;
    k.value = AC_NEW_N(L->region, ac_x, n);
    k.loaded = AC_NEW_N(L->region, int32_t, n);
    ac_cells_number_inputs(&k);
    make_buffers(&k);
    k.g = ac_lb_for(b, "g", num(&k, 0), num(&k, 1), 1, AC_MARK_GRID);
    begin(&k);
    k.s = ac_lb_for_n(b, "s", c->scan.steps);
    for (k.phase = 0; k.phase < c->phases; k.phase++) {
        open_cluster(&k);
        k.now = ac_lb_mod(b, k.s, num(&k, 2));
        ac_cells_products(&k);
        if (ac_cells_values(&k) != AC_OK)
            return AC_FAIL;
        close_cluster(&k);
    }
    ac_lb_end(b);
    ac_lb_end(b);
    L->out->macs = c->batch * c->weights * c->scan.steps;
    return AC_OK;
}
