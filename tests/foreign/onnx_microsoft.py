"""Random nodes of com.microsoft, and of ai.onnx as ONNX Runtime extends it: each family tries to add one to the graph
of an OnnxMaker. Shapes are those that the operator requires; options and optional operands are random."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from ort_sums import LEAST_INT8  # noqa: E402

MS = "com.microsoft"
F = np.float32
EPSILON = 0.0625
BYTES = (np.uint8, np.int8)


class Microsoft:
    def ms(self, op, ins, n_outs=1, exact=None, **attrs):
        ins = list(ins)
        while ins and not ins[-1]:
            ins.pop()
        return self.node(op, ins, n_outs, exact, domain=MS, **attrs)

    def maybe(self, v, p=0.5):
        """A constant, or left out."""
        return self.const(v) if self.chance(p) else ""

    def small(self, *shape):
        return self.data(shape) * F(0.4)

    def byte(self, dtype, *shape):
        lo, hi = (LEAST_INT8, -1 - LEAST_INT8) if dtype == np.int8 else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        return self.r.integers(lo, hi + 1, shape).astype(dtype)

    def bytes_of(self, dtype, rank=None):
        fits = (lambda v: v.ndim == rank) if rank else (lambda v: v.ndim > 0)
        found = self.known(lambda v: v.dtype == dtype and fits(v) and v.size)
        if found and self.chance(0.6):
            return self.pick(found[-4:])
        return self.fresh(self.byte(dtype, *self.shape(rank or self.int(1, 4))))

    def scale(self, lo=0.01, hi=0.1):
        """Now and then a multiple of a power of two: results are exactly between two integers."""
        v = self.int(1, 12) / 64 if self.chance(0.4) else self.r.uniform(lo, hi)
        return self.const(F(v))

    def zero(self, dtype):
        return self.const(self.byte(dtype).reshape(()))

    def quant(self, dtype, p=0.0):
        return [self.scale(), "" if self.chance(p) else self.zero(dtype)]

    # ---- norms

    def ms_norm(self):
        x = self.any(rank=3)
        b, s, h = self.value(x).shape
        op = self.pick(["SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "SimplifiedLayerNormalization",
                        "EmbedLayerNormalization", "GroupNorm", "SkipGroupNorm"])
        vector = lambda: self.const(self.data((h,)))
        if op == "SimplifiedLayerNormalization":
            a = self.axis(x)
            return self.node(op, [x, self.const(self.data(self.value(x).shape[a:]))], axis=a, epsilon=EPSILON)
        if op == "EmbedLayerNormalization":
            ids = self.fresh(self.r.integers(0, 7, (b, s)).astype(np.int32))
            segment = self.fresh(self.r.integers(0, 2, (b, s)).astype(np.int32)) if self.chance(0.5) else ""
            places = self.r.integers(0, s + 2, (b, s)).astype(np.int32)
            ins = [ids, segment, self.const(self.data((7, h))), self.const(self.data((s + 2, h))),
                   self.const(self.data((2, h))) if segment else "", vector(), vector(), "",
                   self.fresh(places) if self.chance(0.4) else ""]
            return self.ms(op, ins, self.pick([2, 3]), epsilon=EPSILON)
        if "Group" in op:
            x = self.any(rank=4)
            shape, last = self.value(x).shape, self.int(0, 1)
            c = shape[3] if last else shape[1]
            ins = [x, self.const(self.data((c,))), self.const(self.data((c,)))]
            attrs = {"groups": self.pick([g for g in range(1, c + 1) if c % g == 0]), "channels_last": last}
            if op == "SkipGroupNorm":
                skip = shape if self.chance(0.6) else (shape[0], c)
                ins += [self.fresh(self.data(skip)), self.maybe(self.data((c,)))]
            return self.ms(op, ins, [True, True] if op == "SkipGroupNorm" and self.chance(0.5) else 1,
                           epsilon=EPSILON, activation=self.int(0, 1), **attrs)
        skip = self.fresh(self.data(self.pick([(b, s, h), (b, s, h), (1, s, h), (s, h)])))
        outs = [True, False, False, self.chance(0.5)]
        if op == "SkipLayerNormalization":
            return self.ms(op, [x, skip, vector(), self.maybe(self.data((h,))), self.maybe(self.data((h,)))], outs,
                           epsilon=EPSILON)
        self.ms(op, [x, skip, vector(), self.maybe(self.data((h,)))], outs, epsilon=EPSILON)

    # ---- attention

    def mask(self, b, s, total):
        kind = self.int(0, 3)
        if kind == 0:
            return ""
        if kind == 1:
            return self.fresh(self.r.integers(1, total + 1, b).astype(np.int32))
        v = self.r.integers(0, 2, (b, total) if kind == 2 else (b, s, total)).astype(np.int32)
        v[..., 0] = 1
        return self.fresh(v)

    def ms_attention(self):
        op = self.pick(["Attention", "MultiHeadAttention", "QAttention", "GroupQueryAttention", "RotaryEmbedding"])
        return getattr(self, op.lower())()

    def attention(self):
        x = self.any(rank=3)
        b, s, i = self.value(x).shape
        heads, d = self.int(1, 3), self.int(1, 4)
        h, past = heads * d, self.int(1, 3) if self.chance(0.3) else 0
        ins = [x, self.const(self.small(i, 3 * h)), self.maybe(self.small(3 * h)), self.mask(b, s, past + s),
               self.fresh(self.data((2, b, heads, past, d))) if past else "",
               self.fresh(self.data(self.pick([(b, heads, s, past + s), (1, 1, s, past + s)])))
               if self.chance(0.3) else ""]
        attrs = {"scale": float(F(0.3))} if self.chance(0.3) else {}
        if self.chance(0.4):
            attrs["unidirectional"] = 1
        if len(self.value(ins[3]).shape if ins[3] else ()) == 1 and past:
            return
        self.ms("Attention", ins, 2 if past else 1, num_heads=heads, **attrs)

    def multiheadattention(self):
        heads, d, e = self.int(1, 3), self.int(1, 4), self.int(1, 4)
        q = self.any(rank=3)
        b, s, h = self.value(q).shape
        if h % heads:
            return
        keys = self.pick([s, self.int(1, 6)])
        vh = heads * e if self.chance(0.5) else h
        k, v = self.fresh(self.data((b, keys, h))), self.fresh(self.data((b, keys, vh)))
        bias = self.maybe(self.small(2 * h + vh), 0.4)
        mask = self.mask(b, s, keys)
        rel = self.fresh(self.data(self.pick([(b, heads, s, keys), (1, heads, s, keys)]))) if self.chance(0.3) else ""
        attrs = {"scale": float(F(0.3))} if self.chance(0.3) else {}
        if keys == s and self.chance(0.3):
            attrs["unidirectional"] = 1
        self.ms("MultiHeadAttention", [q, k, v, bias, mask, rel], num_heads=heads, **attrs)

    def qattention(self):
        heads, d = self.int(1, 3), self.int(1, 4)
        h = heads * d
        x = self.bytes_of(np.uint8, 3)
        b, s, i = self.value(x).shape
        w = self.pick(BYTES)
        ins = [x, self.const(self.byte(w, i, 3 * h)), self.const(self.small(3 * h)), self.const(F(0.01)),
               self.const(F(0.01)), self.fresh(self.r.integers(1, s + 1, b).astype(np.int32))
               if self.chance(0.4) else "", self.zero(np.uint8), self.zero(w)]
        self.ms("QAttention", ins, num_heads=heads, **({"unidirectional": 1} if self.chance(0.3) else {}))

    def groupqueryattention(self):
        groups, d = self.int(1, 2), self.pick([8, 16])
        heads = groups * self.int(1, 3)
        b, s = self.int(1, 2), self.int(1, 4)
        past = self.int(1, 4) if s == 1 and self.chance(0.6) else 0
        q = self.fresh(self.data((b, s, heads * d)))
        k, v = self.fresh(self.data((b, s, groups * d))), self.fresh(self.data((b, s, groups * d)))
        total = past + s
        kv = [self.input(self.data((b, groups, past, d))), self.input(self.data((b, groups, past, d)))] if past else \
            ["", ""]
        ins = [q, k, v] + kv + [self.fresh(np.full(b, total - 1, np.int32)), self.const(np.int32(total))]
        attrs = {}
        if self.chance(0.5):
            ins += [self.const(self.data((16, d // 2))), self.const(self.data((16, d // 2)))]
            attrs = {"do_rotary": 1, "rotary_interleaved": self.int(0, 1)}
        if self.chance(0.3):
            attrs["local_window_size"] = self.int(1, 3)
        if self.chance(0.3):
            attrs["softcap"] = 5.0
        self.ms("GroupQueryAttention", ins, 3, num_heads=heads, kv_num_heads=groups, **attrs)

    def rotaryembedding(self):
        heads, d, b, s = self.int(1, 3), self.pick([4, 8]), self.int(1, 2), self.int(1, 5)
        x = self.fresh(self.data((b, s, heads * d) if self.chance(0.5) else (b, heads, s, d)))
        places = self.r.integers(0, 9, (b, s)) if self.chance(0.7) else np.array([self.int(0, 3)])
        part = self.chance(0.3)
        r = d // 2 if part else d
        attrs = {"num_heads": heads, "rotary_embedding_dim": r} if part else {}
        self.ms("RotaryEmbedding", [x, self.fresh(places.astype(np.int64)), self.const(self.data((9, r // 2))),
                                    self.const(self.data((9, r // 2)))], interleaved=self.int(0, 1), **attrs)

    # ---- convolutions and products with what follows them

    def activation(self):
        return self.pick([{"activation": "Relu"}, {"activation": "Tanh"}, {"activation": "Sigmoid"},
                          {"activation": "LeakyRelu", "activation_params": [float(F(0.2))]},
                          {"activation": "HardSigmoid", "activation_params": [float(F(0.3)), float(F(0.4))]},
                          {"activation": "Clip", "activation_params": [-0.5, 0.75]}])

    def ms_conv(self):
        x = self.any(rank=4)
        s = self.value(x).shape
        op = self.pick(["FusedConv", "FusedConv", "NhwcConv", "NhwcFusedConv", "NhwcMaxPool"])
        if op == "NhwcMaxPool":
            x = self.bytes_of(np.int8, 4)
            k, attrs = self.window(self.value(x).shape[1:3])
            attrs.pop("auto_pad", None)
            return self.ms(op, [x], exact=True, kernel_shape=k, **attrs)
        last = op.startswith("Nhwc")
        c = s[3] if last else s[1]
        k, attrs = self.window(s[1:3] if last else s[2:])
        group = self.pick([g for g in range(1, c + 1) if c % g == 0]) if self.chance(0.3) else 1
        out = group * self.int(1, 4)
        ins = [x, self.const(self.small(out, c // group, *k)), self.maybe(self.data((out,)))]
        if op != "NhwcConv":
            attrs.update(self.activation())
        made = self.ms(op, ins, group=group, **attrs)
        if made and op == "FusedConv" and ins[2] and self.chance(0.4):  # the same again, with a sum
            z = self.fresh(self.data(self.value(made[0]).shape))
            self.ms(op, ins + [z], group=group, **attrs)

    def ms_product(self):
        op = self.pick(["FusedMatMul", "FusedMatMul", "TransposeMatMul", "FusedMatMulActivation", "FusedGemm",
                        "GemmFastGelu"])
        n = self.int(1, 9)
        if op == "GemmFastGelu":
            x = self.any(least=2)
            k = self.value(x).shape[-1]
            return self.ms(op, [x, self.const(self.small(k, n)), self.maybe(self.data((n,)))])
        if op == "FusedGemm":
            x, ta, tb = self.any(rank=2), self.int(0, 1), self.int(0, 1)
            m, k = self.value(x).shape[::-1] if ta else self.value(x).shape
            act = self.pick([{"activation": "Relu"}, {"activation": "LeakyRelu", "activation_alpha": float(F(0.3))}])
            return self.ms(op, [x, self.fresh(self.small(*((n, k) if tb else (k, n)))),
                                self.maybe(self.data(self.pick([(n,), (m, 1), (1, n)])))],
                           transA=ta, transB=tb, alpha=float(F(self.pick([1, 0.5]))), beta=float(F(self.pick([1, 2]))),
                           **act)
        x = self.any(rank=self.pick([2, 3, 3, 4]))
        s, ta, tb = self.value(x).shape, self.int(0, 1), self.int(0, 1)
        k = s[-2] if ta else s[-1]
        w = (n, k) if tb else (k, n)
        attrs = {"transA": ta, "transB": tb, "alpha": float(F(self.pick([1, 0.25, 2])))}
        batch = s[:-2]
        if op != "TransposeMatMul" and len(s) == 3 and self.chance(0.3):  # [M,B,K] by [B,K,N]
            attrs["transBatchA"] = 1
            batch, k = s[1:2], s[0] if ta else s[2]
            w = (n, k) if tb else (k, n)
        y = self.fresh(self.small(*(batch + w if self.chance(0.6) or "transBatchA" in attrs else w)))
        if op == "FusedMatMulActivation":
            attrs.update(self.pick([{"activation": "Relu"}, {"activation": "Sigmoid"},
                                    {"activation": "LeakyRelu", "activation_alpha": float(F(0.3))}]))
        self.ms(op, [x, y], **attrs)

    # ---- element by element, and what ai.onnx has under another form

    def ms_map(self):
        op = self.pick(["Gelu", "FastGelu", "QuickGelu", "BiasGelu", "BiasSplitGelu", "BiasAdd", "BiasSoftmax",
                        "CDist"])
        x = self.any(least=1)
        h = self.value(x).shape[-1]
        if op in ("Gelu", "FastGelu"):
            return self.ms(op, [x] + ([self.maybe(self.data((h,)))] if op == "FastGelu" else []))
        if op == "QuickGelu":
            return self.ms(op, [x], **({"alpha": float(F(self.r.uniform(0.5, 2)))} if self.chance(0.6) else {}))
        if op == "BiasGelu":
            return self.ms(op, [x, self.const(self.data((h,)))])
        if op == "CDist":
            x = self.any(rank=2)
            y = self.fresh(self.data((self.int(1, 5), self.value(x).shape[1])) + F(7))
            return self.ms(op, [x, y], metric=self.pick(["euclidean", "sqeuclidean"]))
        if op == "BiasSoftmax":
            a = self.axis(x, negative=False)
            bias = tuple(d if i >= a or self.chance(0.5) else 1 for i, d in enumerate(self.value(x).shape))
            return self.ms(op, [x, self.fresh(self.data(bias))], axis=a, is_inner_broadcast=self.int(0, 1))
        x = self.any(rank=3)
        shape = self.value(x).shape
        if op == "BiasAdd":
            return self.ms(op, [x, self.const(self.data(shape[-1:])), self.fresh(self.data(shape))])
        if shape[-1] % 2 == 0:
            self.ms(op, [x, self.const(self.data(shape[-1:]))])

    def ms_move(self):
        op = self.pick(["ExpandDims", "GatherND", "Pad", "Range", "Trilu"])
        x = self.any(least=1)
        v = self.value(x)
        if op == "ExpandDims":
            return self.ms(op, [x, self.const(np.int32(self.int(-v.ndim - 1, v.ndim)))], exact=True)
        if op == "GatherND":
            k = self.int(1, v.ndim)
            i = np.stack([self.r.integers(0, d, 4) for d in v.shape[:k]], -1)
            return self.ms(op, [x, self.fresh(i.astype(np.int64))], exact=True)
        if op == "Pad":
            pads = self.const(np.array([self.int(0, 2) for _ in range(2 * v.ndim)], np.int64))
            return self.ms(op, [x, pads, self.maybe(self.data(()))], exact=True, mode="constant")
        if op == "Trilu":
            x = self.any(least=2)
            return self.ms(op, [x] + ([self.const(np.array(self.int(-2, 2), np.int64))] if self.chance(0.6) else []),
                           exact=True, upper=self.int(0, 1))
        lo, step = self.int(-3, 3), self.pick([1, 2, 0.5])
        ends = [np.array([v], F) for v in (lo, lo + self.int(1, 9), step)]
        self.ms(op, [self.const(v) for v in ends[:self.int(2, 3)]], exact=True)

    # ---- quantised

    def ms_qlinear(self):
        dtype = self.pick(BYTES)
        op = self.pick(["QLinearAdd", "QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu",
                        "QLinearGlobalAveragePool", "QLinearAveragePool", "QLinearConcat", "QLinearSoftmax",
                        "QLinearWhere", "QLinearReduceMean"])
        x = self.bytes_of(dtype, 4 if "Pool" in op else None)
        s = self.value(x).shape
        rest, out = self.quant(dtype, 0.2), self.quant(dtype)
        attrs = {}
        if op in ("QLinearAdd", "QLinearMul"):
            y = self.beside(x) if self.chance(0.5) else self.fresh(self.byte(dtype, *[
                d if self.chance(0.7) else 1 for d in s]))
            ins = [x] + self.quant(dtype) + [y] + self.quant(dtype) + out
            return self.ms(op, ins)
        if op == "QLinearConcat":
            ins = out + [x] + self.quant(dtype) + [self.fresh(self.byte(dtype, *s))] + self.quant(dtype)
            return self.ms(op, ins, axis=self.axis(x, negative=False))
        if op == "QLinearWhere":
            c = self.fresh(self.r.integers(0, 2, s).astype(bool))
            ins = [c, x] + self.quant(dtype) + [self.fresh(self.byte(dtype, *s))] + self.quant(dtype) + out
            return self.ms(op, ins)
        if op == "QLinearLeakyRelu":
            attrs = {"alpha": float(F(self.r.uniform(0.01, 0.4)))}
        elif op == "QLinearGlobalAveragePool":
            attrs, rest = {"channels_last": self.int(0, 1)}, self.quant(dtype)
        elif op == "QLinearAveragePool":
            last = self.int(0, 1)
            k, attrs = self.window(s[1:3] if last else s[2:])
            attrs.pop("auto_pad", None)
            attrs.update(kernel_shape=k, channels_last=last, count_include_pad=self.int(0, 1))
            rest = self.quant(dtype)
        elif op == "QLinearSoftmax":
            attrs = {"axis": self.axis(x, negative=False), "opset": self.pick([11, 13])}
            out = [self.const(F(1 / 256)), self.const(np.array(np.iinfo(dtype).min, dtype))]
            if attrs["opset"] == 11:
                attrs["axis"] = max(attrs["axis"], len(s) - 1)
        elif op == "QLinearReduceMean":
            axes = sorted(int(a) for a in self.r.choice(len(s), self.int(1, len(s)), replace=False))
            attrs, rest = {"axes": axes, "keepdims": self.int(0, 1)}, self.quant(dtype)
        self.ms(op, [x] + rest + out, **attrs)

    def ms_integer(self):
        op = self.pick(["QGemm", "QLinearConv", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "MatMulInteger16",
                        "MulInteger", "ReduceSumInteger", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLSTM"])
        dtype, w = np.uint8, self.pick(BYTES)
        n = self.int(1, 7)
        columns = self.chance(0.3)
        several = lambda lo, hi: self.const(self.r.uniform(lo, hi, n).astype(F))
        ws = lambda: [several(0.01, 0.1), self.const(self.byte(w, n))] if columns else [self.scale(), self.zero(w)]
        if op == "MulInteger":
            x = self.bytes_of(dtype)
            return self.ms(op, [x, self.zero(dtype), self.beside(x), self.zero(dtype)])
        if op == "ReduceSumInteger":
            x = self.bytes_of(w)
            rank = self.value(x).ndim
            axes = sorted(int(a) for a in self.r.choice(rank, self.int(1, rank), replace=False))
            return self.ms(op, [x], axes=axes, keepdims=self.int(0, 1))
        if op == "QuantizeLinear":
            to = self.pick([np.uint8, np.int8, np.int16, np.uint16])
            made = self.ms(op, [self.any(least=1, exact=True), self.scale(), self.const(np.asarray(3, to))])
            return made and self.ms("DequantizeLinear", [made[0], self.scale(), self.const(np.asarray(3, to))],
                                    exact=True)
        if op == "DequantizeLinear":
            x = self.bytes_of(w)
            a = self.axis(x, negative=False)
            c = self.value(x).shape[a]
            return self.ms(op, [x, self.const(self.r.uniform(0.01, 0.1, c).astype(F)), self.const(self.byte(w, c))],
                           exact=True, axis=a)
        if op == "DynamicQuantizeLSTM":
            t, b, i, h = self.int(1, 4), 1, self.int(1, 5), self.int(1, 5)
            way = self.pick(["forward", "reverse", "bidirectional"])
            d = 1 + (way == "bidirectional")
            ins = [self.fresh(self.data((t, b, i))), self.const(self.byte(w, d, i, 4 * h)),
                   self.const(self.byte(w, d, h, 4 * h)), self.maybe(self.data((d, 8 * h))), "", "", "", ""]
            ins += [self.const(self.r.uniform(0.002, 0.01, d).astype(F)), self.const(np.zeros(d, w))] * 2
            return self.ms(op, ins, 3, hidden_size=h, direction=way)
        if op == "MatMulInteger16":
            k = self.int(1, 9)
            wide = lambda *s: self.fresh(self.r.integers(-999, 999, s).astype(np.int16))
            return self.ms(op, [wide(self.int(1, 5), k), wide(k, n)])
        if op == "QLinearConv":
            x = self.bytes_of(dtype, 4)
            s, last = self.value(x).shape, self.int(0, 1)
            c = s[3] if last else s[1]
            k, attrs = self.window(s[1:3] if last else s[2:])
            ins = [x] + self.quant(dtype) + [self.const(self.byte(np.int8, n, c, *k)), self.scale(),
                                             self.const(np.int8(0))] + [self.const(F(self.r.uniform(0.5, 2))),
                                                                        self.zero(dtype)]
            if self.chance(0.5):
                ins.append(self.const(self.r.integers(-3000, 3000, n).astype(np.int32)))
            return self.ms(op, ins, channels_last=last, **attrs)
        if op == "DynamicQuantizeMatMul":
            x = self.any(least=2, exact=True)
            k = self.value(x).shape[-1]
            return self.ms(op, [x, self.const(self.byte(w, k, n))] + ws() + [self.maybe(self.data((n,)))])
        x = self.bytes_of(dtype, 2)
        m, k = self.value(x).shape
        if op == "MatMulIntegerToFloat":
            s, z = ws()
            return self.ms(op, [x, self.const(self.byte(w, k, n)), self.scale(), s, self.zero(dtype), z,
                                self.maybe(self.data((n,)))])
        ta, tb = self.int(0, 1), self.int(0, 1)
        k = m if ta else k
        ins = [x] + self.quant(dtype) + [self.const(self.byte(w, *((n, k) if tb else (k, n))))] + ws()
        ins.append(self.const(self.r.integers(-3000, 3000, n).astype(np.int32)) if self.chance(0.5) else "")
        if self.chance(0.6):
            ins += [self.const(F(self.r.uniform(0.5, 2))), self.zero(dtype)]
        self.ms(op, ins, transA=ta, transB=tb, alpha=float(F(self.pick([1, 1, 0.5, 0.3]))))

    def ms_packed(self):
        size, bits, n = self.pick([16, 32]), self.pick([4, 8]), self.int(1, 6)
        if self.chance(0.6):
            x = self.fresh(self.data((self.int(1, 4), self.pick([16, 33, 48, 80]))))
            k = self.value(x).shape[1]
            blocks = -(-k // size)
            ins = [x, self.const(self.byte(np.uint8, n, blocks, size * bits // 8)),
                   self.const(self.r.uniform(0.01, 0.1, (n, blocks)).astype(F)),
                   self.maybe(self.byte(np.uint8, n, (blocks * bits + 7) // 8))]
            if not ins[3] and self.chance(0.3):
                ins += [self.const(self.r.integers(0, blocks, k).astype(np.int32))]
            elif self.chance(0.3):
                ins += ["", self.const(self.data((n,)))]
            return self.ms("MatMulNBits", ins, K=k, N=n, block_size=size, bits=bits)
        rows, width = self.int(2, 9), 32
        per = width * bits // 8
        at = self.fresh(self.r.integers(0, rows, self.shape(self.int(1, 2))).astype(np.int64))
        scales = self.const(self.r.uniform(0.01, 0.1, (rows, width // 16)).astype(F))
        zeros = self.maybe(self.byte(np.uint8, rows, width // 16 * bits // 8))
        self.ms("GatherBlockQuantized", [self.const(self.byte(np.uint8, rows, per)), at, scales, zeros], exact=True,
                block_size=16, bits=bits)

    MICROSOFT = ("ms_norm", "ms_attention", "ms_conv", "ms_product", "ms_map", "ms_move", "ms_qlinear", "ms_qlinear",
                 "ms_integer", "ms_integer", "ms_packed")
