#!/usr/bin/env python3
"""operators.py - models of one operator or two, of every format: operands of any type and shape, left out, constant or
not, and attributes of any value. arenac must end with a status of its contract: no signal, no internal error, no
report of a sanitizer, and code that is written must not be proven wrong.

    operators.py ARENAC [--seed N] [--models N | --seconds S] [FORMAT]...      tflite onnx tf mxnet caffe

Operators come from the tables of the readers (import/FORMAT/*.def), names of attributes from the functions that read
them. A model that fails is kept in the present folder as FORMAT-SEED-NUMBER, and its command line is printed.
"""
import argparse
import glob
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "golden"), str(ROOT / "models")]
import onnx_bytes as onnx
import tflite_bytes as tfl

LONG = (2**63 - 1, -2**63, 2**31, 2**31 - 1, -2**31, 100000)
FLOATS = (0.0, 0.5, 1.0, -1.0, 1e30, -1e30, float("nan"), float("inf"))
WORDS = ("SAME_UPPER VALID SAME NOTSET NHWC NCHW constant reflect edge wrap linear nearest cubic floor mean sum max "
         "avg none DCR CRD bilinear ij,jk->ik relu sigmoid valid full").split()
VERBS = (("check", "-q"), ("plan", "-q", "--stripe", "auto", "--overlap", "on"), ("prove", "-q"),
         ("prove", "-q", "-t", "cortex-m4"), ("compile", "-q", "--emit", "c,h", "-o", "out.c"))


def table(path, pattern):
    return [m.groups() for m in re.finditer(pattern, (ROOT / "import" / path).read_text(), re.M)]


def strings_of(folder, prefix):
    """By the name after the prefix: the strings in a function of the reader, and in those of its file that it calls."""
    found = {}
    for path in glob.glob(str(ROOT / "import" / folder / "**" / "*.c"), recursive=True):
        with open(path) as f:
            text = f.read()
        functions = re.finditer(r"^(?:static )?[\w *]+?\b(\w+)\([^;{]*\)\n\{(.*?)^\}", text, re.M | re.S)
        body = {m[1]: m[2] for m in functions}

        def strings(name, depth):
            own = set(re.findall(r'"([A-Za-z_]\w{1,30})"', body[name]))
            for called in re.findall(r"\b(\w+)\(", body[name]) if depth else ():
                if called in body and called != name:
                    own |= strings(called, depth - 1)
            return own

        found.update({name[len(prefix):]: sorted(strings(name, 3)) for name in body if name.startswith(prefix)})
    return found


class Maker:
    """Random parts of models. Most numbers are small, so that most models are nearly right."""

    def __init__(self, r):
        self.r = r
        self.base = self.shape()

    def chance(self, p):
        return self.r.random() < p

    def shape(self):
        rank = self.r.choice((0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 4, 4, 4, 5, 6, 9))
        return [self.r.choice((1, 1, 2, 3, 4, 4, 4, 6, 8, 0)) for _ in range(rank)]

    def near(self):
        d = list(self.base)
        if d and self.chance(.3):
            d[self.r.randrange(len(d))] = self.r.choice((1, 2, 3, 0))
        d = d[1:] if self.chance(.15) else d
        return d if self.chance(.8) else self.shape()

    def whole(self):
        return self.r.choice((0, 1, 1, 2, 2, 3, -1)) if self.chance(.95) else self.r.choice(LONG)

    def wholes(self, most=6):
        return [self.whole() for _ in range(self.r.choice((0, 1, 2, 2, 3, 4, 4, most)))]

    def real(self):
        return self.r.choice(FLOATS[:3] if self.chance(.7) else FLOATS)

    def operands(self, least, most):
        least, most = int(least), min(int(most), 6)
        n = self.r.choice((most, self.r.randint(least, most))) if most > least else least
        return max(0, n + self.r.choice((-1, 1))) if self.chance(.05) else n

    def constant(self):
        """The shape and the number of elements of a constant: a scalar, a list for dimensions, or like the others."""
        d = self.r.choice(([], [self.r.choice((1, 2, 3, 4, len(self.base), 2 * len(self.base)))], self.near()))
        n = 1
        for x in d:
            n *= x
        return (d, n) if n <= 4096 else ([1], 1)


# ---------------------------------------------------------------------------------------------------------- formats


