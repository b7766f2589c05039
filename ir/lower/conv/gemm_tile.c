/* gemm_tile.c - emits one register tile: the reduction with a named accumulator for each row and vector, and the
 * stores. */
#include "ir/lower/conv/gemm.h"

#include <assert.h>

/* i16 x i8 adds at most 2 * 2^15 * 2^7 to a lane: 254 steps stay inside i32. */
enum { I16_STEPS = 254 };

ac_gemm_cuts ac_gemm_cut(int64_t n, int64_t most)
{
    ac_gemm_cuts c = {{0}, {0}, {0}};
    if (n < 1)
        return c;
    const int64_t tiles = (n + most - 1) / most, extra = n % tiles;
    c.size[0] = n / tiles + (extra > 0);
    c.count[0] = extra ? extra : tiles;
    c.size[1] = n / tiles;
    c.count[1] = tiles - c.count[0];
    c.first[1] = c.size[0] * c.count[0];
    return c;
}

bool ac_gemm_fits(const ac_lower *L, const ac_channel *c)
{
    return ac_target_lanes(L->target, AC_F32) > 1 && (ac_tensor_is_const(c->w) || c->kind == AC_MACS_F32) &&
           (!c->bias || ac_tensor_is_const(c->bias));
}

bool ac_gemm_collide(const ac_channel *c, int64_t distance, int32_t parts, int64_t rows, int64_t channels)
{
    enum { PAGE = 4096, MANY_ROWS = 7, MANY_CHANNELS = 64 };
    return c->kind == AC_MACS_F32 && ac_dtype_size(AC_F32, distance) % (PAGE / parts) == 0 && rows >= MANY_ROWS &&
           channels >= MANY_CHANNELS;
}

bool ac_gemm_copies(const ac_gemm_form *f, const ac_channel *c)
{
    if (c->kind == AC_MACS_F32)
        return c->x->narrowed; /* converted once, in vectors, instead of element by element in each tile */
    if (c->kind == AC_MACS_SUM)
        return f->strip != c->x->dtype || f->depth % ac_gemm_step(f);
    if (f->matrix)
        return f->strip != c->x->dtype || ac_gemm_beyond(f);
    return c->kind != AC_MACS_I16 || f->depth % f->group;
}

/* True if all weights, bytes, are in -64 .. 64. Then the sum of two products of bytes fits 16 bits, and targets without
 * VNNI also have an instruction for four of them. Quantisers offer this range for that reason ("reduce range"). */
static bool is_narrow(const ac_lower *L, const ac_channel *c)
{
    ac_tensor *w = c->w;
    if (w->dtype != AC_I8 || !ac_tensor_is_const(w))
        return false;
    const int8_t *v = w->raw ? w->raw : w->data ? w->data : ac_tensor_force(L->cx, w);
    const int64_t n = w->splat ? 1 : ac_tensor_count(w);
    for (int64_t i = 0; v && i < n; i++)
        if (v[i] > AC_NARROW || v[i] < -AC_NARROW)
            return false;
    return v != NULL;
}

ac_gemm_form ac_gemm_form_of(const ac_lower *L, const ac_channel *c, int64_t groups, int64_t runs_y, int64_t runs_x,
                             int64_t depth, bool all)
{
    ac_gemm_form f = {.groups = groups, .n = c->n / groups, .depth = depth, .runs = {runs_y, runs_x, 1}};
    const int32_t words = ac_target_pairs(L->target) ? 2 : 1; /* of 16 bits, in a group */
    const bool vnni = L->target->dot_u8s8;
    const bool narrow = all && !vnni && L->target->isa == AC_ISA_X86 && !c->zw && is_narrow(L, c);
    const bool bytes = all && (vnni || narrow);
    f.lanes = ac_target_lanes(L->target, AC_F32);
    while (f.lanes > 4 && f.lanes / 2 >= f.n)
        f.lanes /= 2;
    switch (c->kind) {
    case AC_MACS_F32:
        f.group = 1;
        f.strip = f.w = AC_F32;
        break;
    case AC_MACS_I8:
        f.group = bytes && !c->zw ? 4 : words;
        f.strip = f.group != 4 ? AC_I16 : L->target->dot_i8i8 ? AC_I8 : AC_U8;
        f.w = c->zw ? AC_I16 : AC_I8;
        break;
    case AC_MACS_U8:
        f.group = words;
        f.strip = f.w = AC_I16;
        break;
    case AC_MACS_HYBRID:
        f.group = bytes ? 4 : words;
        f.strip = f.group == 4 ? AC_U8 : AC_I16;
        f.w = AC_I8;
        break;
    case AC_MACS_SUM:
        f.w = c->w->dtype;
        f.group = bytes && f.w == AC_I8 ? 4 : words;
        f.strip = f.group != 4 ? AC_I16 : L->target->dot_i8i8 ? AC_I8 : AC_U8;
        break;
    case AC_MACS_PLAIN: /* of batch_matmul only, which has no such form */
    case AC_MACS_I16:
        f.group = words;
        f.strip = AC_I16;
        f.w = c->zw ? AC_I16 : AC_I8;
        break;
    }
    f.narrow = narrow && f.group == 4;
    f.w_bytes = c->w->narrowed && ac_tensor_is_const(c->w) ? 2 : (int32_t)ac_dtype_size(f.w, 1);
    return f;
}

