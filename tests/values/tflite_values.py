"""Values of TFLite operators that LiteRT's Python package does not have.   tflite_values.py ARENAC"""
import heapq
import pathlib
import struct
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
from compare import finish, run
from tflite_bytes import F32, I16, I32, I8, U8, i8, model, op, tensor

arenac = sys.argv[1]
rng = np.random.default_rng(5)
TYPE = {"float32": F32, "int32": I32, "int8": I8, "int16": I16}


def bits(texts):
    """Strings of 0 and 1 as bytes, from the highest bit on."""
    text = "".join(texts)
    return np.packbits([int(c) for c in text]).tobytes()


def about(kind, *own):
    """The 16 bytes that a description begins with."""
    return bytes([kind, 1, 0, 0, 1, *own]).ljust(16, b"\0")


def decoded(what, want, *parts, **quant):
    """Each of `parts` is (compressed bytes, description); all of them give `want`."""
    tensors, outs = [], {}
    for k, (data, description) in enumerate(parts):
        tensors += [tensor(f"c{k}", U8, [len(data)], data), tensor(f"a{k}", U8, [len(description)], description),
                    tensor(f"y{k}", TYPE[want.dtype.name], want.shape, **quant)]
        outs[f"y{k}"] = want
    ins = [i for k in range(len(parts)) for i in (3 * k, 3 * k + 1)]
    results = [3 * k + 2 for k in range(len(parts))]
    tensors += [tensor("x", F32, [2]), tensor("z", F32, [2])]
    ops = [op("TFLM_DECODE", ins, results), op("NEG", [len(tensors) - 2], [len(tensors) - 1])]
    x = np.float32([1, 2])
    run(arenac, {what + ".tflite": model(tensors, ops, [len(tensors) - 2], [*results, len(tensors) - 1])}, [x],
        {**outs, "z": -x})


def table(v, width, axis=None):
    """v by a table of its values, or one for each index of the axis."""
    rows = [v.ravel()] if axis is None else list(np.moveaxis(v, axis, 0).reshape(v.shape[axis], -1))
    values = [np.unique(r) for r in rows]
    stride = max(len(u) for u in values)
    at = np.stack([np.searchsorted(u, r) for u, r in zip(values, rows)])
    if axis is not None:
        shape = [v.shape[axis]] + [n for d, n in enumerate(v.shape) if d != axis]
        at = np.moveaxis(at.reshape(shape), 0, axis)
    data = b"".join(np.pad(u, (0, stride - len(u))).tobytes() for u in values)
    return bits(f"{k:0{width}b}" for k in at.ravel()), about(0, width, stride) + data


def tables():
    v = rng.choice(np.float32([-1.5, 0.25, 3, 7, 9]), (3, 5))
    decoded("table_f32", v, table(v, 3), table(v, 7))
    v = rng.integers(-9, 9, (4, 3, 5)).astype(np.int8)
    decoded("table_one_scale", v, table(v, 5), scale=0.5)
    for axis in (0, 2):
        decoded(f"table_axis_{axis}", v, table(v, 4, axis), scale=[0.5] * v.shape[axis], axis=axis)


def huffman(v, first, wide):
    """A code by frequency, in tables of 2^first entries and then as many as are left of a code."""
    heap = [(int((v == s).sum()), int(s), {int(s): ""}) for s in np.unique(v)]
    heapq.heapify(heap)
    while len(heap) > 1:
        (a, s, p), (b, t, q) = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (a + b, min(s, t), {**{k: "0" + c for k, c in p.items()},
                                                 **{k: "1" + c for k, c in q.items()}}))
    code = heap[0][2]
    shift, mask = (27, 0xffff) if wide else (11, 0xff)
    entries, todo = [], [("", first, None)]
    while todo:
        prefix, depth, referrer = todo.pop(0)
        start = len(entries)
        if referrer is not None:  # the place of a table counts from the entry that names it
            entries[referrer] |= start - referrer
        for k in range(1 << depth):
            text = f"{k:0{depth}b}"
            symbol = [(s, c) for s, c in code.items() if (prefix + text).startswith(c)]
            if symbol:
                s, c = symbol[0]
                entries.append(1 << (shift + 4) | (len(c) - len(prefix)) << shift | s & mask)
            else:
                longest = max(len(c) for c in code.values() if c.startswith(prefix + text)) - len(prefix) - depth
                entries.append((min(longest, 2) - 1) << shift)
                todo.append((prefix + text, min(longest, 2), len(entries) - 1))
    data = struct.pack(f"<{len(entries)}{'I' if wide else 'H'}", *entries)
    return bits(code[int(s)] for s in v.ravel()), about(1, (first - 1) << 4 | wide) + data