def make_tflite(m, rows, options):
    kind = m.r.choice((tfl.F32, tfl.F32, tfl.I8, tfl.I32, tfl.I16, tfl.U8, tfl.I64, tfl.BOOL))
    quantised = {"scale": .5, "zero": 1} if kind in (tfl.I8, tfl.U8) or (kind == tfl.I16 and m.chance(.5)) else {}
    tensors, ops, ins = [], [], []

    def add(dtype, shape, **more):
        tensors.append(tfl.tensor("t%d" % len(tensors), dtype, shape, **more))
        return len(tensors) - 1

    def given(dtype, shape, **more):
        ins.append(add(dtype, shape, **more))
        return ins[-1]

    def add_op(row, first):
        """An operator, whose operand 0 is `first` where there is one; its results."""
        name, set_, least, most, results = row
        operands = []
        for i in range(m.operands(least, most)):
            if m.chance(.05):
                operands.append(-1)
            elif i == 0 or m.chance(.4):
                operands.append(first if first is not None and i == 0 else given(kind, m.near(), **quantised))
            elif m.chance(.2):
                operands.append(given(tfl.I32, [max(1, len(m.base))]))
            else:
                d, n = m.constant()
                data = struct.pack("<%di" % n, *[m.r.choice((0, 1, 1, 2, -1)) for _ in range(n)])
                operands.append(add(tfl.I32, d, data=data))
        shapes = [m.base if m.chance(.7) else m.near() for _ in range(m.operands(results, results))]
        outs = [add(kind, shape, **quantised) for shape in shapes]
        union, fields = options.get(set_, (0, []))
        value = {"f32": lambda: tfl.f32(m.real()),
                 "ints": lambda: tfl.ints(*[m.r.choice((0, 1, -1, 2)) for _ in range(3)]),
                 "i32": lambda: tfl.i32(max(-2**31, min(2**31 - 1, m.whole()))),
                 "size": lambda: tfl.i32(m.r.choice((1, 1, 2, 3, 0, -1, 2**31 - 1)))}
        made = {int(k): value.get(t, lambda: tfl.i8(m.r.choice((0, 0, 1, 2, 3))))() for k, t in fields if m.chance(.8)}
        options_of = (union, made) if union and m.chance(.9) else ()
        ops.append(tfl.op(name, operands, outs, *options_of))
        return outs

    first = None
    if m.chance(.3):  # rows that data count
        chosen, where = given(tfl.I32, [6]), add(tfl.I64, [6, 1])
        x, first = given(kind, [6] + m.base[1:], **quantised), add(kind, [6] + m.base[1:], **quantised)
        ops += [tfl.op("WHERE", [chosen], [where]), tfl.op("GATHER_ND", [x, where], [first])]
    outs = add_op(m.r.choice(rows), first)
    if outs and m.chance(.4):  # another one reads it
        outs = add_op(m.r.choice([r for r in rows if int(r[3])]), outs[0])
    tfl.write(tensors, ops, ins, outs)
    return ["operators.tflite"]


def make_onnx(m, rows, names):
    kind = m.r.choice((1, 1, 1, 1, 6, 7, 7, 2, 3, 9, 10, 11, 16))
    ins, weights, nodes = [], [], []

    def attribute(name):
        form = m.r.random()
        if form < .35:
            return onnx.attr_int(name, m.whole() & (2**64 - 1))
        if form < .5:
            return onnx.attr_float(name, m.real())
        if form < .65:
            return onnx.attr_word(name, m.r.choice(WORDS))
        return onnx.attr_ints(name, [x & (2**64 - 1) for x in m.wholes()])

    def add(row, first):
        """A node, whose operand 0 is `first` where there is one; its results."""
        op, domain, _, _, least, most, outs, adapter = row
        operands = []
        for i in range(m.operands(least, most)):
            if i >= int(least) and m.chance(.15):
                operands.append("")
                continue
            if first and i == 0:
                operands.append(first)
                continue
            operands.append("x%d_%d" % (len(nodes), i))
            if i == 0 or m.chance(.45):
                ins.append((operands[-1], kind if m.chance(.85) else m.r.choice((1, 6, 7, 9)), m.near()))
                continue
            d, n = m.constant()
            dtype, form, value = m.r.choice(((7, "q", m.whole), (7, "q", m.whole), (1, "f", m.real)))
            data = struct.pack("<%d%s" % (n, form), *[value() for _ in range(n)])
            weights.append(onnx.tensor(operands[-1], dtype, d, data))
        likely = m.r.choice((.1, .35, .6))
        attributes = b"".join(attribute(a) for a in names.get(adapter, ()) if m.chance(likely))
        results = ["y%d_%d" % (len(nodes), i) for i in range(m.r.randint(1, max(1, min(int(outs), 3))))]
        nodes.append(onnx.node(op, operands, results, attributes, domain=domain))
        return results

    row = m.r.choice(rows)
    since, until = int(row[2]), int(row[3])
    version = max(since, min(until, m.r.choice((since, since + 3, 11, 13, 18, 22))))
    sets = [("", version)] if not row[1] else [("", 18), (row[1], since)]
    results = add(row, None)
    if m.chance(.4):  # another one reads it
        after = [r for r in rows if not r[1] and int(r[2]) <= sets[0][1] <= int(r[3]) and int(r[5])]
        if "Sequence" in row[0] and m.chance(.8):
            after = [r for r in after if "Sequence" in r[0]] or after
        results = add(m.r.choice(after), results[0]) if after else results
    outs = [(y, kind, m.base) for y in results]
    onnx.write(onnx.model(onnx.graph(nodes, ins, outs, weights), opsets=sets))
    return ["operators.onnx"]


