"""Cases of com.microsoft for beside_ort.py."""
import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from ort_sums import LEAST_INT8  # noqa: E402

MS = "com.microsoft"
F = np.float32


def cases(r, In):
    all_cases = []

    def case(op, operands, attrs=None, results=1, tolerance=1e-4, tag="", domain=MS, opset=17):
        results = [True] * results if isinstance(results, int) else results
        name = op + ("." + tag if tag else "")
        all_cases.append((name, domain, op, operands, attrs or {}, results, tolerance, opset))

    f = lambda *d: r.standard_normal(d).astype(F)
    u8 = lambda *d: r.integers(0, 256, d).astype(np.uint8)
    i8 = lambda *d: r.integers(LEAST_INT8, -LEAST_INT8, d).astype(np.int8)
    sc = lambda lo=0.01, hi=0.1: F(r.uniform(lo, hi))
    norms(case, f, r, In)
    attention(case, f, r, In)
    grouped(case, f, r, In)
    fused(case, f, r, In)
    quantised(case, f, u8, i8, sc, r, In)
    packed(case, f, r, In)
    experts(case, f, r, In)
    pools(case, f, r, In)
    return all_cases


def norms(case, f, r, In):
    b, s, h = 2, 5, 12
    case("LayerNormalization", [In(f(b, s, h)), f(h), f(h)], {"axis": -1}, tag="ms", domain="", opset=12)
    case("SimplifiedLayerNormalization", [In(f(b, s, h)), f(h)], {"axis": -1, "epsilon": 1e-6}, domain="", opset=17)
    case("SimplifiedLayerNormalization", [In(f(b, s, 3, 4)), f(3, 4)], {"axis": 2}, tag="axis", domain="", opset=17)
    x, g, be, bi = f(b, s, h), f(h), f(h), f(h)
    case("SkipLayerNormalization", [In(x), In(f(b, s, h)), g, be, bi], {"epsilon": 1e-5}, [1, 0, 0, 1])
    case("SkipLayerNormalization", [In(x), In(f(b, s, h)), g], {}, tag="plain")
    case("SkipLayerNormalization", [In(x), In(f(1, s, h)), g, be], {}, tag="broadcast")
    case("SkipLayerNormalization", [In(x), In(f(s, h)), g, None, bi], {}, tag="flat")
    case("SkipSimplifiedLayerNormalization", [In(x), In(f(b, s, h)), g, bi], {"epsilon": 1e-5}, [1, 0, 0, 1])
    case("SkipSimplifiedLayerNormalization", [In(x[0]), In(f(s, h)), g], {}, [1, 0, 0, 1], tag="tokens")
    x16 = lambda *d: f(*d).astype(np.float16)
    case("SkipLayerNormalization", [In(x16(b, s, h)), In(x16(b, s, h)), x16(h), x16(h)], {}, tolerance=4e-3, tag="half")
    ids, seg = r.integers(0, 9, (b, s)).astype(np.int32), r.integers(0, 2, (b, s)).astype(np.int32)
    mask = (np.arange(s) < r.integers(1, s + 1, (b, 1))).astype(np.int32)
    case("EmbedLayerNormalization", [In(ids), In(seg), f(9, h), f(s + 2, h), f(2, h), g, be, In(mask)], {}, [1, 1, 1])
    case("EmbedLayerNormalization", [In(ids), None, f(9, h), f(s + 2, h), None, g, be], {}, [1, 1], tag="plain")
    places = r.integers(0, s + 2, (b, s)).astype(np.int32)
    case("EmbedLayerNormalization", [In(ids), In(seg), f(9, h), f(s + 2, h), f(2, h), g, be, None, In(places)],
         {"epsilon": 1e-6}, [1, 1], tag="places")


