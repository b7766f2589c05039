#!/bin/sh
# --mem, --pin: plans over several memories run bit for bit as plans of one, through one pointer for each. Refusals of
# contradictions: tests/golden/cli/E0503-*, E0401-*. usage: memory.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"

# ran WHAT MODEL OPTION...: with dead bytes overwritten, the output is the reference
ran() {
    what=$1 model=$2
    shift 2
    file=$(ls "$models/$model".tflite "$models/$model".ag 2>/dev/null)
    "$arenac" run -q --poison "$file" "$@" --input "0=$models/$model.in0.0.npy" \
        --compare "0=$models/$model.out0.0.npy" >out.txt 2>&1 || { fail "$model $what"; cat out.txt; }
}

# Every model, split over three memories: outputs are those of the reference, also with dead bytes overwritten.
for m in branch_int8 dsnet_int8 gate; do
    arena=$(arena_bytes "$(ls "$models/$m".tflite "$models/$m".ag 2>/dev/null)")
    for share in 2 5; do
        ran "with 1/$share in the fast memory" $m --mem "big:1M,slow" --mem "mid:$((arena / 4 + 64))" \
            --mem "tcm:$((arena / share)),fast"
    done
done
# The same by rows: windows are in any memory, results start inside operands if both are in one.
for m in branch_int8 dsnet_int8 digits_int8; do
    for rows in "--overlap on" "--stripe auto" "--io rows"; do
        for sizes in "3K 1K" "1K 512" "200 5K"; do # shellcheck disable=SC2086
            set -- $sizes
            backend=eval
            [ "$sizes" != "1K 512" ] || backend=c # shellcheck disable=SC2086
            ran "$rows in memories of $sizes" $m $rows --backend $backend --mem big:1M,slow --mem "mid:$2" \
                --mem "tcm:$1,fast"
        done
    done
done
ran "by the evaluator" branch_int8 --backend eval --mem big:1M,slow --mem tcm:3K,fast
ran "with a pinned input" digits_int8 --pin image=arena@512

outside() { # OPTION...: bytes in the slow memory
    "$arenac" plan -q --json "$models/branch_int8.tflite" --mem tcm:3200,fast --mem big:1M,slow "$@" |
        sed -n '/"name": "big"/,/}/s/.*"bytes": *\([0-9]*\).*/\1/p' | head -1
}
[ "$(outside)" -gt 0 ] && [ "$(outside --stripe auto)" -eq 0 ] ||
    fail "stripes bring everything into the fast memory: $(outside) -> $(outside --stripe auto)"

# One pointer for each memory: three separate arrays with a guard around each.
cat >main.c <<'X'
#include "m.h"
#include <stdio.h>
#include <string.h>
enum { GUARD = 64 };
#define ROOM(n) static _Alignas(64) uint8_t room_##n[M_##n##_BYTES + 2 * GUARD]
ROOM(TCM);
ROOM(BIG);
static uint8_t *guarded(uint8_t *p, size_t n) { return memset(p, 0xa5, n + 2 * GUARD), p + GUARD; }
static int broken(const uint8_t *p, size_t n)
{
    int bad = 0;
    for (int i = 0; i < GUARD; i++)
        bad |= p[i] != 0xa5 || p[GUARD + n + i] != 0xa5;
    return bad;
}
static uint8_t file[1 << 16];
static int load(const char *name) /* past the header of an .npy */
{
    FILE *f = fopen(name, "rb");
    int n = f ? (int)fread(file, 1, sizeof file, f) : 0;
    if (f)
        fclose(f);
    return n < 10 ? 0 : 10 + file[8] + 256 * file[9];
}
int main(int argc, char **argv)
{
    m_mem m = {0};
    m.tcm = guarded(room_TCM, M_TCM_BYTES);
    if (argc != 3 || m_init(&m) != M_EALIGN) /* the second one is missing */
        return 2;
    m.big = guarded(room_BIG, M_BIG_BYTES);
    if (m_init(&m))
        return 3;
    memcpy(m_in0(&m), file + load(argv[1]), M_IN0_BYTES);
    if (m_run(&m))
        return 4;
    if (memcmp(m_out0(&m), file + load(argv[2]), M_OUT0_BYTES))
        return 5;
    return broken(room_TCM, M_TCM_BYTES) || broken(room_BIG, M_BIG_BYTES) ? 6 : M_BIG_ADDR != 0x60000000u;
}
X
"$arenac" compile -q "$models/branch_int8.tflite" --mem big:1M@0x60000000,slow,align=32 --mem tcm:4K,fast -o m.c \
    --name m || fail "compile"
${CC:-cc} -std=c11 -Wall -Wextra -Werror -O1 main.c m.c -o main &&
    ./main "$models/branch_int8.in0.0.npy" "$models/branch_int8.out0.0.npy" || fail "the program ends with $?"

# crossing WANTED MODEL OPTION...: so many bytes cross between the first memory and the others
crossing() {
    wanted=$1 model=$2
    shift 2
    "$arenac" plan -q "$models/$model.tflite" "$@" --emit json -o copies.json || fail "plan $model $*"
    found=$(sed -n 's/.*"slow_bytes_per_run": \([0-9]*\).*/\1/p' copies.json)
    [ "$found" -le "$wanted" ] || fail "$model $*: $found bytes cross, at most $wanted expected"
}

# Rows of tensors in slow memory are copied through windows: each byte crosses once or a few times, and results stay
for limit in 512:9072 1K:4032; do
    set -- --align 4 --mem "fast:${limit%:*},fast" --mem slow:1M,slow --stripe auto
    ran "copies through ${limit%:*}" dsnet_int8 "$@"
    ran "copies through ${limit%:*}, evaluated" dsnet_int8 --backend eval "$@"
    crossing "${limit#*:}" dsnet_int8 "$@"
done

# In strips of columns on a core whose loops are functions: each has a name of its own
"$arenac" compile -q "$models/dsnet_int8.tflite" -t cortex-m4 --align 4 --mem fast:512,fast --mem slow:1M,slow \
    --stripe auto --name m -o strips.c || fail "strips for cortex-m4"
grep -q 'strip_1(' strips.c || fail "no strips for cortex-m4"
${CC:-cc} -std=c99 -Wall -Wextra -Werror -c strips.c -o strips.o || fail "strips.c has warnings"

# An input that a camera writes to slow memory is read from there once, and a budget of the first memory is its limit
set -- --align 4 --mem fast:4K,fast --mem slow:1M,slow --stripe auto --pin image=slow
ran "an input in slow memory" dsnet_int8 "$@"
for limit in 4K:576 2K:576 1K:4032; do
    crossing "${limit#*:}" dsnet_int8 "$@" --budget "${limit%:*}"
done

# Residual blocks: the order in which one of two convolutions is computed where the other one is added
set -- --align 4 --mem fast:2K,fast --mem slow:1M,slow --stripe auto
ran "copies and the other order of a block" branch_int8 "$@"
crossing 4096 branch_int8 "$@"
