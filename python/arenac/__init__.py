"""arenac: plans and code of neural networks.

    import arenac
    p = arenac.plan("kws.tflite", target="cortex-m4", stripe="auto")
    p.arena_bytes, p.optimal, [t.name for t in p.tensors]
    m = arenac.compile("kws.tflite")          # compiled by the host compiler, into this process
    y, = m.run(x)                             # x: anything with __dlpack__; y: np.asarray(y), torch.from_dlpack(y) ...

Options are those of the command line, with underscores: stripe="auto", exact=True, mem=["dtcm:64K,fast", "psram:8M"].
What arenac refuses raises Error, with its exit status and diagnostics.
"""
from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

__all__ = ["Error", "Module", "Plan", "Tensor", "compile", "plan", "tool"]

Model = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]
Option = Union[str, int, float, bool, None, Sequence[Union[str, int]]]


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
    """A memory plan. `report` is all of it: the JSON document of `arenac plan --json`."""

    arena_bytes: int
    lower_bound_bytes: int
    optimal: bool
    tensors: List[Tensor]
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


def _paths(model: Model) -> List[str]:
    several = [model] if isinstance(model, (str, os.PathLike)) else list(model)
    return [os.fspath(m) for m in several]


def _words(options: Dict[str, Option]) -> List[str]:
    words: List[str] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")  # const_=..., as from_="onnx"
        if value is None or value is False:
            continue
        for v in value if isinstance(value, (list, tuple)) else [value]:
            words.append(option if v is True else "%s=%s" % (option, v))
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


def plan(model: Model, **options: Option) -> Plan:
    """The memory plan of a model, or of the model and its weights file. Error: what arenac refuses, also a plan over
    its budget (status 4)."""
    done = _call(["plan", "-q", "--json", *_words(options), "--", *_paths(model)])
    report = _document(done.stdout)
    if done.returncode:
        raise Error(done.stderr.strip(), done.returncode, report.get("diagnostics"))
    p = report["plan"]
    return Plan(p["arena_bytes"], p["lower_bound_bytes"], p["optimal"], [_tensor(t) for t in report["tensors"]], report)


class Module:
    """A compiled model in this process. It has an arena of its own: use one in one thread at a time."""

    def __init__(self, module: ModuleType, folder: "Optional[tempfile.TemporaryDirectory[str]]") -> None:
        self._module, self._folder = module, folder
        self._model = module.Model()
        self.path: str = str(module.__file__)
        self.inputs: List[Tuple[str, str, Tuple[int, ...], Optional[float], Optional[int]]] = module.INPUTS
        self.outputs: List[Tuple[str, str, Tuple[int, ...], Optional[float], Optional[int]]] = module.OUTPUTS

    def run(self, *inputs: Any, out: Optional[Sequence[Any]] = None) -> List[Any]:
        """Tensors with __dlpack__ in, such tensors out; `out`: written into these instead."""
        return list(self._model.run(*inputs, out=out))

    def reset(self) -> None:
        """State tensors back to their first value."""
        self._model.reset()


_modules = 0


def compile(model: Model, folder: Optional[str] = None, **options: Option) -> Module:
    """A model as a module of this process, made by the host compiler ($CC, else cc). `folder` keeps the files, which
    need nothing of this package: NAME.py and libNAME.so."""
    global _modules
    _modules += 1
    options.setdefault("name", "arenac_module_%d" % _modules)
    own = tempfile.TemporaryDirectory(prefix="arenac-") if folder is None else None
    where = own.name if own else str(folder)
    done = _call(["python", "-q", "-o", where, *_words(options), "--", *_paths(model)])
    if done.returncode:
        raise Error(done.stderr.strip(), done.returncode)
    made = os.path.join(where, "%s.py" % str(options["name"]).lower())
    spec = importlib.util.spec_from_file_location(os.path.basename(made)[:-3], made)
    if spec is None or spec.loader is None:
        raise Error("cannot import %s" % made, 3)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Module(module, own)
