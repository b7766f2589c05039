/* flow_nodes.c - control flow of ONNX: operators whose attributes are graphs.
 *
 *     If     a constant condition chooses its branch, whose nodes replace the If; any other makes an IF. A result that
 *            is longer in one branch is padded in the other, and counted
 *     Scan   a loop, or unrolled if a step changes a shape; steps past the valid length keep the states
 *     Loop   loop_nodes.c
 *     Optional*   whether a value is present is known from the file
 *
 * Carried values are planned like any other tensor; equal bodies are printed once. */
#include "import/build/bounds.h"
#include "import/build/counted.h"
#include "import/build/flow/file_flow.h"
#include "import/onnx/collect.h"
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_STEPS = 4096 };

static const ac_flow_format FORMAT = {.rules = {.copied = INT64_MAX, .trips = INT64_MAX, .most = MOST_STEPS}};

static int set_results(ac_onx_node *n, ac_tensor *const *value)
{
    for (int32_t i = 0; i < n->n_out && value; i++)
        AC_TRY(ac_onx_result(n, i, value[i]));
    return value ? AC_OK : AC_FAIL;
}

/* ------------------------------------------------------------------ If */

typedef struct branches {
    ac_flow flow;
    ac_onx_node *n;
    ac_span graph[2];
} branches;

static const void *run_branch(void *own, int32_t which)
{
    const branches *x = own;
    ac_onx_node *n = x->n;
    ac_tensor **out = AC_NEW_N(n->r->cx->region, ac_tensor *, n->n_out + 1);
    if (ac_onx_call_graph(n, x->graph[which], NULL, 0, out, n->n_out) != AC_OK)
        return NULL;
    for (int32_t i = 0; i < n->n_out && ac_flow_is_inside(&x->flow); i++)
        if (ac_onx_sequence_of(n->r, out[i]))
            return (void)ac_cannot(&n->b, "result %d is a sequence of tensors that depends on data", i), NULL;
    return out;
}

int ac_onx_do_if(ac_onx_node *n)
{
    ac_onx_attr *a = ac_onx_attr_of(n, "then_branch"), *b = ac_onx_attr_of(n, "else_branch");
    const char **name = AC_NEW_N(n->r->cx->region, const char *, n->n_out + 1);
    if (!a || !b)
        return ac_error(n->r->cx, n->at, E0103, "a branch is missing");
    for (int32_t i = 0; i < n->n_out; i++)
        name[i] = ac_onx_result_name(n, i);
    branches x = {{.b = &n->b, .now = &n->r->g, .of = &FORMAT, .run = run_branch, .n = n->n_out, .name = name},
                  n,
                  {a->graph, b->graph}};
    return set_results(n, ac_flow_branch(&x.flow, n->in[0]));
}

/* ------------------------------------------------------------------ Scan */

ac_tensor *ac_onx_collect(ac_onx_node *n, ac_tensor *const *part, int64_t count, int32_t stride, int64_t axis,
                          bool backwards)
{
    ac_tensor **one = AC_NEW_N(n->r->cx->region, ac_tensor *, count + 1);
    int64_t dim[AC_MAX_RANK];
    int32_t at = 0;
    for (int64_t i = 0; i < count; i++) {
        const ac_tensor *x = part[(backwards ? count - 1 - i : i) * stride];
        if (x->rank >= AC_MAX_RANK)
            return (void)ac_cannot(&n->b, "what it collects has more than 8 dimensions"), NULL;
        if (ac_operand_axis(&n->b, axis, x->rank + 1, &at) != AC_OK)
            return NULL;
        for (int32_t d = 0; d < x->rank; d++)
            dim[d + (d >= at)] = x->dim[d];
        dim[at] = 1;
        one[i] = ac_make_reshape(&n->b, part[(backwards ? count - 1 - i : i) * stride], x->rank + 1, dim);
        if (one[i] && i && one[i]->count && one[0]->count && one[i]->count_dim == one[0]->count_dim)
            one[i]->count = one[0]->count; /* all of them are of one size when the model runs */
    }
    return ac_make_concat(&n->b, one, (int32_t)count, at);
}

typedef struct scan {
    ac_flow flow; /* its values are the states */
    ac_onx_node *n;
    ac_span body;
    int32_t states, scans, outs;                  /* carried, sliced, collected */
    ac_ints in_axes, out_axes, in_back, out_back; /* empty: 0 */
    ac_tensor *const *input;                      /* the sliced ones .. */
    int32_t *axis;                                /* .. and the dimension of the steps */
    ac_tensor *count;                             /* the valid number of steps; NULL: all are */
    int64_t done;
    AC_VEC(ac_tensor *) part; /* collected so far */
} scan;

