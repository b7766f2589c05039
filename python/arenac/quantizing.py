"""Quantisation of a model of floats, from Python."""
from __future__ import annotations

import importlib
import inspect
import os
import pathlib
import tempfile
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Mapping, Sequence, Union

from ._module import Module, made
from ._plan import Plan, emitted
from ._tool import Error, Model, Option, Path, call, document, is_torch, paths

Calibration = Union[Path, Mapping[str, Any], Iterable[Any]]


@dataclass(frozen=True)
class Quantized:
    """A quantised model: ONNX with QuantizeLinear and DequantizeLinear, and what it costs."""

    model: bytes = field(repr=False)
    report: Dict[str, Any] = field(repr=False)
    """The JSON document of `arenac quantize --json`."""
    arenac_name: str = "model.onnx"

    @property
    def output_db(self) -> float:
        """10 log10 of the power of the outputs over that of their error, on the samples."""
        return float(self.report["output_db"])

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """A record for each stored tensor, and for the weights of each product; pandas.DataFrame(q.rows)."""
        return list(self.report["rows"])

    @property
    def worst(self) -> List[Dict[str, Any]]:
        """The stored tensors, the most harmful to the outputs first."""
        return sorted((r for r in self.rows if "alone_db" in r), key=lambda r: float(r["alone_db"]))

    def SerializeToString(self) -> bytes:
        """As a model in memory, for arenac.plan, compile and emit."""
        return self.model

    def save(self, path: Path) -> None:
        """Writes the ONNX file."""
        pathlib.Path(path).write_bytes(self.model)

    def emit(self, path: Path, **options: Option) -> Plan:
        """Writes C, as arenac.emit."""
        return emitted(self, path, options)

    def compile(self, **options: Option) -> Module:
        """As a module of this process; inputs and outputs are floats, unless quantized_io was given."""
        return made(self, None, options)

    def __str__(self) -> str:
        r = self.report
        lines = ["%s: %d of %d products by integers; outputs %.1f dB on %d samples" % (
            self.arenac_name, r["integer_products"], r["products"], r["output_db"], r["samples"]),
            "constants %d B, file %d B" % (r["float_constant_bytes"], r["file_bytes"])]
        if "accuracy_percent" in r:
            lines.append("accuracy %.2f %%, of the model of floats %.2f %%" % (
                r["accuracy_percent"], r["float_accuracy_percent"]))
        lines += ["worst for the outputs: " + ", ".join(
            "%s (%.1f dB alone)" % (w["tensor"], w["alone_db"]) for w in self.worst[:3])] if self.worst else []
        return "\n".join(lines)


def _array(x: Any) -> Any:
    return x.detach().cpu().numpy() if is_torch(x, "Tensor") else importlib.import_module("numpy").asarray(x)


def _is_array(x: Any) -> bool:
    return hasattr(x, "__dlpack__") or hasattr(x, "__array__")


def _named(batch: Any, names: Sequence[str]) -> Dict[str, Any]:
    """The arrays of a batch by input: by its name in `names`, else by its place. What a tuple has beyond the names, as
    labels, is left out."""
    if isinstance(batch, Mapping):
        return {str(k): _array(v) for k, v in batch.items()}
    values = [batch] if _is_array(batch) else list(batch)
    if len(values) < len(names):
        raise ValueError("a batch has %d arrays, the module takes %d: %s" % (len(values), len(names), ", ".join(names)))
    return dict(zip(names or map(str, range(len(values))), map(_array, values)))


def _joined(calibration: Any, names: Sequence[str]) -> Dict[str, Any]:
    """The samples of all batches, an array for each input."""
    whole = _is_array(calibration) or isinstance(calibration, Mapping)
    batches = [_named(b, names) for b in ([calibration] if whole else calibration)]
    if not batches:
        raise ValueError("calibration has no batch: give about 100 samples of the inputs")
    for number, b in enumerate(batches):
        if b.keys() != batches[0].keys():
            raise ValueError("batch %d has the inputs %s, batch 0 has %s" % (number, list(b), list(batches[0])))
    join = importlib.import_module("numpy").concatenate
    return {name: join([b[name] for b in batches]) for name in batches[0]}


def _exported(net: Any, data: Mapping[str, Any]) -> Model:
    """A module of PyTorch as a program that takes one sample."""
    from . import pytorch
    torch = importlib.import_module("torch")
    return pytorch.export(net, (), {name: torch.from_numpy(a[:1].copy()) for name, a in data.items()})


def quantized(model: Model, calibration: Calibration, labels: Any, options: Mapping[str, Option]) -> Quantized:
    """See arenac.quantize."""
    names: List[str] = []
    if is_torch(model, "nn.Module"):
        of = inspect.signature(getattr(model, "forward")).parameters.values()
        names = [p.name for p in of if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    with tempfile.TemporaryDirectory(prefix="arenac-") as folder:
        given: Dict[str, Option] = dict(options)
        if isinstance(calibration, (str, os.PathLike)):
            given["data"] = os.fspath(calibration)
            data = importlib.import_module("numpy").load(calibration) if names else {}
        else:
            data = _joined(calibration, names)
            save = importlib.import_module("numpy").save
            for i, (name, a) in enumerate(data.items()):
                save(os.path.join(folder, "input%d.npy" % i), a)
            given["data"] = ["%s=%s" % (n, os.path.join(folder, "input%d.npy" % i)) for i, n in enumerate(data)]
        if labels is not None:
            given["labels"] = os.path.join(folder, "labels.npy")
            importlib.import_module("numpy").save(given["labels"], _array(labels))
        if names:
            model = _exported(model, data)
        to = os.path.join(folder, "model.onnx")
        with paths(model) as files:
            done = call(["quantize", "-q", "--json", "-o", to], given, files)
        if done.returncode:
            raise Error(done.stderr.strip(), done.returncode)
        return Quantized(pathlib.Path(to).read_bytes(), document(done.stdout),
                         pathlib.Path(files[0]).stem + ".int8.onnx")
