#!/bin/sh
# --state of caches that grow, for models that take positions and masks from the length of their caches, as exporters
# write them: these are computed of the position, and results are those of the model with caches of just that length.
# Uses of the length that are not even are refused. usage: state_length.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require cc gcc
have_numpy || exit 77
# A head of attention over n new rows; lines that use `rows` and `all` (past and past + n), `new` and `kept` (0 .. n-1,
# 0 .. past+n-1), and make m of the scores s
attention() { # FILE LINES [OUTPUTS]
    cat >"$1" <<E2
graph decode {
  input x: f32[1,n,4]
  input keys: f32[1,past,4]
  const wk: f32[4,4] = random 2 (-0.9, 0.9)
  const seen: f32[16,16] = random 4 (-1, 1)
  const which: i32[] = splat 1
  const none: i64[] = splat 0
  const step: i64[] = splat 1
  const row: i32[2] = [1, -1]
  const column: i32[2] = [-1, 1]
  const no: f32[] = splat 0
  const least: f32[] = splat -1e30
  k = fully_connected(x, wk, _) keep_dims=true
  new_keys = concatenation(keys, k) axis=1
  s = batch_matmul(x, new_keys) adj_y=true
  size = shape(keys) out_type=i64
  rows = gather(size, which)
  added = shape(x) out_type=i64
  count = gather(added, which)
  all = add(rows, count)
  new = range(none, count, step)
  kept = range(none, all, step)
  at = add(new, rows)
  q = reshape(at, column)
  r = reshape(kept, row)
$2
  p = softmax(m)
  y = batch_matmul(p, new_keys)
  output y, ${3-}new_keys
}
E2
}
attention causal.ag '  sees = less_equal(r, q)
  bias = select(sees, no, least)
  m = add(s, bias)'
attention window.ag '  const width: i64[] = splat 3
  from = sub(q, width)
  late = greater(r, from)
  early = less_equal(r, q)
  sees = logical_and(late, early)
  m = select(sees, s, least)'
attention alibi.ag '  const slope: f32[] = splat -0.25
  sees = less_equal(r, q)
  far = sub(q, r)
  distance = cast(far) to=f32
  b = mul(distance, slope)
  bias = select(sees, b, least)
  m = add(s, bias)'
attention table.ag '  const back: i64[2] = [0, 0]
  const one: i64[1] = [1]
  const zero: i64[1] = [0]
  rows1 = reshape(rows, one)
  count1 = reshape(count, one)
  all1 = reshape(all, one)
  begin = concatenation(rows1, zero) axis=0
  end = concatenation(count1, all1) axis=0
  part0 = slice(seen, begin, end)
  sees = less_equal(r, q)
  part = select(sees, part0, least)
  m = add(s, part)'
attention tail.ag '  const total: i64[] = splat 16
  const one: i64[1] = [1]
  const zero: i64[1] = [0]
  count1 = reshape(count, one)
  all1 = reshape(all, one)
  first0 = sub(total, all)
  first = reshape(first0, one)
  begin = concatenation(zero, first) axis=0
  end = concatenation(count1, all1) axis=0
  last = slice(seen, begin, end)
  sees = less_equal(r, q)
  near = add(s, last)
  m = select(sees, near, least)'
attention spiral.ag '  const rate: f32[1,4] = [1, 0.5, 0.25, 0.125]
  place = cast(q) to=f32
  angle = mul(place, rate)
  turn = cos(angle)
  z = mul(x, turn)
  s2 = batch_matmul(z, new_keys) adj_y=true
  sees = less_equal(r, q)
  m = select(sees, s2, least)'
attention twice.ag '  const two: i64[] = splat 2
  d = mul(rows, two)
  e = sub(d, count)
  f = cast(e) to=f32
  sees = less_equal(r, q)
  s2 = mul(s, f)
  m = select(sees, s2, least)'
cat >compare.py <<'E2'
import importlib
import subprocess
import sys
import numpy as np
sys.path.insert(0, ".")
arenac, name, new = sys.argv[1], sys.argv[2], int(sys.argv[3])
m = importlib.import_module("%s_kept%d" % (name, new))
model, rng = m.Model(), np.random.default_rng(1)
past = np.zeros((1, 1, 4), np.float32)  # a row of zeros is there at first
for t in range(1, 13 - new + 1, new):
    feed = {"x": rng.standard_normal((1, new, 4)).astype(np.float32), "position": np.array([t], np.int32)}
    np.save("x.npy", feed["x"])
    np.save("keys.npy", past)
    subprocess.check_call([arenac, "run", name + ".ag", "-q", "--backend", "eval", "--dim", "past=%d" % t, "--dim",
                           "n=%d" % new, "--input", "x=x.npy", "--input", "keys=keys.npy", "--output-dir", "out"],
                          stdout=subprocess.DEVNULL)
    want, past = (np.load("out/%d.npy" % i) for i in range(2))
    got = np.from_dlpack(model.run(*[feed[i[0]] for i in m.INPUTS])[0])
    assert np.abs(got - want).max() <= 2e-6 * max(1, np.abs(want).max()), (name, t, got, want)
E2
for name in causal window alibi table tail spiral twice; do
    for n in 1 3; do
        set -- --dim past=$((13 - n)) --dim n=$n --state 'new_*=*'
        "$arenac" plan $name.ag "$@" >plan.txt && grep -q 'of 1 only what changes is written' plan.txt ||
            fail "$name is not kept in place"
        verified $name.ag "$@"
        "$arenac" prove $name.ag "$@" -q >prove.txt 2>&1 || fail "$name: $(cat prove.txt)"
        "$arenac" python $name.ag "$@" --name ${name}_kept$n -o . -q || die "$name"
        "$py" compare.py "$arenac" $name $n || fail "$name, $n at once: other results than with a cache that grows"
    done
