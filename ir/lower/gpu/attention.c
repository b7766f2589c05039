/* attention.c - attention on a GPU; see attention.h. */
#include "ir/lower/gpu/attention_parts.h"

enum { MOST_COLUMNS = 256, MOST_WORDS = (48 << 10) / 4 };

/* Registers of `own`. */
enum { OLD_MAX, OWN_MAX, OWN_SUM, N_OWN };

bool ac_gpu_attention_fits(const ac_attend *v)
{
    const ac_attention *a = &v->a;
    return v->L->target->isa == AC_ISA_CUDA && !v->L->exact && a->depth <= MOST_COLUMNS && a->width <= MOST_COLUMNS &&
           ac_attend_blocks(a) <= INT32_MAX;
}

/* ------------------------------------------------------------------ sizes */

/* Of a tile of keys or of values. */
static int64_t tile_words(const tiles *s)
{
    return (int64_t)s->keys * (s->pitch > s->width ? s->pitch : s->width);
}

static int64_t words_besides_scores(const tiles *s)
{
    return ROWS * s->q_pitch + tile_words(s) + 2 * WARPS * ROWS;
}

static void choose_keys(tiles *s, int64_t keys)
{
    for (s->keys = 2 * LEAST_KEYS; s->keys >= LEAST_KEYS; s->keys /= 2) {
        const int64_t room = (MOST_WORDS - words_besides_scores(s)) / ROWS / s->keys * s->keys,
                      all = ac_align_up(keys, s->keys);
        s->span = all < room ? all : room;
        if (s->keys == LEAST_KEYS || (keys > LEAST_KEYS && s->span == all))
            return;
    }
}

static void choose(tiles *s)
{
    const ac_attention *a = &s->v->a;
    s->rows = a->heads * a->rows;
    s->chunks = (int32_t)((a->depth + CHUNK - 1) / CHUNK);
    s->parts = (int32_t)((a->width + CHUNK - 1) / CHUNK);
    s->depth = (int32_t)ac_align_up((a->depth + s->chunks - 1) / s->chunks, QUAD);
    s->width = (int32_t)ac_align_up((a->width + s->parts - 1) / s->parts, QUAD);
    s->pitch = odd_quads(s->depth);
    s->q_pitch = odd_quads(s->depth * s->chunks);
    choose_keys(s, a->keys);
    s->slices = slices_of(s);
}

static void open_buffers(tiles *s)
{
    ac_lower *L = s->L;
    const int64_t result = (int64_t)s->slices * ROWS * s->width * s->parts, tile = tile_words(s);
    s->q = ac_lo_gpu_local(L, "q", AC_F32, (int64_t)ROWS * s->q_pitch, AC_WHERE_SHARED);
    s->tile = ac_lo_gpu_local(L, "tile", AC_F32, tile > result ? tile : result, AC_WHERE_SHARED);
    s->p = ac_lo_gpu_local(L, "p", AC_F32, s->span * ROWS, AC_WHERE_SHARED);
    s->part = ac_lo_gpu_local(L, "part", AC_F32, 2 * WARPS * ROWS, AC_WHERE_SHARED);
    s->score = ac_lo_gpu_local(L, "score", AC_F32, (int64_t)THREADS * QUAD * (s->keys / LEAST_KEYS), AC_WHERE_THREAD);
    s->out = ac_lo_gpu_local(L, "value", AC_F32, (int64_t)THREADS * QUAD * QUAD * s->parts, AC_WHERE_THREAD);
    s->own = ac_lo_gpu_local(L, "own", AC_F32, (int64_t)THREADS * N_OWN, AC_WHERE_THREAD);
    for (int32_t i = 0; i < 2; i++)
        s->warp[i] = ac_lo_gpu_local(L, i ? "all" : "mine", AC_F32, THREADS, AC_WHERE_THREAD);
}

/* ------------------------------------------------------------------ loads */

