#include "planner/stripe_group.h"

#include <string.h>

enum { MAX_PARAMS = 120, MAX_READS = 64 }; /* C99 promises 127 parameters */

typedef struct group {
    ac_stripes *v;
    ac_region *r;
    ac_stripe_group *q;
    int32_t n;          /* steps */
    int32_t *unit_of;   /* by step - begin */
    int32_t *place;     /* by step - begin: its member */
    ac_tensor **tensor; /* by ac_stripe.tensor */
    int32_t *maker;     /* ... step - begin, */
    bool strict;        /* a step that looks ahead in another unit's rows does not join */
    bool refused;       /* strict made a difference */
    int32_t *maker_buf; /* ... buffer of its loops */
} group;

void ac_stripes_open(ac_stripes *v, ac_ctx *cx, ac_region *region, const ac_graph *g, ac_lowered *const *step,
                     int32_t n_steps, const ac_liveness *live, const ac_target *target, bool exact)
{
    *v = (ac_stripes){cx, region, g, step, n_steps, live, target, exact, NULL, NULL, NULL};
    v->form = AC_NEW_N(region, ac_stripe_form, n_steps + 1);
    v->made_at = AC_NEW_N(region, int32_t, g->tensor.n + 1);
    v->viewed = AC_NEW_N(region, bool, g->tensor.n + 1);
    for (int32_t i = 0; i < g->tensor.n; i++)
        v->made_at[i] = -1;
    for (int32_t i = 0; i < g->tensor.n; i++)
        if (g->tensor.item[i]->root)
            v->viewed[i] = v->viewed[g->tensor.item[i]->root->id] = true;
    for (int32_t s = 0; s < n_steps; s++)
        for (int32_t a = 0; a < step[s]->arg.n; a++)
            if (step[s]->arg.item[a].kind == AC_ARG_TENSOR && step[s]->fn->buf.item[a].role != AC_BUF_IN)
                v->made_at[step[s]->arg.item[a].tensor->id] = s;
}

const ac_stripe_form *ac_stripe_form_of(ac_stripes *v, int32_t step)
{
    ac_stripe_form *f = &v->form[step];
    if (f->known)
        return f;
    f->known = true;
    const ac_diags before = v->cx->diags;
    f->low = ac_lower_node(v->cx, v->region, v->step[step]->node, v->target, AC_VARIANT_ROWS, v->exact);
    ac_quietly(v->cx, before, f->low ? AC_OK : AC_FAIL);
    f->ok = f->low && !f->low->fn->fails && ac_part_of(v->cx, v->region, f->low->fn, &f->part);
    return f;
}

static const ac_stripe_form *form(const group *w, int32_t k)
{
    return &w->v->form[w->q->begin + k];
}

static ac_tensor *tensor_of(const ac_lowered *low, int32_t a)
{
    return a < low->arg.n && low->arg.item[a].kind == AC_ARG_TENSOR ? low->arg.item[a].tensor : NULL;
}

/* ------------------------------------------------------------------ tensors made in the group */

static int32_t find(const group *w, const ac_tensor *t)
{
    for (int32_t i = 0; i < w->q->s.n_tensors; i++)
        if (w->tensor[i] == t)
            return i;
    return -1;
}

/* Nobody outside of the steps sees t. */
static bool is_inner(const group *w, const ac_tensor *t)
{
    const ac_liveness *l = w->v->live;
    return !w->v->viewed[t->id] && !t->input && !t->output && !t->state && l->first[t->id] >= w->q->begin &&
           l->last[t->id] < w->q->end;
}

/* Step s writes row s, all rows are equal. */
static bool in_rows(const ac_part *p, int32_t buf)
{
    const int64_t row = p->fn->buf.item[buf].count / p->steps;
    if (p->late || p->fn->buf.item[buf].count % p->steps)
        return false;
    for (int64_t s = 0; s < p->steps; s++)
        if (ac_part_span(p, buf, s).lo != s * row || ac_part_span(p, buf, s).hi != (s + 1) * row)
            return false;
    return true;
}

