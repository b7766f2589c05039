/* excite_parts.c - a mean and two products by a cluster of blocks; see excite_parts.h. */
#include "ir/lower/gpu/excite_parts.h"

typedef ac_excite_job job;
typedef ac_excite_share share;

enum { QUAD = 4, WIDE = 4, DEEP = 8, MOST_LANES = 32, MOST_RANKS = 8, MOST_HELD = 112 };

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

/* ------------------------------------------------------------------ the plan */

static share share_of(const job *j, int64_t results, int64_t depth, int64_t first, int64_t least)
{
    share s = {.results = results, .depth = depth, .lanes = MOST_LANES, .first = first};
    const int64_t n = j->threads;
    while (s.lanes > least &&
           (s.lanes > depth || ac_gpu_over(results, n / s.lanes) > ac_gpu_over(results * s.lanes, 2 * n)))
        s.lanes /= 2;
    s.each = ac_gpu_over(results, n / s.lanes);
    s.steps = ac_gpu_over(depth, s.lanes);
    return s;
}

/* Weights of a thread, in whole quads. */
static int64_t numbers_of(const job *j)
{
    return ac_align_up(j->out.first + j->out.each * j->out.steps, QUAD);
}

static void choose(job *j)
{
    const ac_excite *e = j->e;
    const int32_t align = ac_lo_align(j->L, e->x), bytes = e->x->narrowed ? 2 : 4;
    j->wide = e->channels % WIDE == 0 && j->span % WIDE == 0 && align >= WIDE * bytes ? WIDE : 1;
    j->columns = j->span / j->wide;
    j->columns = j->columns < j->threads ? j->columns : j->threads;
    j->lines = j->threads / j->columns;
    j->lines = j->lines < e->pixels ? j->lines : e->pixels;
    j->groups = 1;
    while (j->groups * j->groups < j->lines && (j->groups + 1) * j->span <= j->threads)
        j->groups++;
    j->in = share_of(j, e->hidden, j->span, 0, j->ranks > 1 ? MOST_RANKS : 1); /* a lane for each block */
    j->out = share_of(j, j->own, e->hidden, j->in.each * j->in.steps, 1);
    j->held = numbers_of(j) <= MOST_HELD;
}

/* ------------------------------------------------------------------ weights */

/* Weight n of thread t of block r, both for `of` numbers of a thread. */
static ac_x number_at(const job *j, ac_lb *b, ac_x n, ac_x r, ac_x t)
{
    const ac_x thread = ac_lb_add(b, ac_lb_mul(b, r, ac_lb_i32(b, j->threads)), t);
    return ac_lb_add(b, ac_lb_mul(b, n, ac_lb_i32(b, j->ranks * j->threads)), thread);
}

/* ... the same, packed: four numbers of a thread are neighbours. */
static ac_x packed_at(const job *j, ac_lb *b, ac_x n, ac_x r, ac_x t)
{
    const ac_x quad = ac_lb_i32(b, QUAD), quads = number_at(j, b, ac_lb_div(b, n, quad), r, t);
    return ac_lb_add(b, ac_lb_mul(b, quads, quad), ac_lb_mod(b, n, quad));
}

/* Weights of a product as its threads read them: result `row0` and on, columns `col0` and on; zeros for others. */
static void pack(const job *j, ac_lower *P, int32_t to, ac_tensor *w, const share *s, int64_t row_span,
                 int64_t col_span)
{
    ac_lb *b = &P->b;
    const int64_t rows = w->dim[0], depth = w->dim[w->rank - 1];
    const int32_t from = ac_lo_operand(P, w);
    const ac_x i = ac_lb_for_n(b, "i", s->each), step = ac_lb_for_n(b, "step", s->steps),
               r = ac_lb_for_n(b, "r", j->ranks), t = ac_lb_for_n(b, "t", j->threads);
    const ac_x group = ac_lb_div(b, t, ac_lb_i32(b, s->lanes)), lane = ac_lb_mod(b, t, ac_lb_i32(b, s->lanes));
    const ac_x result = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, j->threads / s->lanes)), group),
               k = ac_lb_add(b, ac_lb_mul(b, step, ac_lb_i32(b, s->lanes)), lane);
    const ac_x row = ac_lb_add(b, ac_lb_mul(b, r, ac_lb_i32(b, row_span)), result),
               col = ac_lb_add(b, ac_lb_mul(b, r, ac_lb_i32(b, col_span)), k);
    ac_x live = ac_lb_and(b, ac_lb_lt(b, result, ac_lb_i32(b, s->results)), ac_lb_lt(b, k, ac_lb_i32(b, s->depth)));
    live =
        ac_lb_and(b, live, ac_lb_and(b, ac_lb_lt(b, row, ac_lb_i32(b, rows)), ac_lb_lt(b, col, ac_lb_i32(b, depth))));
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, ac_lb_min(b, row, ac_lb_i32(b, rows - 1)), ac_lb_i32(b, depth)),
                              ac_lb_min(b, col, ac_lb_i32(b, depth - 1)));
    const ac_x n = ac_lb_add(b, ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, s->steps)), step), ac_lb_i32(b, s->first));
    ac_lb_store(b, to, packed_at(j, b, n, r, t), ac_lb_select(b, live, ac_lb_load(b, from, at, 1), ac_lb_f32(b, 0)));
    for (int k4 = 0; k4 < 4; k4++)
        ac_lb_end(b);
}

