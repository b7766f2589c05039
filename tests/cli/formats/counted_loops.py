"""Loop and Scan of ONNX that carry, collect or iterate over tensors of data-dependent length. counted_ort.py compares
them with ONNX Runtime."""
import numpy as np
from onnx import helper, numpy_helper

KIND = {np.dtype(k): helper.np_dtype_to_tensor_dtype(np.dtype(k)) for k in ("float32", "int64", "bool")}


def value(name, kind, *shape, open_shape=False):
    return helper.make_tensor_value_info(name, KIND[np.dtype(kind)], None if open_shape else shape)


def graph(nodes, ins, outs, **constants):
    held = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    return helper.make_graph(nodes, "body", ins, outs, held)


def body(nodes, carried, collected=(), **constants):
    """carried: (name, type, name after the iteration); collected: (name, type); the condition is c2."""
    ins = [value(n, k, open_shape=True) for n, k, _ in carried]
    outs = [value(n, k, open_shape=True) for _, k, n in carried] + [value(n, k, open_shape=True) for n, k in collected]
    return graph(nodes, [value("it", "int64"), value("c", "bool"), *ins], [value("c2", "bool"), *outs], **constants)


def cases(rng, case, node):
    def loop(ins, outs, graph):
        return helper.make_node("Loop", ins.split(" "), outs.split(), body=graph)

    def floats(*dims):
        return np.float32(rng.standard_normal(dims))

    n = int(rng.integers(6, 12))
    x = np.abs(floats(n))
    x[0] = 2
    some = [node("Greater", "x least", "m"), node("Compress", "x m", "f", axis=0)]
    same = {"zero": np.float32(0), "least": np.float32(0.3), "yes": np.bool_(True)}

    scale = body(
        [node("Mul", "v k", "w"), node("ReduceSum", "w", "s", keepdims=0), node("Less", "s most", "c2")],
        [("v", "float32", "w")],
        k=np.float32(1.5),
        most=np.float32(30),
    )
    case("Loop carries what is counted", [*some, loop(" yes f", "y", scale)], {"x": x}, "y", **same)

    drop = body(
        [
            node("Sub", "v k", "u"),
            node("Greater", "u zero", "b"),
            node("Compress", "u b", "w", axis=0),
            node("Size", "w", "n"),
            node("Greater", "n two", "c2"),
        ],
        [("v", "float32", "w")],
        k=np.float32(0.2),
        two=np.int64(2),
    )
    case("Loop filters all", [loop(" yes x", "y", drop), node("Exp", "y", "z")], {"x": x}, "y z", **same)
    case("Loop filters some", [*some, loop("five  f", "y", drop)], {"x": x}, "y", five=np.int64(5), **same)

    step = [
        node("Gather", "ids last", "t", axis=0),
        node("Gather", "table t", "row"),
        node("ArgMax", "row", "k", axis=1, keepdims=0),
        node("Concat", "ids k", "ids2", axis=0),
    ]
    stop = [node("Equal", "k end", "e1"), node("Squeeze", "e1 first", "e"), node("Not", "e", "go")]
    named = {
        "table": floats(12, 12),
        "last": np.int64([-1]),
        "end": np.int64([3]),
        "first": np.int64([0]),
        "ten": np.int64(10),
        "yes": np.bool_(True),
    }
    given = {"ids0": rng.integers(0, 12, int(rng.integers(1, 4))), "n": np.asarray(rng.integers(1, 9))}
    until = body([*step, *stop, node("Identity", "go", "c2")], [("ids", "int64", "ids2")])
    case("words until one, at most 10", [loop("ten yes ids0", "y", until)], given, "y", **named)
    case("words until one, n", [loop("n yes ids0", "y", until)], given, "y", bounds={"y": 20}, **named)
    counted = body(
        [*step, *stop, node("Add", "i one", "j"), node("Less", "j ten", "few"), node("And", "few go", "c2")],
        [("ids", "int64", "ids2"), ("i", "int64", "j")],
        one=np.int64(1),
    )
    case("words until one, counted", [loop(" yes ids0 zero", "y j", counted)], given, "y j", zero=np.int64(0), **named)
    short = [node("And", "c yes", "both"), helper.make_node("If", ["both"], ["c2"], then_branch=graph(
        [node("Identity", "go", "g2")], [], [value("g2", "bool")]), else_branch=graph(
            [node("Identity", "no", "g3")], [], [value("g3", "bool")], no=np.bool_(False)))]
    case("words until one, by an If", [loop("ten yes ids0", "y", body(
        [*step, *stop, *short], [("ids", "int64", "ids2")]))], given, "y", **named)

    beam = body(
        [
            node("Gather", "seq end", "t", axis=1),
            node("Squeeze", "t axis", "u"),
            node("Gather", "table u", "p"),
            node("Unsqueeze", "score axis", "s1"),
            node("Add", "p s1", "all"),
            node("Reshape", "all flat", "line"),
            node("TopK", "line three", "score2 at"),
            node("Div", "at size", "from"),
            node("Mod", "at size", "word"),
            node("Gather", "seq from", "kept"),
            node("Unsqueeze", "word axis", "w1"),
            node("Concat", "kept w1", "seq2", axis=1),
            node("Equal", "word five", "ends"),
            node("Cast", "ends", "e", to=7),
            node("ReduceMax", "e", "over", keepdims=0),
            node("Equal", "over none", "c2"),
        ],
        [("seq", "int64", "seq2"), ("score", "float32", "score2")],
        end=np.int64([-1]),
        axis=np.int64([1]),
        flat=np.int64([-1]),
        three=np.int64([3]),
        size=np.int64(12),
        five=np.int64(5),
        none=np.int64(0),
    )
    case(
        "a beam that stops",
        [loop("eight yes seq0 s0", "y s", beam)],
        {"s0": floats(3)},
        "y s",
        eight=np.int64(8),
        seq0=np.zeros((3, 1), np.int64),
        **named,
    )

    both = body(
        [
            node("Concat", "a one", "a2", axis=0),
            node("Concat", "b a", "b2", axis=0),
            node("ReduceSum", "b2", "s", keepdims=0),
            node("Less", "s most", "c2"),
        ],
        [("a", "float32", "a2"), ("b", "float32", "b2")],
        one=np.float32([1]),
        most=np.float32(20),
    )
    case("values that grow by each other", [loop("ten yes x x", "y z", both)], {"x": x}, "y z",
         bounds={"z": 60 + 10 * n}, **named)

    nms = body(
        [
            node("Gather", "scores it", "s"),
            node("Unsqueeze", "s both", "s3"),
            node("NonMaxSuppression", "boxes s3 four half", "k"),
            node("Slice", "k two three one", "k2"),
            node("Squeeze", "k2 one", "k3"),
            node("Concat", "acc k3", "acc2", axis=0),
            node("Identity", "c", "c2"),
        ],
        [("acc", "int64", "acc2")],
        both=np.int64([0, 1]),
        four=np.int64([4]),
        half=np.float32([0.5]),
        two=np.int64([2]),
        three=np.int64([3]),
        one=np.int64([1]),
    )
    corner = np.abs(floats(1, 8, 2))
    boxes = {"boxes": np.concatenate([corner, corner + 1], 2), "scores": np.abs(floats(3, 8))}
    boxes["n"] = np.asarray(np.int64(3))
    case("boxes of each class, n classes", [loop("n yes none", "y", nms)], boxes, "y", bounds={"y": 30},
         none=np.zeros(0, np.int64), **same)

    each = body(
        [
            node("Gather", "f it", "e"),
            node("Mul", "e two", "o"),
            node("Add", "v e", "w"),
            node("Mul", "f e", "row"),
            node("Identity", "c", "c2"),
        ],
        [("v", "float32", "w")],
        [("o", "float32")],
        two=np.float32(2),
    )
    size = node("Size", "f", "n")
    case("one of each that passes", [*some, size, loop("n yes zero", "y all", each), node("Add", "all f", "z")],
         {"x": x}, "y all z", **same)

    rows = body(
        [node("Gather", "x it", "e"), node("Mul", "f e", "row"), node("Identity", "c", "c2")],
        [],
        [("row", "float32")],
    )
    for trips in ("three", "many"):
        case("a row of what passes for each, " + trips, [*some, loop(trips + " ", "all", rows)],
             {"x": np.tile(x, 12)}, "all", three=np.int64(3), many=np.int64(70), **same)

    for axis in (0, 1):
        step = graph(
            [node("Add", "s e", "s2"), node("Tanh", "s2", "o")],
            [value("s", "float32", 3), value("e", "float32", 3)],
            [value("s2", "float32", 3), value("o", "float32", 3)],
        )
        rows = rng.random(7) < 0.5
        rows[2] = True
        case(
            "a Scan of what passes, %d" % axis,
            [
                node("Compress", "z m", "f", axis=axis),
                helper.make_node("Scan", ["s0", "f"], ["s9", "all"], body=step, num_scan_inputs=1,
                                 scan_input_axes=[axis], scan_output_axes=[1 - axis]),
            ],
            {"z": floats(7, 3) if axis == 0 else floats(3, 7), "m": rows},
            "s9 all",
            s0=floats(3),
        )

    sequences(rng, case, node, loop, floats)


