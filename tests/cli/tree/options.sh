#!/bin/sh
# The line "options:" of generated files lists everything they depend on: compiling again with only these gives the same
# bytes, for every option marked CODE in options.def. The message for an unknown value suggests the nearest one; removed
# options appear nowhere. usage: options.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
cp "$models"/*_int8.tflite "$models"/*_f32.tflite "$models"/gate.ag "$models"/gate.in0.0.npy .
cp "$models"/squares.prototxt "$src"/tests/golden/ops/scan-ahead.ag .
export PYTHONPATH="$src/tests/golden:$src/models" PYTHONDONTWRITEBYTECODE=1
python3 "$src/tests/golden/onnx/bounded.py" || die "python3"
cat >open.ag <<'E'
graph open {
  input x: f32[n,16]
  const w: f32[10,16] = random 3 (-0.5, 0.5)
  y = fully_connected(x, w, _) act=relu
  output y
}
E
cat >net.ag <<'E'
graph net {
  input x: f32[1,16]
  const w1: f32[10,16] = random 3 (-0.5, 0.5)
  const b1: f32[10] = random 4 (-0.5, 0.5)
  y = fully_connected(x, w1, b1) act=relu
  output y
}
E
"$arenac" bench -q gate.ag --tune --runs 1 -o gate.tune >/dev/null
seen=' '
# Compiles the files with the options, then with those in the generated file, and compares.
same() { # OPTION FILES OPTION...
    option=$1 files=$2
    shift 2
    seen="$seen$option "
    rm -rf first again
    mkdir first again
    # shellcheck disable=SC2086
    "$arenac" compile -q $files "$@" -o first/out >note 2>&1 || {
        fail "$option: $(cat note)"
        return
    }
    head=$(ls first/*.h | head -n 1)
    line=$(sed -n 's/.*options: //p' "$head" | head -n 1 | sed 's, \*/$,,')
    case "$line" in *"--$option"* | "-t "[!g]*) ;; *) fail "$option is not in the line: $line" ;; esac
    # shellcheck disable=SC2086
    eval "\"\$arenac\" compile -q $files $line -o again/out" >note 2>&1 || fail "$option: $line: $(cat note)"
    diff -r first again >note || fail "$option: $line: $(head -n 3 note)"
}
cat >own.ag <<'E'
graph own {
  input x: f32[1,16]
  y = custom(x) call="own"
  output y
}
E
printf 'operator own\n  call own_function\n  in x f32 [..]\n  out y x [..]\n' >acme.def
same custom own.ag --name other --custom acme.def
same name digits_int8.tflite --name other
same float-storage digits_f32.tflite --float-storage bf16
same float-storage-of digits_f32.tflite --float-storage f16 --float-storage-of weights
same target digits_int8.tflite -t cortex-m4
same from gate.ag --from text
same outputs gate.ag --outputs a,y
same budget gate.ag --budget 64K
same effort gate.ag --effort 7
same dim open.ag --dim n=3
same dim open.ag --dim n=2..3
same sizes open.ag --dim n=2..3 --sizes one
same bound bounded.onnx --bound r=9
same share 'digits_int8.tflite dsnet_int8.tflite' --share concurrent
same const gate.ag --const x="$tmp/gate.in0.0.npy"
same cache-weights digits_int8.tflite --cache-weights 64K
same mem gate.ag --mem fast:6K,fast --mem slow:64K,slow,align=32
same pin gate.ag --pin a=arena@1024 --pin y=arena
same align gate.ag --align 64
same state gate.ag --state 'y=x'
same preserve gate.ag --preserve all
same planner gate.ag --planner greedy
same reference digits_int8.tflite --reference tflite
same schedule branch_int8.tflite --schedule search
same recompute branch_int8.tflite --recompute
same inplace gate.ag --inplace off
same views branch_int8.tflite --views off
same overlap gate.ag --overlap on
same stack digits_int8.tflite -t cortex-m4 --stack estimate
same stripe dsnet_int8.tflite --stripe auto
same overlap gate.ag --stripe off --overlap off
same io dsnet_int8.tflite --io rows
same quantized-io dsnet_int8.tflite --quantized-io
same weights gate.ag --weights blob
same check-weights gate.ag --check-weights
same section gate.ag --section code=.itcm --section rodata=.dtcm
same section gate.ag --section code=.itcm,rodata=.dtcm
same host gate.ag --host
same threads dsnet_f32.tflite --threads 4
same phases dsnet_f32.tflite --threads 4 --phases off
same winograd gate.ag --winograd=2
same winograd gate.ag --winograd
same tensor-cores gate.ag -t cuda-sm80 --tensor-cores f16
same tuned gate.ag -t native --tuned "$tmp/gate.tune"
same share-kernels branch_int8.tflite --share-kernels
same poison gate.ag --poison
same exact gate.ag --exact
same skip gate.ag --skip epilogue --skip view
same dead digits_int8.tflite -t cortex-m4 --dead off
same ahead scan-ahead.ag --ahead off
same dead digits_int8.tflite --dead on
same qdq gate.ag --qdq exact
same stop-after gate.ag --stop-after simplify
same random squares.prototxt --random 7
printf 'graph g {\n  state n: i32[4]\n  y = random(n) shape=[3]\n  output y\n}\n' >noise.ag
same noise noise.ag --noise input
step='--train momentum --loss mse --batch 2'
for o in "train x" "loss x" "batch x" "momentum x --momentum 0.5" "weight-decay x --weight-decay 0.01" \
    "clip-norm x --clip-norm 1" "micro-batch x --micro-batch 1" "update x --update late" "freeze x --freeze w*" \
    "bn x --bn frozen" "inference x --inference off" "seed x --seed 3"; do
    # shellcheck disable=SC2086
    same "${o%% *}" net.ag $step ${o#* x}
done
for o in "train-only x --train-only w*" "beta1 x --beta1 0.8" "beta2 x --beta2 0.9" "eps x --eps 1e-6"; do
    # shellcheck disable=SC2086
    same "${o%% *}" net.ag --train adam --loss mse --batch 2 ${o#* x}
done
same lora net.ag --train adam --loss mse --batch 2 --lora 2 'w*'
same name gate.ag --name x --inplace off --views off --align 64 --preserve all --skip norm

for option in $(sed -n '/| CODE\| CODE/s/^OPT([a-z_]*, *"\([^"]*\)".*/\1/p' "$src/driver/request/options.def"); do
    case "$seen" in *" $option "*) ;; *) fail "$option is marked CODE, and nothing here compiles with it" ;; esac
