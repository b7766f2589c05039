/* strip.c - merges several functions into one that works row by row. */
#include "ir/loop/access/strip.h"
#include "ir/loop/access/strip_rows.h"
#include "ir/loop/ins_fields.h"

/* ------------------------------------------------------------------ copies of the functions' code */

/* Maps an index of the member's buffer to the new buffer. */
static ac_x address(ac_composer *c, const ac_stripe_member *m, int32_t buf, ac_x index)
{
    const int32_t t = m->tensor[buf];
    ac_lb *b = &c->b;
    if (t < 0 || c->s->tensor[t].kind == AC_STRIPE_WHOLE)
        return index;
    const ac_stripe_tensor *x = &c->s->tensor[t];
    if (x->kind == AC_STRIPE_WINDOW && m->row[buf]) /* fewer columns */
        index = ac_lb_add(
            b, index, ac_lb_add(b, ac_lb_mul(b, c->row, ac_lb_i32(b, x->row - m->row[buf])), ac_lb_i32(b, m->at[buf])));
    if (x->kind == AC_STRIPE_WINDOW)
        return c->base[t] ? ac_lb_sub(b, index, c->base[t]) : index;
    ac_x pixel = ac_lb_add(b, ac_lb_mul(b, c->row, ac_lb_i32(b, m->part.cols)), c->col);
    return ac_lb_sub(b, index, ac_lb_mul(b, pixel, ac_lb_i32(b, x->row)));
}

static void copy(ac_composer *c, int32_t member, int32_t begin, int32_t end)
{
    const ac_stripe_member *m = &c->s->member[member];
    const ac_loop_fn *from = m->part.fn;
    ac_x *map = c->map[member];
    for (int32_t x = begin; x < end; x++) {
        ac_ins i = from->code.item[x];
        ac_ins_move_values(&i, map);
        if (ac_lop_has_buffer((ac_lop)i.op)) {
            if (m->tensor[i.aux] >= 0) { /* a window's base has another alignment */
                i.a = address(c, m, i.aux, i.a);
                i.flags &= (uint8_t)~AC_F_ALIGNED;
            }
            ac_ins_move_buffers(&i, m->buf); /* a tile's weights are constants, its accumulators local */
        }
        map[x] = ac_lb_copy(&c->b, from, &i);
    }
}

static ac_x counter(ac_composer *c, const ac_loop_fn *fn, int32_t loop, ac_x k)
{
    ac_lb *b = &c->b;
    const ac_ins *f = &fn->code.item[loop];
    return ac_lb_add(b, ac_lb_i32(b, fn->code.item[f->a].k.i), ac_lb_mul(b, k, ac_lb_i32(b, f->k.i)));
}

static bool acts(const ac_part *p, int32_t begin, int32_t end)
{
    for (int32_t x = begin; x < end; x++)
        if (ac_lop_stores((ac_lop)p->fn->code.item[x].op))
            return true;
    return false;
}

/* ------------------------------------------------------------------ units */

/* A unit without steps: another one copies for it, or nothing needs its rows. */
static bool is_idle(const ac_stripe *s, int32_t unit)
{
    return s->unit[unit].does == AC_STRIPE_FILLS && !s->unit[unit].limit;
}

/* The pixels that unit `number` copies before it works on a column. */
static void copied_pixels(ac_composer *c, int32_t number)
{
    ac_lb *b = &c->b;
    for (int32_t u = 0; u < number; u++) {
        const ac_stripe_unit *x = &c->s->unit[u];
        if (x->does != AC_STRIPE_FILLS || x->reader != number)
            continue;
        const ac_stripe_tensor *t = &c->s->tensor[x->copied];
        const ac_x size = ac_lb_i32(b, t->row);
        ac_x pixel = ac_lb_add(b, ac_lb_mul(b, c->row, ac_lb_i32(b, t->column.all / t->row)), c->col);
        if (t->column.from)
            pixel = ac_lb_add(b, pixel, ac_lb_i32(b, t->column.from / t->row));
        ac_strip_move(c, t->buf, ac_lb_i32(b, 0), x->outside, ac_lb_mul(b, pixel, size), size, t->row);
    }
}