done
# there is room for just as many rows as a table has, and no table for one more
for name in table tail; do
    expect 0 'of 1 only what changes is written' "$arenac" plan $name.ag --dim past=13 --dim n=3 --state 'new_*=*'
    expect 1 '' "$arenac" plan $name.ag --dim past=14 --dim n=3
done
# an input that is as long as the cache and the new rows: its length is given as that
attention masked.ag '  sees = less_equal(r, q)
  near = add(s, mask)
  m = select(sees, near, least)'
sed 's/^  input keys/  input mask: f32[1,all]\n&/' masked.ag >given.ag
expect 0 'of 1 only what changes is written' "$arenac" plan given.ag --dim past=10 --dim n=3 --dim all=past+n \
    --state 'new_*=*'
expect 1 "caches of other lengths: a dimension that grows.*all=past+n" "$arenac" plan given.ag --dim past=10 --dim n=3 \
    --dim all=13 --state 'new_*=*'
expect 0 'one for each n from 1 to 3' "$arenac" compile given.ag --dim n=1..3 --dim past=13-n --dim 'all=past + n' \
    --state 'new_*=*' -o given.c
grep -q 'mask f32 \[1,13\]' given_n2.h || fail "the length of the mask is not that of all rows"
refused() { # FILE WHAT
    expect 8 "$2" "$arenac" plan "$1" --dim past=10 --dim n=3 --state 'new_*=*'
}
# a position that stops moving after a while is not even, though it does not change at the end
attention clipped.ag '  const most: i64[] = splat 5
  near = minimum(at, most)
  q5 = reshape(near, column)
  sees = less_equal(r, q5)
  m = select(sees, s, least)'
refused clipped.ag "the result of 'm' depends on the capacity of the cache"
attention last.ag '  const four: i64[] = splat 4
  const zero: i64[] = splat 0
  const one: i64[1] = [1]
  const z1: i64[1] = [0]
  const n1: i64[1] = [-1]
  d = sub(all, four)
  from0 = maximum(d, zero)
  from = reshape(from0, one)
  begin = concatenation(z1, from) axis=0
  sees = less_equal(r, q)
  t = select(sees, s, least)
  end = concatenation(n1, one) axis=0
  u = slice(seen, begin, end)
  const first: i64[2] = [0, 0]
  const three: i64[2] = [3, 1]
  v = slice(u, first, three)
  m = add(t, v)'
refused last.ag "the result of 'm' depends on the capacity of the cache"
attention half.ag '  const two: i64[] = splat 2
  h0 = floor_div(at, two)
  h = reshape(h0, column)
  sees = less_equal(r, h)
  m = select(sees, s, least)'
# .. but its operands are: it is recomputed
expect 0 'of 1 only what changes is written' "$arenac" plan half.ag --dim past=10 --dim n=3 --state 'new_*=*'
# a model that cannot be read with empty caches is compared with itself for the lengths that it has
attention later.ag '  const one: i64[1] = [1]
  const both: i64[2] = [1, 1]
  const zero: i64[1] = [0]
  before0 = sub(rows, step)
  before = reshape(before0, one)
  begin = concatenation(before, zero) axis=0
  last = slice(seen, begin, both)
  sees = less_equal(r, q)
  t = select(sees, s, least)
  m = add(t, last)'
expect 1 'slice begins at -1' "$arenac" plan later.ag --dim past=0 --dim n=3
expect 0 'of 1 only what changes is written' "$arenac" plan later.ag --dim past=10 --dim n=3 --state 'new_*=*'
# the end of a non-constant
attention moves.ag '  const one: i64[1] = [1]
  const zero: i64[1] = [0]
  const most: i64[] = splat 16
  const axes: i32[2] = [1, 2]
  mean_x = mean(x, axes)
  all1 = reshape(all, one)
  count1 = reshape(count, one)
  table0 = mul(seen, mean_x)
  first0 = sub(most, all)
  first = reshape(first0, one)
  begin = concatenation(zero, first) axis=0
  end = concatenation(count1, all1) axis=0
  last = slice(table0, begin, end)
  sees = less_equal(r, q)
  near = add(s, last)
  m = select(sees, near, least)'
refused moves.ag "the result of 'last' depends on the capacity of the cache"
# a value for each valid or invalid row is not a result, nor is a sum over them
attention every.ag '  sees = less_equal(r, q)
  m = select(sees, s, least)' 'sees, '
refused every.ag "output 'sees' bool \[3,13\] depends on the capacity of the cache"
attention sum.ag '  const along: i32[1] = [1]
  sees = less_equal(r, q)
  ones = cast(sees) to=f32
  n0 = sum(ones, along) keep_dims=true
  m = mul(s, n0)'
refused sum.ag "the result of 'm' depends on the capacity of the cache"
# rows that are put before others are not where they would be
attention front.ag '  const z1: i64[1] = [0]
  const one: i64[1] = [1]
  rows1 = reshape(rows, one)
  pads = concatenation(z1, z1, rows1, z1) axis=0
  const order: i32[2] = [2, 2]
  p4 = reshape(pads, order)
  const own: f32[3,3] = random 9 (-1, 1)
  bias = pad(own, p4)
  m = add(s, bias)'
refused front.ag "the result of '.*' depends on the capacity of the cache"
[ "$bad" = 0 ] && echo "lengths of caches: as the position says"
