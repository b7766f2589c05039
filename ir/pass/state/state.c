/* state.c - pass state: stores outputs in the memory of inputs from run to run (--state). */
#include "ir/make/maker.h"
#include "ir/pass/state/other_lengths.h"
#include "ir/pass/state/state.h"

#include <string.h>

/* A state while the graph changes. */
typedef struct kept {
    ac_tensor *state, *next; /* the former input; its value in the next run */
    ac_state_pair *out;
    bool ring;              /* only new rows of a window are written */
    const ac_node *ordered; /* NULL, or the node that needs the order of its rows: all of it is written */
} kept;

typedef struct keeping {
    ac_ctx *cx;
    ac_graph *g;
    const ac_pass_options *opt;
    kept *item;
    int32_t n;
    ac_region *tmp;
    bool *after; /* by tensor: depends on the new value of the current state */
} keeping;

/* ------------------------------------------------------------------ pairs */

static int check_pair(const keeping *k, kept *s)
{
    ac_ctx *cx = k->cx;
    const ac_tensor *x = s->state, *y = s->next;
    if (ac_tensor_same_kind(x, y))
        return AC_OK;
    s->out->axis = ac_state_grows(k->g, x, y);
    if (s->out->axis >= 0) {
        s->out->dim_name = x->dim_name[s->out->axis];
        return AC_OK;
    }
    ac_error(cx, (ac_place){.file = k->g->file}, E0502,
             "--state: output '%s' is %s and input '%s' is %s, expected the same type and shape, or rows that are "
             "appended",
             s->out->output_name, ac_tensor_str(cx, y), s->out->input_name, ac_tensor_str(cx, x));
    return ac_help(cx, "a kept output is stored in the bytes of its input");
}

/* ------------------------------------------------------------------ the order of old and new
 *
 * All readers of the old value come before the new one overwrites it. */

static bool reads_marked(const ac_node *n, const bool *mark)
{
    bool any = false;
    for (int32_t i = 0; i < n->n_in; i++)
        any |= n->in[i] && mark[n->in[i]->id];
    return any;
}

/* Marks the results of node `from`, and all tensors that depend on them: through operands, and through the old values
 * of other states. */
static void mark_after(const keeping *k, const ac_node *from)
{
    const ac_graph *g = k->g;
    memset(k->after, 0, (size_t)g->tensor.n);
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *n = g->node.item[i];
        bool after = n == from || reads_marked(n, k->after);
        const ac_tensor *r = n->n_out ? ac_tensor_root(n->out[0]) : NULL;
        for (int32_t j = 0; r && r->state && j < i && !after; j++) /* readers of what n writes are before it */
            for (int32_t o = 0; o < g->node.item[j]->n_in; o++)
                after |= g->node.item[j]->in[o] == r && k->after[g->node.item[j]->out[0]->id];
        for (int32_t o = 0; o < n->n_out && after; o++)
            k->after[n->out[o]->id] = true;
    }
}

/* The last node, except `writer`, that reads the old value of the state; -1: none. */
static int32_t last_reader(const ac_graph *g, const ac_tensor *state, const ac_node *writer)
{
    int32_t last = -1;
    for (int32_t i = 0; i < g->node.n; i++)
        if (g->node.item[i] != writer && ac_node_reads_state(g->node.item[i], state))
            last = i;
    return last;
}

/* ------------------------------------------------------------------ the two ways */

/* The node that computes the next value by writing some elements of the state; NULL: it is computed otherwise. */
static ac_node *updater(const kept *s)
{
    ac_node *n = s->next->def;
    bool fits = n &&
                (n->op == AC_OP_SCATTER_INTO || n->op == AC_OP_SCATTER_ELEMENTS ||
                 n->op == AC_OP_DYNAMIC_UPDATE_SLICE || n->op == AC_OP_MATRIX_SET_DIAG) &&
                n->in[0] == s->state && !s->next->root && !s->next->output;
    for (int32_t i = 1; fits && i < n->n_in; i++)
        fits = !n->in[i] || ac_tensor_origin(n->in[i]) != s->state;
    return fits ? n : NULL;
}

/* A node that reads the old value, but depends on the new one; NULL: no node does. */
static const ac_node *conflict(const keeping *k, const ac_tensor *state, const ac_node *writer)
{
    mark_after(k, writer);
    for (int32_t i = 0; i < k->g->node.n; i++) {
        const ac_node *n = k->g->node.item[i];
        if (n != writer && ac_node_reads_state(n, state) && k->after[n->out[0]->id])
            return n;
    }
    return NULL;
}

