#!/bin/sh
# differential.sh - compares all ways to run a program bit by bit, and results with other frameworks.
#
#   differential.sh [PROGRAMS [SEED]]
#       2,000 generated programs (operators of random types, shapes and schedules; random loops), 1,000 more as kernels
#       of a GPU, and every instruction in every type give the same bits on the evaluator, C and LLVM, or the emulation
#       of a GPU
#   differential.sh --foreign [GRAPHS [SEED [DIR]]]
#       1,000 random graphs of 160 operators of ONNX and com.microsoft beside ONNX Runtime, as many quantised ones of
#       TFLite beside LiteRT, with random options (tests/foreign/differential.py). ARENAC_ORT names a Python that has
#       both. As many of 155 operators of TensorFlow, 184 of MXNet and 31 layers of Caffe (beside OpenCV) where
#       ARENAC_TF, ARENAC_MXNET or ARENAC_OPENCV names a Python that has tensorflow, mxnet (1.9.1, with NumPy 1.23)
#       or opencv-python-headless (4). What differs is made smaller and written to DIR (default: faults). Without a
#       seed it is a new one, which is printed.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
[ "${1-}" = --foreign ] || exec "$root/build/tests/test_backends" "${1:-2000}" "${2:-1}" 1
graphs=${2:-1000} seed=${3:-} dir=${4:-faults} failed=0
beside() {
    "$2" -W ignore "$root/tests/foreign/differential.py" "$root/build/arenac" "$dir/$1" --kind "$1" --graphs "$graphs" \
        ${seed:+--seed "$seed"} --keep-going || failed=1
}
beside onnx "${ARENAC_ORT:-python3}"
beside tflite "${ARENAC_ORT:-python3}"
[ -z "${ARENAC_TF-}" ] || beside tf "$ARENAC_TF"
[ -z "${ARENAC_MXNET-}" ] || beside mxnet "$ARENAC_MXNET"
[ -z "${ARENAC_OPENCV-}" ] || beside caffe "$ARENAC_OPENCV"
exit $failed
