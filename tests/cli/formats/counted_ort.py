"""Operators with results of data-dependent size, in random ONNX models, alone and with others after them, compared with
ONNX Runtime. arenac's results are longer; the header names the output with the valid length.

    counted_ort.py ARENAC DIR BACKEND SEEDS
"""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import counted_loops  # noqa: E402
import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

arenac, out, backend, seeds = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
path, bad, good = out / "m.onnx", [], 0


MS = "com.microsoft"


def node(op, ins, outs, **attrs):
    return helper.make_node(op, ins.split(" ") if ins else [], outs.split(), **attrs)


def case(name, nodes, given, results, bounds=None, **constants):
    """results: names of outputs; given: {name: array}; bounds: {result: most}; every other name is a constant."""
    global good
    bound = [w for k, v in (bounds or {}).items() for w in ("--bound", "%s=%d" % (k, v))]
    inputs = [
        helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in given.items()
    ]
    g = helper.make_graph(
        nodes,
        "g",
        inputs,
        [helper.make_empty_tensor_value_info(o) for o in results.split()],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MS, 1)]
    onnx.save(helper.make_model(g, opset_imports=opsets, ir_version=8), path)
    want = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, given)
    args = []
    for k, v in given.items():
        np.save(out / ("in_%s.npy" % k), v)
        args += ["--input", "%s=%s" % (k, out / ("in_%s.npy" % k))]

    def ask(verb, model, *more):
        words = [arenac, verb, "-q", model, *(bound if model == path else []), *more]
        p = subprocess.run(words, capture_output=True, text=True)
        if p.returncode:
            bad.append("%s: %s: %s" % (name, verb, p.stderr))
        return p.stdout, p.returncode

    def results_of(model):
        for f in (out / "o").glob("*.npy"):
            f.unlink()
        _, status = ask("run", model, *args, "--output-dir", out / "o", "--backend", backend)
        return (
            None if status else [np.load(out / "o" / ("%d.npy" % i)) for i in range(len(list((out / "o").iterdir())))]
        )

    exact, header = results_of(path), ask("compile", path, "--emit", "h", "-o", "-")[0]
    padded = (
        None if ask("convert", path, out / "m.ag")[1] else results_of(out / "m.ag")
    )  # the static program, as code has it
    if exact is None or padded is None:
        return
    rows = re.findall(r"_OUT(\d+)_COUNTED_DIM (\d+) .*\n#define \w+_OUT\d+_COUNTED_BY (\d+)", header)
    for i, dim, by in ([int(v) for v in row] for row in rows):
        padded[i] = np.take(padded[i], np.arange(int(padded[by])), axis=dim)
    for how, got in (("run", exact), ("code", padded)):
        for i, w in enumerate(want):
            if got[i].shape != w.shape or not np.allclose(got[i], w, 1e-5, 1e-5):
                told = (name, how, i, got[i].shape, got[i].ravel()[:9], w.shape, w.ravel()[:9])
                return bad.append("%s: %s: output %d is %s %s, expected %s %s" % told)
    good += 1


def boxes(rng, images, n, centre):
    c, s = rng.uniform(0, 10, (images, n, 2)), rng.uniform(1, 5, (images, n, 2))
    return np.float32(np.concatenate([c, s], 2) if centre else np.concatenate([c - s / 2, c + s / 2], 2))


