/* attention_whole.c - attention on a GPU with all keys and values of a group in shared memory.
 *
 * All copies are under way at once; scores are computed when the keys have arrived, and stay in registers until the
 * maximum is known. */
#include "ir/lower/gpu/attention_parts.h"
#include "ir/lower/gpu/plan.h"

enum { MOST_PER = 7, MOST_WAVES = 2, UNROLLED = 8 }; /* keys of a thread; blocks for each multiprocessor */

typedef struct whole {
    tiles s;
    int64_t keys;    /* of the attention */
    int32_t per;     /* keys of a thread: t / 2, t / 2 + 64, .. */
    int64_t steps;   /* keys of a slice of the values */
    bool late;       /* some operands are copied by late stores */
    int32_t k, v;    /* shared memory; sums of slices take the place of the keys */
    int32_t best[2]; /* registers: four values of the thread's rows, which reductions move between them */
} whole;

static void sizes(whole *w, ac_attend *v)
{
    const ac_attention *a = &v->a;
    tiles *s = &w->s;
    *s = (tiles){.v = v, .L = v->L, .b = &v->L->b, .rows = a->heads * a->rows, .chunks = 1, .parts = 1};
    s->depth = (int32_t)ac_align_up(a->depth, QUAD);
    s->width = (int32_t)ac_align_up(a->width, QUAD);
    s->pitch = s->q_pitch = odd_quads(s->depth);
    s->slices = slices_of(s);
    w->keys = a->keys;
    w->per = (int32_t)ac_gpu_over(a->keys, LEAST_KEYS);
    w->steps = ac_gpu_over(a->keys, s->slices);
}

static int64_t key_words(const whole *w)
{
    const int64_t keys = w->keys * w->s.pitch, sums = (int64_t)w->s.slices * ROWS * w->s.width;
    return keys > sums ? keys : sums;
}

static int64_t words(const whole *w)
{
    const tiles *s = &w->s;
    return key_words(w) + w->steps * s->slices * s->width + (int64_t)w->per * LEAST_KEYS * ROWS + ROWS * s->q_pitch +
           2 * WARPS * ROWS;
}

bool ac_gpu_attention_is_whole(ac_attend *v)
{
    whole w;
    sizes(&w, v);
    return w.per <= MOST_PER && words(&w) * 4 <= v->L->target->shared_bytes &&
           ac_attend_blocks(&v->a) <= MOST_WAVES * ac_gpu_machine_of(v->L->target)->units;
}

static void open_buffers(whole *w)
{
    tiles *s = &w->s;
    ac_lower *L = s->L;
    w->k = ac_lo_gpu_local(L, "k", AC_F32, key_words(w), AC_WHERE_SHARED);
    w->v = ac_lo_gpu_local(L, "v", AC_F32, w->steps * s->slices * s->width, AC_WHERE_SHARED);
    s->p = ac_lo_gpu_local(L, "p", AC_F32, (int64_t)w->per * LEAST_KEYS * ROWS, AC_WHERE_SHARED);
    s->q = ac_lo_gpu_local(L, "q", AC_F32, (int64_t)ROWS * s->q_pitch, AC_WHERE_SHARED);
    s->part = ac_lo_gpu_local(L, "part", AC_F32, 2 * WARPS * ROWS, AC_WHERE_SHARED);
    s->score = ac_lo_gpu_local(L, "score", AC_F32, (int64_t)THREADS * QUAD * w->per, AC_WHERE_THREAD);
    for (int32_t i = 0; i < 2; i++)
        w->best[i] = ac_lo_gpu_local(L, i ? "all" : "mine", AC_F32, THREADS * QUAD, AC_WHERE_THREAD);
}

/* ------------------------------------------------------------------ copies */

typedef void copy_quad(const whole *w, ac_x row, ac_x column);

/* Each thread copies its share of n rows of `quads` quads; only the last round has a branch. */
static void copy_rows(const whole *w, ac_x t, int64_t n, int32_t quads, copy_quad *copy)
{
    const tiles *s = &w->s;
    const int64_t all = n * quads;
    for (int64_t first = 0; first < all; first += THREADS) {
        const bool some = first + THREADS > all, lines = THREADS % quads == 0;
        const ac_x piece = plus(s, t, first);
        const ac_x row = lines ? plus(s, over(s, t, quads), first / quads) : over(s, piece, quads);
        ac_lb_if(s->b, some ? ac_lb_lt(s->b, t, num(s, all - first)) : ac_lb_int(s->b, AC_BOOL, 1));
        copy(w, row, times(s, rest(s, lines ? t : piece, quads), QUAD));
        ac_lb_end(s->b);
    }
}

