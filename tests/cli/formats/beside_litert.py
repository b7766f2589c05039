"""Random models of single TFLite operators, through LiteRT's reference kernels and through arenac; compares.

    beside_litert.py ARENAC DIR BACKEND SEEDS [PATTERN]

A case is a small model (class Model) whose inputs carry the values to feed. Results have the shapes that LiteRT finds.
Integers must be equal, floats within the case's tolerance.
"""
import fnmatch
import pathlib
import subprocess
import sys

import numpy as np

try:
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
except ImportError as e:
    print("skipped: %s is missing: pip install ai-edge-litert flatbuffers" % e.name)
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

TYPES = {"float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "complex64": 8,
         "int8": 9, "float64": 10, "uint64": 12, "uint32": 15, "uint16": 16}
VERSIONS = {"BROADCAST_TO": 2, "FULLY_CONNECTED": 9, "CONV_2D": 5, "DEPTHWISE_CONV_2D": 6, "DEQUANTIZE": 6}
REFERENCE, OTHER = OpResolverType.BUILTIN_REF, OpResolverType.BUILTIN  # the latter with XNNPACK


class Model:
    """A model under construction; tensors are numbers, as in the file."""

    def __init__(self, tolerance=0.0):
        self.tensors, self.ops, self.codes, self.feeds, self.outputs = [], [], [], {}, []
        self.buffers = [b""]
        self.tolerance = tolerance
        self.other = False  # LiteRT's reference kernels do not have it, its others do
        self.want = None  # of operators that LiteRT does not have: arrays by their definition
        self.subgraphs = []

    def tensor(self, dtype, shape, data=None, quant=None, kind=None):
        """kind: the element type's number, where numpy has none; quant: (scales, zero points, axis)."""
        t = schema.TensorT()
        t.name = "t%d" % len(self.tensors)
        t.type = TYPES[np.dtype(dtype).name] if kind is None else kind
        t.shape = list(shape)
        t.buffer = 0
        if quant is not None:
            q = schema.QuantizationParametersT()
            q.scale, q.zeroPoint, q.quantizedDimension = list(quant[0]), list(quant[1]), quant[2]
            t.quantization = q
        if data is not None:
            t.buffer = len(self.buffers)
            self.buffers.append(bytes(data))
        self.tensors.append(t)
        return len(self.tensors) - 1

    def input(self, v, quant=None):
        i = self.tensor(v.dtype, v.shape, quant=quant)
        self.feeds[i] = np.asarray(v)
        return i

    def const(self, v, quant=None):
        v = np.asarray(v)
        return self.tensor(v.dtype, v.shape, v.tobytes(), quant)

    def sparse(self, v, order, blocks, dense):
        """A constant as a tree of its elements: dimensions in that order, then blocks {dimension: size}; dense: which
        levels list all children."""
        p = schema.SparsityParametersT()
        rank, inside = v.ndim, sorted(blocks)
        p.traversalOrder, p.blockMap = [int(d) for d in order] + [rank + i for i in range(len(inside))], inside
        outer = [v.shape[d] // blocks.get(d, 1) for d in range(rank)]
        split = v.reshape([n for d in range(rank) for n in ([outer[d], blocks[d]] if d in blocks else [outer[d]])])
        at = [d + sum(b < d for b in inside) for d in range(rank)]
        tree = split.transpose([at[d] for d in order] + [at[d] + 1 for d in inside])
        p.dimMetadata, nodes = [], [tree]
        for level in range(tree.ndim):
            m = schema.DimensionMetadataT()
            m.denseSize = tree.shape[level]
            if level >= rank or dense[level]:
                nodes = [n[i] for n in nodes for i in range(len(n))]
            else:
                children = [[i for i in range(len(n)) if np.any(n[i])] for n in nodes]
                m.format, m.denseSize = schema.DimensionType.SPARSE_CSR, 0
                m.arraySegmentsType, m.arrayIndicesType = schema.SparseIndexVector.Int32Vector, \
                    schema.SparseIndexVector.Uint8Vector
                m.arraySegments, m.arrayIndices = schema.Int32VectorT(), schema.Uint8VectorT()
                m.arraySegments.values = np.cumsum([0] + [len(c) for c in children]).astype(np.int32)
                m.arrayIndices.values = np.array([i for c in children for i in c], np.uint8)
                nodes = [n[i] for n, c in zip(nodes, children) for i in c]
            p.dimMetadata.append(m)
        i = self.tensor(v.dtype, v.shape, np.array(nodes, v.dtype).tobytes())
        self.tensors[i].sparsity = p
        return i

    def blocks(self, w, data, scales, kind):
        """Weights with a scale for each block of their last dimension."""
        q, d = schema.QuantizationParametersT(), schema.BlockwiseQuantizationT()
        d.scales, d.zeroPoints, d.blockSize = self.const(scales), -1, w.size // scales.size
        q.details, q.detailsType = d, schema.QuantizationDetails.BlockwiseQuantization
        i = self.tensor("int8", w.shape, data, kind=kind)
        self.tensors[i].quantization = q
        return i

    def op(self, code, /, ins, outs, options=None, custom=None, **fields):
        """outs: element types, by name or number, or (type, quantisation). options: the schema's class, without its
        "OptionsT"."""
        if code not in self.codes:
            self.codes.append(code)
        o = schema.OperatorT()
        o.opcodeIndex = self.codes.index(code)
        o.inputs = list(ins)
        o.outputs = [self.tensor(d[0], [], quant=d[1]) if isinstance(d, tuple) else
                     self.tensor("int32", [], kind=d) if isinstance(d, int) else self.tensor(d, []) for d in outs]
        if options:
            t = getattr(schema, options + "OptionsT")()
            for k, v in fields.items():
                assert hasattr(t, k), k
                setattr(t, k, v)
            union = 2 if hasattr(schema.BuiltinOptions2, options + "Options") else 1
            kind = getattr(schema.BuiltinOptions2 if union == 2 else schema.BuiltinOptions, options + "Options")
            if union == 2:
                o.builtinOptions2, o.builtinOptions2Type = t, kind
            else:
                o.builtinOptions, o.builtinOptionsType = t, kind
        if custom is not None:
            o.customOptions = np.frombuffer(custom, np.uint8)
        self.ops.append(o)
        self.outputs = o.outputs
        return o.outputs

    def subgraph(self):
        """A further graph, with the buffers and operators of this one; its number is that among the subgraphs."""
        m = Model()
        m.buffers, m.codes = self.buffers, self.codes
        self.subgraphs.append(m)
        return m

    def graph(self):
        g = schema.SubGraphT()
        g.tensors, g.operators, g.inputs, g.outputs = self.tensors, self.ops, list(self.feeds), self.outputs
        return g

    def bytes(self):
        m = schema.ModelT()
        m.version = 3
        m.operatorCodes = []
        for name in self.codes:
            c = schema.OperatorCodeT()
            builtin = getattr(schema.BuiltinOperator, name, None)
            c.builtinCode = schema.BuiltinOperator.CUSTOM if builtin is None else builtin
            c.deprecatedBuiltinCode = min(c.builtinCode, 127)
            c.customCode = name if builtin is None else None
            c.version = VERSIONS.get(name, 1)
            m.operatorCodes.append(c)
        m.subgraphs = [self.graph()] + [s.graph() for s in self.subgraphs]
        m.buffers = []
        for data in self.buffers:
            b = schema.BufferT()
            b.data = np.frombuffer(data, np.uint8) if data else None
            m.buffers.append(b)
        builder = flatbuffers.Builder(1024)
        builder.Finish(m.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def theirs(m):
    """LiteRT's results; the shapes that it found become those of the model."""
    if m.want:
        for i, w in zip(m.outputs, m.want):
            m.tensors[i].shape = list(w.shape)
        return m.want
    kernels = OTHER if m.other else REFERENCE
    it = Interpreter(model_content=m.bytes(), experimental_op_resolver_type=kernels,
                     experimental_preserve_all_tensors=True, num_threads=1)
    it.allocate_tensors()
    for i, v in m.feeds.items():
        it.set_tensor(i, v)
    it.invoke()
    shapes = {d["index"]: d["shape"] for d in it.get_tensor_details()}
    made = {i for o in m.ops for i in o.outputs}
    for i in made:
        m.tensors[i].shape = [int(d) for d in shapes[i]]
    return [it.get_tensor(i) for i in m.outputs]


def ours(m, arenac, out, backend):
    path = pathlib.Path(out)
    (path / "m.tflite").write_bytes(m.bytes())
    args = []
    for k, v in enumerate(m.feeds.values()):
        np.save(path / ("in_%d.npy" % k), v)
        args += ["--input", "%d=%s" % (k, path / ("in_%d.npy" % k))]
    (path / "o").mkdir(exist_ok=True)
    for f in (path / "o").glob("*.npy"):
        f.unlink()
    r = subprocess.run([arenac, "run", "-q", path / "m.tflite", *args, "--output-dir", path / "o", "--backend",
                        backend], capture_output=True, text=True)
    if r.returncode:
        return r.stderr.strip() or "exit %d" % r.returncode
    return [np.load(path / "o" / ("%d.npy" % i)) for i in range(len(m.outputs))]


def differs(got, want, tolerance):
    for i, (g, w) in enumerate(zip(got, want)):
        if w.dtype == np.complex64:
            w = np.stack([w.real, w.imag], -1)
        if g.shape != w.shape:
            return "result %d is %s, expected %s" % (i, g.shape, w.shape)
        far = g != w
        if g.dtype.kind == "f":
            far = ~np.isclose(g, w, rtol=tolerance, atol=tolerance, equal_nan=True)
        if far.any():
            return "result %d: %s, expected %s; %d of %d" % (i, g[far].flat[0], w[far].flat[0], far.sum(), g.size)
    return None


def main(arenac, out, backend, seeds, pattern="*"):
    import litert_cases

    good, bad, none = 0, [], []
    for seed in range(int(seeds)):
        for name, m in litert_cases.cases(np.random.default_rng(seed), Model):
            if not fnmatch.fnmatch(name, pattern):
                continue
            try:
                want = theirs(m)
            except (RuntimeError, ValueError) as e:
                none.append("%s: LiteRT: %s" % (name, str(e).replace("\n", " ")[:200]))
                continue
            got = ours(m, arenac, out, backend)
            why = got if isinstance(got, str) else differs(got, want, m.tolerance)
            if why:
                bad.append("seed %d: %s: %s" % (seed, name, why))
            else:
                good += 1
    print("\n".join(sorted(set(none)) + bad))
    print("%d agree, %d do not, LiteRT cannot run %d" % (good, len(bad), len(none)))
    return bool(bad or none or not good)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
