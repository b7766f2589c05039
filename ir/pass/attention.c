/* attention.c - scores of queries and keys, their softmax and the weighted values become one node. */
#include "ir/make/maker.h"
#include "ir/ops/decode/attention.h"
#include "ir/ops/decode/axis.h"
#include "ir/pass/dequantised.h"
#include "ir/pass/passes.h"
#include "ir/pass/places.h"
#include "ir/pass/scores.h"

#include <string.h>

enum { MOST_COLUMNS = 256 }; /* as lowered for GPUs */
enum { BATCH, GROUP, HEAD, ROW, LAST, AXES };

typedef struct found {
    ac_graph *g;
    const int32_t *uses;
    const ac_node *second; /* the product of weights and values */
    ac_scores scores;
    int64_t count[AXES]; /* batch, groups, heads of a group, rows, keys */
    int64_t depth, width, past;
    ac_places at[AC_ATTENTION_OPERANDS];
} found;

/* ------------------------------------------------------------------ axes */

/* Steps of the dimensions of a product's result in its operand i; *along: of the dimension that it sums. */
static void product_steps(const ac_node *n, int32_t i, int64_t to[AC_MAX_RANK], int64_t *along)
{
    const ac_tensor *x = n->in[i], *y = n->out[0];
    const bool turned = i ? n->attrs.matmul.adj_y : n->attrs.matmul.adj_x;
    const int64_t row = x->dim[x->rank - 1], column = 1;
    ac_steps_broadcast(x, y->rank, to);
    *along = (i == 0) == turned ? row : column;
    to[y->rank - 2] = i ? 0 : turned ? column : row;
    to[y->rank - 1] = i ? (turned ? row : column) : 0;
}

/* The axes of the flat weights or scores [batch, group, head, row, last]. */
static ac_places whole(const found *f, ac_tensor *t, int64_t last)
{
    ac_places p = {.t = t, .n = AXES};
    int64_t step = 1;
    for (int32_t a = AXES - 1; a >= 0; a--) {
        p.axis[a].count = a == LAST ? last : f->count[a];
        p.axis[a].step = p.axis[a].count > 1 ? step : 0;
        step *= p.axis[a].count;
    }
    return p;
}

/* Splits the leading dimensions of the weights into batch, groups and heads. alone: one dimension is the batch. */
static bool find_axes(found *f, bool alone)
{
    const ac_node *n = f->second;
    const ac_tensor *p = n->in[0], *v = n->in[1], *y = n->out[0];
    int64_t lead[AC_MAX_RANK], shared = 1;
    int32_t k = 0;
    for (int32_t d = 0; d < y->rank - 2; d++)
        if (y->dim[d] > 1) {
            const int32_t at = d - (y->rank - v->rank);
            shared = at < 0 || v->dim[at] == 1 ? y->dim[d] : 1;
            lead[k++] = y->dim[d];
        }
    k -= shared > 1;
    if (k > 2)
        return false;
    f->count[BATCH] = k == 2 || (k == 1 && alone) ? lead[0] : 1;
    f->count[GROUP] = k == 2 ? lead[1] : k == 1 && !alone ? lead[0] : 1;
    f->count[HEAD] = shared;
    f->count[ROW] = y->dim[y->rank - 2];
    f->count[LAST] = p->dim[p->rank - 1];
    f->width = y->dim[y->rank - 1];
    return f->count[BATCH] * f->count[GROUP] * shared * f->count[ROW] * f->count[LAST] == ac_tensor_count(p);
}

/* Where operand i of product n is read: the axis that it sums over becomes `axis`. */
static bool find_operand(found *f, int32_t which, const ac_node *n, int32_t i, int32_t axis, int64_t last, int64_t sum)
{
    ac_places p = whole(f, n->out[0], last);
    int64_t to[AC_MAX_RANK], along;
    product_steps(n, i, to, &along);
    if (!ac_places_move(&p, n->out[0]->rank, n->out[0]->dim, to, 0))
        return false;
    if (i == 1) /* keys; those of v are the summed dimension */
        p.axis[ROW] = p.axis[LAST];
    p.axis[axis].count = sum;
    p.axis[axis].step = along;
    p.t = n->in[i];
    f->at[which] = p;
    return i == 0 || p.axis[HEAD].step == 0;
}