ac_x ac_gemm_block_channel(ac_lb *b, const ac_gemm_form *f, int32_t s, ac_x i)
{
    ac_x vec = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, f->block.size[s])), ac_lb_i32(b, f->block.first[s]));
    return ac_lb_mul(b, vec, ac_lb_i32(b, ac_gemm_width(f)));
}

int64_t ac_gemm_runs(const ac_gemm_form *f)
{
    return f->runs[0] * f->runs[1] * f->runs[2];
}

int64_t ac_gemm_step(const ac_gemm_form *f)
{
    return f->along ? (int64_t)f->lanes * f->group : f->group;
}

int64_t ac_gemm_steps(const ac_gemm_form *f)
{
    enum { MATRIX_STEPS = 16 }; /* of a tile's step */
    const int64_t steps = (f->depth + ac_gemm_step(f) - 1) / ac_gemm_step(f);
    return f->matrix ? ac_align_up(steps, MATRIX_STEPS) : steps;
}

int64_t ac_gemm_beyond(const ac_gemm_form *f)
{
    return ac_gemm_steps(f) * ac_gemm_step(f) - f->depth;
}

int32_t ac_gemm_width(const ac_gemm_form *f)
{
    return f->along ? 1 : f->lanes;
}

int64_t ac_gemm_vectors(const ac_gemm_form *f)
{
    return (f->n + ac_gemm_width(f) - 1) / ac_gemm_width(f);
}

enum { FEW = GEMM_VECS, SUM = 4 }; /* a sum of lanes takes as long as so many steps */

void ac_gemm_form_along(const ac_lower *L, const ac_channel *c, ac_gemm_form *f)
{
    ac_gemm_form g = *f;
    const int64_t runs = ac_gemm_runs(f);
    if (f->n > FEW || c->acc == AC_I64 || (c->kind == AC_MACS_F32 && L->exact))
        return;
    g.along = true;
    g.lanes = ac_target_lanes(L->target, AC_F32);
    while (g.lanes > 4 && f->depth % ac_gemm_step(&g)) /* floats past the end of a run may not be finite */
        g.lanes /= 2;
    if (c->kind == AC_MACS_F32 && f->depth % g.lanes)
        return;
    if (g.n * (runs * ac_gemm_steps(&g) + SUM) < runs * ac_gemm_steps(f))
        *f = g;
}

ac_x ac_gemm_block_at(ac_lb *b, const ac_gemm_form *f, ac_x channel)
{
    const int64_t vector = ac_gemm_runs(f) * ac_gemm_steps(f) * f->lanes * f->group;
    return ac_lb_mul(b, channel, ac_lb_i32(b, vector / ac_gemm_width(f)));
}

int64_t ac_gemm_group_size(const ac_gemm_form *f)
{
    return ac_gemm_vectors(f) * f->lanes * ac_gemm_runs(f) * ac_gemm_steps(f) * f->group;
}

