#!/bin/sh
# TensorFlow graphs of models/ against references computed by numpy (models/make_tf.py), both forms, and the ways to
# select a graph: --outputs, a SavedModel directory. Refusals: tests/golden/tf. usage: tensorflow.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
for m in tf_rnn.pbtxt tf_cnn.pb; do
    stem=$models/${m%.*}
    for set in 0 1 2; do
        "$arenac" run -q "$models/$m" --backend eval --input x="$stem.in0.$set.npy" --compare y="$stem.out0.$set.npy" ||
            die "$m set $set"
    done
done
# inner nodes as outputs; later nodes are not read
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
# variables of a SavedModel: however the folder is named, and only with its files
for set in 0 1 2; do
    for m in tf_saved tf_saved/ tf_saved/saved_model.pb; do
        "$arenac" run -q "$models/$m" --backend eval --input x="$models/tf_saved.in_x.$set.npy" \
            --input ids="$models/tf_saved.in_ids.$set.npy" --compare y="$models/tf_saved.out.$set.npy" ||
            die "$m set $set"
    done
done
"$arenac" compile -q "$models/tf_saved/" --emit c,h -o made.c || die "compile of a folder"
grep -q "tf_saved_run" made.h || die "the code is not named as the folder"
# the objects of the exporting program say which entry is whose, where the restore operator does not
PYTHONPATH=$models python3 -c 'import saved_model; saved_model.saved_model("objects", 3, objects=True)' || die "python3"
"$arenac" run -q objects --backend eval --input x="$models/tf_saved.in_x.0.npy" \
    --input ids="$models/tf_saved.in_ids.0.npy" --compare y="$models/tf_saved.out.0.npy" || die "objects"
# any byte of the checkpoint that changes is an error, and none a crash; restart points are not read
cp -r "$models/tf_saved" m && chmod -R u+w m
PYTHONPATH=$models python3 - "$arenac" <<'END2' || die "damaged checkpoints"
import pathlib, subprocess, sys
for f in sorted(pathlib.Path("m/variables").iterdir()):
    good, silent = f.read_bytes(), []
    for at in range(0, len(good), 3):
        b = bytearray(good)
        b[at] ^= 0x41
        f.write_bytes(b)
        p = subprocess.run([sys.argv[1], "check", "-q", "m"], capture_output=True, text=True)
        if p.returncode not in (0, 1, 8) or (p.returncode != 0) != ("error[" in p.stderr):
            sys.exit(f"{f} byte {at}: exit {p.returncode}\n{p.stderr}")
        silent += [at] if p.returncode == 0 else []
    for n in range(0, len(good), 7):
        f.write_bytes(good[:n])
        p = subprocess.run([sys.argv[1], "check", "-q", "m"], capture_output=True, text=True)
        if p.returncode not in (1, 8):
            sys.exit(f"{f} cut off at {n}: exit {p.returncode}\n{p.stderr}")
    f.write_bytes(good)
    if len(silent) > len(good) // 20:  # what the model does not use: a footer's padding
        sys.exit(f"{f}: bytes {silent} may change without an error")
END2
