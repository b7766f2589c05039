/* strip.c - merges several functions into one that works row by row. */
#include "ir/loop/builder.h"
#include "ir/loop/access/strip.h"
#include "ir/loop/ins_fields.h"
#include "ir/loop/tiles.h"

typedef struct composer {
    const ac_stripe *s;
    int32_t number; /* of the strip */
    ac_lb b;
    ac_x **map;    /* by member, by its instruction */
    ac_x *next;    /* by unit: the variable that counts its steps */
    ac_x *first;   /* by tensor: the variable with its window's first row; 0: it never slides */
    ac_x *base;    /* by tensor: element at index 0 in the step being built; 0: none */
    ac_x row, col; /* of the step being built */
    ac_x part;     /* streamed: number of the row */
} composer;

/* ------------------------------------------------------------------ counters */

/* Counters that persist between rows are on the stack while a row runs, or, if memory is scarce, only in their
 * buffer. */
static bool in_buffer(const composer *c)
{
    return c->s->streamed >= 0 && c->s->apart;
}

static ac_x value_of(composer *c, ac_x counter)
{
    ac_lb *b = &c->b;
    if (!in_buffer(c))
        return ac_lb_get(b, counter);
    return ac_lb_cast(b, ac_lb_load(b, c->s->state_buf, ac_lb_i32(b, counter - 1), 1), AC_I32);
}

static void become(composer *c, ac_x counter, ac_x value)
{
    ac_lb *b = &c->b;
    if (in_buffer(c))
        ac_lb_store(b, c->s->state_buf, ac_lb_i32(b, counter - 1),
                    ac_lb_cast(b, value, b->fn->buf.item[c->s->state_buf].dtype));
    else
        ac_lb_set(b, counter, value);
}

static ac_x zero_of(composer *c, int32_t buf)
{
    const ac_dtype d = c->b.fn->buf.item[buf].dtype;
    return ac_dtype_is_float(d) ? ac_lb_num(&c->b, d, 0) : ac_lb_int(&c->b, d, 0);
}

/* For streamed rows: counters are zero before the first one, and the window, which moves as a whole, contains zeros
 * before its row. */
static void begin_rows(composer *c)
{
    ac_lb *b = &c->b;
    const ac_stripe_tensor *x = &c->s->tensor[c->s->streamed];
    ac_lb_if(b, ac_lb_eq(b, c->part, ac_lb_i32(b, 0)));
    for (int32_t k = 0; k < ac_stripe_counters(c->s); k++)
        ac_lb_store(b, c->s->state_buf, ac_lb_i32(b, k), zero_of(c, c->s->state_buf));
    if (x->rows > 1) {
        const ac_x i = ac_lb_for_n(b, "i", (x->rows - 1) * x->row);
        ac_lb_store(b, x->buf, i, zero_of(c, x->buf));
        ac_lb_end(b);
    }
    ac_lb_end(b);
}

/* Zero initially; for streamed rows, its value after the previous one. Index in the buffer: 1 + its position. */
static ac_x new_counter(composer *c, const char *name, int32_t *place)
{
    ac_lb *b = &c->b;
    if (c->s->streamed < 0)
        return ac_lb_var(b, name, ac_lb_i32(b, 0));
    const ac_x at = ac_lb_i32(b, (*place)++);
    return in_buffer(c) ? *place : ac_lb_var(b, name, ac_lb_load(b, c->s->state_buf, at, 1));
}

/* ------------------------------------------------------------------ copies of the functions' code */

/* Maps an index of the member's buffer to the new buffer. */
static ac_x address(composer *c, const ac_stripe_member *m, int32_t buf, ac_x index)
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

static void copy(composer *c, int32_t member, int32_t begin, int32_t end)
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

static ac_x counter(composer *c, const ac_loop_fn *fn, int32_t loop, ac_x k)
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

/* ------------------------------------------------------------------ windows */

