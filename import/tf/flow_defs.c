/* flow_defs.c - control flow of TensorFlow 2: If, Case and While name functions.
 *
 * late_flow.c runs all of them: branches with a function for each alternative, While with its two functions as
 * condition and body. */
#include "import/build/bounds.h"
#include "import/tf/late_flow.h"
#include "import/tf/nodedefs.h"

#include <string.h>

enum { MOST_BRANCHES = 64 };

/* Runs function f on arg[skip ..]; *ret gets all of its results, n_out of which are read. */
static int run_branch(ac_tf_op *n, ac_tf_body *f, int32_t skip, const ac_tf_value *arg, int32_t n_arg, int32_t n_out,
                      ac_tf_value **ret)
{
    if (f->broken)
        return AC_FAIL;
    if (n_arg - skip != f->arg.n)
        return ac_error(n->r->cx, n->b.at, E0102, "calls '%s' with %d values; it takes %d", f->name, n_arg - skip,
                        f->arg.n);
    if (f->n_rets < n_out)
        return ac_error(n->r->cx, n->b.at, E0101, "'%s' has %d results, expected %d", f->name, f->n_rets, n_out);
    *ret = AC_NEW_N(n->r->cx->region, ac_tf_value, f->n_rets + 1);
    return ac_tf_run(n->r, f, n, arg + skip, *ret);
}

static void ignore_types(ac_tf_op *n)
{
    static const char *const NAME[] = {"Tcond", "Tin", "Tout", "output_shapes", "parallel_iterations", "T"};
    for (size_t i = 0; i < sizeof NAME / sizeof *NAME; i++)
        ac_attr_skip(&n->attrs, NAME[i]);
}

typedef struct branches {
    ac_tf_flow flow;
    ac_tf_body *const *f;
} branches;

static const void *run_chosen(void *own, int32_t which)
{
    const branches *x = own;
    ac_tf_op *n = x->flow.n;
    ac_tf_value *ret = NULL, *arg = ac_copy(n->r->cx->region, n->in, (size_t)n->n_in * sizeof *arg);
    for (int32_t i = 0; i < n->n_in && ac_flow_is_inside(&x->flow.flow); i++)
        arg[i].guard = NULL;
    return run_branch(n, x->f[which], 1, arg, n->n_in, n->n_out, &ret) == AC_OK ? ret : NULL;
}

static int choose(ac_tf_op *n, ac_tf_body *const *f, int32_t count, ac_tensor *key)
{
    branches x = {{.n = n}, f};
    const ac_tf_value *ret = ac_tf_branch_run(&x.flow, run_chosen, count, key);
    if (ret)
        memcpy(n->out, ret, (size_t)n->n_out * sizeof *ret);
    return ret ? AC_OK : AC_FAIL;
}

int ac_tf_do_if(ac_tf_op *n)
{
    ac_tf_body *f[] = {ac_tf_func(n, "then_branch"), ac_tf_func(n, "else_branch")};
    ac_tensor *condition;
    ignore_types(n);
    return f[0] && f[1] && ac_tf_condition(n, &n->in[0], &condition) == AC_OK ? choose(n, f, 0, condition) : AC_FAIL;
}

/* An index out of range takes the last branch. */
int ac_tf_do_case(ac_tf_op *n)
{
    ac_tf_body *f[MOST_BRANCHES];
    int32_t count;
    ignore_types(n);
    AC_TRY(ac_tf_funcs(n, "branches", f, MOST_BRANCHES, &count));
    if (!count || !n->t[0] || ac_tensor_count(n->t[0]) != 1)
        return ac_error(n->r->cx, n->b.at, E0103, count ? "its index is not a single number" : "it has no branches");
    return choose(n, f, count, n->t[0]);
}

typedef struct functions {
    ac_tf_flow loop; /* of the operands */
    ac_tf_body *cond, *body;
    const char **name; /* by value: NULL, or the one that --bound calls it */
} functions;

static int run_condition(void *own, const void *now, ac_tensor **again)
{
    const functions *w = own;
    ac_tf_op *n = w->loop.n;
    ac_tf_value *c = NULL;
    AC_TRY(run_branch(n, w->cond, 0, now, n->n_in, 1, &c));
    return ac_tf_condition(n, c, again);
}

static const void *run_body(void *own, const void *now)
{
    const functions *w = own;
    ac_tf_op *n = w->loop.n;
    ac_tf_value *next = NULL;
    return run_branch(n, w->body, 0, now, n->n_in, n->n_in, &next) == AC_OK ? next : NULL;
}

/* True if the function returns parameter k as result k. */
static bool is_passed(ac_tf_body *f, int32_t k)
{
    int32_t at = f->ret[k].node;
    for (int32_t step = 0; step < f->node.n && !f->node.item[at].argument; step++) {
        const ac_tf_node *m = &f->node.item[at];
        if (strcmp(m->op, "Identity") != 0 || m->n_in != 1)
            return false;
        at = m->in[0].node;
    }
    return at == f->arg.item[k];
}

static int find_passed(ac_tf_flow *l)
{
    functions *w = (functions *)l;
    ac_tf_op *n = l->n;
    if (w->body->arg.n != n->n_in || w->body->n_rets < n->n_in)
        return ac_error(n->r->cx, n->b.at, E0102, "'%s' takes %d values and returns %d, expected %d of both",
                        w->body->name, w->body->arg.n, w->body->n_rets, n->n_in);
    AC_TRY(ac_tf_body_order(n->r, w->body));
    for (int32_t k = 0; k < n->n_in; k++) {
        l->flow.kept[k] = is_passed(w->body, k);
        l->flow.name[k] = w->name[k];
    }
    return AC_OK;
}

/* The names of --bound for carried values, which are known even if the loop is unrolled. */
static const char **names_of(ac_tf_op *n)
{
    const char **name = AC_NEW_N(n->r->cx->region, const char *, n->n_in + 1);
    for (int32_t k = 0; k < n->n_in; k++) {
        const bool sized = n->in[k].kind == AC_TF_LIST || (n->t[k] && n->t[k]->rank > 0);
        name[k] = !sized ? NULL : k ? ac_strf(n->r->cx->region, "%s:%d", n->node->name, k) : n->node->name;
        (void)ac_bound_of(&n->b, name[k]);
    }
    return name;
}

int ac_tf_do_while(ac_tf_op *n)
{
    functions w = {{.n = n, .find_kept = find_passed}, ac_tf_func(n, "cond"), ac_tf_func(n, "body"), names_of(n)};
    int64_t turns;
    ignore_types(n);
    if (!w.cond || !w.body)
        return AC_FAIL;
    if (n->n_out > n->n_in)
        return ac_error(n->r->cx, n->b.at, E0101, "carries %d values, but result %d is read", n->n_in, n->n_out - 1);
    const ac_tf_value *last = ac_tf_loop_run(&w.loop, run_condition, run_body, n->n_in, n->in, &turns);
    if (last)
        memcpy(n->out, last, (size_t)n->n_out * sizeof *last);
    return last ? AC_OK : AC_FAIL;
}
