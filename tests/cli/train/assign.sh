#!/bin/sh
# assign: a result stored in state. Earlier readers get the old value, even after fusion and reordering; each run
# continues from the end of the previous one, in all backends. usage: assign.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"

# y is of the weights before the update
cat >before.ag <<'E2'
graph g {
  const x: f32[2,2] = [1, 2, 3, 4]
  input r: f32[]
  state w: f32[2,2] = [1, 0, 0, 1]
  g: f32[2,2] = batch_matmul(x, x) adj_x=true
  y: f32[2,2] = fully_connected(x, w) keep_dims=true
  s: f32[2,2] = mul(g, r)
  d: f32[2,2] = sub(w, s)
  n: f32[2,2] at w+0 = assign(d)
  output y
}
E2
# z is of the value after it
cat >after.ag <<'E2'
graph g {
  input r: f32[4]
  state m: f32[4]
  a: f32[4] = mul(m, r)
  b: f32[4] = add(a, r)
  n: f32[4] at m+0 = assign(b)
  c: f32[4] = mul(m, r)
  z: f32[4] = add(n, r)
  output z
}
E2
# v is the value before the update, read after it
cat >kept.ag <<'E2'
graph g {
  input r: f32[2,2]
  state m: f32[2,2]
  v: f32[4] = reshape(m) shape=[4]
  b: f32[2,2] = add(m, r)
  n: f32[2,2] at m+0 = assign(b)
  t: f32[4] = reshape(r) shape=[4]
  u: f32[4,1] = reshape(v) shape=[4,1]
  z: f32[4,4] = add(u, t)
  output z
}
E2
backends="c eval"
! have_llvm || backends="$backends llvm"
for b in $backends; do
    for m in before after kept; do
        "$arenac" run $m.ag --random 3 --runs 4 --backend "$b" >$m.$b || fail "$m by $b"
        cmp $m.c $m.$b || fail "$m by $b"
        "$arenac" run $m.ag --random 3 --runs 4 --backend "$b" --skip epilogue >plain || fail "$m by $b, not fused"
        cmp $m.c plain || fail "$m by $b, not fused"
    done
done
"$arenac" run before.ag --random 3 --runs 1 >first
! cmp -s first before.c || fail "the update is lost"
# m is zero before the first run: every row of z is r
"$arenac" run kept.ag --random 3 | awk -F': ' '/z/ { split($2, z, " "); exit z[1] != z[5] || z[2] != z[6] }' ||
    fail "v is read after the update"
expect 0 'y. f32 .2,2.: 1 2 3 4' "$arenac" run before.ag --random 3
verified before.ag
verified after.ag
verified kept.ag

sed 's/ at w+0//' before.ag >nowhere.ag
expect 1 "result 'n' is not one of" "$arenac" check nowhere.ag
