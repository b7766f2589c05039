/* carried.c - pads and counts the values that a WHILE carries from one iteration to the next. Those of dynamic size
 * (counted.h) are carried with their counts; see sub_graphs.h. */
#include "base/shell.h"
#include "import/build/bounds.h"
#include "import/build/counted.h"
#include "import/build/flow/sub_graphs.h"
#include "import/build/operands.h"

#include <string.h>

enum { MOST_TRIES = 4, MOST_LENGTH = 1 << 24 };

int ac_carried_counts(const ac_maker *b, ac_carried *c)
{
    c->all = c->n;
    for (int32_t k = 0; k < c->n; k++)
        if (c->dim[k] >= 0 && !(c->first[c->all++] = ac_make_counted_extent(b, c->given[k], c->dim[k])))
            return AC_FAIL;
    return AC_OK;
}

int ac_carried_begin(const ac_maker *b, ac_carried *c, int32_t n, ac_tensor *const *first)
{
    *c = (ac_carried){.n = n,
                      .turns = -1,
                      .first = AC_NEW_N(b->cx->region, ac_tensor *, 2 * n + 1),
                      .given = AC_NEW_N(b->cx->region, ac_tensor *, n + 1),
                      .tries = AC_NEW_N(b->cx->region, int32_t, n + 1),
                      .dim = AC_NEW_N(b->cx->region, int32_t, n + 1)};
    for (int32_t k = 0; k < n; k++) {
        c->first[k] = c->given[k] = first[k];
        c->dim[k] = first[k]->count ? first[k]->count_dim : -1;
    }
    return ac_carried_counts(b, c);
}

void ac_carried_inputs(const ac_carried *c, ac_sub *s, ac_tensor **own)
{
    for (int32_t k = 0; k < c->n; k++)
        own[k] = ac_sub_input(s, c->first[k]);
    for (int32_t k = 0, i = c->n; k < c->n; k++)
        if (c->dim[k] >= 0)
            (void)ac_counted_as(own[k], ac_sub_input(s, c->first[i++]), c->dim[k]);
}

/* True if x and y have one type, and one shape except that y is longer along dimension *at. *at < 0: sets it to the
 * dimension that differs. */
static bool is_longer(const ac_tensor *x, const ac_tensor *y, int32_t *at)
{
    bool same = x->dtype == y->dtype && x->rank == y->rank && ac_quant_equal(x->quant, y->quant);
    *at = *at < 0 && y->count && same ? y->count_dim : *at;
    for (int32_t d = 0; d < x->rank && same; d++) {
        if (x->dim[d] == y->dim[d] || d == *at)
            continue;
        same = *at < 0 && y->dim[d] > x->dim[d];
        *at = d;
    }
    return same && *at >= 0 && y->dim[*at] > x->dim[*at] && (!y->count || y->count_dim == *at);
}

/* True if the next iteration can take y for x: same type and shape, or shorter along `dim`. */
static bool keeps_size(const ac_tensor *x, const ac_tensor *y, int32_t dim)
{
    bool same = x->dtype == y->dtype && x->rank == y->rank && ac_quant_equal(x->quant, y->quant) &&
                (!y->count || y->count_dim == dim);
    for (int32_t d = 0; d < x->rank && same; d++)
        same = d == dim ? y->dim[d] <= x->dim[d] : y->dim[d] == x->dim[d];
    return same;
}

/* Pads the initial value k to `size` elements. */
static int pad_first(const ac_maker *b, ac_carried *c, int32_t k, int64_t size)
{
    ac_tensor *x = c->given[k];
    int64_t dim[AC_MAX_RANK];
    memcpy(dim, x->dim, sizeof dim);
    dim[c->dim[k]] = size;
    if (x->dim[c->dim[k]] == 0)
        c->first[k] = ac_make_broadcast(b, ac_make_number(b, x->dtype, 0), x->rank, dim);
    else
        c->first[k] = ac_make_counted_longer(b, x, c->dim[k], size);
    if (c->first[k] && x->quant)
        c->first[k]->quant = x->quant;
    return c->first[k] ? AC_OK : AC_FAIL;
}

/* Refuses value k: it becomes longer, without a bound. */
static int no_bound(const ac_maker *b, const ac_carried *c, int32_t k, const ac_tensor *y)
{
    const char *result = c->result ? c->result[k] : NULL;
    b->reading->late = true; /* a second run may know its size */
    return ac_refuse(
        b->reading, b->at, E0203, b->at.op,
        ac_strf(b->cx->region, "'%s' is %s, but may be %s after an iteration, and its length has no bound",
                result ? result : c->given[k]->name, ac_tensor_str(b->cx, c->first[k]), ac_tensor_str(b->cx, y)),
        result ? ac_strf(b->cx->region, "limit its elements: --bound %s; or limit the iterations of the loop",
                         ac_shell_set(b->cx, result, "N"))
               : "bound how often the loop runs");
}

