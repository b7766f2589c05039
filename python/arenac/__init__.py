"""arenac: plans and code of neural networks.

    import arenac
    p = arenac.plan("kws.tflite", target="cortex-m4", stripe="auto")
    p.arena_bytes, p.optimal, [t.name for t in p.tensors]
    m = arenac.compile("kws.tflite")          # compiled by the host compiler, into this process
    y, = m.run(x)                             # x: anything with __dlpack__; y: y.numpy(), torch.from_dlpack(y) ...
    y, = m.run({"mfcc": x})                   # by name

A model is a path, a list of paths (a model and its weights), bytes, or an ONNX ModelProto. Options are those of the
command line, with underscores: stripe="auto", exact=True, mem=["dtcm:64K,fast", "psram:8M"], dim={"batch": 1}.
What arenac refuses raises Error, with its exit status and diagnostics.
"""
from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

__all__ = ["Error", "Module", "Plan", "Tensor", "compile", "plan", "tool"]

Path = Union[str, "os.PathLike[str]"]
Model = Union[Path, bytes, Sequence[Path], Any]  # Any: what has SerializeToString, as onnx.ModelProto
Value = Union[str, int, float, "os.PathLike[str]"]
Option = Union[Value, bool, None, Sequence[Value], Mapping[str, Value]]


def __dir__() -> List[str]:
    return sorted([*__all__, *(n for n in globals() if n.startswith("__"))])


def __getattr__(name: str) -> str:
    if name == "__version__":
        return _call(["plan", "--version"]).stdout.split()[-1]
    raise AttributeError("module 'arenac' has no attribute '%s'" % name)


class Error(RuntimeError):
    """arenac ended with `status` (docs/errors.md); `diagnostics` as in its JSON report, if there was one."""

    def __init__(self, message: str, status: int, diagnostics: Optional[List[Dict[str, Any]]] = None) -> None:
        super().__init__(message)
        self.status = status
        self.diagnostics = diagnostics or []


@dataclass(frozen=True)
class Tensor:
    """A tensor of a plan: where it lies, and from which step to which, both inclusive."""

    name: str
    kind: str
    dtype: str
    shape: Tuple[int, ...]
    bytes: int
    memory: str
    offset_bytes: int
    first_step: int
    last_step: int


@dataclass(frozen=True)
class Plan:
    """A memory plan. `report` is all of it: the JSON document of `arenac plan --json`. A plan of several sizes (dim=
    "n=1..8") or models has one arena and no list of tensors; what each of them needs is in report["models"]."""

    arena_bytes: int
    lower_bound_bytes: int
    optimal: bool
    tensors: List[Tensor] = field(repr=False)
    report: Dict[str, Any] = field(repr=False)


def tool() -> str:
    """The path of the arenac that belongs to this package; $ARENAC names another one."""
    given = os.environ.get("ARENAC")
    if given:
        return given
    try:
        files = importlib.metadata.files("arenac") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for f in files:
        if f.name in ("arenac", "arenac.exe") and f.parent.name in ("bin", "Scripts"):
            return str(pathlib.Path(str(f.locate())).resolve())
    found = shutil.which("arenac")
    if not found:
        raise Error("there is no arenac: neither in this package nor on PATH", 3)
    return found


@contextlib.contextmanager
def _paths(model: Model) -> Iterator[List[str]]:
    """The files of a model; one that is in memory becomes a file for as long as it is read."""
    data = model.SerializeToString() if hasattr(model, "SerializeToString") else model
    if isinstance(data, (bytes, bytearray, memoryview)):
        with tempfile.TemporaryDirectory(prefix="arenac-") as folder:
            path = pathlib.Path(folder) / "model"
            path.write_bytes(data)
            yield [str(path)]
        return
    several = [data] if isinstance(data, (str, os.PathLike)) else data
    if not isinstance(several, (list, tuple)) or not all(isinstance(m, (str, os.PathLike)) for m in several):
        kind = type(model).__name__
        raise TypeError("a model is a path, a list of paths, bytes or an ONNX ModelProto, not %s" % kind)
    yield [os.fspath(m) for m in several]


def _values(name: str, value: Option) -> List[Value]:
    """One value, those of a list, or of a dict {"seq": 20}: "seq=20", as the command line has them."""
    if isinstance(value, Mapping):
        between = ":" if name == "mem" else "="
        return ["%s%s%s" % (k, between, v) for k, v in value.items()]
    several: List[Value] = []
    for v in value if isinstance(value, (list, tuple)) else (value,):
        if not isinstance(v, (str, int, float, os.PathLike)):
            raise TypeError("%s=...: %s is no value of an option" % (name, type(v).__name__))
        several.append(v)
    return several


