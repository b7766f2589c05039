/* facts_gpu.c - the launches of a model for a GPU, for its report: counted in its loops, and modelled. */
#include "driver/facts/facts_gpu.h"
#include "driver/facts/gpu_model.h"
#include "ir/loop/access/traffic.h"

static ac_report_launch launch_of(ac_region *r, const ac_target *t, const ac_cuda_kernel *k, int32_t step, int32_t part)
{
    ac_report_launch row = {
        .step = step, .part = part, .blocks = k->blocks, .threads = k->threads, .shared = k->shared};
    int64_t *bytes = AC_NEW_N(r, int64_t, k->fn->buf.n + 1);
    ac_loop_traffic(k->fn, bytes);
    for (int32_t i = 0; i < k->fn->buf.n; i++) {
        const ac_buf *b = &k->fn->buf.item[i];
        const ac_bytes size = ac_dtype_size(b->dtype, b->count);
        if (b->role != AC_BUF_LOCAL) {
            row.traffic += bytes[i];
            row.moved += bytes[i] < size ? bytes[i] : size;
        }
    }
    const ac_banks banks = ac_loop_banks(r, k->fn);
    row.conflicts = (int64_t)(banks.passes - banks.least);
    row.ns = ac_gpu_model_ns(t, k, &banks, row.moved, row.traffic, ac_target_early(t) && (step || part));
    return row;
}

void ac_facts_launches(ac_ctx *cx, const ac_target *t, const ac_planned *p, ac_report *to)
{
    AC_VEC(ac_report_launch) all = {0};
    for (int32_t s = 0; s < p->n_steps; s++) {
        int32_t n = 0;
        const ac_cuda_kernel *k = ac_cuda_kernels(cx, t, p->step[s]->fn, &n);
        for (int32_t i = 0; k && i < n; i++)
            ac_push(cx->region, &all, launch_of(cx->region, t, &k[i], s, i));
    }
    to->launch = all.item;
    to->n_launches = all.n;
}
