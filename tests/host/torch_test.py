"""Modules of PyTorch through the package arenac: compile, quantise, torch.compile; docs/tutorial-pytorch.md.

  torch_test.py SOURCE_DIR      in a folder of its own; exits 77 without PyTorch"""
import pathlib
import sys
import warnings

import arenac

assert "torch" not in sys.modules and "numpy" not in sys.modules, "arenac imports what it may not need"
try:
    import numpy as np
    import torch
    from torch import nn
except ImportError as e:
    print("skipped: %s is missing: install torch and numpy from PyPI" % e.name)
    sys.exit(77)
torch.manual_seed(1)


def raises(kind, words, f):
    try:
        f()
    except kind as e:
        for word in words:
            assert word in str(e), "%r does not hold %r" % (str(e), word)
        return e
    raise AssertionError("nothing was raised; expected %s with %r" % (kind.__name__, words))


def near(a, b):
    return torch.allclose(torch.as_tensor(a), torch.as_tensor(b), atol=1e-5, rtol=1e-4, equal_nan=True)


# ---------------------------------------------------------------- the three lines
net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 10))
x, batches = torch.rand(1, 1, 8, 8), [(torch.rand(16, 1, 8, 8), torch.zeros(16)) for _ in range(4)]
want = net(x).detach()

m = arenac.compile(net, x)
q = arenac.quantize(net, calibration=batches)
plan = q.emit("kws.c", target="cortex-m4")

assert isinstance(m(x), torch.Tensor) and near(m(x), want)
assert isinstance(m(x.numpy()), np.ndarray) and near(m(x.numpy()), want)
assert near(m(x.requires_grad_()), want) and near(m(x.transpose(2, 3).contiguous().transpose(2, 3)), want)


class Lent:
    """What has DLPack and nothing else."""

    def __init__(self, a):
        self.a = a

    def __dlpack__(self, **words):
        return self.a.__dlpack__(**words)

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()


x = x.detach()
assert near(torch.from_dlpack(m(Lent(x))), want)
assert "kws_run" in pathlib.Path("kws.h").read_text() and plan.arena_bytes > 0
assert plan.arena_bytes < arenac.plan(net, x, target="cortex-m4").arena_bytes
assert q.report["integer_products"] == 2 and q.output_db > 35 and len(q.worst) == 2
assert "worst for the outputs" in str(q)
assert (q.compile()(x) - want).abs().max() < want.abs().max() / 20
q.save("kws.onnx")
assert arenac.plan("kws.onnx").arena_bytes == arenac.plan(q).arena_bytes
arenac.emit(net, "floats.c", x)
assert near(arenac.compile(torch.export.export(net, (x,)))(x), want)

# calibration: one array, dicts by name, a file; options and labels
inputs = torch.cat([b[0] for b in batches])
same = [arenac.quantize(net, c).model for c in (inputs, inputs.numpy(), {"input": inputs}, [{"input": inputs}])]
np.savez("samples.npz", input=inputs.numpy())
assert all(s == q.model for s in same) and arenac.quantize(net, "samples.npz").model == q.model
classes = net(inputs).argmax(1)
assert arenac.quantize(net, inputs, labels=classes, weights="int4").report["float_accuracy_percent"] == 100
raises(ValueError, ["no batch"], lambda: arenac.quantize(net, []))
raises(arenac.Error, ["too few"], lambda: arenac.quantize(net, inputs[:4]))


# ---------------------------------------------------------------- arguments and results
class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, pair, *, scale=1, mask=None):
        a, b = pair["a"], pair["b"]
        y = self.lin(a) * scale
        return {"sum": y + b, "twice": (y, y), "none": None, "scale": scale, "mask": mask, "input": b}


class Halves(nn.Module):
    def forward(self, x):
        return x > 0.5, x.half().sum(), x.bfloat16()


nested = Nested().eval()
pair = {"a": torch.rand(2, 3), "b": torch.rand(2, 3)}
m = arenac.compile(nested, (pair,), {"scale": 3})
got, want = m(pair, scale=3), nested(pair, scale=3)
assert got.keys() == want.keys() and got["none"] is None and got["scale"] == 3
assert near(got["sum"], want["sum"]) and near(got["twice"][1], want["twice"][1]) and near(got["input"], pair["b"])
raises(ValueError, ["compiled for scale=3, not 4"], lambda: m(pair, scale=4))
raises(TypeError, ["nested"], lambda: m(pair))
raises(TypeError, ["pair"], lambda: m())
raises(ValueError, ["shape [2, 3], not [4, 3]", "dynamic_shapes"], lambda: m(dict(pair, a=torch.rand(4, 3)), scale=3))
raises(ValueError, ["f64"], lambda: m(dict(pair, a=pair["a"].double()), scale=3))

