/* unroll.c - replaces loops by copies of their body.
 *
 * Loops marked unroll whose bounds are constants (after the loops around them were unrolled) become copies of their
 * body, one for each value of the loop variable; the builder folds the new constants. A loop left by break_if stays a
 * loop.
 *
 *     %3 = for i32 %0 .. %2 step 1 as ky unroll        store out[%0] ...
 *            store out[%3] ...                   =>    store out[%1] ...
 *          end
 *
 * Variables declared in the body are declared once per copy, with numbered names. Cost: O(size of the result). */
#include "ir/loop/builder.h"
#include "ir/loop/ins_fields.h"

typedef struct unroller {
    const ac_loop_fn *from;
    ac_lb b;
    ac_x *map;    /* old value or variable -> new one */
    int32_t *end; /* FOR: its END */
    bool *breaks; /* FOR: a BREAK_IF leaves it */
} unroller;

static void find_breaks(unroller *u)
{
    const ac_ins *code = u->from->code.item;
    for (int32_t i = 1; i < u->from->code.n; i++) {
        int32_t loop = code[i].op == AC_L_BREAK_IF ? i : 0;
        while (loop && (code[loop].op != AC_L_FOR || u->end[loop] < i))
            loop--;
        u->breaks[loop] = true; /* [0]: none */
    }
}

static void copy(unroller *u, int32_t begin, int32_t end)
{
    for (int32_t x = begin; x < end; x++) {
        ac_ins i = u->from->code.item[x];
        ac_ins_move_values(&i, u->map);
        int64_t lo, hi;
        bool open = i.op == AC_L_FOR && i.aux == AC_MARK_UNROLL && !u->breaks[x] && ac_lb_const_int(&u->b, i.a, &lo) &&
                    ac_lb_const_int(&u->b, i.b, &hi);
        if (!open) {
            u->map[x] = ac_lb_copy(&u->b, u->from, &i);
            continue;
        }
        for (int64_t v = lo; i.k.i > 0 ? v < hi : v > hi; v += i.k.i) {
            u->map[x] = ac_lb_i32(&u->b, v);
            copy(u, x + 1, u->end[x]);
        }
        x = u->end[x];
    }
}

ac_loop_fn *ac_loop_unroll(ac_ctx *cx, const ac_loop_fn *fn)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    size_t n = (size_t)fn->code.n;
    unroller u = {
        .from = fn, .map = AC_NEW_N(tmp, ac_x, n), .end = ac_loop_ends(tmp, fn), .breaks = AC_NEW_N(tmp, bool, n)};
    find_breaks(&u);
    ac_lb_open_like(&u.b, cx->region, fn);
    copy(&u, 1, fn->code.n);
    ac_region_close(tmp);
    return ac_lb_close(&u.b);
}
