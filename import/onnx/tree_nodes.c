/* tree_nodes.c - TreeEnsemble of ai.onnx.ml: all trees are walked at once, a level in each step.
 *
 *     x [N,F]  ->  at [N,T], the node of each tree where each row is: roots first, leaves stay where they are
 *     for each level:  value = x[feature[at]],  at = holds(value, mode[at], split[at]) ? yes[at] : no[at]
 *     y [N,targets]: the leaves' weights, aggregated by target
 *
 * Inner nodes are numbered as in the file, leaves after them. What the nodes hold are constant tables; nothing grows
 * with the number of nodes but these. */
#include "import/onnx/nodes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LEQ, LESS, GEQ, GREATER, EQ, NEQ, MEMBER, MODES };
enum { AVERAGE, SUM, MIN, MAX };
enum { MOST_LEVELS = 512, MOST_MEMBERS = 4096 };

typedef struct ensemble {
    int64_t nodes, leaves, trees, targets, levels;
    ac_ints feature, yes, no, yes_leaf, no_leaf, root, target, missing;
    const double *mode, *split, *weight, *members; /* members: sets of MEMBER nodes in their order, NaN after each */
    int64_t n_modes, n_splits, n_weights, n_members;
    ac_dtype type;  /* of splits and weights */
    int64_t *set;   /* by inner node: where its set begins in members */
    int64_t widest; /* of these sets */
    uint32_t modes; /* bit m: some node has mode m */
} ensemble;

/* The numbers of a tensor attribute; *v NULL: it is left out. */
static int numbers(ac_onx_node *n, const char *name, const double **v, int64_t *count, ac_dtype *type)
{
    ac_onx_attr *a = ac_onx_attr_of(n, name);
    ac_onx_const c;
    const char *refused;
    *v = NULL;
    *count = 0;
    if (!a || !a->has_tensor)
        return AC_OK;
    if (ac_onx_tensor(n->r, a->tensor, &c, &refused) != AC_OK)
        return refused ? ac_build_cannot(&n->b, "%s", refused) : AC_FAIL;
    ac_tensor *t = ac_onx_constant(n->r, n->name, &c);
    const void *data = ac_tensor_force(n->r->cx, t);
    double *own = AC_NEW_N(n->r->cx->region, double, ac_tensor_count(t) + 1);
    for (int64_t i = 0; data && i < ac_tensor_count(t); i++)
        own[i] = ac_dtype_is_float(c.dtype) ? ac_dtype_get_num(c.dtype, data, i)
                                            : (double)ac_dtype_get_int(c.dtype, data, i);
    *v = own;
    *count = ac_tensor_count(t);
    *type = c.dtype;
    return data ? AC_OK : AC_FAIL;
}

static int read_ensemble(ac_onx_node *n, ensemble *e)
{
    ac_dtype type;
    AC_TRY(ac_onx_list(n, "nodes_featureids", &e->feature));
    AC_TRY(ac_onx_list(n, "nodes_truenodeids", &e->yes));
    AC_TRY(ac_onx_list(n, "nodes_falsenodeids", &e->no));
    AC_TRY(ac_onx_list(n, "nodes_trueleafs", &e->yes_leaf));
    AC_TRY(ac_onx_list(n, "nodes_falseleafs", &e->no_leaf));
    AC_TRY(ac_onx_list(n, "tree_roots", &e->root));
    AC_TRY(ac_onx_list(n, "leaf_targetids", &e->target));
    AC_TRY(ac_onx_list(n, "nodes_missing_value_tracks_true", &e->missing));
    AC_TRY(numbers(n, "nodes_modes", &e->mode, &e->n_modes, &type));
    AC_TRY(numbers(n, "nodes_splits", &e->split, &e->n_splits, &type));
    AC_TRY(numbers(n, "membership_values", &e->members, &e->n_members, &type));
    AC_TRY(numbers(n, "leaf_weights", &e->weight, &e->n_weights, &e->type));
    ac_onx_attr_of(n, "nodes_hitrates"); /* how often training came by */
    e->targets = ac_onx_int(n, "n_targets", 1);
    e->nodes = e->feature.n;
    e->leaves = e->target.n;
    e->trees = e->root.n;
    if (e->nodes < 1 || e->leaves < 1 || e->trees < 1 || e->targets < 1 || e->yes.n != e->nodes ||
        e->no.n != e->nodes || e->yes_leaf.n != e->nodes || e->no_leaf.n != e->nodes || e->n_modes != e->nodes ||
        e->n_splits != e->nodes || e->n_weights != e->leaves || (e->missing.n && e->missing.n != e->nodes))
        return ac_error(n->r->cx, n->at, E0103,
                        "the lists of its nodes and leaves have different lengths, or are empty");
    return AC_OK;
}

