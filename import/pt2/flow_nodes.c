/* flow_nodes.c - higher-order operators of PyTorch, whose arguments are graphs.
 *
 *     cond         a constant condition chooses its branch, any other makes an IF
 *     while_loop   unrolled while the condition is constant, else a WHILE
 *     scan, map    a SCAN: one step for each element of the sequences
 *     wrap_..      a graph that is called as it is
 *
 * Graphs read nothing from outside: operands are their inputs. */
#include "import/pt2/nodes.h"

#include "import/build/flow/file_flow.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_STEPS = 4096 };

static const ac_flow_format FORMAT = {.rules = {.copied = INT64_MAX, .trips = INT64_MAX, .most = MOST_STEPS}};

static int set_results(ac_ep_node *n, ac_tensor *const *t, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        AC_TRY(ac_ep_result(n, i, t[i]));
    return AC_OK;
}

/* Argument k, a graph; NULL: reported. */
static const ac_js_node *graph_at(ac_ep_node *n, int32_t k)
{
    const ac_js_node *x = ac_ep_arg_at(n, k), *g = ac_ep_is(x, "as_graph") ? ac_js_get(x, "graph") : NULL;
    if (!g)
        (void)ac_bad(&n->b, "argument %d is not a graph", k);
    return g;
}

/* Tensors of argument k, none if it is left out; NULL: reported. */
static ac_tensor **tensors_at(ac_ep_node *n, int32_t k, int32_t *count)
{
    return ac_ep_list(n, ac_ep_arg_at(n, k), count);
}

/* ------------------------------------------------------------------ cond */

typedef struct branches {
    ac_flow flow;
    ac_ep_node *n;
    const ac_js_node *graph[2];
    ac_tensor *const *in;
    int32_t n_in, n_out;
} branches;

static const void *run_branch(void *own, int32_t which)
{
    const branches *x = own;
    ac_tensor **out = AC_NEW_N(x->n->r->cx->region, ac_tensor *, x->n_out + 1);
    const int rc = ac_ep_call(x->n, x->graph[which], x->in, x->n_in, out, x->n_out);
    return rc == AC_OK ? out : NULL;
}

int ac_ep_do_cond(ac_ep_node *n)
{
    const ac_js_node *test = ac_ep_arg_at(n, 0);
    branches x = {.n = n, .graph = {graph_at(n, 1), graph_at(n, 2)}};
    ac_tensor *condition = ac_ep_operand(n, test);
    if (!x.graph[0] || !x.graph[1] || !condition)
        return AC_FAIL;
    x.in = tensors_at(n, 3, &x.n_in);
    x.n_out = ac_ep_results_of(n->r, x.graph[0]);
    if (!x.in || x.n_out < 0)
        return AC_FAIL;
    const char **name = AC_NEW_N(n->r->cx->region, const char *, x.n_out + 1);
    for (int32_t i = 0; i < x.n_out && i < n->n_out; i++)
        name[i] = n->out[i] ? n->out[i]->name : NULL;
    x.flow = (ac_flow){.b = &n->b, .now = &n->r->g, .of = &FORMAT, .run = run_branch, .n = x.n_out, .name = name};
    ac_tensor *const *y = ac_flow_branch(&x.flow, condition);
    return y ? set_results(n, y, x.n_out) : AC_FAIL;
}

/* ------------------------------------------------------------------ while_loop */

typedef struct loop {
    ac_flow flow; /* its values: those that an iteration changes */
    ac_ep_node *n;
    const ac_js_node *test, *body;
    ac_tensor *const *more; /* read by each iteration */
    int32_t n_more;
} loop;

static ac_tensor **with_more(const loop *l, ac_tensor *const *now)
{
    ac_tensor **in = AC_NEW_N(l->n->r->cx->region, ac_tensor *, l->flow.n + l->n_more + 1);
    memcpy(in, now, (size_t)l->flow.n * sizeof *in);
    if (l->n_more)
        memcpy(in + l->flow.n, l->more, (size_t)l->n_more * sizeof *in);
    return in;
}

static int run_test(void *own, const void *now, ac_tensor **again)
{
    const loop *l = own;
    AC_TRY(ac_ep_call(l->n, l->test, with_more(l, now), l->flow.n + l->n_more, again, 1));
    *again = ac_flow_truth(&l->n->b, *again);
    return *again ? AC_OK : AC_FAIL;
}

static const void *run_body(void *own, const void *now)
{
    const loop *l = own;
    ac_tensor **out = AC_NEW_N(l->n->r->cx->region, ac_tensor *, l->flow.n + 1);
    const int rc = ac_ep_call(l->n, l->body, with_more(l, now), l->flow.n + l->n_more, out, l->flow.n);
    return rc == AC_OK ? out : NULL;
}

/* Every value may change. */
static const void *open_loop(void *own, const void *now, int64_t done)
{
    (void)own;
    (void)done;
    return now;
}

int ac_ep_do_while(ac_ep_node *n)
{
    static const ac_flow_format LOOP = {
        .open = open_loop,
        .rules = {.restart = MOST_STEPS, .copied = 256, .trips = 64, .most = MOST_STEPS},
        .code = E0104};
    loop l = {.n = n, .test = graph_at(n, 0), .body = graph_at(n, 1)};
    int32_t count = 0;
    int64_t turns;
    if (!l.test || !l.body)
        return AC_FAIL;
    ac_tensor *const *first = tensors_at(n, 2, &count);
    l.more = first ? tensors_at(n, 3, &l.n_more) : NULL;
    if (!l.more)
        return AC_FAIL;
    l.flow = (ac_flow){
        .b = &n->b, .now = &n->r->g, .of = &LOOP, .condition = run_test, .body = run_body, .n = count, .trips = -1};
    ac_tensor *const *last = ac_flow_loop(&l.flow, first, &turns);
    return last ? set_results(n, last, count) : AC_FAIL;
}

