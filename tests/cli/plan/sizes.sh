#!/bin/sh
# --sizes one: one program for every value of a range of --dim. For each value its results are those of the program that
# is made for this value alone, bit by bit; dead bytes are overwritten before.
# usage: sizes.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
compiler="${CC:-cc} -std=c99 -Wall -Wextra -Wpedantic -Wmissing-prototypes -Werror -O1"

# Two heads of attention over n rows: scores are [n,n], and two constants depend on n.
cat >net.ag <<'X'
graph net {
  input x: f32[n,16]
  const wq: f32[16,16] = random 1 (-1, 1)
  const wk: f32[16,16] = random 2 (-1, 1)
  const wv: f32[24,16] = random 3 (-1, 1)
  const scale: f32[] = splat 0.125
  const axis: i32[] = splat 0
  q = fully_connected(x, wq)
  k = fully_connected(x, wk)
  v = fully_connected(x, wv) act=relu
  s = batch_matmul(q, k) adj_y=true
  t = mul(s, scale)
  p = softmax(t)
  y = batch_matmul(p, v)
  e = shape(x) out_type=i32
  f = cast(e) to=f32
  r = cumsum(f, axis)
  c = reshape(r) shape=[2,1]
  a = mean(y) axes=[0,1] keep_dims=true
  z = add(c, a)
  output y
  output z
}
X
cat >main.c <<'X'
#include "net.h"
#include <stdio.h>
#include <string.h>
static union { double align[8]; uint8_t bytes[NET_ARENA_BYTES + 64]; } room;
#ifdef NET_WEIGHTS_BYTES
static union { double align[8]; uint8_t bytes[NET_WEIGHTS_BYTES + 64]; } weights;
#endif
static void *at64(void *p) { return (uint8_t *)p + (64 - (uintptr_t)p % 64) % 64; }
int main(void)
{
    net_mem m = {0};
    m.arena = at64(room.bytes);
#ifdef NET_WEIGHTS_BYTES
    FILE *f = fopen("net.bin", "rb");
    m.weights = at64(weights.bytes);
    if (!f || fread(at64(weights.bytes), 1, NET_WEIGHTS_BYTES, f) != NET_WEIGHTS_BYTES)
        return 5;
    fclose(f);
#endif
    for (int32_t n = NET_MAX; n >= NET_MIN; n--) {
        uint32_t bytes = 0;
        if (net_init(&m, n) != NET_OK)
            return 1;
        memset(m.arena, 0xa5, NET_ARENA_BYTES);
        float *x = (float *)net_in0(&m, n, &bytes);
        if (bytes != (uint32_t)n * 64)
            return 2;
        for (int32_t i = 0; i < 16 * n; i++)
            x[i] = (float)((i * 7 + n) % 11) / 4 - 1;
        if (net_run(&m, n) != NET_OK)
            return 3;
        const void *y = net_out0(&m, n, &bytes);
        if (bytes != (uint32_t)n * 96 || fwrite(y, 1, bytes, stdout) != bytes)
            return 4;
        y = net_out1(&m, n, &bytes);
        if (bytes != 8 || fwrite(y, 1, bytes, stdout) != bytes)
            return 4;
    }
    return net_run(&m, NET_MAX + 1) != NET_EDIM || net_run(&m, NET_MIN - 1) != NET_EDIM ||
           net_init(&m, NET_MAX + 1) != NET_EDIM || net_in0(&m, NET_MIN - 1, NULL) != NULL ||
           net_out1(&m, NET_MAX + 1, NULL) != NULL;
}
X
# both TARGET FLAGS LO HI: the two kinds of program agree
both() {
    rm -f net*.c net*.h net*.bin
    "$arenac" compile -q net.ag --dim "n=$3..$4" -t "$1" --sizes each -o net.c || fail "$1: each"
    # shellcheck disable=SC2086
    $compiler $2 -o each main.c net.c net_n*.c && ./each >each.out || fail "$1: the programs: $?"
    for w in ${5:-auto rodata asm blob}; do
        rm -f net*.c net*.h net*.bin
        "$arenac" compile -q net.ag --dim "n=$3..$4" -t "$1" --sizes one --weights "$w" -o net.c || fail "$1 $w: one"
        [ "$(ls net_n*.c 2>/dev/null)" = "" ] || fail "$1 $w: files for sizes"
        # shellcheck disable=SC2086
        $compiler $2 -fsanitize=undefined -fno-sanitize-recover -o one main.c net.c && ./one >one.out ||
            fail "$1 $w: the program: $?"
        cmp each.out one.out || fail "$1 $w: results differ"
    done
}
both generic "" 1 24
both cortex-m4 "-Wno-error" 3 14 "rodata blob"
if [ "$(uname -m)" = x86_64 ]; then
    grep -q avx2 /proc/cpuinfo && both x86-64-v3 "-march=x86-64-v3" 1 20 auto
