#!/bin/sh
# Rarer operators of Caffe, MXNet, ONNX, TensorFlow and TFLite against NumPy, many in a model, by the reference
# interpreter.
# usage: values.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
for format in caffe mxnet onnx tf tflite; do
    PYTHONDONTWRITEBYTECODE=1 $py "$src/tests/values/${format}_values.py" "$arenac" || fail "$format"
done
