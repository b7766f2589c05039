/* calls.c - reads subgraphs of a model with data-dependent sizes when an operator runs them, on its operands, so that
 * each node is resolved for its actual operands (sized.c).
 *
 *     STABLEHLO_COMPOSITE   its nodes replace it
 *     IF                    a branch or both (import/build/flow/sub_graphs.h)
 *     WHILE                 unrolled or one WHILE (import/build/flow/file_loop.h)
 *
 * In a model without such sizes pass infer does this (ir/pass/flow/inline.c). */
#include "import/build/bounds.h"
#include "import/build/flow/file_loop.h"
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

/* ------------------------------------------------------------------ IF */

typedef struct branches {
    ac_tfl *r;
    ac_tfl_node *n;
} branches;

static int run_branch(void *own, int32_t which, ac_tensor **out)
{
    const branches *x = own;
    const ac_tfl_node *n = x->n;
    return ac_tfl_call(x->r, n, which ? n->attrs.flow.second : n->attrs.flow.first, n->in + 1, n->n_in - 1, out,
                       n->n_out);
}

int ac_tfl_if(ac_tfl *r, ac_tfl_node *n)
{
    ac_maker b = ac_tfl_maker(r, n);
    branches x = {r, n};
    ac_tensor **out = AC_NEW_N(r->cx->region, ac_tensor *, n->n_out + 1);
    const char **name = AC_NEW_N(r->cx->region, const char *, n->n_out + 1);
    AC_TRY(check_operands(r, n));
    AC_TRY(ac_flow_is_condition(r->cx, n->at, n->in[0]));
    for (int32_t i = 0; i < n->n_out; i++)
        name[i] = n->out[i] ? n->out[i]->name : NULL;
    AC_TRY(ac_sub_if(&b, &r->g, n->in[0], run_branch, &x, n->n_out, name, out));
    for (int32_t i = 0; i < n->n_out; i++)
        AC_TRY(ac_tfl_result(n, i, out[i]));
    return AC_OK;
}

/* ------------------------------------------------------------------ WHILE */

typedef struct loop {
    ac_loop loop; /* its values are the operands */
    ac_tfl *r;
    ac_tfl_node *n;
} loop;

static int run_condition(void *own, const void *now, ac_tensor **again)
{
    loop *l = own;
    AC_TRY(ac_tfl_call(l->r, l->n, l->n->attrs.flow.first, now, l->loop.n, again, 1));
    if (!(*again = ac_sub_condition(l->loop.b, *again)))
        return AC_FAIL;
    if (!ac_loop_is_rolled(&l->loop))
        (void)ac_operand_known(l->loop.b, again);
    return AC_OK;
}

static const void *run_body(void *own, const void *now)
{
    loop *l = own;
    ac_tensor **next = AC_NEW_N(l->r->cx->region, ac_tensor *, l->loop.n + 1);
    return ac_tfl_call(l->r, l->n, l->n->attrs.flow.second, now, l->loop.n, next, l->loop.n) == AC_OK ? next : NULL;
}

/* Marks the values that the body returns unchanged as kept: a WHILE carries the others. */
static const void *open_while(void *own, const void *now, int64_t done)
{
    loop *l = own;
    bool any = false;
    (void)done;
    if (ac_tfl_changed(l->r, l->n, l->loop.kept) != AC_OK)
        return NULL;
    for (int32_t k = 0; k < l->loop.n; k++) {
        any |= l->loop.kept[k];
        l->loop.kept[k] = !l->loop.kept[k];
        l->loop.name[k] = l->n->out[k] ? l->n->out[k]->name : NULL;
    }
    if (any)
        return now;
    (void)ac_error(l->r->cx, l->n->at, E0104, "an iteration changes nothing, so a loop that begins never ends");
    return NULL;
}

int ac_tfl_while(ac_tfl *r, ac_tfl_node *n)
{
    static const ac_loop_format FORMAT = {
        .rules = {.restart = INT64_MAX, .copied = 1 << 11, .trips = INT64_MAX, .most = INT64_MAX},
        .code = E0203,
        .help = "how often the loop runs depends on data, so its values must keep their types and shapes",
        .open = open_while};
    AC_TRY(check_operands(r, n));
    if (n->n_in != n->n_out)
        return ac_error(r->cx, n->at, E0102, "takes %d values and returns %d, but a loop returns as many as it takes",
                        n->n_in, n->n_out);
    ac_maker b = ac_tfl_maker(r, n);
    for (int32_t i = 0; i < n->n_out; i++) /* --bound may name it, even if the loop is unrolled */
        if (n->out[i])
            (void)ac_bound_of(&b, n->out[i]->name);
    loop l = {
        {.b = &b, .now = &r->g, .of = &FORMAT, .condition = run_condition, .body = run_body, .n = n->n_in, .trips = -1},
        r,
        n};
    int64_t turns;
    ac_tensor *const *last = ac_loop_run(&l.loop, n->in, &turns);
    for (int32_t k = 0; k < n->n_out; k++)
        AC_TRY(last ? ac_tfl_result(n, k, last[k]) : AC_FAIL);
    return last ? AC_OK : AC_FAIL;
}
