/* growth.c - computes upper bounds of a loop with a data-dependent condition: of its iterations, and of the length of a
 * value that grows in it. Both follow from a counter, a carried integer to which each iteration adds a constant, and
 * which the condition compares.
 *
 *     while (i < 10 && ids[-1] != end)        at most 10 iterations, and so
 *         ids = concat(ids, [k]), i = i + 1;  10 elements more
 *
 * See sub_graphs.h. */
#include "import/build/bounds.h"
#include "import/build/counted.h"
#include "import/build/flow/sub_graphs.h"
#include "import/build/operands.h"

enum { MOST_STEPS = 64, MOST_DEPTH = 12 };
static const int64_t FAR = (int64_t)1 << 40;

typedef struct loop {
    const ac_maker *b;
    const ac_carried *c;
    const ac_graph *body;
    ac_tensor *const *next;
    int64_t given; /* initial length of the growing value */
} loop;

static bool is_scalar_of(const ac_maker *b, ac_tensor *t, int64_t *v)
{
    const bool one = ac_tensor_is_const(t) && ac_tensor_count(t) == 1 && ac_dtype_is_int(t->dtype);
    const void *data = one ? ac_tensor_force(b->cx, t) : NULL;
    if (!data)
        return false;
    *v = ac_dtype_get_int(t->dtype, data, 0);
    return *v > -FAR && *v < FAR;
}

/* t without casts and reshapes, which keep its elements. */
static ac_tensor *skip_casts(ac_tensor *t)
{
    for (int32_t step = 0; step < MOST_STEPS && t->def; step++) {
        const ac_node *n = t->def;
        const bool same = n->op == AC_OP_RESHAPE || n->op == AC_OP_SQUEEZE || n->op == AC_OP_EXPAND_DIMS ||
                          (n->op == AC_OP_CAST && ac_dtype_is_int(t->dtype) == ac_dtype_is_int(n->in[0]->dtype) &&
                           (ac_dtype_is_int(t->dtype) || t->dtype == n->in[0]->dtype)) ||
                          ((n->op == AC_OP_REDUCE_ALL || n->op == AC_OP_REDUCE_ANY) && ac_tensor_count(n->in[0]) == 1);
        if (!same || ac_tensor_count(n->in[0]) != ac_tensor_count(t))
            break;
        t = n->in[0];
    }
    return t;
}

/* The index of the carried value of g with t = value + *plus; -1: none. */
static int32_t carried_number(const loop *l, const ac_graph *g, ac_tensor *t, int64_t *plus)
{
    int64_t v;
    *plus = 0;
    for (int32_t step = 0; step < MOST_STEPS; step++) {
        t = skip_casts(t);
        const ac_node *n = t->def;
        if (!n || (n->op != AC_OP_ADD && n->op != AC_OP_SUB) || !ac_dtype_is_int(t->dtype))
            break;
        if (is_scalar_of(l->b, n->in[1], &v))
            *plus += n->op == AC_OP_ADD ? v : -v;
        else if (n->op == AC_OP_ADD && is_scalar_of(l->b, n->in[0], &v))
            *plus += v;
        else
            return -1;
        t = is_scalar_of(l->b, n->in[1], &v) ? n->in[0] : n->in[1];
    }
    for (int32_t k = 0; k < l->c->n && k < g->input.n; k++)
        if (g->input.item[k] == t && ac_tensor_count(t) == 1)
            return k;
    return -1;
}

/* True if value k is a counter: it begins at *from, and each iteration adds *step. */
static bool is_counter(const loop *l, int32_t k, int64_t *from, int64_t *step)
{
    return is_scalar_of(l->b, skip_casts(l->c->given[k]), from) && ac_dtype_is_int(l->c->given[k]->dtype) &&
           carried_number(l, l->body, l->next[k], step) == k && *step > -FAR && *step < FAR;
}

/* An upper (most) or lower bound of t, a tensor of g that no iteration changes. */
static bool limit_of(const loop *l, const ac_graph *g, ac_tensor *t, bool most, int64_t *v)
{
    int64_t plus;
    t = skip_casts(t);
    if (is_scalar_of(l->b, t, v))
        return true;
    const int32_t k = carried_number(l, g, t, &plus);
    if (k >= 0)
        return is_scalar_of(l->b, skip_casts(l->c->given[k]), v) && skip_casts(l->next[k]) == l->body->input.item[k] &&
               ac_add_ok(*v, plus, v);
    *v = most && ac_tensor_count(t) == 1 && ac_dtype_is_int(t->dtype) ? ac_most_of(l->b, t, 0) : -1;
    return *v >= 0 && *v < FAR;
}

