/* var_defs.c - operators on variables: their values are constants, restored from the checkpoint, or state that starts
 * with them (variables.h). */
#include "import/tf/nodedefs.h"
#include "import/build/params.h"
#include "import/build/reasons.h"
#include "import/tf/bundle.h"
#include "import/tf/variables.h"

#include <string.h>

/* ------------------------------------------------------------------ values */

/* The declared type and shape must be those of the checkpoint; *refused as in ac_tf_tensor. */
static int check_declared(ac_tf_op *n, const ac_tensor *t, const char **refused)
{
    const ac_tf_attr *shape = ac_tf_attr_of(n, "shape");
    const ac_dtype type = ac_attr_dtype_or(&n->attrs, A_dtype, t->dtype);
    int64_t dim[AC_MAX_RANK];
    int32_t rank = -1;
    if (type == AC_NONE || (shape && ac_tf_shape(&n->r->pb, shape->shape, &rank, dim, refused) != AC_OK))
        return AC_FAIL;
    bool same = type == t->dtype && (rank < 0 || rank == t->rank);
    for (int32_t i = 0; same && i < rank; i++)
        same = dim[i] < 0 || dim[i] == t->dim[i];
    if (same)
        return AC_OK;
    return ac_error(n->r->cx, n->b.at, E0104, "the checkpoint has %s for it, expected %s %s",
                    ac_tensor_str(n->r->cx, t), ac_dtype_name(type),
                    rank < 0 ? "of any shape" : ac_dims_str(n->r->cx, rank, dim));
}

/* ac_reading.memo: an ac_name_list of the variables that are state. */
bool ac_tf_has_state(const ac_tf *r)
{
    return r->reading->memo != NULL;
}

static bool is_state(const ac_tf *r, const ac_tf_variable *v)
{
    const ac_name_list *names = r->reading->memo;
    bool is = false;
    for (int32_t i = 0; names && i < names->n; i++)
        is |= names->item[i] == v->name;
    return is;
}

/* The constant v->t becomes state, and v->t its value before the run. */
static int make_state(ac_tf_op *n, ac_tf_variable *v)
{
    ac_tf *r = n->r;
    ac_maker b = n->b;
    ac_attrs a;
    const void *data = ac_tensor_force(r->cx, v->t);
    if (!data)
        return AC_FAIL;
    v->state = v->t;
    v->state->raw = NULL;
    v->state->data = data;
    v->state->state = true;
    b.g = r->reading->g;
    ac_attrs_init(AC_OP_RESHAPE, &a);
    a.shape.shape = ac_make_list(&b, v->t->rank, v->t->dim);
    v->t = ac_make_op(&b, AC_OP_RESHAPE, &v->state, 1, &a, AC_NONE);
    return v->t ? AC_OK : AC_FAIL;
}

/* The constant that node m is, or that it passes on; NULL: it computes. */
static const ac_tf_attr *constant_of(ac_tf *r, ac_tf_body *body, int32_t at)
{
    ac_tf_node *m = &body->node.item[at];
    while (!strcmp(m->op, "Identity") && ac_pb_spend(&r->pb, 1) && ac_tf_link(r, body, m) == AC_OK && m->n_in == 1)
        m = &body->node.item[m->in[0].node];
    if (strcmp(m->op, "Const") != 0 || ac_tf_attrs(r, m) != AC_OK)
        return NULL;
    for (int32_t i = 0; i < m->n_attr; i++)
        if (!strcmp(m->attr[i].name, "value") && m->attr[i].tensor.p)
            return &m->attr[i];
    return NULL;
}

/* The value that the graph of TensorFlow 1 assigns to variable n first, if it is a constant; NULL: none. */
static ac_tensor *initial(ac_tf_op *n, const char **refused)
{
    ac_tf *r = n->r;
    for (int32_t i = 0; i < r->main.node.n; i++) {
        ac_tf_node *m = &r->main.node.item[i];
        if (strcmp(m->op, "Assign") != 0 || ac_tf_link(r, &r->main, m) != AC_OK || m->n_in != 2 ||
            &r->main.node.item[m->in[0].node] != n->node)
            continue;
        const ac_tf_attr *a = constant_of(r, &r->main, m->in[1].node);
        if (a)
            return ac_tf_tensor(r, a->tensor, n->node->name, n->b.at, refused);
    }
    return NULL;
}

