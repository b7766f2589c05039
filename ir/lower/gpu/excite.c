/* excite.c - a mean and two products as one kernel; see excite.h.
 *
 *     for r .. cluster
 *       for t .. block    weights and biases to registers; sums of the thread's pixels, for four channels
 *       for t .. block    sums of some threads, then of all: means of the block's channels
 *       products          part sums of all hidden values, from the block's channels; given to all blocks
 *     for r .. cluster
 *       for t .. block    parts of the blocks are added: hidden values
 *       products          the block's results
 *
 * Order of the sums. Mean: the thread's pixels, `pixel lanes` apart; then threads k, k + groups, ..; then the groups;
 * times 1 / pixels. Hidden: a lane's channels, `lanes` apart, by fma; lanes ^ 16, 8, 4, 2, 1; blocks in order; bias.
 * Result: a lane's hidden values, lanes, bias. */
#include "ir/lower/gpu/excite.h"

#include "ir/lower/gpu/plan.h"

enum { THREADS = 512, RANKS = 8, WIDE = 4, DEEP = 8, MOST_LANES = 32, MOST_HELD = 64, MOST_VALUES = 8192 };

/* How the threads of a block share a product: `lanes` to a result, `each` results to a group of lanes, `steps` weights
 * of a result to a lane. */
typedef struct share {
    int64_t results, depth, lanes, each, steps, first; /* first: number of its first weight of a thread */
} share;

typedef struct job {
    ac_lower *L;
    const ac_excite *e;
    int64_t ranks, span, own; /* blocks of an image; channels and results of a block */
    int32_t wide;             /* channels of a load */
    int64_t columns, lines, groups;
    share in, out;
    bool held; /* weights are in registers before the first load of x */
    int32_t x, packed, w, bias, sum[2], part, some, mean, all, inbox, hidden;
    ac_x n, r, t;
} job;

static ac_x num(const job *j, int64_t v)
{
    return ac_lb_i32(&j->L->b, v);
}
static ac_x plus(const job *j, ac_x x, ac_x y)
{
    return ac_lb_add(&j->L->b, x, y);
}
static ac_x times(const job *j, ac_x x, int64_t by)
{
    return ac_lo_scaled(&j->L->b, x, by);
}
static ac_x rest(const job *j, ac_x x, int64_t by)
{
    return ac_lb_mod(&j->L->b, x, num(j, by));
}
static ac_x part_of(const job *j, ac_x x, int64_t by)
{
    return ac_lb_div(&j->L->b, x, num(j, by));
}

bool ac_gpu_excite_fits(const ac_lower *L, const ac_excite *e)
{
    const bool fixed = ac_tensor_is_const(e->w1) && ac_tensor_is_const(e->w2) &&
                       (!e->b1 || ac_tensor_is_const(e->b1)) && (!e->b2 || ac_tensor_is_const(e->b2));
    return L->target->isa == AC_ISA_CUDA && !L->exact && fixed && e->channels <= MOST_VALUES &&
           e->hidden <= MOST_VALUES && e->results <= MOST_VALUES && e->images > 0;
}

ac_x ac_excite_hidden(ac_lower *L, ac_x sum)
{
    const ac_attrs_excite *a = &L->node->attrs.excite;
    return a->swish ? ac_lo_swish(L, sum, 1) : a->relu ? ac_lo_act(L, sum, AC_ACT_RELU) : sum;
}

/* ------------------------------------------------------------------ the plan */

static share share_of(int64_t results, int64_t depth, int64_t first)
{
    share s = {.results = results, .depth = depth, .lanes = MOST_LANES, .first = first};
    while (s.lanes > 1 &&
           (s.lanes > depth || ac_gpu_over(results, THREADS / s.lanes) > ac_gpu_over(results * s.lanes, 2 * THREADS)))
        s.lanes /= 2;
    s.each = ac_gpu_over(results, THREADS / s.lanes);
    s.steps = ac_gpu_over(depth, s.lanes);
    return s;
}

