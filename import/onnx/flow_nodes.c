/* flow_nodes.c - control flow of ONNX: graphs that are attributes take the place of their node.
 *
 *     If     a known condition chooses its branch; any other runs both and selects, so branches must be free of checks
 *     Scan   unrolled: the number of steps is a dimension
 *     Loop   unrolled. The condition must come out as a constant before every iteration, or the trip count must be one:
 *            then every iteration runs, and what is carried round stays as it was once the condition is false
 *     Optional*   a value that is there, or is not, is known from the file
 *
 * What is carried round is planned like any other tensor; equal bodies are printed once. */
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_STEPS = 4096 };

/* Nodes from `first` on run though they might not have to: nothing in them may stop the model or keep state. */
static int check_pure(ac_onx_node *n, int32_t first)
{
    const ac_graph *g = n->r->g;
    for (int32_t i = first; i < g->node.n; i++)
        if (ac_ops[g->node.item[i]->op].flags & (OF_CHECKS | OF_STATE))
            return ac_build_cannot(&n->b,
                                   "its condition depends on data, so all of it runs, but %s '%s' may stop the model",
                                   ac_ops[g->node.item[i]->op].text, g->node.item[i]->name);
    return AC_OK;
}

/* A value that is a bool of one element, as a scalar. */
static ac_tensor *as_condition(ac_onx_node *n, ac_tensor *c)
{
    if (!c)
        return NULL;
    if (c->dtype != AC_BOOL || ac_tensor_count(c) != 1)
        return (void)ac_error(n->r->cx, n->at, E0104, "the condition '%s' is %s, expected one bool", c->name,
                              ac_tensor_str(n->r->cx, c)),
               NULL;
    return ac_onx_reshape(n, c, 0, NULL);
}

static ac_tensor *choose(ac_onx_node *n, ac_tensor *c, ac_tensor *yes, ac_tensor *no)
{
    ac_tensor *in[] = {c, yes, no};
    if (yes == no || !c || !yes || !no)
        return yes;
    return ac_onx_make(n, AC_OP_SELECT, in, 3, NULL, AC_NONE);
}

/* ------------------------------------------------------------------ If */

static int both_branches(ac_onx_node *n, ac_span yes, ac_span no)
{
    const int32_t first = n->r->g->node.n, count = n->n_out;
    ac_tensor **a = AC_NEW_N(n->r->cx->region, ac_tensor *, count + 1),
              **b = AC_NEW_N(n->r->cx->region, ac_tensor *, count + 1);
    ac_tensor *c = as_condition(n, n->in[0]);
    if (!c)
        return AC_FAIL;
    AC_TRY(ac_onx_call_graph(n, yes, NULL, 0, a, count));
    AC_TRY(ac_onx_call_graph(n, no, NULL, 0, b, count));
    bool same = true;
    for (int32_t i = 0; i < count; i++)
        same &= a[i]->dtype == b[i]->dtype && ac_tensor_same_shape(a[i], b[i]);
    if (!same) /* the shapes of the results depend on the condition */
        return ac_operand_late(&n->b, n->in[0]);
    AC_TRY(check_pure(n, first));
    for (int32_t i = 0; i < count; i++)
        AC_TRY(ac_onx_result(n, i, choose(n, c, a[i], b[i])));
    return AC_OK;
}

int ac_onx_do_if(ac_onx_node *n)
{
    double cond;
    ac_onx_attr *a = ac_onx_attr_of(n, "then_branch"), *b = ac_onx_attr_of(n, "else_branch");
    ac_tensor **out = AC_NEW_N(n->r->cx->region, ac_tensor *, n->n_out + 1);
    if (!a || !b)
        return ac_error(n->r->cx, n->at, E0103, "a branch is missing");
    if (!ac_operand_known(&n->b, &n->in[0]))
        return both_branches(n, a->graph, b->graph);
    AC_TRY(ac_operand_scalar(&n->b, &n->in[0], &cond));
    AC_TRY(ac_onx_call_graph(n, cond != 0 ? a->graph : b->graph, NULL, 0, out, n->n_out));
    for (int32_t i = 0; i < n->n_out; i++)
        AC_TRY(ac_onx_result(n, i, out[i]));
    return AC_OK;
}

/* ------------------------------------------------------------------ Loop */

