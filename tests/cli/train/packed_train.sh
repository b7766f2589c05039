#!/bin/sh
# Gradients go through weights that stay packed (blockwise_dense, MatMulNBits); biases, scales and named weights are
# trained: gradients, losses and new values are those of float64. usage: packed_train.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
cat >make.py <<'E2'
import numpy as np
r = np.random.default_rng(5)
shown = lambda v: "[" + ", ".join(repr(float(e)) if v.dtype.kind == "f" else str(e) for e in v.ravel()) + "]"
lines = ["graph g {", "  input x: f32[4,12]"]
keep = {}
x, k = "x", 12
for i, (bits, size, n) in enumerate(((4, 8, 6), (8, 4, 5), (2, 16, 3))):
    count = -(-k // size)
    codes = r.integers(0, 1 << bits, (n, count * size))
    per = 8 // bits
    packed = sum(codes[:, j::per] << (j * bits) for j in range(per)).astype("u1")
    scale = r.uniform(0.05, 0.1, (n, count)).astype("f4")
    zero = r.integers(0, 1 << bits, (n, count)).astype("u1") if i != 1 else np.full((n, count), 1 << (bits - 1), "u1")
    bias = r.normal(size=n).astype("f4")
    for name, v in (("c", packed), ("s", scale), ("z", zero), ("b", bias)):
        if name != "z" or i != 1:
            lines.append("  const %s%d: %s[%s] = %s" % (name, i, {"u1": "u8", "f4": "f32"}[v.dtype.str[1:]],
                                                     ",".join(map(str, v.shape)), shown(v)))
        keep["%s%d" % (name, i)] = v
    keep["codes%d" % i] = codes
    z = "_" if i == 1 else "z%d" % i
    lines.append("  y%d: f32[4,%d] = blockwise_dense(%s, c%d, s%d, %s, b%d) bits=%d size=%d zero=%d act=%s" % (
        i, n, x, i, i, z, i, bits, size, 1 << (bits - 1), "none" if i == 2 else "tanh" if i else "relu"))
    x, k = "y%d" % i, n
lines += ["  output y2", "}"]
open("m.ag", "w").write("\n".join(lines) + "\n")
np.savez("keep.npz", **keep)
np.save("x.npy", r.normal(size=(12, 12)).astype("f4"))
np.save("one.npy", np.load("x.npy")[:4])
np.save("y.npy", r.normal(size=(12, 3)).astype("f4"))
np.save("g.npy", r.normal(size=(4, 3)).astype("f4"))
E2
"$py" make.py || fail make
cat >net.py <<'E2'
import numpy as np
SIZE = (8, 4, 16)
keep = np.load("keep.npz")
def numbers(i):
    return keep["codes%d" % i] - np.repeat(keep["z%d" % i].astype("f8"), SIZE[i], 1)
class Net:
    """The three layers in float64; w[i] is what the blocks mean, scale[i] what they are multiplied with."""
    def __init__(self):
        self.scale = [keep["s%d" % i].astype("f8") for i in range(3)]
        self.bias = [keep["b%d" % i].astype("f8") for i in range(3)]
        self.depth = (12, 6, 5)
        self.w = [None] * 3
        self.weigh()
    def weigh(self):
        self.w = [(numbers(i) * np.repeat(self.scale[i], SIZE[i], 1))[:, :self.depth[i]] for i in range(3)]
    def run(self, x):
        self.x = [x]
        for i in range(3):
            v = self.x[i] @ self.w[i].T + self.bias[i]
            self.x.append(v if i == 2 else np.tanh(v) if i else np.maximum(v, 0))
        return self.x[3]
    def back(self, d):
        self.dw, self.db = [None] * 3, [None] * 3
        for i in (2, 1, 0):
            y = self.x[i + 1]
            d = d if i == 2 else d * (1 - y * y) if i else d * (y > 0)
            self.dw[i], self.db[i] = d.T @ self.x[i], d.sum(0)
            d = d @ self.w[i]
        return d
    def dscale(self, i):
        n = numbers(i)
        wide = np.zeros(n.shape)
        wide[:, :self.depth[i]] = self.dw[i]
        return (wide * n).reshape(len(n), -1, SIZE[i]).sum(2)
E2
cat >grads.py <<'E2'
import sys
import numpy as np
from net import Net
n = Net()
n.run(np.load("one.npy").astype("f8"))
want, got = n.back(np.load("g.npy").astype("f8")), np.load(sys.argv[1])
assert np.abs(want).max() > 0.1 and np.abs(got - want).max() <= 1e-5 * np.abs(want).max(), (got, want)
E2
for backend in c eval; do
    "$arenac" grad m.ag --input 0=one.npy --cotangent 0=g.npy --backend $backend --output-dir $backend >log 2>&1 ||
        fail "grad: $(cat log)"
    "$py" grads.py $backend/grad0.npy || fail "grad, $backend: not those of float64"
done

# the forward product of a step keeps its weights packed
"$arenac" plan m.ag --train sgd --loss mse --batch 4 --train-only 'b*' --dump-after grow >log 2>&1
grep -q blockwise_dense log ||
    fail "weights that do not train are unpacked"

cat >check.py <<'E2'
import csv
import sys
import numpy as np
from net import Net
what, rate = sys.argv[1], 0.05
n, x, y = Net(), np.load("x.npy").astype("f8"), np.load("y.npy").astype("f8")
new = np.load("new.npz")
for step, row in zip(range(6), csv.DictReader(open("log.csv"))):
    xs, ys = x[step * 4 % 12:][:4], y[step * 4 % 12:][:4]
    d = n.run(xs) - ys
    assert abs((d * d).mean() - float(row["loss"])) <= 1e-5 * (d * d).mean(), (step, (d * d).mean(), row)
    n.back(2 * d / d.size)
    for i in range(3):
        if what == "biases":
            n.bias[i] = n.bias[i] - rate * n.db[i]
        elif what == "scales":
            n.scale[i] = n.scale[i] - rate * 0.1 * n.dscale(i)
        elif i < 2:
            n.w[i] = n.w[i] - rate * n.dw[i]
    if what == "scales":
        n.weigh()
names = {"biases": ("b0", "b1", "b2"), "scales": ("s0", "s1", "s2"), "weights": ("c0", "c1")}[what]
assert sorted(new.files) == sorted(names), new.files
for i, name in enumerate(names):
    want = {"biases": n.bias, "scales": n.scale, "weights": n.w}[what][i]
    assert new[name].shape == want.shape and np.abs(new[name] - want).max() <= 1e-5 * np.abs(want).max(), name
assert step == 5
E2
run() { # MODEL OPTION...
    model=$1
    shift
    "$arenac" train "$model" --data x=x.npy --target y.npy --loss mse --optimizer sgd --batch 4 --steps 6 \
        --log log.csv "$@" >log 2>&1
}
train() { # WHAT OPTION...
    what=$1
    shift
    for backend in c eval; do
        run m.ag --backend $backend -o new.npz "$@" || fail "$what: $(cat log)"
        "$py" check.py "$what" || fail "$what train, $backend: not as in float64"
    done
}
train biases --lr 0.05 --train-only 'b*'
train scales --lr 0.005 --train-only 's*'
train weights --lr 0.05 --train-only c0 --train-only c1
run m.ag --lr 0.05 --lora 2 c1 -o new.onnx || fail "lora: $(cat log)"
run m.ag --lr 0.05 --train-only 'c*' -o new.ag || fail "all weights: $(cat log)"
for f in new.onnx new.ag; do
    "$arenac" run -q $f --input 0=one.npy --backend eval --output-dir out >log 2>&1 || fail "$f: $(cat log)"
done

# weights that two products read
sed 's/output y2/t = blockwise_dense(y1, c2, s2, z2, b2) bits=2 size=16\n  output y2\n  output t/' m.ag >tied.ag
if run tied.ag --lr 0.05 --output y2 --train-only c2 -o new.npz; then fail "weights of two products train"; fi
grep -q "E0110.*'c2'" log || fail "two readers: $(cat log)"
[ $bad != 0 ] || echo "weights that are packed have gradients behind them, and train"
