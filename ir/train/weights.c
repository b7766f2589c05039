/* weights.c - the weights of a step: which constants of a model they are, and their layout in the step; see train.h. */
#include "base/text/pattern.h"
#include "ir/train/train.h"

#include <string.h>

bool ac_train_named(const char *const *list, int32_t n, const char *name)
{
    for (int32_t i = 0; i < n; i++)
        if (ac_pattern_match(NULL, list[i], name, NULL))
            return true;
    return false;
}

/* By tensor id: it is an operand of loops. */
bool *ac_train_read(const ac_graph *g, ac_region *r)
{
    bool *read = AC_NEW_N(r, bool, g->tensor.n + 1);
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *n = g->node.item[i];
        for (int32_t k = 0; k < n->n_in; k++)
            if (n->in[k] && !ac_node_is_static(n, k))
                read[n->in[k]->id] = true;
    }
    return read;
}

void ac_train_mark(const ac_graph *g)
{
    bool any = false;
    for (int32_t i = 0; i < g->tensor.n; i++)
        any |= g->tensor.item[i]->weight;
    for (int32_t i = 0; i < g->tensor.n && !any; i++) {
        ac_tensor *t = g->tensor.item[i];
        t->weight = ac_tensor_is_const(t) && t->dtype == AC_F32 && ac_tensor_count(t) > 1;
    }
}

int ac_train_to_state(ac_ctx *cx, ac_tensor *t, bool running, ac_train_step *s)
{
    const void *data = ac_tensor_force(cx, t);
    if (!data)
        return AC_FAIL;
    ac_train_weight w = {
        .name = t->name, .state = t, .dtype = t->dtype, .rank = t->rank, .first = data, .running = running};
    memcpy(w.dim, t->dim, sizeof w.dim);
    t->weight = false;
    t->state = true;
    ac_push(cx->region, &s->weight, w);
    return AC_OK;
}

/* ------------------------------------------------------------------ layouts */

ac_node *ac_train_only_reader(const ac_graph *g, const ac_tensor *t)
{
    ac_node *found = NULL;
    for (int32_t i = 0; i < g->node.n; i++) {
        ac_node *n = g->node.item[i];
        for (int32_t k = 0; k < n->n_in; k++)
            if (n->in[k] == t) {
                if (found)
                    return NULL;
                found = n;
            }
    }
    return t->output ? NULL : found;
}

static void turn(const uint8_t *from, uint8_t *to, size_t size, const ac_transposition *m, bool back)
{
    int64_t stride[AC_MAX_RANK], at[AC_MAX_RANK] = {0}, count = 1;
    for (int32_t d = m->rank - 1; d >= 0; count *= m->dim[d--])
        stride[d] = count;
    for (int64_t i = 0; i < count; i++) {
        int64_t k = 0;
        for (int32_t d = 0; d < m->rank; d++)
            k += at[d] * stride[m->perm[d]];
        memcpy(to + (size_t)(back ? k : i) * size, from + (size_t)(back ? i : k) * size, size);
        for (int32_t d = m->rank - 1; d >= 0 && ++at[d] == m->dim[m->perm[d]]; d--)
            at[d] = 0;
    }
}

static const void *turned(ac_ctx *cx, const ac_train_weight *w, const ac_transposition *m, const void *data, bool back)
{
    const size_t bytes = (size_t)ac_dtype_size(w->dtype, ac_dim_product(m->dim, 0, m->rank));
    uint8_t *out = ac_alloc(cx->region, bytes + 1);
    turn(data, out, (size_t)ac_dtype_size(w->dtype, 1), m, back);
    return out;
}

const void *ac_train_to_file(ac_ctx *cx, const ac_train_weight *w, const void *data)
{
    for (int32_t i = w->move.n - 1; i >= 0; i--)
        data = turned(cx, w, &w->move.item[i], data, true);
    return data;
}

const void *ac_train_to_step(ac_ctx *cx, const ac_train_weight *w, const void *data)
{
    for (int32_t i = 0; i < w->move.n; i++)
        data = turned(cx, w, &w->move.item[i], data, false);
    return data;
}

/* The permutation of a transpose; false: it is not known. */
static bool perm_of(ac_ctx *cx, const ac_node *n, ac_transposition *m)
{
    ac_ints perm;
    if (ac_node_ints(cx, n, 1, n->attrs.perm.perm, &perm) != AC_OK || perm.n != n->in[0]->rank)
        return false;
    m->rank = perm.n;
    for (int32_t d = 0; d < perm.n; d++) {
        m->perm[d] = (int32_t)perm.v[d];
        m->dim[d] = n->in[0]->dim[d];
    }
    return true;
}

/* before:  state %w   %v = transpose %w   .. = conv_2d %x %v
 * after:   state %v (called w)            .. = conv_2d %x %v */
static bool move_layout(ac_ctx *cx, ac_graph *g, ac_train_weight *w)
{
    ac_tensor *t = w->state;
    ac_node *n = ac_train_only_reader(g, t);
    if (!n || n->in[0] != t || n->n_out != 1 || n->out[0]->output ||
        (n->op != AC_OP_TRANSPOSE && !(ac_ops[n->op].flags & OF_VIEW)) || n->out[0]->dtype != t->dtype)
        return false;
    ac_tensor *y = n->out[0];
    ac_transposition m = {0};
    if (n->op == AC_OP_TRANSPOSE) {
        if (!perm_of(cx, n, &m))
            return false;
        ac_push(cx->region, &w->move, m);
        w->first = turned(cx, w, &m, w->first, false);
    }
    ac_node_erase(n);
    t->state = false;
    t->name = ac_internf(cx, "%s_moved%d", t->name, w->move.n);
    y->state = true;
    y->data = w->first;
    w->state = y;
    return true;
}

void ac_train_layouts(ac_ctx *cx, ac_graph *g, ac_train_step *s)
{
    for (int32_t i = 0; i < s->weight.n; i++) {
        ac_train_weight *w = &s->weight.item[i];
        bool moved = false;
        while (!w->running && move_layout(cx, g, w))
            moved = true;
        if (moved)
            w->state->name = w->name;
    }
    ac_graph_sweep(g);
    ac_graph_renumber(g);
}
