/* forest.c - trees with any comparison become tables with one (forest.h). Nodes are laid out breadth first, the two
 * children of a node side by side and after it. */
#include "import/onnx/ml/forest.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 1 << 26, MOST_WEIGHTS = 1 << 27, FEW_WEIGHTS = 1 << 16, MOST_SPREAD = 16 };

/* A place of the tables, and which node of the file is to be there (-1: it is done). */
typedef struct place {
    int64_t of, feature, first;
    double split;
} place;

typedef struct layout {
    ac_onx_node *n;
    ac_forest *f;
    AC_VEC(place) at;
    int64_t *first; /* by node of the file: where its children are; 0: not laid out yet */
    ac_dtype type;
} layout;

static bool infinite_below(double v)
{
    return isinf(v) && v < 0;
}

/* The greatest value of the type below v; NaN, which no value is at most, if none is. */
static double below(const layout *l, double v)
{
    if (isnan(v) || infinite_below(v))
        return (double)NAN;
    return l->type == AC_F32 ? (double)nextafterf((float)v, -INFINITY) : nextafter(v, -(double)INFINITY);
}

/* Two new places side by side for nodes of the file: the first where the comparison does not hold. */
static int64_t pair(layout *l, int64_t no, int64_t yes)
{
    const int64_t at = l->at.n;
    ac_push(l->n->r->cx->region, &l->at, ((place){.of = no}));
    ac_push(l->n->r->cx->region, &l->at, ((place){.of = yes}));
    return at;
}

/* Place i compares, and goes on to the pair at `first`. NaN goes to the second with `tracks`. */
static void compare(layout *l, int64_t i, int64_t feature, double split, bool tracks, int64_t first)
{
    l->at.item[i] = (place){.of = -1, .feature = tracks ? ~feature : feature, .first = first, .split = split};
}

