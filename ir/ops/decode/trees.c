/* trees.c - the tables of TREE_ENSEMBLE, checked. */
#include "ir/ops/decode/trees.h"

#include <inttypes.h>
#include <math.h>

enum { MOST_DEPTH = 1 << 12 };

/* Bytes of operand i: a constant vector of this many elements (-1: any number) and of whole numbers, or of x's type. */
static const void *table(ac_ctx *cx, ac_node *n, int32_t i, bool whole, int64_t count)
{
    ac_tensor *t = n->in[i];
    const bool fits = whole ? t->dtype == AC_I32 || t->dtype == AC_I16 || t->dtype == AC_U16 || t->dtype == AC_U8
                            : t->dtype == n->in[AC_TREES_X]->dtype;
    if (!ac_tensor_is_const(t))
        return (void)ac_error(cx, n->at, E0203, "table '%s' is not a constant", t->name), NULL;
    if (!fits)
        return (void)ac_error(cx, n->at, E0105, "table '%s' is %s", t->name, ac_dtype_name(t->dtype)), NULL;
    if (count >= 0 && (t->rank != 1 || t->dim[0] != count))
        return (void)ac_error(cx, n->at, E0104, "table '%s' is %s, expected [%" PRId64 "]", t->name,
                              ac_shape_str(cx, t), count),
               NULL;
    return ac_tensor_force(cx, t);
}

/* Depth of each node, from the last one back. */
static int32_t *depths(ac_ctx *cx, ac_node *n, int64_t count, ac_trees *t)
{
    const ac_tensor *const *in = (const ac_tensor *const *)n->in;
    const int64_t features = in[AC_TREES_X]->dim[1];
    const void *feature = table(cx, n, AC_TREES_FEATURE, true, count),
               *split = table(cx, n, AC_TREES_SPLIT, false, count), *first = table(cx, n, AC_TREES_FIRST, true, count);
    if (!feature || !split || !first)
        return NULL;
    int32_t *depth = AC_NEW_N(cx->region, int32_t, count + 1);
    for (int64_t i = count - 1; i >= 0; i--) {
        const int64_t f = ac_dtype_get_int(in[AC_TREES_FEATURE]->dtype, feature, i),
                      to = ac_dtype_get_int(in[AC_TREES_FIRST]->dtype, first, i);
        const double at = ac_dtype_get_num(in[AC_TREES_SPLIT]->dtype, split, i);
        const bool leaf = to == i;
        t->tracks |= f < 0;
        if ((f < 0 ? ~f : f) >= features || to < i || (!leaf && to + 1 >= count) || (leaf && (!isnan(at) || f < 0)))
            return (void)ac_error(cx, n->at, E0103,
                                  "node %" PRId64 " needs feature %" PRId64 " of %" PRId64 ", splits at %g and goes to "
                                  "%" PRId64 " of %" PRId64,
                                  i, f, features, at, to, count),
                   NULL;
        if (!leaf)
            depth[i] = 1 + (depth[to] > depth[to + 1] ? depth[to] : depth[to + 1]);
        if (depth[i] > MOST_DEPTH)
            return (void)ac_error(cx, n->at, E0014, "a path is longer than %d nodes", MOST_DEPTH), NULL;
    }
    return depth;
}

/* Checks the weights, and the one of each leaf. */
static int check_weights(ac_ctx *cx, ac_node *n, int64_t count)
{
    const ac_tensor *w = n->in[AC_TREES_WEIGHT], *leaf = ac_node_in(n, AC_TREES_LEAF);
    const int64_t targets = n->attrs.trees.targets;
    const bool rows = w->rank == 2;
    if (rows ? !leaf || w->dim[1] != targets || w->dim[0] < 1 : w->rank != 1 || w->dim[0] != count)
        return ac_error(cx, n->at, E0104, "weights '%s' are %s, for %" PRId64 " nodes and %" PRId64 " targets", w->name,
                        ac_shape_str(cx, w), count, targets);
    if (!leaf && targets > 1)
        return ac_error(cx, n->at, E0102, "with %" PRId64 " targets it needs the target of each leaf", targets);
    if (!table(cx, n, AC_TREES_WEIGHT, false, -1))
        return AC_FAIL;
    if (!leaf)
        return AC_OK;
    const void *v = table(cx, n, AC_TREES_LEAF, true, count);
    for (int64_t i = 0; v && i < count; i++) {
        const int64_t at = ac_dtype_get_int(leaf->dtype, v, i);
        if (at < 0 || at >= (rows ? w->dim[0] : targets))
            return ac_error(cx, n->at, E0103, "leaf %" PRId64 " counts for %" PRId64 " of %" PRId64, i, at,
                            rows ? w->dim[0] : targets);
    }
    return v ? AC_OK : AC_FAIL;
}

int ac_trees_read(ac_ctx *cx, ac_node *n, ac_trees *out)
{
    const ac_tensor *split = n->in[AC_TREES_SPLIT], *root = n->in[AC_TREES_ROOT];
    *out = (ac_trees){.nodes = split->rank == 1 ? split->dim[0] : 0, .trees = root->rank == 1 ? root->dim[0] : 0};
    if (out->nodes < 1 || out->trees < 1 || n->attrs.trees.targets < 1)
        return ac_error(cx, n->at, E0104, "splits '%s' are %s, roots '%s' are %s, targets %d", split->name,
                        ac_shape_str(cx, split), root->name, ac_shape_str(cx, root), n->attrs.trees.targets);
    const int32_t *depth = depths(cx, n, out->nodes, out);
    const void *roots = depth ? table(cx, n, AC_TREES_ROOT, true, out->trees) : NULL;
    if (!roots)
        return AC_FAIL;
    out->depth = AC_NEW_N(cx->region, int32_t, out->trees);
    for (int64_t i = 0; i < out->trees; i++) {
        const int64_t at = ac_dtype_get_int(root->dtype, roots, i);
        if (at < 0 || at >= out->nodes)
            return ac_error(cx, n->at, E0103, "the root of tree %" PRId64 " is node %" PRId64 " of %" PRId64, i, at,
                            out->nodes);
        out->depth[i] = depth[at];
    }
    return check_weights(cx, n, out->nodes);
}
