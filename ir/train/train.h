/* train.h - a step of training as a graph: the model, a loss, gradients, and an optimizer that writes weights in place.
 *
 *     ac_train_step s = {.spec = &spec};
 *     AC_TRY(ac_train_weights(cx, g, running, n_running, &s));     before the passes: weights become state
 *     ... passes infer to pad ...
 *     AC_TRY(ac_train_grow(cx, g, &s));                            loss, gradients, updates
 *     ... passes from fold on ...
 *
 * Afterwards the graph's inputs are the model's, the target and the learning rate; its only output is the loss, before
 * the update. State is the weights, the running statistics of normalisations, and that of the optimizer. A weight
 * that is only read in another layout is stored in that (ac_train_to_file converts it).
 *
 * A late step is two parts (ac_node.part). The first one leaves gradients, batch statistics and the loss of a
 * micro-batch in one block of state, `sums`, in the order of the weights, the loss at the end; as shares of means over
 * all micro_batches, so that blocks can be added. The second one updates by the sums in the block. Other steps have no
 * block: a weight is updated as soon as its gradient is complete.
 *
 * Losses are means over all elements; cross_entropy: over all positions, classes along the last dimension, the target
 * holds class ids (i32, i64) of the others, or probabilities of all; of an output that is a softmax it is the entropy
 * of those probabilities. Optimizers are PyTorch's: sgd, momentum, nesterov,
 * adam, adamw, rmsprop (beta2 is its alpha), adagrad.
 *
 * Errors: E0109 and those of shape rules; E0110 for a target that does not fit, no weights to train, a weight without
 * gradient. Memory: the context's region. */
#ifndef AC_IR_TRAIN_TRAIN_H
#define AC_IR_TRAIN_TRAIN_H
#include "ir/graph/graph.h"

typedef enum ac_loss {
    AC_LOSS_CROSS_ENTROPY,
    AC_LOSS_MSE,
    AC_LOSS_L1,
    AC_LOSS_HUBER,
    AC_LOSS_BCE,
    AC_LOSS_NAMED
} ac_loss;
typedef enum ac_optimizer { AC_SGD, AC_MOMENTUM, AC_NESTEROV, AC_ADAM, AC_ADAMW, AC_RMSPROP, AC_ADAGRAD } ac_optimizer;

typedef struct ac_train_adapter {
    const char *pattern;
    int64_t rank;
} ac_train_adapter;

typedef struct ac_train_spec {
    ac_loss loss;
    const char *loss_name; /* AC_LOSS_NAMED: the output that is the loss */
    const char *output;    /* that the loss is of; NULL: the only one */
    ac_dtype target;       /* type of the target; AC_NONE: i64 for cross_entropy, else the output's */
    ac_optimizer optimizer;
    double momentum, weight_decay, beta1, beta2, eps;
    double clip_norm;                        /* of all gradients together; 0: none */
    uint64_t seed;                           /* of random numbers */
    bool late;                               /* gradients and updates are two parts */
    int32_t micro_batches;                   /* of a step; above 1: late */
    const char *const *freeze, *const *only; /* patterns of names, with *; if there are any in only: these alone */
    int32_t n_freeze, n_only;
    const ac_train_adapter *lora; /* weights that match stay, and a product of matrices of this rank is added */
    int32_t n_lora;
} ac_train_spec;

typedef struct ac_train_weight {
    const char *name; /* the file's */
    ac_tensor *state; /* in the step */
    ac_dtype dtype;
    int32_t rank; /* shape in the file */
    int64_t dim[AC_MAX_RANK];
    const void *first;             /* its value in the file, as the step lays it out */
    AC_VEC(ac_transposition) move; /* from the file's layout to that in the step: reshaped before each */
    bool running;                  /* a running statistic: no gradient */
    bool factor;                   /* of a lora: the file has no such weight */
    int64_t at;     /* late: where its gradient (its statistic of the batch) begins in `sums`, in floats */
    ac_tensor *sum; /* ... and that as a tensor; NULL: none */
} ac_train_weight;

/* A weight of the file that is first + B * A: weights number factors and factors + 1 of the step. */
typedef struct ac_train_lora {
    const char *name;
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    const float *first;
    int32_t factors;
} ac_train_lora;

typedef struct ac_train_slot {
    ac_tensor *state;
    int32_t weight; /* laid out like this weight; -1: a single number */
} ac_train_slot;

typedef struct ac_train_step {
    const ac_train_spec *spec;
    AC_VEC(ac_train_weight) weight;
    AC_VEC(ac_train_lora) lora;
    AC_VEC(ac_train_slot) slot; /* state of the optimizer; starts as zero */
    const ac_running *running;
    int32_t n_running;
    ac_tensor *output, *target, *rate, *loss; /* target: NULL with AC_LOSS_NAMED */
    ac_tensor *sums;                          /* late: f32, one dimension */
    AC_VEC(ac_tensor *) random; /* state: seed (two words), step and micro-batch, which dropout uses as a counter */
    const char *output_name;    /* of the model's, in the file */
    bool probabilities;         /* it is the softmax of `output` */
    int64_t classes;            /* the target holds class ids, 0 and more, less than this; 0: it holds no ids */
} ac_train_step;

