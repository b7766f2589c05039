/* pieces.h - the pieces of buffers that the code has certainly written, by block of code that is being walked.
 *
 * A store makes a piece (domain/stretch.h); pieces that touch become one. At the end of a loop each of its pieces is
 * laid out along the loop variable; of a branch only the pieces remain that both sides write, or that are outside the
 * buffer if the branch is not taken; the others are guarded by the condition of their side. The visible pieces are
 * those of all open blocks. */
#ifndef AC_PROVE_STRATEGY_PIECES_H
#define AC_PROVE_STRATEGY_PIECES_H
#include "prove/domain/stretch.h"
#include "prove/facts/prover.h"

typedef struct ac_cover_block {
    AC_VEC(ac_stretch) piece;
    AC_VEC(ac_stretch) then;  /* of a branch: pieces of its first side */
    const ac_affine *fact[2]; /* ... and the facts of its sides */
    int32_t n_fact[2];
    bool kept;              /* also for the other calls of the step */
    int32_t counter, since; /* of a loop: unknowns from `since` on are those of an iteration; else 0 */
    struct ac_cover_block *up;
} ac_cover_block;

typedef struct ac_cover {
    ac_cover_block *open;
    ac_cover_block *results; /* pieces of all calls of the step */
    int64_t marks;           /* budget of mark_each.c for the call */
} ac_cover;

static inline bool ac_p_cover_off(const ac_prover *p)
{
    return p->at->dry || p->at->mute;
}

/* The outermost block of a pass, and the results of a step before its first call. */
void ac_p_cover_open(ac_prover *p);
void ac_p_results_open(ac_prover *p);

/* Adds a piece to a block; pieces that touch become one. */
void ac_p_cover_add(ac_prover *p, ac_cover_block *b, ac_stretch s);
void ac_p_cover_rows(ac_cover_block *b, int32_t least); /* pieces at equal distances, `least` or more, become one */
bool ac_p_is_run(ac_prover *p, const ac_stretch *s);    /* true if the guards of the piece hold here */

/* Blocks of the walk. Facts from `facts` on hold on the side that begins, and only there. */
void ac_p_cover_loop(ac_prover *p, int32_t counter, int32_t since);
void ac_p_cover_branch(ac_prover *p, int32_t facts);
void ac_p_cover_else(ac_prover *p, int32_t facts);
void ac_p_cover_join(ac_prover *p);

/* lay_out.c: the end of a loop; and the piece when the loop variable is v; false: it is not written then, or that is
 * unknown. */
void ac_p_cover_loop_end(ac_prover *p, int32_t counter, int32_t since, ac_interval trips, bool breaks);
bool ac_p_at_iteration(ac_prover *p, ac_stretch *s, int32_t counter, int32_t since, const ac_affine *v);

#endif