/* A step of the row's elements: broadcast to every lane, or neighbours. */
static ac_x of_row(ac_lb *b, const ac_gemm_tile *t, ac_x at)
{
    const ac_gemm_form *f = t->f;
    ac_x x = ac_lb_load(b, t->x_buf, at, (int32_t)ac_gemm_step(f));
    if (f->along)
        return f->group == 1 && f->strip != AC_F32 ? ac_lb_cast(b, x, AC_I32) : x;
    if (f->group == 1)
        return f->strip == AC_F32 ? x : ac_lb_cast(b, x, AC_I32);
    x = ac_lb_splat(b, ac_lb_bitcast(b, x, AC_I32), f->lanes);
    return ac_lb_bitcast(b, x, f->strip);
}

static ac_x weights(ac_lb *b, const ac_gemm_tile *t, ac_x at, int32_t vec)
{
    const ac_gemm_form *f = t->f;
    const int32_t n = f->lanes * f->group;
    ac_x w = ac_lb_load_flags(b, t->w_buf, ac_lb_add(b, at, ac_lb_i32(b, vec * n)), n,
                              f->narrow ? AC_F_ALIGNED | AC_F_NARROW : AC_F_ALIGNED);
    return f->group == 4 || f->w == AC_F32 ? w : ac_lb_cast(b, w, f->group == 2 ? AC_I16 : AC_I32);
}

static ac_x multiply_add(const ac_gemm_tile *t, ac_x x, ac_x w, ac_x acc)
{
    ac_lb *b = &t->L->b;
    if (t->f->group == 1 && t->c->kind == AC_MACS_SUM)
        return ac_channel_mac(t->c, acc, ac_lb_splat(b, x, t->f->lanes), w);
    if (t->f->group == 1)
        return ac_lo_madd(t->L, ac_lb_splat(b, x, t->f->lanes), w, acc);
    return t->f->group == 2 ? ac_lb_dot2(b, x, w, acc) : ac_lb_dot4(b, x, w, acc);
}

enum { LINE = 64 }; /* bytes of a cache line */

/* The loop over one run, `steps` of it: adds to the variables `acc`, except those of rows `outside`. x_at: the offset
 * of the run from each row's position; ahead: as in t. */
static void run(const ac_gemm_tile *t, ac_x x_at, ac_x w_at, ac_x ahead, int64_t steps, uint32_t outside,
                const ac_x *acc)
{
    ac_lb *b = &t->L->b;
    const ac_gemm_form *f = t->f;
    ac_x k = ac_lb_for_n(b, "k", steps), w[GEMM_VECS];
    ac_x at = ac_lb_add(b, w_at, ac_lb_mul(b, k, ac_lb_i32(b, (int64_t)t->vecs * f->lanes * f->group)));
    x_at = ac_lb_add(b, x_at, ac_lb_mul(b, k, ac_lb_i32(b, ac_gemm_step(f))));
    for (int32_t v = 0; v < t->vecs; v++)
        w[v] = weights(b, t, at, v);
    if (ahead) {
        ahead = ac_lb_add(b, ahead, ac_lb_mul(b, k, ac_lb_i32(b, t->ahead_step)));
        const int64_t line = LINE / f->w_bytes;
        for (int64_t i = 0; i < t->ahead_step; i += line)
            ac_lb_prefetch(b, t->w_buf, ac_lb_add(b, ahead, ac_lb_i32(b, i)));
    }
    for (int32_t r = 0; r < t->rows; r++) {
        if (outside >> r & 1)
            continue;
        ac_x x = of_row(b, t, ac_lb_add(b, t->row[r], x_at));
        for (int32_t v = 0; v < t->vecs; v++) {
            const ac_x a = acc[r * t->vecs + v];
            ac_lb_set(b, a, multiply_add(t, x, w[v], ac_lb_get(b, a)));
        }
    }
    ac_lb_end(b);
}