/* Node `writer` and the nodes that depend on it move past all readers of the old value. */
static void move_past(const keeping *k, const ac_tensor *state, const ac_node *writer)
{
    ac_graph *g = k->g;
    const int32_t from = ac_graph_place_of(g, writer), last = last_reader(g, state, writer);
    ac_node **later = AC_NEW_N(k->tmp, ac_node *, g->node.n + 1);
    int32_t n = from, n_later = 0;
    for (int32_t i = from; i <= last; i++) {
        ac_node *m = g->node.item[i];
        if (m == writer || reads_marked(m, k->after) || (m->n_out && k->after[m->out[0]->id]))
            later[n_later++] = m;
        else
            g->node.item[n++] = m;
    }
    for (int32_t i = 0; i < n_later; i++)
        g->node.item[n++] = later[i];
}

/* The next value is the old value of another state: it is copied first, since that may be written before. */
static void copy_first(ac_graph *g, kept *s)
{
    ac_tensor *x = s->next, *y = ac_tensor_like(g, x->name, x);
    ac_maker b = ac_maker_named(g, y->name);
    b.unsized = true;
    s->next = ac_make_into(&b, AC_OP_RESHAPE, &x, 1, NULL, y);
    ac_graph_place(g, g->node.n - 1, 0);
}

/* The next value is entirely written, as soon as it is computed and the old one has no more readers. */
static int assign(keeping *k, const kept *s)
{
    ac_graph *g = k->g;
    ac_tensor *x = s->next, *y = ac_tensor_like(g, ac_strf(k->cx->region, "%s_next", s->state->name), x);
    y->root = s->state;
    const int32_t made = x->def ? ac_graph_place_of(g, x->def) : -1, read = last_reader(g, s->state, NULL);
    const int32_t at = (made > read ? made : read) + 1;
    const ac_maker b = ac_maker_named(g, y->name);
    if (!ac_make_into(&b, AC_OP_ASSIGN, &x, 1, NULL, y))
        return AC_FAIL;
    ac_graph_place(g, g->node.n - 1, at);
    for (int32_t i = at + 1; i < g->node.n && x->def; i++) /* so that x is dead */
        for (int32_t o = 0; o < g->node.item[i]->n_in; o++)
            if (g->node.item[i]->in[o] == x)
                g->node.item[i]->in[o] = y;
    return AC_OK;
}

/* Caches get their final size first. */
static int grow_caches(keeping *k)
{
    ac_tensor **past = AC_NEW_N(k->tmp, ac_tensor *, k->n + 1), **next = AC_NEW_N(k->tmp, ac_tensor *, k->n + 1);
    int32_t n = 0;
    for (int32_t i = 0; i < k->n; i++)
        if (k->item[i].out->axis >= 0) {
            past[n] = k->item[i].state;
            next[n++] = k->item[i].next;
        }
    const ac_tensor *position = NULL;
    if (n)
        AC_TRY(ac_state_grow(k->cx, k->g, past, next, n, k->opt->lengths, &position));
    for (int32_t i = 0; i < k->n; i++)
        k->item[i].out->position = k->item[i].out->axis >= 0 ? position : NULL;
    return AC_OK;
}

static int keep_pair(keeping *k, kept *s)
{
    k->after = AC_NEW_N(k->tmp, bool, k->g->tensor.n + 1);
    if (s->next == s->state) {
        s->out->how = "never changes";
        return AC_OK;
    }
    ac_node *n = updater(s);
    const ac_node *other = n ? conflict(k, s->state, n) : NULL;
    const char *name = s->next->def ? s->next->def->name : s->next->name;
    if (n && !other) {
        move_past(k, s->state, n);
        s->next->root = s->state;
        s->out->in_place = true;
        s->out->how = ac_strf(
            k->cx->region, s->ring ? "a ring: '%s' writes only the new rows" : "'%s' writes only what changes", name);
        return AC_OK;
    }
    s->out->how = s->ordered ? ac_strf(k->cx->region, "'%s' writes all of it: '%s' needs the rows in order", name,
                                       s->ordered->name)
                             : ac_strf(k->cx->region,
                                       other ? "copied: '%s' reads the old value after '%s' made the new one"
                                             : "'%s%s' writes all of it",
                                       other ? other->name : "", name);
    return assign(k, s);
}

/* Sliding windows become rings if that changes no result; their positions are states as well. */
static int turn_rings(keeping *k)
{
    const int32_t n = k->n;
    ac_state_window *window = AC_NEW_N(k->tmp, ac_state_window, n + 1);
    ac_tensor **turn = AC_NEW_N(k->tmp, ac_tensor *, 2 * n + 1);
    int32_t n_turns = 0;
    for (int32_t i = 0; i < n; i++)
        window[i] = (ac_state_window){.state = k->item[i].state, .next = k->item[i].next};
    AC_TRY(ac_state_ring(k->cx, k->g, window, n, turn, &n_turns));
    ac_graph_sweep(k->g);
    for (int32_t i = 0; i < n; i++) {
        k->item[i].ring = window[i].ring;
        k->item[i].ordered = window[i].ordered;
    }
    for (int32_t i = 0; i < n_turns; i++)
        k->item[k->n++] = (kept){turn[2 * i], turn[2 * i + 1], AC_NEW(k->tmp, ac_state_pair), false, NULL};
    return AC_OK;
}