const char *ac_loss_name(ac_loss l);
bool ac_loss_find(const char *name, ac_loss *out); /* not AC_LOSS_NAMED */
const char *ac_loss_near(const char *name);        /* the most similar name; NULL: none */
bool ac_optimizer_find(const char *name, ac_optimizer *out);

int ac_train_weights(ac_ctx *cx, ac_graph *g, const ac_running *running, int32_t n_running, ac_train_step *s);
int ac_train_grow(ac_ctx *cx, ac_graph *g, ac_train_step *s);
/* Inference by the same weights, as a part of its own after the step: `run` is another graph of the model, whose
 * running statistics are frozen. Before its passes, the constants that are weights of s become state of `own`; after
 * those up to pad, and after ac_train_grow of g, its nodes become g's. Its inputs and outputs follow those of g. */
int ac_train_weights_like(ac_ctx *cx, ac_graph *run, const ac_train_step *s, ac_train_step *own);
int ac_train_add_run(ac_ctx *cx, ac_graph *g, const ac_train_step *s, ac_graph *run, ac_train_step *own);
/* The value of a weight as the file lays it out, from that of the step, and back. */
const void *ac_train_to_file(ac_ctx *cx, const ac_train_weight *w, const void *data);
const void *ac_train_to_step(ac_ctx *cx, const ac_train_weight *w, const void *data);
/* The value of a weight with lora, from its factors as the file would lay them out. */
const float *ac_train_merged(ac_ctx *cx, const ac_train_step *s, int32_t lora, const float *b, const float *a);
/* floats.c: in a graph as read from its file, nodes that depend on quantised weights that train compute in floats, and
 * also in a model with their new values. read: by tensor id, it is an operand of loops. */
int ac_train_floats(ac_ctx *cx, ac_graph *g, const ac_train_spec *o, const bool *read);

/* sums.c, late: the block, of as many floats as there are in the weights, and one; x as the place of w in it holds it,
 * and the loss. */
void ac_train_open_sums(ac_graph *g, ac_train_step *s);
int ac_train_put_sum(ac_ctx *cx, ac_graph *g, const ac_train_step *s, ac_train_weight *w, ac_tensor *x);
int ac_train_put_loss(ac_graph *g, const ac_train_step *s);
/* Nodes of a part come after those of the parts before. */
void ac_train_sort(ac_graph *g);
/* weights.c */
bool ac_train_named(const char *const *pattern, int32_t n, const char *name); /* any of them matches */
bool *ac_train_read(const ac_graph *g, ac_region *r);                         /* as ac_train_floats wants it */
/* For formats that do not mark weights: all constants but single numbers are weights. */
void ac_train_mark(const ac_graph *g);
/* lora.c: the rank of the product that is added to a weight; 0: none. */
int64_t ac_train_rank(const ac_train_spec *o, const ac_tensor *w);
/* The only node that reads t; NULL: none, or several. */
ac_node *ac_train_only_reader(const ac_graph *g, const ac_tensor *t);
int ac_train_branches(ac_ctx *cx, ac_graph *g, const ac_train_step *s); /* branches.c: products with lora */
int ac_train_adapt(ac_ctx *cx, ac_graph *g, ac_train_step *s, const bool *read);
/* loss.c: of s->output; *cotangent: its gradient by s->output. */
int ac_train_loss(ac_ctx *cx, ac_graph *g, ac_train_step *s, ac_tensor **cotangent);
/* products.c: fully_connected of weights that change becomes batch_matmul. */
int ac_train_products(ac_ctx *cx, ac_graph *g);
/* random.c: the states that dropout reads, their seed; and the nodes that advance them, after all readers: from one
 * micro-batch to the next (part 0 of a late step), or to the next step. */
void ac_train_find_random(ac_ctx *cx, ac_graph *g, ac_train_step *s);
int ac_train_count(ac_graph *g, const ac_train_step *s, bool micro_batch);
/* For inference: all elements stay. */
void ac_train_no_dropout(ac_graph *g);
/* weights.c: constant t becomes the state of a weight; then weights that are only read in another layout change to
 * it. */
int ac_train_to_state(ac_ctx *cx, ac_tensor *t, bool running, ac_train_step *s);
void ac_train_layouts(ac_ctx *cx, ac_graph *g, ac_train_step *s);
/* early.c: nodes from number `first` on, the last ones, move up as far as possible: after their operands, and after
 * other readers of the state that they write. */
void ac_train_early(ac_graph *g, int32_t first);
/* optimizer.c: the update of weights by their gradients (grad[i] is that of weight[i]; NULL: none). */
int ac_train_update(ac_ctx *cx, ac_graph *g, ac_train_step *s, ac_tensor **grad);

#endif
