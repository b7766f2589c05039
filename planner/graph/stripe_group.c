/* stripe_group.c - a run of steps as one that works row by row: forms, tensors, windows. */
#include "planner/graph/stripe_work.h"
#include "ir/lower/node/node.h"

void ac_stripes_open(ac_stripes *v, ac_ctx *cx, const ac_plan_how *how, ac_region *region, const ac_planned *from)
{
    const ac_graph *g = from->graph;
    ac_lowered *const *step = from->step;
    const int32_t n_steps = from->n_steps;
    *v = (ac_stripes){.cx = cx,
                      .region = region,
                      .g = g,
                      .step = step,
                      .n_steps = n_steps,
                      .live = from->live,
                      .target = how->target,
                      .cache = how->cache,
                      .exact = how->exact};
    for (int32_t k = 0; k < AC_STRIPE_WAYS; k++)
        v->form[k] = AC_NEW_N(region, ac_stripe_form, n_steps + 1);
    v->way = AC_NEW_N(region, uint8_t, n_steps + 1);
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

/* The tensor that all steps know input t as, and which steps; false: they differ, or something else looks at it. */
static bool readers(const ac_stripes *v, ac_tensor *t, ac_stripe_streamed *out)
{
    *out = (ac_stripe_streamed){.first = -1};
    for (int32_t i = 0; i < v->g->output.n; i++)
        if (ac_tensor_root(v->g->output.item[i]) == t)
            return false;
    for (int32_t s = 0; s < v->n_steps; s++)
        for (int32_t a = 0; a < v->step[s]->arg.n; a++) {
            ac_tensor *x = ac_stripe_tensor_of(v->step[s], a);
            if (!x || ac_tensor_is_const(x) || ac_tensor_root(x) != t)
                continue;
            if ((out->tensor && out->tensor != x) || v->step[s]->fn->buf.item[a].role != AC_BUF_IN)
                return false;
            out->tensor = x;
            out->first = out->first < 0 ? s : out->first;
            out->last = s;
        }
    return out->tensor && ac_tensor_bytes(out->tensor) == ac_tensor_bytes(t);
}

bool ac_stripes_stream(ac_stripes *v)
{
    v->streamed.tensor = NULL;
    for (int32_t i = 0; i < v->g->input.n; i++) {
        ac_stripe_streamed x;
        ac_tensor *t = v->g->input.item[i];
        if (!readers(v, t, &x) || (v->streamed.tensor && ac_tensor_bytes(t) <= ac_tensor_bytes(v->streamed.tensor)))
            continue;
        int32_t d = 0;
        while (d < x.tensor->rank && x.tensor->dim[d] == 1)
            d++;
        if (d + 1 >= x.tensor->rank) /* one element is not a row */
            continue;
        x.rows = x.tensor->dim[d];
        v->streamed = x;
    }
    return v->streamed.tensor != NULL;
}

const ac_stripe_form *ac_stripe_form_of(ac_stripes *v, int32_t step)
{
    static const int32_t VARIANT[AC_STRIPE_WAYS] = {
        [AC_STRIPE_LEAN] = AC_VARIANT_ROWS,
        [AC_STRIPE_WIDE] = AC_VARIANT_ROWS | AC_VARIANT_WIDE,
        [AC_STRIPE_LINE_1] = AC_VARIANT_ROWS | AC_VARIANT_LINE_1,
    };
    const int32_t variant = VARIANT[v->way[step]] | (v->sums ? AC_VARIANT_SUMS : 0);
    ac_stripe_form *f = &v->form[v->way[step]][step];
    if (f->known)
        return f;
    f->known = true;
    const ac_diags before = v->cx->diags;
    const ac_node *n = v->strip ? ac_stripe_narrow(v, v->step[step]->node, f) : v->step[step]->node;
    if (!n)
        return f;
    f->low = ac_lower_node(v->cx, v->region, n, v->target, variant, v->exact);
    ac_quietly(v->cx, before, f->low ? AC_OK : AC_FAIL);
    f->ok = f->low && !f->low->fn->fails && ac_part_of(v->cx, v->region, f->low->fn, &f->part) &&
            (!v->strip || f->part.steps == ac_node_result(n)->dim[1]); /* columns of a block of rows are not together */
    return f;
}

/* ------------------------------------------------------------------ tensors made in the group */

int32_t ac_stripe_find(const ac_stripe_work *w, const ac_tensor *t)
{
    for (int32_t i = 0; i < w->q->s.n_tensors; i++)
        if (ac_stripe_is_same(w, w->tensor[i], t))
            return i;
    return -1;
}

/* Tensor t of a step, with all of its columns. */
static ac_tensor *whole_of(const ac_stripe_work *w, ac_tensor *t)
{
    return w->v->strip ? w->v->g->tensor.item[t->id] : t;
}

/* The columns that the window of tensor i holds, given those of all rows. */
static void set_columns(const ac_stripe_work *w, int32_t i)
{
    ac_stripe_tensor *t = &w->q->s.tensor[i];
    const ac_stripe_strip *s = w->v->strip;
    const int32_t id = w->tensor[i]->id;
    t->column = (ac_stripe_columns){.all = t->row};
    if (!s)
        return;
    const int64_t c = w->tensor[i]->dim[3], made = s->fresh[id] - s->from[id];
    t->row = (s->to[id] - s->from[id]) * c;
    t->column = (ac_stripe_columns){w->tensor[i]->dim[2] * c,
                                    s->from[id] * c,
                                    made * c,
                                    (s->next[id] - s->from[id]) * c,
                                    (s->to[id] - s->next[id]) * c,
                                    -1,
                                    s->pitch[id] * c};
}

/* True if no step outside of the group reads t, or if the group sees its rows only. */
bool ac_stripe_is_inner(const ac_stripe_work *w, const ac_tensor *t)
{
    for (int32_t i = 0; i < w->n_filled; i++)
        if (ac_stripe_is_same(w, t, w->tensor[i]))
            return true;
    return (w->q->s.streamed >= 0 && t == w->tensor[w->q->s.streamed]) ||
           ac_stripes_is_inner(w->v, w->q->begin, w->q->end, t);
}

bool ac_stripe_copyable(const ac_stripes *v, const ac_tensor *t, int64_t *rows)
{
    int32_t d = 0;
    while (d < t->rank && t->dim[d] == 1)
        d++;
    *rows = d < t->rank ? t->dim[d] : 1;
    return d + 1 < t->rank && !v->viewed[t->id] && !t->state && !ac_tensor_is_const(t); /* one element is not a row */
}

static bool is_copied(const ac_stripe_work *w, const ac_tensor *t)
{
    int64_t rows;
    return w->v->copied && w->v->copied[t->id] && !ac_stripes_is_inner(w->v, w->q->begin, w->q->end, t) &&
           ac_stripe_copyable(w->v, t, &rows);
}

bool ac_stripe_drains(const ac_stripe_work *w, int32_t i)
{
    return w->maker[i] >= 0 && is_copied(w, w->tensor[i]) &&
           ac_stripe_in_rows(&ac_stripe_work_form(w, w->maker[i])->part, w->maker_buf[i]);
}

/* Step s writes row s, all rows are equal. */
bool ac_stripe_in_rows(const ac_part *p, int32_t buf)
{
    const int64_t row = p->fn->buf.item[buf].count / p->steps;
    if (p->late || p->fn->buf.item[buf].count % p->steps)
        return false;
    for (int64_t s = 0; s < p->steps; s++)
        if (ac_part_span(p, buf, s).lo != s * row || ac_part_span(p, buf, s).hi != (s + 1) * row)
            return false;
    return true;
}

/* Can the function stop after a row and go on later? Not with a variable that lives through all rows. */
static bool may_pause(const ac_part *p)
{
    for (int32_t x = 1, depth = 0; x < p->row; x++) {
        const ac_lop op = (ac_lop)p->fn->code.item[x].op;
        depth += (op == AC_L_FOR || op == AC_L_IF) - (op == AC_L_END);
        if (op == AC_L_VAR && !depth)
            return false;
    }
    return true;
}

/* Tensors from outside whose rows are copied, each by a unit of its own. */
static void filled_tensors(ac_stripe_work *w)
{
    ac_stripe *s = &w->q->s;
    for (int32_t k = 0; k < w->n && w->v->copied; k++)
        for (int32_t a = 0; a < ac_stripe_work_form(w, k)->low->arg.n; a++) {
            ac_tensor *t = ac_stripe_tensor_of(ac_stripe_work_form(w, k)->low, a);
            int64_t rows;
            if (!t || !is_copied(w, t) || !ac_stripe_copyable(w->v, t, &rows) || ac_stripe_find(w, t) >= 0 ||
                (w->v->made_at[t->id] >= w->q->begin && w->v->made_at[t->id] < w->q->end))
                continue;
            const int32_t i = s->n_tensors++;
            w->tensor[i] = whole_of(w, t);
            w->maker[i] = -1;
            s->tensor[i] = (ac_stripe_tensor){.kind = AC_STRIPE_WINDOW,
                                              .row = ac_tensor_count(t) / rows,
                                              .rows = rows,
                                              .buf = -1,
                                              .home = i,
                                              .mate = -1};
        }
    w->n_filled = s->n_tensors;
}

static bool made_tensors(ac_stripe_work *w)
{
    ac_stripe *s = &w->q->s;
    int32_t room = 0;
    for (int32_t k = 0; k < w->n; k++)
        room += ac_stripe_work_form(w, k)->low->arg.n;
    s->tensor = AC_NEW_N(w->r, ac_stripe_tensor, room + 2);
    w->tensor = AC_NEW_N(w->r, ac_tensor *, room + 2);
    w->maker = AC_NEW_N(w->r, int32_t, room + 2);
    w->maker_buf = AC_NEW_N(w->r, int32_t, room + 2);
    const ac_stripe_streamed *streamed = &w->v->streamed;
    if (streamed->tensor && w->q->begin <= streamed->first && streamed->last < w->q->end) {
        for (int32_t k = 0; k < w->n; k++)
            if (!may_pause(&ac_stripe_work_form(w, k)->part))
                return false;
        w->tensor[0] = streamed->tensor;
        w->maker[0] = -1;
        s->tensor[0] = (ac_stripe_tensor){.kind = AC_STRIPE_WINDOW,
                                          .row = ac_tensor_count(streamed->tensor) / streamed->rows,
                                          .rows = streamed->rows,
                                          .buf = -1,
                                          .mate = -1,
                                          .high = true};
        s->streamed = 0;
        s->n_tensors = 1;
    } else if (streamed->tensor && w->q->begin <= streamed->last && streamed->first < w->q->end) {
        return false; /* some of its readers */
    } else {
        filled_tensors(w);
    }
    for (int32_t k = 0; k < w->n; k++) {
        const ac_stripe_form *f = ac_stripe_work_form(w, k);
        for (int32_t a = 0; a < f->low->arg.n; a++) {
            ac_tensor *t = ac_stripe_tensor_of(f->low, a);
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
            w->tensor[s->n_tensors] = whole_of(w, t);
            w->maker[s->n_tensors] = k;
            w->maker_buf[s->n_tensors] = a;
            s->tensor[s->n_tensors] = (ac_stripe_tensor){.kind = AC_STRIPE_WHOLE,
                                                         .row = count / f->part.steps,
                                                         .rows = f->part.steps,
                                                         .buf = -1,
                                                         .home = s->n_tensors,
                                                         .mate = -1};
            s->n_tensors++;
        }
    }
    for (int32_t i = 0; i < s->n_tensors; i++)
        set_columns(w, i);
    return true;
}

/* ------------------------------------------------------------------ units */

/* The unit that makes tensor i or fills its window; tensors with rows from outside, and their units, come first. */
static int32_t unit_of(const ac_stripe_work *w, int32_t i)
{
    return w->maker[i] < 0 ? i : w->unit_of[w->maker[i]];
}

/* Step k works column by column on what unit u makes in the same column. */
static bool joins(ac_stripe_work *w, int32_t k, int32_t u)
{
    const ac_stripe_form *f = ac_stripe_work_form(w, k);
    int32_t head = 0;
    if (w->q->s.unit[u].n_members == 0)
        return false; /* rows that are handed over, or copied */
    while (w->unit_of[head] != u)
        head++;
    const ac_part *p = &ac_stripe_work_form(w, head)->part;
    if (!f->part.col || !p->col || f->part.steps != p->steps || f->part.cols != p->cols)
        return false;
    bool ahead = false;
    for (int32_t a = 0; a < f->low->arg.n; a++) {
        const ac_tensor *t = ac_stripe_tensor_of(f->low, a);
        const int32_t i = t ? ac_stripe_find(w, t) : -1;
        if (i < 0 || f->low->fn->buf.item[a].role != AC_BUF_IN)
            continue;
        if (unit_of(w, i) != u) {
            ahead |= !f->part.pixel[a];
            continue;
        }
        const ac_stripe_form *maker = ac_stripe_work_form(w, w->maker[i]);
        const ac_part *m = &maker->part;
        if (m->late || !m->pixel[w->maker_buf[i]] || !f->part.pixel[a] ||
            ac_stripe_first_column(f, t) != ac_stripe_first_column(maker, t))
            return false;
    }
    w->refused |= ahead && w->strict;
    return !(ahead && w->strict);
}

static void units(ac_stripe_work *w)
{
    ac_stripe *s = &w->q->s;
    s->unit = AC_NEW_N(w->r, ac_stripe_unit, w->n + s->n_tensors + 1);
    if (s->streamed >= 0)
        s->unit[s->n_units++] = (ac_stripe_unit){.steps = w->v->streamed.rows};
    for (int32_t i = 0; i < w->n_filled; i++)
        s->unit[s->n_units++] =
            (ac_stripe_unit){.steps = s->tensor[i].rows, .does = AC_STRIPE_FILLS, .copied = i, .asked = true};
    for (int32_t k = 0; k < w->n; k++) {
        const ac_stripe_form *f = ac_stripe_work_form(w, k);
        int32_t last = -1;
        for (int32_t a = 0; a < f->low->arg.n; a++) {
            const ac_tensor *t = ac_stripe_tensor_of(f->low, a);
            const int32_t i = t && f->low->fn->buf.item[a].role == AC_BUF_IN ? ac_stripe_find(w, t) : -1;
            if (i >= 0 && unit_of(w, i) > last)
                last = unit_of(w, i);
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
        for (int32_t k = 0; k < w->n && s->unit[u].n_members; k++)
            if (w->unit_of[k] == u) {
                s->member[m].part = ac_stripe_work_form(w, k)->part;
                w->place[k] = m++;
            }
    }
    for (int32_t i = 0; i < s->n_tensors; i++)
        if (ac_stripe_drains(w, i))
            s->unit[s->n_units++] =
                (ac_stripe_unit){.steps = s->tensor[i].rows, .does = AC_STRIPE_DRAINS, .copied = i, .member = w->n};
}

/* ------------------------------------------------------------------ who reads what, when */

static bool maker_in_rows(const ac_stripe_work *w, int32_t i)
{
    return ac_stripe_in_rows(&ac_stripe_work_form(w, w->maker[i])->part, w->maker_buf[i]);
}

/* Is operand a of step k tensor i? */
static bool is_operand(const ac_stripe_work *w, int32_t k, int32_t a, int32_t i)
{
    const ac_lowered *low = ac_stripe_work_form(w, k)->low;
    return ac_stripe_is_same(w, ac_stripe_tensor_of(low, a), w->tensor[i]) && low->fn->buf.item[a].role == AC_BUF_IN;
}

static bool unit_reads(const ac_stripe_work *w, int32_t u, int32_t i)
{
    for (int32_t k = 0; k < w->n; k++)
        for (int32_t a = 0; w->unit_of[k] == u && a < ac_stripe_work_form(w, k)->low->arg.n; a++)
            if (is_operand(w, k, a, i))
                return true;
    return false;
}

/* True if each column of the step reads only the same pixel of operand a. */
static bool reads_pixel(const ac_stripe_form *f, int32_t a)
{
    return f->part.col && f->part.pixel[a] && f->low->fn->buf.item[a].count % (f->part.steps * f->part.cols) == 0;
}

int32_t ac_stripe_pixel_reader(const ac_stripe_work *w, int32_t i)
{
    int32_t reader = -1;
    if (i >= w->n_filled)
        return -1;
    for (int32_t k = 0; k < w->n; k++)
        for (int32_t a = 0; a < ac_stripe_work_form(w, k)->low->arg.n; a++) {
            if (!is_operand(w, k, a, i))
                continue;
            const ac_stripe_form *f = ac_stripe_work_form(w, k);
            if (!reads_pixel(f, a) || (reader >= 0 && reader != w->unit_of[k]) ||
                (w->v->strip && f->low->fn->buf.item[a].count != w->q->s.tensor[i].row * f->part.steps))
                return -1;
            reader = w->unit_of[k];
        }
    return reader;
}

/* The rows of tensor i that unit u reads by step, as lines. false: it reads none. */
static bool read_lines(ac_stripe_work *w, int32_t u, int32_t i, ac_stripe_read *out)
{
    const int64_t n = w->q->s.unit[u].steps, rows = w->q->s.tensor[i].rows, row = w->q->s.tensor[i].row;
    const bool plain = w->maker[i] < 0 || maker_in_rows(w, i);
    out->tensor = i;
    out->need = out->low = (ac_ramp){1, 0, 1, 0, n};
    if (unit_of(w, i) == u)
        return true;
    int64_t *need = AC_NEW_N(w->r, int64_t, n), *low = AC_NEW_N(w->r, int64_t, n);
    for (int64_t s = 0; s < n; s++)
        low[s] = rows;
    for (int32_t k = 0; k < w->n; k++)
        for (int32_t a = 0; w->unit_of[k] == u && a < ac_stripe_work_form(w, k)->low->arg.n; a++) {
            if (!is_operand(w, k, a, i))
                continue;
            const ac_stripe_form *f = ac_stripe_work_form(w, k);
            const int64_t own = w->v->strip ? f->low->fn->buf.item[a].count / rows : row;
            for (int64_t s = 0; s < n; s++) {
                const ac_span e = ac_part_span(&f->part, a, s);
                if (e.lo >= e.hi)
                    continue;
                const int64_t hi = plain ? (e.hi + own - 1) / own : rows, lo = plain ? e.lo / own : 0;
                need[s] = hi > need[s] ? hi : need[s];
                low[s] = lo < low[s] ? lo : low[s];
            }
        }
    for (int64_t s = 1; s < n; s++)
        need[s] = need[s] > need[s - 1] ? need[s] : need[s - 1];
    for (int64_t s = n - 2; s >= 0; s--)
        low[s] = low[s] < low[s + 1] ? low[s] : low[s + 1];
    return ac_ramp_fit(need, n, &out->need) && ac_ramp_fit(low, n, &out->low);
}

static bool reads(ac_stripe_work *w)
{
    ac_stripe *s = &w->q->s;
    for (int32_t i = 0; i < s->n_tensors; i++) {
        s->tensor[i].unit = unit_of(w, i);
        const int32_t reader = ac_stripe_pixel_reader(w, i);
        if (reader >= 0)
            s->unit[i].reader = reader;
    }
    for (int32_t u = 0; u < s->n_units; u++) {
        ac_stripe_unit *x = &s->unit[u];
        x->read = AC_NEW_N(w->r, ac_stripe_read, s->n_tensors + 1);
        for (int32_t i = 0; i < s->n_tensors; i++)
            if (s->tensor[i].unit <= u && unit_reads(w, u, i) && ac_stripe_pixel_reader(w, i) < 0 &&
                !read_lines(w, u, i, &x->read[x->n_reads++]))
                return false;
        if (x->does == AC_STRIPE_DRAINS)
            x->read[x->n_reads++] =
                (ac_stripe_read){x->copied, {1, 1, 1, 1, x->steps}, {1, 0, 1, 0, x->steps}}; /* row s in step s */
    }
    return true;
}

/* The steps of unit u that are needed, given those of the later units. */
static int64_t limit_of(const ac_stripe_work *w, int32_t u)
{
    const ac_stripe *s = &w->q->s;
    int64_t most = s->unit[u].does == AC_STRIPE_DRAINS ? s->unit[u].steps : 0;
    for (int32_t i = 0; i < s->n_tensors; i++) {
        if (s->tensor[i].unit != u)
            continue;
        if (!ac_stripe_is_inner(w, w->tensor[i]) ||
            (w->maker[i] >= 0 && ac_stripe_work_form(w, w->maker[i])->part.late))
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

static bool build(ac_stripes *v, int32_t begin, int32_t end, ac_stripe_how how, bool strict, ac_region *region,
                  ac_stripe_group *out, bool *refused)
{
    *out = (ac_stripe_group){.begin = begin, .end = end, .s.streamed = -1};
    ac_stripe_work w = {.v = v, .r = region, .q = out, .n = end - begin, .strict = strict};
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
    out->unit_of_tick = AC_NEW_N(region, int32_t, ticks + 1);
    return ac_stripe_windows(&w, how.paired) && ac_stripe_buffers(&w, how.align) &&
           (v->strip || ac_stripe_cache(v, out, how.align, region)) &&
           out->n_out > 0; /* unused steps, left by --skip dead, are not a group */
}

bool ac_stripe_group_of(ac_stripes *v, int32_t begin, int32_t end, ac_stripe_how how, ac_region *region,
                        ac_stripe_group *out)
{
    bool refused = false;
    for (int32_t s = begin; s < end; s++)
        if (!ac_stripe_form_of(v, s)->ok)
            return false;
    ac_stripe_group apart;
    const bool strict = build(v, begin, end, how, true, region, &apart, &refused);
    const bool greedy = (refused || !strict) && build(v, begin, end, how, false, region, out, &refused);
    if (strict && (!greedy || apart.scratch < out->scratch))
        *out = apart;
    return strict || greedy;
}
