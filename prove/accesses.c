/* accesses.c - claims that an instruction stays inside its buffers: loads, stores, and tiles and requantisations, whose
 * extents are those of ir/loop/tiles.h and requants.h. */
#include "prove/accesses.h"

#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"
#include "prove/facts/claims.h"
#include "prove/facts/contents.h"
#include "prove/facts/evaluate.h"
#include "prove/facts/structure.h"
#include "prove/strategy/arrays.h"
#include "prove/strategy/counters.h"
#include "prove/strategy/extremes.h"
#include "prove/strategy/strategies.h"
#include "prove/written.h"

static const char *kind_of(ac_use use)
{
    return use == AC_USE_READ ? "reads" : "writes";
}

/* The reason of a doubt: the elements that index .. index + n - 1 may be, as far as intervals tell. */
static void doubt_inside(ac_prover *p, ac_x x, int32_t buf, const ac_pvalue *index, const ac_affine *n, ac_use use)
{
    const ac_affine last = ac_affine_add(&index->form, n, 1), top = ac_affine_plus(&last, -1);
    const int64_t count = p->count[buf];
    const bool wrong = ac_p_surely_above(p, &top, count - 1) || ac_p_surely_below(p, &index->form, 0);
    const ac_interval lo = ac_interval_meet(index->in, ac_affine_interval(&p->know, &index->form)),
                      hi = ac_affine_interval(&p->know, &top);
    ac_p_doubt(p, x, AC_CLAIM_ACCESS, wrong, "%s elements %lld .. %lld of '%s', which has 0 .. %lld", kind_of(use),
               (long long)lo.lo, (long long)hi.hi, p->fn->buf.item[buf].name, (long long)(count - 1));
}

static const struct {
    ac_strategy id;
    ac_buffer_applies *applies;
    ac_inside_strategy *function;
} INSIDE[] = {
#define AC_ROWS_INSIDE(id, applies, function) {id, applies, function},
#include "prove/strategy/rows.h"
};

static bool is_inside(ac_prover *p, int32_t buf, const ac_pvalue *index, const ac_affine *n)
{
    if (!n->n && index->in.lo >= 0 && ac_sat_add(index->in.hi, n->c) <= p->count[buf]) /* as the interval shows */
        return true;
    for (size_t r = 0; r < sizeof INSIDE / sizeof *INSIDE; r++)
        if (ac_p_on(p, INSIDE[r].id) && (!INSIDE[r].applies || INSIDE[r].applies(p, buf)) &&
            INSIDE[r].function(p, buf, index, n))
            return true;
    return false;
}

/* `n` elements from `index` on are read or written; n may be a sum. At most none when n is 0 or less. */
static void claim_inside(ac_prover *p, ac_x x, int32_t buf, const ac_pvalue *index, const ac_affine *n, ac_use use)
{
    if (use != AC_USE_READ)
        ac_p_extreme_stored(p, buf);
    if (p->at->dry)
        return;
    if (is_inside(p, buf, index, n))
        ac_p_proven(p, AC_CLAIM_ACCESS);
    else if (!ac_is_unreachable(&p->know))
        doubt_inside(p, x, buf, index, n, use);
    ac_p_use(p, x, buf, &index->form, n, use);
}

static void claim_n(ac_prover *p, ac_x x, int32_t buf, ac_x index, int64_t n, ac_use use)
{
    const ac_affine count = ac_affine_of(n);
    claim_inside(p, x, buf, &p->value[index], &count, use);
}

/* Elements of x, and of w, that n steps take: constant + per_step * n. */
typedef struct extents {
    int64_t x, x_step, w, w_step;
} extents;

static extents extents_of(const ac_tile *t)
{
    const int64_t rows = t->rows, channels = t->channels, depth = t->depth, pitch = t->pitch, parts = t->shift;
    switch (t->form) {
    case AC_TILE_PAIRS:
    case AC_TILE_ROW:
        return (extents){0, rows * 8, 0, channels * 8};
    case AC_TILE_BYTES:
        return (extents){0, rows * 16, 0, channels * 16};
    case AC_TILE_EACH: /* one step; weights go on after the last slot, by the shift of each row */
        return (extents){(channels - 1) * pitch + depth, 0, channels * depth + (rows - 1) * parts, 0};
    case AC_TILE_SPREAD: {                                                /* w: of the elements that are written */
        const int64_t slot = channels % 4 == 2 ? channels : channels - 1; /* channels 0 1 2 3: slots 0 2 1 3 */
        return (extents){channels - t->stride, t->stride, slot * pitch + 1 - parts, parts};
    }
    case AC_TILE_UNSIGNED:
        return (extents){0, depth, 0, depth * channels};
    case AC_TILE_OUTER:
        return (extents){parts * (rows - 1) * pitch, parts * depth, 0, parts * depth * channels};
    case AC_TILE_LANES: {
        const int64_t step = depth ? pitch / depth : 0;
        return (extents){parts * (rows - 1) * pitch - step + channels, parts * step, 0, parts * channels};
    }
    case AC_TILE_MATRIX:
        return (extents){(rows - 1) * pitch, 64, 0, 64 * channels};
    case AC_TILE_WORDS:
        return (extents){0, 2 * rows, 0, 4 * channels};
    case AC_TILE_FORMS:
        break;
    }
    return (extents){INT32_MAX, 0, INT32_MAX, 0};
}