static bool find_operands(found *f)
{
    const ac_node *one = f->scores.product, *two = f->second;
    const ac_tensor *q = one->in[0];
    const int32_t row = one->attrs.matmul.adj_x ? q->rank - 2 : q->rank - 1;
    f->depth = q->dim[row];
    const bool found_all = find_operand(f, AC_ATTENTION_Q, one, 0, LAST, f->count[LAST], f->depth) &&
                           find_operand(f, AC_ATTENTION_K, one, 1, LAST, f->count[LAST], f->depth) &&
                           find_operand(f, AC_ATTENTION_V, two, 1, ROW, f->width, f->count[LAST]);
    if (!found_all || !f->scores.mask)
        return found_all;
    ac_places m = whole(f, f->scores.mask, f->count[LAST]);
    int64_t to[AC_MAX_RANK];
    ac_steps_broadcast(f->scores.mask, f->scores.masked->rank, to);
    if (!ac_places_move(&m, f->scores.masked->rank, f->scores.masked->dim, to, 0))
        return false;
    f->at[AC_ATTENTION_MASK] = m;
    return true;
}

/* ------------------------------------------------------------------ nodes around it */

/* k or v is a concatenation of two along the keys, and nothing else reads it: both are read where they are. */
static bool take_apart(found *f, ac_places *p, ac_places *past)
{
    ac_tensor *t = p->t;
    const ac_node *n = ac_made_by(t, AC_OP_CONCATENATION);
    int64_t step[AC_MAX_RANK], to[AC_MAX_RANK];
    int32_t axis;
    const ac_diags before = f->g->cx->diags;
    if (!n || n->n_in != 2 || ac_node_act(n) != AC_ACT_NONE || f->uses[t->id] != 1 ||
        !ac_quietly(f->g->cx, before, ac_axis_norm(f->g->cx, n, n->attrs.axis.axis, t->rank, &axis)))
        return false;
    ac_steps_of(t->rank, t->dim, step);
    const bool along = t->dim[axis] == p->axis[ROW].count && p->axis[ROW].step == step[axis] && t->dim[axis] > 1;
    ac_places part[2] = {*p, *p};
    for (int32_t i = 0; i < 2 && along; i++) {
        ac_tensor *x = n->in[i];
        const bool fits = x->dtype == t->dtype && !ac_tensor_root(x)->state && x->dim[axis] > 0;
        ac_steps_of(x->rank, x->dim, to);
        if (!fits || !ac_places_move(&part[i], t->rank, t->dim, to, 0))
            return false;
        part[i].t = x;
        part[i].axis[ROW].count = x->dim[axis];
    }
    if (!along || p->first >= step[axis] * t->dim[axis])
        return false;
    *past = part[0];
    *p = part[1];
    return true;
}

/* Goes from numbers that were of 16 bits to those. */
static bool before_cast(ac_places *p)
{
    const ac_node *cast = ac_made_by(p->t, AC_OP_CAST);
    if (!cast || !ac_dtype_is_half(cast->in[0]->dtype) || ac_tensor_root(cast->in[0])->state)
        return false;
    p->t = cast->in[0];
    return true;
}

/* Follows the elements of operand i to the tensor where they were computed. */
static void follow(found *f, int32_t i)
{
    ac_places *p = &f->at[i];
    for (bool again = p->t != NULL; again;) {
        ac_tensor *x =
            i == AC_ATTENTION_Q || i == AC_ATTENTION_K ? ac_scores_scaled(f->g, p->t, &f->scores.scale) : NULL;
        p->t = x ? x : p->t;
        again = x || before_cast(p) || ac_places_step(f->g, p);
    }
}