static bool made_tensors(group *w)
{
    ac_stripe *s = &w->q->s;
    int32_t room = 0;
    for (int32_t k = 0; k < w->n; k++)
        room += form(w, k)->low->arg.n;
    s->tensor = AC_NEW_N(w->r, ac_stripe_tensor, room + 1);
    w->tensor = AC_NEW_N(w->r, ac_tensor *, room + 1);
    w->maker = AC_NEW_N(w->r, int32_t, room + 1);
    w->maker_buf = AC_NEW_N(w->r, int32_t, room + 1);
    for (int32_t k = 0; k < w->n; k++) {
        const ac_stripe_form *f = form(w, k);
        for (int32_t a = 0; a < f->low->arg.n; a++) {
            ac_tensor *t = tensor_of(f->low, a);
            if (!t)
                continue;
            if (f->low->fn->buf.item[a].role == AC_BUF_IN) { /* views are followed only from outside of the group */
                for (int32_t i = 0; i < s->n_tensors; i++)
                    if (t != w->tensor[i] && w->v->live->item_of[t->id] == w->v->live->item_of[w->tensor[i]->id] &&
                        (w->v->viewed[t->id] || w->v->viewed[w->tensor[i]->id]))
                        return false;
                continue;
            }
            const int64_t count = f->low->fn->buf.item[a].count;
            w->tensor[s->n_tensors] = t;
            w->maker[s->n_tensors] = k;
            w->maker_buf[s->n_tensors] = a;
            s->tensor[s->n_tensors] =
                (ac_stripe_tensor){AC_STRIPE_WHOLE, 0, count / f->part.steps, f->part.steps, -1, s->n_tensors};
            s->n_tensors++;
        }
    }
    return true;
}

/* ------------------------------------------------------------------ units */

/* Step k works column by column on what unit u makes in the same column. */
static bool joins(group *w, int32_t k, int32_t u)
{
    const ac_stripe_form *f = form(w, k);
    int32_t head = 0;
    while (w->unit_of[head] != u)
        head++;
    const ac_part *p = &form(w, head)->part;
    if (!f->part.col || !p->col || f->part.steps != p->steps || f->part.cols != p->cols)
        return false;
    bool ahead = false;
    for (int32_t a = 0; a < f->low->arg.n; a++) {
        const ac_tensor *t = tensor_of(f->low, a);
        const int32_t i = t ? find(w, t) : -1;
        if (i < 0 || f->low->fn->buf.item[a].role != AC_BUF_IN)
            continue;
        if (w->unit_of[w->maker[i]] != u) {
            ahead |= !f->part.pixel[a];
            continue;
        }
        const ac_part *m = &form(w, w->maker[i])->part;
        if (m->late || !m->pixel[w->maker_buf[i]] || !f->part.pixel[a])
            return false;
    }
    w->refused |= ahead && w->strict;
    return !(ahead && w->strict);
}

static void units(group *w)
{
    ac_stripe *s = &w->q->s;
    s->unit = AC_NEW_N(w->r, ac_stripe_unit, w->n);
    for (int32_t k = 0; k < w->n; k++) {
        const ac_stripe_form *f = form(w, k);
        int32_t last = -1;
        for (int32_t a = 0; a < f->low->arg.n; a++) {
            const ac_tensor *t = tensor_of(f->low, a);
            const int32_t i = t && f->low->fn->buf.item[a].role == AC_BUF_IN ? find(w, t) : -1;
            if (i >= 0 && w->unit_of[w->maker[i]] > last)
                last = w->unit_of[w->maker[i]];
        }
        w->unit_of[k] = last >= 0 && joins(w, k, last) ? last : s->n_units;
        if (w->unit_of[k] == s->n_units)
            s->unit[s->n_units++] = (ac_stripe_unit){.steps = f->part.steps};
        s->unit[w->unit_of[k]].n_members++;
    }
    s->n_members = w->n;
    s->member = AC_NEW_N(w->r, ac_stripe_member, w->n);
    for (int32_t u = 0, m = 0; u < s->n_units; u++) {
        s->unit[u].member = m;
        for (int32_t k = 0; k < w->n; k++)
            if (w->unit_of[k] == u) {
                s->member[m].part = form(w, k)->part;
                w->place[k] = m++;
            }
    }
}

/* ------------------------------------------------------------------ who reads what, when */