typedef struct loop {
    ac_onx_node *n;
    ac_span body;
    int32_t carried, scans;
    int64_t trips;            /* -1: no limit */
    ac_tensor *again;         /* the condition: constant, or computed at run time */
    ac_tensor **in;           /* iteration, condition, what is carried round */
    ac_tensor **out;          /* condition, what is carried round, one element of each scan */
    AC_VEC(ac_tensor *) part; /* the elements of the scans so far */
} loop;

static int read_loop(loop *l)
{
    ac_onx_node *n = l->n;
    double trips;
    const ac_onx_attr *a = ac_onx_attr_of(n, "body");
    if (!a)
        return ac_error(n->r->cx, n->at, E0103, "the body is missing");
    l->body = a->graph;
    l->carried = n->n_in > 2 ? n->n_in - 2 : 0;
    l->scans = n->n_out - l->carried;
    l->trips = -1;
    if (l->scans < 0) { /* results that nobody uses may be left out at the end */
        l->scans = 0;
    }
    if (ac_onx_in(n, 0)) {
        AC_TRY(ac_operand_scalar(&n->b, &n->in[0], &trips));
        l->trips = trips < 0 ? 0 : trips > 1e9 ? 1000000000 : (int64_t)trips;
    }
    l->again = ac_onx_in(n, 1) ? as_condition(n, n->in[1]) : ac_onx_number(n, AC_BOOL, 1);
    l->in = AC_NEW_N(n->r->cx->region, ac_tensor *, l->carried + 2);
    l->out = AC_NEW_N(n->r->cx->region, ac_tensor *, l->carried + l->scans + 1);
    for (int32_t i = 0; i < l->carried; i++)
        if (!(l->in[2 + i] = n->in[2 + i]))
            return ac_error(n->r->cx, n->at, E0102, "operand %d is left out", i + 2);
    return l->again ? AC_OK : AC_FAIL;
}

/* One more iteration; *done: the condition is false. */
static int iterate(loop *l, int64_t i, bool *done)
{
    ac_onx_node *n = l->n;
    const bool known = ac_tensor_is_const(l->again);
    if (known) {
        const uint8_t *v = ac_tensor_force(n->r->cx, l->again);
        *done = v && !*v;
        if (!v || *done)
            return v ? AC_OK : AC_FAIL;
    } else if (l->trips < 0) {
        return ac_refuse(n->r->reading, n->at, E0203, n->type, "its condition depends on data and nothing bounds it",
                         "give a constant trip count");
    } else if (l->scans) {
        return ac_refuse(n->r->reading, n->at, E0203, n->type,
                         "its condition depends on data, and so does the size of what it collects", NULL);
    }
    if (i >= MOST_STEPS)
        return ac_build_cannot(&n->b, "it has more than %d iterations, and each is unrolled", MOST_STEPS);
    const int32_t first = n->r->g->node.n;
    l->in[0] = ac_onx_number(n, AC_I64, (double)i);
    l->in[1] = l->again;
    AC_TRY(ac_onx_call_graph(n, l->body, l->in, l->carried + 2, l->out, l->carried + l->scans + 1));
    ac_tensor *again = as_condition(n, l->out[0]);
    if (!again)
        return AC_FAIL;
    if (!known)
        AC_TRY(check_pure(n, first));
    for (int32_t k = 0; k < l->carried; k++) {
        ac_tensor *now = l->out[1 + k], *was = l->in[2 + k];
        if (!known && (now->dtype != was->dtype || !ac_tensor_same_shape(now, was)))
            return ac_build_cannot(&n->b, "'%s' changes its shape while the condition depends on data", was->name);
        if (!(l->in[2 + k] = known ? now : choose(n, l->again, now, was)))
            return AC_FAIL;
    }
    for (int32_t k = 0; k < l->scans; k++)
        ac_push(n->r->cx->region, &l->part, l->out[1 + l->carried + k]);
    l->again = known ? again : ac_onx_2(n, AC_OP_LOGICAL_AND, l->again, again);
    return l->again ? AC_OK : AC_FAIL;
}