TF_TYPES = ["DT_FLOAT"] * 6 + ["DT_INT32"] * 3
TF_TYPES += "DT_INT64 DT_BOOL DT_HALF DT_UINT8 DT_INT8 DT_COMPLEX64 DT_DOUBLE".split()
TF_USUAL = {
    "strides": ["list { i: 1 i: 2 i: 1 i: 1 }", "list { i: 1 i: 1 i: 1 i: 1 }", "list { i: 1 i: 1 i: 1 i: 1 i: 1 }"],
    "ksize": ["list { i: 1 i: 2 i: 3 i: 1 }", "list { i: 1 i: 1 i: 2 i: 2 i: 1 }"],
    "padding": ['s: "SAME"', 's: "VALID"'], "data_format": ['s: "NHWC"', 's: "NCHW"'],
    "dilations": ["list { i: 1 i: 2 i: 2 i: 1 }"], "DstT": ["type: DT_INT32", "type: DT_FLOAT"],
    "equation": ['s: "ab,bc->ac"', 's: "a...,b...->..."', 's: "aa->a"']}


def make_tf(m, rows, names):
    kind = m.r.choice(TF_TYPES)
    dims = lambda d: "shape { %s }" % " ".join("dim { size: %d }" % x for x in d)
    attr = lambda name, value: " attr { key: \"%s\" value { %s } }" % (name, value)

    def value():
        return m.r.choice((lambda: "i: %d" % m.whole(), lambda: "f: %s" % m.real(), lambda: "b: true",
                           lambda: 's: "%s"' % m.r.choice(WORDS), lambda: "type: " + m.r.choice(TF_TYPES),
                           lambda: "list { %s }" % " ".join("i: %d" % x for x in m.wholes()),
                           lambda: dims(m.shape())))()

    def add(row, name, first):
        """The nodes of an operator and of its operands; `first`, if given, is the first operand."""
        op, least, most, adapter = row
        inputs, text = [], ""
        for i in range(m.operands(least, most)):
            if first and i == 0:
                inputs.append(first)
                continue
            inputs.append("%s_%d" % (name, i))
            if (i == 0 and m.chance(.8)) or m.chance(.4):
                dtype = kind if m.chance(.85) else m.r.choice(TF_TYPES)
                given = attr("dtype", "type: " + dtype) + attr("shape", dims(m.near()))
                text += 'node { name: "%s" op: "Placeholder"%s }\n' % (inputs[-1], given)
                continue
            dtype, field, v = m.r.choice((("DT_INT32", "int_val", lambda: m.r.choice((0, 1, 1, 2, 3, -1, 2**31 - 1))),
                                          ("DT_INT64", "int64_val", m.whole), ("DT_FLOAT", "float_val", m.real),
                                          ("DT_BOOL", "bool_val", lambda: "true")))
            d, count = m.constant()
            values = " ".join("%s: %s" % (field, v()) for _ in range(min(count, 64)))
            tensor = "tensor { dtype: %s tensor_%s %s }" % (dtype, dims(d), values)
            given = attr("dtype", "type: " + dtype) + attr("value", tensor)
            text += 'node { name: "%s" op: "Const"%s }\n' % (inputs[-1], given)
        own = {**TF_USUAL, **{a: ["type: " + kind] for a in ("T", "dtype", "SrcT")}, "N": ["i: %d" % len(inputs)]}
        chosen = [a for a in sorted({"T", *names.get(adapter, ())}) if m.chance(.85 if a in own else .3)]
        attributes = "".join(attr(a, m.r.choice(own[a]) if a in own and m.chance(.85) else value()) for a in chosen)
        inputs = " ".join('input: "%s"' % i for i in inputs)
        return text + 'node { name: "%s" op: "%s" %s%s }\n' % (name, op, inputs, attributes)

    text, last = add(m.r.choice(rows), "n", None), "n"
    if m.chance(.4):  # another one reads it
        text, last = text + add(m.r.choice([r for r in rows if int(r[2])]), "o", "n"), "o"
    pathlib.Path("operators.pbtxt").write_text(text)
    return ["operators.pbtxt", "--outputs", last if m.chance(.9) else last + ":1"]


