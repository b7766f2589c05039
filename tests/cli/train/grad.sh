#!/bin/sh
# `arenac grad`: results are bit-identical to gradients written by hand as a model, with every backend; errors of
# command lines and models are reported. usage: grad.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
# y = softened products; z an output of integers; k an input of integers; u an input that nothing reads
echo 'graph g {
  input x: f32[3,5]
  input k: i32[5]
  input w: f32[5]
  input u: f32[2]
  p = mul(x, w)
  y = tanh(p)
  z = cast(k) to=i64
  output y, z
}' >g.ag
# its gradients by hand: of x and of w
echo 'graph h {
  input x: f32[3,5]
  input w: f32[5]
  input g: f32[3,5]
  const one: f32[] = [1]
  const nil: f32[2] = [0, 0]
  p = mul(x, w)
  y = tanh(p)
  yy = square(y)
  slope = sub(one, yy)
  dp = mul(g, slope)
  dx = mul(dp, w)
  xp = mul(dp, x)
  dw = sum(xp) axes=[0]
  output dx, dw, nil
}' >h.ag
# inputs: results of the gradient model
echo 'graph i {
  input x: f32[3,5]
  input w: f32[5]
  input g: f32[3,5]
  input u: f32[2]
  input k: i32[5]
  output x, w, g, u, k
}' >i.ag
"$arenac" run -q i.ag --random 7 --backend eval --output-dir i
set -- --input x=i/0.npy --input w=i/1.npy --input 3=i/3.npy --input k=i/4.npy
"$arenac" run -q h.ag -t generic --input x=i/0.npy --input w=i/1.npy --input g=i/2.npy --backend eval --output-dir h
for backend in eval c; do
    expect 0 '' "$arenac" grad g.ag -t generic "$@" --cotangent y=i/2.npy --backend $backend --poison \
        --output-dir "$backend"
    [ "$(ls "$backend" | tr '\n' ' ')" = 'grad0.npy grad2.npy grad3.npy ' ] || fail "$backend: wrote $(ls "$backend")"
    cmp "$backend/grad0.npy" h/0.npy || fail "$backend: the gradient of x"
    cmp "$backend/grad2.npy" h/1.npy || fail "$backend: the gradient of w"
    cmp "$backend/grad3.npy" h/2.npy || fail "$backend: the gradient of what nothing reads is not 0"
done
expect 0 'graph g ' "$arenac" grad g.ag "$@" --cotangent 0=i/2.npy --backend eval --dump-after grow --output-dir d

expect 2 'E0501.*--cotangent' "$arenac" grad g.ag "$@" --output-dir d
expect 2 'E0501.*--output-dir' "$arenac" grad g.ag "$@" --cotangent y=i/2.npy
expect 2 'E0501.*twice' "$arenac" grad g.ag "$@" --cotangent y=i/2.npy --cotangent 0=i/2.npy --output-dir d
expect 2 "E0304.*'2' names none" "$arenac" grad g.ag "$@" --cotangent 2=i/2.npy --output-dir d
expect 2 'E0304.*cotangent y.*\[5\]' "$arenac" grad g.ag "$@" --cotangent y=i/1.npy --output-dir d
expect 2 "E0304.*'z' is i64 \[5\]" "$arenac" grad g.ag "$@" --cotangent z=i/4.npy --output-dir d
expect 2 'E0304.*not given' "$arenac" grad g.ag --cotangent y=i/2.npy --output-dir d
expect 3 'E0301' "$arenac" grad g.ag "$@" --cotangent y=none.npy --output-dir d

# every unsupported operator, not only the first; operators that reach no wanted input do not matter
echo 'graph n {
  input x: f32[4,4]
  const c: f32[2,2] = [1, 2, 3, 4]
  a = matrix_diag(x)
  t = sum(a) axes=[0,1,2]
  const i: i32[4] = [0, 0, 1, 1]
  const many: i32[] = [2]
  b = unsorted_segment_prod(x, i, many)
  s = sum(b) axes=[0,1]
  e = matrix_diag(c)
  u = sum(e) axes=[0,1,2]
  f = add(t, s)
  y = add(f, u)
  output y
}' >n.ag
echo 'graph m {
  input x: f32[4,4]
  input y: f32[]
  output x, y
}' >m.ag
"$arenac" run -q m.ag --random 1 --backend eval --output-dir m
expect 8 "E0109.*'a' (matrix_diag)" "$arenac" grad n.ag --input 0=m/0.npy --cotangent 0=m/1.npy --output-dir d
[ "$(grep -c E0109 err.txt)" = 2 ] && grep -q "E0109.*'b' (unsorted_segment_prod)" err.txt ||
    { cat err.txt; fail "not all are listed"; }
grep -q "on the path to 'x'" err.txt || fail "it does not say to what"
[ $bad != 0 ] || echo "gradients are what they are by hand"