/* Children: numbers of nodes become numbers of nodes and leaves. */
static int check_nodes(ac_onx_node *n, ensemble *e, int64_t features)
{
    int64_t at = 0;
    e->set = AC_NEW_N(n->r->cx->region, int64_t, e->nodes);
    for (int64_t i = 0; i < e->nodes; i++) {
        const double mode = e->mode[i];
        if (e->feature.v[i] < 0 || e->feature.v[i] >= features || !(mode >= 0 && mode < MODES))
            return ac_error(n->r->cx, n->at, E0103,
                            "node %" PRId64 " needs feature %" PRId64 " of %" PRId64 ", mode %g", i, e->feature.v[i],
                            features, mode);
        for (int side = 0; side < 2; side++) {
            const int64_t to = (side ? e->yes : e->no).v[i], leaf = (side ? e->yes_leaf : e->no_leaf).v[i];
            if (to < 0 || to >= (leaf ? e->leaves : e->nodes))
                return ac_error(n->r->cx, n->at, E0103, "node %" PRId64 " leads to %s %" PRId64, i,
                                leaf ? "leaf" : "node", to);
        }
        e->modes |= 1u << (int)mode;
        if ((int)mode != MEMBER)
            continue;
        e->set[i] = at;
        while (at < e->n_members && !isnan(e->members[at]))
            at++;
        e->widest = at - e->set[i] > e->widest ? at - e->set[i] : e->widest;
        at += at < e->n_members;
    }
    for (int64_t i = 0; i < e->leaves; i++)
        if (e->target.v[i] < 0 || e->target.v[i] >= e->targets)
            return ac_error(n->r->cx, n->at, E0103, "leaf %" PRId64 " counts for target %" PRId64, i, e->target.v[i]);
    for (int64_t i = 0; i < e->trees; i++)
        if (e->root.v[i] < 0 || e->root.v[i] >= e->nodes)
            return ac_error(n->r->cx, n->at, E0103, "the root of tree %" PRId64 " is node %" PRId64, i, e->root.v[i]);
    return e->widest > MOST_MEMBERS ? ac_build_cannot(&n->b, "a set of it has %" PRId64 " members", e->widest) : AC_OK;
}

/* How many steps the deepest leaf takes: nodes are reached level by level; one in a circle would be reached for ever.
 */
