/* nodes.c - operators of ONNX files: the table and what is common to all of them. */
#include "import/onnx/nodes.h"

#include <inttypes.h>
#include <string.h>

static const ac_operator ROWS[] = {
#define ONX(type, of, from, to, imin, imax, omax, fn, becomes, marks) \
    {.name = #type,                                                   \
     .domain = of,                                                    \
     .since = from,                                                   \
     .until = to,                                                     \
     .min_in = imin,                                                  \
     .max_in = imax,                                                  \
     .max_out = omax,                                                 \
     .run = AC_ADAPTER(ac_onx_do_##fn),                               \
     .op = AC_OP_##becomes,                                           \
     .flags = marks},
#define WHY(type, because, out) {.name = #type, .reason = because, .help = out},
#include "import/onnx/nodes.def"
#undef ONX
#undef WHY
};

const ac_operators ac_onx_operators = {ROWS, sizeof ROWS / sizeof *ROWS, NULL};

int ac_onx_cannot(ac_onx_node *n, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *reason = ac_vstrf(n->r->cx->region, fmt, ap);
    va_end(ap);
    return ac_refuse(n->r->cx, &n->r->reading->refused, n->at, E0108, n->type, reason, NULL);
}

int ac_onx_refuse_op(ac_onx_node *n)
{
    ac_ctx *cx = n->r->cx;
    const char *name = *n->domain ? ac_internf(cx, "%s.%s", n->domain, n->type) : n->type;
    return ac_reading_refuse(n->r->reading, n->at, n->domain, n->type,
                             ac_internf(cx, "%s version %" PRId64, name, n->version));
}

static int check_counts(ac_onx_node *n)
{
    const ac_operator *row = n->row;
    while (n->n_in > row->min_in && !n->in[n->n_in - 1])
        n->n_in--; /* left out at the end: the same as not there */
    if (n->n_in < row->min_in || n->n_in > row->max_in)
        return ac_error(n->r->cx, n->at, E0102, "has %d operands, expected %d to %d", n->n_in, row->min_in,
                        row->max_in);
    for (int32_t i = 0; i < row->min_in; i++)
        if (!n->in[i])
            return ac_error(n->r->cx, n->at, E0102, "operand %d is left out", i);
    for (int32_t i = 0; i < n->n_in && !(row->flags & ONX_CODES); i++)
        if (n->in[i] && ac_dtype_loops(n->in[i]->dtype) != n->in[i]->dtype)
            return ac_onx_cannot(n, "operand '%s' has elements of type %s", n->in[i]->name,
                                 ac_dtype_name(n->in[i]->dtype));
    if (n->n_out > row->max_out)
        return ac_onx_cannot(n, "it has %d results; supported are up to %d", n->n_out, row->max_out);
    return AC_OK;
}

static bool is_half(ac_dtype d)
{
    return d == AC_F16 || d == AC_BF16;
}

static int widen(ac_onx_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++) {
        if (!n->in[i] || !is_half(n->in[i]->dtype))
            continue;
        if (n->half == AC_NONE)
            n->half = n->in[i]->dtype;
        n->in[i] = ac_onx_cast(n, n->in[i], AC_F32);
        if (!n->in[i])
            return AC_FAIL;
    }
    return AC_OK;
}

/* An attribute that no adapter knows may change the meaning of the operator. */
static int check_attrs(ac_onx_node *n)
{
    for (int32_t i = 0; i < n->n_attr; i++)
        if (!n->attr[i].used)
            return ac_onx_cannot(n, "its attribute '%s' has no meaning to arenac", n->attr[i].name);
    return AC_OK;
}

int ac_onx_node_add(ac_onx_node *n)
{
    const int32_t errors = n->r->cx->diags.errors, refused = n->r->reading->refused.n;
    n->first = n->r->g->tensor.n;
    n->b = (ac_build){.cx = n->r->cx, .g = n->r->g, .name = n->name, .at = n->at};
    n->b.base = n->n_out && n->out[0] ? n->out[0]->name : n->name;
    AC_TRY(check_counts(n));
    if (n->row->flags & ONX_HALF)
        AC_TRY(widen(n));
    ac_onx_attr_of(n, "consumed_inputs"); /* a hint of opset 1 */
    if (((ac_onx_fn *)n->row->run)(n) != AC_OK) {
        if (!n->r->pb.failed && n->r->cx->diags.errors == errors && n->r->reading->refused.n == refused)
            return ac_onx_cannot(n, "its operands are not of a form that arenac handles");
        return AC_FAIL;
    }
    if (check_attrs(n) == AC_OK)
        return AC_OK;
    for (int32_t i = 0; i < n->n_out; i++)
        if (n->out[i])
            n->out[i]->broken = true;
    return AC_FAIL;
}
