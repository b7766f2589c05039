#!/bin/sh
# The line "options:" of generated files says all that they depend on: compiling again with just these gives the same bytes, for
# every option marked CODE in options.def. And a value that an option does not know is answered with the one that was meant.
# usage: options.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp "$src"/models/*_int8.tflite "$src"/models/*_f32.tflite "$src"/models/gate.ag "$src"/models/gate.in0.0.npy "$tmp"
cp "$src"/models/squares.prototxt "$tmp"
cd "$tmp"
cat >open.ag <<'E'
graph open {
  input x: f32[n,16]
  const w: f32[10,16] = random 3 (-0.5, 0.5)
  y = fully_connected(x, w, _) act=relu
  output y
}
E
"$arenac" bench -q gate.ag --tune --runs 1 -o gate.tune >/dev/null
failed=0 seen=' '
fail() {
    echo "FAILED: $*"
    failed=1
}
# Compiles the models with the options, then with what the generated file says, and compares.
same() { # OPTION MODELS OPTION...
    option=$1 models=$2
    shift 2
    seen="$seen$option "
    rm -rf first again
    mkdir first again
    # shellcheck disable=SC2086
    "$arenac" compile -q $models "$@" -o first/out >note 2>&1 || {
        fail "$option: $(cat note)"
        return
    }
    head=$(ls first/*.h | head -n 1)
    line=$(sed -n 's/.*options: //p' "$head" | head -n 1 | sed 's, \*/$,,')
    case "$line" in *"--$option"* | "-t "[!g]*) ;; *) fail "$option is not in the line: $line" ;; esac
    # shellcheck disable=SC2086
    eval "\"\$arenac\" compile -q $models $line -o again/out" >note 2>&1 || fail "$option: $line: $(cat note)"
    diff -r first again >note || fail "$option: $line: $(head -n 3 note)"
}
same name digits_int8.tflite --name other
same target digits_int8.tflite -t cortex-m4
same from gate.ag --from text
same outputs gate.ag --outputs a,y
same budget gate.ag --budget 64K
same effort gate.ag --effort 7
same dim open.ag --dim n=3
same dim open.ag --dim n=2..3
same share 'digits_int8.tflite dsnet_int8.tflite' --share concurrent
same const gate.ag --const x="$tmp/gate.in0.0.npy"
same mem gate.ag --mem fast:6K,fast --mem slow:64K,slow,align=32
same pin gate.ag --pin a=arena@1024 --pin y=arena
same align gate.ag --align 64
same preserve gate.ag --preserve all
same planner gate.ag --planner greedy
same reference digits_int8.tflite --reference tflite
same schedule branch_int8.tflite --schedule search
same recompute branch_int8.tflite --recompute
same inplace gate.ag --inplace off
same views branch_int8.tflite --views off
same overlap gate.ag --overlap on
same stripe dsnet_int8.tflite --stripe auto
same overlap gate.ag --stripe off --overlap off
same io dsnet_int8.tflite --io rows
same quantized-io dsnet_int8.tflite --quantized-io
same weights gate.ag --weights blob
same section gate.ag --section code=.itcm --section rodata=.dtcm
same host gate.ag --host
same threads dsnet_f32.tflite --threads 4
same winograd gate.ag --winograd=2
same winograd gate.ag --winograd
same tensor-cores gate.ag -t cuda-sm80 --tensor-cores f16
same tuned gate.ag -t native --tuned "$tmp/gate.tune"
same share-kernels branch_int8.tflite --share-kernels
same poison gate.ag --poison
same exact gate.ag --exact
same skip gate.ag --skip epilogue --skip view
same stop-after gate.ag --stop-after simplify
same random squares.prototxt --random 7
same name gate.ag --name x --inplace off --views off --align 64 --preserve all --skip norm

for option in $(sed -n '/| CODE\| CODE/s/^OPT([a-z_]*, *"\([^"]*\)".*/\1/p' "$src/driver/options.def"); do
    case "$seen" in *" $option "*) ;; *) fail "options.def marks $option CODE, and nothing here compiles with it" ;; esac
done
# A value that is not known: the one that was meant, where there is one.
meant() { # WHAT OPTION...
    what=$1
    shift
    status=0
    "$arenac" plan gate.ag "$@" >/dev/null 2>note || status=$?
    [ $status -ne 0 ] && grep -qF "$what" note || fail "exit $status, wanted '$what': $*: $(cat note)"
}
meant "did you mean 'search'?" --schedule serach
meant "did you mean 'concurrent'?" --share concurent
meant "did you mean 'cortex-m4'?" --target cortex-m44
meant "did you mean '--preserve'?" --presreve all
meant "did you mean 'bestfit'?" --planner bestift
meant "did you mean 'json'?" --emit jsn
meant "expected on|off" --inplace 3
meant "expected 0..9" --effort 10
exit $failed
