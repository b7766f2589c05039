/* staged.h - one product of floats whose steps are copied to shared memory some steps ahead; private to its files.
 *
 *     staged.c        sums of threads and slices, the loop over steps, the epilogue
 *     staged_copy.c   what a thread copies of x and of the packed weights
 *
 * Shared memory holds `stages` steps: bm rows of x, each bk + 4 floats, and bk rows of bn weights. Weights are packed
 * [product][column tile][depth][bn], with zeros for columns and depths that do not exist. */
#ifndef AC_IR_LOWER_GPU_STAGED_H
#define AC_IR_LOWER_GPU_STAGED_H
#include "ir/lower/gpu/excite_parts.h"
#include "ir/lower/gpu/plan.h"
#include "ir/lower/gpu/tile.h"

typedef struct ac_gpu_staged {
    ac_gpu_gemm *g;
    ac_gpu_plan p;
    int32_t piece; /* floats of a copy of x */
    bool is_line;  /* the depth is one line of x */
    bool pads;     /* taps may be outside of x */
    int32_t inbox; /* of the block: items of all blocks of its cluster */
    int32_t s;     /* shared memory: stages */
    int32_t rows;  /* ... normalised rows of x */
    ac_x m0, n0;   /* of the block: its first row and column */
    ac_x tile_n;   /* ... its column tile */
    ac_x rank;     /* ... its number in the cluster; 0: without a cluster */
    ac_x first;    /* ... its first step */
    int32_t gate;  /* shared memory: the gates of the images of the block, of all of its steps; -1: none */
    int32_t away;  /* register: the image of each of the thread's rows, less the block's first; -1: there is one */
    int64_t deep, images; /* gates of an image; images that a block's rows may be in */
    ac_x image;           /* of the block: its first image */
    ac_excite_job gates;  /* if g->e: computes the gates */
} ac_gpu_staged;

/* x * by + more */
static inline ac_x ac_gpu_by(ac_lb *b, ac_x x, int64_t by, ac_x more)
{
    return ac_lb_add(b, ac_lo_scaled(b, x, by), more);
}

/* staged_copy.c. slot: the first float of the stage. */
void ac_gpu_staged_walk(ac_gpu_staged *s);               /* sets piece, is_line, pads */
void ac_gpu_staged_rows(const ac_gpu_staged *s, ac_x t); /* where the thread's rows are, into registers */
void ac_gpu_copy_x(const ac_gpu_staged *s, ac_x t, ac_x step, ac_x slot);
void ac_gpu_copy_weights(const ac_gpu_staged *s, ac_x t, ac_x step, ac_x slot);

void ac_gpu_copy_gates(const ac_gpu_staged *s, ac_x t);

/* staged.c */
bool ac_gpu_staged_fits(const ac_gpu_gemm *g);
int ac_gpu_staged_product(ac_gpu_gemm *g);

#endif
