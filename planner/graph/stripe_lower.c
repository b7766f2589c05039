/* stripe_lower.c - the parameters of a group's function, and the function itself (ir/loop/access/strip.c). */
#include "planner/graph/stripe_work.h"
#include "ir/lower/node/cached.h"

#include <string.h>

/* ------------------------------------------------------------------ buffers */

static int32_t param(ac_stripe_work *w, ac_buf buf, ac_arg arg)
{
    ac_stripe_group *q = w->q;
    buf.name = buf.name ? buf.name : "t";
    q->s.buf[q->n_args] = buf;
    q->arg[q->n_args] = arg;
    return q->n_args++;
}

static int32_t tensor_param(ac_stripe_work *w, ac_tensor *t, ac_role role, const ac_buf *like)
{
    const int64_t count = w->v->strip ? ac_tensor_count(t) : like->count;
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
    buf.count = count;
    return param(w, buf, (ac_arg){.kind = AC_ARG_TENSOR, .tensor = t});
}

static int32_t const_param(ac_stripe_work *w, ac_const *k, const ac_buf *like)
{
    for (int32_t i = 0; i < w->q->n_args; i++) {
        const ac_const *c = w->q->arg[i].konst;
        if (w->q->arg[i].kind == AC_ARG_CONST &&
            (c == k || (c->source && c->source == k->source && c->align >= k->align)))
            return i;
    }
    return param(w, *like, (ac_arg){.kind = AC_ARG_CONST, .konst = k});
}

static int32_t scratch_param(ac_stripe_work *w, ac_buf buf, int64_t count, ac_bytes align)
{
    buf.role = AC_BUF_SCRATCH;
    buf.count = count;
    if (w->v->target->vec_bytes == 0) /* one element at a time */
        buf.align = (int32_t)ac_dtype_size(buf.dtype, 1);
    if (w->v->target->dsp && buf.align < 4)
        buf.align = 4;
    const ac_bytes bytes = ac_dtype_size(buf.dtype, count);
    w->q->scratch += ac_align_up(bytes, buf.align > align ? buf.align : align);
    return param(w, buf, (ac_arg){.kind = AC_ARG_SCRATCH, .bytes = bytes});
}

/* A tensor made in the group: its window, or the whole of it. */
static int32_t made_param(ac_stripe_work *w, int32_t i, const ac_buf *like, ac_bytes align)
{
    ac_stripe_tensor *t = &w->q->s.tensor[i];
    ac_buf buf = *like;
    if (t->home != i)
        return t->buf = made_param(w, t->home, like, align);
    if (t->buf >= 0)
        return t->buf;
    if (t->mate >= 0 && w->q->s.tensor[t->mate].buf >= 0)
        return t->buf = w->q->s.tensor[t->mate].buf;
    if (t->kind == AC_STRIPE_WINDOW && t->line != i)
        return t->buf = made_param(w, t->line, like, align);
    if (t->kind == AC_STRIPE_WINDOW) {
        buf.name = "rows";
        buf.note = ac_strf(w->r, "%lld rows of %s", (long long)t->rows, like->note ? like->note : "");
        if (t->lines > 1)
            buf.note =
                ac_strf(w->r, "a row of %s, and of %d others in turn", like->note ? like->note : "", t->lines - 1);
        if (t->mate >= 0)
            buf.note = ac_strf(w->r, "%s, and from its end %lld rows of %s", buf.note,
                               (long long)w->q->s.tensor[t->mate].rows, w->tensor[t->mate]->name);
    }
    if (t->kind == AC_STRIPE_PIXEL) {
        buf.name = "pixel";
        buf.note = ac_strf(w->r, "one pixel of %s", like->note ? like->note : "");
    }
    buf.align = t->kind == AC_STRIPE_WHOLE ? buf.align : (int32_t)ac_dtype_size(buf.dtype, 1);
    t->buf = scratch_param(w, buf,
                           t->kind == AC_STRIPE_WHOLE   ? like->count
                           : t->kind == AC_STRIPE_PIXEL ? t->row
                                                        : t->room,
                           align);
    w->q->arg[t->buf].tensor = w->tensor[i];
    w->q->arg[t->buf].over = w->v->target->firmware;
    return t->buf;
}

