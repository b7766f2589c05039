#!/bin/sh
# Weights that a file has as integers with scales stay packed where few rows are multiplied with them: for any type,
# layout and blocks results are those of the floats (--skip pack) but for the order of sums.
# usage: pack.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require cc gcc
have_numpy || exit 77
cat >same.py <<'E2'
import glob
import numpy as np
a, b = (np.load(glob.glob(d + "/*.npy")[0]) for d in ("packed", "floats"))
assert np.abs(a).max() > 1 and np.abs(a - b).max() <= 2e-6 * np.abs(b).max() * a.size, np.abs(a - b).max()
E2
# both NAME LINES...: a graph of these lines, whose result is y
both() {
    name=$1
    shift
    { echo "graph g {"; printf '  %s\n' "$@"; echo "  output y"; echo "}"; } >"$name.ag"
    for way in packed floats; do
        skip=
        [ $way = packed ] || skip="--skip pack"
        # shellcheck disable=SC2086
        "$arenac" run "$name.ag" -t x86-64-v2 --backend eval --random 3 $skip --output-dir $way >log 2>&1 || {
            cat log
            fail "$name, $way"
            return
        }
    done
    "$py" same.py || fail "$name: packed weights give other results"
    "$arenac" check -q --dump-after pack "$name.ag" | grep -q blockwise_dense || fail "$name: nothing was packed"
}

for type in i8 u8 i4 u4; do
    case $type in
    i8) lo=-128 hi=127 ;;
    u8) lo=0 hi=255 ;;
    i4) lo=-8 hi=7 ;;
    *) lo=0 hi=15 ;;
    esac
    zero="(0, 7)" # random of floats: rounded below
    both "$type-columns" "input x: f32[3,130]" "const w: $type[130,70] = random 1 ($lo, $hi)" \
        "const s: f32[70] = random 2 (0.5, 1)" "c = cast(w) to=f32" "v = mul(c, s)" "y = batch_matmul(x, v)"
    both "$type-rows" "input x: f32[2,3,130]" "const w: $type[70,130] = random 1 ($lo, $hi)" \
        "const s: f32[70,1] = random 2 (0.5, 1)" "const z: u8[70,1] = random 3 $zero" "r = cast(z) to=f32" \
        "c = cast(w) to=f32" "d = sub(c, r)" "v = mul(d, s)" "y = batch_matmul(x, v) adj_y=true"
    both "$type-blocks" "input x: f32[1,96]" "const w: $type[96,70] = random 1 ($lo, $hi)" \
        "const s: f32[3,1,70] = random 2 (0.5, 1)" "const z: u8[3,1,70] = random 3 $zero" "r = cast(z) to=f32" \
        "q = reshape(w) shape=[3,32,70]" "c = cast(q) to=f32" "d = sub(c, r)" "m = mul(d, s)" \
        "v = reshape(m) shape=[96,70]" "y = batch_matmul(x, v)"
    both "$type-turned" "input x: f32[1,96]" "const w: $type[70,96] = random 1 ($lo, $hi)" \
        "const s: f32[70,3,1] = random 2 (0.5, 1)" "const order: i32[2] = [1, 0]" "q = reshape(w) shape=[70,3,32]" \
        "c = cast(q) to=f32" "m = mul(c, s)" "v = reshape(m) shape=[70,96]" "t = transpose(v, order)" \
        "y = batch_matmul(x, t)"
done
both dequantize "input x: f32[2,130]" "const w: i8[70,130] q(0.5, -3) = random 1 (-128, 127)" \
    "const b: f32[70] = random 2 (-1, 1)" "v = dequantize(w)" "y = fully_connected(x, v, b) act=relu"

# zero points that are not codes, and scales that differ inside of a block, stay floats
stays() {
    "$arenac" check -q --dump-after pack "$1.ag" >out.txt 2>&1 || fail "$1: $(cat out.txt)"
    ! grep -q blockwise_dense out.txt || fail "$1 was packed"
}
both_lines='graph g {
  input x: f32[1,96]
  const w: u4[96,70] = random 1 (0, 15)
  const s: f32[SHAPE] = random 2 (0.5, 1)
  const z: f32[] = [ZERO]
  c = cast(w) to=f32
  d = sub(c, z)
  v = mul(d, s)
  y = batch_matmul(x, v)
  output y
}'
echo "$both_lines" | sed 's/SHAPE/70/; s/ZERO/7.5/' >half.ag
echo "$both_lines" | sed 's/SHAPE/70/; s/ZERO/16/' >beyond.ag
echo "$both_lines" | sed 's/SHAPE/96,1/; s/ZERO/7/' >inside.ag
stays half
stays beyond
stays inside

# If bytes are multiplied, a row is converted to digits: as exact as floats for values of every size; infinities and NaN
# are preserved.
cat >digits.ag <<'E2'
graph g {
  input x: f32[3,70]
  const w: u8[24,80] = random 1 (0, 255)
  const s: f32[24,5] = random 2 (0.5, 1)
  y = blockwise_dense(x, w, s) bits=8 size=16 zero=128
  output y
}
E2
cat >digits.py <<'E2'
import glob, subprocess, sys
import numpy as np
def run(x, target, backend="eval"):
    np.save("x.npy", x)
    subprocess.run([sys.argv[1], "run", "digits.ag", "-t", target, "--backend", backend, "--input", "x=x.npy",
                    "--output-dir", "out"], check=True, capture_output=True)
    return np.load(glob.glob("out/*.npy")[0])
x = np.random.default_rng(1).standard_normal((3, 70)).astype(np.float32)
floats, digits = run(x, "x86-64-v3"), run(x, "x86-64-v4-vnni")
assert (floats != digits).any() and np.abs(floats - digits).max() < 1e-6 * np.abs(floats).max()
for power in (100, -90):
    assert (run(x * np.float32(2.0**power), "x86-64-v4-vnni") == digits * np.float32(2.0**power)).all(), power
if "avx512_vnni" in open("/proc/cpuinfo").read():
    assert (run(x, "x86-64-v4-vnni", "c") == digits).all(), "C has other bits"
x[0, 3], x[1, 60], x[2, 0] = np.inf, np.nan, np.finfo(np.float32).max
assert (run(x, "x86-64-v4-vnni")[0] == run(x, "x86-64-v3")[0]).all(), "an infinity"
assert np.isnan(run(x, "x86-64-v4-vnni")[1]).all(), "a NaN"
assert (run(x, "x86-64-v4-vnni")[2] == run(x, "x86-64-v3")[2]).all(), "the largest float"
E2
"$py" digits.py "$arenac" || fail "digits"
