/* trees.c - lowers TREE_ENSEMBLE: decision trees over tables (ir/ops/decode/trees.h).
 *
 *     for each row, for eight trees at a time: as many steps as the deepest of them has, all eight in each;
 *         at = first[at] + (x[feature[at]] <= split[at])          leaves point to themselves
 *     then their leaves' weights are added up, one tree after the other
 *
 * No branch depends on the data: while one walk waits for its next node, seven others continue. On firmware, which has
 * no such latency, one tree is walked at a time, and only to its leaf. Sums are in the order of the trees, in x's
 * type. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/ops/decode/trees.h"

#include <math.h>

enum { SIDE_BY_SIDE = 8, MOST_LOCAL = 256 };

typedef struct forest {
    ac_trees t;
    int32_t x, feature, split, first, root, weight, leaf; /* buffers; leaf -1: one target */
    int32_t sums;                                         /* a local array of targets; -1: the variable sum */
    int64_t features, targets;
    bool rows; /* a leaf has a weight for each target */
    ac_word how;
    ac_x sum;
} forest;

/* An integer of a table, as i32. */
static ac_x whole(ac_lb *b, int32_t buf, ac_x at)
{
    return ac_lb_cast(b, ac_lb_load(b, buf, at, 1), AC_I32);
}

/* The successor of node `at`; base: of the row in x. */
static ac_x step(ac_lower *L, const forest *f, ac_x base, ac_x at)
{
    ac_lb *b = &L->b;
    ac_x feature = whole(b, f->feature, at), tracks = 0;
    if (f->t.tracks) {
        tracks = ac_lb_lt(b, feature, ac_lb_i32(b, 0));
        feature = ac_lb_select(b, tracks, ac_lb_not(b, feature), feature);
    }
    const ac_x v = ac_lb_load(b, f->x, ac_lb_add(b, base, feature), 1);
    ac_x second = ac_lb_le(b, v, ac_lb_load(b, f->split, at, 1));
    if (f->t.tracks)
        second = ac_lb_or(b, second, ac_lb_and(b, tracks, ac_lb_ne(b, v, v)));
    return ac_lb_add(b, whole(b, f->first, at), ac_lb_cast(b, second, AC_I32));
}

static ac_x joined(const forest *f, ac_lb *b, ac_x sum, ac_x w)
{
    if (f->how == AC_W_ADD)
        return ac_lb_add(b, sum, w);
    return f->how == AC_W_MIN ? ac_lb_min(b, w, sum) : ac_lb_max(b, w, sum);
}

/* Adds the weights of leaf `at` to the sums. */
static void count(ac_lower *L, const forest *f, ac_x at)
{
    ac_lb *b = &L->b;
    if (f->sums < 0) {
        ac_lb_set(b, f->sum, joined(f, b, ac_lb_get(b, f->sum), ac_lb_load(b, f->weight, at, 1)));
        return;
    }
    const ac_x leaf = whole(b, f->leaf, at);
    if (!f->rows) {
        const ac_x sum = joined(f, b, ac_lb_load(b, f->sums, leaf, 1), ac_lb_load(b, f->weight, at, 1));
        ac_lb_store(b, f->sums, leaf, sum);
        return;
    }
    const ac_x from = ac_lo_scaled(b, leaf, f->targets), c = ac_lb_for_n(b, "c", f->targets);
    const ac_x w = ac_lb_load(b, f->weight, ac_lb_add(b, from, c), 1);
    ac_lb_store(b, f->sums, c, joined(f, b, ac_lb_load(b, f->sums, c, 1), w));
    ac_lb_end(b);
}