def make_mxnet(m, rows, names):
    types, nodes = (0, 0, 0, 0, 1, 2, 3, 4, 5, 6), []
    kind = m.r.choice(types)

    def add(row, first):
        op, least, most, adapter = row
        inputs = []
        for i in range(m.operands(least, most)):
            if first and i == 0:
                inputs.append(first)
                continue
            inputs.append([len(nodes), 0, 0])
            nodes.append({"op": "null", "name": "x%d" % len(nodes), "inputs": [],
                          "attrs": {"__shape__": str(tuple(x or 1 for x in m.near())),
                                    "__dtype__": str(kind if m.chance(.85) else m.r.choice(types))}})

        def value():
            return m.r.choice((lambda: str(m.whole()), lambda: str(m.real()), lambda: str(tuple(m.wholes())),
                               lambda: "(%d, %d)" % (m.whole(), m.whole()),
                               lambda: m.r.choice(("True", "False", "None")),
                               lambda: m.r.choice(names.get(adapter) or WORDS)))()

        likely = m.r.choice((.2, .5, .9))
        attributes = {a: value() for a in names.get(adapter, ()) if m.chance(likely)}
        nodes.append({"op": op, "name": "n%d" % len(nodes), "attrs": attributes, "inputs": inputs})
        return [len(nodes) - 1, m.r.choice((0, 0, 0, 1)), 0]

    last = add(m.r.choice(rows), None)
    if m.chance(.4):  # another one reads it
        last = add(m.r.choice([r for r in rows if int(r[2])]), last)
    made = [i for i, n in enumerate(nodes) if n["op"] == "null"]
    with open("operators-symbol.json", "w") as f:
        json.dump({"nodes": nodes, "arg_nodes": made, "heads": [last]}, f)
    return ["operators-symbol.json", "--random", "1"]


def make_caffe(m, rows, parameters):
    def add(row, name, first):
        kind, least, most, fewest, tops = row
        bottoms, text = [], ""
        for i in range(m.operands(least, most)):
            if first and i == 0:
                bottoms.append(first)
                continue
            bottoms.append("%s_%d" % (name, i))
            shape = " ".join("dim: %d" % x for x in m.near())
            own = 'input_param { shape { %s } }' % shape
            text += 'layer { name: "%s" type: "Input" top: "%s" %s }\n' % (bottoms[-1], bottoms[-1], own)
        word = lambda: m.r.choice(("true", "MAX", "AVE", "SUM", "PROD"))
        number = lambda: str(m.r.choice((m.whole, m.whole, m.real, word))())
        fields = lambda g: " ".join("%s: %s" % (f, number()) for f in parameters[g] if m.chance(.5))
        message = lambda g: "%s { %s } " % (g, fields(g))
        own = [g for g in parameters if g.replace("_", "").startswith(kind.lower()[:6])]
        given = "".join(message(g) for g in own or [m.r.choice(sorted(parameters))])
        results = ["%s_y%d" % (name, i) for i in range(m.operands(fewest, min(int(tops), 3)))]
        named = lambda field, names: " ".join('%s: "%s"' % (field, n) for n in names)
        ends = named("bottom", bottoms), named("top", results)
        return text + 'layer { name: "%s" type: "%s" %s %s %s}\n' % (name, kind, *ends, given), results

    text, results = add(m.r.choice(rows), "n", None)
    if results and m.chance(.4):  # another one reads it
        text += add(m.r.choice([r for r in rows if int(r[2])]), "o", results[0])[0]
    pathlib.Path("operators.prototxt").write_text(text)
    return ["operators.prototxt", "--random", "1"]


