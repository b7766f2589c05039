"""A small SavedModel as TensorFlow 2 exports it: tanh(x w + b) + the sum of the rows of a table that ids names. Its variables are in
a checkpoint, handles of them are arguments of functions, and a function restores them. Needs nothing but Python.

    saved_model("m")                                                   m/saved_model.pb, m/variables/...
    saved_model("m", objects=True)                                     only the exporter's objects say which entry is whose
    saved_model("m", change={VARIABLES["table"]: {"size": 1}})         a wrong entry: see checkpoint.write
"""
import math
import pathlib
import random
import struct

import checkpoint
import wire
from graphs import FLOAT, INT32, RESOURCE, STRING, UINT8, binary, node, shape


def strings(name, v):
    t = [(1, "dtype", STRING), (2, "tensor_shape", shape([len(v)]))] + [(8, "string_val", t) for t in v]
    return node(name, "Const", dtype=(6, "type", STRING), value=(8, "tensor", t))


def const(name, type, dims, b):
    t = [(1, "dtype", type), (2, "tensor_shape", shape(dims)), (4, "tensor_content", b)]
    return node(name, "Const", dtype=(6, "type", type), value=(8, "tensor", t))


def function(name, args, rets, nodes, effects=()):
    """args: [(name, type)]; rets: [(name, type, node's output)]; effects: nodes that run whoever reads them."""
    signature = [(1, "name", name)] + [(2, "input_arg", [(1, "name", a), (3, "type", t)]) for a, t in args]
    signature += [(3, "output_arg", [(1, "name", a), (3, "type", t)]) for a, t, _ in rets]
    return (1, "function", [(1, "signature", signature)] + [(3, "node_def", n[2]) for n in nodes] +
            [(4, "ret", [(1, "key", a), (2, "value", of)]) for a, _, of in rets] +
            [(6, "control_ret", [(1, "key", e), (2, "value", e)]) for e in effects])


def called(name, f, *inputs):
    return node(name, "StatefulPartitionedCall", *inputs, f=(10, "func", [(1, "name", f)]))


# Names of variables and keys of the checkpoint have nothing to do with each other.
VARIABLES = {"dense/kernel": "model/layer-1/w/.ATTRIBUTES/VARIABLE_VALUE", "dense/bias": "model/layer-1/b/.ATTRIBUTES/VARIABLE_VALUE",
             "table": "model/layer-0/rows/.ATTRIBUTES/VARIABLE_VALUE", "table_1": "model/a/.ATTRIBUTES/VARIABLE_VALUE"}


def saved_values():
    """{variable: (type, dimensions, bytes)}"""
    draw = random.Random(9)

    def floats(*dims):
        n = math.prod(dims)
        return FLOAT, dims, struct.pack(f"<{n}f", *(draw.uniform(-1, 1) for _ in range(n)))

    return {"dense/kernel": floats(4, 3), "dense/bias": floats(3), "table": floats(7, 3),
            "table_1": (UINT8, (3,), b"abc")}  # an odd number of bytes


def object_graph(names, first, keys=None):
    """Objects: 0 has 'model', which has the variables by name, numbered from `first`. keys: of their values."""
    def at(name, number):
        return (1, "children", [(1, "node_id", number), (2, "local_name", name)])

    nodes = [[at("model", 1)], [at(n, first + i) for i, n in enumerate(names)]] + [[] for _ in range(first - 2)]
    for n in names:
        nodes.append([(2, "attributes", [(1, "name", "VARIABLE_VALUE"), (3, "checkpoint_key", keys[n])])] if keys else [])
    return [(1, "nodes", n) for n in nodes]


