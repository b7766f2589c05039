/* gemm_cost.c - chooses the register tile of a product: the one with the minimum estimated time of all that fit the
 * registers.
 *
 * A step of the reduction with r rows and v vectors of channels does r * v multiply-adds on r + v operands. It takes at
 * least, in cycles of a core with two vector units and two loads:
 *
 *     r * v / 2          multiply-adds
 *     (r + v) / 2        loads: v vectors of weights, r values in all lanes
 *     v * bytes / 24     weights that come from the second cache, when those of a block do not stay in the first
 *     4                  latency of one multiply-add: fewer than 8 accumulators leave gaps
 *
 * times the tiles of all rows and blocks, rests included. So many pixels with few weights get 6x4, few pixels or deep
 * reductions 14x2, which reads half as many weights for each multiply-add. Compared with measured times (bench/): the
 * order of tiles agrees, the cycles are a lower bound. */
#include "ir/lower/conv/gemm.h"

enum { ISSUE = 2, LATENCY = 4, FROM_L2 = 24 };
enum { MANY = 2048 }; /* uses of a weight beyond which loading it takes less than a fiftieth of the time */

static int64_t steps_of(const ac_gemm_form *f)
{
    return ac_gemm_steps(f) * ac_gemm_runs(f);
}

int64_t ac_gemm_weight_bytes(const ac_gemm_form *f)
{
    return f->w_bytes * f->groups * ac_gemm_group_size(f);
}

bool ac_gemm_weights_stream(const ac_lower *L, const ac_gemm_form *f)
{
    return L->target->l2_bytes && ac_gemm_weight_bytes(f) > L->target->l2_bytes / 2;
}

bool ac_gemm_weights_far(const ac_lower *L, const ac_gemm_form *f)
{
    return ac_gemm_weights_stream(L, f) ||
           (L->target->l2_bytes && ac_gemm_weight_bytes(f) > L->target->l1_bytes && f->uses <= MANY);
}

static double step_cost(const ac_lower *L, const ac_gemm_form *f, double r, double v, double widest)
{
    const double bytes = (double)f->w_bytes * (double)f->lanes * (double)f->group;
    double most = r * v / ISSUE;
    if ((r + v) / ISSUE > most)
        most = (r + v) / ISSUE;
    if (widest * bytes * (double)steps_of(f) > (double)L->target->l1_bytes / 2 && v * bytes / FROM_L2 > most)
        most = v * bytes / FROM_L2;
    return most < LATENCY ? LATENCY : most;
}

static double tile_cost(const ac_lower *L, const ac_gemm_form *f, const ac_gemm_cuts *rows, const ac_gemm_cuts *vecs,
                        int64_t unit)
{
    double sum = 0;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            if (rows->count[i] && vecs->count[k])
                sum += (double)(rows->count[i] * vecs->count[k]) *
                       step_cost(L, f, (double)(rows->size[i] * unit), (double)vecs->size[k], (double)vecs->size[0]);
    return sum;
}

static int32_t registers_of(const ac_lower *L)
{
    return L->target->registers > 0 ? L->target->registers : 16;
}

bool ac_gemm_holds(const ac_lower *L, int64_t rows)
{
    return rows <= GEMM_ROWS && rows + 2 <= registers_of(L);
}

void ac_gemm_form_tile(const ac_lower *L, const ac_channel *c, ac_gemm_form *f, int64_t unit, int64_t units)
{
    const int32_t registers = registers_of(L);
    const int64_t vectors = ac_gemm_vectors(f);
    if (c->acc == AC_I64 || !ac_gemm_holds(L, unit)) {
        f->vecs = 1;
        f->rows = c->acc == AC_I64 ? registers / 6 : 1;
        f->block = ac_gemm_cut(vectors, 1);
        return;
    }
    const ac_schedule *hint = &L->hint;
    double best = 0, packed[GEMM_VECS] = {0};
    for (int free = hint->rows < 1; best <= 0 && free < 2; free++) /* the hint's tile, if it fits; else all */
        for (int32_t v = 1; v <= GEMM_VECS; v++)
            for (int64_t r = unit; r <= GEMM_ROWS && r * v + v + 1 <= registers; r += unit) {
                if (!free && (r != hint->rows || v != hint->vecs))
                    continue;
                const ac_gemm_cuts rows = ac_gemm_cut(units, r / unit), vecs = ac_gemm_cut(vectors, v);
                const double cost = tile_cost(L, f, &rows, &vecs, unit);
                const int64_t size = rows.size[0] * unit * vecs.size[0];
                if (!(packed[v - 1] > 0 && cost >= packed[v - 1]))
                    packed[v - 1] = cost;
                if (free && hint->pack > 0 && v != hint->pack)
                    continue;
                if (best > 0 && (cost > best || (cost >= best && size <= (int64_t)f->rows * f->vecs)))
                    continue;
                best = cost;
                f->rows = (int32_t)(rows.size[0] * unit);
                f->vecs = (int32_t)vecs.size[0];
                f->block = vecs;
            }
    const double all = (double)(ac_tensor_count(L->node->out[0]) / f->n) / (double)(unit * units);
    L->out->schedule.rows = f->rows;
    L->out->schedule.vecs = f->vecs;
    L->out->schedule.cost = best * (double)steps_of(f) * all;
    for (int32_t v = 0; v < GEMM_VECS; v++)
        L->out->schedule.packed[v] = packed[v] * (double)steps_of(f) * all;
}
