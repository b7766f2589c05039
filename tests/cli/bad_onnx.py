"""Writes ONNX files that are wrong in one way each (bytes of protobuf, no onnx package): bad_onnx.py DIR

Prints a line for each: file, exit status, then what its message must name, separated by tabs."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "models"))
from wire import data as sub, number as num, varint

out = sys.argv[1]
F32, I32, I64, STRING = 1, 6, 7, 8


def shape(dims):
    return b"".join(sub(1, sub(2, d) if isinstance(d, str) else num(1, d)) for d in dims)


def value(name, dtype, dims):
    return sub(1, name) + sub(2, sub(1, num(1, dtype) + sub(2, shape(dims))))


def attr_int(name, v):
    return sub(5, sub(1, name) + num(3, v) + num(20, 2))


def attr_ints(name, v):
    return sub(5, sub(1, name) + b"".join(num(8, x) for x in v) + num(20, 7))


def attr_graph(name, g):
    return sub(5, sub(1, name) + sub(6, g) + num(20, 5))


def node(op, ins, outs, attrs=b"", name="", domain=""):
    b = b"".join(sub(1, i) for i in ins) + b"".join(sub(2, o) for o in outs)
    return b + sub(3, name or op + "_node") + sub(4, op) + attrs + (sub(7, domain) if domain else b"")


def tensor(name, dtype, dims, raw=None, extra=b""):
    return b"".join(num(1, d) for d in dims) + num(2, dtype) + sub(8, name) + (sub(9, raw) if raw is not None else b"") + extra


def external(name, dims, **entries):
    rows = b"".join(sub(13, sub(1, k) + sub(2, str(v))) for k, v in entries.items())
    return tensor(name, F32, dims, None, rows + num(14, 1))


def graph(nodes, ins=(("x", F32, [2, 3]),), outs=(("y", F32, [2, 3]),), weights=(), known=()):
    b = b"".join(sub(1, n) for n in nodes) + sub(2, "g") + b"".join(sub(5, w) for w in weights)
    return b + b"".join(sub(11, value(*v)) for v in ins) + b"".join(sub(12, value(*v)) for v in outs) + b"".join(
        sub(13, value(*v)) for v in known)


def model(g, functions=(), opsets=(("", 18),)):
    b = num(1, 9) + sub(7, g) + b"".join(sub(8, (sub(1, d) if d else b"") + num(2, v)) for d, v in opsets)
    return b + b"".join(sub(25, f) for f in functions)


def function(name, nodes):
    return sub(1, name) + sub(4, "x") + sub(5, "y") + b"".join(sub(7, n) for n in nodes) + sub(9, num(2, 18)) + sub(10, "own")


def case(name, data, *names, status=1):
    with open(os.path.join(out, name + ".onnx"), "wb") as f:
        f.write(data)
    print("\t".join([name + ".onnx", str(status), *names]))


relu = node("Relu", ["x"], ["y"])
add = node("Add", ["x", "w"], ["y"])
w6 = b"\0" * 24

# external data
case("external_missing", model(graph([add], weights=[external("w", [2, 3], location="nowhere.bin")])), "nowhere.bin", "'w'")
with open(os.path.join(out, "short.bin"), "wb") as f:
    f.write(b"\0" * 20)
case("external_short", model(graph([add], weights=[external("w", [2, 3], location="short.bin")])), "short.bin", "'w'")
case("external_offset", model(graph([add], weights=[external("w", [2, 3], location="short.bin", offset=1 << 40, length=24)])), "'w'")
case("external_length", model(graph([add], weights=[external("w", [2, 3], location="short.bin", length=16)])), "'w'")
case("external_above", model(graph([add], weights=[external("w", [2, 3], location="../short.bin")])), "'w'")

# names
case("twice_node", model(graph([relu, node("Neg", ["x"], ["y"])])), "'y'")
case("twice_weight", model(graph([add], weights=[tensor("w", F32, [2, 3], w6), tensor("w", F32, [2, 3], w6)])), "'w'")
case("twice_input", model(graph([relu], ins=[("x", F32, [2, 3]), ("x", F32, [2, 3])])), "'x'")
case("node_makes_input", model(graph([node("Neg", ["y"], ["x"]), relu])), "'x'")
case("unknown_name", model(graph([node("Add", ["x", "nothing"], ["y"])])), "'nothing'")
case("unknown_output", model(graph([relu], outs=[("z", F32, [2, 3])])), "'z'")
case("cycle", model(graph([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]), node("Neg", ["b"], ["y"])])), "'b'")

# types and shapes that contradict each other
case("types_differ", model(graph([node("Add", ["x", "i"], ["y"], name="mix")], ins=[("x", F32, [2, 3]), ("i", I32, [2, 3])])), "'mix'", "f32", "i32")
case("shapes_differ", model(graph([node("Add", ["x", "i"], ["y"], name="mix")], ins=[("x", F32, [2, 3]), ("i", F32, [2, 4])])), "'mix'")
case("matmul", model(graph([node("MatMul", ["x", "i"], ["y"], name="mul")], ins=[("x", F32, [2, 3]), ("i", F32, [4, 2])])), "'mul'")
case("conv_channels", model(graph([node("Conv", ["x", "w"], ["y"], name="conv")], ins=[("x", F32, [1, 3, 4, 4])], outs=[("y", F32, [1, 2, 4, 4])],
                                  weights=[tensor("w", F32, [2, 4, 1, 1], b"\0" * 32)])), "'conv'", "'x'")
case("output_shape", model(graph([relu], outs=[("y", F32, [2, 4])])), "'y'", "[2,4]", "[2,3]")
case("output_type", model(graph([relu], outs=[("y", I64, [2, 3])])), "'y'", "i64", "f32")
case("known_shape", model(graph([node("Neg", ["x"], ["a"]), node("Relu", ["a"], ["y"])], known=[("a", F32, [3, 2])])), "'a'", "[3,2]", status=0)
case("known_type", model(graph([node("Neg", ["x"], ["a"]), node("Relu", ["a"], ["y"])], known=[("a", I64, [2, 3])])), "'a'", "i64")
case("weight_declared", model(graph([add], ins=[("x", F32, [2, 3]), ("w", F32, [3])], weights=[tensor("w", F32, [2, 3], w6)])), "'w'", "[3]")
case("weight_bytes", model(graph([add], weights=[tensor("w", F32, [2, 3], b"\0" * 20)])), "'w'")
case("weight_dims", model(graph([add], weights=[tensor("w", F32, [-2, 3], w6)])), "'w'")
case("weight_huge", model(graph([add], weights=[tensor("w", F32, [1 << 40, 1 << 40], w6)])), "'w'")
case("axis", model(graph([node("Softmax", ["x"], ["y"], attr_int("axis", 5), name="soft")])), "'soft'", "axis")
case("perm", model(graph([node("Transpose", ["x"], ["y"], attr_ints("perm", [0, 0]), name="turn")])), "'turn'", "perm")
case("operands", model(graph([node("Add", ["x"], ["y"], name="alone")])), "'alone'")
case("condition", model(graph([node("If", ["x"], ["y"], attr_graph("then_branch", graph([relu], ins=())) +
                                    attr_graph("else_branch", graph([relu], ins=())), name="choice")])), "'choice'")

# cycles of functions, of one and of three
calls = lambda f, inner: function(f, [node(inner, ["x"], ["y"], domain="own")])
own = dict(opsets=(("", 18), ("own", 1)))
case("function_self", model(graph([node("A", ["x"], ["y"], domain="own")]), [calls("A", "A")], **own), "A")
case("function_cycle", model(graph([node("A", ["x"], ["y"], domain="own")]), [calls("A", "B"), calls("B", "C"), calls("C", "A")], **own), "call each other")

# 50,000 deep: built from the inside, pieces joined once (each level is prefix + inner + suffix)
def nested(depth, wrap):
    head, tail, size = [], [], 0
    for _ in range(depth):
        before, after = wrap(size)
        head.append(before)
        tail.append(after)
        size += len(before) + len(after)
    return b"".join(reversed(head)) + b"".join(tail)


def if_level(inner):  # the node of an If whose branch holds the level inside
    g_tail = sub(2, "g") + sub(12, value("y", F32, [2, 3]))
    g_head = varint(1 << 3 | 2) + varint(inner) if inner else b""
    g = len(g_head) + inner + len(g_tail)
    a_head, a_tail = sub(1, "then_branch") + varint(6 << 3 | 2) + varint(g), num(20, 5)
    a = len(a_head) + g + len(a_tail)
    head = sub(1, "c") + sub(2, "y") + sub(4, "If") + varint(5 << 3 | 2) + varint(a) + a_head + g_head
    return head, g_tail + a_tail


case("deep_graphs", model(graph([nested(50000, if_level)], ins=(("x", F32, [2, 3]), ("c", 9, [])))), "deep")
case("deep_functions", model(graph([node("F0", ["x"], ["y"], domain="own")]),
                             [calls("F%d" % i, "F%d" % (i + 1)) for i in range(50000)] + [function("F50000", [relu])], **own), "F")
types = nested(50000, lambda inner: (varint(4 << 3 | 2) + varint(inner + 1 + len(varint(inner))) + varint(1 << 3 | 2) + varint(inner), b""))
case("deep_types", model(sub(1, relu) + sub(2, "g") + sub(11, sub(1, "x") + sub(2, types)) + sub(12, value("y", F32, [2, 3]))), "'x'", status=8)
chain = [node("Relu", ["x" if i == 0 else "t%d" % i], ["t%d" % (i + 1)]) for i in range(50000)]
case("long_chain", model(graph(chain + [node("Neg", ["t50000"], ["y"])])), "fine", status=0)

# above 2 GiB, a hole: a weight that says it is that long, and one that says it is longer than the file
big = (1 << 31) + (1 << 20)
head = sub(1, relu) + sub(2, "g") + sub(11, value("x", F32, [2, 3])) + sub(12, value("y", F32, [2, 3]))
w_head = num(1, big // 4) + num(2, F32) + sub(8, "w") + varint(9 << 3 | 2) + varint(big)
g_head = head + varint(5 << 3 | 2) + varint(len(w_head) + big) + w_head
m_head = num(1, 9) + sub(8, num(2, 18)) + varint(7 << 3 | 2) + varint(len(g_head) + big) + g_head
for name, size in ("big.onnx", len(m_head) + big), ("big_cut.onnx", big):
    with open(os.path.join(out, name), "wb") as f:
        f.write(m_head)
        f.truncate(size)  # costs no room on the disk
print("big.onnx\t0\tfine")
print("big_cut.onnx\t1\tpast the end")
