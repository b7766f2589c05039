/* tree_nodes.c - TreeEnsemble, TreeEnsembleRegressor and TreeEnsembleClassifier of ai.onnx.ml: the lists of their
 * attributes become a forest (forest.h), its sums the results. */
#include "import/onnx/ml/forest.h"
#include "import/onnx/ml/labels.h"
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ lists */

typedef struct whole_list {
    const int64_t *v;
    int64_t n;
} whole_list;

typedef struct real_list {
    double *v;
    int64_t n;
} real_list;

static int wholes(ac_onx_node *n, const char *name, whole_list *out)
{
    const ac_onx_attr *a = ac_onx_attr_of(n, name);
    *out = (whole_list){NULL, 0};
    if (a)
        out->v = ac_pb_ints(&n->r->pb, a->ints, &out->n);
    return n->r->pb.failed ? AC_FAIL : AC_OK;
}

/* The numbers of a tensor attribute. */
static int tensor_numbers(ac_onx_node *n, const char *name, real_list *out)
{
    ac_tensor *t;
    *out = (real_list){NULL, 0};
    AC_TRY(ac_onx_tensor_attr(n, name, &t));
    if (!t)
        return AC_OK;
    const void *data = ac_tensor_force(n->r->cx, t);
    if (!data)
        return AC_FAIL;
    out->n = ac_tensor_count(t);
    out->v = AC_NEW_N(n->r->cx->region, double, out->n + 1);
    for (int64_t i = 0; i < out->n; i++)
        out->v[i] = ac_dtype_is_float(t->dtype) ? ac_dtype_get_num(t->dtype, data, i)
                                                : (double)ac_dtype_get_int(t->dtype, data, i);
    return AC_OK;
}

/* The numbers of attribute `name`, or of the tensor `name`_as_tensor. */
static int reals(ac_onx_node *n, const char *name, real_list *out)
{
    int64_t count;
    const float *v = ac_onx_floats(n, name, &count);
    if (!v)
        return n->r->pb.failed ? AC_FAIL : tensor_numbers(n, ac_internf(n->r->cx, "%s_as_tensor", name), out);
    *out = (real_list){AC_NEW_N(n->r->cx->region, double, count + 1), count};
    for (int64_t i = 0; i < count; i++)
        out->v[i] = (double)v[i];
    return AC_OK;
}

static int lengths_differ(const ac_onx_node *n)
{
    return ac_error(n->r->cx, n->at, E0103, "the lists of its nodes and leaves have different lengths, or are empty");
}

/* ------------------------------------------------------------------ ai.onnx.ml 1 and 3 */

/* A node by its numbers in the file. */
typedef struct key {
    int64_t tree, node, at;
} key;

static int by_key(const void *pa, const void *pb)
{
    const key *a = pa, *b = pb;
    const int c = (a->tree > b->tree) - (a->tree < b->tree);
    return c ? c : (a->node > b->node) - (a->node < b->node);
}

static int64_t find(const key *k, int64_t count, int64_t tree, int64_t node)
{
    const key want = {tree, node, 0}, *got = bsearch(&want, k, (size_t)count, sizeof *k, by_key);
    return got ? got->at : -1;
}

static int read_modes(ac_onx_node *n, ac_forest *f)
{
    static const char *const NAMES[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE", "BRANCH_GT",
                                        "BRANCH_EQ",  "BRANCH_NEQ", "",           "LEAF"};
    ac_onx_attr *a = ac_onx_attr_of(n, "nodes_modes");
    ac_pb_list list = a ? a->strings : (ac_pb_list){.n = 0};
    ac_span word;
    if ((int64_t)list.n != f->n_nodes)
        return lengths_differ(n);
    for (int64_t i = 0; ac_pb_next(&n->r->pb, &list, &word); i++) {
        int32_t m = AC_BRANCH_LEAF;
        while (m >= 0 && (strlen(NAMES[m]) != word.n || memcmp(NAMES[m], word.p, word.n) != 0 || !word.n))
            m--;
        if (m < 0)
            return ac_error(n->r->cx, n->at, E0103, "node %" PRId64 " has mode '%.*s'", i,
                            (int)(word.n < 40 ? word.n : 40), (const char *)word.p);
        f->node[i].mode = (ac_branch)m;
    }
    return n->r->pb.failed ? AC_FAIL : AC_OK;
}

