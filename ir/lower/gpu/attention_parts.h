/* attention_parts.h - the common parts of the schedules of attention on a GPU; private to attention*.c.
 *
 *     attention.c         tiles of keys pass through shared memory
 *     attention_whole.c   all keys and values are in shared memory at once
 *     attention_load.c    loads of operands, results */
#ifndef AC_IR_LOWER_GPU_ATTENTION_PARTS_H
#define AC_IR_LOWER_GPU_ATTENTION_PARTS_H
#include "ir/lower/gpu/attention.h"

enum { THREADS = 128, ROWS = 8, QUAD = 4, CHUNK = 128, LEAST_KEYS = 64, WARPS = THREADS / 32 };

typedef struct tiles {
    ac_attend *v;
    ac_lower *L;
    ac_lb *b;
    int64_t rows;             /* of a group: those of all of its heads */
    int32_t depth, chunks;    /* columns of a tile of keys, and tiles side by side */
    int32_t width, parts;     /* the same of values */
    int32_t pitch, q_pitch;   /* words between rows of a tile of keys, of the queries */
    int32_t keys;             /* of a tile */
    int64_t span;             /* keys whose scores are in shared memory, whole tiles */
    int32_t slices;           /* of a tile of values */
    int32_t q, tile, p, part; /* shared memory: queries, keys or values, scores [key][row], of warps [warp][row] */
    int32_t score, out, own;  /* registers: scores, values, and maximum and sum of row t % 8 */
    int32_t warp[2];          /* registers: reductions go from one to the other */
    ac_x batch, group, row;   /* of the block: its first row */
} tiles;

static inline ac_x num(const tiles *s, int64_t n)
{
    return ac_lb_i32(s->b, n);
}
static inline ac_x plus(const tiles *s, ac_x x, int64_t n)
{
    return ac_lb_add(s->b, x, num(s, n));
}
static inline ac_x times(const tiles *s, ac_x x, int64_t n)
{
    return ac_lo_scaled(s->b, x, n);
}
static inline ac_x over(const tiles *s, ac_x x, int64_t n)
{
    return ac_lb_div(s->b, x, num(s, n));
}
static inline ac_x rest(const tiles *s, ac_x x, int64_t n)
{
    return ac_lb_mod(s->b, x, num(s, n));
}
static inline ac_x open_phase(const tiles *s)
{
    return ac_lb_for(s->b, "t", num(s, 0), num(s, THREADS), 1, AC_MARK_BLOCK);
}
static inline void close_phase(const tiles *s)
{
    ac_lb_end(s->b);
}
/* Element k of the thread's own. */
static inline ac_x own(const tiles *s, ac_x t, int64_t k)
{
    return ac_lb_add(s->b, num(s, k * THREADS), t);
}
static inline ac_x held(const tiles *s, int32_t buf, ac_x t, int64_t k)
{
    return ac_lb_load(s->b, buf, own(s, t, k), 1);
}
static inline void hold(const tiles *s, int32_t buf, ac_x t, int64_t k, ac_x x)
{
    ac_lb_store(s->b, buf, own(s, t, k), x);
}
static inline ac_x shared(const tiles *s, int32_t buf, ac_x at, int32_t lanes)
{
    return ac_lb_load_flags(s->b, buf, at, lanes, lanes > 1 ? AC_F_ALIGNED : 0);
}
static inline ac_x open_passes(const tiles *s, int64_t n)
{
    return ac_lb_for(s->b, "i", num(s, 0), num(s, ac_align_up(n, THREADS) / THREADS), 1, AC_MARK_UNROLL);
}
/* Piece `pass` of each thread, of n; opens a branch. */
static inline ac_x open_piece(const tiles *s, ac_x t, ac_x pass, int64_t n)
{
    const ac_x piece = ac_lb_add(s->b, t, times(s, pass, THREADS));
    ac_lb_if(s->b, n % THREADS ? ac_lb_lt(s->b, piece, num(s, n)) : ac_lb_int(s->b, AC_BOOL, 1));
    return piece;
}
/* Columns of a row in shared memory: 8 lanes read 16 bytes of a row each, without two in a bank. */
static inline int32_t odd_quads(int32_t columns)
{
    return columns / QUAD % 2 ? columns : columns + QUAD;
}

/* Lanes of a slice of values: two groups of four rows, width / 4 of columns. Slices of a tile, at most LEAST_KEYS. */
static inline int32_t lanes_of(const tiles *s)
{
    return s->width / 2;
}
static inline int32_t slices_of(const tiles *s)
{
    int32_t n = 1;
    while (2 * n * lanes_of(s) <= THREADS && n < LEAST_KEYS)
        n *= 2;
    return n;
}
/* The slice of a thread, and the first of its four rows and columns there; opens a branch. */
static inline ac_x open_slice(const tiles *s, ac_x t, ac_x *row, ac_x *column)
{
    const int32_t lanes = lanes_of(s), all = lanes * s->slices;
    const ac_x slice = over(s, t, lanes);
    *row = times(s, rest(s, t, 2), QUAD);
    *column = times(s, over(s, rest(s, t, lanes), 2), QUAD);
    ac_lb_if(s->b, all < THREADS ? ac_lb_lt(s->b, t, num(s, all)) : ac_lb_int(s->b, AC_BOOL, 1));
    return slice;
}

/* attention_load.c. Opens the grid loop: sets batch, group and first row of the block. Blocks of an attention. */
void ac_attend_open_grid(tiles *s);
int64_t ac_attend_blocks(const ac_attention *a);
/* True if four neighbouring columns of operand i are one aligned load. */
bool ac_attend_by_quads(const tiles *s, int32_t i, int64_t columns);
/* ... and can be a late store: it is of f32. */
bool ac_attend_copies(const tiles *s, int32_t i, int64_t columns);
/* Four columns from `column` on into shared memory at `to`; 0 from column `columns` on. late: the copy arrives when a
 * phase waits for it, if it is one. */
void ac_attend_quad(const tiles *s, int32_t i, ac_x head, ac_x row, ac_x column, int64_t columns, int32_t buf, ac_x to,
                    bool late);
/* Four columns of key `key`, which exists. */
void ac_attend_key(const tiles *s, int32_t i, ac_x key, ac_x column, int64_t columns, int32_t buf, ac_x to, bool late);
/* Head and row of query `row` of the group; row `row` of the block, or the last one of the group. */
void ac_attend_split(const tiles *s, ac_x row, ac_x *head, ac_x *of_head);
ac_x ac_attend_row(const tiles *s, ac_x row);
/* A phase: the sums of all slices, [slice][row][column] in buffer `from`, are added, multiplied by part[factors + row]
 * and stored in the result. */
void ac_attend_finish(const tiles *s, int32_t from, int32_t factors);

/* attention_whole.c */
bool ac_gpu_attention_is_whole(ac_attend *v);
int ac_gpu_attention_whole(ac_attend *v);

#endif
