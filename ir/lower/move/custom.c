/* custom.c - lowers operators of --custom: the function calls one of the user, and its code is the contract of that
 * (ir/loop/extern.h). Results do not depend on it. */
#include "ir/loop/extern.h"
#include "ir/lower/entries.h"
#include "ir/ops/decode/custom_sizes.h"

/* The bits of `seen`, 0 or 1, as a value of the type. */
static ac_x value_of(ac_lb *b, ac_x seen, ac_dtype d)
{
    if (d == AC_BOOL)
        return ac_lb_ne(b, seen, ac_lb_i32(b, 0));
    return ac_lb_cast(b, ac_dtype_is_half(d) ? ac_lb_cast(b, seen, AC_F32) : seen, d);
}

static void read_all(ac_lb *b, int32_t buf, ac_x seen)
{
    const ac_dtype d = b->fn->buf.item[buf].dtype;
    const ac_x i = ac_lb_for_n(b, "i", b->fn->buf.item[buf].count);
    ac_x v = ac_lb_load(b, buf, i, 1);
    v = ac_dtype_is_half(d) ? ac_lb_cast(b, v, AC_F32) : v;
    const ac_x any = d == AC_BOOL ? v : ac_lb_ne(b, v, ac_lb_like(b, v, 0));
    ac_lb_set(b, seen, ac_lb_or(b, ac_lb_get(b, seen), ac_lb_cast(b, any, AC_I32)));
    ac_lb_end(b);
}

static void write_all(ac_lb *b, int32_t buf, ac_x seen)
{
    const ac_x i = ac_lb_for_n(b, "i", b->fn->buf.item[buf].count);
    ac_lb_store(b, buf, i, value_of(b, ac_lb_get(b, seen), b->fn->buf.item[buf].dtype));
    ac_lb_end(b);
}

static ac_extern_tensor describe(ac_lower *L, const ac_tensor *t, int32_t buf)
{
    if (!t)
        return (ac_extern_tensor){.buf = -1};
    int32_t *dim = AC_NEW_N(L->region, int32_t, t->rank + 1);
    for (int32_t d = 0; d < t->rank; d++)
        dim[d] = (int32_t)t->dim[d];
    ac_extern_tensor e = {
        .buf = buf, .dtype = t->dtype, .rank = t->rank, .count = (int32_t)ac_tensor_count(t), .dim = dim};
    if (t->quant) {
        e.n_quant = t->quant->n;
        e.axis = t->quant->n > 1 ? t->quant->axis : 0;
        e.scale = t->quant->scale;
        e.zero = t->quant->zero;
    }
    return e;
}

static ac_extern *open_call(ac_lower *L, const ac_custom_sizes *s)
{
    const ac_custom *c = s->c;
    ac_extern *e = AC_NEW(L->region, ac_extern);
    *e = (ac_extern){.name = c->name,
                     .function = c->function,
                     .library = c->library,
                     .defined = c->at.file,
                     .n_in = L->node->n_in,
                     .n_out = L->node->n_out,
                     .n_attr = c->attr.n,
                     .options = s->options,
                     .n_options = s->n_options,
                     .scratch = -1};
    const int32_t single = c->in.n - c->in.item[c->in.n - 1].repeated;
    e->n_in = e->n_in > single ? e->n_in : single; /* operands left out at the end are NULL, like others */
    e->in = AC_NEW_N(L->region, ac_extern_tensor, e->n_in + 1);
    e->out = AC_NEW_N(L->region, ac_extern_tensor, e->n_out + 1);
    e->attr = AC_NEW_N(L->region, ac_extern_attr, e->n_attr + 1);
    for (int32_t i = 0; i < e->n_attr; i++) {
        const ac_custom_value *v = &s->value[i];
        e->attr[i] = (ac_extern_attr){.n = v->n, .i = v->i, .f = v->f, .text = v->text};
    }
    return e;
}

int ac_lo_custom(ac_lower *L)
{
    ac_lb *b = &L->b;
    ac_custom_sizes s;
    int64_t bytes;
    if (L->target->gpu)
        return ac_lower_refuse(L, "a custom operator calls a C function, which a GPU cannot");
    AC_TRY(ac_custom_sizes_of(L->cx, L->node, &s));
    AC_TRY(ac_custom_scratch(&s, &bytes));
    ac_extern *e = open_call(L, &s);
    for (int32_t i = 0; i < e->n_in; i++) {
        ac_tensor *t = ac_node_in(L->node, i);
        e->in[i] = describe(L, t, t ? ac_lo_operand(L, t) : -1);
    }
    for (int32_t i = 0; i < e->n_out; i++)
        e->out[i] = describe(L, L->node->out[i], ac_lo_output_buf(L, i));
    e->scratch = bytes ? ac_lo_scratch(L, "scratch", AC_U8, bytes) : -1;
    e->scratch_bytes = (int32_t)bytes;
    const ac_x seen = ac_lb_var(b, "seen", ac_lb_i32(b, 0));
    const int32_t n = b->fn->buf.n;
    for (int32_t k = 0; k < n; k++)
        if (b->fn->buf.item[k].role == AC_BUF_IN || b->fn->buf.item[k].role == AC_BUF_CONST)
            read_all(b, k, seen);
    for (int32_t k = 0; k < n; k++)
        if (b->fn->buf.item[k].role == AC_BUF_OUT || b->fn->buf.item[k].role == AC_BUF_SCRATCH)
            write_all(b, k, seen);
    b->fn->call = e;
    b->fn->note = ac_strf(L->region, "%s; calls %s", b->fn->note, e->function);
    return AC_OK;
}