/* Roots are nodes that no node leads to, in the order of the file. */
static int find_roots(ac_onx_node *n, ac_forest *f, const int64_t *tree)
{
    bool *child = AC_NEW_N(n->r->cx->region, bool, f->n_nodes + 1);
    f->root = AC_NEW_N(n->r->cx->region, int64_t, f->n_nodes + 1);
    for (int64_t i = 0; i < f->n_nodes; i++)
        if (f->node[i].mode != AC_BRANCH_LEAF)
            child[f->node[i].yes] = child[f->node[i].no] = true;
    for (int64_t i = 0; i < f->n_nodes; i++)
        if (!child[i])
            f->root[f->n_trees++] = i;
    int64_t trees = 0;
    for (int64_t i = 0; i < f->n_nodes; i++)
        trees += i == 0 || tree[i] != tree[i - 1];
    if (f->n_trees < 1 || f->n_trees < trees)
        return ac_error(n->r->cx, n->at, E0014, "%" PRId64 " trees have %" PRId64 " roots: a cycle", trees, f->n_trees);
    return AC_OK;
}

/* The weights of leaves, side by side for each. */
static int read_weights(ac_onx_node *n, ac_forest *f, const char *prefix, const key *keys)
{
    whole_list tree, node, target;
    real_list w;
    ac_ctx *cx = n->r->cx;
    AC_TRY(wholes(n, ac_internf(cx, "%s_treeids", prefix), &tree));
    AC_TRY(wholes(n, ac_internf(cx, "%s_nodeids", prefix), &node));
    AC_TRY(wholes(n, ac_internf(cx, "%s_ids", prefix), &target));
    AC_TRY(reals(n, ac_internf(cx, "%s_weights", prefix), &w));
    if (tree.n != node.n || tree.n != target.n || tree.n != w.n || !w.n)
        return lengths_differ(n);
    int64_t *leaf = AC_NEW_N(cx->region, int64_t, w.n);
    for (int64_t i = 0; i < w.n; i++) {
        leaf[i] = find(keys, f->n_nodes, tree.v[i], node.v[i]);
        if (leaf[i] < 0 || target.v[i] < 0 || target.v[i] >= f->targets)
            return ac_error(cx, n->at, E0103,
                            "weight %" PRId64 " is of node %" PRId64 " of tree %" PRId64 " and target %" PRId64
                            ", which is not there",
                            i, node.v[i], tree.v[i], target.v[i]);
        f->node[leaf[i]].count += f->node[leaf[i]].mode == AC_BRANCH_LEAF;
    }
    for (int64_t i = 0, at = 0; i < f->n_nodes; i++) {
        f->node[i].from = at;
        at += f->node[i].count;
        f->node[i].count = 0;
    }
    f->weight = AC_NEW_N(cx->region, ac_leaf_weight, w.n);
    f->n_weights = w.n;
    for (int64_t i = 0; i < w.n; i++) {
        ac_tree_node *t = &f->node[leaf[i]];
        if (t->mode == AC_BRANCH_LEAF)
            f->weight[t->from + t->count++] = (ac_leaf_weight){target.v[i], w.v[i]};
    }
    return AC_OK;
}