/* The value of a checkpoint */
static int read_checkpoint(ac_tf_op *n, ac_tf_variable *v, const char **refused)
{
    ac_tf *r = n->r;
    if (!r->bundle && !r->bundle_broken)
        r->bundle = ac_tf_bundle_open(r, n->b.at);
    r->bundle_broken = !r->bundle;
    if (!r->bundle)
        return AC_FAIL;
    if (!v->key.p && !r->objects_found) {
        r->objects_found = true;
        r->objects_broken = ac_tf_objects_find(r, r->bundle, n->b.at) != AC_OK;
    }
    if (!v->key.p && r->objects_broken)
        return AC_FAIL;
    if (!v->key.p)
        return ac_cannot(&n->b, "nothing restores it from the checkpoint");
    if (v->sliced)
        return ac_cannot(&n->b, "it is a slice of a larger variable: %s", v->sliced);
    v->t = ac_tf_bundle_tensor(r, r->bundle, v->key, n->node->name, n->b.at, refused);
    return AC_OK;
}

static int restore(ac_tf_op *n, ac_tf_variable *v)
{
    ac_tf *r = n->r;
    const char *refused = NULL;
    ac_graph *const g = r->g;
    int rc = AC_OK;
    r->g = r->reading->g; /* the value is one for all graphs */
    if (r->restores)
        rc = read_checkpoint(n, v, &refused);
    else
        v->t = initial(n, &refused);
    r->g = g;
    if (rc == AC_OK && !r->restores && !v->t && !refused)
        rc = ac_refuse(r->reading, n->b.at, E0107, n->node->op, AC_WHY_VARIABLE);
    AC_TRY(rc);
    if (v->t && check_declared(n, v->t, &refused) != AC_OK)
        v->t = NULL;
    if (v->t && is_state(r, v))
        return make_state(n, v);
    return refused ? ac_cannot(&n->b, "%s", refused) : v->t ? AC_OK : AC_FAIL;
}

/* Makes the variable of this node its result: the handle, or its value. A broken variable is reported once. */
static int variable_result(ac_tf_op *n, ac_tf_kind kind)
{
    ac_tf_variable *v = ac_tf_variable_of(n->r, n->node);
    ac_attr_skip(&n->attrs, "allowed_devices");
    ac_attr_skip(&n->attrs, "debug_name");
    ac_attr_skip(&n->attrs, "shape");
    ac_attr_skip(&n->attrs, "dtype");
    if (!v)
        return AC_FAIL;
    v->broken |= !v->t && !v->broken && restore(n, v) != AC_OK;
    n->out[0] = (ac_tf_value){.kind = v->broken ? AC_TF_BROKEN : kind, .variable = v, .t = v->t};
    return AC_OK;
}

/* ------------------------------------------------------------------ variables */

int ac_tf_do_var_handle(ac_tf_op *n)
{
    return variable_result(n, AC_TF_VARIABLE);
}

/* TensorFlow 1: a tensor that refers to the variable; a read gives the variable's value at that moment. */
int ac_tf_do_variable(ac_tf_op *n)
{
    AC_TRY(variable_result(n, AC_TF_TENSOR));
    if (n->out[0].variable)
        n->out[0].variable->is_read = true;
    return AC_OK;
}

/* Input 0 as a variable whose value is read. NULL: it is not a variable (reported) */
static ac_tf_variable *variable_in(ac_tf_op *n)
{
    ac_tf_variable *v = n->in[0].kind == AC_TF_VARIABLE ? n->in[0].variable : NULL;
    if (!v)
        (void)ac_cannot(&n->b, "its input 0 is not a variable");
    else
        v->is_read = true;
    return v;
}

int ac_tf_do_read_variable(ac_tf_op *n)
{
    const ac_tf_variable *v = variable_in(n);
    ac_attr_skip(&n->attrs, "dtype");
    if (!v)
        return AC_FAIL;
    n->out[0] = (ac_tf_value){.kind = AC_TF_TENSOR, .t = v->t};
    return AC_OK;
}

