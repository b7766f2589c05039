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

# What limits a step: the larger of what its multiply-adds and its bytes need at least, by the peaks in the same row.
cat >bounds.ag <<'END'
graph bounds {
  input x: f32[256,512]
  const w: f32[512,512] = random 1 (-1, 1)
  a = fully_connected(x, w)
  b = transpose(a) perm=[1, 0]
  output b
}
END
"$arenac" bench bounds.ag --per-op --runs 20 --json >bounds.json || fail "bench --per-op --json"
python3 - <<'END' || fail "bounds of steps"
import json
dense, move = json.load(open("bounds.json"))["steps"]
assert dense["macs"] == 256 * 512 * 512 and dense["peak_macs_per_ms"] > 0, dense
compute_ms = dense["macs"] / dense["peak_macs_per_ms"]
if dense["bound"] == "compute":
    assert abs(dense["bound_ms"] / compute_ms - 1) < 1e-6, dense
else:
    assert dense["bound"] in ("L2", "memory") and dense["bound_ms"] > compute_ms, dense
assert move["bound"] in ("L2", "memory") and move["bound_ms"] > 0, move
assert move["macs"] == 0 and move["moved_bytes"] == 2 * 256 * 512 * 4, move
assert dense["moved_bytes"] == 4 * (2 * 256 * 512 + 512 * 512), dense
END
for more in "--threads 2" "--backend eval"; do
    "$arenac" bench bounds.ag --per-op --runs 1 $more >without.txt || fail "bench --per-op $more"
    ! grep -q ' bound' without.txt || fail "$more: bounds of one thread's code"
done

# Steps call a hook only if it is used, because it slows down compilers.
cat >cc.sh <<'END'
#!/bin/sh
for a; do case $a in */m.c) cp "$a" seen.c ;; esac; done
exec cc "$@"
END
chmod +x cc.sh
CC=./cc.sh expect 0 '' "$arenac" run words.ag -q --random 1
grep -q 'words_steps' seen.c && ! grep -q 'hook->begin' seen.c || fail "run: the code has hooks that nobody uses"
CC=./cc.sh expect 0 'gather' "$arenac" bench words.ag --per-op --runs 2
grep -q 'hook->begin' seen.c || fail "bench --per-op: the code has no hooks"