/* Rows of tensor i that unit u reads by step, as lines. false: it reads none. */
static bool read_lines(group *w, int32_t u, int32_t i, ac_stripe_read *out, bool *ok)
{
    const int64_t n = w->q->s.unit[u].steps, rows = w->q->s.tensor[i].rows, row = w->q->s.tensor[i].row;
    const bool own = w->unit_of[w->maker[i]] == u, plain = in_rows(&form(w, w->maker[i])->part, w->maker_buf[i]);
    ac_region *tmp = w->r;
    bool any = false;
    int64_t *need = AC_NEW_N(tmp, int64_t, n), *low = AC_NEW_N(tmp, int64_t, n);
    for (int64_t s = 0; s < n; s++)
        low[s] = rows;
    for (int32_t k = 0; k < w->n; k++) {
        const ac_stripe_form *f = form(w, k);
        for (int32_t a = 0; a < f->low->arg.n && w->unit_of[k] == u; a++) {
            if (tensor_of(f->low, a) != w->tensor[i] || f->low->fn->buf.item[a].role != AC_BUF_IN)
                continue;
            any = true;
            for (int64_t s = 0; s < n; s++) {
                const ac_span e = ac_part_span(&f->part, a, s);
                if (e.lo >= e.hi)
                    continue;
                const int64_t hi = plain ? (e.hi + row - 1) / row : rows, lo = plain ? e.lo / row : 0;
                need[s] = hi > need[s] ? hi : need[s];
                low[s] = lo < low[s] ? lo : low[s];
            }
        }
    }
    for (int64_t s = 1; s < n; s++)
        need[s] = need[s] > need[s - 1] ? need[s] : need[s - 1];
    for (int64_t s = n - 2; s >= 0; s--)
        low[s] = low[s] < low[s + 1] ? low[s] : low[s + 1];
    out->tensor = i;
    if (any && own)
        out->need = out->low = (ac_ramp){1, 0, 1, 0, n};
    else if (any)
        *ok = ac_ramp_fit(need, n, &out->need) && ac_ramp_fit(low, n, &out->low);
    return any;
}

static bool reads(group *w)
{
    ac_stripe *s = &w->q->s;
    bool ok = true;
    for (int32_t i = 0; i < s->n_tensors; i++)
        s->tensor[i].unit = w->unit_of[w->maker[i]];
    for (int32_t u = 0; u < s->n_units; u++) {
        ac_stripe_unit *x = &s->unit[u];
        x->read = AC_NEW_N(w->r, ac_stripe_read, s->n_tensors + 1);
        for (int32_t i = 0; i < s->n_tensors && ok; i++)
            if (s->tensor[i].unit <= u && read_lines(w, u, i, &x->read[x->n_reads], &ok))
                x->n_reads++;
    }
    return ok;
}

/* Steps of unit u that somebody needs, given those of the later units. */
static int64_t limit_of(const group *w, int32_t u)
{
    const ac_stripe *s = &w->q->s;
    int64_t most = 0;
    for (int32_t i = 0; i < s->n_tensors; i++) {
        if (s->tensor[i].unit != u)
            continue;
        if (!is_inner(w, w->tensor[i]) || form(w, w->maker[i])->part.late)
            return s->unit[u].steps;
        for (int32_t v = u + 1; v < s->n_units; v++)
            for (int32_t k = 0; k < s->unit[v].n_reads; k++)
                if (s->unit[v].read[k].tensor == i && s->unit[v].limit) {
                    const int64_t rows = ac_ramp_at(&s->unit[v].read[k].need, s->unit[v].limit - 1);
                    most = rows > most ? rows : most;
                }
    }
    return most;
}

static void kinds(group *w)
{
    ac_stripe *s = &w->q->s;
    for (int32_t i = 0; i < s->n_tensors; i++) {
        ac_stripe_tensor *t = &s->tensor[i];
        const ac_part *p = &form(w, w->maker[i])->part;
        bool outside = false;
        for (int32_t u = t->unit + 1; u < s->n_units && !outside; u++)
            for (int32_t k = 0; k < s->unit[u].n_reads; k++)
                outside |= s->unit[u].read[k].tensor == i;
        if (!is_inner(w, w->tensor[i]) || !in_rows(p, w->maker_buf[i]))
            continue;
        if (!outside && p->col && p->pixel[w->maker_buf[i]]) {
            t->kind = AC_STRIPE_PIXEL;
            t->row /= p->cols;
            t->rows = 1;
        } else {
            t->kind = AC_STRIPE_WINDOW;
        }
    }
}