static int read_nodes(ac_onx_node *n, ac_forest *f, const char *prefix, int64_t features)
{
    whole_list tree, node, feature, yes, no, missing;
    real_list split;
    ac_ctx *cx = n->r->cx;
    AC_TRY(wholes(n, "nodes_treeids", &tree));
    AC_TRY(wholes(n, "nodes_nodeids", &node));
    AC_TRY(wholes(n, "nodes_featureids", &feature));
    AC_TRY(wholes(n, "nodes_truenodeids", &yes));
    AC_TRY(wholes(n, "nodes_falsenodeids", &no));
    AC_TRY(wholes(n, "nodes_missing_value_tracks_true", &missing));
    AC_TRY(reals(n, "nodes_values", &split));
    ac_attr_skip(&n->attrs, "nodes_hitrates"); /* how often training came by */
    ac_attr_skip(&n->attrs, "nodes_hitrates_as_tensor");
    f->n_nodes = tree.n;
    if (tree.n < 1 || node.n != tree.n || feature.n != tree.n || yes.n != tree.n || no.n != tree.n ||
        split.n != tree.n || (missing.n && missing.n != tree.n))
        return lengths_differ(n);
    if (!ac_pb_spend(&n->r->pb, tree.n * 8))
        return AC_FAIL;
    f->node = AC_NEW_N(cx->region, ac_tree_node, tree.n);
    AC_TRY(read_modes(n, f));
    key *keys = AC_NEW_N(cx->region, key, tree.n);
    for (int64_t i = 0; i < tree.n; i++)
        keys[i] = (key){tree.v[i], node.v[i], i};
    qsort(keys, (size_t)tree.n, sizeof *keys, by_key);
    for (int64_t i = 1; i < tree.n; i++)
        if (!by_key(&keys[i - 1], &keys[i]))
            return ac_error(cx, n->at, E0103, "node %" PRId64 " of tree %" PRId64 " occurs twice", keys[i].node,
                            keys[i].tree);
    for (int64_t i = 0; i < tree.n; i++) {
        ac_tree_node *t = &f->node[i];
        if (t->mode == AC_BRANCH_LEAF)
            continue;
        t->feature = feature.v[i];
        t->split = split.v[i];
        t->tracks = missing.n && missing.v[i] != 0;
        t->yes = find(keys, tree.n, tree.v[i], yes.v[i]);
        t->no = find(keys, tree.n, tree.v[i], no.v[i]);
        if (t->feature < 0 || t->feature >= features || t->yes < 0 || t->no < 0)
            return ac_error(cx, n->at, E0103,
                            "node %" PRId64 " of tree %" PRId64 " needs feature %" PRId64 " of %" PRId64
                            " and leads to nodes %" PRId64 " and %" PRId64,
                            node.v[i], tree.v[i], t->feature, features, yes.v[i], no.v[i]);
    }
    AC_TRY(find_roots(n, f, tree.v));
    return read_weights(n, f, prefix, keys);
}

/* ------------------------------------------------------------------ ai.onnx.ml 5 */

/* Reads leaves, which come after `inner` inner nodes. */
static int read_leaves(ac_onx_node *n, ac_forest *f, int64_t inner, const whole_list *target, const real_list *weight)
{
    f->weight = AC_NEW_N(n->r->cx->region, ac_leaf_weight, target->n);
    f->n_weights = target->n;
    for (int64_t i = 0; i < target->n; i++) {
        if (target->v[i] < 0 || target->v[i] >= f->targets)
            return ac_error(n->r->cx, n->at, E0103, "leaf %" PRId64 " counts for target %" PRId64, i, target->v[i]);
        f->node[inner + i] = (ac_tree_node){.mode = AC_BRANCH_LEAF, .from = i, .count = 1};
        f->weight[i] = (ac_leaf_weight){target->v[i], weight->v[i]};
    }
    return AC_OK;
}

