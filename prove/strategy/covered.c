/* covered.c - finds elements among the pieces that are certainly written: in one piece, in several that touch, or in
 * those of a loop's first iteration. */
#include "prove/strategy/pieces.h"
#include "prove/strategy/strategies.h"

static bool is_in_one(ac_prover *p, int32_t buf, const ac_affine *index, const ac_affine *n)
{
    for (const ac_cover_block *b = p->cover->open; b; b = b->up)
        for (int32_t i = 0; i < b->piece.n; i++)
            if (b->piece.item[i].buf == buf && ac_p_is_run(p, &b->piece.item[i]) &&
                ac_stretch_holds(&p->know, &b->piece.item[i], index, n))
                return true;
    return false;
}

/* Joins the pieces that are certainly written before this read; of the loop of block `first` (NULL: none) those of its
 * first iteration, which comes before every read in the loop. */
static bool is_written_together(ac_prover *p, const ac_cover_block *first, int32_t buf, const ac_affine *index,
                                const ac_affine *n)
{
    ac_cover_block all = {0};
    for (const ac_cover_block *b = p->cover->open; b; b = b->up)
        for (int32_t i = 0; i < b->piece.n; i++) {
            ac_stretch s = b->piece.item[i];
            if (s.buf != buf)
                continue;
            if (b == first) {
                const ac_affine v = p->know.unknown.item[b->counter].first;
                if (v.lost || !ac_p_at_iteration(p, &s, b->counter, b->since, &v))
                    continue;
            }
            if (!ac_p_is_run(p, &s))
                continue;
            s.n_guard = 0;
            ac_p_cover_add(p, &all, s);
        }
    for (int rows = 0; rows < 2; rows++) {
        if (rows)
            ac_p_cover_rows(&all, 2);
        for (int32_t i = 0; i < all.piece.n; i++)
            if (ac_stretch_holds(&p->know, &all.piece.item[i], index, n))
                return true;
    }
    return false;
}

bool ac_p_written_by_pieces(ac_prover *p, int32_t buf, const ac_affine *index, const ac_affine *n)
{
    if (is_in_one(p, buf, index, n))
        return true;
    for (const ac_cover_block *b = p->cover->open; b; b = b->up)
        if (b->counter && is_written_together(p, b, buf, index, n))
            return true;
    return false;
}
