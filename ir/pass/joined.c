/* joined.c - joins products of one tensor by several constant weights. */
#include "ir/pass/joined.h"
#include "ir/make/maker.h"
#include "ir/pass/dequantised.h"

enum { MOST = 8 };

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
    ac_tensor *w[MOST], *bias[MOST];
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

static int32_t find(const product *p, int32_t n, const ac_tensor *y)
{
    for (int32_t i = 0; i < n; i++)
        if (p[i].y == y)
            return i;
    return -1;
}

int ac_join_products(ac_graph *g, const int32_t *uses, ac_places *const *place, int32_t n)
{
    const int32_t tensors = g->tensor.n; /* later ones are of joined products */
    for (int32_t i = 0; i < n; i++) {
        product p[MOST];
        int32_t found = 0;
        for (int32_t k = i; k < n && found < MOST; k++) {
            ac_tensor *t = place[k]->t;
            const bool fresh = t && t->id < tensors && find(p, found, t) < 0 && may_move(place[k]);
            if (fresh && product_of(t, uses, &p[found]) && p[found].x == p[0].x)
                found++;
        }
        ac_tensor *all = found > 1 ? join(g, p, found) : NULL;
        if (found > 1 && !all)
            return AC_FAIL;
        for (int32_t k = 0; k < n && all; k++) {
            const int32_t at = place[k]->t ? find(p, found, place[k]->t) : -1;
            int64_t from = 0;
            for (int32_t j = 0; j < at; j++)
                from += p[j].w->dim[0];
            if (at >= 0 && !move(place[k], p[at].y, all, from))
                return AC_FAIL;
        }
    }
    return AC_OK;
}