static void load_queries(const tiles *s)
{
    const int32_t quads = s->depth * s->chunks / QUAD;
    const ac_x t = open_phase(s), pass = open_passes(s, (int64_t)ROWS * quads),
               piece = open_piece(s, t, pass, (int64_t)ROWS * quads);
    const ac_x row = over(s, piece, quads), column = times(s, rest(s, piece, quads), QUAD);
    ac_x head, of_head;
    ac_attend_split(s, ac_attend_row(s, row), &head, &of_head);
    ac_attend_quad(s, AC_ATTENTION_Q, head, of_head, column, s->v->a.depth, s->q,
                   ac_lb_add(s->b, times(s, row, s->q_pitch), column), false);
    ac_lb_end(s->b);
    ac_lb_end(s->b);
    hold(s, s->own, t, OLD_MAX, ac_lb_f32(s->b, AC_ATTEND_LEAST));
    hold(s, s->own, t, OWN_SUM, ac_lb_f32(s->b, 0));
    for (int32_t k = 0; k < QUAD * QUAD * s->parts; k++)
        hold(s, s->out, t, k, ac_lb_f32(s->b, 0));
    close_phase(s);
}

/* A tile of keys or values from `first` on; columns from `from` on. After the last key: 0. */
static void load_tile(const tiles *s, int32_t i, ac_x first, int32_t from)
{
    ac_lb *b = s->b;
    const bool is_key = i == AC_ATTENTION_K;
    const int32_t quads = (is_key ? s->depth : s->width) / QUAD, pitch = is_key ? s->pitch : s->width;
    const int64_t keys = s->v->a.keys;
    const ac_x t = open_phase(s), pass = open_passes(s, (int64_t)s->keys * quads),
               piece = open_piece(s, t, pass, (int64_t)s->keys * quads);
    const ac_x row = over(s, piece, quads), column = times(s, rest(s, piece, quads), QUAD),
               key = ac_lb_add(b, first, row);
    const ac_x to = ac_lb_add(b, times(s, row, pitch), column);
    ac_lb_if(b, keys % s->keys ? ac_lb_lt(b, key, num(s, keys)) : ac_lb_int(b, AC_BOOL, 1));
    ac_attend_key(s, i, key, plus(s, column, from), is_key ? s->v->a.depth : s->v->a.width, s->tile, to, false);
    ac_lb_else(b);
    for (int32_t l = 0; l < QUAD; l++)
        ac_lb_store(b, s->tile, plus(s, to, l), ac_lb_f32(b, 0));
    for (int32_t k = 0; k < 3; k++)
        ac_lb_end(b);
    close_phase(s);
}

/* ------------------------------------------------------------------ scores */

/* Rows 4 (t % 2) .. of the block by keys t / 2, t / 2 + 64 of the tile. */
static void multiply_keys(const tiles *s, int32_t chunk)
{
    ac_lb *b = s->b;
    const int32_t n = s->keys / LEAST_KEYS;
    const ac_x t = open_phase(s), row = times(s, rest(s, t, 2), QUAD), key = over(s, t, 2);
    ac_x acc[2 * QUAD], q[QUAD], k[2];
    for (int32_t j = 0; j < QUAD * n; j++)
        acc[j] = ac_lb_var(b, "s", chunk ? held(s, s->score, t, j) : ac_lb_f32(b, 0));
    const ac_x d = ac_lb_for(b, "d", num(s, 0), num(s, s->depth), QUAD, AC_MARK_SERIAL);
    for (int32_t i = 0; i < QUAD; i++)
        q[i] = shared(s, s->q, ac_lb_add(b, times(s, plus(s, row, i), s->q_pitch), plus(s, d, chunk * s->depth)), QUAD);
    for (int32_t j = 0; j < n; j++)
        k[j] = shared(s, s->tile, ac_lb_add(b, times(s, plus(s, key, j * LEAST_KEYS), s->pitch), d), QUAD);
    for (int32_t e = 0; e < QUAD; e++)
        for (int32_t i = 0; i < QUAD; i++)
            for (int32_t j = 0; j < n; j++)
                ac_lb_set(
                    b, acc[j * QUAD + i],
                    ac_lo_madd(s->L, ac_lb_lane(b, q[i], e), ac_lb_lane(b, k[j], e), ac_lb_get(b, acc[j * QUAD + i])));
    ac_lb_end(b);
    for (int32_t j = 0; j < QUAD * n; j++)
        hold(s, s->score, t, j, ac_lb_get(b, acc[j]));
    close_phase(s);
}

