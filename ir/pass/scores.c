/* scores.c - finds the scores of queries and keys that a softmax turns into weights. */
#include "ir/pass/scores.h"
#include "ir/ops/decode/axis.h"
#include "ir/pass/dequantised.h"

static bool only_here(const ac_scores *f, const ac_tensor *t)
{
    return f->uses[t->id] == 1;
}

/* x, if t is x rounded to 16 bits and back: files of 16-bit floats round each result. Else t. */
static ac_tensor *unrounded(const ac_scores *f, ac_tensor *t)
{
    for (;;) {
        const ac_node *back = ac_made_by(t, AC_OP_CAST), *down = back ? ac_made_by(back->in[0], AC_OP_CAST) : NULL;
        if (!down || !ac_dtype_is_half(back->in[0]->dtype) || !only_here(f, back->in[0]) || t->dtype != AC_F32 ||
            down->in[0]->dtype != AC_F32)
            return t;
        t = down->in[0];
    }
}

/* The value of a constant with one element. */
static bool one_number(ac_graph *g, ac_tensor *t, float *value)
{
    if (!t || !ac_tensor_is_const(t) || t->dtype != AC_F32 || ac_tensor_count(t) != 1)
        return false;
    const float *v = ac_tensor_force(g->cx, t);
    *value = v ? *v : 0;
    return v != NULL;
}

