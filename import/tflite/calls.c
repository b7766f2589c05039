/* calls.c - reads subgraphs of a model with data-dependent sizes when an operator runs them, on its operands, so that
 * each node is resolved for its actual operands (sized.c).
 *
 *     STABLEHLO_COMPOSITE   its nodes replace it
 *     IF                    a branch or both (import/build/flow/file_flow.h)
 *     WHILE                 unrolled or one WHILE
 *
 * In a model without such sizes pass infer does this (ir/pass/flow/inline.c). */
#include "import/build/bounds.h"
#include "import/build/flow/file_flow.h"
#include "import/tflite/rules.h"

#include <string.h>

enum { DEPTH = 16 };

/* ------------------------------------------------------------------ calls */

int ac_tfl_call(ac_tfl *r, const ac_tfl_node *n, int32_t subgraph, ac_tensor *const *arg, int32_t n_arg,
                ac_tensor **result, int32_t n_result)
{
    if (subgraph < 1 || (uint32_t)subgraph >= r->sub.n)
        return ac_error(r->cx, n->at, E0013, "runs subgraph %d, but the model has subgraphs 1 to %u to run", subgraph,
                        r->sub.n ? r->sub.n - 1 : 0);
    ac_tfl_sub sub = {.index = subgraph, .g = r->g, .sized = true, .arg = arg, .result = result};
    const int64_t work = r->fb.work;
    if (r->depth >= DEPTH)
        return ac_error(r->cx, n->at, E0014, "subgraphs run each other more than %d deep: perhaps in a cycle", DEPTH);
    AC_TRY(ac_flow_spend_call(r->cx, &r->reading->copies, n->at, r->g, 0));
    r->depth++;
    const int rc = ac_tfl_subgraph(r, &sub, n, n_arg, n_result);
    r->depth--;
    if (!r->fb.failed) { /* loops read their body repeatedly; the budget of copies bounds that */
        r->reading->copies.bytes += work - r->fb.work;
        r->fb.work = work - 1;
    }
    return rc;
}

static int check_operands(ac_tfl *r, const ac_tfl_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (!n->in[i])
            return ac_error(r->cx, n->at, E0102, "operand %d of %s is missing", i, n->code->name);
    return AC_OK;
}

typedef struct flow {
    ac_flow flow; /* values: the results; of a WHILE also the operands */
    ac_tfl *r;
    ac_tfl_node *n;
} flow;

static int set_results(ac_tfl_node *n, ac_tensor *const *value)
{
    for (int32_t i = 0; i < n->n_out && value; i++)
        AC_TRY(ac_tfl_result(n, i, value[i]));
    return value ? AC_OK : AC_FAIL;
}

static int run_condition(void *own, const void *now, ac_tensor **again)
{
    flow *l = own;
    AC_TRY(ac_tfl_call(l->r, l->n, l->n->attrs.flow.first, now, l->flow.n, again, 1));
    if (!(*again = ac_sub_condition(l->flow.b, *again)))
        return AC_FAIL;
    if (!ac_flow_is_inside(&l->flow))
        (void)ac_operand_known(l->flow.b, again);
    return AC_OK;
}

/* The results of a subgraph that has as many as the node. */
static const void *run_graph(const flow *f, int32_t subgraph, ac_tensor *const *arg, int32_t n_arg)
{
    ac_tensor **out = AC_NEW_N(f->r->cx->region, ac_tensor *, f->flow.n + 1);
    return ac_tfl_call(f->r, f->n, subgraph, arg, n_arg, out, f->flow.n) == AC_OK ? out : NULL;
}

static const void *run_body(void *own, const void *now)
{
    const flow *l = own;
    return run_graph(l, l->n->attrs.flow.second, now, l->flow.n);
}

static const void *run_branch(void *own, int32_t which)
{
    const ac_tfl_node *n = ((const flow *)own)->n;
    return run_graph(own, which ? n->attrs.flow.second : n->attrs.flow.first, n->in + 1, n->n_in - 1);
}

/* Marks the values that the body returns unchanged as kept: a WHILE carries the others. */
static const void *open_while(void *own, const void *now, int64_t done)
{
    flow *l = own;
    bool any = false;
    (void)done;
    if (ac_tfl_changed(l->r, l->n, l->flow.kept) != AC_OK)
        return NULL;
    for (int32_t k = 0; k < l->flow.n; k++) {
        any |= l->flow.kept[k];
        l->flow.kept[k] = !l->flow.kept[k];
    }
    if (any)
        return now;
    (void)ac_error(l->r->cx, l->n->at, E0104, "an iteration changes nothing, so a loop that begins never ends");
    return NULL;
}

static const ac_flow_format FORMAT = {
    .rules = {.restart = INT64_MAX, .copied = 1 << 11, .trips = INT64_MAX, .most = INT64_MAX},
    .code = E0203,
    .help = "how often the loop runs depends on data, so its values must keep their types and shapes",
    .open = open_while};

static ac_flow flow_of(ac_tfl *r, const ac_tfl_node *n, ac_maker *b)
{
    const char **name = AC_NEW_N(r->cx->region, const char *, n->n_out + 1);
    for (int32_t i = 0; i < n->n_out; i++)
        name[i] = n->out[i] ? n->out[i]->name : NULL;
    return (ac_flow){.b = b,
                     .now = &r->g,
                     .of = &FORMAT,
                     .condition = run_condition,
                     .body = run_body,
                     .run = run_branch,
                     .n = n->n_out,
                     .trips = -1,
                     .name = name};
}

int ac_tfl_while(ac_tfl *r, ac_tfl_node *n)
{
    AC_TRY(check_operands(r, n));
    if (n->n_in != n->n_out)
        return ac_error(r->cx, n->at, E0102, "takes %d values and returns %d, but a loop returns as many as it takes",
                        n->n_in, n->n_out);
    ac_maker b = ac_tfl_maker(r, n);
    flow l = {flow_of(r, n, &b), r, n};
    int64_t turns;
    for (int32_t i = 0; i < n->n_out; i++) /* --bound may name it, even if the loop is unrolled */
        (void)ac_bound_of(&b, l.flow.name[i]);
    return set_results(n, ac_flow_loop(&l.flow, n->in, &turns));
}

int ac_tfl_if(ac_tfl *r, ac_tfl_node *n)
{
    ac_maker b = ac_tfl_maker(r, n);
    flow x = {flow_of(r, n, &b), r, n};
    AC_TRY(check_operands(r, n));
    AC_TRY(ac_flow_is_condition(r->cx, n->at, n->in[0]));
    return set_results(n, ac_flow_branch(&x.flow, n->in[0]));
}