static int read_ensemble(ac_onx_node *n, ac_forest *f, int64_t features)
{
    whole_list feature, yes, no, yes_leaf, no_leaf, root, target, missing;
    real_list mode, split, weight, member;
    ac_ctx *cx = n->r->cx;
    AC_TRY(wholes(n, "nodes_featureids", &feature));
    AC_TRY(wholes(n, "nodes_truenodeids", &yes));
    AC_TRY(wholes(n, "nodes_falsenodeids", &no));
    AC_TRY(wholes(n, "nodes_trueleafs", &yes_leaf));
    AC_TRY(wholes(n, "nodes_falseleafs", &no_leaf));
    AC_TRY(wholes(n, "tree_roots", &root));
    AC_TRY(wholes(n, "leaf_targetids", &target));
    AC_TRY(wholes(n, "nodes_missing_value_tracks_true", &missing));
    AC_TRY(tensor_numbers(n, "nodes_modes", &mode));
    AC_TRY(tensor_numbers(n, "nodes_splits", &split));
    AC_TRY(tensor_numbers(n, "membership_values", &member));
    AC_TRY(tensor_numbers(n, "leaf_weights", &weight));
    ac_attr_skip(&n->attrs, "nodes_hitrates");
    const int64_t inner = feature.n, leaves = target.n;
    if (inner < 1 || leaves < 1 || root.n < 1 || yes.n != inner || no.n != inner || yes_leaf.n != inner ||
        no_leaf.n != inner || mode.n != inner || split.n != inner || weight.n != leaves ||
        (missing.n && missing.n != inner))
        return lengths_differ(n);
    if (!ac_pb_spend(&n->r->pb, (inner + leaves) * 8))
        return AC_FAIL;
    f->n_nodes = inner + leaves;
    f->node = AC_NEW_N(cx->region, ac_tree_node, f->n_nodes);
    f->member = member.v;
    for (int64_t i = 0, at = 0; i < inner; i++) {
        ac_tree_node *t = &f->node[i];
        if (!(mode.v[i] >= 0 && mode.v[i] <= AC_BRANCH_MEMBER) || feature.v[i] < 0 || feature.v[i] >= features)
            return ac_error(cx, n->at, E0103, "node %" PRId64 " needs feature %" PRId64 " of %" PRId64 ", mode %g", i,
                            feature.v[i], features, mode.v[i]);
        for (int side = 0; side < 2; side++) {
            const int64_t to = (side ? yes : no).v[i], leaf = (side ? yes_leaf : no_leaf).v[i];
            if (to < 0 || to >= (leaf ? leaves : inner))
                return ac_error(cx, n->at, E0103, "node %" PRId64 " leads to %s %" PRId64, i, leaf ? "leaf" : "node",
                                to);
            *(side ? &t->yes : &t->no) = leaf ? inner + to : to;
        }
        t->mode = (ac_branch)(int)mode.v[i];
        t->feature = feature.v[i];
        t->split = split.v[i];
        t->tracks = missing.n && missing.v[i] != 0;
        if (t->mode != AC_BRANCH_MEMBER)
            continue;
        t->from = at;
        while (at < member.n && !isnan(member.v[at]))
            at++;
        t->count = at - t->from;
        at += at < member.n;
    }
    AC_TRY(read_leaves(n, f, inner, &target, &weight));
    f->root = ac_copy(cx->region, root.v, (size_t)root.n * sizeof *root.v);
    f->n_trees = root.n;
    for (int64_t i = 0; i < root.n; i++)
        if (root.v[i] < 0 || root.v[i] >= inner)
            return ac_error(cx, n->at, E0103, "the root of tree %" PRId64 " is node %" PRId64, i, root.v[i]);
    return AC_OK;
}

/* ------------------------------------------------------------------ sums */

/* Rows of floats: integers become f32. NULL: reported. */
static ac_tensor *rows_of(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    if (x->rank == 1)
        x = ac_make_reshape(&n->b, x, 2, (int64_t[]){1, x->dim[0]});
    if (!x || x->rank != 2)
        return x ? ((void)ac_bad(&n->b, "'%s' is %s, expected rows of numbers [N,F]", x->name,
                                 ac_tensor_str(n->r->cx, x)),
                    NULL)
                 : NULL;
    return x->dtype == AC_F64 ? x : ac_make_cast(&n->b, x, AC_F32);
}

static int check_targets(const ac_onx_node *n, int64_t targets)
{
    return targets >= 1 && targets <= 1 << 20 ? AC_OK
                                              : ac_error(n->r->cx, n->at, E0103, "it has %" PRId64 " targets", targets);
}

/* y over the number of trees. */
static ac_tensor *average(ac_onx_node *n, const ac_forest *f, ac_tensor *y)
{
    return y ? ac_make_2(&n->b, AC_OP_DIV, y, ac_make_number(&n->b, y->dtype, (double)f->n_trees)) : NULL;
}