for seed in range(seeds):
    rng = np.random.default_rng(seed)

    def floats(*dims):
        return np.float32(rng.standard_normal(dims))

    some = floats(3, 4) * (rng.random((3, 4)) < 0.5)
    for what, x in (
        ("some", some),
        ("none", some * 0),
        ("all", np.ones_like(some)),
        ("bools", some > 0),
        ("ints", np.int64(some * 4)),
        ("rank 4", floats(2, 3, 1, 5) * (rng.random((2, 3, 1, 5)) < 0.3)),
    ):
        case("NonZero of " + what, [node("NonZero", "x", "y")], {"x": x}, "y")
    case(
        "x[mask] + 1",
        [
            node("Greater", "x zero", "m"),
            node("NonZero", "m", "i"),
            node("Transpose", "i", "t", perm=[1, 0]),
            node("GatherND", "x t", "g"),
            node("Add", "g one", "y"),
        ],
        {"x": floats(5, 6)},
        "y",
        zero=np.float32(0),
        one=np.float32([1]),
    )
    case(
        "rows that pass, and a layer",
        [
            node("ReduceSum", "x last", "s", keepdims=0),
            node("Greater", "s zero", "m"),
            node("NonZero", "m", "i"),
            node("Squeeze", "i first", "t"),
            node("Gather", "x t", "g"),
            node("MatMul", "g w", "h"),
            node("Softmax", "h", "y"),
            node("ArgMax", "h", "k", axis=1),
            node("ReduceMean", "h", "r", axes=[1], keepdims=0),
            node("Unsqueeze", "r last", "u"),
            node("Concat", "u h", "c", axis=1),
            node("Slice", "c a b last", "d"),
        ],
        {"x": floats(9, 6)},
        "y k r d t",
        zero=np.float32(0),
        last=np.int64([1]),
        first=np.int64([0]),
        w=floats(6, 3),
        a=np.int64([1]),
        b=np.int64([3]),
    )
    case(
        "indices that are computed with",
        [
            node("NonZero", "x", "i"),
            node("Squeeze", "i first", "t"),
            node("Mul", "t two", "d"),
            node("Add", "d one", "e"),
            node("Gather", "z e", "y"),
        ],
        {"x": np.float32(rng.random(6) < 0.5), "z": floats(12)},
        "y",
        first=np.int64([0]),
        two=np.int64(2),
        one=np.int64(1),
    )
    case(
        "reductions of them",
        [node("Compress", "x m", "c", axis=0)]
        + [node("ReduceMax", "c", "Max", axes=[0]), node("ReduceMin", "c", "Min", axes=[0], keepdims=0)]
        + [node("ReduceProd", "c", "Prod", axes=[0, 1]), node("ReduceMean", "c", "Mean", axes=[1])]
        + [node("ReduceSum", "c first", "Sum")],
        {"x": floats(5, 3), "m": np.array([True, False, True, True, False])},
        "Max Min Prod Mean Sum",
        first=np.int64([0]),
    )
    case("the number of them", [node("NonZero", "x", "i"), node("Shape", "i", "y")], {"x": some}, "y")
    for axis in (None, 0, 1):
        case(
            "Compress %s" % axis,
            [node("Compress", "x c", "y", **({} if axis is None else {"axis": axis}))],
            {"x": floats(4, 5), "c": rng.random(4) < 0.6},
            "y",
        )
    for rising in (0, 1):
        for what, x in (
            ("floats", np.float32(rng.integers(0, 6, (3, 5)))),
            ("ints", rng.integers(-3, 4, 11)),
            ("one", floats(1, 1)),
            ("distinct", floats(7)),
            ("equal", np.zeros(6, np.float32)),
        ):
            case(
                "Unique %d of %s" % (rising, what),
                [node("Unique", "x", "y i v n", sorted=rising)],
                {"x": x},
                "y i v n",
            )
    case("Unique of Microsoft", [node("Unique", "x", "y v n", domain=MS)], {"x": floats(9) // 1}, "y v n")
    for images, classes, n, most, overlap, least, centre in (
        (1, 1, 20, 10, 0.5, 0.2, 0),
        (2, 3, 12, 4, 0.3, 0.4, 0),
        (1, 2, 15, 20, 0.5, None, 1),
        (1, 1, 6, 3, 0.0, 0.1, 0),
        (1, 4, 8, 2, 0.5, 2.0, 0),
    ):
        limits = {
            "most": np.int64([most]),
            "overlap": np.float32([overlap]),
            **({"least": np.float32([least])} if least is not None else {}),
        }
        case(
            "NonMaxSuppression %d %d" % (images, classes),
            [node("NonMaxSuppression", " ".join(["b s", *limits]), "y", center_point_box=centre)],
            {"b": boxes(rng, images, n, centre), "s": np.float32(rng.random((images, classes, n)))},
            "y",
            **limits
        )
    case(
        "the boxes that are kept",
        [
            node("NonMaxSuppression", "b s most overlap least", "k"),
            node("Gather", "k two", "q", axis=1),
            node("Squeeze", "q one", "r"),
            node("Squeeze", "b zero", "flat"),
            node("Gather", "flat r", "y"),
        ],
        {"b": boxes(rng, 1, 20, 0), "s": np.float32(rng.random((1, 2, 20)))},
        "y k",
        most=np.int64([5]),
        overlap=np.float32([0.4]),
        least=np.float32([0.2]),
        two=np.int64([2]),
        one=np.int64([1]),
        zero=np.int64([0]),
    )
    for begin, end in ((0, 3), (2, 1 << 62), (-3, 1 << 62), (1, -1), (0, -2), (-4, -1), (-3, 4), (5, 2), (0, 99)):
        case(
            "of what is counted [%d:%d]" % (begin, end),
            [
                node("Compress", "x m", "c", axis=0),
                node("Slice", "c begin end axes", "y"),
                node("Exp", "y", "e"),
            ],
            {"x": floats(8, 3), "m": rng.random(8) < 0.6},
            "y e",
            begin=np.int64([begin, 1]),
            end=np.int64([end, 3]),
            axes=np.int64([0, 1]),
        )
    flag = np.append(rng.random(6) < 0.6, [True, True, True])
    case(
        "elements of what is counted, some from its end",
        [node("Compress", "x m", "c", axis=0), node("Gather", "c which", "y"), node("Gather", "c one", "z", axis=1)],
        {"x": floats(9, 3), "m": flag, "which": rng.integers(-3, 3, (2, 2))},
        "y z",
        one=np.int64([-1]),
    )
    case(
        "what is counted, one after the other",
        [
            node("Compress", "x m", "a", axis=0),
            node("Not", "m", "not"),
            node("Compress", "x not", "b", axis=0),
            node("Concat", "a x b", "y", axis=0),
            node("Slice", "y two last", "z"),
            node("Exp", "a", "ea"),
            node("Exp", "b", "eb"),
            node("Concat", "ea x eb", "e", axis=0),
            node("Add", "e y", "s"),
        ],
        {"x": floats(9, 3), "m": flag},
        "y z s",
        two=np.int64([-2]),
        last=np.int64([1 << 40]),
    )
    scored = [
        node("ReduceMax", "s", "top", axes=[1], keepdims=0),
        node("Greater", "top least", "m"),
        node("NonZero", "m", "i"),
        node("Squeeze", "i zero", "t"),
        node("Gather", "b t", "some"),
        node("Gather", "top t", "score"),
    ]
    for most in (3, 40):
        case(
            "the best boxes of those above a score",
            scored
            + [
                node("Unsqueeze", "some zero", "b3"),
                node("Unsqueeze", "score both", "s3"),
                node("NonMaxSuppression", "b3 s3 all overlap", "k"),
                node("Gather", "k two", "q", axis=1),
                node("Slice", "q zero most", "first"),
                node("Gather", "some first", "y"),
                node("Gather", "score first", "z"),
            ],
            {"b": boxes(rng, 1, 20, 0)[0], "s": np.float32(rng.random((20, 4)))},
            "y z",
            least=np.float32(0.8),
            all=np.int64([20]),
            overlap=np.float32([0.4]),
            most=np.int64([most]),
            zero=np.int64([0]),
            both=np.int64([0, 1]),
            two=np.int64(2),
        )
        case(
            "the best of those above a score, at most so many",
            scored
            + [
                node("Shape", "score", "n"),
                node("Concat", "n most", "two", axis=0),
                node("ReduceMin", "two", "k", keepdims=1),
                node("TopK", "score k", "v w", axis=0),
                node("Gather", "some w", "y"),
            ],
            {"b": boxes(rng, 1, 20, 0)[0], "s": np.float32(rng.random((20, 4)))},
            "v w y",
            least=np.float32(0.8),
            most=np.int64([most]),
            zero=np.int64([0]),
        )
    # what torchvision's detectors do: batched_nms in an If, the best of each level, regions of levels put together
    flags = [node("Greater", "s limit", "m"), node("NonZero", "m", "i"), node("Squeeze", "i first", "t")]
    there = flags + [node("Gather", "b t", "boxes"), node("Gather", "s t", "scores")]

    def of(name, nodes, result, kind):
        value = helper.make_tensor_value_info(result, kind, None)
        return helper.make_graph(nodes, name, [], [value])

    none = helper.make_node("Constant", [], ["none"], value=numpy_helper.from_array(np.zeros(0, np.int64)))
    nms = [
        node("ReduceMax", "boxes", "far", keepdims=0),
        node("Add", "far one", "step"),
        node("Mul", "labels step", "off"),
        node("Slice", "off first huge first", "off1"),
        node("Unsqueeze", "off1 last", "off2"),
        node("Add", "boxes off2", "moved"),
        node("Unsqueeze", "moved first", "b3"),
        node("Unsqueeze", "scores both", "s3"),
        node("NonMaxSuppression", "b3 s3 many half", "kept"),
        node("Gather", "kept two", "k2", axis=1),
        node("Squeeze", "k2 last", "keep"),
    ]
    branch = of("a", [none], "none", 7), of("c", nms, "keep", 7)
    for limit in (0.2, 0.7, 2.0):
        case(
            "batched_nms in an If, above %g" % limit,
            there
            + [
                node("Shape", "scores", "n"),
                node("ConstantOfShape", "n", "labels"),
                node("ReduceProd", "n", "size", keepdims=0),
                node("Equal", "size nothing", "empty"),
                node("If", "empty", "chosen", then_branch=branch[0], else_branch=branch[1]),
                node("Slice", "chosen first top first", "best"),
                node("Gather", "boxes best", "y"),
                node("Gather", "scores best", "z"),
            ],
            {"b": boxes(rng, 1, 12, 0)[0], "s": np.float32(rng.random(12))},
            "y z",
            limit=np.float32(limit),
            first=np.int64([0]),
            last=np.int64([1]),
            both=np.int64([0, 1]),
            two=np.int64([2]),
            huge=np.int64([(1 << 63) - 1]),
            top=np.int64([4]),
            one=np.float32(1),
            many=np.int64([12]),
            half=np.float32([0.4]),
            nothing=np.int64(0),
        )
    case(
        "NonZero of what is there, and rows by three in one",
        there
        + [
            node("Greater", "scores higher", "h"),
            node("NonZero", "h", "j"),
            node("Reshape", "boxes flat", "lines"),
            node("Reshape", "boxes single", "all"),
        ],
        {"b": boxes(rng, 1, 12, 0)[0], "s": np.float32(rng.random(12))},
        "j lines all",
        limit=np.float32(0.4),
        higher=np.float32(0.7),
        first=np.int64([0]),
        flat=np.int64([-1, 2]),
        single=np.int64([-1]),
    )
    case(
        "regions that are there, and where they came from",
        there
        + [
            node("Shape", "t", "n"),
            node("ConstantOfShape", "n", "zeros"),
            node("Cast", "zeros", "image", to=7),
            node("RoiAlign", "x boxes image", "r", output_height=2, output_width=3, sampling_ratio=2),
            node("Conv", "r w", "c"),
            node("Reshape", "t column", "u"),
            node("Shape", "r", "rs"),
            node("Gather", "rs inner", "rest"),
            node("Concat", "n rest", "grown", axis=0),
            node("Equal", "grown never", "as_is"),
            node("Where", "as_is never grown", "shape"),
            node("Expand", "u shape", "places"),
            node("ScatterElements", "all places r", "y", axis=0),
        ],
        {
            "b": boxes(rng, 1, 7, 0)[0],
            "s": np.float32(rng.random(7)),
            "x": floats(1, 2, 12, 12),
        },
        "r c y",
        limit=np.float32(0.4),
        first=np.int64([0]),
        w=floats(3, 2, 1, 1),
        column=np.int64([-1, 1, 1, 1]),
        inner=np.int64([1, 2, 3]),
        never=np.int64([-1, -1, -1, -1]),
        all=np.zeros((7, 2, 2, 3), np.float32),
    )
    case(
        "the greatest, as many as are positive",
        [
            node("Greater", "x zero", "m"),
            node("Cast", "m", "j", to=7),
            node("ReduceSum", "j", "s", keepdims=0),
            node("Reshape", "s shape", "k"),
            node("Neg", "x", "z"),
            node("TopK", "z k", "v i", axis=0),
        ],
        {"x": floats(8)},
        "v i",
        zero=np.float32(0),
        shape=np.int64([1]),
    )
    count = [node("Greater", "x zero", "m"), node("Cast", "m", "j", to=7), node("ReduceSum", "j", "n", keepdims=0)]

    def given(**more):
        return {"given": {"x": floats(8)}, "zero": np.float32(0), **more}

    for what, first, by in (("up", 0, 1), ("from 2 by 3", 2, 3), ("down", 1, -2)):
        last = [node("Mul", "n scale", "l")] if by > 0 else [node("Neg", "n", "l")]
        case(
            "Range " + what,
            count + last + [node("Range", "first l by", "y"), node("Gather", "z y", "g")],
            results="y" if by < 0 else "y g",
            bounds={"y": 24},
            **given(first=np.int64(first), by=np.int64(by), scale=np.int64(2), z=floats(24, 2)),
        )
    case(
        "Range of floats",
        count + [node("Cast", "n", "f", to=1), node("Range", "first f by", "y")],
        results="y",
        bounds={"y": 40},
        **given(first=np.float32(0.3), by=np.float32(0.25)),
    )
    for what, ins in (("x[:n]", "z first k"), ("x[n:]", "z k last"), ("x[n:-1]", "z k back"), ("x[-n:]", "z m k last")):
        ins = ins.replace("m k", "minus")
        case(
            "Slice " + what,
            count
            + [
                node("Unsqueeze", "n first", "k"),
                node("Neg", "k", "minus"),
                node("Slice", ins + " axis", "y"),
                node("Exp", "y", "e"),
            ],
            results="y e",
            bounds={"y": 8} if rng.random() < 0.5 else None,
            **given(
                first=np.int64([0]),
                last=np.int64([1 << 62]),
                back=np.int64([-1]),
                axis=np.int64([1]),
                z=floats(3, 9, 2),
            ),
        )
    case(
        "Slice x[n:n+3]",
        count
        + [
            node("Unsqueeze", "n first", "k"),
            node("Add", "k three", "end"),
            node("Slice", "z k end axis", "y"),
            node("Exp", "y", "e"),
        ],
        results="y e",
        **given(first=np.int64([0]), three=np.int64([3]), axis=np.int64([1]), z=floats(3, 9, 2)),
    )
    case(
        "sizes that are computed",
        count
        + [
            node("Unsqueeze", "n first", "k"),
            node("Concat", "two k three", "s", axis=0),
            node("ConstantOfShape", "s", "c"),
            node("Expand", "z s", "e"),
            node("Add", "c one", "y"),
        ],
        results="y e",
        bounds={"c": 8, "e": 8},
        **given(first=np.int64([0]), two=np.int64([2]), three=np.int64([3]), one=np.float32(1), z=floats(2, 1, 3)),
    )
    case(
        "sizes of what is counted",
        [
            node("NonZero", "x", "i"),
            node("Shape", "i", "s"),
            node("Gather", "s one", "n"),
            node("Range", "first n one", "r"),
            node("Unsqueeze", "n axis", "k"),
            node("ConstantOfShape", "k", "c"),
            node("Cast", "c", "f", to=7),
            node("Squeeze", "i axis", "t"),
            node("Mul", "r t", "p"),
            node("Add", "p f", "y"),
        ],
        {"x": floats(9) * (rng.random(9) < 0.5)},
        "y r",
        first=np.int64(0),
        one=np.int64(1),
        axis=np.int64([0]),
    )
    for most in (30, 100):
        body = helper.make_graph(
            [
                node("Mul", "v by", "w"),
                node("ReduceMax", "w", "r", keepdims=0),
                node("Less", "r limit", "again"),
                node("Identity", "w", "copy"),
            ],
            "body",
            [
                helper.make_tensor_value_info("i", 7, []),
                helper.make_tensor_value_info("c", 9, []),
                helper.make_tensor_value_info("v", 1, [4]),
            ],
            [
                helper.make_tensor_value_info("again", 9, []),
                helper.make_tensor_value_info("w", 1, [4]),
                helper.make_tensor_value_info("copy", 1, [4]),
            ],
            [
                numpy_helper.from_array(np.float32(1.5), "by"),
                numpy_helper.from_array(np.float32(10 ** rng.integers(1, 4)), "limit"),
            ],
        )
        case(
            "Loop until it is large",
            [node("Loop", " yes x", "last all", body=body)],
            {"x": np.abs(floats(4)) + np.float32(0.1)},
            "last all",
            bounds={"all": most},
            yes=np.bool_(True),
        )
    few = [node("Greater", "x zero", "m"), node("Compress", "x m", "f", axis=0)]
    case(
        "along what passes",
        few
        + [
            node("Softmax", "f", "s", axis=0),
            node("ReduceMean", "f", "mean", axes=[0], keepdims=0),
            node("ArgMax", "f", "k", axis=0, keepdims=0),
            node("CumSum", "f axis", "c"),
            node("Size", "f", "n"),
            node("Slice", "f one far", "later"),
            node("Slice", "f axes last", "sooner"),
            node("Sub", "later sooner", "d"),
        ],
        {"x": np.float32(np.r_[1, 2, floats(7)])},
        "s mean k c n d",
        zero=np.float32(0),
        axis=np.int64(0),
        one=np.int64([1]),
        far=np.int64([99]),
        axes=np.int64([0]),
        last=np.int64([-1]),
    )
    numbers = [helper.make_tensor_value_info(*v) for v in (("i", 7, []), ("c", 9, []), ("v", 1, []))]
    body = helper.make_graph(
        [
            node("Gather", "f i", "e"),
            node("ReduceMean", "f", "mean", keepdims=0),
            node("Mul", "e mean", "p"),
            node("Add", "v p", "w"),
            node("Identity", "c", "again"),
        ],
        "body",
        numbers,
        [helper.make_tensor_value_info("again", 9, []), helper.make_tensor_value_info("w", 1, [])],
    )
    case(
        "a Loop over what passes",
        few + [node("Size", "f", "n"), node("Loop", "n yes v0", "sum", body=body)],
        {"x": np.float32(np.r_[1, floats(7)])},
        "sum f",
        zero=np.float32(0),
        yes=np.bool_(True),
        v0=np.float32(0),
    )
    counted_loops.cases(rng, case, node)
print("%d agree" % good)
for b in bad:
    print("FAILED:", b)
sys.exit(bool(bad))
