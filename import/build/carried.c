/* carried.c - what a loop carries round, some of it counted (counted.h): each count goes round, too; see
 * sub_graphs.h. */
#include "import/build/counted.h"
#include "import/build/operands.h"
#include "import/build/sub_graphs.h"

/* The counts of what is counted by now, after all values. */
static int add_counts(const ac_build *b, ac_carried *c)
{
    c->all = c->n;
    for (int32_t k = 0; k < c->n; k++)
        if (c->dim[k] >= 0 && !(c->first[c->all++] = ac_build_counted_extent(b, c->first[k], c->dim[k])))
            return AC_FAIL;
    return AC_OK;
}

int ac_carried_begin(const ac_build *b, ac_carried *c, int32_t n, ac_tensor *const *first)
{
    *c = (ac_carried){.n = n,
                      .first = AC_NEW_N(b->cx->region, ac_tensor *, 2 * n + 1),
                      .dim = AC_NEW_N(b->cx->region, int32_t, n + 1)};
    for (int32_t k = 0; k < n; k++) {
        c->first[k] = first[k];
        c->dim[k] = first[k]->count ? first[k]->count_dim : -1;
    }
    return add_counts(b, c);
}

void ac_carried_inputs(const ac_carried *c, ac_sub *s, ac_tensor **own)
{
    for (int32_t k = 0; k < c->n; k++)
        own[k] = ac_sub_input(s, c->first[k]);
    for (int32_t k = 0, i = c->n; k < c->n; k++)
        if (c->dim[k] >= 0)
            (void)ac_counted_as(own[k], ac_sub_input(s, c->first[i++]), c->dim[k]);
}

/* May y be what the next iteration finds in the place of x? */
static bool fits(const ac_tensor *x, const ac_tensor *y, int32_t dim)
{
    bool same = x->dtype == y->dtype && x->rank == y->rank && ac_quant_equal(x->quant, y->quant) &&
                (!y->count || y->count_dim == dim);
    for (int32_t d = 0; d < x->rank && same; d++)
        same = d == dim ? y->dim[d] <= x->dim[d] : y->dim[d] == x->dim[d];
    return same;
}

int ac_carried_outputs(ac_build *b, ac_graph **now, ac_carried *c, ac_sub *s, ac_tensor *const *next, bool *again,
                       int32_t *wrong)
{
    ac_tensor **count = AC_NEW_N(b->cx->region, ac_tensor *, c->n + 1), *y;
    int rc = AC_OK;
    *again = false;
    *wrong = -1;
    for (int32_t k = 0; k < c->n; k++)
        if (next[k]->count && c->dim[k] < 0 && c->first[k]->rank > next[k]->count_dim) {
            c->dim[k] = next[k]->count_dim;
            *again = true;
        }
    for (int32_t k = 0; k < c->n; k++)
        if (!fits(c->first[k], next[k], c->dim[k])) {
            *wrong = k;
            return AC_FAIL;
        }
    if (*again)
        return add_counts(b, c);
    ac_sub_enter(b, now, s);
    for (int32_t k = 0; k < c->n && rc == AC_OK; k++) {
        y = c->dim[k] >= 0 ? ac_build_counted_longer(b, next[k], c->dim[k], c->first[k]->dim[c->dim[k]]) : next[k];
        count[k] = c->dim[k] >= 0 ? ac_build_counted_extent(b, next[k], c->dim[k]) : NULL;
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

void ac_carried_results(const ac_carried *c, const ac_node *made, ac_tensor **out)
{
    for (int32_t k = 0, i = c->n; k < c->n; k++)
        out[k] = c->dim[k] >= 0 ? ac_counted_as(made->out[k], made->out[i++], c->dim[k]) : made->out[k];
}