/* y plus what each target begins with. */
static ac_tensor *based(ac_onx_node *n, ac_tensor *y, const real_list *base, int64_t targets)
{
    if (!base->n || !y)
        return y;
    if (base->n != targets && base->n != 1)
        return (void)ac_error(n->r->cx, n->at, E0103, "base_values has %" PRId64 " numbers for %" PRId64 " targets",
                              base->n, targets),
               NULL;
    uint8_t *own = AC_NEW_N(n->r->cx->region, uint8_t, base->n * ac_dtype_size(y->dtype, 1));
    for (int64_t i = 0; i < base->n; i++)
        ac_dtype_put_num(y->dtype, own + i * ac_dtype_size(y->dtype, 1), base->v[i]);
    return ac_make_2(&n->b, AC_OP_ADD, y, ac_tensor_const(n->r->g, n->name, y->dtype, 1, &base->n, own));
}

int ac_onx_do_tree_ensemble(ac_onx_node *n)
{
    static const char *const POST[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
    ac_forest f = {.targets = ac_attr_int(&n->attrs, A_n_targets)};
    const int64_t how = ac_attr_int(&n->attrs, A_aggregate_function),
                  post = ac_attr_int(&n->attrs, A_tree_post_transform);
    ac_tensor *x = rows_of(n);
    if (how < 0 || how > 3 || post < 0 || post > 4)
        return ac_error(n->r->cx, n->at, E0103, "aggregate_function is %" PRId64 ", post_transform %" PRId64, how,
                        post);
    AC_TRY(check_targets(n, f.targets));
    if (!x || read_ensemble(n, &f, x->dim[1]) != AC_OK)
        return AC_FAIL;
    f.how = how < 2 ? AC_W_ADD : how == 2 ? AC_W_MIN : AC_W_MAX;
    ac_tensor *y = ac_forest_tables(n, &f, x);
    y = how == 0 ? average(n, &f, y) : y;
    return ac_onx_result(n, 0, ac_onx_post(n, POST[post], y));
}

int ac_onx_do_tree_regressor(ac_onx_node *n)
{
    ac_forest f = {.targets = ac_attr_int(&n->attrs, A_n_targets), .how = AC_W_ADD};
    const char *how = ac_attr_text(&n->attrs, A_tree_aggregate), *post = ac_attr_text(&n->attrs, A_post_transform);
    ac_tensor *x = rows_of(n);
    real_list base;
    const bool mean = !strcmp(how, "AVERAGE");
    if (!strcmp(how, "MIN"))
        f.how = AC_W_MIN;
    else if (!strcmp(how, "MAX"))
        f.how = AC_W_MAX;
    else if (!mean && strcmp(how, "SUM") != 0)
        return ac_error(n->r->cx, n->at, E0103, "aggregate_function is '%s'", how);
    AC_TRY(check_targets(n, f.targets));
    AC_TRY(reals(n, "base_values", &base));
    if (!x || read_nodes(n, &f, "target", x->dim[1]) != AC_OK)
        return AC_FAIL;
    ac_tensor *y = ac_forest_tables(n, &f, x);
    y = ac_make_cast(&n->b, based(n, mean ? average(n, &f, y) : y, &base, f.targets), AC_F32);
    return ac_onx_result(n, 0, ac_onx_post_targets(n, post, y));
}

/* Which of two classes leaves count for: bit 0, bit 1. */
static int classes_used(const ac_forest *f)
{
    int used = 0;
    for (int64_t i = 0; i < f->n_weights; i++)
        used |= 1 << (f->weight[i].target > 0);
    return used;
}

static bool all_positive(const ac_forest *f)
{
    bool all = true;
    for (int64_t i = 0; i < f->n_weights; i++)
        all &= f->weight[i].w >= 0;
    return all;
}

/* The scores of two classes plus base values, as ONNX Runtime adds them: of two base values it adds the second to the
 * sum of the first class; a single one belongs to the first class. A class without weights stays 0. */
static ac_tensor *two_based(ac_onx_node *n, ac_tensor *y, const real_list *base, int used)
{
    ac_tensor *part[] = {ac_make_slice(&n->b, y, 1, 0, 1), ac_make_slice(&n->b, y, 1, 1, 1)};
    if (!base->n || !part[0] || !part[1])
        return y;
    ac_tensor *first = ac_make_number(&n->b, AC_F32, base->v[0]),
              *last = ac_make_number(&n->b, AC_F32, base->v[base->n - 1]);
    if (base->n == 2 && used & 2) {
        part[1] = ac_make_2(&n->b, AC_OP_ADD, part[0], last);
        part[0] = used & 1 ? ac_make_1(&n->b, AC_OP_NEG, part[1]) : part[0];
    } else if (used & 1) {
        part[0] = ac_make_2(&n->b, AC_OP_ADD, part[0], first);
    }
    return part[0] && part[1] ? ac_make_concat(&n->b, part, 2, 1) : NULL;
}

/* Two classes, only the first of which has weights, have one score s: that of the second class. */
static ac_tensor *one_score(ac_onx_node *n, const char *post, ac_tensor *s, bool positive)
{
    if (!strcmp(post, "PROBIT"))
        return ac_onx_post(n, post, s);
    const bool logistic = !strcmp(post, "LOGISTIC");
    ac_tensor *other = positive && !logistic ? ac_make_2(&n->b, AC_OP_SUB, ac_make_number(&n->b, AC_F32, 1), s)
                                             : ac_make_1(&n->b, AC_OP_NEG, s);
    ac_tensor *part[] = {other, s}, *both = other ? ac_make_concat(&n->b, part, 2, 1) : NULL;
    return logistic ? ac_onx_post(n, post, both) : both;
}

/* Scores and classes of two: where leaves count for one of them only, weights that are all positive are
 * probabilities. */
static int two_classes(ac_onx_node *n, const ac_forest *f, const real_list *base, const char *post, ac_tensor *y,
                       ac_tensor **score, ac_tensor **index)
{
    const int used = classes_used(f);
    const bool positive = all_positive(f);
    y = two_based(n, y, base, used);
    ac_tensor *s = y ? ac_make_slice(&n->b, y, 1, used & 2 ? 1 : 0, 1) : NULL;
    if (!s)
        return AC_FAIL;
    *index = ac_onx_second(n, s, used < 3 && positive ? 0.5 : 0);
    *score = used == 1 && base->n < 2 ? one_score(n, post, s, positive) : ac_onx_post(n, post, y);
    return *score && *index ? AC_OK : AC_FAIL;
}

int ac_onx_do_tree_classifier(ac_onx_node *n)
{
    ac_forest f = {.how = AC_W_ADD};
    ac_tensor *x = rows_of(n), *score, *index;
    const char *post = ac_attr_text(&n->attrs, A_post_transform);
    ac_labels labels;
    real_list base;
    AC_TRY(ac_onx_labels(n, &labels));
    f.targets = labels.n < 2 ? 2 : labels.n;
    AC_TRY(check_targets(n, f.targets));
    AC_TRY(reals(n, "base_values", &base));
    if (!x || read_nodes(n, &f, "class", x->dim[1]) != AC_OK)
        return AC_FAIL;
    ac_tensor *y = ac_make_cast(&n->b, ac_forest_tables(n, &f, x), AC_F32);
    if (!y)
        return AC_FAIL;
    if (labels.n <= 2) {
        if (base.n > 2)
            return ac_error(n->r->cx, n->at, E0103, "base_values has %" PRId64 " numbers for 2 classes", base.n);
        AC_TRY(two_classes(n, &f, &base, post, y, &score, &index));
    } else {
        y = based(n, y, &base, f.targets);
        index = ac_onx_greatest(n, y);
        score = ac_onx_post(n, post, y);
    }
    AC_TRY(ac_onx_result(n, 0, ac_onx_labelled(n, &labels, index)));
    return ac_onx_result(n, 1, score);
}
