/* strip_rows.c - windows of rows in a strip: how far each unit is, and where the rows are that are still needed. */
#include "ir/loop/access/strip_rows.h"
#include "ir/loop/tiles.h"

/* ------------------------------------------------------------------ counters */

bool ac_strip_in_buffer(const ac_composer *c)
{
    return c->s->streamed >= 0 && c->s->apart;
}

ac_x ac_strip_value(ac_composer *c, ac_x counter)
{
    ac_lb *b = &c->b;
    if (!ac_strip_in_buffer(c))
        return ac_lb_get(b, counter);
    return ac_lb_cast(b, ac_lb_load(b, c->s->state_buf, ac_lb_i32(b, counter - 1), 1), AC_I32);
}

void ac_strip_become(ac_composer *c, ac_x counter, ac_x value)
{
    ac_lb *b = &c->b;
    if (ac_strip_in_buffer(c))
        ac_lb_store(b, c->s->state_buf, ac_lb_i32(b, counter - 1),
                    ac_lb_cast(b, value, b->fn->buf.item[c->s->state_buf].dtype));
    else
        ac_lb_set(b, counter, value);
}

static ac_x zero_of(ac_composer *c, int32_t buf)
{
    const ac_dtype d = c->b.fn->buf.item[buf].dtype;
    return ac_dtype_is_float(d) ? ac_lb_num(&c->b, d, 0) : ac_lb_int(&c->b, d, 0);
}

/* For streamed rows: counters are zero before the first one, and the window, which moves as a whole, contains zeros
 * before its row. */
void ac_strip_begin(ac_composer *c)
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
ac_x ac_strip_counter(ac_composer *c, const char *name, int32_t *place)
{
    ac_lb *b = &c->b;
    if (c->s->streamed < 0)
        return ac_lb_var(b, name, ac_lb_i32(b, 0));
    const ac_x at = ac_lb_i32(b, (*place)++);
    return ac_strip_in_buffer(c) ? *place : ac_lb_var(b, name, ac_lb_load(b, c->s->state_buf, at, 1));
}

/* ------------------------------------------------------------------ windows */

ac_x ac_strip_line(ac_composer *c, const ac_ramp *l, ac_x s)
{
    ac_lb *b = &c->b;
    ac_x v = ac_lb_add(b, ac_lb_mul(b, s, ac_lb_i32(b, l->a)), ac_lb_i32(b, l->b));
    if (l->c > 1) /* lo is not negative */
        v = ac_lb_div(b, ac_lb_max(b, v, ac_lb_i32(b, 0)), ac_lb_i32(b, l->c));
    return ac_lb_min(b, ac_lb_max(b, v, ac_lb_i32(b, l->lo)), ac_lb_i32(b, l->hi));
}

/* The first row of tensor t that a reader still needs. */
static ac_x oldest_needed(ac_composer *c, int32_t t)
{
    ac_lb *b = &c->b;
    const ac_x none = ac_lb_i32(b, c->s->unit[c->s->tensor[t].unit].limit);
    ac_x low = 0;
    for (int32_t u = 0; u < c->s->n_units; u++)
        for (int32_t k = 0; k < c->s->unit[u].n_reads; k++) {
            const ac_stripe_read *r = &c->s->unit[u].read[k];
            if (c->s->tensor[r->tensor].home != t)
                continue;
            ac_x at = ac_strip_value(c, c->next[u]), v = ac_strip_line(c, &r->low, at);
            v = ac_lb_select(b, ac_lb_lt(b, at, ac_lb_i32(b, c->s->unit[u].limit)), v, none);
            low = low ? ac_lb_min(b, low, v) : v;
        }
    return low ? low : none; /* an unused result */
}

void ac_strip_move(ac_composer *c, int32_t to_buf, ac_x to, int32_t buf, ac_x from, ac_x n, int64_t row)
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

void ac_strip_move_down(ac_composer *c, int32_t buf, ac_x to, ac_x from, ac_x n, int64_t row)
{
    ac_strip_move(c, buf, to, buf, from, n, row);
}

/* Makes room after the `row` rows of tensor t: if its window is full, or another tensor needs the room, drops rows
 * without a reader and moves the rest to the front. */
static void slide(ac_composer *c, int32_t t, ac_x row)
{
    ac_lb *b = &c->b;
    const ac_stripe_tensor *x = &c->s->tensor[t];
    ac_x begin = ac_strip_value(c, c->first[t]), low = 0, size = ac_lb_i32(b, x->row);
    if (x->mate >= 0) {
        low = ac_lb_min(b, oldest_needed(c, t), row);
        ac_lb_if(b, ac_lb_lt(b, begin, low));
    } else {
        ac_lb_if(b, ac_lb_eq(b, ac_lb_sub(b, row, begin), ac_lb_i32(b, x->rows)));
        low = ac_lb_min(b, oldest_needed(c, t), row);
    }
    if (x->rows > 1)
        ac_strip_move_down(c, x->buf, ac_lb_i32(b, 0), ac_lb_mul(b, ac_lb_sub(b, low, begin), size),
                           ac_lb_mul(b, ac_lb_sub(b, row, low), size), x->row);
    ac_strip_become(c, c->first[t], low);
    ac_lb_end(b);
}

/* Makes room for row `row` at the end of the room: older rows that are still needed move down by a row. */
static void push_down(ac_composer *c, int32_t t, ac_x row)
{
    ac_lb *b = &c->b;
    const ac_stripe_tensor *x = &c->s->tensor[t];
    if (x->rows < 2)
        return;
    ac_x low = ac_lb_min(b, oldest_needed(c, t), row), size = ac_lb_i32(b, x->row);
    ac_x n = ac_lb_mul(b, ac_lb_sub(b, row, low), size), from = ac_lb_sub(b, ac_lb_i32(b, x->room), n);
    ac_strip_move_down(c, x->buf, ac_lb_sub(b, from, size), from, n, x->row);
}

void ac_strip_make_room(ac_composer *c, int32_t number, int32_t t)
{
    const ac_stripe_tensor *x = &c->s->tensor[t];
    if (x->unit != number || x->home != t || x->kind != AC_STRIPE_WINDOW)
        return;
    if (x->high && x->mate >= 0)
        slide(c, x->mate, ac_strip_value(c, c->next[c->s->tensor[x->mate].unit]));
    if (x->high)
        push_down(c, t, c->row);
    else if (c->first[t])
        slide(c, t, c->row);
}

void ac_strip_set_base(ac_composer *c, int32_t number, int32_t t)
{
    ac_lb *b = &c->b;
    const int32_t home = c->s->tensor[t].home;
    const ac_stripe_tensor *x = &c->s->tensor[home];
    const ac_x first = c->first[home], size = ac_lb_i32(b, x->row);
    if (x->high) {
        ac_x rows = ac_strip_value(c, c->next[x->unit]);
        rows = x->unit == number ? ac_lb_add(b, rows, ac_lb_i32(b, 1)) : rows;
        c->base[t] = ac_lb_sub(b, ac_lb_mul(b, rows, size), ac_lb_i32(b, x->room));
    } else {
        c->base[t] = first ? ac_lb_mul(b, ac_strip_value(c, first), size) : 0;
    }
}
