"""Operators of TensorFlow, a graph of each family, through TensorFlow and through arenac; compares.

    beside_tf.py ARENAC DIR BACKEND SEEDS [FAMILY]
    beside_tf.py --write DIR                      writes ops-FAMILY.pbtxt for tests/golden/tf

Integers must be equal, floats close. A family that differs is run again operator by operator to find the faulty one.
"""
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from google.protobuf import text_format  # noqa: E402
from tensorflow.python.framework import op_def_library, op_def_registry  # noqa: E402


class In:
    """An operand that is an input of the model."""

    def __init__(self, v):
        self.v = np.asarray(v)


class Result:
    """An operand that result i of case k is."""

    def __init__(self, k, i=0):
        self.k, self.i = k, i


class Family:
    def __init__(self, name, rng):
        self.name, self.rng, self.cases = name, rng, []

    def floats(self, *dims, low=-2.0, high=2.0):
        return In(self.rng.uniform(low, high, dims).astype(np.float32))

    def near_unit(self, *dims):
        """Matrices that have inverses: rows of a unit matrix in another order, and some noise."""
        noise = self.rng.uniform(-0.1, 0.1, dims)
        return In((noise + np.eye(dims[-1])[self.rng.permutation(dims[-1])]).astype(np.float32))

    def ints(self, *dims, low=-7, high=8, dtype=np.int32):
        return In(self.rng.integers(low, high, dims).astype(dtype))

    def flags(self, *dims):
        return In(self.rng.random(dims) > 0.5)

    def op(self, name, *operands, only=None, **attributes):
        """operands: In, Result, constants, or lists of them; only: how many results are compared. Its number."""
        self.cases.append((name, operands, only, attributes))
        return len(self.cases) - 1


def maps(f):
    for name in "Abs Ceil Cos Elu Erf Exp Neg Relu Relu6 Rint Round Sigmoid Sign Sin Square Tanh Atan Floor " \
                "ZerosLike OnesLike Selu Softplus Softsign Erfc Expm1 Tan Sinh Cosh Asinh IsNan IsInf IsFinite " \
                "L2Loss Identity StopGradient PreventGradient Snapshot LeakyRelu".split():
        f.op(name, f.floats(2, 3))
    for name in "Log Rsqrt Sqrt Reciprocal Inv Log1p".split():
        f.op(name, f.floats(2, 3, low=0.1))
    for name in "Asin Acos Atanh".split():
        f.op(name, f.floats(2, 3, low=-0.9, high=0.9))
    f.op("Acosh", f.floats(2, 3, low=1.1, high=4))
    for name in "Abs Neg Sign Square Invert Relu".split():
        f.op(name, f.ints(2, 3))
    f.op("LogicalNot", f.flags(4))
    f.op("CheckNumerics", f.floats(3), message="x")
    f.op("CheckNumericsV2", f.floats(3), message="x")
    f.op("IdentityN", [f.floats(3), f.ints(2)])
    f.op("Cast", f.floats(4), DstT=tf.int32)
    f.op("Cast", f.ints(4), DstT=tf.float32)
    f.op("ClipByValue", f.floats(5), np.float32(-1), np.float32(0.5))
    f.op("PlaceholderWithDefault", np.float32([1, 2]), shape=[2])


def pairs(f):
    for name in "Add AddV2 Sub Mul Greater GreaterEqual Maximum Minimum SquaredDifference Equal NotEqual Less " \
                "LessEqual Atan2 DivNoNan MulNoNan Xdivy Xlogy Xlog1py".split():
        low = 0.1 if name[:2] == "Xl" else -2.0
        f.op(name, f.floats(2, 3, low=low), f.floats(1, 3, low=low))
    for name in "Div RealDiv FloorDiv FloorMod Pow Mod TruncateMod".split():
        f.op(name, f.floats(2, 3, low=0.5), f.floats(3, low=0.5))
    for name in "Add AddV2 Sub Mul Greater GreaterEqual Maximum Minimum SquaredDifference Equal NotEqual Less " \
                "LessEqual BitwiseAnd BitwiseOr BitwiseXor".split():
        f.op(name, f.ints(2, 3), f.ints(2, 1))
    for name in "FloorDiv FloorMod TruncateDiv TruncateMod Div".split():
        f.op(name, f.ints(2, 3), f.ints(3, low=1))
    for name in "LeftShift RightShift".split():
        f.op(name, f.ints(2, 3), f.ints(3, low=0))
    for name in "LogicalAnd LogicalOr".split():
        f.op(name, f.flags(2, 3), f.flags(3))
    f.op("ApproximateEqual", f.floats(4, low=0, high=1), f.floats(4, low=0, high=1), tolerance=0.3)
    f.op("AddN", [f.floats(3), f.floats(3), f.floats(3)])
    f.op("AccumulateNV2", [f.floats(3), f.floats(3)], shape=[3])
    f.op("Select", f.flags(3), f.floats(3, 2), f.floats(3, 2))
    f.op("SelectV2", f.flags(3, 1), f.floats(1, 2), f.floats(3, 2))
    f.op("BiasAdd", f.floats(1, 2, 2, 3), f.floats(3))
    f.op("BiasAdd", f.floats(1, 3, 2, 2), f.floats(3), data_format="NCHW")
    f.op("BiasAddV1", f.floats(2, 3), f.floats(3))


