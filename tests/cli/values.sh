#!/bin/sh
# Rarer operators of Caffe, MXNet and TensorFlow against NumPy, many in a model, by the reference interpreter.
# usage: values.sh ARENAC SOURCE_DIR
set -u
arenac=$1 src=$2
. "$2/tests/cli/require"
have_numpy || exit 77
bad=0
for format in caffe mxnet tf; do
    PYTHONDONTWRITEBYTECODE=1 $py "$src/tests/values/${format}_values.py" "$arenac" || bad=1
done
exit $bad
