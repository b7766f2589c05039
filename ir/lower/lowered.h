/* lowered.h - the result of lowering a node: its loops, and the meaning of each of their buffers.
 *
 * A lowered step is a value: planners read its scratch, its accesses and the operands it may overwrite, the binder
 * assigns offsets to its arguments, printers print its function. It names an operator only in texts for people.
 *
 *     for (int32_t i = 0; i < low->arg.n; i++)           arg i is parameter i of low->fn
 *         if (low->arg.item[i].kind == AC_ARG_SCRATCH)
 *             bytes += low->arg.item[i].bytes;
 *
 * Memory: the region it was lowered in. */
#ifndef AC_IR_LOWER_LOWERED_H
#define AC_IR_LOWER_LOWERED_H
#include "ir/graph/graph.h"
#include "ir/loop/loop.h"

/* A constant of the generated program: either bytes (data) or a maker: a lowering without run-time operands that
 * computes it, run when constants are printed or evaluated, never by plan or check. */
typedef struct ac_const {
    const char *name; /* C identifier hint: "conv_3_w" */
    ac_dtype dtype;
    int64_t count; /* elements */
    int32_t align;
    const void *data;         /* NULL until made */
    struct ac_lowered *maker; /* parameter 0..n-2: constants, the last: this constant */
    ac_tensor *source;     /* data comes straight from this constant tensor (no transformation): its bytes are shared */
    struct ac_const *twin; /* whose data this is; NULL: its own */
    ac_region *room;       /* holds only a large data that can be recomputed; NULL: data stays */
    const char *why;       /* of source, for reports: why loops do not compute it of less; NULL: nothing to say */
    uint64_t hash, sum;    /* twins.c: hashes of its maker and of its bytes; 0: not computed yet */
} ac_const;
ac_bytes ac_const_bytes(const ac_const *k);
/* constant.c: the bytes of a constant, computed at first use and then cached. NULL: diagnostic. */
const void *ac_const_data(ac_ctx *cx, ac_const *k);
/* The same, but large ones are cached only until ac_const_drop, and the constants they are computed from are freed with
 * w. */
const void *ac_const_data_for(ac_ctx *cx, ac_making *w, ac_const *k);
void ac_const_drop(ac_const *k);
/* The same as a read-only argument of loops. w NULL: cached; else large ones are freed with w. */
void *ac_const_operand(ac_ctx *cx, ac_making *w, ac_const *k);
/* twins.c: for each of n constants, the first one with the same bytes (same_type: and type). Constants that are not
 * computed yet are not computed for this: they are equal only if their makers are. Cost: linear. */
int32_t *ac_const_twins(ac_region *r, ac_const *const *konst, int32_t n, bool same_type);
/* True if a and b have equal makers; then their hashes are equal. *left: the number of comparisons left. */
bool ac_const_same(const ac_const *a, const ac_const *b, int32_t *left);
uint64_t ac_const_hash(ac_const *k);

/* How a constant holds the rows of a matrix: in blocks of width[0] rows, and of width[1] rows from row `wide` on. A
 * block has the first group of elements of each of its rows, then the second groups, and so on. The last block may be
 * padded with undefined rows. Element k of row r, which is row i of the block that begins with row b (a constant's
 * element may be a word of several of the matrix, the first in its low bits):
 *
 *     constant[((b * steps) + k / group * width + i) * group + k % group] */
typedef struct ac_rows_held {
    ac_tensor *matrix; /* constant: `rows` rows, whatever its shape */
    ac_tensor *stored; /* the same as stored in memory, if loops see a shadow (ir/lower/node/narrowed.h) */
    ac_const *konst;
    ac_dtype dtype; /* of the constant's elements, as loops see them */
    int64_t rows, wide, width[2];
    int64_t steps, group; /* groups of a row; elements of the constant in a group */
} ac_rows_held;

enum { AC_PACKINGS = 4 }; /* vectors in a block of packed weights, at most */
/* The choices that lead from a node to its loops, as data: results of the cost models, or hints to them. 0: the node
 * has no such choice, or, in a hint, the cost model decides. Hints that do not fit node or target are ignored. */
typedef struct ac_schedule {
    int32_t winograd;   /* rows and columns of an output tile of Winograd's convolution, 2 or 4 (winograd.c) */
    int32_t rows, vecs; /* register tile: rows (pixels) by vectors of channels. Results stay bit-identical */
    double cost;        /* estimated cycles; of a hint: not read */
    int32_t pack; /* vectors of channels that the packed weights are blocks of; rows are free. Not with rows, vecs */
    double packed[AC_PACKINGS]; /* cycles with blocks of 1, 2, ...; 0: these do not fit. Unused in a hint */
    const char *refused;        /* why winograd was requested but is not used; NULL */
    int32_t tensor;             /* of a hint: AC_TENSOR_...; chosen: the ac_dtype that tensor cores of a GPU multiply */
    int32_t threads;            /* of a hint: that share the step; 0 or 1: it is not shared */
    const ac_rows_held *held;   /* of a hint: matrices that other steps hold, for steps that look up rows of them */
    int32_t n_held;
} ac_schedule;
/* Tensor cores: for bytes, with equal results; never; or also for floats, rounded to that type before they are
 * multiplied. */
