"""Compiled models in this process."""
from __future__ import annotations

import importlib.util
import os
import pathlib
import re
import sys
import tempfile
import threading
from types import ModuleType
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ._tool import Error, Model, Option, Path, call, is_torch, paths

NOT_OF_NUMPY = ("bf16", "f8", "f4")  # how types begin that NumPy does not have


def _is_numpy(x: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(x, (numpy.ndarray, numpy.generic))


def _plain(x: Any) -> Any:
    """x, compact and without a gradient: NumPy's and PyTorch's are copied where they have strides of their own."""
    if is_torch(x, "Tensor"):
        return x.detach().contiguous()
    if _is_numpy(x):
        x = sys.modules["numpy"].asarray(x, order="C")
        return x if x.flags.writeable else x.copy()  # NumPy before 2.1 does not lend the others
    return x


def like(inputs: Sequence[Any], results: Sequence[Any]) -> List[Any]:
    """The results as tensors of PyTorch if an input is one, as arrays if one is an array of NumPy, else as they are,
    and so are types that NumPy does not have."""
    if any(is_torch(x, "Tensor") for x in inputs):
        return [sys.modules["torch"].from_dlpack(y) for y in results]
    if any(_is_numpy(x) for x in inputs):
        return [y if y.dtype.startswith(NOT_OF_NUMPY) else y.numpy() for y in results]
    return list(results)


class Module:
    """A compiled model in this process. It has one arena: calls from several threads run one after the other."""

    def __init__(self, module: ModuleType, name: str,
                 folder: "Optional[tempfile.TemporaryDirectory[str]]" = None) -> None:
        self._module, self._folder = module, folder
        self._model, self._lock = module.Model(), threading.Lock()
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
        `out`: written into these instead. Nothing is copied: what is not compact is refused."""
        with self._lock:
            return list(self._model.run(*inputs, out=out, **named))

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """As run, for tensors with strides and gradients too. Results are tensors of PyTorch if an input is one, arrays
        if an input is one of NumPy; one result comes alone, several as a list."""
        by_name = len(inputs) == 1 and isinstance(inputs[0], dict)
        every = dict(inputs[0], **named) if by_name else named
        rest = () if by_name else inputs
        given = [*rest, *every.values()]
        results = like(given, self.run(*map(_plain, rest), **{k: _plain(v) for k, v in every.items()}))
        return results[0] if len(results) == 1 else results

    def reset(self) -> None:
        """State tensors back to their first value."""
        self._model.reset()

    def __repr__(self) -> str:
        sides = [", ".join("%s %s %s" % (t[0], t[1], list(t[2])) for t in io) for io in (self.inputs, self.outputs)]
        return "<arenac.Module %s: %s -> %s>" % (self._model.name, *sides)


def made(model: Model, folder: "Optional[Path]", options: Dict[str, Option]) -> Module:
    """A model of files or in memory as a module; see arenac.compile."""
    own = None
    if folder is None:
        own = tempfile.TemporaryDirectory(prefix="arenac-")
        options = {"name": "arenac_module", **options}
    where = own.name if own else os.fspath(folder or ".")
    with paths(model) as files:
        done = call(["python", "-o", where], options, files)
    found = re.match(r"(.*/(\w+)\.py) and lib\2\.so: import", done.stdout)
    if done.returncode or not found:
        raise Error(done.stderr.strip() or done.stdout, done.returncode)
    spec = importlib.util.spec_from_file_location(found[2], found[1])
    if spec is None or spec.loader is None:
        raise Error("cannot import %s" % found[1], 3)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Module(module, found[2] if folder else pathlib.Path(files[0]).stem, own)
