/* values.c - values by name, and the memory of tensors. Our tensors never change; so an operator that changes a tensor
 * of PyTorch in place gives its cell another tensor. A view follows its base: it is made again from the base when that
 * has changed, and a change of the view changes the base.
 *
 *     y = x.select(0, 1); y.add_(1)         x becomes x with row 1 replaced by y + 1 */
#include "import/pt2/nodes.h"

#include <string.h>

ac_ep_value *ac_ep_value_find(const ac_ep_scope *s, const char *name)
{
    const int32_t i = ac_name_get(&s->value_at, name);
    return i < 0 ? NULL : s->value.item[i];
}

ac_ep_value *ac_ep_value_add(ac_ep *r, ac_ep_scope *s, const char *name, ac_place at)
{
    if (ac_name_get(&s->value_at, name) >= 0)
        return (void)ac_error(r->cx, at, E0101, "produces '%s', which exists already", name), NULL;
    ac_ep_value *v = AC_NEW(r->cx->region, ac_ep_value);
    *v = (ac_ep_value){.name = name, .broken = true};
    *ac_name_put(r->cx->region, &s->value_at, name) = s->value.n;
    ac_push(r->cx->region, &s->value, v);
    return v;
}

void ac_ep_value_tensor(ac_ep *r, ac_ep_value *v, ac_tensor *t)
{
    v->kind = AC_EP_TENSOR;
    v->broken = false;
    v->cell = AC_NEW(r->cx->region, ac_ep_cell);
    *v->cell = (ac_ep_cell){.t = t, .buffer = -1};
}

/* ------------------------------------------------------------------ views */

enum { DEEPEST = 256 };

static ac_tensor *read(ac_ep *r, ac_ep_cell *c, int32_t depth)
{
    if (!c->base || depth > DEEPEST)
        return c->t;
    ac_tensor *base = read(r, c->base, depth + 1);
    if (!base || c->base->version == c->seen)
        return base ? c->t : NULL;
    ac_tensor **out = AC_NEW_N(r->cx->region, ac_tensor *, c->how->n_out + 1);
    if (ac_ep_node_redo(c->how, base, out) != AC_OK)
        return NULL;
    c->t = out[c->part];
    c->seen = c->base->version;
    c->version++;
    return c->t;
}

ac_tensor *ac_ep_read(ac_ep *r, ac_ep_cell *c)
{
    return read(r, c, 0);
}

/* Where the elements of a view are in its base, counted in row-major order: the view of 0, 1, 2 .. NULL: reported */
static const int64_t *places(ac_ep_node *n, const ac_ep_cell *c, int64_t all)
{
    const ac_tensor *base = c->base->t;
    int64_t *v = AC_NEW_N(n->r->cx->region, int64_t, all + 1);
    ac_tensor **out = AC_NEW_N(n->r->cx->region, ac_tensor *, c->how->n_out + 1);
    for (int64_t i = 0; i < all; i++)
        v[i] = i;
    if (ac_ep_node_redo(c->how, ac_make_ints_shaped(&n->b, base->rank, base->dim, v), out) != AC_OK)
        return NULL;
    if (!ac_tensor_is_const(out[c->part]))
        return (void)ac_cannot(&n->b, "it changes a part of a tensor that has %lld elements", (long long)all), NULL;
    return ac_tensor_force(n->r->cx, out[c->part]);
}

/* The flat tensor x with `part` in its place. */
static ac_tensor *between(ac_ep_node *n, ac_tensor *x, ac_tensor *part, int64_t at, int64_t count, int64_t all)
{
    ac_tensor *list[3];
    int32_t k = 0;
    if (at)
        list[k++] = ac_make_slice(&n->b, x, 0, 0, at);
    list[k++] = part;
    if (at + count < all)
        list[k++] = ac_make_slice(&n->b, x, 0, at + count, all - at - count);
    return k == 1 ? part : ac_make_concat(&n->b, list, k, 0);
}

/* The base of c with the elements of the view t. */
static ac_tensor *put_back(ac_ep_node *n, const ac_ep_cell *c, ac_tensor *t)
{
    enum { MOST = 1 << 24 };
    ac_tensor *base = c->base->t;
    const int64_t all = ac_tensor_count(base), count = ac_tensor_count(t);
    if (all > MOST)
        return (void)ac_cannot(&n->b, "it changes a part of a tensor that has %lld elements", (long long)all), NULL;
    const int64_t *at = places(n, c, all);
    if (!at || !count)
        return at ? base : NULL;
    bool run = true;
    for (int64_t i = 0; i < count && run; i++)
        run = at[i] == at[0] + i;
    ac_tensor *flat = ac_make_reshape(&n->b, t, 1, &count), *x = ac_make_reshape(&n->b, base, 1, &all), *y;
    if (run) {
        y = between(n, x, flat, at[0], count, all);
    } else {
        ac_attrs a;
        ac_tensor *in[] = {x, ac_make_ints(&n->b, count, at), flat};
        ac_attrs_init(AC_OP_SCATTER_ELEMENTS, &a);
        y = in[0] && in[2] ? ac_make_op(&n->b, AC_OP_SCATTER_ELEMENTS, in, 3, &a, AC_NONE) : NULL;
    }
    return ac_make_reshape(&n->b, y, base->rank, base->dim);
}

static int write(ac_ep_node *n, ac_ep_cell *c, ac_tensor *t, int32_t depth)
{
    if (!t || depth > DEEPEST)
        return AC_FAIL;
    if (c->base) {
        if (!ac_ep_read(n->r, c->base))
            return AC_FAIL;
        AC_TRY(write(n, c->base, put_back(n, c, t), depth + 1));
        c->seen = c->base->version;
    }
    c->t = t;
    c->version++;
    return AC_OK;
}

int ac_ep_write(ac_ep_node *n, ac_ep_cell *c, ac_tensor *t)
{
    return write(n, c, t, 0);
}