/* The tile's scores with scale and mask into shared memory; `at`: keys of the span before it. */
static void keep_scores(const tiles *s, ac_x first, ac_x at)
{
    ac_lb *b = s->b;
    const int64_t keys = s->v->a.keys;
    const ac_x t = open_phase(s), row = times(s, rest(s, t, 2), QUAD);
    for (int32_t j = 0; j < s->keys / LEAST_KEYS; j++)
        for (int32_t i = 0; i < QUAD; i++) {
            const ac_x of = plus(s, over(s, t, 2), j * LEAST_KEYS);
            const ac_x key = ac_lb_min(b, ac_lb_add(b, first, of), num(s, keys - 1));
            ac_x head, of_head;
            ac_attend_split(s, ac_attend_row(s, plus(s, row, i)), &head, &of_head);
            const ac_x score =
                ac_attend_masked(s->v, held(s, s->score, t, j * QUAD + i), s->batch, s->group, head, of_head, key);
            ac_lb_store(b, s->p, ac_lb_add(b, times(s, ac_lb_add(b, at, of), ROWS), plus(s, row, i)), score);
        }
    close_phase(s);
}

/* ------------------------------------------------------------------ weights */

/* warp[0] of the four lanes of a warp that share a row, reduced into warp[0]. */
static void reduce(const tiles *s, ac_x (*op)(ac_lb *b, ac_x x, ac_x y))
{
    for (int32_t mask = 16, from = 0; mask >= ROWS; mask /= 2, from = 1 - from) {
        const ac_x t = open_phase(s), other = ac_lb_load(s->b, s->warp[from], ac_lb_xor(s->b, t, num(s, mask)), 1);
        hold(s, s->warp[1 - from], t, 0, op(s->b, held(s, s->warp[from], t, 0), other));
        close_phase(s);
    }
}

/* Lanes of the first row of each warp hand on its result. */
static void hand_on(const tiles *s, int32_t at)
{
    ac_lb *b = s->b;
    const ac_x t = open_phase(s);
    ac_lb_if(b, ac_lb_lt(b, rest(s, t, 32), num(s, ROWS)));
    ac_lb_store(b, s->part, ac_lb_add(b, num(s, at), ac_lb_add(b, times(s, over(s, t, 32), ROWS), rest(s, t, ROWS))),
                held(s, s->warp[0], t, 0));
    ac_lb_end(b);
    close_phase(s);
}

/* Value of row `row` that warp w handed on. */
static ac_x handed(const tiles *s, int32_t at, int32_t w, ac_x row)
{
    return shared(s, s->part, plus(s, row, at + w * ROWS), 1);
}

/* Keys lane, lane + 16, .. of a span, for row t % 8. */
static ac_x open_span(const tiles *s, ac_x t)
{
    const ac_x lane = over(s, t, ROWS);
    return ac_lb_for(s->b, "k", lane, num(s, s->span), THREADS / ROWS, AC_MARK_SERIAL);
}

static ac_x is_there(const tiles *s, ac_x first, ac_x k)
{
    return ac_lb_lt(s->b, ac_lb_add(s->b, first, k), num(s, s->v->a.keys));
}