static void copy_query(const whole *w, ac_x row, ac_x column)
{
    const tiles *s = &w->s;
    ac_x head, of_head;
    ac_attend_split(s, ac_attend_row(s, row), &head, &of_head);
    ac_attend_quad(s, AC_ATTENTION_Q, head, of_head, column, s->v->a.depth, s->q,
                   ac_lb_add(s->b, times(s, row, s->q_pitch), column), true);
}

static void copy_key(const whole *w, ac_x row, ac_x column)
{
    const tiles *s = &w->s;
    ac_attend_key(s, AC_ATTENTION_K, row, column, s->v->a.depth, w->k, ac_lb_add(s->b, times(s, row, s->pitch), column),
                  true);
}

static void copy_value(const whole *w, ac_x row, ac_x column)
{
    const tiles *s = &w->s;
    ac_attend_key(s, AC_ATTENTION_V, row, column, s->v->a.width, w->v, ac_lb_add(s->b, times(s, row, s->width), column),
                  true);
}

static void no_value(const whole *w, ac_x row, ac_x column)
{
    const tiles *s = &w->s;
    const ac_x at = ac_lb_add(s->b, times(s, plus(s, row, w->keys), s->width), column);
    ac_lb_store(s->b, w->v, at, ac_lb_splat(s->b, ac_lb_f32(s->b, 0), QUAD));
}

/* Late stores of phase t are a group; afterwards up to `left` groups may be under way. */
static void wait(const whole *w, ac_x t, int32_t left)
{
    if (w->late)
        ac_lb_groups(w->s.b, t, left);
}

/* Two groups: queries and keys, which have arrived afterwards, and values. */
static void copy_operands(const whole *w)
{
    const tiles *s = &w->s;
    ac_x t = open_phase(s);
    wait(w, t, AC_GROUPS_OPEN);
    copy_rows(w, t, ROWS, s->depth / QUAD, copy_query);
    copy_rows(w, t, w->keys, s->depth / QUAD, copy_key);
    close_phase(s);
    t = open_phase(s);
    wait(w, t, 1);
    copy_rows(w, t, w->keys, s->width / QUAD, copy_value);
    copy_rows(w, t, w->steps * s->slices - w->keys, s->width / QUAD, no_value);
    close_phase(s);
}

/* ------------------------------------------------------------------ scores */

/* The first of the thread's four rows, and its j-th key. */
static ac_x first_row(const whole *w, ac_x t)
{
    return times(&w->s, rest(&w->s, t, 2), QUAD);
}
static ac_x key_of(const whole *w, ac_x t, int32_t j)
{
    return plus(&w->s, over(&w->s, t, 2), (int64_t)j * LEAST_KEYS);
}
static bool all_there(const whole *w, int32_t j)
{
    return (int64_t)(j + 1) * LEAST_KEYS <= w->keys;
}
/* The same, or the last one. */
static ac_x near_key(const whole *w, ac_x t, int32_t j)
{
    const ac_x key = key_of(w, t, j);
    return all_there(w, j) ? key : ac_lb_min(w->s.b, key, num(&w->s, w->keys - 1));
}

/* Sums of products of columns d .. d + 3. */
static void multiply_quad(const whole *w, const ac_x *acc, ac_x q_at, const ac_x *k_at, ac_x d)
{
    const tiles *s = &w->s;
    ac_lb *b = s->b;
    ac_x q[QUAD], k[MOST_PER];
    for (int32_t i = 0; i < QUAD; i++)
        q[i] = shared(s, s->q, ac_lb_add(b, plus(s, q_at, i * s->q_pitch), d), QUAD);
    for (int32_t j = 0; j < w->per; j++)
        k[j] = shared(s, w->k, ac_lb_add(b, k_at[j], d), QUAD);
    for (int32_t e = 0; e < QUAD; e++)
        for (int32_t n = 0; n < QUAD * w->per; n++)
            ac_lb_set(
                b, acc[n],
                ac_lo_madd(s->L, ac_lb_lane(b, q[n % QUAD], e), ac_lb_lane(b, k[n / QUAD], e), ac_lb_get(b, acc[n])));
}

