/* loop_nodes.c - Loop of ONNX.
 *
 *     unrolled   as long as the condition comes out as a constant before the iteration, and the trip count is one
 *     a WHILE    once the condition depends on data, or when the trip count does, or there are many iterations that
 *                change no shape. It carries the number of the iteration, the condition, the values, and of each scan
 *                the elements so far
 *
 * A scan is as long as the trip count; where the loop may end before, a count says how many elements there are. Where
 * only data decides the trip count, --bound does, and what comes after so many elements is not kept. */
#include "import/build/bounds.h"
#include "import/build/counted.h"
#include "import/build/sub_graphs.h"
#include "import/onnx/collect.h"
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <string.h>

enum { MANY = 64, MOST_UNROLLED = 4096 };

typedef struct loop {
    ac_onx_node *n;
    ac_span body;
    int32_t carried, scans;
    int64_t trips;            /* -1: none that is known */
    ac_tensor *limit;         /* trips as data; NULL: there is no limit */
    int64_t most;             /* elements of a scan that are kept */
    bool beyond;              /* there may be more: these are written behind the others, and cut off */
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
    l->scans = l->scans < 0 ? 0 : l->scans; /* results that nobody uses may be left out at the end */
    for (int32_t k = 0; k < l->scans; k++)
        (void)ac_bound_of(&n->b, ac_onx_result_name(n, l->carried + k));
    if ((l->limit = ac_onx_in(n, 0)) && ac_operand_known(&n->b, &n->in[0])) {
        AC_TRY(ac_operand_scalar(&n->b, &n->in[0], &trips));
        l->trips = trips < 0 ? 0 : trips > 1e15 ? INT64_MAX : (int64_t)trips;
    }
    l->again = ac_onx_in(n, 1) ? ac_onx_condition(n, n->in[1]) : ac_onx_number(n, AC_BOOL, 1);
    l->in = AC_NEW_N(n->r->cx->region, ac_tensor *, l->carried + 2);
    l->out = AC_NEW_N(n->r->cx->region, ac_tensor *, l->carried + l->scans + 1);
    for (int32_t i = 0; i < l->carried; i++)
        if (!(l->in[2 + i] = n->in[2 + i]))
            return ac_error(n->r->cx, n->at, E0102, "operand %d is left out", i + 2);
    return l->again ? AC_OK : AC_FAIL;
}

/* ------------------------------------------------------------------ unrolled */

static bool may_unroll(const loop *l)
{
    return ac_tensor_is_const(l->again) && (!l->limit || (l->trips >= 0 && l->trips <= MOST_UNROLLED));
}

/* Has the first iteration left what it found, in type and shape? */
static bool same_shapes(const loop *l)
{
    bool same = l->trips <= INT32_MAX || !l->scans;
    for (int32_t k = 0; k < l->carried; k++) {
        const ac_tensor *was = l->n->in[2 + k], *now = l->in[2 + k];
        same &= was->dtype == now->dtype && ac_tensor_same_shape(was, now) && !was->count && !now->count;
    }
    for (int32_t k = 0; k < l->part.n; k++)
        same &= l->part.item[k]->rank < AC_MAX_RANK && !l->part.item[k]->count;
    return same;
}

/* Takes the first iteration back, whose nodes are those from `first` on. */
static void begin_again(loop *l, int32_t first)
{
    ac_graph *g = l->n->r->g;
    for (int32_t i = first; i < g->node.n; i++)
        if (g->node.item[i]->op != AC_OP_NONE)
            ac_node_erase(g->node.item[i]);
    ac_counted_erased(&l->n->b);
    memcpy(l->in + 2, l->n->in + 2, (size_t)l->carried * sizeof *l->in);
    l->part.n = 0;
}

/* Iteration i; the condition is known. */
static int iterate(loop *l, int64_t i)
{
    ac_onx_node *n = l->n;
    if (i >= MOST_UNROLLED)
        return ac_build_cannot(&n->b, "it has more than %d iterations, and each is unrolled", MOST_UNROLLED);
    l->in[0] = ac_onx_number(n, AC_I64, (double)i);
    l->in[1] = l->again;
    AC_TRY(ac_onx_call_graph(n, l->body, l->in, l->carried + 2, l->out, l->carried + l->scans + 1));
    memcpy(l->in + 2, l->out + 1, (size_t)l->carried * sizeof *l->in);
    for (int32_t k = 0; k < l->scans; k++)
        ac_push(n->r->cx->region, &l->part, l->out[1 + l->carried + k]);
    l->again = ac_onx_condition(n, l->out[0]);
    return l->again ? AC_OK : AC_FAIL;
}

