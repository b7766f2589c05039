/* prove.c - all calls of a module, in order; see prove.h. */
#include "base/progress.h"
#include "ir/loop/tiles.h"
#include "prove/between.h"
#include "prove/bytes.h"
#include "prove/cover.h"
#include "prove/extremes.h"

/* END of every FOR and ELSE, ELSE or END of every IF. */
static void match_ends(ac_prover *p)
{
    AC_VEC(ac_x) open = {0};
    p->end = AC_NEW_N(p->keep, ac_x, p->fn->code.n + 1);
    for (ac_x x = 1; x < p->fn->code.n; x++) {
        const ac_lop op = (ac_lop)ac_p_ins(p, x)->op;
        if ((op == AC_L_ELSE || op == AC_L_END) && open.n)
            p->end[open.item[--open.n]] = x;
        if (op == AC_L_FOR || op == AC_L_IF || op == AC_L_ELSE)
            ac_push(p->keep, &open, x);
    }
}

/* Elements of each buffer: those that this call's step was made for, where functions are shared. */
static void count_buffers(ac_prover *p)
{
    const ac_loop_fn *own = p->call->low->fn;
    p->count = AC_NEW_N(p->keep, int64_t, p->fn->buf.n + 1);
    for (int32_t b = 0; b < p->fn->buf.n; b++) {
        const ac_buf *buf = &p->fn->buf.item[b];
        p->count[b] = buf->count;
        if (b < p->call->n_arg && b < own->buf.n && own->buf.item[b].role != AC_BUF_LOCAL &&
            own->buf.item[b].count < buf->count)
            p->count[b] = own->buf.item[b].count;
    }
}

/* May the call's own stores be all that a load of this buffer sees, and do numbers of it matter? */
static bool is_own(const ac_prover *p, int32_t b)
{
    const ac_buf *buf = &p->fn->buf.item[b];
    if (ac_dtype_is_float(buf->dtype) || ac_dtype_bits(buf->dtype) <= 8)
        return false;
    if (p->call->low->rows > 0 && b == p->call->low->streamed_arg) /* the caller puts rows there */
        return false;
    if (buf->role == AC_BUF_LOCAL)
        return true;
    return b < p->call->n_arg && (buf->role == AC_BUF_SCRATCH || buf->role == AC_BUF_OUT) && !p->call->arg[b].shares;
}

/* All calls of a step that takes rows, in turn; before each the caller puts a row at the end of a window. */
static void follow_rows(ac_prover *p)
{
    const ac_lowered *low = p->call->low;
    const int32_t b = low->streamed_arg;
    const ac_affine n = ac_affine_of(low->row_bytes / ac_dtype_size(p->fn->buf.item[b].dtype, 1)),
                    at = ac_affine_of(p->count[b] - n.c);
    ac_p_numbers_begin(p);
    for (p->chunk = 0; p->chunk < low->rows; p->chunk++) {
        ac_p_cover(p, 0, b, &at, &n, AC_USE_WRITE);
        ac_p_extremes_keep(p, 0);
        ac_p_follow(p, 1, p->fn->code.n);
    }
    p->chunk = -1;
}

void ac_p_follow_all(ac_prover *p)
{
    const int32_t n = p->fn->buf.n;
    ac_region_close(p->tmp);
    p->tmp = ac_region_open(ac_region_heap(p->keep));
    ac_know_open(&p->know, p->tmp);
    p->value = AC_NEW_N(p->tmp, ac_pvalue, p->fn->code.n + 1);
    p->stored = AC_NEW_N(p->keep, ac_pstored, n + 1);
    p->times = 1;
    p->uncertain = 0;
    p->sides = 0;
    p->frame = NULL;
    p->extremes = NULL;
    p->arrays = NULL;
    p->witness = 0;
    p->dry = false;
    ac_p_cover_open(p);
    ac_p_order_open(p);
    if (p->call->low->rows > 0)
        follow_rows(p);
    else
        ac_p_follow(p, 1, p->fn->code.n);
    if (!p->mute) {
        ac_p_cover_close(p, p->chunk < 0 || p->chunk + 1 == p->call->low->chunks);
        ac_p_order_close(p);
    }
}

/* How many doubts there are about single values. */
static int32_t value_doubts(const ac_prover *p, int32_t from)
{
    int32_t n = 0;
    for (int32_t i = from; i < p->out->doubt.n; i++)
        n += p->out->doubt.item[i].claim <= AC_CLAIM_SHIFT;
    return n;
}

/* The pass that makes the claims; one for each of the calls that a step takes with several threads. */
static void follow_calls(ac_prover *p)
{
    const int32_t n = p->call->low->chunks;
    p->results = NULL;
    memset(p->left_any, 0, (size_t)p->fn->buf.n * sizeof *p->left_any);
    for (p->chunk = n > 0 ? 0 : -1; p->chunk < (n > 0 ? n : 0); p->chunk++) {
        ac_p_follow_all(p);
        for (int32_t b = 0; b < p->fn->buf.n; b++) {
            const ac_pstored *s = &p->stored[b];
            if (!s->any)
                continue;
            p->left[b] = p->left_any[b] ? ac_interval_join(p->left[b], s->all) : s->all;
            p->left_any[b] = true;
        }
    }
    p->chunk = -1;
}

/* A branch that writes what another one may write too: what is written shows on each way through both. Marks those
 * without another side that store to buffers of the call's own; false: there are none, or nothing is in doubt. */