/* Does what the member keeps in buffer a outlive a row? */
static bool outlives_row(const ac_part *p, int32_t a)
{
    for (int32_t x = 1; x < p->fn->code.n; x++) {
        const ac_ins *i = &p->fn->code.item[x];
        if ((i->op == AC_L_LOAD || ac_lop_stores((ac_lop)i->op) || i->op == AC_L_TILE) && i->aux == a &&
            (x < p->row || x > p->row_end))
            return true;
    }
    return false;
}

/* Scratch that is written before it is read at every position: one for all members, as large as the largest. */
static int32_t line_param(ac_stripe_work *w, const ac_buf *like, ac_bytes align)
{
    ac_stripe_group *q = w->q;
    for (int32_t i = 0; i < q->n_args; i++) {
        ac_buf *b = &q->s.buf[i];
        const ac_bytes unit = b->align > align ? b->align : align;
        if (!q->arg[i].fresh || b->dtype != like->dtype)
            continue;
        if (like->count > b->count) {
            q->scratch -= ac_align_up(q->arg[i].bytes, unit);
            b->count = like->count;
            q->arg[i].bytes = ac_dtype_size(b->dtype, b->count);
            q->scratch += ac_align_up(q->arg[i].bytes, unit);
        }
        return i;
    }
    const int32_t i = scratch_param(w, *like, like->count, align);
    q->arg[i].fresh = true;
    return i;
}

/* Do counters of rows fit in 16 bits? On firmware, where bytes count. */
static bool counters_fit(const ac_stripe_work *w)
{
    bool fit = w->v->target->firmware;
    for (int32_t u = 0; u < w->q->s.n_units; u++)
        fit &= w->q->s.unit[u].limit < INT16_MAX;
    return fit;
}

/* A local: with RISC-V's vectors one for all members where a position writes it before it reads it, as large as the
 * largest; elsewhere members are functions of their own, and so are their locals. */
static int32_t local_buf(ac_stripe_work *w, const ac_part *p, int32_t a)
{
    ac_stripe *s = &w->q->s;
    const ac_buf *like = &p->fn->buf.item[a];
    s->buf[s->n_bufs] = *like;
    s->buf[s->n_bufs].fresh = w->v->target->rvv && like->fresh && ac_part_stays_inside(p, a);
    for (int32_t i = w->q->n_args; i < s->n_bufs && s->buf[s->n_bufs].fresh; i++) {
        if (!s->buf[i].fresh || s->buf[i].dtype != like->dtype)
            continue;
        s->buf[i].count = s->buf[i].count > like->count ? s->buf[i].count : like->count;
        return i;
    }
    return s->n_bufs++;
}

/* Rows that are handed over: their number, and the counters between two of them. */
static void fed_params(ac_stripe_work *w, ac_bytes align)
{
    ac_stripe *s = &w->q->s;
    ac_buf part = {.name = "part", .dtype = AC_I32, .count = 1, .role = AC_BUF_IN, .align = 4, .note = "row"};
    s->part_buf = param(w, part, (ac_arg){.kind = AC_ARG_CHUNK});
    ac_buf state = {.name = "state", .dtype = counters_fit(w) ? AC_I16 : AC_I32, .align = 4};
    state.note = "counters between rows";
    s->state_buf = scratch_param(w, state, ac_stripe_counters(s), align);
}

/* The place outside of tensor i, if a unit copies its rows. */
static void outside_param(ac_stripe_work *w, int32_t i, const ac_buf *like)
{
    ac_stripe *s = &w->q->s;
    for (int32_t u = 0; u < s->n_units; u++)
        if (s->unit[u].does != AC_STRIPE_COMPUTES && s->unit[u].copied == i)
            s->unit[u].outside =
                tensor_param(w, w->tensor[i], s->unit[u].does == AC_STRIPE_FILLS ? AC_BUF_IN : AC_BUF_OUT, like);
}