static void follow_all(found *f)
{
    follow(f, AC_ATTENTION_Q);
    follow(f, AC_ATTENTION_K);
    follow(f, AC_ATTENTION_V);
    follow(f, AC_ATTENTION_MASK);
    ac_places k = f->at[AC_ATTENTION_K], v = f->at[AC_ATTENTION_V], past_k, past_v;
    if (!take_apart(f, &k, &past_k) || !take_apart(f, &v, &past_v) || past_k.axis[ROW].count != past_v.axis[ROW].count)
        return;
    f->at[AC_ATTENTION_K] = k;
    f->at[AC_ATTENTION_V] = v;
    f->at[AC_ATTENTION_PAST_K] = past_k;
    f->at[AC_ATTENTION_PAST_V] = past_v;
    f->past = past_k.axis[ROW].count;
    const float scale = f->scores.scale; /* the parts of a key have no scales of their own */
    follow(f, AC_ATTENTION_V);
    follow(f, AC_ATTENTION_PAST_V);
    ac_places *const own[2] = {&f->at[AC_ATTENTION_K], &f->at[AC_ATTENTION_PAST_K]};
    for (int32_t i = 0; i < 2; i++)
        while (before_cast(own[i]) || ac_places_step(f->g, own[i]))
            ;
    f->scores.scale = scale;
}

/* The only reader of t; NULL: it has several, or is an output. */
static ac_node *reader_of(const found *f, const ac_tensor *t)
{
    for (int32_t i = 0; i < f->g->node.n && f->uses[t->id] == 1; i++) {
        ac_node *n = f->g->node.item[i];
        for (int32_t k = 0; k < n->n_in; k++)
            if (n->in[k] == t && f->uses[n->out[0]->id] > 0)
                return n;
    }
    return NULL;
}

/* The transposition after the product, perhaps after a reshape and a conversion to 16 bits, if its result is
 * [batch, rows, heads, width]. */
static ac_node *turned_after(const found *f)
{
    const ac_tensor *y = f->second->out[0];
    ac_node *n = reader_of(f, y);
    while (n && !n->n_fused &&
           (ac_ops[n->op].flags & OF_VIEW || (n->op == AC_OP_CAST && ac_dtype_is_half(n->out[0]->dtype))))
        n = reader_of(f, n->out[0]);
    if (!n || n->op != AC_OP_TRANSPOSE || n->n_fused)
        return NULL;
    const int64_t heads = f->count[GROUP] * f->count[HEAD], rows = f->count[ROW], width = f->width;
    const int64_t step[AXES] = {heads * rows * width, f->count[HEAD] * width, width, heads * width, 1};
    const ac_places want = whole(f, n->in[0], width);
    ac_places p = want;
    p.t = n->out[0];
    for (int32_t a = 0; a < AXES; a++)
        p.axis[a].step = p.axis[a].count > 1 ? step[a] : 0;
    if (!ac_places_step(f->g, &p))
        return NULL;
    bool same = p.first == 0;
    for (int32_t a = 0; a < AXES; a++)
        same &= p.axis[a].step == want.axis[a].step;
    return same ? n : NULL;
}

/* ------------------------------------------------------------------ the node */

static ac_ints steps_of(const found *f, int32_t i)
{
    const ac_places *p = &f->at[i];
    const bool heads = i == AC_ATTENTION_Q || i == AC_ATTENTION_MASK;
    int64_t *v = AC_NEW_N(f->g->cx->region, int64_t, AXES + 1);
    int32_t n = 0;
    v[n++] = p->first;
    for (int32_t a = 0; a < AXES; a++)
        if (a != HEAD || heads)
            v[n++] = p->axis[a].count > 1 ? p->axis[a].step : 0;
    return (ac_ints){p->t ? n : 0, v};
}

static ac_attrs attributes(const found *f, bool heads_first)
{
    ac_attrs attrs;
    ac_attrs_init(AC_OP_ATTENTION, &attrs);
    ac_attrs_attention *a = &attrs.attention;
    int64_t *size = AC_NEW_N(f->g->cx->region, int64_t, AXES + 2);
    memcpy(size, f->count, sizeof f->count);
    size[AXES] = f->depth;
    size[AXES + 1] = f->width;
    a->scale = f->scores.scale;
    a->hidden = f->scores.hidden;
    a->scores = f->scores.rounded;
    a->past = (int32_t)f->past;
    a->heads_first = heads_first;
    a->size = (ac_ints){AXES + 2, size};
    ac_ints *const list[AC_ATTENTION_OPERANDS] = {&a->q, &a->k, &a->v, &a->mask, &a->past_k, &a->past_v};
    for (int32_t i = 0; i < AC_ATTENTION_OPERANDS; i++)
        *list[i] = steps_of(f, i);
    return attrs;
}

