/* cover_blocks.h - blocks of code that are being followed, and the pieces of buffers that each has certainly
 * written. */
#ifndef AC_PROVE_COVER_BLOCKS_H
#define AC_PROVE_COVER_BLOCKS_H
#include "prove/cover.h"
#include "prove/domain/stretch.h"

typedef struct ac_cover_block {
    AC_VEC(ac_stretch) piece;
    AC_VEC(ac_stretch) then;  /* of a branch: what the first side wrote */
    const ac_affine *fact[2]; /* ... and what is true on its sides */
    int32_t n_fact[2];
    bool kept;              /* for the other calls of the step too */
    int32_t counter, since; /* of a loop; else 0 */
    struct ac_cover_block *up;
} ac_cover_block;

typedef struct ac_cover {
    ac_cover_block *open;
} ac_cover;

static inline bool ac_p_cover_off(const ac_prover *p)
{
    return p->dry || p->mute;
}

/* written.c: one more piece of a block; those that meet become one. */
void ac_p_cover_add(ac_prover *p, ac_cover_block *b, ac_stretch s);
void ac_p_cover_rows(ac_cover_block *b, int32_t least); /* pieces at equal distances, `least` or more, become one */
bool ac_p_is_run(ac_prover *p, const ac_stretch *s);    /* Is what guards the piece true? */
/* written_each.c: are elements from .. to - 1 written by pieces of open blocks whose places are numbers? */
bool ac_p_written_each(ac_prover *p, int32_t buf, int64_t from, int64_t to);
/* laid_out.c: the piece in the iteration in which the loop variable is v; false: it is not written then, or nobody
 * knows. */
bool ac_p_at_iteration(ac_prover *p, ac_stretch *s, int32_t counter, int32_t since, const ac_affine *v);

#endif