/* Columns of tensor i that strips leave for the next ones. They need not be in the first memory. */
static void halo_param(ac_stripe_work *w, int32_t i, const ac_buf *like)
{
    ac_stripe_tensor *t = &w->q->s.tensor[i];
    if (t->column.halo + t->column.keeps == 0 || t->column.buf >= 0)
        return;
    ac_buf buf = *like;
    buf.name = "halo";
    buf.note = ac_strf(w->r, "columns of %s for the next strip", w->tensor[i]->name);
    buf.role = AC_BUF_SCRATCH;
    buf.count = t->column.pitch * w->tensor[i]->dim[1];
    buf.align = (int32_t)ac_dtype_size(buf.dtype, 1);
    t->column.buf = param(w, buf,
                          (ac_arg){.kind = AC_ARG_SCRATCH,
                                   .tensor = w->tensor[i],
                                   .bytes = ac_dtype_size(buf.dtype, buf.count),
                                   .rest = true});
}

/* Where the columns of buffer a begin in a row of tensor i's window. false: they are not used row by row. */
static bool set_place(ac_stripe_work *w, ac_stripe_member *m, const ac_stripe_form *f, int32_t a, int32_t i)
{
    const ac_stripe_tensor *t = &w->q->s.tensor[i];
    const ac_tensor *x = w->tensor[i];
    if (!w->v->strip || t->kind == AC_STRIPE_PIXEL)
        return true;
    const int64_t own = f->low->fn->buf.item[a].count / x->dim[1];
    const int64_t at = ac_stripe_first_column(f, x) * x->dim[3] - t->column.from;
    if (own == t->row && !at)
        return true;
    m->row[a] = own;
    m->at[a] = at;
    if (f->low->fn->buf.item[a].role != AC_BUF_IN)
        return ac_stripe_in_rows(&f->part, a);
    for (int64_t s = 0; s < f->part.steps; s++) {
        const ac_span e = ac_part_span(&f->part, a, s);
        if (e.lo < e.hi && (e.lo < s * own || e.hi > (s + 1) * own))
            return false;
    }
    return true;
}

bool ac_stripe_buffers(ac_stripe_work *w, ac_bytes align)
{
    bool placed = true;
    ac_stripe_group *q = w->q;
    int32_t room = 3 + 3 * q->s.n_tensors;
    q->tensor = w->tensor;
    for (int32_t k = 0; k < w->n; k++)
        room += ac_stripe_work_form(w, k)->low->fn->buf.n;
    q->s.buf = AC_NEW_N(w->r, ac_buf, room);
    q->arg = AC_NEW_N(w->r, ac_arg, room);
    q->in = AC_NEW_N(w->r, ac_tensor *, room);
    q->out = AC_NEW_N(w->r, ac_tensor *, room);
    if (q->s.streamed >= 0)
        fed_params(w, align);
    for (int pass = 0; pass < 2; pass++) { /* parameters, then locals */
        for (int32_t k = 0; k < w->n; k++) {
            const ac_lowered *low = ac_stripe_work_form(w, k)->low;
            ac_stripe_member *m = &q->s.member[w->place[k]];
            if (pass == 0) {
                m->buf = AC_NEW_N(w->r, int32_t, low->fn->buf.n + 1);
                m->tensor = AC_NEW_N(w->r, int32_t, low->fn->buf.n + 1);
                m->row = AC_NEW_N(w->r, int64_t, low->fn->buf.n + 1);
                m->at = AC_NEW_N(w->r, int64_t, low->fn->buf.n + 1);
            }
            for (int32_t a = 0; a < low->fn->buf.n; a++) {
                const ac_buf *like = &low->fn->buf.item[a];
                ac_tensor *t = ac_stripe_tensor_of(low, a);
                const int32_t i = t ? ac_stripe_find(w, t) : -1;
                const bool kept =
                    a >= low->arg.n && q->s.streamed >= 0 && outlives_row(&q->s.member[w->place[k]].part, a);
                if ((a >= low->arg.n && !kept) != (pass == 1))
                    continue;
                m->tensor[a] = i >= 0 && (ac_stripe_is_inner(w, t) || ac_stripe_drains(w, i)) ? i : -1;
                if (pass == 1)
                    m->buf[a] = local_buf(w, &m->part, a);
                else if (m->tensor[a] >= 0) {
                    m->buf[a] = made_param(w, i, like, align);
                    outside_param(w, i, like);
                    halo_param(w, i, like);
                    placed &= set_place(w, m, ac_stripe_work_form(w, k), a, i);
                } else if (t)
                    m->buf[a] = tensor_param(w, t, like->role, like);
                else if (kept)
                    m->buf[a] = scratch_param(w, *like, like->count, align);
                else if (low->arg.item[a].kind == AC_ARG_CONST)
                    m->buf[a] = const_param(w, low->arg.item[a].konst, like);
                else if (low->arg.item[a].fresh && ac_part_stays_inside(&q->s.member[w->place[k]].part, a))
                    m->buf[a] = line_param(w, like, align);
                else
                    m->buf[a] = scratch_param(w, *like, like->count, align);
            }
        }
        if (pass == 0)
            q->s.n_bufs = q->n_args;
    }
    for (int32_t i = 0; i < q->s.n_tensors; i++)
        placed &= !w->v->strip || q->s.tensor[i].kind != AC_STRIPE_WHOLE;
    return placed && q->n_args <= AC_STRIPE_PARAMS;
}