/* The window of an operand that result i may be written over: it dies with the same element. -1: none. */
static int32_t operand_under(const group *w, int32_t i)
{
    const ac_stripe *s = &w->q->s;
    const ac_stripe_form *f = form(w, w->maker[i]);
    for (int32_t k = 0; k < f->low->n_overwrite; k++) {
        const int32_t o = find(w, f->low->overwrite[k]);
        int32_t readers = 0;
        for (int32_t m = 0; m < w->n && o >= 0; m++)
            for (int32_t a = 0; a < form(w, m)->low->arg.n; a++)
                readers +=
                    tensor_of(form(w, m)->low, a) == w->tensor[o] && form(w, m)->low->fn->buf.item[a].role == AC_BUF_IN;
        if (o < 0 || readers != 1 || s->tensor[o].kind != AC_STRIPE_WINDOW || s->tensor[o].home != o ||
            s->tensor[o].unit == s->tensor[i].unit || s->tensor[o].row != s->tensor[i].row)
            continue;
        return o;
    }
    return -1;
}

static void share_windows(group *w)
{
    ac_stripe *s = &w->q->s;
    for (int32_t i = 0; i < s->n_tensors; i++) {
        const int32_t o = s->tensor[i].kind == AC_STRIPE_WINDOW ? operand_under(w, i) : -1;
        if (o >= 0)
            s->tensor[i].home = o;
    }
}

static ac_bytes window_bytes(const group *w)
{
    const ac_stripe *s = &w->q->s;
    ac_bytes sum = 0;
    for (int32_t i = 0; i < s->n_tensors; i++)
        if (s->tensor[i].kind == AC_STRIPE_WINDOW && s->tensor[i].home == i)
            sum += ac_dtype_size(w->tensor[i]->dtype, s->tensor[i].row * s->tensor[i].rows);
    return sum;
}

/* Rows as early as possible, or only when somebody lacks them: whichever needs smaller windows. */
static bool order(group *w)
{
    ac_stripe_group *q = w->q;
    ac_bytes best = -1;
    bool asked = false;
    for (int pass = 0; pass < 3; pass++) {
        const bool ask = pass == 2 ? asked : pass == 1;
        for (int32_t u = 0; u < q->s.n_units; u++)
            q->s.unit[u].asked = ask;
        if (pass == 2 && best < 0)
            return false;
        if (!ac_stripe_simulate(&q->s, q->unit_of_tick, w->r) || (best >= 0 && window_bytes(w) >= best))
            continue;
        best = window_bytes(w);
        asked = ask;
    }
    return best >= 0;
}

/* ------------------------------------------------------------------ buffers */

static int32_t param(group *w, ac_buf buf, ac_arg arg)
{
    ac_stripe_group *q = w->q;
    buf.name = buf.name ? buf.name : "t";
    q->s.buf[q->n_args] = buf;
    q->arg[q->n_args] = arg;
    return q->n_args++;
}

static int32_t tensor_param(group *w, ac_tensor *t, ac_role role, const ac_buf *like)
{
    ac_stripe_group *q = w->q;
    for (int32_t i = 0; i < q->n_args; i++)
        if (q->arg[i].kind == AC_ARG_TENSOR && q->arg[i].tensor == t) {
            if (q->s.buf[i].role != role)
                q->s.buf[i].role = AC_BUF_INOUT;
            return i;
        }
    if (role == AC_BUF_IN)
        q->in[q->n_in++] = t;
    else
        q->out[q->n_out++] = t;
    ac_buf buf = *like;
    buf.role = role;
    return param(w, buf, (ac_arg){AC_ARG_TENSOR, t, NULL, 0});
}

static int32_t const_param(group *w, ac_const *k, const ac_buf *like)
{
    for (int32_t i = 0; i < w->q->n_args; i++) {
        const ac_const *c = w->q->arg[i].konst;
        if (w->q->arg[i].kind == AC_ARG_CONST &&
            (c == k || (c->source && c->source == k->source && c->align >= k->align)))
            return i;
    }
    return param(w, *like, (ac_arg){AC_ARG_CONST, NULL, k, 0});
}

