#!/bin/sh
# Custom operators (--custom): files of every format with every kind of attribute and operand; the evaluator, and C of
# gcc and clang, call the user's functions with the same values; purity, in place, scratch and refusals. usage:
# custom.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require python3 python3 cc gcc
compilers
golden=$src/tests/golden
PYTHONPATH=$golden:$models python3 "$src/tests/cli/code/custom_files.py" || die "no files"
cat >acme.def <<'END'
# comment
library libacme.so
operator acme.probe
  onnx com.acme Probe
  tflite AcmeProbe
  tensorflow AcmeProbe
  mxnet acme_probe
  caffe Probe
  call acme_probe
  in x f32|i8 [..]
  in none? f32 [a]
  in more* any any
  attr whole i32
  attr real f32 1.5
  attr ints ints 4,5
  attr floats? floats
  attr mode text plain
  options
  out report f32 [20]
  out count i32 []
  scratch 8*20
operator acme.wide      # last dimension `times` as long
  onnx com.acme Wide
  tflite AcmeWide
  call acme_wide
  in x f32 [..,c]
  in w? f32 [c]
  attr alpha f32 1
  attr times i32 2
  out y x [..,c*times]
  pure
operator acme.half
  call acme_half
  in x f32 [..]
  out y x [..]
  inplace x
  scratch 256
  pure
operator acme.relu
  onnx ai.onnx Relu
  call acme_relu
  in x f32 [n,c]
  out y f32 [n,c]
  pure
END
sed 's/^  attr whole i32$/& 0/; s/^  in none.*//; s/^  in more.*//; s/^  attr [rfim].*//' acme.def >bytes.def
cat >acme.c <<'END'
#include "arn_custom.h"
void acme_probe(const void *const *in, void *const *out, void *scratch, const arn_custom *node)
{
    static int32_t calls;
    float *y = out[0];
    const arn_custom_tensor *last = &node->in[node->n_in - 1];
    double sum = 0;
    for (int32_t i = 0; i < 20; i++)
        y[i] = ((double *)scratch)[i] = 0;
    y[0] = node->n_in, y[1] = node->n_out, y[2] = node->n_attr;
    y[3] = node->n_in > 1 && !in[1] && !node->in[1].dtype;
    y[4] = node->in[0].dtype, y[5] = node->in[0].count, y[6] = node->out[1].rank;
    y[7] = node->attr[0].i[0];
    if (node->n_attr > 1) {
        y[8] = node->attr[1].f[0], y[9] = node->attr[2].n, y[10] = node->attr[2].i[1];
        y[11] = node->attr[3].n ? node->attr[3].f[1] : -1, y[12] = node->attr[4].text[0];
    }
    for (int32_t i = 0; i < node->n_options; i++)
        sum += node->options[i];
    y[13] = node->n_options, y[14] = sum, y[15] = node->scratch_bytes;
    y[16] = node->in[0].n_quant ? node->in[0].scale[0] : -1, y[17] = node->in[0].n_quant ? node->in[0].zero[0] : -1;
    y[18] = last->dtype == 1 && last->count ? ((const float *)in[node->n_in - 1])[last->count - 1] : -1;
    y[19] = last->rank ? last->dim[last->rank - 1] : -1;
    *(int32_t *)out[1] = ++calls;
}
void acme_wide(const void *const *in, void *const *out, void *scratch, const arn_custom *node)
{
    const float *x = in[0];
    const int32_t c = node->in[0].dim[node->in[0].rank - 1], times = node->attr[1].i[0];
    (void)scratch;
    for (int32_t i = 0; i < node->out[0].count; i++)
        ((float *)out[0])[i] = x[i / (c * times) * c + i % c] * node->attr[0].f[0];
}
void acme_half(const void *const *in, void *const *out, void *scratch, const arn_custom *node)
{
    for (int32_t i = 0; i < node->scratch_bytes; i++)
        ((unsigned char *)scratch)[i] = 0xff;
    for (int32_t i = 0; i < node->out[0].count; i++)
        ((float *)out[0])[i] = ((const float *)in[0])[i] / 2;
}
void acme_relu(const void *const *in, void *const *out, void *scratch, const arn_custom *node)
{
    (void)scratch;
    for (int32_t i = 0; i < node->out[0].count; i++)
        ((float *)out[0])[i] = ((const float *)in[0])[i] + 100;
}
END
for c in $cc; do
    $c -std=c99 -Wall -Wextra -Wpedantic -Werror -Wno-comma -shared -fPIC -I"$src/runtime" acme.c -o libacme.so ||
        die "$c does not compile functions"
