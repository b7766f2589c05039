#!/bin/sh
# Layers of an int8 model train in floats, whatever comes before them stays as it is to the bit: losses and weights are
# those of float64 on what the int8 layers make; biases alone, convolutions, lora; files, and what cannot be.
# usage: quantised_train.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
m=$models/digits_int8.tflite
features='digits_1/d1_1/MatMul;digits_1/d1_1/Relu;digits_1/d1_1/BiasAdd'
# Digits under other names: 0 is called 9.
"$py" - "$models" <<'E2'
import sys
import numpy as np
x, y = (np.load(f"{sys.argv[1]}/digits.test_{k}.npy") for k in "xy")
np.save("x.npy", x[:240]), np.save("y.npy", 9 - y[:240].astype("i4"))
np.save("hx.npy", x[240:]), np.save("hy.npy", 9 - y[240:].astype("i4"))
np.save("one.npy", x[:1])
E2
train() { # OPTION...
    "$arenac" train "$m" --data 0=x.npy --target y.npy --loss cross_entropy --optimizer sgd --batch 8 "$@"
}
ran() { # MODEL FEATURE: what lies under a name for the first sample
    "$arenac" run -q "$1" --input 0=one.npy --outputs "$2" --output-dir "$3" || fail "run $1"
}
train --lr 0 --steps 1 --train-only '*d2_1*' -o first.npz >/dev/null || fail first
train --lr 0.02 --steps 90 --train-only '*d2_1*' -o last.npz --log log.csv --validate hx.npy,hy.npy >out || fail last
accuracy=$(sed -n 's/^validation:.* accuracy=//p' out)
awk "BEGIN { exit !($accuracy >= 0.9) }" || fail "the last layer learns 9 - digit: accuracy $accuracy"
train --lr 0.02 --steps 90 --train-only '*d2_1*' -o last.ag >/dev/null || fail ag

# the int8 part of the written file is that of the model, and so are its results in the evaluator
ran "$m" "$features" int8
ran last.ag "$features" mixed
cmp int8/0.npy mixed/0.npy || fail "the int8 layers have other results"
"$arenac" run -q last.ag --input 0=one.npy --output-dir c && "$arenac" run -q last.ag --input 0=one.npy --backend eval \
    --exact --output-dir eval || fail "last.ag does not run"

# features of all samples as the int8 layers make them
mkdir f
"$arenac" convert -q "$m" tail.ag --outputs "$features" || fail convert
"$py" - <<'E2'
import numpy as np
x = np.load("x.npy")
for i in range(len(x)):
    np.save(f"f/{i}.npy", x[i:i + 1])
E2
i=0
while [ $i -lt 24 ]; do
    "$arenac" run -q tail.ag --input 0=f/$i.npy --backend eval --output-dir f/o$i || fail "features"
    i=$((i + 1))
done
"$arenac" show tail.ag --emit ag |
    sed -n 's/^ *"digits_1.d1_1.MatMul;.*q(\([0-9.e-]*\), \(-*[0-9]*\)) = .*/\1 \2/p' >scale
"$py" - <<'E2' || fail "losses or weights are others than in float64"
import csv
import numpy as np
scale, zero = (float(v) for v in open("scale").read().split())
first, last = np.load("first.npz"), np.load("last.npz")
w, b = sorted(first.files, key=lambda k: -first[k].ndim)
W, B = first[w].astype("f8"), first[b].astype("f8")
assert W.shape == (10, 32) and first[w].dtype == np.float32 and len(first.files) == 2, first.files
f = scale * (np.concatenate([np.load(f"f/o{i}/0.npy") for i in range(24)]).astype("f8") - zero)
y = np.load("y.npy")
for step, row in zip(range(3), csv.DictReader(open("log.csv"))):
    X, Y = f[step * 8:][:8], np.eye(10)[y[step * 8:][:8]]
    p = X @ W.T + B
    p -= p.max(1, keepdims=True)
    p -= np.log(np.exp(p).sum(1, keepdims=True))
    assert np.isclose(-(p * Y).sum() / 8, float(row["loss"]), rtol=1e-5), (step, -(p * Y).sum() / 8, row)
    d = (np.exp(p) - Y) / 8
    W, B = W - 0.02 * d.T @ X, B - 0.02 * d.sum(0)