/* Scores with scale and mask, and the maximum of each of the thread's rows over its keys. */
static void find_scores(const whole *w)
{
    const tiles *s = &w->s;
    ac_lb *b = s->b;
    const ac_x t = open_phase(s), row = first_row(w, t);
    ac_x acc[QUAD * MOST_PER], at[MOST_PER];
    for (int32_t n = 0; n < QUAD * w->per; n++)
        acc[n] = ac_lb_var(b, "s", ac_lb_f32(b, 0));
    for (int32_t j = 0; j < w->per; j++)
        at[j] = times(s, near_key(w, t, j), s->pitch);
    const int32_t deep = s->depth % (4 * QUAD) == 0 ? 4 * QUAD : s->depth % (2 * QUAD) == 0 ? 2 * QUAD : QUAD;
    const ac_x d = ac_lb_for(b, "d", num(s, 0), num(s, s->depth), deep, AC_MARK_SERIAL);
    for (int32_t u = 0; u < deep; u += QUAD)
        multiply_quad(w, acc, times(s, row, s->q_pitch), at, plus(s, d, u));
    ac_lb_end(b);
    for (int32_t i = 0; i < QUAD; i++) {
        ac_x head, of_head, max = ac_lb_f32(b, AC_ATTEND_LEAST);
        ac_attend_split(s, ac_attend_row(s, plus(s, row, i)), &head, &of_head);
        for (int32_t j = 0; j < w->per; j++) {
            const ac_x score = ac_attend_masked(s->v, ac_lb_get(b, acc[j * QUAD + i]), s->batch, s->group, head,
                                                of_head, near_key(w, t, j));
            hold(s, s->score, t, j * QUAD + i, score);
            max = ac_lb_max(b, score, max);
        }
        hold(s, w->best[0], t, i, max);
    }
    close_phase(s);
}

/* The four values of each thread, over the lanes of its warp with the same rows; then part[at ..], by warp and row.
 * left: groups of copies that may be under way afterwards. */
static void reduce(const whole *w, ac_x (*op)(ac_lb *b, ac_x x, ac_x y), int32_t at, int32_t left)
{
    const tiles *s = &w->s;
    ac_lb *b = s->b;
    int32_t from = 0;
    for (int32_t mask = 16; mask > 1; mask /= 2, from = 1 - from) {
        const ac_x t = open_phase(s), other = ac_lb_xor(b, t, num(s, mask));
        for (int32_t i = 0; i < QUAD; i++)
            hold(s, w->best[1 - from], t, i, op(b, held(s, w->best[from], other, i), held(s, w->best[from], t, i)));
        close_phase(s);
    }
    const ac_x t = open_phase(s);
    wait(w, t, left);
    ac_lb_if(b, ac_lb_lt(b, rest(s, t, 32), num(s, 2)));
    for (int32_t i = 0; i < QUAD; i++)
        ac_lb_store(b, s->part, plus(s, ac_lb_add(b, times(s, over(s, t, 32), ROWS), first_row(w, t)), at + i),
                    held(s, w->best[from], t, i));
    ac_lb_end(b);
    close_phase(s);
}

static void weigh(const whole *w)
{
    const tiles *s = &w->s;
    ac_lb *b = s->b;
    const ac_x t = open_phase(s), row = first_row(w, t);
    ac_x max = shared(s, s->part, row, QUAD), sum[QUAD] = {0};
    for (int32_t k = 1; k < WARPS; k++)
        max = ac_lb_max(b, shared(s, s->part, plus(s, row, k * ROWS), QUAD), max);
    for (int32_t j = 0; j < w->per; j++)
        for (int32_t i = 0; i < QUAD; i++) {
            const ac_x less = ac_lb_sub(b, held(s, s->score, t, j * QUAD + i), ac_lb_lane(b, max, i)),
                       e = ac_lo_exp_falling(s->L, less);
            const ac_x is_there = ac_lb_lt(b, key_of(w, t, j), num(s, w->keys));
            const ac_x weight = all_there(w, j) ? e : ac_lb_select(b, is_there, e, ac_lb_f32(b, 0));
            ac_lb_store(b, s->p, plus(s, ac_lb_add(b, times(s, key_of(w, t, j), ROWS), row), i), weight);
            sum[i] = sum[i] ? ac_lb_add(b, sum[i], weight) : weight;
        }
    for (int32_t i = 0; i < QUAD; i++)
        hold(s, w->best[0], t, i, sum[i]);
    close_phase(s);
}