/* `from` is the node whose result the new node makes; it is number `at` or comes after it. *node: the new one. */
static int replace(found *f, int32_t at, ac_node *from, bool heads_first, ac_node **node)
{
    ac_graph *g = f->g;
    ac_tensor *y = from->out[0], *in[AC_ATTENTION_OPERANDS];
    const ac_maker b = ac_maker_at(g, f->second);
    const int32_t made = g->node.n;
    for (int32_t i = 0; i < AC_ATTENTION_OPERANDS; i++)
        in[i] = f->at[i].t;
    if (f->scores.inverse && !(in[AC_ATTENTION_MASK] = ac_make_1(&b, AC_OP_LOGICAL_NOT, in[AC_ATTENTION_MASK])))
        return AC_FAIL;
    const ac_attrs attrs = attributes(f, heads_first);
    int32_t n = AC_ATTENTION_OPERANDS;
    while (!in[n - 1])
        n--;
    ac_node_erase(from);
    const int64_t heads = f->count[GROUP] * f->count[HEAD], rows = f->count[ROW];
    const int64_t dim[4] = {f->count[BATCH], heads_first ? heads : rows, heads_first ? rows : heads, f->width};
    const bool same = ac_dims_equal(y, 4, dim), half = y->dtype != AC_F32;
    ac_tensor *own = same && !half ? y : ac_tensor_new(g, y->name, AC_F32, 4, dim), *z = own;
    if (!ac_make_into(&b, AC_OP_ATTENTION, in, n, &attrs, own))
        return AC_FAIL;
    if (half) {
        ac_attrs to;
        ac_attrs_init(AC_OP_CAST, &to);
        to.cast.to = y->dtype;
        z = ac_make_into(&b, AC_OP_CAST, &own, 1, &to, same ? y : ac_tensor_new(g, y->name, y->dtype, 4, dim));
    }
    if (!z || (z != y && !ac_make_reshape_into(&b, z, y, y)))
        return AC_FAIL;
    ac_graph_place(g, made, at);
    *node = own->def;
    return AC_OK;
}

/* ------------------------------------------------------------------ products of one tensor */

enum { MOST_JOINED = 8 };

/* y = x w' + bias */
typedef struct product {
    ac_tensor *y, *x, *w, *bias; /* bias NULL: none */
    const ac_node *node;         /* the fully_connected */
} product;

/* A constant that training does not change. */
static bool is_plain(const ac_tensor *t, int32_t rank)
{
    const ac_tensor *from = t;
    while (from->def && from->def->n_in > 0 && from->def->in[0] && !ac_tensor_is_const(from))
        from = from->def->in[0];
    return t->dtype == AC_F32 && t->rank == rank && !from->weight && ac_tensor_is_moved_const(t);
}

/* A bias with a number for each column of y. */
static bool is_bias(const ac_tensor *t, const ac_tensor *y)
{
    return is_plain(t, 1) && t->dim[0] == y->dim[y->rank - 1];
}

static bool product_of(ac_tensor *y, const int32_t *uses, product *out)
{
    const ac_node *sum = ac_made_by(y, AC_OP_ADD);
    *out = (product){.y = y};
    if (uses[y->id] != 1 || y->dtype != AC_F32 || y->rank < 1)
        return false;
    for (int32_t k = 0; sum && k < 2 && !out->bias; k++)
        if (is_bias(sum->in[1 - k], y) && ac_node_act(sum) == AC_ACT_NONE) {
            out->bias = sum->in[1 - k];
            y = sum->in[k];
        }
    const ac_node *n = out->node = ac_made_by(y, AC_OP_FULLY_CONNECTED);
    const bool fits = n && uses[y->id] == 1 && ac_node_act(n) == AC_ACT_NONE && n->attrs.dense.keep_dims &&
                      ac_tensor_same_shape(y, out->y) && n->in[0]->dtype == AC_F32 && is_plain(n->in[1], 2);
    if (!fits || (ac_node_in(n, 2) && (out->bias || !is_bias(n->in[2], y))))
        return false;
    out->x = n->in[0];
    out->w = n->in[1];
    out->bias = out->bias ? out->bias : ac_node_in(n, 2);
    return out->x->dim[out->x->rank - 1] == out->w->dim[1];
}

