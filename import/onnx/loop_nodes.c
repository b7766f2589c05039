/* loop_nodes.c - Loop of ONNX.
 *
 *     unrolled   while the condition is constant, if the trip count is
 *     a WHILE    if the condition or the trip count depends on data, or if many iterations change no shape. It carries
 *                the number of the iteration, the condition, the values, and the elements of each scan so far
 *
 * A scan has as many elements as the trip count; if the loop may end earlier, it is counted. If the trip count depends
 * on data, --bound limits the elements, and later ones are dropped. */
#include "base/shell.h"
#include "import/build/bounds.h"
#include "import/build/counted.h"
#include "import/build/params.h"
#include "import/build/flow/file_flow.h"
#include "import/onnx/collect.h"
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_UNROLLED = 4096, MOST_READINGS = 32 };

typedef struct loop {
    ac_flow loop; /* its values: iteration (NULL while it is unrolled), condition, carried ones of the file */
    ac_onx_node *n;
    ac_span body;
    int32_t carried, scans;
    int64_t done;                /* iterations that were unrolled */
    ac_tensor *limit;            /* the trip count as a tensor; NULL: without a limit */
    int64_t most;                /* elements of a scan that are kept */
    bool beyond;                 /* there may be more: these overwrite one extra element, which is cut off */
    bool counted;                /* there may be fewer than `most` */
    int32_t *length;             /* by scan: the carried value with the length of its elements; -1: none */
    ac_tensor *again;            /* before the loop: the condition, constant or computed at run time */
    ac_tensor **first;           /* values before the loop */
    ac_tensor **out;             /* condition, carried values, one element of each scan: of the last iteration */
    bool *sequence;              /* by carried value: a sequence, which a WHILE carries as one tensor */
    AC_VEC(ac_tensor *) element; /* of the scans so far */
    int32_t readings;            /* of the body for a WHILE */
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
    l->loop.trips = -1;
    l->scans = l->scans < 0 ? 0 : l->scans; /* unused results at the end may be left out */
    for (int32_t k = 0; k < n->n_out; k++)
        (void)ac_bound_of(&n->b, ac_onx_result_name(n, k));
    if ((l->limit = ac_onx_in(n, 0)) && ac_operand_known(&n->b, &n->in[0])) {
        AC_TRY(ac_operand_scalar(&n->b, &n->in[0], &trips));
        l->loop.trips = trips < 0 ? 0 : trips > 1e15 ? INT64_MAX : (int64_t)trips;
    }
    l->again = ac_onx_in(n, 1) ? ac_sub_condition(&n->b, n->in[1]) : ac_make_number(&n->b, AC_BOOL, 1);
    l->sequence = AC_NEW_N(n->r->cx->region, bool, l->carried + 1);
    l->length = AC_NEW_N(n->r->cx->region, int32_t, l->scans + 1);
    l->first = AC_NEW_N(n->r->cx->region, ac_tensor *, l->carried + 2);
    l->out = AC_NEW_N(n->r->cx->region, ac_tensor *, l->carried + l->scans + 1);
    for (int32_t i = 0; i < l->carried; i++) {
        AC_TRY(ac_onx_need(n, 2 + i));
        l->first[2 + i] = n->in[2 + i];
    }
    l->first[1] = l->again;
    l->loop.n = l->carried + 2;
    l->loop.more = 2 * l->scans;
    return l->again ? AC_OK : AC_FAIL;
}

/* ------------------------------------------------------------------ unrolled */

/* Did the first iteration keep types and shapes, so that the loop may begin with it anew? */
static bool is_alike(const void *own, const void *first, const void *now)
{
    const loop *l = own;
    ac_tensor *const *a = first, *const *b = now;
    bool alike = l->loop.trips <= INT32_MAX || !l->scans;
    for (int32_t k = 2; k < l->loop.n; k++) {
        if (ac_onx_sequence_of(l->n->r, a[k]) || ac_onx_sequence_of(l->n->r, b[k])) {
            alike &= a[k] == b[k];
            continue;
        }
        alike &= a[k]->dtype == b[k]->dtype && ac_tensor_same_shape(a[k], b[k]) && !a[k]->count && !b[k]->count;
    }
    for (int32_t k = 0; k < l->element.n; k++)
        alike &= l->element.item[k]->rank < AC_MAX_RANK && !l->element.item[k]->count;
    return alike;
}

