#!/bin/sh
# Caffe nets: results, also without weights; the public models if available. Listings, malformed files and unsupported
# layers: tests/golden/caffe. usage: caffe.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
m=$models x=$models/squares.in0.0.npy
for s in squares squares_v1; do
    expect 0 'reference' "$arenac" run "$m/$s.prototxt" "$m/$s.caffemodel" --input 0="$x" \
        --compare 0="$m/squares.out0.0.npy" --backend eval
done
expect 0 "output 0 'low'" "$arenac" run "$m/squares.caffemodel" "$m/squares.prototxt" --input 0="$x" --outputs low \
    --backend eval
expect 0 'prob' "$arenac" run "$m/squares.prototxt" --random 1 --backend eval
net=$src/tests/golden/caffe/E0204-data-layer.prototxt
expect 0 'f32 \[2,4\]' "$arenac" run "$net" --dim data.channels=3 --random 1 --backend eval
have_shared models/caffe && have_numpy || exit 0
ln -s "$arenac" arenac # the runners split their command at blanks: a path without any
expect 0 '' $py "$shared/models/run_models.py" --cmd "$tmp/arenac" --backend eval --sets 1 "$shared/models/caffe"
expect 0 '' $py "$shared/conformance/mutate.py" check "$shared/conformance/fuzz/caffe" \
    --command "$tmp/arenac plan {file}"
