/* graph.c - creates and changes graphs: tensors, nodes, names. */
#include "ir/graph/graph.h"
#include "ir/ops/custom.h"

#include <string.h>

/* Names of a graph: open addressing, keyed by the interned pointer. Covers the first `n` tensors; the rest is added at
 * the next look-up. `next` is the suffix to try first if the name is taken again, so a thousand equal names cost a
 * thousand look-ups. The name of a removed tensor keeps its slot, without a tensor. Never iterated, so the order of
 * pointers cannot affect output. */
typedef struct name_slot {
    const char *name;
    ac_tensor *t;
    int32_t next;
} name_slot;

struct ac_tensor_names {
    name_slot *slot;
    uint32_t cap, used;
    int32_t n;
};

static uint32_t slot_of(const struct ac_tensor_names *x, const char *name)
{
    uint32_t k = (uint32_t)(((uint64_t)(uintptr_t)name * 0x9e3779b97f4a7c15u) >> 32) & (x->cap - 1);
    while (x->slot[k].name && x->slot[k].name != name)
        k = (k + 1) & (x->cap - 1);
    return k;
}

static void names_grow(const ac_graph *g, struct ac_tensor_names *x)
{
    struct ac_tensor_names old = *x;
    x->cap = old.cap ? old.cap * 2 : 64;
    x->slot = AC_NEW_N(g->region, name_slot, x->cap);
    for (uint32_t i = 0; i < old.cap; i++)
        if (old.slot[i].name)
            x->slot[slot_of(x, old.slot[i].name)] = old.slot[i];
}

static name_slot *names_get(const ac_graph *g, const char *name)
{
    struct ac_tensor_names *x = g->names;
    for (;; x->n++) {
        if ((x->used + 1) * 2 > x->cap)
            names_grow(g, x);
        if (x->n >= g->tensor.n)
            return &x->slot[slot_of(x, name)];
        ac_tensor *t = g->tensor.item[x->n];
        name_slot *s = &x->slot[slot_of(x, t->name)];
        if (!s->t) {
            x->used += !s->name;
            *s = (name_slot){t->name, t, 1};
        }
    }
}

void ac_graph_renumber(ac_graph *g)
{
    for (int32_t i = 0; i < g->tensor.n; i++)
        g->tensor.item[i]->id = i;
    *g->names = (struct ac_tensor_names){0};
}

void ac_graph_drop(ac_graph *g, int32_t n)
{
    struct ac_tensor_names *x = g->names;
    for (; x->n > n; x->n--) {
        name_slot *s = &x->slot[slot_of(x, g->tensor.item[x->n - 1]->name)];
        if (s->t == g->tensor.item[x->n - 1])
            s->t = NULL;
    }
    g->tensor.n = n;
}

ac_graph *ac_graph_new(ac_ctx *cx, const char *name)
{
    ac_graph *g = AC_NEW(cx->region, ac_graph);
    g->cx = cx;
    g->region = cx->region;
    g->name = ac_intern(cx, name ? name : "main");
    g->names = AC_NEW(cx->region, struct ac_tensor_names);
    return g;
}

ac_graph *ac_graph_fork(const ac_graph *g, ac_region *region)
{
    ac_graph *own = ac_copy(region, g, sizeof *g);
    own->region = region;
    own->names = AC_NEW(region, struct ac_tensor_names);
    own->tensor.item = ac_copy(region, g->tensor.item, (size_t)g->tensor.n * sizeof(ac_tensor *));
    own->tensor.cap = g->tensor.n;
    return own;
}

ac_tensor *ac_tensor_find(const ac_graph *g, const char *name)
{
    return names_get(g, ac_intern(g->cx, name))->t;
}

