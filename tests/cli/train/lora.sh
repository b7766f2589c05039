#!/bin/sh
# --lora: a product of two thin matrices is trained next to a frozen weight; its losses and factors are those of
# float64; the written file contains the sum. usage: lora.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
cat >m.ag <<'E2'
graph m {
  input x: f32[4,6,6,3]
  const k: f32[5,3,3,3] = random 1 (-0.6, 0.6)
  const w: f32[7,5] = random 2 (-0.6, 0.6)
  const b: f32[7] = random 3 (-0.2, 0.2)
  const v: f32[4,7] = random 4 (-0.6, 0.6)
  const axes: i32[2] = [1, 2]
  c = conv_2d(x, k) padding=same act=relu
  n = mean(c, axes) keep_dims=false
  h = fully_connected(n, w, b)
  a = tanh(h)
  y = fully_connected(a, v)
  output y
}
E2
"$py" - <<'E2'
import numpy as np
r = np.random.default_rng(3)
np.save("x.npy", r.normal(size=(12, 6, 6, 3)).astype("f4"))
np.save("y.npy", r.normal(size=(12, 4)).astype("f4"))
E2
"$arenac" convert m.ag m.onnx || fail convert
t="--data x=x.npy --target y.npy --loss mse --batch 4 --optimizer sgd --backend eval"
train() { # MODEL OPTION...
    # shellcheck disable=SC2086
    "$arenac" train $t "$@" >/dev/null || fail "$*"
}
cat >reference.py <<'E2'
import csv
import sys
import numpy as np
k_name, onnx = sys.argv[1], sys.argv[1] != "k"
first, last, every = np.load("first.npz"), np.load("last.npz"), np.load("all.npz")
kwv = (k_name, "w", "v")
w = {k: every[k].astype("f8") for k in every.files}
f = {k: first[k].astype("f8") for k in first.files if ".lora_" in k}
assert sorted(f) == sorted(k + s for k in kwv for s in (".lora_A", ".lora_B")), sorted(f)
assert all(not v.any() for k, v in f.items() if k.endswith("B")) and all(v.all() for k, v in f.items() if k[-1] == "A")
assert f[k_name + ".lora_A"].shape == (2, 27) and f[k_name + ".lora_B"].shape == (5, 2)
assert abs(f[k_name + ".lora_A"]).max() <= 27 ** -0.5 and abs(f[k_name + ".lora_A"]).max() > 0.8 * 27 ** -0.5
assert all(np.array_equal(first[k], every[k]) for k in kwv)
x, y = np.load("x.npy").astype("f8"), np.load("y.npy").astype("f8")
merged = lambda k: w[k] + (f[k + ".lora_B"] @ f[k + ".lora_A"]).reshape(w[k].shape)
losses = []
for step in range(6):
    xs, ys = x[step * 4 % 12:][:4], y[step * 4 % 12:][:4]
    p = np.pad(xs, ((0, 0), (1, 1), (1, 1), (0, 0)))
    cols = np.stack([p[:, i:i + 6, j:j + 6] for i in range(3) for j in range(3)], 3)  # n h w 9 c
    k = merged(k_name).transpose(0, 2, 3, 1) if onnx else merged(k_name)
    c = np.einsum("nhwtc,otc->nhwo", cols, k.reshape(5, 9, 3))
    n = np.maximum(c, 0).mean((1, 2))
    a = np.tanh(n @ merged("w").T + w["b"])
    d = a @ merged("v").T - ys
    losses.append((d * d).mean())
    d = 2 * d / d.size
    g = {"v": d.T @ a}
    d = d @ merged("v") * (1 - a * a)
    g["w"] = d.T @ n
    d = (d @ merged("w"))[:, None, None] / 36 * (c > 0)
    k = np.einsum("nhwtc,nhwo->otc", cols, d)
    g[k_name] = k.transpose(0, 2, 1) if onnx else k
    for k, v in g.items():
        m, A, B = v.reshape(len(v), -1), f[k + ".lora_A"], f[k + ".lora_B"]
        f[k + ".lora_A"], f[k + ".lora_B"] = A - 0.5 * B.T @ m, B - 0.5 * m @ A.T
got = [float(r["loss"]) for r in csv.DictReader(open("log.csv"))]
assert np.allclose(got, losses, rtol=1e-5), (got, losses)
for k in f:
    assert np.allclose(last[k], f[k], rtol=1e-4, atol=1e-6), k
for k in kwv:
    assert np.allclose(last[k], merged(k), rtol=1e-4, atol=1e-6) and not np.array_equal(last[k], first[k]), k
assert sorted(last.files) == sorted([*kwv, *f]), last.files
E2
for m in m.ag m.onnx; do
    train $m --lr 0 --steps 1 -o all.npz
    train $m --lr 0 --steps 1 --lora 2 '*' -o first.npz
    train $m --lr 0.5 --steps 6 --lora 2 '*' -o last.npz --log log.csv --backend c
    case $m in *.ag) k=k ;; *) k=k_1 ;; esac
    "$py" reference.py $k || fail "$m: factors or losses are others than in float64"
