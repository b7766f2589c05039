#!/bin/sh
# Every 12th case of the ONNX conformance suite that is known to pass, by the evaluator, and every 60th through generated C;
# all of them: scripts/onnx.sh. usage: onnx.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
suite=$shared/conformance
have_shared conformance && have_numpy && have xz xz-utils || exit 77
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
ln -s "$arenac" "$tmp/arenac" # the runner splits its command at blanks: a path without any
# The runner compares floats of 8 and 4 bits with the help of ml_dtypes, which Debian does not have.
small='^$'
$py -c 'import ml_dtypes' 2>/dev/null || {
    missing ml_dtypes "ml_dtypes from PyPI"
    small='to_FLOAT[48]|quantizelinear_(e4m3|e5m2|float4|float8)'
}
# gate EVERY HOW: cases number EVERY, 2 * EVERY .. of the list
gate() {
    grep -v '^light/' "$src/tests/onnx/passing.txt" | grep -vE "$small" | awk -v k="$1" 'NR % k == 0' >"$tmp/expect"
    sed 's/^/.\//' "$tmp/expect" >"$tmp/members"
    mkdir -p "$tmp/cases"
    tar xJf "$suite/onnx_cases.tar.xz" -C "$tmp/cases" -T "$tmp/members"
    $py "$suite/onnx_conformance.py" run "$tmp/cases" --label "$1" --jobs 2 --expect "$tmp/expect" \
        --command "$tmp/arenac run {model} {inputs} --output-dir {out} $2" | sed -n '/all\|missing\|^ *node/p'
    rm -rf "$tmp/cases"
}
gate 12 "--backend eval -t generic" >"$tmp/out"
case $arenac in *asan*) ;; *) gate 60 "--backend c" >>"$tmp/out" ;; esac
cat "$tmp/out"
if grep -q 'missing' "$tmp/out"; then exit 1; fi
