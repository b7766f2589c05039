/* rules.c - defines how the makers of importers create nodes that read dynamically sized tensors (counted.h). */
#include "import/build/compose_bounded.h"
#include "import/build/counted.h"
#include "import/build/operands.h"
#include "ir/ops/shape/counted.h"
#include "ir/ops/shape/resolve.h"

static const ac_tensor *counted_in(const ac_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->count)
            return n->in[i];
    return NULL;
}

static int resolve(const ac_maker *b, ac_node *n)
{
    int32_t dim;
    ac_tensor *count;
    const ac_node made = *n; /* a constant result erases it */
    AC_TRY(ac_node_resolve(b->cx, b->g, n));
    const ac_tensor *x = counted_in(&made);
    if (!x)
        return AC_OK;
    if (!ac_counted_dim(b->cx, &made, &dim, &count))
        return ac_cannot(b, "it works along dimension %d of '%s' %s, and the length of that dimension depends on data",
                         x->count_dim, x->name, ac_shape_str(b->cx, x));
    for (int32_t i = 0; i < made.n_out; i++)
        (void)ac_counted_as(made.out[i], count, dim);
    return AC_OK;
}

ac_tensor *ac_make_counted_concat(const ac_maker *b, ac_tensor *const *x, int32_t n, int32_t axis)
{
    ac_tensor *updated = ac_make_updated(b, x, n, axis);
    return updated ? updated : ac_make_counted_join(b, x, n, axis);
}

ac_maker ac_reading_maker(ac_reading *r, ac_graph *g, const char *name, ac_place at)
{
    static const ac_maker_rules RULES = {.operands = ac_counted_operands,
                                         .resolve = resolve,
                                         .reshape = ac_make_counted_reshape,
                                         .mean = ac_make_counted_mean,
                                         .concat = ac_make_counted_concat};
    return (ac_maker){.cx = r->cx,
                      .g = g,
                      .name = name,
                      .base = name,
                      .at = at,
                      .rules = &RULES,
                      .reading = r,
                      .keep_nan = r->format->keep_nan};
}
