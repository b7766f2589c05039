#!/bin/sh
# `arenac train --micro-batch`: gradients, loss and statistics of a step are those of the whole batch; late updates have
# the bits of early ones; every backend and number of threads has the same bits, under a budget too; a training goes on
# from a checkpoint. usage: micro_batches.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
cat >m.ag <<'E'
graph m {
  input x: f32[4,6,6,3]
  const k: f32[8,3,3,3] = random 1 (-0.3, 0.3)
  const b: f32[8] = random 2 (-0.1, 0.1)
  const k2: f32[8,3,3,8] = random 3 (-0.3, 0.3)
  const w: f32[4,8] = random 4 (-0.6, 0.6)
  const v: f32[4] = random 5 (-0.2, 0.2)
  const axes: i32[2] = [1, 2]
  c = conv_2d(x, k, b) padding=same
  t = tanh(c)
  d = conv_2d(t, k2, b) padding=same act=relu
  n = mean(d, axes) keep_dims=false
  y = fully_connected(n, w, v)
  output y
}
E
"$py" - <<'E'
import numpy as np
r = np.random.RandomState(1)
np.save("x.npy", r.rand(20, 6, 6, 3).astype(np.float32))
np.save("y.npy", r.randint(0, 4, 20))
E
train() { # OPTION...
    "$arenac" train m.ag --data x=x.npy --target y.npy --loss cross_entropy --batch 12 --steps 6 --log log.csv "$@"
}
near() { # A B: losses, and weights, of two trainings
    "$py" - "$@" <<'E' || fail "$*: other losses or weights"
import sys, numpy as np
a, b = (np.load(f + ".npz") for f in sys.argv[1:])
x, y = (np.loadtxt(f + ".csv", delimiter=",", skiprows=1)[:, 1] for f in sys.argv[1:])
assert np.allclose(x, y, rtol=1e-5), (x, y)
assert sorted(a.files) == sorted(b.files)
for k in a.files:
    assert np.allclose(a[k], b[k], rtol=0, atol=2e-5 * np.abs(a[k]).max()), (k, a[k] - b[k])
E
}
bits() { # MODEL.npz LOG.csv: equal to got.npz, log.csv
    cmp "$1" got.npz && cmp "$2" log.csv || fail "other bits: $3"
}
for options in "--optimizer momentum --lr 0.1" "--optimizer sgd --lr 0.3 --clip-norm 0.05 --weight-decay 0.01"; do
    # shellcheck disable=SC2086
    train $options -o whole.npz >out || fail "the whole batch"
    mv log.csv whole.csv
    # shellcheck disable=SC2086
    train $options --update late -o got.npz >out || fail "late"
    bits whole.npz whole.csv "late updates"
    for micro in 6 4 2 1; do
        # shellcheck disable=SC2086
        train $options --micro-batch $micro -o got.npz >out || fail "micro-batches of $micro"
        cp log.csv got.csv
        near whole got
    done
    # shellcheck disable=SC2086
    train $options --micro-batch 12 -o got.npz >out || fail "one micro-batch"
    bits whole.npz whole.csv "one micro-batch"
done

# backends, threads and budgets
a="--optimizer adam --lr 0.01 --micro-batch 2 --exact"
# shellcheck disable=SC2086
train $a -o want.npz >out || fail "adam"
cp log.csv want.csv
backends="eval"
! have_llvm || backends="$backends llvm"
for b in $backends; do
    # shellcheck disable=SC2086
    train $a --backend "$b" -o got.npz >/dev/null || fail "$b"
    bits want.npz want.csv "$b"
done
# shellcheck disable=SC2086
train $a --threads 2 -o got.npz >/dev/null || fail "threads"
bits want.npz want.csv "two threads"
# shellcheck disable=SC2086
train $a --poison -o got.npz >/dev/null || fail "poison"
bits want.npz want.csv "dead bytes are read"
all=$(sed -n 's/.* peak_bytes=//p' out)
status=0
# shellcheck disable=SC2086
train $a --budget 1000 -o got.npz 2>err >/dev/null || status=$?
[ $status = 4 ] || fail "a budget of 1000 B: $status"
least=$(sed -n 's/.*needs \([0-9,]*\) B.*/\1/p' err | tr -d ,)
[ "$least" -lt "$all" ] || fail "the least budget, $least B, is no less than $all B"
# shellcheck disable=SC2086
train $a --budget "$least" -o got.npz >/dev/null || fail "the least budget"
bits want.npz want.csv "under a budget"
# shellcheck disable=SC2086
verified m.ag --train adam --loss cross_entropy --batch 12 --micro-batch 2 --schedule search
verified m.ag -t native --train adam --loss cross_entropy --batch 12 --micro-batch 2 --budget "$least" # as train
expect 0 'gradients of a micro-batch, 3,348 B, 6 of which' "$arenac" plan m.ag --train sgd --loss cross_entropy \
    --batch 12 --micro-batch 2

# in two parts
# shellcheck disable=SC2086
train $a --steps 3 --checkpoint-every 3 -o part.npz >/dev/null || fail "part"
# shellcheck disable=SC2086
train $a --steps 6 --resume part.checkpoint.npz -o got.npz >/dev/null || fail "resume"
cmp want.npz got.npz || fail "other bits after a checkpoint"

# errors
t="--optimizer sgd --lr 0.1 -o no.npz"
# shellcheck disable=SC2086
expect 2 'a batch of 12 samples cannot be cut into micro-batches of 5' train $t --micro-batch 5
grep -q 'micro-batch 4 divides it' err.txt || fail "no divisor: $(cat err.txt)"
# shellcheck disable=SC2086
expect 2 'update early does not go with --micro-batch' train $t --micro-batch 4 --update early
# shellcheck disable=SC2086
expect 8 'not available for target cuda' train $t --micro-batch 4 --backend cuda-emu
exit $bad
