#!/usr/bin/env python3
"""The f32 ONNX models that bench/run.py times, made from a seed: only shapes and operators matter for speed.

    bench/models.py FOLDER [NAME ...]        writes FOLDER/NAME.onnx for each name (default: all)

The networks are those people measure libraries with: the ImageNet classifiers of torchvision as its exporter writes
them (NCHW, batch norm folded into the convolutions), a transformer encoder, a small vision transformer, a stacked LSTM,
and the four of MLPerf Tiny. Weights are normal with the usual scale, so that activations stay finite. Needs onnx and
numpy.
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Net:
    """A graph under construction: every method appends nodes and gives the name of the result."""

    def __init__(self, seed=7):
        self.random = np.random.RandomState(seed)
        self.nodes, self.weights = [], []

    def name(self):
        return "t%d" % (len(self.nodes) + len(self.weights))

    def const(self, value):
        name = self.name()
        self.weights.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def normal(self, *shape, scale=None):
        fan_in = int(np.prod(shape[1:])) or 1
        scale = scale or (2.0 / fan_in) ** 0.5
        return self.const(self.random.normal(0, scale, shape).astype(np.float32))

    def ints(self, *values):
        return self.const(np.array(values, np.int64))

    def op(self, op, *inputs, outputs=1, **attrs):
        names = [self.name() + ("_%d" % i if outputs > 1 else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attrs))
        return names[0] if outputs == 1 else names

    def conv(self, x, i, o, k, stride=1, groups=1, act="Relu", pad=None):
        k = (k, k) if isinstance(k, int) else k
        pads = [k[0] // 2, k[1] // 2] * 2 if pad is None else pad
        y = self.op("Conv", x, self.normal(o, i // groups, *k), self.normal(o, scale=0.05), kernel_shape=list(k),
                    strides=[stride, stride], pads=pads, group=groups, dilations=[1, 1])
        return self.act(y, act)

    def act(self, x, act):
        if act == "Relu6":
            return self.op("Clip", x, self.const(np.float32(0)), self.const(np.float32(6)))
        if act == "Silu":
            return self.op("Mul", x, self.op("Sigmoid", x))
        return self.op(act, x) if act else x

    def dense(self, x, i, o):
        return self.op("Gemm", x, self.normal(o, i), self.normal(o, scale=0.05), alpha=1.0, beta=1.0, transB=1)

    def linear(self, x, i, o):
        """A dense layer over the last dimension of any shape, as exporters write it."""
        w = self.const((self.random.normal(0, i ** -0.5, (i, o))).astype(np.float32))
        return self.op("Add", self.normal(o, scale=0.05), self.op("MatMul", x, w))

    def pool(self, x, k, stride, pad=0):
        return self.op("MaxPool", x, kernel_shape=[k, k], strides=[stride, stride], pads=[pad] * 4)

    def classify(self, x, i, o):
        return self.dense(self.op("Flatten", self.op("GlobalAveragePool", x), axis=1), i, o)

    def save(self, path, x_shape, y, y_shape):
        graph = helper.make_graph(self.nodes, os.path.basename(path)[:-5],
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, x_shape)],
                                  [helper.make_tensor_value_info(y, TensorProto.FLOAT, y_shape)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, path)


IMAGE = (1, 3, 224, 224)


def resnet(n, blocks, bottleneck):
    x, i = n.pool(n.conv("x", 3, 64, 7, 2), 3, 2, 1), 64
    for stage, count in enumerate(blocks):
        width = 64 << stage
        o = width * 4 if bottleneck else width
        for b in range(count):
            s = 2 if stage and not b else 1
            if bottleneck:
                y = n.conv(n.conv(n.conv(x, i, width, 1), width, width, 3, s), width, o, 1, act=None)
            else:
                y = n.conv(n.conv(x, i, width, 3, s), width, width, 3, act=None)
            if s != 1 or i != o:
                x = n.conv(x, i, o, 1, s, act=None)
            x, i = n.op("Relu", n.op("Add", y, x)), o
    return IMAGE, n.classify(x, i, 1000), (1, 1000)


def resnet18(n):
    return resnet(n, (2, 2, 2, 2), False)


def resnet50(n):
    return resnet(n, (3, 4, 6, 3), True)


def squeezenet(n):
    def fire(x, i, s, e):
        x = n.conv(x, i, s, 1)
        return n.op("Concat", n.conv(x, s, e, 1), n.conv(x, s, e, 3), axis=1)
    x = n.pool(n.conv("x", 3, 64, 3, 2, pad=[0] * 4), 3, 2)
    x = n.pool(fire(fire(x, 64, 16, 64), 128, 16, 64), 3, 2)
    x = n.pool(fire(fire(x, 128, 32, 128), 256, 32, 128), 3, 2)
    x = fire(fire(x, 256, 48, 192), 384, 48, 192)
    x = fire(fire(x, 384, 64, 256), 512, 64, 256)
    x = n.op("GlobalAveragePool", n.conv(x, 512, 1000, 1))
    return IMAGE, n.op("Flatten", x, axis=1), (1, 1000)


def mobilenetv2(n):
    x, i = n.conv("x", 3, 32, 3, 2, act="Relu6"), 32
    for t, c, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                (6, 160, 3, 2), (6, 320, 1, 1)):
        for b in range(count):
            s, y = stride if b == 0 else 1, x
            if t > 1:
                y = n.conv(y, i, i * t, 1, act="Relu6")
            y = n.conv(y, i * t, i * t, 3, s, i * t, act="Relu6")
            y = n.conv(y, i * t, c, 1, act=None)
            x = n.op("Add", x, y) if s == 1 and i == c else y
            i = c
    return IMAGE, n.classify(n.conv(x, i, 1280, 1, act="Relu6"), 1280, 1000), (1, 1000)


def efficientnet_b0(n):
    x, i = n.conv("x", 3, 32, 3, 2, act="Silu"), 32
    for t, c, count, stride, k in ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
                                   (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)):
        for b in range(count):
            s, y, w, squeeze = stride if b == 0 else 1, x, i * t, max(1, i // 4)
            if t > 1:
                y = n.conv(y, i, w, 1, act="Silu")
            y = n.conv(y, w, w, k, s, w, act="Silu")
            gate = n.conv(n.op("GlobalAveragePool", y), w, squeeze, 1, act="Silu")
            y = n.op("Mul", n.conv(gate, squeeze, w, 1, act="Sigmoid"), y)
            y = n.conv(y, w, c, 1, act=None)
            x = n.op("Add", y, x) if s == 1 and i == c else y
            i = c
    return IMAGE, n.classify(n.conv(x, i, 1280, 1, act="Silu"), 1280, 1000), (1, 1000)


def layer_norm(n, x, d):
    return n.op("LayerNormalization", x, n.const(np.ones(d, np.float32)), n.const(np.zeros(d, np.float32)), axis=-1,
                epsilon=1e-6)


def gelu(n, x):
    half = n.op("Erf", n.op("Div", x, n.const(np.float32(2 ** 0.5))))
    return n.op("Mul", n.op("Mul", x, n.op("Add", half, n.const(np.float32(1)))), n.const(np.float32(0.5)))


def attention(n, x, tokens, d, heads):
    def split(y, perm):
        return n.op("Transpose", n.op("Reshape", y, n.ints(1, tokens, heads, d // heads)), perm=perm)
    q = split(n.linear(x, d, d), [0, 2, 1, 3])
    k = split(n.linear(x, d, d), [0, 2, 3, 1])
    v = split(n.linear(x, d, d), [0, 2, 1, 3])
    a = n.op("Mul", n.op("MatMul", q, k), n.const(np.float32((d // heads) ** -0.5)))
    y = n.op("Transpose", n.op("MatMul", n.op("Softmax", a, axis=-1), v), perm=[0, 2, 1, 3])
    return n.linear(n.op("Reshape", y, n.ints(1, tokens, d)), d, d)


def encoder(n, x, tokens, d, heads, wide, before):
    def feed(y):
        return n.linear(gelu(n, n.linear(y, d, wide)), wide, d)
    if before:
        x = n.op("Add", x, attention(n, layer_norm(n, x, d), tokens, d, heads))
        return n.op("Add", x, feed(layer_norm(n, x, d)))
    x = layer_norm(n, n.op("Add", x, attention(n, x, tokens, d, heads)), d)
    return layer_norm(n, n.op("Add", x, feed(x)), d)


def bert4(n):
    x = "x"
    for _ in range(4):
        x = encoder(n, x, 128, 256, 4, 1024, False)
    return (1, 128, 256), x, (1, 128, 256)


def vit_tiny(n):
    x = n.op("Conv", "x", n.normal(192, 3, 16, 16), n.normal(192, scale=0.05), kernel_shape=[16, 16], strides=[16, 16])
    x = n.op("Transpose", n.op("Reshape", x, n.ints(1, 192, 196)), perm=[0, 2, 1])
    for _ in range(12):
        x = encoder(n, x, 196, 192, 3, 768, True)
    x = n.op("ReduceMean", layer_norm(n, x, 192), axes=[1], keepdims=0)
    return IMAGE, n.dense(x, 192, 1000), (1, 1000)


def lstm(n):
    x = n.op("Transpose", "x", perm=[1, 0, 2])
    zero = n.const(np.zeros((1, 1, 128), np.float32))
    for size in (64, 128):
        y = n.op("LSTM", x, n.normal(1, 512, size, scale=0.08), n.normal(1, 512, 128, scale=0.08),
                 n.normal(1, 1024, scale=0.08), "", zero, zero, outputs=3, hidden_size=128)
        x = n.op("Squeeze", y[0], n.ints(1))
    x = n.op("Gather", n.op("Transpose", x, perm=[1, 0, 2]), n.const(np.int64(-1)), axis=1)
    return (1, 64, 64), n.dense(x, 128, 32), (1, 32)


def kws(n):
    x = n.conv("x", 1, 64, (10, 4), 2, pad=[4, 1, 5, 1])
    for _ in range(4):
        x = n.conv(n.conv(x, 64, 64, 3, groups=64), 64, 64, 1)
    x = n.op("AveragePool", x, kernel_shape=[25, 5])
    return (1, 1, 49, 10), n.op("Softmax", n.dense(n.op("Flatten", x), 64, 12), axis=-1), (1, 12)


def resnet8(n):
    x, i = n.conv("x", 3, 16, 3), 16
    for o, s in ((16, 1), (32, 2), (64, 2)):
        y = n.conv(n.conv(x, i, o, 3, s), o, o, 3, act=None)
        x = n.op("Relu", n.op("Add", y, x if s == 1 else n.conv(x, i, o, 1, s, act=None)))
        i = o
    x = n.op("AveragePool", x, kernel_shape=[8, 8])
    return (1, 3, 32, 32), n.op("Softmax", n.dense(n.op("Flatten", x), 64, 10), axis=-1), (1, 10)


def vww(n):
    x, i = n.conv("x", 3, 8, 3, 2, act="Relu6"), 8
    for o, s in ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (128, 1), (128, 1), (128, 1),
                 (128, 1), (256, 2), (256, 1)):
        x = n.conv(n.conv(x, i, i, 3, s, i, act="Relu6"), i, o, 1, act="Relu6")
        i = o
    x = n.op("AveragePool", x, kernel_shape=[3, 3])
    return (1, 3, 96, 96), n.op("Softmax", n.dense(n.op("Flatten", x), 256, 2), axis=-1), (1, 2)


def ad(n):
    x, i = "x", 640
    for o in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        x, i = n.op("Relu", n.dense(x, i, o)), o
    return (1, 640), n.dense(x, i, 640), (1, 640)


ALL = (mobilenetv2, resnet18, resnet50, squeezenet, efficientnet_b0, vit_tiny, bert4, lstm, kws, resnet8, vww, ad)


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    os.makedirs(sys.argv[1], exist_ok=True)
    make = {f.__name__: f for f in ALL}
    for name in sys.argv[2:] or make:
        n = Net()
        x_shape, y, y_shape = make[name](n)
        n.save(os.path.join(sys.argv[1], name + ".onnx"), x_shape, y, y_shape)
    return 0


if __name__ == "__main__":
    sys.exit(main())
