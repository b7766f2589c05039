#!/usr/bin/env python3
"""Writes squares.prototxt and squares.caffemodel, a small Caffe net with random weights (seed 7), the same net in the
format of Caffe before 2014 (squares_v1.*: `layers`, blobs of four dimensions, numbers as double), an input and what
numpy says comes out. Standard library and numpy only; the weights are written by hand as protobuf.

    python3 make_caffe.py DIR
"""
import sys, pathlib
import numpy as np
from wire import data as field, number, varint

RNG = np.random.default_rng(7)


def blob(a, old):
    if not old:
        return field(7, field(1, b"".join(varint(d) for d in a.shape))) + field(5, a.astype("<f4").tobytes())
    dims = [1] * (4 - a.ndim) + list(a.shape)
    return b"".join(number(i + 1, d) for i, d in enumerate(dims)) + field(8, a.astype("<f8").tobytes())


def caffemodel(weights, old):
    out = b""
    for name, blobs in weights:
        layer = field(4 if old else 1, name) + b"".join(field(6 if old else 7, blob(b, old)) for b in blobs)
        out += field(2 if old else 100, layer)
    return out


def rand(*shape):
    return (RNG.standard_normal(shape) / np.sqrt(max(1, np.prod(shape[1:])))).astype(np.float32)


W = [("conv1", [rand(8, 3, 3, 3), rand(8)]), ("conv2", [rand(8, 4, 3, 3), rand(8)]), ("up", [rand(8, 4, 2, 2)]),
     ("ip", [rand(5, 12 * 4 * 4), rand(5)])]

LAYERS = [("conv1", "Convolution", ["data"], ["conv1"], "convolution_param { num_output: 8 kernel_size: 3 stride: 2 pad: 1 }"),
          ("relu1", "ReLU", ["conv1"], ["conv1"], "relu_param { negative_slope: 0.1 }"),
          ("pool1", "Pooling", ["conv1"], ["pool1"], "pooling_param { pool: MAX kernel_size: 2 stride: 2 }"),
          ("conv2", "Convolution", ["pool1"], ["conv2"], "convolution_param { num_output: 8 kernel_size: 3 pad: 1 group: 2 }"),
          ("sum", "Eltwise", ["pool1", "conv2"], ["sum"], "eltwise_param { operation: SUM coeff: 1 coeff: -0.5 }"),
          ("norm", "LRN", ["sum"], ["norm"], "lrn_param { local_size: 3 alpha: 0.5 beta: 0.75 }"),
          ("up", "Deconvolution", ["norm"], ["up"], "convolution_param { num_output: 4 kernel_size: 2 stride: 2 bias_term: false }"),
          ("pool2", "Pooling", ["up"], ["pool2"], "pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }"),
          ("crop", "Slice", ["norm"], ["low", "high"], "slice_param { slice_dim: 1 slice_point: 4 }"),
          ("cat", "Concat", ["pool2x", "low", "high"], ["cat"], "concat_param { concat_dim: 1 }"),
          ("ip", "InnerProduct", ["cat"], ["ip"], "inner_product_param { num_output: 5 }"),
          ("prob", "Softmax", ["ip"], ["prob"], "")]
V1 = {"Convolution": "CONVOLUTION", "ReLU": "RELU", "Pooling": "POOLING", "Eltwise": "ELTWISE", "LRN": "LRN",
      "Deconvolution": "DECONVOLUTION", "Slice": "SLICE", "Concat": "CONCAT", "InnerProduct": "INNER_PRODUCT", "Softmax": "SOFTMAX"}


def prototxt(old):
    text = 'name: "squares"  # models/make_caffe.py\ninput: "data"\n'
    text += "input_dim: 1 input_dim: 3 input_dim: 13 input_dim: 13\n" if old else "input_shape { dim: [1, 3, 13, 13] }\n"
    for name, kind, bottoms, tops, param in LAYERS:
        bottoms = [b if b != "pool2x" else "pool2c" for b in bottoms]
        if name == "cat":  # 5x5 -> 4x4: the last row and column go
            text += ("layers" if old else "layer") + ' { name: "mean" type: %s bottom: "pool2" top: "pool2c" ' % ("POOLING" if old else '"Pooling"')
            text += "pooling_param { pool: AVE kernel_h: 2 kernel_w: 2 stride: 1 } }\n"
        text += ("layers" if old else "layer") + ' { name: "%s" type: %s' % (name, V1[kind] if old else '"%s"' % kind)
        text += "".join(' bottom: "%s"' % b for b in bottoms) + "".join(' top: "%s"' % t for t in tops)
        text += " " + param + " }\n"
    return text


def conv(x, w, b, stride, pad, groups):
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    n = (x.shape[2] - w.shape[2]) // stride + 1
    out = np.zeros((1, w.shape[0], n, n))
    ic, oc = w.shape[1], w.shape[0] // groups
    for o in range(w.shape[0]):
        g = o // oc
        for i in range(n):
            for j in range(n):
                win = x[0, g * ic:(g + 1) * ic, i * stride:i * stride + w.shape[2], j * stride:j * stride + w.shape[3]]
                out[0, o, i, j] = (win * w[o]).sum() + b[o]
    return out


def pool(x, k, stride, pad, average):
    """Caffe's: windows rounded up, the last one clipped; averages count the pad, not what lies behind it."""
    h = x.shape[2]
    n = -(-(h + 2 * pad - k) // stride) + 1
    if pad and (n - 1) * stride >= h + pad:
        n -= 1
    out = np.zeros(x.shape[:2] + (n, n))
    for i in range(n):
        for j in range(n):
            a, b = i * stride - pad, j * stride - pad
            count = (min(a + k, h + pad) - a) * (min(b + k, h + pad) - b)
            win = x[:, :, max(a, 0):min(a + k, h), max(b, 0):min(b + k, h)]
            out[:, :, i, j] = win.sum((2, 3)) / count if average else win.max((2, 3))
    return out


def run(x):
    w = dict(W)
    x = conv(x.astype(np.float64), *w["conv1"], 2, 1, 1)
    x = pool(np.where(x > 0, x, 0.1 * x), 2, 2, 0, False)
    x = x - 0.5 * conv(x, *w["conv2"], 1, 1, 2)
    square = np.pad(x * x, ((0, 0), (1, 1), (0, 0), (0, 0)))
    norm = x * (1 + 0.5 / 3 * sum(square[:, c:c + 8] for c in range(3))) ** -0.75
    up = np.zeros((1, 4, 8, 8))
    for i in range(4):
        for j in range(4):
            up[0, :, 2 * i:2 * i + 2, 2 * j:2 * j + 2] = np.einsum("c,cohw->ohw", norm[0, :, i, j], w["up"][0])
    y = pool(pool(up, 3, 2, 1, True), 2, 1, 0, True)
    flat = np.concatenate([y, norm], 1).reshape(-1)
    e = w["ip"][0].astype(np.float64) @ flat + w["ip"][1]
    e = np.exp(e - e.max())
    return (e / e.sum()).reshape(1, 5).astype(np.float32)


def main():
    d = pathlib.Path(sys.argv[1])
    for old, stem in ((False, "squares"), (True, "squares_v1")):
        (d / (stem + ".prototxt")).write_text(prototxt(old))
        (d / (stem + ".caffemodel")).write_bytes(caffemodel(W, old))
    x = RNG.standard_normal((1, 3, 13, 13)).astype(np.float32)
    np.save(d / "squares.in0.0.npy", x)
    np.save(d / "squares.out0.0.npy", run(x))


main()
