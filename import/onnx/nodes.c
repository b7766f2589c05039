/* nodes.c - operators of ONNX files: the table, and checks before and after each adapter. */
#include "import/onnx/proto/texts.h"
#include "import/onnx/proto/nodes.h"
#include "import/build/builders.h"
#include "import/build/flow/file_flow.h"
#include "import/build/reasons.h"

#include <inttypes.h>
#include <string.h>

static const ac_operator ROWS[] = {
#define ROW(type, of, from, to, imin, imax, omax, make, becomes, marks) \
    {.name = #type,                                                     \
     .domain = of,                                                      \
     .since = from,                                                     \
     .until = to,                                                       \
     .min_in = imin,                                                    \
     .max_in = imax,                                                    \
     .max_out = omax,                                                   \
     make,                                                              \
     .op = AC_OP_##becomes,                                             \
     .flags = marks},
#define ONX(type, of, from, to, imin, imax, omax, fn, becomes, marks) \
    ROW(type, of, from, to, imin, imax, omax, .run = AC_ADAPTER(ac_onx_do_##fn), becomes, marks)
#define ONXB(type, of, from, to, imin, imax, omax, fn, becomes, marks) \
    ROW(type, of, from, to, imin, imax, omax, .build = ac_built_##fn, becomes, marks)
#define WHY(type, of, why) {.name = #type, .domain = of, AC_WHY(why)},
#include "import/onnx/nodes.def"
#undef ROW
#undef ONX
#undef ONXB
#undef WHY
};

const ac_operators ac_onx_operators = {ROWS, sizeof ROWS / sizeof *ROWS, NULL};

int ac_onx_refuse_op(ac_onx_node *n)
{
    ac_ctx *cx = n->r->cx;
    const char *name = *n->domain ? ac_internf(cx, "%s.%s", n->domain, n->type) : n->type;
    const char *shown = ac_internf(cx, "%s version %" PRId64, name, n->version);
    if (*n->domain && !ac_operator_why(&ac_onx_operators, n->domain, n->type))
        return ac_refuse(
            n->r->reading, n->at, E0107, shown, "the file does not define this operator",
            "--custom FILE.def computes it by a C function of yours (docs/custom.md); --outputs TENSOR ends "
            "the model before it");
    return ac_reading_refuse(n->r->reading, n->at, n->domain, n->type, shown);
}

static int check_counts(ac_onx_node *n)
{
    const ac_operator *row = n->row;
    while (n->n_in > row->min_in && !n->in[n->n_in - 1])
        n->n_in--; /* left out at the end: the same as not there */
    AC_TRY(ac_operand_count(&n->b, row, n->n_in, "operands"));
    for (int32_t i = 0; i < row->min_in; i++)
        AC_TRY(ac_onx_need(n, i));
    for (int32_t i = 0; i < n->n_in && !(row->flags & ONX_CODES); i++)
        if (n->in[i] && ac_dtype_loops(n->in[i]->dtype) != n->in[i]->dtype)
            return ac_cannot(&n->b, "operand '%s' has elements of type %s", n->in[i]->name,
                             ac_dtype_name(n->in[i]->dtype));
    if (n->n_out > row->max_out)
        return ac_cannot(&n->b, "it has %d results; supported are up to %d", n->n_out, row->max_out);
    return AC_OK;
}

/* Refuses operands that hold texts if the operator works on their characters or numbers. *any: its results hold texts
 * as well, of these words; NULL: numbers. */
static int check_texts(ac_onx_node *n, const ac_vocabulary **any)
{
    const uint32_t flags = n->row->flags;
    int32_t texts = 0, numbers = 0;
    *any = NULL;
    for (int32_t i = 0; i < n->n_in; i++) {
        const ac_tensor *x = n->in[i];
        if (!x)
            continue;
        if (!x->words) {
            numbers += x->dtype != AC_BOOL;
            continue;
        }
        texts++;
        if (!(flags & ONX_READS) && !(flags & ONX_TEXTS) && !(flags & ONX_TEXT && i == 0))
            return ac_refuse(n->r->reading, n->at, E0108, n->type,
                             ac_strf(n->r->cx->region, "operand '%s' holds texts, which are codes here", x->name),
                             "do this step in the application: cut the model there (--outputs TENSOR)");
        if (!*any || x->words->other)
            *any = x->words;
    }
    if (flags & ONX_TEXTS && texts && numbers)
        return ac_bad(&n->b, "some of its operands are texts, and others are numbers");
    if (flags & ONX_READS)
        *any = NULL;
    return AC_OK;
}

static void mark_texts(ac_onx_node *n, const ac_vocabulary *words)
{
    for (int32_t i = 0; words && i < n->n_out; i++)
        if (n->out[i] && n->out[i]->t)
            n->out[i]->t->words = words;
}

/* Refuses attributes that the adapter did not read: they may change the meaning of the operator. */
static int check_attrs(ac_onx_node *n)
{
    for (int32_t i = 0; i < n->n_attr; i++)
        if (!n->attr[i].used)
            return ac_cannot(&n->b, "its attribute '%s' has no meaning to arenac", n->attr[i].name);
    return AC_OK;
}

static int run(ac_onx_node *n)
{
    const ac_operator *row = n->row;
    return row->build ? ac_onx_result(n, 0, row->build(&n->b, row->op, n->in, n->n_in)) : ((ac_onx_fn *)row->run)(n);
}

int ac_onx_node_add(ac_onx_node *n)
{
    const ac_said before = ac_said_now(&n->b);
    const ac_vocabulary *words;
    n->first = n->r->g->tensor.n;
    n->b.base = n->n_out && n->out[0] ? n->out[0]->name : n->name;
    AC_TRY(check_counts(n));
    for (int32_t i = 0; i < n->n_in && !(n->row->flags & ONX_SEQUENCES); i++)
        if (ac_onx_sequence_of(n->r, n->in[i]))
            return ac_cannot(&n->b, "operand %d is a sequence of tensors", i);
    AC_TRY(check_texts(n, &words));
    if (n->row->flags & ONX_HALF)
        AC_TRY(ac_operand_widen(&n->b, n->in, n->n_in, &n->half));
    ac_attr_skip(&n->attrs, "consumed_inputs"); /* a hint of opset 1 */
    AC_TRY(ac_flow_blamed(&n->b, before, n->in, n->n_in, ac_said_outcome(&n->b, before, run(n))));
    mark_texts(n, words);
    if (check_attrs(n) == AC_OK)
        return AC_OK;
    for (int32_t i = 0; i < n->n_out; i++)
        if (n->out[i])
            n->out[i]->broken = true;
    return AC_FAIL;
}

ac_tensor *ac_onx_inner(ac_onx_node *n, const char *type, int64_t version, ac_tensor *const *in, int32_t n_in)
{
    ac_onx_node inner = *n;
    ac_onx_value value = {.name = n->out[0] ? n->out[0]->name : n->name, .rank = -1}, *out[] = {&value};
    inner.type = type;
    inner.domain = "";
    inner.version = version;
    inner.row = ac_operator_find(&ac_onx_operators, "", type, version);
    inner.in = AC_NEW_N(n->r->cx->region, ac_tensor *, n_in + 1);
    inner.n_in = n_in;
    inner.out = out;
    inner.n_out = 1;
    inner.half = AC_NONE;
    for (int32_t i = 0; i < n_in; i++)
        inner.in[i] = in[i];
    while (inner.n_in > 0 && !inner.in[inner.n_in - 1])
        inner.n_in--;
    if (!inner.row)
        return (void)ac_cannot(&n->b, "it stands for %s", type), NULL;
    if (check_counts(&inner) != AC_OK)
        return NULL;
    return run(&inner) == AC_OK ? value.t : NULL;
}