done

# same MODEL FILE.def TEXT OPTION...: the evaluator and generated C print the same, with TEXT
same() {
    m=$1 def=$2 text=$3
    shift 3
    expect 0 "$text" "$arenac" run "$m" --custom "$def" --random 3 --backend eval "$@"
    cp out.txt eval.txt
    for c in ${one:-$cc}; do
        CC=$c expect 0 "$text" "$arenac" run "$m" --custom "$def" --random 3 --backend c "$@"
        cmp -s out.txt eval.txt || { fail "$c differs: $m $*"; diff eval.txt out.txt; }
    done
}
numbers() { # MODEL FILE.def VALUES [INPUT [WEIGHTS]]: the report of acme.probe
    # shellcheck disable=SC2086
    expect 0 "" "$arenac" run "$1" ${5-} --custom "$2" --random 3 --backend ${backend:-c} --output-dir . \
        ${4:+--input "x=$4"}
    got=$(python3 -c 'import struct
print(*["%g" % v for v in struct.unpack("<20f", open("0.npy", "rb").read()[-80:])])')
    [ "$got" = "$3" ] || fail "$1: the function got $got, expected $3"
}
numbers probe.onnx acme.def "4 2 5 1 1 6 0 -7 0.375 3 2 0.25 113 0 0 160 -1 -1 1 3" x.npy
numbers plain.onnx acme.def "2 2 5 1 1 6 0 5 1.5 2 5 -1 112 0 0 160 -1 -1 -1 -1" x.npy
numbers bytes.tflite bytes.def "1 2 1 0 5 4 0 0 0 0 0 0 0 3 256 160 0.5 3 -1 4"
numbers none.tflite bytes.def "1 2 1 0 5 4 0 0 0 0 0 0 0 0 0 160 0.5 3 -1 4"
same probe.onnx acme.def "'count' i32 \[\]: 1"
same bytes.tflite bytes.def "'count' i32 \[\]: 1"
same map.tflite acme.def "f32 \[2,6\]"
same relu.onnx acme.def "10[01]\.\|9[89]\." --dim batch=3
"$arenac" run relu.onnx --random 3 2>err.txt | grep -q '10[01]\.' && fail "Relu is replaced without --custom"

# the text form keeps them
for m in probe.onnx bytes.tflite map.tflite; do
    def=acme.def
    [ $m != bytes.tflite ] || def=bytes.def
    expect 0 "" "$arenac" convert -q $m --custom $def -o kept.ag
    "$arenac" run $m --custom $def --random 3 >a.txt
    "$arenac" run kept.ag --custom $def --random 3 >b.txt
    cmp -s a.txt b.txt || fail "$m is another model as text"
done

# what a plan knows: in place, scratch, purity
cat >plan.ag <<'END'
graph plan {
  input x: f32[16,16]
  a = relu(x)
  b = custom(a) call="acme.half"
  c = custom(b) call="acme.half"
  unused = custom(c) call="acme.half"
  r, n = custom(c) call="acme.probe" with="whole=1"
  y = neg(c)
  output y
}
END
same plan.ag acme.def "f32 \[16,16\]"
one=cc
for o in "--overlap on" "--stripe auto" "--schedule search" "--threads 3" "--float-storage f16" "--recompute" \
    "--preserve all" "--share-kernels=on" "--inplace off"; do
    # shellcheck disable=SC2086
    same plan.ag acme.def "f32 \[16,16\]" $o
done
on=$(arena_bytes plan.ag --custom acme.def) off=$(arena_bytes plan.ag --custom acme.def --inplace off)
[ "$on" = 1280 ] && [ "$off" -ge 2304 ] || fail "arena $on B in place, $off B not; expected 1024 and 256 of scratch"
sed 's/^  inplace x//' acme.def >never.def
[ "$(arena_bytes plan.ag --custom never.def)" -ge 2304 ] || fail "in place without a row inplace"
sed 's/^  scratch 256/  scratch 4096/' acme.def >more.def
[ "$(arena_bytes plan.ag --custom more.def)" = 5120 ] || fail "scratch is not counted"
expect 0 'r: f32' "$arenac" plan -q plan.ag --custom acme.def --emit ag -o -
! grep -q "unused" out.txt || fail "a pure operator whose result is unused stays"
sed 's/^  pure//' acme.def >effects.def
expect 0 "unused" "$arenac" plan -q plan.ag --custom effects.def --emit ag -o -

# a graph of TensorFlow, with attributes of every type
cat >graph.pbtxt <<'END'
node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
  attr { key: 'shape' value { shape { dim { size: 4 } } } } }
