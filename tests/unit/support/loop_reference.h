/* loop_reference.h - a plain interpreter of the loop IR to test the evaluator and the folding against: one case per
 * kind, values in a table, blocks by recursion; and random operands. */
#ifndef AC_TESTS_UNIT_SUPPORT_LOOP_REFERENCE_H
#define AC_TESTS_UNIT_SUPPORT_LOOP_REFERENCE_H
#include "ir/loop/builder.h"
#include "ir/loop/kernel.h"
#include "tests/unit/support/seeds.h"

#include <math.h>

enum { WIDE = 128, CELL = WIDE * 8 }; /* lanes the tests use, bytes of a value */

typedef struct walker {
    const ac_loop_fn *fn;
    char (*value)[CELL];
    void *const *data;
    int status;
    bool fault;
} walker;

static int32_t closing(const ac_loop_fn *fn, int32_t x, bool stop_at_else)
{
    int32_t depth = 0;
    for (;; x++) {
        char cls = ac_lop_class((ac_lop)fn->code.item[x].op);
        depth += cls == 'O';
        if (cls == 'C' && --depth == 0)
            return x;
        if (cls == 'E' && depth == 1 && stop_at_else)
            return x;
    }
}

static int32_t i32_at(const walker *w, ac_x x)
{
    int32_t v;
    memcpy(&v, w->value[x], sizeof v);
    return v;
}

static void walk_value(walker *w, ac_x x)
{
    const ac_ins *i = &w->fn->code.item[x], *a = &w->fn->code.item[i->a];
    char *d = w->value[x];
    size_t size = ac_lane_size((ac_dtype)i->dtype);
    ac_lop op = (ac_lop)i->op;
    int32_t from = 0;
    bool divides = (op == AC_L_DIV || op == AC_L_MOD) && !ac_dtype_is_float((ac_dtype)i->dtype);
    for (int32_t l = 0; divides && l < i->lanes; l++)
        w->fault |= ac_lane_get((ac_dtype)i->dtype, w->value[i->b], l) == 0;
    if (op == AC_L_CONST || op == AC_L_CONSTV) {
        for (int32_t l = 0; l < i->lanes; l++)
            ac_lane_put((ac_dtype)i->dtype, d, l, ac_lb_lane_of(w->fn, i, l));
    } else if (op == AC_L_GET) {
        memcpy(d, w->value[i->aux], CELL);
    } else if (op == AC_L_LOAD) {
        from = i32_at(w, i->a);
        w->fault |= from < 0 || from + i->lanes > w->fn->buf.item[i->aux].count;
        if (!w->fault)
            memcpy(d, (char *)w->data[i->aux] + (size_t)from * size, i->lanes * size);
    } else if (op == AC_L_SPLAT || op == AC_L_LANE || op == AC_L_SHUFFLE) {
        for (int32_t l = 0; l < i->lanes; l++) {
            from = op == AC_L_LANE ? i->aux : op == AC_L_SPLAT ? 0 : (int32_t)w->fn->pool.item[i->aux + l];
            const char *source = from < a->lanes ? w->value[i->a] + (size_t)from * size
                                                 : w->value[i->b] + (size_t)(from - a->lanes) * size;
            memcpy(d + (size_t)l * size, source, size);
        }
    } else if (op == AC_L_BITCAST) {
        memcpy(d, w->value[i->a], CELL);
    } else if (op == AC_L_SELECT && a->lanes == 1) {
        memcpy(d, w->value[w->value[i->a][0] ? i->b : i->c], CELL);
    } else {
        ac_kernel k = ac_kernel_of(op, (ac_dtype)i->dtype, (ac_dtype)a->dtype);
        k(d, w->value[i->a], w->value[i->b], w->value[i->c],
          op == AC_L_SUMLANES || op == AC_L_MAXLANES ? a->lanes : i->lanes);
    }
}

