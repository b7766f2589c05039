/* arn_mpi.c - processes of mpirun; see arn_mpi.h. */
#include "arn_mpi.h"

#include <mpi.h>

enum { MOST = 1 << 28 }; /* floats in a message: counts of MPI are ints */

static int part_of(size_t left)
{
    return left < (size_t)MOST ? (int)left : MOST;
}

static int send_block(void *with, int32_t to, const float *x, size_t count)
{
    (void)with;
    for (size_t at = 0; at < count; at += MOST)
        if (MPI_Send(x + at, part_of(count - at), MPI_FLOAT, (int)to, 0, MPI_COMM_WORLD) != MPI_SUCCESS)
            return 1;
    return 0;
}

static int receive_block(void *with, int32_t from, float *x, size_t count)
{
    (void)with;
    for (size_t at = 0; at < count; at += MOST)
        if (MPI_Recv(x + at, part_of(count - at), MPI_FLOAT, (int)from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
            return 1;
    return 0;
}

static int share_block(void *with, float *x, size_t count)
{
    (void)with;
    for (size_t at = 0; at < count; at += MOST)
        if (MPI_Bcast(x + at, part_of(count - at), MPI_FLOAT, 0, MPI_COMM_WORLD) != MPI_SUCCESS)
            return 1;
    return 0;
}

static void stop_all(void *with, int status)
{
    (void)with;
    MPI_Abort(MPI_COMM_WORLD, status);
}

static void close_mpi(void *with)
{
    (void)with;
    MPI_Finalize();
}

int arn_mpi_open(struct arn_ranks *r)
{
    int rank, n;
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS || MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
        MPI_Comm_size(MPI_COMM_WORLD, &n) != MPI_SUCCESS)
        return 1;
    r->rank = rank;
    r->n = n;
    r->send = send_block;
    r->receive = receive_block;
    r->share = share_block;
    r->stop = stop_all;
    r->close = close_mpi;
    r->with = NULL;
    return 0;
}
