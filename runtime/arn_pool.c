/* arn_pool.c - a pool of threads that waits a moment before it sleeps. */
#ifdef __linux__
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_setaffinity_np */
#endif
#endif
#include "arn_pool.h"

#include <errno.h>
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <string.h>
#include <windows.h>
#else
#include <sched.h>
#endif

static void worker(const struct arn_worker *w);

/* ------------------------------------------------------------------ the system */

#ifdef _WIN32
static int open_lock(struct arn_threads *t)
{
    t->lock = t->wake = NULL; /* SRWLOCK_INIT, CONDITION_VARIABLE_INIT */
    return 0;
}

static void close_lock(struct arn_threads *t)
{
    (void)t;
}

static void lock(struct arn_threads *t)
{
    AcquireSRWLockExclusive((SRWLOCK *)(void *)&t->lock);
}

static void unlock(struct arn_threads *t)
{
    ReleaseSRWLockExclusive((SRWLOCK *)(void *)&t->lock);
}

static void sleep_locked(struct arn_threads *t)
{
    SleepConditionVariableSRW((CONDITION_VARIABLE *)(void *)&t->wake, (SRWLOCK *)(void *)&t->lock, INFINITE, 0);
}

static void wake_all(struct arn_threads *t)
{
    WakeAllConditionVariable((CONDITION_VARIABLE *)(void *)&t->wake);
}

static void yield(void)
{
    SwitchToThread();
}

static DWORD WINAPI begin(void *arg)
{
    worker((const struct arn_worker *)arg);
    return 0;
}

static int start_thread(struct arn_worker *w)
{
    w->thread = CreateThread(NULL, 0, begin, w, 0, NULL);
    return w->thread ? 0 : EAGAIN;
}

static void join_thread(struct arn_worker *w)
{
    WaitForSingleObject(w->thread, INFINITE);
    CloseHandle(w->thread);
}
#else
static int open_lock(struct arn_threads *t)
{
    int error = pthread_mutex_init(&t->lock, NULL);
    if (error)
        return error;
    error = pthread_cond_init(&t->wake, NULL);
    if (error)
        pthread_mutex_destroy(&t->lock);
    return error;
}

static void close_lock(struct arn_threads *t)
{
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
}

static void lock(struct arn_threads *t)
{
    pthread_mutex_lock(&t->lock);
}

static void unlock(struct arn_threads *t)
{
    pthread_mutex_unlock(&t->lock);
}

static void sleep_locked(struct arn_threads *t)
{
    pthread_cond_wait(&t->wake, &t->lock);
}

static void wake_all(struct arn_threads *t)
{
    pthread_cond_broadcast(&t->wake);
}

static void yield(void)
{
    sched_yield();
}

static void *begin(void *arg)
{
    worker((const struct arn_worker *)arg);
    return NULL;
}

static int start_thread(struct arn_worker *w)
{
    return pthread_create(&w->thread, NULL, begin, w);
}

static void join_thread(struct arn_worker *w)
{
    pthread_join(w->thread, NULL);
}
#endif

/* ------------------------------------------------------------------ jobs */

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

/* Slice k of a job is parts k, k + threads, ... It runs on its own thread, or on one that has finished while the owner
 * has not begun, since that sleeps or has no processor. taken is the last job it was taken for, so a thread that is too
 * late for a job finds nothing to take, and reads nothing else of it. */
