/* equal.c - compares two graphs as models. Tensors are matched by name; numbers and positions of nodes and tensors,
 * unused tensors and the order of constants are ignored. Lazy constants are computed. */
#include "ir/graph/graph.h"

#include <string.h>

static bool same_value(ac_ctx *cx, ac_tensor *a, ac_tensor *b)
{
    const bool given = a->data || ac_tensor_is_const(a);
    if (given != (b->data || ac_tensor_is_const(b)) || !given)
        return given == (b->data || ac_tensor_is_const(b));
    if (a->splat && b->splat)
        return !memcmp(a->data, b->data, (size_t)ac_dtype_size(a->dtype, 1));
    const void *x = a->state ? a->data : ac_tensor_force(cx, a), *y = b->state ? b->data : ac_tensor_force(cx, b);
    if (a->splat || b->splat) /* state that is dense in one and splat in the other */
        return false;
    return x && y && !memcmp(x, y, (size_t)ac_tensor_bytes(a));
}

static bool same_tensor(ac_ctx *cx, ac_tensor *a, ac_tensor *b)
{
    if (!a || !b)
        return a == b;
    if (strcmp(a->name, b->name) != 0 || a->dtype != b->dtype || !ac_tensor_same_shape(a, b) ||
        !ac_quant_equal(a->quant, b->quant) || !ac_vocabulary_equal(a->words, b->words))
        return false;
    for (int32_t i = 0; i < a->rank; i++)
        if (strcmp(a->dim_name[i] ? a->dim_name[i] : "", b->dim_name[i] ? b->dim_name[i] : "") != 0)
            return false;
    if (a->input != b->input || a->output != b->output || a->state != b->state || !a->def != !b->def ||
        !a->root != !b->root)
        return false;
    if (a->root && (strcmp(a->root->name, b->root->name) != 0 || a->view_offset != b->view_offset))
        return false;
    return a->def || same_value(cx, a, b);
}

static bool same_list(ac_ctx *cx, ac_tensor *const *a, int32_t n, ac_tensor *const *b, int32_t m)
{
    bool same = n == m;
    for (int32_t i = 0; i < n && same; i++)
        same = same_tensor(cx, a[i], b[i]);
    return same;
}

static bool same_node(ac_ctx *cx, const ac_node *a, const ac_node *b)
{
    if (a->op != b->op || strcmp(a->name, b->name) != 0 || a->view != b->view || a->n_fused != b->n_fused ||
        !ac_attrs_equal(a->op, &a->attrs, &b->attrs))
        return false;
    for (int32_t i = 0; i < a->n_fused; i++)
        if (!same_node(cx, a->fused[i], b->fused[i]))
            return false;
    return same_list(cx, a->in, a->n_in, b->in, b->n_in) && same_list(cx, a->out, a->n_out, b->out, b->n_out);
}

/* Every constant and every state of a is also in b. */
static bool covers(ac_ctx *cx, const ac_graph *a, const ac_graph *b)
{
    for (int32_t i = 0; i < a->tensor.n; i++) {
        ac_tensor *t = a->tensor.item[i];
        if (!ac_tensor_is_const(t) && !t->state)
            continue;
        ac_tensor *u = ac_tensor_find(b, t->name);
        if (!u || !same_tensor(cx, t, u))
            return false;
    }
    return true;
}

bool ac_graph_equal(const ac_graph *a, const ac_graph *b)
{
    ac_ctx *cx = a->cx;
    if (strcmp(a->name, b->name) != 0 || a->node.n != b->node.n || a->sub.n != b->sub.n ||
        !same_list(cx, a->input.item, a->input.n, b->input.item, b->input.n) ||
        !same_list(cx, a->output.item, a->output.n, b->output.item, b->output.n) || !covers(cx, a, b) ||
        !covers(cx, b, a))
        return false;
    for (int32_t i = 0; i < a->node.n; i++)
        if (!same_node(cx, a->node.item[i], b->node.item[i]))
            return false;
    for (int32_t i = 0; i < a->sub.n; i++)
        if (!ac_graph_equal(a->sub.item[i], b->sub.item[i]))
            return false;
    return true;
}