static int32_t scratch_param(group *w, ac_buf buf, int64_t count, ac_bytes align)
{
    buf.role = AC_BUF_SCRATCH;
    buf.count = count;
    if (w->v->target->vec_bytes == 0) /* one element at a time */
        buf.align = (int32_t)ac_dtype_size(buf.dtype, 1);
    const ac_bytes bytes = ac_dtype_size(buf.dtype, count);
    w->q->scratch += ac_align_up(bytes, buf.align > align ? buf.align : align);
    return param(w, buf, (ac_arg){AC_ARG_SCRATCH, NULL, NULL, bytes});
}

/* A tensor made in the group: its window, or the whole of it. */
static int32_t made_param(group *w, int32_t i, const ac_buf *like, ac_bytes align)
{
    ac_stripe_tensor *t = &w->q->s.tensor[i];
    ac_buf buf = *like;
    if (t->home != i)
        return t->buf = made_param(w, t->home, like, align);
    if (t->buf >= 0)
        return t->buf;
    if (t->kind == AC_STRIPE_WINDOW) {
        buf.name = "rows";
        buf.note = ac_strf(w->r, "%lld rows of %s", (long long)t->rows, like->note ? like->note : "");
    }
    if (t->kind == AC_STRIPE_PIXEL) {
        buf.name = "pixel";
        buf.note = ac_strf(w->r, "one pixel of %s", like->note ? like->note : "");
    }
    buf.align = t->kind == AC_STRIPE_WHOLE ? buf.align : (int32_t)ac_dtype_size(buf.dtype, 1);
    t->buf = scratch_param(w, buf, t->kind == AC_STRIPE_WHOLE ? like->count : t->row * t->rows, align);
    w->q->arg[t->buf].tensor = w->tensor[i];
    return t->buf;
}

static bool buffers(group *w, ac_bytes align)
{
    ac_stripe_group *q = w->q;
    int32_t room = 1;
    for (int32_t k = 0; k < w->n; k++)
        room += form(w, k)->low->fn->buf.n;
    q->s.buf = AC_NEW_N(w->r, ac_buf, room);
    q->arg = AC_NEW_N(w->r, ac_arg, room);
    q->in = AC_NEW_N(w->r, ac_tensor *, room);
    q->out = AC_NEW_N(w->r, ac_tensor *, room);
    for (int pass = 0; pass < 2; pass++) { /* parameters, then locals */
        for (int32_t k = 0; k < w->n; k++) {
            const ac_lowered *low = form(w, k)->low;
            ac_stripe_member *m = &q->s.member[w->place[k]];
            if (pass == 0) {
                m->buf = AC_NEW_N(w->r, int32_t, low->fn->buf.n + 1);
                m->tensor = AC_NEW_N(w->r, int32_t, low->fn->buf.n + 1);
            }
            for (int32_t a = 0; a < low->fn->buf.n; a++) {
                const ac_buf *like = &low->fn->buf.item[a];
                ac_tensor *t = tensor_of(low, a);
                const int32_t i = t ? find(w, t) : -1;
                if ((a >= low->arg.n) != (pass == 1))
                    continue;
                m->tensor[a] = i >= 0 && is_inner(w, t) ? i : -1;
                if (pass == 1)
                    q->s.buf[m->buf[a] = q->s.n_bufs++] = *like;
                else if (m->tensor[a] >= 0)
                    m->buf[a] = made_param(w, i, like, align);
                else if (t)
                    m->buf[a] = tensor_param(w, t, like->role, like);
                else if (low->arg.item[a].kind == AC_ARG_CONST)
                    m->buf[a] = const_param(w, low->arg.item[a].konst, like);
                else
                    m->buf[a] = scratch_param(w, *like, like->count, align);
            }
        }
        if (pass == 0)
            q->s.n_bufs = q->n_args;
    }
    return q->n_args <= MAX_PARAMS;
}

