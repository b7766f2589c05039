/* pass.c - walks the code of a call once, from fresh unknowns; of a step that takes rows, all of its calls in order. */
#include "prove/pass.h"

#include "prove/facts/contents.h"
#include "prove/strategy/arrays.h"
#include "prove/strategy/counters.h"
#include "prove/strategy/extremes.h"
#include "prove/strategy/pieces.h"
#include "prove/walk.h"
#include "prove/written.h"

/* Before each call the caller writes a row at the end of a window. */
static void walk_rows(ac_prover *p)
{
    const ac_lowered *low = p->call->low;
    const int32_t b = low->streamed_arg;
    const ac_affine n = ac_affine_of(low->row_bytes / ac_dtype_size(p->fn->buf.item[b].dtype, 1)),
                    at = ac_affine_of(p->count[b] - n.c);
    int32_t *chunk = &p->walk->point.chunk;
    ac_p_counters_begin(p);
    for (*chunk = 0; *chunk < low->rows; ++*chunk) {
        ac_p_use(p, 0, b, &at, &n, AC_USE_WRITE);
        ac_p_extremes_keep(p, 0);
        ac_p_walk(p, 1, p->fn->code.n);
    }
    *chunk = -1;
}

void ac_p_pass_open(ac_prover *p, ac_walk *walk)
{
    enum { TREE_STEPS = 1 << 24 };
    *walk = (ac_walk){.point.chunk = -1, .tree_steps = TREE_STEPS};
    p->walk = walk;
}

void ac_p_pass(ac_prover *p, bool mute)
{
    ac_walk *w = p->walk;
    ac_region_close(p->tmp);
    p->tmp = ac_region_open(ac_region_heap(p->keep));
    ac_know_open(&p->know, p->tmp);
    p->value = AC_NEW_N(p->tmp, ac_pvalue, p->fn->code.n + 1);
    w->point = (ac_point){.mute = mute, .times = 1, .chunk = w->point.chunk};
    w->sides = 0;
    w->frame = NULL;
    ac_p_contents_begin(p);
    ac_p_extremes_begin(p);
    ac_p_arrays_begin(p);
    ac_p_written_begin(p);
    if (p->call->low->rows > 0)
        walk_rows(p);
    else
        ac_p_walk(p, 1, p->fn->code.n);
    if (!mute)
        ac_p_written_end(p, w->point.chunk < 0 || w->point.chunk + 1 == p->call->low->chunks);
}

void ac_p_pass_claims(ac_prover *p, const bool *apart)
{
    const int32_t n = p->call->low->chunks;
    int32_t *chunk = &p->walk->point.chunk;
    p->walk->apart = apart;
    ac_p_results_open(p);
    for (*chunk = n > 0 ? 0 : -1; *chunk < (n > 0 ? n : 0); ++*chunk) {
        const bool first = *chunk <= 0;
        ac_p_pass(p, false);
        ac_p_contents_join(p, first);
    }
    *chunk = -1;
}
