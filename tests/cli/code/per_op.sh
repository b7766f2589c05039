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

# Steps call a hook where somebody looks at them, and nowhere else: compilers take longer for it.
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
