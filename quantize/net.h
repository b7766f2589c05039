/* net.h - a model while it is quantised; private to quantize/. */
#ifndef AC_QUANTIZE_NET_H
#define AC_QUANTIZE_NET_H
#include "ir/graph/graph.h"
#include "quantize/quantize.h"

/* The values of a tensor for all samples, one after the other. */
typedef struct ac_qvalue {
    uint8_t *real, *coded; /* of the model of floats; of the quantised one: the same address until they differ */
    ac_region *real_room, *coded_room;
    int32_t uses; /* by nodes that have not run yet */
} ac_qvalue;

typedef enum ac_qkind { AC_QCONV, AC_QDEPTHWISE, AC_QDENSE, AC_QTCONV } ac_qkind;

/* A product with constant weights. Its sums over `depth` inputs, for each of `groups` * `rows` rows of weights, are at
 * `positions` positions of a sample. */
typedef struct ac_qproduct {
    ac_node *node;
    ac_qkind kind;
    int32_t operand; /* of the node: x */
    ac_tensor *x, *bias, *y;
    int64_t groups, rows, depth; /* rows and depth of a group */
    int64_t channels;            /* of x, of all groups */
    int64_t taps;                /* in `depth`: depth is taps * channels / groups */
    int64_t spread;              /* taps of a transposed convolution, in `rows`; else 1 */
    int64_t positions;
    int64_t ih, iw, oh, ow, kh, kw;
    const float *weight; /* [groups * rows, depth] */
} ac_qproduct;

/* Something that reads a stored tensor, perhaps after moves. */
typedef struct ac_qleaf {
    ac_node *node; /* NULL: an output of the graph */
    int32_t operand;
    ac_tensor *tensor;
    ac_qproduct *product; /* reads it as x; NULL: does something else */
    int32_t *label;       /* of a product: by channel of x */
    int32_t one;          /* of others: the label of all elements */
} ac_qleaf;

/* A tensor that is stored as codes: round(x / step[label]) + zero. */
typedef struct ac_qroot {
    ac_tensor *tensor;
    int32_t bits;
    int32_t axis; /* of the tensor, whose indices have labels */
    int64_t channels;
    int32_t *label; /* by channel; equal labels have equal steps */
    int32_t labels;
    float *step;   /* by label */
    float largest; /* step */
    int32_t zero, lo, hi;
    double top; /* no value is larger, by the operator that makes it; HUGE_VAL */
    double clipped;
    AC_VEC(ac_qleaf) leaf;
} ac_qroot;

/* The integers of a product, as the walk chose them. */
typedef struct ac_qweights {
    int8_t *code; /* in the order of ac_qproduct.weight */
    float *scale; /* by channel of the result */
    int32_t *bias;
    int64_t n; /* channels of the result */
    float x_step;
} ac_qweights;

struct ac_qcode;
typedef struct ac_qstep {
    ac_node *node;
    ac_qproduct *product; /* NULL: anything else */
    struct ac_qcode *code;
    ac_qweights *weights; /* NULL: stays as it is */
} ac_qstep;

typedef struct ac_qnet {
    ac_ctx *cx;
    ac_graph *g;
    const ac_quantize_options *o;
    int64_t samples;
    ac_qstep *step; /* by node */
    int32_t n;
    int32_t *made_by; /* by tensor id: number of the step; -1: an input or constant */
    ac_qvalue *value; /* by tensor id */
    ac_qroot **root;  /* by tensor id; NULL: not stored */
    int32_t n_tensors;
    ac_quantized *result;
} ac_qnet;

/* prepare.c: activations of products become nodes of their own, clips become relu and relu6. */
int ac_q_prepare(ac_graph *g);
/* E0108 for a model that is quantised already, or has state or loops. */
int ac_q_check(const ac_graph *g);

/* product.c. NULL: n is not a product with constant weights of floats. */
ac_qproduct *ac_q_product(ac_qnet *q, ac_node *n);
/* y without the bias, for `samples` samples; weight: [groups * rows, depth]. */
void ac_q_multiply(const ac_qnet *q, const ac_qproduct *p, const float *x, const float *weight, int64_t samples,
                   float *y);
/* The inputs of position `at` of a sample: [taps, channels]. */
void ac_q_gather(const ac_qproduct *p, const float *x, int64_t at, float *to);
/* The channel of x that element k of a row of group g multiplies. */
static inline int64_t ac_q_channel(const ac_qproduct *p, int64_t g, int64_t k)
{
    const int64_t own = p->channels / p->groups;
    return g * own + k % own;
}
static inline int64_t ac_q_results(const ac_qproduct *p) /* channels of the result */
{
    return p->groups * p->rows / p->spread;
}

/* place.c: q->root, and the leaves of each. */
int ac_q_place(ac_qnet *q);
/* The operand that a node only moves the elements of; -1: it does more. */
int32_t ac_q_moved(const ac_node *n);
/* The bounds of the result of an operator that clips; false: it does not. */
bool ac_q_clip(ac_ctx *cx, const ac_node *n, double *lo, double *hi);
/* The stored tensor that t is, or is moved from; NULL. */
ac_qroot *ac_q_root_of(const ac_qnet *q, ac_tensor *t);
bool ac_q_kept(const ac_qnet *q, const char *name);

/* steps.c: the steps and the zero point of r, whose values are x. */
void ac_q_choose(ac_qnet *q, ac_qroot *r, const float *x);
void ac_q_round(const ac_qroot *r, const float *x, int64_t n, float *y); /* to the values of the codes */
/* The label of element i. */
static inline int32_t ac_q_label(const ac_qroot *r, int64_t inner, int64_t i)
{
    return r->labels > 1 ? r->label[i / inner % r->channels] : 0;
}
int64_t ac_q_inner(const ac_qroot *r);

/* weights.c: codes and scales; d: by channel of x, its step over the largest one; y: sums of the model of floats. */
ac_qweights *ac_q_weights(ac_qnet *q, const ac_qproduct *p, const float *x, const float *y, const float *d);
/* The weights that multiply x itself. */
float *ac_q_effective(ac_region *r, const ac_qproduct *p, const ac_qweights *w, const float *d);

/* run.c */
int ac_q_open(ac_qnet *q);
/* Runs step i for one sample; at: by tensor id, where its operands and results are. */
int ac_q_call(ac_qnet *q, int32_t i, void *const *at);
/* Runs step i, which is not a product, for all samples. */
int ac_q_run(ac_qnet *q, int32_t i);
int ac_q_run_as(ac_qnet *q, int32_t i, bool coded);    /* on one of the two values; its results have memory */
bool ac_q_differs(const ac_qnet *q, const ac_node *n); /* an operand has two values */
void ac_q_new(ac_qnet *q, ac_tensor *t, bool coded);   /* memory for its values */
void ac_q_drop(ac_qnet *q, const ac_tensor *t);

/* walk.c */
int ac_q_walk(ac_qnet *q);
void ac_q_add_bias(const ac_qproduct *p, const float *bias, int64_t samples, float *y); /* NULL: none */
double ac_q_db_of_outputs(const ac_qnet *q); /* of all outputs of floats that have values, together */

/* alone.c: ac_quantized_row.alone of stored tensors, on the first samples; after the walk. */
int ac_q_alone(ac_qnet *q, const void *const *sample);

/* rewrite.c: the graph with codes. */
int ac_q_rewrite(ac_qnet *q);

#endif
