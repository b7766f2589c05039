/* mark_each.c - marks every element that pieces with constant places write, to show that a range is written.
 *
 * It works for any arrangement of the pieces: rows of a transpose whose ends come from another loop, or copies that
 * overlap. Tried last, as it costs a bit for each element of the range, and a step for each run of elements of a piece;
 * the budget of a call is ac_cover.marks. */
#include "prove/strategy/pieces.h"
#include "prove/strategy/strategies.h"

/* The runs of a piece: its strides count through, the innermost first. */
static int64_t count_runs(const ac_stretch *s)
{
    int64_t runs = 1;
    for (int32_t k = 0; k < s->n; k++)
        runs = ac_sat_mul(runs, s->stride[k].n);
    return runs;
}

static void mark_run(uint64_t *mark, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to;) {
        const int64_t word_end = (i / 64 + 1) * 64, end = word_end < to ? word_end : to;
        const uint64_t all = UINT64_MAX >> (64 - (end - i));
        mark[i / 64] |= all << (i % 64);
        i = end;
    }
}

static void mark_piece(const ac_stretch *s, uint64_t *mark, int64_t from, int64_t to)
{
    int64_t at[AC_STRIDES] = {0}, base = s->base.c;
    int32_t k;
    do {
        const int64_t lo = base > from ? base : from, end = base + s->len.c;
        mark_run(mark, lo - from, (end < to ? end : to) - from);
        for (k = 0; k < s->n; k++) { /* the next run: the first stride that is not at its end goes on */
            base += s->stride[k].by;
            if (++at[k] < s->stride[k].n)
                break;
            base -= s->stride[k].by * s->stride[k].n;
            at[k] = 0;
        }
    } while (k < s->n);
}

static bool all_marked(const uint64_t *mark, int64_t n)
{
    for (int64_t i = 0; i < n / 64; i++)
        if (mark[i] != UINT64_MAX)
            return false;
    return n % 64 == 0 || mark[n / 64] == UINT64_MAX >> (64 - n % 64);
}

/* Are all elements of s inside of -LARGEST .. LARGEST, so that no sum of strides overflows? */
static bool is_number(const ac_stretch *s)
{
    const int64_t LARGEST = INT64_C(1) << 40;
    int64_t reach = s->base.n || s->len.n || ac_stretch_is_many(s)
                        ? INT64_MAX
                        : ac_sat_add(s->base.c < 0 ? -s->base.c : s->base.c, s->len.c);
    for (int32_t k = 0; k < s->n; k++)
        reach = ac_sat_add(reach, ac_sat_mul(s->stride[k].by, s->stride[k].n));
    return reach <= LARGEST && s->len.c > 0;
}

static bool all_written(ac_prover *p, int32_t buf, int64_t from, int64_t to)
{
    const int64_t MOST = INT64_C(1) << 26;
    if (from < 0 || to > p->count[buf] || to <= from || to - from > MOST)
        return false;
    ac_region *r = ac_region_open(ac_region_heap(p->keep));
    const int64_t words = (to - from + 63) / 64;
    uint64_t *mark = AC_NEW_N(r, uint64_t, words);
    p->cover->marks -= words;
    for (const ac_cover_block *b = p->cover->open; b; b = b->up)
        for (int32_t i = 0; i < b->piece.n; i++) {
            const ac_stretch *s = &b->piece.item[i];
            if (s->buf != buf || !is_number(s) || count_runs(s) > p->cover->marks || !ac_p_is_run(p, s))
                continue;
            p->cover->marks -= count_runs(s);
            mark_piece(s, mark, from, to);
        }
    const bool all = p->cover->marks > 0 && all_marked(mark, to - from);
    ac_region_close(r);
    return all;
}

bool ac_p_written_each(ac_prover *p, int32_t buf, const ac_affine *index, const ac_affine *n)
{
    const ac_affine end = ac_affine_add(index, n, 1);
    return all_written(p, buf, ac_affine_interval(&p->know, index).lo, ac_affine_interval(&p->know, &end).hi);
}
