#!/bin/sh
# TensorFlow graphs of models/ against references computed by numpy (models/make_tf.py), both forms, and the ways in:
# --outputs, a SavedModel directory. What is refused: tests/golden/tf. usage: tensorflow.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
for m in tf_rnn.pbtxt tf_cnn.pb; do
    stem=$models/${m%.*}
    for set in 0 1 2; do
        "$arenac" run -q "$models/$m" --backend eval --input x="$stem.in0.$set.npy" --compare y="$stem.out0.$set.npy" ||
            die "$m set $set"
    done
done
# inner nodes as outputs; what comes after them is not read
x=$models/tf_cnn.in0.0.npy
"$arenac" run -q "$models/tf_cnn.pb" --backend eval --input x="$x" --outputs pool,conv --output-dir . || die "--outputs"
[ -f 1.npy ] && [ ! -f 2.npy ] || die "--outputs: not two outputs"
# a folder is the SavedModel in it: version 1, one graph
have python3 python3 || exit 0
PYTHONPATH=$models PYTHONDONTWRITEBYTECODE=1 python3 - "$models/tf_cnn.pb" <<'END' || die "python3"
import sys
from wire import data, number
graph = open(sys.argv[1], "rb").read()
open("saved_model.pb", "wb").write(number(1, 1) + data(2, data(2, graph)))
END
"$arenac" run -q . --backend eval --input x="$x" --compare y="$models/tf_cnn.out0.0.npy" || die "SavedModel"
