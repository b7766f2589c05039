#!/bin/sh
# `arenac train`: losses and weights of every loss and optimizer are those of float64, with every backend; errors of
# command lines are reported. usage: train.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
ref() {
    "$py" "$src/tests/cli/train/train_reference.py" "$@" || fail "$*"
}
ref data
cat >m.ag <<'E2'
graph m {
  input x: f32[4,6]
  const w1: f32[5,6] = random 1 (-0.6, 0.6)
  const b1: f32[5] = random 2 (-0.2, 0.2)
  const w2: f32[3,5] = random 3 (-0.6, 0.6)
  const b2: f32[3] = random 4 (-0.2, 0.2)
  h = fully_connected(x, w1, b1)
  a = tanh(h)
  y = fully_connected(a, w2, b2)
  output y
}
E2
"$arenac" convert m.ag m.onnx || fail convert

train() { # OPTION...
    "$arenac" train m.onnx --data x=x.npy --batch 4 --log log.csv "$@"
}
train --target ids.npy --loss cross_entropy --optimizer sgd --lr 0 --steps 1 -o first.npz >/dev/null || fail "no step"

# one LOSS OPTIMIZER TARGET OPTION...: seven steps, compared
one() {
    l=$1 o=$2 t=$3
    shift 3
    options=
    for v in "$@"; do
        case "$v" in --lr-schedule=*) key=schedule ;; *) key=$(echo "${v%%=*}" | sed 's/^--//; y/-/_/') ;; esac
        options="$options $key=${v#*=}"
    done
    train --target "$t.npy" --loss "$l" --optimizer "$o" --lr 0.05 --steps 7 -o last.npz "$@" >out || fail "$l $o"
    tail -n 1 out | grep -q '^steps=7 seconds=[0-9.]* steps_per_s=[0-9.e+]* loss=[0-9.e-]* peak_bytes=[0-9]*$' ||
        fail "$(cat out)"
    # shellcheck disable=SC2086
    ref check "$l" "$o" 7 first.npz last.npz log.csv target="$t" $options
}
for o in sgd momentum nesterov adam adamw rmsprop adagrad; do
    one cross_entropy $o ids
    one mse $o reals --weight-decay=0.02
done
one cross_entropy sgd ids32
one cross_entropy sgd shares
one l1 momentum reals --momentum=0.5
one huber rmsprop reals --momentum=0.9 --beta2=0.9
one bce_with_logits adam shares --beta1=0.8 --beta2=0.95 --eps=1e-4
one mse sgd reals --clip-norm=0.1
one mse sgd reals --lr-schedule=cosine
one mse sgd reals --lr-schedule=step

# backends and threads; the same bits
backends=eval
! have_llvm || backends="$backends llvm"
t="--target ids.npy --loss cross_entropy --optimizer adamw --lr 0.05 --steps 5 --exact"
# shellcheck disable=SC2086
train $t -o c.npz >/dev/null || fail c
cp log.csv c.csv
for b in $backends; do
    # shellcheck disable=SC2086
    train $t --backend $b -o b.npz >/dev/null || fail "$b"
    cmp c.csv log.csv && cmp c.npz b.npz || fail "$b has other bits"
done
# shellcheck disable=SC2086
train $t --threads 2 -o b.npz >/dev/null || fail "threads"
cmp c.npz b.npz || fail "two threads have other bits"

# frozen weights stay; patterns
s="--target reals.npy --loss mse --optimizer sgd --lr 0.05 --steps 7"
# shellcheck disable=SC2086
train $s --freeze 'w*' -o last.npz >/dev/null || fail freeze
"$py" - <<'E2' || fail "weights of a frozen layer changed"
import numpy as np
a, b = np.load("first.npz"), np.load("last.npz")
assert sorted(b.files) == ["b1", "b2"], b.files
assert not np.array_equal(a["b1"], b["b1"])
E2
# shellcheck disable=SC2086
train $s --train-only '*2' --freeze 'b2' -o only.npz >/dev/null || fail only
[ "$("$py" -c 'import numpy; print(*numpy.load("only.npz"))')" = w2 ] || fail "train-only"

# the .onnx that is written is the file with other weights
# shellcheck disable=SC2086
train $s -o last.onnx >/dev/null && train $s -o last.npz >/dev/null || fail "onnx"
[ "$(wc -c <last.onnx)" = "$(wc -c <m.onnx)" ] || fail "last.onnx has another size"
"$arenac" train last.onnx --data x=x.npy --batch 4 --target reals.npy --loss mse --optimizer sgd --lr 0 --steps 1 \
    -o again.npz >/dev/null || fail "last.onnx does not train"
"$py" - <<'E2' || fail "last.onnx and last.npz differ"
import numpy as np
a, b = np.load("last.npz"), np.load("again.npz")
assert all(np.array_equal(a[k], b[k]) for k in a.files)
E2

