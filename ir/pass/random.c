/* random.c - pass random: seed and counter of random numbers, and products of them with 0. */
#include "ir/make/compose_random.h"
#include "ir/pass/passes.h"

#include <stdlib.h>

enum { DEPTH = 32 };

/* ------------------------------------------------------------------ products with 0 */

/* A float constant of zeros. Large ones that are not computed yet count as others. */
static bool is_zero(const ac_tensor *t)
{
    if (!t->data || t->state || (t->dtype != AC_F32 && t->dtype != AC_F64))
        return false;
    const int64_t n = t->splat ? 1 : ac_tensor_count(t);
    for (int64_t i = 0; i < n; i++)
        if (t->dtype == AC_F64 ? ((const double *)t->data)[i] != 0 : ((const float *)t->data)[i] != 0)
            return false;
    return n > 0;
}

/* Operators whose result is 0 if operand 0 is. */
static bool keeps_zero(const ac_node *n)
{
    return (ac_ops[n->op].flags & (OF_VIEW | OF_MOVES)) || n->op == AC_OP_NEG || n->op == AC_OP_CAST;
}

/* True if t consists of finite random numbers, and of constants. With `loose` also of their products with any tensor:
 * 0 times infinity is then 0. */
static bool is_random(const ac_tensor *t, bool loose, int32_t depth)
{
    const ac_node *n = t->def;
    if (!n || n->n_fused || depth == DEPTH)
        return false;
    if (n->op == AC_OP_RANDOM)
        return true;
    if (keeps_zero(n))
        return is_random(n->in[0], loose, depth + 1);
    if (n->op != AC_OP_MUL && n->op != AC_OP_ADD && n->op != AC_OP_SUB)
        return false;
    for (int32_t i = 0; i < 2; i++)
        if (is_random(n->in[i], loose, depth + 1) &&
            ((loose && n->op == AC_OP_MUL) || ac_tensor_is_const(n->in[1 - i])))
            return true;
    return false;
}

static void become_zero(const ac_graph *g, ac_node *n, bool *gone)
{
    ac_tensor *y = n->out[0];
    ac_node_erase(n);
    y->data = AC_NEW(g->cx->region, double);
    y->splat = true;
    gone[y->id] = true;
}

/* n computes a product of random numbers with 0, or adds one. gone, by tensor: it was such a product. */
static bool vanish(ac_graph *g, ac_node *n, bool loose, bool *gone)
{
    if (n->n_out != 1 || n->n_fused || n->n_in < 1 || !n->in[0])
        return false;
    ac_tensor *y = n->out[0];
    bool zero = keeps_zero(n) && gone[n->in[0]->id] && ac_dtype_is_float(y->dtype);
    for (int32_t i = 0; i < 2 && n->op == AC_OP_MUL && !zero; i++)
        zero = (gone[n->in[i]->id] && (loose || ac_tensor_is_const(n->in[1 - i]))) ||
               (is_zero(n->in[i]) && is_random(n->in[1 - i], loose, 0));
    if (zero) {
        become_zero(g, n, gone);
        return true;
    }
    for (int32_t i = 0; i < 2 && n->op == AC_OP_ADD && n->attrs.act.act == AC_ACT_NONE; i++)
        if (gone[n->in[i]->id] && !y->output && ac_tensor_same_kind(n->in[1 - i], y)) {
            ac_node_erase(n);
            ac_tensor_replace(g, y, n->in[1 - i]);
            return true;
        }
    return false;
}

/* Erases n, and its state if no node is left that uses it. */
static void release(const ac_graph *g, ac_node *n)
{
    ac_tensor *numbers = n->in[0];
    bool used = false;
    ac_node_erase(n);
    for (int32_t i = 0; i < g->node.n && !used; i++)
        used = g->node.item[i]->op != AC_OP_NONE && ac_node_touches(g->node.item[i], numbers);
    numbers->state = numbers->state && used;
}

static bool reads_any(const ac_node *n, const bool *mark)
{
    bool any = false;
    for (int32_t i = 0; i < n->n_in; i++)
        any = any || (n->in[i] && mark[n->in[i]->id]);
    return any;
}