def attention(case, f, r, In):
    b, s, n, d, i = 2, 5, 3, 4, 8
    h, p = n * d, 3
    w, bias = f(i, 3 * h), f(3 * h)
    raw = lambda *k: r.integers(0, 2, k).astype(np.int32)
    x = In(f(b, s, i))
    case("Attention", [x, w, bias], {"num_heads": n})
    case("Attention", [x, w], {"num_heads": n, "scale": 0.3}, tag="scale")
    case("Attention", [x, w, bias], {"num_heads": n, "unidirectional": 1}, tag="causal")
    case("Attention", [x, w, bias, In(r.integers(1, s + 1, b).astype(np.int32))], {"num_heads": n}, tag="lengths")
    ends = np.concatenate([r.integers(3, s + 1, b), r.integers(0, 3, b)]).astype(np.int32)
    case("Attention", [x, w, bias, In(ends)], {"num_heads": n}, tag="starts")
    case("Attention", [x, w, bias, In(raw(b, s))], {"num_heads": n}, tag="mask2")
    case("Attention", [x, w, bias, In(raw(b, s, s))], {"num_heads": n, "mask_filter_value": -50.0}, tag="mask3")
    case("Attention", [x, w, bias, In(raw(b, 1, 9, 9))], {"num_heads": n}, tag="mask4")
    case("Attention", [x, w, bias, In(raw(b, s)), None, In(f(b, n, s, s))], {"num_heads": n}, tag="bias")
    case("Attention", [x, w, bias, None, None, In(f(1, 1, s, s))], {"num_heads": n, "unidirectional": 1}, tag="bias1")
    past = In(f(2, b, n, p, d))
    case("Attention", [x, w, bias, None, past], {"num_heads": n, "unidirectional": 1}, 2, tag="past")
    case("Attention", [x, w, bias, In(raw(b, p + s)), past], {"num_heads": n}, 2, tag="pastmask")
    case("Attention", [x, w, bias], {"num_heads": n}, 2, tag="present")
    case("Attention", [x, f(i, 2 * h + 6), f(2 * h + 6)], {"num_heads": n, "qkv_hidden_sizes": [h, h, 6]}, tag="sizes")
    q, k, v = In(f(b, s, h)), In(f(b, 7, h)), In(f(b, 7, 6))
    M = "MultiHeadAttention"
    case(M, [q, k, v], {"num_heads": n})
    case(M, [q, k, v, f(2 * h + 6)], {"num_heads": n, "scale": 0.2}, tag="bias")
    case(M, [q, k, v, None, In(raw(b, 7))], {"num_heads": n}, tag="mask2")
    case(M, [q, k, v, None, In(r.integers(1, 8, b).astype(np.int32))], {"num_heads": n}, tag="lengths")
    case(M, [q, k, v, None, In(raw(b, s, 7))], {"num_heads": n}, tag="mask3")
    case(M, [q, k, v, None, None, In(f(b, n, s, 7))], {"num_heads": n}, tag="rel")
    case(M, [q, k, v, None, None, In(f(1, n, s, 7))], {"num_heads": n}, tag="rel1")
    case(M, [q, In(f(b, n, 7, d)), In(f(b, n, 7, 2))], {"num_heads": n}, tag="heads")
    same = [q, In(f(b, s, h)), In(f(b, s, h))]
    case(M, same, {"num_heads": n, "unidirectional": 1}, 3, tag="causal")
    pk, pv = In(f(b, n, p, d)), In(f(b, n, p, d))
    case(M, same + [f(3 * h), None, None, pk, pv], {"num_heads": n, "unidirectional": 1}, 3, tag="past")
    case(M, same + [None, In(raw(b, p + s)), None, pk, pv], {"num_heads": n}, 3, tag="pastmask")
    case(M, [In(f(b, s, n, 3, d))], {"num_heads": n}, tag="packed")
    case(M, [q, In(f(b, 7, n, 2, d))], {"num_heads": n}, tag="packedkv")
    u8 = lambda *k: r.integers(0, 256, k).astype(np.uint8)
    i8 = lambda *k: r.integers(LEAST_INT8, -LEAST_INT8, k).astype(np.int8)
    Q = [In(u8(b, s, i)), u8(i, 3 * h), bias, F(0.02), F(0.01)]
    case("QAttention", Q + [None, np.uint8(128), np.uint8(120)], {"num_heads": n}, tolerance=1e-3)
    Q[1] = i8(i, 3 * h)
    case("QAttention", Q + [In(r.integers(1, s + 1, b).astype(np.int32)), np.uint8(100), np.int8(3)],
         {"num_heads": n}, tolerance=1e-3, tag="mask")
    Q[4] = r.uniform(0.005, 0.02, 3 * h).astype(F)
    case("QAttention", Q + [None, np.uint8(100), i8(3 * h), past], {"num_heads": n, "unidirectional": 1}, 2,
         tolerance=1e-3, tag="past")


