"""Values of MXNet's rarer operators.   mxnet_values.py ARENAC"""
import json
import math
import struct
import sys

import numpy as np

from compare import conv, deconv, finish, iou, run, sigmoid

arenac = sys.argv[1]
rng = np.random.default_rng(7)


class Symbol:
    """A symbol in the making: its nodes, arrays and heads."""

    def __init__(self):
        self.nodes, self.heads, self.arrays, self.args, self.want = [], [], {}, [], {}

    def var(self, name, array=None):
        self.args.append(len(self.nodes))
        self.nodes.append({"op": "null", "name": name, "inputs": []})
        if array is not None:
            self.arrays["arg:" + name] = array
        return len(self.nodes) - 1

    def op(self, kind, inputs, want, at=None, **attrs):
        """want: the results, or those that are heads (at: which)."""
        want = want if isinstance(want, list) else [want]
        name = f"n{len(self.nodes)}"
        read = [[i, 0, 0] if isinstance(i, int) else [i[0], i[1], 0] for i in inputs]
        self.nodes.append({"op": kind, "name": name, "inputs": read, "attrs": {k: str(v) for k, v in attrs.items()}})
        for k, w in enumerate(want):
            self.heads.append([len(self.nodes) - 1, k if at is None else at, 0])
            self.want[f"{kind} {attrs} {k}"] = np.asarray(w, np.float32)
        return len(self.nodes) - 1

    def files(self):
        text = json.dumps({"nodes": self.nodes, "arg_nodes": self.args, "heads": self.heads,
                           "attrs": {"mxnet_version": ["int", 10901]}})
        out = struct.pack("<QQQ", 0x112, 0, len(self.arrays))
        for a in self.arrays.values():
            out += struct.pack("<IiI", 0xF993FAC9, 0, a.ndim) + struct.pack(f"<{a.ndim}q", *a.shape)
            out += struct.pack("<iii", 1, 0, {np.float32: 0, np.int32: 4}[a.dtype.type]) + a.tobytes()
        out += struct.pack("<Q", len(self.arrays))
        for n in self.arrays:
            out += struct.pack("<Q", len(n)) + n.encode()
        return {"net-symbol.json": text, "net-0000.params": out}