def _words(options: Dict[str, Option]) -> List[str]:
    words: List[str] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")  # const_=..., as from_="onnx"
        if value is None or value is False:
            continue
        words += [option if v is True else "%s=%s" % (option, v) for v in _values(name.rstrip("_"), value)]
    return words


def _call(words: List[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([tool(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8", errors="replace", check=False)


def _document(text: str) -> Dict[str, Any]:
    try:
        return dict(json.loads(text))
    except ValueError:
        return {}


def _tensor(t: Dict[str, Any]) -> Tensor:
    return Tensor(t["name"], t["kind"], t["dtype"], tuple(t["shape"] or []), t["bytes"], t["memory"], t["offset_bytes"],
                  t["first_step"], t["last_step"])


def _of_several(report: Dict[str, Any]) -> Plan:
    bounds = [m["lower_bound_bytes"] for m in report["models"]]
    bound = sum(bounds) if report["share"] == "concurrent" else max(bounds)
    return Plan(report["arena_bytes"], bound, all(m["optimal"] for m in report["models"]), [], report)


def plan(model: Model, **options: Option) -> Plan:
    """The memory plan of a model, or of the model and its weights file. Error: what arenac refuses, also a plan over
    its budget (status 4)."""
    with _paths(model) as paths:
        done = _call(["plan", "-q", "--json", *_words(options), "--", *paths])
    report = _document(done.stdout)
    if done.returncode:
        raise Error(done.stderr.strip(), done.returncode, report.get("diagnostics"))
    if "plan" not in report:
        return _of_several(report)
    p = report["plan"]
    return Plan(p["arena_bytes"], p["lower_bound_bytes"], p["optimal"], [_tensor(t) for t in report["tensors"]], report)


class Module:
    """A compiled model in this process. It has an arena of its own: use one in one thread at a time."""

    def __init__(self, module: ModuleType, name: str,
                 folder: "Optional[tempfile.TemporaryDirectory[str]]" = None) -> None:
        self._module, self._folder = module, folder
        self._model = module.Model()
        self._model.name = name
        self.path: str = str(module.__file__)
        self.inputs: List[Tuple[str, str, Tuple[int, ...], Optional[float], Optional[int]]] = module.INPUTS
        self.outputs: List[Tuple[str, str, Tuple[int, ...], Optional[float], Optional[int]]] = module.OUTPUTS
        self.texts: List[str] = module.TEXTS  # by code, of inputs and outputs that hold strings

    def code(self, text: str) -> int:
        """The code of a text; len(texts) if it is none of them."""
        return int(self._module.text_code(text))

    def run(self, *inputs: Any, out: Optional[Sequence[Any]] = None, **named: Any) -> List[Any]:
        """Tensors with __dlpack__ in, in the order of `inputs`, as a dict by name, or as keywords; such tensors out.
        `out`: written into these instead."""
        return list(self._model.run(*inputs, out=out, **named))

    def reset(self) -> None:
        """State tensors back to their first value."""
        self._model.reset()

    def __repr__(self) -> str:
        sides = [", ".join("%s %s %s" % (t[0], t[1], list(t[2])) for t in io) for io in (self.inputs, self.outputs)]
        return "<arenac.Module %s: %s -> %s>" % (self._model.name, *sides)


def compile(model: Model, folder: "Optional[Path]" = None, **options: Option) -> Module:
    """A model as a module of this process, made by the host compiler ($CC, else cc). Its sizes are fixed: dim={"seq":
    32}. `folder` keeps the files, which need nothing of this package: NAME.py and libNAME.so; `name` is NAME."""
    own = None
    if folder is None:
        own = tempfile.TemporaryDirectory(prefix="arenac-")
        options.setdefault("name", "arenac_module")
    where = own.name if own else os.fspath(folder or ".")
    with _paths(model) as paths:
        done = _call(["python", "-o", where, *_words(options), "--", *paths])
    made = re.match(r"(.*/(\w+)\.py) and lib\2\.so: import", done.stdout)
    if done.returncode or not made:
        raise Error(done.stderr.strip() or done.stdout, done.returncode)
    spec = importlib.util.spec_from_file_location(made[2], made[1])
    if spec is None or spec.loader is None:
        raise Error("cannot import %s" % made[1], 3)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Module(module, made[2] if folder else pathlib.Path(paths[0]).stem, own)
