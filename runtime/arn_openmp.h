/* arn_openmp.h - the threads of OpenMP for models made with --threads N, in a program that has them anyway.
 *
 *     #include "arn_openmp.h"                   compile with -fopenmp
 *     mem.pool = &arn_openmp;                   kws_mem mem, made with --threads 2
 *     kws_run(&mem);
 *
 * Part k is iteration k of a static parallel loop. Nothing is allocated here. Inside of a parallel region of the
 * program the loop has one thread, unless nesting is enabled. Without -fopenmp the parts are done one after the
 * other. */
#ifndef ARN_OPENMP_H
#define ARN_OPENMP_H
#include <stdint.h>

#ifndef ARN_POOL_TYPE /* the same in the header of every model that has threads */
#define ARN_POOL_TYPE
typedef void arn_part_fn(const void *with, int32_t part);
struct arn_pool {
    void (*run)(struct arn_pool *pool, int32_t parts, arn_part_fn *f, const void *with);
};
#endif

static inline void arn_openmp_run(struct arn_pool *pool, int32_t parts, arn_part_fn *f, const void *with)
{
    int32_t part;
    (void)pool;
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1)
#endif
    for (part = 0; part < parts; part++)
        f(with, part);
}

static struct arn_pool arn_openmp = {arn_openmp_run};

#endif
