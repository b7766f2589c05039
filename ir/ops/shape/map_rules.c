/* map_rules.c - shape rules of operators that work element by element, and of others whose result is like their
 * operand; and of IF and WHILE, which are removed before their shape is needed. */
#include "ir/ops/decode/axis.h"
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/shape.h"

#include <math.h>

/* Integers with a scale also need one in the result; it is never guessed. */
static int check_scale(ac_ctx *cx, const ac_node *n)
{
    const ac_tensor *x = n->in[0];
    ac_tensor *y = n->out[0];
    if (!x->quant || y->quant || !ac_dtype_is_int(x->dtype) || x->dtype == AC_I32 || x->dtype == AC_I64)
        return AC_OK;
    if (ac_ops[n->op].flags & OF_SCALE) {
        ac_shape_inherit_quant(y, x);
        return AC_OK;
    }
    ac_error(cx, n->at, E0106, "'%s' is quantised, but result '%s' has no scale", x->name, y->name);
    return ac_help(cx, "declare the scale and zero point of '%s'", y->name);
}

/* Two operands of one type, broadcast; the result has their type. */
/* f32 plus bytes without a scale: pass integers adds codes where they are stored. */
static bool adds_bytes(const ac_node *n)
{
    const ac_tensor *y = n->in[1];
    return n->op == AC_OP_ADD && n->in[0]->dtype == AC_F32 && !y->quant && (y->dtype == AC_I8 || y->dtype == AC_U8);
}

int ac_sh_bcast(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_shape_operands(cx, n));
    if (!adds_bytes(n))
        AC_TRY(ac_shape_same_type(cx, n, 0, 1));
    AC_TRY(ac_shape_result_type(cx, n, 0, n->in[0]->dtype));
    AC_TRY(ac_shape_broadcast(cx, n, 3, &rank, dim));
    AC_TRY(ac_shape_set(cx, n, 0, n->in[0]->dtype, rank, dim));
    return check_scale(cx, n);
}

/* The result is stored in a state tensor, which becomes the operand. */
int ac_sh_assign(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0], *y = n->out[0], *r = y->root;
    AC_TRY(ac_shape_set(cx, n, 0, x->dtype, x->rank, x->dim));
    if (!r || !r->state || r->dtype != x->dtype || y->view_offset < 0 ||
        y->view_offset > ac_tensor_bytes(r) - ac_tensor_bytes(x))
        return ac_error(cx, n->at, E0102, "assign must write a view of a state: result '%s' is not one of %s", y->name,
                        ac_tensor_str(cx, x));
    return AC_OK;
}

/* Seed (two words), number of the run or step, number of the micro-batch. */
static int check_numbers(ac_ctx *cx, const ac_node *n, const ac_tensor *r)
{
    if (r->dtype != AC_I32 || r->rank != 1 || r->dim[0] != 4)
        return ac_error(cx, n->at, E0104, "operand '%s' is %s, expected i32 [4]", r->name, ac_tensor_str(cx, r));
    return AC_OK;
}

int ac_sh_random(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    const ac_attrs_random *a = &n->attrs.random;
    const ac_ints shape = a->shape;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(check_numbers(cx, n, n->in[0]));
    const bool real = a->to == AC_F32 || a->to == AC_F64;
    const bool whole = a->to == AC_I32 || a->to == AC_U32 || a->to == AC_I64 || a->to == AC_U64;
    if (a->kind < AC_W_UNIFORM || a->kind > AC_W_TRUNCATED)
        return ac_error(cx, n->at, E0103, "kind is %s, expected uniform, normal or truncated", ac_word_name[a->kind]);
    if (!real && !(whole && a->kind == AC_W_UNIFORM))
        return ac_error(cx, n->at, E0103, "'%s' numbers of %s: f32 and f64 are supported%s", ac_word_name[a->kind],
                        ac_dtype_name(a->to), a->kind == AC_W_UNIFORM ? ", and i32, u32, i64, u64" : "");
    if (!isfinite(a->low) || !isfinite(a->high) || !isfinite(a->high - a->low) || !isfinite(a->mean) ||
        !isfinite(a->deviation))
        return ac_error(cx, n->at, E0103, "a bound of the random numbers is not finite");
    if (shape.n > AC_MAX_RANK)
        return ac_error(cx, n->at, E0205, "the shape has %d dimensions, at most %d are possible", shape.n, AC_MAX_RANK);
    for (int32_t d = 0; d < shape.n; d++) {
        dim[d] = !d && g->batch && g->batch_was > 1 && shape.v[d] == g->batch_was ? g->batch : shape.v[d];
        if (dim[d] < 0)
            return ac_error(cx, n->at, E0103, "dimension %d of the shape is %lld", d, (long long)dim[d]);
    }
    return ac_shape_set(cx, n, 0, a->to, shape.n, dim);
}

/* Operand 1: as of ac_sh_random. */
int ac_sh_dropout(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0], *r = n->in[1];
    const float ratio = n->attrs.dropout.ratio;
    AC_TRY(check_numbers(cx, n, r));
    if (!(ratio >= 0) || !(ratio < 1))
        return ac_error(cx, n->at, E0103, "ratio is %g, expected at least 0 and less than 1", (double)ratio);
    return ac_shape_set(cx, n, 0, x->dtype, x->rank, x->dim);
}

