/* blockwise.h - BLOCKWISE_DENSE: weights of 2, 4 or 8 bits; `size` neighbours of a row share a scale and a zero point.
 *
 *     x [..,K] f32  codes [N, bytes] u8  scale [N, blocks] f32  zero [N, blocks] u8, or none  bias [N] f32, or none
 *
 * The first weight of a byte is in its lowest bits. A row is whole blocks: ceil(K / size) of them, each of size * bits
 * bits, which are whole words of 32. A weight is (code - zero) * scale; without the operand `zero`, the attribute is
 * the zero point of all. */
#ifndef AC_IR_OPS_DECODE_BLOCKWISE_H
#define AC_IR_OPS_DECODE_BLOCKWISE_H
#include "ir/graph/graph.h"

enum { AC_BLOCKWISE_X, AC_BLOCKWISE_CODES, AC_BLOCKWISE_SCALE, AC_BLOCKWISE_ZERO, AC_BLOCKWISE_BIAS };

typedef struct ac_blockwise {
    int32_t bits, zero;
    int64_t rows, depth, size, count; /* N, K, weights of a block, blocks of a row */
} ac_blockwise;

/* Reads and checks attributes, types and shapes; AC_FAIL: reported. */
int ac_blockwise_of(ac_ctx *cx, const ac_node *n, ac_blockwise *out);
/* code - zero of constant weights as f32 [N, columns], times their scale if `scaled`; columns: K, or count * size, and
 * then elements past K are undefined. Memory: the context's region. NULL: reported. */
const float *ac_blockwise_floats(ac_ctx *cx, const ac_node *n, const ac_blockwise *w, int64_t columns, bool scaled);

#endif