static void pack_weights(job *j)
{
    ac_lower P;
    const int32_t to = ac_lo_pack_open(j->L, &P, "w", AC_F32, numbers_of(j) * j->ranks * j->threads);
    pack(j, &P, to, j->e->w1, &j->in, 0, j->span);
    pack(j, &P, to, j->e->w2, &j->out, j->own, 0);
    j->packed = ac_lo_pack_close(j->L, &P);
}

/* ------------------------------------------------------------------ phases */

static void open_block(job *j)
{
    j->t = ac_lb_for(&j->L->b, "t", num(j, 0), num(j, j->threads), 1, AC_MARK_BLOCK);
}
static void close_block(const job *j)
{
    ac_lb_end(&j->L->b);
}
static ac_x mine(const job *j, int64_t i)
{
    return plus(j, num(j, i * j->threads), j->t);
}

/* Items of a phase: item `round` * j->threads + t; opens a branch for those that exist. */
static ac_x open_item(const job *j, int64_t round, int64_t items)
{
    ac_lb *b = &j->L->b;
    const ac_x item = mine(j, round);
    ac_lb_if(b, (round + 1) * j->threads > items ? ac_lb_lt(b, item, num(j, items)) : ac_lb_int(b, AC_BOOL, 1));
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
    return ac_gpu_over(j->e->hidden, j->threads);
}

/* The thread's result of its i-th group, in all of an image; the last one after the last. */
static ac_x near_result(const job *j, int64_t i)
{
    const ac_x own = plus(j, part_of(j, j->t, j->out.lanes), num(j, i * (j->threads / j->out.lanes)));
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
    for (int64_t i = 0; i < numbers_of(j) && j->held; i += QUAD) {
        const ac_x v = ac_lb_load_flags(b, j->packed, packed_at(j, b, num(j, i), j->r, j->t), QUAD, AC_F_ALIGNED);
        for (int32_t l = 0; l < QUAD; l++)
            ac_lb_store(b, j->w, number_at(j, b, num(j, i + l), j->r, j->t), ac_lb_lane(b, v, l));
    }
    load_biases(j);
    const ac_x line = part_of(j, j->t, j->columns), column = rest(j, j->t, j->columns);
    ac_lb_if(b, j->lines * j->columns < j->threads ? ac_lb_lt(b, line, num(j, j->lines)) : ac_lb_int(b, AC_BOOL, 1));
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
    for (int64_t round = 0; round * j->threads < groups * j->span; round++) {
        const ac_x item = open_item(j, round, groups * j->span), group = part_of(j, item, j->span);
        ac_x sum = ac_lb_load(b, from, item, 1);
        for (int64_t k = groups; k < lines; k += groups) {
            const ac_x at = plus(j, item, num(j, k * j->span));
            const bool all = k + groups <= lines;
            const ac_x more = ac_lb_load(b, from, all ? at : ac_lb_min(b, at, num(j, lines * j->span - 1)), 1);
            const ac_x in = all ? 0 : ac_lb_lt(b, group, num(j, lines - k));
            sum = plus(j, sum, in ? ac_lb_select(b, in, more, ac_lb_f32(b, 0)) : more);
        }
        ac_lb_store(b, to, item, last ? ac_lb_mul(b, sum, ac_lb_f32(b, 1.0 / (double)j->e->whole)) : sum);
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
            const ac_x n = num(j, s->first + i * s->steps + step);
            const ac_x w = j->held ? ac_lb_load(b, j->w, number_at(j, b, n, j->r, j->t), 1)
                                   : ac_lb_load(b, j->packed, packed_at(j, b, n, j->r, j->t), 1);
            sum = ac_lo_madd(j->L, ac_lb_load(b, v, near, 1), w, sum);
        }
        ac_lb_store(b, j->sum[0], mine(j, i), sum);
    }
    close_block(j);
    int32_t in = 0;
    for (int64_t mask = s->lanes / 2; mask; mask /= 2, in = 1 - in) {
        open_block(j);
        for (int64_t i = 0; i < s->each; i++) {
            const ac_x other = plus(j, num(j, i * j->threads), ac_lb_xor(b, j->t, num(j, mask)));
            ac_lb_store(b, j->sum[1 - in], mine(j, i),
                        plus(j, ac_lb_load(b, j->sum[in], mine(j, i), 1), ac_lb_load(b, j->sum[in], other, 1)));
        }
        close_block(j);
    }
    return j->sum[in];
}

/* The result of the thread's i-th group, of the block. */
static ac_x result_of(const job *j, const share *s, int64_t i)
{
    return plus(j, part_of(j, j->t, s->lanes), num(j, i * (j->threads / s->lanes)));
}