def moves(f):
    f.op("Fill", [2, 3], np.float32(1.5))
    f.op("Range", 2, 11, 3)
    f.op("LinSpace", np.float32(0), np.float32(2), 5)
    x = f.floats(2, 3, 4)
    for name in "Shape Size Rank".split():
        f.op(name, x)
    f.op("ShapeN", [x, f.floats(5)])
    f.op("BroadcastArgs", [3, 1], [4])
    f.op("InvertPermutation", [2, 0, 1])
    f.op("ConcatOffset", 1, [[2, 3], [2, 4]])
    f.op("Reshape", x, [4, -1])
    f.op("Squeeze", f.floats(1, 3, 1), squeeze_dims=[2])
    f.op("ExpandDims", x, 1)
    f.op("EnsureShape", x, shape=[2, 3, 4])
    f.op("Bitcast", x, type=tf.float32)
    f.op("Transpose", x, [2, 0, 1])
    f.op("Concat", 1, [f.floats(2, 1), f.floats(2, 3)])
    f.op("ConcatV2", [f.floats(2, 1), f.floats(2, 3)], -1)
    f.op("Pack", [f.floats(3), f.floats(3)], axis=1)
    f.op("Unpack", x, num=3, axis=1)
    f.op("Split", 2, x, num_split=2)
    f.op("SplitV", x, [1, 3], 2, num_split=2)
    f.op("Slice", x, [0, 1, 0], [2, 2, -1])
    f.op("StridedSlice", x, [0, 2], [2, 0], [1, -1], end_mask=2)
    f.op("Tile", f.floats(2, 2), [1, 3])
    f.op("BroadcastTo", f.floats(1, 3), [2, 2, 3])
    f.op("Pad", f.floats(2, 2), [[1, 0], [0, 2]])
    f.op("PadV2", f.floats(2, 2), [[1, 0], [0, 2]], np.float32(-1))
    f.op("MirrorPad", f.floats(3, 3), [[1, 0], [2, 2]], mode="REFLECT")
    f.op("MirrorPad", f.floats(3, 3), [[1, 0], [2, 3]], mode="SYMMETRIC")
    f.op("Reverse", x, np.array([True, False, True]))
    f.op("ReverseV2", x, [1])
    f.op("Roll", x, [1, -1], [0, 2])
    f.op("MatrixBandPart", f.floats(4, 4), np.int64(1), np.int64(0))
    f.op("SpaceToDepth", f.floats(1, 4, 4, 2), block_size=2)
    f.op("DepthToSpace", f.floats(1, 2, 2, 8), block_size=2)
    f.op("SpaceToBatch", f.floats(1, 4, 4, 1), [[0, 0], [0, 0]], block_size=2)
    f.op("SpaceToBatchND", f.floats(1, 4, 3, 1), [2, 2], [[0, 0], [1, 0]])
    f.op("BatchToSpace", f.floats(4, 2, 2, 1), [[0, 0], [1, 0]], block_size=2)
    f.op("BatchToSpaceND", f.floats(4, 2, 2, 1), [2, 2], [[0, 1], [0, 0]])


