/* node.c - the entry: one node, its row's lowering, and what is read off the loops afterwards (scratch, multiply-adds,
 * operands the result may be written over). */
#include "ir/lower/lower.h"
#include "ir/lower/buffers.h"

#include <assert.h>

int ac_lower_refuse(ac_lower *L, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *text = ac_vstrf(L->cx->region, fmt, ap);
    va_end(ap);
    L->refused = true;
    return ac_error(L->cx, L->node->at, E0108, "%s", text);
}

/* Multiply-adds, by the arithmetic of the operator (padding counts as work). Weights are [O,H,W,I], depthwise
 * [1,H,W,C]. */
static int64_t count_macs(const ac_node *n)
{
    const ac_op o = n->op;
    if (o != AC_OP_CONV_2D && o != AC_OP_DEPTHWISE_CONV_2D && o != AC_OP_TRANSPOSE_CONV && o != AC_OP_FULLY_CONNECTED &&
        o != AC_OP_BATCH_MATMUL)
        return 0;
    const int64_t out = ac_tensor_count(n->out[0]);
    const ac_tensor *x = n->in[0], *w = n->in[1];
    const int64_t weights = ac_tensor_count(w);
    if (o == AC_OP_BATCH_MATMUL)
        return x->rank < 2 ? 0 : out * x->dim[n->attrs.matmul.adj_x ? x->rank - 2 : x->rank - 1];
    if (w->rank < 2 || w->dim[0] == 0 || w->dim[w->rank - 1] == 0)
        return 0;
    if (o == AC_OP_DEPTHWISE_CONV_2D)
        return out * (weights / w->dim[w->rank - 1]);
    if (o == AC_OP_TRANSPOSE_CONV)
        return ac_tensor_count(n->in[2]) * (weights / w->dim[w->rank - 1]);
    return out * (weights / w->dim[0]);
}

/* Does every read of t by node m (one element at a time, before the element is written) allow the result to lie over
 * it? */
static bool reads_allow(const ac_node *m, const ac_tensor *t)
{
    const ac_op_row *row = &ac_ops[m->op];
    for (int32_t i = 0; i < m->n_in; i++) {
        if (m->in[i] != t || (i < 32 && row->static_in & AC_IN(i)))
            continue;
        if (!row->map || !(row->overwrite & AC_IN(i)))
            return false;
    }
    return true;
}

/* Operands the result may be placed over exactly: same shape, same bytes per element, and read only element-wise, by
 * head and followers, through inputs whose row allows it. */
static void list_overwrites(ac_lowered *out, const ac_node *n)
{
    ac_tensor *read[64];
    const ac_tensor *result = ac_node_result(n);
    int32_t count = ac_node_reads(n, read, 64);
    if (count > 64)
        count = 64; /* the rest is never overwritten, which is always allowed */
    for (int32_t k = 0; k < count && out->n_overwrite < 8; k++) {
        ac_tensor *t = read[k];
        bool ok = ac_tensor_same_shape(t, result) && ac_dtype_bits(t->dtype) == ac_dtype_bits(result->dtype);
        for (int32_t f = -1; f < n->n_fused && ok; f++)
            ok = reads_allow(f < 0 ? n : n->fused[f], t);
        if (ok)
            out->overwrite[out->n_overwrite++] = t;
    }
}

ac_lowered *ac_lower_node(ac_ctx *cx, ac_region *region, const ac_node *n, const ac_target *t, int32_t variant,
                          bool exact)
{
    return ac_lower_told(cx, region, n, t, variant, exact, NULL);
}

ac_lowered *ac_lower_told(ac_ctx *cx, ac_region *region, const ac_node *n, const ac_target *t, int32_t variant,
                          bool exact, const ac_schedule *told)
{
    const ac_op_row *row = &ac_ops[n->op];
    assert(row->lower && "pass infer has refused operators without a lowering");
    ac_lower L = {
        .cx = cx, .region = region, .target = t, .node = n, .variant = variant, .exact = exact, .result_buf = -1};
    if (told)
        L.told = *told;
    L.out = AC_NEW(region, ac_lowered);
    L.out->node = n;
    const char *note = ac_strf(region, "%s '%s' -> %s", row->text, n->name, ac_tensor_str(cx, ac_node_result(n)));
    ac_lb_open(&L.b, region, ac_strf(region, "%s_%d", row->text, (int)n->id), note);
    if (row->lower(&L) != AC_OK || L.refused)
        return NULL;
    L.out->fn = ac_lb_close(&L.b);
    ac_lo_settle(L.out, -1);
    if (!L.out->macs)
        L.out->macs = count_macs(n);
    list_overwrites(L.out, n);
    return ac_loop_verify(cx, L.out->fn) == AC_OK ? L.out : NULL;
}

ac_lowered *ac_lower_constant(ac_ctx *cx, const ac_node *n)
{
    /* the evaluator runs them, so the target does not matter; this one makes the plainest loops */
    static const ac_target PLAIN = {.name = "constant", .help = "", .features = "", .align = 16};
    ac_diags before = cx->diags;
    ac_lowered *w = ac_lower_node(cx, cx->region, n, &PLAIN, 0, true);
    ac_quietly(cx, before, w ? AC_OK : AC_FAIL);
    return w;
}