def huffmans():
    v = np.round(rng.standard_normal((7, 40)) * 4).astype(np.int8)
    decoded("huffman", v, huffman(v, 3, 0), huffman(v, 1, 0), huffman(v, 4, 1), scale=0.5)
    w = v.astype(np.int16) * 300
    decoded("huffman_i16", w, huffman(w, 3, 1), scale=0.5)


def pruned():
    for dtype, zero, scales, axis in (("float32", 0, None, 0), ("int8", -3, 1, 0), ("int8", 4, 4, 0), ("int8", 4, 6, 1),
                                      ("int16", 0, 1, 0)):
        v = rng.integers(5, 99, (4, 6)).astype(dtype)
        v[rng.random(v.shape) < 0.6] = zero
        there = v.ravel() != zero
        quant = {} if scales is None else {"scale": [0.5] * scales, "zero": zero, "axis": axis}
        values = about(2) + v.ravel()[there].tobytes()
        decoded(f"pruned_{dtype}_{scales}", v, (bits(str(int(t)) for t in there), values), **quant)


def unpool():
    """Places are those in the result of each image."""
    for padding, (w, h), (fw, fh), size in ((2, (3, 2), (2, 2), (4, 11)), (1, (2, 2), (3, 3), (4, 8))):
        x = rng.standard_normal((2, 2, 4, 3)).astype(np.float32)
        at = np.stack([rng.permutation(size[0] * size[1] * 3)[:24] for _ in x]).astype(np.int32)
        y = np.zeros((2, size[0] * size[1] * 3), np.float32)
        np.put_along_axis(y, at.astype(int), x.reshape(2, -1), 1)
        for name in ("LiteRtMaxUnpooling2D", "MaxUnpooling2D"):
            window = struct.pack("<10i", padding, w, h, fw, fh, 0, 0, 0, 0, 0)
            m = model([tensor("x", F32, x.shape), tensor("at", I32, x.shape), tensor("y", F32, [2, *size, 3])],
                      [op(name, [0, 1], [2], custom=window)], [0, 1], [2])
            run(arenac, {f"{name}_{padding}.tflite": m}, [x, at.reshape(x.shape)], {"y": y.reshape(2, *size, 3)})


def multiplied(v, scale, wide):
    """Integers times a scale as the reference kernels do it: by a multiplier of 32 bits, or of 16 (wide)."""
    m, e = np.frexp(scale)
    m = int(round(m * (1 << 31)))
    if wide:
        m = (m + (1 << 15)) >> 16 if m < 0x7fff0000 else 0x7fff
        return (v * m + (1 << (14 - e))) >> (15 - e)
    v = v * m
    v = np.sign(v) * ((np.abs(v) + (1 << 30) - (v < 0)) >> 31)
    rest, half = v & ((1 << -e) - 1), ((1 << -e) - 1) >> 1
    return (v >> -e) + (rest > half + (v < 0))


def columns():
    """Products whose second operand has a scale for each column."""
    for dtype, n, adj in (("int16", 5, 0), ("int16", 19, 1), ("int8", 19, 0), ("int8", 5, 1)):
        lim = 3000 if dtype == "int16" else 127
        x, w = rng.integers(-lim, lim, (2, 3, 9)).astype(dtype), rng.integers(-127, 128, (2, 9, n)).astype(np.int8)
        scale = [float(np.float32(s)) for s in rng.uniform(0.001, 0.1, n)]
        one, out = float(np.float32(0.01)), float(np.float32(0.2))
        sums = x.astype(np.int64) @ w.astype(np.int64)
        y = np.stack([multiplied(sums[..., c], one * scale[c] / out, dtype == "int16") for c in range(n)], -1)
        y = np.clip(y, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)
        w = np.ascontiguousarray(w.swapaxes(1, 2)) if adj else w
        kind = TYPE[dtype]
        m = model([tensor("x", kind, x.shape, scale=0.01), tensor("w", I8, w.shape, w.tobytes(), scale, axis=2 - adj),
                   tensor("y", kind, y.shape, scale=0.2)],
                  [op("BATCH_MATMUL", [0, 1], [2], 101, {0: i8(0), 1: i8(adj)})], [0], [2])
        run(arenac, {f"columns_{dtype}_{adj}.tflite": m}, [x], {"y": y})


for test in (tables, huffmans, pruned, unpool, columns):
    test()
finish()
