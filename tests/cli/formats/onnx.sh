#!/bin/sh
# Every 12th case of the ONNX conformance suite that is known to pass, by the evaluator, and every 60th through
# generated C; all of them: scripts/onnx_conformance.sh. usage: onnx.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
suite=$shared/conformance
have_shared conformance && have_numpy && have xz xz-utils || exit 77
ln -s "$arenac" arenac # the runner splits its command at blanks: a path without any
# The runner compares floats of 8 and 4 bits with the help of ml_dtypes, which Debian does not have.
small='^$'
$py -c 'import ml_dtypes' 2>/dev/null || {
    missing ml_dtypes "ml_dtypes from PyPI"
    small='to_FLOAT[48]|quantizelinear_(e4m3|e5m2|float4|float8)'
}
# gate EVERY HOW: cases number EVERY, 2 * EVERY .. of the list
gate() {
    grep -v '^light/' "$src/tests/onnx/passing.txt" | grep -vE "$small" | awk -v k="$1" 'NR % k == 0' >expect
    sed 's/^/.\//' expect >members
    mkdir -p cases
    tar xJf "$suite/onnx_cases.tar.xz" -C cases -T members
    $py "$suite/onnx_conformance.py" run cases --label "$1" --jobs 2 --expect expect \
        --command "$tmp/arenac run {model} {inputs} --output-dir {out} $2" | sed -n '/all\|missing\|^ *node/p'
    rm -rf cases
}
gate 12 "--backend eval -t generic" >out
case $arenac in *asan*) ;; *) gate 60 "--backend c" >>out ;; esac
cat out
! grep -q 'missing' out
