#!/usr/bin/env python3
"""train_graphs.py - well-known networks as ONNX files with weights of zeros, to plan steps of training: VGG16, VGG19,
ResNet50, MobileNet, MobileNetV2, U-Net, GPT-2. Plans depend on shapes alone.

    python3 bench/train_graphs.py resnet50 resnet50.onnx
    arenac plan resnet50.onnx --train sgd --loss cross_entropy --batch 32 --budget 1G
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Net:
    """Nodes and weights; each method adds one layer and gives the name and the channels of its result."""

    def __init__(self):
        self.nodes, self.weights, self.n = [], [], 0

    def name(self, op):
        self.n += 1
        return "%s_%d" % (op.lower(), self.n)

    def weight(self, *shape, dtype=np.float32, value=None):
        name = self.name("w")
        data = np.zeros(shape, dtype) if value is None else np.array(value, dtype)
        self.weights.append(numpy_helper.from_array(data, name))
        return name

    def op(self, op, *inputs, n_out=1, **attrs):
        out = [self.name(op) for _ in range(n_out)]
        self.nodes.append(helper.make_node(op, list(inputs), out, out[0], **attrs))
        return out[0] if n_out == 1 else out

    def number(self, values, dtype):
        return self.op("Constant", value=numpy_helper.from_array(np.array(values, dtype)))

    def conv(self, x, c, to, size=3, stride=1, groups=1, bias=False):
        pad = size // 2
        weights = [self.weight(to, c // groups, size, size)] + ([self.weight(to)] if bias else [])
        return self.op("Conv", x, *weights, kernel_shape=[size] * 2, strides=[stride] * 2, pads=[pad] * 4, group=groups)

    def norm(self, x, c, act="Relu"):
        names = [self.weight(c) for _ in range(4)]
        y = self.op("BatchNormalization", x, *names)
        return self.act(y, act)

    def act(self, x, act):
        if act == "Clip":
            return self.op("Clip", x, self.number(0, np.float32), self.number(6, np.float32))
        return self.op(act, x) if act else x

    def dense(self, x, c, to):
        return self.op("Gemm", x, self.weight(c, to), self.weight(to))

    def classes(self, x, c, n=1000):
        return self.dense(self.op("Flatten", self.op("GlobalAveragePool", x)), c, n)


def vgg(blocks):
    def make(net, x):
        c = 3
        for k, n in enumerate(blocks):
            to = min(64 << k, 512)
            for _ in range(n):
                x = net.op("Relu", net.conv(x, c, to, bias=True))
                c = to
            x = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        x = net.op("Flatten", x)
        for c, to in ((25088, 4096), (4096, 4096)):
            x = net.op("Relu", net.dense(x, c, to))
        return net.dense(x, 4096, 1000)
    return make, (3, 224, 224)


def resnet50(net, x):
    x = net.norm(net.conv(x, 3, 64, 7, 2), 64)
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    c = 64
    for stage, n in enumerate((3, 4, 6, 3)):
        mid = 64 << stage
        for k in range(n):
            stride = 2 if stage and not k else 1
            y = net.norm(net.conv(x, c, mid, 1), mid)
            y = net.norm(net.conv(y, mid, mid, 3, stride), mid)
            y = net.norm(net.conv(y, mid, 4 * mid, 1), 4 * mid, None)
            skip = x if k else net.norm(net.conv(x, c, 4 * mid, 1, stride), 4 * mid, None)
            x = net.op("Relu", net.op("Add", y, skip))
            c = 4 * mid
    return net.classes(x, c)


def mobilenet(net, x):
    x, c = net.norm(net.conv(x, 3, 32, 3, 2), 32), 32
    blocks = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]
    for to, stride in blocks:
        x = net.norm(net.conv(x, c, c, 3, stride, c), c)
        x = net.norm(net.conv(x, c, to, 1), to)
        c = to
    return net.classes(x, c)


def mobilenetv2(net, x):
    x, c = net.norm(net.conv(x, 3, 32, 3, 2), 32, "Clip"), 32
    for t, to, n, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                            (6, 320, 1, 1)):
        for k in range(n):
            stride, mid = first if not k else 1, c * t
            y = x if t == 1 else net.norm(net.conv(x, c, mid, 1), mid, "Clip")
            y = net.norm(net.conv(y, mid, mid, 3, stride, mid), mid, "Clip")
            y = net.norm(net.conv(y, mid, to, 1), to, None)
            x = net.op("Add", x, y) if stride == 1 and c == to else y
            c = to
    return net.classes(net.norm(net.conv(x, c, 1280, 1), 1280, "Clip"), 1280)


def unet(net, x):
    def double(x, c, to):
        for _ in range(2):
            x, c = net.norm(net.conv(x, c, to), to), to
        return x
    c, skips = 3, []
    for to in (64, 128, 256, 512):
        x, c = double(x, c, to), to
        skips.append(x)
        x = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x, c = double(x, c, 1024), 1024
    for skip in reversed(skips):
        x = net.op("ConvTranspose", x, net.weight(c, c // 2, 2, 2), kernel_shape=[2, 2], strides=[2, 2])
        x, c = double(net.op("Concat", skip, x, axis=1), c, c // 2), c // 2
    return net.conv(x, c, 1, 1, bias=True)


def gpt2(net, x, layers=12, d=768, heads=12, words=50257, length=256):
    table = net.weight(words, d)
    x = net.op("Add", net.op("Gather", table, x), net.weight(1, length, d))
    mask = net.number(np.triu(np.full((1, 1, length, length), -1e9), 1), np.float32)

    def linear(x, c, to):
        return net.op("Add", net.op("MatMul", x, net.weight(c, to)), net.weight(to))

    def split(x, perm):
        x = net.op("Reshape", x, net.number([0, 0, heads, d // heads], np.int64))
        return net.op("Transpose", x, perm=perm)

    def layer_norm(x):
        return net.op("LayerNormalization", x, net.weight(d), net.weight(d), axis=-1, epsilon=1e-5)

    for _ in range(layers):
        y = layer_norm(x)
        q, k, v = (split(linear(y, d, d), perm) for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        a = net.op("Mul", net.op("MatMul", q, k), net.number((d // heads) ** -0.5, np.float32))
        a = net.op("Softmax", net.op("Add", a, mask), axis=-1)
        y = net.op("Transpose", net.op("MatMul", a, v), perm=[0, 2, 1, 3])
        x = net.op("Add", x, linear(net.op("Reshape", y, net.number([0, 0, d], np.int64)), d, d))
        y = net.op("Gelu", linear(layer_norm(x), d, 4 * d), approximate="tanh")
        x = net.op("Add", x, linear(y, 4 * d, d))
    return net.op("MatMul", layer_norm(x), net.op("Transpose", table, perm=[1, 0]))


NETS = {"vgg16": vgg((2, 2, 3, 3, 3)), "vgg19": vgg((2, 2, 4, 4, 4)), "resnet50": (resnet50, (3, 224, 224)),
        "mobilenet": (mobilenet, (3, 224, 224)), "mobilenetv2": (mobilenetv2, (3, 224, 224)),
        "unet": (unet, (3, 256, 256)), "gpt2": (gpt2, (256,))}


def main():
    name, to = sys.argv[1:]
    make, shape = NETS[name]
    net = Net()
    out = make(net, "x")
    x = helper.make_tensor_value_info("x", TensorProto.INT64 if len(shape) == 1 else TensorProto.FLOAT, [1, *shape])
    y = helper.make_tensor_value_info(out, TensorProto.FLOAT, None)
    graph = helper.make_graph(net.nodes, name, [x], [y], net.weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), to)


if __name__ == "__main__":
    main()