# orders: of the seed alone
for seed in 3 3 4; do
    # shellcheck disable=SC2086
    train $s --shuffle $seed -o last.npz >/dev/null || fail shuffle
    cksum <log.csv
done | sort -u | wc -l | grep -q '^ *2$' || fail "the order does not follow the seed"
expect 0 'steps=6' train --target reals.npy --loss mse --optimizer sgd --lr 0.1 --epochs 2 -o last.npz

# errors
w() { # STATUS TEXT OPTION...
    status=$1 text=$2
    shift 2
    expect "$status" "$text" "$arenac" train m.onnx --data x=x.npy --optimizer sgd --lr 0.1 --batch 4 --steps 1 \
        -o no.onnx "$@"
    [ ! -e no.onnx ] || fail "no.onnx is there all the same"
}
w 2 'train needs --loss'
w 2 'train needs --target' --loss mse
expect 2 '' "$arenac" train m.onnx --data x=x.npy -o no.onnx
[ "$(grep -c 'error.E0501.: train needs --' err.txt)" = 5 ] || fail "not all that is missing is said: $(cat err.txt)"
w 2 "help: did you mean 'cross_entropy'" --loss crossentropy --target ids.npy
w 1 "help: did you mean 'cross_entropy'" --loss crossentropy
w 2 "bad argument 'adm' of --optimizer.*" --loss mse --target reals.npy --optimizer adm
expect 2 "did you mean 'adam'" "$arenac" train m.onnx --optimizer adm
w 2 "bad argument '-1' of --lr" --loss mse --lr -1
w 2 "bad argument '1' of --momentum" --loss mse --target reals.npy --momentum 1
w 1 "E0110.*'lost' is neither a loss nor an output" --loss lost
w 2 "target" --loss mse --target ids.npy
w 2 "cannot be used together" --loss mse --target reals.npy --epochs 1
w 1 "E0110.*all 4 weights are frozen" --loss mse --target reals.npy --freeze '*'
w 3 "no.npy" --loss mse --target no.npy
w 2 "given twice" --loss mse --target reals.npy --data 0=x.npy
w 2 "ends in none of" --loss mse --target reals.npy -o last.txt
head -c 200 x.npy >half.npy
w 2 "has fewer elements" --loss mse --target half.npy
"$py" -c 'import numpy as n; n.save("nine.npy", n.zeros((9, 3), "f4"))'
w 2 "target has 9 samples" --loss mse --target nine.npy
"$py" - <<'E2'
import numpy as np
for name, bad in ("seven", 7), ("ignored", -100):
    y = np.load("ids.npy")
    y[2] = bad
    np.save(name + ".npy", y)
    np.save(name + "32.npy", y.astype("i4"))
E2
for kind in "" 32; do
    w 2 "seven$kind.npy: error.E0304.: --target: sample 2 is of class 7, expected 0 to 2: 'y' has 3 classes" \
        --loss cross_entropy --target seven$kind.npy
    w 2 "sample 2 is of class -100, expected 0 to 2.*" --loss cross_entropy --target ignored$kind.npy
    grep -q "ignore_index) are not supported" err.txt || fail "nothing about ignore_index"
done
w 2 "seven.npy.*--validate: sample 2 is of class 7" --loss cross_entropy --target ids.npy --validate x.npy,seven.npy
cat >ints.ag <<'E2'
graph ints {
  input x: f32[4,6]
  y = tanh(x)
  output y
}
E2
expect 1 'no float weights' "$arenac" train ints.ag --data x=x.npy --optimizer sgd --lr 0.1 --batch 4 --steps 1 \
    -o no.npz --loss mse --target x.npy

# checkpoints: a training that was cut in two is the same to the bit
t="--target ids.npy --loss cross_entropy --optimizer adam --lr 0.05 --shuffle 5"
# shellcheck disable=SC2086
train $t --steps 7 -o whole.npz >/dev/null || fail whole
cp log.csv whole.csv
# shellcheck disable=SC2086
train $t --steps 4 --checkpoint-every 3 -o part.npz >/dev/null || fail part
# shellcheck disable=SC2086
train $t --steps 7 --resume part.checkpoint.npz -o rest.npz >/dev/null || fail rest
cmp whole.npz rest.npz || fail "resumed: other weights"
tail -n 4 whole.csv >tail.csv
tail -n +2 log.csv | cmp - tail.csv || fail "resumed: other losses"
# shellcheck disable=SC2086
expect 2 'nothing left to do' train $t --steps 3 --resume part.checkpoint.npz -o no.npz
# shellcheck disable=SC2086
expect 2 "it has no array 'w1'" train $t --steps 3 --resume only.npz -o no.npz

