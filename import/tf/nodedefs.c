/* nodedefs.c - operators of TensorFlow graphs: the table, what is common to all of them, and what adapters ask of
 * their operands. */
#include "import/tf/nodedefs.h"

#include <inttypes.h>
#include <string.h>

enum { WORK_KNOWN = 32 };

static const ac_operator ROWS[] = {
#define TFO(type, imin, imax, fn, becomes, marks, results) \
    {.name = #type,                                        \
     .min_in = imin,                                       \
     .max_in = imax,                                       \
     .run = AC_ADAPTER(ac_tf_do_##fn),                     \
     .op = AC_OP_##becomes,                                \
     .flags = marks,                                       \
     .args = results},
#define WHY(type, because, out) {.name = #type, .reason = because, .help = out},
#include "import/tf/nodedefs.def"
#undef TFO
#undef WHY
};

const ac_operators ac_tf_operators = {ROWS, sizeof ROWS / sizeof *ROWS, NULL};

int ac_tf_cannot(ac_tf_op *n, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *reason = ac_vstrf(n->r->cx->region, fmt, ap);
    va_end(ap);
    return ac_refuse(n->r->cx, &n->r->reading->refused, n->b.at, E0108, n->node->op, reason, NULL);
}

int ac_tf_refuse_op(ac_tf *r, const ac_tf_node *n)
{
    return ac_reading_refuse(r->reading, n->at, "", n->op, n->op);
}

/* ------------------------------------------------------------------ dispatch */

static int check_inputs(ac_tf_op *n)
{
    const ac_operator *row = n->row;
    if (n->n_in < row->min_in || n->n_in > row->max_in)
        return ac_error(n->r->cx, n->b.at, E0102, "has %d operands, expected %d to %d", n->n_in, row->min_in,
                        row->max_in);
    for (int32_t i = 0; i < n->n_in && !(row->flags & TF_ANY); i++)
        if (!n->t[i])
            return ac_tf_cannot(n,
                                n->in[i].kind == AC_TF_RANDOM ? "it computes with random numbers"
                                                              : "its input %d is an array of tensors",
                                i);
    return AC_OK;
}

static bool is_half(ac_dtype d)
{
    return d == AC_F16 || d == AC_BF16;
}

static int widen(ac_tf_op *n)
{
    for (int32_t i = 0; i < n->n_in; i++) {
        if (!n->t[i] || !is_half(n->t[i]->dtype))
            continue;
        if (n->half == AC_NONE)
            n->half = n->t[i]->dtype;
        n->t[i] = ac_build_cast(&n->b, n->t[i], AC_F32);
        if (!n->t[i])
            return AC_FAIL;
    }
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

/* An attribute that no adapter knows may change the meaning of the operator. */
static int check_attrs(ac_tf_op *n)
{
    const ac_tf_node *m = n->node;
    for (int32_t i = 0; i < m->n_attr; i++)
        if (!m->attr[i].used && !is_hint(m->attr[i].name))
            return ac_tf_cannot(n, "its attribute '%s' has no meaning to arenac", m->attr[i].name);
    return AC_OK;
}

int ac_tf_op_run(ac_tf_op *n)
{
    const int32_t errors = n->r->cx->diags.errors, refused = n->r->reading->refused.n;
    n->first = n->r->g->tensor.n;
    AC_TRY(check_inputs(n));
    if (n->row->flags & TF_HALF)
        AC_TRY(widen(n));
    if (((ac_tf_fn *)n->row->run)(n) == AC_OK)
        return check_attrs(n);
    if (!n->r->pb.failed && n->r->cx->diags.errors == errors && n->r->reading->refused.n == refused)
        return ac_tf_cannot(n, "its operands are not of a form that arenac handles");
    return AC_FAIL;
}

/* ------------------------------------------------------------------ operands and results */

ac_tensor *ac_tf_in(const ac_tf_op *n, int32_t i)
{
    return i < n->n_in ? n->t[i] : NULL;
}

int ac_tf_late(ac_tf_op *n, int32_t i)
{
    ac_tf *r = n->r;
    r->reading->late = true;
    return ac_refuse(r->cx, &r->reading->refused, n->b.at, E0203, n->node->op,
                     ac_strf(r->cx->region, "operand '%s' is computed at run time, but a static plan needs its value",
                             n->t[i]->name),
                     "make it a constant of the model, or give what it depends on: --const NAME=FILE.npy, with run "
                     "--input");
}

bool ac_tf_known(ac_tf_op *n, int32_t i)
{
    ac_tf *r = n->r;
    if (ac_tensor_is_const(n->t[i]))
        return true;
    ac_tensor *t = r->reading->again && ac_pb_spend(&r->pb, WORK_KNOWN) ? ac_build_specialise(&n->b, n->t[i]) : NULL;
    if (!t)
        return false;
    ac_note(r->cx, n->b.at, W0001, "specialised on the given value of '%s'", n->t[i]->name);
    n->t[i] = t;
    return true;
}

int ac_tf_values(ac_tf_op *n, int32_t i, ac_ints *out)
{
    return ac_tf_known(n, i) ? ac_build_values(&n->b, n->t[i], out) : ac_tf_late(n, i);
}

int ac_tf_scalar(ac_tf_op *n, int32_t i, double *v)
{
    if (!ac_tf_known(n, i))
        return ac_tf_late(n, i);
    ac_tensor *t = n->t[i];
    if (ac_tensor_count(t) != 1)
        return ac_error(n->r->cx, n->b.at, E0104, "operand '%s' is %s, expected one element", t->name,
                        ac_shape_str(n->r->cx, t));
    const void *data = ac_tensor_force(n->r->cx, t);
    if (!data)
        return AC_FAIL;
    *v = ac_dtype_get_num(t->dtype, data, 0);
    return AC_OK;
}

int ac_tf_axes(ac_tf_op *n, int32_t i, int32_t rank, uint32_t *mask)
{
    ac_ints list;
    *mask = 0;
    AC_TRY(ac_tf_values(n, i, &list));
    for (int32_t k = 0; k < list.n; k++) {
        int32_t axis;
        AC_TRY(ac_build_axis(&n->b, list.v[k], rank, &axis));
        *mask |= 1u << axis;
    }
    return AC_OK;
}

int ac_tf_result(ac_tf_op *n, int32_t i, ac_tensor *t)
{
    if (t && n->half != AC_NONE && t->dtype == AC_F32)
        t = ac_build_cast(&n->b, t, n->half);
    if (!t)
        return AC_FAIL;
    if (i >= n->n_out)
        return AC_OK;
    if (t->id >= n->first && !t->input)
        t->name = i ? ac_internf(n->r->cx, "%s_%d", n->node->name, i) : n->node->name;
    n->out[i] = (ac_tf_value){.kind = AC_TF_TENSOR, .t = t};
    return AC_OK;
}

int ac_tf_channels_first(ac_tf_op *n, bool *first)
{
    const char *f = ac_tf_str(n, "data_format", "NHWC");
    *first = !strcmp(f, "NCHW") || !strcmp(f, "NCDHW");
    if (*first)
        n->r->reading->out.channels_first = true;
    else if (strcmp(f, "NHWC") != 0 && strcmp(f, "NDHWC") != 0)
        return ac_tf_cannot(n, "its data_format is '%s'", f);
    return AC_OK;
}