static void columns(ac_composer *c, const ac_stripe_unit *u)
{
    ac_lb *b = &c->b;
    for (int32_t m = u->member; m < u->member + u->n_members; m++)
        copy(c, m, c->s->member[m].part.row + 1, c->s->member[m].part.col);
    const ac_part *head = &c->s->member[u->member].part;
    c->col = ac_lb_for_n(b, head->fn->code.item[head->col].name, head->cols);
    copied_pixels(c, (int32_t)(u - c->s->unit));
    for (int32_t m = u->member; m < u->member + u->n_members; m++) {
        const ac_part *p = &c->s->member[m].part;
        c->map[m][p->col] = counter(c, p->fn, p->col, c->col);
        copy(c, m, p->col + 1, p->col_end);
    }
    ac_lb_end(b);
}

/* Element `at` of the current row in the window of tensor t. */
static ac_x in_window(ac_composer *c, int32_t t, int64_t at)
{
    ac_lb *b = &c->b;
    ac_x row = ac_lb_mul(b, c->row, ac_lb_i32(b, c->s->tensor[t].row));
    if (at)
        row = ac_lb_add(b, row, ac_lb_i32(b, at));
    return c->base[t] ? ac_lb_sub(b, row, c->base[t]) : row;
}

/* The row that a unit without members copies, between its place outside and the window. */
static void copied_row(ac_composer *c, const ac_stripe_unit *u)
{
    ac_lb *b = &c->b;
    const ac_stripe_tensor *x = &c->s->tensor[u->copied];
    const ac_stripe_columns *k = &x->column;
    const int64_t n = x->row - k->halo;
    ac_x all = ac_lb_mul(b, c->row, ac_lb_i32(b, k->all));
    if (k->from + k->halo)
        all = ac_lb_add(b, all, ac_lb_i32(b, k->from + k->halo));
    const ac_x part = in_window(c, u->copied, k->halo);
    if (u->does == AC_STRIPE_FILLS)
        ac_strip_move(c, x->buf, part, u->outside, all, ac_lb_i32(b, n), n);
    else
        ac_strip_move(c, u->outside, all, x->buf, part, ac_lb_i32(b, n), n);
}

/* Halos of the row that unit `number` computes: before, it fetches those of an earlier strip; afterwards it stores
 * those of the next one. */
static void halos(ac_composer *c, int32_t number, bool before)
{
    ac_lb *b = &c->b;
    for (int32_t t = 0; t < c->s->n_tensors; t++) {
        const ac_stripe_tensor *x = &c->s->tensor[t];
        const ac_stripe_columns *k = &x->column;
        const int64_t n = before ? k->halo : k->keeps;
        if (x->unit != number || !n)
            continue;
        const ac_x stored = ac_lb_mul(b, c->row, ac_lb_i32(b, k->pitch));
        const ac_x part = in_window(c, t, before ? 0 : k->kept);
        if (before)
            ac_strip_move(c, x->buf, part, k->buf, stored, ac_lb_i32(b, n), n);
        else
            ac_strip_move(c, k->buf, stored, x->buf, part, ac_lb_i32(b, n), n);
    }
}

static void compute(ac_composer *c, const ac_stripe_unit *u)
{
    ac_lb *b = &c->b;
    const ac_stripe *s = c->s;
    for (int32_t m = u->member; m < u->member + u->n_members; m++) {
        const ac_part *p = &s->member[m].part;
        c->map[m][p->row] = counter(c, p->fn, p->row, c->row);
    }
    const char *name = s->member[u->member].part.fn->name; /* of a function in C */
    if (s->apart && c->number)
        name = ac_strf(b->region, "%s_strip_%d", name, c->number);
    if (s->apart)
        ac_lb_for(b, name, ac_lb_i32(b, 0), ac_lb_i32(b, 1), 1, AC_MARK_APART);
    if (s->member[u->member].part.col)
        columns(c, u);
    else
        copy(c, u->member, s->member[u->member].part.row + 1, s->member[u->member].part.row_end);
    for (int32_t m = u->member; m < u->member + u->n_members; m++) {
        const ac_part *p = &s->member[m].part;
        if (!acts(p, p->row_end + 1, p->fn->code.n))
            continue;
        ac_lb_if(b, ac_lb_eq(b, c->row, ac_lb_i32(b, p->steps - 1)));
        copy(c, m, p->row_end + 1, p->fn->code.n);
        ac_lb_end(b);
    }
    if (s->apart)
        ac_lb_end(b);
}

