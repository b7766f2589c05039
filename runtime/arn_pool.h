/* arn_pool.h - a few threads for models made with --threads N. For hosts with threads of POSIX or Windows; firmware
 * output never needs it.
 *
 *     static struct arn_threads threads;
 *     if (arn_threads_open(&threads, 2) == 0)
 *         mem.pool = &threads.pool;              kws_mem mem, made with --threads 2
 *     kws_run(&mem);
 *     arn_threads_close(&threads);
 *
 * A run cuts a step into parts and hands them over; part k goes to thread k modulo the number of threads, the caller
 * being thread 0, but a thread that has finished does the parts of one that has not begun: no thread waits for one that
 * sleeps or has no processor. The results do not depend on the assignment. A thread that has nothing to do spins for a
 * short while, because the next step usually follows within microseconds, then sleeps until it is woken. Any other pool
 * can take its place: fill a struct arn_pool of your own (arn_openmp.h has one for OpenMP).
 *
 * Memory: the caller's, nothing is allocated after arn_threads_open (which makes the threads). One pool serves one run
 * at a time; models that run at the same time need a pool each. Errors: those of pthread_create. */
#ifndef ARN_POOL_H
#define ARN_POOL_H
#include <stdint.h>
#ifdef _WIN32
typedef void *arn_thread; /* a HANDLE */
typedef void *arn_lock;   /* an SRWLOCK, and */
typedef void *arn_wake;   /* a CONDITION_VARIABLE: structs of one pointer */
#else
#include <pthread.h>
typedef pthread_t arn_thread;
typedef pthread_mutex_t arn_lock;
typedef pthread_cond_t arn_wake;
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARN_POOL_TYPE /* the same in the header of every model that has threads */
#define ARN_POOL_TYPE
typedef void arn_part_fn(const void *with, int32_t part);
/* Run calls f(with, part) for 0 <= part < parts, at the same time if it can, and waits for all */
struct arn_pool {
    void (*run)(struct arn_pool *pool, int32_t parts, arn_part_fn *f, const void *with);
};
#endif

enum { ARN_MOST_THREADS = 64 };

struct arn_threads {
    struct arn_pool pool;
    int32_t threads; /* with the caller */
    /* The present job: written before `turn` changes, read after. */
    arn_part_fn *f;
    const void *with;
    int32_t parts;
    uint32_t turn;  /* counts jobs; atomic */
    int32_t left;   /* slices of the present job, one for each thread, that are not finished; atomic */
    int32_t asleep; /* threads that wait for `wake`; atomic, changed under the lock */
    int32_t quit;   /* atomic */
    arn_lock lock;
    arn_wake wake;
    struct arn_worker {
        struct arn_threads *of;
        int32_t number;
        uint32_t taken; /* the last job whose slice `number` was taken; atomic */
        arn_thread thread;
    } worker[ARN_MOST_THREADS];
};

int arn_threads_open(struct arn_threads *t, int32_t threads); /* 1..ARN_MOST_THREADS; 0, or an error number */
void arn_threads_close(struct arn_threads *t);                /* after arn_threads_open has succeeded */
/* Linux: thread i runs on processor[i] and nowhere else; 0 is the calling thread. An error number, ENOSYS elsewhere. */
int arn_threads_pin(struct arn_threads *t, const int32_t *processor);

#ifdef __cplusplus
}
#endif
#endif