static void forget_elements(void *own)
{
    loop *l = own;
    l->element.n = 0;
}

static const void *unrolled_body(loop *l, ac_tensor *const *now)
{
    ac_onx_node *n = l->n;
    ac_tensor **next = ac_copy(n->r->cx->region, now, (size_t)l->loop.n * sizeof *next);
    next[0] = ac_make_number(&n->b, AC_I64, (double)l->done++);
    if (ac_onx_call_graph(n, l->body, next, l->loop.n, l->out, l->carried + l->scans + 1) != AC_OK)
        return NULL;
    memcpy(next + 2, l->out + 1, (size_t)l->carried * sizeof *next);
    for (int32_t k = 0; k < l->scans; k++)
        ac_push(n->r->cx->region, &l->element, l->out[1 + l->carried + k]);
    next[1] = ac_sub_condition(&n->b, l->out[0]);
    return next[1] ? next : NULL;
}

/* One iteration, whose nodes are dropped, for the types and shapes of l->out; of a sequence, those of its first
 * element, or NULL. now: the values before it. */
static int try_body(loop *l, ac_tensor *const *now)
{
    ac_onx_node *n = l->n;
    ac_tensor **own = AC_NEW_N(n->r->cx->region, ac_tensor *, l->loop.n + 1);
    ac_sub trial = {0};
    ac_sub_enter(&n->b, &n->r->g, &trial);
    own[0] = ac_make_number(&n->b, AC_I64, 0);
    for (int32_t k = 1; k < l->loop.n; k++)
        own[k] = ac_onx_sequence_of(n->r, now[k]) ? now[k] : ac_sub_input(&trial, now[k]);
    const int rc = ac_onx_call_graph(n, l->body, own, l->loop.n, l->out, l->carried + l->scans + 1);
    for (int32_t k = 1; k < l->loop.n - 1 && rc == AC_OK; k++) {
        ac_onx_sequence *s = ac_onx_sequence_of(n->r, l->out[k]);
        l->out[k] = s ? ac_onx_sequence_first(n, s) : l->out[k];
    }
    ac_sub_leave(&n->b, &n->r->g, &trial);
    return rc;
}

/* Scan k of no iterations: no elements of the shape that the first would have. */
static ac_tensor *no_elements(const loop *l, int32_t k)
{
    static const uint64_t NOTHING[1] = {0};
    ac_onx_node *n = l->n;
    int64_t dim[AC_MAX_RANK] = {0};
    const ac_tensor *element = l->out[1 + l->carried + k];
    if (element->dtype == AC_NONE || element->rank >= AC_MAX_RANK)
        return (void)ac_cannot(&n->b, "it collects results of no iteration at all"), NULL;
    memcpy(dim + 1, element->dim, (size_t)element->rank * sizeof *dim);
    return ac_tensor_const(n->r->g, n->b.base, element->dtype, element->rank + 1, dim, NOTHING);
}

static int unrolled_results(loop *l, ac_tensor *const *last, int64_t trips)
{
    ac_onx_node *n = l->n;
    if (!trips && l->scans)
        AC_TRY(try_body(l, last));
    for (int32_t k = 0; k < l->carried; k++)
        AC_TRY(ac_onx_result(n, k, last[2 + k]));
    for (int32_t k = 0; k < l->scans; k++)
        AC_TRY(ac_onx_result(n, l->carried + k,
                             trips ? ac_onx_collect(n, l->element.item + k, trips, l->scans, 0, false)
                                   : no_elements(l, k)));
    return AC_OK;
}

/* ------------------------------------------------------------------ a WHILE */

