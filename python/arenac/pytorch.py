"""Modules of PyTorch: exported by torch.export, compiled, called as the module is; and a backend of torch.compile.

Nothing here is imported before a module of PyTorch is given, so arenac needs no PyTorch.
"""
from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import sys
import threading
import traceback
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple

from ._module import Module, _plain, like, made
from ._tool import NOT_SUPPORTED, Error, Option, Path, is_torch

MOST_SIZES = 16  # of a graph of torch.compile that are compiled


def _torch() -> Any:
    return importlib.import_module("torch")


def _pytree() -> Any:
    return importlib.import_module("torch.utils._pytree")


# ---------------------------------------------------------------- what an export says
@dataclass(frozen=True)
class Leaf:
    """An argument, or a result, of the module's nested ones: a tensor with its sizes (None: open), or a constant."""

    name: str
    shape: Optional[Tuple[Optional[int], ...]] = None  # None: not a tensor
    value: Any = None


@dataclass(frozen=True)
class Exported:
    """A module of PyTorch as an archive of torch.export, with the nesting of its arguments and results."""

    arenac_name: str  # of the file that messages name
    data: bytes
    signature: inspect.Signature
    arguments: List[Leaf]
    results: List[Leaf]
    arguments_tree: Any
    results_tree: Any
    touched: Set[str]  # arguments that the module changes
    state: Set[str]  # buffers that it changes
    shared: bool  # results share memory with inputs or with each other

    def SerializeToString(self) -> bytes:
        """As a model in memory."""
        return self.data

    def flat(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> List[Any]:
        """The arguments of a call in the order of `arguments`."""
        bound = self.signature.bind(*args, **kwargs)
        values, tree = _pytree().tree_flatten((bound.args, dict(sorted(bound.kwargs.items()))))
        if tree != self.arguments_tree:
            raise TypeError("%s is compiled for arguments nested as the examples were:\n  %s\nand not as\n  %s" %
                            (self.arenac_name, self.arguments_tree, tree))
        return list(values)


def _leaf(spec: Any, shapes: Mapping[str, Tuple[Optional[int], ...]]) -> Leaf:
    arg = spec.arg
    if arg.name in shapes:
        return Leaf(arg.name, shapes[arg.name])
    if hasattr(arg, "value"):
        return Leaf(arg.name, None, arg.value)
    raise Error("'%s' is a number that is known at run time only, as a size of dynamic_shapes: arguments and results "
                "of a compiled module are tensors; read the size off a tensor" % arg.name, NOT_SUPPORTED)


def _storages(value: Any) -> List[int]:
    several = value if isinstance(value, (list, tuple)) else [value]
    return [v.untyped_storage()._cdata for v in several if is_torch(v, "Tensor")]


def _memory(program: Any, results: Sequence[str]) -> Tuple[Set[str], bool]:
    """Placeholders that the program changes in place, and whether results share memory with one, or with each other.
    The values that torch.export has recorded share storages as the real ones will."""
    of = {n.name: _storages(n.meta.get("val")) for n in program.graph.nodes}
    owner = {s: n.name for n in program.graph.nodes if n.op == "placeholder" for s in of[n.name]}
    changed: Set[str] = set()
    for n in program.graph.nodes:
        schema = getattr(n.target, "_schema", None)
        if schema is None or not schema.is_mutable:
            continue
        for place, a in enumerate(schema.arguments):
            node = n.args[place] if place < len(n.args) else n.kwargs.get(a.name)
            if a.alias_info is not None and a.alias_info.is_write and getattr(node, "name", None) in of:
                changed.update(owner[s] for s in of[node.name] if s in owner)
    out = [s for name in dict.fromkeys(results) for s in of[name]]
    return changed, len(set(out)) < len(out) or any(s in owner for s in out)


def _described(program: Any, net: Any, signature: inspect.Signature, name: str) -> Exported:
    kinds = importlib.import_module("torch.export.graph_signature")
    open_size = _torch().SymInt
    shapes = {n.name: tuple(None if isinstance(d, open_size) else int(d) for d in n.meta["val"].shape)
              for n in program.graph.nodes if is_torch(n.meta.get("val"), "Tensor")}
    marks = program.graph_signature
    given = [_leaf(s, shapes) for s in marks.input_specs if s.kind == kinds.InputKind.USER_INPUT]
    results = [_leaf(s, shapes) for s in marks.output_specs if s.kind == kinds.OutputKind.USER_OUTPUT]
    changed, shared = _memory(program, [r.name for r in results if r.shape is not None])
    touched = changed & {a.name for a in given}
    to = io.BytesIO()
    _torch().export.save(program, to)
    return Exported(name, to.getvalue(), signature, given, results, program.call_spec.in_spec,
                    program.call_spec.out_spec, touched, changed - touched, shared)


# ---------------------------------------------------------------- why a module is not exported
CURES = (
    ("GuardOnDataDependentSymNode", "it branches on values of tensors: use torch.where or torch.cond"),
    ("UserError", "dynamic_shapes must agree with what the module does to these sizes"),
    ("ConstraintViolationError", "dynamic_shapes must agree with what the module does to these sizes"),
)


def _place(net: Any, e: BaseException) -> str:
    """The innermost module that the exception came through, and the line."""
    names = {id(m): name for name, m in net.named_modules()}
    at = ""
    for frame, line in traceback.walk_tb(e.__traceback__):
        me = frame.f_locals.get("self")
        if id(me) in names and frame.f_code.co_name == "forward":
            path = names[id(me)]
            at = "%s (%s), %s:%d" % (path or "the module itself", type(me).__name__, frame.f_code.co_filename, line)
    return at


def _failed(net: Any, e: Exception) -> Error:
    kind, name = type(e).__name__, type(net).__name__
    cure = next((c for k, c in CURES if k == kind), "the example inputs must be such that the module runs on them")
    why = next((line.strip() for line in str(e).splitlines() if line.strip()), kind)
    at = _place(net, e)
    return Error("%s: torch.export cannot export the module: %s%s\n  = reason: %s: %s\n  = help: %s" % (
        name, "in " if at else "", at or kind, kind, why, cure), NOT_SUPPORTED)


def _tensor(x: Any) -> Any:
    """An array of NumPy as a tensor; the rest as it is."""
    numpy = sys.modules.get("numpy")
    return _torch().as_tensor(x) if numpy and isinstance(x, (numpy.ndarray, numpy.generic)) else x


@contextlib.contextmanager
def _whole_attention() -> Iterator[None]:
    """Without the operators that do a whole layer of a transformer on the devices of PyTorch, and nowhere else."""
    mha = _torch().backends.mha
    before = mha.get_fastpath_enabled()
    mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        mha.set_fastpath_enabled(before)


def export(net: Any, args: Any = (), kwargs: Optional[Mapping[str, Any]] = None,
           dynamic_shapes: Any = None) -> Exported:
    """An nn.Module and example inputs (one, or a tuple of several) as a program. Error: what torch.export refuses."""
    torch = _torch()
    signature = inspect.signature(net.forward)
    bound = signature.bind(*(args if isinstance(args, tuple) else (args,)), **(kwargs or {}))
    given = _pytree().tree_map(_tensor, (bound.args, dict(sorted(bound.kwargs.items()))))
    try:
        with torch.no_grad(), _whole_attention():
            program = torch.export.export(net, given[0], given[1], dynamic_shapes=dynamic_shapes)
    except Exception as e:
        raise _failed(net, e) from e
    return _described(program, net, signature, type(net).__name__)


# ---------------------------------------------------------------- a compiled module
class TorchModule:
    """An nn.Module that arenac has compiled. It is called as the module is, with tensors of PyTorch, arrays of NumPy or
    anything with DLPack; the results are of the kind of the inputs, nested as those of the module, and have memory of
    their own. Sizes that dynamic_shapes leaves open are compiled once for each size that occurs."""

    def __init__(self, program: Exported, examples: Sequence[Any], folder: Optional[Path],
                 options: Dict[str, Option]) -> None:
        self.program, self._folder, self._options = program, folder, options
        self._lock = threading.Lock()
        self._made: Dict[Tuple[int, ...], Module] = {}
        self._open = [(i, d) for i, a in enumerate(program.arguments) for d, n in enumerate(a.shape or ()) if n is None]
        if self._open and program.state:
            raise Error("%s changes its buffers %s, and each size would have its own: leave dynamic_shapes out" %
                        (program.arenac_name, ", ".join(sorted(program.state))), NOT_SUPPORTED)
        self.module = self._for(examples)
        """The module of the sizes of the examples."""

    def _for(self, values: Sequence[Any]) -> Module:
        """The module for the sizes of these arguments."""
        sizes = tuple(int(values[i].shape[d]) for i, d in self._open)
        with self._lock:
            if sizes not in self._made:
                name = {"%s.%d" % (self.program.arguments[i].name, d): n for (i, d), n in zip(self._open, sizes)}
                dims: Dict[str, Option] = {"dim": name} if name else {}
                self._made[sizes] = made(self.program, self._folder, {**self._options, **dims})
            return self._made[sizes]

    def _checked(self, a: Leaf, x: Any) -> None:
        if a.shape is None:
            if x is not a.value and x != a.value:
                raise ValueError("%s is compiled for %s=%r, not %r: compile it again for this value" %
                                 (self.program.arenac_name, a.name, a.value, x))
            return
        shape = tuple(getattr(x, "shape", a.shape))
        if len(shape) != len(a.shape) or any(n is not None and n != m for n, m in zip(a.shape, shape)):
            raise ValueError("%s is compiled for %s of shape %s, not %s: dynamic_shapes leaves sizes open" %
                             (self.program.arenac_name, a.name, ["any" if n is None else n for n in a.shape],
                              list(shape)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self.program.flat(args, kwargs)
        for a, x in zip(self.program.arguments, values):
            self._checked(a, x)
        tensors = [x for a, x in zip(self.program.arguments, values) if a.shape is not None]
        results = iter(like(tensors, self._for(values).run(*map(_plain, tensors))))
        leaves = [next(results) if r.shape is not None else r.value for r in self.program.results]
        return _pytree().tree_unflatten(leaves, self.program.results_tree)

    def reset(self) -> None:
        """Buffers that calls have changed back to what they were."""
        for m in self._made.values():
            m.reset()

    def __repr__(self) -> str:
        return repr(self.module)


def compiled(net: Any, args: Any, kwargs: Optional[Mapping[str, Any]], dynamic_shapes: Any,
             folder: Optional[Path], options: Dict[str, Option]) -> TorchModule:
    """An nn.Module as a callable; see arenac.compile."""
    args = args if isinstance(args, tuple) else (args,)
    program = export(net, args, kwargs, dynamic_shapes)
    if program.touched:
        raise Error("%s changes its argument %s in place, and a compiled module leaves arguments as they are: compute "
                    "a new tensor, x = x + 1 instead of x += 1" %
                    (program.arenac_name, ", ".join(sorted(program.touched))), NOT_SUPPORTED)
    return TorchModule(program, program.flat(args, kwargs or {}), folder, options)


# ---------------------------------------------------------------- torch.compile(..., backend="arenac")
def _baked(graph: Any, inputs: Sequence[Any], free: Sequence[int]) -> Any:
    """A module of the inputs `free`; the others are constants of it."""
    torch = _torch()

    class Graph(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.graph = graph
            for i, x in enumerate(inputs):
                if i not in free and is_torch(x, "Tensor"):
                    self.register_buffer("input%d" % i, x.detach())

        def forward(self, *moving: Any) -> Any:
            every = [getattr(self, "input%d" % i, x) for i, x in enumerate(inputs)]
            for i, x in zip(free, moving):
                every[i] = x
            return self.graph(*every)

    return Graph().eval()


class _Graph:
    """A graph of torch.compile: compiled for each size that occurs, as long as its weights stay the same. What arenac
    does not run as PyTorch does is left to PyTorch, with a warning that says why."""

    def __init__(self, graph: Any, examples: Sequence[Any], options: Dict[str, Option]) -> None:
        self._graph, self._options = graph, options
        self._made: Dict[Any, Optional[Tuple[Exported, Module]]] = {}
        weights = [is_torch(x, "nn.Parameter") or hasattr(x, "_dynamo_static_input_type") for x in examples]
        self._weights = [i for i, w in enumerate(weights) if w]
        self._free = [i for i, x in enumerate(examples) if is_torch(x, "Tensor") and not weights[i]]

    def _left(self, why: str) -> None:
        warnings.warn("PyTorch runs a graph of %d operators itself: %s" % (
            sum(n.op.startswith("call") for n in self._graph.graph.nodes), why), RuntimeWarning, stacklevel=4)

    def _key(self, inputs: Sequence[Any]) -> Any:
        """Values that the compiled code depends on."""
        key: List[Any] = []
        for i, x in enumerate(inputs):
            if i in self._weights:
                key.append((x.data_ptr(), None if x.is_inference() else x._version))
            else:
                key.append((tuple(x.shape), x.dtype) if i in self._free else x)
        return tuple(key)

    def _compile(self, inputs: Sequence[Any]) -> Optional[Tuple[Exported, Module]]:
        if len(self._made) >= MOST_SIZES:
            self._left("its sizes or weights have changed %d times" % MOST_SIZES)
            return None
        if any(is_torch(x, "Tensor") and x.device.type != "cpu" for x in inputs):
            self._left("its tensors are not on the CPU")
            return None
        try:
            net = _baked(self._graph, inputs, self._free)
            program = export(net, tuple(inputs[i] for i in self._free))
            if program.touched or program.state or program.shared:
                changes = program.touched or program.state
                self._left("it changes tensors in place" if changes else "results share memory with inputs")
                return None
            if not any(r.shape is not None for r in program.results):
                return None
            return program, made(program, None, self._options)
        except Error as e:
            self._left(str(e))
            return None

    def __call__(self, *inputs: Any) -> Any:
        torch = _torch()
        if torch.is_grad_enabled() and any(is_torch(x, "Tensor") and x.requires_grad for x in inputs):
            self._left("gradients are recorded; call it under torch.no_grad() or torch.inference_mode()")
            return self._graph(*inputs)
        key = self._key(inputs)
        if key not in self._made:
            self._made[key] = self._compile(inputs)
        have = self._made[key]
        if have is None:
            return self._graph(*inputs)
        program, module = have
        results = map(torch.from_dlpack, module.run(*[_plain(inputs[i]) for i in self._free]))
        leaves = [next(results) if r.shape is not None else r.value for r in program.results]
        return _pytree().tree_unflatten(leaves, program.results_tree)


def backend(graph: Any, examples: Sequence[Any], *, options: Optional[Dict[str, Option]] = None,
            mode: Optional[str] = None) -> Callable[..., Any]:
    """For torch.compile(net, backend="arenac", options={"exact": True}): options are those of arenac.compile."""
    return _Graph(graph, examples, options or {})
