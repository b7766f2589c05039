/* variables.c - turns resource variables into state tensors: VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, CALL_ONCE.
 *
 *     main graph    CALL_ONCE 1;  h = VAR_HANDLE "v";  x = READ_VARIABLE h;  ..;  ASSIGN_VARIABLE h, y
 *     subgraph 1    h = VAR_HANDLE "v";  ASSIGN_VARIABLE h, constant
 *
 * A variable becomes a state tensor of the main graph, with its name in the file; reads and assignments keep their
 * order. Its initial value is the constant that the subgraph of CALL_ONCE assigns, or zeros (TFLite fails when such a
 * variable is read). Handles that are inputs, and variables in other subgraphs, are refused. */
#include "import/build/counted.h"
#include "import/tflite/rules.h"

#include <string.h>

static ac_tensor *variable(ac_tfl *r, const char *container, const char *name)
{
    for (int32_t i = 0; i < r->variable.n; i++)
        if (r->variable.item[i].container == container && r->variable.item[i].name == name)
            return r->variable.item[i].value;
    ac_tensor *value = ac_tensor_new(r->reading->g, *name ? name : "variable", AC_F32, 0, NULL);
    ac_push(r->cx->region, &r->variable, ((ac_tfl_variable){container, name, value}));
    return value;
}

bool ac_tfl_runs_once(const ac_tfl *r, int32_t subgraph)
{
    for (int32_t i = 0; i < r->once.n; i++)
        if (r->once.item[i] == subgraph)
            return true;
    return false;
}

static int check_place(ac_tfl *r, const ac_tfl_node *n)
{
    const ac_maker b = ac_reading_maker(r->reading, n->g, n->at.node, n->at);
    if (!n->handle || !n->handle->t)
        return ac_error(r->cx, n->at, E0105, "its handle is not a resource of VAR_HANDLE");
    if (n->subgraph && !ac_tfl_runs_once(r, n->subgraph))
        return ac_cannot(&b, "it is in a subgraph, where a variable may be read or written any number of times");
    return AC_OK;
}

/* Gives the variable the type and shape of `like`, or checks that it has them. */
static int set_type(ac_tfl *r, const ac_tfl_node *n, const ac_tensor *like)
{
    ac_tensor *v = n->handle->t;
    for (int32_t d = 0; d < like->rank; d++)
        if (like->dim[d] < 0)
            return ac_error(r->cx, n->at, E0204,
                            "dimension %d of '%s' is not known, and so is the size of the variable", d, like->name);
    if (!v->state) {
        v->state = true;
        v->dtype = like->dtype;
        v->rank = like->rank;
        memcpy(v->dim, like->dim, sizeof v->dim);
        v->quant = like->quant;
        return AC_OK;
    }
    if (v->dtype != like->dtype || !ac_tensor_same_shape(v, like))
        return ac_error(r->cx, n->at, E0104, "'%s' is %s, but the variable '%s' holds %s", like->name,
                        ac_tensor_str(r->cx, like), v->name, ac_tensor_str(r->cx, v));
    return AC_OK;
}

int ac_tfl_rule_var_handle(ac_tfl *r, ac_tfl_node *n)
{
    const ac_fb_table t = ac_fb_child(&r->fb, n->table, OP_OPTIONS, "VarHandleOptions");
    const char *container = ac_fb_string(&r->fb, t, 0), *name = ac_fb_string(&r->fb, t, 1);
    if (r->fb.failed)
        return AC_FAIL;
    if (!n->handle)
        return ac_error(r->cx, n->at, E0105, "its result is not a resource");
    n->handle->t = variable(r, container ? container : ac_intern(r->cx, ""), name ? name : ac_intern(r->cx, ""));
    return AC_OK;
}

int ac_tfl_rule_read_variable(ac_tfl *r, ac_tfl_node *n)
{
    ac_attrs a;
    AC_TRY(check_place(r, n));
    const ac_maker b = ac_tfl_maker(r, n);
    if (n->subgraph)
        return ac_cannot(&b, "a first value is computed from a variable");
    AC_TRY(set_type(r, n, n->out[0]));
    ac_attrs_init(AC_OP_RESHAPE, &a);
    a.shape.shape = ac_make_list(&b, n->out[0]->rank, n->out[0]->dim);
    ac_tfl_node_make(n, AC_OP_RESHAPE, &n->handle->t, 1, &a);
    return AC_OK;
}

int ac_tfl_rule_assign_variable(ac_tfl *r, ac_tfl_node *n)
{
    ac_tensor *x = n->in[1];
    AC_TRY(check_place(r, n));
    AC_TRY(set_type(r, n, x));
    ac_tensor *v = n->handle->t;
    if (x->count) {
        const ac_maker b = ac_tfl_maker(r, n);
        return ac_cannot(&b, "only data decides how many elements '%s' has", x->name);
    }
    if (n->subgraph && !ac_tensor_is_const(x)) {
        const ac_maker b = ac_reading_maker(r->reading, n->g, n->at.node, n->at);
        return ac_cannot(&b, "the first value of '%s' is not a constant", v->name);
    }
    if (n->subgraph) {
        v->data = x->data;
        return AC_OK;
    }
    ac_tensor *next = ac_tensor_new(n->g, ac_strf(r->cx->region, "%s_next", v->name), x->dtype, x->rank, x->dim);
    next->root = v;
    const ac_maker b = {.cx = r->cx, .g = n->g, .name = v->name, .at = n->at, .unsized = true};
    ac_make_into(&b, AC_OP_ASSIGN, &x, 1, NULL, next);
    return AC_OK;
}

int ac_tfl_rule_call_once(ac_tfl *r, ac_tfl_node *n)
{
    const ac_fb_table t = ac_fb_child(&r->fb, n->table, OP_OPTIONS, "CallOnceOptions");
    const int64_t subgraph = ac_fb_int(&r->fb, t, 0, AC_FB_I32, 0);
    if (r->fb.failed)
        return AC_FAIL;
    if (subgraph < 1 || subgraph > INT32_MAX || n->subgraph)
        return ac_error(r->cx, n->at, E0013, "runs subgraph %lld once, which must be another one than the main graph",
                        (long long)subgraph);
    ac_push(r->cx->region, &r->once, (int32_t)subgraph);
    return AC_OK;
}