/* Comparisons: operands of one type. The result is bool. */
int ac_sh_compare(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_shape_operands(cx, n));
    if (n->n_in > 1)
        AC_TRY(ac_shape_same_type(cx, n, 0, 1));
    AC_TRY(ac_shape_result_type(cx, n, 0, AC_BOOL));
    AC_TRY(ac_shape_broadcast(cx, n, 3, &rank, dim));
    return ac_shape_set(cx, n, 0, AC_BOOL, rank, dim);
}

/* The same of bool operands. */
int ac_sh_logical(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    AC_TRY(ac_shape_operands(cx, n));
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i]->dtype != AC_BOOL)
            return ac_error(cx, n->at, E0105, "operand '%s' is %s, expected bool", n->in[i]->name,
                            ac_dtype_name(n->in[i]->dtype));
    return ac_sh_compare(cx, g, n);
}

/* x * y + z, all three f32, broadcast. */
int ac_sh_mul_add(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_shape_operands(cx, n));
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i]->dtype != AC_F32)
            return ac_error(cx, n->at, E0105, "operand '%s' is %s, expected f32", n->in[i]->name,
                            ac_dtype_name(n->in[i]->dtype));
    AC_TRY(ac_shape_broadcast(cx, n, 7, &rank, dim));
    return ac_shape_set(cx, n, 0, AC_F32, rank, dim);
}

/* condition ? x : y, all three broadcast. */
int ac_sh_select(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_shape_operands(cx, n));
    if (n->in[0]->dtype != AC_BOOL)
        return ac_error(cx, n->at, E0105, "condition '%s' is %s, expected bool", n->in[0]->name,
                        ac_dtype_name(n->in[0]->dtype));
    AC_TRY(ac_shape_same_type(cx, n, 1, 2));
    AC_TRY(ac_shape_broadcast(cx, n, 7, &rank, dim));
    return ac_shape_set_like(cx, n, 0, n->in[1], rank, dim);
}

/* The result has the shape of the operand, and its type unless `any_type`. */
static int like_operand(ac_ctx *cx, ac_node *n, bool any_type)
{
    const ac_tensor *x = n->in[0];
    if (!any_type)
        AC_TRY(ac_shape_result_type(cx, n, 0, x->dtype));
    AC_TRY(ac_shape_set(cx, n, 0, x->dtype, x->rank, x->dim));
    return check_scale(cx, n);
}

int ac_sh_same(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    return like_operand(cx, n, false);
}

int ac_sh_reverse(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    uint32_t mask;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_axes_of(cx, n, 1, (ac_ints){0}, n->in[0]->rank, false, &mask));
    return like_operand(cx, n, false);
}

int ac_sh_cumsum(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    int32_t axis;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_one_axis(cx, n, 1, -1, n->in[0]->rank, &axis));
    return like_operand(cx, n, false);
}

static int not_scalar(ac_ctx *cx, const ac_node *n)
{
    if (n->in[0]->rank)
        return AC_OK;
    return ac_error(cx, n->at, E0104, "input '%s' is a scalar, expected at least one dimension", n->in[0]->name);
}

/* The result of i8 may be declared i16 (TFLite). */
int ac_sh_softmax(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(not_scalar(cx, n));
    return like_operand(cx, n, n->in[0]->dtype == AC_I8 && n->out[0]->dtype == AC_I16);
}

int ac_sh_log_softmax(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(not_scalar(cx, n));
    return like_operand(cx, n, false);
}

int ac_sh_lrn(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, 0, 4, "[N,H,W,C]"));
    return like_operand(cx, n, false);
}

/* QUANTIZE and DEQUANTIZE: the shape of the operand, the type the result is declared with. */
static int rescaled(ac_ctx *cx, ac_node *n)
{
    const ac_tensor *x = n->in[0];
    if (ac_dtype_is_int(x->dtype) && !x->quant)
        return ac_error(cx, n->at, E0106, "input '%s' is %s without a scale", x->name, ac_dtype_name(x->dtype));
    return ac_shape_set(cx, n, 0, AC_F32, x->rank, x->dim);
}

int ac_sh_quantize(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *y = n->out[0];
    if (y->dtype == AC_NONE || !y->quant) {
        ac_error(cx, n->at, y->dtype == AC_NONE ? E0105 : E0106, "result '%s' of quantize has no declared %s", y->name,
                 y->dtype == AC_NONE ? "type" : "scale");
        return ac_help(cx, "declare the type, scale and zero point of '%s'", y->name);
    }
    return rescaled(cx, n);
}

int ac_sh_dequantize(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_result_type(cx, n, 0, AC_F32));
    return rescaled(cx, n);
}

/* The declared type of the result overrides to=, which is updated. */
int ac_sh_cast(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    ac_attrs_cast *a = &n->attrs.cast;
    if (n->out[0]->dtype != AC_NONE)
        a->to = n->out[0]->dtype;
    if (a->to <= AC_NONE || a->to >= AC_DTYPE_COUNT)
        return ac_error(cx, n->at, E0103, "cast to an unknown type");
    return ac_shape_set(cx, n, 0, a->to, n->in[0]->rank, n->in[0]->dim);
}

int ac_sh_flow(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    for (int32_t i = 0; i < n->n_out; i++) /* pass infer sets shapes from its subgraphs */
        if (n->out[i]->dtype == AC_NONE)
            return ac_error(cx, n->at, E0107, "%s is only supported where pass infer can look into it",
                            ac_ops[n->op].text);
    return AC_OK;
}
