"""Random Caffe nets, and the module dnn of OpenCV 4, which also reads them. As in onnx_graphs.py a layer is added to
existing operands and computed at once; layers that OpenCV refuses are skipped. Constants are the blobs of layers.
Layers that OpenCV computes differently from Caffe are not generated."""
import os
import pathlib
import sys

import numpy as np

os.environ["OPENCV_DNN_DISABLE_MEMORY_OPTIMIZATIONS"] = "1"
import cv2  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "models"))
from wire import data as field, varint  # noqa: E402

from graph import NodeMaker  # noqa: E402

SUFFIX = ".prototxt"
EXACT = set("AbsVal ReLU ReLU6 Split Flatten Reshape Permute Slice Concat Crop ShuffleChannel".split())


def text(g):
    made = ['name: "random"']
    for k, v in g.feeds.items():
        shape = " ".join("dim: %d" % d for d in v.shape)
        made.append('layer { name: "%s" type: "Input" top: "%s" input_param { shape { %s } } }' % (k, k, shape))
    for n in g.nodes:
        names = " ".join('bottom: "%s"' % k for k in n.ins if k not in g.consts)
        names += "".join(' top: "%s"' % k for k in n.outs)
        made.append('layer { name: "%s" type: "%s" %s %s }' % (n.outs[0], n.op, names, n.attrs.get("params", "")))
    return "\n".join(made) + "\n"


def weights(g):
    made = field(1, b"random")
    for n in g.nodes:
        content = field(1, n.outs[0].encode()) + field(2, n.op.encode())
        for k in n.ins:
            if k in g.consts:
                v = g.consts[k]
                content += field(7, field(5, v.tobytes()) + field(7, field(1, b"".join(varint(d) for d in v.shape))))
        made += field(100, content)
    return made


def model(g):
    return text(g).encode()


def more(g, path):
    """The command line after the model."""
    file = str(path)[:-len(SUFFIX)] + ".caffemodel"
    pathlib.Path(file).write_bytes(weights(g))
    return [file, "--outputs", ",".join(g.outputs)]


def run(g, feeds=None):
    """The outputs, by OpenCV; each by itself, since it overwrites some that others are made of."""
    net = cv2.dnn.readNetFromCaffe(np.frombuffer(model(g), np.uint8), np.frombuffer(weights(g), np.uint8))
    net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
    net.enableFusion(False)
    for k, v in (feeds or g.feeds).items():
        net.setInput(np.ascontiguousarray(v), k)
    at = {k: (n.outs[0], i) for n in g.nodes for i, k in enumerate(n.outs)}
    return [np.array(net.forwardAndRetrieve([at[k][0]])[0][at[k][1]]) for k in g.outputs]