static int64_t entry_or_0(ac_ints list, int32_t i)
{
    return i < list.n ? list.v[i] : 0;
}

static int read_scan(scan *s, int32_t first)
{
    ac_onx_node *n = s->n;
    const ac_onx_attr *a = ac_onx_attr_of(n, "body");
    const int64_t scans = ac_attr_int(&n->attrs, A_num_scan_inputs);
    if (!a || scans < 1 || scans > n->n_in - first)
        return ac_error(n->r->cx, n->at, E0103, "%s", a ? "num_scan_inputs is not in range" : "the body is missing");
    s->body = a->graph;
    s->scans = (int32_t)scans;
    s->states = n->n_in - first - s->scans;
    s->outs = n->n_out - s->states;
    s->in_axes = ac_attr_ints(&n->attrs, A_scan_input_axes);
    s->out_axes = ac_attr_ints(&n->attrs, A_scan_output_axes);
    s->in_back = ac_attr_ints(&n->attrs, first ? A_directions : A_scan_input_directions);
    s->out_back = ac_attr_ints(&n->attrs, A_scan_output_directions);
    if (n->b.bad)
        return AC_FAIL;
    for (int32_t i = first; i < n->n_in; i++)
        AC_TRY(ac_onx_need(n, i));
    return s->outs < 0 ? ac_cannot(&n->b, "a result is left out") : AC_OK;
}

/* Sets s->count. AC_FAIL: refused */
static int counted_steps(scan *s)
{
    ac_onx_node *n = s->n;
    s->count = NULL;
    for (int32_t i = 0; i < s->scans; i++) {
        const ac_tensor *x = s->input[i];
        if (!x->count || x->count_dim != s->axis[i])
            continue;
        if (entry_or_0(s->in_back, i))
            return ac_cannot(&n->b, "it goes backwards over '%s', whose length depends on data", x->name);
        s->count = s->count ? s->count : ac_make_counted_extent(&n->b, s->input[i], s->axis[i]);
    }
    for (int32_t i = 0; i < s->outs && s->count; i++)
        if (entry_or_0(s->out_back, i))
            return ac_cannot(&n->b, "it collects backwards, and the number of results depends on data");
    return AC_OK;
}

/* States after step t, or, if t is not below `count`, as before it. */
static int keep_states(const scan *s, ac_tensor *count, int64_t t, ac_tensor *const *before, ac_tensor **after)
{
    ac_onx_node *n = s->n;
    ac_tensor *there = s->states ? ac_make_2(&n->b, AC_OP_LESS, ac_make_number(&n->b, AC_I64, (double)t), count) : NULL;
    for (int32_t i = 0; i < s->states; i++) {
        if (!ac_tensor_same_kind(before[i], after[i]) || after[i]->count)
            return ac_cannot(&n->b, "a state changes its shape, and the number of steps depends on data");
        if (!(after[i] = there ? ac_make_select(&n->b, there, after[i], before[i]) : NULL))
            return AC_FAIL;
    }
    return AC_OK;
}

/* Element `at` of sliced operand i. */
static ac_tensor *operand_at(const scan *s, int32_t i, int64_t at)
{
    int64_t dim[AC_MAX_RANK];
    ac_tensor *x = s->input[i], *y = ac_make_slice_there(&s->n->b, x, s->axis[i], at, 1);
    for (int32_t d = 0; d < x->rank; d++)
        if (d != s->axis[i])
            dim[d - (d > s->axis[i])] = x->dim[d];
    return ac_make_reshape(&s->n->b, y, x->rank - 1, dim);
}

/* One step: states before -> after; appends its results to s->part. */
static const void *run_step(void *own, const void *now)
{
    scan *s = own;
    ac_onx_node *n = s->n;
    ac_region *region = n->r->cx->region;
    const int32_t n_in = s->states + s->scans, n_out = s->states + s->outs;
    ac_tensor **in = AC_NEW_N(region, ac_tensor *, n_in + 1), **out = AC_NEW_N(region, ac_tensor *, n_out + 1);
    const int64_t step = s->done++;
    memcpy(in, now, (size_t)s->states * sizeof *in);
    for (int32_t i = 0; i < s->scans; i++)
        if (!(in[s->states + i] = operand_at(s, i, entry_or_0(s->in_back, i) ? s->flow.trips - 1 - step : step)))
            return NULL;
    if (ac_onx_call_graph(n, s->body, in, n_in, out, n_out) != AC_OK ||
        (s->count && keep_states(s, s->count, step, in, out) != AC_OK))
        return NULL;
    for (int32_t i = 0; i < s->outs; i++)
        ac_push(region, &s->part, out[s->states + i]);
    return out;
}