static ac_affine extent(const ac_pvalue *steps, int64_t constant, int64_t per_step)
{
    const ac_affine n = ac_affine_times(&steps->form, per_step);
    return ac_affine_plus(&n, constant);
}

/* Elements that SPREAD writes: slots are in the order 0, 2, 1, 3 of each four, so two of four skip one. */
static void use_spread(ac_prover *p, const ac_tile *t, const ac_affine *at, int64_t steps)
{
    const int32_t dense = t->channels % 4 == 2 ? t->channels - 1 : t->channels;
    ac_p_use_spread(p, t->acc, at, t->pitch, dense, t->shift, steps);
    if (dense < t->channels) {
        const ac_affine last = ac_affine_plus(at, (int64_t)t->channels * t->pitch);
        ac_p_use_spread(p, t->acc, &last, t->pitch, 1, t->shift, steps);
    }
}

/* The range of a sum of 64 products for each of `steps`; any i32 if it may wrap. */
static ac_interval sums_of(const ac_prover *p, const ac_tile *t, ac_interval steps)
{
    const ac_interval product = ac_interval_mul(ac_p_content(p, t->x), ac_p_content(p, t->w)),
                      n = {steps.lo > 0 ? 64 * steps.lo : 0, 64 * steps.hi}, all = ac_interval_mul(product, n);
    return ac_interval_inside(all, ac_p_range(AC_I32)) ? all : ac_p_range(AC_I32);
}

static void claim_tile(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_tile t = ac_ins_tile(i);
    const ac_pvalue *steps = &p->value[i->c];
    const extents e = extents_of(&t);
    const ac_affine read = extent(steps, e.x, e.x_step), other = extent(steps, e.w, e.w_step);
    claim_inside(p, x, t.x, &p->value[i->a], &read, AC_USE_READ);
    if (t.form == AC_TILE_EACH && (steps->in.lo != 1 || steps->in.hi != 1))
        ac_p_doubt(p, x, AC_CLAIM_ACCESS, true, "a tile of each channel by itself has one step, not %lld .. %lld",
                   (long long)steps->in.lo, (long long)steps->in.hi);
    if (t.form == AC_TILE_SPREAD) {
        const bool dense = t.channels == 1 && t.shift == 1;
        claim_inside(p, x, t.acc, &p->value[i->b], &other, dense ? AC_USE_WRITE : AC_USE_WRITE_SOME);
        if (!dense && steps->in.lo == steps->in.hi)
            use_spread(p, &t, &p->value[i->b].form, steps->in.lo);
        ac_p_put(p, t.acc, ac_p_range(AC_I8));
        return;
    }
    claim_inside(p, x, t.w, &p->value[i->b], &other, AC_USE_READ);
    const ac_pvalue at = {.form = ac_affine_of(0)};
    const ac_affine sums = ac_affine_of((int64_t)t.rows * t.channels);
    if (t.form == AC_TILE_UNSIGNED)
        claim_inside(p, x, t.acc, &at, &sums, AC_USE_READ);
    claim_inside(p, x, t.acc, &at, &sums, AC_USE_WRITE);
    ac_p_put(p, t.acc, t.form == AC_TILE_MATRIX ? sums_of(p, &t, steps->in) : ac_p_range(AC_I32));
}

static void claim_requant(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_requants q = ac_ins_requant(i);
    const ac_pvalue at = {.in = {(int64_t)q.lanes * q.row, (int64_t)q.lanes * q.row},
                          .form = ac_affine_of((int64_t)q.lanes * q.row)};
    const ac_affine lanes = ac_affine_of(q.lanes), both = ac_affine_of(2 * (int64_t)q.lanes);
    claim_inside(p, x, q.acc, &at, &lanes, AC_USE_READ);
    claim_inside(p, x, q.table, &p->value[i->b], &both, AC_USE_READ);
    claim_inside(p, x, q.table, &p->value[i->c], &lanes, AC_USE_READ);
    claim_inside(p, x, q.y, &p->value[i->a], &lanes, AC_USE_WRITE);
    ac_p_put(p, q.y, (ac_interval){q.lo, q.hi});
}