/* ------------------------------------------------------------------ scan, map */

typedef struct steps {
    ac_ep_node *n;
    const ac_js_node *graph;
    ac_tensor *const *state, *const *sequence, *const *more;
    int32_t states, sequences, n_more, outs;
} steps;

static int make_step(const steps *s, ac_sub *sub)
{
    ac_ep_node *n = s->n;
    const int32_t n_in = s->states + s->sequences + s->n_more;
    ac_tensor **in = AC_NEW_N(n->r->cx->region, ac_tensor *, n_in + 1),
              **out = AC_NEW_N(n->r->cx->region, ac_tensor *, s->outs + 1);
    int32_t k = 0;
    for (int32_t i = 0; i < s->states; i++)
        in[k++] = ac_sub_input(sub, s->state[i]);
    for (int32_t i = 0; i < s->sequences; i++)
        in[k++] = ac_sub_element(sub, s->sequence[i]);
    for (int32_t i = 0; i < s->n_more; i++)
        in[k++] = s->more[i];
    AC_TRY(ac_ep_call(n, s->graph, in, n_in, out, s->outs));
    for (int32_t i = 0; i < s->outs; i++) {
        if (i < s->states && !ac_tensor_same_kind(out[i], s->state[i]))
            return ac_cannot(&n->b, "a step changes state %d from %s to %s", i, ac_tensor_str(n->r->cx, s->state[i]),
                             ac_tensor_str(n->r->cx, out[i]));
        ac_push(sub->g->region, &sub->g->output, out[i]);
    }
    return AC_OK;
}

static int run_steps(steps *s)
{
    ac_ep_node *n = s->n;
    ac_sub sub = {0};
    ac_attrs a;
    s->outs = ac_ep_results_of(n->r, s->graph);
    if (s->outs < s->states || s->sequences < 1)
        return ac_bad(&n->b, "%d states, %d sequences and %d results", s->states, s->sequences, s->outs);
    ac_tensor **in = AC_NEW_N(n->r->cx->region, ac_tensor *, s->states + s->sequences + 1);
    for (int32_t i = 0; i < s->states; i++)
        in[i] = s->state[i];
    for (int32_t i = 0; i < s->sequences; i++) {
        in[s->states + i] = s->sequence[i];
        if (!s->sequence[i]->rank || s->sequence[i]->dim[0] < 1)
            return ac_cannot(&n->b, "it has no steps");
    }
    ac_attrs_init(AC_OP_SCAN, &a);
    a.scan = (ac_attrs_scan){.states = s->states, .sequences = s->sequences, .parts = 1};
    ac_sub_enter(&n->b, &n->r->g, &sub);
    const int rc = make_step(s, &sub);
    ac_sub_leave(&n->b, &n->r->g, &sub);
    ac_node *made = rc == AC_OK ? ac_sub_scan(&n->b, &sub, in, &a.scan) : NULL;
    return made ? set_results(n, made->out, s->outs) : AC_FAIL;
}

/* combine, states, sequences, more */
int ac_ep_do_scan(ac_ep_node *n)
{
    steps s = {.n = n, .graph = graph_at(n, 0)};
    if (!s.graph)
        return AC_FAIL;
    s.state = tensors_at(n, 1, &s.states);
    s.sequence = tensors_at(n, 2, &s.sequences);
    s.more = tensors_at(n, 3, &s.n_more);
    return s.state && s.sequence && s.more ? run_steps(&s) : AC_FAIL;
}

/* body, sequences, more */
int ac_ep_do_map(ac_ep_node *n)
{
    steps s = {.n = n, .graph = graph_at(n, 0)};
    if (!s.graph)
        return AC_FAIL;
    s.sequence = tensors_at(n, 1, &s.sequences);
    s.more = tensors_at(n, 2, &s.n_more);
    return s.sequence && s.more ? run_steps(&s) : AC_FAIL;
}

/* ------------------------------------------------------------------ wrappers */

/* Settings, then a graph, then its operands. */
int ac_ep_do_wrapped(ac_ep_node *n)
{
    const ac_js_node *graph = NULL;
    int32_t count = 0, k = 0, total = n->args ? n->args->n : 0;
    for (; k < total && !graph; k++) {
        const ac_js_node *x = ac_ep_arg_at(n, k);
        graph = ac_ep_is(x, "as_graph") ? ac_js_get(x, "graph") : NULL;
    }
    if (!graph)
        return ac_bad(&n->b, "it has no graph");
    ac_tensor **in = AC_NEW_N(n->r->cx->region, ac_tensor *, total + 1);
    for (; k < total; k++) {
        const ac_js_node *x = ac_ep_arg_at(n, k);
        if (ac_ep_is(x, "as_string"))
            continue;
        if (!(in[count++] = ac_ep_operand(n, x)))
            return n->broken ? AC_FAIL : ac_bad(&n->b, "argument %d is not a tensor", k);
    }
    const int32_t n_out = ac_ep_results_of(n->r, graph);
    ac_tensor **out = AC_NEW_N(n->r->cx->region, ac_tensor *, (n_out < 0 ? 0 : n_out) + 1);
    if (n_out < 0)
        return AC_FAIL;
    AC_TRY(ac_ep_call(n, graph, in, count, out, n_out));
    return set_results(n, out, n_out);
}
