#!/bin/sh
# Dropout counts its random numbers: they are Philox 4x32-10's, gradients go where values went, and a training has the
# same bits for every backend, number of threads and processes, budget, and after a checkpoint; another seed is another
# training; inference has none. usage: dropout.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
cat >philox.py <<'E'
import sys
import numpy as np


def words(seed, step, micro, stream, n):
    out = []
    for block in range((n + 3) // 4):
        c, k = [block, stream, step, micro], [seed & 0xffffffff, seed >> 32]
        for _ in range(10):
            a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [b >> 32 ^ c[1] ^ k[0], b & 0xffffffff, a >> 32 ^ c[3] ^ k[1], a & 0xffffffff]
            k = [(k[0] + 0x9E3779B9) & 0xffffffff, (k[1] + 0xBB67AE85) & 0xffffffff]
        out += c
    return np.array(out[:n], "u8")


assert [hex(w) for w in words(0, 0, 0, 0, 4)] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]
stream, ratio, got = int(sys.argv[1]), float(np.float32(sys.argv[2])), sys.argv[3:]
x = np.load("x.npy")
stays = words(0, 0, 0, stream, x.size).reshape(x.shape) >= int(ratio * 2 ** 32)
assert abs(stays.mean() - (1 - ratio)) < 0.05
for f, v in zip(got, (x, np.load("g.npy"))):
    want = np.where(stays, v * np.float32(1 / (1 - ratio)), np.float32(0))
    assert np.array_equal(np.load(f), want), f
E
"$py" - <<'E'
import numpy as np
r = np.random.RandomState(1)
np.save("x.npy", r.uniform(1, 2, (37, 29)).astype("f4"))
np.save("g.npy", r.uniform(1, 2, (37, 29)).astype("f4"))
np.save("tx.npy", r.rand(48, 6).astype("f4"))
np.save("ty.npy", r.randint(0, 3, 48))
E
backends="c eval"
! have_llvm || backends="$backends llvm"
for stream in 0 9; do
    cat >one.ag <<E
graph one {
  input x: f32[37,29]
  state numbers: i32[4]
  y = dropout(x, numbers) ratio=0.3 stream=$stream
  output y
}
E
    for b in $backends; do
        "$arenac" run -q one.ag -i x=x.npy --output-dir y --backend "$b" >out || fail "run by $b"
        "$arenac" grad one.ag --input x=x.npy --cotangent y=g.npy --output-dir d --backend "$b" >out ||
            fail "grad by $b"
        "$py" philox.py $stream 0.3 y/0.npy d/grad0.npy || fail "numbers of $b"
    done
done
expect 1 'ratio is 1, expected at least 0 and less than 1' "$arenac" check - <<E
graph one {
  input x: f32[3]
  state numbers: i32[4]
  y = dropout(x, numbers) ratio=1
  output y
}
E

cat >m.ag <<'E'
graph m {
  input x: f32[4,6]
  const w1: f32[50,6] = random 1 (-0.6, 0.6)
  const b1: f32[50] = random 2 (-0.2, 0.2)
  const w2: f32[40,50] = random 3 (-0.6, 0.6)
  const w3: f32[3,40] = random 4 (-0.6, 0.6)
  state numbers: i32[4]
  h = fully_connected(x, w1, b1)
  a = tanh(h)
  d = dropout(a, numbers) ratio=0.3 stream=1
  i = fully_connected(d, w2, _)
  b = tanh(i)
  e = dropout(b, numbers) ratio=0.5 stream=2
  y = fully_connected(e, w3, _)
  output y
}
E
train() { # OPTION...
    "$arenac" train m.ag --data x=tx.npy --target ty.npy --loss cross_entropy --optimizer adam --lr 0.01 --batch 24 \
        --steps 6 --exact --log log.csv "$@" >out
}
same() {
    cmp want.npz got.npz && cmp want.csv log.csv || fail "other bits: $*"
}
for parts in "" "--micro-batch 6"; do
    # shellcheck disable=SC2086
    train --seed 5 $parts -o want.npz --validate tx.npy,ty.npy || fail "train $parts"
    cp log.csv want.csv
    cp out want.out
    for options in "--threads 2" "--backend eval" "--poison" "--budget 27K" "--update late"; do
        # shellcheck disable=SC2086
        train --seed 5 $parts $options -o got.npz || fail "$parts $options"
        same "$parts $options"
    done
    # shellcheck disable=SC2086
    train --seed 6 $parts -o got.npz || fail "another seed"
    cmp want.npz got.npz >/dev/null && fail "the seed does not matter"
    # shellcheck disable=SC2086
    train --seed 5 $parts --steps 2 --checkpoint-every 2 -o part.npz || fail part
    # shellcheck disable=SC2086
    train --seed 5 $parts --resume part.checkpoint.npz -o got.npz || fail resume
    cmp want.npz got.npz || fail "other bits after a checkpoint"
