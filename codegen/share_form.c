/* share_form.c - rewrites a function so that every use has its own constant; see share_groups.h. */
#include "codegen/share_groups.h"
#include "ir/loop/ins_fields.h"

static bool is_constant(const ac_loop_fn *fn, ac_x x)
{
    return x > 0 && fn->code.item[x].op == AC_L_CONST;
}

/* A copy of constant x, for one use. */
static ac_x constant(ac_region *r, const ac_loop_fn *from, ac_x x, ac_loop_fn *to)
{
    if (!is_constant(from, x))
        return 0;
    ac_ins i = from->code.item[x];
    i.flags &= (uint8_t)~AC_F_SHAPE; /* nothing folds it any more */
    ac_push(r, &to->code, i);
    return to->code.n - 1;
}

const ac_loop_fn *ac_share_form(ac_region *r, const ac_loop_fn *fn)
{
    ac_loop_fn *to = AC_NEW(r, ac_loop_fn);
    *to = *fn;
    to->code.item = NULL;
    to->code.n = to->code.cap = 0;
    ac_x *a = AC_NEW_N(r, ac_x, fn->code.n), *b = AC_NEW_N(r, ac_x, fn->code.n), *c = AC_NEW_N(r, ac_x, fn->code.n);
    ac_push(r, &to->code, fn->code.item[0]);
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        a[x] = constant(r, fn, i->a, to);
        b[x] = constant(r, fn, i->b, to);
        c[x] = constant(r, fn, i->c, to);
    }
    ac_x *map = AC_NEW_N(r, ac_x, fn->code.n);
    for (ac_x x = 1; x < fn->code.n; x++) {
        ac_ins i = fn->code.item[x];
        if (i.op == AC_L_CONST)
            continue;
        ac_ins_move_values(&i, map);
        i.a = a[x] ? a[x] : i.a;
        i.b = b[x] ? b[x] : i.b;
        i.c = c[x] ? c[x] : i.c;
        map[x] = to->code.n;
        ac_push(r, &to->code, i);
    }
    return to;
}