/* 0: go on, 1: leave the loop, 2: leave the function. */
static int walk(walker *w, int32_t begin, int32_t end)
{
    for (int32_t x = begin; x < end && !w->fault; x++) {
        const ac_ins *i = &w->fn->code.item[x];
        ac_lop op = (ac_lop)i->op;
        if (op == AC_L_FOR) {
            int32_t last = closing(w->fn, x, false);
            int64_t hi = i32_at(w, i->b);
            for (int64_t v = i32_at(w, i->a); i->k.i > 0 ? v < hi : v > hi; v += i->k.i) {
                int32_t at = (int32_t)v;
                memcpy(w->value[x], &at, sizeof at);
                int r = walk(w, x + 1, last);
                if (r == 2)
                    return r;
                if (r == 1)
                    break;
            }
            x = last;
        } else if (op == AC_L_IF) {
            int32_t mid = closing(w->fn, x, true), last = closing(w->fn, x, false);
            int r = w->value[i->a][0] ? walk(w, x + 1, mid) : mid < last ? walk(w, mid + 1, last) : 0;
            if (r)
                return r;
            x = last;
        } else if (op == AC_L_BREAK_IF || op == AC_L_FAIL_IF) {
            if (w->value[i->a][0] && op == AC_L_FAIL_IF)
                w->status = i->aux;
            if (w->value[i->a][0])
                return op == AC_L_FAIL_IF ? 2 : 1;
        } else if (op == AC_L_VAR) {
            memcpy(w->value[x], w->value[i->a], CELL);
        } else if (op == AC_L_SET) {
            memcpy(w->value[i->aux], w->value[i->a], CELL);
        } else if (op == AC_L_STORE) {
            int32_t to = i32_at(w, i->a);
            size_t size = ac_lane_size((ac_dtype)i->dtype);
            w->fault |= to < 0 || to + i->lanes > w->fn->buf.item[i->aux].count;
            if (!w->fault)
                memcpy((char *)w->data[i->aux] + (size_t)to * size, w->value[i->b], i->lanes * size);
        } else if (op != AC_L_PREFETCH) {
            walk_value(w, x);
        }
    }
    return 0;
}

static inline bool reference(ac_region *r, const ac_loop_fn *fn, void *const *data, int *status)
{
    walker w = {.fn = fn, .value = ac_alloc_n(r, (size_t)fn->code.n, CELL), .data = data};
    walk(&w, 1, fn->code.n);
    *status = w.status;
    return !w.fault;
}

/* Equal bits, or both NaN. */
static inline bool same_lanes(ac_dtype d, const void *x, const void *y, int32_t n)
{
    for (int32_t l = 0; l < n; l++) {
        int64_t p = ac_lane_get(d, x, l), q = ac_lane_get(d, y, l);
        double u, v;
        memcpy(&u, &p, sizeof u);
        memcpy(&v, &q, sizeof v);
        if (p != q && !(ac_dtype_is_float(d) && isnan(u) && isnan(v)))
            return false;
    }
    return true;
}

/* A value of type d, often one at the edge, as ac_lane_get gives it. */
static inline int64_t random_lane(ac_dtype d)
{
    static const double EDGES[] = {0.0,    -0.0,    1,      -1,       0.5,      -0.5,         1.5,
                                   2.5,    -2.5,    127,    128,      255.7,    -128.9,       32767.5,
                                   65504,  1e-40,   -1e-40, 3e38,     -3e38,    2147483648.0, -2147483649.0,
                                   9.3e18, -9.3e18, 1.9e19, HUGE_VAL, -HUGE_VAL};
    int64_t k;
    if (ac_dtype_is_float(d)) {
        double v = below(3) ? EDGES[below(sizeof EDGES / sizeof *EDGES)]
                            : ((double)(rnd() >> 11) * 0x1p-53 - 0.5) * ldexp(1, below(40) - 8);
        memcpy(&k, &v, sizeof k);
        return k;
    }
    if (d == AC_BOOL)
        return below(2);
    switch (below(5)) {
    case 0:
        k = below(5) - 2;
        break;
    case 1:
        k = ac_dtype_max(d) - below(2);
        break;
    case 2:
        k = ac_dtype_min(d) + below(2);
        break;
    default:
        k = (int64_t)(rnd() >> below(64));
        break;
    }
    char cell[8];
    ac_lane_put(d, cell, 0, k);
    return ac_lane_get(d, cell, 0);
}
#endif
