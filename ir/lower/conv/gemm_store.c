/* gemm_store.c - finishes a register tile: applies the epilogue to the accumulators and stores the results.
 *
 * Cheap ends (float, at most a few absorbed operators of a step or two) are written once for each row. Others
 * (requantisation, functions) would make the tile many times larger than its reduction, so the accumulators go to a
 * line of the stack ("stage") and one loop over the rows finishes them: the extra store and load per vector cost less
 * than the requantisation around them, and the function shrinks by the number of rows. Integer results are the same
 * either way; so are floats. */
#include "ir/lower/conv/gemm.h"
#include "ir/lower/matrix.h"

#include <string.h>

void ac_gemm_store_lanes(ac_lower *L, ac_x v, ac_x oc, int64_t count, ac_x *idx)
{
    ac_lb *b = &L->b;
    const int32_t lanes = ac_lb_lane_count(b, v), last = L->node->out[0]->rank - 1;
    const int32_t most = ac_lo_max_lanes(L, AC_I32) * (ac_lo_has_long_chain(L) ? ac_lo_long_chain_vectors(L) : 1);
    for (int64_t at = 0; at < count;) {
        int32_t n = lanes;
        while (n > most || at + n > count)
            n /= 2;
        ac_x part = v;
        if (n == 1) {
            part = ac_lb_lane(b, v, (int32_t)at);
        } else if (n < lanes) {
            int64_t pattern[64];
            for (int32_t i = 0; i < n; i++)
                pattern[i] = at + i;
            part = ac_lb_shuffle(b, v, 0, pattern, n);
        }
        idx[last] = ac_lb_add(b, oc, ac_lb_i32(b, at));
        ac_lo_result(L, part, idx, n);
        at += n;
    }
}

/* Lanes along the reduction: the accumulator is one lane, of channel v of the block. */
static void store_one(const ac_gemm_tile *t, ac_x sum, int32_t v, ac_x *idx)
{
    const ac_x oc = ac_gemm_tile_channel(t, v);
    const ac_x start = ac_channel_start(t->c, oc, 1);
    sum = t->c->kind == AC_MACS_SUM ? ac_lb_add_wrap(&t->L->b, sum, start) : ac_lb_add(&t->L->b, sum, start);
    ac_gemm_store_lanes(t->L, ac_channel_done(t->c, sum, oc), oc, 1, idx);
}

/* The accumulators of row r (v is their vector number in the tile) that belong to channels that exist. */
static void store_vector(const ac_gemm_tile *t, ac_x acc, int32_t v, ac_x *idx)
{
    ac_lb *b = &t->L->b;
    const ac_gemm_form *f = t->f;
    if (f->along) {
        store_one(t, acc, v, idx);
        return;
    }
    const int64_t rest = f->n % f->lanes;
    const ac_x in_group = ac_lb_add(b, t->oc, ac_lb_i32(b, v * f->lanes)), oc = ac_gemm_tile_channel(t, v);
    ac_x done = ac_channel_done(t->c, acc, oc);
    int64_t at = 0;
    const bool known = ac_lb_const_int(b, in_group, &at);
    if (!rest || v + 1 < t->vecs || (known && at + f->lanes <= f->n)) {
        ac_gemm_store_lanes(t->L, done, oc, f->lanes, idx);
    } else if (known) {
        ac_gemm_store_lanes(t->L, done, oc, rest, idx);
    } else {
        ac_lb_if(b, ac_lb_le(b, in_group, ac_lb_i32(b, f->n - f->lanes)));
        ac_gemm_store_lanes(t->L, done, oc, f->lanes, idx);
        ac_lb_else(b);
        ac_gemm_store_lanes(t->L, done, oc, rest, idx);
        ac_lb_end(b);
    }
}

static int64_t stage_elements(const ac_gemm_form *f)
{
    return (int64_t)f->rows * f->vecs * f->lanes;
}

static bool has_room(const ac_gemm_form *f, ac_dtype d)
{
    return ac_dtype_size(d, stage_elements(f)) <= 4096;
}

/* The stage of this function, large enough for its largest tile; -1 when that would take more than a stack line may. */
static int32_t stage_of(const ac_gemm_tile *t, ac_dtype d)
{
    const ac_loop_fn *fn = t->L->b.fn;
    if (!has_room(t->f, d))
        return -1;
    for (int32_t i = 0; i < fn->buf.n; i++)
        if (!strcmp(fn->buf.item[i].name, "stage"))
            return i;
    return ac_lo_local(t->L, "stage", d, stage_elements(t->f));
}

enum { FEW = 3 };

/* True if only a few instructions follow the accumulators. */
static bool is_cheap(const ac_lower *L, ac_dtype d)
{
    bool cheap = ac_dtype_is_float(d) && L->node->n_fused <= FEW;
    for (int32_t f = 0; f < L->node->n_fused && cheap; f++) {
        const ac_node *m = L->node->fused[f];
        cheap = ac_ops[m->op].flags & OF_CHEAP && ac_dtype_is_float(m->out[0]->dtype);
    }
    return cheap;
}

/* True if the end of a tile is unrolled for each row. */
static bool is_short(const ac_lower *L, ac_dtype d, int64_t rows)
{
    enum { MANY = 3 };
    return is_cheap(L, d) || rows < MANY;
}

bool ac_gemm_stores_from(const ac_lower *L, const ac_gemm_form *f, const ac_channel *c, int64_t rows)
{
    return !is_short(L, c->acc, rows) && has_room(f, c->acc);
}

