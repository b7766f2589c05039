#!/usr/bin/env python3
"""Small TensorFlow models with references computed here in float64 with numpy: nothing of arenac or TensorFlow is used.

    python3 models/make_tf.py            needs numpy; writes tf_*.pb, tf_*.pbtxt, tf_*.in0.SET.npy, tf_*.out0.SET.npy

tf_rnn.pbtxt (text form): a recurrent cell as TensorFlow 1 writes it: a loop of Enter, Merge, Switch, NextIteration and Exit over
a TensorArray, then a dense layer and a softmax. tf_cnn.pb (wire form): convolution, batch normalisation, depthwise convolution,
pooling, a function of the library, with an open batch dimension; weights in tensor_content, at any address. tf_saved: a
SavedModel as TensorFlow 2 exports it: variables in a checkpoint of two shards, handles of them as arguments of functions, and a
function that restores them.
"""
import pathlib

import numpy as np

from graphs import FLOAT, INT32, binary, node, shape, text
from saved_model import saved_model, saved_values

HERE = pathlib.Path(__file__).resolve().parent


def tensor(a, listed):
    a = np.asarray(a)
    kind = FLOAT if a.dtype.kind == "f" else INT32
    a = a.astype(np.float32 if kind == FLOAT else np.int32)
    fields = [(1, "dtype", kind), (2, "tensor_shape", shape(a.shape))]
    if not listed:
        return fields + [(4, "tensor_content", a.tobytes())]
    return fields + [(5, "float_val", float(v)) if kind == FLOAT else (7, "int_val", int(v)) for v in a.ravel()]


def const(name, a, listed=True):
    a = np.asarray(a)
    return node(name, "Const", dtype=(6, "type", FLOAT if a.dtype.kind == "f" else INT32), value=(8, "tensor", tensor(a, listed)))


def ints(v):
    return (1, "list", [(3, "i", i) for i in v])


# ---- tf_rnn: h = tanh([x, h] W + b) over STEPS steps, softmax(h V + c)

STEPS, IN, UNITS, OUT = 6, 4, 5, 3


def rnn():
    rng = np.random.default_rng(7)
    w, b = rng.uniform(-1, 1, (IN + UNITS, UNITS)), rng.uniform(-1, 1, UNITS)
    v, c = rng.uniform(-2, 2, (UNITS, OUT)), rng.uniform(-1, 1, OUT)
    w, b, v, c = (np.float32(x) for x in (w, b, v, c))
    frame = (2, "s", "loop")
    T = (6, "type", FLOAT)
    g = [
        node("x", "Placeholder", dtype=T, shape=(7, "shape", shape([1, STEPS, IN]))),
        const("perm", np.int32([1, 0, 2])), node("by_time", "Transpose", "x", "perm"),
        const("steps", np.int32(STEPS)), const("zero", np.int32(0)), const("one", np.int32(1)),
        node("range", "Range", "zero", "steps", "one"), node("array", "TensorArrayV3", "steps", dtype=T),
        node("fill", "TensorArrayScatterV3", "array", "range", "by_time", "array:1"),
        const("h_shape", np.int32([1, UNITS])), const("h_zero", np.float32(0)), node("h0", "Fill", "h_shape", "h_zero"),
        const("W", w), const("b", b), const("V", v), const("c", c), const("axis", np.int32(1)),
        node("enter_i", "Enter", "zero", frame_name=frame), node("enter_h", "Enter", "h0", frame_name=frame),
    ]
    for name, of in (("steps", "steps"), ("array", "array"), ("flow", "fill"), ("W", "W"), ("b", "b")):
        g.append(node("in_" + name, "Enter", of, frame_name=frame, is_constant=(5, "b", True)))
    g += [
        node("merge_i", "Merge", "enter_i", "next_i"), node("merge_h", "Merge", "enter_h", "next_h"),
        node("less", "Less", "merge_i", "in_steps"), node("cond", "LoopCond", "less"),
        node("switch_i", "Switch", "merge_i", "cond"), node("switch_h", "Switch", "merge_h", "cond"),
        node("i", "Identity", "switch_i:1"), node("h", "Identity", "switch_h:1"),
        node("xt", "TensorArrayReadV3", "in_array", "i", "in_flow", dtype=T),
        (1, "node", [(1, "name", "along"), (2, "op", "Const"), (3, "input", "^i")] + const("", np.int32(1))[2][2:]),
        node("joined", "ConcatV2", "xt", "h", "along"), node("product", "MatMul", "joined", "in_W"),
        node("sum", "BiasAdd", "product", "in_b"), node("state", "Tanh", "sum"),
        (1, "node", [(1, "name", "step"), (2, "op", "Const"), (3, "input", "^i")] + const("", np.int32(1))[2][2:]),
        node("plus", "AddV2", "i", "step"), node("next_i", "NextIteration", "plus"), node("next_h", "NextIteration", "state"),
        node("last", "Exit", "switch_h"),
        node("logits", "MatMul", "last", "V"), node("shifted", "AddV2", "logits", "c"), node("y", "Softmax", "shifted"),
    ]

    def run(x):
        h = np.zeros((1, UNITS))
        for t in range(STEPS):
            h = np.tanh(np.concatenate([x[:, t], h], 1) @ w.astype(np.float64) + b)
        e = h @ v.astype(np.float64) + c
        e = np.exp(e - e.max())
        return e / e.sum()

    return g, run, (1, STEPS, IN)