/* int16x8: a run is summed in 32 bits, then added to the 64-bit accumulators. Longer runs go in pieces. */
static void run_i64(const ac_gemm_tile *t, ac_x x_at, ac_x w_at, const ac_x *acc)
{
    ac_lb *b = &t->L->b;
    ac_gemm_form part = *t->f;
    ac_gemm_tile p = *t;
    p.f = &part;
    const int64_t total = ac_gemm_steps(t->f);
    for (int64_t from = 0; from < total; from += I16_STEPS) {
        const int64_t n = total - from < I16_STEPS ? total - from : I16_STEPS;
        ac_x sum[GEMM_ROWS * GEMM_VECS];
        for (int32_t i = 0; i < t->rows * t->vecs; i++)
            sum[i] = ac_lb_var(b, "sum", ac_lb_splat(b, ac_lb_i32(b, 0), t->f->lanes));
        part.depth = n * part.group;
        run(&p, ac_lb_add(b, x_at, ac_lb_i32(b, from * part.group)),
            ac_lb_add(b, w_at, ac_lb_i32(b, from * t->vecs * part.lanes * part.group)), 0, n, 0, sum);
        for (int32_t i = 0; i < t->rows * t->vecs; i++)
            ac_lb_set(b, acc[i], ac_lb_add(b, ac_lb_get(b, acc[i]), ac_lb_cast(b, ac_lb_get(b, sum[i]), AC_I64)));
    }
}

/* Packed weights of one run in a block. */
static int64_t run_size(const ac_gemm_form *f, int32_t vecs)
{
    return ac_gemm_steps(f) * vecs * f->lanes * f->group;
}

void ac_gemm_all_runs(ac_gemm_tile *t)
{
    for (int i = 0; i < 3; i++) {
        t->run_lo[i] = ac_lb_i32(&t->L->b, 0);
        t->run_hi[i] = ac_lb_i32(&t->L->b, t->f->runs[i]);
    }
    t->w_step[1] = run_size(t->f, t->vecs);
    t->w_step[0] = t->w_step[1] * t->f->runs[1];
    t->w_step[2] = t->w_step[0] * t->f->runs[0];
}

void ac_gemm_fetch_ahead(ac_gemm_tile *t, ac_x index, int64_t tiles)
{
    ac_lb *b = &t->L->b;
    const ac_gemm_form *f = t->f;
    if (tiles < 2 || !ac_gemm_weights_far(t->L, f))
        return;
    const int64_t all = ac_gemm_runs(f) * ac_gemm_steps(f), each = (int64_t)t->vecs * f->lanes * f->group;
    t->ahead_step = (each + tiles - 1) / tiles;
    ac_x share = ac_lb_add(b, ac_lb_mul(b, index, ac_lb_i32(b, all * t->ahead_step)), ac_lb_i32(b, all * each));
    t->ahead = ac_lb_add(b, t->w_at, share);
}

/* A loop over runs; none when there is just one. */
static ac_x run_loop(const ac_gemm_tile *t, const char *name, int i)
{
    ac_lb *b = &t->L->b;
    int64_t lo, hi;
    if (ac_lb_const_int(b, t->run_lo[i], &lo) && ac_lb_const_int(b, t->run_hi[i], &hi) && lo == 0 && hi == 1)
        return ac_lb_for_n(b, name, 1);
    return ac_lb_for(b, name, t->run_lo[i], t->run_hi[i], 1, AC_MARK_SERIAL);
}

ac_x ac_gemm_tile_channel(const ac_gemm_tile *t, int32_t vec)
{
    ac_lb *b = &t->L->b;
    const ac_x oc = ac_lb_add(b, t->oc, ac_lb_i32(b, (int64_t)vec * ac_gemm_width(t->f)));
    return t->before ? ac_lb_add(b, t->before, oc) : oc;
}

ac_channel ac_gemm_row_channel(const ac_gemm_tile *t, ac_x r)
{
    ac_channel c = *t->c;
    if (t->each_row) {
        c.scale_x = ac_lb_load(&t->L->b, t->scale, r, 1);
        c.zero_x = c.zero_x ? ac_lb_load(&t->L->b, t->zero, r, 1) : 0;
    }
    return c;
}

