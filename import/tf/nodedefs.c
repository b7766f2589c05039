/* nodedefs.c - operators of TensorFlow graphs: the table, and checks before and after each adapter. */
#include "import/tf/nodedefs.h"
#include "import/build/builders.h"
#include "import/build/flow/file_flow.h"
#include "import/build/reasons.h"

#include <inttypes.h>
#include <string.h>

static const ac_operator ROWS[] = {
#define ROW(type, imin, imax, make, becomes, marks, results) \
    {.name = #type, .min_in = imin, .max_in = imax, make, .op = AC_OP_##becomes, .flags = marks, .args = results},
#define TFO(type, imin, imax, fn, becomes, marks, results) \
    ROW(type, imin, imax, .run = AC_ADAPTER(ac_tf_do_##fn), becomes, marks, results)
#define TFOB(type, imin, imax, fn, becomes, marks, results) \
    ROW(type, imin, imax, .build = ac_built_##fn, becomes, marks, results)
#define WHY(type, why) {.name = #type, AC_WHY(why)},
#include "import/tf/nodedefs.def"
#undef ROW
#undef TFO
#undef TFOB
#undef WHY
};

const ac_operators ac_tf_operators = {ROWS, sizeof ROWS / sizeof *ROWS, NULL};

const ac_operator *ac_tf_operator(ac_ctx *cx, const char *name)
{
    const ac_operator *custom = ac_tf_custom(cx, name);
    return custom ? custom : ac_operator_find(&ac_tf_operators, "", name, 0);
}

int ac_tf_refuse_op(ac_tf *r, const ac_tf_node *n)
{
    return ac_reading_refuse(r->reading, n->at, "", n->op, n->op);
}

/* ------------------------------------------------------------------ dispatch */

static int check_inputs(ac_tf_op *n)
{
    const ac_operator *row = n->row;
    AC_TRY(ac_operand_count(&n->b, row, n->n_in, "operands"));
    for (int32_t i = 0; i < n->n_in && !(row->flags & TF_ANY); i++)
        if (!n->t[i])
            return ac_cannot(&n->b,
                             n->in[i].kind == AC_TF_VARIABLE ? "its input %d is a variable"
                                                             : "its input %d is an array of tensors",
                             i);
    return AC_OK;
}

/* Attributes that name types say what the inputs say too, and some are hints to TensorFlow's runtime. */
static bool is_hint(const char *name)
{
    static const char *const NAME[] = {"use_cudnn_on_gpu",
                                       "N",
                                       "shared_name",
                                       "container",
                                       "validate_shape",
                                       "grad_x",
                                       "grad_y",
                                       "use_locking",
                                       "parallel_iterations",
                                       "is_constant",
                                       "frame_name",
                                       "grad_a",
                                       "grad_b",
                                       "Index",
                                       "U"};
    if (*name == 'T' && strcmp(name, "Truncate") != 0)
        return true;
    for (size_t i = 0; i < sizeof NAME / sizeof *NAME; i++)
        if (!strcmp(name, NAME[i]))
            return true;
    return false;
}

/* Refuses attributes that the adapter did not read: they may change the meaning of the operator. */
static int check_attrs(ac_tf_op *n)
{
    const ac_tf_node *m = n->node;
    for (int32_t i = 0; i < m->n_attr; i++)
        if (!m->attr[i].used && !is_hint(m->attr[i].name))
            return ac_cannot(&n->b, "its attribute '%s' has no meaning to arenac", m->attr[i].name);
    return AC_OK;
}

static int run(ac_tf_op *n)
{
    const ac_operator *row = n->row;
    return row->build ? ac_tf_result(n, 0, row->build(&n->b, row->op, n->t, n->n_in)) : ((ac_tf_fn *)row->run)(n);
}

int ac_tf_op_run(ac_tf_op *n)
{
    const ac_said before = ac_said_now(&n->b);
    n->first = n->r->g->tensor.n;
    AC_TRY(check_inputs(n));
    if (n->row->flags & TF_HALF)
        AC_TRY(ac_operand_widen(&n->b, n->t, n->n_in, &n->half));
    AC_TRY(ac_flow_blamed(&n->b, before, n->t, n->n_in, ac_said_outcome(&n->b, before, run(n))));
    return check_attrs(n);
}

int ac_tf_channels_first(ac_tf_op *n, bool *first)
{
    const char *f = ac_attr_text(&n->attrs, A_data_format);
    *first = !strcmp(f, "NCHW") || !strcmp(f, "NCDHW");
    if (*first)
        n->r->reading->out.channels_first = true;
    else if (strcmp(f, "NHWC") != 0 && strcmp(f, "NDHWC") != 0)
        return ac_cannot(&n->b, "its data_format is '%s'", f);
    return AC_OK;
}
