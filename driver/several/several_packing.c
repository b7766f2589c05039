/* several_packing.c - one packing of weights for all sizes of a range (--dim NAME=LO..HI).
 *
 * Register tiles read weights in blocks of one to AC_PACKINGS vectors of channels, and which is best depends on how
 * many rows there are. Chosen for each size alone, the blob would have the same weights in several orders:
 *
 *     rows        1    2 .. 9   10 .. 16              all
 *     blocks of   4      3         2            =>     2       one constant instead of three
 *
 * So every step gets the blocks with the least sum, over all sizes, of estimated cycles by those of the best blocks for
 * the size (ir/lower/conv/gemm_cost.c). Rows of a tile stay each size's own; results do not depend on either. */
#include "driver/several/several.h"
#include "driver/stage/stage.h"

/* The step of a part. */
static const ac_schedule *chosen(const ac_several *s, int32_t part, int32_t step)
{
    return &s->part[part].w->made.lowering->step[step]->schedule;
}

static double least(const ac_schedule *of)
{
    double best = 0;
    for (int32_t v = 0; v < AC_PACKINGS; v++)
        if (of->packed[v] > 0 && (best <= 0 || of->packed[v] < best))
            best = of->packed[v];
    return best;
}

/* Blocks for step i of all parts; 0: each has its own way. */
static int32_t blocks(const ac_several *s, int32_t i)
{
    int32_t best = 0;
    double best_sum = 0;
    for (int32_t v = 0; v < AC_PACKINGS; v++) {
        double sum = 0;
        bool fits = true;
        for (int32_t k = 0; k < s->n && fits; k++) {
            const ac_schedule *of = chosen(s, k, i);
            fits = of->packed[v] > 0;
            sum += fits ? of->packed[v] / least(of) : 0;
        }
        if (fits && (!best || sum < best_sum)) {
            best = v + 1;
            best_sum = sum;
        }
    }
    return best;
}

/* Have all parts the same steps? Those of a model whose operators depend on the size do not. */
static bool alike(const ac_several *s)
{
    const ac_lowering *first = s->part[0].w->made.lowering;
    bool same = true;
    for (int32_t k = 1; k < s->n && same; k++) {
        const ac_lowering *low = s->part[k].w->made.lowering;
        same = low->n_steps == first->n_steps;
        for (int32_t i = 0; i < low->n_steps && same; i++)
            same = low->step[i]->node->op == first->step[i]->node->op;
    }
    return same;
}

typedef struct packing {
    const int32_t *blocks;
} packing;

static int lower_again(ac_work *one, void *arg)
{
    const packing *p = arg;
    const ac_lowering *low = one->made.lowering;
    ac_schedule *hint = AC_NEW_N(one->cx.region, ac_schedule, low->n_steps + 1);
    for (int32_t i = 0; i < low->n_steps; i++)
        hint[i] = (ac_schedule){.winograd = low->set.winograd, .pack = p->blocks[i]};
    return ac_check_hinted(one, hint);
}

int ac_several_pack(ac_several *s)
{
    const ac_work *one = s->part[0].w;
    if (!alike(s) || s->w->opt.given[AC_OPT_tuned].n)
        return AC_OK;
    const int32_t n = one->made.lowering->n_steps;
    int32_t *chosen_blocks = AC_NEW_N(s->w->cx.region, int32_t, n + 1);
    packing p = {chosen_blocks};
    bool any = false;
    for (int32_t i = 0; i < n; i++) {
        chosen_blocks[i] = blocks(s, i);
        any |= chosen_blocks[i] > 0;
    }
    for (int32_t k = 0; k < s->n && any; k++)
        AC_TRY(ac_guard(s->part[k].w, lower_again, &p));
    return AC_OK;
}
