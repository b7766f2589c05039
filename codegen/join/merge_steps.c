/* merge_steps.c - makes one call of neighbouring calls whose kernels a cluster of blocks can run as phases: a launch
 * instead of one for each step.
 *
 * A run of steps is merged if starting its kernels takes longer than waiting between them in a cluster, and than what
 * its steps lose on 8 multiprocessors. Steps keep their place in the plan. Parameters of the joined function are
 * those of all steps; the same place read twice is one. */
#include "codegen/join/merge_steps.h"

#include "codegen/join/clusters.h"

#include <string.h>

/* Cycles: from launch to launch, and between phases of a cluster. */
enum { LAUNCH = 1400, WAIT = 1100, MOST_PARAMS = 256 };

typedef struct merger {
    ac_module *m;
    ac_region *r;
    AC_VEC(ac_buf) buf;
    AC_VEC(ac_arg) arg;
    AC_VEC(ac_bound_arg) bound;
} merger;

static bool same_place(const ac_bound_arg *a, const ac_bound_arg *b)
{
    return a->space == b->space && a->offset == b->offset && a->index == b->index;
}

static int32_t add_param(merger *g, const ac_buf *like, const ac_arg *arg, const ac_bound_arg *bound)
{
    for (int32_t k = 0; k < g->buf.n; k++)
        if (g->buf.item[k].role == like->role && g->buf.item[k].dtype == like->dtype &&
            g->buf.item[k].count == like->count && same_place(&g->bound.item[k], bound) &&
            g->arg.item[k].tensor == arg->tensor && (like->role == AC_BUF_IN || like->role == AC_BUF_CONST))
            return k;
    ac_push(g->r, &g->buf, *like);
    ac_push(g->r, &g->arg, *arg);
    ac_push(g->r, &g->bound, *bound);
    g->bound.item[g->bound.n - 1].shares = false;
    return g->buf.n - 1;
}

static ac_bytes bytes_of(const ac_buf *b)
{
    return ac_dtype_size(b->dtype, b->count);
}

/* True if the parameters are places in memory that share bytes. */
static bool meets(const ac_buf *x, const ac_bound_arg *p, const ac_buf *y, const ac_bound_arg *q)
{
    return p->space == q->space && p->index == q->index && p->space != AC_SPACE_CONST &&
           p->offset < q->offset + bytes_of(y) && q->offset < p->offset + bytes_of(x);
}

static void find_shared(merger *g)
{
    for (int32_t i = 0; i < g->buf.n; i++)
        for (int32_t k = 0; k < g->buf.n; k++) {
            const ac_buf *x = &g->buf.item[i], *y = &g->buf.item[k];
            const bool written = x->role != AC_BUF_IN || y->role != AC_BUF_IN;
            if (i != k && written && meets(x, &g->bound.item[i], y, &g->bound.item[k]))
                g->bound.item[i].shares = true;
        }
}

static bool is_written(const ac_buf *b)
{
    return b->role != AC_BUF_IN && b->role != AC_BUF_CONST;
}

/* True if one of two steps stores to bytes that the other one uses. */
static bool conflict(const ac_call *a, const ac_call *b)
{
    for (int32_t i = 0; i < a->n_arg; i++)
        for (int32_t k = 0; k < b->n_arg; k++) {
            const ac_buf *x = &a->low->fn->buf.item[i], *y = &b->low->fn->buf.item[k];
            if ((is_written(x) || is_written(y)) && meets(x, &a->arg[i], y, &b->arg[k]))
                return true;
        }
    return false;
}

/* Levels of steps begin .. end - 1: each comes after those that it is in conflict with. The number of levels. */
static int32_t find_levels(const merger *g, int32_t begin, int32_t end, int32_t *level)
{
    const ac_call *call = &g->m->call[begin];
    int32_t *next = AC_NEW_N(g->r, int32_t, end - begin + 1), most = 0; /* next: the level after a step */
    for (int32_t s = 0; s < end - begin; s++) {
        int64_t lost;
        int32_t kernels, at = 0;
        ac_gpu_phase_fits(call[s].low->fn, &lost, &kernels);
        for (int32_t k = 0; k < s; k++)
            if (next[k] > at && conflict(&call[k], &call[s]))
                at = next[k];
        for (int32_t k = 0; k < s && kernels > 1; k++) /* alone */
            at = level[k] + 1 > at ? level[k] + 1 : at;
        level[s] = at;
        next[s] = at + kernels;
        most = next[s] > most ? next[s] : most;
    }
    return most;
}

