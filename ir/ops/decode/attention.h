/* attention.h - ATTENTION: softmax(scale * q k' + mask) v for rows of queries that see the same keys.
 *
 *     q, k, v f32 (or f16, bf16), mask f32, bool or none, past_k, past_v or none
 *     size = [batch, groups, heads, rows, keys, depth, width]     heads: of a group, which has its own keys and values
 *     q    = [first, batch, group, head, row, column]             first element, and elements between two neighbours
 *     k, v = [first, batch, group, key, column]                   past_k, past_v: of keys before `past`
 *     mask = [first, batch, group, head, row, key]                0: the same for all
 *     result f32 [batch, rows, groups * heads, width], or with heads_first [batch, groups * heads, rows, width]
 *
 * So operands may be parts of larger tensors, in any order of dimensions. Numbers of a mask are added to the scores;
 * where a mask of bools is false, the score is `hidden`. scores=f16 or bf16: they are rounded to that type then. */
#ifndef AC_IR_OPS_DECODE_ATTENTION_H
#define AC_IR_OPS_DECODE_ATTENTION_H
#include "ir/graph/graph.h"

enum {
    AC_ATTENTION_Q,
    AC_ATTENTION_K,
    AC_ATTENTION_V,
    AC_ATTENTION_MASK,
    AC_ATTENTION_PAST_K,
    AC_ATTENTION_PAST_V,
    AC_ATTENTION_OPERANDS
};

/* Where the elements of an operand are; a step of 0: the operand does not have that dimension. */
typedef struct ac_attention_at {
    ac_tensor *t; /* NULL: the operand is not given */
    int64_t first, batch, group, head, row, column;
} ac_attention_at;

typedef struct ac_attention {
    int64_t batch, groups, heads, rows, keys, depth, width;
    int64_t past; /* keys of past_k; the others begin with row 0 of k */
    ac_attention_at at[AC_ATTENTION_OPERANDS];
} ac_attention;

/* Reads and checks attributes, types and shapes; AC_FAIL: reported. */
int ac_attention_of(ac_ctx *cx, const ac_node *n, ac_attention *out);

#endif