static bool build(ac_stripes *v, int32_t begin, int32_t end, ac_bytes align, ac_region *region, bool strict,
                  ac_stripe_group *out, bool *refused)
{
    *out = (ac_stripe_group){.begin = begin, .end = end};
    group w = {.v = v, .r = region, .q = out, .n = end - begin, .strict = strict};
    w.unit_of = AC_NEW_N(region, int32_t, w.n);
    w.place = AC_NEW_N(region, int32_t, w.n);
    if (!made_tensors(&w))
        return false;
    units(&w);
    *refused = w.refused;
    if (!reads(&w))
        return false;
    int64_t ticks = 0;
    for (int32_t u = out->s.n_units - 1; u >= 0; u--)
        ticks += out->s.unit[u].limit = limit_of(&w, u);
    kinds(&w);
    share_windows(&w);
    out->unit_of_tick = AC_NEW_N(region, int32_t, ticks + 1);
    return order(&w) && buffers(&w, align);
}

bool ac_stripe_group_of(ac_stripes *v, int32_t begin, int32_t end, ac_bytes align, ac_region *region,
                        ac_stripe_group *out)
{
    bool refused = false;
    for (int32_t s = begin; s < end; s++)
        if (!ac_stripe_form_of(v, s)->ok)
            return false;
    ac_stripe_group apart;
    const bool strict = build(v, begin, end, align, region, true, &apart, &refused);
    const bool greedy = (refused || !strict) && build(v, begin, end, align, region, false, out, &refused);
    if (strict && (!greedy || apart.scratch < out->scratch))
        *out = apart;
    return strict || greedy;
}

/* The node that stands for the group: reports, lives and messages see its operands and results. */
static ac_node *group_node(ac_stripes *v, const ac_stripe_group *q)
{
    ac_region *r = v->cx->region;
    const ac_node *first = v->step[q->begin]->node, *last = v->step[q->end - 1]->node;
    ac_node *n = AC_NEW(r, ac_node);
    n->id = first->id;
    n->name = last->name;
    n->at = last->at;
    n->at.op = ac_internf(v->cx, "STRIPE of %d", q->end - q->begin);
    n->n_in = q->n_in;
    n->in = AC_NEW_N(r, ac_tensor *, q->n_in + 1);
    n->n_out = q->n_out;
    n->out = AC_NEW_N(r, ac_tensor *, q->n_out + 1);
    for (int32_t i = 0; i < q->n_in; i++)
        n->in[i] = q->in[i];
    for (int32_t i = 0; i < q->n_out; i++)
        n->out[i] = q->out[i];
    return n;
}

/* "CONV_2D, DEPTHWISE_CONV_2D + ADD" */
static const char *chain_text(ac_stripes *v, const ac_stripe_group *q)
{
    const char *text = NULL;
    for (int32_t s = q->begin; s < q->end; s++) {
        const ac_node *n = v->step[s]->node;
        for (int32_t f = -1; f < n->n_fused; f++) {
            const ac_node *m = f < 0 ? n : n->fused[f];
            const char *op = m->at.op ? m->at.op : ac_ops[m->op].tflite;
            text = text ? ac_strf(v->cx->region, "%s%s%s", text, f < 0 ? ", " : " + ", op) : op;
        }
    }
    return text;
}

ac_lowered *ac_stripe_lower(ac_stripes *v, ac_stripe_group *q)
{
    ac_region *r = v->cx->region;
    ac_lowered *low = AC_NEW(r, ac_lowered);
    low->node = group_node(v, q);
    low->chain = chain_text(v, q);
    q->s.name = ac_internf(v->cx, "stripe_%d_%d", q->begin, q->end - 1);
    q->s.note = ac_strf(r, "steps %d to %d row by row -> %s", q->begin, q->end - 1, ac_tensor_str(v->cx, q->out[0]));
    for (int32_t s = q->begin; s < q->end; s++)
        low->macs += v->step[s]->macs;
    for (int32_t a = 0; a < q->n_args; a++) {
        ac_push(r, &low->arg, q->arg[a]);
        if (q->arg[a].kind == AC_ARG_SCRATCH)
            low->scratch += ac_align_up(q->arg[a].bytes, 16);
    }
    low->fn = ac_loop_stripe(v->cx, r, &q->s);
    return ac_loop_verify(v->cx, low->fn) == AC_OK ? low : NULL;
}