fi

# The report and JSON: fewer sequences than sizes, weights of the largest alone.
"$arenac" compile net.ag --dim n=1..100 -o net.c >report.txt || fail "100 sizes"
grep -q '^net.ag   100 plans, one for each n from 1 to 100, in one arena and one program$' report.txt ||
    fail "the report's first line"
grep -Eq '^       code +[0-9]+ kernels, in [0-9]+ sequences of calls$' report.txt || fail "the report's kernels"
[ "$(grep -c '^  n = ' report.txt)" -le 17 ] || fail "the report lists too many sizes"
"$arenac" compile net.ag --dim n=1..100 --json -o net.c >report.json || fail "JSON"
tr -d ' \n' <report.json >flat.json
sequences=$(sed 's/.*"call_sequences":\([0-9]*\).*/\1/' flat.json)
[ "$sequences" -gt 0 ] && [ "$sequences" -lt 50 ] || fail "$sequences sequences of calls for 100 sizes"
one=$(sed 's/.*"weight_bytes":\([0-9]*\),"weight_bytes_saved.*/\1/' flat.json)
"$arenac" compile net.ag --dim n=100..100 --sizes one --json -o big.c >big.json || fail "the largest size"
largest=$(tr -d ' \n' <big.json | sed 's/.*"weight_bytes":\([0-9]*\),"weight_bytes_saved.*/\1/')
[ "$largest" -gt 3000 ] && [ "$one" -lt $((largest + 100 * 16 + 64)) ] ||
    fail "weights of 100 sizes: $one, of the largest: $largest"

# State is one for all sizes.
cat >sum.ag <<'X'
graph sum {
  input x: f32[n]
  state total: f32[] = splat 0
  s = sum(x) axes=[0]
  d = add(total, s)
  next: f32[] at total+0 = assign(d)
  output next
}
X
cat >sum.c <<'X'
#include "sum.h"
int main(void)
{
    static union { double align[8]; uint8_t bytes[SUM_ARENA_BYTES + 64]; } room, kept;
    sum_mem m = {0};
    float want = 0;
    m.arena = room.bytes + (64 - (uintptr_t)room.bytes % 64) % 64;
    m.state = kept.bytes + (64 - (uintptr_t)kept.bytes % 64) % 64;
    if (sum_init(&m, SUM_MIN) != SUM_OK)
        return 1;
    for (int32_t n = SUM_MIN; n <= SUM_MAX; n++) {
        float *x = (float *)sum_in0(&m, n, 0);
        for (int32_t i = 0; i < n; i++)
            x[i] = (float)n;
        want += (float)(n * n);
        if (sum_run(&m, n) != SUM_OK || *(const float *)sum_out0(&m, n, 0) != want)
            return 2;
    }
    return 0;
}
X
mkdir state && cd state || exit 1
if "$arenac" compile -q ../sum.ag --dim n=2..9 --sizes one -o sum.c 2>err.txt; then
    mv ../sum.c main.c
    $compiler -o sum main.c sum.c && ./sum || fail "state of all sizes: $?"
else
    fail "state: $(cat err.txt)"
fi
cd ..