def grouped(case, f, r, In):
    b, s, n, g, d = 2, 4, 4, 2, 16
    G = "GroupQueryAttention"
    a = {"num_heads": n, "kv_num_heads": g}
    q, k, v = In(f(b, s, n * d)), In(f(b, s, g * d)), In(f(b, s, g * d))
    none = lambda: [None, None]
    lens = lambda *t: np.array(t, np.int32)
    total = lambda t: np.int32(t)
    cos, sin = f(32, d // 2), f(32, d // 2)
    case(G, [q, k, v] + none() + [In(lens(s - 1, s - 1)), total(s)], a, 3)
    case(G, [q, k, v] + none() + [In(lens(s - 1, s - 1)), total(s), cos, sin], dict(a, do_rotary=1), 3, tag="rotary")
    case(G, [q, k, v] + none() + [In(lens(s - 1, s - 1)), total(s), cos, sin],
         dict(a, do_rotary=1, rotary_interleaved=1, softcap=5.0), 3, tag="interleaved")
    every = In(f(b, s, (n + 2 * g) * d))
    case(G, [every, None, None] + none() + [In(lens(s - 1, s - 1)), total(s)], a, 3, tag="packed")
    case(G, [q, k, v] + none() + [In(lens(s - 1, s - 1)), total(s)], dict(a, local_window_size=2), 3, tag="window")
    case(G, [q, k, v] + none() + [In(lens(s - 1, s - 1)), total(s)], dict(a, smooth_softmax=1), 3, tag="smooth")
    case(G, [q, k, v] + none() + [In(lens(s - 1, s - 1)), total(s), None, None, None, None, f(n)], a, 3, tag="sink")
    case(G, [q, k, v] + none() + [In(lens(s - 1, s - 1)), total(s), None, None, None, In(f(b, 1, s, s))], a, 3,
         tag="bias")
    one = [In(f(b, 1, n * d)), In(f(b, 1, g * d)), In(f(b, 1, g * d))]
    p = 6
    past = [In(f(b, g, p, d)), In(f(b, g, p, d))]
    case(G, one + past + [In(lens(p, p)), total(p + 1), cos, sin], dict(a, do_rotary=1), 3, tag="step")
    case(G, one + past + [In(lens(p, p)), total(p + 1)], dict(a, local_window_size=3), 3, tag="stepwindow")
    case(G, one + past + [In(lens(p - 1, p - 1)), total(p), cos, sin], dict(a, do_rotary=1), 3, tag="buffer")
    case(G, one + past + [In(lens(2, p - 1)), total(p), cos, sin], dict(a, do_rotary=1), 3, tag="ragged")
    case(G, [q, k, v] + past + [In(lens(p + s - 1, p + s - 1)), total(p + s), cos, sin], dict(a, do_rotary=1), 3,
         tag="chunk")
    R = "RotaryEmbedding"
    at = r.integers(0, 32, (b, s)).astype(np.int64)
    case(R, [In(f(b, s, n * d)), In(at), cos, sin], {})
    case(R, [In(f(b, s, n * d)), In(np.array([3], np.int64)), cos, sin], {"interleaved": 1}, tag="offset")
    case(R, [In(f(b, n, s, d)), In(at), cos, sin], {}, tag="heads")
    case(R, [In(f(b, s, n * d)), In(at), f(32, 2), f(32, 2)], {"num_heads": n, "rotary_embedding_dim": 4}, tag="part")


def fused(case, f, r, In):
    x, w, b = In(f(2, 4, 7, 6)), f(5, 4, 3, 3), f(5)
    for act, p in [("Relu", []), ("LeakyRelu", [0.2]), ("Tanh", []), ("Sigmoid", []), ("Clip", [-0.5, 0.7]),
                   ("HardSigmoid", [0.3, 0.4])]:
        case("FusedConv", [x, w, b], {"activation": act, **({"activation_params": p} if p else {})}, tag=act)
    case("FusedConv", [x, w, b, In(f(2, 5, 7, 6))], {"activation": "Relu", "pads": [1, 1, 1, 1]}, tag="sum")
    case("FusedConv", [x, w], {"strides": [2, 1], "auto_pad": "SAME_UPPER", "activation": "Relu"}, tag="same")
    case("FusedConv", [x, f(8, 2, 3, 3)], {"group": 2, "dilations": [2, 1], "activation": "Relu"}, tag="group")
    case("NhwcFusedConv", [In(f(2, 7, 6, 4)), w, b], {"activation": "Relu"})
    case("NhwcMaxPool", [In(r.integers(-128, 128, (1, 7, 6, 4)).astype(np.int8))],
         {"kernel_shape": [3, 2], "strides": [2, 2]}, tolerance=0)
    case("FusedGemm", [In(f(3, 4)), f(4, 5), f(5)], {"activation": "Relu", "alpha": 0.5, "beta": 2.0})
    case("FusedGemm", [In(f(4, 3)), f(5, 4), f(3, 1)],
         {"activation": "LeakyRelu", "activation_alpha": 0.3, "transA": 1, "transB": 1}, tag="leaky")
    M = "FusedMatMul"
    case(M, [In(f(2, 3, 4)), In(f(2, 4, 5))], {"alpha": 0.25})
    case(M, [In(f(2, 4, 3)), In(f(2, 5, 4))], {"transA": 1, "transB": 1}, tag="both")
    case(M, [In(f(3, 2, 4)), In(f(2, 4, 5))], {"transBatchA": 1}, tag="batchA")
    case(M, [In(f(2, 3, 4)), In(f(4, 2, 5))], {"transBatchB": 1}, tag="batchB")
    case(M, [In(f(4)), In(f(4, 5))], {"alpha": 2.0}, tag="vector")
    case("TransposeMatMul", [In(f(2, 3, 4)), f(5, 4)], {"transB": 1})
    case("Gelu", [In(f(3, 9))])
    case("FastGelu", [In(f(3, 9))], tolerance=2e-4)
    case("FastGelu", [In(f(3, 9)), f(9)], tag="bias", tolerance=2e-4)
    case("QuickGelu", [In(f(3, 9))], {"alpha": 1.3})
    case("QuickGelu", [In(f(3, 9))], tag="plain")
    case("BiasGelu", [In(f(2, 3, 8)), f(8)])
    case("BiasSplitGelu", [In(f(2, 3, 8)), f(8)])
    case("BiasAdd", [In(f(2, 3, 8)), f(8), In(f(2, 3, 8))])
    case("BiasSoftmax", [In(f(2, 3, 4, 5)), In(f(2, 1, 1, 5))], {"axis": 3, "is_inner_broadcast": 1})
    case("GroupNorm", [In(f(2, 4, 3, 8)), f(8), f(8)], {"groups": 2, "activation": 1})
    case("Trilu", [In(f(3, 4, 5)), np.int64(1)], {"upper": 1})
    case("Trilu", [In(f(4, 4))], {"upper": 0}, tag="lower")
    near = lambda *d: f(*d) * F(0.3) + np.eye(d[-1], dtype=F)[::-1]  # zeros on the diagonal: rows are exchanged
    case("Inverse", [In(near(2, 3, 4, 4))])
    case("Inverse", [In(near(7, 7))], tag="one")
    case("Inverse", [In(near(2, 2).astype(np.float16))], tolerance=4e-3, tag="half")
    case("ExpandDims", [In(f(3, 4)), np.int32(-1)])
    case("CDist", [In(f(5, 4)), In(f(3, 4))], {"metric": "euclidean"})
    case("CDist", [In(f(5, 4)), In(f(3, 4))], {"metric": "sqeuclidean"}, tag="square")
    case("Range", [np.array([1], F), np.array([7], F)], {}, tag="plain")
    case("GatherND", [In(f(3, 4, 5)), np.array([[0, 1], [2, 3]], np.int64)])
    case("Pad", [In(f(2, 3)), np.array([1, 0, 2, 1], np.int64), F(3)], {"mode": "constant"})


def pools(case, f, r, In):
    """Windows larger than the padded image by less than a stride: one, cut off."""
    for op in ("MaxPool", "AveragePool"):
        for k, s, p in ((4, 2, 0), (5, 4, 0), (6, 2, 1)):
            a = {"kernel_shape": [k, k], "strides": [s, s], "pads": [p] * 4}
            case(op, [In(f(1, 2, 3, 3))], a, domain="", tag="%d.%d.%d" % (k, s, p))
    case("AveragePool", [In(f(1, 2, 3, 3))], {**a, "count_include_pad": 1}, domain="", tag="pads")
    for i in range(8):  # operator sets 9 and 10: positions in f32, nearest is up if a side shrinks
        for mode in ("nearest", "linear"):
            old, image = i % 4 == 0, np.arange(99, dtype=F).reshape(1, 1, 9, 11)
            scale = r.choice([r.integers(2, 20) / 10, r.integers(1, 9) / r.integers(1, 9)], 2)
            scale = np.maximum(F([1, 1, *scale]), F(1 if old else 0.2))
            case("Upsample" if old else "Resize", [In(image), scale], {"mode": mode}, tag="%s.%d" % (mode, i),
                 domain="", opset=9 if old else 10)
    for i, t in enumerate((np.uint8, np.int8, np.int32) * 2):  # integers, channels first and last
        image = r.integers(-128 if t != np.uint8 else 0, 128, (1, 3, 5, 3)).astype(t)
        scale = np.maximum(r.choice([r.integers(4, 25) / 10, r.integers(2, 9) / r.integers(2, 9), 2], 2), 0.4)
        how = ("half_pixel", "asymmetric", "align_corners")[i % 2 + (i == 5)]
        case("Resize", [In(image), None, F([1, *scale, 1] if i % 2 else [1, 1, *scale])], {"mode": "linear",
             "coordinate_transformation_mode": how}, tolerance=0, tag="integers.%d" % i, domain="", opset=13)
    case("Pad", [In(f(2, 3)), np.int64([0, 7, 1, 10])], {"mode": "wrap"}, tolerance=0, domain="", tag="wrap", opset=19)
    for mode in ("linear", "cubic"):  # 3 * 0.5 rows are one: of that the coordinate is 0
        case("Resize", [In(f(1, 1, 3, 4)), None, np.array([1, 1, 0.5, 2], F)],
             {"coordinate_transformation_mode": "pytorch_half_pixel", "mode": mode}, tag=mode, domain="", opset=18)


def quantised(case, f, u8, i8, sc, r, In):
    z8 = lambda: np.uint8(r.integers(0, 256))
    zi = lambda: np.int8(r.integers(-128, 128))
    for t, z, tag in ((u8, z8, "u8"), (i8, zi, "i8")):
        for op in ("QLinearAdd", "QLinearMul"):
            case(op, [In(t(2, 3, 9)), sc(), z(), In(t(2, 1, 9)), sc(), z(), sc(0.05, 0.3), z()], tolerance=0, tag=tag)
        case("QLinearSigmoid", [In(t(3, 9)), sc(), z(), F(1 / 256), z()], tolerance=0, tag=tag)
        case("QLinearLeakyRelu", [In(t(3, 9)), sc(), z(), sc(), z()], {"alpha": 0.1}, tolerance=0, tag=tag)
        case("QLinearGlobalAveragePool", [In(t(2, 4, 5, 5)), sc(), z(), sc(), z()], tolerance=0, tag=tag)
        case("QLinearGlobalAveragePool", [In(t(2, 5, 5, 4)), sc(), z(), sc(), z()], {"channels_last": 1}, tolerance=0,
             tag=tag + "last")
        pool = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}
        case("QLinearAveragePool", [In(t(2, 4, 7, 6)), sc(), z(), sc(), z()], pool, tolerance=0, tag=tag)
        case("QLinearAveragePool", [In(t(2, 4, 7, 6)), sc(), z(), sc(), z()], dict(pool, count_include_pad=1),
             tolerance=0, tag=tag + "pads")
        case("QLinearAveragePool", [In(t(2, 7, 6, 4)), sc(), z(), sc(), z()], dict(pool, channels_last=1, ceil_mode=1),
             tolerance=0, tag=tag + "last")
        for k in ([3, 2], [3, 3], [2, 3]):  # the last windows end beyond the pads
            cut = dict(pool, kernel_shape=k, strides=[3, 2], count_include_pad=1, ceil_mode=1)
            case("QLinearAveragePool", [In(t(2, 3, 8, 6)), sc(), z(), sc(), z()], cut, tolerance=0,
                 tag="%s.cut.%d.%d" % (tag, *k))
        case("QLinearSoftmax", [In(t(3, 9)), sc(), z(), F(1 / 256), z() if tag == "i8" else np.uint8(0)],
             {"axis": -1, "opset": 13}, tolerance=0, tag=tag)
        case("QLinearSoftmax", [In(t(2, 3, 4)), sc(), z(), F(1 / 256), np.uint8(0) if tag == "u8" else np.int8(-128)],
             {"axis": 1, "opset": 11}, tolerance=0, tag=tag + "old")
        s, q = sc(), z()
        case("QLinearConcat", [s, q, In(t(2, 3)), s, q, In(t(2, 4)), sc(), z()], {"axis": 1}, tolerance=0, tag=tag)
        case("QLinearWhere", [In(r.integers(0, 2, (3, 4)).astype(bool)), In(t(3, 4)), sc(), z(), In(t(1, 4)), sc(), z(),
                              sc(), z()], tolerance=0, tag=tag)
    for op in ("QLinearSigmoid", "QLinearLeakyRelu"):
        case(op, [In(u8(3, 9)), sc(), None, sc(), None], tolerance=0, tag="plain")
    G = "QGemm"
    a, sa, za = In(u8(5, 7)), sc(), z8()
    c = r.integers(-3000, 3000, 6).astype(np.int32)
    case(G, [a, sa, za, u8(7, 6), sc(), z8(), c, sc(0.5, 2), z8()], tolerance=0)
    case(G, [a, sa, za, i8(6, 7), r.uniform(0.01, 0.1, 6).astype(F), i8(6), None, sc(0.5, 2), z8()], {"transB": 1},
         tolerance=0, tag="columns")
    case(G, [a, sa, za, i8(7, 6), sc(), zi(), c], {"alpha": 0.5}, tolerance=1e-4, tag="float")
    case(G, [In(u8(7, 5)), sa, za, i8(7, 6), sc(), zi()], {"transA": 1}, tolerance=1e-4, tag="transA")
    case("QLinearConv", [In(u8(1, 7, 6, 4)), sc(), z8(), i8(5, 4, 3, 3), sc(), zi(), sc(0.5, 2), z8(),
                         r.integers(-3000, 3000, 5).astype(np.int32)], {"channels_last": 1}, tolerance=0)
    D = "DynamicQuantizeMatMul"
    case(D, [In(f(3, 7)), i8(7, 6), sc(), zi(), f(6)])
    case(D, [In(f(2, 3, 7)), u8(7, 6), r.uniform(0.01, 0.1, 6).astype(F), u8(6)], tag="columns")
    case(D, [In(f(2, 3, 7)), i8(7, 6), sc()], tag="plain")
    case(D, [In(f(2, 3, 300)), i8(300, 6), sc()], tag="long", tolerance=1e-3)
    I = "MatMulIntegerToFloat"
    case(I, [In(u8(3, 7)), i8(7, 6), sc(), sc(), z8(), zi(), f(6)])
    case(I, [In(u8(2, 3, 7)), u8(7, 6), sc(), r.uniform(0.01, 0.1, 6).astype(F), z8(), u8(6)], tag="columns")
    case(I, [In(i8(3, 700)), i8(700, 6), sc(), sc()], tag="long", tolerance=1e-3)
    t, b, i, h = 4, 1, 5, 6
    for d, w in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
        state = [In(f(w, b, h)), In(f(w, b, h))]
        L = [In(f(t, b, i)), i8(w, i, 4 * h), i8(w, h, 4 * h), f(w, 8 * h), None] + state + [None]
        L += [r.uniform(0.005, 0.02, w).astype(F), np.zeros(w, np.int8)] * 2
        case("DynamicQuantizeLSTM", L, {"hidden_size": h, "direction": d}, 3, tag=d)
    L = [In(f(t, b, i)), u8(1, i, 4 * h), u8(1, h, 4 * h), f(1, 8 * h), None, None, None, f(1, 3 * h)]
    L += [r.uniform(0.005, 0.02, (1, 4 * h)).astype(F), np.full((1, 4 * h), 128, np.uint8)] * 2
    case("DynamicQuantizeLSTM", L, {"hidden_size": h}, 3, tag="channels")
    case("QuantizeLinear", [In(f(3, 9)), sc(), np.int16(3)], tolerance=0)
    scales = r.uniform(0.01, 0.1, 9).astype(F)
    case("QuantizeLinear", [In(f(3, 9)), scales, u8(9)], {"axis": 1}, tolerance=0, tag="axis")
    case("DequantizeLinear", [In(r.integers(-999, 999, (3, 9)).astype(np.int16)), sc(), np.int16(3)])
    case("MatMulInteger16", [In(r.integers(-999, 999, (3, 9)).astype(np.int16)),
                             In(r.integers(-999, 999, (9, 4)).astype(np.int16))], tolerance=0)
    for k in (9, 700):
        case("MatMulInteger", [In(u8(3, k)), i8(k, 4), z8(), i8(4)], tolerance=0, tag="k%d" % k, domain="")
        case("MatMulInteger", [In(u8(3, k)), In(u8(k, 4)), z8(), z8()], tolerance=0, tag="run%d" % k, domain="")
    case("ConvInteger", [In(u8(1, 3, 6, 6)), u8(4, 3, 3, 3), z8(), z8()], tolerance=0, domain="")
    case("ConvInteger", [In(u8(1, 64, 6, 6)), u8(4, 64, 3, 3), z8(), z8()], tolerance=0, domain="", tag="long")
    case("ConvInteger", [In(u8(1, 64, 6, 6)), In(u8(8, 32, 3, 3)), z8()], {"group": 2, "strides": [2, 2]}, tolerance=0,
         domain="", tag="group")
    # clip bounds gates and not the cell; lengths, layouts of one direction and of two
    for op, gates in ("LSTM", 4), ("GRU", 3), ("RNN", 1):
        for d in 1, 2:
            first = [In(f(6, 2, 3)), f(d, gates * 4, 3), f(d, gates * 4, 4), f(d, 2 * gates * 4),
                     In(np.array([4, 6], np.int32)), In(f(d, 2, 4))]
            cell = [In(2 * f(d, 2, 4)), f(d, 12)] if op == "LSTM" else []
            case(op, first + cell, {"hidden_size": 4, "clip": 0.6, "direction": ["reverse", "bidirectional"][d - 1]},
                 3 if cell else 2, domain="", tag="clip%d" % d)
    # a kernel that is shorter than the stride, along one dimension or all
    for how in "SAME_UPPER", "SAME_LOWER":
        for k, more in ([1, 2], {}), ([3, 1], {"output_padding": [0, 1]}), ([1, 1], {"dilations": [2, 1]}):
            case("ConvTranspose", [In(f(1, 4, 3, 4)), f(4, 2, *k)], {"auto_pad": how, "strides": [5, 3], **more},
                 domain="", tag=f"{how}.{k}")
        case("ConvTranspose", [In(f(1, 4, 5)), f(4, 2, 2)], {"auto_pad": how, "strides": [4], "group": 2}, domain="",
             tag=how + ".line")
    case("ConvInteger", [In(u8(1, 40, 9)), u8(4, 40, 9)], {"pads": [2, 3]}, tolerance=0, domain="", tag="line")
    least = {np.uint8: 0, np.int8: LEAST_INT8}
    byte = lambda t, *d: r.integers(least[t], (256 if t == np.uint8 else -LEAST_INT8), d).astype(t)
    known = lambda v: v if r.random() < 0.5 else In(v)
    for i in range(8):
        tx, tw = (np.uint8, np.int8)[r.integers(2)], (np.uint8, np.int8)[r.integers(2)]
        tx = np.uint8 if tw == np.uint8 else tx  # ONNX Runtime has no i8 x u8
        m, k, n = r.integers(1, 20), r.integers(1, 400), r.integers(1, 50)
        zx = (None, known(byte(tx)), known(byte(tx, 1)))[r.integers(3)]
        zw = (None, byte(tw), np.full(n, 128 if tw == np.uint8 else 0, tw), byte(tw, n), known(byte(tw)))[r.integers(5)]
        batch = ((), (2,), (1, 3))[r.integers(3)]
        case("MatMulInteger", [In(byte(tx, *batch, m, k)), byte(tw, k, n), zx, zw], tolerance=0, tag="any%d" % i,
             domain="")
        g, o, c = ((1, 5, 3), (2, 2, 4), (3, 1, 1), (4, 1, 2))[r.integers(4)]
        kh, kw = r.integers(1, 4, 2)
        attrs = {"group": g, "pads": [int(p) for p in (r.integers(0, kh), r.integers(0, kw)) * 2],
                 "strides": [int(s) for s in r.integers(1, 3, 2)], "dilations": [int(s) for s in r.integers(1, 3, 2)]}
        zw = (None, byte(np.uint8), np.uint8(128))[r.integers(3)]
        zx = zx if tx == np.uint8 else None
        case("ConvInteger", [In(byte(np.uint8, 1, g * c, 9, 11)), byte(np.uint8, g * o, c, kh, kw), zx, zw], attrs,
             tolerance=0, tag="any%d" % i, domain="")
    for x in (f(3, 5), np.zeros((2, 2), F), -np.abs(f(4)), np.abs(f(4)) + 1):
        case("DynamicQuantizeLinear", [In(x)], {}, 3, tolerance=0, domain="", tag="%g" % x.flat[0])