/* Elements [..] of a scan, every `stride`th of `part`, as one tensor with a new dimension `axis`. */
static ac_tensor *collect(ac_onx_node *n, ac_tensor *const *part, int64_t count, int32_t stride, int64_t axis,
                          bool backwards)
{
    ac_tensor **one = AC_NEW_N(n->r->cx->region, ac_tensor *, count + 1);
    int64_t dim[AC_MAX_RANK];
    int32_t at = 0;
    for (int64_t i = 0; i < count; i++) {
        const ac_tensor *x = part[(backwards ? count - 1 - i : i) * stride];
        if (x->rank >= AC_MAX_RANK)
            return (void)ac_build_cannot(&n->b, "what it collects has more than 8 dimensions"), NULL;
        if (ac_onx_axis(n, axis, x->rank + 1, &at) != AC_OK)
            return NULL;
        for (int32_t d = 0; d < x->rank; d++)
            dim[d + (d >= at)] = x->dim[d];
        dim[at] = 1;
        one[i] = ac_onx_reshape(n, part[(backwards ? count - 1 - i : i) * stride], x->rank + 1, dim);
    }
    return ac_onx_concat(n, one, (int32_t)count, at);
}

int ac_onx_do_loop(ac_onx_node *n)
{
    loop l = {.n = n};
    bool done = false;
    AC_TRY(read_loop(&l));
    int64_t i = 0;
    for (; l.trips < 0 || i < l.trips; i++) {
        AC_TRY(iterate(&l, i, &done));
        if (done)
            break;
    }
    if (!i && l.scans)
        return ac_build_cannot(&n->b, "it collects results of no iteration at all");
    for (int32_t k = 0; k < l.carried; k++)
        AC_TRY(ac_onx_result(n, k, l.in[2 + k]));
    for (int32_t k = 0; k < l.scans; k++)
        AC_TRY(ac_onx_result(n, l.carried + k, collect(n, l.part.item + k, i, l.scans, 0, false)));
    return AC_OK;
}

/* ------------------------------------------------------------------ Scan */

typedef struct scan {
    ac_onx_node *n;
    ac_span body;
    int32_t states, scans, outs;                  /* carried round, taken apart, put together */
    ac_ints in_axes, out_axes, in_back, out_back; /* empty: 0 */
} scan;

static int64_t entry(ac_ints list, int32_t i)
{
    return i < list.n ? list.v[i] : 0;
}

static int read_scan(scan *s, int32_t first)
{
    ac_onx_node *n = s->n;
    const ac_onx_attr *a = ac_onx_attr_of(n, "body");
    const int64_t scans = ac_onx_int(n, "num_scan_inputs", 0);
    if (!a || scans < 1 || scans > n->n_in - first)
        return ac_error(n->r->cx, n->at, E0103, "%s", a ? "num_scan_inputs is not in range" : "the body is missing");
    s->body = a->graph;
    s->scans = (int32_t)scans;
    s->states = n->n_in - first - s->scans;
    s->outs = n->n_out - s->states;
    AC_TRY(ac_onx_list(n, "scan_input_axes", &s->in_axes));
    AC_TRY(ac_onx_list(n, "scan_output_axes", &s->out_axes));
    AC_TRY(ac_onx_list(n, first ? "directions" : "scan_input_directions", &s->in_back));
    AC_TRY(ac_onx_list(n, "scan_output_directions", &s->out_back));
    for (int32_t i = first; i < n->n_in; i++)
        if (!n->in[i])
            return ac_error(n->r->cx, n->at, E0102, "operand %d is left out", i);
    return s->outs < 0 ? ac_build_cannot(&n->b, "a result is left out") : AC_OK;
}

