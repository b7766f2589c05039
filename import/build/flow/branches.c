/* branches.c - reads a branch of a file: a constant condition selects one side, any other creates an IF of both; see
 * sub_graphs.h. */
#include "import/build/counted.h"
#include "import/build/flow/sub_graphs.h"
#include "import/build/operands.h"
#include "ir/flow/unroll.h"

/* The dimension along which two results of one type differ or are dynamically sized. -1: none; -2: they cannot get one
 * size, since a tensor has only one dynamically sized dimension. */
static int32_t differing_dim(const ac_tensor *a, const ac_tensor *b)
{
    int32_t at = a->count ? a->count_dim : b->count ? b->count_dim : -1;
    if (a->dtype != b->dtype || a->rank != b->rank || !ac_quant_equal(a->quant, b->quant) ||
        (a->count && b->count && a->count_dim != b->count_dim))
        return -2;
    for (int32_t d = 0; d < a->rank; d++)
        if (a->dim[d] != b->dim[d] && d != at)
            at = at == -1 ? d : -2;
    return at;
}

/* Pads output i of the branch to the size of the other one's, and appends an output: the valid length along dim. */
static int pad_output(ac_maker *b, ac_graph **now, ac_sub *s, int32_t i, int32_t dim, const ac_tensor *other)
{
    ac_sub_enter(b, now, s);
    ac_tensor *t = s->g->output.item[i], *own_count = t->count;
    const int64_t own = t->dim[dim];
    ac_tensor *y = ac_make_counted_longer(b, t, dim, other->dim[dim]);
    ac_tensor *count = own_count ? ac_make_cast(b, ac_make_reshape(b, own_count, 0, NULL), AC_I64)
                                 : ac_make_number(b, AC_I64, (double)own);
    ac_sub_leave(b, now, s);
    if (!y || !count)
        return AC_FAIL;
    s->g->output.item[i] = y;
    ac_push(s->g->region, &s->g->output, count);
    return AC_OK;
}

/* The shape of a result depends on the condition in more than one dimension. */
static int no_common_size(const ac_maker *b, const ac_tensor *condition, const char *result, const ac_tensor *yes,
                          const ac_tensor *no)
{
    if (!b->reading->again)
        return ac_operand_late(b, condition);
    return ac_refuse(
        b->reading, b->at, E0203, b->at.op,
        ac_strf(b->cx->region,
                "result '%s' is %s in one branch and %s in the other: only the length of one dimension may "
                "depend on the condition '%s'",
                result ? result : yes->name, ac_tensor_str(b->cx, yes), ac_tensor_str(b->cx, no), condition->name),
        "fix the condition or a value that it depends on: --const NAME=FILE.npy, with run --input");
}

int ac_sub_alike(ac_maker *b, ac_graph **now, const ac_tensor *condition, ac_sub *yes, ac_sub *no, int32_t i,
                 const char *result, int32_t *dim)
{
    const ac_tensor *x = yes->g->output.item[i], *y = no->g->output.item[i];
    *dim = differing_dim(x, y);
    if (*dim == -2)
        return no_common_size(b, condition, result, x, y);
    if (*dim < 0)
        return AC_OK;
    AC_TRY(pad_output(b, now, yes, i, *dim, y));
    return pad_output(b, now, no, i, *dim, yes->g->output.item[i]);
}

int ac_sub_branches(ac_maker *b, ac_graph **now, ac_tensor *condition, ac_sub *yes, ac_sub *no, int32_t n,
                    const char *const *result, ac_tensor **out)
{
    ac_sub_tensors c = {0};
    int32_t *dim = AC_NEW_N(b->cx->region, int32_t, n + 1), counts = n, sub[2];
    ac_tensor *scalar = ac_make_reshape(b, condition, 0, NULL);
    for (int32_t i = 0; i < n; i++)
        AC_TRY(ac_sub_alike(b, now, condition, yes, no, i, result[i], &dim[i]));
    AC_TRY(ac_sub_captured(b, yes, &c));
    AC_TRY(ac_sub_captured(b, no, &c));
    sub[0] = ac_sub_add(b, yes, &c);
    sub[1] = ac_sub_add(b, no, &c);
    ac_node *made = scalar ? ac_sub_run(b, AC_OP_IF, &scalar, 1, &c, sub, yes) : NULL;
    if (!made)
        return AC_FAIL;
    for (int32_t i = 0; i < n; i++)
        out[i] = dim[i] >= 0 ? ac_counted_as(made->out[i], made->out[counts++], dim[i]) : made->out[i];
    return AC_OK;
}

ac_tensor *ac_sub_condition(const ac_maker *b, ac_tensor *c)
{
    return c && ac_flow_is_condition(b->cx, b->at, c) == AC_OK ? ac_make_reshape(b, c, 0, NULL) : NULL;
}

int ac_sub_if(ac_maker *b, ac_graph **now, ac_tensor *condition, int (*run)(void *own, int32_t which, ac_tensor **out),
              void *own, int32_t n, const char *const *result, ac_tensor **out)
{
    ac_sub branch[2] = {{.g = NULL}, {.g = NULL}};
    double holds;
    if (ac_operand_known(b, &condition)) {
        AC_TRY(ac_operand_scalar(b, &condition, &holds));
        return run(own, holds == 0, out);
    }
    if (!(condition = ac_sub_condition(b, condition)))
        return AC_FAIL;
    for (int32_t k = 0; k < 2; k++) {
        ac_sub_enter(b, now, &branch[k]);
        const int rc = run(own, k, out);
        ac_sub_leave(b, now, &branch[k]);
        AC_TRY(rc);
        for (int32_t i = 0; i < n; i++)
            ac_push(b->cx->region, &branch[k].g->output, out[i]);
    }
    return ac_sub_branches(b, now, condition, &branch[0], &branch[1], n, result, out);
}