/* The maximum of the rows so far. */
static void find_max(const tiles *s, ac_x first)
{
    ac_lb *b = s->b;
    ac_x t = open_phase(s);
    const ac_x max = ac_lb_var(b, "max", held(s, s->own, t, OLD_MAX)), k = open_span(s, t),
               x = shared(s, s->p, ac_lb_add(b, times(s, k, ROWS), rest(s, t, ROWS)), 1);
    ac_lb_set(b, max, ac_lb_select(b, is_there(s, first, k), ac_lb_max(b, x, ac_lb_get(b, max)), ac_lb_get(b, max)));
    ac_lb_end(b);
    hold(s, s->warp[0], t, 0, ac_lb_get(b, max));
    close_phase(s);
    reduce(s, ac_lb_max);
    hand_on(s, 0);
}

/* Scores become weights, 0 after the last key, and are added to the sum. */
static void weigh(const tiles *s, ac_x first)
{
    ac_lb *b = s->b;
    const bool several = s->span < ac_align_up(s->v->a.keys, s->keys);
    const ac_x t = open_phase(s), row = rest(s, t, ROWS);
    ac_x max = handed(s, 0, 0, row);
    for (int32_t w = 1; w < WARPS; w++)
        max = ac_lb_max(b, handed(s, 0, w, row), max);
    ac_x before = held(s, s->own, t, OWN_SUM);
    if (several) {
        const ac_x down = ac_lo_exp_falling(s->L, ac_lb_sub(b, held(s, s->own, t, OLD_MAX), max));
        before = ac_lb_mul(b, before, down);
        ac_lb_if(b, ac_lb_lt(b, t, num(s, ROWS)));
        ac_lb_store(b, s->part, plus(s, row, WARPS * ROWS), down);
        ac_lb_end(b);
        hold(s, s->own, t, OLD_MAX, max);
    }
    const ac_x sum = ac_lb_var(b, "sum", before), k = open_span(s, t), at = ac_lb_add(b, times(s, k, ROWS), row);
    const ac_x e = ac_lb_select(b, is_there(s, first, k),
                                ac_lo_exp_falling(s->L, ac_lb_sub(b, shared(s, s->p, at, 1), max)), ac_lb_f32(b, 0));
    ac_lb_store(b, s->p, at, e);
    ac_lb_set(b, sum, ac_lb_add(b, ac_lb_get(b, sum), e));
    ac_lb_end(b);
    hold(s, s->own, t, OWN_SUM, ac_lb_get(b, sum));
    close_phase(s);
    if (!several)
        return;
    const ac_x u = open_phase(s), rows = times(s, rest(s, u, 2), QUAD);
    const ac_x down = shared(s, s->part, plus(s, rows, WARPS * ROWS), QUAD);
    for (int32_t k4 = 0; k4 < QUAD * QUAD * s->parts; k4++)
        hold(s, s->out, u, k4, ac_lb_mul(b, held(s, s->out, u, k4), ac_lb_lane(b, down, k4 / QUAD % QUAD)));
    close_phase(s);
}

/* ------------------------------------------------------------------ values */

/* Four rows and columns of a thread's slice of the tile. */
static void multiply_values(const tiles *s, int32_t part, ac_x at)
{
    ac_lb *b = s->b;
    const int32_t n = s->keys / s->slices;
    ac_x row, column, acc[QUAD * QUAD];
    const ac_x t = open_phase(s), slice = open_slice(s, t, &row, &column);
    for (int32_t k = 0; k < QUAD * QUAD; k++)
        acc[k] = ac_lb_var(b, "o", held(s, s->out, t, part * QUAD * QUAD + k));
    const ac_x i = ac_lb_for(b, "i", num(s, 0), num(s, n), 1, AC_MARK_SERIAL);
    const ac_x key = ac_lb_add(b, times(s, i, s->slices), slice);
    const ac_x p = shared(s, s->p, ac_lb_add(b, times(s, ac_lb_add(b, at, key), ROWS), row), QUAD),
               v = shared(s, s->tile, ac_lb_add(b, times(s, key, s->width), column), QUAD);
    for (int32_t k = 0; k < QUAD * QUAD; k++)
        ac_lb_set(b, acc[k],
                  ac_lo_madd(s->L, ac_lb_lane(b, p, k / QUAD), ac_lb_lane(b, v, k % QUAD), ac_lb_get(b, acc[k])));
    ac_lb_end(b);
    for (int32_t k = 0; k < QUAD * QUAD; k++)
        hold(s, s->out, t, part * QUAD * QUAD + k, ac_lb_get(b, acc[k]));
    ac_lb_end(b);
    close_phase(s);
}

