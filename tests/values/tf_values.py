"""Values of TensorFlow's rarer operators, arrays of tensors and loops of version 1.   tf_values.py ARENAC"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "models"))
import compare
import saved_model as saved
from compare import finish, run

arenac = str(pathlib.Path(sys.argv[1]).resolve())
rng = np.random.default_rng(11)
TYPE = {"float32": ("DT_FLOAT", "float_val"), "int32": ("DT_INT32", "int_val"), "bool": ("DT_BOOL", "bool_val"),
        "int64": ("DT_INT64", "int64_val")}


def attr(v):
    if isinstance(v, bool):
        return f"b: {str(v).lower()}"
    if isinstance(v, int):
        return f"i: {v}"
    if isinstance(v, float):
        return f"f: {v!r}"
    if isinstance(v, str):
        return f"type: {v}" if v.startswith("DT_") else f's: "{v}"'
    if isinstance(v, list) and isinstance(v[0], float):
        return "list { " + " ".join(f"f: {k!r}" for k in v) + " }"
    if isinstance(v, list):
        return "list { " + " ".join(f"i: {k}" for k in v) + " }"
    t, key = TYPE[v.dtype.name]
    values = " ".join(f"{key}: {str(e).lower() if v.dtype == bool else repr(e.item())}" for e in v.ravel())
    return f"tensor {{ dtype: {t} tensor_shape {{ {' '.join(f'dim {{ size: {d} }}' for d in v.shape)} }} {values} }}"


class Graph:
    def __init__(self, **inputs):
        self.inputs, self.text, self.want, self.n = list(inputs.values()), "", {}, 0
        for name, x in inputs.items():
            shape = " ".join(f"dim {{ size: {d} }}" for d in x.shape)
            self.text += (f'node {{ name: "{name}" op: "Placeholder" '
                          f'attr {{ key: "dtype" value {{ type: {TYPE[x.dtype.name][0]} }} }} '
                          f'attr {{ key: "shape" value {{ shape {{ {shape} }} }} }} }}\n')

    def const(self, v, dtype=None):
        real = np.asarray(v).dtype.kind == "f"
        return self.op("Const", "", value=np.asarray(v, dtype or (np.float32 if real else np.int32)))

    def op(self, kind, inputs, want=None, name=None, **attrs):
        """want: an array, or {output number: array}."""
        self.n += 1
        name = name or f"{kind}{self.n}"
        if kind == "Const":
            attrs["dtype"] = TYPE[attrs["value"].dtype.name][0]
        self.text += f'node {{ name: "{name}" op: "{kind}" ' + " ".join(f'input: "{i}"' for i in inputs.split())
        self.text += "".join(f' attr {{ key: "{k}" value {{ {attr(v)} }} }}' for k, v in attrs.items()) + " }\n"
        if want is not None:
            self.want.update({f"{name}:{k}": v for k, v in (want if isinstance(want, dict) else {0: want}).items()})
        return name

    def run(self):
        run(arenac, {"graph.pbtxt": self.text}, self.inputs, self.want, ["--outputs", ",".join(self.want)])


def fake_quant(x, lo, hi, bits, narrow):
    """To the grid of 2^bits steps whose zero is moved onto a step: all in f32 as TensorFlow does it, since a zero
    halfway between two steps goes where f32 rounds to."""
    f = np.float32
    lo, hi, least, most, half = f(lo), f(hi), f(narrow), f(2 ** bits - 1), f(0.5)
    scale = (hi - lo) / (most - least)
    zero = least - lo / scale
    zero = np.clip(np.floor(zero + half), least, most)
    nlo, nhi = (least - zero) * scale, (most - zero) * scale
    y = np.floor((np.clip(x, nlo, nhi) - nlo) / scale + half) * scale + nlo
    assert y.dtype == f
    return y


def resize(x, h, w, align=False, half=False):
    y = np.zeros((x.shape[0], h, w, x.shape[3]), np.float32)
    for i in range(h):
        for j in range(w):
            at = []
            for o, out, size in ((i, h, x.shape[1]), (j, w, x.shape[2])):
                s = (size - 1) / (out - 1) if align and out > 1 else size / out
                p = (o + 0.5) * s - 0.5 if half else o * s
                at.append((max(int(np.floor(p)), 0), min(int(np.ceil(p)), size - 1), float(p - np.floor(p))))
            (a, b, u), (c, d, v) = at
            y[:, i, j] = (1 - u) * ((1 - v) * x[:, a, c] + v * x[:, a, d]) + u * ((1 - v) * x[:, b, c] + v * x[:, b, d])
    return y


def depthwise(x, w, stride):
    """SAME."""
    n, h, wd, c = x.shape
    kh, kw, _, m = w.shape
    oh, ow = -(-h // stride), -(-wd // stride)
    ph, pw = max((oh - 1) * stride + kh - h, 0), max((ow - 1) * stride + kw - wd, 0)
    p = np.pad(x, ((0, 0), (ph // 2, ph - ph // 2), (pw // 2, pw - pw // 2), (0, 0)))
    y = np.zeros((n, oh, ow, c, m), np.float32)
    for i in range(oh):
        for j in range(ow):
            y[:, i, j] = (p[:, i * stride:i * stride + kh, j * stride:j * stride + kw, :, None] * w).sum((1, 2))
    return y.reshape(n, oh, ow, c * m)


def small():
    x, m = rng.standard_normal((2, 5, 6, 3)).astype(np.float32), rng.standard_normal((4, 7)).astype(np.float32)
    i = np.array([[1, 6], [0, 3], [2, 2], [5, 4]], np.int32)
    g = Graph(x=x, m=m, i=i)
    g.op("FakeQuantWithMinMaxArgs", "m", fake_quant(m, -1.25, 1.7, 8, False), min=-1.25, max=1.7)
    g.op("FakeQuantWithMinMaxArgs", "m", fake_quant(m, -1.25, 1.7, 4, True), min=-1.25, max=1.7, num_bits=4,
         narrow_range=True)
    g.op("FakeQuantWithMinMaxVars", f"m {g.const(0.0)} {g.const(1.5)}", fake_quant(m, 0, 1.5, 8, False))
    lo, hi = np.array([-1, -0.5, 0.0, -2, -1, -0.1, -3], np.float32), np.array([1, 0.25, 2, 0.0, 3, 0.4, 1], np.float32)
    g.op("FakeQuantWithMinMaxVarsPerChannel", f"m {g.const(lo)} {g.const(hi)}",
         np.stack([fake_quant(m[:, k], lo[k], hi[k], 8, False) for k in range(7)], 1))
    for align, half in ((False, False), (True, False), (False, True)):
        g.op("ResizeBilinear", f"x {g.const([9, 4])}", resize(x, 9, 4, align, half), align_corners=align,
             half_pixel_centers=half)
    g.op("ResizeNearestNeighbor", f"x {g.const([10, 3])}", x[:, np.arange(10) // 2][:, :, np.arange(3) * 2])
    pads = [[0, 0], [1, 2], [2, 1], [0, 0]]
    g.op("MirrorPad", f"x {g.const(pads)}", np.pad(x, pads, "reflect"), mode="REFLECT")
    g.op("MirrorPad", f"x {g.const(pads)}", np.pad(x, pads, "symmetric"), mode="SYMMETRIC")
    g.op("PadV2", f"m {g.const([[1, 0], [0, 2]])} {g.const(7.0)}", np.pad(m, [[1, 0], [0, 2]], constant_values=7))
    sq = np.pad(x * x, ((0, 0), (0, 0), (0, 0), (1, 1)))
    g.op("LRN", "x", x * (1.5 + 0.2 * sum(sq[..., k:k + 3] for k in range(3))) ** -0.6,
         depth_radius=1, bias=1.5, alpha=0.2, beta=0.6)
    for rising in ([0.25], [-1.0, -0.5, 0.0, 0.25, 2.0], [k / 8 for k in range(-20, 17)]):
        g.op("Bucketize", "m", np.digitize(m, np.float32(rising)), boundaries=rising)
    g.op("Bucketize", "i", np.digitize(i, [0, 2, 2, 5]), boundaries=[0.0, 2.0, 2.0, 5.0])
    odd = np.array([np.nan, np.inf, -np.inf], np.float32)
    g.op("Bucketize", g.op("Mul", f"{g.const(odd)} {g.const(1.0)}"), [2, 2, 0], boundaries=[0.0, 1.0])
    g.op("Cumsum", f"m {g.const(1)}", np.cumsum(m, 1) - m, exclusive=True)
    g.op("Cumsum", f"m {g.const(0)}", np.cumsum(m[::-1], 0)[::-1], reverse=True)
    g.op("GatherV2", f"m i {g.const(1)}", np.take_along_axis(m, i, 1), batch_dims=1)
    g.op("GatherNd", f"x {g.const([[0, 4], [1, 2]])}", np.stack([x[0, 4], x[1, 2]]))
    g.op("ScatterNd", f"{g.const([[1], [3], [1]])} {g.const([1.0, 2, 4])} {g.const([5])}",
         np.array([0, 5, 0, 2, 0], np.float32))
    g.op("OneHot", f"i {g.const(5)} {g.const(3.0)} {g.const(-1.0)}", np.where(i[..., None] == np.arange(5), 3, -1),
         axis=-1)
    order = np.argsort(-m, 1, kind="stable")[:, :3]
    g.op("TopKV2", f"m {g.const(3)}", {0: np.take_along_axis(m, order, 1), 1: order})
    g.op("StridedSlice", f"x {g.const([0, -1, 1])} {g.const([0, -6, 6])} {g.const([1, -2, 2])}", x[0, ::-2, 1:6:2],
         begin_mask=0, end_mask=2, shrink_axis_mask=1, ellipsis_mask=0, new_axis_mask=0)
    g.op("StridedSlice", f"x {g.const([0, 0, 1])} {g.const([0, 0, 2])} {g.const([1, 1, 1])}", x[..., None, 1],
         begin_mask=0, end_mask=0, ellipsis_mask=1, new_axis_mask=2, shrink_axis_mask=4)
    # where an axis goes away, its begin counts, masked or not
    g.op("StridedSlice", f"x {g.const([1, 2])} {g.const([0, 4])} {g.const([1, 1])}", x[1, 2:4],
         begin_mask=1, end_mask=0, shrink_axis_mask=1, ellipsis_mask=0, new_axis_mask=0)
    row = g.op("StridedSlice", f"x {g.const([0, 0])} {g.const([2, 1])} {g.const([1, 1])}", x[:, :1], begin_mask=0,
               end_mask=0, shrink_axis_mask=0, ellipsis_mask=0, new_axis_mask=0)
    g.op("ResizeArea", f"{row} {g.const([3, x.shape[2]])}", x[:, :1].repeat(3, 1), align_corners=True)
    w = rng.standard_normal((3, 2, 3, 2)).astype(np.float32)
    g.op("DepthwiseConv2dNative", f"x {g.const(w)}", depthwise(x, w, 2), strides=[1, 2, 2, 1], padding="SAME")
    t = rng.standard_normal((3, 3, 4, 3)).astype(np.float32)
    full = np.zeros((2, 11, 13, 4), np.float32)
    for a in range(5):
        for b in range(6):
            full[:, 2 * a:2 * a + 3, 2 * b:2 * b + 3] += np.einsum("nc,hwoc->nhwo", x[:, a, b], t)
    g.op("Conv2DBackpropInput", f"{g.const([2, 11, 13, 4])} {g.const(t)} x", full, strides=[1, 2, 2, 1],
         padding="VALID")
    s, b, mean, var = (rng.random(3).astype(np.float32) + 0.5 for _ in range(4))
    g.op("FusedBatchNormV3", f"x {g.const(s)} {g.const(b)} {g.const(mean)} {g.const(var)}",
         {0: (x - mean) / np.sqrt(var + 1e-3) * s + b}, epsilon=1e-3, is_training=False)
    g.op("BatchMatMulV2", "x x", x.transpose(0, 1, 3, 2) @ x, adj_x=True)
    g.op("Einsum", "m m", np.einsum("ab,cb->ac", m, m), equation="ab,cb->ac")
    g.op("Einsum", "m m m", np.einsum("ab,cb,cd->ad", m, m, m), equation="ab,cb,cd->ad")
    g.op("Einsum", "m m", np.einsum("...b,cd->c...", m, m), equation="...b,cd->c...")
    g.op("ReverseV2", f"x {g.const([1, 3])}", x[:, ::-1, :, ::-1])
    y = np.pad(x, ((0, 0), (1, 0), (0, 0), (0, 0))).reshape(2, 3, 2, 3, 2, 3)
    y = y.transpose(2, 4, 0, 1, 3, 5).reshape(8, 3, 3, 3)
    g.op("SpaceToBatchND", f"x {g.const([2, 2])} {g.const([[1, 0], [0, 0]])}", y)
    g.op("Selu", "m", 1.0507009873554805 * np.where(m > 0, m, 1.6732632423543772 * np.expm1(m)))
    g.op("LeakyRelu", "m", np.where(m > 0, m, 0.3 * m), alpha=0.3)
    g.op("Softplus", "m", np.log1p(np.exp(m)))
    g.op("Softsign", "m", m / (1 + np.abs(m)))
    g.op("ClipByValue", f"m {g.const(-0.5)} {g.const(0.75)}", np.clip(m, -0.5, 0.75))
    g.op("AddN", "m m m", 3 * m)
    g.op("L2Loss", "m", (m * m).sum() / np.float32(2))
    g.run()


def lists():
    x = rng.standard_normal((3, 4)).astype(np.float32)
    g = Graph(x=x)
    shape = g.const([4])
    kept = g.op("TensorListFromTensor", f"x {shape}", element_dtype="DT_FLOAT", shape_type="DT_INT32")
    g.op("TensorListGetItem", f"{kept} {g.const(2)} {shape}", x[2], element_dtype="DT_FLOAT")
    first = g.op("TensorListGetItem", f"{kept} {g.const(0)} {shape}", element_dtype="DT_FLOAT")
    fresh = g.op("TensorListReserve", f"{shape} {g.const(2)}", element_dtype="DT_FLOAT", shape_type="DT_INT32")
    fresh = g.op("TensorListSetItem", f"{fresh} {g.const(1)} {first}", element_dtype="DT_FLOAT")
    g.op("TensorListStack", f"{fresh} {shape}", np.stack([0 * x[0], x[0]]), element_dtype="DT_FLOAT", num_elements=2)
    empty = g.op("EmptyTensorList", f"{shape} {g.const(-1)}", element_dtype="DT_FLOAT", shape_type="DT_INT32")
    for _ in range(2):
        empty = g.op("TensorListPushBack", f"{empty} {first}", element_dtype="DT_FLOAT")
    g.op("TensorListStack", f"{empty} {shape}", np.stack([x[0], x[0]]), element_dtype="DT_FLOAT", num_elements=-1)
    g.run()


def loop():
    """i < 3: s = s * 2 + x[i], stored in an array; and a branch whose predicate is known."""
    x, s0 = rng.standard_normal((3, 4)).astype(np.float32), rng.standard_normal(4).astype(np.float32)
    g = Graph(x=x, s0=s0)
    g.op("Const", "", name="zero", value=np.int32(0).reshape(()))
    array = g.op("TensorArrayV3", g.const(3), dtype="DT_FLOAT", name="array")
    items = g.op("TensorArrayV3", g.const(3), dtype="DT_FLOAT", name="items")
    flow = g.op("TensorArrayScatterV3", f"{items} {g.const([0, 1, 2])} x {items}:1", T="DT_FLOAT")

    def enter(v, name, constant=False):
        return g.op("Enter", v, name=name, frame_name="f", is_constant=constant, T="DT_FLOAT")

    e = [enter("zero", "ei"), enter("s0", "es"), enter(f"{array}:1", "ef")]
    arr, its, got = enter(array, "ea", True), enter(items, "eit", True), enter(flow, "efl", True)
    m = [g.op("Merge", f"{v} next{k}", name=f"merge{k}", N=2) for k, v in enumerate(e)]
    limit = g.op("Const", f"^{m[0]}", name="limit", value=np.int32(3).reshape(()))
    less = g.op("Less", f"{m[0]} {limit}")
    cond = g.op("LoopCond", less)
    s = [g.op("Switch", f"{v} {cond}", name=f"switch{k}") for k, v in enumerate(m)]
    one = g.op("Const", f"^{s[0]}:1".replace(":1", ""), name="one", value=np.int32(1).reshape(()))
    i1 = g.op("AddV2", f"{s[0]}:1 {one}")
    item = g.op("TensorArrayReadV3", f"{its} {s[0]}:1 {got}", dtype="DT_FLOAT")
    twice = g.op("AddV2", f"{s[1]}:1 {s[1]}:1")
    total = g.op("AddV2", f"{twice} {item}")
    wrote = g.op("TensorArrayWriteV3", f"{arr} {s[0]}:1 {total} {s[2]}:1", T="DT_FLOAT")
    for k, v in enumerate((i1, total, wrote)):
        g.op("NextIteration", v, name=f"next{k}")
    run_s, want = s0, []
    for k in range(3):
        run_s = 2 * run_s + x[k]
        want.append(run_s)
    g.op("Exit", f"{s[1]}", run_s)
    out = g.op("Exit", f"{s[2]}")
    g.op("TensorArrayGatherV3", f"{array} {g.const([2, 0, 1])} {out}", np.stack([want[2], want[0], want[1]]),
         dtype="DT_FLOAT")
    pred = g.const(True, np.bool_)
    b = g.op("Switch", f"s0 {pred}", name="branch")
    yes, no = g.op("Neg", f"{b}:1"), g.op("Exp", f"{b}:0")
    g.op("Merge", f"{no} {yes}", {0: -s0}, N=2)
    g.run()


DRIVER = """
#include "m.h"
#include <stdio.h>
static _Alignas(64) unsigned char arena[M_ARENA_BYTES], state[M_STATE_BYTES];
int main(void)
{
    m_mem m = {.arena = arena, .state = state};
    if (m_init(&m))
        return 1;
    for (int run = 0; run < 4; run++) {
        if (run == 3)
            m_reset(&m);
        for (int i = 0; i < 4; i++)
            m_in1(&m)[i] = 0.25f * (float)(i + 1);
        m_in0(&m)[0] = 2;
        m_in0(&m)[1] = 5;
        if (m_run(&m))
            return 2;
        for (int i = 0; i < 3; i++)
            printf("%.9g ", (double)m_out0(&m)[i]);
    }
    return 0;
}
"""


def state():
    """A variable that the model reads, changes and reads again: it lasts from run to run, until the reset."""
    FT = (6, "type", saved.FLOAT)
    body = [saved.const("one", saved.FLOAT, (3,), np.float32([1, 2, 3]).tobytes()),
            saved.node("count", "AssignAddVariableOp", "b", "one:output:0", "^read_b", dtype=FT),
            saved.node("again", "ReadVariableOp", "b", "^count", dtype=FT),
            saved.node("half", "Mul", "again:value:0", "again:value:0"),
            saved.node("set", "AssignVariableOp", "b", "half:z:0", "^again", dtype=FT),
            saved.node("out", "AddV2", "sum:z:0", "again:value:0")]
    value = {k: np.frombuffer(v[2], np.float32).reshape(v[1]) for k, v in saved.saved_values().items()
             if v[0] == saved.FLOAT}
    x, b, want = np.float32([0.25, 0.5, 0.75, 1]), value["dense/bias"], []
    for k in range(3):
        y = np.tanh(x @ value["dense/kernel"] + b) + value["table"][[2, 5]].sum(0)
        b = b + np.float32([1, 2, 3])
        want.append(y + b)
        b = b * b
    with tempfile.TemporaryDirectory() as t:
        saved.saved_model(t + "/m", graph=saved.saved_graph(body, ["count", "set"]))
        (pathlib.Path(t) / "main.c").write_text(DRIVER)
        subprocess.run([arenac, "compile", "-q", "m", "-o", "m.c"], cwd=t, check=True)
        subprocess.run(["cc", "-std=c11", "-o", "main", "main.c", "m.c", "-lm"], cwd=t, check=True)
        got = np.array(subprocess.check_output([t + "/main"], text=True).split(), float).reshape(4, 3)
    if not np.allclose(got, want + want[:1], rtol=1e-5):
        print("state:\n got ", got, "\n want", np.array(want))
        compare.bad = 1
    print("saved_model: 4 runs compared")


small()
lists()
loop()
state()
finish()
