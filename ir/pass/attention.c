/* attention.c - scores of queries and keys, their softmax and the weighted values become one node. */
#include "ir/make/maker.h"
#include "ir/ops/decode/attention.h"
#include "ir/ops/decode/axis.h"
#include "ir/pass/dequantised.h"
#include "ir/pass/joined.h"
#include "ir/pass/passes.h"
#include "ir/pass/places.h"

#include <string.h>

enum { MOST_COLUMNS = 256 }; /* as lowered for GPUs */
enum { BATCH, GROUP, HEAD, ROW, LAST, AXES };

typedef struct found {
    ac_graph *g;
    const int32_t *uses;
    const ac_node *second, *first; /* the products: weights and values, queries and keys */
    const ac_node *softmax;
    float scale, hidden;
    ac_tensor *mask;         /* NULL: none */
    const ac_tensor *masked; /* the scores with it: its dimensions are those that the mask is broadcast to */
    bool inverse;            /* a mask of bools is true where the score is hidden */
    int64_t count[AXES];     /* batch, groups, heads of a group, rows, keys */
    int64_t depth, width;
    ac_places at[AC_ATTENTION_OPERANDS];
    int64_t past;
} found;

/* ------------------------------------------------------------------ from the weights to the scores */

static bool only_here(const found *f, const ac_tensor *t)
{
    return f->uses[t->id] == 1 && t->dtype == AC_F32;
}

/* The value of a constant with one element. */
static bool one_number(const found *f, ac_tensor *t, float *value)
{
    if (!t || !ac_tensor_is_const(t) || t->dtype != AC_F32 || ac_tensor_count(t) != 1)
        return false;
    const float *v = ac_tensor_force(f->g->cx, t);
    *value = v ? *v : 0;
    return v != NULL;
}

/* x, if t is x times one number; multiplies *scale by the number. */
static ac_tensor *scaled(const found *f, const ac_tensor *t, float *scale)
{
    const ac_node *n = t->def;
    float c;
    if (!n || (n->op != AC_OP_MUL && n->op != AC_OP_DIV) || n->n_fused || ac_node_act(n) != AC_ACT_NONE)
        return NULL;
    for (int32_t k = 0; k < (n->op == AC_OP_MUL ? 2 : 1); k++)
        if (one_number(f, n->in[1 - k], &c) && ac_tensor_same_shape(n->in[k], t) && n->in[k]->dtype == AC_F32) {
            *scale = n->op == AC_OP_MUL ? *scale * c : *scale / c;
            return n->in[k];
        }
    return NULL;
}

static bool is_mask(const ac_tensor *t)
{
    return t->dtype == AC_F32 && t->rank <= 4;
}

/* The scores before the mask, if n adds one to them or replaces those that it hides. */
static ac_tensor *before_mask(found *f, const ac_node *n, int32_t side)
{
    const ac_tensor *y = n->out[0];
    ac_tensor *x = NULL;
    if (f->mask || f->scale < 1 || f->scale > 1)
        return NULL;
    if (n->op == AC_OP_ADD && ac_node_act(n) == AC_ACT_NONE && is_mask(n->in[1 - side])) {
        x = n->in[side];
        f->mask = n->in[1 - side];
    } else if (n->op == AC_OP_SELECT && one_number(f, n->in[2 - side], &f->hidden)) {
        x = n->in[1 + side];
        f->mask = n->in[0];
        f->inverse = side == 1;
    }
    f->masked = y;
    return x && ac_tensor_same_shape(x, y) ? x : NULL;
}

/* t, the operand of the softmax or a value before it, leads to the product of queries and keys. */
static bool find_first(found *f, const ac_tensor *t, int32_t deep)
{
    const ac_node *n = t->def;
    const found before = *f;
    if (!n || n->n_fused || deep > 8 || !only_here(f, t))
        return false;
    if (n->op == AC_OP_BATCH_MATMUL) {
        f->first = n;
        return n->in[0]->dtype == AC_F32 && n->in[1]->dtype == AC_F32;
    }
    if (ac_ops[n->op].flags & OF_VIEW) {
        const ac_tensor *x = n->in[0];
        return x->rank && t->rank && x->dim[x->rank - 1] == t->dim[t->rank - 1] && find_first(f, x, deep + 1);
    }
    const ac_tensor *x = scaled(f, t, &f->scale);
    if (x)
        return find_first(f, x, deep + 1);
    for (int32_t side = 0; side < 2 && (n->op == AC_OP_ADD || n->op == AC_OP_SELECT); side++) {
        x = before_mask(f, n, side);
        if (x && find_first(f, x, deep + 1))
            return true;
        *f = before;
    }
    return false;
}

