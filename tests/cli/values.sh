#!/bin/sh
# Rarer operators of Caffe, MXNet and TensorFlow against NumPy, many in a model, by the reference interpreter.
# usage: values.sh ARENAC SOURCE_DIR
set -u
arenac=$1 src=$2
py=python3
$py -c 'import numpy' 2>/dev/null || py=/usr/bin/python3 # Debian's numpy belongs to Debian's python
$py -c 'import numpy' 2>/dev/null || { echo "skipped: python3 has no numpy"; exit 77; }
bad=0
for format in caffe mxnet tf; do
    PYTHONDONTWRITEBYTECODE=1 $py "$src/tests/values/${format}_values.py" "$arenac" || bad=1
done
exit $bad
