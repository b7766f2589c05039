"""Memory plans, as records."""
from __future__ import annotations

import os
import pathlib
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from ._tool import Error, Model, Option, Path, call, document, paths


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


def _tensor(t: Dict[str, Any]) -> Tensor:
    return Tensor(t["name"], t["kind"], t["dtype"], tuple(t["shape"] or []), t["bytes"], t["memory"], t["offset_bytes"],
                  t["first_step"], t["last_step"])


def _of_several(report: Dict[str, Any]) -> Plan:
    bounds = [m["lower_bound_bytes"] for m in report["models"]]
    bound = sum(bounds) if report["share"] == "concurrent" else max(bounds)
    return Plan(report["arena_bytes"], bound, all(m["optimal"] for m in report["models"]), [], report)


def planned(words: Sequence[str], model: Model, options: Mapping[str, Option]) -> Plan:
    """The plan that a verb reports."""
    with paths(model) as files:
        done = call([*words, "-q", "--json"], options, files)
    report = document(done.stdout)
    if done.returncode:
        raise Error(done.stderr.strip(), done.returncode, report.get("diagnostics"))
    if "plan" not in report:
        return _of_several(report)
    p = report["plan"]
    return Plan(p["arena_bytes"], p["lower_bound_bytes"], p["optimal"], [_tensor(t) for t in report["tensors"]], report)


def emitted(model: Model, path: Path, options: Mapping[str, Option]) -> Plan:
    """Writes code; see arenac.emit. A model in memory is named after the file that is written."""
    stem = pathlib.Path(path).stem
    if not isinstance(model, (str, os.PathLike, list, tuple)) and stem.isidentifier():
        options = {"name": stem, **options}
    return planned(["compile", "-o", os.fspath(path)], model, options)