/* The softmax whose result, perhaps in another shape, is p. */
static const ac_node *softmax_of(const found *f, const ac_tensor *p)
{
    const int64_t keys = p->rank ? p->dim[p->rank - 1] : 0;
    while (p->def && only_here(f, p) && !p->def->n_fused && ac_ops[p->def->op].flags & OF_VIEW)
        p = p->def->in[0];
    const ac_node *n = ac_made_by(p, AC_OP_SOFTMAX);
    return n && only_here(f, p) && p->rank && p->dim[p->rank - 1] == keys ? n : NULL;
}

/* ------------------------------------------------------------------ axes */

/* Steps of the dimensions of a product's result in its operand i; *along: of the dimension that it sums. */
static void product_steps(const ac_node *n, int32_t i, int64_t to[AC_MAX_RANK], int64_t *along)
{
    const ac_tensor *x = n->in[i], *y = n->out[0];
    const bool turned = i ? n->attrs.matmul.adj_y : n->attrs.matmul.adj_x;
    const int32_t left = y->rank - x->rank;
    int64_t step[AC_MAX_RANK];
    ac_steps_of(x->rank, x->dim, step);
    for (int32_t d = 0; d < y->rank - 2; d++)
        to[d] = d < left || x->dim[d - left] == 1 ? 0 : step[d - left];
    const int64_t row = step[x->rank - 2], column = step[x->rank - 1];
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
    const ac_node *one = f->first, *two = f->second;
    const ac_tensor *q = one->in[0];
    const int32_t row = one->attrs.matmul.adj_x ? q->rank - 2 : q->rank - 1;
    f->depth = q->dim[row];
    const bool found_all = find_operand(f, AC_ATTENTION_Q, one, 0, LAST, f->count[LAST], f->depth) &&
                           find_operand(f, AC_ATTENTION_K, one, 1, LAST, f->count[LAST], f->depth) &&
                           find_operand(f, AC_ATTENTION_V, two, 1, ROW, f->width, f->count[LAST]);
    if (!found_all || !f->mask)
        return found_all;
    ac_places m = whole(f, f->mask, f->count[LAST]);
    int64_t step[AC_MAX_RANK], to[AC_MAX_RANK];
    ac_steps_of(f->mask->rank, f->mask->dim, step);
    for (int32_t d = 0; d < f->masked->rank; d++) {
        const int32_t k = d - (f->masked->rank - f->mask->rank);
        to[d] = k < 0 || f->mask->dim[k] == 1 ? 0 : step[k];
    }
    if (!ac_places_move(&m, f->masked->rank, f->masked->dim, to, 0))
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
    if (!n || n->n_in != 2 || ac_node_act(n) != AC_ACT_NONE || !only_here(f, t) ||
        !ac_quietly(f->g->cx, f->g->cx->diags, ac_axis_norm(f->g->cx, n, n->attrs.axis.axis, t->rank, &axis)))
        return false;
    ac_steps_of(t->rank, t->dim, step);
    const bool along = t->dim[axis] == p->axis[ROW].count && p->axis[ROW].step == step[axis] && t->dim[axis] > 1;
    ac_places part[2] = {*p, *p};
    for (int32_t i = 0; i < 2 && along; i++) {
        ac_tensor *x = n->in[i];
        const bool fits = x->dtype == AC_F32 && !ac_tensor_root(x)->state && x->dim[axis] > 0;
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

/* Follows the elements of operand i to the tensor where they were computed. */
static void follow(found *f, int32_t i)
{
    ac_places *p = &f->at[i];
    for (bool again = p->t != NULL; again;) {
        ac_tensor *x = i == AC_ATTENTION_Q || i == AC_ATTENTION_K ? scaled(f, p->t, &f->scale) : NULL;
        const ac_node *cast = ac_made_by(p->t, AC_OP_CAST);
        const bool half = cast && (cast->in[0]->dtype == AC_F16 || cast->in[0]->dtype == AC_BF16);
        x = half && !ac_tensor_root(cast->in[0])->state ? cast->in[0] : x;
        p->t = x ? x : p->t;
        again = x || ac_places_step(f->g, p);
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
    const float scale = f->scale; /* the parts of a key have no scales of their own */
    follow(f, AC_ATTENTION_V);
    follow(f, AC_ATTENTION_PAST_V);
    ac_places *const own[2] = {&f->at[AC_ATTENTION_K], &f->at[AC_ATTENTION_PAST_K]};
    for (int32_t i = 0; i < 2; i++)
        while (ac_places_step(f->g, own[i]))
            ;
    f->scale = scale;
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

/* The transposition after the product, perhaps after a reshape, if its result is [batch, rows, heads, width]. */
static ac_node *turned_after(const found *f)
{
    const ac_tensor *y = f->second->out[0];
    ac_node *n = reader_of(f, y);
    while (n && ac_ops[n->op].flags & OF_VIEW && !n->n_fused)
        n = reader_of(f, n->out[0]);
    if (!n || n->op != AC_OP_TRANSPOSE || n->n_fused || n->out[0]->dtype != AC_F32)
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
    a->scale = f->scale;
    a->hidden = f->hidden;
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
    if (f->inverse && !(in[AC_ATTENTION_MASK] = ac_make_1(&b, AC_OP_LOGICAL_NOT, in[AC_ATTENTION_MASK])))
        return AC_FAIL;
    const ac_attrs attrs = attributes(f, heads_first);
    int32_t n = AC_ATTENTION_OPERANDS;
    while (!in[n - 1])
        n--;
    ac_node_erase(from);
    const int64_t heads = f->count[GROUP] * f->count[HEAD], rows = f->count[ROW];
    const int64_t dim[4] = {f->count[BATCH], heads_first ? heads : rows, heads_first ? rows : heads, f->width};
    const bool same = ac_dims_equal(y, 4, dim);
    ac_tensor *own = same ? y : ac_tensor_new(g, y->name, AC_F32, 4, dim);
    if (!ac_make_into(&b, AC_OP_ATTENTION, in, n, &attrs, own) || (!same && !ac_make_reshape_into(&b, own, y, y)))
        return AC_FAIL;
    ac_graph_place(g, made, at);
    *node = own->def;
    return AC_OK;
}

/* Queries, keys and values that products of one tensor make come from one product. */
static int join_products(found *f, ac_node *node)
{
    ac_graph *g = f->g;
    ac_places *const place[] = {&f->at[AC_ATTENTION_Q], &f->at[AC_ATTENTION_K], &f->at[AC_ATTENTION_V]};
    const int32_t made = g->node.n, at = ac_graph_place_of(g, node);
    AC_TRY(ac_join_products(g, f->uses, place, 3));
    const ac_attrs attrs = attributes(f, node->attrs.attention.heads_first);
    for (int32_t i = 0; i < node->n_in; i++)
        node->in[i] = i == AC_ATTENTION_MASK ? node->in[i] : f->at[i].t;
    node->attrs = attrs;
    ac_graph_place(g, made, at);
    return AC_OK;
}

/* True if n, number `at`, is the second product of an attention. */
static bool find(found *f, const ac_node *n)
{
    if (n->op != AC_OP_BATCH_MATMUL || n->n_fused || n->attrs.matmul.adj_x || n->out[0]->dtype != AC_F32 ||
        n->in[1]->dtype != AC_F32 || ac_tensor_count(n->out[0]) == 0)
        return false;
    f->second = n;
    f->softmax = softmax_of(f, n->in[0]);
    if (!f->softmax || !find_first(f, f->softmax->in[0], 0))
        return false;
    const float beta = f->softmax->attrs.softmax.beta;
    const bool plain = beta >= 1 && beta <= 1;
    f->scale *= beta;
    const ac_tensor *s = f->first->out[0];
    return s->dtype == AC_F32 && (plain || (!f->mask && beta > 0)) && ac_tensor_count(s) == ac_tensor_count(n->in[0]) &&
           ac_tensor_count(s) > 0;
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
 * queries, keys and values are joined (joined.h).
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
        found f = {.g = g, .uses = uses, .scale = 1};
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
