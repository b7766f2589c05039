/* mma.c - computes the part of one thread of a warp in MMA: four results of a product of 16 x 8, from the fragments of
 * all 32.
 *
 *     thread 4 g + q            A: rows g, g + 8 (words 0, 1: word q of the reduction; 2, 3: word q + 4)
 *     0 <= g < 8, 0 <= q < 4    B: column g      (word 0: word q of the reduction; 1: word q + 4)
 *                               results: (g, 2q), (g, 2q + 1), (g + 8, 2q), (g + 8, 2q + 1)
 *
 * as in PTX for mma.m16n8k32 (i8), k16 (f16, bf16) and k8 (tf32). */
#include "ir/loop/kernel.h"

#include <string.h>

/* Element j of a word. */
static float real_of(ac_dtype type, uint32_t word, int32_t j)
{
    const uint16_t half = (uint16_t)(word >> 16 * j);
    if (type == AC_F16)
        return ac_f16_to_f32(half);
    if (type == AC_BF16)
        return ac_bf16_to_f32(half);
    float v;
    word &= ~UINT32_C(0x1fff); /* tf32: 10 bits of mantissa */
    memcpy(&v, &word, sizeof v);
    return v;
}

static int32_t byte_of(uint32_t word, int32_t j)
{
    return (int8_t)(uint8_t)(word >> 8 * j);
}

void ac_mma(ac_dtype type, const ac_mma_words *w, int32_t lane, void *acc, size_t stride)
{
    const int32_t g = lane / 4, q = lane % 4, each = type == AC_I8 ? 4 : type == AC_F32 ? 1 : 2;
    for (int32_t e = 0; e < 4; e++) {
        const int32_t row = e / 2, column = 2 * q + e % 2; /* row: 0 or 1, of the two of the thread */
        int32_t sum = 0;
        float real = 0;
        memcpy(type == AC_I8 ? (void *)&sum : (void *)&real, (char *)acc + (size_t)e * stride, 4);
        for (int32_t k = 0; k < 8; k++) {
            const uint32_t x = w->a[4 * g + k % 4][row + k / 4 * 2], y = w->b[4 * column + k % 4][k / 4];
            for (int32_t j = 0; j < each; j++)
                if (type == AC_I8)
                    sum = (int32_t)((uint32_t)sum + (uint32_t)(byte_of(x, j) * byte_of(y, j)));
                else
                    real += real_of(type, x, j) * real_of(type, y, j); /* the product is exact */
        }
        memcpy((char *)acc + (size_t)e * stride, type == AC_I8 ? (void *)&sum : (void *)&real, 4);
    }
}
