#!/bin/sh
# Loops over the steps of recurrent layers (SCAN): RAM and ROM of an LSTM of any length, proofs, bits of every backend
# beside the unrolled layer, gradients. usage: steps.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
PYTHONPATH="$src/models:$src/tests/golden" PYTHONDONTWRITEBYTECODE=1 python3 - <<'P' || die "python3 is missing"
import random, struct
import onnx_bytes as o
random.seed(1)
def weights(name, *dims):
    n = 1
    for d in dims: n *= d
    return o.tensor(name, o.F32, list(dims), struct.pack(f"<{n}f", *(random.uniform(-0.5, 0.5) for _ in range(n))))
def layer(path, op, gates, steps, inputs, units, outputs, way="forward", batch=1, lengths=None, read=None):
    d = 1 + (way == "bidirectional")
    g = gates * units
    w = [weights("w", d, g, inputs), weights("r", d, g, units), weights("b", d, 2 * g)]
    names = ["x", "w", "r", "b"]
    if lengths:
        w.append(o.tensor("n", o.I32, [batch], struct.pack(f"<{batch}i", *lengths)))
        names.append("n")
    shapes = {"y": [steps, d, batch, units], "h": [d, batch, units], "c": [d, batch, units]}
    n = o.node(op, names, outputs, o.attr_int("hidden_size", units) + o.attr_word("direction", way))
    data = o.model(o.graph([n], ins=[("x", o.F32, [steps, batch, inputs])],
                           outs=[(k, o.F32, shapes[k]) for k in read or outputs if k], weights=w))
    open(path, "wb").write(data)
layer("last.onnx", "LSTM", 4, 200, 8, 16, ["", "h"])
layer("long.onnx", "LSTM", 4, 10000, 8, 16, ["", "h"])
layer("unread.onnx", "LSTM", 4, 200, 8, 16, ["y", "h", "c"], read=["h"])
layer("both.onnx", "GRU", 3, 60, 5, 7, ["y", "h"], "bidirectional", 2, [60, 13])
layer("back.onnx", "RNN", 1, 40, 3, 4, ["y", "h"], "reverse")
layer("grad.onnx", "LSTM", 4, 12, 3, 4, ["y"])
P
bytes() { # KEY MODEL: of the M4, from the report
    "$arenac" plan "$2" -t cortex-m4 | sed -n "s/^ .* $1  *\([0-9,]*\) B.*/\1/p" | head -1 | tr -d ,
}
[ "$(bytes arena last.onnx)" -le 7200 ] || fail "an LSTM of 200 steps takes $(bytes arena last.onnx) B"
rom=$(($(bytes weights last.onnx) + $(bytes code last.onnx)))
[ $rom -le $((6656 + 4096)) ] || fail "its weights and code are $rom B"
[ "$(bytes arena unread.onnx)" = "$(bytes arena last.onnx)" ] || fail "an output that nobody reads takes RAM"
[ "$(bytes arena long.onnx)" -le 321000 ] || fail "10,000 steps take more RAM than their input"

llvm=0
have_llvm || llvm=$?

# The unrolled layer gives the same bits: a file of ONNX has no such loop.
for m in last both back; do
    "$arenac" convert -q $m.onnx $m.plain.onnx
    "$arenac" run -q $m.plain.onnx --random 1 --backend eval --output-dir plain
    "$arenac" run -q $m.plain.onnx --random 1 -t cortex-m4 --backend eval --output-dir plain4
    for backend in eval c; do
        "$arenac" run -q $m.onnx --random 1 --backend $backend --compare 0=plain/0.npy --max-ulp 0 >/dev/null ||
            fail "$m: $backend differs from the unrolled layer"
    done
    "$arenac" run -q $m.onnx --random 1 --threads 3 --poison --compare 0=plain/0.npy --max-ulp 0 >/dev/null ||
        fail "$m: threads"
    "$arenac" run -q $m.onnx --random 1 -t cortex-m4 --backend eval --compare 0=plain4/0.npy --max-ulp 0 >/dev/null ||
        fail "$m: for firmware"
    [ $llvm != 0 ] ||
        "$arenac" run -q $m.onnx --random 1 --backend llvm --compare 0=plain/0.npy --max-ulp 0 >/dev/null ||
        fail "$m: llvm differs"
    for target in generic x86-64-v3 cortex-m4; do
        expect 0 'proven' "$arenac" prove $m.onnx -t $target
    done
done

# On a GPU: up to 512 steps are kernels, more run on one thread.
for m in back long; do
    "$arenac" run -q $m.onnx --random 1 -t cuda-sm80 --backend eval --output-dir gpu
    "$arenac" run -q $m.onnx --random 1 --backend cuda-emu --compare 0=gpu/0.npy --max-ulp 0 >/dev/null ||
        fail "$m: cuda"
done

# A gradient has nodes for every step.
expect 0 'scan' "$arenac" check grad.onnx --dump-after infer
"$arenac" run -q grad.onnx --random 1 --backend eval --output-dir ones
expect 0 '' "$arenac" grad grad.onnx --random 1 --cotangent y=ones/0.npy --output-dir gradients
[ $bad != 0 ] || echo "recurrent layers are loops: any number of steps, small, proven, the same bits as unrolled"