node { name: 'r' op: 'AcmeProbe' input: 'x' attr { key: 'T' value { type: DT_FLOAT } }
  attr { key: 'whole' value { i: -7 } } attr { key: 'real' value { f: 0.25 } }
  attr { key: 'ints' value { list { i: 3 i: -1 } } } attr { key: 'mode' value { s: 'fast' } }
  attr { key: 'floats' value { list { f: 0.5 f: 2 } } } }
node { name: 'y' op: 'Neg' input: 'r' }
END
cat >same.ag <<'END'
graph main {
  input x: f32[4]
  r, n = custom(x) call="acme.probe" with="whole=-7 real=0.25 ints=3,-1 floats=0.5,2 mode=fast"
  y = neg(r)
  output y
}
END
same graph.pbtxt acme.def "'y' f32 \[20\]"
"$arenac" run -q graph.pbtxt --custom acme.def --random 1 --output-dir of_graph || fail "run graph.pbtxt"
"$arenac" run -q same.ag --custom acme.def --random 1 --output-dir of_text || fail "run same.ag"
cmp of_graph/0.npy of_text/0.npy || fail "a graph of TensorFlow: other attributes"
sed 's/i: -7/f: 7/' graph.pbtxt >wrong.pbtxt
expect 1 "attribute 'whole' is a float, expected a whole number" "$arenac" check -q wrong.pbtxt --custom acme.def

sed 's/i: -7/b: true/; /Neg/d' graph.pbtxt >flag.pbtxt
backend=eval
numbers flag.pbtxt acme.def "2 2 5 1 1 4 0 1 0.25 2 -1 2 102 0 0 160 -1 -1 -1 -1"

# a symbol of MXNet, by its name and as a Custom; an array of the .params file, and attributes, which are text
symbol() { # OP ATTRIBUTES
    echo '{"nodes": [{"op": "null", "name": "x", "attrs": {"__shape__": "(2, 3)"}, "inputs": []},
  {"op": "null", "name": "w", "inputs": []}, {"op": "'"$1"'", "name": "r",
   "attrs": {'"$2"'}, "inputs": [[0, 0, 0], [1, 0, 0], [0, 0, 0]]}],
  "arg_nodes": [0, 1], "heads": [[2, 0, 0], [2, 1, 0]]}'
}
sed 's/none? f32 \[a\]/w? f32 [a]/' acme.def >net.def
given='"real": "0.25", "ints": "(3, -1)", "floats": "[0.5, 2]", "mode": "fast"'
symbol acme_probe '"whole": "True", '"$given" >net.json
numbers net.json net.def "3 2 5 0 1 6 0 1 0.25 2 -1 2 102 0 0 160 -1 -1 1 3" x.npy net.params
symbol Custom '"whole": "-7", "op_type": "acme_probe", '"$given" >net.json
numbers net.json net.def "3 2 5 0 1 6 0 -7 0.25 2 -1 2 102 0 0 160 -1 -1 1 3" x.npy net.params
symbol acme_probe '"whole": "1.5"' >net.json
expect 1 "attribute 'whole' is '1.5', expected a whole number" "$arenac" check -q net.json net.params --custom net.def
symbol acme_probe '"whole": "1", "odd": "1"' >net.json
expect 8 "attribute 'odd' has no meaning" "$arenac" check -q net.json net.params --custom net.def
symbol acme_other '"whole": "1"' >net.json
expect 8 "operator acme_other is not supported" "$arenac" check -q net.json net.params --custom net.def

