/* phases.c - claims that a launch of a GPU keeps the order of the steps that it runs as phases of a cluster.
 *
 * Each step is proven by itself. Blocks wait for each other after a cluster loop, and only there. So if two parameters
 * share bytes, one of them is written, and no step has both, the parameter of the earlier step must be used in earlier
 * cluster loops. The joined function must have all stores of the steps. A tensor that blocks keep in shared memory is
 * a local buffer of the joined function: every block must have it in time (kept.h). */
#include "prove/phases.h"

#include "prove/facts/arguments.h"
#include "prove/kept.h"

/* By parameter of the joined function: the steps that have it, and the cluster loops and stores that use it. */
typedef struct use {
    int32_t first_step, last_step;
    int32_t first_loop, last_loop; /* -1: none */
    int32_t stores;
} use;

static bool is_place(const ac_bound_arg *a, const ac_bound_arg *b)
{
    return a->space == b->space && a->index == b->index && a->offset == b->offset;
}

/* True if argument a of step s is parameter b of the joined call. */
static bool is_param(const ac_module *m, int32_t s, int32_t a, const ac_module *joined, int32_t call, int32_t b,
                     int32_t begin)
{
    const ac_call *c = &joined->call[call];
    const ac_buf *x = &m->fn[m->call[s].fn]->buf.item[a], *y = &joined->fn[c->fn]->buf.item[b];
    return c->param[s - begin][a] == b && x->role == y->role && x->dtype == y->dtype && x->count == y->count &&
           is_place(&m->call[s].arg[a], &c->arg[b]);
}

static int32_t stores_of(const ac_loop_fn *fn, int32_t buf)
{
    int32_t n = 0;
    for (ac_x x = 1; x < fn->code.n; x++)
        n += ac_lop_stores((ac_lop)fn->code.item[x].op) && fn->code.item[x].aux == buf;
    return n;
}

static void find_loops(const ac_loop_fn *fn, int32_t n, use *u)
{
    int32_t loop = -1;
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        loop += i->op == AC_L_FOR && i->aux == AC_MARK_CLUSTER;
        if ((i->op != AC_L_LOAD && i->op != AC_L_STORE) || i->aux >= n)
            continue;
        u[i->aux].first_loop = u[i->aux].first_loop < 0 ? loop : u[i->aux].first_loop;
        u[i->aux].last_loop = loop;
        u[i->aux].stores += i->op == AC_L_STORE;
    }
}

/* True if a step has both parameters: its own proof is about them. */
static bool of_one_step(const ac_module *m, const ac_module *joined, int32_t call, int32_t s, int32_t a, int32_t b,
                        int32_t begin)
{
    bool has_a = false, has_b = false;
    for (int32_t k = 0; k < m->call[s].n_arg; k++) {
        has_a |= is_param(m, s, k, joined, call, a, begin);
        has_b |= is_param(m, s, k, joined, call, b, begin);
    }
    return has_a && has_b;
}

static void claim(ac_ctx *cx, ac_verdict *v, int32_t step, bool good, ac_claim kind, const char *reason)
{
    if (good)
        ac_verdict_proven(v, step, kind);
    else
        ac_verdict_doubt(cx, v, (ac_doubt){.step = step, .claim = kind, .wrong = true, .reason = reason});
}

/* Tensors of step s that blocks keep. */
static void claim_kept(ac_ctx *cx, const ac_module *m, int32_t s, const ac_call *c, const int32_t *param,
                       const ac_loop_fn *fn, ac_verdict *v)
{
    const ac_loop_fn *step = m->fn[m->call[s].fn];
    for (int32_t a = 0; a < m->call[s].n_arg; a++) {
        const int32_t b = param[a];
        if (b < c->n_arg || step->buf.item[a].role != AC_BUF_OUT)
            continue;
        const bool good = b < fn->buf.n && stores_of(fn, b) >= stores_of(step, a) &&
                          fn->buf.item[b].where == AC_WHERE_SPREAD &&
                          fn->buf.item[b].dtype == step->buf.item[a].dtype &&
                          ac_p_kept_in_time(cx->region, fn, b, step->buf.item[a].count);
        claim(cx, v, s, good, AC_CLAIM_ORDER,
              ac_strf(cx->region, "a block may load '%s' before it has all of it", fn->buf.item[b].name));
    }
}

static void claim_call(ac_ctx *cx, const ac_module *m, const ac_module *joined, int32_t call, int32_t begin,
                       ac_verdict *v)
{
    const ac_call *c = &joined->call[call];
    const ac_loop_fn *fn = joined->fn[c->fn];
    use *u = AC_NEW_N(cx->region, use, c->n_arg + 1);
    int32_t *stores = AC_NEW_N(cx->region, int32_t, c->n_arg + 1);
    for (int32_t a = 0; a < c->n_arg; a++) {
        u[a] = (use){INT32_MAX, -1, -1, -1, 0};
        for (int32_t s = begin; s < begin + c->steps; s++)
            for (int32_t k = 0; k < m->call[s].n_arg; k++)
                if (is_param(m, s, k, joined, call, a, begin)) {
                    u[a].first_step = s < u[a].first_step ? s : u[a].first_step;
                    u[a].last_step = s;
                    stores[a] += stores_of(m->fn[m->call[s].fn], k);
                }
    }
    find_loops(fn, c->n_arg, u);
    for (int32_t s = begin; s < begin + c->steps; s++)
        claim_kept(cx, m, s, c, c->param[s - begin], fn, v);
    for (int32_t a = 0; a < c->n_arg; a++) {
        const bool written = ac_p_arg_written(joined, call, a);
        bool good = u[a].last_step >= 0;
        if (written)
            claim(cx, v, begin, good && u[a].stores >= stores[a], AC_CLAIM_WRITTEN,
                  ac_strf(cx->region, "the joined steps do not store all of '%s'", fn->buf.item[a].name));
        for (int32_t b = 0; b < c->n_arg && written; b++) {
            if (a == b || u[b].first_loop < 0 || !ac_p_args_overlap(joined, call, a, b))
                continue;
            bool both = false;
            for (int32_t s = begin; s < begin + c->steps; s++)
                both |= of_one_step(m, joined, call, s, a, b, begin);
            good = both || (u[a].last_step < u[b].first_step && u[a].last_loop < u[b].first_loop) ||
                   (u[b].last_step < u[a].first_step && u[b].last_loop < u[a].first_loop);
            claim(cx, v, begin, good, AC_CLAIM_ORDER,
                  ac_strf(cx->region, "'%s' and '%s' share bytes, and blocks do not wait between them",
                          fn->buf.item[a].name, fn->buf.item[b].name));
        }
    }
}

void ac_p_claim_phases(ac_ctx *cx, const ac_module *joined, ac_verdict *v)
{
    const ac_module *m = ac_module_steps(joined);
    for (int32_t c = 0, s = 0; c < joined->n_calls && m != joined; c++) {
        const int32_t steps = joined->call[c].steps ? joined->call[c].steps : 1;
        if (steps > 1)
            claim_call(cx, m, joined, c, s, v);
        s += steps;
    }
}