def sequence(name):
    return helper.make_tensor_sequence_value_info(name, 1, None)


def sequences(rng, case, node, loop, floats):
    """Lists of tensors, as torch writes them: known, created in loops, and of data-dependent length."""
    ins = [value("it", "int64"), value("c", "bool"), sequence("s")]
    outs = [value("c2", "bool"), sequence("s2")]
    same = [node("Identity", "c", "c2")]
    keep = [node("SequenceAt", "rows it", "r"), node("Greater", "r zero", "p"), node("Compress", "r p", "v"), *same]
    split = node("SplitToSequence", "x", "rows", axis=0, keepdims=0)
    held = {"zero": np.float32(0), "yes": np.bool_(True), "first": np.int64(0), "last": np.int64(-1)}
    x = floats(5, 4)
    x[:, 1] = 1

    case(
        "what passes of each row, put together",
        [
            split,
            node("SequenceLength", "rows", "n"),
            node("SequenceEmpty", "", "none"),
            loop("n yes none", "all", graph([*keep, node("SequenceInsert", "s v", "s2")], ins, outs)),
            node("ConcatFromSequence", "all", "y", axis=0),
            node("SequenceAt", "all last", "z"),
            node("SequenceLength", "all", "m"),
        ],
        {"x": x},
        "y z m n",
        **held,
    )
    case(
        "lists that are known",
        [
            node("SequenceConstruct", "a b", "s"),
            node("SequenceInsert", "s a first", "t"),
            node("SequenceInsert", "t x last", "u"),
            node("SequenceErase", "u first", "v"),
            node("SequenceAt", "v first", "y"),
            node("ConcatFromSequence", "v", "z", axis=1),
            node("ConcatFromSequence", "s", "w", axis=-1, new_axis=1),
            node("SplitToSequence", "x two", "halves", axis=1),
            node("SequenceAt", "halves last", "h"),
            node("SplitToSequence", "x sizes", "parts", axis=1),
            node("SequenceAt", "parts last", "p"),
        ],
        {"x": x, "a": floats(5, 2), "b": floats(5, 2)},
        "y z w h p",
        two=np.int64(2),
        sizes=np.int64([1, 3]),
        **held,
    )
    body_of = [
        node("SequenceAt", "rows it", "r"),
        node("Add", "v r", "w"),
        node("SequenceInsert", "s w", "s2"),
        node("ReduceMax", "w", "most", keepdims=0),
        node("Less", "most limit", "c2"),
    ]
    until = graph(body_of, [*ins, value("v", "float32", 4)], [*outs, value("w", "float32", 4)], limit=np.float32(2.5))
    for trips in ("n", "m"):
        case(
            "a list until one is large, " + trips,
            [
                split,
                node("SequenceLength", "rows", "n"),
                node("SequenceEmpty", "", "none"),
                loop(trips + " yes none v0", "all v", until),
                node("ConcatFromSequence", "all", "y", axis=0, new_axis=1),
                node("ConcatFromSequence", "all", "z", axis=0),
                node("SequenceAt", "all last", "e"),
                node("SequenceLength", "all", "k"),
            ],
            {"x": x, "m": np.asarray(np.int64(4))},
            "y z e k v",
            bounds={"all": 5} if trips == "m" else None,
            v0=floats(4),
            **held,
        )
