#!/bin/sh
# arenac prove: everything is proven for the models here; docs/prove.md shows the output; undecided claims are listed,
# and then no file is written. usage: prove.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
n=0
for f in "$models"/*.tflite "$models"/*.ag; do
    n=$((n + 1))
    expect 0 'proven; [0-9]* steps, [0-9]* claims (accesses ' "$arenac" prove "$f"
done
[ $n -gt 6 ] || fail "only $n models"
for t in cortex-m0plus cortex-m4 cortex-m55 cortex-m55-mve rv32imac rv32imac-zve32x rv64gcv aarch64-i8mm x86-64-v3 \
    x86-64-v4-vnni wasm32; do
    for m in digits branch dsnet; do
        [ $m$t = dsnetrv32imac ] || expect 0 ': proven; ' "$arenac" prove "$models/${m}_int8.tflite" -t $t
    done
done
expect 0 ': proven; ' "$arenac" prove "$models/tf_cnn.pb" --dim x.0=1
expect 0 ': proven; ' "$arenac" prove "$models/tf_rnn.pbtxt"
expect 0 ': proven; ' "$arenac" prove "$models/squares.prototxt" "$models/squares.caffemodel"

# A convolution of one row, as TFLite's Conv1D: its tiles ask which image a pixel is of, also in the last, shorter tile.
for w in 61 62 64; do
    for k in 1 3; do
        awk -v w=$w -v k=$k 'function list(n, by) {
            for (i = 0; i < n; i++) printf "%s%d", i ? ", " : "", (i * by) % 255 - 127
            print "]"
        }
        BEGIN {
            printf "graph m {\n  input x: i8[1,1,%d,16] q(0.05, -2)\n", w
            printf "  const f: i8[24,1,%d,16] q(0.01, 0) = [", k
            list(24 * k * 16, 37)
            printf "  const b: i32[24] q(0.0005, 0) = ["
            list(24, 11)
            printf "  y: i8[1,1,%d,24] q(0.2, 5) = conv_2d(x, f, b) padding=valid\n  output y\n}\n", w - k + 1
        }' >conv1d.ag
        for t in cortex-m4 cortex-m55 cortex-m0plus; do expect 0 ': proven; ' "$arenac" prove conv1d.ag -t $t; done
    done
done

# A bias added to the sum of all lanes: pairs of 32 words are also handled.
cat >row.ag <<'END'
graph m {
  input x: i8[1,4000] q(0.05, -128)
  const w: i8[4,4000] q(0.01, 0) = random 1 (-127, 127)
  const b: i32[4] q(0.0005, 0) = [400, -300, 200, -100]
  y: i8[1,4] q(0.2, 14) = fully_connected(x, w, b)
  output y
}
END
for t in x86-64-v3 x86-64-v4 aarch64; do expect 0 ': proven; ' "$arenac" prove row.ag -t $t; done

# stripes: variables determine which step computes a row; the prover evaluates them with numbers
for m in digits branch dsnet; do
    for t in generic cortex-m4 x86-64-v3; do
        expect 0 ': proven; ' "$arenac" prove "$models/${m}_int8.tflite" --stripe auto -t $t
        expect 0 ': proven; ' "$arenac" prove "$models/${m}_f32.tflite" --stripe auto -t $t
    done
done

page=$src/docs/prove.md
grep -qxF "$(cd "$src" && "$arenac" prove models/digits_int8.tflite)" "$page" || fail "docs/prove.md shows another line"
"$arenac" prove "$models/digits_int8.tflite" --json >out.json
for claim in accesses arithmetic shifts loops written order restrict; do
    grep -q "^| $claim |" "$page" || fail "docs/prove.md does not say what '$claim' claims"
    grep -q "\"$claim\": {" out.json || fail "--json does not have '$claim'"
done
grep -q '"schema": "arenac-prove/1"' out.json || fail "--json has no schema"
grep -q '"proven": true' out.json || fail "--json does not say that all is proven"

# Every step with -v; shared kernels, whose shapes are loaded; calls of threads; results that start inside operands.
expect 0 'step 6  SOFTMAX .*softmax_7: accesses [0-9]*, arithmetic' "$arenac" prove "$models/digits_int8.tflite" -v
expect 0 ': proven; ' "$arenac" prove "$models/dsnet_int8.tflite" --share-kernels
expect 0 ': proven; ' "$arenac" prove "$models/digits_f32.tflite" --threads 4
for target in generic cortex-m4 cortex-m0plus; do # counters and windows that calls keep
    for m in digits_f32 digits_int8 dsnet_int8; do
        expect 0 ': proven; ' "$arenac" prove "$models/$m.tflite" --io rows -t $target -o rows.cert
        expect 0 '^VALID ' "$arenac-certcheck" rows.cert
    done
done
"$arenac" prove "$models/digits_f32.tflite" --io rows -t generic -o rows.cert >/dev/null
sed 's/ given \([0-9]*\) [0-9]*$/ given \1 0/' rows.cert >wrong.cert
expect 3 'has not been written' "$arenac-certcheck" wrong.cert
expect 0 ', order 5, ' "$arenac" prove "$models/digits_f32.tflite" --overlap on

# Rows whose first and last ones skip a part of the weights; shifts of 64-bit lanes by one; long quotients.
cat >rows.ag <<'M'
graph rows {
  input x: i8[1,12,5,8] q(0.5, -128)
  const k: i8[1,3,3,8] q(0.01, 0) = random 1 (-127, 127)
  y: i8[1,12,5,8] q(0.05, -128) = depthwise_conv_2d(x, k, _) padding=same act=relu
  output y
}
M
expect 0 ': proven; ' "$arenac" prove rows.ag --io rows -t cortex-m4
cat >lanes.ag <<'M'
graph lanes {
  input x: i8[1,2,1,5] q(0.5, 3)
  const k: i8[1,1,1,5] q(0.125, 0) = random 1 (-127, 127)
  y: i8[1,2,1,5] q(0.5, 72) = depthwise_conv_2d(x, k, _)
  output y
}
M
expect 0 ': proven; ' "$arenac" prove lanes.ag -t cortex-m55-mve
cat >quotients.ag <<'M'
graph quotients {
  input a: i64[6]
  input b: i64[6]
  q = div(a, b)
  f = floor_div(a, b)
  r = floor_mod(a, b)
  output q, f, r
}
M
for t in generic native cortex-m4; do
    expect 0 ': proven; ' "$arenac" prove quotients.ag -t $t
done

# Softmax of rows that a stripe keeps and writes over.
cat >kept.ag <<'M'
graph kept {
  input x: i8[1,6,6,8] q(0.1, 3)
  const k: i8[4,1,1,8] q(0.02, 0) = random 1 (-127, 127)
  a: i8[1,6,6,4] q(0.2, -3) = conv_2d(x, k, _)
  s: i8[1,6,6,4] q(0.00390625, -128) = softmax(a)
  y: i8[1,3,3,4] q(0.00390625, -128) = max_pool_2d(s) kernel_h=2 kernel_w=2 stride_h=2 stride_w=2
  output y
}
M
expect 0 ': proven; ' "$arenac" prove kept.ag --stripe 0-2 -t generic
expect 0 ': proven; ' "$arenac" prove kept.ag --stripe 0-2 -t x86-64-v2

# Softmax of one element, and of many rows with their logarithms; also the certificates.
for shape in 3,1 40,9; do
    cat >soft.ag <<M
graph s {
  input x: i8[$shape] q(0.1, -5)
  y: i8[$shape] q(0.00390625, -128) = softmax(x)
  z: i8[$shape] q(0.0625, 127) = log_softmax(x)
  output y
  output z
}
M
    expect 0 ': proven; 2 steps' "$arenac" prove soft.ag -t generic -o soft.cert
    expect 0 'VALID 2 of 2 steps' "$arenac-certcheck" soft.cert
done

# A tensor is promised no more than --align gives, which is never less than its type needs.
cat >align.ag <<'M'
graph a {
  input  b: bool[5]
  c: bool[5] = logical_not(b)
  output c
  input  x: f32[3]
  input  z: f32[3]
  s: f32[3] = add(x, z)
  t: f32[3] = mul(s, z)
  output s, t
}
M
for n in 1 4 8; do expect 0 ': proven; ' "$arenac" prove align.ag --align $n; done

"$arenac" prove "$models/digits_int8.tflite" -t cortex-m0plus --align 1 >out.txt 2>&1
! grep -q WRONG out.txt || fail "bytes are loaded four at once where nothing is promised"

# Undecided claims are listed, and then compile --prove writes nothing.
expect 0 '' "$arenac" compile "$models/digits_int8.tflite" --prove -o fine.c
[ -e fine.c ] || fail "what is proven is not written"
cat >softmax.ag <<'E'
graph s { # a softmax that a stripe writes over its operand
  input x: i8[1,16,8,4] q(0.05, -5)
  const v: i8[8,3,3,4] q(0.02, 0) = random 1
  const w: i8[4,3,3,8] q(0.02, 0) = random 2
  a: i8[1,16,8,8] q(0.1, -2) = conv_2d(x, v) padding=same
  b: i8[1,16,8,8] q(0.00390625, -128) = softmax(a)
  y: i8[1,16,8,4] q(0.05, -2) = conv_2d(b, w) padding=same
  output y
}
E
expect 0 ': proven; 1 steps' "$arenac" prove softmax.ag -t cortex-m4 --stripe auto
cat >half.ag <<'E'
graph h { # a multiplier of exactly a half, whose products are shifted as unsigned numbers; products of a warp
  input x: i8[1,8,8,8] q(0.5, -5)
  const w: i8[8,3,3,8] q(0.5, 0) = random 1
  y: i8[1,8,8,8] q(0.5, -2) = conv_2d(x, w) padding=same
  output y
}
E
expect 0 ': proven; 1 steps' "$arenac" prove half.ag -t cortex-m55-mve
expect 0 ': proven; 1 steps' "$arenac" prove half.ag -t cuda-sm75
expect 0 ': proven; 1 steps' "$arenac" prove half.ag -t cuda-sm80
# a result that starts inside of its operand, which is read at mirrored places: place by place
cat >mirror.ag <<'E'
graph mirror {
  input x: f32[2,5,5]
  y = mirror_pad(x) pads=[1, 1, 1, 1, 1, 1]
  output y
}
E
expect 0 ': proven; 1 steps' "$arenac" prove mirror.ag -t cortex-m4 --overlap on
# a data-dependent position is checked before the threads begin, and loaded by each; results whose elements are walked
cat >place.ag <<'E'
graph place {
  input x: f32[2,3,4]
  input i: i32[]
  input a: f32[40,335,20]
  input b: f32[40,20,335]
  y = gather(x, i) axis=0
  z = batch_matmul(a, b)
  output y, z
}
E
expect 0 ': proven; 2 steps' "$arenac" prove place.ag -t cuda-sm75
for f in "$src"/tests/golden/ops/tree_ensemble-*.ag; do # a leaf leads to itself, as its split is NaN
    expect 0 ': proven; 1 steps' "$arenac" prove "$f"
    expect 0 ': proven; 1 steps' "$arenac" prove "$f" -t cortex-m4
done
cat >threads.ag <<'E'
graph t { # 32 threads find the largest element together, and the sum
  input x: u8[1,1001] q(0.1, 3)
  y: u8[1,1001] q(0.00390625, 0) = softmax(x)
  output y
}
E
expect 0 ': proven; 1 steps' "$arenac" prove threads.ag -t cuda-sm75
cat >places.ag <<'E'
graph p { # a result of too many elements to walk through them
  input a: f32[200,900,4]
  input b: f32[200,4,900]
  y = batch_matmul(a, b)
  output y
}
E
expect 8 'E0703.*1 claim about the code is not proven' "$arenac" prove places.ag -t cuda-sm75
expect 8 'written: result .out. is not certainly written as a whole' "$arenac" prove places.ag -t cuda-sm75
expect 8 'E0703' "$arenac" compile places.ag -t cuda-sm75 --prove --emit loops -o open.loops
[ ! -e open.loops ] || fail "what is not proven is written"
