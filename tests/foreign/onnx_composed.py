"""com.microsoft operators without a CPU kernel in ONNX Runtime, expressed by operators that have one: they replace them
in the file for ONNX Runtime. Each function creates the replacement of one node.

    nodes(n, values)    n: a graph.Node, values: arrays by name; the NodeProtos and constants to put in its place
"""
import numpy as np
from onnx import helper, numpy_helper

MS = "com.microsoft"


class Body:
    def __init__(self, n):
        self.n, self.nodes, self.consts, self.made = n, [], [], 0

    def op(self, op, *ins, out=None, domain="", **attrs):
        self.made += 1
        out = out or "%s.%d" % (self.n.outs[0], self.made)
        self.nodes.append(helper.make_node(op, list(ins), [out], domain=domain, **attrs))
        return out

    def const(self, v):
        self.made += 1
        name = "%s.%d" % (self.n.outs[0], self.made)
        self.consts.append(numpy_helper.from_array(np.asarray(v), name))
        return name

    def ints(self, *v):
        return self.const(np.array(v, np.int64))


def bias_add(b, n, values):
    b.op("Add", b.op("Add", n.ins[0], n.ins[1]), n.ins[2], out=n.outs[0])


def bias_softmax(b, n, values):
    x = b.op("Add", n.ins[0], n.ins[1])
    flat = b.op("Softmax", b.op("Flatten", x, axis=n.attrs["axis"]), axis=-1)
    b.op("Reshape", flat, b.ints(*values[n.ins[0]].shape), out=n.outs[0])


def bias_split_gelu(b, n, values):
    x, half = b.op("Add", n.ins[0], n.ins[1]), values[n.ins[0]].shape[-1] // 2
    left = b.op("Slice", x, b.ints(0), b.ints(half), b.ints(-1))
    right = b.op("Slice", x, b.ints(half), b.ints(2 * half), b.ints(-1))
    b.op("Mul", left, b.op("Gelu", right, domain=MS), out=n.outs[0])


def matmul_activation(b, n, values):
    attrs = {k: v for k, v in n.attrs.items() if not k.startswith("activation")}
    params = {k[len("activation_"):]: v for k, v in n.attrs.items() if k.startswith("activation_")}
    y = b.op("FusedMatMul", *n.ins, domain=MS, **attrs)
    b.op(n.attrs["activation"], y, out=n.outs[0], **params)


def gemm_fast_gelu(b, n, values):
    b.op("FastGelu", b.op("MatMul", *n.ins[:2]), *n.ins[2:], domain=MS, out=n.outs[0])


def group_norm(b, n, values):
    x, shape, groups = n.ins[0], values[n.ins[0]].shape, n.attrs["groups"]
    last = n.attrs.get("channels_last", 1)
    skip = n.ins[3] if len(n.ins) > 3 else None
    if not last:
        x, shape = b.op("Transpose", x, perm=[0, 2, 3, 1]), (shape[0],) + shape[2:] + shape[1:2]
        skip = b.op("Transpose", skip, perm=[0, 2, 3, 1]) if skip and values[skip].ndim == 4 else skip
    if skip:
        if values[n.ins[3]].ndim == 2:
            skip = b.op("Unsqueeze", skip, b.ints(1, 2))
        x = b.op("Add", x, skip)
        x = b.op("Add", x, n.ins[4]) if len(n.ins) > 4 else x
        if len(n.outs) > 1:
            b.op(*(["Identity", x] if last else ["Transpose", x]), out=n.outs[1],
                 **({} if last else {"perm": [0, 3, 1, 2]}))
    front = b.op("Transpose", x, perm=[0, 3, 1, 2])
    flat = b.op("Reshape", front, b.ints(shape[0], groups, -1))
    size = shape[1] * shape[2] * shape[3] // groups
    flat = b.op("LayerNormalization", flat, b.const(np.ones(size, np.float32)), axis=2, epsilon=n.attrs["epsilon"])
    y = b.op("Transpose", b.op("Reshape", flat, b.ints(shape[0], shape[3], *shape[1:3])), perm=[0, 2, 3, 1])
    y = b.op("Add", b.op("Mul", y, n.ins[1]), n.ins[2])
    if n.attrs["activation"]:
        y = b.op("Mul", y, b.op("Sigmoid", y))
    b.op(*(["Identity", y] if last else ["Transpose", y]), out=n.outs[0], **({} if last else {"perm": [0, 3, 1, 2]}))


def mul_integer(b, n, values):
    part = []
    for x, z in zip(n.ins[::2], (list(n.ins) + [""])[1::2]):
        x = b.op("Cast", x, to=6)
        part.append(b.op("Sub", x, b.op("Cast", z, to=6)) if z else x)
    b.op("Mul", *part, out=n.outs[0])


def nhwc_conv(b, n, values):
    x = b.op("Transpose", n.ins[0], perm=[0, 3, 1, 2])
    y = b.op("FusedConv", x, *n.ins[1:3], domain=MS, **{"activation": "Relu", **n.attrs}) if "activation" in n.attrs \
        else b.op("Conv", x, *n.ins[1:3], **n.attrs)
    b.op("Transpose", y, perm=[0, 2, 3, 1], out=n.outs[0])


def reduce_mean(b, n, values):
    x = b.op("DequantizeLinear", *n.ins[:3])
    axes = b.ints(*n.attrs["axes"])
    b.op("QuantizeLinear", b.op("ReduceMean", x, axes, keepdims=n.attrs["keepdims"]), *n.ins[3:], out=n.outs[0])


def reduce_sum(b, n, values):
    b.op("ReduceSum", b.op("Cast", n.ins[0], to=6), b.ints(*n.attrs["axes"]), keepdims=n.attrs["keepdims"],
         out=n.outs[0])


BODIES = {"BiasAdd": bias_add, "BiasSoftmax": bias_softmax, "BiasSplitGelu": bias_split_gelu,
          "FusedMatMulActivation": matmul_activation, "GemmFastGelu": gemm_fast_gelu, "GroupNorm": group_norm,
          "SkipGroupNorm": group_norm, "MulInteger": mul_integer, "NhwcConv": nhwc_conv, "NhwcFusedConv": nhwc_conv,
          "QLinearReduceMean": reduce_mean, "ReduceSumInteger": reduce_sum}


def nodes(n, values):
    """(NodeProtos, constants), or None: the node is taken as it is."""
    if n.domain != MS or n.op not in BODIES:
        return None
    b = Body(n)
    BODIES[n.op](b, n, values)
    return b.nodes, b.consts