/* Place i looks for x, which is at most v[count - 1], among v: sorted, each once. NaN ends at `in`. */
static void search(layout *l, int64_t i, const ac_tree_node *t, const double *v, int64_t count, int64_t in, int64_t out)
{
    if (count == 1) { /* at most v: is it below? */
        compare(l, i, t->feature, below(l, v[0]), false, pair(l, in, out));
        return;
    }
    const int64_t half = count / 2, first = pair(l, -1, -1);
    compare(l, i, t->feature, v[half - 1], false, first);
    search(l, first, t, v + half, count - half, in, out);
    search(l, first + 1, t, v, half, in, out);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* x is one of some numbers. */
static void member(layout *l, int64_t i, const ac_tree_node *t, const double *v, int64_t count, int64_t in, int64_t out)
{
    double *own = AC_NEW_N(l->n->r->cx->region, double, count + 1);
    int64_t k = 0;
    memcpy(own, v, (size_t)count * sizeof *own);
    qsort(own, (size_t)count, sizeof *own, by_value);
    for (int64_t j = 0; j < count; j++)
        if (!k || own[k - 1] < own[j])
            own[k++] = own[j];
    const int64_t first = pair(l, out, k ? -1 : in);
    compare(l, i, t->feature, k ? own[k - 1] : (double)NAN, t->tracks && t->mode != AC_BRANCH_NEQ, first);
    if (k)
        search(l, first + 1, t, own, k, in, out);
}

static void branch(layout *l, int64_t i, const ac_tree_node *t)
{
    const double s = t->split;
    const int64_t count = t->mode == AC_BRANCH_MEMBER ? t->count : !isnan(s);
    const double *set = t->mode == AC_BRANCH_MEMBER && count ? l->f->member + t->from : &s; /* none: no list either */
    switch (t->mode) {
    case AC_BRANCH_LEQ:
    case AC_BRANCH_LT:
        compare(l, i, t->feature, t->mode == AC_BRANCH_LEQ ? s : below(l, s), t->tracks, pair(l, t->no, t->yes));
        return;
    case AC_BRANCH_GEQ:
    case AC_BRANCH_GT:
        if (isnan(s)) /* nothing is greater */
            compare(l, i, t->feature, s, t->tracks, pair(l, t->no, t->yes));
        else
            compare(l, i, t->feature, t->mode == AC_BRANCH_GT ? s : below(l, s), !t->tracks, pair(l, t->yes, t->no));
        return;
    case AC_BRANCH_EQ:
    case AC_BRANCH_MEMBER:
        member(l, i, t, set, count, t->yes, t->no);
        return;
    case AC_BRANCH_NEQ:
        member(l, i, t, set, count, t->no, t->yes);
        return;
    case AC_BRANCH_LEAF:
        break;
    }
}

/* Place i is its node of the file; a second place of the same node shares its children. */
static int lay(layout *l, int64_t i)
{
    const place p = l->at.item[i];
    if (p.of < 0)
        return AC_OK;
    const ac_tree_node *t = &l->f->node[p.of];
    if (t->mode == AC_BRANCH_LEAF) {
        l->at.item[i] = (place){.of = p.of, .first = i, .split = (double)NAN};
        return AC_OK;
    }
    if (!l->first[p.of]) {
        branch(l, i, t);
        l->first[p.of] = i + 1;
        return l->at.n > MOST_NODES ? ac_cannot(&l->n->b, "its trees have more than %d nodes", MOST_NODES) : AC_OK;
    }
    const place same = l->at.item[l->first[p.of] - 1];
    if (same.first <= i)
        return ac_error(l->n->r->cx, l->n->at, E0014, "node %" PRId64 " of its trees is in a cycle, or has two parents",
                        p.of);
    l->at.item[i] = same;
    return AC_OK;
}

/* ------------------------------------------------------------------ tables */

static ac_tensor *whole(layout *l, const char *what, ac_dtype type, int64_t count, const int64_t *v)
{
    ac_ctx *cx = l->n->r->cx;
    const int64_t size = ac_dtype_size(type, 1);
    uint8_t *own = ac_alloc_n(cx->region, (uint64_t)count + 1, (uint64_t)size);
    for (int64_t i = 0; i < count; i++)
        ac_dtype_put_int(type, own + i * size, v[i]);
    return ac_tensor_const(l->n->r->g, ac_internf(cx, "%s_%s", l->n->b.base, what), type, 1, &count, own);
}

static ac_tensor *real(layout *l, const char *what, int32_t rank, const int64_t *dim, const double *v)
{
    ac_ctx *cx = l->n->r->cx;
    const int64_t count = rank == 2 ? dim[0] * dim[1] : dim[0], size = ac_dtype_size(l->type, 1);
    uint8_t *own = ac_alloc_n(cx->region, (uint64_t)count + 1, (uint64_t)size);
    for (int64_t i = 0; i < count; i++)
        ac_dtype_put_num(l->type, own + i * size, v[i]);
    return ac_tensor_const(l->n->r->g, ac_internf(cx, "%s_%s", l->n->b.base, what), l->type, rank, dim, own);
}

/* The narrowest type for these numbers. */
static ac_dtype narrow(const int64_t *v, int64_t count)
{
    int64_t lo = 0, hi = 0;
    for (int64_t i = 0; i < count; i++) {
        lo = v[i] < lo ? v[i] : lo;
        hi = v[i] > hi ? v[i] : hi;
    }
    return lo >= 0 && hi <= UINT8_MAX           ? AC_U8
           : lo >= INT16_MIN && hi <= INT16_MAX ? AC_I16
           : lo >= 0 && hi <= UINT16_MAX        ? AC_U16
                                                : AC_I32;
}

/* The neutral value of joining trees. */
static double neutral(const ac_forest *f)
{
    return f->how == AC_W_ADD ? 0 : f->how == AC_W_MIN ? (double)INFINITY : -(double)INFINITY;
}

static void join(const ac_forest *f, double *sum, double w)
{
    *sum = f->how == AC_W_ADD ? *sum + w : (f->how == AC_W_MIN ? w < *sum : w > *sum) ? w : *sum;
}

/* Weights by place: one target, or a target for each leaf. */
static int one_each(layout *l, ac_tensor **weight, ac_tensor **leaf)
{
    const int64_t count = l->at.n;
    double *w = AC_NEW_N(l->n->r->cx->region, double, count + 1);
    int64_t *to = AC_NEW_N(l->n->r->cx->region, int64_t, count + 1);
    for (int64_t i = 0; i < count; i++) {
        const place *p = &l->at.item[i];
        w[i] = p->of >= 0 ? neutral(l->f) : 0;
        for (int64_t k = 0; p->of >= 0 && k < l->f->node[p->of].count; k++) {
            const ac_leaf_weight *x = &l->f->weight[l->f->node[p->of].from + k];
            to[i] = x->target;
            join(l->f, &w[i], x->w);
        }
    }
    *weight = real(l, "weight", 1, &count, w);
    *leaf = l->f->targets > 1 ? whole(l, "leaf", narrow(to, count), count, to) : NULL;
    return AC_OK;
}

/* A row of weights for each leaf of the file. */
static int row_each(layout *l, ac_tensor **weight, ac_tensor **leaf)
{
    const ac_forest *f = l->f;
    int64_t rows = 0, all, *number = AC_NEW_N(l->n->r->cx->region, int64_t, f->n_nodes + 1);
    int64_t *to = AC_NEW_N(l->n->r->cx->region, int64_t, l->at.n + 1);
    for (int64_t i = 0; i < f->n_nodes; i++)
        number[i] = f->node[i].mode == AC_BRANCH_LEAF ? rows++ : 0;
    if (!ac_mul_ok(rows, f->targets, &all) || all > MOST_WEIGHTS ||
        (all > FEW_WEIGHTS && all / MOST_SPREAD > f->n_weights))
        return ac_cannot(&l->n->b, "it has %" PRId64 " leaves with %" PRId64 " targets each", rows, f->targets);
    double *w = AC_NEW_N(l->n->r->cx->region, double, all + 1);
    for (int64_t i = 0; i < all; i++)
        w[i] = neutral(f);
    for (int64_t i = 0; i < f->n_nodes; i++)
        for (int64_t k = 0; f->node[i].mode == AC_BRANCH_LEAF && k < f->node[i].count; k++) {
            const ac_leaf_weight *x = &f->weight[f->node[i].from + k];
            join(f, &w[number[i] * f->targets + x->target], x->w);
        }
    for (int64_t i = 0; i < l->at.n; i++)
        to[i] = l->at.item[i].of >= 0 ? number[l->at.item[i].of] : 0;
    *weight = real(l, "weight", 2, (int64_t[]){rows, f->targets}, w);
    *leaf = whole(l, "leaf", narrow(to, l->at.n), l->at.n, to);
    return AC_OK;
}

static bool many_each(const ac_forest *f)
{
    for (int64_t i = 0; i < f->n_nodes && f->targets > 1; i++)
        if (f->node[i].mode == AC_BRANCH_LEAF && f->node[i].count > 1)
            return true;
    return false;
}

ac_tensor *ac_forest_tables(ac_onx_node *n, ac_forest *f, ac_tensor *x)
{
    ac_region *region = n->r->cx->region;
    layout l = {.n = n, .f = f, .type = x->dtype};
    ac_tensor *in[7];
    ac_attrs a;
    l.first = AC_NEW_N(region, int64_t, f->n_nodes + 1);
    int64_t *root = AC_NEW_N(region, int64_t, f->n_trees + 1);
    for (int64_t i = 0; i < f->n_trees; i++) {
        root[i] = l.at.n;
        ac_push(region, &l.at, ((place){.of = f->root[i]}));
    }
    for (int64_t i = 0; i < l.at.n; i++)
        if (lay(&l, i) != AC_OK)
            return NULL;
    const int64_t count = l.at.n;
    int64_t *feature = AC_NEW_N(region, int64_t, count + 1), *first = AC_NEW_N(region, int64_t, count + 1);
    double *split = AC_NEW_N(region, double, count + 1);
    for (int64_t i = 0; i < count; i++) {
        feature[i] = l.at.item[i].feature;
        first[i] = l.at.item[i].first;
        split[i] = l.at.item[i].split;
    }
    if ((many_each(f) ? row_each : one_each)(&l, &in[5], &in[6]) != AC_OK)
        return NULL;
    in[0] = x;
    in[1] = whole(&l, "feature", narrow(feature, count), count, feature);
    in[2] = real(&l, "split", 1, &count, split);
    in[3] = whole(&l, "first", narrow(first, count), count, first);
    in[4] = whole(&l, "root", narrow(root, f->n_trees), f->n_trees, root);
    ac_attrs_init(AC_OP_TREE_ENSEMBLE, &a);
    a.trees.targets = (int32_t)f->targets;
    a.trees.reduction = f->how;
    return ac_make_op(&n->b, AC_OP_TREE_ENSEMBLE, in, in[6] ? 7 : 6, &a, AC_NONE);
}
