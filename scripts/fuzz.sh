#!/bin/sh
# fuzz.sh - runs libFuzzer with ASan and UBSan on every reader of model files, and on everything from two files and
# options to text (fuzz_whole). The models here and the public ones next to the repository are the first corpus;
# libFuzzer adds its findings to BUILD/corpus. A fault ends the script; its input is in BUILD. usage: fuzz.sh [--minutes
# N: of all together] [SECONDS per target: 600] [BUILD: build-fuzz]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
minutes=
[ "${1-}" != --minutes ] || { minutes=$2 && shift 2; }
seconds=${1:-600} build=${2:-$root/build-fuzz}
CC=clang cmake -S "$root" -B "$build" -DARENAC_SANITIZE=ON -DARENAC_FUZZ=ON -DBUILD_TESTING=OFF \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null
readers=$(cd "$root/tests/fuzz" && ls fuzz_*.c | sed 's/\.c$//')
[ -z "$minutes" ] || seconds=$((minutes * 60 / $(echo "$readers" | wc -l)))
for r in $readers; do
    cmake --build "$build" -j "$(nproc)" --target "libfuzzer_$r" >/dev/null
done
cd "$build"
# Outputs of the programs in tests/golden: extension operators, and results of data-dependent size.
for format in onnx tflite; do
    mkdir -p "made/fuzz_$format"
    for p in "$root/tests/golden/$format"/*.graph "$root/tests/golden/$format"/*.h; do
        (cd "made/fuzz_$format" &&
            PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/tests/golden:$root/models" python3 "${p%.*}.py")
    done
done
mkdir -p made/fuzz_tf
cp "$root"/tests/golden/tf/*.pbtxt made/fuzz_tf
# Single operators, if the conformance suites are next to the repository: only they reach most importers of nodes.
here=$PWD suites=$root/../shared/conformance
if [ -e "$suites/onnx_cases.tar.xz" ]; then
    mkdir -p made/fuzz_onnx/cases made/fuzz_tflite/cases
    tar -xJf "$suites/onnx_cases.tar.xz" -C made/fuzz_onnx/cases --wildcards '*/model.onnx'
    (cd "$suites/tflite_ops" &&
        find . -name model.tflite -print0 | xargs -0 cp --parents -t "$here/made/fuzz_tflite/cases")
fi
for r in $readers; do
    mkdir -p "corpus/$r"
    first=$root/models
    [ ! -d "$root/tests/fuzz/corpus/$r" ] || first="$root/tests/fuzz/corpus/$r $first"
    [ ! -d "made/$r" ] || first="made/$r $first"
    folder=$(echo "${r#fuzz_}" | sed 's/^tf$/pb/')
    [ -d "$root/../shared/conformance/fuzz/$folder" ] && first="$first $root/../shared/conformance/fuzz/$folder"
    echo "== $r"
    # shellcheck disable=SC2086
    "./libfuzzer_$r" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -max_len=65536 -artifact_prefix="$r-" \
        "corpus/$r" $first >"$r.log" 2>&1 || { tail -n 40 "$r.log"; exit 1; }
    tail -n 1 "$r.log"
done
