/* origin.c - constants of the file that a constant is made of; see origin.h. */
#include "ir/lower/recipe/origin.h"

#include "ir/lower/recipe/recipe.h"

enum { MOST_VISITS = 1 << 10 }; /* of nodes that make one constant */

ac_bytes ac_origin_bytes(const ac_tensor *leaf)
{
    const ac_bytes own = ac_recipe_stored(leaf);
    return leaf->in_file && leaf->in_file < own ? leaf->in_file : own;
}

/* The node that made t of constants; NULL: t is in the file. */
static const ac_node *maker_of(const ac_tensor *t)
{
    const ac_node *n = t->made_of;
    for (int32_t i = 0; n && i < n->n_in; i++)
        if (n->in[i] && !ac_tensor_is_const(n->in[i]))
            n = NULL;
    return n;
}

static ac_bytes add(ac_region *r, ac_origin *o, const ac_tensor *t, int32_t *left)
{
    const ac_node *n = maker_of(t);
    const ac_bytes own = ac_origin_bytes(t);
    const int32_t before = o->leaf.n;
    ac_bytes sum = 0;
    if (t->form_of && --*left > 0)
        return add(r, o, t->form_of, left);
    if (n && --*left > 0) {
        for (int32_t i = 0; i < n->n_in; i++)
            if (n->in[i] && !ac_node_is_static(n, i))
                sum += add(r, o, n->in[i], left);
        if (sum < own)
            return sum;
        o->leaf.n = before;
    }
    for (int32_t i = 0; i < o->leaf.n; i++)
        if (o->leaf.item[i] == t || (t->data && o->leaf.item[i]->data == t->data))
            return 0;
    ac_push(r, &o->leaf, t);
    return own;
}

ac_bytes ac_origin_add(ac_region *r, ac_origin *o, const ac_tensor *t)
{
    int32_t left = MOST_VISITS;
    return add(r, o, t, &left);
}

const char *ac_origin_why_stored(ac_region *r, const ac_tensor *t)
{
    int32_t left = MOST_VISITS;
    while (t && --left > 0) {
        const ac_node *n = maker_of(t);
        const ac_tensor *largest = NULL;
        if (!n)
            return t->in_file && t->in_file < ac_recipe_stored(t) ? "the file holds it compressed or sparse" : NULL;
        if (!ac_recipe_node(t))
            return ac_strf(r, "%s makes it, and is computed only once, when the program is made", ac_ops[n->op].text);
        for (int32_t i = 0; i < n->n_in; i++)
            if (n->in[i] && !ac_node_is_static(n, i) &&
                (!largest || ac_recipe_bytes(n->in[i]) > ac_recipe_bytes(largest)))
                largest = n->in[i];
        t = largest;
    }
    return NULL;
}
