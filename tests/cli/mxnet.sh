#!/bin/sh
# MXNet symbols: results with weights of every vintage, graphs without weights, what is malformed and what is not
# supported; the public models when they are there. usage: mxnet.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
m=$src/models s=$src/models/dense-symbol.json
for w in dense dense-v0 dense-sparse; do
    expect 0 'reference' "$arenac" run "$s" "$m/$w-0000.params" --input 0="$m/dense.in0.0.npy" --compare 0="$m/dense.out0.0.npy" --backend eval
done
expect 0 "output 1 'act_output'" "$arenac" run "$m/dense-0000.params" "$s" --input 0="$m/dense.in0.0.npy" --outputs fc1,act_output --backend eval
expect 0 'FullyConnected *data fc1_weight' "$arenac" show "$s"
expect 2 'data.0=N' "$arenac" plan "$s"
expect 0 'parameters have no values' "$arenac" plan "$s" --dim data.0=1 --dim data.1=12
expect 1 'fc1_weight  f32 \[6,12\]' "$arenac" compile "$s" --dim data.0=1 --dim data.1=12 -o x.c
expect 0 'softmax_output' "$arenac" run "$s" --dim data.0=1 --dim data.1=12 --random 1 --backend eval
sed 's/"num_hidden": "6"/"num_hidden": "7"/' "$s" >seven.json
expect 1 "is \[6,12\], expected \[7,12\]" "$arenac" plan seven.json "$m/dense-0000.params" --dim data.0=1 --dim data.1=12
sed 's/fc2_bias/other/' "$s" >other.json
expect 1 "no array 'other'" "$arenac" plan other.json "$m/dense-0000.params" --dim data.0=1 --dim data.1=12
head -c 300 "$m/dense-0000.params" >short.params
expect 1 'byte 0x' "$arenac" plan "$s" short.params
sed 's/"LeakyReLU"/"Nosuch"/; s/"BatchNorm"/"Custom"/' "$s" >unknown.json
expect 8 'operator Nosuch is not supported' "$arenac" check unknown.json
grep -q 'operator Custom' err.txt || fail "not all operators are listed"
head -c 400 "$s" >short.json
expect 1 'short.json:[0-9]*:[0-9]*: error' "$arenac" check short.json
printf '{"nodes": [{"op": "null", "name": "x", "inputs": [[0, 0]]}], "heads": [[5, 0]]}' >cycle.json
expect 1 'E0013' "$arenac" check cycle.json
if have_shared models/mxnet && have_numpy; then
    ln -s "$arenac" arenac
    $py "$shared/models/run_models.py" --cmd "$tmp/arenac" --backend eval --sets 1 "$shared/models/mxnet" >out.txt 2>&1 || { cat out.txt; bad=1; }
fi
exit $bad
