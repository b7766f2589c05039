/* facts_gpu.c - the launches of a model for a GPU, for its report: counted in its loops, and modelled. */
#include "driver/facts/facts_gpu.h"
#include "codegen/bind.h"
#include "codegen/join/merge_steps.h"
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

/* True if one of the steps begin .. step - 1 has written what argument a of `step` reads. */
static bool is_made(const ac_module *m, int32_t begin, int32_t step, int32_t a)
{
    const ac_call *c = &m->call[step];
    const ac_buf *x = &c->low->fn->buf.item[a];
    for (int32_t s = begin; s < step && x->role == AC_BUF_IN; s++)
        for (int32_t k = 0; k < m->call[s].n_arg; k++) {
            const ac_buf *y = &m->call[s].low->fn->buf.item[k];
            const ac_bound_arg *p = &m->call[s].arg[k], *q = &c->arg[a];
            if (y->role == AC_BUF_OUT && p->space == q->space && p->index == q->index && p->offset == q->offset &&
                y->count >= x->count && y->dtype == x->dtype)
                return true;
        }
    return false;
}

/* Bytes of a launch that runs steps begin .. end - 1: those of their kernels, but what one of them has written is not
 * counted again, and no tensor that blocks keep. The joined loops do not tell: branches hide which blocks run. */
static void moved_apart(const ac_module *m, const ac_call *c, int32_t begin, int32_t end, ac_report_launch *row)
{
    ac_region *r = m->cx->region;
    row->traffic = row->moved = 0;
    for (int32_t s = begin; s < end; s++) {
        const ac_loop_fn *fn = m->call[s].low->fn;
        int64_t *bytes = AC_NEW_N(r, int64_t, fn->buf.n + 1);
        ac_loop_traffic(fn, bytes);
        for (int32_t a = 0; a < m->call[s].n_arg; a++) {
            const ac_bytes size = ac_dtype_size(fn->buf.item[a].dtype, fn->buf.item[a].count);
            if (c->param[s - begin][a] >= c->n_arg)
                continue;
            row->traffic += bytes[a];
            row->moved += is_made(m, begin, s, a) ? 0 : bytes[a] < size ? bytes[a] : size;
        }
    }
}

void ac_facts_launches(ac_ctx *cx, const ac_target *t, const ac_planned *p, ac_report *to)
{
    AC_VEC(ac_report_launch) all = {0};
    ac_module m = {.cx = cx, .name = "", .target = t};
    const ac_binding b = {p->live->item_of, p->live->delta, p->live->scratch_item, &p->live->problem, &p->plan,
                          p->slot,          false};
    ac_module_bind(&m, p->graph, p->step, p->n_steps, &b);
    ac_module_merge_steps(&m);
    for (int32_t c = 0, s = 0; c < m.n_calls; c++) {
        int32_t n = 0;
        const ac_cuda_kernel *k = ac_cuda_kernels(cx, t, m.call[c].low->fn, &n);
        for (int32_t i = 0; k && i < n; i++) {
            ac_report_launch row = launch_of(cx->region, t, &k[i], s, i);
            if (m.call[c].steps)
                moved_apart(m.apart, &m.call[c], s, s + m.call[c].steps, &row);
            ac_push(cx->region, &all, row);
        }
        s += m.call[c].steps ? m.call[c].steps : 1;
    }
    to->launch = all.item;
    to->n_launches = all.n;
}