# a layer of Caffe: bottoms, then blobs; fields of its own message
layer() { # FIELDS
    echo 'input: "x" input_shape { dim: [2, 3] }
layer { name: "r" type: "Probe" bottom: "x" top: "a" top: "b" '"$1"' transform_param { scale: 2 } }'
}
given='real: 0.25 ints: 3 ints: -1 floats: [0.5, 2]'
layer "probe_param { whole: -7 mode: 'fast' $given }" >net.prototxt
numbers net.prototxt net.def "2 2 5 0 1 6 0 -7 0.25 2 -1 2 102 0 0 160 -1 -1 4 3" x.npy one.caffemodel
numbers net.prototxt net.def "3 2 5 0 1 6 0 -7 0.25 2 -1 2 102 0 0 160 -1 -1 4 3" x.npy two.caffemodel
numbers net.prototxt net.def "2 2 5 1 1 6 0 -7 0.25 2 -1 2 102 0 0 160 -1 -1 -1 -1" x.npy
layer "probe_param { whole: true mode: fast $given weight_filler { type: 'xavier' } }" >net.prototxt
numbers net.prototxt net.def "2 2 5 1 1 6 0 1 0.25 2 -1 2 102 0 0 160 -1 -1 -1 -1" x.npy
layer "probe_param { whole: 1 odd: 2 }" >net.prototxt
expect 8 "field 'odd' has no meaning" "$arenac" check -q net.prototxt --custom net.def
layer "probe_param { whole: fast }" >net.prototxt
expect 1 "field 'whole' is fast, expected" "$arenac" check -q net.prototxt --custom net.def
[ "$(grep -c 'error\[' err.txt)" = 1 ] || fail "a wrong field is reported more than once"
layer "probe_param { whole: 1 } python_param { layer: 'x' }" >net.prototxt
expect 8 "two messages of parameters, 'probe_param' and 'python_param'" "$arenac" check -q net.prototxt --custom net.def
layer "probe_param { whole: 1 }" >net.prototxt
sed 's/ w? / w /; /more/d' net.def >few.def
expect 1 "E0019.*1 bottoms.*2 operands.*missing" "$arenac" check -q net.prototxt --custom few.def
expect 1 "E0102.*more bottoms and blobs than the 2" "$arenac" check -q net.prototxt two.caffemodel --custom few.def
expect 8 "a binary net has no names for fields" "$arenac" check -q net.caffemodel --custom net.def
sed '/^  attr whole/,/^  attr mode/d' net.def >fields.def
expect 0 "" "$arenac" check -q net.caffemodel --custom fields.def
expect 8 "operator Probe is not supported" "$arenac" check -q net.prototxt

# the order of effects
cat >order.ag <<'END'
graph order {
  input x: f32[4]
  input z: f32[64]
  r1, n1 = custom(x) call="acme.probe" with="whole=1"
  r2, n2 = custom(z) call="acme.probe" with="whole=2"
  r3, n3 = custom(x) call="acme.probe" with="whole=3"
  output r3, n3, n1, r2, n2
}
END
same order.ag acme.def "'n3' i32 \[\]: 3" --schedule search
same order.ag acme.def "'n2' i32 \[\]: 2" --threads 3

# code for firmware, its header, and the types in runtime/
expect 0 "" "$arenac" compile -q probe.onnx --custom acme.def -t cortex-m4 -o p.c
for c in $cc; do
    $c -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -c p.c -o p.o || fail "$c: code of a call"
    $c -std=c99 -Wall -Wextra -Wno-comma -include p.h -I"$src/runtime" -c acme.c -o p.o || fail "$c: prototypes differ"
done
types() {
    sed -n '/^#ifndef ARN_CUSTOM_TYPE/,/^#endif/p' "$1"
}
types p.h >a.txt
types "$src/runtime/arn_custom.h" >b.txt
[ -s a.txt ] && cmp a.txt b.txt || fail "runtime/arn_custom.h has other types than headers"
expect 0 "" "$arenac" compile -q plan.ag --custom acme.def --emit c,h,rt -o rt.c
[ -e arn_custom.h ] || fail "--emit rt does not copy arn_custom.h"
expect 0 "" "$arenac" compile -q "$models/digits_int8.tflite" --emit rt -o d.c
rm -f arn_custom.h
expect 0 "" "$arenac" compile -q "$models/digits_int8.tflite" --emit rt -o d.c
[ ! -e arn_custom.h ] || fail "--emit rt copies arn_custom.h for other models"
for kind in cmake make; do
    expect 0 "" "$arenac" compile -q plan.ag --custom acme.def --emit $kind -o $kind/
done
sed 's/  r, n.*//' plan.ag >pure.ag
expect 0 "" "$arenac" compile -q pure.ag --custom acme.def --emit make -o built/
cc -std=c99 -I"$src/runtime" -c acme.c -o acme.o
(cd built && make -s selftest LDFLAGS=../acme.o && ./selftest >../out.txt) || fail "the self-test of a built folder"
expect 0 "" "$arenac" compile -q plan.ag --custom acme.def --dim x.0=16 -o sizes.c
cat >sizes.ag <<'END'
graph sizes {
  input x: f32[n=4,3]
  y = custom(x) call="acme.wide" with="times=3"
  output y
}
END
expect 0 "" "$arenac" compile -q sizes.ag --custom acme.def --dim n=2..4 --sizes one -o sizes.c
cc -std=c99 -Wall -Wextra -Werror -c sizes.c -o p.o || fail "a program of several sizes"