/* Erases operators that draw numbers for nothing, and those that read them; returns how many remain. */
static int32_t erase_unused(ac_graph *g, ac_region *tmp)
{
    int32_t n_left = 0;
    bool *live = AC_NEW_N(tmp, bool, g->tensor.n + 1), *erased = AC_NEW_N(tmp, bool, g->tensor.n + 1);
    bool *wanted = AC_NEW_N(tmp, bool, g->node.n + 1);
    for (int32_t i = 0; i < g->output.n; i++)
        live[g->output.item[i]->id] = true;
    for (int32_t i = g->node.n - 1; i >= 0; i--) {
        const ac_node *n = g->node.item[i];
        wanted[i] = n->op == AC_OP_NONE || (ac_ops[n->op].flags & (OF_STATE | OF_CALLS));
        for (int32_t k = 0; k < n->n_out; k++)
            wanted[i] = wanted[i] || live[n->out[k]->id];
        for (int32_t k = 0; k < n->n_in && wanted[i]; k++)
            if (n->in[k])
                live[n->in[k]->id] = true;
    }
    for (int32_t i = 0; i < g->node.n; i++) {
        ac_node *n = g->node.item[i];
        n_left += wanted[i] && ac_node_numbers(n);
        if (wanted[i] || (n->op != AC_OP_RANDOM && !reads_any(n, erased)))
            continue;
        for (int32_t k = 0; k < n->n_out; k++)
            erased[n->out[k]->id] = true;
        if (n->op == AC_OP_RANDOM)
            release(g, n);
        else
            ac_node_erase(n);
    }
    return n_left;
}

static int32_t remove_products(ac_pass *p, ac_graph *g)
{
    ac_region *tmp = ac_region_open(&p->cx->heap);
    bool *gone = AC_NEW_N(tmp, bool, g->tensor.n + 1);
    for (int32_t i = 0; i < g->node.n; i++)
        p->changed += g->node.item[i]->op != AC_OP_NONE && vanish(g, g->node.item[i], !p->opt->exact, gone);
    const int32_t left = erase_unused(g, tmp);
    ac_graph_sweep(g);
    ac_region_close(tmp);
    return left;
}

/* ------------------------------------------------------------------ streams */

typedef struct drawing {
    ac_node *n;
    int32_t index, graph; /* in the order of the graphs */
} drawing;
typedef AC_VEC(drawing) drawing_list;

static void collect(const ac_graph *g, int32_t graph, ac_region *r, drawing_list *to)
{
    for (int32_t i = 0; i < g->node.n; i++)
        if (g->node.item[i]->op == AC_OP_RANDOM && g->node.item[i]->in[0]->state)
            ac_push(r, to, ((drawing){g->node.item[i], to->n, graph}));
}

/* The place of a node in the file, as numbers. */
static int64_t place_number(const ac_node *n, int32_t k)
{
    const ac_place *p = &n->at;
    const int64_t v[] = {p->subgraph, p->op_index, p->line, p->col, p->byte};
    return v[k];
}
enum { PLACE_NUMBERS = 5 };

static int compare_places(const ac_node *a, const ac_node *b)
{
    for (int32_t k = 0; k < PLACE_NUMBERS; k++)
        if (place_number(a, k) != place_number(b, k))
            return place_number(a, k) < place_number(b, k) ? -1 : 1;
    return 0;
}

static int by_stream(const void *a, const void *b)
{
    const drawing *x = a, *y = b;
    const int32_t s = x->n->attrs.random.stream, t = y->n->attrs.random.stream;
    if (s != t)
        return s < t ? -1 : 1;
    const int order = compare_places(x->n, y->n);
    return order ? order : x->index < y->index ? -1 : 1;
}

/* Nodes of one stream: y draws other numbers than x, the node before it. */
static bool separate(const drawing *x, const drawing *y)
{
    const bool other = x->graph != y->graph || x->n->at.subgraph != y->n->at.subgraph;
    return !compare_places(x->n, y->n) || (other && x->n->attrs.random.stream >= 0);
}

/* Copies of a node, in iterations of a loop, draw other numbers than it; so do nodes of different graphs, whose streams
 * are numbered from the start. Different nodes of one seed (a negative stream) draw the same numbers. */
