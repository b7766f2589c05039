#!/bin/sh
# `arenac train --budget`: results are dropped and recomputed, the arena stays within the budget, weights are
# bit-identical; a smaller budget never takes more memory; the message for an impossible budget has the smallest
# possible one. usage: budget.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
cat >m.ag <<'E2'
graph m {
  input x: f32[8,12,12,4]
  const k0: f32[8,3,3,4] = random 1 (-0.3, 0.3)
  const k1: f32[8,3,3,8] = random 2 (-0.3, 0.3)
  const k2: f32[8,3,3,8] = random 3 (-0.3, 0.3)
  const k3: f32[8,3,3,8] = random 4 (-0.3, 0.3)
  const b: f32[8] = random 5 (-0.1, 0.1)
  const w: f32[3,8] = random 6 (-0.6, 0.6)
  const v: f32[3] = random 7 (-0.2, 0.2)
  const axes: i32[2] = [1, 2]
  a = conv_2d(x, k0, b) padding=same
  c = tanh(a)
  d = conv_2d(c, k1, b) padding=same
  e = tanh(d)
  f = add(e, c)
  g = conv_2d(f, k2, b) padding=same
  h = tanh(g)
  i = add(h, f)
  j = conv_2d(i, k3, b) padding=same
  l = logistic(j)
  n = mean(l, axes) keep_dims=false
  y = fully_connected(n, w, v)
  output y
}
E2
"$py" - <<'E2'
import numpy as np
r = np.random.RandomState(1)
np.save("x.npy", r.rand(24, 12, 12, 4).astype(np.float32))
np.save("y.npy", r.randint(0, 3, 24))
E2
train() { # OPTION...
    "$arenac" train m.ag --data x=x.npy --target y.npy --loss cross_entropy --optimizer adam --lr 0.01 --batch 8 \
        --steps 4 -o got.npz "$@"
}
peak() {
    sed -n 's/.* peak_bytes=//p' out
}
train >out || die "without a budget"
cp got.npz want.npz
all=$(peak)
before=$all
met=0
for percent in 97 94 91 88 85 82 79 76; do
    budget=$((all * percent / 100))
    status=0
    train --budget $budget >out 2>err || status=$?
    case $status in
    0) cmp got.npz want.npz || fail "other bits with $percent %"
        [ "$(peak)" -le $budget ] || fail "$(peak) B with a budget of $budget B"
        [ "$(peak)" -le "$before" ] || fail "$(peak) B with $budget B, $before B with more"
        before=$(peak)
        met=$((met + 1)) ;;
    4) grep -q E0401 err || fail "no word of the budget: $(cat err)" ;;
    *) fail "status $status with $percent %: $(cat err)" ;;
    esac
done
[ $met -ge 5 ] || fail "only $met budgets of $all B are met"
expect 4 'E0401' train --budget 1000
least=$(sed -n 's/.*needs \([0-9,]*\) B.*/\1/p' err.txt | tr -d ,)
train --budget "$least" >out || fail "the least that was said, $least B, is too little"
cmp got.npz want.npz || fail "other bits with $least B"
expect 0 'recomputed: ' "$arenac" plan m.ag --train adam --loss cross_entropy --batch 8 --budget "$least"
verified m.ag --train adam --loss cross_entropy --batch 8 --budget "$least"
train --budget "$least" --backend eval --poison >out || fail "eval"
cmp got.npz want.npz || fail "dead bytes are read"
exit $bad