/* states and inputs as they are given; result[]: states, then what is put together. */
static int run_scan(scan *s, ac_tensor *const *state, ac_tensor *const *input, ac_tensor **result)
{
    ac_onx_node *n = s->n;
    ac_region *region = n->r->cx->region;
    const int32_t n_in = s->states + s->scans, n_out = s->states + s->outs;
    ac_tensor **in = AC_NEW_N(region, ac_tensor *, n_in + 1), **out = AC_NEW_N(region, ac_tensor *, n_out + 1);
    AC_VEC(ac_tensor *) part = {0};
    int64_t steps = -1;
    int32_t *axis = AC_NEW_N(region, int32_t, s->scans + 1);
    for (int32_t i = 0; i < s->scans; i++) {
        AC_TRY(ac_onx_axis(n, entry(s->in_axes, i), input[i]->rank, &axis[i]));
        const int64_t have = input[i]->dim[axis[i]];
        if (steps >= 0 && have != steps)
            return ac_error(n->r->cx, n->at, E0104, "'%s' has %" PRId64 " steps, others %" PRId64, input[i]->name, have,
                            steps);
        steps = have;
    }
    if (steps < 1 || steps > MOST_STEPS)
        return ac_build_cannot(&n->b, "it has %" PRId64 " steps; 1 to %d are unrolled", steps, MOST_STEPS);
    memcpy(in, state, (size_t)s->states * sizeof *in);
    for (int64_t t = 0; t < steps; t++) {
        for (int32_t i = 0; i < s->scans; i++) {
            int64_t dim[AC_MAX_RANK];
            const ac_tensor *x = input[i];
            ac_tensor *now = ac_onx_slice(n, input[i], axis[i], entry(s->in_back, i) ? steps - 1 - t : t, 1);
            for (int32_t d = 0; d < x->rank; d++)
                if (d != axis[i])
                    dim[d - (d > axis[i])] = x->dim[d];
            if (!(in[s->states + i] = ac_onx_reshape(n, now, x->rank - 1, dim)))
                return AC_FAIL;
        }
        AC_TRY(ac_onx_call_graph(n, s->body, in, n_in, out, n_out));
        memcpy(in, out, (size_t)s->states * sizeof *in);
        for (int32_t i = 0; i < s->outs; i++)
            ac_push(region, &part, out[s->states + i]);
    }
    memcpy(result, in, (size_t)s->states * sizeof *in);
    for (int32_t i = 0; i < s->outs; i++)
        result[s->states + i] =
            collect(n, part.item + i, steps, s->outs, entry(s->out_axes, i), entry(s->out_back, i) != 0);
    return AC_OK;
}

int ac_onx_do_scan(ac_onx_node *n)
{
    scan s = {.n = n};
    AC_TRY(read_scan(&s, 0));
    ac_tensor **result = AC_NEW_N(n->r->cx->region, ac_tensor *, n->n_out + s.states + 1);
    AC_TRY(run_scan(&s, n->in, n->in + s.states, result));
    for (int32_t i = 0; i < n->n_out; i++)
        AC_TRY(ac_onx_result(n, i, result[i]));
    return AC_OK;
}

/* Opset 8: operand 0 are lengths; everything else has a batch in front, whose elements are scanned one after the other.
 */
int ac_onx_do_scan_batch(ac_onx_node *n)
{
    scan s = {.n = n};
    AC_TRY(read_scan(&s, 1));
    if (ac_onx_in(n, 0))
        return ac_build_cannot(&n->b, "its sequences have lengths of their own");
    const int32_t n_in = n->n_in - 1, n_out = s.states + s.outs;
    const int64_t batch = n->in[1]->rank ? n->in[1]->dim[0] : 0;
    if (batch < 1)
        return ac_error(n->r->cx, n->at, E0104, "'%s' is %s, expected a batch", n->in[1]->name,
                        ac_shape_str(n->r->cx, n->in[1]));
    ac_tensor **in = AC_NEW_N(n->r->cx->region, ac_tensor *, n_in),
              **part = AC_NEW_N(n->r->cx->region, ac_tensor *, batch * n_out + 1);
    for (int64_t b = 0; b < batch; b++) {
        for (int32_t i = 0; i < n_in; i++) {
            ac_tensor *x = n->in[1 + i];
            if (x->rank < 1 || x->dim[0] != batch)
                return ac_error(n->r->cx, n->at, E0104, "'%s' is %s, others have a batch of %" PRId64, x->name,
                                ac_shape_str(n->r->cx, x), batch);
            if (!(in[i] = ac_onx_reshape(n, ac_onx_slice(n, x, 0, b, 1), x->rank - 1, x->dim + 1)))
                return AC_FAIL;
        }
        AC_TRY(run_scan(&s, in, in + s.states, part + b * n_out));
    }
    for (int32_t i = 0; i < n->n_out; i++)
        AC_TRY(ac_onx_result(n, i, collect(n, part + i, batch, n_out, 0, false)));
    return AC_OK;
}

/* ------------------------------------------------------------------ Optional */

int ac_onx_do_has_element(ac_onx_node *n)
{
    return ac_onx_result(n, 0, ac_onx_number(n, AC_BOOL, ac_onx_in(n, 0) != NULL));
}