/* All slices into shared memory [slice][row][column], and 1 / sum of each row into `part`. */
static void gather(const tiles *s)
{
    ac_lb *b = s->b;
    const int32_t wide = s->width * s->parts;
    ac_x t = open_phase(s), row, column;
    const ac_x slice = open_slice(s, t, &row, &column);
    for (int32_t k = 0; k < QUAD * QUAD * s->parts; k++) {
        const ac_x r = ac_lb_add(b, times(s, slice, ROWS), plus(s, row, k / QUAD % QUAD));
        const ac_x c = plus(s, column, k / (QUAD * QUAD) * s->width + k % QUAD);
        ac_lb_store(b, s->tile, ac_lb_add(b, times(s, r, wide), c), held(s, s->out, t, k));
    }
    ac_lb_end(b);
    hold(s, s->warp[0], t, 0, held(s, s->own, t, OWN_SUM));
    close_phase(s);
    reduce(s, ac_lb_add);
    hand_on(s, 0);
    t = open_phase(s);
    ac_lb_if(b, ac_lb_lt(b, t, num(s, ROWS)));
    ac_x sum = handed(s, 0, 0, t);
    for (int32_t w = 1; w < WARPS; w++)
        sum = ac_lb_add(b, sum, handed(s, 0, w, t));
    ac_lb_store(b, s->part, plus(s, t, WARPS * ROWS), ac_lb_div(b, ac_lb_f32(b, 1), sum));
    ac_lb_end(b);
    close_phase(s);
}

/* Tiles of the span of keys from `first` on. */
static void add_span(const tiles *s, ac_x first)
{
    ac_lb *b = s->b;
    ac_x at = ac_lb_for(b, "at", num(s, 0), num(s, s->span), s->keys, AC_MARK_SERIAL);
    for (int32_t chunk = 0; chunk < s->chunks; chunk++) {
        load_tile(s, AC_ATTENTION_K, ac_lb_add(b, first, at), chunk * s->depth);
        multiply_keys(s, chunk);
    }
    keep_scores(s, ac_lb_add(b, first, at), at);
    ac_lb_end(b);
    find_max(s, first);
    weigh(s, first);
    at = ac_lb_for(b, "at", num(s, 0), num(s, s->span), s->keys, AC_MARK_SERIAL);
    for (int32_t part = 0; part < s->parts; part++) {
        load_tile(s, AC_ATTENTION_V, ac_lb_add(b, first, at), part * s->width);
        multiply_values(s, part, at);
    }
    ac_lb_end(b);
}

int ac_gpu_attention_tiles(ac_attend *v)
{
    if (ac_gpu_attention_is_whole(v))
        return ac_gpu_attention_whole(v);
    tiles s = {.v = v, .L = v->L, .b = &v->L->b};
    ac_lb *b = s.b;
    choose(&s);
    open_buffers(&s);
    ac_attend_open_grid(&s);
    load_queries(&s);
    const ac_x first = ac_lb_for(b, "first", num(&s, 0), num(&s, v->a.keys), s.span, AC_MARK_SERIAL);
    add_span(&s, first);
    ac_lb_end(b);
    gather(&s);
    ac_attend_finish(&s, s.tile, WARPS * ROWS);
    ac_lb_end(b);
    return AC_OK;
}