ac_tensor *ac_tensor_new(ac_graph *g, const char *name, ac_dtype dtype, int32_t rank, const int64_t *dim)
{
    name = ac_intern(g->cx, name && *name ? name : "t");
    name_slot *s = names_get(g, name);
    if (s->t) {
        int32_t k = s->next;
        const char *fresh = ac_internf(g->cx, "%s_%d", name, k++);
        while (names_get(g, fresh)->t)
            fresh = ac_internf(g->cx, "%s_%d", name, k++);
        names_get(g, name)->next = k;
        name = fresh;
    }
    ac_tensor *t = AC_NEW(g->region, ac_tensor);
    t->name = name;
    t->id = g->tensor.n;
    t->dtype = dtype;
    t->rank = rank;
    for (int32_t i = 0; i < rank && i < AC_MAX_RANK; i++)
        t->dim[i] = dim[i];
    ac_push(g->region, &g->tensor, t);
    return t;
}

ac_tensor *ac_tensor_like(ac_graph *g, const char *name, const ac_tensor *t)
{
    ac_tensor *own = ac_tensor_new(g, name, t->dtype, t->rank, t->dim);
    own->quant = t->quant;
    own->words = t->words;
    own->narrowed = t->narrowed;
    own->half = t->half;
    return own;
}

ac_tensor *ac_tensor_copy(ac_graph *g, ac_tensor *t)
{
    if (t->lazy && !ac_tensor_force(g->cx, t))
        return NULL;
    ac_tensor *own = ac_tensor_like(g, t->name, t);
    own->data = t->data;
    own->raw = t->raw;
    own->splat = t->splat;
    own->in_file = t->in_file;
    return own;
}

const ac_vocabulary *ac_graph_words(const ac_graph *g)
{
    const ac_vocabulary *w = NULL;
    for (int32_t i = 0; i < g->tensor.n && !w; i++)
        w = g->tensor.item[i]->words;
    return w;
}

bool ac_graph_has(const ac_graph *g, const ac_tensor *t)
{
    return t->id < g->tensor.n && g->tensor.item[t->id] == t;
}

ac_tensor *ac_tensor_const(ac_graph *g, const char *name, ac_dtype dtype, int32_t rank, const int64_t *dim,
                           const void *data)
{
    ac_tensor *t = ac_tensor_new(g, name, dtype, rank, dim);
    t->data = data;
    return t;
}

static ac_tensor **keep_list(ac_graph *g, ac_tensor *const *list, int32_t n)
{
    ac_tensor **own = AC_NEW_N(g->cx->region, ac_tensor *, n + 1);
    for (int32_t i = 0; i < n; i++)
        own[i] = list[i];
    return own;
}

ac_node *ac_node_new(ac_graph *g, ac_op op, const char *name, ac_tensor *const *in, int32_t n_in, ac_tensor *const *out,
                     int32_t n_out)
{
    ac_node *n = AC_NEW(g->cx->region, ac_node);
    n->id = g->next_node++;
    n->op = op;
    n->name = ac_intern(g->cx, name ? name : "");
    n->n_in = n_in;
    n->n_out = n_out;
    n->in = keep_list(g, in, n_in);
    n->out = keep_list(g, out, n_out);
    ac_attrs_init(op, &n->attrs);
    for (int32_t i = 0; i < n_out; i++)
        n->out[i]->def = n;
    ac_push(g->cx->region, &g->node, n);
    return n;
}

void ac_node_fuse(ac_graph *g, ac_node *host, ac_node *follower)
{
    ac_node **list = AC_NEW_N(g->cx->region, ac_node *, host->n_fused + 1);
    for (int32_t i = 0; i < host->n_fused; i++)
        list[i] = host->fused[i];
    list[host->n_fused++] = follower;
    host->fused = list;
    for (int32_t i = 0; i < follower->n_out; i++)
        follower->out[i]->def = host;
}

static void replace_in(ac_node *n, const ac_tensor *from, ac_tensor *to)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] == from)
            n->in[i] = to;
    for (int32_t f = 0; f < n->n_fused; f++)
        replace_in(n->fused[f], from, to);
}