def indices(f):
    x = f.floats(4, 3)
    f.op("Gather", x, f.ints(5, low=0, high=4))
    f.op("GatherV2", x, f.ints(2, 2, low=0, high=3), 1)
    f.op("GatherNd", x, f.ints(2, 2, low=0, high=3))
    f.op("OneHot", f.ints(4, low=-1, high=5), 4, np.float32(2), np.float32(-1))
    f.op("ArgMax", x, 1)
    f.op("ArgMin", x, 0, output_type=tf.int32)
    f.op("TopKV2", x, 2)
    f.op("ScatterNd", f.ints(3, 1, low=0, high=5), f.floats(3, 2), [5, 2])
    at = [[0], [2]]
    for name in "TensorScatterUpdate TensorScatterAdd TensorScatterSub".split():
        f.op(name, x, at, f.floats(2, 3))
    for name in "UnsortedSegmentSum UnsortedSegmentProd UnsortedSegmentMax UnsortedSegmentMin".split():
        f.op(name, x, [2, 0, 2, 1], 3)
    f.op("SegmentSum", x, [0, 0, 1, 2])
    f.op("ReverseSequence", x, f.ints(3, low=1, high=5), seq_dim=0, batch_dim=1)
    corner = f.rng.uniform(0, 4, (6, 2))
    box = In(np.concatenate([corner, corner + f.rng.uniform(1, 3, (6, 2))], 1).astype(np.float32))
    score = In(f.rng.permutation(6).astype(np.float32) / 8)
    half, low, none = np.float32(0.4), np.float32(0.1), np.float32(0)
    f.op("NonMaxSuppression", box, score, 4, iou_threshold=0.5)
    f.op("NonMaxSuppressionV2", box, score, 4, half)
    f.op("NonMaxSuppressionV3", box, score, 4, half, low)
    f.op("NonMaxSuppressionV4", box, score, 4, half, low, pad_to_max_output_size=True)
    f.op("NonMaxSuppressionV5", box, score, 4, half, low, none)
    f.op("Where", f.flags(3, 2))
    f.op("Unique", f.ints(9, low=0, high=4))
    f.op("UniqueV2", f.ints(9, low=0, high=4), np.int64([0]))
    f.op("UniqueWithCounts", f.ints(9, low=0, high=4))
    f.op("UniqueWithCountsV2", f.ints(9, low=0, high=4), np.int64([0]))


def windows(f):
    x, v = f.floats(1, 5, 6, 2), f.floats(1, 3, 4, 4, 2)
    w, w3 = f.floats(3, 2, 2, 3).v, f.floats(2, 2, 2, 2, 3).v
    one, two = [1, 1, 1, 1], [1, 2, 2, 1]
    f.op("Conv2D", x, w, strides=two, padding="SAME")
    f.op("Conv2D", x, w, strides=one, padding="EXPLICIT", explicit_paddings=[0, 0, 1, 0, 0, 2, 0, 0],
         dilations=[1, 1, 2, 1])
    f.op("DepthwiseConv2dNative", x, w, strides=one, padding="VALID")
    f.op("Conv2DBackpropInput", [1, 5, 6, 2], w, f.floats(1, 3, 3, 3), strides=two, padding="SAME")
    f.op("Conv3D", v, w3, strides=[1, 1, 2, 1, 1], padding="SAME")
    for name in "MaxPool AvgPool".split():
        f.op(name, x, ksize=[1, 3, 2, 1], strides=two, padding="SAME")
    for name in "MaxPool3D AvgPool3D".split():
        f.op(name, v, ksize=[1, 2, 2, 2, 1], strides=[1, 1, 2, 1, 1], padding="VALID")
    f.op("MaxPoolV2", x, [1, 2, 2, 1], two, padding="VALID")
    f.op("MaxPoolWithArgmax", x, ksize=two, strides=two, padding="VALID", only=1)
    f.op("ExtractImagePatches", x, ksizes=two, strides=two, rates=one, padding="VALID")
    for name in "ResizeBilinear ResizeNearestNeighbor ResizeBicubic".split():
        f.op(name, x, [7, 4], half_pixel_centers=True)
        f.op(name, x, [9, 11], align_corners=True)
    f.op("ResizeArea", f.floats(1, 4, 6, 2), [2, 3])
    f.op("LRN", x, depth_radius=1, bias=1.5, alpha=0.5, beta=0.75)
    scale, offset, mean, var = (f.floats(2, low=0.5).v for _ in range(4))
    for name in "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3".split():
        f.op(name, x, scale, offset, mean, var, is_training=False, only=1)