# A prompt of several rows and steps of one row, with the same caches: however the rows are cut, results are the same.
cat >decode.ag <<'X'
graph decode {
  input x: f32[1,n,8]
  input mask: f32[n,"past + n"]
  input keys: f32[1,past,8]
  input values: f32[1,past,8]
  const wq: f32[8,8] = random 1 (-0.9, 0.9)
  const wk: f32[8,8] = random 2 (-0.9, 0.9)
  const wv: f32[8,8] = random 3 (-0.9, 0.9)
  q = fully_connected(x, wq, _) keep_dims=true
  k = fully_connected(x, wk, _) keep_dims=true
  v = fully_connected(x, wv, _) keep_dims=true
  new_keys = concatenation(keys, k) axis=1
  new_values = concatenation(values, v) axis=1
  s = batch_matmul(q, new_keys) adj_y=true
  m = add(s, mask)
  p = softmax(m)
  y = batch_matmul(p, new_values)
  output y, new_keys, new_values
}
X
cat >rows.c <<'X'
#include "decode.h"
#include <string.h>
enum { ROWS = 20, ROOM = 24 };
static union { double align[8]; uint8_t bytes[DECODE_ARENA_BYTES + 64]; } room;
static union { double align[8]; uint8_t bytes[DECODE_STATE_BYTES + 64]; } kept;
static int run(const int32_t *cut, float *y)
{
    decode_mem m = {0};
    uint32_t bytes = 0;
    m.arena = room.bytes + (64 - (uintptr_t)room.bytes % 64) % 64;
    m.state = kept.bytes + (64 - (uintptr_t)kept.bytes % 64) % 64;
    if (decode_init(&m, 1) != DECODE_OK)
        return 1;
    for (int32_t at = 0, n; at < ROWS; at += n) {
        n = *cut++;
        memset(m.arena, 0xa5, DECODE_ARENA_BYTES);
        float *x = (float *)decode_in0(&m, n, &bytes), *mask = (float *)decode_in1(&m, n, 0);
        if (bytes != (uint32_t)n * 32)
            return 2;
        for (int32_t i = 0; i < 8 * n; i++)
            x[i] = (float)((at * 8 + i) * 13 % 17) / 8 - 1;
        for (int32_t i = 0; i < n * ROOM; i++)
            mask[i] = i % ROOM <= at + i / ROOM ? 0.0f : -1e9f;
        *(int32_t *)decode_in2(&m, n, 0) = at; /* position: rows that the caches have */
        if (decode_run(&m, n) != DECODE_OK)
            return 3;
        memcpy(y + 8 * at, decode_out0(&m, n, 0), (size_t)n * 32);
    }
    return 0;
}
int main(void)
{
    static const int32_t ONE[ROWS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                         PROMPT[] = {13, 1, 1, 4, 1}, TWO[] = {8, 12};
    static float one[8 * ROWS], prompt[8 * ROWS], two[8 * ROWS];
    if (run(ONE, one) || run(PROMPT, prompt) || run(TWO, two))
        return 1;
    return memcmp(one, prompt, sizeof one) || memcmp(one, two, sizeof one) || one[100] == 0.0f ? 2 : 0;
}
X
"$arenac" compile -q decode.ag --dim n=1..16 --dim past=24-n --sizes one --state 'new_*=*' -o decode.c || fail "decode"
[ "$(sed -n 's/.*DECODE_STATE_BYTES \([0-9]*\)u.*/\1/p' decode.h)" = 1536 ] || fail "caches are not there once"
$compiler -o rows rows.c decode.c && ./rows || fail "rows of a prompt: $?"

[ "$(arena_bytes decode.ag --dim n=3 --dim past=24-n)" = "$(arena_bytes decode.ag --dim n=3 --dim past=21)" ] ||
    fail "24-n is not 21"

# Refusals, with the way out.
refused() { # TEXT OPTION..
    text=$1
    shift
    "$arenac" compile -q net.ag "$@" -o no.c 2>err.txt
    [ $? = "${status:-8}" ] && grep -q -e "$text" err.txt || { fail "not refused: $*"; cat err.txt; }
    [ ! -e no.c ] && [ ! -e no.h ] || fail "something was written: $*"
}
refused 'more than 64 values' --dim n=1..100 --sizes each
refused 'sizes one takes up to 1024' --dim n=1..100 --sizes each
refused 'more than 1024 values' --dim n=1..2000
refused 'pin it with --dim n=N' --dim n=1..2000
refused '--threads: one program of all sizes is made without it' --dim n=1..4 --sizes one --threads 2
refused '--prove: one program' --dim n=1..4 --sizes one --prove
refused 'is compiled to c,h' --dim n=1..4 --sizes one --emit o,h
refused 'for processors only' --dim n=1..4 --sizes one -t cuda-sm90
status=2 refused "'past=24-n' of --dim: it is -1 where 'n' is 25" --dim n=1..25 --dim past=24-n
status=2 refused "'past=24-m' of --dim: .* not an expression of known dimensions" --dim n=1..4 --dim past=24-m
status=2 refused '--sizes needs a range' --dim n=4 --sizes one
