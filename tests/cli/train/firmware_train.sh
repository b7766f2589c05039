#!/bin/sh
# Firmware that learns: the commands of docs/training.md, On a microcontroller. Steps on a Cortex-M7 in QEMU have the
# losses of this machine, to the bit, within 256 KiB of RAM; the same for a net of the repository with LoRA on a
# Cortex-M4. usage: firmware_train.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy && have_arm && have_shared firmware/harness/fwrun.py || exit 77
fw=$shared/firmware/harness/fwrun.py
arenac() {
    "$arenac" "$@"
}

# same NAME BATCH STEPS TARGET: NAME.c has the losses of host.csv
same() {
    "$py" "$src/tests/train_main.py" "$1" "$1.h" x.npy y.npy "$2" "$3" 0.05 firmware >main.c &&
        "$py" "$fw" --target "$4" --src "$1.c" --main main.c -O 2 --cflags=-I"$tmp" --json ran.json >log ||
        { cat log; fail "$1 on $4"; }
    "$py" - "$3" <<'E2' || fail "$1 on $4: other losses than on this machine"
import csv, json, struct, sys
ran = json.load(open("ran.json"))["reports"]
want = [struct.pack("<f", float(r["loss"])) for r in csv.DictReader(open("host.csv"))]
got = [struct.pack("<I", ran["loss%02d" % k]) for k in range(int(sys.argv[1]))]
assert got == want and len(set(got)) > 1, [struct.unpack("<f", v)[0] for v in got + want]
E2
}

# digits, whose inputs are integers
"$py" - "$models" <<'E2'
import sys
import numpy as np
x, y = (np.load(f"{sys.argv[1]}/digits.test_{k}.npy") for k in "xy")
np.save("x.npy", x[:12]), np.save("y.npy", 9 - y[:12].astype("i4"))
E2
m=$models/digits_int8.tflite
step="--loss cross_entropy --batch 2 --exact --lora 4 *d1_1/MatMul --train-only *BiasAdd"
set -f
# shellcheck disable=SC2086
arenac train "$m" --data 0=x.npy --target y.npy --optimizer adam --lr 0.05 --steps 6 $step --log host.csv -o d.npz \
    >/dev/null || fail train
# shellcheck disable=SC2086
arenac compile -q "$m" --train adam $step -t cortex-m4 --name digits -o digits.c || fail compile
same digits 2 6 cortex-m4
for b in c llvm; do
    [ $b = c ] || have_llvm || continue
    # shellcheck disable=SC2086
    expect 0 "outputs are the evaluator's" "$arenac" bench -t cortex-m4 "$m" --train adam $step --backend $b
done
set +f

# the commands of the documentation
have_shared models/tflite/mcunet_person_det_int8 || exit $bad
cp "$shared/models/tflite/mcunet_person_det_int8/mcunet_person_det_int8.tflite" net.tflite
"$py" - <<'E2'
import numpy as np
r = np.random.default_rng(1)
x = np.cumsum(np.cumsum(r.normal(size=(3, 128, 160, 3)), 1), 2)
np.save("x.npy", (x / abs(x).max((1, 2, 3), keepdims=True) * 127).astype("i1"))
np.save("y.npy", r.normal(size=(3, 4, 5, 18)).astype("f4"))
E2
sed -n '/^## On a microcontroller/,/^## /p' "$src/docs/training.md" | sed -n '/^```sh/,/^```/p' |
    grep -v '^```' >commands
[ "$(grep -c ^arenac commands)" -ge 3 ] || fail "docs/training.md has no commands"
(set -e && . ./commands) >out || fail "a command of docs/training.md"
grep -q "outputs are the evaluator's" out || fail "bench: $(cat out)"
same net 1 4 cortex-m7
bytes() {
    sed -n "s/^#define NET_$1_BYTES \([0-9]*\)u.*/\1/p" net.h
}
[ $(($(bytes ARENA) + $(bytes STATE) + $(bytes STACK))) -le 262144 ] || fail "$(bytes ARENA) B do not fit in 256 KiB"