/* Sums of n channels from oc on, plus the start value of accumulators of other tiles. */
static ac_x started(const ac_channel *c, bool starts, ac_x sum, ac_x oc, int32_t n)
{
    return starts ? ac_lb_add(&c->L->b, sum, ac_channel_start(c, oc, n)) : sum;
}

enum { LONG = 64 }; /* steps of a reduction */

/* True if the outer loop is over the vectors of a tile, all of them whole, so that the constants of one vector stay in
 * registers. Float requantisation is too short for that, and with a short reduction the cost of the loop shows. */
static bool loops(const ac_gemm_tile *t, int32_t lanes)
{
    const bool integers = (t->c->kind == AC_MACS_I8 || t->c->kind == AC_MACS_U8) && !t->c->flt;
    return integers && lanes > 1 && t->vecs > 1 && !t->f->along && t->f->n % lanes == 0 &&
           ac_gemm_runs(t->f) * ac_gemm_steps(t->f) >= LONG;
}

/* The rows of the stage, in vectors; starts: they are sums of products alone. */
static void store_stage(const ac_gemm_tile *t, int32_t stage, int32_t lanes, bool starts, ac_gemm_at_fn *at,
                        const void *user)
{
    ac_lb *b = &t->L->b;
    ac_x idx[AC_MAX_RANK];
    ac_gemm_tile one = *t; /* as a row sees it, or a vector of one */
    const bool loop = loops(t, lanes);
    ac_x first = 0;
    if (loop) {
        first = ac_lb_mul(b, ac_lb_for_n(b, "v", t->vecs), ac_lb_i32(b, lanes));
        one.oc = ac_lb_add(b, t->oc, first);
        one.vecs = 1;
    }
    const ac_x r =
        t->from ? ac_lb_for(b, "r", t->from, ac_lb_i32(b, t->rows), 1, AC_MARK_SERIAL) : ac_lb_for_n(b, "r", t->rows);
    at(user, r, idx);
    const ac_channel c = ac_gemm_row_channel(t, r);
    one.c = &c;
    if (!loop && !t->f->along && t->f->n % lanes == 0 && (t->vecs & (t->vecs - 1)) == 0 &&
        ac_lo_has_long_chain(t->L)) { /* all vectors at once */
        ac_x all = ac_lb_load(b, stage, ac_lb_mul(b, r, ac_lb_i32(b, t->vecs * lanes)), t->vecs * lanes);
        const ac_x oc = ac_gemm_tile_channel(t, 0);
        all = started(&c, starts, all, oc, t->vecs * lanes);
        ac_gemm_store_lanes(t->L, ac_channel_done(&c, all, oc), oc, t->vecs * lanes, idx);
        ac_lb_end(b);
        return;
    }
    for (int32_t v = 0; v < one.vecs; v++) {
        ac_x from = ac_lb_add(b, ac_lb_mul(b, r, ac_lb_i32(b, t->vecs * lanes)), ac_lb_i32(b, v * lanes));
        from = loop ? ac_lb_add(b, from, first) : from;
        const ac_x sum = ac_lb_load(b, stage, from, lanes);
        store_vector(&one, started(&c, starts, sum, ac_gemm_tile_channel(&one, v), lanes), v, idx);
    }
    ac_lb_end(b);
    if (loop)
        ac_lb_end(b);
}

void ac_gemm_store(const ac_gemm_tile *t, const ac_x *acc, ac_gemm_at_fn *at, const void *user)
{
    ac_lb *b = &t->L->b;
    ac_x idx[AC_MAX_RANK];
    const ac_dtype d = ac_lb_dtype(b, acc[0]);
    const int32_t stage = is_short(t->L, d, t->rows) ? -1 : stage_of(t, d);
    ac_gemm_tile one = *t; /* as a row sees it */
    ac_channel c = *t->c;
    one.c = &c;
    if (stage < 0) {
        for (int32_t r = 0; r < t->rows; r++) {
            at(user, ac_lb_i32(b, r), idx);
            c = ac_gemm_row_channel(t, t->each_row ? ac_lb_i32(b, r) : 0);
            for (int32_t v = 0; v < t->vecs; v++)
                store_vector(&one, acc[r * t->vecs + v], v, idx);
        }
        return;
    }
    const int32_t lanes = ac_lb_lane_count(b, acc[0]);
    for (int32_t i = 0; i < t->rows * t->vecs; i++)
        ac_lb_store(b, stage, ac_lb_i32(b, (int64_t)i * lanes), acc[i]);
    store_stage(t, stage, lanes, false, at, user);
}

typedef struct place {
    ac_lower *L;
    ac_x p; /* first row of the tile */
} place;

static void row_at(const void *user, ac_x r, ac_x *idx)
{
    const place *to = user;
    ac_row_index(to->L, ac_lb_add(&to->L->b, to->p, r), idx);
}

void ac_gemm_store_rows(const ac_gemm_tile *t, const ac_x *acc, ac_x p)
{
    const place to = {t->L, p};
    ac_gemm_store(t, acc, row_at, &to);
}

int32_t ac_gemm_stage(const ac_gemm_tile *t)
{
    return stage_of(t, AC_I32);
}

void ac_gemm_store_matrix(const ac_gemm_tile *t, int32_t stage, ac_x p)
{
    const place to = {t->L, p};
    store_stage(t, stage, t->f->lanes, true, row_at, &to);
}
