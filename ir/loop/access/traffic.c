/* traffic.c - estimates how many bytes a function moves, by buffer. */
#include "ir/loop/access/traffic.h"

#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"

/* The constant c if `hi` is lo + c, else 0. */
static int64_t beyond(const ac_loop_fn *fn, ac_x lo, ac_x hi)
{
    const ac_ins *i = &fn->code.item[hi];
    if (i->op != AC_L_ADD || (i->a != lo && i->b != lo))
        return 0;
    const ac_ins *c = &fn->code.item[i->a == lo ? i->b : i->a];
    return c->op == AC_L_CONST ? c->k.i : 0;
}

/* The length of a part of a longer loop, from lo to lo + c or to the end of that loop: all parts count as full ones. 0:
 * not such a part. */
static int64_t part_of_loop(const ac_loop_fn *fn, ac_x lo, ac_x hi)
{
    const ac_ins *i = &fn->code.item[hi];
    if (i->op != AC_L_MIN)
        return beyond(fn, lo, hi);
    const int64_t c = beyond(fn, lo, i->a);
    return c ? c : beyond(fn, lo, i->b);
}

int64_t ac_loop_trips(const ac_loop_fn *fn, ac_x loop, bool *known)
{
    const ac_ins *i = &fn->code.item[loop], *lo = &fn->code.item[i->a], *hi = &fn->code.item[i->b];
    *known = lo->op == AC_L_CONST && hi->op == AC_L_CONST;
    if (!*known) {
        const int64_t n = i->k.i > 0 ? part_of_loop(fn, i->a, i->b) / i->k.i : 0;
        return n > 0 ? n : AC_UNKNOWN_TRIPS;
    }
    return i->k.i > 0 ? (hi->k.i - lo->k.i + i->k.i - 1) / i->k.i : (lo->k.i - hi->k.i - i->k.i - 1) / -i->k.i;
}

/* Bytes of x that a tile reads. */
static int64_t rows_of(const ac_loop_fn *fn, const ac_ins *i)
{
    const ac_tile t = ac_ins_tile(i);
    return t.form == AC_TILE_MATRIX ? (int64_t)t.rows * t.pitch : fn->buf.item[i->aux].count;
}

/* Bytes of weights that a tile reads: of all of them if its steps are unknown here. */
static int64_t weights_of(const ac_loop_fn *fn, const ac_ins *i, const ac_tile *t)
{
    const ac_ins *steps = &fn->code.item[i->c];
    const int64_t all = fn->buf.item[t->w].count;
    const int64_t n = steps->op == AC_L_CONST ? ac_tile_weights(t, steps->k.i) : all;
    return n < all ? n : all;
}

static void add(int64_t *bytes, int32_t buf, double n)
{
    const double most = (double)(INT64_MAX / 4), sum = (double)bytes[buf] + n;
    bytes[buf] = sum > most ? (int64_t)most : (int64_t)sum;
}

/* A tile's rows, whose steps may be unknown here (all count once), and its weights; or lanes that become bytes, the
 * bias and two numbers for each. */
static void count_block(const ac_loop_fn *fn, const ac_ins *i, double times, int64_t *bytes)
{
    enum { NUMBERS = 12 };
    if (i->op == AC_L_TILE) {
        const ac_tile t = ac_ins_tile(i);
        add(bytes, i->aux, times * (double)rows_of(fn, i));
        if (t.form != AC_TILE_SPREAD)
            add(bytes, t.w, times * (double)weights_of(fn, i, &t));
        return;
    }
    const ac_requants q = ac_ins_requant(i);
    add(bytes, i->aux, times * (double)q.lanes);
    add(bytes, q.table, times * (double)(NUMBERS * q.lanes));
}

/* From `at` to the END that closes its block; `times`: how often it runs. Returns the position after the END. */
static ac_x count(const ac_loop_fn *fn, ac_x at, double times, int64_t *bytes)
{
    while (at < fn->code.n) {
        const ac_ins *i = &fn->code.item[at];
        bool known;
        if (i->op == AC_L_END)
            return at + 1;
        if (i->op == AC_L_FOR) {
            const int64_t n = ac_loop_trips(fn, at, &known);
            at = count(fn, at + 1, times * (double)(n > 0 ? n : 0), bytes);
            continue;
        }
        if (i->op == AC_L_IF) {
            at = count(fn, at + 1, times, bytes);
            continue;
        }
        if (i->op == AC_L_LOAD || i->op == AC_L_STORE)
            add(bytes, i->aux, times * (double)ac_dtype_size((ac_dtype)i->dtype, i->lanes));
        if (i->op == AC_L_TILE || i->op == AC_L_REQUANT)
            count_block(fn, i, times, bytes);
        at++;
    }
    return at;
}

void ac_loop_traffic(const ac_loop_fn *fn, int64_t *bytes)
{
    count(fn, 1, 1, bytes);
}
