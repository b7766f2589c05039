/* rules.c - the rules of TFLite operators that become one node, in addition to their row in the table. */
#include "import/tflite/rules.h"
#include "import/wire/flex.h"

#include <math.h>
#include <string.h>

ac_node *ac_tfl_node_make(ac_tfl_node *n, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs)
{
    const ac_maker b = {.cx = n->g->cx, .g = n->g, .name = n->out[0]->name, .at = n->at};
    const int32_t next = n->g->next_node; /* nodes that a rule adds are numbered after the file's */
    n->g->next_node = n->id;
    ac_node *made = ac_make_results(&b, op, in, n_in, attrs, n->out, n->n_out);
    n->g->next_node = next;
    return made;
}

int ac_tfl_rule_plain(ac_tfl *r, ac_tfl_node *n)
{
    (void)r, (void)n;
    return AC_OK;
}

/* The shape is the second operand, or else an option; there the list [0] is an old spelling of "scalar". */
int ac_tfl_rule_reshape(ac_tfl *r, ac_tfl_node *n)
{
    ac_ints *shape = &n->attrs.shape.shape;
    if (n->n_in == 2 && n->complex) {
        const ac_maker b = ac_tfl_maker(r, n);
        AC_TRY(ac_operand_values(&b, &n->in[1], shape));
        n->n_in = 1;
    } else if (n->n_in == 2)
        *shape = (ac_ints){0};
    else if (!ac_fb_child(&r->fb, n->table, OP_OPTIONS, "ReshapeOptions").at)
        return ac_error(r->cx, n->at, E0102, "has neither a second operand nor an option that gives the new shape");
    else if (shape->n == 1 && shape->v[0] == 0)
        shape->n = 0;
    return n->complex ? ac_tfl_complex_shape(r, n, shape) : AC_OK;
}

/* The file's own option may be missing or stale; so the type of the result is used. */
int ac_tfl_rule_cast(ac_tfl *r, ac_tfl_node *n)
{
    (void)r;
    n->attrs.cast.to = n->out[0]->dtype;
    return AC_OK;
}

/* Constants quantised in blocks are already f32. */
int ac_tfl_rule_dequantize(ac_tfl *r, ac_tfl_node *n)
{
    const ac_tensor *x = n->in[0];
    if (x->dtype != AC_F32 || !ac_tensor_is_const(x))
        return AC_OK;
    const ac_maker b = ac_tfl_maker(r, n);
    n->op = AC_OP_RESHAPE;
    ac_attrs_init(n->op, &n->attrs);
    n->attrs.shape.shape = ac_make_list(&b, x->rank, x->dim);
    return AC_OK;
}

int ac_tfl_rule_out_type(ac_tfl *r, ac_tfl_node *n)
{
    ac_dtype to = n->out[0]->dtype;
    if (to != AC_I32 && to != AC_I64)
        return ac_error(r->cx, n->at, E0105, "result '%s' is %s, expected i32 or i64", n->out[0]->name,
                        ac_dtype_name(to));
    n->attrs.arg.out_type = to;
    return AC_OK;
}

/* SELECT, the older form: a condition of one dimension chooses whole rows. Ours broadcasts from the right, so it gets
 * dimensions of size 1 at the end:  cond [N], x [N,A,B]  ->  cond [N,1,1]. */
int ac_tfl_rule_select(ac_tfl *r, ac_tfl_node *n)
{
    ac_tensor *cond = n->in[0], *x = n->in[1];
    if (!strcmp(n->code->name, "SELECT_V2") || cond->rank != 1 || x->rank <= 1)
        return AC_OK;
    const ac_maker b = ac_tfl_maker(r, n);
    int64_t dim[AC_MAX_RANK];
    for (int32_t i = 0; i < x->rank; i++)
        dim[i] = i ? 1 : -1;
    n->in[0] = ac_make_reshape(&b, cond, x->rank, dim);
    return n->in[0] ? AC_OK : AC_FAIL;
}

/* Every attribute is an option of the same name; an omitted one keeps its default. */
int ac_tfl_rule_custom(ac_tfl *r, ac_tfl_node *n)
{
    const struct ac_attr_list *set = &ac_attr_sets[ac_ops[n->code->op].attrs];
    ac_fb_vec v = ac_fb_vector(&r->fb, n->table, OP_CUSTOM_OPTIONS, 1);
    if (r->fb.failed)
        return AC_FAIL;
    const ac_span map = {r->fb.bytes.p + v.at, v.n};
    for (int32_t i = 0; i < set->n; i++) {
        const ac_attr_row *a = &set->row[i];
        double x = 0;
        ac_flex found = v.n ? ac_flex_number(map, a->name, &x) : AC_FLEX_ABSENT;
        if (found == AC_FLEX_ABSENT)
            continue;
        if (found == AC_FLEX_BROKEN || !(fabs(x) <= (a->type == AC_A_i32 ? 2147483647.0 : 3.4e38)))
            return ac_error(r->cx, n->at, E0012, "its options are damaged: %s is not a number in range", a->name);
        void *to = (char *)&n->attrs + a->offset;
        if (a->type == AC_A_i32)
            *(ac_a_i32 *)to = (int32_t)x;
        else if (a->type == AC_A_f32)
            *(ac_a_f32 *)to = (float)x;
        else
            *(ac_a_bool *)to = x != 0;
    }
    return AC_OK;
}

/* A custom operator with hidden state: its last operand, which no file contains. */
int ac_tfl_rule_state(ac_tfl *r, ac_tfl_node *n)
{
    AC_TRY(ac_tfl_rule_custom(r, n));
    if (n->sized && n->subgraph) {
        const ac_maker b = ac_tfl_maker(r, n);
        return ac_cannot(&b, "it keeps state in a subgraph, in a model in which data decides sizes");
    }
    ac_tensor **in = AC_NEW_N(r->cx->region, ac_tensor *, n->n_in + 1);
    for (int32_t i = 0; i < n->n_in; i++)
        in[i] = n->in[i];
    ac_tensor *state =
        ac_tensor_new(n->g, ac_strf(r->cx->region, "%s_state", n->out[0]->name), n->in[0]->dtype, 1, (int64_t[]){0});
    state->state = true;
    in[n->n_in++] = state;
    n->in = in;
    return AC_OK;
}
