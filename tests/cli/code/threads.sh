#!/bin/sh
# --threads N: the same bits for every N, with every backend, with more and with fewer threads in the pool than parts,
# and without a pool; no race that ThreadSanitizer can see (where it works); none in firmware output.
# usage: threads.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
for m in branch_f32.tflite dsnet_int8.tflite; do
    for target in generic native; do
        for n in 1 2 3 4; do
            case $target$n in native[24] | generic3) continue ;; esac
            "$arenac" run -q "$models/$m" -t $target --random 7 --threads $n --output-dir "$n"
            cmp 1/0.npy "$n/0.npy" || die "$m on $target: $n threads change the result"
        done
        "$arenac" run -q "$models/$m" -t $target --random 7 --threads 3 --backend eval --output-dir eval
        cmp 1/0.npy eval/0.npy || die "$m on $target: 3 parts in the evaluator change the result"
    done
done

cat >main.c <<'C'
#include "m.h"
#include "arn_pool.h"
#include <stdio.h>
#include <string.h>
static _Alignas(M_ARENA_ALIGN) unsigned char arena[M_ARENA_BYTES];
static unsigned char want[M_OUT0_BYTES], in[M_IN0_BYTES];
static struct arn_threads threads;
static int once(struct arn_pool *pool)
{
    m_mem mem = {0};
    mem.arena = arena;
    mem.pool = pool;
    memcpy(m_in0(&mem), in, M_IN0_BYTES);
    return m_init(&mem) != M_OK || m_run(&mem) != M_OK;
}
int main(void)
{
    const m_mem at = {.arena = arena};
    for (size_t i = 0; i < M_IN0_BYTES; i++)
        in[i] = (unsigned char)(i * 37 % 59); /* floats: small, or denormal */
    if (once(NULL))
        return 1;
    memcpy(want, m_out0(&at), M_OUT0_BYTES);
    for (int n = 1; n <= 4; n++) {
        if (arn_threads_open(&threads, n))
            return 2;
        for (int i = 0; i < 10; i++)
            if (once(&threads.pool) || memcmp(want, m_out0(&at), M_OUT0_BYTES)) {
                printf("differs with %d threads\n", n);
                return 3;
            }
        arn_threads_close(&threads);
    }
    return 0;
}
C
builds() { # FLAGS...: does a program with them run here?
    printf 'int main(void) { return 0; }\n' >t.c && ${CC:-cc} "$@" t.c -o t 2>/dev/null && $quiet ./t
}
quiet=
tsan="-fsanitize=thread -g"
# shellcheck disable=SC2086
builds $tsan 2>/dev/null || { quiet="setarch -R" && builds $tsan 2>/dev/null; } || {
    echo "skipped: ThreadSanitizer does not work here"
    tsan= quiet=
}
for m in branch_int8 dsnet_f32; do
    "$arenac" compile -q "$models/$m.tflite" --name m -t generic --threads 3 --weights rodata -o m.c
    grep -q 'm_part0' m.c || die "$m: no step is cut into parts"
    # shellcheck disable=SC2086
    ${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -Werror $tsan -pthread -I. -I"$src/runtime" m.c main.c \
        "$src/runtime/arn_pool.c" -o m
    $quiet ./m || die "$m with ThreadSanitizer"
done

"$arenac" compile -q "$models/dsnet_int8.tflite" -t cortex-m4 --threads 2 -o fw.c
! grep -q 'pool' fw.c fw.h || die "firmware: threads in the output"
echo "bits equal for 1, 2, 3 and 4 threads"