def tflite_rows():
    """(name, options, operands at least and at most, results) of each supported operator."""
    own = table("../ir/ops/ops.def", r'^OP\( *\w+, *"\w+", *"(\w+)", *(\d+), *(\d+), *(-?\d+),')
    size = {name: (least, most, max(1, int(results))) for name, least, most, results in own}
    plain = table("tflite/operators.def", r"^TFL\( *\d+, (\w+), *(\w+)")
    made = table("tflite/operators.def", r"^COMPOSED\( *\d+, (\w+), *(\w+), *\w+, *\w+, *(\d+), *(\d+), *(\d+)")
    return [(name, options, *size[name]) for name, options in plain if name in size] + made


def formats():
    """By name: the function that creates a model, and its arguments."""
    word, number = r" *(\w+)", r" *(\d+)"
    row = lambda mark, *columns: r"^%s\(" % mark + ",".join(columns)
    options = table("tflite/operators.def", r"^OPTIONS\((\w+), (\d+), \w+,((?:.|\n  )*)")
    unions = {set_: (int(union), re.findall(r"F\((\d+), \w+, (\w+)", fields)) for set_, union, fields in options}
    schema = (ROOT / "import" / "caffe" / "schema.def").read_text()
    messages = re.finditer(r"MESSAGE\((\w+)\)(.*?)(?=MESSAGE|\Z)", schema, re.S)
    fields = {m[1]: re.findall(r"(?:INT|FLOAT|STR)\(\d+, (\w+)\)", m[2]) for m in messages}
    subs = re.findall(r"SUB\(\d+, (\w+_param), (\w+)\)", schema)
    return {
        "tflite": (make_tflite, tflite_rows(), unions),
        "onnx": (make_onnx, table("onnx/nodes.def", row("ONXB?", word, r' *"([^"]*)"', *[number] * 5, word)),
                 strings_of("onnx", "ac_onx_do_")),
        "tf": (make_tf, table("tf/nodedefs.def", row("TFOB?", word, number, number, word)),
               strings_of("tf", "ac_tf_do_")),
        "mxnet": (make_mxnet,
                  table("mxnet/symbols.def", row("MXB?", r" *([\w.]+)", number, number, r' *"[^"]*"', word)),
                  strings_of("mxnet", "ac_mx_do_")),
        "caffe": (make_caffe, table("caffe/layers.def", row("CAFB?", word, *[number] * 4)),
                  {field: fields.get(message, []) for field, message in subs})}


# ------------------------------------------------------------------------------------------------------------- runs


def failure(arenac, args):
    """The failure, None: none; and the status."""
    try:
        p = subprocess.run([arenac, *args], capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "it does not end", None
    said = p.stderr.decode("utf-8", "replace")
    if p.returncode not in (0, 1, 2, 3, 4, 5, 6, 8) or re.search("E09|Sanitizer|runtime error", said):
        return "status %d\n%s" % (p.returncode, said[-2000:]), p.returncode
    return None, p.returncode


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("arenac", type=os.path.abspath)
    p.add_argument("format", nargs="*")
    p.add_argument("--seed", type=int, default=int(time.time()))
    p.add_argument("--models", type=int, default=200, help="of each format")
    p.add_argument("--seconds", type=float, help="for each format, instead of --models")
    o = p.parse_intermixed_args()
    keep, failed, sys.argv[0] = os.getcwd(), 0, "operators"
    for name, (make, rows, names) in formats().items():
        if o.format and name not in o.format:
            continue
        assert rows and names, name
        end, n, by = time.monotonic() + (o.seconds or 0), 0, {}
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            while time.monotonic() < end if o.seconds else n < o.models:
                m = Maker(random.Random("%s %d %d" % (name, o.seed, n)))
                files, verb = make(m, rows, names), m.r.choice(VERBS)
                args = [verb[0], *files, *verb[1:]]
                what, status = failure(o.arenac, args)
                by[status] = by.get(status, 0) + 1
                if what:
                    failed += 1
                    kept = os.path.join(keep, "%s-%d-%d" % (name, o.seed, n))
                    shutil.copytree(folder, kept, dirs_exist_ok=True)
                    print("FAILED: %s: arenac %s: %s" % (kept, " ".join(args), what), flush=True)
                n += 1
            os.chdir(keep)
        statuses = ", ".join("%s: %d" % x for x in sorted(by.items(), key=str))
        print("%-8s %d models of %d operators; by status %s" % (name, n, len(rows), statuses), flush=True)
        failed += not by.get(0)  # nothing was right: it tests nothing
    return failed > 0


sys.exit(main())