void ac_tensor_replace(ac_graph *g, ac_tensor *from, ac_tensor *to)
{
    for (int32_t i = 0; i < g->node.n; i++)
        replace_in(g->node.item[i], from, to);
    for (int32_t i = 0; i < g->output.n; i++)
        if (g->output.item[i] == from) {
            g->output.item[i] = to;
            to->output = true;
        }
    from->output = false;
}

/* The activation among the attributes; NULL: the operator has none. */
static ac_act *act_at(ac_op op, ac_attrs *a)
{
    const struct ac_attr_list *set = &ac_attr_sets[ac_ops[op].attrs];
    for (int32_t i = 0; i < set->n; i++)
        if (set->row[i].type == AC_A_act)
            return (ac_act *)(void *)((char *)a + set->row[i].offset);
    return NULL;
}

ac_act ac_node_act(const ac_node *n)
{
    ac_attrs copy = n->attrs;
    const ac_act *act = act_at(n->op, &copy);
    return act ? *act : AC_ACT_NONE;
}

bool ac_node_remade(const ac_node *n)
{
    const ac_op_row *op = &ac_ops[n->op];
    return op->flags & OF_REMADE && n->n_out == 1 && !(op->map && n->out[0]->quant) && ac_node_act(n) != AC_ACT_TANH;
}

void ac_node_set_act(ac_node *n, ac_act act)
{
    ac_act *at = act_at(n->op, &n->attrs);
    if (at)
        *at = act;
}

void ac_node_erase(ac_node *n)
{
    for (int32_t i = 0; i < n->n_out; i++)
        if (n->out[i]->def == n)
            n->out[i]->def = NULL;
    n->op = AC_OP_NONE;
    n->n_in = n->n_out = 0;
}

const ac_node *ac_node_made(const ac_graph *g, ac_node *n)
{
    const ac_node *was = ac_copy(g->region, n, sizeof *n);
    ac_node_erase(n);
    for (int32_t i = 0; i < was->n_out; i++)
        was->out[i]->made_of = was;
    return was;
}

static void reverse(ac_node **list, int32_t n)
{
    for (int32_t i = 0; i < n / 2; i++) {
        ac_node *first = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = first;
    }
}

void ac_graph_place(ac_graph *g, int32_t from, int32_t to)
{
    ac_node **list = g->node.item + to;
    reverse(list, from - to);
    reverse(list + from - to, g->node.n - from);
    reverse(list, g->node.n - to);
}

int32_t ac_graph_place_of(const ac_graph *g, const ac_node *n)
{
    int32_t at = 0;
    while (g->node.item[at] != n)
        at++;
    return at;
}

void ac_graph_sweep(ac_graph *g)
{
    int32_t n = 0;
    for (int32_t i = 0; i < g->node.n; i++)
        if (g->node.item[i]->op != AC_OP_NONE)
            g->node.item[n++] = g->node.item[i];
    g->node.n = n;
}

void ac_graph_sweep_end(ac_graph *g, int32_t n)
{
    while (g->node.n > n && g->node.item[g->node.n - 1]->op == AC_OP_NONE)
        g->node.n--;
}

ac_tensor *ac_node_in(const ac_node *n, int32_t i)
{
    return i < n->n_in ? n->in[i] : NULL;
}

ac_tensor *ac_node_result(const ac_node *n)
{
    return n->n_fused ? n->fused[n->n_fused - 1]->out[0] : n->out[0];
}

const ac_node *ac_node_reduction(const ac_node *n)
{
    const ac_node *last = n->n_fused ? n->fused[n->n_fused - 1] : NULL;
    return last && ac_ops[last->op].flags & OF_REDUCES ? last : NULL;
}

bool ac_node_is_static(const ac_node *n, int32_t i)
{
    return i < 32 && ac_ops[n->op].static_in & AC_IN(i) && !(n->op == AC_OP_SPLIT && n->n_in == 1);
}

static bool lies_in(const ac_tensor *t, const ac_tensor *root)
{
    const ac_tensor *r = t ? ac_tensor_root(t) : NULL;
    return r && (root ? r == root : r->state);
}