done
train m.ag --lr 0 --steps 1 -o all.npz

# the written file contains the sums
for out in onnx ag npz; do
    train m.onnx --lr 0.5 --steps 6 --lora 2 w --lora 2 v -o sum.$out
done
for out in onnx ag; do
    train sum.$out --lr 0 --steps 1 -o $out.npz
done
"$py" - <<'E2' || fail "files differ"
import numpy as np
z, first = np.load("sum.npz"), np.load("all.npz")
for f in ("onnx.npz", "ag.npz"):
    a = np.load(f)
    assert all(np.array_equal(a[k], z[k]) and not np.array_equal(a[k], first[k]) for k in "wv"), f
    assert np.array_equal(a["b"], first["b"])
E2

# other weights that are trained, and those that are not
names() {
    "$py" -c 'import numpy; print(*sorted(numpy.load("z.npz")))'
}
train m.ag --lr 0.5 --steps 2 --lora 1 'w' -o z.npz
[ "$(names)" = "w w.lora_A w.lora_B" ] || fail "of w alone: $(names)"
train m.ag --lr 0.5 --steps 2 --lora 1 '*' --freeze v --train-only b -o z.npz
[ "$(names)" = "b k k.lora_A k.lora_B w w.lora_A w.lora_B" ] || fail "with b, without v: $(names)"
train m.ag --lr 0.5 --steps 2 --lora 99 v --lora 1 '*' -o z.npz
[ "$("$py" -c 'import numpy; z = numpy.load("z.npz"); print(z["v.lora_A"].shape, z["w.lora_A"].shape)')" = \
    "(4, 7) (1, 5)" ] || fail "the first pattern counts, and no rank is larger than the matrix"

# a checkpoint has the factors
train m.ag --lr 0.5 --steps 6 --lora 2 '*' --checkpoint-every 4 -o whole.npz
train m.ag --lr 0.5 --steps 6 --lora 2 '*' --resume whole.checkpoint.npz -o rest.npz
cmp whole.npz rest.npz || fail "resumed: other weights"

# neither the sum nor the gradient of a weight is ever in memory, however the product has it
cat >large.ag <<'E2'
graph large {
  input x: f32[1,160]
  const w: f32[160,160] = random 1 (-0.6, 0.6)
  const v: f32[160,160] = random 2 (-0.6, 0.6)
  h = fully_connected(x, w) act=relu
  t = transpose(v) perm=[1,0]
  y = fully_connected(h, t)
  output y
}
E2
got=$(arena_bytes large.ag --train sgd --loss mse --batch 1 --lora 2 '*')
[ "$got" -lt 20000 ] || fail "matrices of 102,400 B, a step of $got B"
# with another reader of the sums they are made, and steps are the same
sed -e '/^  y = /a \  const nil: f32[160,160] = splat 0' -e '/^  y = /a \  p = add(w, t)' \
    -e '/^  y = /a \  q = mul(p, nil)' -e '/^  y = /a \  r = sum(q) axes=[0,1]' -e '/^  y = /a \  z = add(y, r)' \
    -e 's/output y/output z/' large.ag >sums.ag
"$py" -c 'import numpy as n; r = n.random.default_rng(1)
for f in "xy": n.save(f"l{f}.npy", r.normal(size=(3, 160)).astype("f4"))'
for m in large sums; do
    "$arenac" train $m.ag --data x=lx.npy --target ly.npy --loss mse --optimizer sgd --lr 0.01 --batch 1 --steps 5 \
        --backend eval --lora 2 w --lora 2 v -o $m.npz --log $m.csv >/dev/null || fail $m
done
"$py" - <<'E2' || fail "products with the sums have other losses"
import numpy as np
a, b = (np.loadtxt(f + ".csv", delimiter=",", skiprows=1)[:, 1] for f in ("large", "sums"))
assert np.allclose(a, b, rtol=1e-4), (a, b)
E2

# code; backends have the same bits
c="--train adam --loss mse --batch 2 --lora 2 w"
# shellcheck disable=SC2086
"$arenac" compile -q m.ag $c -t cortex-m4 -o a.c && grep -q -e "--lora '2 w'" a.c || fail compile
# shellcheck disable=SC2086
verified m.ag $c
backends=c
! have_llvm || backends="$backends llvm"
train m.ag --lr 0.5 --steps 4 --lora 2 '*' --exact -o eval.npz
for b in $backends; do
    train m.ag --lr 0.5 --steps 4 --lora 2 '*' --exact --backend $b -o b.npz
    cmp eval.npz b.npz || fail "$b has other bits"
done

# shellcheck disable=SC2086
expect 1 "E0110.*no weight of two dimensions or more matches 'b'" "$arenac" train m.ag $t --lr 1 --steps 1 \
    --lora 2 b -o no.npz
for wrong in 'x w' '0 w' '2'; do
    # shellcheck disable=SC2086
    expect 2 'E0501.*--lora.*RANK PATTERN' "$arenac" train m.ag $t --lr 1 --steps 1 -o no.npz --lora "$wrong"
done
