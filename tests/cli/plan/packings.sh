#!/bin/sh
# --dim LO..HI: all sizes read weights that are laid out in one way, so that the blob has them once.
# usage: packings.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require cc gcc
cat >net.ag <<'E2'
graph net {
  input x: f32[n,256]
  const w1: f32[1024,256] = random 1 (-0.1, 0.1)
  const w2: f32[256,1024] = random 2 (-0.1, 0.1)
  a = fully_connected(x, w1, _) act=relu
  y = fully_connected(a, w2, _)
  output y
}
E2
weights=$((4 * 2 * 256 * 1024))
mkdir plain vectors
for t in x86-64-v2 x86-64-v3 x86-64-v4; do
    for range in 1..8 5..20; do
        rm -f ./*.bin
        "$arenac" compile -q net.ag -t $t --dim n=$range -o net.c || die "$t, $range"
        bytes=$(cat ./*.bin | wc -c)
        [ "$bytes" -lt $((weights + 4096)) ] || fail "$t, n=$range: $bytes bytes of weights, the model has $weights"
    done
done
# values: each size against the evaluator
sed -i 's/1024/96/g; s/256/40/g' net.ag
tested() { # TARGET FOLDER
    "$arenac" compile -q net.ag -t "$1" --dim n=1..6 --emit c,h,selftest -o "$2/net.c" || die "$1"
    cc -std=c11 -O1 -ffp-contract=off -DNET_SELFTEST_MAIN "$2"/*.c -o "$2/test" -lm && "$2/test" >out.txt 2>&1
    grep -q 'all outputs are equal' out.txt || fail "$1: $(cat out.txt)"
}
tested generic plain
case $(uname -m) in x86_64) tested x86-64-v2 vectors ;; esac
[ "$bad" = 0 ] && echo "packings: one for all sizes"
