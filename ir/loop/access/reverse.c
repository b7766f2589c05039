/* reverse.c - runs loops backward.
 *
 * Loops are reversed from the outside in, as long as no iteration depends on another:
 *
 *     for oy 0 .. 25 step 1                    for oy 24 .. -1 step -1
 *       for ox 0 .. 5 step 1           =>        for ox 4 .. -1 step -1
 *         acc = bias                               acc = bias
 *         for k ... acc += ...                     for k ... acc += ...        acc comes from outside: as it was
 *         store out[...]                           store out[...]
 *
 * Iterations depend on each other through a variable declared outside, memory that the loop both writes and reads,
 * memory whose last store counts (scratch), and early exits. Statements in sequence keep their order. Every element is
 * computed by the same arithmetic, so results are bit-identical. */
#include "ir/loop/builder.h"
#include "ir/loop/access/distance.h"
#include "ir/loop/ins_fields.h"

typedef struct reverser {
    const ac_loop_fn *from;
    ac_lb b;
    ac_x *map;
    int32_t *end; /* FOR: its END */
    bool any;
} reverser;

static bool may_turn(const reverser *v, int32_t loop)
{
    const ac_loop_fn *fn = v->from;
    const ac_ins *f = &fn->code.item[loop];
    int32_t inner = 0; /* where the loops inside end so far: a BREAK_IF before that leaves one of them */
    if (fn->code.item[f->a].op != AC_L_CONST || fn->code.item[f->b].op != AC_L_CONST)
        return false;
    const int64_t lo = fn->code.item[f->a].k.i, hi = fn->code.item[f->b].k.i;
    if (f->k.i > 0 ? lo >= hi : lo <= hi)
        return false;
    for (int32_t x = loop + 1; x < v->end[loop]; x++) {
        const ac_ins *i = &fn->code.item[x];
        ac_role role = i->op == AC_L_LOAD || i->op == AC_L_STORE ? fn->buf.item[i->aux].role : AC_BUF_CONST;
        if (i->op == AC_L_FOR && v->end[x] > inner)
            inner = v->end[x];
        if ((i->op == AC_L_BREAK_IF && x > inner) || i->op == AC_L_FAIL_IF)
            return false;
        if (i->op == AC_L_SET && i->aux < loop)
            return false;
        if (i->op == AC_L_LOAD && (role == AC_BUF_OUT || role == AC_BUF_INOUT))
            return false;
        if ((i->op == AC_L_STORE && role != AC_BUF_OUT) || i->op == AC_L_TILE || i->op == AC_L_REQUANT)
            return false;
    }
    return true;
}

static void copy(reverser *v, int32_t begin, int32_t end, bool turn)
{
    for (int32_t x = begin; x < end; x++) {
        ac_ins i = v->from->code.item[x];
        bool turned = turn && i.op == AC_L_FOR && may_turn(v, x);
        ac_ins_move_values(&i, v->map);
        if (turned) {
            const ac_ins *f = &v->from->code.item[x];
            int64_t lo = v->from->code.item[f->a].k.i, hi = v->from->code.item[f->b].k.i, s = f->k.i;
            int64_t last = lo + (s > 0 ? (hi - lo - 1) / s : (hi - lo + 1) / s) * s;
            i.a = ac_lb_i32(&v->b, last);
            i.b = ac_lb_i32(&v->b, s > 0 ? lo - 1 : lo + 1);
            i.k.i = -s;
            v->any = true;
        }
        v->map[x] = ac_lb_copy(&v->b, v->from, &i);
        if (i.op != AC_L_FOR)
            continue;
        copy(v, x + 1, v->end[x], turned);
        x = v->end[x];
        ac_lb_end(&v->b);
    }
}

ac_loop_fn *ac_loop_reverse(ac_ctx *cx, ac_region *region, const ac_loop_fn *fn)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    reverser v = {.from = fn, .map = AC_NEW_N(tmp, ac_x, fn->code.n), .end = ac_loop_ends(tmp, fn)};
    ac_lb_open_like(&v.b, region, fn);
    copy(&v, 1, fn->code.n, true);
    ac_region_close(tmp);
    ac_loop_fn *out = ac_lb_close(&v.b);
    return v.any ? out : NULL;
}