def products(f):
    f.op("MatMul", f.floats(2, 3), f.floats(3, 4))
    f.op("MatMul", f.floats(3, 2), f.floats(4, 3).v, transpose_a=True, transpose_b=True)
    for name in "BatchMatMul BatchMatMulV2".split():
        f.op(name, f.floats(2, 2, 3), f.floats(2, 4, 3), adj_y=True)
    f.op("BatchMatMulV3", f.floats(2, 2, 3), f.floats(2, 3, 4), Tout=tf.float32)
    f.op("Einsum", [f.floats(2, 3, 4), f.floats(4, 5)], equation="abc,cd->abd")
    f.op("MatrixDeterminant", f.floats(2, 3, 3))
    f.op("MatrixInverse", f.near_unit(2, 4, 4))
    f.op("MatrixInverse", f.near_unit(3, 3), adjoint=True)
    for name in "Sum Mean Max Min Prod EuclideanNorm".split():
        f.op(name, f.floats(2, 3, 4), [0, 2])
        f.op(name, f.floats(2, 3), [-1], keep_dims=True)
    for name in "All Any".split():
        f.op(name, f.flags(3, 4), [1])
    f.op("Cumsum", f.floats(3, 4), 1, exclusive=True)
    f.op("Bucketize", f.floats(3, 4), boundaries=[-1.0, -0.25, 0.0, 0.5, 0.5, 2.0])
    f.op("Cumprod", f.floats(3, 4), 0, reverse=True)
    for name in "Softmax LogSoftmax".split():
        f.op(name, f.floats(3, 4))
    f.op("FakeQuantWithMinMaxArgs", f.floats(6), min=-1, max=2)
    f.op("FakeQuantWithMinMaxVars", f.floats(6), np.float32(-1), np.float32(2), num_bits=4)
    f.op("FakeQuantWithMinMaxVarsPerChannel", f.floats(3, 2), np.float32([-1, -2]), np.float32([1, 0.5]))


def lists(f):
    real, x = {"element_dtype": tf.float32}, f.floats(4, 3)
    made = Result(f.op("TensorListReserve", [3], 4, only=0, **real))
    for i in range(4):
        made = Result(f.op("TensorListSetItem", made, i, f.floats(3), only=0))
    f.op("TensorListGetItem", made, 1, [3], **real)
    f.op("TensorListStack", made, [3], num_elements=4, **real)
    made = Result(f.op("TensorListFromTensor", x, [3], only=0))
    f.op("TensorListLength", made)
    f.op("TensorListElementShape", made, shape_type=tf.int32)
    f.op("TensorListGather", made, [2, 0, 2], [3], **real)
    last = f.op("TensorListPopBack", made, [3], only=0, **real)
    f.op("Identity", Result(last, 1))
    f.op("TensorListLength", Result(f.op("TensorListResize", made, 6, only=0)))
    grown = Result(f.op("EmptyTensorList", [3], -1, only=0, **real))
    for _ in range(2):
        grown = Result(f.op("TensorListPushBack", grown, f.floats(3), only=0))
    f.op("TensorListStack", grown, [3], **real)
    rows = Result(f.op("TensorListFromTensor", f.floats(3, 2, 2), [2, 2], only=0))
    f.op("TensorListConcat", rows, element_shape=tf.TensorShape([2, 2]), **real)
    f.op("TensorListConcatV2", rows, [-1, 2], np.int64([]), **real)
    placed = Result(f.op("TensorListScatter", x, [1, 0, 3, 2], [3], only=0))
    f.op("TensorListStack", placed, [3], **real)
    placed = Result(f.op("TensorListScatterV2", x, [1, 0, 3, 2], [3], 4, only=0))
    f.op("TensorListStack", placed, [3], **real)

    k = f.op("TensorArrayV3", 3, dtype=tf.float32, clear_after_read=False, only=0)
    array, flow = Result(k), Result(k, 1)
    flow = Result(f.op("TensorArrayScatterV3", array, [0, 2], f.floats(2, 2), flow, only=0))
    flow = Result(f.op("TensorArrayWriteV3", array, 1, f.floats(2), flow, only=0))
    f.op("TensorArrayReadV3", array, 2, flow, dtype=tf.float32)
    f.op("TensorArrayGatherV3", array, [1, 0], flow, dtype=tf.float32)
    f.op("TensorArrayConcatV3", array, flow, dtype=tf.float32)
    f.op("TensorArraySizeV3", array, flow)


FAMILIES = {f.__name__: f for f in (maps, pairs, moves, indices, windows, products, lists)}


def defaults(name):
    """Attributes of the definition that do not follow from operands."""
    found, op_def = {}, op_def_registry.get(name)
    said = {a.type_attr for a in op_def.input_arg} | {a.number_attr for a in op_def.input_arg}
    for a in op_def.attr:
        kind = a.default_value.WhichOneof("value")
        if kind and a.name not in said:
            v = getattr(a.default_value, kind)
            found[a.name] = [x for _, items in v.ListFields() for x in items] if kind == "list" else v
    return found