def experts(case, f, r, In):
    n, e, h, i = 3, 4, 32, 32
    x, route, half = In(f(n, h)), In(f(n, e)), lambda *d: F(0.5) * f(*d)
    for act in ("relu", "gelu", "silu", "identity"):
        a = {"activation_type": act, "k": 2, "normalize_routing_weights": act == "silu"}
        case("MoE", [x, route, half(e, i, h), half(e, i), half(e, h, i), half(e, h)], a, tag=act)
    a = {"activation_type": "swiglu", "k": 3, "swiglu_fusion": 1, "activation_alpha": 1.702, "activation_beta": 1.0,
         "swiglu_limit": 0.7}
    case("MoE", [In(f(1, n, h)), route, half(e, 2 * i, h), None, half(e, h, i)], a, tag="swiglu")
    rows = lambda bits, *d: r.integers(0, 256, (e, *d[:-1], d[-1] * bits // 8)).astype(np.uint8)
    for bits, block in ((4, 0), (4, 32), (8, 0), (2, 32), (4, 16)):
        blocks = (h // block,) if block else ()
        scale = lambda *d: r.uniform(0.01, 0.05, (e, *d, *blocks)).astype(F)
        bytes_of = lambda d: (d, -(-blocks[0] * bits // 8)) if block else (d * bits // 8,)
        zero = lambda d: r.integers(0, 256, (e, *bytes_of(d))).astype(np.uint8)
        a = dict(a, expert_weight_bits=bits, k=2, **({"block_size": block} if block else {}))
        plain = [x, route, rows(bits, 2 * i, h), scale(2 * i), half(e, 2 * i), rows(bits, h, i), scale(h), half(e, h)]
        case("QMoE", plain, a, tag="%d.%d" % (bits, block))
        case("QMoE", plain + [None] * 3 + [zero(2 * i), zero(h)], a, tag="%d.%d.zero" % (bits, block))
        case("QMoE", plain + [None] * 6 + [In(np.abs(f(n, e)))], dict(a, normalize_routing_weights=bits == 4),
             tag="%d.%d.weights" % (bits, block))


def packed(case, f, r, In):
    def nbits(n, k, size, bits):
        blocks = -(-k // size)
        byte = lambda *d: r.integers(0, 256, d).astype(np.uint8)
        scales = r.uniform(0.01, 0.1, (n, blocks)).astype(F)
        return byte(n, blocks, size * bits // 8), scales, byte(n, (blocks * bits + 7) // 8), blocks

    N = "MatMulNBits"
    for bits in (4, 8):
        for k, size in ((64, 16), (80, 32), (33, 32)):
            w, s, z, blocks = nbits(6, k, size, bits)
            a = {"K": k, "N": 6, "block_size": size, "bits": bits}
            t = "%d.%d.%d" % (bits, k, size)
            case(N, [In(f(2, 3, k)), w, s], a, tolerance=1e-3, tag=t)
            case(N, [In(f(3, k)), w, s, z], a, tolerance=1e-3, tag=t + "zero")
    w, s, z, blocks = nbits(6, 64, 16, 4)
    a = {"K": 64, "N": 6, "block_size": 16, "bits": 4}
    group = r.integers(0, blocks, 64).astype(np.int32)
    case(N, [In(f(3, 64)), w, s, None, group], a, tolerance=1e-3, tag="group")  # packed zero points: it forgets them
    case(N, [In(f(3, 64)), w, s, r.uniform(0, 15, s.shape).astype(F), group], a, tolerance=1e-3, tag="groupreal")
    case(N, [In(f(3, 64)), w, s, r.uniform(0, 15, s.shape).astype(F)], a, tolerance=1e-3, tag="real")
    case(N, [In(f(3, 64)), w, s, None, None, f(6)], a, tolerance=1e-3, tag="bias")
    case(N, [In(f(3, 64)), w, s, z], dict(a, accuracy_level=4), tolerance=0.2, tag="level4")
    G = "GatherBlockQuantized"
    at = r.integers(-9, 9, (2, 3)).astype(np.int64)
    four = lambda *d: helper.make_tensor("t", TensorProto.UINT4, d, r.integers(0, 16, d).flatten())
    signed = lambda *d: helper.make_tensor("t", TensorProto.INT4, d, r.integers(-8, 8, d).flatten())
    scale = lambda *d: r.uniform(0.01, 0.1, d).astype(F)
    case(G, [signed(9, 32), In(at), scale(9, 2)], {"block_size": 16}, opset=21)
    case(G, [four(9, 40), In(at), scale(9, 3), four(9, 3)], {"block_size": 16}, tag="zero", opset=21)
    case(G, [four(32, 9), In(at), scale(2, 9), four(2, 9)], {"block_size": 16, "quantize_axis": 0, "gather_axis": 1},
         tag="columns", opset=21)
    along = {"block_size": 16, "quantize_axis": 0}
    case(G, [four(32, 6), In(at), scale(2, 6), four(2, 6)], along, tag="same", opset=21)
    u8 = lambda *d: r.integers(0, 256, d).astype(np.uint8)
    case(G, [u8(9, 32), In(at), scale(9, 4), u8(9, 2)], {"block_size": 16, "bits": 4}, tag="bytes", opset=21)
    case(G, [u8(9, 32), In(at), scale(9, 4)], {"block_size": 16, "bits": 4}, tag="bytesplain", opset=21)
    case(G, [u8(9, 32), In(at), scale(9, 2), u8(9, 2)], {"block_size": 16, "bits": 8}, tag="bytes8", opset=21)
