/* packed.h - weights of 2, 4 or 8 bits in blocks, several to a byte, and products with them: MatMulNBits, QMoE. */
#ifndef AC_IMPORT_ONNX_PACKED_H
#define AC_IMPORT_ONNX_PACKED_H
#include "import/onnx/proto/onnx.h"

/* Weights [rows, depth] as (code - zero) * scale; blocks of `size` neighbours of a row share a scale and a zero point.
 * Codes of a byte count from its low bits; each block begins at a whole byte. */
typedef struct ac_onx_blocks {
    const char *name;                       /* of the constants that the product gets */
    int64_t rows, depth, size, bits, count; /* count: blocks of a row */
    const uint8_t *codes;
    const uint8_t *zero;              /* a byte for each block; NULL: half the range, or real_zero */
    const uint8_t *scale, *real_zero; /* of type real; real_zero may be NULL */
    ac_dtype real;
    const int32_t *group; /* the block of each column; NULL: in their order */
} ac_onx_blocks;

/* The bytes of a row of `count` codes. */
int64_t ac_onx_packed_bytes(int64_t count, int64_t bits);
/* [rows,count] codes, a byte for each; packed rows begin at whole bytes. */
const uint8_t *ac_onx_codes(ac_region *region, const uint8_t *packed, int64_t rows, int64_t count, int64_t bits);
/* x [..,depth] times the weights, plus bias [rows], a constant or NULL: [..,rows]. Weights stay packed if a block is a
 * whole number of 32-bit words. */
ac_tensor *ac_onx_packed_dense(ac_onx_node *n, const ac_onx_blocks *b, ac_tensor *x, ac_tensor *bias);
/* The bytes of operand i, which must be a constant of `count` elements; *v NULL: left out. */
int ac_onx_constant_bytes(ac_onx_node *n, int32_t i, int64_t count, const uint8_t **v);

#endif