static void choose(job *j)
{
    const ac_excite *e = j->e;
    const int64_t most = j->L->target->gpu >= 90 ? RANKS : 1;
    const int32_t align = ac_lo_align(j->L, e->x), bytes = e->x->narrowed ? 2 : 4;
    j->wide = e->channels % WIDE == 0 && align >= WIDE * bytes ? WIDE : 1;
    j->span = ac_align_up(ac_gpu_over(e->channels, most), j->wide);
    j->ranks = ac_gpu_over(e->channels, j->span);
    j->own = ac_gpu_over(e->results, j->ranks);
    j->columns = j->span / j->wide;
    j->columns = j->columns < THREADS ? j->columns : THREADS;
    j->lines = THREADS / j->columns;
    j->lines = j->lines < e->pixels ? j->lines : e->pixels;
    j->groups = 1;
    while (j->groups * j->groups < j->lines && (j->groups + 1) * j->span <= THREADS)
        j->groups++;
    j->in = share_of(e->hidden, j->span, 0);
    j->out = share_of(j->own, e->hidden, j->in.each * j->in.steps);
    j->held = j->out.first + j->out.each * j->out.steps <= MOST_HELD;
}

/* ------------------------------------------------------------------ weights */

/* Weight n of thread t of block r, both for `of` numbers of a thread. */
static ac_x number_at(const job *j, ac_lb *b, ac_x n, ac_x r, ac_x t)
{
    const ac_x thread = ac_lb_add(b, ac_lb_mul(b, r, ac_lb_i32(b, THREADS)), t);
    return ac_lb_add(b, ac_lb_mul(b, n, ac_lb_i32(b, j->ranks * THREADS)), thread);
}

/* Weights of a product as its threads read them: result `row0` and on, columns `col0` and on; zeros for others. */
static void pack(const job *j, ac_lower *P, int32_t to, ac_tensor *w, const share *s, int64_t row_span,
                 int64_t col_span)
{
    ac_lb *b = &P->b;
    const int64_t rows = w->dim[0], depth = w->dim[w->rank - 1];
    const int32_t from = ac_lo_operand(P, w);
    const ac_x i = ac_lb_for_n(b, "i", s->each), step = ac_lb_for_n(b, "step", s->steps),
               r = ac_lb_for_n(b, "r", j->ranks), t = ac_lb_for_n(b, "t", THREADS);
    const ac_x group = ac_lb_div(b, t, ac_lb_i32(b, s->lanes)), lane = ac_lb_mod(b, t, ac_lb_i32(b, s->lanes));
    const ac_x result = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, THREADS / s->lanes)), group),
               k = ac_lb_add(b, ac_lb_mul(b, step, ac_lb_i32(b, s->lanes)), lane);
    const ac_x row = ac_lb_add(b, ac_lb_mul(b, r, ac_lb_i32(b, row_span)), result),
               col = ac_lb_add(b, ac_lb_mul(b, r, ac_lb_i32(b, col_span)), k);
    ac_x live = ac_lb_and(b, ac_lb_lt(b, result, ac_lb_i32(b, s->results)), ac_lb_lt(b, k, ac_lb_i32(b, s->depth)));
    live =
        ac_lb_and(b, live, ac_lb_and(b, ac_lb_lt(b, row, ac_lb_i32(b, rows)), ac_lb_lt(b, col, ac_lb_i32(b, depth))));
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, ac_lb_min(b, row, ac_lb_i32(b, rows - 1)), ac_lb_i32(b, depth)),
                              ac_lb_min(b, col, ac_lb_i32(b, depth - 1)));
    const ac_x n = ac_lb_add(b, ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, s->steps)), step), ac_lb_i32(b, s->first));
    ac_lb_store(b, to, number_at(j, b, n, r, t), ac_lb_select(b, live, ac_lb_load(b, from, at, 1), ac_lb_f32(b, 0)));
    for (int k4 = 0; k4 < 4; k4++)
        ac_lb_end(b);
}

