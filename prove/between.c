/* between.c - integers that a step can give at most, for the steps that read them: quantised sums fit for some models
 * only because ReLU6 came before.
 *
 * A tensor has what all calls so far have stored to it, or to views of it, joined; inputs and state have anything, and
 * so has what is written by part, by floats, or as another type. That a call finds the bytes of its tensors, and no
 * others, is claimed by bytes.c, that it writes its results as a whole by written.c: together an element that is read
 * is one that was stored. */
#include "prove/between.h"

#include "prove/bytes.h"

/* Bytes of inputs, constants and state come from outside of the calls. */
static ac_left *left_of(ac_between *b, const ac_tensor *t)
{
    const ac_tensor *root = ac_tensor_root(t);
    for (int32_t i = 0; i < b->left.n; i++)
        if (b->left.item[i].root == root)
            return &b->left.item[i];
    ac_push(b->region, &b->left, ((ac_left){.root = root}));
    return &b->left.item[b->left.n - 1];
}

static void from_outside(ac_between *b, const ac_io *io, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        left_of(b, io[i].tensor)->anything = true;
}

void ac_p_between_open(ac_between *b, const ac_module *m, ac_region *r)
{
    *b = (ac_between){.region = r};
    from_outside(b, m->input, m->n_inputs);
    from_outside(b, m->state, m->n_states);
}

static const ac_tensor *tensor_of(const ac_prover *p, int32_t arg)
{
    const ac_lowered *low = p->call->low;
    const bool named = arg < low->arg.n && low->arg.item[arg].kind == AC_ARG_TENSOR;
    return named ? low->arg.item[arg].tensor : NULL;
}

ac_interval ac_p_between_given(const ac_prover *p, int32_t arg)
{
    const ac_buf *buf = &p->fn->buf.item[arg];
    const ac_tensor *t = buf->role == AC_BUF_IN ? tensor_of(p, arg) : NULL;
    const ac_left *l = t ? left_of(p->between, t) : NULL;
    const bool known = l && l->any && !l->anything && l->dtype == buf->dtype;
    return known ? ac_interval_meet(ac_p_range(buf->dtype), l->in) : ac_p_range(buf->dtype);
}

void ac_p_between_leave(const ac_prover *p, const ac_interval *stored, const bool *any)
{
    for (int32_t a = 0; a < p->call->n_arg; a++) {
        const ac_buf *buf = &p->fn->buf.item[a];
        const ac_tensor *t = ac_p_arg_written(p->m, p->step, a) ? tensor_of(p, a) : NULL;
        if (!t)
            continue;
        ac_left *l = left_of(p->between, t);
        l->anything |=
            buf->role != AC_BUF_OUT || ac_dtype_is_float(buf->dtype) || !any[a] || (l->any && l->dtype != buf->dtype);
        if (l->anything)
            continue;
        l->in = l->any ? ac_interval_join(l->in, stored[a]) : stored[a];
        l->dtype = buf->dtype;
        l->any = true;
    }
}