class CaffeMaker(NodeMaker):
    EXACT = EXACT

    def shape(self, rank=None):
        return super().shape(self.pick([2, 3, 4, 4, 4]) if rank is None else rank)

    def operand(self, fits, shape, dtype=np.float32, exact=False):
        known = [k for k in self.known(fits) if k not in self.g.consts and not (exact and k in self.g.inexact)]
        if known and self.chance(0.85):
            return self.pick(known[-5:] if self.chance(0.7) else known)
        return self.input(self.data(shape() if callable(shape) else shape))

    def probe(self, one):
        got = run(one)
        if any(v.ndim < 2 or (v.ndim == 2 and v.shape[1] == 1) for v in got):
            raise ValueError("OpenCV makes matrices of vectors")
        return got

    def identity(self, x):
        return self.layer("Split", [x])

    def layer(self, op, ins, params="", blobs=(), n_outs=1, exact=None):
        return self.node(op, list(ins) + [self.const(b) for b in blobs], n_outs, exact, params=params)

    def filler(self, shape, by=0.5):
        return np.asarray(self.data(shape) * np.float32(by), np.float32)

    # ---- families

    def unary(self):
        op = self.pick("AbsVal BNLL ELU Exp Log Power ReLU ReLU6 Sigmoid TanH Swish PReLU".split())
        x = self.any(least=2)
        if op in ("Log", "Power") or op == "Exp" and self.chance(0.3):
            shift, scale = self.pick([(0, 1), (1, 0.5), (0.5, 1)])
            power = "power: %g " % self.pick([1, 2, 3, 0.5]) if op == "Power" else ""
            base = "base: %g " % self.pick([2, 10]) if op != "Power" and self.chance(0.5) else ""
            if op == "Log" or "0.5" in power:
                made = self.layer("AbsVal", [x])
                made = made and self.layer("Power", made, "power_param { shift: 0.5 }")
                if not made:
                    return None
                x = made[0]
            if op == "Log":  # of which OpenCV reads no parameters
                return self.layer(op, [x])
            return self.layer(op, [x], "%s_param { %s%sscale: %g shift: %g }" % (op.lower(), power, base, scale,
                                                                                     shift))
        if op == "PReLU":
            shared = self.chance(0.3)
            blob = self.filler((1,) if shared else self.value(x).shape[1:2])
            return self.layer(op, [x], "prelu_param { channel_shared: %s }" % str(shared).lower(), [blob])
        params = {"ELU": "elu_param { alpha: %g }" % self.pick([1, 0.5]),
                  "ReLU": self.pick(["", "relu_param { negative_slope: 0.1 }"])}
        self.layer(op, [x], params.get(op, ""), exact=op == "ReLU" and None)

    def eltwise(self):
        x = self.any()
        s = self.value(x).shape
        ins = [x] + [self.operand(lambda v: v.shape == s, s) for _ in range(self.int(1, 2))]
        op = self.pick(["SUM", "SUM", "PROD", "MAX"])
        scale = " ".join("coeff: %g" % self.pick([1, -1, 0.5]) for _ in ins) if op == "SUM" and self.chance(0.5) else ""
        self.layer("Eltwise", ins, "eltwise_param { operation: %s %s }" % (op, scale), exact=op == "MAX")

    def window(self, s, most=4):
        k = [self.int(1, min(most, d)) for d in s]
        t, p = [self.pick([1, 1, 2, 3]) for _ in s], [self.int(0, q - 1) if self.chance(0.5) else 0 for q in k]
        return k, t, p

    def conv(self):
        x = self.any(rank=4)
        n, c, h, w = self.value(x).shape
        k, t, p = self.window((h, w))
        turned = self.chance(0.25)
        group = self.pick([g for g in range(1, c + 1) if c % g == 0]) if self.chance(0.4) else 1
        out, bias = group * self.pick([1, 1, 2, 3, 8]), self.chance(0.7)
        d = 2 if not turned and self.chance(0.2) and 2 * (max(k) - 1) < min(h, w) else 1
        params = ("kernel_h: %d kernel_w: %d stride_h: %d stride_w: %d pad_h: %d pad_w: %d" % (*k, *t, *p) +
                  " num_output: %d group: %d bias_term: %s dilation: %d" % (out, group, str(bias).lower(), d))
        shape = (c, out // group) if turned else (out, c // group)
        made = self.layer("Deconvolution" if turned else "Convolution", [x], "convolution_param { %s }" % params,
                          [self.filler(shape + tuple(k))] + ([self.filler((out,))] if bias else []))
        if made and self.chance(0.4):
            made = self.norm(made[0], self.pick(["BatchNorm", "Scale"]))
        if made and self.chance(0.4):
            self.layer(self.pick(["ReLU", "Sigmoid", "TanH", "BNLL"]), [made[0]])

    def norm(self, x=None, op=None):
        op = op or self.pick("BatchNorm Scale Bias LRN MVN Softmax Normalize".split())
        x = x or self.any(rank=4)
        c = self.value(x).shape[1]
        if op == "BatchNorm":
            factor = np.array([self.pick([1, 2])], np.float32)
            return self.layer(op, [x], "batch_norm_param { eps: 0.01 }", [self.filler((c,)), np.abs(
                self.filler((c,))) + np.float32(0.5), factor])
        if op == "Scale":
            bias = self.chance(0.5)
            return self.layer(op, [x], "scale_param { bias_term: %s }" % str(bias).lower(),
                              [self.filler((c,)) for _ in range(1 + bias)])
        if op == "Bias":
            return self.layer(op, [x], "", [self.filler((c,))])
        if op == "LRN":
            within = self.chance(0.3)
            return self.layer(op, [x], "lrn_param { local_size: %d alpha: 0.5 beta: 0.75 norm_region: %s }" % (
                self.pick([3, 5]), "WITHIN_CHANNEL" if within else "ACROSS_CHANNELS"))  # OpenCV does not read k
        if op == "MVN":
            if self.value(x).var(axis=(2, 3)).min() < 0.05:
                return None  # eps counts in another way
            return self.layer(op, [x], "mvn_param { normalize_variance: %s across_channels: %s eps: 1e-9 }" % (
                self.pick(["true", "false"]), self.pick(["true", "false"])))
        if op == "Normalize":
            if (self.value(x) ** 2).sum(1).min() < 0.01:
                return None  # likewise
            shared = self.chance(0.5)
            return self.layer(op, [x], "norm_param { across_spatial: %s channel_shared: %s }" % (self.pick(
                ["true", "false"]), str(shared).lower()), [self.filler((1,) if shared else (c,))])
        self.layer(op, [x], "softmax_param { axis: %d }" % self.int(1, 3))

    def pool(self):
        x = self.any(rank=4)
        s = self.value(x).shape[2:]
        how = self.pick(["MAX", "AVE"])
        if self.chance(0.2):
            return self.layer("Pooling", [x], "pooling_param { pool: %s global_pooling: true }" % how,
                              exact=how == "MAX")
        k, t, p = self.window(s)
        if any(b > a for a, b in zip(k, t)):
            return  # windows that hold nothing
        self.layer("Pooling", [x], "pooling_param { pool: %s kernel_h: %d kernel_w: %d stride_h: %d stride_w: %d "
                   "pad_h: %d pad_w: %d }" % (how, *k, *t, *p), exact=how == "MAX")

    def dense(self):
        x = self.any(least=2)
        s, n, bias = self.value(x).shape, self.int(1, 9), self.chance(0.7)
        axis = self.int(1, len(s) - 1) if self.chance(0.3) else 1
        blobs = [self.filler((n, int(np.prod(s[axis:]))))] + ([self.filler((n,))] if bias else [])
        self.layer("InnerProduct", [x], "inner_product_param { num_output: %d bias_term: %s axis: %d }" % (n, str(
            bias).lower(), axis), blobs)

    def moved(self):
        x = self.any()
        v = self.value(x)
        kind = self.int(0, 5)
        if kind == 0:
            return self.layer("Permute", [x], "permute_param { %s }" % " ".join(
                "order: %d" % p for p in self.r.permutation(v.ndim)))
        if kind == 1:
            axis = self.int(0, v.ndim - 1)
            end = self.int(axis, v.ndim - 1)
            return self.layer("Flatten", [x], "flatten_param { axis: %d end_axis: %d }" % (axis, self.pick(
                [end, end - v.ndim])))
        if kind == 2:
            shape = self.factors(v.size, 3)
            shape[self.int(0, len(shape) - 1)] = -1
            return self.layer("Reshape", [x], "reshape_param { shape { %s } }" % " ".join("dim: %d" % d for d in shape))
        if kind == 3:
            a = self.int(0, v.ndim - 1)
            n = v.shape[a]
            if n > 1:
                cuts = sorted(int(c) for c in self.r.choice(n - 1, min(self.int(1, 3), n - 1), replace=False) + 1)
                return self.layer("Slice", [x], "slice_param { axis: %d %s }" % (a, " ".join(
                    "slice_point: %d" % c for c in cuts)), n_outs=len(cuts) + 1)
        if kind == 4 and v.ndim == 4:
            group = self.pick([g for g in range(1, v.shape[1] + 1) if v.shape[1] % g == 0])
            return self.layer("ShuffleChannel", [x], "shuffle_channel_param { group: %d }" % group)
        if v.ndim == 4:
            shape = tuple(self.int(1, d) for d in v.shape)
            y = self.operand(lambda w: w.ndim == 4 and all(p <= q for p, q in zip(w.shape, v.shape)), shape)
            off = [self.int(0, q - p) for p, q in zip(self.value(y).shape[2:], v.shape[2:])]
            return self.layer("Crop", [x, y], "crop_param { axis: 2 %s }" % " ".join("offset: %d" % o for o in off))

    def concat(self):
        x = self.any(least=2)
        v = self.value(x)
        a = self.int(0, v.ndim - 1)

        shape = lambda: tuple(self.int(1, 4) if i == a else d for i, d in enumerate(v.shape))
        ins = [x] + [self.operand(self.joins(v, a), shape()) for _ in range(self.int(1, 2))]
        self.layer("Concat", ins, "concat_param { axis: %d }" % a)

    def graph(self, size):
        families = [self.unary] * 4 + [self.conv] * 4 + [self.pool] * 2 + [self.norm] * 3 + [self.moved] * 3 + [
            self.eltwise, self.dense, self.concat] * 2
        if self.chance(0.3):
            families = [self.pick(families) for _ in range(self.int(3, 8))]
        self.input(self.data(self.shape(4)))
        self.grow(families, size)
        self.choose_outputs()
        self.g.outputs = sorted(set(self.g.outputs))
        return self.g.swept()


def make(seed, size):
    return CaffeMaker(seed).graph(size)