static bool mark_apart(ac_prover *p, int32_t from)
{
    bool any = false, doubtful = false;
    for (int32_t i = from; i < p->out->doubt.n; i++)
        doubtful |= p->out->doubt.item[i].claim == AC_CLAIM_WRITTEN && p->out->doubt.item[i].ins;
    if (!doubtful)
        return false;
    p->apart = AC_NEW_N(p->keep, bool, p->fn->code.n + 1);
    for (ac_x x = 1; x < p->fn->code.n; x++) {
        if (ac_p_ins(p, x)->op != AC_L_IF || ac_p_end(p, x) != p->end[x])
            continue;
        for (ac_x k = x; k < p->end[x] && !p->apart[x]; k++) {
            const ac_ins *i = ac_p_ins(p, k);
            const ac_role role = i->op == AC_L_STORE  ? p->fn->buf.item[i->aux].role
                                 : i->op == AC_L_TILE ? p->fn->buf.item[ac_ins_tile(i).acc].role
                                                      : AC_BUF_IN;
            p->apart[x] = role == AC_BUF_SCRATCH || role == AC_BUF_LOCAL;
        }
        any |= p->apart[x];
    }
    return any;
}

/* In place of what was found since. */
static void claim_again(ac_prover *p, int32_t doubts, const ac_verdict_step *before)
{
    p->out->doubt.n = doubts;
    p->out->step[p->step] = *before;
    follow_calls(p);
}

/* A pass for what is stored, where that matters, and the one that makes the claims; again with what may help. */
static void claim_all(ac_prover *p)
{
    bool any = false;
    p->content = AC_NEW_N(p->keep, ac_interval, p->fn->buf.n + 1);
    for (int32_t b = 0; b < p->fn->buf.n; b++) {
        const ac_dtype d = p->fn->buf.item[b].dtype;
        p->content[b] = ac_dtype_is_float(d) ? (ac_interval){0}
                        : b < p->call->n_arg ? ac_p_between_given(p, b)
                                             : ac_p_range(d);
        any |= is_own(p, b);
    }
    if (any) {
        p->mute = true;
        ac_p_follow_all(p);
        p->mute = false;
        for (int32_t b = 0; b < p->fn->buf.n; b++)
            if (is_own(p, b) && p->stored[b].any)
                p->content[b] = ac_p_contents(p, b);
    }
    const int32_t doubts = p->out->doubt.n;
    const ac_verdict_step before = p->out->step[p->step];
    p->apart = NULL;
    follow_calls(p);
    if (value_doubts(p, doubts)) {
        ac_p_split(p);
        claim_again(p, doubts, &before);
    }
    if (mark_apart(p, doubts))
        claim_again(p, doubts, &before);
}

static void prove_call(ac_ctx *cx, const ac_module *m, int32_t step, ac_between *between, ac_verdict *v)
{
    ac_region *keep = ac_region_open(ac_region_heap(cx->region));
    const ac_call *call = &m->call[step];
    ac_prover p = {.cx = cx, .keep = keep, .m = m, .step = step, .call = call, .fn = m->fn[call->fn], .out = v};
    const int32_t doubts = v->doubt.n;
    const ac_verdict_step before = v->step[step];
    p.table = AC_NEW_N(keep, ac_ptable, p.fn->buf.n + 1);
    p.set = AC_NEW_N(keep, ac_pset, p.fn->code.n + 1);
    match_ends(&p);
    count_buffers(&p);
    p.between = between;
    p.made = AC_NEW_N(keep, bool, p.fn->buf.n + 1);
    for (int32_t a = 0; a < call->n_arg; a++)
        p.made[a] = ac_p_made_here(m, step, a);
    p.left = AC_NEW_N(keep, ac_interval, p.fn->buf.n + 1);
    p.left_any = AC_NEW_N(keep, bool, p.fn->buf.n + 1);
    p.marks = INT64_C(1) << 26;
    p.walk_steps = INT64_C(1) << 24;
    p.chunk = -1;
    p.wraps = AC_NEW_N(keep, bool, p.fn->code.n + 1);
    do { /* once more where something does wrap, with nothing built on that */
        v->doubt.n = doubts;
        v->step[step] = before;
        p.trusted = AC_NEW_N(keep, bool, p.fn->code.n + 1);
        p.deceived = false;
        p.refined = NULL;
        p.fine = NULL;
        claim_all(&p);
    } while (p.deceived);
    ac_p_between_leave(&p, p.left, p.left_any);
    ac_region_close(p.tmp);
    ac_region_close(keep);
}

int ac_prove(ac_ctx *cx, const ac_module *m, ac_verdict *v)
{
    *v = (ac_verdict){.step = AC_NEW_N(cx->region, ac_verdict_step, m->n_calls + 1),
                      .by_element = AC_NEW_N(cx->region, bool, m->n_calls + 1),
                      .n_steps = m->n_calls};
    ac_between between;
    ac_p_between_open(&between, m, cx->region);
    ac_progress_begin(cx, "proving", m->n_calls);
    for (int32_t i = 0; i < m->n_calls; i++) {
        ac_progress_at(cx, i);
        prove_call(cx, m, i, &between, v);
    }
    ac_p_bytes(cx, m, v);
    for (int32_t i = 0; i < v->n_steps; i++)
        for (int c = 0; c < AC_CLAIMS; c++) {
            v->sum.claims[c] += v->step[i].claims[c];
            v->sum.proven[c] += v->step[i].proven[c];
        }
    for (int32_t i = 0; i < v->doubt.n; i++)
        v->wrong += v->doubt.item[i].wrong;
    return cx->diags.errors ? AC_FAIL : AC_OK;
}