static void step(ac_composer *c, int32_t number)
{
    const ac_stripe *s = c->s;
    const ac_stripe_unit *u = &s->unit[number];
    c->row = ac_strip_value(c, c->next[number]);
    for (int32_t t = 0; t < s->n_tensors; t++)
        ac_strip_make_room(c, number, t);
    for (int32_t t = 0; t < s->n_tensors; t++)
        if (s->tensor[t].kind == AC_STRIPE_WINDOW)
            ac_strip_set_base(c, number, t);
    if (u->does == AC_STRIPE_COMPUTES) {
        halos(c, number, true);
        compute(c, u);
        halos(c, number, false);
    } else {
        copied_row(c, u);
    }
    ac_strip_become(c, c->next[number], ac_lb_add(&c->b, c->row, ac_lb_i32(&c->b, 1)));
}

/* True if a reader of unit u's rows lacks one, or if the rows have no reader here. */
static ac_x asked_for(ac_composer *c, int32_t u, ac_x row)
{
    ac_lb *b = &c->b;
    ac_x any = 0;
    for (int32_t v = u + 1; v < c->s->n_units; v++)
        for (int32_t k = 0; k < c->s->unit[v].n_reads; k++) {
            const ac_stripe_read *r = &c->s->unit[v].read[k];
            if (c->s->tensor[r->tensor].unit != u)
                continue;
            ac_x at = ac_strip_value(c, c->next[v]);
            ac_x lacks = ac_lb_or(b, ac_lb_gt(b, ac_strip_line(c, &r->need, at), row),
                                  ac_lb_le(b, ac_lb_i32(b, c->s->unit[v].limit), at));
            any = any ? ac_lb_or(b, any, lacks) : lacks;
        }
    return any;
}

static ac_x ready(ac_composer *c, int32_t number)
{
    ac_lb *b = &c->b;
    const ac_stripe_unit *u = &c->s->unit[number];
    ac_x row = ac_strip_value(c, c->next[number]), ok = ac_lb_lt(b, row, ac_lb_i32(b, u->limit));
    for (int32_t k = 0; k < u->n_reads; k++) {
        const int32_t maker = c->s->tensor[u->read[k].tensor].unit;
        if (maker != number)
            ok = ac_lb_and(b, ok,
                           ac_lb_ge(b, ac_strip_value(c, c->next[maker]), ac_strip_line(c, &u->read[k].need, row)));
    }
    ac_x asked = u->asked ? asked_for(c, number, row) : 0;
    return asked ? ac_lb_and(b, ok, asked) : ok;
}

/* Consumes a streamed row: afterwards the others move down, which frees its place for the next. */
static void open_row(ac_composer *c)
{
    ac_lb *b = &c->b;
    const ac_x have = ac_strip_value(c, c->next[0]), limit = ac_lb_i32(b, c->s->unit[0].limit);
    ac_strip_become(c, c->next[0], ac_lb_min(b, ac_lb_add(b, have, ac_lb_i32(b, 1)), limit));
}

static void close_row(ac_composer *c)
{
    ac_lb *b = &c->b;
    const ac_stripe *s = c->s;
    const ac_stripe_tensor *x = &s->tensor[s->streamed];
    if (x->rows > 1)
        ac_strip_move_down(c, x->buf, ac_lb_i32(b, 0), ac_lb_i32(b, x->row), ac_lb_i32(b, (x->rows - 1) * x->row),
                           x->row);
    if (ac_strip_in_buffer(c))
        return;
    int32_t place = 0;
    for (int32_t u = 0; u < s->n_units; u++)
        ac_lb_store(b, s->state_buf, ac_lb_i32(b, place++), ac_strip_value(c, c->next[u]));
    for (int32_t t = 0; t < s->n_tensors; t++)
        if (c->first[t])
            ac_lb_store(b, s->state_buf, ac_lb_i32(b, place++), ac_strip_value(c, c->first[t]));
}

