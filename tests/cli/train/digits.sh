#!/bin/sh
# A classifier of digits is trained from scratch: it classifies 97 of 100 unseen digits correctly, and so does the file
# that is written. usage: digits.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
"$py" "$src/tests/cli/train/digits.py" || die "no digits"
"$arenac" train net.ag --data x=x.npy --target y.npy --loss cross_entropy --optimizer adam --lr 0.004 \
    --lr-schedule cosine --batch 20 --epochs 20 --shuffle 1 -o net.onnx --validate hx.npy,hy.npy >out ||
    die "it does not train"
cat out
accuracy=$(sed -n 's/^validation:.* accuracy=//p' out)
awk "BEGIN { exit !($accuracy >= 0.97) }" || fail "accuracy $accuracy"
