#!/bin/sh
# --recompute: the same bits from the evaluator and from C with dead bytes overwritten, and plans that an independent
# checker accepts, for random graphs; more than half of them get smaller. Single plans: tests/golden/plan/recompute-*.
# usage: recompute.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
same() { # MODEL: with and without, by the evaluator; BACKEND: by that, too
    rm -rf once twice
    "$arenac" run -q "$1" --random 3 --backend eval --output-dir once || fail "run $1"
    for backend in eval ${2-}; do
        "$arenac" run -q "$1" --random 3 --recompute --poison --backend "$backend" --output-dir twice ||
            fail "run --recompute $1"
        for f in once/*.npy; do cmp "$f" "twice/${f#once/}" || fail "$1: $f"; done
    done
    verified "$1" --recompute
}
same "$src/tests/golden/plan/recompute-squares.ag" c
have python3 python3 || exit 0
won=0
for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    python3 "$src/tests/cli/plan/recompute.py" $seed >g.ag
    same g.ag
    once=$(arena_bytes g.ag) twice=$(arena_bytes g.ag --recompute)
    [ "$twice" -le "$once" ] || fail "seed $seed takes more"
    [ "$twice" -ge "$once" ] || won=$((won + 1))
done
[ $won -gt 8 ] || fail "only $won of 16 random graphs got smaller"