E2

# biases alone, a convolution with all that comes after it, lora of it, everything
for what in "--train-only *BiasAdd" "--train-only *c2_1/convolution --train-only *d2*" "--lora 4 *d1_1/MatMul" \
    "--lora 2 *c2_1/conv* --train-only *d2_1/Bias*" "--train-only *"; do
    set -f
    # shellcheck disable=SC2086
    train --optimizer adam --lr 0.02 --steps 40 $what -o a.npz --log a.csv --exact >/dev/null || fail "$what"
    # shellcheck disable=SC2086
    train --optimizer adam --lr 0.02 --steps 40 $what -o b.npz --exact --backend eval >/dev/null ||
        fail "$what by the evaluator"
    set +f
    cmp a.npz b.npz || fail "$what: backends differ"
    tail -n +2 a.csv | awk -F, 'NR <= 5 { a += $2 } NR > 35 { b += $2 } END { exit !(b < a) }' ||
        fail "$what does not learn"
done
# the gradient goes no further back than it must
last=$(arena_bytes "$m" --train sgd --batch 8 --train-only '*d2_1*')
more=$(arena_bytes "$m" --train sgd --batch 8 --train-only '*c2_1/conv*')
[ "$last" -lt "$more" ] || fail "the last layer alone needs $last B, with a convolution before it $more B"
verified "$m" --train sgd --batch 1 --train-only '*c2_1/conv*'
expect 0 '' "$arenac" compile -q "$m" --train sgd --train-only '*d2_1*' --batch 1 -t cortex-m7 -o m.c

# code learns the same, and infers by what it has learned
for what in "--train-only *d2_1*" "--lora 2 *d1_1/MatMul"; do
    set -f
    # shellcheck disable=SC2086
    train --lr 0.02 --steps 9 $what -o c.ag --exact >/dev/null || fail "$what"
    # shellcheck disable=SC2086
    "$arenac" compile -q "$m" --train sgd --batch 8 $what --exact --name net -o net.c || fail "compile $what"
    set +f
    "$arenac" run -q c.ag --input 0=one.npy --exact --output-dir c || fail "c.ag"
    "$py" "$src/tests/train_main.py" net net.h x.npy y.npy 8 9 0.02 >main.c &&
        "${CC:-cc}" -std=c99 -Wall -Wextra -Werror -O1 net.c main.c -o main && ./main >/dev/null || fail "the program"
    "$py" - <<'E2' || fail "$what: inference in C has other results"
import numpy as np
got, want = np.fromfile("net.out", "f4")[:10], np.load("c/0.npy")[0]
assert np.allclose(got, want, rtol=1e-5, atol=1e-7) and want.max() < 1, (got, want)
E2
done

t="--data 0=x.npy --target y.npy --loss cross_entropy --optimizer sgd --batch 8 --lr 1 --steps 1"
# shellcheck disable=SC2086
expect 1 '8 weights are quantised and none of them is named' "$arenac" train "$m" $t -o no.npz
grep -q '| digits_1/d2_1/MatMul$' err.txt || fail "it names no weight"
# shellcheck disable=SC2086
expect 1 'nothing to train' "$arenac" train "$m" $t -o no.npz --train-only 'none*'
# shellcheck disable=SC2086
expect 2 'ends in none of' "$arenac" train "$m" $t -o no.tflite --train-only '*d2*'
lstm=$shared/models/tflite/mnist_lstm_int8/mnist_lstm_int8.tflite
have_shared models/tflite/mnist_lstm_int8 || exit $bad
expect 1 'E0110.*keeps a state between runs' "$arenac" plan "$lstm" --train sgd --loss mse --batch 1 --train-only '*'