def saved_graph(body=None, effects=(), restored=VARIABLES, objects=False):
    """SavedModel as wire form. body: nodes of the model's function besides the usual ones; its result is then 'out:z:0'."""
    values = saved_values()
    dtype = {n: (6, "type", v[0]) for n, v in values.items()}
    FT, IT = (6, "type", FLOAT), (6, "type", INT32)
    main = [node(n, "VarHandleOp", dtype=dtype[n], shape=(7, "shape", shape(v[1])), shared_name=(2, "s", n)) for n, v in values.items()]
    main += [node("serving_default_ids", "Placeholder", dtype=IT, shape=(7, "shape", shape([2]))),
             node("serving_default_x", "Placeholder", dtype=FT, shape=(7, "shape", shape([1, 4]))),
             called("StatefulPartitionedCall", "wrapper", "serving_default_x", "serving_default_ids", *values),
             node("saver_filename", "Placeholder", dtype=(6, "type", STRING), shape=(7, "shape", shape([]))),
             called("StatefulPartitionedCall_1", "restore", "saver_filename", *values)]
    args = [("x", FLOAT), ("ids", INT32), ("w", RESOURCE), ("b", RESOURCE), ("rows", RESOURCE), ("other", RESOURCE)]
    model = function("model", args, [("y", FLOAT, "out:z:0" if body else "sum:z:0")], [
        node("read_w", "ReadVariableOp", "w", dtype=FT), node("mul", "MatMul", "x", "read_w:value:0"),
        node("read_b", "ReadVariableOp", "b", dtype=FT), node("add", "BiasAdd", "mul:product:0", "read_b:value:0"),
        node("act", "Tanh", "add:output:0"), node("look", "ResourceGather", "rows", "ids", dtype=FT),
        const("axis", INT32, (1,), bytes(4)), node("row", "Sum", "look:output:0", "axis:output:0"),
        node("sum", "AddV2", "act:y:0", "row:output:0")] + (body or []), effects)
    wrapper = function("wrapper", args, [("y", FLOAT, "identity:output:0")], [
        called("call", "model", *[a for a, _ in args]), node("done", "NoOp", "^call"),
        node("identity", "Identity", "call:y:0", "^done")], ["call"])
    keys = list(restored.values())
    steps = [strings("names", keys), strings("slices", [""] * len(keys)),
             node("read", "RestoreV2", "prefix", "names:output:0", "slices:output:0")]
    for i, name in enumerate(restored):
        steps += [node(f"value_{i}", "Identity", f"read:tensors:{i}"),
                  node(f"assign_{i}", "AssignVariableOp", f"v{list(values).index(name)}", f"value_{i}:output:0")]
    steps.append(node("end", "Identity", "prefix", *[f"^assign_{i}" for i in range(len(keys))]))
    restore = function("restore", [("prefix", STRING)] + [(f"v{i}", RESOURCE) for i in range(len(values))],
                       [("end", STRING, "end:output:0")], steps, [f"assign_{i}" for i in range(len(keys))])
    graph = main + [(2, "library", [model, wrapper, restore])]

    def info(key, name, type):
        return [(1, "key", key), (2, "value", [(1, "name", name + ":0"), (2, "dtype", type)])]

    signature = [(1, "inputs", info("x", "serving_default_x", FLOAT)), (1, "inputs", info("ids", "serving_default_ids", INT32)),
                 (2, "outputs", info("y", "StatefulPartitionedCall", FLOAT))]
    saver = [(1, "filename_tensor_name", "saver_filename:0"), (3, "restore_op_name", "StatefulPartitionedCall_1"), (7, "version", 2)]
    meta = [(2, "graph_def", graph), (3, "saver_def", saver),
            (5, "signature_def", [(1, "key", "serving_default"), (2, "value", signature)])]
    if objects:
        bound = b"".join(wire.varint(2 + i) for i in range(len(values)))
        of = object_graph(list(values), 2) + [(2, "concrete_functions", [(1, "key", "wrapper"), (2, "value", [(2, "bound_inputs", bound)])])]
        meta.append((7, "object_graph_def", of))
    return [(1, "saved_model_schema_version", 1), (2, "meta_graphs", meta)]


def saved_model(folder, shards=1, change={}, graph=None, objects=False, **how):
    tensors = {VARIABLES[n]: v for n, v in saved_values().items()}
    if objects:
        kept = object_graph(sorted(VARIABLES, reverse=True), 5, VARIABLES)
        tensors["_CHECKPOINTABLE_OBJECT_GRAPH"] = binary(kept)
        graph = graph or saved_graph(restored={}, objects=True)
    checkpoint.write(folder, tensors, shards, change, **how)
    (pathlib.Path(folder) / "saved_model.pb").write_bytes(binary(graph or saved_graph()))
