/* arguments.c - computes the bytes of arguments, and finds those that overlap; see arguments.h. */
#include "prove/facts/arguments.h"

ac_bytes ac_p_arg_bytes(const ac_module *m, int32_t step, int32_t arg)
{
    const ac_call *c = &m->call[step];
    const ac_loop_fn *own = c->low->fn;
    const ac_buf *buf = arg < own->buf.n && own->buf.item[arg].role != AC_BUF_LOCAL ? &own->buf.item[arg]
                                                                                    : &m->fn[c->fn]->buf.item[arg];
    return ac_dtype_size(buf->dtype, buf->count);
}

bool ac_p_arg_written(const ac_module *m, int32_t step, int32_t arg)
{
    const ac_role role = m->fn[m->call[step].fn]->buf.item[arg].role;
    return role == AC_BUF_OUT || role == AC_BUF_INOUT || role == AC_BUF_SCRATCH;
}

/* Is one of these tensors, in the caller's memory from the start, of this root? */
static bool is_given(const ac_io *io, int32_t n, const ac_tensor *root)
{
    for (int32_t i = 0; i < n; i++)
        if (ac_tensor_root(io[i].tensor) == root)
            return true;
    return false;
}

bool ac_p_made_here(const ac_module *m, int32_t step, int32_t arg)
{
    const ac_call *c = &m->call[step];
    if (arg >= c->low->arg.n || c->low->arg.item[arg].kind != AC_ARG_TENSOR ||
        m->fn[c->fn]->buf.item[arg].role != AC_BUF_INOUT || !c->low->arg.item[arg].tensor->def)
        return false;
    const ac_tensor *root = ac_tensor_root(c->low->arg.item[arg].tensor);
    if (is_given(m->input, m->n_inputs, root) || is_given(m->state, m->n_states, root))
        return false;
    for (int32_t k = 0; k < step; k++) {
        const ac_call *before = &m->call[k];
        for (int32_t a = 0; a < before->low->arg.n && a < before->n_arg; a++)
            if (before->low->arg.item[a].kind == AC_ARG_TENSOR && ac_p_arg_written(m, k, a) &&
                ac_tensor_root(before->low->arg.item[a].tensor) == root)
                return false;
    }
    return true;
}

bool ac_p_args_overlap(const ac_module *m, int32_t step, int32_t i, int32_t j)
{
    const ac_bound_arg *a = &m->call[step].arg[i], *b = &m->call[step].arg[j];
    if (a->space != b->space || a->index != b->index || a->space == AC_SPACE_CONST || a->space == AC_SPACE_CHUNK)
        return false;
    return a->offset < b->offset + ac_p_arg_bytes(m, step, j) && b->offset < a->offset + ac_p_arg_bytes(m, step, i);
}
