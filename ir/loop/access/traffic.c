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

/* From `at` to the END that closes its block; `times`: how often it runs. Returns the position after the END. */
static ac_x count(const ac_loop_fn *fn, ac_x at, double times, int64_t *bytes)
{
    const double most = (double)(INT64_MAX / 4);
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
        if (i->op == AC_L_LOAD || i->op == AC_L_STORE) {
            const double sum = (double)bytes[i->aux] + times * (double)ac_dtype_size((ac_dtype)i->dtype, i->lanes);
            bytes[i->aux] = sum > most ? (int64_t)most : (int64_t)sum;
        }
        if (i->op == AC_L_TILE || i->op == AC_L_REQUANT) { /* the number of steps may be unknown here: counts all rows
                                                            * once */
            const int64_t n = i->op == AC_L_TILE ? rows_of(fn, i) : ac_ins_requant(i).lanes;
            const double sum = (double)bytes[i->aux] + times * (double)n;
            bytes[i->aux] = sum > most ? (int64_t)most : (int64_t)sum;
        }
        at++;
    }
    return at;
}

void ac_loop_traffic(const ac_loop_fn *fn, int64_t *bytes)
{
    count(fn, 1, 1, bytes);
}