done
expect 2 "unknown option '--striep'; did you mean '--stripe'" "$arenac" plan gate.ag --striep auto
expect 2 "unknown option '--input' of help; compile, run, bench and grad have it" "$arenac" help --input
expect 2 "unknown option '--sizes' of python; plan and compile have it" "$arenac" python gate.ag --sizes one
expect 2 "unknown option '--qqqqqqqq'; arenac plan --help-all lists" "$arenac" plan gate.ag --qqqqqqqq
expect 2 "bad argument '1x' of --shuffle, expected off.SEED" "$arenac" train gate.ag --shuffle 1x
expect 2 'help: KEY is a name or a position: --input 0=x.npy' "$arenac" run gate.ag --input x.npy
expect 2 'help: N is a whole number, at least 0' "$arenac" plan open.ag --dim n=abc
expect 2 "help: did you mean 'n'" "$arenac" plan open.ag --dim m=3
expect 2 'ranges are for plan and compile' "$arenac" run open.ag --dim n=1..3
expect 0 'E0105: types do not fit' "$arenac" explain e0105
expect 2 "did you mean 'search'?" "$arenac" plan gate.ag --schedule serach
expect 2 "did you mean 'concurrent'?" "$arenac" plan gate.ag --share concurent
expect 2 "did you mean 'cortex-m4'?" "$arenac" plan gate.ag --target cortex-m44
expect 2 "did you mean '--preserve'?" "$arenac" plan gate.ag --presreve all
expect 2 "did you mean 'bestfit'?" "$arenac" plan gate.ag --planner bestift
expect 2 "did you mean 'json'?" "$arenac" plan gate.ag --emit jsn
expect 2 "did you mean 'html'?" "$arenac" plan gate.ag --emit htlm
expect 2 "did you mean 'html'?" "$arenac" compile gate.ag --emit htlm -o x
expect 2 "did you mean 'plan'?" "$arenac" help plna
expect 2 "did you mean 'arena'?" "$arenac" plan gate.ag --pin x=arenaa
expect 2 "did you mean 'image'?" "$arenac" plan digits_int8.tflite --pin imag=arena
expect 2 "expected T=MEM" "$arenac" plan gate.ag --pin x
expect 2 "did you mean 'on'?" "$arenac" plan gate.ag --inplace onn
expect 2 "several models in one arena: --share" "$arenac" plan digits_int8.tflite dsnet_int8.tflite
expect 2 "expected on|off" "$arenac" plan gate.ag --inplace 3
expect 2 "expected 0..9" "$arenac" plan gate.ag --effort 10
# options that were planned and then dropped appear neither in the tool nor in its documentation
for o in --path-map --profile --kernel; do
    for verb in plan compile; do
        expect 2 "unknown option '$o'" "$arenac" $verb gate.ag $o a=b
    done
    ! grep -rn -e "$o\([^a-z-]\|\$\)" "$src/README.md" "$src/docs" --include='*.md' || fail "$o is in the docs"
done
expect 2 "unknown option '--resume' of compile" "$arenac" compile gate.ag --resume
