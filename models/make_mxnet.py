#!/usr/bin/env python3
"""Writes dense-symbol.json, a small MXNet net, with its weights (seed 11) in three vintages of .params: dense-0000 (2017
on), dense-v0-0000 (before) and dense-sparse-0000 (rows and csr), an input, and what numpy says comes out.

    python3 make_mxnet.py DIR
"""
import json, pathlib, struct, sys
import numpy as np

RNG = np.random.default_rng(11)


def shape(dims, code):
    return struct.pack("<I", len(dims)) + b"".join(struct.pack(code, d) for d in dims)


def array(a, how):
    place = struct.pack("<iii", 1, 0, 0)  # CPU 0, float32
    if how == "v0":
        return shape(a.shape, "<I") + place + a.tobytes()
    if how == "rows":
        at = np.flatnonzero(a.reshape(a.shape[0], -1).any(1)).astype("<i8")
        return (struct.pack("<Ii", 0xF993FAC9, 1) + shape((len(at),) + a.shape[1:], "<q") + shape(a.shape, "<q") + place +
                struct.pack("<i", 6) + shape(at.shape, "<q") + a[at].tobytes() + at.tobytes())
    if how == "csr":
        r, c = np.nonzero(a)
        start = np.searchsorted(r, np.arange(a.shape[0] + 1)).astype("<i8")
        c = c.astype("<i8")
        return (struct.pack("<Ii", 0xF993FAC9, 2) + shape(c.shape, "<q") + shape(a.shape, "<q") + place +
                struct.pack("<i", 6) + shape(start.shape, "<q") + struct.pack("<i", 6) + shape(c.shape, "<q") +
                a[r, c].tobytes() + start.tobytes() + c.tobytes())
    return struct.pack("<Ii", 0xF993FAC9, 0) + shape(a.shape, "<q") + place + a.tobytes()


def params(arrays, how):
    out = struct.pack("<QQQ", 0x112, 0, len(arrays))
    for name, a in arrays.items():
        out += array(a, how.get(name, how.get("", "v2")))
    out += struct.pack("<Q", len(arrays))
    for name in arrays:
        full = (("aux:" if "moving" in name else "arg:") + name).encode()
        out += struct.pack("<Q", len(full)) + full
    return out


def main():
    d = pathlib.Path(sys.argv[1])
    f = lambda *s: RNG.standard_normal(s).astype("<f4")
    w = {"fc1_weight": f(6, 12), "fc1_bias": f(6), "bn_gamma": f(6), "bn_beta": f(6), "bn_moving_mean": f(6),
         "bn_moving_var": (RNG.random(6) + 0.5).astype("<f4"), "fc2_weight": f(4, 6), "fc2_bias": f(4)}
    w["fc1_weight"][[1, 4]] = 0
    w["fc2_weight"][RNG.random((4, 6)) < 0.6] = 0
    nodes, ids = [], {}

    def node(op, name, inputs=(), **attrs):
        ids[name] = len(nodes)
        n = {"op": op, "name": name, "inputs": [[ids[i], 0, 0] for i in inputs]}
        if attrs:
            n["attrs"] = attrs
        nodes.append(n)

    for v in ("data", "fc1_weight", "fc1_bias", "bn_gamma", "bn_beta", "bn_moving_mean", "bn_moving_var", "fc2_weight", "fc2_bias", "softmax_label"):
        node("null", v)
    node("FullyConnected", "fc1", ["data", "fc1_weight", "fc1_bias"], num_hidden="6")
    node("BatchNorm", "bn", ["fc1", "bn_gamma", "bn_beta", "bn_moving_mean", "bn_moving_var"], eps="0.001", fix_gamma="True")
    node("LeakyReLU", "act", ["bn"], act_type="leaky", slope="0.1")
    node("FullyConnected", "fc2", ["act", "fc2_weight", "fc2_bias"], num_hidden="4")
    node("SoftmaxOutput", "softmax", ["fc2", "softmax_label"])
    symbol = {"nodes": nodes, "arg_nodes": [i for i, n in enumerate(nodes) if n["op"] == "null"], "heads": [[ids["softmax"], 0, 0]],
              "attrs": {"mxnet_version": ["int", 10500]}}
    (d / "dense-symbol.json").write_text(json.dumps(symbol, indent=1) + "\n")
    (d / "dense-0000.params").write_bytes(params(w, {}))
    (d / "dense-v0-0000.params").write_bytes(params(w, {"": "v0"}))
    (d / "dense-sparse-0000.params").write_bytes(params(w, {"fc1_weight": "rows", "fc2_weight": "csr"}))
    x = f(2, 3, 4)
    y = x.reshape(2, 12) @ w["fc1_weight"].T + w["fc1_bias"]
    y = (y - w["bn_moving_mean"]) / np.sqrt(w["bn_moving_var"] + 1e-3) + w["bn_beta"]
    y = np.where(y > 0, y, 0.1 * y) @ w["fc2_weight"].T + w["fc2_bias"]
    e = np.exp(y - y.max(1, keepdims=True))
    np.save(d / "dense.in0.0.npy", x)
    np.save(d / "dense.out0.0.npy", (e / e.sum(1, keepdims=True)).astype(np.float32))


main()