/* Scan k before iteration i: the elements so far, padded to the maximum number. */
static ac_tensor *first_scan(loop *l, int32_t k, int64_t i, const ac_tensor *element)
{
    ac_onx_node *n = l->n;
    int64_t dim[AC_MAX_RANK] = {l->most + l->beyond - i};
    for (int32_t d = 0; d < element->rank; d++)
        dim[1 + d] = element->dim[d];
    ac_tensor *rest = ac_make_broadcast(&n->b, ac_make_number(&n->b, element->dtype, 0), element->rank + 1, dim);
    if (!i || !rest)
        return rest;
    ac_tensor *both[] = {ac_onx_collect(n, l->element.item + k, i, l->scans, 0, false), rest};
    return both[0] ? ac_make_concat(&n->b, both, 2, 0) : NULL;
}

/* Bounds the length of scans. turns: the most iterations, -1: unknown; always: the condition never ends the loop. */
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
    l->counted = l->beyond || !always || turns != l->loop.trips;
    if (!l->beyond)
        return AC_OK;
    if (said >= 0)
        return AC_OK;
    n->r->reading->late = true;
    const char *name = ac_onx_result_name(n, l->carried);
    return ac_refuse(n->r->reading, n->at, E0203, n->type,
                     "the number of results that it collects depends on data and has no bound",
                     name ? ac_strf(n->r->cx->region, "use a constant trip count, or limit the results: --bound %s",
                                    ac_shell_set(n->r->cx, name, "N"))
                          : "use a constant trip count");
}

/* True while there is another iteration. */
static int read_condition(void *own, const void *now, ac_tensor **again)
{
    loop *l = own;
    ac_onx_node *n = l->n;
    ac_tensor *const *in = now, *limit = NULL;
    *again = in[1];
    if (!ac_flow_is_inside(&l->loop))
        return AC_OK;
    if (l->loop.trips >= 0 && l->loop.trips != INT64_MAX) /* none, or of so many iterations that they never end */
        limit = ac_make_number(&n->b, AC_I64, (double)l->loop.trips);
    else if (l->loop.trips < 0 && l->limit)
        limit = ac_make_cast(&n->b, ac_make_reshape(&n->b, l->limit, 0, NULL), AC_I64);
    if (limit) {
        ac_tensor *left = ac_make_2(&n->b, AC_OP_LESS, in[0], limit);
        *again = left ? ac_make_2(&n->b, AC_OP_LOGICAL_AND, left, *again) : NULL;
    }
    return *again ? AC_OK : AC_FAIL;
}

/* *y, value k after an iteration, as a tensor. */
static int unwrap(const loop *l, int32_t k, ac_tensor **y)
{
    ac_onx_sequence *s = ac_onx_sequence_of(l->n->r, *y);
    if (!s != !l->sequence[k])
        return ac_error(l->n->r->cx, l->n->at, E0105, "'%s' is %s after an iteration, but was %s before",
                        l->first[2 + k]->name, s ? "a sequence" : "a tensor", s ? "a tensor" : "a sequence");
    *y = s ? ac_onx_sequence_whole(l->n, s, NULL) : *y;
    return *y ? AC_OK : AC_FAIL;
}

/* Makes carried sequences tensors of all their elements. One iteration, which is dropped, gives the shape of the
 * elements of an empty one. */
static int carry_sequences(loop *l, ac_tensor **in)
{
    ac_onx_node *n = l->n;
    bool any = false, empty = false;
    for (int32_t k = 0; k < l->carried; k++) {
        ac_onx_sequence *s = ac_onx_sequence_of(n->r, in[2 + k]);
        any |= l->sequence[k] = s != NULL;
        empty |= s && !ac_onx_sequence_first(n, s);
    }
    if (empty)
        AC_TRY(try_body(l, in));
    for (int32_t k = 0; k < l->carried && any; k++)
        if (l->sequence[k]) {
            in[2 + k] = ac_onx_sequence_whole(n, ac_onx_sequence_of(n->r, in[2 + k]), empty ? l->out[1 + k] : NULL);
            if (!in[2 + k])
                return AC_FAIL;
        }
    return AC_OK;
}