static ac_x line(composer *c, const ac_ramp *l, ac_x s)
{
    ac_lb *b = &c->b;
    ac_x v = ac_lb_add(b, ac_lb_mul(b, s, ac_lb_i32(b, l->a)), ac_lb_i32(b, l->b));
    if (l->c > 1) /* lo is not negative */
        v = ac_lb_div(b, ac_lb_max(b, v, ac_lb_i32(b, 0)), ac_lb_i32(b, l->c));
    return ac_lb_min(b, ac_lb_max(b, v, ac_lb_i32(b, l->lo)), ac_lb_i32(b, l->hi));
}

/* The first row of tensor t that a reader still needs. */
static ac_x oldest_needed(composer *c, int32_t t)
{
    ac_lb *b = &c->b;
    const ac_x none = ac_lb_i32(b, c->s->unit[c->s->tensor[t].unit].limit);
    ac_x low = 0;
    for (int32_t u = 0; u < c->s->n_units; u++)
        for (int32_t k = 0; k < c->s->unit[u].n_reads; k++) {
            const ac_stripe_read *r = &c->s->unit[u].read[k];
            if (c->s->tensor[r->tensor].home != t)
                continue;
            ac_x at = value_of(c, c->next[u]), v = line(c, &r->low, at);
            v = ac_lb_select(b, ac_lb_lt(b, at, ac_lb_i32(b, c->s->unit[u].limit)), v, none);
            low = low ? ac_lb_min(b, low, v) : v;
        }
    return low ? low : none; /* an unused result */
}

/* n elements move from element `from` of a buffer to element `to` of another one, or down in the same one; all three
 * are multiples of `row`. */
static void move(composer *c, int32_t to_buf, ac_x to, int32_t buf, ac_x from, ac_x n, int64_t row)
{
    ac_lb *b = &c->b;
    if (c->s->copies && c->s->buf[buf].dtype == AC_I8) {
        const ac_tile t = {
            .form = AC_TILE_SPREAD, .rows = 1, .channels = 1, .x = buf, .acc = to_buf, .shift = 1, .stride = 1};
        ac_lb_tile(b, t, from, to, n);
        return;
    }
    enum { MOST_MOVED = 16 };
    const int32_t size = (int32_t)ac_dtype_size(b->fn->buf.item[buf].dtype, 1);
    int32_t step = 1, lanes = 1;
    for (int32_t by = c->s->moved; by > size && step == 1; by /= 2)
        if (row % (by / size) == 0)
            step = by / size;
    if (c->s->word >= size && step * size >= c->s->word)
        lanes = c->s->word / size;
    const ac_x i = ac_lb_for(b, "i", ac_lb_i32(b, 0), n, step, AC_MARK_SERIAL);
    ac_x held[MOST_MOVED];
    for (int32_t k = 0; k < step; k += lanes)
        held[k] = ac_lb_load(b, buf, ac_lb_add(b, ac_lb_add(b, i, ac_lb_i32(b, k)), from), lanes);
    for (int32_t k = 0; k < step; k += lanes)
        ac_lb_store(b, to_buf, ac_lb_add(b, ac_lb_add(b, i, ac_lb_i32(b, k)), to), held[k]);
    ac_lb_end(b);
}

static void move_down(composer *c, int32_t buf, ac_x to, ac_x from, ac_x n, int64_t row)
{
    move(c, buf, to, buf, from, n, row);
}

/* Makes room after the `row` rows of tensor t: if its window is full, or another tensor needs the room, drops rows
 * without a reader and moves the rest to the front. */
static void slide(composer *c, int32_t t, ac_x row)
{
    ac_lb *b = &c->b;
    const ac_stripe_tensor *x = &c->s->tensor[t];
    ac_x begin = value_of(c, c->first[t]), low = 0, size = ac_lb_i32(b, x->row);
    if (x->mate >= 0) {
        low = ac_lb_min(b, oldest_needed(c, t), row);
        ac_lb_if(b, ac_lb_lt(b, begin, low));
    } else {
        ac_lb_if(b, ac_lb_eq(b, ac_lb_sub(b, row, begin), ac_lb_i32(b, x->rows)));
        low = ac_lb_min(b, oldest_needed(c, t), row);
    }
    if (x->rows > 1)
        move_down(c, x->buf, ac_lb_i32(b, 0), ac_lb_mul(b, ac_lb_sub(b, low, begin), size),
                  ac_lb_mul(b, ac_lb_sub(b, row, low), size), x->row);
    become(c, c->first[t], low);
    ac_lb_end(b);
}

