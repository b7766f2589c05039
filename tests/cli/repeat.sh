#!/bin/sh
# Pass repeat: heads that share their keys and values give equal results without copies of these; bit-identical with
# --exact, where the order of sums does not depend on the number of rows. One set of keys is scaled after it was
# repeated. usage: repeat.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require cc gcc
heads() { # FILE ROWS SCORES_BY_ADJOINT: 6 heads, 2 keys
    cat >"$1" <<E2
graph heads {
  input q: f32[2,6,$2,8]
  input k: f32[2,2,5,8]
  const a: i32[5] = [2, 2, 1, 5, 8]
  const b: i32[5] = [2, 2, 3, 5, 8]
  const c: i32[4] = [2, 6, 5, 8]
  u = reshape(k, a)
  w = broadcast_to(u, b)
  y = reshape(w, c)
  const by: f32[] = splat 0.3
  t = mul(y, by)
  s = batch_matmul(q, t) adj_y=true
  p = softmax(s)
  z = batch_matmul(p, y)
  output z
}
E2
}
for rows in 1 3; do
    heads m.ag $rows
    for backend in eval c; do
        for way in with without; do
            skip=
            [ $way = with ] || skip="--skip repeat"
            # shellcheck disable=SC2086
            "$arenac" run -q m.ag --random 3 --exact --backend $backend --output-dir $way $skip >out.txt ||
                die "rows $rows, $backend, $way"
        done
        cmp with/0.npy without/0.npy || fail "rows $rows, $backend: other bits"
    done
    few=$(arena_bytes m.ag) many=$(arena_bytes m.ag --skip repeat)
    [ "$few" -lt "$many" ] || fail "rows $rows: arena $few, with copies $many"
    "$arenac" plan m.ag --dump-after dead | sed -n '/after dead/,/^}/p' | grep -q broadcast_to &&
        fail "rows $rows: copies are left"
    # unused steps, until they are removed, do not form a group of stripes
    for pass in repeat norm pad; do
        expect 0 'arena' "$arenac" plan m.ag --stop-after $pass
    done
done
