/* merge_steps.c - makes one call of neighbouring calls whose kernels a cluster of blocks can run as phases: a launch
 * instead of one for each step.
 *
 * A run of steps is merged if starting its kernels takes longer than waiting between them in a cluster, and than what
 * its steps lose on 8 multiprocessors. Steps keep their place in the plan. Parameters of the joined function are
 * those of all steps; the same place read twice is one. Tensors of these steps alone
 * are not parameters if blocks can keep all of them in shared memory. */
#include "codegen/join/merge_steps.h"

#include "codegen/join/clusters.h"

#include <string.h>

/* Cycles: from launch to launch, and between phases of a cluster. BOXES: bytes for counters in shared memory. */
enum { LAUNCH = 1400, WAIT = 1100, MOST_PARAMS = 256, BOXES = 1024 };

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

/* ------------------------------------------------------------------ kept tensors */

/* A parameter of a step. */
typedef struct place {
    int32_t step, arg;
} place;

/* Where steps find their operands: by step and argument. */
typedef struct flows {
    int32_t begin, end;
    ac_gpu_flow **of;
    AC_VEC(place) made; /* the tensors */
} flows;

static const ac_buf *buf_of(const ac_module *m, place p)
{
    return &m->call[p.step].low->fn->buf.item[p.arg];
}

static const ac_bound_arg *bound_of(const ac_module *m, place p)
{
    return &m->call[p.step].arg[p.arg];
}

static bool places_meet(const ac_module *m, place p, place q)
{
    return meets(buf_of(m, p), bound_of(m, p), buf_of(m, q), bound_of(m, q));
}

/* The last step before p's, from `first` on, that stores to bytes of it; step -1: none. */
static place writer_of(const ac_module *m, place p, int32_t first)
{
    for (int32_t s = p.step - 1; s >= first; s--)
        for (int32_t a = 0; a < m->call[s].n_arg; a++)
            if (is_written(buf_of(m, (place){s, a})) && places_meet(m, p, (place){s, a}))
                return (place){s, a};
    return (place){-1, 0};
}

/* The elements of w that p is; false: it is not a part of w. */
static bool is_part(const ac_module *m, place p, place w, int64_t *at)
{
    const ac_buf *x = buf_of(m, p), *y = buf_of(m, w);
    const ac_bytes away = bound_of(m, p)->offset - bound_of(m, w)->offset;
    *at = away / ac_dtype_size(y->dtype, 1);
    return x->dtype == y->dtype && away >= 0 && away % 16 == 0 && *at + x->count <= y->count;
}

/* True if a step after p's stores all of the output. */
static bool stored_later(const ac_module *m, place p, const ac_io *o)
{
    for (int32_t s = p.step + 1; s < m->n_calls; s++)
        for (int32_t a = 0; a < m->call[s].n_arg; a++) {
            const ac_bound_arg *w = bound_of(m, (place){s, a});
            const ac_buf *x = buf_of(m, (place){s, a});
            if (is_written(x) && w->space == AC_SPACE_ARENA && w->index == o->index && w->offset <= o->offset &&
                o->offset + o->bytes <= w->offset + bytes_of(x))
                return true;
        }
    return false;
}

static bool is_output(const ac_module *m, place p)
{
    const ac_bound_arg *b = bound_of(m, p);
    bool is = b->space != AC_SPACE_ARENA;
    for (int32_t i = 0; i < m->n_outputs; i++) {
        const ac_io *o = &m->output[i];
        is |= o->space == AC_SPACE_ARENA && o->index == b->index && o->offset < b->offset + bytes_of(buf_of(m, p)) &&
              b->offset < o->offset + o->bytes && !stored_later(m, p, o);
    }
    return is;
}

/* True if a step after the run reads what p stores. */
static bool read_later(const ac_module *m, place p, int32_t end)
{
    for (int32_t s = end; s < m->n_calls; s++)
        for (int32_t a = 0; a < m->call[s].n_arg; a++) {
            const place q = {s, a}, w = buf_of(m, q)->role == AC_BUF_OUT ? (place){-1, 0} : writer_of(m, q, p.step);
            if (places_meet(m, p, q) && w.step == p.step && w.arg == p.arg)
                return true;
        }
    return false;
}

/* True if the step has one kernel that only loads and stores parameters, each of them by the plain instructions. */
static bool is_plain(const ac_call *c)
{
    const ac_loop_fn *fn = c->low->fn;
    int64_t lost;
    int32_t kernels;
    bool good = ac_gpu_phase_fits(fn, &lost, &kernels) && kernels == 1;
    for (int32_t a = 0; a < c->n_arg; a++)
        good &= fn->buf.item[a].role != AC_BUF_INOUT && fn->buf.item[a].role != AC_BUF_SCRATCH;
    for (ac_x x = 1; x < fn->code.n && good; x++) {
        const ac_ins *i = &fn->code.item[x];
        if (!ac_lop_has_buffer((ac_lop)i->op) || fn->buf.item[i->aux].role == AC_BUF_LOCAL)
            continue;
        good = (i->op == AC_L_LOAD && fn->buf.item[i->aux].role != AC_BUF_OUT) || i->op == AC_L_STORE;
    }
    return good;
}