static const void *rolled_body(loop *l, ac_tensor *const *now)
{
    ac_onx_node *n = l->n;
    ac_tensor **next = ac_copy(n->r->cx->region, now, (size_t)l->loop.n * sizeof *next);
    for (int32_t k = 0; k < l->carried; k++)
        next[2 + k] = l->sequence[k] ? ac_onx_sequence_all(n, now[2 + k]) : now[2 + k];
    if (ac_onx_call_graph(n, l->body, next, l->loop.n, l->out, l->carried + l->scans + 1) != AC_OK)
        return NULL;
    for (int32_t k = 0; k < l->carried; k++)
        if (unwrap(l, k, &l->out[1 + k]) != AC_OK)
            return NULL;
    next[0] = ac_make_2(&n->b, AC_OP_ADD, now[0], ac_make_number(&n->b, AC_I64, 1));
    next[1] = ac_sub_condition(&n->b, l->out[0]);
    memcpy(next + 2, l->out + 1, (size_t)l->carried * sizeof *next);
    return next[0] && next[1] ? next : NULL;
}

static const void *run_body(void *own, const void *now)
{
    loop *l = own;
    return ac_flow_is_inside(&l->loop) ? rolled_body(l, now) : unrolled_body(l, now);
}

/* The values before a WHILE; it carries all of them. */
static const void *open_while(void *own, const void *now, int64_t done)
{
    loop *l = own;
    ac_tensor **in = ac_copy(l->n->r->cx->region, now, (size_t)l->loop.n * sizeof *in);
    l->done = done;
    l->again = in[1];
    in[0] = ac_make_number(&l->n->b, AC_I64, (double)done);
    for (int32_t k = 0; k < l->carried; k++)
        l->loop.name[2 + k] = ac_onx_result_name(l->n, k);
    return carry_sequences(l, in) == AC_OK ? in : NULL;
}

/* Carries scan k, whose element shape is known by now, as value `values` + k, and the length of counted elements as one
 * more value. AC_FAIL: refused */
static int begin_scans(loop *l, ac_carried *c)
{
    ac_onx_node *n = l->n;
    const int32_t values = l->loop.n;
    ac_tensor **first = AC_NEW_N(n->r->cx->region, ac_tensor *, values + 2 * l->scans + 1);
    const char **name = AC_NEW_N(n->r->cx->region, const char *, values + 2 * l->scans + 1);
    memcpy(first, c->given, (size_t)values * sizeof *first);
    memcpy(name, c->result, (size_t)values * sizeof *name);
    int32_t count = values + l->scans;
    for (int32_t k = 0; k < l->scans; k++) {
        const ac_tensor *element = l->out[1 + l->carried + k];
        if (element->rank >= AC_MAX_RANK || (element->count && l->counted))
            return ac_cannot(&n->b, "the results that it collects have %s",
                             element->count ? "lengths that depend on data, and so does their number"
                                            : "more than 8 dimensions");
        if (!(first[values + k] = first_scan(l, k, l->done, element)))
            return AC_FAIL;
        l->length[k] = element->count ? count : -1;
        if (element->count && !(first[count++] = ac_make_number(&n->b, AC_I64, 0)))
            return AC_FAIL;
    }
    ac_carried with = {0};
    AC_TRY(ac_carried_begin(&n->b, &with, count, first));
    for (int32_t k = 0; k < values; k++) { /* as earlier readings found them */
        with.first[k] = c->first[k];
        with.dim[k] = c->dim[k];
        with.tries[k] = c->tries[k];
    }
    with.turns = c->turns;
    with.result = name;
    *c = with;
    return ac_carried_counts(&n->b, c);
}

