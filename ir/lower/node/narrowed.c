/* narrowed.c - shadows of f32 for tensors of 16 bits; see narrowed.h. */
#include "ir/lower/node/narrowed.h"

#include <string.h>

/* The floats of a constant, exactly. */
static int widen(ac_ctx *cx, ac_making *w, const ac_promise *p, ac_tensor *t)
{
    const ac_shadow *s = (const ac_shadow *)p;
    const void *from = ac_tensor_force_for(cx, w, s->of);
    const int64_t n = ac_tensor_count(t);
    if (!from)
        return AC_FAIL;
    float *to = ac_making_tensor(cx, w, t, ac_tensor_bytes(t));
    for (int64_t i = 0; i < n; i++)
        to[i] = (float)ac_dtype_get_num(s->of->dtype, from, i);
    t->data = to;
    return AC_OK;
}

static bool same_widened(const ac_promise *p, const ac_tensor *s, const ac_promise *q, const ac_tensor *t,
                         int32_t *left)
{
    (void)s;
    (void)t;
    return ac_tensor_same_bytes(((const ac_shadow *)p)->of, ((const ac_shadow *)q)->of, left);
}

static ac_tensor *shadow_of(ac_shadows *s, ac_tensor *t)
{
    if (!t || !t->narrowed || t->dtype == AC_F32)
        return t;
    for (int32_t i = 0; i < s->item.n; i++)
        if (s->item.item[i]->of == t)
            return s->item.item[i]->tensor;
    ac_shadow *own = AC_NEW(s->region, ac_shadow);
    *own = (ac_shadow){{widen, same_widened, 0}, t, AC_NEW(s->region, ac_tensor)};
    *own->tensor = *t;
    own->tensor->dtype = AC_F32; /* still narrowed: loads of it convert, which schedules may want to know */
    if (ac_tensor_is_const(t)) {
        own->head.hash = ac_tensor_hash(t);
        own->tensor->data = own->tensor->raw = NULL;
        own->tensor->splat = false;
        own->tensor->lazy = &own->head;
    }
    ac_push(s->region, &s->item, own);
    return own->tensor;
}

static ac_node *copy_of(ac_shadows *s, const ac_node *n)
{
    ac_node *own = ac_copy(s->region, n, sizeof *n);
    own->in = AC_NEW_N(s->region, ac_tensor *, n->n_in + 1);
    own->out = AC_NEW_N(s->region, ac_tensor *, n->n_out + 1);
    own->fused = AC_NEW_N(s->region, ac_node *, n->n_fused + 1);
    for (int32_t i = 0; i < n->n_in; i++)
        own->in[i] = shadow_of(s, n->in[i]);
    for (int32_t i = 0; i < n->n_out; i++)
        own->out[i] = shadow_of(s, n->out[i]);
    for (int32_t i = 0; i < n->n_fused; i++)
        own->fused[i] = copy_of(s, n->fused[i]);
    return own;
}

static bool any_narrowed(const ac_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->narrowed)
            return true;
    for (int32_t i = 0; i < n->n_out; i++)
        if (n->out[i]->narrowed)
            return true;
    for (int32_t i = 0; i < n->n_fused; i++)
        if (any_narrowed(n->fused[i]))
            return true;
    return false;
}

const ac_node *ac_shadow_node(ac_shadows *s, const ac_node *n)
{
    return any_narrowed(n) ? copy_of(s, n) : n;
}

static ac_tensor *real_of(const ac_shadows *s, ac_tensor *t)
{
    for (int32_t i = 0; t && i < s->item.n; i++)
        if (s->item.item[i]->tensor == t)
            return s->item.item[i]->of;
    return t;
}

/* Results that the loops read again would be rounded more than once. */
static bool reads_result(const ac_loop_fn *fn, const ac_dtype *as)
{
    for (int32_t x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        if (i->op == AC_L_LOAD && as[i->aux] != AC_NONE && fn->buf.item[i->aux].role == AC_BUF_OUT)
            return true;
    }
    return false;
}

/* The tensor or constant of argument i as it is; its type in memory. */
static ac_dtype real_argument(const ac_shadows *s, ac_lowered *low, int32_t i)
{
    ac_arg *a = &low->arg.item[i];
    ac_tensor *t = real_of(s, a->konst ? a->konst->source : a->tensor);
    if (a->tensor)
        a->tensor = t;
    if (a->konst && t != a->konst->source) {
        a->konst->source = t;
        a->konst->dtype = t->dtype;
    }
    if (t && t->narrowed)
        low->fn->buf.item[i].note = ac_strf(s->region, "%s %s", ac_tensor_str(s->cx, t), t->name);
    return a->kind == AC_ARG_CONST ? a->konst->dtype : a->kind == AC_ARG_TENSOR ? t->dtype : AC_NONE;
}

/* Also for makers: a constant is rounded if one that it is computed from is. */
static int leave(const ac_shadows *s, ac_lowered *low)
{
    ac_dtype *as = AC_NEW_N(s->region, ac_dtype, low->fn->buf.n + 1), any = AC_NONE;
    for (int32_t i = 0; i < low->arg.n; i++) {
        ac_const *k = low->arg.item[i].konst;
        if (k && k->maker && k->maker != low)
            AC_TRY(leave(s, k->maker));
        as[i] = real_argument(s, low, i);
        if (low->fn->buf.item[i].dtype != AC_F32 || !ac_dtype_is_half(as[i]))
            as[i] = AC_NONE;
        any = as[i] != AC_NONE ? as[i] : any;
    }
    if (any == AC_NONE)
        return AC_OK;
    const int32_t last = low->arg.n - 1;
    if (low->arg.item[last].konst && low->arg.item[last].konst->maker == low && low->fn->buf.item[last].dtype == AC_F32)
        as[last] = low->arg.item[last].konst->dtype = any;
    if (reads_result(low->fn, as))
        return ac_error(s->cx, (ac_place){0}, E0901, "%s: a result of 16 bits is read again", low->fn->name);
    low->fn = ac_loop_narrowed(s->cx, s->region, low->fn, as);
    return AC_OK;
}

int ac_shadows_leave(const ac_shadows *s, ac_lowered *low)
{
    for (int32_t i = 0; i < low->held.n; i++)
        low->held.item[i].stored = real_of(s, low->held.item[i].stored);
    return s->item.n ? leave(s, low) : AC_OK;
}