done
have_mpi && for n in 1 2 4; do
    # shellcheck disable=SC2086
    $ranks $n "$arenac" train m.ag --data x=tx.npy --target ty.npy --loss cross_entropy --optimizer adam --lr 0.01 \
        --batch 24 --steps 6 --exact --log log.csv --seed 5 --micro-batch 6 --mpi -o got.npz >out 2>err ||
        fail "$n processes: $(cat err)"
    same "$n processes"
done
# ONNX that was exported for training: the mask is a result of the node, read or not
cat >exported.py <<'E'
import struct
import sys
from onnx_bytes import *
f32 = lambda *v: struct.pack("<%df" % len(v), *v)
seen = sys.argv[1] == "seen"
nodes = [node("MatMul", ["x", "w"], ["h"]), node("Dropout", ["h", "ratio", "mode"], ["d", "mask"])]
nodes += [node("Cast", ["mask"], ["stays"], attr_int("to", F32)), node("Mul", ["h", "stays"], ["e"]),
          node("Mul", ["e", "two"], ["y"])] if seen else [node("Identity", ["d"], ["y"])]
w = [tensor("w", F32, [6, 40], f32(*[((7 * i) % 13 - 6) / 9 for i in range(240)])), tensor("ratio", F32, [], f32(0.5)),
     tensor("mode", BOOL, [], b"\1"), tensor("two", F32, [], f32(2))]
with open(sys.argv[1] + ".onnx", "wb") as f:
    f.write(model(graph(nodes, [("x", F32, [4, 6])], [("y", F32, [4, 40])], w)))
E
for m in plain seen; do
    PYTHONPATH=$src/tests/golden:$models "$py" exported.py $m || fail "no $m.onnx"
    "$arenac" train $m.onnx --data x=tx.npy --target ty.npy --loss cross_entropy --optimizer sgd --lr 0.1 --batch 24 \
        --steps 3 --exact --log $m.csv --seed 3 --train-only w -o $m.npz >out || fail "$m.onnx does not train"
done
cmp plain.csv seen.csv || fail "the mask is not of the elements that stay"
"$arenac" train plain.onnx --data x=tx.npy --target ty.npy --loss cross_entropy --optimizer sgd --lr 0.1 --batch 24 \
    --steps 3 --exact --log other.csv --seed 4 -o other.npz >out || fail "another seed of plain.onnx"
cmp plain.csv other.csv >/dev/null && fail "nothing is taken out of plain.onnx"
expect 8 'help: export the model after model.eval(); arenac train takes it as it is' "$arenac" check plain.onnx
# of two trainings with the same weights, validation is the same: no number goes into it
"$arenac" train m.ag --data x=tx.npy --target ty.npy --loss cross_entropy --optimizer sgd --lr 0 --batch 24 --steps 1 \
    --seed 1 -o a.npz --validate tx.npy,ty.npy | grep validation >one
"$arenac" train m.ag --data x=tx.npy --target ty.npy --loss cross_entropy --optimizer sgd --lr 0 --batch 24 --steps 1 \
    --seed 2 -o a.npz --validate tx.npy,ty.npy | grep validation >two
cmp one two || fail "validation draws numbers"
exit $bad