/* Makes room for row `row` at the end of the room: older rows that are still needed move down by a row. */
static void push_down(composer *c, int32_t t, ac_x row)
{
    ac_lb *b = &c->b;
    const ac_stripe_tensor *x = &c->s->tensor[t];
    if (x->rows < 2)
        return;
    ac_x low = ac_lb_min(b, oldest_needed(c, t), row), size = ac_lb_i32(b, x->row);
    ac_x n = ac_lb_mul(b, ac_lb_sub(b, row, low), size), from = ac_lb_sub(b, ac_lb_i32(b, x->room), n);
    move_down(c, x->buf, ac_lb_sub(b, from, size), from, n, x->row);
}

/* Runs before unit `number` computes its next row of tensor t. */
static void make_room(composer *c, int32_t number, int32_t t)
{
    const ac_stripe_tensor *x = &c->s->tensor[t];
    if (x->unit != number || x->home != t || x->kind != AC_STRIPE_WINDOW)
        return;
    if (x->high && x->mate >= 0)
        slide(c, x->mate, value_of(c, c->next[c->s->tensor[x->mate].unit]));
    if (x->high)
        push_down(c, t, c->row);
    else if (c->first[t])
        slide(c, t, c->row);
}

/* The start of the window of t, in elements of t, while unit `number` runs. */
static void set_base(composer *c, int32_t number, int32_t t)
{
    ac_lb *b = &c->b;
    const int32_t home = c->s->tensor[t].home;
    const ac_stripe_tensor *x = &c->s->tensor[home];
    const ac_x first = c->first[home], size = ac_lb_i32(b, x->row);
    if (x->high) {
        ac_x rows = value_of(c, c->next[x->unit]);
        rows = x->unit == number ? ac_lb_add(b, rows, ac_lb_i32(b, 1)) : rows;
        c->base[t] = ac_lb_sub(b, ac_lb_mul(b, rows, size), ac_lb_i32(b, x->room));
    } else {
        c->base[t] = first ? ac_lb_mul(b, value_of(c, first), size) : 0;
    }
}

/* ------------------------------------------------------------------ units */

/* A unit without steps: another one copies for it, or nothing needs its rows. */
static bool is_idle(const ac_stripe *s, int32_t unit)
{
    return s->unit[unit].does == AC_STRIPE_FILLS && !s->unit[unit].limit;
}

/* The pixels that unit `number` copies before it works on a column. */
static void copied_pixels(composer *c, int32_t number)
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
        move(c, t->buf, ac_lb_i32(b, 0), x->outside, ac_lb_mul(b, pixel, size), size, t->row);
    }
}

static void columns(composer *c, const ac_stripe_unit *u)
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
static ac_x in_window(composer *c, int32_t t, int64_t at)
{
    ac_lb *b = &c->b;
    ac_x row = ac_lb_mul(b, c->row, ac_lb_i32(b, c->s->tensor[t].row));
    if (at)
        row = ac_lb_add(b, row, ac_lb_i32(b, at));
    return c->base[t] ? ac_lb_sub(b, row, c->base[t]) : row;
}

/* The row that a unit without members copies, between its place outside and the window. */
static void copied_row(composer *c, const ac_stripe_unit *u)
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
        move(c, x->buf, part, u->outside, all, ac_lb_i32(b, n), n);
    else
        move(c, u->outside, all, x->buf, part, ac_lb_i32(b, n), n);
}

/* Halos of the row that unit `number` computes: before, it fetches those of an earlier strip; afterwards it stores
 * those of the next one. */
static void halos(composer *c, int32_t number, bool before)
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
            move(c, x->buf, part, k->buf, stored, ac_lb_i32(b, n), n);
        else
            move(c, k->buf, stored, x->buf, part, ac_lb_i32(b, n), n);
    }
}

static void compute(composer *c, const ac_stripe_unit *u)
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

