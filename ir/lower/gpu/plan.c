/* plan.c - chooses the plan of a product: the one of all candidates that a model of its time prefers.
 *
 * The model counts, in sixteenths of a cycle, what a multiprocessor does in a step: instructions of the warps of a
 * scheduler, words from shared memory, one warp with its stalls, bytes into the multiprocessor; the largest counts. The
 * work that a block does once is added. Waves of blocks follow each other. It ranks candidates; it does not say how
 * long they take. */
#include "ir/lower/gpu/plan.h"

#include <stddef.h>

enum { CYCLE = 16, WARP = 32, SCHEDULERS = 4, INTO = 64, FEW = 8 }; /* INTO: bytes a cycle into one multiprocessor */

static const ac_gpu_machine MACHINES[] = {
    {75, 40, 2, 1300, 32, 16, 64 << 10},   {80, 108, 2, 2836, 64, 32, 164 << 10},
    {86, 84, 1, 2000, 48, 16, 100 << 10},  {89, 128, 1, 2300, 48, 24, 100 << 10},
    {90, 132, 1, 3418, 64, 32, 228 << 10}, {100, 148, 1, 3800, 64, 32, 228 << 10}};

const ac_gpu_machine *ac_gpu_machine_of(const ac_target *t)
{
    size_t k = sizeof MACHINES / sizeof *MACHINES - 1;
    while (k && MACHINES[k].gpu > t->gpu)
        k--;
    return &MACHINES[k];
}

static int64_t shared_bytes(const ac_gpu_plan *p, int32_t piece)
{
    return 4 * (ac_gpu_stages(p, piece) + ac_gpu_rows_of_x(p) + (p->split > 1 ? (int64_t)p->bm * p->bn : 0));
}

/* Blocks that a multiprocessor holds. */
static int64_t resident(const ac_gpu_machine *m, const ac_gpu_plan *p, int64_t shared)
{
    const int64_t warps = p->threads / WARP, registers = p->tm * p->tn + 4 * p->tm + 4 * p->tn + 40;
    const int64_t a_warp = ac_gpu_over(ac_gpu_least(registers, 255) * WARP, 256) * 256;
    const int64_t n = ac_gpu_least(ac_gpu_least(m->blocks, m->warps / warps),
                                   ac_gpu_least(65536 / (a_warp * warps), m->shared / (shared + 1024)));
    return ac_gpu_most(n, 1);
}

/* Once for a block: its first copies, adding slices, storing, taking part in a split tile. */
static int64_t once_of(const ac_gpu_plan *p, int64_t passes)
{
    int64_t cycles = 520 + 40 * passes + 3 * p->tm * p->tn;
    for (int32_t k = p->wk; k > 1; k /= 2)
        cycles += 60 + p->tm * p->tn * 3 / 2;
    if (p->split > 1)
        cycles += 1200 + (int64_t)p->bm * p->bn * 4 / 32;
    return cycles * CYCLE;
}

/* ... computing its gates (excite_parts.h): both weights of its depths, at 4 bytes, and the sums that it adds. */
static int64_t gates_of(const ac_gpu_shape *s, const ac_gpu_plan *p, int64_t into)
{
    if (!s->hidden)
        return 0;
    const int64_t span = p->per * p->bk, weights = 2 * span * s->hidden, copied = 4 * (weights + s->parts * span);
    const int64_t issue = 3 * (weights + s->parts * span / 4) / p->threads;
    return CYCLE * (700 + (p->split > 1 ? 500 : 0) + issue) + copied * CYCLE * CYCLE / into;
}

