/* nodes.c - operators of PyTorch: the table of operators, and how a node of the program becomes nodes of the graph. */
#include "import/pt2/nodes.h"

#include "import/build/builders.h"
#include "import/build/flow/file_flow.h"
#include "import/build/params.h"
#include "import/build/reasons.h"

#include <string.h>

static const ac_operator ROWS[] = {
#define V AC_EP_V
#define S AC_EP_S
#define K AC_EP_K
#define P AC_EP_P
#define F AC_EP_F
#define ROW(target, operands, make, becomes, bits) \
    {.name = #target, make, .op = AC_OP_##becomes, .args = operands, .flags = bits},
#define EP(target, operands, fn, op, flags)  ROW(target, operands, .run = AC_ADAPTER(ac_ep_do_##fn), op, flags)
#define EPB(target, operands, fn, op, flags) ROW(target, operands, .build = ac_built_##fn, op, flags)
#define WHY(target, why)                     {.name = #target, AC_WHY(why)},
#include "import/pt2/nodes.def"
#undef V
#undef S
#undef K
#undef P
#undef F
#undef ROW
#undef EP
#undef EPB
#undef WHY
};

const ac_operators ac_ep_operators = {ROWS, sizeof ROWS / sizeof *ROWS, NULL};

/* "aten.add_.Tensor" is "aten.add.Tensor" that changes its operand. */
const ac_operator *ac_ep_row(ac_ep *r, const char *type, bool *in_place)
{
    const ac_operator *row = ac_operator_find(&ac_ep_operators, "", type, 0);
    const char *dot = strrchr(type, '.');
    *in_place = false;
    if (row || !dot || dot == type || dot[-1] != '_' || strncmp(type, "aten.", 5) != 0)
        return row;
    row = ac_operator_find(&ac_ep_operators, "", ac_strf(r->cx->region, "%.*s%s", (int)(dot - type - 1), type, dot), 0);
    *in_place = row != NULL;
    return row;
}

/* ------------------------------------------------------------------ nodes */

static int make_floats(ac_ep_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && !ac_dtype_is_float(n->in[i]->dtype) && !(n->in[i] = ac_make_cast(&n->b, n->in[i], AC_F32)))
            return AC_FAIL;
    return AC_OK;
}

static int run(ac_ep_node *n)
{
    const ac_operator *row = n->row;
    return row->build ? ac_ep_result(n, 0, row->build(&n->b, row->op, n->in, n->n_in)) : ((ac_ep_fn *)row->run)(n);
}

static int convert(ac_ep_node *n)
{
    const uint32_t flags = n->row->flags;
    ac_dtype half = AC_NONE; /* unused: ac_ep_result converts to the declared type */
    if (flags & AC_EP_P)
        AC_TRY(ac_ep_promote(n, 0, n->n_in, flags & AC_EP_F));
    else if (flags & AC_EP_F)
        AC_TRY(make_floats(n));
    return flags & (AC_EP_K | AC_EP_V | AC_EP_S) ? AC_OK : ac_operand_widen(&n->b, n->in, n->n_in, &half);
}

int ac_ep_node_add(ac_ep_node *n)
{
    AC_TRY(ac_ep_operands(n));
    const ac_said before = ac_said_now(&n->b);
    AC_TRY(convert(n));
    const int rc = ac_said_outcome(&n->b, before, run(n));
    if (rc != AC_OK)
        return n->broken ? rc : ac_flow_blamed(&n->b, before, n->in, n->n_in, rc);
    return ac_ep_check_args(n);
}

int ac_ep_node_redo(const ac_ep_node *from, ac_tensor *self, ac_tensor **out)
{
    ac_ep_node n = *from;
    n.in = AC_NEW_N(n.r->cx->region, ac_tensor *, n.n_in + 1);
    memcpy(n.in, from->in, (size_t)n.n_in * sizeof *n.in);
    n.in[0] = self;
    n.redo = out;
    n.b.g = n.r->g;
    n.attrs.b = &n.b;
    n.attrs.node = &n;
    return self ? run(&n) : AC_FAIL;
}
