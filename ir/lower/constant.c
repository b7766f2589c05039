/* constant.c - the bytes of constants: those of a tensor, or what the loops that make them leave. */
#include "ir/loop/eval/eval.h"
#include "ir/lower/lowered.h"

void *ac_const_operand(ac_ctx *cx, ac_const *k)
{
    union {
        const void *read;
        void *any;
    } p = {ac_const_data(cx, k)};
    return p.any;
}

/* Runs the loops that make a constant; scratch of the maker lives as long as the compilation. */
static int make_const(ac_ctx *cx, ac_const *k)
{
    const ac_lowered *w = k->maker;
    void **data = AC_NEW_N(cx->region, void *, w->arg.n);
    for (int32_t i = 0; i < w->arg.n; i++) {
        const ac_arg *a = &w->arg.item[i];
        if (a->kind == AC_ARG_SCRATCH || a->konst == k) {
            const ac_bytes bytes = a->kind == AC_ARG_SCRATCH ? a->bytes : ac_dtype_size(k->dtype, k->count);
            data[i] = ac_alloc(cx->region, (size_t)bytes + 1);
        } else if (!(data[i] = ac_const_operand(cx, a->konst))) {
            return AC_FAIL;
        }
    }
    int status = 0;
    AC_TRY(ac_eval(cx, w->fn, data, w->arg.n, &status));
    if (status)
        return ac_error(cx, (ac_place){0}, E0901, "constant '%s': its maker stopped with status %d", k->name, status);
    k->data = data[w->arg.n - 1];
    return AC_OK;
}

const void *ac_const_data(ac_ctx *cx, ac_const *k)
{
    if (!k->data && k->source)
        k->data = ac_tensor_force(cx, k->source);
    else if (!k->data && k->maker && make_const(cx, k) != AC_OK)
        return NULL;
    return k->data;
}
