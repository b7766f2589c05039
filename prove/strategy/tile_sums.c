/* tile_sums.c - computes the range of each sum of a tile, from the weights of its channel and the range of x. */
#include "ir/loop/tiles.h"
#include "prove/facts/contents.h"
#include "prove/facts/evaluate.h"
#include "prove/strategy/exact_lanes.h"

/* The elements of w that accumulator `at` of a tile is multiplied by: `n` runs of `run` elements, `apart` elements from
 * run to run, `step` from one to the next within a run. */
typedef struct weights {
    int64_t first, n, apart, run, step;
} weights;

static bool weights_of(const ac_tile *t, int64_t at, int64_t steps, weights *w)
{
    const int64_t channel = ac_tile_pairs(t->form) ? at / t->rows : at % t->channels, row = at / t->channels;
    switch (t->form) {
    case AC_TILE_PAIRS:
    case AC_TILE_ROW: /* of the even channel of a pair */
        *w = (weights){channel / 2 * 16, steps, t->channels * 8, 8, 2};
        return true;
    case AC_TILE_BYTES:
        *w = (weights){channel * 16, steps, t->channels * 16, 16, 1};
        return true;
    case AC_TILE_EACH:
        *w = (weights){ac_tile_slot((int32_t)channel) * (int64_t)t->depth + (t->rows - 1 - row) * t->shift, 1, 0,
                       t->depth, 1};
        return true;
    case AC_TILE_OUTER:
        *w = (weights){channel, t->shift * steps, (int64_t)t->depth * t->channels, t->depth, t->channels};
        return true;
    case AC_TILE_LANES:
        *w = (weights){channel, t->shift * steps, t->channels, 1, 0};
        return true;
    case AC_TILE_UNSIGNED:
        *w = (weights){channel, steps, (int64_t)t->depth * t->channels, t->depth, t->channels};
        return true;
    case AC_TILE_MATRIX:
        *w = (weights){channel * 4, steps * 16, t->channels * 4, 4, 1};
        return true;
    case AC_TILE_WORDS:
        *w = (weights){channel, steps * 4, t->channels, 1, 0};
        return true;
    case AC_TILE_SPREAD:
    case AC_TILE_FORMS:
        break;
    }
    return false;
}

static void add(ac_interval *sum, int64_t w, ac_interval x)
{
    sum->lo += w * (w > 0 ? x.lo : x.hi);
    sum->hi += w * (w > 0 ? x.hi : x.lo);
}

int64_t ac_lanes_sum(ac_lanes *e, ac_x tile, int64_t at, ac_interval *sum, ac_interval *apart)
{
    const ac_prover *p = e->p;
    const ac_ins *i = ac_p_ins(p, tile);
    const ac_tile t = ac_ins_tile(i);
    const ac_interval from = ac_lanes_in_constant(e, t.w, e->lane[i->b][0]), steps = e->lane[i->c][0],
                      x = t.form == AC_TILE_WORDS ? ac_p_range(AC_I8) : ac_p_content(p, t.x);
    const ac_dtype d = p->fn->buf.item[t.w].dtype;
    weights w;
    *sum = *apart = ac_p_range(AC_I32);
    if (!e->data[t.w] || from.lo != from.hi || steps.lo != steps.hi || from.lo < 0 || steps.lo < 0 ||
        from.lo > e->count[t.w] - ac_tile_weights(&t, steps.lo) || !weights_of(&t, at, steps.lo, &w))
        return 0;
    ac_interval even = {0, 0}, odd = {0, 0};
    for (int64_t n = 0; n < w.n; n++)
        for (int64_t k = 0; k < w.run; k++) {
            const int64_t index = from.lo + w.first + n * w.apart + k * w.step,
                          low = ac_dtype_get_int(d, e->data[t.w], index);
            add(&even, low, x);
            if (ac_tile_pairs(t.form)) /* two bytes hold 256 * odd + even */
                add(&odd, ac_dtype_get_int(d, e->data[t.w], index + 1) + (low < 0), x);
        }
    if (!ac_tile_pairs(t.form)) {
        *sum = even;
        return w.n * w.run;
    }
    *apart = ac_interval_mul(odd, (ac_interval){256, 256});
    *sum = at / t.rows % 2 ? ac_interval_add(even, *apart) : even;
    return w.n * w.run;
}
