#!/bin/sh
# arenac convert: models of every format as text and weights, read back with the same bits, and as ONNX; the public
# models, some of them, if available. Refusals: tests/golden/cli and text. usage: convert.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
m=$models
# same NAME MODEL...: the text and the model give the same code, except for the file in comments, and the text
# round-trips.
same() {
    name=$1
    shift
    expect 0 '' "$arenac" convert -q "$@" "$name.ag"
    expect 0 '' "$arenac" convert -q "$name.ag" -o "$name.again.ag"
    sed "s/$name.again/$name/" "$name.again.ag" | cmp -s - "$name.ag" || fail "$name.ag does not come back as it is"
    "$arenac" run -q "$@" --random 3 --backend eval --output-dir x >/dev/null || fail "run $name"
    "$arenac" run -q "$name.ag" --random 3 --backend eval --output-dir y >/dev/null || fail "run $name.ag"
    for f in x/*.npy; do cmp -s "$f" "y/${f#x/}" || fail "$name: $f differs"; done
    rm -rf x y
}
same squares "$m/squares.prototxt" "$m/squares.caffemodel"
grep -q '^graph .* channels_first {$' squares.ag || fail "the layout is not in the text"
grep -q '= weights @128$' squares.ag || fail "no constant in squares.weights"
same dense "$m/dense-symbol.json" "$m/dense-0000.params" --dim data.0=2 --dim data.1=12
same cnn "$m/tf_cnn.pb" --dim x.0=2
same rnn "$m/tf_rnn.pbtxt"
for f in "$m"/*_int8.tflite "$m"/branch_f32.tflite; do
    n=$(basename "$f" .tflite)
    same "$n" "$f"
done
# ONNX: read back by arenac, and by the onnx package where it is installed
mkdir onnx
# there NAME MODEL...
there() {
    name=$1
    shift
    expect 0 '' "$arenac" convert -q "$@" "onnx/$name.onnx"
    expect 0 '' "$arenac" convert -q "$@" "onnx/$name.ag"
    "$arenac" run -q "onnx/$name.ag" --random 3 --backend eval --output-dir x >/dev/null || fail "run $name.ag"
    set --
    for f in x/*.npy; do
        f=${f#x/}
        set -- "$@" --compare "${f%.npy}=x/$f"
    done
    case $name in *int8) set -- ;; esac # each layer rounds; check_export.py says how far apart they may be
    "$arenac" run -q "onnx/$name.onnx" --random 3 --backend eval "$@" >out.txt || { cat out.txt; fail "$name.onnx"; }
    rm -rf x
}
there every "$src/tests/onnx/every.ag"
there squares "$m/squares.prototxt" "$m/squares.caffemodel"
there dense "$m/dense-symbol.json" "$m/dense-0000.params" --dim data.0=2 --dim data.1=12
there cnn "$m/tf_cnn.pb" --dim x.0=2
there rnn "$m/tf_rnn.pbtxt"
for name in dsnet_int8 digits_int8 branch_int8; do there $name "$m/$name.tflite"; done
cat >net.prototxt <<'X'
input: "x" input_shape { dim: 1 dim: 3 dim: 9 dim: 9 }
layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 6 kernel_size: 3 } }
layer { name: "r" type: "ReLU" bottom: "c" top: "c" }
layer { name: "p" type: "Pooling" bottom: "c" top: "p" pooling_param { kernel_size: 2 stride: 2 } }
X
expect 0 '' "$arenac" convert net.prototxt --random 1 net.onnx
! grep -q -e Transpose -e Identity net.onnx || fail "a model with channels first is transposed on its way to ONNX"
[ -n "${ARENAC_TEST_PYTHON:-}" ] || have_numpy && for python in ${ARENAC_TEST_PYTHON:-$py}; do
    status=0
    "$python" "$src/tests/onnx/check_export.py" "$arenac" onnx >out.txt 2>&1 || status=$?
    [ $status = 0 ] || cat out.txt
    [ $status = 0 ] || [ $status = 77 ] || fail "the onnx package"
done

# one text alone: standard output, and a model without large constants
"$arenac" convert -q "$m/tf_cnn.pb" --dim x.0=1 --emit ag -o - >piped.ag || fail "convert to standard output"
! grep -q 'weights' piped.ag || fail "a text on standard output names a file"
expect 0 'fine' "$arenac" check piped.ag
printf 'graph small {\n  input x: f32[4]\n  y = relu(x)\n  output y\n}\n' >small.ag
same little small.ag
[ ! -e little.weights ] || fail "weights of a model that has none"

# the weights are those of the seed; plan does not look at them, compile does
expect 0 '' "$arenac" convert "$m/squares.prototxt" --random 7 seeded.ag
expect 0 '' "$arenac" run seeded.ag --random 7 --backend eval --output-dir x
expect 0 'equal' "$arenac" run "$m/squares.prototxt" --random 7 --backend eval --compare 0=x/0.npy --max-ulp 0
mv seeded.weights kept
{ head -c 300 kept; printf 'x'; tail -c +302 kept; } >seeded.weights
expect 0 'arena' "$arenac" plan seeded.ag
expect 1 'the weights were changed' "$arenac" compile seeded.ag -o s.c

# other outputs; nothing half-written
expect 0 '' "$arenac" convert "$m/digits_int8.tflite" lives.csv
expect 0 'arena' "$arenac" plan lives.csv
expect 0 '' "$arenac" convert "$m/digits_int8.tflite" planned.tflite
expect 0 'stored plan' "$arenac" show planned.tflite
mkdir out.weights
expect 3 'out.weights' "$arenac" convert "$m/tf_cnn.pb" --dim x.0=1 out.ag
[ ! -e out.ag ] || fail "a text without its weights"
expect 8 'cannot express' "$arenac" convert "$src/tests/golden/cli/E0108-convert-onnx.ag" two.onnx
[ ! -e two.onnx ] || fail "a model that ONNX cannot express"
! ls -a | grep '\.tmp$' || fail "a temporary file is left"

have_shared models && have_numpy || exit 0
cd "$shared/models" || exit 1
some="caffe/mtcnn_det2 mxnet/lenet_symbolic mxnet/lstm_gru_unrolled tf/mnist_lstm_static tf/kws_gru_s"
# shellcheck disable=SC2086
$py "$src/scripts/round_trip.py" --arenac "$arenac" $some tflite/keyword_scrambled tflite/resnet8_int16x8 \
    >"$tmp/rt.txt" || { cat "$tmp/rt.txt"; fail "round trips of public models"; }