static void begin(const ac_gemm_tile *t, ac_x *acc)
{
    ac_lb *b = &t->L->b;
    const ac_gemm_form *f = t->f;
    assert(t->rows <= GEMM_ROWS && t->vecs <= GEMM_VECS && "gemm_form_of chose the tile");
    const ac_dtype d = t->c->acc;
    const ac_x zero = !f->along ? 0 : ac_dtype_is_float(d) ? ac_lb_num(b, d, 0) : ac_lb_int(b, d, 0);
    ac_x start[GEMM_VECS];
    for (int32_t r = 0; r < t->rows; r++) {
        const ac_channel c = ac_gemm_row_channel(t, t->each_row ? ac_lb_i32(b, r) : 0);
        for (int32_t v = 0; v < t->vecs && (r == 0 || t->each_row); v++)
            start[v] =
                f->along ? ac_lb_splat(b, zero, f->lanes) : ac_channel_start(&c, ac_gemm_tile_channel(t, v), f->lanes);
        for (int32_t v = 0; v < t->vecs; v++)
            acc[r * t->vecs + v] = ac_lb_var(b, ac_strf(t->L->region, "c%d_%d", (int)r, (int)v), start[v]);
    }
}

/* Where a run is: elements of x and of weights, and its number. */
typedef struct place {
    ac_x x_at, w_at, number;
} place;

/* A loop over runs in direction r. */
static place inside_of(const ac_gemm_tile *t, place p, int r)
{
    static const char *const name[] = {"ky", "kx", "kz"};
    ac_lb *b = &t->L->b;
    const ac_x k = run_loop(t, name[r], r);
    return (place){ac_lb_add(b, p.x_at, ac_lb_mul(b, k, ac_lb_i32(b, t->run_step[r]))),
                   ac_lb_add(b, p.w_at, ac_lb_mul(b, k, ac_lb_i32(b, t->w_step[r]))),
                   ac_lb_add(b, ac_lb_mul(b, p.number, ac_lb_i32(b, t->f->runs[r])), k)};
}

static ac_x ahead_at(const ac_gemm_tile *t, ac_x number)
{
    ac_lb *b = &t->L->b;
    const int64_t each = ac_gemm_steps(t->f) * t->ahead_step;
    return t->ahead ? ac_lb_add(b, t->ahead, ac_lb_mul(b, number, ac_lb_i32(b, each))) : 0;
}

/* The columns of a filter row, part by part. */
static void parts(const ac_gemm_tile *t, place p, const ac_x *acc)
{
    ac_lb *b = &t->L->b;
    for (int32_t i = 0; i < t->n_parts; i++) {
        const ac_gemm_part *q = &t->part[i];
        if (t->f->runs[1] > 1) {
            ac_gemm_tile some = *t;
            some.run_lo[1] = ac_lb_i32(b, q->lo);
            some.run_hi[1] = ac_lb_i32(b, q->hi);
            const place at = inside_of(&some, p, 1);
            run(t, at.x_at, at.w_at, ahead_at(t, at.number), ac_gemm_steps(t->f), q->outside, acc);
        } else { /* one run has all columns */
            const int64_t from = q->lo * t->column;
            const ac_x ahead = ahead_at(t, p.number);
            run_loop(t, "kx", 1);
            run(t, ac_lb_add(b, p.x_at, ac_lb_i32(b, from)),
                ac_lb_add(b, p.w_at, ac_lb_i32(b, from * t->vecs * t->f->lanes)),
                ahead ? ac_lb_add(b, ahead, ac_lb_i32(b, from * t->ahead_step)) : 0, (q->hi - q->lo) * t->column,
                q->outside, acc);
        }
        ac_lb_end(b);
    }
}

void ac_gemm_reduce(const ac_gemm_tile *t, ac_x *acc)
{
    ac_lb *b = &t->L->b;
    begin(t, acc);
    place p = {ac_lb_i32(b, 0), t->w_at, ac_lb_i32(b, 0)};
    p = inside_of(t, inside_of(t, p, 2), 0); /* planes, rows */
    if (t->n_parts > 0) {
        parts(t, p, acc);
    } else {
        p = inside_of(t, p, 1);
        if (t->c->acc == AC_I64)
            run_i64(t, p.x_at, p.w_at, acc);
        else
            run(t, p.x_at, p.w_at, ahead_at(t, p.number), ac_gemm_steps(t->f), 0, acc);
        ac_lb_end(b);
    }
    ac_lb_end(b);
    ac_lb_end(b);
    for (int32_t i = 0; i < t->rows * t->vecs; i++)
        acc[i] = t->f->along ? ac_lb_sumlanes(b, ac_lb_get(b, acc[i])) : ac_lb_get(b, acc[i]);
}
