/* canonical.c - one text for equal code.
 *
 * Puts values into one order that does not depend on the order of building.
 *
 * C does not define which argument of ac_lb_add(b, ac_lb_load(...), ac_lb_load(...)) is evaluated first, and compilers
 * differ. The same source must give the same bytes from every build, so ac_lb_close sorts each run of values between
 * two statements: operands before users, first operand first; operands of the following statement come last, in its
 * operands' order; other values in the order of their later uses, which is why runs are sorted from the last to the
 * first. Nothing crosses a statement, so loads and gets read the same values as before: an argument that appends
 * statements must be on a line of its own in the source. Cost: O(instructions), and sorting the rest. */
#include "ir/loop/builder.h"
#include "ir/loop/ins_fields.h"

#include <stdlib.h>

typedef struct use {
    ac_x x;
    int64_t first; /* 4 * place of the first user + which operand */
} use;

typedef struct order {
    const ac_ins *code;
    int32_t begin, end; /* the run: begin <= x < end; end is a statement, or the code's end */
    int32_t next;       /* the place of the next value of the run: runs keep their places */
    ac_x *map;          /* old number -> new one; 0: no place yet */
    int64_t *first;     /* as in use; INT64_MAX: none */
    AC_VEC(ac_x) stack; /* values waiting for their operands */
    AC_VEC(use) rest;
} order;

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
        const ac_ins *i = &o->code[x];
        const ac_x first = waits(o, i->a) ? i->a : waits(o, i->b) ? i->b : waits(o, i->c) ? i->c : 0;
        if (first) {
            ac_push(r, &o->stack, first);
            continue;
        }
        o->stack.n--;
        o->map[x] = o->next++;
    }
}

static int by_first_use(const void *a, const void *b)
{
    const use *x = a, *y = b;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : (x->x > y->x) - (x->x < y->x);
}

/* Places for the values of the run and for the statement after it, `n` is the code's end. */
static void sort_run(order *o, ac_region *r, bool *inner, int32_t n)
{
    const int32_t last = o->end < n ? o->end : n - 1;
    for (int32_t x = o->begin; x <= last; x++) {
        const ac_x operand[] = {o->code[x].a, o->code[x].b, o->code[x].c};
        for (int32_t k = 0; k < 3; k++)
            inner[operand[k]] |= operand[k] >= o->begin; /* others belong to a later run */
    }
    o->rest.n = 0;
    for (int32_t x = o->begin; x < o->end; x++)
        if (!inner[x])
            ac_push(r, &o->rest, ((use){.x = x, .first = o->first[x]}));
    if (o->rest.n > 1)
        qsort(o->rest.item, (size_t)o->rest.n, sizeof *o->rest.item, by_first_use);
    o->next = o->begin;
    for (int32_t k = 0; k < o->rest.n; k++)
        visit(o, r, o->rest.item[k].x);
    if (o->end < n) {
        const ac_ins *s = &o->code[o->end];
        visit(o, r, s->a);
        visit(o, r, s->b);
        visit(o, r, s->c);
        o->map[o->end] = o->end;
    }
    for (int32_t x = o->begin; x <= last; x++) {
        const ac_x operand[] = {o->code[x].a, o->code[x].b, o->code[x].c};
        for (int32_t k = 0; k < 3; k++)
            if (o->first[operand[k]] > 4 * (int64_t)o->map[x] + k)
                o->first[operand[k]] = 4 * (int64_t)o->map[x] + k;
    }
}

void ac_lb_order(ac_loop_fn *fn, ac_region *r)
{
    const int32_t n = fn->code.n;
    order o = {.code = fn->code.item, .map = AC_NEW_N(r, ac_x, n), .first = AC_NEW_N(r, int64_t, n)};
    bool *inner = AC_NEW_N(r, bool, n); /* an operand of a value of its own run, or of the statement after the run */
    for (int32_t x = 0; x < n; x++)
        o.first[x] = INT64_MAX;
    for (int32_t end = n; end > 0; end = o.begin - 1) { /* 0 is not an instruction; it acts like a statement before all
                                                         * others */
        o.end = end;
        for (o.begin = end; o.begin > 1 && ac_lop_class((ac_lop)o.code[o.begin - 1].op) == 'V'; o.begin--) {
        }
        sort_run(&o, r, inner, n);
    }
    ac_ins *out = AC_NEW_N(r, ac_ins, n);
    for (int32_t x = 1; x < n; x++) {
        ac_ins i = o.code[x];
        ac_ins_move_values(&i, o.map);
        out[o.map[x]] = i;
    }
    fn->code.item = out;
    fn->code.cap = n;
}
