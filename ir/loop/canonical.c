/* canonical.c - one text for equal code.
 *
 * One order of values, whatever order they were built in.
 *
 * C does not say which argument of ac_lb_add(b, ac_lb_load(...), ac_lb_load(...)) is called first, and compilers
 * differ. The same source must give the same bytes from every build, so ac_lb_close sorts each run of values between
 * two statements: operands before users, first operand first; what the following statement uses comes last, in its
 * operands' order; the rest by age. Nothing crosses a statement, so loads and gets still see what they saw. Cost:
 * O(instructions). */
#include "ir/loop/builder.h"
#include "ir/loop/ins_fields.h"

typedef struct order {
    ac_loop_fn *fn;
    ac_ins *out;
    int32_t n;
    int32_t begin, end; /* the run: begin <= x < end */
    ac_x *map;          /* old number -> new one; 0: not written yet */
    AC_VEC(ac_x) stack; /* values waiting for their operands */
} order;

static void emit(order *o, ac_x x)
{
    ac_ins i = o->fn->code.item[x];
    ac_ins_move_values(&i, o->map);
    o->map[x] = o->n;
    o->out[o->n++] = i;
}

static bool waits(const order *o, ac_x x)
{
    return x >= o->begin && x < o->end && !o->map[x];
}

/* x after its operands; a stack of its own because chains can be as long as the function. */
static void visit(order *o, ac_region *r, ac_x x)
{
    if (!waits(o, x))
        return;
    ac_push(r, &o->stack, x);
    while (o->stack.n) {
        x = o->stack.item[o->stack.n - 1];
        const ac_ins *i = &o->fn->code.item[x];
        ac_x first = waits(o, i->a) ? i->a : waits(o, i->b) ? i->b : waits(o, i->c) ? i->c : 0;
        if (first) {
            ac_push(r, &o->stack, first);
            continue;
        }
        o->stack.n--;
        emit(o, x);
    }
}

void ac_lb_order(ac_loop_fn *fn, ac_region *r)
{
    size_t n = (size_t)fn->code.n;
    order o = {.fn = fn, .out = AC_NEW_N(r, ac_ins, n), .n = 1, .map = AC_NEW_N(r, ac_x, n)};
    bool *inner = AC_NEW_N(r, bool, n); /* an operand of a value of its own run, or of the statement after the run */
    for (o.begin = 1; o.begin < fn->code.n; o.begin = o.end + 1) {
        for (o.end = o.begin; o.end < fn->code.n && ac_lop_class((ac_lop)fn->code.item[o.end].op) == 'V'; o.end++) {
        }
        for (int32_t x = o.begin; x <= o.end && x < fn->code.n; x++) {
            const ac_ins *i = &fn->code.item[x];
            inner[i->a] = inner[i->b] = inner[i->c] = true;
        }
        for (int32_t x = o.begin; x < o.end; x++)
            if (!inner[x])
                visit(&o, r, x);
        if (o.end == fn->code.n)
            break;
        const ac_ins *s = &fn->code.item[o.end];
        visit(&o, r, s->a);
        visit(&o, r, s->b);
        visit(&o, r, s->c);
        emit(&o, o.end);
    }
    fn->code.item = o.out;
    fn->code.n = o.n;
    fn->code.cap = (int32_t)n;
}
