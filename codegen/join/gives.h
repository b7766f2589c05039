/* gives.h - results that blocks of a cluster give each other: which words each block has, and the loop that stores them
 * into the shared memory of the others.
 *
 * Every block has a copy of the whole tensor. A phase stores its results to the block's own copy; then the block stores
 * the words that are its own to all other copies. Block r has words first + j / run * pitch + j % run, j = 0 .. n - 1,
 * with first = r / columns * row + r % columns * column. Words after the tensor's last one are padding. */
#ifndef AC_CODEGEN_JOIN_GIVES_H
#define AC_CODEGEN_JOIN_GIVES_H
#include "ir/loop/builder.h"

enum { AC_CLUSTER_BLOCKS = 8 };

typedef struct ac_gives {
    ac_dtype dtype;
    int64_t part;  /* elements of a copy, with padding */
    int32_t width; /* elements of a word: 4 or 16 bytes */
    int64_t n, run, pitch, columns, row, column;
    bool lone; /* the first block has all of it */
} ac_gives;

/* Of the results that fn stores to `buf`. Iterations of its grid loop are blocks, each / 8 of them to a block of the
 * cluster; flat > 0: they are threads, `flat` to a block, again and again. False: no such words. */
bool ac_gives_of(ac_region *region, const ac_loop_fn *fn, int32_t buf, int64_t flat, ac_gives *to);

/* Element `index` of block r's copy. */
ac_x ac_gives_at(ac_lb *b, const ac_gives *g, ac_x r, ac_x index);

/* In a block loop t over `threads`: stores the words of block r to the copies of the others. */
void ac_gives_give(ac_lb *b, const ac_gives *g, int32_t buf, ac_x r, ac_x t, int64_t threads);

#endif
