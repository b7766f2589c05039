#!/bin/sh
# bench --per-op of a model whose input holds indices, in bytes that the run uses for other tensors.
# usage: per_op.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require "${CC:-cc}" gcc

cat >words.ag <<'END'
graph words {
  input ids: i32[64]
  const table: f32[100,64] = random 1 (-1, 1)
  a = gather(table, ids) axis=0
  b = softmax(a) beta=1
  c = mul(b, a)
  d = transpose(c) perm=[1, 0]
  e = batch_matmul(c, d)
  output e
}
END
"$arenac" plan words.ag -q --json | grep -q "input 'ids' may be overwritten" || fail "the input keeps its bytes"
expect 0 'gather' "$arenac" bench words.ag --per-op --runs 20
expect 0 'gather' "$arenac" bench words.ag --per-op --runs 20 --json