static void pack_weights(job *j)
{
    ac_lower P;
    const int64_t numbers = j->out.first + j->out.each * j->out.steps;
    const int32_t to = ac_lo_pack_open(j->L, &P, "w", AC_F32, numbers * j->ranks * THREADS);
    pack(j, &P, to, j->e->w1, &j->in, 0, j->span);
    pack(j, &P, to, j->e->w2, &j->out, j->own, 0);
    j->packed = ac_lo_pack_close(j->L, &P);
}

/* ------------------------------------------------------------------ phases */

static void open_cluster(job *j)
{
    j->r = j->ranks > 1 ? ac_lb_for(&j->L->b, "r", num(j, 0), num(j, j->ranks), 1, AC_MARK_CLUSTER) : num(j, 0);
}
static void close_cluster(const job *j)
{
    if (j->ranks > 1)
        ac_lb_end(&j->L->b);
}
static void open_block(job *j)
{
    j->t = ac_lb_for(&j->L->b, "t", num(j, 0), num(j, THREADS), 1, AC_MARK_BLOCK);
}
static void close_block(const job *j)
{
    ac_lb_end(&j->L->b);
}
static ac_x mine(const job *j, int64_t i)
{
    return plus(j, num(j, i * THREADS), j->t);
}

/* Items of a phase: item `round` * THREADS + t; opens a branch for those that exist. */
static ac_x open_item(const job *j, int64_t round, int64_t items)
{
    ac_lb *b = &j->L->b;
    const ac_x item = mine(j, round);
    ac_lb_if(b, (round + 1) * THREADS > items ? ac_lb_lt(b, item, num(j, items)) : ac_lb_int(b, AC_BOOL, 1));
    return item;
}
static void close_item(const job *j)
{
    ac_lb_end(&j->L->b);
}

/* ------------------------------------------------------------------ means */

/* Adds x of the thread's line at steps k .. k + n - 1, all loads first. */
static void add_pixels(const job *j, ac_x acc, ac_x line, ac_x k, int32_t n, ac_x channel, bool all)
{
    ac_lb *b = &j->L->b;
    const ac_excite *e = j->e;
    ac_x v[DEEP], in[DEEP] = {0};
    for (int32_t i = 0; i < n; i++) {
        const ac_x p = plus(j, times(j, plus(j, k, num(j, i)), j->lines), line);
        const ac_x near = all ? p : ac_lb_min(b, p, num(j, e->pixels - 1));
        in[i] = all ? 0 : ac_lb_lt(b, p, num(j, e->pixels));
        const ac_x pixel = plus(j, times(j, j->n, e->pixels), near);
        v[i] = ac_lb_load_flags(b, j->x, plus(j, times(j, pixel, e->channels), channel), j->wide,
                                j->wide > 1 ? AC_F_ALIGNED : 0);
    }
    for (int32_t i = 0; i < n; i++)
        ac_lb_set(b, acc,
                  plus(j, ac_lb_get(b, acc), in[i] ? ac_lb_select(b, in[i], v[i], ac_lb_like(b, v[i], 0)) : v[i]));
}

/* Sums of a thread's pixels, for `wide` channels from `column` on. */
static void add_line(const job *j, ac_x line, ac_x column)
{
    ac_lb *b = &j->L->b;
    const ac_excite *e = j->e;
    const ac_x channel = plus(j, times(j, j->r, j->span), column);
    const bool inside = j->span * j->ranks == e->channels;
    const ac_x near = inside ? channel : ac_lb_min(b, channel, num(j, e->channels - j->wide));
    const ac_x acc = ac_lb_var(b, "acc", ac_lb_splat(b, ac_lb_f32(b, 0), j->wide));
    const int64_t sure = e->pixels / j->lines, whole = sure / DEEP * DEEP;
    const ac_x k = ac_lb_for(b, "k", num(j, 0), num(j, whole), DEEP, AC_MARK_SERIAL);
    add_pixels(j, acc, line, k, DEEP, near, true);
    ac_lb_end(b);
    if (sure > whole)
        add_pixels(j, acc, line, num(j, whole), (int32_t)(sure - whole), near, true);
    if (e->pixels % j->lines)
        add_pixels(j, acc, line, num(j, sure), 1, near, false);
    ac_x v = ac_lb_get(b, acc);
    if (!inside)
        v = ac_lb_select(b, ac_lb_lt(b, channel, num(j, e->channels)), v, ac_lb_like(b, v, 0));
    ac_lb_store(b, j->part, plus(j, times(j, line, j->span), column), v);
}