/* ------------------------------------------------------------------ Scan that stays a loop */

/* x with dimension `from` moved to place `to`. */
static ac_tensor *moved(const scan *s, ac_tensor *x, int32_t from, int32_t to)
{
    int32_t perm[AC_MAX_RANK];
    for (int32_t d = 0, at = 0; d < x->rank; d++) {
        at += at == from;
        perm[d] = d == to ? from : at++;
    }
    return ac_make_transpose(&s->n->b, x, perm);
}

/* The body on one element of each operand. *fits: states keep their types and shapes, and nothing depends on data. */
static int make_step(scan *s, ac_sub *sub, ac_tensor *const *in, bool *fits)
{
    ac_onx_node *n = s->n;
    const int32_t n_in = s->states + s->scans, n_out = s->states + s->outs;
    ac_tensor **own = AC_NEW_N(n->r->cx->region, ac_tensor *, n_in + 1),
              **out = AC_NEW_N(n->r->cx->region, ac_tensor *, n_out + 1);
    for (int32_t i = 0; i < n_in; i++)
        own[i] = i < s->states ? ac_sub_input(sub, in[i]) : ac_sub_element(sub, in[i]);
    AC_TRY(ac_onx_call_graph(n, s->body, own, n_in, out, n_out));
    *fits = true;
    for (int32_t i = 0; i < sub->g->node.n; i++)
        for (int32_t k = 0; k < sub->g->node.item[i]->n_in; k++) {
            const ac_tensor *t = sub->g->node.item[i]->in[k];
            *fits &= !t || !t->count || ac_graph_has(sub->g, t);
        }
    for (int32_t i = 0; i < n_out && *fits; i++) {
        *fits = !ac_onx_sequence_of(n->r, out[i]) && !out[i]->count && out[i]->rank < AC_MAX_RANK &&
                (i >= s->states || ac_tensor_same_kind(own[i], out[i]));
        ac_push(sub->g->region, &sub->g->output, out[i]);
    }
    return AC_OK;
}

/* *made: the loop; NULL: its steps have to be copied. in[]: states, then operands with the steps first. */
static int roll_scan(scan *s, ac_tensor *const *in, ac_node **made)
{
    ac_onx_node *n = s->n;
    const ac_said before = ac_said_now(&n->b);
    const int32_t turned = s->scans + s->outs;
    int64_t *back = AC_NEW_N(n->r->cx->region, int64_t, turned + 1);
    ac_sub sub = {0};
    ac_attrs a;
    bool fits = false;
    for (int32_t i = 0; i < turned; i++)
        back[i] = i < s->scans ? entry_or_0(s->in_back, i) : entry_or_0(s->out_back, i - s->scans);
    ac_attrs_init(AC_OP_SCAN, &a);
    a.scan = (ac_attrs_scan){.states = s->states, .sequences = s->scans, .parts = 1};
    a.scan.back = ac_make_list(&n->b, turned, back);
    ac_sub_enter(&n->b, &n->r->g, &sub);
    const int rc = make_step(s, &sub, in, &fits);
    ac_sub_leave(&n->b, &n->r->g, &sub);
    *made = NULL;
    if (ac_said_quietly(&n->b, before, rc) && fits && !(*made = ac_sub_scan(&n->b, &sub, in, &a.scan)))
        return AC_FAIL;
    return AC_OK;
}

