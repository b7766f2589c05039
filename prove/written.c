/* written.c - claims that the call reads its own buffers only after writing them, and writes its results completely. */
#include "prove/written.h"

#include "prove/facts/claims.h"
#include "prove/strategy/overlap.h"
#include "prove/strategy/pieces.h"
#include "prove/strategy/strategies.h"

typedef struct written_row {
    ac_strategy id;
    ac_buffer_applies *applies;
    ac_written_strategy *function;
} written_row;

static const written_row WRITTEN[] = {
#define AC_ROWS_WRITTEN(id, applies, function) {id, applies, function},
#include "prove/strategy/rows.h"
};

/* Further ones, of elements that are read, and of a whole result. */
static const written_row READ[] = {
#define AC_ROWS_READ(id, applies, function) {id, applies, function},
#include "prove/strategy/rows.h"
};

static const struct result_row {
    ac_strategy id;
    ac_buffer_applies *applies;
    ac_result_strategy *function;
} RESULT[] = {
#define AC_ROWS_RESULT(id, applies, function) {id, applies, function},
#include "prove/strategy/rows.h"
};

static bool find(ac_prover *p, const written_row *row, size_t n_rows, int32_t buf, const ac_affine *index,
                 const ac_affine *n)
{
    for (size_t r = 0; r < n_rows; r++)
        if (ac_p_on(p, row[r].id) && (!row[r].applies || row[r].applies(p, buf)) && row[r].function(p, buf, index, n))
            return true;
    return false;
}

static bool is_written(ac_prover *p, int32_t buf, const ac_affine *index, const ac_affine *n)
{
    return find(p, WRITTEN, sizeof WRITTEN / sizeof *WRITTEN, buf, index, n);
}

static bool is_result_written(ac_prover *p, int32_t buf)
{
    const ac_affine zero = {0}, n = ac_affine_of(p->count[buf]);
    if (is_written(p, buf, &zero, &n))
        return true;
    for (size_t r = 0; r < sizeof RESULT / sizeof *RESULT; r++)
        if (ac_p_on(p, RESULT[r].id) && (!RESULT[r].applies || RESULT[r].applies(p, buf)) && RESULT[r].function(p, buf))
            return true;
    return false;
}

/* True if the call itself has to write the buffer before it reads it. */
static bool is_own(const ac_prover *p, int32_t buf)
{
    const ac_role role = p->fn->buf.item[buf].role;
    return role == AC_BUF_OUT || role == AC_BUF_SCRATCH || role == AC_BUF_LOCAL || p->made[buf];
}

void ac_p_written_begin(ac_prover *p)
{
    ac_p_cover_open(p);
    ac_p_overlap_open(p);
}

void ac_p_loop_begin(ac_prover *p, ac_x x, int32_t counter, int32_t since)
{
    if (ac_p_cover_off(p))
        return;
    ac_p_cover_loop(p, counter, since);
    ac_p_overlap_loop(p, x, counter, since);
}

void ac_p_loop_end(ac_prover *p, int32_t counter, int32_t since, ac_interval trips, bool breaks)
{
    if (ac_p_cover_off(p))
        return;
    ac_p_overlap_loop_end(p);
    ac_p_cover_loop_end(p, counter, since, trips, breaks);
}

void ac_p_branch_begin(ac_prover *p, ac_x x, int32_t facts)
{
    if (ac_p_cover_off(p))
        return;
    ac_p_cover_branch(p, facts);
    ac_p_overlap_side(p, x, false);
}

void ac_p_branch_else(ac_prover *p, ac_x x, int32_t facts)
{
    if (ac_p_cover_off(p))
        return;
    ac_p_overlap_side(p, x, true);
    ac_p_cover_else(p, facts);
}

void ac_p_branch_end(ac_prover *p)
{
    if (ac_p_cover_off(p))
        return;
    ac_p_overlap_join(p);
    ac_p_cover_join(p);
}

void ac_p_use(ac_prover *p, ac_x x, int32_t buf, const ac_affine *index, const ac_affine *n, ac_use use)
{
    if (ac_p_cover_off(p))
        return;
    ac_p_overlap_use(p, x, buf, index, n, use);
    if (!is_own(p, buf))
        return;
    if (use == AC_USE_WRITE) {
        ac_p_cover_add(p, p->cover->open, (ac_stretch){.base = *index, .len = *n, .buf = buf});
    } else if (use == AC_USE_READ) {
        if (is_written(p, buf, index, n) || find(p, READ, sizeof READ / sizeof *READ, buf, index, n))
            ac_p_proven(p, AC_CLAIM_WRITTEN);
        else if (!ac_is_unreachable(&p->know))
            ac_p_doubt(p, x, AC_CLAIM_WRITTEN, false, "'%s' is read before it is certainly written",
                       p->fn->buf.item[buf].name);
    }
}

void ac_p_use_spread(ac_prover *p, int32_t buf, const ac_affine *index, int64_t pitch, int64_t slots, int64_t by,
                     int64_t steps)
{
    if (ac_p_cover_off(p) || !is_own(p, buf) || slots < 1 || steps < 1)
        return;
    ac_stretch s = {.base = *index, .len = ac_affine_of(1), .buf = buf};
    ac_stretch_by(&s, pitch, slots);
    ac_stretch_by(&s, by, steps);
    ac_p_cover_add(p, p->cover->open, s);
}

void ac_p_written_end(ac_prover *p, bool last)
{
    for (int32_t i = 0; i < p->cover->open->piece.n; i++) {
        const ac_stretch *s = &p->cover->open->piece.item[i];
        if (!s->base.n && !s->len.n && !s->n_guard && s->buf < p->call->n_arg)
            ac_p_cover_add(p, p->cover->results, *s);
    }
    p->cover->open = p->cover->results;
    for (int32_t b = 0; b < p->call->n_arg && last; b++) {
        if ((p->fn->buf.item[b].role != AC_BUF_OUT && !p->made[b]) || !p->count[b])
            continue;
        if (is_result_written(p, b))
            ac_p_proven(p, AC_CLAIM_WRITTEN);
        else
            ac_p_doubt(p, 0, AC_CLAIM_WRITTEN, false, "result '%s' is not certainly written as a whole",
                       p->fn->buf.item[b].name);
    }
    ac_p_overlap_close(p);
}