/* n elements from `first` on, of each of `parts` that are `pitch` apart. */
static void claim_parts(ac_prover *p, ac_x x, int32_t buf, const ac_affine *first, int64_t n, int64_t parts,
                        int64_t pitch, ac_use use)
{
    const ac_affine count = ac_affine_of(n);
    for (int64_t e = 0; e < parts; e++) {
        const ac_affine form = ac_affine_plus(first, e * pitch);
        const ac_pvalue at = {.in = ac_affine_interval(&p->know, &form), .form = form};
        claim_inside(p, x, buf, &at, &count, use);
    }
}

/* The thread's part of a product of its warp: it reads words of all 32 threads of that, `threads` apart (mma.c). */
static void claim_mma(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_x phase = ac_p_phase_around(p, x);
    const ac_interval trips = p->value[ac_p_ins(p, phase)->b].in;
    if (!phase || trips.lo != trips.hi) {
        ac_p_doubt(p, x, AC_CLAIM_ACCESS, false, "a product of a warp that is not in a block of threads");
        return;
    }
    const int64_t threads = trips.hi;
    const ac_affine *sums = &p->value[i->a].form;
    const int32_t words = (int32_t)i->k.i;
    for (int32_t k = 0; k < 2; k++) { /* four of one operand, two of the other */
        const ac_affine q = ac_know_quotient(&p->know, &p->value[k ? i->c : i->b].form, 32),
                        warp = ac_affine_times(&q, 32);
        claim_parts(p, x, words, &warp, 32, k ? 2 : 4, threads, AC_USE_READ);
    }
    claim_parts(p, x, i->aux, sums, 1, 4, threads, AC_USE_READ);
    claim_parts(p, x, i->aux, sums, 1, 4, threads, AC_USE_WRITE);
    if (i->dtype == AC_I8)
        ac_p_put(p, i->aux, ac_p_range(AC_I32));
}

/* Claims that a buffer whose lanes are read at once is aligned to them. */
static void claim_aligned(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_buf *b = &p->fn->buf.item[i->aux];
    const ac_bytes bytes = ac_dtype_size(b->dtype, i->lanes);
    if (!(i->flags & AC_F_ALIGNED) || p->at->dry)
        return;
    if (b->align % bytes == 0)
        ac_p_proven(p, AC_CLAIM_ACCESS);
    else
        ac_p_doubt(p, x, AC_CLAIM_ACCESS, true, "accesses %lld bytes at once of '%s', whose alignment is %d",
                   (long long)bytes, b->name, b->align);
}

/* NARROW loads are multiplied two at a time in 16 bits: claims that they are small enough. */
static void claim_narrow(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_buf *b = &p->fn->buf.item[i->aux];
    if (!(i->flags & AC_F_NARROW) || p->at->dry)
        return;
    ac_const *k = ac_p_constant(p, i->aux);
    const int8_t *v = k && k->dtype == AC_I8 && b->dtype == AC_I8 ? ac_const_data(p->cx, k) : NULL;
    int64_t at = 0;
    while (v && at < k->count && v[at] <= AC_NARROW && v[at] >= -AC_NARROW)
        at++;
    if (v && at == k->count)
        ac_p_proven(p, AC_CLAIM_INTEGER);
    else if (v)
        ac_p_doubt(p, x, AC_CLAIM_INTEGER, true, "loads '%s' as numbers of at most %d, and element %lld is %d", b->name,
                   (int)AC_NARROW, (long long)at, v[at]);
    else
        ac_p_doubt(p, x, AC_CLAIM_INTEGER, false, "loads '%s', whose bytes are not known, as numbers of at most %d",
                   b->name, (int)AC_NARROW);
}

void ac_p_access(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    switch ((int)i->op) {
    case AC_L_LOAD:
        claim_n(p, x, i->aux, i->a, i->lanes, AC_USE_READ);
        claim_aligned(p, x);
        claim_narrow(p, x);
        break;
    case AC_L_STORE:
        claim_n(p, x, i->aux, i->a, i->lanes, AC_USE_WRITE);
        ac_p_counter_stored(p, x);
        ac_p_array_stored(p, x);
        if (!ac_dtype_is_float((ac_dtype)i->dtype))
            ac_p_stored(p, x);
        break;
    case AC_L_TILE:
        claim_tile(p, x);
        break;
    case AC_L_REQUANT:
        claim_requant(p, x);
        break;
    case AC_L_MMA:
        claim_mma(p, x);
        break;
    default:
        break;
    }
}