/* Trees from .. from + many * groups - 1, `many` at a time. */
static void walk(ac_lower *L, const forest *f, ac_x base, int64_t from, int64_t groups, int32_t many)
{
    ac_lb *b = &L->b;
    const bool to_leaf = L->target->firmware;
    int32_t *deep = AC_NEW_N(L->region, int32_t, groups), most = 0;
    ac_x at[SIDE_BY_SIDE];
    bool same = true;
    for (int64_t g = 0; g < groups; g++) {
        for (int32_t k = 0; k < many; k++)
            deep[g] = f->t.depth[from + g * many + k] > deep[g] ? f->t.depth[from + g * many + k] : deep[g];
        most = deep[g] > most ? deep[g] : most;
        same &= deep[g] == deep[0];
    }
    const ac_x g = ac_lb_for_n(b, "g", groups), tree = ac_lb_add(b, ac_lb_i32(b, from), ac_lo_scaled(b, g, many));
    for (int32_t k = 0; k < many; k++)
        at[k] = ac_lb_var(b, "at", whole(b, f->root, ac_lb_add(b, tree, ac_lb_i32(b, k))));
    ac_x levels = ac_lb_i32(b, most);
    if (!same && !to_leaf)
        levels = ac_lb_load(b, ac_lo_table(L, "depth", AC_I32, groups, deep), g, 1);
    ac_lb_for(b, "level", ac_lb_i32(b, 0), levels, 1, AC_MARK_SERIAL);
    ac_x next[SIDE_BY_SIDE];
    for (int32_t k = 0; k < many; k++)
        next[k] = step(L, f, base, ac_lb_get(b, at[k]));
    if (to_leaf)
        ac_lb_break_if(b, ac_lb_eq(b, next[0], ac_lb_get(b, at[0])));
    for (int32_t k = 0; k < many; k++)
        ac_lb_set(b, at[k], next[k]);
    ac_lb_end(b);
    for (int32_t k = 0; k < many; k++)
        count(L, f, ac_lb_get(b, at[k]));
    ac_lb_end(b);
}

/* The initial value of a target, and its value without leaves. */
static ac_x start(const forest *f, ac_lb *b, ac_dtype d)
{
    return ac_lb_num(b, d, f->how == AC_W_ADD ? 0 : f->how == AC_W_MIN ? (double)INFINITY : -(double)INFINITY);
}

static ac_x finished(const forest *f, ac_lb *b, ac_dtype d, ac_x sum)
{
    const ac_x none = start(f, b, d);
    return f->how == AC_W_ADD ? sum : ac_lb_select(b, ac_lb_eq(b, sum, none), ac_lb_num(b, d, 0), sum);
}

static void row(ac_lower *L, forest *f, ac_x i, ac_dtype d)
{
    ac_lb *b = &L->b;
    const int32_t many = L->target->firmware ? 1 : SIDE_BY_SIDE;
    const int64_t groups = f->t.trees / many, rest = f->t.trees % many;
    const ac_x base = ac_lo_scaled(b, i, f->features);
    ac_x index[2] = {i, ac_lb_i32(b, 0)};
    if (f->sums < 0) {
        f->sum = ac_lb_var(b, "sum", start(f, b, d));
    } else {
        const ac_x first = start(f, b, d);
        ac_lb_store(b, f->sums, ac_lb_for_n(b, "c", f->targets), first);
        ac_lb_end(b);
    }
    if (groups)
        walk(L, f, base, 0, groups, many);
    if (rest)
        walk(L, f, base, groups * many, 1, (int32_t)rest);
    if (f->sums < 0) {
        ac_lo_result(L, finished(f, b, d, ac_lb_get(b, f->sum)), index, 1);
        return;
    }
    index[1] = ac_lb_for_n(b, "c", f->targets);
    ac_lo_result(L, finished(f, b, d, ac_lb_load(b, f->sums, index[1], 1)), index, 1);
    ac_lb_end(b);
}

int ac_lo_tree_ensemble(ac_lower *L)
{
    ac_node *n = (ac_node *)(uintptr_t)L->node;
    ac_tensor *x = n->in[AC_TREES_X], *leaf = ac_node_in(n, AC_TREES_LEAF);
    forest f = {.features = x->dim[1], .targets = n->attrs.trees.targets, .leaf = -1, .sums = -1};
    AC_TRY(ac_trees_read(L->cx, n, &f.t));
    f.rows = n->in[AC_TREES_WEIGHT]->rank == 2;
    f.how = n->attrs.trees.reduction;
    f.x = ac_lo_operand(L, x);
    f.feature = ac_lo_operand(L, n->in[AC_TREES_FEATURE]);
    f.split = ac_lo_operand(L, n->in[AC_TREES_SPLIT]);
    f.first = ac_lo_operand(L, n->in[AC_TREES_FIRST]);
    f.root = ac_lo_operand(L, n->in[AC_TREES_ROOT]);
    f.weight = ac_lo_operand(L, n->in[AC_TREES_WEIGHT]);
    if (leaf) {
        f.leaf = ac_lo_operand(L, leaf);
        f.sums = f.targets <= MOST_LOCAL ? ac_lo_local(L, "sums", x->dtype, f.targets)
                                         : ac_lo_line(L, "sums", x->dtype, f.targets);
    }
    row(L, &f, ac_lb_for_each(&L->b, "row", x->dim[0]), x->dtype);
    ac_lb_end(&L->b);
    return AC_OK;
}
