#!/bin/sh
# --dead: a net with many dead channels computes the same bits without them, by the evaluator and in C; it is on for
# firmware and off elsewhere; reports say what went. The rules are in tests/golden/passes/channels-*, random nets in
# tests/unit/pass/test_channels.c. usage: dead.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have python3 python3 || exit 0
for seed in 1 2; do
    python3 "$src/tests/cli/plan/dead.py" $seed 40 15 >net.ag || die "dead.py"
    for random in 1 2 3; do
        "$arenac" run -q net.ag --random $random --backend eval --dead off --output-dir with || fail "run"
        "$arenac" run -q net.ag --random $random --backend eval --dead on --output-dir without || fail "run --dead"
        cmp with/0.npy without/0.npy || fail "seed $seed, input $random"
    done
    "$arenac" run -q net.ag --random 3 --backend c --dead on --stripe auto --compare 0=with/0.npy || fail "C, stripes"
    verified net.ag --dead on
    [ "$(arena_bytes net.ag --dead on)" -lt "$(arena_bytes net.ag)" ] || fail "the arena is no smaller"
done

expect 0 'dead channels: [0-9,]* of 2,738, with [0-9,]* multiply-adds (' "$arenac" plan net.ag -t cortex-m4
expect 0 '^  conv_2d  .* of 256 .* pw12' "$arenac" plan net.ag -t cortex-m4 -v
expect 0 '^| .pw12. | conv_2d | .* of 256 |' "$arenac" plan -q net.ag -t cortex-m4 --emit md -o -
expect 0 '"channels_removed": [1-9]' "$arenac" plan -q net.ag -t cortex-m4 --json
"$arenac" plan net.ag -v | grep -q 'dead channels' && fail "elsewhere it is off"
expect 0 'dead channels: none of 182 is constant or unused' "$arenac" plan "$models/branch_int8.tflite" --dead on -v
expect 0 'dead channels: no operator with weights is quantised' "$arenac" plan "$models/gate.ag" --dead on -v

# The default of each kind of target.
for pair in cortex-m4:on rv32imac:on generic:off x86-64-v3:off; do
    "$arenac" compile -q net.ag -t ${pair%:*} -o default || fail "$pair"
    "$arenac" compile -q net.ag -t ${pair%:*} --dead ${pair#*:} -o stated || fail "$pair"
    sed 's/ --dead [a-z]*//; s/stated/default/g; s/STATED/DEFAULT/g' stated.c >same.c
    cmp same.c default.c || fail "the default of $pair"
done
expect 2 'expected on|off' "$arenac" plan net.ag --dead maybe
