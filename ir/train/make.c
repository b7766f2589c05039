/* make.c - nodes and tensors of a training step; see make.h. */
#include "ir/train/make.h"

ac_maker ac_train_maker(ac_graph *g, const char *name, int32_t part)
{
    ac_maker m = ac_maker_named(g, name);
    m.part = part;
    return m;
}

ac_tensor *ac_train_share(const ac_maker *m, const ac_train_spec *o, ac_tensor *x)
{
    return o->micro_batches > 1 ? ac_make_mul_number(m, x, 1.0 / o->micro_batches) : x;
}

ac_tensor *ac_train_sum(const ac_maker *m, ac_tensor *x)
{
    return ac_make_reduce(m, AC_OP_SUM, x, x ? (1u << x->rank) - 1 : 0, false);
}

ac_tensor *ac_train_state(const ac_maker *m, const char *name, int32_t rank, const int64_t *dim)
{
    ac_tensor *t = ac_tensor_new(m->g, name, AC_F32, rank, dim);
    t->state = true;
    return t;
}