/* Sets result[] if Scan stays a loop, and *done. */
static int scan_loop(scan *s, ac_tensor *const *state, ac_tensor **result, bool *done)
{
    ac_onx_node *n = s->n;
    ac_node *made = NULL;
    ac_tensor **in = AC_NEW_N(n->r->cx->region, ac_tensor *, s->states + s->scans + 1);
    *done = false;
    for (int32_t i = 0; i < s->states; i++)
        if (state[i]->count || ac_onx_sequence_of(n->r, state[i]))
            return AC_OK;
    for (int32_t i = 0; i < s->states + s->scans; i++) {
        in[i] = i < s->states ? state[i] : moved(s, s->input[i - s->states], s->axis[i - s->states], 0);
        if (!in[i])
            return AC_FAIL;
    }
    AC_TRY(roll_scan(s, in, &made));
    *done = made != NULL;
    for (int32_t i = 0; i < s->states + s->outs && made; i++) {
        int32_t at = 0;
        result[i] = made->out[i];
        if (i < s->states)
            continue;
        AC_TRY(ac_operand_axis(&n->b, entry_or_0(s->out_axes, i - s->states), result[i]->rank, &at));
        if (!(result[i] = moved(s, result[i], 0, at)))
            return AC_FAIL;
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ Scan, step by step */

/* state[], input[]: operands; result[]: states, then collected results. */
static int run_scan(scan *s, ac_tensor *const *state, ac_tensor *const *input, ac_tensor **result)
{
    ac_onx_node *n = s->n;
    int64_t steps = -1;
    s->axis = AC_NEW_N(n->r->cx->region, int32_t, s->scans + 1);
    s->input = input;
    s->done = s->part.n = 0;
    for (int32_t i = 0; i < s->scans; i++) {
        AC_TRY(ac_operand_axis(&n->b, entry_or_0(s->in_axes, i), input[i]->rank, &s->axis[i]));
        const int64_t have = input[i]->dim[s->axis[i]];
        if (steps >= 0 && have != steps)
            return ac_error(n->r->cx, n->at, E0104, "'%s' has %" PRId64 " steps, others %" PRId64, input[i]->name, have,
                            steps);
        steps = have;
    }
    if (steps < 1)
        return ac_cannot(&n->b, "it has %" PRId64 " steps", steps);
    AC_TRY(counted_steps(s));
    bool done = false;
    if (!s->count && steps > 1)
        AC_TRY(scan_loop(s, state, result, &done));
    if (done)
        return AC_OK;
    if (steps > MOST_STEPS)
        return ac_cannot(&n->b, "it has %" PRId64 " steps, whose shapes differ; up to %d are unrolled", steps,
                         MOST_STEPS);
    s->flow = (ac_flow){.b = &n->b, .now = &n->r->g, .of = &FORMAT, .body = run_step, .n = s->states, .trips = steps};
    ac_tensor *const *last = ac_flow_loop(&s->flow, state, &steps);
    if (!last)
        return AC_FAIL;
    memcpy(result, last, (size_t)s->states * sizeof *last);
    for (int32_t i = 0; i < s->outs; i++) {
        ac_tensor *y =
            ac_onx_collect(n, s->part.item + i, steps, s->outs, entry_or_0(s->out_axes, i), entry_or_0(s->out_back, i));
        int32_t at;
        if (!(result[s->states + i] = y) || !s->count)
            continue;
        if (y->count)
            return ac_cannot(&n->b, "the number and the lengths of the results that it collects depend on data");
        AC_TRY(ac_operand_axis(&n->b, entry_or_0(s->out_axes, i), y->rank, &at));
        result[s->states + i] = ac_bounded(&n->b, y, s->count, at);
    }
    return AC_OK;
}

int ac_onx_do_scan(ac_onx_node *n)
{
    scan s = {.n = n};
    AC_TRY(read_scan(&s, 0));
    ac_tensor **result = AC_NEW_N(n->r->cx->region, ac_tensor *, n->n_out + s.states + 1);
    AC_TRY(run_scan(&s, n->in, n->in + s.states, result));
    return set_results(n, result);
}

/* Opset 8: operand 0 are lengths; everything else has a batch in front, whose elements are scanned one after the other.
 */
int ac_onx_do_scan_batch(ac_onx_node *n)
{
    scan s = {.n = n};
    AC_TRY(read_scan(&s, 1));
    if (ac_onx_in(n, 0))
        return ac_cannot(&n->b, "its sequences have lengths of their own");
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
            if (!(in[i] = ac_make_reshape(&n->b, ac_make_slice(&n->b, x, 0, b, 1), x->rank - 1, x->dim + 1)))
                return AC_FAIL;
        }
        AC_TRY(run_scan(&s, in, in + s.states, part + b * n_out));
    }
    for (int32_t i = 0; i < n->n_out; i++)
        AC_TRY(ac_onx_result(n, i, ac_onx_collect(n, part + i, batch, n_out, 0, false)));
    return AC_OK;
}

/* ------------------------------------------------------------------ Optional */

int ac_onx_do_has_element(ac_onx_node *n)
{
    return ac_onx_result(n, 0, ac_make_number(&n->b, AC_BOOL, ac_onx_in(n, 0) != NULL));
}

/* A value, or none: then its readers find their operand left out. */
int ac_onx_do_optional(ac_onx_node *n)
{
    ac_attr_skip(&n->attrs, "type");
    if (ac_onx_in(n, 0))
        return ac_onx_result(n, 0, n->in[0]);
    if (n->n_out && n->out[0])
        n->out[0]->broken = false;
    return AC_OK;
}