/* The scans after an iteration. */
static int next_scans(loop *l, ac_sub *s, ac_tensor *const *own, ac_tensor **next)
{
    ac_onx_node *n = l->n;
    const int32_t values = l->loop.n;
    ac_sub_enter(&n->b, &n->r->g, s);
    ac_tensor *at = l->beyond && l->scans
                        ? ac_make_2(&n->b, AC_OP_MINIMUM, own[0], ac_make_number(&n->b, AC_I64, (double)l->most))
                        : own[0];
    int rc = at ? AC_OK : AC_FAIL;
    for (int32_t k = 0; k < l->scans && rc == AC_OK; k++) {
        ac_tensor *element = l->out[1 + l->carried + k], *count = element->count;
        if (count)
            next[l->length[k]] = ac_make_counted_extent(&n->b, element, element->count_dim);
        element->count = NULL;
        next[values + k] = ac_make_put(&n->b, own[values + k], element, at);
        element->count = count;
        rc = next[values + k] && (!count || next[l->length[k]]) ? AC_OK : AC_FAIL;
    }
    ac_sub_leave(&n->b, &n->r->g, s);
    return rc;
}

/* True if scans are carried, in the shape of their elements. */
static bool scans_fit(const loop *l, const ac_carried *c)
{
    const int32_t values = l->loop.n;
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

/* Scans are carried after the values of the file, once the shapes of their elements are known. */
static int carry_scans(void *own, ac_carried *c, const ac_sub *cond, ac_sub *body, ac_tensor *const *in,
                       ac_tensor **next, bool *again)
{
    loop *l = own;
    if (scans_fit(l, c))
        return next_scans(l, body, in, next);
    ac_carried values = *c;
    values.n = l->loop.n;
    const int64_t turns = ac_turns_at_most(&l->n->b, &values, cond, body, next);
    const bool always = is_true(l, l->again) && (next[1] == in[1] || is_true(l, next[1]));
    *again = true;
    if (l->readings++ > MOST_READINGS)
        return ac_cannot(&l->n->b, "what it collects changes its shape");
    AC_TRY(bound_scans(l, turns < 0 ? -1 : turns + l->done, always));
    return begin_scans(l, c);
}

static int rolled_results(loop *l, ac_tensor *const *last)
{
    ac_onx_node *n = l->n;
    for (int32_t k = 0; k < l->carried; k++)
        AC_TRY(ac_onx_result(n, k, l->sequence[k] ? ac_onx_sequence_all(n, last[2 + k]) : last[2 + k]));
    ac_tensor *count = l->beyond && l->scans ? ac_bounded_count(&n->b, last[0], l->most) : last[0];
    for (int32_t k = 0; k < l->scans; k++) {
        const ac_tensor *element = l->out[1 + l->carried + k];
        ac_tensor *y = l->loop.out[l->loop.n + k];
        if (l->beyond)
            y = ac_make_slice(&n->b, y, 0, 0, l->most);
        if (element->count)
            y = ac_counted_as(y, l->loop.out[l->length[k]], element->count_dim + 1);
        else if (l->counted)
            y = ac_counted_as(y, count, 0);
        AC_TRY(count ? ac_onx_result(n, l->carried + k, y) : AC_FAIL);
    }
    return AC_OK;
}

int ac_onx_do_loop(ac_onx_node *n)
{
    static const ac_flow_format FORMAT = {
        .rules = {.restart = 1, .copied = INT64_MAX, .trips = 64, .most = MOST_UNROLLED},
        .code = E0108,
        .help = "how often the loop runs depends on data, so its values must keep their types and shapes",
        .alike = is_alike,
        .erased = forget_elements,
        .open = open_while,
        .collect = carry_scans};
    loop l = {.loop = {.b = &n->b, .now = &n->r->g, .of = &FORMAT, .condition = read_condition, .body = run_body},
              .n = n};
    int64_t turns = -1;
    AC_TRY(read_loop(&l));
    const bool unrolls = !l.limit || (l.loop.trips >= 0 && l.loop.trips <= MOST_UNROLLED);
    ac_tensor *const *last = unrolls ? ac_flow_loop(&l.loop, l.first, &turns) : ac_flow_roll(&l.loop, l.first);
    if (!last)
        return AC_FAIL;
    return turns < 0 ? rolled_results(&l, last) : unrolled_results(&l, last, turns);
}