enum { AC_TENSOR_BYTES, AC_TENSOR_OFF, AC_TENSOR_TF32, AC_TENSOR_BF16, AC_TENSOR_F16 };
enum {
    AC_WINOGRAD_CHEAPEST = -1,
    AC_WINOGRAD_NEVER = -2
}; /* of a hint: 2, 4 or none, by the cost model; none, by choice */

typedef enum ac_arg_kind {
    AC_ARG_TENSOR,
    AC_ARG_CONST,
    AC_ARG_SCRATCH,
    AC_ARG_CHUNK
} ac_arg_kind; /* CHUNK: i32[1], see chunks */
typedef struct ac_arg {
    ac_arg_kind kind;
    ac_tensor *tensor; /* TENSOR: it; SCRATCH: the tensor whose rows it holds, NULL: none */
    ac_const *konst;   /* CONST */
    ac_bytes bytes;    /* SCRATCH: size; align is the buffer's */
    bool fresh;        /* SCRATCH: every position (row, column or tile of them) reads only elements that it has
                        * written */
    bool over;         /* SCRATCH: may overlap a dying operand that has been read by then */
    bool rest;         /* SCRATCH: it need not be in the first of several memories */
} ac_arg;

typedef struct ac_lowered {
    const ac_node *node; /* NULL for makers of constants */
    ac_loop_fn *fn;
    AC_VEC(ac_arg) arg; /* one for each parameter of fn, same order */
    int64_t macs;       /* multiply-adds of the node */
    ac_bytes scratch;   /* sum of SCRATCH arguments (each rounded up to 16) */
    /* 0: one call. Else `chunks` calls compute the step, in any order or at the same time; the CHUNK argument holds the
     * number of the chunk. */
    int32_t chunks;
    struct ac_lowered *uncut; /* of a step in chunks: the function that computes all of it in one call */
    double work, slowest;     /* estimated instructions of the whole step and of its slowest chunk; 0: not estimated */
    /* Each element of a result belongs to one iteration of a loop that is marked parallel: no other iteration reads or
     * writes it in this call, not even of an outer loop. So the loop may be cut even if it reads results. */
    bool own_results;
    /* Above 0: `rows` calls compute the step, one for each row of graph input `streamed`, in this order; the CHUNK
     * argument holds the row's number, and the row is in the last row_bytes of scratch argument streamed_arg before the
     * call. */
    int32_t rows;
    int32_t streamed_arg;
    ac_tensor *streamed;
    ac_bytes row_bytes;
    /* Operands the result may be placed over exactly, if they die here (element-wise access) */
    ac_tensor *overwrite[8];
    int32_t n_overwrite;
    AC_VEC(ac_rows_held) held; /* matrices that its constants hold in another order */
    ac_schedule schedule;
    const char *requant;    /* for reports: how sums become bytes, if a form shorter than the reference's is proven */
    const int64_t *traffic; /* of a group: by argument, the bytes that all its calls read and write; NULL: as its loops
                             * say */
    int32_t variants;       /* the variants, of AC_VARIANT_WIDE .., that have an effect here */
    int32_t slower;         /* cost of a variant, in percent of the instructions without it */
    int32_t strips;         /* of a group: the strips of columns that it works in, one after the other; 0: in rows */
    const char *chain;      /* of a group of steps (planner/graph/stripe_group.h): its operators; NULL: one node */
} ac_lowered;

/* twins.c: true if a and b are equal loops over the same constants. Results do not count. */
bool ac_const_args_same(const ac_lowered *a, const ac_lowered *b, int32_t *left);

/* Rows of the result (its first dimension above 1) are the outermost loop and columns the next one, so that the node
 * can run a row at a time (ir/loop/access/part.h). Costs some speed; a family without such a schedule ignores it. */
enum {
    AC_VARIANT_ROWS = 1,
    /* The result may be stored exactly over the input that `overwrite` names, at the price of speed; refused if a
     * family has no such schedule. Only depthwise convolutions have one. */
    AC_VARIANT_INPLACE = 2,
    /* With ROWS. WIDE: a row may read rows that it does not need, if that is faster. LINE_1: lines of one pixel are
     * gathered, which is slower and takes less scratch. */
    AC_VARIANT_WIDE = 4,
    AC_VARIANT_LINE_1 = 8,
    /* With ROWS: sums over all rows and columns grow row by row, in scratch */
    AC_VARIANT_SUMS = 16
};

#endif