bool ac_node_writes(const ac_node *n, const ac_tensor *root)
{
    bool any = false;
    for (int32_t i = 0; i < n->n_out && !n->view; i++)
        any |= lies_in(n->out[i], root);
    for (int32_t i = 0; i < n->n_in && ac_ops[n->op].flags & OF_STATE; i++)
        any |= lies_in(n->in[i], root);
    for (int32_t f = 0; f < n->n_fused; f++)
        any |= ac_node_writes(n->fused[f], root);
    return any;
}

bool ac_node_acts(const ac_ctx *cx, const ac_node *n)
{
    const ac_custom *c = n->op == AC_OP_CUSTOM ? ac_custom_find(cx, n->attrs.custom.call) : NULL;
    return c && !c->pure;
}

bool ac_node_touches(const ac_node *n, const ac_tensor *root)
{
    bool any = ac_node_writes(n, root);
    for (int32_t i = 0; i < n->n_in; i++)
        any |= lies_in(n->in[i], root);
    for (int32_t f = 0; f < n->n_fused; f++)
        any |= ac_node_touches(n->fused[f], root);
    return any;
}

const ac_tensor *ac_tensor_origin(const ac_tensor *t)
{
    while (t->def && ac_ops[t->def->op].flags & OF_VIEW)
        t = t->def->in[0];
    return ac_tensor_root(t);
}

ac_tensor *ac_node_numbers(const ac_node *n)
{
    return ac_ops[n->op].flags & OF_RANDOM ? n->in[n->n_in - 1] : NULL;
}

bool ac_graph_draws(const ac_graph *g)
{
    bool draws = false;
    for (int32_t i = 0; i < g->node.n && !draws; i++)
        draws = ac_node_numbers(g->node.item[i]) != NULL;
    for (int32_t i = 0; i < g->sub.n && !draws; i++)
        draws = ac_graph_draws(g->sub.item[i]);
    return draws;
}

bool ac_node_reads_state(const ac_node *n, const ac_tensor *state)
{
    bool any = false;
    for (int32_t i = 0; i < n->n_in; i++)
        any |= n->in[i] && ac_tensor_origin(n->in[i]) == state;
    return any;
}

bool ac_node_internal(const ac_node *n, const ac_tensor *t)
{
    if (!n->n_fused)
        return false;
    bool in = t == n->out[0];
    for (int32_t f = 0; f + 1 < n->n_fused; f++)
        in |= t == n->fused[f]->out[0];
    return in;
}

int32_t ac_node_reads(const ac_node *n, ac_tensor **list, int32_t cap)
{
    int32_t count = 0;
    for (int32_t f = -1; f < n->n_fused; f++) {
        const ac_node *m = f < 0 ? n : n->fused[f];
        for (int32_t i = 0; i < m->n_in; i++) {
            ac_tensor *t = m->in[i];
            if (!t || ac_tensor_is_const(t) || ac_node_internal(n, t) || ac_node_is_static(m, i))
                continue;
            bool seen = false;
            for (int32_t k = 0; k < count && k < cap && !seen; k++)
                seen = list[k] == t;
            if (seen)
                continue;
            if (count < cap)
                list[count] = t;
            count++;
        }
    }
    return count;
}

static void count_reads(const ac_node *n, int32_t *uses)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i])
            uses[n->in[i]->id]++;
    for (int32_t f = 0; f < n->n_fused; f++)
        count_reads(n->fused[f], uses);
}

int32_t *ac_graph_uses(const ac_graph *g, ac_region *r)
{
    int32_t *uses = AC_NEW_N(r, int32_t, g->tensor.n + 1);
    for (int32_t i = 0; i < g->node.n; i++)
        count_reads(g->node.item[i], uses);
    for (int32_t i = 0; i < g->output.n; i++)
        uses[g->output.item[i]->id]++;
    return uses;
}
