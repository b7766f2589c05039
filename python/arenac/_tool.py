"""The program arenac: where it lies, its words for options, the files of a model, what it refuses."""
from __future__ import annotations

import contextlib
import importlib.metadata
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

Path = Union[str, "os.PathLike[str]"]
Model = Union[Path, bytes, Sequence[Path], Any]  # Any: what has SerializeToString, as onnx.ModelProto; PyTorch's
Value = Union[str, int, float, "os.PathLike[str]"]
Option = Union[Value, bool, None, Sequence[Value], Mapping[str, Value]]
NOT_SUPPORTED = 8  # the exit status


class Error(RuntimeError):
    """arenac ended with `status` (docs/errors.md); `diagnostics` as in its JSON report, if there was one."""

    def __init__(self, message: str, status: int, diagnostics: Optional[List[Dict[str, Any]]] = None) -> None:
        super().__init__(message)
        self.status = status
        self.diagnostics = diagnostics or []


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


def is_torch(value: Any, kind: str) -> bool:
    """Whether the value is a torch.`kind`; torch is not imported for this: without it there is none."""
    torch = sys.modules.get("torch")
    for name in kind.split("."):
        torch = getattr(torch, name, None)
    return torch is not None and isinstance(value, torch)  # type: ignore[arg-type]


def _data(model: Model) -> Tuple[str, Any]:
    """The name and the bytes of a model in memory; what is not in memory is given back."""
    name = str(getattr(model, "arenac_name", "model"))
    if is_torch(model, "export.ExportedProgram"):
        to = io.BytesIO()
        sys.modules["torch"].export.save(model, to)
        return name, to.getvalue()
    return name, model.SerializeToString() if hasattr(model, "SerializeToString") else model


@contextlib.contextmanager
def paths(model: Model) -> Iterator[List[str]]:
    """The files of a model; one that is in memory becomes a file for as long as it is read."""
    name, data = _data(model)
    if isinstance(data, (bytes, bytearray, memoryview)):
        with tempfile.TemporaryDirectory(prefix="arenac-") as folder:
            path = pathlib.Path(folder) / name
            path.write_bytes(data)
            yield [str(path)]
        return
    several = [data] if isinstance(data, (str, os.PathLike)) else data
    if not isinstance(several, (list, tuple)) or not all(isinstance(m, (str, os.PathLike)) for m in several):
        raise TypeError("a model is a path, a list of paths, bytes, an ONNX ModelProto or a module of PyTorch, not %s" %
                        type(model).__name__)
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


def _words(options: Mapping[str, Option]) -> List[str]:
    words: List[str] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")  # const_=..., as from_="onnx"
        if value is None or value is False:
            continue
        words += [option if v is True else "%s=%s" % (option, v) for v in _values(name.rstrip("_"), value)]
    return words


def call(words: Sequence[str], options: Mapping[str, Option] = {},
         files: Sequence[str] = ()) -> "subprocess.CompletedProcess[str]":
    """A run of the tool. Messages name a file in memory without its folder."""
    done = subprocess.run([tool(), *words, *_words(options), *(["--", *files] if files else [])],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                          errors="replace", check=False)
    for f in files:
        folder = os.path.dirname(f)
        if os.path.basename(folder).startswith("arenac-"):
            done.stderr = done.stderr.replace(folder + os.sep, "")
    return done


def document(text: str) -> Dict[str, Any]:
    """The JSON object that a run printed; an empty one if it printed none."""
    try:
        return dict(json.loads(text))
    except ValueError:
        return {}
