/* cells_parts.h - the lowering of a layer of cells, shared by cells.c, cells_products.c and cells_values.c. */
#ifndef AC_IR_LOWER_GPU_CELLS_PARTS_H
#define AC_IR_LOWER_GPU_CELLS_PARTS_H
#include "ir/lower/entries.h"
#include "ir/ops/decode/cells.h"

enum { WIDE = 4, MOST_LANES = 32 };

/* How the threads of a block share a product: `lanes` to a result, `each` results to a group of lanes. */
typedef struct ac_cells_share {
    int64_t results, lanes, each, steps; /* results of a block; steps of vectors */
    int64_t first, slot, sum;            /* numbers of its first: weight of a thread, part sum of a thread, result */
} ac_cells_share;

typedef struct cells {
    ac_lower *L;
    const ac_cells *c;
    const ac_node *n;
    int64_t ranks, threads, units; /* blocks, threads of each, units of a block */
    ac_cells_share *share;         /* by product */
    int64_t held, slots, sums;     /* weights and part sums of a thread; results of a block */
    int64_t pitch, part;           /* elements of a row's copy; of all copies of a block */
    int64_t *row;                  /* by tensor of the body: 1 + its first element there */
    int64_t *own;                  /* by tensor of the body: 1 + its number among the values that a thread keeps */
    int64_t items, rounds;         /* units and copies of a block; of a thread */
    int64_t kept, kept_states;     /* values that a thread keeps for each unit; first are states */
    int32_t weights;               /* buffers */
    int32_t w, sum[2], all, rows, state, seq;
    ac_x g, r, t, s, now; /* loop variables; s mod 2 */
    ac_x d, b, j;         /* of the unit that a thread computes: block of the copy, row, unit */
    int64_t round;
    ac_x *value;     /* by tensor and group: its value in this phase */
    int64_t groups;  /* of one tensor, at most */
    int32_t *loaded; /* by tensor and group: 1 + its number among elements that a thread has loaded */
    int32_t n_loaded;
    int32_t phase;
} cells;

static inline ac_x num(cells *k, int64_t v)
{
    return ac_lb_i32(&k->L->b, v);
}
static inline ac_x times(cells *k, ac_x x, int64_t n)
{
    return ac_lo_scaled(&k->L->b, x, n);
}
static inline ac_x plus(cells *k, ac_x x, ac_x y)
{
    return ac_lb_add(&k->L->b, x, y);
}

/* Element n of the present thread, for all steps. */
static inline ac_x lasting(cells *k, ac_x n)
{
    const ac_x thread = plus(k, times(k, k->r, k->threads), k->t);
    return plus(k, times(k, n, k->ranks * k->threads), thread);
}

/* Group q of t, a value that the thread keeps, for its unit of round `round`. */
static inline ac_x kept_at(cells *k, const ac_tensor *t, int64_t q, int64_t round)
{
    return lasting(k, num(k, (k->own[t->id] - 1 + q) * k->rounds + round));
}

static inline ac_x mine(cells *k, int64_t n)
{
    return plus(k, num(k, n * k->threads), k->t);
}

static inline ac_x in_part(cells *k, ac_x rank, ac_x at)
{
    return plus(k, times(k, rank, k->part), at);
}

/* Where element `at` of row b of t begins, before or after the step. */
static inline ac_x in_row(cells *k, const ac_tensor *t, bool two, ac_x turn, ac_x b, ac_x at)
{
    ac_x from = num(k, k->row[t->id] - 1);
    if (two)
        from = plus(k, times(k, turn, k->c->batch * k->pitch), from);
    return plus(k, plus(k, from, times(k, b, k->pitch)), at);
}

static inline void open_cluster(cells *k)
{
    k->r = k->ranks > 1 ? ac_lb_for(&k->L->b, "r", num(k, 0), num(k, k->ranks), 1, AC_MARK_CLUSTER) : num(k, 0);
}
static inline void close_cluster(cells *k)
{
    if (k->ranks > 1)
        ac_lb_end(&k->L->b);
}
static inline void open_block(cells *k)
{
    k->t = ac_lb_for(&k->L->b, "t", num(k, 0), num(k, k->threads), 1, AC_MARK_BLOCK);
}
static inline void close_block(cells *k)
{
    ac_lb_end(&k->L->b);
}

/* cells_products.c: the constant of all weights; the products of the present phase. */
void ac_cells_pack(cells *k);
void ac_cells_products(cells *k);
/* cells_values.c: the unit, row and copy of round `round` of the present thread, and whether it has one; else they are
 * the last ones. Elements of sequences get numbers and are loaded. The values of the present phase. */
ac_x ac_cells_item(cells *k, int64_t round);
void ac_cells_number_inputs(cells *k);
void ac_cells_load_inputs(cells *k);
int ac_cells_values(cells *k);

#endif