/* x, if t is x times one number; *scale is multiplied by it. */
ac_tensor *ac_scores_scaled(ac_graph *g, const ac_tensor *t, float *scale)
{
    const ac_node *n = t->def;
    float c;
    if (!n || (n->op != AC_OP_MUL && n->op != AC_OP_DIV) || n->n_fused || ac_node_act(n) != AC_ACT_NONE)
        return NULL;
    for (int32_t k = 0; k < (n->op == AC_OP_MUL ? 2 : 1); k++)
        if (one_number(g, n->in[1 - k], &c) && ac_tensor_same_shape(n->in[k], t) && n->in[k]->dtype == AC_F32) {
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
static ac_tensor *before_mask(ac_scores *f, const ac_node *n, int32_t side)
{
    const ac_tensor *y = n->out[0];
    ac_tensor *x = NULL;
    if (f->mask || f->scale < 1 || f->scale > 1)
        return NULL;
    if (n->op == AC_OP_ADD && ac_node_act(n) == AC_ACT_NONE && is_mask(n->in[1 - side])) {
        x = n->in[side];
        f->mask = n->in[1 - side];
    } else if (n->op == AC_OP_SELECT && one_number(f->g, n->in[2 - side], &f->hidden)) {
        x = n->in[1 + side];
        f->mask = n->in[0];
        f->inverse = side == 1;
    }
    f->masked = y;
    return x && ac_tensor_same_shape(x, y) ? x : NULL;
}

/* The operand of the node that makes t, if that changes only its shape, or its type from f32 to 16 bits or back. */
static ac_tensor *same_values(const ac_tensor *t)
{
    const ac_node *n = t->def;
    if (!n || n->n_fused || n->n_in < 1)
        return NULL;
    ac_tensor *x = n->in[0];
    const bool rounds = n->op == AC_OP_CAST && ((ac_dtype_is_half(x->dtype) && t->dtype == AC_F32) ||
                                                (x->dtype == AC_F32 && ac_dtype_is_half(t->dtype)));
    const bool shaped =
        ac_ops[n->op].flags & OF_VIEW && x->rank && t->rank && x->dim[x->rank - 1] == t->dim[t->rank - 1];
    return rounds || shaped ? x : NULL;
}

/* t, the operand of the softmax or a value before it, leads to the product of queries and keys. */
static bool find_product(ac_scores *f, ac_tensor *t, int32_t deep)
{
    const ac_scores before = *f;
    const ac_node *n = t->def;
    if (!n || n->n_fused || deep > 32 || !only_here(f, t))
        return false;
    ac_tensor *x = same_values(t);
    if (x)
        return find_product(f, x, deep + 1);
    if (t->dtype != AC_F32)
        return false;
    if (n->op == AC_OP_BATCH_MATMUL) {
        f->product = n;
        return n->in[0]->dtype == AC_F32 && n->in[1]->dtype == AC_F32;
    }
    x = ac_scores_scaled(f->g, t, &f->scale);
    if (x)
        return find_product(f, x, deep + 1);
    for (int32_t side = 0; side < 2 && (n->op == AC_OP_ADD || n->op == AC_OP_SELECT); side++) {
        x = before_mask(f, n, side);
        if (x && find_product(f, x, deep + 1))
            return true;
        *f = before;
    }
    return false;
}

/* The type that t was rounded to before. */
static ac_dtype rounding_of(const ac_tensor *t)
{
    while (t->def && !t->def->n_fused && ac_ops[t->def->op].flags & OF_VIEW)
        t = t->def->in[0];
    const ac_node *back = ac_made_by(t, AC_OP_CAST);
    return back && ac_dtype_is_half(back->in[0]->dtype) ? back->in[0]->dtype : AC_F32;
}

/* x, if t is its maximum or sum over the last dimension, which stays as 1. */
static ac_tensor *reduced(const ac_scores *f, const ac_tensor *t, ac_op op)
{
    const ac_node *n = ac_made_by(t, op);
    uint32_t mask;
    const ac_diags before = f->g->cx->diags;
    if (!n || !ac_quietly(f->g->cx, before, ac_reduce_axes(f->g->cx, n, &mask)))
        return NULL;
    ac_tensor *x = n->in[0];
    return x->rank && t->rank == x->rank && mask == 1u << (x->rank - 1) ? x : NULL;
}

/* x, if t is e^(x - max x) over its sum, as files of 16-bit floats compute it. */
static ac_tensor *composed_softmax(const ac_scores *f, const ac_tensor *t)
{
    const ac_node *share = ac_made_by(t, AC_OP_DIV);
    ac_tensor *e = share ? share->in[0] : NULL;
    if (!e || f->uses[e->id] != 2 || ac_node_act(share) != AC_ACT_NONE ||
        reduced(f, unrounded(f, share->in[1]), AC_OP_SUM) != e)
        return NULL;
    const ac_node *power = ac_made_by(unrounded(f, e), AC_OP_EXP);
    const ac_node *less =
        power && only_here(f, power->in[0]) ? ac_made_by(unrounded(f, power->in[0]), AC_OP_SUB) : NULL;
    if (!less || ac_node_act(less) != AC_ACT_NONE)
        return NULL;
    ac_tensor *x = less->in[0];
    const bool shifted = reduced(f, unrounded(f, less->in[1]), AC_OP_REDUCE_MAX) == x;
    return f->uses[x->id] == 2 && shifted && rounding_of(x) != AC_F32 ? x : NULL;
}

/* The scores whose softmax, perhaps in another shape, is p; *beta: its factor. */
static ac_tensor *softmaxed(const ac_scores *f, ac_tensor *p, float *beta)
{
    for (ac_tensor *x = p; x; x = same_values(p)) {
        p = x;
        if (!only_here(f, p))
            return NULL;
    }
    const ac_node *n = ac_made_by(p, AC_OP_SOFTMAX);
    *beta = n ? n->attrs.softmax.beta : 1;
    return !n ? composed_softmax(f, p) : only_here(f, n->in[0]) ? n->in[0] : NULL;
}

bool ac_scores_of(ac_scores *f, ac_tensor *weights)
{
    float beta;
    ac_tensor *scores = softmaxed(f, weights, &beta);
    if (!scores)
        return false;
    f->scale = 1;
    f->rounded = rounding_of(scores);
    if (!find_product(f, f->rounded == AC_F32 ? scores : scores->def->in[0], 0))
        return false;
    const bool plain = beta >= 1 && beta <= 1;
    const ac_tensor *s = f->product->out[0];
    f->scale *= beta;
    return s->dtype == AC_F32 && (plain || (!f->mask && beta > 0)) && ac_tensor_count(s) == ac_tensor_count(weights) &&
           ac_tensor_count(s) > 0;
}