static int all_unrolled(loop *l, int64_t trips)
{
    ac_onx_node *n = l->n;
    if (!trips && l->scans)
        return ac_build_cannot(&n->b, "it collects results of no iteration at all");
    for (int32_t k = 0; k < l->carried; k++)
        AC_TRY(ac_onx_result(n, k, l->in[2 + k]));
    for (int32_t k = 0; k < l->scans; k++)
        AC_TRY(ac_onx_result(n, l->carried + k, ac_onx_collect(n, l->part.item + k, trips, l->scans, 0, false)));
    return AC_OK;
}

/* ------------------------------------------------------------------ a WHILE */

/* The scans before iteration i of the loop, in as many elements as there may be. */
static ac_tensor *first_scan(loop *l, int32_t k, int64_t i, const ac_tensor *element)
{
    ac_onx_node *n = l->n;
    int64_t dim[AC_MAX_RANK] = {l->most + l->beyond - i};
    for (int32_t d = 0; d < element->rank; d++)
        dim[1 + d] = element->dim[d];
    ac_tensor *rest = ac_onx_broadcast(n, ac_onx_number(n, element->dtype, 0), element->rank + 1, dim);
    if (!i || !rest)
        return rest;
    ac_tensor *both[] = {ac_onx_collect(n, l->part.item + k, i, l->scans, 0, false), rest};
    return both[0] ? ac_onx_concat(n, both, 2, 0) : NULL;
}

/* How long scans become. */
static int bound_scans(loop *l)
{
    ac_onx_node *n = l->n;
    l->most = l->trips;
    l->beyond = l->trips < 0 || l->trips > INT32_MAX;
    if (!l->scans || !l->beyond)
        return AC_OK;
    l->most = -1;
    for (int32_t k = 0; k < l->scans; k++) {
        const int64_t said = ac_bound_of(&n->b, ac_onx_result_name(n, l->carried + k));
        l->most = said >= 0 && (l->most < 0 || said < l->most) ? said : l->most;
    }
    if (l->most >= 0)
        return AC_OK;
    n->r->reading->late = true;
    const char *name = ac_onx_result_name(n, l->carried);
    return ac_refuse(
        n->r->reading, n->at, E0203, n->type,
        "only data decides how many results it collects, and nothing bounds their number",
        name ? ac_strf(n->r->cx->region, "give a constant trip count, or say how many at most: --bound %s=N", name)
             : "give a constant trip count");
}

/* The body on what is carried round, from iteration `i` on; in[]: first values of all that is carried. */
static int read_body(loop *l, ac_sub *s, int64_t i, ac_tensor **in)
{
    ac_onx_node *n = l->n;
    const int32_t values = l->carried + 2;
    ac_tensor **out = AC_NEW_N(n->r->cx->region, ac_tensor *, values + l->scans + 1), **own = l->in;
    for (int32_t k = 0; k < values; k++)
        if (in[k]->count)
            return ac_build_cannot(&n->b, "'%s' has as many elements as data decides", in[k]->name);
    ac_sub_enter(&n->b, &n->r->g, s);
    for (int32_t k = 0; k < values; k++)
        own[k] = ac_sub_input(s, in[k]);
    int rc = ac_onx_call_graph(n, l->body, own, values, l->out, l->carried + l->scans + 1);
    ac_sub_leave(&n->b, &n->r->g, s);
    for (int32_t k = 0; k < l->scans && rc == AC_OK; k++) {
        const ac_tensor *element = l->out[1 + l->carried + k];
        if (element->rank >= AC_MAX_RANK || element->count)
            return ac_build_cannot(&n->b, "what it collects has %s",
                                   element->count ? "as many elements as data decides" : "more than 8 dimensions");
        rc = (in[values + k] = first_scan(l, k, i, element)) ? AC_OK : AC_FAIL;
    }
    AC_TRY(rc);
    ac_sub_enter(&n->b, &n->r->g, s);
    out[0] = ac_onx_2(n, AC_OP_ADD, own[0], ac_onx_number(n, AC_I64, 1));
    out[1] = ac_onx_condition(n, l->out[0]);
    memcpy(out + 2, l->out + 1, (size_t)l->carried * sizeof *out);
    ac_tensor *at =
        l->beyond && l->scans ? ac_onx_2(n, AC_OP_MINIMUM, own[0], ac_onx_number(n, AC_I64, (double)l->most)) : own[0];
    for (int32_t k = 0; k < l->scans && at; k++)
        out[values + k] = ac_build_put(&n->b, ac_sub_input(s, in[values + k]), l->out[1 + l->carried + k], at);
    ac_sub_leave(&n->b, &n->r->g, s);
    for (int32_t k = 0; k < values + l->scans; k++) {
        if (!out[k])
            return AC_FAIL;
        ac_push(s->g->region, &s->g->output, out[k]);
    }
    for (int32_t k = 2; k < values; k++)
        if (out[k]->dtype != in[k]->dtype || out[k]->count || !ac_tensor_same_shape(out[k], in[k]))
            return ac_build_cannot(&n->b, "'%s' changes its shape, while only data decides how often", in[k]->name);
    return AC_OK;
}