/* Removes the pairs from the outputs and inputs of the graph. */
static void take_out(const keeping *k)
{
    ac_graph *g = k->g;
    int32_t n_outputs = 0, n_inputs = 0;
    for (int32_t i = 0; i < k->n; i++) {
        k->item[i].state->input = false;
        k->item[i].state->state = true;
        k->item[i].out->state = k->item[i].state;
    }
    for (int32_t i = 0; i < g->output.n; i++) {
        bool stays = true;
        for (int32_t j = 0; j < k->n; j++)
            stays &= k->item[j].out->output != i;
        g->output.item[i]->output = false;
        if (stays)
            g->output.item[n_outputs++] = g->output.item[i];
    }
    g->output.n = n_outputs;
    for (int32_t i = 0; i < n_outputs; i++) /* the tensor may also be another output */
        g->output.item[i]->output = true;
    for (int32_t i = 0; i < g->input.n; i++)
        if (g->input.item[i]->input)
            g->input.item[n_inputs++] = g->input.item[i];
    g->input.n = n_inputs;
}

/* *n_states: the number of states, including the positions of rings. */
static int keep_pairs(ac_ctx *cx, ac_graph *g, const ac_pass_options *opt, ac_state_pair *pair, int32_t n,
                      int32_t *n_states)
{
    keeping k = {.cx = cx, .g = g, .opt = opt, .n = n, .tmp = ac_region_open(&cx->heap)};
    int status = AC_OK;
    k.item = AC_NEW_N(k.tmp, kept, 2 * n + 1); /* and a position for each */
    for (int32_t i = 0; i < n; i++) {
        k.item[i] = (kept){.state = g->input.item[pair[i].input], .next = g->output.item[pair[i].output]};
        k.item[i].out = &pair[i];
        if (check_pair(&k, &k.item[i]) != AC_OK)
            status = AC_FAIL;
    }
    take_out(&k);
    if (status == AC_OK)
        status = grow_caches(&k);
    for (int32_t i = 0; i < k.n && status == AC_OK; i++)
        status = ac_state_turned(cx, g, k.item[i].state, k.item[i].next);
    ac_graph_sweep(g);
    if (status == AC_OK && !opt->exact)
        status = turn_rings(&k);
    for (int32_t i = 0; i < k.n && status == AC_OK; i++)
        if (k.item[i].next->state && k.item[i].next != k.item[i].state)
            copy_first(g, &k.item[i]);
    for (int32_t i = 0; i < k.n && status == AC_OK; i++)
        status = keep_pair(&k, &k.item[i]);
    *n_states = k.n;
    ac_region_close(k.tmp);
    return status;
}

/* A value that the body of a loop carries is stored in the same memory in all iterations, like state in all runs. */
static int keep_carried(ac_ctx *cx, ac_graph *body, const ac_pass_options *opt)
{
    const int32_t n = body->carried;
    int32_t n_states;
    ac_state_pair *pair = AC_NEW_N(cx->region, ac_state_pair, n + 1);
    body->carry = AC_NEW_N(body->region, ac_tensor *, n + 1);
    for (int32_t i = 0; i < n; i++) {
        body->carry[i] = body->input.item[i];
        pair[i] = (ac_state_pair){.output = i, .input = i, .axis = -1};
        pair[i].input_name = body->input.item[i]->name;
        pair[i].output_name = body->output.item[i]->name;
    }
    return keep_pairs(cx, body, opt, pair, n, &n_states);
}

/* ac_pass_state: inputs become state, and the outputs that belong to them are written in their memory.
 *   before:  input %past   %next = dynamic_update_slice %past %x %at   %y = .. %next   output %y, %next
 *   after:   state %past   %next = dynamic_update_slice %past %x %at (in %past)   %y = .. %next   output %y
 * If the new value is the old one but for some elements (scatter, dynamic_update_slice), and every reader of the old
 * value can run before, only these elements are written; else the value is computed elsewhere and assigned. The values
 * that loops carry are treated the same.
 * needs: shapes known, operators canonical, no epilogues, no views.  guarantees: the same; in the order of the nodes,
 * all readers of the old value come before it is written. */
int ac_pass_state(ac_pass *p)
{
    AC_TRY(keep_pairs(p->cx, p->graph, p->opt, p->opt->kept, p->opt->n_kept, &p->changed));
    for (int32_t i = 0; i < p->graph->sub.n; i++)
        AC_TRY(keep_carried(p->cx, p->graph->sub.item[i], p->opt));
    return AC_OK;
}
