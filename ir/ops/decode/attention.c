/* attention.c - checks the operands of ATTENTION. */
#include "ir/ops/decode/attention.h"

#include <inttypes.h>

enum { SIZES = 7, STEPS = 6 };

static const char *const NAMES[AC_ATTENTION_OPERANDS] = {"q", "k", "v", "mask", "past_k", "past_v"};

static ac_ints list_of(const ac_node *n, int32_t i)
{
    const ac_attrs_attention *a = &n->attrs.attention;
    const ac_ints list[AC_ATTENTION_OPERANDS] = {a->q, a->k, a->v, a->mask, a->past_k, a->past_v};
    return list[i];
}

/* Extents of the dimensions of operand i, in the order of its steps. */
static void extents_of(const ac_attention *a, int32_t i, int64_t extent[STEPS - 1])
{
    const bool past = i == AC_ATTENTION_PAST_K || i == AC_ATTENTION_PAST_V,
               rows = i == AC_ATTENTION_Q || i == AC_ATTENTION_MASK;
    const bool deep = i == AC_ATTENTION_Q || i == AC_ATTENTION_K || i == AC_ATTENTION_PAST_K;
    extent[0] = a->batch;
    extent[1] = a->groups;
    extent[2] = rows ? a->heads : 1;
    extent[3] = rows ? a->rows : past ? a->past : a->keys - a->past;
    extent[4] = i == AC_ATTENTION_MASK ? a->keys : deep ? a->depth : a->width;
}

/* The steps of operand i; its last element is inside. */
static int read_steps(ac_ctx *cx, const ac_node *n, ac_attention *a, int32_t i)
{
    ac_attention_at *at = &a->at[i];
    const ac_ints list = list_of(n, i);
    const bool heads = i == AC_ATTENTION_Q || i == AC_ATTENTION_MASK;
    int64_t extent[STEPS - 1], step[STEPS] = {0}, last = 0, k = 0;
    at->t = ac_node_in(n, i);
    if (!at->t)
        return list.n ? ac_error(cx, n->at, E0103, "%s has steps, but the operand is missing", NAMES[i]) : AC_OK;
    if (list.n != (heads ? STEPS : STEPS - 1))
        return ac_error(cx, n->at, E0103, "%s has %d numbers, expected %d", NAMES[i], list.n,
                        heads ? STEPS : STEPS - 1);
    for (int32_t d = 0; d < STEPS; d++)
        step[d] = d == 3 && !heads ? 0 : list.v[k++];
    extents_of(a, i, extent);
    bool fits = step[0] >= 0 && step[0] <= INT32_MAX;
    last = step[0];
    for (int32_t d = 1; d < STEPS && fits; d++) {
        fits = step[d] >= 0 && step[d] <= INT32_MAX;
        last += fits ? step[d] * (extent[d - 1] - 1) : 0;
    }
    if (!fits || last >= ac_tensor_count(at->t))
        return ac_error(cx, n->at, E0103, "%s begins at %" PRId64 " and ends after '%s' %s", NAMES[i], step[0],
                        at->t->name, ac_shape_str(cx, at->t));
    *at = (ac_attention_at){at->t, step[0], step[1], step[2], step[3], step[4], step[5]};
    return AC_OK;
}

static int check_types(ac_ctx *cx, const ac_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++) {
        const ac_tensor *t = n->in[i];
        const bool number = t && (t->dtype == AC_F32 || ac_dtype_is_half(t->dtype));
        if (t && !number && !(i == AC_ATTENTION_MASK && t->dtype == AC_BOOL))
            return ac_error(cx, n->at, E0105, "%s '%s' is %s, expected %s", NAMES[i], t->name, ac_dtype_name(t->dtype),
                            i == AC_ATTENTION_MASK ? "f32, f16, bf16 or bool" : "f32, f16 or bf16");
    }
    return AC_OK;
}

int ac_attention_of(ac_ctx *cx, const ac_node *n, ac_attention *out)
{
    const ac_ints size = n->attrs.attention.size;
    const int64_t past = n->attrs.attention.past;
    const ac_dtype scores = n->attrs.attention.scores;
    if (scores != AC_F32 && !ac_dtype_is_half(scores))
        return ac_error(cx, n->at, E0103, "scores are %s, expected f32, f16 or bf16", ac_dtype_name(scores));
    AC_TRY(check_types(cx, n));
    if (size.n != SIZES)
        return ac_error(cx, n->at, E0103, "size has %d numbers, expected %d", size.n, SIZES);
    int64_t all = 1;
    for (int32_t d = 0; d < SIZES; d++)
        if (size.v[d] < 1 || size.v[d] > INT32_MAX)
            return ac_error(cx, n->at, E0103, "size has a dimension of %" PRId64 ", expected 1 to 2147483647",
                            size.v[d]);
    for (int32_t d = 0; d < SIZES; d++)
        if (d != SIZES - 2 && !ac_mul_ok(all, size.v[d], &all)) /* with the scores */
            return ac_error(cx, n->at, E0015, "the scores are more than 63 bits count");
    *out = (ac_attention){size.v[0], size.v[1], size.v[2], size.v[3], size.v[4], size.v[5], size.v[6], .past = past};
    if (past < 0 || past >= out->keys)
        return ac_error(cx, n->at, E0103, "past is %" PRId64 ", expected less than %" PRId64 " keys", past, out->keys);
    for (int32_t i = 0; i < AC_ATTENTION_OPERANDS; i++)
        AC_TRY(read_steps(cx, n, out, i));
    if (!out->at[AC_ATTENTION_PAST_K].t != !past || !out->at[AC_ATTENTION_PAST_V].t != !past)
        return ac_error(cx, n->at, E0103, "past is %" PRId64 ": past_k and past_v are given if it is above 0", past);
    return AC_OK;
}