def small():
    s = Symbol()
    x = rng.standard_normal((2, 4, 6, 5)).astype(np.float32)
    d = s.var("x")
    erf = np.vectorize(math.erf)
    for kind, f in (("leaky", lambda v: np.where(v > 0, v, 0.3 * v)),
                    ("elu", lambda v: np.where(v > 0, v, 0.3 * np.expm1(v))),
                    ("selu", lambda v: 1.0507009873554805 * np.where(v > 0, v, 1.6732632423543772 * np.expm1(v))),
                    ("gelu", lambda v: 0.5 * v * (1 + erf(v / 2 ** 0.5)))):
        s.op("LeakyReLU", [d], f(x), act_type=kind, slope=0.3)
    s.op("LeakyReLU", [d], np.where(x > 0, x, (0.125 + 0.334) / 2 * x), act_type="rrelu",
         lower_bound=0.125, upper_bound=0.334)
    gamma = rng.standard_normal(4).astype(np.float32)
    s.op("LeakyReLU", [d, s.var("gamma", gamma)], np.where(x > 0, x, gamma.reshape(1, 4, 1, 1) * x), act_type="prelu")
    for mode, axes in (("instance", (1, 2, 3)), ("channel", (1,)), ("spatial", (2, 3))):
        s.op("L2Normalization", [d], x / np.sqrt((x * x).sum(axes, keepdims=True) + 1e-3), mode=mode, eps=1e-3)
    s.op("UpSampling", [d], x.repeat(3, 2).repeat(3, 3), scale=3, sample_type="nearest", num_args=1)
    s.op("SliceChannel", [d], list(np.split(x, 2, 1)), num_outputs=2, axis=1)
    s.op("SliceChannel", [d], [p[:, :, 0] for p in np.split(x, 6, 2)], num_outputs=6, axis=2, squeeze_axis=True)
    mean, var = x.mean((2, 3), keepdims=True), x.var((2, 3), keepdims=True)
    g, b = rng.standard_normal(4).astype(np.float32), rng.standard_normal(4).astype(np.float32)
    s.op("InstanceNorm", [d, s.var("ig", g), s.var("ib", b)],
         (x - mean) / np.sqrt(var + 1e-3) * g.reshape(1, 4, 1, 1) + b.reshape(1, 4, 1, 1), eps=1e-3)
    g5, b5 = rng.standard_normal(5).astype(np.float32), rng.standard_normal(5).astype(np.float32)
    s.op("LayerNorm", [d, s.var("lg", g5), s.var("lb", b5)],
         (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * g5 + b5, axis=-1, eps=1e-5)
    sq = np.pad(x * x, ((0, 0), (1, 1), (0, 0), (0, 0)))
    s.op("LRN", [d], x * (2 + 0.1 / 3 * sum(sq[:, k:k + 4] for k in range(3))) ** -0.75,
         nsize=3, alpha=0.1, beta=0.75, knorm=2)
    full = np.full((2, 4, 3, 2), -np.inf, np.float32)
    for i in range(3):
        for j in range(2):
            full[:, :, i, j] = x[:, :, 2 * i:2 * i + 3, 2 * j:2 * j + 3].max((2, 3))
    s.op("Pooling", [d], full, kernel="(3, 3)", stride="(2, 2)", pool_type="max", pooling_convention="full")
    v = x.reshape(2, 2, 2, 6, 5)
    cube = s.op("Reshape", [d], v, shape="(2, 2, 2, 6, 5)")
    w, b6 = rng.standard_normal((6, 1, 2, 3, 2)).astype(np.float32), rng.standard_normal(6).astype(np.float32)
    s.op("Convolution", [cube, s.var("cw", w), s.var("cb", b6)], conv(v, w, b6, 2, 2, 1, 1),
         kernel="(2, 3, 2)", stride="(2, 2, 2)", pad="(1, 1, 1)", num_filter=6, num_group=2)
    w = rng.standard_normal((2, 3, 2, 3, 2)).astype(np.float32)
    s.op("Deconvolution", [cube, s.var("tw", w), s.var("tb", b6)], deconv(v, w, b6, 2, 2, 2, 1),
         kernel="(2, 3, 2)", stride="(2, 2, 2)", dilate="(2, 2, 2)", pad="(1, 1, 1)", num_filter=6, num_group=2,
         no_bias=False)
    m = rng.standard_normal((3, 4, 5)).astype(np.float32)
    k = rng.standard_normal((3, 6, 5)).astype(np.float32)
    me, ke = s.var("m"), s.var("k")
    s.op("batch_dot", [me, ke], m @ k.transpose(0, 2, 1), transpose_b=True)
    s.op("batch_dot", [me, me], m.transpose(0, 2, 1) @ m, transpose_a=True)
    order = np.argsort(-m, -1, kind="stable")
    s.op("topk", [me], order[..., :2], k=2)
    s.op("topk", [me], [np.take_along_axis(m, order, -1)[..., :3], order[..., :3]], k=3, ret_typ="both")
    s.op("topk", [me], np.sort(m, 1)[:, :2], k=2, ret_typ="value", is_ascend=True, axis=1)
    s.op("sort", [me], np.sort(m, 1), axis=1)
    s.op("sort", [me], -np.sort(-m, -1), is_ascend=False)
    s.op("argsort", [me], np.argsort(m, 0, kind="stable"), axis=0)
    s.op("argsort", [me], np.argsort(m.ravel(), kind="stable"), axis="None")
    p = np.array([[0, 4, -3, 9], [1, 2, 3, 4], [4, 0, 0, 1]], np.float32)
    clipped, wrapped = np.clip(p, 0, 4).astype(int), (p % 5).astype(int)
    pe = s.var("p")
    s.op("pick", [me, pe], np.take_along_axis(m, clipped[..., None], -1)[..., 0])
    s.op("pick", [me, pe], np.take_along_axis(m, wrapped[..., None], -1), mode="wrap", keepdims=True)
    length = np.array([2, 1, 3], np.float32)
    le = s.var("len")
    t = rng.standard_normal((4, 3, 2)).astype(np.float32)
    te = s.var("t")
    mask = np.arange(4)[:, None] < length
    s.op("SequenceMask", [te, le], np.where(mask[..., None], t, np.float32(-5)), use_sequence_length=True, value=-5)
    s.op("SequenceLast", [te, le], t[length.astype(int) - 1, np.arange(3)], use_sequence_length=True)
    rev = t.copy()
    for i, n in enumerate(length.astype(int)):
        rev[:n, i] = t[:n, i][::-1]
    s.op("SequenceReverse", [te, le], rev, use_sequence_length=True)
    run(arenac, s.files(), [x, m, k, p, length, t], s.want)


def as_mxnet():
    """The behaviour of MXNet 1.9 itself, if its documentation is silent or wrong: halves, omitted arguments, types,
    borders."""
    s = Symbol()
    x = np.round(rng.standard_normal((2, 3, 5, 7)) * 8).astype(np.float32) / 4
    d = s.var("x")
    s.op("rint", [d], np.ceil(x - 0.5))
    s.op("round", [d], np.sign(x) * np.floor(np.abs(x) + 0.5))
    s.op("_plus_scalar", [d], x + 1)
    e = np.exp(x - x.max(-1, keepdims=True))
    s.op("SoftmaxActivation", [d], e / e.sum(-1, keepdims=True))
    zeros = np.pad(x, ((0, 0), (0, 0), (1, 2), (0, 1)))
    total = np.stack([np.stack([zeros[:, :, i:i + 2, j:j + 2].sum((2, 3)) for j in range(0, 8, 2)], -1)
                      for i in range(0, 7, 2)], -2)
    s.op("Pooling", [d], total[:, :, :3, :3], kernel="(2, 2)", stride="(2, 2)", pad="(1, 0)", pool_type="sum")
    s.op("Pooling", [d], total, kernel="(2, 2)", stride="(2, 2)", pad="(1, 0)", pool_type="sum",
         pooling_convention="full")
    cut = lambda n, out: [(i * n // out, -(-(i + 1) * n // out)) for i in range(out)]
    mean = [[x[:, :, a:b, p:q].mean((2, 3)) for p, q in cut(7, 3)] for a, b in cut(5, 4)]
    s.op("_contrib_AdaptiveAvgPooling2D", [d], np.moveaxis(np.array(mean), (0, 1), (2, 3)), output_size="(4, 3)")
    at = np.clip((np.arange(4) + 0.5) * 5 / 4 - 0.5, 0, 4)
    low = np.minimum(at.astype(int), 3)
    rows = x[:, :, low] + (x[:, :, low + 1] - x[:, :, low]) * (at - low)[:, None]
    s.op("_contrib_BilinearResize2D", [d], rows[..., :1], height=4, width=1, align_corners=False)
    s.op("Pad", [d], np.pad(x, ((0, 0), (0, 0), (1, 2), (0, 3)), "edge"), mode="edge", pad_width="(0,0,0,0,1,2,0,3)")
    at = np.array([[0, -1, 1], [2, -3, -1]], np.float32)
    s.op("gather_nd", [d, s.var("at", at)], x[[0, -1, 1], [2, -3, -1]])
    kernel = rng.standard_normal((3, 2, 2, 2)).astype(np.float32)
    wide = np.pad(deconv(x, kernel, np.zeros(2, np.float32), 1, 2, 1, 0), ((0, 0), (0, 0), (0, 1), (0, 1)))
    s.op("Deconvolution", [d, s.var("k", kernel)], wide, kernel="(2, 2)", stride="(2, 2)", adj="(1, 1)", num_filter=2)
    run(arenac, s.files(), [x], s.want)

    s = Symbol()
    whole = np.array([[3, -7, 2], [5, 5, -1]], np.int32)
    d = s.var("whole", whole)
    for kind, v in (("argmax", whole.argmax(1)), ("argmin", whole.argmin(1))):
        s.op(kind, [d], v, axis=1)
    for kind, v in (("relu", np.maximum(whole, 0)), ("round", whole), ("trunc", whole), ("rint", whole),
                    ("logical_not", whole == 0), ("ones_like", whole * 0 + 1), ("transpose", whole.T)):
        s.op(kind, [d], v)
    s.op("_mul_scalar", [d], whole * 3, scalar=3)
    run(arenac, s.files(), [], s.want, dtype=np.int32)


def recurrent():
    """Fused RNNs against loops over gates: weights of each layer and direction, then biases."""
    s = Symbol()
    T, N, C, H = 4, 2, 3, 5
    x = rng.standard_normal((T, N, C)).astype(np.float32)
    d = s.var("x")
    inputs = [x]
    for mode, gates in (("rnn_relu", 1), ("rnn_tanh", 1), ("lstm", 4), ("gru", 3)):
        for layers, both in ((1, False), (2, True)):
            D = 2 if both else 1
            shapes = [(gates * H, C if layer == 0 else D * H) for layer in range(layers) for _ in range(D)]
            wx = [rng.standard_normal(sh).astype(np.float32) * 0.4 for sh in shapes]
            wh = [rng.standard_normal((gates * H, H)).astype(np.float32) * 0.4 for _ in shapes]
            bx, bh = ([rng.standard_normal(gates * H).astype(np.float32) * 0.3 for _ in shapes] for _ in range(2))
            h0, c0 = (rng.standard_normal((layers * D, N, H)).astype(np.float32) for _ in range(2))
            flat = np.concatenate([np.concatenate([a.ravel(), b.ravel()]) for a, b in zip(wx, wh)] +
                                  [np.concatenate([a, b]) for a, b in zip(bx, bh)])
            seq, hs, cs = x, [], []
            for layer in range(layers):
                outs = []
                for way in range(D):
                    i = layer * D + way
                    h, c, ys = h0[i], c0[i], [None] * T
                    for t in (range(T) if way == 0 else range(T - 1, -1, -1)):
                        a, b = seq[t] @ wx[i].T + bx[i], h @ wh[i].T + bh[i]
                        if mode == "lstm":
                            gi, gf, gc, go = np.split(a + b, 4, 1)
                            c = sigmoid(gf) * c + sigmoid(gi) * np.tanh(gc)
                            h = sigmoid(go) * np.tanh(c)
                        elif mode == "gru":
                            (ar, az, an), (br, bz, bn) = np.split(a, 3, 1), np.split(b, 3, 1)
                            z = sigmoid(az + bz)
                            h = (1 - z) * np.tanh(an + sigmoid(ar + br) * bn) + z * h
                        else:
                            h = np.maximum(a + b, 0) if mode == "rnn_relu" else np.tanh(a + b)
                        ys[t] = h
                    outs.append(np.stack(ys))
                    hs.append(h)
                    cs.append(c)
                seq = np.concatenate(outs, 2)
            tag = f"{mode}{layers}"
            ins = [d, s.var(tag + "_parameters", flat), s.var(tag + "_h")]
            ins += [s.var(tag + "_c")] if mode == "lstm" else []
            inputs += [h0] + ([c0] if mode == "lstm" else [])
            s.op("RNN", ins, [seq, np.stack(hs)] + ([np.stack(cs)] if mode == "lstm" else []), mode=mode, state_size=H,
                 num_layers=layers, bidirectional=both, state_outputs=True)
    run(arenac, s.files(), inputs, s.want)


def box_nms(x, overlap, valid, top, coord, score, ident, force, background=-1):
    y = np.full_like(x, -1)
    for n in range(len(x)):
        rows = [i for i in np.argsort(-x[n, :, score], kind="stable")
                if x[n, i, score] > valid and (ident < 0 or x[n, i, ident] != background)]
        left = []
        for i in rows[:top if top > 0 else None]:
            same = [j for j in left if force or ident < 0 or x[n, i, ident] == x[n, j, ident]]
            if not any(iou(x[n, i, coord:coord + 4], x[n, j, coord:coord + 4]) > overlap for j in same):
                left.append(i)
        y[n, :len(left)] = x[n, left]
    return y


def detection(prob, move, box, clip, threshold, overlap, force, top, var):
    y = np.full((prob.shape[0], prob.shape[2], 6), -1, np.float32)
    middle, size = (box[0, :, :2] + box[0, :, 2:]) / 2, box[0, :, 2:] - box[0, :, :2]
    for n in range(len(prob)):
        rows = []
        m = move[n].reshape(-1, 4)
        at, reach = m[:, :2] * var[:2] * size + middle, np.exp(m[:, 2:] * var[2:]) * size / 2
        corner = np.concatenate([at - reach, at + reach], 1)
        corner = np.clip(corner, 0, 1) if clip else corner
        for i in range(prob.shape[2]):
            c = prob[n, 1:, i].argmax()
            if prob[n, 1 + c, i] >= threshold:
                rows.append([c, prob[n, 1 + c, i], *corner[i]])
        rows = np.array(rows, np.float32).reshape(-1, 6)
        y[n, :len(rows)] = rows
        keep = min(top, len(rows)) if top > 0 else len(rows)
        y[n, keep:, 0] = -1
        y[n, :keep] = rows[np.argsort(-rows[:, 1], kind="stable")][:keep]
        for i in range(keep):
            for j in range(i + 1, keep):
                rivals = y[n, i, 0] >= 0 and y[n, j, 0] >= 0 and (force or y[n, i, 0] == y[n, j, 0])
                if rivals and iou(y[n, i, 2:], y[n, j, 2:]) >= overlap:
                    y[n, j, 0] = -1
    return y


def boxes():
    s = Symbol()
    img = np.zeros((1, 3, 3, 4), np.float32)
    prior = []
    for r in range(3):
        for c in range(4):
            for size, ratio in ((0.4, 1), (0.2, 1), (0.4, 2), (0.4, 0.5)):
                w, h = size * 3 / 4 * math.sqrt(ratio) / 2, size / math.sqrt(ratio) / 2
                cx, cy = (c + 0.5) / 4, (r + 0.5) / 3
                prior.append([cx - w, cy - h, cx + w, cy + h])
    prior = np.array([prior], np.float32)
    d = s.var("img")
    a = s.op("_contrib_MultiBoxPrior", [d], np.clip(prior, 0, 1), sizes="(0.4, 0.2)", ratios="(1, 2, 0.5)", clip=True)
    s.heads.pop(), s.want.popitem()
    s.op("_contrib_MultiBoxPrior", [d], prior, sizes="(0.4, 0.2)", ratios="(1, 2, 0.5)")
    clipped = np.clip(prior, 0, 1)
    n = clipped.shape[1]
    prob = rng.random((2, 4, n)).astype(np.float32)
    prob[1, :, 5] = prob[1, :, 4]
    prob /= prob.sum(1, keepdims=True)
    move = rng.standard_normal((2, n * 4)).astype(np.float32)
    p, m = s.var("prob"), s.var("move")
    var = np.array([0.1, 0.1, 0.2, 0.2], np.float32)
    s.op("_contrib_MultiBoxDetection", [p, m, a], detection(prob, move, clipped, True, 0.01, 0.5, False, -1, var))
    s.op("_contrib_MultiBoxDetection", [p, m, a],
         detection(prob, move, clipped, False, 0.35, 0.3, True, 10, var * 2), clip=False, threshold=0.35,
         nms_threshold=0.3, force_suppress=True, nms_topk=10, variances="(0.2, 0.2, 0.4, 0.4)")
    x = np.concatenate([rng.integers(0, 3, (2, 30, 1)), rng.random((2, 30, 1)), rng.random((2, 30, 2)) * 0.5,
                        rng.random((2, 30, 2)) * 0.5 + 0.5, rng.random((2, 30, 1))], 2).astype(np.float32)
    x[0, 3, 1] = x[0, 9, 1]
    b = s.var("boxes")
    s.op("_contrib_box_nms", [b], box_nms(x, 0.5, 0, -1, 2, 1, -1, False))
    s.op("_contrib_box_nms", [b], box_nms(x, 0.2, 0.3, 12, 2, 1, 0, False), overlap_thresh=0.2, valid_thresh=0.3,
         topk=12, id_index=0)
    s.op("_contrib_box_nms", [b], box_nms(x, 0.4, 0, -1, 2, 6, 0, True, 1), overlap_thresh=0.4, id_index=0,
         score_index=6, force_suppress=True, background_id=1)
    s.op("_contrib_box_nms", [b], x, topk=0)
    turned = box_nms(x, 0.5, 0, -1, 2, 1, -1, False)
    c = turned[..., 2:6].copy()
    turned[..., 2:4] = np.where(c[..., :1] < 0, c[..., :2], (c[..., :2] + c[..., 2:]) / 2)
    turned[..., 4:6] = np.where(c[..., :1] < 0, c[..., 2:], c[..., 2:] - c[..., :2])
    s.op("_contrib_box_nms", [b], turned, out_format="center")
    centre = x.copy()
    centre[..., 2:4], centre[..., 4:6] = (x[..., 2:4] + x[..., 4:6]) / 2, x[..., 4:6] - x[..., 2:4]
    e = s.var("centre")
    s.op("_contrib_box_nms", [e], box_nms(x, 0.5, 0, -1, 2, 1, -1, False), in_format="center")
    q, r = x[0, :7, 2:6].copy(), x[1, :6, 2:6].reshape(2, 3, 4).copy()
    q[3, 2:] = q[3, :2] - 0.1
    ref = np.array([[iou(u, v) if u[2] > u[0] else 0 for v in r.reshape(-1, 4)] for u in q]).reshape(7, 2, 3)
    s.op("_contrib_box_iou", [s.var("q"), s.var("r")], ref)
    run(arenac, s.files(), [img, prob, move, x, centre, q, r], s.want)


def heads():
    """Interleaved products by the definition in the operator's documentation."""
    s, h = Symbol(), 3
    f = lambda *d: rng.standard_normal(d).astype(np.float32)
    x, q, kv = f(5, 2, 3 * 3 * 4), f(6, 2, 3 * 4), f(5, 2, 3 * 2 * 4)

    def part(v, parts, which):
        v = v.reshape(*v.shape[:2], h, parts, -1)[:, :, :, which].transpose(1, 2, 0, 3)
        return v.reshape(-1, *v.shape[2:])

    def joined(v):
        v = v.reshape(-1, h, *v.shape[1:]).transpose(2, 0, 1, 3)
        return v.reshape(*v.shape[:2], -1)

    xe, qe, kve = s.var("x"), s.var("q"), s.var("kv")
    own, other = (part(a, b, 0) / 2 @ part(c, d, e).transpose(0, 2, 1) for a, b, c, d, e in ((x, 3, x, 3, 1),
                                                                                           (q, 1, kv, 2, 0)))
    a = s.op("_contrib_interleaved_matmul_selfatt_qk", [xe], own, heads=h)
    b = s.op("_contrib_interleaved_matmul_encdec_qk", [qe, kve], other, heads=h)
    s.op("_contrib_interleaved_matmul_selfatt_valatt", [xe, a], joined(own @ part(x, 3, 2)), heads=h)
    s.op("_contrib_interleaved_matmul_encdec_valatt", [kve, b], joined(other @ part(kv, 2, 1)), heads=h)
    s.op("_contrib_arange_like", [qe], np.arange(6) * 0.5 + 2, start=2, step=0.5, axis=0)
    s.op("_contrib_arange_like", [qe], np.arange(12) // 3, axis=-1, repeat=3)
    s.op("_contrib_arange_like", [qe], np.arange(144).reshape(6, 2, 12))
    s.op("_contrib_arange_like", [qe], np.arange(144).reshape(6, 2, 12), axis="None")
    s.op("_contrib_div_sqrt_dim", [qe], q / np.sqrt(np.float32(12)))
    run(arenac, s.files(), [x, q, kv], s.want)


small()
as_mxnet()
heads()
recurrent()
boxes()
finish()