static int64_t time_of(const ac_gpu_machine *m, const ac_gpu_shape *s, const ac_gpu_plan *p)
{
    const int64_t blocks = s->many * ac_gpu_over(s->rows, p->bm) * ac_gpu_over(s->n, p->bn) * p->split;
    const int64_t fit = resident(m, p, shared_bytes(p, s->piece)),
                  at = ac_gpu_least(fit, ac_gpu_over(blocks, m->units));
    const int64_t waves = ac_gpu_over(blocks, m->units * fit), warps = at * p->threads / WARP, depth = p->bk / p->wk;
    const int64_t sums = depth * p->tm * p->tn, loads = depth / 4 * (p->tm + p->tn);
    const int64_t passes = s->held ? 0 : ac_gpu_passes(p, s->piece),
                  pieces = ac_gpu_over(p->bk * p->bn / 4, p->threads);
    const int64_t step = CYCLE * (sums * m->fma + loads + 25) + CYCLE * 9 * passes + CYCLE * 9 * pieces / 2;
    const int64_t alone = CYCLE * (sums * m->fma + loads + 60 + 6 * passes), deep = ac_gpu_over(warps, SCHEDULERS);
    const int64_t bytes = at * 4 * (ac_gpu_least(p->bm, s->rows) + p->bn) * p->bk,
                  into = ac_gpu_least(INTO * CYCLE, (int64_t)m->l2 * CYCLE / ac_gpu_least(m->units, blocks));
    const int64_t busy = ac_gpu_most(ac_gpu_most(deep * step, 2 * CYCLE * warps * loads),
                                     ac_gpu_most(alone, bytes * CYCLE * CYCLE / into));
    const int64_t few = blocks < FEW ? 2 : 1; /* most of a GPU would be idle */
    const int64_t uneven = p->steps > ac_gpu_over(s->depth, p->bk) ? p->per * busy / 16 : 0; /* it has to be worth it */
    return few * waves *
           (p->per * busy + uneven + once_of(p, passes) * ac_gpu_most(deep, 2) / 2 + gates_of(s, p, into));
}

/* Completes a candidate; false: it does not fit. */
static bool complete(const ac_target *t, const ac_gpu_shape *s, ac_gpu_plan *p)
{
    p->bm = p->tm * p->lm * p->wm;
    p->bn = p->tn * p->ln * p->wn;
    p->slice = WARP * p->wm * p->wn;
    p->threads = p->slice * p->wk;
    p->items = p->slice * p->tm * p->tn / 4;
    const bool sizes = (p->threads == 64 || p->threads == 128 || p->threads == 256) && p->bm <= 128 &&
                       p->bk / p->wk >= 4 && p->bn <= ac_gpu_most(WARP, 2 * s->n) &&
                       p->bm <= 2 * ac_gpu_most(s->rows, 16) && p->threads * s->piece % p->bk == 0;
    const bool deep = ac_gpu_over(s->depth, p->bk) * p->bk <= ac_gpu_over(s->depth, 16) * 16 &&
                      ac_gpu_over(s->n, p->bn) * p->bn <= ac_gpu_over(s->n, 32) * 32; /* few weights that are padding */
    if (!sizes || !deep || (s->in_order && p->wk * p->split > 1) || p->items % p->split)
        return false;
    const int64_t steps = ac_gpu_over(s->depth, p->bk);
    p->per = ac_gpu_over(steps, p->split);
    p->steps = p->per * p->split;
    p->stages = (int32_t)ac_gpu_least(3, p->per + 1);
    return shared_bytes(p, s->piece) <= (s->held ? t->shared_bytes : GPU_SHARED) &&
           (p->steps - steps) * 8 <= (s->taps ? steps : 0) && p->steps - steps < p->per;
}

ac_gpu_plan ac_gpu_plan_product(const ac_target *t, const ac_gpu_shape *s)
{
    static const int32_t TM[] = {7, 8, 5, 4}, LANES[][2] = {{8, 4}, {4, 8}, {2, 16}}, BK[] = {32, 16, 8};
    enum { SPLITS = 8 };
    const ac_gpu_machine *m = ac_gpu_machine_of(t);
    ac_gpu_plan best = {0};
    int64_t least_time = INT64_MAX;
    for (int32_t k = 0; k < 4 * 2 * 3 * 2 * 3 * 4 * 3 * SPLITS; k++) {
        int32_t rest = k;
        ac_gpu_plan p = {.tm = TM[rest % 4], .split = 1, .held = s->held};
        rest /= 4;
        p.tn = 4 << rest % 2;
        rest /= 2;
        p.lm = LANES[rest % 3][0];
        p.ln = LANES[rest % 3][1];
        rest /= 3;
        p.wm = 1 << rest % 2;
        rest /= 2;
        p.wn = 1 << rest % 3;
        rest /= 3;
        p.wk = 1 << rest % 4;
        rest /= 4;
        p.bk = BK[rest % 3];
        rest /= 3;
        p.split = 1 + rest;
        if ((p.split > 1 && !ac_target_early(t)) || !complete(t, s, &p))
            continue;
        const int64_t time = time_of(m, s, &p);
        if (time < least_time) {
            least_time = time;
            best = p;
            best.cycles = time / CYCLE;
        }
    }
    return best;
}