/* The joined product: columns of p[0], then those of p[1], ... */
static ac_tensor *join(ac_graph *g, const product *p, int32_t n)
{
    const ac_maker b = ac_maker_at(g, p[0].node);
    ac_tensor *w[MOST_JOINED], *bias[MOST_JOINED];
    bool biased = false;
    for (int32_t i = 0; i < n; i++) {
        w[i] = p[i].w;
        biased |= p[i].bias != NULL;
    }
    for (int32_t i = 0; i < n && biased; i++)
        bias[i] = p[i].bias ? p[i].bias : ac_make_zeros(&b, AC_F32, 1, &p[i].w->dim[0]);
    ac_tensor *in[3] = {p[0].x, ac_make_concat(&b, w, n, 0), biased ? ac_make_concat(&b, bias, n, 0) : NULL};
    return in[1] && (in[2] || !biased)
               ? ac_make_op(&b, AC_OP_FULLY_CONNECTED, in, biased ? 3 : 2, &p[0].node->attrs, AC_NONE)
               : NULL;
}

/* The place in y, columns from `from` on of the joined product, moves to it. */
static bool move(ac_places *place, const ac_tensor *y, ac_tensor *all, int64_t from)
{
    int64_t to[AC_MAX_RANK];
    ac_steps_of(all->rank, all->dim, to);
    if (!ac_places_move(place, y->rank, y->dim, to, from))
        return false;
    place->t = all;
    return true;
}

/* True if the place can move: an axis does not go over the end of a row. */
static bool may_move(const ac_places *place)
{
    ac_places copy = *place;
    int64_t to[AC_MAX_RANK];
    ac_steps_of(place->t->rank, place->t->dim, to);
    return ac_places_move(&copy, place->t->rank, place->t->dim, to, 0);
}

static int32_t number_of(const product *p, int32_t n, const ac_tensor *y)
{
    for (int32_t i = 0; i < n; i++)
        if (p[i].y == y)
            return i;
    return -1;
}

/* Moves places to a new product by joined weights, if they are in results of fully_connected (or of an addition of a
 * constant bias to one) that have the same operand, constant weights and no other reader. uses: by tensor id. New nodes
 * are appended to g->node. AC_FAIL: reported. */
static int join_all(ac_graph *g, const int32_t *uses, ac_places *const *place, int32_t n)
{
    const int32_t tensors = g->tensor.n; /* later ones are of joined products */
    for (int32_t i = 0; i < n; i++) {
        product p[MOST_JOINED];
        int32_t count = 0;
        for (int32_t k = i; k < n && count < MOST_JOINED; k++) {
            ac_tensor *t = place[k]->t;
            const bool fresh = t && t->id < tensors && number_of(p, count, t) < 0 && may_move(place[k]);
            if (fresh && product_of(t, uses, &p[count]) && p[count].x == p[0].x)
                count++;
        }
        ac_tensor *all = count > 1 ? join(g, p, count) : NULL;
        if (count > 1 && !all)
            return AC_FAIL;
        for (int32_t k = 0; k < n && all; k++) {
            const int32_t at = place[k]->t ? number_of(p, count, place[k]->t) : -1;
            int64_t from = 0;
            for (int32_t j = 0; j < at; j++)
                from += p[j].w->dim[0];
            if (at >= 0 && !move(place[k], p[at].y, all, from))
                return AC_FAIL;
        }
    }
    return AC_OK;
}