/* Value k becomes longer in an iteration. Sets *again if it was padded further, so that both graphs must be read again;
 * otherwise elements past its size are cut off: those beyond --bound, or none. */
static int grow_value(const ac_maker *b, ac_carried *c, const ac_sub *body, ac_tensor *const *next, int32_t k,
                      bool *again)
{
    const int64_t size = c->first[k]->dim[c->dim[k]], given = c->given[k]->dim[c->dim[k]];
    const int64_t said = c->result ? ac_bound_of(b, c->result[k]) : -1;
    const bool counted = body->g->input.item[k]->count != NULL; /* the body was read with a count */
    int64_t most = said > given ? said : given;
    if (said < 0)
        most = counted ? ac_grown_at_most(b, c, body, next, k) : -1;
    if (counted && most >= 0 && most <= size)
        return AC_OK;
    if (most < 0 && !c->tries[k])
        most = next[k]->dim[c->dim[k]]; /* first try: it may stay this long */
    if (most < 0 || most > MOST_LENGTH || c->tries[k]++ > MOST_TRIES)
        return no_bound(b, c, k, next[k]);
    *again = true;
    return pad_first(b, c, k, most);
}

/* y padded or cut to the size of value k. *count: its valid length; NULL: k is not dynamically sized. */
static ac_tensor *carried_of(const ac_maker *b, const ac_carried *c, int32_t k, ac_tensor *y, ac_tensor **count)
{
    const int32_t d = c->dim[k];
    const int64_t size = d >= 0 ? c->first[k]->dim[d] : 0;
    *count = NULL;
    if (d < 0)
        return y;
    *count = ac_make_counted_extent(b, y, d);
    if (y->dim[d] <= size)
        return ac_make_counted_longer(b, y, d, size);
    ac_tensor *cut = ac_make_slice_there(b, y, d, 0, size);
    *count = ac_make_2(b, AC_OP_MINIMUM, *count, ac_make_number(b, AC_I64, (double)size));
    return cut;
}

static int push_outputs(ac_maker *b, ac_graph **now, const ac_carried *c, ac_sub *s, ac_tensor *const *next)
{
    ac_tensor **count = AC_NEW_N(b->cx->region, ac_tensor *, c->n + 1);
    int rc = AC_OK;
    ac_sub_enter(b, now, s);
    for (int32_t k = 0; k < c->n && rc == AC_OK; k++) {
        ac_tensor *y = carried_of(b, c, k, next[k], &count[k]);
        if (!y || (c->dim[k] >= 0 && !count[k]))
            rc = AC_FAIL;
        ac_push(s->g->region, &s->g->output, y);
    }
    for (int32_t k = 0; k < c->n && rc == AC_OK; k++)
        if (count[k])
            ac_push(s->g->region, &s->g->output, count[k]);
    ac_sub_leave(b, now, s);
    for (int32_t i = 0; i < s->g->output.n && rc == AC_OK; i++)
        if (ac_graph_has(s->g, s->g->output.item[i]))
            s->g->output.item[i]->count = NULL;
    return rc;
}

int ac_carried_outputs(ac_maker *b, ac_graph **now, ac_carried *c, const ac_sub *cond, ac_sub *body,
                       ac_tensor *const *next, bool *again, int32_t *wrong)
{
    const int64_t turns = ac_turns_at_most(b, c, cond, body, next);
    *again = false;
    *wrong = -1;
    if (turns >= 0 && (c->turns < 0 || turns < c->turns))
        c->turns = turns;
    for (int32_t k = 0; k < c->n; k++) {
        int32_t at = c->dim[k];
        const bool longer = is_longer(c->first[k], next[k], &at);
        if (c->dim[k] < 0 && (longer || (next[k]->count && c->first[k]->rank > next[k]->count_dim))) {
            c->dim[k] = longer ? at : next[k]->count_dim;
            *again = true;
        }
        if (longer)
            AC_TRY(grow_value(b, c, body, next, k, again));
        else if (!keeps_size(c->first[k], next[k], c->dim[k]))
            *wrong = *wrong < 0 ? k : *wrong;
    }
    if (*wrong >= 0)
        return AC_FAIL;
    return *again ? ac_carried_counts(b, c) : push_outputs(b, now, c, body, next);
}

void ac_carried_results(const ac_carried *c, const ac_node *made, ac_tensor **out)
{
    for (int32_t k = 0, i = c->n; k < c->n; k++)
        out[k] = c->dim[k] >= 0 ? ac_counted_as(made->out[k], made->out[i++], c->dim[k]) : made->out[k];
}
