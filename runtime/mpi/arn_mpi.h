/* arn_mpi.h - the processes of mpirun as those of arn_tree.h: blocks are sent from one to another over MPI_COMM_WORLD,
 * in the order of the tree. C99; compile it with mpicc.
 *
 *     struct arn_ranks r;
 *     if (arn_mpi_open(&r))
 *         return 1;
 *     struct arn_tree t = {..., &r};          sums of all processes
 *     r.close(r.with);
 *
 * Errors: 1 where MPI does not start; later ones are MPI's, which ends all processes. */
#ifndef ARN_MPI_H
#define ARN_MPI_H
#include "arn_tree.h"

int arn_mpi_open(struct arn_ranks *r);

#endif
