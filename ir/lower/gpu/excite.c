/* excite.c - a mean and two products as one kernel; see excite.h. */
#include "ir/lower/gpu/excite.h"

#include "ir/lower/gpu/excite_parts.h"

enum { THREADS = 512, RANKS = 8, WIDE = 4, MOST_VALUES = 8192 };

bool ac_gpu_excite_fits(const ac_lower *L, const ac_excite *e)
{
    const bool fixed = ac_tensor_is_const(e->w1) && ac_tensor_is_const(e->w2) &&
                       (!e->b1 || ac_tensor_is_const(e->b1)) && (!e->b2 || ac_tensor_is_const(e->b2));
    return L->target->isa == AC_ISA_CUDA && !L->exact && fixed && e->channels <= MOST_VALUES &&
           e->hidden <= MOST_VALUES && e->results <= MOST_VALUES && e->images > 0;
}

static ac_x open_cluster(const ac_excite_job *j)
{
    ac_lb *b = &j->L->b;
    return j->ranks > 1 ? ac_lb_for(b, "r", ac_lb_i32(b, 0), ac_lb_i32(b, j->ranks), 1, AC_MARK_CLUSTER)
                        : ac_lb_i32(b, 0);
}
static void close_cluster(const ac_excite_job *j)
{
    if (j->ranks > 1)
        ac_lb_end(&j->L->b);
}

static void put_results(ac_excite_job *j, int32_t sums)
{
    ac_lb *b = &j->L->b;
    ac_excite_open_phase(j);
    for (int64_t i = 0; i < j->out.each; i++) {
        const ac_x own = ac_excite_open_result(j, i), o = ac_lb_add(b, own, ac_lo_scaled(b, j->r, j->own)),
                   zero = ac_lb_i32(b, 0);
        ac_lb_if(b, j->own * j->ranks > j->e->results ? ac_lb_lt(b, o, ac_lb_i32(b, j->e->results))
                                                      : ac_lb_int(b, AC_BOOL, 1));
        const ac_x idx[4] = {j->n, zero, zero, o};
        ac_lo_result(j->L, ac_excite_result(j, sums, i), idx, 1);
        ac_lb_end(b);
        ac_lb_end(b);
    }
    ac_excite_close_phase(j);
}

int ac_gpu_excite(ac_lower *L, const ac_excite *e)
{
    ac_lb *b = &L->b;
    ac_excite_job j = {.L = L, .e = e, .threads = THREADS};
    const int64_t most = L->target->gpu >= 90 ? RANKS : 1;
    j.span = ac_align_up(ac_gpu_over(e->channels, most), e->channels % WIDE == 0 ? WIDE : 1);
    j.ranks = ac_gpu_over(e->channels, j.span);
    j.own = ac_gpu_over(e->results, j.ranks);
    ac_excite_open(&j);
    j.n = ac_lb_for(b, "g", ac_lb_i32(b, 0), ac_lb_i32(b, e->images), 1, AC_MARK_GRID);
    j.r = open_cluster(&j);
    ac_excite_begins(&j);
    close_cluster(&j);
    j.r = open_cluster(&j);
    put_results(&j, ac_excite_ends(&j));
    close_cluster(&j);
    ac_lb_end(b);
    return AC_OK;
}
