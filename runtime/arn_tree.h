/* arn_tree.h - sums of blocks of floats over the micro-batches of a step of training, by a tree that depends on their
 * number alone: the bits are the same for any number of processes. C99, no allocation.
 *
 *     static float room[LEVELS * NAME_GRADIENTS_COUNT];         1 level for 2 micro-batches, 2 up to 4, 3 up to 8
 *     struct arn_tree t = {NAME_gradients(&m), NAME_GRADIENTS_COUNT, room, NAME_MICRO_BATCHES, leaf, &mine, NULL};
 *     status = arn_tree_sum(&t);                 leaf(&mine, k) fills the inputs and calls NAME_backward, for each k
 *     status = status ? status : NAME_update(&m, lr);
 *
 * Leaves lo .. hi - 1 are those up to the largest power of two below their number, plus the rest. With `ranks` (several
 * processes; arn_mpi.h is one way) each process makes the leaves of one range, receives what is added to its own from
 * later processes, and sends its sum to an earlier one; at the end all have the sum of all. Errors: a result other than
 * 0 of leaf or of a rank's function ends the sum and is returned. Source: pairwise summation, Higham 1993. */
#ifndef ARN_TREE_H
#define ARN_TREE_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The processes that share a sum; a result other than 0 is an error. */
struct arn_ranks {
    int32_t rank, n; /* this one, of how many */
    int (*send)(void *with, int32_t to, const float *x, size_t count);
    int (*receive)(void *with, int32_t from, float *x, size_t count);
    int (*share)(void *with, float *x, size_t count); /* all get what rank 0 has */
    void (*stop)(void *with, int status);             /* ends all processes */
    void (*close)(void *with);
    void *with;
};

struct arn_tree {
    float *block; /* where a leaf leaves its floats, and the sum appears */
    size_t count;
    float *room; /* arn_tree_levels(leaves) * count */
    int32_t leaves;
    int (*leaf)(void *with, int32_t k);
    void *with;
    const struct arn_ranks *ranks; /* NULL: this process is alone */
};

int32_t arn_tree_levels(int32_t leaves); /* blocks of room: the depth of the tree */
int arn_tree_sum(const struct arn_tree *t);

#ifdef __cplusplus
}
#endif
#endif
