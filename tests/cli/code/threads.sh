#!/bin/sh
# --threads N: the same bits for every N, with every backend, with more and with fewer threads in the pool than parts,
# and without a pool, also where steps run at once; no race that ThreadSanitizer can see (where it works); none in
# firmware output.
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

# Branches: steps that run at once, whole or cut, in place, over two phases.
cat >branches.ag <<'AG'
graph branches {
  input x: f32[1,24,24,16]
  const a0: f32[24,3,3,16] = random 1
  const b0: f32[16,1,1,16] = random 2
  const b1: f32[24,5,5,16] = random 3
  const c0: f32[8,1,1,16] = random 4
  const d0: f32[16,1,1,16] = random 5
  a = conv_2d(x, a0) padding=same act=relu
  a1 = tanh(a)
  p = conv_2d(x, b0) padding=same act=relu
  p1 = logistic(p)
  b = conv_2d(p1, b1) padding=same act=relu
  m = max_pool_2d(x) kernel_h=3 kernel_w=3 stride_h=1 stride_w=1 padding=same
  c = conv_2d(m, c0) padding=same act=relu
  d = conv_2d(x, d0) padding=same act=relu
  d1 = tanh(d)
  d2 = add(d1, p1)
  d3 = softmax(d2)
  y = concatenation(a1, b, c, d3) axis=3
  output y
}
AG
cp "$src/tests/cross/planes.ag" .
for m in branches planes; do
    for n in 1 2 3 7; do
        "$arenac" run -q $m.ag -t native --random 7 --threads $n --poison --output-dir "$n"
        "$arenac" run -q $m.ag -t native --random 7 --threads $n --backend eval --output-dir eval
        for k in $n eval; do cmp 1/0.npy "$k/0.npy" || die "$m: $n threads change the result"; done
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
"$arenac" compile -q branches.ag --threads 3 --phases off -o off.c
! grep -q 'at_once' off.c || die "branches: --phases off has phases"
for m in branches.ag "$models/branch_int8.tflite" "$models/dsnet_f32.tflite"; do
    "$arenac" compile -q "$m" --name m -t generic --threads 3 --weights rodata -o m.c
    grep -q 'm_part0' m.c || die "$m: no step is cut into parts"
    case $m in branches*) grep -q 'm_at_once' m.c || die "$m: no steps run at once" ;; esac
    # shellcheck disable=SC2086
    ${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -Werror $tsan -pthread -I. -I"$src/runtime" m.c main.c \
        "$src/runtime/arn_pool.c" -o m
    $quiet ./m || die "$m with ThreadSanitizer"
done

# The same code on the threads of OpenMP.
if printf 'int main(void) { return 0; }\n' >t.c && ${CC:-cc} -fopenmp t.c -o t 2>/dev/null; then
    sed 's/#include "arn_pool.h"/#include "arn_openmp.h"/; /^static struct arn_threads threads;/d
        /arn_threads_open/,/return 2;/d; /arn_threads_close/d; s/&threads.pool/\&arn_openmp/' main.c >openmp.c
    grep -q 'once(&arn_openmp)' openmp.c || die "the program for OpenMP is not what it should be"
    ${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -Werror -fopenmp -I. -I"$src/runtime" m.c openmp.c -o m
    OMP_NUM_THREADS=2 ./m || die "$m with OpenMP"
fi

# Chunks of a step move what the step moves.
traffic() { # THREADS
    "$arenac" plan -q "$models/dsnet_f32.tflite" --threads "$1" --phases off --emit html -o - | tr -d '\n ' |
        grep -o '"step_traffic":\[[0-9,]*\]'
}
traffic 1 >one && traffic 3 >three && cmp one three || die "threads change the traffic of steps"

"$arenac" compile -q "$models/dsnet_int8.tflite" -t cortex-m4 --threads 2 -o fw.c
! grep -q 'pool' fw.c fw.h || die "firmware: threads in the output"
echo "bits equal for 1, 2, 3 and 4 threads"
