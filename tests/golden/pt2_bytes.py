"""Archives of torch.export, without torch: for tests whose input is small.

    from pt2_bytes import *
    p = Program()
    p.input("x", F32, [2, 3])
    p.node("aten.relu.default", {"self": T("x")}, [("y", F32, [2, 3])])
    p.output("y")
    write(p)                                       NAME.pt2, NAME that of the program
"""
import io
import json
import pathlib
import struct
import sys
import zipfile

I64, F16, F32, BOOL, I8 = 5, 6, 7, 12, 2
ZERO_DATE = (1980, 1, 1, 0, 0, 0)


def T(name):
    return {"as_tensor": {"name": name}}


def size(s):
    return {"as_int": s} if isinstance(s, int) else {"as_expr": {"expr_str": s, "hint": None}}


def tensor_meta(dtype, shape, strides=None, offset=0):
    if strides is None:
        strides = [0] * len(shape)
        step = 1
        for d in range(len(shape) - 1, -1, -1):
            strides[d] = step
            step *= shape[d] if isinstance(shape[d], int) else 1
    return {"dtype": dtype, "sizes": [size(s) for s in shape], "requires_grad": False,
            "device": {"type": "cpu", "index": None}, "strides": [size(s) for s in strides],
            "storage_offset": {"as_int": offset}, "layout": 7}


def argument(v):
    if isinstance(v, dict):
        return v
    if v is None:
        return {"as_none": True}
    if isinstance(v, bool):
        return {"as_bool": v}
    if isinstance(v, int):
        return {"as_int": v}
    if isinstance(v, float):
        return {"as_float": v}
    if isinstance(v, str):
        return {"as_string": v}
    if v and isinstance(v[0], dict):
        return {"as_tensors": [t["as_tensor"] for t in v]}
    return {"as_ints": v}


class Graph:
    def __init__(self):
        self.inputs, self.outputs, self.nodes, self.values, self.numbers = [], [], [], {}, {}

    def value(self, name, dtype, shape):
        self.values[name] = tensor_meta(dtype, shape)
        return {"as_tensor": {"name": name}}

    def node(self, target, args, outs, module=""):
        stack = "L__self__,,Net" + (";L__self__%s,%s,Module" % (module, module) if module else "")
        inputs = args.items() if isinstance(args, dict) else [("", a) for a in args]
        outputs = [self.value(*o) if isinstance(o, tuple) else {"as_sym_int": {"as_name": o}} for o in outs]
        for o in outs:
            if not isinstance(o, tuple):
                self.numbers[o] = size("u0")
        prefix = "" if target.startswith(("_operator", "math")) else "torch.ops."
        self.nodes.append({"target": prefix + target, "outputs": outputs, "metadata": {"nn_module_stack": stack},
                           "inputs": [{"name": k, "arg": argument(v), "kind": 1} for k, v in inputs],
                           "name": outs[0][0] if outs and isinstance(outs[0], tuple) else target})

    def graph(self):
        return {"inputs": self.inputs, "outputs": self.outputs, "nodes": self.nodes, "tensor_values": self.values,
                "sym_int_values": self.numbers, "sym_bool_values": {}}


def graph_of(inputs, nodes, outputs):
    """A graph as an argument: inputs [(name, dtype, shape)], nodes [(target, args, outs)], outputs [name]."""
    g = Graph()
    g.inputs = [g.value(*i) for i in inputs]
    for n in nodes:
        g.node(*n)
    g.outputs = [T(o) for o in outputs]
    return {"as_graph": {"name": "g", "graph": g.graph()}}


class Program(Graph):
    def __init__(self):
        super().__init__()
        self.input_specs, self.output_specs, self.config, self.bytes, self.ranges = [], [], {}, {}, {}

    def input(self, name, dtype, shape):
        self.inputs.append(self.value(name, dtype, shape))
        self.input_specs.append({"user_input": {"arg": T(name)}})

    def weight(self, name, dtype, shape, data, kind="parameter", strides=None, offset=0, path=None):
        own = ("p_" if kind == "parameter" else "b_") + name.replace(".", "_")
        self.inputs.append(self.value(own, dtype, shape))
        spec = {"arg": {"name": own}, kind + "_name": name}
        self.input_specs.append({kind: spec | ({"persistent": True} if kind == "buffer" else {})})
        path = path or "weight_%d" % len(self.bytes)
        self.bytes.setdefault(path, data)
        self.config[name] = {"path_name": path, "is_param": kind == "parameter", "use_pickle": False,
                             "tensor_meta": tensor_meta(dtype, shape, strides, offset)}
        return T(own)

    def output(self, *names):
        for n in names:
            self.outputs.append(T(n))
            self.output_specs.append({"user_output": {"arg": T(n)}})

    def change(self, name, buffer):
        self.outputs.insert(0, T(name))
        self.output_specs.insert(0, {"buffer_mutation": {"arg": {"name": name}, "buffer_name": buffer}})

    def change_input(self, name, user_input):
        self.outputs.insert(0, T(name))
        self.output_specs.insert(0, {"user_input_mutation": {"arg": {"name": name}, "user_input_name": user_input}})

    def json(self):
        return {"graph_module": {"graph": self.graph(), "module_call_graph": [],
                                 "signature": {"input_specs": self.input_specs, "output_specs": self.output_specs}},
                "opset_version": {"aten": 10}, "range_constraints": self.ranges,
                "schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"], "torch_version": "2.15.0"}


def floats(*v):
    return struct.pack("<%df" % len(v), *v)


def members(p):
    """The members of the archive: (name, bytes)."""
    text = p if isinstance(p, dict) else p.json()
    config = {} if isinstance(p, dict) else p.config
    stored = {} if isinstance(p, dict) else p.bytes
    return ([("net/data/weights/" + k, v) for k, v in stored.items()] +
            [("net/data/weights/model_weights_config.json", json.dumps({"config": config}).encode()),
             ("net/data/constants/model_constants_config.json", b'{"config": {}}'),
             ("net/models/model.json", json.dumps(text).encode()), ("net/archive_format", b"pt2"),
             ("net/archive_version", b"0"), ("net/byteorder", b"little")])


def archive(list_of_members, compressed=()):
    to = io.BytesIO()
    with zipfile.ZipFile(to, "w") as z:
        for name, data in list_of_members:
            info = zipfile.ZipInfo(name, ZERO_DATE)
            z.writestr(info, data, zipfile.ZIP_DEFLATED if name in compressed else zipfile.ZIP_STORED)
    return to.getvalue()


def save(data):
    pathlib.Path(pathlib.Path(sys.argv[0]).stem + ".pt2").write_bytes(data)


def write(p):
    save(archive(members(p)))


def linear_net():
    """x [2,3] -> linear -> relu, with two weights that share a storage."""
    p = Program()
    w = p.weight("fc.weight", F32, [2, 3], floats(1, -2, 3, 0.5, 0.25, -1, 4, 5))
    b = p.weight("fc.bias", F32, [2], b"", offset=6, path="weight_0")
    p.input("x", F32, [2, 3])
    p.node("aten.linear.default", {"input": T("x"), "weight": w, "bias": b}, [("linear", F32, [2, 2])], "fc")
    p.node("aten.relu.default", {"self": T("linear")}, [("relu", F32, [2, 2])])
    p.output("relu")
    return p