/* Queries, keys and values that products of one tensor make come from one product. */
static int join_products(found *f, ac_node *node)
{
    ac_graph *g = f->g;
    ac_places *const place[] = {&f->at[AC_ATTENTION_Q], &f->at[AC_ATTENTION_K], &f->at[AC_ATTENTION_V]};
    const int32_t made = g->node.n, at = ac_graph_place_of(g, node);
    AC_TRY(join_all(g, f->uses, place, 3));
    const ac_attrs attrs = attributes(f, node->attrs.attention.heads_first);
    for (int32_t i = 0; i < node->n_in; i++)
        node->in[i] = i == AC_ATTENTION_MASK ? node->in[i] : f->at[i].t;
    node->attrs = attrs;
    ac_graph_place(g, made, at);
    return AC_OK;
}

/* True if n is the second product of an attention. */
static bool find(found *f, const ac_node *n)
{
    if (n->op != AC_OP_BATCH_MATMUL || n->n_fused || n->attrs.matmul.adj_x || n->out[0]->dtype != AC_F32 ||
        n->in[1]->dtype != AC_F32 || ac_tensor_count(n->out[0]) == 0)
        return false;
    f->second = n;
    f->scores = (ac_scores){.g = f->g, .uses = f->uses};
    return ac_scores_of(&f->scores, n->in[0]);
}

/* The readers of each tensor whose results are needed. */
static int32_t *needed_uses(const ac_graph *g, ac_region *r)
{
    int32_t *uses = ac_graph_uses(g, r);
    for (int32_t i = g->node.n - 1; i >= 0; i--) {
        const ac_node *n = g->node.item[i];
        bool needed = n->op == AC_OP_NONE || n->n_fused || ac_node_writes(n, NULL);
        for (int32_t k = 0; k < n->n_out; k++)
            needed |= uses[n->out[k]->id] > 0;
        for (int32_t k = 0; k < n->n_in && !needed; k++)
            if (n->in[k])
                uses[n->in[k]->id]--;
    }
    return uses;
}

/* ac_pass_attention: the softmax of products of queries and keys, times values, as one node, for GPUs. Transposes,
 * splits and reshapes before it become steps in its operands, the transpose after it the order of its result; a
 * concatenation of the keys so far and new ones that nothing else reads is left out. Products of one tensor that make
 * queries, keys and values are joined.
 *   before:  %k = transpose %k0   %s = batch_matmul %q %k   %c = mul %s factor   %m = add %c mask   %p = softmax %m
 *            %y = batch_matmul %p %v   %z = transpose %y       (mul, add or select with a mask may be missing)
 *   after:   %z = attention %q0 %k0 %v0 mask
 * needs: shapes known, f32, no epilogues.  keeps: values up to rounding, in the same formula. */
int ac_pass_attention(ac_pass *p)
{
    ac_graph *g = p->graph;
    ac_region *tmp = ac_region_open(&p->cx->heap);
    int32_t *uses = needed_uses(g, tmp);
    int status = AC_OK;
    for (int32_t i = 0; i < g->node.n && status == AC_OK; i++) {
        found f = {.g = g, .uses = uses};
        ac_node *n = g->node.item[i], *turned = NULL;
        bool fits = find(&f, n);
        for (int32_t alone = 1; fits && alone >= 0 && !turned; alone--) {
            fits = find_axes(&f, alone) && find_operands(&f);
            turned = fits ? turned_after(&f) : NULL;
        }
        if (!fits || f.depth > MOST_COLUMNS || f.width > MOST_COLUMNS)
            continue;
        follow_all(&f);
        const int32_t before = g->node.n;
        ac_node *made = NULL;
        status = replace(&f, i, turned ? turned : n, !turned, &made);
        for (int32_t k = 0; k < 2 && status == AC_OK; k++) { /* tensors were added */
            ac_region_close(tmp);
            tmp = ac_region_open(&p->cx->heap);
            f.uses = uses = needed_uses(g, tmp);
            status = k ? AC_OK : join_products(&f, made);
        }
        i += g->node.n - before;
        p->changed++;
    }
    ac_region_close(tmp);
    ac_graph_sweep(g);
    return status;
}