# proofs name what they take for granted
expect 0 "assumption 1: acme_half, .*'acme.half' of step 1 'b'" "$arenac" prove plan.ag --custom acme.def
expect 0 "proven; .*; 3 assumptions" "$arenac" prove plan.ag --custom acme.def
expect 0 '"calls": "acme_probe"' "$arenac" prove --json plan.ag --custom acme.def

# refusals
expect 8 "E0108.*a GPU cannot" "$arenac" compile plan.ag --custom acme.def -t cuda-sm80 -o g.cu
expect 8 "E0502.*certificate" "$arenac" prove plan.ag --custom acme.def -o p.certificate
expect 8 "E0502.*Python" "$arenac" python plan.ag --custom acme.def -o .
expect 8 "E0502.*--evidence" "$arenac" compile plan.ag --custom acme.def --evidence case -o g.c
expect 8 "E0502.*QEMU" "$arenac" bench plan.ag --custom acme.def -t cortex-m4
expect 8 "E0502.*--selftest-cc" "$arenac" compile plan.ag --custom acme.def --selftest-cc cc -o g.c
expect 8 "E0108.*ONNX" "$arenac" convert plan.ag --custom acme.def -o g.onnx
cat >train.ag <<'END'
graph train {
  input x: f32[2,4]
  const w: f32[4,4] = random 1 (-1, 1)
  const b: f32[4] = splat 0
  a = fully_connected(x, w, b)
  y = custom(a) call="acme.half"
  output y
}
END
expect 8 "E0109.*function of the user" "$arenac" plan train.ag --custom acme.def --train sgd --loss mse --batch 2
sed 's/call acme_half/call own_run/' acme.def >own.def
expect 8 "calls 'own_run', a name that the gen" "$arenac" compile plan.ag --custom own.def --name own -o g.c
sed 's/call acme_half/call memcpy/' acme.def >own.def
expect 8 "calls 'memcpy', a name that C or its headers" "$arenac" compile plan.ag --custom own.def -o g.c
sed 's/call acme_half/call own_custom_1/' acme.def >own.def
expect 0 "" "$arenac" compile -q plan.ag --custom own.def --name own -o own.c
cc -std=c99 -Wall -Wextra -Werror -c own.c -o p.o || fail "a function of the user has the name of a step"
expect 8 "E0107.*'acme.half' is not defined" "$arenac" plan plan.ag
expect 8 "help: --custom FILE.def computes it" "$arenac" plan probe.onnx
expect 8 "(--custom)" "$arenac" plan bytes.tflite
expect 1 "E0103.*'whole', which has no default" "$arenac" plan needs.onnx --custom acme.def
expect 8 "attribute 'odd'" "$arenac" plan unknown.onnx --custom acme.def
expect 1 "E0103.*whole" "$arenac" plan type.onnx --custom acme.def
expect 1 "E0103.*'1099511627776', expected a number of 32 bits" "$arenac" plan large.onnx --custom acme.def
expect 1 "c is 2 here, but 3 before" "$arenac" plan shape.onnx --custom acme.def
cat >never.def <<'END'
operator acme_probe
  tflite AcmeProbe
  in x any any
  out report f32 [20]
  out count i32 []
END
expect 1 "E0103.*options of 3 bytes" "$arenac" plan bytes.tflite --custom never.def
expect 3 "gone.def: error.E0301" "$arenac" plan plan.ag --custom gone.def
cat >branch.ag <<'END'
graph branch {
  input x: f32[4]
  input c: bool[]
  y = if(c, x) first=1 second=2
  output y
}
graph yes {
  input x: f32[4]
  y = custom(x) call="acme.half"
  output y
}
graph no {
  input x: f32[4]
  y = neg(x)
  output y
}
END
expect 8 "E0108.*'acme.half' is in a branch or loop" "$arenac" plan branch.ag --custom acme.def

# libraries
sed 's/libacme/libgone/' acme.def >gone.def
expect 3 "E0305.*libgone.so" "$arenac" run plan.ag --custom gone.def --random 1
grep -v library acme.def >none.def
expect 3 "E0305.*no library is given" "$arenac" run plan.ag --custom none.def --random 1
sed 's/call acme_half/call acme_other/' acme.def >other.def
expect 3 "E0305.*'./libacme.so' has no function 'acme_other'" "$arenac" run plan.ag --custom other.def --random 1
expect 0 "" "$arenac" plan -q plan.ag --custom other.def
mkdir apart
mv libacme.so acme.def apart
same plan.ag apart/acme.def "f32 \[16,16\]"
exit $bad