/* Rounds of threads that have all hidden values. */
static int64_t hidden_rounds(const job *j)
{
    return ac_gpu_over(j->e->hidden, THREADS);
}

/* The thread's result of its i-th group, in all of an image; the last one after the last. */
static ac_x near_result(const job *j, int64_t i)
{
    const ac_x own = plus(j, part_of(j, j->t, j->out.lanes), num(j, i * (THREADS / j->out.lanes)));
    return ac_lb_min(&j->L->b, plus(j, times(j, j->r, j->own), own), num(j, j->e->results - 1));
}

/* The biases that the thread will add, so that no later phase waits for them. */
static void load_biases(const job *j)
{
    ac_lb *b = &j->L->b;
    for (int64_t i = 0; i < hidden_rounds(j) && j->e->b1; i++) {
        const ac_x h = ac_lb_min(b, mine(j, i), num(j, j->e->hidden - 1));
        ac_lb_store(b, j->bias, number_at(j, b, num(j, i), j->r, j->t), ac_lo_load_at(j->L, j->e->b1, h, true, 1));
    }
    for (int64_t i = 0; i < j->out.each && j->e->b2; i++)
        ac_lb_store(b, j->bias, number_at(j, b, num(j, hidden_rounds(j) + i), j->r, j->t),
                    ac_lo_load_at(j->L, j->e->b2, near_result(j, i), true, 1));
}

static ac_x with_bias(const job *j, const ac_tensor *bias, ac_x sum, int64_t i)
{
    ac_lb *b = &j->L->b;
    return bias ? plus(j, sum, ac_lb_load(b, j->bias, number_at(j, b, num(j, i), j->r, j->t), 1)) : sum;
}

static void sum_pixels(job *j)
{
    ac_lb *b = &j->L->b;
    open_block(j);
    const int64_t numbers = j->out.first + j->out.each * j->out.steps;
    for (int64_t i = 0; i < numbers && j->held; i++) {
        const ac_x at = number_at(j, b, num(j, i), j->r, j->t);
        ac_lb_store(b, j->w, at, ac_lb_load(b, j->packed, at, 1));
    }
    load_biases(j);
    const ac_x line = part_of(j, j->t, j->columns), column = rest(j, j->t, j->columns);
    ac_lb_if(b, j->lines * j->columns < THREADS ? ac_lb_lt(b, line, num(j, j->lines)) : ac_lb_int(b, AC_BOOL, 1));
    for (int64_t from = 0; from * j->wide < j->span; from += j->columns) {
        const ac_x at = plus(j, column, num(j, from));
        const bool all = (from + j->columns) * j->wide <= j->span;
        ac_lb_if(b, all ? ac_lb_int(b, AC_BOOL, 1) : ac_lb_lt(b, at, num(j, j->span / j->wide)));
        add_line(j, line, times(j, at, j->wide));
        ac_lb_end(b);
    }
    ac_lb_end(b);
    close_block(j);
}

/* to[group, c] = sum of from[line, c] of lines group, group + groups, ..; last: times 1 / pixels. */
static void add_lines(job *j, int32_t from, int64_t lines, int32_t to, int64_t groups, bool last)
{
    ac_lb *b = &j->L->b;
    open_block(j);
    for (int64_t round = 0; round * THREADS < groups * j->span; round++) {
        const ac_x item = open_item(j, round, groups * j->span), group = part_of(j, item, j->span);
        ac_x sum = ac_lb_load(b, from, item, 1);
        for (int64_t k = groups; k < lines; k += groups) {
            const ac_x at = plus(j, item, num(j, k * j->span));
            const bool all = k + groups <= lines;
            const ac_x more = ac_lb_load(b, from, all ? at : ac_lb_min(b, at, num(j, lines * j->span - 1)), 1);
            const ac_x in = all ? 0 : ac_lb_lt(b, group, num(j, lines - k));
            sum = plus(j, sum, in ? ac_lb_select(b, in, more, ac_lb_f32(b, 0)) : more);
        }
        ac_lb_store(b, to, item, last ? ac_lb_mul(b, sum, ac_lb_f32(b, 1.0 / (double)j->e->pixels)) : sum);
        close_item(j);
    }
    close_block(j);
}

