/* cells.h - SCANs whose body is a layer of cells: each unit of the layer computes its own elements of all states from
 * products of whole states with constant matrices. Then a GPU can give each thread block some units for all steps.
 *
 *     states [batch, units]       of one shape
 *     tensors [batch, m * units]  element q * units + j of a row belongs to unit j, for any q < m
 *     products                    of whole rows of a state, or of a value of this step, with a constant
 *                                 [m * units, depth]
 *
 * LSTM, GRU and simple RNN cells qualify, in both directions, whatever their activations. Phase p of a step computes
 * the products of values of phases before p, then all values that need no later product; phase 0 has those of states.
 *
 * Works before and after pass `state`. Memory: the given region. */
#ifndef AC_IR_OPS_DECODE_CELLS_H
#define AC_IR_OPS_DECODE_CELLS_H
#include "ir/ops/decode/scan.h"

typedef struct ac_cell_product {
    const ac_node *node; /* FULLY_CONNECTED */
    int32_t phase;
    int32_t state;         /* whose rows are multiplied; -1: a value of this step */
    const ac_tensor *x;    /* that value, or the state */
    int64_t depth, groups; /* of a row of x; results of a unit */
} ac_cell_product;

typedef struct ac_cells {
    const ac_graph *body;
    ac_scan scan;
    int64_t batch, units;
    ac_tensor *const *state;   /* before a step */
    ac_tensor **next;          /* after it */
    ac_tensor *const *input;   /* elements of the sequences, then values that all steps read */
    ac_tensor *const *element; /* to collect */
    AC_VEC(ac_cell_product) product;
    int32_t *phase;  /* by tensor of the body: that computes it, -1: unknown */
    int32_t phases;  /* of a step */
    int64_t weights; /* elements of all matrices */
    int64_t padded;  /* .. with rows and columns of whole tiles */
} ac_cells;

/* False: the body is not a layer of cells. Reports nothing. */
bool ac_cells_of(ac_ctx *cx, ac_region *region, const ac_node *n, const ac_graph *body, ac_cells *c);
/* The node of the body that makes t: a follower or a node itself. NULL: t is an input, state or constant. */
const ac_node *ac_cells_maker(const ac_tensor *t);
/* t is slice m of a row: the first group of it in the operand. */
int64_t ac_cells_slice(const ac_cells *c, const ac_node *m);

/* True if a GPU of that compute capability (9.0 is 90) holds the matrices in the registers of one block, or from 9.0 on
 * in those of a cluster of 8 blocks. */
bool ac_cells_fit(const ac_cells *c, int32_t gpu);

#endif
