#!/bin/sh
# --recompute: smaller arenas, the same bits from the evaluator and from C with dead bytes overwritten, and plans that an independent
# checker accepts; where nothing is won, or steps are not whole, nothing changes. usage: recompute.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
bytes() { "$arenac" plan --json "$@" | sed -n 's/.*"arena_bytes": *\([0-9]*\).*/\1/p' | head -1; }
same() { # MODEL: with and without, by the evaluator; BACKEND: by that, too
    rm -rf once twice
    "$arenac" run -q "$1" --random 3 --backend eval --output-dir once || fail "run $1"
    for backend in eval ${2-}; do
        "$arenac" run -q "$1" --random 3 --recompute --poison --backend "$backend" --output-dir twice || fail "run --recompute $1"
        for f in once/*.npy; do cmp "$f" "twice/${f#once/}" || fail "$1: $f"; done
    done
    "$arenac" plan -q "$1" --recompute --emit csv,problem -o plan
    "$arenac" verify plan.csv plan.problem.csv >/dev/null || fail "plan of $1"
}

# The squares are read at both ends, and through a view: they and what they are made of are computed again behind the peak.
cat >m.ag <<'M'
graph m {
  input  x: u8[1,16,16,8] q(0.02, 128)
  const  k0: f32[4,1,1,8] = random 1 (-0.2, 0.2)
  const  k1: f32[16,1,1,4] = random 2 (-0.2, 0.2)
  const  k2: f32[8,3,3,16] = random 3 (-0.2, 0.2)
  t = dequantize(x)
  u = mul(t, t)
  a = conv_2d(u, k0) padding=same
  b = conv_2d(a, k1) padding=same
  c = conv_2d(b, k2) padding=same
  v = reshape(u) shape=[1,256,8]
  w = reshape(c) shape=[1,256,8]
  z = add(w, v)
  output z
}
M
same m.ag c
[ "$(bytes m.ag)" = 32768 ] && [ "$(bytes m.ag --recompute)" = 26624 ] || fail "the arena of m.ag: $(bytes m.ag), $(bytes m.ag --recompute)"
expect 0 'recomputed: 1 step runs twice, 6,144 B less than once (32,768 B)' "$arenac" plan m.ag --recompute
expect 0 '"recomputed_steps": 1,$' "$arenac" plan m.ag --recompute --json
expect 0 '"once_arena_bytes": 32768,$' "$arenac" plan m.ag --recompute --json
expect 4 'recompute takes' "$arenac" plan m.ag --budget 1000
[ "$("$arenac" compile -q m.ag --recompute -o - | grep -c 'void m_dequantize_0(.*)$')" = 1 ] || fail "one function for both"

expect 0 'recomputed: nothing' "$arenac" plan "$src/models/digits_int8.tflite" --recompute
expect 0 'does not go with --stripe' "$arenac" plan m.ag --recompute --stripe auto
[ "$(bytes m.ag --stripe auto)" = "$(bytes m.ag --stripe auto --recompute)" ] || fail "--stripe with --recompute"

if have python3 python3; then
    won=0
    for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
        python3 "$src/tests/cli/recompute.py" $seed >g.ag
        same g.ag
        [ "$(bytes g.ag --recompute)" -le "$(bytes g.ag)" ] || fail "seed $seed takes more"
        [ "$(bytes g.ag --recompute)" -lt "$(bytes g.ag)" ] && won=$((won + 1))
    done
    [ $won -gt 8 ] || fail "only $won of 16 random graphs got smaller"
fi
exit $bad
