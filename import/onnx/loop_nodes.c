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
#include "import/build/params.h"
#include "import/build/flow/sub_graphs.h"
#include "import/onnx/collect.h"
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <string.h>

enum { MANY = 64, MOST_UNROLLED = 4096, MOST_READINGS = 32 };

typedef struct loop {
    ac_onx_node *n;
    ac_span body;
    int32_t carried, scans;
    int64_t trips;            /* -1: none that is known */
    ac_tensor *limit;         /* trips as data; NULL: there is no limit */
    int64_t most;             /* elements of a scan that are kept */
    bool beyond;              /* there may be more: these are written behind the others, and cut off */
    bool counted;             /* there may be fewer than `most` */
    int32_t *length;          /* by scan: which value that is carried says how long its elements are; -1: none */
    ac_tensor *again;         /* the condition: constant, or computed at run time */
    ac_tensor **in;           /* iteration, condition, what is carried round */
    ac_tensor **out;          /* condition, what is carried round, one element of each scan */
    bool *sequence;           /* by value that is carried: a sequence, whose elements go round as one tensor */
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
    for (int32_t k = 0; k < n->n_out; k++)
        (void)ac_bound_of(&n->b, ac_onx_result_name(n, k));
    if ((l->limit = ac_onx_in(n, 0)) && ac_operand_known(&n->b, &n->in[0])) {
        AC_TRY(ac_operand_scalar(&n->b, &n->in[0], &trips));
        l->trips = trips < 0 ? 0 : trips > 1e15 ? INT64_MAX : (int64_t)trips;
    }
    l->again = ac_onx_in(n, 1) ? ac_onx_condition(n, n->in[1]) : ac_onx_number(n, AC_BOOL, 1);
    l->sequence = AC_NEW_N(n->r->cx->region, bool, l->carried + 1);
    l->length = AC_NEW_N(n->r->cx->region, int32_t, l->scans + 1);
    l->in = AC_NEW_N(n->r->cx->region, ac_tensor *, l->carried + 2);
    l->out = AC_NEW_N(n->r->cx->region, ac_tensor *, l->carried + l->scans + 1);
    for (int32_t i = 0; i < l->carried; i++) {
        AC_TRY(ac_onx_need(n, 2 + i));
        l->in[2 + i] = n->in[2 + i];
    }
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
        if (ac_onx_sequence_of(l->n->r, was) || ac_onx_sequence_of(l->n->r, now)) {
            same &= was == now;
            continue;
        }
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

/* How long scans become; turns: how many iterations there are at most, -1: unknown. always: none ends the loop. */
static int bound_scans(loop *l, int64_t turns, bool always)
{
    ac_onx_node *n = l->n;
    int64_t said = -1;
    for (int32_t k = 0; k < l->scans; k++) {
        const int64_t v = ac_bound_of(&n->b, ac_onx_result_name(n, l->carried + k));
        said = v >= 0 && (said < 0 || v < said) ? v : said;
    }
    l->beyond = turns < 0 || turns > INT32_MAX || (said >= 0 && said < turns);
    l->most = l->beyond ? said : turns;
    l->counted = l->beyond || !always || turns != l->trips;
    if (!l->beyond)
        return AC_OK;
    if (said >= 0)
        return AC_OK;
    n->r->reading->late = true;
    const char *name = ac_onx_result_name(n, l->carried);
    return ac_refuse(
        n->r->reading, n->at, E0203, n->type,
        "only data decides how many results it collects, and nothing bounds their number",
        name ? ac_strf(n->r->cx->region, "give a constant trip count, or say how many at most: --bound %s=N", name)
             : "give a constant trip count");
}

/* Is there another iteration? in[]: what is carried, of the graph that nodes go to. */
static ac_tensor *condition_of(const loop *l, ac_tensor *const *in)
{
    ac_onx_node *n = l->n;
    ac_tensor *limit = NULL, *again = in[1]; /* none, or of so many iterations that they never end */
    if (l->trips >= 0 && l->trips != INT64_MAX)
        limit = ac_onx_number(n, AC_I64, (double)l->trips);
    else if (l->trips < 0 && l->limit)
        limit = ac_onx_cast(n, ac_onx_reshape(n, l->limit, 0, NULL), AC_I64);
    if (limit) {
        ac_tensor *left = ac_onx_2(n, AC_OP_LESS, in[0], limit);
        again = left ? ac_onx_2(n, AC_OP_LOGICAL_AND, left, again) : NULL;
    }
    return again;
}

static int read_condition(const loop *l, ac_sub *s, const ac_carried *c, ac_tensor **own)
{
    ac_onx_node *n = l->n;
    ac_sub_enter(&n->b, &n->r->g, s);
    ac_carried_inputs(c, s, own);
    ac_tensor *again = condition_of(l, own);
    ac_sub_leave(&n->b, &n->r->g, s);
    if (!again)
        return AC_FAIL;
    ac_push(s->g->region, &s->g->output, again);
    return AC_OK;
}

/* *y, which the body makes of value k, as a tensor. */
static int unwrap(const loop *l, int32_t k, ac_tensor **y)
{
    ac_onx_sequence *s = ac_onx_sequence_of(l->n->r, *y);
    if (!s != !l->sequence[k])
        return ac_error(l->n->r->cx, l->n->at, E0105, "'%s' is %s after an iteration, and was %s", l->in[2 + k]->name,
                        s ? "a sequence" : "a tensor", s ? "a tensor" : "a sequence");
    *y = s ? ac_onx_sequence_whole(l->n, s, NULL) : *y;
    return *y ? AC_OK : AC_FAIL;
}

/* Sequences that are carried round become tensors of all their elements; what the elements of an empty one are, one
 * iteration says that is dropped. */
static int carry_sequences(loop *l, ac_tensor **in)
{
    ac_onx_node *n = l->n;
    const int32_t values = l->carried + 2;
    bool any = false, empty = false;
    for (int32_t k = 0; k < l->carried; k++) {
        ac_onx_sequence *s = ac_onx_sequence_of(n->r, in[2 + k]);
        any |= l->sequence[k] = s != NULL;
        empty |= s && !ac_onx_sequence_first(n, s);
    }
    ac_tensor **own = AC_NEW_N(n->r->cx->region, ac_tensor *, values + 1);
    if (empty) {
        ac_sub trial = {0};
        ac_sub_enter(&n->b, &n->r->g, &trial);
        for (int32_t k = 0; k < values; k++)
            own[k] = k >= 2 && l->sequence[k - 2] ? in[k] : ac_sub_input(&trial, in[k]);
        int rc = ac_onx_call_graph(n, l->body, own, values, l->out, l->carried + l->scans + 1);
        for (int32_t k = 0; k < l->carried && rc == AC_OK; k++) {
            ac_onx_sequence *s = l->sequence[k] ? ac_onx_sequence_of(n->r, l->out[1 + k]) : NULL;
            own[2 + k] = s ? ac_onx_sequence_first(n, s) : NULL;
        }
        ac_sub_leave(&n->b, &n->r->g, &trial);
        AC_TRY(rc);
    }
    for (int32_t k = 0; k < l->carried && any; k++)
        if (l->sequence[k]) {
            in[2 + k] = ac_onx_sequence_whole(n, ac_onx_sequence_of(n->r, in[2 + k]), empty ? own[2 + k] : NULL);
            if (!in[2 + k])
                return AC_FAIL;
        }
    return AC_OK;
}

/* The body on what is carried round; next[]: iteration, condition, values. */
static int read_body(loop *l, ac_sub *s, const ac_carried *c, ac_tensor **own, ac_tensor **next)
{
    ac_onx_node *n = l->n;
    const int32_t values = l->carried + 2;
    ac_sub_enter(&n->b, &n->r->g, s);
    ac_carried_inputs(c, s, own);
    ac_tensor **in = ac_copy(n->r->cx->region, own, (size_t)values * sizeof *own);
    for (int32_t k = 0; k < l->carried; k++)
        in[2 + k] = l->sequence[k] ? ac_onx_sequence_all(n, own[2 + k]) : own[2 + k];
    int rc = ac_onx_call_graph(n, l->body, in, values, l->out, l->carried + l->scans + 1);
    for (int32_t k = 0; k < l->carried && rc == AC_OK; k++)
        rc = unwrap(l, k, &l->out[1 + k]);
    if (rc == AC_OK) {
        next[0] = ac_onx_2(n, AC_OP_ADD, own[0], ac_onx_number(n, AC_I64, 1));
        next[1] = ac_onx_condition(n, l->out[0]);
        memcpy(next + 2, l->out + 1, (size_t)l->carried * sizeof *next);
        rc = next[0] && next[1] ? AC_OK : AC_FAIL;
    }
    ac_sub_leave(&n->b, &n->r->g, s);
    return rc;
}

/* Scans, whose elements are known by now: number `values` + k of what is carried is all of them so far; where elements
 * are counted, how long they are is carried, too. AC_FAIL: refused */
static int begin_scans(loop *l, ac_carried *c, int64_t i)
{
    ac_onx_node *n = l->n;
    const int32_t values = l->carried + 2;
    ac_tensor **first = AC_NEW_N(n->r->cx->region, ac_tensor *, values + 2 * l->scans + 1);
    const char **name = AC_NEW_N(n->r->cx->region, const char *, values + 2 * l->scans + 1);
    memcpy(first, c->given, (size_t)values * sizeof *first);
    memcpy(name, c->result, (size_t)values * sizeof *name);
    int32_t count = values + l->scans;
    for (int32_t k = 0; k < l->scans; k++) {
        const ac_tensor *element = l->out[1 + l->carried + k];
        if (element->rank >= AC_MAX_RANK || (element->count && l->counted))
            return ac_build_cannot(&n->b, "what it collects has %s",
                                   element->count ? "as many elements as data decides, and so has each of these"
                                                  : "more than 8 dimensions");
        if (!(first[values + k] = first_scan(l, k, i, element)))
            return AC_FAIL;
        l->length[k] = element->count ? count : -1;
        if (element->count && !(first[count++] = ac_onx_number(n, AC_I64, 0)))
            return AC_FAIL;
    }
    ac_carried with = {0};
    AC_TRY(ac_carried_begin(&n->b, &with, count, first));
    for (int32_t k = 0; k < values; k++) { /* what is known of values stays */
        with.first[k] = c->first[k];
        with.dim[k] = c->dim[k];
        with.tries[k] = c->tries[k];
    }
    with.turns = c->turns;
    with.result = name;
    *c = with;
    return ac_carried_counts(&n->b, c);
}

/* What scans become in an iteration. */
static int next_scans(loop *l, ac_sub *s, ac_tensor *const *own, ac_tensor **next)
{
    ac_onx_node *n = l->n;
    const int32_t values = l->carried + 2;
    ac_sub_enter(&n->b, &n->r->g, s);
    ac_tensor *at =
        l->beyond && l->scans ? ac_onx_2(n, AC_OP_MINIMUM, own[0], ac_onx_number(n, AC_I64, (double)l->most)) : own[0];
    int rc = at ? AC_OK : AC_FAIL;
    for (int32_t k = 0; k < l->scans && rc == AC_OK; k++) {
        ac_tensor *element = l->out[1 + l->carried + k], *count = element->count;
        if (count)
            next[l->length[k]] = ac_build_counted_extent(&n->b, element, element->count_dim);
        element->count = NULL;
        next[values + k] = ac_build_put(&n->b, own[values + k], element, at);
        element->count = count;
        rc = next[values + k] && (!count || next[l->length[k]]) ? AC_OK : AC_FAIL;
    }
    ac_sub_leave(&n->b, &n->r->g, s);
    return rc;
}

/* Are scans carried, and of the shape of their elements? */
static bool scans_fit(const loop *l, const ac_carried *c)
{
    const int32_t values = l->carried + 2;
    bool fit = c->n >= values + l->scans;
    for (int32_t k = 0; k < l->scans && fit; k++) {
        const ac_tensor *element = l->out[1 + l->carried + k], *all = c->first[values + k];
        fit = (l->length[k] >= 0) == (element->count != NULL) && all->rank == element->rank + 1 &&
              ac_dims_equal(element, element->rank, all->dim + 1);
    }
    return fit;
}

static bool is_true(const loop *l, ac_tensor *t)
{
    const uint8_t *data = ac_tensor_is_const(t) ? ac_tensor_force(l->n->r->cx, t) : NULL;
    return data && *data;
}

/* The WHILE's graphs, whose values are as long as they become. */
static int read_graphs(loop *l, ac_sub *cond, ac_sub *body, ac_carried *c, int64_t i)
{
    ac_onx_node *n = l->n;
    const int32_t most = l->carried + 2 + 2 * l->scans;
    ac_tensor **own = AC_NEW_N(n->r->cx->region, ac_tensor *, most + 1);
    ac_tensor **next = AC_NEW_N(n->r->cx->region, ac_tensor *, most + 1);
    bool again = true;
    int32_t wrong;
    for (int32_t step = 0; again; step++) {
        *cond = *body = (ac_sub){0};
        AC_TRY(read_condition(l, cond, c, own));
        AC_TRY(read_body(l, body, c, own, next));
        if (!scans_fit(l, c)) {
            ac_carried values = *c;
            values.n = l->carried + 2;
            const int64_t turns = ac_turns_at_most(&n->b, &values, cond, body, next, NULL);
            if (step > MOST_READINGS)
                return ac_build_cannot(&n->b, "what it collects changes its shape");
            const bool always = is_true(l, l->again) && (next[1] == own[1] || is_true(l, next[1]));
            AC_TRY(bound_scans(l, turns < 0 ? -1 : turns + i, always));
            AC_TRY(begin_scans(l, c, i));
            continue;
        }
        AC_TRY(next_scans(l, body, own, next));
        if (ac_carried_outputs(&n->b, &n->r->g, c, cond, body, next, &again, &wrong) == AC_OK)
            continue;
        return wrong < 0 ? AC_FAIL
                         : ac_build_cannot(&n->b,
                                           "'%s' is %s, but %s after an iteration, while only data decides how "
                                           "often it runs",
                                           c->first[wrong]->name, ac_tensor_str(n->r->cx, c->first[wrong]),
                                           ac_tensor_str(n->r->cx, next[wrong]));
    }
    return AC_OK;
}

/* The iterations from `i` on. */
static int rest_of(loop *l, int64_t i)
{
    ac_onx_node *n = l->n;
    const int32_t values = l->carried + 2, most = values + 2 * l->scans;
    ac_sub cond = {0}, body = {0};
    ac_sub_tensors captured = {0};
    ac_carried c;
    int32_t sub[2];
    ac_tensor **in = AC_NEW_N(n->r->cx->region, ac_tensor *, most + 1);
    const char **name = AC_NEW_N(n->r->cx->region, const char *, most + 1);
    in[0] = ac_onx_number(n, AC_I64, (double)i);
    in[1] = l->again;
    memcpy(in + 2, l->in + 2, (size_t)l->carried * sizeof *in);
    for (int32_t k = 0; k < l->carried; k++)
        name[2 + k] = ac_onx_result_name(n, k);
    AC_TRY(carry_sequences(l, in));
    AC_TRY(ac_carried_begin(&n->b, &c, values, in));
    c.result = name;
    AC_TRY(read_graphs(l, &cond, &body, &c, i));
    AC_TRY(ac_sub_captured(&n->b, &cond, &captured));
    AC_TRY(ac_sub_captured(&n->b, &body, &captured));
    sub[0] = ac_sub_add(&n->b, &cond, &captured);
    sub[1] = ac_sub_add(&n->b, &body, &captured);
    ac_node *made = ac_sub_run(&n->b, AC_OP_WHILE, c.first, c.all, &captured, sub, &body);
    ac_tensor **out = AC_NEW_N(n->r->cx->region, ac_tensor *, c.n + 1);
    if (!made)
        return AC_FAIL;
    ac_carried_results(&c, made, out);
    for (int32_t k = 0; k < l->carried; k++)
        AC_TRY(ac_onx_result(n, k, l->sequence[k] ? ac_onx_sequence_all(n, out[2 + k]) : out[2 + k]));
    ac_tensor *count = l->beyond && l->scans ? ac_bounded_count(&n->b, out[0], l->most) : out[0];
    for (int32_t k = 0; k < l->scans; k++) {
        const ac_tensor *element = l->out[1 + l->carried + k];
        ac_tensor *y = l->beyond ? ac_onx_slice(n, out[values + k], 0, 0, l->most) : out[values + k];
        if (element->count)
            y = ac_counted_as(y, out[l->length[k]], element->count_dim + 1);
        else if (l->counted)
            y = ac_counted_as(y, count, 0);
        AC_TRY(count ? ac_onx_result(n, l->carried + k, y) : AC_FAIL);
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
