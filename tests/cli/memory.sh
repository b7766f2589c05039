#!/bin/sh
# --mem, --pin, --budget NAME=: plans over several memories run bit for bit as plans of one, through one pointer for each, and
# options that contradict each other are refused. usage: memory.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"

# Every model, split over three memories: outputs are those of the reference, also with dead bytes overwritten.
for m in branch_int8 dsnet_int8 gate; do
    file=$(ls "$src/models/$m".tflite "$src/models/$m".ag 2>/dev/null)
    arena=$("$arenac" plan -q --json "$file" | sed -n 's/.*"arena_bytes": *\([0-9]*\).*/\1/p' | head -1)
    for part in 2 5; do
        "$arenac" run -q --poison "$file" --mem "big:1M,slow" --mem "mid:$((arena / 4 + 64))" --mem "tcm:$((arena / part)),fast" \
            --input "0=$src/models/$m.in0.0.npy" --compare "0=$src/models/$m.out0.0.npy" >out.txt 2>&1 ||
            { fail "$m in $part parts"; cat out.txt; }
    done
done
# The same by rows: windows lie in any memory, results start inside operands where both are in one.
for m in branch_int8 dsnet_int8 digits_int8; do
    for rows in "--overlap on" "--stripe auto" "--io rows"; do
        for sizes in "3K 1K" "1K 512" "200 5K"; do # shellcheck disable=SC2086
            set -- $sizes
            backend=eval
            [ "$sizes" != "1K 512" ] || backend=c
            "$arenac" run -q --poison --backend $backend "$src/models/$m.tflite" --mem big:1M,slow --mem "mid:$2" --mem "tcm:$1,fast" \
                $rows --input "0=$src/models/$m.in0.0.npy" --compare "0=$src/models/$m.out0.0.npy" >out.txt 2>&1 ||
                { fail "$m $rows in memories of $sizes"; cat out.txt; }
        done
    done
done
outside() { # OPTION...: bytes in the slow memory
    "$arenac" plan -q --json "$src/models/branch_int8.tflite" --mem tcm:3200,fast --mem big:1M,slow "$@" |
        sed -n '/"name": "big"/,/}/s/.*"bytes": *\([0-9]*\).*/\1/p' | head -1
}
[ "$(outside)" -gt 0 ] && [ "$(outside --stripe auto)" -eq 0 ] || fail "stripes bring everything into the fast memory: $(outside) -> $(outside --stripe auto)"
"$arenac" run -q --backend eval "$src/models/branch_int8.tflite" --mem big:1M,slow --mem tcm:3K,fast \
    --input "0=$src/models/branch_int8.in0.0.npy" --compare "0=$src/models/branch_int8.out0.0.npy" || fail "the evaluator"

# What is read most lies in the fast memory, whatever the order of the options; the slow one is listed.
"$arenac" plan "$src/models/branch_int8.tflite" --mem big:1M,slow --mem tcm:4K,fast >out.txt || fail "plan"
grep -q 'RAM  tcm .*of the traffic' out.txt && grep -q 'big .*of the traffic' out.txt && grep -q 'tensors: ' out.txt || fail "report"
grep 'RAM  tcm' out.txt | grep -q ' [5-9][0-9].[0-9] % of the traffic' || { fail "traffic"; cat out.txt; }

# One pointer for each memory: three separate arrays with a guard around each.
cat >main.c <<'X'
#include "m.h"
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
sed -i '1i #include <stdio.h>' main.c
"$arenac" compile -q "$src/models/branch_int8.tflite" --mem big:1M@0x60000000,slow,align=32 --mem tcm:4K,fast -o m.c --name m || fail "compile"
grep -q 'BIG_ALIGN 32u' m.h || fail "alignment"
${CC:-cc} -std=c11 -Wall -Wextra -Werror -O1 main.c m.c -o main && ./main "$src/models/branch_int8.in0.0.npy" "$src/models/branch_int8.out0.0.npy" ||
    fail "the program ends with $?"

# A pinned input lies where it was pinned.
"$arenac" plan -q "$src/models/digits_int8.tflite" --pin image=arena@512 --json | tr '{' '\n' | grep '"image"' -A9 | grep -q '"offset_bytes": 512' || fail "pin"
"$arenac" run -q "$src/models/digits_int8.tflite" --pin image=arena@512 --input "0=$src/models/digits_int8.in0.0.npy" \
    --compare "0=$src/models/digits_int8.out0.0.npy" || fail "running with a pin"

# refused EXIT PATTERN OPTION...
refused() {
    want=$1 text=$2
    shift 2
    expect "$want" "$text" "$arenac" plan -q "$src/models/digits_int8.tflite" "$@"
}
refused 2 "no tensor 'imagee'" --pin imagee=arena
refused 2 "did you mean 'image'" --pin imagee=arena
refused 2 "no memory 'tcm'" --pin image=tcm
refused 2 "no memory 'tcm'" --budget tcm=4K
refused 2 'but they are the same bytes' --mem a:64K --mem b:64K --pin digits_1/p2_1/MaxPool2d=a --pin digits_1/flat_1/Reshape=b
refused 2 'pinned to the same bytes' --pin image=arena@0 --pin 'digits_1/c1_relu_1/Relu;digits_1/c1_bn_1/batchnorm/add_1;digits_1/c1_1/convolution;digits_1/c1_bn_1/batchnorm/sub1=arena@16'
refused 2 'no multiple of the alignment 16' --pin image=arena@8
refused 2 'which has 1,024' --mem a:1K --pin image=a@1008
refused 2 'bad argument' --pin image
refused 2 'bad argument' --mem a
refused 2 'bad argument' --mem a:0
refused 2 'bad argument' --mem a:1K,quick
refused 2 'bad argument' --mem a:1K,align=3
refused 2 "memory 'A' is given twice" --mem a:1K --mem A:2K
refused 2 'cannot have this name' --mem int:1K
refused 2 'cannot have this name' --mem 2nd:1K
refused 2 'overlap at 0x1100' --mem a:1K@0x1000 --mem b:1K@0x1100
refused 2 'no multiple of its alignment' --mem a:1K@0x1008,align=64
refused 2 'both read-only' --mem a:1M,ro --mem b:1M,ro
refused 2 'that is for state' --pin image=state
refused 4 "memory 'b' is over its budget" --mem a:256 --mem b:512
refused 4 "memory 'arena' is over its budget" --budget 900
refused 4 "memory 'b' is over its budget" --mem a:256 --mem b:4K --budget b=512
refused 4 'the weights need' --mem flash:1K,ro
exit $bad