static int count_levels(ac_onx_node *n, ensemble *e)
{
    bool *here = AC_NEW_N(n->r->cx->region, bool, e->nodes), *next = AC_NEW_N(n->r->cx->region, bool, e->nodes);
    bool any = true;
    for (int64_t i = 0; i < e->trees; i++)
        here[e->root.v[i]] = true;
    for (e->levels = 0; any; e->levels++) {
        if (e->levels == MOST_LEVELS)
            return ac_error(n->r->cx, n->at, E0014, "a path is longer than %d nodes: perhaps a cycle", MOST_LEVELS);
        any = false;
        memset(next, 0, (size_t)e->nodes * sizeof *next);
        for (int64_t i = 0; i < e->nodes; i++)
            for (int side = 0; side < 2 && here[i]; side++)
                if (!(side ? e->yes_leaf : e->no_leaf).v[i])
                    any = next[(side ? e->yes : e->no).v[i]] = true;
        bool *was = here;
        here = next;
        next = was;
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ tables and steps */

static ac_tensor *pick(ac_onx_node *n, ac_tensor *table, ac_tensor *at)
{
    ac_tensor *in[] = {table, at};
    return table && at ? ac_onx_make(n, AC_OP_GATHER, in, 2, NULL, AC_NONE) : NULL;
}

static ac_tensor *choose(ac_onx_node *n, ac_tensor *c, ac_tensor *x, ac_tensor *y)
{
    ac_tensor *in[] = {c, x, y};
    return c && x && y ? ac_onx_make(n, AC_OP_SELECT, in, 3, NULL, AC_NONE) : NULL;
}

/* Numbers of x's type, of nodes and leaves (0). */
static ac_tensor *table(ac_onx_node *n, const ensemble *e, const double *v, int64_t from, int64_t count, ac_dtype type)
{
    const int64_t all = e->nodes + e->leaves, size = ac_dtype_size(type, 1);
    uint8_t *own = AC_NEW_N(n->r->cx->region, uint8_t, all * size);
    for (int64_t i = 0; i < count; i++)
        ac_dtype_put_num(type, own + (from + i) * size, v[i]);
    return ac_tensor_const(n->r->g, n->name, type, 1, &all, own);
}

static ac_tensor *links(ac_onx_node *n, const ensemble *e, bool yes)
{
    int64_t *v = AC_NEW_N(n->r->cx->region, int64_t, e->nodes + e->leaves);
    for (int64_t i = 0; i < e->nodes; i++)
        v[i] = (yes ? e->yes : e->no).v[i] + ((yes ? e->yes_leaf : e->no_leaf).v[i] ? e->nodes : 0);
    for (int64_t i = e->nodes; i < e->nodes + e->leaves; i++)
        v[i] = i;
    return ac_onx_ints_const(n, e->nodes + e->leaves, v);
}

/* Is x in the set of the node? [N,T]; sets are filled up with NaN, which equals nothing. */
static ac_tensor *is_member(ac_onx_node *n, const ensemble *e, ac_tensor *x, ac_tensor *at)
{
    const int64_t all = e->nodes + e->leaves, width = e->widest ? e->widest : 1, size = ac_dtype_size(x->dtype, 1);
    uint8_t *v = ac_alloc_n(n->r->cx->region, (size_t)(all * width), (size_t)size);
    for (int64_t i = 0; i < all; i++)
        for (int64_t k = 0, open = i < e->nodes && (int)e->mode[i] == MEMBER; k < width; k++) {
            open = open && e->set[i] + k < e->n_members && !isnan(e->members[e->set[i] + k]);
            ac_dtype_put_num(x->dtype, v + (i * width + k) * size, open ? e->members[e->set[i] + k] : (double)NAN);
        }
    ac_tensor *sets = pick(n, ac_tensor_const(n->r->g, n->name, x->dtype, 2, (int64_t[]){all, width}, v), at);
    ac_tensor *one = ac_onx_reshape(n, x, 3, (int64_t[]){x->dim[0], x->dim[1], 1});
    return ac_onx_reduce(n, AC_OP_REDUCE_ANY, ac_onx_2(n, AC_OP_EQUAL, sets, one), 4, false);
}

/* Does the value hold at its node? */
static ac_tensor *holds(ac_onx_node *n, const ensemble *e, ac_tensor *x, ac_tensor *at, ac_tensor *split,
                        ac_tensor *mode)
{
    static const ac_op OP[MODES] = {AC_OP_LESS_EQUAL, AC_OP_LESS,      AC_OP_GREATER_EQUAL, AC_OP_GREATER,
                                    AC_OP_EQUAL,      AC_OP_NOT_EQUAL, AC_OP_NONE};
    ac_tensor *y = NULL;
    for (int m = 0; m < MODES; m++) {
        if (!(e->modes >> m & 1))
            continue;
        ac_tensor *now = m == MEMBER ? is_member(n, e, x, at) : ac_onx_2(n, OP[m], x, pick(n, split, at));
        if (y) {
            ac_tensor *is = ac_onx_2(n, AC_OP_EQUAL, pick(n, mode, at), ac_onx_number(n, AC_F32, m));
            now = ac_onx_2(n, AC_OP_LOGICAL_OR, ac_onx_2(n, AC_OP_LOGICAL_AND, is, now),
                           ac_onx_2(n, AC_OP_LOGICAL_AND, ac_onx_1(n, AC_OP_LOGICAL_NOT, is), y));
        }
        y = now;
    }
    return y;
}

static ac_tensor *walk(ac_onx_node *n, const ensemble *e, ac_tensor *x)
{
    const int64_t batch = x->dim[0];
    ac_tensor *split = table(n, e, e->split, 0, e->nodes, x->dtype), *mode = table(n, e, e->mode, 0, e->nodes, AC_F32);
    ac_tensor *yes = links(n, e, true), *no = links(n, e, false), *tracks = NULL;
    int64_t *f = AC_NEW_N(n->r->cx->region, int64_t, e->nodes + e->leaves);
    memcpy(f, e->feature.v, (size_t)e->nodes * sizeof *f);
    ac_tensor *feature = ac_onx_ints_const(n, e->nodes + e->leaves, f);
    double *track = AC_NEW_N(n->r->cx->region, double, e->nodes);
    for (int32_t i = 0; i < e->missing.n; i++) {
        track[i] = e->missing.v[i] != 0;
        if (e->missing.v[i] && !tracks)
            tracks = split; /* some do */
    }
    if (tracks)
        tracks = table(n, e, track, 0, e->nodes, AC_F32);
    ac_tensor *at = ac_onx_reshape(n, ac_onx_ints_const(n, e->trees, e->root.v), 2, (int64_t[]){1, e->trees});
    at = ac_onx_broadcast(n, at, 2, (int64_t[]){batch, e->trees});
    ac_attrs a;
    ac_attrs_init(AC_OP_GATHER_ELEMENTS, &a);
    a.axis.axis = 1;
    for (int64_t level = 0; level < e->levels && at; level++) {
        ac_tensor *in[] = {x, pick(n, feature, at)};
        ac_tensor *v = in[1] ? ac_onx_make(n, AC_OP_GATHER_ELEMENTS, in, 2, &a, AC_NONE) : NULL;
        ac_tensor *c = v ? holds(n, e, v, at, split, mode) : NULL;
        if (tracks && c) {
            ac_tensor *nan = ac_onx_2(n, AC_OP_NOT_EQUAL, v, v);
            ac_tensor *on = ac_onx_2(n, AC_OP_GREATER, pick(n, tracks, at), ac_onx_number(n, AC_F32, 0));
            c = ac_onx_2(n, AC_OP_LOGICAL_OR, c, ac_onx_2(n, AC_OP_LOGICAL_AND, nan, on));
        }
        at = choose(n, c, pick(n, yes, at), pick(n, no, at));
    }
    return at;
}

/* Weights of the leaves [N,T] -> [N,targets]. A target that no leaf counts for gets 0. */
static ac_tensor *aggregate(ac_onx_node *n, const ensemble *e, ac_tensor *x, ac_tensor *at, int64_t how)
{
    const int64_t batch = x->dim[0];
    int64_t *target = AC_NEW_N(n->r->cx->region, int64_t, e->nodes + e->leaves);
    int64_t *number = AC_NEW_N(n->r->cx->region, int64_t, e->targets);
    for (int64_t i = 0; i < e->leaves; i++)
        target[e->nodes + i] = e->target.v[i];
    for (int64_t i = 0; i < e->targets; i++)
        number[i] = i;
    ac_tensor *w = pick(n, table(n, e, e->weight, e->nodes, e->leaves, x->dtype), at);
    ac_tensor *t = pick(n, ac_onx_ints_const(n, e->nodes + e->leaves, target), at);
    w = ac_onx_reshape(n, w, 3, (int64_t[]){batch, e->trees, 1});
    t = ac_onx_reshape(n, t, 3, (int64_t[]){batch, e->trees, 1});
    ac_tensor *mine = ac_onx_2(n, AC_OP_EQUAL, t, ac_onx_ints_const(n, e->targets, number)); /* [N,T,targets] */
    ac_tensor *zero = ac_onx_number(n, x->dtype, 0);
    if (how == AVERAGE || how == SUM) {
        ac_tensor *y = ac_onx_reduce(n, AC_OP_SUM, choose(n, mine, w, zero), 2, false);
        return how == SUM ? y : ac_onx_2(n, AC_OP_DIV, y, ac_onx_number(n, x->dtype, (double)e->trees));
    }
    ac_tensor *none = ac_onx_number(n, x->dtype, how == MIN ? (double)INFINITY : -(double)INFINITY);
    ac_tensor *y =
        ac_onx_reduce(n, how == MIN ? AC_OP_REDUCE_MIN : AC_OP_REDUCE_MAX, choose(n, mine, w, none), 2, false);
    return choose(n, ac_onx_reduce(n, AC_OP_REDUCE_ANY, mine, 2, false), y, zero);
}

int ac_onx_do_tree_ensemble(ac_onx_node *n)
{
    enum { NONE, SOFTMAX, LOGISTIC };
    ac_tensor *x = n->in[0];
    ensemble e = {.nodes = 0};
    const int64_t how = ac_onx_int(n, "aggregate_function", SUM), post = ac_onx_int(n, "post_transform", NONE);
    AC_TRY(read_ensemble(n, &e));
    if (how < AVERAGE || how > MAX)
        return ac_error(n->r->cx, n->at, E0103, "aggregate_function is %" PRId64, how);
    if (post < NONE || post > LOGISTIC)
        return ac_build_cannot(
            &n->b, "its post_transform is number %" PRId64 "; supported are none, softmax and logistic", post);
    if (x->rank != 2 || (x->dtype != AC_F32 && x->dtype != AC_F64))
        return ac_error(n->r->cx, n->at, E0104, "'%s' is %s, expected rows of floats [N,F]", x->name,
                        ac_tensor_str(n->r->cx, x));
    AC_TRY(check_nodes(n, &e, x->dim[1]));
    AC_TRY(count_levels(n, &e));
    ac_tensor *at = walk(n, &e, x), *y = at ? aggregate(n, &e, x, at, how) : NULL;
    if (y && post)
        y = ac_onx_1(n, post == SOFTMAX ? AC_OP_SOFTMAX : AC_OP_LOGISTIC, y);
    return ac_onx_result(n, 0, y);
}