int ac_tf_do_resource_gather(ac_tf_op *n)
{
    const ac_tf_variable *v = variable_in(n);
    ac_attrs a;
    (void)ac_attr_bool(&n->attrs, A_validate_indices);
    ac_attr_skip(&n->attrs, "dtype");
    if (!v || !n->t[1])
        return AC_FAIL;
    if (n->row->op == AC_OP_GATHER_ND)
        return ac_tf_result(n, 0, ac_make_2(&n->b, AC_OP_GATHER_ND, v->t, n->t[1]));
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.batch_dims = (int32_t)ac_attr_int(&n->attrs, A_batch_dims);
    a.gather.axis = a.gather.batch_dims;
    ac_tensor *in[] = {v->t, n->t[1]};
    return ac_tf_result(n, 0, ac_make_op(&n->b, AC_OP_GATHER, in, 2, &a, AC_NONE));
}

int ac_tf_do_variable_shape(ac_tf_op *n)
{
    const ac_tf_variable *v = variable_in(n);
    const ac_dtype type = ac_attr_dtype(&n->attrs, A_out_type);
    if (!v || type == AC_NONE)
        return AC_FAIL;
    return ac_tf_result(n, 0, ac_make_cast(&n->b, ac_make_ints(&n->b, v->t->rank, v->t->dim), type));
}

int ac_tf_do_is_initialized(ac_tf_op *n)
{
    return ac_tf_result(n, 0, ac_make_number(&n->b, AC_BOOL, 1));
}

/* ------------------------------------------------------------------ changes */

/* The new value of variable v. */
static ac_tensor *assigned(ac_tf_op *n, const ac_tf_variable *v)
{
    ac_tensor *x = n->t[1];
    if (!x || x->dtype != v->t->dtype || !ac_tensor_same_shape(x, v->t) || x->count)
        return (void)ac_cannot(&n->b, "the variable '%s' is %s, and its new value is not", v->name,
                               ac_tensor_str(n->r->cx, v->t)),
               NULL;
    return n->row->op == AC_OP_NONE ? x : ac_make_2(&n->b, n->row->op, v->t, x);
}

/* A variable that is never read may be changed: no result depends on it. */
int ac_tf_do_assign_variable(ac_tf_op *n)
{
    ac_tf_variable *v = n->in[0].variable;
    const bool refers = n->in[0].kind == AC_TF_TENSOR; /* TensorFlow 1: so does the result */
    ac_attr_skip(&n->attrs, "dtype");
    ac_attr_skip(&n->attrs, "use_locking");
    ac_attr_skip(&n->attrs, "validate_shape");
    if (!v)
        return ac_cannot(&n->b, "its input 0 is not a variable");
    v->assigned = true;
    if (v->state) {
        if (n->r->g != n->r->reading->g || n->in[0].guard || n->in[1].guard)
            return ac_cannot(&n->b, "it changes the variable '%s' in a branch or a loop that data decides", v->name);
        if (!(v->t = assigned(n, v)))
            return AC_FAIL;
    }
    if (!refers)
        return ac_tf_all_results(n, AC_TF_DONE);
    n->out[0] = (ac_tf_value){.kind = AC_TF_TENSOR, .variable = v, .t = v->t};
    return AC_OK;
}

int ac_tf_variables_end(ac_tf *r)
{
    ac_name_list *names = r->reading->memo;
    for (int32_t i = 0; i < r->variable.n; i++) {
        ac_tf_variable *v = r->variable.item[i];
        if (!v->assigned || !v->is_read)
            continue;
        if (!v->state) {
            names = r->reading->memo = names ? names : AC_NEW(r->cx->region, ac_name_list);
            ac_push(r->cx->region, names, v->name);
            r->reading->repeat = true;
            continue;
        }
        if (!v->t) /* its last value is refused, or reported */
            return AC_FAIL;
        ac_tensor *next = ac_tensor_like(r->reading->g, ac_strf(r->cx->region, "%s_next", v->state->name), v->t);
        const ac_maker b = ac_maker_named(r->reading->g, next->name);
        next->root = v->state;
        if (!ac_make_into(&b, AC_OP_ASSIGN, &v->t, 1, NULL, next))
            return AC_FAIL;
    }
    return AC_OK;
}