/* The iterations while x < y + `more` in g holds, evaluated before each of them, or after. -1: no bound. */
static int64_t turns_below(const loop *l, const ac_graph *g, ac_tensor *x, ac_tensor *y, int64_t more, bool after)
{
    int64_t from, step, plus, limit, far = -1;
    int32_t k = carried_number(l, g, x, &plus);
    if (k >= 0 && is_counter(l, k, &from, &step) && step > 0 && limit_of(l, g, y, true, &limit))
        far = limit + more - plus - from;
    else if ((k = carried_number(l, g, y, &plus)) >= 0 && is_counter(l, k, &from, &step) && step < 0 &&
             limit_of(l, g, x, false, &limit)) {
        far = from + plus + more - limit;
        step = -step;
    } else
        return -1;
    return (far > 0 ? (far + step - 1) / step : 0) + after;
}

static int64_t fewer_turns(int64_t a, int64_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static bool is_false(const ac_maker *b, ac_tensor *t)
{
    const bool one = ac_tensor_is_const(t) && ac_tensor_count(t) == 1 && t->dtype == AC_BOOL;
    const uint8_t *data = one ? ac_tensor_force(b->cx, t) : NULL;
    return data && !*data;
}

/* True if the first result of n, an IF, is false whenever its condition is. */
static bool else_is_false(const ac_maker *b, const ac_node *n)
{
    const ac_graph *main = b->reading->g;
    const int32_t second = n->attrs.flow.second;
    const ac_graph *no = second > 0 && second <= main->sub.n ? main->sub.item[second - 1] : NULL;
    ac_tensor *t = no && no->output.n ? skip_casts(no->output.item[0]) : NULL;
    for (int32_t i = 0; t && i < no->input.n && i + 1 < n->n_in; i++)
        if (no->input.item[i] == t)
            return is_false(b, n->in[i + 1]);
    return t && is_false(b, t);
}

/* The iterations while t of g equals `want`. -1: no bound. */
static int64_t turns_of(const loop *l, const ac_graph *g, ac_tensor *t, bool want, bool after, int32_t depth)
{
    t = skip_casts(t);
    const ac_node *n = t->def;
    if (depth > MOST_DEPTH)
        return -1;
    if (!n) { /* a carried bool: computed by the previous iteration */
        for (int32_t k = 0; k < l->c->n && k < g->input.n; k++)
            if (g->input.item[k] == t && !after && t->dtype == AC_BOOL && l->next[k] != l->body->input.item[k])
                return turns_of(l, l->body, l->next[k], want, true, depth + 1);
        return -1;
    }
    switch ((int)n->op) {
    case AC_OP_LOGICAL_NOT:
        return turns_of(l, g, n->in[0], !want, after, depth + 1);
    case AC_OP_LOGICAL_AND:
    case AC_OP_LOGICAL_OR:
        if ((n->op == AC_OP_LOGICAL_AND) != want)
            return -1;
        return fewer_turns(turns_of(l, g, n->in[0], want, after, depth + 1),
                           turns_of(l, g, n->in[1], want, after, depth + 1));
    case AC_OP_IF: /* exporters write x && y as one */
        return want && t == n->out[0] && else_is_false(l->b, n) ? turns_of(l, g, n->in[0], want, after, depth + 1) : -1;
    case AC_OP_SELECT:
        return want && is_false(l->b, n->in[2]) ? turns_of(l, g, n->in[0], want, after, depth + 1) : -1;
    case AC_OP_LESS:
        return want ? turns_below(l, g, n->in[0], n->in[1], 0, after) : turns_below(l, g, n->in[1], n->in[0], 1, after);
    case AC_OP_LESS_EQUAL:
        return want ? turns_below(l, g, n->in[0], n->in[1], 1, after) : turns_below(l, g, n->in[1], n->in[0], 0, after);
    case AC_OP_GREATER:
        return want ? turns_below(l, g, n->in[1], n->in[0], 0, after) : turns_below(l, g, n->in[0], n->in[1], 1, after);
    case AC_OP_GREATER_EQUAL:
        return want ? turns_below(l, g, n->in[1], n->in[0], 1, after) : turns_below(l, g, n->in[0], n->in[1], 0, after);
    default:
        return -1;
    }
}

int64_t ac_turns_at_most(const ac_maker *b, const ac_carried *c, const ac_sub *cond, const ac_sub *body,
                         ac_tensor *const *next)
{
    const loop l = {b, c, body->g, next, 0};
    return turns_of(&l, cond->g, cond->g->output.item[0], true, false, 0);
}

/* ------------------------------------------------------------------ lengths */

/* A length after an iteration: at most `more` longer than before (-1: unknown), or at most `most` (-1: unknown). */
typedef struct length {
    int64_t more, most;
} length;

static const length UNKNOWN = {-1, -1};

static length longer_by(length x, int64_t v)
{
    x.more += x.more >= 0 ? v : 0;
    x.most += x.most >= 0 ? v : 0;
    return x.more < -1 || x.most < -1 || x.more > FAR || x.most > FAR ? UNKNOWN : x;
}

static length longer_of(length x, length y)
{
    return (length){x.more > y.more ? x.more : y.more, x.most > y.most ? x.most : y.most};
}

static bool is_known(length x)
{
    return x.more >= 0 || x.most >= 0;
}

/* An upper bound of the length after all iterations; -1: unknown. */
static int64_t longest(const loop *l, length y)
{
    int64_t added;
    if (!is_known(y) || (y.more > 0 && l->c->turns < 0))
        return -1;
    const int64_t most = y.most > l->given ? y.most : l->given;
    return y.more > 0 ? (ac_mul_ok(y.more, l->c->turns, &added) && ac_add_ok(most, added, &added) ? added : -1) : most;
}

static length length_of(const loop *l, const ac_tensor *own, ac_tensor *t, int32_t depth);

/* The length of a concatenation. */
static length length_of_parts(const loop *l, const ac_tensor *own, const ac_count_parts *p, int32_t depth)
{
    length one = UNKNOWN;
    int64_t rest = 0;
    for (int32_t i = 0; i < p->n; i++) {
        const length x = p->count[i] ? length_of(l, own, p->count[i], depth) : UNKNOWN;
        if (x.more >= 0 && one.more >= 0)
            return UNKNOWN; /* it doubles */
        if (x.more >= 0)
            one = x;
        else
            rest += x.most >= 0 && x.most < p->size[i] ? x.most : p->size[i];
    }
    return one.more >= 0 ? longer_by(one, rest) : (length){-1, rest};
}

/* t as a length; own: the length of the value before the iteration. */
static length length_of(const loop *l, const ac_tensor *own, ac_tensor *t, int32_t depth)
{
    int64_t v, step, from;
    ac_count_parts parts;
    if (depth > MOST_DEPTH)
        return UNKNOWN;
    for (int32_t i = 0; i < MOST_STEPS; i++) {
        if (t == own)
            return (length){0, -1};
        if (ac_parts_of_count(l->b, t, &parts))
            return length_of_parts(l, own, &parts, depth + 1);
        ac_tensor *x = t->def && (t->def->op == AC_OP_RESHAPE || t->def->op == AC_OP_CAST) ? t->def->in[0] : t;
        if (x == t || !ac_dtype_is_int(x->dtype))
            break;
        t = x;
    }
    if (is_scalar_of(l->b, t, &v))
        return v >= 0 ? (length){-1, v} : UNKNOWN;
    const int32_t k = carried_number(l, l->body, t, &v);
    if (k >= 0 && l->c->turns > 0 && is_counter(l, k, &from, &step)) {
        const int64_t last = from + (step > 0 ? (l->c->turns - 1) * step : 0) + v;
        return last < FAR ? (length){-1, last < 0 ? 0 : last} : UNKNOWN;
    }
    const ac_node *n = t->def;
    if (!n || ac_tensor_count(t) != 1)
        return UNKNOWN;
    switch ((int)n->op) {
    case AC_OP_ADD:
        if (is_scalar_of(l->b, n->in[1], &v))
            return longer_by(length_of(l, own, n->in[0], depth + 1), v);
        return is_scalar_of(l->b, n->in[0], &v) ? longer_by(length_of(l, own, n->in[1], depth + 1), v) : UNKNOWN;
    case AC_OP_SUB:
        return is_scalar_of(l->b, n->in[1], &v) ? longer_by(length_of(l, own, n->in[0], depth + 1), v > 0 ? 0 : -v)
                                                : UNKNOWN;
    case AC_OP_MAXIMUM: {
        const length x = length_of(l, own, n->in[0], depth + 1), y = length_of(l, own, n->in[1], depth + 1);
        return is_known(x) && is_known(y) ? longer_of(x, y) : UNKNOWN;
    }
    case AC_OP_MINIMUM: {
        const length x = length_of(l, own, n->in[0], depth + 1), y = length_of(l, own, n->in[1], depth + 1);
        const int64_t far[] = {longest(l, x), longest(l, y)};
        return far[1] < 0 || (far[0] >= 0 && far[0] <= far[1]) ? x : y;
    }
    default:
        return UNKNOWN;
    }
}

int64_t ac_grown_at_most(const ac_maker *b, const ac_carried *c, const ac_sub *body, ac_tensor *const *next, int32_t k)
{
    const loop l = {b, c, body->g, next, c->given[k]->dim[c->dim[k]]};
    const ac_tensor *x = body->g->input.item[k];
    return x->count && next[k]->count ? longest(&l, length_of(&l, x->count, next[k]->count, 0)) : -1;
}