# a checkpoint with a wrong bit in any array, or in a name, is refused, and names both sums
cat >damage.py <<'E2'
import sys, zipfile
whole = bytearray(open("part.checkpoint.npz", "rb").read())
with zipfile.ZipFile("part.checkpoint.npz") as z:
    entries = [(i.header_offset + 30, i.header_offset + 30 + len(i.filename), i.compress_size) for i in z.infolist()]
for k, (name, data, n) in enumerate(entries):
    one = bytearray(whole)
    one[(name, data + n - 1, data + n // 2)[k % 3]] ^= 4
    open(f"damaged{k}.npz", "wb").write(one)
E2
"$py" damage.py || fail damage
for f in damaged*.npz; do
    # shellcheck disable=SC2086
    expect 2 "$f: error.E0304.*\(is damaged: its CRC-32 is 0x[0-9a-f]*, expected 0x\|differ in its name\)" \
        train $t --steps 7 --resume "$f" -o no.npz --backend eval
done
[ ! -e no.npz ] || fail "weights of a damaged checkpoint"

# a loss that is not finite ends the training; the checkpoint before it stays
diverging="--target reals.npy --loss mse --optimizer sgd --lr 1e6 --checkpoint-every 1 --backend eval"
# shellcheck disable=SC2086
expect 1 "E0111.*: \(the loss\|'[wb][12]'\) is \(NaN\|infinite\) in step [0-9]* of 60" train $diverging --steps 60 \
    -o far.npz
[ ! -e far.npz ] || fail "weights that are not finite"
grep -q 'checkpoint far.checkpoint.npz, after step [0-9]*, has finite weights' err.txt || fail "$(cat err.txt)"
finite() {
    "$py" -c "import numpy as np, sys; sys.exit(not all(np.isfinite(a).all() for a in np.load('$1').values()))"
}
finite far.checkpoint.npz || fail "a checkpoint that is not finite"
# shellcheck disable=SC2086
expect 0 'steps=60' train $diverging --steps 60 -o far.npz --keep-going
finite far.npz && fail "the training did not diverge"
finite far.checkpoint.npz || fail "--keep-going: a checkpoint that is not finite"

# a signal writes a checkpoint
# shellcheck disable=SC2086
"$arenac" train m.onnx --data x=x.npy --batch 4 $t --steps 2000000000 --checkpoint-every 100000 -o long.onnx \
    >/dev/null 2>note &
pid=$!
tries=0
while [ ! -e long.checkpoint.npz ] && [ $tries -lt 120 ]; do
    tries=$((tries + 1))
    sleep 1
done
kill -TERM $pid
wait $pid && fail "the signal did not end it"
[ ! -e long.onnx ] || fail "long.onnx is there"
grep -q 'stopped after step' note && [ -e long.checkpoint.npz ] || fail "no checkpoint: $(cat note)"

# other formats, and validation; the accuracy is that of the model that was written
# shellcheck disable=SC2086
for m in m.onnx m.ag; do
    for out in o.onnx o.ag; do
        expect 0 '^validation: samples=10 loss=0.[0-9]* accuracy=0.[0-9]*$' "$arenac" train $m --data 0=x.npy \
            --batch 4 $t --steps 7 -o $out --validate x.npy,ids.npy
        "$arenac" run $out --random 3 >ran || fail "$out of $m"
        cat ran
    done
done | sort -u | wc -l | grep -q '^ *1$' || fail "formats differ"
w 2 'X.npy,Y.npy' --loss mse --target reals.npy --validate x.npy
w 2 'its samples are not like those' --loss mse --target reals.npy --validate x.npy,x.npy

# the batch of the file, and another one: shapes that hold it follow
cat >b2.ag <<'E2'
graph b {
  input x: f32[2,6]
  const w: f32[3,3] = random 1 (-0.6, 0.6)
  r: f32[2,3,2] = reshape(x) shape=[2,3,2]
  q = reshape(r) shape=[4,3]
  h = tanh(q)
  f = fully_connected(h, w, _)
  y: f32[2,6] = reshape(f) shape=[2,-1]
  output y
}
E2
sed 's/\[2,/[5,/g; s/=\[4,3\]/=[10,3]/' b2.ag >b5.ag
"$arenac" convert b2.ag b2.onnx || fail convert
"$py" -c 'import numpy as n; n.save("y6.npy", n.random.default_rng(1).normal(size=(10, 6)).astype("f4"))'
for m in b5.ag b2.ag b2.onnx; do
    "$arenac" train $m --data x=x.npy --target y6.npy --loss mse --optimizer sgd --lr 0.1 --batch 5 --steps 4 -o b.npz \
        --log $m.csv >/dev/null || fail "$m: batch 5"
    cmp b5.ag.csv $m.csv || fail "$m: batch 5 is another training"
done
