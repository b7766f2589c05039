/* fused_attention.h - shared by the attentions of com.microsoft: operands as heads, masks, products.
 *
 *     ac_fused_attention a = {.n = n};
 *     a.q = ac_fa_heads(&a, q, h); ...          NULL is allowed: a failure before was reported
 *     AC_TRY(ac_fa_measure(&a));
 *     AC_TRY(ac_onx_result(n, 0, ac_fa_attend(&a))); */
#ifndef AC_IMPORT_ONNX_FUSED_ATTENTION_H
#define AC_IMPORT_ONNX_FUSED_ATTENTION_H
#include "import/onnx/proto/nodes.h"

typedef struct ac_fused_attention {
    ac_onx_node *n;
    int64_t b, s, t, hq, hkv, past; /* t: keys with the past */
    ac_tensor *q, *k, *v;           /* heads as dimension 1 */
    ac_tensor *bias;                /* f32, broadcasts to [B,N,S,T]; NULL: none */
    ac_tensor *sink;                /* [N]: one more key of each head, whose value is 0 */
    double scale, cap;
} ac_fused_attention;

enum { AC_FA_MOST_HEADS = 1 << 16 };

static const int32_t AC_FA_SWAP[AC_MAX_RANK] = {0, 2, 1, 3}; /* [B,S,N,D] <-> [B,N,S,D] */

/* The error: `what`, a tensor of the node, has a shape that does not fit. */
int ac_fa_bad_shape(const ac_fused_attention *a, const char *what, const ac_tensor *t);
/* [B,S,H*D] -> [B,S,H,D] */
ac_tensor *ac_fa_apart(const ac_fused_attention *a, ac_tensor *x, int64_t h);
/* ... -> [B,H,S,D] */
ac_tensor *ac_fa_heads(const ac_fused_attention *a, ac_tensor *x, int64_t h);
/* Sizes, once q, k and v are there. */
int ac_fa_measure(ac_fused_attention *a);
/* softmax(Q K' scale + bias) V as [B,S,N*E] */
ac_tensor *ac_fa_attend(const ac_fused_attention *a);
/* 0, 1, .. as i64 along the queries [1,1,S,1] or the keys [1,1,1,T]. */
ac_tensor *ac_fa_count_up(const ac_fused_attention *a, int64_t count, int32_t axis);
/* Sets the bias to `value` where `sees` is false. */
int ac_fa_keep_only(ac_fused_attention *a, ac_tensor *sees, double value);
/* A bias of numbers [B or 1, N or 1, S, T]. */
int ac_fa_read_bias(ac_fused_attention *a, ac_tensor *x);

#endif