static void step(composer *c, int32_t number)
{
    const ac_stripe *s = c->s;
    const ac_stripe_unit *u = &s->unit[number];
    c->row = value_of(c, c->next[number]);
    for (int32_t t = 0; t < s->n_tensors; t++)
        make_room(c, number, t);
    for (int32_t t = 0; t < s->n_tensors; t++)
        if (s->tensor[t].kind == AC_STRIPE_WINDOW)
            set_base(c, number, t);
    if (u->does == AC_STRIPE_COMPUTES) {
        halos(c, number, true);
        compute(c, u);
        halos(c, number, false);
    } else {
        copied_row(c, u);
    }
    become(c, c->next[number], ac_lb_add(&c->b, c->row, ac_lb_i32(&c->b, 1)));
}

/* True if a reader of unit u's rows lacks one, or if the rows have no reader here. */
static ac_x asked_for(composer *c, int32_t u, ac_x row)
{
    ac_lb *b = &c->b;
    ac_x any = 0;
    for (int32_t v = u + 1; v < c->s->n_units; v++)
        for (int32_t k = 0; k < c->s->unit[v].n_reads; k++) {
            const ac_stripe_read *r = &c->s->unit[v].read[k];
            if (c->s->tensor[r->tensor].unit != u)
                continue;
            ac_x at = value_of(c, c->next[v]);
            ac_x lacks = ac_lb_or(b, ac_lb_gt(b, line(c, &r->need, at), row),
                                  ac_lb_le(b, ac_lb_i32(b, c->s->unit[v].limit), at));
            any = any ? ac_lb_or(b, any, lacks) : lacks;
        }
    return any;
}

static ac_x ready(composer *c, int32_t number)
{
    ac_lb *b = &c->b;
    const ac_stripe_unit *u = &c->s->unit[number];
    ac_x row = value_of(c, c->next[number]), ok = ac_lb_lt(b, row, ac_lb_i32(b, u->limit));
    for (int32_t k = 0; k < u->n_reads; k++) {
        const int32_t maker = c->s->tensor[u->read[k].tensor].unit;
        if (maker != number)
            ok = ac_lb_and(b, ok, ac_lb_ge(b, value_of(c, c->next[maker]), line(c, &u->read[k].need, row)));
    }
    ac_x asked = u->asked ? asked_for(c, number, row) : 0;
    return asked ? ac_lb_and(b, ok, asked) : ok;
}

/* Consumes a streamed row: afterwards the others move down, which frees its place for the next. */
static void open_row(composer *c)
{
    ac_lb *b = &c->b;
    const ac_x have = value_of(c, c->next[0]), limit = ac_lb_i32(b, c->s->unit[0].limit);
    become(c, c->next[0], ac_lb_min(b, ac_lb_add(b, have, ac_lb_i32(b, 1)), limit));
}

static void close_row(composer *c)
{
    ac_lb *b = &c->b;
    const ac_stripe *s = c->s;
    const ac_stripe_tensor *x = &s->tensor[s->streamed];
    if (x->rows > 1)
        move_down(c, x->buf, ac_lb_i32(b, 0), ac_lb_i32(b, x->row), ac_lb_i32(b, (x->rows - 1) * x->row), x->row);
    if (in_buffer(c))
        return;
    int32_t place = 0;
    for (int32_t u = 0; u < s->n_units; u++)
        ac_lb_store(b, s->state_buf, ac_lb_i32(b, place++), value_of(c, c->next[u]));
    for (int32_t t = 0; t < s->n_tensors; t++)
        if (c->first[t])
            ac_lb_store(b, s->state_buf, ac_lb_i32(b, place++), value_of(c, c->first[t]));
}

/* The code before the rows: values, and loops that initialise a result; it runs once. */
static void before_rows(composer *c, int32_t m)
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
static void strip(composer *c, const ac_stripe *s, ac_region *tmp)
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
        begin_rows(c);
    for (int32_t u = 0; u < s->n_units; u++)
        c->next[u] = is_idle(s, u) ? 0 : new_counter(c, "next", &place);
    for (int32_t t = 0; t < s->n_tensors; t++)
        if (ac_stripe_slides(s, t))
            c->first[t] = new_counter(c, "first", &place);
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
    composer *c = AC_NEW(region, composer);
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
