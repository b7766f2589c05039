/* custom_rules.c - the shape rule of custom operators: that of their row. */
#include "ir/ops/decode/custom_sizes.h"
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/shape.h"

static int set_result(const ac_custom_sizes *s, ac_node *n, int32_t i)
{
    const ac_custom_tensor *row = &s->c->out.item[i];
    int64_t dim[2 * AC_MAX_RANK];
    int32_t rank = 0;
    for (int32_t d = 0; d < row->rank; d++)
        if (row->dim[d])
            AC_TRY(ac_custom_evaluate(s, row->dim[d], ac_strf(s->cx->region, "a dimension of result '%s'", row->name),
                                      &dim[rank++]));
        else
            for (int32_t k = 0; k < s->n_dots; k++)
                dim[rank++] = s->dots[k];
    if (row->like >= 0) {
        const ac_tensor *like = ac_node_in(n, row->like);
        return like ? ac_shape_set_like(s->cx, n, i, like, rank, dim)
                    : ac_error(s->cx, n->at, E0102, "result '%s' has the type of operand '%s', which is missing",
                               row->name, s->c->in.item[row->like].name);
    }
    ac_dtype d = AC_NONE;
    while (!(row->types >> d & 1))
        d++;
    AC_TRY(ac_shape_result_type(s->cx, n, i, d));
    return ac_shape_set(s->cx, n, i, d, rank, dim);
}

int ac_sh_custom(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    ac_custom_sizes s;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_custom_sizes_of(cx, n, &s));
    for (int32_t i = 0; i < n->n_out; i++)
        AC_TRY(set_result(&s, n, i));
    return AC_OK;
}
