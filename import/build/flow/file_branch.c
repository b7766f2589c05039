/* file_branch.c - reads a branch of a file: a constant condition selects one alternative, any other creates an IF of
 * both; see file_flow.h. */
#include "import/build/flow/file_flow.h"
#include "import/build/counted.h"
#include "import/build/operands.h"

/* The dimension along which two results of one type differ or are dynamically sized. -1: none; -2: they cannot get one
 * size, since a tensor has only one dynamically sized dimension. */
static int32_t differing_dim(const ac_tensor *a, const ac_tensor *b)
{
    int32_t at = a->count ? a->count_dim : b->count ? b->count_dim : -1;
    if (a->dtype != b->dtype || a->words != b->words || a->rank != b->rank || !ac_quant_equal(a->quant, b->quant) ||
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
    y->words = t->words;
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
        ac_strf(b->cx->region, "fix the condition or a value that it depends on: %s", ac_const_options(b, condition)));
}

int ac_sub_alike(ac_maker *b, ac_graph **now, const ac_tensor *condition, ac_sub_pair *p, int32_t i, const char *result,
                 int32_t *dim)
{
    ac_tensor *const *x = &p->side[0].g->output.item[i], *const *y = &p->side[1].g->output.item[i];
    *dim = differing_dim(*x, *y);
    if (*dim == -2)
        return no_common_size(b, condition, result, *x, *y);
    if (*dim < 0)
        return AC_OK;
    AC_TRY(pad_output(b, now, &p->side[0], i, *dim, *y));
    return pad_output(b, now, &p->side[1], i, *dim, p->side[0].g->output.item[i]);
}

/* An IF of both graphs; its first n outputs are out[]. name[i]: of result i, or NULL. */
static int make_if(const ac_flow *f, ac_tensor *condition, ac_sub_pair *p, int32_t n, const char *const *name,
                   ac_tensor **out)
{
    int32_t *dim = AC_NEW_N(f->b->cx->region, int32_t, n + 1), counts = n;
    for (int32_t i = 0; i < n; i++)
        AC_TRY(ac_sub_alike(f->b, f->now, condition, p, i, name[i], &dim[i]));
    const ac_node *made = ac_sub_run(f->b, AC_OP_IF, &condition, 1, p);
    for (int32_t i = 0; made && i < n; i++)
        out[i] = dim[i] >= 0 ? ac_counted_as(made->out[i], made->out[counts++], dim[i]) : made->out[i];
    return made ? AC_OK : AC_FAIL;
}

/* Appends the values that are not kept to the outputs of s, which is then complete. */
static int push_outputs(ac_flow *f, ac_sub *s, const void *values)
{
    int rc = AC_OK;
    ac_flow_enter(f, s, false);
    for (int32_t i = 0; i < f->n && rc == AC_OK; i++) {
        ac_tensor *t = f->kept[i] ? NULL : ac_flow_tensor(f, values, i);
        if (t)
            ac_push(s->g->region, &s->g->output, t);
        rc = t || f->kept[i] ? AC_OK : AC_FAIL;
    }
    if (rc == AC_OK && f->of->end)
        rc = f->of->end(f);
    ac_flow_leave(f, s, false);
    return rc;
}

static const void *run_rest(ac_flow *f, ac_tensor *index, int32_t first);

/* Alternative `first` if the condition holds, otherwise the next one; index: chooses from all, NULL: there are two. */
static const void *run_both(ac_flow *f, ac_tensor *condition, ac_tensor *index, int32_t first)
{
    ac_region *region = f->b->cx->region;
    ac_sub_pair p = {0};
    const void *value[2];
    const char **name = AC_NEW_N(region, const char *, f->n + 1);
    ac_tensor **out = AC_NEW_N(region, ac_tensor *, f->n + 1);
    int32_t count = 0;
    for (int32_t k = 0; k < 2; k++) {
        ac_flow_enter(f, &p.side[k], false);
        value[k] = k && index ? run_rest(f, index, first + 1) : f->run(f, first + k);
        ac_flow_leave(f, &p.side[k], false);
        if (!value[k])
            return NULL;
    }
    f->kept = AC_NEW_N(region, bool, f->n + 1);
    for (int32_t i = 0; i < f->n; i++) {
        if (f->of->same && f->of->same(f, value[0], value[1], i, &f->kept[i]) != AC_OK)
            return NULL;
        if (!f->kept[i])
            name[count++] = f->name[i];
    }
    if (count && (push_outputs(f, &p.side[0], value[0]) != AC_OK || push_outputs(f, &p.side[1], value[1]) != AC_OK ||
                  make_if(f, condition, &p, count, name, out) != AC_OK))
        return NULL;
    return ac_flow_values(f, value[0], out);
}

/* Alternative `first` or a later one, chosen by an index that is computed at run time. */
static const void *run_rest(ac_flow *f, ac_tensor *index, int32_t first)
{
    if (first == f->count - 1)
        return f->run(f, first);
    ac_tensor *t = ac_make_reshape(f->b, index, 0, NULL);
    ac_tensor *is_first = t ? ac_make_2(f->b, AC_OP_EQUAL, t, ac_make_number(f->b, t->dtype, first)) : NULL;
    return is_first ? run_both(f, is_first, index, first) : NULL;
}

ac_tensor *ac_sub_condition(const ac_maker *b, ac_tensor *c)
{
    return c && ac_flow_is_condition(b->cx, b->at, c) == AC_OK ? ac_make_reshape(b, c, 0, NULL) : NULL;
}

const void *ac_flow_branch(ac_flow *f, ac_tensor *c)
{
    int32_t which;
    f->g = *f->now;
    if (f->count != 1)
        (void)ac_operand_known(f->b, &c);
    if (ac_flow_choose(f->b->cx, f->b->at, c, f->count ? f->count : 2, &which) != AC_OK)
        return NULL;
    if (which >= 0)
        return f->run(f, f->count ? which : !which);
    if (f->count)
        return run_rest(f, c, 0);
    c = f->of->any_type ? ac_flow_truth(f->b, c) : ac_sub_condition(f->b, c);
    return c ? run_both(f, c, NULL, 0) : NULL;
}
