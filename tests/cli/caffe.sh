#!/bin/sh
# Caffe nets: results, the listing, nets without weights, what is malformed and what is not supported; the public models
# when they are there. usage: caffe.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
m=$src/models
# net TEXT: a net with an input [1,3,8,8], as n.prototxt
net() { printf 'input: "x" input_shape { dim: 1 dim: 3 dim: 8 dim: 8 }\n%s\n' "$1" >n.prototxt; }
for s in squares squares_v1; do
    expect 0 'reference' "$arenac" run "$m/$s.prototxt" "$m/$s.caffemodel" --input 0="$m/squares.in0.0.npy" \
        --compare 0="$m/squares.out0.0.npy" --backend eval
    expect 0 'Pooling .*up -> pool2 \[1,4,5,5\]' "$arenac" show "$m/$s.prototxt"
done
expect 0 "output 0 'low'" "$arenac" run "$m/squares.caffemodel" "$m/squares.prototxt" --input 0="$m/squares.in0.0.npy" --outputs low --backend eval
expect 0 'parameters have no values' "$arenac" plan "$m/squares.prototxt"
expect 0 'fine' "$arenac" check "$m/squares.prototxt"
expect 1 'conv1/weights  f32 \[8,3,3,3\]' "$arenac" compile "$m/squares.prototxt" -o x.c
[ ! -e x.c ] || fail "code without weights"
expect 0 'prob' "$arenac" run "$m/squares.prototxt" --random 1 --backend eval
sed 's/num_output: 5/num_output: 6/' "$m/squares.prototxt" >six.prototxt
expect 1 'is \[5,192\] in the weights, but the net needs \[6,192\]' "$arenac" plan six.prototxt "$m/squares.caffemodel"
sed 's/name: "ip"/name: "other"/' "$m/squares.prototxt" >other.prototxt
expect 1 "other.*no layer of this name" "$arenac" plan other.prototxt "$m/squares.caffemodel"
head -c 3000 "$m/squares.caffemodel" >short.caffemodel
expect 1 'byte 0x' "$arenac" plan "$m/squares.prototxt" short.caffemodel
net 'layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 2 kernal_size: 3 } }'
expect 1 'not a window' "$arenac" check n.prototxt
net 'layer { name: "p" type: "Python" bottom: "x" top: "p" } layer { name: "q" type: "Nosuch" bottom: "p" top: "q" }'
expect 8 'Nosuch' "$arenac" check n.prototxt
grep -q 'operator Python is not supported' err.txt || fail "not all layers are listed"
net 'layer { name: "s" type: "Power" bottom: "x" top: "s" power_param { power: 2 surprise: 1 } }'
expect 8 'surprise' "$arenac" check n.prototxt
net 'layer { name: "r" type: "ReLU" bottom: "y" top: "r" }'
expect 1 "n.prototxt:2:1 'r' (ReLU).*'y', which no layer" "$arenac" check n.prototxt
net 'layer { name: "r" type: "ReLU" bottom: "x" top: "r" include { phase: TRAIN } } layer { name: "t" type: "TanH" bottom: "x" top: "r" exclude { phase: TRAIN } }'
expect 0 'TanH  *x -> r' "$arenac" show n.prototxt
printf 'layer { name: "d" type: "Data" top: "data" top: "label" data_param { batch_size: 2 } transform_param { crop_size: 6 } }\n' >d.prototxt
printf 'layer { name: "i" type: "InnerProduct" bottom: "data" top: "i" inner_product_param { num_output: 4 } }\n' >>d.prototxt
printf 'layer { name: "l" type: "SoftmaxWithLoss" bottom: "i" bottom: "label" top: "l" }\n' >>d.prototxt
expect 2 "data.channels" "$arenac" plan d.prototxt
expect 0 'f32 \[2,4\]' "$arenac" run d.prototxt --dim data.channels=3 --random 1 --backend eval
printf 'layer { a {{{' >n.prototxt
expect 1 'n.prototxt:1' "$arenac" check n.prototxt
i=0
while [ $i -lt 12 ]; do i=$((i + 1)); if [ $i = 1 ]; then printf 'a{' >deep; else cat deep deep >deep2; mv deep2 deep; fi; done
{ printf 'layer {'; cat deep; } >deep.prototxt
expect 1 'nested more than' "$arenac" check deep.prototxt
if have_shared models/caffe && have_numpy; then
    ln -s "$arenac" arenac
    $py "$shared/models/run_models.py" --cmd "$tmp/arenac" --backend eval --sets 1 "$shared/models/caffe" >out.txt 2>&1 || { cat out.txt; bad=1; }
    $py "$shared/conformance/mutate.py" check "$shared/conformance/fuzz/caffe" --command "$tmp/arenac plan {file}" >out.txt 2>&1 || { cat out.txt; bad=1; }
fi
exit $bad