/* ------------------------------------------------------------------ products */

/* Part sums of the thread, then of its lanes: the sums are in the buffer returned. v: the vector, in shared memory. */
static int32_t multiply(job *j, const share *s, int32_t v)
{
    ac_lb *b = &j->L->b;
    open_block(j);
    const ac_x lane = rest(j, j->t, s->lanes);
    for (int64_t i = 0; i < s->each; i++) {
        ac_x sum = ac_lb_f32(b, 0);
        for (int64_t step = 0; step < s->steps; step++) {
            const ac_x k = plus(j, lane, num(j, step * s->lanes));
            const ac_x near = (step + 1) * s->lanes <= s->depth ? k : ac_lb_min(b, k, num(j, s->depth - 1));
            const ac_x at = number_at(j, b, num(j, s->first + i * s->steps + step), j->r, j->t);
            sum = ac_lo_madd(j->L, ac_lb_load(b, v, near, 1), ac_lb_load(b, j->held ? j->w : j->packed, at, 1), sum);
        }
        ac_lb_store(b, j->sum[0], mine(j, i), sum);
    }
    close_block(j);
    int32_t in = 0;
    for (int64_t mask = s->lanes / 2; mask; mask /= 2, in = 1 - in) {
        open_block(j);
        for (int64_t i = 0; i < s->each; i++) {
            const ac_x other = plus(j, num(j, i * THREADS), ac_lb_xor(b, j->t, num(j, mask)));
            ac_lb_store(b, j->sum[1 - in], mine(j, i),
                        plus(j, ac_lb_load(b, j->sum[in], mine(j, i), 1), ac_lb_load(b, j->sum[in], other, 1)));
        }
        close_block(j);
    }
    return j->sum[in];
}

/* Opens a branch of the first lane of each result of the thread's i-th group; returns the result. */
static ac_x open_result(const job *j, const share *s, int64_t i)
{
    ac_lb *b = &j->L->b;
    const ac_x result = plus(j, part_of(j, j->t, s->lanes), num(j, i * (THREADS / s->lanes)));
    const ac_x first = ac_lb_eq(b, rest(j, j->t, s->lanes), num(j, 0));
    ac_lb_if(b, ac_lb_and(b, first, ac_lb_lt(b, result, num(j, s->results))));
    return result;
}

/* All blocks get the part sums of this one. */
static void give(job *j, int32_t sums)
{
    ac_lb *b = &j->L->b;
    const int64_t hidden = j->e->hidden;
    open_block(j);
    for (int64_t i = 0; i < j->in.each; i++) {
        const ac_x h = open_result(j, &j->in, i);
        ac_lb_store(b, j->all, h, ac_lb_load(b, sums, mine(j, i), 1));
        ac_lb_end(b);
    }
    close_block(j);
    open_block(j);
    for (int64_t round = 0; round * THREADS < j->ranks * hidden; round++) {
        const ac_x item = open_item(j, round, j->ranks * hidden), to = part_of(j, item, hidden),
                   h = rest(j, item, hidden);
        const ac_x at = plus(j, times(j, j->r, hidden), h);
        ac_lb_store(b, j->inbox, plus(j, times(j, to, j->ranks * hidden), at), ac_lb_load(b, j->all, h, 1));
        close_item(j);
    }
    close_block(j);
}

