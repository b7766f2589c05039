"""arenac: plans and code of neural networks.

    import arenac
    m = arenac.compile("kws.tflite")          # compiled by the host compiler, into this process
    y, = m.run(x)                             # x: anything with __dlpack__; y: y.numpy(), torch.from_dlpack(y) ...
    y = m(x)                                  # NumPy or PyTorch in, the same out
    p = arenac.plan("kws.tflite", target="cortex-m4", stripe="auto")
    p.arena_bytes, p.optimal, [t.name for t in p.tensors]

    m = arenac.compile(net, x)                     # an nn.Module of PyTorch and example inputs: m(x) as net(x)
    q = arenac.quantize(net, calibration=batches)  # int8, with a report of what it costs: print(q)
    q.emit("kws.c", target="cortex-m4")            # firmware
    torch.compile(net, backend="arenac")

A model is a path, a list of paths (a model and its weights), bytes, an ONNX ModelProto, a torch.export.ExportedProgram,
what quantize returns, or an nn.Module with example inputs. Options are those of the command line, with underscores:
stripe="auto", exact=True, mem=["dtcm:64K,fast", "psram:8M"], dim={"batch": 1}. What arenac refuses raises Error, with
its exit status and diagnostics. PyTorch and NumPy are imported if something of theirs is given, and only then.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Union

from ._module import Module, made
from ._plan import Plan, Tensor, emitted, planned
from ._tool import Error, Model, Option, Path, call, is_torch, tool
from .quantizing import Calibration, Quantized, quantized

if TYPE_CHECKING:
    from .pytorch import TorchModule

__all__ = ["Error", "Module", "Plan", "Quantized", "Tensor", "compile", "emit", "plan", "quantize", "tool"]


def __dir__() -> List[str]:
    return sorted([*__all__, *(n for n in globals() if n.startswith("__"))])


def __getattr__(name: str) -> str:
    if name == "__version__":
        return call(["plan", "--version"]).stdout.split()[-1]
    raise AttributeError("module 'arenac' has no attribute '%s'" % name)


def _program(model: Model, args: Any, kwargs: Optional[Mapping[str, Any]], dynamic_shapes: Any) -> Model:
    """The model; an nn.Module as a program of torch.export."""
    if is_torch(model, "nn.Module"):
        from . import pytorch
        return pytorch.export(model, args, kwargs, dynamic_shapes)
    if args != () or kwargs or dynamic_shapes:
        raise TypeError("example inputs and dynamic_shapes belong to an nn.Module, not to %s; sizes are dim={...}, a "
                        "folder is folder=..." % type(model).__name__)
    return model


def plan(model: Model, args: Any = (), kwargs: Optional[Mapping[str, Any]] = None, *, dynamic_shapes: Any = None,
         **options: Option) -> Plan:
    """The memory plan of a model, or of the model and its weights file; of an nn.Module with example inputs, as in
    compile. Error: what arenac refuses, also a plan over its budget (status 4)."""
    return planned(["plan"], _program(model, args, kwargs, dynamic_shapes), options)


def emit(model: Model, path: Path, args: Any = (), kwargs: Optional[Mapping[str, Any]] = None, *,
         dynamic_shapes: Any = None, **options: Option) -> Plan:
    """Writes a model as C to `path`, with its header, or what emit="c,h,bin" names; gives the plan. An nn.Module needs
    example inputs, as in compile."""
    return emitted(_program(model, args, kwargs, dynamic_shapes), path, options)


def compile(model: Model, args: Any = (), kwargs: Optional[Mapping[str, Any]] = None, *, dynamic_shapes: Any = None,
            folder: "Optional[Path]" = None, **options: Option) -> "Union[Module, TorchModule]":
    """A model as a module of this process, made by the host compiler ($CC, else cc). Its sizes are fixed: dim={"seq":
    32}. `folder` keeps the files, which need nothing of this package: NAME.py and libNAME.so; `name` is NAME.

    An nn.Module of PyTorch is exported by torch.export with these example inputs (one, or a tuple) and keywords, and
    becomes a callable that takes the same arguments. `dynamic_shapes` is that of torch.export.export: each size that
    occurs is compiled once."""
    if is_torch(model, "nn.Module"):
        from . import pytorch
        return pytorch.compiled(model, args, kwargs, dynamic_shapes, folder, options)
    return made(_program(model, args, kwargs, dynamic_shapes), folder, options)


def quantize(model: Model, calibration: Calibration, *, labels: Any = None, **options: Option) -> Quantized:
    """A model of floats with 8-bit weights and tensors, whose ranges come from samples. Options are those of `arenac
    quantize`: activations="int16", keep="*head*", loss_budget=0.01.

    `calibration`: batches of samples, each an array, a tuple of arrays in the order of the inputs, or a dict by name;
    the first dimension of an array counts samples, about 100 in all. Or one such batch, or the path of an .npz file. An
    nn.Module takes as many arrays of a tuple as it has arguments without default: labels of a DataLoader are left out.
    `labels`: a class for each sample; the report then has the accuracy."""
    return quantized(model, calibration, labels, options)