/* Is there another iteration? */
static int read_condition(const loop *l, ac_sub *s, ac_tensor *const *in)
{
    ac_onx_node *n = l->n;
    ac_sub_enter(&n->b, &n->r->g, s);
    ac_tensor *iteration = ac_sub_input(s, in[0]);
    ac_tensor *again = ac_sub_input(s, in[1]);
    for (int32_t k = 2; k < 2 + l->carried + l->scans; k++)
        (void)ac_sub_input(s, in[k]);
    ac_tensor *limit = NULL; /* none, or of so many iterations that they never end */
    if (l->trips >= 0 && l->trips != INT64_MAX)
        limit = ac_onx_number(n, AC_I64, (double)l->trips);
    else if (l->trips < 0 && l->limit)
        limit = ac_onx_cast(n, ac_onx_reshape(n, l->limit, 0, NULL), AC_I64);
    if (limit) {
        ac_tensor *left = ac_onx_2(n, AC_OP_LESS, iteration, limit);
        again = left ? ac_onx_2(n, AC_OP_LOGICAL_AND, left, again) : NULL;
    }
    ac_sub_leave(&n->b, &n->r->g, s);
    if (!again)
        return AC_FAIL;
    ac_push(s->g->region, &s->g->output, again);
    return AC_OK;
}

/* The iterations from `i` on. */
static int rest_of(loop *l, int64_t i)
{
    ac_onx_node *n = l->n;
    const int32_t values = l->carried + 2, all = values + l->scans;
    ac_sub cond = {0}, body = {0};
    ac_sub_tensors c = {0};
    int32_t sub[2];
    ac_tensor **in = AC_NEW_N(n->r->cx->region, ac_tensor *, all + 1);
    AC_TRY(bound_scans(l));
    in[0] = ac_onx_number(n, AC_I64, (double)i);
    in[1] = l->again;
    memcpy(in + 2, l->in + 2, (size_t)l->carried * sizeof *in);
    AC_TRY(read_body(l, &body, i, in));
    AC_TRY(read_condition(l, &cond, in));
    AC_TRY(ac_sub_captured(&n->b, &cond, &c));
    AC_TRY(ac_sub_captured(&n->b, &body, &c));
    sub[0] = ac_sub_add(&n->b, &cond, &c);
    sub[1] = ac_sub_add(&n->b, &body, &c);
    ac_node *made = ac_sub_run(&n->b, AC_OP_WHILE, in, all, &c, sub, &body);
    if (!made)
        return AC_FAIL;
    for (int32_t k = 0; k < l->carried; k++)
        AC_TRY(ac_onx_result(n, k, made->out[2 + k]));
    ac_tensor *count = l->beyond && l->scans ? ac_bounded_count(&n->b, made->out[0], l->most) : made->out[0];
    for (int32_t k = 0; k < l->scans; k++) {
        ac_tensor *y = made->out[values + k];
        y = l->beyond ? ac_onx_slice(n, y, 0, 0, l->most) : y;
        AC_TRY(count ? ac_onx_result(n, l->carried + k, ac_counted_as(y, count, 0)) : AC_FAIL);
    }
    return AC_OK;
}

int ac_onx_do_loop(ac_onx_node *n)
{
    loop l = {.n = n};
    AC_TRY(read_loop(&l));
    ac_tensor *const first = l.again;
    const int32_t before = n->r->g->node.n;
    int64_t i = 0;
    while (may_unroll(&l) && (l.trips < 0 || i < l.trips)) {
        const uint8_t *again = ac_tensor_force(n->r->cx, l.again);
        if (!again)
            return AC_FAIL;
        if (!*again)
            return all_unrolled(&l, i);
        AC_TRY(iterate(&l, i++));
        if (i == 1 && (l.trips > MANY || !ac_tensor_is_const(l.again)) && same_shapes(&l)) {
            begin_again(&l, before);
            l.again = first;
            return rest_of(&l, 0);
        }
    }
    return l.trips >= 0 && i >= l.trips ? all_unrolled(&l, i) : rest_of(&l, i);
}
