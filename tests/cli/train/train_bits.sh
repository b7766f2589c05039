#!/bin/sh
# Losses and weights of a training are the same bits over backends, threads, budgets, and, with --exact, machines: a net
# of convolutions, pools, a residual sum, products and curves, and one of ../shared/training. ARENAC_LONG=1: all of
# those. usage: train_bits.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
bits() { # OPTION... FOLDER...
    "$py" "$src/tests/train_bits.py" --arenac "$arenac" "$@" >out 2>&1 || fail "$*"
    cat out
}
mkdir net
cat >net/model.ag <<'E2'
graph m {
  input x: f32[4,8,8,3]
  const k0: f32[6,3,3,3] = random 1 (-0.3, 0.3)
  const b0: f32[6] = random 2 (-0.1, 0.1)
  const k1: f32[6,3,3,6] = random 3 (-0.3, 0.3)
  const d: f32[1,3,3,6] = random 4 (-0.3, 0.3)
  const w: f32[5,6] = random 5 (-0.6, 0.6)
  const v: f32[5] = random 6 (-0.2, 0.2)
  const axes: i32[2] = [1, 2]
  const one: i32[1] = [3]
  a = conv_2d(x, k0, b0) padding=same act=relu
  c = conv_2d(a, k1) padding=same
  t = tanh(c)
  e = depthwise_conv_2d(t, d) padding=same
  s = add(e, a)
  p = max_pool_2d(s) kernel_h=2 kernel_w=2 stride_h=2 stride_w=2
  m = mean(p, one) keep_dims=true
  q = sub(p, m)
  l = gelu(q)
  n = mean(l, axes) keep_dims=false
  y = fully_connected(n, w, v)
  output y
}
E2
cat >net/train.json <<'E2'
{"loss": "cross_entropy", "batch": 4, "optimizer": {"name": "adamw", "lr": 0.01, "weight_decay": 0.02}}
E2
"$py" - <<'E2'
import numpy as np
r = np.random.default_rng(2)
np.save("net/x.npy", r.normal(size=(10, 8, 8, 3)).astype("f4"))
np.save("net/y.npy", r.integers(0, 5, 10))
E2
bits --emulated-steps 100 net

# integers, then floats: a thin pair of matrices in addition to a layer of bytes, and biases
mkdir mixed
cp "$models/digits_int8.tflite" mixed/model.tflite
cat >mixed/train.json <<'E2'
{"loss": "cross_entropy", "batch": 4, "optimizer": {"name": "adam", "lr": 0.02},
 "options": ["--lora", "3 *d1_1/MatMul", "--train-only", "*BiasAdd"]}
E2
"$py" - "$models" <<'E2'
import sys
import numpy as np
x, y = (np.load(f"{sys.argv[1]}/digits.test_{k}.npy") for k in "xy")
np.save("mixed/x.npy", x[:30]), np.save("mixed/y.npy", y[:30].astype("i4"))
E2
bits --steps 40 --emulated-steps 40 mixed
have_shared training/models || exit $bad
if [ -n "${ARENAC_LONG:-}" ]; then
    bits --emulated-steps 3 "$shared"/training/models/*/
else
    bits --steps 20 --emulated-steps 2 "$shared/training/models/mlp"
fi