static ac_node *group_node(ac_stripes *v, const ac_stripe_group *q)
{
    ac_region *r = v->region;
    const ac_node *first = v->step[q->begin]->node, *last = v->step[q->end - 1]->node;
    ac_node *n = AC_NEW(r, ac_node);
    n->id = first->id;
    n->name = last->name;
    n->part = first->part;
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
            text = text ? ac_strf(v->region, "%s%s%s", text, f < 0 ? ", " : " + ", op) : op;
        }
    }
    return text;
}

ac_lowered *ac_stripe_lower(ac_stripes *v, ac_stripe_group *q)
{
    ac_region *r = v->region;
    ac_lowered *low = AC_NEW(r, ac_lowered);
    low->node = group_node(v, q);
    if (q->s.streamed >= 0) {
        const ac_stripe_tensor *t = &q->s.tensor[q->s.streamed];
        low->streamed = ac_tensor_root(v->streamed.tensor);
        low->streamed_arg = t->buf;
        low->rows = (int32_t)v->streamed.rows;
        low->row_bytes = ac_dtype_size(low->streamed->dtype, t->row);
    }
    low->chain = chain_text(v, q);
    q->s.name = ac_internf(v->cx, "stripe_%d_%d", q->begin, q->end - 1);
    q->s.note = ac_strf(r, "steps %d to %d row by row -> %s", q->begin, q->end - 1,
                        q->n_out ? ac_tensor_str(v->cx, q->out[0]) : "");
    for (const ac_stripe_group *x = q->next; x; x = x->next)
        low->strips++;
    low->strips += low->strips > 0;
    if (low->strips)
        q->s.note = ac_strf(r, "%s, in %d strips of columns", q->s.note, low->strips);
    for (int32_t s = q->begin; s < q->end; s++)
        low->macs += v->step[s]->macs;
    for (int32_t a = 0; a < q->n_args; a++) {
        ac_push(r, &low->arg, q->arg[a]);
        if (q->arg[a].kind == AC_ARG_SCRATCH && !q->arg[a].rest)
            low->scratch += ac_align_up(q->arg[a].bytes, 16);
    }
    AC_VEC(const ac_stripe *) strips = {0};
    int64_t *traffic = AC_NEW_N(r, int64_t, q->s.n_bufs + 1);
    for (ac_stripe_group *x = q; x; x = x->next) {
        x->s.apart = v->target->firmware && !v->target->rvv;
        x->s.word = ac_target_halves(v->target) ? 4 : 0;
        x->s.moved = x->s.word || v->target->mve ? 16 : v->target->firmware ? 4 : 0;
        x->s.copies = v->target->rvv;
        ac_stripe_traffic(&x->s, x->unit_of_tick, traffic, r);
        ac_push(r, &strips, &x->s);
    }
    low->fn = ac_loop_stripe(v->cx, r, strips.item, strips.n);
    low->traffic = traffic;
    if (ac_loop_verify(v->cx, low->fn) != AC_OK)
        return NULL;
    return v->cache ? ac_lower_cached_args(v->cx, r, low, v->target, q->cached) : low;
}
