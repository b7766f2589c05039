#!/bin/sh
# --threads N: no chunk reads an element that another one overwrites, not even in the tail of a loop: certificates of
# random steps of odd sizes, in place or not, are VALID, and results do not depend on N.
# usage: certificate_chunks.sh ARENAC SOURCE_DIR [COUNT]
. "$2/tests/cli/prelude"
certcheck=$(dirname "$arenac")/arenac-certcheck
have python3 python3 || exit 77
cut=0
valid() { # MODEL TARGET THREADS
    "$arenac" prove -q "$1" -t "$2" --threads "$3" -o code.cert >verdict.txt || fail "prove $*"
    "$certcheck" code.cert >verdict.txt || fail "$*: $(tail -n 1 verdict.txt)"
    cut=$((cut + $(grep -c "^call .* tasks $3$" code.cert)))
}
for n in 2 3 5; do
    valid "$models/branch_f32.tflite" x86-64-v4 $n
done
seed=1
while [ $seed -le "${3:-24}" ]; do
    n=$((seed % 4 + 2))
    python3 "$src/tests/random_maps.py" $seed maps.ag
    case $((seed % 3)) in 0) target=generic ;; 1) target=x86-64-v3 ;; *) target=x86-64-v4 ;; esac
    valid maps.ag $target $n
    for k in 1 $n; do
        "$arenac" run -q maps.ag -t $target --random 7 --threads $k --backend eval --output-dir $k
    done
    cmp 1/0.npy $n/0.npy || fail "seed $seed: $n threads change the result"
    seed=$((seed + 1))
done
[ $cut -gt "${3:-24}" ] || fail "only $cut steps were cut"
exit $bad
