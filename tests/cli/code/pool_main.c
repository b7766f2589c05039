/* pool_main.c - the self-test of a model m, with its memory and a pool of 2 and 3 threads; for machines.sh and
 * scripts/check_code.py. */
#include "m.h"
#include "arn_pool.h"
#include <stdio.h>
int m_selftest(const m_mem *m);
static _Alignas(M_ARENA_ALIGN) unsigned char arena[M_ARENA_BYTES + 1];
static struct arn_threads threads;
int main(void)
{
    for (int n = 2; n <= 3; n++) {
        m_mem m = {0};
        int status;
        m.arena = arena;
        if (arn_threads_open(&threads, n))
            return 2;
        m.pool = &threads.pool;
        status = m_selftest(&m);
        arn_threads_close(&threads);
        if (status) {
            printf("%d threads: status %d\n", n, status);
            return 1;
        }
    }
    return 0;
}
