#!/bin/sh
# When the system gives no memory (E0403), every verb says so and ends with 4, leaves no file, and never ends as if all
# was well: one allocation fails, or all from one on. Positions are spread; ARENAC_LONG=1 takes all.
# usage: no_memory.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require "${CC:-cc}" gcc
cat >fails.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static long number, at = -1, on;

/* FAIL_AT=N: allocation N fails; FAIL_ON: all from there. COUNT: the file that gets how many there were. */
static int fails(void)
{
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
    FILE *f = path ? fopen(path, "w") : NULL;
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

runs=0
each() { # command...
    unset FAIL_AT FAIL_ON
    COUNT=$tmp/count
    export COUNT
    faulty fails.so good "$@" || { fail "without a fault: $*"; return; }
    unset COUNT
    all=$(cat count)
    n=1
    while [ "$n" -le "$all" ]; do
        for on in '' 1; do
            export FAIL_AT=$n
            if [ "$on" ]; then export FAIL_ON=1; else unset FAIL_ON; fi
            faulty fails.so got "$@"
            runs=$((runs + 1))
            case $status in
            0) cmp -s good.out got.out && diff -rq good got >/dev/null ||
                fail "not all is there at $n${on:+ and on}: $*" ;;
            4) grep -q 'E0402\|E0403' got.err && [ -z "$(ls -A got)" ] ||
                fail "no word, or a file, at $n${on:+ and on}: $*" ;;
            *) fail "status $status at $n${on:+ and on}: $*: $(head -1 got.err)" ;;
            esac
        done
        [ -n "${ARENAC_LONG:-}" ] && n=$((n + 1)) || n=$((n + 1 + n / 3))
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
[ $runs -gt 400 ] || fail "$runs runs only"
exit $bad