static int take(struct arn_threads *t, int32_t k, uint32_t turn)
{
    uint32_t before = __atomic_load_n(&t->worker[k].taken, __ATOMIC_SEQ_CST);
    return (int32_t)(turn - before) > 0 &&
           __atomic_compare_exchange_n(&t->worker[k].taken, &before, turn, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void work(struct arn_threads *t, int32_t number, uint32_t turn)
{
    for (int32_t i = 0; i < t->threads; i++) {
        const int32_t k = number + i < t->threads ? number + i : number + i - t->threads;
        if (!take(t, k, turn))
            continue;
        for (int32_t part = k; part < t->parts; part += t->threads)
            t->f(t->with, part);
        __atomic_sub_fetch(&t->left, 1, __ATOMIC_SEQ_CST);
    }
}

/* Waits for a job after `seen`; returns its number. A thread that goes to sleep announces that before its last check,
 * and the caller checks for sleepers after it has changed `turn`: one of the two sees the other. */
static uint32_t wait_for_job(struct arn_threads *t, uint32_t seen)
{
    uint32_t turn = seen;
    for (int i = 0; i < SPINS && turn == seen; i++) {
        relax();
        turn = __atomic_load_n(&t->turn, __ATOMIC_SEQ_CST);
    }
    if (turn != seen)
        return turn;
    lock(t);
    __atomic_add_fetch(&t->asleep, 1, __ATOMIC_SEQ_CST);
    while ((turn = __atomic_load_n(&t->turn, __ATOMIC_SEQ_CST)) == seen)
        sleep_locked(t);
    __atomic_sub_fetch(&t->asleep, 1, __ATOMIC_SEQ_CST);
    unlock(t);
    return turn;
}

static void worker(const struct arn_worker *w)
{
    struct arn_threads *t = w->of;
    for (uint32_t turn = 0;;) { /* jobs that others have done meanwhile are missed */
        turn = wait_for_job(t, turn);
        if (get(&t->quit))
            return;
        work(t, w->number, turn);
    }
}

static void start(struct arn_threads *t, uint32_t turn)
{
    __atomic_store_n(&t->turn, turn, __ATOMIC_SEQ_CST);
    if (get(&t->asleep)) {
        lock(t);
        wake_all(t);
        unlock(t);
    }
}

static void run(struct arn_pool *pool, int32_t parts, arn_part_fn *f, const void *with)
{
    struct arn_threads *t = (struct arn_threads *)(void *)pool; /* its first member */
    const uint32_t turn = t->turn + 1;
    t->f = f;
    t->with = with;
    t->parts = parts;
    __atomic_store_n(&t->left, t->threads, __ATOMIC_SEQ_CST);
    if (t->threads > 1)
        start(t, turn);
    else
        t->turn = turn;
    work(t, 0, turn);
    for (int i = 0; get(&t->left) > 0; i++) {
        if (i < SPINS)
            relax();
        else
            yield(); /* more threads than processors: let the others finish */
    }
}

int arn_threads_open(struct arn_threads *t, int32_t threads)
{
    if (threads < 1 || threads > ARN_MOST_THREADS)
        return EINVAL;
    t->pool.run = run;
    t->threads = 1;
    t->turn = 0;
    t->left = t->asleep = t->quit = 0;
    t->worker[0].taken = 0;
    int error = open_lock(t);
    if (error)
        return error;
    for (int32_t i = 1; i < threads; i++) {
        t->worker[i].of = t;
        t->worker[i].number = i;
        t->worker[i].taken = 0;
        error = start_thread(&t->worker[i]);
        if (error) {
            arn_threads_close(t);
            return error;
        }
        t->threads = i + 1; /* read by workers only after `turn` has changed */
    }
    return 0;
}

int arn_threads_pin(struct arn_threads *t, const int32_t *processor)
{
#ifdef __linux__
    for (int32_t i = 0; i < t->threads; i++) {
        cpu_set_t one;
        if (processor[i] < 0 || processor[i] >= CPU_SETSIZE)
            return EINVAL;
        CPU_ZERO(&one);
        CPU_SET((size_t)processor[i], &one);
        const int error = pthread_setaffinity_np(i ? t->worker[i].thread : pthread_self(), sizeof one, &one);
        if (error)
            return error;
    }
    return 0;
#else
    (void)t;
    (void)processor;
    return ENOSYS;
#endif
}

void arn_threads_close(struct arn_threads *t)
{
    __atomic_store_n(&t->quit, 1, __ATOMIC_SEQ_CST);
    start(t, t->turn + 1);
    for (int32_t i = 1; i < t->threads; i++)
        join_thread(&t->worker[i]);
    close_lock(t);
}
