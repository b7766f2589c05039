/* tensor_core.c - multiplies a step of a tile by tensor cores: warps of a block share its results, a warp computes wm x
 * wn of them in pieces of 16 x 8 (ir/loop/mma.c has the layout of a piece). All fragments of a step go from shared
 * memory into registers in one phase, the next multiplies. */
#include "ir/lower/gpu/tile.h"

enum { PIECE_ROWS = 16, PIECE_COLUMNS = 8, PIECE_WORDS = 8, PIECES = GPU_STEP / PIECE_WORDS };

/* The thread's part: warp row and column in the block, row and word of its quad in a piece. */
typedef struct part {
    ac_x row, column, g, q;
} part;

static part part_of(const ac_gpu_gemm *g, ac_x t)
{
    ac_lb *b = &g->L->b;
    const int32_t across = g->t.bn / g->t.wn;
    const ac_x warp = ac_lb_div(b, t, ac_lb_i32(b, 32)), lane = ac_lb_mod(b, t, ac_lb_i32(b, 32));
    return (part){ac_lb_mul(b, ac_lb_div(b, warp, ac_lb_i32(b, across)), ac_lb_i32(b, g->t.wm)),
                  ac_lb_mul(b, ac_lb_mod(b, warp, ac_lb_i32(b, across)), ac_lb_i32(b, g->t.wn)),
                  ac_lb_div(b, lane, ac_lb_i32(b, 4)), ac_lb_mod(b, lane, ac_lb_i32(b, 4))};
}

static ac_x scaled(ac_lb *b, ac_x x, int64_t by, ac_x more)
{
    return ac_lb_add(b, ac_lb_mul(b, x, ac_lb_i32(b, by)), more);
}

ac_x ac_gpu_mma_row(const ac_gpu_gemm *g, ac_x t, ac_x i)
{
    ac_lb *b = &g->L->b;
    const part p = part_of(g, t);
    const ac_x two = ac_lb_i32(b, 2), in_piece = scaled(b, ac_lb_mod(b, i, two), PIECE_ROWS / 2, p.g);
    return ac_lb_add(b, p.row, scaled(b, ac_lb_div(b, i, two), PIECE_ROWS, in_piece));
}

ac_x ac_gpu_mma_column(const ac_gpu_gemm *g, ac_x t, ac_x j)
{
    ac_lb *b = &g->L->b;
    const part p = part_of(g, t);
    const ac_x two = ac_lb_i32(b, 2), in_piece = scaled(b, p.q, 2, ac_lb_mod(b, j, two));
    return ac_lb_add(b, p.column, scaled(b, ac_lb_div(b, j, two), PIECE_COLUMNS, in_piece));
}

ac_x ac_gpu_mma_sum(const ac_gpu_gemm *g, ac_x i, ac_x j)
{
    ac_lb *b = &g->L->b;
    const ac_x two = ac_lb_i32(b, 2), in_piece = scaled(b, ac_lb_mod(b, i, two), 2, ac_lb_mod(b, j, two));
    const ac_x piece = scaled(b, ac_lb_div(b, i, two), g->t.tn / 2, ac_lb_div(b, j, two));
    return scaled(b, piece, 4, in_piece);
}

static int32_t words_a(const ac_gpu_gemm *g)
{
    return PIECES * g->t.wm / PIECE_ROWS * 4;
}
int32_t ac_gpu_mma_words(const ac_gpu_gemm *g)
{
    return words_a(g) + PIECES * g->t.wn / PIECE_COLUMNS * 2;
}

static void fetch(const ac_gpu_gemm *g, int32_t pieces_m, int32_t pieces_n)
{
    ac_lb *b = &g->L->b;
    const ac_x t = ac_gpu_threads(g);
    const part p = part_of(g, t);
    const ac_x k = ac_gpu_unrolled(g, "k", PIECES), word = scaled(b, k, PIECE_WORDS, p.q);
    const ac_x i = ac_gpu_unrolled(g, "i", pieces_m);
    for (int32_t e = 0; e < 4; e++) {
        const ac_x row =
            ac_lb_add(b, scaled(b, i, PIECE_ROWS, ac_lb_add(b, p.row, p.g)), ac_lb_i32(b, e % 2 * PIECE_ROWS / 2));
        const ac_x from = scaled(b, ac_lb_add(b, word, ac_lb_i32(b, e / 2 * 4)), g->lda, row);
        const ac_x to = scaled(b, scaled(b, k, pieces_m, i), 4, ac_lb_i32(b, e));
        ac_lb_store(b, g->rx, ac_gpu_own(g, t, to), ac_lb_load(b, g->sx, from, 1));
    }
    ac_lb_end(b);
    const ac_x j = ac_gpu_unrolled(g, "j", pieces_n);
    for (int32_t e = 0; e < 2; e++) {
        const ac_x column = scaled(b, j, PIECE_COLUMNS, ac_lb_add(b, p.column, p.g));
        const ac_x from = scaled(b, ac_lb_add(b, word, ac_lb_i32(b, e * 4)), g->ldb, column);
        const ac_x to = scaled(b, scaled(b, k, pieces_n, j), 2, ac_lb_i32(b, words_a(g) + e));
        ac_lb_store(b, g->rx, ac_gpu_own(g, t, to), ac_lb_load(b, g->sw, from, 1));
    }
    ac_lb_end(b);
    ac_lb_end(b);
    ac_lb_end(b);
}

void ac_gpu_mma_multiply(const ac_gpu_gemm *g)
{
    ac_lb *b = &g->L->b;
    const int32_t pieces_m = g->t.wm / PIECE_ROWS, pieces_n = g->t.wn / PIECE_COLUMNS;
    fetch(g, pieces_m, pieces_n);
    const ac_x t = ac_gpu_threads(g), k = ac_gpu_unrolled(g, "k", PIECES), i = ac_gpu_unrolled(g, "i", pieces_m),
               j = ac_gpu_unrolled(g, "j", pieces_n);
    const ac_x sum = ac_lb_mul(b, scaled(b, i, pieces_n, j), ac_lb_i32(b, 4));
    const ac_x x = ac_lb_mul(b, scaled(b, k, pieces_m, i), ac_lb_i32(b, 4));
    const ac_x w = scaled(b, scaled(b, k, pieces_n, j), 2, ac_lb_i32(b, words_a(g)));
    ac_lb_mma(b, g->elem, g->acc, ac_gpu_own(g, t, sum), g->rx, ac_gpu_own(g, t, x), ac_gpu_own(g, t, w));
    for (int n = 0; n < 4; n++)
        ac_lb_end(b);
}
