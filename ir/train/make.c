/* make.c - nodes of a training step; see make.h. */
#include "ir/train/make.h"

#include "ir/ops/shape/resolve.h"

ac_tensor *ac_tr_op(const ac_maker *m, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs)
{
    for (int32_t i = 0; i < n_in; i++)
        if (!in[i])
            return NULL;
    ac_tensor *y = ac_tensor_new(m->g, ac_internf(m->cx, "%s_%s", m->name, ac_ops[op].text), AC_NONE, 0, NULL);
    ac_node *n = ac_node_new(m->g, op, m->name, in, n_in, &y, 1);
    n->at = (ac_place){.file = m->g->file, .node = m->name};
    n->part = m->part;
    if (attrs)
        n->attrs = *attrs;
    return ac_node_resolve(m->cx, m->g, n) == AC_OK ? y : NULL;
}

ac_tensor *ac_tr_1(const ac_maker *m, ac_op op, ac_tensor *x)
{
    return ac_tr_op(m, op, &x, 1, NULL);
}

ac_tensor *ac_tr_2(const ac_maker *m, ac_op op, ac_tensor *x, ac_tensor *y)
{
    ac_tensor *in[] = {x, y};
    return ac_tr_op(m, op, in, 2, NULL);
}

ac_tensor *ac_tr_number(const ac_maker *m, double v)
{
    float *one = ac_alloc(m->cx->region, 16);
    *one = (float)v;
    return ac_tensor_const(m->g, ac_internf(m->cx, "%s_c", m->name), AC_F32, 0, NULL, one);
}

ac_tensor *ac_tr_scale(const ac_maker *m, ac_tensor *x, double v)
{
    return ac_tr_2(m, AC_OP_MUL, x, ac_tr_number(m, v));
}

ac_tensor *ac_tr_shift(const ac_maker *m, ac_tensor *x, double v)
{
    return ac_tr_2(m, AC_OP_ADD, x, ac_tr_number(m, v));
}

ac_tensor *ac_tr_share(const ac_maker *m, const ac_train_spec *o, ac_tensor *x)
{
    return o->micro_batches > 1 ? ac_tr_scale(m, x, 1.0 / o->micro_batches) : x;
}

static ac_ints ints(const ac_maker *m, int32_t n, const int64_t *v)
{
    return (ac_ints){n, ac_copy(m->cx->region, v, (size_t)(n + 1) * sizeof *v)};
}

ac_tensor *ac_tr_sum(const ac_maker *m, ac_tensor *x)
{
    static const int64_t AXIS[AC_MAX_RANK + 1] = {0, 1, 2, 3, 4, 5, 6, 7};
    ac_attrs a;
    ac_attrs_init(AC_OP_SUM, &a);
    a.reduce.axes = ints(m, x ? x->rank : 0, AXIS);
    return x && x->rank ? ac_tr_op(m, AC_OP_SUM, &x, 1, &a) : x;
}

ac_tensor *ac_tr_reshape(const ac_maker *m, ac_tensor *x, int32_t rank, const int64_t *dim)
{
    ac_attrs a;
    int64_t own[AC_MAX_RANK + 1] = {0};
    for (int32_t d = 0; d < rank; d++)
        own[d] = dim[d];
    ac_attrs_init(AC_OP_RESHAPE, &a);
    a.shape.shape = ints(m, rank, own);
    return ac_tr_op(m, AC_OP_RESHAPE, &x, 1, &a);
}

ac_tensor *ac_tr_transpose(const ac_maker *m, ac_tensor *x, const int32_t *perm)
{
    ac_attrs a;
    int64_t own[AC_MAX_RANK + 1] = {0};
    for (int32_t d = 0; x && d < x->rank; d++)
        own[d] = perm[d];
    ac_attrs_init(AC_OP_TRANSPOSE, &a);
    a.perm.perm = ints(m, x ? x->rank : 0, own);
    return ac_tr_op(m, AC_OP_TRANSPOSE, &x, 1, &a);
}

ac_tensor *ac_tr_cast(const ac_maker *m, ac_tensor *x, ac_dtype to)
{
    ac_attrs a;
    if (x && x->dtype == to)
        return x;
    ac_attrs_init(AC_OP_CAST, &a);
    a.cast.to = to;
    return ac_tr_op(m, AC_OP_CAST, &x, 1, &a);
}

ac_tensor *ac_tr_assign(const ac_maker *m, ac_tensor *state, ac_tensor *x)
{
    return ac_tr_assign_at(m, state, 0, x);
}

ac_tensor *ac_tr_assign_at(const ac_maker *m, ac_tensor *state, int64_t at, ac_tensor *x)
{
    if (!x)
        return NULL;
    ac_tensor *y = ac_tensor_new(m->g, ac_internf(m->cx, "%s_next", state->name), x->dtype, x->rank, x->dim);
    y->root = state;
    y->view_offset = ac_dtype_size(state->dtype, at);
    ac_node *n = ac_node_new(m->g, AC_OP_ASSIGN, m->name, &x, 1, &y, 1);
    n->at = (ac_place){.file = m->g->file, .node = m->name};
    n->part = m->part;
    return ac_node_resolve(m->cx, m->g, n) == AC_OK ? y : NULL;
}

ac_tensor *ac_tr_state(const ac_maker *m, const char *name, int32_t rank, const int64_t *dim)
{
    ac_tensor *t = ac_tensor_new(m->g, name, AC_F32, rank, dim);
    t->state = true;
    return t;
}
