/* step_ranges.c - joins the integers that calls have stored to each tensor: quantised sums of some models fit only
 * because ReLU6 came before.
 *
 * A tensor holds the join of all stores to it, or to views of it, so far. Inputs and state hold any value of their
 * type, as do tensors that are written in part, as floats, or as another type. memory_map.c claims that a call finds
 * the bytes of its tensors, and no others; written.c that it writes its results completely. Together, an element that
 * is read is one that was stored. */
#include "prove/facts/step_ranges.h"

#include "prove/facts/arguments.h"
#include "prove/facts/evaluate.h"

static ac_step_range *range_of(ac_step_ranges *s, const ac_tensor *t)
{
    const ac_tensor *root = ac_tensor_root(t);
    for (int32_t i = 0; i < s->range.n; i++)
        if (s->range.item[i].root == root)
            return &s->range.item[i];
    ac_push(s->region, &s->range, ((ac_step_range){.root = root}));
    return &s->range.item[s->range.n - 1];
}

static void from_outside(ac_step_ranges *s, const ac_io *io, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        range_of(s, io[i].tensor)->anything = true;
}

void ac_step_ranges_open(ac_step_ranges *s, const ac_module *m, ac_region *r)
{
    *s = (ac_step_ranges){.region = r};
    from_outside(s, m->input, m->n_inputs);
    from_outside(s, m->state, m->n_states);
}

static const ac_tensor *tensor_of(const ac_prover *p, int32_t arg)
{
    const ac_lowered *low = p->call->low;
    const bool named = arg < low->arg.n && low->arg.item[arg].kind == AC_ARG_TENSOR;
    return named ? low->arg.item[arg].tensor : NULL;
}

ac_interval ac_step_ranges_given(const ac_step_ranges *s, const ac_prover *p, int32_t arg)
{
    const ac_buf *buf = &p->fn->buf.item[arg];
    const ac_tensor *t = buf->role == AC_BUF_IN ? tensor_of(p, arg) : NULL;
    const ac_interval type = ac_p_range(buf->dtype);
    for (int32_t i = 0; t && i < s->range.n; i++) {
        const ac_step_range *r = &s->range.item[i];
        if (r->root == ac_tensor_root(t))
            return r->any && !r->anything && r->dtype == buf->dtype ? ac_interval_meet(type, r->in) : type;
    }
    return type;
}

void ac_step_ranges_leave(ac_step_ranges *s, const ac_prover *p, int32_t arg, const ac_interval *stored)
{
    const ac_buf *buf = &p->fn->buf.item[arg];
    const ac_tensor *t = ac_p_arg_written(p->m, p->step, arg) ? tensor_of(p, arg) : NULL;
    if (!t)
        return;
    ac_step_range *r = range_of(s, t);
    r->anything |=
        buf->role != AC_BUF_OUT || ac_dtype_is_float(buf->dtype) || !stored || (r->any && r->dtype != buf->dtype);
    if (r->anything)
        return;
    r->in = r->any ? ac_interval_join(r->in, *stored) : *stored;
    r->dtype = buf->dtype;
    r->any = true;
}
