/* live.h - from a graph and its execution order to a packing problem: which bytes are needed when.
 *
 * Rules (TFLite's, on lowered steps): a tensor lives from the step that makes it to the last step that reads it, both
 * included; graph inputs live from the first step of the part of the program that reads them (in most, step 0), graph
 * outputs to the last step, state always (in a memory of its own);
 * scratch lives in its step. With `whole` (TFLite's own rule, --reference tflite) inputs and outputs live through the
 * whole run.
 *
 *     nodes      0: y = conv(x)     1: z = relu(y)     2: out = dense(z)
 *     x  input   [0, 1)             overwritten from step 1 on
 *     y          [0, 2)
 *     z          merged into y      the result of relu may be written over its operand, which dies there
 *     out        [2, 3)
 *
 * An input that a step takes row by row (ac_lowered.streamed) has no item; its window is scratch that lives from
 * step 0 on. Where steps run at once, what a step touches lives to the end of its phase (ac_slot_until), and a result
 * takes an operand's place only if no other thread touches that in the phase. A view extends its root's life; an
 * in-place result shares its operand's item. Memory: the region that is given. */
#ifndef AC_PLANNER_GRAPH_LIVE_H
#define AC_PLANNER_GRAPH_LIVE_H
#include "ir/graph/graph.h"
#include "ir/lower/lowered.h"
#include "planner/order/order.h"
#include "planner/pack/slot.h"

/* With several memories: the one that an item has to be in. */
typedef enum ac_live_where { AC_LIVE_ANYWHERE, AC_LIVE_FIRST, AC_LIVE_REST } ac_live_where;

typedef struct ac_live_options {
    bool whole;          /* inputs and outputs live throughout */
    bool preserve_input; /* inputs keep their bytes to the end */
    bool preserve_all;   /* nothing is overwritten: all tensors can be looked at after a run */
    bool inplace;        /* results may take their operand's place */
    bool caller_io;      /* graph inputs and outputs are the caller's own memory, a memory each; inputs are only read */
    ac_bytes align;      /* of every tensor */
    const ac_memory *ram; /* memories for tensors, best first; NULL: one without a limit, named "arena" */
    int32_t n_ram;
    ac_memory state;            /* zeroed: no limit */
    const ac_slot *slot;        /* by step: the phase and thread; NULL: no concurrent steps */
    const ac_live_where *where; /* by tensor id, of roots; scratch is then in the first memory; NULL: anywhere */
} ac_live_options;

typedef struct ac_liveness {
    /* Memories: the first of ram, state, the rest of ram, and with caller_io "in0", ..., "out0", ... */
    ac_problem problem;
    int32_t *item_of;             /* by tensor id: item, -1: none (constant, internal) */
    ac_bytes *delta;              /* by tensor id: offset inside the item */
    const char **alias_how;       /* by tensor id: "view", "in-place" or NULL: has the item to itself */
    ac_tensor **owner;            /* by item: the tensor that named it; NULL: scratch */
    int32_t **scratch_item;       /* by step, by argument: item of a scratch argument, else -1 */
    ac_step *first, *last;        /* by tensor id, inclusive; -1: never */
    struct ac_overlaps *overlaps; /* overlap.h; NULL: results do not start inside operands */
} ac_liveness;

/* step[i] is what runs i-th. */
ac_liveness *ac_live(ac_ctx *cx, ac_region *region, const ac_graph *g, ac_lowered *const *step, int32_t n_steps,
                     ac_live_options opt);

/* Adds to bytes[a] the bytes that all calls of the step read from and write to argument a. */
void ac_live_traffic(const ac_lowered *low, int64_t *bytes);

/* The part (ac_node.part) that reads the graph input first; 0: the first one, or none does. */
int32_t ac_live_part(const ac_tensor *input, ac_lowered *const *step, int32_t n_steps);

/* order.c: the nodes that need code, in execution order. `keep` is the file's order, which the reader has made
 * valid. */
int32_t ac_order_keep(const ac_graph *g, ac_node **order); /* order: room for g->node.n; returns how many */
/* The problem for ac_order_search, with sizes as in ac_live. */
ac_order_problem *ac_order_graph(ac_region *region, const ac_graph *g, ac_lowered *const *step, int32_t n,
                                 ac_live_options opt);

#endif