static void separate_streams(ac_pass *p)
{
    ac_region *tmp = ac_region_open(&p->cx->heap);
    drawing_list all = {0};
    for (int32_t i = -1; i < p->graph->sub.n; i++)
        collect(i < 0 ? p->graph : p->graph->sub.item[i], i, tmp, &all);
    if (all.n)
        qsort(all.item, (size_t)all.n, sizeof *all.item, by_stream);
    int32_t *stream = AC_NEW_N(tmp, int32_t, all.n + 1);
    uint32_t copy = 0, next = all.n ? (uint32_t)all.item[all.n - 1].n->attrs.random.stream : 0;
    for (int32_t i = 0; i < all.n; i++) {
        const int32_t own = stream[i] = all.item[i].n->attrs.random.stream;
        const bool same = i && all.item[i - 1].n->attrs.random.stream == own;
        copy = same && separate(&all.item[i - 1], &all.item[i]) ? copy + 1 : 0;
        if (copy && own < 0)
            stream[i] = ac_stream_copy(own, copy);
        else if (copy)
            stream[i] = (int32_t)(++next & INT32_MAX);
    }
    for (int32_t i = 0; i < all.n; i++)
        all.item[i].n->attrs.random.stream = stream[i];
    ac_region_close(tmp);
}

/* ------------------------------------------------------------------ numbers */

/* The results become inputs, in the order of the nodes. */
static int make_inputs(ac_pass *p, ac_graph *g)
{
    for (int32_t i = 0; i < g->node.n; i++) {
        ac_node *n = g->node.item[i];
        if (n->op != AC_OP_RANDOM)
            continue;
        ac_tensor *y = n->out[0];
        if (g != p->graph) {
            ac_error(p->cx, n->at, E0108, "random numbers '%s' are drawn in a branch or loop that depends on data",
                     y->name);
            return ac_help(p->cx, "without --noise input: they are drawn there");
        }
        release(g, n);
        y->input = true;
        ac_push(p->cx->region, &g->input, y);
        p->changed++;
    }
    ac_graph_sweep(g);
    return AC_OK;
}

/* State that only operators with random numbers use gets the seed, and another run after each. */
static int count_runs(ac_pass *p, ac_graph *g)
{
    const ac_noise *o = p->opt->random;
    const ac_maker b = ac_maker_named(g, "count");
    const int32_t n_nodes = g->node.n;
    for (int32_t i = 0; i < n_nodes; i++) {
        ac_tensor *numbers = ac_node_numbers(g->node.item[i]);
        bool counted = !numbers || !numbers->state || numbers->data;
        for (int32_t k = 0; k < g->node.n && !counted; k++)
            counted = ac_node_writes(g->node.item[k], numbers);
        if (counted)
            continue;
        static const int32_t ONE[] = {0, 0, 1, 0};
        ac_numbers_begin(p->cx, numbers, o->seed);
        ac_tensor *one = ac_tensor_const(g, "one_run", AC_I32, 1, (int64_t[]){4}, ONE);
        if (o->advances && !ac_make_assign(&b, numbers, 0, ac_make_2(&b, AC_OP_ADD, numbers, one)))
            return AC_FAIL;
        p->changed++;
    }
    return AC_OK;
}

/* ac_pass_random: each run of the program draws new random numbers, which depend on the seed alone.
 *   before:  state %numbers                       %n = random %numbers    %z = mul %n 0    %y = add %x %z
 *            %m = random %numbers
 *   after:   state %numbers = seed, run 0         %m = random %numbers    %y is %x
 *            %numbers = add %numbers {0,0,1,0}
 * With `inputs` %m is an input instead. needs: shapes known.  keeps: names of inputs and outputs; all other values. */
int ac_pass_random(ac_pass *p)
{
    ac_graph *g = p->graph;
    int32_t left = remove_products(p, g);
    for (int32_t i = 0; i < g->sub.n; i++)
        left += remove_products(p, g->sub.item[i]);
    if (!left)
        return AC_OK;
    separate_streams(p);
    for (int32_t i = -1; i < g->sub.n; i++) {
        ac_graph *one = i < 0 ? g : g->sub.item[i];
        AC_TRY(p->opt->random->inputs ? make_inputs(p, one) : AC_OK);
        AC_TRY(count_runs(p, one));
    }
    return AC_OK;
}