/* All blocks get the part sums of this one: a lane of a sum gives it to one of them. */
static void give(job *j, int32_t sums)
{
    ac_lb *b = &j->L->b;
    const int64_t hidden = j->e->hidden;
    open_block(j);
    for (int64_t i = 0; i < j->in.each; i++) {
        const ac_x h = result_of(j, &j->in, i), sum = ac_lb_load(b, sums, mine(j, i), 1);
        const ac_x to = rest(j, j->t, j->in.lanes), at = plus(j, times(j, j->r, hidden), h);
        ac_lb_if(b, ac_lb_and(b, ac_lb_lt(b, to, num(j, j->ranks)), ac_lb_lt(b, h, num(j, hidden))));
        ac_lb_store(b, j->inbox, plus(j, times(j, to, j->ranks * hidden), at), sum);
        ac_lb_end(b);
    }
    close_block(j);
}

ac_x ac_excite_hidden(ac_lower *L, const ac_excite *e, ac_x sum)
{
    return e->swish ? ac_lo_swish(L, sum, 1) : e->relu ? ac_lo_act(L, sum, AC_ACT_RELU) : sum;
}

static void add_parts(job *j)
{
    ac_lb *b = &j->L->b;
    const int64_t hidden = j->e->hidden;
    open_block(j);
    for (int64_t round = 0; round * j->threads < hidden; round++) {
        const ac_x h = open_item(j, round, hidden), own = times(j, j->r, j->ranks * hidden);
        ac_x sum = 0;
        for (int64_t k = 0; k < j->ranks; k++) {
            const ac_x given = ac_lb_load(b, j->inbox, plus(j, own, plus(j, h, num(j, k * hidden))), 1);
            sum = sum ? plus(j, sum, given) : given;
        }
        ac_lb_store(b, j->hidden, h, ac_excite_hidden(j->L, j->e, with_bias(j, j->e->b1, sum, round)));
        close_item(j);
    }
    close_block(j);
}

/* ------------------------------------------------------------------ all of it */

void ac_excite_open(job *j)
{
    ac_lower *L = j->L;
    choose(j);
    const int64_t all = j->ranks * j->threads, each = ac_gpu_most(j->in.each, j->out.each);
    j->x = ac_lo_operand(L, j->e->x);
    pack_weights(j);
    if (j->held)
        j->w = ac_lo_gpu_local(L, "w", AC_F32, numbers_of(j) * all, AC_WHERE_THREAD);
    if (j->e->b1 || j->e->b2)
        j->bias = ac_lo_gpu_local(L, "bias", AC_F32, (hidden_rounds(j) + j->out.each) * all, AC_WHERE_THREAD);
    j->sum[0] = ac_lo_gpu_local(L, "sum", AC_F32, each * j->threads, AC_WHERE_THREAD);
    j->sum[1] = ac_lo_gpu_local(L, "half", AC_F32, each * j->threads, AC_WHERE_THREAD);
    j->part = ac_lo_gpu_local(L, "part", AC_F32, j->lines * j->span, AC_WHERE_SHARED);
    j->some = ac_lo_gpu_local(L, "some", AC_F32, j->groups * j->span, AC_WHERE_SHARED);
    j->mean = ac_lo_gpu_local(L, "mean", AC_F32, j->span, AC_WHERE_SHARED);
    j->hidden = ac_lo_gpu_local(L, "hidden", AC_F32, j->e->hidden, AC_WHERE_SHARED);
    j->inbox = ac_lo_gpu_local(L, "hidden_parts", AC_F32, j->ranks * j->ranks * j->e->hidden,
                               j->ranks > 1 ? AC_WHERE_SPREAD : AC_WHERE_SHARED);
}

void ac_excite_begins(job *j)
{
    sum_pixels(j);
    if (j->groups > 1)
        add_lines(j, j->part, j->lines, j->some, j->groups, false);
    add_lines(j, j->groups > 1 ? j->some : j->part, j->groups > 1 ? j->groups : j->lines, j->mean, 1, true);
    give(j, multiply(j, &j->in, j->mean));
}

int32_t ac_excite_ends(job *j)
{
    add_parts(j);
    return multiply(j, &j->out, j->hidden);
}

void ac_excite_open_phase(job *j)
{
    open_block(j);
}
void ac_excite_close_phase(const job *j)
{
    close_block(j);
}

ac_x ac_excite_open_result(const job *j, int64_t i)
{
    ac_lb *b = &j->L->b;
    const ac_x result = result_of(j, &j->out, i), first = ac_lb_eq(b, rest(j, j->t, j->out.lanes), num(j, 0));
    ac_lb_if(b, ac_lb_and(b, first, ac_lb_lt(b, result, num(j, j->own))));
    return result;
}

ac_x ac_excite_result(const job *j, int32_t sums, int64_t i)
{
    ac_lb *b = &j->L->b;
    const ac_x v = with_bias(j, j->e->b2, ac_lb_load(b, sums, mine(j, i), 1), hidden_rounds(j) + i);
    return j->e->logistic ? ac_lo_sigmoid(j->L, v) : v;
}