static ac_call merged(merger *g, int32_t begin, int32_t end)
{
    const ac_module *m = g->m;
    ac_gpu_phase *phase = AC_NEW_N(g->r, ac_gpu_phase, end - begin);
    ac_lowered *low = AC_NEW(g->r, ac_lowered);
    *low = *m->call[begin].low;
    low->macs = 0;
    g->buf.n = g->arg.n = g->bound.n = 0;
    const int32_t **params = AC_NEW_N(g->r, const int32_t *, end - begin + 1);
    int32_t *level = AC_NEW_N(g->r, int32_t, end - begin + 1), n = 0;
    const int32_t levels = find_levels(g, begin, end, level);
    for (int32_t k = 0; k < levels * (end - begin); k++) { /* by level, then in their order */
        const int32_t s = begin + k % (end - begin);
        if (level[s - begin] != k / (end - begin))
            continue;
        const ac_call *c = &m->call[s];
        int32_t *param = AC_NEW_N(g->r, int32_t, c->n_arg + 1);
        for (int32_t a = 0; a < c->n_arg; a++)
            param[a] = add_param(g, &c->low->fn->buf.item[a], &c->low->arg.item[a], &c->arg[a]);
        params[s - begin] = param;
        phase[n++] = (ac_gpu_phase){c->low->fn, param, level[s - begin]};
        low->macs += c->low->macs;
        low->scratch += s > begin ? c->low->scratch : 0;
    }
    find_shared(g);
    const char *note = ac_strf(g->r, "%d steps as one launch of a cluster", end - begin);
    low->fn = ac_gpu_join(g->r, phase, end - begin, g->buf.item, g->buf.n, ac_strf(g->r, "steps_%d", begin), note);
    memset(&low->arg, 0, sizeof low->arg);
    for (int32_t a = 0; a < g->arg.n; a++)
        ac_push(g->r, &low->arg, g->arg.item[a]);
    low->n_overwrite = 0;
    low->chain = note;
    return (ac_call){.low = low,
                     .op = ac_strf(g->r, "%s ..", m->call[begin].op),
                     .name = m->call[begin].name,
                     .fused = note,
                     .arg = ac_copy(g->r, g->bound.item, (uint64_t)g->bound.n * sizeof *g->bound.item),
                     .n_arg = g->bound.n,
                     .steps = end - begin,
                     .param = params};
}

/* The end of the run from call `begin` on that gains most; begin: none does. */
static int32_t run_from(const ac_module *m, int32_t begin)
{
    int64_t gain = -LAUNCH, best = 0;
    int32_t end = begin, params = 0;
    for (int32_t s = begin; s < m->n_calls; s++) {
        int64_t lost;
        int32_t kernels;
        const ac_call *c = &m->call[s];
        params += c->n_arg;
        if (!ac_gpu_phase_fits(c->low->fn, &lost, &kernels) || params > MOST_PARAMS)
            break;
        gain += (LAUNCH - WAIT) * kernels - lost + (s == begin ? WAIT : 0);
        if (gain > best) {
            best = gain;
            end = s + 1;
        }
    }
    return end;
}

void ac_module_merge_steps(ac_module *m)
{
    merger g = {.m = m, .r = m->cx->region};
    int32_t n = 0;
    if (m->target->gpu < 90 || m->n_parts > 1 || m->hooks || m->streamed)
        return;
    ac_module *apart = ac_copy(g.r, m, sizeof *m);
    apart->call = ac_copy(g.r, m->call, (uint64_t)m->n_calls * sizeof *m->call);
    for (int32_t s = 0; s < m->n_calls;) {
        const int32_t end = run_from(m, s);
        if (end > s + 1) {
            m->call[n++] = merged(&g, s, end);
            s = end;
        } else {
            m->call[n++] = m->call[s++];
        }
    }
    if (n == m->n_calls)
        return;
    m->n_calls = n;
    ac_module_whole(m);
    ac_module_dedupe(apart);
    m->apart = apart;
}
