/* symbols.c - operators of MXNet symbols: the table and the common part of all operators. */
#include "import/mxnet/symbols.h"
#include "import/build/builders.h"
#include "import/build/reasons.h"

static const ac_operator ROWS[] = {
#define ROW(type, imin, imax, names, make, becomes) \
    {.name = #type, .min_in = imin, .max_in = imax, make, .op = AC_OP_##becomes, .args = names},
#define MX(type, imin, imax, args, fn, becomes)  ROW(type, imin, imax, args, .run = AC_ADAPTER(ac_mx_do_##fn), becomes)
#define MXB(type, imin, imax, args, fn, becomes) ROW(type, imin, imax, args, .build = ac_built_##fn, becomes)
#define WHY(type, why)                           {.name = #type, AC_WHY(why)},
#include "import/mxnet/symbols.def"
#undef ROW
#undef MX
#undef MXB
#undef WHY
};

const ac_operators ac_mx_operators = {ROWS, sizeof ROWS / sizeof *ROWS, NULL};

static int run(ac_mx_node *n)
{
    const ac_operator *row = n->row;
    return row->build ? ac_mx_result(n, 0, row->build(&n->b, row->op, n->in, n->n_in)) : ((ac_mx_fn *)row->run)(n);
}

int ac_mx_node_add(ac_mx_node *n)
{
    const ac_said before = ac_said_now(&n->b);
    ac_dtype half = AC_NONE; /* results stay f32 */
    AC_TRY(ac_operand_count(&n->b, n->row, n->n_in, "operands"));
    AC_TRY(ac_operand_widen(&n->b, n->in, n->n_in, &half));
    AC_TRY(ac_said_outcome(&n->b, before, run(n)));
    return ac_mx_check_attrs(n);
}
