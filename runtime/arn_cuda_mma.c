/* arn_cuda_mma.c - tensor cores without a GPU: computes PTX's mma.sync.aligned.m16n8k{32,16,8}.row.col for a thread.
 *
 * Thread 4 g + q of a warp holds of A words q and q + 4 of rows g and g + 8 (in the order (g, q), (g + 8, q), (g, q +
 * 4), (g + 8, q + 4)), of B words q and q + 4 of column g, and of the sums (g, 2 q), (g, 2 q + 1), (g + 8, 2 q), (g +
 * 8, 2 q + 1). A word is 4 bytes, 2 halves or a float with 10 significant bits of mantissa. Integer sums wrap. Float
 * sums are rounded after every product, in order; a device's own are as exact, in an order that is not documented. */
#include "arn_cuda_emu.h"

enum { ROWS = 16, COLUMNS = 8, WORDS = 8 };

struct matrices {
    uint32_t a[ROWS][WORDS], b[COLUMNS][WORDS];
};

/* The warp's matrices, out of what its threads hold. */
static void gather(struct matrices *m, const int32_t *a, const int32_t *b, int line)
{
    uint32_t mine[ARN_EMU_WORDS];
    memcpy(mine, a, 4 * sizeof *mine);
    memcpy(mine + 4, b, 2 * sizeof *mine);
    const uint32_t(*all)[ARN_EMU_WORDS] = arn_emu_gather(mine, ARN_EMU_WORDS, line);
    for (int thread = 0; thread < 32; thread++) {
        const int g = thread / 4, q = thread % 4;
        m->a[g][q] = all[thread][0];
        m->a[g + 8][q] = all[thread][1];
        m->a[g][q + 4] = all[thread][2];
        m->a[g + 8][q + 4] = all[thread][3];
        m->b[g][q] = all[thread][4];
        m->b[g][q + 4] = all[thread][5];
    }
}

static int row_of(int k)
{
    return (int)(arn_emu_thread.x % 32 / 4) + k / 2 * 8;
}
static int column_of(int k)
{
    return (int)(arn_emu_thread.x % 4) * 2 + k % 2;
}

void arn_emu_mma_i8(int32_t *c, const int32_t *a, const int32_t *b, int line)
{
    struct matrices m;
    gather(&m, a, b, line);
    for (int k = 0; k < 4; k++)
        for (int w = 0; w < WORDS; w++)
            c[k] = dp4a((int32_t)m.a[row_of(k)][w], (int32_t)m.b[column_of(k)][w], c[k]);
}

static float half(uint32_t h)
{
    const int exponent = h >> 10 & 31;
    const float mantissa = (float)(h & 1023), sign = h & 0x8000 ? -1.0f : 1.0f;
    if (exponent == 31)
        return __uint_as_float((h & 0x8000) << 16 | 0x7f800000u | (h & 1023) << 13);
    return sign * (exponent ? ldexpf(1024 + mantissa, exponent - 25) : ldexpf(mantissa, -24));
}

/* Element j of a word. */
static float real(uint32_t word, int type, int j)
{
    return type == 32   ? __uint_as_float(word & 0xffffe000u)
           : type == 16 ? half(word >> 16 * j & 0xffff)
                        : __uint_as_float(word >> 16 * j << 16);
}

void arn_emu_mma_f32(float *c, const int32_t *a, const int32_t *b, int type, int line)
{
    struct matrices m;
    gather(&m, a, b, line);
    for (int k = 0; k < 4; k++)
        for (int w = 0; w < WORDS; w++)
            for (int j = 0; j < (type == 32 ? 1 : 2); j++) {
                const float product = real(m.a[row_of(k)][w], type, j) * real(m.b[column_of(k)][w], type, j);
                c[k] += product;
            }
}