# ---- tf_cnn

def windows(x, k, stride, fill):
    """SAME windows of x [N,H,W,C]: [N,OH,OW,k,k,C]."""
    n, h, w, c = x.shape
    oh, ow = -(-h // stride), -(-w // stride)
    ph, pw = max((oh - 1) * stride + k - h, 0), max((ow - 1) * stride + k - w, 0)
    p = np.pad(x, ((0, 0), (ph // 2, ph - ph // 2), (pw // 2, pw - pw // 2), (0, 0)), constant_values=fill)
    out = np.zeros((n, oh, ow, k, k, c))
    for y in range(k):
        for z in range(k):
            out[:, :, :, y, z] = p[:, y:y + (oh - 1) * stride + 1:stride, z:z + (ow - 1) * stride + 1:stride]
    return out


def cnn():
    rng = np.random.default_rng(8)
    f, d = np.float32(rng.uniform(-.5, .5, (3, 3, 2, 6))), np.float32(rng.uniform(-.5, .5, (3, 3, 6, 2)))
    scale, offset, mean = (np.float32(rng.uniform(-1, 1, 6)) for _ in range(3))
    var = np.float32(rng.uniform(.2, 2, 6))
    dense = np.float32(rng.uniform(-.4, .4, (12, 4)))
    T = (6, "type", FLOAT)
    same, one = (2, "s", "SAME"), ints([1, 1, 1, 1])
    g = [
        node("x", "Placeholder", dtype=T, shape=(7, "shape", shape([-1, 7, 8, 2]))),
        const("f", f, False), const("scale", scale, False), const("offset", offset, False), const("mean", mean, False),
        const("var", var, False), const("d", d, False), const("dense", dense, False), const("hw", np.int32([1, 2])),
        node("conv", "Conv2D", "x", "f", strides=ints([1, 2, 2, 1]), padding=same),
        node("bn", "FusedBatchNormV3", "conv", "scale", "offset", "mean", "var", is_training=(5, "b", False), epsilon=(4, "f", 0.001)),
        node("act", "StatefulPartitionedCall", "bn", f=(10, "func", [(1, "name", "leaky")])),
        node("dw", "DepthwiseConv2dNative", "act", "d", strides=one, padding=same),
        node("pool", "MaxPool", "dw", ksize=ints([1, 2, 2, 1]), strides=ints([1, 2, 2, 1]), padding=same),
        node("mean_hw", "Mean", "pool", "hw"), node("y", "MatMul", "mean_hw", "dense"),
    ]
    body = [(1, "signature", [(1, "name", "leaky"), (2, "input_arg", [(1, "name", "a"), (3, "type", FLOAT)]),
                              (3, "output_arg", [(1, "name", "r"), (3, "type", FLOAT)])]),
            (3, "node_def", node("k", "Const", value=(8, "tensor", tensor(np.float32(.1), True)))[2]),
            (3, "node_def", node("low", "Mul", "a", "k:output:0")[2]),
            (3, "node_def", node("high", "Maximum", "low:z:0", "a")[2]),
            (4, "ret", [(1, "key", "r"), (2, "value", "high:z:0")])]
    g.append((2, "library", [(1, "function", body)]))

    def run(x):
        x = x.astype(np.float64)
        a = np.einsum("nyxijc,ijco->nyxo", windows(x, 3, 2, 0), f.astype(np.float64))
        a = (a - mean) / np.sqrt(var.astype(np.float64) + np.float32(.001)) * scale + offset
        a = np.maximum(a, a * np.float64(np.float32(.1)))
        a = np.einsum("nyxijc,ijcm->nyxcm", windows(a, 3, 1, 0), d.astype(np.float64))
        a = a.reshape(*a.shape[:3], -1)
        a = windows(a, 2, 2, -np.inf).max(axis=(3, 4))
        return a.mean(axis=(1, 2)) @ dense.astype(np.float64)

    return g, run, (2, 7, 8, 2)


# ---- tf_saved

def saved():
    saved_model(HERE / "tf_saved", 2)
    v = {n: np.frombuffer(b, np.float32).reshape(dims).astype(np.float64) for n, (t, dims, b) in saved_values().items() if t == FLOAT}
    for s in range(3):
        rng = np.random.default_rng(s)
        x, ids = np.float32(rng.uniform(-1, 1, (1, 4))), np.int32(rng.integers(0, 7, 2))
        y = np.tanh(x @ v["dense/kernel"] + v["dense/bias"]) + v["table"][ids].sum(0)
        for name, a in (("in_x", x), ("in_ids", ids), ("out", np.float32(y))):
            np.save(HERE / f"tf_saved.{name}.{s}.npy", a)


def main():
    for name, make in (("tf_rnn.pbtxt", rnn), ("tf_cnn.pb", cnn)):
        g, run, dims = make()
        stem = name.split(".")[0]
        (HERE / name).write_bytes(text(g).encode() if name.endswith("txt") else binary(g))
        for s in range(3):
            x = np.random.default_rng(s).uniform(-1, 1, dims).astype(np.float32)
            np.save(HERE / f"{stem}.in0.{s}.npy", x)
            np.save(HERE / f"{stem}.out0.{s}.npy", run(x).astype(np.float32))
    saved()


if __name__ == "__main__":
    main()