static void add_parts(job *j)
{
    ac_lb *b = &j->L->b;
    const int64_t hidden = j->e->hidden;
    open_block(j);
    for (int64_t round = 0; round * THREADS < hidden; round++) {
        const ac_x h = open_item(j, round, hidden), own = times(j, j->r, j->ranks * hidden);
        ac_x sum = 0;
        for (int64_t k = 0; k < j->ranks; k++) {
            const ac_x given = ac_lb_load(b, j->inbox, plus(j, own, plus(j, h, num(j, k * hidden))), 1);
            sum = sum ? plus(j, sum, given) : given;
        }
        ac_lb_store(b, j->hidden, h, ac_excite_hidden(j->L, with_bias(j, j->e->b1, sum, round)));
        close_item(j);
    }
    close_block(j);
}

static void put_results(job *j, int32_t sums)
{
    ac_lb *b = &j->L->b;
    open_block(j);
    for (int64_t i = 0; i < j->out.each; i++) {
        const ac_x o = plus(j, open_result(j, &j->out, i), times(j, j->r, j->own));
        ac_lb_if(b,
                 j->own * j->ranks > j->e->results ? ac_lb_lt(b, o, num(j, j->e->results)) : ac_lb_int(b, AC_BOOL, 1));
        const ac_x idx[4] = {j->n, num(j, 0), num(j, 0), o}, sum = ac_lb_load(b, sums, mine(j, i), 1);
        ac_lo_result(j->L, with_bias(j, j->e->b2, sum, hidden_rounds(j) + i), idx, 1);
        ac_lb_end(b);
        ac_lb_end(b);
    }
    close_block(j);
}

/* ------------------------------------------------------------------ all of it */

static void open_buffers(job *j)
{
    ac_lower *L = j->L;
    const int64_t numbers = j->out.first + j->out.each * j->out.steps, all = j->ranks * THREADS;
    const int64_t each = j->in.each > j->out.each ? j->in.each : j->out.each;
    j->x = ac_lo_operand(L, j->e->x);
    pack_weights(j);
    if (j->held)
        j->w = ac_lo_gpu_local(L, "w", AC_F32, numbers * all, AC_WHERE_THREAD);
    if (j->e->b1 || j->e->b2)
        j->bias = ac_lo_gpu_local(L, "bias", AC_F32, (hidden_rounds(j) + j->out.each) * all, AC_WHERE_THREAD);
    j->sum[0] = ac_lo_gpu_local(L, "sum", AC_F32, each * THREADS, AC_WHERE_THREAD);
    j->sum[1] = ac_lo_gpu_local(L, "half", AC_F32, each * THREADS, AC_WHERE_THREAD);
    j->part = ac_lo_gpu_local(L, "part", AC_F32, j->lines * j->span, AC_WHERE_SHARED);
    j->some = ac_lo_gpu_local(L, "some", AC_F32, j->groups * j->span, AC_WHERE_SHARED);
    j->mean = ac_lo_gpu_local(L, "mean", AC_F32, j->span, AC_WHERE_SHARED);
    j->all = ac_lo_gpu_local(L, "all", AC_F32, j->e->hidden, AC_WHERE_SHARED);
    j->hidden = ac_lo_gpu_local(L, "hidden", AC_F32, j->e->hidden, AC_WHERE_SHARED);
    j->inbox = ac_lo_gpu_local(L, "inbox", AC_F32, j->ranks * j->ranks * j->e->hidden,
                               j->ranks > 1 ? AC_WHERE_SPREAD : AC_WHERE_SHARED);
}

int ac_gpu_excite(ac_lower *L, const ac_excite *e)
{
    job j = {.L = L, .e = e};
    choose(&j);
    open_buffers(&j);
    j.n = ac_lb_for(&L->b, "g", num(&j, 0), num(&j, e->images), 1, AC_MARK_GRID);
    open_cluster(&j);
    sum_pixels(&j);
    if (j.groups > 1)
        add_lines(&j, j.part, j.lines, j.some, j.groups, false);
    add_lines(&j, j.groups > 1 ? j.some : j.part, j.groups > 1 ? j.groups : j.lines, j.mean, 1, true);
    give(&j, multiply(&j, &j.in, j.mean));
    close_cluster(&j);
    open_cluster(&j);
    add_parts(&j);
    put_results(&j, multiply(&j, &j.out, j.hidden));
    close_cluster(&j);
    ac_lb_end(&L->b);
    return AC_OK;
}