def graph_of(cases):
    """The graph, {input: value} and names of outputs; the results of each case in TensorFlow."""
    feeds, results, names, made_of = {}, [], [], []
    with tf.Graph().as_default() as g, tf.compat.v1.Session() as session:

        def operand(v):
            if isinstance(v, Result):
                return made_of[v.k][v.i]
            if isinstance(v, list) and any(isinstance(e, (In, list, np.ndarray)) for e in v):
                return [operand(e) for e in v]
            if not isinstance(v, In):
                return tf.constant(v)
            name = "in%d" % len(feeds)
            feeds[name] = v.v
            return tf.compat.v1.placeholder(v.v.dtype, v.v.shape, name=name)

        for k, (name, operands, only, attributes) in enumerate(cases):
            args = [a.name for a in op_def_registry.get(name).input_arg]
            number_of = [bool(a.number_attr or a.type_list_attr) for a in op_def_registry.get(name).input_arg]
            values = {}
            for arg, many, v in zip(args, number_of, operands):
                values[arg] = [operand(e) for e in v] if many else tf.constant(v) if isinstance(v, list) else operand(v)
            made = op_def_library.apply_op(name, **values, **{**defaults(name), **attributes})
            made = list(made) if isinstance(made, (list, tuple)) else [made]
            made_of.append(made)
            for i, t in enumerate(made[:only]):
                names.append("%s_%d_%d" % (name, k, i))
                results.append(tf.identity(t, name=names[-1]))
        want = session.run(results, {n + ":0": v for n, v in feeds.items()})
        return g.as_graph_def(), feeds, names, want


def differs(arenac, out, backend, cases):
    """The failure of these cases together; None: none."""
    graph, feeds, names, want = graph_of(cases)
    (out / "m.pb").write_bytes(graph.SerializeToString())
    args = []
    for n, v in feeds.items():
        np.save(out / (n + ".npy"), v)
        args += ["--input", "%s=%s" % (n, out / (n + ".npy"))]
    (out / "o").mkdir(exist_ok=True)
    for f in (out / "o").glob("*.npy"):
        f.unlink()
    words = ["run", "-q", out / "m.pb", "--outputs", ",".join(names), *args, "--output-dir", out / "o"]
    p = subprocess.run([arenac, *words, "--backend", backend], capture_output=True, text=True)
    if p.returncode:
        return p.stderr.strip() or "exit %d" % p.returncode
    for i, (name, w) in enumerate(zip(names, want)):
        g = np.load(out / "o" / ("%d.npy" % i))
        same = g.shape == w.shape and (np.allclose(g, w, 1e-4, 1e-5, equal_nan=True) if w.dtype.kind == "f" else
                                       np.array_equal(g, w))
        if not same:
            return "%s: %s %s, expected %s %s" % (name, g.shape, g.ravel()[:6], w.shape, w.ravel()[:6])
    return None


def write(folder):
    for name, fill in FAMILIES.items():
        f = Family(name, np.random.default_rng(0))
        fill(f)
        graph, _, names, _ = graph_of(f.cases)
        text = "# operators of the family `%s` (tests/cli/formats/beside_tf.py --write)\n" % name
        text += "# arenac: check --dump-after infer --outputs %s\n" % ",".join(names)
        (pathlib.Path(folder) / ("ops-%s.pbtxt" % name)).write_text(text + text_format.MessageToString(graph))


def main(arenac, out, backend, seeds, only=None):
    good, bad, out = 0, [], pathlib.Path(out)
    for seed in range(int(seeds)):
        for name, fill in FAMILIES.items():
            f = Family(name, np.random.default_rng(seed))
            fill(f)
            if only not in (None, name):
                continue
            if not differs(arenac, out, backend, f.cases):
                good += len(f.cases)
                continue
            for case in f.cases if not any(isinstance(v, Result) for c in f.cases for v in c[1]) else [None]:
                why = differs(arenac, out, backend, [case] if case else f.cases)
                bad += ["seed %d: %s: %s" % (seed, case[0] if case else name, why)] if why else []
                good += not why
    print("\n".join(bad))
    print("%d operators agree, %d do not" % (good, len(bad)))
    return bool(bad or not good)


if __name__ == "__main__":
    sys.exit(write(sys.argv[2]) if sys.argv[1] == "--write" else main(*sys.argv[1:]))
