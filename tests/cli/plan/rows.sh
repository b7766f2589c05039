#!/bin/sh
# --io rows: inputs passed row by row. Same bits as with the whole input, from both backends, with poisoned dead bytes;
# the generated API of C and of objects, a row at a time and with a callback, in an arena of exactly the planned size
# under the sanitizers; arenas of known models, which are outside of the repository. Plans, and messages for inputs that
# cannot be streamed: tests/golden/plan and cli. usage: rows.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e

cat >main.c <<'END'
#include "m.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static uint8_t x[M_IN0_BYTES];
static uint32_t asked;
static int failed(const char *what)
{
    fprintf(stderr, "%s\n", what);
    return 1;
}
#define FILL(type)                                                                                                     \
    static void fill(void *user, uint32_t row, type *to)                                                               \
    {                                                                                                                  \
        asked += row == asked;                                                                                         \
        memcpy(to, (const uint8_t *)user + row * M_IN0_ROW_BYTES, M_IN0_ROW_BYTES);                                    \
    }
FILL(TYPE)
int main(void)
{
    uint8_t *arena = aligned_alloc(64, (M_ARENA_BYTES + 63) / 64 * 64 + 64), *end = arena + M_ARENA_BYTES;
    uint8_t first[M_OUT0_BYTES];
    const m_mem m = {.arena = arena};
    memset(arena, 0xee, (M_ARENA_BYTES + 63) / 64 * 64 + 64);
    if (fread(x, 1, sizeof x, stdin) != sizeof x || M_IN0_ROWS * M_IN0_ROW_BYTES != M_IN0_BYTES || m_init(&m))
        return failed("the input, or the arena, does not fit");
    for (uint32_t row = 0; row < M_IN0_ROWS; row++) {
        memcpy(m_in0_row(&m), x + row * M_IN0_ROW_BYTES, M_IN0_ROW_BYTES);
        if (m_run_row(&m, row) != M_OK)
            return failed("a row is refused");
    }
    memcpy(first, m_out0(&m), M_OUT0_BYTES);
    if (m_run_row(&m, M_IN0_ROWS) != M_EINDEX)
        return failed("a row too many is taken");
    m_run_row(&m, 0); /* abandoned: the next run starts from row 0 */
    m_run_row(&m, 1);
    if (m_run(&m, fill, x) != M_OK || asked != M_IN0_ROWS || memcmp(first, m_out0(&m), M_OUT0_BYTES))
        return failed("the second run differs");
    for (int i = 0; i < 64; i++)
        if (end[i] != 0xee)
            return failed("bytes after the arena are written");
    fwrite(first, 1, sizeof first, stdout);
    free(arena);
    return 0;
}
END

# program MODEL INPUT WANT TYPE OPTION...: the generated code on its own
program() {
    model=$1 input=$2 want=$3 type=$4
    shift 4
    "$arenac" compile -q "$model" --name m --io rows --poison "$@" -o m.c
    gcc -std=c99 -Wall -Wextra -pedantic -Werror -c m.c -o m.o
    gcc -std=c11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -DTYPE="$type" main.c m.c -o m
    tail -c "$(sed -n 's/#define M_IN0_BYTES \([0-9]*\)u/\1/p' m.h)" "$input" >in.bin
    tail -c "$(sed -n 's/#define M_OUT0_BYTES \([0-9]*\)u/\1/p' m.h)" "$want" >want.bin
    ./m <in.bin >got.bin
    cmp want.bin got.bin
    [ $objects = yes ] || return 0
    "$arenac" compile -q "$model" --name m --io rows --poison "$@" -t generic --emit o,h -o m.o
    gcc -std=c11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -DTYPE="$type" main.c m.o -o m
    ./m <in.bin >got.bin
    cmp want.bin got.bin
}
objects=no
if [ "$(uname -m)" = x86_64 ] && have_llvm; then objects=yes; fi
same() { # MODEL INPUT TARGET
    "$arenac" run -q "$1" -t "$3" --backend eval --input "0=$2" --output-dir want
    for backend in eval c; do
        "$arenac" run -q "$1" -t "$3" --io rows --align 4 --poison --backend $backend --input "0=$2" --output-dir got
        cmp want/0.npy got/0.npy
    done
}
for m in branch digits dsnet; do
    for t in f32 int8; do
        f=$models/${m}_$t
        case $t in f32) type=float ;; *) type=int8_t ;; esac
        same "$f.tflite" "$f.in0.0.npy" generic
        program "$f.tflite" "$f.in0.0.npy" want/0.npy $type --align 4
        "$arenac" run -q "$f.tflite" -t x86-64-v3 --io rows --backend eval --input "0=$f.in0.1.npy" \
            --compare "0=$f.out0.1.npy"
        verified "$f.tflite" --io rows --align 4
    done
done
# one of two inputs, which is read in two places, and a step before the rows; an input that is read as a whole; a
# step among those of the rows that reads another input
for m in rows-one-of-two-inputs rows-none rows-step-aside; do
    m=$src/tests/golden/plan/$m.ag
    "$arenac" run -q "$m" -t generic --random 3 --backend eval --output-dir want
    for backend in eval c; do
        "$arenac" run -q "$m" -t generic --random 3 --backend $backend --io rows --poison --output-dir got
        cmp want/0.npy got/0.npy
    done
done

# On a board
fw=$shared/firmware/harness/fwrun.py
if have_shared firmware/harness/fwrun.py && have python3 python3 && have_arm; then
    for emit in c,h o,h; do
        [ $emit = c,h ] || have_llvm || continue
        file=board.${emit%,h}
        "$arenac" compile -q "$models/branch_int8.tflite" -t cortex-m4 --name board --io rows --emit $emit -o $file
        python3 "$src/tests/fw_main.py" board board.h "$models/branch_int8.in0.1.npy" "$models/branch_int8.out0.1.npy" \
            >board_main.c
        python3 "$fw" --target cortex-m4 --src $file --main board_main.c -O 2 --cflags="-I$tmp" ||
            die "$file on a Cortex-M4"
    done
fi

have_shared models || exit 0
at_most() { # NAME BYTES
    f=$shared/models/tflite/$1/$1.tflite
    [ -f "$f" ] || return 0
    bytes=$(arena_bytes "$f" --io rows --stripe auto --align 4)
    [ "$bytes" -le "$2" ] || die "$1: arena of $bytes bytes, expected at most $2"
}
at_most kws_dscnn_int8 4650
at_most ic_resnet8_int8 10000
at_most person_detect_int8 13100
at_most mobilenet_v1_025_96_int8 13700
at_most mobilenet_v2_100_224_int8 121000
f=$shared/models/tflite/kws_dscnn_int8
if [ -f "$f/kws_dscnn_int8.tflite" ]; then
    same "$f/kws_dscnn_int8.tflite" "$f/input0_0.npy" generic
    program "$f/kws_dscnn_int8.tflite" "$f/input0_0.npy" want/0.npy int8_t --align 4
fi
