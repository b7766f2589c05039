#!/bin/sh
# --share: several models in one arena, with merged constants; --dim n=LO..HI: one model, its size chosen at run time.
# The code runs, in C and as objects. Plans, and refusals: tests/golden/plan and cli. usage: several.sh ARENAC
# SOURCE_DIR
. "$2/tests/cli/prelude"
compiler="${CC:-cc} -std=c99 -Wall -Wextra -Wpedantic -Wmissing-prototypes -Werror -O1"

cp "$models/digits_int8.tflite" first.tflite
cp "$models/digits_int8.tflite" second.tflite # the same weights
all="first.tflite second.tflite $models/branch_int8.tflite"
for mode in exclusive concurrent; do # a self-test of each, and of all in their arena
    # shellcheck disable=SC2086
    "$arenac" compile -q $all --share $mode --emit c,h,selftest --vectors 2 -o "tests_$mode/" --name all &&
        (cd "tests_$mode" && mv shared.h all.h && sed 's/"shared.h"/"all.h"/' shared.selftest.c >all.selftest.c &&
            rm shared.selftest.c && $compiler -DALL_SELFTEST_MAIN ./*.c -lm -o all && ./all) >said.txt 2>&1
    grep -q 'all: all outputs are equal' said.txt || { cat said.txt; fail "--emit selftest of --share $mode"; }
done
cat >main.c <<'X'
#include "all.h"
#include <stdio.h>
#include <string.h>
static uint8_t file[4][1 << 16];
static const void *load(int k, const char *name) /* after the header of an .npy */
{
    FILE *f = fopen(name, "rb");
    size_t n = f ? fread(file[k], 1, sizeof file[k], f) : 0;
    if (f)
        fclose(f);
    return n < 10 ? NULL : file[k] + 10 + file[k][8] + 256 * file[k][9];
}
#define RUN(p, P, in, out)                                                                                         \
    (p##_init(&p) || (memcpy(p##_in0(&p), load(0, in), P##_IN0_BYTES), p##_run(&p)) ||                             \
     memcmp(p##_out0(&p), load(1, out), P##_OUT0_BYTES))
int main(int argc, char **argv)
{
    static union { double align[8]; uint8_t bytes[ALL_ARENA_BYTES + 64]; } room;
    all_mem m = {0};
    m.arena = room.bytes + (64 - (uintptr_t)room.bytes % 64) % 64;
    const first_mem first = all_of_first(&m);
    const second_mem second = all_of_second(&m);
    const branch_int8_mem branch_int8 = all_of_branch_int8(&m);
    if (argc != 5 || RUN(first, FIRST, argv[1], argv[2]) || RUN(branch_int8, BRANCH_INT8, argv[3], argv[4]) ||
        RUN(second, SECOND, argv[1], argv[2]))
        return 1;
    /* concurrent: the output of the first is still there */
    return ALL_ARENA_BYTES > 6144 && memcmp(first_out0(&first), load(1, argv[2]), FIRST_OUT0_BYTES) ? 2 : 0;
}
X
npy() { echo "$models/$1.in0.0.npy $models/$1.out0.0.npy"; }
for how in exclusive concurrent; do
    # shellcheck disable=SC2086
    "$arenac" compile $all --share $how -o all.h >report.txt || fail "compile $how"
    grep -q 'saved *[0-9,]* B' report.txt && ! grep -q 'saved  *0 B' report.txt ||
        { fail "constants are kept once"; cat report.txt; }
    # shellcheck disable=SC2086,SC2046
    $compiler -o main main.c first.c second.c branch_int8.c && ./main $(npy digits_int8) $(npy branch_int8) ||
        fail "the program, $how: $?"
done
grep -q 'extern const' second.c || fail "second.c uses the constants of first.c"
[ "$(wc -c <second.c)" -lt "$(wc -c <first.c)" ] || fail "second.c is smaller"

# The same as objects through LLVM, where this build has it: constants are merged as well. shellcheck disable=SC2086
if "$arenac" compile -q $all --share concurrent --emit o,h -t x86-64-v2 -o all.h 2>err.txt; then
    # shellcheck disable=SC2086,SC2046
    if [ "$(uname -m)" = x86_64 ]; then
        $compiler -o main main.c first.o second.o branch_int8.o && ./main $(npy digits_int8) $(npy branch_int8) ||
            fail "the program of objects: $?"
    fi
    [ $(($(wc -c <second.o) + 4000)) -lt "$(wc -c <first.o)" ] || fail "second.o is smaller"
else
    grep -qi 'llvm' err.txt && ! have_llvm || { fail "objects"; cat err.txt; }
fi

# One model for every n from 2 to 5, in the arena of the largest.
cp "$src/tests/golden/plan/range-upper-bound.ag" net.ag
"$arenac" compile -q net.ag --dim n=3 --name three -o three.c || fail "compile n=3"
cat >range.c <<'X'
#include "net.h"
#include "three.h"
#include <string.h>
int main(void)
{
    static union { double align[8]; uint8_t bytes[NET_ARENA_BYTES + 64]; } room, other;
    net_mem m = {0};
    three_mem t = {0};
    uint32_t bytes = 0;
    m.arena = room.bytes + (64 - (uintptr_t)room.bytes % 64) % 64;
    t.arena = other.bytes + (64 - (uintptr_t)other.bytes % 64) % 64;
    for (int32_t n = NET_MIN; n <= NET_MAX; n++) {
        if (net_init(&m, n) != NET_OK || three_init(&t) != THREE_OK)
            return 1;
        float *x = (float *)net_in0(&m, n, &bytes);
        if (bytes != (uint32_t)n * 16)
            return 2;
        for (int i = 0; i < 4 * n; i++) {
            x[i] = (float)(i * 7 % 5) - 2;
            if (i < 12)
                three_in0(&t)[i] = x[i];
        }
        if (net_run(&m, n) != NET_OK || three_run(&t) != THREE_OK)
            return 3;
        const void *z = net_out0(&m, n, &bytes); /* rows do not depend on each other */
        if (bytes != (uint32_t)n * 160 || memcmp(z, three_out0(&t), n < 3 ? (size_t)n * 160 : 480))
            return 4;
    }
    return net_run(&m, 1) != NET_EDIM || net_init(&m, 6) != NET_EDIM || net_in0(&m, 6, NULL) != NULL;
}
X
if "$arenac" compile -q net.ag --dim n=2..5 --emit o,h -o net.c 2>err.txt && [ "$(uname -m)" = x86_64 ]; then
    $compiler -o range range.c net.c three.c net_n2.o net_n3.o net_n4.o net_n5.o && ./range ||
        fail "the program of a range, objects: $?"
fi
"$arenac" compile -q net.ag --dim n=2..5 -o net.c || fail "compile a range"
$compiler -o range range.c net.c three.c net_n2.c net_n3.c net_n4.c net_n5.c && ./range ||
    fail "the program of a range: $?"

# Weights of 1.2 MB: one block for all values, defined with the first or loaded by the caller; equal ones once, also
# those that are packed for each size. The same for two models.
printf 'graph big {\n  input x: f32[n,400]\n  const w: f32[400,400] = random 1\n' >net.ag
printf '  const v: f32[400,400] = random 2\n' >>net.ag
printf '  y = fully_connected(x, w)\n  z = fully_connected(y, v)\n  output z\n}\n' >>net.ag
cat >big.c <<'X'
#include "net.h"
#include "three.h"
#include <string.h>
#ifdef NET_WEIGHTS_BYTES
#include <stdio.h>
static union { double align[8]; uint8_t bytes[NET_WEIGHTS_BYTES + 64]; } weights;
#endif
static union { double align[8]; uint8_t bytes[NET_ARENA_BYTES + 64]; } room, other;
static void *at64(void *p) { return (uint8_t *)p + (64 - (uintptr_t)p % 64) % 64; }
int main(void)
{
    net_mem m = {0};
    three_mem t = {0};
    m.arena = at64(room.bytes);
    t.arena = at64(other.bytes);
#ifdef NET_WEIGHTS_BYTES
    FILE *f = fopen("net.bin", "rb");
    m.weights = at64(weights.bytes);
    if (!f || fread(at64(weights.bytes), 1, NET_WEIGHTS_BYTES, f) != NET_WEIGHTS_BYTES)
        return 5;
    fclose(f);
#endif
    if (three_init(&t) != THREE_OK)
        return 1;
    for (int i = 0; i < 1200; i++)
        three_in0(&t)[i] = (float)(i * 7 % 5) - 2;
    if (three_run(&t) != THREE_OK)
        return 2;
    for (int32_t n = NET_MIN; n <= NET_MAX; n++) {
        if (net_init(&m, n) != NET_OK)
            return 3;
        float *x = (float *)net_in0(&m, n, NULL);
        for (int i = 0; i < 400 * n; i++)
            x[i] = (float)(i % 1200 * 7 % 5) - 2;
        if (net_run(&m, n) != NET_OK || (n == 3 && memcmp(net_out0(&m, n, NULL), three_out0(&t), THREE_OUT0_BYTES)))
            return 4;
    }
    return 0;
}
X
"$arenac" compile -q net.ag --dim n=3 --name three --weights rodata -o three.c || fail "compile n=3, large"
for kind in c o; do
    for weights in auto blob; do
        rm -rf net_n* net.bin net.o
        "$arenac" compile net.ag --dim n=1..5 --emit $kind,h --weights $weights -o net.c >report.txt 2>err.txt || {
            grep -qi llvm err.txt && ! have_llvm || fail "$kind, $weights: compile"
            continue
        }
        grep -q 'weights *1,28[0-9],[0-9]* B' report.txt ||
            { fail "$kind, $weights: weights are counted once"; cat report.txt; }
        [ $kind$weights != cauto ] || grep -q 'net_n1.c.bin *1,28[0-9],[0-9]* B' report.txt || fail "the list of files"
        [ "$(cat net_n* net.bin 2>/dev/null | wc -c)" -lt 1600000 ] || fail "$kind, $weights: weights are written once"
        [ $kind = o ] && [ "$(uname -m)" != x86_64 ] && continue
        # shellcheck disable=SC2086
        $compiler -Wno-overlength-strings -o big big.c net.c three.c net_n*.$kind && ./big ||
            fail "$kind, $weights: the program: $?"
    done
done