# layers that PyTorch does by one operator of its own; types that NumPy does not have
layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
x = torch.rand(1, 3, 8)
assert near(arenac.compile(layer, x)(x), layer(x).detach()) and torch.backends.mha.get_fastpath_enabled()
x = torch.rand(3)
halves = arenac.compile(Halves(), x)
assert all(torch.equal(a, b) for a, b in zip(halves(x), Halves()(x)))
assert [type(y).__name__ for y in halves(x.numpy())] == ["ndarray", "ndarray", "Tensor"]

# open sizes
n = torch.export.Dim("n", max=9)
lin = nn.Linear(3, 2)
m = arenac.compile(lin, torch.rand(2, 3), dynamic_shapes={"input": {0: n}})
for count in 2, 5, 2:
    x = torch.rand(count, 3)
    assert near(m(x), lin(x).detach())
raises(arenac.Error, ["9"], lambda: m(torch.rand(10, 3)))


# buffers are state
class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(2))

    def forward(self, x, y=None):
        self.n.add_(x)
        return self.n * 2, None if y is None else y + 1


m = arenac.compile(Counter(), torch.ones(2))
assert [float(m(torch.ones(2))[0][0]) for _ in range(3)] == [2, 4, 6]
m.reset()
assert float(m(torch.ones(2))[0][0]) == 2
raises(arenac.Error, ["changes its buffers b_n", "dynamic_shapes"], lambda: arenac.compile(
    Counter(), (torch.ones(2), torch.ones(3)), dynamic_shapes={"x": None, "y": {0: n}}))


# ---------------------------------------------------------------- errors name the module and the cure
class Bad(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def forward(self, x):
        if self.kind == "branch":
            return x if x.sum() > 0 else -x
        if self.kind == "shape":
            return x @ torch.ones(7, 7)
        if self.kind == "changes":
            x[:, 1:] += 1
        if self.kind == "unknown":
            x = torch.special.zeta(x, x)
        return nn.functional.dropout(x, 0.5, self.kind == "training")


def stack(kind):
    return nn.Sequential(nn.ReLU(), nn.ModuleDict({"head": Bad(kind)})["head"])


for kind, words in (("branch", ["in 1 (Bad)", "torch_test.py", "torch.where or torch.cond"]),
                    ("shape", ["in 1 (Bad)", "the example inputs"]), ("unknown", ["'1/special_zeta'", "custom"]),
                    ("training", ["'1/dropout'", "model.eval()"])):
    e = raises(arenac.Error, words, lambda: arenac.compile(stack(kind), torch.rand(2, 3)))
    assert e.status == 8, e.status
raises(arenac.Error, ["its argument x in place", "x = x + 1"], lambda: arenac.compile(Bad("changes"), torch.rand(2, 3)))
raises(TypeError, ["folder=..."], lambda: arenac.compile("kws.onnx", "folder"))


# ---------------------------------------------------------------- torch.compile
def calls(net, *inputs, grad=False, compare=True):
    """The results of torch.compile(net) and what it warns."""
    torch._dynamo.reset()
    with warnings.catch_warnings(record=True) as said, torch.set_grad_enabled(grad):
        warnings.simplefilter("always")
        made = torch.compile(net, backend="arenac")
        got = [made(x.clone()) for x in inputs]
    want = [net(x.clone()) for x in inputs]
    assert not compare or all(near(a.detach(), b.detach()) for a, b in zip(got, want)), (got, want)
    return made, [str(w.message) for w in said if w.category is RuntimeWarning]


class View(nn.Module):
    def forward(self, x):
        return x.view(-1), x + 1


class Broken(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.norm = nn.Linear(3, 3), nn.Linear(3, 3), nn.BatchNorm1d(3)

    def forward(self, x):
        x = self.norm(self.one(x))
        if x.sum() > 100:  # a graph break
            x = -x
        return self.two(x).relu()


x = torch.rand(2, 3)
net = Broken().eval()
made, said = calls(net, x)
assert not said, said
with torch.no_grad():
    net.one.weight.mul_(2)  # weights are constants of the code: it is made again
    assert near(made(x), net(x))
_, said = calls(lin, torch.rand(2, 3), torch.rand(4, 3), torch.rand(5, 3), torch.rand(4, 3))
assert not said, said
for net, grad, word in ((lin, True, "torch.no_grad()"), (Bad("unknown"), False, "not supported"),
                        (Bad("changes"), False, "in place"), (Bad("training"), False, "eval()"),
                        (View(), False, "share memory")):
    _, said = calls(net, torch.rand(2, 3), grad=grad, compare=word not in ("eval()", "share memory"))
    assert any(word in s for s in said), (net, said)
print("torch")
