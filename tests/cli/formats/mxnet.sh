#!/bin/sh
# MXNet symbols: results with weights of every vintage, and without; the public models if available. Listings, malformed
# files and unsupported operators: tests/golden/mxnet. usage: mxnet.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
m=$models s=$models/dense-symbol.json x=$models/dense.in0.0.npy
for w in dense dense-v0 dense-sparse; do
    expect 0 'reference' "$arenac" run "$s" "$m/$w-0000.params" --input 0="$x" --compare 0="$m/dense.out0.0.npy" \
        --backend eval
done
expect 0 "output 1 'act_output'" "$arenac" run "$m/dense-0000.params" "$s" --input 0="$x" --outputs fc1,act_output \
    --backend eval
expect 0 'softmax_output' "$arenac" run "$s" --dim data.0=1 --dim data.1=12 --random 1 --backend eval
have_shared models/mxnet && have_numpy || exit 0
ln -s "$arenac" arenac # the runner splits its command at blanks: a path without any
expect 0 '' $py "$shared/models/run_models.py" --cmd "$tmp/arenac" --backend eval --sets 1 "$shared/models/mxnet"