/* The code before the rows: values, and loops that initialise a result; it runs once. */
static void before_rows(ac_composer *c, int32_t m)
{
    ac_lb *b = &c->b;
    const ac_part *p = &c->s->member[m].part;
    for (int32_t x = 1, end; x < p->row; x = end) {
        const ac_lop op = (ac_lop)p->fn->code.item[x].op;
        int32_t depth = op == AC_L_FOR || op == AC_L_IF;
        for (end = x + 1; depth; end++)
            depth += (p->fn->code.item[end].op == AC_L_FOR || p->fn->code.item[end].op == AC_L_IF) -
                     (p->fn->code.item[end].op == AC_L_END);
        const bool once = c->s->streamed >= 0 && acts(p, x, end);
        if (once)
            ac_lb_if(b, ac_lb_eq(b, c->part, ac_lb_i32(b, 0)));
        copy(c, m, x, end);
        if (once)
            ac_lb_end(b);
    }
}

/* The code of one strip. */
static void strip(ac_composer *c, const ac_stripe *s, ac_region *tmp)
{
    ac_lb *b = &c->b;
    c->s = s;
    c->map = AC_NEW_N(tmp, ac_x *, s->n_members);
    c->next = AC_NEW_N(tmp, ac_x, s->n_units);
    c->first = AC_NEW_N(tmp, ac_x, s->n_tensors + 1);
    c->base = AC_NEW_N(tmp, ac_x, s->n_tensors + 1);
    for (int32_t m = 0; m < s->n_members; m++) {
        c->map[m] = AC_NEW_N(tmp, ac_x, s->member[m].part.fn->code.n + 1);
        before_rows(c, m);
    }
    int32_t place = 0;
    if (s->streamed >= 0)
        ac_strip_begin(c);
    for (int32_t u = 0; u < s->n_units; u++)
        c->next[u] = is_idle(s, u) ? 0 : ac_strip_counter(c, "next", &place);
    for (int32_t t = 0; t < s->n_tensors; t++)
        if (ac_stripe_slides(s, t))
            c->first[t] = ac_strip_counter(c, "first", &place);
    int32_t lowest = s->streamed >= 0 ? 1 : 0, open = 0;
    while (is_idle(s, lowest))
        lowest++;
    if (s->streamed >= 0)
        open_row(c);
    ac_lb_for_n(b, "tick", s->streamed >= 0 ? s->burst : s->ticks);
    for (int32_t u = s->n_units - 1; u >= lowest; u--) {
        if (is_idle(s, u))
            continue;
        const bool asks = u > lowest || s->streamed >= 0; /* if no other can, the lowest one runs */
        if (asks)
            ac_lb_if(b, ready(c, u));
        open += asks;
        step(c, u);
        if (u > lowest)
            ac_lb_else(b);
    }
    if (s->streamed >= 0 && s->apart) { /* the rest of the burst does nothing */
        ac_lb_else(b);
        ac_lb_break_if(b, ac_lb_int(b, AC_BOOL, 1));
    }
    for (; open > 0; open--)
        ac_lb_end(b);
    ac_lb_end(b);
    if (s->streamed >= 0)
        close_row(c);
}

ac_loop_fn *ac_loop_stripe(ac_ctx *cx, ac_region *region, const ac_stripe *const *s, int32_t n)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    ac_composer *c = AC_NEW(region, ac_composer);
    ac_lb *b = &c->b;
    ac_lb_open(b, region, s[0]->name, s[0]->note);
    for (int32_t i = 0; i < s[0]->n_bufs; i++) {
        const ac_buf *x = &s[0]->buf[i];
        ac_lb_buf(b, x->name, x->dtype, x->count, x->role, x->align, x->note);
    }
    if (s[0]->streamed >= 0)
        c->part = ac_lb_load(b, s[0]->part_buf, ac_lb_i32(b, 0), 1);
    for (c->number = 0; c->number < n; c->number++)
        strip(c, s[c->number], tmp);
    ac_loop_fn *fn = ac_lb_close(b);
    ac_region_close(tmp);
    return fn;
}