/* The flow of argument p, which the run reads. False: it cannot be kept. */
static bool find_flow(merger *g, flows *f, place p)
{
    const ac_module *m = g->m;
    const place w = writer_of(m, p, f->begin);
    int64_t at;
    if (w.step < 0)
        return true;
    if (!is_part(m, p, w, &at) || is_output(m, w) || read_later(m, w, f->end))
        return false;
    ac_gpu_flow *from = &f->of[w.step - f->begin][w.arg];
    if (from->tensor < 0) {
        *from = (ac_gpu_flow){f->made.n, 0};
        ac_push(g->r, &f->made, w);
    }
    f->of[p.step - f->begin][p.arg] = (ac_gpu_flow){from->tensor, at};
    return true;
}

/* True if steps store, in the device's memory, nothing that a later one of them uses. */
static bool only_kept(const merger *g, const flows *f)
{
    for (int32_t s = f->begin; s < f->end; s++)
        for (int32_t a = 0; a < g->m->call[s].n_arg; a++) {
            const place p = {s, a};
            if (f->of[s - f->begin][a].tensor >= 0)
                continue;
            for (int32_t t = f->begin; t < s; t++)
                for (int32_t b = 0; b < g->m->call[t].n_arg; b++)
                    if (f->of[t - f->begin][b].tensor < 0 && is_written(buf_of(g->m, (place){t, b})) &&
                        places_meet(g->m, p, (place){t, b}))
                        return false;
        }
    return true;
}

/* Nothing is kept. */
static void forget_flows(merger *g, flows *f)
{
    f->made.n = 0;
    f->of = AC_NEW_N(g->r, ac_gpu_flow *, f->end - f->begin + 1);
    for (int32_t s = f->begin; s < f->end; s++) {
        f->of[s - f->begin] = AC_NEW_N(g->r, ac_gpu_flow, g->m->call[s].n_arg + 1);
        for (int32_t a = 0; a < g->m->call[s].n_arg; a++)
            f->of[s - f->begin][a].tensor = -1;
    }
}

static void find_flows(merger *g, flows *f)
{
    bool good = true;
    forget_flows(g, f);
    for (int32_t s = f->begin; s < f->end; s++)
        good &= is_plain(&g->m->call[s]);
    for (int32_t s = f->begin; s < f->end; s++)
        for (int32_t a = 0; a < g->m->call[s].n_arg && good; a++)
            good = buf_of(g->m, (place){s, a})->role != AC_BUF_IN || find_flow(g, f, (place){s, a});
    if (!good || !only_kept(g, f))
        forget_flows(g, f);
}

/* ------------------------------------------------------------------ the joined call */

/* Steps as phases, by level, then in their order. */
static ac_loop_fn *join(merger *g, const flows *f, const char *note, int32_t **params)
{
    const ac_module *m = g->m;
    const int32_t n = f->end - f->begin;
    ac_gpu_phase *phase = AC_NEW_N(g->r, ac_gpu_phase, n);
    ac_gpu_kept *kept = AC_NEW_N(g->r, ac_gpu_kept, f->made.n + 1);
    int32_t *level = AC_NEW_N(g->r, int32_t, n + 1), done = 0;
    const int32_t levels = find_levels(g, f->begin, f->end, level);
    g->buf.n = g->arg.n = g->bound.n = 0;
    for (int32_t k = 0; k < levels * n; k++) {
        const int32_t s = k % n;
        if (level[s] != k / n)
            continue;
        const ac_call *c = &m->call[f->begin + s];
        int32_t *param = AC_NEW_N(g->r, int32_t, c->n_arg + 1);
        for (int32_t a = 0; a < c->n_arg; a++) {
            const bool here = f->of[s][a].tensor >= 0;
            param[a] = here ? 0 : add_param(g, &c->low->fn->buf.item[a], &c->low->arg.item[a], &c->arg[a]);
            if (here && is_written(&c->low->fn->buf.item[a]))
                kept[f->of[s][a].tensor] = (ac_gpu_kept){done, a, 0};
        }
        params[s] = param;
        phase[done++] = (ac_gpu_phase){c->low->fn, param, f->of[s], level[s]};
    }
    find_shared(g);
    ac_loop_fn *fn = ac_gpu_join(g->r, phase, n, g->buf.item, g->buf.n, kept, f->made.n,
                                 m->target->shared_bytes - BOXES, ac_strf(g->r, "steps_%d", f->begin), note);
    for (int32_t k = 0; k < n; k++)
        for (int32_t a = 0; a < m->call[f->begin + k].n_arg; a++)
            if (f->of[k][a].tensor >= 0)
                params[k][a] = kept[f->of[k][a].tensor].buf;
    return fn;
}

static ac_call merged(merger *g, int32_t begin, int32_t end)
{
    const ac_module *m = g->m;
    ac_lowered *low = AC_NEW(g->r, ac_lowered);
    int32_t **params = AC_NEW_N(g->r, int32_t *, end - begin + 1);
    const char *note = ac_strf(g->r, "%d steps as one launch of a cluster", end - begin);
    flows f = {.begin = begin, .end = end};
    *low = *m->call[begin].low;
    low->macs = 0;
    for (int32_t s = begin; s < end; s++) {
        low->macs += m->call[s].low->macs;
        low->scratch += s > begin ? m->call[s].low->scratch : 0;
    }
    find_flows(g, &f);
    low->fn = join(g, &f, note, params);
    if (!low->fn) {
        forget_flows(g, &f);
        low->fn = join(g, &f, note, params);
    }
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
                     .param = (const int32_t *const *)params};
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
