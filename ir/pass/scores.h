/* scores.h - the scores of queries and keys, seen from the weights that a softmax made of them.
 *
 *     ac_scores s = {.g = g, .uses = uses};        uses: by tensor id
 *     if (ac_scores_of(&s, p))                     p is softmax(scale * product + mask), the product's only use */
#ifndef AC_IR_PASS_SCORES_H
#define AC_IR_PASS_SCORES_H
#include "ir/graph/graph.h"

typedef struct ac_scores {
    ac_graph *g;
    const int32_t *uses;
    const ac_node *product;  /* batch_matmul */
    float scale, hidden;     /* hidden: the score that a mask of bools chooses */
    ac_dtype rounded;        /* the scores are rounded to this type */
    ac_tensor *mask;         /* NULL: none */
    const ac_tensor *masked; /* the scores with it: its dimensions are those that the mask is broadcast to */
    bool inverse;            /* a mask of bools is true where the score is hidden */
} ac_scores;

bool ac_scores_of(ac_scores *s, ac_tensor *weights);
/* x, if t is x times one number; *scale is multiplied by it. Else NULL. */
ac_tensor *ac_scores_scaled(ac_graph *g, const ac_tensor *t, float *scale);

#endif