/* ------------------------------------------------------------------ values */

/* Key `step` of a slice. */
static void add_value(const whole *w, const ac_x *acc, ac_x p_at, ac_x v_at, ac_x step)
{
    const tiles *s = &w->s;
    ac_lb *b = s->b;
    const ac_x p = shared(s, s->p, ac_lb_add(b, p_at, times(s, step, (int64_t)s->slices * ROWS)), QUAD),
               v = shared(s, w->v, ac_lb_add(b, v_at, times(s, step, (int64_t)s->slices * s->width)), QUAD);
    for (int32_t k = 0; k < QUAD * QUAD; k++)
        ac_lb_set(b, acc[k],
                  ac_lo_madd(s->L, ac_lb_lane(b, p, k / QUAD), ac_lb_lane(b, v, k % QUAD), ac_lb_get(b, acc[k])));
}

/* Weighted values of a slice: four rows and columns of a thread. */
static void add_values(const whole *w)
{
    const tiles *s = &w->s;
    ac_lb *b = s->b;
    ac_x row, column, acc[QUAD * QUAD];
    const ac_x t = open_phase(s), slice = open_slice(s, t, &row, &column);
    for (int32_t k = 0; k < QUAD * QUAD; k++)
        acc[k] = ac_lb_var(b, "o", ac_lb_f32(b, 0));
    const ac_x p_at = ac_lb_add(b, times(s, slice, ROWS), row), v_at = ac_lb_add(b, times(s, slice, s->width), column);
    const int64_t rounds = w->steps / UNROLLED * UNROLLED;
    const ac_x step = ac_lb_for(b, "k", num(s, 0), num(s, rounds), UNROLLED, AC_MARK_SERIAL);
    for (int32_t u = 0; u < UNROLLED; u++)
        add_value(w, acc, p_at, v_at, plus(s, step, u));
    ac_lb_end(b);
    for (int64_t k = rounds; k < w->steps; k++)
        add_value(w, acc, p_at, v_at, num(s, k));
    for (int32_t k = 0; k < QUAD * QUAD; k++) {
        const ac_x r = ac_lb_add(b, times(s, slice, ROWS), plus(s, row, k / QUAD));
        ac_lb_store(b, w->k, ac_lb_add(b, times(s, r, s->width), plus(s, column, k % QUAD)), ac_lb_get(b, acc[k]));
    }
    ac_lb_end(b);
    ac_lb_if(b, ac_lb_lt(b, t, num(s, ROWS)));
    ac_x sum = shared(s, s->part, plus(s, t, WARPS * ROWS), 1);
    for (int32_t k = 1; k < WARPS; k++)
        sum = ac_lb_add(b, sum, shared(s, s->part, plus(s, t, (WARPS + k) * ROWS), 1));
    ac_lb_store(b, s->part, t, ac_lb_div(b, ac_lb_f32(b, 1), sum));
    ac_lb_end(b);
    close_phase(s);
}

int ac_gpu_attention_whole(ac_attend *v)
{
    whole w = {0};
    sizes(&w, v);
    tiles *s = &w.s;
    open_buffers(&w);
    const int32_t keys[] = {AC_ATTENTION_Q, AC_ATTENTION_K, AC_ATTENTION_PAST_K},
                  values[] = {AC_ATTENTION_V, AC_ATTENTION_PAST_V};
    for (int32_t i = 0; i < 3; i++)
        w.late |= ac_attend_copies(s, keys[i], v->a.depth) || (i < 2 && ac_attend_copies(s, values[i], v->a.width));
    ac_attend_open_grid(s);
    copy_operands(&w);
    find_scores(&w);
    reduce(&w, ac_lb_max, 0, 1);
    weigh(&w);
    reduce(&w, ac_lb_add, WARPS * ROWS, 0);
    add_values(&w);
    ac_attend_finish(s, w.k, 0);
    ac_lb_end(s->b);
    return AC_OK;
}
