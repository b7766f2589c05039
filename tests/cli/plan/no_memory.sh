#!/bin/sh
# If the system is out of memory (E0403), every verb reports it and exits with 4, leaves no file, and never reports
# success: one allocation fails, or all from one on. Positions are sampled; ARENAC_LONG=1 tests all. Under ASan, nothing
# leaks. usage: no_memory.sh ARENAC SOURCE_DIR [EVERY: of so many places one]
. "$2/tests/cli/prelude"
every=${3:-1}
require "${CC:-cc}" gcc
if sanitized; then preloaded || exit 77; fi
cat >fails.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long number, at = -1, on;

/* FAIL_AT=N: allocation N fails; FAIL_ON: all from there. COUNT: the file that gets how many there were. Compilers and
 * programs that the tool starts are left alone. */
static int fails(void)
{
    if (strcmp(program_invocation_short_name, "arenac") != 0)
        return 0;
    if (at < 0) {
        const char *n = getenv("FAIL_AT");
        at = n ? atol(n) : 0;
        on = getenv("FAIL_ON") != NULL;
    }
    number++;
    return at && (on ? number >= at : number == at);
}

__attribute__((destructor)) static void count(void)
{
    const char *path = getenv("COUNT");
    FILE *f = path && !strcmp(program_invocation_short_name, "arenac") ? fopen(path, "w") : NULL;
    if (f) {
        fprintf(f, "%ld\n", number);
        fclose(f);
    }
}

void *malloc(size_t n)
{
    static void *(*real)(size_t);
    real = real ? real : dlsym(RTLD_NEXT, "malloc");
    return fails() ? errno = ENOMEM, NULL : real(n);
}

void *realloc(void *p, size_t n)
{
    static void *(*real)(void *, size_t);
    real = real ? real : dlsym(RTLD_NEXT, "realloc");
    return fails() ? errno = ENOMEM, NULL : real(p, n);
}

void *calloc(size_t n, size_t size) /* dlsym itself may call it */
{
    static void *(*real)(size_t, size_t);
    static char early[1 << 14];
    static size_t used;
    static int looking;
    if (!real && looking) {
        void *p = early + used;
        used += (n * size + 15) / 16 * 16;
        return p;
    }
    looking = 1;
    real = real ? real : dlsym(RTLD_NEXT, "calloc");
    looking = 0;
    return fails() ? errno = ENOMEM, NULL : real(n, size);
}
C
"${CC:-cc}" -shared -fPIC -O1 -o fails.so fails.c -ldl 2>cc.txt ||
    { echo "skipped: the C compiler makes no shared library"; exit 77; }

runs=0 timed= spread=1
! sanitized || spread=4
each() { # command...; $timed: what it prints and writes has times in it
    unset FAIL_AT FAIL_ON
    COUNT=$tmp/count
    export COUNT
    faulty fails.so good "$@" || { fail "without a fault: $*"; return; }
    unset COUNT
    all=$(cat count)
    n=1
    while [ "$n" -le "$all" ]; do
        for on in '' 1; do
            turn || continue
            export FAIL_AT=$n
            if [ "$on" ]; then export FAIL_ON=1; else unset FAIL_ON; fi
            faulty fails.so got "$@"
            runs=$((runs + 1))
            case $status in
            0) if [ "$timed" ]; then [ "$(ls -AR good)" = "$(ls -AR got | sed s/^got/good/)" ]; else
                cmp -s good.out got.out && diff -rq good got >/dev/null; fi ||
                fail "not all is there at $n${on:+ and on}: $*" ;;
            4) grep -q 'E0402\|E0403' got.err && [ -z "$(ls -A got)" ] ||
                fail "no word, or a file, at $n${on:+ and on}: $*" ;;
            *) fail "status $status at $n${on:+ and on}: $*: $(head -1 got.err)" ;;
            esac
        done
        if [ -n "${ARENAC_LONG:-}" ]; then n=$((n + 1)); else n=$((n + 1 + n * spread / 3)); fi
    done
    unset FAIL_AT FAIL_ON
}

m=$models/branch_int8.tflite
each check "$m"
each plan "$m" --json # the text may lack what it says beside the plan: what other options would give
each plan "$models/branch_f32.tflite" --stripe auto --planner exact --json
each compile "$m" --emit c,h,json,svg,md,dot,csv,lock -o made/v
each compile "$m" -t cortex-m4 --emit c,h,selftest --stack estimate --random 1 -o made/v
each convert "$m" made/k.onnx
each show "$m"
each run "$m" --random 1 --backend eval
each diff "$m" "$m"
each explain E0101
each ops
each check "$models/gate.ag"
each check "$models/squares.prototxt" "$models/squares.caffemodel"
each check "$models/dense-symbol.json" "$models/dense-0000.params" --dim data.0=2 --dim data.1=12
each check "$models/tf_rnn.pbtxt"
each compile "$models/gate.ag" --emit loops -o -

# the other verbs and formats
"$arenac" convert "$m" branch.onnx && "$arenac" convert "$models/gate.ag" gate.onnx || die convert
"$arenac" plan "$m" --emit csv,problem,lock -q -o branch || die plan
each check branch.onnx
each plan branch.problem.csv --emit csv,svg -o made/p
each verify branch.csv branch.problem.csv
each verify branch.csv "$m"
each verify branch.lock "$m" --json
each plan "$m" --lock branch.lock --json
each diff branch.lock branch.lock --md
each plan "$m" branch.onnx --share exclusive --json
each compile "$models/gate.ag" --const x="$models/gate.in0.0.npy" --emit c,h -o made/v
each compile "$models/gate.ag" --train sgd --loss mse --batch 2 --emit c,h -o made/v
each compile "$models/gate.ag" --evidence made/e -o made/v
each prove "$models/gate.ag" -t cortex-m4 -o made/g.certificate
each prove "$models/gate.ag" --threads 3 --json
each grad "$models/gate.ag" --random 1 --cotangent y="$models/gate.out0.0.npy" --backend eval --output-dir made/g
each run "$models/gate.ag" --input x="$models/gate.in0.0.npy" --backend eval --per-node --output-dir made/a/b
each targets
for f in "$models"/*/saved_model.pb; do each check "${f%/*}"; break; done
timed=1
for end in npz onnx ag; do
    each train gate.onnx --data x="$models/gate.in0.0.npy" --target "$models/gate.out0.0.npy" --loss mse --steps 2 \
        --lr 0.1 --batch 1 --optimizer sgd --backend eval -o made/t.$end
done
each train "$models/gate.ag" --data x="$models/gate.in0.0.npy" --target "$models/gate.out0.0.npy" --loss mse --steps 1 \
    --lr 0.1 --batch 1 --optimizer adam --backend eval -o made/t.onnx --log made/log.csv \
    --validate "$models/gate.in0.0.npy,$models/gate.out0.0.npy"
each run "$models/gate.ag" --random 1 --output-dir made
each bench "$models/gate.ag" --random 1 --runs 1
each python "$models/gate.ag" -o made
echo "$runs runs"
[ $((runs * spread * every)) -gt 1000 ] || fail "$runs runs only"
exit $bad
