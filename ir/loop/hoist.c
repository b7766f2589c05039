/* hoist.c - moves loop-invariant values out of loops.
 *
 * Example:
 *
 *     for oy                             %8 = mul %7 %2          (uses nothing of the loop over ky)
 *       for ky                     =>    for oy
 *         %8 = mul %7 %2                   for ky
 *
 * Moved: pure instructions that cannot fail (no integer division unless by a constant other than 0), in front of the
 * outermost loop that computes none of their operands. Moving out of an IF speculates, which is harmless for pure code,
 * and only happens when a loop is left on the way. GETs and LOADs stay: a variable or memory may change.
 *
 * Method: every instruction has a home, the block it must be in: the innermost home of its operands, when that is
 * outside of a loop around it. Blocks are numbered by the instruction that opens them; 0 is the function. Cost:
 * O(instructions * depth). */
#include "ir/loop/builder.h"
#include "ir/loop/ins_fields.h"

typedef struct hoister {
    const ac_loop_fn *fn;
    int32_t *home;         /* by instruction: the block it will be in */
    int32_t *depth;        /* by block */
    int32_t *parent;       /* by block */
    int32_t *first, *next; /* by FOR: list of the values moved in front of it, oldest first */
    int32_t *last;
} hoister;

static bool may_move(const hoister *h, const ac_ins *i)
{
    ac_lop op = (ac_lop)i->op;
    if (!ac_lop_pure(op))
        return false;
    if ((op != AC_L_DIV && op != AC_L_MOD) || ac_dtype_is_float((ac_dtype)i->dtype))
        return true;
    const ac_ins *by = &h->fn->code.item[i->b];
    return by->op == AC_L_CONST && by->k.i;
}

/* The block that will define x; for a loop variable, the loop itself. */
static int32_t home_of(const hoister *h, ac_x x)
{
    return h->fn->code.item[x].op == AC_L_FOR ? x : h->home[x];
}

/* The loop that instruction i of block `here` moves in front of, or 0. */
static int32_t leave_to(const hoister *h, const ac_ins *i, int32_t here)
{
    const ac_x use[3] = {i->a, i->b, i->c};
    int32_t need = 0, target = 0;
    for (int k = 0; k < 3; k++)
        if (use[k] && h->depth[home_of(h, use[k])] > h->depth[need])
            need = home_of(h, use[k]);
    for (int32_t block = here; block != need; block = h->parent[block])
        if (h->fn->code.item[block].op == AC_L_FOR)
            target = block;
    return target;
}

static void plan(hoister *h, ac_region *r)
{
    AC_VEC(int32_t) open = {0};
    ac_push(r, &open, 0);
    for (int32_t x = 1; x < h->fn->code.n; x++) {
        const ac_ins *i = &h->fn->code.item[x];
        char cls = ac_lop_class((ac_lop)i->op);
        if (cls == 'C' || cls == 'E')
            open.n--;
        int32_t here = open.item[open.n - 1], target = may_move(h, i) ? leave_to(h, i, here) : 0;
        h->home[x] = target ? h->parent[target] : here;
        if (target && h->last[target])
            h->next[h->last[target]] = x;
        else if (target)
            h->first[target] = x;
        if (target)
            h->last[target] = x;
        if (cls == 'O' || cls == 'E') {
            h->parent[x] = here;
            h->depth[x] = h->depth[here] + 1;
            ac_push(r, &open, x);
        }
    }
}

static void emit(const hoister *h, ac_loop_fn *to, ac_region *r, ac_x *map, int32_t x)
{
    ac_ins i = h->fn->code.item[x];
    ac_ins_move_values(&i, map);
    map[x] = to->code.n;
    ac_push(r, &to->code, i);
}

ac_loop_fn *ac_loop_hoist(ac_region *region, ac_region *tmp, const ac_loop_fn *fn)
{
    size_t n = (size_t)fn->code.n;
    hoister h = {fn,
                 AC_NEW_N(tmp, int32_t, n),
                 AC_NEW_N(tmp, int32_t, n),
                 AC_NEW_N(tmp, int32_t, n),
                 AC_NEW_N(tmp, int32_t, n),
                 AC_NEW_N(tmp, int32_t, n),
                 AC_NEW_N(tmp, int32_t, n)};
    plan(&h, tmp);
    ac_loop_fn *to = ac_copy(region, fn, sizeof *fn);
    to->code.item = NULL;
    to->code.n = to->code.cap = 0;
    ac_push(region, &to->code, ((ac_ins){0}));
    ac_x *map = AC_NEW_N(tmp, ac_x, n);
    for (int32_t x = 1; x < fn->code.n; x++) {
        for (int32_t m = h.first[x]; m; m = h.next[m])
            emit(&h, to, region, map, m);
        if (!map[x])
            emit(&h, to, region, map, x);
    }
    return to;
}
