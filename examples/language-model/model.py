#!/usr/bin/env python3
"""A language model's step as an ONNX file: Llama's layers with a cache of keys and values, weights from a seed.

    model.py tiny.onnx                    that of this example: 248 thousand weights, as those have that tell stories
    model.py big.onnx --layers 8 --width 1024 --hidden 2816 --heads 16 --vocab 8192 --bits 4 --rows 64

Inputs are a token, i64 [1,1], its position, i64 [1,1], and for each layer the keys and values of `past` tokens; outputs
are the logits of the next token and the caches with a row more. Weights of 4 and 8 bits lie in blocks of 32 that have a
scale each (com.microsoft MatMulNBits, GatherBlockQuantized), as ONNX Runtime's quantiser writes them. Needs onnx and
numpy.
"""
import argparse

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

MS, BLOCK = "com.microsoft", 32


class Step:
    """The graph under construction; methods return the name of their result."""

    def __init__(self, a):
        self.a, self.random = a, np.random.default_rng(a.seed)
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []

    def op(self, kind, *operands, out=None, domain="", **attributes):
        out = out or "t%d" % len(self.nodes)
        self.nodes.append(helper.make_node(kind, list(operands), [out], domain=domain, **attributes))
        return out

    def const(self, value):
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), "w%d" % len(self.weights)))
        return self.weights[-1].name

    def packed(self, rows, columns):
        """Random codes, and a scale for each block, so that the weights' variance is that of a matrix of floats."""
        blocks, bits = columns // BLOCK, self.a.bits
        step = (columns / 12.0) ** -0.5 * 2.0**-bits
        codes = self.random.integers(0, 256, (rows, blocks, BLOCK * bits // 8), np.uint8)
        return codes, self.random.uniform(0.5, 1.5, (rows, blocks)).astype(np.float32) * np.float32(step)

    def linear(self, x, rows, columns, out=None):
        """x times the transpose of [rows,columns]."""
        bits = self.a.bits
        if bits == 32:
            w = self.random.standard_normal((columns, rows), np.float32) * np.float32(columns**-0.5)
            return self.op("MatMul", x, self.const(w), out=out)
        codes, scale = self.packed(rows, columns)
        return self.op("MatMulNBits", x, self.const(codes), self.const(scale), out=out, domain=MS, K=columns, N=rows,
                       bits=bits, block_size=BLOCK)

    def embedding(self, token):
        vocab, width, bits = self.a.vocab, self.a.width, self.a.bits
        if bits == 32:
            table = self.random.standard_normal((vocab, width), np.float32)
            return self.op("Gather", self.const(table), token)
        codes, scale = self.packed(vocab, width)
        scale *= np.float32(width**0.5)
        return self.op("GatherBlockQuantized", self.const(codes.reshape(vocab, -1)), token, self.const(scale),
                       domain=MS, bits=bits, block_size=BLOCK, gather_axis=0, quantize_axis=1)

    def norm(self, x):
        mean = self.op("ReduceMean", self.op("Mul", x, x), self.const(np.array([-1])), keepdims=1)
        x = self.op("Div", x, self.op("Sqrt", self.op("Add", mean, self.const(np.float32(1e-5)))))
        return self.op("Mul", x, self.const(np.ones(self.a.width, np.float32)))

    def heads(self, x):
        shape = self.const(np.array([1, 1, self.a.heads, self.a.width // self.a.heads]))
        return self.op("Transpose", self.op("Reshape", x, shape), perm=[0, 2, 1, 3])

    def rotated(self, x, cos, sin):
        """Rotary position: the halves of a head are the parts of complex numbers."""
        half = self.a.width // self.a.heads // 2
        cut = lambda a, b: self.op("Slice", x, *(self.const(np.array([v])) for v in (a, b, 3)))
        low, high = cut(0, half), cut(half, 2 * half)
        mul = lambda p, q: self.op("Mul", p, q)
        return self.op("Concat", self.op("Sub", mul(low, cos), mul(high, sin)),
                       self.op("Add", mul(high, cos), mul(low, sin)), axis=3)

    def cache(self, what, layer, x):
        h, d = self.a.heads, self.a.width // self.a.heads
        past, present = "past.%d.%s" % (layer, what), "present.%d.%s" % (layer, what)
        self.inputs.append(helper.make_tensor_value_info(past, T.FLOAT, [1, h, "past", d]))
        self.outputs.append(helper.make_tensor_value_info(present, T.FLOAT, [1, h, "past+1", d]))
        return self.op("Concat", past, x, out=present, axis=2)

    def attention(self, x, layer, cos, sin):
        w = self.a.width
        q, k, v = (self.heads(self.linear(x, w, w)) for _ in range(3))
        k = self.cache("key", layer, self.rotated(k, cos, sin))
        v = self.cache("value", layer, v)
        score = self.op("MatMul", self.rotated(q, cos, sin), self.op("Transpose", k, perm=[0, 1, 3, 2]))
        score = self.op("Mul", score, self.const(np.float32((w // self.a.heads) ** -0.5)))
        y = self.op("Transpose", self.op("MatMul", self.op("Softmax", score, axis=-1), v), perm=[0, 2, 1, 3])
        return self.linear(self.op("Reshape", y, self.const(np.array([1, 1, w]))), w, w)

    def gated(self, x):
        gate, up = (self.linear(x, self.a.hidden, self.a.width) for _ in range(2))
        y = self.op("Mul", self.op("Mul", gate, self.op("Sigmoid", gate)), up)
        return self.linear(y, self.a.width, self.a.hidden)


def made(a):
    g, half = Step(a), a.width // a.heads // 2
    angle = np.arange(a.rows)[:, None] * 10000.0 ** (-np.arange(half)[None] / half)
    cos, sin = (g.op("Gather", g.const(f(angle).astype(np.float32)), "position_ids") for f in (np.cos, np.sin))
    x = g.embedding("token")
    for layer in range(a.layers):
        x = g.op("Add", x, g.attention(g.norm(x), layer, cos, sin))
        x = g.op("Add", x, g.gated(g.norm(x)))
    g.linear(g.norm(x), a.vocab, a.width, out="logits")
    one = [helper.make_tensor_value_info(n, T.INT64, [1, 1]) for n in ("token", "position_ids")]
    logits = [helper.make_tensor_value_info("logits", T.FLOAT, [1, 1, a.vocab])]
    graph = helper.make_graph(g.nodes, "step", one + g.inputs, logits + g.outputs, g.weights)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MS, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="model.py")


def options(argv=None):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("file")
    for name, value in (("layers", 5), ("width", 64), ("hidden", 160), ("heads", 8), ("vocab", 96), ("bits", 4),
                        ("rows", 64), ("seed", 2)):
        p.add_argument("--" + name, type=int, default=value)
    return p.parse_args(argv)


if __name__ == "__main__":
    given = options()
    onnx.save(made(given), given.file)
