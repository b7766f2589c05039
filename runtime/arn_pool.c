/* arn_pool.c - a pool of threads that waits a moment before it sleeps. */
#include "arn_pool.h"

#include <errno.h>
#include <sched.h>

/* About 30 microseconds of looking at a flag; then a waiting thread sleeps, and the caller yields. */
enum { SPINS = 2000 };

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int32_t get(const int32_t *p)
{
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

static void work(struct arn_threads *t, int32_t number)
{
    for (int32_t part = number; part < t->parts; part += t->threads)
        t->f(t->with, part);
}

/* Until there is a job after `seen`. A thread that goes to sleep says so before it looks a last time, and the caller
 * asks for sleepers after it has changed `turn`: one of the two sees the other. */
static void wait_for_job(struct arn_threads *t, uint32_t seen)
{
    for (int i = 0; i < SPINS; i++) {
        if (__atomic_load_n(&t->turn, __ATOMIC_SEQ_CST) != seen)
            return;
        relax();
    }
    pthread_mutex_lock(&t->lock);
    __atomic_add_fetch(&t->asleep, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&t->turn, __ATOMIC_SEQ_CST) == seen)
        pthread_cond_wait(&t->wake, &t->lock);
    __atomic_sub_fetch(&t->asleep, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&t->lock);
}

static void *worker(void *arg)
{
    const struct arn_worker *w = arg;
    struct arn_threads *t = w->of;
    for (uint32_t seen = 0;; seen++) { /* no job is missed: the next one waits until all have finished this one */
        wait_for_job(t, seen);
        if (get(&t->quit))
            return NULL;
        work(t, w->number);
        __atomic_sub_fetch(&t->busy, 1, __ATOMIC_SEQ_CST);
    }
}

static void start(struct arn_threads *t)
{
    __atomic_store_n(&t->busy, t->threads - 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&t->turn, 1, __ATOMIC_SEQ_CST);
    if (get(&t->asleep)) {
        pthread_mutex_lock(&t->lock);
        pthread_cond_broadcast(&t->wake);
        pthread_mutex_unlock(&t->lock);
    }
}

static void run(struct arn_pool *pool, int32_t parts, arn_part_fn *f, const void *with)
{
    struct arn_threads *t = (struct arn_threads *)(void *)pool; /* its first member */
    t->f = f;
    t->with = with;
    t->parts = parts;
    if (t->threads > 1)
        start(t);
    work(t, 0);
    for (int i = 0; get(&t->busy) > 0; i++) {
        if (i < SPINS)
            relax();
        else
            sched_yield(); /* more threads than processors: let the others finish */
    }
}

int arn_threads_open(struct arn_threads *t, int32_t threads)
{
    if (threads < 1 || threads > ARN_MOST_THREADS)
        return EINVAL;
    t->pool.run = run;
    t->threads = 1;
    t->turn = 0;
    t->busy = t->asleep = t->quit = 0;
    int error = pthread_mutex_init(&t->lock, NULL);
    if (error)
        return error;
    error = pthread_cond_init(&t->wake, NULL);
    if (error) {
        pthread_mutex_destroy(&t->lock);
        return error;
    }
    for (int32_t i = 1; i < threads; i++) {
        t->worker[i].of = t;
        t->worker[i].number = i;
        error = pthread_create(&t->worker[i].thread, NULL, worker, &t->worker[i]);
        if (error) {
            arn_threads_close(t);
            return error;
        }
        t->threads = i + 1; /* read by workers only after `turn` has changed */
    }
    return 0;
}

void arn_threads_close(struct arn_threads *t)
{
    __atomic_store_n(&t->quit, 1, __ATOMIC_SEQ_CST);
    start(t);
    for (int32_t i = 1; i < t->threads; i++)
        pthread_join(t->worker[i].thread, NULL);
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
}
