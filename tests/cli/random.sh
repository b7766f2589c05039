#!/bin/sh
# Operators that draw random numbers: Philox and its distributions against NumPy, the same bits on every target, one
# more run in each run, --seed, --noise input, products with 0, and NAME_seed. usage: random.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
check="$src/tests/cli/random_check.py"
"$py" "$check" models "$src" || die "no models"

# drawn FOLDER OPTION...: the outputs of draws.ag
drawn() {
    to=$1
    shift
    "$arenac" run -q draws.ag --output-dir "$to" "$@" || fail "run $*"
}
# same FOLDER FOLDER
same() {
    for f in "$1"/*.npy; do
        cmp "$f" "$2/${f##*/}" || fail "$1 and $2 differ"
    done
}
drawn first --backend eval
drawn c
same first c
drawn generic -t generic
same first generic
drawn exact --exact --threads 2
same first exact
if have_llvm; then
    drawn llvm --backend llvm
    same first llvm
fi
drawn cuda --backend cuda-emu -t cuda-sm80
same first cuda
drawn second --runs 2
drawn seeded --seed 12345678901
"$py" "$check" draws first second seeded || fail "the numbers of draws.ag"

# the adapters of ONNX
run_onnx() {
    "$arenac" run -q draws.onnx -i p=p.npy -i l=l.npy -i x=x.npy "$@" || fail "run draws.onnx"
}
run_onnx --output-dir onnx --backend eval
run_onnx --output-dir onnx_c
same onnx onnx_c
"$py" "$check" onnx onnx || fail "the numbers of draws.onnx"
# those of MXNet
for b in eval c; do
    "$arenac" run -q draws-symbol.json -i p=p.npy -i a=a.npy -i b=b.npy -i c=c.npy -i s=s.npy --backend $b \
        --output-dir "mxnet_$b" || fail "run draws-symbol.json"
done
same mxnet_eval mxnet_c
"$py" "$check" mxnet mxnet_c || fail "the numbers of draws-symbol.json"
# their results as inputs
run_onnx -i uniform=onnx/0.npy -i normal=onnx/1.npy --random 1 --noise input --output-dir given
cmp onnx/0.npy given/0.npy && cmp onnx/1.npy given/1.npy || fail "--noise input: the given numbers are not the result"
"$arenac" compile -q draws.onnx --noise input -o given.c || fail "compile --noise input"
grep -q 'DRAWS_STATE_BYTES 0u' given.h || fail "--noise input: state is left"

# products with 0
expect 0 '' "$arenac" plan -q zero.ag --dump-after dead
! grep -q 'random\|count' out.txt || { fail "a product of random numbers with 0 is left"; cat out.txt; }
expect 0 'random(' "$arenac" plan -q zero.ag --dump-after dead --exact
expect 0 '' "$arenac" run -q zero.ag -i x=x.npy --output-dir zero
cmp zero/0.npy x.npy || fail "x + random * 0 is not x"

# iterations draw different numbers, whether unrolled or of a loop
expect 0 '' "$arenac" run -q loop.ag -i x=x.npy --output-dir loop --backend eval
"$py" "$check" loop loop || fail "the iterations of loop.ag"
expect 8 'count their runs in state' "$arenac" check while.ag

# the program counts, and can be set
"$arenac" compile -q small.ag -o small.c || fail "compile small.ag"
"${CC:-cc}" -std=c99 -Wall -Wextra -Werror -O1 -ffp-contract=off -I. "$src/tests/cli/random_main.c" small.c -o small ||
    fail "cc small.c"
./small >runs.txt || fail "the program of small.ag"
"$py" "$check" runs runs.txt || fail "the runs of small.ag"

# a Python module
if case $arenac in *asan*) false ;; esac; then
    "$arenac" python -q small.ag -o . || fail "python small.ag"
    "$py" "$check" module >runs.txt || fail "small.seed"
    "$py" "$check" runs runs.txt || fail "the runs of the module"
fi

# training draws by the same counter
t="--data x=x.npy --target x.npy --loss mse --optimizer adam --lr 0.01 --batch 2 --steps 20"
# shellcheck disable=SC2086
for b in eval c; do
    "$arenac" train -q noisy.ag $t --backend $b --log $b.csv -o $b.npz >out.txt || fail "train --backend $b"
done
cmp eval.csv c.csv || fail "losses of eval and c differ"
# shellcheck disable=SC2086
"$arenac" train -q noisy.ag $t --seed 5 --log other.csv -o c.npz >out.txt || fail "train --seed"
! cmp -s c.csv other.csv || fail "train: --seed changes nothing"
